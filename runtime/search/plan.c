/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One candidate's way over the device: verified on edge shapes, and, where no
 * sanitizer has seen it, on one large shape by samples; then timed, cheap
 * shapes first. The race: after the cheap third of the shapes a candidate that
 * takes more than twice the bar's time there, in the geometric mean, is slow
 * and not timed further. The bar is what the leader took when the candidate was
 * asked for, so the outcome does not depend on what other jobs did meanwhile.
 *
 * On a large set it is timed on a sample (sample.c). The race is over the
 * shapes where it promised most, against the best that was known on each.
 */
#include "plan.h"

#include <math.h>

enum { WALL_MS = 60000, VERIFICATIONS = 2, MOST_SAMPLES = 100 };
/* Each step follows another, so the clock is warm; and winners are timed again
 * beside a rival, with the patience that takes. */
static const double warm_up_ms = 20;
static const double race_ratio = 2.0, sample_race_ratio = 1.3;

/* ---- what is the same for all ---- */
void ws__schedule_init(ws__schedule *schedule, ws_arena *arena,
                       const ws__task *task) {
  int count = task->shape_count;
  *schedule = (ws__schedule){.task = task, .racers = count / 3};
  schedule->order = ws_arena_alloc(arena, sizeof(int) * (size_t)count);
  double *us = ws_arena_alloc(arena, sizeof *us * (size_t)count);
  for (int i = 0; i < count; i++) { /* by insertion */
    us[i] =
        ws_target_roofline_us(task->target, task->problem, &task->shapes[i]);
    int place = i;
    for (; place > 0 && us[i] < us[schedule->order[place - 1]]; place--)
      schedule->order[place] = schedule->order[place - 1];
    schedule->order[place] = i;
  }
}

/* ---- making a plan ---- */
static void fail(ws__plan *p, ws_verdict verdict, const char *reason) {
  p->out.verdict = verdict;
  p->out.reason = ws_arena_strdup(p->arena, reason);
}

static double *new_times(ws_arena *arena, int count) {
  double *us = ws_arena_alloc(arena, sizeof *us * (size_t)count);
  for (int s = 0; s < count; s++)
    us[s] = INFINITY;
  return us;
}

static void begin(ws__plan *p) {
  int count = p->schedule->task->shape_count;
  p->out = (ws__ranked){
      .verdict = WS_VERDICT_OK,
      .reason = "",
      .us = new_times(p->arena, count),
      .low_us = new_times(p->arena, count),
      .high_us = new_times(p->arena, count),
      .bounds = ws_arena_alloc(p->arena, sizeof(char *) * (size_t)count),
      .measured = ws_arena_alloc(p->arena, sizeof(void *) * (size_t)count)};
  for (int s = 0; s < count; s++)
    p->out.bounds[s] = "";
  size_t room = (size_t)(count + VERIFICATIONS);
  p->requests = ws_arena_alloc(p->arena, sizeof *p->requests * room);
  p->shapes = ws_arena_alloc(p->arena, sizeof *p->shapes * room);
  p->race_last = -1;
}

static bool has_known(ws__plan *p, const double *known_us) {
  bool any = false;
  for (int s = 0; known_us && s < p->schedule->task->shape_count; s++)
    if (isfinite(known_us[s])) {
      p->out.us[s] = p->out.low_us[s] = p->out.high_us[s] = known_us[s];
      any = true;
    }
  return any;
}

/* A request that cannot be made is the candidate's fault. */
static void add(ws__plan *p, int cu_count, ws__question question, int shape) {
  const ws__task *task = p->schedule->task;
  ws_measure_request *request = &p->requests[p->count];
  ws_diag why = {""};
  if (p->out.verdict != WS_VERDICT_OK)
    return;
  if (ws__measuring_request(p->arena, task, cu_count, p->candidate, p->build,
                            question, shape < 0 ? NULL : &task->shapes[shape],
                            "", request, &why) != WS_OK) {
    fail(p, WS_VERDICT_ILLEGAL, why.text);
    return;
  }
  request->settings.wall_ms = WALL_MS;
  request->settings.warm_up_ms = warm_up_ms;
  request->settings.max_samples = MOST_SAMPLES;
  p->shapes[p->count++] = question == WS__TIME ? shape : -1;
}

/* Shapes that the candidate refuses or that have a time already are passed. */
static bool is_wanted(const ws__plan *p, int shape) {
  return isinf(p->out.us[shape]) && ws__sample_has(p->sample, shape) &&
         ws_candidate_broken_require(
             p->candidate, &p->schedule->task->shapes[shape], NULL) < 0;
}

static bool has_bar(const ws__plan *p, int shape) {
  return p->bar_us && isfinite(p->bar_us[shape]);
}

static bool is_raced(const ws__plan *p, int shape) {
  for (int i = 0; i < p->racer_count; i++)
    if (p->racers[i] == shape)
      return has_bar(p, shape);
  return false;
}

