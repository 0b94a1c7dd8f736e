/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Placeholder until its owner lands it. */
#include "tools.h"
int tool_build(int argc, char **argv) {
  (void)argc, (void)argv;
  return ws_status_exit_code(WS_ENVIRONMENT);
}
