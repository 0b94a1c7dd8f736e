/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Dense f16, bf16 and xf32 by rows of 8 results: the arithmetic of
 * matrix_dot.c, bit for bit, where all numbers are well within f32. In copies
 * for AVX-512, AVX2 and the plain target, of which the processor's is taken.
 */
#include "matrix.h"

#include <string.h>

typedef double row_double __attribute__((vector_size(64), aligned(8)));
typedef int64_t row_long __attribute__((vector_size(64), aligned(8)));
typedef float row_float __attribute__((vector_size(32), aligned(4)));
typedef int32_t row_int __attribute__((vector_size(32), aligned(4)));
typedef uint32_t row_unsigned __attribute__((vector_size(32), aligned(4)));

#define WS_ROW_TARGET
#define WS_ROW_NAME(x) portable_##x
#include "matrix_row.inc"
#undef WS_ROW_TARGET
#undef WS_ROW_NAME

#ifdef __x86_64__
#define WS_ROW_TARGET __attribute__((target("avx2")))
#define WS_ROW_NAME(x) avx2_##x
#include "matrix_row.inc"
#undef WS_ROW_TARGET
#undef WS_ROW_NAME

#define WS_ROW_TARGET                                                          \
  __attribute__((target("avx512f,avx512vl,avx512dq,prefer-vector-width=512")))
#define WS_ROW_NAME(x) avx512_##x
#include "matrix_row.inc"
#undef WS_ROW_TARGET
#undef WS_ROW_NAME
#endif

typedef bool (*dot_function)(const ws_matrix *, int, const ws_turned *, int,
                             int, const float[8], float[8]);

static dot_function choose_dot(void) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return avx512_dot;
  if (__builtin_cpu_supports("avx2"))
    return avx2_dot;
#endif
  return portable_dot;
}

bool ws__matrix_by_rows(const ws_matrix_shape *s) {
  return !s->sparse && s->n % 8 == 0 &&
         (s->a_type == WS_MATRIX_F16 || s->a_type == WS_MATRIX_BF16 ||
          s->a_type == WS_MATRIX_XF32);
}

void ws__matrix_turn(const ws_matrix *b, int columns, ws_turned *out) {
  for (int column = 0; column < columns; column++)
    for (int k = 0; k < b->depth; k++) {
      out->value[k][column] = b->value[column * b->depth + k];
      out->exponent[k][column] = b->exponent[column * b->depth + k];
    }
}

void ws__matrix_row(const ws_matrix *a, int row, const ws_matrix *b,
                    const ws_turned *turned, int column, const uint32_t c[8],
                    uint32_t out[8]) {
  const int group = a->type == WS_MATRIX_XF32 ? 4 : 8;
  float from[8], to[8];
  memcpy(from, c, sizeof from);
  if (choose_dot()(a, row, turned, column, group, from, to)) {
    memcpy(out, to, sizeof to);
    return;
  }
  for (int j = 0; j < 8; j++)
    out[j] = (uint32_t)ws__matrix_dot(a, row, b, column + j, NULL, 0, c[j]);
}
