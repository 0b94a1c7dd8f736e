/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * DS instructions. One table says for each opcode how it accesses LDS (kind),
 * how wide, and what it computes; one function per kind does it. Source: CDNA3
 * ISA guide, chapters 11 and 12 (DS). LDS is in unaligned access mode under
 * HSA: what is 4 bytes wide or more needs 4-byte alignment, atomics natural.
 *
 * Threads: a workgroup runs on one thread, so atomics are plain here, in the
 * order of the lanes.
 */
#include "lane_patterns.h"
#include "lds_shadow.h"
#include "memory_lanes.h"

typedef struct ds_form {
  ws_execute execute;
  ws_width width;
  uint16_t stride; /* of the offsets of pairs */
  bool returns;    /* the old value */
  ws_modify modify;
} ds_form;

static const ds_form *form_of(ws_op op);

/* ---- checks ----------------------------------------------------------------
 */

/* Addresses that LDS does not have are faults, or in an unchecked group moved
 * to where nothing is. */
static bool check(ws_wave *wave, const ws_instruction *in,
                  uint64_t address[WS_LANES], uint64_t mask, uint32_t bytes,
                  uint32_t alignment) {
  if (!mask)
    return true;
  ws_span_of_lanes span = ws__lanes_span(address, mask);
  if (span.high + bytes <= wave->group->lds_bytes &&
      !(span.bits & (alignment - 1)))
    return true;
  return ws__lds_lanes(wave, in, address, mask, bytes, alignment);
}

static uint32_t alignment_of(const ds_form *form) {
  uint32_t bytes = form->width.bytes;
  return form->modify || bytes < 4 ? bytes : 4;
}

/* Addresses of the lanes; also starts wave->access. */
static bool address_lanes(ws_wave *wave, const ws_instruction *in,
                          const ds_form *form, uint32_t offset, bool second) {
  ws_access *access = &wave->access;
  uint64_t *address = second ? access->second : access->address;
  const ws_vector *base = ws__rows(wave, in, &in->src[0], 1);
  if (!base)
    return false;
  for (int lane = 0; lane < WS_LANES; lane++)
    address[lane] = base->u32[lane] + offset;
  return check(wave, in, address, access->mask, form->width.bytes,
               alignment_of(form));
}

static bool begin(ws_wave *wave, const ws_instruction *in,
                  const ds_form *form) {
  ws_access *access = &wave->access;
  access->mask = ws_exec(wave);
  access->bytes = form->width.bytes;
  access->pair = form->stride != 0;
  access->store = access->atomic = false;
  access->is_lds = true;
  if (in->flags & WS_GDS) {
    ws__fault(wave, in, -1, "unsupported", "global data share");
    return false;
  }
  if (wave->group->shadow)
    ws__lds_shadow_issue(wave, false);
  return true;
}

/* ---- loads and stores ------------------------------------------------------
 */

static void touch(ws_wave *wave, const ws_instruction *in, ws_lds_use use,
                  const uint64_t address[WS_LANES], uint32_t bytes) {
  if (wave->group->shadow)
    ws__lds_shadow_touch(wave, in, use, wave->access.mask, address, bytes);
}

static void load_poison(ws_wave *wave, int index,
                        const uint64_t address[WS_LANES], ws_width width) {
  struct ws_lds_shadow *shadow = wave->group->shadow;
  uintptr_t base = shadow ? (uintptr_t)ws__lds_shadow_poison(shadow) : 0;
  if (wave->group->checked)
    ws__lanes_load_poison(wave, index, base, address, wave->access.mask, width);
}

static void load(ws_wave *wave, const ws_instruction *in, ws_vector *rows,
                 int index, const uint64_t address[WS_LANES], ws_width width) {
  touch(wave, in, WS_LDS_READ, address, width.bytes);
  ws__lanes_load(rows, (uintptr_t)wave->group->lds, address, wave->access.mask,
                 width);
  load_poison(wave, index, address, width);
}

