/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Matrix instructions, sparse ones too: where elements lie in a wave's
 * registers, the modifiers, and the arithmetic, one result at a time, for all
 * types. What wavesmith/mfma.h offers and the simulator's handlers are made of
 * this.
 */
#ifndef WAVESMITH_SIM_MATRIX_H
#define WAVESMITH_SIM_MATRIX_H

#include "wavesmith/mfma.h"

/* ---- layouts (matrix.c) --------------------------------------------------
 */
enum { WS_MATRIX_LANES = 64 };

/* A or B: rows or columns of all blocks, k that it holds, elements and
 * registers per lane. */
typedef struct ws_matrix_side {
  int rows, depth, elements, registers, type;
} ws_matrix_side;

ws_matrix_side ws__matrix_side(const ws_matrix_shape *shape, bool is_a);

/* Registers of one result: 2 of f64. */
static inline int ws__matrix_result_words(const ws_matrix_shape *s) {
  return s->a_type == WS_MATRIX_F64 ? 2 : 1;
}

static inline int ws__matrix_result_registers(const ws_matrix_shape *s) {
  return s->m * s->n * s->blocks / WS_MATRIX_LANES * ws__matrix_result_words(s);
}

/* Inline: poison calls it once a result. Lane and element (register, or pair of
 * them for f64) of D[i][j] of a block.
 */
static inline void ws__matrix_result_place(const ws_matrix_shape *s, int block,
                                           int i, int j, int *out_lane,
                                           int *out_element) {
  int height = s->a_type == WS_MATRIX_F64 ? 1 : 4;
  int bands = WS_MATRIX_LANES / s->n; /* that fit side by side into the lanes */
  int band_lanes = s->n * s->m / height;
  int together =
      band_lanes < WS_MATRIX_LANES ? WS_MATRIX_LANES / band_lanes : 1;
  *out_element = block * (s->m * s->n / WS_MATRIX_LANES) +
                 i / (height * bands) * height + i % height;
  *out_lane =
      block % together * s->n + i / height % bands * together * s->n + j;
}

/* Which lane each lane of an operand is taken from. */
typedef uint8_t ws_lane_map[WS_MATRIX_LANES];

/* false: the modifiers leave this side's lanes where they are. */
bool ws__matrix_lanes(const ws_matrix_shape *shape, bool is_a,
                      const ws_matrix_modifiers *modifiers, ws_lane_map from);
void ws__matrix_move(const ws_matrix_register *registers, int count,
                     const ws_lane_map from, ws_matrix_register *out);

/* ---- a whole instruction, lanes moved already (matrix.c) ------------------
 * indices: of sparse ones, k of each element of A by row; else NULL. blgp
 * negates f64. */
void ws__matrix_multiply(const ws_matrix_shape *shape,
                         const ws_matrix_register *a,
                         const ws_matrix_register *b, const uint8_t *indices,
                         int blgp, const ws_matrix_register *c,
                         ws_matrix_register *d);

static inline bool ws__matrix_is_fp8(const ws_matrix_shape *shape) {
  return shape->a_type >= WS_MATRIX_FP8 && !shape->sparse;
}
static inline ws_fp8_format ws__matrix_fp8_format(int type) {
  return type == WS_MATRIX_FP8 ? WS_FP8_E4M3_FNUZ : WS_FP8_E5M2_FNUZ;
}

/* ---- one result (matrix_dot.c) -------------------------------------------
 */
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

/* ---- 8 results in a row (matrix_row.c) -----------------------------------
 */

/* B by k, so that neighbouring columns are neighbours. */
typedef struct ws_turned {
  double value[32][64];
  int64_t exponent[32][64];
} ws_turned;

/* Whether the instruction's results are made so. */
bool ws__matrix_by_rows(const ws_matrix_shape *shape);
void ws__matrix_turn(const ws_matrix *b, int columns, ws_turned *out);
/* What ws__matrix_dot says of column to column + 7. */
void ws__matrix_row(const ws_matrix *a, int row, const ws_matrix *b,
                    const ws_turned *turned, int column, const uint32_t c[8],
                    uint32_t out[8]);

#endif
