/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lines in and out. A line that is longer than allowed is skipped to its end
 * without being kept. What goes out is one write of whole lines, so that two
 * threads cannot mix theirs.
 */
#include "wire.h"
#include "wavesmith/text.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

void ws__mcp_wire_init(ws__mcp_wire *wire, int in, int out, size_t line_max) {
  *wire = (ws__mcp_wire){.in = in, .out = out, .line_max = line_max};
  ws_strbuf_init(&wire->buffer);
  pthread_mutex_init(&wire->lock, NULL);
}

void ws__mcp_wire_deinit(ws__mcp_wire *wire) {
  ws_strbuf_deinit(&wire->buffer);
  pthread_mutex_destroy(&wire->lock);
}

/* ---- UTF-8 ---- */
/* An escaped NUL: \u0000 after an even number of backslashes. */
static bool is_escaped_nul(const char *start, const char *at, size_t left) {
  if (left < 6 || memcmp(at, "\\u0000", 6))
    return false;
  size_t before = 0;
  while (at - before > start && at[-1 - (ptrdiff_t)before] == '\\')
    before++;
  return before % 2 == 0;
}

bool ws__mcp_is_clean(const char *text, size_t size) {
  for (size_t at = 0; at < size;) {
    size_t step = ws_text_character(text + at, size - at);
    if (!step || !text[at] || is_escaped_nul(text, text + at, size - at))
      return false;
    at += step;
  }
  return true;
}

static void append_clean(ws_strbuf *out, const char *text) {
  size_t size = strlen(text), from = 0, at = 0;
  while (at < size) {
    size_t step = ws_text_character(text + at, size - at);
    if (!step) {
      ws_strbuf_append(out, text + from, at - from);
      ws_strbuf_puts(out, "\xef\xbf\xbd");
      from = at + 1;
    }
    at += step ? step : 1;
  }
  ws_strbuf_append(out, text + from, size - from);
}

/* ---- reading ---- */
static void drop(ws_strbuf *buffer, size_t size) {
  memmove(buffer->data, buffer->data + size, buffer->size - size + 1);
  buffer->size -= size;
}

/* The line that begins at the buffer's start and has its end at newline. */
static ws__mcp_line hand_out(ws__mcp_wire *wire, const char *newline,
                             const char **out_text, size_t *out_size) {
  size_t size = (size_t)(newline - wire->buffer.data);
  wire->handed = size + 1;
  if (wire->skipping || size > wire->line_max) {
    wire->skipping = false;
    return WS__MCP_LINE_TOO_LONG;
  }
  *out_text = wire->buffer.data;
  *out_size = size;
  return WS__MCP_LINE;
}

ws__mcp_line ws__mcp_wire_read(ws__mcp_wire *wire, const char **out_text,
                               size_t *out_size) {
  char chunk[65536];
  ws_strbuf *buffer = &wire->buffer;
  drop(buffer, wire->handed);
  wire->handed = 0;
  for (size_t scanned = 0;;) {
    const char *newline =
        memchr(buffer->data + scanned, '\n', buffer->size - scanned);
    if (newline)
      return hand_out(wire, newline, out_text, out_size);
    if (wire->skipping || buffer->size > wire->line_max) {
      wire->skipping = true;
      drop(buffer, buffer->size);
    }
    scanned = buffer->size;
    ssize_t got = read(wire->in, chunk, sizeof chunk);
    if (got == 0 || (got < 0 && errno == EINTR))
      return WS__MCP_END;
    if (got < 0)
      return WS__MCP_READ_FAILED;
    ws_strbuf_append(buffer, chunk, (size_t)got);
  }
}

/* ---- writing ---- */
static bool write_all(int descriptor, const char *data, size_t size) {
  while (size > 0) {
    ssize_t written = write(descriptor, data, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    data += written;
    size -= (size_t)written;
  }
  return true;
}

void ws__mcp_wire_send(ws__mcp_wire *wire, cJSON *owned_message) {
  char *text = cJSON_PrintUnformatted(owned_message);
  ws_strbuf line;
  cJSON_Delete(owned_message);
  WS_ASSERT(text);
  ws_strbuf_init(&line);
  append_clean(&line, text);
  ws_strbuf_puts(&line, "\n");
  cJSON_free(text);
  pthread_mutex_lock(&wire->lock);
  if (!wire->broken && !write_all(wire->out, line.data, line.size)) {
    wire->broken = true;
    wire->failure = errno;
  }
  pthread_mutex_unlock(&wire->lock);
  ws_strbuf_deinit(&line);
}
