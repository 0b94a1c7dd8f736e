/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a run has learned: results in the order in which they were applied, the
 * best few of each shape, scores against the first ranked result, the leader.
 *
 * Only a result whose template has a space can be a parent, so only such enter
 * the lists and lead; a baseline of another template counts as the reference
 * of scores and in ws__knowledge_best.
 */
#include "large.h"
#include "surrogate.h"

#include <math.h>
#include <string.h>

void ws__knowledge_init(ws__knowledge *knowledge, ws_arena *arena,
                        ws__space *space, ws__seen *seen, int shape_count,
                        double noise, int round) {
  size_t shapes = (size_t)shape_count;
  *knowledge = (ws__knowledge){
      .arena = arena,
      .seen = seen,
      .shape_count = shape_count,
      .noise = noise,
      .round = round,
      .best = ws_arena_alloc(arena, sizeof *knowledge->best * shapes),
      .stale = ws_arena_alloc(arena, sizeof *knowledge->stale * shapes),
      .leader = -1,
      .reference = -1,
      .findings = "",
      .surrogate = ws__surrogate_create(arena, shape_count, round)};
  for (int s = 0; s < shape_count; s++)
    for (int i = 0; i < WS__TOP; i++)
      knowledge->best[s][i] = -1;
  ws__knowledge_add_space(knowledge, space);
}

void ws__knowledge_set_large(ws__knowledge *knowledge, const ws_shape *shapes,
                             const double *limit_us) {
  WS_ASSERT(!knowledge->count);
  knowledge->surrogate = NULL;
  knowledge->large = ws__large_create(knowledge->arena, shapes,
                                      knowledge->shape_count, limit_us);
}

ws__space *ws__knowledge_space(const ws__knowledge *knowledge,
                               const ws_template *tmpl) {
  for (int i = 0; i < knowledge->space_count; i++)
    if (knowledge->spaces[i]->tmpl == tmpl)
      return knowledge->spaces[i];
  return NULL;
}

void ws__knowledge_add_space(ws__knowledge *knowledge, ws__space *space) {
  knowledge->spaces =
      ws_arena_grow(knowledge->arena, knowledge->spaces, sizeof(ws__space *),
                knowledge->space_count, &knowledge->space_capacity);
  knowledge->spaces[knowledge->space_count++] = space;
}

/* ---- the best of each shape ---- */
static double time_of(const ws__knowledge *knowledge, int result, int shape) {
  const double *us = result < 0 ? NULL : knowledge->results[result].us;
  return us ? us[shape] : INFINITY;
}

/* A duplicate whose twin is in the list would only take another's place. */
static bool is_listed_twin(const ws__knowledge *knowledge, int result,
                           int shape) {
  if (knowledge->results[result].verdict != WS_VERDICT_DUPLICATE)
    return false;
  for (int i = 0; i < WS__TOP; i++)
    if (time_of(knowledge, result, shape) ==
        time_of(knowledge, knowledge->best[shape][i], shape))
      return true;
  return false;
}

/* Puts result into the sorted list of shape; true when it came first. Equal
 * times keep the earlier one in front. */
static bool rank(ws__knowledge *knowledge, int result, int shape) {
  int *best = knowledge->best[shape];
  int place = WS__TOP;
  if (is_listed_twin(knowledge, result, shape))
    return false;
  while (place > 0 && time_of(knowledge, result, shape) <
                          time_of(knowledge, best[place - 1], shape))
    place--;
  if (place == WS__TOP)
    return false;
  memmove(&best[place + 1], &best[place],
          sizeof *best * (size_t)(WS__TOP - 1 - place));
  best[place] = result;
  return place == 0;
}

/* ---- scores ---- */
static bool has_time(const ws__knowledge *knowledge, int result) {
  for (int s = 0; s < knowledge->shape_count; s++)
    if (isfinite(time_of(knowledge, result, s)))
      return true;
  return false;
}

/* Over the shapes that the reference takes; one that result does not take makes
 * it -INFINITY. */
