/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Shared by the files of the scalar unit: operands in and out.
 *
 *   execute_scalar.c          arithmetic (SOP1, SOP2, SOPC, SOPK)
 *   execute_scalar_control.c  branches, calls, messages, hardware registers
 *   execute_scalar_memory.c   SMEM
 *
 * Semantics: "AMD Instinct MI300" CDNA3 instruction set architecture, AMD,
 * 2024, chapters 5 and 12.
 */
#ifndef WAVESMITH_SIM_EXECUTE_SCALAR_H
#define WAVESMITH_SIM_EXECUTE_SCALAR_H

#include "machine.h"

ws_execute ws__execute_scalar_control(ws_op op);
ws_execute ws__execute_scalar_memory(ws_op op);

/* Low word of a scalar source. */
static inline uint32_t ws__scalar_u32(const ws_wave *wave,
                                      const ws_operand *operand) {
  if (operand->kind == WS_OPERAND_SCALAR)
    return wave->sgpr[operand->index & (WS_SGPRS - 1)];
  if (operand->kind == WS_OPERAND_CONSTANT)
    return (uint32_t)operand->constant;
  return (uint32_t)ws__scalar_value(wave, operand);
}

/* 64-bit operands are aligned pairs. */
static inline uint64_t ws__scalar_u64(const ws_wave *wave,
                                      const ws_operand *operand) {
  if (operand->kind == WS_OPERAND_SCALAR)
    return ws_sgpr64(wave, operand->index & (WS_SGPRS - 2));
  if (operand->kind == WS_OPERAND_CONSTANT)
    return operand->constant;
  return ws__scalar_value(wave, operand);
}

static inline void ws__set_scalar_u32(ws_wave *wave, const ws_operand *operand,
                                      uint32_t value) {
  if (operand->kind == WS_OPERAND_SCALAR)
    wave->sgpr[operand->index & (WS_SGPRS - 1)] = value;
}

static inline void ws__set_scalar_u64(ws_wave *wave, const ws_operand *operand,
                                      uint64_t value) {
  if (operand->kind == WS_OPERAND_SCALAR)
    ws_set_sgpr64(wave, operand->index & (WS_SGPRS - 2), value);
}

/* The 16-bit constant of SOPK and SOPP: operand `index` of the text, where the
 * decoder kept it there, else imm. */
static inline uint32_t ws__simm16(const ws_instruction *in, int index) {
  if (index < in->src_count && in->src[index].kind == WS_OPERAND_CONSTANT)
    return (uint32_t)in->src[index].constant;
  return (uint32_t)in->imm;
}

#endif
