/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What each llvm.amdgcn intrinsic does, on the operands that its lanes left
 * in their frames. Tables: sanitize_intrinsics.def, and WS_MFMA_MAP for the
 * matrix core. Semantics of cross-lane
 * operations are those of the CDNA3 ISA with the participating lanes as EXEC.
 */
#include "sanitize_internal.h"
#include "wavesmith/mfma.h"

#include <math.h>
#include <string.h>

static ws_lanes *const lanes = &ws__sanitizer.lanes;

#define FOR_EACH_LANE(lane, set)                                               \
  for (uint64_t rest_ = (set); rest_; rest_ &= rest_ - 1)                      \
    for (int lane = __builtin_ctzll(rest_), once_ = 1; once_; once_ = 0)

static char *frame_of(int lane) {
  return lanes->lane[lanes->current_wave * WS_WAVE_LANES + lane].frame;
}

static int32_t operand_i32(const ws_site *site, int lane, int index) {
  int32_t value;
  if (!site->offset[index])
    return (int32_t)site->immediate[index];
  memcpy(&value, frame_of(lane) + site->offset[index], sizeof value);
  return value;
}

static float operand_f32(const ws_site *site, int lane, int index) {
  float value;
  memcpy(&value, frame_of(lane) + site->offset[index], sizeof value);
  return value;
}

static void result_i32(int lane, int32_t value) {
  memcpy(frame_of(lane), &value, sizeof value);
}

static void result_f32(int lane, float value) {
  memcpy(frame_of(lane), &value, sizeof value);
}

/* ---- one lane -------------------------------------------------------- */

#define LANE_I32(name, expression)                                             \
  static void name(const ws_site *site, uint64_t set) {                        \
    FOR_EACH_LANE(lane, set) {                                                 \
      (void)site;                                                              \
      result_i32(lane, (int32_t)(expression));                                 \
    }                                                                          \
  }
#define LANE_F32(name, expression)                                             \
  static void name(const ws_site *site, uint64_t set) {                        \
    FOR_EACH_LANE(lane, set) { result_f32(lane, (expression)); }               \
  }
#define I32(index) operand_i32(site, lane, index)
#define U32(index) ((uint32_t)operand_i32(site, lane, index))
#define F32(index) operand_f32(site, lane, index)

static uint64_t lanes_below(int lane) { return (1ull << lane) - 1; }

static uint32_t permute_bytes(uint32_t high, uint32_t low, uint32_t select) {
  uint64_t both = (uint64_t)high << 32 | low;
  uint32_t result = 0;
  for (int i = 0; i < 4; i++) {
    uint32_t s = select >> i * 8 & 0xff, byte;
    if (s < 8)
      byte = (uint32_t)(both >> s * 8) & 0xff;
    else if (s < 12) /* sign of bytes 1, 3, 5, 7 */
      byte = both >> ((s - 8) * 16 + 15) & 1 ? 0xff : 0;
    else
      byte = s == 12 ? 0 : 0xff;
    result |= byte << i * 8;
  }
  return result;
}

static int32_t signed_field(uint32_t value, uint32_t offset, uint32_t width) {
  if (width == 0)
    return 0;
  if (offset + width >= 32)
    return (int32_t)value >> offset;
  return (int32_t)(value << (32 - offset - width)) >> (32 - width);
}

static int32_t low_24(uint32_t value) { return (int32_t)(value << 8) >> 8; }

static float median(float a, float b, float c) {
  return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}

static uint8_t selected_byte(uint32_t word, int index) {
  return (uint8_t)(word >> (index & 3) * 8);
}

LANE_I32(workitem_id_x, lanes->current_wave *WS_WAVE_LANES + lane)
LANE_I32(zero, 0)
LANE_I32(workgroup_id_x, lanes->workgroup_id[0])
LANE_I32(workgroup_id_y, lanes->workgroup_id[1])
LANE_I32(workgroup_id_z, lanes->workgroup_id[2])
LANE_I32(wavefrontsize, WS_WAVE_LANES)
LANE_I32(mbcnt_lo,
         __builtin_popcount(U32(0) & (uint32_t)lanes_below(lane)) + I32(1))
LANE_I32(mbcnt_hi,
         __builtin_popcount(U32(0) & (uint32_t)(lanes_below(lane) >> 32)) +
             I32(1))
LANE_I32(perm, permute_bytes(U32(0), U32(1), U32(2)))
LANE_I32(alignbyte, ((uint64_t)U32(0) << 32 | U32(1)) >> (U32(2) & 3) * 8)
LANE_I32(ubfe, (U32(2) & 31) == 0
                   ? 0
                   : U32(0) >> (U32(1) & 31) & ((1u << (U32(2) & 31)) - 1))
