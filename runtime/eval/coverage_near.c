/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The shapes that `wavesmith check` runs a kernel on: few, and chosen by its
 * own branches first. Each is kept only for something that none before it has,
 * so a kernel with few branches costs little; what does not fit into the work
 * that is allowed is left to ws_coverage_gaps to name.
 */
#include "coverage_internal.h"

#include <string.h>

enum {
  BESIDE_STEPS = 4, /* of extents that do not matter */
  FEW_REMAINDERS = 64
};
/* What a simulator does within a second or so. */
static const double most_flops = 3e8, most_bytes = 3e7, most_workgroups = 4200;
static const double most_compared_flops = 1e8;
/* Of what no branch asks for, together: 40 ms with matrix instructions. */
static const double most_extra = 4e8, work_a_workgroup = 4e6;

typedef struct near {
  ws__planner planner;
  const ws_coverage_subject *subject;
  const ws_decisions *decisions;
  const ws_tried *tried; /* before */
  int tried_count;
  ws__aspects *seen; /* of each decision */
  double left;       /* of the work for what is extra; 0: no limit */
} near;

static bool is_there(const near *n, const ws_shape *shape, int striding) {
  for (int i = 0; i < n->planner.out->count; i++) {
    const ws_covered *one = &n->planner.out->cases[i];
    if (one->striding == striding && ws_shape_same(&one->shape, shape))
      return true;
  }
  return false;
}

static void note(near *n, const ws_tried *tried) {
  for (int i = 0; i < n->decisions->count; i++)
    ws__decision_add(n->subject, &n->decisions->items[i], tried, &n->seen[i]);
}

static bool is_affordable(near *n, const ws_shape *shape, int striding) {
  double flops = ws__planner_flops(&n->planner, shape);
  double workgroups = ws__coverage_workgroups(n->subject->candidate, shape);
  double work = flops + workgroups * work_a_workgroup;
  if (flops > most_flops || workgroups > most_workgroups ||
      ws__planner_bytes(&n->planner, shape, striding) > most_bytes ||
      (n->left > 0 && work >= n->left))
    return false;
  n->left -= n->left > 0 ? work : 0;
  return true;
}

/* Whether it is among the cases now. */
static bool add(near *n, const ws_shape *shape, int striding) {
  if (is_there(n, shape, striding))
    return true;
  if (!ws__coverage_takes(n->subject->problem, n->subject->candidate, shape) ||
      !is_affordable(n, shape, striding))
    return false;
  const ws_tried tried = {.shape = *shape, .striding = striding};
  bool sampled =
      ws_problem_flops(n->subject->problem, shape) > most_compared_flops;
  /* Extreme contents may hide what is wrong with the only shape of its kind. */
  ws__planner_add(&n->planner, shape, striding, sampled)->seed &=
      ~WS_HARD_INPUTS;
  note(n, &tried);
  return true;
}

/* ---- branches ---- */

/* What is small varies, where that changes nothing. */
static ws_shape varied(near *n, const ws__decision *d, int bit) {
  ws_shape out = d->least[bit];
  for (int i = 0; i < out.dims->count; i++)
    if (out.size[i] == n->subject->problem->least.size[i])
      out.size[i] += n->subject->problem->step.size[i] *
                     (int64_t)ws_rng_below(&n->planner.rng, BESIDE_STEPS);
  const ws_tried tried = {.shape = out};
  ws__aspects found = {{0}};
  if (!ws__coverage_takes(n->subject->problem, n->subject->candidate, &out))
    return d->least[bit];
  ws__decision_add(n->subject, d, &tried, &found);
  return ws__aspect_is_in(&found, bit) ? out : d->least[bit];
}

/* Where an outcome begins, and just before. */
static void add_boundary(near *n, const ws__decision *d, int bit) {
  const ws_problem *problem = n->subject->problem;
  add(n, &d->least[bit], 0);
  for (int i = 0; i < problem->dims->count; i++) {
    ws_shape before = d->least[bit];
    before.size[i] -= problem->step.size[i];
    if (before.size[i] >= problem->least.size[i])
      add(n, &before, 0);
  }
}

