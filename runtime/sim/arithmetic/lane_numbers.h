/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Floating point of one lane of gfx942, for the simulator's lane loops and the
 * IR sanitizer: f16 in f32, minimum and maximum, what transcendentals give.
 * From the pseudo-code of the CDNA3 ISA guide, chapter "Instructions".
 */
#ifndef WAVESMITH_SIM_LANE_NUMBERS_H
#define WAVESMITH_SIM_LANE_NUMBERS_H

#include "float_bits.h"

#include <math.h>
#include <stdbool.h>

/* f16 <-> f32 without branches, so that loops of them become vector code. */
WS_INLINE float ws_half(uint32_t bits) {
  uint32_t magnitude = bits & 0x7fff, sign = (bits & 0x8000) << 16;
  uint32_t normal = (magnitude << 13) + (112u << 23);
  uint32_t special = (magnitude << 13) | 0x7f800000;
  uint32_t subnormal = ws_float_bits((float)(int32_t)magnitude * 0x1p-24f);
  uint32_t wide = magnitude >= 0x7c00  ? special
                  : magnitude >= 0x400 ? normal
                                       : subnormal;
  return ws_float(wide | sign);
}
/* Nearest even. Below 2^-14, adding 0.5 rounds at 2^-24. */
WS_INLINE uint32_t ws_half_bits(float value) {
  uint32_t bits = ws_float_bits(value), magnitude = bits & 0x7fffffff;
  uint32_t rounded =
      (magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
  uint32_t subnormal =
      ws_float_bits(ws_float(magnitude) + 0.5f) - ws_float_bits(0.5f);
  uint32_t half = magnitude >= 0x477ff000   ? 0x7c00
                  : magnitude >= 0x38800000 ? rounded
                                            : subnormal;
  half = magnitude > 0x7f800000 ? 0x7e00 | (magnitude >> 13 & 0x1ff) : half;
  return half | (bits >> 16 & 0x8000);
}
WS_INLINE uint32_t ws_half_bits_toward_zero(float value) {
  uint32_t bits = ws_float_bits(value), magnitude = bits & 0x7fffffff;
  bool tiny = magnitude < 0x38800000;
  int32_t units = (int32_t)(ws_float(tiny ? magnitude : 0) * 0x1p24f);
  uint32_t half = magnitude >= 0x7f800000   ? 0x7c00
                  : magnitude >= 0x47800000 ? 0x7bff
                  : tiny                    ? (uint32_t)units
                                            : (magnitude - (112u << 23)) >> 13;
  half = magnitude > 0x7f800000 ? 0x7e00 | (magnitude >> 13 & 0x1ff) : half;
  return half | (bits >> 16 & 0x8000);
}
/* a * b + c of f16 values, rounded once: the product is exact in f32; the sum
 * is rounded to odd there (its error by Knuth's TwoSum), so that the rounding
 * to f16 sees which side it was on. */
WS_INLINE uint32_t ws_half_fma(float a, float b, float c) {
  float product = a * b, sum = product + c;
  float part = sum - product;
  float error = (product - (sum - part)) + (c - part);
  uint32_t bits = ws_float_bits(sum);
  bool inexact = error > 0 || error < 0;
  uint32_t toward = (error > 0) == (sum > 0) ? 1u : 0xffffffffu;
  bits += inexact && !(bits & 1) ? toward : 0;
  return ws_half_bits(ws_float(bits));
}

/* IEEE minimum and maximum as the VALU has them with MODE.IEEE set (the ABI's
 * default): a number beats a quiet NaN, a signalling NaN is quieted and wins,
 * -0 < +0. */
WS_INLINE bool ws_signalling(uint32_t bits) {
  return (bits & 0x7fffffff) > 0x7f800000 && !(bits & 0x400000);
}
WS_INLINE float ws_minimum_f32(float a, float b) {
  uint32_t x = ws_float_bits(a), y = ws_float_bits(b);
  uint32_t result = a < b ? x : b < a ? y : x | y;
  result = a != a ? y : b != b ? x : result;
  result = ws_signalling(y) ? y | 0x400000 : result;
  result = ws_signalling(x) ? x | 0x400000 : result;
  return ws_float(result);
}
WS_INLINE float ws_maximum_f32(float a, float b) {
  uint32_t x = ws_float_bits(a), y = ws_float_bits(b);
  uint32_t result = a > b ? x : b > a ? y : x & y;
  result = a != a ? y : b != b ? x : result;
  result = ws_signalling(y) ? y | 0x400000 : result;
  result = ws_signalling(x) ? x | 0x400000 : result;
  return ws_float(result);
}
WS_INLINE bool ws_signalling_f64(uint64_t bits) {
  return (bits & INT64_MAX) > 0x7ff0000000000000 && !(bits >> 51 & 1);
}
WS_INLINE double ws_minimum_f64(double a, double b) {
  uint64_t x = ws_double_bits(a), y = ws_double_bits(b), quiet = 1ull << 51;
  uint64_t result = a < b ? x : b < a ? y : x | y;
  result = a != a ? y : b != b ? x : result;
  result = ws_signalling_f64(y) ? y | quiet : result;
  result = ws_signalling_f64(x) ? x | quiet : result;
  return ws_double(result);
}
WS_INLINE double ws_maximum_f64(double a, double b) {
  uint64_t x = ws_double_bits(a), y = ws_double_bits(b), quiet = 1ull << 51;
  uint64_t result = a > b ? x : b > a ? y : x & y;
  result = a != a ? y : b != b ? x : result;
  result = ws_signalling_f64(y) ? y | quiet : result;
  result = ws_signalling_f64(x) ? x | quiet : result;
  return ws_double(result);
}
/* CDNA3 ISA, V_MED3_F32: with a NaN it is the minimum of all. */
WS_INLINE float ws_median_f32(float a, float b, float c) {
  float low = ws_minimum_f32(a, b), high = ws_maximum_f32(a, b);
  float median = ws_maximum_f32(low, ws_minimum_f32(high, c));
  bool nan = a != a || b != b || c != c;
  return nan ? ws_minimum_f32(low, c) : median;
}

/* Denormals become zeros of their sign. */
WS_INLINE float ws_flush(float value) {
  uint32_t bits = ws_float_bits(value);
  return ws_float(bits & 0x7f800000 ? bits : bits & 0x80000000);
}
/* Of a result with clamp. Not a number becomes 0 (MODE.DX10_CLAMP, set by the
 * ABI's default). */
WS_INLINE double ws_clamp_unit(double x) { return x > 0 ? x < 1 ? x : 1 : 0; }

/* 0 times anything is 0. */
WS_INLINE float ws_multiply_legacy(float a, float b) {
  return a == 0 || b == 0 ? 0.0f : a * b;
}

/* x - floor(x) rounds to 1 just below an integer; the hardware stays below
 * (LLVM matches v_fract as min(x - floor(x), 1 - ulp)). */
WS_INLINE float ws_fraction(float a, float below_one) {
  float fraction = a - __builtin_floorf(a);
  return fraction > below_one ? below_one : fraction;
}
WS_INLINE float ws_fraction_f32(float a) {
  return ws_fraction(a, 0x1.fffffep-1f);
}
WS_INLINE float ws_fraction_f16(float a) { return ws_fraction(a, 0x1.ffcp-1f); }
WS_INLINE double ws_fraction_f64(double a) {
  double fraction = a - __builtin_floor(a), below_one = 0x1.fffffffffffffp-1;
  return fraction > below_one ? below_one : fraction;
}

/* ---- reciprocals, roots, transcendentals ---- */

/* Computed in f64 and rounded. f32 knows no denormals here, whatever the mode
 * (LLVM lowers accurate divisions and roots around that). */
WS_INLINE float ws_reciprocal_f32(float a) {
  return ws_flush(1.0f / ws_flush(a));
}
WS_INLINE float ws_root_f32(float a) { return __builtin_sqrtf(ws_flush(a)); }
WS_INLINE float ws_reciprocal_root_f16(float a) {
  return (float)(1.0 / __builtin_sqrt((double)a));
}
WS_INLINE float ws_reciprocal_root_f32(float a) {
  return ws_reciprocal_root_f16(ws_flush(a));
}

/* 2^n */
WS_INLINE double ws_power_of_two(int32_t n) {
  return ws_double((uint64_t)(1023 + n) << 52);
}
/* 2^a in f64: 2^n times the Taylor series of 2^f, |f| <= 1/2, whose next term
 * is below 2^-57. */
WS_INLINE float ws_exponential_f16(float a) {
  static const double ln2 = 0.693147180559945309417232;
  double x = a != a ? 0 : a > 200 ? 200 : a < -200 ? -200 : (double)a;
  double whole = __builtin_rint(x), t = (x - whole) * ln2, sum = 1;
  for (int k = 13; k >= 1; k--)
    sum = 1 + sum * (t * (1.0 / k));
  double result = sum * ws_power_of_two((int32_t)whole);
  return a != a ? a : (float)result;
}
WS_INLINE float ws_exponential_f32(float a) {
  return ws_flush(ws_exponential_f16(ws_flush(a)));
}
WS_INLINE float ws_logarithm_f16(float a) { return (float)log2(a); }
WS_INLINE float ws_logarithm_f32(float a) {
  return ws_logarithm_f16(ws_flush(a));
}

/* Arguments of sin and cos are in turns; beyond 256 turns the result is that of
 * 0. */
#define WS_FULL_TURN 6.283185307179586476925287
WS_INLINE float ws_sine_f16(float a) {
  double turns = a;
  return fabs(turns) > 256 && !isinf(turns)
             ? 0
             : (float)sin((turns - rint(turns)) * WS_FULL_TURN);
}
WS_INLINE float ws_cosine_f16(float a) {
  double turns = a;
  return fabs(turns) > 256 && !isinf(turns)
             ? 1
             : (float)cos((turns - rint(turns)) * WS_FULL_TURN);
}
WS_INLINE float ws_sine_f32(float a) {
  return ws_flush(ws_sine_f16(ws_flush(a)));
}
WS_INLINE float ws_cosine_f32(float a) {
  return ws_flush(ws_cosine_f16(ws_flush(a)));
}

/* ---- exponent, mantissa, class ---- */
WS_INLINE double ws_mantissa_of(double value) {
  int exponent;
  return isfinite(value) ? frexp(value, &exponent) : value;
}
WS_INLINE int32_t ws_exponent_of(double value) {
  int exponent = 0;
  if (isfinite(value))
    frexp(value, &exponent);
  return exponent;
}

/* Bit of the class that bits fall in (CDNA3 ISA, V_CMP_CLASS_F32): 0 signalling
 * NaN, 1 quiet NaN, 2 -inf, 3 -normal, 4 -denormal, 5 -0, 6 +0, ... 9 +inf. */
WS_INLINE uint32_t ws_number_class(uint64_t bits, int mantissa, int width) {
  uint64_t fraction = bits & ((1ull << mantissa) - 1);
  uint64_t top = (1ull << (width - 1 - mantissa)) - 1;
  uint64_t exponent = bits >> mantissa & top;
  bool negative = bits >> (width - 1) & 1;
  if (exponent == top && fraction)
    return fraction >> (mantissa - 1) ? 1 : 0;
  uint32_t size = exponent == top ? 3 : exponent ? 2 : fraction ? 1 : 0;
  return negative ? 5 - size : 6 + size;
}

#endif
