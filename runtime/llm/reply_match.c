/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Where an edit belongs: the one place at which all lines of its search text
 * follow each other. Compared are lines without the blanks at their ends, by
 * what they say and by how far each is indented against the one before, so
 * that a search text that is indented more or less as a whole still matches
 * (Knuth-Morris-Pratt over lines: linear whatever the texts).
 */
#include "reply.h"

#include <stdlib.h>
#include <string.h>

typedef struct text_line {
  const char *text; /* into the whole, behind its indentation */
  size_t size;      /* of it, without blanks at the end; 0: blank */
  int indent;       /* characters */
  int blanks;       /* blank lines right before it */
  uint64_t hash;    /* of text */
} text_line;

typedef struct line_list {
  const char *whole;
  text_line *items;
  int count;
} line_list;

/* FNV-1a; equal hashes are compared in full before they count. */
static uint64_t hash_bytes(const char *text, size_t size) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ (unsigned char)text[i]) * 0x100000001B3u;
  return hash;
}

static text_line read_line(const char *begin, size_t size, int blanks) {
  while (size && strchr(" \t\r", begin[size - 1]))
    size--;
  size_t indent = strspn(begin, " \t");
  if (!size)
    return (text_line){begin, 0, 0, blanks, 0};
  const char *text = begin + indent;
  size -= indent;
  return (text_line){text, size, (int)indent, blanks, hash_bytes(text, size)};
}

static line_list read_lines(ws_arena *arena, const char *text) {
  int capacity = 1, blanks = 0;
  for (const char *c = text; *c; c++)
    capacity += *c == '\n';
  line_list list = {
      text, ws_arena_alloc(arena, (size_t)capacity * sizeof *list.items), 0};
  while (*text) {
    size_t size = strcspn(text, "\n");
    text_line *line = &list.items[list.count++];
    *line = read_line(text, size, blanks);
    blanks = line->size ? 0 : blanks + 1;
    text += size + (text[size] == '\n');
  }
  return list;
}

/* ---- matching ------------------------------------------------------------ */

/* Line index against the last written line before it. */
static int relative_indent(const line_list *list, int index) {
  int before = index - 1 - list->items[index].blanks;
  return list->items[index].indent -
         (before >= 0 ? list->items[before].indent : 0);
}

static bool same_step(const line_list *a, int i, const line_list *b, int j) {
  const text_line *x = &a->items[i], *y = &b->items[j];
  if (!x->size || !y->size)
    return x->size == y->size;
  return x->hash == y->hash && x->size == y->size &&
         relative_indent(a, i) == relative_indent(b, j);
}

typedef struct matcher {
  line_list text, search;
  int first;  /* written line of search */
  int *table; /* of the lines behind it */
} matcher;

/* table[i]: how many of the first lines are the last of lines 0..i. */
static void make_table(matcher *m, ws_arena *arena) {
  int first = m->first + 1, count = m->search.count - first;
  m->table = ws_arena_alloc(arena, (size_t)(count + 1) * sizeof *m->table);
  for (int i = 1, matched = 0; i < count; i++) {
    while (matched &&
           !same_step(&m->search, first + i, &m->search, first + matched))
      matched = m->table[matched - 1];
    matched += same_step(&m->search, first + i, &m->search, first + matched);
    m->table[i] = matched;
  }
}

static bool same_content(const text_line *a, const text_line *b) {
  return a->size == b->size && !memcmp(a->text, b->text, a->size);
}

/* All but the lines behind the first, which have been matched. */
static bool fits_first(const matcher *m, int at) {
  return at >= 0 && m->text.items[at].hash == m->search.items[m->first].hash &&
         m->text.items[at].size == m->search.items[m->first].size &&
         m->text.items[at].blanks >= m->first;
}

/* Places by how well they fit: as written, or indented otherwise. */
typedef struct places {
  int count, first, second; /* index of the first written line */
} places;

static void add_place(const matcher *m, int at, places found[2]) {
  if (!fits_first(m, at))
    return;
  int moved = m->text.items[at].indent != m->search.items[m->first].indent;
  places *p = &found[moved];
  if (p->count == 0)
    p->first = at;
  if (p->count == 1)
    p->second = at;
  p->count++;
}

static void find_places(const matcher *m, places found[2]) {
  int first = m->first + 1, count = m->search.count - first;
  for (int i = 0, matched = 0; i < m->text.count; i++) {
    if (count == 0) {
      add_place(m, i, found);
      continue;
    }
    if (matched == count)
      matched = m->table[matched - 1];
    while (matched && !same_step(&m->text, i, &m->search, first + matched))
      matched = m->table[matched - 1];
    matched += same_step(&m->text, i, &m->search, first + matched);
    if (matched == count)
      add_place(m, i - count, found);
  }
}

static bool verify(const matcher *m, int at) {
  for (int i = m->first; i < m->search.count; i++)
    if (!same_content(&m->text.items[at - m->first + i], &m->search.items[i]))
      return false;
  return true;
}

/* ---- what is said when there is no match --------------------------------- */

enum { COMPARED_BYTES = 160, QUOTED_BYTES = 160, RUN_MIN = 4 };

