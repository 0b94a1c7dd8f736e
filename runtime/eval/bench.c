/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Setting a workload up on a device and looking at what it left. Buffers are
 * fresh for every workload; between them lies one of random size, so that a
 * card does not hand out the same addresses again. On a card everything that a
 * kernel may write is followed by a guard that must stay as it is; a simulator
 * knows the bounds of each buffer itself.
 */
#include "bench.h"
#include "inputs.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
  GUARD_BYTES = 4096,
  POISON = 0xff,
  COMPARE_ROWS = 64,
  MAX_FINDINGS = 32
};

/* ---- buffers ---------------------------------------------------------------
 */

static ws_arg_role role_of(const ws__bench *bench, int arg) {
  return bench->problem->args[arg].role;
}

static bool is_written(const ws__bench *bench, int arg) {
  return role_of(bench, arg) == WS_ARG_OUTPUT ||
         role_of(bench, arg) == WS_ARG_WORKSPACE;
}

static bool is_borrowed(const ws__bench *bench, int arg) {
  return bench->kept && arg < bench->problem->arg_count &&
         role_of(bench, arg) == WS_ARG_INPUT;
}

static size_t size_of(const ws__bench *bench, int arg) {
  const ws_workload *workload = bench->workload;
  if (role_of(bench, arg) == WS_ARG_WORKSPACE)
    return (size_t)workload->workspace_bytes;
  if (role_of(bench, arg) == WS_ARG_SCALAR)
    return 0;
  return (size_t)bench->problem->arg_bytes(arg, &workload->shape,
                                           workload->layout);
}

static ws_status open_argument(ws__bench *bench, int arg, ws_diag *diag) {
  const ws_workload *workload = bench->workload;
  size_t bytes = size_of(bench, arg);
  bench->bytes[arg] = bytes;
  if (role_of(bench, arg) == WS_ARG_SCALAR)
    return WS_OK;
  if (is_borrowed(bench, arg)) {
    bench->memory[arg] = bench->kept[arg];
    return WS_OK;
  }
  size_t guard = is_written(bench, arg) ? bench->guard : 0;
  WS_TRY(ws_device_allocate(bench->device, bytes + guard, &bench->memory[arg],
                            diag));
  if (bench->kept || role_of(bench, arg) == WS_ARG_WORKSPACE)
    return WS_OK;
  bench->host[arg] = ws_arena_alloc(bench->arena, bytes);
  if (role_of(bench, arg) == WS_ARG_OUTPUT)
    return WS_OK;
  bench->problem->generate(arg, &workload->shape, workload->layout,
                           workload->seed, bench->host[arg]);
  return ws_device_upload(bench->device, bench->memory[arg], bench->host[arg],
                          bytes, diag);
}

static ws_status open_extra(ws__bench *bench, const ws_operand *operand,
                            ws_diag *diag) {
  if (bench->extra_count == WS__MAX_EXTRA || operand->value < 0)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "more than %d buffers, or one of negative size",
                   WS__MAX_EXTRA);
  size_t bytes = (size_t)operand->value;
  void **place = &bench->extra[bench->extra_count++];
  WS_TRY(ws_device_allocate(bench->device, bytes, place, diag));
  uint8_t *contents = ws_arena_alloc(bench->arena, bytes);
  ws_rng rng;
  ws_rng_init(&rng, operand->seed);
  for (size_t i = 0; i < bytes; i++)
    contents[i] = (uint8_t)ws_rng_next(&rng);
  return ws_device_upload(bench->device, *place, contents, bytes, diag);
}

static ws_status open_extras(ws__bench *bench, ws_diag *diag) {
  for (int l = 0; l < bench->workload->launch_count; l++) {
    const ws_workload_launch *launch = &bench->workload->launches[l];
    for (int i = 0; i < launch->operand_count; i++)
      if (launch->operands[i].kind == WS_OPERAND_BUFFER)
        WS_TRY(open_extra(bench, &launch->operands[i], diag));
  }
  return WS_OK;
}

