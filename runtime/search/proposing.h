/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What requests follow from, beside what is known: the strategy with its state,
 * repairs and small moves that are due, what was drawn before, and the random
 * numbers.
 */
#ifndef WAVESMITH_SEARCH_PROPOSING_H
#define WAVESMITH_SEARCH_PROPOSING_H

#include "strategy.h"

/* Written by propose.c; applied_ids by apply.c. */
typedef struct ws__proposing {
  const ws__strategy *strategy; /* NULL: requests come from outside */
  void *state;                  /* the strategy's */
  ws_rng rng;
  ws__seen seen;        /* candidates proposed so far, in flight included */
  ws__seen applied_ids; /* those of jobs that are applied */
  int64_t candidates;   /* requests so far that want one, small moves aside */
  bool no_more;         /* nothing is left to ask */
} ws__proposing;

/* Requests that are due, first in first out: applying adds, proposing takes. */
typedef struct ws__due {
  ws__request *items;
  int begin, end, capacity;
} ws__due;

void ws__due_push(ws__due *due, ws_arena *arena, const ws__request *request);
bool ws__due_pop(ws__due *due, ws__request *out_request);

/* One ascent by small moves (moves.c). */
typedef struct ws__climb {
  int best;  /* result that its wave is around */
  int next;  /* the best of the wave so far; `best`: none is better */
  int open;  /* moves of the wave without result */
  int waves; /* begun so far */
} ws__climb;

typedef struct ws__moves {
  ws__climb *climbs;
  int count, capacity;
  ws__due due;
} ws__moves;

#endif
