/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which form of selection is taken where. Shapes that share all sizes but the
 * first are one group (the layers of one weight matrix, say): neighbours in the
 * first size tell much about each other, so a form is judged on groups that it
 * was not fitted on.
 */
#include "dispatch_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bands end at powers of four from 16 on; a band with fewer shapes than this
 * joins the next. */
enum { LEAST_SHAPES = 12, FIRST_EDGE = 16, EDGE_RATIO = 4, EDGES = 6 };

/* Groups are left out some at a time, in this many turns. */
enum { FOLDS = 8, LEAST_GROUPS = 4 };

/* The tree is taken where it loses this much less than models in the mean (in
 * ln), and so many standard errors of that: on a dozen shapes a tree wins by
 * luck, and where layers are new it loses more. */
static const double least_gain = 0.002, standard_errors = 2;

const char *ws_form_text(ws_form form) {
  static const char *const texts[WS_FORMS] = {"nearest", "tree", "models",
                                              "portfolio"};
  return texts[form];
}

int ws__band_of(const ws_band *bands, int count, const ws_shape *shape) {
  int band = 0;
  while (band + 1 < count && shape->size[0] > bands[band].last)
    band++;
  return band;
}

static bool is_in(const ws_band *band, const ws_shape *shape) {
  return shape->size[0] >= band->first && shape->size[0] <= band->last;
}

static int shapes_between(const ws_matrix *matrix, int64_t low, int64_t high) {
  int count = 0;
  for (int s = 0; s < matrix->shape_count; s++)
    count +=
        matrix->shapes[s].size[0] >= low && matrix->shapes[s].size[0] <= high;
  return count;
}

static int cut(const ws_matrix *matrix, ws_band *bands) {
  int count = 0;
  int64_t first = 1, edge = FIRST_EDGE;
  for (int i = 0; i < EDGES; i++, edge *= EDGE_RATIO)
    if (shapes_between(matrix, first, edge) >= LEAST_SHAPES &&
        shapes_between(matrix, edge + 1, INT64_MAX) >= LEAST_SHAPES) {
      bands[count++] = (ws_band){.first = first, .last = edge};
      first = edge + 1;
    }
  bands[count++] = (ws_band){.first = first, .last = INT64_MAX};
  return count;
}

/* ---- rows ---- */

ws_matrix ws_matrix_rows(ws_arena *arena, const ws_matrix *from,
                         const bool *marks, bool wanted) {
  const size_t columns = (size_t)from->candidate_count;
  ws_shape *shapes =
      ws_arena_alloc(arena, sizeof *shapes * (size_t)from->shape_count);
  double *us =
      ws_arena_alloc(arena, sizeof *us * columns * (size_t)from->shape_count);
  ws_matrix out = *from;
  out.shapes = shapes;
  out.us = us;
  out.shape_count = 0;
  for (int s = 0; s < from->shape_count; s++)
    if (marks[s] == wanted) {
      memcpy(us + (size_t)out.shape_count * columns,
             from->us + (size_t)s * columns, columns * sizeof *us);
      shapes[out.shape_count++] = from->shapes[s];
    }
  return out;
}

/* ---- models near a band ---- */

/* What bounds a kernel changes with the first size: constants that hold from one
 * row to 16384 rows hold nowhere well. A row weighs less by the octaves between
 * its first size and the band (a normal curve of this width), and something
 * however far, so that no constant hangs in the air. */
static const double octaves = 2, least_weight = 0.02;

static double octaves_from(const ws_band *band, const ws_shape *shape) {
  const double size = log2((double)shape->size[0]);
  return fmax(0, fmax(log2((double)band->first) - size,
                      size - log2((double)band->last)));
}

/* A kernel that was timed on few of the shapes of a band that it takes promises
 * more than it keeps: of many such, the one whose model errs the most is chosen.
 * So it counts as slower, in ln by this much where it was not timed at all, by
 * nothing from this share on. Where nobody else takes a shape they are compared
 * among themselves. */
static const double most_caution = 0.2, share_known = 0.5;

static double caution(const ws_matrix *timed, const ws_band *band, int column) {
  int taken = 0, own = 0;
  for (int s = 0; s < timed->shape_count; s++) {
    const double us = ws__matrix_us(timed, s, column);
    if (!is_in(band, &timed->shapes[s]) || isinf(us)) /* refused */
      continue;
    taken++;
    own += !isnan(us);
  }
  return most_caution * fmax(0, 1 - own / (share_known * fmax(1, taken)));
}

