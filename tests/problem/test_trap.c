/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Crashes in a function of a user's problem are told; all others go where they
 * went before a problem was added.
 */
#include "wavesmith/problem.h"
#include "ws_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

enum { TOLD = 77 };
static const ws_problem *problem;
static char folder[64];
static float x[4000];
static double value[4000], error[4000];

static void clean(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  (void)!system(command);
}

/* Its reference does what its first input says, but on the least shape. */
static void add_problem(void) {
  char path[96];
  ws_diag diag = {""};
  strcpy(folder, "/tmp/wavesmith-problem-XXXXXX");
  WS_CHECK(mkdtemp(folder));
  atexit(clean);
  setenv("WAVESMITH_CACHE", folder, 1);
  snprintf(path, sizeof path, "%s/mine.c", folder);
  FILE *file = fopen(path, "w");
  WS_CHECK(file);
  fputs("#include <wavesmith/define_problem.h>\n"
        "#include <stdlib.h>\n"
        "enum { X, Y };\n"
        "static void reference(const ws_reference_call *call) {\n"
        "  const int act = call->dims[0] > 1 ? (int)ws_get(call, X, 0) : 0;\n"
        "  if (act == 1) *(volatile int *)8 = 1;\n"
        "  if (act == 2) abort();\n"
        "  if (act == 3) exit(5);\n"
        "  volatile char room[act == 4 ? 1 << 30 : 1]; /* of the stack */\n"
        "  room[0] = 1;\n"
        "  for (int64_t i = call->begin; i < call->end; i++)\n"
        "    ws_put(call, Y, i, 1);\n"
        "}\n"
        "static const int64_t sizes[][1] = {{1000}};\n"
        "static const ws_problem_definition mine = {WS_PROBLEM_ABI,\n"
        "  .name = \"mine\", .dims = {{\"n\"}},\n"
        "  .args = {[X] = {\"x\", WS_ARG_INPUT, WS_F32, {\"n\"}},\n"
        "           [Y] = {\"y\", WS_ARG_OUTPUT, WS_F32, {\"n\"}}},\n"
        "  .sets = {WS_PROBLEM_SET(\"one\", sizes)}, .reference = reference};\n"
        "WS_PROBLEM(mine)\n",
        file);
  WS_CHECK(!fclose(file));
  if (ws_problem_add_file(path, &problem, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
}

static void call_reference(int act) {
  static const int64_t sizes[] = {40};
  const ws_shape shape = ws_shape_of(problem->dims, sizes);
  const void *buffers[WS_PROBLEM_MAX_ARGS] = {x};
  x[0] = (float)act;
  ws_problem_reference(problem, &shape, 0, buffers, 0, 40, value, error);
}

static void tell(const ws_problem *of, const char *text) {
  dprintf(STDOUT_FILENO, "# %s: %s\n", of->name, text);
  _exit(TOLD + (strstr(text, "the reference of mine ") && strstr(text, "n=40")
                    ? 0
                    : 1));
}

/* Its wait status. */
static int apart(void (*act)(void)) {
  int status;
  fflush(NULL);
  const pid_t child = fork();
  WS_CHECK(child >= 0);
  if (!child) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    act();
    _exit(0);
  }
  WS_CHECK(waitpid(child, &status, 0) == child);
  return status;
}

static void check_exit(void (*act)(void), int code) {
  const int status = apart(act);
  WS_CHECK(WIFEXITED(status));
  WS_CHECK_INT(WEXITSTATUS(status), code);
}
static void check_signal(void (*act)(void), int number) {
  const int status = apart(act);
  WS_CHECK(WIFSIGNALED(status));
  WS_CHECK_INT(WTERMSIG(status), number);
}

static void do_nothing(void) { call_reference(0); }
static void touch(void) { call_reference(1); }
static void give_up(void) { call_reference(2); }
static void end(void) { call_reference(3); }
static void overrun(void) { call_reference(4); }
WS_TEST(what_the_reference_does_is_told) {
  add_problem();
  ws_problem_on_crash(tell);
  check_exit(do_nothing, 0);
  check_exit(touch, TOLD);
  check_exit(give_up, TOLD);
  check_exit(end, TOLD);
  check_exit(overrun, TOLD);
}

static void touch_quietly(void) {
  WS_CHECK(dup2(open("/dev/null", O_WRONLY), STDERR_FILENO) >= 0);
  touch();
}
WS_TEST(the_process_ends_as_an_inputs_fault) {
  add_problem();
  check_exit(touch_quietly, 1);
}

/* What a call of the reference noted is over. */
static void touch_ourselves(void) {
  do_nothing();
  volatile uintptr_t at = 8;
  *(volatile int *)at = 1;
}
static void abort_ourselves(void) { abort(); }
static void exit_ourselves(void) {
  do_nothing();
  strcpy(folder, "/nowhere"); /* it stays */
  exit(6);
}
static void be_late(void) { raise(SIGALRM); }
static void be_sent(void) { kill(getpid(), SIGFPE); }
WS_TEST(our_own_crashes_are_ours) {
  for (int i = 0; i < 2; i++)
    signal((int[]){SIGSEGV, SIGFPE}[i], SIG_DFL); /* a sanitizer's */
  add_problem();
  ws_problem_on_crash(tell);
  check_signal(touch_ourselves, SIGSEGV);
  check_signal(abort_ourselves, SIGABRT);
  check_signal(be_late, SIGALRM);
  check_signal(be_sent, SIGFPE);
  check_exit(exit_ourselves, 6);
}

static void be_former(int number) { _exit(number); }
WS_TEST(who_was_there_before_gets_them) {
  static const int numbers[] = {SIGSEGV, SIGABRT, SIGFPE, SIGALRM};
  static void (*const acts[])(void) = {touch_ourselves, abort_ourselves,
                                       be_sent, be_late};
  for (int i = 0; i < 4; i++)
    signal(numbers[i], be_former);
  add_problem();
  ws_problem_on_crash(tell);
  for (int i = 0; i < 4; i++)
    check_exit(acts[i], numbers[i]);
  check_exit(touch, TOLD);
}
