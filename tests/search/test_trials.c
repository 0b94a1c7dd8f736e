/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * ws_tune with a device, which is the fake device server: what is tried, what
 * is kept of it, and that proposals do not depend on it.
 */
#include "../gemm_shape.h"
#include "search_bench.h"
#include "wavesmith/dispatch.h"

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

static const char sequence[] =
    "SELECT sequence,id,proposer,move FROM candidate ORDER BY sequence";

WS_TEST(proposals_do_not_depend_on_the_device) {
  bench b = device_bench();
  b.options.evaluations = 80;
  tune(&b);
  char *with = query(&b, sequence);
  WS_CHECK(number(&b, "SELECT count(*) FROM measurement WHERE provenance"
                      " LIKE 'sim:%'") > 10);
  remove_archive(&b);
  setenv("FAKE_DEVICE_DELAY_US", "10000", 1);
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
                          " AND verdict='wrong' AND reason='made up'"),
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
                            "='%s' AND shape='m=%lld,n=%lld,k=%lld'",
                            provenance, (long long)row->shape.size[DIM_M],
                            (long long)row->shape.size[DIM_N],
                            (long long)row->shape.size[DIM_K]));
    WS_CHECK_NEAR(row->best_us, strtod(best, NULL), 1e-6 * row->best_us);
  }
  WS_CHECK(result.agreement.pairs > 10);
  WS_CHECK(result.agreement.worst_regret >= 1);
  free_bench(&b);
}

/* The finals: a time wherever there is an estimate, so that dispatch has a
 * matrix; other shapes beside them, for its rules, are extra. */
WS_TEST(finalists_are_timed_on_every_shape) {
  bench b = device_bench();
  ws_tune_result result = tune(&b);
  for (int i = 0; i < result.row_count; i++) {
    char *sql = ws_arena_printf(
        b.arena,
        "SELECT count(*) FROM measurement e WHERE candidate_id='%s' AND"
        " provenance NOT LIKE 'sim:%%' AND NOT EXISTS (SELECT 1 FROM"
        " measurement t WHERE t.candidate_id=e.candidate_id AND"
        " t.provenance='%s' AND t.shape=e.shape)",
        result.rows[i].best_id, provenance);
    WS_CHECK_INT(number(&b, sql), 0);
  }
  free_bench(&b);
}

/* What `wavesmith dispatch` decides by. */
typedef struct matrix_bench {
  ws_archive *archive;
  const ws_problem *problem;
  ws_dispatch_entry *entries;
  int loaded, count;
  ws_matrix matrix;
} matrix_bench;

static matrix_bench measured(bench *b, const char *set, const char *wanted) {
  ws_diag diag = {""};
  matrix_bench m = {.problem = ws_problem_find("fp8_gemm_blockscale")};
  WS_CHECK_INT(ws_archive_open(b->archive, false, &m.archive, &diag), WS_OK);
  WS_CHECK_INT(ws_dispatch_load_recorded(m.archive, b->arena, m.problem,
                                         "kmajor", "gfx942", &m.entries,
                                         &m.loaded, &diag),
               WS_OK);
  m.count = m.loaded;
  WS_CHECK_INT(ws_dispatch_measured(m.archive, b->arena, m.problem,
                                    ws_problem_shape_set(m.problem, set),
                                    wanted, m.entries, &m.count, &m.matrix,
                                    &diag),
               WS_OK);
  ws_archive_close(m.archive);
  return m;
}

WS_TEST(dispatch_decides_by_complete_rows_of_one_provenance) {
  bench b = device_bench();
  b.options.shape_set = "contest";
  b.options.evaluations = 400; /* enough for a whole portfolio of finalists */
  tune(&b);
  matrix_bench m = measured(&b, "contest", "sim");
  WS_CHECK(m.matrix.provenance);
  WS_CHECK_TEXT(m.matrix.provenance, provenance);
  WS_CHECK(m.count >= 1 && m.count < m.loaded);
  const ws_shape_set *set = ws_problem_shape_set(m.problem, "contest");
  for (int s = 0; s < m.matrix.shape_count; s++)
    for (int c = 0; c < m.count; c++) {
      const ws_candidate *candidate = m.entries[c].candidate;
      const ws_shape *shape = &m.matrix.shapes[s];
      double us = m.matrix.us[s * m.count + c];
      if (isnan(us) && s >= set->count) /* held-out, which few are timed on */
        continue;
      /* fake_device.c's formula, from the code object's first digit */
      double base = (double)shape->size[DIM_M] * (double)shape->size[DIM_N] *
                    (double)shape->size[DIM_K] / 1e8;
      if (ws_candidate_broken_require(candidate, shape, NULL) >= 0)
        WS_CHECK(isinf(us));
      else
        WS_CHECK(us >= base && us < 2 * base);
    }
  /* shapes that no device has seen; another kind; all kept then */
  m = measured(&b, "decode", NULL);
  WS_CHECK(!m.matrix.provenance && m.count == m.loaded);
  m = measured(&b, "contest", "hip");
  WS_CHECK(!m.matrix.provenance && m.count == m.loaded);
  /* unasked, simulated times decide when there are those of eight candidates;
   * how many there are depends on how busy the machine was */
  const bool enough = measured(&b, "contest", "sim").count >= 8;
  m = measured(&b, "contest", NULL);
  WS_CHECK(enough == (m.matrix.provenance != NULL));
  free_bench(&b);
}

