/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is asked about a winner: on which shapes it is verified, on which it is
 * timed, and beside what. Nothing is asked here, and nothing decided.
 */
#include "confirm.h"
#include "ground.h"

#include <math.h>
#include <string.h>

enum {
  HELD_OUT_SIMULATED = 8,
  HELD_OUT = 16, /* on a card: inputs and pairs of times take seconds a shape */
  VERIFICATIONS = 3,
  ASKED_OF_LARGE = 24 /* shapes of a large set */
};
/* Of the ratio with a rival: half of it is told apart. */
static const double target_width = 0.005;

/* ---- where ---- */
bool ws__confirm_is_asked(const ws__task *task, int shape) {
  return task->shape_count <= WS__ALL_SHAPES ||
         ws__scattered(shape, task->shape_count) < ASKED_OF_LARGE;
}

void ws__confirm_pick_shapes(ws__confirmation *c) {
  const ws__task *task = &c->s->task;
  const char *name = c->s->options->held_out;
  const ws_shape_set *set =
      ws_problem_shape_set(task->problem, name ? name : "held-out");
  int most = c->simulated ? HELD_OUT_SIMULATED : HELD_OUT;
  int held_out = set ? set->count : 0;
  int step = held_out > most ? (held_out + most - 1) / most : 1;
  ws_shape *shapes = ws_arena_alloc(
      c->arena, sizeof *shapes * (size_t)(task->shape_count + held_out));
  memcpy(shapes, task->shapes, sizeof *shapes * (size_t)task->shape_count);
  c->search_count = c->shape_count = task->shape_count;
  for (int i = step / 2; i < held_out; i += step)
    shapes[c->shape_count++] = set->shapes[i];
  c->shapes = shapes;
}

/* ---- what is asked ---- */
static int cu_count(const ws__confirmation *c) {
  const ws_device_client *client = c->s->trials.client; /* NULL: a batch */
  return client ? ws_device_client_info(client)->cu_count
                : c->s->task.target->cu_count;
}

static ws_status request_of(const ws__confirmation *c, const ws__contest *who,
                            ws__question question, const ws_shape *shape,
                            ws_measure_request *out, ws_diag *why) {
  return ws__measuring_request(c->arena, &c->s->task, cu_count(c),
                               who->candidate, &who->build, question, shape,
                               "confirmation", out, why);
}

/* What the run began with, on the same shape; NULL where it cannot run. */
static const ws_contestant *rival_on(const ws__confirmation *c,
                                     const ws_shape *shape) {
  ws_diag why;
  ws_measure_request request;
  const ws__contest *r = &c->reference;
  if (c->simulated ||
      request_of(c, r, WS__TIME, shape, &request, &why) != WS_OK)
    return NULL;
  ws_contestant *rival = ws_arena_alloc(c->arena, sizeof *rival);
  *rival = (ws_contestant){.code_object = r->build.code_object,
                           .size = r->build.code_object_size,
                           .workload = request.workloads};
  return rival;
}

static void add(const ws__confirmation *c, ws__contest *who,
                ws__question question, int shape) {
  ws_diag why = {""};
  const ws_shape *at = shape < 0 ? NULL : &c->shapes[shape];
  ws_measure_request *request = &who->requests[who->count];
  if (*who->refused)
    return;
  if (request_of(c, who, question, at, request, &why) != WS_OK) {
    who->refused = ws_arena_strdup(c->arena, why.text);
    return;
  }
  request->settings.wall_ms = WS__CONFIRM_WALL_MS;
  if (question == WS__TIME) {
    request->rival = rival_on(c, at);
    request->settings.target_width = target_width;
  }
  who->whole[who->count] = question == WS__VERIFY_LARGE ? shape : -1;
  who->shapes[who->count++] = question == WS__TIME ? shape : -1;
}

/* One of these shapes, by samples. */
static void add_large(const ws__confirmation *c, ws__contest *who, int begin,
                      int end) {
  int large = ws__measuring_large(c->s->task.problem, who->candidate,
                                  c->shapes + begin, end - begin);
  if (large >= 0)
    add(c, who, WS__VERIFY_LARGE, begin + large);
}

/* A card looks at the result of what it times, a simulator's times leave none:
 * there each shape that the winner is chosen for is run whole, cheapest first.
 */
