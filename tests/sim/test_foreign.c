/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernels that are not ours, in styles that our templates do not have, compiled
 * by clang through comgr (with and without optimisation, so with and without
 * scratch and calls), run on the simulator and compared with a reference
 * element by element.
 */
#include "../gemm_shape.h"
#include "foreign_compile.h"
#include "wavesmith/problem.h"
#include "wavesmith/sim.h"

#include <math.h>

typedef struct device {
  ws_arena *arena;
  ws_sim *sim;
  ws_sim_module *module;
} device;

static ws_diag diag;

static void must(ws_status status) {
  if (status != WS_OK)
    WS_FAIL("%s", diag.text);
}

static device open_device(const char *source, const char *optimisation) {
  device d = {.arena = ws_arena_create()};
  size_t size;
  void *image = foreign_compile(d.arena, source, optimisation, &size);
  must(ws_sim_create(&(ws_sim_options){0}, &d.sim, &diag));
  must(ws_sim_load(d.sim, image, size, &d.module, &diag));
  return d;
}

static void close_device(device *d) {
  ws_sim_destroy(d->sim);
  ws_arena_destroy(d->arena);
}

/* Arguments laid out as the metadata says, in order. Timed first; the profile
 * of that is returned. */
static ws_sim_profile run(device *d, const char *kernel, const uint32_t grid[3],
                          uint32_t threads, uint32_t dynamic_lds,
                          const uint64_t *values) {
  ws_sim_launch launch = {.kernel = ws_sim_kernel_find(d->module, kernel),
                          .grid = {grid[0], grid[1], grid[2]},
                          .block = {threads, 1, 1},
                          .dynamic_lds = dynamic_lds};
  WS_CHECK(launch.kernel);
  const ws_sim_kernel_info *info = ws_sim_kernel_info_of(launch.kernel);
  uint8_t kernarg[512] = {0};
  for (int i = 0; i < info->arg_count; i++) {
    const ws_sim_argument *argument = &info->args[i];
    if (!strncmp(argument->kind, "hidden_", 7))
      continue;
    memcpy(kernarg + argument->offset, &values[i], (size_t)argument->size);
    launch.kernarg_size = (size_t)(argument->offset + argument->size);
  }
  launch.kernarg = kernarg;
  ws_sim_report report;
  ws_sim_profile profile;
  must(ws_sim_time(d->sim, &launch, WS_SIM_WARM, d->arena, &profile, &diag));
  must(ws_sim_run(d->sim, &launch, d->arena, &report, &diag));
  for (int i = 0; i < report.finding_count; i++)
    printf("# %s: %s, pc 0x%llx %s\n", report.findings[i].id,
           report.findings[i].text, (unsigned long long)report.findings[i].pc,
           report.findings[i].instruction);
  WS_CHECK_INT(report.finding_count, 0);
  return profile;
}

/* ---- the GEMMs ----------------------------------------------------------- */

enum { MAX_SCALARS = 4 };

static const struct style {
  const char *source;
  int tile_m, tile_n, threads, parts;
  int workspace; /* floats of a tile or, persistent, of a workgroup */
  ws_shape shape;
  bool persistent; /* `parts` workgroups for all tiles */
  bool waits;
} styles[] = {
    {"scratch_calls.hip", 16, 16, 256, 1, 0, GEMM_SIZES(32, 48, 256), false, false},
    {"wave_tile.hip", 32, 32, 64, 1, 0, GEMM_SIZES(48, 80, 384), false, false},
    {"lds_split.hip", 64, 64, 256, 3, 64 * 64 + 1, GEMM_SIZES(80, 144, 640), false, true},
    {"spin_split.hip", 16, 16, 256, 2, 16 * 16 + 1, GEMM_SIZES(32, 48, 512), false, true},
    {"stream_k.hip", 64, 64, 64, 4, 64 * 64 + 1, GEMM_SIZES(128, 192, 640), true, true},
};
static const char *const levels[] = {"-O3", "-O1", "-O0"};

static int64_t tiles(int64_t size, int tile) {
  return (size + tile - 1) / tile;
}

