/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the parts of the kind "cuda" share: cuda.c (the device, its memory,
 * events and graphs), cuda_module.c (code, launches, tensor maps) and
 * cuda_library.c (the library's functions, and what its errors mean).
 */
#ifndef WAVESMITH_DEVICE_CUDA_H
#define WAVESMITH_DEVICE_CUDA_H

#include "../rt/cuda_abi.h"
#include "device.h"
#include "nvml.h"

enum {
  WS__CUDA_NAME_BYTES = 128,     /* of a kernel, for messages and look-up */
  WS__CUDA_KERNARG_BYTES = 32764 /* PTX ISA, "Kernel Function Parameters" */
};

typedef struct ws__cuda {
#define WS_CU_POINTER(name, parameters) ws_cu_result(*name) parameters;
  WS_CU_FUNCTIONS(WS_CU_POINTER)
  WS_CU_OPTIONAL_FUNCTIONS(WS_CU_POINTER)
#undef WS_CU_POINTER
  ws_cu_device card;
  ws_cu_context context;
  /* Everything is put on this one: capture does not work on the default
   * stream. */
  ws_cu_stream stream;
  ws__nvml *nvml; /* NULL: absent */
  bool capturing;
  /* Of a fault that leaves the context unusable: what every later call
   * returns without asking the driver. */
  ws_cu_result lost;
  char last_kernel[WS__CUDA_NAME_BYTES]; /* started last; "": none yet */
  _Alignas(ws_cu_tensor_map) unsigned char kernarg[WS__CUDA_KERNARG_BYTES + 4];
} ws__cuda;

static inline ws__cuda *ws__cuda_of(const ws_device *device) {
  return device->self;
}

/* ---- cuda_library.c ---- */

/* Opens the library and fills in the functions. */
ws_status ws__cuda_bind(ws_device *device, ws__cuda *cuda, ws_diag *diag);
/* WS_OK, or the error's class and one line: what was done, the error's name,
 * what it means and what to do. */
ws_status ws__cuda_check(ws_device *device, ws_cu_result error,
                         const char *what, ws_diag *diag);
/* The same for a call that is not made once the context is lost. */
#define WS__CUDA_CALL(device, what, diag, call)                                \
  ws__cuda_check(device,                                                       \
                 ws__cuda_of(device)->lost ? ws__cuda_of(device)->lost         \
                                           : ws__cuda_of(device)->call,        \
                 what, diag)

/* ---- cuda_module.c ---- */

ws_status ws__cuda_load(ws_device *device, const void *code_object,
                        size_t bytes, ws_device_module **out_module,
                        ws_diag *diag);
void ws__cuda_unload(ws_device *device, ws_device_module *module);
ws_status ws__cuda_start(ws_device *device, ws_device_module *module,
                         const ws_device_launch *launch, ws_diag *diag);
ws_status ws__cuda_kernel_of(ws_device *device, ws_device_module *module,
                             const char *kernel, ws_device_kernel *out,
                             ws_diag *diag);
ws_status ws__cuda_tensor_map(ws_device *device, const ws_device_tensor *tensor,
                              unsigned char out_map[WS_TENSOR_MAP_BYTES],
                              ws_diag *diag);

#endif
