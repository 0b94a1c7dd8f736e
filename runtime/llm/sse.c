/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Splits a stream into events (WHATWG HTML, section 9.2): lines end in CR, LF
 * or both; the data lines of an event are joined by LF; a blank line ends it;
 * other fields are of no use here.
 */
#include "sse.h"

#include "wavesmith/base.h"

#include <string.h>

/* The line at *at without its end; moves *at behind it. */
static size_t next_line(const char *stream, size_t size, size_t *at) {
  size_t start = *at, end = start;
  while (end < size && stream[end] != '\n' && stream[end] != '\r')
    end++;
  *at = end < size ? end + 1 : end;
  if (end + 1 < size && stream[end] == '\r' && stream[end + 1] == '\n')
    *at = end + 2;
  return end - start;
}

static void add_data(ws_strbuf *data, bool first, const char *line,
                     size_t length) {
  static const char field[] = "data:";
  size_t skip = sizeof field - 1;
  if (!first)
    ws_strbuf_puts(data, "\n");
  if (skip < length && line[skip] == ' ')
    skip++;
  ws_strbuf_append(data, line + skip, length - skip);
}

void ws__sse_each(const char *stream, size_t size,
                  bool (*visit)(const char *data, size_t size, void *context),
                  void *context) {
  ws_strbuf data;
  ws_strbuf_init(&data);
  bool has_data = false, go_on = true;
  for (size_t at = 0; at < size && go_on;) {
    const char *line = stream + at;
    size_t length = next_line(stream, size, &at);
    if (length >= 5 && !memcmp(line, "data:", 5)) {
      add_data(&data, !has_data, line, length);
      has_data = true;
    } else if (length == 0 && has_data) {
      go_on = visit(data.data, data.size, context);
      data.size = 0;
      data.data[0] = '\0';
      has_data = false;
    }
  }
  ws_strbuf_deinit(&data);
}
