/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the files of runtime/dispatch share: the matrix's accessors, the tree's
 * representation, and what emission reads of it.
 */
#ifndef WAVESMITH_DISPATCH_INTERNAL_H
#define WAVESMITH_DISPATCH_INTERNAL_H

#include "wavesmith/time_model.h"

/* Times of silicon, not of a simulator or a model. */
bool ws__is_of_a_card(const char *provenance);
bool ws__is_estimate(const char *provenance);

double ws__matrix_us(const ws_matrix *matrix, int shape, int column);
double ws__matrix_best_us(const ws_matrix *matrix, int shape);
/* A time up to this counts as the best on the shape: how the simulator ordered
 * such is a coin's (ws_sim_error_coin). Of all other times the best itself. */
double ws__matrix_coin_us(const ws_matrix *matrix, int shape);

/* A quantity that rules may compare with a threshold: an expression over
 * dimensions, evaluated here and printed into the emitted C from one text. */
typedef struct ws__feature {
  const char *name, *text;
  const ws_expr *expr;
} ws__feature;
/* Of the problem's dimensions, in the arena. */
ws_status ws__features_of(ws_arena *arena, const ws_problem *problem,
                          const ws__feature **out_features, int *out_count,
                          ws_diag *diag) WS_MUST_CHECK;

/* Bytes of the name or number at text; 0: there is none. */
size_t ws__word_size(const char *text);
/* "A", "B", "D" -> names of the problem's dimensions; a name is replaced where
 * it stands alone. NULL: the text names a letter that stands for nothing. */
const char *ws__fill_letters(ws_arena *arena, const ws_problem *problem,
                             const char *text);

/* ---- time models ---- */
struct ws_time_terms {
  const char *const *texts;   /* letters filled */
  const char *const *written; /* as they were */
  int count;
};
/* The terms as expressions over dimensions alone, parameters and the card's
 * cu_count bound; NULL where a term does not apply. In the arena. */
const ws_expr *const *ws__bind_terms(ws_arena *arena,
                                     const ws_time_terms *terms,
                                     const ws_dispatch_entry *entry,
                                     const ws_target *target);
/* Models see no size above this, so that products of three fit an int64. */
enum { WS__MODEL_LARGEST = 1 << 20 };
typedef struct ws__time_model {
  const ws_expr *const *terms; /* [count]; NULL: not there */
  double us[WS_TIME_TERMS_MOST];
  double error; /* root mean square of ln(time / model) */
  int timings;
} ws__time_model;
struct ws_time_models {
  const ws_time_terms *terms;
  const ws__time_model *models;
  int count;
};

/* ws_time_models_fit with each of several weights of the rows; terms are
 * evaluated once. Of the input the matrix is not looked at. */
ws_status ws__time_models_fit_each(ws_arena *arena,
                                   const ws_selection_input *input,
                                   const ws_matrix *matrix,
                                   const double *const *weights, int fits,
                                   const int *columns, int column_count,
                                   const ws_time_models **out_models,
                                   ws_diag *diag);

/* The same with every model's time multiplied by the kernel's factor; errors
 * and timings stay those of the fit. In the arena. */
const ws_time_models *ws__time_models_times(ws_arena *arena,
                                            const ws_time_models *models,
                                            const double *factors);

/* ---- fits: constants of terms whose values are known ---- */
typedef struct ws__observations {
  int kernels, rows, terms;
  const double *const *values; /* of a term: [kernel * rows + row] */
  const double *us;            /* likewise; NAN, INFINITY: no time */
  double scale[WS_TIME_TERMS_MOST]; /* of a term, so that its constants are
                                       near 1 */
} ws__observations;
/* Normal equations, constants scaled; of the Gram matrix the lower half. */
typedef struct ws__equations {
  double gram[WS_TIME_TERMS_MOST][WS_TIME_TERMS_MOST],
      right[WS_TIME_TERMS_MOST];
  int rows;
} ws__equations;
/* A model is known no better than times are repeated. */
extern const double ws__least_error;
bool ws__is_time(double us);
/* Of one term, as an expression over dimensions (NULL: 0), on shapes. */
void ws__term_values(const ws_expr *term, const ws_shape *shapes, int count,
                     double *out);
