/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A made-up GEMM for the model's tests: facts and observations as a build
 * would give them, from a few numbers per block of k that a test can reason
 * about by hand.
 */
#ifndef WAVESMITH_TEST_SYNTHETIC_BUILD_H
#define WAVESMITH_TEST_SYNTHETIC_BUILD_H

#include "../gemm_shape.h"
#include "wavesmith/bound_model.h"
#include "ws_test.h"

#define MODEL_RECORD(kind, ...)                                                \
  {                                                                            \
    kind, (const char *const[]){__VA_ARGS__},                                  \
        (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)), 1  \
  }

static inline const ws_template *gemm_template(ws_arena *arena) {
  const ws_record items[] = {
      MODEL_RECORD("template", "gemm", "1", "fp8_gemm_blockscale", "gfx942",
                   "for tests"),
      MODEL_RECORD("param", "tile_m", "ws.tile_m", "16 64 128 256", "meaning",
                   "128"),
      MODEL_RECORD("param", "tile_n", "ws.tile_n", "16 64 128 256", "meaning",
                   "128"),
      MODEL_RECORD("param", "split_k", "ws.split_k", "1 2 4 8", "meaning", "1"),
      MODEL_RECORD("param", "order", "ws.order", "0 1 2", "meaning", "0"),
      MODEL_RECORD("param", "group_m", "ws.group_m", "1 2 4 8", "meaning", "1"),
      MODEL_RECORD("launch", "gemm", "ceildiv(m, tile_m) * ceildiv(n, tile_n)",
                   "split_k", "1", "256", "1", "a"),
      MODEL_RECORD("launch", "reduce", "ceildiv(m * n, 1024)", "1", "1", "256",
                   "split_k > 1", "a"),
  };
  const ws_records records = {items, (int)(sizeof items / sizeof *items)};
  const ws_template *tmpl;
  ws_diag diag = {""};
  if (ws_template_from_records(arena, &records, "gemm.ll",
                               ws_hash_bytes("gemm", 4), &tmpl, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return tmpl;
}

/* Per workgroup and block of k, and registers and LDS. */
typedef struct gemm_work {
  int mfma;          /* 16x16x32 instructions, all waves */
  int valu;          /* per wave */
  int lds_clocks;    /* of which a quarter writes */
  int load_bytes;    /* whole lines */
  int hidden_clocks; /* over the loads */
  int barriers;      /* 2: one tile in LDS; fewer: two */
  int vgpr, lds_bytes;
} gemm_work;

static inline ws_observed gemm_observed(const gemm_work *work, int64_t blocks,
                                        int64_t slices, int64_t elements) {
  ws_observed o = {.workgroups = slices, .waves = 4 * slices};
  o.mfma_16x16x32 = work->mfma * blocks;
  o.ds_clocks = work->lds_clocks * blocks;
  o.ds_clocks_ideal = o.ds_clocks;
  o.ds_read_bytes = 64 * work->lds_clocks * blocks * 3 / 4;
  o.ds_write_bytes = 64 * work->lds_clocks * blocks / 4;
  o.vmem_load_ops = work->load_bytes / 1024 * blocks;
  o.vmem_load_bytes = work->load_bytes * blocks;
  o.vmem_store_ops = elements / 64;
  o.vmem_store_bytes = elements * (slices > 1 ? 4 * slices : 2);
  o.vmem_lines = o.vmem_load_bytes / 128 + o.vmem_store_bytes / 128;
  o.vmem_clocks = o.vmem_load_bytes / 64 + o.vmem_store_bytes / 64;
  return o;
}

static inline ws_observed reduce_observed(int64_t slices, int64_t elements) {
  ws_observed o = {.workgroups = (elements + 1023) / 1024};
  o.waves = 4 * o.workgroups;
  o.vmem_load_bytes = 4 * slices * elements;
  o.vmem_load_ops = o.vmem_load_bytes / 1024;
  o.vmem_store_bytes = 2 * elements;
  o.vmem_store_ops = o.vmem_store_bytes / 1024;
  o.vmem_lines = (o.vmem_load_bytes + o.vmem_store_bytes) / 128;
  o.vmem_clocks = (o.vmem_load_bytes + o.vmem_store_bytes) / 64;
  return o;
}

/* The build of the candidate that assignments name. */
typedef struct gemm {
  ws_arena *arena;
  const ws_problem *problem;
  ws_candidate *candidate;
  ws_build_result result;
  ws_kernel_facts kernels[2];
  ws_run_result runs[2];
} gemm;

static inline void gemm_build(gemm *g, ws_arena *arena, const char *assignments,
                              const gemm_work *work) {
  *g = (gemm){.arena = arena,
              .problem = ws_problem_find("fp8_gemm_blockscale"),
              .candidate = ws_candidate_create(arena, gemm_template(arena))};
  ws_diag diag = {""};
  if (ws_candidate_set(g->candidate, assignments, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  const int64_t slices =
      g->candidate
          ->values[ws_template_param_index(g->candidate->tmpl, "split_k")];
  ws_run standard[WS_STANDARD_RUNS];
  WS_CHECK(ws_standard_runs(g->candidate, standard) >= 2);

  g->kernels[0] = (ws_kernel_facts){.name = "gemm",
                                    .vgpr = work->vgpr,
                                    .sgpr = 48,
                                    .lds_bytes = work->lds_bytes,
                                    .loop_count = 1};
  ws_loop *loop = &g->kernels[0].loops[0];
  loop->mix.mfma_16x16x32 = work->mfma / 4;
  loop->mix.valu = work->valu;
  loop->mix.barrier = work->barriers;
  loop->mfma_clocks_over_load = work->hidden_clocks;
  g->kernels[0].mix = loop->mix;
  g->kernels[1] = (ws_kernel_facts){.name = "reduce", .vgpr = 32, .sgpr = 32};
  for (int run = 0; run < 2; run++) {
    const ws_shape shape = standard[run].shape;
    g->runs[run].shape = shape;
    g->runs[run].launch_count = slices > 1 ? 2 : 1;
    g->runs[run].launches[0].kernel = "gemm";
    g->runs[run].launches[0].observed =
        gemm_observed(work, shape.size[DIM_K] / 128, slices,
                      shape.size[DIM_M] * shape.size[DIM_N]);
    g->runs[run].launches[1].kernel = "reduce";
    g->runs[run].launches[1].observed =
        reduce_observed(slices, shape.size[DIM_M] * shape.size[DIM_N]);
  }
  g->result = (ws_build_result){.verdict = WS_VERDICT_OK,
                                .runs = g->runs,
                                .run_count = 2,
                                .kernels = g->kernels,
                                .kernel_count = 2};
}

static inline ws_estimate gemm_estimate(const gemm *g, int64_t m, int64_t n,
                                        int64_t k) {
  ws_estimate estimate;
  ws_diag diag = {""};
  const ws_shape shape = gemm_shape(m, n, k);
  if (ws_model_estimate(&ws_mi300x, g->problem, g->candidate, &g->result,
                        &shape, &estimate, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return estimate;
}

#endif
