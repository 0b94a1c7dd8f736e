/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Finds the places of a template's declarations in its text, which MLIR does
 * not keep of attributes.
 */
#include "mlir/front.h"

#include <stdio.h>
#include <string.h>

typedef struct scan {
  const char *at;
  int line;
} scan;

/* Over one character, or over a comment or a text as a whole. */
static void step(scan *s) {
  if (s->at[0] == '/' && s->at[1] == '/') {
    s->at += strcspn(s->at, "\n");
    return;
  }
  if (*s->at == '"')
    for (s->at++; *s->at && *s->at != '"'; s->at++) {
      s->line += *s->at == '\n';
      s->at += s->at[0] == '\\' && s->at[1];
    }
  if (!*s->at)
    return;
  s->line += *s->at == '\n';
  s->at++;
}

/* To the word where it is no text and no comment; false: it is not there. */
static bool find_word(scan *s, const char *word) {
  const size_t size = strlen(word);
  while (*s->at && strncmp(s->at, word, size))
    step(s);
  if (!*s->at)
    return false;
  s->at += size;
  return true;
}

/* To the opening of the index-th list within the list that comes. */
static void find_node(scan *s, int index) {
  int depth = 0;
  for (; *s->at; step(s)) {
    depth += (*s->at == '[') - (*s->at == ']');
    if (*s->at == '[' && depth == 2 && index-- == 0)
      return;
    if (*s->at == ']' && depth == 0)
      return;
  }
}

/* Of kinds that are declared on functions the index-th word is meant. */
int ws__mlir_record_place(const char *text, const char *kind, int index,
                          int *out_column) {
  static const char *const on_functions[] = {"launch", "region", "variant"};
  char word[64];
  scan s = {text, 1};
  snprintf(word, sizeof word, "wavesmith.%s", kind);
  bool each = false;
  for (int i = 0; i < 3; i++)
    each |= !strcmp(kind, on_functions[i]);
  if (!find_word(&s, word))
    return 0;
  while (each && index-- > 0)
    if (!find_word(&s, word))
      return 0;
  if (!each && strcmp(kind, "template"))
    find_node(&s, index);
  const char *line = s.at;
  while (line > text && line[-1] != '\n')
    line--;
  *out_column = (int)(s.at - line) + 1;
  return s.line;
}

int ws__mlir_record_line(void *text, const char *kind, int index) {
  int column;
  return ws__mlir_record_place(text, kind, index, &column);
}
