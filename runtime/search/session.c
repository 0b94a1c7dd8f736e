/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A session's beginning and end: from options to an archive, servers, a device,
 * models and a strategy. Every wrong option ends here, before anything is asked
 * or built.
 */
#include "session.h"
#include "ground.h"

#include <string.h>

enum { BATCH_ROUND = 64 };

/* Of templates that candidates of the start brought. */
static ws_status add_spaces(ws_session *s) {
  int layout = ws_problem_layout_index(s->task.problem, s->task.layout);
  for (int i = 1; i < s->sources.count; i++) {
    ws__space *space = ws_arena_alloc(s->arena, sizeof *space);
    WS_TRY(ws__space_init(space, s->arena, s->sources.items[i]->tmpl, layout,
                          s->task.layout, s->task.shapes, s->task.shape_count,
                          s->diag));
    ws__knowledge_add_space(&s->knowledge, space);
  }
  return WS_OK;
}

/* Times of a device are taken on samples of a large set. Estimates of all
 * shapes cost nothing beside a build, and tell more than samples would. */
static void know_large_set(ws_session *s) {
  const ws__task *task = &s->task;
  if (task->shape_count <= WS__ALL_SHAPES || !s->ranking.by_device)
    return;
  ws_arena *arena = ws_arena_create();
  double *limit_us =
      ws_arena_alloc(arena, sizeof *limit_us * (size_t)task->shape_count);
  for (int i = 0; i < task->shape_count; i++)
    limit_us[i] =
        ws_target_roofline_us(task->target, task->problem, &task->shapes[i]);
  ws__knowledge_set_large(&s->knowledge, task->shapes, limit_us);
  ws_arena_destroy(arena);
}

/* ---- the window ---- */
/* In rounds it is the round; else all of it, for models what they may have in
 * hand. */
static void set_window(ws_session *s) {
  const ws_tune_options *o = s->options;
  int round = o->round > 0              ? o->round
              : ws__is_batch(o->device) ? BATCH_ROUND
                                        : 0;
  s->rounds.size = round < WS__MOST_ROUND ? round : WS__MOST_ROUND;
  ws__ring_init(&s->ring, s->arena,
                s->rounds.size  ? s->rounds.size
                : s->models.llm ? s->models.in_flight
                                : WS__WINDOW);
}

/* ---- begin and end ---- */
ws_status ws__session_begin(ws_session *s) {
  s->run.lock = -1;
  ws_compiler *compiler;
  const ws__strategy *strategy = s->proposing.strategy;
  const char *needed_by =
      strategy && strategy->needs_model ? strategy->name : NULL;
  WS_TRY(ws__ranking_read_table(s));
  WS_TRY(ws__models_open(&s->models, s->arena, s->options, needed_by, s->diag));
  set_window(s);
  WS_TRY(ws_compiler_start(&compiler, s->diag));
  ws__pool_init(&s->pool, s->arena, s->options->workers, s->ring.size,
                compiler);
  WS_TRY(ws__task_init(&s->task, s->arena, s->options, compiler, s->diag));
  WS_TRY(ws_prompts_open(s->arena, s->options->prompts, s->task.target->name,
                         ws_template_language(s->task.source.text),
                         &s->models.prompts, s->diag));
  WS_TRY(ws_archive_open(s->options->archive_path, true, &s->archive, s->diag));
  WS_TRY(ws__run_check(s));
  ws__sources_add(&s->sources, s->arena, &s->task.source);
  if (s->task.baseline.tmpl)
    ws__sources_add(&s->sources, s->arena, &s->task.baseline);
  WS_TRY(ws__starts_read(s));
  WS_TRY(ws__ranking_open(s));
  WS_TRY(ws__run_begin(s));
  ws__knowledge_init(&s->knowledge, s->arena, &s->task.space,
                     &s->proposing.seen, s->task.shape_count,
                     ws__ranking_noise(&s->ranking), s->rounds.size);
  know_large_set(s);
  s->knowledge.blind = s->options->blind_siblings || s->rounds.size > 0;
  WS_TRY(add_spaces(s));
  if (strategy)
    s->proposing.state = strategy->create(s->arena, &s->knowledge);
  ws_rng_init(&s->proposing.rng, s->options->seed);
  return WS_OK;
}

void ws__session_end(ws_session *s) {
  ws__pool_stop(&s->pool);
  ws__trials_stop(&s->trials);
  ws__ranking_close(&s->ranking);
  ws__models_close(&s->models);
  ws__ring_deinit(&s->ring);
  ws__kept_deinit(&s->kept);
  ws__seen_deinit(&s->proposing.seen);
  ws__seen_deinit(&s->proposing.applied_ids);
  ws_archive_close(s->archive);
  ws__run_end(&s->run);
}
