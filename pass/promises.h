/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside pass/: what an optimiser is not to be promised.
 */
#ifndef WAVESMITH_PASS_PROMISES_H
#define WAVESMITH_PASS_PROMISES_H

#include "pass.h"

/* In every function of the module, and of its globals. Before the numbers of
 * threads are stated, which are promises that the launch rules keep. */
void ws__pass_drop_promises(LLVMModuleRef module);

/* A part of it: nnan and ninf (fast_math.c). */
void ws__pass_limit_fast_math(LLVMModuleRef module);

/* Gives operations that are undefined for some operands the result that they
 * have without optimisation: shift amounts and vector indices wrap around,
 * conversions to integers saturate, counting zeros of zero and the absolute
 * value of the least number have their usual results. */
void ws__pass_define_operations(LLVMModuleRef module);

/* Vectors of 3, 5, 6 and 7 bits that are taken for numbers become eight wide,
 * for code generation (masks.c). */
void ws__pass_widen_masks(LLVMModuleRef module);

/* Marks each `unreachable` and llvm.assume that an author has written, before
 * passes run. */
void ws__pass_mark_written(LLVMModuleRef module);
/* Of what is not marked `unreachable` becomes a return or the first case of a
 * switch, and llvm.assume goes (total.c). */
void ws__pass_settle_made(LLVMModuleRef module);

#endif
