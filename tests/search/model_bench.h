/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A run on the landscape whose model is a recording of given replies.
 */
#ifndef WAVESMITH_TESTS_MODEL_BENCH_H
#define WAVESMITH_TESTS_MODEL_BENCH_H

#include "search_bench.h"

static const char *spec_store; /* what options.models points at */

static bench model_bench(const char *spec) {
  bench b = make_bench(LANDSCAPE);
  spec_store = ws_arena_strdup(b.arena, spec);
  b.options.models = &spec_store;
  b.options.model_count = 1;
  b.options.strategy = "best-of-n";
  b.options.in_flight = 2;
  b.options.token_budget = -1;
  b.options.usd_budget = -1;
  b.options.repairs = 0;
  return b;
}

/* A recording of these replies for the requests from 1 on: request 0 is the
 * template as it stands, which no model is asked for. */
static bench replay_bench(const char *const *replies, int count) {
  bench b = model_bench("");
  ws_recorded *items =
      ws_arena_alloc(b.arena, sizeof *items * (size_t)(count + 1));
  for (int i = 0; i < count; i++)
    items[i] = (ws_recorded){.sequence = i + 1,
                             .kind = "explore",
                             .prompt_hash = "00000000000000000000000000000000",
                             .reply = replies[i],
                             .error = "",
                             .prompt_tokens = 100,
                             .reply_tokens = 10,
                             .usd = 0.25,
                             .seconds = 1};
  ws_llm_member member = {
      .name = "openai:test", .weight = 1, .usd_in = -1, .usd_out = -1};
  const ws_recording recording = {
      .members = &member, .member_count = 1, .items = items, .count = count};
  ws_diag diag;
  char *path = ws_arena_printf(b.arena, "%s/recording.jsonl", b.folder);
  WS_CHECK_INT(ws_recording_write(path, &recording, &diag), WS_OK);
  spec_store = ws_arena_printf(b.arena, "replay-any:%s", path);
  b.options.evaluations = count + 1;
  return b;
}

#define REPLIES(...) ((const char *const[]){__VA_ARGS__})
#define REPLAY(...)                                                            \
  replay_bench(REPLIES(__VA_ARGS__),                                           \
               sizeof REPLIES(__VA_ARGS__) / sizeof(const char *))

#define SET(text) "## name\na label\n\n## parameters\n" text "\n"

#endif
