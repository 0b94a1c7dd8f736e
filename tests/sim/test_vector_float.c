/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Floating point of the VALU: arithmetic, conversions, fp8 FNUZ, packed forms,
 * denormals and rounding by the MODE register, divisions. Models are C's float,
 * double and _Float16, long double, or the format's definition.
 */
#include "vector_probe.h"
#include "wavesmith/mfma.h"

#include <fenv.h>

/* ---- f32 ------------------------------------------------------------------
 */
PROBE(add_f32, FLOATS, 'f', "v_add_f32_e32 v10, v2, v4",
      r = BITS(F32(a) + F32(b));)
PROBE(subrev_f32, FLOATS, 'f', "v_subrev_f32_e32 v10, v2, v4",
      r = BITS(F32(b) - F32(a));)
PROBE(mul_f32_scalar, FLOATS, 'f', "v_mul_f32_e32 v10, s22, v4",
      r = BITS(F32(k) * F32(b));)
PROBE(mul_legacy, FLOATS, 'f', "v_mul_legacy_f32_e32 v10, v2, v4",
      r = F32(a) == 0 || F32(b) == 0 ? 0 : BITS(F32(a) * F32(b));)
PROBE(add_f32_modifiers, FLOATS, 'f', "v_add_f32_e64 v10, -|v2|, |v4|",
      r = BITS(-fabsf(F32(a)) + fabsf(F32(b)));)
PROBE(add_f32_clamp, FLOATS, 'f', "v_add_f32_e64 v10, v2, v4 clamp",
      float sum = F32(a) + F32(b);
      r = BITS(sum > 1   ? 1.0f
               : sum > 0 ? sum
                         : 0.0f);)
/* The product of 1 + 2^-12 with itself has a last bit that only a fused
 * operation keeps. */
PROBE(fma_f32, FLOATS, 'f', "v_fma_f32 v10, v2, v4, v6",
      r = BITS(fmaf(F32(a), F32(b), F32(c)));)
WS_TEST(fma_is_fused) {
  for (int code = 0; ws__vector_code(code); code++) {
    ws__vector_use(ws__vector_code(code));
    fill(FLOATS);
    ws_set_sgpr64(&probe_wave, WS_SGPR_EXEC, UINT64_MAX);
    for (int i = 0; i < WS_LANES; i++) {
      probe_registers[2].u32[i] = probe_registers[4].u32[i] =
          BITS(1 + 0x1p-12f);
      probe_registers[6].u32[i] = BITS(-1 - 0x1p-11f);
    }
    run_line("v_fma_f32 v10, v2, v4, v6");
    WS_CHECK(F32(probe_registers[10].u32[63]) == 0x1p-24f);
    run_line("v_fmac_f32_e32 v6, v2, v4");
    WS_CHECK(F32(probe_registers[6].u32[1]) == 0x1p-24f);
  }
}
PROBE(fmac_f32, FLOATS, 'f', "v_fmac_f32_e32 v10, v2, v4",
      r = BITS(fmaf(F32(a), F32(b), F32(old)));)
PROBE(fmaak, FLOATS, 'f', "v_fmaak_f32 v10, v2, v4, 0x40490fdb",
      r = BITS(fmaf(F32(a), F32(b), F32(0x40490fdb)));)
PROBE(fmamk, FLOATS, 'f', "v_fmamk_f32 v10, v2, 0x40490fdb, v4",
      r = BITS(fmaf(F32(a), F32(0x40490fdb), F32(b)));)
/* A signalling NaN wins (MODE.IEEE), a number beats a quiet one, -0 is below
 * +0. */
static bool signals(uint32_t bits) {
  return isnan(F32(bits)) && !(bits & 0x400000);
}
static uint32_t least(uint32_t x, uint32_t y) {
  if (signals(x) || signals(y))
    return 0x7fc00000;
  if (isnan(F32(x)) || isnan(F32(y)))
    return isnan(F32(x)) ? y : x;
  return F32(x) < F32(y) || (F32(x) == F32(y) && x >> 31) ? x : y;
}
static uint32_t most(uint32_t x, uint32_t y) {
  return least(x ^ 0x80000000, y ^ 0x80000000) ^ 0x80000000;
}
PROBE(min_f32, FLOATS, 'f', "v_min_f32_e32 v10, v2, v4", r = least(a, b);)
PROBE(max_f32, FLOATS, 'f', "v_max_f32_e32 v10, v2, v4", r = most(a, b);)
PROBE(max3_f32, FLOATS, 'f', "v_max3_f32 v10, v2, v4, v6",
      r = most(most(a, b), c);)
