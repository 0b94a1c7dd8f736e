/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A library that the process has loaded already comes before the names below:
 * two HIP runtimes in one process do not share devices' memory, and a framework
 * brings its own. What the environment names comes before both and is not
 * second-guessed: when it cannot be loaded, that is the answer. Once its
 * functions may have been called the library is never closed: drivers start
 * threads, which do not survive that their code is unmapped.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif
#include "library.h"
#include "wavesmith/rt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const hip_names[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                        "libamdhip64.so"};
const ws__library ws__hip_library = {
    .driver = "HIP",
    .variable = "WAVESMITH_HIP_LIBRARY",
    .names = hip_names,
    .name_count = sizeof hip_names / sizeof hip_names[0],
    .missing = "no HIP library: libamdhip64.so.7, .so.6 and .so were not "
               "found; install the ROCm runtime or set WAVESMITH_HIP_LIBRARY",
    .needed = "HIP 6 or newer is needed"};

static const char *const cuda_names[] = {"libcuda.so.1", "libcuda.so"};
const ws__library ws__cuda_library = {
    .driver = "CUDA",
    .variable = "WAVESMITH_CUDA_LIBRARY",
    .names = cuda_names,
    .name_count = sizeof cuda_names / sizeof cuda_names[0],
    .missing = "no CUDA driver: libcuda.so.1 was not found; install NVIDIA's "
               "driver or set WAVESMITH_CUDA_LIBRARY",
    .needed = "a driver for CUDA 12 or newer is needed"};

static void *open_by_name(const ws__library *library, int flags) {
  for (int i = 0; i < library->name_count; i++) {
    void *handle = dlopen(library->names[i], RTLD_NOW | RTLD_LOCAL | flags);
    if (handle)
      return handle;
  }
  return NULL;
}

void *ws__library_find(const ws__library *library, char *message,
                       size_t message_size) {
  /* A program with raised privileges does not take libraries from its user. */
  const char *wanted = secure_getenv(library->variable);
  if (wanted && wanted[0]) {
    void *handle = dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      snprintf(message, message_size, "%s: %s", library->variable, dlerror());
    return handle;
  }
  void *handle = open_by_name(library, RTLD_NOLOAD);
  if (!handle)
    handle = open_by_name(library, 0);
  if (!handle)
    snprintf(message, message_size, "%s", library->missing);
  return handle;
}

int ws__library_bind(const ws__library *library, void *handle,
                     const char *const *names, void **const *places,
                     size_t count, char *message, size_t message_size) {
  for (size_t i = 0; i < count; i++) {
    *places[i] = dlsym(handle, names[i]);
    if (!*places[i]) {
      snprintf(message, message_size, "the %s library lacks %s; %s",
               library->driver, names[i], library->needed);
      dlclose(handle);
      return WS_RT_NO_DRIVER;
    }
  }
  return WS_RT_OK;
}
