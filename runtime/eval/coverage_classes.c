/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Classes of extents. A tile's edges are found by asking the launch rule where
 * its grid grows, so that no parameter needs a name; what the code compares an
 * extent with, or divides it by, comes with the build's facts. Residues are
 * taken of the least common multiple of all these, so that one list of them has
 * the residues of each.
 */
#include "coverage_internal.h"

#include <string.h>

enum {
  CU_COUNT = 304,       /* where a grid depends on it */
  MOST_RESIDUES = 32,   /* of an edge, in steps */
  MOST_GRAINS = 16,     /* of one with more */
  MOST_TILE_STEPS = 64, /* or so much, whichever is more: */
  MOST_TILE = 1024,
  DEPTH = 4, /* stages of a pipeline, where the code says nothing */
  MOST_DEPTH = 12,
  LARGE_RESIDUES = 8, /* of numbers of blocks, at least */
  MOST_LARGE_RESIDUES = 16
};
/* Numbers of blocks beyond which code often does something else: a counter of
 * seven bits, a table of 64 or 128 entries. */
static const int64_t deep[] = {64, 128};

/* ---- the launch rule ---- */

double ws__coverage_workgroups(const ws_candidate *candidate,
                               const ws_shape *shape) {
  const ws_template *tmpl = candidate->tmpl;
  ws_arena *arena = ws_arena_create();
  ws_scope scope = ws_candidate_scope(arena, candidate, shape, CU_COUNT);
  double count = 0;
  for (int i = 0; i < tmpl->launch_count && !count; i++) {
    int64_t value = 0;
    ws_diag diag;
    if (ws_expr_eval(tmpl->launches[i].condition, &scope, &value, &diag) !=
            WS_OK ||
        !value)
      continue;
    count = 1;
    for (int axis = 0; axis < 3; axis++)
      count *= ws_expr_eval(tmpl->launches[i].grid[axis], &scope, &value,
                            &diag) == WS_OK
                   ? (double)value
                   : 0;
  }
  ws_arena_destroy(arena);
  return count;
}

static double workgroups_at(const ws_problem *problem,
                            const ws_candidate *candidate, int dimension,
                            int64_t steps) {
  ws_shape shape = problem->least;
  shape.size[dimension] = steps * problem->step.size[dimension];
  return ws__coverage_workgroups(candidate, &shape);
}

/* The first number of steps beyond `from` at which the grid is another, by
 * doubling and halving; 0: none within `most`. */
static int64_t next_change(const ws_problem *problem,
                           const ws_candidate *candidate, int dimension,
                           int64_t from, int64_t most) {
  const double same = workgroups_at(problem, candidate, dimension, from);
  int64_t without = from, with = from + 1;
  while (workgroups_at(problem, candidate, dimension, with) == same) {
    without = with;
    with = from + 2 * (with - from);
    if (without - from > most)
      return 0;
  }
  while (with - without > 1) {
    const int64_t middle = (without + with) / 2;
    const bool other =
        workgroups_at(problem, candidate, dimension, middle) != same;
    *(other ? &with : &without) = middle;
  }
  return with;
}

/* The distance between two extents at which the grid changes. */
static int64_t tile_along(const ws_problem *problem,
                          const ws_candidate *candidate, int dimension) {
  const int64_t step = problem->step.size[dimension];
  const int64_t most =
      MOST_TILE_STEPS * step > MOST_TILE ? MOST_TILE_STEPS : MOST_TILE / step;
  const int64_t first = next_change(problem, candidate, dimension, 1, most);
  const int64_t second =
      first ? next_change(problem, candidate, dimension, first, most) : 0;
  return second ? (second - first) * step : problem->block.size[dimension];
}

static int64_t largest_named(const ws_problem *problem, int dimension) {
  int64_t largest = 0;
  for (int s = 0; s < problem->shape_set_count; s++)
    for (int i = 0; i < problem->shape_sets[s].count; i++) {
      int64_t extent = problem->shape_sets[s].shapes[i].size[dimension];
      largest = extent > largest ? extent : largest;
    }
  return largest;
}

static bool is_walked(const ws_problem *problem, const ws_candidate *candidate,
                      int dimension) {
  ws_shape shape = problem->least;
  double workgroups = ws__coverage_workgroups(candidate, &shape);
  shape.size[dimension] = largest_named(problem, dimension);
  return ws__coverage_workgroups(candidate, &shape) == workgroups;
}

ws__tiles ws__coverage_tiles(const ws_problem *problem,
                             const ws_candidate *candidate) {
  ws__tiles tiles;
  for (int i = 0; i < problem->dims->count; i++) {
    tiles.extent[i] = tile_along(problem, candidate, i);
    tiles.is_walked[i] = is_walked(problem, candidate, i);
  }
  return tiles;
}

/* ---- constants of the code ---- */

