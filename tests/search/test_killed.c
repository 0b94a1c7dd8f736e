/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * ws_tune against the fake compile server, killed again and again, and beside
 * another: the archive is that of a run that nobody disturbed.
 */
#include "search_bench.h"

#include <signal.h>

/* Starts ws_tune in a child and kills it after at most limit_us. */
static void tune_and_kill(bench *b, ws_rng *rng, uint64_t limit_us) {
  pid_t child = fork();
  WS_CHECK(child >= 0);
  if (child == 0) {
    tune(b);
    _exit(0);
  }
  usleep((useconds_t)ws_rng_below(rng, limit_us));
  kill(child, SIGKILL);
  int status;
  WS_CHECK(waitpid(child, &status, 0) == child);
}

WS_TEST(killed_and_resumed_is_the_same_archive) {
  bench b = make_bench(LANDSCAPE);
  setenv("FAKE_DELAY_US", "2000", 1);
  b.options.evaluations = 300;
  double begin_ms = ws_clock_ms();
  tune(&b);
  double whole_us = (ws_clock_ms() - begin_ms) * 1000;
  char *whole = dump(&b);
  remove_archive(&b);
  ws_rng rng;
  ws_rng_init(&rng, 5);
  int cut = 0, before = 0;
  for (int round = 0; round < 12; round++) {
    tune_and_kill(&b, &rng, (uint64_t)(whole_us / 3));
    int recorded = access(b.archive, F_OK) == 0 &&
                           strcmp(query(&b, "PRAGMA user_version"), "0\n")
                       ? number(&b, "SELECT count(*) FROM candidate")
                       : 0;
    WS_CHECK(recorded >= before);
    cut += recorded > 0 && recorded < 300;
    before = recorded;
  }
  WS_CHECK(cut > 0); /* else the kills came too early or too late */
  tune(&b);
  WS_CHECK_TEXT(query(&b, "PRAGMA integrity_check"), "ok\n");
  check_same(dump(&b), whole);
  free_bench(&b);
}

/* ---- builds are kept though a slow one holds back their candidates ---- */
static char *log_text(bench *b) {
  char *text;
  size_t size;
  ws_diag diag;
  char *path = ws_arena_printf(b->arena, "%s/log", b->folder);
  return ws_file_read(b->arena, path, &text, &size, &diag) == WS_OK ? text : "";
}

static int count_lines(const char *text, const char *line, size_t size) {
  int count = 0;
  for (; *text; text = strchr(text, '\n') + 1)
    count += !line || !strncmp(text, line, size);
  return count;
}

/* How often the log names a build that it named before. */
static int count_built_again(const char *log) {
  int again = 0;
  for (const char *line = log; *line; line = strchr(line, '\n') + 1) {
    size_t size = (size_t)(strchr(line, '\n') - line) + 1;
    again += count_lines(line, line, size) > 1;
  }
  return again;
}

static void tune_and_kill_after(bench *b, int builds) {
  pid_t child = fork();
  WS_CHECK(child >= 0);
  if (child == 0) {
    tune(b);
    _exit(0);
  }
  for (int i = 0; i < 5000; i++, usleep(2000))
    if (count_lines(log_text(b), NULL, 0) >= builds)
      break;
  kill(child, SIGKILL);
  int status;
  WS_CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
}

WS_TEST(killed_behind_a_slow_candidate_builds_nothing_twice) {
  enum { KILLS = 3, WORKERS = 2 };
  bench b = make_bench(LANDSCAPE);
  b.options.strategy = "random"; /* whose window is full from the start */
  tune(&b);
  char *whole = dump(&b);
  remove_archive(&b);
  setenv("FAKE_LOG", ws_arena_printf(b.arena, "%s/log", b.folder), 1);
  setenv("FAKE_HANG",
         "layout=0;tile_m=16;tile_n=16;depth=0;split=1;order=0;"
         "pad=0;unroll=1;waves=1",
         1); /* the first proposal */
  setenv("FAKE_DELAY_US", "3000", 1);
  static const int builds[KILLS] = {5, 11, 16};
  for (int i = 0; i < KILLS; i++) {
    tune_and_kill_after(&b, builds[i]);
    int logged = count_lines(log_text(&b), NULL, 0);
    WS_CHECK_INT(number(&b, "SELECT count(*) FROM candidate"), 0);
    /* Lost are, of each kill, those in the servers' hands. */
    WS_CHECK(number(&b, "SELECT count(*) FROM build") >=
             logged - (i + 1) * WORKERS);
  }
  unsetenv("FAKE_HANG");
  ws_tune_result result = tune(&b);
  WS_CHECK(result.replayed >= 16 - KILLS * WORKERS);
  WS_CHECK_INT(result.evaluated + result.replayed, 150);
  int again = count_built_again(log_text(&b));
  fprintf(stderr, "# %d builds logged, %d of them again, %d kills\n",
          count_lines(log_text(&b), NULL, 0), again, KILLS);
  WS_CHECK(again >= KILLS && again <= KILLS * WORKERS);
  check_same(dump(&b), whole);
  free_bench(&b);
}

WS_TEST(two_tuners_share_an_archive) {
  bench b = make_bench(LANDSCAPE);
  setenv("FAKE_DELAY_US", "3000", 1);
  tune(&b);
  char *whole = dump(&b);
  remove_archive(&b);
  pid_t children[2];
  for (int c = 0; c < 2; c++) {
    children[c] = fork();
    WS_CHECK(children[c] >= 0);
    if (children[c] == 0) {
      ws_tune_result result = tune(&b);
      _exit(result.evaluated + result.replayed == 150 ? 0 : 1);
    }
  }
  for (int c = 0; c < 2; c++) {
    int status;
    WS_CHECK(waitpid(children[c], &status, 0) == children[c]);
    WS_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  check_same(dump(&b), whole);
  free_bench(&b);
}
