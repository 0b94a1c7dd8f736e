/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Probes of MFMA: which lane and register holds which element, of every input
 * type. Inputs are such that every sum is exact, so the models are plain sums
 * in double; how the hardware rounds is the subject of the matrix unit's own
 * tests. Layouts: AMD, "AMD matrix cores" (GPUOpen, 2022) and the CDNA3 ISA
 * guide, chapter 7.
 */
#include "probe.h"

/* v[20:21] and v[22:23]: operands A and B made from the input vectors. */
#define OPERANDS(mask, set)                                                    \
  "s_mov_b32 s20, " mask "\ns_mov_b32 s21, " set                               \
  "\nv_and_b32_e32 v20, s20, v1\nv_or_b32_e32 v20, s21, v20\n"                 \
  "v_and_b32_e32 v21, s20, v2\nv_or_b32_e32 v21, s21, v21\n"                   \
  "v_and_b32_e32 v22, s20, v3\nv_or_b32_e32 v22, s21, v22\n"                   \
  "v_and_b32_e32 v23, s20, v4\nv_or_b32_e32 v23, s21, v23\n"
/* Registers 0, 5, 10 and 15 of a 32x32 result in v[64:79]. */
#define PICK                                                                   \
  "\ns_nop 15\ns_nop 15\nv_mov_b32_e32 v10, v64\nv_mov_b32_e32 v11, v69\n"     \
  "v_mov_b32_e32 v12, v74\nv_mov_b32_e32 v13, v79"
#define SETTLE "\ns_nop 15\ns_nop 15\n"

/* e4m3 and e5m2 bytes, f16 and bf16 halves with few bits: sums are exact. */
enum {
  FP8_MASK = 0x9f9f9f9f,
  FP8_SET = 0x40404040,
  F16_MASK = 0x8fc08fc0,
  F16_SET = 0x40004000,
  BF16_MASK = 0x80f880f8,
};

typedef double (*element)(uint32_t word, int index);

static double fp8_element(uint32_t word, int i) {
  return fnuz_value(((word & FP8_MASK) | FP8_SET) >> 8 * i & 255, 3);
}
static double bf8_element(uint32_t word, int i) {
  return fnuz_value(((word & FP8_MASK) | FP8_SET) >> 8 * i & 255, 2);
}
static double f16_element(uint32_t word, int i) {
  return (double)as_half(((word & F16_MASK) | F16_SET) >> 16 * i);
}
static double bf16_element(uint32_t word, int i) {
  return as_float((((word & BF16_MASK) | F16_SET) >> 16 * i & 0xffff) << 16);
}
static double i8_element(uint32_t word, int i) {
  return (int8_t)(word >> 8 * i);
}
static double f32_element(uint32_t word, int i) {
  (void)i;
  return (double)word; /* SMALL */
}

/* Sum over k of A[row][k] B[k][column]. A lane of A holds `run` successive k of
 * row lane % size, its k begin at run * (lane / size); B likewise by column.
 * per_word elements lie in a register. */
static double dot(const uint32_t in[VECTORS][LANES], element of_a, element of_b,
                  int size, int run, int per_word, int row, int column) {
  double sum = 0;
  for (int block = 0; block < 64 / size; block++)
    for (int e = 0; e < run; e++)
      sum += of_a(in[e / per_word][block * size + row], e % per_word) *
             of_b(in[2 + e / per_word][block * size + column], e % per_word);
  return sum;
}

static int row_32(uint32_t lane, int r) {
  return 8 * (r / 4) + 4 * ((int)lane / 32) + r % 4;
}
static int row_16(uint32_t lane, int r) { return 4 * ((int)lane / 16) + r; }

#define MODEL_16(of_a, of_b, run, per_word)                                    \
  for (int r = 0; r < 4; r++)                                                  \
    out[r] = as_bits((float)dot(in, of_a, of_b, 16, run, per_word,             \
                                row_16(lane, r), (int)lane % 16));
