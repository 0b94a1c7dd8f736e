/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A walk over an expression for who makes something else of it.
 */
#include "expr_tree.h"

static const char *const operators[] = {[NODE_NEGATE] = "neg",
                                        [NODE_NOT] = "!",
                                        [NODE_ADD] = "+",
                                        [NODE_SUBTRACT] = "-",
                                        [NODE_MULTIPLY] = "*",
                                        [NODE_DIVIDE] = "/",
                                        [NODE_REMAINDER] = "%",
                                        [NODE_EQUAL] = "==",
                                        [NODE_NOT_EQUAL] = "!=",
                                        [NODE_LESS] = "<",
                                        [NODE_LESS_EQUAL] = "<=",
                                        [NODE_GREATER] = ">",
                                        [NODE_GREATER_EQUAL] = ">=",
                                        [NODE_AND] = "&&",
                                        [NODE_OR] = "||",
                                        [NODE_CHOOSE] = "?:",
                                        [NODE_MIN] = "min",
                                        [NODE_MAX] = "max",
                                        [NODE_CEILDIV] = "ceildiv"};

static void *visit(const ws_expr *expr, const struct node *node,
                   const ws_expr_visitor *visitor, void *context) {
  void *operands[NODE_OPERANDS_MAX] = {NULL};
  if (node->kind == NODE_INTEGER)
    return visitor->integer(context, node->value);
  if (node->kind == NODE_NAME)
    return visitor->name(context, expr->names[node->name]);
  for (int i = 0; i < NODE_OPERANDS_MAX && node->operands[i]; i++)
    operands[i] = visit(expr, node->operands[i], visitor, context);
  return visitor->operation(context, operators[node->kind], operands);
}

void *ws_expr_visit(const ws_expr *expr, const ws_expr_visitor *visitor,
                    void *context) {
  return visit(expr, expr->root, visitor, context);
}