static int compare_hashes(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* The first line of the search text that the text does not have; -1: none. */
static int first_strange_line(const matcher *m, ws_arena *arena) {
  size_t count = (size_t)m->text.count;
  uint64_t *hashes = ws_arena_alloc(arena, (count + 1) * sizeof *hashes);
  for (size_t i = 0; i < count; i++)
    hashes[i] = m->text.items[i].hash;
  qsort(hashes, count, sizeof *hashes, compare_hashes);
  for (int i = m->first; i < m->search.count; i++)
    if (m->search.items[i].size &&
        !bsearch(&m->search.items[i].hash, hashes, count, sizeof *hashes,
                 compare_hashes))
      return i;
  return -1;
}

/* Of two lines' beginnings, the length of the longest run that both have. */
static int common_run(const text_line *a, const text_line *b) {
  int runs[COMPARED_BYTES + 1] = {0}, longest = 0;
  size_t rows = a->size < COMPARED_BYTES ? a->size : COMPARED_BYTES;
  size_t columns = b->size < COMPARED_BYTES ? b->size : COMPARED_BYTES;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = columns; j > 0; j--) { /* downwards: runs[j - 1] is old */
      runs[j] = a->text[i] == b->text[j - 1] ? runs[j - 1] + 1 : 0;
      longest = runs[j] > longest ? runs[j] : longest;
    }
  return longest;
}

static int nearest_line(const matcher *m, int search_line) {
  int nearest = -1, longest = RUN_MIN - 1;
  for (int i = 0; i < m->text.count; i++) {
    int run = common_run(&m->text.items[i], &m->search.items[search_line]);
    if (run > longest) {
      longest = run;
      nearest = i;
    }
  }
  return nearest;
}

static const char *quote(ws_arena *arena, const text_line *line) {
  return ws__quotable(arena, line->text, line->size, QUOTED_BYTES);
}

static ws_status fail_missing(const matcher *m, ws_arena *arena,
                              const char *where, const ws_reply_edit *edit,
                              ws_diag *diag) {
  int strange = first_strange_line(m, arena);
  if (strange < 0)
    return WS__REPLY_FAIL(diag, edit->line - 1,
                          "the edit's search text is not in %s: its "
                          "lines are there, but not one after the other, or "
                          "indented otherwise; repeat the current text",
                          where);
  int nearest = nearest_line(m, strange);
  const char *line = quote(arena, &m->search.items[strange]);
  if (nearest < 0)
    return WS__REPLY_FAIL(diag, edit->line - 1,
                          "the edit's search text is not in %s: nothing "
                          "there is like its line %d, '%s'; repeat the current "
                          "text",
                          where, strange + 1, line);
  return WS__REPLY_FAIL(diag, edit->line - 1,
                        "the edit's search text is not in %s: its line "
                        "%d is '%s', the nearest one there is line %d, '%s'; "
                        "repeat the current text",
                        where, strange + 1, line, nearest + 1,
                        quote(arena, &m->text.items[nearest]));
}

static ws_status fail_ambiguous(const matcher *m, const places *p,
                                const char *where, const ws_reply_edit *edit,
                                ws_diag *diag) {
  return WS__REPLY_FAIL(diag, edit->line - 1,
                        "the edit's search text is in %s %d times "
                        "(lines %d and %d); add lines until it is there once",
                        where, p->count, p->first - m->first + 1,
                        p->second - m->first + 1);
}

/* ---- replacing ----------------------------------------------------------- */

/* The replacement, moved by as much as the search text was. */
static void put_moved(ws_strbuf *out, const char *replace,
                      const text_line *there, int move) {
  while (*replace) {
    size_t size = strcspn(replace, "\n");
    size_t indent = strspn(replace, " \t");
    bool blank = indent >= size;
    if (move > 0 && !blank)
      ws_strbuf_append(out, there->text - there->indent, (size_t)move);
    size_t drop = move < 0 ? (size_t)-move : 0;
    if (drop > (blank ? size : indent))
      drop = blank ? size : indent;
    ws_strbuf_append(out, replace + drop, size - drop);
    ws_strbuf_puts(out, "\n");
    replace += size + (replace[size] == '\n');
  }
}

/* Where line index begins; the text's end behind the last. */
static const char *line_begin(const line_list *list, int index) {
  if (index >= list->count)
    return list->whole + strlen(list->whole);
  return list->items[index].text - list->items[index].indent;
}

static char *replace_at(const matcher *m, ws_arena *arena, int at,
                        const char *replace) {
  const text_line *there = &m->text.items[at];
  int begin = at - m->first, end = begin + m->search.count;
  ws_strbuf out;
  ws_strbuf_init(&out);
  ws_strbuf_append(&out, m->text.whole,
                   (size_t)(line_begin(&m->text, begin) - m->text.whole));
  put_moved(&out, replace, there,
            there->indent - m->search.items[m->first].indent);
  ws_strbuf_puts(&out, line_begin(&m->text, end));
  char *text = ws_arena_strdup(arena, out.data);
  ws_strbuf_deinit(&out);
  return text;
}

ws_status ws__apply_edit(ws_arena *arena, const char *text, const char *where,
                         const ws_reply_edit *edit, char **out_text,
                         ws_diag *diag) {
  matcher m = {.text = read_lines(arena, text),
               .search = read_lines(arena, edit->search)};
  places found[2] = {{0}, {0}};
  while (m.first < m.search.count && !m.search.items[m.first].size)
    m.first++;
  if (m.first == m.search.count)
    return WS__REPLY_FAIL(diag, edit->line - 1,
                          "the edit's search text is empty");
  make_table(&m, arena);
  find_places(&m, found);
  const places *p = found[0].count ? &found[0] : &found[1];
  if (p->count > 1)
    return fail_ambiguous(&m, p, where, edit, diag);
  if (p->count == 0 || !verify(&m, p->first))
    return fail_missing(&m, arena, where, edit, diag);
  *out_text = replace_at(&m, arena, p->first, edit->replace);
  if (strlen(*out_text) > WS__REPLY_BODY_BYTES)
    return WS__REPLY_FAIL(diag, edit->line - 1,
                          "%s grows to more than %d bytes", where,
                          WS__REPLY_BODY_BYTES);
  return WS_OK;
}
