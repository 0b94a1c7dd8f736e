/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * ws_tune against the fake compile server: determinism, resuming, limits,
 * duplicates, wrong options.
 */
#include "../gemm_shape.h"
#include "search_bench.h"

#include <fcntl.h>
#include <signal.h>

/* ---- determinism ---- */
WS_TEST(the_sequence_does_not_depend_on_workers) {
  static const char *const strategies[] = {"random", "local"};
  setenv("FAKE_DELAY_US", "3000", 1);
  setenv("FAKE_DEATHS", "23", 1);
  for (int s = 0; s < 2; s++) {
    bench b = make_bench(LANDSCAPE);
    b.options.strategy = strategies[s];
    char *first = NULL;
    static const int workers[] = {1, 3, 16};
    for (int i = 0; i < 3; i++) {
      b.options.workers = workers[i];
      ws_tune_result result = tune(&b);
      WS_CHECK_INT(result.evaluated, 150);
      char *text = dump(&b);
      if (first)
        check_same(text, first);
      first = text;
      remove_archive(&b);
    }
    WS_CHECK(strstr(first, "|wrong|") && strstr(first, "|crash|"));
    free_bench(&b);
  }
}

WS_TEST(another_seed_is_another_sequence) {
  bench b = make_bench(LANDSCAPE);
  tune(&b);
  char *first = query(&b, "SELECT id FROM candidate ORDER BY number");
  remove_archive(&b);
  b.options.seed = 2;
  tune(&b);
  WS_CHECK(
      strcmp(first, query(&b, "SELECT id FROM candidate ORDER BY number")));
  free_bench(&b);
}

WS_TEST(resuming_builds_nothing_twice) {
  bench b = make_bench(LANDSCAPE);
  char *log = ws_arena_printf(b.arena, "%s/log", b.folder);
  setenv("FAKE_LOG", log, 1);
  tune(&b);
  char *first = dump(&b);
  ws_tune_result again = tune(&b);
  WS_CHECK_INT(again.evaluated, 0);
  WS_CHECK_INT(again.replayed, 150);
  check_same(dump(&b), first);
  b.options.evaluations = 200;
  ws_tune_result more = tune(&b);
  WS_CHECK_INT(more.evaluated, 50);
  char *lines;
  size_t size, count = 0;
  ws_diag diag;
  WS_CHECK(ws_file_read(b.arena, log, &lines, &size, &diag) == WS_OK);
  for (size_t i = 0; i < size; i++)
    count += lines[i] == '\n';
  WS_CHECK_INT(count, 200);
  free_bench(&b);
}

WS_TEST(interrupted_keeps_everything) {
  bench b = make_bench(LANDSCAPE);
  setenv("FAKE_DELAY_US", "4000", 1);
  tune(&b);
  char *whole = dump(&b);
  remove_archive(&b);
  pid_t parent = getpid(), child = fork();
  WS_CHECK(child >= 0);
  if (child == 0) {
    usleep(150000);
    kill(parent, SIGINT);
    _exit(0);
  }
  ws_tune_result result = tune(&b);
  WS_CHECK_INT(result.interrupted, SIGINT);
  WS_CHECK(result.evaluated < 150);
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM candidate"), result.evaluated);
  waitpid(child, NULL, 0);
  WS_CHECK(!tune(&b).interrupted);
  check_same(dump(&b), whole);
  free_bench(&b);
}

/* ---- limits ---- */
WS_TEST(time_is_kept_with_a_job_that_never_ends) {
  bench b = make_bench(LANDSCAPE);
  setenv("FAKE_DELAY_US", "3000", 1);
  setenv("FAKE_HANG", "depth=2", 1);
  b.options.minutes = 0.02;
  b.options.evaluations = 0;
  double start = ws_clock_ms();
  ws_tune_result result = tune(&b);
  double seconds = (ws_clock_ms() - start) / 1000;
  WS_CHECK(seconds > 1.15 && seconds < 10); /* that job's own limit is 20 s */
  WS_CHECK(!result.interrupted);
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM candidate WHERE assignments "
                          "LIKE '%depth=2%'"),
               0);
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM candidate"), result.evaluated);
  free_bench(&b);
}

WS_TEST(time_is_kept_with_servers_that_do_not_listen) {
  bench b = make_bench(LANDSCAPE);
  setenv("FAKE_HANG", "tile", 1); /* every build */
  setenv("FAKE_DEAF", "1", 1);
  b.options.minutes = 0.02;
  b.options.evaluations = 0;
  b.options.workers = 16; /* one after the other they would take 4.8 s to go */
  double start = ws_clock_ms();
  ws_tune_result result = tune(&b);
  double seconds = (ws_clock_ms() - start) / 1000;
  fprintf(stderr, "# a budget of 1.2 s ended after %.2f s\n", seconds);
  WS_CHECK(seconds > 1.15 && seconds < 5);
  WS_CHECK_INT(result.evaluated, 0);
  free_bench(&b);
}

