/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The inside of the VALU. An instruction is executed in three steps:
 *
 *   fetch    every source becomes an array of 64 words (two for 64 bits): the
 *            register itself, a broadcast scalar, or a copy with the
 *            modifiers applied (vector_modifiers.inc)
 *   kernel   a loop over the lanes that knows nothing but the arithmetic;
 *            vector_*.inc, compiled for AVX-512, AVX2 and the plain target,
 *            vector_rare.c for what is not worth it
 *   write    under EXEC, into registers or a lane mask
 *
 * f32 and f64 obey all rounding modes, f16 only the default one. f32
 * transcendentals are correctly rounded but for ties within f64's last bit,
 * where the hardware promises 1 ulp. Taken as the ABI sets them: MODE.IEEE (for
 * minimum and maximum) and MODE.DX10_CLAMP, both on. Not modelled: exceptions,
 * and which NaN of several a result is.
 */
#ifndef WAVESMITH_SIM_VECTOR_LANES_H
#define WAVESMITH_SIM_VECTOR_LANES_H

#include "float_bits.h"
#include "machine.h"

/* What a kernel sees. Words of an operand: low first. */
struct ws_lanes {
  const uint32_t *source[3][4];
  uint32_t *result[4];
  uint64_t mask_in;  /* carry in, condition */
  uint64_t mask_out; /* carry out, comparison */
  uint32_t mode;
  uint8_t op_sel;
};
typedef void (*ws_kernel)(struct ws_lanes *lanes);

enum {
  WS_OP_INVERT = 1,       /* the kernel computes the opposite comparison */
  WS_OP_WRITES_EXEC = 2,  /* v_cmpx */
  WS_OP_KEEPS_HALF = 4,   /* 16-bit result, the other half of the register
                           * stays; op_sel[3] chooses the half */
  WS_OP_HIGH_HALF = 8,    /* always the upper half */
  WS_OP_KEEPS_BYTES = 16, /* one byte, chosen by op_sel[3:2] */
  WS_OP_PACKED = 32,      /* op_sel, op_sel_hi, neg_lo, neg_hi by half */
  WS_OP_MIX = 64,         /* v_fma_mix: op_sel_hi: the source is f16 */
  WS_OP_FLOAT = 128,      /* obeys the denormal mode */
  WS_OP_ROUNDS = 256,     /* and the rounding mode */
  WS_OP_READS_VCC = 512,  /* v_div_fmas: without being an operand */
  /* Not for the plain path, even without modifiers. */
  WS_OP_PARTIAL = WS_OP_KEEPS_HALF | WS_OP_HIGH_HALF | WS_OP_KEEPS_BYTES
};

struct ws_vector_op {
  ws_kernel kernel;
  ws_kernel saturating; /* with clamp; NULL: clamp is to [0, 1] */
  uint32_t traits;
};

/* The code for one instruction set. */
typedef struct ws_vector_code {
  const char *name;               /* "avx512", "avx2", "portable" */
  const struct ws_vector_op *ops; /* by ws_op; kernel NULL: not a VALU one */
  ws_execute execute;
} ws_vector_code;
/* All that this processor can run, best first; NULL behind the last. */
const ws_vector_code *ws__vector_code(int index);
/* Handlers that the getter hands out from now on; for tests. */
void ws__vector_use(const ws_vector_code *code);

/* Handlers of instructions that are not lane by lane; NULL: all others. */
ws_execute ws__execute_across_lanes(ws_op op);

/* True: values cross lanes or end up in a lane mask. Then the handler keeps
 * poison itself, except that of a lane mask without DPP: step.c does, which
 * keeps scalar poison bit by bit. */
bool ws__vector_keeps_poison(const ws_instruction *in);

/* Where the lanes of src[0] come from under DPP. */
struct ws_dpp {
  const int32_t *from; /* in range even where there is no source */
  uint64_t valid;      /* lanes that have a source */
  uint64_t write;      /* lanes that are written */
};
void ws__dpp_lanes(const ws_instruction *in, uint64_t exec, struct ws_dpp *out);
void ws__dpp_poison(ws_wave *wave, const ws_instruction *in,
                    const struct ws_dpp *dpp);

/* The MODE register (CDNA3 ISA, "MODE register"): rounding in bits 1:0 (f32)
 * and 3:2 (f64, f16); denormals in 5:4 and 7:6, one bit for inputs, one for
 * results. Default: nearest even, all denormals kept. */
enum {
  WS_MODE_FLOAT = 0xff,
  WS_MODE_DEFAULT = 0xf0,
  WS_MODE_IEEE = 1 << 9,
  WS_MODE_FP16_OVFL = 1 << 23 /* fp8 conversions saturate */
};

/* Registers per lane of an operand type; V is 4 where the VALU has it. */
WS_INLINE int ws__words_of(char type) {
  return type == 'I' || type == 'F' || type == 'G' ? 2 : type == 'V' ? 4 : 1;
}

WS_INLINE uint64_t ws_join(uint32_t low, uint32_t high) {
  return low | (uint64_t)high << 32;
}

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

#endif
