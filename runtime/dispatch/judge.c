/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a set of terms loses: models of a portfolio's kernels are fitted with
 * the rows of one fold left out, choose a kernel on these, and so for every
 * fold. A search calls this thousands of times: a term's values are kept while
 * it lives, and the equations are summed once by fold.
 *
 * The choice is judged as if each model erred by a few per cent: kernels share
 * it by what their models say. The loss then moves with every improvement of a
 * model, not only where two kernels change places, and hundreds of sets of
 * terms that differ by the luck of one shape do not look different.
 */
#include "evolving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ln by which models err: what their fits leave, at best (fit.c). */
static const double model_error = 0.03;

struct ws__judge {
  ws_arena *arena;
  const ws__portfolio *of;
  const int *fold; /* by row */
  int kernels, rows, folds;
  double *us;      /* [kernel * rows + row]: as timed */
  double *lost;    /* likewise: ln(time / best timed); NAN: no choice there */
  double *weights; /* [kernel * kernels + other] */
  ws__equations *by_fold; /* [fold * kernels + kernel] */
  double *said;           /* [kernel * rows + row]: models, left out */
  double *counts;         /* by row: 1, in the fold at hand 0 */
};

static const ws_candidate *candidate_of(const ws__judge *j, int kernel) {
  return j->of->input->entries[j->of->columns[kernel]].candidate;
}

static size_t cell(const ws__judge *j, int kernel, int row) {
  return (size_t)kernel * (size_t)j->rows + (size_t)row;
}

/* What was not timed is foreseen; models choose where their kernel was timed in
 * the band (bands.c). */
static void find_lost(ws__judge *j, const ws_selection *selection, int kernel) {
  const ws_matrix *timed = j->of->input->matrix;
  bool known[WS_BANDS_MOST];
  for (int b = 0; b < selection->band_count; b++)
    known[b] = ws__band_knows(j->of, timed, &selection->bands[b], kernel);
  for (int s = 0; s < j->rows; s++) {
    const double us =
        ws__matrix_us(j->of->expected, s, j->of->columns[kernel]);
    const double best_us = ws__matrix_best_us(timed, s);
    const int band = ws__band_of(selection->bands, selection->band_count,
                                 &timed->shapes[s]);
    const bool counts = ws__is_time(us) && isfinite(best_us) && known[band];
    j->us[cell(j, kernel, s)] =
        ws__matrix_us(timed, s, j->of->columns[kernel]);
    j->lost[cell(j, kernel, s)] = counts ? fmax(0, log(us / best_us)) : NAN;
  }
}

ws__judge *ws__judge_create(const ws_selection *selection, const int *fold,
                            int fold_count) {
  ws_arena *arena = ws_arena_create();
  ws__judge *j = ws_arena_alloc(arena, sizeof *j);
  const ws__portfolio *of = &selection->portfolio;
  const size_t kernels = (size_t)of->count,
               rows = (size_t)of->input->matrix->shape_count;
  *j = (ws__judge){.arena = arena,
                   .of = of,
                   .fold = fold,
                   .kernels = of->count,
                   .rows = of->input->matrix->shape_count,
                   .folds = fold_count};
  j->us = ws_arena_alloc(arena, sizeof *j->us * kernels * rows);
  j->lost = ws_arena_alloc(arena, sizeof *j->lost * kernels * rows);
  j->said = ws_arena_alloc(arena, sizeof *j->said * kernels * rows);
  j->counts = ws_arena_alloc(arena, sizeof *j->counts * rows);
  j->weights = ws_arena_alloc(arena, sizeof *j->weights * kernels * kernels);
  j->by_fold = ws_arena_alloc(arena, sizeof *j->by_fold * kernels *
                                         (size_t)fold_count);
  for (int k = 0; k < of->count; k++) {
    find_lost(j, selection, k);
    for (int other = 0; other < of->count; other++)
      j->weights[k * of->count + other] =
          ws__pool_weight(candidate_of(j, k), candidate_of(j, other));
  }
  return j;
}

