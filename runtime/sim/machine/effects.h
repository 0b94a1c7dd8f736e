/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the checks of step.h need to know about an instruction beyond its
 * operands, worked out once per code object: the registers it reads and writes
 * as ranges, and how "never written" travels through it.
 */
#ifndef WAVESMITH_SIM_EFFECTS_H
#define WAVESMITH_SIM_EFFECTS_H

#include "decode.h"

/* How poison goes from sources to results. */
typedef enum ws_flow {
  WS_FLOW_LANES,  /* VALU: lane by lane, a poisoned scalar poisons all lanes */
  WS_FLOW_BYTES,  /* moves bytes, see poison_bytes.h */
  WS_FLOW_PAIRS,  /* packed f32: word by word, as op_sel says */
  WS_FLOW_WIDE,   /* 64-bit integers: the low word knows no high word */
  WS_FLOW_SELECT, /* v_cndmask: only the side that each lane takes */
  WS_FLOW_OWN,    /* the handler keeps it: MFMA, cross-lane, loads */
  WS_FLOW_SCALAR, /* SALU: any poisoned source poisons the result */
  WS_FLOW_AND,    /* bitwise with 0-bits that decide, see scalar_bits */
  WS_FLOW_OR,
  WS_FLOW_BITS, /* bit by bit: xor, not, mov */
  WS_FLOW_NONE
} ws_flow;

typedef enum ws_queue {
  WS_QUEUE_NONE,
  WS_QUEUE_VMEM,  /* vmcnt, in order */
  WS_QUEUE_LDS,   /* lgkmcnt, in order */
  WS_QUEUE_FLAT,  /* both */
  WS_QUEUE_SCALAR /* lgkmcnt, out of order */
} ws_queue;

enum {
  WS_EFFECT_READS_SCC = 1,
  WS_EFFECT_WRITES_SCC = 2,
  WS_EFFECT_WRITES_EXEC = 4,
  WS_EFFECT_NEEDS_DEFINED = 8,  /* sources decide control flow */
  WS_EFFECT_GLOBAL_STORE = 16,  /* its data leaves the workgroup */
  WS_EFFECT_INVERT_SECOND = 32, /* andn2, orn2 and the like */
  WS_EFFECT_INVERT_FIRST = 64,
  WS_EFFECT_SAVEEXEC = 128,
  WS_EFFECT_SHARED_WRITE = 256, /* other waves can see that it was executed */
  WS_EFFECT_LANE_INDEX = 512    /* LDS instruction without an address */
};

typedef struct ws_register_range {
  uint16_t first;
  uint8_t count;
  bool is_data; /* of a store; else an address or an operand */
} ws_register_range;

enum { WS_EFFECT_READS = 5, WS_EFFECT_WRITES = 2 };

typedef struct ws_effects {
  uint64_t scalar_reads[2], scalar_writes[2]; /* bit per register */
  ws_register_range reads[WS_EFFECT_READS], writes[WS_EFFECT_WRITES];
  uint8_t read_count, write_count;
  uint8_t flow, queue;
  uint16_t flags;
  uint8_t lane_mask;  /* scalar register of a lane mask source; 0xff: none */
  uint8_t data_bytes; /* that a store takes of a register; bit per byte */
  bool simple;        /* vector registers in, vector registers out */
  bool unchecked;     /* only waits matter: MFMA, s_nop */
} ws_effects;

/* One per instruction of text, in the arena. */
void ws__effects_of(const ws_instruction *in, ws_effects *out);
const ws_effects *ws__effects_create(ws_arena *arena, const ws_text *text);

#endif
