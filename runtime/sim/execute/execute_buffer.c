/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Buffer (MUBUF) instructions. Source: CDNA3 ISA guide, chapter 9: the
 * descriptor, addressing, range checks.
 *
 *   address = base + soffset + stride * index + lane offset + inst offset
 *
 * Range: where index and stride are used (structured) the index must be below
 * num_records; else (raw) every dword, or the whole of something smaller or of
 * an atomic, must end within num_records bytes of the base. Loads out of range
 * give 0, stores and atomics are dropped. num_records counts records only with
 * idxen and a stride (Mesa, ac_descriptors.c, on GFX9).
 */
#include "memory_access.h"

static const ws_memory_form *form_of(ws_op op);

typedef struct descriptor {
  uint64_t base, scalar_offset;
  uint32_t stride, records;
  bool structured;
} descriptor;

/* The four words; false, and a fault: a mode that is not here. */
static bool read_descriptor(ws_wave *wave, const ws_instruction *in,
                            const ws_operand *operand, descriptor *out) {
  enum { SWIZZLE = 1u << 31, ADD_THREAD = 1 << 23 };
  if (operand->kind != WS_OPERAND_SCALAR || operand->index + 4 > WS_SGPRS) {
    ws__fault(wave, in, -1, "unsupported", "buffer without a descriptor");
    return false;
  }
  const uint32_t *word = &wave->sgpr[operand->index];
  out->base = word[0] | (uint64_t)(word[1] & 0xffff) << 32;
  out->stride = word[1] >> 16 & 0x3fff;
  out->records = word[2];
  out->structured = in->flags & WS_IDXEN && out->stride;
  if (!(word[1] & SWIZZLE) && !(word[3] & ADD_THREAD))
    return true;
  ws__fault(wave, in, -1, "unsupported", "%s in a buffer descriptor",
            word[1] & SWIZZLE ? "swizzle" : "thread id");
  return false;
}

/* Per lane: where it is relative to the base, without the scalar offset, and
 * its index. */
typedef struct lanes_of_buffer {
  uint64_t offset[WS_LANES];
  uint64_t index[WS_LANES];
} lanes_of_buffer;

static bool read_lanes(ws_wave *wave, const ws_instruction *in,
                       const ws_operand *operand, lanes_of_buffer *out) {
  bool indexed = in->flags & WS_IDXEN, offset = in->flags & WS_OFFEN;
  const ws_vector *rows = NULL;
  if (indexed || offset) {
    rows = ws__rows(wave, in, operand, indexed + offset);
    if (!rows)
      return false;
  }
  const ws_vector *offsets = offset ? rows + indexed : NULL;
  for (int lane = 0; lane < WS_LANES; lane++) {
    out->index[lane] = indexed ? rows->u32[lane] : 0;
    out->offset[lane] =
        (uint32_t)in->imm + (offsets ? (uint64_t)offsets->u32[lane] : 0);
  }
  return true;
}

/* Lanes of mask whose bytes at +extra are in range. */
static uint64_t lanes_in_range(const descriptor *buffer,
                               const lanes_of_buffer *lanes, uint64_t mask,
                               uint32_t extra, uint32_t bytes) {
  uint64_t inside = 0;
  if (!mask)
    return 0;
  if (!buffer->stride) {
    ws_span_of_lanes span = ws__lanes_span(lanes->offset, mask);
    if (span.high + buffer->scalar_offset + extra + bytes <= buffer->records)
      return mask;
  }
  WS_EACH_LANE(lane, mask) {
    uint64_t end = lanes->offset[lane] + buffer->scalar_offset + extra + bytes +
                   lanes->index[lane] * buffer->stride;
    bool in_range = buffer->structured ? lanes->index[lane] < buffer->records
                                       : end <= buffer->records;
    inside |= (uint64_t)in_range << lane;
  }
  return inside;
}

static void zero_lanes(ws_wave *wave, const ws_transfer *transfer, int count,
                       uint64_t mask) {
  static const uint32_t zero;
  uint64_t address[WS_LANES];
  ws_width width = transfer->width;
  for (int lane = 0; lane < WS_LANES; lane++)
    address[lane] = (uintptr_t)&zero;
  if (width.bytes > 4)
    width = (ws_width){4, false, 0};
  for (int row = 0; row < count; row++) {
    ws__lanes_load(transfer->rows + row, 0, address, mask, width);
    ws_set_lane_poison(wave, transfer->first + row, mask, 0);
  }
}

/* Dword by dword, for lanes that are partly in range. */
static void transfer_dwords(ws_wave *wave, const ws_transfer *whole,
                            const descriptor *buffer,
                            const lanes_of_buffer *lanes, uint64_t mask) {
  ws_transfer part = *whole;
  uint64_t address[WS_LANES];
  part.width = (ws_width){4, false, 0};
  part.address = address;
  for (int row = 0; row < ws_dwords(whole->width); row++) {
    part.mask = lanes_in_range(buffer, lanes, mask, (uint32_t)row * 4, 4);
    part.rows = whole->rows + row;
    part.first = whole->first + row;
    for (int lane = 0; lane < WS_LANES; lane++)
      address[lane] = whole->address[lane] + (uint64_t)row * 4;
    if (whole->form->kind == WS_MEMORY_LOAD)
      zero_lanes(wave, &part, 1, mask & ~part.mask);
    if (!ws__transfer_global(wave, &part))
      return;
  }
}

