/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The public sweep of fp8 GEMM kernels on an MI300X (another kernel family than
 * ours), and how well predictions agree with it (wavesmith/comparison.h).
 */
#ifndef WS_TEST_SWEEP_DATA_H
#define WS_TEST_SWEEP_DATA_H

#include "../gemm_shape.h"
#include "wavesmith/comparison.h"
#include "wavesmith/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONFIGS = 512, MAX_SHAPES = 32, COLUMNS = 14 };

typedef struct config {
  int bm, bn, bk, mfma, pipeline, threads;
} config;

typedef struct sweep {
  config configs[MAX_CONFIGS];
  ws_shape shapes[MAX_SHAPES];
  double measured[MAX_CONFIGS][MAX_SHAPES]; /* us; 0: not there */
  int config_count, shape_count;
} sweep;

typedef double predictions[MAX_CONFIGS][MAX_SHAPES]; /* us; 0: none */

/* ---- reading --------------------------------------------------------------
 */

static int sweep_config(sweep *s, config wanted) {
  for (int i = 0; i < s->config_count; i++)
    if (!memcmp(&s->configs[i], &wanted, sizeof wanted))
      return i;
  WS_ASSERT(s->config_count < MAX_CONFIGS);
  s->configs[s->config_count] = wanted;
  return s->config_count++;
}

static int sweep_shape(sweep *s, ws_shape wanted) {
  for (int i = 0; i < s->shape_count; i++)
    if (ws_shape_same(&s->shapes[i], &wanted))
      return i;
  WS_ASSERT(s->shape_count < MAX_SHAPES);
  s->shapes[s->shape_count] = wanted;
  return s->shape_count++;
}

/* m,n,k,bm,bn,bk,wm,wn,wk,pipeline,fused_transpose,block_size,total,mma. Left
 * out are rows whose transpose is a kernel of its own, and those with fewer
 * threads than rows of the tile, which computed from wrong scales. */
static void sweep_add_line(sweep *s, const char *line) {
  double v[COLUMNS];
  for (int i = 0; i < COLUMNS; i++) {
    char *end;
    v[i] = strtod(line, &end);
    if (end == line)
      return; /* the header */
    line = end + (*end == ',');
  }
  if (v[10] != 1 || v[11] < v[3])
    return;
  const int row = sweep_config(s, (config){(int)v[3], (int)v[4], (int)v[5],
                                           (int)v[6], (int)v[9], (int)v[11]});
  const int column =
      sweep_shape(s, gemm_shape((int64_t)v[0], (int64_t)v[1], (int64_t)v[2]));
  s->measured[row][column] = v[12];
}

static bool sweep_read(sweep *s) {
  const char *shared = getenv("WS_SHARED_DIR");
  char path[4096], line[512];
  snprintf(path, sizeof path, "%s/data/mi300x_fp8_gemm_sweep.csv",
           shared ? shared : ".");
  FILE *file = fopen(path, "r");
  if (!file) {
    printf("skipped: no %s\n", path);
    return false;
  }
  while (fgets(line, sizeof line, file))
    sweep_add_line(s, line);
  fclose(file);
  return true;
}

/* ---- agreement ------------------------------------------------------------
 */

static void sweep_print(const sweep *s, const char *name,
                        const predictions predicted) {
  ws_arena *arena = ws_arena_create();
  ws_compared_row *rows = ws_arena_alloc(
      arena, sizeof *rows * (size_t)(s->config_count * s->shape_count));
  ws_compared all;
  int count = 0;
  for (int i = 0; i < s->shape_count; i++) {
    char *shape = ws_arena_alloc(arena, WS_SHAPE_TEXT);
    ws_shape_print(&s->shapes[i], shape);
    for (int c = 0; c < s->config_count; c++)
      if (predicted[c][i] > 0 && s->measured[c][i] > 0)
        rows[count++] = (ws_compared_row){.group = shape,
                                          .class_ = "",
                                          .measured_us = s->measured[c][i],
                                          .predicted_us = predicted[c][i]};
  }
  WS_ASSERT(count);
  ws_compare_times(arena, rows, count, NULL, 0, &all);
  for (int i = 0; i < all.group_count; i++)
    printf("%s %-15s %d kernels: rank correlation %.3f, regret %.3f, "
           "measured/predicted %.2f\n",
           name, all.groups[i].name, all.groups[i].count,
           all.groups[i].spearman, all.groups[i].regret, all.groups[i].ratio);
  printf("%s: median rank correlation %.3f; regret geomean %.3f, worst %.3f; "
         "measured/predicted %.2f; mean error beside that %.0f%%\n",
         name, all.median_spearman, all.geomean_regret, all.worst_regret,
         all.ratio, 100 * all.error_beside_scale);
  ws_arena_destroy(arena);
}

#endif
