/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What users say in words: a layout, a list of shapes.
 */
#include "parts.h"
#include "shape_log.h"

#include <string.h>

ws_status ws_problem_choose_layout(const ws_problem *problem,
                                   const char *target, const char *name,
                                   int *out_layout, ws_diag *diag) {
  ws_strbuf known;
  int chosen = -1;
  ws_strbuf_init(&known);
  for (int i = 0; i < problem->layout_count; i++) {
    if (!ws_problem_layout_suits(problem, i, target))
      continue;
    if (chosen < 0 && (!name || !strcmp(name, problem->layouts[i].name)))
      chosen = i;
    ws_strbuf_printf(&known, "%s%s", known.size ? ", " : "",
                     problem->layouts[i].name);
  }
  ws_status status = WS_OK;
  if (chosen < 0)
    status = ws_fail(diag, WS_USAGE, NULL, 0,
                     "problem %s has no layout '%s' for %s; it has %s",
                     problem->name, name ? name : "", target,
                     known.size ? known.data : "none");
  ws_strbuf_deinit(&known);
  *out_layout = chosen < 0 ? 0 : chosen;
  return status;
}

static ws_status unknown_set(const ws_problem *problem, const char *name,
                             ws_diag *diag) {
  ws_strbuf list;
  ws_strbuf_init(&list);
  for (int i = 0; i < problem->shape_set_count; i++)
    ws_strbuf_printf(&list, "%s%s", i ? ", " : "", problem->shape_sets[i].name);
  ws_status status =
      ws_fail(diag, WS_USAGE, NULL, 0,
              "problem %s has no shape set '%s'; it has %s, or give shapes as "
              "%s;%s, or "
              "a log of shapes as a path with a '.' or '/'",
              problem->name, name, list.data, ws_dims_text(problem->dims),
              ws_dims_text(problem->dims));
  ws_strbuf_deinit(&list);
  return status;
}

/* ---- lists of shapes ---- */

static bool is_shape(const char *item) {
  return strpbrk(item, ",=") || strspn(item, "0123456789") == strlen(item);
}

/* No name of a set and no shape has these. */
static bool is_file(const char *item) { return strpbrk(item, "./"); }

typedef struct shape_list {
  const ws_problem *problem;
  const char *layout;
  ws_arena *arena;
  ws_shape *shapes;
  int count, room;
  bool has_file;
} shape_list;

/* Unless it is there. */
static void add_shape(shape_list *list, const ws_shape *shape) {
  for (int i = 0; i < list->count; i++)
    if (ws_shape_same(&list->shapes[i], shape))
      return;
  list->shapes = ws_arena_grow(list->arena, list->shapes, sizeof *shape,
                               list->count, &list->room);
  list->shapes[list->count++] = *shape;
}

static void add_shapes(shape_list *list, const ws_shape *shapes, int count) {
  for (int i = 0; i < count; i++)
    add_shape(list, &shapes[i]);
}

static ws_status add_file(shape_list *list, const char *path, ws_diag *diag) {
  const ws_shape *shapes;
  int count;
  WS_TRY(ws__shape_log_read(list->problem, list->layout, list->arena, path,
                            &shapes, &count, diag));
  add_shapes(list, shapes, count);
  list->has_file = true;
  return WS_OK;
}

static ws_status add_item(shape_list *list, const char *item, ws_diag *diag) {
  const ws_problem *problem = list->problem;
  const ws_shape_set *set = ws_problem_shape_set(problem, item);
  ws_shape shape;
  if (set) {
    add_shapes(list, set->shapes, set->count);
    return WS_OK;
  }
  if (is_file(item))
    return add_file(list, item, diag);
  if (!is_shape(item))
    return unknown_set(problem, item, diag);
  if (ws_shape_parse(problem->dims, &item, &shape, diag) != WS_OK)
    return WS_USAGE;
  WS_TRY(ws_problem_check_shape(problem, &shape, diag));
  add_shape(list, &shape);
  return WS_OK;
}

static const char *list_text(const shape_list *list) {
  ws_strbuf text;
  char shape[WS_SHAPE_TEXT];
  ws_strbuf_init(&text);
  for (int i = 0; i < list->count; i++)
    ws_strbuf_printf(&text, "%s%s", i ? ";" : "",
                     ws_shape_print(&list->shapes[i], shape));
  const char *out = ws_arena_strdup(list->arena, text.data);
  ws_strbuf_deinit(&text);
  return out;
}

ws_status ws_problem_read_shapes(const ws_problem *problem, const char *layout,
                                 ws_arena *arena, const char *text,
                                 ws_shape_set *out_set, ws_diag *diag) {
  shape_list list = {.problem = problem, .layout = layout, .arena = arena};
  size_t size;
  for (const char *at = text; *at; at += size + (at[size] == ';')) {
    size = strcspn(at, ";");
    WS_TRY(add_item(&list, ws_arena_strndup(arena, at, size), diag));
  }
  if (!list.count)
    return unknown_set(problem, text, diag);
  *out_set = (ws_shape_set){.name = list.has_file ? list_text(&list) : text,
                            .shapes = list.shapes,
                            .count = list.count};
  return WS_OK;
}
