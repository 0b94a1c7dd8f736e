/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * fp8 by groups of 128 along a row:
 *   scale[r][g] = max(largest |x| of the group, 1e-10) / limit
 *   y[r][c]      = x[r][c] / scale[r][c / 128], rounded to nearest even
 * limit: 240 in e4m3 FNUZ, 448 in OCP's; nothing exceeds it. More: README.md.
 */
#include <wavesmith/define_problem.h>
enum { X, Y, SCALE, GROUP = 128 };

static void reference(const ws_reference_call *call) {
  const double limit = call->types[Y] == WS_E4M3_FNUZ ? 240 : 448;
  const int64_t groups = call->dims[1] / GROUP;
  for (int64_t g = call->begin * groups; g < call->end * groups; g++) {
    double most = 1e-10;
    for (int64_t i = g * GROUP; i < (g + 1) * GROUP; i++)
      most = fmax(most, fabs(ws_get(call, X, i)));
    ws_put(call, SCALE, g, most / limit);
    for (int64_t i = g * GROUP; i < (g + 1) * GROUP; i++)
      ws_put(call, Y, i, ws_get(call, X, i) / (most / limit));
  }
}

static uint64_t hash(uint64_t a, int64_t b) {
  const uint64_t h = (a + (uint64_t)b) * 0x9e3779b97f4a7c15u;
  return (h ^ h >> 32) * 0xbf58476d1ce4e5b9u;
}

static void generate(int arg, const int64_t *dims, int form, uint64_t seed,
                     void *out) {
  (void)arg, (void)form;
  for (int64_t i = 0; i < dims[0] * dims[1]; i++) {
    const uint64_t group = hash(~seed, i / GROUP), own = hash(seed, i);
    float x = -131072; /* sums of four, scaled by sqrt(3): a deviation of 1 */
    for (uint64_t h = own; h; h >>= 16)
      x += (float)(h & 65535);
    x *= 0x1.bb67aep-16f;
    if (seed & WS_HARD_INPUTS) /* zeros; other sizes, and many in a group */
      x = ldexpf(group >> 60 ? x : 0, (int)(group % 160 - own % 20) - 40);
    memcpy((uint16_t *)out + i, (char *)&x + 2, 2); /* cut to bf16 */
  }
}
static const int64_t model[][2] = {{1, 7168},    {16, 7168},   {64, 2048},
                                   {128, 7168},  {256, 4096},  {1024, 2048},
                                   {1024, 7168}, {4096, 4096}, {8192, 1536}};
static const int64_t held_out[][2] = {{8, 5120},   {32, 16384}, {96, 1536},
                                      {768, 6144}, {2048, 512}, {4096, 7168}};
static const ws_problem_definition quant_fp8_group = {
    WS_PROBLEM_ABI,
    .name = "quant_fp8_group",
    .purpose = "bf16 to fp8 e4m3 with an f32 scale per 1 x 128 group",
    .dims = {{"rows"}, {"cols"}},
    .args = {[X] = {"x", WS_ARG_INPUT, WS_BF16, {"rows", "cols"}}, /* finite */
             [Y] = {"y", WS_ARG_OUTPUT, WS_FP8, {"rows", "cols"}},
             [SCALE] = {"scale", WS_ARG_OUTPUT, WS_F32, {"rows", "cols / 128"}},
             {"rows", WS_ARG_SCALAR, WS_I32},
             {"cols", WS_ARG_SCALAR, WS_I32}},
    .layouts = {{"fnuz", "gfx942", WS_E4M3_FNUZ, WS_E5M2_FNUZ},
                {"ocp", "", WS_E4M3, WS_E5M2}},
    .legal = "cols % 128 == 0 && cols <= 65536 && rows <= 1048576 && "
             "rows * cols <= 4294967296",
    .sets = {WS_PROBLEM_SET("model", model),
             WS_PROBLEM_SET("held-out", held_out)},
    .generate = generate,
    .reference = reference};
WS_PROBLEM(quant_fp8_group)