WS_TEST(a_dead_server_is_a_verdict) {
  bench b = make_bench(LANDSCAPE);
  setenv("FAKE_DEATHS", "7", 1);
  ws_tune_result result = tune(&b);
  WS_CHECK_INT(result.evaluated, 150);
  WS_CHECK(result.verdicts[WS_VERDICT_CRASH] > 5);
  WS_CHECK_INT(
      number(&b, "SELECT count(*) FROM candidate WHERE verdict='crash'"),
      result.verdicts[WS_VERDICT_CRASH]);
  free_bench(&b);
}

/* ---- what is proposed and recorded ---- */
WS_TEST(baseline_and_default_come_first) {
  bench b = make_bench(LANDSCAPE);
  b.options.baseline_file = write_in(
      &b, "naive.ll",
      "[" HEAD("naive") "," PARAM("block", "1 2", "2") "," LAUNCH("m") "]");
  b.options.evaluations = 20;
  ws_tune_result result = tune(&b);
  char *rows = query(&b, "SELECT sequence,proposer,assignments FROM candidate"
                         " ORDER BY number LIMIT 2");
  WS_CHECK_TEXT(rows, "0|baseline|block=2\n1|default|layout=0;tile_m=16;"
                      "tile_n=16;depth=0;split=1;order=0;pad=0;unroll=1;"
                      "waves=1\n");
  WS_CHECK_INT(result.row_count, 4);
  for (int i = 0; i < 4; i++) {
    /* naive: `block` is at the end of its list; see landscape.c */
    WS_CHECK(result.rows[i].baseline_us > 0);
    WS_CHECK(result.rows[i].best_us <= result.rows[i].baseline_us);
    WS_CHECK_TEXT(result.rows[i].bound,
                  result.rows[i].shape.size[DIM_M] > 64 ? "mfma" : "lds");
    WS_CHECK_TEXT(result.rows[i].provenance, WS_PROVENANCE_ESTIMATE);
  }
  free_bench(&b);
}

/* "a=1;b=2" without what `defaults` has: "b=2", blanks between. */
static void append_unlike(ws_strbuf *out, char *items, const char *defaults) {
  char *rest;
  for (char *item = strtok_r(items, ";", &rest); item;
       item = strtok_r(NULL, ";", &rest))
    if (!strstr(defaults, item))
      ws_strbuf_printf(out, "%s%s", out->size ? " " : "", item);
}

WS_TEST(the_best_is_that_of_the_whole_archive) {
  static const char defaults[] = "layout=0;tile_m=16;tile_n=16;depth=0;split=1;"
                                 "order=0;pad=0;unroll=1;waves=1";
  bench b = make_bench(LANDSCAPE);
  tune(&b);
  b.options.layout = "mnmajor"; /* its times must not count */
  tune(&b);
  b.options.layout = "kmajor";
  b.options.seed = 2;
  b.options.evaluations = 1; /* the default point, which is known */
  ws_tune_result result = tune(&b);
  WS_CHECK_INT(result.archive_candidates, 150);
  for (int i = 0; i < result.row_count; i++) {
    const ws_tune_row *row = &result.rows[i];
    char *best = query(
        &b, ws_arena_printf(
                b.arena,
                "SELECT printf('%%.9g',us),c.id,assignments,variants FROM "
                "measurement x JOIN candidate c ON c.id=x.candidate_id WHERE "
                "shape='m=%d,n=%d,k=%d' AND layout='kmajor' AND verdict='ok' "
                "ORDER BY us,number LIMIT 1",
                (int)row->shape.size[DIM_M], (int)row->shape.size[DIM_N],
                (int)row->shape.size[DIM_K]));
    char *rest, *us = strtok_r(best, "|\n", &rest);
    WS_CHECK_TEXT(ws_arena_printf(b.arena, "%.9g", row->best_us), us);
    WS_CHECK_TEXT(row->best_id, strtok_r(NULL, "|\n", &rest));
    ws_strbuf want;
    ws_strbuf_init(&want);
    append_unlike(&want, strtok_r(NULL, "|\n", &rest), defaults);
    char *variants = strtok_r(NULL, "|\n", &rest);
    if (variants)
      append_unlike(&want, variants, "");
    WS_CHECK_TEXT(row->changes, want.data);
    ws_strbuf_deinit(&want);
  }
  free_bench(&b);
}

