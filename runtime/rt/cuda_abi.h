/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is used of the CUDA driver API: types, constants and signatures, written
 * from its public documentation ("CUDA Driver API", chapter "Modules"; the
 * section is named with each), so that no CUDA header is needed. The names are
 * those that libcuda exports: cuMemAlloc of the documentation is cuMemAlloc_v2
 * there. tests/device/test_cuda_abi.c compares all of it with cuda.h where
 * that is installed.
 */
#ifndef WAVESMITH_CUDA_ABI_H
#define WAVESMITH_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Data types used by CUDA driver. Handles are pointers to structs that only
 * the driver knows; its enumerations are unsigned here. */
typedef unsigned ws_cu_result;
typedef int ws_cu_device; /* its ordinal */
typedef unsigned long long ws_cu_pointer;
typedef struct ws_cu_context_of_driver *ws_cu_context;
typedef struct ws_cu_module_of_driver *ws_cu_module;
typedef struct ws_cu_function_of_driver *ws_cu_function;
typedef struct ws_cu_stream_of_driver *ws_cu_stream;
typedef struct ws_cu_event_of_driver *ws_cu_event;
typedef struct ws_cu_graph_of_driver *ws_cu_graph;
typedef struct ws_cu_graph_exec_of_driver *ws_cu_graph_exec;

typedef struct ws_cu_uuid {
  unsigned char bytes[16];
} ws_cu_uuid;

typedef struct ws_cu_tensor_map {
  _Alignas(128) uint64_t opaque[16]; /* 64 until CUDA 12 */
} ws_cu_tensor_map;

/* CUresult */
#define WS_CU_ERRORS(X)                                                        \
  X(CUDA_SUCCESS, 0)                                                           \
  X(CUDA_ERROR_INVALID_VALUE, 1)                                               \
  X(CUDA_ERROR_OUT_OF_MEMORY, 2)                                               \
  X(CUDA_ERROR_STUB_LIBRARY, 34)                                               \
  X(CUDA_ERROR_DEVICE_UNAVAILABLE, 46)                                         \
  X(CUDA_ERROR_NO_DEVICE, 100)                                                 \
  X(CUDA_ERROR_INVALID_DEVICE, 101)                                            \
  X(CUDA_ERROR_INVALID_IMAGE, 200)                                             \
  X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                         \
  X(CUDA_ERROR_ECC_UNCORRECTABLE, 214)                                         \
  X(CUDA_ERROR_INVALID_PTX, 218)                                               \
  X(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220)                                      \
  X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)                                    \
  X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                                   \
  X(CUDA_ERROR_JIT_COMPILATION_DISABLED, 223)                                  \
  X(CUDA_ERROR_CONTAINED, 226)                                                 \
  X(CUDA_ERROR_INVALID_SOURCE, 300)                                            \
  X(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, 302)                            \
  X(CUDA_ERROR_OPERATING_SYSTEM, 304)                                          \
  X(CUDA_ERROR_NOT_FOUND, 500)                                                 \
  X(CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                           \
  X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)                                   \
  X(CUDA_ERROR_LAUNCH_TIMEOUT, 702)                                            \
  X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                                      \
  X(CUDA_ERROR_ASSERT, 710)                                                    \
  X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                                      \
  X(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)                                       \
  X(CUDA_ERROR_MISALIGNED_ADDRESS, 716)                                        \
  X(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)                                     \
  X(CUDA_ERROR_INVALID_PC, 718)                                                \
  X(CUDA_ERROR_LAUNCH_FAILED, 719)                                             \
  X(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720)                              \
  X(CUDA_ERROR_NOT_SUPPORTED, 801)                                             \
  X(CUDA_ERROR_SYSTEM_NOT_READY, 802)                                          \
  X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)                                    \
  X(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804)                            \
  X(CUDA_ERROR_INVALID_CLUSTER_SIZE, 912)                                      \
  X(CUDA_ERROR_UNKNOWN, 999)

/* CUdevice_attribute, CUfunction_attribute, CUjit_option, CUstream_flags,
 * CUevent_flags, CUstreamCaptureMode, and of CUtensorMap: DataType, Interleave,
 * Swizzle, L2promotion, FloatOOBfill */
