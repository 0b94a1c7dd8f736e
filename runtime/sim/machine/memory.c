/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Device memory. One large range of address space is reserved and handed out
 * from low to high; each allocation gets its own pages with an inaccessible
 * page before and after it and ends as close to the latter as its alignment
 * allows. A freed range loses its pages but stays in the table, so that a late
 * access is reported as such, until enough of the space has gone by.
 *
 * The table is sorted by address. Which allocations there are carries a number
 * (generation) that no other state of any memory has, so that a cached answer
 * cannot outlive a change.
 *
 * The overlay of timed runs is in overlay.c.
 */
#include "memory_internal.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 256, HUGE_PAGE = 1 << 21, MOST_FREED = 32768 };
static const uint64_t space_sizes[] = {1ull << 38, 1ull << 36, 1ull << 34,
                                       1ull << 32};

static uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

static void new_generation(ws_memory *memory) {
  static _Atomic uint64_t last;
  memory->generation = atomic_fetch_add(&last, 1) + 1;
}

ws_memory *ws__memory_create(void) {
  ws_memory *memory = calloc(1, sizeof *memory);
  WS_ASSERT(memory);
  void *space = MAP_FAILED;
  for (size_t i = 0; i < sizeof space_sizes / sizeof *space_sizes; i++) {
    memory->space_bytes = space_sizes[i];
    space = mmap(NULL, memory->space_bytes + HUGE_PAGE, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space != MAP_FAILED)
      break;
  }
  WS_ASSERT(space != MAP_FAILED);
  /* Where the host puts it is by chance; what comes of addresses (sets of
   * caches, channels) must not be. */
  memory->reserved = space;
  memory->space = round_up((uint64_t)(uintptr_t)space, HUGE_PAGE);
  memory->cursor = memory->space + WS_PAGE;
  new_generation(memory);
  return memory;
}

void ws__memory_destroy(ws_memory *memory) {
  if (!memory)
    return;
  ws__overlay_free(memory);
  for (size_t i = 0; i < memory->range_count; i++)
    free(memory->ranges[i].stored);
  munmap(memory->reserved, memory->space_bytes + HUGE_PAGE);
  free(memory->ranges);
  free(memory);
}

