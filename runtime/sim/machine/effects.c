/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Effects of decoded instructions. Registers come from the operands; what the
 * text does not show (SCC, EXEC, VCC of v_div_fmas, bitwise logic) comes from
 * the table below, by mnemonic. Source: CDNA3 ISA guide, chapters 5 and 12.
 */
#include "effects.h"
#include "poison_bytes.h"
#include "vector_lanes.h"

/* ---- mnemonics ------------------------------------------------------------
 * The first row whose prefix fits counts; a '$' at its end: the whole name. */
static const struct mnemonic {
  const char *prefix;
  uint8_t flow;
  uint16_t flags;
} mnemonics[] = {
    {"s_and_b", WS_FLOW_AND, WS_EFFECT_WRITES_SCC},
    {"s_nand_b", WS_FLOW_AND, WS_EFFECT_WRITES_SCC},
    {"s_andn2_b", WS_FLOW_AND, WS_EFFECT_WRITES_SCC | WS_EFFECT_INVERT_SECOND},
    {"s_or_b", WS_FLOW_OR, WS_EFFECT_WRITES_SCC},
    {"s_nor_b", WS_FLOW_OR, WS_EFFECT_WRITES_SCC},
    {"s_orn2_b", WS_FLOW_OR, WS_EFFECT_WRITES_SCC | WS_EFFECT_INVERT_SECOND},
    {"s_xor_b", WS_FLOW_BITS, WS_EFFECT_WRITES_SCC},
    {"s_xnor_b", WS_FLOW_BITS, WS_EFFECT_WRITES_SCC},
    {"s_not_b", WS_FLOW_BITS, WS_EFFECT_WRITES_SCC},
    {"s_mov_b", WS_FLOW_BITS, 0},
    {"s_and_saveexec", WS_FLOW_AND, WS_EFFECT_WRITES_SCC | WS_EFFECT_SAVEEXEC},
    {"s_nand_saveexec", WS_FLOW_AND, WS_EFFECT_WRITES_SCC | WS_EFFECT_SAVEEXEC},
    {"s_andn2_saveexec", WS_FLOW_AND,
     WS_EFFECT_WRITES_SCC | WS_EFFECT_SAVEEXEC | WS_EFFECT_INVERT_SECOND},
    {"s_andn1_saveexec", WS_FLOW_AND,
     WS_EFFECT_WRITES_SCC | WS_EFFECT_SAVEEXEC | WS_EFFECT_INVERT_FIRST},
    {"s_or_saveexec", WS_FLOW_OR, WS_EFFECT_WRITES_SCC | WS_EFFECT_SAVEEXEC},
    {"s_nor_saveexec", WS_FLOW_OR, WS_EFFECT_WRITES_SCC | WS_EFFECT_SAVEEXEC},
    {"s_orn2_saveexec", WS_FLOW_OR,
     WS_EFFECT_WRITES_SCC | WS_EFFECT_SAVEEXEC | WS_EFFECT_INVERT_SECOND},
    {"s_orn1_saveexec", WS_FLOW_OR,
     WS_EFFECT_WRITES_SCC | WS_EFFECT_SAVEEXEC | WS_EFFECT_INVERT_FIRST},
    {"s_xor_saveexec", WS_FLOW_BITS, WS_EFFECT_WRITES_SCC | WS_EFFECT_SAVEEXEC},
    {"s_xnor_saveexec", WS_FLOW_BITS,
     WS_EFFECT_WRITES_SCC | WS_EFFECT_SAVEEXEC},
    {"s_andn1_wrexec", WS_FLOW_AND,
     WS_EFFECT_WRITES_SCC | WS_EFFECT_SAVEEXEC | WS_EFFECT_INVERT_FIRST},
    {"s_andn2_wrexec", WS_FLOW_AND,
     WS_EFFECT_WRITES_SCC | WS_EFFECT_SAVEEXEC | WS_EFFECT_INVERT_SECOND},
    {"s_cselect", WS_FLOW_SCALAR, WS_EFFECT_READS_SCC},
    {"s_cmov", WS_FLOW_SCALAR, WS_EFFECT_READS_SCC},
    {"s_addc_u32", WS_FLOW_SCALAR, WS_EFFECT_READS_SCC | WS_EFFECT_WRITES_SCC},
    {"s_subb_u32", WS_FLOW_SCALAR, WS_EFFECT_READS_SCC | WS_EFFECT_WRITES_SCC},
    {"s_cbranch_scc", WS_FLOW_NONE,
     WS_EFFECT_READS_SCC | WS_EFFECT_NEEDS_DEFINED},
    {"s_mul_i32", WS_FLOW_SCALAR, 0},
    {"s_mul_hi", WS_FLOW_SCALAR, 0},
    {"s_mulk", WS_FLOW_SCALAR, 0},
    {"s_movk", WS_FLOW_SCALAR, 0},
    {"s_movrel", WS_FLOW_SCALAR, 0},
    {"s_bfm", WS_FLOW_SCALAR, 0},
    {"s_pack", WS_FLOW_SCALAR, 0},
    {"s_brev", WS_FLOW_SCALAR, 0},
    {"s_ff0", WS_FLOW_SCALAR, 0},
    {"s_ff1", WS_FLOW_SCALAR, 0},
    {"s_flbit", WS_FLOW_SCALAR, 0},
    {"s_sext", WS_FLOW_SCALAR, 0},
    {"s_bitset", WS_FLOW_SCALAR, 0},
    {"s_bitreplicate", WS_FLOW_SCALAR, 0},
    {"s_getpc", WS_FLOW_SCALAR, 0},
    {"s_getreg", WS_FLOW_SCALAR, 0},
    {"s_setreg", WS_FLOW_NONE, WS_EFFECT_NEEDS_DEFINED},
    {"s_set", WS_FLOW_NONE, WS_EFFECT_NEEDS_DEFINED},
    {"v_cndmask", WS_FLOW_SELECT, 0},
    {"v_pk_add_f32", WS_FLOW_PAIRS, 0},
    {"v_pk_mul_f32", WS_FLOW_PAIRS, 0},
    {"v_pk_fma_f32", WS_FLOW_PAIRS, 0},
    {"v_pk_mov_b32", WS_FLOW_PAIRS, 0},
    {"v_mad_u64_u32", WS_FLOW_WIDE, 0},
    {"v_mad_i64_i32", WS_FLOW_WIDE, 0},
    {"v_lshl_add_u64", WS_FLOW_WIDE, 0},
    {"v_lshlrev_b64", WS_FLOW_WIDE, 0},
    {"v_mov_b64", WS_FLOW_PAIRS, 0},
    {"v_readfirstlane", WS_FLOW_OWN, 0},
    {"v_readlane", WS_FLOW_OWN, 0},
    {"v_writelane", WS_FLOW_OWN, 0},
    {"v_cmpx", WS_FLOW_LANES, WS_EFFECT_WRITES_EXEC},
};

