/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Changes of terms. An expression becomes a tree, a node of it is replaced, and
 * the tree is written again with as few parentheses as it needs. New terms and
 * new parts come from forms of what takes time on a card, with names filled in.
 */
#include "evolving.h"

#include <string.h>

/* ---- names ---- */

enum { MOST_NAMES = 96 };

static bool is_listed(const char *const *names, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (!strcmp(names[i], name))
      return true;
  return false;
}

/* Parameters whose values say something: more than one above zero. */
static bool tells(const ws_dispatch_entry *entries, const int *columns,
                  int count, const char *name) {
  int64_t seen = 0;
  for (int i = 0; i < count; i++) {
    const ws_candidate *candidate = entries[columns[i]].candidate;
    const int index = ws_template_param_index(candidate->tmpl, name);
    if (index < 0 || candidate->values[index] <= 0)
      continue;
    if (seen && seen != candidate->values[index])
      return true;
    seen = candidate->values[index];
  }
  return false;
}

ws__vocabulary ws__vocabulary_of(ws_arena *arena, const ws_problem *problem,
                                 const ws_dispatch_entry *entries,
                                 const int *columns, int count) {
  static const char *const always[] = {"A", "B", "D"};
  const char **names = ws_arena_alloc(arena, sizeof *names * MOST_NAMES);
  ws__vocabulary out = {names, 0, 0};
  for (size_t i = 0; i < sizeof always / sizeof *always; i++)
    if (ws__fill_letters(arena, problem, always[i]))
      names[out.count++] = always[i];
  if (!out.count) /* no letter applies */
    for (int d = 0; d < problem->dims->count; d++)
      names[out.count++] = problem->dims->names[d];
  names[out.count++] = "cu_count";
  names[out.count++] = "workgroups";
  names[out.count++] = "resident";
  out.first_parameter = out.count;
  for (int i = 0; i < count; i++) {
    const ws_template *tmpl = entries[columns[i]].candidate->tmpl;
    for (int p = 0; p < tmpl->param_count && out.count < MOST_NAMES; p++) {
      const char *name = tmpl->params[p].name;
      if (!is_listed(names, out.count, name) &&
          tells(entries, columns, count, name))
        names[out.count++] = name;
    }
  }
  return out;
}

/* ---- trees ---- */

typedef struct node {
  const char *operator_; /* NULL: a leaf */
  const char *leaf;
  struct node *operands[3];
  int count;
} node;

static void *new_integer(void *arena, int64_t value) {
  node *n = ws_arena_alloc(arena, sizeof *n);
  n->leaf = ws_arena_printf(arena, "%lld", (long long)value);
  return n;
}

static void *new_name(void *arena, const char *name) {
  node *n = ws_arena_alloc(arena, sizeof *n);
  n->leaf = ws_arena_strdup(arena, name);
  return n;
}

static void *new_operation(void *arena, const char *operator_,
                           void **operands) {
  node *n = ws_arena_alloc(arena, sizeof *n);
  n->operator_ = ws_arena_strdup(arena, operator_);
  n->count = !strcmp(operator_, "!") || !strcmp(operator_, "neg") ? 1
             : !strcmp(operator_, "?:")                           ? 3
                                                                  : 2;
  for (int i = 0; i < n->count; i++)
    n->operands[i] = operands[i];
  return n;
}

/* NULL: it is no expression. */
static node *parse(ws_arena *arena, const char *text) {
  static const ws_expr_visitor visitor = {new_integer, new_name, new_operation};
  ws_expr *expr;
  ws_diag none;
  if (ws_expr_parse(arena, text, "term", 0, &expr, &none) != WS_OK)
    return NULL;
  return ws_expr_visit(expr, &visitor, arena);
}

static int count_nodes(const node *n) {
  int count = 1;
  for (int i = 0; i < n->count; i++)
    count += count_nodes(n->operands[i]);
  return count;
}

int ws__count_parts(const char *text) {
  ws_arena *arena = ws_arena_create();
  const node *tree = parse(arena, text);
  const int count = tree ? count_nodes(tree) : 0;
  ws_arena_destroy(arena);
  return count;
}

/* From the root on, each before its operands. */
static node *node_at(node *n, int *index) {
  if ((*index)-- == 0)
    return n;
  for (int i = 0; i < n->count; i++) {
    node *found = node_at(n->operands[i], index);
    if (found)
      return found;
  }
  return NULL;
}

/* How an operation is written, and how tightly it binds. */
static const struct {
  const char *operator_, *between;
  int binds;
  bool regroups; /* a o (b o c) is a o b o c */
} writings[] = {
    {"*", " * ", 8, true},   {"/", " / ", 8, false},  {"%", " % ", 8, false},
    {"+", " + ", 7, true},   {"-", " - ", 7, false},  {"<", " < ", 6, false},
    {"<=", " <= ", 6, false}, {">", " > ", 6, false},  {">=", " >= ", 6, false},
    {"==", " == ", 5, false}, {"!=", " != ", 5, false}, {"&&", " && ", 4, true},
    {"||", " || ", 3, true},
};
enum { WRITINGS = sizeof writings / sizeof *writings, TIGHT = 9 };

