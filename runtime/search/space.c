/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Points of a template's space: legality, drawing at random, moving to a
 * neighbour, and the proof that there is no legal point.
 *
 * Constraints that name no shape are checked as soon as the dimensions they
 * need are set, which is what makes the walk fit for spaces of millions of
 * points; those that name m, n or k must hold for at least one shape of the
 * task, because a candidate that takes none cannot be ranked.
 */
#include "space.h"

#include <stdlib.h>
#include <string.h>

enum {
  REJECTION_TRIES = 2000, /* an acceptance rate of 1 in 300 still draws */
  WALK_NODES = 1000000,   /* below a second */
  MOVE_TRIES = 100,
  REPAIR_TRIES = 16,
  MAX_MOVED = 3
};
/* Of moves: one dimension, two, else three; one step, else any value. */
static const double one_dimension = 0.6, two_dimensions = 0.3, one_step = 0.7;

/* ---- ids that were seen: open addressing over the first 64 bits ---- */
static uint64_t key_of(const ws_hash *id) {
  char digits[17];
  memcpy(digits, id->hex, 16);
  digits[16] = '\0';
  return strtoull(digits, NULL, 16) | 1; /* 0 marks a free slot */
}

static size_t slot_of(const ws__seen *seen, uint64_t key) {
  size_t slot = (size_t)(key >> 1) & (seen->capacity - 1);
  while (seen->slots[slot] && seen->slots[slot] != key)
    slot = (slot + 1) & (seen->capacity - 1);
  return slot;
}

bool ws__seen_contains(const ws__seen *seen, const ws_hash *id) {
  if (!seen->capacity)
    return false;
  return seen->slots[slot_of(seen, key_of(id))] != 0;
}

static void grow_seen(ws__seen *seen) {
  ws__seen larger = {.capacity = seen->capacity ? 2 * seen->capacity : 1024,
                     .count = seen->count};
  larger.slots = calloc(larger.capacity, sizeof *larger.slots);
  WS_ASSERT(larger.slots);
  for (size_t i = 0; i < seen->capacity; i++)
    if (seen->slots[i])
      larger.slots[slot_of(&larger, seen->slots[i])] = seen->slots[i];
  free(seen->slots);
  *seen = larger;
}

void ws__seen_add(ws__seen *seen, const ws_hash *id) {
  if (2 * seen->count >= seen->capacity)
    grow_seen(seen);
  uint64_t key = key_of(id);
  size_t slot = slot_of(seen, key);
  seen->count += seen->slots[slot] == 0;
  seen->slots[slot] = key;
}

void ws__seen_deinit(ws__seen *seen) { free(seen->slots); }

/* ---- the space ---- */
static ws_status fix_layout(const ws_template *tmpl, int layout,
                            const char *layout_name, int64_t *values,
                            int *out_param, ws_diag *diag) {
  *out_param = ws_template_param_index(tmpl, "layout");
  if (*out_param < 0 && layout == 0)
    return WS_OK;
  if (*out_param >= 0) {
    const ws_param *param = &tmpl->params[*out_param];
    for (int i = 0; i < param->value_count; i++)
      if (param->values[i] == layout) {
        values[*out_param] = layout;
        return WS_OK;
      }
  }
  return ws_fail(diag, WS_INPUT, tmpl->file,
                 *out_param < 0 ? 0 : tmpl->params[*out_param].line,
                 "template %s does not serve layout %s: its parameter "
                 "\"layout\" must allow the value %d",
                 tmpl->name, layout_name, layout);
}

static void add_dimensions(ws__space *space, ws_arena *arena,
                           int layout_param) {
  const ws_template *tmpl = space->tmpl;
  ws__dimension *dimensions =
      ws_arena_alloc(arena, sizeof *dimensions * (size_t)(tmpl->param_count +
                                                          tmpl->region_count));
  for (int i = 0; i < tmpl->param_count; i++)
    if (i != layout_param && tmpl->params[i].value_count > 1)
      dimensions[space->count++] = (ws__dimension){
          .param = i, .region = -1, .size = tmpl->params[i].value_count};
  for (int i = 0; i < tmpl->region_count; i++)
    if (tmpl->regions[i].variant_count > 0)
      dimensions[space->count++] = (ws__dimension){
          .param = -1, .region = i, .size = tmpl->regions[i].variant_count + 1};
  space->dimensions = dimensions;
}

