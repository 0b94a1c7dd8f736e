/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Medians and what is known of them.
 */
#ifndef WAVESMITH_EVAL_STATISTICS_H
#define WAVESMITH_EVAL_STATISTICS_H

#include "wavesmith/base.h"

typedef struct ws__interval {
  double median, low, high; /* 95 % */
} ws__interval;

/* Of count >= 1 values, which are left as they are. */
double ws__median(ws_arena *arena, const double *values, int count);
/* Median and its bootstrap interval: 1000 resamples, drawn by a generator of
 * fixed seed, so that the same samples give the same interval. */
ws__interval ws__median_interval(ws_arena *arena, const double *values,
                                 int count);
/* Blocks in which two were measured in the order X Y Y X: the ratio of the
 * sums of each. A drift that is linear within the block adds the same to both.
 */
double ws__block_ratio(const double candidate[2], const double rival[2]);

#endif
