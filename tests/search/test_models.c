/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Runs whose candidates come from models: recordings written here are played
 * back by replay-any, folders are answered by an exchange, and the archive is
 * read with SQL of the test's own.
 */
#include "search_bench.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

static char *outcomes(bench *b) {
  return query(b, "SELECT sequence, verdict, stage FROM exchange "
                  "ORDER BY sequence");
}

/* ---- what replies become ---- */
WS_TEST(every_reply_ends_in_a_verdict_and_is_kept) {
  bench b = REPLAY(SET("tile_m=32"), "I would rather not.", "",
                   SET("tile_m=33"), SET("tile_x=32"),
                   "## region nothing (ir)\n```llvm\ndefine void @nothing() {\n"
                   "  ret void\n}\n```\n",
                   SET("tile_m=32"));
  ws_tune_result result = tune(&b);
  WS_CHECK_INT(result.evaluated, 2);
  WS_CHECK_INT(result.refused, 5);
  WS_CHECK_INT(result.questions, 7);
  WS_CHECK_INT(result.verdicts[WS_VERDICT_ILLEGAL], 5);
  WS_CHECK_INT(result.verdicts[WS_VERDICT_DUPLICATE], 1);
  char *rows = outcomes(&b);
  WS_CHECK_CONTAINS(rows, "2|illegal|reply\n3|illegal|reply\n4|illegal|reply\n"
                          "5|illegal|reply\n6|illegal|reply\n7|duplicate|");
  WS_CHECK_TEXT(query(&b, "SELECT kind, proposer, label, parent_id != '' FROM "
                          "candidate WHERE sequence = 1"),
                "explore|openai:test|a label|1\n");
  WS_CHECK_CONTAINS(query(&b, "SELECT reason FROM exchange WHERE sequence = 4"),
                    "32 64");
  free_bench(&b);
}

WS_TEST(what_failed_is_repaired_once) {
  bench b = REPLAY("garbage", "garbage again", SET("tile_m=64"));
  b.options.repairs = 1;
  b.options.in_flight = 1;
  ws_tune_result result = tune(&b);
  WS_CHECK_INT(result.refused, 2);
  WS_CHECK_TEXT(query(&b, "SELECT sequence, kind FROM exchange ORDER BY 1"),
                "1|explore\n2|repair\n3|explore\n");
  free_bench(&b);
}

WS_TEST(prompts_show_what_a_reply_was_refused_for) {
  bench b = REPLAY(SET("tile_m=33"), SET("tile_m=64"));
  b.options.repairs = 1;
  b.options.in_flight = 1;
  tune(&b);
  WS_CHECK_TEXT(query(&b, "SELECT count(*) FROM exchange e JOIN content m ON "
                          "m.hash = e.prompt WHERE e.sequence = 2 AND "
                          "instr(m.text, 'tile_m') AND instr(m.text, '33')"),
                "1\n");
  free_bench(&b);
}

/* ---- resuming and replaying ---- */
WS_TEST(a_resumed_run_asks_nothing_twice) {
  bench b =
      REPLAY(SET("tile_m=32"), "nonsense", SET("tile_n=64"), SET("split=2"));
  b.options.evaluations = 3;
  WS_CHECK_INT(tune(&b).questions, 2);
  b.options.evaluations = 5;
  WS_CHECK_INT(tune(&b).questions, 2);
  char *in_two = outcomes(&b);
  remove_archive(&b);
  WS_CHECK_INT(tune(&b).questions, 4);
  WS_CHECK_TEXT(outcomes(&b), in_two);
  free_bench(&b);
}

WS_TEST(a_strict_replay_wants_the_same_prompt) {
  bench b = REPLAY(SET("tile_m=32"));
  spec_store = ws_arena_printf(b.arena, "replay:%s/recording.jsonl", b.folder);
  tune_fails(&b, WS_INPUT, "recording.jsonl");
  free_bench(&b);
}

/* What a run was told is written down with the prompts' hashes: played back
 * strictly, into another archive, it is the same run. */
WS_TEST(a_run_is_replayed_bit_for_bit) {
  bench b = REPLAY(SET("tile_m=32"), "nonsense", SET("tile_n=64"));
  b.options.repairs = 1;
  b.options.in_flight = 1;
  tune(&b);
  const char *rows = "SELECT id, verdict, parent_id, sequence FROM candidate "
                     "ORDER BY sequence";
  char *first = query(&b, rows), *replies = outcomes(&b);
  char *hashes =
      query(&b, "SELECT prompt_hash FROM exchange ORDER BY sequence");
  ws_recording recording;
  ws_diag diag = {""};
  char *path = ws_arena_printf(b.arena, "%s/recording.jsonl", b.folder);
  WS_CHECK_INT(ws_recording_read(b.arena, path, &recording, &diag), WS_OK);
  ws_recorded items[3];
  for (int i = 0; i < 3; i++) {
    items[i] = recording.items[i];
    items[i].prompt_hash = ws_arena_strndup(b.arena, hashes + 33 * i, 32);
    items[i].kind = i == 2 ? "repair" : "explore";
  }
  recording.items = items;
  WS_CHECK_INT(ws_recording_write(path, &recording, &diag), WS_OK);
  spec_store = ws_arena_printf(b.arena, "replay:%s", path);
  remove_archive(&b);
  tune(&b);
  WS_CHECK_TEXT(query(&b, rows), first);
  WS_CHECK_TEXT(outcomes(&b), replies);
  free_bench(&b);
}

