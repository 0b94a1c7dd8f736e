/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The best of the archive for a task, by shape.
 */
#ifndef WAVESMITH_SEARCH_BEST_H
#define WAVESMITH_SEARCH_BEST_H

#include "task.h"

/* Fills the times and texts of rows (one per shape of the task) from all
 * candidates of the task's problem, layout and target, whichever run they stem
 * from: by times of the device ("": none) where there are any for the shape,
 * else by estimates. *out_candidates: how many the archive holds, those without
 * a time included. */
ws_status ws__best_fill(ws_archive *archive, ws_arena *arena,
                        const ws__task *task, const char *device,
                        ws_tune_row *rows, int64_t *out_candidates,
                        ws_diag *diag) WS_MUST_CHECK;

#endif