/* Bits of numbers as integers of the same order. */
static int64_t ordered(uint32_t bits) {
  return bits >> 31 ? -1 - (int64_t)(bits & 0x7fffffff) : (int64_t)bits;
}
PROBE(med3_f32, FLOATS, 'f', "v_med3_f32 v10, v2, v4, v6",
      int64_t x = ordered(a);
      int64_t y = ordered(b); int64_t z = ordered(c);
      r = (x >= y && x <= z) || (x >= z && x <= y)   ? a
          : (y >= x && y <= z) || (y >= z && y <= x) ? b
                                                     : c;
      if (isnan(F32(a)) || isnan(F32(b)) || isnan(F32(c)))
          r = least(least(a, b), c);)
PROBE(rndne_f32, FLOATS, 'f', "v_rndne_f32_e32 v10, v2",
      r = BITS(nearbyintf(F32(a)));)
PROBE(floor_f32, FLOATS, 'f', "v_floor_f32_e32 v10, v2",
      r = BITS(floorf(F32(a)));)
PROBE(trunc_f32, FLOATS, 'f', "v_trunc_f32_e32 v10, v2",
      r = BITS(truncf(F32(a)));)
PROBE(fract_f32, FLOATS, 'f', "v_fract_f32_e32 v10, v2",
      float x = F32(a) - floorf(F32(a));
      r = BITS(x >= 1 ? 0x1.fffffep-1f : x);)
PROBE(ldexp_f32, FLOATS, 'f', "v_ldexp_f32 v10, v2, 5",
      r = BITS(ldexpf(F32(a), 5));)
PROBE(ldexp_f32_down, FLOATS, 'f', "v_ldexp_f32 v10, v2, v4",
      r = BITS(ldexpf(F32(a), (int32_t)b > 1000    ? 1000
                              : (int32_t)b < -1000 ? -1000
                                                   : (int32_t)b));)
PROBE(frexp_mant, FLOATS, 'f', "v_frexp_mant_f32_e32 v10, v2", int e;
      r = isfinite(F32(a)) ? BITS(frexpf(F32(a), &e)) : a;)
PROBE(frexp_exp, FLOATS, 'u', "v_frexp_exp_i32_f32_e32 v10, v2", int e = 0;
      if (isfinite(F32(a))) frexpf(F32(a), &e); r = (uint32_t)e;)
static float no_denormal(float x) {
  return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}
PROBE(rcp_f32, FLOATS, 'f', "v_rcp_f32_e32 v10, v2",
      r = BITS(no_denormal(1 / no_denormal(F32(a))));)
PROBE(sqrt_f32, FLOATS, 'f', "v_sqrt_f32_e32 v10, v2",
      r = BITS(sqrtf(no_denormal(F32(a))));)
PROBE(rsq_f32, FLOATS, 'f', "v_rsq_f32_e32 v10, v2",
      r = BITS((float)(1 / sqrtl(no_denormal(F32(a)))));)
PROBE(exp_f32, FLOATS, 'f', "v_exp_f32_e32 v10, v2",
      r = BITS(no_denormal((float)exp2l(F32(a))));)
PROBE(log_f32, FLOATS, 'f', "v_log_f32_e32 v10, v2",
      r = BITS((float)log2l(no_denormal(F32(a))));)
/* In turns; eighths by hand. Beyond 256 turns: 0. */
PROBE(sin_eighth, SMALL, 'f', "v_sin_f32_e32 v10, 0x3e000000",
      r = BITS((float)sqrt(0.5));)
PROBE(cos_turns, SMALL, 'f', "v_cos_f32_e32 v10, 4.0", r = BITS(1);)
PROBE(sin_far, SMALL, 'f', "v_sin_f32_e32 v10, 0x43804000", r = BITS(0);)

PROBE(cmp_class, FLOATS, 'u', "v_cmp_class_f32_e64 vcc, v2, v4",
      float x = F32(a);
      int cls = isnan(x)               ? (a >> 22 & 1)
                : isinf(x)             ? (signbit(x) ? 2 : 9)
                : x == 0               ? (signbit(x) ? 5 : 6)
                : fabsf(x) < 0x1p-126f ? (signbit(x) ? 4 : 7)
                                       : (signbit(x) ? 3 : 8);
      bit = b >> cls & 1;)
