/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a timing matrix (shapes x candidates) to a portfolio, a decision tree
 * over the shape, and C99 text that programs compile in.
 */
#ifndef WAVESMITH_DISPATCH_H
#define WAVESMITH_DISPATCH_H

#include "wavesmith/archive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One candidate of the portfolio with all that emission needs. */
typedef struct ws_dispatch_entry {
  const ws_candidate *candidate;
  const ws_build_result *result;
  const void *code_object;
  size_t code_object_size;
} ws_dispatch_entry;

/* Row-major [shape][candidate] times in us; INFINITY where the candidate's
 * constraints do not allow the shape. */
typedef struct ws_matrix {
  const ws_shape *shapes;
  int shape_count;
  int candidate_count;
  double *us;
  const char *provenance;
} ws_matrix;

/* Greedy cover: picks at most max_count columns that minimise the geometric
 * mean over shapes of (best of picked / best of all). The first pick is
 * feasible on every shape; WS_INPUT when no candidate is. Deterministic. */
ws_status ws_portfolio_pick(const ws_matrix *matrix, int max_count,
                            int *out_columns, int *out_count,
                            ws_diag *diag) WS_MUST_CHECK;

typedef struct ws_dispatch_options {
  const char *name;       /* C identifier: NAME.h, NAME.c, NAME_select() */
  const char *output_dir; /* must be writable */
  int max_portfolio;      /* default 8 */
  int max_leaves;         /* default 24 */
} ws_dispatch_options;

typedef struct ws_dispatch_report {
  int portfolio_count, leaf_count;
  double train_geomean_regret, train_max_regret; /* ratios >= 1 */
  const char *const *files; /* paths written, in the caller's arena */
  int file_count;
} ws_dispatch_report;

/* Fits rules on the matrix (whose columns are entries) and writes NAME.h,
 * NAME.c (code objects embedded), NAME-<id>.co and NAME.json. */
ws_status ws_dispatch_emit(ws_arena *arena, const ws_problem *problem,
                           const char *layout, const char *target,
                           const ws_dispatch_entry *entries,
                           const ws_matrix *matrix,
                           const ws_dispatch_options *options,
                           ws_dispatch_report *out_report,
                           ws_diag *diag) WS_MUST_CHECK;

/* The shapes that rules are fitted on: the named set plus a log-spaced grid of
 * legal shapes around and between them. In the arena. */
ws_shape *ws_dispatch_training_shapes(ws_arena *arena,
                                      const ws_problem *problem,
                                      const ws_shape_set *set, int *out_count);

#ifdef __cplusplus
}
#endif
#endif
