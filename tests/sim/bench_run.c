/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Speed of functional runs: wave instructions per second on the shipped GEMM,
 * checked and not, on one and two threads; and a whole 1024 x 1536 x 7168,
 * compared with the reference on every 64th row.
 */
#include "../gemm_shape.h"
#include "shipped.h"

#include <time.h>

/* Of all threads: what a loaded machine disturbs less. */
static double cpu_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double run_once(const ws_shape *shape, int threads, bool unchecked,
                       bool compare) {
  ws_arena *arena = ws_arena_create();
  size_t size;
  const char *assignments = shipped_candidates[0];
  const void *image = shipped_build(arena, assignments, &size);
  shipped self;
  shipped_open(&self, assignments, image, size,
               &(ws_sim_options){.threads = threads, .unchecked = unchecked});
  shipped_inputs(&self, shape);
  const double begin = cpu_seconds();
  if (!shipped_run(&self))
    shipped_show(&self);
  WS_CHECK_INT(self.report.finding_count, 0);
  const double rate = (double)self.instructions / self.seconds;
  const double busy = cpu_seconds() - begin;
  printf("# %lldx%lldx%lld, %d threads, %s: %.2f s, %.1f M wave "
         "instructions/s; %.1f M per CPU second\n",
         (long long)shape->size[DIM_M], (long long)shape->size[DIM_N],
         (long long)shape->size[DIM_K], threads,
         unchecked ? "unchecked" : "checked", self.seconds, rate / 1e6,
         (double)self.instructions / busy / 1e6);
  for (int64_t row = 0; compare && row < shape->size[DIM_M]; row += 64)
    WS_CHECK_INT(shipped_compare(&self, row, row + 1).wrong, 0);
  shipped_close(&self);
  ws_arena_destroy(arena);
  return rate;
}

WS_TEST(instructions_per_second) {
  const ws_shape shape = gemm_shape(1024, 1024, 16384);
  for (int unchecked = 0; unchecked < 2; unchecked++) {
    const double one = run_once(&shape, 1, unchecked, false);
    const double two = run_once(&shape, 2, unchecked, false);
    printf("# two threads: %.2f times one\n", two / one);
  }
}

WS_TEST(whole_gemm) {
  const ws_shape shape = gemm_shape(1024, 1536, 7168);
  alarm(200);
  run_once(&shape, 2, false, true);
}
