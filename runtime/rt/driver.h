/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What libwavesmith_rt asks of a driver: HIP and CUDA as one table of
 * functions. All of them put one line into the message when they fail, and
 * none but open and load may allocate.
 */
#ifndef WAVESMITH_RT_DRIVER_H
#define WAVESMITH_RT_DRIVER_H

#include "wavesmith/rt.h"

/* Where the one line for the caller goes. */
typedef struct ws__message {
  char *text;
  size_t size;
} ws__message;
/* Gives result back. */
int ws__rt_fail(ws__message message, int result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A context as its driver sees it. */
typedef struct ws__session {
  const ws_rt_dispatch *dispatch;
  int device;
  long long cu_count; /* filled by open */
  void *state;        /* the driver's own, state_bytes of it, zeroed */
} ws__session;

typedef struct ws__tensor {
  const ws_rt_tensor_map *map;
  void *address;
  long long extents[2]; /* inner first, both positive */
} ws__tensor;

typedef struct ws__start {
  void *function;
  const ws_rt_launch *launch;
  unsigned grid[3];
  void *kernarg;
  void *stream;
} ws__start;

typedef struct ws__driver {
  const char *name;
  size_t state_bytes;
  /* Finds the library and the device, and checks its architecture. */
  int (*open)(ws__session *session, ws__message message);
  /* Once open has begun, also where it failed; modules are unloaded. */
  void (*close)(ws__session *session);
  /* Makes the session's device or context the calling thread's current one;
   * leave puts back what was there. */
  int (*enter)(const ws__session *session, void **out_previous,
               ws__message message);
  void (*leave)(const ws__session *session, void *previous);
  int (*load)(const ws__session *session, const ws_rt_candidate *candidate,
              void **out_module, ws__message message);
  void (*unload)(const ws__session *session, void *module);
  int (*find)(const ws__session *session, void *module,
              const ws_rt_launch *launch, void **out_function,
              ws__message message);
  /* NULL: there are no tensor maps. map is aligned to 64 bytes. */
  int (*encode)(const ws__session *session, const ws__tensor *tensor,
                unsigned char *map, ws__message message);
  int (*launch)(const ws__session *session, const ws__start *start,
                ws__message message);
  void *(*symbol)(const ws__session *session, const char *name);
} ws__driver;

extern const ws__driver ws__hip_driver, ws__cuda_driver;

#endif
