/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Matrix instructions on plain registers: layouts, modifiers, and all results
 * of one instruction. The arithmetic of a result is matrix_dot.c; dense fp8 has
 * a way of its own (mfma.c).
 *
 * Layouts: AMD matrix instruction calculator, gfx9. With B blocks of M x N x K,
 *   A[i][k]: lane i + M * (block + B * (k / e)), element k % e, e = K*M*B / 64;
 *   B[k][j]: the same with j and N;
 *   D[i][j]: bands of 4 rows (1 row of f64) and N columns fill the 64 lanes,
 *            block by block where several fit, then band by band, then the next
 *            4 registers (register pairs).
 */
#include "matrix.h"
#include "mfma_fp8.h"

#include <string.h>

/* ---- layouts --------------------------------------------------------------
 */

static int element_bits(int type) {
  static const uint8_t bits[] = {
      [WS_MATRIX_F32] = 32,  [WS_MATRIX_XF32] = 32, [WS_MATRIX_F16] = 16,
      [WS_MATRIX_BF16] = 16, [WS_MATRIX_F64] = 64,  [WS_MATRIX_I8] = 8,
      [WS_MATRIX_FP8] = 8,   [WS_MATRIX_BF8] = 8};
  return bits[type];
}

ws_matrix_side ws__matrix_side(const ws_matrix_shape *s, bool is_a) {
  ws_matrix_side out = {(is_a ? s->m : s->n) * s->blocks,
                        is_a && s->sparse ? s->k / 2 : s->k, 0, 0,
                        is_a ? s->a_type : s->b_type};
  out.elements = out.depth * out.rows / WS_MATRIX_LANES;
  out.registers = out.elements * element_bits(out.type) / 32;
  return out;
}

int ws_mfma_operand_registers(const ws_matrix_shape *s) {
  return ws__matrix_side(s, true).registers;
}

int ws_mfma_result_registers(const ws_matrix_shape *s) {
  return ws__matrix_result_registers(s);
}

/* ---- modifiers ------------------------------------------------------------
 */

bool ws_mfma_takes(const ws_matrix_shape *shape, const ws_matrix_modifiers *m) {
  return m->cbsz >= 0 && m->cbsz < 5 && 1 << m->cbsz <= shape->blocks &&
         m->abid >= 0 && m->abid < 1 << m->cbsz && m->blgp >= 0 && m->blgp < 8;
}

static void broadcast_blocks(const ws_matrix_shape *s,
                             const ws_matrix_modifiers *modifiers,
                             ws_lane_map from) {
  int group = 1 << modifiers->cbsz;
  for (int lane = 0; lane < WS_MATRIX_LANES; lane++) {
    int block = lane / s->m % s->blocks;
    int source = block / group * group + modifiers->abid;
    from[lane] = (uint8_t)(lane + (source - block) * s->m);
  }
}

static void move_lanes(int pattern, ws_lane_map from) {
  for (int lane = 0; lane < WS_MATRIX_LANES; lane++)
    switch (pattern) {
    case 1:
    case 2:
      from[lane] = (uint8_t)(lane % 32 + (pattern - 1) * 32);
      break;
    case 3:
      from[lane] = (uint8_t)((lane + 16) % WS_MATRIX_LANES);
      break;
    default:
      from[lane] = (uint8_t)(lane % 16 + (pattern - 4) * 16);
    }
}

bool ws__matrix_lanes(const ws_matrix_shape *shape, bool is_a,
                      const ws_matrix_modifiers *modifiers, ws_lane_map from) {
  if (is_a && modifiers->cbsz && !shape->sparse) {
    broadcast_blocks(shape, modifiers, from);
    return true;
  }
  if (!is_a && modifiers->blgp && shape->a_type != WS_MATRIX_F64) {
    move_lanes(modifiers->blgp, from);
    return true;
  }
  return false;
}

void ws__matrix_move(const ws_matrix_register *registers, int count,
                     const ws_lane_map from, ws_matrix_register *out) {
  for (int r = 0; r < count; r++)
    for (int lane = 0; lane < WS_MATRIX_LANES; lane++)
      out[r][lane] = registers[r][from[lane]];
}

/* ---- results --------------------------------------------------------------
 */

/* Elements by row and k, decoded. */
static void decode(const ws_matrix_side *side,
                   const ws_matrix_register *registers, ws_matrix *out) {
  int bits = element_bits(side->type), per_word = bits < 32 ? 32 / bits : 1;
  out->type = side->type;
  out->depth = side->depth;
  for (int lane = 0; lane < WS_MATRIX_LANES; lane++)
    for (int e = 0; e < side->elements; e++) {
      int k = lane / side->rows * side->elements + e;
      int word = bits == 64 ? 2 * e : e / per_word;
      uint64_t raw = registers[word][lane];
      if (bits == 64)
        raw |= (uint64_t)registers[word + 1][lane] << 32;
      else
        raw >>= e % per_word * bits % 32;
      ws__matrix_decode(out, lane % side->rows * side->depth + k, raw);
    }
}

