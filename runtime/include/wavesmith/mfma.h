/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * gfx942 arithmetic that C lacks: fp8 FNUZ, bf16, and the fp8 matrix
 * instructions, bit for bit as published for CDNA3 (MMA-Sim, arXiv 2511.10909;
 * docs/sanitizer.md repeats the rules). Pure functions, thread-safe.
 *
 * The publication leaves special values open. Here: a NaN operand makes every
 * result of its row or column NaN (0x7fc00000); an infinite C passes through;
 * a finite sum beyond f32 becomes infinite by rounding.
 */
#ifndef WAVESMITH_MFMA_H
#define WAVESMITH_MFMA_H

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

/* The vector code in use: "avx512", "avx2" or "portable". */
const char *ws_mfma_implementation(void);

#ifdef __cplusplus
}
#endif
#endif
