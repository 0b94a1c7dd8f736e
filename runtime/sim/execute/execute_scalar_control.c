/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Control flow of a wave: branches, calls, barrier and end, messages and traps,
 * hardware registers. A program counter in a register is an address in the text
 * section; in the wave it is an instruction index, already that of the next
 * instruction when a handler runs.
 *
 * There is no trap handler and no debugger here: what would stop the wave for
 * good is a fault of the workgroup. VSKIP and the fork stack, which LLVM 21
 * does not emit for gfx942, are refused by name. What s_set_gpr_idx_on means
 * for the instructions after it is in step.c.
 */
#include "clock_constants.h"
#include "execute_scalar.h"

/* ---- jumps ----------------------------------------------------------------
 */

static void jump_to_index(ws_wave *wave, const ws_instruction *in,
                          uint32_t index) {
  if (index < wave->group->text->count)
    wave->pc = index;
  else
    ws__fault(wave, in, -1, "wild-branch",
              "the branch leads to where no instruction starts");
}

static void jump_to_address(ws_wave *wave, const ws_instruction *in,
                            uint64_t address) {
  const ws_text *text = wave->group->text;
  uint64_t offset = address - text->address;
  uint32_t index = UINT32_MAX;
  if (address >= text->address && offset < text->size && offset % 4 == 0)
    index = text->index_at[offset / 4];
  if (index < text->count)
    wave->pc = index;
  else
    ws__fault(wave, in, -1, "wild-branch",
              "jump to 0x%llx, where no instruction of the code object starts",
              (unsigned long long)address);
}

static uint64_t next_address(const ws_wave *wave, const ws_instruction *in) {
  return wave->group->text->address + in->offset + in->bytes;
}

static void get_pc(ws_wave *wave, const ws_instruction *in) {
  ws__set_scalar_u64(wave, &in->dst[0], next_address(wave, in));
}

static void set_pc(ws_wave *wave, const ws_instruction *in) {
  jump_to_address(wave, in, ws__scalar_u64(wave, &in->src[0]));
}

static void swap_pc(ws_wave *wave, const ws_instruction *in) {
  uint64_t target = ws__scalar_u64(wave, &in->src[0]);
  ws__set_scalar_u64(wave, &in->dst[0], next_address(wave, in));
  jump_to_address(wave, in, target);
}

static void call(ws_wave *wave, const ws_instruction *in) {
  ws__set_scalar_u64(wave, &in->dst[0], next_address(wave, in));
  jump_to_index(wave, in, in->target);
}

#define WS_BRANCH_MAP(X)                                                       \
  X(s_branch, true)                                                            \
  X(s_cbranch_scc0, !wave->scc)                                                \
  X(s_cbranch_scc1, wave->scc)                                                 \
  X(s_cbranch_vccz, ws_sgpr64(wave, WS_SGPR_VCC) == 0)                         \
  X(s_cbranch_vccnz, ws_sgpr64(wave, WS_SGPR_VCC) != 0)                        \
  X(s_cbranch_execz, ws_exec(wave) == 0)                                       \
  X(s_cbranch_execnz, ws_exec(wave) != 0)                                      \
  /* No debugger: both debug flags are 0. */                                   \
  X(s_cbranch_cdbgsys, false)                                                  \
  X(s_cbranch_cdbguser, false)                                                 \
  X(s_cbranch_cdbgsys_or_user, false)                                          \
  X(s_cbranch_cdbgsys_and_user, false)

#define DEFINE_BRANCH(name, condition)                                         \
  static void name(ws_wave *wave, const ws_instruction *in) {                  \
    if (condition)                                                             \
      jump_to_index(wave, in, in->target);                                     \
  }
WS_BRANCH_MAP(DEFINE_BRANCH)

/* ---- state of the wave ----------------------------------------------------
 */

static void nothing(ws_wave *wave, const ws_instruction *in) {
  (void)wave;
  (void)in;
}

static void end_program(ws_wave *wave, const ws_instruction *in) {
  (void)in;
  wave->state = WS_WAVE_ENDED;
}

static void barrier(ws_wave *wave, const ws_instruction *in) {
  (void)in;
  wave->state = WS_WAVE_AT_BARRIER;
}

static void kill_wave(ws_wave *wave, const ws_instruction *in) {
  if (ws__simm16(in, 0) & 1)
    wave->state = WS_WAVE_ENDED;
}

