/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * When two candidates are the same: see ws_candidate_twin_key. Expressions are
 * hashed as C with the parameters bound, so that a parameter that stands in a
 * grid alone tells candidates apart, and one that stands nowhere does not.
 */
#include "wavesmith/template.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct key {
  ws_hasher *hasher;
  ws_arena *arena;
  ws_scope scope;
} key;

static void add_text(key *k, const char *text) {
  ws_hasher_update_text(k->hasher, text);
}

/* What follows, and how often: so that no list runs into the next. */
static void add_heading(key *k, const char *what, int count) {
  char text[24];
  snprintf(text, sizeof text, "%d", count);
  add_text(k, what);
  add_text(k, text);
}

static void add_expr(key *k, const ws_expr *expr) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_expr_print_c(ws_expr_bind(k->arena, expr, &k->scope), &text);
  add_text(k, text.data);
  ws_strbuf_deinit(&text);
}

static void add_subject(key *k, const ws_candidate *candidate) {
  const ws_template *tmpl = candidate->tmpl;
  char layout[24];
  int index = ws_template_param_index(tmpl, "layout");
  snprintf(layout, sizeof layout, "%" PRId64,
           index < 0 ? 0 : candidate->values[index]);
  add_text(k, tmpl->problem);
  add_text(k, tmpl->target);
  add_text(k, layout);
}

static void add_launches(key *k, const ws_template *tmpl) {
  add_heading(k, "launch", tmpl->launch_count);
  for (int i = 0; i < tmpl->launch_count; i++) {
    const ws_launch *launch = &tmpl->launches[i];
    add_text(k, launch->kernel);
    for (int axis = 0; axis < 3; axis++)
      add_expr(k, launch->grid[axis]);
    add_expr(k, launch->threads);
    add_expr(k, launch->condition);
    add_heading(k, "argument", launch->argument_count);
    for (int a = 0; a < launch->argument_count; a++)
      add_text(k, launch->arguments[a]);
  }
}

static void add_tensor_maps(key *k, const ws_template *tmpl) {
  add_heading(k, "tensor_map", tmpl->tensor_map_count);
  for (int i = 0; i < tmpl->tensor_map_count; i++) {
    const ws_tensor_map *map = &tmpl->tensor_maps[i];
    const ws_expr *const exprs[] = {map->inner, map->outer, map->box_inner,
                                    map->box_outer, map->swizzle};
    add_text(k, map->name);
    add_text(k, map->argument);
    add_heading(k, "element", (int)map->element);
    for (size_t e = 0; e < sizeof exprs / sizeof *exprs; e++)
      add_expr(k, exprs[e]);
  }
}

/* Memory: that of a workgroup, static or dynamic, and the workspace. */
static void add_memory(key *k, const ws_template *tmpl) {
  add_heading(k, "lds", tmpl->lds_count);
  for (int i = 0; i < tmpl->lds_count; i++)
    add_expr(k, tmpl->lds[i].bytes);
  add_heading(k, "workspace", tmpl->workspace != NULL);
  if (tmpl->workspace)
    add_expr(k, tmpl->workspace);
}

static void add_occupancies(key *k, const ws_template *tmpl) {
  add_heading(k, "occupancy", tmpl->occupancy_count);
  for (int i = 0; i < tmpl->occupancy_count; i++) {
    add_text(k, tmpl->occupancies[i].kernel);
    add_expr(k, tmpl->occupancies[i].cluster);
    add_expr(k, tmpl->occupancies[i].workgroups);
  }
}

/* Those on parameters alone hold for both, or there would be no build. */
static void add_constraints(key *k, const ws_template *tmpl) {
  add_text(k, "require");
  for (int i = 0; i < tmpl->require_count; i++)
    if (tmpl->requires[i].uses_shape)
      add_expr(k, tmpl->requires[i].expr);
}

const char *ws_candidate_twin_key(ws_arena *arena,
                                  const ws_candidate *candidate,
                                  const char *build_hash) {
  if (!*build_hash)
    return "";
  key k = {.hasher = ws_hasher_create(),
           .arena = arena,
           .scope = ws_candidate_scope(arena, candidate, NULL, 0)};
  add_text(&k, build_hash);
  add_subject(&k, candidate);
  add_launches(&k, candidate->tmpl);
  add_tensor_maps(&k, candidate->tmpl);
  add_memory(&k, candidate->tmpl);
  add_occupancies(&k, candidate->tmpl);
  add_constraints(&k, candidate->tmpl);
  return ws_arena_strdup(arena, ws_hasher_finish(k.hasher).hex);
}
