/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * wavesmith-device KIND run|time [PROVENANCE]: owns one device; started by
 * `wavesmith` with a socket as descriptor 3 (runtime/eval/device_client.c), and
 * killed when that dies.
 */
#include "run_batch.h"
#include "serve.h"
#include "wavesmith/reference.h"
#include "wavesmith/text.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SERVER_SOCKET = 3 };

static bool is_socket(int descriptor) {
  int type;
  socklen_t size = sizeof type;
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

static void tell_crash(const ws_problem *problem, const char *text) {
  ws_problem_send_crash(SERVER_SOCKET, problem, text);
}

/* A profile in a file may have been edited since the run's first process. */
static ws_status check_provenance(const ws_device_info *info,
                                  const char *wanted, ws_diag *diag) {
  if (!strcmp(info->provenance, wanted))
    return WS_OK;
  return ws_fail(
      diag, WS_INPUT, NULL, 0,
      "the device was %s when the run began and is %s now; undo what "
      "was changed in its profile, or begin anew",
      wanted, info->provenance);
}

int main(int argc, char **argv) {
  ws_streams_begin();
  ws_terminal_guard();
  if (argc > 1 && !strcmp(argv[1], "run"))
    return ws__device_run_batch(argc - 1, argv + 1);
  if (argc < 3 || argc > 4 || !is_socket(SERVER_SOCKET)) {
    fputs("wavesmith-device: is started by `wavesmith`, not by hand; "
          "but for `wavesmith-device run FOLDER`\n",
          stderr);
    return ws_status_exit_code(WS_USAGE);
  }
  signal(SIGPIPE, SIG_IGN);
  ws_problem_on_crash(tell_crash);
  ws_diag diag;
  ws_device *device;
  ws_device_purpose purpose =
      strcmp(argv[2], "time") ? WS_DEVICE_RUN : WS_DEVICE_TIME;
  ws_status status = ws_problems_inherit(&diag);
  if (status == WS_OK)
    status = ws_references_inherit(&diag);
  if (status == WS_OK)
    status = ws_device_open(argv[1], purpose, &device, &diag);
  if (status == WS_OK && argc > 3)
    status = check_provenance(ws_device_info_of(device), argv[3], &diag);
  if (status == WS_OK)
    status = ws__device_lock(ws_device_info_of(device), &diag);
  if (status != WS_OK) {
    ws__device_refuse(SERVER_SOCKET, diag.text);
    return ws_status_exit_code(status);
  }
  ws__device_serve(SERVER_SOCKET, device);
  /* Not exit(): a HIP runtime's clean-up may wait for a kernel that hangs. */
  fflush(NULL);
  _exit(0);
}
