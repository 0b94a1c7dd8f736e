/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Finds a driver's library at run time.
 */
#ifndef WAVESMITH_RT_LIBRARY_H
#define WAVESMITH_RT_LIBRARY_H

#include <stddef.h>

typedef struct ws__library {
  const char *driver;   /* "HIP" */
  const char *variable; /* of the environment, names another library */
  const char *const *names;
  int name_count;
  const char *missing; /* what to say when no name is found */
  const char *needed;  /* what to say when it lacks a function */
} ws__library;
extern const ws__library ws__hip_library, ws__cuda_library;

/* A handle of dlopen, or NULL with one line in message. */
void *ws__library_find(const ws__library *library, char *message,
                       size_t message_size);
/* Fills *places[i] with the function names[i]; WS_RT_NO_DRIVER, one line in
 * message and the handle closed when one is missing. */
int ws__library_bind(const ws__library *library, void *handle,
                     const char *const *names, void **const *places,
                     size_t count, char *message, size_t message_size);

#endif
