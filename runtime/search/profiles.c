/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Where the time of the best goes. What the search builds has no line table,
 * which costs a tenth of code generation; so the few that are looked at are
 * built once more with one and timed once more, on the largest shape that they
 * are chosen for and that a simulator runs in a moment.
 */
#include "profiles.h"
#include "measuring.h"
#include "shipped.h"

#include <math.h>
#include <string.h>

enum { MOST = 3, WALL_MS = 10000 };
/* 1024,4608,7168: 0.3 s of a simulator's time. */
static const double most_flops = 7e10;

typedef struct profiles {
  ws_session *s;
  ws_arena *arena;
  ws_compiler *compiler;
  ws_diag *diag;
} profiles;

static double flops_of(const profiles *p, const ws_shape *shape) {
  return ws_problem_flops(p->s->task.problem, shape);
}

/* NULL: it takes none. among NULL: all. */
static const ws_shape *pick_shape(const profiles *p,
                                  const ws_candidate *candidate,
                                  const bool *among) {
  const ws__task *task = &p->s->task;
  const ws_shape *best = NULL;
  for (int i = 0; i < task->shape_count; i++) {
    const ws_shape *shape = &task->shapes[i];
    if ((!among || among[i]) && flops_of(p, shape) <= most_flops &&
        ws_candidate_broken_require(candidate, shape, NULL) < 0 &&
        (!best || flops_of(p, shape) > flops_of(p, best)))
      best = shape;
  }
  return best;
}

static ws_status build(profiles *p, const ws_candidate *candidate,
                       ws_build_result *out) {
  ws_archived_template stored;
  const ws_template *tmpl;
  WS_TRY(ws_archive_get_template(p->s->archive, p->arena,
                                 candidate->tmpl->hash.hex, &tmpl, &stored,
                                 p->diag));
  ws_build_request request = ws_build_request_of(
      p->arena, candidate, stored.text, strlen(stored.text));
  request.stages = WS_STAGE_CHECK | WS_STAGE_LOWER | WS_STAGE_LINES;
  request.limits = ws_limits_default;
  request.give_up_ms = ws__clock_give_up_ms(p->s->clock.deadline_ms);
  if (!p->compiler)
    WS_TRY(ws_compiler_start(&p->compiler, p->diag));
  return ws_compiler_build(p->compiler, p->arena, &request, out, p->diag);
}

static ws_status measure(profiles *p, const ws_candidate *candidate,
                         const ws_build_result *result, const ws_shape *shape,
                         ws_measured *out) {
  ws_measure_request request;
  ws_device_client *client = p->s->trials.client;
  WS_TRY(ws__measuring_request(
      p->arena, &p->s->task, ws_device_client_info(client)->cu_count, candidate,
      result, WS__TIME, shape, "", &request, p->diag));
  request.settings.wall_ms = WALL_MS;
  request.give_up_ms = ws__clock_give_up_ms(p->s->clock.deadline_ms);
  return ws_device_client_measure(client, p->arena, &request, out, p->diag);
}

static ws_status take(profiles *p, const char *id, const bool *among) {
  ws_session *s = p->s;
  bool found;
  ws_shape known;
  const char *report;
  ws_candidate *candidate;
  ws_build_result result;
  ws_measured measured;
  WS_TRY(ws_archive_get_profile(s->archive, p->arena, id, s->trials.provenance,
                                &found, &known, &report, p->diag));
  if (found || ws_clock_ms() >= s->clock.deadline_ms)
    return WS_OK;
  WS_TRY(ws__measuring_load(s->archive, p->arena, id, &candidate, &result,
                            p->diag));
  const ws_shape *shape = pick_shape(p, candidate, among);
  if (!shape)
    return WS_OK;
  WS_TRY(build(p, candidate, &result));
  if (result.verdict != WS_VERDICT_OK)
    return WS_OK;
  WS_TRY(measure(p, candidate, &result, shape, &measured));
  if (measured.verdict != WS_VERDICT_OK || !measured.report ||
      !*measured.report)
    return WS_OK;
  return ws_archive_put_profile(s->archive, id, s->trials.provenance, shape,
                                measured.report, p->diag);
}

/* Over the task's shapes; INFINITY where one has no time. */
static ws_status mean_log_us(const profiles *p, const char *id, double *out) {
  const ws__task *task = &p->s->task;
  ws_measurement *items;
  int count, found = 0;
  WS_TRY(ws_archive_get_measurements(p->s->archive, p->arena, id, &items,
                                     &count, p->diag));
  *out = 0;
  for (int i = 0; i < count; i++)
    for (int s = 0; s < task->shape_count; s++)
      if (!memcmp(&items[i].shape, &task->shapes[s], sizeof(ws_shape)) &&
          !strcmp(items[i].provenance, p->s->trials.provenance)) {
        *out += log(items[i].us);
        found++;
      }
  *out = found < task->shape_count ? INFINITY : *out / found;
  return WS_OK;
}

/* The best on the shapes together, which a page shows first. */
static ws_status take_best(profiles *p) {
  const ws_archive_filter filter = {.problem = p->s->task.problem->name,
                                    .layout = p->s->task.layout,
                                    .target = p->s->task.target->name,
                                    .provenance = p->s->trials.provenance,
                                    .verdict = ws_verdict_text(WS_VERDICT_OK)};
  ws_candidate_summary *items;
  const char *best = NULL;
  double least = INFINITY, one;
  int count;
  WS_TRY(ws_archive_list(p->s->archive, p->arena, &filter, &items, &count,
                         p->diag));
  for (int i = 0; i < count; i++) {
    if (items[i].measured_shapes < p->s->task.shape_count)
      continue;
    WS_TRY(mean_log_us(p, items[i].row.id, &one));
    if (one < least) {
      least = one;
      best = items[i].row.id;
    }
  }
  return best ? take(p, best, NULL) : WS_OK;
}

static ws_status take_shipped(profiles *p) {
  ws__shipped shipped;
  const char *start;
  WS_TRY(ws__confirm_start(p->s, &start));
  WS_TRY(ws__shipped_find(p->s->archive, p->arena, &p->s->task, start, &shipped,
                          p->diag));
  for (int i = 0; i < shipped.count && i < MOST; i++)
    if (shipped.kernels[i].chosen_count)
      WS_TRY(take(p, shipped.kernels[i].id, shipped.kernels[i].chosen));
  return WS_OK;
}

void ws__profiles_take(ws_session *s) {
  ws_diag diag = {""};
  profiles p = {.s = s, .diag = &diag};
  /* Nothing new was timed here, or by what says nothing of why. */
  if (!s->trials.client || !s->trials.explains)
    return;
  /* An answer to the search's last question is not one to ours. */
  ws_device_client_renew(s->trials.client);
  p.arena = ws_arena_create();
  ws_status status = take_best(&p);
  if (status == WS_OK)
    status = take_shipped(&p);
  if (status != WS_OK)
    ws_log(WS_LOG_INFO, "no profile: %s", diag.text);
  if (p.compiler)
    ws_compiler_stop(p.compiler);
  ws_arena_destroy(p.arena);
}
