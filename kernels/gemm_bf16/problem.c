/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * gemm_bf16: C[m][n] = A[m][k] B[n][k]^T in bf16 with fp32 sums. Inputs,
 * tolerance and shapes: README.md.
 *
 * A product of two bf16 is exact in 16 bits, so a double keeps all but the last
 * bits of their sums: the reference rounds at 2^-53.
 */
#include <wavesmith/define_problem.h>

#include <stdlib.h>

enum { DEPTH = 64 };
enum { A, B, C, WORKSPACE, M, N, K };

typedef struct extents {
  int64_t m, n, k;
} extents;

static extents extents_of(const int64_t *dims) {
  return (extents){dims[0], dims[1], dims[2]};
}

/* ---- shapes: README.md says where each set comes from ----------------------
 */

static const int64_t contest[][3] = {
    {1024, 1536, 7168}, {1024, 3072, 1536}, {1024, 576, 7168},
    {1024, 7168, 256},  {1024, 7168, 2048}, {1024, 4608, 7168},
    {1024, 7168, 2304}, {1024, 512, 7168},  {1024, 4096, 512},
    {6144, 1536, 7168}, {6144, 3072, 1536}, {6144, 576, 7168},
    {6144, 7168, 256},  {6144, 7168, 2048}, {6144, 4608, 7168},
    {6144, 7168, 2304}, {6144, 512, 7168},  {6144, 4096, 512}};

static const int64_t square[][3] = {{512, 512, 512},
                                    {1024, 1024, 1024},
                                    {2048, 2048, 2048},
                                    {4096, 4096, 4096},
                                    {8192, 8192, 8192}};

/* So that a dispatch knows more than the sets above: m, n and k drawn from log
 * scales once, in multiples of 16 or 64. */
static const int64_t general[][3] = {
    {32, 1600, 1344},   {32, 8320, 832},     {32, 15616, 256},
    {64, 1024, 704},    {64, 1280, 448},     {64, 1536, 448},
    {64, 5184, 1280},   {64, 8192, 9664},    {64, 9856, 1280},
    {64, 10624, 1024},  {80, 4160, 768},     {128, 1728, 7104},
    {128, 1984, 4224},  {128, 4096, 2688},   {128, 13696, 6016},
    {192, 576, 8128},   {256, 7296, 6720},   {384, 3392, 896},
    {448, 1664, 5056},  {448, 5312, 384},    {464, 1472, 640},
    {512, 704, 1408},   {656, 3456, 1280},   {816, 11904, 1664},
    {832, 960, 1408},   {944, 640, 1472},    {960, 2176, 5184},
    {2368, 2048, 1216}, {2704, 7040, 15104}, {2816, 3072, 896},
    {4192, 2688, 384},  {4352, 4928, 512}};

static const int64_t held_out[][3] = {
    {8, 8, 8},          {200, 328, 584},     {1000, 1000, 1000},
    {16, 7168, 16384},  {80, 6144, 4096},    {384, 4096, 14336},
    {768, 768, 768},    {1024, 2112, 7168},  {1024, 24576, 1536},
    {1536, 1536, 1536}, {3072, 3072, 3072},  {4096, 2112, 7168},
    {4096, 32768, 512}, {4096, 7168, 16384}, {4096, 4096, 14336},
    {6144, 6144, 6144}};

/* For kernels that take only k of whole steps, or little but what a model
 * named: the simulator runs each in full, so none is large. */
static const int64_t samples[][3] = {
    {80, 328, 384},  {32, 48, 1024},  {64, 576, 512},  {24, 136, 2048},
    {256, 264, 512}, {136, 512, 640}, {512, 512, 512}, {1024, 512, 256}};

/* ---- reference -------------------------------------------------------------
 */

