/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Random expressions against two oracles: an evaluator of this file that works
 * on its own trees in 128-bit arithmetic, and the C compiler, which gets what
 * ws_expr_print_c prints, with all warnings as errors.
 */
#include "wavesmith/expr.h"
#include "ws_test_directory.h"

typedef __int128 wide;

enum { NAME_COUNT = 4 };
static const char *const names[NAME_COUNT] = {"m", "n", "k", "tile"};

enum operation {
  LITERAL,
  NAME,
  NEGATE,
  NOT,
  CHOOSE,
  MIN,
  MAX,
  CEILDIV,
  ADD,
  SUBTRACT,
  MULTIPLY,
  DIVIDE,
  REMAINDER,
  LESS,
  LESS_EQUAL,
  GREATER,
  GREATER_EQUAL,
  EQUAL,
  NOT_EQUAL,
  AND,
  OR,
  OPERATION_COUNT
};
static const struct {
  const char *before, *between;
  int precedence; /* as in C; 0: never needs parentheses as an operand */
} shapes[OPERATION_COUNT] = {
    [NEGATE] = {"-", "", 11},
    [NOT] = {"!", "", 11},
    [CHOOSE] = {"", "?", 1},
    [MIN] = {"min(", ",", 0},
    [MAX] = {"max(", ",", 0},
    [CEILDIV] = {"ceildiv(", ",", 0},
    [ADD] = {"", "+", 9},
    [SUBTRACT] = {"", "-", 9},
    [MULTIPLY] = {"", "*", 10},
    [DIVIDE] = {"", "/", 10},
    [REMAINDER] = {"", "%", 10},
    [LESS] = {"", "<", 8},
    [LESS_EQUAL] = {"", "<=", 8},
    [GREATER] = {"", ">", 8},
    [GREATER_EQUAL] = {"", ">=", 8},
    [EQUAL] = {"", "==", 7},
    [NOT_EQUAL] = {"", "!=", 7},
    [AND] = {"", "&&", 3},
    [OR] = {"", "||", 2},
};

struct tree {
  enum operation operation;
  int64_t literal;
  int name;
  struct tree *operands[3];
};

static const int64_t interesting[] = {0,    1,    2,     3,          7,
                                      16,   64,   127,   128,        576,
                                      4096, 7168, 65536, 2147483647, INT64_MAX};

static struct tree *grow(ws_arena *arena, ws_rng *rng, int depth) {
  struct tree *tree = ws_arena_alloc(arena, sizeof *tree);
  tree->operation = depth == 0
                        ? (enum operation)ws_rng_below(rng, 2)
                        : (enum operation)ws_rng_below(rng, OPERATION_COUNT);
  tree->name = (int)ws_rng_below(rng, NAME_COUNT);
  tree->literal =
      interesting[ws_rng_below(rng, ws_rng_below(rng, 4) ? 12 : 15)];
  int operands = tree->operation <= NAME     ? 0
                 : tree->operation <= NOT    ? 1
                 : tree->operation == CHOOSE ? 3
                                             : 2;
  for (int i = 0; i < operands; i++)
    tree->operands[i] =
        grow(arena, rng, (int)ws_rng_below(rng, (uint64_t)depth));
  return tree;
}

/* Writes with parentheses only where C's precedence needs them, so that the
 * parser's precedence is tested too. */
static void write_tree(const struct tree *tree, int outer, ws_strbuf *out) {
  int precedence = shapes[tree->operation].precedence;
  bool parenthesis = precedence && precedence < outer;
  if (parenthesis)
    ws_strbuf_puts(out, "(");
  switch (tree->operation) {
  case LITERAL:
    ws_strbuf_printf(out, "%lld", (long long)tree->literal);
    break;
  case NAME:
    ws_strbuf_puts(out, names[tree->name]);
    break;
  case NEGATE:
  case NOT:
    ws_strbuf_puts(out, shapes[tree->operation].before);
    write_tree(tree->operands[0], precedence, out);
    break;
  case CHOOSE:
    write_tree(tree->operands[0], precedence + 1, out);
    ws_strbuf_puts(out, " ? ");
    write_tree(tree->operands[1], 0, out);
    ws_strbuf_puts(out, ":");
    write_tree(tree->operands[2], precedence, out);
    break;
  default:
    ws_strbuf_puts(out, shapes[tree->operation].before);
    write_tree(tree->operands[0], precedence, out);
    ws_strbuf_printf(out, " %s ", shapes[tree->operation].between);
    write_tree(tree->operands[1], precedence ? precedence + 1 : 0, out);
    if (!precedence)
      ws_strbuf_puts(out, ")");
  }
  if (parenthesis)
    ws_strbuf_puts(out, ")");
}

