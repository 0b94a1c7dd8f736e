/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * y = x x^T of each 4 x 4 matrix, for tests of schedules. */
#include <wavesmith/define_problem.h>
enum { X, Y };
static void reference(const ws_reference_call *call) {
  for (int64_t i = call->begin; i < call->end; i++) {
    const int64_t first = i / 16 * 16, r = i % 16 / 4, c = i % 4;
    double y = 0, size = 0;
    for (int64_t k = 0; k < 4; k++) {
      const double p = ws_get(call, X, first + r * 4 + k) *
                       ws_get(call, X, first + c * 4 + k);
      y += p;
      size += p < 0 ? -p : p;
    }
    ws_put_sum(call, Y, i, y, size);
  }
}
static const int64_t some[][1] = {{64}, {1024}, {4096}};
static const ws_problem_definition squares = {
    WS_PROBLEM_ABI,
    .name = "squares",
    .purpose = "8 x 8",
    .dims = {{"count"}},
    .args = {[X] = {"x", WS_ARG_INPUT, WS_F32, {"count"}},
             [Y] = {"y", WS_ARG_OUTPUT, WS_F32, {"count"}},
             {"count", WS_ARG_SCALAR, WS_I32}},
    .legal = "count % 16 == 0 && count <= 1048576",
    .sets = {WS_PROBLEM_SET("some", some)},
    .terms = "16",
    .reference = reference};
WS_PROBLEM(squares)
