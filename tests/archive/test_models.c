/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a search with models records: where candidates come from, exchanges and
 * outcomes, findings, confirmations, profiles; speed-ups and a run's progress,
 * against values worked out by hand.
 */
#include "../gemm_shape.h"
#include "fixture.h"

#include <math.h>

typedef struct store {
  ws_arena *arena;
  char *path;
  ws_archive *archive;
  const ws_template *tmpl;
  int64_t run;
} store;

static store open_store(void) {
  store s = {.arena = ws_arena_create()};
  s.path = fixture_path(s.arena, "a.db");
  s.tmpl = fixture_template(s.arena);
  MUST(ws_archive_open(s.path, true, &s.archive, diag));
  MUST(ws_archive_put_template(s.archive, s.tmpl, template_text, NULL, diag));
  s.run = fixture_run(s.archive, s.tmpl, 1);
  return s;
}

static void close_store(store *s) {
  ws_archive_close(s->archive);
  fixture_remove(s->arena, s->path);
  ws_arena_destroy(s->arena);
}

/* Puts candidate number with its times under (run, number); gives its id. */
static const char *put(store *s, int64_t run, int number, const char *verdict,
                       const char *parent, const char *second_parent,
                       const ws_measurement *times, int count) {
  ws_candidate *candidate = fixture_candidate(s->arena, s->tmpl, number);
  ws_candidate_row row = fixture_row(s->arena, candidate, run, number);
  row.verdict = verdict;
  row.parent_id = parent;
  row.second_parent_id = second_parent;
  MUST(ws_archive_put_candidate(s->archive, &row, candidate, NULL, 0, times,
                                count, diag));
  return candidate->id.hex;
}

static ws_measurement at(int64_t m, double us, const char *provenance) {
  return (ws_measurement){.shape = gemm_shape(m, 16, 128),
                          .us = us,
                          .bound = "",
                          .provenance = provenance};
}

/* ---- candidates ---- */
WS_TEST(origin_of_a_candidate) {
  store s = open_store();
  ws_candidate *candidate = fixture_candidate(s.arena, s.tmpl, 1);
  ws_candidate_row row = fixture_row(s.arena, candidate, s.run, 1), back;
  row.second_parent_id = "cd";
  row.kind = "crossover";
  row.label = "wider loads";
  row.cell = "lds=16-32K tile=64x64";
  row.island = 3;
  MUST(ws_archive_put_candidate(s.archive, &row, candidate, NULL, 0, NULL, 0,
                                diag));
  bool found;
  MUST(ws_archive_get_candidate(s.archive, s.arena, row.id, &found, &back,
                                diag));
  WS_CHECK(found);
  WS_CHECK_TEXT(back.second_parent_id, "cd");
  WS_CHECK_TEXT(back.kind, "crossover");
  WS_CHECK_TEXT(back.label, "wider loads");
  WS_CHECK_TEXT(back.cell, "lds=16-32K tile=64x64");
  WS_CHECK_INT(back.island, 3);
  WS_CHECK_TEXT(back.move, "");
  WS_CHECK_TEXT(back.verdict, "ok");
  /* NULL is the empty text. */
  ws_candidate *other = fixture_candidate(s.arena, s.tmpl, 2);
  row = fixture_row(s.arena, other, s.run, 2);
  row.parent_id = NULL;
  row.label = NULL;
  MUST(
      ws_archive_put_candidate(s.archive, &row, other, NULL, 0, NULL, 0, diag));
  MUST(ws_archive_get_candidate(s.archive, s.arena, row.id, &found, &back,
                                diag));
  WS_CHECK_TEXT(back.parent_id, "");
  WS_CHECK_TEXT(back.label, "");
  WS_CHECK_TEXT(back.kind, "");
  close_store(&s);
}

WS_TEST(intervals_of_times) {
  store s = open_store();
  ws_measurement times[] = {at(16, 10, "hip:x"), at(32, 10, "hip:x")}, *back;
  times[0].low_us = 9.5;
  times[0].high_us = 11;
  const char *id = put(&s, s.run, 1, "ok", "", "", times, 2);
  int count;
  MUST(
      ws_archive_get_measurements(s.archive, s.arena, id, &back, &count, diag));
  WS_CHECK_INT(count, 2);
  WS_CHECK_NEAR(back[0].low_us, 9.5, 0);
  WS_CHECK_NEAR(back[0].high_us, 11, 0);
  WS_CHECK_NEAR(back[1].low_us, 10, 0);
  WS_CHECK_NEAR(back[1].high_us, 10, 0);
  close_store(&s);
}

