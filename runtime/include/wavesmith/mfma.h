/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * gfx942 arithmetic that C lacks: fp8 FNUZ, bf16, and the dense matrix
 * instructions, bit for bit as published for CDNA3 (MMA-Sim, arXiv 2511.10909;
 * docs/sanitizer.md repeats the rules). Pure functions, thread-safe.
 *
 * The publication leaves special values open. Here: a NaN operand makes every
 * result of its row or column NaN (0x7fc00000); an infinite C passes through;
 * a finite sum beyond f32 becomes infinite by rounding.
 */
#ifndef WAVESMITH_MFMA_H
#define WAVESMITH_MFMA_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ws_fp8_format {
  WS_FP8_E4M3_FNUZ, /* "fp8": bias 8, largest 240, 0x80 is NaN */
  WS_FP8_E5M2_FNUZ  /* "bf8": bias 16, largest 57344, 0x80 is NaN */
} ws_fp8_format;

float ws_fp8_decode(ws_fp8_format format, uint8_t byte);

/* Round to nearest even; NaN stays NaN. */
uint16_t ws_bf16_from_f32(float value);
float ws_bf16_to_f32(uint16_t bits);

/* One wave's v_mfma_f32_16x16x32_*: operands by lane, as in registers.
 *   a: row lane % 16, k = 8 * (lane / 16) + byte
 *   b: column lane % 16, k likewise
 *   c, d: column lane % 16, row 4 * (lane / 16) + register
 * d may be c. */
void ws_mfma_f32_16x16x32(ws_fp8_format a_format, ws_fp8_format b_format,
                          const uint64_t a[64], const uint64_t b[64],
                          const float c[64][4], float d[64][4]);

/* v_mfma_f32_32x32x16_*:
 *   a: row lane % 32, k = 8 * (lane / 32) + byte; b: column likewise
 *   c, d: column lane % 32,
 *         row 8 * (register / 4) + 4 * (lane / 32) + register % 4 */
void ws_mfma_f32_32x32x16(ws_fp8_format a_format, ws_fp8_format b_format,
                          const uint64_t a[64], const uint64_t b[64],
                          const float c[64][16], float d[64][16]);

/* ---- all dense matrix instructions ---------------------------------------
 */

typedef enum ws_matrix_type {
  WS_MATRIX_F32,
  WS_MATRIX_XF32,
  WS_MATRIX_F16,
  WS_MATRIX_BF16,
  WS_MATRIX_F64,
  WS_MATRIX_I8,
  WS_MATRIX_FP8, /* the two last as ws_fp8_format has them */
  WS_MATRIX_BF8
} ws_matrix_type;

/* blocks products of M x K by K x N, each with a C and D of its own. C and D
 * are f64 of f64, i32 of i8, else f32. sparse: A holds 2 of 4 consecutive k
 * (the simulator's v_smfmac; not taken by the functions here). */
typedef struct ws_matrix_shape {
  uint8_t m, n, k, blocks, a_type, b_type; /* ws_matrix_type */
  bool sparse;
} ws_matrix_shape;

/* X(mnemonic without v_mfma_, name without llvm.amdgcn., the members above).
 * CDNA3 ISA guide, section 7.1; LLVM 21, IntrinsicsAMDGPU.td. */