static void store(ws_wave *wave, const ws_instruction *in,
                  const ws_operand *data, const uint64_t address[WS_LANES],
                  ws_width width) {
  struct ws_lds_shadow *shadow = wave->group->shadow;
  const ws_vector *rows = ws__rows(wave, in, data, ws_dwords(width));
  wave->access.store = true;
  if (!rows)
    return;
  if (shadow)
    ws__lds_shadow_write(wave, in, wave->access.mask, address, rows, width);
  ws__lanes_store(rows, (uintptr_t)wave->group->lds, address, wave->access.mask,
                  width);
  if (shadow)
    ws__lanes_store_poison(wave, data->index,
                           (uintptr_t)ws__lds_shadow_poison(shadow), address,
                           wave->access.mask, width);
}

static void read_one(ws_wave *wave, const ws_instruction *in) {
  const ds_form *form = form_of((ws_op)in->op);
  ws_vector *rows = ws__rows(wave, in, &in->dst[0], ws_dwords(form->width));
  if (rows && begin(wave, in, form) &&
      address_lanes(wave, in, form, (uint32_t)in->imm, false))
    load(wave, in, rows, in->dst[0].index, wave->access.address, form->width);
}

static void write_one(ws_wave *wave, const ws_instruction *in) {
  const ds_form *form = form_of((ws_op)in->op);
  if (begin(wave, in, form) &&
      address_lanes(wave, in, form, (uint32_t)in->imm, false))
    store(wave, in, &in->src[1], wave->access.address, form->width);
}

/* Both addresses of a pair. */
static bool address_pair(ws_wave *wave, const ws_instruction *in,
                         const ds_form *form) {
  return begin(wave, in, form) &&
         address_lanes(wave, in, form, (uint32_t)in->imm * form->stride,
                       false) &&
         address_lanes(wave, in, form, (uint32_t)in->imm2 * form->stride, true);
}

static void read_pair(ws_wave *wave, const ws_instruction *in) {
  const ds_form *form = form_of((ws_op)in->op);
  int count = ws_dwords(form->width), index = in->dst[0].index;
  ws_vector *rows = ws__rows(wave, in, &in->dst[0], 2 * count);
  if (!rows || !address_pair(wave, in, form))
    return;
  load(wave, in, rows, index, wave->access.address, form->width);
  load(wave, in, rows + count, index + count, wave->access.second, form->width);
}

static void write_pair(ws_wave *wave, const ws_instruction *in) {
  const ds_form *form = form_of((ws_op)in->op);
  if (!address_pair(wave, in, form))
    return;
  store(wave, in, &in->src[1], wave->access.address, form->width);
  store(wave, in, &in->src[2], wave->access.second, form->width);
}

/* LDS at M0 + offset + 4 * lane. */
static bool address_by_lane(ws_wave *wave, const ws_instruction *in,
                            const ds_form *form) {
  uint32_t base = (wave->sgpr[WS_SGPR_M0] & 0xffff) + (uint32_t)in->imm;
  for (uint32_t lane = 0; lane < WS_LANES; lane++)
    wave->access.address[lane] = base + 4 * lane;
  return begin(wave, in, form) &&
         check(wave, in, wave->access.address, wave->access.mask, 4, 4);
}

static void read_by_lane(ws_wave *wave, const ws_instruction *in) {
  const ds_form *form = form_of((ws_op)in->op);
  ws_vector *rows = ws__rows(wave, in, &in->dst[0], 1);
  if (rows && address_by_lane(wave, in, form))
    load(wave, in, rows, in->dst[0].index, wave->access.address, form->width);
}

static void write_by_lane(ws_wave *wave, const ws_instruction *in) {
  const ds_form *form = form_of((ws_op)in->op);
  if (address_by_lane(wave, in, form))
    store(wave, in, &in->src[0], wave->access.address, form->width);
}

/* ---- atomics ---------------------------------------------------------------
 */