WS_TEST(children) {
  store s = open_store();
  const char *root = put(&s, s.run, 1, "ok", "", "", NULL, 0);
  const char *other = put(&s, s.run, 2, "ok", "", "", NULL, 0);
  const char *first = put(&s, s.run, 3, "wrong", root, "", NULL, 0);
  const char *both = put(&s, s.run, 4, "ok", other, root, NULL, 0);
  ws_candidate_row *items;
  int count;
  MUST(
      ws_archive_list_children(s.archive, s.arena, root, &items, &count, diag));
  WS_CHECK_INT(count, 2);
  WS_CHECK_TEXT(items[0].id, first);
  WS_CHECK_TEXT(items[1].id, both);
  MUST(
      ws_archive_list_children(s.archive, s.arena, both, &items, &count, diag));
  WS_CHECK_INT(count, 0);
  /* "" is no candidate that those without a parent stem from. */
  MUST(ws_archive_list_children(s.archive, s.arena, "", &items, &count, diag));
  WS_CHECK_INT(count, 0);
  close_store(&s);
}

WS_TEST(runs) {
  store s = open_store();
  int64_t second = fixture_run(s.archive, s.tmpl, UINT64_MAX);
  ws_run_row *items, one;
  int count;
  MUST(ws_archive_list_runs(s.archive, s.arena, &items, &count, diag));
  WS_CHECK_INT(count, 2);
  WS_CHECK_INT(items[0].id, s.run);
  WS_CHECK(items[1].seed == UINT64_MAX);
  MUST(ws_archive_get_run(s.archive, s.arena, second, &one, diag));
  WS_CHECK_TEXT(one.strategy, "local");
  MUST_FAIL(ws_archive_get_run(s.archive, s.arena, 99, &one, diag), WS_INPUT,
            "no run 99");
  close_store(&s);
}

/* ---- exchanges ---- */
static ws_exchange_row exchange(int64_t run, int64_t sequence,
                                const char *prompt, const char *reply) {
  return (ws_exchange_row){.run_id = run,
                           .sequence = sequence,
                           .kind = "exploit",
                           .member = "openai:tiny",
                           .prompt_version = "exploit 1, system 1",
                           .prompt_hash = "0123",
                           .prompt_cut = "lineage 100 bytes",
                           .system = "You write kernels. \xc3\xa9",
                           .prompt = prompt,
                           .reply = reply,
                           .error = "",
                           .prompt_tokens = 1000,
                           .reply_tokens = 50,
                           .usd = 0.25,
                           .seconds = 1.5,
                           .unix_ms = 7};
}

