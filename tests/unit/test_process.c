/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Child processes: what they inherit, how they die. The children are shells,
 * so that nothing of ours decides what is seen.
 */
#include "wavesmith/base.h"
#include "ws_test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

static ws_process start_shell(const char *script) {
  const char *argv[] = {"/bin/sh", "-c", script, NULL};
  ws_process process;
  ws_diag diag = {""};
  if (ws_process_start(argv, &process, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return process;
}

/* All that the child writes to its descriptor 3 until it ends. */
static void read_all(ws_process *process, char *out, size_t size) {
  size_t used = 0;
  ssize_t got;
  while (used < size - 1 &&
         (got = read(process->socket, out + used, size - 1 - used)) > 0)
    used += (size_t)got;
  out[used] = '\0';
}

static void check_output(const char *script, const char *want) {
  char text[1024];
  ws_process process = start_shell(script);
  read_all(&process, text, sizeof text);
  WS_CHECK_TEXT(text, want);
  ws_process_stop(&process);
}

WS_TEST(messages_go_both_ways) {
  ws_process process = start_shell("exec cat <&3 >&3");
  ws_arena *arena = ws_arena_create();
  ws_diag diag;
  char *json;
  void *blob;
  size_t size;
  WS_CHECK_INT(ws_message_send(process.socket, "{\"x\":2}", "abc", 3, &diag),
               WS_OK);
  WS_CHECK_INT(ws_message_receive(process.socket, 5000, arena, &json, &blob,
                                  &size, NULL, &diag),
               WS_OK);
  WS_CHECK_TEXT(json, "{\"x\":2}");
  ws_process_stop(&process);
  WS_CHECK_INT(process.pid, 0);
  ws_process_stop(&process); /* twice, and zeroed: nothing happens */
  ws_arena_destroy(arena);
}

WS_TEST(only_four_descriptors_are_inherited) {
  int leak = open("/dev/zero", O_RDONLY); /* without O_CLOEXEC */
  WS_CHECK(dup2(leak, 10) == 10 && dup2(leak, 200) == 200);
  check_output("i=4; while [ $i -lt 300 ]; do "
               "[ -e /proc/$$/fd/$i ] && echo leaked $i >&3; i=$((i+1)); done; "
               "echo done >&3",
               "done\n");
}

/* The socket lands on descriptor 3, and a failed exec is told, whichever low
 * descriptors our own end and the channels happen to take. */
WS_TEST(works_whichever_descriptors_are_free) {
  static const char *const missing[] = {"/no/such/program", NULL};
  for (int closed = 0; closed < 8; closed++) {
    pid_t pid = fork();
    if (pid == 0) {
      close_range(3, ~0u, 0);
      if (closed & 1)
        close(STDIN_FILENO);
      if (closed & 2)
        close(STDOUT_FILENO);
      if (closed & 4)
        open("/dev/null", O_RDONLY);
      check_output("echo hello >&3", "hello\n");
      ws_process process;
      ws_diag diag = {""};
      WS_CHECK_INT(ws_process_start(missing, &process, &diag), WS_ENVIRONMENT);
      WS_CHECK_CONTAINS(diag.text, "No such file");
      _exit(0);
    }
    int wait_status = -1;
    WS_CHECK(waitpid(pid, &wait_status, 0) == pid);
    WS_CHECK_INT(wait_status, 0);
  }
}

WS_TEST(standard_streams_are_set) {
  check_output("readlink /proc/$$/fd/0 >&3", "/dev/null\n");
  check_output(
      "[ \"$(readlink /proc/$$/fd/1)\" = \"$(readlink /proc/$$/fd/2)\" "
      "] && echo same >&3",
      "same\n");
}

WS_TEST(signals_are_at_their_defaults) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGINT);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  signal(SIGPIPE, SIG_IGN);
  char text[1024];
  ws_process process = start_shell("exec grep -E 'Sig(Blk|Ign)' "
                                   "/proc/self/status >&3");
  read_all(&process, text, sizeof text);
  WS_CHECK_CONTAINS(text, "SigBlk:\t0000000000000000");
  WS_CHECK_CONTAINS(text, "SigIgn:\t0000000000000000");
  ws_process_stop(&process);
}

