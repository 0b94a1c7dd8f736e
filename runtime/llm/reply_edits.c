/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * All edits of one text. Those by line numbers come first, all at once, since
 * their numbers are of the text before any edit; then those by search text, one
 * after the other. A range's first line is repeated by whoever wrote it, so
 * that a count that is off by one is refused.
 */
#include "reply.h"

#include <stdlib.h>
#include <string.h>

enum { QUOTED_BYTES = 160 };

const char *ws__code_name(ws_arena *arena, const ws_reply_region *code) {
  return *code->region ? ws_arena_printf(arena, "region %s", code->region)
                       : "the template";
}

/* ---- lines --------------------------------------------------------------- */

typedef struct text_lines {
  const char **begins; /* [count]: the text's end */
  int count;
} text_lines;

static text_lines split(ws_arena *arena, const char *text) {
  size_t most = 2;
  for (const char *c = text; *c; c++)
    most += *c == '\n';
  text_lines lines = {ws_arena_alloc(arena, most * sizeof(char *)), 0};
  while (*text) {
    lines.begins[lines.count++] = text;
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  lines.begins[lines.count] = text;
  return lines;
}

/* Line index without the blanks at its ends. */
static size_t trim(const text_lines *lines, int index, const char **out_text) {
  const char *text = lines->begins[index], *end = text + strcspn(text, "\n");
  text += strspn(text, " \t");
  while (end > text && strchr(" \t\r", end[-1]))
    end--;
  *out_text = text;
  return end > text ? (size_t)(end - text) : 0;
}

static bool same_line(const text_lines *a, int i, const text_lines *b, int j) {
  const char *x, *y;
  size_t size = trim(a, i, &x);
  return size == trim(b, j, &y) && !memcmp(x, y, size);
}

static const char *quote(ws_arena *arena, const text_lines *lines, int index) {
  const char *text;
  size_t size = trim(lines, index, &text);
  return ws__quotable(arena, text, size, QUOTED_BYTES);
}

/* ---- ranges -------------------------------------------------------------- */

/* The line nearest to `at` that is the other text's line; -1: none. */
static int nearest_same(const text_lines *lines, int at,
                        const text_lines *other, int index) {
  for (int far = 1; far < lines->count; far++) {
    if (at - far >= 0 && same_line(lines, at - far, other, index))
      return at - far;
    if (at + far < lines->count && same_line(lines, at + far, other, index))
      return at + far;
  }
  return -1;
}

static ws_status fail_line(ws_arena *arena, const text_lines *lines, int at,
                           const text_lines *repeated, int index,
                           const ws_reply_edit *edit, const char *where,
                           ws_diag *diag) {
  int other = nearest_same(lines, at, repeated, index);
  const char *hint =
      other >= 0 ? ws_arena_printf(arena, "; that is line %d", other + 1) : "";
  return WS__REPLY_FAIL(diag, edit->line - 1,
                        "line %d of %s is '%s', the edit repeats '%s'%s",
                        at + 1, where, quote(arena, lines, at),
                        quote(arena, repeated, index), hint);
}

static ws_status check_range(ws_arena *arena, const text_lines *lines,
                             const ws_reply_edit *edit, const char *where,
                             ws_diag *diag) {
  const text_lines repeated = split(arena, edit->search);
  const int count = edit->last_line - edit->first_line + 1;
  if (edit->last_line > lines->count)
    return WS__REPLY_FAIL(
        diag, edit->line - 1, "the edit is of lines %d to %d, %s has %d",
        edit->first_line, edit->last_line, where, lines->count);
  if (repeated.count > count)
    return WS__REPLY_FAIL(diag, edit->line - 1,
                          "the edit is of %d lines and repeats %d; before "
                          "'=======' stand the lines that are replaced, or the "
                          "first of them",
                          count, repeated.count);
  for (int i = 0; i < repeated.count; i++)
    if (!same_line(lines, edit->first_line - 1 + i, &repeated, i))
      return fail_line(arena, lines, edit->first_line - 1 + i, &repeated, i,
                       edit, where, diag);
  return WS_OK;
}

static int compare_ranges(const void *a, const void *b) {
  const ws_reply_edit *x = *(const ws_reply_edit *const *)a;
  const ws_reply_edit *y = *(const ws_reply_edit *const *)b;
  return x->first_line != y->first_line ? x->first_line - y->first_line
                                        : x->line - y->line;
}

/* By their first line; they must not overlap. */
static ws_status sort_ranges(const ws_reply_region *code,
                             const ws_reply_edit *ranges[WS__REPLY_EDITS],
                             int *out_count, ws_diag *diag) {
  int count = 0;
  for (int i = 0; i < code->edit_count; i++)
    if (code->edits[i].first_line)
      ranges[count++] = &code->edits[i];
  qsort(ranges, (size_t)count, sizeof *ranges, compare_ranges);
  for (int i = 1; i < count; i++)
    if (ranges[i]->first_line <= ranges[i - 1]->last_line)
      return WS__REPLY_FAIL(diag, ranges[i]->line - 1,
                            "the edit of lines %d to %d overlaps that of lines "
                            "%d to %d; all numbers are of the text before any "
                            "edit",
                            ranges[i]->first_line, ranges[i]->last_line,
                            ranges[i - 1]->first_line,
                            ranges[i - 1]->last_line);
  *out_count = count;
  return WS_OK;
}

static ws_status apply_ranges(ws_arena *arena, const ws_reply_region *code,
                              const char *where, const char *text,
                              char **out_text, ws_diag *diag) {
  const ws_reply_edit *ranges[WS__REPLY_EDITS];
  const text_lines lines = split(arena, text);
  int count = 0;
  WS_TRY(sort_ranges(code, ranges, &count, diag));
  for (int i = 0; i < count; i++)
    WS_TRY(check_range(arena, &lines, ranges[i], where, diag));
  ws_strbuf out;
  ws_strbuf_init(&out);
  for (int i = 0; i < count; i++) {
    const char *end = lines.begins[ranges[i]->first_line - 1];
    ws_strbuf_append(&out, text, (size_t)(end - text));
    ws_strbuf_puts(&out, ranges[i]->replace);
    text = lines.begins[ranges[i]->last_line];
  }
  ws_strbuf_puts(&out, text);
  *out_text = ws_arena_strdup(arena, out.data);
  ws_strbuf_deinit(&out);
  return WS_OK;
}

/* ---- all ----------------------------------------------------------------- */

/* Only the last text is kept. */
static ws_status apply_searches(ws_arena *arena, const ws_reply_region *code,
                                const char *where, const char *text,
                                const char **out_text, ws_diag *diag) {
  ws_arena *current = ws_arena_create();
  ws_status status = WS_OK;
  for (int i = 0; i < code->edit_count && status == WS_OK; i++) {
    if (code->edits[i].first_line)
      continue;
    ws_arena *next = ws_arena_create();
    char *edited = NULL;
    status = ws__apply_edit(next, text, where, &code->edits[i], &edited, diag);
    ws_arena_destroy(current);
    current = next;
    text = edited;
  }
  if (status == WS_OK)
    *out_text = ws_arena_strdup(arena, text);
  ws_arena_destroy(current);
  return status;
}

ws_status ws__apply_edits(ws_arena *arena, const ws_reply_region *code,
                          const char *text, const char **out_text,
                          ws_diag *diag) {
  ws_arena *scratch = ws_arena_create();
  const char *where = ws__code_name(scratch, code);
  char *ranged;
  ws_status status = apply_ranges(scratch, code, where, text, &ranged, diag);
  if (status == WS_OK)
    status = apply_searches(arena, code, where, ranged, out_text, diag);
  if (status == WS_OK && !strcmp(*out_text, text))
    status = WS__REPLY_FAIL(diag, code->line - 1,
                            "the edits of %s change nothing", where);
  if (status == WS_OK && strlen(*out_text) > WS__REPLY_BODY_BYTES)
    status =
        WS__REPLY_FAIL(diag, code->line - 1, "%s grows to more than %d bytes",
                       where, WS__REPLY_BODY_BYTES);
  ws_arena_destroy(scratch);
  return status;
}
