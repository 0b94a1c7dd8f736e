/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What rules may look at, and which shapes they are fitted on. Features are
 * expressions of the template language, so that the fit, the C model of the
 * rules and the emitted code read one text.
 */
#include "dispatch_internal.h"

#include <math.h>
#include <string.h>

/* Counts of output tiles decide how many rounds over the CUs there are and how
 * full the last one is; k_blocks how long a tile takes; the ratios which way a
 * tile should be oblong. In order of preference between equal splits: the
 * first reads best. */
const ws__feature ws__features[] = {
    {"m", "m"},
    {"n", "n"},
    {"k", "k"},
    {"m_times_n", "m * n"},
    {"tiles_64x64", "ceildiv(m, 64) * ceildiv(n, 64)"},
    {"tiles_128x128", "ceildiv(m, 128) * ceildiv(n, 128)"},
    {"tiles_256x128", "ceildiv(m, 256) * ceildiv(n, 128)"},
    {"last_tile_m", "m % 128"},
    {"last_tile_n", "n % 128"},
    {"m_times_k", "m * k"},
    {"n_times_k", "n * k"},
    {"n_per_m_x16", "16 * n / m"},
    {"k_per_n_x16", "16 * k / n"},
};
const int ws__feature_count = sizeof ws__features / sizeof *ws__features;

/* Legality by problem, as an expression: what the problem's check_shape says,
 * in a form that can be emitted (tests/dispatch compares the two). */
static const struct {
  const char *problem, *text;
} legal_shapes[] = {
    {"fp8_gemm_blockscale",
     "m >= 16 && m <= 4194304 && m % 16 == 0 && "
     "n >= 16 && n <= 4194304 && n % 16 == 0 && "
     "k >= 128 && k <= 4194304 && k % 128 == 0 && m * n <= 2147483648"},
};

const char *ws__problem_legal_text(const ws_problem *problem) {
  for (size_t i = 0; i < sizeof legal_shapes / sizeof *legal_shapes; i++)
    if (!strcmp(legal_shapes[i].problem, problem->name))
      return legal_shapes[i].text;
  return NULL;
}

int64_t ws__shape_value(const ws_expr *expr, const ws_shape *shape) {
  const ws_binding bindings[] = {
      {"m", shape->m}, {"n", shape->n}, {"k", shape->k}};
  const ws_scope scope = {bindings, 3};
  int64_t value = 0;
  if (ws_expr_eval(expr, &scope, &value, NULL) != WS_OK)
    return 0;
  return value;
}

/* ---- training shapes
 * ----------------------------------------------------------
 */

enum { MAX_AXIS = 64 };

typedef struct axis {
  int64_t values[MAX_AXIS];
  int count;
} axis;

static void axis_add(axis *to, int64_t value) {
  for (int i = 0; i < to->count; i++)
    if (to->values[i] == value)
      return;
  if (to->count < MAX_AXIS)
    to->values[to->count++] = value;
}

/* Values from low to high in equal ratios, each rounded to a multiple of step.
 * The ratios are no powers of two, so that extents that fill their last tile
 * badly are among them. */
static void axis_fill(axis *to, int64_t low, int64_t high, double ratio,
                      int64_t step) {
  for (double value = (double)low; value < (double)high * 1.001; value *= ratio)
    axis_add(to, (int64_t)llround(value / (double)step) * step);
}

typedef struct shape_list {
  ws_arena *arena;
  const ws_problem *problem;
  ws_shape *items;
  int count, capacity;
} shape_list;

static void list_add(shape_list *list, ws_shape shape) {
  if (list->problem->check_shape(&shape, NULL) != WS_OK)
    return;
  for (int i = 0; i < list->count; i++)
    if (!memcmp(&list->items[i], &shape, sizeof shape))
      return;
  WS_ASSERT(list->count < list->capacity);
  list->items[list->count++] = shape;
}

static ws_shape largest(const ws_shape_set *set) {
  ws_shape high = {0, 0, 0};
  for (int i = 0; i < set->count; i++) {
    const ws_shape *s = &set->shapes[i];
    high.m = s->m > high.m ? s->m : high.m;
    high.n = s->n > high.n ? s->n : high.n;
    high.k = s->k > high.k ? s->k : high.k;
  }
  return high;
}

ws_shape *ws_dispatch_training_shapes(ws_arena *arena,
                                      const ws_problem *problem,
                                      const ws_shape_set *set, int *out_count) {
  const ws_shape high = largest(set);
  axis ms = {{0}, 0}, ns = {{0}, 0}, ks = {{0}, 0};
  for (int i = 0; i < set->count; i++)
    axis_add(&ms, set->shapes[i].m);
  axis_fill(&ms, 16, 2 * high.m, 1.7, 16);
  axis_fill(&ns, 128, 4 * high.n, 2.3, 16);
  axis_fill(&ks, 128, 2 * high.k, 2.6, 128);

  shape_list list = {arena, problem, NULL, 0, 0};
  list.capacity = set->count * (1 + ms.count) + ms.count * ns.count * ks.count;
  list.items =
      ws_arena_alloc(arena, (size_t)list.capacity * sizeof *list.items);
  for (int i = 0; i < set->count; i++)
    list_add(&list, set->shapes[i]);
  for (int i = 0; i < set->count; i++) /* the set's (n, k) at every m */
    for (int a = 0; a < ms.count; a++)
      list_add(&list,
               (ws_shape){ms.values[a], set->shapes[i].n, set->shapes[i].k});
  for (int a = 0; a < ms.count; a++)
    for (int b = 0; b < ns.count; b++)
      for (int c = 0; c < ks.count; c++)
        list_add(&list, (ws_shape){ms.values[a], ns.values[b], ks.values[c]});
  *out_count = list.count;
  return list.items;
}
