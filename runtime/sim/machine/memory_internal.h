/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What memory.c and overlay.c share.
 */
#ifndef WAVESMITH_SIM_MEMORY_INTERNAL_H
#define WAVESMITH_SIM_MEMORY_INTERNAL_H

#include "held.h"
#include "memory.h"

enum { WS_PAGE = 4096 };

typedef enum ws_range_kind {
  WS_RANGE_DATA,
  WS_RANGE_CODE,
  WS_RANGE_FREED
} ws_range_kind;

typedef struct ws_range {
  uint64_t begin, bytes;      /* what was asked for */
  uint64_t pages, page_bytes; /* the accessible pages around it */
  uint64_t serial;            /* of its release */
  uint64_t stores_from;       /* of code: the first address that may be stored
                               * to; of data 0 */
  ws_range_kind kind;
  bool unknown;    /* memory.h: ws__memory_set_unknown */
  uint8_t *stored; /* watched: of each byte, whether a kernel stored it */
} ws_range;

struct ws_memory {
  void *reserved;              /* address space, with room to align it */
  uint64_t space, space_bytes; /* at a multiple of 2 MiB in it */
  uint64_t cursor;             /* where the next allocation may begin */
  bool wrapped;                /* the cursor has gone round */
  ws_range *ranges;            /* sorted by address */
  size_t range_count, range_capacity, freed_count;
  uint64_t next_serial;
  uint64_t generation;
  size_t bytes_in_use;
  size_t watched; /* ranges */
  size_t unknown; /* times that one was made so */
  ws_held held;
  struct ws_overlay *overlay; /* NULL: never opened */
  bool overlay_open;
};

#endif
