/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The result of a run on a large set, by band of the first size.
 */
#ifndef WAVESMITH_SEARCH_BANDS_H
#define WAVESMITH_SEARCH_BANDS_H

#include "task.h"

/* Fills the bands of a result whose rows and geometric means are filled; none
 * where the set is not large. */
void ws__bands_fill(ws_archive *archive, ws_arena *arena, const ws__task *task,
                    ws_tune_result *out_result);

#endif
