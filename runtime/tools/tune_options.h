/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The options that `wavesmith tune` and `wavesmith mcp` take.
 */
#ifndef WAVESMITH_TOOLS_TUNE_OPTIONS_H
#define WAVESMITH_TOOLS_TUNE_OPTIONS_H

#include "wavesmith/options.h"
#include "wavesmith/search.h"

enum { TUNE_MODELS = 16, TUNE_STARTS = 256 };
typedef struct tune_arguments {
  ws_tune_options tune;
  const char *models[TUNE_MODELS], *starts[TUNE_STARTS], *points[TUNE_STARTS];
  bool help;
} tune_arguments;

extern const ws_option tune_option_rows[];

/* command: with these rows. WS_USAGE: an option is wrong. Options that are not
 * given have the defaults that the help names. */
ws_status tune_options_read(const ws_command *command, int argc, char **argv,
                            tune_arguments *out, ws_diag *diag) WS_MUST_CHECK;
/* The limit of a run that was given none; WS_USAGE when models are asked. */
ws_status tune_options_limit(tune_arguments *out, ws_diag *diag) WS_MUST_CHECK;

#endif
