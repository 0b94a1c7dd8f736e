/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the tests of libwavesmith_rt on HIP and on CUDA share: functions of a
 * dispatch table that do not depend on its kernels, opening, launching from
 * several threads.
 */
#ifndef WAVESMITH_TEST_RT_TEST_H
#define WAVESMITH_TEST_RT_TEST_H

#include "allocations.h"
#include "wavesmith/rt.h"
#include "ws_test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

static const char *const dimensions[] = {"m", "n", "k"};

static inline int always(const long long *shape, long long cus) {
  const long long m = shape[0], n = shape[1], k = shape[2];
  return (void)m, (void)n, (void)k, (void)cus, 1;
}
static inline void grid_of_cus(const long long *shape, long long cus,
                               long long grid[3]) {
  const long long m = shape[0], n = shape[1], k = shape[2];
  (void)m, (void)n, (void)k;
  grid[0] = cus, grid[1] = 1, grid[2] = 2;
}
static inline long long no_workspace(const long long *shape, long long cus) {
  const long long m = shape[0], n = shape[1], k = shape[2];
  return (void)m, (void)n, (void)k, (void)cus, 0;
}
static inline int any_shape(const long long *shape) {
  const long long m = shape[0], n = shape[1], k = shape[2];
  return (void)m, (void)n, (void)k, 1;
}

static inline ws_rt_context *open_table(const ws_rt_dispatch *table,
                                        int device) {
  char message[256] = "";
  ws_rt_context *context = NULL;
  int result = ws_rt_open(table, device, &context, message, sizeof message);
  if (result != WS_RT_OK)
    WS_FAIL("ws_rt_open: %d, %s", result, message);
  return context;
}

/* Opens, wants this result and this part of the one line. */
static inline void expect_open(const ws_rt_dispatch *table, int device,
                               int want, const char *part) {
  char message[512] = "";
  ws_rt_context *context = (ws_rt_context *)&message;
  int result = ws_rt_open(table, device, &context, message, sizeof message);
  if (result != want)
    WS_FAIL("ws_rt_open: %d (%s), want %d", result, message, want);
  WS_CHECK(context == NULL);
  WS_CHECK_CONTAINS(message, part);
  WS_CHECK(!strchr(message, '\n'));
}

/* launch_many launches so often, and gives NULL when all went well. */
enum { THREADS = 4, LAUNCHES = 25 };
static inline void launch_from_threads(void *(*launch_many)(void *),
                                       ws_rt_context *context) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    WS_CHECK(!pthread_create(&threads[i], NULL, launch_many, context));
  for (int i = 0; i < THREADS; i++) {
    void *failed = NULL;
    pthread_join(threads[i], &failed);
    WS_CHECK(!failed);
  }
}

/* The log is this line for each of these launches, and nothing else. */
static inline void expect_lines(const char *log, const char *line) {
  for (int i = 0; i < THREADS * LAUNCHES; i++, log += strlen(line))
    WS_CHECK(!strncmp(log, line, strlen(line)));
  WS_CHECK_TEXT(log, "");
}

#endif
