/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * wavesmith-compiler: started by `wavesmith` with a socket as descriptor 3
 * (runtime/eval/compiler.c). It owns a folder below the system's temp folder
 * for itself and its jobs, and removes it at its end, which is when the client
 * closes the socket or dies.
 */
#include "job.h"
#include "server.h"
#include "wavesmith/reference.h"
#include "wavesmith/text.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SERVER_SOCKET = 3 };

static bool is_socket(int descriptor) {
  int type;
  socklen_t size = sizeof type;
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

/* The stream's end is how the server ends, in mid-job too. */
static void on_stop_signal(int signal_) {
  (void)signal_;
  shutdown(SERVER_SOCKET, SHUT_RDWR);
}

static int serve(const char *folder) {
  ws_diag diag;
  setenv("TMPDIR", folder, 1);
  ws_server_tell_crashes(SERVER_SOCKET, folder);
  if (ws_problems_inherit(&diag) != WS_OK ||
      ws_references_inherit(&diag) != WS_OK ||
      ws_server_warm_up(&diag) != WS_OK) {
    fprintf(stderr, "wavesmith-compiler: %s\n", diag.text);
    return ws_status_exit_code(WS_ENVIRONMENT);
  }
  if (!ws_sandbox_no_network())
    ws_log(WS_LOG_WARN, "compile server: this kernel has no system call "
                        "filter; jobs keep their network");
  ws_server_run(SERVER_SOCKET, folder);
  return 0;
}

int main(void) {
  ws_terminal_guard();
  if (!is_socket(SERVER_SOCKET)) {
    fputs("wavesmith-compiler: is started by `wavesmith`, not by hand\n",
          stderr);
    return ws_status_exit_code(WS_USAGE);
  }
  /* The client's death shows as the end of the stream; a signal would leave
   * the temp folder behind. */
  prctl(PR_SET_PDEATHSIG, 0);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* a limit on files is a full disk */
  signal(SIGTERM, on_stop_signal);
  signal(SIGINT, on_stop_signal);
  signal(SIGHUP, on_stop_signal);
  const char *base = getenv("TMPDIR");
  char folder[512];
  int length = snprintf(folder, sizeof folder, "%s/wavesmith-compiler-XXXXXX",
                        base && base[0] ? base : "/tmp");
  if (length >= (int)sizeof folder || !mkdtemp(folder)) {
    fprintf(stderr, "wavesmith-compiler: cannot make a folder in %s\n",
            base && base[0] ? base : "/tmp");
    return ws_status_exit_code(WS_ENVIRONMENT);
  }
  int code = serve(folder);
  ws_remove_tree(folder);
  return code;
}
