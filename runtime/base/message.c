/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Frames of JSON and blob over a stream socket. The receiver trusts nothing:
 * sizes are capped before anything is allocated, and a frame that stops early
 * is a fault, never a short result.
 */
#include "wavesmith/base.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum { HEADER_SIZE = 8, SLICE_MS = WS_LOOK_MS / 2 };

static void put_u32(unsigned char *bytes, size_t value) {
  for (int i = 0; i < 4; i++)
    bytes[i] = (unsigned char)(value >> (8 * i));
}

static size_t get_u32(const unsigned char *bytes) {
  size_t value = 0;
  for (int i = 0; i < 4; i++)
    value |= (size_t)bytes[i] << (8 * i);
  return value;
}

static ws_status send_all(int socket, const void *data, size_t size,
                          ws_diag *diag) {
  const char *bytes = data;
  while (size > 0) {
    ssize_t sent = send(socket, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent < 0)
      return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "cannot send a message: %s",
                     strerror(errno));
    bytes += sent;
    size -= (size_t)sent;
  }
  return WS_OK;
}

ws_status ws_message_send(int socket, const char *json, const void *blob,
                          size_t blob_size, ws_diag *diag) {
  size_t json_size = strlen(json);
  if (json_size > WS_MESSAGE_MAX || blob_size > WS_MESSAGE_MAX)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "message too large to send: %zu + %zu bytes, limit %u each",
                   json_size, blob_size, WS_MESSAGE_MAX);
  unsigned char header[HEADER_SIZE];
  put_u32(header, json_size);
  put_u32(header + 4, blob_size);
  WS_TRY(send_all(socket, header, sizeof header, diag));
  WS_TRY(send_all(socket, json, json_size, diag));
  return send_all(socket, blob, blob_size, diag);
}

/* One message being received. */
struct reader {
  int socket;
  bool for_ever;
  ws_patience patience;
  size_t got;  /* bytes of the current part */
  bool closed; /* the stream has ended */
};

static ws_status wait_readable(struct reader *reader, ws_diag *diag) {
  for (;;) {
    int wait_ms = -1;
    if (!reader->for_ever) {
      double left = ws_patience_left(&reader->patience);
      wait_ms = left <= 0 ? 0 : left >= SLICE_MS ? SLICE_MS : (int)left + 1;
    }
    struct pollfd item = {.fd = reader->socket, .events = POLLIN};
    int ready = poll(&item, 1, wait_ms);
    if (ready > 0)
      return WS_OK;
    if (ready == 0 && wait_ms == 0)
      return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                     "no complete message arrived in time");
    if (ready < 0 && errno != EINTR)
      return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                     "cannot wait for a message: %s", strerror(errno));
  }
}

/* Receives exactly size bytes. */
static ws_status receive_all(struct reader *reader, void *data, size_t size,
                             ws_diag *diag) {
  char *bytes = data;
  reader->got = 0;
  while (reader->got < size) {
    WS_TRY(wait_readable(reader, diag));
    ssize_t got = recv(reader->socket, bytes + reader->got, size - reader->got,
                       MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    reader->closed = got == 0 || (got < 0 && errno == ECONNRESET);
    if (reader->closed)
      return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                     "the other side closed the connection%s",
                     reader->got ? " in the middle of a message" : "");
    if (got < 0)
      return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                     "cannot receive a message: %s", strerror(errno));
    reader->got += (size_t)got;
  }
  return WS_OK;
}

ws_status ws_message_receive(int socket, int timeout_ms, ws_arena *arena,
                             char **out_json, void **out_blob,
                             size_t *out_blob_size, bool *out_eof,
                             ws_diag *diag) {
  *out_json = NULL;
  *out_blob = NULL;
  *out_blob_size = 0;
  struct reader reader = {.socket = socket,
                          .for_ever = timeout_ms < 0,
                          .patience = ws_patience_begin(timeout_ms)};
  unsigned char header[HEADER_SIZE];
  ws_status status = receive_all(&reader, header, sizeof header, diag);
  if (out_eof)
    *out_eof = reader.closed && reader.got == 0;
  if (status != WS_OK)
    return status;
  size_t json_size = get_u32(header), blob_size = get_u32(header + 4);
  if (json_size > WS_MESSAGE_MAX || blob_size > WS_MESSAGE_MAX)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "malformed message: sizes %zu and %zu are above %u bytes",
                   json_size, blob_size, WS_MESSAGE_MAX);
  char *json = ws_arena_alloc(arena, json_size + 1);
  void *blob = ws_arena_alloc(arena, blob_size);
  WS_TRY(receive_all(&reader, json, json_size, diag));
  WS_TRY(receive_all(&reader, blob, blob_size, diag));
  if (memchr(json, '\0', json_size))
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "malformed message: NUL in its JSON text");
  *out_json = json;
  *out_blob = blob;
  *out_blob_size = blob_size;
  return WS_OK;
}