/* C of one result, as bits; f32 and i32 in the low word. */
static uint64_t c_value(const ws_matrix_register *c, int words, int lane) {
  return words == 2 ? c[0][lane] | (uint64_t)c[1][lane] << 32 : c[0][lane];
}

static void multiply_by_rows(const ws_matrix_shape *s, const ws_matrix *x,
                             const ws_matrix *y, const ws_matrix_register *c,
                             ws_matrix_register *d) {
  ws_turned turned;
  ws_matrix_register result[WS_MFMA_RESULT_REGISTERS];
  ws__matrix_turn(y, s->n * s->blocks, &turned);
  for (int block = 0; block < s->blocks; block++)
    for (int i = 0; i < s->m; i++) {
      int lane, element;
      ws__matrix_result_place(s, block, i, 0, &lane, &element);
      for (int j = 0; j < s->n; j += 8) /* columns are neighbours */
        ws__matrix_row(x, block * s->m + i, y, &turned, block * s->n + j,
                       &c[element][lane + j], &result[element][lane + j]);
    }
  memcpy(d, result, (size_t)ws_mfma_result_registers(s) * sizeof *d);
}

void ws__matrix_multiply(const ws_matrix_shape *s, const ws_matrix_register *a,
                         const ws_matrix_register *b, const uint8_t *indices,
                         int blgp, const ws_matrix_register *c,
                         ws_matrix_register *d) {
  const ws_matrix_side rows = ws__matrix_side(s, true),
                       columns = ws__matrix_side(s, false);
  const int words = ws__matrix_result_words(s);
  const int negate = s->a_type == WS_MATRIX_F64 ? blgp : 0;
  ws_matrix x, y;
  ws_matrix_register result[WS_MFMA_RESULT_REGISTERS];
  decode(&rows, a, &x);
  decode(&columns, b, &y);
  if (ws__matrix_by_rows(s)) {
    multiply_by_rows(s, &x, &y, c, d);
    return;
  }
  for (int block = 0; block < s->blocks; block++)
    for (int i = 0; i < s->m; i++) {
      int lane, element, row = block * s->m + i;
      ws__matrix_result_place(s, block, i, 0, &lane, &element);
      const uint8_t *which = indices ? &indices[row * rows.depth] : NULL;
      for (int j = 0; j < s->n; j++, lane++) { /* columns are neighbours */
        uint64_t sum =
            ws__matrix_dot(&x, row, &y, block * s->n + j, which, negate,
                           c_value(&c[element * words], words, lane));
        for (int w = 0; w < words; w++)
          result[element * words + w][lane] = (uint32_t)(sum >> 32 * w);
      }
    }
  memcpy(d, result, (size_t)ws_mfma_result_registers(s) * sizeof *d);
}

static void multiply_fp8(const ws_matrix_shape *s, const ws_matrix_register *a,
                         const ws_matrix_register *b,
                         const ws_matrix_register *c, ws_matrix_register *d) {
  float result[16 * WS_MATRIX_LANES];
  size_t size = (size_t)ws_mfma_result_registers(s) * sizeof *d;
  memcpy(result, c, size);
  ws__mfma_fp8(NULL, ws__matrix_fp8_format(s->a_type),
               ws__matrix_fp8_format(s->b_type), s->m, a[0], b[0], result,
               false, result);
  memcpy(d, result, size);
}

void ws_mfma(const ws_matrix_shape *shape, const ws_matrix_modifiers *modifiers,
             const ws_matrix_register *a, const ws_matrix_register *b,
             const ws_matrix_register *c, ws_matrix_register *d) {
  const ws_matrix_register *sides[2] = {a, b};
  ws_matrix_register moved[2][WS_MFMA_OPERAND_REGISTERS];
  for (int i = 0; i < 2; i++) {
    ws_lane_map from;
    if (!ws__matrix_lanes(shape, i == 0, modifiers, from))
      continue;
    ws__matrix_move(sides[i], ws_mfma_operand_registers(shape), from, moved[i]);
    sides[i] = (const ws_matrix_register *)moved[i];
  }
  if (ws__matrix_is_fp8(shape))
    multiply_fp8(shape, sides[0], sides[1], c, d);
  else
    ws__matrix_multiply(shape, sides[0], sides[1], NULL, modifiers->blgp, c, d);
}
