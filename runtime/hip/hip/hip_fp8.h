/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The fp8 formats of the target for `wavesmith import`: on gfx942 the
 * conversion instructions read FNUZ, on gfx950 OCP.
 */
#ifndef WAVESMITH_HIP_FP8_H
#define WAVESMITH_HIP_FP8_H

#include <hip/hip_runtime.h>

typedef unsigned char __hip_fp8_storage_t;
struct ws__fp8_e4m3 {
  __hip_fp8_storage_t __x;
  __device__ __attribute__((always_inline)) operator float() const {
    return __builtin_amdgcn_cvt_f32_fp8(__x, 0);
  }
};
struct ws__fp8_e5m2 {
  __hip_fp8_storage_t __x;
  __device__ __attribute__((always_inline)) operator float() const {
    return __builtin_amdgcn_cvt_f32_bf8(__x, 0);
  }
};
typedef ws__fp8_e4m3 __hip_fp8_e4m3_fnuz;
typedef ws__fp8_e5m2 __hip_fp8_e5m2_fnuz;
#if defined(__gfx950__)
typedef ws__fp8_e4m3 __hip_fp8_e4m3;
typedef ws__fp8_e5m2 __hip_fp8_e5m2;
#endif

#endif
