/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * y[i] = x[i] + x[i ^ 1], for tests of templates in MLIR. */
#include <wavesmith/define_problem.h>
enum { X, Y };

static void reference(const ws_reference_call *call) {
  for (int64_t i = call->begin; i < call->end; i++) {
    const double y = ws_get(call, X, i) + ws_get(call, X, i ^ 1);
    ws_put_sum(call, Y, i, y, y < 0 ? -y : y);
  }
}

static const int64_t some[][1] = {{64}, {1000}, {4096}};
static const ws_problem_definition pairs = {
    WS_PROBLEM_ABI,
    .name = "pairs",
    .purpose = "sums of pairs",
    .dims = {{"count"}},
    .args = {[X] = {"x", WS_ARG_INPUT, WS_F32, {"count"}},
             [Y] = {"y", WS_ARG_OUTPUT, WS_F32, {"count"}},
             {"count", WS_ARG_SCALAR, WS_I32}},
    .legal = "count % 2 == 0 && count <= 1048576",
    .sets = {WS_PROBLEM_SET("some", some)},
    .terms = "2",
    .reference = reference};
WS_PROBLEM(pairs)
