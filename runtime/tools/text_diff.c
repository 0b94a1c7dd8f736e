/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Unified differences: the shortest edit script by the greedy algorithm of
 * E. Myers, "An O(ND) difference algorithm and its variations" (1986), on what
 * is left when equal beginnings and ends are taken off. Furthest points are
 * kept per number of edits to walk back from the end. Texts that differ in more
 * than MOST_EDITS lines are shown as all of one against all of the other.
 */
#include "text_diff.h"

#include <string.h>

enum { CONTEXT = 3, MOST_EDITS = 2000 };

typedef struct line {
  const char *text;
  size_t size; /* without the line end */
  bool ended;  /* false: the last, and it has no line end */
} line;

typedef struct lines {
  line *items;
  int count;
} lines;

/* One line of the script. */
typedef struct edit {
  char kind; /* ' ', '-', '+' */
  int old_index, new_index;
} edit;

typedef struct script {
  edit *items;
  int count;
} script;

static lines split(ws_arena *arena, const char *text) {
  int count = 0;
  for (const char *c = text; *c; c++)
    count += *c == '\n' || !c[1];
  lines result = {.items = ws_arena_alloc(arena, sizeof(line) * (size_t)count)};
  while (*text) {
    size_t size = strcspn(text, "\n");
    bool ended = text[size] == '\n';
    result.items[result.count++] = (line){text, size, ended};
    text += size + ended;
  }
  return result;
}

static bool equal(const line *a, const line *b) {
  return a->size == b->size && a->ended == b->ended &&
         !memcmp(a->text, b->text, a->size);
}

/* ---- the shortest script ---- */
typedef struct myers {
  ws_arena *arena;
  const line *a, *b;
  int a_count, b_count;
  int **furthest; /* by edits d, then diagonal k + d: x */
} myers;

/* Whether the step to diagonal k with d edits comes from above (an insertion),
 * not from the left. */
static bool comes_from_above(const int *before, int k, int d) {
  int at = k + d - 1; /* index of diagonal k with d - 1 edits */
  return k == -d || (k != d && before[at - 1] < before[at + 1]);
}

static int step(const myers *m, int k, int d) {
  int x = 0;
  if (d > 0) {
    const int *before = m->furthest[d - 1];
    int at = k + d - 1;
    x = comes_from_above(before, k, d) ? before[at + 1] : before[at - 1] + 1;
  }
  while (x < m->a_count && x - k < m->b_count && equal(&m->a[x], &m->b[x - k]))
    x++;
  return x;
}

/* The number of edits; -1: more than MOST_EDITS. */
static int search(myers *m) {
  m->furthest =
      ws_arena_alloc(m->arena, sizeof *m->furthest * (MOST_EDITS + 1));
  for (int d = 0; d <= MOST_EDITS; d++) {
    m->furthest[d] =
        ws_arena_alloc(m->arena, sizeof(int) * (size_t)(2 * d + 1));
    for (int k = -d; k <= d; k += 2) {
      int x = step(m, k, d);
      m->furthest[d][k + d] = x;
      if (x >= m->a_count && x - k >= m->b_count)
        return d;
    }
  }
  return -1;
}

/* Appends the script of the middle, backwards. */
static void walk_back(const myers *m, int edits, script *out) {
  int x = m->a_count, y = m->b_count;
  for (int d = edits; d >= 0; d--) {
    int k = x - y, start_x = 0, start_y = 0;
    bool above = false;
    if (d > 0) {
      const int *before = m->furthest[d - 1];
      above = comes_from_above(before, k, d);
      start_x = above ? before[k + d] : before[k + d - 2] + 1;
      start_y = start_x - k;
    }
    while (x > start_x && y > start_y)
      out->items[out->count++] = (edit){' ', --x, --y};
    if (d > 0 && above)
      out->items[out->count++] = (edit){'+', x, --y};
    else if (d > 0)
      out->items[out->count++] = (edit){'-', --x, y};
  }
}

static void replace_all(const myers *m, script *out) {
  for (int y = m->b_count; y > 0; y--)
    out->items[out->count++] = (edit){'+', m->a_count, y - 1};
  for (int x = m->a_count; x > 0; x--)
    out->items[out->count++] = (edit){'-', x - 1, 0};
}