void ws__find_scales(ws__observations *of);
/* Nothing where there is no time. */
void ws__add_row(const ws__observations *of, int kernel, int row,
                 double weight, ws__equations *to);
void ws__add_equations(const ws__equations *from, double weight, int terms,
                       ws__equations *to);
/* What the equations of another weigh in the fit of self; 0: nothing. */
double ws__pool_weight(const ws_candidate *self, const ws_candidate *other);
/* Scaled constants, each >= 0, few above. */
void ws__solve_constants(const ws__equations *in, int terms, double *x);
double ws__sum_terms(const ws__observations *of, int kernel, int row,
                     const double *constants);
/* Multiplies the constants by the kernel's own factor, from its rows with a
 * weight. Returns how many they were. */
int ws__fit_factor(const ws__observations *of, int kernel,
                   const double *weights, double *constants,
                   double *out_error);

typedef struct ws__node {
  int feature;       /* < 0: a leaf */
  int64_t threshold; /* value <= threshold goes to low */
  int low, high;     /* nodes */
  int leaf;
} ws__node;

typedef struct ws__leaf {
  const int *chain; /* positions in columns; the last is universal */
  int chain_length;
  int shape_count; /* training shapes that end here */
  double geomean_regret, max_regret;
  const char *rule; /* "m <= 96 && tiles_128x128 > 304" */
} ws__leaf;

struct ws_rules {
  const ws_expr *legal;
  const ws__feature *features;
  int feature_count;
  const int *columns;
  const ws_candidate *const *candidates; /* by position; NULL: no constraint */
  int column_count;
  const ws__node *nodes; /* nodes[0] is the root */
  int node_count;
  const ws__leaf *leaves;
  int leaf_count;
};

/* ---- the table of tuned shapes ----
 * Shapes of one key (sizes but the first) and a run of first sizes. */
typedef struct ws__span {
  int64_t last;     /* first sizes up to it, from behind the span before */
  const int *chain; /* positions; the first that takes the shape */
  int chain_length;
} ws__span;
typedef struct ws__table_row {
  int64_t key[WS_MAX_DIMS]; /* sizes 1 .. */
  int64_t first;            /* of the first span */
  const ws__span *spans;
  int span_count;
} ws__table_row;
typedef struct ws__table {
  const ws__table_row *rows;
  int count;
  int shape_count; /* timed shapes in it */
} ws__table;

enum { WS__DEFAULT_LEAVES = 24 };

/* The rows of a matrix, and those of the shapes before them (residues.c). In the
 * arena. */
ws_matrix ws__with_residues(ws_arena *arena, const ws_selection_input *input,
                            const ws_matrix *matrix);
/* Likewise of shapes alone, as the kernels of these columns take them. */
const ws_shape *ws__shapes_with_residues(ws_arena *arena,
                                         const ws_selection_input *input,
                                         const int *columns, int column_count,
                                         const ws_shape *shapes, int *count);

/* What the forms are made of: positions are of the portfolio. */
typedef struct ws__portfolio {
  const ws_selection_input *input;
  /* The input's matrix without gaps: as expected, and with caution, which is
   * what choices are made from. */
  const ws_matrix *expected, *filled;
  const int *columns;
  int count;
  const bool *universal; /* by position: ws__find_universal */
  bool is_proven; /* of all that are universal: they have no constraint */
  int fallback;   /* of the universal ones the best alone */
} ws__portfolio;
/* requires: one of them takes every shape. In the arena. */
ws__portfolio ws__portfolio_of(ws_arena *arena,
                               const ws_selection_input *input,
                               const ws_matrix *expected,
                               const ws_matrix *filled, const int *columns,
                               int count);
bool ws__portfolio_takes(const ws__portfolio *portfolio, int position,
                         const ws_shape *shape);
/* Positions by time, cut behind the first that takes every shape. In the
 * arena. */
const int *ws__make_chain(ws_arena *arena, const ws__portfolio *portfolio,
                          const double *us, int *out_length);
