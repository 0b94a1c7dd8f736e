/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the Infinity Cache holds between operations of the device (launches,
 * copies, fills): the ranges that they touched.
 * Ranges and not lines, since a timed launch is not run as a whole: an
 * operation is known by the allocations that it was given.
 *
 * LRU by operations: the oldest lose bytes first, the ranges of one operation
 * in proportion. An operation that touches more than the cache holds leaves it
 * holding nothing that is known: which part would be the last is not.
 */
#ifndef WAVESMITH_SIM_HELD_H
#define WAVESMITH_SIM_HELD_H

#include "wavesmith/sim.h"

enum { WS_HELD_RANGES = 64, WS_HELD_PARTS = 16 };

typedef struct ws_held {
  struct ws_held_range {
    uint64_t begin, bytes;
    uint64_t held;          /* of the bytes */
    uint64_t operation;     /* which touched it last, counted from 1 */
  } ranges[WS_HELD_RANGES]; /* disjoint, in the order of their operations */
  int count;
  uint64_t operations;
} ws_held;

/* One operation. capacity: bytes of the cache. */
void ws__held_touch(ws_held *held, const ws_sim_range *ranges, int count,
                    uint64_t capacity);
/* Memory that is freed. */
void ws__held_forget(ws_held *held, uint64_t begin, uint64_t bytes);
/* Whether the cache holds the line at address. Of a range that it holds in part
 * every 4 KiB are there or not, as many as WS_HELD_PARTS-ths say; which ones is
 * a matter of the address in its range alone. */
bool ws__held_has(const ws_held *held, uint64_t address);
/* How much of these bytes is held, in WS_HELD_PARTS-ths, rounded down. */
int ws__held_parts(const ws_held *held, uint64_t begin, uint64_t bytes);

#endif
