/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith mcp`: the Model Context Protocol on stdin and stdout. The
 * protocol has stdout for itself: whatever else would write there goes to
 * stderr.
 */
#include "tools.h"
#include "tune_options.h"
#include "wavesmith/mcp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const ws_command mcp_command = {
    .program = "wavesmith mcp",
    .purpose = "let a coding agent propose: a server on stdin and stdout",
    .usage = "TEMPLATE [OPTION ...]",
    .about =
        "Serves the Model Context Protocol on stdin and stdout, so that a "
        "coding\n"
        "agent can be the proposer: it reads the task, submits candidates and "
        "sees\n"
        "what became of them. Ends when stdin does. docs/mcp.md shows how an "
        "agent\n"
        "is told of it. The same command again goes on where it was.\n\n"
        "Options are those of `wavesmith tune`; of a strategy, of models and "
        "of\n"
        "limits they have no effect.",
    .options = tune_option_rows};

/* Gives the protocol the descriptor of stdout, and stdout that of stderr. */
static ws_status take_stdout(int *out_descriptor, ws_diag *diag) {
  *out_descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (*out_descriptor < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "cannot take over stdout: %s",
                   strerror(errno));
  return WS_OK;
}

int tool_mcp(int argc, char **argv) {
  ws_diag diag = {""};
  tune_arguments arguments;
  ws_status status =
      tune_options_read(&mcp_command, argc, argv, &arguments, &diag);
  if (status == WS_OK && arguments.help)
    return tool_help(&mcp_command);
  ws_mcp_options options = {.tune = &arguments.tune, .in = STDIN_FILENO};
  if (status == WS_OK)
    status = take_stdout(&options.out, &diag);
  if (status == WS_OK)
    status = ws_mcp_serve(&options, &diag);
  return status == WS_OK ? 0 : tool_fail("mcp", status, &diag);
}