static void check_gemm(const struct style *style, const char *level) {
  const ws_problem *problem = ws_problem_find("fp8_gemm_blockscale");
  const ws_shape named = gemm_named(style->shape), *shape = &named;
  device d = open_device(style->source, level);
  static const char *const names[] = {"a", "b", "as", "bs", "c"};
  const uint32_t rows = (uint32_t)tiles(shape->size[DIM_M], style->tile_m);
  const uint32_t columns = (uint32_t)tiles(shape->size[DIM_N], style->tile_n);
  const int64_t all = (int64_t)rows * columns;
  void *buffers[WS_PROBLEM_MAX_ARGS] = {NULL};
  uint64_t values[16];
  int count = 0;
  for (; count < 5; count++) {
    int arg = ws_problem_arg_index(problem, names[count]);
    size_t bytes = (size_t)ws_problem_arg_bytes(problem, arg, shape, 0);
    buffers[arg] = ws_sim_allocate(d.sim, bytes);
    if (problem->args[arg].role == WS_ARG_INPUT)
      ws_problem_generate(problem, arg, shape, 0, 7, buffers[arg]);
    values[count] = (uintptr_t)buffers[arg];
  }
  if (style->workspace) {
    size_t bytes = (size_t)(style->workspace *
                            (style->persistent ? style->parts : all) * 4);
    void *workspace = ws_sim_allocate(d.sim, bytes);
    memset(workspace, 0, bytes);
    values[count++] = (uintptr_t)workspace;
  }
  values[count++] = (uint64_t)shape->size[DIM_M];
  values[count++] = (uint64_t)shape->size[DIM_N];
  values[count++] = (uint64_t)shape->size[DIM_K];
  values[count++] = (uint64_t)style->parts;
  const uint32_t parts = (uint32_t)style->parts;
  const uint32_t by_tile[3] = {columns, rows, parts};
  const uint32_t by_part[3] = {parts, 1, 1};
  const ws_sim_profile profile =
      run(&d, "gemm", style->persistent ? by_part : by_tile,
          (uint32_t)style->threads, 0, values);
  if (profile.together != style->waits)
    WS_FAIL("%s %s: together %d", style->source, level, profile.together);
  size_t elements = (size_t)(shape->size[DIM_M] * shape->size[DIM_N]);
  double *value = calloc(elements, sizeof *value);
  double *scale = calloc(elements, sizeof *scale);
  ws_comparison comparison = {0};
  ws_problem_reference(problem, shape, 0, (const void *const *)buffers, 0,
                       shape->size[DIM_M], value, scale);
  ws_problem_compare(problem, shape, 0, (const void *const *)buffers, 0,
                     shape->size[DIM_M], value, scale, &comparison);
  if (comparison.wrong || comparison.checked != (int64_t)elements)
    WS_FAIL("%s %s: %lld of %lld wrong, first at element %lld: got %g, want %g",
            style->source, level, (long long)comparison.wrong,
            (long long)comparison.checked, (long long)comparison.first.element,
            comparison.first_got, comparison.first_want);
  free(value);
  free(scale);
  close_device(&d);
}

WS_TEST(gemms_in_other_styles) {
  for (size_t s = 0; s < sizeof styles / sizeof styles[0]; s++)
    for (size_t l = 0; l < sizeof levels / sizeof levels[0]; l++)
      check_gemm(&styles[s], levels[l]);
}

/* ---- OpenCL C --------------------------------------------------------------
 */

WS_TEST(histogram) {
  enum { SIZE = 5000 };
  for (size_t l = 0; l < 2; l++) {
    device d = open_device("histogram.cl", levels[l]);
    uint8_t *data = ws_sim_allocate(d.sim, SIZE);
    uint32_t *counts = ws_sim_allocate(d.sim, 256 * 4);
    uint32_t want[256] = {0};
    memset(counts, 0, 256 * 4);
    ws_rng rng;
    ws_rng_init(&rng, 3);
    for (int i = 0; i < SIZE; i++) {
      data[i] = (uint8_t)(ws_rng_next(&rng) & ws_rng_next(&rng));
      want[data[i]]++;
    }
    /* bins is dynamic LDS: its argument is an offset. */
    const uint64_t values[] = {(uintptr_t)data, SIZE, (uintptr_t)counts, 0};
    run(&d, "histogram", (uint32_t[3]){3, 1, 1}, 192, 1024, values);
    for (int i = 0; i < 256; i++)
      WS_CHECK_INT(counts[i], want[i]);
    close_device(&d);
  }
}

static double round_to_half(double x) {
  int exponent;
  frexp(x, &exponent);
  double unit = ldexp(1, exponent > -14 ? exponent - 11 : -24);
  return nearbyint(x / unit) * unit;
}

static double mixed_reference(float in, uint32_t i) {
  double h = round_to_half((double)in);
  uint32_t steps = 0;
  for (uint32_t v = i + 1; v != 1 && steps < 1000; steps++)
    v = v & 1 ? 3 * v + 1 : v >> 1;
  switch (i % 5) {
  case 0:
    return h * 3.0 + steps;
  case 1:
    return round_to_half(h * 2) - steps;
  case 2:
    return h / (1.0 + steps);
  case 3:
    return sqrt((double)steps);
  default:
    return (double)(uint32_t)((uint64_t)(i * 0x9e3779b9u) * (steps + 77u) >>
                              32);
  }
}

WS_TEST(half_and_double) {
  enum { SIZE = 777 };
  for (size_t l = 0; l < 2; l++) {
    device d = open_device("histogram.cl", levels[l]);
    float *in = ws_sim_allocate(d.sim, SIZE * sizeof *in);
    double *out = ws_sim_allocate(d.sim, SIZE * sizeof *out);
    ws_rng rng;
    ws_rng_init(&rng, 11);
    for (int i = 0; i < SIZE; i++)
      in[i] = (float)ws_rng_normal(&rng);
    const uint64_t values[] = {(uintptr_t)in, (uintptr_t)out, SIZE};
    run(&d, "mixed", (uint32_t[3]){4, 1, 1}, 256, 0, values);
    for (uint32_t i = 0; i < SIZE; i++) {
      double want = mixed_reference(in[i], i);
      WS_CHECK_NEAR(out[i], want, fabs(want) * 1e-15);
    }
    close_device(&d);
  }
}
