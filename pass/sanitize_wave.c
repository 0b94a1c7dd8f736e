/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Intrinsics of a wave: lanes that read each other, and the matrix core; and
 * the table of all. Semantics of cross-lane operations are those of the CDNA3
 * ISA with the participating lanes as EXEC.
 */
#include "lane_patterns.h"
#include "sanitize_models.h"

/* ---- lanes of a wave ------------------------------------------------- */

/* Hints; the workgroup's barrier, which sanitize_lanes.c sees to. */
void ws__model_nothing(const ws_site *site, uint64_t set) {
  (void)site;
  (void)set;
}

/* The result of lane `to` is operand `index` of lane `from`, of any type. */
static void copy_operand(const ws_site *site, int to, int from, int index) {
  memcpy(ws__frame_of(to), ws__frame_of(from) + site->offset[index],
         site->result_size);
}

void ws__model_readfirstlane(const ws_site *site, uint64_t set) {
  int first = __builtin_ctzll(set);
  FOR_EACH_LANE(lane, set) copy_operand(site, lane, first, 0);
}

/* An inactive lane's register is not known here: the result is then zero. */
static void take_from(const ws_site *site, uint64_t set, int lane, int from) {
  if (set >> from & 1)
    copy_operand(site, lane, from, 0);
  else
    memset(ws__frame_of(lane), 0, site->result_size);
}

void ws__model_readlane(const ws_site *site, uint64_t set) {
  int from = ws__operand_i32(site, __builtin_ctzll(set), 1) & 63;
  FOR_EACH_LANE(lane, set) take_from(site, set, lane, from);
}

/* writelane(value, lane, old) */
void ws__model_writelane(const ws_site *site, uint64_t set) {
  int first = __builtin_ctzll(set);
  int to = ws__operand_i32(site, first, 1) & 63;
  FOR_EACH_LANE(lane, set)
  copy_operand(site, lane, lane == to ? first : lane, lane == to ? 0 : 2);
}

void ws__model_ballot(const ws_site *site, uint64_t set) {
  uint64_t bits = 0;
  FOR_EACH_LANE(lane, set)
  bits |= (uint64_t)(ws__frame_of(lane)[site->offset[0]] & 1) << lane;
  FOR_EACH_LANE(lane, set) memcpy(ws__frame_of(lane), &bits, site->result_size);
}

/* Results of all lanes before any is stored: a result may overlap nothing, but
 * a lane's operand is read by others. */
void ws__model_ds_bpermute(const ws_site *site, uint64_t set) {
  int32_t result[WS_WAVE_LANES];
  FOR_EACH_LANE(lane, set) {
    int from = ws__operand_i32(site, lane, 0) / 4 & 63;
    result[lane] = set >> from & 1 ? ws__operand_i32(site, from, 1) : 0;
  }
  FOR_EACH_LANE(lane, set) ws__result_u32(lane, (uint32_t)result[lane]);
}

void ws__model_ds_permute(const ws_site *site, uint64_t set) {
  int32_t result[WS_WAVE_LANES] = {0};
  FOR_EACH_LANE(lane, set)
  result[ws__operand_i32(site, lane, 0) / 4 & 63] =
      ws__operand_i32(site, lane, 1);
  FOR_EACH_LANE(lane, set) ws__result_u32(lane, (uint32_t)result[lane]);
}

void ws__model_ds_swizzle(const ws_site *site, uint64_t set) {
  uint32_t mode = ws__operand_u32(site, __builtin_ctzll(set), 1) & 0xffff;
  FOR_EACH_LANE(lane, set)
  take_from(site, set, lane, ws_swizzle_source(mode, lane));
}

/* Operands: source, control, row mask, bank mask, bound control; `old` is an
 * operand index, -1 for mov.dpp, whose old value is undefined: zero here. */
static void dpp(const ws_site *site, uint64_t set, int old, int first) {
  uint32_t control = (uint32_t)site->immediate[first + 1];
  if (ws_dpp_source(control, 0) == WS_DPP_UNKNOWN) {
    ws__fault(WS_FAULT_NO_HOST_MODEL, (ws_site *)site,
              "DPP control 0x%x is none of gfx942", control);
    return;
  }
  uint32_t row_mask = (uint32_t)site->immediate[first + 2];
  uint32_t bank_mask = (uint32_t)site->immediate[first + 3];
  bool zero_outside = site->immediate[first + 4] != 0;
  FOR_EACH_LANE(lane, set) {
    int from = ws_dpp_source(control, lane);
    bool enabled =
        (row_mask >> lane / 16 & 1) && (bank_mask >> lane % 16 / 4 & 1);
    if (enabled && from >= 0 && set >> from & 1)
      copy_operand(site, lane, from, first);
    else if (old >= 0 && !(enabled && zero_outside))
      copy_operand(site, lane, lane, old);
    else
      memset(ws__frame_of(lane), 0, site->result_size);
  }
}

void ws__model_update_dpp(const ws_site *site, uint64_t set) {
  dpp(site, set, 0, 1);
}

void ws__model_mov_dpp(const ws_site *site, uint64_t set) {
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
    const char *frame = ws__frame_of(lane);
    memcpy(&a[lane], frame + site->offset[0], sizeof a[lane]);
    memcpy(&b[lane], frame + site->offset[1], sizeof b[lane]);
    memcpy(c[lane], frame + site->offset[2], sizeof c[lane]);
  }
  ws_mfma_f32_16x16x32(a_format, b_format, a, b, c, c);
  for (int lane = 0; lane < WS_WAVE_LANES; lane++)
    memcpy(ws__frame_of(lane), c[lane], sizeof c[lane]);
}

static void fp8_32x32x16(const ws_site *site, ws_fp8_format a_format,
                         ws_fp8_format b_format) {
  uint64_t a[WS_WAVE_LANES], b[WS_WAVE_LANES];
  float c[WS_WAVE_LANES][16];
  for (int lane = 0; lane < WS_WAVE_LANES; lane++) {
    const char *frame = ws__frame_of(lane);
    memcpy(&a[lane], frame + site->offset[0], sizeof a[lane]);
    memcpy(&b[lane], frame + site->offset[1], sizeof b[lane]);
    memcpy(c[lane], frame + site->offset[2], sizeof c[lane]);
  }
  ws_mfma_f32_32x32x16(a_format, b_format, a, b, c, c);
  for (int lane = 0; lane < WS_WAVE_LANES; lane++)
    memcpy(ws__frame_of(lane), c[lane], sizeof c[lane]);
}

/* Operand `index` of all lanes, dword by dword. */
static void take_registers(const ws_site *site, int index, int count,
                           ws_matrix_register *out) {
  for (int r = 0; r < count; r++)
    for (int lane = 0; lane < WS_WAVE_LANES; lane++)
      memcpy(&out[r][lane], ws__frame_of(lane) + site->offset[index] + r * 4,
             4);
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
      memcpy(ws__frame_of(lane) + r * 4, &c[r][lane], 4);
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
#define WS_INTRINSIC(name, kind, model)                                        \
  {name, WS_OPERATION_##kind, ws__model_##model, NULL},
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
    bool any_type = operations[i].kind != WS_OPERATION_LANE;
    if (name[length] == 0 ||
        (any_type && name[length] == '.' && !strchr(name + length + 1, '.'))) {
      best = &operations[i];
      best_length = length;
    }
  }
  return best;
}
