/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What vector memory instructions do once every lane's address is known:
 * check it, then load, store or modify. execute_memory.c finds the addresses of
 * global, flat and scratch instructions, execute_buffer.c those of buffers.
 */
#ifndef WAVESMITH_SIM_MEMORY_ACCESS_H
#define WAVESMITH_SIM_MEMORY_ACCESS_H

#include "memory.h"
#include "memory_lanes.h"

typedef enum ws_memory_kind {
  WS_MEMORY_LOAD,
  WS_MEMORY_STORE,
  WS_MEMORY_ATOMIC,
  WS_MEMORY_TO_LDS,
  WS_MEMORY_NOTHING /* cache control */
} ws_memory_kind;

typedef struct ws_memory_form {
  ws_execute execute;
  uint8_t kind; /* ws_memory_kind */
  ws_width width;
  ws_modify modify; /* of atomics */
  bool compares;    /* two values per lane */
} ws_memory_form;

/* One access of some lanes: registers `first` on from or to address[lane]. */
typedef struct ws_transfer {
  const ws_instruction *in;
  const ws_memory_form *form;
  ws_width width;
  uint64_t mask;
  const uint64_t *address;
  ws_vector *rows; /* data: destination of loads, else source */
  int first;       /* their index in the wave's registers; -1: they are none */
} ws_transfer;

/* Device memory. False: a fault. */
bool ws__transfer_global(ws_wave *wave, const ws_transfer *transfer);
/* LDS and scratch by flat or scratch instructions; address is the offset in
 * the group's LDS, or in the lane's private segment. */
bool ws__transfer_lds(ws_wave *wave, const ws_transfer *transfer);
bool ws__transfer_scratch(ws_wave *wave, const ws_transfer *transfer);

/* Atomics of device memory: data from register first on; the old values of
 * mask go to register result on, -1: nowhere. */
bool ws__modify_global(ws_wave *wave, const ws_transfer *transfer, int result);
bool ws__modify_lds(ws_wave *wave, const ws_transfer *transfer, int result);

/* Loads to LDS, which pass through no register (rows is set here): zero for
 * lanes of `all` that are not in transfer->mask. */
bool ws__transfer_to_lds(ws_wave *wave, const ws_transfer *transfer,
                         uint64_t all);

/* Sets rows and first; false, and a fault: the operand has fewer registers. */
bool ws__set_rows(ws_wave *wave, ws_transfer *transfer,
                  const ws_operand *operand, int count);
/* Starts wave->access and the counters of the LDS shadow. */
void ws__begin_access(ws_wave *wave, const ws_instruction *in,
                      const ws_memory_form *form);

ws_execute ws__execute_buffer(ws_op op);

#endif
