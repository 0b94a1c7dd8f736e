/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the simulator's parts share: a decoded instruction, a wave, a workgroup,
 * and the rules between them.
 *
 *   code_object.c  ELF -> segments in memory, kernels
 *   decode.c       comgr's disassembly -> ws_instruction (parse_instruction.c
 *                  reads one line of it; opcodes.h is the table)
 *   execute_*.c    one handler per opcode, by family; pure state change
 *   step.h         one instruction of one wave: checks, handler, poison
 *   run.c          functional runs: all workgroups, all cores
 *   clock_*.c      timed runs: one compute unit, cycle by cycle
 *
 * A handler changes registers, memory and pc, nothing else. It does not check
 * for poison, waits or races of registers: step.h does that from the operands,
 * for all opcodes alike. Memory handlers go through memory.h, which checks.
 */
#ifndef WAVESMITH_SIM_MACHINE_H
#define WAVESMITH_SIM_MACHINE_H

#include "wavesmith/sim.h"

#include <string.h>

enum {
  WS_LANES = 64,
  WS_SIM_MAX_WAVES = 16, /* per workgroup: 1024 threads */
  WS_ACC_BASE = 256,     /* index of a0 in a wave's vector registers */
  WS_VECTORS = 512,
  WS_LDS_BYTES = 65536,
  WS_LDS_GRANULE = 512, /* LDS is reserved in these */
  /* Behind it: where accesses beyond LDS go when nothing is checked, 16 bytes
   * per lane and address of a pair. */
  WS_LDS_NOWHERE = 2 * 64 * 16,
  /* Scalar registers by their encoding in the ISA. */
  WS_SGPR_FLAT_SCRATCH = 102,
  WS_SGPR_XNACK_MASK = 104,
  WS_SGPR_VCC = 106,
  WS_SGPR_TTMP = 108,
  WS_SGPR_M0 = 124,
  WS_SGPR_EXEC = 126,
  WS_SGPRS = 128
};

/* High 32 bits of flat addresses in LDS and in scratch: MAKE_LDS_APP_BASE_V9
 * and MAKE_SCRATCH_APP_BASE_V9 of Linux' kfd_flat_memory.c. */
enum { WS_SHARED_APERTURE = 0x00010000, WS_PRIVATE_APERTURE = 0x00020000 };

/* MODE.GPR_IDX_EN: VALU operands are indexed by M0 (s_set_gpr_idx_on); which
 * ones is in M0[15:12]: src0, src1, src2, dst. */
enum { WS_MODE_GPR_INDEX = 1 << 27 };

/* ---- instructions ----------------------------------------------------------
 */

typedef enum ws_operand_kind {
  WS_OPERAND_NONE,     /* absent, or "off" */
  WS_OPERAND_VECTOR,   /* index: 0..255 v, 256..511 a */
  WS_OPERAND_SCALAR,   /* index: encoding, vcc and exec included */
  WS_OPERAND_CONSTANT, /* constant: already the bits of the operand's type */
  WS_OPERAND_SPECIAL   /* index: ws_special */
} ws_operand_kind;

typedef enum ws_special {
  WS_SPECIAL_SCC,
  WS_SPECIAL_VCCZ,
  WS_SPECIAL_EXECZ,
  WS_SPECIAL_SHARED_BASE, /* apertures: high 32 bits of a flat LDS address */
  WS_SPECIAL_SHARED_LIMIT,
  WS_SPECIAL_PRIVATE_BASE,
  WS_SPECIAL_PRIVATE_LIMIT
} ws_special;

/* Type letters of an operand: its width, and what an inline constant or a
 * literal means there.
 *   i 32-bit integer   I 64-bit integer   w 16-bit integer
 *   f f32              F f64              h f16
 *   W packed 2 x 16-bit integer           H packed 2 x f16 (and bf16)
 *   G packed 2 x f32 (a register pair)    m lane mask (64-bit scalar)
 *   V registers without arithmetic type: addresses, data, matrices */
