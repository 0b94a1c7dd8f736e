/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Text inside emitted C. Nothing that comes in ends the literal or comment it
 * stands in, in any phase of translation: trigraphs (??/ is a backslash in
 * C99), spliced lines, comment marks and escapes are taken apart before C sees
 * them.
 */
#include "dispatch_internal.h"

#include <math.h>
#include <string.h>

double ws__finite(double value) {
  WS_ASSERT(isfinite(value));
  return value;
}

static bool is_printable(char c) { return c >= ' ' && c <= '~'; }

/* C99 promises literals of 4095 characters. */
enum { LITERAL_MAX = 4000 };

void ws__put_literal(ws_strbuf *out, const char *text) {
  ws_strbuf_puts(out, "\"");
  size_t count = 0;
  for (; *text && count < LITERAL_MAX; text++, count++)
    if (*text == '"' || *text == '\\' || *text == '?')
      ws_strbuf_printf(out, "\\%c", *text);
    else if (is_printable(*text))
      ws_strbuf_append(out, text, 1);
    else /* three digits: the next character cannot join them */
      ws_strbuf_printf(out, "\\%03o", (unsigned)(unsigned char)*text);
  ws_strbuf_puts(out, *text ? "...\"" : "\"");
}

void ws__put_comment(ws_strbuf *out, const char *text) {
  char last = '*'; /* what stands before may be the comment's begin */
  for (; *text; text++) {
    char c = !is_printable(*text) ? ' ' : *text == '\\' ? '|' : *text;
    bool joins = (last == '*' && c == '/') || (last == '/' && c == '*') ||
                 (last == '?' && c == '?');
    ws_strbuf_puts(out, joins ? " " : "");
    ws_strbuf_append(out, &c, 1);
    last = c;
  }
}