/* What the bands know: their models, and of which kernels (ws__band_knows). */
typedef struct ws__known {
  const ws_band *bands;
  int band_count, kernel_count;
  const ws_time_models *const *models; /* [band] */
  const bool *knows;                   /* [band][kernel] */
} ws__known;
bool ws__known_at(const ws__known *known, int position, const ws_shape *shape);
ws__table ws__table_make(ws_arena *arena, const ws__portfolio *portfolio,
                         const ws__known *known);
/* NULL: the shape is not near one that was timed. */
const ws__span *ws__table_find(const ws__table *table, const ws_shape *shape);

/* ---- bands of the first size ---- */
typedef struct ws__shortlist {
  const int *positions; /* that the models choose among */
  int count;
  int fallback; /* where none of them takes the shape; takes every shape */
} ws__shortlist;
/* Cuts the matrix's first sizes into bands and judges the forms in each where
 * groups are left out. */
ws_status ws__bands_judge(ws_arena *arena, const ws__portfolio *portfolio,
                          ws_band *out_bands, int *out_count, ws_diag *diag);
/* The same once: fitted without the rows that are left out, judged on them. */
ws_status ws__bands_judge_once(ws_arena *arena, const ws__portfolio *portfolio,
                               const bool *left_out, ws_band *out_bands,
                               int *out_count, ws_diag *diag);
int ws__band_of(const ws_band *bands, int count, const ws_shape *shape);
/* Models for each band, in which a row weighs less the farther its first size
 * is from the band. In the arena. */
ws_status ws__bands_fit(ws_arena *arena, const ws__portfolio *portfolio,
                        const ws_matrix *timed, const ws_band *bands, int count,
                        const ws_time_models **out_by_band, ws_diag *diag);
/* Whether a kernel was timed on enough shapes of the band for its model to be
 * asked there. matrix: with its gaps. */
bool ws__band_knows(const ws__portfolio *portfolio, const ws_matrix *matrix,
                    const ws_band *band, int position);
ws__known ws__bands_known(ws_arena *arena, const ws__portfolio *portfolio,
                          const ws_time_models *const *models,
                          const ws_band *bands, int band_count);
/* The position of the shortlist with the least time by the models that takes
 * the shape. */
int ws__pick_by_models(const ws__portfolio *portfolio,
                       const ws_time_models *models,
                       const ws__shortlist *among, const ws_shape *shape);

struct ws_selection {
  ws__portfolio portfolio;
  const ws_rules *rules;
  const ws_time_models *models; /* of all first sizes, for the table */
  ws__table table;
  const ws_band *bands;
  const ws_time_models *const *by_band;
  const ws__shortlist *shortlists; /* by band; count 0 where it is the tree */
  int band_count;
};

/* Evaluates an expression over dimensions; one that fails is 0. */
int64_t ws__shape_value(const ws_expr *expr, const ws_shape *shape);

/* From so many rows on the cover's threshold is a sum over them, and from so many
 * timed shapes on these speak for those between. */
enum { WS__MANY_SHAPES = 64 };

/* Adds shapes around the few that were timed, with modelled times, and what each
 * row weighs in the cover; many stay as they are, weights NULL. In the arena. */
ws_status ws__with_shapes_around(ws_arena *arena,
                                 const ws_selection_input *input,
                                 ws_matrix *covered, const double **out_weights,
                                 ws_diag *diag);
/* ws_portfolio_pick of rows that weigh differently (NULL: alike). */
ws_status ws__portfolio_pick_weighted(const ws_matrix *matrix,
                                      const double *weights, int max_count,
                                      int *out_columns, int *out_count,
                                      ws_diag *diag);

/* Whether a constraint over the shape is left once the candidate's parameters
 * are known. */
bool ws__is_constrained(const ws_candidate *candidate);
/* Which of the legal shapes a candidate accepts. Every one: none of its
 * constraints is left depending on the shape once its parameters are known, or
 * none refuses a shape where it could be expected to, which is no proof. Most:
 * it refuses some at the end of what is legal. */
typedef enum ws__domain {
  WS__SOME_SHAPES,
  WS__MOST_SHAPES,
  WS__EVERY_SHAPE
} ws__domain;
ws__domain ws__domain_of(const ws_candidate *candidate,
                         const ws_problem *problem);
