/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lane loops that no kernel spends its time in, from the pseudo-code of the
 * "AMD Instinct MI300" CDNA3 ISA guide, chapter "Instructions", unless a line
 * says otherwise. Transcendentals are computed in f64 and rounded.
 */
#include "vector_rare.h"

#include <math.h>

#ifndef __clang__
#pragma GCC optimize("fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif

#define WS_TARGET
#define WS_LINKAGE
#define WS_NAME(x) ws__lanes_##x
#include "vector_letters.h"

KERNEL_1(log_f32, f, f, ws_logarithm_f32(a))
KERNEL_1(sin_f32, f, f, ws_sine_f32(a))
KERNEL_1(cos_f32, f, f, ws_cosine_f32(a))
KERNEL_1(log_f16, h, h, ws_logarithm_f16(a))
KERNEL_1(sin_f16, h, h, ws_sine_f16(a))
KERNEL_1(cos_f16, h, h, ws_cosine_f16(a))

KERNEL_1(frexp_mant_f16, h, h, (float)ws_mantissa_of(a))
KERNEL_1(frexp_mant_f32, f, f, (float)ws_mantissa_of(a))
KERNEL_1(frexp_mant_f64, F, F, ws_mantissa_of(a))
KERNEL_1(frexp_exp_i16_f16, x, h, ws_exponent_of(a))
KERNEL_1(frexp_exp_i32_f32, i, f, ws_exponent_of(a))
KERNEL_1(frexp_exp_i32_f64, i, F, ws_exponent_of(a))
KERNEL_2(ldexp_f64, F, F, i, ldexp(a, b))

/* The next 53 bits of 2/pi for the reduction of an argument as large as S0,
 * from the S1-th group on. */
static const uint32_t two_over_pi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
    0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c,
    0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,
    0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
    0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08,
    0x56033046, 0xfc7b0000};

static double two_over_pi_part(double a, uint32_t group) {
  int exponent = (int)(ws_double_bits(a) >> 52 & 0x7ff);
  int shift = (int)(group & 31) * 53;
  shift += exponent > 1077 ? exponent - 1077 : 0;
  uint64_t bits = 0;
  for (int i = shift; i < shift + 53; i++) {
    bool set = i < 1201 && two_over_pi[i / 32] >> (31 - i % 32) & 1;
    bits = bits << 1 | set;
  }
  return ldexp((double)bits, -53 - shift + (exponent >= 1968 ? 128 : 0));
}
KERNEL_2(trig_preop_f64, F, F, u, two_over_pi_part(a, b))

/* ---- steps of a division ----------------------------------------------------
 * v_div_scale brings operands to where the quotient's iteration neither
 * overflows nor meets denormals, v_div_fmas undoes it, v_div_fixup replaces
 * special cases. Where the guide multiplies a denominator near the largest
 * number by 2^64 (its case "1/S1 and S2/S1 denormal"), 2^-64 is meant: only
 * that gives correct quotients.
 */

struct division {
  double least;        /* smallest normal number */
  int bias, far, near; /* bounds on exponents: near the largest; tiny */
  int scale;
};
static const struct division division_f32 = {0x1p-126, 127, 96, 23, 64};
static const struct division division_f64 = {0x1p-1022, 1023, 768, 53, 128};

static int biased_exponent(double value, const struct division *type) {
  int exponent;
  if (!isfinite(value))
    return 2 * type->bias + 1;
  if (fabs(value) < type->least)
    return 0;
  frexp(value, &exponent);
  return exponent - 1 + type->bias;
}

static bool is_denormal(long double value, const struct division *type) {
  return value != 0 && fabsl(value) < type->least;
}

/* Power of two for the operand x: the denominator d, or the numerator n. */
static int scale_of(double x, double d, double n, const struct division *type,
                    bool *out_flag) {
  bool tiny_inverse = is_denormal(1 / (long double)d, type);
  bool tiny_quotient = is_denormal((long double)n / d, type);
  bool far = biased_exponent(n, type) - biased_exponent(d, type) >= type->far;
  *out_flag = true;
  if (far)
    return x == d ? type->scale : 0;
  *out_flag = tiny_quotient;
  if (is_denormal(d, type)) {
    *out_flag = false;
    return type->scale;
  }
  if (tiny_inverse && tiny_quotient)
    return x == d ? -type->scale : 0;
  if (tiny_inverse)
    return -type->scale;
  if (tiny_quotient)
    return x == n ? type->scale : 0;
  return biased_exponent(n, type) <= type->near ? type->scale : 0;
}

static double scaled(double x, double d, double n, const struct division *type,
                     bool *out_flag) {
  *out_flag = false;
  if (d == 0 || n == 0)
    return NAN;
  return ldexp(x, scale_of(x, d, n, type, out_flag));
}

