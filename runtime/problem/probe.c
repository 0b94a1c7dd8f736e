/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The child says by its exit code what it found; what a crash was about it says
 * by how far it had come, in memory that both share.
 */
#include "probe.h"
#include "trap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROBE_SECONDS = 10, PAGE = 4096, MISSING = 3, UNSTEADY = 4 };
/* Without access, on both sides of a buffer: an index that is off by a row or
 * a matrix must not land in what happens to be mapped next to it. */
enum { GAP_BYTES = 64 << 20 };

/* Of the child, for what is said of its end. */
typedef struct progress {
  const char *step; /* a constant, or an argument's name: the same in both */
  int64_t element;
  bool ended; /* by exit(), with this code */
  int code;
} progress;
static progress *of_child; /* in the child */

/* Bytes that end where a gap begins. */
static void *guarded(int64_t bytes) {
  size_t room = ((size_t)bytes + PAGE - 1) / PAGE * PAGE;
  char *begin = mmap(NULL, room + 2 * (size_t)GAP_BYTES, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  WS_ASSERT(begin != MAP_FAILED);
  begin += GAP_BYTES;
  WS_ASSERT(!room || !mprotect(begin, room, PROT_READ | PROT_WRITE));
  return begin + room - bytes;
}

static void ask(const ws_problem *problem, const void *const *buffers,
                int64_t elements, double **out_value, double **out_error) {
  *out_value = guarded(elements * (int64_t)sizeof(double));
  *out_error = guarded(elements * (int64_t)sizeof(double));
  ws_problem_reference(problem, &problem->least, 0, buffers, 0,
                       ws_problem_slices(problem, &problem->least), *out_value,
                       *out_error);
}

static int look(const ws_problem *problem, progress *shared) {
  void *buffers[WS_PROBLEM_MAX_ARGS] = {NULL};
  const ws_shape *shape = &problem->least;
  double *value, *error, *again, *error_again;
  shared->step = "the inputs";
  for (int i = 0; i < problem->arg_count; i++)
    if (ws_arg_is_content(ws_problem_arg_role(problem, i, 0))) {
      int64_t bytes = ws_problem_arg_bytes(problem, i, shape, 0);
      buffers[i] = guarded(bytes);
      ws_problem_generate(problem, i, shape, 0, 1, buffers[i]);
      char *begin =
          (char *)((uintptr_t)buffers[i] / PAGE * PAGE); /* read only now */
      WS_ASSERT(!mprotect(
          begin,
          (size_t)((char *)buffers[i] + bytes - begin + PAGE - 1) / PAGE * PAGE,
          PROT_READ));
    }
  if (!ws_problem_is_comparable(problem))
    return 0; /* a kernel will be it, which is tried when it is named */
  shared->step = "the reference";
  int64_t count = ws_problem_result_elements(problem, shape, 0);
  ask(problem, (const void *const *)buffers, count, &value, &error);
  ask(problem, (const void *const *)buffers, count, &again, &error_again);
  for (int64_t i = 0; i < count; i++) {
    shared->element = i;
    if (!isfinite(value[i]))
      return MISSING;
    if (memcmp(&value[i], &again[i], sizeof *value) ||
        memcmp(&error[i], &error_again[i], sizeof *error))
      return UNSTEADY;
  }
  return 0;
}

/* The parent's exit handlers are not for the child that calls exit(). */
static void end_at_once(int code, void *unused) {
  (void)unused;
  of_child->ended = true;
  of_child->code = code;
  _exit(1);
}

static void be_limited(void) {
  const struct rlimit none = {0, 0}, cpu = {PROBE_SECONDS, PROBE_SECONDS + 1};
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_CPU, &cpu);
  ws__trap_remove();
  alarm(PROBE_SECONDS); /* one that sleeps */
}

static ws_status explain(const ws_problem *problem, int status,
                         const progress *shared, ws_diag *diag) {
  char text[WS_SHAPE_TEXT];
  const char *shape = ws_shape_print_named(&problem->least, text);
  int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (number == SIGALRM || number == SIGXCPU || number == SIGKILL)
    return ws_fail(diag, WS_INPUT, problem->file, 0,
                   "%s of %s is not done after %d s on its least shape %s",
                   shared->step, problem->name, PROBE_SECONDS, shape);
  if (number)
    return ws_fail(diag, WS_INPUT, problem->file, 0,
                   "%s of %s crashed on %s (%s): it read or wrote beyond an "
                   "argument, or wrote to an input",
                   shared->step, problem->name, shape, strsignal(number));
  if (!shared->ended && WEXITSTATUS(status) == MISSING)
    return ws_fail(diag, WS_INPUT, problem->file, 0,
                   "the reference of %s gives no number for element %lld of "
                   "its outputs on %s: ws_put each of them",
                   problem->name, (long long)shared->element, shape);
  if (!shared->ended && WEXITSTATUS(status) == UNSTEADY)
    return ws_fail(diag, WS_INPUT, problem->file, 0,
                   "the reference of %s gives element %lld another value the "
                   "second time, on %s: it must be a function of its arguments",
                   problem->name, (long long)shared->element, shape);
  return ws_fail(diag, WS_INPUT, problem->file, 0,
                 "the reference of %s ended the process (exit code %d)",
                 problem->name,
                 shared->ended ? shared->code : WEXITSTATUS(status));
}

ws_status ws__problem_probe(const ws_problem *problem, ws_diag *diag) {
  int status = 0;
  progress *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  WS_ASSERT(shared != MAP_FAILED);
  shared->step = "the definition";
  fflush(NULL);
  pid_t child = fork();
  if (!child) {
    of_child = shared;
    be_limited();
    WS_ASSERT(!on_exit(end_at_once, NULL));
    _exit(look(problem, shared));
  }
  if (child < 0) {
    munmap(shared, sizeof *shared);
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "cannot start a process: %s",
                   strerror(errno));
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  ws_status result = status ? explain(problem, status, shared, diag) : WS_OK;
  munmap(shared, sizeof *shared);
  return result;
}
