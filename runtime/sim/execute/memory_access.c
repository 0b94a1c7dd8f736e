/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Accesses of vector memory instructions. Device memory is the host's: a
 * checked address is dereferenced; atomics are the host's too, because
 * workgroups run on several cores. Unaligned loads and stores are legal under
 * HSA (SH_MEM_CONFIG.alignment_mode unaligned; LLVM's unaligned-access-mode);
 * atomics need natural alignment.
 *
 * A timed group sees memory through the overlay, page by page.
 */
#include "memory_access.h"
#include "lds_shadow.h"

enum { PAGE = 4096 };

bool ws__set_rows(ws_wave *wave, ws_transfer *transfer,
                  const ws_operand *operand, int count) {
  transfer->rows = ws__rows(wave, transfer->in, operand, count);
  transfer->first = operand->index;
  return transfer->rows != NULL;
}

void ws__begin_access(ws_wave *wave, const ws_instruction *in,
                      const ws_memory_form *form) {
  ws_access *access = &wave->access;
  access->mask = 0;
  access->bytes = form->width.bytes;
  access->pair = 0;
  access->atomic = form->kind == WS_MEMORY_ATOMIC;
  access->store = form->kind == WS_MEMORY_STORE || access->atomic;
  access->is_lds = false;
  if (!wave->group->shadow)
    return;
  ws__lds_shadow_issue(wave, true);
  if (in->class_ == WS_CLASS_FLAT)
    ws__lds_shadow_issue(wave, false);
}

/* ---- checks ----------------------------------------------------------------
 */

/* What the last accesses of this thread were allowed to: loads, stores. Stale
 * entries are harmless (memory.c: generation). */
static _Thread_local uint64_t allowed[2][2];

static bool fault_global(ws_wave *wave, const ws_transfer *transfer, int lane,
                         uint64_t address, bool store) {
  const char *id = NULL;
  const char *text = ws__memory_problem(wave->group->memory, address,
                                        transfer->width.bytes, store, &id);
  if (text)
    ws__fault(wave, transfer->in, lane, id, "%s of %s",
              store ? "store" : "load", text);
  return !text;
}

/* Of what a transfer reads: lanes whose memory is not known. */
static uint64_t unknown_lanes(const ws_group *group,
                              const ws_transfer *transfer) {
  uint64_t unknown = 0;
  WS_EACH_LANE(lane, transfer->mask)
  unknown |= (uint64_t)ws__is_unknown_to(group, transfer->address[lane])
             << lane;
  return unknown;
}

/* After ws__memory_allows has said yes to an access that reads. */
static void note_unknown(ws_wave *wave, const ws_transfer *transfer,
                         bool store) {
  ws_group *group = wave->group;
  if (group->may_be_unknown && !group->read_unknown &&
      ws__memory_allowed_unknown(group->memory, allowed[store]))
    group->read_unknown = unknown_lanes(group, transfer) != 0;
}

/* All lanes are in one allocation more often than not. */
static bool check_global(ws_wave *wave, const ws_transfer *transfer, bool store,
                         bool reads) {
  const ws_memory *memory = wave->group->memory;
  uint32_t bytes = transfer->width.bytes;
  ws_span_of_lanes span = ws__lanes_span(transfer->address, transfer->mask);
  if (span.high - span.low <= UINT32_MAX - bytes &&
      ws__memory_allows(memory, allowed[store], span.low,
                        (uint32_t)(span.high - span.low) + bytes, store)) {
    if (reads)
      note_unknown(wave, transfer, store);
    return true;
  }
  WS_EACH_LANE(lane, transfer->mask) {
    uint64_t address = transfer->address[lane];
    if (!ws__memory_allows(memory, allowed[store], address, bytes, store) &&
        !fault_global(wave, transfer, (int)lane, address, store))
      return false;
    if (reads)
      note_unknown(wave, transfer, store);
  }
  return true;
}

static bool check_alignment(ws_wave *wave, const ws_transfer *transfer) {
  uint32_t bytes = transfer->width.bytes;
  WS_EACH_LANE(lane, transfer->mask)
  if (transfer->address[lane] & (bytes - 1)) {
    ws__fault(wave, transfer->in, (int)lane, "misaligned",
              "atomic of %u bytes at 0x%llx", bytes,
              (unsigned long long)transfer->address[lane]);
    return false;
  }
  return true;
}

/* ---- device memory ---------------------------------------------------------
 */

static void move(const ws_transfer *transfer, uintptr_t base,
                 const uint64_t address[WS_LANES], uint64_t mask, bool store) {
  if (store)
    ws__lanes_store(transfer->rows, base, address, mask, transfer->width);
  else
    ws__lanes_load(transfer->rows, base, address, mask, transfer->width);
}

/* A lane whose bytes lie on two pages, of which either may have a copy. */
static void move_across_pages(ws_wave *wave, const ws_transfer *transfer,
                              uint64_t lane, bool store) {
  uint8_t bytes[16];
  uint64_t address[WS_LANES];
  uint32_t count = transfer->width.bytes;
  address[lane] = (uintptr_t)bytes;
  if (store)
    move(transfer, 0, address, 1ull << lane, true);
  for (uint32_t i = 0; i < count; i++) {
    uint8_t *at = ws__overlay_place(wave->group->memory,
                                    transfer->address[lane] + i, store);
    if (store)
      *at = bytes[i];
    else
      bytes[i] = *at;
  }
  if (!store)
    move(transfer, 0, address, 1ull << lane, false);
}

static void move_timed(ws_wave *wave, const ws_transfer *transfer, bool store) {
  uint64_t place[WS_LANES] = {0}, whole = transfer->mask;
  uint64_t page = UINT64_MAX, moved_by = 0;
  WS_EACH_LANE(lane, transfer->mask) {
    uint64_t address = transfer->address[lane];
    if (address % PAGE + transfer->width.bytes > PAGE) {
      move_across_pages(wave, transfer, lane, store);
      whole &= ~(1ull << lane);
      continue;
    }
    if (address / PAGE != page) {
      void *at = ws__overlay_place(wave->group->memory, address, store);
      page = address / PAGE;
      moved_by = (uint64_t)(uintptr_t)at - address;
    }
    place[lane] = address + moved_by;
  }
  move(transfer, 0, place, whole, store);
}

/* Lanes of a checked group that read what is not known: as if never written. */
static uint64_t poison_of_load(const ws_wave *wave,
                               const ws_transfer *transfer) {
  return wave->group->read_unknown ? unknown_lanes(wave->group, transfer) : 0;
}

static void define(ws_wave *wave, const ws_transfer *transfer, int first,
                   int count) {
  const uint64_t poison = poison_of_load(wave, transfer);
  for (int row = 0; row < count; row++)
    ws_set_lane_poison(wave, first + row, transfer->mask, poison);
}

/* A timed group's stores stay in the overlay. What was computed from what is
 * not known is not known there either, which a checked group sees; another has
 * noted that it read such. */
static void note_timed_stores(const ws_wave *wave,
                              const ws_transfer *transfer) {
  uint64_t unknown = 0;
  for (int row = 0; row < ws_dwords(transfer->width); row++)
    unknown |= wave->vector_poison[transfer->first + row];
  WS_EACH_LANE(lane, transfer->mask & ~unknown)
  ws__overlay_set_known(wave->group->memory, transfer->address[lane],
                        transfer->width.bytes);
}

static void note_stores(const ws_wave *wave, const ws_transfer *transfer) {
  const ws_group *group = wave->group;
  const ws_memory *memory = group->memory;
  if (group->timing && group->may_be_unknown)
    note_timed_stores(wave, transfer);
  if (group->timing || !ws__memory_is_watched(memory))
    return;
  WS_EACH_LANE(lane, transfer->mask)
  ws__memory_note_store(memory, allowed[true], transfer->address[lane],
                        transfer->width.bytes);
}

bool ws__transfer_global(ws_wave *wave, const ws_transfer *transfer) {
  bool store = transfer->form->kind == WS_MEMORY_STORE;
  if (!transfer->mask)
    return true;
  if (!check_global(wave, transfer, store, !store))
    return false;
  if (wave->group->timing &&
      (store || !ws__overlay_is_empty(wave->group->memory)))
    move_timed(wave, transfer, store);
  else
    move(transfer, 0, transfer->address, transfer->mask, store);
  if (store)
    note_stores(wave, transfer);
  if (!store && wave->group->checked && transfer->first >= 0)
    define(wave, transfer, transfer->first, ws_dwords(transfer->width));
  return true;
}

/* ---- atomics ---------------------------------------------------------------
 */

static uint64_t modify32(void *at, ws_modify modify, uint64_t data,
                         uint64_t data2) {
  uint32_t *memory = at, old = __atomic_load_n(memory, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(memory, &old,
                                      (uint32_t)modify(old, data, data2), true,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    ;
  return old;
}

static uint64_t modify64(void *at, ws_modify modify, uint64_t data,
                         uint64_t data2) {
  uint64_t *memory = at, old = __atomic_load_n(memory, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(memory, &old, modify(old, data, data2),
                                      true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    ;
  return old;
}

static uint64_t lane_value(const ws_vector *rows, uint64_t lane, int count) {
  uint64_t value = rows[0].u32[lane];
  return count == 2 ? value | (uint64_t)rows[1].u32[lane] << 32 : value;
}

/* Lanes one after another at base + address. */
static void modify_lanes(ws_wave *wave, const ws_transfer *transfer,
                         uint8_t *base, int result) {
  const ws_memory_form *form = transfer->form;
  const ws_vector *data = transfer->rows;
  int count = ws_dwords(transfer->width);
  bool timed = wave->group->timing && !base;
  WS_EACH_LANE(lane, transfer->mask) {
    uint64_t address = transfer->address[lane];
    void *at = timed  ? ws__overlay_place(wave->group->memory, address, true)
               : base ? base + address
                      : (void *)(uintptr_t)address;
    uint64_t first = lane_value(data, lane, count);
    uint64_t second =
        form->compares ? lane_value(data + count, lane, count) : 0;
    uint64_t old =
        (count == 2 ? modify64 : modify32)(at, form->modify, first, second);
    if (result < 0)
      continue;
    wave->vgpr[result].u32[lane] = (uint32_t)old;
    if (count == 2)
      wave->vgpr[result + 1].u32[lane] = (uint32_t)(old >> 32);
  }
  if (result >= 0 && wave->group->checked)
    define(wave, transfer, result, count);
}

bool ws__modify_global(ws_wave *wave, const ws_transfer *transfer, int result) {
  if (!transfer->mask)
    return true;
  if (!check_alignment(wave, transfer) ||
      !check_global(wave, transfer, true, result >= 0))
    return false;
  modify_lanes(wave, transfer, NULL, result);
  if (!wave->group->may_be_unknown) /* what is known stays so, and what not */
    note_stores(wave, transfer);
  return true;
}

/* ---- LDS -------------------------------------------------------------------
 */

/* The rules of DS instructions, see execute_lds.c. place: the addresses, in
 * unchecked groups moved where LDS ends. */
static bool check_lds(ws_wave *wave, const ws_transfer *transfer,
                      uint64_t place[WS_LANES]) {
  uint32_t bytes = transfer->width.bytes;
  memcpy(place, transfer->address, WS_LANES * sizeof *place);
  return ws__lds_lanes(wave, transfer->in, place, transfer->mask, bytes,
                       bytes < 4 ? bytes : 4);
}

static uintptr_t lds_poison(const ws_wave *wave) {
  struct ws_lds_shadow *shadow = wave->group->shadow;
  return shadow ? (uintptr_t)ws__lds_shadow_poison(shadow) : 0;
}

bool ws__transfer_lds(ws_wave *wave, const ws_transfer *transfer) {
  bool store = transfer->form->kind == WS_MEMORY_STORE;
  uintptr_t poison = lds_poison(wave);
  uint64_t place[WS_LANES];
  if (!transfer->mask)
    return true;
  if (!check_lds(wave, transfer, place))
    return false;
  if (poison && store)
    ws__lds_shadow_write(wave, transfer->in, transfer->mask, place,
                         transfer->rows, transfer->width);
  else if (poison)
    ws__lds_shadow_touch(wave, transfer->in, WS_LDS_READ, transfer->mask, place,
                         transfer->width.bytes);
  move(transfer, (uintptr_t)wave->group->lds, place, transfer->mask, store);
  if (!store && wave->group->checked)
    ws__lanes_load_poison(wave, transfer->first, poison, place, transfer->mask,
                          transfer->width);
  if (store && poison)
    ws__lanes_store_poison(wave, transfer->first, poison, place, transfer->mask,
                           transfer->width);
  return true;
}

bool ws__modify_lds(ws_wave *wave, const ws_transfer *transfer, int result) {
  if (!transfer->mask)
    return true;
  uint64_t place[WS_LANES];
  ws_transfer inside = *transfer;
  inside.address = place;
  if (!check_alignment(wave, transfer) || !check_lds(wave, transfer, place))
    return false;
  if (wave->group->shadow)
    ws__lds_shadow_touch(wave, transfer->in, WS_LDS_ATOMIC, transfer->mask,
                         place, transfer->width.bytes);
  modify_lanes(wave, &inside, wave->group->lds, result);
  return true;
}

/* The data passes through no register: lanes of `all` write a dword each at
 * M0 + offset + 4 * lane, whatever the width (ISA guide, 9.1.9 "Memory buffer
 * load to LDS"). */
bool ws__transfer_to_lds(ws_wave *wave, const ws_transfer *transfer,
                         uint64_t all) {
  ws_vector data = {{0}};
  ws_transfer read = *transfer, write = *transfer;
  uint32_t base =
      (wave->sgpr[WS_SGPR_M0] & 0xffff) + (uint32_t)transfer->in->imm;
  read.rows = &data;
  read.first = -1;
  if (!ws__transfer_global(wave, &read))
    return false;
  write.width = (ws_width){4, false, 0};
  write.mask = all;
  write.address = wave->access.second;
  for (uint32_t lane = 0; lane < WS_LANES; lane++)
    wave->access.second[lane] = base + 4 * lane;
  uint64_t place[WS_LANES];
  if (!all)
    return true;
  if (!check_lds(wave, &write, place))
    return false;
  if (wave->group->shadow)
    ws__lds_shadow_touch(wave, transfer->in, WS_LDS_DMA_WRITE, all, place, 4);
  ws__lanes_store(&data, (uintptr_t)wave->group->lds, place, all, write.width);
  uint8_t *poison = (uint8_t *)lds_poison(wave);
  const uint64_t unknown = poison ? poison_of_load(wave, transfer) : 0;
  if (poison)
    WS_EACH_LANE(lane, all)
  memset(poison + place[lane], (int)(unknown >> lane & 1), 4);
  return true;
}

/* ---- scratch ---------------------------------------------------------------
 */

static bool check_scratch(ws_wave *wave, const ws_transfer *transfer) {
  uint32_t size = wave->group->scratch ? wave->group->scratch_bytes : 0;
  ws_span_of_lanes span = ws__lanes_span(transfer->address, transfer->mask);
  if (span.high <= size && transfer->width.bytes <= size - span.high)
    return true;
  WS_EACH_LANE(lane, transfer->mask) {
    uint64_t address = transfer->address[lane];
    if (address <= size && transfer->width.bytes <= size - address)
      continue;
    ws__fault(wave, transfer->in, (int)lane, "oob-scratch",
              "%u bytes at offset %lld of a private segment of %u bytes",
              transfer->width.bytes, (long long)address, size);
    return false;
  }
  return true;
}

bool ws__transfer_scratch(ws_wave *wave, const ws_transfer *transfer) {
  ws_group *group = wave->group;
  bool store = transfer->form->kind == WS_MEMORY_STORE;
  uint64_t place[WS_LANES];
  if (!transfer->mask)
    return true;
  if (!check_scratch(wave, transfer))
    return false;
  uint64_t segment = (uint64_t)wave->index * WS_LANES;
  for (uint64_t lane = 0; lane < WS_LANES; lane++)
    place[lane] =
        transfer->address[lane] + (segment + lane) * group->scratch_bytes;
  move(transfer, (uintptr_t)group->scratch, place, transfer->mask, store);
  uintptr_t poison = (uintptr_t)group->scratch_poison;
  if (!store && group->checked)
    ws__lanes_load_poison(wave, transfer->first, poison, place, transfer->mask,
                          transfer->width);
  if (store && poison)
    ws__lanes_store_poison(wave, transfer->first, poison, place, transfer->mask,
                           transfer->width);
  return true;
}
