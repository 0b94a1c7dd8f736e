/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What requests follow from, beside what is known: the strategy with its state,
 * repairs that are due, what was drawn before, and the random numbers.
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
  int64_t candidates;   /* requests so far that want one */
  bool no_more;         /* nothing is left to ask */
} ws__proposing;

/* Repairs that are due, first in first out: apply.c adds, propose.c takes. */
typedef struct ws__repairs {
  ws__request *items;
  int begin, end, capacity;
} ws__repairs;

void ws__repairs_push(ws__repairs *repairs, ws_arena *arena,
                      const ws__request *request);
bool ws__repairs_pop(ws__repairs *repairs, ws__request *out_request);

#endif