PROBE(cmp_nlt_f32, FLOATS, 'u', "v_cmp_nlt_f32_e32 vcc, v2, v4",
      bit = !(F32(a) < F32(b));)
PROBE(cmp_lg_f32, FLOATS, 'u', "v_cmp_lg_f32_e32 vcc, v2, v4",
      bit = F32(a) < F32(b) || F32(a) > F32(b);)
PROBE(cmp_u_f32, FLOATS, 'u', "v_cmp_u_f32_e32 vcc, v2, v4",
      bit = isnan(F32(a)) || isnan(F32(b));)
PROBE(cmp_ge_f32_abs, FLOATS, 'u', "v_cmp_ge_f32_e64 vcc, |v2|, -v4",
      bit = fabsf(F32(a)) >= -F32(b);)
PROBE(cmp_neq_f64, DOUBLES, 'u', "v_cmp_neq_f64_e32 vcc, v[2:3], v[4:5]",
      bit = !(F64(a, a1) == F64(b, b1));)
PROBE(cmp_le_f16, HALVES, 'u', "v_cmp_le_f16_e32 vcc, v2, v4",
      bit = F16(a) <= F16(b);)

/* ---- f64 ------------------------------------------------------------------
 */
PROBE(add_f64, DOUBLES, 'F', "v_add_f64 v[10:11], v[2:3], -v[4:5]",
      PUT_DOUBLE(F64(a, a1) - F64(b, b1));)
PROBE(fma_f64, DOUBLES, 'F', "v_fma_f64 v[10:11], v[2:3], |v[4:5]|, v[6:7]",
      PUT_DOUBLE(fma(F64(a, a1), fabs(F64(b, b1)), F64(c, c1)));)
PROBE(fmac_f64, DOUBLES, 'F', "v_fmac_f64_e32 v[10:11], v[2:3], v[4:5]",
      PUT_DOUBLE(fma(F64(a, a1), F64(b, b1), F64(old, old1)));)
PROBE(max_f64, DOUBLES, 'F', "v_max_f64 v[10:11], v[2:3], v[4:5]",
      double x = F64(a, a1);
      double y = F64(b, b1);
      PUT_DOUBLE(isnan(x)                                       ? y
                 : isnan(y) || x > y || (x == y && !signbit(x)) ? x
                                                                : y);)
PROBE(rndne_f64, DOUBLES, 'F', "v_rndne_f64_e32 v[10:11], v[2:3]",
      PUT_DOUBLE(nearbyint(F64(a, a1)));)
PROBE(ldexp_f64, DOUBLES, 'F', "v_ldexp_f64 v[10:11], v[2:3], -3",
      PUT_DOUBLE(ldexp(F64(a, a1), -3));)
PROBE(cvt_f64_f32, FLOATS, 'F', "v_cvt_f64_f32_e32 v[10:11], v2",
      PUT_DOUBLE((double)F32(a));)
PROBE(cvt_f32_f64, DOUBLES, 'f', "v_cvt_f32_f64_e32 v10, v[2:3]",
      r = BITS((float)F64(a, a1));)
PROBE(cvt_i32_f64, DOUBLES, 'u', "v_cvt_i32_f64_e32 v10, v[2:3]",
      double x = trunc(F64(a, a1));
      r = isnan(x)          ? 0
          : x >= 2147483647 ? 0x7fffffff
          : x <= -0x1p31    ? 0x80000000
                            : (uint32_t)(int64_t)x;)
/* 2/pi = 0.a2f9836e4e441529fc... (hexadecimal) */
PROBE(trig_preop, SMALL, 'F', "v_trig_preop_f64 v[10:11], 1.0, 0",
      PUT_DOUBLE(0x145f306dc9c882p-53);)
PROBE(trig_preop_next, SMALL, 'F', "v_trig_preop_f64 v[10:11], 1.0, 1",
      PUT_DOUBLE(0x14a7f09d5f47d4p-106);)

/* ---- conversions ----------------------------------------------------------
 */
PROBE(cvt_i32_f32, FLOATS, 'u', "v_cvt_i32_f32_e32 v10, v2", float x = F32(a);
      r = isnan(x)        ? 0
          : x >= 0x1p31f  ? 0x7fffffff
          : x <= -0x1p31f ? 0x80000000
                          : (uint32_t)(int32_t)x;)
PROBE(cvt_u32_f32, FLOATS, 'u', "v_cvt_u32_f32_e32 v10, v2", float x = F32(a);
      r = !(x > 0)       ? 0
          : x >= 0x1p32f ? UINT32_MAX
                         : (uint32_t)x;)
