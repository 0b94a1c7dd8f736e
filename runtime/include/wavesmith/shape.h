/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Shapes: the sizes of a problem's named dimensions. A shape carries their
 * names, so that whoever prints, stores or evaluates one needs no problem.
 *
 * Threads: everything is thread-safe; names live as long as the process.
 */
#ifndef WAVESMITH_SHAPE_H
#define WAVESMITH_SHAPE_H

#include "wavesmith/expr.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WS_MAX_DIMS = 8, WS_SHAPE_TEXT = 400 /* bytes that hold any as text */ };

/* Names of dimensions in the order of their declaration. */
typedef struct ws_dims {
  int count;
  const char *names[WS_MAX_DIMS];
} ws_dims;

/* The one object for these names: equal names, equal pointer. */
const ws_dims *ws_dims_of(const char *const *names, int count);
int ws_dims_index(const ws_dims *dims, const char *name); /* -1: none */
/* "m,n,k"; as long as the process. */
const char *ws_dims_text(const ws_dims *dims);

typedef struct ws_shape {
  const ws_dims *dims; /* NULL: no shape */
  int64_t size[WS_MAX_DIMS];
} ws_shape;

ws_shape ws_shape_of(const ws_dims *dims, const int64_t *sizes);
bool ws_shape_same(const ws_shape *a, const ws_shape *b);
/* By sizes, the first dimension first: as memcmp. */
int ws_shape_compare(const ws_shape *a, const ws_shape *b);
/* Whether all sizes but the first are the same: one layer at two batch sizes. */
bool ws_shape_same_group(const ws_shape *a, const ws_shape *b);
/* Numbers the groups in the order in which they come, by shape. Returns how
 * many there are. */
int ws_shape_number_groups(const ws_shape *shapes, int count, int *out_group);
double ws_shape_product(const ws_shape *shape); /* of all sizes */

/* "1024,1536,7168"; named: "m=1024,n=1536,k=7168". In the arena, or into room
 * for WS_SHAPE_TEXT bytes, which is returned. */
const char *ws_shape_text(ws_arena *arena, const ws_shape *shape);
const char *ws_shape_named(ws_arena *arena, const ws_shape *shape);
const char *ws_shape_print(const ws_shape *shape, char *out);
const char *ws_shape_print_named(const ws_shape *shape, char *out);
/* Either form, up to the end or a ';', behind which *text is moved: by position
 * all sizes, by name all in any order. Sizes are from 1 to 2^53. WS_INPUT with
 * a sentence that shows the dimensions; *text stays. */
ws_status ws_shape_parse(const ws_dims *dims, const char **text, ws_shape *out,
                         ws_diag *diag) WS_MUST_CHECK;
/* The named form without knowing the names beforehand: what this program wrote.
 * false: it is none. */
bool ws_shape_read(const char *text, ws_shape *out);

/* Sizes by name, for expressions; room for WS_MAX_DIMS. Returns their number.
 */
int ws_shape_bindings(const ws_shape *shape, ws_binding *out);

/* The greatest that divides both sizes; with a size of 0 the other one. */
int64_t ws_common_divisor(int64_t a, int64_t b);

#ifdef __cplusplus
}
#endif
#endif