static double decode(uint16_t bits) {
  const uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

enum { COLUMNS = 8 };
typedef double columns __attribute__((vector_size(8 * COLUMNS)));

/* What arithmetic may be off by before the result is rounded, from the sum of
 * the products' magnitudes (derivation: README.md). */
static double error_of_sum(const extents *shape, double sum) {
  return ldexp((double)(shape->k / 16 + 16) * sum, -23);
}

/* 8 rows of B and their magnitudes, with k along the first index. */
typedef struct panel {
  columns *b, *size;
} panel;

static void decode_panel(const extents *shape, const uint16_t *b, int64_t n,
                         panel *out) {
  for (int64_t k = 0; k < shape->k; k++)
    for (int j = 0; j < COLUMNS; j++) {
      const double value = decode(b[(n + j) * shape->k + k]);
      out->b[k][j] = value;
      out->size[k][j] = fabs(value);
    }
}

static void slices(const int64_t *dims, int form, const void *const *buffers,
                   int64_t m_begin, int64_t m_end, double *out_value,
                   double *out_error) {
  const extents sizes = extents_of(dims), *shape = &sizes;
  const uint16_t *a = buffers[A];
  const size_t bytes = (size_t)shape->k * sizeof(columns);
  panel p = {.b = aligned_alloc(sizeof(columns), bytes),
             .size = aligned_alloc(sizeof(columns), bytes)};
  (void)form;
  if (!p.b || !p.size)
    abort(); /* out of memory */
  for (int64_t n = 0; n < shape->n; n += COLUMNS) {
    decode_panel(shape, buffers[B], n, &p);
    for (int64_t m = m_begin; m < m_end; m++) {
      columns sum = {0}, size = {0};
      for (int64_t k = 0; k < shape->k; k++) {
        const double value = decode(a[m * shape->k + k]);
        sum += value * p.b[k];
        size += fabs(value) * p.size[k];
      }
      for (int j = 0; j < COLUMNS; j++) {
        const int64_t at = (m - m_begin) * shape->n + n + j;
        out_value[at] = sum[j];
        out_error[at] = error_of_sum(shape, size[j]);
      }
    }
  }
  free(p.size);
  free(p.b);
}

static void elements(const int64_t *dims, int form, const void *const *buffers,
                     const int64_t *indices, int count, double *out_value,
                     double *out_error) {
  const extents shape = extents_of(dims);
  (void)form;
  for (int i = 0; i < count; i++) {
    const uint16_t *a =
        (const uint16_t *)buffers[A] + indices[i] / shape.n * shape.k;
    const uint16_t *b =
        (const uint16_t *)buffers[B] + indices[i] % shape.n * shape.k;
    double size = 0;
    out_value[i] = 0;
    for (int64_t k = 0; k < shape.k; k++) {
      const double product = decode(a[k]) * decode(b[k]);
      out_value[i] += product;
      size += fabs(product);
    }
    out_error[i] = error_of_sum(&shape, size);
  }
}

/* The allowed errors of a row add up as squares do; the root mean square of the
 * sums of magnitudes is taken for at most twice their mean. */
static void project(const int64_t *dims, int form, const void *const *buffers,
                    const double *signs, const int64_t *rows, int64_t count,
                    double *out_value, double *out_error) {
  const extents shape = extents_of(dims);
  const uint16_t *a = buffers[A], *b = buffers[B];
  double *sum = calloc((size_t)(2 * shape.k), sizeof *sum);
  double *size = sum + shape.k;
  (void)form;
  if (!sum)
    abort(); /* out of memory */
  for (int64_t n = 0; n < shape.n; n++)
    for (int64_t k = 0; k < shape.k; k++) {
      const double value = decode(b[n * shape.k + k]);
      sum[k] += signs[n] * value;
      size[k] += fabs(value);
    }
  for (int64_t i = 0; i < count; i++) {
    double want = 0, sizes = 0;
    for (int64_t k = 0; k < shape.k; k++) {
      const double value = decode(a[rows[i] * shape.k + k]);
      want += value * sum[k];
      sizes += fabs(value) * size[k];
    }
    out_value[i] = want;
    out_error[i] = error_of_sum(&shape, 2 * sizes / sqrt((double)shape.n));
  }
  free(sum);
}

/* ---- the definition --------------------------------------------------------
 */

static const char definition[] =
    "C = A B^T: C[i][j] (bf16) = sum over k of A[i][k] * B[j][k], A, B in "
    "bf16, sums in fp32.\n"
    "Legal are m, n and k from 8 in multiples of 8. Operands are finite.\n"
    "A result passes when |got - want| <= 2^-8 |want| + E + 2^-126, where want "
    "is computed in fp64 and E = (k/16 + 16) 2^-23 sum |a b|. That allows fp32 "
    "sums in any order and matrix instructions; bf16 must be rounded to "
    "nearest (truncation fails).\n";

static const ws_problem_definition gemm_bf16 = {
    WS_PROBLEM_ABI, .name = "gemm_bf16",
    .purpose = "bf16 matrix product, both operands k-major, fp32 sums",
    .definition = definition,
    .dims = {{"m", .block = DEPTH},
             {"n", .block = DEPTH},
             {"k", .block = DEPTH, .depth = 1}},
    .args = {[A] = {"a", WS_ARG_INPUT, WS_BF16, {"m", "k"}},
             [B] = {"b", WS_ARG_INPUT, WS_BF16, {"n", "k"}},
             [C] = {"c", WS_ARG_OUTPUT, WS_BF16, {"m", "n"}},
             [WORKSPACE] = {"workspace", WS_ARG_WORKSPACE, WS_U8},
             [M] = {"m", WS_ARG_SCALAR, WS_I32},
             [N] = {"n", WS_ARG_SCALAR, WS_I32},
             [K] = {"k", WS_ARG_SCALAR, WS_I32}},
    /* one layout, under two names: archives of either target know theirs */
    .layouts = {{"kmajor", "gfx942 gfx950"}, {"kmajor-ocp", "sm_90a"}},
    /* a launch counts its work items in 32 bits: hence m * n */
    .legal = "m % 8 == 0 && m <= 4194304 && n % 8 == 0 && n <= 4194304 && "
             "k % 8 == 0 && k <= 4194304 && m * n <= 2147483648",
    .sets = {WS_PROBLEM_SET("contest", contest),
             WS_PROBLEM_SET("square", square),
             WS_PROBLEM_SET("general", general),
             WS_PROBLEM_SET("held-out", held_out)},
    .samples = WS_PROBLEM_SET("samples", samples), .terms = "k",
    .flops = "2 * m * n * k", .matrix = 1, .matrix_type = WS_BF16,
    .slices = slices, .elements = elements, .project = project};

WS_PROBLEM(gemm_bf16)
