/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the Infinity Cache holds between operations.
 */
#include "held.h"

#include <string.h>

typedef struct ws_held_range held_range;

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void drop(ws_held *held, int index) {
  held->count--;
  memmove(&held->ranges[index], &held->ranges[index + 1],
          (size_t)(held->count - index) * sizeof *held->ranges);
}

/* Behind those of the same operation; the oldest makes room. */
static void insert(ws_held *held, int index, held_range range) {
  if (!range.bytes || !range.held)
    return;
  if (held->count == WS_HELD_RANGES) {
    if (!index) /* it is the oldest itself */
      return;
    drop(held, 0);
    index--;
  }
  memmove(&held->ranges[index + 1], &held->ranges[index],
          (size_t)(held->count - index) * sizeof *held->ranges);
  held->ranges[index] = range;
  held->count++;
}

static uint64_t share_of(uint64_t part, uint64_t whole, uint64_t held) {
  return (uint64_t)((double)held * (double)part / (double)whole);
}

/* bytes from begin of the range, which holds as much of them as of all. */
static held_range piece(const held_range *range, uint64_t begin,
                        uint64_t bytes) {
  held_range cut = *range;
  cut.begin = begin;
  cut.bytes = bytes;
  cut.held = share_of(bytes, range->bytes, range->held);
  return cut;
}

void ws__held_forget(ws_held *held, uint64_t begin, uint64_t bytes) {
  const uint64_t end = begin + bytes;
  for (int i = held->count - 1; i >= 0; i--) {
    const held_range range = held->ranges[i];
    const uint64_t range_end = range.begin + range.bytes;
    if (range.begin >= end || range_end <= begin)
      continue;
    drop(held, i);
    if (range_end > end)
      insert(held, i, piece(&range, end, range_end - end));
    if (range.begin < begin)
      insert(held, least((uint64_t)i, (uint64_t)held->count),
             piece(&range, range.begin, begin - range.begin));
  }
}

static uint64_t bytes_of(const ws_held *held, uint64_t operation) {
  uint64_t bytes = 0;
  for (int i = 0; i < held->count; i++)
    if (!operation || held->ranges[i].operation == operation)
      bytes += held->ranges[i].held;
  return bytes;
}

/* The oldest operation loses `excess` bytes, at most all it has. */
static void shrink_oldest(ws_held *held, uint64_t excess) {
  const uint64_t oldest = held->ranges[0].operation;
  const uint64_t bytes = bytes_of(held, oldest);
  for (int i = held->count - 1; i >= 0; i--) {
    held_range *range = &held->ranges[i];
    if (range->operation != oldest)
      continue;
    range->held =
        excess < bytes ? share_of(bytes - excess, bytes, range->held) : 0;
    if (!range->held)
      drop(held, i);
  }
}

void ws__held_touch(ws_held *held, const ws_sim_range *ranges, int count,
                    uint64_t capacity) {
  const uint64_t operation = ++held->operations;
  for (int i = 0; i < count; i++) {
    const uint64_t begin = (uint64_t)(uintptr_t)ranges[i].begin;
    ws__held_forget(held, begin, ranges[i].bytes);
    insert(held, held->count,
           (held_range){begin, ranges[i].bytes, ranges[i].bytes, operation});
  }
  if (bytes_of(held, operation) > capacity) {
    held->count = 0;
    return;
  }
  for (uint64_t all = bytes_of(held, 0); all > capacity;
       all = bytes_of(held, 0))
    shrink_oldest(held, all - capacity);
}

/* 0 to WS_HELD_PARTS - 1, evenly: 4 KiB pages by multiplicative hashing. */
static int part_of(uint64_t offset) {
  return (int)((offset / 4096 + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 60);
}

bool ws__held_has(const ws_held *held, uint64_t address) {
  for (int i = held->count - 1; i >= 0; i--) {
    const held_range *range = &held->ranges[i];
    if (address - range->begin >= range->bytes)
      continue;
    return range->held == range->bytes ||
           (uint64_t)part_of(address - range->begin) <
               share_of(WS_HELD_PARTS, range->bytes, range->held);
  }
  return false;
}

int ws__held_parts(const ws_held *held, uint64_t begin, uint64_t bytes) {
  uint64_t found = 0;
  for (int i = 0; i < held->count; i++) {
    const held_range *range = &held->ranges[i];
    const uint64_t from = range->begin > begin ? range->begin : begin;
    const uint64_t to = least(range->begin + range->bytes, begin + bytes);
    if (from < to)
      found += share_of(to - from, range->bytes, range->held);
  }
  return bytes ? (int)share_of(WS_HELD_PARTS, bytes, found) : 0;
}
