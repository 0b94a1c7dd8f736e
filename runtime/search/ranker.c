/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One candidate's way over the device. The race: after the cheap third of the
 * shapes a candidate that takes more than twice the bar's time there, in the
 * geometric mean, is slow and not timed further. The bar is what the leader
 * took when the candidate was asked for, so the outcome does not depend on what
 * other jobs did meanwhile.
 */
#include "ranker.h"
#include "measuring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERIFYING = -1, WALL_MS = 60000 };
static const double hopeless = 2.0;

struct ws__ranker {
  const ws__task *task;
  ws_device_client *client;
  int *order; /* shapes, cheapest first */
  int racers; /* so many of these are the race */
  /* of the candidate in hand */
  ws_arena *arena;
  const ws_candidate *candidate; /* NULL: none */
  const ws_build_result *build;
  const double *bar_us;
  int step; /* VERIFYING or an index of order */
  bool sent;
  ws__ranked out;
};

/* ---- set-up ---- */
ws__ranker *ws__ranker_create(ws_arena *arena, const ws__task *task,
                              ws_device_client *client) {
  ws__ranker *ranker = ws_arena_alloc(arena, sizeof *ranker);
  int count = task->shape_count;
  *ranker = (ws__ranker){.task = task, .client = client};
  ranker->order = ws_arena_alloc(arena, sizeof(int) * (size_t)count);
  ranker->racers = count / 3;
  for (int i = 0; i < count; i++) { /* by insertion: a set is small */
    double us =
        ws_target_roofline_us(task->target, task->problem, &task->shapes[i]);
    int place = i;
    for (; place > 0 &&
           us < ws_target_roofline_us(task->target, task->problem,
                                      &task->shapes[ranker->order[place - 1]]);
         place--)
      ranker->order[place] = ranker->order[place - 1];
    ranker->order[place] = i;
  }
  return ranker;
}

static double *new_times(ws_arena *arena, int count) {
  double *us = ws_arena_alloc(arena, sizeof *us * (size_t)count);
  for (int s = 0; s < count; s++)
    us[s] = INFINITY;
  return us;
}

static void take_known(ws__ranker *r, const double *known_us) {
  for (int s = 0; s < r->task->shape_count; s++)
    if (isfinite(known_us[s])) {
      r->out.us[s] = r->out.low_us[s] = r->out.high_us[s] = known_us[s];
      r->step = 0; /* who has a time was verified */
    }
}

ws_status ws__ranker_begin(ws__ranker *ranker, ws_arena *arena,
                           const ws_candidate *candidate,
                           const ws_build_result *build, const double *known_us,
                           const double *bar_us, ws_diag *diag) {
  int count = ranker->task->shape_count;
  ranker->arena = arena;
  ranker->candidate = candidate;
  ranker->build = build;
  ranker->bar_us = bar_us;
  ranker->step = VERIFYING;
  ranker->sent = false;
  ranker->out = (ws__ranked){
      .verdict = WS_VERDICT_OK,
      .reason = "",
      .us = new_times(arena, count),
      .low_us = new_times(arena, count),
      .high_us = new_times(arena, count),
      .bounds = ws_arena_alloc(arena, sizeof(char *) * (size_t)count),
      .profiled = -1};
  for (int s = 0; s < count; s++)
    ranker->out.bounds[s] = "";
  if (known_us)
    take_known(ranker, known_us);
  if (!build->code_object_size)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "candidate %s has no code object to time",
                   candidate->id.hex);
  return WS_OK;
}

bool ws__ranker_busy(const ws__ranker *ranker) {
  return ranker->candidate != NULL;
}

/* ---- steps ---- */
static void fail(ws__ranker *r, ws_verdict verdict, const char *reason) {
  r->out.verdict = verdict;
  r->out.reason = reason;
}

