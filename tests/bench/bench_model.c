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
#include "sweep_data.h"
#include "wavesmith/bound_model.h"

typedef struct bench {
  sweep data;
  predictions estimated;
  int refused[WS_VERDICT_COUNT]; /* the first of each verdict is printed */
  double estimate_ms;            /* for all estimates */
  int estimates;
} bench;

static ws_diag diag;

static void must(ws_status status) {
  if (status == WS_OK)
    return;
  fprintf(stderr, "bench_model: %s\n", diag.text);
  exit(ws_status_exit_code(status));
}

/* ---- our kernels with its parameters ----------------------------------------
 */

/* The sweep gives threads only; squarish arrangements of its waves. */
static void arrange_waves(int waves, int *out_m, int *out_n) {
  *out_n = waves >= 4 ? 2 : 1;
  *out_m = waves / *out_n;
}

static void estimate_config(ws_compiler *compiler, const ws_template *tmpl,
                            const char *text, size_t size, bench *b,
                            int index) {
  const config *c = &b->data.configs[index];
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
  if (result.verdict != WS_VERDICT_OK && b->refused[result.verdict]++ == 0)
    printf("%s: %s: %s\n", request.assignments, ws_verdict_text(result.verdict),
           result.reason);
  double begin = ws_clock_ms();
  for (int i = 0; result.verdict == WS_VERDICT_OK && i < b->data.shape_count;
       i++) {
    ws_estimate estimate;
    must(ws_model_estimate(&ws_mi300x, ws_problem_find("fp8_gemm_blockscale"),
                           candidate, &result, &b->data.shapes[i], &estimate,
                           &diag));
    b->estimated[index][i] = estimate.us;
    b->estimates++;
  }
  b->estimate_ms += ws_clock_ms() - begin;
  ws_arena_destroy(arena);
}

static void estimate_all(bench *b) {
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
  for (int i = 0; i < b->data.config_count; i++)
    estimate_config(compiler, tmpl, text, size, b, i);
  ws_compiler_stop(compiler);
  ws_arena_destroy(arena);
}

static void print_costs(const bench *b) {
  printf("%d configurations;", b->data.config_count);
  for (int v = 0; v < WS_VERDICT_COUNT; v++)
    if (b->refused[v])
      printf(" %d %s;", b->refused[v], ws_verdict_text((ws_verdict)v));
  printf(" the rest ok\n%.1f us per estimate\n",
         1e3 * b->estimate_ms / fmax(1, b->estimates));
}

int main(void) {
  static bench b;
  if (!sweep_read(&b.data))
    return 0;
  estimate_all(&b);
  print_costs(&b);
  sweep_print(&b.data, "bound model", b.estimated);
  return 0;
}
