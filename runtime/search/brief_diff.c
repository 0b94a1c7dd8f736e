/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What differs between two texts, line by line: equal ends are set aside, the
 * middles are compared by their longest common subsequence where they are short
 * enough for that and have enough in common. Declarations, comments and empty
 * lines are no differences.
 */
#include "brief_page.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 400, MOST_SHOWN = 100 };

typedef struct line {
  const char *text;
  int size;
} line;

typedef struct lines {
  line *items;
  int count;
} lines;

static bool is_telling(const char *text, size_t size) {
  static const char declare[] = "declare ";
  while (size && (*text == ' ' || *text == '\t'))
    text++, size--;
  return size && *text != ';' && *text != '\r' &&
         !(size >= sizeof declare - 1 &&
           !memcmp(text, declare, sizeof declare - 1));
}

static lines split(const char *text) {
  lines all = {NULL, 0};
  int capacity = 0;
  while (*text) {
    if (all.count == capacity) {
      capacity = capacity ? 2 * capacity : 64;
      all.items = realloc(all.items, sizeof(line) * (size_t)capacity);
      WS_ASSERT(all.items);
    }
    const size_t size = strcspn(text, "\n");
    if (is_telling(text, size))
      all.items[all.count++] = (line){text, (int)size};
    text += size + (text[size] == '\n');
  }
  return all;
}

static bool equal(const line *a, const line *b) {
  return a->size == b->size && !memcmp(a->text, b->text, (size_t)a->size);
}

typedef struct output {
  ws_strbuf *text;
  int left, omitted;
} output;

static void put(output *out, char sign, const line *l) {
  if (out->left > 0)
    ws_strbuf_printf(out->text, "  %c %.*s\n", sign,
                     l->size < MOST_SHOWN ? l->size : MOST_SHOWN, l->text);
  else
    out->omitted++;
  out->left--;
}

static void put_all(output *out, char sign, const line *from, int count) {
  for (int i = 0; i < count; i++)
    put(out, sign, &from[i]);
}

/* common[i][j]: longest common subsequence of a from i on and b from j on. */
typedef short table[MOST_LINES + 1];

static table *common_lines(const line *a, int n, const line *b, int m) {
  table *common = calloc((size_t)n + 1, sizeof *common);
  WS_ASSERT(common);
  for (int i = n - 1; i >= 0; i--)
    for (int j = m - 1; j >= 0; j--)
      common[i][j] = equal(&a[i], &b[j]) ? (short)(common[i + 1][j + 1] + 1)
                     : common[i + 1][j] >= common[i][j + 1] ? common[i + 1][j]
                                                            : common[i][j + 1];
  return common;
}

static void put_changes(table *common, const line *a, int n, const line *b,
                        int m, output *out) {
  int i = 0, j = 0;
  while (i < n || j < m)
    if (i < n && j < m && equal(&a[i], &b[j]))
      i++, j++;
    else if (j == m || (i < n && common[i + 1][j] >= common[i][j + 1]))
      put(out, '-', &a[i++]);
    else
      put(out, '+', &b[j++]);
}

/* Of a text that is new for the most part, only the new one is worth telling.
 */
static void compare(const line *a, int n, const line *b, int m, output *out) {
  table *common =
      n <= MOST_LINES && m <= MOST_LINES ? common_lines(a, n, b, m) : NULL;
  if (common && (n + m <= out->left || 3 * common[0][0] >= n)) {
    put_changes(common, a, n, b, m, out);
  } else {
    ws_strbuf_printf(out->text, "  %d lines became these %d:\n", n, m);
    put_all(out, '+', b, m);
  }
  free(common);
}

void ws__page_diff(const char *before, const char *after, int most,
                   ws_strbuf *text) {
  lines a = split(before), b = split(after);
  output out = {.text = text, .left = most};
  int head = 0, tail = 0;
  while (head < a.count && head < b.count &&
         equal(&a.items[head], &b.items[head]))
    head++;
  while (tail < a.count - head && tail < b.count - head &&
         equal(&a.items[a.count - 1 - tail], &b.items[b.count - 1 - tail]))
    tail++;
  compare(a.items + head, a.count - head - tail, b.items + head,
          b.count - head - tail, &out);
  if (out.omitted)
    ws_strbuf_printf(text, "  ... %d more lines differ\n", out.omitted);
  free(a.items);
  free(b.items);
}