WS_TEST(exchange_and_outcome) {
  store s = open_store();
  ws_exchange_row row = exchange(s.run, 3, "faster, please", "## PARAMETERS");
  ws_exchange_row back;
  bool found;
  MUST(ws_archive_put_exchange(s.archive, &row, diag));
  row.reply = "another";
  MUST(ws_archive_put_exchange(s.archive, &row, diag)); /* changes nothing */
  MUST(ws_archive_get_exchange(s.archive, s.arena, s.run, 3, &found, &back,
                               diag));
  WS_CHECK(found);
  WS_CHECK_TEXT(back.reply, "## PARAMETERS");
  WS_CHECK_TEXT(back.prompt, "faster, please");
  WS_CHECK_TEXT(back.system, row.system);
  WS_CHECK_TEXT(back.kind, "exploit");
  WS_CHECK_TEXT(back.member, "openai:tiny");
  WS_CHECK_TEXT(back.prompt_cut, "lineage 100 bytes");
  WS_CHECK_TEXT(back.verdict, "");
  WS_CHECK_TEXT(back.candidate_id, "");
  WS_CHECK_INT(back.prompt_tokens, 1000);
  WS_CHECK_INT(back.reply_tokens, 50);
  WS_CHECK_INT(back.unix_ms, 7);
  WS_CHECK_NEAR(back.usd, 0.25, 0);
  WS_CHECK_NEAR(back.seconds, 1.5, 0);
  /* "You write kernels. " is 19 bytes, the last letter 2; 14 and 13 more. */
  WS_CHECK_INT(back.prompt_bytes, 21 + 14);
  WS_CHECK_INT(back.reply_bytes, 13);

  row.candidate_id = "abcd";
  row.verdict = "ok";
  row.stage = "";
  row.reason = "";
  row.claims_json = "[{\"what\":\"speedup\",\"low\":1.1,\"high\":1.3}]";
  row.reward = -0.5;
  MUST(ws_archive_set_outcome(s.archive, &row, diag));
  MUST(ws_archive_get_origin(s.archive, s.arena, "abcd", &found, &back, diag));
  WS_CHECK(found);
  WS_CHECK_INT(back.sequence, 3);
  WS_CHECK_TEXT(back.reply, "## PARAMETERS"); /* not of the outcome */
  WS_CHECK_TEXT(back.verdict, "ok");
  WS_CHECK_TEXT(back.claims_json, row.claims_json);
  ws_exchange_row outcome;
  MUST(ws_archive_get_outcome(s.archive, s.arena, s.run, 3, &found, &outcome,
                              diag));
  WS_CHECK(found);
  WS_CHECK_TEXT(outcome.claims_json, row.claims_json);
  WS_CHECK_TEXT(outcome.prompt, "");
  WS_CHECK_NEAR(back.reward, -0.5, 0);
  row.verdict = "wrong"; /* refuted later: the last outcome counts */
  MUST(ws_archive_set_outcome(s.archive, &row, diag));
  MUST(ws_archive_get_exchange(s.archive, s.arena, s.run, 3, &found, &back,
                               diag));
  WS_CHECK_TEXT(back.verdict, "wrong");
  row.sequence = 4;
  MUST_FAIL(ws_archive_set_outcome(s.archive, &row, diag), WS_INPUT,
            "no exchange 4");
  MUST(ws_archive_get_exchange(s.archive, s.arena, s.run, 4, &found, &back,
                               diag));
  WS_CHECK(!found);
  MUST(ws_archive_get_origin(s.archive, s.arena, "", &found, &back, diag));
  WS_CHECK(!found);
  close_store(&s);
}

WS_TEST(texts_are_kept_once) {
  store s = open_store();
  int64_t other = fixture_run(s.archive, s.tmpl, 2);
  ws_exchange_row rows[] = {
      exchange(other, 1, "a", "x"), exchange(s.run, 2, "b", "x"),
      exchange(s.run, 1, "a", NULL), exchange(s.run, 3, "b", "y")};
  for (int i = 0; i < 4; i++)
    MUST(ws_archive_put_exchange(s.archive, &rows[i], diag));
  /* The system text, "a", "b", "x", "y", "". */
  WS_CHECK_TEXT(fixture_sql(s.arena, s.path, "SELECT count(*) FROM content"),
                "6");
  ws_exchange_row *items;
  int count;
  MUST(ws_archive_list_exchanges(s.archive, s.arena, 0, &items, &count, diag));
  WS_CHECK_INT(count, 4);
  for (int i = 0; i < 3; i++) {
    WS_CHECK_INT(items[i].run_id, s.run);
    WS_CHECK_INT(items[i].sequence, i + 1);
  }
  WS_CHECK_INT(items[3].run_id, other);
  WS_CHECK_INT(items[0].reply_bytes, 0);
  WS_CHECK_TEXT(items[1].prompt, ""); /* a list holds no texts */
  MUST(ws_archive_list_exchanges(s.archive, s.arena, other, &items, &count,
                                 diag));
  WS_CHECK_INT(count, 1);
  close_store(&s);
}

WS_TEST(a_changed_text_is_found) {
  static const char *const changes[] = {"UPDATE content SET text=text||'!'",
                                        "DELETE FROM content"};
  for (int i = 0; i < 2; i++) {
    store s = open_store();
    ws_exchange_row row = exchange(s.run, 1, "a", "b"), back;
    ws_findings_row findings = {s.run, 1, "loads are too narrow"}, *items;
    bool found;
    int count;
    MUST(ws_archive_put_exchange(s.archive, &row, diag));
    MUST(ws_archive_put_findings(s.archive, &findings, diag));
    fixture_sql(s.arena, s.path, changes[i]);
    MUST_FAIL(ws_archive_get_exchange(s.archive, s.arena, s.run, 1, &found,
                                      &back, diag),
              WS_INPUT, "corrupt");
    MUST_FAIL(
        ws_archive_list_findings(s.archive, s.arena, 0, &items, &count, diag),
        WS_INPUT, "corrupt");
    close_store(&s);
  }
}

