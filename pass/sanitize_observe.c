/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Puts wave instructions together from what single lanes did, for the bound
 * model: between two rendezvous of a wave, the i-th access of a site by each
 * lane belongs to the i-th wave instruction of that site. Counts operations,
 * bytes, LDS clocks by the bank rule and 128-byte lines of vector memory.
 *
 * LDS rule (research/mi300_timing.md section 6, sources SHARK, RPC, CKDOC):
 * 32 banks of 4 bytes; an instruction works in phases of certain lanes, one
 * clock each, plus one for every further distinct dword in a phase's worst
 * bank; lanes that read the same dword share it.
 */
#include "sanitize_internal.h"

#include <string.h>

static ws_recorder *const recorder = &ws__sanitizer.recorder;

/* ---- recording ------------------------------------------------------- */

static bool fits(int slot, const ws_site *site, uint32_t part, int lane) {
  const ws_record_slot *at = &recorder->slots[slot];
  return at->site == site && at->part == part && !(at->lanes >> lane & 1);
}

/* The slot of this lane's access: the first free one of its site from where
 * the lane stands, else from the start, else a new one. -1: no room. */
static int find_slot(const ws_site *site, uint32_t part, int lane) {
  int cursor = recorder->cursor[lane];
  for (int i = cursor; i < recorder->count; i++)
    if (fits(i, site, part, lane))
      return i;
  for (int i = 0; i < cursor; i++)
    if (fits(i, site, part, lane))
      return i;
  if (recorder->count == WS_RECORD_SLOTS)
    return -1;
  ws_record_slot *slot = &recorder->slots[recorder->count];
  slot->site = site;
  slot->part = part;
  slot->lanes = 0;
  return recorder->count++;
}

static void record_part(const ws_site *site, uint32_t part, uintptr_t address) {
  int lane = ws__sanitizer.lanes.current % WS_WAVE_LANES;
  int slot = find_slot(site, part, lane);
  while (slot < 0) {
    ws__lanes_wait_for_record();
    slot = find_slot(site, part, lane);
  }
  recorder->slots[slot].lanes |= 1ull << lane;
  recorder->slots[slot].address[lane] = address;
  recorder->cursor[lane] = slot + 1;
}

void ws__record_access(const ws_site *site, uintptr_t address, uint32_t size) {
  uint32_t part = 0;
  do {
    record_part(site, part, address + part * 16);
    part++;
  } while (part * 16 < size);
}

/* ---- LDS ------------------------------------------------------------- */

/* Lanes of the phases of a 16-byte read, as SHARK lists them. */
static const uint64_t read_b128_phases[8] = {
    0x000000000000000full | 0x0000000000f00000ull,
    0x0000000f00000000ull | 0x00f0000000000000ull,
    0x00000000000000f0ull | 0x00000000000f0000ull,
    0x000000f000000000ull | 0x000f000000000000ull,
    0x0000000000000f00ull | 0x00000000f0000000ull,
    0x00000f0000000000ull | 0xf000000000000000ull,
    0x000000000000f000ull | 0x000000000f000000ull,
    0x0000f00000000000ull | 0x0f00000000000000ull};

/* Phase i of an access of so many bytes per lane, 0 after the last. */
static uint64_t phase_lanes(uint32_t bytes, bool writes, int phase) {
  if (bytes > 8)
    return phase == 8 ? 0
           : writes   ? 0xffull << phase * 8
                      : read_b128_phases[phase];
  if (bytes > 4)
    return phase == 4 ? 0 : 0xffffull << phase * 16;
  return phase == 2 ? 0 : 0xffffffffull << phase * 32;
}

/* Clocks of one phase: the most distinct dwords that one bank must serve. */
static int phase_clocks(const ws_record_slot *slot, uint64_t lanes,
                        uint32_t bytes) {
  uintptr_t seen[32][WS_WAVE_LANES];
  int count[32] = {0}, worst = 0;
  for (uint64_t rest = lanes & slot->lanes; rest; rest &= rest - 1) {
    uintptr_t address = slot->address[__builtin_ctzll(rest)];
    for (uintptr_t dword = address / 4; dword <= (address + bytes - 1) / 4;
         dword++) {
      int bank = dword % 32, i = 0;
      while (i < count[bank] && seen[bank][i] != dword)
        i++;
      if (i < count[bank])
        continue;
      seen[bank][count[bank]++] = dword;
      worst = count[bank] > worst ? count[bank] : worst;
    }
  }
  return worst;
}

static void observe_lds(const ws_record_slot *slot, uint32_t bytes) {
  ws_observed *observed = recorder->observed;
  int64_t total = (int64_t)bytes * __builtin_popcountll(slot->lanes);
  if (slot->site->writes) {
    observed->ds_write_ops++;
    observed->ds_write_bytes += total;
  } else {
    observed->ds_read_ops++;
    observed->ds_read_bytes += total;
  }
  uint64_t lanes;
  for (int i = 0; (lanes = phase_lanes(bytes, slot->site->writes, i)); i++) {
    int clocks = phase_clocks(slot, lanes, bytes);
    observed->ds_clocks += clocks;
    observed->ds_clocks_ideal += clocks > 0;
  }
}

/* ---- vector memory --------------------------------------------------- */

static int distinct_lines(const ws_record_slot *slot, uint32_t bytes) {
  uintptr_t seen[2 * WS_WAVE_LANES];
  int count = 0;
  for (uint64_t rest = slot->lanes; rest; rest &= rest - 1) {
    uintptr_t address = slot->address[__builtin_ctzll(rest)];
    for (uintptr_t line = address / 128; line <= (address + bytes - 1) / 128;
         line++) {
      int i = count - 1; /* neighbours usually share the latest line */
      while (i >= 0 && seen[i] != line)
        i--;
      if (i < 0)
        seen[count++] = line;
    }
  }
  return count;
}

static void observe_global(const ws_record_slot *slot, uint32_t bytes) {
  ws_observed *observed = recorder->observed;
  int64_t total = (int64_t)bytes * __builtin_popcountll(slot->lanes);
  int64_t lines = distinct_lines(slot, bytes);
  if (slot->site->atomic) {
    observed->atomic_ops++;
  } else if (slot->site->writes) {
    observed->vmem_store_ops++;
    observed->vmem_store_bytes += total;
  } else {
    observed->vmem_load_ops++;
    observed->vmem_load_bytes += total;
  }
  observed->vmem_lines += lines;
  int64_t clocks = total / 64 > lines ? total / 64 : lines;
  observed->vmem_clocks += clocks > 4 ? clocks : 4;
}

void ws__record_flush(void) {
  const ws_memory *memory = &ws__sanitizer.memory;
  for (int i = 0; i < recorder->count; i++) {
    const ws_record_slot *slot = &recorder->slots[i];
    uint32_t left = slot->site->size - slot->part * 16;
    uint32_t bytes = left < 16 ? left : 16;
    uintptr_t any = slot->address[__builtin_ctzll(slot->lanes)];
    if (any - memory->lds_base < WS_LDS_MAX)
      observe_lds(slot, bytes);
    else
      observe_global(slot, bytes);
  }
  recorder->count = 0;
  memset(recorder->cursor, 0, sizeof recorder->cursor);
}
