/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Intrinsics that a lane computes alone. The arithmetic is the simulator's
 * (runtime/sim/arithmetic/lane_*.h): here are only operands and results. MODE
 * is what the ABI sets: nearest even, all denormals kept, FP16_OVFL off.
 */
#include "lane_convert.h"
#include "sanitize_models.h"

/* As in the simulator: a product and a sum are rounded apart. */
#ifndef __clang__
#pragma GCC optimize("fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif

/* Operands by type; half: f16 as float. */
#define U32(index) ws__operand_u32(site, lane, index)
#define I32(index) ws__operand_i32(site, lane, index)
#define U64(index) ws__operand(site, lane, index, 8)
#define F32(index) ws_float(U32(index))
#define F64(index) ws_double(U64(index))
#define HALF_BITS(index) ((uint32_t)ws__operand(site, lane, index, 2))
#define HALF(index) ws_half(HALF_BITS(index))

/* Results likewise. */
#define PUT_u32(value) ws__result_u32(lane, (uint32_t)(value))
#define PUT_u64(value) ws__result_u64(lane, (uint64_t)(value))
#define PUT_f32(value) PUT_u32(ws_float_bits(value))
#define PUT_f64(value) PUT_u64(ws_double_bits(value))
#define PUT_half(value) PUT_u32(ws_half_bits(value))

#define MODEL(name, type, value)                                               \
  void ws__model_##name(const ws_site *site, uint64_t set) {                   \
    (void)site;                                                                \
    FOR_EACH_LANE(lane, set) PUT_##type(value);                                \
  }

/* ---- who am I ---- */

static const ws_lanes *const lanes = &ws__sanitizer.lanes;

static uint64_t lanes_below(int lane) { return (1ull << lane) - 1; }
static uint32_t count_below(uint32_t mask, uint64_t below) {
  return (uint32_t)__builtin_popcount(mask & (uint32_t)below);
}

MODEL(workitem_id_x, u32, lanes->current_wave *WS_WAVE_LANES + lane)
MODEL(zero, u32, 0)
MODEL(workgroup_id_x, u32, lanes->workgroup_id[0])
MODEL(workgroup_id_y, u32, lanes->workgroup_id[1])
MODEL(workgroup_id_z, u32, lanes->workgroup_id[2])
MODEL(wavefrontsize, u32, WS_WAVE_LANES)
MODEL(mbcnt_lo, u32, count_below(U32(0), lanes_below(lane)) + U32(1))
MODEL(mbcnt_hi, u32, count_below(U32(0), lanes_below(lane) >> 32) + U32(1))

/* ---- fields of words ---- */

MODEL(perm, u32, ws_permute_bytes(U32(0), U32(1), U32(2)))
MODEL(alignbyte, u32, ws_align_byte(U32(0), U32(1), U32(2)))
MODEL(ubfe, u32, ws_field_u32(U32(0), U32(1), U32(2)))
MODEL(sbfe, u32, ws_field_i32(I32(0), U32(1), U32(2)))
MODEL(sffbh, u32, ws_leading_signs(I32(0)))

/* ---- integers ---- */

MODEL(mul_u24, u32, ws_product_u24(U32(0), U32(1)))
MODEL(mul_i24, u32, ws_product_i24(U32(0), U32(1)))
MODEL(mul_u24_i64, u64, ws_product_u24(U32(0), U32(1)))
MODEL(mul_i24_i64, u64, ws_product_i24(U32(0), U32(1)))
MODEL(mulhi_u24, u32, ws_product_u24(U32(0), U32(1)) >> 32)
MODEL(mulhi_i24, u32, ws_product_i24(U32(0), U32(1)) >> 32)
MODEL(lerp, u32, ws_average_bytes(U32(0), U32(1), U32(2)))
MODEL(sad_u8, u32, ws_byte_distance(U32(0), U32(1), false) + U32(2))
MODEL(sad_hi_u8, u32, (ws_byte_distance(U32(0), U32(1), false) << 16) + U32(2))
MODEL(sad_u16, u32, ws_word_distance(U32(0), U32(1)) + U32(2))
MODEL(msad_u8, u32, ws_byte_distance(U32(0), U32(1), true) + U32(2))
MODEL(qsad_pk_u16_u8, u64, ws_window_distances(U64(0), U32(1), U64(2), false))
MODEL(mqsad_pk_u16_u8, u64, ws_window_distances(U64(0), U32(1), U64(2), true))

/* ---- dot products: a, b, c, clamp ---- */

#define DOT(name, clamp, c, sum)                                               \
  MODEL(name, u32, I32(3) ? (uint32_t)clamp((sum) + c) : (sum) + c)
DOT(sdot2, ws_clamp_i32, I32(2), ws_dot_signed(U32(0), U32(1), 16))
DOT(udot2, ws_clamp_u32, U32(2), ws_dot_unsigned(U32(0), U32(1), 16))
DOT(sdot4, ws_clamp_i32, I32(2), ws_dot_signed(U32(0), U32(1), 8))
DOT(udot4, ws_clamp_u32, U32(2), ws_dot_unsigned(U32(0), U32(1), 8))
DOT(sdot8, ws_clamp_i32, I32(2), ws_dot_signed(U32(0), U32(1), 4))
DOT(udot8, ws_clamp_u32, U32(2), ws_dot_unsigned(U32(0), U32(1), 4))

