/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How well the bound model ranks: kernels of fp8_gemm_mfma with the parameters
 * of a public sweep on an MI300X (another kernel family: 150 configurations
 * with the transpose fused, 12 shapes) are built and estimated, and the
 * estimates are held against the sweep's times. Prints per shape Spearman's
 * rank correlation, the regret of the model's pick and the ratio of measured
 * to estimated time, then the medians. Skipped where the data is absent
 * (WS_SHARED_DIR/data/mi300x_fp8_gemm_sweep.csv).
 */
#include "wavesmith/model.h"

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
  double measured[MAX_CONFIGS][MAX_SHAPES];
  double estimated[MAX_CONFIGS][MAX_SHAPES]; /* 0: not built */
  int config_count, shape_count;
  int refused[WS_VERDICT_COUNT]; /* the first of each verdict is printed */
  double estimate_ms;            /* for all estimates */
  int estimates;
} sweep;

static ws_diag diag;

static void must(ws_status status) {
  if (status == WS_OK)
    return;
  fprintf(stderr, "bench_model: %s\n", diag.text);
  exit(ws_status_exit_code(status));
}

/* ---- the sweep ----------------------------------------------------------- */

static int config_index(sweep *s, config wanted) {
  for (int i = 0; i < s->config_count; i++)
    if (!memcmp(&s->configs[i], &wanted, sizeof wanted))
      return i;
  WS_ASSERT(s->config_count < MAX_CONFIGS);
  s->configs[s->config_count] = wanted;
  return s->config_count++;
}

static int shape_index(sweep *s, ws_shape wanted) {
  for (int i = 0; i < s->shape_count; i++)
    if (!memcmp(&s->shapes[i], &wanted, sizeof wanted))
      return i;
  WS_ASSERT(s->shape_count < MAX_SHAPES);
  s->shapes[s->shape_count] = wanted;
  return s->shape_count++;
}

/* m,n,k,bm,bn,bk,wm,wn,wk,pipeline,fused_transpose,block_size,total,mma */
static void add_line(sweep *s, const char *line) {
  double v[COLUMNS];
  for (int i = 0; i < COLUMNS; i++) {
    char *end;
    v[i] = strtod(line, &end);
    if (end == line)
      return; /* the header */
    line = end + (*end == ',');
  }
  if (v[10] != 1) /* transposed by kernels of their own */
    return;
  const config c = {(int)v[3], (int)v[4], (int)v[5],
                    (int)v[6], (int)v[9], (int)v[11]};
  int row = config_index(s, c);
  int column =
      shape_index(s, (ws_shape){(int64_t)v[0], (int64_t)v[1], (int64_t)v[2]});
  s->measured[row][column] = v[12];
}

static bool read_sweep(sweep *s) {
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
    add_line(s, line);
  fclose(file);
  return true;
}

/* ---- our kernels with its parameters ----------------------------------------
 */

/* The sweep gives threads only; squarish arrangements of its waves. */
static void arrange_waves(int waves, int *out_m, int *out_n) {
  *out_n = waves >= 4 ? 2 : 1;
  *out_m = waves / *out_n;
}

static void estimate_config(ws_compiler *compiler, const ws_template *tmpl,
                            const char *text, size_t size, sweep *s,
                            int index) {
  const config *c = &s->configs[index];
  ws_arena *arena = ws_arena_create();
  ws_candidate *candidate = ws_candidate_create(arena, tmpl);
  int waves_m, waves_n;
  arrange_waves(c->threads / 64, &waves_m, &waves_n);
  /* its LDS rows are padded by a few bytes; it walks tiles row by row */
  must(ws_candidate_set(
      candidate,
      ws_arena_printf(arena,
                      "layout=1;tile_m=%d;tile_n=%d;tile_k=%d;mfma=%d;"
                      "prefetch=%d;waves_m=%d;waves_n=%d;lds_pad=8;"
                      "lds_layout=0;lds_read=8;lds_buffers=1;split_k=1;"
                      "order=0;group_m=1",
                      c->bm, c->bn, c->bk, c->mfma, c->pipeline, waves_m,
                      waves_n),
      &diag));
  ws_run runs[WS_STANDARD_RUNS];
  ws_standard_runs(candidate, runs);
  const ws_build_request request = {
      .template_file = tmpl->file,
      .template_text = text,
      .template_size = size,
      .target = "gfx942",
      .assignments = ws_candidate_values_text(arena, candidate),
      .variants = "",
      .runs = runs,
      .run_count = 2,
      .stages = WS_STAGE_CHECK | WS_STAGE_SANITIZE | WS_STAGE_LOWER,
      .limits = ws_limits_default};
  ws_build_result result;
  must(ws_compiler_build(compiler, arena, &request, &result, &diag));
  if (result.verdict != WS_VERDICT_OK && s->refused[result.verdict]++ == 0)
    printf("%s: %s: %s\n", request.assignments, ws_verdict_text(result.verdict),
           result.reason);
  double begin = ws_clock_ms();
  for (int i = 0; result.verdict == WS_VERDICT_OK && i < s->shape_count; i++) {
    ws_estimate estimate;
    must(ws_model_estimate(&ws_mi300x, ws_problem_find("fp8_gemm_blockscale"),
                           candidate, &result, &s->shapes[i], &estimate,
                           &diag));
    s->estimated[index][i] = estimate.us;
    s->estimates++;
  }
  s->estimate_ms += ws_clock_ms() - begin;
  ws_arena_destroy(arena);
}

