/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * OpenCL C before it is compiled: directives that open files are refused. What
 * a compiler says of a file that is no C goes back to whoever wrote the body,
 * and so would the file. Of pragmas only those are taken that say how to
 * compile: others look at files, too (GCC dependency, clang module).
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
static const char *const pragmas[] = {
    "unroll", "nounroll",   "clang loop",     "clang fp",        "STDC",
    "OPENCL", "GCC unroll", "GCC diagnostic", "clang diagnostic"};
enum {
  PRAGMAS = sizeof pragmas / sizeof pragmas[0],
  REFUSED = sizeof refused / sizeof refused[0],
  PROBES = sizeof probes / sizeof probes[0]
};

/* Without line ends that a backslash, also as "??/", takes away; they follow
 * behind the whole line, so that lines begin where they did. Blanks between the
 * two are allowed. */
static char *joined_lines(ws_arena *arena, const char *text) {
  char *out = ws_arena_alloc(arena, strlen(text) + 1), *end = out;
  int taken = 0;
  while (*text) {
    size_t mark = *text == '\\' ? 1 : !strncmp(text, "?\?/", 3) ? 3 : 0;
    size_t blanks = mark ? strspn(text + mark, " \t\r\f\v") : 0;
    if (mark && text[mark + blanks] == '\n')
      text += mark + blanks + 1, taken++;
    else
      *end++ = *text++;
    for (; taken && end > out && end[-1] == '\n'; taken--)
      *end++ = '\n';
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
  return *at == '#'                ? 1
         : !strncmp(at, "%:", 2)   ? 2
         : !strncmp(at, "?\?=", 3) ? 3
                                   : 0;
}

static bool is_pragma(const char *at, const char *pragma) {
  for (const char *word = pragma; *word;) {
    size_t size = strcspn(word, " ");
    at = skip_blanks(at);
    if (strncmp(at, word, size) || isalnum((unsigned char)at[size]) ||
        at[size] == '_')
      return false;
    at += size;
    word += size + (word[size] == ' ');
  }
  return true;
}

static bool is_known_pragma(const char *at) {
  for (int i = 0; i < PRAGMAS; i++)
    if (is_pragma(at, pragmas[i]))
      return true;
  return false;
}

/* As an operator: of a literal, to be known at sight. */
static bool is_known_operator(const char *at) {
  at = skip_blanks(at);
  if (*at != '(')
    return false;
  at = skip_blanks(at + 1);
  return *at == '"' && is_known_pragma(at + 1);
}

/* What begins here and is no pragma that is taken. */
static const char *find_pragma(const char *at, size_t hash) {
  static const char *const operators[] = {"_Pragma", "__pragma"};
  const char *word = skip_blanks(at + hash);
  if (hash && is_word(word, "pragma") && !is_known_pragma(word + 6))
    return "#pragma";
  for (int i = 0; i < 2; i++)
    if (is_word(at, operators[i]) &&
        !is_known_operator(at + strlen(operators[i])))
      return operators[i];
  return NULL;
}

static const char *find_refused(const char *text, int *out_line) {
  *out_line = 1;
  for (const char *at = text; *at; at++) {
    *out_line += *at == '\n';
    size_t hash = hash_size(at);
    for (int i = 0; i < REFUSED && hash; i++)
      if (is_word(skip_blanks(at + hash), refused[i]))
        return refused[i];
    for (int i = 0; i < PROBES; i++)
      if (is_word(at, probes[i]))
        return probes[i];
    const char *pragma = find_pragma(at, hash);
    if (pragma)
      return pragma;
  }
  return NULL;
}

bool ws__check_opencl(const char *text, const char *file,
                      ws_findings *findings) {
  int line;
  const char *found = find_refused(joined_lines(findings->arena, text), &line);
  if (found)
    ws_findings_add(findings, "check-include", "", file, line,
                    "'%s' may read files; a body stands by itself, and the "
                    "builtin functions are there without it (pragmas: unroll, "
                    "clang loop, clang fp)",
                    found);
  return !found;
}
