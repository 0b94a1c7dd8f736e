/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a dispatch of the archive ships for a task: the kernels, where each is
 * chosen, and what it gains there.
 */
#ifndef WAVESMITH_SEARCH_SHIPPED_H
#define WAVESMITH_SEARCH_SHIPPED_H

#include "task.h"
#include "wavesmith/dispatch.h"

typedef struct ws__shipped_kernel {
  const char *id;
  const bool *chosen; /* by shape of the task: the rules take it there */
  int chosen_count;
  double gain; /* sum over these shapes of ln(start / it) */
} ws__shipped_kernel;

typedef struct ws__shipped {
  const char *provenance;      /* of the times that it was chosen by */
  ws__shipped_kernel *kernels; /* those that gain most first */
  int count;                   /* 0: nothing can be shipped yet */
  const ws_selection *selection;
  const int *order; /* by pick of the rules, the place in kernels */
} ws__shipped;

/* What `wavesmith dispatch` is made from unasked on this archive (the task's
 * shapes are the first rows); provenance NULL: nothing. In the arena. */
void ws__shipped_times(ws_archive *archive, ws_arena *arena,
                       const ws__task *task, ws_dispatch_entry **out_entries,
                       ws_matrix *out_matrix);
/* The same choice as `wavesmith dispatch` makes unasked on this archive.
 * start_id: what gains are over, by times of the choice's provenance; NULL:
 * none, and the kernels are in the order of shapes that they are chosen for. A
 * task whose
 * archive holds nothing to ship is WS_OK with count 0. In the arena. */
ws_status ws__shipped_find(ws_archive *archive, ws_arena *arena,
                           const ws__task *task, const char *start_id,
                           ws__shipped *out_shipped,
                           ws_diag *diag) WS_MUST_CHECK;

/* Fills the kernels and gains of a result from what is recorded. held_out: the
 * set's name, NULL for "held-out". */
ws_status ws__shipped_fill(ws_archive *archive, ws_arena *arena,
                           const ws__task *task, const char *start_id,
                           const char *held_out, ws_tune_result *out_result,
                           ws_diag *diag) WS_MUST_CHECK;

#endif
