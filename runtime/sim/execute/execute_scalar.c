/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Arithmetic of the scalar unit. Each line of the maps below is an instruction:
 * name, type of the result and of the sources, result, new SCC. In the
 * expressions a and b are the sources, d the result (in SCC's expression the
 * new, in the result's the old content of the destination), scc the old SCC.
 */
#include "execute_scalar.h"

uint64_t ws__scalar_value(const ws_wave *wave, const ws_operand *operand) {
  if (operand->kind == WS_OPERAND_SCALAR)
    return operand->count >= 2 ? ws__scalar_u64(wave, operand)
                               : ws__scalar_u32(wave, operand);
  if (operand->kind == WS_OPERAND_CONSTANT)
    return operand->constant;
  if (operand->kind != WS_OPERAND_SPECIAL)
    return 0;
  switch ((ws_special)operand->index) {
  case WS_SPECIAL_SCC:
    return wave->scc;
  case WS_SPECIAL_VCCZ:
    return ws_sgpr64(wave, WS_SGPR_VCC) == 0;
  case WS_SPECIAL_EXECZ:
    return ws_exec(wave) == 0;
  /* A 32-bit read of an aperture gives the low word: 0 (LLVM,
   * AMDGPULegalizerInfo::getSegmentAperture). */
  case WS_SPECIAL_SHARED_BASE:
    return (uint64_t)WS_SHARED_APERTURE << 32;
  case WS_SPECIAL_SHARED_LIMIT:
    return (uint64_t)WS_SHARED_APERTURE << 32 | UINT32_MAX;
  case WS_SPECIAL_PRIVATE_BASE:
    return (uint64_t)WS_PRIVATE_APERTURE << 32;
  case WS_SPECIAL_PRIVATE_LIMIT:
    return (uint64_t)WS_PRIVATE_APERTURE << 32 | UINT32_MAX;
  }
  return 0;
}

/* ---- what C lacks -------------------------------------------------------- */

static uint64_t ones(unsigned count) {
  return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* Offset and width of s_bfe: bits 4:0 (5:0 of 64-bit ones) and 22:16. */
static uint64_t extract_unsigned(uint64_t value, uint32_t field, int bits) {
  unsigned offset = field & (unsigned)(bits - 1), width = field >> 16 & 0x7f;
  return value >> offset & ones(width);
}

static int64_t extract_signed(int64_t value, uint32_t field, int bits) {
  unsigned offset = field & (unsigned)(bits - 1), width = field >> 16 & 0x7f;
  int64_t shifted = value >> offset;
  if (width == 0)
    return 0;
  if (width >= 64)
    return shifted;
  return (int64_t)((uint64_t)shifted << (64 - width)) >> (64 - width);
}

static uint64_t reverse(uint64_t value) {
  uint64_t reversed = 0;
  for (int i = 0; i < 64; i++)
    reversed |= (value >> i & 1) << (63 - i);
  return reversed;
}

/* Bit i: any bit of quad i is set. */
static uint64_t quads(uint64_t value) {
  uint64_t mask = 0;
  for (int i = 0; i < 16; i++)
    mask |= (uint64_t)((value >> (4 * i) & 15) != 0) << i;
  return mask;
}

static uint64_t whole_quads(uint64_t value) {
  uint64_t mask = 0;
  for (int i = 0; i < 16; i++)
    mask |= (value >> (4 * i) & 15) ? UINT64_C(15) << (4 * i) : 0;
  return mask;
}

static uint64_t twice_each(uint32_t value) {
  uint64_t wide = 0;
  for (int i = 0; i < 32; i++)
    wide |= (uint64_t)(value >> i & 1) * 3 << (2 * i);
  return wide;
}

static uint32_t first_one(uint64_t value) {
  return value ? (uint32_t)__builtin_ctzll(value) : UINT32_MAX;
}

/* From the top of a value of so many bits. */
static uint32_t leading_zeros(uint64_t value, int bits) {
  return value ? (uint32_t)(__builtin_clzll(value) - (64 - bits)) : UINT32_MAX;
}

static uint32_t sign_bits(int64_t value, int bits) {
  return leading_zeros((uint64_t)(value < 0 ? ~value : value), bits);
}

/* ---- the instructions ---------------------------------------------------- */

#define WS_BINARY_MAP(X)                                                       \
  X(s_add_u32, uint32_t, uint32_t, uint32_t, a + b, d < a)                     \
  X(s_sub_u32, uint32_t, uint32_t, uint32_t, a - b, b > a)                     \
  X(s_add_i32, uint32_t, uint32_t, uint32_t, a + b,                            \
    (~(a ^ b) & (a ^ d)) >> 31)                                                \
  X(s_sub_i32, uint32_t, uint32_t, uint32_t, a - b, ((a ^ b) & (a ^ d)) >> 31) \
  X(s_addc_u32, uint32_t, uint32_t, uint32_t, a + b + scc,                     \
    scc ? d <= a : d < a)                                                      \
  X(s_subb_u32, uint32_t, uint32_t, uint32_t, a - b - scc,                     \
    (uint64_t)b + scc > a)                                                     \
  X(s_min_i32, int32_t, int32_t, int32_t, a < b ? a : b, a < b)                \
  X(s_min_u32, uint32_t, uint32_t, uint32_t, a < b ? a : b, a < b)             \
  X(s_max_i32, int32_t, int32_t, int32_t, a >= b ? a : b, a >= b)              \
  X(s_max_u32, uint32_t, uint32_t, uint32_t, a >= b ? a : b, a >= b)           \
  X(s_cselect_b32, uint32_t, uint32_t, uint32_t, scc ? a : b, scc)             \
  X(s_cselect_b64, uint64_t, uint64_t, uint64_t, scc ? a : b, scc)             \
  X(s_and_b32, uint32_t, uint32_t, uint32_t, a &b, d != 0)                     \
  X(s_and_b64, uint64_t, uint64_t, uint64_t, a &b, d != 0)                     \
  X(s_or_b32, uint32_t, uint32_t, uint32_t, a | b, d != 0)                     \
  X(s_or_b64, uint64_t, uint64_t, uint64_t, a | b, d != 0)                     \
  X(s_xor_b32, uint32_t, uint32_t, uint32_t, a ^ b, d != 0)                    \
  X(s_xor_b64, uint64_t, uint64_t, uint64_t, a ^ b, d != 0)                    \
  X(s_andn2_b32, uint32_t, uint32_t, uint32_t, a & ~b, d != 0)                 \
  X(s_andn2_b64, uint64_t, uint64_t, uint64_t, a & ~b, d != 0)                 \
  X(s_orn2_b32, uint32_t, uint32_t, uint32_t, a | ~b, d != 0)                  \
  X(s_orn2_b64, uint64_t, uint64_t, uint64_t, a | ~b, d != 0)                  \
  X(s_nand_b32, uint32_t, uint32_t, uint32_t, ~(a & b), d != 0)                \
  X(s_nand_b64, uint64_t, uint64_t, uint64_t, ~(a & b), d != 0)                \
  X(s_nor_b32, uint32_t, uint32_t, uint32_t, ~(a | b), d != 0)                 \
  X(s_nor_b64, uint64_t, uint64_t, uint64_t, ~(a | b), d != 0)                 \
  X(s_xnor_b32, uint32_t, uint32_t, uint32_t, ~(a ^ b), d != 0)                \
  X(s_xnor_b64, uint64_t, uint64_t, uint64_t, ~(a ^ b), d != 0)                \
  X(s_lshl_b32, uint32_t, uint32_t, uint32_t, a << (b & 31), d != 0)           \
  X(s_lshl_b64, uint64_t, uint64_t, uint32_t, a << (b & 63), d != 0)           \
  X(s_lshr_b32, uint32_t, uint32_t, uint32_t, a >> (b & 31), d != 0)           \
  X(s_lshr_b64, uint64_t, uint64_t, uint32_t, a >> (b & 63), d != 0)           \
  X(s_ashr_i32, int32_t, int32_t, uint32_t, a >> (b & 31), d != 0)             \
  X(s_ashr_i64, int64_t, int64_t, uint32_t, a >> (b & 63), d != 0)             \
  X(s_bfm_b32, uint32_t, uint32_t, uint32_t, ones(a & 31) << (b & 31), scc)    \
  X(s_bfm_b64, uint64_t, uint32_t, uint32_t, ones(a & 63) << (b & 63), scc)    \
  X(s_mul_i32, uint32_t, uint32_t, uint32_t, a *b, scc)                        \
  X(s_mul_hi_u32, uint32_t, uint32_t, uint32_t, (uint64_t)a *b >> 32, scc)     \
  X(s_mul_hi_i32, int32_t, int32_t, int32_t, (int64_t)a *b >> 32, scc)         \
  X(s_bfe_u32, uint32_t, uint32_t, uint32_t, extract_unsigned(a, b, 32),       \
    d != 0)                                                                    \
  X(s_bfe_i32, int32_t, int32_t, uint32_t, extract_signed(a, b, 32), d != 0)   \
  X(s_bfe_u64, uint64_t, uint64_t, uint32_t, extract_unsigned(a, b, 64),       \
    d != 0)                                                                    \
  X(s_bfe_i64, int64_t, int64_t, uint32_t, extract_signed(a, b, 64), d != 0)   \
  X(s_absdiff_i32, uint32_t, uint32_t, uint32_t,                               \
    (a - b) >> 31 ? b - a : a - b, d != 0)                                     \
  X(s_lshl1_add_u32, uint32_t, uint32_t, uint32_t, (a << 1) + b,               \
    ((uint64_t)a << 1) + b > UINT32_MAX)                                       \
  X(s_lshl2_add_u32, uint32_t, uint32_t, uint32_t, (a << 2) + b,               \
    ((uint64_t)a << 2) + b > UINT32_MAX)                                       \
  X(s_lshl3_add_u32, uint32_t, uint32_t, uint32_t, (a << 3) + b,               \
    ((uint64_t)a << 3) + b > UINT32_MAX)                                       \
  X(s_lshl4_add_u32, uint32_t, uint32_t, uint32_t, (a << 4) + b,               \
    ((uint64_t)a << 4) + b > UINT32_MAX)                                       \
  X(s_pack_ll_b32_b16, uint32_t, uint32_t, uint32_t, b << 16 | (a & 0xffff),   \
    scc)                                                                       \
  X(s_pack_lh_b32_b16, uint32_t, uint32_t, uint32_t,                           \
    (b & 0xffff0000) | (a & 0xffff), scc)                                      \
  X(s_pack_hh_b32_b16, uint32_t, uint32_t, uint32_t,                           \
    (b & 0xffff0000) | a >> 16, scc)

#define WS_UNARY_MAP(X)                                                        \
  X(s_mov_b32, uint32_t, uint32_t, a, scc)                                     \
  X(s_mov_b64, uint64_t, uint64_t, a, scc)                                     \
  X(s_cmov_b32, uint32_t, uint32_t, scc ? a : d, scc)                          \
  X(s_cmov_b64, uint64_t, uint64_t, scc ? a : d, scc)                          \
  X(s_not_b32, uint32_t, uint32_t, ~a, d != 0)                                 \
  X(s_not_b64, uint64_t, uint64_t, ~a, d != 0)                                 \
  X(s_wqm_b32, uint32_t, uint32_t, whole_quads(a), d != 0)                     \
  X(s_wqm_b64, uint64_t, uint64_t, whole_quads(a), d != 0)                     \
  X(s_quadmask_b32, uint32_t, uint32_t, quads(a), d != 0)                      \
  X(s_quadmask_b64, uint64_t, uint64_t, quads(a), d != 0)                      \
  X(s_brev_b32, uint32_t, uint32_t, reverse(a) >> 32, scc)                     \
  X(s_brev_b64, uint64_t, uint64_t, reverse(a), scc)                           \
  X(s_bcnt0_i32_b32, uint32_t, uint32_t, 32 - __builtin_popcountll(a), d != 0) \
  X(s_bcnt0_i32_b64, uint32_t, uint64_t, 64 - __builtin_popcountll(a), d != 0) \
  X(s_bcnt1_i32_b32, uint32_t, uint32_t, __builtin_popcountll(a), d != 0)      \
  X(s_bcnt1_i32_b64, uint32_t, uint64_t, __builtin_popcountll(a), d != 0)      \
  X(s_ff0_i32_b32, uint32_t, uint32_t, first_one((uint32_t)~a), scc)           \
  X(s_ff0_i32_b64, uint32_t, uint64_t, first_one(~a), scc)                     \
  X(s_ff1_i32_b32, uint32_t, uint32_t, first_one(a), scc)                      \
  X(s_ff1_i32_b64, uint32_t, uint64_t, first_one(a), scc)                      \
  X(s_flbit_i32_b32, uint32_t, uint32_t, leading_zeros(a, 32), scc)            \
  X(s_flbit_i32_b64, uint32_t, uint64_t, leading_zeros(a, 64), scc)            \
  X(s_flbit_i32, uint32_t, int32_t, sign_bits(a, 32), scc)                     \
  X(s_flbit_i32_i64, uint32_t, int64_t, sign_bits(a, 64), scc)                 \
  X(s_sext_i32_i8, int32_t, uint32_t, (int8_t)a, scc)                          \
  X(s_sext_i32_i16, int32_t, uint32_t, (int16_t)a, scc)                        \
  X(s_abs_i32, uint32_t, uint32_t, a >> 31 ? 0 - a : a, d != 0)                \
  X(s_bitset0_b32, uint32_t, uint32_t, d & ~(UINT32_C(1) << (a & 31)), scc)    \
  X(s_bitset0_b64, uint64_t, uint32_t, d & ~(UINT64_C(1) << (a & 63)), scc)    \
  X(s_bitset1_b32, uint32_t, uint32_t, d | UINT32_C(1) << (a & 31), scc)       \
  X(s_bitset1_b64, uint64_t, uint32_t, d | UINT64_C(1) << (a & 63), scc)       \
  X(s_bitreplicate_b64_b32, uint64_t, uint32_t, twice_each(a), scc)

/* a: the 16-bit constant, sign-extended. */
#define WS_CONSTANT_MAP(X)                                                     \
  X(s_movk_i32, a, scc)                                                        \
  X(s_cmovk_i32, scc ? a : d, scc)                                             \
  X(s_addk_i32, d + a, (~(d_before ^ a) & (d_before ^ d)) >> 31)               \
  X(s_mulk_i32, d *a, scc)

#define WS_COMPARE_MAP(X)                                                      \
  X(s_cmp_eq_i32, int32_t, a == b)                                             \
  X(s_cmp_lg_i32, int32_t, a != b)                                             \
  X(s_cmp_gt_i32, int32_t, a > b)                                              \
  X(s_cmp_ge_i32, int32_t, a >= b)                                             \
  X(s_cmp_lt_i32, int32_t, a < b)                                              \
  X(s_cmp_le_i32, int32_t, a <= b)                                             \
  X(s_cmp_eq_u32, uint32_t, a == b)                                            \
  X(s_cmp_lg_u32, uint32_t, a != b)                                            \
  X(s_cmp_gt_u32, uint32_t, a > b)                                             \
  X(s_cmp_ge_u32, uint32_t, a >= b)                                            \
  X(s_cmp_lt_u32, uint32_t, a < b)                                             \
  X(s_cmp_le_u32, uint32_t, a <= b)                                            \
  X(s_cmp_eq_u64, uint64_t, a == b)                                            \
  X(s_cmp_lg_u64, uint64_t, a != b)                                            \
  X(s_bitcmp0_b32, uint32_t, !(a >> (b & 31) & 1))                             \
  X(s_bitcmp1_b32, uint32_t, a >> (b & 31) & 1)

/* k: the 16-bit constant, sign-extended; (uint16_t)k: zero-extended. */
#define WS_COMPARE_CONSTANT_MAP(X)                                             \
  X(s_cmpk_eq_i32, (int32_t)a == k)                                            \
  X(s_cmpk_lg_i32, (int32_t)a != k)                                            \
  X(s_cmpk_gt_i32, (int32_t)a > k)                                             \
  X(s_cmpk_ge_i32, (int32_t)a >= k)                                            \
  X(s_cmpk_lt_i32, (int32_t)a < k)                                             \
  X(s_cmpk_le_i32, (int32_t)a <= k)                                            \
  X(s_cmpk_eq_u32, a == (uint16_t)k)                                           \
  X(s_cmpk_lg_u32, a != (uint16_t)k)                                           \
  X(s_cmpk_gt_u32, a > (uint16_t)k)                                            \
  X(s_cmpk_ge_u32, a >= (uint16_t)k)                                           \
  X(s_cmpk_lt_u32, a < (uint16_t)k)                                            \
  X(s_cmpk_le_u32, a <= (uint16_t)k)

/* EXEC becomes `result`, the destination gets `kept`. */
#define WS_EXEC_MAP(X)                                                         \
  X(s_and_saveexec_b64, a &exec, exec)                                         \
  X(s_or_saveexec_b64, a | exec, exec)                                         \
  X(s_xor_saveexec_b64, a ^ exec, exec)                                        \
  X(s_andn2_saveexec_b64, a & ~exec, exec)                                     \
  X(s_orn2_saveexec_b64, a | ~exec, exec)                                      \
  X(s_nand_saveexec_b64, ~(a & exec), exec)                                    \
  X(s_nor_saveexec_b64, ~(a | exec), exec)                                     \
  X(s_xnor_saveexec_b64, ~(a ^ exec), exec)                                    \
  X(s_andn1_saveexec_b64, ~a &exec, exec)                                      \
  X(s_orn1_saveexec_b64, ~a | exec, exec)                                      \
  X(s_andn1_wrexec_b64, ~a &exec, result)                                      \
  X(s_andn2_wrexec_b64, a & ~exec, result)

/* Reads or writes by the width of a type. */
#define READ(type, operand)                                                    \
  (type)(sizeof(type) == 8 ? ws__scalar_u64(wave, operand)                     \
                           : ws__scalar_u32(wave, operand))
#define WRITE(type, value)                                                     \
  (sizeof(type) == 8                                                           \
       ? ws__set_scalar_u64(wave, &in->dst[0], (uint64_t)(value))              \
       : ws__set_scalar_u32(wave, &in->dst[0], (uint32_t)(value)))

#define DEFINE_BINARY(name, result_type, a_type, b_type, result, new_scc)      \
  static void name(ws_wave *wave, const ws_instruction *in) {                  \
    const uint32_t scc = wave->scc;                                            \
    const a_type a = READ(a_type, &in->src[0]);                                \
    const b_type b = READ(b_type, &in->src[1]);                                \
    const result_type d = (result_type)(result);                               \
    WRITE(result_type, d);                                                     \
    wave->scc = (uint32_t)(new_scc);                                           \
    (void)scc;                                                                 \
  }
WS_BINARY_MAP(DEFINE_BINARY)

#define DEFINE_UNARY(name, result_type, a_type, result, new_scc)               \
  static void name(ws_wave *wave, const ws_instruction *in) {                  \
    const uint32_t scc = wave->scc;                                            \
    const a_type a = READ(a_type, &in->src[0]);                                \
    result_type d = READ(result_type, &in->dst[0]);                            \
    d = (result_type)(result);                                                 \
    WRITE(result_type, d);                                                     \
    wave->scc = (uint32_t)(new_scc);                                           \
    (void)scc;                                                                 \
  }
WS_UNARY_MAP(DEFINE_UNARY)

#define DEFINE_CONSTANT(name, result, new_scc)                                 \
  static void name(ws_wave *wave, const ws_instruction *in) {                  \
    const uint32_t scc = wave->scc;                                            \
    const uint32_t a = (uint32_t)(int16_t)ws__simm16(in, 0);                   \
    const uint32_t d_before = ws__scalar_u32(wave, &in->dst[0]);               \
    uint32_t d = d_before;                                                     \
    d = result;                                                                \
    ws__set_scalar_u32(wave, &in->dst[0], d);                                  \
    wave->scc = new_scc;                                                       \
    (void)scc;                                                                 \
  }
WS_CONSTANT_MAP(DEFINE_CONSTANT)

#define DEFINE_COMPARE(name, type, condition)                                  \
  static void name(ws_wave *wave, const ws_instruction *in) {                  \
    const type a = READ(type, &in->src[0]);                                    \
    const type b = READ(type, &in->src[1]);                                    \
    wave->scc = (uint32_t)(condition);                                         \
  }
WS_COMPARE_MAP(DEFINE_COMPARE)

#define DEFINE_COMPARE_CONSTANT(name, condition)                               \
  static void name(ws_wave *wave, const ws_instruction *in) {                  \
    const uint32_t a = ws__scalar_u32(wave, &in->src[0]);                      \
    const int32_t k = (int16_t)ws__simm16(in, 1);                              \
    wave->scc = condition;                                                     \
  }
WS_COMPARE_CONSTANT_MAP(DEFINE_COMPARE_CONSTANT)

#define DEFINE_EXEC(name, new_exec, kept)                                      \
  static void name(ws_wave *wave, const ws_instruction *in) {                  \
    const uint64_t exec = ws_exec(wave);                                       \
    const uint64_t a = ws__scalar_u64(wave, &in->src[0]);                      \
    const uint64_t result = new_exec;                                          \
    ws__set_scalar_u64(wave, &in->dst[0], kept);                               \
    ws_set_sgpr64(wave, WS_SGPR_EXEC, result);                                 \
    wave->scc = result != 0;                                                   \
  }
WS_EXEC_MAP(DEFINE_EXEC)

/* A 64-bit source with a 32-bit bit number. */
static void bit_of_64(ws_wave *wave, const ws_instruction *in) {
  uint64_t value = ws__scalar_u64(wave, &in->src[0]);
  uint32_t bit = value >> (ws__scalar_u32(wave, &in->src[1]) & 63) & 1;
  wave->scc = in->op == WS_OP_s_bitcmp1_b64 ? bit : !bit;
}

/* Register index of a relative move: base + M0. Ends the workgroup where that
 * is no general register. */
static bool relative(ws_wave *wave, const ws_instruction *in,
                     const ws_operand *base, int count, int *out_index) {
  uint64_t index = (uint64_t)base->index + wave->sgpr[WS_SGPR_M0];
  *out_index = (int)index;
  if (index + (uint64_t)count <= WS_SGPR_TTMP && index % (uint64_t)count == 0)
    return true;
  ws__fault(wave, in, -1, "unsupported",
            "relative move of s%llu: no such register, or an odd pair; M0 "
            "holds %u",
            (unsigned long long)index, wave->sgpr[WS_SGPR_M0]);
  return false;
}

static void move_relative_source(ws_wave *wave, const ws_instruction *in) {
  int count = in->op == WS_OP_s_movrels_b64 ? 2 : 1, index;
  if (!relative(wave, in, &in->src[0], count, &index))
    return;
  ws__set_scalar_u32(wave, &in->dst[0], wave->sgpr[index]);
  if (count == 2)
    ws__set_scalar_u64(wave, &in->dst[0], ws_sgpr64(wave, index));
}

static void move_relative_target(ws_wave *wave, const ws_instruction *in) {
  int count = in->op == WS_OP_s_movreld_b64 ? 2 : 1, index;
  if (!relative(wave, in, &in->dst[0], count, &index))
    return;
  if (count == 2)
    ws_set_sgpr64(wave, index, ws__scalar_u64(wave, &in->src[0]));
  else
    wave->sgpr[index] = ws__scalar_u32(wave, &in->src[0]);
}

ws_execute ws__execute_scalar(ws_op op) {
#define ENTRY(name, ...) [WS_OP_##name] = name,
  static const ws_execute handlers[WS_OP_COUNT] = {
      WS_BINARY_MAP(ENTRY) WS_UNARY_MAP(ENTRY) WS_CONSTANT_MAP(ENTRY)
          WS_COMPARE_MAP(ENTRY) WS_COMPARE_CONSTANT_MAP(ENTRY)
              WS_EXEC_MAP(ENTRY)[WS_OP_s_bitcmp0_b64] = bit_of_64,
      [WS_OP_s_bitcmp1_b64] = bit_of_64,
      [WS_OP_s_movrels_b32] = move_relative_source,
      [WS_OP_s_movrels_b64] = move_relative_source,
      [WS_OP_s_movreld_b32] = move_relative_target,
      [WS_OP_s_movreld_b64] = move_relative_target,
  };
#undef ENTRY
  if ((unsigned)op >= WS_OP_COUNT)
    return NULL;
  if (handlers[op])
    return handlers[op];
  ws_execute handler = ws__execute_scalar_control(op);
  return handler ? handler : ws__execute_scalar_memory(op);
}
