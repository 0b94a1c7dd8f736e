/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Whether a candidate takes every legal shape: with its parameters known no
 * constraint over the shape is left, or none refuses a shape where it could be
 * expected to. Constraints begin to refuse at numbers that they name, or at the
 * end of what is legal: at each of these sizes, alone and together, they are
 * tried, and on shapes that are drawn. That is no proof: who relies on it asks
 * the constraints again where a shape comes (ws_selection_pick, emit_select.c).
 *
 * Where no candidate takes all, one that takes whatever is drawn may refuse some
 * at the end of what is legal (the H200's GEMM kernels for any m: operands of
 * exactly 2^38 elements), if others take these.
 */
#include "dispatch_internal.h"

#include <stdlib.h>

enum { NUMBERS_MOST = 32, SIZES_MOST = 2048, STEPS = 1024 };

typedef struct number_list {
  int64_t items[NUMBERS_MOST];
  int count;
} number_list;

typedef struct trial {
  const ws_candidate *const *candidates; /* one of which must take the shape */
  int count;
  const ws_problem *problem;
  number_list numbers; /* of the constraints and of what is legal */
  ws_rng rng;
  ws_shape refused; /* the last */
} trial;

/* Sizes of one dimension, on its steps. */
typedef struct size_list {
  int64_t items[SIZES_MOST];
  int count;
} size_list;

/* Most shapes are taken, and whether one is legal takes longer to say. */
static bool is_refused(trial *t, const ws_shape *shape) {
  for (int i = 0; i < t->count; i++)
    if (ws_candidate_takes(t->candidates[i], shape))
      return false;
  if (!ws_problem_is_legal(t->problem, shape))
    return false;
  t->refused = *shape;
  return true;
}

/* ---- numbers ---- */

static void *take_number(void *context, int64_t value) {
  number_list *list = context;
  for (int i = 0; i < list->count; i++)
    if (list->items[i] == value)
      return NULL;
  if (value > 0 && list->count < NUMBERS_MOST)
    list->items[list->count++] = value;
  return NULL;
}

static void *pass_name(void *context, const char *name) {
  (void)context, (void)name;
  return NULL;
}

static void *pass_operation(void *context, const char *operator_,
                            void **operands) {
  (void)context, (void)operator_, (void)operands;
  return NULL;
}

static void find_numbers(trial *t) {
  static const ws_expr_visitor visitor = {take_number, pass_name,
                                          pass_operation};
  ws_arena *arena = ws_arena_create();
  ws_expr_visit(t->problem->legal, &visitor, &t->numbers);
  for (int c = 0; c < t->count; c++) {
    const ws_template *tmpl = t->candidates[c]->tmpl;
    const ws_scope scope = ws_candidate_scope(arena, t->candidates[c], NULL, 0);
    for (int i = 0; i < tmpl->require_count; i++)
      if (tmpl->requires[i].uses_shape)
        ws_expr_visit(ws_expr_bind(arena, tmpl->requires[i].expr, &scope),
                      &visitor, &t->numbers);
  }
  ws_arena_destroy(arena);
}

/* ---- sizes ---- */

/* A number's neighbours on the steps of a dimension. */
static void add_around(const trial *t, int dim, int64_t number,
                       size_list *out) {
  const int64_t step = t->problem->step.size[dim],
                least = t->problem->least.size[dim];
  const int64_t below = least + (number - least) / step * step;
  for (int i = -1; i <= 1 && number >= least; i++) {
    const int64_t size = below + i * step;
    if (size >= least && out->count < SIZES_MOST)
      out->items[out->count++] = size;
  }
}

/* Constraints are on sizes, on their products with numbers, and on the tiles
 * that they come to. */
static void find_sizes(const trial *t, int dim, size_list *out) {
  const number_list *numbers = &t->numbers;
  enum { BITS = 40 };
  out->count = 0;
  for (int bit = 0; bit < BITS; bit++)
    add_around(t, dim, INT64_C(1) << bit, out);
  for (int i = 0; i < numbers->count; i++) {
    const int64_t a = numbers->items[i];
    if (a < INT64_C(1) << BITS)
      add_around(t, dim, a, out);
  }
  for (int i = 0; i < numbers->count; i++)
    for (int j = 0; j < i; j++) {
      const int64_t a = numbers->items[i], b = numbers->items[j];
      add_around(t, dim, a > b ? a / b : b / a, out);
      if (a < (INT64_C(1) << BITS) / b)
        add_around(t, dim, a * b, out);
    }
}

/* requires: the shape is legal. The largest size that leaves it so, if smaller
 * ones do. */
static void stretch(const trial *t, ws_shape *shape, int dim) {
  enum { BITS = 32 };
  for (int bit = BITS; bit >= 0; bit--) {
    ws_shape larger = *shape;
    if (t->problem->step.size[dim] >= INT64_C(1) << (62 - BITS))
      return;
    larger.size[dim] += t->problem->step.size[dim] << bit;
    if (ws_problem_is_legal(t->problem, &larger))
      *shape = larger;
  }
}

/* ---- shapes ---- */

/* Each dimension alone at each of its sizes, and the corners of what is legal.
 */
static bool refuses_an_edge(trial *t, const size_list *sizes) {
  const int dims = t->problem->dims->count;
  for (int d = 0; d < dims; d++)
    for (int i = 0; i < sizes[d].count; i++) {
      ws_shape shape = t->problem->least;
      shape.size[d] = sizes[d].items[i];
      if (is_refused(t, &shape))
        return true;
    }
  for (int first = 0; first < dims; first++)
    for (int second = 0; second < dims; second++) {
      ws_shape shape = t->problem->least;
      for (int i = -2; i < dims; i++) {
        stretch(t, &shape, i == -2 ? first : i == -1 ? second : i);
        if (is_refused(t, &shape))
          return true;
      }
    }
  return false;
}

