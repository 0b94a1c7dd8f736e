/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A cheat in the forms of a reply, so that what is caught is what a model can
 * send: the lines in which its template differs from the base as one edit by
 * line numbers, or the whole template; and with it its region's body.
 */
#include "cheat.h"
#include "wavesmith/llm.h"

#include <string.h>

static int line_of(const char *text, const char *at) {
  int line = 1;
  for (; text < at; text++)
    line += *text == '\n';
  return line;
}

static bool is_blank_line(const char *line) {
  return line[strspn(line, " \t")] == '\n';
}

/* From the first line that differs (one before it, where lines are only put
 * in) to the last. */
static void put_edit(ws_strbuf *out, const char *base, const char *text) {
  size_t same = 0, tail = 0, base_size = strlen(base), size = strlen(text);
  while (base[same] && base[same] == text[same])
    same++;
  while (same && base[same - 1] != '\n')
    same--;
  while (tail < base_size - same && tail < size - same &&
         base[base_size - 1 - tail] == text[size - 1 - tail])
    tail++;
  while (tail &&
         (base[base_size - tail - 1] != '\n' || text[size - tail - 1] != '\n'))
    tail--;
  while (same && (base_size - tail == same || is_blank_line(base + same)))
    do
      same--;
    while (same && base[same - 1] != '\n');
  const char *first = base + same, *end = base + base_size - tail;
  ws_strbuf_printf(out, "<<<<<<< LINES %d %d\n%.*s\n=======\n",
                   line_of(base, first), line_of(base, end) - 1,
                   (int)strcspn(first, "\n"), first);
  ws_strbuf_append(out, text + same, size - tail - same);
  ws_strbuf_puts(out, ">>>>>>> REPLACE\n");
}

static void put_reply(ws_strbuf *out, const cheat *tried) {
  ws_strbuf_puts(out,
                 tried->opencl ? "## template (opencl)\n" : "## template\n");
  if (tried->base_text && strcmp(tried->base_text, tried->template_text))
    put_edit(out, tried->base_text, tried->template_text);
  else
    ws_describe_fenced(out, tried->opencl ? "c" : "llvm", tried->template_text);
  if (!tried->region)
    return;
  ws_strbuf_printf(out, "## region %s (%s)\n", tried->region, tried->language);
  ws_describe_fenced(out, "", tried->body);
}

cheat cheat_through_reply(ws_arena *arena, const cheat *tried) {
  cheat out = *tried;
  ws_diag diag = {""};
  ws_reply reply;
  const char *language;
  ws_strbuf text;
  ws_strbuf_init(&text);
  put_reply(&text, tried);
  if (ws_reply_parse(arena, text.data, WS_REQUEST_WRITE, &reply, &diag) !=
          WS_OK ||
      ws_reply_template_text(arena, &reply, tried->base_text,
                             &out.template_text, &language, &diag) != WS_OK)
    cheat_quit(tried->name, "is no reply:", diag.text);
  ws_strbuf_deinit(&text);
  out.opencl = !strcmp(language, "opencl");
  if (strcmp(out.template_text, tried->template_text) ||
      out.opencl != tried->opencl)
    cheat_quit(tried->name, "is another template", "as a reply");
  if (!tried->region)
    return out;
  out.region = reply.regions[0].region;
  out.language = reply.regions[0].language;
  out.body = reply.regions[0].body;
  if (strcmp(out.language, tried->language) || strcmp(out.body, tried->body))
    cheat_quit(tried->name, "has another body", "as a reply");
  return out;
}
