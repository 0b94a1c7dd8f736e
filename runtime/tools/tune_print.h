/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The result of a tuning run as text.
 */
#ifndef WAVESMITH_TOOLS_TUNE_PRINT_H
#define WAVESMITH_TOOLS_TUNE_PRINT_H

#include "wavesmith/search.h"

/* To stdout; no line has more than TEXT_COLUMNS columns, but for the commands
 * to go on with. */
void tune_print_text(const ws_tune_result *result,
                     const ws_tune_options *options);

#endif