static void unsupported(ws_wave *wave, const ws_instruction *in) {
  ws__fault(
      wave, in, -1, "unsupported", "this mode of gfx942 is not simulated: %s",
      in->op == WS_OP_s_setvskip ? "VSKIP"
                                 : "branch stack and trap handler returns");
}

/* ---- VGPR indexing --------------------------------------------------------
 */

static void set_index(ws_wave *wave, uint32_t mask, uint32_t bits) {
  uint32_t *m0 = &wave->sgpr[WS_SGPR_M0];
  *m0 = (*m0 & ~mask) | (bits & mask);
}

static void index_on(ws_wave *wave, const ws_instruction *in) {
  uint32_t index = (uint32_t)ws__scalar_value(wave, &in->src[0]);
  uint32_t operands = (uint32_t)in->src[1].constant;
  set_index(wave, 0xf0ff, (index & 0xff) | operands << 12);
  wave->mode |= WS_MODE_GPR_INDEX;
}

static void index_value(ws_wave *wave, const ws_instruction *in) {
  set_index(wave, 0xff, (uint32_t)ws__scalar_value(wave, &in->src[0]));
}

static void index_operands(ws_wave *wave, const ws_instruction *in) {
  set_index(wave, 0xf000, (uint32_t)in->src[0].constant << 12);
}

static void index_off(ws_wave *wave, const ws_instruction *in) {
  (void)in;
  wave->mode &= ~(uint32_t)WS_MODE_GPR_INDEX;
}

/* ---- traps and messages ---------------------------------------------------
 */

/* LLVM, AMDGPUUsage, "Trap Handler ABI": 2 is llvm.trap, 3 llvm.debugtrap,
 * which does nothing without a debugger. */
static void trap(ws_wave *wave, const ws_instruction *in) {
  uint32_t id = ws__simm16(in, 0) & 0xff;
  if (id != 3)
    ws__fault(wave, in, -1, "trap", "s_trap %u%s", id,
              id == 2 ? " (llvm.trap: an assertion or unreachable code)" : "");
}

static void halt(ws_wave *wave, const ws_instruction *in) {
  if (ws__simm16(in, 0) & 1)
    ws__fault(wave, in, -1, "trap", "the wave halts itself for good");
}

static void message_and_halt(ws_wave *wave, const ws_instruction *in) {
  ws__fault(wave, in, -1, "trap",
            "the wave sends message %u and halts itself for good",
            (unsigned)in->imm & 15);
}

/* ---- hardware registers ---------------------------------------------------
 */

/* Numbers and fields: LLVM, SIDefines.h (Hwreg) and the ISA guide, section 3.
 */
enum {
  HWREG_MODE = 1,
  HWREG_STATUS = 2,
  HWREG_TRAP_STATUS = 3,
  HWREG_HW_ID = 4,
  HWREG_MEMORY_BASES = 15,
  HWREG_XCC_ID = 20,
};

static uint32_t status(const ws_wave *wave) {
  enum { EXECZ = 9, VCCZ = 10, IN_WORKGROUP = 11, VALID = 16 };
  return wave->scc | (uint32_t)(ws_exec(wave) == 0) << EXECZ |
         (uint32_t)(ws_sgpr64(wave, WS_SGPR_VCC) == 0) << VCCZ |
         (uint32_t)(wave->group->wave_count > 1) << IN_WORKGROUP | 1u << VALID;
}

/* Workgroup n runs on XCC n mod 8 (of an MI300X), in dispatch order. */
static uint32_t xcc_of(const ws_group *group) {
  return group->id[0] % (uint32_t)group->constants->xcds;
}

/* WAVE_ID 3:0, SIMD_ID 5:4, CU_ID 11:8, SE_ID 15:13: one of the places that the
 * wave could be at, the same in every run. */
static uint32_t hardware_id(const ws_wave *wave) {
  const ws__clock_constants *card = wave->group->constants;
  uint32_t cu =
      wave->group->id[0] / (uint32_t)card->xcds % (uint32_t)card->cus_per_xcd;
  uint32_t index = (uint32_t)wave->index;
  return index / 4 % 16 | index % 4 << 4 | cu % 10 << 8 | cu / 10 << 13;
}

