/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A short list: a run has one template, and those that replies bring.
 */
#include "sources.h"

#include <string.h>

void ws__sources_add(ws__sources *sources, ws_arena *arena,
                     const ws__source *source) {
  if (sources->count == sources->capacity) {
    int capacity = sources->capacity ? 2 * sources->capacity : 16;
    const ws__source **items =
        ws_arena_alloc(arena, sizeof *items * (size_t)capacity);
    if (sources->count)
      memcpy(items, sources->items, sizeof *items * (size_t)sources->count);
    sources->items = items;
    sources->capacity = capacity;
  }
  sources->items[sources->count++] = source;
}

const ws__source *ws__sources_find(const ws__sources *sources,
                                   const ws_template *tmpl) {
  for (int i = 0; i < sources->count; i++)
    if (!strcmp(sources->items[i]->tmpl->hash.hex, tmpl->hash.hex))
      return sources->items[i];
  return NULL;
}
