/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The factor, by columns: in a solution a column's products are taken off all
 * that follow at once: no sum waits for the one before it, and each is taken in
 * the order of the columns whatever the width of the machine's vectors.
 */
#include "cholesky.h"

#include <math.h>

ws__cholesky ws__cholesky_create(ws_arena *arena, int most) {
  size_t size = (size_t)most;
  ws__cholesky factor = {
      .columns = ws_arena_alloc(arena, sizeof *factor.columns * size)};
  for (size_t i = 0; i < size; i++)
    factor.columns[i] = ws_arena_alloc(arena, sizeof **factor.columns * size);
  return factor;
}

void ws__cholesky_solve(const ws__cholesky *factor, double *restrict x,
                        int count) {
  for (int k = 0; k < count; k++) {
    const double *restrict column = factor->columns[k];
    x[k] /= column[k];
    for (int i = k + 1; i < count; i++)
      x[i] -= column[i] * x[k];
  }
}

/* Row i of the factor is what solves row i of the covariances. */
void ws__cholesky_set_row(ws__cholesky *factor, int i, double *covariances,
                          double variance) {
  double left = variance;
  ws__cholesky_solve(factor, covariances, i);
  for (int k = 0; k < i; k++) {
    factor->columns[k][i] = covariances[k];
    left -= covariances[k] * covariances[k];
  }
  factor->columns[i][i] = sqrt(left);
}
