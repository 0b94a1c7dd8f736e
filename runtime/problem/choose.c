/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What users say in words: a layout, a list of shapes.
 */
#include "parts.h"

#include <stdlib.h>

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
  ws_status status = ws_fail(
      diag, WS_USAGE, NULL, 0,
      "problem %s has no shape set '%s'; it has %s, or give shapes as %s;%s",
      problem->name, name, list.data, ws_dims_text(problem->dims),
      ws_dims_text(problem->dims));
  ws_strbuf_deinit(&list);
  return status;
}

static bool is_shape(const char *item, size_t size) {
  return memchr(item, ',', size) || memchr(item, '=', size) ||
         strspn(item, "0123456789") >= size;
}

/* Unless it is there. */
static void add_shape(ws_shape *shapes, int *count, const ws_shape *shape) {
  for (int i = 0; i < *count; i++)
    if (!memcmp(shapes[i].size, shape->size, sizeof shape->size))
      return;
  shapes[(*count)++] = *shape;
}

ws_status ws_problem_read_shapes(const ws_problem *problem, ws_arena *arena,
                                 const char *text, const ws_shape **out_shapes,
                                 int *out_count, ws_diag *diag) {
  size_t most = 0, item;
  for (const char *at = text; *at; at += item + (at[item] == ';')) {
    item = strcspn(at, ";");
    const ws_shape_set *set =
        ws_problem_shape_set(problem, ws_arena_strndup(arena, at, item));
    most += set ? (size_t)set->count : 1;
  }
  ws_shape *shapes = ws_arena_alloc(arena, sizeof *shapes * (most + 1));
  int count = 0;
  while (*text) {
    item = strcspn(text, ";");
    const char *name = ws_arena_strndup(arena, text, item);
    const ws_shape_set *set = ws_problem_shape_set(problem, name);
    for (int i = 0; set && i < set->count; i++)
      add_shape(shapes, &count, &set->shapes[i]);
    if (set) {
      text += item + (text[item] == ';');
      continue;
    }
    if (!is_shape(text, item))
      return unknown_set(problem, name, diag);
    ws_shape shape;
    if (ws_shape_parse(problem->dims, &text, &shape, diag) != WS_OK)
      return WS_USAGE;
    WS_TRY(ws_problem_check_shape(problem, &shape, diag));
    add_shape(shapes, &count, &shape);
  }
  *out_shapes = shapes;
  *out_count = count;
  return count ? WS_OK : unknown_set(problem, text, diag);
}
