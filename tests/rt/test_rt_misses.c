/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The log of shapes that were not tuned, against lines written out by hand, and
 * files that cannot be written. A factor is the largest ratio of two sizes; far
 * begins above the root of 2 (1.4142).
 */
#include "one_kernel.h"
#include "ws_test_directory.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const long long tuned[][3] = {{32, 512, 1024}, {128, 512, 1024}};

/* ---- the file ---- */

static const char *log_path(void) {
  static char path[128];
  snprintf(path, sizeof path, "%s/misses.jsonl", ws_test_directory());
  setenv("WAVESMITH_RT_MISSES", path, 1);
  return path;
}

static const char *contents(const char *path) {
  static char text[1 << 16];
  FILE *file = fopen(path, "r");
  WS_CHECK(file);
  size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = '\0';
  return text;
}

#define HEAD                                                                   \
  "{\"dispatch\":\"hand\",\"problem\":\"hand_gemm\",\"layout\":\"kmajor\","    \
  "\"target\":\"gfx942\",\"shape\":"

static ws_rt_context *open_logged(void) {
  static ws_rt_dispatch table;
  table = one_kernel(tuned[0], 2);
  return open_table(&table, 0);
}

/* ---- what is logged ---- */

WS_TEST(far_shapes_are_logged_and_near_ones_are_not) {
  const char *path = log_path();
  ws_rt_context *context = open_logged();
  WS_CHECK_INT(launch(context, 32, 512, 1024), WS_RT_OK);
  WS_CHECK_INT(launch(context, 45, 512, 1024), WS_RT_OK);
  WS_CHECK_INT(launch(context, 91, 512, 1024), WS_RT_OK); /* 128 / 91: 1.407 */
  WS_CHECK_INT(launch(context, 32, 363, 1448), WS_RT_OK); /* 1.4105, 1.4141 */
  WS_CHECK_TEXT(contents(path), "");
  WS_CHECK_INT(launch(context, 48, 512, 1024), WS_RT_OK);
  WS_CHECK_INT(launch(context, 1, 512, 1024), WS_RT_OK);
  WS_CHECK_INT(launch(context, 512, 512, 8192), WS_RT_OK); /* 16 and 8 */
  ws_rt_close(context);
  WS_CHECK_TEXT(
      contents(path),
      HEAD "{\"m\":48,\"n\":512,\"k\":1024},\"count\":1,"
           "\"nearest\":{\"m\":32,\"n\":512,\"k\":1024},\"factor\":1.5}\n" HEAD
           "{\"m\":1,\"n\":512,\"k\":1024},\"count\":1,"
           "\"nearest\":{\"m\":32,\"n\":512,\"k\":1024},\"factor\":32}\n" HEAD
           "{\"m\":512,\"n\":512,\"k\":8192},\"count\":1,"
           "\"nearest\":{\"m\":128,\"n\":512,\"k\":1024},\"factor\":8}\n");
}

WS_TEST(only_launches_count) {
  const char *path = log_path();
  ws_rt_context *context = open_logged();
  const long long shape[] = {7, 512, 1024}, illegal[] = {13, 512, 1024};
  WS_CHECK(ws_rt_pick(context, shape));
  WS_CHECK_INT(ws_rt_workspace_bytes(context, shape), 0);
  WS_CHECK(!ws_rt_pick(context, illegal));
  WS_CHECK_INT(launch(context, 13, 512, 1024), WS_RT_BAD_SHAPE);
  setenv("FAKE_HIP_FAIL", "hipModuleLaunchKernel:1", 1);
  WS_CHECK_INT(launch(context, 7, 512, 1024), WS_RT_DRIVER_ERROR);
  ws_rt_close(context);
  WS_CHECK_TEXT(contents(path), "");
}

/* Launches 1, 2, 4 and, at the end, what came after: 1 + 1 + 2 + 2. */
WS_TEST(counts_are_of_launches_since_the_last_line) {
  const char *path = log_path();
  ws_rt_context *context = open_logged();
  for (int i = 0; i < 6; i++)
    WS_CHECK_INT(launch(context, 7, 512, 1024), WS_RT_OK);
  ws_rt_close(context);
  static const char rest[] =
      "\"nearest\":{\"m\":32,\"n\":512,\"k\":1024},\"factor\":4.571}\n";
  char want[2048];
  snprintf(want, sizeof want,
           "%1$s%2$s1,%3$s%1$s%2$s1,%3$s%1$s%2$s2,%3$s%1$s%2$s2,%3$s", HEAD,
           "{\"m\":7,\"n\":512,\"k\":1024},\"count\":", rest);
  WS_CHECK_TEXT(contents(path), want);
}

WS_TEST(a_file_that_is_there_is_appended_to) {
  const char *path = log_path();
  FILE *file = fopen(path, "w");
  fputs("before\n", file);
  fclose(file);
  ws_rt_context *context = open_logged();
  WS_CHECK_INT(launch(context, 64, 512, 1024), WS_RT_OK);
  ws_rt_close(context);
  WS_CHECK(!strncmp(contents(path), "before\n{\"dispatch\"", 18));
}

WS_TEST(without_tuned_shapes_nothing_is_near) {
  const char *path = log_path();
  const ws_rt_dispatch table = one_kernel(NULL, 0);
  ws_rt_context *context = open_table(&table, 0);
  WS_CHECK_INT(launch(context, 64, 512, 1024), WS_RT_OK);
  ws_rt_close(context);
  WS_CHECK_TEXT(contents(path),
                HEAD "{\"m\":64,\"n\":512,\"k\":1024},\"count\":1}\n");
}