static uint64_t lane_value(const ws_vector *rows, uint64_t lane, int count) {
  uint64_t value = rows[0].u32[lane];
  return count == 2 ? value | (uint64_t)rows[1].u32[lane] << 32 : value;
}

/* rows of the data operands; absent ones stay NULL. */
typedef struct ds_operands {
  const ws_vector *data[2];
  ws_vector *result;
  uint64_t poison; /* lanes of which some operand was never written */
} ds_operands;

static bool read_operands(ws_wave *wave, const ws_instruction *in,
                          const ds_form *form, ds_operands *out) {
  int count = ws_dwords(form->width);
  *out = (ds_operands){0};
  for (int i = 0; i + 1 < in->src_count && i < 2; i++) {
    out->data[i] = ws__rows(wave, in, &in->src[i + 1], count);
    if (!out->data[i])
      return false;
    for (int row = 0; row < count; row++)
      out->poison |= wave->vector_poison[in->src[i + 1].index + row];
  }
  if (form->returns)
    out->result =
        ws__rows(wave, in, &in->dst[0], count * (form->stride ? 2 : 1));
  return out->data[0] && (out->result || !form->returns);
}

static uint64_t modify_lane(ws_wave *wave, const ds_form *form,
                            uint64_t address, uint64_t data, uint64_t data2) {
  uint8_t *at = wave->group->lds + address;
  uint32_t narrow;
  uint64_t old, value;
  if (form->width.bytes == 4) {
    memcpy(&narrow, at, 4);
    old = narrow;
    narrow = (uint32_t)form->modify(old, data, data2);
    memcpy(at, &narrow, 4);
    return old;
  }
  memcpy(&old, at, 8);
  value = form->modify(old, data, data2);
  memcpy(at, &value, 8);
  return old;
}

static void set_lane(ws_vector *rows, uint64_t lane, int count,
                     uint64_t value) {
  rows[0].u32[lane] = (uint32_t)value;
  if (count == 2)
    rows[1].u32[lane] = (uint32_t)(value >> 32);
}

/* The old value's poison goes to the result; a value made with poison is
 * poison. */
static void modify_poison(ws_wave *wave, const ds_form *form,
                          const uint64_t address[WS_LANES], int index,
                          uint64_t poison) {
  struct ws_lds_shadow *shadow = wave->group->shadow;
  if (!shadow)
    return;
  uint8_t *bytes = ws__lds_shadow_poison(shadow);
  uint64_t old = 0;
  WS_EACH_LANE(lane, wave->access.mask) {
    uint8_t *at = bytes + address[lane];
    bool was = false;
    for (int i = 0; i < form->width.bytes; i++)
      was |= at[i] != 0;
    old |= (uint64_t)was << lane;
    bool stays = form->modify == ws__modify_swap ? false : was;
    memset(at, stays || (poison >> lane & 1), form->width.bytes);
  }
  for (int row = 0; form->returns && row < ws_dwords(form->width); row++)
    ws_set_lane_poison(wave, index + row, wave->access.mask, old);
}

static void modify_one(ws_wave *wave, const ws_instruction *in) {
  const ds_form *form = form_of((ws_op)in->op);
  int count = ws_dwords(form->width);
  ds_operands operands;
  if (!begin(wave, in, form) ||
      !address_lanes(wave, in, form, (uint32_t)in->imm, false) ||
      !read_operands(wave, in, form, &operands))
    return;
  const uint64_t *address = wave->access.address;
  wave->access.store = wave->access.atomic = true;
  touch(wave, in, WS_LDS_ATOMIC, address, form->width.bytes);
  modify_poison(wave, form, address, in->dst[0].index, operands.poison);
  WS_EACH_LANE(lane, wave->access.mask) {
    uint64_t data = lane_value(operands.data[0], lane, count);
    uint64_t data2 =
        operands.data[1] ? lane_value(operands.data[1], lane, count) : 0;
    uint64_t old = modify_lane(wave, form, address[lane], data, data2);
    if (form->returns)
      set_lane(operands.result, lane, count, old);
  }
}

