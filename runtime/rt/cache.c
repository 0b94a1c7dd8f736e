/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A slot is a row of words: version, choice, sizes. The version is odd while
 * the slot is written and 0 before it ever was. A writer makes it odd, stores
 * the rest, makes it even; a reader that finds the same even version before
 * and after has read one whole entry. The data are released and acquired word
 * by word: who reads a word of a newer entry then also sees that entry's odd
 * version (or a later one), without a fence.
 */
#include "cache.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Slots, a power of two: batch sizes times layers that a server repeats are
 * some hundreds. 64 KiB with three dimensions. */
enum { SLOT_BITS = 10, SLOTS = 1 << SLOT_BITS };

enum { VERSION, CHOICE, SIZES };
typedef _Atomic uint64_t word;

struct ws__cache {
  uint32_t dimension_count;
  uint32_t stride; /* words of a slot */
  word *words;
};

ws__cache *ws__cache_create(uint32_t dimension_count) {
  ws__cache *cache = malloc(sizeof *cache);
  if (!cache)
    return NULL;
  *cache = (ws__cache){.dimension_count = dimension_count,
                       .stride = SIZES + dimension_count};
  cache->words = calloc((size_t)SLOTS * cache->stride, sizeof *cache->words);
  if (!cache->words) {
    free(cache);
    return NULL;
  }
  return cache;
}

void ws__cache_destroy(ws__cache *cache) {
  if (!cache)
    return;
  free(cache->words);
  free(cache);
}

/* Multiplies by 2^64 / golden ratio (Knuth, TAOCP 3, 6.4), whose upper bits
 * depend on all bits of the sizes; the shift brings them down again. */
uint64_t ws__shape_hash(const long long *shape, uint32_t dimension_count) {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < dimension_count; i++) {
    hash = (hash ^ (uint64_t)shape[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return hash;
}

static word *slot_of(const ws__cache *cache, const long long *shape) {
  uint64_t hash = ws__shape_hash(shape, cache->dimension_count);
  return cache->words + (hash & (SLOTS - 1)) * cache->stride;
}

int ws__cache_get(const ws__cache *cache, const long long *shape,
                  ws__choice *out_choice) {
  word *slot = slot_of(cache, shape);
  uint64_t version = atomic_load_explicit(&slot[VERSION], memory_order_acquire);
  if (version == 0 || version % 2)
    return 0;
  for (uint32_t i = 0; i < cache->dimension_count; i++)
    if (atomic_load_explicit(&slot[SIZES + i], memory_order_acquire) !=
        (uint64_t)shape[i])
      return 0;
  uint64_t choice = atomic_load_explicit(&slot[CHOICE], memory_order_acquire);
  *out_choice = (ws__choice){.candidate = (int32_t)(uint32_t)(choice >> 32),
                             .miss = (int32_t)(uint32_t)choice};
  return atomic_load_explicit(&slot[VERSION], memory_order_relaxed) == version;
}

void ws__cache_put(ws__cache *cache, const long long *shape,
                   ws__choice choice) {
  word *slot = slot_of(cache, shape);
  uint64_t version = atomic_load_explicit(&slot[VERSION], memory_order_relaxed);
  if (version % 2 || !atomic_compare_exchange_strong_explicit(
                         &slot[VERSION], &version, version + 1,
                         memory_order_acquire, memory_order_relaxed))
    return;
  atomic_store_explicit(&slot[CHOICE],
                        (uint64_t)(uint32_t)choice.candidate << 32 |
                            (uint32_t)choice.miss,
                        memory_order_release);
  for (uint32_t i = 0; i < cache->dimension_count; i++)
    atomic_store_explicit(&slot[SIZES + i], (uint64_t)shape[i],
                          memory_order_release);
  atomic_store_explicit(&slot[VERSION], version + 2, memory_order_release);
}
