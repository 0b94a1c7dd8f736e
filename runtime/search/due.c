/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The queue of requests that are due.
 */
#include "proposing.h"

#include <string.h>

void ws__due_push(ws__due *due, ws_arena *arena, const ws__request *request) {
  if (due->end == due->capacity) {
    int open = due->end - due->begin;
    int capacity = 2 * open + 16;
    ws__request *items =
        ws_arena_alloc(arena, sizeof *items * (size_t)capacity);
    if (open)
      memcpy(items, due->items + due->begin, sizeof *items * (size_t)open);
    *due = (ws__due){.items = items, .end = open, .capacity = capacity};
  }
  due->items[due->end++] = *request;
}

bool ws__due_pop(ws__due *due, ws__request *out_request) {
  if (due->begin == due->end)
    return false;
  *out_request = due->items[due->begin++];
  return true;
}
