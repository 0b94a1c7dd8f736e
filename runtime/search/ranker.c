/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A plan's requests, one after the other, to one device server.
 */
#include "ranker.h"

ws_status ws__ranker_begin(ws__ranker *ranker, ws_arena *arena,
                           const ws_candidate *candidate,
                           const ws_build_result *build, const double *known_us,
                           const double *bar_us, const ws__sample *sample,
                           ws_diag *diag) {
  WS_TRY(ws__plan_make(&ranker->plan, ranker->schedule, arena,
                       ws_device_client_info(ranker->client)->cu_count,
                       candidate, build, known_us, bar_us, sample, diag));
  ranker->step = 0;
  ranker->sent = false;
  ranker->busy = true;
  return WS_OK;
}

/* Takes the answer, if it is one: else the request was sent again. */
static ws_status receive(ws__ranker *r, bool *out_more, ws_diag *diag) {
  ws_measured measured;
  bool done;
  WS_TRY(ws_device_client_receive(r->client, r->plan.arena, &measured, &done,
                                  diag));
  *out_more = !done;
  if (!done)
    return WS_OK;
  *out_more = ws__plan_take(&r->plan, r->step++,
                            ws_device_client_info(r->client), &measured);
  r->sent = false;
  return WS_OK;
}

ws_status ws__ranker_step(ws__ranker *ranker, bool *out_done, ws__ranked *out,
                          ws_diag *diag) {
  bool more = ranker->plan.count > 0;
  *out_done = false;
  if (ranker->sent) {
    if (!ws_device_client_has_answer(ranker->client))
      return WS_OK;
    WS_TRY(receive(ranker, &more, diag));
  }
  if (ranker->sent)
    return WS_OK;
  if (more) {
    ranker->sent = true;
    return ws_device_client_send(ranker->client,
                                 &ranker->plan.requests[ranker->step], diag);
  }
  *out = ranker->plan.out;
  *out_done = true;
  ranker->busy = false;
  return WS_OK;
}

int ws__ranker_descriptor(const ws__ranker *ranker) {
  return ranker->sent ? ws_device_client_descriptor(ranker->client) : -1;
}
