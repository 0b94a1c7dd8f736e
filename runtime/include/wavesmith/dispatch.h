/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a timing matrix (shapes x candidates) to a portfolio, a decision tree
 * over the shape, and C99 text that programs compile in.
 *
 * Threads: no state outside its arguments; each ws_rules, matrix and arena
 * belongs to one thread at a time, and reading them is thread-safe.
 */
#ifndef WAVESMITH_DISPATCH_H
#define WAVESMITH_DISPATCH_H

#include "wavesmith/archive.h"
#include "wavesmith/target.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_time_terms ws_time_terms; /* time_model.h */

/* One candidate of the portfolio with all that emission needs. */
typedef struct ws_dispatch_entry {
  const ws_candidate *candidate;
  const ws_build_result *result;
  const void *code_object;
  size_t code_object_size;
} ws_dispatch_entry;

/* Row-major [shape][candidate] times in us; INFINITY where the candidate's
 * constraints do not allow the shape, NAN where it was not timed (only where
 * this is said to be allowed). */
typedef struct ws_matrix {
  const ws_shape *shapes;
  int shape_count;
  int candidate_count;
  double *us;
  const char *provenance;
} ws_matrix;

/* The rows whose mark is `wanted`; in the arena. */
ws_matrix ws_matrix_rows(ws_arena *arena, const ws_matrix *from,
                         const bool *marks, bool wanted);

/* Greedy cover: picks at most max_count columns that minimise the geometric
 * mean over shapes of (best of picked / best of all). The first pick is
 * feasible on every shape; WS_INPUT when no candidate is. Deterministic. */
ws_status ws_portfolio_pick(const ws_matrix *matrix, int max_count,
                            int *out_columns, int *out_count,
                            ws_diag *diag) WS_MUST_CHECK;

/* ---- rules: a decision tree over the shape ----------------------------------
 * Splits minimise the regret that the leaves leave (sum over shapes of
 * log(time of the leaf's pick / best time)), not a class count. A leaf holds a
 * chain of candidates: the first that accepts the shape is taken, and the last
 * accepts every legal shape, or any other does that the last refuses. */
typedef struct ws_rules ws_rules;

/* Fits rules over the given columns of matrix. entries (indexed by column;
 * NULL: every candidate accepts every shape) says what a candidate accepts.
 * WS_INPUT when no column accepts every legal shape. In the arena. */
ws_status ws_rules_fit(ws_arena *arena, const ws_problem *problem,
                       const ws_dispatch_entry *entries,
                       const ws_matrix *matrix, const int *columns,
                       int column_count, int max_leaves,
                       const ws_rules **out_rules, ws_diag *diag) WS_MUST_CHECK;
int ws_rules_leaf_count(const ws_rules *rules);
/* Position in columns of the pick; -1 when the shape is not legal, or none of
 * the columns accepts it. Equal to the emitted NAME_select. */
int ws_rules_pick(const ws_rules *rules, const ws_shape *shape);

/* What a choice loses against the best column, as finite ratios >= 1; of no
 * shape 1. */
typedef struct ws_regret {
  int shape_count;
  double geomean, max;
  ws_shape worst; /* where max is */
} ws_regret;
/* matrix: same columns as the one the rules were fitted on, any shapes. */
ws_regret ws_rules_regret(const ws_rules *rules, const ws_matrix *matrix);

/* ---- selection: what picks a kernel for a shape ----------------------------
 * Three forms, in this order:
 *   table   shapes whose sizes but the first were timed (a layer that was
 *           tuned), for first sizes near those timed: the kernel that was
 *           fastest there, between two timed sizes by the time models, bent so
 *           that they meet both
 *   by band of the first size, whichever loses less where shapes are left out
 *   whose other sizes are the same (cross-validation over those groups):
 *     tree    rules, as above
 *     models  the least time by the kernels' time models (time_model.h)
 * A kernel that does not take the shape is passed over in each. */
