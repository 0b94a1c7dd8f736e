/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The shapes of a large set as points, so that what is known on one tells of
 * others. Of a set that has more than WS__ALL_SHAPES a candidate is timed on a
 * sample (sample.h); of smaller ones on all, and nothing of this is used.
 */
#ifndef WAVESMITH_SEARCH_GROUND_H
#define WAVESMITH_SEARCH_GROUND_H

#include "wavesmith/shape.h"

enum { WS__ALL_SHAPES = 32 };

typedef struct ws__ground {
  const ws_shape *shapes;
  int count, dims;
  double *at;       /* [shape][dimension]: log2 of the size */
  double *limit_us; /* by shape: the roofline's time, positive */
} ws__ground;

/* Copies what it is given but the shapes. limit_us: by shape. */
ws__ground *ws__ground_create(ws_arena *arena, const ws_shape *shapes,
                              int count, const double *limit_us);
/* exp(-doublings between the sizes / 2): 1 for a shape and itself. */
double ws__ground_nearness(const ws__ground *ground, int a, int b);
/* At most `most` shapes, the nearest first, `shape` itself at the head. Returns
 * how many. */
int ws__ground_nearest(const ws__ground *ground, int shape, int most, int *out);
/* The i-th of count shapes in an order that jumps about the set: its first few
 * are a sample of it, however it is listed. */
static inline int ws__scattered(int i, int count) {
  const int64_t prime = 1000003; /* no set is so large, so each comes once */
  return (int)(i * prime % count);
}
/* Which band a first size lies in: 0: 1-16, then each four times as wide. */
int ws__ground_band(const ws_shape *shape);

#endif
