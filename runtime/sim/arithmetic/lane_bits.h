/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Integers of one lane of gfx942, for the simulator's lane loops and the IR
 * sanitizer: bytes and fields of words, sums of absolute differences, dot
 * products. From the pseudo-code of the CDNA3 ISA guide, chapter
 * "Instructions".
 */
#ifndef WAVESMITH_SIM_LANE_BITS_H
#define WAVESMITH_SIM_LANE_BITS_H

#include "lane_numbers.h"

WS_INLINE int32_t ws_sign_extend(uint32_t value, int bits) {
  return (int32_t)(value << (32 - bits)) >> (32 - bits);
}
WS_INLINE int32_t ws_clamp_i32(int64_t value) {
  return value > INT32_MAX   ? INT32_MAX
         : value < INT32_MIN ? INT32_MIN
                             : (int32_t)value;
}
WS_INLINE uint32_t ws_clamp_u32(int64_t value) {
  return value > UINT32_MAX ? UINT32_MAX : value < 0 ? 0 : (uint32_t)value;
}
WS_INLINE int32_t ws_clamp_i16(int32_t value) {
  return value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value;
}
WS_INLINE int32_t ws_clamp_u16(int64_t value) {
  return value > UINT16_MAX ? UINT16_MAX : value < 0 ? 0 : (int32_t)value;
}

/* ---- fields ---- */

/* One byte of v_perm_b32: 0-7 a byte of both, 8-11 the sign of their 16-bit
 * words, 12 zero, above ones (CDNA3 ISA, V_PERM_B32). */
WS_INLINE uint32_t ws_pick_byte(uint32_t a, uint32_t b, uint32_t selector) {
  uint32_t byte = (selector & 4 ? a : b) >> 8 * (selector & 3) & 0xff;
  uint32_t sign = (selector & 2 ? a : b) >> (selector & 1 ? 31 : 15) & 1;
  uint32_t constant = selector == 12 ? 0 : 0xff;
  return selector < 8 ? byte : selector < 12 ? sign * 0xff : constant;
}
WS_INLINE uint32_t ws_permute_bytes(uint32_t a, uint32_t b, uint32_t c) {
  return ws_pick_byte(a, b, c & 0xff) | ws_pick_byte(a, b, c >> 8 & 0xff) << 8 |
         ws_pick_byte(a, b, c >> 16 & 0xff) << 16 |
         ws_pick_byte(a, b, c >> 24) << 24;
}
WS_INLINE uint32_t ws_align_byte(uint32_t a, uint32_t b, uint32_t c) {
  return (uint32_t)(ws_join(b, a) >> 8 * (c & 3));
}
WS_INLINE uint32_t ws_field_u32(uint32_t a, uint32_t offset, uint32_t width) {
  return (a >> (offset & 31)) & ((1u << (width & 31)) - 1);
}
/* The field in place, then its top bit extended. */
WS_INLINE uint32_t ws_field_i32(int32_t a, uint32_t offset, uint32_t width) {
  uint32_t top = 1u << ((width - 1) & 31);
  uint32_t field = (uint32_t)(a >> (offset & 31)) & ((1u << (width & 31)) - 1);
  return (field ^ top) - top;
}
/* Zeros above the first bit that is not the sign; all ones when there is none.
 */
WS_INLINE uint32_t ws_leading_zeros(uint32_t a) {
  return a ? (uint32_t)__builtin_clz(a) : UINT32_MAX;
}
WS_INLINE uint32_t ws_leading_signs(int32_t a) {
  return ws_leading_zeros((uint32_t)(a ^ a >> 31));
}

/* ---- 24 bits ---- */
WS_INLINE uint64_t ws_product_u24(uint32_t a, uint32_t b) {
  return (uint64_t)(a & 0xffffff) * (b & 0xffffff);
}
WS_INLINE int64_t ws_product_i24(uint32_t a, uint32_t b) {
  return (int64_t)((int32_t)(a << 8) >> 8) * ((int32_t)(b << 8) >> 8);
}

/* ---- bytes against bytes ---- */
WS_INLINE uint32_t ws_byte_of(uint64_t bytes, int index) {
  return (uint32_t)(bytes >> 8 * index) & 0xff;
}
WS_INLINE uint32_t ws_distance(uint32_t a, uint32_t b) {
  return a > b ? a - b : b - a;
}
WS_INLINE uint32_t ws_average_bytes(uint32_t a, uint32_t b, uint32_t round) {
  uint32_t result = 0;
  for (int i = 0; i < 4; i++)
    result |=
        (ws_byte_of(a, i) + ws_byte_of(b, i) + (ws_byte_of(round, i) & 1)) >>
        1 << 8 * i;
  return result;
}
/* masked: a reference byte of 0 does not count. */
WS_INLINE uint32_t ws_byte_distance(uint32_t a, uint32_t reference,
                                    bool masked) {
  uint32_t sum = 0;
  for (int i = 0; i < 4; i++)
    if (!masked || ws_byte_of(reference, i))
      sum += ws_distance(ws_byte_of(a, i), ws_byte_of(reference, i));
  return sum;
}
WS_INLINE uint32_t ws_word_distance(uint32_t a, uint32_t b) {
  return ws_distance(a & 0xffff, b & 0xffff) + ws_distance(a >> 16, b >> 16);
}
/* Four windows of a, each a byte further, against the reference; sums are 16
 * bits. */
WS_INLINE uint64_t ws_window_distances(uint64_t a, uint32_t reference,
                                       uint64_t add, bool masked) {
  uint64_t result = 0;
  for (int i = 0; i < 4; i++) {
    uint64_t sum = ws_byte_distance((uint32_t)(a >> 8 * i), reference, masked) +
                   (add >> 16 * i & 0xffff);
    result |= (sum & 0xffff) << 16 * i;
  }
  return result;
}

/* ---- dot products ---- */

/* Products of f16 are exact in f64, and so are their sums but for extreme
 * exponents; rounded once. The order of the hardware's additions is not
 * published. */
WS_INLINE float ws_dot_half(uint32_t a, uint32_t b, float c) {
  double low = (double)ws_half(a) * ws_half(b);
  double high = (double)ws_half(a >> 16) * ws_half(b >> 16);
  return (float)(low + high + c);
}
/* Sum of products of the fields of a and b, of 4, 8 or 16 bits. */
WS_INLINE int64_t ws_dot_signed(uint32_t a, uint32_t b, int bits) {
  int64_t sum = 0;
  for (int i = 0; i < 32; i += bits)
    sum += (int64_t)ws_sign_extend(a >> i, bits) * ws_sign_extend(b >> i, bits);
  return sum;
}
WS_INLINE int64_t ws_dot_unsigned(uint32_t a, uint32_t b, int bits) {
  uint32_t field = (1u << bits) - 1;
  int64_t sum = 0;
  for (int i = 0; i < 32; i += bits)
    sum += (int64_t)(a >> i & field) * (b >> i & field);
  return sum;
}

#endif
