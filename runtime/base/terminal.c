/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The guard is a stream that stands in for stdout and stderr: at this layer
 * nothing that is printed can be forgotten. A character whose bytes come in
 * two writes is held back until it is whole. What the program itself draws
 * with, going back on a line of progress, goes to the descriptor directly.
 */
#include "wavesmith/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { CHARACTER_MAX = 4 };

typedef struct guarded {
  int descriptor;
  char held[CHARACTER_MAX]; /* the beginning of a character */
  size_t held_size;
} guarded;

static bool write_all(int descriptor, const char *data, size_t size) {
  while (size > 0) {
    ssize_t written = write(descriptor, data, size);
    if (written < 0 && errno != EINTR)
      return false;
    data += written > 0 ? written : 0;
    size -= written > 0 ? (size_t)written : 0;
  }
  return true;
}

/* Bytes at the end that may be the beginning of a character. */
static size_t unfinished(const char *text, size_t size) {
  for (size_t back = 1; back < CHARACTER_MAX && back <= size; back++) {
    unsigned char byte = (unsigned char)text[size - back];
    size_t whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    if ((byte & 0xc0) != 0x80)
      return whole > back ? back : 0;
  }
  return 0;
}

/* 0 is what a stream takes as a failure. */
static ssize_t guarded_write(void *opaque, const char *data, size_t size) {
  guarded *stream = opaque;
  ws_strbuf text, shown;
  ws_strbuf_init(&text);
  ws_strbuf_init(&shown);
  ws_strbuf_append(&text, stream->held, stream->held_size);
  ws_strbuf_append(&text, data, size);
  stream->held_size = unfinished(text.data, text.size);
  text.size -= stream->held_size;
  memcpy(stream->held, text.data + text.size, stream->held_size);
  ws_text_show(&shown, text.data, text.size, false);
  bool written = write_all(stream->descriptor, shown.data, shown.size);
  int saved_errno = errno;
  ws_strbuf_deinit(&text);
  ws_strbuf_deinit(&shown);
  errno = saved_errno;
  return written ? (ssize_t)size : 0;
}

static FILE *guard(guarded *stream, FILE *bare, int buffering) {
  fflush(bare);
  FILE *file =
      fopencookie(stream, "w", (cookie_io_functions_t){.write = guarded_write});
  WS_ASSERT(file && "out of memory");
  setvbuf(file, NULL, buffering, BUFSIZ);
  return file;
}

void ws_terminal_guard(void) {
  static guarded streams[] = {{.descriptor = STDOUT_FILENO},
                              {.descriptor = STDERR_FILENO}};
  stdout = guard(&streams[0], stdout, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
  stderr = guard(&streams[1], stderr, _IONBF);
}

/* A longer line would wrap and could not be drawn over. */
static size_t line_room(void) {
  struct winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20)
    return 80 - 1;
  return (size_t)size.ws_col - 1u;
}

void ws_terminal_progress(const char *line, bool last) {
  bool terminal = isatty(STDERR_FILENO);
  ws_strbuf out;
  ws_strbuf_init(&out);
  ws_strbuf_puts(&out, terminal ? "\r" : "");
  ws_text_show(&out, line, strlen(line), true);
  if (terminal)
    out.size = ws_text_cut(out.data, out.size, 1 + line_room());
  ws_strbuf_puts(&out, terminal ? "\033[K" : "");
  ws_strbuf_puts(&out, terminal && !last ? "" : "\n");
  fflush(stderr);
  write_all(STDERR_FILENO, out.data, out.size);
  ws_strbuf_deinit(&out);
}