static void estimate_all(sweep *s) {
  const char *source = getenv("WS_SOURCE_DIR");
  ws_arena *arena = ws_arena_create();
  const char *path = ws_arena_printf(arena, "%s/ir-templates/fp8_gemm_mfma.ll",
                                     source ? source : ".");
  ws_compiler *compiler;
  const ws_template *tmpl;
  char *text;
  size_t size;
  must(ws_file_read(arena, path, &text, &size, &diag));
  must(ws_compiler_start(&compiler, &diag));
  must(ws_compiler_describe(compiler, arena, path, text, size, &tmpl, &diag));
  for (int i = 0; i < s->config_count; i++)
    estimate_config(compiler, tmpl, text, size, s, i);
  ws_compiler_stop(compiler);
  ws_arena_destroy(arena);
}

/* ---- agreement
 * ----------------------------------------------------------------- */

static int compare_double(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(const double *values, int count) {
  double sorted[MAX_CONFIGS];
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, compare_double);
  return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* Rank with ties sharing their mean. */
static double rank_of(const double *values, int count, double value) {
  int below = 0, equal = 0;
  for (int i = 0; i < count; i++) {
    below += values[i] < value;
    equal += values[i] == value;
  }
  return below + (equal - 1) / 2.0;
}

static double spearman(const double *a, const double *b, int count) {
  const double mean = (count - 1) / 2.0;
  double ab = 0, aa = 0, bb = 0;
  for (int i = 0; i < count; i++) {
    double x = rank_of(a, count, a[i]) - mean;
    double y = rank_of(b, count, b[i]) - mean;
    ab += x * y, aa += x * x, bb += y * y;
  }
  return ab / sqrt(aa * bb);
}

typedef struct agreement {
  double correlation, regret, ratio;
  int count;
} agreement;

static agreement compare_shape(const sweep *s, int shape) {
  double estimated[MAX_CONFIGS], measured[MAX_CONFIGS], ratios[MAX_CONFIGS];
  double best = INFINITY, least_estimate = INFINITY, picked = 0;
  int count = 0;
  for (int c = 0; c < s->config_count; c++) {
    double e = s->estimated[c][shape], m = s->measured[c][shape];
    if (e <= 0 || m <= 0)
      continue;
    estimated[count] = e, measured[count] = m, ratios[count++] = m / e;
    best = fmin(best, m);
    if (e < least_estimate) {
      least_estimate = e;
      picked = m;
    }
  }
  if (count < 3)
    return (agreement){NAN, NAN, NAN, count};
  return (agreement){spearman(estimated, measured, count), picked / best,
                     median(ratios, count), count};
}

static void print_agreement(const sweep *s) {
  printf("%d configurations;", s->config_count);
  for (int v = 0; v < WS_VERDICT_COUNT; v++)
    if (s->refused[v])
      printf(" %d %s;", s->refused[v], ws_verdict_text((ws_verdict)v));
  printf(" the rest ok\n%.1f us per estimate\n",
         1e3 * s->estimate_ms / fmax(1, s->estimates));
  double correlations[MAX_SHAPES], regrets[MAX_SHAPES], ratios[MAX_SHAPES];
  double log_regret = 0, worst = 0;
  for (int i = 0; i < s->shape_count; i++) {
    const agreement a = compare_shape(s, i);
    printf("m=%-5lld n=%-5lld k=%-5lld %d kernels: rank correlation %.3f, "
           "regret %.3f, measured/estimated %.2f\n",
           (long long)s->shapes[i].m, (long long)s->shapes[i].n,
           (long long)s->shapes[i].k, a.count, a.correlation, a.regret,
           a.ratio);
    correlations[i] = a.correlation, regrets[i] = a.regret, ratios[i] = a.ratio;
    log_regret += log(a.regret);
    worst = fmax(worst, a.regret);
  }
  printf("median rank correlation %.3f; regret median %.3f, geomean %.3f, "
         "worst %.3f; measured/estimated %.2f\n",
         median(correlations, s->shape_count), median(regrets, s->shape_count),
         exp(log_regret / s->shape_count), worst,
         median(ratios, s->shape_count));
}

int main(void) {
  static sweep s;
  if (!read_sweep(&s))
    return 0;
  estimate_all(&s);
  print_agreement(&s);
  return 0;
}
