/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Distances of shapes are counted in doublings, because that is how sizes are
 * chosen and how tiles and waves of workgroups follow from them.
 */
#include "ground.h"

#include <math.h>
#include <stdlib.h>

/* Of a doubling: two shapes four times apart in one size share a third. */
static const double reach = 0.5;
/* A problem without work and bytes has no roofline. */
static const double least_us = 1e-3;

ws__ground *ws__ground_create(ws_arena *arena, const ws_shape *shapes,
                              int count, const double *limit_us) {
  ws__ground *ground = ws_arena_alloc(arena, sizeof *ground);
  const int dims = shapes[0].dims->count;
  *ground = (ws__ground){
      .shapes = shapes,
      .count = count,
      .dims = dims,
      .at = ws_arena_alloc(arena, sizeof(double) * (size_t)(count * dims)),
      .limit_us = ws_arena_alloc(arena, sizeof(double) * (size_t)count)};
  for (int s = 0; s < count; s++) {
    ground->limit_us[s] = fmax(limit_us[s], least_us);
    for (int d = 0; d < dims; d++)
      ground->at[s * dims + d] = log2((double)shapes[s].size[d]);
  }
  return ground;
}

double ws__ground_nearness(const ws__ground *ground, int a, int b) {
  double doublings = 0;
  for (int d = 0; d < ground->dims; d++)
    doublings += fabs(ground->at[a * ground->dims + d] -
                      ground->at[b * ground->dims + d]);
  return exp(-reach * doublings);
}

typedef struct neighbour {
  double nearness;
  int shape;
} neighbour;

static int compare(const void *a, const void *b) {
  const neighbour *x = a, *y = b;
  if (x->nearness != y->nearness)
    return x->nearness > y->nearness ? -1 : 1;
  return x->shape - y->shape;
}

int ws__ground_nearest(const ws__ground *ground, int shape, int most,
                       int *out) {
  const int count = most < ground->count ? most : ground->count;
  neighbour *all = malloc(sizeof *all * (size_t)ground->count);
  WS_ASSERT(all);
  for (int s = 0; s < ground->count; s++)
    /* itself first, before another that may be as near */
    all[s] =
        (neighbour){s == shape ? 2 : ws__ground_nearness(ground, shape, s), s};
  qsort(all, (size_t)ground->count, sizeof *all, compare);
  for (int i = 0; i < count; i++)
    out[i] = all[i].shape;
  free(all);
  return count;
}

int ws__ground_band(const ws_shape *shape) {
  int band = 0;
  for (int64_t most = 16; shape->size[0] > most && most <= INT64_MAX / 4;
       most *= 4)
    band++;
  return band;
}
