/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Where lanes meet: v_readlane and its kin, and the lane patterns of DPP
 * (CDNA3 ISA guide, "Data Parallel Primitives"). Poison follows the values.
 */
#include "lane_patterns.h"
#include "vector_lanes.h"

#include <pthread.h>

/* ---- poison -----------------------------------------------------------------
 */

static bool scalar_is_poisoned(const ws_wave *wave, int index) {
  return index < WS_SGPRS && wave->scalar_poison[index / 64] >> index % 64 & 1;
}

static uint64_t poison_of(const ws_wave *wave, const ws_operand *operand) {
  uint64_t poison = 0;
  int count = operand->count ? operand->count : 1;
  for (int i = 0; i < count; i++) {
    int index = operand->index + i;
    if (operand->kind == WS_OPERAND_VECTOR && index < WS_VECTORS)
      poison |= wave->vector_poison[index];
    else if (operand->kind == WS_OPERAND_SCALAR &&
             scalar_is_poisoned(wave, index))
      poison = UINT64_MAX;
  }
  return poison;
}

static void set_scalar_poison(ws_wave *wave, int index, int count,
                              bool poison) {
  for (int i = index; i < index + count && i < WS_SGPRS; i++) {
    uint64_t bit = 1ull << i % 64;
    wave->scalar_poison[i / 64] &= ~bit;
    wave->scalar_poison[i / 64] |= poison ? bit : 0;
  }
}

bool ws__vector_keeps_poison(const ws_instruction *in) {
  return in->dpp != WS_DPP_NONE || ws__execute_across_lanes((ws_op)in->op) ||
         (in->dst_count && in->dst[in->dst_count - 1].type == 'm');
}

/* ---- DPP --------------------------------------------------------------------
 */

enum { DPP_CONTROLS = 0x160 };
static struct dpp_pattern {
  int32_t from[WS_LANES];
  uint64_t inside; /* lanes that have a source */
} dpp_patterns[DPP_CONTROLS];
static pthread_once_t dpp_once = PTHREAD_ONCE_INIT;

static void make_dpp_patterns(void) {
  for (uint16_t control = 0; control < DPP_CONTROLS; control++)
    for (int lane = 0; lane < WS_LANES; lane++) {
      int from = ws_dpp_source(control, lane);
      bool inside = from >= 0;
      dpp_patterns[control].from[lane] = inside ? from : 0;
      dpp_patterns[control].inside |= (uint64_t)inside << lane;
    }
}

/* Bit `from` of mask, for each lane. */
static uint64_t permute_bits(uint64_t mask, const int32_t *from) {
  uint64_t result = 0;
  for (int lane = 0; lane < WS_LANES; lane++)
    result |= (mask >> from[lane] & 1) << lane;
  return result;
}

/* Bit i of rows is 16 lanes, bit i of banks four lanes of every row. */
static uint64_t lanes_of_masks(uint32_t rows, uint32_t banks) {
  uint64_t lanes = 0, row = 0;
  for (int i = 0; i < 4; i++)
    row |= banks >> i & 1 ? 0xfull << 4 * i : 0;
  for (int i = 0; i < 4; i++)
    lanes |= rows >> i & 1 ? row << 16 * i : 0;
  return lanes;
}

/* A lane whose source is off or outside is not written, or reads 0 with
 * bound_ctrl; lanes outside the row and bank masks are not written. */
void ws__dpp_lanes(const ws_instruction *in, uint64_t exec,
                   struct ws_dpp *out) {
  pthread_once(&dpp_once, make_dpp_patterns);
  const struct dpp_pattern *pattern = &dpp_patterns[in->dpp % DPP_CONTROLS];
  out->from = pattern->from;
  out->valid = pattern->inside;
  if (exec != UINT64_MAX)
    out->valid &= permute_bits(exec, pattern->from);
  out->write = exec & lanes_of_masks(in->row_mask, in->bank_mask);
  if (!(in->flags & WS_BOUND_CTRL))
    out->write &= out->valid;
}

