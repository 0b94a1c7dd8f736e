/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What opening a problem leaves for its functions: parsed expressions and which
 * outputs are looked at together.
 */
#ifndef WAVESMITH_PROBLEM_PARTS_H
#define WAVESMITH_PROBLEM_PARTS_H

#include "wavesmith/problem.h"

_Static_assert((int)WS_PROBLEM_MAX_DIMS == (int)WS_MAX_DIMS,
               "the definition and shapes have as many dimensions");

typedef struct ws__argument {
  const ws_expr *extents[WS_PROBLEM_MAX_EXTENTS];
  int extent_count;
  const ws_expr *value, *low, *high; /* NULL: none */
  unsigned inout; /* bit of each layout in which an output is read, too */
} ws__argument;

struct ws__problem_parts {
  ws_arena *arena;                /* of all this, as long as the process */
  struct ws__problem_parts *next; /* opened before this */
  ws__argument args[WS_PROBLEM_MAX_ARGS];
  const ws_expr *terms, *flops, *bytes; /* the latter two: NULL: default */
  bool shares_extent;                   /* of all outputs, the first */
  double arithmetic;
};

/* Sizes and `layout`, for expressions of arguments. */
typedef struct ws__sizes {
  ws_binding bindings[WS_MAX_DIMS + 1];
  ws_scope scope;
} ws__sizes;
void ws__sizes_of(const ws_problem *problem, const ws_shape *shape, int form,
                  ws__sizes *out);
/* A value of at least 0; -1: it cannot be evaluated, or is less. */
int64_t ws__size_value(const ws_expr *expr, const ws__sizes *sizes);
/* Elements of a pointer argument; -1: too many. */
int64_t ws__arg_elements(const ws_problem *problem, int arg,
                         const ws_shape *shape, int form);

/* In place of what arithmetic may be off by: want is an infinity or NaN that a
 * kernel computed, got must be that or, of an infinity, the type's largest. */
#define WS__SAME (-1.0)

/* Of the elements of a slice, 1 or -1; owned by the caller. */
double *ws__problem_signs(int64_t count, uint64_t seed);

/* ---- element types (types.c) ---- */
bool ws__type_is_float(ws_type type);
double ws__type_largest(ws_type type); /* as ws_load gives it */
double ws__type_lowest(ws_type type);  /* of an unsigned integer 0 */
double ws__type_least_normal(ws_type type); /* of a float */
/* The nearest value of the type, ties to even, at most its largest. */
void ws__type_store(ws_type type, double value, void *contents, int64_t index);
/* What rounding alone may cost something as large as `want`: at most this. */
double ws__type_rounding(ws_type type, double want);
/* Of a float: half of the step between its values at that magnitude. */
double ws__type_half_unit(ws_type type, double magnitude);

#endif
