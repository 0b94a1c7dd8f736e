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
static ws_status read_shapes(ws__task *task, ws_arena *arena, ws_diag *diag) {
  if (!task->shape_set)
    task->shape_set = task->problem->shape_sets[0].name;
  ws_shape_set set;
  WS_TRY(ws_problem_read_shapes(task->problem, task->layout, arena,
                                task->shape_set, &set, diag));
  task->shape_set = set.name;
  task->shapes = set.shapes;
  task->shape_count = set.count;
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

static ws_status find_problem(ws__task *task, const ws_problem_list *named,
                              ws_diag *diag) {
  const ws_template *tmpl = task->source.tmpl;
  WS_TRY(ws_problem_list_check(named, tmpl->file, tmpl->problem, diag));
  task->problem = ws_problem_find(tmpl->problem);
  task->target = ws_target_find(tmpl->target);
  if (!task->problem)
    return ws_fail(diag, WS_INPUT, tmpl->file, 0,
                   "template %s is for problem '%s', which this program does "
                   "not know; name its file with --problem",
                   tmpl->name, tmpl->problem);
  if (!task->target)
    return ws_fail(diag, WS_INPUT, tmpl->file, 0,
                   "template %s is for target '%s'; there are %s", tmpl->name,
                   tmpl->target, ws_target_list());
  return WS_OK;
}

static ws_status choose_layout(ws__task *task, ws_diag *diag) {
  int layout;
  WS_TRY(ws_problem_choose_layout(task->problem, task->target->name,
                                  task->layout, &layout, diag));
  task->layout = task->problem->layouts[layout].name;
  return WS_OK;
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
  WS_TRY(find_problem(task, &options->problems, diag));
  WS_TRY(choose_layout(task, diag));
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
