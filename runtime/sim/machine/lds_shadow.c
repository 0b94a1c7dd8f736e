/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Per aligned dword one 64-bit record: the interval it is about and one bit per
 * wave for reads, writes and atomics. A record of an older interval counts as
 * empty, so a barrier clears nothing. A dword that is touched in parts, by a
 * load to LDS, or across a barrier has its record split into one per byte.
 */
#include "lds_shadow.h"
#include "memory_lanes.h"
#include <stdlib.h>

/* 0..15 readers, 16..31 writers, 32..47 atomics; then for a dword: split, and
 * 14 bits of interval; for a byte: carried over a barrier, and the wave + 1
 * whose load to LDS is under way. */
#define READER 1ull
#define WRITER (1ull << 16)
#define ATOMIC (1ull << 32)
#define ALL_WAVES 0xffffull
#define SPLIT (1ull << 48)
#define CARRIED (1ull << 48)
enum { INTERVAL_SHIFT = 49, LOADER_SHIFT = 49, INTERVALS = 1 << 14 };

enum { DWORDS = WS_LDS_BYTES / 4, KEPT_LDS = 32, KEPT_VMEM = 64 };

/* An access that its wave has not waited for. */
typedef struct lds_operation {
  uint64_t number, mask;
  uint32_t bytes;
  ws_lds_use use;
  uint16_t address[WS_LANES];
} lds_operation;

/* Of one wave and counter. */
typedef struct lds_queue {
  uint64_t issued, completed; /* instructions */
  uint64_t kept;              /* operations, ever */
} lds_queue;

struct ws_lds_shadow {
  uint64_t interval;
  uint32_t lds_bytes;
  bool loads_to_lds; /* some wave has used one */
  uint64_t dwords[DWORDS];
  uint64_t bytes[WS_LDS_BYTES];
  uint8_t poison[WS_LDS_BYTES];
  /* What the access under way stores, NULL: nothing. */
  const ws_vector *rows;
  ws_width width;
  lds_queue lds[WS_SIM_MAX_WAVES], vmem[WS_SIM_MAX_WAVES];
  lds_operation lds_kept[WS_SIM_MAX_WAVES][KEPT_LDS];
  lds_operation vmem_kept[WS_SIM_MAX_WAVES][KEPT_VMEM];
};

struct ws_lds_shadow *ws__lds_shadow_create(void) {
  struct ws_lds_shadow *shadow = calloc(1, sizeof *shadow);
  WS_ASSERT(shadow);
  return shadow;
}

void ws__lds_shadow_destroy(struct ws_lds_shadow *shadow) { free(shadow); }

uint8_t *ws__lds_shadow_poison(struct ws_lds_shadow *shadow) {
  return shadow->poison;
}

static void next_interval(struct ws_lds_shadow *shadow) {
  if (++shadow->interval == INTERVALS) {
    shadow->interval = 1;
    memset(shadow->dwords, 0, sizeof shadow->dwords);
  }
}

void ws__lds_shadow_begin_group(struct ws_lds_shadow *shadow,
                                uint32_t lds_bytes) {
  shadow->lds_bytes = lds_bytes < WS_LDS_BYTES ? lds_bytes : WS_LDS_BYTES;
  shadow->loads_to_lds = false;
  memset(shadow->poison, 1, shadow->lds_bytes);
  memset(shadow->lds, 0, sizeof shadow->lds);
  memset(shadow->vmem, 0, sizeof shadow->vmem);
  next_interval(shadow);
}

/* ---- records ----------------------------------------------------------------
 */

static uint64_t current_record(const struct ws_lds_shadow *shadow,
                               uint32_t dword) {
  uint64_t record = shadow->dwords[dword];
  return record >> INTERVAL_SHIFT == shadow->interval
             ? record
             : shadow->interval << INTERVAL_SHIFT;
}

static uint64_t *byte_record(struct ws_lds_shadow *shadow, uint32_t address) {
  uint64_t record = current_record(shadow, address / 4);
  if (!(record & SPLIT)) {
    for (uint32_t i = 0; i < 4; i++)
      shadow->bytes[address / 4 * 4 + i] = record & (SPLIT - 1);
    shadow->dwords[address / 4] = record | SPLIT;
  }
  return &shadow->bytes[address];
}

/* What another wave must not have done, and what this access leaves. */
typedef struct lds_rule {
  uint64_t forbidden, mark;
} lds_rule;

