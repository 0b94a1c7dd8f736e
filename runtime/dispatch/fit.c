/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Constants of terms whose values are known: least squares of the relative
 * error with constants >= 0 and few of them above. Equations are a Gram matrix
 * and a right side over rows divided by their times, so that those of kernels,
 * or of groups of shapes, add up. Solved by an active set (Lawson and Hanson,
 * Solving Least Squares Problems, 1974, chapter 23).
 */
#include "dispatch_internal.h"

#include <math.h>
#include <string.h>

enum { MOST = WS_TIME_TERMS_MOST };

/* An own factor is believed as if so many timings more had none. */
enum { FACTOR_PRIOR = 2 };

const double ws__least_error = 0.02;

/* Few terms: the emitted selection evaluates them for every kernel. */
enum { MOST_KEPT = 7 };

bool ws__is_time(double us) { return isfinite(us) && us > 0; }

/* ---- equations ---- */

void ws__find_scales(ws__observations *of) {
  for (int t = 0; t < of->terms; t++) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < of->kernels * of->rows; i++)
      if (ws__is_time(of->us[i])) {
        sum += of->values[t][i] / of->us[i];
        count++;
      }
    of->scale[t] = sum > 0 ? count / sum : 1;
  }
}

void ws__add_row(const ws__observations *of, int kernel, int row,
                 double weight, ws__equations *to) {
  const size_t at = (size_t)kernel * (size_t)of->rows + (size_t)row;
  double values[MOST];
  if (!(weight > 0) || !ws__is_time(of->us[at]))
    return;
  for (int t = 0; t < of->terms; t++)
    values[t] = of->values[t][at] * of->scale[t] / of->us[at];
  for (int i = 0; i < of->terms; i++) {
    to->right[i] += weight * values[i];
    for (int j = 0; j <= i; j++)
      to->gram[i][j] += weight * values[i] * values[j];
  }
  to->rows++;
}

void ws__add_equations(const ws__equations *from, double weight, int terms,
                       ws__equations *to) {
  for (int i = 0; i < terms; i++) {
    to->right[i] += weight * from->right[i];
    for (int j = 0; j <= i; j++)
      to->gram[i][j] += weight * from->gram[i][j];
  }
  to->rows += from->rows;
}

static double gram(const ws__equations *of, int i, int j) {
  return i < j ? of->gram[j][i] : of->gram[i][j];
}

/* ---- constants of the terms in use ---- */

/* Terms that are sums of others leave the Gram matrix singular. */
static const double ridge = 1e-6;

/* z of the listed terms, by Cholesky. */
static void solve_free(const ws__equations *in, const int *list, int count,
                       double *z) {
  double lower[MOST][MOST];
  for (int i = 0; i < count; i++)
    for (int j = 0; j <= i; j++) {
      double sum = gram(in, list[i], list[j]) * (i == j ? 1 + ridge : 1);
      for (int k = 0; k < j; k++)
        sum -= lower[i][k] * lower[j][k];
      lower[i][j] = i == j ? sqrt(fmax(sum, 1e-300)) : sum / lower[j][j];
    }
  for (int i = 0; i < count; i++) {
    z[i] = in->right[list[i]];
    for (int k = 0; k < i; k++)
      z[i] -= lower[i][k] * z[k];
    z[i] /= lower[i][i];
  }
  for (int i = count - 1; i >= 0; i--) {
    for (int k = i + 1; k < count; k++)
      z[i] -= lower[k][i] * z[k];
    z[i] /= lower[i][i];
  }
}

/* Moves x towards the free solution until one of them would fall below 0, which
 * then leaves; again until none does. */
static void settle(const ws__equations *in, int terms, bool *above, double *x) {
  for (;;) {
    int list[MOST] = {0}, count = 0;
    double z[MOST], step = 1;
    for (int i = 0; i < terms; i++)
      if (above[i])
        list[count++] = i;
    solve_free(in, list, count, z);
    for (int i = 0; i < count; i++)
      if (!(z[i] > 0))
        step = fmin(step, x[list[i]] / (x[list[i]] - z[i]));
    for (int i = 0; i < count; i++) {
      const int t = list[i];
      x[t] += step * (z[i] - x[t]);
      if (step < 1 && !(x[t] > 1e-14)) {
        x[t] = 0;
        above[t] = false;
      }
    }
    if (step >= 1)
      return;
  }
}

