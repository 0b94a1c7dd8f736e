/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Arithmetic of CDNA3's matrix instructions as published in MMA-Sim (arXiv
 * 2511.10909; microsoft/MMA-Sim, simulator/amd.py), per result:
 *   f32, f64   a chain of fused multiply-adds in the order of k
 *   i8         32-bit integers, wrapping
 *   f16, bf16  groups of 8 k (all of K where it is less), xf32 groups of 4,
 *              fp8 groups of 16; C is carried as f32 in between. Per group:
 *              1. exact products, each truncated to 24 fractional bits below
 *                 the largest product exponent, are summed; of fp8, even and
 *                 odd k apart, both then floored at 24 bits and added;
 *              2. the sum is floored to 31, C to 24 bits below the larger
 *                 exponent; fp8 drops a C that is more than 25 below;
 *              3. their sum is rounded to nearest even.
 *   xf32       operands are truncated to 10 fractional bits first
 * Denormals are kept. A product exponent is the sum of the operands' exponents;
 * a product of 0 has exponent -126.
 *
 * Not published, so choices: any NaN result is 0x7fc00000; sparse instructions
 * group the products that they have. The fp8 here serves those only.
 */
#include "matrix.h"

#include <math.h>
#include <string.h>

/* ---- elements -------------------------------------------------------------
 */

