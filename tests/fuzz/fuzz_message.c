/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Any bytes as a stream of messages, ended by closing it. Frames that are
 * accepted must account for exactly the bytes they took.
 */
#include "fuzz.h"

#include <sys/socket.h>
#include <unistd.h>

enum { STREAM_MAX = 65536 }; /* fits into the socket's buffer at once */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int ends[2];
  if (size > STREAM_MAX || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    return 0;
  ssize_t sent = size ? send(ends[0], data, size, MSG_DONTWAIT) : 0;
  close(ends[0]);
  size_t taken = 0;
  bool end = sent != (ssize_t)size;
  while (!end) {
    ws_arena *arena = ws_arena_create();
    char *json;
    void *blob;
    size_t blob_size;
    bool clean = false;
    ws_diag diag = {""};
    ws_status status = ws_message_receive(ends[1], 1000, arena, &json, &blob,
                                          &blob_size, &clean, &diag);
    FUZZ_CHECK_REFUSAL(status, diag);
    if (status == WS_OK)
      taken += 8 + strlen(json) + blob_size;
    FUZZ_CHECK(taken <= size);
    FUZZ_CHECK(!clean || (status != WS_OK && taken == size));
    end = status != WS_OK;
    ws_arena_destroy(arena);
  }
  close(ends[1]);
  return 0;
}