static float dot_half(uint32_t a, uint32_t b, float c, bool clamp) {
  float sum = ws_dot_half(a, b, c);
  return clamp ? (float)ws_clamp_unit(sum) : sum;
}
MODEL(fdot2, f32, dot_half(U32(0), U32(1), F32(2), I32(3)))

/* ---- floating point ---- */

MODEL(fmed3_f32, f32, ws_median_f32(F32(0), F32(1), F32(2)))
MODEL(fmed3_f16, half, ws_median_f32(HALF(0), HALF(1), HALF(2)))
MODEL(fmul_legacy, f32, ws_multiply_legacy(F32(0), F32(1)))
MODEL(rcp_f32, f32, ws_reciprocal_f32(F32(0)))
MODEL(rcp_f16, half, 1.0f / HALF(0))
MODEL(rcp_f64, f64, 1.0 / F64(0))
MODEL(rsq_f32, f32, ws_reciprocal_root_f32(F32(0)))
MODEL(rsq_f16, half, ws_reciprocal_root_f16(HALF(0)))
MODEL(rsq_f64, f64, 1.0 / sqrt(F64(0)))
MODEL(sqrt_f32, f32, ws_root_f32(F32(0)))
MODEL(sqrt_f16, half, sqrtf(HALF(0)))
MODEL(sqrt_f64, f64, sqrt(F64(0)))
MODEL(exp2_f32, f32, ws_exponential_f32(F32(0)))
MODEL(exp2_f16, half, ws_exponential_f16(HALF(0)))
MODEL(log_f32, f32, ws_logarithm_f32(F32(0)))
MODEL(log_f16, half, ws_logarithm_f16(HALF(0)))
MODEL(sin_f32, f32, ws_sine_f32(F32(0)))
MODEL(sin_f16, half, ws_sine_f16(HALF(0)))
MODEL(cos_f32, f32, ws_cosine_f32(F32(0)))
MODEL(cos_f16, half, ws_cosine_f16(HALF(0)))
MODEL(fract_f32, f32, ws_fraction_f32(F32(0)))
MODEL(fract_f16, half, ws_fraction_f16(HALF(0)))
MODEL(fract_f64, f64, ws_fraction_f64(F64(0)))
MODEL(frexp_mant_f32, f32, (float)ws_mantissa_of(F32(0)))
MODEL(frexp_mant_f16, half, (float)ws_mantissa_of(HALF(0)))
MODEL(frexp_mant_f64, f64, ws_mantissa_of(F64(0)))
MODEL(frexp_exp_f32, u32, ws_exponent_of(F32(0)))
MODEL(frexp_exp_f16, u32, ws_exponent_of(HALF(0)))
MODEL(frexp_exp_f64, u32, ws_exponent_of(F64(0)))
MODEL(class_f32, u32, U32(1) >> ws_number_class(U32(0), 23, 32) & 1)
MODEL(class_f16, u32, U32(1) >> ws_number_class(HALF_BITS(0), 10, 16) & 1)
MODEL(class_f64, u32, U32(1) >> ws_number_class(U64(0), 52, 64) & 1)

/* ---- conversions ---- */

/* A field of an old word replaced. */
static uint32_t put_field(uint32_t old, uint32_t value, int bits, int index) {
  uint32_t field = (1u << bits) - 1;
  int shift = bits * (index & (32 / bits - 1));
  return (old & ~(field << shift)) | value << shift;
}
/* float, float, old, which half; float, seed, old, which byte */
#define TO_FP8(name, form)                                                     \
  MODEL(cvt_pk_##name##_f32, u32,                                              \
        put_field(U32(2), ws_fnuz_pair(F32(0), F32(1), form, false), 16,       \
                  I32(3)))                                                     \
  MODEL(cvt_sr_##name##_f32, u32,                                              \
        put_field(U32(2), ws_fnuz_stochastic(F32(0), U32(1), form, false), 8,  \
                  I32(3)))
TO_FP8(fp8, WS_FP8_FORM)
TO_FP8(bf8, WS_BF8_FORM)

static uint64_t decoded_pair(uint32_t half, int mantissa, int bias) {
  return ws_join(ws_float_bits(ws_fnuz_decode(half, mantissa, bias)),
                 ws_float_bits(ws_fnuz_decode(half >> 8, mantissa, bias)));
}
/* word, which byte or half */
#define FROM_FP8(name, form)                                                   \
  MODEL(cvt_f32_##name, f32, ws_fnuz_decode(U32(0) >> 8 * (I32(1) & 3), form)) \
  MODEL(cvt_pk_f32_##name, u64, decoded_pair(U32(0) >> 16 * (I32(1) & 1), form))
FROM_FP8(fp8, WS_FP8_FORM)
FROM_FP8(bf8, WS_BF8_FORM)

MODEL(cvt_pkrtz, u32, ws_pack_toward_zero(F32(0), F32(1)))
MODEL(cvt_pknorm_i16, u32, ws_norm_i16(F32(0)) | ws_norm_i16(F32(1)) << 16)
MODEL(cvt_pknorm_u16, u32, ws_norm_u16(F32(0)) | ws_norm_u16(F32(1)) << 16)
MODEL(cvt_pk_i16, u32, ws_pack_i16(I32(0), I32(1)))
MODEL(cvt_pk_u16, u32, ws_pack_u16(U32(0), U32(1)))
MODEL(cvt_pk_u8_f32, u32, ws_pack_byte(F32(0), U32(1), U32(2)))
