/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Takes a launch apart into the work of a workgroup that is done once and the
 * work per block of 128 in k, without knowing the template: standard run 0 has
 * two blocks, run 1 one, so their difference is a block. What runs observe
 * (matrix instructions, LDS clocks, memory operations) comes from there; what
 * only the machine code knows (VALU, issue slots, barriers in the loop) comes
 * from the static mix of its innermost loops, multiplied by how often they
 * must have gone round to make the observed matrix instructions or loads.
 */
#include "bound_model_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double lanes = 64;

int64_t ws__model_parameter(const ws_candidate *candidate, const char *name,
                            int64_t otherwise) {
  int index = ws_template_param_index(candidate->tmpl, name);
  return index < 0 ? otherwise : candidate->values[index];
}

int64_t ws__model_tile_of(const ws_candidate *candidate, const ws_dims *dims,
                          int dim, int64_t otherwise) {
  char name[WS_SHAPE_TEXT];
  snprintf(name, sizeof name, "tile_%s", dims->names[dim]);
  return ws__model_parameter(candidate, name, otherwise);
}

int64_t ws__model_tile(const ws_candidate *candidate, const ws__depth *depth,
                       int64_t otherwise) {
  return depth->dim < 0 ? otherwise
                        : ws__model_tile_of(candidate, candidate->tmpl->dims,
                                            depth->dim, otherwise);
}

/* ---- what a run observed, per workgroup
 * ---------------------------------------
 */

typedef struct observed {
  double mfma_clocks, mfma_ops, lds_clocks, lds_write_clocks;
  double load_clocks, store_clocks, load_lines, load_ops;
  double load_bytes, store_bytes;
} observed;

/* The ports take 64 bytes per clock and direction; a write sends its addresses
 * the same way. */
static void observe_lds(const ws_observed *from, observed *out) {
  double read_port = (double)from->ds_read_bytes / ws__model.lds_port_bytes;
  double write_port =
      (double)from->ds_write_ops * ws__model.lds_write_address_clocks +
      (double)from->ds_write_bytes / ws__model.lds_port_bytes;
  double ports = (read_port + write_port) / ws__model.lds_ports;
  if (ports <= 0)
    return;
  out->lds_clocks = fmax((double)from->ds_clocks, ports);
  out->lds_write_clocks =
      out->lds_clocks * write_port / (read_port + write_port);
}

/* Runs count the clocks and lines of loads and stores together. A store of
 * these kernels is spread over no more lines than it takes clocks. */
static void observe_memory(const ws_observed *from, observed *out) {
  double clocks = (double)from->vmem_clocks, lines = (double)from->vmem_lines;
  out->store_clocks =
      fmin(clocks,
           fmax((double)from->vmem_store_ops * ws__model.issue_clocks,
                (double)from->vmem_store_bytes / ws__model.l1_bytes_per_clock));
  out->load_clocks = clocks - out->store_clocks;
  out->load_lines = lines - fmin(lines, out->store_clocks);
  out->load_ops = (double)from->vmem_load_ops;
  out->load_bytes = (double)from->vmem_load_bytes;
  out->store_bytes = (double)from->vmem_store_bytes;
}

static void divide(observed *all, double by) {
  double *fields = (double *)all;
  for (size_t i = 0; i < sizeof *all / sizeof *fields; i++)
    fields[i] /= by;
}

static observed observe(const ws_observed *from) {
  observed out = {0};
  double small = (double)from->mfma_16x16x32,
         large = (double)from->mfma_32x32x16, other = (double)from->mfma_other;
  out.mfma_ops = small + large + other;
  out.mfma_clocks = small * ws__model.mfma_16x16x32_clocks +
                    large * ws__model.mfma_32x32x16_clocks +
                    other * ws__model.mfma_other_clocks;
  observe_lds(from, &out);
  observe_memory(from, &out);
  divide(&out, fmax(1, (double)from->workgroups));
  return out;
}

/* ---- once and per block
 * --------------------------------------------------------
 */

/* Whether the launch's work grows with the depth: it has matrix instructions
 * that run 1 has fewer of, or loads that shrink from run 0 to run 1, where the
 * depth is no extent of outputs by more than its output does. */
