/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How well the cycle model ranks: fp8_gemm_mfma is built with the parameters of
 * a public sweep on an MI300X (150 configurations with the transpose fused, 12
 * shapes), timed in the simulator with warm inputs, as the sweep repeats on the
 * same data, and held against the sweep's times; the bound model too. The
 * kernels are similar to the sweep's, not the same.
 *
 * The sweep is of single shots, and an idle card takes 0.3 s to get from 739 to
 * 2092 MHz (BEN), so the engine's clock then is not known. The cycle model is
 * shown at its own clock and at UNRAMPED_MHZ, which is the one number here that
 * was chosen by looking at the sweep: with it the median of measured/predicted
 * is about 1.
 *
 * Environment: see gemm_kernel.h; WS_SWEEP_ROWS=1 prints every point,
 * WS_SWEEP_STEP=n takes every n-th configuration. Skipped without the data.
 */
#include "../gemm_shape.h"
#include "gemm_kernel.h"
#include "sweep_data.h"

enum { UNRAMPED_MHZ = 1300 };

typedef struct bench {
  sweep data;
  predictions simulated, unramped, estimated;
  const char *bounds[MAX_CONFIGS][MAX_SHAPES]; /* engine not ramped up */
  gemm gemm;
  gemm_kernel kernels[MAX_CONFIGS];
} bench;

/* The sweep gives threads only: squarish arrangements of its waves. Its LDS
 * rows are padded by a few bytes; it walks tiles row by row. */
static const char *assignments_of(ws_arena *arena, const config *c) {
  const int waves = c->threads / 64, waves_n = waves >= 4 ? 2 : 1;
  return ws_arena_printf(
      arena,
      "layout=1;tile_m=%d;tile_n=%d;tile_k=%d;mfma=%d;prefetch=%d;waves_m=%d;"
      "waves_n=%d;lds_pad=8;lds_layout=0;lds_read=8;lds_buffers=1;split_k=1;"
      "order=0;group_m=1",
      c->bm, c->bn, c->bk, c->mfma, c->pipeline, waves / waves_n, waves_n);
}

static double time_at(bench *b, const gemm_kernel *kernel,
                      const ws_shape *shape, int64_t mhz) {
  const ws__clock_constants own = b->gemm.constants;
  b->gemm.constants.clock_mhz = mhz;
  const double us = gemm_time(&b->gemm, kernel, shape, WS_SIM_WARM);
  b->gemm.constants = own;
  return us;
}

static void print_row(const bench *b, int row, int column) {
  const config *c = &b->data.configs[row];
  const ws_shape *shape = &b->data.shapes[column];
  printf("row %d %d %d %d %d %d %d %lld %lld %lld %.3f %.3f %.3f %.3f %s\n",
         row, c->bm, c->bn, c->bk, c->mfma, c->pipeline, c->threads,
         (long long)shape->size[DIM_M], (long long)shape->size[DIM_N],
         (long long)shape->size[DIM_K], b->data.measured[row][column],
         b->simulated[row][column], b->unramped[row][column],
         b->estimated[row][column], b->bounds[row][column]);
}

static void run_point(bench *b, int row, int column) {
  const gemm_kernel *kernel = &b->kernels[row];
  const ws_shape *shape = &b->data.shapes[column];
  ws_estimate estimate;
  b->simulated[row][column] =
      time_at(b, kernel, shape, b->gemm.constants.clock_mhz);
  b->unramped[row][column] = time_at(b, kernel, shape, UNRAMPED_MHZ);
  b->bounds[row][column] = b->gemm.bound;
  must(ws_model_estimate(&ws_mi300x, b->gemm.problem, kernel->candidate,
                         &kernel->result, shape, &estimate, &diag));
  b->estimated[row][column] = estimate.us;
  if (getenv("WS_SWEEP_ROWS"))
    print_row(b, row, column);
}

static void run_sweep(bench *b, ws_arena *arena, int step) {
  int refused = 0;
  for (int i = 0; i < b->data.config_count; i += step) {
    b->kernels[i] =
        gemm_build(&b->gemm, arena, assignments_of(arena, &b->data.configs[i]));
    refused += b->kernels[i].module == NULL;
  }
  for (int shape = 0; shape < b->data.shape_count; shape++)
    for (int i = 0; i < b->data.config_count; i += step)
      if (b->kernels[i].module)
        run_point(b, i, shape);
  printf(
      "%d configurations, %d refused by the compiler; %.3f CPU s per timing\n",
      b->data.config_count, refused,
      b->gemm.seconds / fmax(1, b->gemm.timings));
}

int main(void) {
  static bench b;
  const char *text = getenv("WS_SWEEP_STEP");
  if (!sweep_read(&b.data))
    return 0;
  ws_arena *arena = ws_arena_create();
  b.gemm.layout = 1;
  gemm_open(&b.gemm, arena);
  run_sweep(&b, arena, text ? (int)strtol(text, NULL, 10) : 1);
  sweep_print(&b.data, "bound model", b.estimated);
  sweep_print(&b.data, "cycle model", b.simulated);
  sweep_print(&b.data, "cycle model, engine not ramped up", b.unramped);
  gemm_close(&b.gemm);
  ws_arena_destroy(arena);
  return 0;
}
