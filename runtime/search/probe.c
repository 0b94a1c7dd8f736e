/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The bound model is made for kernels that walk a depth in tiles; of others it
 * may say anything. So a run whose problem was not held against a device before
 * looks first: the defaults and random points, on the two shapes of the task
 * with least work, estimate beside device. Spearman's correlation over the
 * points, the mean of the two shapes, must reach TRUSTED: with eight points, a
 * model whose true correlation is 0.75 falls below it in 3 of 100 runs, one
 * that knows nothing is above in 16. A model that is right where a launch is
 * all may be wrong where memory is: so the same points must agree as well on
 * the largest shape for which a tenth of the run's time suffices. Nothing of it
 * is recorded: the search finds its points anew.
 */
#include "probe.h"
#include "measuring.h"
#include "wavesmith/comparison.h"

#include <math.h>
#include <string.h>

enum { POINTS = 8, LEAST_POINTS = 5, DRAWS = 24, SMALL = 2, SHAPES = 3 };
static const double trusted_correlation = 0.4;
/* Of the run's time; half of the latter again to find the large shape. */
static const double small_share = 0.15, large_share = 0.1;
static const double usual_minutes =
    5; /* a run without a limit counts as that */
/* Not the search's: its draws stay what they are. */
static const uint64_t probe_seed = 0x70726f6265;

typedef struct probe_point {
  const ws_candidate *candidate;
  ws_build_result built;
  double *estimate_us; /* by shape of the task */
} probe_point;

typedef struct probe {
  ws_session *s;
  ws_arena *arena;
  int *order; /* the task's shapes, least work first */
  probe_point points[POINTS];
  int count;
  double until_ms; /* what is asked is given up then */
  bool is_late;
  /* Of the small shapes, then the large one. */
  double estimate_us[SHAPES][POINTS], device_us[SHAPES][POINTS];
} probe;

static void order_shapes(probe *p) {
  const ws__task *task = &p->s->task;
  p->order =
      ws_arena_alloc(p->arena, sizeof *p->order * (size_t)task->shape_count);
  for (int i = 0; i < task->shape_count; i++) {
    double bytes = ws_problem_least_bytes(task->problem, &task->shapes[i]);
    int at = i;
    for (; at && bytes < ws_problem_least_bytes(
                             task->problem, &task->shapes[p->order[at - 1]]);
         at--)
      p->order[at] = p->order[at - 1];
    p->order[at] = i;
  }
}

/* From now on, for the next part. Returns it. */
static double allow(probe *p, double share) {
  const double given = p->s->options->minutes;
  const double ms = share * 60000 * (given > 0 ? given : usual_minutes);
  p->until_ms = ws_clock_ms() + ms;
  p->is_late = false;
  return ms;
}

static bool must_stop(probe *p) {
  p->is_late = p->is_late || ws_clock_ms() >= p->until_ms;
  return p->is_late || ws__signals_interrupted();
}

static int small_count(const probe *p) {
  return p->s->task.shape_count < SMALL ? p->s->task.shape_count : SMALL;
}

static ws_status build(ws_session *s, ws_arena *arena,
                       const ws_candidate *candidate, unsigned stages,
                       ws_build_result *out) {
  ws_compiler *compiler;
  ws_run runs[WS_STANDARD_RUNS];
  ws_build_request request = ws_build_request_of(
      arena, candidate, s->task.source.text, s->task.source.size);
  request.stages = WS_STAGE_CHECK | WS_STAGE_SANITIZE | stages;
  request.runs = runs;
  request.run_count = ws_standard_runs(candidate, runs);
  WS_TRY(ws__pool_idle_compiler(&s->pool, &compiler, s->diag));
  return ws_compiler_build(compiler, arena, &request, out, s->diag);
}

/* INFINITY: it cannot be timed there. */
static ws_status time_on(probe *p, const probe_point *point, int shape,
                         double *out_us) {
  ws_session *s = p->s;
  ws_device_client *client = s->ranking.devices.clients[0];
  ws_arena *arena = ws_arena_create();
  ws_status status = WS_OK;
  ws_measure_request request;
  ws_measured measured;
  ws_diag why = {""};
  *out_us = INFINITY;
  if (ws__measuring_request(
          arena, &s->task, ws_device_client_info(client)->cu_count,
          point->candidate, &point->built, WS__TIME, &s->task.shapes[shape], "",
          &request, &why) == WS_OK) {
    request.give_up_ms = ws__clock_give_up_ms(p->until_ms);
    status =
        ws_device_client_measure(client, arena, &request, &measured, s->diag);
    if (status == WS_OK && measured.verdict == WS_VERDICT_OK && measured.us > 0)
      *out_us = measured.us;
  }
  if (status == WS_INTERRUPTED) {
    p->is_late = true;
    status = WS_OK;
  }
  ws_arena_destroy(arena);
  return status;
}

/* Counts when both are known on the small shapes. */
static ws_status add_point(probe *p, const ws_candidate *candidate) {
  const ws__task *task = &p->s->task;
  size_t count = (size_t)task->shape_count;
  probe_point *point = &p->points[p->count];
  point->candidate = candidate;
  WS_TRY(build(p->s, p->arena, candidate, WS_STAGE_LOWER, &point->built));
  point->estimate_us = ws_arena_alloc(p->arena, sizeof(double) * count);
  const char **bounds = ws_arena_alloc(p->arena, sizeof *bounds * count);
  for (size_t i = 0; i < count; i++)
    point->estimate_us[i] = INFINITY;
  if (point->built.verdict != WS_VERDICT_OK)
    return WS_OK;
  ws__judge_estimate(task, candidate, &point->built, point->estimate_us,
                     bounds);
  bool known = true;
  for (int i = 0; i < small_count(p) && known; i++) {
    double *device = &p->device_us[i][p->count];
    p->estimate_us[i][p->count] = point->estimate_us[p->order[i]];
    WS_TRY(time_on(p, point, p->order[i], device));
    known = isfinite(point->estimate_us[p->order[i]]) && isfinite(*device);
  }
  p->count += known;
  return WS_OK;
}

