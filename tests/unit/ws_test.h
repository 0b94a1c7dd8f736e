/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The small runner. A test file includes this header, defines tests with
 * WS_TEST(name) { ... } and needs no main of its own. Each test runs in a
 * child process with a time-out (20 s, WS_TEST_TIMEOUT overrides); output is
 * TAP, then "N passed, N failed, N skipped". `test_x NAME ...` runs those.
 */
#ifndef WAVESMITH_WS_TEST_H
#define WAVESMITH_WS_TEST_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void (*ws_test_function)(void);
static struct ws_test_entry {
  const char *name;
  ws_test_function run;
} ws_test_entries[512];
static int ws_test_count;

#define WS_TEST(test)                                                          \
  static void ws_test_body_##test(void);                                       \
  __attribute__((constructor)) static void ws_test_register_##test(void) {     \
    ws_test_entries[ws_test_count].name = #test;                               \
    ws_test_entries[ws_test_count++].run = ws_test_body_##test;                \
  }                                                                            \
  static void ws_test_body_##test(void)

#define WS_FAIL(...)                                                           \
  do {                                                                         \
    fprintf(stderr, "# %s:%d: ", __FILE__, __LINE__);                          \
    fprintf(stderr, __VA_ARGS__);                                              \
    fputc('\n', stderr);                                                       \
    _exit(1);                                                                  \
  } while (0)
/* Ends the test as skipped, with the reason. */
#define WS_SKIP(...)                                                           \
  do {                                                                         \
    fprintf(stderr, "# skipped: ");                                            \
    fprintf(stderr, __VA_ARGS__);                                              \
    fputc('\n', stderr);                                                       \
    _exit(77);                                                                 \
  } while (0)
#define WS_CHECK(condition)                                                    \
  do {                                                                         \
    if (!(condition))                                                          \
      WS_FAIL("check failed: %s", #condition);                                 \
  } while (0)
#define WS_CHECK_INT(got, want)                                                \
  do {                                                                         \
    long long ws_got_ = (long long)(got), ws_want_ = (long long)(want);        \
    if (ws_got_ != ws_want_)                                                   \
      WS_FAIL("%s is %lld, want %lld", #got, ws_got_, ws_want_);               \
  } while (0)
#define WS_CHECK_TEXT(got, want)                                               \
  do {                                                                         \
    const char *ws_got_ = (got), *ws_want_ = (want);                           \
    if (strcmp(ws_got_, ws_want_))                                             \
      WS_FAIL("%s is \"%s\", want \"%s\"", #got, ws_got_, ws_want_);           \
  } while (0)
/* The text must contain part. */
#define WS_CHECK_CONTAINS(text, part)                                          \
  do {                                                                         \
    const char *ws_text_ = (text), *ws_part_ = (part);                         \
    if (!strstr(ws_text_, ws_part_))                                           \
      WS_FAIL("\"%s\" lacks \"%s\"", ws_text_, ws_part_);                      \
  } while (0)
#define WS_CHECK_NEAR(got, want, tolerance)                                    \
  do {                                                                         \
    double ws_got_ = (got), ws_want_ = (want);                                 \
    if (!(fabs(ws_got_ - ws_want_) <= (tolerance)))                            \
      WS_FAIL("%s is %.17g, want %.17g", #got, ws_got_, ws_want_);             \
  } while (0)

static int ws_test_run_one(const struct ws_test_entry *entry) {
  const char *timeout = getenv("WS_TEST_TIMEOUT");
  fflush(stdout);
  fflush(stderr);
  pid_t pid = fork();
  if (pid < 0) {
    perror("fork");
    exit(3);
  }
  if (pid == 0) {
    alarm(timeout ? (unsigned)strtoul(timeout, NULL, 10) : 20);
    entry->run();
    fflush(NULL);
    exit(0); /* so that LeakSanitizer looks */
  }
  int wait_status = 0;
  waitpid(pid, &wait_status, 0);
  if (WIFSIGNALED(wait_status))
    fprintf(stderr, "# %s: killed by signal %d\n", entry->name,
            WTERMSIG(wait_status));
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
}

int main(int argc, char **argv) {
  int passed = 0, failed = 0, skipped = 0, number = 0;
  for (int i = 0; i < ws_test_count; i++) {
    int wanted = argc < 2;
    for (int a = 1; a < argc; a++)
      wanted |= !strcmp(argv[a], ws_test_entries[i].name);
    if (!wanted)
      continue;
    int code = ws_test_run_one(&ws_test_entries[i]);
    number++;
    printf("%sok %d - %s%s\n", code == 0 || code == 77 ? "" : "not ", number,
           ws_test_entries[i].name, code == 77 ? " # SKIP" : "");
    passed += code == 0;
    skipped += code == 77;
    failed += code != 0 && code != 77;
  }
  printf("1..%d\n%d passed, %d failed, %d skipped\n", number, passed, failed,
         skipped);
  return failed ? 1 : number ? 0 : 2;
}

#endif
