/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Global, flat and scratch instructions: the address of each lane, then
 * memory_access.c. Buffers are in execute_buffer.c. Source: CDNA3 ISA guide,
 * chapter 10 (flat memory instructions); apertures: machine.h.
 *
 *   global   64-bit address, or 64-bit scalar base + 32-bit lane offset
 *   flat     64-bit address; LDS and scratch by its high half
 *   scratch  scalar and lane offset, either may be absent, within the lane's
 *            private segment
 * and the signed offset of the instruction.
 */
#include "memory_access.h"

static const ws_memory_form *form_of(ws_op op);

/* Index of the operand that holds the scalar base: behind address and data. */
static int base_operand(const ws_memory_form *form) {
  return form->kind == WS_MEMORY_STORE || form->kind == WS_MEMORY_ATOMIC ? 2
                                                                         : 1;
}

/* The registers of the access: of a load its destination, else its data. */
static bool find_rows(ws_wave *wave, ws_transfer *transfer) {
  const ws_instruction *in = transfer->in;
  const ws_memory_form *form = transfer->form;
  int count = ws_dwords(form->width) * (form->compares ? 2 : 1);
  if (form->kind == WS_MEMORY_TO_LDS)
    return true;
  return ws__set_rows(wave, transfer,
                      form->kind == WS_MEMORY_LOAD ? &in->dst[0] : &in->src[1],
                      count);
}

static bool begin(ws_wave *wave, const ws_instruction *in,
                  ws_transfer *transfer) {
  const ws_memory_form *form = form_of((ws_op)in->op);
  *transfer = (ws_transfer){.in = in,
                            .form = form,
                            .width = form->width,
                            .mask = ws_exec(wave),
                            .address = wave->access.address,
                            .first = -1};
  ws__begin_access(wave, in, form);
  wave->access.mask = transfer->mask;
  return find_rows(wave, transfer);
}

/* First register of the old values of an atomic; -1: none. -2: a fault. */
static int result_of(ws_wave *wave, const ws_transfer *transfer) {
  const ws_instruction *in = transfer->in;
  if (!in->dst_count || transfer->form->kind != WS_MEMORY_ATOMIC)
    return -1;
  return ws__rows(wave, in, &in->dst[0], ws_dwords(transfer->width))
             ? in->dst[0].index
             : -2;
}

static bool address_global(ws_wave *wave, const ws_transfer *transfer) {
  const ws_instruction *in = transfer->in;
  const ws_operand *scalar = &in->src[base_operand(transfer->form)];
  bool is_global = scalar->kind != WS_OPERAND_NONE;
  const ws_vector *offset = ws__rows(wave, in, &in->src[0], is_global ? 1 : 2);
  uint64_t *address = wave->access.address;
  uint64_t base = (uint64_t)(int64_t)in->imm;
  if (!offset)
    return false;
  if (is_global) {
    base += ws__scalar_value(wave, scalar);
    for (int lane = 0; lane < WS_LANES; lane++)
      address[lane] = base + offset->u32[lane];
    return true;
  }
  for (int lane = 0; lane < WS_LANES; lane++)
    address[lane] =
        base + (offset[0].u32[lane] | (uint64_t)offset[1].u32[lane] << 32);
  return true;
}

static void execute_global(ws_wave *wave, const ws_instruction *in) {
  ws_transfer transfer;
  if (!begin(wave, in, &transfer) || !address_global(wave, &transfer))
    return;
  int result = result_of(wave, &transfer);
  if (transfer.form->kind == WS_MEMORY_TO_LDS)
    ws__transfer_to_lds(wave, &transfer, transfer.mask);
  else if (transfer.form->kind != WS_MEMORY_ATOMIC)
    ws__transfer_global(wave, &transfer);
  else if (result > -2)
    ws__modify_global(wave, &transfer, result);
}

/* ---- flat ------------------------------------------------------------------
 */

/* Lanes whose address has this high half. */
static uint64_t lanes_in(const uint64_t address[WS_LANES], uint64_t mask,
                         uint32_t high) {
  uint64_t lanes = 0;
  WS_EACH_LANE(lane, mask)
  lanes |= (uint64_t)(address[lane] >> 32 == high) << lane;
  return lanes;
}

static bool has_aperture(const uint64_t address[WS_LANES], uint64_t mask) {
  if (!mask)
    return false;
  ws_span_of_lanes span = ws__lanes_span(address, mask);
  return span.high >> 32 >= WS_SHARED_APERTURE;
}

/* A part of the lanes, at the low halves of their addresses. */
static bool access_part(ws_wave *wave, const ws_transfer *whole, uint64_t mask,
                        int result, bool is_lds) {
  uint64_t low[WS_LANES];
  ws_transfer part = *whole;
  for (int lane = 0; lane < WS_LANES; lane++)
    low[lane] = (uint32_t)whole->address[lane];
  part.mask = mask;
  part.address = low;
  bool atomic = whole->form->kind == WS_MEMORY_ATOMIC;
  if (!mask)
    return true;
  if (mask == whole->mask && is_lds) {
    memcpy(wave->access.address, low, sizeof low);
    wave->access.is_lds = true;
  }
  if (is_lds)
    return atomic ? ws__modify_lds(wave, &part, result)
                  : ws__transfer_lds(wave, &part);
  if (!atomic)
    return ws__transfer_scratch(wave, &part);
  ws__fault(wave, whole->in, -1, "unsupported", "flat atomic on scratch");
  return false;
}