static int64_t common_multiple(int64_t a, int64_t b) {
  int64_t x = a, y = b;
  while (y) {
    int64_t rest = x % y;
    x = y;
    y = rest;
  }
  return a / x * b;
}

typedef struct constants {
  const ws_build_result *build;
  const char *name; /* of the scalar */
  int64_t step;
} constants;

/* The multiple of `period` and of all moduli of the code with which it stays
 * within `most` steps. */
static int64_t take_constants(const constants *c, int64_t period,
                              int64_t most) {
  for (int k = 0; c->build && k < c->build->kernel_count; k++) {
    const ws_kernel_facts *kernel = &c->build->kernels[k];
    for (int i = 0; i < kernel->constant_count; i++) {
      int64_t value = kernel->constants[i].value;
      if (strcmp(kernel->constants[i].scalar, c->name) || value % c->step ||
          !kernel->constants[i].modulus)
        continue;
      int64_t common = common_multiple(period, value);
      if (common / c->step <= most)
        period = common;
    }
  }
  return period;
}

static void add(ws_factor *factor, int64_t low, int64_t high, int64_t modulus,
                int64_t residue) {
  if (factor->count < WS_MAX_CLASSES && low <= high)
    factor->classes[factor->count++] = (ws_class){low, high, modulus, residue};
}

/* Both sides of a constant that no residue shows, because it is larger. */
static void add_thresholds(const constants *c, int64_t above, int64_t width,
                           ws_factor *out) {
  enum { MOST = 6 };
  int64_t seen[MOST];
  int count = 0;
  for (int k = 0; c->build && k < c->build->kernel_count; k++) {
    const ws_kernel_facts *kernel = &c->build->kernels[k];
    for (int i = 0; i < kernel->constant_count && count < MOST; i++) {
      int64_t value = kernel->constants[i].value;
      bool known = strcmp(kernel->constants[i].scalar, c->name) ||
                   value <= above || value % c->step;
      for (int s = 0; s < count; s++)
        known |= seen[s] == value;
      if (known)
        continue;
      seen[count++] = value;
      add(out, value - width + c->step, value, c->step, 0);
      add(out, value + c->step, value + width, c->step, 0);
    }
  }
}

/* ---- extents ---- */

/* What a workgroup that walks along an extent keeps, unrolls or leaves for a
 * rest shows in no launch rule: the sizes between, by fours. */
static void add_between(int64_t step, int64_t from, int64_t to,
                        ws_factor *out) {
  for (int64_t low = from; low < to; low *= 4)
    add(out, low + step, 4 * low < to ? 4 * low : to, step, 0);
}

/* Of a tile of so many steps, multiples of a grain; and what is beside these:
 * groups of rows are of powers of two. */
static void add_grains(int64_t step, int64_t period, ws_factor *out) {
  int64_t grain = step;
  while (period / grain > MOST_GRAINS && period % (2 * grain) == 0)
    grain *= 2;
  for (int64_t residue = 0; residue < period; residue += grain)
    add(out, step, INT64_MAX, period, residue);
  for (int64_t beside = step; beside < grain; beside *= 2)
    add(out, step, INT64_MAX, grain, beside);
  add(out, step, INT64_MAX, grain, grain - step);
}

/* Below a tile, beyond one, beyond two, beyond whatever is named; each a period
 * wide, so that it has all residues. */
static void classify_extent(const ws_problem *problem, const constants *c,
                            int dimension, const ws__tiles *tiles,
                            ws_factor *edge, ws_factor *size) {
  int64_t tile = tiles->extent[dimension];
  int64_t step = c->step, named = largest_named(problem, dimension);
  int64_t period = common_multiple(tile, problem->block.size[dimension]);
  if (period / step > MOST_RESIDUES)
    period = tile;
  if (tile / step > MOST_RESIDUES) {
    add_grains(step, period, edge);
  } else {
    period = take_constants(c, period, MOST_RESIDUES);
    for (int64_t residue = 0; residue < period; residue += step)
      add(edge, step, INT64_MAX, period, residue);
  }
  for (int64_t i = 0; i < 3; i++)
    add(size, i * period + step, (i + 1) * period, step, 0);
  add(size, named + step, named + period, step, 0);
  add_thresholds(c, 3 * period, period, size);
  if (tiles->is_walked[dimension])
    add_between(step, 3 * period, named, size);
}

/* Numbers of blocks: all small ones, residues of larger ones, odd and even
 * beyond what code is often made for. */
