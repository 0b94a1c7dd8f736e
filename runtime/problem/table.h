/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Adding an opened problem to the table.
 */
#ifndef WAVESMITH_PROBLEM_TABLE_H
#define WAVESMITH_PROBLEM_TABLE_H

#include "wavesmith/problem.h"

/* WS_INPUT when its name is taken. */
ws_status ws__problem_keep(const ws_problem *problem,
                           ws_diag *diag) WS_MUST_CHECK;

#endif
