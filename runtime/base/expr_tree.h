/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The tree behind ws_expr, shared by expr_parse.c, expr.c (evaluate, bind) and
 * expr_print.c (print as C).
 */
#ifndef WAVESMITH_EXPR_TREE_H
#define WAVESMITH_EXPR_TREE_H

#include "wavesmith/expr.h"

/* NODE_EQUAL to NODE_OR give 0 or 1, as NODE_NOT does. */
enum node_kind {
  NODE_INTEGER,
  NODE_NAME,
  NODE_NEGATE,
  NODE_NOT,
  NODE_ADD,
  NODE_SUBTRACT,
  NODE_MULTIPLY,
  NODE_DIVIDE,
  NODE_REMAINDER,
  NODE_EQUAL,
  NODE_NOT_EQUAL,
  NODE_LESS,
  NODE_LESS_EQUAL,
  NODE_GREATER,
  NODE_GREATER_EQUAL,
  NODE_AND,
  NODE_OR,
  NODE_CHOOSE,
  NODE_MIN,
  NODE_MAX,
  NODE_CEILDIV
};

enum { NODE_OPERANDS_MAX = 3 };

struct node {
  enum node_kind kind;
  int name;       /* NODE_NAME: index into ws_expr.names */
  int begin, end; /* range of ws_expr.text */
  int64_t value;  /* NODE_INTEGER */
  struct node *operands[NODE_OPERANDS_MAX]; /* NULL behind the last */
};

struct ws_expr {
  const char *text, *file;
  int line;
  struct node *root;
  const char **names;
  int name_count, name_capacity;
};

/* A node without operands, for the range [begin, end) of the text. */
struct node *ws__expr_new_node(ws_arena *arena, enum node_kind kind, int begin,
                               int end);
/* The index of a name in expr->names, which it joins if it is new. */
int ws__expr_intern_name(ws_arena *arena, ws_expr *expr, const char *name,
                         size_t size);

#endif
