/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The shapes of a file that libwavesmith_rt wrote for WAVESMITH_RT_MISSES.
 */
#ifndef WAVESMITH_PROBLEM_SHAPE_LOG_H
#define WAVESMITH_PROBLEM_SHAPE_LOG_H

#include "wavesmith/problem.h"

/* Those of the problem and the layout (NULL: any), each once, those with more
 * launches first; in the arena. Lines of others are passed over, with a
 * warning that counts them; so is a last line that was not written whole. Any
 * other that is no such line is WS_INPUT, as is a file without a shape. */
ws_status ws__shape_log_read(const ws_problem *problem, const char *layout,
                             ws_arena *arena, const char *path,
                             const ws_shape **out_shapes, int *out_count,
                             ws_diag *diag) WS_MUST_CHECK;

#endif