static void add_outcomes(near *n, int index, int from, int to) {
  const ws__decision *d = &n->decisions->items[index];
  for (int bit = from; bit < to; bit++) {
    if (!ws__aspect_is_in(&d->can, bit))
      continue;
    if (!d->branch->modulus) {
      add_boundary(n, d, bit);
    } else if (!ws__aspect_is_in(&n->seen[index], bit)) {
      const ws_shape shape = varied(n, d, bit);
      add(n, &shape, 0);
    }
  }
}

static int count_remainders(const ws__decision *d) {
  int count = 0;
  for (int i = 1; i < WS__ASPECT_WORDS; i++)
    count += __builtin_popcountll(d->can.bits[i]);
  return count;
}

/* Of the shapes that have a remainder, summed up; 0: there is none. */
static int64_t extents_of(const ws__decision *d) {
  int64_t sum = 0;
  for (int bit = 64; bit < WS__ASPECTS; bit++)
    for (int i = 0;
         ws__aspect_is_in(&d->can, bit) && i < d->least[bit].dims->count; i++)
      sum += d->least[bit].size[i];
  return sum;
}

/* Of decisions that have no more than so many. Those of the larger shapes come
 * first: others find theirs among them. */
static void add_remainders(near *n, int most) {
  bool done[WS_MAX_BRANCHES] = {false};
  for (;;) {
    int next = -1;
    int64_t largest = 0;
    for (int i = 0; i < n->decisions->count; i++) {
      int64_t extents = extents_of(&n->decisions->items[i]);
      if (!done[i] && extents > largest) {
        next = i;
        largest = extents;
      }
    }
    if (next < 0)
      return;
    done[next] = true;
    if (count_remainders(&n->decisions->items[next]) <= most)
      add_outcomes(n, next, 64, WS__ASPECTS);
  }
}

/* Sides and turns first, then remainders of which there are not too many. */
static void add_branches(near *n) {
  for (int i = 0; i < n->decisions->count; i++)
    add_outcomes(n, i, 0, 64);
  add_remainders(n, FEW_REMAINDERS);
}

/* ---- sizes ---- */

/* An extent beside small ones. */
static bool add_alone(near *n, int dimension, int64_t extent) {
  ws_shape shape = n->subject->problem->least;
  shape.size[dimension] = extent;
  return add(n, &shape, 0);
}

static bool went_as_far(const near *n, int dimension, int64_t extent) {
  for (int i = 0; i < n->tried_count; i++)
    if (n->tried[i].shape.size[dimension] >= extent)
      return true;
  return false;
}

/* Where spots have not been there. */
static void add_set(near *n) {
  const ws_problem *problem = n->subject->problem;
  for (int d = 0; d < problem->dims->count; d++) {
    int64_t largest = ws__coverage_largest_of_set(problem, d);
    if (!went_as_far(n, d, largest))
      add_alone(n, d, largest);
  }
}

/* The other extents of the set, each once. */
static void add_rest_of_set(near *n) {
  const ws_problem *problem = n->subject->problem;
  const ws_shape_set *set = &problem->shape_sets[0];
  for (int d = 0; d < problem->dims->count; d++)
    for (int i = 0; i < set->count; i++)
      add_alone(n, d, set->shapes[i].size[d]);
}

/* As far as is legal, or the half of that, ... */
static void add_far(near *n) {
  const ws_problem *problem = n->subject->problem;
  for (int d = 0; d < problem->dims->count; d++) {
    int64_t step = problem->step.size[d];
    int64_t steps = ws__coverage_largest(n->subject, d) / step;
    while (steps * step > ws__coverage_largest_of_set(problem, d) &&
           !add_alone(n, d, steps * step))
      steps /= 2;
  }
}

