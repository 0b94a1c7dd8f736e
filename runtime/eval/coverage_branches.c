/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a kernel's own branches make of shapes: which side of a comparison,
 * which remainder, how many turns. Expressions are evaluated for a shape as the
 * kernel would; shapes with a wanted outcome are found by trying extents, all
 * small ones and then larger and larger ones, between which an outcome that
 * appears is pinned down by halving.
 */
#include "coverage_internal.h"

#include <string.h>

enum {
  CU_COUNT = 304,   /* where a grid depends on it */
  LOOKED_AT = 64,   /* workgroups along x, from the first; and the last */
  SMALL_STEPS = 72, /* of extents that are all tried, at least */
  MOST_SMALL = 1100,
  LESS = 1,
  EQUAL = 2,
  GREATER = 4,
  MOST_TRIPS = 3,
  TOLD_APART = 64 * (WS__ASPECT_WORDS - 1) /* remainders */
};
static const int64_t largest_extent = INT64_C(1) << 31;

bool ws__coverage_takes(const ws_problem *problem,
                        const ws_candidate *candidate, const ws_shape *shape) {
  return ws_problem_is_legal(problem, shape) &&
         ws_candidate_broken_require(candidate, shape, NULL) < 0;
}

const ws_problem *ws__coverage_problem(ws_arena *arena,
                                       const ws_problem *problem,
                                       const ws_candidate *candidate) {
  ws_problem *own = ws_arena_alloc(arena, sizeof *own);
  *own = *problem;
  if (ws__coverage_takes(problem, candidate, &problem->least))
    return problem;
  for (int d = 0; d < problem->dims->count; d++) {
    const int64_t block = problem->block.size[d];
    ws_shape beside = problem->block;
    int64_t *step = &own->step.size[d], *least = &own->least.size[d];
    do
      beside.size[d] = block + *step;
    while (!ws__coverage_takes(problem, candidate, &beside) &&
           (*step *= 2) <= block);
    *least = (*least + *step - 1) / *step * *step;
  }
  return ws__coverage_takes(problem, candidate, &own->least) ? own : problem;
}

/* ---- one outcome ---- */

static void set_bit(ws__aspects *aspects, int bit) {
  aspects->bits[bit / 64] |= UINT64_C(1) << (bit % 64);
}

/* Of more remainders than there are bits: both ends, the middle, odd, even. */
static int bit_of_many(int64_t index, int64_t count) {
  const int64_t named[] = {
      0, 1, 2, count - 1, count - 2, count / 2 - 1, count / 2, count / 2 + 1};
  const int names = sizeof named / sizeof named[0];
  for (int i = 0; i < names; i++)
    if (index == named[i])
      return i;
  return names + (int)(index % 2);
}

static void add_remainder(const ws__decision *d, int64_t value,
                          ws__aspects *aspects) {
  int64_t modulus = d->branch->modulus, rest = value % modulus;
  int64_t count = modulus / d->unit, index = rest / d->unit;
  int64_t trips = value / modulus;
  if (value < 0)
    return;
  set_bit(aspects,
          2 * (int)(trips < MOST_TRIPS ? trips : MOST_TRIPS) + (rest > 0));
  if (!trips) /* what is small is no remainder yet */
    return;
  set_bit(aspects,
          64 + (count <= TOLD_APART ? (int)index : bit_of_many(index, count)));
}

/* An outcome that cannot be computed (a division by 0) is none. */
static void add_outcome(const ws__decision *d, const ws_scope *scope,
                        ws__aspects *aspects) {
  int64_t left, right;
  ws_diag diag;
  if (ws_expr_eval(d->left, scope, &left, &diag) != WS_OK)
    return;
  if (d->branch->modulus)
    add_remainder(d, left, aspects);
  else if (ws_expr_eval(d->right, scope, &right, &diag) == WS_OK)
    aspects->bits[0] |= left < right ? LESS : left > right ? GREATER : EQUAL;
}

/* ---- a launch's workgroups ---- */

typedef struct names {
  ws_binding items[WS_PROBLEM_MAX_ARGS + 3];
  int count;
} names;

static const char *const workgroup_names[3] = {"workgroup_x", "workgroup_y",
                                               "workgroup_z"};

