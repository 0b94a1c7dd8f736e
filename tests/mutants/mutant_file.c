/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reads a file of mutants: records, each from "mutant: NAME" to the next.
 *   problem:        of kernels/shipped.def (default: fp8_gemm_blockscale), in
 *                   the first lines; `wrong` has a size for each dimension
 *   base:, set:     template and parameters; before the first record: for all.
 *                   A base with a folder is a path from the root, else it is of
 *                   ir-templates
 *   layout:         of the problem, where calls name none; likewise
 *   class:          what goes wrong
 *   each: A,B = ... one mutant for each of the groups of values, which replace
 *                   {A} and {B} anywhere in the record ("@" in one is a blank,
 *                   "~" a comma)
 *   variant:        shipped bodies, as for `wavesmith check`
 *   wrong: M N K [striding=1] [layout=1], or ROWS COLS and so on
 *   in: FUNCTION    the lines below stand in it
 *   -TEXT           what is there, once (with `in`, the first behind that)
 *   +TEXT           what takes its place
 * A ";" begins a comment, blank lines do not count.
 *
 * Another operator: a file with its `problem` and `base`, a row for its
 * dimensions in tests/cheats/cheat_path.c if they are new ones, and its name in
 * CMakeLists.txt.
 */
#include "mutant.h"
#include "wavesmith/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  ws_arena *arena;
  const char *root;
  mutant *out;
  int *count;
} reader;

static char *replace_all(ws_arena *arena, const char *text, const char *from,
                         const char *to) {
  const char *out = "";
  for (const char *at; (at = strstr(text, from)); text = at + strlen(from))
    out = ws_arena_printf(arena, "%s%.*s%s", out, (int)(at - text), text, to);
  return ws_arena_printf(arena, "%s%s", out, text);
}

/* The value of the last line "KEY: VALUE", or NULL. */
static char *value_of(ws_arena *arena, const char *text, const char *key) {
  char *found = NULL;
  size_t size = strlen(key);
  for (const char *line = text; *line;) {
    const char *end = line + strcspn(line, "\n");
    if (!strncmp(line, key, size) && !strncmp(line + size, ": ", 2))
      found = ws_arena_strndup(arena, line + size + 2,
                               (size_t)(end - line) - size - 2);
    line = *end ? end + 1 : end;
  }
  return found;
}

static const char *required(ws_arena *arena, const char *text,
                            const char *key) {
  const char *value = value_of(arena, text, key);
  if (!value)
    cheat_quit(text, "lacks the line", key);
  return value;
}

/* ---- edits ---- */

/* The lines from *at on that begin with the mark, without it. */
static const char *block(ws_arena *arena, const char **at, char mark) {
  const char *out = "";
  for (const char *join = ""; **at == mark; join = "\n") {
    size_t size = strcspn(*at, "\n");
    out = ws_arena_printf(arena, "%s%s%.*s", out, join, (int)size - 1, *at + 1);
    *at += size + ((*at)[size] == '\n');
  }
  return out;
}

/* Where the definition of a function begins; NULL: it has none. */
static const char *definition(ws_arena *arena, const char *text,
                              const char *function) {
  const char *head = ws_arena_printf(arena, "@%s(", function);
  for (const char *at = text; (at = strstr(at, "\ndefine "));) {
    const char *named = strstr(at, head);
    at += 1;
    if (named && named < at + strcspn(at, "\n"))
      return at;
  }
  return NULL;
}

static char *edit(ws_arena *arena, const char *text, const char *function,
                  const char *from, const char *to, const char *name) {
  const char *start = function ? definition(arena, text, function) : text;
  const char *place = start ? strstr(start, from) : NULL;
  if (!place)
    cheat_quit(name, "its base lacks", from);
  if (!function && strstr(place + 1, from))
    cheat_quit(name, "its base has more than once", from);
  return ws_arena_printf(arena, "%.*s%s%s", (int)(place - text), text, to,
                         place + strlen(from));
}

static char *apply_edits(ws_arena *arena, char *text, const char *record,
                         const char *name) {
  const char *function = value_of(arena, record, "in"), *at = record;
  while (*at) {
    if (*at != '-') {
      at += strcspn(at, "\n");
      at += *at == '\n';
      continue;
    }
    const char *from = block(arena, &at, '-'), *to = block(arena, &at, '+');
    text = edit(arena, text, function, from, to, name);
  }
  return text;
}