static int writing_of(const char *operator_) {
  int i = 0;
  while (i < WRITINGS && strcmp(writings[i].operator_, operator_))
    i++;
  return i;
}

static void write_node(ws_strbuf *out, const node *n, int least);

static void write_other(ws_strbuf *out, const node *n) {
  if (!n->operator_) {
    ws_strbuf_puts(out, n->leaf);
  } else if (n->count == 1) {
    ws_strbuf_puts(out, *n->operator_ == '!' ? "!" : "-");
    write_node(out, n->operands[0], TIGHT);
  } else if (n->count == 3) {
    ws_strbuf_puts(out, "(");
    write_node(out, n->operands[0], 3);
    ws_strbuf_puts(out, " ? ");
    write_node(out, n->operands[1], 3);
    ws_strbuf_puts(out, " : ");
    write_node(out, n->operands[2], 3);
    ws_strbuf_puts(out, ")");
  } else {
    ws_strbuf_printf(out, "%s(", n->operator_);
    write_node(out, n->operands[0], 0);
    ws_strbuf_puts(out, ", ");
    write_node(out, n->operands[1], 0);
    ws_strbuf_puts(out, ")");
  }
}

static void write_node(ws_strbuf *out, const node *n, int least) {
  const int w = n->count == 2 ? writing_of(n->operator_) : WRITINGS;
  if (w == WRITINGS) {
    write_other(out, n);
    return;
  }
  const int binds = writings[w].binds;
  const node *right = n->operands[1];
  const bool regroups = writings[w].regroups && right->count == 2 &&
                        !strcmp(right->operator_, n->operator_);
  ws_strbuf_puts(out, binds < least ? "(" : "");
  write_node(out, n->operands[0], binds);
  ws_strbuf_puts(out, writings[w].between);
  write_node(out, right, regroups ? binds : binds + 1);
  ws_strbuf_puts(out, binds < least ? ")" : "");
}

static const char *text_of(ws_arena *arena, const node *n) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  write_node(&text, n, 0);
  const char *out = ws_arena_strdup(arena, text.data);
  ws_strbuf_deinit(&text);
  return out;
}

const char *ws__rewrite_term(ws_arena *arena, const char *text) {
  const node *tree = parse(arena, text);
  return tree ? text_of(arena, tree) : text;
}

/* ---- forms ---- */

/* '@' stands for any name or a small number, '$' for a parameter. What a card
 * does in rounds, what it does on all compute units at once, what it moves; of
 * whole tiles, and of what a tile's ends cost. */
static const char *const term_forms[] = {
    "ceildiv(workgroups, cu_count) * @",
    "ceildiv(workgroups, cu_count * @)",
    "ceildiv(workgroups, cu_count * @) * D",
    "ceildiv(workgroups, cu_count) * ceildiv(D, $)",
    "ceildiv(workgroups, cu_count) * ceildiv(D, $) * $",
    "ceildiv(workgroups, cu_count) * $ * $",
    "max(workgroups, cu_count) * @",
    "max(workgroups, cu_count) * ceildiv(D, $) * $",
    "min(workgroups, cu_count) * @",
    "ceildiv(A, $) * ceildiv(B, $) * @",
    "ceildiv(A, $) * $ * ceildiv(B, $) * $ * @",
    "ceildiv(A, $) * B * D",
    "ceildiv(B, $) * A * D",
    "ceildiv(A, $) * $ * B",
    "ceildiv(ceildiv(A, $) * ceildiv(B, $), cu_count) * @",
    "ceildiv(ceildiv(A, $) * ceildiv(B, $) * $, cu_count) * ceildiv(D, $)",
    "ceildiv(D, $)",
    "A * B * $",
    "A * B * D",
    "(A + B) * D",
    "workgroups * @",
    "workgroups * $ * $",
    "max(A * D, @ * D)",
    "@",
    "@ * @",
};

static const char *const part_forms[] = {
    "@",          "@",           "$",          "@ * $",
    "ceildiv(@, @)", "ceildiv(@, $)", "min(@, @)", "max(@, @)",
    "ceildiv(workgroups, cu_count)", "ceildiv(D, $)",
};

/* '~' stands for the node that is there. */
static const char *const wrap_forms[] = {
    "~ * @",      "~ * $",      "ceildiv(~, @)", "ceildiv(~, $)",
    "max(~, @)",  "min(~, @)",  "~ + @",         "ceildiv(~, $) * $",
};