/* ---- findings, confirmations, profiles ---- */
WS_TEST(findings) {
  store s = open_store();
  const ws_findings_row rows[] = {{s.run, 9, "second"}, {s.run, 4, "first"}};
  ws_findings_row *items;
  int count;
  for (int i = 0; i < 2; i++)
    MUST(ws_archive_put_findings(s.archive, &rows[i], diag));
  MUST(ws_archive_list_findings(s.archive, s.arena, s.run, &items, &count,
                                diag));
  WS_CHECK_INT(count, 2);
  WS_CHECK_TEXT(items[0].text, "first");
  WS_CHECK_TEXT(items[1].text, "second");
  MUST(ws_archive_list_findings(s.archive, s.arena, s.run + 1, &items, &count,
                                diag));
  WS_CHECK_INT(count, 0);
  close_store(&s);
}

WS_TEST(the_latest_confirmation_counts) {
  store s = open_store();
  const char *a = put(&s, s.run, 1, "ok", "", "", NULL, 0);
  const char *b = put(&s, s.run, 2, "ok", "", "", NULL, 0);
  ws_confirmation_row row = {.candidate_id = a,
                             .against_id = b,
                             .provenance = "sim:x",
                             .run_id = s.run,
                             .verdict = "ok",
                             .reason = "",
                             .search_speedup = 1.5,
                             .held_out_speedup = 1.25,
                             .chosen_speedup = 1.75,
                             .chosen_shapes = 4,
                             .worst_speedup = 1.125,
                             .noise = 0.01};
  MUST(ws_archive_put_confirmation(s.archive, &row, diag));
  row.candidate_id = b;
  MUST(ws_archive_put_confirmation(s.archive, &row, diag));
  row.candidate_id = a;
  row.provenance = "hip:x";
  MUST(ws_archive_put_confirmation(s.archive, &row, diag));
  row.provenance = "sim:x";
  row.verdict = "slow";
  row.reason = "one shape";
  MUST(ws_archive_put_confirmation(s.archive, &row, diag));
  ws_confirmation_row *items;
  int count;
  MUST(ws_archive_list_confirmations(s.archive, s.arena, NULL, &items, &count,
                                     diag));
  WS_CHECK_INT(count, 3);
  WS_CHECK_TEXT(items[0].candidate_id, b);
  WS_CHECK_TEXT(items[1].provenance, "hip:x");
  WS_CHECK_TEXT(items[2].verdict, "slow");
  WS_CHECK_TEXT(items[2].reason, "one shape");
  WS_CHECK_NEAR(items[2].search_speedup, 1.5, 0);
  WS_CHECK_NEAR(items[2].held_out_speedup, 1.25, 0);
  WS_CHECK_NEAR(items[2].chosen_speedup, 1.75, 0);
  WS_CHECK_INT(items[2].chosen_shapes, 4);
  WS_CHECK_NEAR(items[2].worst_speedup, 1.125, 0);
  WS_CHECK_NEAR(items[2].noise, 0.01, 0);
  WS_CHECK_TEXT(items[2].against_id, b);
  MUST(ws_archive_list_confirmations(s.archive, s.arena, b, &items, &count,
                                     diag));
  WS_CHECK_INT(count, 1);
  close_store(&s);
}

WS_TEST(a_later_profile_replaces) {
  store s = open_store();
  const char *id = put(&s, s.run, 1, "ok", "", "", NULL, 0);
  const ws_shape small = gemm_shape(16, 16, 128),
                 large = gemm_shape(32, 32, 256);
  ws_shape shape;
  const char *report;
  bool found;
  MUST(ws_archive_get_profile(s.archive, s.arena, id, NULL, &found, &shape,
                              &report, diag));
  WS_CHECK(!found);
  MUST(ws_archive_put_profile(s.archive, id, "sim:a", &small, "{}\n", diag));
  MUST(ws_archive_put_profile(s.archive, id, "sim:b", &small, "{\"b\":1}\n",
                              diag));
  MUST(ws_archive_put_profile(s.archive, id, "sim:a", &small, "{\"a\":2}\n",
                              diag));
  MUST(ws_archive_put_profile(s.archive, id, "sim:a", &large, "{\"a\":3}\n",
                              diag));
  MUST(ws_archive_get_profile(s.archive, s.arena, id, "sim:b", &found, &shape,
                              &report, diag));
  WS_CHECK(found);
  WS_CHECK_TEXT(report, "{\"b\":1}\n");
  MUST(ws_archive_get_profile(s.archive, s.arena, id, NULL, &found, &shape,
                              &report, diag));
  WS_CHECK_TEXT(report, "{\"a\":2}\n"); /* without times: by name */
  WS_CHECK_INT(shape.size[DIM_K], 128);
  ws_profile_row *rows;
  int count;
  MUST(ws_archive_list_profiles(s.archive, s.arena, id, NULL, &rows, &count,
                                diag));
  WS_CHECK_INT(count, 3);
  WS_CHECK_TEXT(rows[1].report, "{\"a\":3}\n");
  WS_CHECK_TEXT(rows[2].provenance, "sim:b");
  close_store(&s);
}

