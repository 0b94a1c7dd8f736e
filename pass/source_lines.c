/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A line scanner for LLVM IR text. IR is not line based, but everyone writes
 * one instruction per line; so a statement starts at the first word of a line
 * outside brackets, unless the line before ended in ',' or '=' or the word can
 * only continue one (`to label`, `cleanup`). Comments, strings (which may hold
 * anything), labels and debug records are stepped over. This is no parser:
 * LLVM has accepted the text before, and the count is compared afterwards.
 */
#include "source_lines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct cursor {
  const char *at, *end;
  const char *row; /* the line's first character */
  int line;
} cursor;

static cursor start_of(const char *text, size_t size) {
  return (cursor){text, text + size, text, 1};
}

static bool is_name_char(char c) {
  return isalnum((unsigned char)c) || (c && strchr("-$._", c));
}

static void step(cursor *c) {
  if (*c->at++ == '\n') {
    c->line++;
    c->row = c->at;
  }
}

/* Steps over one string, one comment, or one character. */
static void step_over(cursor *c) {
  char first = *c->at;
  if (first == '"') {
    do
      step(c);
    while (c->at < c->end && *c->at != '"');
    if (c->at < c->end)
      step(c);
  } else if (first == ';') {
    while (c->at < c->end && *c->at != '\n')
      step(c);
  } else {
    step(c);
  }
}

/* To the next line, over comments and strings that span lines. */
static void next_line(cursor *c) {
  int line = c->line;
  while (c->at < c->end && c->line == line) {
    while (c->at < c->end && *c->at != '\n' && *c->at != '"' && *c->at != ';')
      c->at++;
    if (c->at < c->end)
      step_over(c);
  }
}

static void skip_blanks(cursor *c) {
  while (c->at < c->end && (isspace((unsigned char)*c->at) || *c->at == ';'))
    step_over(c);
}

static bool starts_with(const cursor *c, const char *word) {
  size_t size = strlen(word);
  return (size_t)(c->end - c->at) >= size && !memcmp(c->at, word, size);
}

static bool at_word(const cursor *c, const char *word) {
  size_t size = strlen(word);
  return starts_with(c, word) &&
         (c->at + size == c->end || !is_name_char(c->at[size]));
}

/* Reads `name` or `"name"` at the cursor. */
static void read_name(cursor *c, const char **out_name, size_t *out_size) {
  bool quoted = c->at < c->end && *c->at == '"';
  const char *begin = c->at + quoted;
  if (quoted)
    step_over(c);
  else
    while (c->at < c->end && is_name_char(*c->at))
      step(c);
  *out_name = begin;
  *out_size = (size_t)(c->at - begin) - (quoted ? 1 : 0);
}

/* `name:` or `"name":` at the cursor: moves past it. */
static bool skip_label(cursor *c) {
  cursor ahead = *c;
  const char *name;
  size_t size;
  if (*c->at != '"' && !is_name_char(*c->at))
    return false;
  read_name(&ahead, &name, &size);
  if (ahead.at >= ahead.end || *ahead.at != ':')
    return false;
  ahead.at++;
  *c = ahead;
  return true;
}

/* The cursor stands on the first character of a line, outside brackets. */
static bool starts_instruction(const cursor *c) {
  static const char *const continuations[] = {
      "to",     "cleanup",      "catch",          "filter",
      "unwind", "uselistorder", "uselistorder_bb"};
  for (size_t i = 0; i < sizeof continuations / sizeof *continuations; i++)
    if (at_word(c, continuations[i]))
      return false;
  if (*c->at != '%')
    return isalpha((unsigned char)*c->at);
  cursor ahead = *c;
  const char *name;
  size_t size;
  ahead.at++;
  read_name(&ahead, &name, &size);
  skip_blanks(&ahead);
  return ahead.at < ahead.end && *ahead.at == '=';
}

/* Characters that a scan of a body must look at one by one. */
static bool is_plain(char c) {
  static const bool special[256] = {
      ['\n'] = true, [' '] = true, ['\t'] = true, ['\r'] = true,
      ['"'] = true,  [';'] = true, ['('] = true,  [')'] = true,
      ['['] = true,  [']'] = true, ['{'] = true,  ['}'] = true};
  return !special[(unsigned char)c];
}

/* From behind the '{' to behind the '}'. Writes at most one entry per line. */
static int scan_body(cursor *c, ws_source_place *places) {
  int count = 0, depth = 0, last_line = 0;
  char last = '\n'; /* last significant character */
  while (c->at < c->end) {
    int line_before = c->line;
    skip_blanks(c);
    if (c->at == c->end)
      break;
    bool fresh = c->line != line_before || last == '\n';
    if (fresh && depth == 0 && last != ',' && last != '=') {
      if (skip_label(c)) {
        last = '\n';
        continue;
      }
      if (starts_instruction(c) && c->line != last_line)
        places[count++] =
            (ws_source_place){last_line = c->line, (int)(c->at - c->row) + 1};
    }
    while (c->at < c->end && is_plain(*c->at))
      last = *c->at++;
    if (c->at == c->end || isspace((unsigned char)*c->at) || *c->at == ';')
      continue;
    last = *c->at;
    if (last == '}' && depth == 0) {
      step(c);
      break;
    }
    depth += last == '(' || last == '[' || last == '{';
    depth -= last == ')' || last == ']' || last == '}';
    step_over(c);
  }
  return count;
}