static bool *names_of(const ws__space *space, ws_arena *arena,
                      const ws_require *require) {
  bool *names = ws_arena_alloc(arena, sizeof *names * (size_t)space->count);
  for (int n = 0; n < ws_expr_name_count(require->expr); n++) {
    int param =
        ws_template_param_index(space->tmpl, ws_expr_name(require->expr, n));
    for (int d = 0; d < space->count; d++)
      names[d] |= param >= 0 && space->dimensions[d].param == param;
  }
  return names;
}

/* How many leading dimensions must be set before a constraint that names these
 * can be evaluated. */
static int depth_of(const ws__space *space, const bool *names) {
  int depth = space->count;
  while (depth > 0 && !names[depth - 1])
    depth--;
  return depth;
}

static void add_scope(ws__space *space, ws_arena *arena) {
  const ws_template *tmpl = space->tmpl;
  space->bindings =
      ws_arena_alloc(arena, sizeof *space->bindings *
                                (size_t)(tmpl->param_count + WS_MAX_DIMS));
  for (int i = 0; i < tmpl->param_count; i++)
    space->bindings[i] =
        (ws_binding){tmpl->params[i].name, space->fixed_values[i]};
  for (int i = 0; i < tmpl->dims->count; i++)
    space->bindings[tmpl->param_count + i] =
        (ws_binding){tmpl->dims->names[i], 0};
  size_t count = (size_t)tmpl->require_count;
  int *depths = ws_arena_alloc(arena, sizeof *depths * count);
  space->names = ws_arena_alloc(arena, sizeof *space->names * count);
  for (int i = 0; i < tmpl->require_count; i++) {
    space->names[i] = names_of(space, arena, &tmpl->requires[i]);
    depths[i] = depth_of(space, space->names[i]);
  }
  space->require_depth = depths;
  space->broken = ws_arena_alloc(arena, sizeof *space->broken * count);
}

ws_status ws__space_init(ws__space *space, ws_arena *arena,
                         const ws_template *tmpl, int layout,
                         const char *layout_name, const ws_shape *shapes,
                         int shape_count, ws_diag *diag) {
  *space =
      (ws__space){.tmpl = tmpl, .shapes = shapes, .shape_count = shape_count};
  int64_t *values =
      ws_arena_alloc(arena, sizeof *values * (size_t)tmpl->param_count);
  for (int i = 0; i < tmpl->param_count; i++)
    values[i] = tmpl->params[i].default_value;
  int layout_param = -1;
  WS_TRY(fix_layout(tmpl, layout, layout_name, values, &layout_param, diag));
  space->fixed_values = values;
  add_dimensions(space, arena, layout_param);
  add_scope(space, arena);
  return WS_OK;
}

static int choice_of(const ws_param *param, int64_t value) {
  int choice = 0;
  while (choice + 1 < param->value_count && param->values[choice] != value)
    choice++;
  return choice;
}

void ws__space_default(const ws__space *space, int *out_point) {
  for (int d = 0; d < space->count; d++) {
    int index = space->dimensions[d].param;
    out_point[d] = index < 0
                       ? 0
                       : choice_of(&space->tmpl->params[index],
                                   space->tmpl->params[index].default_value);
  }
}

void ws__space_point_of(const ws__space *space, const ws_candidate *candidate,
                        int *out_point) {
  for (int d = 0; d < space->count; d++) {
    const ws__dimension *dimension = &space->dimensions[d];
    if (dimension->param >= 0) {
      out_point[d] = choice_of(&space->tmpl->params[dimension->param],
                               candidate->values[dimension->param]);
      continue;
    }
    const ws_body *body = &candidate->bodies[dimension->region];
    out_point[d] = body->text ? WS__OWN_BODY : body->variant + 1;
  }
}

