/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Any text as an expression. Where it parses: evaluating it, and evaluating
 * what binding left of it, come to the same; printing it as C ends.
 */
#include "fuzz.h"
#include "wavesmith/expr.h"

static const ws_binding bindings[] = {{"tile_m", 128},    {"zero", 0},
                                      {"low", INT64_MIN}, {"m", 100},
                                      {"n", -1},          {"k", INT64_MAX}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ws_arena *arena = ws_arena_create();
  char *text = ws_arena_alloc(arena, size + 1);
  if (size)
    memcpy(text, data, size);
  ws_expr *expr;
  ws_diag diag = {""};
  ws_status status = ws_expr_parse(arena, text, "fuzz", 1, &expr, &diag);
  FUZZ_CHECK_REFUSAL(status, diag);
  if (status == WS_OK) {
    const ws_scope all = {bindings, 6}, known = {bindings, 3},
                   rest = {bindings + 3, 3};
    int64_t value, bound_value, constant;
    const ws_expr *bound = ws_expr_bind(arena, expr, &known);
    status = ws_expr_eval(expr, &all, &value, &diag);
    FUZZ_CHECK_REFUSAL(status, diag);
    FUZZ_CHECK(ws_expr_eval(bound, &rest, &bound_value, &diag) == status);
    FUZZ_CHECK(value == bound_value);
    if (ws_expr_is_constant(bound, &constant))
      FUZZ_CHECK(status == WS_OK && constant == value);
    ws_strbuf printed;
    ws_strbuf_init(&printed);
    ws_expr_print_c(bound, &printed);
    FUZZ_CHECK(printed.size > 0);
    ws_strbuf_deinit(&printed);
  }
  ws_arena_destroy(arena);
  return 0;
}
