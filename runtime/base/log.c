/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Log lines on stderr, each written by one call so that lines of several
 * processes do not mix. The level comes from WAVESMITH_LOG, read once.
 */
#include "wavesmith/base.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
  char line[2048];
  int used = snprintf(line, sizeof line, "wavesmith: %s: ", level_names[level]);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line + used, sizeof line - (size_t)used - 1, format, arguments);
  va_end(arguments);
  size_t size = strlen(line);
  line[size++] = '\n';
  for (size_t done = 0; done < size;) {
    ssize_t written = write(STDERR_FILENO, line + done, size - done);
    if (written < 0 && errno != EINTR)
      break; /* nobody listens; a log must not stop the work */
    done += written > 0 ? (size_t)written : 0;
  }
  errno = saved_errno;
}
