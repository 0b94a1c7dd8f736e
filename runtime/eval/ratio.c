/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * When one is faster than another: the only place that decides it.
 */
#include "wavesmith/measure.h"
#include "wavesmith/sim_error.h"

#include <math.h>

double ws_measured_floor(const ws_measured *same) {
  return fmax(fabs(same->high_ratio - 1), fabs(same->low_ratio - 1));
}

int ws_measured_compare(const ws_measured *measured, double noise_floor) {
  if (ws_sim_error_are_equal(measured->provenance, measured->ratio, 1))
    return 0;
  if (measured->high_ratio < 1 && 1 - measured->ratio > noise_floor)
    return -1;
  return measured->low_ratio > 1 && measured->ratio - 1 > noise_floor;
}
