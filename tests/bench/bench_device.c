/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a timing on the simulator costs a tuner: requests to wavesmith-device
 * for the contest's 18 shapes, first with the inputs still to be made, then
 * for a second candidate. The aim for the latter is 0.5 s on average. Times
 * must not depend on what the server did before; that is checked.
 */
#include "../gemm_shape.h"
#include "wavesmith/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
  ws_arena *arena;
  ws_device_client *client;
  ws_candidate *candidate;
  ws_build_result build;
} bench;

static ws_diag diag;

static void must(ws_status status) {
  if (status == WS_OK)
    return;
  fprintf(stderr, "bench_device: %s\n", diag.text);
  exit(ws_status_exit_code(status));
}

static void build(bench *b, const char *point) {
  ws_compiler *compiler;
  const ws_template *tmpl;
  char *text;
  size_t size;
  const char *file = ws_arena_printf(
      b->arena, "%s/ir-templates/fp8_gemm_mfma.ll", getenv("WS_SOURCE_DIR"));
  must(ws_file_read(b->arena, file, &text, &size, &diag));
  must(ws_compiler_start(&compiler, &diag));
  must(
      ws_compiler_describe(compiler, b->arena, file, text, size, &tmpl, &diag));
  b->candidate = ws_candidate_create(b->arena, tmpl);
  must(ws_candidate_set(b->candidate, point, &diag));
  const ws_build_request request = {
      .template_file = file,
      .template_text = text,
      .template_size = size,
      .target = tmpl->target,
      .assignments = ws_candidate_values_text(b->arena, b->candidate),
      .variants = ws_candidate_variants_text(b->arena, b->candidate),
      .stages = WS_STAGE_LOWER,
      .limits = ws_limits_default};
  must(ws_compiler_build(compiler, b->arena, &request, &b->build, &diag));
  ws_compiler_stop(compiler);
  if (b->build.verdict != WS_VERDICT_OK)
    must(ws_fail(&diag, WS_INPUT, file, 0, "%s", b->build.reason));
}

/* Simulated us; adds the seconds that the answer took. */
static double time_on(bench *b, const ws_problem *problem,
                      const ws_shape *shape, double *seconds) {
  ws_arena *arena = ws_arena_create();
  ws_workload workload;
  ws_measured measured;
  must(ws_workload_of(arena, problem, 0, b->candidate, &b->build, shape,
                      ws_device_client_info(b->client)->cu_count, &workload,
                      &diag));
  const ws_measure_request request = {.op = WS_MEASURE_TIME,
                                      .code_object = b->build.code_object,
                                      .code_object_size =
                                          b->build.code_object_size,
                                      .workloads = &workload,
                                      .workload_count = 1,
                                      .settings = ws_measure_settings_default};
  double begin_ms = ws_clock_ms();
  must(ws_device_client_measure(b->client, arena, &request, &measured, &diag));
  *seconds += (ws_clock_ms() - begin_ms) / 1000;
  if (measured.verdict != WS_VERDICT_OK)
    must(ws_fail(&diag, WS_INPUT, NULL, 0, "%s", measured.reason));
  double us = measured.us;
  ws_arena_destroy(arena);
  return us;
}

enum { MAX_SHAPES = 32 };
static const struct {
  const char *what, *point;
} rounds[] = {{"inputs made", "layout=0"},
              {"inputs kept", "layout=0"},
              {"another candidate", "layout=0;tile_m=128;tile_n=128"}};
enum { ROUNDS = sizeof rounds / sizeof rounds[0] };

int main(void) {
  bench b = {.arena = ws_arena_create()};
  const ws_problem *problem = ws_problem_find("fp8_gemm_blockscale");
  const ws_shape_set *set = ws_problem_shape_set(problem, "contest");
  double us[ROUNDS][MAX_SHAPES], seconds[ROUNDS][MAX_SHAPES] = {{0}};
  double sum[ROUNDS] = {0};
  must(ws_device_client_start("sim", &b.client, &diag));
  for (int r = 0; r < ROUNDS; r++) {
    build(&b, rounds[r].point);
    for (int s = 0; s < set->count; s++) {
      us[r][s] = time_on(&b, problem, &set->shapes[s], &seconds[r][s]);
      sum[r] += seconds[r][s];
    }
  }
  bool same = !memcmp(us[0], us[1], sizeof us[0][0] * (size_t)set->count);
  for (int s = 0; s < set->count; s++) {
    printf("%5lld,%5lld,%5lld", (long long)set->shapes[s].size[DIM_M],
           (long long)set->shapes[s].size[DIM_N],
           (long long)set->shapes[s].size[DIM_K]);
    for (int r = 0; r < ROUNDS; r++)
      printf("  %8.2f us in %.3f s", us[r][s], seconds[r][s]);
    puts("");
  }
  for (int r = 0; r < ROUNDS; r++)
    printf("mean %.3f s a request, %s\n", sum[r] / set->count, rounds[r].what);
  if (!same)
    puts("the same launch took two times");
  ws_device_client_stop(b.client);
  ws_arena_destroy(b.arena);
  return !same;
}
