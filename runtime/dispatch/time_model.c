/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See wavesmith/time_model.h. To a kernel's normal equations (fit.c) those of
 * kernels like it are added with a weight, and the constants follow.
 */
#include "dispatch_internal.h"

#include <math.h>
#include <string.h>

/* What a kernel's own timings weigh beside those of a kernel of the same
 * parameters, and the distance (of the logarithms of parameters) at which a
 * neighbour's fall to 0.6. */
static const double own_weight = 30, near = 0.6;

/* What weighs less than this is not looked at. */
static const double least_weight = 1e-6;

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

double ws__pool_weight(const ws_candidate *self, const ws_candidate *other) {
  const double weight =
      self == other ? own_weight
                    : exp(-distance(self, other) / (2 * near * near));
  return weight < least_weight ? 0 : weight;
}

/* ---- the fit ---- */

static double term_value(const ws_expr *term, const ws_shape *shape) {
  ws_shape seen = *shape;
  for (int i = 0; i < seen.dims->count; i++)
    if (seen.size[i] > WS__MODEL_LARGEST)
      seen.size[i] = WS__MODEL_LARGEST;
  return term ? (double)ws__shape_value(term, &seen) : 0;
}

void ws__term_values(const ws_expr *term, const ws_shape *shapes, int count,
                     double *out) {
  for (int s = 0; s < count; s++)
    out[s] = term_value(term, &shapes[s]);
}

typedef struct fitting {
  const ws_matrix *matrix;
  const ws_dispatch_entry *entries;
  const int *columns;
  const double *weights; /* by row */
  ws__observations seen;
  ws__equations *own; /* by position */
} fitting;

/* The values of all terms and the times, by kernel. */
static void observe(fitting *f, ws_arena *arena, const ws__time_model *models) {
  ws__observations *seen = &f->seen;
  const size_t rows = (size_t)seen->rows, cells = rows * (size_t)seen->kernels;
  double **values =
      ws_arena_alloc(arena, sizeof *values * (size_t)seen->terms);
  double *us = ws_arena_alloc(arena, sizeof *us * cells);
  for (int t = 0; t < seen->terms; t++) {
    values[t] = ws_arena_alloc(arena, sizeof *values[t] * cells);
    for (int p = 0; p < seen->kernels; p++)
      ws__term_values(models[p].terms[t], f->matrix->shapes, seen->rows,
                      values[t] + (size_t)p * rows);
  }
  for (int p = 0; p < seen->kernels; p++)
    for (int s = 0; s < seen->rows; s++)
      us[(size_t)p * rows + (size_t)s] =
          ws__matrix_us(f->matrix, s, f->columns[p]);
  seen->values = (const double *const *)values;
  seen->us = us;
  ws__find_scales(seen);
}

static bool gather(fitting *f) {
  int rows = 0;
  for (int p = 0; p < f->seen.kernels; p++) {
    for (int s = 0; s < f->seen.rows; s++)
      ws__add_row(&f->seen, p, s, f->weights[s], &f->own[p]);
    rows += f->own[p].rows;
  }
  return rows > 0;
}

static void fit_one(const fitting *f, int position, ws__time_model *model) {
  ws__equations all = {.rows = 0};
  const ws_candidate *self = f->entries[f->columns[position]].candidate;
  for (int p = 0; p < f->seen.kernels; p++) {
    const double weight =
        ws__pool_weight(self, f->entries[f->columns[p]].candidate);
    if (weight > 0)
      ws__add_equations(&f->own[p], weight, f->seen.terms, &all);
  }
  ws__solve_constants(&all, f->seen.terms, model->us);
  for (int t = 0; t < f->seen.terms; t++)
    model->us[t] *= model->terms[t] ? f->seen.scale[t] : 0;
  model->timings =
      ws__fit_factor(&f->seen, position, f->weights, model->us, &model->error);
}

/* The models of one set of weights; terms are bound and seen. */
static bool fit_all(fitting *f, const ws__time_model *bound,
                    ws__time_model *models) {
  const int count = f->seen.kernels;
  memset(f->own, 0, sizeof *f->own * (size_t)count);
  memcpy(models, bound, sizeof *models * (size_t)count);
  if (!gather(f))
    return false;
  for (int p = 0; p < count; p++)
    fit_one(f, p, &models[p]);
  return true;
}

static ws_status no_times(const ws_problem *problem, int count,
                          ws_diag *diag) {
  return ws_fail(diag, WS_INPUT, NULL, 0,
                 "none of %d kernels of %s has a time that a model could be "
                 "fitted to",
                 count, problem->name);
}

ws_status ws__time_models_fit_each(ws_arena *arena,
                                   const ws_selection_input *input,
                                   const ws_matrix *matrix,
                                   const double *const *weights, int fits,
                                   const int *columns, int column_count,
                                   const ws_time_models **out_models,
                                   ws_diag *diag) {
  const size_t count = (size_t)column_count;
  ws_arena *work = ws_arena_create();
  ws__time_model *bound = ws_arena_alloc(work, sizeof *bound * count);
  fitting f = {.matrix = matrix,
               .entries = input->entries,
               .columns = columns,
               .seen = {.kernels = column_count,
                        .rows = matrix->shape_count,
                        .terms = input->terms->count},
               .own = ws_arena_alloc(work, sizeof *f.own * count)};
  for (int p = 0; p < column_count; p++)
    bound[p].terms = ws__bind_terms(
        arena, input->terms, &input->entries[columns[p]], input->target);
  observe(&f, work, bound);
  bool timed = true;
  for (int i = 0; i < fits && timed; i++) {
    ws__time_model *models = ws_arena_alloc(arena, sizeof *models * count);
    ws_time_models *out = ws_arena_alloc(arena, sizeof *out);
    f.weights = weights[i];
    timed = fit_all(&f, bound, models);
    *out = (ws_time_models){input->terms, models, column_count};
    out_models[i] = out;
  }
  ws_arena_destroy(work);
  return timed ? WS_OK : no_times(input->problem, column_count, diag);
}

