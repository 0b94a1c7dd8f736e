/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * local: hill-climbing for a portfolio. What counts is the best candidate per
 * shape, so every request aims at one shape: drawn with weight
 * 1 / (1 + stale), stale being the requests that aimed at it in vain since it
 * last improved; shapes that still give get more, none is left out. The parent
 * is one of the few best for that shape. Because a candidate is ranked on all
 * shapes, a move made for one often serves others; the built-in proposer picks
 * moves by what they promise for all (surrogate.h). It begins with a few points
 * that lie far apart and goes on drawing one now and then, so that it does not
 * stay in the basin of the default.
 *
 * On a large set a request aims where the portfolio loses most, and the parent
 * is one of the few best of that shape or of one near it. Where a kernel that
 * is known promises more there than the portfolio has, it is timed on further
 * shapes, which needs no new one.
 */
#include "large.h"
#include "strategies.h"

#include <string.h>

enum { FIRST_RANDOM = 6 };
static const double restart = 0.1;
static const char name[] = "local";

static void *create(ws_arena *arena, ws__knowledge *knowledge) {
  (void)knowledge;
  return ws_arena_alloc(arena, sizeof(ws__pace));
}

static ws__request aim_in_large(const ws__knowledge *knowledge, ws_rng *rng,
                                bool explore) {
  const int target = ws__large_draw_target(knowledge, rng);
  const int known = explore ? -1 : ws__large_find_further(knowledge, target);
  const int parent = explore || known >= 0
                         ? known
                         : ws__large_draw_parent(knowledge, target, rng);
  ws__request request = ws__exploit_request(parent, target, name);
  request.further = known + 1;
  return request;
}

static ws__request aim(const ws__knowledge *knowledge, ws_rng *rng,
                       bool explore) {
  int target = explore ? -1 : ws__draw_target(knowledge, rng);
  int parent = target < 0 ? -1 : ws__draw_of_best(knowledge->best[target], rng);
  return ws__exploit_request(parent, target, name);
}

static ws__draw next(void *state, ws__knowledge *knowledge, ws_rng *rng,
                     ws__request *out_request) {
  ws__pace *pace = state;
  if (ws__pace_must_wait(pace, knowledge))
    return WS__DRAW_WAIT;
  bool explore = pace->asked < FIRST_RANDOM || ws_rng_double(rng) < restart;
  *out_request = knowledge->large ? aim_in_large(knowledge, rng, explore)
                                  : aim(knowledge, rng, explore);
  pace->asked++;
  return WS__DRAW_FOUND;
}

static void learn(void *state, ws__knowledge *knowledge, int result) {
  ws__pace *pace = state;
  const ws__request *request = &knowledge->results[result].request;
  pace->answered +=
      !strcmp(request->origin, name) && request->kind != WS_REQUEST_REPAIR;
}

const ws__strategy ws__strategy_local = {
    .name = name,
    .purpose = "hill-climbing from the best few of each shape",
    .create = create,
    .next = next,
    .learn = learn};