static ws_status add_points(probe *p) {
  ws_session *s = p->s;
  ws__space *space = &s->task.space;
  ws__seen seen = {0};
  ws_status status = WS_OK;
  ws_rng rng;
  ws_rng_init(&rng, s->options->seed ^ probe_seed);
  for (int draw = 0;
       draw < DRAWS && p->count < POINTS && status == WS_OK && !must_stop(p);
       draw++) {
    int point[WS_TEMPLATE_MAX_PARAMS + WS_TEMPLATE_MAX_REGIONS];
    ws__space_default(space, point);
    bool found =
        !draw ? ws__space_is_legal(space, point)
              : ws__space_draw(space, &rng, &seen, point) == WS__DRAW_FOUND;
    if (found) {
      const ws_candidate *candidate =
          ws__space_candidate(space, p->arena, point);
      ws__seen_add(&seen, &candidate->id);
      status = add_point(p, candidate);
    }
    if (!found && draw)
      break;
  }
  ws__seen_deinit(&seen);
  return status;
}

/* The largest shape on which enough points can be timed in limit_ms, found by
 * the defaults' times on one after the other in half of that; a first time on a
 * shape takes longer than those after it. -1: none beside the small ones. */
static ws_status climb(probe *p, double limit_ms, int *out_shape) {
  *out_shape = -1;
  for (int i = SMALL; i < p->s->task.shape_count && !must_stop(p); i++) {
    double began = ws_clock_ms(), us;
    WS_TRY(time_on(p, &p->points[0], p->order[i], &us));
    if (isfinite(us) && (ws_clock_ms() - began) * LEAST_POINTS <= limit_ms)
      *out_shape = p->order[i];
  }
  return WS_OK;
}

/* How many points count on the large shape, 0: there is none. */
static ws_status look_at_large(probe *p, int *out_shape, int *out_count) {
  *out_count = 0;
  WS_TRY(climb(p, 2 * allow(p, large_share / 2), out_shape));
  allow(p, large_share);
  for (int i = 0; i < p->count && *out_shape >= 0 && !must_stop(p); i++) {
    double *estimate = &p->estimate_us[SMALL][*out_count];
    double *device = &p->device_us[SMALL][*out_count];
    *estimate = p->points[i].estimate_us[*out_shape];
    WS_TRY(time_on(p, &p->points[i], *out_shape, device));
    *out_count += isfinite(*estimate) && isfinite(*device);
  }
  if (*out_count < LEAST_POINTS)
    *out_count = 0;
  return WS_OK;
}

static ws_status judge(probe *p, bool *out_trusted, const char **out_text) {
  ws_arena *arena = p->s->arena;
  double sum = 0;
  int large, large_count = 0;
  order_shapes(p);
  allow(p, small_share);
  WS_TRY(add_points(p));
  *out_trusted = p->count < LEAST_POINTS && p->is_late;
  if (p->count < LEAST_POINTS) {
    *out_text = ws_arena_printf(
        arena,
        "only %d points could be estimated and timed%s: candidates are "
        "ranked %s",
        p->count, p->is_late ? " in the time that there is for it" : "",
        *out_trusted ? "by estimate" : "on the device");
    return WS_OK;
  }
  for (int i = 0; i < small_count(p); i++)
    sum += ws_spearman(p->estimate_us[i], p->device_us[i], p->count);
  double correlation = sum / small_count(p), of_large = 1;
  *out_trusted = correlation >= trusted_correlation;
  *out_text = ws_arena_printf(arena,
                              "%d points spread over the space: rank "
                              "correlation of estimate and device %.2f",
                              p->count, correlation);
  if (*out_trusted)
    WS_TRY(look_at_large(p, &large, &large_count));
  if (large_count) {
    of_large =
        ws_spearman(p->estimate_us[SMALL], p->device_us[SMALL], large_count);
    *out_text = ws_arena_printf(
        arena, "%s on small shapes, %.2f on %s", *out_text, of_large,
        ws_shape_text(arena, &p->s->task.shapes[large]));
  }
  *out_trusted = *out_trusted && of_large >= trusted_correlation;
  *out_text =
      ws_arena_printf(arena, "%s, so candidates are ranked %s", *out_text,
                      *out_trusted ? "by estimate" : "on the device");
  return WS_OK;
}

ws_status ws__probe_estimates(ws_session *s, bool *out_trusted,
                              const char **out_text) {
  probe p = {.s = s, .arena = ws_arena_create()};
  ws_status status = judge(&p, out_trusted, out_text);
  ws_arena_destroy(p.arena);
  return status;
}

ws_status ws__probe_model(ws_session *s, bool *out_modelled,
                          const char **out_text) {
  int point[WS_TEMPLATE_MAX_PARAMS + WS_TEMPLATE_MAX_REGIONS];
  ws_build_result built = {.verdict = WS_VERDICT_OK};
  ws_arena *arena = ws_arena_create();
  ws_status status = WS_OK;
  ws__space_default(&s->task.space, point);
  if (ws__space_is_legal(&s->task.space, point))
    status = build(s, arena, ws__space_candidate(&s->task.space, arena, point),
                   0, &built);
  *out_modelled = status != WS_OK || ws_build_is_modelled(&built);
  if (!*out_modelled)
    *out_text =
        ws_arena_printf(s->arena, "%s: candidates are ranked on the device",
                        built.not_modelled);
  ws_arena_destroy(arena);
  return status;
}