/* Index of the last range that begins at or below address; -1: none. */
static int64_t range_below(const ws_memory *memory, uint64_t address) {
  int64_t low = 0, high = (int64_t)memory->range_count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (memory->ranges[middle].pages <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low - 1;
}

/* The live range that holds all of the access; NULL: none does. */
static const ws_range *range_of(const ws_memory *memory, uint64_t address,
                                uint32_t bytes) {
  int64_t index = range_below(memory, address);
  if (index < 0)
    return NULL;
  const ws_range *range = &memory->ranges[index];
  bool inside = range->kind != WS_RANGE_FREED && address >= range->begin &&
                bytes <= range->bytes &&
                address - range->begin <= range->bytes - bytes;
  return inside ? range : NULL;
}

/* Where size bytes of pages find room at or above the cursor, a guard page on
 * both sides; 0: nowhere before the end of the space. Freed ranges in the way
 * are forgotten by the caller. */
static uint64_t room_above(const ws_memory *memory, uint64_t size,
                           uint64_t alignment) {
  uint64_t end = memory->space + memory->space_bytes - WS_PAGE;
  uint64_t at = round_up(memory->cursor, alignment);
  int64_t index = range_below(memory, at);
  for (index = index < 0 ? 0 : index; index < (int64_t)memory->range_count;
       index++) {
    const ws_range *range = &memory->ranges[index];
    if (range->pages >= at + size + WS_PAGE)
      break;
    if (range->kind != WS_RANGE_FREED &&
        range->pages + range->page_bytes + WS_PAGE > at)
      at = round_up(range->pages + range->page_bytes + WS_PAGE, alignment);
  }
  return at <= end && size <= end - at ? at : 0;
}

/* Drops freed ranges that begin in [from, to) or were freed before serial. */
static void forget_freed(ws_memory *memory, uint64_t from, uint64_t to,
                         uint64_t serial) {
  size_t kept = 0;
  for (size_t i = 0; i < memory->range_count; i++) {
    const ws_range *range = &memory->ranges[i];
    bool overlaps =
        range->pages < to && range->pages + range->page_bytes > from;
    if (range->kind == WS_RANGE_FREED && (overlaps || range->serial < serial))
      memory->freed_count--;
    else
      memory->ranges[kept++] = *range;
  }
  memory->range_count = kept;
}

static void insert_range(ws_memory *memory, ws_range range) {
  if (memory->range_count == memory->range_capacity) {
    memory->range_capacity = memory->range_capacity * 2 + 64;
    memory->ranges = realloc(memory->ranges,
                             memory->range_capacity * sizeof *memory->ranges);
    WS_ASSERT(memory->ranges);
  }
  size_t index = (size_t)(range_below(memory, range.pages) + 1);
  memmove(&memory->ranges[index + 1], &memory->ranges[index],
          (memory->range_count - index) * sizeof range);
  memory->ranges[index] = range;
  memory->range_count++;
}

static bool exceeds_host(const ws_memory *memory, uint64_t bytes) {
  uint64_t host =
      (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  return bytes > host || memory->bytes_in_use > host - bytes;
}

/* Finds room, going round the space at most once. */
static uint64_t take_room(ws_memory *memory, uint64_t size) {
  uint64_t alignment = size >= 2 * HUGE_PAGE ? HUGE_PAGE : WS_PAGE;
  uint64_t pages = room_above(memory, size, alignment);
  if (!pages) {
    memory->wrapped = true;
    memory->cursor = memory->space + WS_PAGE;
    pages = room_above(memory, size, alignment);
  }
  if (!pages)
    return 0;
  if (memory->wrapped)
    forget_freed(memory, pages - WS_PAGE, pages + size + WS_PAGE, 0);
  return pages;
}

static void *allocate(ws_memory *memory, size_t bytes, ws_range_kind kind) {
  if (exceeds_host(memory, bytes))
    return NULL;
  uint64_t size = round_up(bytes ? bytes : 1, WS_PAGE);
  uint64_t pages = take_room(memory, size);
  if (!pages)
    return NULL;
  void *start = (void *)(uintptr_t)pages;
  if (bytes && mprotect(start, size, PROT_READ | PROT_WRITE))
    return NULL;
  if (size >= 2 * HUGE_PAGE)
    madvise(start, size, MADV_HUGEPAGE);
  ws_range range = {.begin = pages + size - round_up(bytes, ALIGNMENT),
                    .bytes = bytes,
                    .pages = pages,
                    .page_bytes = size,
                    .stores_from = kind == WS_RANGE_CODE ? UINT64_MAX : 0,
                    .kind = kind};
  if (!bytes)
    range.begin = pages;
  else
    memset(start, 0xa5, size);
  insert_range(memory, range);
  memory->cursor = pages + size + WS_PAGE;
  memory->bytes_in_use += bytes;
  new_generation(memory);
  return (void *)(uintptr_t)range.begin;
}

void *ws__memory_allocate(ws_memory *memory, size_t bytes) {
  return allocate(memory, bytes, WS_RANGE_DATA);
}

void *ws__memory_allocate_code(ws_memory *memory, size_t bytes) {
  return allocate(memory, bytes, WS_RANGE_CODE);
}

void ws__memory_allow_stores(ws_memory *memory, const void *code,
                             size_t offset) {
  uint64_t begin = (uint64_t)(uintptr_t)code;
  int64_t index = range_below(memory, begin);
  if (index >= 0 && memory->ranges[index].begin == begin)
    memory->ranges[index].stores_from = begin + offset;
}

ws_held *ws__memory_held(ws_memory *memory) { return &memory->held; }

bool ws__memory_release(ws_memory *memory, void *address) {
  uint64_t begin = (uint64_t)(uintptr_t)address;
  int64_t index = range_below(memory, begin);
  if (index < 0)
    return false;
  ws_range *range = &memory->ranges[index];
  if (range->begin != begin || range->kind == WS_RANGE_FREED)
    return false;
  void *unmapped =
      mmap((void *)(uintptr_t)range->pages, range->page_bytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  WS_ASSERT(unmapped != MAP_FAILED);
  memory->watched -= range->stored != NULL;
  free(range->stored);
  range->stored = NULL;
  range->kind = WS_RANGE_FREED;
  range->serial = memory->next_serial++;
  memory->bytes_in_use -= range->bytes;
  ws__held_forget(&memory->held, range->begin, range->bytes);
  if (++memory->freed_count > MOST_FREED)
    forget_freed(memory, 0, 0, memory->next_serial - MOST_FREED / 2);
  new_generation(memory);
  return true;
}

bool ws__memory_find(const ws_memory *memory, uint64_t address,
                     uint64_t *out_begin, uint64_t *out_bytes) {
  const ws_range *range = range_of(memory, address, 1);
  if (!range)
    return false;
  *out_begin = range->begin;
  *out_bytes = range->bytes;
  return true;
}

size_t ws__memory_bytes_in_use(const ws_memory *memory) {
  return memory->bytes_in_use;
}

/* range_of, asked first of the range that the cache names. */
static const ws_range *range_cached(const ws_memory *memory,
                                    const uint64_t cache[2], uint64_t address,
                                    uint32_t bytes) {
  if (cache[0] == memory->generation) {
    const ws_range *range = &memory->ranges[cache[1]];
    uint64_t offset = address - range->begin;
    if (offset < range->bytes && bytes <= range->bytes - offset)
      return range;
  }
  return range_of(memory, address, bytes);
}

bool ws__memory_allows(const ws_memory *memory, uint64_t cache[2],
                       uint64_t address, uint32_t bytes, bool store) {
  const ws_range *range = range_cached(memory, cache, address, bytes);
  if (!range || (store && address < range->stores_from))
    return false;
  cache[0] = memory->generation;
  cache[1] = (uint64_t)(range - memory->ranges);
  return true;
}

/* ---- what was stored -------------------------------------------------------
 */

bool ws__memory_watch(ws_memory *memory, const void *address) {
  const ws_range *found = range_of(memory, (uintptr_t)address, 1);
  if (!found)
    return false;
  ws_range *range = &memory->ranges[found - memory->ranges];
  memory->watched += !range->stored;
  free(range->stored);
  range->stored = calloc(range->bytes, 1); /* pages come when stored to */
  WS_ASSERT(range->stored);
  return true;
}

size_t ws__memory_unstored(const ws_memory *memory, const void *address,
                           size_t bytes, size_t *out_first) {
  const ws_range *range = range_of(memory, (uintptr_t)address, 1);
  *out_first = 0;
  if (!range || !range->stored)
    return bytes;
  const uint8_t *stored =
      range->stored + ((uint64_t)(uintptr_t)address - range->begin);
  size_t count = 0;
  for (const uint8_t *at = memchr(stored, 0, bytes); at;
       at = memchr(at + 1, 0, bytes - (size_t)(at + 1 - stored)))
    if (!count++)
      *out_first = (size_t)(at - stored);
  return count;
}

bool ws__memory_is_watched(const ws_memory *memory) {
  return memory->watched > 0;
}

void ws__memory_note_store(const ws_memory *memory, const uint64_t cache[2],
                           uint64_t address, uint32_t bytes) {
  const ws_range *range = range_cached(memory, cache, address, bytes);
  if (range && range->stored)
    memset(range->stored + (address - range->begin), 1, bytes);
}

/* ---- unknown contents -----------------------------------------------------
 */

bool ws__memory_set_unknown(ws_memory *memory, uint64_t address, bool unknown) {
  if (!range_of(memory, address, 1))
    return false;
  memory->ranges[range_below(memory, address)].unknown = unknown;
  memory->unknown += unknown;
  return true;
}

bool ws__memory_is_unknown(const ws_memory *memory, uint64_t address) {
  const ws_range *range = range_of(memory, address, 1);
  return range && range->unknown &&
         !(range->stored && range->stored[address - range->begin]);
}

bool ws__memory_any_unknown(const ws_memory *memory) {
  return memory->unknown > 0;
}

static ws_range *unknown_range(const ws_memory *memory, uint64_t address) {
  const ws_range *range = range_of(memory, address, 1);
  return range && range->unknown ? &memory->ranges[range - memory->ranges]
                                 : NULL;
}

bool ws__memory_set_known(ws_memory *memory, uint64_t address, uint64_t bytes) {
  const ws_range *range = unknown_range(memory, address);
  if (!range)
    return false;
  if (!range->stored)
    ws__memory_watch(memory, (const void *)(uintptr_t)address);
  const uint64_t offset = address - range->begin;
  const uint64_t left = range->bytes - offset;
  memset(range->stored + offset, 1, bytes < left ? bytes : left);
  return true;
}

bool ws__memory_forget_known(ws_memory *memory, uint64_t address) {
  ws_range *range = unknown_range(memory, address);
  if (!range)
    return false;
  memory->watched -= range->stored != NULL;
  free(range->stored);
  range->stored = NULL;
  return true;
}

bool ws__memory_allowed_unknown(const ws_memory *memory,
                                const uint64_t cache[2]) {
  return cache[0] == memory->generation && memory->ranges[cache[1]].unknown;
}

/* ---- what is wrong with an access ------------------------------------------
 */

static _Thread_local char sentence[200];

static const char *describe(uint64_t address, uint32_t bytes,
                            const ws_range *range, const char *where,
                            uint64_t distance) {
  snprintf(sentence, sizeof sentence,
           "%u bytes at 0x%llx, %llu bytes %s the %s%llu bytes at 0x%llx",
           bytes, (unsigned long long)address, (unsigned long long)distance,
           where, range->kind == WS_RANGE_FREED ? "freed " : "",
           (unsigned long long)range->bytes, (unsigned long long)range->begin);
  return sentence;
}

/* Outside of everything: named by its nearest live neighbour. */
static const char *describe_outside(const ws_memory *memory, uint64_t address,
                                    uint32_t bytes) {
  int64_t below = range_below(memory, address);
  int64_t above = below + 1;
  while (below >= 0 && memory->ranges[below].kind == WS_RANGE_FREED)
    below--;
  while (above < (int64_t)memory->range_count &&
         memory->ranges[above].kind == WS_RANGE_FREED)
    above++;
  const ws_range *low = below >= 0 ? &memory->ranges[below] : NULL;
  const ws_range *high =
      above < (int64_t)memory->range_count ? &memory->ranges[above] : NULL;
  if (low && address < low->begin) {
    high = low; /* in the slack before an allocation */
    low = NULL;
  }
  uint64_t past = low ? address - low->begin : UINT64_MAX;
  if (low && past < low->bytes)
    return describe(address, bytes, low, "from the end of", low->bytes - past);
  past = low ? past - low->bytes : UINT64_MAX;
  uint64_t before = high ? high->begin - address : UINT64_MAX;
  if (low && past <= before)
    return describe(address, bytes, low, "past the end of", past);
  if (high)
    return describe(address, bytes, high, "before", before);
  snprintf(sentence, sizeof sentence,
           "%u bytes at 0x%llx; nothing is allocated", bytes,
           (unsigned long long)address);
  return sentence;
}

const char *ws__memory_problem(const ws_memory *memory, uint64_t address,
                               uint32_t bytes, bool store,
                               const char **out_id) {
  const ws_range *range = range_of(memory, address, bytes);
  *out_id = "oob-global";
  if (range) {
    if (!store || address >= range->stores_from)
      return NULL;
    *out_id = "write-to-code";
    return describe(address, bytes, range, "into", address - range->begin);
  }
  int64_t index = range_below(memory, address);
  const ws_range *near = index < 0 ? NULL : &memory->ranges[index];
  if (near && near->kind == WS_RANGE_FREED && address >= near->begin &&
      address - near->begin < near->bytes) {
    *out_id = "use-after-free";
    return describe(address, bytes, near, "into", address - near->begin);
  }
  return describe_outside(memory, address, bytes);
}