static bool follows_depth(const ws__depth *depth, const observed *two,
                          const observed *one) {
  if (two->mfma_ops > 0)
    return one->mfma_ops < two->mfma_ops;
  if (!depth->declared)
    return depth->dim >= 0 && two->load_bytes > 1.5 * one->load_bytes;
  double ratio_two = two->load_bytes / fmax(1, two->store_bytes);
  double ratio_one = one->load_bytes / fmax(1, one->store_bytes);
  return ratio_two > 1.5 * ratio_one;
}

/* A workgroup of run 0 has 2 / slices blocks on average, one of run 1 half of
 * that. Run 1's edge can only make it smaller, so that the difference is cut at
 * what two blocks can hold. */
static double per_block(double two, double one, double slices) {
  return fmin(fmax(two - one, 0) * slices, two * slices / 2);
}

static void split_observed(const observed *two, const observed *one,
                           ws__launch_work *out) {
  const double slices = out->slices, blocks = 2 / slices;
  ws__work *block = &out->block, *once = &out->once;
  if (out->follows_depth) {
    block->mfma_clocks = per_block(two->mfma_clocks, one->mfma_clocks, slices);
    block->mfma_ops = per_block(two->mfma_ops, one->mfma_ops, slices);
    block->lds_clocks = per_block(two->lds_clocks, one->lds_clocks, slices);
    block->lds_write_clocks =
        per_block(two->lds_write_clocks, one->lds_write_clocks, slices);
    /* bytes and lines shrink at run 1's edge, operations do so less */
    out->load_share = per_block(two->load_ops, one->load_ops, slices) /
                      fmax(1, two->load_ops);
    block->vmem_clocks = two->load_clocks * out->load_share;
    block->load_lines = two->load_lines * out->load_share;
  }
  once->mfma_clocks = two->mfma_clocks - blocks * block->mfma_clocks;
  once->mfma_ops = two->mfma_ops - blocks * block->mfma_ops;
  once->lds_clocks = two->lds_clocks - blocks * block->lds_clocks;
  once->lds_write_clocks =
      two->lds_write_clocks - blocks * block->lds_write_clocks;
  once->vmem_clocks =
      two->load_clocks + two->store_clocks - blocks * block->vmem_clocks;
  once->load_lines = two->load_lines - blocks * block->load_lines;
  once->store_bytes = two->store_bytes;
}

/* ---- the static mix
 * --------------------------------------------------------------
 */

static double mix_mfma_clocks(const ws_mix *mix) {
  return mix->mfma_16x16x32 * ws__model.mfma_16x16x32_clocks +
         mix->mfma_32x32x16 * ws__model.mfma_32x32x16_clocks +
         mix->mfma_other * ws__model.mfma_other_clocks;
}

static double mix_valu_clocks(const ws_mix *mix) {
  return mix->valu * ws__model.issue_clocks +
         mix->valu_trans * ws__model.trans_clocks;
}

/* Waits and barriers need no pipe and go beside (timing 2 [RPC]). */
static double mix_issue_clocks(const ws_mix *mix) {
  double slots = mix->salu + mix->smem + mix->branch + mix->nop + mix->ds_read +
                 mix->ds_write + mix->vmem_load + mix->vmem_store +
                 mix->vmem_atomic + mix->scratch + mix->other;
  return slots * ws__model.issue_clocks + mix_valu_clocks(mix);
}

/* Scratch is private memory of 4 bytes per lane: one L1 access each. */
static double mix_scratch_clocks(const ws_mix *mix) {
  return mix->scratch * lanes * 4 / ws__model.l1_bytes_per_clock;
}

static void add_mix(const ws_mix *mix, double times, double waves,
                    ws__work *to) {
  to->valu_clocks += times * waves * mix_valu_clocks(mix);
  to->issue_clocks += times * waves * mix_issue_clocks(mix);
  to->vmem_clocks += times * waves * mix_scratch_clocks(mix);
  to->barriers += times * mix->barrier;
}

/* How much of a loop's body one round is worth, in the currency that both
 * sides count: matrix clocks where there are any, else bytes loaded per lane.
 */
static double round_worth(const ws_loop *loop, bool by_mfma) {
  return by_mfma ? mix_mfma_clocks(&loop->mix) : loop->load_bytes;
}

