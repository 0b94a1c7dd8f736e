/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See wavesmith/correction.h.
 */
#include "wavesmith/correction.h"

#include <math.h>
#include <string.h>

static double error_of(const ws_compared_row *row) {
  return log(row->measured_us / row->predicted_us);
}

/* ---- a fit ----------------------------------------------------------------
 */

static void standardise(const ws_compared_row *rows, int count,
                        ws_correction *out) {
  for (int i = 0; i < count; i++)
    out->offset += error_of(&rows[i]) / count;
  for (int f = 0; f < out->feature_count; f++) {
    double squares = 0;
    for (int i = 0; i < count; i++)
      out->mean[f] += rows[i].features[f] / count;
    for (int i = 0; i < count; i++)
      squares += pow(rows[i].features[f] - out->mean[f], 2);
    const double scale = sqrt(squares / count);
    /* What does not vary explains nothing: its weight becomes 0. */
    out->scale[f] = scale > 1e-9 * (1 + fabs(out->mean[f])) ? scale : INFINITY;
  }
}

static double standard(const ws_correction *c, const double *features, int f) {
  return (features[f] - c->mean[f]) / c->scale[f];
}

/* Solves a w = b by Cholesky's L L^T; a is symmetric and positive definite, as
 * the penalty on its diagonal makes it, and becomes L. */
static void solve(double a[WS_CORRECTION_FEATURES][WS_CORRECTION_FEATURES],
                  double *w, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = a[i][j];
      for (int k = 0; k < j; k++)
        sum -= a[i][k] * a[j][k];
      a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
    }
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++)
      w[i] -= a[i][k] * w[k];
    w[i] /= a[i][i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++)
      w[i] -= a[k][i] * w[k];
    w[i] /= a[i][i];
  }
}

void ws_correction_fit(const ws_compared_row *rows, int count,
                       int feature_count, double penalty, ws_correction *out) {
  double a[WS_CORRECTION_FEATURES][WS_CORRECTION_FEATURES] = {{0}};
  WS_ASSERT(feature_count <= WS_CORRECTION_FEATURES && penalty > 0);
  *out = (ws_correction){.feature_count = feature_count, .penalty = penalty};
  standardise(rows, count, out);
  for (int i = 0; i < count; i++) {
    const double e = error_of(&rows[i]) - out->offset;
    for (int f = 0; f < feature_count; f++) {
      const double x = standard(out, rows[i].features, f);
      out->weight[f] += x * e / count;
      for (int g = 0; g <= f; g++)
        a[f][g] += x * standard(out, rows[i].features, g) / count;
    }
  }
  for (int f = 0; f < feature_count; f++)
    a[f][f] += penalty;
  solve(a, out->weight, feature_count);
}

static double correction_of(const ws_correction *c, const double *features) {
  double sum = c->offset;
  for (int f = 0; f < c->feature_count; f++)
    sum += c->weight[f] * standard(c, features, f);
  return fmax(-log(2), fmin(log(2), sum));
}

double ws_correction_factor(const ws_correction *c, const double *features) {
  return exp(correction_of(c, features));
}

/* ---- left out -------------------------------------------------------------
 */

typedef struct folds {
  const ws_compared_row *rows;
  const char *const *labels;
  int count;
} folds;

/* All but one label's. */
static folds without(ws_arena *arena, const ws_compared_row *rows,
                     const char *const *labels, int count, const char *label) {
  ws_compared_row *kept = ws_arena_alloc(arena, sizeof *kept * (size_t)count);
  const char **kept_labels =
      ws_arena_alloc(arena, sizeof *kept_labels * (size_t)count);
  folds out = {kept, kept_labels, 0};
  for (int i = 0; i < count; i++)
    if (strcmp(labels[i], label)) {
      kept_labels[out.count] = labels[i];
      kept[out.count++] = rows[i];
    }
  return out;
}

static bool is_first(const char *const *labels, int index) {
  for (int i = 0; i < index; i++)
    if (!strcmp(labels[i], labels[index]))
      return false;
  return true;
}

static const double penalties[] = {10, 3, 1, 0.3, 0.1, 0.03, 0.01};
enum { PENALTIES = sizeof penalties / sizeof penalties[0] };

/* Sums of squares on labels left out, by penalty. */
static double choose_penalty(ws_arena *arena, const folds *of,
                             int feature_count) {
  double squares[PENALTIES] = {0};
  for (int l = 0; l < of->count; l++) {
    if (!is_first(of->labels, l))
      continue;
    const folds inner =
        without(arena, of->rows, of->labels, of->count, of->labels[l]);
    for (int p = 0; p < PENALTIES && inner.count; p++) {
      ws_correction fit;
      ws_correction_fit(inner.rows, inner.count, feature_count, penalties[p],
                        &fit);
      for (int i = 0; i < of->count; i++)
        if (!strcmp(of->labels[i], of->labels[l]))
          squares[p] += pow(error_of(&of->rows[i]) -
                                correction_of(&fit, of->rows[i].features),
                            2);
    }
  }
  int best = 0;
  for (int p = 1; p < PENALTIES; p++)
    best = squares[p] < squares[best] ? p : best;
  return penalties[best];
}

bool ws_correction_left_out(ws_arena *arena, const ws_compared_row *rows,
                            const char *const *labels, int count,
                            int feature_count, ws_compared_row *out_rows) {
  for (int l = 0; l < count; l++) {
    if (!is_first(labels, l))
      continue;
    const folds others = without(arena, rows, labels, count, labels[l]);
    if (!others.count)
      return false;
    ws_correction fit;
    ws_correction_fit(others.rows, others.count, feature_count,
                      choose_penalty(arena, &others, feature_count), &fit);
    for (int i = 0; i < count; i++)
      if (!strcmp(labels[i], labels[l])) {
        out_rows[i] = rows[i];
        out_rows[i].predicted_us *=
            ws_correction_factor(&fit, rows[i].features);
      }
  }
  return true;
}

void ws_correction_fit_all(ws_arena *arena, const ws_compared_row *rows,
                           const char *const *labels, int count,
                           int feature_count, ws_correction *out) {
  const folds all = {rows, labels, count};
  ws_correction_fit(rows, count, feature_count,
                    choose_penalty(arena, &all, feature_count), out);
}
