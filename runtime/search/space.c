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

/* How many leading dimensions must be set before require can be evaluated. */
static int depth_of(const ws__space *space, const ws_require *require) {
  int depth = 0;
  for (int n = 0; n < ws_expr_name_count(require->expr); n++) {
    int param =
        ws_template_param_index(space->tmpl, ws_expr_name(require->expr, n));
    for (int d = 0; param >= 0 && d < space->count; d++)
      if (space->dimensions[d].param == param && depth < d + 1)
        depth = d + 1;
  }
  return depth;
}

static void add_scope(ws__space *space, ws_arena *arena) {
  static const char *const shape_names[] = {"m", "n", "k"};
  const ws_template *tmpl = space->tmpl;
  space->bindings = ws_arena_alloc(arena, sizeof *space->bindings *
                                              (size_t)(tmpl->param_count + 3));
  for (int i = 0; i < tmpl->param_count; i++)
    space->bindings[i] =
        (ws_binding){tmpl->params[i].name, space->fixed_values[i]};
  for (int i = 0; i < 3; i++)
    space->bindings[tmpl->param_count + i] = (ws_binding){shape_names[i], 0};
  size_t count = (size_t)tmpl->require_count;
  int *depths = ws_arena_alloc(arena, sizeof *depths * count);
  for (int i = 0; i < tmpl->require_count; i++)
    depths[i] = depth_of(space, &tmpl->requires[i]);
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

void ws__space_default(const ws__space *space, int *out_point) {
  for (int d = 0; d < space->count; d++) {
    int index = space->dimensions[d].param;
    out_point[d] = 0;
    if (index < 0)
      continue;
    const ws_param *param = &space->tmpl->params[index];
    while (param->values[out_point[d]] != param->default_value)
      out_point[d]++;
  }
}

ws_candidate *ws__space_candidate(const ws__space *space, ws_arena *arena,
                                  const int *point) {
  ws_candidate *candidate = ws_candidate_create(arena, space->tmpl);
  for (int i = 0; i < space->tmpl->param_count; i++)
    candidate->values[i] = space->fixed_values[i];
  for (int d = 0; d < space->count; d++) {
    const ws__dimension *dimension = &space->dimensions[d];
    if (dimension->param >= 0)
      candidate->values[dimension->param] =
          space->tmpl->params[dimension->param].values[point[d]];
    else
      candidate->bodies[dimension->region].variant = point[d] - 1;
  }
  ws_candidate_update_id(candidate);
  return candidate;
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

/* Those constraints without shape that `depth` dimensions decide. */
static bool hold_at_depth(ws__space *space, int depth) {
  for (int i = 0; i < space->tmpl->require_count; i++)
    if (!space->tmpl->requires[i].uses_shape &&
        space->require_depth[i] == depth && !holds(space, i)) {
      space->broken[i]++;
      return false;
    }
  return true;
}

static bool takes_a_shape(ws__space *space) {
  ws_binding *mnk = &space->bindings[space->tmpl->param_count];
  int broken = -1;
  for (int s = 0; s < space->shape_count; s++) {
    mnk[0].value = space->shapes[s].m;
    mnk[1].value = space->shapes[s].n;
    mnk[2].value = space->shapes[s].k;
    broken = -1;
    for (int i = 0; broken < 0 && i < space->tmpl->require_count; i++)
      if (space->tmpl->requires[i].uses_shape && !holds(space, i))
        broken = i;
    if (broken < 0)
      return true;
  }
  if (broken >= 0)
    space->broken[broken]++;
  return false;
}

bool ws__space_is_legal(ws__space *space, const int *point) {
  for (int d = 0; d < space->count; d++)
    bind(space, d, point[d]);
  for (int depth = 0; depth <= space->count; depth++)
    if (!hold_at_depth(space, depth))
      return false;
  return takes_a_shape(space);
}

static bool is_new(const ws__space *space, const ws__seen *seen,
                   const int *point) {
  ws_arena *arena = ws_arena_create();
  const ws_candidate *candidate = ws__space_candidate(space, arena, point);
  bool contained = ws__seen_contains(seen, &candidate->id);
  ws_arena_destroy(arena);
  return !contained;
}

/* ---- drawing ---- */
typedef struct walk {
  ws__space *space;
  ws_rng *rng;
  const ws__seen *seen;
  int *point;
  int64_t nodes;
  bool tired;
} walk;

/* Tries the choices of dimension `depth` in order from a random one. True:
 * found a point, or tired. Terminates: depth grows up to the dimensions. */
static bool walk_from(walk *w, int depth) {
  if (++w->nodes > WALK_NODES)
    return w->tired = true;
  if (!hold_at_depth(w->space, depth))
    return false;
  if (depth == w->space->count)
    return takes_a_shape(w->space) && is_new(w->space, w->seen, w->point);
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

ws__draw ws__space_draw(ws__space *space, ws_rng *rng, const ws__seen *seen,
                        int *out_point) {
  for (int i = 0; i < REJECTION_TRIES; i++) {
    for (int d = 0; d < space->count; d++)
      out_point[d] =
          (int)ws_rng_below(rng, (uint64_t)space->dimensions[d].size);
    if (ws__space_is_legal(space, out_point) && is_new(space, seen, out_point))
      return WS__DRAW_FOUND;
  }
  walk w = {.space = space, .rng = rng, .seen = seen, .point = out_point};
  bool ended = walk_from(&w, 0);
  return w.tired ? WS__DRAW_GAVE_UP : ended ? WS__DRAW_FOUND : WS__DRAW_NONE;
}

/* ---- moving ---- */
static int moved_dimensions(ws_rng *rng, int limit) {
  double draw = ws_rng_double(rng);
  int count = draw < one_dimension                    ? 1
              : draw < one_dimension + two_dimensions ? 2
                                                      : MAX_MOVED;
  return count < limit ? count : limit;
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

bool ws__space_move(ws__space *space, ws_rng *rng, const ws__seen *seen,
                    const int *from, int *out_point) {
  if (space->count == 0)
    return false;
  for (int i = 0; i < MOVE_TRIES; i++) {
    memcpy(out_point, from, sizeof *from * (size_t)space->count);
    int moves = moved_dimensions(rng, space->count);
    while (moves > 0) {
      int d = (int)ws_rng_below(rng, (uint64_t)space->count);
      if (out_point[d] != from[d])
        continue; /* terminates: fewer are moved than there are */
      out_point[d] = another_choice(&space->dimensions[d], from[d], rng);
      moves--;
    }
    if (ws__space_is_legal(space, out_point) && is_new(space, seen, out_point))
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
  return choice ? space->tmpl->regions[d->region].variants[choice - 1].function
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
