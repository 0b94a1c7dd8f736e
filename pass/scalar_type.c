/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See scalar_type.h.
 */
#include "scalar_type.h"

bool ws__is_scalar_type(ws_type wanted, LLVMTypeRef type) {
  LLVMTypeKind kind = LLVMGetTypeKind(type);
  if (wanted == WS_F32)
    return kind == LLVMFloatTypeKind;
  return kind == LLVMIntegerTypeKind &&
         (int)LLVMGetIntTypeWidth(type) == 8 * ws_type_bytes(wanted);
}
