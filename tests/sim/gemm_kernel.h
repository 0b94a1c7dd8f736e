/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * fp8_gemm_mfma for benchmarks of the cycle model: a candidate is built by the
 * compile server and its launches on a shape are timed in the simulator.
 *
 * WS_SWEEP_CACHE=folder keeps what the compiler made for the next run.
 * WS_SWEEP_CONSTANTS="valu_latency=8,barrier=16" times with other constants.
 * WS_SWEEP_EXPLAIN=1 prints every profile.
 */
#ifndef WS_TEST_GEMM_KERNEL_H
#define WS_TEST_GEMM_KERNEL_H

#include "../gemm_shape.h"
#include "clock.h"
#include "sim_internal.h"
#include "wavesmith/bound_model.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct gemm {
  const ws_template *tmpl;
  char *text;
  size_t text_size;
  ws_compiler *compiler;
  ws_sim *sim;
  const ws_problem *problem;
  ws__clock_constants constants;
  int layout;
  ws_shape shape; /* that buffers are of */
  void *buffers[WS_PROBLEM_MAX_ARGS];
  double seconds; /* of this host's processor, for all timings */
  int timings;
  double longest_us; /* of the launches timed last */
  const char *bound; /* that one's */
} gemm;

static ws_diag diag;

/* A candidate that was built; module NULL: refused. */
typedef struct gemm_kernel {
  const ws_candidate *candidate;
  ws_build_result result;
  ws_sim_module *module;
} gemm_kernel;

static void must(ws_status status) {
  if (status == WS_OK)
    return;
  fprintf(stderr, "%s\n", diag.text);
  exit(ws_status_exit_code(status));
}

/* ---- building -------------------------------------------------------------
 */

static const char *cache_path(ws_arena *arena, const ws_candidate *candidate,
                              const char *suffix) {
  const char *folder = getenv("WS_SWEEP_CACHE");
  return folder ? ws_arena_printf(arena, "%s/%s.%s", folder, candidate->id.hex,
                                  suffix)
                : NULL;
}

static bool load_cached(ws_arena *arena, const ws_candidate *candidate,
                        ws_build_result *result) {
  const char *path = cache_path(arena, candidate, "json");
  char *text, *code;
  size_t size;
  if (!path || !ws_file_exists(path))
    return false;
  must(ws_file_read(arena, path, &text, &size, &diag));
  struct cJSON *json = ws_json_parse(text, size, path, &diag);
  must(json ? ws_build_result_from_json(arena, json, result, &diag) : WS_INPUT);
  cJSON_Delete(json);
  must(ws_file_read(arena, cache_path(arena, candidate, "co"), &code, &size,
                    &diag));
  result->code_object = code;
  result->code_object_size = size;
  return true;
}

static void keep(ws_arena *arena, const ws_candidate *candidate,
                 const ws_build_result *result) {
  const char *path = cache_path(arena, candidate, "json");
  if (!path)
    return;
  struct cJSON *json = ws_build_result_to_json(result);
  char *text = cJSON_PrintUnformatted(json);
  must(ws_file_write_atomic(cache_path(arena, candidate, "co"),
                            result->code_object, result->code_object_size,
                            &diag));
  must(ws_file_write_atomic(path, text, strlen(text), &diag));
  free(text);
  cJSON_Delete(json);
}

static void compile(gemm *b, ws_arena *arena, const ws_candidate *candidate,
                    ws_build_result *result) {
  if (load_cached(arena, candidate, result))
    return;
  ws_run runs[WS_STANDARD_RUNS];
  ws_standard_runs(candidate, runs);
  const ws_build_request request = {
      .template_file = b->tmpl->file,
      .template_text = b->text,
      .template_size = b->text_size,
      .target = "gfx942",
      .assignments = ws_candidate_values_text(arena, candidate),
      .variants = "",
      .runs = runs,
      .run_count = 2,
      .stages =
          WS_STAGE_CHECK | WS_STAGE_SANITIZE | WS_STAGE_LOWER | WS_STAGE_LINES,
      .limits = ws_limits_default};
  must(ws_compiler_build(b->compiler, arena, &request, result, &diag));
  keep(arena, candidate, result);
}

