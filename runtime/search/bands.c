/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Hundreds of rows say little to a reader; what a band of the first size has in
 * common (memory or arithmetic, waves of workgroups) says more.
 */
#include "bands.h"
#include "ground.h"
#include "leave_out.h"
#include "shipped.h"

#include <math.h>
#include <string.h>

/* Sums of logarithms. */
typedef struct sums {
  double best, baseline, left_out;
  int baselines;
} sums;

static void add_row(const ws_tune_row *row, const char *provenance,
                    double left_out_ratio, sums *sum, ws_tune_band *band) {
  band->shapes++;
  if (!(row->best_us > 0) || strcmp(row->provenance, provenance))
    return;
  band->timed++;
  sum->best += log(row->best_us);
  if (row->baseline_us > 0) {
    sum->baseline += log(row->baseline_us);
    sum->baselines++;
  }
  if (left_out_ratio > 0) {
    band->left_out++;
    sum->left_out += log(left_out_ratio);
    band->left_out_worst = fmax(band->left_out_worst, left_out_ratio);
  }
}

static void close_band(const sums *sum, ws_tune_band *band) {
  if (band->timed)
    band->best_us = exp(sum->best / band->timed);
  if (sum->baselines)
    band->baseline_us = exp(sum->baseline / sum->baselines);
  if (band->left_out)
    band->left_out_geomean = exp(sum->left_out / band->left_out);
}

/* By row: time of what is picked there when it is left out / the best; 0: it
 * was not timed. */
static void find_ratios(ws_archive *archive, ws_arena *arena,
                        const ws__task *task, double *out) {
  ws_dispatch_entry *entries;
  ws_matrix matrix;
  ws__shipped_times(archive, arena, task, &entries, &matrix);
  if (!matrix.provenance)
    return;
  matrix.shape_count = task->shape_count; /* not those beside it */
  const int *picks = ws__leave_out_picks(arena, task, entries, &matrix);
  for (int s = 0; s < task->shape_count; s++) {
    const double *us = &matrix.us[(size_t)s * (size_t)matrix.candidate_count];
    double best = INFINITY;
    for (int c = 0; c < matrix.candidate_count; c++)
      best = fmin(best, us[c]);
    out[s] = picks[s] >= 0 && isfinite(us[picks[s]]) ? us[picks[s]] / best : 0;
  }
}

static void set_limits(ws_tune_band *bands) {
  int64_t last = 16;
  for (int b = 0; b < WS_TUNE_BANDS_MOST; b++) {
    bands[b].first = b ? bands[b - 1].last + 1 : 1;
    bands[b].last = last;
    last = last > INT64_MAX / 4 ? INT64_MAX : 4 * last;
  }
}

void ws__bands_fill(ws_archive *archive, ws_arena *arena, const ws__task *task,
                    ws_tune_result *out) {
  sums sum[WS_TUNE_BANDS_MOST] = {0}, all = {0};
  if (task->shape_count <= WS__ALL_SHAPES || !out->geomean_shapes)
    return;
  const char *provenance = out->geomean_provenance;
  double *ratios =
      ws_arena_alloc(arena, sizeof *ratios * (size_t)task->shape_count);
  ws_tune_band *bands =
      ws_arena_alloc(arena, sizeof *bands * WS_TUNE_BANDS_MOST);
  find_ratios(archive, arena, task, ratios);
  set_limits(bands);
  for (int s = 0; s < out->row_count; s++) {
    const int b = ws__ground_band(&task->shapes[s]);
    add_row(&out->rows[s], provenance, ratios[s], &sum[b], &bands[b]);
    add_row(&out->rows[s], provenance, ratios[s], &all, &out->all_bands);
  }
  close_band(&all, &out->all_bands);
  for (int b = 0; b < WS_TUNE_BANDS_MOST; b++) {
    close_band(&sum[b], &bands[b]);
    if (bands[b].shapes)
      bands[out->band_count++] = bands[b];
  }
  out->bands = bands;
}
