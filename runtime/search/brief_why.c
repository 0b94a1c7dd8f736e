/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Why an attempt became slower than what it was made from: what its waves
 * waited for more, on a shape that both have a profile of, and what it needs of
 * registers and LDS; of one that failed after it was built what it would have
 * cost. A wait is told in us of the launch: its share of the wave
 * clocks times the launch's time, so that the differences add up to the loss.
 */
#include "brief_page.h"
#include "occupancy.h"

#include "wavesmith/measure.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

enum { MOST_WAITS = 16, MOST_TOLD = 3 };
#define LEAST_GROWTH 0.02 /* of the slower time: less explains nothing */

typedef struct waits {
  const char *names[MOST_WAITS];
  double us[MOST_WAITS];
  int count;
} waits;

/* ---- sums over the launches of a report ------------------------------------
 */

static double *wait_named(waits *w, ws_arena *arena, const char *name) {
  for (int i = 0; i < w->count; i++)
    if (!strcmp(w->names[i], name))
      return &w->us[i];
  if (w->count == MOST_WAITS)
    return NULL;
  w->names[w->count] = ws_arena_strdup(arena, name);
  w->us[w->count] = 0;
  return &w->us[w->count++];
}

static void add_launch(waits *w, ws_arena *arena, const cJSON *profile) {
  const cJSON *us = cJSON_GetObjectItemCaseSensitive(profile, "us");
  const cJSON *stall;
  cJSON_ArrayForEach(stall,
                     cJSON_GetObjectItemCaseSensitive(profile, "stalls")) {
    double *sum = stall->string ? wait_named(w, arena, stall->string) : NULL;
    if (sum && cJSON_IsNumber(stall) && cJSON_IsNumber(us) &&
        isfinite(stall->valuedouble * us->valuedouble))
      *sum += stall->valuedouble * us->valuedouble;
  }
}

static waits waits_of(ws_arena *arena, const char *report) {
  waits w = {.count = 0};
  char *rest = ws_arena_strdup(arena, report);
  for (char *line; (line = strsep(&rest, "\n"));) {
    cJSON *launch = *line ? cJSON_Parse(line) : NULL;
    add_launch(&w, arena, cJSON_GetObjectItemCaseSensitive(launch, "profile"));
    cJSON_Delete(launch);
  }
  return w;
}

/* ---- words -----------------------------------------------------------------
 */

/* The waits that grew most, the largest first. */
static void put_growth(waits *now, ws_arena *arena, waits *before, double us,
                       ws_strbuf *out) {
  const char *between = ": ";
  for (int n = 0; n < MOST_TOLD; n++) {
    double most = LEAST_GROWTH * us;
    int which = -1;
    for (int i = 0; i < now->count; i++) {
      const double *old = wait_named(before, arena, now->names[i]);
      const double growth = now->us[i] - (old ? *old : 0);
      if (growth > most) {
        most = growth;
        which = i;
      }
    }
    if (which < 0)
      return;
    ws_strbuf_printf(out, "%s%s +%.3g us", between, now->names[which], most);
    between = ", ";
    now->us[which] = -INFINITY;
  }
}

/* The first kernel's, where they differ. */
static void put_needs(const ws__page *page, const ws__subject *before,
                      const ws__subject *after, ws_strbuf *out) {
  const ws_target *target = page->brief->task->target;
  if (!before->has_build || !after->has_build || !before->build.kernel_count ||
      !after->build.kernel_count)
    return;
  const ws_kernel_facts *a = &before->build.kernels[0],
                        *b = &after->build.kernels[0];
  const int threads_a = ws__threads_of(before->candidate, a->name),
            threads_b = ws__threads_of(after->candidate, b->name);
  if (a->vgpr != b->vgpr)
    ws_strbuf_printf(out, "; registers %d -> %d", a->vgpr, b->vgpr);
  if (ws__lds_bytes(a) != ws__lds_bytes(b))
    ws_strbuf_printf(out, "; LDS %d -> %d", ws__lds_bytes(a), ws__lds_bytes(b));
  if (!threads_a || !threads_b)
    return;
  const double waves_a = ws__waves_per_simd(target, a, threads_a),
               waves_b = ws__waves_per_simd(target, b, threads_b);
  if (waves_a != waves_b)
    ws_strbuf_printf(out, "; occupancy %.3g -> %.3g", waves_a, waves_b);
}

