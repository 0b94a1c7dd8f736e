/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a matrix to a portfolio and what picks among its kernels: the table of
 * tuned shapes, then by band the tree or the time models.
 */
#include "dispatch_internal.h"

#include <math.h>
#include <string.h>

/* ---- the portfolio ---- */

static bool has_universal(const bool *universal, const int *columns,
                          int count) {
  for (int i = 0; i < count; i++)
    if (universal[columns[i]])
      return true;
  return false;
}

/* The column that accepts every legal shape and is best on its own (of one
 * that has no time somewhere nothing better is known); -1: none. */
static int best_universal(const bool *universal, const ws_matrix *matrix) {
  int best = -1;
  double best_sum = INFINITY;
  for (int c = 0; c < matrix->candidate_count; c++) {
    double sum = 0;
    for (int s = 0; s < matrix->shape_count; s++)
      sum += log(ws__matrix_us(matrix, s, c));
    if ((best < 0 || sum < best_sum) && universal[c]) {
      best_sum = sum;
      best = c;
    }
  }
  return best;
}

/* WS_INPUT where some legal shape would get no kernel. */
static ws_status check_domains(ws_arena *arena, const ws_selection_input *input,
                               ws_diag *diag) {
  const int count = input->matrix->candidate_count;
  const ws_candidate **candidates =
      ws_arena_alloc(arena, sizeof *candidates * (size_t)count);
  ws_shape refused;
  for (int c = 0; c < count; c++)
    candidates[c] = input->entries[c].candidate;
  if (ws__take_every_shape(candidates, count, input->problem, &refused))
    return WS_OK;
  return ws_fail(diag, WS_INPUT, NULL, 0,
                 "none of the %d candidates accepts every legal shape%s%s, so "
                 "there is no fallback; tune a template without constraints "
                 "on the shape",
                 count, refused.dims ? ", and none " : "",
                 refused.dims ? ws_shape_text(arena, &refused) : "");
}

/* The portfolio, with a fallback for every legal shape in it. */
static ws_status pick_portfolio(const bool *universal, const ws_matrix *matrix,
                                const double *weights, int max_count,
                                int *columns, int *out_count, ws_diag *diag) {
  WS_TRY(ws__portfolio_pick_weighted(matrix, weights, max_count, columns,
                                     out_count, diag));
  if (has_universal(universal, columns, *out_count))
    return WS_OK;
  int fallback = best_universal(universal, matrix);
  if (fallback < 0)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "none of the %d candidates accepts every legal shape, so "
                   "there is no fallback; tune a template without constraints "
                   "on the shape",
                   matrix->candidate_count);
  if (*out_count == max_count)
    (*out_count)--; /* the last pick gained least */
  columns[(*out_count)++] = fallback;
  return WS_OK;
}

static void find_universal(ws_arena *arena, ws__portfolio *of) {
  bool *universal =
      ws_arena_alloc(arena, sizeof *universal * (size_t)of->count);
  double least = INFINITY;
  of->fallback = -1;
  of->is_proven = true;
  ws__find_universal(of->input->problem, of->input->entries, of->input->matrix,
                     of->columns, of->count, universal);
  for (int p = 0; p < of->count; p++) {
    double sum = 0;
    of->is_proven &=
        !universal[p] ||
        !ws__is_constrained(of->input->entries[of->columns[p]].candidate);
    for (int s = 0; s < of->filled->shape_count; s++)
      sum += log(ws__matrix_us(of->filled, s, of->columns[p]));
    if (universal[p] && (of->fallback < 0 || sum < least)) {
      least = sum;
      of->fallback = p;
    }
  }
  of->universal = universal;
}

ws__portfolio ws__portfolio_of(ws_arena *arena, const ws_selection_input *input,
                               const ws_matrix *expected,
                               const ws_matrix *filled, const int *columns,
                               int count) {
  ws__portfolio out = {.input = input,
                       .expected = expected,
                       .filled = filled,
                       .columns = columns,
                       .count = count};
  find_universal(arena, &out);
  return out;
}