/* Shapes that the candidate refuses or that have a time already are passed. */
static bool is_wanted(const ws__ranker *r, int shape) {
  return isinf(r->out.us[shape]) &&
         ws_candidate_broken_require(r->candidate, &r->task->shapes[shape],
                                     NULL) < 0;
}

static void race(ws__ranker *r) {
  double sum = 0;
  int count = 0;
  for (int i = 0; r->bar_us && i < r->racers; i++) {
    int s = r->order[i];
    if (isfinite(r->out.us[s]) && isfinite(r->bar_us[s])) {
      sum += log(r->out.us[s] / r->bar_us[s]);
      count++;
    }
  }
  if (count && sum / count > log(hopeless))
    fail(r, WS_VERDICT_SLOW,
         ws_arena_printf(r->arena,
                         "%.2f x the time of the best so far on the %d "
                         "cheapest shapes; not timed on the others",
                         exp(sum / count), count));
}

/* Goes to the next step that needs the device; false: there is none. */
static bool advance(ws__ranker *r) {
  while (r->step < r->task->shape_count) {
    if (r->step == r->racers && r->out.verdict == WS_VERDICT_OK)
      race(r);
    if (r->out.verdict != WS_VERDICT_OK)
      return false;
    if (r->step == VERIFYING || is_wanted(r, r->order[r->step]))
      return true;
    r->step++;
  }
  return false;
}

static ws_status send(ws__ranker *r, ws_diag *diag) {
  bool verify = r->step == VERIFYING;
  const ws_shape *shape = verify ? NULL : &r->task->shapes[r->order[r->step]];
  ws_measure_request request;
  ws_diag why = {""};
  if (ws__measuring_request(r->arena, r->task, r->client, r->candidate,
                            r->build, verify ? WS__VERIFY_EDGES : WS__TIME,
                            shape, "", &request, &why) != WS_OK) {
    fail(r, WS_VERDICT_ILLEGAL, ws_arena_strdup(r->arena, why.text));
    return WS_OK;
  }
  request.settings.wall_ms = WALL_MS;
  r->sent = true;
  return ws_device_client_send(r->client, &request, diag);
}

static void keep_time(ws__ranker *r, const ws_measured *measured) {
  int s = r->order[r->step];
  r->out.us[s] = measured->us;
  r->out.low_us[s] = measured->low_us > 0 ? measured->low_us : measured->us;
  r->out.high_us[s] = measured->high_us > 0 ? measured->high_us : measured->us;
  r->out.bounds[s] = measured->bound;
  if (measured->report && *measured->report &&
      (r->out.profiled < 0 || measured->us > r->out.us[r->out.profiled])) {
    r->out.profiled = s;
    r->out.report = measured->report;
  }
}

static ws_status receive(ws__ranker *r, ws_diag *diag) {
  ws_measured measured;
  r->sent = false;
  WS_TRY(ws_device_client_receive(r->client, r->arena, &measured, diag));
  if (measured.verdict != WS_VERDICT_OK) {
    fail(r, measured.verdict, measured.reason);
    r->out.findings = measured.findings;
    r->out.finding_count = measured.finding_count;
  } else if (r->step != VERIFYING) {
    keep_time(r, &measured);
  }
  r->step++;
  return WS_OK;
}

ws_status ws__ranker_step(ws__ranker *ranker, bool *out_done, ws__ranked *out,
                          ws_diag *diag) {
  *out_done = false;
  if (ranker->sent) {
    if (!ws__measuring_has_answer(ranker->client))
      return WS_OK;
    WS_TRY(receive(ranker, diag));
  }
  while (!ranker->sent && advance(ranker))
    WS_TRY(send(ranker, diag));
  if (ranker->sent)
    return WS_OK;
  *out = ranker->out;
  *out_done = true;
  ranker->candidate = NULL;
  return WS_OK;
}

int ws__ranker_descriptor(const ws__ranker *ranker) {
  return ranker->sent ? ws_device_client_descriptor(ranker->client) : -1;
}
