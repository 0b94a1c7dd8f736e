/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Conversions of one lane of gfx942, for the simulator's lane loops and the IR
 * sanitizer: fp8 and bf8 FNUZ, packed f16 and integers. From the pseudo-code of
 * the CDNA3 ISA guide, chapter "Instructions".
 */
#ifndef WAVESMITH_SIM_LANE_CONVERT_H
#define WAVESMITH_SIM_LANE_CONVERT_H

#include "lane_bits.h"

/* ---- fp8 FNUZ ---- */

/* 0x80 is NaN, all else is a number; mantissa: its bits, bias: of the exponent.
 */
#define WS_FP8_FORM 3, 8
#define WS_BF8_FORM 2, 16

WS_INLINE float ws_fnuz_decode(uint32_t byte, int mantissa, int bias) {
  uint32_t code = byte & 0x7f, ones = (1u << mantissa) - 1;
  uint32_t normal = (code << (23 - mantissa)) + ((uint32_t)(127 - bias) << 23);
  float unit = ws_float((uint32_t)(127 + 1 - bias - mantissa) << 23);
  uint32_t bits =
      code > ones ? normal : ws_float_bits((float)(int32_t)code * unit);
  bits |= (byte & 0x80) << 24;
  return ws_float((byte & 0xff) == 0x80 ? 0x7fc00000 : bits);
}

/* Nearest even, or toward zero. What rounds to more than the largest number,
 * and infinity, is NaN; or that number (saturate: MODE.FP16_OVFL, which the
 * ABI leaves off). Zero has no sign. */
WS_INLINE uint32_t ws_fnuz_encode(float value, int mantissa, int bias,
                                  bool saturate, bool toward_zero) {
  uint32_t bits = ws_float_bits(value), magnitude = bits & 0x7fffffff;
  int drop = 23 - mantissa;
  uint32_t half =
      toward_zero ? 0 : (1u << (drop - 1)) - 1 + (magnitude >> drop & 1);
  uint32_t normal = (magnitude + half - ((uint32_t)(127 - bias) << 23)) >> drop;
  bool tiny = magnitude < (uint32_t)(128 - bias) << 23;
  float scaled = ws_float(tiny ? magnitude : 0) *
                 ws_float((uint32_t)(127 + bias + mantissa - 1) << 23);
  uint32_t subnormal = toward_zero ? (uint32_t)(int32_t)scaled
                                   : ws_float_bits(scaled + 0x1p23f) & 0xff;
  uint32_t code = tiny ? subnormal : normal;
  uint32_t beyond = saturate ? 0x7f : 0x80;
  beyond = magnitude > 0x7f800000 ? 0x80 : beyond;
  uint32_t byte = code > 0x7f ? beyond : code;
  bool signless = byte == 0 || byte == 0x80;
  return signless ? byte : byte | (bits >> 24 & 0x80);
}
WS_INLINE uint32_t ws_fnuz_pair(float a, float b, int mantissa, int bias,
                                bool saturate) {
  return ws_fnuz_encode(a, mantissa, bias, saturate, false) |
         ws_fnuz_encode(b, mantissa, bias, saturate, false) << 8;
}
/* The seed's top bits are added to the mantissa bits that a normal number
 * loses, whether or not the result is normal; the rest is cut off (CDNA3 ISA,
 * V_CVT_SR_FP8_F32). */
WS_INLINE uint32_t ws_fnuz_stochastic(float value, uint32_t seed, int mantissa,
                                      int bias, bool saturate) {
  uint32_t bits = ws_float_bits(value);
  bool number = (bits & 0x7f800000) != 0x7f800000;
  float moved = ws_float(number ? bits + (seed >> (9 + mantissa)) : bits);
  return ws_fnuz_encode(moved, mantissa, bias, saturate, true);
}

/* ---- packed results ---- */
WS_INLINE uint32_t ws_pack_toward_zero(float a, float b) {
  return ws_half_bits_toward_zero(a) | ws_half_bits_toward_zero(b) << 16;
}
WS_INLINE uint32_t ws_pack_u16(uint32_t a, uint32_t b) {
  return (a < 0xffff ? a : 0xffff) | (b < 0xffff ? b : 0xffff) << 16;
}
WS_INLINE uint32_t ws_pack_i16(int32_t a, int32_t b) {
  return ((uint32_t)ws_clamp_i16(a) & 0xffff) | (uint32_t)ws_clamp_i16(b) << 16;
}

WS_INLINE double ws_bounded(double value, double least, double most) {
  return isnan(value) ? 0 : value < least ? least : value > most ? most : value;
}
/* [-1, 1] or [0, 1] to the integer's range, nearest even. */
WS_INLINE uint32_t ws_norm_i16(double value) {
  return (uint32_t)(int32_t)rint(ws_bounded(value, -1, 1) * INT16_MAX) & 0xffff;
}
WS_INLINE uint32_t ws_norm_u16(double value) {
  return (uint32_t)rint(ws_bounded(value, 0, 1) * UINT16_MAX);
}
/* One byte of a word replaced by a rounded number. */
WS_INLINE uint32_t ws_pack_byte(float value, uint32_t place, uint32_t word) {
  uint32_t shift = 8 * (place & 3);
  uint32_t byte = (uint32_t)rint(ws_bounded(value, 0, UINT8_MAX));
  return (word & ~(0xffu << shift)) | byte << shift;
}

#endif
