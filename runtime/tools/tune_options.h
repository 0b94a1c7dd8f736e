/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The options that `wavesmith tune` and `wavesmith mcp` take.
 */
#ifndef WAVESMITH_TOOLS_TUNE_OPTIONS_H
#define WAVESMITH_TOOLS_TUNE_OPTIONS_H

#include "wavesmith/search.h"

enum { TUNE_MODELS = 16, TUNE_STARTS = 64 };
typedef struct tune_arguments {
  ws_tune_options tune;
  const char *models[TUNE_MODELS], *starts[TUNE_STARTS], *points[TUNE_STARTS];
  bool help;
} tune_arguments;

/* One line per option, for a usage text. */
extern const char tune_options_help[];

/* program: "tune", for messages. WS_USAGE: an option is wrong. Options that are
 * not given have the defaults that the help names. */
ws_status tune_options_read(const char *program, int argc, char **argv,
                            tune_arguments *out, ws_diag *diag) WS_MUST_CHECK;
/* The limit of a run that was given none; WS_USAGE when models are asked. */
ws_status tune_options_limit(tune_arguments *out, ws_diag *diag) WS_MUST_CHECK;

#endif