typedef struct ws_operand {
  uint8_t kind;  /* ws_operand_kind */
  uint8_t count; /* registers of 32 bits */
  uint16_t index;
  char type;
  uint8_t select; /* SDWA: 0-3 byte, 4-5 word, 6 dword */
  bool negate, absolute;
  bool sign_extend; /* SDWA sext() */
  uint64_t constant;
} ws_operand;

enum {
  WS_SELECT_BYTE_0,
  WS_SELECT_WORD_0 = 4,
  WS_SELECT_WORD_1,
  WS_SELECT_ALL
};
enum {
  WS_UNUSED_PAD,
  WS_UNUSED_SEXT,
  WS_UNUSED_PRESERVE
}; /* SDWA dst_unused */

/* What executes an opcode, and what the clock charges for it. */
typedef enum ws_class {
  WS_CLASS_VALU,
  WS_CLASS_TRANS, /* quarter rate: rcp, exp, conversions to and from fp8 */
  WS_CLASS_MFMA,
  WS_CLASS_SALU,
  WS_CLASS_SMEM,
  WS_CLASS_LDS,
  WS_CLASS_VMEM, /* global, buffer, scratch */
  WS_CLASS_FLAT, /* vmcnt and lgkmcnt */
  WS_CLASS_BRANCH,
  WS_CLASS_BARRIER,
  WS_CLASS_WAIT,     /* s_waitcnt */
  WS_CLASS_INTERNAL, /* s_nop, s_sleep, s_setprio, s_endpgm, ... */
  WS_CLASS_COUNT
} ws_class;

typedef struct ws_wave ws_wave;
typedef struct ws_instruction ws_instruction;
typedef void (*ws_execute)(ws_wave *wave, const ws_instruction *in);

enum {
  WS_DPP_NONE = 0x200, /* dpp: the 9-bit dpp_ctrl, or this */
  WS_MODIFIED = 1,     /* flags: some modifier below differs from its default,
                        * so the plain fast path does not apply */
  WS_IS_SDWA = 2,
  WS_CLAMP = 4,
  WS_OFFEN = 8,
  WS_IDXEN = 16,
  WS_LDS_DMA = 32, /* the buffer or global load writes LDS */
  WS_SC0 = 64,     /* atomics: returns the old value */
  WS_SC1 = 128,
  WS_NT = 256,
  WS_GDS = 512,
  WS_BOUND_CTRL = 1024,
  WS_OP_SEL_GIVEN = 2048
};

struct ws_instruction {
  ws_execute execute;
  ws_operand dst[2],
      src[4];      /* in the order of the assembly text; an operand
                    * that is read and written (v_fmac, v_mac, v_dot2c)
                    * is dst[0] and, once more, the last src */
  uint32_t offset; /* bytes from the start of the text section */
  uint32_t target; /* branches: index of the instruction jumped to */
  uint16_t op;     /* ws_op */
  uint16_t flags;
  uint16_t dpp; /* dpp_ctrl as encoded */
  uint8_t row_mask, bank_mask;
  uint8_t bytes;  /* 4, 8 or 12 */
  uint8_t class_; /* ws_class */
  uint8_t dst_count, src_count;
  uint8_t dst_select, dst_unused;            /* SDWA */
  uint8_t omod;                              /* 0, 1: x2, 2: x4, 3: /2 */
  uint8_t op_sel, op_sel_hi, neg_lo, neg_hi; /* VOP3P, VOP3 op_sel: bit per src,
                                              * bit 3 of op_sel: dst */
  uint8_t cbsz, abid, blgp;                  /* MFMA */
  int32_t imm;  /* simm16 of SOPK/SOPP (s_waitcnt: the encoded field), offset
                 * of memory instructions, offset0 of DS pairs, hwreg id */
  int32_t imm2; /* offset1 of DS pairs; hwreg: offset | (size << 8) */
};

