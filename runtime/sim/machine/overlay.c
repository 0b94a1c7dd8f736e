/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The overlay of timed runs: a hash table of copied pages. Pages are only
 * added while it is open, by compare-and-swap at the head of a chain, so that
 * lookups need no lock.
 *
 * A launch is timed in several passes, each with an overlay of its own, and a
 * tuner times thousands of launches: room for copies is kept from one overlay
 * to the next. Given back to the system and fetched anew page by page, it cost
 * half of a timed run.
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

/* Room comes in blocks, by number. More of them than any launch here could
 * fill: 32 GiB of copies. */
enum { BLOCK_COPIES = 64, MOST_BLOCKS = 1 << 16 };
enum { KEPT_BLOCKS = 256 }; /* 128 MiB, from one overlay to the next */

struct ws_overlay {
  _Atomic size_t taken; /* copies; 0: no page has one */
  _Atomic(page_copy *) buckets[BUCKETS];
  _Atomic(page_copy *) blocks[MOST_BLOCKS];
};

static void free_blocks(struct ws_overlay *overlay, size_t from, size_t to) {
  for (size_t i = from; i < to; i++) {
    free(atomic_load(&overlay->blocks[i]));
    atomic_store(&overlay->blocks[i], NULL);
  }
}

void ws__overlay_open(ws_memory *memory) {
  ws__overlay_close(memory);
  if (!memory->overlay)
    memory->overlay = calloc(1, sizeof *memory->overlay);
  WS_ASSERT(memory->overlay);
  memory->overlay_open = true;
}

void ws__overlay_close(ws_memory *memory) {
  struct ws_overlay *overlay = memory->overlay;
  if (!memory->overlay_open)
    return;
  memory->overlay_open = false;
  const size_t taken = atomic_load(&overlay->taken);
  free_blocks(overlay, KEPT_BLOCKS, taken / BLOCK_COPIES + 1);
  if (taken)
    memset(overlay->buckets, 0, sizeof overlay->buckets);
  atomic_store(&overlay->taken, 0);
}

void ws__overlay_free(ws_memory *memory) {
  if (!memory->overlay)
    return;
  ws__overlay_close(memory);
  free_blocks(memory->overlay, 0, KEPT_BLOCKS);
  free(memory->overlay);
}

/* A place that nobody else has. */
static page_copy *take_place(struct ws_overlay *overlay) {
  const size_t number = atomic_fetch_add(&overlay->taken, 1);
  WS_ASSERT(number / BLOCK_COPIES < MOST_BLOCKS);
  _Atomic(page_copy *) *block = &overlay->blocks[number / BLOCK_COPIES];
  page_copy *places = atomic_load(block);
  if (!places) {
    page_copy *fresh = aligned_alloc(64, BLOCK_COPIES * sizeof *fresh);
    WS_ASSERT(fresh);
    if (atomic_compare_exchange_strong(block, &places, fresh))
      places = fresh;
    else /* another thread was faster */
      free(fresh);
  }
  return &places[number % BLOCK_COPIES];
}

static page_copy *find_copy(page_copy *chain, uint64_t page) {
  while (chain && chain->page != page)
    chain = chain->next;
  return chain;
}

static page_copy *make_copy(struct ws_overlay *overlay,
                            _Atomic(page_copy *) *bucket, uint64_t page) {
  page_copy *copy = take_place(overlay);
  memcpy(copy->data, (const void *)(uintptr_t)page, WS_PAGE);
  memset(copy->known, 0, WS_PAGE);
  copy->page = page;
  copy->next = atomic_load(bucket);
  do {
    page_copy *other = find_copy(copy->next, page);
    if (other) /* another thread was faster; the place stays empty */
      return other;
  } while (!atomic_compare_exchange_weak(bucket, &copy->next, copy));
  return copy;
}

bool ws__overlay_is_empty(const ws_memory *memory) {
  return !memory->overlay_open ||
         !atomic_load_explicit(&memory->overlay->taken, memory_order_acquire);
}

static page_copy *copy_of(ws_memory *memory, uint64_t address, bool store) {
  struct ws_overlay *overlay = memory->overlay;
  if (!memory->overlay_open || (!store && ws__overlay_is_empty(memory)))
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
