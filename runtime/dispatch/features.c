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
 * full the last one is; the depth how long a tile takes; the ratios which way a
 * tile should be oblong. In order of preference between equal splits: the
 * first reads best. A stands for the first dimension that is no depth, B for
 * the second, D for the first depth; what names one that is not there is left
 * out. */
static const struct {
  const char *name, *text;
} forms[] = {
    {"A_times_B", "A * B"},
    {"tiles_64x64", "ceildiv(A, 64) * ceildiv(B, 64)"},
    {"tiles_128x128", "ceildiv(A, 128) * ceildiv(B, 128)"},
    {"tiles_256x128", "ceildiv(A, 256) * ceildiv(B, 128)"},
    {"last_tile_A", "A % 128"},
    {"last_tile_B", "B % 128"},
    {"A_times_D", "A * D"},
    {"B_times_D", "B * D"},
    {"B_per_A_x16", "16 * B / A"},
    {"D_per_B_x16", "16 * D / B"},
};
enum { FORMS = sizeof forms / sizeof *forms };

size_t ws__word_size(const char *text) {
  return strspn(text, "_0123456789abcdefghijklmnopqrstuvwxyz"
                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

/* The name of the dimension that a letter stands for; NULL: of none. */
static const char *dimension_of(const ws_problem *problem, char letter) {
  int others = 0;
  for (int i = 0; i < problem->dims->count; i++)
    if (problem->is_depth[i] ? letter == 'D' : letter == 'A' + others++)
      return problem->dims->names[i];
  return NULL;
}

const char *ws__fill_letters(ws_arena *arena, const ws_problem *problem,
                             const char *text) {
  ws_strbuf filled;
  bool complete = true;
  ws_strbuf_init(&filled);
  for (const char *c = text; *c;) {
    const size_t size = ws__word_size(c);
    const bool letter =
        size == 1 && (*c == 'A' || *c == 'B' || *c == 'D');
    const char *name = letter ? dimension_of(problem, *c) : NULL;
    complete &= !letter || name;
    if (name)
      ws_strbuf_puts(&filled, name);
    else
      ws_strbuf_append(&filled, c, size ? size : 1);
    c += size ? size : 1;
  }
  const char *out = complete ? ws_arena_strdup(arena, filled.data) : NULL;
  ws_strbuf_deinit(&filled);
  return out;
}

/* The name of a form: its letters stand between underscores. */
static const char *fill_name(ws_arena *arena, const ws_problem *problem,
                             const char *name) {
  ws_strbuf filled;
  ws_strbuf_init(&filled);
  for (const char *c = name; *c; c++) {
    const bool alone = (c == name || c[-1] == '_') && (!c[1] || c[1] == '_');
    const char *dimension = alone ? dimension_of(problem, *c) : NULL;
    if (dimension)
      ws_strbuf_puts(&filled, dimension);
    else
      ws_strbuf_append(&filled, c, 1);
  }
  const char *out = ws_arena_strdup(arena, filled.data);
  ws_strbuf_deinit(&filled);
  return out;
}

ws_status ws__features_of(ws_arena *arena, const ws_problem *problem,
                          const ws__feature **out_features, int *out_count,
                          ws_diag *diag) {
  ws__feature *features =
      ws_arena_alloc(arena, sizeof *features * (WS_MAX_DIMS + FORMS));
  int count = 0;
  for (int i = 0; i < problem->dims->count; i++)
    features[count++] = (ws__feature){.name = problem->dims->names[i],
                                      .text = problem->dims->names[i]};
  for (int i = 0; i < FORMS; i++) {
    const char *text = ws__fill_letters(arena, problem, forms[i].text);
    if (text)
      features[count++] =
          (ws__feature){fill_name(arena, problem, forms[i].name), text, NULL};
  }
  for (int i = 0; i < count; i++) {
    ws_expr *expr;
    WS_TRY(ws_expr_parse(arena, features[i].text, features[i].name, 0, &expr,
                         diag));
    features[i].expr = expr;
  }
  *out_features = features;
  *out_count = count;
  return WS_OK;
}

int64_t ws__shape_value(const ws_expr *expr, const ws_shape *shape) {
  ws_binding bindings[WS_MAX_DIMS];
  const ws_scope scope = {bindings, ws_shape_bindings(shape, bindings)};
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
  if (list->count == list->capacity ||
      !ws_problem_is_legal(list->problem, &shape))
    return;
  for (int i = 0; i < list->count; i++)
    if (ws_shape_same(&list->items[i], &shape))
      return;
  list->items[list->count++] = shape;
}

static int64_t largest(const ws_shape_set *set, int dim) {
  int64_t high = 0;
  for (int i = 0; i < set->count; i++)
    high = set->shapes[i].size[dim] > high ? set->shapes[i].size[dim] : high;
  return high;
}

/* The first dimension is what callers vary most: closer, and at the set's own
 * sizes, too. */
static void fill_axes(const ws_problem *problem, const ws_shape_set *set,
                      axis axes[WS_MAX_DIMS]) {
  static const struct {
    double ratio;
    int64_t beyond; /* times the set's largest */
  } grids[] = {{1.7, 2}, {2.3, 4}, {2.6, 2}};
  const int64_t low = 128;
  for (int d = 0; d < problem->dims->count; d++) {
    int64_t step = problem->step.size[d], least = problem->least.size[d];
    int grid = d < 2 ? d : 2;
    axes[d] = (axis){{0}, 0};
    for (int i = 0; !d && i < set->count; i++)
      axis_add(&axes[d], set->shapes[i].size[d]);
    int64_t begin = d && least < low ? (low + step - 1) / step * step : least;
    axis_fill(&axes[d], begin, grids[grid].beyond * largest(set, d),
              grids[grid].ratio, step);
  }
}

/* Every combination of sizes, the last dimension fastest. */
static void add_grid(shape_list *list, const axis *axes, int dim,
                     ws_shape *shape) {
  if (dim == shape->dims->count) {
    list_add(list, *shape);
    return;
  }
  for (int i = 0; i < axes[dim].count; i++) {
    shape->size[dim] = axes[dim].values[i];
    add_grid(list, axes, dim + 1, shape);
  }
}

/* A set of many shapes has most first sizes of its layers itself. */
enum { MANY = 64 };

ws_shape *ws_dispatch_training_shapes(ws_arena *arena,
                                      const ws_problem *problem,
                                      const ws_shape_set *set, int *out_count) {
  enum { MOST = 1 << 13 };
  axis axes[WS_MAX_DIMS] = {{{0}, 0}};
  shape_list list = {arena, problem, NULL, 0, 0};
  double combinations = 1;
  fill_axes(problem, set, axes);
  for (int d = 0; d < problem->dims->count; d++)
    combinations *= axes[d].count;
  const int spread = set->count <= MANY ? axes[0].count : 0;
  list.capacity = set->count * (1 + spread) +
                  (int)(combinations < MOST ? combinations : MOST);
  list.items =
      ws_arena_alloc(arena, (size_t)list.capacity * sizeof *list.items);
  for (int i = 0; i < set->count; i++)
    list_add(&list, set->shapes[i]);
  for (int i = 0; i < set->count;
       i++) /* the set's others at every first size */
    for (int a = 0; a < spread; a++) {
      ws_shape shape = set->shapes[i];
      shape.size[0] = axes[0].values[a];
      list_add(&list, shape);
    }
  ws_shape shape = problem->least;
  add_grid(&list, axes, 0, &shape);
  *out_count = list.count;
  return list.items;
}
