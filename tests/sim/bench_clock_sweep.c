/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How well the cycle model ranks: fp8_gemm_mfma is built with the parameters of
 * a public sweep on an MI300X (150 configurations with the transpose fused, 12
 * shapes), timed in the simulator with warm inputs, as the sweep repeats on the
 * same data, and held against the sweep's times; the bound model too. The
 * kernels are similar to the sweep's, not the same.
 *
 * WS_SWEEP_CACHE=folder keeps what the compiler made for the next run.
 * WS_SWEEP_CONSTANTS="valu_latency=8,barrier=16" times with other constants.
 * WS_SWEEP_ROWS=1 prints every point. Skipped without the data.
 */
#include "clock.h"
#include "sim_internal.h"
#include "sweep_data.h"
#include "wavesmith/model.h"

#include <cjson/cJSON.h>

typedef struct bench {
  sweep data;
  predictions simulated, estimated;
  const ws_template *tmpl;
  char *text;
  size_t text_size;
  ws_compiler *compiler;
  ws_sim *sim;
  const ws_problem *problem;
  ws__clock_constants constants;
  double seconds;
  int timings, refused;
} bench;

static ws_diag diag;

static void must(ws_status status) {
  if (status == WS_OK)
    return;
  fprintf(stderr, "bench_clock_sweep: %s\n", diag.text);
  exit(ws_status_exit_code(status));
}

/* ---- building -------------------------------------------------------------
 */

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

static const char *cache_path(ws_arena *arena, const config *c,
                              const char *suffix) {
  const char *folder = getenv("WS_SWEEP_CACHE");
  return folder ? ws_arena_printf(arena, "%s/%d-%d-%d-%d-%d-%d.%s", folder,
                                  c->bm, c->bn, c->bk, c->mfma, c->pipeline,
                                  c->threads, suffix)
                : NULL;
}

static bool load_cached(ws_arena *arena, const config *c,
                        ws_build_result *result) {
  const char *path = cache_path(arena, c, "json");
  char *text, *code;
  size_t size;
  if (!path || !ws_file_exists(path))
    return false;
  must(ws_file_read(arena, path, &text, &size, &diag));
  struct cJSON *json = ws_json_parse(text, size, path, &diag);
  must(json ? ws_build_result_from_json(arena, json, result, &diag) : WS_INPUT);
  cJSON_Delete(json);
  must(ws_file_read(arena, cache_path(arena, c, "co"), &code, &size, &diag));
  result->code_object = code;
  result->code_object_size = size;
  return true;
}

static void keep(ws_arena *arena, const config *c,
                 const ws_build_result *result) {
  const char *path = cache_path(arena, c, "json");
  if (!path)
    return;
  struct cJSON *json = ws_build_result_to_json(result);
  char *text = cJSON_PrintUnformatted(json);
  must(ws_file_write_atomic(cache_path(arena, c, "co"), result->code_object,
                            result->code_object_size, &diag));
  must(ws_file_write_atomic(path, text, strlen(text), &diag));
  free(text);
  cJSON_Delete(json);
}

static void build(bench *b, ws_arena *arena, const ws_candidate *candidate,
                  const config *c, ws_build_result *result) {
  if (load_cached(arena, c, result))
    return;
  if (!b->compiler)
    must(ws_compiler_start(&b->compiler, &diag));
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
      .stages = WS_STAGE_CHECK | WS_STAGE_SANITIZE | WS_STAGE_LOWER,
      .limits = ws_limits_default};
  must(ws_compiler_build(b->compiler, arena, &request, result, &diag));
  keep(arena, c, result);
}

/* ---- launching ------------------------------------------------------------
 */

typedef struct setting {
  ws_binding bindings[WS_TEMPLATE_MAX_PARAMS + 4];
  ws_scope scope;
  void *buffers[WS_PROBLEM_MAX_ARGS];
} setting;

static void open_setting(bench *b, const ws_candidate *candidate,
                         const ws_shape *shape, setting *out) {
  const ws_template *tmpl = candidate->tmpl;
  int count = 0;
  for (int i = 0; i < tmpl->param_count; i++)
    out->bindings[count++] =
        (ws_binding){tmpl->params[i].name, candidate->values[i]};
  out->bindings[count++] = (ws_binding){"m", shape->m};
  out->bindings[count++] = (ws_binding){"n", shape->n};
  out->bindings[count++] = (ws_binding){"k", shape->k};
  out->bindings[count++] = (ws_binding){"cu_count", 304};
  out->scope = (ws_scope){out->bindings, count};
  for (int i = 0; i < b->problem->arg_count; i++) {
    if (b->problem->args[i].role == WS_ARG_SCALAR)
      continue;
    int64_t bytes = b->problem->arg_bytes(i, shape, 1);
    if (b->problem->args[i].role == WS_ARG_WORKSPACE && tmpl->workspace)
      must(ws_expr_eval(tmpl->workspace, &out->scope, &bytes, &diag));
    out->buffers[i] = ws_sim_allocate(b->sim, (size_t)bytes);
  }
}

static void close_setting(bench *b, setting *s) {
  for (int i = 0; i < b->problem->arg_count; i++)
    if (s->buffers[i])
      ws_sim_free(b->sim, s->buffers[i]);
}