/* From shape to shape, one dimension at a time. */
static bool refuses_on_a_walk(trial *t, const size_list *sizes) {
  ws_shape shape = t->problem->least;
  for (int i = 0; i < STEPS; i++) {
    const int dim =
        (int)ws_rng_below(&t->rng, (uint64_t)t->problem->dims->count);
    ws_shape next = shape;
    if (ws_rng_below(&t->rng, 4) == 0)
      stretch(t, &next, dim);
    else
      next.size[dim] = sizes[dim].items[ws_rng_below(
          &t->rng, (uint64_t)sizes[dim].count)];
    if (!ws_problem_is_legal(t->problem, &next))
      continue;
    if (is_refused(t, &next))
      return true;
    shape = next;
  }
  return false;
}

/* All residues that tiles of up to 512 can see, small and large. */
static bool refuses_a_sample(trial *t) {
  static const int64_t far[] = {0, 8192, 1048576};
  enum { FARS = 3, SPREAD = 1024, SPREAD_STEPS = 64, DEPTH_STEPS = 16 };
  const ws_problem *problem = t->problem;
  for (int64_t i = 0; i < 4096; i++) {
    ws_shape shape = problem->least;
    int64_t digits = i;
    for (int d = 0; d < shape.dims->count; d++, digits /= FARS) {
      const int64_t step = problem->step.size[d];
      const int64_t steps = problem->is_depth[d]           ? DEPTH_STEPS
                            : SPREAD_STEPS * step > SPREAD ? SPREAD_STEPS
                                                           : SPREAD / step;
      shape.size[d] += step * (int64_t)ws_rng_below(&t->rng, (uint64_t)steps) +
                       far[digits % FARS] / step * step;
    }
    if (is_refused(t, &shape))
      return true;
  }
  return false;
}

bool ws__is_constrained(const ws_candidate *candidate) {
  ws_arena *arena = ws_arena_create();
  const ws_scope scope = ws_candidate_scope(arena, candidate, NULL, 0);
  bool constrained = false;
  for (int i = 0; i < candidate->tmpl->require_count && !constrained; i++) {
    const ws_require *require = &candidate->tmpl->requires[i];
    int64_t value;
    constrained =
        require->uses_shape &&
        !(ws_expr_is_constant(ws_expr_bind(arena, require->expr, &scope),
                              &value) &&
          value);
  }
  ws_arena_destroy(arena);
  return constrained;
}

static bool refuses_at_an_end(trial *t) {
  const int dims = t->problem->dims->count;
  size_list *sizes = malloc(sizeof *sizes * (size_t)dims);
  WS_ASSERT(sizes != NULL);
  find_numbers(t);
  for (int d = 0; d < dims; d++)
    find_sizes(t, d, &sizes[d]);
  const bool refuses =
      refuses_an_edge(t, sizes) || refuses_on_a_walk(t, sizes);
  free(sizes);
  return refuses;
}

static trial begin(const ws_candidate *const *candidates, int count,
                   const ws_problem *problem) {
  trial t = {.candidates = candidates, .count = count, .problem = problem};
  ws_rng_init(&t.rng, 0);
  return t;
}

ws__domain ws__domain_of(const ws_candidate *candidate,
                         const ws_problem *problem) {
  trial t = begin(&candidate, 1, problem);
  if (!ws__is_constrained(candidate))
    return WS__EVERY_SHAPE;
  if (refuses_a_sample(&t))
    return WS__SOME_SHAPES;
  return refuses_at_an_end(&t) ? WS__MOST_SHAPES : WS__EVERY_SHAPE;
}

bool ws__take_every_shape(const ws_candidate *const *candidates, int count,
                          const ws_problem *problem, ws_shape *out_refused) {
  trial t = begin(candidates, count, problem);
  bool most = false;
  *out_refused = (ws_shape){.dims = NULL};
  for (int i = 0; i < count; i++) {
    const ws__domain domain = ws__domain_of(candidates[i], problem);
    if (domain == WS__EVERY_SHAPE)
      return true;
    most |= domain == WS__MOST_SHAPES;
  }
  if (!most || !refuses_at_an_end(&t))
    return most;
  *out_refused = t.refused;
  return false;
}

static bool takes_rows(const ws_candidate *candidate, const ws_matrix *matrix) {
  for (int s = 0; s < matrix->shape_count; s++)
    if (!ws_candidate_takes(candidate, &matrix->shapes[s]))
      return false;
  return true;
}

void ws__find_universal(const ws_problem *problem,
                        const ws_dispatch_entry *entries,
                        const ws_matrix *matrix, const int *columns, int count,
                        bool *out_universal) {
  ws__domain *domains = malloc(sizeof *domains * (size_t)count);
  ws__domain most = WS__MOST_SHAPES;
  WS_ASSERT(domains != NULL);
  for (int i = 0; i < count; i++) {
    const ws_candidate *candidate = entries[columns ? columns[i] : i].candidate;
    domains[i] = takes_rows(candidate, matrix)
                     ? ws__domain_of(candidate, problem)
                     : WS__SOME_SHAPES;
    if (domains[i] == WS__EVERY_SHAPE)
      most = WS__EVERY_SHAPE;
  }
  for (int i = 0; i < count; i++)
    out_universal[i] = domains[i] == most;
  free(domains);
}
