/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Expressions as C99 text over long long, for files that others compile with
 * all warnings on. Every operator is parenthesised, and a truth value is
 * spelled as a choice of 1LL and 0LL, so that arithmetic around it stays long
 * long. Compilers warn of some things that are right but odd; these are
 * printed as what they come to: constant parts and a comparison of equal
 * operands as their value, and a part that fails whenever it is reached
 * (x / 0) as 0, which no evaluation that has a value can see.
 */
#include "expr_tree.h"

#include <inttypes.h>
#include <stdio.h>

/* How a kind is spelled, and of what sort it is. */
enum form_sort { FORM_ARITHMETIC, FORM_COMPARISON, FORM_LOGIC, FORM_CALL };
static const struct {
  const char *spelling;
  enum form_sort sort;
  bool of_equals; /* FORM_COMPARISON: its value when both sides are equal */
} forms[] = {
    [NODE_ADD] = {"+", FORM_ARITHMETIC, false},
    [NODE_SUBTRACT] = {"-", FORM_ARITHMETIC, false},
    [NODE_MULTIPLY] = {"*", FORM_ARITHMETIC, false},
    [NODE_DIVIDE] = {"/", FORM_ARITHMETIC, false},
    [NODE_REMAINDER] = {"%", FORM_ARITHMETIC, false},
    [NODE_EQUAL] = {"==", FORM_COMPARISON, true},
    [NODE_NOT_EQUAL] = {"!=", FORM_COMPARISON, false},
    [NODE_LESS] = {"<", FORM_COMPARISON, false},
    [NODE_LESS_EQUAL] = {"<=", FORM_COMPARISON, true},
    [NODE_GREATER] = {">", FORM_COMPARISON, false},
    [NODE_GREATER_EQUAL] = {">=", FORM_COMPARISON, true},
    [NODE_AND] = {"&&", FORM_LOGIC, false},
    [NODE_OR] = {"||", FORM_LOGIC, false},
    [NODE_MIN] = {"ws_min", FORM_CALL, false},
    [NODE_MAX] = {"ws_max", FORM_CALL, false},
    [NODE_CEILDIV] = {"ws_ceildiv", FORM_CALL, false},
};

static bool same(const struct node *a, const struct node *b) {
  if (!a || !b)
    return a == b;
  if (a->kind != b->kind || a->value != b->value || a->name != b->name)
    return false;
  for (int i = 0; i < NODE_OPERANDS_MAX; i++)
    if (!same(a->operands[i], b->operands[i]))
      return false;
  return true;
}

static bool is_zero(const struct node *node) {
  return node->kind == NODE_INTEGER && node->value == 0;
}

/* Does this fail whenever it is reached? In a folded tree, an operator whose
 * operands are all known is left only where it fails. */
static bool always_fails(const struct node *node) {
  if (node->kind == NODE_DIVIDE || node->kind == NODE_REMAINDER)
    if (is_zero(node->operands[1]))
      return true;
  if (!node->operands[0] || node->kind == NODE_AND || node->kind == NODE_OR ||
      node->kind == NODE_CHOOSE)
    return false;
  for (int i = 0; i < NODE_OPERANDS_MAX && node->operands[i]; i++)
    if (node->operands[i]->kind != NODE_INTEGER)
      return false;
  return true;
}

static void print_integer(int64_t value, ws_strbuf *out) {
  if (value == INT64_MIN) /* C has no such literal */
    ws_strbuf_puts(out, "(-9223372036854775807LL - 1LL)");
  else
    ws_strbuf_printf(out, value < 0 ? "(%" PRId64 "LL)" : "%" PRId64 "LL",
                     value);
}

static void print(const ws_expr *expr, const struct node *node, ws_strbuf *out);
static void print_condition(const ws_expr *expr, const struct node *node,
                            ws_strbuf *out);

static void print_pair(const ws_expr *expr, const struct node *node,
                       const char *separator,
                       void (*print_operand)(const ws_expr *,
                                             const struct node *, ws_strbuf *),
                       ws_strbuf *out) {
  ws_strbuf_puts(out, "(");
  print_operand(expr, node->operands[0], out);
  ws_strbuf_puts(out, separator);
  print_operand(expr, node->operands[1], out);
  ws_strbuf_puts(out, ")");
}

static void print_operator(const ws_expr *expr, const struct node *node,
                           ws_strbuf *out) {
  char separator[8];
  snprintf(separator, sizeof separator, " %s ", forms[node->kind].spelling);
  bool logic = forms[node->kind].sort == FORM_LOGIC;
  print_pair(expr, node, separator, logic ? print_condition : print, out);
}

/* An int that is zero or not, as ?: && || take it. */
static void print_condition(const ws_expr *expr, const struct node *node,
                            ws_strbuf *out) {
  enum form_sort sort = node->operands[1] ? forms[node->kind].sort : FORM_CALL;
  if ((sort == FORM_COMPARISON && !same(node->operands[0], node->operands[1]) &&
       !always_fails(node)) ||
      sort == FORM_LOGIC) {
    print_operator(expr, node, out);
    return;
  }
  ws_strbuf_puts(out, "(");
  print(expr, node, out);
  ws_strbuf_puts(out, " != 0LL)");
}

static void print_binary(const ws_expr *expr, const struct node *node,
                         ws_strbuf *out) {
  switch (forms[node->kind].sort) {
  case FORM_CALL:
    ws_strbuf_puts(out, forms[node->kind].spelling);
    print_pair(expr, node, ", ", print, out);
    break;
  case FORM_ARITHMETIC:
    print_operator(expr, node, out);
    break;
  case FORM_COMPARISON:
    if (same(node->operands[0], node->operands[1])) {
      print_integer(forms[node->kind].of_equals, out);
      break;
    }
    /* fall through */
  case FORM_LOGIC:
    ws_strbuf_puts(out, "(");
    print_operator(expr, node, out);
    ws_strbuf_puts(out, " ? 1LL : 0LL)");
    break;
  }
}

static void print(const ws_expr *expr, const struct node *node,
                  ws_strbuf *out) {
  if (always_fails(node)) {
    print_integer(0, out);
    return;
  }
  switch (node->kind) {
  case NODE_INTEGER:
    print_integer(node->value, out);
    break;
  case NODE_NAME:
    ws_strbuf_puts(out, expr->names[node->name]);
    break;
  case NODE_NEGATE:
    ws_strbuf_puts(out, "(-");
    print(expr, node->operands[0], out);
    ws_strbuf_puts(out, ")");
    break;
  case NODE_NOT:
    ws_strbuf_puts(out, "(");
    print_condition(expr, node->operands[0], out);
    ws_strbuf_puts(out, " ? 0LL : 1LL)");
    break;
  case NODE_CHOOSE:
    ws_strbuf_puts(out, "(");
    print_condition(expr, node->operands[0], out);
    ws_strbuf_puts(out, " ? ");
    print(expr, node->operands[1], out);
    ws_strbuf_puts(out, " : ");
    print(expr, node->operands[2], out);
    ws_strbuf_puts(out, ")");
    break;
  default:
    print_binary(expr, node, out);
  }
}

void ws_expr_print_c(const ws_expr *expr, ws_strbuf *out) {
  const ws_scope nothing = {0};
  ws_arena *arena = ws_arena_create();
  const ws_expr *folded = ws_expr_bind(arena, expr, &nothing);
  print(folded, folded->root, out);
  ws_arena_destroy(arena);
}