/* false when the expression has no value. */
static bool compute(const struct tree *tree, const int64_t *values, wide *out) {
  wide a = 0, b = 0;
  if (tree->operation == LITERAL || tree->operation == NAME) {
    *out = tree->operation == LITERAL ? tree->literal : values[tree->name];
    return true;
  }
  if (!compute(tree->operands[0], values, &a))
    return false;
  if (tree->operation == CHOOSE)
    return compute(tree->operands[a != 0 ? 1 : 2], values, out);
  if ((tree->operation == AND && a == 0) || (tree->operation == OR && a != 0)) {
    *out = a != 0;
    return true;
  }
  if (tree->operands[1] && !compute(tree->operands[1], values, &b))
    return false;
  bool divides = tree->operation == DIVIDE || tree->operation == REMAINDER;
  if (divides && (b == 0 || (a == INT64_MIN && b == -1)))
    return false;
  if (tree->operation == CEILDIV && (a < 0 || b <= 0))
    return false;
  switch (tree->operation) {
  case NEGATE:
    *out = -a;
    break;
  case NOT:
    *out = a == 0;
    break;
  case MIN:
    *out = a < b ? a : b;
    break;
  case MAX:
    *out = a > b ? a : b;
    break;
  case CEILDIV:
    *out = (a + b - 1) / b;
    break;
  case ADD:
    *out = a + b;
    break;
  case SUBTRACT:
    *out = a - b;
    break;
  case MULTIPLY:
    *out = a * b;
    break;
  case DIVIDE:
    *out = a / b;
    break;
  case REMAINDER:
    *out = a % b;
    break;
  case LESS:
    *out = a < b;
    break;
  case LESS_EQUAL:
    *out = a <= b;
    break;
  case GREATER:
    *out = a > b;
    break;
  case GREATER_EQUAL:
    *out = a >= b;
    break;
  case EQUAL:
    *out = a == b;
    break;
  case NOT_EQUAL:
    *out = a != b;
    break;
  default:
    *out = b != 0;
    break; /* && and || whose first operand was passed */
  }
  return *out >= INT64_MIN && *out <= INT64_MAX;
}

static void random_values(ws_rng *rng, int64_t *values) {
  for (int i = 0; i < NAME_COUNT; i++) {
    values[i] = interesting[ws_rng_below(rng, 15)];
    if (ws_rng_below(rng, 5) == 0)
      values[i] = -values[i] - (int64_t)ws_rng_below(rng, 2);
  }
}

static ws_scope scope_of(const int64_t *values, int first, int count,
                         ws_binding *bindings) {
  for (int i = 0; i < count; i++)
    bindings[i] = (ws_binding){names[first + i], values[first + i]};
  return (ws_scope){bindings, count};
}

WS_TEST(evaluation_agrees_with_128_bit_arithmetic) {
  ws_rng rng;
  ws_rng_init(&rng, 11);
  int with_value = 0, without_value = 0;
  for (int round = 0; round < 40000; round++) {
    ws_arena *arena = ws_arena_create();
    struct tree *tree = grow(arena, &rng, 5);
    ws_strbuf text;
    ws_strbuf_init(&text);
    write_tree(tree, 0, &text);
    ws_expr *expr;
    ws_diag diag = {""};
    if (ws_expr_parse(arena, text.data, "f", 1, &expr, &diag) != WS_OK)
      WS_FAIL("%s", diag.text);
    int64_t values[NAME_COUNT], got = 0, bound_got = 0;
    random_values(&rng, values);
    ws_binding bindings[NAME_COUNT];
    wide want = 0;
    bool valid = compute(tree, values, &want);
    ws_scope all = scope_of(values, 0, NAME_COUNT, bindings);
    ws_status status = ws_expr_eval(expr, &all, &got, &diag);
    if ((status == WS_OK) != valid || (valid && got != want))
      WS_FAIL("%s: status %d value %lld, want %d %lld (m %lld n %lld k %lld "
              "tile %lld)",
              text.data, status, (long long)got, valid, (long long)want,
              (long long)values[0], (long long)values[1], (long long)values[2],
              (long long)values[3]);
    /* Bound to some of the names, then evaluated with the others: the same. */
    int split = (int)ws_rng_below(&rng, NAME_COUNT + 1);
    ws_scope first = scope_of(values, 0, split, bindings);
    const ws_expr *bound = ws_expr_bind(arena, expr, &first);
    ws_scope rest = scope_of(values, split, NAME_COUNT - split, bindings);
    ws_status bound_status = ws_expr_eval(bound, &rest, &bound_got, &diag);
    if (bound_status != status || bound_got != got)
      WS_FAIL("%s bound to %d names: status %d value %lld, want %d %lld",
              text.data, split, bound_status, (long long)bound_got, status,
              (long long)got);
    with_value += valid;
    without_value += !valid;
    ws_strbuf_deinit(&text);
    ws_arena_destroy(arena);
  }
  /* Both outcomes must have been exercised. */
  WS_CHECK(with_value > 5000 && without_value > 2000);
}