#define WS_CU_CONSTANTS(X)                                                     \
  X(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                        \
  X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                              \
  X(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                                 \
  X(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                     \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                          \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                          \
  X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                 \
  X(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                    \
  X(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                                     \
  X(CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                             \
  X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                        \
  X(CU_JIT_INFO_LOG_BUFFER, 3)                                                 \
  X(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 4)                                      \
  X(CU_JIT_ERROR_LOG_BUFFER, 5)                                                \
  X(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                                     \
  X(CU_STREAM_NON_BLOCKING, 1)                                                 \
  X(CU_EVENT_DEFAULT, 0)                                                       \
  X(CU_STREAM_CAPTURE_MODE_RELAXED, 2)                                         \
  X(CU_TENSOR_MAP_DATA_TYPE_UINT8, 0)                                          \
  X(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 7)                                        \
  X(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 9)                                       \
  X(CU_TENSOR_MAP_INTERLEAVE_NONE, 0)                                          \
  X(CU_TENSOR_MAP_SWIZZLE_NONE, 0)                                             \
  X(CU_TENSOR_MAP_SWIZZLE_32B, 1)                                              \
  X(CU_TENSOR_MAP_SWIZZLE_64B, 2)                                              \
  X(CU_TENSOR_MAP_SWIZZLE_128B, 3)                                             \
  X(CU_TENSOR_MAP_L2_PROMOTION_L2_256B, 3)                                     \
  X(CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, 0)

enum {
#define WS_CU_ENUMERATOR(name, value) WS_##name = value,
  WS_CU_ERRORS(WS_CU_ENUMERATOR) WS_CU_CONSTANTS(WS_CU_ENUMERATOR)
#undef WS_CU_ENUMERATOR
};

/* Name and parameters of all that must be there. */
#define WS_CU_FUNCTIONS(X)                                                     \
  /* Error handling, Initialization, Version management */                     \
  X(cuGetErrorName, (ws_cu_result error, const char **out_text))               \
  X(cuGetErrorString, (ws_cu_result error, const char **out_text))             \
  X(cuInit, (unsigned flags))                                                  \
  X(cuDriverGetVersion, (int *out_version))                                    \
  /* Device management */                                                      \
  X(cuDeviceGetCount, (int *out_count))                                        \
  X(cuDeviceGet, (ws_cu_device * out_device, int ordinal))                     \
  X(cuDeviceGetName, (char *out_name, int size, ws_cu_device device))          \
  X(cuDeviceGetUuid_v2, (ws_cu_uuid * out_uuid, ws_cu_device device))          \
  X(cuDeviceTotalMem_v2, (size_t * out_bytes, ws_cu_device device))            \
  X(cuDeviceGetAttribute,                                                      \
    (int *out_value, unsigned attribute, ws_cu_device device))                 \
  /* Primary context management, Context management */                         \
  X(cuDevicePrimaryCtxRetain,                                                  \
    (ws_cu_context * out_context, ws_cu_device device))                        \
  X(cuDevicePrimaryCtxRelease_v2, (ws_cu_device device))                       \
  X(cuCtxSetCurrent, (ws_cu_context context))                                  \
  /* Module management */                                                      \
  X(cuModuleLoadDataEx,                                                        \
    (ws_cu_module * out_module, const void *image, unsigned option_count,      \
     unsigned *options, void **values))                                        \
  X(cuModuleUnload, (ws_cu_module module))                                     \
  X(cuModuleGetFunction,                                                       \
    (ws_cu_function * out_function, ws_cu_module module, const char *name))    \
  /* Memory management */                                                      \
  X(cuMemAlloc_v2, (ws_cu_pointer * out_memory, size_t bytes))                 \
  X(cuMemFree_v2, (ws_cu_pointer memory))                                      \
  X(cuMemcpyHtoDAsync_v2,                                                      \
    (ws_cu_pointer to, const void *from, size_t bytes, ws_cu_stream stream))   \
  X(cuMemcpyDtoHAsync_v2,                                                      \
    (void *to, ws_cu_pointer from, size_t bytes, ws_cu_stream stream))         \
  X(cuMemsetD8Async, (ws_cu_pointer memory, unsigned char byte, size_t bytes,  \
                      ws_cu_stream stream))                                    \
  /* Stream management */                                                      \
  X(cuStreamCreate, (ws_cu_stream * out_stream, unsigned flags))               \
  X(cuStreamDestroy_v2, (ws_cu_stream stream))                                 \
  X(cuStreamSynchronize, (ws_cu_stream stream))                                \
  X(cuStreamBeginCapture_v2, (ws_cu_stream stream, unsigned mode))             \
  X(cuStreamEndCapture, (ws_cu_stream stream, ws_cu_graph * out_graph))        \
  /* Event management */                                                       \
  X(cuEventCreate, (ws_cu_event * out_event, unsigned flags))                  \
  X(cuEventDestroy_v2, (ws_cu_event event))                                    \
  X(cuEventRecord, (ws_cu_event event, ws_cu_stream stream))                   \
  X(cuEventSynchronize, (ws_cu_event event))                                   \
  X(cuEventElapsedTime, (float *out_ms, ws_cu_event begin, ws_cu_event end))   \
  /* Execution control */                                                      \
  X(cuFuncGetAttribute,                                                        \
    (int *out_value, unsigned attribute, ws_cu_function function))             \
  X(cuFuncSetAttribute,                                                        \
    (ws_cu_function function, unsigned attribute, int value))                  \
  X(cuLaunchKernel,                                                            \
    (ws_cu_function function, unsigned grid_x, unsigned grid_y,                \
     unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,    \
     unsigned shared_bytes, ws_cu_stream stream, void **parameters,            \
     void **extra))                                                            \
  /* Graph management */                                                       \
  X(cuGraphInstantiateWithFlags,                                               \
    (ws_cu_graph_exec * out_exec, ws_cu_graph graph,                           \
     unsigned long long flags))                                                \
  X(cuGraphLaunch, (ws_cu_graph_exec exec, ws_cu_stream stream))               \
  X(cuGraphExecDestroy, (ws_cu_graph_exec exec))                               \
  X(cuGraphDestroy, (ws_cu_graph graph))

/* Tensor map object management; since CUDA 12. */
#define WS_CU_OPTIONAL_FUNCTIONS(X)                                            \
  X(cuTensorMapEncodeTiled,                                                    \
    (ws_cu_tensor_map * out_map, unsigned data_type, uint32_t rank,            \
     void *address, const uint64_t *sizes, const uint64_t *strides,            \
     const uint32_t *box, const uint32_t *element_strides,                     \
     unsigned interleave, unsigned swizzle, unsigned l2_promotion,             \
     unsigned out_of_bounds_fill))

/* Context management, for a library in another's process (runtime/rt). */
#define WS_CU_CONTEXT_FUNCTIONS(X)                                             \
  X(cuCtxGetCurrent, (ws_cu_context * out_context))                            \
  X(cuCtxGetDevice, (ws_cu_device * out_device))                               \
  X(cuCtxPushCurrent_v2, (ws_cu_context context))                              \
  X(cuCtxPopCurrent_v2, (ws_cu_context * out_context))

#endif
