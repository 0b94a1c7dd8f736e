/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside pass/: a function's blocks as a graph of small integers, with
 * immediate postdominators. Block 0 is the entry; blocks that the entry does
 * not reach are left out. Values get integers from ws_index as well.
 */
#ifndef WAVESMITH_PASS_CONTROL_FLOW_H
#define WAVESMITH_PASS_CONTROL_FLOW_H

#include "pass.h"

/* Pointer -> small integer, in order of insertion. */
typedef struct ws_index {
  const void **keys;
  int *values;
  int capacity, count;
} ws_index;
/* For at most max_count keys. */
void ws__index_init(ws_index *index, ws_arena *arena, int max_count);
/* The key's number; a new key gets the next one. */
int ws__index_add(ws_index *index, const void *key);
/* -1: not there. */
int ws__index_find(const ws_index *index, const void *key);

typedef struct ws_cfg {
  ws_index index; /* LLVMBasicBlockRef -> block */
  LLVMBasicBlockRef *blocks;
  int count;
  int **successors; /* of each block */
  int *successor_count;
  /* First block that every path from here to a return goes through; count for
   * "only the end itself", -1 when no path leads to a return. */
  int *postdominator;
} ws_cfg;

/* NULL when the function has more than WS_CFG_MAX_BLOCKS blocks. */
enum { WS_CFG_MAX_BLOCKS = 4096 };
ws_cfg *ws__cfg_create(ws_arena *arena, LLVMValueRef function);

#endif
