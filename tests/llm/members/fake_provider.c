/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See the header.
 */
#include "fake_provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fake_state fakes[FAKE_MAX];
int fake_count;

static ws_status create(const ws__spec *spec, const ws_llm_options *options,
                        void **out_state, ws_diag *diag) {
  (void)diag;
  WS_ASSERT(fake_count < FAKE_MAX);
  fake_state *state = &fakes[fake_count++];
  *state = (fake_state){.spec = *spec, .options = *options};
  *out_state = state;
  return WS_OK;
}

static ws_status cannot_create(const ws__spec *spec,
                               const ws_llm_options *options, void **out_state,
                               ws_diag *diag) {
  (void)spec, (void)options, (void)out_state;
  return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "no key");
}

static void destroy(void *opaque) {
  fake_state *state = opaque;
  state->destroyed = true;
}

static ws_status ask(void *opaque, const ws_llm_question *question,
                     ws_diag *diag) {
  fake_state *state = opaque;
  (void)diag;
  state->asked++;
  state->last = *question;
  snprintf(state->system, sizeof state->system, "%s", question->system);
  snprintf(state->user, sizeof state->user, "%s", question->user);
  return WS_OK;
}

static ws_status take(void *opaque, ws_arena *arena, bool *out_found,
                      ws_llm_answer *out_answer, ws_diag *diag) {
  fake_state *state = opaque;
  (void)arena, (void)diag;
  state->polled++;
  *out_found = state->has_answer;
  if (state->has_answer)
    *out_answer = state->answer;
  state->has_answer = false;
  return WS_OK;
}

void fake_answer(int fake, int64_t sequence, int64_t prompt_tokens,
                 int64_t reply_tokens) {
  fakes[fake].has_answer = true;
  fakes[fake].answer = (ws_llm_answer){.sequence = sequence,
                                       .text = "reply",
                                       .error = "",
                                       .prompt_tokens = prompt_tokens,
                                       .reply_tokens = reply_tokens,
                                       .attempts = 1};
}

const ws__provider ws__provider_openai = {.name = "openai",
                                          .purpose = "",
                                          .create = create,
                                          .destroy = destroy,
                                          .ask = ask,
                                          .take = take};
const ws__provider ws__provider_anthropic = {
    .name = "anthropic", .purpose = "", .create = cannot_create};
const ws__provider ws__provider_gemini = {.name = "gemini",
                                          .purpose = "",
                                          .create = create,
                                          .destroy = destroy,
                                          .ask = ask,
                                          .take = take};

ws_llm_options fake_options(const char *const *specs, int count) {
  return (ws_llm_options){.specs = specs,
                          .spec_count = count,
                          .retries = -1,
                          .token_budget = -1,
                          .usd_budget = -1};
}

ws_llm *fake_open(const char *const *specs, int count) {
  ws_llm_options options = fake_options(specs, count);
  ws_llm *llm;
  ws_diag diag = {""};
  if (ws_llm_open(&options, &llm, &diag) != WS_OK) {
    fprintf(stderr, "# %s\n", diag.text);
    abort();
  }
  return llm;
}

ws_llm_question fake_question(int64_t sequence) {
  return (ws_llm_question){.kind = WS_REQUEST_EXPLOIT,
                           .sequence = sequence,
                           .system = "be good",
                           .user = "do it\nnow"};
}
