/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See wavesmith/evolve_terms.h. One set of terms at a time: it is changed
 * (mutate.c) or answered by who is asked, judged (judge.c), and taken in place
 * of the present one where it loses less.
 */
#include "evolving.h"

#include <math.h>
#include <string.h>

/* Groups in all, seen ones by turns left out, and one in so many never seen. */
enum { LEAST_GROUPS = 6, FOLDS = 6, ONE_UNSEEN_IN = 3 };

/* A name, number or operation more must gain this (in ln), one less may lose as
 * much: what describes few shapes at length is luck. */
static const double price_of_part = 3e-5;
/* Below it a gain is rounding. */
static const double least_gain = 1e-6;

enum { MISSES_SHOWN = 12 };

typedef struct search {
  ws_arena *arena;
  const ws_selection_input *input;
  const ws_evolve_options *options;
  ws_evolve_report *report;
  bool *unseen;                  /* by row of the input's matrix */
  int *fold;                     /* by row of the seen */
  const ws_selection *selection; /* made of the seen rows */
  const int *columns;            /* of its portfolio */
  ws__vocabulary vocabulary;
  ws__judge *judge;
  ws__judged_terms best;
  ws_arena *best_arena; /* of its texts */
  ws_rng rng;
} search;

/* ---- groups ---- */

static void shuffle(ws_rng *rng, int *items, int count) {
  for (int i = count - 1; i > 0; i--) {
    const int other = (int)ws_rng_below(rng, (uint64_t)i + 1);
    const int kept = items[i];
    items[i] = items[other];
    items[other] = kept;
  }
}

static ws_status split(search *s, ws_diag *diag) {
  const ws_matrix *matrix = s->input->matrix;
  const size_t rows = (size_t)matrix->shape_count;
  int *group = ws_arena_alloc(s->arena, sizeof *group * rows);
  int *place = ws_arena_alloc(s->arena, sizeof *place * rows);
  const int count = ws_shape_number_groups(matrix->shapes, matrix->shape_count, group);
  if (count < LEAST_GROUPS)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "the times are of %d groups of shapes (that differ in the "
                   "first size alone); terms are judged on groups left out, "
                   "which takes %d: give more with --shapes",
                   count, LEAST_GROUPS);
  for (int g = 0; g < count; g++)
    place[g] = g;
  shuffle(&s->rng, place, count);
  const int unseen = count / ONE_UNSEEN_IN;
  s->fold = ws_arena_alloc(s->arena, sizeof *s->fold * rows);
  s->unseen = ws_arena_alloc(s->arena, sizeof *s->unseen * rows);
  int seen = 0;
  for (size_t r = 0; r < rows; r++) {
    s->unseen[r] = place[group[r]] < unseen;
    if (!s->unseen[r])
      s->fold[seen++] = place[group[r]] % FOLDS;
  }
  s->report->group_count = count;
  s->report->seen_groups = count - unseen;
  s->report->shape_count = matrix->shape_count;
  return WS_OK;
}

static ws_status choose_portfolio(search *s, ws_diag *diag) {
  ws_matrix *seen = ws_arena_alloc(s->arena, sizeof *seen);
  ws_selection_input input = *s->input;
  ws_dispatch_choice choice;
  *seen = ws_matrix_rows(s->arena, s->input->matrix, s->unseen, false);
  input.matrix = seen;
  WS_TRY(ws_dispatch_choose(s->arena, &input, &choice, diag));
  s->selection = choice.selection;
  s->columns = choice.columns;
  s->report->kernel_count = choice.count;
  return WS_OK;
}

/* ---- one set of terms ---- */

static double price(const ws__judged_terms *of) {
  int parts = 0;
  for (int t = 0; t < of->terms->count; t++)
    parts += ws__count_parts(of->terms->texts[t]);
  return of->loss + price_of_part * parts;
}

