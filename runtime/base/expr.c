/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Expressions: parse, evaluate, bind. A recursive-descent parser makes a tree
 * in the arena; binary operators of one level are read by one loop over a
 * table of levels. Evaluation walks the tree with checked arithmetic. Each
 * node keeps the range of text it came from, for messages. Printing as C is in
 * expr_print.c.
 */
#include "expr_tree.h"

#include <ctype.h>
#include <string.h>

enum { TEXT_MAX = 4096, NESTING_MAX = 64 };

/* ---- building -------------------------------------------------------------
 */

static struct node *new_node(ws_arena *arena, enum node_kind kind, int begin,
                             int end) {
  struct node *node = ws_arena_alloc(arena, sizeof *node);
  node->kind = kind;
  node->begin = begin;
  node->end = end;
  return node;
}

static int intern_name(ws_arena *arena, ws_expr *expr, const char *name,
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
  *out = new_node(parser->arena, NODE_INTEGER, begin, parser->position);
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
  *out = new_node(parser->arena, kind, begin, parser->position);
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
  *out = new_node(parser->arena, NODE_NAME, begin, parser->position);
  (*out)->name = intern_name(parser->arena, parser->expr, name, size);
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
  *out = new_node(parser->arena, negate ? NODE_NEGATE : NODE_NOT, begin,
                  parser->position);
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
        new_node(parser->arena, kind, (*out)->begin, parser->position);
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
  *out = new_node(parser->arena, NODE_CHOOSE, condition->begin, 0);
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

int ws_expr_name_count(const ws_expr *expr) { return expr->name_count; }
const char *ws_expr_name(const ws_expr *expr, int index) {
  WS_ASSERT(index >= 0 && index < expr->name_count);
  return expr->names[index];
}
const char *ws_expr_text(const ws_expr *expr) { return expr->text; }
int ws_expr_line(const ws_expr *expr) { return expr->line; }

/* ---- evaluation -----------------------------------------------------------
 */

/* Why an evaluation failed, and in which node. */
struct fault {
  const char *what; /* NULL: a name is not in scope */
  const struct node *node;
};

static bool fault_at(struct fault *fault, const char *what,
                     const struct node *node) {
  *fault = (struct fault){what, node};
  return false;
}

static bool evaluate_arithmetic(const struct node *node, int64_t a, int64_t b,
                                int64_t *out, struct fault *fault) {
  bool overflow = false;
  switch (node->kind) {
  case NODE_ADD:
    overflow = __builtin_add_overflow(a, b, out);
    break;
  case NODE_SUBTRACT:
    overflow = __builtin_sub_overflow(a, b, out);
    break;
  case NODE_MULTIPLY:
    overflow = __builtin_mul_overflow(a, b, out);
    break;
  case NODE_DIVIDE:
  case NODE_REMAINDER:
    if (b == 0)
      return fault_at(fault, "division by zero", node);
    overflow = a == INT64_MIN && b == -1;
    if (!overflow)
      *out = node->kind == NODE_DIVIDE ? a / b : a % b;
    break;
  case NODE_CEILDIV:
    if (b == 0)
      return fault_at(fault, "division by zero", node);
    if (a < 0 || b < 0)
      return fault_at(fault, "negative operand of ceildiv", node);
    *out = a / b + (a % b != 0);
    break;
  default:
    WS_ASSERT(!"not arithmetic");
  }
  return !overflow || fault_at(fault, "overflow", node);
}

static bool lookup(const ws_scope *scope, const char *name, int64_t *out) {
  for (int i = 0; i < scope->count; i++)
    if (scope->bindings[i].name[0] == name[0] &&
        !strcmp(scope->bindings[i].name, name)) {
      *out = scope->bindings[i].value;
      return true;
    }
  return false;
}

static bool evaluate(const ws_expr *expr, const struct node *node,
                     const ws_scope *scope, int64_t *out, struct fault *fault) {
  if (node->kind == NODE_INTEGER) {
    *out = node->value;
    return true;
  }
  if (node->kind == NODE_NAME)
    return lookup(scope, expr->names[node->name], out) ||
           fault_at(fault, NULL, node);
  int64_t a = 0, b = 0;
  if (!evaluate(expr, node->operands[0], scope, &a, fault))
    return false;
  switch (node->kind) {
  case NODE_NEGATE:
    return !__builtin_sub_overflow((int64_t)0, a, out) ||
           fault_at(fault, "overflow", node);
  case NODE_NOT:
    *out = !a;
    return true;
  case NODE_CHOOSE:
    return evaluate(expr, node->operands[a ? 1 : 2], scope, out, fault);
  case NODE_AND:
  case NODE_OR:
    if ((a != 0) == (node->kind == NODE_OR)) {
      *out = a != 0;
      return true;
    }
    break;
  default:
    break;
  }
  if (!evaluate(expr, node->operands[1], scope, &b, fault))
    return false;
  switch (node->kind) {
  case NODE_AND:
  case NODE_OR:
    *out = b != 0;
    return true;
  case NODE_EQUAL:
    *out = a == b;
    return true;
  case NODE_NOT_EQUAL:
    *out = a != b;
    return true;
  case NODE_LESS:
    *out = a < b;
    return true;
  case NODE_LESS_EQUAL:
    *out = a <= b;
    return true;
  case NODE_GREATER:
    *out = a > b;
    return true;
  case NODE_GREATER_EQUAL:
    *out = a >= b;
    return true;
  case NODE_MIN:
    *out = a < b ? a : b;
    return true;
  case NODE_MAX:
    *out = a > b ? a : b;
    return true;
  default:
    return evaluate_arithmetic(node, a, b, out, fault);
  }
}

/* "file:line: division by zero in 'm / (tile_m - 128)'"; the whole expression
 * follows where the fault is only a part of it. */
static ws_status explain(const ws_expr *expr, const struct fault *fault,
                         ws_diag *diag) {
  const struct node *node = fault->node;
  if (!fault->what)
    return ws_fail(diag, WS_INPUT, expr->file, expr->line,
                   "'%s' has no value in '%.200s'", expr->names[node->name],
                   expr->text);
  int size = node->end - node->begin;
  bool whole = size == (int)strlen(expr->text);
  return ws_fail(diag, WS_INPUT, expr->file, expr->line,
                 "%s in '%.*s'%s%.200s%s", fault->what, size < 200 ? size : 200,
                 expr->text + node->begin, whole ? "" : " of '",
                 whole ? "" : expr->text, whole ? "" : "'");
}

ws_status ws_expr_eval(const ws_expr *expr, const ws_scope *scope,
                       int64_t *out_value, ws_diag *diag) {
  struct fault fault = {0};
  *out_value = 0;
  if (evaluate(expr, expr->root, scope, out_value, &fault))
    return WS_OK;
  *out_value = 0;
  return explain(expr, &fault, diag);
}

/* ---- binding --------------------------------------------------------------
 */

struct binder {
  ws_arena *arena;
  const ws_expr *from;
  ws_expr *to;
  const ws_scope *scope;
};

static struct node *make_integer(struct binder *binder, const struct node *like,
                                 int64_t value) {
  struct node *node =
      new_node(binder->arena, NODE_INTEGER, like->begin, like->end);
  node->value = value;
  return node;
}

/* What is left of && and || once the other side is known: value != 0, or the
 * value where that is a truth value already. */
static struct node *make_truth(struct binder *binder, struct node *value) {
  if (value->kind == NODE_NOT ||
      (value->kind >= NODE_EQUAL && value->kind <= NODE_OR))
    return value;
  struct node *node =
      new_node(binder->arena, NODE_NOT_EQUAL, value->begin, value->end);
  node->operands[0] = value;
  node->operands[1] = make_integer(binder, value, 0);
  return node;
}

static struct node *bind(struct binder *binder, const struct node *node);

static struct node *bind_name(struct binder *binder, const struct node *node) {
  int64_t value = 0;
  const char *name = binder->from->names[node->name];
  if (lookup(binder->scope, name, &value))
    return make_integer(binder, node, value);
  struct node *copy =
      new_node(binder->arena, NODE_NAME, node->begin, node->end);
  copy->name = intern_name(binder->arena, binder->to, name, strlen(name));
  return copy;
}

/* The node with its operands bound, folded when they are all known and it does
 * not fail. */
static struct node *bind_operands(struct binder *binder,
                                  const struct node *node) {
  struct node *copy =
      new_node(binder->arena, node->kind, node->begin, node->end);
  bool known = true;
  for (int i = 0; i < NODE_OPERANDS_MAX && node->operands[i]; i++) {
    copy->operands[i] = bind(binder, node->operands[i]);
    known &= copy->operands[i]->kind == NODE_INTEGER;
  }
  struct fault fault;
  int64_t value = 0;
  if (known && evaluate(binder->to, copy, binder->scope, &value, &fault))
    return make_integer(binder, node, value);
  return copy;
}

static struct node *bind(struct binder *binder, const struct node *node) {
  switch (node->kind) {
  case NODE_INTEGER:
    return make_integer(binder, node, node->value);
  case NODE_NAME:
    return bind_name(binder, node);
  case NODE_AND:
  case NODE_OR:
  case NODE_CHOOSE:
    break;
  default:
    return bind_operands(binder, node);
  }
  /* These three decide by their first operand; names of a part that can never
   * be reached must not count as used, so it is not bound at all. */
  struct node *first = bind(binder, node->operands[0]);
  if (first->kind != NODE_INTEGER) {
    struct node *copy =
        new_node(binder->arena, node->kind, node->begin, node->end);
    copy->operands[0] = first;
    for (int i = 1; i < NODE_OPERANDS_MAX && node->operands[i]; i++)
      copy->operands[i] = bind(binder, node->operands[i]);
    return copy;
  }
  bool truth = first->value != 0;
  if (node->kind == NODE_CHOOSE)
    return bind(binder, node->operands[truth ? 1 : 2]);
  if (truth == (node->kind == NODE_OR))
    return make_integer(binder, node, truth);
  struct node *second = bind(binder, node->operands[1]);
  return second->kind == NODE_INTEGER
             ? make_integer(binder, node, second->value != 0)
             : make_truth(binder, second);
}

ws_expr *ws_expr_bind(ws_arena *arena, const ws_expr *expr,
                      const ws_scope *scope) {
  ws_expr *bound = ws_arena_alloc(arena, sizeof *bound);
  bound->text = ws_arena_strdup(arena, expr->text);
  bound->file = ws_arena_strdup(arena, expr->file);
  bound->line = expr->line;
  struct binder binder = {arena, expr, bound, scope};
  bound->root = bind(&binder, expr->root);
  return bound;
}

bool ws_expr_is_constant(const ws_expr *expr, int64_t *out_value) {
  struct fault fault;
  const ws_scope empty = {0};
  return expr->name_count == 0 &&
         evaluate(expr, expr->root, &empty, out_value, &fault);
}
