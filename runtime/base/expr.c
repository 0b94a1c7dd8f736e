/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Evaluating and binding expressions. Both walk the tree that expr_parse.c
 * made; arithmetic is checked, so that a fault is found before it is undefined
 * behaviour, and carries its node up to where it becomes a sentence.
 */
#include "expr_tree.h"

#include <stdio.h>
#include <string.h>

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

static bool divide(const struct node *node, int64_t a, int64_t b, int64_t *out,
                   struct fault *fault) {
  if (b == 0)
    return fault_at(fault, "division by zero", node);
  if (node->kind == NODE_CEILDIV) {
    if (a < 0 || b < 0)
      return fault_at(fault, "negative operand of ceildiv", node);
    *out = a / b + (a % b != 0);
    return true;
  }
  if (a == INT64_MIN && b == -1)
    return fault_at(fault, "overflow", node);
  *out = node->kind == NODE_DIVIDE ? a / b : a % b;
  return true;
}

/* Operators that need both operands. */
static bool apply(const struct node *node, int64_t a, int64_t b, int64_t *out,
                  struct fault *fault) {
  switch (node->kind) {
  case NODE_ADD:
    return !__builtin_add_overflow(a, b, out) ||
           fault_at(fault, "overflow", node);
  case NODE_SUBTRACT:
    return !__builtin_sub_overflow(a, b, out) ||
           fault_at(fault, "overflow", node);
  case NODE_MULTIPLY:
    return !__builtin_mul_overflow(a, b, out) ||
           fault_at(fault, "overflow", node);
  case NODE_DIVIDE:
  case NODE_REMAINDER:
  case NODE_CEILDIV:
    return divide(node, a, b, out, fault);
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
    ws_assert_failed("an operator of two operands", __FILE__, __LINE__);
  }
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
    *out = a != 0;
    if (*out == (node->kind == NODE_OR))
      return true;
    if (!evaluate(expr, node->operands[1], scope, &b, fault))
      return false;
    *out = b != 0;
    return true;
  default:
    return evaluate(expr, node->operands[1], scope, &b, fault) &&
           apply(node, a, b, out, fault);
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

/* The first of the conditions joined by && that does not hold; NULL: all do. */
static const struct node *
failed_of(const ws_expr *expr, const struct node *node, const ws_scope *scope) {
  struct fault fault = {0};
  int64_t value;
  if (node->kind == NODE_AND) {
    const struct node *failed = failed_of(expr, node->operands[0], scope);
    return failed ? failed : failed_of(expr, node->operands[1], scope);
  }
  return evaluate(expr, node, scope, &value, &fault) && value ? NULL : node;
}

/* Without blanks at its end. */
static int length_of(const ws_expr *expr, const struct node *node) {
  int length = node->end - node->begin;
  while (length && expr->text[node->begin + length - 1] == ' ')
    length--;
  return length;
}

bool ws_expr_holds(const ws_expr *expr, const ws_scope *scope, char *out_failed,
                   size_t size) {
  const struct node *failed = failed_of(expr, expr->root, scope);
  if (failed && size)
    snprintf(out_failed, size, "%.*s", length_of(expr, failed),
             expr->text + failed->begin);
  return !failed;
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
      ws__expr_new_node(binder->arena, NODE_INTEGER, like->begin, like->end);
  node->value = value;
  return node;
}

/* What is left of && and || once the other side is known: value != 0, or the
 * value where that is a truth value already. */
static struct node *make_truth(struct binder *binder, struct node *value) {
  if (value->kind == NODE_NOT ||
      (value->kind >= NODE_EQUAL && value->kind <= NODE_OR))
    return value;
  struct node *node = ws__expr_new_node(binder->arena, NODE_NOT_EQUAL,
                                        value->begin, value->end);
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
      ws__expr_new_node(binder->arena, NODE_NAME, node->begin, node->end);
  copy->name =
      ws__expr_intern_name(binder->arena, binder->to, name, strlen(name));
  return copy;
}

/* The node with its operands bound, folded when they are all known and it does
 * not fail. */
static struct node *bind_operands(struct binder *binder,
                                  const struct node *node) {
  struct node *copy =
      ws__expr_new_node(binder->arena, node->kind, node->begin, node->end);
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
        ws__expr_new_node(binder->arena, node->kind, node->begin, node->end);
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
