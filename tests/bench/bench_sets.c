/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Search over many shapes at equal numbers of times: each candidate timed on a
 * sample of the shapes, as `wavesmith tune` does on a large set, against each
 * on all of them. Judged by what a dispatch made from the times takes on the
 * (n,k) that were left out, and on those searched. `bench_sets [FIRST SEED
 * [SEEDS [TIMES]]]`
 */
#include "sets_world.h"

static double one_way(sets_world *w, uint64_t seed, bool sampled, int64_t times,
                      double *out_searched) {
  strategy_loop *loop = malloc(sizeof *loop);
  WS_ASSERT(loop);
  double begin = ws_clock_ms();
  sets_search(w, loop, seed, sampled, times);
  double ms = ws_clock_ms() - begin;
  int further = 0;
  for (int i = 0; i < loop->knowledge.count; i++)
    further += loop->knowledge.results[i].request.further > 0;
  double left_out =
      sets_dispatch_ln_us(w, &loop->knowledge, w->left_out, SETS_HALF);
  *out_searched =
      sets_dispatch_ln_us(w, &loop->knowledge, w->searched, SETS_HALF);
  printf("seed %llu %s: %4d requests, %3d further; us left out %.2f, "
         "searched %.2f; %.0f ms\n",
         (unsigned long long)seed, sampled ? "sample" : "all   ",
         loop->knowledge.count, further, exp(left_out), exp(*out_searched), ms);
  fflush(stdout);
  loop_deinit(loop);
  free(loop);
  return left_out;
}

int main(int argc, char **argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  int seeds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 3;
  int64_t times = argc > 3 ? strtoll(argv[3], NULL, 10) : 1000;
  sets_world w;
  double left_out = 0, searched = 0;
  sets_init(&w);
  for (int i = 0; i < seeds; i++) {
    double all_searched, sample_searched;
    left_out += one_way(&w, first + (uint64_t)i, false, times, &all_searched);
    left_out -= one_way(&w, first + (uint64_t)i, true, times, &sample_searched);
    searched += all_searched - sample_searched;
  }
  printf(
      "%lld times, %d seeds from %llu: samples gain %.3fx on (n,k) left out, "
      "%.3fx on those searched\n",
      (long long)times, seeds, (unsigned long long)first, exp(left_out / seeds),
      exp(searched / seeds));
  sets_deinit(&w);
  return 0;
}
