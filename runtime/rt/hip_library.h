/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The HIP functions that the runtime library calls, found at run time. HIP's
 * header is used for types only; nothing here links HIP.
 */
#ifndef WAVESMITH_HIP_LIBRARY_H
#define WAVESMITH_HIP_LIBRARY_H

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
#include <hip/hip_runtime_api.h>

/* hipGetDeviceProperties is a macro for the R0600 name since HIP 6. */
#define WS_HIP_FUNCTIONS(X)                                                    \
  X(hipInit)                                                                   \
  X(hipGetDeviceCount)                                                         \
  X(hipGetDevicePropertiesR0600)                                               \
  X(hipGetDevice)                                                              \
  X(hipSetDevice)                                                              \
  X(hipGetErrorName)                                                           \
  X(hipModuleLoadData)                                                         \
  X(hipModuleUnload)                                                           \
  X(hipModuleGetFunction)                                                      \
  X(hipModuleLaunchKernel)

typedef struct ws_hip_library {
  void *handle;
#define WS_HIP_POINTER(name) __typeof__(name) *name;
  WS_HIP_FUNCTIONS(WS_HIP_POINTER)
#undef WS_HIP_POINTER
} ws_hip_library;

/* The library alone, for other sets of functions (runtime/device): a handle of
 * dlopen, or NULL with one line in message. */
void *ws__hip_find(char *message, size_t message_size);
/* Fills *places[i] with the function names[i]; WS_RT_NO_HIP, one line in
 * message and the handle closed when one is missing. */
int ws__hip_bind(void *handle, const char *const *names, void **const *places,
                 size_t count, char *message, size_t message_size);

/* Finds the library, which then stays loaded for the life of the process, and
 * all functions. WS_RT_OK, or WS_RT_NO_HIP with one line in message. */
int ws__hip_library_open(ws_hip_library *hip, char *message,
                         size_t message_size);
/* NULL when the library lacks it. */
void *ws__hip_library_symbol(const ws_hip_library *hip, const char *name);

#endif
