/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Text to tree: a recursive-descent parser whose binary operators are read by
 * one loop over a table of levels. Recursion is counted, and the text capped,
 * so that no input can exhaust the stack. Each node keeps the range of text it
 * came from, for messages.
 */
#include "expr_tree.h"

#include <ctype.h>
#include <string.h>

enum { TEXT_MAX = 4096, NESTING_MAX = 64 };

/* ---- building -------------------------------------------------------------
 */

struct node *ws__expr_new_node(ws_arena *arena, enum node_kind kind, int begin,
                               int end) {
  struct node *node = ws_arena_alloc(arena, sizeof *node);
  node->kind = kind;
  node->begin = begin;
  node->end = end;
  return node;
}

int ws__expr_intern_name(ws_arena *arena, ws_expr *expr, const char *name,
                         size_t size) {
  for (int i = 0; i < expr->name_count; i++)
    if (strlen(expr->names[i]) == size && !memcmp(expr->names[i], name, size))
      return i;
  if (expr->name_count == expr->name_capacity) {
    int capacity = expr->name_capacity ? 2 * expr->name_capacity : 8;
    const char **names =
        ws_arena_alloc(arena, (size_t)capacity * sizeof *names);
    if (expr->name_count)
      memcpy(names, expr->names, (size_t)expr->name_count * sizeof *names);
    expr->names = names;
    expr->name_capacity = capacity;
  }
  expr->names[expr->name_count] = ws_arena_strndup(arena, name, size);
  return expr->name_count++;
}

/* ---- parsing --------------------------------------------------------------
 */

struct parser {
  ws_arena *arena;
  ws_expr *expr;
  const char *text;
  int position, depth;
  ws_diag *diag;
};

/* Binary operators by level, loosest first. Within a level the longer spelling
 * stands first. */
enum { LEVEL_COUNT = 6, LEVEL_WIDTH = 4 };
static const struct {
  const char *spelling;
  enum node_kind kind;
} levels[LEVEL_COUNT][LEVEL_WIDTH] = {
    {{"||", NODE_OR}},
    {{"&&", NODE_AND}},
    {{"==", NODE_EQUAL}, {"!=", NODE_NOT_EQUAL}},
    {{"<=", NODE_LESS_EQUAL},
     {">=", NODE_GREATER_EQUAL},
     {"<", NODE_LESS},
     {">", NODE_GREATER}},
    {{"+", NODE_ADD}, {"-", NODE_SUBTRACT}},
    {{"*", NODE_MULTIPLY}, {"/", NODE_DIVIDE}, {"%", NODE_REMAINDER}},
};

static const struct {
  const char *name;
  enum node_kind kind;
} functions[] = {
    {"min", NODE_MIN}, {"max", NODE_MAX}, {"ceildiv", NODE_CEILDIV}};

bool ws_expr_is_reserved(const char *name) {
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    if (!strcmp(name, functions[i].name))
      return true;
  return false;
}

static void skip_blanks(struct parser *parser) {
  while (isspace((unsigned char)parser->text[parser->position]))
    parser->position++;
}

static bool accept(struct parser *parser, const char *token) {
  skip_blanks(parser);
  size_t size = strlen(token);
  if (strncmp(parser->text + parser->position, token, size))
    return false;
  parser->position += (int)size;
  return true;
}

static ws_status fail_at(struct parser *parser, const char *expected) {
  skip_blanks(parser);
  const char *rest = parser->text + parser->position;
  const ws_expr *expr = parser->expr;
  if (!*rest)
    return ws_fail(parser->diag, WS_INPUT, expr->file, expr->line,
                   "expected %s at the end of '%.200s'", expected, expr->text);
  return ws_fail(parser->diag, WS_INPUT, expr->file, expr->line,
                 "expected %s before '%.40s' (column %d) in '%.200s'", expected,
                 rest, parser->position + 1, expr->text);
}

static ws_status parse_ternary(struct parser *parser, struct node **out);

/* Every recursion of the grammar passes here. */
static ws_status enter(struct parser *parser) {
  if (++parser->depth <= NESTING_MAX)
    return WS_OK;
  return ws_fail(parser->diag, WS_INPUT, parser->expr->file, parser->expr->line,
                 "nested deeper than %d in '%.200s'; split it", NESTING_MAX,
                 parser->expr->text);
}

static ws_status parse_nested(struct parser *parser, struct node **out) {
  WS_TRY(enter(parser));
  WS_TRY(parse_ternary(parser, out));
  parser->depth--;
  return WS_OK;
}

static ws_status parse_integer(struct parser *parser, struct node **out) {
  int begin = parser->position;
  int64_t value = 0;
  bool overflow = false;
  while (isdigit((unsigned char)parser->text[parser->position])) {
    int digit = parser->text[parser->position++] - '0';
    overflow |= __builtin_mul_overflow(value, 10, &value);
    overflow |= __builtin_add_overflow(value, digit, &value);
  }
  if (overflow)
    return ws_fail(parser->diag, WS_INPUT, parser->expr->file,
                   parser->expr->line,
                   "integer above 9223372036854775807 (column %d) in '%.200s'",
                   begin + 1, parser->expr->text);
  *out =
      ws__expr_new_node(parser->arena, NODE_INTEGER, begin, parser->position);
  (*out)->value = value;
  return WS_OK;
}