ws_status ws__bench_open(ws__bench *bench, ws_device *device, ws_arena *arena,
                         ws_device_module *module, const ws_workload *workload,
                         ws_inputs *inputs, ws_diag *diag) {
  *bench = (ws__bench){
      .device = device,
      .arena = arena,
      .workload = workload,
      .module = module,
      .guard = ws_device_info_of(device)->simulated ? 0 : (size_t)GUARD_BYTES};
  if (*workload->problem) {
    bench->problem = ws_problem_find(workload->problem);
    if (!bench->problem)
      return ws_fail(diag, WS_INPUT, NULL, 0, "there is no problem '%s'",
                     workload->problem);
    WS_TRY(bench->problem->check_shape(&workload->shape, diag));
    if (inputs)
      WS_TRY(
          ws__inputs_get(inputs, bench->problem, workload, &bench->kept, diag));
    for (int i = 0; i < bench->problem->arg_count; i++)
      WS_TRY(open_argument(bench, i, diag));
  }
  return open_extras(bench, diag);
}

ws_status ws__bench_copy(ws__bench *bench, const ws__bench *from,
                         ws_diag *diag) {
  *bench = *from;
  bench->extra_count = 0;
  memset(bench->memory, 0, sizeof bench->memory);
  for (int i = 0; bench->problem && i < bench->problem->arg_count; i++) {
    if (role_of(bench, i) == WS_ARG_SCALAR)
      continue;
    WS_TRY(ws_device_allocate(bench->device, bench->bytes[i] + bench->guard,
                              &bench->memory[i], diag));
    if (role_of(bench, i) == WS_ARG_INPUT)
      WS_TRY(ws_device_upload(bench->device, bench->memory[i], bench->host[i],
                              bench->bytes[i], diag));
  }
  return open_extras(bench, diag);
}

void ws__bench_close(ws__bench *bench) {
  for (int i = 0; i < WS_PROBLEM_MAX_ARGS; i++)
    if (!is_borrowed(bench, i))
      ws_device_free(bench->device, bench->memory[i]);
  for (int i = 0; i < bench->extra_count; i++)
    ws_device_free(bench->device, bench->extra[i]);
}

size_t ws__bench_bytes(const ws__bench *bench) {
  size_t sum = 0;
  for (int i = 0; i < WS_PROBLEM_MAX_ARGS; i++)
    sum += bench->bytes[i];
  return sum;
}

ws_status ws__bench_poison(ws__bench *bench, ws_diag *diag) {
  for (int i = 0; bench->problem && i < bench->problem->arg_count; i++)
    if (is_written(bench, i) && bench->bytes[i] + bench->guard)
      WS_TRY(ws_device_fill(bench->device, bench->memory[i], POISON,
                            bench->bytes[i] + bench->guard, diag));
  return WS_OK;
}

/* ---- launching -------------------------------------------------------------
 */

static ws_status pack_operand(const ws__bench *bench, const ws_operand *operand,
                              int *next_extra, unsigned char *kernarg,
                              ws_diag *diag) {
  int64_t value = operand->value;
  const void *source = &value;
  if (operand->kind == WS_OPERAND_BUFFER) {
    source = &bench->extra[(*next_extra)++];
  } else if (operand->kind == WS_OPERAND_PROBLEM) {
    int arg = bench->problem
                  ? ws_problem_arg_index(bench->problem, operand->name)
                  : -1;
    if (arg < 0)
      return ws_fail(diag, WS_INPUT, NULL, 0,
                     "the problem has no argument '%s'", operand->name);
    source = &bench->memory[arg];
    value = bench->problem->arg_scalar(arg, &bench->workload->shape,
                                       bench->workload->layout);
    if (role_of(bench, arg) == WS_ARG_SCALAR)
      source = &value;
  }
  memcpy(kernarg + operand->offset, source, (size_t)operand->size);
  return WS_OK;
}

static ws_status start_launch(ws__bench *bench, const ws_workload_launch *from,
                              int *next_extra, ws_diag *diag) {
  _Alignas(16) unsigned char kernarg[WS_MAX_KERNARG] = {0};
  ws_device_launch launch = {
      .kernel = from->kernel,
      .grid = {from->grid[0], from->grid[1], from->grid[2]},
      .block = {from->block, 1, 1},
      .dynamic_lds = from->dynamic_lds,
      .kernarg = kernarg};
  for (int i = 0; i < from->operand_count; i++) {
    const ws_operand *operand = &from->operands[i];
    size_t end = (size_t)(operand->offset + operand->size);
    WS_TRY(pack_operand(bench, operand, next_extra, kernarg, diag));
    launch.kernarg_bytes =
        end > launch.kernarg_bytes ? end : launch.kernarg_bytes;
  }
  return ws_device_start(bench->device, bench->module, &launch, diag);
}