/* The scalars as a launch passes them. */
static names scalars_of(const ws_coverage_subject *subject,
                        const ws_tried *tried) {
  const ws_problem *problem = subject->problem;
  int form = ws_problem_form(problem, subject->layout, tried->striding);
  names out = {.count = 0};
  for (int i = 0; i < problem->arg_count; i++)
    if (problem->args[i].role == WS_ARG_SCALAR &&
        problem->args[i].type != WS_F32)
      out.items[out.count++] =
          (ws_binding){problem->args[i].name,
                       ws_problem_arg_scalar(problem, i, &tried->shape, form)};
  return out;
}

static bool grid_of(const ws_launch *launch, const ws_scope *scope,
                    int64_t out[3]) {
  ws_diag diag;
  int64_t holds = 0;
  if (ws_expr_eval(launch->condition, scope, &holds, &diag) != WS_OK || !holds)
    return false;
  for (int i = 0; i < 3; i++)
    if (ws_expr_eval(launch->grid[i], scope, &out[i], &diag) != WS_OK ||
        out[i] < 1)
      return false;
  return true;
}

static void add_workgroup(const ws__decision *d, names *bound,
                          const int64_t workgroup[3], ws__aspects *aspects) {
  int scalars = bound->count;
  for (int i = 0; i < 3; i++)
    bound->items[scalars + i] = (ws_binding){workgroup_names[i], workgroup[i]};
  const ws_scope scope = {bound->items, scalars + 3};
  add_outcome(d, &scope, aspects);
}

/* The first workgroups along x and the last, of the first and last rows; along
 * axes that do not matter one. */
static void add_workgroups(const ws__decision *d, names *bound,
                           const int64_t grid[3], ws__aspects *aspects) {
  int64_t end[3];
  for (int i = 0; i < 3; i++)
    end[i] = d->axes >> i & 1 ? grid[i] : 1;
  for (int corner = 0; corner < 4; corner++) {
    int64_t at[3] = {0, corner & 1 ? end[1] - 1 : 0,
                     corner & 2 ? end[2] - 1 : 0};
    if ((corner & 1 && end[1] == 1) || (corner & 2 && end[2] == 1))
      continue;
    for (; at[0] < end[0] && at[0] < LOOKED_AT; at[0]++)
      add_workgroup(d, bound, at, aspects);
    at[0] = end[0] - 1;
    if (at[0] >= LOOKED_AT)
      add_workgroup(d, bound, at, aspects);
  }
}

static bool is_always_launched(const ws_launch *launch) {
  int64_t value;
  return ws_expr_is_constant(launch->condition, &value) && value;
}

void ws__decision_add(const ws_coverage_subject *subject, const ws__decision *d,
                      const ws_tried *tried, ws__aspects *aspects) {
  const ws_template *tmpl = subject->candidate->tmpl;
  names bound = scalars_of(subject, tried);
  const ws_scope scalars = {bound.items, bound.count};
  if (d->axes && tried->spots)
    return;
  for (int i = 0; i < tmpl->launch_count; i++) {
    const ws_launch *launch = &tmpl->launches[i];
    if (strcmp(launch->kernel, d->branch->kernel))
      continue;
    if (!d->axes && is_always_launched(launch)) {
      add_outcome(d, &scalars, aspects);
      continue;
    }
    int64_t grid[3];
    ws_arena *arena = ws_arena_create();
    ws_scope scope =
        ws_candidate_scope(arena, subject->candidate, &tried->shape, CU_COUNT);
    if (grid_of(launch, &scope, grid)) {
      if (d->axes)
        add_workgroups(d, &bound, grid, aspects);
      else
        add_outcome(d, &scalars, aspects);
    }
    ws_arena_destroy(arena);
  }
}

/* ---- which outcomes there are ---- */

typedef struct scan {
  const ws_coverage_subject *subject;
  ws__decision *decision;
  ws_shape shape; /* in hand */
  int dimension;  /* that is varied */
  ws__aspects found;
} scan;

/* false: the candidate does not take the shape. */
static bool look(const scan *s, int64_t extent, ws__aspects *out) {
  ws_tried tried = {.shape = s->shape};
  tried.shape.size[s->dimension] = extent;
  *out = (ws__aspects){{0}};
  if (!ws__coverage_takes(s->subject->problem, s->subject->candidate,
                          &tried.shape))
    return false;
  ws__decision_add(s->subject, s->decision, &tried, out);
  return true;
}