static uint32_t hardware_register(const ws_wave *wave, int id) {
  switch (id) {
  case HWREG_MODE:
    return wave->mode;
  case HWREG_STATUS:
    return status(wave);
  case HWREG_HW_ID:
    return hardware_id(wave);
  case HWREG_MEMORY_BASES:
    return (WS_SHARED_APERTURE >> 16) << 16 | WS_PRIVATE_APERTURE >> 16;
  case HWREG_XCC_ID:
    return xcc_of(wave->group);
  default:
    return 0;
  }
}

/* The field that hwreg(id, offset, size) names. */
static uint32_t field_mask(const ws_instruction *in, unsigned *out_offset) {
  unsigned size = (unsigned)in->imm2 >> 8 & 63;
  *out_offset = (unsigned)in->imm2 & 31;
  return size == 0 || size >= 32 ? UINT32_MAX : (1u << size) - 1;
}

static void get_register(ws_wave *wave, const ws_instruction *in) {
  unsigned offset;
  uint32_t mask = field_mask(in, &offset);
  ws__set_scalar_u32(wave, &in->dst[0],
                     hardware_register(wave, in->imm) >> offset & mask);
}

/* MODE is the one that a kernel may set; writes of exception flags have no
 * effect here. */
static void set_register(ws_wave *wave, const ws_instruction *in) {
  const ws_operand *source = &in->src[in->src_count ? in->src_count - 1 : 0];
  unsigned offset;
  uint32_t mask = field_mask(in, &offset);
  uint32_t value = (ws__scalar_u32(wave, source) & mask) << offset;
  if (in->imm == HWREG_MODE)
    wave->mode = (wave->mode & ~(mask << offset)) | value;
  else if (in->imm != HWREG_TRAP_STATUS)
    ws__fault(wave, in, -1, "unsupported",
              "s_setreg of hardware register %d, which a kernel cannot set",
              in->imm);
}

ws_execute ws__execute_scalar_control(ws_op op) {
#define ENTRY(name, ...) [WS_OP_##name] = name,
  static const ws_execute handlers[WS_OP_COUNT] = {
      WS_BRANCH_MAP(ENTRY)[WS_OP_s_getpc_b64] = get_pc,
      [WS_OP_s_setpc_b64] = set_pc,
      [WS_OP_s_swappc_b64] = swap_pc,
      [WS_OP_s_call_b64] = call,
      [WS_OP_s_endpgm] = end_program,
      [WS_OP_s_endpgm_saved] = end_program,
      [WS_OP_s_endpgm_ordered_ps_done] = end_program,
      [WS_OP_s_barrier] = barrier,
      [WS_OP_s_setkill] = kill_wave,
      [WS_OP_s_trap] = trap,
      [WS_OP_s_sethalt] = halt,
      [WS_OP_s_sendmsghalt] = message_and_halt,
      [WS_OP_s_getreg_b32] = get_register,
      [WS_OP_s_setreg_b32] = set_register,
      [WS_OP_s_setreg_imm32_b32] = set_register,
      [WS_OP_s_rfe_b64] = unsupported,
      [WS_OP_s_rfe_restore_b64] = unsupported,
      [WS_OP_s_cbranch_g_fork] = unsupported,
      [WS_OP_s_cbranch_i_fork] = unsupported,
      [WS_OP_s_cbranch_join] = unsupported,
      [WS_OP_s_setvskip] = unsupported,
      [WS_OP_s_set_gpr_idx_on] = index_on,
      [WS_OP_s_set_gpr_idx_idx] = index_value,
      [WS_OP_s_set_gpr_idx_mode] = index_operands,
      [WS_OP_s_set_gpr_idx_off] = index_off,
      /* Without effect on results; s_waitcnt is checked in step.h. */
      [WS_OP_s_nop] = nothing,
      [WS_OP_s_sleep] = nothing,
      [WS_OP_s_setprio] = nothing,
      [WS_OP_s_wakeup] = nothing,
      [WS_OP_s_waitcnt] = nothing,
      [WS_OP_s_sendmsg] = nothing,
      [WS_OP_s_icache_inv] = nothing,
      [WS_OP_s_incperflevel] = nothing,
      [WS_OP_s_decperflevel] = nothing,
      [WS_OP_s_ttracedata] = nothing,
  };
#undef ENTRY
  return handlers[op];
}
