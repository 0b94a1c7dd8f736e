/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Scalar formats of gfx942: fp8 FNUZ decode and bf16 rounding, from their
 * definitions (sign, exponent, mantissa). The wave-wide forms are in
 * mfma_kernel.inc.
 */
#include "wavesmith/mfma.h"
#include <math.h>
#include <string.h>

float ws_fp8_decode(ws_fp8_format format, uint8_t byte) {
  int mantissa_bits = format == WS_FP8_E4M3_FNUZ ? 3 : 2;
  int bias = format == WS_FP8_E4M3_FNUZ ? 8 : 16;
  if (byte == 0x80)
    return NAN;
  int mantissa = byte & ((1 << mantissa_bits) - 1);
  int exponent = (byte & 0x7f) >> mantissa_bits;
  if (exponent)
    mantissa |= 1 << mantissa_bits;
  else
    exponent = 1; /* subnormal */
  float magnitude = ldexpf((float)mantissa, exponent - bias - mantissa_bits);
  return byte & 0x80 ? -magnitude : magnitude;
}

uint16_t ws_bf16_from_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (value != value)
    return (uint16_t)(bits >> 16 | 0x40);
  bits += 0x7fff + (bits >> 16 & 1);
  return (uint16_t)(bits >> 16);
}

float ws_bf16_to_f32(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}