ws_status ws__bands_fit(ws_arena *arena, const ws__portfolio *portfolio,
                        const ws_matrix *timed, const ws_band *bands, int count,
                        const ws_time_models **out_by_band, ws_diag *diag) {
  const size_t rows = (size_t)timed->shape_count;
  double *weights =
      ws_arena_alloc(arena, sizeof *weights * rows * (size_t)count);
  const double *by_band[WS_BANDS_MOST];
  for (int b = 0; b < count; b++) {
    double *own = weights + rows * (size_t)b;
    for (size_t s = 0; s < rows; s++) {
      const double far = octaves_from(&bands[b], &timed->shapes[s]) / octaves;
      own[s] = least_weight + (1 - least_weight) * exp(-far * far / 2);
    }
    by_band[b] = own;
  }
  WS_TRY(ws__time_models_fit_each(arena, portfolio->input, timed, by_band,
                                  count, portfolio->columns, portfolio->count,
                                  out_by_band, diag));
  double *factors =
      ws_arena_alloc(arena, sizeof *factors * (size_t)portfolio->count);
  for (int b = 0; b < count; b++) {
    for (int p = 0; p < portfolio->count; p++)
      factors[p] = exp(caution(timed, &bands[b], portfolio->columns[p]));
    out_by_band[b] = ws__time_models_times(arena, out_by_band[b], factors);
  }
  return WS_OK;
}

/* ---- one turn ---- */

enum { LEAST_TIMINGS = 2 };

bool ws__band_knows(const ws__portfolio *portfolio, const ws_matrix *matrix,
                    const ws_band *band, int position) {
  int timed = 0;
  for (int s = 0; s < matrix->shape_count; s++)
    timed += is_in(band, &matrix->shapes[s]) &&
             isfinite(ws__matrix_us(matrix, s, portfolio->columns[position]));
  return timed >= LEAST_TIMINGS;
}

ws__known ws__bands_known(ws_arena *arena, const ws__portfolio *portfolio,
                          const ws_time_models *const *models,
                          const ws_band *bands, int band_count) {
  const int count = portfolio->count;
  bool *knows =
      ws_arena_alloc(arena, sizeof *knows * (size_t)count * (size_t)band_count);
  for (int b = 0; b < band_count; b++)
    for (int p = 0; p < count; p++)
      knows[b * count + p] =
          ws__band_knows(portfolio, portfolio->input->matrix, &bands[b], p);
  return (ws__known){bands, band_count, count, models, knows};
}

bool ws__known_at(const ws__known *known, int position, const ws_shape *shape) {
  const int band = ws__band_of(known->bands, known->band_count, shape);
  return known->knows[band * known->kernel_count + position];
}

/* Those that the band knows. */
static ws__shortlist list_known(ws_arena *arena, const ws__portfolio *portfolio,
                                const ws_matrix *timed, const ws_band *band) {
  int *positions =
      ws_arena_alloc(arena, sizeof *positions * (size_t)portfolio->count);
  int count = 0;
  for (int p = 0; p < portfolio->count; p++)
    if (ws__band_knows(portfolio, timed, band, p))
      positions[count++] = p;
  return (ws__shortlist){positions, count, portfolio->fallback};
}

static int pick_nearest(const ws__portfolio *portfolio, const ws_matrix *known,
                        const ws_shape *shape) {
  double least = INFINITY, best_us = INFINITY;
  int nearest = 0, best = -1;
  for (int s = 0; s < known->shape_count; s++) {
    double far = 0;
    for (int d = 0; d < shape->dims->count; d++)
      far +=
          fabs(log((double)shape->size[d] / (double)known->shapes[s].size[d]));
    if (far < least) {
      least = far;
      nearest = s;
    }
  }
  for (int p = 0; p < portfolio->count; p++) {
    const double us = ws__matrix_us(known, nearest, portfolio->columns[p]);
    if (us < best_us && ws__portfolio_takes(portfolio, p, shape)) {
      best_us = us;
      best = p;
    }
  }
  return best;
}

static int pick_oracle(const ws__portfolio *portfolio, const ws_matrix *rows,
                       int row) {
  int best = -1;
  double least = INFINITY;
  for (int p = 0; p < portfolio->count; p++)
    if (ws__matrix_us(rows, row, portfolio->columns[p]) < least) {
      least = ws__matrix_us(rows, row, portfolio->columns[p]);
      best = p;
    }
  return best;
}

/* Beside the best that was timed; what is foreseen of the choice counts where
 * the choice was not timed, but makes no row better than its best. */
static double judge_pick(const ws__portfolio *portfolio, const ws_matrix *rows,
                         int row, int pick, double best_us, ws_form form,
                         ws_band *band) {
  const double us =
      pick < 0 ? NAN : ws__matrix_us(rows, row, portfolio->columns[pick]);
  const double ratio = ws__regret_of(us, best_us);
  band->ln_loss[form] += log(ratio);
  band->worst[form] = fmax(band->worst[form], ratio);
  return log(ratio);
}

/* What models lost more than the tree, squared, summed; by band. */
typedef struct squares {
  double of[WS_BANDS_MOST];
} squares;

