/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The standard streams: what is lost is said, whenever it was written.
 */
#include "wavesmith/base.h"
#include "ws_test_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

static void lead_stdout_to(const char *path) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0)
    WS_SKIP("%s cannot be opened", path);
  WS_CHECK(dup2(file, STDOUT_FILENO) == STDOUT_FILENO);
}

WS_TEST(nothing_written_is_nothing_lost) {
  ws_streams_begin();
  lead_stdout_to("/dev/full");
  WS_CHECK_INT(ws_streams_end("test", 2), 2);
}

WS_TEST(a_loss_at_the_end) {
  ws_streams_begin();
  lead_stdout_to("/dev/full");
  printf("short\n");
  WS_CHECK_INT(ws_streams_end("test", 1), 3);
}

/* The end is written well again; what was in between is lost. */
WS_TEST(a_loss_on_the_way) {
  ws_streams_begin();
  lead_stdout_to("/dev/full");
  printf("first\n");
  WS_CHECK(fflush(stdout) != 0);
  lead_stdout_to("/dev/null");
  printf("second\n");
  WS_CHECK_INT(ws_streams_end("test", 0), 3);
}

WS_TEST(a_file_size_limit_is_no_signal) {
  char path[256];
  snprintf(path, sizeof path, "%s/out", ws_test_directory());
  lead_stdout_to(path);
  WS_CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){8, 8}) == 0);
  ws_streams_begin();
  printf("more than eight bytes\n");
  WS_CHECK_INT(ws_streams_end("test", 0), 3);
}

/* What is opened next must not become stdin, stdout or stderr. */
WS_TEST(closed_streams_are_taken) {
  for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
    close(i);
  ws_streams_begin();
  int file = open("/dev/zero", O_RDONLY);
  char byte;
  ssize_t in = read(STDIN_FILENO, &byte, 1), err = write(STDERR_FILENO, "x", 1);
  ssize_t out = write(STDOUT_FILENO, "x", 1);
  _exit(file > STDERR_FILENO && in == 0 && err == 1 && out < 0 ? 0 : 1);
}
