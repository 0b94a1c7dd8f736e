/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One kind of member behind ws_llm: a table of functions. The facade (llm.c)
 * reads specs, counts and keeps budgets; a provider answers questions.
 */
#ifndef WAVESMITH_LLM_PROVIDER_H
#define WAVESMITH_LLM_PROVIDER_H

#include "wavesmith/llm.h"

typedef struct ws__spec {             /* a spec, read */
  const char *provider, *url, *model; /* "openai"; "" where not given */
  const char *path;                   /* exchange, replay */
  double weight, usd_in, usd_out;
  const char *key_variable, *key_file; /* NULL: the provider's default */
  bool stream;
  int64_t max_reply_tokens; /* <= 0: 16384 */
  double temperature;       /* < 0: the server's own */
} ws__spec;

typedef struct ws__provider {
  const char *name, *purpose;
  /* state lives until destroy. WS_ENVIRONMENT, WS_INPUT: cannot work at all. */
  ws_status (*create)(const ws__spec *spec, const ws_llm_options *options,
                      void **out_state, ws_diag *diag);
  void (*destroy)(void *state);
  /* Copies the question. */
  ws_status (*ask)(void *state, const ws_llm_question *question, ws_diag *diag);
  /* Moves on without waiting; *out_found: an answer, all but member filled. */
  ws_status (*take)(void *state, ws_arena *arena, bool *out_found,
                    ws_llm_answer *out_answer, ws_diag *diag);
} ws__provider;

extern const ws__provider ws__provider_openai, ws__provider_anthropic,
    ws__provider_gemini, ws__provider_exchange;

#endif
