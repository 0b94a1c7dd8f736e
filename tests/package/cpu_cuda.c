/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A CUDA driver that multiplies on the CPU: cpu_gemm.h. A tensor map of it
 * begins with the tensor's address. Code is what an H200 would take: an ELF
 * image for CUDA, or PTX for sm_90a.
 */
#include "../../runtime/rt/cuda_abi.h"

#define FP8_BIAS 7 /* e4m3 OCP */
#define IS_OCP 1
#include "cpu_gemm.h"

#define DECLARE(name, parameters) ws_cu_result name parameters;
WS_CU_FUNCTIONS(DECLARE)
WS_CU_OPTIONAL_FUNCTIONS(DECLARE)
WS_CU_CONTEXT_FUNCTIONS(DECLARE)
DECLARE(cuMemcpyHtoD_v2, (ws_cu_pointer to, const void *from, size_t bytes))
DECLARE(cuMemcpyDtoH_v2, (void *to, ws_cu_pointer from, size_t bytes))
DECLARE(cuMemsetD8_v2, (ws_cu_pointer memory, unsigned char byte, size_t bytes))

enum { OK = WS_CUDA_SUCCESS, INVALID = WS_CUDA_ERROR_INVALID_VALUE };
static void *const handle = buffers; /* of all that there is one of */
static void *current;                /* context */

static void *pointer_of(ws_cu_pointer address) {
  return (void *)(uintptr_t)address;
}

ws_cu_result cuInit(unsigned flags) {
  return !flags && read_shape() ? OK : INVALID;
}
ws_cu_result cuDriverGetVersion(int *out_version) {
  *out_version = 13000;
  return OK;
}
ws_cu_result cuGetErrorName(ws_cu_result error, const char **out_text) {
  *out_text = error == INVALID ? "CUDA_ERROR_INVALID_VALUE" : "error";
  return OK;
}
ws_cu_result cuDeviceGetCount(int *out_count) {
  *out_count = 1;
  return OK;
}
ws_cu_result cuDeviceGet(ws_cu_device *out_device, int ordinal) {
  *out_device = ordinal;
  return OK;
}
ws_cu_result cuDeviceGetName(char *out_name, int size, ws_cu_device device) {
  (void)device;
  snprintf(out_name, (size_t)size, "CPU");
  return OK;
}
ws_cu_result cuDeviceGetAttribute(int *out_value, unsigned which,
                                  ws_cu_device device) {
  (void)device;
  *out_value = which == 75 ? 9 : which == 76 ? 0 : 132;
  return OK;
}

/* ---- one context, which must be current for whatever needs one ---- */

ws_cu_result cuCtxGetCurrent(ws_cu_context *out_context) {
  *out_context = current;
  return OK;
}
ws_cu_result cuCtxGetDevice(ws_cu_device *out_device) {
  *out_device = 0;
  return current ? OK : INVALID;
}
ws_cu_result cuCtxSetCurrent(ws_cu_context context) {
  current = context;
  return OK;
}
ws_cu_result cuCtxPushCurrent_v2(ws_cu_context context) {
  return current ? INVALID : cuCtxSetCurrent(context);
}
ws_cu_result cuCtxPopCurrent_v2(ws_cu_context *out_context) {
  *out_context = current;
  current = NULL;
  return *out_context ? OK : INVALID;
}
ws_cu_result cuDevicePrimaryCtxRetain(ws_cu_context *out_context,
                                      ws_cu_device device) {
  *out_context = handle;
  return device ? INVALID : OK;
}
ws_cu_result cuDevicePrimaryCtxRelease_v2(ws_cu_device device) {
  return device ? INVALID : OK;
}

/* ---- memory ---- */

ws_cu_result cuMemAlloc_v2(ws_cu_pointer *out_memory, size_t bytes) {
  void *memory = current && bytes ? allocate(bytes) : NULL;
  *out_memory = (uintptr_t)memory;
  return memory ? OK : INVALID;
}
ws_cu_result cuMemFree_v2(ws_cu_pointer memory) {
  free(pointer_of(memory));
  return OK;
}
ws_cu_result cuMemcpyHtoD_v2(ws_cu_pointer to, const void *from, size_t bytes) {
  memcpy(pointer_of(to), from, bytes);
  return OK;
}
ws_cu_result cuMemcpyDtoH_v2(void *to, ws_cu_pointer from, size_t bytes) {
  memcpy(to, pointer_of(from), bytes);
  return OK;
}
ws_cu_result cuMemsetD8_v2(ws_cu_pointer memory, unsigned char byte,
                           size_t bytes) {
  memset(pointer_of(memory), byte, bytes);
  return OK;
}

