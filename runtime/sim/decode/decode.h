/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a code object in memory to decoded instructions. comgr's disassembler
 * knows the encodings; here its text is read.
 */
#ifndef WAVESMITH_SIM_DECODE_H
#define WAVESMITH_SIM_DECODE_H

#include "machine.h"

/* Reads one line of disassembly ("v_add_f32_e32 v1, v2, v3"), as comgr and
 * llvm-objdump print it, or as one writes it for the assembler. execute,
 * offset, target and bytes are left 0; a branch's imm is the encoded simm16.
 * WS_INPUT with the mnemonic or operand that is not known. Thread-safe. */
ws_status ws__parse_instruction(const char *line, ws_instruction *out,
                                ws_diag *diag) WS_MUST_CHECK;

/* The handler of a decoded instruction; NULL: no family has one. */
ws_execute ws__find_handler(ws_op op);
const char *ws__op_name(ws_op op);

/* Decodes size bytes of code at text_address (in this process's memory, where
 * it will run). What is no instruction (padding, data in the text section)
 * gets a handler that is a fault when executed, and so does one more item at
 * the end (line "", bytes 0): targets of wild branches, and what follows the
 * last instruction. A real instruction that the simulator has no handler for
 * is WS_INPUT, by name and offset. */
ws_status ws__decode_text(ws_arena *arena, uint64_t text_address, uint32_t size,
                          ws_text *out_text, ws_diag *diag) WS_MUST_CHECK;

#endif
