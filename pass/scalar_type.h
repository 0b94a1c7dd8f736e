/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Scalar arguments of problems as LLVM types.
 */
#ifndef WAVESMITH_PASS_SCALAR_TYPE_H
#define WAVESMITH_PASS_SCALAR_TYPE_H

#include "wavesmith/problem.h"

#include <llvm-c/Core.h>

/* i32, i64 or float, as a scalar argument of that element type is passed. */
bool ws__is_scalar_type(ws_type wanted, LLVMTypeRef type);

#endif
