/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Build requests and results over JSON: everything comes back as it went, and
 * nothing malformed comes through.
 */
#include "../gemm_shape.h"
#include "wavesmith/build.h"
#include "ws_test.h"

#include <cjson/cJSON.h>

WS_TEST(verdict_names) {
  static const char *const names[] = {"ok",       "illegal", "no_compile",
                                      "crash",    "timeout", "wrong",
                                      "unstable", "slow",    "duplicate"};
  WS_CHECK_INT(WS_VERDICT_COUNT, 9);
  for (int i = 0; i < WS_VERDICT_COUNT; i++) {
    ws_verdict verdict;
    WS_CHECK_TEXT(ws_verdict_text((ws_verdict)i), names[i]);
    WS_CHECK(ws_verdict_parse(names[i], &verdict) && (int)verdict == i);
  }
  ws_verdict verdict;
  WS_CHECK(!ws_verdict_parse("OK", &verdict));
  WS_CHECK(!ws_verdict_parse("", &verdict));
  WS_CHECK_TEXT(ws_verdict_text(WS_VERDICT_COUNT), "unknown");
}

WS_TEST(default_limits) {
  WS_CHECK_INT(ws_limits_default.wall_ms, 20000);
  WS_CHECK_INT(ws_limits_default.cpu_ms, 15000);
  WS_CHECK_INT(ws_limits_default.memory_mb, 2048);
}

static const struct ws_request_body bodies[] = {
    {"load_a", "ir", "define void @load_a() {\n  ret void\n}\n", "a.ll"},
    {"store", "opencl", "void store(void) { \"\\\"; }", ""}};
static ws_run runs[] = {
    {GEMM_SIZES(128, 576, 7168), WS_WAVES_DOWN, UINT64_MAX, 3, true},
    {GEMM_SIZES(16, 16, 128), WS_WAVES_UP, 0, 0, false}};
static const ws_build_request request = {.template_file = "gemm.ll",
                                         .target = "gfx942",
                                         .assignments = "tile_m=128",
                                         .variants = "load=wide",
                                         .bodies = bodies,
                                         .body_count = 2,
                                         .runs = runs,
                                         .run_count = 2,
                                         .stages =
                                             WS_STAGE_CHECK | WS_STAGE_LOWER,
                                         .limits = {1000, 900, 512}};

static const ws_build_request *named_request(void) {
  for (int i = 0; i < request.run_count; i++)
    runs[i].shape = gemm_named(runs[i].shape);
  return &request;
}

/* Through text, as over the socket. */
static struct cJSON *through_text(struct cJSON *owned_json) {
  char *text = cJSON_PrintUnformatted(owned_json);
  ws_diag diag = {""};
  struct cJSON *json = ws_json_parse(text, strlen(text), "test", &diag);
  if (!json)
    WS_FAIL("%s", diag.text);
  cJSON_free(text);
  cJSON_Delete(owned_json);
  return json;
}

