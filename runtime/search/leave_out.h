/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a dispatch takes on shapes that it was not made from. A search over a
 * large set is judged by that, not by the best that it found on each shape.
 */
#ifndef WAVESMITH_SEARCH_LEAVE_OUT_H
#define WAVESMITH_SEARCH_LEAVE_OUT_H

#include "task.h"
#include "wavesmith/dispatch.h"

/* The recorded times of one provenance on the task's shapes, with gaps (NAN).
 * Of the candidates those that are near the best on some shape: a dispatch
 * takes no others. entry_count 0: there are none. In the arena. */
ws_status ws__recorded_matrix(ws_archive *archive, ws_arena *arena,
                              const ws__task *task, const char *provenance,
                              ws_dispatch_entry **out_entries,
                              ws_matrix *out_matrix,
                              ws_diag *diag) WS_MUST_CHECK;

/* By shape of the matrix, the column that ws_dispatch_choose's selection takes
 * there, made without the shapes that share its sizes but the first; -1: none
 * could be made. In the arena. */
const int *ws__leave_out_picks(ws_arena *arena, const ws__task *task,
                               const ws_dispatch_entry *entries,
                               const ws_matrix *matrix);

#endif
