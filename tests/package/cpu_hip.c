/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A HIP library that multiplies on the CPU: cpu_gemm.h.
 */
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#define FP8_BIAS 8 /* e4m3 FNUZ */
#define IS_OCP 0
#include "cpu_gemm.h"

hipError_t hipInit(unsigned flags) {
  (void)flags;
  return read_shape() ? hipSuccess : hipErrorInvalidValue;
}
hipError_t hipGetDeviceCount(int *count) {
  *count = 1;
  return hipSuccess;
}
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *properties,
                                       int device) {
  (void)device;
  snprintf(properties->gcnArchName, sizeof properties->gcnArchName,
           "gfx942:sramecc+:xnack-");
  snprintf(properties->name, sizeof properties->name, "CPU");
  properties->multiProcessorCount = 304;
  return hipSuccess;
}
hipError_t hipGetDevice(int *device) {
  *device = 0;
  return hipSuccess;
}
hipError_t hipSetDevice(int device) {
  return device ? hipErrorInvalidDevice : hipSuccess;
}
const char *hipGetErrorName(hipError_t error) {
  return error == hipErrorInvalidValue ? "hipErrorInvalidValue" : "error";
}

hipError_t hipMalloc(void **pointer, size_t size) {
  *pointer = allocate(size);
  return *pointer ? hipSuccess : hipErrorOutOfMemory;
}
hipError_t hipFree(void *pointer) {
  free(pointer);
  return hipSuccess;
}
hipError_t hipMemcpy(void *to, const void *from, size_t size,
                     hipMemcpyKind kind) {
  (void)kind;
  memcpy(to, from, size);
  return hipSuccess;
}
hipError_t hipMemset(void *pointer, int byte, size_t size) {
  memset(pointer, byte, size);
  return hipSuccess;
}
hipError_t hipStreamCreate(hipStream_t *stream) {
  *stream = (hipStream_t)buffers;
  return hipSuccess;
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  return stream == (hipStream_t)buffers ? hipSuccess : hipErrorInvalidHandle;
}

/* ELF for AMDGPU: class 64, machine 224. */
hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  const unsigned char *bytes = image;
  *module = (hipModule_t)buffers;
  return !memcmp(bytes, "\177ELF\2", 5) && bytes[18] == 224
             ? hipSuccess
             : hipErrorInvalidImage;
}
hipError_t hipModuleUnload(hipModule_t module) {
  (void)module;
  return hipSuccess;
}
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module,
                                const char *name) {
  (void)module;
  *function = (hipFunction_t)buffers;
  return name[0] ? hipSuccess : hipErrorNotFound;
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x,
                                 unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared_bytes,
                                 hipStream_t stream, void **parameters,
                                 void **extra) {
  (void)function, (void)shared_bytes, (void)parameters;
  if (!grid_x || !grid_y || !grid_z || !block_x || block_y != 1 ||
      block_z != 1 || stream != (hipStream_t)buffers)
    return hipErrorInvalidValue;
  see_arguments(extra[1], *(size_t *)extra[3]);
  return hipSuccess;
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  return stream == (hipStream_t)buffers && multiply() ? hipSuccess
                                                      : hipErrorInvalidValue;
}

/* All that is timed takes 2 ms. */
hipError_t hipEventCreate(hipEvent_t *event) {
  *event = (hipEvent_t)buffers;
  return hipSuccess;
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  (void)event;
  return stream == (hipStream_t)buffers ? hipSuccess : hipErrorInvalidHandle;
}
hipError_t hipEventSynchronize(hipEvent_t event) {
  (void)event;
  return hipSuccess;
}
hipError_t hipEventElapsedTime(float *ms, hipEvent_t begin, hipEvent_t end) {
  (void)begin, (void)end;
  *ms = 2;
  return hipSuccess;
}
hipError_t hipEventDestroy(hipEvent_t event) {
  (void)event;
  return hipSuccess;
}