/* ---- all of it -------------------------------------------------------------
 */

typedef struct profiles {
  ws_profile_row *rows;
  int count;
} profiles;

static ws_status profiles_of(ws__page *page, int result, profiles *out) {
  return ws_archive_list_profiles(page->brief->archive, page->arena,
                                  page->brief->knowledge->results[result].id,
                                  page->brief->provenance, &out->rows,
                                  &out->count, page->diag);
}

/* The shape on which most was lost, of those that both have a profile of. */
static bool find_loss(const profiles *now, const profiles *before, int *out_now,
                      int *out_before) {
  double worst = 1;
  for (int i = 0; i < now->count; i++)
    for (int j = 0; j < before->count; j++) {
      const ws_profile_row *a = &now->rows[i], *b = &before->rows[j];
      if (ws_shape_same(&a->shape, &b->shape) && b->us > 0 &&
          a->us / b->us > worst) {
        worst = a->us / b->us;
        *out_now = i;
        *out_before = j;
      }
    }
  return worst > 1;
}

static ws_status put_slower(ws__page *page, int index, int against,
                            const ws__subject *parent, const ws__subject *child,
                            ws_strbuf *out) {
  profiles now, before;
  int at = 0, then = 0;
  WS_TRY(profiles_of(page, index, &now));
  WS_TRY(profiles_of(page, against, &before));
  if (!find_loss(&now, &before, &at, &then))
    return WS_OK;
  waits slow = waits_of(page->arena, now.rows[at].report),
        fast = waits_of(page->arena, before.rows[then].report);
  ws_strbuf_printf(out, "    slower on %s, %.4g -> %.4g us",
                   ws__page_shape(page, &now.rows[at].shape),
                   before.rows[then].us, now.rows[at].us);
  put_growth(&slow, page->arena, &fast, now.rows[at].us, out);
  put_needs(page, parent, child, out);
  ws_strbuf_puts(out, ".\n");
  return WS_OK;
}

/* The shape that takes a result longest. */
static const ws_shape *slowest(const ws__page *page, const ws__result *result) {
  int which = 0;
  for (int s = 1; s < page->brief->knowledge->shape_count; s++)
    if (isfinite(result->us[s]) &&
        !(result->us[which] >= result->us[s] && isfinite(result->us[which])))
      which = s;
  return &page->brief->task->shapes[which];
}

/* By the bound model, where the parent takes longest. */
static void put_cost(const ws__page *page, const ws__subject *parent,
                     const ws__subject *child, ws_strbuf *out) {
  const ws__task *task = page->brief->task;
  const ws_shape *shape =
      slowest(page, &page->brief->knowledge->results[parent->result]);
  ws_estimate e;
  if (!child->has_build || !child->build.kernel_count)
    return;
  ws_strbuf_puts(out, "    had it been right");
  put_needs(page, parent, child, out);
  if (task->target->has_host_model &&
      ws_model_estimate(&ws_mi300x, task->problem, child->candidate,
                        &child->build, shape, &e, NULL) == WS_OK)
    ws_strbuf_printf(out, "; about %.3g us on %s (bound model)", e.us,
                     ws_shape_text(page->arena, shape));
  ws_strbuf_puts(out, ".\n");
}

ws_status ws__page_why(ws__page *page, int index, int against, ws_strbuf *out) {
  const ws__result *results = page->brief->knowledge->results;
  ws__subject parent, child;
  if (against < 0 || !*results[index].id || !*results[against].id)
    return WS_OK;
  WS_TRY(ws__page_load(page, against, &parent));
  WS_TRY(ws__page_load(page, index, &child));
  if (results[index].verdict == WS_VERDICT_OK ||
      results[index].verdict == WS_VERDICT_SLOW)
    return put_slower(page, index, against, &parent, &child, out);
  if (results[index].verdict != WS_VERDICT_DUPLICATE)
    put_cost(page, &parent, &child, out);
  return WS_OK;
}
