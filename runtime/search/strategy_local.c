/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * local: hill-climbing for a portfolio. What counts is the best candidate per
 * shape, so every request aims at one shape: drawn with weight
 * 1 / (1 + stale), stale being the requests that aimed at it in vain since it
 * last improved; shapes that still give get more, none is left out. The parent
 * is one of the few best for that shape. Because a candidate is ranked on all
 * shapes, a move made for one often serves others. It begins with a few random
 * points and goes on drawing one now and then, so that it does not stay in the
 * basin of the default.
 */
#include "strategies.h"

enum { FIRST_RANDOM = 16 };
static const double restart = 0.1;

static void *create(ws_arena *arena, ws__knowledge *knowledge) {
  (void)knowledge;
  return ws_arena_alloc(arena, sizeof(int));
}

static ws__draw next(void *state, ws__knowledge *knowledge, ws_rng *rng,
                     ws__request *out_request) {
  int *asked = state;
  bool explore = (*asked)++ < FIRST_RANDOM || ws_rng_double(rng) < restart;
  int target = explore ? -1 : ws__draw_target(knowledge, rng);
  *out_request =
      target < 0
          ? ws__request_of(WS_REQUEST_EXPLORE, "random")
          : ws__exploit_request(ws__draw_of_best(knowledge->best[target], rng),
                                target, "local");
  out_request->guided = true;
  return WS__DRAW_FOUND;
}

static void learn(void *state, ws__knowledge *knowledge, int result) {
  (void)state, (void)knowledge, (void)result;
}

const ws__strategy ws__strategy_local = {
    .name = "local",
    .purpose = "hill-climbing from the best few of each shape",
    .create = create,
    .next = next,
    .learn = learn};
