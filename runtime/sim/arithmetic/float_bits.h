/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Registers hold bits; arithmetic wants numbers.
 */
#ifndef WAVESMITH_SIM_FLOAT_BITS_H
#define WAVESMITH_SIM_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

/* Also into functions compiled for a wider vector set. */
#define WS_INLINE static inline __attribute__((always_inline))

WS_INLINE float ws_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
WS_INLINE uint32_t ws_float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
WS_INLINE double ws_double(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
WS_INLINE uint64_t ws_double_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

WS_INLINE uint64_t ws_join(uint32_t low, uint32_t high) {
  return low | (uint64_t)high << 32;
}

#endif