typedef struct ws_selection ws_selection;

/* What each form loses where groups of shapes are left out, in one band of the
 * first size: means of ln(time of the choice / best of all kernels of the
 * matrix), on shapes where the choice was timed. nearest: what is best on the
 * nearest timed shape (by the sum of |ln| over sizes). */
typedef enum ws_form {
  WS_FORM_NEAREST,
  WS_FORM_TREE,
  WS_FORM_MODELS,
  WS_FORM_ORACLE, /* of the portfolio */
  WS_FORMS
} ws_form;
const char *ws_form_text(ws_form form);
typedef struct ws_band {
  int64_t first, last; /* sizes, both included; last INT64_MAX: no end */
  ws_form form;        /* that is taken: tree or models */
  int shape_count;     /* that were left out and judged */
  double ln_loss[WS_FORMS], worst[WS_FORMS]; /* worst: a ratio */
} ws_band;
enum { WS_BANDS_MOST = 8 };

typedef struct ws_selection_input {
  const ws_problem *problem;
  const ws_target *target;
  const ws_time_terms *terms;       /* NULL: the default */
  const ws_dispatch_entry *entries; /* by column */
  const ws_matrix *matrix;          /* may have gaps */
  int max_portfolio, max_leaves;    /* 0: the default */
} ws_selection_input;

/* Which kernels are shipped, and what chooses among them. */
typedef struct ws_dispatch_choice {
  const int *columns; /* of the matrix */
  int count;
  const ws_selection *selection; /* its picks are positions in columns */
} ws_dispatch_choice;
/* The portfolio (ws_portfolio_pick on the matrix without its gaps; where fewer
 * than 64 shapes were timed, with modelled ones around them that count little),
 * with a kernel in it that accepts every legal shape (or all but some at the end
 * of what is legal, which others accept), and its selection. WS_INPUT when there
 * is none. In the arena. */
ws_status ws_dispatch_choose(ws_arena *arena, const ws_selection_input *input,
                             ws_dispatch_choice *out_choice,
                             ws_diag *diag) WS_MUST_CHECK;
/* Position in columns; -1 when the shape is not legal, or no kernel of the
 * portfolio accepts it. Equal to the emitted NAME_select. */
int ws_selection_pick(const ws_selection *selection, const ws_shape *shape);
/* On the rows of a matrix of the same columns on which the choice was timed. */
ws_regret ws_selection_regret(const ws_selection *selection,
                              const ws_matrix *matrix);
int ws_selection_leaf_count(const ws_selection *selection);
int ws_selection_bands(const ws_selection *selection, const ws_band **out);
/* Kernels that the time models say nothing of, as their terms do not apply to
 * them; where there is one the tree is taken in all bands. */
int ws_selection_unmodelled(const ws_selection *selection);
/* Shapes that the table holds. */
int ws_selection_table_count(const ws_selection *selection);

typedef struct ws_dispatch_options {
  const char *name;       /* C identifier: NAME.h, NAME.c, NAME_select() */
  const char *output_dir; /* must be writable */
  const char *layout;
} ws_dispatch_options;

typedef struct ws_dispatch_report {
  int portfolio_count, leaf_count;
  double train_geomean_regret, train_max_regret; /* ratios >= 1 */
  const char *const *files; /* paths written, in the caller's arena */
  int file_count;
  const int *portfolio; /* columns of the matrix, in the caller's arena */
  const ws_selection *selection; /* for regret on other shapes */
} ws_dispatch_report;

/* Chooses (ws_dispatch_choose) and writes NAME.h, NAME.c (code objects
 * embedded), NAME-<id>.co and NAME.json. */
ws_status ws_dispatch_emit(ws_arena *arena, const ws_selection_input *input,
                           const ws_dispatch_options *options,
                           ws_dispatch_report *out_report,
                           ws_diag *diag) WS_MUST_CHECK;

