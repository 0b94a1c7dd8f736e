/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `--reference FILE` and `--tolerance REL[,ABS]`, which every command takes, as
 * it takes --problem.
 */
#ifndef WAVESMITH_REFERENCE_OPTION_H
#define WAVESMITH_REFERENCE_OPTION_H

#include "wavesmith/problem.h"

typedef struct reference_option {
  const char *file;      /* NULL: not given */
  const char *tolerance; /* likewise */
} reference_option;

/* Makes the kernel the reference of its problem; `problem` (NULL: none was
 * named) is that of a HIP file which does not say. Nothing where no file is
 * given. */
ws_status reference_option_take(const reference_option *option,
                                const ws_problem *problem,
                                ws_diag *diag) WS_MUST_CHECK;

#endif
