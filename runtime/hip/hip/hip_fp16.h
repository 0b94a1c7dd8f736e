/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Half precision for `wavesmith import`: clang's own _Float16.
 */
#ifndef WAVESMITH_HIP_FP16_H
#define WAVESMITH_HIP_FP16_H

#include <hip/hip_runtime.h>

typedef _Float16 __half;
typedef _Float16 half;
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
typedef half2 __half2;
WS__FN float __half2float(half v) { return (float)v; }
WS__FN half __float2half(float v) { return (half)v; }
WS__FN half __float2half_rn(float v) { return (half)v; }
WS__FN half2 __floats2half2_rn(float a, float b) {
  return half2{(half)a, (half)b};
}
WS__FN float __low2float(half2 v) { return (float)v.x; }
WS__FN float __high2float(half2 v) { return (float)v.y; }
WS__FN half __hadd(half a, half b) { return a + b; }
WS__FN half __hmul(half a, half b) { return a * b; }
WS__FN half2 __hfma2(half2 a, half2 b, half2 c) {
  return __builtin_elementwise_fma(a, b, c);
}

#endif
