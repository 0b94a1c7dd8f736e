/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Moves lanes between registers (a row of 64 lanes per register) and memory (a
 * lane's dwords side by side): four lanes at a time are transposed in vector
 * registers when all lanes are active, one lane at a time otherwise.
 */
#include "memory_lanes.h"

typedef uint32_t dwords4 __attribute__((vector_size(16)));

ws_vector *ws__rows(ws_wave *wave, const ws_instruction *in,
                    const ws_operand *operand, int count) {
  if (operand->kind == WS_OPERAND_VECTOR &&
      operand->index + count <= WS_VECTORS)
    return &wave->vgpr[operand->index];
  ws__fault(wave, in, -1, "unsupported",
            "memory operand is not %d vector registers", count);
  return NULL;
}

/* ---- dwords ----------------------------------------------------------------
 */

static inline void transpose(dwords4 x[4]) {
  dwords4 a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
  dwords4 b = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
  dwords4 c = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
  dwords4 d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
  x[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  x[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  x[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  x[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

static inline dwords4 load_lane(uintptr_t at, int count) {
  uint64_t pair[2] = {0, 0};
  uint32_t third = 0;
  if (count == 4) {
    dwords4 all;
    memcpy(&all, (const void *)at, sizeof all);
    return all;
  }
  memcpy(pair, (const void *)at, sizeof *pair);
  if (count == 3)
    memcpy(&third, (const void *)(at + 8), sizeof third);
  return (dwords4){(uint32_t)pair[0], (uint32_t)(pair[0] >> 32), third, 0};
}

static inline void store_lane(dwords4 x, uintptr_t at, int count) {
  uint64_t pair = x[0] | (uint64_t)x[1] << 32;
  uint32_t third = x[2];
  if (count == 4) {
    memcpy((void *)at, &x, sizeof x);
    return;
  }
  memcpy((void *)at, &pair, sizeof pair);
  if (count == 3)
    memcpy((void *)(at + 8), &third, sizeof third);
}

static inline void load_all(ws_vector *rows, uintptr_t base,
                            const uint64_t address[WS_LANES], int count) {
  for (int lane = 0; lane < WS_LANES; lane += 4) {
    dwords4 x[4];
    for (int i = 0; i < 4; i++)
      x[i] = load_lane(base + address[lane + i], count);
    transpose(x);
    for (int row = 0; row < count; row++)
      memcpy(&rows[row].u32[lane], &x[row], sizeof *x);
  }
}

static inline void store_all(const ws_vector *rows, uintptr_t base,
                             const uint64_t address[WS_LANES], int count) {
  for (int lane = 0; lane < WS_LANES; lane += 4) {
    dwords4 x[4] = {0};
    for (int row = 0; row < count; row++)
      memcpy(&x[row], &rows[row].u32[lane], sizeof *x);
    transpose(x);
    for (int i = 0; i < 4; i++)
      store_lane(x[i], base + address[lane + i], count);
  }
}

static void load_dwords(ws_vector *rows, uintptr_t base,
                        const uint64_t address[WS_LANES], uint64_t mask,
                        int count) {
  if (mask == UINT64_MAX) {
    switch (count) {
    case 1:
      for (int lane = 0; lane < WS_LANES; lane++)
        memcpy(&rows->u32[lane], (const void *)(base + address[lane]), 4);
      return;
    case 2:
      load_all(rows, base, address, 2);
      return;
    case 3:
      load_all(rows, base, address, 3);
      return;
    default:
      load_all(rows, base, address, 4);
      return;
    }
  }
  WS_EACH_LANE(lane, mask)
  for (int row = 0; row < count; row++)
    memcpy(&rows[row].u32[lane],
           (const void *)(base + address[lane] + (unsigned)row * 4), 4);
}

static void store_dwords(const ws_vector *rows, uintptr_t base,
                         const uint64_t address[WS_LANES], uint64_t mask,
                         int count) {
  if (mask == UINT64_MAX) {
    switch (count) {
    case 1:
      for (int lane = 0; lane < WS_LANES; lane++)
        memcpy((void *)(base + address[lane]), &rows->u32[lane], 4);
      return;
    case 2:
      store_all(rows, base, address, 2);
      return;
    case 3:
      store_all(rows, base, address, 3);
      return;
    default:
      store_all(rows, base, address, 4);
      return;
    }
  }
  WS_EACH_LANE(lane, mask)
  for (int row = 0; row < count; row++)
    memcpy((void *)(base + address[lane] + (unsigned)row * 4),
           &rows[row].u32[lane], 4);
}

/* ---- less than a dword -----------------------------------------------------
 */

static uint32_t extend(uint32_t value, ws_width width) {
  if (!width.is_signed)
    return value;
  return width.bytes == 1 ? (uint32_t)(int8_t)(uint8_t)value
                          : (uint32_t)(int16_t)(uint16_t)value;
}

static uint32_t merge(uint32_t old, uint32_t value, ws_width width) {
  value = extend(value, width);
  switch (width.half) {
  case 1:
    return (old & 0xffff0000) | (value & 0xffff);
  case 2:
    return (old & 0xffff) | value << 16;
  default:
    return value;
  }
}

void ws__lanes_load(ws_vector *rows, uintptr_t base,
                    const uint64_t address[WS_LANES], uint64_t mask,
                    ws_width width) {
  if (width.bytes >= 4) {
    load_dwords(rows, base, address, mask, width.bytes / 4);
    return;
  }
  WS_EACH_LANE(lane, mask) {
    uint16_t value = 0;
    memcpy(&value, (const void *)(base + address[lane]),
           width.bytes == 1 ? 1 : 2);
    rows->u32[lane] = merge(rows->u32[lane], value, width);
  }
}

void ws__lanes_store(const ws_vector *rows, uintptr_t base,
                     const uint64_t address[WS_LANES], uint64_t mask,
                     ws_width width) {
  if (width.bytes >= 4) {
    store_dwords(rows, base, address, mask, width.bytes / 4);
    return;
  }
  WS_EACH_LANE(lane, mask) {
    uint32_t value = rows->u32[lane] >> (width.half == 2 ? 16 : 0);
    memcpy((void *)(base + address[lane]), &value, width.bytes == 1 ? 1 : 2);
  }
}

/* ---- poison ----------------------------------------------------------------
 */

static inline __attribute__((always_inline)) bool
any_poison_of(uintptr_t base, const uint64_t address[WS_LANES], uint64_t mask,
              uint32_t bytes) {
  uint64_t any[2] = {0, 0};
  WS_EACH_LANE(lane, mask) {
    uint64_t some[2] = {0, 0};
    memcpy(some, (const void *)(base + address[lane]), bytes);
    any[0] |= some[0];
    any[1] |= some[1];
  }
  return any[0] | any[1];
}

/* All lanes, all four dwords: the case that has to be quick. */
static inline bool any_poison_of_all(uintptr_t base,
                                     const uint64_t address[WS_LANES]) {
  dwords4 any = {0};
  uint64_t halves[2];
  for (int lane = 0; lane < WS_LANES; lane++)
    any |= load_lane(base + address[lane], 4);
  memcpy(halves, &any, sizeof halves);
  return halves[0] | halves[1];
}

static bool any_poison(uintptr_t base, const uint64_t address[WS_LANES],
                       uint64_t mask, uint32_t bytes) {
  switch (bytes) {
  case 4:
    return any_poison_of(base, address, mask, 4);
  case 8:
    return any_poison_of(base, address, mask, 8);
  case 16:
    return mask == UINT64_MAX ? any_poison_of_all(base, address)
                              : any_poison_of(base, address, mask, 16);
  default:
    return any_poison_of(base, address, mask, bytes);
  }
}

/* Only the low or high half of a D16 load's register is known about; the other
 * half counts as written, lest a register that is filled in two steps stay
 * poisoned. */
void ws__lanes_load_poison(ws_wave *wave, int first, uintptr_t base,
                           const uint64_t address[WS_LANES], uint64_t mask,
                           ws_width width) {
  int count = ws_dwords(width);
  uint32_t step = width.bytes < 4 ? width.bytes : 4;
  bool clean = !base || !any_poison(base, address, mask, width.bytes);
  for (int row = 0; row < count; row++) {
    uint64_t poison = 0;
    if (!clean)
      WS_EACH_LANE(lane, mask) {
        uint32_t some = 0;
        memcpy(&some, (const void *)(base + address[lane] + (unsigned)row * 4),
               step);
        poison |= (uint64_t)(some != 0) << lane;
      }
    ws_set_lane_poison(wave, first + row, mask, poison);
  }
}

static void clear_poison(uintptr_t base, const uint64_t address[WS_LANES],
                         uint64_t mask, uint32_t bytes) {
  if (bytes == 16)
    WS_EACH_LANE(lane, mask) memset((void *)(base + address[lane]), 0, 16);
  else if (bytes == 8)
    WS_EACH_LANE(lane, mask) memset((void *)(base + address[lane]), 0, 8);
  else if (bytes == 4)
    WS_EACH_LANE(lane, mask) memset((void *)(base + address[lane]), 0, 4);
  else
    WS_EACH_LANE(lane, mask) memset((void *)(base + address[lane]), 0, bytes);
}

void ws__lanes_store_poison(const ws_wave *wave, int first, uintptr_t base,
                            const uint64_t address[WS_LANES], uint64_t mask,
                            ws_width width) {
  int count = ws_dwords(width);
  uint32_t step = width.bytes < 4 ? width.bytes : 4;
  uint64_t poison[4], any = 0;
  for (int row = 0; row < count; row++)
    any |= poison[row] = wave->vector_poison[first + row] & mask;
  if (!any) {
    clear_poison(base, address, mask, width.bytes);
    return;
  }
  WS_EACH_LANE(lane, mask)
  for (int row = 0; row < count; row++) {
    uint32_t bytes = (uint32_t)(poison[row] >> lane & 1) * 0x01010101u;
    memcpy((void *)(base + address[lane] + (unsigned)row * 4), &bytes, step);
  }
}

/* ---- extent ----------------------------------------------------------------
 */

__attribute__((target_clones("avx512f", "avx2", "default"))) ws_span_of_lanes
ws__lanes_span(const uint64_t address[WS_LANES], uint64_t mask) {
  ws_span_of_lanes span = {UINT64_MAX, 0, 0};
  if (mask == UINT64_MAX) {
    for (int lane = 0; lane < WS_LANES; lane++) {
      uint64_t value = address[lane];
      span.low = value < span.low ? value : span.low;
      span.high = value > span.high ? value : span.high;
      span.bits |= value;
    }
    return span;
  }
  WS_EACH_LANE(lane, mask) {
    uint64_t value = address[lane];
    span.low = value < span.low ? value : span.low;
    span.high = value > span.high ? value : span.high;
    span.bits |= value;
  }
  return span;
}

/* ---- LDS -------------------------------------------------------------------
 */

static void fault_outside(ws_wave *wave, const ws_instruction *in, int lane,
                          uint64_t address, uint32_t bytes) {
  uint64_t end = address + bytes, reserved = wave->group->lds_bytes;
  ws__fault(wave, in, lane, "oob-lds",
            "%u bytes at LDS byte %llu end %llu bytes beyond the %llu that "
            "the launch reserved",
            bytes, (unsigned long long)address,
            (unsigned long long)(end - reserved), (unsigned long long)reserved);
}

/* Slots of 16 bytes behind LDS, zero: one per lane, and one more per lane for
 * the second address of a pair. */
static uint64_t nowhere(ws_wave *wave, int lane, bool second) {
  const uint64_t place = WS_LDS_BYTES + 16 * (uint64_t)(lane + 64 * second);
  memset(wave->group->lds + place, 0, 16);
  return place;
}

bool ws__lds_lanes(ws_wave *wave, const ws_instruction *in,
                   uint64_t address[WS_LANES], uint64_t mask, uint32_t bytes,
                   uint32_t alignment) {
  const ws_group *group = wave->group;
  const uint64_t reserved =
      group->checked ? group->lds_bytes : ws_lds_reserved(group);
  WS_EACH_LANE(lane, mask) {
    if (address[lane] + bytes > reserved) {
      if (group->checked) {
        fault_outside(wave, in, (int)lane, address[lane], bytes);
        return false;
      }
      address[lane] = nowhere(wave, (int)lane, address == wave->access.second);
    }
    if (address[lane] & (alignment - 1)) {
      ws__fault(wave, in, (int)lane, "misaligned",
                "LDS byte %llu is not a multiple of %u",
                (unsigned long long)address[lane], alignment);
      return false;
    }
  }
  return true;
}