static double score_of(const ws__knowledge *knowledge, int result) {
  double sum = 0;
  int count = 0;
  if (knowledge->large)
    return ws__large_score(knowledge->large, knowledge->results[result].us);
  if (knowledge->reference < 0)
    return -INFINITY;
  for (int s = 0; s < knowledge->shape_count; s++) {
    double reference = time_of(knowledge, knowledge->reference, s);
    if (isfinite(reference)) {
      sum += log(reference / time_of(knowledge, result, s));
      count++;
    }
  }
  return sum / count;
}

bool ws__knowledge_is_parent(const ws__knowledge *knowledge, int result) {
  const ws_candidate *candidate =
      result < 0 ? NULL : knowledge->results[result].candidate;
  return candidate && ws__knowledge_space(knowledge, candidate->tmpl) &&
         has_time(knowledge, result);
}

static void learn_point(ws__knowledge *knowledge, const ws__result *result) {
  const ws_candidate *candidate = result->candidate;
  const ws__space *space =
      candidate ? ws__knowledge_space(knowledge, candidate->tmpl) : NULL;
  if (!space)
    candidate = NULL;
  if (knowledge->large)
    ws__large_learn(knowledge->large, space, candidate, result);
  else
    ws__surrogate_learn(knowledge->surrogate, space, candidate, result->id,
                        result->us);
}

int ws__knowledge_add(ws__knowledge *knowledge, const ws__result *result) {
  int index = knowledge->count;
  knowledge->results = ws_arena_grow(knowledge->arena, knowledge->results,
                                 sizeof *result, index, &knowledge->capacity);
  knowledge->results[knowledge->count++] = *result;
  ws__result *added = &knowledge->results[index];
  if (added->request.target >= 0)
    knowledge->stale[added->request.target]++;
  if (result->request.kind == WS_REQUEST_DISTIL && result->reply &&
      *result->reply->findings)
    knowledge->findings = result->reply->findings;
  if (knowledge->reference < 0 && has_time(knowledge, index))
    knowledge->reference = index;
  added->score = score_of(knowledge, index);
  learn_point(knowledge, added);
  if (!ws__knowledge_is_parent(knowledge, index))
    return index;
  for (int s = 0; s < knowledge->shape_count; s++)
    if (rank(knowledge, index, s))
      knowledge->stale[s] = 0;
  if (isfinite(added->score) &&
      (knowledge->leader < 0 ||
       added->score > knowledge->results[knowledge->leader].score))
    knowledge->leader = index;
  return index;
}

/* ---- questions ---- */
int ws__knowledge_best(const ws__knowledge *knowledge, int shape) {
  int best = -1;
  for (int i = 0; i < knowledge->count; i++)
    if (time_of(knowledge, i, shape) < time_of(knowledge, best, shape))
      best = i;
  return best;
}

int ws__knowledge_compared(const ws__knowledge *knowledge, int result) {
  int parent = knowledge->results[result].request.parents[0];
  while (parent >= 0 && isinf(knowledge->results[parent].score))
    parent = knowledge->results[parent].request.parents[0];
  return parent;
}

double ws__knowledge_geomean(const ws__knowledge *knowledge) {
  double log_sum = 0;
  int count = 0;
  for (int s = 0; s < knowledge->shape_count; s++) {
    double us = knowledge->large
                    ? ws__standing_us(knowledge->large->standing, s)
                    : time_of(knowledge, knowledge->best[s][0], s);
    if (isfinite(us)) {
      log_sum += log(us);
      count++;
    }
  }
  return count ? exp(log_sum / count) : 0;
}

double ws__knowledge_speedup(const ws__knowledge *knowledge, int a, int b) {
  double log_sum = 0;
  int count = 0;
  for (int s = 0; s < knowledge->shape_count; s++) {
    double ratio = time_of(knowledge, b, s) / time_of(knowledge, a, s);
    if (isfinite(ratio) && ratio > 0) {
      log_sum += log(ratio);
      count++;
    }
  }
  return count ? exp(log_sum / count) : 0;
}
