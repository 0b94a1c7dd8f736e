/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside pass/: how a template looks in IR.
 */
#ifndef WAVESMITH_PASS_TEMPLATE_IR_H
#define WAVESMITH_PASS_TEMPLATE_IR_H

#include "pass.h"

#define WS_METADATA_PREFIX "wavesmith."

/* Address spaces and the calling convention of amdgcn (LLVM: AMDGPU Usage). */
enum {
  WS_SPACE_FLAT = 0,
  WS_SPACE_GLOBAL = 1,
  WS_SPACE_LDS = 3,
  WS_SPACE_CONSTANT = 4,
  WS_SPACE_PRIVATE = 5,
  WS_CC_AMDGPU_KERNEL = 91
};

/* Whether the module carries wavesmith metadata at all. */
bool ws__pass_is_template(LLVMModuleRef module);

#endif
