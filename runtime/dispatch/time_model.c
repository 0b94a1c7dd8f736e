/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See wavesmith/time_model.h. A kernel's normal equations are a Gram matrix and
 * a right side, over rows divided by their times; those of kernels like it are
 * added with a weight, and the constants follow by coordinate descent, which
 * keeps each at 0 or above.
 */
#include "dispatch_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a kernel's own timings weigh beside those of a kernel of the same
 * parameters, and the distance (of the logarithms of parameters) at which a
 * neighbour's fall to 0.6. */
static const double own_weight = 30, near = 0.6;

/* A model is known no better than times are repeated. */
static const double least_error = 0.02;

/* An own factor is believed as if so many timings more had none. */
enum { FACTOR_PRIOR = 2, SWEEPS = 400 };

enum { MOST = WS_TIME_TERMS_MOST };

typedef struct equations {
  double gram[MOST][MOST], right[MOST];
  int rows;
} equations;

typedef struct fitting {
  const ws_matrix *matrix;
  const ws_dispatch_entry *entries;
  const int *columns;
  int count, terms;
  double scale[MOST]; /* of a term, so that its constants are near 1 */
  equations *own;     /* by position */
} fitting;

static bool is_time(double us) { return isfinite(us) && us > 0; }

static double term_value(const ws__time_model *model, int term,
                         const ws_shape *shape) {
  ws_shape seen = *shape;
  for (int i = 0; i < seen.dims->count; i++)
    if (seen.size[i] > WS__MODEL_LARGEST)
      seen.size[i] = WS__MODEL_LARGEST;
  return model->terms[term]
             ? (double)ws__shape_value(model->terms[term], &seen)
             : 0;
}

/* ---- kernels that are alike ---- */

static double log_distance(int64_t a, int64_t b) {
  return a > 0 && b > 0 ? log2((double)a / (double)b) : (double)(a != b);
}

/* Squared; INFINITY between kernels of different templates. */
static double distance(const ws_candidate *a, const ws_candidate *b) {
  double sum = 0;
  if (strcmp(a->tmpl->name, b->tmpl->name) ||
      a->tmpl->param_count != b->tmpl->param_count)
    return INFINITY;
  for (int i = 0; i < a->tmpl->param_count; i++) {
    const double d = log_distance(a->values[i], b->values[i]);
    sum += d * d;
  }
  return sum;
}

static double weight_of(const ws_candidate *a, const ws_candidate *b) {
  return exp(-distance(a, b) / (2 * near * near));
}

/* ---- equations ---- */

static void add_row(equations *to, const double *values, int terms) {
  for (int i = 0; i < terms; i++) {
    to->right[i] += values[i];
    for (int j = 0; j < terms; j++)
      to->gram[i][j] += values[i] * values[j];
  }
  to->rows++;
}

static void add_equations(equations *to, const equations *from, double weight,
                          int terms) {
  for (int i = 0; i < terms; i++) {
    to->right[i] += weight * from->right[i];
    for (int j = 0; j < terms; j++)
      to->gram[i][j] += weight * from->gram[i][j];
  }
}

/* The constants of the terms in use, the others 0. Returns the sum of squares
 * without the part that no constants change. */
static double solve(const equations *in, int terms, const bool *used,
                    double *x) {
  double loss = 0;
  for (int i = 0; i < terms; i++)
    x[i] *= used[i];
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    double moved = 0;
    for (int i = 0; i < terms; i++) {
      const double diagonal = in->gram[i][i] * (1 + 1e-6);
      double rest = in->right[i];
      if (!used[i] || !(diagonal > 0))
        continue;
      for (int j = 0; j < terms; j++)
        rest -= in->gram[i][j] * x[j];
      const double next = fmax(0, x[i] + rest / diagonal);
      moved = fmax(moved, fabs(next - x[i]) / (next + 1e-12));
      x[i] = next;
    }
    if (moved < 1e-6)
      break;
  }
  for (int i = 0; i < terms; i++) {
    loss -= 2 * in->right[i] * x[i];
    for (int j = 0; j < terms; j++)
      loss += x[i] * in->gram[i][j] * x[j];
  }
  return loss;
}

/* Few terms: the emitted selection evaluates them for every kernel. */
enum { MOST_KEPT = 5 };