static lds_rule rule_of(ws_lds_use use, int wave) {
  uint64_t self = 1ull << wave, others = ALL_WAVES & ~self;
  switch (use) {
  case WS_LDS_READ:
    return (lds_rule){others * (WRITER | ATOMIC), self * READER};
  case WS_LDS_ATOMIC:
    return (lds_rule){others * (READER | WRITER), self * ATOMIC};
  case WS_LDS_DMA_WRITE:
    return (lds_rule){others * (READER | WRITER | ATOMIC), (uint64_t)(wave + 1)
                                                               << LOADER_SHIFT};
  default:
    return (lds_rule){others * (READER | WRITER | ATOMIC), self * WRITER};
  }
}

static const char *const use_names[] = {
    [WS_LDS_READ] = "reads",
    [WS_LDS_WRITE] = "writes",
    [WS_LDS_ATOMIC] = "atomically changes",
    [WS_LDS_DMA_WRITE] = "loads into",
};

static void report(ws_wave *wave, const ws_instruction *in, int lane,
                   ws_lds_use use, uint32_t address, uint64_t found,
                   uint64_t record) {
  int loader = (int)(record >> LOADER_SHIFT);
  int other = loader ? loader - 1 : __builtin_ctzll(found) % 16;
  const char *what = loader                         ? "loads into"
                     : found < WRITER               ? "read"
                     : found & (WRITER * ALL_WAVES) ? "wrote"
                                                    : "changed by an atomic";
  if (loader)
    ws__fault(wave, in, lane, "missing-wait",
              "wave %d %s LDS byte %u, which a load to LDS of wave %d still "
              "writes: wait for vmcnt (and meet at a barrier) first",
              wave->index, use_names[use], address, other);
  else if (record & CARRIED)
    ws__fault(wave, in, lane, "missing-wait",
              "wave %d %s LDS byte %u, which wave %d %s before the barrier "
              "without waiting for lgkmcnt",
              wave->index, use_names[use], address, other, what);
  else
    ws__fault(wave, in, lane, "lds-race",
              "wave %d %s LDS byte %u, which wave %d %s since the last barrier",
              wave->index, use_names[use], address, other, what);
}

/* Another wave wrote, nothing more, and what it left is what is written now. */
static bool is_same_value(const struct ws_lds_shadow *shadow,
                          const ws_wave *wave, ws_lds_use use, int lane,
                          const uint64_t address[WS_LANES], uint32_t byte,
                          uint64_t found, uint64_t record) {
  uint8_t stored[16];
  if (use != WS_LDS_WRITE || !shadow->rows || record >> LOADER_SHIFT ||
      record & CARRIED || found & ~(WRITER * ALL_WAVES) || shadow->poison[byte])
    return false;
  ws__lanes_store(shadow->rows, (uintptr_t)stored - address[lane], address,
                  1ull << lane, shadow->width);
  return stored[byte - address[lane]] == wave->group->lds[byte];
}

static void note_same_value(ws_wave *wave, const ws_instruction *in, int lane,
                            uint32_t address, uint64_t found) {
  ws__note(wave, in, lane, "lds-same-value",
           "wave %d writes LDS byte %u, which wave %d wrote since the last "
           "barrier; benign: the values are equal",
           wave->index, address, __builtin_ctzll(found) % 16);
}

/* One lane, byte by byte. in NULL: an access carried over a barrier. false:
 * reported. */
static bool touch_bytes(struct ws_lds_shadow *shadow, ws_wave *wave,
                        const ws_instruction *in, ws_lds_use use, int index,
                        int lane, const uint64_t lanes[WS_LANES],
                        uint32_t address, uint32_t bytes) {
  lds_rule rule = rule_of(use, index);
  for (uint32_t i = address; i < address + bytes; i++) {
    uint64_t *record = byte_record(shadow, i);
    uint64_t found = *record & rule.forbidden;
    uint64_t loader = *record >> LOADER_SHIFT;
    bool own_load = use == WS_LDS_DMA_WRITE && loader == (uint64_t)index + 1;
    if (in && found &&
        is_same_value(shadow, wave, use, lane, lanes, i, found, *record)) {
      note_same_value(wave, in, lane, i, found);
    } else if (in && (found || (loader && !own_load))) {
      report(wave, in, lane, use, i, found, *record);
      return false;
    }
    if (use == WS_LDS_DMA_WRITE)
      *record &= (1ull << LOADER_SHIFT) - 1;
    *record |= rule.mark | (in ? 0 : CARRIED);
  }
  return true;
}

/* ---- what is under way ------------------------------------------------------
 */