static bool is_name_start(char c) {
  return isalpha((unsigned char)c) || c == '_';
}

static bool is_name_part(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static ws_status parse_call(struct parser *parser, enum node_kind kind,
                            int begin, struct node **out) {
  struct node *a = NULL, *b = NULL;
  if (!accept(parser, "("))
    return fail_at(parser, "'(' after a function");
  WS_TRY(parse_nested(parser, &a));
  if (!accept(parser, ","))
    return fail_at(parser, "',' and a second operand");
  WS_TRY(parse_nested(parser, &b));
  if (!accept(parser, ")"))
    return fail_at(parser, "')'");
  *out = ws__expr_new_node(parser->arena, kind, begin, parser->position);
  (*out)->operands[0] = a;
  (*out)->operands[1] = b;
  return WS_OK;
}

static ws_status parse_name(struct parser *parser, struct node **out) {
  int begin = parser->position;
  while (is_name_part(parser->text[parser->position]))
    parser->position++;
  const char *name = parser->text + begin;
  size_t size = (size_t)(parser->position - begin);
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    if (strlen(functions[i].name) == size &&
        !memcmp(functions[i].name, name, size))
      return parse_call(parser, functions[i].kind, begin, out);
  *out = ws__expr_new_node(parser->arena, NODE_NAME, begin, parser->position);
  (*out)->name = ws__expr_intern_name(parser->arena, parser->expr, name, size);
  return WS_OK;
}

static ws_status parse_primary(struct parser *parser, struct node **out) {
  skip_blanks(parser);
  char c = parser->text[parser->position];
  if (isdigit((unsigned char)c))
    return parse_integer(parser, out);
  if (is_name_start(c))
    return parse_name(parser, out);
  if (!accept(parser, "("))
    return fail_at(parser, "an integer, a name or '('");
  int begin = parser->position - 1;
  WS_TRY(parse_nested(parser, out));
  if (!accept(parser, ")"))
    return fail_at(parser, "')' or an operator");
  (*out)->begin = begin;
  (*out)->end = parser->position;
  return WS_OK;
}

static ws_status parse_unary(struct parser *parser, struct node **out) {
  skip_blanks(parser);
  int begin = parser->position;
  bool negate = accept(parser, "-");
  if (!negate && !accept(parser, "!"))
    return parse_primary(parser, out);
  struct node *operand = NULL;
  WS_TRY(enter(parser));
  WS_TRY(parse_unary(parser, &operand));
  parser->depth--;
  *out = ws__expr_new_node(parser->arena, negate ? NODE_NEGATE : NODE_NOT,
                           begin, parser->position);
  (*out)->operands[0] = operand;
  return WS_OK;
}

/* The operator of this level that comes next, or NODE_INTEGER for none. */
static enum node_kind accept_operator(struct parser *parser, int level) {
  for (int i = 0; i < LEVEL_WIDTH && levels[level][i].spelling; i++)
    if (accept(parser, levels[level][i].spelling))
      return levels[level][i].kind;
  return NODE_INTEGER;
}

static ws_status parse_binary(struct parser *parser, int level,
                              struct node **out) {
  if (level == LEVEL_COUNT)
    return parse_unary(parser, out);
  WS_TRY(parse_binary(parser, level + 1, out));
  for (;;) {
    enum node_kind kind = accept_operator(parser, level);
    if (kind == NODE_INTEGER)
      return WS_OK;
    struct node *right = NULL;
    WS_TRY(parse_binary(parser, level + 1, &right));
    struct node *node =
        ws__expr_new_node(parser->arena, kind, (*out)->begin, parser->position);
    node->operands[0] = *out;
    node->operands[1] = right;
    *out = node;
  }
}

static ws_status parse_ternary(struct parser *parser, struct node **out) {
  WS_TRY(parse_binary(parser, 0, out));
  if (!accept(parser, "?"))
    return WS_OK;
  struct node *condition = *out;
  *out = ws__expr_new_node(parser->arena, NODE_CHOOSE, condition->begin, 0);
  (*out)->operands[0] = condition;
  WS_TRY(parse_nested(parser, &(*out)->operands[1]));
  if (!accept(parser, ":"))
    return fail_at(parser, "':' of '? :'");
  WS_TRY(parse_nested(parser, &(*out)->operands[2]));
  (*out)->end = parser->position;
  return WS_OK;
}

ws_status ws_expr_parse(ws_arena *arena, const char *text, const char *file,
                        int line, ws_expr **out_expr, ws_diag *diag) {
  *out_expr = NULL;
  if (strnlen(text, TEXT_MAX + 1) > TEXT_MAX)
    return ws_fail(diag, WS_INPUT, file, line,
                   "expression longer than %d bytes; split it", TEXT_MAX);
  ws_expr *expr = ws_arena_alloc(arena, sizeof *expr);
  expr->text = ws_arena_strdup(arena, text);
  expr->file = ws_arena_strdup(arena, file);
  expr->line = line;
  struct parser parser = {
      .arena = arena, .expr = expr, .text = expr->text, .diag = diag};
  WS_TRY(parse_ternary(&parser, &expr->root));
  skip_blanks(&parser);
  if (parser.text[parser.position])
    return fail_at(&parser, "an operator or the end");
  *out_expr = expr;
  return WS_OK;
}
