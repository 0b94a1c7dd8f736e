/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Names of verdicts and the default limits of a build.
 */
#include "wavesmith/build.h"

#include <string.h>

static const char *const verdict_names[] = {
#define VERDICT_NAME(name, text) text,
    WS_VERDICT_MAP(VERDICT_NAME)
#undef VERDICT_NAME
};

const char *ws_verdict_text(ws_verdict verdict) {
  return (unsigned)verdict < WS_VERDICT_COUNT ? verdict_names[verdict]
                                              : "unknown";
}

bool ws_verdict_parse(const char *text, ws_verdict *out_verdict) {
  for (int i = 0; i < WS_VERDICT_COUNT; i++)
    if (!strcmp(text, verdict_names[i])) {
      *out_verdict = (ws_verdict)i;
      return true;
    }
  return false;
}

const ws_limits ws_limits_default = {
    .wall_ms = 20000, .cpu_ms = 15000, .memory_mb = 2048};
