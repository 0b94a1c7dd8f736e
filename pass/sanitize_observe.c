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

static inline bool fits(const ws_record_slot *slot, const ws_site *site,
                        uint32_t part, int lane) {
  return slot->site == site && slot->part == part && !(slot->lanes >> lane & 1);
}

/* The slot of an access: the first free one of its site after where the lane
 * stands, else from the start, else a new one. -1: no room. */
static int search_slot(const ws_site *site, uint32_t part, int lane) {
  int cursor = recorder->cursor[lane];
  for (int i = cursor + 1; i < recorder->count; i++)
    if (fits(&recorder->slots[i], site, part, lane))
      return i;
  for (int i = 0; i < cursor; i++)
    if (fits(&recorder->slots[i], site, part, lane))
      return i;
  if (recorder->count == WS_RECORD_SLOTS)
    return -1;
  ws_record_slot *slot = &recorder->slots[recorder->count];
  slot->site = site;
  slot->part = part;
  slot->lanes = 0;
  return recorder->count++;
}

static __attribute__((noinline)) int find_slot(const ws_site *site,
                                               uint32_t part, int lane) {
  int slot = search_slot(site, part, lane);
  while (slot < 0) {
    ws__lanes_wait_for_record();
    slot = search_slot(site, part, lane);
  }
  return slot;
}

static inline void record(const ws_site *site, uint32_t part, uint32_t place,
                          bool lds) {
  int lane = (int)((uint32_t)ws__sanitizer.lanes.current % WS_WAVE_LANES);
  int at = recorder->cursor[lane];
  /* Lanes in step find their slot where the last one ended. */
  if (at >= recorder->count || !fits(&recorder->slots[at], site, part, lane))
    at = find_slot(site, part, lane);
  ws_record_slot *slot = &recorder->slots[at];
  slot->lds = lds;
  slot->lanes |= 1ull << lane;
  slot->place[lane] = place;
  recorder->cursor[lane] = at + 1;
}

void ws__record_lds(const ws_site *site, uint32_t offset, uint32_t size) {
  record(site, 0, offset, true);
  for (uint32_t done = 16; done < size; done += 16)
    record(site, done / 16, offset + done, true);
}

/* Buffers are 2^27 lines apart: 32 of them differ in 32 bits. */
void ws__record_global(const ws_site *site, uintptr_t address, uint32_t size) {
  record(site, 0, (uint32_t)(address / 128), false);
  for (uint32_t done = 16; done < size; done += 16)
    record(site, done / 16, (uint32_t)((address + done) / 128), false);
}

/* ---- patterns that repeat ----------------------------------------------- */

/* Is this the latest pattern of its site, moved by a multiple of 4? Only for
 * whole waves, and not for the parts of a wide access, which take turns. */
static bool repeats(const ws_record_slot *slot, const ws_pattern *pattern) {
  uint32_t moved = slot->place[0] - pattern->place[0], difference = moved % 4;
  for (int i = 0; i < WS_WAVE_LANES; i++)
    difference |= slot->place[i] - pattern->place[i] - moved;
  return pattern->valid && !difference && !~slot->lanes;
}

static void remember(const ws_record_slot *slot, ws_pattern *pattern,
                     int clocks, int phases) {
  if (~slot->lanes || slot->site->size > 16)
    return;
  memcpy(pattern->place, slot->place, sizeof pattern->place);
  pattern->clocks = clocks;
  pattern->phases = phases;
  pattern->valid = true;
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
  uint32_t seen[32][WS_WAVE_LANES];
  int count[32] = {0}, worst = 0;
  for (uint64_t rest = lanes & slot->lanes; rest; rest &= rest - 1) {
    uint32_t offset = slot->place[__builtin_ctzll(rest)];
    for (uint32_t dword = offset / 4; dword <= (offset + bytes - 1) / 4;
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

/* Clocks, and phases that had a lane. Both stay the same when all addresses
 * move by whole dwords: banks turn. */
static void count_lds(const ws_record_slot *slot, uint32_t bytes, int *clocks,
                      int *phases) {
  uint64_t lanes;
  *clocks = *phases = 0;
  for (int i = 0; (lanes = phase_lanes(bytes, slot->site->writes, i)); i++) {
    int worst = phase_clocks(slot, lanes, bytes);
    *clocks += worst;
    *phases += worst > 0;
  }
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
  ws_pattern *pattern = slot->site->pattern;
  int clocks, phases;
  if (repeats(slot, pattern)) {
    clocks = pattern->clocks;
    phases = pattern->phases;
  } else {
    count_lds(slot, bytes, &clocks, &phases);
    remember(slot, pattern, clocks, phases);
  }
  observed->ds_clocks += clocks;
  observed->ds_clocks_ideal += phases;
}

/* ---- vector memory --------------------------------------------------- */

/* An access that straddles two lines, which none of 16 aligned bytes does,
 * counts the first. */
static int distinct_lines(const ws_record_slot *slot) {
  uint32_t seen[WS_WAVE_LANES];
  int count = 0;
  for (uint64_t rest = slot->lanes; rest; rest &= rest - 1) {
    uint32_t line = slot->place[__builtin_ctzll(rest)];
    int i = count - 1; /* neighbours usually share the latest line */
    while (i >= 0 && seen[i] != line)
      i--;
    if (i < 0)
      seen[count++] = line;
  }
  return count;
}

static void observe_global(const ws_record_slot *slot, uint32_t bytes) {
  ws_observed *observed = recorder->observed;
  int64_t total = (int64_t)bytes * __builtin_popcountll(slot->lanes);
  int64_t lines = distinct_lines(slot);
  if (slot->site->atomic) {
    observed->atomic_ops++;
    observed->vmem_store_bytes += total;
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
  for (int i = 0; i < recorder->count; i++) {
    const ws_record_slot *slot = &recorder->slots[i];
    uint32_t left = slot->site->size - slot->part * 16;
    uint32_t bytes = left < 16 ? left : 16;
    if (slot->lds)
      observe_lds(slot, bytes);
    else
      observe_global(slot, bytes);
  }
  recorder->count = 0;
  memset(recorder->cursor, 0, sizeof recorder->cursor);
}
