/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A cost-aware bandit over arms (member x kind of request x region): which
 * model is asked for what. docs/search.md has the maths.
 */
#ifndef WAVESMITH_SEARCH_BANDIT_H
#define WAVESMITH_SEARCH_BANDIT_H

#include "wavesmith/llm.h"

typedef struct ws__arm {
  int member;
  ws_request_kind kind;
  const char *region; /* "": any */
} ws__arm;

typedef struct ws__bandit ws__bandit;
/* weights: by member, the prior. In the arena. */
ws__bandit *ws__bandit_create(ws_arena *arena, const double *weights,
                              int member_count);
/* Picks the member for a kind and region; counts as begun, so that what is in
 * flight is known. Draws from rng the same number of times whatever it picks.
 * allowed: by member. */
int ws__bandit_pick(ws__bandit *bandit, ws_rng *rng, const bool *allowed,
                    ws_request_kind kind, const char *region);
/* Which of several regions is worth asking for; -1 when there is none. weights:
 * the prior, in any unit; 0: never. */
int ws__bandit_pick_region(ws__bandit *bandit, ws_rng *rng,
                           ws_request_kind kind, const char *const *regions,
                           const double *weights, int count);
/* reward: ln of the speed-up over the parent, below 0 counts as 0. */
void ws__bandit_learn(ws__bandit *bandit, const ws__arm *arm, double reward,
                      double usd);

#endif
