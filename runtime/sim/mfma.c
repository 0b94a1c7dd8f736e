/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The fp8 matrix instructions of a wave. The arithmetic is mfma_kernel.inc,
 * compiled for AVX-512, AVX2 and the plain target; the copy is chosen at run
 * time by what the processor has. Here: lane layouts in and out.
 */
#include "wavesmith/mfma.h"
#include <string.h>

typedef float vector_float __attribute__((vector_size(64)));
typedef int32_t vector_int __attribute__((vector_size(64)));
typedef double vector_double __attribute__((vector_size(128)));
typedef int64_t vector_long __attribute__((vector_size(128)));

/* A or B of one instruction: 32 vectors, index block * depth + k. */
struct operand {
  vector_float value[32];
  vector_int exponent[32];
  vector_int nan[2]; /* by block: the row or column holds a NaN */
};

#define WS_MFMA_TARGET
#define WS_MFMA_NAME(x) portable_##x
#define WS_MFMA_MAX(x, y) portable_choose((x) > (y), x, y)
#define WS_MFMA_MIN(x, y) portable_choose((x) < (y), x, y)
#include "mfma_kernel.inc"
#undef WS_MFMA_TARGET
#undef WS_MFMA_NAME
#undef WS_MFMA_MAX
#undef WS_MFMA_MIN

#ifdef __x86_64__
#include <immintrin.h>

#define WS_MFMA_TARGET __attribute__((target("avx2")))
#define WS_MFMA_NAME(x) avx2_##x
#define WS_MFMA_MAX(x, y) avx2_choose((x) > (y), x, y)
#define WS_MFMA_MIN(x, y) avx2_choose((x) < (y), x, y)
#include "mfma_kernel.inc"
#undef WS_MFMA_TARGET
#undef WS_MFMA_NAME
#undef WS_MFMA_MAX
#undef WS_MFMA_MIN

#define WS_MFMA_TARGET                                                         \
  __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq")))
#define WS_MFMA_NAME(x) avx512_##x
#define WS_MFMA_MAX(x, y)                                                      \
  ((vector_int)_mm512_max_epi32((__m512i)(x), (__m512i)(y)))
#define WS_MFMA_MIN(x, y)                                                      \
  ((vector_int)_mm512_min_epi32((__m512i)(x), (__m512i)(y)))
#include "mfma_kernel.inc"
#undef WS_MFMA_TARGET
#undef WS_MFMA_NAME
#undef WS_MFMA_MAX
#undef WS_MFMA_MIN
#endif

typedef void (*run_function)(ws_fp8_format, ws_fp8_format, const uint64_t *,
                             const uint64_t *, int, int, vector_float *);

static run_function choose_run(const char **out_name) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq")) {
    *out_name = "avx512";
    return avx512_run;
  }
  if (__builtin_cpu_supports("avx2")) {
    *out_name = "avx2";
    return avx2_run;
  }
#endif
  *out_name = "portable";
  return portable_run;
}

const char *ws_mfma_implementation(void) {
  const char *name;
  choose_run(&name);
  return name;
}

void ws_mfma_f32_16x16x32(ws_fp8_format a_format, ws_fp8_format b_format,
                          const uint64_t a[64], const uint64_t b[64],
                          const float c[64][4], float d[64][4]) {
  const char *name;
  float rows[16][16] __attribute__((aligned(64)));
  for (int lane = 0; lane < 64; lane++)
    for (int i = 0; i < 4; i++)
      rows[lane / 16 * 4 + i][lane % 16] = c[lane][i];
  choose_run (&name)(a_format, b_format, a, b, 1, 32, (vector_float *)rows);
  for (int lane = 0; lane < 64; lane++)
    for (int i = 0; i < 4; i++)
      d[lane][i] = rows[lane / 16 * 4 + i][lane % 16];
}

void ws_mfma_f32_32x32x16(ws_fp8_format a_format, ws_fp8_format b_format,
                          const uint64_t a[64], const uint64_t b[64],
                          const float c[64][16], float d[64][16]) {
  const char *name;
  float rows[32][32] __attribute__((aligned(64)));
  for (int lane = 0; lane < 64; lane++)
    for (int i = 0; i < 16; i++)
      rows[i / 4 * 8 + lane / 32 * 4 + i % 4][lane % 32] = c[lane][i];
  choose_run (&name)(a_format, b_format, a, b, 2, 16, (vector_float *)rows);
  for (int lane = 0; lane < 64; lane++)
    for (int i = 0; i < 16; i++)
      d[lane][i] = rows[i / 4 * 8 + lane / 32 * 4 + i % 4][lane % 32];
}