static ws_status judge_fold(ws_arena *arena, const ws__portfolio *portfolio,
                            const bool *left_out, ws_band *bands,
                            int band_count, squares *tree_gains,
                            ws_diag *diag) {
  const ws_selection_input *input = portfolio->input;
  const ws_matrix known =
                      ws_matrix_rows(arena, portfolio->filled, left_out, false),
                  timed = ws_matrix_rows(arena, input->matrix, left_out, false),
                  rows = ws_matrix_rows(arena, portfolio->expected, left_out,
                                        true),
                  truth = ws_matrix_rows(arena, input->matrix, left_out, true);
  const ws_rules *rules;
  const ws_time_models *models[WS_BANDS_MOST];
  ws__shortlist lists[WS_BANDS_MOST];
  for (int b = 0; b < band_count; b++)
    lists[b] = list_known(arena, portfolio, &timed, &bands[b]);
  WS_TRY(ws__rules_fit(arena, portfolio, &known, &rules, diag));
  WS_TRY(ws__bands_fit(arena, portfolio, &timed, bands, band_count, models,
                       diag));
  for (int s = 0; s < rows.shape_count; s++) {
    const ws_shape *shape = &rows.shapes[s];
    const int at = ws__band_of(bands, band_count, shape);
    ws_band *band = &bands[at];
    const int picks[WS_FORMS] = {
        [WS_FORM_NEAREST] = pick_nearest(portfolio, &known, shape),
        [WS_FORM_TREE] = ws_rules_pick(rules, shape),
        [WS_FORM_MODELS] =
            ws__pick_by_models(portfolio, models[at], &lists[at], shape),
        [WS_FORM_ORACLE] = pick_oracle(portfolio, &rows, s)};
    const double best_us = ws__matrix_best_us(&truth, s);
    if (isinf(best_us))
      continue; /* nothing was timed */
    band->shape_count++;
    double lost[WS_FORMS];
    for (ws_form form = 0; form < WS_FORMS; form++)
      lost[form] =
          judge_pick(portfolio, &rows, s, picks[form], best_us, form, band);
    const double gain = lost[WS_FORM_MODELS] - lost[WS_FORM_TREE];
    tree_gains->of[at] += gain * gain;
  }
  return WS_OK;
}

static int begin_bands(const ws_matrix *matrix, ws_band *bands) {
  const int count = cut(matrix, bands);
  for (int b = 0; b < count; b++)
    bands[b].form = WS_FORM_TREE;
  return count;
}

static bool tree_is_better(const ws_band *band, double sum_of_squares) {
  const double count = band->shape_count,
               gain = band->ln_loss[WS_FORM_MODELS] -
                      band->ln_loss[WS_FORM_TREE],
               error =
                   sqrt(fmax(0, sum_of_squares / count - gain * gain) / count);
  return gain > least_gain && gain > standard_errors * error;
}

/* Sums become means. */
static void finish_bands(ws_band *bands, int count, const squares *tree_gains) {
  for (int b = 0; b < count; b++) {
    ws_band *band = &bands[b];
    if (!band->shape_count)
      continue;
    for (ws_form form = 0; form < WS_FORMS; form++)
      band->ln_loss[form] /= band->shape_count;
    if (!tree_is_better(band, tree_gains->of[b]))
      band->form = WS_FORM_MODELS;
  }
}

ws_status ws__bands_judge_once(ws_arena *arena, const ws__portfolio *portfolio,
                               const bool *left_out, ws_band *out_bands,
                               int *out_count, ws_diag *diag) {
  *out_count = begin_bands(portfolio->filled, out_bands);
  squares tree_gains = {{0}};
  WS_TRY(judge_fold(arena, portfolio, left_out, out_bands, *out_count,
                    &tree_gains, diag));
  finish_bands(out_bands, *out_count, &tree_gains);
  return WS_OK;
}

ws_status ws__bands_judge(ws_arena *arena, const ws__portfolio *portfolio,
                          ws_band *out_bands, int *out_count, ws_diag *diag) {
  const ws_matrix *matrix = portfolio->filled;
  const size_t rows = (size_t)matrix->shape_count;
  int *group = ws_arena_alloc(arena, sizeof *group * rows);
  bool *left_out = ws_arena_alloc(arena, sizeof *left_out * rows);
  *out_count = begin_bands(matrix, out_bands);
  const int groups =
      ws_shape_number_groups(matrix->shapes, matrix->shape_count, group);
  if (groups < LEAST_GROUPS || portfolio->count < 2)
    return WS_OK;
  ws_status status = WS_OK;
  squares tree_gains = {{0}};
  for (int fold = 0; fold < FOLDS && status == WS_OK; fold++) {
    ws_arena *own = ws_arena_create();
    for (size_t s = 0; s < rows; s++)
      left_out[s] = group[s] % FOLDS == fold;
    status = judge_fold(own, portfolio, left_out, out_bands, *out_count,
                        &tree_gains, diag);
    ws_arena_destroy(own);
  }
  finish_bands(out_bands, *out_count, &tree_gains);
  return status;
}
