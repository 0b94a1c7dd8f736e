/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Small work on the texts of a reply: blanks, joining lines, quoting one.
 */
#include "reply.h"

#include <ctype.h>
#include <string.h>

const char *ws__skip_blanks(const char *text) {
  return text + strspn(text, " \t");
}

bool ws__is_blank(const char *line) { return !*ws__skip_blanks(line); }

char *ws__join_lines(const ws__reply_text *reply, int begin, int end) {
  size_t size = 0, used = 0;
  for (int i = begin; i < end; i++)
    size += strlen(reply->lines[i].text) + 1;
  char *text = ws_arena_alloc(reply->arena, size + 1);
  for (int i = begin; i < end; i++) {
    size_t length = strlen(reply->lines[i].text);
    memcpy(text + used, reply->lines[i].text, length);
    text[used + length] = '\n';
    used += length + 1;
  }
  return text;
}

char *ws__join_trimmed(const ws__reply_text *reply, int begin, int end) {
  while (begin < end && ws__is_blank(reply->lines[begin].text))
    begin++;
  char *text = ws__join_lines(reply, begin, end);
  size_t size = strlen(text);
  while (size && isspace((unsigned char)text[size - 1]))
    text[--size] = '\0';
  return text + strspn(text, " \t");
}

char *ws__quotable(ws_arena *arena, const char *line, size_t size,
                   size_t limit) {
  while (size && isspace((unsigned char)*line)) {
    line++;
    size--;
  }
  while (size && isspace((unsigned char)line[size - 1]))
    size--;
  bool cut = size > limit;
  if (cut)
    size = limit;
  char *text = ws_arena_alloc(arena, size + sizeof "...");
  for (size_t i = 0; i < size; i++)
    text[i] = isprint((unsigned char)line[i]) ? line[i] : '?';
  memcpy(text + size, cut ? "..." : "", cut ? sizeof "..." : 1);
  return text;
}
