/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside pass/: wavesmith's own functions for sm_90a, which become PTX
 * instructions whose number of operands depends on a parameter.
 */
#ifndef WAVESMITH_PASS_NVPTX_EXPAND_H
#define WAVESMITH_PASS_NVPTX_EXPAND_H

#include "pass.h"

/* Whether the function is one of ours, with the type that it must have. */
bool ws__nvptx_is_own(LLVMValueRef function);

/* Replaces their calls. A finding "wgmma-shape" for each whose shape is no
 * constant or none that there is. requires: calls inlined, parameters folded.
 */
bool ws__nvptx_expand(LLVMModuleRef module, ws_findings *findings);

#endif
