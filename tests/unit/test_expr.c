/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Expressions: values derived by hand, every error with its sentence, binding.
 * test_expr_random.c compares with an independent evaluator and with C.
 */
#include "wavesmith/expr.h"
#include "ws_test.h"

static const ws_binding bindings[] = {
    {"tile_m", 128}, {"tile_n", 64},       {"m", 100},          {"n", 576},
    {"k", 7168},     {"low", INT64_MIN},   {"high", INT64_MAX}, {"zero", 0},
    {"_x9", 9},      {"minimum", 1234567},
};
static const ws_scope scope = {bindings, sizeof bindings / sizeof bindings[0]};

static ws_arena *arena;

static const ws_expr *parse(const char *text) {
  if (!arena)
    arena = ws_arena_create();
  ws_expr *expr;
  ws_diag diag = {""};
  if (ws_expr_parse(arena, text, "gemm.ll", 41, &expr, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return expr;
}

static int64_t value_of(const char *text) {
  int64_t value;
  ws_diag diag = {""};
  if (ws_expr_eval(parse(text), &scope, &value, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return value;
}

WS_TEST(values) {
  static const struct {
    const char *text;
    int64_t want;
  } cases[] = {
      {"0", 0},
      {"007", 7},
      {"9223372036854775807", INT64_MAX},
      {"-9223372036854775807 - 1", INT64_MIN},
      {"1 + 2 * 3", 7},
      {"(1 + 2) * 3", 9},
      {"10 - 4 - 3", 3},
      {"100 / 7 / 2", 7},
      {"2 * 7 % 4", 2},
      {"7 / 2", 3},
      {"-7 / 2", -3}, /* towards zero */
      {"7 / -2", -3},
      {"7 % 3", 1},
      {"-7 % 3", -1}, /* sign of the dividend */
      {"7 % -3", 1},
      {"- - 5", 5},
      {"--5", 5},
      {"!0", 1},
      {"!5", 0},
      {"!!5", 1},
      {"-!0", -1},
      {"!-1", 0},
      {"1 < 2", 1},
      {"2 <= 1", 0},
      {"2 >= 2", 1},
      {"3 > 2 > 1", 0}, /* (3 > 2) > 1 */
      {"1 == 1 == 1", 1},
      {"5 != 5", 0},
      {"1 + 1 == 2 && 2 < 1", 0},
      {"2 && 4", 1},
      {"0 || 7", 1},
      {"0 || 0", 0},
      {"1 || 0 && 0", 1}, /* && binds tighter */
      {"1 < 2 == 1", 1},  /* < binds tighter */
      {"1 ? 2 : 3", 2},
      {"0 ? 2 : 3", 3},
      {"0 ? 1 : 0 ? 2 : 3", 3},
      {"1 ? 0 ? 4 : 5 : 6", 5},
      {"0 || 1 ? 8 : 9", 8},
      {"min(3, 4)", 3},
      {"max(3, 4)", 4},
      {"min(-3, 2 + 2)", -3},
      {"max(low, high)", INT64_MAX},
      {"ceildiv(0, 5)", 0},
      {"ceildiv(1, 5)", 1},
      {"ceildiv(5, 5)", 1},
      {"ceildiv(6, 5)", 2},
      {"ceildiv(high, high - 1)", 2}, /* (a + b - 1) / b would overflow */
      {"ceildiv(high, 1)", INT64_MAX},
      {"ceildiv(m, tile_m) * ceildiv(n, tile_n)", 9},
      {"tile_m * tile_n * 2 + (tile_m + tile_n) * 128", 40960},
      {"minimum", 1234567}, /* not the function min */
      {"_x9", 9},
      {"  m\t+\n1 ", 101},
      {"zero && m / zero", 0}, /* what is not needed does not fail */
      {"m || m / zero", 1},
      {"zero ? m / zero : 4", 4},
      {"m ? 4 : m / zero", 4},
      {"zero && unknown", 0},
      {"low % 1", 0},
      {"low / 1", INT64_MIN},
      {"high * -1", -INT64_MAX},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int64_t got = value_of(cases[i].text);
    if (got != cases[i].want)
      WS_FAIL("%s is %lld, want %lld", cases[i].text, (long long)got,
              (long long)cases[i].want);
  }
}

WS_TEST(evaluation_errors_say_where_and_what) {
  static const struct {
    const char *text, *want;
  } cases[] = {
      {"m / (tile_m - 128)",
       "gemm.ll:41: division by zero in 'm / (tile_m - 128)'"},
      {"1 + m % zero", "gemm.ll:41: division by zero in 'm % zero' of "
                       "'1 + m % zero'"},
      {"high + 1", "gemm.ll:41: overflow in 'high + 1'"},
      {"low - 1", "gemm.ll:41: overflow in 'low - 1'"},
      {"low * 2", "gemm.ll:41: overflow in 'low * 2'"},
      {"low / -1", "gemm.ll:41: overflow in 'low / -1'"},
      {"low % -1", "gemm.ll:41: overflow in 'low % -1'"},
      {"-low", "gemm.ll:41: overflow in '-low'"},
      {"low * -1", "gemm.ll:41: overflow in 'low * -1'"},
      {"ceildiv(m, zero)",
       "gemm.ll:41: division by zero in 'ceildiv(m, zero)'"},
      {"ceildiv(-1, 2)",
       "gemm.ll:41: negative operand of ceildiv in 'ceildiv(-1, 2)'"},
      {"ceildiv(1, -2)",
       "gemm.ll:41: negative operand of ceildiv in 'ceildiv(1, -2)'"},
      {"2 * tile_k", "gemm.ll:41: 'tile_k' has no value in '2 * tile_k'"},
      {"zero || 1 / zero",
       "gemm.ll:41: division by zero in '1 / zero' of 'zero || 1 / zero'"},
      {"(m) / (zero) + 1",
       "gemm.ll:41: division by zero in '(m) / (zero)' of '(m) / (zero) + 1'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ws_diag diag = {""};
    int64_t value = 77;
    WS_CHECK_INT(ws_expr_eval(parse(cases[i].text), &scope, &value, &diag),
                 WS_INPUT);
    WS_CHECK_TEXT(diag.text, cases[i].want);
    WS_CHECK_INT(value, 0);
  }
}

WS_TEST(syntax_errors_say_where_and_what) {
  static const struct {
    const char *text, *want;
  } cases[] = {
      {"", "gemm.ll:41: expected an integer, a name or '(' at the end of ''"},
      {"   ", "expected an integer, a name or '(' at the end"},
      {"1 +", "expected an integer, a name or '(' at the end of '1 +'"},
      {"1 + * 2", "expected an integer, a name or '(' before '* 2' (column 5) "
                  "in '1 + * 2'"},
      {"(1", "expected ')' or an operator at the end of '(1'"},
      {"1)", "expected an operator or the end before ')' (column 2)"},
      {"1 2", "expected an operator or the end before '2' (column 3)"},
      {"12abc", "expected an operator or the end before 'abc' (column 3)"},
      {"1 = 2", "expected an operator or the end before '= 2'"},
      {"1 & 2", "expected an operator or the end before '& 2'"},
      {"a ? 1", "expected ':' of '? :' at the end of 'a ? 1'"},
      {"min(1)", "expected ',' and a second operand before ')'"},
      {"min(1, 2, 3)", "expected ')' before ', 3)'"},
      {"min", "expected '(' after a function at the end of 'min'"},
      {"ceildiv + 1", "expected '(' after a function before '+ 1'"},
      {"foo(1)", "expected an operator or the end before '(1)'"},
      {"9223372036854775808", "integer above 9223372036854775807 (column 1)"},
      {"1 + 99999999999999999999999", "integer above 9223372036854775807 "
                                      "(column 5)"},
      {"m $ n", "expected an operator or the end before '$ n'"},
      {"\xff", "expected an integer, a name or '('"},
      {"1.5", "expected an operator or the end before '.5'"},
      {"+1", "expected an integer, a name or '(' before '+1'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ws_arena *own = ws_arena_create();
    ws_expr *expr;
    ws_diag diag = {""};
    if (ws_expr_parse(own, cases[i].text, "gemm.ll", 41, &expr, &diag) !=
        WS_INPUT)
      WS_FAIL("accepted: %s", cases[i].text);
    WS_CHECK(expr == NULL);
    WS_CHECK_CONTAINS(diag.text, cases[i].want);
    WS_CHECK_CONTAINS(diag.text, "gemm.ll:41: ");
    ws_arena_destroy(own);
  }
}

/* ---- size limits
 * -------------------------------------------------------------- */

/* open repeated, then middle, then close repeated. */
static char *repeat(const char *open, const char *middle, const char *close,
                    int count) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  for (int i = 0; i < count; i++)
    ws_strbuf_puts(&text, open);
  ws_strbuf_puts(&text, middle);
  for (int i = 0; i < count; i++)
    ws_strbuf_puts(&text, close);
  return text.data;
}

static ws_status parse_status(char *owned_text, ws_diag *diag) {
  ws_arena *own = ws_arena_create();
  ws_expr *expr;
  ws_status status = ws_expr_parse(own, owned_text, NULL, 0, &expr, diag);
  ws_arena_destroy(own);
  free(owned_text);
  return status;
}

WS_TEST(nesting_is_capped_at_64) {
  static const char *const forms[][3] = {
      {"(", "1", ")"},      {"-", "1", ""},    {"!", "1", ""},
      {"min(1,", "1", ")"}, {"1?", "1", ":1"}, {"1?1:", "1", ""},
      {"max(", "1", ",1)"},
  };
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    ws_diag diag = {""};
    const char *const *form = forms[i];
    if (parse_status(repeat(form[0], form[1], form[2], 64), &diag) != WS_OK)
      WS_FAIL("%s", diag.text);
    WS_CHECK_INT(parse_status(repeat(form[0], form[1], form[2], 65), &diag),
                 WS_INPUT);
    WS_CHECK_CONTAINS(diag.text, "nested deeper than 64");
  }
}

WS_TEST(text_is_capped_at_4096_bytes) {
  ws_diag diag = {""};
  WS_CHECK_INT(parse_status(repeat(" ", "1", "", 4095), &diag), WS_OK);
  WS_CHECK_INT(parse_status(repeat(" ", "1", "", 4096), &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "longer than 4096 bytes");
}

WS_TEST(long_chains_are_no_nesting) {
  char *text = repeat("1+", "1", "", 2047);
  WS_CHECK_INT(value_of(text), 2048);
  free(text);
}

/* ---- names
 * ---------------------------------------------------------------------- */

WS_TEST(names_come_once_in_order_of_first_use) {
  const ws_expr *expr = parse("k + m * k - min(tile_m, m) + (k ? n : m)");
  WS_CHECK_INT(ws_expr_name_count(expr), 4);
  WS_CHECK_TEXT(ws_expr_name(expr, 0), "k");
  WS_CHECK_TEXT(ws_expr_name(expr, 1), "m");
  WS_CHECK_TEXT(ws_expr_name(expr, 2), "tile_m");
  WS_CHECK_TEXT(ws_expr_name(expr, 3), "n");
  WS_CHECK_TEXT(ws_expr_text(parse(" 1 + m ")), " 1 + m ");
  WS_CHECK_INT(ws_expr_line(expr), 41);
  WS_CHECK_INT(ws_expr_name_count(parse("1")), 0);
  WS_CHECK_INT(ws_expr_name_count(parse("a+b+c+d+e+f+g+h+i+j+k+l+m")), 13);
  WS_CHECK(ws_expr_is_reserved("min") && ws_expr_is_reserved("ceildiv"));
  WS_CHECK(!ws_expr_is_reserved("minimum") && !ws_expr_is_reserved("m"));
}

/* ---- binding and printing
 * ---------------------------------------------------------- */

static const ws_binding known[] = {
    {"tile_m", 128}, {"split", 1}, {"zero", 0}, {"low", INT64_MIN}};
static const ws_scope known_scope = {known, 4};

static const char *bound_text(const char *text) {
  const ws_expr *bound = ws_expr_bind(arena, parse(text), &known_scope);
  ws_strbuf out;
  ws_strbuf_init(&out);
  ws_expr_print_c(bound, &out);
  char *copy = ws_arena_strdup(arena, out.data);
  ws_strbuf_deinit(&out);
  return copy;
}

WS_TEST(bind_folds_what_is_known) {
  arena = ws_arena_create();
  WS_CHECK_TEXT(bound_text("tile_m * 2 + 1"), "257LL");
  WS_CHECK_TEXT(bound_text("ceildiv(m, tile_m / 2)"), "ws_ceildiv(m, 64LL)");
  WS_CHECK_TEXT(bound_text("m + (split - 2)"), "(m + (-1LL))");
  WS_CHECK_TEXT(bound_text("split > 1 && m < k"), "0LL");
  WS_CHECK_TEXT(bound_text("split > 1 || m < k"), "((m < k) ? 1LL : 0LL)");
  WS_CHECK_TEXT(bound_text("split || m"), "1LL");
  WS_CHECK_TEXT(bound_text("split ? m : n"), "m");
  WS_CHECK_TEXT(bound_text("zero ? m : n + split"), "(n + 1LL)");
  WS_CHECK_TEXT(bound_text("low"), "(-9223372036854775807LL - 1LL)");
  WS_CHECK_TEXT(bound_text("split && tile_m"), "1LL");
  WS_CHECK_TEXT(bound_text("!zero && !m"), "((m != 0LL) ? 0LL : 1LL)");
  WS_CHECK_TEXT(bound_text("split && m"), "((m != 0LL) ? 1LL : 0LL)");
  WS_CHECK_TEXT(bound_text("m && 1 / zero || n"),
                "((((m != 0LL) && (0LL != 0LL)) || (n != 0LL)) ? 1LL : 0LL)");
  WS_CHECK_TEXT(bound_text("(m < n) + (k <= k)"),
                "(((m < n) ? 1LL : 0LL) + 1LL)");
}

WS_TEST(bind_forgets_names_that_cannot_matter) {
  arena = ws_arena_create();
  const ws_expr *bound = ws_expr_bind(
      arena, parse("zero && m || split && k > tile_m"), &known_scope);
  WS_CHECK_INT(ws_expr_name_count(bound), 1);
  WS_CHECK_TEXT(ws_expr_name(bound, 0), "k");
  int64_t value = 5;
  WS_CHECK(!ws_expr_is_constant(bound, &value));
  bound = ws_expr_bind(arena, parse("zero && m"), &known_scope);
  WS_CHECK(ws_expr_is_constant(bound, &value));
  WS_CHECK_INT(value, 0);
}

WS_TEST(bind_never_hides_an_error) {
  arena = ws_arena_create();
  static const char *const texts[] = {
      "m / zero",           "1 / zero",     "m * 0 + tile_m / zero",
      "(1 / zero) && zero", "-low",         "m || 1 / zero",
      "zero * (1 / zero)",  "zero || -low",
  };
  const ws_binding rest[] = {{"m", 0}};
  const ws_scope rest_scope = {rest, 1};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    const ws_expr *bound = ws_expr_bind(arena, parse(texts[i]), &known_scope);
    int64_t value;
    ws_diag diag = {""};
    WS_CHECK(!ws_expr_is_constant(bound, &value));
    WS_CHECK_INT(ws_expr_eval(bound, &rest_scope, &value, &diag), WS_INPUT);
    WS_CHECK_CONTAINS(diag.text, "gemm.ll:41: ");
    WS_CHECK_CONTAINS(diag.text, texts[i]); /* as it was written */
  }
}

WS_TEST(bound_expressions_outlive_their_origin) {
  ws_arena *first = ws_arena_create(), *second = ws_arena_create();
  ws_expr *expr;
  ws_diag diag = {""};
  char text[] = "m / tile_m", file[] = "f.ll";
  WS_CHECK_INT(ws_expr_parse(first, text, file, 3, &expr, &diag), WS_OK);
  memset(text, 'x', sizeof text - 1);
  memset(file, 'x', sizeof file - 1);
  const ws_binding zero_tile[] = {{"tile_m", 0}};
  const ws_expr *bound = ws_expr_bind(second, expr, &(ws_scope){zero_tile, 1});
  ws_arena_destroy(first);
  int64_t value;
  const ws_binding m[] = {{"m", 1}};
  WS_CHECK_INT(ws_expr_eval(bound, &(ws_scope){m, 1}, &value, &diag), WS_INPUT);
  WS_CHECK_TEXT(diag.text, "f.ll:3: division by zero in 'm / tile_m'");
  ws_arena_destroy(second);
}
