/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * ws_tune with a device, which is the fake device server: what is tried, what
 * is kept of it, and that proposals do not depend on it.
 */
#include "search_bench.h"

#include <math.h>

static const char provenance[] = "sim:fake:MI300X";

static bench device_bench(void) {
  bench b = make_bench(LANDSCAPE);
  const char *fake = getenv("WS_FAKE_DEVICE");
  WS_CHECK(fake);
  setenv("WAVESMITH_DEVICE_SERVER", fake, 1);
  b.options.device = "sim";
  return b;
}

static int number(bench *b, const char *sql) {
  return (int)strtol(query(b, sql), NULL, 10);
}

static const char sequence[] =
    "SELECT sequence,id,proposer,move FROM candidate ORDER BY sequence";

WS_TEST(proposals_do_not_depend_on_the_device) {
  bench b = device_bench();
  tune(&b);
  char *with = query(&b, sequence);
  WS_CHECK(number(&b, "SELECT count(*) FROM measurement WHERE provenance"
                      " LIKE 'sim:%'") > 10);
  remove_archive(&b);
  setenv("FAKE_DEVICE_DELAY_US", "20000", 1);
  tune(&b);
  WS_CHECK_TEXT(query(&b, sequence), with);
  remove_archive(&b);
  b.options.device = NULL;
  tune(&b);
  WS_CHECK_TEXT(query(&b, sequence), with);
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM measurement WHERE provenance"
                          " LIKE 'sim:%'"),
               0);
  free_bench(&b);
}

WS_TEST(a_resumed_run_goes_on_as_if_it_had_not_stopped) {
  bench b = device_bench();
  b.options.evaluations = 60; /* some of these are refuted */
  tune(&b);
  WS_CHECK(number(&b, "SELECT count(*) FROM candidate WHERE stage='device'") >
           0);
  b.options.evaluations = 150;
  tune(&b);
  char *resumed = query(&b, sequence);
  remove_archive(&b);
  b.options.device = NULL;
  tune(&b);
  WS_CHECK_TEXT(query(&b, sequence), resumed);
  free_bench(&b);
}

WS_TEST(what_the_device_refutes_is_not_shipped) {
  bench b = device_bench();
  ws_tune_result result = tune(&b);
  WS_CHECK(result.refuted > 0);
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM candidate WHERE stage='device'"
                          " AND verdict='wrong' AND reason='it begins with 7'"),
               result.refuted);
  /* Nobody without a verification has a time. */
  WS_CHECK_INT(number(&b,
                      "SELECT count(*) FROM measurement m JOIN candidate c ON"
                      " c.id=m.candidate_id WHERE m.provenance LIKE 'sim:%'"
                      " AND c.verdict!='ok'"),
               0);
  for (int i = 0; i < result.row_count; i++)
    WS_CHECK_TEXT(query(&b, ws_arena_printf(b.arena,
                                            "SELECT verdict FROM candidate"
                                            " WHERE id='%s'",
                                            result.rows[i].best_id)),
                  "ok\n");
  free_bench(&b);
}

/* The best by device time, of those that have one, and nothing else. */
WS_TEST(rows_show_the_device_where_it_was_asked) {
  bench b = device_bench();
  ws_tune_result result = tune(&b);
  WS_CHECK_INT(result.row_count, 4);
  WS_CHECK_TEXT(result.provenance, provenance);
  WS_CHECK_TEXT(result.geomean_provenance, provenance);
  WS_CHECK_INT(result.geomean_shapes, 4);
  for (int i = 0; i < 4; i++) {
    const ws_tune_row *row = &result.rows[i];
    WS_CHECK_TEXT(row->provenance, provenance);
    char *best = query(
        &b, ws_arena_printf(b.arena,
                            "SELECT min(us) FROM measurement WHERE provenance"
                            "='%s' AND m=%lld AND n=%lld AND k=%lld",
                            provenance, (long long)row->shape.m,
                            (long long)row->shape.n, (long long)row->shape.k));
    WS_CHECK_NEAR(row->best_us, strtod(best, NULL), 1e-6 * row->best_us);
  }
  WS_CHECK(result.agreement.pairs > 10);
  WS_CHECK(result.agreement.worst_regret >= 1);
  free_bench(&b);
}

/* The finals: complete rows for a portfolio, so that dispatch has a matrix. */
WS_TEST(finalists_are_timed_on_every_shape) {
  bench b = device_bench();
  ws_tune_result result = tune(&b);
  for (int i = 0; i < result.row_count; i++) {
    char *sql = ws_arena_printf(
        b.arena,
        "SELECT (SELECT count(*) FROM measurement WHERE candidate_id='%s' AND"
        " provenance='%s')-(SELECT count(*) FROM measurement WHERE"
        " candidate_id='%s' AND provenance NOT LIKE 'sim:%%')",
        result.rows[i].best_id, provenance, result.rows[i].best_id);
    WS_CHECK_INT(number(&b, sql), 0);
  }
  free_bench(&b);
}

/* A second run has nothing to ask the device for. */
WS_TEST(times_are_not_taken_twice) {
  bench b = device_bench();
  ws_tune_result first = tune(&b), second = tune(&b);
  WS_CHECK(first.timed > 0);
  WS_CHECK_INT(second.timed, 0);
  free_bench(&b);
}

WS_TEST(a_slow_device_keeps_the_time_limit) {
  bench b = device_bench();
  setenv("FAKE_DEVICE_DELAY_US", "400000", 1);
  b.options.evaluations = 0;
  b.options.minutes = 2.0 / 60;
  ws_tune_result result = tune(&b);
  if (result.seconds > 3)
    WS_FAIL("2 s became %.2f", result.seconds);
  WS_CHECK(result.timed + result.verified > 0);
  free_bench(&b);
}

/* A simulator that dies is no verdict on a candidate. */
WS_TEST(a_device_that_dies_is_given_up) {
  bench b = device_bench();
  setenv("FAKE_DEVICE_DIES", "1", 1);
  setenv("WAVESMITH_LOG", "error", 1);
  ws_tune_result result = tune(&b);
  WS_CHECK_INT(result.evaluated, 150);
  WS_CHECK_INT(result.refuted, 0);
  WS_CHECK_TEXT(result.rows[0].provenance, WS_PROVENANCE_ESTIMATE);
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM candidate WHERE"
                          " stage='device'"),
               0);
  free_bench(&b);
}

WS_TEST(wrong_devices_are_named) {
  bench b = device_bench();
  b.options.device = "abacus";
  tune_fails(&b, WS_USAGE, "hip, sim, estimate and auto");
  setenv("WAVESMITH_DEVICE_SERVER", "/nonexistent", 1);
  b.options.device = "sim";
  tune_fails(&b, WS_ENVIRONMENT, "/nonexistent");
  b.options.device = "auto"; /* does without */
  setenv("WAVESMITH_LOG", "error", 1);
  ws_tune_result result = tune(&b);
  WS_CHECK_TEXT(result.provenance, "");
  free_bench(&b);
}