/* ---- printed C --------------------------------------------------------------
 */

static const char prologue[] =
    "#include <stdio.h>\n"
    "static long long ws_min(long long a, long long b) "
    "{ return a < b ? a : b; }\n"
    "static long long ws_max(long long a, long long b) "
    "{ return a > b ? a : b; }\n"
    "static long long ws_ceildiv(long long a, long long b) "
    "{ return a / b + (a % b != 0); }\n"
    "static int failures;\n"
    "static void check(int id, long long got, long long want) {\n"
    "  if (got != want && failures++ < 5)\n"
    "    printf(\"expression %d is %lld, want %lld\\n\", id, got, want);\n"
    "}\n"
    "static void use(long long a, long long b, long long c, long long d) {\n"
    "  (void)a; (void)b; (void)c; (void)d;\n"
    "}\n";

/* One function per expression, and a call with the values and what compute()
 * says. */
static bool add_case(ws_rng *rng, int id, ws_strbuf *functions,
                     ws_strbuf *calls) {
  ws_arena *arena = ws_arena_create();
  ws_strbuf text;
  ws_strbuf_init(&text);
  struct tree *tree = grow(arena, rng, 5);
  write_tree(tree, 0, &text);
  int64_t values[NAME_COUNT];
  random_values(rng, values);
  wide want = 0;
  bool valid = compute(tree, values, &want);
  if (valid) {
    ws_expr *expr;
    ws_diag diag = {""};
    if (ws_expr_parse(arena, text.data, "f", 1, &expr, &diag) != WS_OK)
      WS_FAIL("%s", diag.text);
    ws_binding bindings[NAME_COUNT];
    ws_scope known = scope_of(values, 0, (int)ws_rng_below(rng, 3), bindings);
    const ws_expr *printed =
        ws_rng_below(rng, 2) ? ws_expr_bind(arena, expr, &known) : expr;
    ws_strbuf_printf(functions,
                     "/* %s */\nstatic long long f%d(long long m, long long n, "
                     "long long k, long long tile) {\n  use(m, n, k, tile);\n"
                     "  return ",
                     text.data, id);
    ws_expr_print_c(printed, functions);
    ws_strbuf_puts(functions, ";\n}\n");
    ws_strbuf_printf(calls, "  check(%d, f%d(", id, id);
    for (int i = 0; i < NAME_COUNT; i++)
      ws_strbuf_printf(calls, "%s(-9223372036854775807LL - 1LL) + %lluULL",
                       i ? ", " : "",
                       (unsigned long long)values[i] + (1ull << 63));
    ws_strbuf_printf(calls, "), %lldLL + %lldLL);\n",
                     (long long)(want - want / 2), (long long)(want / 2));
  }
  ws_strbuf_deinit(&text);
  ws_arena_destroy(arena);
  return valid;
}

static void check_with_compiler(const char *compiler, const char *options) {
  ws_strbuf functions, calls;
  ws_strbuf_init(&functions);
  ws_strbuf_init(&calls);
  ws_strbuf_puts(&functions, prologue);
  ws_rng rng;
  ws_rng_init(&rng, 12);
  for (int id = 0; id < 600;)
    id += add_case(&rng, id, &functions, &calls);
  ws_strbuf_printf(&functions,
                   "int main(void) {\n%s  return failures != 0;\n}\n",
                   calls.data);
  char path[256], command[1024];
  ws_diag diag = {""};
  snprintf(path, sizeof path, "%s/generated.c", ws_test_directory());
  WS_CHECK_INT(
      ws_file_write_atomic(path, functions.data, functions.size, &diag), WS_OK);
  snprintf(command, sizeof command, "%s %s -o %s/generated %s && %s/generated",
           compiler, options, ws_test_directory(), path, ws_test_directory());
  if (system(command) != 0)
    WS_FAIL("failed: %s", command);
  ws_strbuf_deinit(&functions);
  ws_strbuf_deinit(&calls);
}

static const char warnings[] = "-std=c99 -Wall -Wextra -pedantic -Werror -O1";

WS_TEST(printed_c_compiles_without_warnings_and_agrees) {
  check_with_compiler(WS_TEST_CC, warnings);
}

WS_TEST(printed_c_agrees_under_another_compiler) {
  if (!*WS_TEST_OTHER_CC)
    WS_SKIP("no second compiler");
  check_with_compiler(WS_TEST_OTHER_CC, warnings);
}

WS_TEST(printed_c_has_no_undefined_behaviour_where_it_has_a_value) {
  check_with_compiler(WS_TEST_CC,
                      "-std=c99 -Wall -Wextra -pedantic -Werror -O0 "
                      "-fsanitize=undefined -fno-sanitize-recover=all");
}
