/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The fp8 matrix instructions of a wave. The arithmetic is mfma_kernel.inc,
 * compiled for AVX-512, AVX2 and the plain target; the copy is chosen at run
 * time by what the processor has; mfma_narrow.inc is a faster way for AVX-512
 * with VNNI. Here: lane layouts in and out.
 */
#include "mfma_fp8.h"

#include <stdlib.h>
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

#include "mfma_narrow.inc"
#endif

typedef void (*run_function)(ws_fp8_format, ws_fp8_format, const uint64_t *,
                             const uint64_t *, int, int, vector_float *);

static run_function choose_run(const char **out_name) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq")) {
    *out_name = "avx512";
    return __builtin_cpu_supports("avx512vnni") ? narrow_run : avx512_run;
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

/* Four registers of four neighbouring lanes are four neighbouring columns of
 * four rows, turned. */
typedef float vector_4 __attribute__((vector_size(16), aligned(4)));

static void turn_4x4(const float *source, int source_pitch, float *target,
                     int target_pitch) {
  vector_4 a = *(const vector_4 *)source;
  vector_4 b = *(const vector_4 *)(source + source_pitch);
  vector_4 c = *(const vector_4 *)(source + 2 * source_pitch);
  vector_4 d = *(const vector_4 *)(source + 3 * source_pitch);
  vector_4 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  vector_4 ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  vector_4 cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  vector_4 cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  *(vector_4 *)target = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  *(vector_4 *)(target + target_pitch) =
      __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  *(vector_4 *)(target + 2 * target_pitch) =
      __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  *(vector_4 *)(target + 3 * target_pitch) =
      __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

void ws_mfma_f32_16x16x32(ws_fp8_format a_format, ws_fp8_format b_format,
                          const uint64_t a[64], const uint64_t b[64],
                          const float c[64][4], float d[64][4]) {
  const char *name;
  float rows[16][16] __attribute__((aligned(64)));
  for (int lane = 0; lane < 64; lane += 4)
    turn_4x4(c[lane], 4, &rows[lane / 16 * 4][lane % 16], 16);
  choose_run (&name)(a_format, b_format, a, b, 1, 32, (vector_float *)rows);
  for (int lane = 0; lane < 64; lane += 4)
    turn_4x4(&rows[lane / 16 * 4][lane % 16], 16, d[lane], 4);
}

void ws_mfma_f32_32x32x16(ws_fp8_format a_format, ws_fp8_format b_format,
                          const uint64_t a[64], const uint64_t b[64],
                          const float c[64][16], float d[64][16]) {
  const char *name;
  float rows[32][32] __attribute__((aligned(64)));
  for (int lane = 0; lane < 64; lane += 4)
    for (int i = 0; i < 16; i += 4)
      turn_4x4(&c[lane][i], 16, &rows[i * 2 + lane / 32 * 4][lane % 32], 32);
  choose_run (&name)(a_format, b_format, a, b, 2, 16, (vector_float *)rows);
  for (int lane = 0; lane < 64; lane += 4)
    for (int i = 0; i < 16; i += 4)
      turn_4x4(&rows[i * 2 + lane / 32 * 4][lane % 32], 32, &d[lane][i], 16);
}

/* Through the lane-wise functions above, where there is no faster way. */
static void by_lanes(ws_fp8_format a_format, ws_fp8_format b_format, int size,
                     const uint32_t a[128], const uint32_t b[128],
                     const float *c, bool c_is_constant, float *d) {
  uint64_t a_lanes[64], b_lanes[64];
  float tile[64][16];
  int registers = size == 16 ? 4 : 16;
  for (int lane = 0; lane < 64; lane++) {
    a_lanes[lane] = a[lane] | (uint64_t)a[lane + 64] << 32;
    b_lanes[lane] = b[lane] | (uint64_t)b[lane + 64] << 32;
    for (int r = 0; r < registers; r++)
      ((float *)tile)[lane * registers + r] =
          c_is_constant ? *c : c[r * 64 + lane];
  }
  if (size == 16)
    ws_mfma_f32_16x16x32(a_format, b_format, a_lanes, b_lanes,
                         (const float(*)[4])tile, (float(*)[4])tile);
  else
    ws_mfma_f32_32x32x16(a_format, b_format, a_lanes, b_lanes,
                         (const float(*)[16])tile, tile);
  for (int lane = 0; lane < 64; lane++)
    for (int r = 0; r < registers; r++)
      d[r * 64 + lane] = ((const float *)tile)[lane * registers + r];
}

struct ws_fp8_cache *ws__fp8_cache_create(void) {
#ifdef __x86_64__
  const char *name;
  if (choose_run(&name) == narrow_run) {
    struct ws_fp8_cache *cache = aligned_alloc(64, sizeof *cache);
    if (cache)
      memset(cache, 0, sizeof *cache);
    return cache;
  }
#endif
  return NULL;
}

void ws__mfma_fp8(struct ws_fp8_cache *cache, ws_fp8_format a_format,
                  ws_fp8_format b_format, int size, const uint32_t a[128],
                  const uint32_t b[128], const float *c, bool c_is_constant,
                  float *d) {
#ifdef __x86_64__
  const char *name;
  if (choose_run(&name) == narrow_run) {
    narrow_instruction(cache, a_format, b_format, size, a, b, true, c,
                       c_is_constant, d);
    return;
  }
#endif
  (void)cache;
  by_lanes(a_format, b_format, size, a, b, c, c_is_constant, d);
}
