/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The definitions that come with wavesmith, for its table of problems.
 */
#ifndef WAVESMITH_KERNELS_SHIPPED_H
#define WAVESMITH_KERNELS_SHIPPED_H

#include "wavesmith/define_problem.h"

typedef const ws_problem_definition *(*ws_shipped_problem)(void);
/* Entry points; NULL ends them. */
extern const ws_shipped_problem ws_shipped_problems[];

#endif
