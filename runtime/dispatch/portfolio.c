/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which candidates to ship: greedy cover of a timing matrix. The first pick is
 * the column that loses least on its own and runs every shape; each further
 * pick is the column that lowers the remaining loss most. The loss of a set of
 * columns is the sum over shapes of log(best of the set / best of all), so its
 * mean is the logarithm of the geometric mean regret.
 */
#include "dispatch_internal.h"

#include <math.h>
#include <stdlib.h>

/* A further kernel must lower the geometric mean regret by 0.1 %: below that
 * it costs code size and instruction cache for nothing a clock could see. */
static const double least_gain = 1e-3;

double ws__matrix_us(const ws_matrix *matrix, int shape, int column) {
  return matrix
      ->us[(size_t)shape * (size_t)matrix->candidate_count + (size_t)column];
}

double ws__matrix_best_us(const ws_matrix *matrix, int shape) {
  double best = INFINITY;
  for (int c = 0; c < matrix->candidate_count; c++)
    best = fmin(best, ws__matrix_us(matrix, shape, c));
  return best;
}

/* Mean over shapes of the log of the best time when column joins the set whose
 * best times are in chosen_us. INFINITY when a shape is left without one. */
static double mean_log_us(const ws_matrix *matrix, const double *chosen_us,
                          int column) {
  double sum = 0;
  for (int s = 0; s < matrix->shape_count; s++)
    sum += log(fmin(chosen_us[s], ws__matrix_us(matrix, s, column)));
  return sum / matrix->shape_count;
}

/* The column that gives the least loss, the first of equals; -1: none is
 * feasible. */
static int best_column(const ws_matrix *matrix, const double *chosen_us,
                       double *out_loss) {
  int best = -1;
  *out_loss = INFINITY;
  for (int c = 0; c < matrix->candidate_count; c++) {
    double loss = mean_log_us(matrix, chosen_us, c);
    if (loss < *out_loss) {
      *out_loss = loss;
      best = c;
    }
  }
  return best;
}

ws_status ws_portfolio_pick(const ws_matrix *matrix, int max_count,
                            int *out_columns, int *out_count, ws_diag *diag) {
  *out_count = 0;
  if (matrix->shape_count < 1 || max_count < 1)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "a portfolio needs at least one shape and room for one "
                   "kernel (got %d shapes, %d kernels)",
                   matrix->shape_count, max_count);
  double *chosen_us = malloc((size_t)matrix->shape_count * sizeof *chosen_us);
  WS_ASSERT(chosen_us != NULL);
  for (int s = 0; s < matrix->shape_count; s++)
    chosen_us[s] = INFINITY;

  double loss_before = INFINITY;
  while (*out_count < max_count) {
    double loss;
    int column = best_column(matrix, chosen_us, &loss);
    if (column < 0 || !(loss < loss_before - least_gain))
      break;
    out_columns[(*out_count)++] = column;
    loss_before = loss;
    for (int s = 0; s < matrix->shape_count; s++)
      chosen_us[s] = fmin(chosen_us[s], ws__matrix_us(matrix, s, column));
  }
  free(chosen_us);
  if (*out_count == 0)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "no candidate runs all %d shapes, so none can be the "
                   "fallback; tune a template without constraints on the shape",
                   matrix->shape_count);
  return WS_OK;
}
