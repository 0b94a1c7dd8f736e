/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A small HIP host program in C as anyone writes one, against HIP's own
 * headers: device, memory, copies sync and async, module, launch, streams,
 * events, occupancy. Nothing in it knows of the simulator. host_program
 * KERNELS.co
 */
#include <hip/hip_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                            \
  do {                                                                         \
    hipError_t error_ = (call);                                                \
    if (error_ != hipSuccess) {                                                \
      fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error_));           \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

enum { N = 5000 };

static void print_device(void) {
  hipDeviceProp_t properties;
  size_t free_bytes, total_bytes;
  int count = 0, driver = 0;
  CHECK(hipInit(0));
  CHECK(hipGetDeviceCount(&count));
  CHECK(hipSetDevice(0));
  CHECK(hipDriverGetVersion(&driver));
  CHECK(hipGetDeviceProperties(&properties, 0));
  CHECK(hipMemGetInfo(&free_bytes, &total_bytes));
  printf("%d device: %s, %s, %d CUs, %zu of %zu MiB free\n", count,
         properties.name, properties.gcnArchName,
         properties.multiProcessorCount, free_bytes >> 20, total_bytes >> 20);
}

static int run(hipFunction_t saxpy, hipStream_t stream, float *x, float *y) {
  float a = 3, ms = 0, *device_x, *device_y;
  unsigned n = N;
  hipEvent_t start, stop;
  void *params[] = {&a, &device_x, &device_y, &n};
  CHECK(hipMalloc((void **)&device_x, N * sizeof *x));
  CHECK(hipMalloc((void **)&device_y, N * sizeof *y));
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreateWithFlags(&stop, hipEventDefault));
  CHECK(hipMemcpyAsync(device_x, x, N * sizeof *x, hipMemcpyHostToDevice,
                       stream));
  CHECK(hipMemcpyAsync(device_y, y, N * sizeof *y, hipMemcpyHostToDevice,
                       stream));
  CHECK(hipEventRecord(start, stream));
  CHECK(hipModuleLaunchKernel(saxpy, (N + 255) / 256, 1, 1, 256, 1, 1, 0,
                              stream, params, NULL));
  CHECK(hipEventRecord(stop, stream));
  CHECK(hipMemcpyAsync(y, device_y, N * sizeof *y, hipMemcpyDeviceToHost,
                       stream));
  CHECK(hipStreamSynchronize(stream));
  CHECK(hipEventElapsedTime(&ms, start, stop));
  CHECK(hipEventDestroy(start));
  CHECK(hipEventDestroy(stop));
  CHECK(hipFree(device_x));
  CHECK(hipFree(device_y));
  printf("saxpy: %.3f us\n", ms * 1e3);
  return ms > 0 && ms < 1;
}

int main(int argc, char **argv) {
  hipModule_t module;
  hipFunction_t saxpy;
  hipStream_t stream;
  int blocks = 0, wrong = 0;
  float *x, *y;
  if (argc < 2)
    return 2;
  print_device();
  CHECK(hipModuleLoad(&module, argv[1]));
  CHECK(hipModuleGetFunction(&saxpy, module, "saxpy"));
  CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, saxpy, 256,
                                                           0));
  CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  CHECK(hipHostMalloc((void **)&x, N * sizeof *x, hipHostMallocDefault));
  CHECK(hipHostMalloc((void **)&y, N * sizeof *y, hipHostMallocDefault));
  for (int i = 0; i < N; i++) {
    x[i] = (float)i;
    y[i] = 0.5f;
  }
  wrong += !run(saxpy, stream, x, y);
  for (int i = 0; i < N; i++)
    wrong += y[i] != 3 * (float)i + 0.5f;
  CHECK(hipStreamDestroy(stream));
  CHECK(hipHostFree(x));
  CHECK(hipHostFree(y));
  CHECK(hipModuleUnload(module));
  CHECK(hipDeviceReset());
  printf("%d blocks a CU, %d wrong\n", blocks, wrong);
  return wrong || blocks != 8;
}
