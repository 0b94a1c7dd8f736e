/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A recording that answers in place of its members.
 */
#ifndef WAVESMITH_LLM_REPLAY_H
#define WAVESMITH_LLM_REPLAY_H

#include "wavesmith/llm.h"

typedef struct ws__replay ws__replay;
/* strict: the question must be the recorded one. Lives in the arena. */
ws_status ws__replay_open(ws_arena *arena, const char *path, bool strict,
                          ws__replay **out_replay, ws_diag *diag) WS_MUST_CHECK;
const ws_recording *ws__replay_recording(const ws__replay *replay);
/* Strict: WS_INPUT when the question is another than the recorded one, or when
 * there is none. Not strict: always WS_OK. */
ws_status ws__replay_check(const ws__replay *replay, int member,
                           const ws_llm_question *question,
                           ws_diag *diag) WS_MUST_CHECK;
/* The answer, at once; its texts live in the arena: strict, that of the
 * sequence; else that of the ordinal, since a run may have other requests
 * between its questions than the recorded one. A question that is missing is
 * answered with an error. */
ws_llm_answer ws__replay_answer(const ws__replay *replay, ws_arena *arena,
                                ws_request_kind kind, int64_t sequence,
                                int64_t ordinal);

#endif
