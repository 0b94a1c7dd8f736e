/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Results of a kernel that is the reference: its code object on the simulator,
 * in a process of its own, since a device takes its process along and threads
 * in this one would make its forks unsound. What it leaves comes back in memory
 * that both share.
 */
#include "sanitize_reference.h"
#include "wavesmith/reference.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct asked_for {
  const ws_problem *problem;
  const ws_shape *shape;
  int layout;
  uint64_t seed;
} asked_for;

typedef struct shared {
  bool done;
  char why[400]; /* it could not be run */
} shared;

static int64_t bytes_of(const asked_for *of, int arg) {
  return ws_arg_is_result(of->problem->args[arg].role)
             ? ws_problem_arg_bytes(of->problem, arg, of->shape, of->layout)
             : 0;
}

/* Where each result lies behind the head. */
static size_t place_results(const asked_for *of, char *begin,
                            void *out_places[WS_PROBLEM_MAX_ARGS]) {
  size_t at = sizeof(shared);
  for (int i = 0; i < of->problem->arg_count; i++) {
    out_places[i] = begin + at;
    at += ((size_t)bytes_of(of, i) + 15) / 16 * 16;
  }
  return at;
}

/* In the child. */
static shared *of_child;
static void note_crash(const ws_problem *problem, const char *text) {
  (void)problem;
  snprintf(of_child->why, sizeof of_child->why, "%s", text);
}

static void run_in_child(const asked_for *of, shared *out,
                         void *const *places) {
  ws_diag diag = {""};
  of_child = out;
  ws_problem_on_crash(note_crash);
  ws_status status = ws_reference_run(of->problem, of->shape, of->layout,
                                      of->seed, places, &out->done, &diag);
  if (status == WS_OK)
    return;
  out->done = false;
  snprintf(out->why, sizeof out->why, "%.*s", (int)sizeof out->why - 1,
           diag.text);
}

static bool wait_for(pid_t child) {
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return status == 0;
}

bool ws__reference_results(const ws_problem *problem, int layout,
                           const ws_shape *shape, uint64_t seed,
                           void *const *results) {
  const asked_for of = {problem, shape, layout, seed};
  void *places[WS_PROBLEM_MAX_ARGS];
  size_t size = place_results(&of, NULL, places);
  shared *out = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (out == MAP_FAILED)
    return false;
  place_results(&of, (char *)out, places);
  pid_t child = fork();
  if (!child) {
    run_in_child(&of, out, places);
    _exit(0);
  }
  bool ended = child > 0 && wait_for(child);
  if (*out->why || !ended)
    ws_log(WS_LOG_WARN, "the reference %s was not run: %s",
           problem->kernel->file, *out->why ? out->why : "its process ended");
  bool done = ended && out->done;
  for (int i = 0; done && i < problem->arg_count; i++)
    if (bytes_of(&of, i))
      memcpy(results[i], places[i], (size_t)bytes_of(&of, i));
  munmap(out, size);
  return done;
}