#define MODEL_32(of_a, of_b, run, per_word)                                    \
  for (int r = 0; r < 4; r++)                                                  \
    out[r] = as_bits((float)dot(in, of_a, of_b, 32, run, per_word,             \
                                row_32(lane, 5 * r), (int)lane % 32));

#define FP8 OPERANDS("0x9f9f9f9f", "0x40404040")
#define F16 OPERANDS("0x8fc08fc0", "0x40004000")
#define BF16 OPERANDS("0x80f880f8", "0x40004000")
#define BYTES OPERANDS("-1", "0")

PROBE(fp8_16x16x32, INTS, 4,
      FP8 "v_mfma_f32_16x16x32_fp8_fp8 v[10:13], v[20:21], v[22:23], 0" SETTLE,
      MODEL_16(fp8_element, fp8_element, 8, 4))
PROBE(bf8_fp8_16x16x32, INTS, 4,
      FP8 "v_mfma_f32_16x16x32_bf8_fp8 v[10:13], v[20:21], v[22:23], 0" SETTLE,
      MODEL_16(bf8_element, fp8_element, 8, 4))
PROBE(fp8_bf8_16x16x32, INTS, 4,
      FP8 "v_mfma_f32_16x16x32_fp8_bf8 v[10:13], v[20:21], v[22:23], 0" SETTLE,
      MODEL_16(fp8_element, bf8_element, 8, 4))
PROBE(fp8_32x32x16, INTS, 4,
      FP8 "v_mfma_f32_32x32x16_fp8_fp8 v[64:79], v[20:21], v[22:23], 0" PICK,
      MODEL_32(fp8_element, fp8_element, 8, 4))
PROBE(bf8_32x32x16, INTS, 4,
      FP8 "v_mfma_f32_32x32x16_bf8_bf8 v[64:79], v[20:21], v[22:23], 0" PICK,
      MODEL_32(bf8_element, bf8_element, 8, 4))
PROBE(f16_16x16x16, INTS, 4,
      F16 "v_mfma_f32_16x16x16_f16 v[10:13], v[20:21], v[22:23], 0" SETTLE,
      MODEL_16(f16_element, f16_element, 4, 2))
PROBE(f16_32x32x8, INTS, 4,
      F16 "v_mfma_f32_32x32x8_f16 v[64:79], v[20:21], v[22:23], 0" PICK,
      MODEL_32(f16_element, f16_element, 4, 2))
PROBE(bf16_16x16x16, INTS, 4,
      BF16 "v_mfma_f32_16x16x16_bf16 v[10:13], v[20:21], v[22:23], 0" SETTLE,
      MODEL_16(bf16_element, bf16_element, 4, 2))
PROBE(bf16_32x32x8, INTS, 4,
      BF16 "v_mfma_f32_32x32x8_bf16 v[64:79], v[20:21], v[22:23], 0" PICK,
      MODEL_32(bf16_element, bf16_element, 4, 2))
PROBE(i8_16x16x32, INTS, 4,
      BYTES "v_mfma_i32_16x16x32_i8 v[10:13], v[20:21], v[22:23], 0" SETTLE,
      for (int r = 0; r < 4; r++)
          out[r] = (uint32_t)(int32_t)dot(in, i8_element, i8_element, 16, 8, 4,
                                          row_16(lane, r), (int)lane % 16);)
PROBE(i8_32x32x16, INTS, 4,
      BYTES "v_mfma_i32_32x32x16_i8 v[64:79], v[20:21], v[22:23], -5" PICK,
      for (int r = 0; r < 4; r++)
          out[r] = (uint32_t)(int32_t)(dot(in, i8_element, i8_element, 32, 8, 4,
                                           row_32(lane, 5 * r),
                                           (int)lane % 32) -
                                       5);)

#define F32 "v_cvt_f32_u32_e32 v20, v1\nv_cvt_f32_u32_e32 v22, v3\n"
PROBE(f32_16x16x4, SMALL, 4,
      F32 "v_mfma_f32_16x16x4_f32 v[10:13], v20, v22, 0" SETTLE,
      MODEL_16(f32_element, f32_element, 1, 1))
