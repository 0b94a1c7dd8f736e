/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The terms of time models (time_model.h) as something that is searched for: a
 * set of terms is changed at random, or by who is asked, judged on recorded
 * times, and kept where it loses less on groups of shapes that its models were
 * not fitted on. A group is the shapes that share all sizes but the first.
 *
 * Nested: a third of the groups, drawn by the seed, is seen neither by the fits
 * nor by the judge nor by the choice of the portfolio. What the terms lose
 * there is the report's, and says whether they are better or were lucky.
 *
 * Deterministic: the same matrix, seed and answers give the same terms.
 * Threads: no state outside the arguments.
 */
#ifndef WAVESMITH_EVOLVE_TERMS_H
#define WAVESMITH_EVOLVE_TERMS_H

#include "wavesmith/time_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A shape on which the present terms choose badly. */
typedef struct ws_terms_miss {
  ws_shape shape;
  const ws_candidate *chosen, *best; /* of the portfolio */
  double chosen_us, best_us;
} ws_terms_miss;

/* What who is asked for terms needs to know. */
typedef struct ws_terms_question {
  int number;        /* from 0 */
  const char *terms; /* the present, one a line */
  double ln_loss;    /* of these: mean of ln(time of the choice / best) */
  const ws_terms_miss *misses; /* the worst first */
  int miss_count;
  const char *names; /* what terms may name, with blanks between */
} ws_terms_question;

/* Answers in terms, one a line; NULL: nothing comes. In the arena. A status
 * that is not WS_OK ends the search. */
typedef ws_status ws_terms_ask(void *context, ws_arena *arena,
                               const ws_terms_question *question,
                               const char **out_answer, ws_diag *diag);

typedef struct ws_evolve_options {
  int64_t evaluations; /* sets of terms that are judged */
  uint64_t seed;
  ws_terms_ask *ask; /* NULL: changes at random alone */
  void *context;
  int questions; /* spread over the evaluations */
} ws_evolve_options;

typedef struct ws_evolve_report {
  const char *terms; /* one a line, to be parsed or written to a file */
  int term_count;
  int64_t evaluations, accepted;
  int answers, refused; /* of who was asked; refused: could not be read */
  const char *refusal;  /* of the last, in one line; "" */
  int group_count, seen_groups, shape_count, kernel_count;
  double ln_loss_before, ln_loss_after; /* seen groups, each left out */
  /* Groups that nothing above has seen, by band of the first size; the models
   * of `before` have the terms that were begun with, the other forms are the
   * same in both. */
  ws_band before[WS_BANDS_MOST], after[WS_BANDS_MOST];
  int band_count;
} ws_evolve_report;

/* Begins with input->terms (NULL: the default). WS_INPUT: fewer than six groups
 * of shapes, or none that suffices for a portfolio. */
ws_status ws_terms_evolve(ws_arena *arena, const ws_selection_input *input,
                          const ws_evolve_options *options,
                          ws_evolve_report *out_report,
                          ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