PROBE(cvt_f32_u32, INTS, 'f', "v_cvt_f32_u32_e32 v10, v2", r = BITS((float)a);)
PROBE(cvt_f32_ubyte2, INTS, 'f', "v_cvt_f32_ubyte2_e32 v10, v2",
      r = BITS((float)(a >> 16 & 255));)
PROBE(cvt_f16_f32, FLOATS, 'h', "v_cvt_f16_f32_e32 v10, v2", r = HALF(F32(a));)
PROBE(cvt_f16_f32_near, HALVES, 'h', "v_cvt_f16_f32_e32 v10, v2",
      r = HALF(F32(a));)
PROBE(cvt_f32_f16, HALVES, 'f', "v_cvt_f32_f16_e32 v10, v2", r = BITS(F16(a));)
static uint32_t half_toward_zero(float x) {
  uint32_t half = HALF(x);
  if (isfinite(x) && fabsf(F16(half)) > fabsf(x))
    half--; /* magnitude, one step down; from infinity to the largest */
  return half;
}
PROBE(cvt_pkrtz, FLOATS, 'H', "v_cvt_pkrtz_f16_f32 v10, v2, v4",
      r = half_toward_zero(F32(a)) | half_toward_zero(F32(b)) << 16;)
PROBE(cvt_u16_f16, HALVES, 'u', "v_cvt_u16_f16_e32 v10, v2", float x = F16(a);
      r = !(x > 0)    ? 0
          : x > 65535 ? 65535
                      : (uint32_t)x;)
PROBE(cvt_pk_u8, FLOATS, 'u', "v_cvt_pk_u8_f32 v10, v2, 2, v6",
      float x = F32(a);
      uint32_t byte = !(x > 0)  ? 0
                      : x > 255 ? 255
                                : (uint32_t)nearbyintf(x);
      r = (c & 0xff00ffff) | byte << 16;)
PROBE(
    cvt_pknorm_i16, FLOATS, 'u', "v_cvt_pknorm_i16_f32 v10, v2, v4",
    float x[2] = {F32(a), F32(b)};
    r = 0; for (int i = 0; i < 2; i++) {
      double y = isnan(x[i]) ? 0 : x[i] > 1 ? 1 : x[i] < -1 ? -1 : x[i];
      r |= (uint32_t)(uint16_t)(int16_t)nearbyint(y * 32767) << 16 * i;
    })
PROBE(cvt_off_f32_i4, INTS, 'f', "v_cvt_off_f32_i4_e32 v10, v2",
      r = BITS((float)((int)(a & 15) - (a & 8 ? 16 : 0)) / 16);)

/* ---- fp8 FNUZ -------------------------------------------------------------
 */

/* From the definition: the nearest of all codes, ties to the even one. */
static uint32_t nearest_fnuz(ws_fp8_format format, float x, bool saturate) {
  double largest = ws_fp8_decode(format, 0x7f), magnitude = fabs((double)x);
  uint32_t best = 0;
  if (isnan(x))
    return 0x80;
  /* Where the next number, if there were one, would round to. */
  double step = largest - ws_fp8_decode(format, 0x7e);
  if (magnitude >= largest + step / 2)
    return saturate ? 0x7f | (signbit(x) ? 0x80 : 0) : 0x80;
  for (uint32_t code = 1; code < 128; code++) {
    double old = fabs(ws_fp8_decode(format, (uint8_t)best) - magnitude);
    double new = fabs(ws_fp8_decode(format, (uint8_t)code) - magnitude);
    if (new < old || (new == old &&code % 2 == 0))
      best = code;
  }
  return best && signbit(x) ? best | 0x80 : best;
}
#define PACK_FNUZ(format, saturate)                                            \
  (nearest_fnuz(format, F32(a), saturate) |                                    \
   nearest_fnuz(format, F32(b), saturate) << 8)
PROBE(cvt_pk_fp8, FLOATS, 'u', "v_cvt_pk_fp8_f32 v10, v2, v4",
      r = PACK_FNUZ(WS_FP8_E4M3_FNUZ, false) | (old & 0xffff0000);)
PROBE(cvt_pk_fp8_high, FLOATS, 'u',
      "v_cvt_pk_fp8_f32 v10, v2, v4 op_sel:[0,0,1]",
      r = PACK_FNUZ(WS_FP8_E4M3_FNUZ, false) << 16 | (old & 0xffff);)
