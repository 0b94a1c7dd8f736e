/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the strategies share.
 */
#ifndef WAVESMITH_SEARCH_STRATEGIES_H
#define WAVESMITH_SEARCH_STRATEGIES_H

#include "strategy.h"

extern const ws__strategy ws__strategy_random, ws__strategy_local,
    ws__strategy_best_of_n, ws__strategy_refine, ws__strategy_evolve,
    ws__strategy_scientist;

/* A slow start: the less is known, the fewer requests are open, for what is
 * asked blindly teaches least. Not so in rounds, where waiting wins nothing. */
typedef struct ws__pace {
  int asked, answered;
} ws__pace;
bool ws__pace_must_wait(const ws__pace *pace, const ws__knowledge *knowledge);

/* A request without parents and aim. */
ws__request ws__request_of(ws_request_kind kind, const char *origin);
/* What a run begins with: its first parent. -1: none yet. */
int ws__start_result(const ws__knowledge *knowledge);
/* Nothing is known yet, but something was proposed: its result will come. */
bool ws__must_wait_for_start(const ws__knowledge *knowledge);
/* A shape that has a parent, with weight 1 / (1 + stale); -1: there is none. */
int ws__draw_target(const ws__knowledge *knowledge, ws_rng *rng);
/* One of the best few of a list, each next one half as likely; -1: it is
 * empty. */
int ws__draw_of_best(const int best[WS__TOP], ws_rng *rng);
/* An exploit request, or explore when there is no parent. */
ws__request ws__exploit_request(int parent, int target, const char *origin);

#endif