WS_TEST(a_program_that_cannot_run_is_a_clear_error) {
  const char *missing[] = {"/no/such/program", NULL};
  const char *folder[] = {"/tmp", NULL};
  ws_process process;
  ws_diag diag;
  WS_CHECK_INT(ws_process_start(missing, &process, &diag), WS_ENVIRONMENT);
  WS_CHECK_TEXT(diag.text,
                "/no/such/program: cannot run: No such file or directory");
  WS_CHECK_INT(process.pid, 0);
  WS_CHECK_INT(ws_process_start(folder, &process, &diag), WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "Permission denied");
  WS_CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD); /* reaped */
}

/* Waits for a process that was re-parented to us and says how it ended. */
static int wait_signal(pid_t pid) {
  int wait_status = 0;
  for (int i = 0; i < 500; i++, usleep(10000))
    if (waitpid(pid, &wait_status, WNOHANG) == pid)
      return WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : -1;
  return -2;
}

WS_TEST(stop_kills_what_the_child_has_started) {
  WS_CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  ws_process process = start_shell("sleep 60 & echo $! >&3; wait");
  char text[32] = "";
  WS_CHECK(read(process.socket, text, sizeof text - 1) > 0);
  pid_t grandchild = (pid_t)atoi(text);
  WS_CHECK(grandchild > 1);
  double start = ws_clock_ms();
  ws_process_stop(&process);
  WS_CHECK(ws_clock_ms() - start < 30000);
  WS_CHECK_INT(wait_signal(grandchild), SIGKILL);
}

WS_TEST(the_child_dies_with_its_parent) {
  WS_CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  int pipe_ends[2];
  WS_CHECK(pipe(pipe_ends) == 0);
  pid_t parent = fork();
  if (parent == 0) {
    ws_process process = start_shell("exec sleep 60");
    if (write(pipe_ends[1], &process.pid, sizeof process.pid) < 0)
      _exit(1);
    pause();
  }
  pid_t child = 0;
  WS_CHECK(read(pipe_ends[0], &child, sizeof child) == sizeof child);
  kill(parent, SIGKILL);
  waitpid(parent, NULL, 0);
  WS_CHECK_INT(wait_signal(child), SIGKILL);
}

WS_TEST(our_end_sees_the_childs_end) {
  ws_process process = start_shell("exit 5");
  struct pollfd item = {.fd = process.socket, .events = POLLIN};
  WS_CHECK_INT(poll(&item, 1, 5000), 1);
  char byte;
  WS_CHECK_INT(read(process.socket, &byte, 1), 0);
  ws_process_stop(&process);
}

/* A hundred starts and stops leave no descriptor and no zombie. */
WS_TEST(hidden_variables_are_not_inherited) {
  char text[64];
  setenv("WS_TEST_SECRET", "sesame", 1);
  setenv("WS_TEST_SECRETARY", "open", 1);
  ws_process_hide("WS_TEST_SECRET");
  ws_process_hide("WS_TEST_SECRET");
  ws_process process =
      start_shell("echo [$WS_TEST_SECRET$WS_TEST_SECRETARY] >&3");
  read_all(&process, text, sizeof text);
  WS_CHECK_TEXT(text, "[open]\n");
  WS_CHECK_TEXT(getenv("WS_TEST_SECRET"), "sesame");
  ws_process_stop(&process);
}

WS_TEST(nothing_is_left_behind) {
  int before = dup(0);
  close(before);
  for (int i = 0; i < 100; i++) {
    ws_process process = start_shell("exec sleep 60");
    ws_process_stop(&process);
  }
  int after = dup(0);
  WS_CHECK_INT(after, before);
  WS_CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
}
