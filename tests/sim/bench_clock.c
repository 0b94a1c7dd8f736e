/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Speed of the cycle model: fp8_gemm_mfma with its default parameters on the
 * contest's shapes, inputs in HBM. Prints simulated time and seconds of this
 * host's processor per shape and the mean; the aim is 0.5 s a launch.
 */
#include "../gemm_shape.h"
#include "gemm_kernel.h"

static const char *const usual =
    "layout=1;tile_m=128;tile_n=128;tile_k=64;mfma=32;prefetch=1;waves_m=2;"
    "waves_n=2;lds_pad=8;lds_read=8;lds_buffers=1;split_k=1";

int main(void) {
  gemm b = {.layout = 1};
  ws_arena *arena = ws_arena_create();
  gemm_open(&b, arena);
  const gemm_kernel kernel = gemm_build(&b, arena, usual);
  if (!kernel.module) {
    fprintf(stderr, "%s\n", kernel.result.reason);
    return 1;
  }
  const ws_shape_set *set = ws_problem_shape_set(b.problem, "contest");
  for (int i = 0; i < set->count; i++) {
    const double before = b.seconds;
    const double us = gemm_time(&b, &kernel, &set->shapes[i], WS_SIM_COLD);
    printf("m=%-5lld n=%-5lld k=%-5lld %8.2f us in %.3f s\n",
           (long long)set->shapes[i].size[DIM_M],
           (long long)set->shapes[i].size[DIM_N],
           (long long)set->shapes[i].size[DIM_K], us, b.seconds - before);
  }
  printf("mean %.3f s a launch\n", b.seconds / b.timings);
  gemm_close(&b);
  ws_arena_destroy(arena);
  return 0;
}
