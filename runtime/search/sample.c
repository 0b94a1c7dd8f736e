/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which shapes of a large set a candidate is timed on. Few, for a set of 600
 * times a candidate's times are what a run costs: where it may gain, which is
 * near the shape that it was made for, and a few elsewhere, without which
 * nothing could be foreseen of it there. The first of these are a race: who
 * loses where it promised most is timed no further.
 */
#include "large.h"

#include <math.h>

enum {
  RACERS = 3,
  PROMISING = 7, /* racers included */
  SPREAD = 5,    /* with them as many as a dispatch wants of a kernel, so that
                  * its models reach further (dispatch/measured.c) */
  SPREAD_OF_START = 12, /* what has no target: a baseline, defaults */
  LOOKED_THROUGH = 32,  /* nearest shapes that the promising are chosen from */
  TRIES = 128           /* of a draw */
};

typedef struct chooser {
  ws__large *large;
  const ws__space *space;
  const ws_candidate *candidate; /* NULL: not known yet */
  int *shapes, count;
} chooser;

static bool is_open(const chooser *c, int shape) {
  for (int i = 0; i < c->count; i++)
    if (c->shapes[i] == shape)
      return false;
  return !c->candidate ||
         (ws_candidate_broken_require(
              c->candidate, &c->large->ground->shapes[shape], NULL) < 0 &&
          !ws__transfer_knows(c->large->transfer, c->candidate->id.hex, shape));
}

static void choose(chooser *c, int shape) { c->shapes[c->count++] = shape; }

/* Beside one that was chosen a shape tells little more. */
static double news_of(const chooser *c, int shape) {
  double nearest = 0;
  for (int i = 0; i < c->count; i++)
    nearest = fmax(nearest,
                   ws__ground_nearness(c->large->ground, shape, c->shapes[i]));
  return 1 - nearest;
}

static double promise_of(const chooser *c, int target, int shape) {
  ws__large *large = c->large;
  if (c->space && c->candidate) {
    const ws__belief belief =
        ws__transfer_believe(large->transfer, c->space, c->candidate, shape);
    const double now_us = ws__standing_us(large->standing, shape);
    if (belief.deviation > 0 && isfinite(now_us))
      return ws__belief_gain(&belief, now_us);
  }
  return ws__ground_nearness(large->ground, target, shape) *
         (1 + ws__standing_loss(large->standing, shape));
}

/* The target, then what promises most. */
static void choose_promising(chooser *c, int target) {
  int near[LOOKED_THROUGH];
  double promise[LOOKED_THROUGH];
  if (c->space)
    ws__transfer_fit(c->large->transfer, c->space, target);
  const int count =
      ws__ground_nearest(c->large->ground, target, LOOKED_THROUGH, near);
  for (int i = 0; i < count; i++)
    promise[i] = is_open(c, near[i]) ? promise_of(c, target, near[i]) : -1;
  if (promise[0] >= 0)
    choose(c, target);
  while (c->count < PROMISING) {
    int best = -1;
    double most = 0;
    for (int i = 0; i < count; i++) {
      const double value = promise[i] * news_of(c, near[i]);
      if (promise[i] >= 0 && is_open(c, near[i]) && value > most) {
        most = value;
        best = i;
      }
    }
    if (best < 0)
      return;
    choose(c, near[best]);
  }
}

static bool has_band(const chooser *c, int band) {
  for (int i = 0; i < c->count; i++)
    if (ws__ground_band(&c->large->ground->shapes[c->shapes[i]]) == band)
      return true;
  return false;
}

/* In bands that have none, as long as there are such. */
static void choose_spread(chooser *c, ws_rng *rng, int most) {
  const ws__ground *ground = c->large->ground;
  const int end = c->count + most;
  for (int i = 0; i < TRIES && c->count < end; i++) {
    const int shape = (int)ws_rng_below(rng, (uint64_t)ground->count);
    const bool new_band = !has_band(c, ws__ground_band(&ground->shapes[shape]));
    if ((new_band || i >= TRIES / 2) && is_open(c, shape))
      choose(c, shape);
  }
}

void ws__large_give_sample(ws__large *large, const ws__space *space,
                           ws_rng *rng, ws_arena *arena,
                           const ws_candidate *candidate,
                           ws__request *request) {
  chooser c = {.large = large,
               .space = space,
               .candidate = candidate,
               .shapes =
                   ws_arena_alloc(arena, sizeof(int) * (PROMISING + SPREAD +
                                                        SPREAD_OF_START))};
  if (request->target >= 0)
    choose_promising(&c, request->target);
  const int racers = request->further ? 0 : c.count < RACERS ? c.count : RACERS;
  if (!request->further)
    choose_spread(&c, rng, request->target < 0 ? SPREAD_OF_START : SPREAD);
  ws__sample *sample = ws_arena_alloc(arena, sizeof *sample);
  *sample =
      (ws__sample){.shapes = c.shapes, .count = c.count, .racers = racers};
  request->sample = sample;
  if (space && candidate)
    ws__transfer_expect(large->transfer, space, candidate, request->sample);
}
