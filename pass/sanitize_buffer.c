/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Loads and stores by buffer descriptor, without stride (check_instructions.c
 * refuses others), as on gfx942 (CDNA3 ISA guide, chapter 9; LLVM's
 * IntrinsicsAMDGPU.td): each dword, or the whole of something smaller, that
 * does not end within num_records bytes of the base is out of range: loaded as
 * 0, not stored. A kernel may rely on that.
 *
 * It does not excuse what is beyond an argument: a descriptor must lie within
 * one, so that in range is in bounds. And whether the scalar offset counts is
 * not agreed on (the ISA guide says yes, LLVM no), so an access that this
 * decides is a fault.
 *
 * On the host a descriptor is the number of a slot of a table, which every
 * workgroup begins anew.
 */
#include "sanitize_models.h"

typedef struct descriptor {
  uintptr_t base; /* 0: a free slot */
  uint32_t records;
  const ws_buffer *buffer;
} descriptor;

enum { SLOTS = 4096, MOST_USED = SLOTS / 2 };
static struct {
  descriptor slots[SLOTS];
  uint32_t used;
} table;

void ws__buffers_begin_workgroup(void) {
  if (table.used)
    memset(&table, 0, sizeof table);
}

/* ---- making them ------------------------------------------------------ */

/* The slot that has this descriptor, or gets it. 0: the table is full. */
static uint32_t slot_of(const descriptor *wanted) {
  uint64_t hash = (wanted->base ^ (uint64_t)wanted->records << 32) *
                  UINT64_C(0x9e3779b97f4a7c15);
  for (uint32_t at = (uint32_t)(hash >> 52);; at++) {
    descriptor *slot = &table.slots[at % SLOTS];
    if (slot->base == wanted->base && slot->records == wanted->records)
      return at % SLOTS + 1;
    if (slot->base)
      continue;
    if (table.used == MOST_USED)
      return 0;
    table.used++;
    *slot = *wanted;
    return at % SLOTS + 1;
  }
}

static bool lies_within(ws_site *site, const descriptor *wanted) {
  const ws_buffer *buffer = wanted->buffer;
  int lane = ws__sanitizer.lanes.current;
  if (!buffer) {
    ws__fault(WS_FAULT_OOB_RESOURCE, site,
              "lane %d makes a buffer resource whose base, 0x%llx, is in no "
              "argument",
              lane, (unsigned long long)wanted->base);
    return false;
  }
  uint64_t offset = wanted->base - buffer->begin;
  if (wanted->records <= (uint64_t)buffer->size - offset)
    return true;
  ws__fault(WS_FAULT_OOB_RESOURCE, site,
            "lane %d makes a buffer resource of %u bytes at %s %+lld, which "
            "has %lld bytes",
            lane, wanted->records, buffer->name, (long long)offset,
            (long long)buffer->size);
  return false;
}

/* make.buffer.rsrc(base, stride, num_records, flags) */
void ws__model_make_buffer(const ws_site *const_site, uint64_t set) {
  ws_site *site = (ws_site *)const_site;
  int lane = __builtin_ctzll(set);
  descriptor wanted = {.base = ws__operand(site, lane, 0, 8),
                       .records = ws__operand_u32(site, lane, 2)};
  wanted.buffer = ws__memory_buffer_at(wanted.base);
  if (!lies_within(site, &wanted))
    return;
  uint32_t slot = slot_of(&wanted);
  if (!slot)
    ws__fault(WS_FAULT_SANITIZER_LIMIT, site,
              "a workgroup makes more than %d different buffer resources",
              MOST_USED);
  ws__result_u64(lane, slot);
}

/* ---- using them ------------------------------------------------------- */

static const descriptor *descriptor_of(ws_site *site, int lane, int operand) {
  uint64_t slot = ws__operand(site, lane, operand, 8) - 1;
  if (slot < SLOTS && table.slots[slot].base)
    return &table.slots[slot];
  ws__fault(WS_FAULT_OOB_RESOURCE, site,
            "lane %d uses a buffer resource that llvm.amdgcn.make.buffer.rsrc "
            "did not make",
            ws__sanitizer.lanes.current);
  return NULL;
}

char *ws__buffer_place(ws_site *site, int lane, int at, int offset,
                       uint32_t extra, uint32_t bytes) {
  const descriptor *buffer = descriptor_of(site, lane, at);
  if (!buffer)
    return NULL;
  uint64_t scalar = ws__operand_u32(site, lane, offset + 1);
  uint64_t begin = (uint64_t)ws__operand_u32(site, lane, offset) + extra;
  if (begin + bytes > buffer->records)
    return NULL;
  if (begin + scalar + bytes <= buffer->records)
    return (char *)(buffer->base + begin + scalar);
  ws__fault(site->writes ? WS_FAULT_OOB_GLOBAL_STORE : WS_FAULT_OOB_GLOBAL_LOAD,
            site,
            "lane %d is within the %u bytes of a buffer resource of %s by its "
            "offset, %llu, but not with its scalar offset, %llu, which the "
            "range check need not count: add it to the other",
            ws__sanitizer.lanes.current, buffer->records, buffer->buffer->name,
            (unsigned long long)begin, (unsigned long long)scalar);
  return NULL;
}

/* One piece, which is in range or not. */
static void load_piece(ws_site *site, int lane, int offset, uint32_t done,
                       uint32_t bytes) {
  const char *from = ws__buffer_place(site, lane, 0, offset, done, bytes);
  char *to = ws__frame_of(lane) + done;
  if (!from) {
    memset(to, 0, bytes);
    return;
  }
  if (bytes == site->size)
    ws__hook_global_load(site, (uintptr_t)from);
  else
    ws__hook_range(site, (uintptr_t)from, bytes);
  memcpy(to, from, bytes);
}

static void store_piece(ws_site *site, int lane, int offset, uint32_t done,
                        uint32_t bytes) {
  char *to = ws__buffer_place(site, lane, 1, offset, done, bytes);
  if (!to)
    return;
  if (bytes == site->size)
    ws__hook_global_store(site, (uintptr_t)to);
  else
    ws__hook_range(site, (uintptr_t)to, bytes);
  memcpy(to, ws__frame_of(lane) + site->offset[0] + done, bytes);
}

/* As a whole where that is in range, else dword by dword. */
static void access_lane(const ws_site *const_site, uint64_t set, int at,
                        int offset) {
  ws_site *site = (ws_site *)const_site;
  int lane = __builtin_ctzll(set);
  void (*piece)(ws_site *, int, int, uint32_t, uint32_t) =
      site->writes ? store_piece : load_piece;
  if (ws__buffer_place(site, lane, at, offset, 0, site->size)) {
    piece(site, lane, offset, 0, site->size);
    return;
  }
  for (uint32_t done = 0; done < site->size; done += 4)
    piece(site, lane, offset, done,
          site->size - done < 4 ? site->size - done : 4);
}

/* load(descriptor, [index,] offset, scalar offset, policy); of a store the data
 * comes first. Without stride the index counts for nothing. */
void ws__model_raw_buffer_load(const ws_site *site, uint64_t set) {
  access_lane(site, set, 0, 1);
}
void ws__model_struct_buffer_load(const ws_site *site, uint64_t set) {
  access_lane(site, set, 0, 2);
}
void ws__model_raw_buffer_store(const ws_site *site, uint64_t set) {
  access_lane(site, set, 1, 2);
}
void ws__model_struct_buffer_store(const ws_site *site, uint64_t set) {
  access_lane(site, set, 1, 3);
}
