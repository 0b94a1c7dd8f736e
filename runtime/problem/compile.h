/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a problem's C file to a library that can be loaded.
 */
#ifndef WAVESMITH_PROBLEM_COMPILE_H
#define WAVESMITH_PROBLEM_COMPILE_H

#include "wavesmith/problem.h"

/* Compiles it unless that was done before. WS_INPUT with the compiler's first
 * error; WS_ENVIRONMENT without a compiler or a place to keep it. The path is
 * in the arena. */
ws_status ws__problem_library(ws_arena *arena, const char *path,
                              const char **out_library,
                              ws_diag *diag) WS_MUST_CHECK;

#endif
