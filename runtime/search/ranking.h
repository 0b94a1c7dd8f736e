/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What takes a run's times, and whether proposals follow from times of a device
 * (each candidate is verified and timed there before its result counts) or from
 * estimates.
 */
#ifndef WAVESMITH_SEARCH_RANKING_H
#define WAVESMITH_SEARCH_RANKING_H

#include "devices.h"
#include "ranker.h"
#include "rounds.h"
#include "table.h"

/* At most one of servers, a batch and a table is there. Set when the session
 * begins; the rankers are produce.c's. */
typedef struct ws__ranking {
  bool by_device;
  const char *why;     /* estimates are trusted or not; NULL: not asked */
  ws__devices devices; /* servers that are asked at once */
  ws__batched *batched;
  ws__table *table;
  ws__schedule schedule; /* by_device */
  ws__ranker *rankers;   /* of each server; none: not ranking by them */
  int count;
} ws__ranking;

/* First, for it may bring the task's shapes. */
ws_status ws__ranking_read_table(ws_session *s) WS_MUST_CHECK;
/* Devices, trials and judge, by the options. */
ws_status ws__ranking_open(ws_session *s) WS_MUST_CHECK;
void ws__ranking_close(ws__ranking *ranking);
/* A batch has said whose its times are. */
void ws__ranking_meet_device(ws_session *s);
/* Its device, which there is, simulates. */
bool ws__ranking_simulates(const ws__ranking *ranking);
/* Of the device, ws_device_info's; "" where there is none. */
const char *ws__ranking_differs(const ws__ranking *ranking);
/* Of ln us: differences below it mean nothing. */
double ws__ranking_noise(const ws__ranking *ranking);

/* Is what is built also timed before it counts? */
static inline bool ws__ranking_times(const ws__ranking *ranking) {
  return ranking->count > 0 || ranking->batched;
}

#endif
