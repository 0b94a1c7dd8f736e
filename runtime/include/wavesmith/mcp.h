/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A Model Context Protocol server, so that a coding agent can be the proposer:
 * JSON-RPC 2.0, one message a line, tools to read the task, submit candidates
 * and see what became of them. docs/mcp.md.
 */
#ifndef WAVESMITH_MCP_H
#define WAVESMITH_MCP_H

#include "wavesmith/search.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_mcp_options {
  const ws_tune_options *tune; /* of the session (ws_session_open) */
  int in, out;                 /* descriptors; nothing else goes to out */
  int64_t message_bytes;       /* of one message; <= 0: 32 MiB */
  double beat_seconds; /* between signs of life in a long call, if the client
                        * asks for them; <= 0: 5 */
} ws_mcp_options;

/* Serves until the end of in, a signal, or until out is closed; these are
 * WS_OK. The session is opened by the first call of a tool; what is wrong with
 * it is that call's error, and the next call tries again. WS_INPUT: the
 * template cannot be read. WS_ENVIRONMENT: in or out fail. SIGPIPE is ignored
 * meanwhile. One thread, and one more that sends the signs of life. */
ws_status ws_mcp_serve(const ws_mcp_options *options,
                       ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
