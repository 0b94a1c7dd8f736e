/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A recording as text in memory; the files are wavesmith/llm.h's.
 */
#ifndef WAVESMITH_LLM_RECORDING_H
#define WAVESMITH_LLM_RECORDING_H

#include "wavesmith/llm.h"

/* name is what messages call it. The result lives in the arena, and nothing of
 * text is kept. */
ws_status ws__recording_parse(ws_arena *arena, const char *text, size_t size,
                              const char *name, ws_recording *out_recording,
                              ws_diag *diag) WS_MUST_CHECK;
/* Appends it to out. WS_INPUT: sequences out of order. */
ws_status ws__recording_print(ws_strbuf *out, const ws_recording *recording,
                              ws_diag *diag) WS_MUST_CHECK;
/* The item with this sequence, or NULL. */
const ws_recorded *ws__recording_find(const ws_recording *recording,
                                      int64_t sequence);

#endif
