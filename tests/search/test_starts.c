/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a run begins with is judged before anything is built upon it: a point
 * of the user's that turns out to be wrong has no moves made of it, and is
 * named in one line.
 */
#include "search_bench.h"

#include <fcntl.h>
#include <unistd.h>

/* Two parameters as no other start has them. */
#define POINT "tile_m=64;tile_n=32;depth=0;pad=4;unroll=8;waves=4"
/* As the compile server gets it: the point alone, none of its moves. */
#define POINT_IN_FULL                                                          \
  "tile_m=64;tile_n=32;depth=0;split=1;order=0;pad=4;unroll=8;waves=4"
static const char moves_of_point[] =
    "SELECT COUNT(*) FROM candidate WHERE proposer = 'local' AND move != ''"
    " AND assignments LIKE '%unroll=8%waves=4%'";
static const char moves[] = "SELECT COUNT(*) FROM candidate WHERE proposer ="
                            " 'local' AND move != ''";
static const char verdict_of_point[] =
    "SELECT verdict,stage,reason FROM candidate WHERE proposer = 'point'";

/* A run with the point; returns what it wrote to standard error. */
static char *tune_and_listen(bench *b) {
  static const char *const points[] = {POINT};
  const char *path = ws_arena_printf(b->arena, "%s/stderr", b->folder);
  b->options.points = (const char **)points;
  b->options.point_count = 1;
  const int old = dup(STDERR_FILENO);
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  WS_CHECK(old >= 0 && file >= 0 && dup2(file, STDERR_FILENO) >= 0);
  tune(b);
  WS_CHECK(dup2(old, STDERR_FILENO) >= 0);
  close(old);
  close(file);
  char *text;
  size_t size;
  ws_diag diag;
  WS_CHECK(ws_file_read(b->arena, path, &text, &size, &diag) == WS_OK);
  return text;
}

static int count_of(const char *text, const char *part) {
  int count = 0;
  for (const char *at = text; (at = strstr(at, part)); at++)
    count++;
  return count;
}

static bench one_round(void) {
  bench b = make_bench(LANDSCAPE);
  const char *fake = getenv("WS_FAKE_DEVICE");
  WS_CHECK(fake);
  setenv("WAVESMITH_DEVICE_SERVER", fake, 1);
  b.options.device = "sim";
  b.options.round = b.options.evaluations = 62;
  return b;
}

static const char named[] =
    "--point '" POINT "' is wrong (sanitize): made up; nothing is built upon";

/* The first round is made before anything has a time; of the starts, what the
 * compile server says is awaited. */
WS_TEST(a_wrong_point_has_no_moves_in_the_first_round) {
  setenv("FAKE_DELAY_US", "20000", 1);
  for (int wrong = 0; wrong < 2; wrong++) {
    bench b = one_round();
    if (wrong)
      setenv("FAKE_WRONG", POINT_IN_FULL, 1);
    const char *said = tune_and_listen(&b);
    unsetenv("FAKE_WRONG");
    WS_CHECK_TEXT(query(&b, verdict_of_point), wrong ? "wrong|sanitize|made up\n" : "ok||\n");
    const int of_point = atoi(query(&b, moves_of_point));
    WS_CHECK(wrong ? of_point == 0 : of_point > 4);
    WS_CHECK(atoi(query(&b, moves)) > 15); /* of the defaults at least */
    WS_CHECK_INT(count_of(said, "--point"), wrong);
    if (wrong)
      WS_CHECK_CONTAINS(said, named);
    WS_CHECK_TEXT(query(&b, "SELECT COUNT(*) FROM candidate"), "62\n");
    free_bench(&b);
  }
  unsetenv("FAKE_DELAY_US");
}

/* Without rounds nothing else is asked for until the point has its verdict and
 * its times: everything behind it is proposed after it was applied. */
WS_TEST(a_point_is_judged_before_the_strategy_asks) {
  bench b = make_bench(LANDSCAPE);
  b.options.evaluations = 30;
  setenv("FAKE_WRONG", POINT_IN_FULL, 1);
  setenv("FAKE_LOG", ws_arena_printf(b.arena, "%s/log", b.folder), 1);
  setenv("FAKE_HANG", POINT_IN_FULL, 1);
  setenv("FAKE_DELAY_US", "1000", 1);
  b.options.minutes = 0.05; /* it hangs: three seconds are all there is */
  tune_and_listen(&b);
  char *log;
  size_t size;
  ws_diag diag;
  WS_CHECK(ws_file_read(b.arena, getenv("FAKE_LOG"), &log, &size, &diag) ==
           WS_OK);
  WS_CHECK(strstr(log, POINT_IN_FULL));
  WS_CHECK_INT(count_of(log, "\n"), 2); /* the defaults and the point */
  unsetenv("FAKE_HANG");
  unsetenv("FAKE_LOG");
  b.options.minutes = 0;
  remove_archive(&b);
  const char *said = tune_and_listen(&b);
  WS_CHECK_INT(count_of(said, named), 1);
  WS_CHECK_TEXT(query(&b, "SELECT COUNT(*) FROM candidate"), "30\n");
  WS_CHECK_TEXT(query(&b, "SELECT COUNT(*) FROM candidate WHERE parent_id ="
                          " (SELECT id FROM candidate WHERE proposer ="
                          " 'point')"),
                "0\n");
  unsetenv("FAKE_WRONG");
  unsetenv("FAKE_DELAY_US");
  free_bench(&b);
}