/* The shapes that rules are fitted on: the named set plus a log-spaced grid of
 * legal shapes around and between them. In the arena. */
ws_shape *ws_dispatch_training_shapes(ws_arena *arena,
                                      const ws_problem *problem,
                                      const ws_shape_set *set, int *out_count);

/* ---- from an archive ------------------------------------------------------
 */

/* All ok candidates of the problem and layout that have a code object, in the
 * order of their ids. WS_INPUT when there is none. */
ws_status ws_dispatch_load(ws_archive *archive, ws_arena *arena,
                           const ws_problem *problem, const char *layout,
                           const char *target, ws_dispatch_entry **out_entries,
                           int *out_count, ws_diag *diag) WS_MUST_CHECK;
/* The same without code objects, which an imported text archive does not hold;
 * ws_dispatch_rebuild makes them. */
ws_status ws_dispatch_load_recorded(ws_archive *archive, ws_arena *arena,
                                    const ws_problem *problem,
                                    const char *layout, const char *target,
                                    ws_dispatch_entry **out_entries,
                                    int *out_count,
                                    ws_diag *diag) WS_MUST_CHECK;
/* What compiling recorded entries again came to. */
typedef struct ws_rebuild_report {
  const char *compiler;          /* in the caller's arena */
  const char *recorded_compiler; /* of the first that differs, else compiler */
  int changed; /* kept, but the machine code is another than recorded */
  int dropped; /* did not build with this compiler */
  const char *dropped_reason; /* of the first; "" when none */
} ws_rebuild_report;
/* Compiles every entry: fills code objects and puts the new facts into results;
 * observations stay the recorded ones unless sanitize asks for new ones. The
 * compiler that recorded an entry must arrive at the recorded machine code
 * (else WS_INPUT: the archive was altered, or lowering is not deterministic);
 * another compiler may differ, and an entry that it cannot build is dropped.
 * *count becomes the number of entries kept; WS_INPUT when it is 0. */
ws_status ws_dispatch_rebuild(ws_archive *archive, ws_compiler *compiler,
                              ws_arena *arena, const char *target,
                              bool sanitize, ws_dispatch_entry *entries,
                              int *count, ws_rebuild_report *out_report,
                              ws_diag *diag) WS_MUST_CHECK;

/* Estimates every entry on every shape (ws_model_estimate). */
ws_status ws_dispatch_estimate(ws_arena *arena, const ws_problem *problem,
                               const ws_dispatch_entry *entries,
                               int entry_count, const ws_shape *shapes,
                               int shape_count, ws_matrix *out_matrix,
                               ws_diag *diag) WS_MUST_CHECK;

/* The recorded times of the entries on the set's shapes, and on all others that
 * half of them (of more than 32 four) were timed on, of the one best provenance
 * that is no estimate (measured.c says which). wanted: NULL for any, a kind ("sim") or a whole
 * provenance. Entries without times on all shapes of the set take part where
 * they have enough for a time model (12); the others are dropped, *count
 * becomes the rest. The matrix has gaps (NAN). out_matrix->provenance is NULL,
 * and nothing is dropped, when no provenance has a kernel for every shape. */
ws_status ws_dispatch_measured(ws_archive *archive, ws_arena *arena,
                               const ws_problem *problem,
                               const ws_shape_set *set, const char *wanted,
                               ws_dispatch_entry *entries, int *count,
                               ws_matrix *out_matrix,
                               ws_diag *diag) WS_MUST_CHECK;

/* What a dispatch is made from: recorded times, or where these do not suffice,
 * wanted allows it and the target has a bound model, estimates on the training
 * shapes. out_matrix->provenance is NULL when there is neither. */
ws_status ws_dispatch_times(ws_archive *archive, ws_arena *arena,
                            const ws_problem *problem, const ws_target *target,
                            const ws_shape_set *set, const char *wanted,
                            ws_dispatch_entry *entries, int *count,
                            ws_matrix *out_matrix, ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