/* The term whose constant should rise most; -1: none. */
static int steepest(const ws__equations *in, int terms, const bool *used,
                    const bool *above, const double *x) {
  int best = -1;
  double most = 1e-9;
  for (int i = 0; i < terms; i++) {
    double slope = in->right[i];
    if (!used[i] || above[i] || !(in->gram[i][i] > 0))
      continue;
    for (int j = 0; j < terms; j++)
      slope -= gram(in, i, j) * x[j];
    slope /= sqrt(in->gram[i][i] * fmax(in->rows, 1));
    if (slope > most) {
      most = slope;
      best = i;
    }
  }
  return best;
}

/* x: where to begin, each of a term in use, or 0. Returns the sum of squares
 * without the part that no constants change. */
static double solve(const ws__equations *in, int terms, const bool *used,
                    double *x) {
  bool above[MOST];
  double loss = 0;
  for (int i = 0; i < terms; i++)
    above[i] = x[i] > 0;
  settle(in, terms, above, x);
  for (int turn = 0; turn < 3 * terms; turn++) { /* rounding could circle */
    const int rising = steepest(in, terms, used, above, x);
    if (rising < 0)
      break;
    above[rising] = true;
    x[rising] = 1e-12;
    settle(in, terms, above, x);
  }
  for (int i = 0; i < terms; i++) {
    loss -= 2 * in->right[i] * x[i];
    for (int j = 0; j < terms; j++)
      loss += x[i] * gram(in, i, j) * x[j];
  }
  return loss;
}

void ws__solve_constants(const ws__equations *in, int terms, double *x) {
  bool used[MOST] = {false};
  int kept = 0;
  for (int i = 0; i < terms; i++) {
    used[i] = true;
    x[i] = 0;
  }
  solve(in, terms, used, x);
  for (int i = 0; i < terms; i++)
    kept += used[i] = x[i] > 0;
  while (kept > MOST_KEPT) {
    double least = INFINITY, without[MOST], best[MOST];
    int drop = -1;
    for (int i = 0; i < terms; i++) {
      if (!used[i])
        continue;
      memcpy(without, x, sizeof without);
      without[i] = 0;
      used[i] = false;
      const double loss = solve(in, terms, used, without);
      used[i] = true;
      if (drop < 0 || loss < least) {
        least = loss;
        drop = i;
        memcpy(best, without, sizeof best);
      }
    }
    used[drop] = false;
    kept--;
    memcpy(x, best, sizeof *x * (size_t)terms);
  }
}

/* ---- one kernel ---- */

double ws__sum_terms(const ws__observations *of, int kernel, int row,
                     const double *constants) {
  const size_t at = (size_t)kernel * (size_t)of->rows + (size_t)row;
  double us = 0;
  for (int t = 0; t < of->terms; t++)
    if (constants[t] > 0)
      us += constants[t] * of->values[t][at];
  return us;
}

int ws__fit_factor(const ws__observations *of, int kernel,
                   const double *weights, double *constants,
                   double *out_error) {
  double sum = 0, squares = 0, weight = 0;
  int rows = 0;
  for (int s = 0; s < of->rows; s++) {
    const double us = of->us[(size_t)kernel * (size_t)of->rows + (size_t)s],
                 said = ws__sum_terms(of, kernel, s, constants);
    if (!(weights[s] > 0) || !ws__is_time(us) || !(said > 0))
      continue;
    const double ln = log(us / said);
    sum += weights[s] * ln;
    squares += weights[s] * ln * ln;
    weight += weights[s];
    rows++;
  }
  const double ln_factor = sum / (weight + FACTOR_PRIOR);
  for (int t = 0; t < of->terms; t++)
    constants[t] *= exp(ln_factor);
  squares += weight * ln_factor * ln_factor - 2 * ln_factor * sum;
  *out_error = rows ? fmax(ws__least_error, sqrt(fmax(0, squares) /
                                                 fmax(1, weight - MOST_KEPT)))
                    : 1;
  return rows;
}
