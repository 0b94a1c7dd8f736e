/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The standard streams of a program, from its first line to its last. A result
 * that nobody could read is no result: what is written to stdout is buffered,
 * so whether it arrived is known only at the end, and asked there once.
 */
#include "wavesmith/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* open() takes the lowest free number. Of stdout the other end is read-only:
 * what is written to a closed one is lost, and that is said. */
static void fill_closed(void) {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
    if (fcntl(descriptor, F_GETFD) < 0)
      open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

void ws_streams_begin(void) {
  fill_closed();
  signal(SIGXFSZ, SIG_IGN);
}

int ws_streams_end(const char *program, int code) {
  bool lost = ferror(stdout) != 0;
  errno = 0;
  if (fflush(stdout) == 0 && !lost)
    return code;
  fprintf(stderr, "%s: stdout cannot be written%s%s; the result is lost\n",
          program, errno ? ": " : "", errno ? strerror(errno) : "");
  return ws_status_exit_code(WS_ENVIRONMENT);
}