/* Behind the word `define`: name, parameter list, attributes, then '{'. */
static bool scan_header(cursor *c, ws_source_function *function) {
  while (c->at < c->end && *c->at != '@')
    step_over(c);
  if (c->at == c->end)
    return false;
  step(c);
  read_name(c, &function->name, &function->name_size);
  for (int depth = 0; c->at < c->end; step_over(c)) {
    depth += (*c->at == '(') - (*c->at == ')');
    if (*c->at == '{' && depth == 0) {
      step(c);
      return true;
    }
  }
  return false;
}

static size_t count_lines(const char *text, size_t size) {
  size_t lines = 1;
  for (size_t i = 0; i < size; i++)
    lines += text[i] == '\n';
  return lines;
}

ws_source_function *ws_source_functions(ws_arena *arena, const char *text,
                                        size_t size) {
  /* One entry per line at most, so one array serves all functions. */
  ws_source_place *places =
      ws_arena_alloc(arena, count_lines(text, size) * sizeof *places);
  ws_source_function *first = NULL, **link = &first;
  cursor c = start_of(text, size);
  while (c.at < c.end) {
    if (at_word(&c, "define")) {
      ws_source_function *function = ws_arena_alloc(arena, sizeof *function);
      function->line = c.line;
      function->places = places;
      if (!scan_header(&c, function))
        break;
      function->count = scan_body(&c, places);
      places += function->count;
      *link = function;
      link = &function->next;
    }
    next_line(&c);
  }
  return first;
}

int ws_source_column(const char *text, size_t size, int line) {
  const char *at = text, *end = text + size;
  for (int i = 1; at && i < line; i++) {
    at = memchr(at, '\n', (size_t)(end - at));
    at += at != NULL;
  }
  for (const char *row = at; at && at < end && *at != '\n'; at++)
    if (!isspace((unsigned char)*at))
      return (int)(at - row) + 1;
  return 0;
}

/* `!12 = ...`: where a numbered node is defined. */
typedef struct node_line {
  long id;
  int line;
} node_line;

static int compare_nodes(const void *a, const void *b) {
  long left = ((const node_line *)a)->id, right = ((const node_line *)b)->id;
  return (left > right) - (left < right);
}

/* Digits at the cursor; -1 when there are none or too many. */
static long read_number(cursor *c) {
  long value = 0;
  const char *begin = c->at;
  for (; c->at < c->end && isdigit((unsigned char)*c->at); c->at++)
    if (c->at - begin < 9)
      value = value * 10 + (*c->at - '0');
  return c->at == begin || c->at - begin > 9 ? -1 : value;
}

/* Behind '=': collects N of every `!N` up to the closing brace. */
static void read_operands(cursor *c, ws_arena *arena,
                          ws_source_metadata *metadata) {
  cursor ahead = *c;
  int count = 0;
  for (; ahead.at < ahead.end && *ahead.at != '}'; step_over(&ahead))
    count += *ahead.at == '!';
  metadata->ids = ws_arena_alloc(arena, (size_t)count * sizeof(long));
  while (c->at < ahead.at) {
    if (*c->at == '!' && c->at + 1 < c->end &&
        isdigit((unsigned char)c->at[1])) {
      c->at++;
      metadata->ids[metadata->count++] = read_number(c);
    } else {
      step_over(c);
    }
  }
}

/* At a '!' that starts a line. */
static void read_definition(cursor *c, ws_arena *arena, node_line *nodes,
                            int *node_count, ws_source_metadata ***link) {
  int line = c->line;
  c->at++;
  if (c->at < c->end && isdigit((unsigned char)*c->at)) {
    nodes[(*node_count)++] = (node_line){read_number(c), line};
    return;
  }
  ws_source_metadata *metadata = ws_arena_alloc(arena, sizeof *metadata);
  read_name(c, &metadata->name, &metadata->name_size);
  metadata->line = line;
  read_operands(c, arena, metadata);
  **link = metadata;
  *link = &metadata->next;
}

ws_source_metadata *ws_source_named_metadata(ws_arena *arena, const char *text,
                                             size_t size) {
  node_line *nodes =
      ws_arena_alloc(arena, count_lines(text, size) * sizeof *nodes);
  int node_count = 0;
  ws_source_metadata *first = NULL, **link = &first;
  cursor c = start_of(text, size);
  while (c.at < c.end) {
    if (*c.at == '!')
      read_definition(&c, arena, nodes, &node_count, &link);
    next_line(&c);
  }
  qsort(nodes, (size_t)node_count, sizeof *nodes, compare_nodes);
  for (ws_source_metadata *m = first; m; m = m->next) {
    m->lines = ws_arena_alloc(arena, (size_t)m->count * sizeof *m->lines);
    for (int i = 0; i < m->count; i++) {
      node_line key = {m->ids[i], 0};
      node_line *found = bsearch(&key, nodes, (size_t)node_count, sizeof *nodes,
                                 compare_nodes);
      m->lines[i] = found ? found->line : m->line;
    }
  }
  return first;
}