#define PICK(rng, table)                                                       \
  ((table)[ws_rng_below((rng), sizeof(table) / sizeof *(table))])

typedef struct changing {
  ws_arena *arena;
  const ws__vocabulary *vocabulary;
  ws_rng *rng;
  const char *terms[WS_TIME_TERMS_MOST];
  int count;
} changing;

static const char *any_parameter(changing *c) {
  const ws__vocabulary *v = c->vocabulary;
  const int first = v->first_parameter < v->count ? v->first_parameter : 0;
  return v->names[first +
                  (int)ws_rng_below(c->rng, (uint64_t)(v->count - first))];
}

static const char *any_atom(changing *c) {
  static const char *const numbers[] = {"2", "3", "4", "64", "128", "1024"};
  const ws__vocabulary *v = c->vocabulary;
  switch (ws_rng_below(c->rng, 5)) {
  case 0:
    return PICK(c->rng, numbers);
  case 1:
  case 2:
    return any_parameter(c);
  default:
    return v->names[ws_rng_below(c->rng, (uint64_t)v->first_parameter)];
  }
}

static const char *fill(changing *c, const char *form, const char *there) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  for (; *form; form++)
    if (*form == '@')
      ws_strbuf_puts(&text, any_atom(c));
    else if (*form == '$')
      ws_strbuf_puts(&text, any_parameter(c));
    else if (*form == '~')
      ws_strbuf_printf(&text, "(%s)", there);
    else
      ws_strbuf_append(&text, form, 1);
  const char *out = ws_arena_strdup(c->arena, text.data);
  ws_strbuf_deinit(&text);
  return out;
}

/* ---- changes ---- */

static bool has_name(const node *n) {
  bool found = !n->operator_ && !(*n->leaf >= '0' && *n->leaf <= '9');
  for (int i = 0; i < n->count; i++)
    found |= has_name(n->operands[i]);
  return found;
}

/* Arithmetic of numbers alone is what "1" is already. */
static void put(changing *c, int index, const node *tree) {
  const char *text = text_of(c->arena, tree);
  if (has_name(tree) && !is_listed(c->terms, c->count, text))
    c->terms[index] = text;
}

enum { MOST_NODES = 24 }; /* beyond, a term says nothing to a reader */

static void change_part(changing *c, int index) {
  node *tree = parse(c->arena, c->terms[index]);
  if (!tree)
    return;
  int at = (int)ws_rng_below(c->rng, (uint64_t)count_nodes(tree));
  node *part = node_at(tree, &at);
  const char *text = ws_rng_below(c->rng, 2)
                         ? fill(c, PICK(c->rng, part_forms), "")
                         : fill(c, PICK(c->rng, wrap_forms),
                                text_of(c->arena, part));
  const node *fresh = parse(c->arena, text);
  if (!fresh)
    return;
  *part = *fresh;
  if (count_nodes(tree) <= MOST_NODES)
    put(c, index, tree);
}

static void add(changing *c) {
  if (c->count == WS_TIME_TERMS_MOST)
    return;
  const bool copies = c->count && ws_rng_below(c->rng, 3) == 0;
  const int from =
      copies ? (int)ws_rng_below(c->rng, (uint64_t)c->count) : 0;
  const char *text =
      copies ? c->terms[from] : fill(c, PICK(c->rng, term_forms), "");
  if (!copies && is_listed(c->terms, c->count, text))
    return;
  c->terms[c->count++] = text;
  if (!copies)
    return;
  change_part(c, c->count - 1);
  if (c->terms[c->count - 1] == text) /* it was there before */
    c->count--;
}

static void drop(changing *c) {
  if (c->count < 2)
    return;
  const int at = (int)ws_rng_below(c->rng, (uint64_t)c->count);
  memmove(&c->terms[at], &c->terms[at + 1],
          sizeof *c->terms * (size_t)(c->count - at - 1));
  c->count--;
}

static void change(changing *c) {
  switch (ws_rng_below(c->rng, 5)) {
  case 0:
  case 1:
    add(c);
    break;
  case 2:
    drop(c);
    break;
  default:
    change_part(c, (int)ws_rng_below(c->rng, (uint64_t)c->count));
  }
}

const char *ws__mutate_terms(ws_arena *arena, const ws__vocabulary *vocabulary,
                             ws_rng *rng, const char *const *terms, int count) {
  changing c = {.arena = arena, .vocabulary = vocabulary, .rng = rng,
                .count = count};
  const char *out = "";
  memcpy(c.terms, terms, sizeof *terms * (size_t)count);
  do
    change(&c);
  while (ws_rng_below(rng, 3) == 0);
  for (int i = 0; i < c.count; i++)
    out = ws_arena_printf(arena, "%s%s\n", out, c.terms[i]);
  return out;
}