/* ds_wrxchg2: each lane exchanges two values. */
static void exchange_pair(ws_wave *wave, const ws_instruction *in) {
  const ds_form *form = form_of((ws_op)in->op);
  int count = ws_dwords(form->width), index = in->dst[0].index;
  ds_operands operands;
  if (!address_pair(wave, in, form) ||
      !read_operands(wave, in, form, &operands) || !operands.data[1])
    return;
  wave->access.store = wave->access.atomic = true;
  touch(wave, in, WS_LDS_ATOMIC, wave->access.address, form->width.bytes);
  touch(wave, in, WS_LDS_ATOMIC, wave->access.second, form->width.bytes);
  uint64_t data[2][WS_LANES];
  for (int i = 0; i < 2; i++)
    WS_EACH_LANE(lane, wave->access.mask)
  data[i][lane] = lane_value(operands.data[i], lane, count);
  for (int i = 0; i < 2; i++) {
    const uint64_t *address = i ? wave->access.second : wave->access.address;
    modify_poison(wave, form, address, index + i * count, operands.poison);
    WS_EACH_LANE(lane, wave->access.mask)
    set_lane(operands.result + i * count, lane, count,
             modify_lane(wave, form, address[lane], data[i][lane], 0));
  }
}

/* ds_append, ds_consume: once per wave, at M0 + offset, by the number of active
 * lanes. */
static void count_lanes(ws_wave *wave, const ws_instruction *in) {
  const ds_form *form = form_of((ws_op)in->op);
  ws_vector *result = ws__rows(wave, in, &in->dst[0], 1);
  uint64_t exec = ws_exec(wave);
  if (!result || !begin(wave, in, form) || !exec)
    return;
  wave->access.mask = exec & -exec;
  wave->access.store = wave->access.atomic = true;
  uint64_t address = (wave->sgpr[WS_SGPR_M0] & 0xffff) + (uint32_t)in->imm;
  uint64_t *first = &wave->access.address[__builtin_ctzll(exec)];
  *first = address;
  if (!check(wave, in, wave->access.address, wave->access.mask, 4, 4))
    return;
  touch(wave, in, WS_LDS_ATOMIC, wave->access.address, 4);
  modify_poison(wave, form, wave->access.address, in->dst[0].index, 0);
  bool poisoned = wave->vector_poison[in->dst[0].index] & wave->access.mask;
  uint64_t old =
      modify_lane(wave, form, address, (uint64_t)__builtin_popcountll(exec), 0);
  WS_EACH_LANE(lane, exec) result->u32[lane] = (uint32_t)old;
  ws_set_lane_poison(wave, in->dst[0].index, exec, poisoned ? exec : 0);
}

/* ---- lane exchange, without memory -----------------------------------------
 */

/* Lane i gets the data of lane from[i] if that is active, else 0. */
static void gather_lanes(ws_wave *wave, const ws_instruction *in,
                         const ws_operand *data, const uint8_t from[WS_LANES]) {
  const ws_vector *source = ws__rows(wave, in, data, 1);
  ws_vector *result = ws__rows(wave, in, &in->dst[0], 1);
  if (!source || !result)
    return;
  ws_vector old = *source;
  uint64_t exec = ws_exec(wave), poison = 0;
  uint64_t old_poison = wave->vector_poison[data->index] & exec;
  WS_EACH_LANE(lane, exec) {
    result->u32[lane] = exec >> from[lane] & 1 ? old.u32[from[lane]] : 0;
    poison |= (old_poison >> from[lane] & 1) << lane;
  }
  ws_set_lane_poison(wave, in->dst[0].index, exec, poison);
}

static bool begin_exchange(ws_wave *wave, const ws_instruction *in) {
  bool begun = begin(wave, in, form_of((ws_op)in->op));
  wave->access.mask = 0;
  return begun;
}

