/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Arithmetic of the matrix instructions, one result at a time, for all types.
 */
#ifndef WAVESMITH_SIM_EXECUTE_MATRIX_H
#define WAVESMITH_SIM_EXECUTE_MATRIX_H

#include "machine.h"

enum {
  WS_MATRIX_F32,
  WS_MATRIX_XF32,
  WS_MATRIX_F16,
  WS_MATRIX_BF16,
  WS_MATRIX_F64,
  WS_MATRIX_I8,
  WS_MATRIX_FP8,
  WS_MATRIX_BF8
};

enum { WS_MATRIX_ELEMENTS = 1024 };

/* Rows of A or columns of B: element row * depth + k. */
typedef struct ws_matrix {
  int type, depth;
  double value[WS_MATRIX_ELEMENTS];
  int exponent[WS_MATRIX_ELEMENTS]; /* of fused types: not below the smallest
                                     * of the type; -126 for 0 */
} ws_matrix;

void ws__matrix_decode(ws_matrix *matrix, int element, uint64_t raw);

/* sum over k of a[row][k] * b[column][k] + c. indices: which k of b belongs to
 * each of a; NULL: the same. negate: bits 0 to 2 for a, b, c (f64). c and the
 * result: bits of f32, i32 or f64. */
uint64_t ws__matrix_dot(const ws_matrix *a, int row, const ws_matrix *b,
                        int column, const uint8_t *indices, int negate,
                        uint64_t c);

#endif