/* Judges the terms and keeps the better; owned_arena holds them. */
static void judge_terms(search *s, ws_arena *owned_arena,
                        const ws_time_terms *terms) {
  ws__judged_terms judged;
  ws__judge_terms(s->judge, terms, &s->best, &judged);
  s->report->evaluations++;
  if (price(&judged) < price(&s->best) - least_gain &&
      judged.ln_loss <= s->best.ln_loss) {
    ws__judged_terms_deinit(&s->best);
    ws_arena_destroy(s->best_arena);
    s->best = judged;
    s->best_arena = owned_arena;
    s->report->accepted++;
    return;
  }
  ws__judged_terms_deinit(&judged);
  ws_arena_destroy(owned_arena);
}

static ws_status read_and_judge(search *s, const char *text, const char *from,
                                ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  const ws_time_terms *terms;
  const ws_status status = ws_time_terms_parse(arena, s->input->problem, text,
                                               from, &terms, diag);
  if (status == WS_OK)
    judge_terms(s, arena, terms);
  else
    ws_arena_destroy(arena);
  return status;
}

static const char *join(ws_arena *arena, const char *const *texts, int count) {
  const char *out = "";
  for (int i = 0; i < count; i++)
    out = ws_arena_printf(arena, "%s%s\n", out,
                          ws__rewrite_term(arena, texts[i]));
  return out;
}

static void try_change(search *s) {
  ws_arena *arena = ws_arena_create();
  ws_diag none;
  const ws_time_terms *present = s->best.terms;
  const char *text = ws__mutate_terms(arena, &s->vocabulary, &s->rng,
                                      present->written, present->count);
  if (strcmp(text, join(arena, present->written, present->count)))
    (void)!read_and_judge(s, text, "change", &none);
  ws_arena_destroy(arena);
}

/* ---- who is asked ---- */

static const ws_terms_miss *find_misses(const search *s, ws_arena *arena,
                                        int *out_count) {
  ws__miss found[MISSES_SHOWN];
  ws_terms_miss *misses = ws_arena_alloc(arena, sizeof *misses * MISSES_SHOWN);
  *out_count = ws__judge_misses(s->judge, &s->best, found, MISSES_SHOWN);
  for (int i = 0; i < *out_count; i++)
    misses[i] = (ws_terms_miss){
        .shape = *found[i].shape,
        .chosen = s->input->entries[s->columns[found[i].chosen]].candidate,
        .best = s->input->entries[s->columns[found[i].best]].candidate,
        .chosen_us = found[i].chosen_us,
        .best_us = found[i].best_us};
  return misses;
}

static const char *join_names(ws_arena *arena, const ws__vocabulary *of) {
  const char *out = "";
  for (int i = 0; i < of->count; i++)
    out = ws_arena_printf(arena, "%s%s%s", out, i ? " " : "", of->names[i]);
  return out;
}

/* The answer as it is, then each of its terms beside the present ones. */
static void judge_answer(search *s, ws_arena *arena, const char *answer,
                         const char *from) {
  ws_diag why = {""};
  const ws_time_terms *given;
  if (ws_time_terms_parse(arena, s->input->problem, answer, from, &given,
                          &why) != WS_OK) {
    s->report->refused++;
    s->report->refusal = ws_arena_strdup(s->arena, why.text);
    return;
  }
  (void)!read_and_judge(s, join(arena, given->written, given->count), from,
                        &why);
  for (int t = 0; t < given->count; t++) {
    const ws_time_terms *present = s->best.terms;
    const char *more = ws_arena_printf(
        arena, "%s%s\n", join(arena, present->written, present->count),
        ws__rewrite_term(arena, given->written[t]));
    if (present->count < WS_TIME_TERMS_MOST)
      (void)!read_and_judge(s, more, from, &why);
  }
}

static ws_status ask(search *s, ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  ws_terms_question question = {
      .number = s->report->answers,
      .terms = join(arena, s->best.terms->written, s->best.terms->count),
      .ln_loss = s->best.ln_loss,
      .names = join_names(arena, &s->vocabulary)};
  question.misses = find_misses(s, arena, &question.miss_count);
  const char *answer = NULL;
  const ws_status status = s->options->ask(s->options->context, arena,
                                           &question, &answer, diag);
  s->report->answers++;
  if (status == WS_OK && answer)
    judge_answer(s, arena, answer,
                 ws_arena_printf(arena, "answer %d", s->report->answers));
  ws_arena_destroy(arena);
  return status;
}