bool ws__portfolio_takes(const ws__portfolio *portfolio, int position,
                         const ws_shape *shape) {
  return ws_candidate_takes(
      portfolio->input->entries[portfolio->columns[position]].candidate, shape);
}

const int *ws__make_chain(ws_arena *arena, const ws__portfolio *portfolio,
                          const double *us, int *out_length) {
  const int count = portfolio->count;
  int *chain = ws_arena_alloc(arena, sizeof *chain * (size_t)count);
  bool *taken = ws_arena_alloc(arena, sizeof *taken * (size_t)count);
  *out_length = 0;
  for (bool closed = false; !closed;) {
    int best = -1;
    for (int p = 0; p < count; p++)
      if (!taken[p] && (best < 0 || us[p] < us[best]))
        best = p;
    taken[best] = true;
    closed = portfolio->universal[best];
    if (closed || isfinite(us[best]))
      chain[(*out_length)++] = best;
  }
  return chain;
}

/* ---- by models ---- */

int ws__pick_by_models(const ws__portfolio *portfolio,
                       const ws_time_models *models, const ws__shortlist *among,
                       const ws_shape *shape) {
  int best = among->fallback;
  double least = INFINITY;
  for (int i = 0; i < among->count; i++) {
    const int p = among->positions[i];
    const double us = ws_time_models_us(models, p, shape);
    if (us < least && ws__portfolio_takes(portfolio, p, shape)) {
      least = us;
      best = p;
    }
  }
  return best;
}

/* More would make the emitted selection slow. */
enum { MOST_LISTED = 24 };

/* Modelled times of kernels (positions) on those shapes of the band that one of
 * them takes. */
static ws_matrix modelled(ws_arena *arena, const ws_selection *s,
                          const ws_band *band, const ws_time_models *models,
                          const int *positions, int count,
                          const ws_shape *shapes, int shape_count) {
  ws_shape *rows = ws_arena_alloc(arena, sizeof *rows * (size_t)shape_count);
  double *us =
      ws_arena_alloc(arena, sizeof *us * (size_t)(shape_count * count));
  ws_matrix out = {.provenance = "",
                   .shapes = rows,
                   .us = us,
                   .candidate_count = count};
  for (int i = 0; i < shape_count; i++) {
    double *row = us + (size_t)out.shape_count * (size_t)count;
    double least = INFINITY;
    if (shapes[i].size[0] < band->first || shapes[i].size[0] > band->last)
      continue;
    for (int c = 0; c < count; c++) {
      row[c] = ws__portfolio_takes(&s->portfolio, positions[c], &shapes[i])
                   ? ws_time_models_us(models, positions[c], &shapes[i])
                   : INFINITY;
      least = fmin(least, row[c]);
    }
    if (!isfinite(least))
      continue;
    for (int c = 0; c < count; c++) /* the fallback must where none takes it */
      row[c] = fmin(row[c], WS__NOT_TAKEN * least);
    rows[out.shape_count++] = shapes[i];
  }
  return out;
}

/* The kernels by which the modelled times in the band are least, as a portfolio
 * is picked: one that is chosen rarely, but gains much there, stays. */
static ws_status make_shortlist(ws_arena *arena, const ws_selection *s,
                                const ws_band *band,
                                const ws_time_models *models,
                                const ws_shape *shapes, int shape_count,
                                ws__shortlist *out, ws_diag *diag) {
  const size_t count = (size_t)s->portfolio.count;
  int *known = ws_arena_alloc(arena, sizeof *known * count);
  int *positions = ws_arena_alloc(arena, sizeof *positions * count);
  int known_count = 0;
  for (int p = 0; p < s->portfolio.count; p++)
    if (ws__band_knows(&s->portfolio, s->portfolio.input->matrix, band, p))
      known[known_count++] = p;
  const ws_matrix times = modelled(arena, s, band, models, known, known_count,
                                   shapes, shape_count);
  *out = (ws__shortlist){positions, 0, s->portfolio.fallback};
  if (times.shape_count > 0)
    WS_TRY(
        ws_portfolio_pick(&times, MOST_LISTED, positions, &out->count, diag));
  for (int i = 0; i < out->count; i++)
    positions[i] = known[positions[i]];
  if (!out->count)
    positions[out->count++] = out->fallback;
  return WS_OK;
}

