/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the files of runtime/dispatch share: the matrix's accessors, the tree's
 * representation, and what emission reads of it.
 */
#ifndef WAVESMITH_DISPATCH_INTERNAL_H
#define WAVESMITH_DISPATCH_INTERNAL_H

#include "wavesmith/dispatch.h"

/* Times of silicon, not of a simulator or a model. */
bool ws__is_of_a_card(const char *provenance);

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

typedef struct ws__node {
  int feature;       /* < 0: a leaf */
  int64_t threshold; /* value <= threshold goes to low */
  int low, high;     /* nodes */
  int leaf;
} ws__node;

typedef struct ws__leaf {
  const int *chain; /* positions in columns; the last accepts every shape */
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

/* Evaluates an expression over dimensions; one that fails is 0. */
int64_t ws__shape_value(const ws_expr *expr, const ws_shape *shape);

/* Whether a candidate accepts every legal shape: none of its constraints is
 * left depending on the shape once its parameters are known, or none refuses
 * a shape of a dense sample. */
bool ws__accepts_every_shape(const ws_candidate *candidate,
                             const ws_problem *problem);

/* ---- emission
 * ---------------------------------------------------------------- */
typedef struct ws__emission {
  ws_arena *arena;
  const ws_problem *problem;
  const char *name, *layout, *target, *provenance;
  const ws_rules *rules;
  const ws_matrix *matrix;                   /* that they were fitted on */
  const ws_dispatch_entry *const *portfolio; /* by position */
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
/* WS_USAGE unless NAME may be a global name of a program in C or C++. */
ws_status ws__check_public_name(const char *name, ws_diag *diag);
/* WS_USAGE when text, C of the emitter, uses NAME, NAME_select or NAME_explain
 * for something else. */
ws_status ws__check_unused_name(const char *name, const ws_strbuf *text,
                                ws_diag *diag);
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