/* The least extent above `without` that has it, as far as halving tells. */
static int64_t pin_down(const scan *s, int bit, int64_t without, int64_t with) {
  int64_t step = s->subject->problem->step.size[s->dimension];
  while (with - without > step) {
    int64_t middle = (without + with) / 2 / step * step;
    ws__aspects found;
    bool has = look(s, middle, &found) && ws__aspect_is_in(&found, bit);
    *(has ? &with : &without) = middle;
  }
  return with;
}

static double cost_of(const scan *s, const ws_shape *shape) {
  const double workgroup = 1e6; /* in flops */
  return workgroup * ws__coverage_workgroups(s->subject->candidate, shape) +
         ws_problem_flops(s->subject->problem, shape);
}

/* The cheapest shape of those that the scans find is kept; of remainders any
 * will do. */
static void keep(const scan *s, int bit, int64_t extent) {
  ws__decision *d = s->decision;
  ws_shape shape = s->shape;
  shape.size[s->dimension] = extent;
  if (ws__aspect_is_in(&d->can, bit) &&
      cost_of(s, &d->least[bit]) <= cost_of(s, &shape))
    return;
  set_bit(&d->can, bit);
  d->least[bit] = shape;
}

static void take(scan *s, int bit, int64_t extent) {
  set_bit(&s->found, bit);
  keep(s, bit, extent);
}

/* Beside where an outcome begins there may be one that has no other place: of
 * equals. */
static void take_beside(scan *s, int64_t extent) {
  int64_t before = extent - s->subject->problem->step.size[s->dimension];
  ws__aspects found;
  if (before < 1 || !look(s, before, &found))
    return;
  for (int bit = 0; bit < 64; bit++)
    if (ws__aspect_is_in(&found, bit) && !ws__aspect_is_in(&s->found, bit))
      take(s, bit, before);
}

static void take_new(scan *s, const ws__aspects *found, int64_t before,
                     int64_t extent) {
  for (int bit = 0; bit < WS__ASPECTS; bit++) {
    if (!found->bits[bit / 64]) {
      bit |= 63;
      continue;
    }
    const ws__aspects *known = bit < 64 ? &s->found : &s->decision->can;
    if (!ws__aspect_is_in(found, bit) || ws__aspect_is_in(known, bit))
      continue;
    int64_t begin = pin_down(s, bit, before, extent);
    take(s, bit, begin);
    if (bit < 64)
      take_beside(s, begin);
  }
}

/* Extents beyond the small ones: both sides of powers of two. */
static int64_t larger(int64_t steps, int64_t small) {
  int64_t power = 1;
  if (steps < small)
    return steps + 1;
  while (power * 2 <= steps + 1)
    power *= 2;
  return steps < power ? power : steps == power ? power + 1 : 2 * power - 1;
}

static int64_t small_steps(const scan *s) {
  int64_t modulus = s->decision->branch->modulus;
  int64_t step = s->subject->problem->step.size[s->dimension];
  int64_t wanted = 2 * (modulus / step) + 3;
  wanted = wanted > SMALL_STEPS ? wanted : SMALL_STEPS;
  return wanted < MOST_SMALL ? wanted : MOST_SMALL;
}

static void scan_extents(scan *s) {
  int64_t step = s->subject->problem->step.size[s->dimension];
  int64_t small = small_steps(s), before = 0;
  ws__aspects found;
  for (int64_t steps = 1; steps * step <= largest_extent;
       steps = larger(steps, small))
    if (look(s, steps * step, &found)) {
      take_new(s, &found, before, steps * step);
      before = steps * step;
    }
}

/* Whether what is evaluated depends on a dimension: a few extents tell. */
static bool matters(const scan *s) {
  static const int64_t steps[] = {1, 2, 3, 64, 1024};
  const ws__decision *d = s->decision;
  const ws_problem *problem = s->subject->problem;
  int64_t before[2] = {0, 0};
  if (d->axes)
    return true;
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    ws_tried tried = {.shape = s->shape};
    tried.shape.size[s->dimension] =
        steps[i] * problem->step.size[s->dimension];
    names bound = scalars_of(s->subject, &tried);
    const ws_scope scope = {bound.items, bound.count};
    int64_t now[2] = {0, 0};
    ws_diag diag;
    if (ws_expr_eval(d->left, &scope, &now[0], &diag) != WS_OK ||
        (d->right && ws_expr_eval(d->right, &scope, &now[1], &diag) != WS_OK) ||
        (i && (now[0] != before[0] || now[1] != before[1])))
      return true;
    before[0] = now[0];
    before[1] = now[1];
  }
  return false;
}