ws_candidate *ws__space_candidate_on(const ws__space *space, ws_arena *arena,
                                     const int *point,
                                     const ws_candidate *base) {
  ws_candidate *candidate = base ? ws_candidate_copy(arena, base)
                                 : ws_candidate_create(arena, space->tmpl);
  for (int i = 0; i < space->tmpl->param_count; i++)
    candidate->values[i] = space->fixed_values[i];
  for (int d = 0; d < space->count; d++) {
    const ws__dimension *dimension = &space->dimensions[d];
    if (dimension->param >= 0)
      candidate->values[dimension->param] =
          space->tmpl->params[dimension->param].values[point[d]];
    else if (point[d] != WS__OWN_BODY)
      candidate->bodies[dimension->region] = (ws_body){.variant = point[d] - 1};
  }
  ws_candidate_update_id(candidate);
  return candidate;
}

ws_candidate *ws__space_candidate(const ws__space *space, ws_arena *arena,
                                  const int *point) {
  return ws__space_candidate_on(space, arena, point, NULL);
}

/* ---- legality ---- */
static void bind(ws__space *space, int dimension, int choice) {
  int param = space->dimensions[dimension].param;
  if (param >= 0)
    space->bindings[param].value = space->tmpl->params[param].values[choice];
}

/* A constraint that cannot be evaluated (division by zero) does not hold. */
static bool holds(ws__space *space, int require) {
  ws_scope scope = {space->bindings, space->tmpl->param_count + 3};
  int64_t value = 0;
  return ws_expr_eval(space->tmpl->requires[require].expr, &scope, &value,
                      NULL) == WS_OK &&
         value != 0;
}

/* The first constraint without shape that `depth` dimensions decide and that
 * does not hold, or -1. */
static int broken_at_depth(ws__space *space, int depth) {
  for (int i = 0; i < space->tmpl->require_count; i++)
    if (!space->tmpl->requires[i].uses_shape &&
        space->require_depth[i] == depth && !holds(space, i)) {
      space->broken[i]++;
      return i;
    }
  return -1;
}

/* The constraint that refuses the last shape when all are refused, or -1. */
static int broken_by_shapes(ws__space *space) {
  ws_binding *sizes = &space->bindings[space->tmpl->param_count];
  int broken = -1;
  for (int s = 0; s < space->shape_count; s++) {
    ws_shape_bindings(&space->shapes[s], sizes);
    broken = -1;
    for (int i = 0; broken < 0 && i < space->tmpl->require_count; i++)
      if (space->tmpl->requires[i].uses_shape && !holds(space, i))
        broken = i;
    if (broken < 0)
      return -1;
  }
  if (broken >= 0)
    space->broken[broken]++;
  return broken;
}

/* The first constraint that point breaks, or -1. */
static int broken_by(ws__space *space, const int *point) {
  for (int d = 0; d < space->count; d++)
    bind(space, d, point[d]);
  int broken = -1;
  for (int depth = 0; broken < 0 && depth <= space->count; depth++)
    broken = broken_at_depth(space, depth);
  return broken >= 0 ? broken : broken_by_shapes(space);
}

bool ws__space_is_legal(ws__space *space, const int *point) {
  return broken_by(space, point) < 0;
}

static bool is_new(const ws__space *space, const ws__seen *seen,
                   const ws_candidate *base, const int *point) {
  ws_arena *arena = ws_arena_create();
  const ws_candidate *candidate =
      ws__space_candidate_on(space, arena, point, base);
  bool contained = ws__seen_contains(seen, &candidate->id);
  ws_arena_destroy(arena);
  return !contained;
}

static bool is_fixed(const ws__space *space, int dimension,
                     const ws_candidate *base) {
  int region = space->dimensions[dimension].region;
  return base && region >= 0 && base->bodies[region].text;
}

/* ---- drawing ---- */
typedef struct walk {
  ws__space *space;
  ws_rng *rng;
  const ws__seen *seen;
  const ws_candidate *base;
  int *point;
  int64_t nodes;
  bool tired;
} walk;

/* Tries the choices of dimension `depth` in order from a random one. True:
 * found a point, or tired. Terminates: depth grows up to the dimensions. */
