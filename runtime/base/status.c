/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Statuses, the one-line diagnostics that go with them, and assertions.
 * A diagnostic is always one line of text that a terminal may get, whatever
 * came in with a file name or a message of someone else.
 */
#include "wavesmith/text.h"

#include <stdarg.h>
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

/* As much of the text as there is room for, without half a character. */
static void keep_shown(const char *text, ws_diag *diag) {
  ws_strbuf shown;
  ws_strbuf_init(&shown);
  ws_text_show(&shown, text, strlen(text), true);
  size_t size = ws_text_cut(shown.data, shown.size, sizeof diag->text - 1);
  memcpy(diag->text, shown.data, size);
  memset(diag->text + size, 0, sizeof diag->text - size);
  ws_strbuf_deinit(&shown);
}

ws_status ws_fail(ws_diag *diag, ws_status status, const char *file, int line,
                  const char *format, ...) {
  if (!diag)
    return status;
  /* A caller may pass its own diag's text on, so build the new one aside. */
  char text[2 * sizeof diag->text] = "";
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
  keep_shown(text, diag);
  return status;
}

void ws_assert_failed(const char *condition, const char *file, int line) {
  fprintf(stderr, "wavesmith: %s:%d: assertion failed: %s\n", file, line,
          condition);
  abort();
}
