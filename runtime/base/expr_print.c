/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Expressions as C99 text over long long. Every operator is parenthesised, and
 * what C would give as int is cast, so that arithmetic around it stays long
 * long. Comparisons of equal text and divisions by a literal zero would draw
 * warnings; the first are printed as their result, the second cannot be
 * reached where the expression has a value and are printed as 0.
 */
#include "expr_tree.h"

#include <inttypes.h>
#include <string.h>

/* How a kind is spelled: a two-operand operator, or a function to call. */
static const struct {
  const char *spelling;
  bool is_truth; /* int in C: cast */
  bool is_call;
} forms[] = {
    [NODE_ADD] = {"+", false, false},
    [NODE_SUBTRACT] = {"-", false, false},
    [NODE_MULTIPLY] = {"*", false, false},
    [NODE_DIVIDE] = {"/", false, false},
    [NODE_REMAINDER] = {"%", false, false},
    [NODE_EQUAL] = {"==", true, false},
    [NODE_NOT_EQUAL] = {"!=", true, false},
    [NODE_LESS] = {"<", true, false},
    [NODE_LESS_EQUAL] = {"<=", true, false},
    [NODE_GREATER] = {">", true, false},
    [NODE_GREATER_EQUAL] = {">=", true, false},
    [NODE_AND] = {"&&", true, false},
    [NODE_OR] = {"||", true, false},
    [NODE_MIN] = {"ws_min", false, true},
    [NODE_MAX] = {"ws_max", false, true},
    [NODE_CEILDIV] = {"ws_ceildiv", false, true},
};

static void print_integer(int64_t value, ws_strbuf *out) {
  if (value == INT64_MIN) /* C has no such literal */
    ws_strbuf_puts(out, "(-9223372036854775807LL - 1LL)");
  else
    ws_strbuf_printf(out, value < 0 ? "(%" PRId64 "LL)" : "%" PRId64 "LL",
                     value);
}

static void print(const ws_expr *expr, const struct node *node, ws_strbuf *out);

/* As a condition: compared with 0, because compilers warn of arithmetic that
 * stands as a truth value. */
static void print_truth(const ws_expr *expr, const struct node *node,
                        ws_strbuf *out) {
  ws_strbuf_puts(out, "(");
  print(expr, node, out);
  ws_strbuf_puts(out, " != 0LL)");
}

static void print_binary(const ws_expr *expr, const struct node *node,
                         ws_strbuf *out) {
  const char *spelling = forms[node->kind].spelling;
  bool logic = node->kind == NODE_AND || node->kind == NODE_OR;
  void (*print_operand)(const ws_expr *, const struct node *, ws_strbuf *) =
      logic ? print_truth : print;
  if (forms[node->kind].is_call)
    ws_strbuf_printf(out, "%s(", spelling);
  else
    ws_strbuf_puts(out, forms[node->kind].is_truth ? "((long long)(" : "(");
  print_operand(expr, node->operands[0], out);
  if (forms[node->kind].is_call)
    ws_strbuf_puts(out, ", ");
  else
    ws_strbuf_printf(out, " %s ", spelling);
  print_operand(expr, node->operands[1], out);
  ws_strbuf_puts(out, forms[node->kind].is_truth ? "))" : ")");
}

static void print(const ws_expr *expr, const struct node *node,
                  ws_strbuf *out) {
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
    ws_strbuf_puts(out, "((long long)(");
    print(expr, node->operands[0], out);
    ws_strbuf_puts(out, " == 0LL))");
    break;
  case NODE_CHOOSE:
    ws_strbuf_puts(out, "(");
    print_truth(expr, node->operands[0], out);
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
  print(expr, expr->root, out);
}
