/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A run's time: shared out between the search, the finals on a device, and the
 * confirmation of winners.
 */
#include "clock.h"

#include <math.h>

/* Of a limited time. On two cores the simulator times 8 kernels on the contest's
 * 18 shapes in half a minute, covers a winner's classes of shapes in 7 s, and
 * runs all 18 shapes whole in another half. */
static const double finals_share = 0.4;
static const double confirm_share = 0.6; /* of the finals' time */

void ws__clock_start(ws__clock *clock, double minutes) {
  double start_ms = ws_clock_ms();
  double end_ms = minutes > 0 ? start_ms + minutes * 60000 : INFINITY;
  *clock = (ws__clock){.start_ms = start_ms,
                       .deadline_ms = end_ms,
                       .search_end_ms = end_ms,
                       .finals_end_ms = end_ms,
                       .stop = ""};
}

void ws__clock_spare_finals(ws__clock *clock) {
  double finals_ms = finals_share * (clock->deadline_ms - clock->start_ms);
  if (!isfinite(clock->deadline_ms))
    return;
  clock->search_end_ms -= finals_ms;
  clock->finals_end_ms -= confirm_share * finals_ms;
}

bool ws__clock_must_end(const ws__clock *clock) {
  return ws__signals_interrupted() || *clock->stop ||
         ws_clock_ms() >= clock->search_end_ms;
}

bool ws__clock_is_over(const ws__clock *clock) {
  return ws__signals_interrupted() || ws_clock_ms() >= clock->deadline_ms;
}

double ws__clock_give_up_ms(double end_ms) {
  return isfinite(end_ms) ? end_ms : 0;
}