static void reverse(edit *items, int count) {
  for (int i = 0, j = count - 1; i < j; i++, j--) {
    edit swapped = items[i];
    items[i] = items[j];
    items[j] = swapped;
  }
}

static script find_script(ws_arena *arena, const lines *a, const lines *b) {
  script result = {
      .items = ws_arena_alloc(arena, sizeof(edit) *
                                         (size_t)(a->count + b->count + 1))};
  int head = 0, tail = 0;
  while (head < a->count && head < b->count &&
         equal(&a->items[head], &b->items[head]))
    head++;
  while (tail < a->count - head && tail < b->count - head &&
         equal(&a->items[a->count - 1 - tail], &b->items[b->count - 1 - tail]))
    tail++;
  myers m = {.arena = arena,
             .a = a->items + head,
             .b = b->items + head,
             .a_count = a->count - head - tail,
             .b_count = b->count - head - tail};
  int edits = search(&m);
  for (int i = 0; i < head; i++)
    result.items[result.count++] = (edit){' ', i, i};
  int middle = result.count;
  if (edits >= 0)
    walk_back(&m, edits, &result);
  else
    replace_all(&m, &result);
  reverse(result.items + middle, result.count - middle);
  for (int i = middle; i < result.count; i++) {
    result.items[i].old_index += head;
    result.items[i].new_index += head;
  }
  for (int i = tail; i > 0; i--)
    result.items[result.count++] = (edit){' ', a->count - i, b->count - i};
  return result;
}

/* ---- hunks ---- */
/* "12,3"; of no lines the line before, as diff has it. */
static void print_range(ws_strbuf *out, int first, int count) {
  if (count == 1)
    ws_strbuf_printf(out, "%d", first + 1);
  else
    ws_strbuf_printf(out, "%d,%d", count ? first + 1 : first, count);
}

static void print_edit(ws_strbuf *out, const edit *e, const lines *a,
                       const lines *b) {
  const line *shown =
      e->kind == '+' ? &b->items[e->new_index] : &a->items[e->old_index];
  ws_strbuf_printf(out, "%c", e->kind);
  ws_strbuf_append(out, shown->text, shown->size);
  ws_strbuf_puts(out, shown->ended ? "\n" : "\n\\ No newline at end of file\n");
}

static void print_hunk(ws_strbuf *out, const edit *items, int count,
                       const lines *a, const lines *b) {
  int old_count = 0, new_count = 0;
  for (int i = 0; i < count; i++) {
    old_count += items[i].kind != '+';
    new_count += items[i].kind != '-';
  }
  ws_strbuf_puts(out, "@@ -");
  print_range(out, items[0].old_index, old_count);
  ws_strbuf_puts(out, " +");
  print_range(out, items[0].new_index, new_count);
  ws_strbuf_puts(out, " @@\n");
  for (int i = 0; i < count; i++)
    print_edit(out, &items[i], a, b);
}

/* The first edit that changes something, from on; count: none. */
static int next_change(const script *s, int from) {
  while (from < s->count && s->items[from].kind == ' ')
    from++;
  return from;
}

/* The end of the hunk whose last change is before `end`: changes that are close
 * enough to share their context belong to it. */
static int hunk_end(const script *s, int change) {
  int end = change;
  for (;;) {
    while (end < s->count && s->items[end].kind != ' ')
      end++;
    int next = next_change(s, end);
    if (next == s->count || next - end > 2 * CONTEXT)
      return end + CONTEXT < s->count ? end + CONTEXT : s->count;
    end = next;
  }
}

void text_diff(ws_strbuf *out, const char *old_name, const char *new_name,
               const char *old_text, const char *new_text) {
  if (!strcmp(old_text, new_text))
    return;
  ws_arena *arena = ws_arena_create();
  lines a = split(arena, old_text), b = split(arena, new_text);
  script s = find_script(arena, &a, &b);
  ws_strbuf_printf(out, "--- %s\n+++ %s\n", old_name, new_name);
  for (int change = next_change(&s, 0); change < s.count;) {
    int begin = change > CONTEXT ? change - CONTEXT : 0;
    int end = hunk_end(&s, change);
    print_hunk(out, s.items + begin, end - begin, &a, &b);
    change = next_change(&s, end);
  }
  ws_arena_destroy(arena);
}
