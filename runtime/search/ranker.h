/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Ranking candidates on a device that answers at once: one candidate's plan at
 * a time, without waiting. Several devices have a ranker each.
 */
#ifndef WAVESMITH_SEARCH_RANKER_H
#define WAVESMITH_SEARCH_RANKER_H

#include "plan.h"

typedef struct ws__ranker {
  const ws__schedule *schedule;
  ws_device_client *client; /* borrowed */
  ws__plan plan;            /* of the candidate in hand */
  int step;
  bool busy, sent;
  int64_t job; /* the caller's */
} ws__ranker;

/* As ws__plan_make. */
ws_status ws__ranker_begin(ws__ranker *ranker, ws_arena *arena,
                           const ws_candidate *candidate,
                           const ws_build_result *build, const double *known_us,
                           const double *bar_us, const ws__sample *sample,
                           ws_diag *diag) WS_MUST_CHECK;
/* Takes an answer that has come and sends the next. *out_done: *out holds all,
 * the ranker is free. WS_ENVIRONMENT: the device is at fault. */
ws_status ws__ranker_step(ws__ranker *ranker, bool *out_done, ws__ranked *out,
                          ws_diag *diag) WS_MUST_CHECK;
int ws__ranker_descriptor(const ws__ranker *ranker); /* -1: not busy */

#endif
