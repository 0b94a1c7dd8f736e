/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Log lines on stderr, each written by one call so that lines of several
 * processes do not mix. The level comes from WAVESMITH_LOG, read once.
 */
#include "wavesmith/text.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 2048 }; /* one write() of a pipe: PIPE_BUF is more */

static const char *const level_names[] = {"error", "warn", "info", "debug"};

static ws_log_level read_level(void) {
  const char *text = getenv("WAVESMITH_LOG");
  for (int level = WS_LOG_ERROR; text && level <= WS_LOG_DEBUG; level++)
    if (!strcmp(text, level_names[level]))
      return (ws_log_level)level;
  return WS_LOG_WARN;
}

/* The one mutable global: a cache of the environment, written once. */
static ws_log_level log_threshold;
static pthread_once_t threshold_once = PTHREAD_ONCE_INIT;
static void set_threshold(void) { log_threshold = read_level(); }

void ws_log(ws_log_level level, const char *format, ...) {
  pthread_once(&threshold_once, set_threshold);
  if (level > log_threshold)
    return;
  int saved_errno = errno;
  char text[LINE_MAX_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  ws_strbuf line;
  ws_strbuf_init(&line);
  ws_strbuf_printf(&line, "wavesmith: %s: ", level_names[level]);
  ws_text_show(&line, text, strlen(text), true);
  line.size = ws_text_cut(line.data, line.size, LINE_MAX_BYTES - 1);
  ws_strbuf_puts(&line, "\n");
  for (size_t done = 0; done < line.size;) {
    ssize_t written = write(STDERR_FILENO, line.data + done, line.size - done);
    if (written < 0 && errno != EINTR)
      break; /* nobody listens; a log must not stop the work */
    done += written > 0 ? (size_t)written : 0;
  }
  ws_strbuf_deinit(&line);
  errno = saved_errno;
}