static void pack(const bench *b, const ws_kernel_facts *facts, const setting *s,
                 const ws_shape *shape, uint8_t *kernarg) {
  for (int i = 0; i < facts->arg_count; i++) {
    const int arg = ws_problem_arg_index(b->problem, facts->args[i].name);
    if (arg < 0)
      continue;
    int32_t scalar = 0;
    const void *value = &s->buffers[arg];
    if (b->problem->args[arg].role == WS_ARG_SCALAR) {
      scalar = b->problem->arg_scalar(arg, shape, 1);
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

static double time_launch(bench *b, const ws_sim_module *module,
                          const ws_build_result *result,
                          const ws_launch *launch, const setting *s,
                          const ws_shape *shape, ws_arena *arena) {
  const ws_kernel_facts *facts = facts_of(result, launch->kernel);
  int64_t wanted, threads, extent;
  must(ws_expr_eval(launch->condition, &s->scope, &wanted, &diag));
  if (!wanted)
    return 0;
  uint8_t kernarg[4096] = {0};
  WS_ASSERT(facts && facts->kernarg_bytes <= (int)sizeof kernarg);
  pack(b, facts, s, shape, kernarg);
  must(ws_expr_eval(launch->threads, &s->scope, &threads, &diag));
  ws_sim_launch sim_launch = {.kernel =
                                  ws_sim_kernel_find(module, launch->kernel),
                              .block = {(uint32_t)threads, 1, 1},
                              .kernarg = kernarg,
                              .kernarg_size = (size_t)facts->kernarg_bytes};
  for (int axis = 0; axis < 3; axis++) {
    must(ws_expr_eval(launch->grid[axis], &s->scope, &extent, &diag));
    sim_launch.grid[axis] = (uint32_t)extent;
  }
  ws_sim_profile profile;
  const double begin = ws_clock_ms();
  must(ws__clock_time(b->sim->memory, &sim_launch, WS_SIM_WARM, &b->constants,
                      arena, &profile, &diag));
  b->seconds += (ws_clock_ms() - begin) / 1e3;
  b->timings++;
  if (getenv("WS_SWEEP_EXPLAIN")) {
    ws_strbuf words;
    ws_strbuf_init(&words);
    ws_sim_explain(&profile, &words);
    puts(words.data);
    ws_strbuf_deinit(&words);
  }
  return profile.us;
}

static void time_config(bench *b, const ws_candidate *candidate,
                        const ws_build_result *result, int index) {
  ws_sim_module *module;
  must(ws_sim_load(b->sim, result->code_object, result->code_object_size,
                   &module, &diag));
  for (int i = 0; i < b->data.shape_count; i++) {
    const ws_shape *shape = &b->data.shapes[i];
    ws_arena *arena = ws_arena_create();
    setting s = {.buffers = {0}};
    ws_estimate estimate;
    open_setting(b, candidate, shape, &s);
    for (int l = 0; l < candidate->tmpl->launch_count; l++)
      b->simulated[index][i] += time_launch(
          b, module, result, &candidate->tmpl->launches[l], &s, shape, arena);
    must(ws_model_estimate(&ws_mi300x, b->problem, candidate, result, shape,
                           &estimate, &diag));
    b->estimated[index][i] = estimate.us;
    if (getenv("WS_SWEEP_ROWS"))
      printf("row %d %d %d %d %d %d %d %lld %lld %lld %.2f %.2f %.2f\n", index,
             b->data.configs[index].bm, b->data.configs[index].bn,
             b->data.configs[index].bk, b->data.configs[index].mfma,
             b->data.configs[index].pipeline, b->data.configs[index].threads,
             (long long)shape->m, (long long)shape->n, (long long)shape->k,
             b->data.measured[index][i], b->simulated[index][i], estimate.us);
    close_setting(b, &s);
    ws_arena_destroy(arena);
  }
  ws_sim_unload(b->sim, module);
}

static void run_config(bench *b, int index) {
  const config *c = &b->data.configs[index];
  ws_arena *arena = ws_arena_create();
  ws_candidate *candidate = ws_candidate_create(arena, b->tmpl);
  ws_build_result result;
  must(ws_candidate_set(candidate, assignments_of(arena, c), &diag));
  build(b, arena, candidate, c, &result);
  if (result.verdict == WS_VERDICT_OK)
    time_config(b, candidate, &result, index);
  else
    b->refused++;
  ws_arena_destroy(arena);
}

/* ---- all ------------------------------------------------------------------
 */

static void change_constant(bench *b, const char *name, int64_t value) {
#define CHANGE(field, ...)                                                     \
  if (!strcmp(name, #field))                                                   \
    b->constants.field = value;
  WS_CLOCK_CONSTANTS(CHANGE)
#undef CHANGE
}

static void change_constants(bench *b) {
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

static void open_bench(bench *b, ws_arena *arena) {
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

int main(void) {
  static bench b;
  if (!sweep_read(&b.data))
    return 0;
  ws_arena *arena = ws_arena_create();
  open_bench(&b, arena);
  const char *only = getenv("WS_SWEEP_STEP");
  const int step = only ? (int)strtol(only, NULL, 10) : 1;
  for (int i = 0; i < b.data.config_count; i += step)
    run_config(&b, i);
  printf("%d configurations, %d refused by the compiler; %.3f s per timing\n",
         b.data.config_count, b.refused, b.seconds / fmax(1, b.timings));
  sweep_print(&b.data, "bound model", b.estimated);
  sweep_print(&b.data, "cycle model", b.simulated);
  ws_sim_destroy(b.sim);
  ws_compiler_stop(b.compiler);
  ws_arena_destroy(arena);
  return 0;
}
