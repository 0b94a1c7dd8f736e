/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The strategies as a table, the two that keep no state, and what several
 * share.
 *
 * random: explore requests without a parent: uniform over the legal points,
 * each once.
 *
 * best-of-n: explore requests on the start candidate, so that a model sees the
 * same prompt each time and learns nothing between: what evolution is to be
 * measured against. With the built-in proposer it is random.
 */
#include "strategies.h"

#include <stdio.h>
#include <string.h>

/* ---- shared ---- */
enum { FIRST_OPEN = 4, ANSWERS_PER_FURTHER = 4 };

bool ws__pace_must_wait(const ws__pace *pace, const ws__knowledge *knowledge) {
  return !knowledge->round &&
         pace->asked - pace->answered >=
             FIRST_OPEN + pace->answered / ANSWERS_PER_FURTHER;
}

ws__request ws__request_of(ws_request_kind kind, const char *origin) {
  return (ws__request){.kind = kind,
                       .parents = {-1, -1},
                       .target = -1,
                       .region = -1,
                       .plan = "",
                       .origin = origin};
}

int ws__start_result(const ws__knowledge *knowledge) {
  for (int i = 0; i < knowledge->count; i++)
    if (ws__knowledge_is_parent(knowledge, i))
      return i;
  return -1;
}

bool ws__must_wait_for_start(const ws__knowledge *knowledge) {
  return knowledge->count == 0 && knowledge->seen->count > 0;
}

static double weight_of(const ws__knowledge *knowledge, int shape) {
  return knowledge->best[shape][0] < 0 ? 0
                                       : 1.0 / (1 + knowledge->stale[shape]);
}

int ws__draw_target(const ws__knowledge *knowledge, ws_rng *rng) {
  double total = 0;
  for (int s = 0; s < knowledge->shape_count; s++)
    total += weight_of(knowledge, s);
  double draw = ws_rng_double(rng) * total;
  int target = -1;
  for (int s = 0; s < knowledge->shape_count; s++)
    if (weight_of(knowledge, s) > 0) {
      target = s;
      draw -= weight_of(knowledge, s);
      if (draw < 0)
        break;
    }
  return target;
}

int ws__draw_of_best(const int best[WS__TOP], ws_rng *rng) {
  int place = 0;
  while (place + 1 < WS__TOP && best[place + 1] >= 0 && ws_rng_below(rng, 2))
    place++;
  return best[place];
}

ws__request ws__exploit_request(int parent, int target, const char *origin) {
  ws__request request = ws__request_of(
      parent < 0 ? WS_REQUEST_EXPLORE : WS_REQUEST_EXPLOIT, origin);
  request.parents[0] = parent;
  request.target = target;
  request.guided = true;
  return request;
}

/* ---- random, best-of-n ---- */
static ws__draw next_random(void *state, ws__knowledge *knowledge, ws_rng *rng,
                            ws__request *out_request) {
  (void)state, (void)knowledge, (void)rng;
  *out_request = ws__request_of(WS_REQUEST_EXPLORE, "random");
  return WS__DRAW_FOUND;
}

static ws__draw next_best_of_n(void *state, ws__knowledge *knowledge,
                               ws_rng *rng, ws__request *out_request) {
  (void)state, (void)rng;
  if (ws__must_wait_for_start(knowledge))
    return WS__DRAW_WAIT;
  *out_request = ws__request_of(WS_REQUEST_EXPLORE, "best-of-n");
  out_request->parents[0] = ws__start_result(knowledge);
  return WS__DRAW_FOUND;
}

static void *no_state(ws_arena *arena, ws__knowledge *knowledge) {
  (void)arena, (void)knowledge;
  return NULL;
}

static void learn_nothing(void *state, ws__knowledge *knowledge, int result) {
  (void)state, (void)knowledge, (void)result;
}

const ws__strategy ws__strategy_random = {.name = "random",
                                          .purpose =
                                              "uniform over the legal points",
                                          .create = no_state,
                                          .next = next_random,
                                          .learn = learn_nothing};
const ws__strategy ws__strategy_best_of_n = {
    .name = "best-of-n",
    .purpose = "independent rewrites of the start, nothing learned between",
    .create = no_state,
    .next = next_best_of_n,
    .learn = learn_nothing};

/* ---- the table ---- */
static const ws__strategy *const strategies[] = {
    &ws__strategy_random, &ws__strategy_local,  &ws__strategy_best_of_n,
    &ws__strategy_refine, &ws__strategy_evolve, &ws__strategy_scientist};

const ws__strategy *ws__strategy_find(const char *name, ws_diag *diag) {
  char list[sizeof((ws_diag){0}.text) / 2] = "";
  size_t used = 0;
  for (size_t i = 0; i < sizeof strategies / sizeof strategies[0]; i++) {
    if (!strcmp(strategies[i]->name, name))
      return strategies[i];
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s (%s)",
                             i ? ", " : "", strategies[i]->name,
                             strategies[i]->purpose);
    WS_ASSERT(used < sizeof list);
  }
  ws_fail(diag, WS_USAGE, NULL, 0, "unknown strategy '%s'; there are: %s", name,
          list);
  return NULL;
}
