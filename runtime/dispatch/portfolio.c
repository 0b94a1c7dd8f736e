/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which candidates to ship: greedy cover of a timing matrix. The first pick is
 * the column that loses least on its own and runs every shape; each further
 * pick is the column that lowers the remaining loss most. The loss of a set of
 * columns is the sum over shapes of log(best of the set / best of all), so its
 * mean is the logarithm of the geometric mean regret.
 *
 * Simulated times whose order is a coin's (sim_error.h) lose nothing: a column
 * that is as good as the best on every shape stands before one that is the best
 * on most and beyond that on one. Of columns that lose alike the one with the
 * smallest worst shape is taken. Times of a card are exact here.
 */
#include "dispatch_internal.h"
#include "wavesmith/sim_error.h"

#include <math.h>
#include <stdlib.h>

/* A further kernel must lower the geometric mean regret by 0.1 %, or on 64
 * shapes and more take 3 % off one of them, or as much off several: below that
 * it costs code size for nothing a clock could see. */
static const double least_gain = 1e-3, least_sum_of_many = 0.03;

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

double ws__matrix_coin_us(const ws_matrix *matrix, int shape) {
  return ws__matrix_best_us(matrix, shape) *
         (1 + ws_sim_error_coin(matrix->provenance));
}

double ws__regret_of(double us, double best_us) {
  const double ratio = us / best_us; /* or NaN */
  return isfinite(ratio) && best_us > 0 ? fmax(1, ratio) : WS__NOT_TAKEN;
}

/* What is picked so far, by shape: the best time of the set, and the time up to
 * which one counts as the best of all. */
typedef struct cover {
  const ws_matrix *matrix;
  const double *weights; /* NULL: all alike */
  double all_weights;    /* their sum */
  double *chosen_us, *coin_us;
} cover;

/* What column would make of the set. */
typedef struct joined {
  double loss;  /* mean of log us, INFINITY when a shape is left without one */
  double worst; /* largest of us / that time */
} joined;

static double weight_of(const cover *set, int shape) {
  return set->weights ? set->weights[shape] : 1;
}

static joined join(const cover *set, int column) {
  joined with = {0, 0};
  for (int s = 0; s < set->matrix->shape_count; s++) {
    const double us =
        fmin(set->chosen_us[s], ws__matrix_us(set->matrix, s, column));
    with.loss += weight_of(set, s) * log(fmax(us, set->coin_us[s]));
    with.worst = fmax(with.worst, us / set->coin_us[s]);
  }
  with.loss /= set->all_weights;
  return with;
}

/* Sums of the same numbers in the same order, so equal losses are equal bits.
 */
static bool is_better(const cover *set, const joined *a, const joined *b) {
  if (a->loss != b->loss)
    return a->loss < b->loss;
  return ws_sim_error_coin(set->matrix->provenance) > 0 && a->worst < b->worst;
}

/* The column that gives the least loss, the first of equals; -1: none is
 * feasible. */
static int best_column(const cover *set, double *out_loss) {
  int best = -1;
  joined least = {INFINITY, INFINITY};
  for (int c = 0; c < set->matrix->candidate_count; c++) {
    const joined with = join(set, c);
    if (is_better(set, &with, &least)) {
      least = with;
      best = c;
    }
  }
  *out_loss = least.loss;
  return best;
}

static cover open_cover(const ws_matrix *matrix, const double *weights) {
  const size_t count = (size_t)matrix->shape_count;
  cover set = {.matrix = matrix,
               .weights = weights,
               .chosen_us = malloc(count * sizeof *set.chosen_us),
               .coin_us = malloc(count * sizeof *set.coin_us)};
  WS_ASSERT(set.chosen_us != NULL && set.coin_us != NULL);
  for (int s = 0; s < matrix->shape_count; s++) {
    set.chosen_us[s] = INFINITY;
    set.coin_us[s] = ws__matrix_coin_us(matrix, s);
    set.all_weights += weight_of(&set, s);
  }
  return set;
}

ws_status ws_portfolio_pick(const ws_matrix *matrix, int max_count,
                            int *out_columns, int *out_count, ws_diag *diag) {
  return ws__portfolio_pick_weighted(matrix, NULL, max_count, out_columns,
                                     out_count, diag);
}

ws_status ws__portfolio_pick_weighted(const ws_matrix *matrix,
                                      const double *weights, int max_count,
                                      int *out_columns, int *out_count,
                                      ws_diag *diag) {
  *out_count = 0;
  if (matrix->shape_count < 1 || max_count < 1)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "a portfolio needs at least one shape and room for one "
                   "kernel (got %d shapes, %d kernels)",
                   matrix->shape_count, max_count);
  cover set = open_cover(matrix, weights);
  const double wanted =
      matrix->shape_count >= WS__MANY_SHAPES
          ? least_sum_of_many / matrix->shape_count
          : least_gain;
  double loss_before = INFINITY;
  while (*out_count < max_count) {
    double loss;
    int column = best_column(&set, &loss);
    if (column < 0 || !(loss < loss_before - wanted))
      break;
    out_columns[(*out_count)++] = column;
    loss_before = loss;
    for (int s = 0; s < matrix->shape_count; s++)
      set.chosen_us[s] =
          fmin(set.chosen_us[s], ws__matrix_us(matrix, s, column));
  }
  free(set.coin_us);
  free(set.chosen_us);
  if (*out_count == 0)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "no candidate runs all %d shapes, so none can be the "
                   "fallback; tune a template without constraints on the shape",
                   matrix->shape_count);
  return WS_OK;
}