void ws__judge_destroy(ws__judge *judge) {
  if (judge)
    ws_arena_destroy(judge->arena);
}

/* ---- values of terms ---- */

static int index_of(const ws__judged_terms *like, const char *text) {
  for (int t = 0; like && t < like->terms->count; t++)
    if (!strcmp(like->terms->texts[t], text))
      return t;
  return -1;
}

/* Terms that were not there before are bound and evaluated. */
static void fill_values(const ws__judge *j, const ws__judged_terms *like,
                        ws__judged_terms *out) {
  const ws_time_terms *terms = out->terms;
  const size_t cells = (size_t)j->kernels * (size_t)j->rows;
  const char *fresh[WS_TIME_TERMS_MOST];
  int slot[WS_TIME_TERMS_MOST];
  ws_time_terms added = {fresh, NULL, 0};
  for (int t = 0; t < terms->count; t++) {
    const int known = index_of(like, terms->texts[t]);
    out->values[t] = malloc(sizeof **out->values * cells);
    WS_ASSERT(out->values[t] != NULL);
    if (known >= 0) {
      memcpy(out->values[t], like->values[known], sizeof **out->values * cells);
    } else {
      fresh[added.count] = terms->texts[t];
      slot[added.count++] = t;
    }
  }
  ws_arena *arena = ws_arena_create();
  for (int k = 0; k < j->kernels && added.count; k++) {
    const ws_selection_input *input = j->of->input;
    const ws_expr *const *bound =
        ws__bind_terms(arena, &added, &input->entries[j->of->columns[k]],
                       input->target);
    for (int i = 0; i < added.count; i++)
      ws__term_values(bound[i], j->of->input->matrix->shapes, j->rows,
                      out->values[slot[i]] + cell(j, k, 0));
  }
  ws_arena_destroy(arena);
}

/* ---- fits ---- */

static void sum_by_fold(ws__judge *j, const ws__observations *seen) {
  memset(j->by_fold, 0,
         sizeof *j->by_fold * (size_t)j->folds * (size_t)j->kernels);
  for (int s = 0; s < j->rows; s++)
    for (int k = 0; k < j->kernels; k++)
      ws__add_row(seen, k, s, 1, &j->by_fold[j->fold[s] * j->kernels + k]);
}

static void fit_kernel(ws__judge *j, const ws__observations *seen,
                       const ws__equations *own, int fold, int kernel) {
  ws__equations all = {.rows = 0};
  double constants[WS_TIME_TERMS_MOST], error;
  for (int k = 0; k < j->kernels; k++) {
    const double weight = j->weights[kernel * j->kernels + k];
    if (weight > 0)
      ws__add_equations(&own[k], weight, seen->terms, &all);
  }
  ws__solve_constants(&all, seen->terms, constants);
  for (int t = 0; t < seen->terms; t++)
    constants[t] *= seen->scale[t];
  ws__fit_factor(seen, kernel, j->counts, constants, &error);
  for (int s = 0; s < j->rows; s++)
    if (j->fold[s] == fold)
      j->said[cell(j, kernel, s)] = ws__sum_terms(seen, kernel, s, constants);
}

static void fit_fold(ws__judge *j, const ws__observations *seen,
                     ws__equations *own, int fold) {
  memset(own, 0, sizeof *own * (size_t)j->kernels);
  for (int k = 0; k < j->kernels; k++)
    for (int f = 0; f < j->folds; f++)
      if (f != fold)
        ws__add_equations(&j->by_fold[f * j->kernels + k], 1, seen->terms,
                          &own[k]);
  for (int s = 0; s < j->rows; s++)
    j->counts[s] = j->fold[s] != fold;
  for (int k = 0; k < j->kernels; k++)
    fit_kernel(j, seen, own, fold, k);
}

/* ---- the loss ---- */

static int pick(const ws__judge *j, int row) {
  int best = -1;
  for (int k = 0; k < j->kernels; k++)
    if (!isnan(j->lost[cell(j, k, row)]) &&
        (best < 0 || j->said[cell(j, k, row)] < j->said[cell(j, best, row)]))
      best = k;
  return best;
}

