/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * refine: one line of improvements, turn by turn. Each request asks for an
 * improvement of the line's best, with the attempts before it in view, and the
 * next waits for its result. After some turns without a gain beyond the noise
 * the line ends; the next begins at the best candidate that began none and
 * stands in another cell than the last line's best, else at the start.
 */
#include "strategies.h"

#include <math.h>
#include <string.h>

enum { STALE_TURNS = 8 };
static const char name[] = "refine";

typedef struct line {
  int best;        /* result; -1: no line yet */
  int stale;       /* turns since it improved */
  bool open;       /* a turn is under way */
  bool *begun;     /* by result: it began a line */
  int begun_count; /* size of begun */
} line;

static void *create(ws_arena *arena, ws__knowledge *knowledge) {
  (void)knowledge;
  line *l = ws_arena_alloc(arena, sizeof *l);
  l->best = -1;
  return l;
}

static void mark_begun(line *l, ws__knowledge *knowledge, int result) {
  if (result >= l->begun_count) {
    int count = 2 * (result + 1);
    bool *larger =
        ws_arena_alloc(knowledge->arena, sizeof *larger * (size_t)count);
    for (int i = 0; i < l->begun_count; i++)
      larger[i] = l->begun[i];
    l->begun = larger;
    l->begun_count = count;
  }
  l->begun[result] = true;
}

static bool may_begin(const line *l, const ws__knowledge *knowledge,
                      int result) {
  const ws__result *candidate = &knowledge->results[result];
  return ws__knowledge_is_parent(knowledge, result) &&
         isfinite(candidate->score) &&
         !(result < l->begun_count && l->begun[result]) &&
         (l->best < 0 ||
          !ws__cell_equal(&candidate->cell, &knowledge->results[l->best].cell));
}

static void begin(line *l, ws__knowledge *knowledge) {
  int best = -1;
  for (int i = 0; i < knowledge->count; i++)
    if (may_begin(l, knowledge, i) &&
        (best < 0 ||
         knowledge->results[i].score > knowledge->results[best].score))
      best = i;
  l->best = best < 0 ? ws__start_result(knowledge) : best;
  l->stale = 0;
  if (l->best >= 0)
    mark_begun(l, knowledge, l->best);
}

static ws__draw next(void *state, ws__knowledge *knowledge, ws_rng *rng,
                     ws__request *out_request) {
  (void)rng;
  line *l = state;
  if (l->open || knowledge->repairs_open > 0 || knowledge->moves_open > 0 ||
      ws__must_wait_for_start(knowledge))
    return WS__DRAW_WAIT;
  if (l->best < 0 || l->stale >= STALE_TURNS)
    begin(l, knowledge);
  *out_request = ws__exploit_request(l->best, -1, name);
  l->open = true;
  return WS__DRAW_FOUND;
}

static void learn(void *state, ws__knowledge *knowledge, int result) {
  line *l = state;
  const ws__result *learned = &knowledge->results[result];
  if (!strcmp(learned->request.origin, name) &&
      learned->request.kind != WS_REQUEST_REPAIR) {
    l->open = false;
    l->stale++;
  }
  if (l->best < 0 || !ws__knowledge_is_parent(knowledge, result))
    return;
  double gain = learned->score - knowledge->results[l->best].score;
  if (gain > knowledge->noise)
    l->stale = 0;
  if (gain > 0)
    l->best = result;
}

const ws__strategy ws__strategy_refine = {
    .name = name,
    .purpose = "one line of improvements, turn by turn",
    .create = create,
    .next = next,
    .learn = learn,
    .uses_cells = true};
