/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What read-modify-write instructions make of the value in memory, for LDS and
 * device memory alike. Source: CDNA3 ISA guide, chapter 12 (DS, MUBUF, FLAT
 * atomics). Floating-point atomics keep subnormals (LLVM's gfx940 feature
 * memory-atomic-fadd-f32-denormal-support); min and max return the number when
 * one side is NaN.
 */
#include "float_bits.h"
#include "memory_lanes.h"
#include "wavesmith/mfma.h"
#include <math.h>

#define MODIFY(name)                                                           \
  uint64_t ws__modify_##name(__attribute__((unused)) uint64_t memory,          \
                             __attribute__((unused)) uint64_t data,            \
                             __attribute__((unused)) uint64_t data2)

#define INTEGER(name, type, stype)                                             \
  MODIFY(add##name) { return (type)(memory + data); }                          \
  MODIFY(sub##name) { return (type)(memory - data); }                          \
  MODIFY(rsub##name) { return (type)(data - memory); }                         \
  MODIFY(inc##name) {                                                          \
    return (type)memory >= (type)data ? 0 : (type)(memory + 1);                \
  }                                                                            \
  MODIFY(dec##name) {                                                          \
    return (type)memory == 0 || (type)memory > (type)data                      \
               ? (type)data                                                    \
               : (type)(memory - 1);                                           \
  }                                                                            \
  MODIFY(smin##name) {                                                         \
    return (type)((stype)memory < (stype)data ? memory : data);                \
  }                                                                            \
  MODIFY(smax##name) {                                                         \
    return (type)((stype)memory > (stype)data ? memory : data);                \
  }                                                                            \
  MODIFY(umin##name) { return (type)memory < (type)data ? memory : data; }     \
  MODIFY(umax##name) { return (type)memory > (type)data ? memory : data; }
INTEGER(32, uint32_t, int32_t)
INTEGER(64, uint64_t, int64_t)

MODIFY(and) { return memory & data; }
MODIFY(or) { return memory | data; }
MODIFY(xor) { return memory ^ data; }
MODIFY(swap) { return data; }
MODIFY(mskor) { return (memory & ~data) | data2; }
MODIFY(wrap32) {
  return (uint32_t)memory >= (uint32_t)data ? (uint32_t)(memory - data)
                                            : (uint32_t)(memory + data2);
}
/* DS: the comparand comes first. Buffer and flat: second. */
MODIFY(compare) { return memory == data ? data2 : memory; }
MODIFY(compare_second) { return memory == data2 ? data : memory; }
/* Each dword on its own: written, without its top bit, if that is set. */
MODIFY(conditional) {
  uint64_t low = data & 0x80000000u ? data & 0x7fffffffu : memory & UINT32_MAX;
  uint64_t high = data >> 63 ? data >> 32 & 0x7fffffffu : memory >> 32;
  return high << 32 | low;
}

MODIFY(add_f32) { return ws_float_bits(ws_float(memory) + ws_float(data)); }
MODIFY(add_f64) { return ws_double_bits(ws_double(memory) + ws_double(data)); }
MODIFY(compare_f32) {
  return ws_float(memory) == ws_float(data) ? data2 : memory;
}
MODIFY(compare_f64) {
  return ws_double(memory) == ws_double(data) ? data2 : memory;
}

/* -0 is less than +0. */
static bool less(double a, double b) {
  return a < b || (a == b && signbit(a) && !signbit(b));
}
static uint64_t pick(double memory, double data, bool first, uint64_t a,
                     uint64_t b) {
  if (isnan(data))
    return a;
  return isnan(memory) || !first ? b : a;
}
#define EXTREMES(type, number)                                                 \
  MODIFY(min_##type) {                                                         \
    double a = number(memory), b = number(data);                               \
    return pick(a, b, !less(b, a), memory, data);                              \
  }                                                                            \
  MODIFY(max_##type) {                                                         \
    double a = number(memory), b = number(data);                               \
    return pick(a, b, !less(a, b), memory, data);                              \
  }
EXTREMES(f32, ws_float)
EXTREMES(f64, ws_double)

static uint32_t add_f16(uint32_t a, uint32_t b) {
  uint16_t low = (uint16_t)a, high = (uint16_t)b;
  _Float16 x, y;
  memcpy(&x, &low, sizeof x);
  memcpy(&y, &high, sizeof y);
  x = (_Float16)((float)x + (float)y);
  memcpy(&low, &x, sizeof low);
  return low;
}
MODIFY(pk_add_f16) {
  return add_f16((uint32_t)memory, (uint32_t)data) |
         add_f16((uint32_t)memory >> 16, (uint32_t)data >> 16) << 16;
}
static uint32_t add_bf16(uint32_t a, uint32_t b) {
  return ws_bf16_from_f32(ws_float(a << 16) + ws_float(b << 16));
}
MODIFY(pk_add_bf16) {
  return add_bf16((uint32_t)memory, (uint32_t)data) |
         add_bf16((uint32_t)memory >> 16, (uint32_t)data >> 16) << 16;
}