static void add_chosen(const ws__confirmation *c, const ws__winner *w,
                       ws__contest *who) {
  ws__schedule schedule;
  ws__schedule_init(&schedule, c->arena, &c->s->task);
  for (int i = 0; i < c->search_count; i++) {
    int shape = schedule.order[i];
    if (w->shapes && w->shapes[shape] &&
        ws__confirm_is_asked(&c->s->task, shape) &&
        ws_candidate_broken_require(who->candidate, &c->shapes[shape], NULL) <
            0)
      add(c, who, WS__VERIFY_LARGE, shape);
  }
}

/* As many shapes as cover all pairs of their classes. */
static void add_coverage(const ws__confirmation *c, ws__contest *who) {
  int count = 0;
  ws_diag why = {""};
  who->covering = who->covered_end = who->count;
  if (*who->refused)
    return;
  if (ws__covering_requests(
          c->arena, &c->s->task, cu_count(c), who->candidate, &who->build,
          &who->coverage, &who->requests[who->count], &count, &why) != WS_OK) {
    who->refused = ws_arena_strdup(c->arena, why.text);
    return;
  }
  for (int i = 0; i < count; i++) {
    who->requests[who->count].settings.wall_ms = WS__CONFIRM_WALL_MS;
    who->whole[who->count] = -1;
    who->shapes[who->count++] = -1;
  }
  who->covered_end = who->count;
}

void ws__contest_add_edges(const ws__confirmation *c, ws__contest *who) {
  add(c, who, WS__VERIFY_EDGES, -1);
}

void ws__contest_add_verifications(const ws__confirmation *c,
                                   const ws__winner *w, ws__contest *who) {
  ws__contest_add_edges(c, who);
  add_coverage(c, who);
  add_large(c, who, c->search_count, c->shape_count);
  int before = who->count;
  if (c->simulated)
    add_chosen(c, w, who);
  if (who->count == before)
    add_large(c, who, 0, c->search_count);
}

ws_status ws__contest_load(const ws__confirmation *c, const char *id,
                           ws__contest *out) {
  ws_measurement *recorded;
  *out = (ws__contest){.id = id, .refused = ""};
  WS_TRY(ws__measuring_load(c->s->archive, c->arena, id, &out->candidate,
                            &out->build, c->s->diag));
  ws__covering_plan(c->arena, &c->s->task, id, out->candidate, &out->build,
                    &out->coverage);
  size_t room = (size_t)(c->shape_count + c->search_count + VERIFICATIONS +
                         out->coverage.count / WS_COVERAGE_BATCH + 1);
  WS_TRY(ws_archive_get_measurements(c->s->archive, c->arena, id, &recorded,
                                     &out->recorded_count, c->s->diag));
  out->recorded = recorded;
  out->requests = ws_arena_alloc(c->arena, sizeof *out->requests * room);
  out->shapes = ws_arena_alloc(c->arena, sizeof *out->shapes * room);
  out->whole = ws_arena_alloc(c->arena, sizeof *out->whole * room);
  return WS_OK;
}

bool ws__contest_was_timed(const ws__confirmation *c, const ws__contest *who) {
  for (int i = 0; i < who->recorded_count; i++)
    if (!strcmp(who->recorded[i].provenance, c->s->trials.provenance))
      return true;
  return false;
}

double ws__contest_recorded_us(const ws__confirmation *c,
                               const ws__contest *who, int shape) {
  for (int i = 0; i < who->recorded_count && c->simulated; i++)
    if (!memcmp(&who->recorded[i].shape, &c->shapes[shape], sizeof(ws_shape)) &&
        !strcmp(who->recorded[i].provenance, c->s->trials.provenance))
      return who->recorded[i].us;
  return NAN;
}

void ws__contest_add_times(const ws__confirmation *c, ws__contest *who,
                           const bool *again) {
  for (int i = 0; i < c->shape_count; i++) {
    bool anew =
        i >= c->search_count ? who != &c->reference : !again || again[i];
    if (i < c->search_count && !ws__confirm_is_asked(&c->s->task, i))
      continue;
    if ((anew || isnan(ws__contest_recorded_us(c, who, i))) &&
        ws_candidate_broken_require(who->candidate, &c->shapes[i], NULL) < 0)
      add(c, who, WS__TIME, i);
  }
}
