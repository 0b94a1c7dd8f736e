// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A HIP program as clang builds it: kernel<<<>>> and __device__ variables, with
// the registration that clang itself emits. The device code in the fat binary is
// kernels.hip's; here only the declarations count. hip_runtime.h is left out: it
// wants a newer clang than Debian's.
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))

extern "C" {
__device__ unsigned counter = 7;
__constant__ float table[4] = {1, 2, 4, 8};
__global__ void saxpy(float a, const float *x, float *y, unsigned n) {}
__global__ void bump(unsigned *out, const float *unused) {}
__global__ void not_in_the_binary(unsigned *out) {}
}

static void need(bool good, const char *what) {
  if (good)
    return;
  fprintf(stderr, "clang_program: %s (%s)\n", what,
          hipGetErrorName(hipPeekAtLastError()));
  exit(1);
}
#define CHECK(call) need((call) == hipSuccess, #call)

static void check_saxpy() {
  enum { N = 1000 };
  float x[N], y[N], *device_x, *device_y;
  for (int i = 0; i < N; i++) {
    x[i] = (float)i;
    y[i] = 1;
  }
  CHECK(hipMalloc((void **)&device_x, sizeof x));
  CHECK(hipMalloc((void **)&device_y, sizeof y));
  CHECK(hipMemcpy(device_x, x, sizeof x, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(device_y, y, sizeof y, hipMemcpyHostToDevice));
  saxpy<<<dim3(4), dim3(256)>>>(2.0f, device_x, device_y, N);
  CHECK(hipGetLastError());
  CHECK(hipMemcpy(y, device_y, sizeof y, hipMemcpyDeviceToHost));
  for (int i = 0; i < N; i++)
    need(y[i] == 2.0f * (float)i + 1, "saxpy: wrong value");
  CHECK(hipFree(device_x));
  CHECK(hipFree(device_y));
}

static void check_variables() {
  unsigned out[2], value = 41, *device_out;
  size_t size = 0;
  CHECK(hipMalloc((void **)&device_out, sizeof out));
  CHECK(hipMemcpyToSymbol(counter, &value, sizeof value, 0,
                          hipMemcpyHostToDevice));
  bump<<<dim3(1), dim3(64)>>>(device_out, nullptr);
  CHECK(hipMemcpy(out, device_out, sizeof out, hipMemcpyDeviceToHost));
  need(out[0] == 42 && out[1] == 8, "bump: wrong value");
  CHECK(hipMemcpyFromSymbol(&value, counter, sizeof value, 0,
                            hipMemcpyDeviceToHost));
  need(value == 42, "counter: wrong value");
  CHECK(hipGetSymbolSize(&size, table));
  need(size == sizeof table, "table: wrong size");
  CHECK(hipFree(device_out));
}

int main() {
  hipFuncAttributes attributes;
  check_saxpy();
  check_variables();
  CHECK(hipFuncGetAttributes(&attributes, (const void *)saxpy));
  need(attributes.maxThreadsPerBlock == 1024, "saxpy: wrong block limit");
  not_in_the_binary<<<dim3(1), dim3(64)>>>(nullptr);
  need(hipGetLastError() == hipErrorInvalidDeviceFunction, "a missing kernel");
  check_saxpy();
  puts("clang program: all as expected");
  return 0;
}
