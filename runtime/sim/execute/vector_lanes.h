/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The inside of the VALU. An instruction is executed in three steps:
 *
 *   fetch    every source becomes an array of 64 words (two for 64 bits): the
 *            register itself, a broadcast scalar, or a copy with the
 *            modifiers applied (vector_modifiers.inc)
 *   kernel   a loop over the lanes that knows nothing but the arithmetic;
 *            vector_*.inc, compiled for AVX-512, AVX2 and the plain target,
 *            vector_rare.c for what is not worth it
 *   write    under EXEC, into registers or a lane mask
 *
 * f32 and f64 obey all rounding modes, f16 only the default one. f32
 * transcendentals are correctly rounded but for ties within f64's last bit,
 * where the hardware promises 1 ulp. Taken as the ABI sets them: MODE.IEEE (for
 * minimum and maximum) and MODE.DX10_CLAMP, both on. Not modelled: exceptions,
 * and which NaN of several a result is.
 */
#ifndef WAVESMITH_SIM_VECTOR_LANES_H
#define WAVESMITH_SIM_VECTOR_LANES_H

#include "lane_convert.h"
#include "machine.h"

/* What a kernel sees. Words of an operand: low first. */
struct ws_lanes {
  const uint32_t *source[3][4];
  uint32_t *result[4];
  uint64_t mask_in;  /* carry in, condition */
  uint64_t mask_out; /* carry out, comparison */
  uint32_t mode;
  uint8_t op_sel;
};
typedef void (*ws_kernel)(struct ws_lanes *lanes);

enum {
  WS_OP_INVERT = 1,       /* the kernel computes the opposite comparison */
  WS_OP_WRITES_EXEC = 2,  /* v_cmpx */
  WS_OP_KEEPS_HALF = 4,   /* 16-bit result, the other half of the register
                           * stays; op_sel[3] chooses the half */
  WS_OP_HIGH_HALF = 8,    /* always the upper half */
  WS_OP_KEEPS_BYTES = 16, /* one byte, chosen by op_sel[3:2] */
  WS_OP_PACKED = 32,      /* op_sel, op_sel_hi, neg_lo, neg_hi by half */
  WS_OP_MIX = 64,         /* v_fma_mix: op_sel_hi: the source is f16 */
  WS_OP_FLOAT = 128,      /* obeys the denormal mode */
  WS_OP_ROUNDS = 256,     /* and the rounding mode */
  WS_OP_READS_VCC = 512,  /* v_div_fmas: without being an operand */
  /* Not for the plain path, even without modifiers. */
  WS_OP_PARTIAL = WS_OP_KEEPS_HALF | WS_OP_HIGH_HALF | WS_OP_KEEPS_BYTES
};

struct ws_vector_op {
  ws_kernel kernel;
  ws_kernel saturating; /* with clamp; NULL: clamp is to [0, 1] */
  uint32_t traits;
};

/* The code for one instruction set. */
typedef struct ws_vector_code {
  const char *name;               /* "avx512", "avx2", "portable" */
  const struct ws_vector_op *ops; /* by ws_op; kernel NULL: not a VALU one */
  ws_execute execute;
} ws_vector_code;
/* All that this processor can run, best first; NULL behind the last. */
const ws_vector_code *ws__vector_code(int index);
/* Handlers that the getter hands out from now on; for tests. */
void ws__vector_use(const ws_vector_code *code);

/* Handlers of instructions that are not lane by lane; NULL: all others. */
ws_execute ws__execute_across_lanes(ws_op op);

/* True: values cross lanes or end up in a lane mask. Then the handler keeps
 * poison itself, except that of a lane mask without DPP: step.c does, which
 * keeps scalar poison bit by bit. */
bool ws__vector_keeps_poison(const ws_instruction *in);

/* Where the lanes of src[0] come from under DPP. */
struct ws_dpp {
  const int32_t *from; /* in range even where there is no source */
  uint64_t valid;      /* lanes that have a source */
  uint64_t write;      /* lanes that are written */
};
void ws__dpp_lanes(const ws_instruction *in, uint64_t exec, struct ws_dpp *out);
void ws__dpp_poison(ws_wave *wave, const ws_instruction *in,
                    const struct ws_dpp *dpp);

/* The MODE register (CDNA3 ISA, "MODE register"): rounding in bits 1:0 (f32)
 * and 3:2 (f64, f16); denormals in 5:4 and 7:6, one bit for inputs, one for
 * results. Default: nearest even, all denormals kept. */
enum {
  WS_MODE_FLOAT = 0xff,
  WS_MODE_DEFAULT = 0xf0,
  WS_MODE_IEEE = 1 << 9,
  WS_MODE_FP16_OVFL = 1 << 23 /* fp8 conversions saturate */
};

/* Registers per lane of an operand type; V is 4 where the VALU has it. */
WS_INLINE int ws__words_of(char type) {
  return type == 'I' || type == 'F' || type == 'G' ? 2 : type == 'V' ? 4 : 1;
}

#endif
