/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See reference.h. Nothing here is fast; it is short enough to be believed.
 */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 128 };

static int32_t blocks(int32_t extent) { return (extent + BLOCK - 1) / BLOCK; }

uint32_t random_next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 32);
}

static int is_nan(fp8_format format, uint8_t byte) {
  return format == FP8_OCP ? (byte & 0x7f) == 0x7f : byte == 0x80;
}

static void fill_fp8(fp8_format format, uint8_t *out, size_t count,
                     uint64_t *state) {
  for (size_t i = 0; i < count; i++) {
    uint8_t byte = (uint8_t)(random_next(state) >> 24);
    out[i] = is_nan(format, byte) ? 0 : byte;
  }
}

/* Signed scales in [-1, 1). */
static void fill_scales(float *out, size_t bytes, uint64_t *state) {
  for (size_t i = 0; i < bytes / sizeof *out; i++)
    out[i] = (float)random_next(state) / 2147483648.0f - 1.0f;
}

int operands_create(operands *out, int32_t m, int32_t n, int32_t k,
                    fp8_format format, int shuffled) {
  size_t rows = (size_t)m, columns = (size_t)n, depth = (size_t)k;
  *out = (operands){
      .m = m, .n = n, .k = k, .format = format, .shuffled = shuffled};
  out->a_bytes = rows * depth;
  out->b_bytes = columns * depth;
  out->as_bytes = rows * (size_t)blocks(k) * sizeof *out->as;
  out->bs_bytes = (size_t)blocks(n) * (size_t)blocks(k) * sizeof *out->bs;
  out->c_bytes = rows * columns * sizeof *out->c;
  out->a = malloc(out->a_bytes);
  out->b = malloc(out->b_bytes);
  out->as = malloc(out->as_bytes);
  out->bs = malloc(out->bs_bytes);
  out->c = malloc(out->c_bytes);
  if (!out->a || !out->b || !out->as || !out->bs || !out->c)
    return 0;
  uint64_t state = 1;
  fill_fp8(format, out->a, out->a_bytes, &state);
  fill_fp8(format, out->b, out->b_bytes, &state);
  fill_scales(out->as, out->as_bytes, &state);
  fill_scales(out->bs, out->bs_bytes, &state);
  return 1;
}

void operands_free(operands *op) {
  free(op->a);
  free(op->b);
  free(op->as);
  free(op->bs);
  free(op->c);
}

/* e4m3: sign, 4 bits of exponent with bias 8 (FNUZ) or 7 (OCP), 3 bits of
 * fraction. */
static double decode_fp8(fp8_format format, uint8_t byte) {
  int exponent = byte >> 3 & 15, fraction = byte & 7;
  int least = format == FP8_OCP ? -9 : -10;
  double value = exponent ? ldexp(8 + fraction, least + exponent - 1)
                          : ldexp(fraction, least);
  return byte & 0x80 ? -value : value;
}

static size_t place_in_b(const operands *op, int32_t j, int32_t kk) {
  size_t row = (size_t)j, k = (size_t)kk, depth = (size_t)op->k;
  return op->shuffled
             ? row / 16 * 16 * depth + k / 16 * 256 + row % 16 * 16 + k % 16
             : row * depth + k;
}

static double decode_bf16(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

/* What rounding parts and their sums to bf16 may cost, besides the last one:
 * at most 8 additions; parts: the magnitudes of the sums of blocks. */
static double adding_error(const operands *op, double parts, double want) {
  double additions = fmin(op->k / BLOCK, 8);
  double partial = (parts + fabs(want)) / 2;
  return ldexp(1.0625 * ((additions - 1) * partial + parts), -8);
}

/* What rounding allows: 2^-8 of the value for bf16, and for sums a share of the
 * sum of magnitudes (AMD, fp32) or of the root of the sum of squares (NVIDIA's
 * matrix unit); kernels/fp8_gemm_blockscale/README.md derives them. */
double operands_error(const operands *op, int32_t i, int32_t j) {
  double want = 0, magnitude = 0, square = 0, parts = 0;
  for (int32_t kb = 0; kb < op->k / BLOCK; kb++) {
    double scale =
        (double)op->as[(size_t)kb * (size_t)op->m + (size_t)i] *
        op->bs[(size_t)(j / BLOCK) * (size_t)(op->k / BLOCK) + (size_t)kb];
    double before = want;
    for (int32_t kk = kb * BLOCK; kk < (kb + 1) * BLOCK; kk++) {
      size_t a = (size_t)i * (size_t)op->k + (size_t)kk;
      size_t b = place_in_b(op, j, kk);
      double product = scale * decode_fp8(op->format, op->a[a]) *
                       decode_fp8(op->format, op->b[b]);
      want += product;
      magnitude += fabs(product);
      square += product * product;
    }
    parts += fabs(want - before);
  }
  double sums = op->format == FP8_OCP
                    ? ldexp(sqrt(square), -8)
                    : ldexp((op->k / 16 + 16) * magnitude, -23);
  double bound = ldexp(fabs(want), -8) + sums + ldexp(1, -126) +
                 (op->adds ? adding_error(op, parts, want) : 0);
  double got = decode_bf16(op->c[(size_t)i * (size_t)op->n + (size_t)j]);
  double error = fabs(got - want) / bound;
  return isfinite(error) ? error : INFINITY;
}