WS_TEST(a_later_coverage_replaces) {
  store s = open_store();
  const char *id = put(&s, s.run, 1, "ok", "", "", NULL, 0);
  ws_coverage_row *rows;
  int count;
  ws_coverage_row row = {.candidate_id = id,
                         .provenance = "sim:a",
                         .run_id = s.run,
                         .seed = UINT64_MAX - 6,
                         .verified = 16,
                         .planned = 300,
                         .text = "16 of 300"};
  MUST(ws_archive_put_coverage(s.archive, &row, diag));
  row.verified = 300;
  row.text = "300 of 300";
  MUST(ws_archive_put_coverage(s.archive, &row, diag));
  row.provenance = "hip:b";
  MUST(ws_archive_put_coverage(s.archive, &row, diag));
  MUST(ws_archive_list_coverage(s.archive, s.arena, id, &rows, &count, diag));
  WS_CHECK_INT(count, 2);
  WS_CHECK_TEXT(rows[1].provenance, "sim:a");
  WS_CHECK_TEXT(rows[1].text, "300 of 300");
  WS_CHECK_INT(rows[1].verified, 300);
  WS_CHECK(rows[1].seed == UINT64_MAX - 6);
  MUST(ws_archive_list_coverage(s.archive, s.arena, "none", &rows, &count,
                                diag));
  WS_CHECK_INT(count, 0);
  close_store(&s);
}

/* ---- comparisons ---- */
WS_TEST(speedup_of_shapes_both_have) {
  store s = open_store();
  /* Over the parent: 16: 8/2 = 4, 32: 9/9 = 1; mean sqrt(4) = 2. 64 and 128
   * have only one of the two. */
  ws_measurement child[] = {at(16, 2, "sim:a"), at(32, 9, "sim:a"),
                            at(64, 1, "sim:a")};
  ws_measurement parent[] = {at(16, 8, "sim:a"), at(32, 9, "sim:a"),
                             at(128, 5, "sim:a")};
  const char *a = put(&s, s.run, 1, "ok", "", "", child, 3);
  const char *b = put(&s, s.run, 2, "ok", "", "", parent, 3);
  ws_speedup got;
  MUST(ws_archive_speedup(s.archive, s.arena, a, b, NULL, &got, diag));
  WS_CHECK_NEAR(got.value, 2, 1e-12);
  WS_CHECK_NEAR(got.low, 2, 1e-12);
  WS_CHECK_NEAR(got.high, 2, 1e-12);
  WS_CHECK_NEAR(got.worst, 1, 1e-12);
  WS_CHECK_INT(got.shapes, 2);
  WS_CHECK_TEXT(got.provenance, "sim:a");
  MUST(ws_archive_speedup(s.archive, s.arena, a, b, "hip:a", &got, diag));
  WS_CHECK_INT(got.shapes, 0);
  WS_CHECK_NEAR(got.value, 0, 0);
  WS_CHECK_TEXT(got.provenance, "");
  close_store(&s);
}

/* Half-widths of ln us: child 0.3 and 0 (no interval), parent 0.4 and 0. The
 * mean of two: sqrt(0.09 + 0.16) / 2 = 0.25. */
