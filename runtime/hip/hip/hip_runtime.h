/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The part of HIP that kernels use, for `wavesmith import` and for region
 * bodies, where ROCm need not be installed. Device code only: of the host's
 * API there is enough for a file that also launches its kernel to be read.
 * Mathematics is LLVM's intrinsics, which the back end expands; what needs
 * AMD's device libraries is not there, and using it is an error with its line.
 */
#ifndef WAVESMITH_HIP_RUNTIME_H
#define WAVESMITH_HIP_RUNTIME_H

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define WS__FN __attribute__((device, always_inline)) static inline
#define warpSize 64

typedef __SIZE_TYPE__ size_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef uint64_t uintptr_t;

/* ---- vectors ---- */

#define WS__VECTORS(type, name)                                                \
  typedef type name##1;                                                        \
  typedef type name##2 __attribute__((ext_vector_type(2)));                    \
  typedef type name##3 __attribute__((ext_vector_type(3)));                    \
  typedef type name##4 __attribute__((ext_vector_type(4)));                    \
  __attribute__((host)) WS__FN name##2 make_##name##2(type x, type y) {        \
    return name##2{x, y};                                                      \
  }                                                                            \
  __attribute__((host)) WS__FN name##3 make_##name##3(type x, type y,          \
                                                      type z) {                \
    return name##3{x, y, z};                                                   \
  }                                                                            \
  __attribute__((host)) WS__FN name##4 make_##name##4(type x, type y, type z,  \
                                                      type w) {                \
    return name##4{x, y, z, w};                                                \
  }
WS__VECTORS(signed char, char)
WS__VECTORS(unsigned char, uchar)
WS__VECTORS(short, short)
WS__VECTORS(unsigned short, ushort)
WS__VECTORS(int, int)
WS__VECTORS(unsigned, uint)
WS__VECTORS(long, long)
WS__VECTORS(unsigned long, ulong)
WS__VECTORS(float, float)
WS__VECTORS(double, double)

/* ---- places ---- */

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1,
                                     unsigned z = 1)
      : x(x), y(y), z(z) {}
};

#define WS__PLACE(name, X, Y, Z)                                               \
  struct ws__##name {                                                          \
    __declspec(property(get = get_x)) unsigned x;                              \
    __declspec(property(get = get_y)) unsigned y;                              \
    __declspec(property(get = get_z)) unsigned z;                              \
    __device__ __attribute__((always_inline)) unsigned get_x() const {         \
      return X;                                                                \
    }                                                                          \
    __device__ __attribute__((always_inline)) unsigned get_y() const {         \
      return Y;                                                                \
    }                                                                          \
    __device__ __attribute__((always_inline)) unsigned get_z() const {         \
      return Z;                                                                \
    }                                                                          \
  };                                                                           \
  extern const __device__ __attribute__((weak)) ws__##name name;
WS__PLACE(threadIdx, __builtin_amdgcn_workitem_id_x(),
          __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z())
WS__PLACE(blockIdx, __builtin_amdgcn_workgroup_id_x(),
          __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z())
WS__PLACE(blockDim, __builtin_amdgcn_workgroup_size_x(),
          __builtin_amdgcn_workgroup_size_y(),
          __builtin_amdgcn_workgroup_size_z())
#define WS__BLOCKS(axis)                                                       \
  (((const unsigned __attribute__((address_space(4))) *)                       \
        __builtin_amdgcn_implicitarg_ptr())[axis])
WS__PLACE(gridDim, WS__BLOCKS(0), WS__BLOCKS(1), WS__BLOCKS(2))

/* ---- order ---- */

WS__FN void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
WS__FN void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
WS__FN void __threadfence_block() {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}

/* ---- lanes ---- */

WS__FN int __lane_id() {
  return (int)__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}
WS__FN int ws__from_lane(int value, int lane) {
  return __builtin_amdgcn_ds_bpermute(lane << 2, value);
}
WS__FN int __shfl(int value, int lane, int width = 64) {
  int self = __lane_id();
  return ws__from_lane(value, (self & ~(width - 1)) + (lane & (width - 1)));
}
WS__FN int __shfl_xor(int value, int mask, int width = 64) {
  int self = __lane_id(), lane = self ^ mask;
  return ws__from_lane(value, lane >= ((self + width) & ~(width - 1)) ? self
                                                                      : lane);
}
WS__FN int __shfl_down(int value, unsigned by, int width = 64) {
  int self = __lane_id(), lane = self + (int)by;
  return ws__from_lane(value, (self & (width - 1)) + (int)by >= width ? self
                                                                      : lane);
}
WS__FN int __shfl_up(int value, unsigned by, int width = 64) {
  int self = __lane_id(), lane = self - (int)by;
  return ws__from_lane(value, lane < (self & ~(width - 1)) ? self : lane);
}
#define WS__SHUFFLE(type)                                                      \
  WS__FN type __shfl(type v, int lane, int width = 64) {                       \
    return __builtin_bit_cast(                                                 \
        type, __shfl(__builtin_bit_cast(int, v), lane, width));                \
  }                                                                            \
  WS__FN type __shfl_xor(type v, int mask, int width = 64) {                   \
    return __builtin_bit_cast(                                                 \
        type, __shfl_xor(__builtin_bit_cast(int, v), mask, width));            \
  }                                                                            \
  WS__FN type __shfl_down(type v, unsigned by, int width = 64) {               \
    return __builtin_bit_cast(                                                 \
        type, __shfl_down(__builtin_bit_cast(int, v), by, width));             \
  }                                                                            \
  WS__FN type __shfl_up(type v, unsigned by, int width = 64) {                 \
    return __builtin_bit_cast(                                                 \
        type, __shfl_up(__builtin_bit_cast(int, v), by, width));               \
  }