PROBE(f32_32x32x2, SMALL, 4,
      F32 "v_mfma_f32_32x32x2_f32 v[64:79], v20, v22, 0" PICK,
      MODEL_32(f32_element, f32_element, 1, 1))
/* xf32: 19 bits are enough for small integers */
PROBE(xf32_16x16x8, SMALL, 4,
      F32 "v_cvt_f32_u32_e32 v21, v2\nv_cvt_f32_u32_e32 v23, v4\n"
          "v_mfma_f32_16x16x8_xf32 v[10:13], v[20:21], v[22:23], 0" SETTLE,
      MODEL_16(f32_element, f32_element, 2, 1))
/* Sixteen products of a column and a row of four: block lane / 4. */
PROBE(f32_4x4x1_16_blocks, SMALL, 4,
      F32 "v_mfma_f32_4x4x1_16b_f32 v[10:13], v20, v22, 0" SETTLE,
      for (uint32_t r = 0; r < 4; r++)
          out[r] = as_bits((float)(in[0][lane / 4 * 4 + r] * c));)
PROBE(
    f32_32x32x1_2_blocks, SMALL, 4,
    F32 "v_mfma_f32_32x32x1_2b_f32 v[64:95], v20, v22, 0\ns_nop 15\ns_nop 15\n"
        "v_mov_b32_e32 v10, v64\nv_mov_b32_e32 v11, v79\n"
        "v_mov_b32_e32 v12, v81\nv_mov_b32_e32 v13, v95",
    static const int picked[] = {0, 15, 17, 31};
    for (int i = 0; i < 4; i++) {
      const int block = picked[i] / 16, row = row_32(lane, picked[i] % 16);
      out[i] = as_bits((float)in[0][block * 32 + row] *
                       (float)in[2][block * 32 + (int)lane % 32]);
    })
/* f64: four rows apart, unlike f32. */
PROBE(f64_16x16x4, SMALL, 4,
      "v_cvt_f64_u32_e32 v[20:21], v1\nv_cvt_f64_u32_e32 v[22:23], v3\n"
      "v_mfma_f64_16x16x4_f64 v[64:71], v[20:21], v[22:23], 0\ns_nop 15\ns_nop "
      "15\n"
      "v_mov_b32_e32 v10, v64\nv_mov_b32_e32 v11, v65\nv_mov_b32_e32 v12, v70\n"
      "v_mov_b32_e32 v13, v71",
      put_double(out, dot(in, f32_element, f32_element, 16, 1, 1,
                          (int)lane / 16, (int)lane % 16));
      put_double(out + 2, dot(in, f32_element, f32_element, 16, 1, 1,
                              12 + (int)lane / 16, (int)lane % 16));)

/* ---- operands and EXEC ----------------------------------------------------
 */

PROBE(exec_is_ignored, INTS, 4,
      FP8 "s_mov_b64 exec, 0x5\n"
          "v_mfma_f32_16x16x32_fp8_fp8 v[10:13], v[20:21], v[22:23], 0" SETTLE,
      MODEL_16(fp8_element, fp8_element, 8, 4))
PROBE(accumulator_in_agpr, INTS, 4,
      FP8
      "v_accvgpr_write_b32 a0, 1.0\nv_accvgpr_write_b32 a1, 2.0\n"
      "v_accvgpr_write_b32 a2, 4.0\nv_accvgpr_write_b32 a3, 0.5\ns_nop 4\n"
      "v_mfma_f32_16x16x32_fp8_fp8 a[0:3], v[20:21], v[22:23], a[0:3]" SETTLE
      "v_accvgpr_read_b32 v10, a0\nv_accvgpr_read_b32 v11, a1\n"
      "v_accvgpr_read_b32 v12, a2\nv_accvgpr_read_b32 v13, a3",
      for (int r = 0; r < 4; r++)
          out[r] = as_bits((float)(dot(in, fp8_element, fp8_element, 16, 8, 4,
                                       row_16(lane, r), (int)lane % 16) +
                                   (r == 3 ? 0.5 : 1 << r)));)