static gemm_kernel gemm_build(gemm *b, ws_arena *arena,
                              const char *assignments) {
  gemm_kernel kernel = {.module = NULL};
  ws_candidate *candidate = ws_candidate_create(arena, b->tmpl);
  must(ws_candidate_set(candidate, assignments, &diag));
  compile(b, arena, candidate, &kernel.result);
  kernel.candidate = candidate;
  if (kernel.result.verdict == WS_VERDICT_OK)
    must(ws_sim_load(b->sim, kernel.result.code_object,
                     kernel.result.code_object_size, &kernel.module, &diag));
  return kernel;
}

/* ---- launching ------------------------------------------------------------
 */

typedef struct setting {
  ws_binding bindings[WS_TEMPLATE_MAX_PARAMS + 4];
  ws_scope scope;
} setting;

static void fill_setting(const ws_candidate *candidate, const ws_shape *shape,
                         setting *out) {
  const ws_template *tmpl = candidate->tmpl;
  int count = 0;
  for (int i = 0; i < tmpl->param_count; i++)
    out->bindings[count++] =
        (ws_binding){tmpl->params[i].name, candidate->values[i]};
  out->bindings[count++] = (ws_binding){"m", shape->size[DIM_M]};
  out->bindings[count++] = (ws_binding){"n", shape->size[DIM_N]};
  out->bindings[count++] = (ws_binding){"k", shape->size[DIM_K]};
  out->bindings[count++] = (ws_binding){"cu_count", 304};
  out->scope = (ws_scope){out->bindings, count};
}

/* Bytes that differ, for the clock under load; none is a NaN as fp8. */
static void fill(void *buffer, size_t bytes) {
  ws_rng rng;
  ws_rng_init(&rng, 1);
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    const uint64_t word = ws_rng_next(&rng) & UINT64_C(0x3f3f3f3f3f3f3f3f);
    memcpy((char *)buffer + i, &word, sizeof word);
  }
}

/* Buffers of another shape than before; split_k is 1, so no workspace. */
static void change_shape(gemm *b, const ws_shape *shape) {
  if (ws_shape_same(&b->shape, shape))
    return;
  b->shape = *shape;
  for (int i = 0; i < b->problem->arg_count; i++) {
    if (b->problem->args[i].role == WS_ARG_SCALAR)
      continue;
    if (b->buffers[i])
      ws_sim_free(b->sim, b->buffers[i]);
    const size_t bytes =
        (size_t)ws_problem_arg_bytes(b->problem, i, shape, b->layout);
    b->buffers[i] = ws_sim_allocate(b->sim, bytes);
    fill(b->buffers[i], bytes);
  }
}

static void pack(const gemm *b, const ws_kernel_facts *facts,
                 uint8_t *kernarg) {
  for (int i = 0; i < facts->arg_count; i++) {
    const int arg = ws_problem_arg_index(b->problem, facts->args[i].name);
    if (arg < 0)
      continue;
    int32_t scalar = 0;
    const void *value = &b->buffers[arg];
    if (b->problem->args[arg].role == WS_ARG_SCALAR) {
      scalar = ws_problem_arg_scalar(b->problem, arg, &b->shape, b->layout);
      value = &scalar;
    }
    memcpy(kernarg + facts->args[i].offset, value, (size_t)facts->args[i].size);
  }
}

static const ws_kernel_facts *facts_of(const ws_build_result *result,
                                       const char *kernel) {
  for (int i = 0; i < result->kernel_count; i++)
    if (!strcmp(result->kernels[i].name, kernel))
      return &result->kernels[i];
  return NULL;
}

