/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a dispatch takes on shapes that it was not made from. A search over a
 * large set is judged by that, not by the best that it found on each shape.
 */
#ifndef WAVESMITH_SEARCH_LEAVE_OUT_H
#define WAVESMITH_SEARCH_LEAVE_OUT_H

#include "task.h"
#include "wavesmith/dispatch.h"

/* By shape of the matrix, the column that ws_dispatch_choose's selection takes
 * there, made without the shapes that share its sizes but the first; -1: none
 * could be made. In the arena. */
const int *ws__leave_out_picks(ws_arena *arena, const ws__task *task,
                               const ws_dispatch_entry *entries,
                               const ws_matrix *matrix);

#endif