/* The opcode table. A line of opcodes.def:
 *   OP(v_add_f32, VALU, "f=ff")
 * mnemonic without encoding suffix (_e32 _e64 _dpp _sdwa), class, operands as
 * type letters in text order, destinations before '='. A letter after '?' may
 * be absent (the first such one is, when the text has fewer operands). A '+'
 * after a destination: it is read too, and so is once more the last source
 * ("f+=ff": dst[0], src[0], src[1], src[2] = dst[0]). Buffer and scalar atomics
 * that return (sc0, glc) get dst[0] from src[0]. Families: the file whose
 * getter knows the handler. */
typedef enum ws_op {
#define OP(name, class_, operands) WS_OP_##name,
#include "opcodes.h"
#undef OP
  WS_OP_COUNT
} ws_op;

/* Each returns the handler of an opcode of its family, NULL: not its own. */
ws_execute ws__execute_scalar(ws_op op); /* SALU, SMEM, branches, messages */
ws_execute ws__execute_vector(ws_op op); /* VALU, readlane, permutes in VALU */
ws_execute ws__execute_lds(ws_op op);    /* DS */
ws_execute ws__execute_memory(ws_op op); /* global, flat, buffer, scratch */
ws_execute ws__execute_matrix(ws_op op); /* MFMA */

/* ---- state ------------------------------------------------------------------
 */

typedef struct ws_vector {
  uint32_t u32[WS_LANES];
} __attribute__((aligned(64))) ws_vector;

typedef enum ws_wave_state {
  WS_WAVE_READY,
  WS_WAVE_AT_BARRIER,
  WS_WAVE_ENDED
} ws_wave_state;

/* What the last memory instruction of a wave touched; for the clock. Filled by
 * every handler of LDS, VMEM, FLAT and SMEM, whatever the mode. */
typedef struct ws_access {
  uint64_t mask; /* lanes that access memory; SMEM: 1 */
  uint8_t bytes; /* per lane and address */
  uint8_t pair;  /* 1: the second address of read2/write2 is used */
  bool store, atomic;
  bool is_lds; /* LDS addresses are offsets into the workgroup's LDS */
  uint64_t address[WS_LANES];
  uint64_t second[WS_LANES];
} ws_access;

typedef struct ws_group ws_group;

struct ws_wave {
  uint32_t sgpr[WS_SGPRS]; /* 64-bit pairs are little-endian words */
  uint32_t scc;            /* 0 or 1 */
  uint32_t pc;             /* index of the next instruction */
  uint32_t mode;           /* round and denormal bits as in the MODE register */
  ws_vector *vgpr;         /* WS_VECTORS */
  ws_group *group;
  int index;         /* in the workgroup */
  uint8_t state;     /* ws_wave_state */
  uint64_t executed; /* instructions */
  ws_access access;
  /* --- what step.h keeps; handlers of cross-lane instructions too --- */
  uint64_t vector_poison[WS_VECTORS]; /* bit per lane: never written, or
                                       * computed from such */
  uint64_t scalar_poison[2];          /* bit per scalar register */
  int partial_count;                  /* registers of partial */
  bool scc_poison;
  /* Loads under way: an operand that one of them will write must not be used
   * before a wait that covers it. */
  struct ws_pending {
    uint16_t first, count; /* vector registers; 0: a store */
    uint8_t counters;      /* 1: vmcnt, 2: lgkmcnt, 3: both (FLAT) */
  } pending[64 + 16 + 16];
  int pending_count;
  uint64_t pending_vectors[WS_VECTORS / 64]; /* registers of pending[] */
  uint64_t pending_scalars[2];               /* SMEM loads under way */
  uint32_t scalar_poison_bits[WS_SGPRS];     /* which bits, where a bit of
                                              * scalar_poison is set */
  uint8_t vector_queue[2]; /* VMEM and LDS operations of pending[] */
  uint8_t scalar_queue;    /* SMEM operations under way */
  uint64_t absent_lanes;   /* were off at a barrier that the wave passed */
  uint64_t initial_exec;   /* lanes that the launch has */
  uint32_t barriers;       /* passed */
  bool acted;              /* wrote what other waves can see */
  /* Registers, bit by bit, of which byte_poison says more: which bytes of a
   * lane in vector_poison, poison_bytes.h. */
  uint64_t partial[WS_VECTORS / 64];
  uint64_t byte_poison[WS_VECTORS][4];
};