/* ---- records ---- */

static void read_call(ws_arena *arena, const char *record, const char *common,
                      mutant *out) {
  char *text = value_of(arena, record, "wrong"), *rest = text;
  const char *name = value_of(arena, common, "problem");
  const ws_problem *problem =
      ws_problem_find(name ? name : "fp8_gemm_blockscale");
  if (!text || !problem)
    cheat_quit(out->tried.name, "has no call, or no problem", name ? name : "");
  out->wrong.dims = problem->dims;
  for (int i = 0; i < problem->dims->count; i++) {
    const char *size = rest;
    out->wrong.size[i] = strtoll(size, &rest, 10);
    if (rest == size)
      cheat_quit(out->tried.name, "has no call", text);
  }
  if (ws_problem_check_shape(problem, &out->wrong, NULL) != WS_OK)
    cheat_quit(out->tried.name, "has a call that is not legal", text);
  const char *striding = strstr(text, "striding=");
  out->striding = striding ? atoi(striding + strlen("striding=")) : 0;
  const char *layout = strstr(text, "layout=");
  if (layout)
    out->tried.layout = atoi(layout + strlen("layout="));
}

static void add(const reader *r, const char *record, const char *common) {
  ws_arena *arena = r->arena;
  if (*r->count == MUTANTS_MAX)
    cheat_quit(record, "is one too many", "");
  mutant *out = &r->out[(*r->count)++];
  const char *base = value_of(arena, record, "base");
  const char *set = value_of(arena, record, "set");
  const char *variants = value_of(arena, record, "variant");
  if (!base)
    base = required(arena, common, "base");
  if (!set)
    set = value_of(arena, common, "set");
  *out = (mutant){.kind = required(arena, record, "class")};
  cheat *tried = &out->tried;
  tried->name = required(arena, record, "mutant");
  tried->tries = out->kind;
  tried->assignments = set ? set : "";
  tried->variants = variants ? variants : "";
  tried->template_file = ws_arena_printf(arena, "%s.ll", base);
  char *text = cheat_base(arena, r->root, base);
  out->base = text;
  tried->template_text = apply_edits(arena, text, record, tried->name);
  const char *layout = value_of(arena, common, "layout");
  tried->layout = layout ? atoi(layout) : 0;
  tried->quick = value_of(arena, record, "quick") != NULL;
  read_call(arena, record, common, out);
}

/* The record with one group of values: names "A,B", values "1,2". */
static const char *with_values(ws_arena *arena, const char *record, char *names,
                               char *values) {
  for (char *name; (name = strsep(&names, ","));) {
    const char *value = strsep(&values, ",");
    if (!value)
      cheat_quit(record, "lacks a value of", name);
    value = replace_all(arena, replace_all(arena, value, "@", " "), "~", ",");
    record =
        replace_all(arena, record, ws_arena_printf(arena, "{%s}", name), value);
  }
  return record;
}

static void expand(const reader *r, const char *record, const char *common) {
  char *each = value_of(r->arena, record, "each");
  char *groups = each ? strstr(each, " = ") : NULL;
  if (!groups) {
    add(r, record, common);
    return;
  }
  *groups = '\0';
  groups += 3;
  for (char *group; (group = strsep(&groups, " "));)
    add(r,
        with_values(r->arena, record, ws_arena_strdup(r->arena, each), group),
        common);
}

void mutants_read(ws_arena *arena, const char *root, const char *path,
                  mutant out[MUTANTS_MAX], int *count) {
  static const char mark[] = "\nmutant: ";
  char *text;
  size_t size;
  ws_diag diag;
  if (ws_file_read(arena, path, &text, &size, &diag) != WS_OK)
    cheat_quit(path, diag.text, "");
  reader r = {arena, root, out, count};
  const char *at = strstr(text, mark);
  if (!at)
    cheat_quit(path, "has no mutant", "");
  const char *common = ws_arena_strndup(arena, text, (size_t)(at - text));
  while (at) {
    const char *next = strstr(at + 1, mark);
    size_t length = next ? (size_t)(next - at) : strlen(at);
    expand(&r, ws_arena_strndup(arena, at + 1, length - 1), common);
    at = next;
  }
}
