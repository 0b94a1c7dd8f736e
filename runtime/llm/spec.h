/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reading the spec of a member, "openai:http://host/v1#model;weight=2".
 */
#ifndef WAVESMITH_LLM_SPEC_H
#define WAVESMITH_LLM_SPEC_H

#include "provider.h"

/* Strings of the result live in the arena. WS_USAGE: the diag names the spec,
 * the part that is wrong and, for an unknown provider, all that there are. It
 * repeats no option's value and no URL that might hold a secret. */
ws_status ws__spec_read(ws_arena *arena, const char *text, ws__spec *out_spec,
                        ws_diag *diag) WS_MUST_CHECK;
/* "openai:qwen3", "exchange", "builtin". */
char *ws__spec_name(ws_arena *arena, const ws__spec *spec);

#endif