LANE_I32(sbfe, signed_field(U32(0), U32(1) & 31, U32(2) & 31))
LANE_I32(mul_u24, (U32(0) & 0xffffff) * (U32(1) & 0xffffff))
LANE_I32(mul_i24, (int64_t)low_24(U32(0)) * low_24(U32(1)))
LANE_F32(fmed3, median(F32(0), F32(1), F32(2)))
LANE_F32(rcp, 1.0f / F32(0))
LANE_F32(rsq, 1.0f / sqrtf(F32(0)))
LANE_F32(square_root, sqrtf(F32(0)))
LANE_F32(exp_2, exp2f(F32(0)))
LANE_F32(log_2, log2f(F32(0)))
LANE_F32(cvt_f32_fp8,
         ws_fp8_decode(WS_FP8_E4M3_FNUZ, selected_byte(U32(0), I32(1))))
LANE_F32(cvt_f32_bf8,
         ws_fp8_decode(WS_FP8_E5M2_FNUZ, selected_byte(U32(0), I32(1))))

static void convert_pair(ws_fp8_format format, const ws_site *site,
                         uint64_t set) {
  FOR_EACH_LANE(lane, set) {
    uint32_t half = U32(0) >> (I32(1) & 1) * 16;
    float pair[2] = {ws_fp8_decode(format, half & 0xff),
                     ws_fp8_decode(format, half >> 8 & 0xff)};
    memcpy(frame_of(lane), pair, sizeof pair);
  }
}

static void cvt_pk_f32_fp8(const ws_site *site, uint64_t set) {
  convert_pair(WS_FP8_E4M3_FNUZ, site, set);
}

static void cvt_pk_f32_bf8(const ws_site *site, uint64_t set) {
  convert_pair(WS_FP8_E5M2_FNUZ, site, set);
}

/* ---- lanes of a wave ------------------------------------------------- */

static void nothing(const ws_site *site, uint64_t set) {
  (void)site;
  (void)set;
}

/* The result of lane `to` is operand `index` of lane `from`, of any type. */
static void copy_operand(const ws_site *site, int to, int from, int index) {
  memcpy(frame_of(to), frame_of(from) + site->offset[index], site->result_size);
}

static void readfirstlane(const ws_site *site, uint64_t set) {
  int first = __builtin_ctzll(set);
  FOR_EACH_LANE(lane, set) copy_operand(site, lane, first, 0);
}

/* An inactive lane's register is not known here: the result is then zero. */
static void take_from(const ws_site *site, uint64_t set, int lane, int from) {
  if (set >> from & 1)
    copy_operand(site, lane, from, 0);
  else
    memset(frame_of(lane), 0, site->result_size);
}

static void readlane(const ws_site *site, uint64_t set) {
  int from = operand_i32(site, __builtin_ctzll(set), 1) & 63;
  FOR_EACH_LANE(lane, set) take_from(site, set, lane, from);
}

/* writelane(value, lane, old) */
static void writelane(const ws_site *site, uint64_t set) {
  int first = __builtin_ctzll(set);
  int to = operand_i32(site, first, 1) & 63;
  FOR_EACH_LANE(lane, set)
  copy_operand(site, lane, lane == to ? first : lane, lane == to ? 0 : 2);
}

static void ballot(const ws_site *site, uint64_t set) {
  uint64_t bits = 0;
  FOR_EACH_LANE(lane, set)
  bits |= (uint64_t)(frame_of(lane)[site->offset[0]] & 1) << lane;
  FOR_EACH_LANE(lane, set) memcpy(frame_of(lane), &bits, site->result_size);
}

/* Results of all lanes before any is stored: a result may overlap nothing, but
 * a lane's operand is read by others. */
static void ds_bpermute(const ws_site *site, uint64_t set) {
  int32_t result[WS_WAVE_LANES];
  FOR_EACH_LANE(lane, set) {
    int from = operand_i32(site, lane, 0) / 4 & 63;
    result[lane] = set >> from & 1 ? operand_i32(site, from, 1) : 0;
  }
  FOR_EACH_LANE(lane, set) result_i32(lane, result[lane]);
}

static void ds_permute(const ws_site *site, uint64_t set) {
  int32_t result[WS_WAVE_LANES] = {0};
  FOR_EACH_LANE(lane, set)
  result[operand_i32(site, lane, 0) / 4 & 63] = operand_i32(site, lane, 1);
  FOR_EACH_LANE(lane, set) result_i32(lane, result[lane]);
}

