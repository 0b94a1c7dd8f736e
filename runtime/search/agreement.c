/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Agreement of estimates with device times. What counts for tuning is the order
 * within one shape, so correlations are of ranks and by shape; a correlation
 * over all pairs would be high only because shapes differ.
 */
#include "agreement.h"
#include "wavesmith/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pairs of one shape. */
typedef struct pairs {
  double *estimate_us, *device_us;
  int count;
} pairs;

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_of(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  return count % 2 ? values[count / 2]
                   : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* ---- one shape ---- */

/* Time of the best by estimate / best time. */
static double regret(const pairs *p) {
  int picked = 0;
  double best = INFINITY;
  for (int i = 0; i < p->count; i++) {
    if (p->estimate_us[i] < p->estimate_us[picked])
      picked = i;
    best = fmin(best, p->device_us[i]);
  }
  return p->device_us[picked] / best;
}

/* ---- collecting ---- */

static double time_on(const ws_measurement *items, int count,
                      const ws_shape *shape, const char *provenance) {
  for (int i = 0; i < count; i++)
    if (!memcmp(&items[i].shape, shape, sizeof *shape) &&
        !strcmp(items[i].provenance, provenance))
      return items[i].us;
  return INFINITY;
}

static ws_status collect(ws_archive *archive, ws_arena *arena,
                         const ws__task *task, const char *provenance,
                         const ws_candidate_summary *items, int count,
                         pairs *out, ws_diag *diag) {
  for (int s = 0; s < task->shape_count; s++) {
    size_t bytes = sizeof(double) * (size_t)count;
    out[s] =
        (pairs){ws_arena_alloc(arena, bytes), ws_arena_alloc(arena, bytes), 0};
  }
  for (int i = 0; i < count; i++) {
    ws_measurement *found;
    int found_count;
    if (!items[i].measured_shapes)
      continue;
    WS_TRY(ws_archive_get_measurements(archive, arena, items[i].row.id, &found,
                                       &found_count, diag));
    for (int s = 0; s < task->shape_count; s++) {
      double estimate_us =
          time_on(found, found_count, &task->shapes[s], WS_PROVENANCE_ESTIMATE);
      double device_us =
          time_on(found, found_count, &task->shapes[s], provenance);
      if (isinf(estimate_us) || isinf(device_us))
        continue;
      out[s].estimate_us[out[s].count] = estimate_us;
      out[s].device_us[out[s].count++] = device_us;
    }
  }
  return WS_OK;
}

static void summarise(const pairs *by_shape, int shape_count, ws_arena *arena,
                      ws_tune_agreement *out) {
  double *correlations =
      ws_arena_alloc(arena, sizeof(double) * (size_t)shape_count);
  for (int s = 0; s < shape_count; s++)
    out->pairs += by_shape[s].count;
  double *ratios = ws_arena_alloc(arena, sizeof(double) * (size_t)out->pairs);
  int64_t ratio_count = 0;
  out->worst_spearman = 1;
  for (int s = 0; s < shape_count; s++) {
    const pairs *p = &by_shape[s];
    for (int i = 0; i < p->count; i++)
      ratios[ratio_count++] = p->device_us[i] / p->estimate_us[i];
    if (p->count < WS_AGREEMENT_LEAST)
      continue;
    double lost = regret(p),
           correlation = ws_spearman(p->estimate_us, p->device_us, p->count);
    correlations[out->shapes++] = correlation;
    out->worst_spearman = fmin(out->worst_spearman, correlation);
    out->worst_regret = fmax(out->worst_regret, lost);
    out->same_best += lost <= 1;
  }
  if (out->pairs)
    out->median_ratio = median_of(ratios, (int)out->pairs);
  if (out->shapes)
    out->median_spearman = median_of(correlations, out->shapes);
}

ws_status ws__agreement(ws_archive *archive, ws_arena *arena,
                        const ws__task *task, const char *provenance,
                        ws_tune_agreement *out, ws_diag *diag) {
  const ws_archive_filter filter = {.problem = task->problem->name,
                                    .layout = task->layout,
                                    .target = task->source.tmpl->target,
                                    .verdict = ws_verdict_text(WS_VERDICT_OK),
                                    .provenance = provenance};
  ws_candidate_summary *items;
  int count;
  *out = (ws_tune_agreement){0};
  WS_TRY(ws_archive_list(archive, arena, &filter, &items, &count, diag));
  pairs *by_shape =
      ws_arena_alloc(arena, sizeof *by_shape * (size_t)task->shape_count);
  WS_TRY(
      collect(archive, arena, task, provenance, items, count, by_shape, diag));
  summarise(by_shape, task->shape_count, arena, out);
  return WS_OK;
}
