/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the compiler made of a candidate, in words: registers, LDS, occupancy
 * and what limits it, instructions, innermost loops; and what the bound model
 * says of its time.
 */
#include "brief_page.h"
#include "occupancy.h"

#include "wavesmith/measure.h"

#include <math.h>
#include <string.h>

/* ---- facts -----------------------------------------------------------------
 */

static void put_mix(const ws_mix *mix, ws_strbuf *out) {
  const struct {
    const char *name;
    int32_t count;
  } counts[] = {
#define WS_MIX_ENTRY(name) {#name, mix->name},
      WS_MIX_MAP(WS_MIX_ENTRY)
#undef WS_MIX_ENTRY
  };
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    if (counts[i].count)
      ws_strbuf_printf(out, " %s %d", counts[i].name, counts[i].count);
  ws_strbuf_puts(out, "\n");
}

/* "wave slots": each of the others would let more in. */
static const char *limiter(const ws_target *target,
                           const ws_kernel_facts *facts, int threads) {
  const ws__limits limits = ws__limits_of(target, facts, threads);
  return limits.waves                     ? "wave slots"
         : limits.registers && limits.lds ? "registers and LDS each"
         : limits.lds                     ? "LDS"
                                          : "registers";
}

static void put_amd_kernel(const ws_kernel_facts *k, ws_strbuf *out) {
  ws_strbuf_printf(out,
                   "Kernel %s: %d VGPRs (%d of them AGPRs), %d SGPRs, %d bytes "
                   "of LDS",
                   k->name, k->vgpr, k->agpr, k->sgpr, k->lds_bytes);
  if (k->scratch_bytes || k->vgpr_spills)
    ws_strbuf_printf(out, ", %d of scratch, %d VGPR spills", k->scratch_bytes,
                     k->vgpr_spills);
  ws_strbuf_printf(out, "; %d bytes of code.", k->code_bytes);
}

/* Nothing has assembled it: registers 0. */
static void put_nvidia_kernel(const ws_kernel_facts *k, ws_strbuf *out) {
  ws_strbuf_printf(out, "Kernel %s:", k->name);
  if (k->vgpr)
    ws_strbuf_printf(out,
                     " %d registers a thread at entry, %d spilled, %d bytes of "
                     "stack,",
                     k->vgpr, k->vgpr_spills, k->scratch_bytes);
  ws_strbuf_printf(out, " %d bytes of shared memory; %d bytes of code.",
                   ws__lds_bytes(k), k->code_bytes);
}

static void put_occupancy(const ws_target *target, const ws_kernel_facts *k,
                          int threads, ws_strbuf *out) {
  const int groups = ws_resident_workgroups(target, k, threads);
  const bool nvidia = target->family == WS_FAMILY_NVPTX;
  ws_strbuf_printf(out,
                   " %d threads; %d workgroups per %s, %.3g %s, limited by %s.",
                   threads, groups, nvidia ? "SM" : "CU",
                   ws__waves_per_simd(target, k, threads),
                   nvidia ? "warps per scheduler" : "waves per SIMD",
                   limiter(target, k, threads));
}

static void put_step(const char *way, ws__occupancy_step step, const char *unit,
                     int extra, const char **separator, ws_strbuf *out) {
  if (!step.at)
    return;
  ws_strbuf_printf(out, "%s%s%d %s %d", *separator, way, step.at + extra, unit,
                   step.workgroups);
  *separator = ", ";
}

/* What the occupancy changes at, nothing else changed. */
static void put_steps(const ws_target *target, const ws_kernel_facts *k,
                      int threads, ws_strbuf *out) {
  const char *separator = " Workgroups with ";
  const int dynamic = k->dynamic_lds;
  if (k->vgpr) {
    put_step("at most ", ws__register_step(target, k, threads, -1),
             "registers:", 0, &separator, out);
    put_step("", ws__register_step(target, k, threads, 1), "registers:", 0,
             &separator, out);
  }
  put_step("at most ", ws__lds_step(target, k, threads, -1),
           "bytes of LDS:", dynamic, &separator, out);
  put_step("", ws__lds_step(target, k, threads, 1), "bytes of LDS:", dynamic,
           &separator, out);
  if (*separator == ',')
    ws_strbuf_puts(out, ".");
}