/* What kernels lose in the mean, each chosen as often as models that err would
 * choose it. */
static double shared_loss(const ws__judge *j, int row, int picked) {
  const double least = fmax(j->said[cell(j, picked, row)], 1e-9);
  double sum = 0, shares = 0;
  for (int k = 0; k < j->kernels; k++) {
    const double lost = j->lost[cell(j, k, row)];
    if (isnan(lost))
      continue;
    const double above = log(fmax(j->said[cell(j, k, row)], 1e-9) / least);
    const double share = exp(-above / model_error);
    sum += share * lost;
    shares += share;
  }
  return sum / shares;
}

static void judge_rows(const ws__judge *j, ws__judged_terms *out) {
  int rows = 0;
  out->loss = out->ln_loss = 0;
  for (int s = 0; s < j->rows; s++) {
    out->picks[s] = pick(j, s);
    if (out->picks[s] < 0)
      continue;
    out->loss += shared_loss(j, s, out->picks[s]);
    out->ln_loss += j->lost[cell(j, out->picks[s], s)];
    rows++;
  }
  out->loss = rows ? out->loss / rows : INFINITY;
  out->ln_loss = rows ? out->ln_loss / rows : INFINITY;
}

void ws__judge_terms(ws__judge *j, const ws_time_terms *terms,
                     const ws__judged_terms *like, ws__judged_terms *out) {
  *out = (ws__judged_terms){
      .terms = terms,
      .values = calloc(WS_TIME_TERMS_MOST, sizeof *out->values),
      .picks = malloc(sizeof *out->picks * (size_t)j->rows)};
  ws__equations *own = malloc(sizeof *own * (size_t)j->kernels);
  WS_ASSERT(out->values && out->picks && own);
  fill_values(j, like, out);
  ws__observations seen = {.kernels = j->kernels,
                           .rows = j->rows,
                           .terms = terms->count,
                           .values = (const double *const *)out->values,
                           .us = j->us};
  ws__find_scales(&seen);
  sum_by_fold(j, &seen);
  for (int fold = 0; fold < j->folds; fold++)
    fit_fold(j, &seen, own, fold);
  free(own);
  judge_rows(j, out);
}

void ws__judged_terms_deinit(ws__judged_terms *judged) {
  for (int t = 0; judged->values && t < WS_TIME_TERMS_MOST; t++)
    free(judged->values[t]);
  free(judged->values);
  free(judged->picks);
  *judged = (ws__judged_terms){.values = NULL};
}

/* ---- misses ---- */

static int best_kept(const ws__judge *j, int row) {
  int best = -1;
  for (int k = 0; k < j->kernels; k++)
    if (!isnan(j->lost[cell(j, k, row)]) &&
        (best < 0 || j->lost[cell(j, k, row)] < j->lost[cell(j, best, row)]))
      best = k;
  return best;
}

static double expected_us(const ws__judge *j, int row, int kernel) {
  return ws__matrix_us(j->of->expected, row, j->of->columns[kernel]);
}

int ws__judge_misses(const ws__judge *j, const ws__judged_terms *of,
                     ws__miss *out, int most) {
  int count = 0;
  for (int s = 0; s < j->rows; s++) {
    const int chosen = of->picks[s];
    const int best = chosen < 0 ? -1 : best_kept(j, s);
    if (chosen == best ||
        !(expected_us(j, s, chosen) > expected_us(j, s, best)))
      continue;
    const ws__miss miss = {&j->of->input->matrix->shapes[s], chosen, best,
                           expected_us(j, s, chosen), expected_us(j, s, best)};
    int at = count < most ? count++ : most;
    for (; at > 0 && out[at - 1].chosen_us / out[at - 1].best_us <
                         miss.chosen_us / miss.best_us;
         at--)
      if (at < most)
        out[at] = out[at - 1];
    if (at < most)
      out[at] = miss;
  }
  return count;
}
