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

/* The tree is kept unless models lose this much less in the mean (in ln): it is
 * faster and can be read. */
static const double least_gain = 0.002;

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

static int shapes_between(const ws_matrix *matrix, int64_t low, int64_t high) {
  int count = 0;
  for (int s = 0; s < matrix->shape_count; s++)
    count += matrix->shapes[s].size[0] >= low &&
             matrix->shapes[s].size[0] <= high;
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

/* ---- groups ---- */

static bool same_group(const ws_shape *a, const ws_shape *b) {
  return !memcmp(a->size + 1, b->size + 1,
                 sizeof a->size - sizeof a->size[0]);
}

/* By shape; groups are numbered in the order of their shapes. */
static int number_groups(const ws_matrix *matrix, int *group) {
  int count = 0;
  for (int s = 0; s < matrix->shape_count; s++) {
    int other = 0;
    while (other < s &&
           !same_group(&matrix->shapes[other], &matrix->shapes[s]))
      other++;
    group[s] = other < s ? group[other] : count++;
  }
  return count;
}

/* Rows of the matrix, some of them. */
static ws_matrix some_rows(ws_arena *arena, const ws_matrix *from,
                           const int *group, int fold, bool of_fold) {
  const size_t columns = (size_t)from->candidate_count;
  ws_shape *shapes =
      ws_arena_alloc(arena, sizeof *shapes * (size_t)from->shape_count);
  double *us = ws_arena_alloc(
      arena, sizeof *us * columns * (size_t)from->shape_count);
  ws_matrix out = *from;
  out.shapes = shapes;
  out.us = us;
  out.shape_count = 0;
  for (int s = 0; s < from->shape_count; s++)
    if ((group[s] % FOLDS == fold) == of_fold) {
      memcpy(us + (size_t)out.shape_count * columns,
             from->us + (size_t)s * columns, columns * sizeof *us);
      shapes[out.shape_count++] = from->shapes[s];
    }
  return out;
}

/* ---- one turn ---- */

static int pick_nearest(const ws__portfolio *portfolio, const ws_matrix *known,
                        const ws_shape *shape) {
  double least = INFINITY, best_us = INFINITY;
  int nearest = 0, best = -1;
  for (int s = 0; s < known->shape_count; s++) {
    double far = 0;
    for (int d = 0; d < shape->dims->count; d++)
      far += fabs(log((double)shape->size[d] /
                      (double)known->shapes[s].size[d]));
    if (far < least) {
      least = far;
      nearest = s;
    }
  }
  for (int p = 0; p < portfolio->count; p++) {
    const double us =
        ws__matrix_us(known, nearest, portfolio->columns[p]);
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

static void judge_pick(const ws__portfolio *portfolio, const ws_matrix *rows,
                       int row, int pick, ws_form form, ws_band *band) {
  const double us =
      pick < 0 ? INFINITY : ws__matrix_us(rows, row, portfolio->columns[pick]);
  const double ratio = us / ws__matrix_best_us(rows, row);
  band->ln_loss[form] += log(ratio);
  band->worst[form] = fmax(band->worst[form], ratio);
}

static ws_status judge_fold(ws_arena *arena, const ws__portfolio *portfolio,
                            const int *group, int fold, ws_band *bands,
                            int band_count, ws_diag *diag) {
  const ws_selection_input *input = portfolio->input;
  const ws_matrix known = some_rows(arena, portfolio->filled, group, fold, false),
                  timed = some_rows(arena, input->matrix, group, fold, false),
                  rows = some_rows(arena, portfolio->expected, group, fold, true);
  const ws_rules *rules;
  const ws_time_models *models;
  int *all = ws_arena_alloc(arena, sizeof *all * (size_t)portfolio->count);
  for (int p = 0; p < portfolio->count; p++)
    all[p] = p;
  const ws__shortlist every = {all, portfolio->count};
  WS_TRY(ws_rules_fit(arena, input->problem, input->entries, &known,
                      portfolio->columns, portfolio->count, input->max_leaves,
                      &rules, diag));
  WS_TRY(ws_time_models_fit(arena, input->problem, input->target, input->terms,
                            input->entries, &timed, portfolio->columns,
                            portfolio->count, &models, diag));
  for (int s = 0; s < rows.shape_count; s++) {
    const ws_shape *shape = &rows.shapes[s];
    ws_band *band = &bands[ws__band_of(bands, band_count, shape)];
    const int picks[WS_FORMS] = {
        [WS_FORM_NEAREST] = pick_nearest(portfolio, &known, shape),
        [WS_FORM_TREE] = ws_rules_pick(rules, shape),
        [WS_FORM_MODELS] =
            ws__pick_by_models(portfolio, models, &every, shape),
        [WS_FORM_ORACLE] = pick_oracle(portfolio, &rows, s)};
    band->shape_count++;
    for (ws_form form = 0; form < WS_FORMS; form++)
      judge_pick(portfolio, &rows, s, picks[form], form, band);
  }
  return WS_OK;
}

ws_status ws__bands_judge(ws_arena *arena, const ws__portfolio *portfolio,
                          ws_band *out_bands, int *out_count, ws_diag *diag) {
  const ws_matrix *matrix = portfolio->filled;
  int *group =
      ws_arena_alloc(arena, sizeof *group * (size_t)matrix->shape_count);
  *out_count = cut(matrix, out_bands);
  for (int b = 0; b < *out_count; b++)
    out_bands[b].form = WS_FORM_TREE;
  if (number_groups(matrix, group) < LEAST_GROUPS || portfolio->count < 2)
    return WS_OK;
  ws_status status = WS_OK;
  for (int fold = 0; fold < FOLDS && status == WS_OK; fold++) {
    ws_arena *own = ws_arena_create();
    status = judge_fold(own, portfolio, group, fold, out_bands, *out_count,
                        diag);
    ws_arena_destroy(own);
  }
  for (int b = 0; b < *out_count; b++) {
    ws_band *band = &out_bands[b];
    for (ws_form form = 0; form < WS_FORMS && band->shape_count; form++)
      band->ln_loss[form] /= band->shape_count;
    if (band->ln_loss[WS_FORM_MODELS] <
        band->ln_loss[WS_FORM_TREE] - least_gain)
      band->form = WS_FORM_MODELS;
  }
  return status;
}
