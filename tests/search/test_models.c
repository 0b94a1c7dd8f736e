/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Runs whose candidates come from models: recordings written here are played
 * back by replay-any, folders are answered by an exchange, and the archive is
 * read with SQL of the test's own.
 */
#include "../gemm_shape.h"
#include "../unit/hostile_names.h"
#include "model_bench.h"
#include "wavesmith/text.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* A whole template whose kernel has a hostile name. */
static const char *hostile_reply(ws_arena *arena, const char *name) {
  cJSON *string = cJSON_CreateString(name);
  char *quoted = cJSON_PrintUnformatted(string);
  const char *at = strstr(LANDSCAPE, "\"kernel\"");
  const char *reply = ws_arena_printf(
      arena, "## template\n```llvm\n%.*s%s%s\n```\n", (int)(at - LANDSCAPE),
      LANDSCAPE, quoted, at + strlen("\"kernel\""));
  cJSON_free(quoted);
  cJSON_Delete(string);
  return reply;
}

WS_TEST(hostile_names_in_a_reply_are_a_verdict) {
  ws_arena *arena = ws_arena_create();
  const char *replies[HOSTILE_NAMES + 1];
  for (size_t i = 0; i < HOSTILE_NAMES; i++)
    replies[i] = hostile_reply(arena, hostile_name(i));
  replies[HOSTILE_NAMES] = SET("tile_m=32"); /* the run goes on */
  bench b = replay_bench(replies, HOSTILE_NAMES + 1);
  ws_tune_result result = tune(&b);
  WS_CHECK_INT(result.refused, HOSTILE_NAMES);
  WS_CHECK_INT(result.verdicts[WS_VERDICT_ILLEGAL], HOSTILE_NAMES);
  WS_CHECK_INT(result.evaluated, 2);
  WS_CHECK_TEXT(query(&b, "SELECT count(*) FROM template"), "1\n");
  /* Each says why, and its reason may be shown. */
  char *reasons = query(&b, "SELECT reason FROM exchange WHERE stage='reply'");
  WS_CHECK_CONTAINS(reasons, "is a word of C or C++; rename it");
  WS_CHECK(ws_text_is_utf8(reasons, strlen(reasons)));
  for (const char *c = reasons; *c; c++)
    WS_CHECK((unsigned char)*c >= ' ' || *c == '\n');
  free_bench(&b);
  ws_arena_destroy(arena);
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

/* ---- templates in pieces ---- */

#define HEADLINE HEAD("landscape")

/* The landscape with its first record on a line of its own. */
static bench template_bench(const char *const *replies, int count) {
  bench b = replay_bench(replies, count);
  write_in(&b, "t.ll",
           ws_arena_printf(b.arena, "[" HEADLINE "\n%s",
                           strstr(LANDSCAPE, HEADLINE) + strlen(HEADLINE)));
  b.options.in_flight = 1;
  return b;
}

#define RENAME(was, name)                                                      \
  "## template\n<<<<<<< LINES 1\n" was "\n=======\n" name "\n>>>>>>> "         \
  "REPLACE\n"
static char *templates_of(bench *b) {
  return query(b, "SELECT c.sequence, t.name FROM candidate c JOIN template t "
                  "ON t.hash = c.template_hash ORDER BY c.sequence");
}

WS_TEST(edits_make_a_template) {
  static const char *const replies[] = {
      RENAME("[" HEADLINE, "[" HEAD("second")) "\n## parameters\ntile_m=32\n",
      RENAME("[" HEAD("other"), "[" HEAD("third"))};
  bench b = template_bench(replies, 2);
  ws_tune_result result = tune(&b);
  WS_CHECK_INT(result.evaluated, 2);
  WS_CHECK_INT(result.refused, 1);
  WS_CHECK_TEXT(templates_of(&b), "0|landscape\n1|second\n");
  WS_CHECK_CONTAINS(query(&b, "SELECT reason FROM exchange WHERE sequence = 2"),
                    "reply:2: line 1 of the template is '");
  WS_CHECK_CONTAINS(query(&b, "SELECT assignments FROM candidate WHERE "
                              "sequence = 1"),
                    "tile_m=32");
  free_bench(&b);
}

/* The repair's edits are of the text that could not be described: of what its
 * author wrote, which nobody else has. */
WS_TEST(a_template_that_cannot_be_read_is_mended_by_edits) {
  static const char *const replies[] = {
      RENAME("[" HEADLINE, "no template"), RENAME("[" HEADLINE, "missing it"),
      RENAME("no template", "[" HEAD("mended")) SET("tile_m=32")};
  bench b = template_bench(replies, 3);
  b.options.repairs = 2;
  tune(&b);
  WS_CHECK_TEXT(outcomes(&b), "1|illegal|reply\n2|illegal|reply\n3|ok|\n");
  WS_CHECK_TEXT(templates_of(&b), "0|landscape\n3|mended\n");
  WS_CHECK_TEXT(query(&b, "SELECT e.sequence FROM exchange e JOIN content m ON "
                          "m.hash = e.prompt WHERE instr(m.text, 'The template "
                          "as it was written:\n```llvm\nno template')"),
                "2\n");
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
  tune_fails(&b, WS_ENVIRONMENT, "the recording ends after answer 1");
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
  tune_fails(&b, WS_ENVIRONMENT, "no answer to the first question: openai:m");
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
  bench b = REPLAY(design, SET("tile_m=32"), SET("tile_n=32"), SET("depth=1"),
                   "## findings\nlarger tiles win\n", "## base\n0\n", design,
                   SET("tile_m=64"));
  b.options.strategy = "scientist";
  b.options.evaluations = 5;
  b.options.in_flight = 4;
  ws_tune_result result = tune(&b);
  WS_CHECK_INT(result.documents, 4);
  WS_CHECK_TEXT(query(&b, "SELECT group_concat(kind, ' ') FROM (SELECT kind "
                          "FROM exchange ORDER BY sequence)"),
                "design write write write distil select design write\n");
  WS_CHECK_CONTAINS(query(&b, "SELECT c.text FROM findings f JOIN content c ON "
                              "c.hash = f.text"),
                    "larger tiles win");
  free_bench(&b);
}

/* ---- ranked by a device ---- */
static void with_device(bench *b) {
  const char *fake = getenv("WS_FAKE_DEVICE");
  WS_CHECK(fake);
  setenv("WAVESMITH_DEVICE_SERVER", fake, 1);
  unsetenv("FAKE_DEVICE_LOG");
  b->options.device = "sim";
  b->options.layout = "mnmajor"; /* whose default is right there */
}

#define PARAMETERS(i)                                                          \
  "## expected\nspeedup 0.01 100\nvgpr -512 512\n\n## parameters\ndepth=" #i   \
  "\n"

/* The fake device finds half of the candidates wrong, and times the others by
 * their code alone (fake_device.c). */
WS_TEST(the_device_decides_before_the_next_question) {
  bench b = REPLAY(PARAMETERS(1), PARAMETERS(2), PARAMETERS(3),
                   SET("tile_m=32"), SET("tile_m=64"), SET("tile_m=128"),
                   SET("unroll=2"), SET("unroll=4"));
  with_device(&b);
  ws_tune_result result = tune(&b);
  WS_CHECK_TEXT(result.provenance, "sim:fake:MI300X");
  WS_CHECK(result.verdicts[WS_VERDICT_OK] > 1);
  WS_CHECK(result.verdicts[WS_VERDICT_WRONG] > 0);
  WS_CHECK_TEXT(query(&b, "SELECT count(*) FROM candidate c WHERE "
                          "(c.verdict = 'ok') != (SELECT count(*) > 0 FROM "
                          "measurement m WHERE m.candidate_id = c.id AND "
                          "m.provenance LIKE 'sim:fake%')"),
                "0\n");
  WS_CHECK_TEXT(query(&b, "SELECT count(*) FROM candidate WHERE verdict = "
                          "'wrong' AND stage = 'device' AND reason != 'made "
                          "up'"),
                "0\n");
  free_bench(&b);
}

/* ln of the ratio of two times on four shapes of the fake's formula is the ln
 * of the ratio of two digits. */
WS_TEST(rewards_and_claims_are_against_the_parent) {
  bench b = REPLAY(PARAMETERS(1), PARAMETERS(2), PARAMETERS(3),
                   SET("tile_m=32"), SET("tile_m=64"), SET("tile_m=128"));
  with_device(&b);
  b.options.in_flight = 1;
  tune(&b);
  WS_CHECK_TEXT(
      query(&b,
            "SELECT count(*) FROM exchange e JOIN candidate c ON c.id = "
            "e.candidate_id WHERE c.verdict = 'ok' AND abs(e.reward - (SELECT "
            "avg(ln(p.us / m.us)) FROM measurement m JOIN measurement p ON "
            "p.shape = m.shape AND p.provenance = "
            "m.provenance WHERE m.candidate_id = c.id AND p.candidate_id = "
            "c.parent_id AND m.provenance LIKE 'sim:fake%')) > 1e-9"),
      "0\n");
  char *claims = query(&b, "SELECT claims FROM exchange WHERE claims != ''");
  WS_CHECK_CONTAINS(claims, "\"what\":\"speedup\"");
  WS_CHECK_CONTAINS(claims, "\"measured\":");
  free_bench(&b);
}

/* Begins with tile_m = 128, which the fake device finds slower than 16. */
static bench slow_start(void) {
  bench b = REPLAY(SET("tile_m=16"), SET("tile_m=32"), SET("tile_n=32"),
                   SET("unroll=2"));
  static const char begin[] = "\"tile_m\",\"16\"";
  const char *text = LANDSCAPE, *at = strstr(text, begin);
  with_device(&b);
  WS_CHECK(at);
  write_in(&b, "t.ll",
           ws_arena_printf(b.arena, "%.*s\"tile_m\",\"128\"%s",
                           (int)(at - text), text, at + sizeof begin - 1));
  return b;
}

/* Whatever is chosen for the smallest shape is wrong there. */
WS_TEST(a_winner_is_run_whole_where_it_is_chosen) {
  bench b = slow_start();
  ws_tune_result before = tune(&b);
  const ws_tune_row *smallest = &before.rows[0];
  for (int i = 1; i < before.row_count; i++)
    if (before.rows[i].shape.size[DIM_M] * before.rows[i].shape.size[DIM_N] *
            before.rows[i].shape.size[DIM_K] <
        smallest->shape.size[DIM_M] * smallest->shape.size[DIM_N] *
            smallest->shape.size[DIM_K])
      smallest = &before.rows[i];
  WS_CHECK(*smallest->best_id);
  remove_archive(&b);
  setenv("FAKE_DEVICE_WRONG_AT",
         ws_arena_printf(b.arena, "%lld,%lld,%lld",
                         (long long)smallest->shape.size[DIM_M],
                         (long long)smallest->shape.size[DIM_N],
                         (long long)smallest->shape.size[DIM_K]),
         1);
  ws_tune_result result = tune(&b);
  int refuted = 0;
  for (int i = 0; i < result.confirmation_count; i++) {
    const ws_confirmation_row *row = &result.confirmations[i];
    refuted += !strcmp(row->candidate_id, smallest->best_id) &&
               !strcmp(row->verdict, "wrong");
  }
  WS_CHECK_INT(refuted, 1);
  free_bench(&b);
}

/* How long the search before it takes is the machine's: 8 s suffice for it, or
 * 24, or 72. */
WS_TEST(what_time_does_not_suffice_for_is_said) {
  int done = 0, wanted = 0; /* of the coverage, before the whole runs */
  for (int seconds = 8; !wanted; seconds *= 3) {
    WS_CHECK(seconds < 100);
    bench b = slow_start();
    setenv("FAKE_DEVICE_WHOLE_US", "6000000", 1);
    b.options.minutes = seconds / 60.0;
    ws_tune_result result = tune(&b);
    WS_CHECK(result.confirmation_count > 0);
    const ws_confirmation_row *row =
        &result.confirmations[result.confirmation_count - 1];
    WS_CHECK_TEXT(row->verdict, WS_CONFIRMATION_OPEN);
    sscanf(row->reason, "not confirmed: time ended after %d of %d", &done,
           &wanted);
    WS_CHECK_TEXT(query(&b, "SELECT count(*) FROM confirmation"), "0\n");
    free_bench(&b);
  }
  WS_CHECK(done < wanted);
}

WS_TEST(winners_are_confirmed_on_held_out_shapes_once) {
  bench b = slow_start();
  int chosen = 0;
  ws_tune_result result = tune(&b);
  WS_CHECK(result.confirmation_count > 0);
  for (int i = 0; i < result.confirmation_count; i++) {
    const ws_confirmation_row *row = &result.confirmations[i];
    /* one factor on all shapes */
    double gap = row->search_speedup - row->held_out_speedup;
    WS_CHECK(row->held_out_speedup > 0 && gap < 1e-9 && gap > -1e-9);
    WS_CHECK_TEXT(row->verdict, row->search_speedup > 1.003 ? "ok" : "slow");
    gap = row->search_speedup - row->chosen_speedup;
    WS_CHECK(!row->chosen_shapes || (gap < 1e-9 && gap > -1e-9));
    chosen += row->chosen_shapes;
  }
  WS_CHECK(chosen > 0);
  char *log = ws_arena_printf(b.arena, "%s/log", b.folder);
  setenv("FAKE_DEVICE_LOG", log, 1);
  tune(&b);
  unsetenv("FAKE_DEVICE_LOG");
  FILE *timed = popen(ws_arena_printf(b.arena, "grep ^time %s", log), "r");
  char line[100];
  WS_CHECK(timed && !fgets(line, sizeof line, timed)); /* nothing again */
  pclose(timed);
  free_bench(&b);
}

WS_TEST(a_session_from_outside_judges_a_reply) {
  bench b = model_bench("");
  b.options.model_count = 0;
  ws_session *session;
  ws_session_result result;
  ws_prompt prompt;
  ws_diag diag = {""};
  WS_CHECK_INT(ws_session_open(&b.options, &session, &diag), WS_OK);
  WS_CHECK_INT(ws_session_prompt(session, b.arena, WS_REQUEST_EXPLOIT, NULL, 0,
                                 &prompt, &diag),
               WS_OK);
  WS_CHECK_CONTAINS(prompt.user, "tile_m");
  WS_CHECK_INT(ws_session_submit(session, b.arena, WS_REQUEST_EXPLOIT, NULL, 0,
                                 SET("tile_m=32"), &result, &diag),
               WS_OK);
  WS_CHECK(*result.candidate_id && result.speedup_over_parent > 0);
  WS_CHECK_INT(ws_session_submit(session, b.arena, WS_REQUEST_EXPLOIT, NULL, 0,
                                 "no", &result, &diag),
               WS_OK);
  WS_CHECK_TEXT(result.stage, "reply");
  const char *unknown = "feedface";
  WS_CHECK_INT(ws_session_submit(session, b.arena, WS_REQUEST_EXPLOIT, &unknown,
                                 1, SET("tile_m=64"), &result, &diag),
               WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "feedface");
  ws_session_close(session);
  /* the same session goes on */
  WS_CHECK_INT(ws_session_open(&b.options, &session, &diag), WS_OK);
  WS_CHECK_INT(ws_session_submit(session, b.arena, WS_REQUEST_EXPLOIT, NULL, 0,
                                 SET("tile_m=64"), &result, &diag),
               WS_OK);
  WS_CHECK_INT(result.sequence, 3);
  ws_session_close(session);
  free_bench(&b);
}

static const char *submit(ws_session *session, bench *b, const char *parent,
                          const char *reply) {
  ws_session_result result;
  ws_diag diag = {""};
  if (ws_session_submit(session, b->arena, WS_REQUEST_EXPLOIT, &parent,
                        parent ? 1 : 0, reply, &result, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return result.candidate_id;
}

/* Where a candidate came from first is one thing, what this session was asked
 * for is another: its parents are the request's, not the candidate's. */
WS_TEST(a_session_that_drew_a_known_candidate_opens_again) {
  bench b = model_bench("");
  b.options.model_count = 0;
  ws_session *session = open_session(&b);
  const char *first = submit(session, &b, NULL, SET("tile_m=32"));
  const char *second = submit(session, &b, first, SET("tile_n=32"));
  ws_session_close(session);
  b.options.seed = 2; /* another session, which does not know the first */
  session = open_session(&b);
  const char *known = submit(session, &b, NULL, SET("tile_m=32;tile_n=32"));
  WS_CHECK_TEXT(known, second);
  const char *other = submit(session, &b, NULL, SET("unroll=2"));
  submit(session, &b, other, SET("tile_m=64"));
  ws_session_close(session);
  session = open_session(&b);
  char *rows = query(&b, "SELECT sequence,coalesce(parent_id,'-') FROM exchange"
                         " WHERE run_id=2 ORDER BY sequence");
  WS_CHECK_CONTAINS(rows, ws_arena_printf(b.arena, "|%s\n", other));
  WS_CHECK_INT(
      strtol(query(&b, "SELECT count(*) FROM draw WHERE run_id=2"), NULL, 10),
      4); /* and nothing was drawn anew */
  ws_session_close(session);
  free_bench(&b);
}
