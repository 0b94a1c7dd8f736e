/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The two clocks, one to measure with, one to date records with; and patience,
 * which does not run out while we are stopped.
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

ws_patience ws_patience_begin(double limit_ms) {
  return (ws_patience){.left_ms = limit_ms, .looked_ms = ws_clock_ms()};
}

double ws_patience_left(ws_patience *patience) {
  double now_ms = ws_clock_ms(), passed_ms = now_ms - patience->looked_ms;
  patience->looked_ms = now_ms;
  patience->left_ms -= passed_ms < WS_LOOK_MS ? passed_ms : WS_LOOK_MS;
  return patience->left_ms;
}