#define KERNEL_DIV_SCALE(t)                                                    \
  const struct ws_lanes v = *lanes;                                            \
  uint64_t mask = 0;                                                           \
  for (int i = 0; i < WS_LANES; i++) {                                         \
    bool flag;                                                                 \
    TYPE_##t value = (TYPE_##t)scaled(GET_##t(0), GET_##t(1), GET_##t(2),      \
                                      DIVISION_##t, &flag);                    \
    PUT_##t(value);                                                            \
    mask |= (uint64_t)flag << i;                                               \
  }                                                                            \
  lanes->mask_out = mask;
#define DIVISION_f &division_f32
#define DIVISION_F &division_f64
KERNEL(div_scale_f32){KERNEL_DIV_SCALE(f)} KERNEL(div_scale_f64) {
  KERNEL_DIV_SCALE(F)
}

/* A quotient that was scaled up is scaled back, by its own size. In f64 before
 * the rounding to f32. */
static float fmas_f32(float a, float b, float c, bool scale) {
  if (!scale)
    return fmaf(a, b, c);
  return (float)(fma(a, b, c) * (fabsf(c) >= 2 ? 0x1p64 : 0x1p-64));
}
/* f64 has no wider type: where the sum lies half way between two denormals,
 * its rounding error says which is nearer. */
static double fmas_f64(double a, double b, double c, bool scale) {
  const double half_way = 0x1p-947; /* half of 2^-1074, times 2^128 */
  double sum = fma(a, b, c);
  if (!scale)
    return sum;
  if (fabs(c) >= 2)
    return ldexp(sum, 128);
  double result = ldexp(sum, -128);
  double rest = sum - ldexp(result, 128), error = fma(a, b, c - sum);
  if (rest == half_way && error > 0)
    result += 0x1p-1074;
  if (rest == -half_way && error < 0)
    result -= 0x1p-1074;
  return result;
}
KERNEL_3(div_fmas_f32, f, f, f, f, fmas_f32(a, b, c, v.mask_in >> i & 1))
KERNEL_3(div_fmas_f64, F, F, F, F, fmas_f64(a, b, c, v.mask_in >> i & 1))

/* quotient: NaN, infinity or 0 where the operands say so. */
static double fixup(double quotient, double d, double n) {
  bool negative = signbit(d) != signbit(n);
  double result = fabs(quotient);
  if (isnan(n))
    return n;
  if (isnan(d))
    return d;
  if ((d == 0 && n == 0) || (isinf(d) && isinf(n)))
    return -NAN;
  if (d == 0 || isinf(n))
    result = INFINITY;
  else if (isinf(d) || n == 0)
    result = 0;
  return negative ? -result : result;
}
/* Of finite operands: far below the smallest denormal the iteration's result
 * means nothing, and it is NaN where the quotient overflows on the way. */
static double fixup_range(double quotient, double d, double n,
                          const struct division *type, int below) {
  bool finite = isfinite(d) && isfinite(n) && d != 0 && n != 0;
  int gap = biased_exponent(n, type) - biased_exponent(d, type);
  if (finite && gap < below)
    quotient = 0;
  else if (finite && isnan(quotient))
    quotient = INFINITY;
  return fixup(quotient, d, n);
}
KERNEL_3(div_fixup_f16, h, h, h, h, (float)fixup(a, b, c))
KERNEL_3(div_fixup_f32, f, f, f, f,
         (float)fixup_range(a, b, c, &division_f32, -150))
KERNEL_3(div_fixup_f64, F, F, F, F, fixup_range(a, b, c, &division_f64, -1075))

/* ---- cube maps: a, b, c are x, y, z
 * ------------------------------------------
 */

enum { X_MAJOR, Y_MAJOR, Z_MAJOR };
static int major_axis(float x, float y, float z) {
  x = fabsf(x);
  y = fabsf(y);
  z = fabsf(z);
  return z >= x && z >= y ? Z_MAJOR : y >= x ? Y_MAJOR : X_MAJOR;
}
static float cube_face(float x, float y, float z) {
  const float axis[] = {x, y, z};
  int major = major_axis(x, y, z);
  return (float)(2 * major + (axis[major] < 0));
}
static float cube_s(float x, float y, float z) {
  switch (major_axis(x, y, z)) {
  case Z_MAJOR:
    return z < 0 ? -x : x;
  case Y_MAJOR:
    return x;
  default:
    return x < 0 ? z : -z;
  }
}
static float cube_t(float x, float y, float z) {
  if (major_axis(x, y, z) == Y_MAJOR)
    return y < 0 ? -z : z;
  return -y;
}
static float cube_major(float x, float y, float z) {
  const float axis[] = {x, y, z};
  return 2 * axis[major_axis(x, y, z)];
}
KERNEL_3(cubeid_f32, f, f, f, f, cube_face(a, b, c))
KERNEL_3(cubesc_f32, f, f, f, f, cube_s(a, b, c))
KERNEL_3(cubetc_f32, f, f, f, f, cube_t(a, b, c))
KERNEL_3(cubema_f32, f, f, f, f, cube_major(a, b, c))

