/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Tokens of LLVM IR. Comments run from ';' to the line's end; strings have no
 * escaped quote (a quote in them is \22) and may hold anything.
 */
#include "wavesmith/ir_text.h"

#include <ctype.h>
#include <string.h>

static bool is_name_char(char c) {
  return isalnum((unsigned char)c) || (c && strchr("-$._", c));
}

static const char *skip_space(const char *at) {
  for (;;) {
    at += strspn(at, " \t\r\n");
    if (*at != ';')
      return at;
    at += strcspn(at, "\n");
  }
}

static const char *end_of_string(const char *at) {
  const char *end = strchr(at + 1, '"');
  return end ? end + 1 : at + strlen(at);
}

static const char *end_of_word(const char *at) {
  while (is_name_char(*at))
    at++;
  return at;
}

bool ws_ir_next_token(const char **at, ws_ir_token *out) {
  out->begin = skip_space(*at);
  if (!*out->begin)
    return false;
  if (*out->begin == '"')
    out->end = end_of_string(out->begin);
  else if (strchr("@%!#", *out->begin))
    out->end = out->begin[1] == '"' ? end_of_string(out->begin + 1)
                                    : end_of_word(out->begin + 1);
  else
    out->end = end_of_word(out->begin);
  if (out->end == out->begin)
    out->end++;
  *at = out->end;
  return true;
}

bool ws_ir_skip_balanced(const char **at, ws_ir_token *out_last) {
  int depth = 0;
  while (ws_ir_next_token(at, out_last)) {
    if (strchr("([{", *out_last->begin))
      depth++;
    else if (strchr(")]}", *out_last->begin))
      depth--;
    if (depth <= 0)
      return true;
  }
  return false;
}

static bool is_text(const char *begin, size_t size, const char *text) {
  return strlen(text) == size && !memcmp(begin, text, size);
}

bool ws_ir_is_word(const ws_ir_token *token, const char *word) {
  return is_text(token->begin, (size_t)(token->end - token->begin), word);
}

bool ws_ir_symbol_name(const ws_ir_token *token, const char **out_name,
                       size_t *out_size) {
  const char *begin = token->begin + 1, *end = token->end;
  if (*token->begin != '@')
    return false;
  if (begin < end && *begin == '"') {
    begin++;
    end -= end > begin && end[-1] == '"';
  }
  *out_name = begin;
  *out_size = (size_t)(end - begin);
  return true;
}

bool ws_ir_is_symbol(const ws_ir_token *token, const char *name) {
  const char *begin;
  size_t size;
  return ws_ir_symbol_name(token, &begin, &size) && is_text(begin, size, name);
}
