/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Matrix instructions (v_mfma_*, v_smfmac_*): where the elements of A, B, C and
 * D lie in a wave's registers, the modifiers, and "never written". The
 * arithmetic is matrix_arithmetic.c; dense fp8 has a way of its own (mfma.c).
 * EXEC is ignored, as by the hardware.
 *
 * Layouts: AMD matrix instruction calculator, gfx9. With B blocks of M x N x K,
 *   A[i][k]: lane i + M * (block + B * (k / e)), element k % e, e = K*M*B / 64;
 *   B[k][j]: the same with j and N;
 *   D[i][j]: bands of 4 rows (1 row of f64) and N columns fill the 64 lanes,
 *            block by block where several fit, then band by band, then the next
 *            4 registers (register pairs).
 * cbsz, abid: block b of A is replaced by block (b with its cbsz low bits
 * cleared) + abid. blgp: the lanes of B are moved. Of f64, blgp negates.
 */
#include "execute_matrix.h"
#include "mfma_fp8.h"

/* M, N, K, blocks, types of A and B, sparse: A holds 2 of 4 consecutive k. */
#define WS_DENSE_MAP(X, type, TYPE)                                            \
  X(v_mfma_f32_32x32x4_2b_##type, 32, 32, 4, 2, TYPE, TYPE)                    \
  X(v_mfma_f32_16x16x4_4b_##type, 16, 16, 4, 4, TYPE, TYPE)                    \
  X(v_mfma_f32_4x4x4_16b_##type, 4, 4, 4, 16, TYPE, TYPE)                      \
  X(v_mfma_f32_32x32x8_##type, 32, 32, 8, 1, TYPE, TYPE)                       \
  X(v_mfma_f32_16x16x16_##type, 16, 16, 16, 1, TYPE, TYPE)
#define WS_FP8_MAP(X, prefix, small, large, ...)                               \
  X(prefix##_16x16x##small##_fp8_fp8, 16, 16, small, 1, FP8, FP8, __VA_ARGS__) \
  X(prefix##_16x16x##small##_fp8_bf8, 16, 16, small, 1, FP8, BF8, __VA_ARGS__) \
  X(prefix##_16x16x##small##_bf8_fp8, 16, 16, small, 1, BF8, FP8, __VA_ARGS__) \
  X(prefix##_16x16x##small##_bf8_bf8, 16, 16, small, 1, BF8, BF8, __VA_ARGS__) \
  X(prefix##_32x32x##large##_fp8_fp8, 32, 32, large, 1, FP8, FP8, __VA_ARGS__) \
  X(prefix##_32x32x##large##_fp8_bf8, 32, 32, large, 1, FP8, BF8, __VA_ARGS__) \
  X(prefix##_32x32x##large##_bf8_fp8, 32, 32, large, 1, BF8, FP8, __VA_ARGS__) \
  X(prefix##_32x32x##large##_bf8_bf8, 32, 32, large, 1, BF8, BF8, __VA_ARGS__)
#define WS_MATRIX_MAP(X)                                                       \
  X(v_mfma_f32_32x32x1_2b_f32, 32, 32, 1, 2, F32, F32)                         \
  X(v_mfma_f32_16x16x1_4b_f32, 16, 16, 1, 4, F32, F32)                         \
  X(v_mfma_f32_4x4x1_16b_f32, 4, 4, 1, 16, F32, F32)                           \
  X(v_mfma_f32_32x32x2_f32, 32, 32, 2, 1, F32, F32)                            \
  X(v_mfma_f32_16x16x4_f32, 16, 16, 4, 1, F32, F32)                            \
  WS_DENSE_MAP(X, f16, F16)                                                    \
  WS_DENSE_MAP(X, bf16, BF16)                                                  \
  X(v_mfma_f32_16x16x8_xf32, 16, 16, 8, 1, XF32, XF32)                         \
  X(v_mfma_f32_32x32x4_xf32, 32, 32, 4, 1, XF32, XF32)                         \
  X(v_mfma_i32_32x32x4_2b_i8, 32, 32, 4, 2, I8, I8)                            \
  X(v_mfma_i32_16x16x4_4b_i8, 16, 16, 4, 4, I8, I8)                            \
  X(v_mfma_i32_4x4x4_16b_i8, 4, 4, 4, 16, I8, I8)                              \
  X(v_mfma_i32_32x32x16_i8, 32, 32, 16, 1, I8, I8)                             \
  X(v_mfma_i32_16x16x32_i8, 16, 16, 32, 1, I8, I8)                             \
  X(v_mfma_f64_16x16x4_f64, 16, 16, 4, 1, F64, F64)                            \
  X(v_mfma_f64_4x4x4_4b_f64, 4, 4, 4, 4, F64, F64)                             \
  WS_FP8_MAP(X, v_mfma_f32, 32, 16, false)                                     \
  X(v_smfmac_f32_16x16x32_f16, 16, 16, 32, 1, F16, F16, true)                  \
  X(v_smfmac_f32_16x16x32_bf16, 16, 16, 32, 1, BF16, BF16, true)               \
  X(v_smfmac_f32_32x32x16_f16, 32, 32, 16, 1, F16, F16, true)                  \
  X(v_smfmac_f32_32x32x16_bf16, 32, 32, 16, 1, BF16, BF16, true)               \
  X(v_smfmac_i32_16x16x64_i8, 16, 16, 64, 1, I8, I8, true)                     \
  X(v_smfmac_i32_32x32x32_i8, 32, 32, 32, 1, I8, I8, true)                     \
  WS_FP8_MAP(X, v_smfmac_f32, 64, 32, true)

enum {
  F32 = WS_MATRIX_F32,
  XF32 = WS_MATRIX_XF32,
  F16 = WS_MATRIX_F16,
  BF16 = WS_MATRIX_BF16,
  F64 = WS_MATRIX_F64,
  I8 = WS_MATRIX_I8,
  FP8 = WS_MATRIX_FP8,
  BF8 = WS_MATRIX_BF8
};

typedef struct shape {
  uint8_t m, n, k, blocks, a_type, b_type;
  bool sparse;
} shape;

static const shape *shape_of(const ws_instruction *in) {
#define SHAPE(name, ...) [WS_OP_##name] = {__VA_ARGS__},
  static const shape shapes[WS_OP_COUNT] = {WS_MATRIX_MAP(SHAPE)};
#undef SHAPE
  return &shapes[in->op];
}

/* ---- layouts --------------------------------------------------------------
 */

static int element_bits(int type) {
  static const uint8_t bits[] = {
      [F32] = 32, [XF32] = 32, [F16] = 16, [BF16] = 16,
      [F64] = 64, [I8] = 8,    [FP8] = 8,  [BF8] = 8};
  return bits[type];
}

/* k that an operand holds, elements and registers per lane. */
typedef struct side {
  int rows, depth, elements, registers, type;
} side;

static side side_of(const shape *s, bool is_a) {
  side out = {(is_a ? s->m : s->n) * s->blocks,
              is_a && s->sparse ? s->k / 2 : s->k, 0, 0,
              is_a ? s->a_type : s->b_type};
  out.elements = out.depth * out.rows / WS_LANES;
  out.registers = out.elements * element_bits(out.type) / 32;
  return out;
}

static int result_words(const shape *s) { return s->a_type == F64 ? 2 : 1; }
static int result_registers(const shape *s) {
  return s->m * s->n * s->blocks / WS_LANES * result_words(s);
}

/* Lane and element (register, or pair of them for f64) of D[i][j] of a block.
 */
static void result_place(const shape *s, int block, int i, int j, int *out_lane,
                         int *out_element) {
  int height = s->a_type == F64 ? 1 : 4;
  int bands = WS_LANES / s->n; /* that fit side by side into the lanes */
  int band_lanes = s->n * s->m / height;
  int together = band_lanes < WS_LANES ? WS_LANES / band_lanes : 1;
  *out_element = block * (s->m * s->n / WS_LANES) +
                 i / (height * bands) * height + i % height;
  *out_lane =
      block % together * s->n + i / height % bands * together * s->n + j;
}

/* ---- modifiers ------------------------------------------------------------
 */

/* Which lane each lane of an operand is taken from. */
typedef uint8_t lane_map[WS_LANES];

static void broadcast_blocks(const shape *s, const ws_instruction *in,
                             lane_map from) {
  int group = 1 << in->cbsz;
  for (int lane = 0; lane < WS_LANES; lane++) {
    int block = lane / s->m % s->blocks;
    int source = block / group * group + in->abid;
    from[lane] = (uint8_t)(lane + (source - block) * s->m);
  }
}

static void move_lanes(int pattern, lane_map from) {
  for (int lane = 0; lane < WS_LANES; lane++)
    switch (pattern) {
    case 1:
    case 2:
      from[lane] = (uint8_t)(lane % 32 + (pattern - 1) * 32);
      break;
    case 3:
      from[lane] = (uint8_t)((lane + 16) % WS_LANES);
      break;
    default:
      from[lane] = (uint8_t)(lane % 16 + (pattern - 4) * 16);
    }
}

static uint64_t move_mask(uint64_t mask, const lane_map from) {
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

static void fetch(const ws_wave *wave, const ws_operand *operand,
                  const side *part, const uint8_t *from, source *out) {
  out->registers = &wave->vgpr[operand->index];
  out->poison = 0;
  for (int r = 0; r < part->registers; r++)
    out->poison |= wave->vector_poison[operand->index + r];
  if (!from)
    return;
  for (int r = 0; r < part->registers; r++)
    for (int lane = 0; lane < WS_LANES; lane++)
      out->copy[r].u32[lane] = out->registers[r].u32[from[lane]];
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
  int first = in->dst[0].index, words = result_words(s);
  const ws_operand *c = &in->src[s->sparse ? 3 : 2];
  const bool chained = c->kind == WS_OPERAND_VECTOR && c->index == first;
  if (!(a | b) && chained)
    return;
  uint64_t result[32] = {0};
  if (c->kind == WS_OPERAND_VECTOR)
    memcpy(result, &wave->vector_poison[c->index],
           (size_t)result_registers(s) * sizeof *result);
  if (a | b) {
    uint64_t rows = fold(a, s->m * s->blocks),
             columns = fold(b, s->n * s->blocks);
    for (int block = 0; block < s->blocks; block++)
      for (int i = 0; i < s->m; i++)
        for (int j = 0; j < s->n; j++) {
          int lane, element;
          result_place(s, block, i, j, &lane, &element);
          uint64_t bad =
              (rows >> (block * s->m + i) | columns >> (block * s->n + j)) & 1;
          for (int w = 0; w < words; w++)
            result[element * words + w] |= bad << lane;
        }
  }
  memcpy(&wave->vector_poison[first], result,
         (size_t)result_registers(s) * sizeof *result);
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
  int results = result_registers(s);
  bool known = is_range(&in->dst[0], results) &&
               is_range(&in->src[0], a->registers) &&
               is_range(&in->src[1], b->registers);
  known &= s->sparse ? is_range(c, 1)
                     : c->kind == WS_OPERAND_CONSTANT || is_range(c, results);
  bool blocks = s->sparse || (in->cbsz < 5 && 1 << in->cbsz <= s->blocks &&
                              in->abid < 1 << in->cbsz);
  if (known && blocks)
    return true;
  ws__fault(wave, in, -1, "unsupported",
            known ? "cbsz %d abid %d of an instruction with %d blocks"
                  : "matrix operands that gfx942 does not have",
            in->cbsz, in->abid, s->blocks);
  return false;
}

static bool is_fp8(const shape *s) { return s->a_type >= FP8 && !s->sparse; }

/* D may be C, which ws__mfma_fp8 allows; a D that covers C in part, or A or B,
 * would change them while they are still read. */
static bool disturbs(const ws_instruction *in, const shape *s) {
  const int d = in->dst[0].index, words = result_registers(s);
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
  static const ws_fp8_format formats[] = {
      [FP8] = WS_FP8_E4M3_FNUZ, [BF8] = WS_FP8_E5M2_FNUZ};
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
  ws__mfma_fp8(wave->group->fp8_cache, formats[s->a_type], formats[s->b_type],
               s->m, (const uint32_t *)a, (const uint32_t *)b, from,
               c->kind != WS_OPERAND_VECTOR, (float *)(set_aside ? aside : d));
  if (set_aside)
    memcpy(d, aside, (size_t)result_registers(s) * sizeof *d);
}

/* Elements by row and k, decoded. */
static void decode(const side *part, const source *from, ws_matrix *out) {
  int bits = element_bits(part->type), per_word = bits < 32 ? 32 / bits : 1;
  out->type = part->type;
  out->depth = part->depth;
  for (int lane = 0; lane < WS_LANES; lane++)
    for (int e = 0; e < part->elements; e++) {
      int k = lane / part->rows * part->elements + e;
      int word = bits == 64 ? 2 * e : e / per_word;
      uint64_t raw = from->registers[word].u32[lane];
      if (bits == 64)
        raw |= (uint64_t)from->registers[word + 1].u32[lane] << 32;
      else
        raw >>= e % per_word * bits % 32;
      ws__matrix_decode(out, lane % part->rows * part->depth + k, raw);
    }
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

/* C of one result, as bits; f32 and i32 in the low word. */
static uint64_t c_value(const ws_wave *wave, const ws_operand *c, int words,
                        int lane, int element) {
  if (c->kind != WS_OPERAND_VECTOR)
    return c->constant;
  const ws_vector *from = &wave->vgpr[c->index + element * words];
  uint64_t value = from[0].u32[lane];
  if (words == 2)
    value |= (uint64_t)from[1].u32[lane] << 32;
  return value;
}

static void multiply_any(ws_wave *wave, const ws_instruction *in,
                         const shape *s, const side sides[2],
                         const source sources[2]) {
  ws_matrix a, b;
  uint8_t indices[512];
  ws_vector result[32];
  const ws_operand *c = s->sparse ? &in->dst[0] : &in->src[2];
  int words = result_words(s), negate = s->a_type == F64 ? in->blgp : 0;
  decode(&sides[0], &sources[0], &a);
  decode(&sides[1], &sources[1], &b);
  if (s->sparse)
    find_indices(wave, in, s, &sides[0], indices);
  for (int block = 0; block < s->blocks; block++)
    for (int i = 0; i < s->m; i++)
      for (int j = 0; j < s->n; j++) {
        int lane, element, row = block * s->m + i;
        result_place(s, block, i, j, &lane, &element);
        uint64_t sum =
            ws__matrix_dot(&a, row, &b, block * s->n + j,
                           s->sparse ? &indices[row * sides[0].depth] : NULL,
                           negate, c_value(wave, c, words, lane, element));
        for (int w = 0; w < words; w++)
          result[element * words + w].u32[lane] = (uint32_t)(sum >> 32 * w);
      }
  memcpy(&wave->vgpr[in->dst[0].index], result,
         (size_t)result_registers(s) * sizeof *result);
}

static void multiply(ws_wave *wave, const ws_instruction *in) {
  const shape *s = shape_of(in);
  const side sides[2] = {side_of(s, true), side_of(s, false)};
  lane_map a_from, b_from;
  source sources[2];
  if (!is_sound(wave, in, s, &sides[0], &sides[1]))
    return;
  bool broadcast = in->cbsz && !s->sparse;
  bool moved = in->blgp && s->a_type != F64;
  if (broadcast)
    broadcast_blocks(s, in, a_from);
  if (moved)
    move_lanes(in->blgp, b_from);
  fetch(wave, &in->src[0], &sides[0], broadcast ? a_from : NULL, &sources[0]);
  fetch(wave, &in->src[1], &sides[1], moved ? b_from : NULL, &sources[1]);
  if (wave->group->checked) {
    uint64_t index = s->sparse ? wave->vector_poison[in->src[2].index] : 0;
    spread_poison(wave, in, s, sources[0].poison | index, sources[1].poison);
  }
  if (is_fp8(s))
    multiply_fp8(wave, in, s, sources[0].registers, sources[1].registers);
  else
    multiply_any(wave, in, s, sides, sources);
}

/* Dense fp8 without modifiers: what a GEMM consists of. */
static void multiply_usual(ws_wave *wave, const ws_instruction *in) {
  const shape *s = shape_of(in);
  const ws_operand *c = &in->src[2];
  const int a = in->src[0].index, b = in->src[1].index;
  const int results = s->m == 16 ? 4 : 16;
  if (!is_fp8(s) || in->cbsz | in->abid | in->blgp ||
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
#define ENTRY(name, ...) [WS_OP_##name] = multiply_usual,
  static const ws_execute handlers[WS_OP_COUNT] = {WS_MATRIX_MAP(ENTRY)};
#undef ENTRY
  return (unsigned)op < WS_OP_COUNT ? handlers[op] : NULL;
}