/* The racers that have a bar come first: they decide. */
static void add_race(ws__plan *p, int cu_count) {
  int first = p->count;
  for (int i = 0; i < p->racer_count; i++)
    if (is_wanted(p, p->racers[i]) && has_bar(p, p->racers[i]))
      add(p, cu_count, WS__TIME, p->racers[i]);
  p->race_steps = p->count - first;
  if (!p->race_steps)
    return;
  double *bars = ws_arena_alloc(p->arena, sizeof *bars * (size_t)p->race_steps);
  for (int i = 0; i < p->race_steps; i++)
    bars[i] = p->bar_us[p->shapes[first + i]];
  p->race_us = bars;
  p->race_last = p->count - 1;
}

static void add_all(ws__plan *p, int cu_count, bool verified) {
  const ws__task *task = p->schedule->task;
  if (!verified) {
    int large = ws__measuring_large(task->problem, p->candidate, task->shapes,
                                    task->shape_count);
    add(p, cu_count, WS__VERIFY_EDGES, -1);
    bool sanitized =
        task->target->has_host_model && ws_build_is_modelled(p->build);
    if (!sanitized && large >= 0)
      add(p, cu_count, WS__VERIFY_LARGE, large);
  }
  add_race(p, cu_count);
  for (int i = 0; i < task->shape_count; i++) {
    int shape = p->schedule->order[i];
    if (!is_raced(p, shape) && is_wanted(p, shape))
      add(p, cu_count, WS__TIME, shape);
  }
  if (p->out.verdict != WS_VERDICT_OK)
    p->count = 0;
}

ws_status ws__plan_make(ws__plan *plan, const ws__schedule *schedule,
                        ws_arena *arena, int cu_count,
                        const ws_candidate *candidate,
                        const ws_build_result *build, const double *known_us,
                        const double *bar_us, const ws__sample *sample,
                        ws_diag *diag) {
  *plan = (ws__plan){.schedule = schedule,
                     .arena = arena,
                     .candidate = candidate,
                     .build = build,
                     .bar_us = bar_us,
                     .sample = sample,
                     .racers = sample ? sample->shapes : schedule->order,
                     .racer_count = sample ? sample->racers : schedule->racers,
                     .race_ratio = sample ? sample_race_ratio : race_ratio};
  begin(plan);
  if (!build->code_object_size)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "candidate %s has no code object to time",
                   candidate->id.hex);
  add_all(plan, cu_count, has_known(plan, known_us));
  return WS_OK;
}

/* ---- answers ---- */
static void race(ws__plan *p) {
  double sum = 0;
  int count = 0;
  for (int i = 0; i < p->racer_count; i++) {
    int s = p->racers[i];
    if (isfinite(p->out.us[s]) && has_bar(p, s)) {
      sum += log(p->out.us[s] / p->bar_us[s]);
      count++;
    }
  }
  if (count && sum / count > log(p->race_ratio))
    fail(p, WS_VERDICT_SLOW,
         ws_arena_printf(p->arena,
                         "%.2f x the time of the best so far on the %d "
                         "%s; not timed on the others",
                         exp(sum / count), count,
                         p->sample ? "shapes where it promised most"
                                   : "cheapest shapes"));
}

static void keep_time(ws__ranked *out, int s, const ws_measured *measured) {
  out->measured[s] = measured;
  out->us[s] = measured->us;
  out->low_us[s] = measured->low_us > 0 ? measured->low_us : measured->us;
  out->high_us[s] = measured->high_us > 0 ? measured->high_us : measured->us;
  out->bounds[s] = measured->bound;
}

static bool has_report(const ws__ranked *ranked, int s) {
  const ws_measured *measured = ranked->measured ? ranked->measured[s] : NULL;
  return measured && measured->report && *measured->report;
}

void ws__ranked_profiled(const ws__ranked *ranked, const ws__task *task,
                         int *out_slowest, int *out_furthest) {
  double worst = 0;
  *out_slowest = *out_furthest = -1;
  for (int s = 0; s < task->shape_count; s++) {
    if (!has_report(ranked, s))
      continue;
    const double distance =
        ranked->us[s] /
        ws_target_roofline_us(task->target, task->problem, &task->shapes[s]);
    if (*out_slowest < 0 || ranked->us[s] > ranked->us[*out_slowest])
      *out_slowest = s;
    if (distance > worst) {
      worst = distance;
      *out_furthest = s;
    }
  }
}

bool ws__plan_take(ws__plan *plan, int step, const ws_device_info *device,
                   const ws_measured *measured) {
  plan->out.device = device;
  plan->out.uncompared_shapes += measured->uncompared_shapes;
  if (ws__measuring_is_too_slow(device, measured)) {
    ws_log(WS_LOG_WARN, "%s is not timed further: %s", plan->candidate->id.hex,
           measured->reason);
    return false;
  }
  if (measured->verdict != WS_VERDICT_OK) {
    fail(plan, measured->verdict, measured->reason);
    plan->out.findings = measured->findings;
    plan->out.finding_count = measured->finding_count;
  } else if (plan->shapes[step] >= 0) {
    ws_measured *copy = ws_arena_alloc(plan->arena, sizeof *copy);
    *copy = *measured;
    keep_time(&plan->out, plan->shapes[step], copy);
  }
  if (step == plan->race_last && plan->out.verdict == WS_VERDICT_OK)
    race(plan);
  return plan->out.verdict == WS_VERDICT_OK && step + 1 < plan->count;
}
