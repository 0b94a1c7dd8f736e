/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Machine code as the facts need it: issue class, branches and waits of each
 * instruction, and the innermost loops.
 */
#ifndef WAVESMITH_PASS_MACHINE_CODE_H
#define WAVESMITH_PASS_MACHINE_CODE_H

#include "wavesmith/build.h"

typedef struct machine_instruction {
  uint64_t address;
  int32_t target;     /* index of a branch's target; -1: none */
  int16_t vmcnt;      /* of a wait that has one; -1 otherwise */
  uint8_t class;      /* field of ws_mix, by position */
  uint8_t load_bytes; /* per lane, of a global load */
  bool goes_on;       /* to the next instruction, at least sometimes */
} machine_instruction;

typedef struct machine_code {
  machine_instruction *items;
  int count;
} machine_code;

/* A loop's instructions in an order in which one round may run them. */
typedef struct machine_loop {
  int *items;
  int count;
} machine_loop;

/* The innermost natural loops, in the order of their heads' addresses; several
 * latches of one head make one loop. Returns how many; in the arena. */
int ws_machine_loops(const machine_code *code, ws_arena *arena,
                     machine_loop **out_loops);

#endif