static void classify_depth(const constants *c, ws_factor *out) {
  int64_t step = c->step;
  int64_t depth = take_constants(c, step, MOST_DEPTH) / step;
  int64_t residues =
      take_constants(c, LARGE_RESIDUES * step, MOST_LARGE_RESIDUES) / step;
  int64_t small = 2 * (depth > DEPTH ? depth : DEPTH) + 3;
  for (int64_t i = 1; i <= small; i++)
    add(out, i * step, i * step, step, 0);
  for (int64_t i = 0; i < residues; i++)
    add(out, (small + 1) * step, (small + 2 * residues) * step, residues * step,
        i * step);
  for (size_t d = 0; d < sizeof deep / sizeof deep[0]; d++)
    for (int64_t odd = 0; odd < 2; odd++)
      add(out, (deep[d] + 1) * step, (deep[d] + 2 * residues) * step, 2 * step,
          odd * step);
  add_thresholds(c, small * step, step, out);
}

/* Does a class of the dimension fix the remainder by the modulus? */
static bool is_told_apart(const ws_coverage *coverage, int dimension,
                          int64_t modulus) {
  for (int f = 0; f < coverage->factor_count; f++)
    for (int i = 0; i < coverage->factors[f].count; i++)
      if (coverage->factors[f].dim == dimension &&
          coverage->factors[f].classes[i].modulus % modulus == 0)
        return true;
  return false;
}

int ws__coverage_alone(const ws_problem *problem, const ws_build_result *build,
                       const ws_coverage *coverage, int dimension,
                       int64_t out_moduli[WS__ALONE]) {
  int64_t step = problem->step.size[dimension];
  int count = 0;
  for (int k = 0; build && k < build->kernel_count; k++) {
    const ws_kernel_facts *kernel = &build->kernels[k];
    for (int i = 0; i < kernel->constant_count && count < WS__ALONE; i++) {
      int64_t steps = kernel->constants[i].value / step;
      if (kernel->constants[i].modulus &&
          !strcmp(kernel->constants[i].scalar,
                  problem->dims->names[dimension]) &&
          kernel->constants[i].value % step == 0 && steps > 1 &&
          steps <= WS__ALONE_STEPS &&
          !is_told_apart(coverage, dimension, steps * step))
        out_moduli[count++] = steps;
    }
  }
  return count;
}

/* ---- strides ---- */

static bool takes(const ws_launch *launch, const char *name) {
  for (int i = 0; i < launch->argument_count; i++)
    if (!strcmp(launch->arguments[i], name))
      return true;
  return false;
}

/* Is it read through a tensor map by a kernel that this candidate has? */
static bool is_mapped(const ws_candidate *candidate, const char *argument) {
  const ws_template *tmpl = candidate->tmpl;
  for (int i = 0; i < tmpl->tensor_map_count; i++)
    for (int k = 0; k < tmpl->launch_count; k++)
      if (!strcmp(tmpl->tensor_maps[i].argument, argument) &&
          takes(&tmpl->launches[k], tmpl->tensor_maps[i].name) &&
          ws_candidate_may_launch(candidate, tmpl->launches[k].kernel))
        return true;
  return false;
}

bool ws__coverage_takes_striding(const ws_problem *problem, int layout,
                                 const ws_candidate *candidate, int striding) {
  ws_shape shape = problem->block; /* some shape whose strides all differ */
  static const int64_t primes[WS_MAX_DIMS] = {2, 3, 5, 7, 11, 13, 17, 19};
  for (int i = 0; i < shape.dims->count; i++)
    shape.size[i] *= primes[i];
  int form = ws_problem_form(problem, layout, striding);
  for (int i = 0; i < problem->arg_count; i++)
    if (problem->args[i].stride_of &&
        is_mapped(candidate, problem->args[i].stride_of) &&
        ws_problem_arg_scalar(problem, i, &shape, form) !=
            ws_problem_arg_scalar(problem, i, &shape, layout))
      return false;
  return true;
}

static ws_factor *add_factor(ws_coverage *out, ws_factor_kind kind, int dim) {
  ws_factor *factor = &out->factors[out->factor_count++];
  *factor = (ws_factor){.kind = kind, .dim = dim};
  return factor;
}

void ws__coverage_classes(const ws_problem *problem, int layout,
                          const ws_candidate *candidate,
                          const ws_build_result *build, const ws__tiles *tiles,
                          ws_coverage *out) {
  out->factor_count = 0;
  for (int i = 0; i < problem->dims->count; i++) {
    const constants c = {build, problem->dims->names[i], problem->step.size[i]};
    if (problem->is_depth[i]) {
      classify_depth(&c, add_factor(out, WS_FACTOR_DEPTH, i));
      continue;
    }
    ws_factor *edge = add_factor(out, WS_FACTOR_EDGE, i);
    classify_extent(problem, &c, i, tiles, edge,
                    add_factor(out, WS_FACTOR_SIZE, i));
  }
  ws_factor *strides = add_factor(out, WS_FACTOR_STRIDES, -1);
  for (int i = 0; i < problem->striding_count; i++)
    if (ws__coverage_takes_striding(problem, layout, candidate, i))
      add(strides, i, i, 1, 0);
}
