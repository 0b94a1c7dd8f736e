/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A HIP library for the test of examples/gemm: device memory is host memory,
 * and a launch multiplies on the CPU whatever kernel it is given. So the
 * example's inputs, layouts, arguments and comparison are tested end to end,
 * against arithmetic written a second time; the kernels themselves are not
 * (the IR sanitizer and the device tests do that).
 *
 * CPU_HIP_SHAPE="m n k" says what the buffers mean: they are known by their
 * sizes, which must differ. The kernel must have been given the pointers and
 * m, n, k. CPU_HIP_BREAK=1 makes one element of the result wrong.
 */
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct buffer {
  void *pointer;
  size_t size;
} buffers[64];
static int buffer_count;
static int m, n, k;
static void *a, *b, *as, *bs, *c;

hipError_t hipInit(unsigned flags) {
  (void)flags;
  const char *shape = getenv("CPU_HIP_SHAPE");
  return shape && sscanf(shape, "%d %d %d", &m, &n, &k) == 3
             ? hipSuccess
             : hipErrorInvalidValue;
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
  if (buffer_count == 64 || !(*pointer = malloc(size)))
    return hipErrorOutOfMemory;
  buffers[buffer_count++] = (struct buffer){*pointer, size};
  return hipSuccess;
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

static void *buffer_of(size_t size) {
  for (int i = 0; i < buffer_count; i++)
    if (buffers[i].size == size)
      return buffers[i].pointer;
  fprintf(stderr, "cpu_hip: no buffer of %zu bytes\n", size);
  abort();
}

static double fp8(unsigned byte) {
  if (byte == 0x80)
    return NAN;
  unsigned exponent = (byte & 0x78) >> 3;
  double fraction = (byte & 7) / 8.0 + (exponent != 0);
  double value = fraction * pow(2, (exponent ? (int)exponent : 1) - 8);
  return byte > 0x80 ? -value : value;
}

/* Round to nearest, ties to even. */
static unsigned short bf16(float value) {
  unsigned bits;
  memcpy(&bits, &value, sizeof bits);
  return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float element(int row, int column) {
  const unsigned char *a_bytes = a, *b_bytes = b;
  const float *a_scales = as, *b_scales = bs;
  double sum = 0;
  for (int kk = 0; kk < k; kk++)
    sum += fp8(a_bytes[row * k + kk]) * fp8(b_bytes[column * k + kk]) *
           a_scales[kk / 128 * m + row] *
           b_scales[column / 128 * (k / 128) + kk / 128];
  return (float)sum;
}

static int contains(const unsigned char *bytes, size_t size, const void *value,
                    size_t value_size) {
  for (size_t at = 0; at + value_size <= size; at += 4)
    if (!memcmp(bytes + at, value, value_size))
      return 1;
  return 0;
}

/* A sequence of kernels may share the arguments out among them. */
enum { ALL_ARGUMENTS = (1 << 8) - 1 };
static int seen_arguments;
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
  size_t blocks = (size_t)k / 128, rows = (size_t)m, columns = (size_t)n;
  a = buffer_of(rows * (size_t)k), b = buffer_of(columns * (size_t)k);
  as = buffer_of(4 * rows * blocks);
  bs = buffer_of(4 * ((columns + 127) / 128) * blocks);
  c = buffer_of(2 * rows * columns);
  const struct {
    const void *value;
    size_t size;
  } arguments[] = {{&a, 8}, {&b, 8}, {&as, 8}, {&bs, 8},
                   {&c, 8}, {&m, 4}, {&n, 4},  {&k, 4}};
  for (int i = 0; i < 8; i++)
    if (contains(extra[1], *(size_t *)extra[3], arguments[i].value,
                 arguments[i].size))
      seen_arguments |= 1 << i;
  return hipSuccess;
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  if (stream != (hipStream_t)buffers || seen_arguments != ALL_ARGUMENTS)
    return hipErrorInvalidValue;
  unsigned short *out = c;
  for (int row = 0; row < m; row++)
    for (int column = 0; column < n; column++)
      out[row * n + column] = bf16(element(row, column));
  if (getenv("CPU_HIP_BREAK"))
    out[0] = (unsigned short)(out[0] + 8); /* 2^-4 or 2^-5 off */
  return hipSuccess;
}