/* Whether one of them accepts every legal shape, or one most and others what it
 * refuses. out_refused: by all of them; dims NULL: none accepts most. */
bool ws__take_every_shape(const ws_candidate *const *candidates, int count,
                          const ws_problem *problem, ws_shape *out_refused);
/* Which of the columns (NULL: of all) are for shapes that no other takes: those
 * that accept every legal shape, if there are none most, and all of the matrix.
 */
void ws__find_universal(const ws_problem *problem,
                        const ws_dispatch_entry *entries,
                        const ws_matrix *matrix, const int *columns, int count,
                        bool *out_universal);
/* ws_rules_fit over a portfolio's columns, of which it is known which are
 * universal: its folds ask for them again and again. */
ws_status ws__rules_fit(ws_arena *arena, const ws__portfolio *portfolio,
                        const ws_matrix *matrix, const ws_rules **out_rules,
                        ws_diag *diag) WS_MUST_CHECK;

/* What a shape costs, of the best time there, where a kernel that does not take
 * it, or of which nothing is known there, would be asked. Never infinite: sums
 * of losses are compared, and of two infinite ones none is less. */
enum { WS__NOT_TAKEN = 16 };
/* us / best_us, at least 1; WS__NOT_TAKEN where there is no such time. */
double ws__regret_of(double us, double best_us);

/* ---- emission
 * ---------------------------------------------------------------- */
typedef struct ws__emission {
  ws_arena *arena;
  const ws_problem *problem;
  const char *name, *layout, *target, *provenance;
  const ws_selection *selection;
  const ws_dispatch_entry *const *portfolio; /* by position */
  int count;                                 /* of kernels */
  ws_hash content; /* of all that was put in: ids, code, rules */
  ws_regret train;
} ws__emission;

void ws__emit_header(const ws__emission *emission, ws_strbuf *out);
ws_status ws__emit_source(const ws__emission *emission, ws_strbuf *out,
                          ws_diag *diag);
void ws__emit_json(const ws__emission *emission, ws_strbuf *out);
/* The shapes with times, none of them an estimate, as the table `tuned_shapes`
 * of the emitted C; returns how many, and writes no table for none. */
int ws__emit_tuned(const ws_matrix *matrix, ws_strbuf *out);
/* The parts of NAME.c that choose: NAME_select, NAME_explain. */
void ws__emit_select(const ws__emission *emission, ws_strbuf *out);
void ws__emit_explain(const ws__emission *emission, ws_strbuf *out);
/* Gives the sizes their names; what is not used draws no warning. */
void ws__put_sizes(const ws__emission *emission, ws_strbuf *out);
/* The dimensions, each in a form, with commas: "long long m, long long n". */
const char *ws__list_sizes(const ws__emission *emission, const char *form);
const char *ws__size_parameters(const ws__emission *emission);
/* "m=%lld n=%lld", a format of the emitted code. */
const char *ws__size_format(const ws__emission *emission);
void ws__emit_truth(const ws__emission *emission, const char *name,
                    const char *parameters, const ws_expr *expr,
                    ws_strbuf *out);
/* WS_USAGE unless NAME may be a global name of a program in C or C++. */
ws_status ws__check_public_name(const char *name, ws_diag *diag);
/* WS_USAGE when text, C of the emitter, uses NAME, NAME_select or NAME_explain
 * for something else. */
ws_status ws__check_unused_name(const char *name, const ws_strbuf *text,
                                ws_diag *diag);
/* The value. What is emitted is asserted to be a number: C and JSON have no
 * other. */
double ws__finite(double value);
/* A literal of C, cut near 4000 characters. */
void ws__put_literal(ws_strbuf *out, const char *text);
/* The inside of a comment. */
void ws__put_comment(ws_strbuf *out, const char *text);
/* The comment at the top of the emitted files. */
void ws__emit_banner(const ws__emission *emission, ws_strbuf *out);
/* Bytes of a candidate's code object in a file: PTX without the NUL that ends
 * it in memory. */
size_t ws__code_object_text_size(const ws__emission *emission, int position);
/* Its name: NAME-<id>.co, .cubin or .ptx. */
const char *ws__code_object_name(const ws__emission *emission, int position);

#endif