PROBE(sources_in_agpr, INTS, 4,
      FP8
      "v_accvgpr_write_b32 a20, v20\nv_accvgpr_write_b32 a21, v21\ns_nop 4\n"
      "v_mfma_f32_16x16x32_fp8_fp8 v[10:13], a[20:21], v[22:23], 1.0" SETTLE,
      for (int r = 0; r < 4; r++)
          out[r] = as_bits((float)(dot(in, fp8_element, fp8_element, 16, 8, 4,
                                       row_16(lane, r), (int)lane % 16) +
                                   1));)
PROBE(
    dependent_chain, INTS, 4,
    FP8
    "v_mfma_f32_16x16x32_fp8_fp8 v[64:67], v[20:21], v[22:23], 0\n"
    "v_mfma_f32_16x16x32_fp8_fp8 v[10:13], v[20:21], v[22:23], v[64:67]" SETTLE,
    for (int r = 0; r < 4; r++)
        out[r] = as_bits((float)(2 * dot(in, fp8_element, fp8_element, 16, 8, 4,
                                         row_16(lane, r), (int)lane % 16)));)
/* abid picks the block of A that 2^cbsz blocks share. */
PROBE(broadcast_of_a, SMALL, 4,
      F32 "v_mfma_f32_4x4x1_16b_f32 v[10:13], v20, v22, 0 cbsz:2 abid:1" SETTLE,
      for (uint32_t r = 0; r < 4; r++)
          out[r] = as_bits((float)(in[0][lane / 16 * 16 + 4 + r] * c));)

/* ---- numbers --------------------------------------------------------------
 */

/* 2^-24 * 2 summed over k: f16 subnormals are not flushed. */
PROBE(f16_subnormals, INTS, 1,
      "v_mov_b32_e32 v20, 0x00010001\nv_mov_b32_e32 v21, 0x00010001\n"
      "v_mov_b32_e32 v22, 0x40004000\nv_mov_b32_e32 v23, 0x40004000\n"
      "v_mfma_f32_16x16x16_f16 v[10:13], v[20:21], v[22:23], 0" SETTLE,
      out[0] = as_bits(16 * 2 * 0x1p-24f);)
/* 0x80 is NaN in FNUZ, and NaN times anything is NaN. */
PROBE(fp8_nan, FLOATS, 1,
      "v_mov_b32_e32 v20, 0x40404080\nv_mov_b32_e32 v21, 0x40404040\n"
      "v_mov_b32_e32 v22, 0x40404040\nv_mov_b32_e32 v23, 0x40404040\n"
      "v_mfma_f32_16x16x32_fp8_fp8 v[10:13], v[20:21], v[22:23], 0" SETTLE,
      out[0] = 0x7fc00000;)
/* ---- sparse: A holds two of four, the index says which --------------------
 */
/* Index nibbles 0x4: positions 0 and 1; element e of four: group e / 2. */
PROBE(
    sparse_f16_16x16x32, INTS, 4,
    F16
    "v_mov_b32_e32 v24, v22\nv_mov_b32_e32 v25, v23\nv_mov_b32_e32 v26, v20\n"
    "v_mov_b32_e32 v27, v21\nv_mov_b32_e32 v30, 0xee\n"
    "v_smfmac_f32_16x16x32_f16 v[10:13], v[20:21], v[24:27], v30" SETTLE,
    for (int r = 0; r < 4; r++) {
      double sum = 0;
      for (int block = 0; block < 4; block++)
        for (int e = 0; e < 4; e++) {
          /* nibble 0xe: the first is at 2, the second at 3 */
          const int k = e / 2 * 4 + 2 + e % 2;
          const int at = block * 16 + (int)lane % 16;
          static const int vector[] = {2, 3, 0, 1};
          sum += f16_element(in[e / 2][block * 16 + row_16(lane, r)], e % 2) *
                 f16_element(in[vector[k / 2]][at], k % 2);
        }
      out[r] = as_bits((float)sum);
    })
