/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the search over terms is made of: changes of texts, and the judge.
 */
#ifndef WAVESMITH_EVOLVING_H
#define WAVESMITH_EVOLVING_H

#include "dispatch_internal.h"
#include "wavesmith/evolve_terms.h"

/* ---- changes (mutate.c) ---- */
/* What terms may name here. */
typedef struct ws__vocabulary {
  const char *const *names; /* sizes, the card, then parameters */
  int count, first_parameter;
} ws__vocabulary;
ws__vocabulary ws__vocabulary_of(ws_arena *arena, const ws_problem *problem,
                                 const ws_dispatch_entry *entries,
                                 const int *columns, int count);
/* Terms with one to three changes, one a line: one added, dropped, or replaced
 * in part. Whether they apply is not asked. */
const char *ws__mutate_terms(ws_arena *arena, const ws__vocabulary *vocabulary,
                             ws_rng *rng, const char *const *terms, int count);
/* The term with as few parentheses as it needs, so that equal ones are equal
 * texts. */
const char *ws__rewrite_term(ws_arena *arena, const char *text);
/* Names, numbers and operations of a term. */
int ws__count_parts(const char *text);

/* ---- the judge (judge.c) ---- */
typedef struct ws__judge ws__judge;
typedef struct ws__judged_terms {
  const ws_time_terms *terms;
  double **values;  /* by term: what ws__observations has */
  double loss;      /* what is to fall */
  double ln_loss;   /* mean of ln(time of the choice / best) */
  int *picks;       /* by row; -1: it is not judged */
} ws__judged_terms;

/* Of the selection's portfolio, on all rows of its matrix. fold: by row, in
 * which of the turns it is left out. Both must outlive the judge. */
ws__judge *ws__judge_create(const ws_selection *selection, const int *fold,
                            int fold_count);
void ws__judge_destroy(ws__judge *judge);
/* like: values of the terms that it shares are taken from it (NULL: none). */
void ws__judge_terms(ws__judge *judge, const ws_time_terms *terms,
                     const ws__judged_terms *like, ws__judged_terms *out);
void ws__judged_terms_deinit(ws__judged_terms *judged);
/* At most `most` rows with the largest loss, the worst first, and what was
 * chosen and what is best there, as positions. */
typedef struct ws__miss {
  const ws_shape *shape;
  int chosen, best;
  double chosen_us, best_us;
} ws__miss;
int ws__judge_misses(const ws__judge *judge, const ws__judged_terms *of,
                     ws__miss *out, int most);

#endif