static void backward_permute(ws_wave *wave, const ws_instruction *in) {
  const ws_vector *address = ws__rows(wave, in, &in->src[0], 1);
  uint8_t from[WS_LANES];
  if (!address || !begin_exchange(wave, in))
    return;
  for (int lane = 0; lane < WS_LANES; lane++)
    from[lane] = (address->u32[lane] + (uint32_t)in->imm) >> 2 & 63;
  gather_lanes(wave, in, &in->src[1], from);
}

/* The highest active lane that sends to a lane wins; a lane that nobody sends
 * to gets 0. */
static void forward_permute(ws_wave *wave, const ws_instruction *in) {
  const ws_vector *address = ws__rows(wave, in, &in->src[0], 1);
  const ws_vector *data = ws__rows(wave, in, &in->src[1], 1);
  ws_vector *result = ws__rows(wave, in, &in->dst[0], 1);
  ws_vector sent = {{0}};
  uint64_t exec = ws_exec(wave), poison = 0;
  if (!address || !data || !result || !begin_exchange(wave, in))
    return;
  uint64_t data_poison = wave->vector_poison[in->src[1].index];
  WS_EACH_LANE(lane, exec) {
    uint32_t to = (address->u32[lane] + (uint32_t)in->imm) >> 2 & 63;
    sent.u32[to] = data->u32[lane];
    poison = (poison & ~(1ull << to)) | (data_poison >> lane & 1) << to;
  }
  WS_EACH_LANE(lane, exec) result->u32[lane] = sent.u32[lane];
  ws_set_lane_poison(wave, in->dst[0].index, exec, poison);
}

static void swizzle(ws_wave *wave, const ws_instruction *in) {
  uint8_t from[WS_LANES];
  if (!begin_exchange(wave, in))
    return;
  for (int lane = 0; lane < WS_LANES; lane++)
    from[lane] = (uint8_t)ws_swizzle_source((uint32_t)in->imm & 0xffff, lane);
  gather_lanes(wave, in, &in->src[0], from);
}

static void nothing(ws_wave *wave, const ws_instruction *in) {
  begin_exchange(wave, in);
}

static void global_wave_sync(ws_wave *wave, const ws_instruction *in) {
  ws__fault(wave, in, -1, "unsupported", "global wave sync");
}

/* ---- the table -------------------------------------------------------------
 */

