/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The overlay of timed runs: a hash table of copied pages. Pages are only
 * added while it is open, by compare-and-swap at the head of a chain, so that
 * lookups need no lock.
 */
#include "memory_internal.h"
#include <stdatomic.h>
#include <stdlib.h>

enum { BUCKET_BITS = 14, BUCKETS = 1 << BUCKET_BITS };

typedef struct page_copy {
  uint8_t data[WS_PAGE];
  uint8_t known[WS_PAGE]; /* by byte: ws__overlay_set_known */
  uint64_t page;
  struct page_copy *next;
} page_copy;

struct ws_overlay {
  _Atomic bool used; /* some page has a copy */
  _Atomic(page_copy *) buckets[BUCKETS];
};

void ws__overlay_open(ws_memory *memory) {
  ws__overlay_close(memory);
  memory->overlay = calloc(1, sizeof *memory->overlay);
  WS_ASSERT(memory->overlay);
}

void ws__overlay_close(ws_memory *memory) {
  struct ws_overlay *overlay = memory->overlay;
  memory->overlay = NULL;
  if (!overlay)
    return;
  for (int i = 0; i < BUCKETS; i++) {
    page_copy *next, *copy = atomic_load(&overlay->buckets[i]);
    for (; copy; copy = next) {
      next = copy->next;
      free(copy);
    }
  }
  free(overlay);
}

static page_copy *find_copy(page_copy *chain, uint64_t page) {
  while (chain && chain->page != page)
    chain = chain->next;
  return chain;
}

static page_copy *make_copy(struct ws_overlay *overlay,
                            _Atomic(page_copy *) *bucket, uint64_t page) {
  page_copy *copy = aligned_alloc(64, (sizeof *copy + 63) / 64 * 64);
  WS_ASSERT(copy);
  memcpy(copy->data, (const void *)(uintptr_t)page, WS_PAGE);
  memset(copy->known, 0, WS_PAGE);
  copy->page = page;
  copy->next = atomic_load(bucket);
  do {
    page_copy *other = find_copy(copy->next, page);
    if (other) { /* another thread was faster */
      free(copy);
      return other;
    }
  } while (!atomic_compare_exchange_weak(bucket, &copy->next, copy));
  atomic_store(&overlay->used, true);
  return copy;
}

bool ws__overlay_is_empty(const ws_memory *memory) {
  return !memory->overlay ||
         !atomic_load_explicit(&memory->overlay->used, memory_order_acquire);
}

static page_copy *copy_of(ws_memory *memory, uint64_t address, bool store) {
  struct ws_overlay *overlay = memory->overlay;
  if (!overlay || (!store && ws__overlay_is_empty(memory)))
    return NULL;
  uint64_t page = address & ~(uint64_t)(WS_PAGE - 1);
  uint64_t hash = (page >> 12) * 0x9e3779b97f4a7c15ull;
  _Atomic(page_copy *) *bucket = &overlay->buckets[hash >> (64 - BUCKET_BITS)];
  page_copy *copy = find_copy(atomic_load(bucket), page);
  return !copy && store ? make_copy(overlay, bucket, page) : copy;
}

void *ws__overlay_place(ws_memory *memory, uint64_t address, bool store) {
  page_copy *copy = copy_of(memory, address, store);
  return copy ? copy->data + (address - copy->page)
              : (void *)(uintptr_t)address;
}

void ws__overlay_set_known(ws_memory *memory, uint64_t address,
                           uint32_t bytes) {
  while (bytes) {
    page_copy *copy = copy_of(memory, address, true);
    const uint32_t left = (uint32_t)(copy->page + WS_PAGE - address);
    const uint32_t here = bytes < left ? bytes : left;
    memset(copy->known + (address - copy->page), 1, here);
    address += here;
    bytes -= here;
  }
}

static bool is_known(ws_memory *memory, uint64_t address) {
  const page_copy *copy = copy_of(memory, address, false);
  return copy && copy->known[address - copy->page];
}

bool ws__is_unknown_to(const ws_group *group, uint64_t address) {
  return ws__memory_is_unknown(group->memory, address) &&
         !(group->timing && is_known(group->memory, address));
}
