/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The two clocks: one to measure with, one to date records with.
 */
#include "wavesmith/base.h"

#include <time.h>

double ws_clock_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

int64_t ws_clock_unix_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