WS_TEST(a_request_comes_back_as_it_went) {
  ws_arena *arena = ws_arena_create();
  struct cJSON *json = through_text(ws_build_request_to_json(named_request()));
  ws_build_request back;
  ws_diag diag = {""};
  if (ws_build_request_from_json(arena, json, &back, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  cJSON_Delete(json);
  WS_CHECK(back.template_text == NULL);
  WS_CHECK_TEXT(back.template_file, "gemm.ll");
  WS_CHECK_TEXT(back.target, "gfx942");
  WS_CHECK_TEXT(back.assignments, "tile_m=128");
  WS_CHECK_TEXT(back.variants, "load=wide");
  WS_CHECK_INT(back.stages, WS_STAGE_CHECK | WS_STAGE_LOWER);
  WS_CHECK(!memcmp(&back.limits, &request.limits, sizeof back.limits));
  WS_CHECK_INT(back.body_count, 2);
  for (int i = 0; i < 2; i++) {
    WS_CHECK_TEXT(back.bodies[i].region, bodies[i].region);
    WS_CHECK_TEXT(back.bodies[i].language, bodies[i].language);
    WS_CHECK_TEXT(back.bodies[i].text, bodies[i].text);
    WS_CHECK_TEXT(back.bodies[i].file, bodies[i].file);
  }
  WS_CHECK_INT(back.run_count, 2);
  for (int i = 0; i < 2; i++) {
    WS_CHECK(ws_shape_same(&back.runs[i].shape, &runs[i].shape));
    WS_CHECK_INT(back.runs[i].order, runs[i].order);
    WS_CHECK(back.runs[i].seed == runs[i].seed);
    WS_CHECK_INT(back.runs[i].spots, runs[i].spots);
  }
  ws_arena_destroy(arena);
}

/* Fills memory with distinct small values, as 32-bit or 64-bit integers. */
static void fill32(void *memory, size_t size, int32_t first) {
  for (size_t i = 0; i < size / 4; i++)
    ((int32_t *)memory)[i] = first + (int32_t)i;
}
static void fill64(void *memory, size_t size, int64_t first) {
  for (size_t i = 0; i < size / 8; i++)
    ((int64_t *)memory)[i] = first + (int64_t)i;
}

static ws_build_result make_result(ws_arena *arena) {
  static const ws_finding findings[] = {
      {"lds-race", "load_a", "a.ll", "barrier missing", 12, 5},
      {"oob", "", "", "out of bounds", 0, 0}};
  ws_kernel_facts *kernels = ws_arena_alloc(arena, 2 * sizeof *kernels);
  for (int i = 0; i < 2; i++) {
    ws_kernel_facts *kernel = &kernels[i];
    kernel->name = i ? "reduce" : "gemm";
    fill32(&kernel->vgpr, 10 * sizeof(int32_t), 100 * i);
    kernel->dynamic_stack = i;
    kernel->code_bytes = 4096 + i;
    fill32(&kernel->mix, sizeof kernel->mix, 10 * i - 2);
    kernel->loop_count = i ? WS_MAX_LOOPS : 1;
    fill32(kernel->loops, (size_t)kernel->loop_count * sizeof(ws_loop), -5);
    kernel->arg_count = i ? WS_PROBLEM_MAX_ARGS : 1;
    for (int a = 0; a < kernel->arg_count; a++) {
      kernel->args[a].name = ws_arena_printf(arena, "arg%d", a);
      kernel->args[a].offset = 8 * a;
      kernel->args[a].size = a % 2 ? 4 : 8;
    }
  }
  ws_run_result *results = ws_arena_alloc(arena, sizeof *results);
  results->shape = gemm_shape(128, 128, 256);
  results->launch_count = 2;
  for (int i = 0; i < 2; i++) {
    results->launches[i].kernel = i ? "reduce" : "gemm";
    fill64(&results->launches[i].observed, sizeof(ws_observed),
           INT64_C(1) << 40 << i);
  }
  return (ws_build_result){.verdict = WS_VERDICT_WRONG,
                           .stage = "sanitize",
                           .reason = "a race",
                           .findings = findings,
                           .finding_count = 2,
                           .runs = results,
                           .run_count = 1,
                           .kernels = kernels,
                           .kernel_count = 2,
                           .ir_hash = "aa",
                           .code_hash = "bb",
                           .compiler = "LLVM 21.1.8",
                           .parse_ms = 0.1,
                           .check_ms = 1.0 / 3,
                           .sanitize_ms = 12,
                           .lower_ms = 99.75};
}

static void check_kernels(const ws_kernel_facts *got,
                          const ws_kernel_facts *want) {
  WS_CHECK_TEXT(got->name, want->name);
  WS_CHECK(!memcmp(&got->vgpr, &want->vgpr,
                   offsetof(ws_kernel_facts, dynamic_stack) -
                       offsetof(ws_kernel_facts, vgpr)));
  WS_CHECK_INT(got->dynamic_stack, want->dynamic_stack);
  WS_CHECK_INT(got->code_bytes, want->code_bytes);
  WS_CHECK(!memcmp(&got->mix, &want->mix, sizeof got->mix));
  WS_CHECK(!memcmp(got->loops, want->loops, sizeof got->loops));
  WS_CHECK_INT(got->loop_count, want->loop_count);
  WS_CHECK_INT(got->arg_count, want->arg_count);
  for (int a = 0; a < got->arg_count; a++) {
    WS_CHECK_TEXT(got->args[a].name, want->args[a].name);
    WS_CHECK_INT(got->args[a].offset, want->args[a].offset);
    WS_CHECK_INT(got->args[a].size, want->args[a].size);
  }
}

WS_TEST(a_result_comes_back_as_it_went) {
  ws_arena *arena = ws_arena_create();
  ws_build_result result = make_result(arena), back;
  struct cJSON *json = through_text(ws_build_result_to_json(&result));
  ws_diag diag = {""};
  if (ws_build_result_from_json(arena, json, &back, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  cJSON_Delete(json);
  WS_CHECK_INT(back.verdict, WS_VERDICT_WRONG);
  WS_CHECK_TEXT(back.stage, "sanitize");
  WS_CHECK_TEXT(back.reason, "a race");
  WS_CHECK_TEXT(back.ir_hash, "aa");
  WS_CHECK_TEXT(back.code_hash, "bb");
  WS_CHECK_TEXT(back.compiler, "LLVM 21.1.8");
  WS_CHECK(back.parse_ms == result.parse_ms && back.lower_ms == 99.75 &&
           back.check_ms == result.check_ms && back.sanitize_ms == 12);
  WS_CHECK(back.code_object == NULL && back.code_object_size == 0);
  WS_CHECK_INT(back.finding_count, 2);
  WS_CHECK_TEXT(back.findings[0].id, "lds-race");
  WS_CHECK_TEXT(back.findings[0].region, "load_a");
  WS_CHECK_TEXT(back.findings[0].file, "a.ll");
  WS_CHECK_TEXT(back.findings[0].text, "barrier missing");
  WS_CHECK_INT(back.findings[0].line, 12);
  WS_CHECK_INT(back.findings[0].column, 5);
  WS_CHECK_INT(back.run_count, 1);
  WS_CHECK_INT(back.runs[0].shape.size[DIM_K], 256);
  WS_CHECK_INT(back.runs[0].launch_count, 2);
  for (int i = 0; i < 2; i++) {
    WS_CHECK_TEXT(back.runs[0].launches[i].kernel,
                  result.runs[0].launches[i].kernel);
    WS_CHECK(!memcmp(&back.runs[0].launches[i].observed,
                     &result.runs[0].launches[i].observed,
                     sizeof(ws_observed)));
  }
  WS_CHECK_INT(back.kernel_count, 2);
  for (int i = 0; i < 2; i++)
    check_kernels(&back.kernels[i], &result.kernels[i]);
  ws_arena_destroy(arena);
}

/* SHA-256 of "abc" begins ba7816bf (FIPS 180-2). */
WS_TEST(the_hash_of_a_code_object_goes_along) {
  ws_arena *arena = ws_arena_create();
  ws_build_result result = {.code_object = "abc", .code_object_size = 3}, back;
  for (int i = 0; i < 2; i++) { /* made of the bytes, then passed on */
    struct cJSON *json = through_text(ws_build_result_to_json(&result));
    WS_CHECK_INT(ws_build_result_from_json(arena, json, &back, NULL), WS_OK);
    WS_CHECK_TEXT(back.object_hash, "ba7816bf8f01cfea414140de5dae2223");
    cJSON_Delete(json);
    result = back;
  }
  ws_arena_destroy(arena);
}

/* Text that was never set is "" on the other side. */
WS_TEST(an_empty_result_passes) {
  ws_arena *arena = ws_arena_create();
  ws_build_result result = {0}, back;
  struct cJSON *json = through_text(ws_build_result_to_json(&result));
  ws_diag diag = {""};
  WS_CHECK_INT(ws_build_result_from_json(arena, json, &back, &diag), WS_OK);
  WS_CHECK_INT(back.verdict, WS_VERDICT_OK);
  WS_CHECK_TEXT(back.reason, "");
  WS_CHECK_TEXT(back.code_hash, "");
  WS_CHECK_TEXT(back.object_hash, "");
  cJSON_Delete(json);
  ws_arena_destroy(arena);
}

/* ---- malformed
 * ------------------------------------------------------------------ */

/* Replaces the value at a dotted path ("kernels.0.mix.valu") by JSON text, or
 * removes it where text is NULL. */
static void put(struct cJSON *json, const char *path, const char *text) {
  char part[64];
  for (;;) {
    size_t size = strcspn(path, ".");
    memcpy(part, path, size);
    part[size] = '\0';
    if (!path[size])
      break;
    json = cJSON_IsArray(json) ? cJSON_GetArrayItem(json, atoi(part))
                               : cJSON_GetObjectItem(json, part);
    WS_CHECK(json != NULL);
    path += size + 1;
  }
  cJSON_DeleteItemFromObject(json, part);
  if (text)
    cJSON_AddItemToObject(json, part, cJSON_Parse(text));
}

/* As older archives hold it. */
WS_TEST(observations_without_mfma_other_are_read) {
  ws_arena *arena = ws_arena_create();
  ws_build_result result = make_result(arena), back;
  struct cJSON *json = through_text(ws_build_result_to_json(&result));
  put(json, "runs.0.launches.1.observed.mfma_other", NULL);
  ws_diag diag = {""};
  if (ws_build_result_from_json(arena, json, &back, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK(back.runs[0].launches[0].observed.mfma_other != 0);
  WS_CHECK_INT(back.runs[0].launches[1].observed.mfma_other, 0);
  cJSON_Delete(json);
  ws_arena_destroy(arena);
}

struct change {
  const char *path, *text, *want;
};

WS_TEST(malformed_requests_are_refused) {
  static const struct change changes[] = {
      {"target", NULL,
       "build request: 'target' is missing; it must be a string"},
      {"target", "5", "'target' must be a string"},
      {"stages", "64", "unknown stages 64"},
      {"stages", "-1", "unknown stages -1"},
      {"stages", "1.5", "'stages' must be an integer"},
      {"stages", "3000000000", "'stages' is 3000000000, outside"},
      {"limits", NULL, "'limits' is missing; it must be an object"},
      {"limits", "[]", "'limits' must be an object"},
      {"limits.wall_ms", NULL, "'wall_ms' is 0, outside 1 to 2147483647"},
      {"limits.cpu_ms", "-5", "'cpu_ms' is -5, outside 1 to 2147483647"},
      {"bodies", "{}", "'bodies' must be an array"},
      {"bodies.0.text", "null", "'text' must be a string"},
      {"bodies.1.language", NULL, "'language' is missing"},
      {"runs", NULL, "'runs' is missing"},
      {"runs.0.order", "2", "'order' is 2, outside 0 to 1"},
      {"runs.0.shape.m", "1e300", "'m' must be an integer"},
      {"runs.0.shape.m", "\"1\"", "'m' must be an integer"},
      {"runs.0.seed", "1", "'seed' must be a string"},
      {"runs.0.seed", "\"\"", "'seed' must be a string of decimal digits"},
      {"runs.0.seed", "\"-1\"", "'seed' must be a string of decimal digits"},
      {"runs.0.seed", "\"1x\"", "'seed' must be a string of decimal digits"},
      {"runs.0.seed", "\"18446744073709551616\"", "below 2^64"},
  };
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    struct cJSON *json = ws_build_request_to_json(named_request());
    put(json, changes[i].path, changes[i].text);
    ws_build_request back;
    ws_diag diag = {""};
    if (ws_build_request_from_json(arena, json, &back, &diag) != WS_INPUT)
      WS_FAIL("%s = %s was accepted", changes[i].path, changes[i].text);
    WS_CHECK_CONTAINS(diag.text, changes[i].want);
    WS_CHECK(back.target == NULL);
    cJSON_Delete(json);
  }
  ws_arena_destroy(arena);
}

WS_TEST(malformed_results_are_refused) {
  static const struct change changes[] = {
      {"verdict", "\"good\"", "build result: unknown verdict 'good'"},
      {"verdict", NULL, "'verdict' is missing"},
      {"reason", NULL, "'reason' is missing"},
      {"parse_ms", "1e999", "'parse_ms' is out of range"},
      {"lower_ms", "\"fast\"", "'lower_ms' must be a number"},
      {"findings", "5", "'findings' must be an array"},
      {"findings.1.line", "1e12", "'line' is 1000000000000, outside"},
      {"kernels.0.name", NULL, "'name' is missing"},
      {"kernels.0.mix", NULL, "'mix' is missing; it must be an object"},
      {"kernels.1.mix.salu", "true", "'salu' must be an integer"},
      {"kernels.1.loops.3.mix", "3", "'mix' must be an object"},
      {"kernels.0.loops", "[1,2,3,4,5,6,7,8,9]",
       "'loops' has 9 items; the limit is 8"},
      {"kernels.0.args", "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]",
       "'args' has 25 items; the limit is 24"},
      {"kernels", "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]",
       "'kernels' has 17 items; the limit is 16"},
      {"kernels", "[0]", "item 0 of 'kernels' must be an object"},
      {"kernels", "[{}]", "'name' is missing"},
      {"runs.0.launches", "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]",
       "'launches' has 17 items; the limit is 16"},
      {"runs.0.launches.1.observed", "\"none\"",
       "'observed' must be an object"},
      {"runs.0.launches.1.observed.waves", "0.5", "'waves' must be an integer"},
  };
  ws_arena *arena = ws_arena_create();
  ws_build_result result = make_result(arena);
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    struct cJSON *json = ws_build_result_to_json(&result);
    put(json, changes[i].path, changes[i].text);
    ws_build_result back;
    ws_diag diag = {""};
    if (ws_build_result_from_json(arena, json, &back, &diag) != WS_INPUT)
      WS_FAIL("%s = %s was accepted", changes[i].path, changes[i].text);
    WS_CHECK_CONTAINS(diag.text, changes[i].want);
    WS_CHECK(back.reason == NULL);
    cJSON_Delete(json);
  }
  static const char *const not_objects[] = {"null", "[]", "5", "\"x\"", "{}"};
  for (size_t i = 0; i < sizeof not_objects / sizeof *not_objects; i++) {
    struct cJSON *json = cJSON_Parse(not_objects[i]);
    ws_build_result back;
    ws_build_request back_request;
    WS_CHECK_INT(ws_build_result_from_json(arena, json, &back, NULL), WS_INPUT);
    WS_CHECK_INT(ws_build_request_from_json(arena, json, &back_request, NULL),
                 WS_INPUT);
    cJSON_Delete(json);
  }
  ws_arena_destroy(arena);
}