ws_status ws_time_models_fit(ws_arena *arena, const ws_problem *problem,
                             const ws_target *target,
                             const ws_time_terms *terms,
                             const ws_dispatch_entry *entries,
                             const ws_matrix *matrix, const double *weights,
                             const int *columns, int column_count,
                             const ws_time_models **out_models, ws_diag *diag) {
  const ws_selection_input input = {.problem = problem,
                                    .target = target,
                                    .terms = terms,
                                    .entries = entries,
                                    .matrix = matrix};
  double *alike = ws_arena_alloc(
      arena, sizeof *alike * (size_t)matrix->shape_count);
  for (int s = 0; s < matrix->shape_count; s++)
    alike[s] = 1;
  const double *const given[] = {weights ? weights : alike};
  return ws__time_models_fit_each(arena, &input, matrix, given, 1, columns,
                                  column_count, out_models, diag);
}

const ws_time_models *ws__time_models_times(ws_arena *arena,
                                            const ws_time_models *models,
                                            const double *factors) {
  const size_t count = (size_t)models->count;
  ws__time_model *longer = ws_arena_alloc(arena, sizeof *longer * count);
  ws_time_models *out = ws_arena_alloc(arena, sizeof *out);
  memcpy(longer, models->models, sizeof *longer * count);
  for (int p = 0; p < models->count; p++)
    for (int t = 0; t < models->terms->count; t++)
      longer[p].us[t] *= factors[p];
  *out = (ws_time_models){models->terms, longer, models->count};
  return out;
}

double ws_time_models_us(const ws_time_models *models, int position,
                         const ws_shape *shape) {
  const ws__time_model *model = &models->models[position];
  double us = 0;
  for (int t = 0; t < models->terms->count; t++)
    if (model->us[t] > 0)
      us += model->us[t] * term_value(model->terms[t], shape);
  return us;
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
    if (ws__is_time(us) && said > 0) {
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
    if (!ws__is_time(us) || !(said > 0))
      continue;
    const double ln = log(us / said) - effects[s];
    squares += ln * ln;
    timed++;
  }
  return timed ? fmax(ws__least_error, sqrt(squares / timed)) : 1;
}

/* Octaves of the first size between a shape and the nearest that the kernel was
 * timed on: models reach between, not far beyond. */
static double reach(const ws_matrix *matrix, int column, int shape) {
  double least = INFINITY;
  for (int s = 0; s < matrix->shape_count; s++)
    if (ws__is_time(ws__matrix_us(matrix, s, column)))
      least = fmin(least, fabs(log2((double)matrix->shapes[s].size[0] /
                                    (double)matrix->shapes[shape].size[0])));
  return least;
}

/* What is foreseen of a cell that was not timed, and that with caution. */
static void foresee(const ws_time_models *models, const ws_matrix *matrix,
                    int shape, int column, double effect, double error,
                    double best_us, double *expected, double *cautious) {
  *expected = ws_time_models_us(models, column, &matrix->shapes[shape]) *
              exp(effect);
  if (!(*expected > 0)) {
    *expected = *cautious = INFINITY;
    return;
  }
  *cautious = *expected * exp(error * (1 + reach(matrix, column, shape)));
  if (isfinite(best_us))
    *cautious = fmax(*cautious, best_us * exp(error));
}

ws_status ws_time_models_fill(ws_arena *arena, const ws_selection_input *input,
                              ws_matrix *out_expected, ws_matrix *out_cautious,
                              ws_diag *diag) {
  const ws_matrix *matrix = input->matrix;
  const int count = matrix->candidate_count;
  const size_t rows = (size_t)matrix->shape_count, cells = (size_t)count * rows;
  const ws_time_models *models;
  int *columns = ws_arena_alloc(arena, sizeof *columns * (size_t)count);
  double *expected = ws_arena_alloc(arena, sizeof *expected * cells);
  double *cautious = ws_arena_alloc(arena, sizeof *cautious * cells);
  double *effects = ws_arena_alloc(arena, sizeof *effects * rows);
  double *errors = ws_arena_alloc(arena, sizeof *errors * (size_t)count);
  for (int c = 0; c < count; c++)
    columns[c] = c;
  WS_TRY(ws_time_models_fit(arena, input->problem, input->target, input->terms,
                            input->entries, matrix, NULL, columns, count,
                            &models, diag));
  for (int s = 0; s < matrix->shape_count; s++)
    effects[s] = shape_effect(models, matrix, s);
  for (int c = 0; c < count; c++)
    errors[c] = rest_error(models, matrix, effects, c);
  memcpy(expected, matrix->us, sizeof *expected * cells);
  memcpy(cautious, matrix->us, sizeof *cautious * cells);
  for (int s = 0; s < matrix->shape_count; s++) {
    const double best_us = ws__matrix_best_us(matrix, s);
    for (int c = 0; c < count; c++) {
      const size_t i = (size_t)s * (size_t)count + (size_t)c;
      if (isnan(matrix->us[i]))
        foresee(models, matrix, s, c, effects[s], errors[c], best_us,
                &expected[i], &cautious[i]);
    }
  }
  *out_expected = *out_cautious = *matrix;
  out_expected->us = expected;
  out_cautious->us = cautious;
  return WS_OK;
}