static void execute_flat(ws_wave *wave, const ws_instruction *in) {
  ws_transfer transfer;
  if (!begin(wave, in, &transfer) || !address_global(wave, &transfer))
    return;
  int result = result_of(wave, &transfer);
  uint64_t lds = 0, private = 0;
  if (has_aperture(transfer.address, transfer.mask)) {
    lds = lanes_in(transfer.address, transfer.mask, WS_SHARED_APERTURE);
    private = lanes_in(transfer.address, transfer.mask, WS_PRIVATE_APERTURE);
  }
  ws_transfer global = transfer;
  global.mask &= ~(lds | private);
  if (result == -2)
    return;
  if (!(transfer.form->kind == WS_MEMORY_ATOMIC
            ? ws__modify_global(wave, &global, result)
            : ws__transfer_global(wave, &global)))
    return;
  if (lds | private) {
    uint64_t address[WS_LANES];
    memcpy(address, transfer.address, sizeof address);
    transfer.address = address;
    if (access_part(wave, &transfer, private, result, false))
      access_part(wave, &transfer, lds, result, true);
    if (!wave->access.is_lds)
      wave->access.mask = global.mask;
  }
}

/* ---- scratch ---------------------------------------------------------------
 */

/* What the clock sees: the lanes of a wave side by side, as the hardware
 * interleaves scratch; three dwords take the room of four. */
static void describe_scratch(ws_wave *wave, const ws_transfer *transfer) {
  uint64_t bytes = transfer->width.bytes;
  uint64_t shift = bytes <= 4 ? 2 : bytes <= 8 ? 3 : 4;
  uint64_t base = (uint64_t)(uintptr_t)wave->group->scratch +
                  (uint64_t)wave->index * WS_LANES * wave->group->scratch_bytes;
  for (uint64_t lane = 0; lane < WS_LANES; lane++) {
    uint64_t offset = transfer->address[lane];
    wave->access.address[lane] =
        base + (((offset >> shift) * WS_LANES + lane) << shift) +
        (offset & ((1ull << shift) - 1));
  }
}

static void execute_scratch(ws_wave *wave, const ws_instruction *in) {
  ws_transfer transfer;
  uint64_t address[WS_LANES];
  if (!begin(wave, in, &transfer))
    return;
  const ws_operand *lanes = &in->src[0];
  const ws_operand *scalar = &in->src[base_operand(transfer.form)];
  const ws_vector *offset = NULL;
  uint64_t base = (uint64_t)(int64_t)in->imm;
  if (lanes->kind != WS_OPERAND_NONE &&
      !(offset = ws__rows(wave, in, lanes, 1)))
    return;
  if (scalar->kind != WS_OPERAND_NONE)
    base += (uint32_t)ws__scalar_value(wave, scalar);
  for (int lane = 0; lane < WS_LANES; lane++)
    address[lane] = base + (offset ? offset->u32[lane] : 0);
  transfer.address = address;
  describe_scratch(wave, &transfer);
  if (transfer.form->kind == WS_MEMORY_TO_LDS)
    ws__fault(wave, in, -1, "unsupported", "load from scratch to LDS");
  else
    ws__transfer_scratch(wave, &transfer);
}

/* ---- the table -------------------------------------------------------------
 */

#define LOAD(family, name, ...)                                                \
  [WS_OP_##family##_load_##                                                    \
      name] = {execute_##family, WS_MEMORY_LOAD, {__VA_ARGS__}, NULL, false}
#define STORE(family, name, ...)                                               \
  [WS_OP_##family##_store_##                                                   \
      name] = {execute_##family, WS_MEMORY_STORE, {__VA_ARGS__}, NULL, false}
#define TO_LDS(family, name, ...)                                              \
  [WS_OP_##family##_load_lds_##                                                \
      name] = {execute_##family, WS_MEMORY_TO_LDS, {__VA_ARGS__}, NULL, false}
#define ATOMIC(family, name, bytes, modify)                                    \
  [WS_OP_##family##_atomic_##name] = {execute_##family,                        \
                                      WS_MEMORY_ATOMIC,                        \
                                      {bytes, false, 0},                       \
                                      ws__modify_##modify,                     \
                                      false}
#define COMPARE(family, name, bytes)                                           \
  [WS_OP_##family##_atomic_##name] = {execute_##family,                        \
                                      WS_MEMORY_ATOMIC,                        \
                                      {bytes, false, 0},                       \
                                      ws__modify_compare_second,               \
                                      true}
#include "memory_forms.inc"

static const ws_memory_form forms[WS_OP_COUNT] = {
    LOADS(global),       STORES(global),       ATOMICS(global),
    BF16_ATOMIC(global), LOADS(flat),          STORES(flat),
    ATOMICS(flat),       BF16_ATOMIC(flat),    LOADS(scratch),
    STORES(scratch),     LOADS_TO_LDS(global), LOADS_TO_LDS(scratch),
};

static const ws_memory_form *form_of(ws_op op) { return &forms[op]; }

ws_execute ws__execute_memory(ws_op op) {
  if ((unsigned)op >= WS_OP_COUNT)
    return NULL;
  return forms[op].execute ? forms[op].execute : ws__execute_buffer(op);
}
