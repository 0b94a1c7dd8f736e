/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The policy on failures (eval/server_client.h), with a server that ends or
 * stops as the environment says: how often a job is tried, and when it is
 * whose fault.
 */
#include "wavesmith/build.h"
#include "ws_test.h"

#include <signal.h>
#include <sys/stat.h>

static char tries[] = "/tmp/wavesmith-tries-XXXXXX";
static ws_diag diag;

static ws_compiler *start(int signal_, int times) {
  const char *path = getenv("WS_FAKE_COMPILER");
  ws_compiler *compiler;
  char text[24];
  WS_CHECK(path);
  setenv("WAVESMITH_COMPILER", path, 1);
  snprintf(text, sizeof text, "%d", signal_);
  setenv("FAKE_SIGNAL", text, 1);
  snprintf(text, sizeof text, "%d", times);
  setenv("FAKE_TIMES", text, 1);
  int file = mkstemp(tries);
  WS_CHECK(file >= 0);
  close(file);
  setenv("FAKE_TRIES", tries, 1);
  if (ws_compiler_start(&compiler, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return compiler;
}

static ws_status build(ws_compiler *compiler, const char *assignments,
                       double give_up_ms, ws_build_result *out) {
  static ws_arena *arena;
  if (!arena)
    arena = ws_arena_create();
  const ws_build_request request = {.template_file = "t.ll",
                                    .template_text = "{}",
                                    .template_size = 2,
                                    .target = "gfx942",
                                    .assignments = assignments,
                                    .variants = "",
                                    .stages = WS_STAGE_CHECK,
                                    .limits = {.wall_ms = 100, 1000, 64},
                                    .give_up_ms = give_up_ms};
  return ws_compiler_build(compiler, arena, &request, out, &diag);
}

static int count_tries(void) {
  struct stat info;
  return stat(tries, &info) == 0 ? (int)info.st_size : -1;
}

static void end(ws_compiler *compiler) {
  ws_compiler_stop(compiler);
  unlink(tries);
}

WS_TEST(who_is_killed_from_outside_is_tried_again) {
  static const int signals[] = {SIGKILL, SIGTERM, SIGHUP};
  for (int i = 0; i < 3; i++) {
    memcpy(tries + strlen(tries) - 6, "XXXXXX", 6);
    ws_compiler *compiler = start(signals[i], 5);
    ws_build_result result;
    WS_CHECK_INT(build(compiler, "a=1", 0, &result), WS_OK);
    WS_CHECK_INT(result.verdict, WS_VERDICT_OK);
    WS_CHECK_INT(result.blame, WS_BLAME_CANDIDATE);
    WS_CHECK_INT(count_tries(), 5);
    end(compiler);
  }
}

/* Nothing has ever gone well: it is the machine. */
WS_TEST(without_a_control_nobody_is_condemned) {
  ws_compiler *compiler = start(SIGKILL, 1000);
  ws_build_result result;
  WS_CHECK_INT(build(compiler, "a=1", 0, &result), WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "tried 6 times");
  WS_CHECK_INT(count_tries(), 6);
  end(compiler);
}

/* Who ends every server, while another goes well, costs six and is told. */
WS_TEST(who_kills_every_server_gets_a_verdict) {
  ws_compiler *compiler = start(SIGKILL, 1000);
  ws_build_result result;
  WS_CHECK_INT(build(compiler, "good", 0, &result), WS_OK);
  WS_CHECK_INT(build(compiler, "a=1", 0, &result), WS_OK);
  WS_CHECK_INT(result.verdict, WS_VERDICT_CRASH);
  WS_CHECK_CONTAINS(result.reason, "signal 9");
  WS_CHECK_INT(count_tries(), 6);
  WS_CHECK_INT(build(compiler, "good", 0, &result), WS_OK);
  WS_CHECK_INT(result.verdict, WS_VERDICT_OK);
  end(compiler);
}

WS_TEST(a_crash_counts_when_it_repeats) {
  static const int signals[] = {SIGSEGV, SIGABRT};
  for (int times = 1; times <= 2; times++) {
    memcpy(tries + strlen(tries) - 6, "XXXXXX", 6);
    ws_compiler *compiler = start(signals[times - 1], times);
    ws_build_result result;
    WS_CHECK_INT(build(compiler, "a=1", 0, &result), WS_OK);
    WS_CHECK_INT(result.verdict, times == 1 ? WS_VERDICT_OK : WS_VERDICT_CRASH);
    WS_CHECK_INT(count_tries(), times);
    end(compiler);
  }
}

WS_TEST(a_stopped_server_is_replaced) {
  ws_compiler *compiler = start(SIGSTOP, 1);
  ws_build_result result;
  WS_CHECK_INT(build(compiler, "a=1", 0, &result), WS_OK);
  WS_CHECK_INT(result.verdict, WS_VERDICT_OK);
  WS_CHECK_INT(count_tries(), 1);
  end(compiler);
}

WS_TEST(when_time_is_up_nothing_is_tried_again) {
  ws_compiler *compiler = start(SIGSTOP, 1000);
  ws_build_result result;
  double begin_ms = ws_clock_ms();
  WS_CHECK_INT(build(compiler, "a=1", begin_ms + 300, &result), WS_INTERRUPTED);
  WS_CHECK_INT(count_tries(), 1);
  WS_CHECK(ws_clock_ms() - begin_ms < 5000); /* its limit is 5.1 s */
  end(compiler);
}

/* Stopped for two seconds, we have not waited for two seconds. */
WS_TEST(patience_stands_still_while_we_are_stopped) {
  enum { STOP_MS = 2000, LIMIT_MS = 20000 };
  ws_patience patience = ws_patience_begin(LIMIT_MS);
  double begin_ms = ws_clock_ms(), latest_ms = begin_ms, left_ms = LIMIT_MS;
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    kill(parent, SIGSTOP);
    usleep(STOP_MS * 1000);
    kill(parent, SIGCONT);
    _exit(0);
  }
  for (bool stopped = false; !stopped && left_ms > 0;) {
    usleep(1000);
    left_ms = ws_patience_left(&patience);
    double now_ms = ws_clock_ms();
    stopped = now_ms - latest_ms > 0.9 * STOP_MS;
    latest_ms = now_ms;
  }
  double counted_ms = LIMIT_MS - left_ms, passed_ms = latest_ms - begin_ms;
  WS_CHECK(passed_ms > 0.9 * STOP_MS);
  WS_CHECK(counted_ms < passed_ms - (STOP_MS - WS_LOOK_MS) * 0.7);
}
