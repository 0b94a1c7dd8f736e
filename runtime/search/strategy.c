/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The strategies, as a table.
 *
 * random: uniform over the legal points, each once.
 *
 * local: hill-climbing for a portfolio. What counts is the best candidate per
 * shape, so every proposal aims at one shape: drawn with weight
 * 1 / (1 + stale), stale being the proposals that aimed at it in vain since it
 * last improved; shapes that still give get more, none is left out. The parent
 * is one of the few best for that shape (each next one half as likely), moved
 * in one to three dimensions (space.c). Because a candidate is ranked on all
 * shapes, a move made for one often serves others. It begins with a few
 * random points and goes on drawing one now and then, so that it does not stay
 * in the basin of the default.
 */
#include "strategy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_RANDOM = 16 };
static const double restart = 0.1;

/* ---- knowledge ---- */
void ws__knowledge_init(ws__knowledge *knowledge, ws_arena *arena,
                        ws__space *space, ws__seen *seen, int shape_count) {
  *knowledge = (ws__knowledge){
      .arena = arena, .space = space, .seen = seen, .shape_count = shape_count};
  size_t shapes = (size_t)shape_count;
  knowledge->best = ws_arena_alloc(arena, sizeof *knowledge->best * shapes);
  knowledge->stale = ws_arena_alloc(arena, sizeof *knowledge->stale * shapes);
  for (int s = 0; s < shape_count; s++)
    for (int i = 0; i < WS__TOP; i++)
      knowledge->best[s][i] = -1;
}

static double time_of(const ws__knowledge *knowledge, int result, int shape) {
  return result < 0 ? INFINITY : knowledge->results[result].us[shape];
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

static void append(ws__knowledge *knowledge, const ws__result *result) {
  if (knowledge->count == knowledge->capacity) {
    int capacity = knowledge->capacity ? 2 * knowledge->capacity : 256;
    ws__result *results =
        ws_arena_alloc(knowledge->arena, sizeof *results * (size_t)capacity);
    if (knowledge->count)
      memcpy(results, knowledge->results,
             sizeof *results * (size_t)knowledge->count);
    knowledge->results = results;
    knowledge->capacity = capacity;
  }
  knowledge->results[knowledge->count++] = *result;
}

void ws__knowledge_add(ws__knowledge *knowledge, const ws__result *result) {
  append(knowledge, result);
  if (result->target >= 0)
    knowledge->stale[result->target]++;
  if (!result->point)
    return;
  for (int s = 0; s < knowledge->shape_count; s++)
    if (rank(knowledge, knowledge->count - 1, s))
      knowledge->stale[s] = 0;
}

int ws__knowledge_best(const ws__knowledge *knowledge, int shape) {
  int best = -1;
  for (int i = 0; i < knowledge->count; i++)
    if (time_of(knowledge, i, shape) < time_of(knowledge, best, shape))
      best = i;
  return best;
}

double ws__knowledge_geomean(const ws__knowledge *knowledge) {
  double log_sum = 0;
  int count = 0;
  for (int s = 0; s < knowledge->shape_count; s++) {
    double us = time_of(knowledge, knowledge->best[s][0], s);
    if (isfinite(us)) {
      log_sum += log(us);
      count++;
    }
  }
  return count ? exp(log_sum / count) : 0;
}

/* ---- random ---- */
static int *new_point(const ws__space *space, ws_arena *arena) {
  return ws_arena_alloc(arena, sizeof(int) * (size_t)space->count);
}

static ws__draw propose_random(ws__knowledge *knowledge, ws_rng *rng,
                               ws_arena *arena, ws__proposal *out) {
  *out = (ws__proposal){.point = new_point(knowledge->space, arena),
                        .origin = "random",
                        .parent = -1,
                        .target = -1,
                        .move = ""};
  return ws__space_draw(knowledge->space, rng, knowledge->seen, out->point);
}

/* ---- local ---- */
/* A shape that has a candidate, or -1. */
static int draw_target(const ws__knowledge *knowledge, ws_rng *rng) {
  double total = 0;
  for (int s = 0; s < knowledge->shape_count; s++)
    if (knowledge->best[s][0] >= 0)
      total += 1.0 / (1 + knowledge->stale[s]);
  double draw = ws_rng_double(rng) * total;
  int target = -1;
  for (int s = 0; s < knowledge->shape_count; s++)
    if (knowledge->best[s][0] >= 0) {
      target = s;
      draw -= 1.0 / (1 + knowledge->stale[s]);
      if (draw < 0)
        break;
    }
  return target;
}

static int draw_parent(const int best[WS__TOP], ws_rng *rng) {
  int rank_drawn = 0;
  while (rank_drawn + 1 < WS__TOP && best[rank_drawn + 1] >= 0 &&
         ws_rng_below(rng, 2))
    rank_drawn++;
  return best[rank_drawn];
}

static ws__draw propose_local(ws__knowledge *knowledge, ws_rng *rng,
                              ws_arena *arena, ws__proposal *out) {
  bool explore =
      knowledge->seen->count < FIRST_RANDOM || ws_rng_double(rng) < restart;
  int target = explore ? -1 : draw_target(knowledge, rng);
  if (target < 0)
    return propose_random(knowledge, rng, arena, out);
  int parent = draw_parent(knowledge->best[target], rng);
  const int *from = knowledge->results[parent].point;
  int *point = new_point(knowledge->space, arena);
  if (!ws__space_move(knowledge->space, rng, knowledge->seen, from, point))
    return propose_random(knowledge, rng, arena, out); /* all seen around it */
  *out = (ws__proposal){
      .point = point,
      .origin = "local",
      .parent = parent,
      .target = target,
      .move = ws__space_describe_move(knowledge->space, arena, from, point)};
  return WS__DRAW_FOUND;
}

/* ---- the table ---- */
static const ws__strategy strategies[] = {
    {"random", "uniform over the legal points", propose_random},
    {"local", "hill-climbing from the best few of each shape", propose_local},
};

const ws__strategy *ws__strategy_find(const char *name, ws_diag *diag) {
  char list[256] = "";
  size_t used = 0;
  for (size_t i = 0; i < sizeof strategies / sizeof strategies[0]; i++) {
    if (!strcmp(strategies[i].name, name))
      return &strategies[i];
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s (%s)",
                             i ? ", " : "", strategies[i].name,
                             strategies[i].purpose);
  }
  ws_fail(diag, WS_USAGE, NULL, 0, "unknown strategy '%s'; there are: %s", name,
          list);
  return NULL;
}
