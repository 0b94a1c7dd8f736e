/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Arena: a list of blocks, allocation by moving a pointer. Small requests share
 * blocks of BLOCK_SIZE; a large one gets a block of its own, put behind the
 * current block so that the room left there is not lost.
 */
#include "wavesmith/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, BLOCK_SIZE = 16384 };

struct block {
  struct block *next;
  size_t used, capacity;
  _Alignas(ALIGNMENT) unsigned char bytes[];
};

struct ws_arena {
  struct block *current;
};

static struct block *block_create(size_t capacity) {
  WS_ASSERT(capacity <= SIZE_MAX - sizeof(struct block));
  struct block *block = calloc(1, sizeof *block + capacity);
  WS_ASSERT(block && "out of memory");
  block->capacity = capacity;
  return block;
}

ws_arena *ws_arena_create(void) {
  ws_arena *arena = calloc(1, sizeof *arena);
  WS_ASSERT(arena && "out of memory");
  arena->current = block_create(BLOCK_SIZE);
  return arena;
}

void ws_arena_destroy(ws_arena *arena) {
  if (!arena)
    return;
  for (struct block *block = arena->current, *next; block; block = next) {
    next = block->next;
    free(block);
  }
  free(arena);
}

void *ws_arena_alloc(ws_arena *arena, size_t size) {
  WS_ASSERT(size <= SIZE_MAX - ALIGNMENT);
  size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  struct block *block = arena->current;
  if (size > BLOCK_SIZE / 4 && size > block->capacity - block->used) {
    struct block *large = block_create(size);
    large->used = size;
    large->next = block->next;
    block->next = large;
    return large->bytes;
  }
  if (size > block->capacity - block->used) {
    block = block_create(BLOCK_SIZE);
    block->next = arena->current;
    arena->current = block;
  }
  void *memory = block->bytes + block->used;
  block->used += size;
  return memory;
}

void *ws_arena_grow(ws_arena *arena, void *items, size_t size, int count,
                    int *capacity) {
  if (count < *capacity)
    return items;
  *capacity = *capacity ? 2 * *capacity : 32;
  void *larger = ws_arena_alloc(arena, size * (size_t)*capacity);
  if (count)
    memcpy(larger, items, size * (size_t)count);
  return larger;
}

char *ws_arena_strdup(ws_arena *arena, const char *text) {
  return text ? ws_arena_strndup(arena, text, strlen(text)) : NULL;
}

char *ws_arena_strndup(ws_arena *arena, const char *text, size_t size) {
  size_t length = strnlen(text, size);
  char *copy = ws_arena_alloc(arena, length + 1);
  memcpy(copy, text, length);
  return copy;
}

char *ws_arena_printf(ws_arena *arena, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  WS_ASSERT(length >= 0);
  char *text = ws_arena_alloc(arena, (size_t)length + 1);
  va_start(arguments, format);
  vsnprintf(text, (size_t)length + 1, format, arguments);
  va_end(arguments);
  return text;
}