static bool walk_from(walk *w, int depth) {
  if (++w->nodes > WALK_NODES)
    return w->tired = true;
  if (broken_at_depth(w->space, depth) >= 0)
    return false;
  if (depth == w->space->count)
    return broken_by_shapes(w->space) < 0 &&
           is_new(w->space, w->seen, w->base, w->point);
  if (is_fixed(w->space, depth, w->base)) {
    w->point[depth] = WS__OWN_BODY;
    return walk_from(w, depth + 1);
  }
  int size = w->space->dimensions[depth].size;
  int first = (int)ws_rng_below(w->rng, (uint64_t)size);
  for (int i = 0; i < size; i++) {
    w->point[depth] = (first + i) % size;
    bind(w->space, depth, w->point[depth]);
    if (walk_from(w, depth + 1))
      return true;
  }
  return false;
}

ws__draw ws__space_draw_on(ws__space *space, ws_rng *rng, const ws__seen *seen,
                           const ws_candidate *base, int *out_point) {
  for (int i = 0; i < REJECTION_TRIES; i++) {
    for (int d = 0; d < space->count; d++)
      out_point[d] =
          is_fixed(space, d, base)
              ? WS__OWN_BODY
              : (int)ws_rng_below(rng, (uint64_t)space->dimensions[d].size);
    if (ws__space_is_legal(space, out_point) &&
        is_new(space, seen, base, out_point))
      return WS__DRAW_FOUND;
  }
  walk w = {.space = space,
            .rng = rng,
            .seen = seen,
            .base = base,
            .point = out_point};
  bool ended = walk_from(&w, 0);
  return w.tired ? WS__DRAW_GAVE_UP : ended ? WS__DRAW_FOUND : WS__DRAW_NONE;
}

ws__draw ws__space_draw(ws__space *space, ws_rng *rng, const ws__seen *seen,
                        int *out_point) {
  return ws__space_draw_on(space, rng, seen, NULL, out_point);
}

/* ---- moving ---- */
static int moved_dimensions(ws_rng *rng) {
  double draw = ws_rng_double(rng);
  return draw < one_dimension                    ? 1
         : draw < one_dimension + two_dimensions ? 2
                                                 : MAX_MOVED;
}

/* Another choice of a dimension; values ascend, so a neighbour is one step
 * away. Variants have no order: any other. */
static int another_choice(const ws__dimension *dimension, int choice,
                          ws_rng *rng) {
  bool step = dimension->param >= 0 && ws_rng_double(rng) < one_step;
  if (step) {
    int next = choice + (ws_rng_below(rng, 2) ? 1 : -1);
    if (next >= 0 && next < dimension->size)
      return next;
    return choice == 0 ? 1 : choice - 1;
  }
  int other = (int)ws_rng_below(rng, (uint64_t)(dimension->size - 1));
  return other < choice ? other : other + 1;
}

/* Draws choices anew, of dimensions that a broken constraint names and that
 * are not locked, until point is legal. False: tries did not make it so. */
static bool repair(ws__space *space, ws_rng *rng, const bool *locked,
                   int *point) {
  for (int i = 0; i < REPAIR_TRIES; i++) {
    int broken = broken_by(space, point), drawn = -1, named = 0;
    if (broken < 0)
      return true;
    for (int d = 0; d < space->count; d++)
      if (space->names[broken][d] && !locked[d] &&
          ws_rng_below(rng, (uint64_t)++named) == 0)
        drawn = d; /* each of them equally likely */
    if (drawn < 0)
      return false;
    point[drawn] = another_choice(&space->dimensions[drawn], point[drawn], rng);
  }
  return false;
}

/* Changes `moves` dimensions of those that are not locked, and locks them. */
static void change(const ws__space *space, ws_rng *rng, int moves, bool *locked,
                   int *point) {
  int free_count = 0;
  for (int d = 0; d < space->count; d++)
    free_count += !locked[d];
  for (; moves > 0 && free_count > 0; moves--, free_count--) {
    int nth = (int)ws_rng_below(rng, (uint64_t)free_count), d = 0;
    while (locked[d] || nth-- > 0)
      d++;
    point[d] = another_choice(&space->dimensions[d], point[d], rng);
    locked[d] = true;
  }
}

