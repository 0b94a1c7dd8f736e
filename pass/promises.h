/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside pass/: what an optimiser is not to be promised.
 */
#ifndef WAVESMITH_PASS_PROMISES_H
#define WAVESMITH_PASS_PROMISES_H

#include "pass.h"

/* In every function of the module. */
void ws__pass_drop_promises(LLVMModuleRef module);

#endif
