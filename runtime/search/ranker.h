/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Ranking a candidate on the device: verified on edge shapes, timed on the
 * cheap third of the shapes, and, unless it loses that race, on all. One
 * candidate at a time, without waiting.
 */
#ifndef WAVESMITH_SEARCH_RANKER_H
#define WAVESMITH_SEARCH_RANKER_H

#include "task.h"
#include "wavesmith/measure.h"

typedef struct ws__ranked {
  ws_verdict verdict;
  const char *reason;
  const ws_finding *findings;
  int finding_count;
  double *us, *low_us, *high_us; /* by shape; INFINITY: not timed */
  const char **bounds;
  int profiled;       /* shape of the report, -1: none */
  const char *report; /* of a simulator */
} ws__ranked;

typedef struct ws__ranker ws__ranker;
/* client: borrowed; in the arena. */
ws__ranker *ws__ranker_create(ws_arena *arena, const ws__task *task,
                              ws_device_client *client);
/* known_us: times that are there already, by shape; bar_us: the times to race
 * against, NULL: no race. Both and candidate must live until the end. */
ws_status ws__ranker_begin(ws__ranker *ranker, ws_arena *arena,
                           const ws_candidate *candidate,
                           const ws_build_result *build, const double *known_us,
                           const double *bar_us, ws_diag *diag) WS_MUST_CHECK;
bool ws__ranker_busy(const ws__ranker *ranker);
/* Takes an answer that has come and sends the next. *out_done: *out holds all,
 * the ranker is free. WS_ENVIRONMENT: the device is at fault. */
ws_status ws__ranker_step(ws__ranker *ranker, bool *out_done, ws__ranked *out,
                          ws_diag *diag) WS_MUST_CHECK;
int ws__ranker_descriptor(const ws__ranker *ranker); /* -1: not busy */

#endif
