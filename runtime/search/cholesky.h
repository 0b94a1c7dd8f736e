/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The Cholesky factor of a matrix of covariances, which grows row by row.
 */
#ifndef WAVESMITH_SEARCH_CHOLESKY_H
#define WAVESMITH_SEARCH_CHOLESKY_H

#include "wavesmith/base.h"

typedef struct ws__cholesky {
  double **columns; /* lower triangle: [k][i], i >= k */
} ws__cholesky;

/* Room for so many rows, in the arena. */
ws__cholesky ws__cholesky_create(ws_arena *arena, int most);
/* x becomes factor^-1 x, of the first `count` rows. */
void ws__cholesky_solve(const ws__cholesky *factor, double *x, int count);
/* Row i. covariances: with the points of the rows before, overwritten;
 * variance: the point's own, noise included. */
void ws__cholesky_set_row(ws__cholesky *factor, int i, double *covariances,
                          double variance);

#endif