/* Spreads the mix of the loops over the blocks and leaves the rest to be done
 * once. A wave's share of a block, divided by the worth of one round of all
 * loops that take part, is how often they go round per block. */
static void spread_mix(const ws_candidate *candidate, const observed *two,
                       double waves, ws__launch_work *out) {
  const ws_kernel_facts *facts = out->facts;
  const bool by_mfma = two->mfma_ops > 0;
  double worth = 0;
  for (int i = 0; i < facts->loop_count; i++)
    worth += round_worth(&facts->loops[i], by_mfma);
  double share = by_mfma ? out->block.mfma_clocks
                         : two->load_bytes / lanes * out->load_share;
  double rounds = worth > 0 ? share / waves / worth : 0;

  add_mix(&facts->mix, 1, waves, &out->once);
  for (int i = 0; i < facts->loop_count; i++) {
    const ws_loop *loop = &facts->loops[i];
    if (!(out->follows_depth && round_worth(loop, by_mfma) > 0))
      continue;
    add_mix(&loop->mix, -1, waves, &out->once);
    add_mix(&loop->mix, rounds, waves, &out->block);
    out->hidden_clocks = fmax(out->hidden_clocks, loop->mfma_clocks_over_load);
  }
  /* the loop over a block may be unrolled: it still loads tile_k at a time */
  double block = (double)out->depth.block;
  double loads_per_block =
      block / (double)ws__model_tile(candidate, &out->depth, (int64_t)block);
  out->block.steps = fmax(rounds, loads_per_block);
}

/* The compiler makes one wide load of several narrow ones that follow each
 * other; runs observe the narrow ones. Each wide one then touches as many
 * lines as a narrow one did. */
static void merge_loads(const ws_kernel_facts *facts, observed *all) {
  double loads = 0, bytes = 0;
  for (int i = 0; i < facts->loop_count; i++) {
    loads += facts->loops[i].mix.vmem_load;
    bytes += facts->loops[i].load_bytes;
  }
  if (loads == 0 || all->load_ops == 0)
    return;
  double wide = bytes / loads, narrow = all->load_bytes / all->load_ops / lanes;
  double merged = wide / narrow;
  if (merged < 2) /* prologues make the mean widths differ a little */
    return;
  all->load_ops /= merged;
  all->load_lines /= merged;
  double clocks =
      fmax(ws__model.issue_clocks, wide * lanes / ws__model.l1_bytes_per_clock);
  all->load_clocks = fmax(all->load_lines, all->load_ops * clocks);
}

/* ---- all of it
 * ---------------------------------------------------------------- */

static const ws_observed *find_observed(const ws_run_result *run,
                                        const char *kernel) {
  for (int i = 0; i < run->launch_count; i++)
    if (!strcmp(run->launches[i].kernel, kernel))
      return &run->launches[i].observed;
  return NULL;
}

ws_status ws__model_take_apart(const ws_problem *problem,
                               const ws_candidate *candidate,
                               const ws_build_result *result, int launch,
                               int threads, ws__launch_work *out,
                               ws_diag *diag) {
  const char *kernel = candidate->tmpl->launches[launch].kernel;
  *out = (ws__launch_work){.facts = ws_build_kernel_facts(result, kernel)};
  if (!out->facts || result->run_count < 2)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "no estimate for candidate %s: its build has %s; build it "
                   "again with all stages and the standard runs",
                   candidate->id.hex,
                   out->facts ? "no standard runs" : "no facts of a kernel");
  const ws_observed *first = find_observed(&result->runs[0], kernel);
  const ws_observed *second = find_observed(&result->runs[1], kernel);
  observed two = {0}, one = {0};
  if (first)
    two = observe(first);
  if (second)
    one = observe(second);
  out->slices = (double)ws__model_parameter(candidate, "split_k", 1);
  out->run_workgroups = first ? (double)first->workgroups : 1;
  out->depth = ws__model_depth(problem, candidate);
  out->run_area = ws__model_area(&out->depth, &result->runs[0].shape);
  merge_loads(out->facts, &two);
  merge_loads(out->facts, &one);
  out->follows_depth = follows_depth(&out->depth, &two, &one);
  split_observed(&two, &one, out);
  spread_mix(candidate, &two, ceil(threads / lanes), out);
  return WS_OK;
}