void ws__dpp_poison(ws_wave *wave, const ws_instruction *in,
                    const struct ws_dpp *dpp) {
  uint64_t poison = poison_of(wave, &in->src[0]);
  if (poison)
    poison = permute_bits(poison, dpp->from) & dpp->valid;
  for (int k = 1; k < in->src_count; k++)
    poison |= poison_of(wave, &in->src[k]);
  poison &= dpp->write;
  for (int k = 0; k < in->dst_count; k++) {
    const ws_operand *dst = &in->dst[k];
    if (dst->kind == WS_OPERAND_SCALAR)
      set_scalar_poison(wave, dst->index, 2, poison != 0);
    for (int w = 0; dst->kind == WS_OPERAND_VECTOR && w < dst->count; w++) {
      uint64_t *lanes = &wave->vector_poison[(dst->index + w) % WS_VECTORS];
      *lanes = (*lanes & ~dpp->write) | poison;
    }
  }
}

/* ---- one lane ---------------------------------------------------------------
 */

static uint32_t value_in_lane(const ws_wave *wave, const ws_operand *operand,
                              int lane) {
  if (operand->kind == WS_OPERAND_VECTOR)
    return wave->vgpr[operand->index % WS_VECTORS].u32[lane];
  return (uint32_t)ws__scalar_value(wave, operand);
}

static void write_scalar(ws_wave *wave, const ws_instruction *in, int lane) {
  const ws_operand *dst = &in->dst[0];
  uint32_t value = value_in_lane(wave, &in->src[0], lane);
  bool poison = poison_of(wave, &in->src[0]) >> lane & 1;
  if (in->src_count > 1)
    poison |= poison_of(wave, &in->src[1]) != 0;
  if (dst->kind != WS_OPERAND_SCALAR || dst->index >= WS_SGPRS)
    return;
  wave->sgpr[dst->index] = value;
  set_scalar_poison(wave, dst->index, 1, poison);
}

/* The first lane that is on; lane 0 when none is. */
static void execute_readfirstlane(ws_wave *wave, const ws_instruction *in) {
  uint64_t exec = ws_exec(wave);
  write_scalar(wave, in, exec ? __builtin_ctzll(exec) : 0);
}

/* EXEC does not matter. */
static void execute_readlane(ws_wave *wave, const ws_instruction *in) {
  write_scalar(wave, in, ws__scalar_value(wave, &in->src[1]) % WS_LANES);
}

static void execute_writelane(ws_wave *wave, const ws_instruction *in) {
  int lane = ws__scalar_value(wave, &in->src[1]) % WS_LANES;
  int index = in->dst[0].index % WS_VECTORS;
  uint64_t bit = 1ull << lane;
  bool poison = poison_of(wave, &in->src[0]) || poison_of(wave, &in->src[1]);
  wave->vgpr[index].u32[lane] = value_in_lane(wave, &in->src[0], lane);
  wave->vector_poison[index] &= ~bit;
  wave->vector_poison[index] |= poison ? bit : 0;
}

static void execute_swap(ws_wave *wave, const ws_instruction *in) {
  int a = in->dst[0].index % WS_VECTORS, b = in->dst[1].index % WS_VECTORS;
  uint64_t exec = ws_exec(wave);
  for (int lane = 0; lane < WS_LANES; lane++) {
    if (!(exec >> lane & 1))
      continue;
    uint32_t value = wave->vgpr[a].u32[lane];
    wave->vgpr[a].u32[lane] = wave->vgpr[b].u32[lane];
    wave->vgpr[b].u32[lane] = value;
  }
  uint64_t differ = (wave->vector_poison[a] ^ wave->vector_poison[b]) & exec;
  wave->vector_poison[a] ^= differ;
  wave->vector_poison[b] ^= differ;
}

static void execute_nothing(ws_wave *wave, const ws_instruction *in) {
  (void)wave;
  (void)in;
}

ws_execute ws__execute_across_lanes(ws_op op) {
  switch (op) {
  case WS_OP_v_readfirstlane_b32:
    return execute_readfirstlane;
  case WS_OP_v_readlane_b32:
    return execute_readlane;
  case WS_OP_v_writelane_b32:
    return execute_writelane;
  case WS_OP_v_swap_b32:
    return execute_swap;
  case WS_OP_v_nop:
  case WS_OP_v_clrexcp:
    return execute_nothing;
  default:
    return NULL;
  }
}
