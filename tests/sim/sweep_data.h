/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The public sweep of fp8 GEMM kernels on an MI300X (another kernel family than
 * ours), and how well predictions agree with it: per shape Spearman's rank
 * correlation, the regret of the prediction's pick, the ratio of measured to
 * predicted time.
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

static int sweep_compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double sweep_median(const double *values, int count) {
  double sorted[MAX_CONFIGS];
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, sweep_compare);
  return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

typedef struct agreement {
  double correlation, regret, ratio;
  double error; /* median |predicted x ratio / measured - 1| */
  int count;
} agreement;

static agreement sweep_agreement(const sweep *s, const predictions predicted,
                                 int shape) {
  double p[MAX_CONFIGS], m[MAX_CONFIGS], ratios[MAX_CONFIGS];
  double best = INFINITY, least = INFINITY, picked = 0;
  int n = 0;
  for (int c = 0; c < s->config_count; c++) {
    if (predicted[c][shape] <= 0 || s->measured[c][shape] <= 0)
      continue;
    p[n] = predicted[c][shape], m[n] = s->measured[c][shape];
    ratios[n] = m[n] / p[n];
    best = fmin(best, m[n]);
    if (p[n] < least)
      least = p[n], picked = m[n];
    n++;
  }
  if (n < 3)
    return (agreement){NAN, NAN, NAN, NAN, n};
  const double ratio = sweep_median(ratios, n);
  for (int i = 0; i < n; i++)
    ratios[i] = fabs(ratio / ratios[i] - 1);
  return (agreement){ws_spearman(p, m, n), picked / best, ratio,
                     sweep_median(ratios, n), n};
}

static void sweep_print(const sweep *s, const char *name,
                        const predictions predicted) {
  double correlations[MAX_SHAPES], regrets[MAX_SHAPES], ratios[MAX_SHAPES],
      errors[MAX_SHAPES];
  double log_regret = 0, worst = 0;
  for (int i = 0; i < s->shape_count; i++) {
    const agreement a = sweep_agreement(s, predicted, i);
    printf("%s m=%-5lld n=%-5lld k=%-5lld %d kernels: rank correlation %.3f, "
           "regret %.3f, measured/predicted %.2f, error beside that %.0f%%\n",
           name, (long long)s->shapes[i].size[DIM_M],
           (long long)s->shapes[i].size[DIM_N],
           (long long)s->shapes[i].size[DIM_K], a.count, a.correlation,
           a.regret, a.ratio, 100 * a.error);
    correlations[i] = a.correlation, regrets[i] = a.regret, ratios[i] = a.ratio,
    errors[i] = a.error;
    log_regret += log(a.regret);
    worst = fmax(worst, a.regret);
  }
  const int n = s->shape_count;
  printf("%s: median rank correlation %.3f; regret median %.3f, geomean %.3f, "
         "worst %.3f; measured/predicted %.2f; error beside that %.0f%%\n",
         name, sweep_median(correlations, n), sweep_median(regrets, n),
         exp(log_regret / n), worst, sweep_median(ratios, n),
         100 * sweep_median(errors, n));
}

#endif
