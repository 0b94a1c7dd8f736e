/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A strategy with the built-in proposer against an oracle of times, without
 * engine, compiler and archive: requests stand in a window, or come in rounds,
 * and results are applied in their order, as in tune.c. For tests and benchmarks of strategies.
 */
#ifndef WAVESMITH_TESTS_STRATEGY_LOOP_H
#define WAVESMITH_TESTS_STRATEGY_LOOP_H

#include "large.h"
#include "strategy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* us of a candidate by shape; INFINITY: none. */
typedef void (*loop_oracle)(const void *context, const ws_candidate *candidate,
                            double *out_us);

typedef struct strategy_loop {
  ws_arena *arena;
  ws__space *space;
  ws__seen seen;
  ws__knowledge knowledge;
  const ws__strategy *strategy;
  void *state;
  ws_rng rng;
  loop_oracle oracle;
  const void *context;
  int window;
  bool rounds; /* of `window` requests */
  ws__result waiting[WS__MOST_ROUND]; /* request i at i % WS__MOST_ROUND */
  int asked, applied;
  int64_t times; /* that were asked for */
  bool exhausted;
} strategy_loop;

/* window < 0: rounds of that size. */
static void loop_init(strategy_loop *loop, ws__space *space, int shape_count,
                      const char *strategy, uint64_t seed, int window,
                      loop_oracle oracle, const void *context) {
  ws_diag diag = {""};
  *loop = (strategy_loop){.arena = ws_arena_create(),
                          .space = space,
                          .strategy = ws__strategy_find(strategy, &diag),
                          .oracle = oracle,
                          .context = context,
                          .window = abs(window),
                          .rounds = window < 0};
  WS_ASSERT(loop->strategy);
  ws__knowledge_init(&loop->knowledge, loop->arena, space, &loop->seen,
                     shape_count, 0.01, loop->rounds ? loop->window : 0);
  loop->state = loop->strategy->create(loop->arena, &loop->knowledge);
  ws_rng_init(&loop->rng, seed);
}

static void loop_deinit(strategy_loop *loop) {
  ws__seen_deinit(&loop->seen);
  ws_arena_destroy(loop->arena);
}

/* As the engine (propose.c): a sample of a large set. */
static void loop_judge(strategy_loop *loop, const ws__request *made,
                       const ws_candidate *candidate) {
  ws__request whole = *made, *request = &whole;
  if (loop->knowledge.large)
    ws__large_give_sample(loop->knowledge.large, loop->space, &loop->rng,
                          loop->arena, candidate, request);
  size_t shapes = (size_t)loop->knowledge.shape_count;
  double *us = ws_arena_alloc(loop->arena, sizeof *us * shapes);
  loop->oracle(loop->context, candidate, us);
  for (size_t s = 0; s < shapes; s++)
    if (!ws__sample_has(request->sample, (int)s))
      us[s] = INFINITY;
    else
      loop->times += isfinite(us[s]) != 0;
  ws__seen_add(&loop->seen, &candidate->id);
  loop->waiting[loop->asked++ % WS__MOST_ROUND] =
      (ws__result){.request = *request,
                   .candidate = candidate,
                   .stage = "",
                   .reason = "",
                   .us = us,
                   .cell = ws__cell_of(candidate, NULL, ""),
                   .id = ws_arena_strdup(loop->arena, candidate->id.hex)};
}

/* The default point first, as the engine does. */
static bool loop_ask_start(strategy_loop *loop) {
  int *point =
      ws_arena_alloc(loop->arena, sizeof *point * (size_t)loop->space->count);
  ws__space_default(loop->space, point);
  if (loop->asked > 0 || !ws__space_is_legal(loop->space, point))
    return false;
  ws__request request = {.kind = WS_REQUEST_EXPLORE,
                         .parents = {-1, -1},
                         .target = -1,
                         .region = -1,
                         .plan = "",
                         .origin = "default"};
  const ws_candidate **start = ws_arena_alloc(loop->arena, sizeof *start);
  *start = ws__space_candidate(loop->space, loop->arena, point);
  loop->knowledge.starts = start;
  loop->knowledge.start_count = 1;
  loop_judge(loop, &request, *start);
  return true;
}

/* False: the strategy waits, or there is nothing left. */
static bool loop_ask(strategy_loop *loop) {
  ws__request request;
  ws_candidate *candidate;
  const char *move;
  if (loop_ask_start(loop))
    return true;
  if (loop->strategy->next(loop->state, &loop->knowledge, &loop->rng,
                           &request) != WS__DRAW_FOUND)
    return false;
  if (request.further) {
    loop_judge(loop, &request,
               loop->knowledge.results[request.further - 1].candidate);
    return true;
  }
  if (ws__builtin_propose(&loop->knowledge, &loop->rng, loop->arena, &request,
                          &candidate, &move) != WS__DRAW_FOUND) {
    loop->exhausted = true;
    return false;
  }
  loop_judge(loop, &request, candidate);
  return true;
}

/* Applies one result; NULL: there is none left. */
static const ws__result *loop_step(strategy_loop *loop) {
  while (!loop->exhausted && loop->asked - loop->applied < loop->window &&
         (!loop->rounds || loop->applied % loop->window == 0))
    if (!loop_ask(loop))
      break;
  if (loop->applied == loop->asked)
    return NULL;
  int index = ws__knowledge_add(&loop->knowledge,
                                &loop->waiting[loop->applied++ % WS__MOST_ROUND]);
  loop->strategy->learn(loop->state, &loop->knowledge, index);
  return &loop->knowledge.results[index];
}

#endif
