/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The integer expressions of templates: launch grids, LDS and workspace sizes,
 * constraints. One evaluator for pass, runtime and emitted code.
 *
 *   expr    := or [ '?' expr ':' expr ]
 *   or      := and { '||' and }          and := equal { '&&' equal }
 *   equal   := less { ('=='|'!=') less } less := sum { ('<'|'<='|'>'|'>=') sum
 * } sum     := term { ('+'|'-') term }   term := unary { ('*'|'/'|'%') unary }
 *   unary   := ('-'|'!') unary | primary
 *   primary := integer | name | '(' expr ')'
 *            | ('min'|'max'|'ceildiv') '(' expr ',' expr ')'
 *
 * Values are int64. Comparison and logic give 0 or 1; && || ?: evaluate only
 * the operands they need. '/' and '%' are C's (towards zero); ceildiv(a,b)
 * needs a >= 0 and b > 0. Division by zero and overflow are errors (WS_INPUT),
 * never undefined behaviour. Names are [A-Za-z_][A-Za-z0-9_]*. Text is capped
 * at 4096 bytes and nesting at 64, so that no input can exhaust the stack.
 *
 * Threads: a ws_expr is immutable once parsed; evaluating it is thread-safe.
 */
#ifndef WAVESMITH_EXPR_H
#define WAVESMITH_EXPR_H

#include "wavesmith/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_expr ws_expr;

/* name -> value. A scope borrows everything in it. */
typedef struct ws_binding {
  const char *name;
  int64_t value;
} ws_binding;
typedef struct ws_scope {
  const ws_binding *bindings;
  int count;
} ws_scope;

/* Parses into the arena. file and line say where the text stands (for
 * messages). */
ws_status ws_expr_parse(ws_arena *arena, const char *text, const char *file,
                        int line, ws_expr **out_expr,
                        ws_diag *diag) WS_MUST_CHECK;
/* Is this the name of a function (min, max, ceildiv)? */
bool ws_expr_is_reserved(const char *name);
/* The distinct names an expression uses, in order of first use. */
int ws_expr_name_count(const ws_expr *expr);
const char *ws_expr_name(const ws_expr *expr, int index);
const char *ws_expr_text(const ws_expr *expr);
int ws_expr_line(const ws_expr *expr);

/* WS_INPUT with file:line and the expression's text when a name is not in
 * scope, on division by zero, on overflow, on ceildiv outside its domain. */
ws_status ws_expr_eval(const ws_expr *expr, const ws_scope *scope,
                       int64_t *out_value, ws_diag *diag) WS_MUST_CHECK;

/* Whether a condition holds; one that cannot be evaluated does not. Of terms
 * joined by && the first that does not is written to room of `size` bytes. */
bool ws_expr_holds(const ws_expr *expr, const ws_scope *scope, char *out_failed,
                   size_t size);

/* Replaces names in `scope` by their values and folds; what is left depends
 * on other names only. Folding never hides an error: an operand that would
 * fail is kept and fails at evaluation. */
ws_expr *ws_expr_bind(ws_arena *arena, const ws_expr *expr,
                      const ws_scope *scope);
bool ws_expr_is_constant(const ws_expr *expr, int64_t *out_value);

/* Prints a C99 expression over `long long` variables named as in the
 * expression; ceildiv, min and max become calls of ws_ceildiv, ws_min, ws_max,
 * which the emitted file defines. Fully parenthesised; draws no warning from
 * gcc and clang with -std=c99 -Wall -Wextra -pedantic. For values for which
 * ws_expr_eval fails the text means nothing (it may divide by zero or
 * overflow): whoever emits it keeps such values away. */
void ws_expr_print_c(const ws_expr *expr, ws_strbuf *out);

/* From the leaves up: what the functions return for the operands goes to the
 * operation's, and the root's is returned. Operators are "+" "-" "*" "/" "%"
 * "==" "!=" "<" "<=" ">" ">=" "&&" "||" "!" "?:" "neg" "min" "max" "ceildiv".
 */
typedef struct ws_expr_visitor {
  void *(*integer)(void *context, int64_t value);
  void *(*name)(void *context, const char *name);
  void *(*operation)(void *context, const char *operator_, void **operands);
} ws_expr_visitor;
void *ws_expr_visit(const ws_expr *expr, const ws_expr_visitor *visitor,
                    void *context);

#ifdef __cplusplus
}
#endif
#endif
