/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Finds a HIP library at run time. A library that the process has loaded
 * already comes before the names below: two HIP runtimes in one process do not
 * share devices' memory, and a framework brings its own. What
 * WAVESMITH_HIP_LIBRARY names comes before both and is not second-guessed:
 * when it cannot be loaded, that is the answer. Once its functions may have
 * been called the library is never closed: a HIP runtime starts threads, which
 * do not survive that their code is unmapped.
 */
#include "hip_library.h"
#include "wavesmith/rt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const library_names[] = {
    "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"};
enum { LIBRARY_NAMES = sizeof library_names / sizeof library_names[0] };

static void *open_by_name(int flags) {
  for (int i = 0; i < LIBRARY_NAMES; i++) {
    void *handle = dlopen(library_names[i], RTLD_NOW | RTLD_LOCAL | flags);
    if (handle)
      return handle;
  }
  return NULL;
}

void *ws__hip_find(char *message, size_t message_size) {
  /* A program with raised privileges does not take libraries from its user. */
  const char *wanted = secure_getenv("WAVESMITH_HIP_LIBRARY");
  if (wanted && wanted[0]) {
    void *handle = dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      snprintf(message, message_size, "WAVESMITH_HIP_LIBRARY: %s", dlerror());
    return handle;
  }
  void *handle = open_by_name(RTLD_NOLOAD);
  if (!handle)
    handle = open_by_name(0);
  if (!handle)
    snprintf(message, message_size,
             "no HIP library: libamdhip64.so.7, .so.6 and .so were not found; "
             "install the ROCm runtime or set WAVESMITH_HIP_LIBRARY");
  return handle;
}

int ws__hip_bind(void *handle, const char *const *names, void **const *places,
                 size_t count, char *message, size_t message_size) {
  for (size_t i = 0; i < count; i++) {
    *places[i] = dlsym(handle, names[i]);
    if (!*places[i]) {
      snprintf(message, message_size,
               "the HIP library lacks %s; HIP 6 or newer is needed", names[i]);
      dlclose(handle);
      return WS_RT_NO_HIP;
    }
  }
  return WS_RT_OK;
}

int ws__hip_library_open(ws_hip_library *hip, char *message,
                         size_t message_size) {
  static const char *const names[] = {
#define WS_HIP_NAME(name) #name,
      WS_HIP_FUNCTIONS(WS_HIP_NAME)
#undef WS_HIP_NAME
  };
  void **const places[] = {
#define WS_HIP_PLACE(name) (void **)&hip->name,
      WS_HIP_FUNCTIONS(WS_HIP_PLACE)
#undef WS_HIP_PLACE
  };
  hip->handle = ws__hip_find(message, message_size);
  if (!hip->handle)
    return WS_RT_NO_HIP;
  return ws__hip_bind(hip->handle, names, places,
                      sizeof names / sizeof names[0], message, message_size);
}

void *ws__hip_library_symbol(const ws_hip_library *hip, const char *name) {
  return dlsym(hip->handle, name);
}
