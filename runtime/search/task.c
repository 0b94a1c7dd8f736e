/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From options to a task: every wrong option ends here, before a candidate is
 * built, as one line that says what is allowed.
 */
#include "task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes ---- */
static ws_status unknown_set(const ws_problem *problem, const char *name,
                             ws_diag *diag) {
  ws_strbuf list;
  ws_strbuf_init(&list);
  for (int i = 0; i < problem->shape_set_count; i++)
    ws_strbuf_printf(&list, "%s%s", i ? ", " : "", problem->shape_sets[i].name);
  ws_status status =
      ws_fail(diag, WS_USAGE, NULL, 0,
              "problem %s has no shape set '%s'; it has %s, or give shapes as "
              "m,n,k;m,n,k",
              problem->name, name, list.data);
  ws_strbuf_deinit(&list);
  return status;
}

/* Reads "m,n,k" from *text, which moves behind it and a ';'. */
static bool read_shape(const char **text, ws_shape *out) {
  int64_t *const members[] = {&out->m, &out->n, &out->k};
  for (int i = 0; i < 3; i++) {
    char *end;
    errno = 0;
    *members[i] = strtoll(*text, &end, 10);
    if (end == *text || errno)
      return false;
    *text = end;
    if (i < 2 && *(*text)++ != ',')
      return false;
  }
  if (**text == ';')
    (*text)++;
  else if (**text)
    return false;
  return true;
}

static ws_status read_shapes(ws__task *task, ws_arena *arena, ws_diag *diag) {
  const ws_shape_set *set =
      ws_problem_shape_set(task->problem, task->shape_set);
  if (set) {
    task->shapes = set->shapes;
    task->shape_count = set->count;
    return WS_OK;
  }
  if (!strchr(task->shape_set, ','))
    return unknown_set(task->problem, task->shape_set, diag);
  const char *text = task->shape_set;
  ws_shape *shapes =
      ws_arena_alloc(arena, sizeof *shapes * (strlen(text) / 5 + 1));
  while (*text) {
    ws_shape *shape = &shapes[task->shape_count];
    if (!read_shape(&text, shape))
      return ws_fail(diag, WS_USAGE, NULL, 0,
                     "'%s' is not a list of shapes m,n,k;m,n,k",
                     task->shape_set);
    WS_TRY(task->problem->check_shape(shape, diag));
    task->shape_count++;
  }
  task->shapes = shapes;
  return WS_OK;
}

/* ---- templates ---- */
static ws_status read_source(ws__source *source, ws_arena *arena,
                             const char *path, ws_compiler *compiler,
                             ws_diag *diag) {
  char *text;
  WS_TRY(ws_file_read(arena, path, &text, &source->size, diag));
  source->text = text;
  return ws_compiler_describe(compiler, arena, path, text, source->size,
                              &source->tmpl, diag);
}

static ws_status find_problem(ws__task *task, ws_diag *diag) {
  const ws_template *tmpl = task->source.tmpl;
  task->problem = ws_problem_find(tmpl->problem);
  task->target = ws_target_find(tmpl->target);
  if (!task->problem)
    return ws_fail(diag, WS_INPUT, tmpl->file, 0,
                   "template %s is for problem '%s', which this program does "
                   "not know",
                   tmpl->name, tmpl->problem);
  if (!task->target)
    return ws_fail(diag, WS_INPUT, tmpl->file, 0,
                   "template %s is for target '%s'; there are %s", tmpl->name,
                   tmpl->target, ws_target_list());
  return WS_OK;
}

/* The target's layouts with commas; *out_known: it has this one. */
static const char *list_layouts(const ws__task *task, ws_arena *arena,
                                bool *out_known) {
  const char *list = "", *names = task->target->layouts;
  *out_known = false;
  while (*names) {
    int size = (int)strcspn(names, " ");
    const char *name = ws_arena_printf(arena, "%.*s", size, names);
    *out_known = *out_known || !strcmp(name, task->layout);
    list = ws_arena_printf(arena, "%s%s%s", list, *list ? ", " : "", name);
    names += size + (names[size] == ' ');
  }
  return list;
}

/* Without one asked for it is the target's first. */
static ws_status choose_layout(ws__task *task, ws_arena *arena, ws_diag *diag) {
  const char *layouts = task->target->layouts;
  bool known;
  if (!task->layout)
    task->layout = ws_arena_strndup(arena, layouts, strcspn(layouts, " "));
  const char *list = list_layouts(task, arena, &known);
  if (known && ws_problem_layout_index(task->problem, task->layout) >= 0)
    return WS_OK;
  return ws_fail(diag, WS_USAGE, NULL, 0,
                 "problem %s has no layout '%s' for %s; it has %s",
                 task->problem->name, task->layout, task->target->name, list);
}

static ws_status read_baseline(ws__task *task, ws_arena *arena,
                               const char *path, ws_compiler *compiler,
                               int layout, ws_diag *diag) {
  WS_TRY(read_source(&task->baseline, arena, path, compiler, diag));
  const ws_template *tmpl = task->baseline.tmpl;
  if (strcmp(tmpl->problem, task->problem->name) ||
      strcmp(tmpl->target, task->source.tmpl->target))
    return ws_fail(diag, WS_INPUT, tmpl->file, 0,
                   "the baseline is for %s on %s, the template for %s on %s",
                   tmpl->problem, tmpl->target, task->problem->name,
                   task->source.tmpl->target);
  ws__space space;
  WS_TRY(ws__space_init(&space, arena, tmpl, layout, task->layout, task->shapes,
                        task->shape_count, diag));
  int *point = ws_arena_alloc(arena, sizeof *point * (size_t)space.count);
  ws__space_default(&space, point);
  task->baseline_candidate = ws__space_candidate(&space, arena, point);
  return WS_OK;
}

/* A space without a legal point is an error before anything is built. */
static ws_status check_satisfiable(ws__space *space, ws_arena *arena,
                                   ws_diag *diag) {
  int *point = ws_arena_alloc(arena, sizeof *point * (size_t)space->count);
  ws__space_default(space, point);
  if (ws__space_is_legal(space, point))
    return WS_OK;
  ws_rng rng;
  ws_rng_init(&rng, 0);
  ws__seen none = {0};
  ws__draw draw = ws__space_draw(space, &rng, &none, point);
  return draw == WS__DRAW_FOUND ? WS_OK
                                : ws__space_unsatisfiable(space, draw, diag);
}

ws_status ws__task_init(ws__task *task, ws_arena *arena,
                        const ws_tune_options *options, ws_compiler *compiler,
                        ws_diag *diag) {
  *task = (ws__task){.layout = options->layout,
                     .shape_set = options->shape_set,
                     .seed = options->seed};
  WS_TRY(read_source(&task->source, arena, options->template_file, compiler,
                     diag));
  WS_TRY(find_problem(task, diag));
  WS_TRY(choose_layout(task, arena, diag));
  int layout = ws_problem_layout_index(task->problem, task->layout);
  WS_TRY(read_shapes(task, arena, diag));
  WS_TRY(ws__space_init(&task->space, arena, task->source.tmpl, layout,
                        task->layout, task->shapes, task->shape_count, diag));
  WS_TRY(check_satisfiable(&task->space, arena, diag));
  return options->baseline_file
             ? read_baseline(task, arena, options->baseline_file, compiler,
                             layout, diag)
             : WS_OK;
}

ws_candidate *ws__task_default(const ws__task *task, ws_arena *arena) {
  int point[task->space.count + 1];
  ws__space_default(&task->space, point);
  return ws__space_candidate(&task->space, arena, point);
}
