/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * y[r][c] = exp(x[r][c] - max) / sum over i of exp(x[r][i] - max), max being
 * row r's largest. Why inputs and tolerance are so: README.md. */
#include <wavesmith/define_problem.h>
enum { X, Y };

static void reference(const ws_reference_call *call) {
  for (int64_t r = call->begin, cols = call->dims[1]; r < call->end; r++) {
    double most = -INFINITY, sum = 0;
    for (int64_t i = r * cols; i < (r + 1) * cols; i++)
      most = fmax(most, ws_get(call, X, i));
    for (int64_t i = r * cols; i < (r + 1) * cols; i++)
      sum += exp(ws_get(call, X, i) - most);
    for (int64_t i = r * cols; i < (r + 1) * cols; i++) {
      const double below = most - ws_get(call, X, i), y = exp(-below) / sum;
      ws_put_sum(call, Y, i, y, y * (1 + below / 8));
    }
  }
}

static uint64_t hash(uint64_t a, int64_t b) {
  const uint64_t h = (a + (uint64_t)b) * 0x9e3779b97f4a7c15u;
  return (h ^ h >> 32) * 0xbf58476d1ce4e5b9u;
}

static void generate(int arg, const int64_t *dims, int form, uint64_t seed,
                     void *out) {
  for (int64_t i = 0; i < dims[0] * dims[1]; i++) {
    const uint64_t row = hash(~seed, i / dims[1] + form); /* there is one */
    const uint64_t part = row | hash(row, i % dims[1] / 64 + arg);
    float x = -131072; /* sums of four, scaled by sqrt(3): a deviation of 1 */
    for (uint64_t h = hash(seed, i); h; h >>= 16)
      x += (float)(h & 65535);
    x *= 0x1.bb67aep-16f;
    if (seed & WS_HARD_INPUTS) /* a row's mean; parts' sizes; masked ones */
      x = part >> 62 ? ldexpf(x + row % 3 * 8 - 8, part >> 9 & 12) : -3.39e38f;
    memcpy((uint16_t *)out + i, (char *)&x + 2, 2); /* cut to bf16 */
  }
}
static const int64_t model[][2] = {{1, 32000},   {128, 1024},  {512, 2048},
                                   {1024, 4096}, {4096, 1024}, {2048, 8192},
                                   {64, 32768},  {8192, 512}};
static const int64_t held_out[][2] = {{8, 2048},   {16, 50304},  {256, 6144},
                                      {768, 3072}, {3072, 1536}, {4096, 4096}};
static const ws_problem_definition softmax = {
    WS_PROBLEM_ABI,
    .name = "softmax",
    .purpose = "softmax over rows, bf16",
    .dims = {{"rows"}, {"cols"}},
    .args = {[X] = {"x", WS_ARG_INPUT, WS_BF16, {"rows", "cols"}}, /* finite */
             [Y] = {"y", WS_ARG_OUTPUT, WS_BF16, {"rows", "cols"}},
             {"rows", WS_ARG_SCALAR, WS_I32},
             {"cols", WS_ARG_SCALAR, WS_I32}},
    .legal = "cols % 8 == 0 && cols <= 65536 && rows <= 1048576",
    .sets = {WS_PROBLEM_SET("model", model),
             WS_PROBLEM_SET("held-out", held_out)},
    .terms = "cols",
    .generate = generate,
    .reference = reference};
WS_PROBLEM(softmax)
