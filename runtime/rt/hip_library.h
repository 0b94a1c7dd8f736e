/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * HIP's library for runtime/device: the search of libwavesmith_rt with HIP's
 * types.
 */
#ifndef WAVESMITH_HIP_LIBRARY_H
#define WAVESMITH_HIP_LIBRARY_H

#include "hip_abi.h"
#include "library.h"

static inline void *ws__hip_find(char *message, size_t message_size) {
  return ws__library_find(&ws__hip_library, message, message_size);
}

static inline int ws__hip_bind(void *handle, const char *const *names,
                               void **const *places, size_t count,
                               char *message, size_t message_size) {
  return ws__library_bind(&ws__hip_library, handle, names, places, count,
                          message, message_size);
}

#endif