/* A second run may ask for more, but never again for the same: winners are
 * confirmed on other contents. */
static void check_nothing_twice(bench *b, const char *log) {
  FILE *twice = popen(
      ws_arena_printf(b->arena, "grep ^time %s | sort | uniq -d", log), "r");
  char line[400];
  WS_CHECK(twice);
  if (fgets(line, sizeof line, twice))
    WS_FAIL("twice: %s", line);
  pclose(twice);
}

WS_TEST(times_are_not_taken_twice) {
  bench b = device_bench();
  char *log = ws_arena_printf(b.arena, "%s/log", b.folder);
  setenv("FAKE_DEVICE_LOG", log, 1);
  WS_CHECK(tune(&b).timed > 0);
  tune(&b);
  check_nothing_twice(&b, log);
  free_bench(&b);
}

/* What a run begins with may be far from the best by the time that the device
 * comes to it, as on a busy machine: then only confirmations time it. */
WS_TEST(the_start_is_not_timed_twice_either) {
  bench b = device_bench();
  char *log = ws_arena_printf(b.arena, "%s/log", b.folder);
  setenv("FAKE_DEVICE_LOG", log, 1);
  const char *device = b.options.device;
  b.options.evaluations = 80;
  b.options.device = NULL;
  tune(&b);
  b.options.device = device;
  WS_CHECK(tune(&b).confirmation_count > 0);
  b.options.evaluations = 130;
  WS_CHECK(tune(&b).confirmation_count > 0);
  check_nothing_twice(&b, log);
  /* One that is wrong there is found out, and something else compared with. */
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM confirmation JOIN candidate"
                          " ON against_id=id WHERE candidate.verdict<>'ok'"),
               0);
  free_bench(&b);
}

WS_TEST(a_slow_device_keeps_the_time_limit) {
  bench b = device_bench();
  setenv("FAKE_DEVICE_DELAY_US", "400000", 1);
  b.options.evaluations = 0;
  b.options.minutes = 2.0 / 60;
  ws_tune_result result = tune(&b);
  /* What is left undone by then takes 20 s on two cores. */
  if (result.seconds > 12)
    WS_FAIL("2 s became %.2f", result.seconds);
  WS_CHECK(result.timed + result.verified + result.refuted > 0);
  free_bench(&b);
}

/* On a faster machine it may have a time: no verdict, whoever asked. */
WS_TEST(a_simulator_that_is_too_slow_condemns_nothing) {
  bench b = device_bench();
  setenv("FAKE_DEVICE_TIMES_OUT", "c", 1);
  setenv("WAVESMITH_LOG", "error", 1);
  b.options.rank = "device";
  tune(&b);
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM candidate WHERE verdict="
                          "'timeout'"),
               0);
  static const char untimed[] =
      "SELECT count(*) FROM candidate c WHERE verdict='ok' AND NOT EXISTS"
      " (SELECT 1 FROM measurement m WHERE m.candidate_id=c.id AND"
      " m.provenance LIKE 'sim:%')";
  WS_CHECK(number(&b, untimed) > 0);
  WS_CHECK_INT(tune(&b).evaluated, 0); /* asked again, and goes on the same */
  free_bench(&b);
}

/* A simulator that dies is no verdict on a candidate. */
WS_TEST(a_device_that_dies_is_given_up) {
  bench b = device_bench();
  setenv("FAKE_DEVICE_DIES", "1", 1);
  setenv("WAVESMITH_LOG", "error", 1);
  b.options.evaluations = 60;
  ws_tune_result result = tune(&b);
  WS_CHECK_INT(result.evaluated, 60);
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
  tune_fails(&b, WS_USAGE, "hip, cuda, sim, estimate, auto");
  setenv("WAVESMITH_DEVICE_SERVER", "/nonexistent", 1);
  b.options.device = "sim";
  tune_fails(&b, WS_ENVIRONMENT, "/nonexistent");
  b.options.evaluations = 20;
  b.options.device = "auto"; /* does without */
  setenv("WAVESMITH_LOG", "error", 1);
  ws_tune_result result = tune(&b);
  WS_CHECK_TEXT(result.provenance, "");
  free_bench(&b);
}