PROBE(cvt_pk_bf8, FLOATS, 'u', "v_cvt_pk_bf8_f32 v10, v2, v4",
      r = PACK_FNUZ(WS_FP8_E5M2_FNUZ, false) | (old & 0xffff0000);)
PROBE_MODE(cvt_pk_fp8_saturates, FLOATS, 'u',
           WS_MODE_DEFAULT | WS_MODE_FP16_OVFL, "v_cvt_pk_fp8_f32 v10, v2, v4",
           r = PACK_FNUZ(WS_FP8_E4M3_FNUZ, true) | (old & 0xffff0000);)
PROBE(cvt_f32_fp8, INTS, 'f', "v_cvt_f32_fp8_e32 v10, v2",
      r = BITS(ws_fp8_decode(WS_FP8_E4M3_FNUZ, (uint8_t)a));)
PROBE(cvt_f32_fp8_byte, INTS, 'f', "v_cvt_f32_fp8_sdwa v10, v2 src0_sel:BYTE_3",
      r = BITS(ws_fp8_decode(WS_FP8_E4M3_FNUZ, (uint8_t)(a >> 24)));)
PROBE(cvt_pk_f32_bf8, INTS, 'G',
      "v_cvt_pk_f32_bf8_sdwa v[10:11], v2 src0_sel:WORD_1",
      r = BITS(ws_fp8_decode(WS_FP8_E5M2_FNUZ, (uint8_t)(a >> 16)));
      r1 = BITS(ws_fp8_decode(WS_FP8_E5M2_FNUZ, (uint8_t)(a >> 24)));)

static void set_all(int index, uint32_t value) {
  for (int i = 0; i < WS_LANES; i++)
    probe_registers[index].u32[i] = value;
}

/* All 256 bytes, and back: a code's number converts to the code. By hand: bias
 * 8 makes 0x40 1.0, 0x7f 240, 0x01 2^-10; bias 16 makes 0x40 1.0, 0x7f 57344,
 * 0x01 2^-17; 0x80 is NaN, and so is nothing else. */
static void check_fnuz_byte(uint32_t byte) {
  set_all(2, byte << 8 | 0x40);
  run_line("v_cvt_pk_f32_fp8_e32 v[4:5], v2");
  WS_CHECK(F32(probe_registers[4].u32[5]) == 1.0f);
  float fp8 = F32(probe_registers[5].u32[5]);
  WS_CHECK(isnan(fp8) == (byte == 0x80));
  run_line("v_cvt_pk_fp8_f32 v6, v4, v5");
  WS_CHECK_INT(probe_registers[6].u32[5] >> 8 & 255, byte);
  run_line("v_cvt_pk_f32_bf8_e32 v[4:5], v2");
  WS_CHECK(F32(probe_registers[4].u32[5]) == 1.0f);
  WS_CHECK(isnan(F32(probe_registers[5].u32[5])) == (byte == 0x80));
  run_line("v_cvt_pk_bf8_f32 v6, v4, v5");
  WS_CHECK_INT(probe_registers[6].u32[5] >> 8 & 255, byte);
}
WS_TEST(fnuz_all_bytes) {
  for (int code = 0; ws__vector_code(code); code++) {
    ws__vector_use(ws__vector_code(code));
    fill(INTS);
    ws_set_sgpr64(&probe_wave, WS_SGPR_EXEC, UINT64_MAX);
    for (uint32_t byte = 0; byte < 256; byte++)
      check_fnuz_byte(byte);
    set_all(2, 0x7f01);
    run_line("v_cvt_pk_f32_fp8_e32 v[4:5], v2");
    WS_CHECK(F32(probe_registers[4].u32[0]) == 0x1p-10f);
    WS_CHECK(F32(probe_registers[5].u32[0]) == 240);
    run_line("v_cvt_pk_f32_bf8_e32 v[4:5], v2");
    WS_CHECK(F32(probe_registers[4].u32[0]) == 0x1p-17f);
    WS_CHECK(F32(probe_registers[5].u32[0]) == 57344);
  }
}
/* 1.0 + 3/8 ulp of fp8: the seed's top 20 bits decide; from 5/8 of 2^20 on it
 * goes up. */