void ws__lds_shadow_issue(ws_wave *wave, bool vmem) {
  struct ws_lds_shadow *shadow = wave->group->shadow;
  (vmem ? shadow->vmem : shadow->lds)[wave->index].issued++;
}

__attribute__((target_clones("avx512f", "avx2", "default"))) static void
narrow(uint16_t to[WS_LANES], const uint64_t from[WS_LANES]) {
  for (int lane = 0; lane < WS_LANES; lane++)
    to[lane] = (uint16_t)from[lane];
}

static void keep(struct ws_lds_shadow *shadow, int wave, ws_lds_use use,
                 uint64_t mask, const uint64_t address[WS_LANES],
                 uint32_t bytes) {
  bool vmem = use == WS_LDS_DMA_WRITE;
  lds_queue *queue = vmem ? &shadow->vmem[wave] : &shadow->lds[wave];
  lds_operation *operation =
      vmem ? &shadow->vmem_kept[wave][queue->kept++ % KEPT_VMEM]
           : &shadow->lds_kept[wave][queue->kept++ % KEPT_LDS];
  operation->number = queue->issued;
  operation->mask = mask;
  operation->bytes = bytes;
  operation->use = use;
  narrow(operation->address, address);
}

/* Calls visit for the operations that instructions after `from`, up to `to`,
 * have left. */
typedef void (*visit_operation)(struct ws_lds_shadow *shadow, int wave,
                                const lds_operation *operation);

static void visit_kept(struct ws_lds_shadow *shadow, int wave, bool vmem,
                       uint64_t from, uint64_t to, visit_operation visit) {
  const lds_queue *queue = vmem ? &shadow->vmem[wave] : &shadow->lds[wave];
  const lds_operation *kept =
      vmem ? shadow->vmem_kept[wave] : shadow->lds_kept[wave];
  uint64_t room = vmem ? KEPT_VMEM : KEPT_LDS;
  uint64_t first = queue->kept > room ? queue->kept - room : 0;
  for (uint64_t i = first; i < queue->kept; i++) {
    const lds_operation *operation = &kept[i % room];
    if (operation->number > from && operation->number <= to)
      visit(shadow, wave, operation);
  }
}

static void carry(struct ws_lds_shadow *shadow, int wave,
                  const lds_operation *operation) {
  for (uint64_t mask = operation->mask; mask; mask &= mask - 1) {
    int lane = __builtin_ctzll(mask);
    touch_bytes(shadow, NULL, NULL, operation->use, wave, lane, NULL,
                operation->address[lane], operation->bytes);
  }
}

/* A load to LDS has arrived: from now on a write of its wave. */
static void arrive(struct ws_lds_shadow *shadow, int wave,
                   const lds_operation *operation) {
  for (uint64_t mask = operation->mask; mask; mask &= mask - 1) {
    uint32_t address = operation->address[__builtin_ctzll(mask)];
    for (uint32_t i = address; i < address + operation->bytes; i++) {
      uint64_t *record = byte_record(shadow, i);
      if (*record >> LOADER_SHIFT == (uint64_t)wave + 1)
        *record = (*record & (CARRIED - 1)) | WRITER << wave;
    }
  }
}

void ws__lds_shadow_wait(struct ws_lds_shadow *shadow, int wave, int vmcnt,
                         int lgkmcnt) {
  lds_queue *lds = &shadow->lds[wave], *vmem = &shadow->vmem[wave];
  if (lds->issued > (uint64_t)lgkmcnt &&
      lds->completed < lds->issued - (uint64_t)lgkmcnt)
    lds->completed = lds->issued - (uint64_t)lgkmcnt;
  if (vmem->issued <= (uint64_t)vmcnt ||
      vmem->completed >= vmem->issued - (uint64_t)vmcnt)
    return;
  uint64_t completed = vmem->issued - (uint64_t)vmcnt;
  if (shadow->loads_to_lds)
    visit_kept(shadow, wave, true, vmem->completed, completed, arrive);
  vmem->completed = completed;
}

void ws__lds_shadow_barrier(struct ws_lds_shadow *shadow) {
  next_interval(shadow);
  for (int wave = 0; wave < WS_SIM_MAX_WAVES; wave++) {
    visit_kept(shadow, wave, false, shadow->lds[wave].completed, UINT64_MAX,
               carry);
    if (shadow->loads_to_lds)
      visit_kept(shadow, wave, true, shadow->vmem[wave].completed, UINT64_MAX,
                 carry);
  }
}