/* The other dimensions are small, or of some size for what needs a product. */
static void scan_all(const ws_coverage_subject *subject, ws__decision *d) {
  static const int64_t others[] = {0, 24, 1024}; /* steps; 0: the least */
  const ws_problem *problem = subject->problem;
  bool wanted[WS_MAX_DIMS];
  for (int dim = 0; dim < problem->dims->count; dim++) {
    const scan s = {.subject = subject,
                    .decision = d,
                    .shape = problem->least,
                    .dimension = dim};
    wanted[dim] = matters(&s);
  }
  for (size_t o = 0; o < sizeof others / sizeof others[0]; o++)
    for (int dim = 0; dim < problem->dims->count; dim++) {
      scan s = {.subject = subject,
                .decision = d,
                .shape = problem->least,
                .dimension = dim};
      for (int i = 0; i < problem->dims->count && others[o]; i++)
        if (wanted[i])
          s.shape.size[i] = others[o] * problem->step.size[i];
      if (wanted[dim])
        scan_extents(&s);
    }
}

/* ---- all of a build ---- */

static bool is_known(const names *bound, const ws_expr *expr, int *out_axes) {
  for (int i = 0; i < ws_expr_name_count(expr); i++) {
    bool known = false;
    for (int k = 0; k < bound->count && !known; k++)
      known = !strcmp(bound->items[k].name, ws_expr_name(expr, i));
    for (int k = 0; k < 3 && !known; k++)
      if (!strcmp(workgroup_names[k], ws_expr_name(expr, i))) {
        known = true;
        *out_axes |= 1 << k;
      }
    if (!known)
      return false;
  }
  return true;
}

/* The distances of all values on small shapes, and the modulus, are multiples
 * of it; and so are remainders, but for the same rest. */
static int64_t unit_of(const ws_coverage_subject *subject,
                       const ws__decision *d) {
  enum { SHAPES = 5 };
  const ws_problem *problem = subject->problem;
  int64_t unit = d->branch->modulus, first = -1;
  if (d->axes)
    return 1;
  for (int dim = 0; dim < problem->dims->count; dim++)
    for (int64_t i = 1; i <= SHAPES; i++) {
      ws_tried tried = {.shape = problem->least};
      tried.shape.size[dim] += (i - 1) * problem->step.size[dim];
      names bound = scalars_of(subject, &tried);
      const ws_scope scope = {bound.items, bound.count};
      int64_t value;
      ws_diag diag;
      if (ws_expr_eval(d->left, &scope, &value, &diag) != WS_OK)
        continue;
      first = first < 0 ? value : first;
      unit = ws_common_divisor(unit,
                               value > first ? value - first : first - value);
    }
  return unit;
}

static bool read(ws_arena *arena, const ws_coverage_subject *subject,
                 const ws_branch *branch, ws__decision *out) {
  const ws_tried any = {.shape = subject->problem->least};
  names bound = scalars_of(subject, &any);
  ws_diag diag;
  *out = (ws__decision){.branch = branch};
  if (!*branch->left)
    return false;
  if (ws_expr_parse(arena, branch->left, "branch", 0, &out->left, &diag) !=
          WS_OK ||
      !is_known(&bound, out->left, &out->axes))
    return false;
  if (branch->modulus) {
    out->unit = unit_of(subject, out);
    return true;
  }
  return ws_expr_parse(arena, branch->right, "branch", 0, &out->right, &diag) ==
             WS_OK &&
         is_known(&bound, out->right, &out->axes);
}

const ws_decisions *ws_coverage_decisions(ws_arena *arena,
                                          const ws_coverage_subject *subject) {
  const ws_build_result *build = subject->build;
  ws_decisions *out = ws_arena_alloc(arena, sizeof *out);
  size_t room = (size_t)build->branch_count;
  *out = (ws_decisions){ws_arena_alloc(arena, room * sizeof *out->items), 0};
  for (int i = 0; i < build->branch_count; i++) {
    ws__decision *d = &out->items[out->count];
    if (!read(arena, subject, &build->branches[i], d))
      continue;
    d->least = ws_arena_alloc(arena, WS__ASPECTS * sizeof *d->least);
    scan_all(subject, d);
    out->count++;
  }
  return out;
}
