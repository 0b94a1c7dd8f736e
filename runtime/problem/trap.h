/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Who is at fault where a function of a user's problem crashes: around each
 * call into one it is noted whose it is and on which shape, for the handlers of
 * signals and of exit(), which end the process with a sentence
 * (ws_problem_on_crash).
 */
#ifndef WAVESMITH_PROBLEM_TRAP_H
#define WAVESMITH_PROBLEM_TRAP_H

#include "wavesmith/problem.h"

/* Handlers, once a process; with the first problem that a file adds. */
void ws__trap_install(void);
/* In a child whose parent looks at its end: none of that from here on. */
void ws__trap_remove(void);
/* Around a call, in the thread that makes it; `what` and the shape stay as long
 * as that. Nothing to do for problems that come with wavesmith. */
void ws__trap_enter(const ws_problem *problem, const ws_shape *shape,
                    const char *what);
void ws__trap_leave(void);

#endif