WS_TEST(changes_in_words) {
  bench b = make_bench(LANDSCAPE);
  b.options.evaluations = 1;
  WS_CHECK_TEXT(tune(&b).rows[0].changes, "defaults");
  remove_archive(&b);
  b.options.template_file = b.template_file = write_in(
      &b, "other.ll",
      "[" HEAD("other") "," PARAM("block", "1 2", "2") "," LAUNCH("m") "]");
  tune(&b);
  b.options.template_file = write_in(&b, "slow.ll", LANDSCAPE);
  ws_tune_result result = tune(&b); /* it is slower than the other template */
  WS_CHECK_TEXT(result.rows[0].changes, "other: defaults");
  free_bench(&b);
}

WS_TEST(layout_is_fixed_by_the_task) {
  bench b = make_bench(LANDSCAPE);
  b.options.layout = "mnmajor";
  tune(&b);
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM candidate WHERE layout="
                          "'mnmajor' AND assignments LIKE 'layout=1;%'"),
               150);
  free_bench(&b);
}

WS_TEST(only_legal_points_are_built_and_each_once) {
  bench b = make_bench(LANDSCAPE);
  b.options.strategy = "random";
  b.options.evaluations = 400;
  tune(&b);
  WS_CHECK_INT(number(&b, "SELECT count(DISTINCT assignments||variants) FROM "
                          "candidate"),
               400);
  char *rows = query(&b, "SELECT assignments FROM candidate"), *rest;
  for (char *line = strtok_r(rows, "\n", &rest); line;
       line = strtok_r(NULL, "\n", &rest)) {
    int m, n, waves;
    WS_CHECK_INT(sscanf(strstr(line, "tile_m="), "tile_m=%d;tile_n=%d", &m, &n),
                 2);
    WS_CHECK_INT(sscanf(strstr(line, "waves="), "waves=%d", &waves), 1);
    WS_CHECK(m * n <= 16384 && m * n >= 64 * waves);
  }
  free_bench(&b);
}

WS_TEST(shapes_that_constraints_refuse_have_no_time) {
  bench b = make_bench(LANDSCAPE);
  b.options.shape_set = "128,128,512;128,128,128"; /* split * 128 <= k */
  tune(&b);
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM candidate WHERE assignments "
                          "LIKE '%split=8%'"),
               0);
  WS_CHECK(number(&b, "SELECT count(*) FROM measurement x JOIN candidate c ON "
                      "c.id=x.candidate_id WHERE assignments LIKE "
                      "'%split=4%' AND shape LIKE '%,k=512'") > 0);
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM measurement x JOIN candidate c "
                          "ON c.id=x.candidate_id WHERE assignments LIKE "
                          "'%split=4%' AND shape LIKE '%,k=128'"),
               0);
  free_bench(&b);
}

/* Three values of ghost, which the code ignores; two of grid, which only the
 * launch reads. */
#define SMALL                                                                  \
  "[" HEAD("small") "," PARAM("ghost", "1 2 3", "1") "," PARAM(                \
      "grid", "1 2", "1") "," LAUNCH("m * grid") "]"

WS_TEST(duplicates_take_over_times_and_the_space_ends) {
  bench b = make_bench(SMALL);
  ws_tune_result result = tune(&b);
  WS_CHECK(result.exhausted);
  WS_CHECK_INT(result.evaluated, 6);
  int wrong = (int)result.verdicts[WS_VERDICT_WRONG];
  /* Same code, another grid: no twins. So one original per grid. */
  WS_CHECK_INT(result.verdicts[WS_VERDICT_OK], 2);
  WS_CHECK_INT(result.verdicts[WS_VERDICT_DUPLICATE], 4 - wrong);
  WS_CHECK_INT(number(&b, "SELECT count(DISTINCT ir_hash) FROM candidate WHERE "
                          "ir_hash!=''"),
               2);
  /* Their times are their twin's, though the landscape gives them others. */
  WS_CHECK_INT(
      number(
          &b,
          "SELECT count(*) FROM candidate d JOIN candidate o ON "
          "o.ir_hash=d.ir_hash AND o.verdict='ok' JOIN measurement x ON "
          "x.candidate_id=d.id JOIN measurement y ON y.candidate_id=o.id AND "
          "y.shape=x.shape AND y.us=x.us WHERE "
          "d.verdict='duplicate' AND d.reason='the same as '||o.id"),
      4 * (4 - wrong));
  free_bench(&b);
}

WS_TEST(other_shapes_are_ranked_without_building) {
  bench b = make_bench(LANDSCAPE);
  b.options.evaluations = 60;
  tune(&b);
  b.options.shape_set = "32,512,256";
  b.options.evaluations = 1;
  ws_tune_result result = tune(&b); /* the default, which is known */
  WS_CHECK_INT(result.replayed, 1);
  WS_CHECK_INT(result.evaluated, 0);
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM measurement WHERE shape LIKE "
                          "'m=32,%'"),
               1);
  free_bench(&b);
}

