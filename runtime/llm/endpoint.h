/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The base address of a server, as a user gives it.
 */
#ifndef WAVESMITH_LLM_ENDPOINT_H
#define WAVESMITH_LLM_ENDPOINT_H

#include "wavesmith/base.h"

typedef struct ws__endpoint {
  const char *base; /* without a slash at its end */
  const char *host;
  bool encrypted; /* https */
  bool loopback;  /* this machine */
} ws__endpoint;

/* WS_USAGE: not an http or https address, or one with a user name, a password
 * or a query: these could hold secrets, and addresses are logged. */
ws_status ws__endpoint_parse(ws_arena *arena, const char *url,
                             ws__endpoint *out_endpoint,
                             ws_diag *diag) WS_MUST_CHECK;

#endif
