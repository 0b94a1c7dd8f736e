/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernels of an archive as a tuning spec of the IREE compiler: for a shape the
 * tile sizes, waves, matrix instruction and prefetch that the archive found
 * best, as the lowering configuration of the contraction that IREE sees there.
 * IREE generates the code; what it has no word for is named in the spec and
 * left out (docs/iree.md).
 *
 * What a parameter of a template means follows from its name: tile_m, tile_n,
 * tile_k, waves_m, waves_n, mfma; prefetch and split_k where there are any.
 *
 * Threads: no state outside its arguments.
 */
#ifndef WAVESMITH_IREE_H
#define WAVESMITH_IREE_H

#include "wavesmith/dispatch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operation that IREE matches: result[d0][d1] = sum over d2 of products,
 * d0, d1, d2 being m, n, k. */
typedef struct ws_iree_contraction {
  const ws_problem *problem;
  const char *layout;
  ws_type type;          /* of both operands */
  const char *element;   /* the same as MLIR has it; sums are f32 */
  const char *lhs, *rhs; /* results of their indexing maps: "(d0, d2)" */
  int m, n, k;           /* dimensions of the problem */
} ws_iree_contraction;

/* WS_INPUT with a sentence where IREE has no such contraction, or has no words
 * for the target's kernels. */
ws_status ws_iree_contraction_of(const ws_problem *problem, const char *layout,
                                 const ws_target *target,
                                 ws_iree_contraction *out,
                                 ws_diag *diag) WS_MUST_CHECK;

/* A candidate in IREE's words. */
typedef struct ws_iree_config {
  const char *mma_kind;             /* "MFMA_F32_16x16x32_F8E4M3FNUZ" */
  int64_t tile_m, tile_n, tile_k;   /* elements of a workgroup's step */
  int64_t subgroup_m, subgroup_n;   /* matrix instructions of a wave */
  int64_t steps_k;                  /* and of a tile along k */
  int64_t threads, prefetch_stages; /* 1 stage: no prefetch */
} ws_iree_config;

/* WS_INPUT with a sentence where the template's parameters do not say it, or
 * say what IREE cannot do. */
ws_status ws_iree_config_of(const ws_iree_contraction *contraction,
                            const ws_candidate *candidate, ws_iree_config *out,
                            ws_diag *diag) WS_MUST_CHECK;

/* Parameters, variants and bodies of the candidate that a config does not
 * hold, as "lds_pad=8 order=1 mma=mma_stationary"; "". In the arena. */
const char *ws_iree_left_out(ws_arena *arena, const ws_candidate *candidate);

/* ---- which kernel for a shape ---------------------------------------------
 */
typedef struct ws_iree_choice {
  ws_shape shape;
  const ws_candidate *candidate; /* NULL: none yet */
  double us;                     /* 0: not timed on the shape */
  const char *provenance;        /* of the times that decided */
  /* The fastest on the shape by these times, IREE having words for it or not;
   * NULL: it was not timed. */
  const ws_candidate *fastest;
  double fastest_us;
} ws_iree_choice;

/* Puts entries that have a config first, in their order, and leaves in
 * *out_count how many these are. WS_INPUT with the first one's reason where
 * none has. */
ws_status ws_iree_sort(const ws_iree_contraction *contraction,
                       ws_dispatch_entry *entries, int count, int *out_count,
                       ws_diag *diag) WS_MUST_CHECK;

/* For each shape the fastest of the first config_count entries by recorded
 * times: of the provenance nearest to a card in which one of them was timed
 * there, without estimates unless `wanted` (a kind, "sim", or a whole
 * provenance; NULL: any) names them. Choices of the others have no candidate.
 */
ws_status ws_iree_choose(ws_archive *archive, ws_arena *arena,
                         const ws_dispatch_entry *entries, int count,
                         int config_count, const char *wanted,
                         const ws_shape *shapes, int shape_count,
                         ws_iree_choice *out_choices,
                         ws_diag *diag) WS_MUST_CHECK;

/* The module's text, one matcher for each choice; all have a candidate with a
 * config. The same choices give the same bytes. */
ws_status ws_iree_spec_print(ws_arena *arena,
                             const ws_iree_contraction *contraction,
                             const ws_iree_choice *choices, int count,
                             ws_strbuf *out, ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
