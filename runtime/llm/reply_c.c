/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Cuts a function out of a template in OpenCL C, without a compiler: comments
 * and strings are passed over, brackets followed.
 */
#include "reply.h"

#include <ctype.h>
#include <string.h>

static bool is_name_char(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static const char *end_of_quoted(const char *at) {
  const char quote = *at++;
  while (*at && *at != quote && *at != '\n')
    at += at[0] == '\\' && at[1] ? 2 : 1;
  return *at ? at + 1 : at;
}

const char *ws__end_of_token(const char *at) {
  if (!strncmp(at, "//", 2))
    return at + strcspn(at, "\n");
  if (!strncmp(at, "/*", 2)) {
    const char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
  }
  if (*at == '"' || *at == '\'')
    return end_of_quoted(at);
  if (!is_name_char(*at))
    return at + 1;
  while (is_name_char(*at))
    at++;
  return at;
}

const char *ws__end_of_brackets(const char *at) {
  int depth = 0;
  for (; *at; at = ws__end_of_token(at)) {
    depth += strchr("([{", *at) != NULL;
    depth -= strchr(")]}", *at) != NULL;
    if (!depth)
      return at + 1;
  }
  return NULL;
}

/* Behind its body, if a name is defined that ends here. */
static const char *end_of_definition(const char *at) {
  at += strspn(at, " \t\r\n");
  const char *end = *at == '(' ? ws__end_of_brackets(at) : NULL;
  if (!end)
    return NULL;
  end += strspn(end, " \t\r\n");
  return *end == '{' ? ws__end_of_brackets(end) : NULL;
}

char *ws__c_function_text(ws_arena *arena, const char *text,
                          const char *function) {
  const size_t size = strlen(function);
  const char *line = text;
  for (const char *at = text, *next; *at; at = next) {
    next = ws__end_of_token(at);
    if (*at == '\n')
      line = next;
    if ((size_t)(next - at) != size || memcmp(at, function, size))
      continue;
    const char *end = end_of_definition(next);
    if (end)
      return ws_arena_strndup(arena, line, (size_t)(end - line));
  }
  return NULL;
}