WS_TEST(fp8_stochastic_rounding) {
  for (int code = 0; ws__vector_code(code); code++) {
    ws__vector_use(ws__vector_code(code));
    fill(INTS);
    ws_set_sgpr64(&probe_wave, WS_SGPR_EXEC, UINT64_MAX);
    set_all(2, BITS(1 + 0x1.8p-2f * 0x1p-3f));
    set_all(10, 0x11223344);
    set_all(4, 0x9fffffff);
    run_line("v_cvt_sr_fp8_f32 v10, v2, v4");
    WS_CHECK_INT(probe_registers[10].u32[7], 0x11223340);
    set_all(4, 0xa0000000);
    run_line("v_cvt_sr_fp8_f32 v10, v2, v4 op_sel:[0,0,0,1]");
    WS_CHECK_INT(probe_registers[10].u32[7], 0x11413340);
  }
}

/* ---- f16 ------------------------------------------------------------------
 */
PROBE(add_f16, HALVES, 'h', "v_add_f16_e32 v10, v2, v4",
      r = HALF((double)F16(a) + F16(b));)
PROBE(mul_f16, HALVES, 'h', "v_mul_f16_e32 v10, v2, v4",
      r = HALF((double)F16(a) * F16(b));)
PROBE(fma_f16_select, HALVES, 'H',
      "v_fma_f16 v10, v2, -v4, v6 op_sel:[1,0,1,1]",
      r = HALF(fma(F16(a >> 16), -F16(b), F16(c >> 16))) << 16 |
          (old & 0xffff);)
PROBE(fma_legacy_f16, HALVES, 'h', "v_fma_legacy_f16 v10, v2, v4, v6",
      r = HALF(fma(F16(a), F16(b), F16(c)));)
PROBE(mac_f16, HALVES, 'h', "v_mac_f16_e32 v10, v2, v4",
      r = HALF((double)F16(HALF((double)F16(a) * F16(b))) + F16(old)) |
          (old & 0xffff0000);)
static bool signals_half(uint32_t bits) {
  return is_nan_half(bits) && !(bits & 0x200);
}
PROBE(min_f16, HALVES, 'h', "v_min_f16_e32 v10, v2, v4",
      r = HALF(F32(least(BITS(F16(a)), BITS(F16(b)))));
      if (signals_half(a) || signals_half(b)) r = 0x7e00;)
PROBE(ldexp_f16, HALVES, 'h', "v_ldexp_f16_e32 v10, v2, v4",
      r = HALF(ldexp(F16(a), (int16_t)b));)
PROBE(rcp_f16, HALVES, 'h', "v_rcp_f16_e32 v10, v2", r = HALF(1.0 / F16(a));)
PROBE(sqrt_f16, HALVES, 'h', "v_sqrt_f16_e32 v10, v2", r = HALF(sqrt(F16(a)));)
PROBE(fract_f16, HALVES, 'h', "v_fract_f16_e32 v10, v2",
      double x = F16(a) - floor(F16(a));
      r = HALF(x > 0x1.ffcp-1 ? 0x1.ffcp-1 : x);)
PROBE(pack, INTS, 'u', "v_pack_b32_f16 v10, v2, v4 op_sel:[1,0,0]",
      r = a >> 16 | b << 16;)
PROBE(pk_fma_f16, HALVES, 'H',
      "v_pk_fma_f16 v10, v2, v4, v6 op_sel:[0,1,0] op_sel_hi:[1,0,1] "
      "neg_lo:[1,0,0] neg_hi:[0,0,1]",
      r = HALF(fma(-F16(a), F16(b >> 16), F16(c))) |
          HALF(fma(F16(a >> 16), F16(b), -F16(c >> 16))) << 16;)
PROBE(pk_add_f16, HALVES, 'H', "v_pk_add_f16 v10, v2, v4",
      r = HALF((double)F16(a) + F16(b)) |
          HALF((double)F16(a >> 16) + F16(b >> 16)) << 16;)
PROBE(pk_fmac_f16, HALVES, 'H', "v_pk_fmac_f16_e32 v10, v2, v4",
      r = HALF(fma(F16(a), F16(b), F16(old))) |
          HALF(fma(F16(a >> 16), F16(b >> 16), F16(old >> 16))) << 16;)
PROBE(fma_mix, HALVES, 'f',
      "v_fma_mix_f32 v10, v2, |v4|, -v6 op_sel:[1,0,0] op_sel_hi:[1,1,0]",
      r = BITS(fmaf(F16(a >> 16), fabsf(F16(b)), -F32(c)));)
PROBE(fma_mixhi, HALVES, 'H',
      "v_fma_mixhi_f16 v10, v2, v4, v6 op_sel_hi:[1,1,1]",
      r = HALF(fmaf(F16(a), F16(b), F16(c))) << 16 | (old & 0xffff);)