/* The constants, those of terms that explain least made 0 one by one. */
static void solve_sparse(const equations *in, int terms, double *x) {
  bool used[MOST];
  int kept = terms;
  for (int i = 0; i < terms; i++)
    used[i] = true;
  memset(x, 0, sizeof *x * (size_t)terms);
  solve(in, terms, used, x);
  for (int i = 0; i < terms; i++)
    if (!(x[i] > 0)) {
      used[i] = false;
      kept--;
    }
  while (kept > MOST_KEPT) {
    double least = INFINITY, without[MOST], best[MOST];
    int drop = -1;
    for (int i = 0; i < terms; i++) {
      if (!used[i])
        continue;
      memcpy(without, x, sizeof without);
      used[i] = false;
      const double loss = solve(in, terms, used, without);
      used[i] = true;
      if (loss < least) {
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

/* ---- the fit ---- */

static double cell(const fitting *f, int shape, int position) {
  return ws__matrix_us(f->matrix, shape, f->columns[position]);
}

/* Terms differ by ten orders of magnitude: each is divided by what it is of a
 * microsecond in the mean. */
static bool find_scales(fitting *f, const ws__time_model *models) {
  int rows = 0;
  for (int p = 0; p < f->count; p++)
    for (int s = 0; s < f->matrix->shape_count; s++) {
      const double us = cell(f, s, p);
      if (!is_time(us))
        continue;
      rows++;
      for (int t = 0; t < f->terms; t++)
        f->scale[t] += term_value(&models[p], t, &f->matrix->shapes[s]) / us;
    }
  for (int t = 0; t < f->terms; t++)
    f->scale[t] = f->scale[t] > 0 ? rows / f->scale[t] : 1;
  return rows > 0;
}

static void gather(fitting *f, const ws__time_model *models) {
  for (int p = 0; p < f->count; p++)
    for (int s = 0; s < f->matrix->shape_count; s++) {
      const double us = cell(f, s, p);
      double values[MOST];
      if (!is_time(us))
        continue;
      for (int t = 0; t < f->terms; t++)
        values[t] = term_value(&models[p], t, &f->matrix->shapes[s]) *
                    f->scale[t] / us;
      add_row(&f->own[p], values, f->terms);
    }
}

static double model_us(const ws__time_model *model, int terms,
                       const ws_shape *shape) {
  double us = 0;
  for (int t = 0; t < terms; t++)
    if (model->us[t] > 0)
      us += model->us[t] * term_value(model, t, shape);
  return us;
}

/* The kernel's own factor, and what is left. */
static void adjust(const fitting *f, int position, ws__time_model *model) {
  double sum = 0, squares = 0;
  int rows = 0;
  for (int s = 0; s < f->matrix->shape_count; s++) {
    const double us = cell(f, s, position),
                 said = model_us(model, f->terms, &f->matrix->shapes[s]);
    if (!is_time(us) || !(said > 0))
      continue;
    const double ln = log(us / said);
    sum += ln;
    squares += ln * ln;
    rows++;
  }
  const double ln_factor = sum / (rows + FACTOR_PRIOR);
  for (int t = 0; t < f->terms; t++)
    model->us[t] *= exp(ln_factor);
  squares += rows * ln_factor * ln_factor - 2 * ln_factor * sum;
  model->timings = rows;
  model->error = rows ? fmax(least_error, sqrt(fmax(0, squares) / rows)) : 1;
}

static void fit_one(const fitting *f, int position, ws__time_model *model) {
  equations all = {.rows = 0};
  const ws_candidate *self = f->entries[f->columns[position]].candidate;
  for (int p = 0; p < f->count; p++) {
    const double weight =
        p == position
            ? own_weight
            : weight_of(self, f->entries[f->columns[p]].candidate);
    if (weight > 1e-6 && f->own[p].rows)
      add_equations(&all, &f->own[p], weight, f->terms);
  }
  solve_sparse(&all, f->terms, model->us);
  for (int t = 0; t < f->terms; t++)
    model->us[t] *= f->scale[t];
  adjust(f, position, model);
}

ws_status ws_time_models_fit(ws_arena *arena, const ws_problem *problem,
                             const ws_target *target,
                             const ws_time_terms *terms,
                             const ws_dispatch_entry *entries,
                             const ws_matrix *matrix, const int *columns,
                             int column_count,
                             const ws_time_models **out_models, ws_diag *diag) {
  const size_t count = (size_t)column_count;
  ws__time_model *models = ws_arena_alloc(arena, sizeof *models * count);
  fitting f = {.matrix = matrix,
               .entries = entries,
               .columns = columns,
               .count = column_count,
               .terms = terms->count};
  for (int p = 0; p < column_count; p++)
    models[p].terms = ws__bind_terms(
        arena, terms, entries[columns[p]].candidate, target->cu_count);
  if (!find_scales(&f, models))
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "none of %d kernels of %s has a time that a model could be "
                   "fitted to",
                   column_count, problem->name);
  f.own = calloc(count, sizeof *f.own);
  WS_ASSERT(f.own != NULL);
  gather(&f, models);
  for (int p = 0; p < column_count; p++)
    fit_one(&f, p, &models[p]);
  free(f.own);
  ws_time_models *out = ws_arena_alloc(arena, sizeof *out);
  *out = (ws_time_models){terms, models, column_count};
  *out_models = out;
  return WS_OK;
}

double ws_time_models_us(const ws_time_models *models, int position,
                         const ws_shape *shape) {
  return model_us(&models->models[position], models->terms->count, shape);
}

double ws_time_models_error(const ws_time_models *models, int position) {
  return models->models[position].error;
}

/* ---- gaps ---- */

/* What is off on a shape is off for most kernels alike: the mean of what was
 * timed there, believed as if one more timing had said that nothing is. */
static double shape_effect(const ws_time_models *models,
                           const ws_matrix *matrix, int shape) {
  double sum = 0;
  int timed = 0;
  for (int c = 0; c < matrix->candidate_count; c++) {
    const double us = ws__matrix_us(matrix, shape, c),
                 said = ws_time_models_us(models, c, &matrix->shapes[shape]);
    if (is_time(us) && said > 0) {
      sum += log(us / said);
      timed++;
    }
  }
  return sum / (timed + 1);
}

/* Root mean square of what models and shapes leave of a kernel's times. */
static double rest_error(const ws_time_models *models, const ws_matrix *matrix,
                         const double *effects, int column) {
  double squares = 0;
  int timed = 0;
  for (int s = 0; s < matrix->shape_count; s++) {
    const double us = ws__matrix_us(matrix, s, column),
                 said = ws_time_models_us(models, column, &matrix->shapes[s]);
    if (!is_time(us) || !(said > 0))
      continue;
    const double ln = log(us / said) - effects[s];
    squares += ln * ln;
    timed++;
  }
  return timed ? fmax(least_error, sqrt(squares / timed)) : 1;
}

ws_status ws_time_models_fill(ws_arena *arena, const ws_selection_input *input,
                              double caution, ws_matrix *out_filled,
                              ws_diag *diag) {
  const ws_matrix *matrix = input->matrix;
  const size_t count = (size_t)matrix->candidate_count;
  const size_t rows = (size_t)matrix->shape_count;
  const ws_time_models *models;
  int *columns = ws_arena_alloc(arena, sizeof *columns * count);
  double *us = ws_arena_alloc(arena, sizeof *us * count * rows);
  double *effects = ws_arena_alloc(arena, sizeof *effects * rows);
  for (int c = 0; c < matrix->candidate_count; c++)
    columns[c] = c;
  WS_TRY(ws_time_models_fit(arena, input->problem, input->target, input->terms,
                            input->entries, matrix, columns,
                            matrix->candidate_count, &models, diag));
  for (int s = 0; s < matrix->shape_count; s++)
    effects[s] = shape_effect(models, matrix, s);
  for (int c = 0; c < matrix->candidate_count; c++) {
    const double longer =
        exp(caution * rest_error(models, matrix, effects, c));
    for (int s = 0; s < matrix->shape_count; s++) {
      double *to = &us[(size_t)s * count + (size_t)c];
      *to = ws__matrix_us(matrix, s, c);
      if (!isnan(*to))
        continue;
      *to = ws_time_models_us(models, c, &matrix->shapes[s]) *
            exp(effects[s]) * longer;
      if (!(*to > 0))
        *to = INFINITY;
    }
  }
  *out_filled = *matrix;
  out_filled->us = us;
  return WS_OK;
}