/* ---- code and launches ---- */

static int is_code(const char *image) {
  if (!memcmp(image, "\177ELF\2", 5)) /* class 64; EM_CUDA is 190 */
    return (unsigned char)image[18] == 190;
  return strstr(image, ".target sm_90a") && strstr(image, ".entry");
}
ws_cu_result cuModuleLoadDataEx(ws_cu_module *out_module, const void *image,
                                unsigned option_count, unsigned *options,
                                void **values) {
  (void)option_count, (void)options, (void)values;
  *out_module = handle;
  return current && is_code(image) ? OK : INVALID;
}
ws_cu_result cuModuleUnload(ws_cu_module module) {
  return module == handle && current ? OK : INVALID;
}
ws_cu_result cuModuleGetFunction(ws_cu_function *out_function,
                                 ws_cu_module module, const char *name) {
  *out_function = handle;
  return module == handle && name[0] ? OK : INVALID;
}
ws_cu_result cuFuncSetAttribute(ws_cu_function function, unsigned which,
                                int value) {
  return function == handle && which == 8 && value <= 232448 ? OK : INVALID;
}
ws_cu_result cuTensorMapEncodeTiled(
    ws_cu_tensor_map *out_map, unsigned data_type, uint32_t rank, void *address,
    const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
    const uint32_t *element_strides, unsigned interleave, unsigned swizzle,
    unsigned l2_promotion, unsigned out_of_bounds_fill) {
  (void)data_type, (void)sizes, (void)element_strides, (void)interleave;
  (void)swizzle, (void)l2_promotion, (void)out_of_bounds_fill;
  if (rank != 2 || strides[0] % 16 || box[0] > 256 || box[1] > 256)
    return INVALID;
  memset(out_map, 0, sizeof *out_map);
  out_map->opaque[0] = (uintptr_t)address;
  return OK;
}
ws_cu_result cuLaunchKernel(ws_cu_function function, unsigned grid_x,
                            unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, ws_cu_stream stream,
                            void **parameters, void **extra) {
  (void)shared_bytes;
  if (function != handle || !current || !grid_x || !grid_y || !grid_z ||
      !block_x || block_x > 1024 || block_y != 1 || block_z != 1 ||
      stream != handle || !parameters || extra)
    return INVALID;
  /* The runtime library's pointers lead into one buffer of 2048 bytes. */
  see_arguments(parameters[0], 1024);
  return OK;
}

/* ---- one stream; all that is timed takes 2 ms ---- */

ws_cu_result cuStreamCreate(ws_cu_stream *out_stream, unsigned flags) {
  *out_stream = handle;
  return flags || !current ? INVALID : OK;
}
ws_cu_result cuStreamDestroy_v2(ws_cu_stream stream) {
  return stream == handle ? OK : INVALID;
}
ws_cu_result cuStreamSynchronize(ws_cu_stream stream) {
  return stream == handle && multiply() ? OK : INVALID;
}
ws_cu_result cuEventCreate(ws_cu_event *out_event, unsigned flags) {
  *out_event = handle;
  return flags ? INVALID : OK;
}
ws_cu_result cuEventDestroy_v2(ws_cu_event event) {
  return event == handle ? OK : INVALID;
}
ws_cu_result cuEventRecord(ws_cu_event event, ws_cu_stream stream) {
  return event == handle && stream == handle ? OK : INVALID;
}
ws_cu_result cuEventSynchronize(ws_cu_event event) {
  return event == handle ? OK : INVALID;
}
ws_cu_result cuEventElapsedTime(float *out_ms, ws_cu_event begin,
                                ws_cu_event end) {
  *out_ms = 2;
  return begin == handle && end == handle ? OK : INVALID;
}
