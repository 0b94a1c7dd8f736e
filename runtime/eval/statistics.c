/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Medians and bootstrap intervals. A resample of sorted values needs no sorting
 * of its own: counting how often each was drawn finds its middle, so that an
 * interval of 400 samples takes about a millisecond and can be looked at while
 * sampling goes on.
 */
#include "statistics.h"

#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 1000 };

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double *sorted_copy(ws_arena *arena, const double *values, int count) {
  size_t bytes = sizeof *values * (size_t)count;
  double *copy = ws_arena_alloc(arena, bytes);
  memcpy(copy, values, bytes);
  qsort(copy, (size_t)count, sizeof *copy, compare_doubles);
  return copy;
}

static double middle_of(const double *sorted, int count) {
  return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

double ws__median(ws_arena *arena, const double *values, int count) {
  return middle_of(sorted_copy(arena, values, count), count);
}

/* The value at a place of the resample, which drawn[] describes. */
static double value_at(const double *sorted, const int *drawn, int place) {
  int index = 0, seen = drawn[0];
  while (seen <= place)
    seen += drawn[++index];
  return sorted[index];
}

static double resampled_median(ws_rng *rng, const double *sorted, int count,
                               int *drawn) {
  memset(drawn, 0, sizeof *drawn * (size_t)count);
  for (int i = 0; i < count; i++)
    drawn[ws_rng_below(rng, (uint64_t)count)]++;
  return (value_at(sorted, drawn, (count - 1) / 2) +
          value_at(sorted, drawn, count / 2)) /
         2;
}

ws__interval ws__median_interval(ws_arena *arena, const double *values,
                                 int count) {
  double medians[RESAMPLES];
  const double *sorted = sorted_copy(arena, values, count);
  int *drawn = ws_arena_alloc(arena, sizeof *drawn * (size_t)count);
  ws_rng rng;
  ws_rng_init(&rng, 1);
  for (int r = 0; r < RESAMPLES; r++)
    medians[r] = resampled_median(&rng, sorted, count, drawn);
  qsort(medians, RESAMPLES, sizeof *medians, compare_doubles);
  return (ws__interval){.median = middle_of(sorted, count),
                        .low = medians[RESAMPLES / 40],
                        .high = medians[RESAMPLES - 1 - RESAMPLES / 40]};
}

double ws__block_ratio(const double candidate[2], const double rival[2]) {
  return (candidate[0] + candidate[1]) / (rival[0] + rival[1]);
}