static bool fits(const char *name, const char *prefix) {
  return !strncmp(name, prefix, strlen(prefix));
}

static const struct mnemonic *find_mnemonic(const char *name) {
  for (size_t i = 0; i < sizeof mnemonics / sizeof *mnemonics; i++)
    if (fits(name, mnemonics[i].prefix))
      return &mnemonics[i];
  return NULL;
}

static const struct {
  uint8_t flow, queue;
  uint16_t flags;
} class_effects[WS_CLASS_COUNT] = {
    [WS_CLASS_VALU] = {WS_FLOW_LANES, WS_QUEUE_NONE, 0},
    [WS_CLASS_TRANS] = {WS_FLOW_LANES, WS_QUEUE_NONE, 0},
    [WS_CLASS_MFMA] = {WS_FLOW_OWN, WS_QUEUE_NONE, 0},
    [WS_CLASS_SALU] = {WS_FLOW_SCALAR, WS_QUEUE_NONE, WS_EFFECT_WRITES_SCC},
    [WS_CLASS_SMEM] = {WS_FLOW_SCALAR, WS_QUEUE_SCALAR, 0},
    [WS_CLASS_LDS] = {WS_FLOW_OWN, WS_QUEUE_LDS, WS_EFFECT_SHARED_WRITE},
    [WS_CLASS_VMEM] = {WS_FLOW_OWN, WS_QUEUE_VMEM, 0},
    [WS_CLASS_FLAT] = {WS_FLOW_OWN, WS_QUEUE_FLAT, 0},
    [WS_CLASS_BRANCH] = {WS_FLOW_SCALAR, WS_QUEUE_NONE,
                         WS_EFFECT_NEEDS_DEFINED},
    [WS_CLASS_BARRIER] = {WS_FLOW_NONE, WS_QUEUE_NONE, 0},
    [WS_CLASS_WAIT] = {WS_FLOW_NONE, WS_QUEUE_NONE, 0},
    [WS_CLASS_INTERNAL] = {WS_FLOW_NONE, WS_QUEUE_NONE, 0},
};