/* One workgroup in execution. */
struct ws_group {
  const struct ws_text *text; /* instructions, see below */
  struct ws_memory *memory;
  uint32_t id[3];
  int wave_count;
  ws_wave *waves;
  uint8_t *lds; /* 64 KiB, of which lds_bytes may be touched, and
                 * WS_LDS_NOWHERE */
  uint32_t lds_bytes;
  /* Per LDS byte: poison, and who touched it since the last barrier. */
  struct ws_lds_shadow *shadow;   /* NULL: unchecked */
  struct ws_fp8_cache *fp8_cache; /* mfma_fp8.h; may be NULL */
  uint8_t *scratch; /* scratch_bytes per lane, lane after lane, wave
                     * after wave */
  uint32_t scratch_bytes;
  uint8_t *scratch_poison; /* like scratch: bytes that were never written are
                            * not 0; NULL: unchecked */
  bool checked;            /* checks of step.h and the poison of memory */
  bool timing;             /* stores go to the overlay */
  bool may_be_unknown;     /* some memory is */
  bool read_unknown;       /* and it has read from there */
  int64_t budget; /* instructions of a wave before it is an infinite loop */
  const struct ws__clock_constants *constants; /* of the card */
  /* The first thing that went wrong; id NULL: nothing. Handlers call
   * ws__fault; the run ends the workgroup. */
  struct ws_fault_record {
    const char *id;
    int wave, lane;
    uint32_t pc; /* instruction index */
    char text[256];
  } fault;
  /* The first thing worth saying that ends nothing. */
  struct ws_fault_record note;
};

/* id: a string constant of the table in faults.h. The first fault of a group
 * stays. */
void ws__fault(ws_wave *wave, const ws_instruction *in, int lane,
               const char *id, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same for group->note. */
void ws__note(ws_wave *wave, const ws_instruction *in, int lane, const char *id,
              const char *format, ...) __attribute__((format(printf, 5, 6)));

/* All instructions of a code object, by address. */
typedef struct ws_text {
  ws_instruction *items;
  uint32_t count;
  uint64_t address; /* of the text section in memory */
  uint32_t size;
  /* Index of the instruction at (address - text address) / 4; UINT32_MAX where
   * none starts. */
  uint32_t *index_at;
  const char **lines;               /* disassembly by index, for reports */
  const struct ws_effects *effects; /* by index; effects.h */
} ws_text;

/* ---- small helpers ----------------------------------------------------------
 */

static inline uint64_t ws_sgpr64(const ws_wave *wave, int index) {
  uint64_t value;
  memcpy(&value, &wave->sgpr[index], sizeof value);
  return value;
}
static inline void ws_set_sgpr64(ws_wave *wave, int index, uint64_t value) {
  memcpy(&wave->sgpr[index], &value, sizeof value);
}
static inline uint64_t ws_exec(const ws_wave *wave) {
  return ws_sgpr64(wave, WS_SGPR_EXEC);
}
/* Bytes of LDS that the hardware reserves for lds_bytes. */
static inline uint32_t ws_lds_reserved(const ws_group *group) {
  return (group->lds_bytes + WS_LDS_GRANULE - 1) / WS_LDS_GRANULE *
         WS_LDS_GRANULE;
}
/* A scalar operand of up to 64 bits: register, constant or special. */
uint64_t ws__scalar_value(const ws_wave *wave, const ws_operand *operand);

#endif