PROBE(dot2_f32_f16, HALVES, 'f', "v_dot2_f32_f16 v10, v2, v4, v6",
      r = BITS((float)((long double)F16(a) * F16(b) +
                       (long double)F16(a >> 16) * F16(b >> 16) + F32(c)));)

/* ---- pairs of f32 ---------------------------------------------------------
 */
PROBE(pk_fma_f32, FLOATS, 'G', "v_pk_fma_f32 v[10:11], v[2:3], v[4:5], v[6:7]",
      r = BITS(fmaf(F32(a), F32(b), F32(c)));
      r1 = BITS(fmaf(F32(a1), F32(b1), F32(c1)));)
PROBE(pk_fma_f32_select, FLOATS, 'G',
      "v_pk_fma_f32 v[10:11], v[2:3], v[4:5], v[6:7] op_sel:[1,0,0] "
      "op_sel_hi:[0,0,1] neg_lo:[1,0,0] neg_hi:[0,0,1]",
      r = BITS(fmaf(-F32(a1), F32(b), F32(c)));
      r1 = BITS(fmaf(F32(a), F32(b), -F32(c1)));)
PROBE(pk_mul_f32_scalar, FLOATS, 'G',
      "v_pk_mul_f32 v[10:11], v[2:3], s[22:23] op_sel_hi:[1,0]",
      r = BITS(F32(a) * F32(k));
      r1 = BITS(F32(a1) * F32(k));)
PROBE(pk_add_f32_constant, FLOATS, 'G',
      "v_pk_add_f32 v[10:11], v[2:3], 1.0 op_sel_hi:[1,0]",
      r = BITS(F32(a) + 1);
      r1 = BITS(F32(a1) + 1);)

/* ---- the MODE register ----------------------------------------------------
 */
PROBE_MODE(denormals_flushed, FLOATS, 'f', 0xc0, "v_mul_f32_e32 v10, v2, v4",
           r = BITS(no_denormal(no_denormal(F32(a)) * no_denormal(F32(b))));)
PROBE_MODE(denormal_inputs_kept, FLOATS, 'f', 0xd0, "v_add_f32_e32 v10, v2, v4",
           r = BITS(no_denormal(F32(a) + F32(b)));)
PROBE_MODE(denormal_results_kept, FLOATS, 'f', 0xe0,
           "v_add_f32_e32 v10, v2, v4",
           r = BITS(no_denormal(F32(a)) + no_denormal(F32(b)));)
PROBE_MODE(moves_do_not_flush, FLOATS, 'u', 0x00, "v_mov_b32_e32 v10, v2",
           r = a;)
PROBE_MODE(f16_denormals_flushed, HALVES, 'H', 0x30, "v_pk_add_f16 v10, v2, 0",
           uint32_t half[2] = {a & 0xffff, a >> 16};
           for (int i = 0; i < 2; i++)
               half[i] = HALF((half[i] & 0x7c00 ? F16(half[i])
                                                : copysign(0, F16(half[i]))) +
                              0.0);
           r = half[0] | half[1] << 16;)
PROBE_MODE(f64_denormals_flushed, DOUBLES, 'F', 0x30,
           "v_max_f64 v[10:11], v[2:3], v[2:3]", double x = F64(a, a1);
           PUT_DOUBLE(fabs(x) < 0x1p-1022 ? copysign(0, x) : x);)
PROBE_MODE(rounds_toward_zero, FLOATS, 'f', 0xf3, "v_add_f32_e32 v10, v2, v4",
           fesetround(FE_TOWARDZERO);
           volatile float x = F32(a); volatile float sum = x + F32(b);
           fesetround(FE_TONEAREST); r = BITS(sum);)
PROBE_MODE(rounds_up_f64, DOUBLES, 'F', 0xf4,
           "v_mul_f64 v[10:11], v[2:3], v[4:5]", fesetround(FE_UPWARD);
           volatile double x = F64(a, a1); volatile double y = x * F64(b, b1);
           fesetround(FE_TONEAREST); PUT_DOUBLE(y);)
/* LLVM, SIFoldOperands::isOMod: "If output denormals are enabled, omod is
 * ignored". */
PROBE(omod_ignored, FLOATS, 'f', "v_add_f32_e64 v10, v2, v4 mul:2",
      r = BITS(F32(a) + F32(b));)