/* ---- bad input ---- */
WS_TEST(unsatisfiable_constraints) {
  bench b = make_bench("[" HEAD("none") "," PARAM("a", "1 2 3", "1") "," PARAM(
      "b", "1 2 3", "1") "," LAUNCH("m") "," REQUIRE(21, "a * b > 9",
                                                     "large") "]");
  tune_fails(&b, WS_INPUT, "t.ll:21: no setting of the parameters satisfies");
  tune_fails(&b, WS_INPUT, "large (a * b > 9)");
  WS_CHECK(access(b.archive, F_OK) != 0);
  free_bench(&b);
}

WS_TEST(constraints_that_no_shape_satisfies) {
  bench b = make_bench("[" HEAD("none") "," PARAM("a", "1 2 3", "1") "," LAUNCH(
      "m") "," REQUIRE(22, "m > 6144 * a", "tall") "]");
  tune_fails(&b, WS_INPUT, "t.ll:22: no setting");
  free_bench(&b);
}

WS_TEST(a_default_that_is_illegal_is_passed_over) {
  bench b = make_bench("[" HEAD("none") "," PARAM("a", "1 2 3", "1") "," LAUNCH(
      "m") "," REQUIRE(22, "a == 3", "three") "]");
  ws_tune_result result = tune(&b);
  WS_CHECK_INT(result.evaluated, 1);
  WS_CHECK(result.exhausted);
  free_bench(&b);
}

WS_TEST(wrong_options) {
  bench b = make_bench(LANDSCAPE);
  const ws_tune_options good = b.options;
#define WRONG(field, value, status, part)                                      \
  do {                                                                         \
    b.options = good;                                                          \
    b.options.field = value;                                                   \
    tune_fails(&b, status, part);                                              \
  } while (0)
  WRONG(template_file, "/nowhere/t.ll", WS_INPUT, "/nowhere/t.ll");
  WRONG(baseline_file, "/nowhere/n.ll", WS_INPUT, "/nowhere/n.ll");
  WRONG(layout, "kminor", WS_USAGE,
        "no layout 'kminor' for gfx942; it has kmajor, mnmajor, "
        "kmajor-bpreshuffle, kmajor-add");
  WRONG(strategy, "luck", WS_USAGE, "unknown strategy 'luck'; there are:");
  WRONG(shape_set, "contset", WS_USAGE, "no shape set 'contset'");
  WRONG(shape_set, "", WS_USAGE, "no shape set ''");
  WRONG(shape_set, "16,16", WS_USAGE, "is no shape m,n,k");
  WRONG(shape_set, "16,16,128,1", WS_USAGE, "is no shape m,n,k");
  WRONG(shape_set, "16,16,99999999999999999999", WS_USAGE, "is no shape m,n,k");
  WRONG(shape_set, "0,16,128", WS_USAGE, "sizes from 1");
  WRONG(shape_set, "16,16,100", WS_INPUT, "k");
  WRONG(archive_path, "/nowhere/a.db", WS_ENVIRONMENT, "/nowhere/a.db");
  WRONG(archive_path, b.template_file, WS_INPUT, "not a wavesmith archive");
#undef WRONG
  for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
    WS_CHECK(fcntl(i, F_GETFD) >= 0); /* closed by no failure */
  free_bench(&b);
}

WS_TEST(templates_that_do_not_fit) {
  bench b = make_bench("define void @f() {}\n");
  tune_fails(&b, WS_INPUT, "t.ll:1: not a template");
  b.options.template_file = write_in(
      &b, "other.ll",
      "[" RECORD(
          "template", 1,
          "\"x\",\"1\",\"no_such\",\"gfx942\",\"t\"") "," LAUNCH("m") "]");
  tune_fails(&b, WS_INPUT, "problem 'no_such'");
  b.options.template_file =
      write_in(&b, "fixed.ll", "[" HEAD("x") "," LAUNCH("m") "]");
  b.options.layout = "mnmajor";
  tune_fails(&b, WS_INPUT, "does not serve layout mnmajor");
  b.options.layout = "kmajor";
  ws_tune_result result = tune(&b); /* a space of one point */
  WS_CHECK_INT(result.evaluated, 1);
  WS_CHECK(result.exhausted);
  free_bench(&b);
}

WS_TEST(no_compile_server) {
  bench b = make_bench(LANDSCAPE);
  setenv("WAVESMITH_COMPILER", "/nowhere/wavesmith-compiler", 1);
  tune_fails(&b, WS_ENVIRONMENT, "/nowhere/wavesmith-compiler");
  free_bench(&b);
}