#define READ(name, ...) [WS_OP_ds_read_##name] = {read_one, {__VA_ARGS__}}
#define WRITE(name, ...) [WS_OP_ds_write_##name] = {write_one, {__VA_ARGS__}}
#define PAIR(name, execute, bytes, stride)                                     \
  [WS_OP_ds_##name] = {execute, {bytes}, stride}
#define PAIRS(bits)                                                            \
  PAIR(read2_b##bits, read_pair, bits / 8, bits / 8),                          \
      PAIR(read2st64_b##bits, read_pair, bits / 8, bits * 8),                  \
      PAIR(write2_b##bits, write_pair, bits / 8, bits / 8),                    \
      PAIR(write2st64_b##bits, write_pair, bits / 8, bits * 8)
#define MODIFY(name, bytes, returns, function)                                 \
  [WS_OP_ds_##name] = {modify_one, {bytes}, 0, returns, ws__modify_##function}
/* With and without the old value. */
#define MODIFIES(name, type, bytes, function)                                  \
  MODIFY(name##_##type, bytes, false, function),                               \
      MODIFY(name##_rtn_##type, bytes, true, function)
#define INTEGERS(bits)                                                         \
  MODIFIES(add, u##bits, bits / 8, add##bits),                                 \
      MODIFIES(sub, u##bits, bits / 8, sub##bits),                             \
      MODIFIES(rsub, u##bits, bits / 8, rsub##bits),                           \
      MODIFIES(inc, u##bits, bits / 8, inc##bits),                             \
      MODIFIES(dec, u##bits, bits / 8, dec##bits),                             \
      MODIFIES(min, i##bits, bits / 8, smin##bits),                            \
      MODIFIES(max, i##bits, bits / 8, smax##bits),                            \
      MODIFIES(min, u##bits, bits / 8, umin##bits),                            \
      MODIFIES(max, u##bits, bits / 8, umax##bits),                            \
      MODIFIES(and, b##bits, bits / 8, and),                                   \
      MODIFIES(or, b##bits, bits / 8, or),                                     \
      MODIFIES(xor, b##bits, bits / 8, xor),                                   \
      MODIFIES(mskor, b##bits, bits / 8, mskor),                               \
      MODIFIES(cmpst, b##bits, bits / 8, compare),                             \
      MODIFIES(cmpst, f##bits, bits / 8, compare_f##bits),                     \
      MODIFIES(add, f##bits, bits / 8, add_f##bits),                           \
      MODIFIES(min, f##bits, bits / 8, min_f##bits),                           \
      MODIFIES(max, f##bits, bits / 8, max_f##bits),                           \
      MODIFY(wrxchg_rtn_b##bits, bits / 8, true, swap)
#define EXCHANGE(name, bytes, stride)                                          \
  [WS_OP_ds_wrxchg2##                                                          \
      name] = {exchange_pair, {bytes}, stride, true, ws__modify_swap}
#define OTHER(name, execute) [WS_OP_ds_##name] = {execute, {4}}

static const ds_form forms[WS_OP_COUNT] = {
    READ(u8, 1),
    READ(i8, 1, true),
    READ(u16, 2),
    READ(i16, 2, true),
    READ(u8_d16, 1, false, 1),
    READ(u8_d16_hi, 1, false, 2),
    READ(i8_d16, 1, true, 1),
    READ(i8_d16_hi, 1, true, 2),
    READ(u16_d16, 2, false, 1),
    READ(u16_d16_hi, 2, false, 2),
    READ(b32, 4),
    READ(b64, 8),
    READ(b96, 12),
    READ(b128, 16),
    WRITE(b8, 1),
    WRITE(b8_d16_hi, 1, false, 2),
    WRITE(b16, 2),
    WRITE(b16_d16_hi, 2, false, 2),
    WRITE(b32, 4),
    WRITE(b64, 8),
    WRITE(b96, 12),
    WRITE(b128, 16),
    PAIRS(32),
    PAIRS(64),
    INTEGERS(32),
    INTEGERS(64),
    EXCHANGE(_rtn_b32, 4, 4),
    EXCHANGE(_rtn_b64, 8, 8),
    EXCHANGE(st64_rtn_b32, 4, 256),
    EXCHANGE(st64_rtn_b64, 8, 512),
    MODIFIES(pk_add, f16, 4, pk_add_f16),
    MODIFIES(pk_add, bf16, 4, pk_add_bf16),
    MODIFY(condxchg32_rtn_b64, 8, true, conditional),
    MODIFY(wrap_rtn_b32, 4, true, wrap32),
    MODIFY(append, 4, true, add32),
    MODIFY(consume, 4, true, sub32),
    OTHER(read_addtid_b32, read_by_lane),
    OTHER(write_addtid_b32, write_by_lane),
    OTHER(permute_b32, forward_permute),
    OTHER(bpermute_b32, backward_permute),
    OTHER(swizzle_b32, swizzle),
    OTHER(nop, nothing),
    OTHER(gws_init, global_wave_sync),
    OTHER(gws_barrier, global_wave_sync),
    OTHER(gws_sema_br, global_wave_sync),
    OTHER(gws_sema_v, global_wave_sync),
    OTHER(gws_sema_p, global_wave_sync),
    OTHER(gws_sema_release_all, global_wave_sync),
};

static const ds_form *form_of(ws_op op) { return &forms[op]; }

ws_execute ws__execute_lds(ws_op op) {
  if ((unsigned)op >= WS_OP_COUNT || !forms[op].execute)
    return NULL;
  bool counts = op == WS_OP_ds_append || op == WS_OP_ds_consume;
  return counts ? count_lanes : forms[op].execute;
}