/* ---- registers ------------------------------------------------------------
 */

static void add_scalars(uint64_t set[2], uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count && i < WS_SGPRS; i++)
    set[i / 64] |= UINT64_C(1) << i % 64;
}

static void add_read(ws_effects *effects, const ws_operand *operand) {
  const uint8_t count = operand->count ? operand->count : 1;
  if (operand->kind == WS_OPERAND_SCALAR)
    add_scalars(effects->scalar_reads, operand->index, count);
  else if (operand->kind == WS_OPERAND_VECTOR &&
           effects->read_count < WS_EFFECT_READS &&
           operand->index + count <= WS_VECTORS)
    effects->reads[effects->read_count++] =
        (ws_register_range){operand->index, count, false};
  else if (operand->kind == WS_OPERAND_SPECIAL &&
           operand->index == WS_SPECIAL_SCC)
    effects->flags |= WS_EFFECT_READS_SCC;
  else if (operand->kind == WS_OPERAND_SPECIAL &&
           operand->index == WS_SPECIAL_VCCZ)
    add_scalars(effects->scalar_reads, WS_SGPR_VCC, 2);
  if (operand->kind == WS_OPERAND_SCALAR && operand->type == 'm')
    effects->lane_mask = (uint8_t)operand->index;
}

static void add_write(ws_effects *effects, const ws_operand *operand) {
  const uint8_t count = operand->count ? operand->count : 1;
  if (operand->kind == WS_OPERAND_SCALAR)
    add_scalars(effects->scalar_writes, operand->index, count);
  else if (operand->kind == WS_OPERAND_VECTOR &&
           effects->write_count < WS_EFFECT_WRITES &&
           operand->index + count <= WS_VECTORS)
    effects->writes[effects->write_count++] =
        (ws_register_range){operand->index, count, false};
}

static bool is_swap(ws_op op) { return op == WS_OP_v_swap_b32; }

static void add_operands(ws_effects *effects, const ws_instruction *in) {
  for (int i = 0; i < in->src_count; i++)
    add_read(effects, &in->src[i]);
  for (int i = 0; i < in->dst_count; i++) {
    add_write(effects, &in->dst[i]);
    if (is_swap((ws_op)in->op))
      add_read(effects, &in->dst[i]);
  }
}

/* ---- memory ---------------------------------------------------------------
 */

/* Data of stores and atomics: buffer instructions name it first, all others
 * behind the address. */
static void mark_data(ws_effects *effects, const char *name,
                      const ws_instruction *in) {
  const bool buffer = fits(name, "buffer_");
  for (int i = 0, at = 0; i < in->src_count; i++) {
    if (in->src[i].kind != WS_OPERAND_VECTOR || at >= effects->read_count)
      continue;
    effects->reads[at++].is_data = buffer ? i == 0 : i > 0;
  }
}

/* What stores narrower than a register take of it. */
static uint8_t data_bytes(const char *name) {
  static const struct {
    const char *part;
    uint8_t bytes;
  } narrow[] = {{"store_byte_d16_hi", 4},
                {"write_b8_d16_hi", 4},
                {"store_short_d16_hi", WS_BYTE_HIGH_HALF},
                {"write_b16_d16_hi", WS_BYTE_HIGH_HALF},
                {"store_byte", 1},
                {"write_b8", 1},
                {"store_short", WS_BYTE_LOW_HALF},
                {"write_b16", WS_BYTE_LOW_HALF}};
  for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
    if (strstr(name, narrow[i].part))
      return narrow[i].bytes;
  return WS_BYTE_ALL;
}

