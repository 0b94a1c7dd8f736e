/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Cuts a function out of a template's text, whatever it is written in.
 */
#include "reply.h"

#include <string.h>

static bool is_word(const char *at, const char *end, const char *word) {
  return (size_t)(end - at) == strlen(word) &&
         !memcmp(at, word, (size_t)(end - at));
}

/* Behind the body of the function whose name ends here; NULL: it has none. */
static const char *end_of_mlir_function(const char *at) {
  bool attributes = false; /* '{' opens them, not the body */
  for (const char *next; *at; at = next) {
    next = ws__end_of_token(at);
    if (*at == '{' && !attributes)
      return ws__end_of_brackets(at);
    if (*at == '(' || *at == '[' || *at == '{')
      next = ws__end_of_brackets(at);
    if (!next || is_word(at, next, "func"))
      return NULL;
    if (!strchr(" \t\r\n", *at))
      attributes = is_word(at, next, "attributes");
  }
  return NULL;
}

/* "func.func private @NAME(...) ... { ... }" */
static char *mlir_function_text(ws_arena *arena, const char *text,
                                const char *function, const char **out_begin) {
  const char *begin = NULL;
  for (const char *at = text, *next; *at; at = next) {
    next = ws__end_of_token(at);
    if (is_word(at, next, "func") && !strncmp(at, "func.func", 9))
      begin = at, next = at + 9;
    if (*at != '@' || !begin)
      continue;
    const char *name = next, *end = ws__end_of_token(name);
    if (is_word(name, end, function)) {
      const char *behind = end_of_mlir_function(end);
      *out_begin = begin;
      return behind ? ws_arena_strndup(arena, begin, (size_t)(behind - begin))
                    : NULL;
    }
    begin = NULL;
  }
  return NULL;
}

char *ws__function_text(ws_arena *arena, const char *language, const char *text,
                        const char *function, int *out_line) {
  const char *begin = text;
  if (!strcmp(language, "ir"))
    return ws_ir_function_text(arena, text, function, out_line);
  char *own = strcmp(language, "mlir")
                  ? ws__c_function_text(arena, text, function)
                  : mlir_function_text(arena, text, function, &begin);
  if (out_line) {
    *out_line = 1;
    for (const char *c = text; c < begin; c++)
      *out_line += *c == '\n';
  }
  return own;
}

char *ws_function_text(ws_arena *arena, const char *text, const char *function,
                       int *out_line) {
  return ws__function_text(arena, ws_template_language(text), text, function,
                           out_line);
}
