/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Matrix instructions (v_mfma_*, v_smfmac_*) on a wave: operands, "never
 * written", and what is the sparse ones' own. Shapes: wavesmith/mfma.h;
 * layouts, modifiers and arithmetic: arithmetic/matrix.h; dense fp8 has a way
 * of its own (mfma.c). EXEC is ignored, as by the hardware.
 */
#include "machine.h"
#include "matrix.h"
#include "mfma_fp8.h"

typedef ws_matrix_shape shape;
typedef ws_matrix_side side;

/* Mnemonic without v_smfmac_, M, N, K, blocks, types of A and B. */
#define WS_SPARSE_FP8_MAP(X, a, b, A, B)                                       \
  X(f32_16x16x64_##a##_##b, 16, 16, 64, 1, A, B)                               \
  X(f32_32x32x32_##a##_##b, 32, 32, 32, 1, A, B)
#define WS_SPARSE_MAP(X)                                                       \
  X(f32_16x16x32_f16, 16, 16, 32, 1, WS_MATRIX_F16, WS_MATRIX_F16)             \
  X(f32_16x16x32_bf16, 16, 16, 32, 1, WS_MATRIX_BF16, WS_MATRIX_BF16)          \
  X(f32_32x32x16_f16, 32, 32, 16, 1, WS_MATRIX_F16, WS_MATRIX_F16)             \
  X(f32_32x32x16_bf16, 32, 32, 16, 1, WS_MATRIX_BF16, WS_MATRIX_BF16)          \
  X(i32_16x16x64_i8, 16, 16, 64, 1, WS_MATRIX_I8, WS_MATRIX_I8)                \
  X(i32_32x32x32_i8, 32, 32, 32, 1, WS_MATRIX_I8, WS_MATRIX_I8)                \
  WS_SPARSE_FP8_MAP(X, fp8, fp8, WS_MATRIX_FP8, WS_MATRIX_FP8)                 \
  WS_SPARSE_FP8_MAP(X, fp8, bf8, WS_MATRIX_FP8, WS_MATRIX_BF8)                 \
  WS_SPARSE_FP8_MAP(X, bf8, fp8, WS_MATRIX_BF8, WS_MATRIX_FP8)                 \
  WS_SPARSE_FP8_MAP(X, bf8, bf8, WS_MATRIX_BF8, WS_MATRIX_BF8)

static const shape *shape_of(const ws_instruction *in) {
#define DENSE(name, intrinsic, ...)                                            \
  [WS_OP_v_mfma_##name] = {__VA_ARGS__, false},
#define SPARSE(name, ...) [WS_OP_v_smfmac_##name] = {__VA_ARGS__, true},
  static const shape shapes[WS_OP_COUNT] = {WS_MFMA_MAP(DENSE)
                                                WS_SPARSE_MAP(SPARSE)};
#undef DENSE
#undef SPARSE
  return &shapes[in->op];
}

static ws_matrix_modifiers modifiers_of(const ws_instruction *in) {
  return (ws_matrix_modifiers){in->cbsz, in->abid, in->blgp};
}

/* A register file's vectors as the arithmetic takes them. */
static ws_matrix_register *plain(ws_vector *registers) {
  return &registers->u32;
}
static const ws_matrix_register *plain_const(const ws_vector *registers) {
  return &registers->u32;
}

/* ---- operands -------------------------------------------------------------
 */

static uint64_t move_mask(uint64_t mask, const ws_lane_map from) {
  uint64_t moved = 0;
  for (int lane = 0; lane < WS_LANES; lane++)
    moved |= (mask >> from[lane] & 1) << lane;
  return moved;
}

/* An operand after the modifiers: the registers themselves, or a copy. */
typedef struct source {
  const ws_vector *registers;
  ws_vector copy[4];
  uint64_t poison; /* bit per lane, of all its registers */
} source;

static void fetch(const ws_wave *wave, const ws_instruction *in, const shape *s,
                  bool is_a, const side *part, source *out) {
  const int first = in->src[is_a ? 0 : 1].index;
  const ws_matrix_modifiers modifiers = modifiers_of(in);
  ws_lane_map from;
  out->registers = &wave->vgpr[first];
  out->poison = 0;
  for (int r = 0; r < part->registers; r++)
    out->poison |= wave->vector_poison[first + r];
  if (!ws__matrix_lanes(s, is_a, &modifiers, from))
    return;
  ws__matrix_move(plain_const(out->registers), part->registers, from,
                  plain(out->copy));
  out->registers = out->copy;
  out->poison = move_mask(out->poison, from);
}

/* ---- never written --------------------------------------------------------
 */

static uint64_t fold(uint64_t lanes, int rows) {
  uint64_t folded = lanes;
  for (int step = rows; step < WS_LANES; step += rows)
    folded |= lanes >> step;
  return folded;
}

/* A result is poisoned when anything of its row, its column or its C is. */
static void spread_poison(ws_wave *wave, const ws_instruction *in,
                          const shape *s, uint64_t a, uint64_t b) {
  int first = in->dst[0].index, words = ws__matrix_result_words(s);
  const ws_operand *c = &in->src[s->sparse ? 3 : 2];
  const bool chained = c->kind == WS_OPERAND_VECTOR && c->index == first;
  if (!(a | b) && chained)
    return;
  uint64_t result[32] = {0};
  if (c->kind == WS_OPERAND_VECTOR)
    memcpy(result, &wave->vector_poison[c->index],
           (size_t)ws__matrix_result_registers(s) * sizeof *result);
  if (a | b) {
    uint64_t rows = fold(a, s->m * s->blocks),
             columns = fold(b, s->n * s->blocks);
    for (int block = 0; block < s->blocks; block++)
      for (int i = 0; i < s->m; i++)
        for (int j = 0; j < s->n; j++) {
          int lane, element;
          ws__matrix_result_place(s, block, i, j, &lane, &element);
          uint64_t bad =
              (rows >> (block * s->m + i) | columns >> (block * s->n + j)) & 1;
          for (int w = 0; w < words; w++)
            result[element * words + w] |= bad << lane;
        }
  }
  memcpy(&wave->vector_poison[first], result,
         (size_t)ws__matrix_result_registers(s) * sizeof *result);
}

/* ---- execution ------------------------------------------------------------
 */

static bool is_range(const ws_operand *operand, int registers) {
  return operand->kind == WS_OPERAND_VECTOR &&
         operand->index + registers <= WS_VECTORS;
}

/* False: the instruction is not one that this file's tables describe. */
static bool is_sound(ws_wave *wave, const ws_instruction *in, const shape *s,
                     const side *a, const side *b) {
  const ws_operand *c = &in->src[2];
  int results = ws__matrix_result_registers(s);
  bool known = is_range(&in->dst[0], results) &&
               is_range(&in->src[0], a->registers) &&
               is_range(&in->src[1], b->registers);
  known &= s->sparse ? is_range(c, 1)
                     : c->kind == WS_OPERAND_CONSTANT || is_range(c, results);
  const ws_matrix_modifiers modifiers = modifiers_of(in);
  bool blocks = s->sparse || ws_mfma_takes(s, &modifiers);
  if (known && blocks)
    return true;
  ws__fault(wave, in, -1, "unsupported",
            known ? "cbsz %d abid %d of an instruction with %d blocks"
                  : "matrix operands that gfx942 does not have",
            in->cbsz, in->abid, s->blocks);
  return false;
}

/* D may be C, which ws__mfma_fp8 allows; a D that covers C in part, or A or B,
 * would change them while they are still read. */
static bool disturbs(const ws_instruction *in, const shape *s) {
  const int d = in->dst[0].index, words = ws__matrix_result_registers(s);
  for (int i = 0; i < 3; i++) {
    const ws_operand *from = &in->src[i];
    const bool same = i == 2 && from->index == d;
    if (from->kind == WS_OPERAND_VECTOR && !same && from->index < d + words &&
        d < from->index + from->count)
      return true;
  }
  return false;
}

static void multiply_fp8(ws_wave *wave, const ws_instruction *in,
                         const shape *s, const ws_vector *a,
                         const ws_vector *b) {
  const ws_operand *c = &in->src[2];
  uint32_t constant[16];
  const void *from = constant;
  if (c->kind == WS_OPERAND_VECTOR)
    from = &wave->vgpr[c->index];
  else
    for (int i = 0; i < 16; i++)
      constant[i] = (uint32_t)c->constant;
  ws_vector aside[16], *d = &wave->vgpr[in->dst[0].index];
  const bool set_aside = disturbs(in, s);
  ws__mfma_fp8(wave->group->fp8_cache, ws__matrix_fp8_format(s->a_type),
               ws__matrix_fp8_format(s->b_type), s->m, (const uint32_t *)a,
               (const uint32_t *)b, from, c->kind != WS_OPERAND_VECTOR,
               (float *)(set_aside ? aside : d));
  if (set_aside)
    memcpy(d, aside, (size_t)ws__matrix_result_registers(s) * sizeof *d);
}

/* A constant C, of all lanes and registers. */
static void spread_constant(uint64_t value, const shape *s, ws_vector *out) {
  const int words = ws__matrix_result_words(s);
  for (int r = 0; r < ws__matrix_result_registers(s); r++)
    for (int lane = 0; lane < WS_LANES; lane++)
      out[r].u32[lane] = (uint32_t)(value >> r % words * 32);
}

/* Sparse: k of each element of A. Two index bits per element, of which a lane
 * has 8 (16-bit types) or 16 bits; abid chooses among those in the register,
 * unless cbsz says the first (ISA guide, section 7.3). */
static void find_indices(const ws_wave *wave, const ws_instruction *in,
                         const shape *s, const side *a, uint8_t *out) {
  const ws_vector *index = &wave->vgpr[in->src[2].index];
  int sets = 16 / a->elements;
  int set = in->cbsz ? 0 : in->abid % sets;
  for (int lane = 0; lane < WS_LANES; lane++)
    for (int e = 0; e < a->elements; e++) {
      int k = lane / s->m * a->elements + e;
      uint32_t bits = index->u32[lane] >> (set * a->elements * 2 + 2 * e) & 3;
      out[lane % s->m * a->depth + k] = (uint8_t)(k / 2 * 4 + (int)bits);
    }
}

static void multiply_any(ws_wave *wave, const ws_instruction *in,
                         const shape *s, const side *a,
                         const source sources[2]) {
  uint8_t indices[512];
  ws_vector constant[WS_MFMA_RESULT_REGISTERS];
  const ws_operand *c = s->sparse ? &in->dst[0] : &in->src[2];
  const ws_vector *from = &wave->vgpr[c->index];
  if (c->kind != WS_OPERAND_VECTOR) {
    spread_constant(c->constant, s, constant);
    from = constant;
  }
  if (s->sparse)
    find_indices(wave, in, s, a, indices);
  ws__matrix_multiply(s, plain_const(sources[0].registers),
                      plain_const(sources[1].registers),
                      s->sparse ? indices : NULL, in->blgp, plain_const(from),
                      plain(&wave->vgpr[in->dst[0].index]));
}

static void multiply(ws_wave *wave, const ws_instruction *in) {
  const shape *s = shape_of(in);
  const side sides[2] = {ws__matrix_side(s, true), ws__matrix_side(s, false)};
  source sources[2];
  if (!is_sound(wave, in, s, &sides[0], &sides[1]))
    return;
  for (int i = 0; i < 2; i++)
    fetch(wave, in, s, i == 0, &sides[i], &sources[i]);
  if (wave->group->checked) {
    uint64_t index = s->sparse ? wave->vector_poison[in->src[2].index] : 0;
    spread_poison(wave, in, s, sources[0].poison | index, sources[1].poison);
  }
  if (ws__matrix_is_fp8(s))
    multiply_fp8(wave, in, s, sources[0].registers, sources[1].registers);
  else
    multiply_any(wave, in, s, &sides[0], sources);
}

/* Dense fp8 without modifiers: what a GEMM consists of. */
static void multiply_usual(ws_wave *wave, const ws_instruction *in) {
  const shape *s = shape_of(in);
  const ws_operand *c = &in->src[2];
  const int a = in->src[0].index, b = in->src[1].index;
  const int results = s->m == 16 ? 4 : 16;
  if (!ws__matrix_is_fp8(s) || in->cbsz | in->abid | in->blgp ||
      !is_range(&in->src[0], 2) || !is_range(&in->src[1], 2) ||
      !(c->kind == WS_OPERAND_CONSTANT || is_range(c, results)) ||
      !is_range(&in->dst[0], results)) {
    multiply(wave, in);
    return;
  }
  if (wave->group->checked)
    spread_poison(wave, in, s,
                  wave->vector_poison[a] | wave->vector_poison[a + 1],
                  wave->vector_poison[b] | wave->vector_poison[b + 1]);
  multiply_fp8(wave, in, s, &wave->vgpr[a], &wave->vgpr[b]);
}

ws_execute ws__execute_matrix(ws_op op) {
#define DENSE(name, ...) [WS_OP_v_mfma_##name] = multiply_usual,
#define SPARSE(name, ...) [WS_OP_v_smfmac_##name] = multiply_usual,
  static const ws_execute handlers[WS_OP_COUNT] = {WS_MFMA_MAP(DENSE)
                                                       WS_SPARSE_MAP(SPARSE)};
#undef DENSE
#undef SPARSE
  return (unsigned)op < WS_OP_COUNT ? handlers[op] : NULL;
}
