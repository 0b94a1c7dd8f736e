/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What was chosen for the latest shapes, so that a repeat asks no selection.
 * Direct-mapped: a shape has one slot, by a hash of its sizes, and the newest
 * shape has it. Each slot has a sequence lock, so that any number of threads
 * reads and writes and none waits: who meets a writer takes it for a miss, a
 * writer that meets another leaves the slot to it.
 */
#ifndef WAVESMITH_RT_CACHE_H
#define WAVESMITH_RT_CACHE_H

#include <stdint.h>

typedef struct ws__choice {
  int32_t candidate; /* index; -1: the shape is not legal */
  int32_t miss;      /* of ws__misses_find */
} ws__choice;

typedef struct ws__cache ws__cache;
/* NULL: out of memory. */
ws__cache *ws__cache_create(uint32_t dimension_count);
void ws__cache_destroy(ws__cache *cache); /* NULL is allowed */
/* 1: *out_choice is what was put for this shape. */
int ws__cache_get(const ws__cache *cache, const long long *shape,
                  ws__choice *out_choice);
void ws__cache_put(ws__cache *cache, const long long *shape, ws__choice choice);
/* Of a shape's sizes; all bits are worth using. */
uint64_t ws__shape_hash(const long long *shape, uint32_t dimension_count);

#endif