PROBE_MODE(omod, FLOATS, 'f', 0xc0, "v_add_f32_e64 v10, v2, v4 div:2",
           r = BITS(no_denormal(no_denormal(F32(a)) + no_denormal(F32(b))) /
                    2);)
PROBE_MODE(omod_ignored_ieee, FLOATS, 'f', 0xc0 | WS_MODE_IEEE,
           "v_mul_f32_e64 v10, v2, v4 mul:4",
           r = BITS(no_denormal(no_denormal(F32(a)) * no_denormal(F32(b))));)
PROBE_MODE(omod_clamp, FLOATS, 'f', 0xc0,
           "v_add_f32_e64 v10, v2, 0 mul:4 clamp",
           float x = no_denormal(F32(a)) * 4;
           r = BITS(x > 1   ? 1.0f
                    : x > 0 ? x
                            : 0.0f);)

/* ---- divisions ------------------------------------------------------------
 * As LLVM expands fdiv (AMDGPULegalizerInfo::legalizeFDIV32, FDIV64): the
 * quotient is C's, whatever the operands.
 */
static void run_lines(const char *const *lines) {
  for (; *lines; lines++)
    run_line(*lines);
}

static const char *const divide_f32[] = {
    "v_div_scale_f32 v12, s[30:31], v4, v4, v2",
    "v_div_scale_f32 v13, vcc, v2, v4, v2",
    "v_rcp_f32_e32 v14, v12",
    "v_fma_f32 v15, -v12, v14, 1.0",
    "v_fmac_f32_e32 v14, v15, v14",
    "v_mul_f32_e32 v15, v13, v14",
    "v_fma_f32 v16, -v12, v15, v13",
    "v_fmac_f32_e32 v15, v16, v14",
    "v_fma_f32 v12, -v12, v15, v13",
    "v_div_fmas_f32 v12, v12, v14, v15",
    "v_div_fixup_f32 v10, v12, v4, v2",
    NULL};
static const char *const divide_f64[] = {
    "v_div_scale_f64 v[12:13], s[30:31], v[4:5], v[4:5], v[2:3]",
    "v_rcp_f64_e32 v[14:15], v[12:13]",
    "v_fma_f64 v[16:17], -v[12:13], v[14:15], 1.0",
    "v_fmac_f64_e32 v[14:15], v[14:15], v[16:17]",
    "v_fma_f64 v[16:17], -v[12:13], v[14:15], 1.0",
    "v_fmac_f64_e32 v[14:15], v[14:15], v[16:17]",
    "v_div_scale_f64 v[18:19], vcc, v[2:3], v[4:5], v[2:3]",
    "v_mul_f64 v[16:17], v[18:19], v[14:15]",
    "v_fma_f64 v[12:13], -v[12:13], v[16:17], v[18:19]",
    "v_div_fmas_f64 v[12:13], v[12:13], v[14:15], v[16:17]",
    "v_div_fixup_f64 v[10:11], v[12:13], v[4:5], v[2:3]",
    NULL};

static void check_quotients(const lane *lanes, bool wide) {
  for (int i = 0; i < WS_LANES; i++) {
    const lane *l = &lanes[i];
    uint64_t got = probe_registers[10].u32[i];
    uint64_t want = BITS(F32(l->a) / F32(l->b));
    if (wide) {
      got = ws_join((uint32_t)got, probe_registers[11].u32[i]);
      want = ws_double_bits(F64(l->a, l->a1) / F64(l->b, l->b1));
    }
    if (!same(wide ? 'F' : 'f', got, want))
      WS_FAIL("%08x%08x / %08x%08x: %016llx, want %016llx", l->a1, l->a, l->b1,
              l->b, (unsigned long long)got, (unsigned long long)want);
  }
}

static void divide(const char *const *lines, inputs kind, bool wide) {
  for (int code = 0; ws__vector_code(code); code++) {
    ws__vector_use(ws__vector_code(code));
    for (int round = 0; round < 300; round++) {
      lane lanes[WS_LANES];
      fill(kind);
      ws_set_sgpr64(&probe_wave, WS_SGPR_EXEC, UINT64_MAX);
      for (int i = 0; i < WS_LANES; i++)
        lanes[i] = lane_inputs(i);
      run_lines(lines);
      check_quotients(lanes, wide);
    }
  }
}
WS_TEST(division_f32) { divide(divide_f32, FLOATS, false); }
WS_TEST(division_f64) { divide(divide_f64, DOUBLES, true); }