/* ---- the fit ---- */

enum {
  DEFAULT_PORTFOLIO = 8,
  DEFAULT_TIMED_PORTFOLIO = 16, /* of kernels that a card or the simulator has
                                   timed more pay: each was the best
                                   somewhere */
  LARGE_SET = 64,               /* shapes */
  DEFAULT_LARGE_PORTFOLIO = 64
};

static int portfolio_limit(const ws_selection_input *input) {
  const ws_matrix *matrix = input->matrix;
  if (input->max_portfolio > 0)
    return input->max_portfolio;
  if (ws__is_estimate(matrix->provenance))
    return DEFAULT_PORTFOLIO;
  return matrix->shape_count > LARGE_SET ? DEFAULT_LARGE_PORTFOLIO
                                         : DEFAULT_TIMED_PORTFOLIO;
}

static bool has_gaps(const ws_matrix *matrix) {
  const size_t cells =
      (size_t)matrix->shape_count * (size_t)matrix->candidate_count;
  for (size_t i = 0; i < cells; i++)
    if (isnan(matrix->us[i]))
      return true;
  return false;
}

static ws_status fit_forms(ws_arena *arena, ws_selection *s, ws_diag *diag) {
  const ws_selection_input *input = s->portfolio.input;
  const ws_matrix *matrix = input->matrix;
  ws_band *bands = ws_arena_alloc(arena, sizeof *bands * WS_BANDS_MOST);
  ws__shortlist *lists = ws_arena_alloc(arena, sizeof *lists * WS_BANDS_MOST);
  const ws_time_models **by_band =
      ws_arena_alloc(arena, sizeof(ws_time_models *) * WS_BANDS_MOST);
  WS_TRY(ws__rules_fit(arena, &s->portfolio, s->portfolio.filled, &s->rules,
                       diag));
  WS_TRY(ws_time_models_fit(arena, input->problem, input->target, input->terms,
                            input->entries, matrix, NULL, s->portfolio.columns,
                            s->portfolio.count, &s->models, diag));
  WS_TRY(ws__bands_judge(arena, &s->portfolio, bands, &s->band_count, diag));
  WS_TRY(ws__bands_fit(arena, &s->portfolio, matrix, bands, s->band_count,
                       by_band, diag));
  for (int b = 0; b < s->band_count && ws_selection_unmodelled(s); b++)
    bands[b].form = WS_FORM_TREE;
  const ws_shape_set set = {"", matrix->shapes, matrix->shape_count};
  int shape_count;
  const ws_shape *shapes =
      ws_dispatch_training_shapes(arena, input->problem, &set, &shape_count);
  shapes = ws__shapes_with_residues(arena, input, s->portfolio.columns,
                                    s->portfolio.count, shapes, &shape_count);
  for (int b = 0; b < s->band_count; b++)
    if (bands[b].form == WS_FORM_MODELS)
      WS_TRY(make_shortlist(arena, s, &bands[b], by_band[b], shapes,
                            shape_count, &lists[b], diag));
  s->bands = bands;
  s->by_band = by_band;
  s->shortlists = lists;
  if (!ws__is_estimate(
          matrix->provenance)) { /* which know no shape better than another */
    const ws__known known =
        ws__bands_known(arena, &s->portfolio, by_band, bands, s->band_count);
    s->table = ws__table_make(arena, &s->portfolio, &known);
  }
  return WS_OK;
}