WS__SHUFFLE(unsigned)
WS__SHUFFLE(float)
WS__FN unsigned long __ballot(int p) { return __builtin_amdgcn_ballot_w64(p); }
WS__FN int __any(int p) { return __ballot(p) != 0; }
WS__FN int __all(int p) { return __ballot(!p) == 0; }

/* ---- bits ---- */

WS__FN int __popc(unsigned v) { return __builtin_popcount(v); }
WS__FN int __popcll(unsigned long v) { return __builtin_popcountl(v); }
WS__FN int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
WS__FN int __ffs(int v) { return __builtin_ffs(v); }
WS__FN unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
#define WS__CAST(name, from, to)                                               \
  WS__FN to name(from v) { return __builtin_bit_cast(to, v); }
WS__CAST(__float_as_int, float, int)
WS__CAST(__float_as_uint, float, unsigned)
WS__CAST(__int_as_float, int, float)
WS__CAST(__uint_as_float, unsigned, float)

/* ---- mathematics ---- */

#define WS__MATH(name, which)                                                  \
  WS__FN float name(float v) { return __builtin_elementwise_##which(v); }
WS__MATH(expf, exp)
WS__MATH(__expf, exp)
WS__MATH(exp2f, exp2)
WS__MATH(logf, log)
WS__MATH(__logf, log)
WS__MATH(log2f, log2)
WS__MATH(__log2f, log2)
WS__MATH(__sinf, sin)
WS__MATH(__cosf, cos)
WS__MATH(sqrtf, sqrt)
WS__MATH(fabsf, abs)
WS__MATH(floorf, floor)
WS__MATH(ceilf, ceil)
WS__MATH(truncf, trunc)
WS__MATH(rintf, rint)
WS__FN float fmaf(float a, float b, float c) {
  return __builtin_elementwise_fma(a, b, c);
}
WS__FN float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
WS__FN float rsqrtf(float v) { return 1.0f / sqrtf(v); }
WS__FN float __frsqrt_rn(float v) { return rsqrtf(v); }
WS__FN float __frcp_rn(float v) { return 1.0f / v; }
WS__FN float __fdividef(float a, float b) { return a / b; }
WS__FN float fminf(float a, float b) { return __builtin_fminf(a, b); }
WS__FN float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
#define WS__MIN_MAX(type)                                                      \
  __attribute__((host)) WS__FN type min(type a, type b) {                      \
    return a < b ? a : b;                                                      \
  }                                                                            \
  __attribute__((host)) WS__FN type max(type a, type b) {                      \
    return a > b ? a : b;                                                      \
  }
WS__MIN_MAX(int)
WS__MIN_MAX(unsigned)
WS__MIN_MAX(long)
WS__MIN_MAX(unsigned long)
WS__FN float min(float a, float b) { return fminf(a, b); }
WS__FN float max(float a, float b) { return fmaxf(a, b); }

/* ---- atomics: of the device, relaxed, as HIP's are ---- */

#define WS__ATOMIC(name, which)                                                \
  template <class T> WS__FN T name(T *at, T value) {                           \
    return __hip_atomic_##which(at, value, __ATOMIC_RELAXED,                   \
                                __HIP_MEMORY_SCOPE_AGENT);                     \
  }
WS__ATOMIC(atomicAdd, fetch_add)
WS__ATOMIC(atomicMin, fetch_min)
WS__ATOMIC(atomicMax, fetch_max)
WS__ATOMIC(atomicAnd, fetch_and)
WS__ATOMIC(atomicOr, fetch_or)
WS__ATOMIC(atomicXor, fetch_xor)
WS__ATOMIC(atomicExch, exchange)
template <class T> WS__FN T atomicSub(T *at, T value) {
  return atomicAdd(at, (T)-value);
}
template <class T> WS__FN T atomicCAS(T *at, T expected, T value) {
  __hip_atomic_compare_exchange_strong(at, &expected, value, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED,
                                       __HIP_MEMORY_SCOPE_AGENT);
  return expected;
}

/* ---- what a template may not: import says so, with the line ---- */

extern "C" __device__ int printf(const char *, ...);
extern "C" __device__ void *malloc(size_t);
extern "C" __device__ void free(void *);
extern "C" __device__ void __ws_assert_fail();
#define assert(condition) ((condition) ? (void)0 : __ws_assert_fail())
WS__FN long clock64() { return (long)__builtin_readcyclecounter(); }
WS__FN long wall_clock64() { return (long)__builtin_readsteadycounter(); }

/* ---- host code of the same file: read, not compiled ---- */

typedef int hipError_t;
typedef struct ihipStream_t *hipStream_t;
enum { hipSuccess = 0 };
enum hipMemcpyKind {
  hipMemcpyHostToHost,
  hipMemcpyHostToDevice,
  hipMemcpyDeviceToHost,
  hipMemcpyDeviceToDevice,
  hipMemcpyDefault
};
extern "C" {
hipError_t hipMemcpy(void *, const void *, size_t, hipMemcpyKind);
hipError_t hipMemset(void *, int, size_t);
hipError_t hipFree(void *);
hipError_t hipDeviceSynchronize();
hipError_t hipStreamSynchronize(hipStream_t);
hipError_t hipGetLastError();
const char *hipGetErrorString(hipError_t);
hipError_t __hipPushCallConfiguration(dim3, dim3, size_t = 0, hipStream_t = 0);
hipError_t hipConfigureCall(dim3, dim3, size_t = 0, hipStream_t = 0);
hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, size_t,
                           hipStream_t);
}
template <class T> hipError_t hipMalloc(T **, size_t);
#define hipLaunchKernelGGL(kernel, grid, block, bytes, stream, ...)            \
  kernel<<<grid, block, bytes, stream>>>(__VA_ARGS__)

#endif
