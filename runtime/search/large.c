/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Aims and worths on a large set. Which shapes a request is timed on: sample.c.
 */
#include "large.h"
#include "strategies.h"

#include <math.h>
#include <string.h>

enum {
  LOOKED_AT = 4, /* shapes that a point is judged on: the target and nearest */
  NEAR = 8       /* timed shapes that parents and known kernels come from */
};
/* Timing a known kernel on further shapes costs no build, but as many times as
 * a new one. */
static const double least_further = 0.02;

ws__large *ws__large_create(ws_arena *arena, const ws_shape *shapes, int count,
                            const double *limit_us) {
  ws__large *large = ws_arena_alloc(arena, sizeof *large);
  const ws__ground *ground = ws__ground_create(arena, shapes, count, limit_us);
  *large = (ws__large){.ground = ground,
                       .standing = ws__standing_create(arena, ground),
                       .transfer = ws__transfer_create(arena, ground)};
  return large;
}

double ws__large_score(const ws__large *large, const double *us) {
  double sum = 0;
  int count = 0;
  for (int s = 0; us && s < large->ground->count; s++) {
    if (!isfinite(us[s]))
      continue;
    const double other = ws__standing_us(large->standing, s);
    sum += isnan(other) ? 0 : log(other / us[s]);
    count++;
  }
  return count ? sum / count : -INFINITY;
}

static bool has_time(const ws__large *large, const double *us) {
  for (int s = 0; us && s < large->ground->count; s++)
    if (isfinite(us[s]))
      return true;
  return false;
}

void ws__large_learn(ws__large *large, const ws__space *space,
                     const ws_candidate *candidate, const ws__result *result) {
  const bool timed = has_time(large, result->us);
  ws__transfer_learn(large->transfer, space, candidate, result->id,
                     result->request.sample, timed ? result->us : NULL);
  for (int s = 0; timed && s < large->ground->count; s++)
    if (isfinite(result->us[s]))
      ws__standing_learn(large->standing, s, result->us[s]);
}

/* ---- where a request aims ---- */
static double weight_of(const ws__knowledge *k, int shape) {
  return ws__standing_loss(k->large->standing, shape) / (1 + k->stale[shape]);
}

int ws__large_draw_target(const ws__knowledge *k, ws_rng *rng) {
  double total = 0;
  for (int s = 0; s < k->shape_count; s++)
    total += weight_of(k, s);
  if (!(total > 0))
    return (int)ws_rng_below(rng, (uint64_t)k->shape_count);
  double draw = ws_rng_double(rng) * total;
  int target = -1;
  for (int s = 0; s < k->shape_count && draw >= 0; s++)
    if (weight_of(k, s) > 0) {
      target = s;
      draw -= weight_of(k, s);
    }
  return target;
}

/* The nearest shapes to the target that have a parent. Returns how many. */
static int find_near(const ws__knowledge *k, int target, int out[NEAR]) {
  int count = 0;
  ws_arena *arena = ws_arena_create();
  int *order = ws_arena_alloc(arena, sizeof *order * (size_t)k->shape_count);
  ws__ground_nearest(k->large->ground, target, k->shape_count, order);
  for (int i = 0; i < k->shape_count && count < NEAR; i++)
    if (k->best[order[i]][0] >= 0)
      out[count++] = order[i];
  ws_arena_destroy(arena);
  return count;
}

int ws__large_draw_parent(const ws__knowledge *k, int target, ws_rng *rng) {
  int near[NEAR], place = 0;
  const int count = find_near(k, target, near);
  while (place + 1 < count && ws_rng_below(rng, 2))
    place++;
  return count ? ws__draw_of_best(k->best[near[place]], rng) : -1;
}

int ws__large_find_further(const ws__knowledge *k, int target) {
  const ws__large *large = k->large;
  int near[NEAR], found = -1;
  const int count = find_near(k, target, near);
  const double now_us = ws__standing_us(large->standing, target);
  double most = least_further;
  for (int i = 0; i < count; i++) {
    const int result = k->best[near[i]][0];
    const ws_candidate *candidate = k->results[result].candidate;
    const ws__space *space = ws__knowledge_space(k, candidate->tmpl);
    if (ws__transfer_knows(large->transfer, candidate->id.hex, target) ||
        ws_candidate_broken_require(candidate, &large->ground->shapes[target],
                                    NULL) >= 0)
      continue;
    ws__transfer_fit(large->transfer, space, target);
    const ws__belief belief =
        ws__transfer_believe(large->transfer, space, candidate, target);
    const double gain =
        belief.deviation > 0 ? ws__belief_gain(&belief, now_us) : 0;
    if (gain > most) {
      most = gain;
      found = result;
    }
  }
  return found;
}

/* ---- what a point is worth ---- */
/* Of each shape looked at that takes it: weighed by nearness. */
static double look(ws__large *large, const ws__space *space,
                   const ws_candidate *candidate, int target,
                   double (*worth)(const ws__belief *belief, double now_us)) {
  const ws__ground *ground = large->ground;
  double sum = 0;
  ws__transfer_fit(large->transfer, space, target);
  const int *near = ws__transfer_order(large->transfer);
  for (int i = 0; i < LOOKED_AT && i < ground->count; i++) {
    if (ws_candidate_broken_require(candidate, &ground->shapes[near[i]],
                                    NULL) >= 0)
      continue;
    const ws__belief belief =
        ws__transfer_believe(large->transfer, space, candidate, near[i]);
    sum += ws__ground_nearness(ground, target, near[i]) *
           worth(&belief, ws__standing_us(large->standing, near[i]));
  }
  return sum;
}

static double gain_of(const ws__belief *belief, double now_us) {
  return belief->deviation > 0 && isfinite(now_us)
             ? ws__belief_gain(belief, now_us)
             : 0;
}

static double doubt_of(const ws__belief *belief, double now_us) {
  (void)now_us;
  return fabs(belief->deviation);
}

double ws__large_gain(ws__large *large, const ws__space *space,
                      const ws_candidate *candidate, int target) {
  return look(large, space, candidate, target, gain_of);
}

double ws__large_doubt(ws__large *large, const ws__space *space,
                       const ws_candidate *candidate, int target) {
  return look(large, space, candidate, target, doubt_of);
}