static void load_or_store(ws_wave *wave, ws_transfer *transfer,
                          const descriptor *buffer,
                          const lanes_of_buffer *lanes) {
  uint64_t outside = wave->access.mask & ~transfer->mask;
  if (!ws__transfer_global(wave, transfer) || !outside)
    return;
  if (transfer->width.bytes > 4 && !buffer->structured)
    transfer_dwords(wave, transfer, buffer, lanes, outside);
  else if (transfer->form->kind == WS_MEMORY_LOAD)
    zero_lanes(wave, transfer, ws_dwords(transfer->width), outside);
}

/* The old value of a lane out of range is 0. */
static void modify(ws_wave *wave, ws_transfer *transfer) {
  bool returns = transfer->in->flags & WS_SC0;
  uint64_t outside = wave->access.mask & ~transfer->mask;
  if (ws__modify_global(wave, transfer, returns ? transfer->first : -1) &&
      returns)
    zero_lanes(wave, transfer, ws_dwords(transfer->width), outside);
}

static void find_addresses(ws_wave *wave, ws_transfer *transfer,
                           const descriptor *buffer,
                           const lanes_of_buffer *lanes) {
  for (int lane = 0; lane < WS_LANES; lane++)
    wave->access.address[lane] = buffer->base + buffer->scalar_offset +
                                 lanes->index[lane] * buffer->stride +
                                 lanes->offset[lane];
  transfer->address = wave->access.address;
  wave->access.mask = ws_exec(wave);
  transfer->mask = lanes_in_range(buffer, lanes, wave->access.mask, 0,
                                  transfer->width.bytes);
}

static void execute_buffer(ws_wave *wave, const ws_instruction *in) {
  const ws_memory_form *form = form_of((ws_op)in->op);
  ws_transfer transfer = {.in = in, .form = form, .width = form->width};
  bool to_lds = form->kind == WS_MEMORY_LOAD && in->flags & WS_LDS_DMA;
  /* Sources: data of stores and atomics, lanes, descriptor, scalar offset. */
  bool has_data = form->kind != WS_MEMORY_LOAD;
  const ws_operand *source = &in->src[has_data];
  int count = ws_dwords(form->width) * (form->compares ? 2 : 1);
  descriptor buffer;
  lanes_of_buffer lanes;
  ws__begin_access(wave, in, form);
  if (!to_lds && !ws__set_rows(wave, &transfer,
                               has_data ? &in->src[0] : &in->dst[0], count))
    return;
  if (!read_descriptor(wave, in, &source[1], &buffer) ||
      !read_lanes(wave, in, &source[0], &lanes))
    return;
  buffer.scalar_offset = (uint32_t)ws__scalar_value(wave, &source[2]);
  find_addresses(wave, &transfer, &buffer, &lanes);
  if (to_lds && form->width.bytes > 4)
    ws__fault(wave, in, -1, "unsupported", "load to LDS wider than a dword");
  else if (to_lds)
    ws__transfer_to_lds(wave, &transfer, wave->access.mask);
  else if (form->kind == WS_MEMORY_ATOMIC)
    modify(wave, &transfer);
  else
    load_or_store(wave, &transfer, &buffer, &lanes);
  wave->access.mask = transfer.mask;
}

/* buffer_wbl2 and buffer_inv: there are no caches that could be stale. */
static void control_cache(ws_wave *wave, const ws_instruction *in) {
  ws__begin_access(wave, in, form_of((ws_op)in->op));
}

/* ---- the table -------------------------------------------------------------
 */

#define LOAD(family, name, ...)                                                \
  [WS_OP_##family##_load_##                                                    \
      name] = {execute_buffer, WS_MEMORY_LOAD, {__VA_ARGS__}, NULL, false}
#define STORE(family, name, ...)                                               \
  [WS_OP_##family##_store_##                                                   \
      name] = {execute_buffer, WS_MEMORY_STORE, {__VA_ARGS__}, NULL, false}
#define ATOMIC(family, name, bytes, modify)                                    \
  [WS_OP_##family##_atomic_##name] = {execute_buffer,                          \
                                      WS_MEMORY_ATOMIC,                        \
                                      {bytes, false, 0},                       \
                                      ws__modify_##modify,                     \
                                      false}
#define COMPARE(family, name, bytes)                                           \
  [WS_OP_##family##_atomic_##name] = {execute_buffer,                          \
                                      WS_MEMORY_ATOMIC,                        \
                                      {bytes, false, 0},                       \
                                      ws__modify_compare_second,               \
                                      true}
#include "memory_forms.inc"

static const ws_memory_form forms[WS_OP_COUNT] = {
    LOADS(buffer),
    STORES(buffer),
    ATOMICS(buffer),
    [WS_OP_buffer_wbl2] = {.execute = control_cache, .kind = WS_MEMORY_NOTHING},
    [WS_OP_buffer_inv] = {.execute = control_cache, .kind = WS_MEMORY_NOTHING},
};

static const ws_memory_form *form_of(ws_op op) { return &forms[op]; }

ws_execute ws__execute_buffer(ws_op op) { return forms[op].execute; }