/* ---- the search ---- */

static ws_status begin(search *s, ws_diag *diag) {
  const char *first =
      s->input->terms
          ? join(s->arena, s->input->terms->written, s->input->terms->count)
          : ws_time_terms_default();
  const ws_time_terms *terms;
  s->best_arena = ws_arena_create();
  WS_TRY(ws_time_terms_parse(s->best_arena, s->input->problem, first, "terms",
                             &terms, diag));
  s->judge = ws__judge_create(s->selection, s->fold, FOLDS);
  ws__judge_terms(s->judge, terms, NULL, &s->best);
  s->report->ln_loss_before = s->best.ln_loss;
  s->vocabulary =
      ws__vocabulary_of(s->arena, s->input->problem, s->input->entries,
                        s->columns, s->report->kernel_count);
  return WS_OK;
}

static ws_status run(search *s, ws_diag *diag) {
  const ws_evolve_options *o = s->options;
  const int questions = o->ask ? o->questions : 0;
  WS_TRY(begin(s, diag));
  for (int64_t i = 0; i < o->evaluations; i++) {
    /* Question q comes at evaluation q / questions of all. */
    while (s->report->answers < questions &&
           s->report->answers * o->evaluations <= i * questions)
      WS_TRY(ask(s, diag));
    try_change(s);
  }
  return WS_OK;
}

/* ---- the report ---- */

static ws_status judge_unseen(search *s, const ws_time_terms *terms,
                              const ws_matrix *expected,
                              const ws_matrix *filled, ws_band *bands,
                              ws_diag *diag) {
  ws_selection_input input = *s->input;
  input.terms = terms;
  if (input.max_leaves <= 0)
    input.max_leaves = WS__DEFAULT_LEAVES;
  const ws__portfolio portfolio =
      ws__portfolio_of(s->arena, &input, expected, filled, s->columns,
                       s->report->kernel_count);
  return ws__bands_judge_once(s->arena, &portfolio, s->unseen, bands,
                              &s->report->band_count, diag);
}

static ws_status report(search *s, ws_diag *diag) {
  const ws_time_terms *before = s->input->terms, *after;
  const char *text =
      join(s->arena, s->best.terms->written, s->best.terms->count);
  if (!before)
    WS_TRY(ws_time_terms_parse(s->arena, s->input->problem,
                               ws_time_terms_default(), "terms", &before,
                               diag));
  WS_TRY(ws_time_terms_parse(s->arena, s->input->problem, text, "terms", &after,
                             diag));
  s->report->terms = text;
  s->report->term_count = after->count;
  s->report->ln_loss_after = s->best.ln_loss;
  /* What was not timed is foreseen by the terms before in both, so that these
   * differ by what they choose alone. */
  ws_selection_input input = *s->input;
  ws_matrix expected, filled;
  input.terms = before;
  WS_TRY(ws_time_models_fill(s->arena, &input, &expected, &filled, diag));
  WS_TRY(judge_unseen(s, before, &expected, &filled, s->report->before, diag));
  return judge_unseen(s, after, &expected, &filled, s->report->after, diag);
}

ws_status ws_terms_evolve(ws_arena *arena, const ws_selection_input *input,
                          const ws_evolve_options *options,
                          ws_evolve_report *out_report, ws_diag *diag) {
  search s = {.arena = arena,
              .input = input,
              .options = options,
              .report = out_report};
  *out_report = (ws_evolve_report){.terms = "", .refusal = ""};
  ws_rng_init(&s.rng, options->seed);
  WS_TRY(split(&s, diag));
  WS_TRY(choose_portfolio(&s, diag));
  ws_status status = run(&s, diag);
  if (status == WS_OK)
    status = report(&s, diag);
  ws__judged_terms_deinit(&s.best);
  ws__judge_destroy(s.judge);
  if (s.best_arena)
    ws_arena_destroy(s.best_arena);
  return status;
}
