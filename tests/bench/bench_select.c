/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What an emitted selection costs: a dispatch of seven kernels and 24 rules,
 * compiled as a user would, over random legal shapes in random order. Prints
 * the average of the best of several passes and of the loop without the call;
 * the same of what the shipped archives emit (`wavesmith build`), over shapes of
 * any m; and of the runtime's choice (ws_rt_pick) where shapes repeat, as a ratio
 * to the selection of the same shapes.
 */
#include "../gemm_shape.h"
#include "synthetic.h"
#include "ws_test_directory.h"

enum { SHAPES = 4096, PASSES = 200 };

static double pass_ns(const ws_shape *shapes,
                      int (*select)(long long, long long, long long),
                      volatile long long *sink) {
  double begin = ws_clock_ms();
  long long sum = 0;
  for (int i = 0; i < SHAPES; i++)
    sum += select(shapes[i].size[DIM_M], shapes[i].size[DIM_N],
                  shapes[i].size[DIM_K]);
  *sink = sum;
  return (ws_clock_ms() - begin) * 1e6 / SHAPES;
}

static int nothing(long long m, long long n, long long k) {
  __asm__ volatile("" : : "r"(m), "r"(n), "r"(k));
  return 0;
}

static double best_ns(const ws_shape *shapes,
                      int (*select)(long long, long long, long long)) {
  volatile long long sink;
  double best = INFINITY;
  for (int i = 0; i < PASSES; i++)
    best = fmin(best, pass_ns(shapes, select, &sink));
  return best;
}

static void print_cpu(void) {
  char line[256];
  FILE *info = fopen("/proc/cpuinfo", "r");
  while (info && fgets(line, sizeof line, info))
    if (!strncmp(line, "model name", 10)) {
      printf("# machine: %s", strchr(line, ':') + 2);
      break;
    }
  if (info)
    fclose(info);
}

WS_TEST(selection_cost) {
  emitted e;
  ws_rng rng;
  static ws_shape shapes[SHAPES];
  prepare_and_load(&e, ws_test_directory(), "-O2");
  ws_rng_init(&rng, 1);
  for (int i = 0; i < SHAPES; i++)
    shapes[i] = synthetic_shape(&rng);
  print_cpu();
  printf("# %d kernels, %d rules: %.1f ns per selection (an empty call %.1f "
         "ns); the bar is 50\n",
         e.report.portfolio_count, e.report.leaf_count,
         best_ns(shapes, e.select), best_ns(shapes, nothing));
  ws_arena_destroy(e.arena);
}

/* ---- what is shipped ---- */

/* m from 1 to 2^14, as many of each octave; n and k as layers have them. */
static ws_shape random_shape(ws_rng *rng) {
  const int64_t most = (int64_t)1 << (1 + ws_rng_below(rng, 14));
  const int64_t m = 1 + (int64_t)ws_rng_below(rng, (uint64_t)most);
  const int64_t n = 16 * (8 + (int64_t)ws_rng_below(rng, 2300));
  return gemm_shape(m, n, 128 * (1 + (int64_t)ws_rng_below(rng, 180)));
}

static void shipped_cost(const char *archive) {
  ws_arena *arena = ws_arena_create();
  const char *name = "fp8_gemm_blockscale", *directory = ws_test_directory();
  static ws_shape shapes[SHAPES];
  int (*select)(long long, long long, long long);
  ws_rng rng;
  ws_rng_init(&rng, 1);
  for (int i = 0; i < SHAPES; i++)
    shapes[i] = random_shape(&rng);
  const char *command = ws_arena_printf(
      arena, "%s build %s/kernels/%s/tuned/%s --out %s >/dev/null", WS_PROGRAM,
      getenv("WS_SOURCE_DIR"), name, archive, directory);
  WS_CHECK_INT(system(command), 0);
  void *handle = synthetic_load(arena, directory, name, "-O2");
  *(void **)&select = synthetic_symbol(
      handle, ws_arena_printf(arena, "%s_select", name));
  for (int i = 0; i < SHAPES; i++)
    WS_CHECK(select(shapes[i].size[DIM_M], shapes[i].size[DIM_N],
                    shapes[i].size[DIM_K]) >= 0);
  printf("# %s: %.1f ns per selection; the bar is 100\n", archive,
         best_ns(shapes, select));
  ws_arena_destroy(arena);
}

WS_TEST(selection_cost_of_sm_90a_kmajor_ocp) {
  shipped_cost("sm_90a/kmajor-ocp");
}
WS_TEST(selection_cost_of_gfx942_kmajor) { shipped_cost("gfx942/kmajor"); }
WS_TEST(selection_cost_of_gfx942_mnmajor) { shipped_cost("gfx942/mnmajor"); }

/* ---- shapes that repeat ---- */
enum { REPEATED = 64 }; /* different ones */

static const ws_rt_context *context;
static int pick(long long m, long long n, long long k) {
  return ws_rt_pick(context, (const long long[]){m, n, k}) != NULL;
}

static const ws_rt_dispatch *table;
static int select_by_table(long long m, long long n, long long k) {
  return table->select((const long long[]){m, n, k});
}

WS_TEST(repeat_cost) {
  emitted e;
  ws_rng rng;
  static ws_shape shapes[SHAPES];
  char message[256];
  ws_rt_context *opened;
  prepare_and_load(&e, ws_test_directory(), "-O2");
  setenv("WAVESMITH_HIP_LIBRARY", WS_FAKE_HIP, 1);
  if (ws_rt_open(e.dispatch, 0, &opened, message, sizeof message))
    WS_FAIL("%s", message);
  context = opened;
  table = e.dispatch;
  ws_rng_init(&rng, 1);
  for (int i = 0; i < SHAPES; i++)
    shapes[i] = i < REPEATED ? synthetic_shape(&rng)
                             : shapes[ws_rng_below(&rng, REPEATED)];
  const double cached = best_ns(shapes, pick);
  const double selected = best_ns(shapes, select_by_table);
  printf("# %d shapes repeated: %.1f ns per ws_rt_pick, %.2f of a selection's "
         "%.1f ns; the bar is 20 ns\n",
         REPEATED, cached, cached / selected, selected);
  ws_rt_close(opened);
  ws_arena_destroy(e.arena);
}
