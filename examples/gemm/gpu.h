/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The little of HIP and of CUDA's driver that this program calls. It links
 * neither: the functions come from the library that the kernels run in. A
 * program that links one of them includes its header instead.
 */
#ifndef GEMM_GPU_H
#define GEMM_GPU_H

#include "wavesmith/rt.h"

typedef struct gpu {
  const char *name; /* "hip", "cuda" */
  /* Finds the functions; the rest may be called then. What fails ends the
   * program with exit code 3. */
  void (*open)(const ws_rt_context *context);
  void *(*allocate)(size_t bytes);
  void (*release)(void *memory);
  void (*upload)(void *to, const void *from, size_t bytes);
  void (*download)(void *to, const void *from, size_t bytes);
  void (*fill)(void *memory, unsigned char byte, size_t bytes);
  void *(*create_stream)(void);
  void (*wait)(void *stream);
  void (*destroy_stream)(void *stream);
  void *(*create_event)(void);
  void (*record)(void *event, void *stream);
  float (*elapsed_ms)(void *begin, void *end); /* waits for end */
  void (*destroy_event)(void *event);
} gpu;

extern const gpu hip_gpu, cuda_gpu;

void need(int ok, const char *what);
/* Fills place with a function of the driver's library. */
void need_function(const ws_rt_context *context, const char *name, void *place);

#endif
