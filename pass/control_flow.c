/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Control flow graph and postdominators. The C API has no analyses, and the
 * functions here are small (loops are not unrolled yet), so sets of blocks as
 * bits and plain iteration do: pdom(b) = {b} + intersection over successors,
 * with one more block for the end that every return leads to.
 */
#include "control_flow.h"

#include <stdint.h>
#include <string.h>

void ws__index_init(ws_index *index, ws_arena *arena, int max_count) {
  int capacity = 16;
  while (capacity < 2 * max_count)
    capacity *= 2;
  index->keys = ws_arena_alloc(arena, (size_t)capacity * sizeof *index->keys);
  index->values =
      ws_arena_alloc(arena, (size_t)capacity * sizeof *index->values);
  index->capacity = capacity;
  index->count = 0;
}

/* The key's slot, or the free one where it belongs. Linear probing. */
static int slot_of(const ws_index *index, const void *key) {
  uint64_t hash = ((uint64_t)(uintptr_t)key >> 4) * 0x9E3779B97F4A7C15u;
  int slot = (int)(hash >> 40) & (index->capacity - 1);
  while (index->keys[slot] && index->keys[slot] != key)
    slot = (slot + 1) & (index->capacity - 1);
  return slot;
}

int ws__index_add(ws_index *index, const void *key) {
  int slot = slot_of(index, key);
  if (!index->keys[slot]) {
    index->keys[slot] = key;
    index->values[slot] = index->count++;
    WS_ASSERT(index->count < index->capacity);
  }
  return index->values[slot];
}

int ws__index_find(const ws_index *index, const void *key) {
  int slot = slot_of(index, key);
  return index->keys[slot] ? index->values[slot] : -1;
}

/* Numbers the blocks that the entry reaches, breadth first. */
static void number_blocks(ws_cfg *cfg, ws_arena *arena, LLVMValueRef function) {
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
  ws__index_add(&cfg->index, entry);
  cfg->blocks[cfg->count++] = entry;
  for (int b = 0; b < cfg->count; b++) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(cfg->blocks[b]);
    int count = (int)LLVMGetNumSuccessors(end);
    cfg->successor_count[b] = count;
    cfg->successors[b] = ws_arena_alloc(arena, (size_t)count * sizeof(int));
    for (int i = 0; i < count; i++) {
      LLVMBasicBlockRef next = LLVMGetSuccessor(end, (unsigned)i);
      int number = ws__index_add(&cfg->index, next);
      if (number == cfg->count)
        cfg->blocks[cfg->count++] = next;
      cfg->successors[b][i] = number;
    }
  }
}

/* ---- postdominators ------------------------------------------------------ */

/* Row b holds the postdominators of b; row count is the end. */
typedef struct sets {
  uint64_t *bits, *scratch;
  int words;
} sets;

static uint64_t *row(const sets *s, int block) {
  return s->bits + (size_t)block * (size_t)s->words;
}

static bool has(const uint64_t *set, int block) {
  return set[block / 64] >> (block % 64) & 1;
}

static void add(uint64_t *set, int block) {
  set[block / 64] |= (uint64_t)1 << (block % 64);
}

static bool update(const ws_cfg *cfg, const sets *s, int block) {
  size_t bytes = (size_t)s->words * sizeof *s->scratch;
  if (cfg->successor_count[block] == 0) {
    memset(s->scratch, 0, bytes);
    add(s->scratch, cfg->count);
  } else {
    memset(s->scratch, 0xff, bytes);
  }
  for (int i = 0; i < cfg->successor_count[block]; i++)
    for (int w = 0; w < s->words; w++)
      s->scratch[w] &= row(s, cfg->successors[block][i])[w];
  add(s->scratch, block);
  if (!memcmp(s->scratch, row(s, block), bytes))
    return false;
  memcpy(row(s, block), s->scratch, bytes);
  return true;
}

static int size_of(const sets *s, int block) {
  int size = 0;
  for (int w = 0; w < s->words; w++)
    size += __builtin_popcountll(row(s, block)[w]);
  return size;
}

/* The nearest strict postdominator has itself the most postdominators. */
static int nearest(const ws_cfg *cfg, const sets *s, const int *sizes,
                   int block) {
  int best = -1;
  for (int b = 0; b <= cfg->count; b++)
    if (b != block && has(row(s, block), b) &&
        (best < 0 || sizes[b] > sizes[best]))
      best = b;
  return best;
}

static bool *blocks_that_return(const ws_cfg *cfg, ws_arena *arena) {
  bool *returns = ws_arena_alloc(arena, (size_t)cfg->count);
  for (bool changed = true; changed;) {
    changed = false;
    for (int b = cfg->count - 1; b >= 0; b--) {
      bool now = cfg->successor_count[b] == 0;
      for (int i = 0; i < cfg->successor_count[b]; i++)
        now |= returns[cfg->successors[b][i]];
      changed |= now && !returns[b];
      returns[b] |= now;
    }
  }
  return returns;
}

static void find_postdominators(ws_cfg *cfg, ws_arena *arena) {
  int count = cfg->count;
  sets s = {.words = (count + 64) / 64};
  size_t bytes = (size_t)s.words * sizeof *s.bits;
  s.bits = ws_arena_alloc(arena, (size_t)(count + 1) * bytes);
  s.scratch = ws_arena_alloc(arena, bytes);
  memset(s.bits, 0xff, (size_t)count * bytes);
  add(row(&s, count), count);
  for (bool changed = true; changed;) {
    changed = false;
    for (int b = count - 1; b >= 0; b--)
      changed |= update(cfg, &s, b);
  }
  int *sizes = ws_arena_alloc(arena, (size_t)(count + 1) * sizeof *sizes);
  for (int b = 0; b <= count; b++)
    sizes[b] = size_of(&s, b);
  bool *returns = blocks_that_return(cfg, arena);
  for (int b = 0; b < count; b++)
    cfg->postdominator[b] = returns[b] ? nearest(cfg, &s, sizes, b) : -1;
}

ws_cfg *ws__cfg_create(ws_arena *arena, LLVMValueRef function) {
  int count = (int)LLVMCountBasicBlocks(function);
  if (count > WS_CFG_MAX_BLOCKS)
    return NULL;
  ws_cfg *cfg = ws_arena_alloc(arena, sizeof *cfg);
  ws__index_init(&cfg->index, arena, count + 1);
  size_t size = (size_t)count * sizeof(int);
  cfg->blocks = ws_arena_alloc(arena, (size_t)count * sizeof *cfg->blocks);
  cfg->successors =
      ws_arena_alloc(arena, (size_t)count * sizeof *cfg->successors);
  cfg->successor_count = ws_arena_alloc(arena, size);
  cfg->postdominator = ws_arena_alloc(arena, size);
  number_blocks(cfg, arena, function);
  find_postdominators(cfg, arena);
  return cfg;
}