/* ---- classes ---- */

static bool is_in(const ws_covered *one, const ws_factor *factor, int class) {
  const ws_class *c = &factor->classes[class];
  int64_t value =
      factor->dim < 0 ? one->striding : one->shape.size[factor->dim];
  return value >= c->low && value <= c->high &&
         value % c->modulus == c->residue;
}

static void add_classes(near *n) {
  const ws_coverage *out = n->planner.out;
  for (int f = out->factor_count - 1; f >= 0; f--)
    for (int c = 0; c < out->factors[f].count; c++) {
      bool there = false;
      for (int i = 0; i < out->count && !there; i++)
        there = is_in(&out->cases[i], &out->factors[f], c);
      ws__row row;
      if (there || !ws__planner_find(&n->planner, f, c, &row))
        continue;
      int striding = (int)out->factors[out->factor_count - 1]
                         .classes[row.classes[out->factor_count - 1]]
                         .low;
      add(n, &row.shape, striding);
    }
}

/* ---- for the sanitizer ---- */

/* Of so many workgroups, tiles taken for full; 0: all. */
static double work_of(const ws_problem *problem, const ws_candidate *candidate,
                      const ws_shape *shape, int spots) {
  const ws__tiles tiles = ws__coverage_tiles(problem, candidate);
  double workgroups = ws__coverage_workgroups(candidate, shape);
  double share = spots && workgroups > spots ? spots / workgroups : 1;
  ws_shape full = *shape;
  for (int d = 0; d < shape->dims->count; d++)
    if (!problem->is_depth[d])
      full.size[d] = (shape->size[d] + tiles.extent[d] - 1) / tiles.extent[d] *
                     tiles.extent[d];
  return share * ws_problem_flops(problem, &full);
}

int ws_coverage_spots(const ws_problem *problem, const ws_candidate *candidate,
                      uint64_t seed, const ws_run *runs, int run_count,
                      ws_run out_runs[WS_MAX_DIMS]) {
  enum { SPOTS = 2 };
  double most = 0;
  int count = 0;
  ws_rng rng;
  ws_rng_init(&rng, seed);
  ws_arena *arena = ws_arena_create();
  const ws_shape least = ws__coverage_problem(arena, problem, candidate)->least;
  ws_arena_destroy(arena);
  for (int i = 0; i < run_count; i++)
    most += work_of(problem, candidate, &runs[i].shape, 0);
  for (int d = 0; d < problem->dims->count; d++) {
    ws_run *run = &out_runs[count];
    *run = (ws_run){.shape = least,
                    .seed = ws_rng_next(&rng) & ~WS_HARD_INPUTS,
                    .spots = SPOTS};
    run->shape.size[d] = ws__coverage_largest_of_set(problem, d);
    count += ws__coverage_takes(problem, candidate, &run->shape) &&
             work_of(problem, candidate, &run->shape, SPOTS) <= most;
  }
  return count;
}

void ws_coverage_near(ws_arena *arena, const ws_coverage_subject *subject,
                      const ws_decisions *decisions, const ws_tried *tried,
                      int tried_count, uint64_t seed, ws_coverage *out) {
  near n = {.subject = subject,
            .decisions = decisions,
            .tried = tried,
            .tried_count = tried_count};
  bool open =
      ws__planner_open(&n.planner, arena, subject, seed, most_flops, out);
  if (!open)
    return;
  n.seen = ws_arena_alloc(arena, sizeof *n.seen * (size_t)decisions->count);
  memset(n.seen, 0, sizeof *n.seen * (size_t)decisions->count);
  for (int i = 0; i < tried_count; i++)
    note(&n, &tried[i]);
  add_branches(&n);
  n.left = most_extra;
  add_set(&n);
  add_far(&n);
  add_classes(&n);
  add_remainders(&n, WS__ASPECTS);
  add_rest_of_set(&n);
}