static void ds_swizzle(const ws_site *site, uint64_t set) {
  uint32_t pattern = (uint32_t)operand_i32(site, __builtin_ctzll(set), 1);
  FOR_EACH_LANE(lane, set) {
    int from;
    if (pattern & 0x8000) /* quads: two bits for each of four lanes */
      from = (lane & ~3) | (int)(pattern >> (lane & 3) * 2 & 3);
    else /* 32 lanes: and, or, xor masks */
      from = (lane & 32) |
             (int)((((uint32_t)lane & pattern & 31) | (pattern >> 5 & 31)) ^
                   (pattern >> 10 & 31));
    if (set >> from & 1)
      copy_operand(site, lane, from, 0);
    else
      memset(frame_of(lane), 0, site->result_size);
  }
}

/* The lane whose source a DPP control gives to `lane`; -1: none. */
static int dpp_source(uint32_t control, int lane) {
  int row = lane & ~15, in_row = lane & 15, n = (int)(control & 15);
  if (control < 0x100)
    return (lane & ~3) | (int)(control >> (lane & 3) * 2 & 3);
  if (control < 0x110) /* row_shl */
    return in_row + n < 16 ? lane + n : -1;
  if (control < 0x120) /* row_shr */
    return in_row >= n ? lane - n : -1;
  if (control < 0x130) /* row_ror */
    return row | ((in_row - n) & 15);
  switch (control) {
  case 0x130: /* wave_shl */
    return lane < 63 ? lane + 1 : -1;
  case 0x134: /* wave_rol */
    return (lane + 1) & 63;
  case 0x138: /* wave_shr */
    return lane - 1;
  case 0x13c: /* wave_ror */
    return (lane - 1) & 63;
  case 0x140: /* row_mirror */
    return row | (15 - in_row);
  case 0x141: /* row_half_mirror */
    return (lane & ~7) | (7 - (lane & 7));
  case 0x142: /* row_bcast15 */
    return row ? row - 1 : -1;
  case 0x143: /* row_bcast31 */
    return lane >= 32 ? 31 : -1;
  }
  return row | n; /* row_newbcast */
}

static bool dpp_known(uint32_t control) {
  return control < 0x100 ||
         (control > 0x100 && control < 0x130 && control % 16 != 0) ||
         control == 0x130 || control == 0x134 || control == 0x138 ||
         control == 0x13c || (control >= 0x140 && control <= 0x143) ||
         (control >= 0x150 && control <= 0x15f);
}

/* Operands: source, control, row mask, bank mask, bound control; `old` is an
 * operand index, -1 for mov.dpp, whose old value is undefined: zero here. */
static void dpp(const ws_site *site, uint64_t set, int old, int first) {
  uint32_t control = (uint32_t)site->immediate[first + 1];
  if (!dpp_known(control)) {
    ws__fault(WS_FAULT_NO_HOST_MODEL, (ws_site *)site,
              "DPP control 0x%x is none of gfx942", control);
    return;
  }
  uint32_t row_mask = (uint32_t)site->immediate[first + 2];
  uint32_t bank_mask = (uint32_t)site->immediate[first + 3];
  bool zero_outside = site->immediate[first + 4] != 0;
  FOR_EACH_LANE(lane, set) {
    int from = dpp_source(control, lane);
    bool enabled =
        (row_mask >> lane / 16 & 1) && (bank_mask >> lane % 16 / 4 & 1);
    if (enabled && from >= 0 && set >> from & 1)
      copy_operand(site, lane, from, first);
    else if (old >= 0 && !(enabled && zero_outside))
      copy_operand(site, lane, lane, old);
    else
      memset(frame_of(lane), 0, site->result_size);
  }
}

static void update_dpp(const ws_site *site, uint64_t set) {
  dpp(site, set, 0, 1);
}

static void mov_dpp(const ws_site *site, uint64_t set) {
  dpp(site, set, -1, 0);
}

/* ---- the matrix core ------------------------------------------------- */

static ws_fp8_format fp8_format(int type) {
  return type == WS_MATRIX_FP8 ? WS_FP8_E4M3_FNUZ : WS_FP8_E5M2_FNUZ;
}

/* fp8 as GEMMs use it, without modifiers: by lanes, as the frames lie. */
static void fp8_16x16x32(const ws_site *site, ws_fp8_format a_format,
                         ws_fp8_format b_format) {
  uint64_t a[WS_WAVE_LANES], b[WS_WAVE_LANES];
  float c[WS_WAVE_LANES][4];
  for (int lane = 0; lane < WS_WAVE_LANES; lane++) {
    const char *frame = frame_of(lane);
    memcpy(&a[lane], frame + site->offset[0], sizeof a[lane]);
    memcpy(&b[lane], frame + site->offset[1], sizeof b[lane]);
    memcpy(c[lane], frame + site->offset[2], sizeof c[lane]);
  }
  ws_mfma_f32_16x16x32(a_format, b_format, a, b, c, c);
  for (int lane = 0; lane < WS_WAVE_LANES; lane++)
    memcpy(frame_of(lane), c[lane], sizeof c[lane]);
}