ws_status ws__bench_start(ws__bench *bench, ws_diag *diag) {
  int next_extra = 0;
  for (int i = 0; i < bench->workload->launch_count; i++)
    WS_TRY(
        start_launch(bench, &bench->workload->launches[i], &next_extra, diag));
  return WS_OK;
}

ws_status ws__bench_fetch(ws__bench *bench, ws_diag *diag) {
  for (int i = 0; bench->problem && i < bench->problem->arg_count; i++)
    if (role_of(bench, i) == WS_ARG_OUTPUT)
      WS_TRY(ws_device_download(bench->device, bench->host[i], bench->memory[i],
                                bench->bytes[i], diag));
  return WS_OK;
}

/* ---- what was found --------------------------------------------------------
 */

ws_measured ws__measured_ok(const ws_device *device) {
  return (ws_measured){.verdict = WS_VERDICT_OK,
                       .reason = "",
                       .provenance = ws_device_info_of(device)->provenance,
                       .bound = "",
                       .report = ""};
}

void ws__measured_fail(ws_measured *out, ws_arena *arena, ws_verdict verdict,
                       const ws_shape *shape, const char *format, ...) {
  char text[700];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  out->verdict = verdict;
  out->shape = *shape;
  out->reason =
      ws_arena_printf(arena, "on %lld,%lld,%lld: %s", (long long)shape->m,
                      (long long)shape->n, (long long)shape->k, text);
}

static void add_comparison(const ws_comparison *part, ws_comparison *sum) {
  if (!sum->wrong && part->wrong) {
    sum->first_m = part->first_m;
    sum->first_n = part->first_n;
    sum->first_got = part->first_got;
    sum->first_want = part->first_want;
    sum->first_bound = part->first_bound;
  }
  sum->checked += part->checked;
  sum->wrong += part->wrong;
  sum->worst_ratio = fmax(sum->worst_ratio, part->worst_ratio);
}

static void add_result(const ws__bench *bench, const ws_comparison *found,
                       ws_measured *out) {
  const char *unwritten =
      isnan(found->first_got) ? " (it may never have been written)" : "";
  const char *place =
      found->first_n == WS_WHOLE_ROW
          ? ws_arena_printf(bench->arena, "row %lld times random signs",
                            (long long)found->first_m)
          : ws_arena_printf(bench->arena, "[%lld][%lld]",
                            (long long)found->first_m,
                            (long long)found->first_n);
  out->compared += found->checked;
  out->worst_ratio = fmax(out->worst_ratio, found->worst_ratio);
  if (found->wrong)
    ws__measured_fail(
        out, bench->arena, WS_VERDICT_WRONG, &bench->workload->shape,
        "%lld of %lld elements are wrong, first %s: %g instead "
        "of %g, bound %g%s",
        (long long)found->wrong, (long long)found->checked, place,
        found->first_got, found->first_want, found->first_bound, unwritten);
}

void ws__bench_compare(const ws__bench *bench, int64_t begin, int64_t end,
                       ws_measured *out) {
  const ws_shape *shape = &bench->workload->shape;
  const void *const *buffers = (const void *const *)bench->host;
  size_t elements = (size_t)(COMPARE_ROWS * shape->n);
  double *value = ws_arena_alloc(bench->arena, elements * sizeof *value);
  double *scale = ws_arena_alloc(bench->arena, elements * sizeof *scale);
  ws_comparison sum = {0}, part;
  for (int64_t m = begin; m < end; m += COMPARE_ROWS) {
    int64_t stop = m + COMPARE_ROWS < end ? m + COMPARE_ROWS : end;
    bench->problem->reference(shape, bench->workload->layout, buffers, m, stop,
                              value, scale);
    bench->problem->compare(shape, buffers, m, stop, value, scale, &part);
    add_comparison(&part, &sum);
  }
  add_result(bench, &sum, out);
}

/* Places and signs follow from the workload's seed, so nobody knows them who
 * does not know that; but not as the inputs do. */
static const uint64_t SAMPLE_SEED = 0x73616d706c65;

