/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Statuses, the one-line diagnostics that go with them, and assertions.
 * A diagnostic is always one line of printable text: control characters that
 * come in with a file name or a message of someone else become blanks.
 */
#include "wavesmith/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  int exit_code;
  const char *text;
} statuses[] = {
#define STATUS_ROW(name, exit_code, text) {exit_code, text},
    WS_STATUS_MAP(STATUS_ROW)
#undef STATUS_ROW
};

static bool status_known(ws_status status) {
  return (unsigned)status < sizeof statuses / sizeof statuses[0];
}

const char *ws_status_text(ws_status status) {
  return status_known(status) ? statuses[status].text : "unknown status";
}

int ws_status_exit_code(ws_status status) {
  return status_known(status) ? statuses[status].exit_code
                              : statuses[WS_ENVIRONMENT].exit_code;
}

ws_status ws_fail(ws_diag *diag, ws_status status, const char *file, int line,
                  const char *format, ...) {
  if (!diag)
    return status;
  /* A caller may pass its own diag's text on, so build the new one aside. */
  char text[sizeof diag->text] = "";
  size_t used = 0;
  if (file && line > 0)
    used = (size_t)snprintf(text, sizeof text, "%s:%d: ", file, line);
  else if (file)
    used = (size_t)snprintf(text, sizeof text, "%s: ", file);
  if (used < sizeof text) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
  }
  for (char *c = text; *c; c++)
    if ((unsigned char)*c < ' ')
      *c = ' ';
  memcpy(diag->text, text, sizeof text);
  return status;
}

void ws_assert_failed(const char *condition, const char *file, int line) {
  fprintf(stderr, "wavesmith: %s:%d: assertion failed: %s\n", file, line,
          condition);
  abort();
}
