/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reads a cheat's file: the header (comment lines "KEY: TEXT"), then a region's
 * body (.ll, .cl, .mlir), a whole template (the same without a base), or edits
 * of a shipped template (.edit): blocks of
 *   <<<<
 *   text that is in it once
 *   ====
 *   text that takes its place
 *   >>>>
 */
#include "cheat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cheat_quit(const char *name, const char *what, const char *detail) {
  fprintf(stderr, "cheat %s: %s %s\n", name, what, detail);
  exit(3);
}

static char *read_text(ws_arena *arena, const char *path) {
  char *text;
  size_t size;
  ws_diag diag;
  if (ws_file_read(arena, path, &text, &size, &diag) != WS_OK)
    cheat_quit(path, diag.text, "");
  return text;
}

char *cheat_base(ws_arena *arena, const char *root, const char *name) {
  const char *folder = strchr(name, '/') ? "" : "ir-templates/";
  return read_text(arena,
                   ws_arena_printf(arena, "%s/%s%s.ll", root, folder, name));
}

/* ---- header ---- */

static bool is_comment(const char *line) {
  return *line == ';' || (line[0] == '/' && line[1] == '/');
}

/* The text behind "KEY:" in the header; "" when there is none. */
static char *header_of(ws_arena *arena, const char *text, const char *key) {
  size_t size = strlen(key);
  for (const char *line = text; is_comment(line);) {
    const char *at = line + strspn(line, "; /");
    const char *end = strchr(line, '\n');
    if (!strncmp(at, key, size) && at[size] == ':') {
      at += size + 1;
      at += strspn(at, " ");
      return ws_arena_strndup(arena, at, (size_t)(end - at));
    }
    line = end + 1;
  }
  return ws_arena_strdup(arena, "");
}

/* "STAGE VERDICT DETAIL ..." */
static expectation read_expectation(char *text) {
  expectation out = {"", "", ""};
  const char *stage = strsep(&text, " ");
  const char *verdict = strsep(&text, " ");
  out.stage = stage;
  out.verdict = verdict ? verdict : "";
  out.detail = text ? text : "";
  return out;
}

/* ---- edits ---- */

/* From *at, the end of a line, to the next line that is the mark, without the
 * newlines at both ends; *at moves to the end of that line. */
static char *block_before(ws_arena *arena, const char **at, const char *mark,
                          const char *name) {
  const char *end = strstr(*at, mark);
  if (!end)
    cheat_quit(name, "lacks a line", mark + 1);
  const char *begin = end == *at ? end : *at + 1;
  char *block = ws_arena_strndup(arena, begin, (size_t)(end - begin));
  *at = end + strlen(mark) - 1;
  return block;
}

static char *edit_once(ws_arena *arena, const char *text, const char *from,
                       const char *to, const char *name) {
  const char *place = strstr(text, from);
  if (!place)
    cheat_quit(name, "its base lacks", from);
  if (strstr(place + 1, from))
    cheat_quit(name, "its base has more than once", from);
  return ws_arena_printf(arena, "%.*s%s%s", (int)(place - text), text, to,
                         place + strlen(from));
}

static char *apply_edits(ws_arena *arena, char *text, const char *edits,
                         const char *name) {
  static const char begin[] = "\n<<<<\n";
  for (const char *at; (at = strstr(edits, begin));) {
    at += strlen(begin) - 1;
    char *from = block_before(arena, &at, "\n====\n", name);
    char *to = block_before(arena, &at, "\n>>>>\n", name);
    text = edit_once(arena, text, from, to, name);
    edits = at;
  }
  return text;
}

/* ---- the file ---- */

static bool has_ending(const char *name, const char *ending) {
  const char *dot = strrchr(name, '.');
  return dot && !strcmp(dot, ending);
}

static const char *language_of(const char *name) {
  return has_ending(name, ".cl")     ? "opencl"
         : has_ending(name, ".mlir") ? "mlir"
                                     : "ir";
}

static void set_source(ws_arena *arena, const char *root, char *text,
                       cheat *out) {
  char *base = header_of(arena, text, "base");
  const char *name = strsep(&base, " ");
  out->assignments = base ? base : "";
  const char *region = header_of(arena, text, "region");
  if (!*name) {
    out->template_file = out->name;
    out->template_text = text;
    out->opencl = has_ending(out->name, ".cl");
    return;
  }
  out->template_file = ws_arena_printf(arena, "%s.ll", name);
  char *shipped = cheat_base(arena, root, name);
  out->template_text = shipped;
  if (has_ending(out->name, ".edit")) {
    out->base_text = shipped;
    out->template_text = apply_edits(arena, shipped, text, out->name);
  } else if (*region) {
    out->region = region;
    out->language = language_of(out->name);
    out->body = text;
  }
}

const cheat *cheat_read(ws_arena *arena, const char *root, const char *folder,
                        const char *name) {
  char *text = read_text(arena, ws_arena_printf(arena, "%s/%s", folder, name));
  cheat *out = ws_arena_alloc(arena, sizeof *out);
  out->name = ws_arena_strdup(arena, name);
  out->tries = header_of(arena, text, "cheat");
  out->variants = "";
  out->rows = header_of(arena, text, "row");
  out->caught = read_expectation(header_of(arena, text, "caught"));
  out->then = read_expectation(header_of(arena, text, "then"));
  out->quick = !strcmp(header_of(arena, text, "tier"), "quick");
  if (!*out->tries || !*out->caught.stage)
    cheat_quit(name, "has no header", "(cheat:, caught:)");
  set_source(arena, root, text, out);
  return out;
}
