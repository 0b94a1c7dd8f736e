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
  const ws_selection_input *input;
  const int *columns, *fold;
  int kernels, rows, folds;
  double *us;      /* [kernel * rows + row] */
  double *best_us; /* by row, of all columns */
  double *weights; /* [kernel * kernels + other] */
  ws__equations *by_fold; /* [fold * kernels + kernel] */
  double *said;           /* [kernel * rows + row]: models, left out */
  bool *left_out;         /* by row, of the fold at hand or of no fold */
};

static const ws_candidate *candidate_of(const ws__judge *j, int kernel) {
  return j->input->entries[j->columns[kernel]].candidate;
}

static size_t cell(const ws__judge *j, int kernel, int row) {
  return (size_t)kernel * (size_t)j->rows + (size_t)row;
}

ws__judge *ws__judge_create(const ws_selection_input *input, const int *columns,
                            int count, const int *fold, int fold_count) {
  ws_arena *arena = ws_arena_create();
  ws__judge *j = ws_arena_alloc(arena, sizeof *j);
  const size_t kernels = (size_t)count, rows = (size_t)input->matrix->shape_count;
  *j = (ws__judge){.arena = arena,
                   .input = input,
                   .columns = columns,
                   .fold = fold,
                   .kernels = count,
                   .rows = input->matrix->shape_count,
                   .folds = fold_count};
  j->us = ws_arena_alloc(arena, sizeof *j->us * kernels * rows);
  j->said = ws_arena_alloc(arena, sizeof *j->said * kernels * rows);
  j->best_us = ws_arena_alloc(arena, sizeof *j->best_us * rows);
  j->left_out = ws_arena_alloc(arena, sizeof *j->left_out * rows);
  j->weights = ws_arena_alloc(arena, sizeof *j->weights * kernels * kernels);
  j->by_fold = ws_arena_alloc(arena, sizeof *j->by_fold * kernels *
                                         (size_t)fold_count);
  for (int s = 0; s < j->rows; s++)
    j->best_us[s] = ws__matrix_best_us(input->matrix, s);
  for (int k = 0; k < count; k++) {
    for (int s = 0; s < j->rows; s++)
      j->us[cell(j, k, s)] = ws__matrix_us(input->matrix, s, columns[k]);
    for (int other = 0; other < count; other++)
      j->weights[k * count + other] =
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
    const ws_expr *const *bound = ws__bind_terms(
        arena, &added, candidate_of(j, k), j->input->target->cu_count);
    for (int i = 0; i < added.count; i++)
      ws__term_values(bound[i], j->input->matrix->shapes, j->rows,
                      out->values[slot[i]] + cell(j, k, 0));
  }
  ws_arena_destroy(arena);
}

/* ---- fits ---- */

static void sum_by_fold(ws__judge *j, const ws__observations *seen) {
  memset(j->by_fold, 0,
         sizeof *j->by_fold * (size_t)j->folds * (size_t)j->kernels);
  for (int s = 0; s < j->rows; s++)
    for (int k = 0; k < j->kernels && j->fold[s] >= 0; k++)
      ws__add_row(seen, k, s, &j->by_fold[j->fold[s] * j->kernels + k]);
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
  ws__fit_factor(seen, kernel, j->left_out, constants, &error);
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
    j->left_out[s] = j->fold[s] == fold || j->fold[s] < 0;
  for (int k = 0; k < j->kernels; k++)
    fit_kernel(j, seen, own, fold, k);
}

/* ---- the loss ---- */

/* Among kernels that were timed on the row. */
static int pick(const ws__judge *j, int row) {
  int best = -1;
  for (int k = 0; k < j->kernels; k++)
    if (ws__is_time(j->us[cell(j, k, row)]) &&
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
    const double us = j->us[cell(j, k, row)];
    if (!ws__is_time(us))
      continue;
    const double above = log(fmax(j->said[cell(j, k, row)], 1e-9) / least);
    const double share = exp(-above / model_error);
    sum += share * log(us / j->best_us[row]);
    shares += share;
  }
  return sum / shares;
}

static void judge_rows(const ws__judge *j, ws__judged_terms *out) {
  int rows = 0;
  out->loss = out->ln_loss = 0;
  for (int s = 0; s < j->rows; s++) {
    out->picks[s] = j->fold[s] < 0 ? -1 : pick(j, s);
    if (out->picks[s] < 0)
      continue;
    out->loss += shared_loss(j, s, out->picks[s]);
    out->ln_loss +=
        log(j->us[cell(j, out->picks[s], s)] / j->best_us[s]);
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

static int best_timed(const ws__judge *j, int row) {
  int best = -1;
  for (int k = 0; k < j->kernels; k++)
    if (ws__is_time(j->us[cell(j, k, row)]) &&
        (best < 0 || j->us[cell(j, k, row)] < j->us[cell(j, best, row)]))
      best = k;
  return best;
}

int ws__judge_misses(const ws__judge *j, const ws__judged_terms *of,
                     ws__miss *out, int most) {
  int count = 0;
  for (int s = 0; s < j->rows; s++) {
    const int chosen = of->picks[s];
    const int best = chosen < 0 ? -1 : best_timed(j, s);
    if (chosen == best)
      continue;
    const ws__miss miss = {&j->input->matrix->shapes[s], chosen, best,
                           j->us[cell(j, chosen, s)], j->us[cell(j, best, s)]};
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
