/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How long does a launch sequence take? Device events before and after it, one
 * protocol for all devices; a card needs all of it, a simulator one sample,
 * because its clock is a function of the launch alone: a second sample would
 * be the same number, and its caches are cold whenever it is asked.
 *
 * Output and workspace are poisoned before every launch sequence, as they are
 * for a verification: a kernel finds nothing of an earlier one in them, and
 * nothing by which to tell the two apart. A time below the roofline is `wrong`,
 * not a record.
 *
 * On a card: inputs are rotated through enough copies to leave the last-level
 * cache, and the cache is overwritten between samples; the sequence is repeated
 * until the clock has settled; samples are taken until the 95 % bootstrap
 * interval of their median is narrow enough. Then some rows of what the last of
 * them wrote are compared with the reference.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SETS = 16, RESAMPLES = 200, CHECKED_ROWS = 4, LOOK_EVERY = 10 };

typedef struct timer {
  ws_device *device;
  ws_arena *arena;
  const ws_measure_settings *settings;
  ws_inputs *inputs; /* NULL: none are kept */
  ws__bench sets[MAX_SETS];
  int set_count;
  void *flush; /* as large as the cache; NULL: nothing to flush */
  size_t flush_bytes;
  ws_device_event *begin, *end;
  double *samples;
  int count;
} timer;

