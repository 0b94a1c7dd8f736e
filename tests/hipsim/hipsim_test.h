/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the tests of the HIP ABI share: the runner, HIP's header, the kernels.
 */
#ifndef WAVESMITH_HIPSIM_TEST_H
#define WAVESMITH_HIPSIM_TEST_H

#include "ws_test.h"

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#define OK(call) WS_CHECK_TEXT(hipGetErrorName(call), "hipSuccess")
#define FAILS(call, error) WS_CHECK_TEXT(hipGetErrorName(call), #error)

/* Memory until the test ends, which LeakSanitizer sees to be held. */
static inline void *test_memory(size_t bytes) {
  static void *held[20000];
  static int count;
  WS_CHECK(count < 20000 && (held[count] = calloc(1, bytes)) != NULL);
  return held[count++];
}

static inline hipFunction_t kernel_of(const char *name) {
  static hipModule_t module;
  hipFunction_t function = NULL;
  if (!module || hipModuleGetFunction(&function, module, name))
    OK(hipModuleLoad(&module, WS_KERNELS));
  OK(hipModuleGetFunction(&function, module, name));
  return function;
}

static inline void *device_words(size_t count, unsigned value) {
  void *words = NULL;
  OK(hipMalloc(&words, count * 4));
  OK(hipMemsetD32(words, (int)value, count));
  return words;
}

static inline hipError_t launch(const char *name, unsigned grid, unsigned block,
                                unsigned lds, hipStream_t stream,
                                void **params) {
  return hipModuleLaunchKernel(kernel_of(name), grid, 1, 1, block, 1, 1, lds,
                               stream, params, NULL);
}

/* Simulated microseconds that call takes on a stream. */
#define ELAPSED_US(out, stream, call)                                          \
  do {                                                                         \
    hipEvent_t from_, to_;                                                     \
    float ms_;                                                                 \
    OK(hipEventCreate(&from_));                                                \
    OK(hipEventCreate(&to_));                                                  \
    OK(hipEventRecord(from_, stream));                                         \
    OK(call);                                                                  \
    OK(hipEventRecord(to_, stream));                                           \
    OK(hipEventSynchronize(to_));                                              \
    OK(hipEventElapsedTime(&ms_, from_, to_));                                 \
    OK(hipEventDestroy(from_));                                                \
    OK(hipEventDestroy(to_));                                                  \
    (out) = (double)ms_ * 1e3;                                                 \
  } while (0)

#endif