static double float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static double half_of(uint32_t bits) {
  int field = bits >> 10 & 31, mantissa = bits & 0x3ff;
  double magnitude;
  if (field == 31)
    magnitude = mantissa ? (double)NAN : (double)INFINITY;
  else
    magnitude =
        ldexp(field ? mantissa + 1024 : mantissa, (field ? field : 1) - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

static double value_of(int type, uint64_t raw) {
  double value;
  switch (type) {
  case WS_MATRIX_XF32:
    return float_of((uint32_t)raw & ~UINT32_C(0x1fff));
  case WS_MATRIX_F16:
    return half_of((uint32_t)raw & 0xffff);
  case WS_MATRIX_BF16:
    return float_of((uint32_t)raw << 16);
  case WS_MATRIX_F64:
    memcpy(&value, &raw, sizeof value);
    return value;
  case WS_MATRIX_I8:
    return (int8_t)raw;
  case WS_MATRIX_FP8:
    return (double)ws_fp8_decode(WS_FP8_E4M3_FNUZ, (uint8_t)raw);
  case WS_MATRIX_BF8:
    return (double)ws_fp8_decode(WS_FP8_E5M2_FNUZ, (uint8_t)raw);
  default:
    return float_of((uint32_t)raw);
  }
}

/* floor(log2), not below least; -126 for 0. Types whose exponent counts are far
 * from the subnormals of a double. */
static int exponent_of(double value, int least) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  if (value == 0 || exponent == 1024)
    return -126;
  return exponent < least ? least : exponent;
}

void ws__matrix_decode(ws_matrix *matrix, int element, uint64_t raw) {
  static const int16_t least[] = {
      [WS_MATRIX_F32] = -126,  [WS_MATRIX_XF32] = -126, [WS_MATRIX_F16] = -14,
      [WS_MATRIX_BF16] = -126, [WS_MATRIX_F64] = -1022, [WS_MATRIX_I8] = 0,
      [WS_MATRIX_FP8] = -7,    [WS_MATRIX_BF8] = -15};
  double value = value_of(matrix->type, raw);
  matrix->value[element] = value;
  matrix->exponent[element] = exponent_of(value, least[matrix->type]);
}

/* ---- fused sums -----------------------------------------------------------
 */

/* 2^exponent, for -1022 <= exponent <= 1023. */
static double power_of_two(int exponent) {
  uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

typedef struct products {
  double value[16];
  int exponent[16];
  int count;
} products;

/* |value| < 2^62: the C library's floor is a call without SSE 4.1. */
static double floor_of(double value) {
  double whole = (double)(int64_t)value;
  return whole > value ? whole - 1 : whole;
}

/* In units of 2^(*out_exponent - 24). */
static double truncated_sum(const products *p, int first, int step,
                            int *out_exponent) {
  int most = p->exponent[first];
  for (int k = first; k < p->count; k += step)
    most = p->exponent[k] > most ? p->exponent[k] : most;
  int64_t sum = 0;
  double scale = power_of_two(24 - most);
  for (int k = first; k < p->count; k += step)
    sum += (int64_t)(p->value[k] * scale);
  *out_exponent = most;
  return (double)sum;
}

static double fp8_sum(const products *p, int *out_exponent) {
  int even_exponent, odd_exponent;
  double even = truncated_sum(p, 0, 2, &even_exponent);
  double odd = truncated_sum(p, 1, 2, &odd_exponent);
  int most = even_exponent > odd_exponent ? even_exponent : odd_exponent;
  *out_exponent = most;
  return floor_of(even * power_of_two(even_exponent - most)) +
         floor_of(odd * power_of_two(odd_exponent - most));
}

/* What is not finite: f64 decides, as upstream. A product beyond f32 counts as
 * infinite. */
static bool is_special(const products *p, float c, float *out) {
  double sum = c;
  bool special = !isfinite(c);
  for (int k = 0; k < p->count; k++) {
    bool large = fabs(p->value[k]) >= 0x1p128 || !isfinite(p->value[k]);
    special |= large;
    sum += large ? p->value[k] * (double)INFINITY : p->value[k];
  }
  uint32_t quiet = 0x7fc00000;
  *out = (float)sum;
  if (isnan(sum))
    memcpy(out, &quiet, sizeof quiet);
  return special;
}

static float fused_group(const products *p, bool fp8, float c) {
  float result;
  int exponent;
  if (is_special(p, c, &result))
    return result;
  double sum = fp8 ? fp8_sum(p, &exponent) : truncated_sum(p, 0, 1, &exponent);
  int c_exponent = exponent_of((double)c, -126);
  int most = c_exponent > exponent ? c_exponent : exponent;
  sum = floor_of(sum * power_of_two(31 - 24 + exponent - most));
  if (!fp8 || c_exponent >= most - 25)
    sum += 128 * floor_of((double)c * power_of_two(24 - most));
  return (float)(sum * power_of_two(most - 31));
}

static float fused_dot(const ws_matrix *a, int row, const ws_matrix *b,
                       int column, const uint8_t *indices, float c) {
  bool fp8 = a->type == WS_MATRIX_FP8 || a->type == WS_MATRIX_BF8;
  int size = fp8 ? 16 : a->type == WS_MATRIX_XF32 ? 4 : 8;
  products p;
  for (int k = 0; k < a->depth; k += p.count) {
    p.count = a->depth - k < size ? a->depth - k : size;
    for (int i = 0; i < p.count; i++) {
      int x = row * a->depth + k + i;
      int y = column * b->depth + (indices ? indices[k + i] : k + i);
      p.value[i] = a->value[x] * b->value[y];
      p.exponent[i] = p.value[i] == 0 ? -126 : a->exponent[x] + b->exponent[y];
    }
    c = fused_group(&p, fp8, c);
  }
  return c;
}

/* ---- chains ---------------------------------------------------------------
 */

static float chain_f32(const double *a, const double *b, int depth, float c) {
  for (int k = 0; k < depth; k++)
    c = fmaf((float)a[k], (float)b[k], c);
  return c;
}

static double chain_f64(const double *a, const double *b, int depth, int negate,
                        double c) {
  c = negate & 4 ? -c : c;
  for (int k = 0; k < depth; k++)
    c = fma(negate & 1 ? -a[k] : a[k], negate & 2 ? -b[k] : b[k], c);
  return c;
}

static uint32_t sum_i8(const double *a, const double *b, int depth,
                       const uint8_t *indices, uint32_t c) {
  for (int k = 0; k < depth; k++)
    c += (uint32_t)((int32_t)a[k] * (int32_t)b[indices ? indices[k] : k]);
  return c;
}

uint64_t ws__matrix_dot(const ws_matrix *a, int row, const ws_matrix *b,
                        int column, const uint8_t *indices, int negate,
                        uint64_t c) {
  const double *x = &a->value[row * a->depth];
  const double *y = &b->value[column * b->depth];
  uint32_t low = (uint32_t)c;
  float narrow;
  double wide;
  if (a->type == WS_MATRIX_I8)
    return sum_i8(x, y, a->depth, indices, low);
  if (a->type == WS_MATRIX_F64) {
    memcpy(&wide, &c, sizeof wide);
    wide = chain_f64(x, y, a->depth, negate, wide);
    memcpy(&c, &wide, sizeof c);
    return c;
  }
  memcpy(&narrow, &low, sizeof narrow);
  narrow = a->type == WS_MATRIX_F32
               ? chain_f32(x, y, a->depth, narrow)
               : fused_dot(a, row, b, column, indices, narrow);
  memcpy(&low, &narrow, sizeof low);
  return low;
}