WS_TEST(names_are_escaped) {
  const char *path = log_path();
  ws_rt_dispatch table = one_kernel(NULL, 0);
  table.layout = "a\"b\\c\nd";
  ws_rt_context *context = open_table(&table, 0);
  WS_CHECK_INT(launch(context, 64, 512, 1024), WS_RT_OK);
  ws_rt_close(context);
  WS_CHECK_CONTAINS(contents(path), "\"layout\":\"a\\\"b\\\\c\\u000ad\"");
}

/* ---- threads ---- */

static void *launch_far(void *context) {
  for (int i = 0; i < LAUNCHES; i++)
    if (launch(context, 1 + i % 5, 512, 1024))
      return context;
  return NULL;
}

/* 4 threads with 25 launches of five shapes: 20 of each, whatever the order. */
WS_TEST(threads_lose_no_launch) {
  const char *path = log_path();
  ws_rt_context *context = open_logged();
  launch_from_threads(launch_far, context);
  ws_rt_close(context);
  int of_m[6] = {0};
  const char *at = contents(path);
  while (*at) {
    int m, count;
    WS_CHECK_INT(sscanf(at, HEAD "{\"m\":%d,\"n\":512,\"k\":1024},\"count\":%d",
                        &m, &count),
                 2);
    WS_CHECK(m >= 1 && m <= 5);
    of_m[m] += count;
    at = strchr(at, '\n') + 1;
  }
  for (int m = 1; m <= 5; m++)
    WS_CHECK_INT(of_m[m], THREADS * LAUNCHES / 5);
}

/* ---- the table's end, and files that cannot be written ---- */

static const char *stderr_path(void) {
  static char path[128];
  snprintf(path, sizeof path, "%s/stderr", ws_test_directory());
  return path;
}

static int kept_stderr;
static void catch_stderr(void) {
  fflush(stderr);
  kept_stderr = dup(STDERR_FILENO);
  WS_CHECK(freopen(stderr_path(), "w", stderr));
}

/* One line that holds part. */
static void expect_warning(const char *part) {
  fflush(stderr);
  dup2(kept_stderr, STDERR_FILENO);
  const char *text = contents(stderr_path());
  WS_CHECK_CONTAINS(text, "wavesmith: WAVESMITH_RT_MISSES: ");
  WS_CHECK_CONTAINS(text, part);
  WS_CHECK(strchr(text, '\n') == text + strlen(text) - 1);
}

static void launch_unlogged(const char *warning) {
  catch_stderr();
  for (int i = 0; i < 2; i++) { /* contexts */
    ws_rt_context *context = open_logged();
    WS_CHECK_INT(launch(context, 64, 512, 1024), WS_RT_OK);
    WS_CHECK_INT(launch(context, 96, 512, 1024), WS_RT_OK);
    ws_rt_close(context);
  }
  expect_warning(warning);
}

WS_TEST(a_folder_is_a_warning) {
  setenv("WAVESMITH_RT_MISSES", ws_test_directory(), 1);
  launch_unlogged("Is a directory");
}

WS_TEST(a_file_that_cannot_be_made_is_a_warning) {
  setenv("WAVESMITH_RT_MISSES", "/nowhere/misses.jsonl", 1);
  launch_unlogged("/nowhere/misses.jsonl: No such file or directory");
}

/* A pipe that nobody reads would block where it is opened. */
WS_TEST(a_pipe_is_a_warning) {
  WS_CHECK_INT(mkfifo(log_path(), 0600), 0);
  launch_unlogged("No such device or address");
}

WS_TEST(a_device_is_a_warning) {
  setenv("WAVESMITH_RT_MISSES", "/dev/null", 1);
  launch_unlogged("/dev/null: not a regular file");
}

/* Beyond it a write ends the process. */
WS_TEST(a_limit_on_files_is_a_warning) {
  const char *path = log_path();
  const struct rlimit limit = {300, 300}; /* a line has 160 */
  WS_CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
  launch_unlogged("File too large; no more shapes are logged");
  const char *text = contents(path);
  WS_CHECK(strchr(text, '\n') == text + strlen(text) - 1);
}

WS_TEST(a_full_table_is_a_warning) {
  const char *path = log_path();
  ws_rt_context *context = open_logged();
  void (*forget)(void); /* the fake's own log has an end */
  *(void **)&forget = ws_rt_symbol(context, "fake_hip_clear_log");
  catch_stderr();
  for (int n = 14; n < 1200; n++, forget())
    WS_CHECK_INT(launch(context, 1, n, 65536), WS_RT_OK);
  ws_rt_close(context);
  expect_warning("more shapes than the table holds");
  int lines = 0;
  FILE *file = fopen(path, "r");
  for (int c; (c = fgetc(file)) != EOF;)
    lines += c == '\n';
  fclose(file);
  WS_CHECK(lines > 900 && lines <= 1024);
}

WS_TEST(nothing_is_logged_unasked) {
  unsetenv("WAVESMITH_RT_MISSES");
  ws_rt_context *context = open_logged();
  WS_CHECK_INT(launch(context, 64, 512, 1024), WS_RT_OK);
  ws_rt_close(context);
  setenv("WAVESMITH_RT_MISSES", "", 1);
  context = open_logged();
  WS_CHECK_INT(launch(context, 64, 512, 1024), WS_RT_OK);
  ws_rt_close(context);
}

WS_TEST(no_launch_allocates) {
  log_path();
  ws_rt_context *context = open_logged();
  int before = allocation_count;
  for (int i = 1; i < 100; i++)
    WS_CHECK_INT(launch(context, 7, 512, i % 2 ? 1024 : 13 + i), WS_RT_OK);
  WS_CHECK_INT(allocation_count, before);
  ws_rt_close(context);
}