static void add_memory(ws_effects *effects, const char *name,
                       const ws_instruction *in) {
  const bool store = strstr(name, "_store") != NULL;
  const bool atomic = strstr(name, "_atomic") != NULL;
  const bool write = strstr(name, "ds_write") != NULL;
  const bool dma = strstr(name, "load_lds") || in->flags & WS_LDS_DMA;
  if (in->class_ == WS_CLASS_LDS || store || atomic)
    mark_data(effects, name, in);
  if ((store || atomic) && !fits(name, "scratch_"))
    effects->flags |= WS_EFFECT_GLOBAL_STORE | WS_EFFECT_SHARED_WRITE;
  if (strstr(name, "permute") || strstr(name, "swizzle"))
    effects->flags |= WS_EFFECT_LANE_INDEX;
  if (in->class_ == WS_CLASS_LDS && !write && !strstr(name, "_rtn") &&
      !strstr(name, "ds_add"))
    effects->flags &= (uint16_t)~WS_EFFECT_SHARED_WRITE;
  /* A buffer atomic returns into its data register. */
  if (fits(name, "buffer_atomic") && in->flags & WS_SC0 && !in->dst_count)
    add_write(effects, &in->src[0]);
  if (dma)
    effects->write_count = 0;
  if (fits(name, "buffer_wbl2") || fits(name, "buffer_inv"))
    effects->queue = WS_QUEUE_VMEM;
  if (fits(name, "s_dcache") || fits(name, "s_atc"))
    effects->queue = WS_QUEUE_NONE;
}

/* ---- one instruction ------------------------------------------------------
 */

static bool is_memory(const ws_instruction *in) {
  return in->class_ == WS_CLASS_LDS || in->class_ == WS_CLASS_VMEM ||
         in->class_ == WS_CLASS_FLAT || in->class_ == WS_CLASS_SMEM;
}

/* v_div_fmas reads VCC; branches on VCC and EXEC name no operand. */
static void add_implied(ws_effects *effects, const char *name) {
  if (fits(name, "v_div_fmas"))
    add_scalars(effects->scalar_reads, effects->lane_mask = WS_SGPR_VCC, 2);
  if (fits(name, "s_cbranch_vcc"))
    add_scalars(effects->scalar_reads, WS_SGPR_VCC, 2);
  if (effects->flags & (WS_EFFECT_WRITES_EXEC | WS_EFFECT_SAVEEXEC))
    add_scalars(effects->scalar_writes, WS_SGPR_EXEC, 2);
  const uint64_t exec = UINT64_C(3) << (WS_SGPR_EXEC - 64);
  if (effects->scalar_writes[1] & exec)
    effects->flags |= WS_EFFECT_WRITES_EXEC;
}

/* Lane masks are kept bit by bit here, for which the handler has no place. */
static bool writes_plain_mask(const ws_instruction *in) {
  return in->dpp == WS_DPP_NONE && in->dst_count &&
         in->dst[in->dst_count - 1].type == 'm';
}

void ws__effects_of(const ws_instruction *in, ws_effects *effects) {
  const char *name = ws__op_name((ws_op)in->op);
  const int class_ = in->class_ < WS_CLASS_COUNT ? in->class_ : 0;
  *effects = (ws_effects){.flow = class_effects[class_].flow,
                          .queue = class_effects[class_].queue,
                          .flags = class_effects[class_].flags,
                          .lane_mask = UINT8_MAX};
  const struct mnemonic *row = find_mnemonic(name);
  if (row) {
    effects->flow = row->flow;
    effects->flags = row->flags;
  }
  effects->data_bytes = data_bytes(name);
  if (ws__moves_bytes(in))
    effects->flow = WS_FLOW_BYTES;
  if (class_ <= WS_CLASS_TRANS && ws__vector_keeps_poison(in) &&
      !writes_plain_mask(in))
    effects->flow = WS_FLOW_OWN;
  add_operands(effects, in);
  if (is_memory(in))
    add_memory(effects, name, in);
  add_implied(effects, name);
  effects->simple = class_ <= WS_CLASS_TRANS && !effects->flags &&
                    effects->flow <= WS_FLOW_WIDE &&
                    !(effects->scalar_writes[0] | effects->scalar_writes[1]);
  effects->unchecked = class_ == WS_CLASS_MFMA ||
                       (class_ == WS_CLASS_INTERNAL && !effects->flags &&
                        effects->flow == WS_FLOW_NONE);
}

const ws_effects *ws__effects_create(ws_arena *arena, const ws_text *text) {
  ws_effects *all = ws_arena_alloc(arena, text->count * sizeof *all);
  for (uint32_t i = 0; i < text->count; i++)
    if (text->items[i].op < WS_OP_COUNT)
      ws__effects_of(&text->items[i], &all[i]);
  return all;
}