enum { MAX_DIMENSIONS = WS_TEMPLATE_MAX_PARAMS + WS_TEMPLATE_MAX_REGIONS };

static void lock_own_bodies(const ws__space *space, const int *point,
                            bool *locked) {
  for (int d = 0; d < space->count; d++)
    locked[d] = point[d] == WS__OWN_BODY;
}

bool ws__space_move(ws__space *space, ws_rng *rng, const ws__seen *seen,
                    const ws_candidate *base, const int *from, int *out_point) {
  bool locked[MAX_DIMENSIONS];
  for (int i = 0; i < MOVE_TRIES; i++) {
    memcpy(out_point, from, sizeof *from * (size_t)space->count);
    lock_own_bodies(space, from, locked);
    change(space, rng, moved_dimensions(rng), locked, out_point);
    if (repair(space, rng, locked, out_point) &&
        is_new(space, seen, base, out_point))
      return true;
  }
  return false;
}

bool ws__space_cross(ws__space *space, ws_rng *rng, const ws__seen *seen,
                     const ws_candidate *base, const int *a, const int *b,
                     int *out_point) {
  bool locked[MAX_DIMENSIONS];
  for (int i = 0; i < MOVE_TRIES; i++) {
    for (int d = 0; d < space->count; d++)
      out_point[d] = is_fixed(space, d, base) ? WS__OWN_BODY
                     : a[d] == WS__OWN_BODY   ? b[d]
                     : b[d] == WS__OWN_BODY || ws_rng_below(rng, 2) ? a[d]
                                                                    : b[d];
    lock_own_bodies(space, out_point, locked);
    if (repair(space, rng, locked, out_point) &&
        is_new(space, seen, base, out_point))
      return true;
  }
  return false;
}

/* ---- words ---- */
static const char *choice_text(const ws__space *space, ws_arena *arena,
                               int dimension, int choice) {
  const ws__dimension *d = &space->dimensions[dimension];
  if (d->param >= 0)
    return ws_arena_printf(
        arena, "%lld", (long long)space->tmpl->params[d->param].values[choice]);
  return choice == WS__OWN_BODY ? "own body"
         : choice
             ? space->tmpl->regions[d->region].variants[choice - 1].function
             : "default";
}

char *ws__space_describe_move(const ws__space *space, ws_arena *arena,
                              const int *from, const int *to) {
  char *text = ws_arena_strdup(arena, "");
  for (int d = 0; d < space->count; d++) {
    if (from[d] == to[d])
      continue;
    const ws__dimension *dimension = &space->dimensions[d];
    const char *name = dimension->param >= 0
                           ? space->tmpl->params[dimension->param].name
                           : space->tmpl->regions[dimension->region].function;
    text = ws_arena_printf(arena, "%s%s%s %s -> %s", text, *text ? "; " : "",
                           name, choice_text(space, arena, d, from[d]),
                           choice_text(space, arena, d, to[d]));
  }
  return text;
}

ws_status ws__space_unsatisfiable(const ws__space *space, ws__draw draw,
                                  ws_diag *diag) {
  const ws_template *tmpl = space->tmpl;
  int worst = -1;
  for (int i = 0; i < tmpl->require_count; i++)
    if (worst < 0 || space->broken[i] > space->broken[worst])
      worst = i;
  WS_ASSERT(worst >= 0); /* without constraints every point is legal */
  const ws_require *require = &tmpl->requires[worst];
  const char *finding =
      draw == WS__DRAW_NONE
          ? "no setting of the parameters satisfies all constraints for any "
            "shape of the task"
          : "found no setting of the parameters that satisfies all "
            "constraints, neither at random nor by a search of a million steps";
  return ws_fail(diag, WS_INPUT, tmpl->file, require->line,
                 "%s; the one broken most is this: %s (%s)", finding,
                 require->reason, ws_expr_text(require->expr));
}