/* ---- bits and bytes ---------------------------------------------------------
 */

KERNEL_1(ffbh_u32, u, u, ws_leading_zeros(a))
KERNEL_1(ffbh_i32, u, i, ws_leading_signs(a))
KERNEL_1(ffbl_b32, u, u, a ? (uint32_t)__builtin_ctz(a) : UINT32_MAX)
KERNEL_3(lerp_u8, u, u, u, u, ws_average_bytes(a, b, c))

#define KERNELS_SAD(name, value)                                               \
  KERNEL_3(name, u, u, u, u, (value) + c)                                      \
  KERNEL_3(name##_saturating, u, u, u, u, ws_clamp_u32((int64_t)(value) + c))
KERNELS_SAD(sad_u8, ws_byte_distance(a, b, false))
KERNELS_SAD(sad_hi_u8, ws_byte_distance(a, b, false) << 16)
KERNELS_SAD(msad_u8, ws_byte_distance(a, b, true))
KERNELS_SAD(sad_u16, ws_word_distance(a, b))
KERNELS_SAD(sad_u32, ws_distance(a, b))

KERNEL_3(qsad_pk_u16_u8, U, U, u, U, ws_window_distances(a, b, c, false))
KERNEL_3(mqsad_pk_u16_u8, U, U, u, U, ws_window_distances(a, b, c, true))
KERNEL(mqsad_u32_u8) {
  const struct ws_lanes v = *lanes;
  for (int i = 0; i < WS_LANES; i++) {
    uint64_t a = WIDE(0);
    uint32_t reference = WORD(1), sums[4];
    for (int k = 0; k < 4; k++)
      sums[k] = ws_byte_distance((uint32_t)(a >> 8 * k), reference, true) +
                v.source[2][k][i];
    for (int k = 0; k < 4; k++)
      v.result[k][i] = sums[k];
  }
}

/* ---- conversions ------------------------------------------------------------
 */

KERNEL_1(cvt_i32_f64, i, F, (int32_t)ws_bounded(a, INT32_MIN, INT32_MAX))
KERNEL_1(cvt_u32_f64, u, F, (uint32_t)ws_bounded(a, 0, UINT32_MAX))
/* Four bits as sixteenths, -8/16 to 7/16. */
KERNEL_1(cvt_off_f32_i4, f, u, (float)ws_sign_extend(a, 4) / 16)

KERNEL_1(cvt_norm_i16_f16, w, h, ws_norm_i16(a))
KERNEL_1(cvt_norm_u16_f16, w, h, ws_norm_u16(a))
KERNEL_2(cvt_pknorm_i16_f32, u, f, f, ws_norm_i16(a) | ws_norm_i16(b) << 16)
KERNEL_2(cvt_pknorm_u16_f32, u, f, f, ws_norm_u16(a) | ws_norm_u16(b) << 16)
KERNEL_2(cvt_pknorm_i16_f16, u, h, h, ws_norm_i16(a) | ws_norm_i16(b) << 16)
KERNEL_2(cvt_pknorm_u16_f16, u, h, h, ws_norm_u16(a) | ws_norm_u16(b) << 16)

KERNEL_3(cvt_pk_u8_f32, u, f, u, u, ws_pack_byte(a, b, c))
KERNEL_3(cvt_pkaccum_u8_f32, u, f, u, u, ws_pack_byte(a, b, c))

static uint32_t saturate_u8(int32_t value) {
  return value < 0 ? 0 : value > UINT8_MAX ? UINT8_MAX : (uint32_t)value;
}
KERNEL_1(sat_pk_u8_i16, u, u,
         saturate_u8((int16_t)a) | saturate_u8((int32_t)a >> 16) << 8)

/* ---- dot products -----------------------------------------------------------
 */

KERNEL_3(dot2_f32_f16, f, u, u, f, ws_dot_half(a, b, c))

#define KERNELS_DOT(name, c_type, clamp, sum)                                  \
  KERNEL_3(name, u, u, u, c_type, (uint32_t)((sum) + c))                       \
  KERNEL_3(name##_saturating, u, u, u, c_type, (uint32_t)clamp((sum) + c))
KERNELS_DOT(dot2_i32_i16, i, ws_clamp_i32, ws_dot_signed(a, b, 16))
KERNELS_DOT(dot2_u32_u16, u, ws_clamp_u32, ws_dot_unsigned(a, b, 16))
KERNELS_DOT(dot4_i32_i8, i, ws_clamp_i32, ws_dot_signed(a, b, 8))
KERNELS_DOT(dot4_u32_u8, u, ws_clamp_u32, ws_dot_unsigned(a, b, 8))
KERNELS_DOT(dot8_i32_i4, i, ws_clamp_i32, ws_dot_signed(a, b, 4))
KERNELS_DOT(dot8_u32_u4, u, ws_clamp_u32, ws_dot_unsigned(a, b, 4))
