/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The parts of lowering, for lower.c and its tests: hashes and facts.
 */
#ifndef WAVESMITH_PASS_LOWER_H
#define WAVESMITH_PASS_LOWER_H

#include "comgr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Hash of what the kernels of a module compute and promise (ir_hash.c).
 * Independent of value and global names, of the order of globals, of unused
 * ones, of debug info and other metadata. */
ws_hash ws_ir_hash(LLVMModuleRef module);

/* Hash of the kernels' machine code and of the resources that decide how they
 * run: two candidates with the same hash are one program. */
ws_hash ws_code_hash(ws_blob code_object, const ws_kernel_facts *kernels,
                     int count);

/* The bytes of a function of a code object and the address they are linked
 * at. false when there is no such function or the file is no gfx ELF. */
bool ws_elf_function(ws_blob code_object, const char *name, ws_blob *out_code,
                     uint64_t *out_address);

/* Facts of every kernel: metadata, size, instruction mix, innermost loops. */
bool ws_facts_read(ws_arena *arena, const char *target, ws_blob code_object,
                   ws_kernel_facts **out_kernels, int *out_count,
                   char **out_log);

#ifdef __cplusplus
}
#endif
#endif