static double time_launch(gemm *b, const gemm_kernel *kernel,
                          const ws_launch *launch, const setting *s,
                          ws_sim_residency residency, ws_arena *arena) {
  const ws_kernel_facts *facts = facts_of(&kernel->result, launch->kernel);
  int64_t wanted, threads, extent;
  must(ws_expr_eval(launch->condition, &s->scope, &wanted, &diag));
  if (!wanted)
    return 0;
  uint8_t kernarg[4096] = {0};
  WS_ASSERT(facts && facts->kernarg_bytes <= (int)sizeof kernarg);
  pack(b, facts, kernarg);
  must(ws_expr_eval(launch->threads, &s->scope, &threads, &diag));
  ws_sim_launch sim_launch = {
      .kernel = ws_sim_kernel_find(kernel->module, launch->kernel),
      .block = {(uint32_t)threads, 1, 1},
      .kernarg = kernarg,
      .kernarg_size = (size_t)facts->kernarg_bytes};
  for (int axis = 0; axis < 3; axis++) {
    must(ws_expr_eval(launch->grid[axis], &s->scope, &extent, &diag));
    sim_launch.grid[axis] = (uint32_t)extent;
  }
  ws_sim_profile profile;
  const clock_t begin = clock();
  must(ws__clock_time(b->sim->memory, &sim_launch, residency, &b->constants,
                      arena, &profile, &diag));
  b->seconds += (double)(clock() - begin) / CLOCKS_PER_SEC;
  b->timings++;
  if (getenv("WS_SWEEP_EXPLAIN")) {
    ws_strbuf words;
    ws_strbuf_init(&words);
    ws_sim_explain(&profile, &words);
    puts(words.data);
    ws_strbuf_deinit(&words);
  }
  if (profile.us > b->longest_us) {
    b->longest_us = profile.us;
    b->bound = profile.bound;
  }
  return profile.us;
}

/* Microseconds of all launches of a kernel on a shape. */
static double gemm_time(gemm *b, const gemm_kernel *kernel,
                        const ws_shape *shape, ws_sim_residency residency) {
  const ws_template *tmpl = kernel->candidate->tmpl;
  ws_arena *arena = ws_arena_create();
  setting s;
  double us = 0;
  b->longest_us = 0;
  change_shape(b, shape);
  fill_setting(kernel->candidate, shape, &s);
  for (int l = 0; l < tmpl->launch_count; l++)
    us += time_launch(b, kernel, &tmpl->launches[l], &s, residency, arena);
  ws_arena_destroy(arena);
  return us;
}

/* ---- all ------------------------------------------------------------------
 */

static void change_constant(gemm *b, const char *name, int64_t value) {
#define CHANGE(field, ...)                                                     \
  if (!strcmp(name, #field))                                                   \
    b->constants.field = value;
  WS_CLOCK_CONSTANTS(CHANGE)
#undef CHANGE
}

static void change_constants(gemm *b) {
  char copy[1024], *rest = NULL;
  b->constants = ws__clock_mi300x;
  snprintf(copy, sizeof copy, "%s",
           getenv("WS_SWEEP_CONSTANTS") ? getenv("WS_SWEEP_CONSTANTS") : "");
  for (char *one = strtok_r(copy, ",", &rest); one;
       one = strtok_r(NULL, ",", &rest)) {
    char *value = strchr(one, '=');
    if (value) {
      *value = 0;
      change_constant(b, one, strtoll(value + 1, NULL, 10));
    }
  }
}

static void gemm_open(gemm *b, ws_arena *arena) {
  const char *source = getenv("WS_SOURCE_DIR");
  const char *path = ws_arena_printf(arena, "%s/ir-templates/fp8_gemm_mfma.ll",
                                     source ? source : ".");
  must(ws_file_read(arena, path, &b->text, &b->text_size, &diag));
  must(ws_compiler_start(&b->compiler, &diag));
  must(ws_compiler_describe(b->compiler, arena, path, b->text, b->text_size,
                            &b->tmpl, &diag));
  const ws_sim_options options = {.unchecked = true};
  must(ws_sim_create(&options, &b->sim, &diag));
  b->problem = ws_problem_find("fp8_gemm_blockscale");
  change_constants(b);
}

static void gemm_close(gemm *b) {
  ws_sim_destroy(b->sim);
  ws_compiler_stop(b->compiler);
}

#endif