void ws__bench_sample(const ws__bench *bench, ws_measured *out) {
  ws_comparison found;
  bench->problem->sample(&bench->workload->shape, bench->workload->layout,
                         (const void *const *)bench->host,
                         bench->workload->seed ^ SAMPLE_SEED, &found);
  add_result(bench, &found, out);
}

/* ---- the simulator's report
 * --------------------------------------------------- */

static const char *text_of(ws_arena *arena, const cJSON *json,
                           const char *name) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
  return cJSON_IsString(item) ? ws_arena_strdup(arena, item->valuestring) : "";
}

static ws_finding read_finding(ws_arena *arena, const cJSON *json) {
  const cJSON *line = cJSON_GetObjectItemCaseSensitive(json, "line");
  return (ws_finding){.id = text_of(arena, json, "id"),
                      .region = text_of(arena, json, "region"),
                      .file = text_of(arena, json, "file"),
                      .text = text_of(arena, json, "text"),
                      .line = cJSON_IsNumber(line) ? line->valueint : 0};
}

static ws_verdict verdict_of(const char *id) {
  static const struct {
    const char *id;
    ws_verdict verdict;
  } others[] = {{"infinite-loop", WS_VERDICT_TIMEOUT},
                {"trap", WS_VERDICT_CRASH},
                {"unsupported", WS_VERDICT_CRASH}};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (!strcmp(others[i].id, id))
      return others[i].verdict;
  return WS_VERDICT_WRONG;
}

/* "lds-race: ... (stage, gemm.ll:120)" */
static void fail_by_finding(ws_measured *out, ws_arena *arena,
                            const ws_finding *finding, const ws_shape *shape) {
  const char *place = "";
  if (*finding->region && finding->line)
    place = ws_arena_printf(arena, " (%s, %s:%d)", finding->region,
                            finding->file, finding->line);
  ws__measured_fail(out, arena, verdict_of(finding->id), shape, "%s: %s%s",
                    finding->id, finding->text, place);
}

/* The longest launch's bound stands for the sequence. */
static void read_bound(ws_measured *out, ws_arena *arena, const cJSON *json,
                       double *longest) {
  const cJSON *us = cJSON_GetObjectItemCaseSensitive(json, "us");
  if (!cJSON_IsNumber(us) || us->valuedouble <= *longest)
    return;
  *longest = us->valuedouble;
  out->bound = text_of(arena, json, "bound");
}

/* The same fault in another workgroup says nothing new. */
static bool is_known(const ws_finding *findings, int count,
                     const ws_finding *finding) {
  for (int i = 0; i < count; i++)
    if (!strcmp(findings[i].id, finding->id) &&
        !strcmp(findings[i].text, finding->text) &&
        findings[i].line == finding->line)
      return true;
  return false;
}

static void read_line(ws_measured *out, ws_arena *arena, const cJSON *json,
                      const ws_shape *shape, ws_finding *findings,
                      double *longest) {
  const cJSON *report = cJSON_GetObjectItemCaseSensitive(json, "report");
  const cJSON *list = cJSON_GetObjectItemCaseSensitive(report, "findings");
  const cJSON *item;
  read_bound(out, arena, cJSON_GetObjectItemCaseSensitive(json, "profile"),
             longest);
  cJSON_ArrayForEach(item, list) {
    ws_finding finding = read_finding(arena, item);
    if (!out->finding_count)
      fail_by_finding(out, arena, &finding, shape);
    if (out->finding_count < MAX_FINDINGS &&
        !is_known(findings, out->finding_count, &finding))
      findings[out->finding_count++] = finding;
  }
}

void ws__measured_add_report(ws_measured *out, ws_device *device,
                             ws_arena *arena, const ws_shape *shape) {
  char *report = ws_device_take_report(device, arena);
  double longest = 0;
  ws_finding *findings = ws_arena_alloc(arena, sizeof *findings * MAX_FINDINGS);
  out->report = ws_arena_strdup(arena, report);
  out->findings = findings;
  out->finding_count = 0;
  for (char *rest = report, *line; (line = strsep(&rest, "\n"));) {
    cJSON *json = *line ? cJSON_Parse(line) : NULL;
    read_line(out, arena, json, shape, findings, &longest);
    cJSON_Delete(json);
  }
}
