/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `local` is worth its name: against the fake compile server it ends better
 * than `random` does on every seed.
 */
#include "search_bench.h"

#include <math.h>

static double best_geomean(bench *b, const char *strategy, uint64_t seed) {
  b->options.strategy = strategy;
  b->options.seed = seed;
  remove_archive(b);
  return tune(b).best_geomean_us;
}

WS_TEST(local_beats_random) {
  bench b = make_bench(LANDSCAPE);
  b.options.evaluations = 300;
  double log_ratio = 0;
  enum { SEEDS = 6 };
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    double local = best_geomean(&b, "local", seed);
    double random = best_geomean(&b, "random", seed);
    fprintf(stderr, "# seed %d: local %.2f us, random %.2f us\n", (int)seed,
            local, random);
    WS_CHECK(local < random);
    log_ratio += log(local / random) / SEEDS;
  }
  WS_CHECK(exp(log_ratio) < 0.8);
  free_bench(&b);
}
