/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What instructions occupy, as far as their opcode says it. Matrix
 * instructions: FLOPs by the shape in their name over the rate of their type,
 * which gives the clocks of AMD's matrix calculator (16x16x32 fp8: 16).
 */
#include "clock.h"

#include <stdlib.h>

static const uint8_t unit_of_class[WS_CLASS_COUNT] = {
    [WS_CLASS_VALU] = WS_UNIT_VALU,     [WS_CLASS_TRANS] = WS_UNIT_VALU,
    [WS_CLASS_MFMA] = WS_UNIT_VALU,     [WS_CLASS_SALU] = WS_UNIT_SCALAR,
    [WS_CLASS_SMEM] = WS_UNIT_SCALAR,   [WS_CLASS_LDS] = WS_UNIT_LDS,
    [WS_CLASS_VMEM] = WS_UNIT_VMEM,     [WS_CLASS_FLAT] = WS_UNIT_VMEM,
    [WS_CLASS_BRANCH] = WS_UNIT_BRANCH, [WS_CLASS_BARRIER] = WS_UNIT_NONE,
    [WS_CLASS_WAIT] = WS_UNIT_NONE,     [WS_CLASS_INTERNAL] = WS_UNIT_NONE,
};

/* Rate by the type of A and B, as a share of the 8-bit rate. */
static const struct {
  const char *suffix;
  int slower;
} mfma_rates[] = {
    {"fp8", 1}, {"bf8", 1},  {"i8", 1},   {"bf16_1k", 2}, {"bf16", 2},
    {"f16", 2}, {"xf32", 4}, {"f32", 16}, {"f64", 16},
};

static int slower_by_type(const char *name) {
  const size_t length = strlen(name);
  for (size_t i = 0; i < sizeof mfma_rates / sizeof *mfma_rates; i++) {
    size_t suffix = strlen(mfma_rates[i].suffix);
    if (length > suffix &&
        !strcmp(name + length - suffix, mfma_rates[i].suffix))
      return mfma_rates[i].slower;
  }
  return 1;
}

/* "v_mfma_f32_16x16x4_4b_f16": extents, and blocks when given. */
int ws__mfma_clocks(const char *name, const ws__clock_constants *constants) {
  const char *shape = name;
  long flops = 0;
  while ((shape = strchr(shape, '_')) != NULL) {
    char *end;
    long m = strtol(++shape, &end, 10);
    if (end == shape || *end != 'x')
      continue;
    long n = strtol(end + 1, &end, 10), k = strtol(end + 1, &end, 10);
    flops = 2 * m * n * k;
    long blocks = *end == '_' ? strtol(end + 1, &end, 10) : 0;
    flops *= blocks && *end == 'b' ? blocks : 1;
    break;
  }
  if (strstr(name, "smfmac")) /* of four values of A two are given */
    flops /= 2;
  long clocks = flops * slower_by_type(name) / constants->mfma_flops;
  return (int)(clocks < constants->mfma_least ? constants->mfma_least : clocks);
}

/* ---- registers that a VALU instruction reads -------------------------------
 */

typedef struct reads {
  int operands;  /* in vector registers */
  int registers; /* of the widest */
  int same;      /* most operands that are the same register */
} reads;

static reads reads_of(const ws_instruction *in) {
  reads r = {0, 0, 0};
  for (int i = 0; i < in->src_count; i++) {
    int same = 0;
    if (in->src[i].kind != WS_OPERAND_VECTOR)
      continue;
    for (int j = 0; j <= i; j++)
      same += in->src[j].kind == WS_OPERAND_VECTOR &&
              in->src[j].index == in->src[i].index;
    r.operands++;
    if (in->src[i].count > r.registers)
      r.registers = in->src[i].count;
    if (same > r.same)
      r.same = same;
  }
  return r;
}

/* micro [vector_cu]. In 4 clk, two waves: add and mul of two registers, FMA of
 * three; not those that read a register twice, nor FMA of f64. 5 clk in place
 * of 4: f64 add and mul of two registers (two waves share them), FMA of f64 of
 * three, FMA of one register three times (a wave alone). Modifiers and other
 * widths were not measured: alone. */
static void add_operands(const ws_instruction *in, ws_cost *cost,
                         const ws__clock_constants *constants) {
  const reads r = reads_of(in);
  const bool plain = !(in->flags & WS_IS_SDWA) && in->dpp == WS_DPP_NONE;
  const bool is_f64 = in->src_count && in->src[0].type == 'F';
  const bool wide = r.registers > 1;
  const bool distinct = r.operands > 1 && r.same == 1;
  cost->pairs = plain && distinct && (!wide || (is_f64 && r.operands == 2));
  const uint8_t more = (uint8_t)constants->valu_more;
  if (cost->pairs && wide)
    cost->slot_more = more;
  else if (r.same > 2 || (is_f64 && distinct && r.operands > 2))
    cost->wave_more = more;
}

static ws_cost cost_of(const ws_instruction *in,
                       const ws__clock_constants *constants) {
  ws_cost cost = {.unit = unit_of_class[in->class_]};
  if (cost.unit == WS_UNIT_VALU)
    cost.valu = (int16_t)(in->class_ == WS_CLASS_TRANS ? constants->trans
                                                       : constants->valu);
  if (in->class_ == WS_CLASS_VALU)
    add_operands(in, &cost, constants);
  if (in->class_ == WS_CLASS_MFMA)
    cost.mfma = (int16_t)ws__mfma_clocks(ws__op_name((ws_op)in->op), constants);
  return cost;
}

ws_cost *ws__clock_costs(ws_arena *arena, const ws_text *text,
                         const ws__clock_constants *constants) {
  ws_cost *costs = ws_arena_alloc(arena, text->count * sizeof *costs);
  for (uint32_t i = 0; i < text->count; i++)
    costs[i] = cost_of(&text->items[i], constants);
  return costs;
}
