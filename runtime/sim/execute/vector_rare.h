/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lane loops that are compiled once: transcendentals, division steps, sums of
 * absolute differences, cube maps, packed conversions, dot products.
 */
#ifndef WAVESMITH_SIM_VECTOR_RARE_H
#define WAVESMITH_SIM_VECTOR_RARE_H

#include "vector_lanes.h"

#define WS_RARE_MAP(X)                                                         \
                                                                               \
  X(log_f32)                                                                   \
  X(sin_f32) X(cos_f32) X(log_f16) X(sin_f16) X(cos_f16) X(frexp_mant_f16) X(  \
      frexp_mant_f32) X(frexp_mant_f64) X(frexp_exp_i16_f16)                   \
      X(frexp_exp_i32_f32) X(frexp_exp_i32_f64) X(ldexp_f64) X(                \
          trig_preop_f64) X(cvt_i32_f64) X(cvt_u32_f64) X(div_scale_f32)       \
          X(div_scale_f64) X(div_fmas_f32) X(div_fmas_f64) X(div_fixup_f16) X( \
              div_fixup_f32) X(div_fixup_f64) X(cubeid_f32) X(cubesc_f32)      \
              X(cubetc_f32) X(cubema_f32) X(ffbh_u32) X(ffbh_i32) X(           \
                  ffbl_b32) X(lerp_u8) X(sad_u8) X(sad_hi_u8) X(sad_u16)       \
                  X(sad_u32) X(msad_u8) X(sad_u8_saturating) X(                \
                      sad_hi_u8_saturating) X(sad_u16_saturating)              \
                      X(sad_u32_saturating) X(msad_u8_saturating) X(           \
                          qsad_pk_u16_u8) X(mqsad_pk_u16_u8) X(mqsad_u32_u8)   \
                          X(cvt_off_f32_i4) X(cvt_norm_i16_f16) X(             \
                              cvt_norm_u16_f16) X(cvt_pknorm_i16_f32)          \
                              X(cvt_pknorm_u16_f32) X(cvt_pknorm_i16_f16) X(   \
                                  cvt_pknorm_u16_f16) X(cvt_pk_u8_f32)         \
                                  X(cvt_pkaccum_u8_f32) X(sat_pk_u8_i16) X(    \
                                      dot2_f32_f16) X(dot2_i32_i16)            \
                                      X(dot2_u32_u16) X(dot4_i32_i8) X(        \
                                          dot4_u32_u8) X(dot8_i32_i4)          \
                                          X(dot8_u32_u4) X(                    \
                                              dot2_i32_i16_saturating)         \
                                              X(dot2_u32_u16_saturating) X(    \
                                                  dot4_i32_i8_saturating)      \
                                                  X(dot4_u32_u8_saturating) X( \
                                                      dot8_i32_i4_saturating)  \
                                                      X(dot8_u32_u4_saturating)

#define WS_RARE_DECLARE(name) void ws__lanes_##name(struct ws_lanes *lanes);
WS_RARE_MAP(WS_RARE_DECLARE)
#undef WS_RARE_DECLARE

#endif