WS_TEST(interval_of_a_speedup) {
  store s = open_store();
  ws_measurement child[] = {at(16, 1, "hip:a"), at(32, 1, "hip:a")};
  ws_measurement parent[] = {at(16, 3, "hip:a"), at(32, 3, "hip:a")};
  child[0].low_us = exp(-0.3), child[0].high_us = exp(0.3);
  parent[0].low_us = 3 * exp(-0.4), parent[0].high_us = 3 * exp(0.4);
  const char *a = put(&s, s.run, 1, "ok", "", "", child, 2);
  const char *b = put(&s, s.run, 2, "ok", "", "", parent, 2);
  ws_speedup got;
  MUST(ws_archive_speedup(s.archive, s.arena, a, b, NULL, &got, diag));
  WS_CHECK_NEAR(got.value, 3, 1e-12);
  WS_CHECK_NEAR(got.low, 3 * exp(-0.25), 1e-12);
  WS_CHECK_NEAR(got.high, 3 * exp(0.25), 1e-12);
  close_store(&s);
}

WS_TEST(the_nearest_to_a_card_is_compared) {
  store s = open_store();
  static const char *const order[] = {"hip:x", "table:x", "sim:x", "other:x",
                                      "estimate:x"};
  for (int first = 0; first < 5; first++) {
    ws_measurement child[6], parent[6];
    int count = 0;
    for (int i = first; i < 5; i++, count++) {
      child[count] = at(16, 1, order[i]);
      parent[count] = at(16, 1 + i, order[i]);
    }
    child[count] = at(32, 1, "estimate:x"); /* more shapes do not matter */
    parent[count] = at(32, 1, "estimate:x");
    count++;
    const char *a = put(&s, s.run, 2 * first, "ok", "", "", child, count);
    const char *b = put(&s, s.run, 2 * first + 1, "ok", "", "", parent, count);
    ws_speedup got;
    MUST(ws_archive_speedup(s.archive, s.arena, a, b, NULL, &got, diag));
    WS_CHECK_TEXT(got.provenance, order[first]);
    if (first < 4)
      WS_CHECK_NEAR(got.value, 1 + first, 1e-12);
  }
  WS_CHECK_TEXT(ws_provenance_word("hip:AMD Instinct MI300X"), "measured");
  WS_CHECK_TEXT(ws_provenance_word("table:a.csv"), "recorded");
  WS_CHECK_TEXT(ws_provenance_word("sim:gfx942-model-1:MI300X"), "simulated");
  WS_CHECK_TEXT(ws_provenance_word("estimate:a"), "estimated");
  WS_CHECK_TEXT(ws_provenance_word("guess"), "other");
  close_store(&s);
}

/* Draws 0 to 6 of a run:
 *   0  wrong, though it has times     not ranked
 *   1  ok without times               not ranked
 *   2  4 and 16 us: geomean 8         the reference: 1; its third shape, which
 *                                     only 4 has too, does not count
 *   3  2 us on one shape of two       not ranked
 *   4  2 and 8, and a third: 4        2, improves
 *   5  8 and 8: 8                     1
 *   6  known from another run, 1 and 1: 8, improves                       */
static int64_t put_seven(store *s) {
  const char *p = "sim:x";
  ws_measurement none[] = {at(16, 1, p), at(32, 1, p)};
  ws_measurement slow[] = {at(16, 4, p), at(32, 16, p), at(64, 9, p),
                           at(16, 1, "estimate:x")};
  ws_measurement one[] = {at(16, 2, p)};
  ws_measurement fast[] = {at(16, 2, p), at(32, 8, p), at(64, 50, p)};
  ws_measurement same[] = {at(16, 8, p), at(32, 8, p)};
  int64_t run = fixture_run(s->archive, s->tmpl, 2);
  const char *known = put(s, s->run, 100, "ok", "", "", none, 2);
  put(s, run, 0, "wrong", "", "", none, 2);
  put(s, run, 1, "ok", "", "", NULL, 0);
  put(s, run, 2, "ok", "", "", slow, 4);
  put(s, run, 3, "ok", "", "", one, 1);
  put(s, run, 4, "ok", "", "", fast, 3);
  put(s, run, 5, "ok", "", "", same, 2);
  MUST(ws_archive_put_draw(s->archive, run, 6, known, diag));
  MUST(ws_archive_put_draw(s->archive, run, 5, known, diag)); /* is there */
  return run;
}