ws_status ws_dispatch_choose(ws_arena *arena, const ws_selection_input *given,
                             ws_dispatch_choice *out_choice, ws_diag *diag) {
  ws_selection_input *input = ws_arena_alloc(arena, sizeof *input);
  ws_matrix *filled = ws_arena_alloc(arena, sizeof *filled);
  ws_matrix *expected = ws_arena_alloc(arena, sizeof *expected);
  ws_selection *s = ws_arena_alloc(arena, sizeof *s);
  *input = *given;
  *filled = *expected = *given->matrix;
  *out_choice = (ws_dispatch_choice){.selection = s};
  if (!input->terms)
    WS_TRY(ws_time_terms_parse(arena, input->problem, ws_time_terms_default(),
                               "terms", &input->terms, diag));
  if (input->max_leaves <= 0)
    input->max_leaves = WS__DEFAULT_LEAVES;
  if (has_gaps(input->matrix))
    WS_TRY(ws_time_models_fill(arena, input, expected, filled, diag));
  const int most = portfolio_limit(input);
  int *columns = ws_arena_alloc(arena, (size_t)most * sizeof *columns);
  bool *universal =
      ws_arena_alloc(arena, (size_t)input->matrix->candidate_count);
  WS_TRY(check_domains(arena, input, diag));
  ws__find_universal(input->problem, input->entries, input->matrix, NULL,
                     input->matrix->candidate_count, universal);
  ws_matrix covered = ws__with_residues(arena, input, filled);
  const double *weights;
  WS_TRY(ws__with_shapes_around(arena, input, &covered, &weights, diag));
  WS_TRY(pick_portfolio(universal, &covered, weights, most, columns,
                        &out_choice->count, diag));
  s->portfolio = ws__portfolio_of(arena, input, expected, filled, columns,
                                  out_choice->count);
  out_choice->columns = columns;
  return fit_forms(arena, s, diag);
}

/* ---- use ---- */

static int preferred(const ws_selection *s, const ws_shape *shape) {
  const ws__span *span = ws__table_find(&s->table, shape);
  for (int i = 0; span && i < span->chain_length; i++)
    if (ws__portfolio_takes(&s->portfolio, span->chain[i], shape))
      return span->chain[i];
  const int band = ws__band_of(s->bands, s->band_count, shape);
  return s->bands[band].form == WS_FORM_MODELS
             ? ws__pick_by_models(&s->portfolio, s->by_band[band],
                                  &s->shortlists[band], shape)
             : ws_rules_pick(s->rules, shape);
}

int ws_selection_pick(const ws_selection *s, const ws_shape *shape) {
  if (!ws__shape_value(s->rules->legal, shape))
    return -1;
  const int pick = preferred(s, shape);
  if (pick >= 0 && ws__portfolio_takes(&s->portfolio, pick, shape))
    return pick;
  for (int p = 0; p < s->portfolio.count; p++) /* universal was no proof */
    if (ws__portfolio_takes(&s->portfolio, p, shape))
      return p;
  return -1;
}

ws_regret ws_selection_regret(const ws_selection *s, const ws_matrix *matrix) {
  ws_regret regret = {.max = 1};
  double sum = 0;
  for (int i = 0; i < matrix->shape_count; i++) {
    const int pick = ws_selection_pick(s, &matrix->shapes[i]);
    const double us =
        pick < 0 ? NAN : ws__matrix_us(matrix, i, s->portfolio.columns[pick]);
    const double ratio =
        ws__regret_of(us, ws__matrix_best_us(matrix, i));
    if (!isfinite(us))
      continue; /* not timed, or nobody takes it */
    regret.shape_count++;
    sum += log(ratio);
    if (ratio > regret.max || !regret.worst.dims) {
      regret.max = ratio;
      regret.worst = matrix->shapes[i];
    }
  }
  regret.geomean = regret.shape_count ? exp(sum / regret.shape_count) : 1;
  return regret;
}

int ws_selection_leaf_count(const ws_selection *s) {
  return s->rules->leaf_count;
}

int ws_selection_bands(const ws_selection *s, const ws_band **out) {
  *out = s->bands;
  return s->band_count;
}

int ws_selection_unmodelled(const ws_selection *s) {
  int count = 0;
  for (int p = 0; p < s->models->count; p++) {
    double constants = 0;
    for (int t = 0; t < s->models->terms->count; t++)
      constants += s->models->models[p].us[t];
    count += !(constants > 0);
  }
  return count;
}

int ws_selection_table_count(const ws_selection *s) {
  return s->table.shape_count;
}