static void fp8_32x32x16(const ws_site *site, ws_fp8_format a_format,
                         ws_fp8_format b_format) {
  uint64_t a[WS_WAVE_LANES], b[WS_WAVE_LANES];
  float c[WS_WAVE_LANES][16];
  for (int lane = 0; lane < WS_WAVE_LANES; lane++) {
    const char *frame = frame_of(lane);
    memcpy(&a[lane], frame + site->offset[0], sizeof a[lane]);
    memcpy(&b[lane], frame + site->offset[1], sizeof b[lane]);
    memcpy(c[lane], frame + site->offset[2], sizeof c[lane]);
  }
  ws_mfma_f32_32x32x16(a_format, b_format, a, b, c, c);
  for (int lane = 0; lane < WS_WAVE_LANES; lane++)
    memcpy(frame_of(lane), c[lane], sizeof c[lane]);
}

/* Operand `index` of all lanes, dword by dword. */
static void take_registers(const ws_site *site, int index, int count,
                           ws_matrix_register *out) {
  for (int r = 0; r < count; r++)
    for (int lane = 0; lane < WS_WAVE_LANES; lane++)
      memcpy(&out[r][lane], frame_of(lane) + site->offset[index] + r * 4, 4);
}

static void mfma_by_registers(const ws_site *site, const ws_matrix_shape *shape,
                              const ws_matrix_modifiers *modifiers) {
  ws_matrix_register a[WS_MFMA_OPERAND_REGISTERS], b[WS_MFMA_OPERAND_REGISTERS];
  ws_matrix_register c[WS_MFMA_RESULT_REGISTERS];
  const int operands = ws_mfma_operand_registers(shape);
  const int results = ws_mfma_result_registers(shape);
  take_registers(site, 0, operands, a);
  take_registers(site, 1, operands, b);
  take_registers(site, 2, results, c);
  ws_mfma(shape, modifiers, a, b, c, c);
  for (int r = 0; r < results; r++)
    for (int lane = 0; lane < WS_WAVE_LANES; lane++)
      memcpy(frame_of(lane) + r * 4, &c[r][lane], 4);
}

/* Operands: A, B, C, cbsz, abid, blgp. */
static void mfma(const ws_site *site, uint64_t set) {
  (void)set;
  const ws_matrix_shape *shape = site->operation->shape;
  const ws_matrix_modifiers modifiers = {(int)site->immediate[3],
                                         (int)site->immediate[4],
                                         (int)site->immediate[5]};
  if (!ws_mfma_takes(shape, &modifiers)) {
    ws__fault(WS_FAULT_NO_HOST_MODEL, (ws_site *)site,
              "cbsz %d abid %d blgp %d of a matrix instruction with %d blocks",
              modifiers.cbsz, modifiers.abid, modifiers.blgp, shape->blocks);
    return;
  }
  ws_observed *observed = ws__sanitizer.recorder.observed;
  const bool fp8 = shape->a_type >= WS_MATRIX_FP8;
  if (!fp8 || modifiers.blgp)
    mfma_by_registers(site, shape, &modifiers);
  else
    (shape->m == 16 ? fp8_16x16x32 : fp8_32x32x16)(
        site, fp8_format(shape->a_type), fp8_format(shape->b_type));
  *(!fp8             ? &observed->mfma_other
    : shape->m == 16 ? &observed->mfma_16x16x32
                     : &observed->mfma_32x32x16) += 1;
}

/* ---- the table ------------------------------------------------------- */

static const ws_operation operations[] = {
#define WS_INTRINSIC(name, kind, handler)                                      \
  {name, WS_OPERATION_##kind, handler, NULL},
#include "sanitize_intrinsics.def"
#undef WS_INTRINSIC
#define MATRIX(mnemonic, name, ...)                                            \
  {name, WS_OPERATION_WAVE_ALL, mfma,                                          \
   &(const ws_matrix_shape){__VA_ARGS__, false}},
    WS_MFMA_MAP(MATRIX)
#undef MATRIX
};

const ws_operation *ws__operation_find(const char *name) {
  static const char prefix[] = "llvm.amdgcn.";
  if (strncmp(name, prefix, sizeof prefix - 1))
    return NULL;
  name += sizeof prefix - 1;
  const ws_operation *best = NULL;
  size_t best_length = 0;
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    size_t length = strlen(operations[i].name);
    if (strncmp(name, operations[i].name, length) || length <= best_length)
      continue;
    if (name[length] == 0 ||
        (name[length] == '.' && !strchr(name + length + 1, '.'))) {
      best = &operations[i];
      best_length = length;
    }
  }
  return best;
}