WS_TEST(progress_of_a_run) {
  static const double speedups[] = {0, 0, 1, 0, 2, 1, 8};
  static const double best[] = {0, 0, 1, 1, 2, 2, 8};
  static const bool improves[] = {0, 0, 1, 0, 1, 0, 1};
  store s = open_store();
  int64_t run = put_seven(&s);
  ws_progress progress;
  MUST(ws_archive_progress(s.archive, s.arena, run, NULL, &progress, diag));
  WS_CHECK_INT(progress.count, 7);
  WS_CHECK_TEXT(progress.provenance, "sim:x"); /* most draws have it */
  WS_CHECK_INT(progress.shapes, 2);
  WS_CHECK_TEXT(progress.reference_id, progress.points[2].row.id);
  for (int i = 0; i < 7; i++) {
    WS_CHECK_INT(progress.points[i].sequence, i);
    WS_CHECK_NEAR(progress.points[i].speedup, speedups[i], 1e-12);
    WS_CHECK_NEAR(progress.points[i].best_speedup, best[i], 1e-12);
    WS_CHECK_INT(progress.points[i].improves, improves[i]);
  }
  WS_CHECK_NEAR(progress.points[2].geomean_us, 8, 1e-12);
  WS_CHECK_NEAR(progress.points[4].geomean_us, 4, 1e-12);
  WS_CHECK_INT(progress.points[6].row.run_id, s.run);
  WS_CHECK_INT(progress.points[6].row.sequence, 100);
  MUST(ws_archive_progress(s.archive, s.arena, run, "estimate:x", &progress,
                           diag));
  WS_CHECK_INT(progress.shapes, 1);
  WS_CHECK_NEAR(progress.points[6].best_speedup, 1, 0);
  MUST(ws_archive_progress(s.archive, s.arena, 99, NULL, &progress, diag));
  WS_CHECK_INT(progress.count, 0);
  WS_CHECK_TEXT(progress.provenance, "");
  WS_CHECK_TEXT(progress.reference_id, "");
  close_store(&s);
}

/* ---- text export ---- */
WS_TEST(new_fields_survive_an_export) {
  store s = open_store();
  ws_measurement times[] = {at(16, 10, "hip:x"), at(32, 10, "hip:x")}, *back;
  times[0].low_us = 9.5;
  times[0].high_us = 11;
  ws_candidate *candidate = fixture_candidate(s.arena, s.tmpl, 1);
  ws_candidate_row row = fixture_row(s.arena, candidate, s.run, 1), got;
  row.parent_id = "ab";
  row.second_parent_id = "cd";
  row.kind = "write";
  row.label = "wider loads";
  row.cell = "lds=16-32K";
  row.island = 2;
  MUST(ws_archive_put_candidate(s.archive, &row, candidate, NULL, 0, times, 2,
                                diag));
  const char *plain = put(&s, s.run, 2, "ok", "", "", times, 2);
  const char *ids[] = {row.id, plain};
  char *folder = fixture_path(s.arena, "text"), *text;
  MUST(ws_archive_export(s.archive, folder, ids, 2, diag));
  size_t size;
  MUST(ws_file_read(
      s.arena, ws_arena_printf(s.arena, "%s/candidates/%s.json", folder, plain),
      &text, &size, diag));
  WS_CHECK(!strstr(text, "label") && !strstr(text, "island"));
  WS_CHECK_CONTAINS(text, "\"low_us\": 9.5");
  ws_archive *other;
  int count;
  bool found;
  MUST(ws_archive_open(":memory:", true, &other, diag));
  MUST(ws_archive_import(other, folder, &count, diag));
  WS_CHECK_INT(count, 2);
  MUST(ws_archive_get_candidate(other, s.arena, row.id, &found, &got, diag));
  WS_CHECK_TEXT(got.second_parent_id, "cd");
  WS_CHECK_TEXT(got.kind, "write");
  WS_CHECK_TEXT(got.label, "wider loads");
  WS_CHECK_TEXT(got.cell, "lds=16-32K");
  WS_CHECK_INT(got.island, 2);
  MUST(
      ws_archive_get_measurements(other, s.arena, row.id, &back, &count, diag));
  WS_CHECK_NEAR(back[0].low_us, 9.5, 0);
  WS_CHECK_NEAR(back[0].high_us, 11, 0);
  WS_CHECK_NEAR(back[1].low_us, 10, 0);
  ws_progress progress;
  MUST(ws_archive_progress(other, s.arena, got.run_id, NULL, &progress, diag));
  WS_CHECK_INT(progress.count, 2);
  ws_archive_close(other);
  fixture_remove(s.arena, folder);
  close_store(&s);
}
