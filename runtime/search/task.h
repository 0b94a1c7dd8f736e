/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is to be tuned: problem, layout, shapes, templates. Made once from the
 * options.
 */
#ifndef WAVESMITH_SEARCH_TASK_H
#define WAVESMITH_SEARCH_TASK_H

#include "space.h"
#include "wavesmith/search.h"
#include "wavesmith/target.h"

typedef struct ws__source { /* a template with its text */
  const ws_template *tmpl;
  const char *text;
  size_t size;
} ws__source;

typedef struct ws__task {
  const ws_problem *problem;
  const ws_target *target; /* of the template */
  const char *layout, *shape_set;
  const ws_shape *shapes;
  int shape_count;
  uint64_t seed; /* of the run */
  ws__source source;
  ws__source baseline; /* tmpl NULL: none */
  ws__space space;
  const ws_candidate *baseline_candidate; /* NULL: none */
} ws__task;

/* Reads and checks everything that the options name; compiler reads the
 * templates. The result lives in the arena. */
ws_status ws__task_init(ws__task *task, ws_arena *arena,
                        const ws_tune_options *options, ws_compiler *compiler,
                        ws_diag *diag) WS_MUST_CHECK;
/* The template as it stands, in the layout; it may break its constraints. */
ws_candidate *ws__task_default(const ws__task *task, ws_arena *arena);

#endif
