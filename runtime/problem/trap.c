/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Handlers of crashes in what users wrote. What is not under way in their
 * functions is not ours: it goes to whoever handled the signal before (a
 * sanitizer, the system). The heap may be damaged, so nothing is allocated
 * before the sentence is out; a stack may have run over, so handlers have one
 * of their own.
 *
 * SIGXCPU is a job's limit, SIGALRM what a client sends to a server that says
 * nothing (eval/server_client.c) or a server to its job: a function that has
 * computed for long by then is why.
 */
#include "trap.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  STACK_BYTES = 64 << 10,
  LONG_MS =
      5000, /* CPU time of one call, from which it is why a limit passed */
  SPEAK_SECONDS = 2
};

static const int trapped[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,
                              SIGABRT, SIGTRAP, SIGXCPU, SIGALRM};
enum { TRAPPED = sizeof trapped / sizeof trapped[0] };
static struct sigaction former[TRAPPED];
static bool installed;

typedef struct running {
  const ws_problem *problem; /* NULL: nothing of a user's is under way */
  const ws_shape *shape;
  const char *what;
  double begin_ms; /* of this thread's CPU time */
} running;
static _Thread_local running now;

/* ---- what is said ---- */

static void print_plainly(const ws_problem *problem, const char *text) {
  ws_problem_print_crash("wavesmith", problem, text);
}
static ws_problem_crash_function say = print_plainly;

void ws_problem_on_crash(ws_problem_crash_function function) { say = function; }

void ws_problem_print_crash(const char *program, const ws_problem *problem,
                            const char *text) {
  char line[2048];
  int size = snprintf(line, sizeof line - 1, "%s: %s: %s", program,
                      problem->file, text);
  if (size > (int)sizeof line - 2)
    size = sizeof line - 2;
  for (int i = 0; i < size; i++)
    if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
      line[i] = '?';
  line[size] = '\n';
  ssize_t ignored = write(STDERR_FILENO, line, (size_t)size + 1);
  (void)ignored;
}

/* Nothing in the sentence needs an escape: words of ours and names. */
void ws_problem_send_crash(int socket, const ws_problem *problem,
                           const char *text) {
  char json[2048];
  ws_diag ignored;
  snprintf(json, sizeof json,
           "{\"error\":\"%s\",\"status\":\"reference\",\"problem\":\"%s\"}",
           text, problem->name);
  (void)!ws_message_send(socket, json, NULL, 0, &ignored);
}

static double thread_cpu_ms(void) {
  struct timespec time = {0};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static void set_all_to_default(void) {
  for (int i = 0; i < TRAPPED; i++)
    sigaction(trapped[i], &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

/* What goes wrong while it speaks just ends the process. */
static _Noreturn void end(const running *here, const char *text) {
  sigset_t alarms;
  set_all_to_default();
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarms, NULL);
  alarm(SPEAK_SECONDS);
  say(here->problem, text);
  _exit(ws_status_exit_code(WS_REFERENCE));
}

static _Noreturn void say_crash(const running *here, int number) {
  char shape[WS_SHAPE_TEXT], text[WS_SHAPE_TEXT + 512];
  const bool access = number == SIGSEGV || number == SIGBUS;
  snprintf(text, sizeof text, "%s of %s crashed on %s (%s)%s", here->what,
           here->problem->name, ws_shape_print_named(here->shape, shape),
           strsignal(number),
           access ? ": it read or wrote beyond an argument, or wrote to an "
                    "input, or has more in its variables than the stack holds"
                  : "");
  end(here, text);
}

static _Noreturn void say_late(const running *here, double spent_ms) {
  char shape[WS_SHAPE_TEXT], text[WS_SHAPE_TEXT + 512];
  snprintf(text, sizeof text,
           "%s of %s was not done after %.0f s of CPU time on %s: time is up",
           here->what, here->problem->name, spent_ms / 1e3,
           ws_shape_print_named(here->shape, shape));
  end(here, text);
}

/* ---- handlers ---- */

static bool is_limit(int number) {
  return number == SIGXCPU || number == SIGALRM;
}

/* Faults come again at once when we return, what was sent has to be sent. */
static void pass_on(int number, const siginfo_t *info) {
  for (int i = 0; i < TRAPPED; i++)
    if (trapped[i] == number)
      sigaction(number, &former[i], NULL);
  if (info->si_code <= 0 || is_limit(number))
    raise(number);
}

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)context;
  const running here = now;
  const double spent_ms = here.problem ? thread_cpu_ms() - here.begin_ms : 0;
  if (here.problem && !is_limit(number))
    say_crash(&here, number);
  if (here.problem && spent_ms >= LONG_MS)
    say_late(&here, spent_ms);
  pass_on(number, info);
}

static void on_end(int code, void *unused) {
  char shape[WS_SHAPE_TEXT], text[WS_SHAPE_TEXT + 512];
  const running here = now;
  (void)unused;
  if (!here.problem)
    return;
  snprintf(text, sizeof text, "%s of %s ended the process on %s (exit code %d)",
           here.what, here.problem->name,
           ws_shape_print_named(here.shape, shape), code);
  end(&here, text);
}

void ws__trap_install(void) {
  struct sigaction action = {.sa_sigaction = on_signal,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK};
  if (installed)
    return;
  installed = true;
  for (int i = 0; i < TRAPPED; i++)
    sigaction(trapped[i], &action, &former[i]);
  WS_ASSERT(!on_exit(on_end, NULL));
}

void ws__trap_remove(void) {
  installed = false;
  set_all_to_default();
}

/* ---- around calls ---- */

static void need_stack(void) {
  static _Thread_local char stack[STACK_BYTES] __attribute__((aligned(16)));
  stack_t has;
  if (!sigaltstack(NULL, &has) && has.ss_flags & SS_DISABLE)
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
}

void ws__trap_enter(const ws_problem *problem, const ws_shape *shape,
                    const char *what) {
  if (!installed || !*problem->file)
    return;
  need_stack();
  now = (running){.shape = shape, .what = what, .begin_ms = thread_cpu_ms()};
  atomic_signal_fence(memory_order_seq_cst);
  now.problem = problem;
  atomic_signal_fence(memory_order_seq_cst);
}

void ws__trap_leave(void) {
  atomic_signal_fence(memory_order_seq_cst);
  now.problem = NULL;
}
