/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Files of lines that grow at the end and are never rewritten. Whoever appends
 * holds the file's lock, begins at the last whole line, and takes back what a
 * full disk let through of one; so a reader needs no lock, and a process that
 * is killed loses the line in hand at most.
 */
#include "batch_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ---- */

static ws_status visit_all(FILE *file, const char *path, ws__line_visitor visit,
                           void *context, ws_diag *diag) {
  char *text = NULL;
  size_t room = 0;
  ssize_t got;
  ws_status status = WS_OK;
  ws__line line = {.path = path};
  while (status == WS_OK && (got = getline(&text, &room, file)) > 0) {
    if (text[got - 1] != '\n')
      break;
    text[got - 1] = '\0';
    line.number++;
    line.text = text;
    line.size = (size_t)got - 1;
    status = visit(context, &line, diag);
    line.offset += got;
  }
  if (status == WS_OK && ferror(file))
    status =
        ws_fail(diag, WS_INPUT, path, 0, "cannot read: %s", strerror(errno));
  free(text);
  return status;
}

ws_status ws__lines_visit(const char *path, ws__line_visitor visit,
                          void *context, ws_diag *diag) {
  FILE *file = fopen(path, "re");
  if (!file && errno == ENOENT)
    return WS_OK;
  if (!file)
    return ws_fail(diag, WS_INPUT, path, 0, "cannot open: %s", strerror(errno));
  ws_status status = visit_all(file, path, visit, context, diag);
  fclose(file);
  return status;
}

static bool read_at(int descriptor, char *to, size_t size, int64_t offset) {
  while (size > 0) {
    ssize_t got = pread(descriptor, to, size, offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    to += got;
    size -= (size_t)got;
    offset += got;
  }
  return true;
}

ws_status ws__lines_read(ws_arena *arena, const char *path, int64_t offset,
                         size_t size, char **out_text, ws_diag *diag) {
  *out_text = ws_arena_alloc(arena, size + 1);
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  bool good = descriptor >= 0 && read_at(descriptor, *out_text, size, offset);
  if (descriptor >= 0)
    close(descriptor);
  return good ? WS_OK
              : ws_fail(diag, WS_INPUT, path, 0,
                        "a line that was there cannot be read again");
}

/* ---- appending ---- */

/* Where the last whole line ends. */
static bool find_end(int descriptor, int64_t *out_end) {
  char chunk[4096];
  struct stat state;
  if (fstat(descriptor, &state) != 0)
    return false;
  int64_t end = state.st_size;
  while (end > 0) {
    size_t size = end < (int64_t)sizeof chunk ? (size_t)end : sizeof chunk;
    if (!read_at(descriptor, chunk, size, end - (int64_t)size))
      return false;
    const char *last = memrchr(chunk, '\n', size);
    if (last) {
      end += last + 1 - (chunk + size);
      break;
    }
    end -= (int64_t)size;
  }
  *out_end = end;
  return true;
}

ws_status ws__lines_open(const char *path, int *out_descriptor, ws_diag *diag) {
  *out_descriptor = -1;
  int64_t end;
  int descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return ws_fail(diag, WS_ENVIRONMENT, path, 0, "cannot open: %s",
                   strerror(errno));
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    int failure = errno;
    close(descriptor);
    return failure == EWOULDBLOCK
               ? ws_fail(diag, WS_ENVIRONMENT, path, 0,
                         "another process writes to it; wait for its end, or "
                         "end it")
               : ws_fail(diag, WS_ENVIRONMENT, path, 0, "cannot lock: %s",
                         strerror(failure));
  }
  if (!find_end(descriptor, &end) || ftruncate(descriptor, end) != 0) {
    int failure = errno;
    close(descriptor);
    return ws_fail(diag, WS_ENVIRONMENT, path, 0,
                   "its last line was cut off and cannot be taken back: %s",
                   strerror(failure));
  }
  *out_descriptor = descriptor;
  return WS_OK;
}

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

ws_status ws__lines_append(int descriptor, const char *path, const char *text,
                           int64_t *out_offset, ws_diag *diag) {
  ws_strbuf line;
  int64_t begin = lseek(descriptor, 0, SEEK_END);
  ws_strbuf_init(&line);
  ws_strbuf_puts(&line, text);
  ws_strbuf_puts(&line, "\n");
  bool good = begin >= 0 && write_all(descriptor, line.data, line.size);
  int failure = errno;
  ws_strbuf_deinit(&line);
  if (out_offset)
    *out_offset = begin;
  if (good)
    return WS_OK;
  if (begin >= 0 && ftruncate(descriptor, begin) != 0)
    ws_log(WS_LOG_WARN, "%s: its last line is cut off", path);
  return ws_fail(diag, WS_ENVIRONMENT, path, 0,
                 "cannot write: %s; what was there is unchanged",
                 strerror(failure));
}
