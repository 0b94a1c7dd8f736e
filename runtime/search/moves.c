/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Small moves, so that no model is asked for them: around each template or body
 * that one brought and that was accepted, the gains of its siblings are merged
 * into it and the built-in proposer moves its parameters. That is a wave; the
 * best of a wave, where it gains more than the noise, begins the next around
 * itself. A wave without gain, or the last allowed, ends the climb.
 */
#include "session.h"

#include <math.h>
#include <string.h>

enum { MOST_WAVES = 3, MOST_MERGES = 2 /* of a wave */ };

/* Slower than its parent by more than this is no matter of parameters. */
static const double hopeless = 1.5;

static const ws__result *result_at(const ws_session *s, int index) {
  return &s->knowledge.results[index];
}

/* ---- merging ---- */
/* Both were made of one parent, of one template, and gain over it. */
static bool are_winners(const ws_session *s, int a, int b) {
  const ws__knowledge *k = &s->knowledge;
  int parent = ws__knowledge_compared(k, a);
  if (a == b || parent < 0 || ws__knowledge_compared(k, b) != parent ||
      !ws__knowledge_is_parent(k, b))
    return false;
  const ws__result *of = result_at(s, parent);
  return of->candidate &&
         of->candidate->tmpl == result_at(s, a)->candidate->tmpl &&
         of->candidate->tmpl == result_at(s, b)->candidate->tmpl &&
         result_at(s, a)->score > of->score + k->noise &&
         result_at(s, b)->score > of->score + k->noise;
}

/* The first with the bodies that only the second has changed. */
static const ws_candidate *merge_bodies(ws_arena *arena,
                                        const ws_candidate *parent,
                                        const ws_candidate *first,
                                        const ws_candidate *second) {
  ws_candidate *merged = ws_candidate_copy(arena, first);
  for (int r = 0; r < first->tmpl->region_count; r++)
    if (ws_body_same(&first->bodies[r], &parent->bodies[r]))
      merged->bodies[r] = second->bodies[r];
  return merged;
}

/* The first with what only the second has changed. NULL: that is not legal, or
 * was seen. */
static ws_candidate *merge(ws_session *s, const ws__request *request,
                           const char **out_move) {
  const int index = request->parents[0], sibling = request->parents[1];
  const int from = ws__knowledge_compared(&s->knowledge, index);
  const ws_candidate *parent = result_at(s, from)->candidate,
                     *first = result_at(s, index)->candidate,
                     *second = result_at(s, sibling)->candidate;
  ws__space *space = ws__knowledge_space(&s->knowledge, first->tmpl);
  int before[space->count + 1], a[space->count + 1], b[space->count + 1];
  ws__space_point_of(space, parent, before);
  ws__space_point_of(space, first, a);
  ws__space_point_of(space, second, b);
  for (int i = 0; i < space->count; i++)
    a[i] = a[i] == before[i] ? b[i] : a[i];
  if (!ws__space_is_legal(space, a))
    return NULL;
  ws_candidate *merged = ws__space_candidate_on(
      space, s->arena, a, merge_bodies(s->arena, parent, first, second));
  *out_move = ws_arena_printf(s->arena, "with what %.8s gained",
                              result_at(s, sibling)->id);
  return ws__seen_contains(&s->proposing.seen, &merged->id) ? NULL : merged;
}

/* ---- waves ---- */
static void push(ws_session *s, int climb, ws_request_kind kind, int sibling) {
  const int best = s->moves.climbs[climb].best;
  const ws__request request = {
      .kind = kind,
      .parents = {best, sibling},
      .target = s->knowledge.large ? result_at(s, best)->request.target : -1,
      .island = result_at(s, best)->request.island,
      .region = -1,
      .guided = true,
      .climb = climb + 1,
      .plan = "",
      .origin = "moves",
      .member = -1};
  ws__due_push(&s->moves.due, s->arena, &request);
  s->moves.climbs[climb].open++;
  s->knowledge.moves_open++;
}

