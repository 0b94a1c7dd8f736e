/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Unified differences by diff(1), which POSIX has on every system. Both texts
 * go to it as files without a name, so nothing is left behind.
 */
#include "text_diff.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OLD = 3, NEW = 4 }; /* descriptors of the child */

/* A file that holds the text, or -1. */
static int file_of(const char *text) {
  int file = memfd_create("text", MFD_CLOEXEC);
  size_t size = strlen(text), done = 0;
  while (file >= 0 && done < size) {
    ssize_t n = pwrite(file, text + done, size - done, (off_t)done);
    if (n <= 0) {
      close(file);
      return -1;
    }
    done += (size_t)n;
  }
  return file;
}

/* Away from the numbers that the child is to have: a file that already had one
 * of them would be replaced, or stay closed on exec. */
static int out_of_the_way(int file) {
  int moved = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, NEW + 1);
  if (file >= 0)
    close(file);
  return moved;
}

static int start(const char *old_name, const char *new_name, int old_file,
                 int new_file, int out, pid_t *out_pid) {
  char *const argv[] = {"diff",           "-u",        "--label",
                        (char *)old_name, "--label",   (char *)new_name,
                        "/dev/fd/3",      "/dev/fd/4", NULL};
  char *const environment[] = {"LC_ALL=C", "PATH=/usr/bin:/bin", NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, old_file, OLD);
  posix_spawn_file_actions_adddup2(&actions, new_file, NEW);
  int error = posix_spawnp(out_pid, argv[0], &actions, NULL, argv, environment);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static void read_all(int from, ws_strbuf *out) {
  char chunk[4096];
  ssize_t n;
  while ((n = read(from, chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR))
    if (n > 0)
      ws_strbuf_append(out, chunk, (size_t)n);
}

static ws_status run(const char *old_name, const char *new_name, int old_file,
                     int new_file, ws_strbuf *out, ws_diag *diag) {
  int ends[2], status = 0;
  pid_t pid;
  if (old_file < 0 || new_file < 0 || pipe2(ends, O_CLOEXEC) != 0)
    return ws_fail(diag, WS_ENVIRONMENT, "diff", 0, "%s", strerror(errno));
  int writing = out_of_the_way(ends[1]);
  int error = start(old_name, new_name, old_file, new_file, writing, &pid);
  close(writing);
  if (!error)
    read_all(ends[0], out);
  close(ends[0]);
  while (!error && waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  if (!error && WIFEXITED(status) && WEXITSTATUS(status) <= 1)
    return WS_OK;
  return ws_fail(diag, WS_ENVIRONMENT, "diff", 0,
                 "diff(1) cannot be run (%s); install diffutils",
                 error ? strerror(error) : "it failed");
}

ws_status text_diff(ws_strbuf *out, const char *old_name, const char *new_name,
                    const char *old_text, const char *new_text, ws_diag *diag) {
  int old_file = out_of_the_way(file_of(old_text));
  int new_file = out_of_the_way(file_of(new_text));
  ws_status status = run(old_name, new_name, old_file, new_file, out, diag);
  if (old_file >= 0)
    close(old_file);
  if (new_file >= 0)
    close(new_file);
  return status;
}
