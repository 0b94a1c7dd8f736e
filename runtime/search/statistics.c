/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See statistics.h.
 */
#include "statistics.h"

#include <math.h>

/* Equal values share the mean of their ranks. */
static double rank_of(const double *values, int count, int index) {
  int below = 0, equal = 0;
  for (int i = 0; i < count; i++) {
    below += values[i] < values[index];
    equal += values[i] == values[index];
  }
  return below + (equal - 1) / 2.0;
}

double ws__spearman(const double *a, const double *b, int count) {
  double mean = (count - 1) / 2.0, xy = 0, xx = 0, yy = 0;
  for (int i = 0; i < count; i++) {
    double x = rank_of(a, count, i) - mean;
    double y = rank_of(b, count, i) - mean;
    xy += x * y;
    xx += x * x;
    yy += y * y;
  }
  return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}