/* ---- statistics ---- */

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_of(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  return count % 2 ? values[count / 2]
                   : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Median and its 95 % bootstrap interval; deterministic. */
static void summarise(const timer *t, ws_measured *out) {
  double medians[RESAMPLES];
  size_t bytes = sizeof(double) * (size_t)t->count;
  double *drawn = ws_arena_alloc(t->arena, bytes);
  ws_rng rng;
  ws_rng_init(&rng, 1);
  for (int r = 0; r < RESAMPLES; r++) {
    for (int i = 0; i < t->count; i++)
      drawn[i] = t->samples[ws_rng_below(&rng, (uint64_t)t->count)];
    medians[r] = median_of(drawn, t->count);
  }
  qsort(medians, RESAMPLES, sizeof *medians, compare_doubles);
  memcpy(drawn, t->samples, bytes);
  out->us = median_of(drawn, t->count);
  out->low_us = medians[RESAMPLES / 40];
  out->high_us = medians[RESAMPLES - 1 - RESAMPLES / 40];
  out->samples = t->samples;
  out->sample_count = t->count;
}

/* ---- samples ---- */

static ws_status sample(timer *t, double *out_us, ws_diag *diag) {
  ws__bench *set = &t->sets[t->count % t->set_count];
  WS_TRY(ws__bench_poison(set, diag));
  if (t->flush)
    WS_TRY(ws_device_fill(t->device, t->flush, t->count, t->flush_bytes, diag));
  WS_TRY(ws_device_event_record(t->device, t->begin, diag));
  WS_TRY(ws__bench_start(set, diag));
  WS_TRY(ws_device_event_record(t->device, t->end, diag));
  return ws_device_event_elapsed(t->device, t->begin, t->end, out_us, diag);
}

static ws_status warm_up(timer *t, ws_diag *diag) {
  double us, end_ms = ws_clock_ms() + t->settings->warm_up_ms;
  do
    WS_TRY(sample(t, &us, diag));
  while (ws_clock_ms() < end_ms);
  return WS_OK;
}

static ws_status take_samples(timer *t, ws_measured *out, ws_diag *diag) {
  bool simulated = ws_device_info_of(t->device)->simulated;
  int most = simulated ? 1 : t->settings->max_samples;
  t->samples = ws_arena_alloc(t->arena, sizeof(double) * (size_t)most);
  if (!simulated)
    WS_TRY(warm_up(t, diag));
  while (t->count < most) {
    WS_TRY(sample(t, &t->samples[t->count], diag));
    t->count++;
    if (t->count < t->settings->min_samples || t->count % LOOK_EVERY)
      continue;
    summarise(t, out);
    if (out->high_us - out->low_us <= t->settings->target_width * out->us)
      return WS_OK;
  }
  summarise(t, out);
  return WS_OK;
}

/* ---- what was timed must be right ---- */

static ws_status check_rows(timer *t, ws_measured *out, ws_diag *diag) {
  ws__bench *set = &t->sets[0];
  int64_t m = set->workload->shape.m;
  WS_TRY(ws__bench_fetch(set, diag));
  for (int i = 0; i < CHECKED_ROWS && out->verdict == WS_VERDICT_OK; i++) {
    int64_t row = i * (m - 1) / (CHECKED_ROWS - 1);
    ws__bench_compare(set, row, row + 1, out);
  }
  return WS_OK;
}

static ws_status judge(timer *t, ws_measured *out, ws_diag *diag) {
  double roofline_us = t->settings->roofline_us;
  const ws_shape *shape = &t->sets[0].workload->shape;
  if (out->us < roofline_us)
    ws__measured_fail(out, t->arena, WS_VERDICT_WRONG, shape,
                      "%.3f us is faster than the device can be (%.3f us)",
                      out->us, roofline_us);
  if (ws_device_info_of(t->device)->simulated || !t->sets[0].problem)
    return WS_OK; /* there is no result to compare */
  return check_rows(t, out, diag);
}

/* ---- setting up ---- */

static ws_status open_sets(timer *t, ws_device_module *module,
                           const ws_workload *workload, ws_diag *diag) {
  const ws_device_info *info = ws_device_info_of(t->device);
  ws_status status = ws__bench_open(&t->sets[0], t->device, t->arena, module,
                                    workload, t->inputs, diag);
  t->set_count = 1;
  if (status != WS_OK || info->simulated)
    return status;
  double bytes = (double)ws__bench_bytes(&t->sets[0]) + 1;
  double wanted = ceil(2 * (double)info->cache_bytes / bytes);
  double room = floor((double)info->memory_bytes / 4 / bytes);
  int count = (int)fmin(fmin(wanted, room), MAX_SETS);
  while (t->set_count < count) {
    WS_TRY(ws__bench_copy(&t->sets[t->set_count], &t->sets[0], diag));
    t->set_count++;
  }
  t->flush_bytes = (size_t)info->cache_bytes;
  return ws_device_allocate(t->device, t->flush_bytes, &t->flush, diag);
}

static ws_status open_timer(timer *t, ws_device_module *module,
                            const ws_workload *workload, ws_diag *diag) {
  WS_TRY(open_sets(t, module, workload, diag));
  WS_TRY(ws_device_event_create(t->device, &t->begin, diag));
  return ws_device_event_create(t->device, &t->end, diag);
}

static void close_timer(timer *t) {
  for (int i = 0; i < t->set_count; i++)
    ws__bench_close(&t->sets[i]);
  ws_device_free(t->device, t->flush);
  ws_device_event_destroy(t->device, t->begin);
  ws_device_event_destroy(t->device, t->end);
}

static ws_status time_module(timer *t, ws_device_module *module,
                             const ws_workload *workload, ws_measured *out,
                             ws_diag *diag) {
  ws_status status = open_timer(t, module, workload, diag);
  if (status == WS_OK)
    status = take_samples(t, out, diag);
  ws__measured_add_report(out, t->device, t->arena, &workload->shape);
  if (status == WS_OK && out->verdict == WS_VERDICT_OK)
    status = judge(t, out, diag);
  close_timer(t);
  return status;
}

ws_status ws_time(ws_device *device, ws_arena *arena,
                  const ws_contestant *candidate, const ws_contestant *rival,
                  const ws_measure_settings *settings, ws_inputs *inputs,
                  ws_measured *out_measured, ws_diag *diag) {
  double begin_ms = ws_clock_ms();
  timer t = {
      .device = device, .arena = arena, .settings = settings, .inputs = inputs};
  ws_device_module *module;
  const ws_workload *workload = candidate->workload;
  (void)rival;
  *out_measured = ws__measured_ok(device);
  ws_status status = ws_device_load(device, candidate->code_object,
                                    candidate->size, &module, diag);
  if (status == WS_OK)
    status = time_module(&t, module, workload, out_measured, diag);
  ws_device_unload(device, module);
  if (status == WS_INPUT) {
    if (out_measured->verdict == WS_VERDICT_OK)
      ws__measured_fail(out_measured, arena, WS_VERDICT_CRASH, &workload->shape,
                        "%s", diag->text);
    status = WS_OK;
  }
  if (out_measured->verdict != WS_VERDICT_OK)
    out_measured->us = 0;
  out_measured->shape = workload->shape;
  out_measured->host_ms = ws_clock_ms() - begin_ms;
  return status;
}