/* ---- limits ---- */
WS_TEST(a_budget_ends_the_run_cleanly) {
  bench b = REPLAY(SET("tile_m=32"), SET("tile_m=64"), SET("tile_m=128"),
                   SET("tile_m=256"));
  b.options.in_flight = 1;
  b.options.token_budget = 200; /* two answers of 110 */
  ws_tune_result result = tune(&b);
  WS_CHECK_INT(result.evaluated, 3);
  WS_CHECK_CONTAINS(result.stop, "token");
  b.options.token_budget = -1; /* and it goes on from there */
  result = tune(&b);
  WS_CHECK_INT(result.questions, 2);
  WS_CHECK_INT(result.evaluated + result.replayed, 5);
  free_bench(&b);
}

WS_TEST(a_budget_of_nothing_is_refused) {
  bench b = REPLAY(SET("tile_m=32"));
  b.options.usd_budget = 0;
  tune_fails(&b, WS_USAGE, "--usd-budget");
  b.options.usd_budget = -1;
  b.options.token_budget = 0;
  tune_fails(&b, WS_USAGE, "--token-budget");
  free_bench(&b);
}

WS_TEST(a_recording_that_ends_is_named) {
  bench b = REPLAY(SET("tile_m=32"));
  b.options.evaluations = 9;
  tune_fails(&b, WS_ENVIRONMENT, "the recording ends at 1");
  free_bench(&b);
}

/* ---- wrong models ---- */
WS_TEST(wrong_models_are_one_line_each) {
  static const struct wrong {
    const char *spec, *part;
    ws_status status;
  } table[] = {
      {"mistral:#x", "mistral", WS_USAGE},
      {"openai", "openai", WS_USAGE},
      {"anthropic:#claude", "ANTHROPIC_API_KEY", WS_ENVIRONMENT},
      {"replay:/nonexistent.jsonl", "/nonexistent.jsonl", WS_INPUT},
  };
  unsetenv("ANTHROPIC_API_KEY");
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    bench b = model_bench(table[i].spec);
    tune_fails(&b, table[i].status, table[i].part);
    free_bench(&b);
  }
}

WS_TEST(a_host_that_does_not_answer_ends_the_run_with_everything_kept) {
  bench b = model_bench("openai:http://127.0.0.1:9/v1#m");
  b.options.request_seconds = 0.5;
  b.options.total_seconds = 0.6;
  b.options.evaluations = 9;
  tune_fails(&b, WS_ENVIRONMENT, "127.0.0.1");
  WS_CHECK_TEXT(query(&b, "SELECT count(*) FROM candidate"), "1\n");
  free_bench(&b);
}

WS_TEST(a_scientist_needs_a_model) {
  bench b = model_bench("");
  b.options.model_count = 0;
  b.options.strategy = "scientist";
  tune_fails(&b, WS_USAGE, "--model");
  free_bench(&b);
}

/* ---- two at once ---- */
WS_TEST(a_run_that_asks_models_has_one_process) {
  bench b = REPLAY(SET("tile_m=32"));
  tune(&b);
  int lock = open(ws_arena_printf(b.arena, "%s.run-1.lock", b.archive),
                  O_RDWR | O_CLOEXEC);
  WS_CHECK(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0);
  tune_fails(&b, WS_ENVIRONMENT, "another process");
  close(lock);
  tune(&b);
  free_bench(&b);
}

/* ---- documents ---- */

WS_TEST(the_scientist_goes_through_its_stages) {
  const char *design =
      "## avenues\n- one\n- two\n\n"
      "## experiment 1\ntitle: wide\ndescription: d\nrubric: r\ngain: 1.0 1.1\n"
      "innovation: 10\n\n"
      "## experiment 2\ntitle: new\ndescription: d\nrubric: r\ngain: 0.9 1.2\n"
      "innovation: 90\n\n"
      "## experiment 3\ntitle: bold\ndescription: d\nrubric: r\n"
      "gain: 0.5 3.0\ninnovation: 20\n";
  bench b = REPLAY("## base\n0\n", design, SET("tile_m=32"), SET("tile_n=32"),
                   SET("depth=1"), "## findings\nlarger tiles win\n",
                   "## base\n0\n", design, SET("tile_m=64"));
  b.options.strategy = "scientist";
  b.options.evaluations = 5;
  b.options.in_flight = 4;
  ws_tune_result result = tune(&b);
  WS_CHECK_INT(result.documents, 5);
  WS_CHECK_TEXT(query(&b, "SELECT group_concat(kind, ' ') FROM (SELECT kind "
                          "FROM exchange ORDER BY sequence)"),
                "select design write write write distil select design write\n");
  WS_CHECK_CONTAINS(query(&b, "SELECT c.text FROM findings f JOIN content c ON "
                              "c.hash = f.text"),
                    "larger tiles win");
  free_bench(&b);
}