#define WS_MFMA_NARROW_MAP(X, type, suffix, TYPE)                              \
  X(f32_32x32x4_2b_##type, "mfma.f32.32x32x4" suffix, 32, 32, 4, 2, TYPE,      \
    TYPE)                                                                      \
  X(f32_16x16x4_4b_##type, "mfma.f32.16x16x4" suffix, 16, 16, 4, 4, TYPE,      \
    TYPE)                                                                      \
  X(f32_4x4x4_16b_##type, "mfma.f32.4x4x4" suffix, 4, 4, 4, 16, TYPE, TYPE)    \
  X(f32_32x32x8_##type, "mfma.f32.32x32x8" suffix, 32, 32, 8, 1, TYPE, TYPE)   \
  X(f32_16x16x16_##type, "mfma.f32.16x16x16" suffix, 16, 16, 16, 1, TYPE, TYPE)
#define WS_MFMA_FP8_MAP(X, a, b, A, B)                                         \
  X(f32_16x16x32_##a##_##b, "mfma.f32.16x16x32." #a "." #b, 16, 16, 32, 1, A,  \
    B)                                                                         \
  X(f32_32x32x16_##a##_##b, "mfma.f32.32x32x16." #a "." #b, 32, 32, 16, 1, A, B)
#define WS_MFMA_MAP(X)                                                         \
  X(f32_32x32x1_2b_f32, "mfma.f32.32x32x1f32", 32, 32, 1, 2, WS_MATRIX_F32,    \
    WS_MATRIX_F32)                                                             \
  X(f32_16x16x1_4b_f32, "mfma.f32.16x16x1f32", 16, 16, 1, 4, WS_MATRIX_F32,    \
    WS_MATRIX_F32)                                                             \
  X(f32_4x4x1_16b_f32, "mfma.f32.4x4x1f32", 4, 4, 1, 16, WS_MATRIX_F32,        \
    WS_MATRIX_F32)                                                             \
  X(f32_32x32x2_f32, "mfma.f32.32x32x2f32", 32, 32, 2, 1, WS_MATRIX_F32,       \
    WS_MATRIX_F32)                                                             \
  X(f32_16x16x4_f32, "mfma.f32.16x16x4f32", 16, 16, 4, 1, WS_MATRIX_F32,       \
    WS_MATRIX_F32)                                                             \
  WS_MFMA_NARROW_MAP(X, f16, "f16", WS_MATRIX_F16)                             \
  WS_MFMA_NARROW_MAP(X, bf16, "bf16.1k", WS_MATRIX_BF16)                       \
  X(f32_16x16x8_xf32, "mfma.f32.16x16x8.xf32", 16, 16, 8, 1, WS_MATRIX_XF32,   \
    WS_MATRIX_XF32)                                                            \
  X(f32_32x32x4_xf32, "mfma.f32.32x32x4.xf32", 32, 32, 4, 1, WS_MATRIX_XF32,   \
    WS_MATRIX_XF32)                                                            \
  X(i32_32x32x4_2b_i8, "mfma.i32.32x32x4i8", 32, 32, 4, 2, WS_MATRIX_I8,       \
    WS_MATRIX_I8)                                                              \
  X(i32_16x16x4_4b_i8, "mfma.i32.16x16x4i8", 16, 16, 4, 4, WS_MATRIX_I8,       \
    WS_MATRIX_I8)                                                              \
  X(i32_4x4x4_16b_i8, "mfma.i32.4x4x4i8", 4, 4, 4, 16, WS_MATRIX_I8,           \
    WS_MATRIX_I8)                                                              \
  X(i32_32x32x16_i8, "mfma.i32.32x32x16.i8", 32, 32, 16, 1, WS_MATRIX_I8,      \
    WS_MATRIX_I8)                                                              \
  X(i32_16x16x32_i8, "mfma.i32.16x16x32.i8", 16, 16, 32, 1, WS_MATRIX_I8,      \
    WS_MATRIX_I8)                                                              \
  X(f64_16x16x4_f64, "mfma.f64.16x16x4f64", 16, 16, 4, 1, WS_MATRIX_F64,       \
    WS_MATRIX_F64)                                                             \
  X(f64_4x4x4_4b_f64, "mfma.f64.4x4x4f64", 4, 4, 4, 4, WS_MATRIX_F64,          \
    WS_MATRIX_F64)                                                             \
  WS_MFMA_FP8_MAP(X, fp8, fp8, WS_MATRIX_FP8, WS_MATRIX_FP8)                   \
  WS_MFMA_FP8_MAP(X, fp8, bf8, WS_MATRIX_FP8, WS_MATRIX_BF8)                   \
  WS_MFMA_FP8_MAP(X, bf8, fp8, WS_MATRIX_BF8, WS_MATRIX_FP8)                   \
  WS_MFMA_FP8_MAP(X, bf8, bf8, WS_MATRIX_BF8, WS_MATRIX_BF8)

/* cbsz, abid: block b of A is replaced by block (b with its cbsz low bits
 * cleared) + abid. blgp: the lanes of B are moved; of f64, bits 0 to 2 negate
 * A, B, C. */
typedef struct ws_matrix_modifiers {
  int cbsz, abid, blgp;
} ws_matrix_modifiers;

/* Whether the instruction has them. */
bool ws_mfma_takes(const ws_matrix_shape *shape,
                   const ws_matrix_modifiers *modifiers);

/* One register of a wave: a dword of each lane. */
typedef uint32_t ws_matrix_register[64];
enum {
  WS_MFMA_OPERAND_REGISTERS = 2,
  WS_MFMA_RESULT_REGISTERS = 32
}; /* most */

/* Of A and of B each; of C and of D each. */
int ws_mfma_operand_registers(const ws_matrix_shape *shape);
int ws_mfma_result_registers(const ws_matrix_shape *shape);

/* One wave's instruction. Layouts: matrix.c. d may overlap the others.
 * ws_mfma_takes must have said yes. */
void ws_mfma(const ws_matrix_shape *shape, const ws_matrix_modifiers *modifiers,
             const ws_matrix_register *a, const ws_matrix_register *b,
             const ws_matrix_register *c, ws_matrix_register *d);

/* The vector code in use: "avx512", "avx2" or "portable". */
const char *ws_mfma_implementation(void);

#ifdef __cplusplus
}
#endif
#endif
