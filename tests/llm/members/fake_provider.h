/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A provider that answers what a test puts into it, in the place of "openai".
 * "anthropic" cannot be created; "gemini" answers nothing.
 */
#ifndef WAVESMITH_TESTS_LLM_FAKE_PROVIDER_H
#define WAVESMITH_TESTS_LLM_FAKE_PROVIDER_H

#include "provider.h"
#include "wavesmith/llm.h"

typedef struct fake_state {
  ws__spec spec;
  ws_llm_options options;
  int asked, polled;
  bool destroyed;
  ws_llm_question last; /* texts are copies */
  char system[256], user[256];
  /* The next answer; taken once. */
  bool has_answer;
  ws_llm_answer answer;
} fake_state;

enum { FAKE_MAX = 8 };
extern fake_state fakes[FAKE_MAX]; /* in order of creation */
extern int fake_count;
void fake_answer(int fake, int64_t sequence, int64_t prompt_tokens,
                 int64_t reply_tokens);

/* What the tests share. */
ws_llm *fake_open(const char *const *specs, int count);
ws_llm_question fake_question(int64_t sequence);
ws_llm_options fake_options(const char *const *specs, int count);

#endif
