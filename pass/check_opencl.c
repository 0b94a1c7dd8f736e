/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * OpenCL C before it is compiled: directives that open files are refused. What
 * a compiler says of a file that is no C goes back to whoever wrote the body,
 * and so would the file.
 *
 * Text is read as a preprocessor does: lines that end in a backslash go on, a
 * '#' may be spelt "%:" or "??=", comments may stand between it and the word.
 */
#include "check.h"

#include <ctype.h>
#include <string.h>

static const char *const refused[] = {"include", "include_next", "import",
                                      "embed"};
static const char *const probes[] = {"__has_include", "__has_embed"};
enum {
  REFUSED = sizeof refused / sizeof refused[0],
  PROBES = sizeof probes / sizeof probes[0]
};

/* Without line ends that a backslash, also as "??/", takes away. Blanks between
 * the two are allowed. */
static char *joined_lines(ws_arena *arena, const char *text) {
  char *out = ws_arena_alloc(arena, strlen(text) + 1), *end = out;
  while (*text) {
    size_t mark = *text == '\\' ? 1 : !strncmp(text, "?\?/", 3) ? 3 : 0;
    size_t blanks = mark ? strspn(text + mark, " \t\r\f\v") : 0;
    if (mark && text[mark + blanks] == '\n')
      text += mark + blanks + 1;
    else
      *end++ = *text++;
  }
  return out;
}

static const char *skip_blanks(const char *at) {
  for (;;) {
    at += strspn(at, " \t\r\f\v");
    if (at[0] != '/' || at[1] != '*')
      return at;
    const char *end = strstr(at + 2, "*/");
    if (!end)
      return at;
    at = end + 2;
  }
}

static bool is_word(const char *at, const char *word) {
  size_t size = strlen(word);
  return !strncmp(at, word, size) && !isalnum((unsigned char)at[size]) &&
         at[size] != '_';
}

static size_t hash_size(const char *at) {
  return *at == '#'               ? 1
         : !strncmp(at, "%:", 2)  ? 2
         : !strncmp(at, "?\?=", 3) ? 3
                                  : 0;
}

static const char *find_refused(const char *text) {
  for (const char *at = text; *at; at++) {
    size_t hash = hash_size(at);
    for (int i = 0; i < REFUSED && hash; i++)
      if (is_word(skip_blanks(at + hash), refused[i]))
        return refused[i];
    for (int i = 0; i < PROBES; i++)
      if (is_word(at, probes[i]))
        return probes[i];
  }
  return NULL;
}

bool ws__check_opencl(const char *text, const char *file,
                      ws_findings *findings) {
  const char *found = find_refused(joined_lines(findings->arena, text));
  if (found)
    ws_findings_add(findings, "check-include", "", file, 0,
                    "'%s' reads files; a body stands by itself, and the "
                    "builtin functions are there without it",
                    found);
  return !found;
}
