/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * rmsnorm with the residual added before, as the blocks of today's language
 * models have it:
 *   sum[r][c] = x[r][c] + residual[r][c]
 *   y[r][c]   = sum[r][c] / sqrt(mean over c of sum^2 + eps) * weight[c]
 * sum is an output, too: the next block's residual.
 */
#include <wavesmith/define_problem.h>

enum { X, RESIDUAL, WEIGHT, SUM, Y, ROWS, COLS, EPS };

static void reference(const ws_reference_call *call) {
  const int64_t cols = call->dims[1];
  const double eps = ws_get(call, EPS, 0);
  for (int64_t r = call->begin; r < call->end; r++) {
    double squares = 0;
    for (int64_t c = r * cols; c < (r + 1) * cols; c++) {
      const double sum = ws_get(call, X, c) + ws_get(call, RESIDUAL, c);
      squares += sum * sum;
      ws_put_sum(call, SUM, c, sum,
                 fabs(ws_get(call, X, c)) + fabs(ws_get(call, RESIDUAL, c)));
    }
    const double scale = 1 / sqrt(squares / (double)cols + eps);
    for (int64_t c = 0; c < cols; c++) {
      const int64_t i = r * cols + c;
      const double x = ws_get(call, X, i), residual = ws_get(call, RESIDUAL, i);
      const double factor = scale * ws_get(call, WEIGHT, c);
      ws_put_sum(call, Y, i, (x + residual) * factor,
                 (fabs(x) + fabs(residual)) * fabs(factor));
    }
  }
}

static const int64_t model[][2] = {{1, 4096},    {16, 4096},   {64, 7168},
                                   {256, 4096},  {1024, 8192}, {2048, 7168},
                                   {4096, 5120}, {2048, 16384}};
static const int64_t held_out[][2] = {{8, 2048},   {32, 5120},   {128, 8192},
                                      {768, 6144}, {3072, 4096}, {512, 12288}};

static const ws_problem_definition rmsnorm = {
    WS_PROBLEM_ABI,
    .name = "rmsnorm",
    .purpose = "RMS normalisation of rows with the residual added, bf16",
    .dims = {{"rows"}, {"cols"}},
    .args = {[X] = {"x", WS_ARG_INPUT, WS_BF16, {"rows", "cols"}},
             [RESIDUAL] = {"residual", WS_ARG_INPUT, WS_BF16, {"rows", "cols"}},
             [WEIGHT] = {"weight", WS_ARG_INPUT, WS_BF16, {"cols"}},
             [SUM] = {"sum", WS_ARG_OUTPUT, WS_BF16, {"rows", "cols"}},
             [Y] = {"y", WS_ARG_OUTPUT, WS_BF16, {"rows", "cols"}},
             [ROWS] = {"rows", WS_ARG_SCALAR, WS_I32},
             [COLS] = {"cols", WS_ARG_SCALAR, WS_I32},
             [EPS] = {"eps", WS_ARG_SCALAR, WS_F32, .number = 1e-5}},
    .legal = "cols % 8 == 0 && cols <= 65536 && rows <= 1048576",
    .sets = {WS_PROBLEM_SET("model", model),
             WS_PROBLEM_SET("held-out", held_out)},
    .terms = "cols",
    .reference = reference};

WS_PROBLEM(rmsnorm)