/* ---- accesses ---------------------------------------------------------------
 */

/* Marks whole dwords of all lanes; returns what the records held before and
 * now. Marks of its own wave are never in its way, so marking first and looking
 * afterwards is right. */
static inline __attribute__((always_inline)) uint64_t
mark_lanes(uint64_t *dwords, uint64_t fresh, uint64_t mark, uint64_t mask,
           const uint64_t address[WS_LANES], uint32_t count) {
  uint64_t found[4] = {0};
  WS_EACH_LANE(lane, mask) {
    uint64_t *at = dwords + address[lane] / 4;
    for (uint32_t i = 0; i < count; i++) {
      uint64_t record = at[i];
      record = ((record ^ fresh) >> INTERVAL_SHIFT ? fresh : record) | mark;
      found[i] |= record;
      at[i] = record;
    }
  }
  return found[0] | found[1] | found[2] | found[3];
}

typedef int64_t records4 __attribute__((vector_size(32), aligned(8)));

/* The same of four dwords. Records of older intervals are less than fresh. */
static inline __attribute__((always_inline)) uint64_t
mark_lanes4(uint64_t *dwords, uint64_t fresh, uint64_t mark, uint64_t mask,
            const uint64_t address[WS_LANES]) {
  const records4 zero = {0}, fresh4 = zero + (int64_t)fresh;
  records4 found = zero;
  WS_EACH_LANE(lane, mask) {
    records4 *at = (records4 *)(dwords + address[lane] / 4);
    records4 record = *at;
    const records4 current = record > fresh4;
    record = (record & current) | (fresh4 & ~current) | (int64_t)mark;
    found |= record;
    *at = record;
  }
  return (uint64_t)(found[0] | found[1] | found[2] | found[3]);
}

__attribute__((target_clones("avx2", "default"))) static uint64_t
mark_dwords(uint64_t *dwords, uint64_t fresh, uint64_t mark, uint64_t mask,
            const uint64_t address[WS_LANES], uint32_t count) {
  switch (count) {
  case 1:
    return mark_lanes(dwords, fresh, mark, mask, address, 1);
  case 2:
    return mark_lanes(dwords, fresh, mark, mask, address, 2);
  case 3:
    return mark_lanes(dwords, fresh, mark, mask, address, 3);
  default:
    return mark_lanes4(dwords, fresh, mark, mask, address);
  }
}

/* Some record of one lane's is split or has another wave in the way. */
static bool is_special(const struct ws_lds_shadow *shadow, lds_rule rule,
                       uint64_t address, uint32_t count) {
  uint64_t found = 0;
  for (uint32_t i = 0; i < count; i++)
    found |= shadow->dwords[address / 4 + i];
  return found & (rule.forbidden | SPLIT);
}

void ws__lds_shadow_touch(ws_wave *wave, const ws_instruction *in,
                          ws_lds_use use, uint64_t mask,
                          const uint64_t address[WS_LANES], uint32_t bytes) {
  struct ws_lds_shadow *shadow = wave->group->shadow;
  shadow->loads_to_lds |= use == WS_LDS_DMA_WRITE;
  if (wave->group->wave_count == 1 && !shadow->loads_to_lds)
    return;
  lds_rule rule = rule_of(use, wave->index);
  bool whole = bytes % 4 == 0 && bytes <= 16 && use != WS_LDS_DMA_WRITE;
  keep(shadow, wave->index, use, mask, address, bytes);
  if (whole) {
    uint64_t found =
        mark_dwords(shadow->dwords, shadow->interval << INTERVAL_SHIFT,
                    rule.mark, mask, address, bytes / 4);
    if (!(found & (rule.forbidden | SPLIT)))
      return;
  }
  WS_EACH_LANE(lane, mask) {
    if (whole && !is_special(shadow, rule, address[lane], bytes / 4))
      continue;
    if (!touch_bytes(shadow, wave, in, use, wave->index, (int)lane, address,
                     (uint32_t)address[lane], bytes))
      return;
  }
}

void ws__lds_shadow_write(ws_wave *wave, const ws_instruction *in,
                          uint64_t mask, const uint64_t address[WS_LANES],
                          const ws_vector *rows, ws_width width) {
  struct ws_lds_shadow *shadow = wave->group->shadow;
  shadow->rows = rows;
  shadow->width = width;
  ws__lds_shadow_touch(wave, in, WS_LDS_WRITE, mask, address, width.bytes);
  shadow->rows = NULL;
}