static void begin_wave(ws_session *s, int index) {
  ws__climb *climb = &s->moves.climbs[index];
  int left = s->options->small_moves;
  climb->waves++;
  climb->next = climb->best;
  for (int i = s->knowledge.count, merges = 0;
       i-- && left > 0 && merges < MOST_MERGES;)
    if (are_winners(s, climb->best, i)) {
      push(s, index, WS_REQUEST_CROSSOVER, i);
      merges++, left--;
    }
  for (; left > 0; left--)
    push(s, index, WS_REQUEST_EXPLOIT, -1);
}

static void close_one(ws_session *s, int index) {
  ws__climb *climb = &s->moves.climbs[index];
  s->knowledge.moves_open--;
  if (--climb->open > 0 || climb->next == climb->best ||
      climb->waves == MOST_WAVES)
    return;
  climb->best = climb->next;
  begin_wave(s, index);
}

/* ---- climbs ---- */
/* Parameters alone were the model's own small move. */
static bool begins_climb(const ws_session *s, const ws__job *job, int result) {
  const int parent = ws__knowledge_compared(&s->knowledge, result);
  return s->options->small_moves > 0 && s->proposing.strategy &&
         job->by_model && job->reply &&
         (job->reply->template_code || job->reply->region_count > 0) &&
         result_at(s, result)->verdict == WS_VERDICT_OK &&
         ws__knowledge_is_parent(&s->knowledge, result) &&
         (parent < 0 || result_at(s, result)->score >
                            result_at(s, parent)->score - log(hopeless));
}

static void begin_climb(ws_session *s, int result) {
  ws__moves *moves = &s->moves;
  if (moves->count == moves->capacity) {
    int capacity = moves->capacity ? 2 * moves->capacity : 16;
    ws__climb *larger =
        ws_arena_alloc(s->arena, sizeof *larger * (size_t)capacity);
    if (moves->count)
      memcpy(larger, moves->climbs, sizeof *larger * (size_t)moves->count);
    moves->climbs = larger;
    moves->capacity = capacity;
  }
  moves->climbs[moves->count] = (ws__climb){.best = result};
  begin_wave(s, moves->count++);
}

void ws__moves_learn(ws_session *s, const ws__job *job, int result) {
  if (!job->request.climb) {
    if (begins_climb(s, job, result))
      begin_climb(s, result);
    return;
  }
  const int index = job->request.climb - 1;
  ws__climb *climb = &s->moves.climbs[index];
  double bar = result_at(s, climb->next)->score;
  if (climb->next == climb->best)
    bar += s->knowledge.noise;
  if (ws__knowledge_is_parent(&s->knowledge, result) &&
      result_at(s, result)->score > bar)
    climb->next = result;
  close_one(s, index);
}

/* ---- proposing ---- */
bool ws__moves_are_due(const ws_session *s) {
  return s->moves.due.begin < s->moves.due.end;
}

/* In place of a merge that cannot be, another move. */
static ws_candidate *answer(ws_session *s, ws__request *request,
                            const char **out_move) {
  ws_candidate *candidate = NULL;
  if (request->kind == WS_REQUEST_CROSSOVER)
    candidate = merge(s, request, out_move);
  if (candidate)
    return candidate;
  request->kind = WS_REQUEST_EXPLOIT;
  request->parents[1] = -1;
  return ws__builtin_propose(&s->knowledge, &s->proposing.rng, s->arena,
                             request, &candidate, out_move) == WS__DRAW_FOUND
             ? candidate
             : NULL;
}

bool ws__moves_next(ws_session *s, ws__request *out_request,
                    ws_candidate **out_candidate, const char **out_move) {
  while (ws__due_pop(&s->moves.due, out_request)) {
    *out_candidate = answer(s, out_request, out_move);
    if (*out_candidate)
      return true;
    close_one(s, out_request->climb - 1);
  }
  return false;
}