static void put_loops(const ws_kernel_facts *k, ws_strbuf *out) {
  if (!k->loop_count) {
    ws_strbuf_puts(out, "- instructions, static:");
    put_mix(&k->mix, out);
  }
  for (int i = 0; i < k->loop_count; i++) {
    ws_strbuf_printf(out, "- innermost loop %d:", i + 1);
    put_mix(&k->loops[i].mix, out);
    if (k->loops[i].load_bytes)
      ws_strbuf_printf(
          out,
          "  its global loads bring %d bytes per lane; %d clocks "
          "of MFMA stand between them and the wait for them%s\n",
          k->loops[i].load_bytes, k->loops[i].mfma_clocks_over_load,
          k->loops[i].mfma_clocks_over_load ? "" : " (waited for at once)");
  }
}

static void put_kernel(ws__page *page, const ws_candidate *candidate,
                       const ws_kernel_facts *k, ws_strbuf *out) {
  const ws_target *target = page->brief->task->target;
  const bool nvidia = target->family == WS_FAMILY_NVPTX;
  const int threads = ws__threads_of(candidate, k->name);
  if (nvidia)
    put_nvidia_kernel(k, out);
  else
    put_amd_kernel(k, out);
  if (threads) {
    put_occupancy(target, k, threads, out);
    put_steps(target, k, threads, out);
  }
  ws_strbuf_puts(out, "\n");
  if (!nvidia) /* of their machine code nothing is counted */
    put_loops(k, out);
}

const char *ws__page_facts(ws__page *page, const ws__subject *subject) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  for (int i = 0; subject->has_build && i < subject->build.kernel_count; i++)
    put_kernel(page, subject->candidate, &subject->build.kernels[i], &out);
  return ws__page_take(page, &out);
}

/* ---- estimate --------------------------------------------------------------
 */

/* Shapes that are shown: the aim, or where the parent is furthest from the
 * limit, where it takes longest, where it is shortest. */
static int choose_shapes(const ws__page *page, int *out) {
  const ws__brief *brief = page->brief;
  const int parent = page->parent.result;
  int furthest = -1, longest = -1, shortest = -1, count = 0;
  if (page->request->target >= 0) {
    out[0] = page->request->target;
    return 1;
  }
  const double *us = parent < 0 ? NULL : brief->knowledge->results[parent].us;
  double worst = 0;
  for (int s = 0; us && s < brief->knowledge->shape_count; s++) {
    if (!isfinite(us[s]))
      continue;
    const double distance =
        us[s] / ws_target_roofline_us(brief->task->target, brief->task->problem,
                                      &brief->task->shapes[s]);
    if (distance > worst) {
      worst = distance;
      furthest = s;
    }
    longest = longest < 0 || us[s] > us[longest] ? s : longest;
    shortest = shortest < 0 || us[s] < us[shortest] ? s : shortest;
  }
  const int chosen[] = {furthest, longest, shortest};
  for (int i = 0; i < 3; i++)
    if (chosen[i] >= 0 && !(count > 0 && chosen[i] == out[0]) &&
        !(count > 1 && chosen[i] == out[1]))
      out[count++] = chosen[i];
  return count;
}

static void put_estimate(ws__page *page, const ws_shape *shape,
                         ws_strbuf *out) {
  ws_estimate e;
  if (ws_model_estimate(&ws_mi300x, page->brief->task->problem,
                        page->parent.candidate, &page->parent.build, shape, &e,
                        NULL) != WS_OK)
    return;
  ws_strbuf_printf(out, "- %s: %.4g us, bound by %s; us that each alone needs:",
                   ws__page_shape(page, shape), e.us, ws_bound_text(e.bound));
  for (int b = 0; b < WS_BOUND_COUNT; b++)
    ws_strbuf_printf(out, " %s %.3g", ws_bound_text((ws_bound)b),
                     e.us_by_bound[b]);
  ws_strbuf_printf(out,
                   "; %.3g waves per SIMD, workgroups fill the device %.3g "
                   "times, %.0f %% of the last round idle\n",
                   e.waves_per_simd, e.rounds, 100 * e.tail_idle);
}

const char *ws__page_estimate(ws__page *page) {
  int shapes[3];
  const int count = page->parent.has_build &&
                            page->parent.build.verdict == WS_VERDICT_OK &&
                            page->brief->task->target->has_host_model
                        ? choose_shapes(page, shapes)
                        : 0;
  ws_strbuf out;
  ws_strbuf_init(&out);
  for (int i = 0; i < count; i++)
    put_estimate(page, &page->brief->task->shapes[shapes[i]], &out);
  return ws__page_take(page, &out);
}
