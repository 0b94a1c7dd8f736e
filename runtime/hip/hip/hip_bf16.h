/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * bfloat16 for `wavesmith import`: clang's own __bf16, rounded to nearest even.
 */
#ifndef WAVESMITH_HIP_BF16_H
#define WAVESMITH_HIP_BF16_H

#include <hip/hip_runtime.h>

typedef __bf16 __hip_bfloat16;
typedef __bf16 hip_bfloat16;
typedef __bf16 __hip_bfloat162 __attribute__((ext_vector_type(2)));
WS__FN float __bfloat162float(__hip_bfloat16 v) { return (float)v; }
WS__FN __hip_bfloat16 __float2bfloat16(float v) { return (__hip_bfloat16)v; }

#endif
