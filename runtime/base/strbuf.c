/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * String buffer: doubles its room, always ends in a NUL that is not counted.
 */
#include "wavesmith/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

void ws_strbuf_init(ws_strbuf *buffer) {
  buffer->data = calloc(1, FIRST_CAPACITY);
  WS_ASSERT(buffer->data && "out of memory");
  buffer->size = 0;
  buffer->capacity = FIRST_CAPACITY;
}

void ws_strbuf_deinit(ws_strbuf *buffer) {
  free(buffer->data);
  *buffer = (ws_strbuf){0};
}

/* Makes room for extra bytes and the NUL. */
static void reserve(ws_strbuf *buffer, size_t extra) {
  WS_ASSERT(extra < SIZE_MAX / 4 && buffer->size < SIZE_MAX / 4);
  size_t needed = buffer->size + extra + 1;
  if (needed <= buffer->capacity)
    return;
  while (buffer->capacity < needed)
    buffer->capacity *= 2;
  buffer->data = realloc(buffer->data, buffer->capacity);
  WS_ASSERT(buffer->data && "out of memory");
}

void ws_strbuf_append(ws_strbuf *buffer, const void *data, size_t size) {
  reserve(buffer, size);
  if (size)
    memcpy(buffer->data + buffer->size, data, size);
  buffer->size += size;
  buffer->data[buffer->size] = '\0';
}

void ws_strbuf_puts(ws_strbuf *buffer, const char *text) {
  ws_strbuf_append(buffer, text, strlen(text));
}

void ws_strbuf_printf(ws_strbuf *buffer, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  WS_ASSERT(length >= 0);
  reserve(buffer, (size_t)length);
  va_start(arguments, format);
  vsnprintf(buffer->data + buffer->size, (size_t)length + 1, format, arguments);
  va_end(arguments);
  buffer->size += (size_t)length;
}
