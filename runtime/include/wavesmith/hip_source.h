/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * HIP C++ as clang is to see it: the options, the folder of the headers that
 * stand in for ROCm's (runtime/hip), and what clang's log says is wrong. Both
 * the program, which may run a clang, and the compile server, which has one in
 * comgr, go by this.
 *
 * Threads: no state.
 */
#ifndef WAVESMITH_HIP_SOURCE_H
#define WAVESMITH_HIP_SOURCE_H

#include "wavesmith/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The folder that holds hip/hip_runtime.h and wavesmith/hip.h: WAVESMITH_HIP
 * of the environment, or share/wavesmith/hip beside the running program.
 * WS_ENVIRONMENT when it is not there. */
ws_status ws_hip_headers(ws_arena *arena, const char **out_folder,
                         ws_diag *diag) WS_MUST_CHECK;

/* Options that every compilation has, as clang takes them; *out_count of them.
 * All but the target and the kind of output. */
const char *const *ws_hip_options(ws_arena *arena, const char *headers,
                                  int *out_count);

/* One error of clang's log. */
typedef struct ws_hip_error {
  const char *file, *text;
  int line;
} ws_hip_error;
/* The next error at or behind *log, which moves on; false: no more. A note
 * that names a parameter of the template becomes part of the sentence. */
bool ws_hip_next_error(ws_arena *arena, const char **log, ws_hip_error *out);

#ifdef __cplusplus
}
#endif
#endif
