/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Counts the allocations of the library under test, which is linked with
 * --wrap=malloc,--wrap=calloc,--wrap=realloc.
 */
#ifndef WAVESMITH_TEST_ALLOCATIONS_H
#define WAVESMITH_TEST_ALLOCATIONS_H

#include <stddef.h>

static int allocation_count;
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size) {
  __atomic_fetch_add(&allocation_count, 1, __ATOMIC_RELAXED);
  return __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
  __atomic_fetch_add(&allocation_count, 1, __ATOMIC_RELAXED);
  return __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size) {
  __atomic_fetch_add(&allocation_count, 1, __ATOMIC_RELAXED);
  return __real_realloc(old, size);
}

#endif
