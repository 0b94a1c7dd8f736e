/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The queue of repairs that are due.
 */
#include "proposing.h"

#include <string.h>

void ws__repairs_push(ws__repairs *repairs, ws_arena *arena,
                      const ws__request *request) {
  if (repairs->end == repairs->capacity) {
    int open = repairs->end - repairs->begin;
    int capacity = 2 * open + 16;
    ws__request *items =
        ws_arena_alloc(arena, sizeof *items * (size_t)capacity);
    if (open)
      memcpy(items, repairs->items + repairs->begin,
             sizeof *items * (size_t)open);
    *repairs = (ws__repairs){.items = items, .end = open, .capacity = capacity};
  }
  repairs->items[repairs->end++] = *request;
}

bool ws__repairs_pop(ws__repairs *repairs, ws__request *out_request) {
  if (repairs->begin == repairs->end)
    return false;
  *out_request = repairs->items[repairs->begin++];
  return true;
}
