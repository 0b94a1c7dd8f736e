/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Setting a workload up on a device and looking at what it left. Inputs are a
 * set's (inputs.c); what the candidate alone needs, a workspace, is allocated
 * here. On a card everything that a kernel may write is followed by a guard
 * that must stay as it is; a simulator knows the bounds of each buffer itself.
 */
#include "bench.h"

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FINDINGS = 32 };

/* ---- buffers ---------------------------------------------------------------
 */

static ws_arg_role role_of(const ws__bench *bench, int arg) {
  return ws_problem_arg_role(bench->problem, arg, bench->workload->layout);
}

/* By a kernel, and there. */
static bool is_written(const ws__bench *bench, int arg) {
  return bench->memory[arg] && (ws_arg_is_result(role_of(bench, arg)) ||
                                role_of(bench, arg) == WS_ARG_WORKSPACE);
}

/* A workspace that does not fit is the candidate's doing. */
static ws_status allocate_own(ws__bench *bench, int arg, ws_diag *diag) {
  size_t shift = bench->set->shift;
  size_t bytes = bench->bytes[arg] + bench->guard + shift;
  ws_status status =
      ws_device_allocate(bench->device, bytes, &bench->own[arg], diag);
  if (status == WS_ENVIRONMENT &&
      ws__inputs_make_room(bench->inputs, bench->set))
    status = ws_device_allocate(bench->device, bytes, &bench->own[arg], diag);
  if (status == WS_ENVIRONMENT && role_of(bench, arg) == WS_ARG_WORKSPACE) {
    char cause[sizeof diag->text];
    snprintf(cause, sizeof cause, "%s", diag->text);
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "the device has no room for a workspace of %zu bytes: %s",
                   bench->bytes[arg], cause);
  }
  bench->memory[arg] = bench->own[arg] ? (char *)bench->own[arg] + shift : NULL;
  return status;
}

static ws_status open_argument(ws__bench *bench, int arg, ws_diag *diag) {
  if (role_of(bench, arg) == WS_ARG_SCALAR)
    return WS_OK;
  bench->bytes[arg] = role_of(bench, arg) == WS_ARG_WORKSPACE
                          ? (size_t)bench->workload->workspace_bytes
                          : bench->set->bytes[arg];
  bench->memory[arg] = bench->set->copies[bench->copy].memory[arg];
  /* a card is spared a workspace of nothing and its guard */
  bool needed = bench->bytes[arg] || !bench->guard;
  return bench->memory[arg] || !needed ? WS_OK : allocate_own(bench, arg, diag);
}

/* The buffer of an operand, or of the earlier one of its name; -1: none. */
static int extra_of(const ws__bench *bench, const ws_operand *operand) {
  for (int i = 0; i < bench->extra_count; i++)
    if (bench->extra_of[i] == operand ||
        (operand->name[0] && !strcmp(bench->extra_of[i]->name, operand->name)))
      return i;
  return -1;
}

static ws_status fill_random(ws__bench *bench, char *to, size_t bytes,
                             uint64_t seed, ws_diag *diag) {
  enum { WORDS = 1 << 17 };
  uint64_t *words = ws_arena_alloc(bench->arena, WORDS * sizeof *words);
  ws_rng rng;
  ws_rng_init(&rng, seed);
  for (size_t done = 0; done < bytes;) {
    const size_t rest = bytes - done, most = WORDS * sizeof *words;
    const size_t piece = rest < most ? rest : most;
    for (size_t i = 0; i * sizeof *words < piece; i++)
      words[i] = ws_rng_next(&rng);
    WS_TRY(ws_device_upload(bench->device, to + done, words, piece, diag));
    done += piece;
  }
  return WS_OK;
}

static ws_status open_extra(ws__bench *bench, const ws_operand *operand,
                            ws_diag *diag) {
  if (extra_of(bench, operand) >= 0)
    return WS_OK;
  if (bench->extra_count == WS__MAX_EXTRA || operand->value < 0)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "more than %d buffers, or one of negative size",
                   WS__MAX_EXTRA);
  size_t bytes = (size_t)operand->value;
  bench->extra_of[bench->extra_count] = operand;
  void **place = &bench->extra[bench->extra_count++];
  WS_TRY(ws_device_allocate(bench->device, bytes, place, diag));
  return fill_random(bench, *place, bytes, operand->seed, diag);
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

/* ---- arguments -------------------------------------------------------------
 */

/* Alignment that a tensor map needs, in the kernel's arguments and here. */
enum { MAP_ALIGNMENT = 64 };

static ws_status argument_of(const ws__bench *bench, const char *name,
                             int *out_arg, ws_diag *diag) {
  *out_arg = bench->problem ? ws_problem_arg_index(bench->problem, name) : -1;
  if (*out_arg >= 0)
    return WS_OK;
  return ws_fail(diag, WS_INPUT, NULL, 0, "the problem has no argument '%s'",
                 name);
}

static ws_status pack_map(const ws__bench *bench, const ws_operand *operand,
                          unsigned char *kernarg, ws_diag *diag) {
  int arg;
  const ws_operand_map *map = &operand->map;
  WS_TRY(argument_of(bench, operand->name, &arg, diag));
  double bytes = (double)map->inner * (double)map->outer * map->element_bytes;
  if (operand->offset % MAP_ALIGNMENT)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "the tensor map of '%s' lies at byte %d of the arguments; "
                   "it must be a multiple of %d",
                   operand->name, operand->offset, MAP_ALIGNMENT);
  if (!bench->memory[arg] || bytes > (double)bench->bytes[arg])
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "the tensor map of '%s' covers %.0f bytes; it has %zu",
                   operand->name, bytes, bench->bytes[arg]);
  const ws_device_tensor tensor = {.address = bench->memory[arg],
                                   .element_bytes = map->element_bytes,
                                   .inner = (uint64_t)map->inner,
                                   .outer = (uint64_t)map->outer,
                                   .box_inner = (uint32_t)map->box_inner,
                                   .box_outer = (uint32_t)map->box_outer,
                                   .swizzle = (uint32_t)map->swizzle};
  return ws_device_tensor_map(bench->device, &tensor, kernarg + operand->offset,
                              diag);
}

static ws_status pack_argument(const ws__bench *bench,
                               const ws_operand *operand,
                               unsigned char *kernarg, ws_diag *diag) {
  int arg;
  WS_TRY(argument_of(bench, operand->name, &arg, diag));
  int64_t value = ws_problem_arg_scalar(
      bench->problem, arg, &bench->workload->shape, bench->workload->layout);
  const void *source = role_of(bench, arg) == WS_ARG_SCALAR
                           ? (const void *)&value
                           : (const void *)&bench->memory[arg];
  memcpy(kernarg + operand->offset, source, (size_t)operand->size);
  return WS_OK;
}

static ws_status pack_operand(const ws__bench *bench, const ws_operand *operand,
                              unsigned char *kernarg, ws_diag *diag) {
  const void *source = &operand->value;
  if (operand->kind == WS_OPERAND_TENSOR_MAP)
    return pack_map(bench, operand, kernarg, diag);
  if (operand->kind == WS_OPERAND_PROBLEM)
    return pack_argument(bench, operand, kernarg, diag);
  if (operand->kind == WS_OPERAND_BUFFER)
    source = &bench->extra[extra_of(bench, operand)];
  memcpy(kernarg + operand->offset, source, (size_t)operand->size);
  return WS_OK;
}

static ws_status pack_launch(ws__bench *bench, const ws_workload_launch *from,
                             ws_device_launch *out, ws_diag *diag) {
  uintptr_t room =
      (uintptr_t)ws_arena_alloc(bench->arena, WS_MAX_KERNARG + MAP_ALIGNMENT);
  unsigned char *kernarg = (unsigned char *)((room + MAP_ALIGNMENT - 1) /
                                             MAP_ALIGNMENT * MAP_ALIGNMENT);
  *out =
      (ws_device_launch){.kernel = from->kernel,
                         .grid = {from->grid[0], from->grid[1], from->grid[2]},
                         .block = {from->block, 1, 1},
                         .dynamic_lds = from->dynamic_lds,
                         .kernarg = kernarg};
  uint32_t *offsets = ws_arena_alloc(
      bench->arena, sizeof *offsets * (size_t)from->operand_count);
  out->argument_offsets = offsets;
  out->argument_count = (uint32_t)from->operand_count;
  for (int i = 0; i < from->operand_count; i++) {
    const ws_operand *operand = &from->operands[i];
    offsets[i] = (uint32_t)operand->offset;
    size_t end = (size_t)(operand->offset + operand->size);
    WS_TRY(pack_operand(bench, operand, kernarg, diag));
    out->kernarg_bytes = end > out->kernarg_bytes ? end : out->kernarg_bytes;
  }
  return WS_OK;
}

static ws_status pack_launches(ws__bench *bench, ws_diag *diag) {
  const int count = bench->workload->launch_count;
  bench->launches =
      ws_arena_alloc(bench->arena, sizeof *bench->launches * (size_t)count);
  for (int i = 0; i < count; i++)
    WS_TRY(pack_launch(bench, &bench->workload->launches[i],
                       &bench->launches[i], diag));
  return WS_OK;
}

/* ---- set-up and launching --------------------------------------------------
 */

ws_status ws__bench_open(ws__bench *bench, ws_device *device, ws_arena *arena,
                         ws_device_module *module, const ws_workload *workload,
                         ws_inputs *inputs, ws__input_set *set, int copy,
                         ws_diag *diag) {
  *bench = (ws__bench){.device = device,
                       .arena = arena,
                       .workload = workload,
                       .module = module,
                       .inputs = inputs,
                       .set = set,
                       .copy = copy};
  if (set) {
    bench->problem = set->problem;
    bench->guard = set->guard;
    for (int i = 0; i < bench->problem->arg_count; i++)
      WS_TRY(open_argument(bench, i, diag));
  }
  WS_TRY(open_extras(bench, diag));
  return pack_launches(bench, diag);
}

void ws__bench_close(ws__bench *bench) {
  for (int i = 0; i < WS_PROBLEM_MAX_ARGS; i++)
    ws_device_free(bench->device, bench->own[i]);
  for (int i = 0; i < bench->extra_count; i++)
    ws_device_free(bench->device, bench->extra[i]);
}

int ws__bench_other_poison(ws_inputs *inputs, int byte) {
  enum { NEAR = 64 };
  int off = NEAR + (int)ws__inputs_random(inputs, 256 - 2 * NEAR + 1);
  return (byte + off) % 256;
}

ws_status ws__bench_poison(ws__bench *bench, int byte, ws_diag *diag) {
  bench->poison = byte;
  for (int i = 0; bench->problem && i < bench->problem->arg_count; i++)
    if (is_written(bench, i) && bench->bytes[i] + bench->guard)
      WS_TRY(ws_device_fill(bench->device, bench->memory[i], byte,
                            bench->bytes[i] + bench->guard, diag));
  return ws__bench_restore(bench, diag);
}

ws_status ws__bench_restore(ws__bench *bench, ws_diag *diag) {
  for (int i = 0; bench->problem && i < bench->problem->arg_count; i++)
    if (role_of(bench, i) == WS_ARG_INOUT &&
        !ws_device_info_of(bench->device)->dry_timing)
      WS_TRY(ws_device_upload(bench->device, bench->memory[i],
                              ws__inputs_contents(bench->inputs, bench->set, i),
                              bench->bytes[i], diag));
  return WS_OK;
}

ws_status ws__bench_start(ws__bench *bench, ws_diag *diag) {
  for (int i = 0; i < bench->workload->launch_count; i++)
    WS_TRY(ws_device_start(bench->device, bench->module, &bench->launches[i],
                           diag));
  return WS_OK;
}

/* ---- what was found --------------------------------------------------------
 */

ws_measured ws__measured_ok(const ws_device *device) {
  return (ws_measured){.verdict = WS_VERDICT_OK,
                       .reason = "",
                       .provenance = ws_device_info_of(device)->provenance,
                       .bound = "",
                       .throttle = "",
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
  char sizes[WS_SHAPE_TEXT];
  out->reason =
      ws_arena_printf(arena, "on %s: %s", ws_shape_print(shape, sizes), text);
}

/* ---- looking at what it left -----------------------------------------------
 */

ws_status ws__bench_check_inputs(ws__bench *bench, bool sampled,
                                 ws_measured *out, ws_diag *diag) {
  int arg;
  WS_TRY(ws__inputs_compare(bench->inputs, bench->set, bench->copy, sampled,
                            &arg, diag));
  if (arg >= 0)
    ws__measured_fail(
        out, bench->arena, WS_VERDICT_WRONG, &bench->workload->shape,
        "the kernel wrote to its input '%s'", bench->problem->args[arg].name);
  return WS_OK;
}

ws_status ws__bench_check_guards(ws__bench *bench, ws_measured *out,
                                 ws_diag *diag) {
  unsigned char now[WS__GUARD_BYTES];
  for (int i = 0; bench->guard && i < bench->problem->arg_count; i++) {
    if (!is_written(bench, i))
      continue;
    const char *guard = (const char *)bench->memory[i] + bench->bytes[i];
    WS_TRY(ws_device_download(bench->device, now, guard, bench->guard, diag));
    for (size_t b = 0; b < bench->guard; b++)
      if (now[b] != bench->poison) {
        ws__measured_fail(out, bench->arena, WS_VERDICT_WRONG,
                          &bench->workload->shape,
                          "the kernel wrote %zu bytes behind the end of '%s'",
                          b, bench->problem->args[i].name);
        return WS_OK;
      }
  }
  return WS_OK;
}

/* ---- the simulator's report
 * --------------------------------------------------- */

static ws_finding read_finding(ws_arena *arena, const cJSON *json) {
  ws_diag diag;
  ws_finding finding;
  if (ws_json_read(&ws_finding_json, arena, json, "finding", &finding, &diag) !=
      WS_OK)
    finding = (ws_finding){.id = "unreadable",
                           .region = "",
                           .file = "",
                           .text = ws_arena_strdup(arena, diag.text)};
  return finding;
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
    place = ws_arena_printf(arena, " (%s, %s)", finding->region,
                            ws_finding_place(arena, finding));
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
  const cJSON *bound = cJSON_GetObjectItemCaseSensitive(json, "bound");
  out->bound =
      cJSON_IsString(bound) ? ws_arena_strdup(arena, bound->valuestring) : "";
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

/* What a report's lines have said so far. */
typedef struct report_state {
  const ws_shape *shape;
  ws_finding *findings;
  double longest_us;
  bool failed;
} report_state;

/* Notes are kept beside the findings and fail nothing. */
static void read_list(ws_measured *out, ws_arena *arena, const cJSON *list,
                      bool notes, report_state *state) {
  const cJSON *item;
  cJSON_ArrayForEach(item, list) {
    ws_finding finding = read_finding(arena, item);
    if (!notes && !state->failed)
      fail_by_finding(out, arena, &finding, state->shape);
    state->failed |= !notes;
    if (out->finding_count < MAX_FINDINGS &&
        !is_known(state->findings, out->finding_count, &finding))
      state->findings[out->finding_count++] = finding;
  }
}

static void read_line(ws_measured *out, ws_arena *arena, const cJSON *json,
                      report_state *state) {
  const cJSON *report = cJSON_GetObjectItemCaseSensitive(json, "report");
  read_bound(out, arena, cJSON_GetObjectItemCaseSensitive(json, "profile"),
             &state->longest_us);
  read_list(out, arena, cJSON_GetObjectItemCaseSensitive(report, "findings"),
            false, state);
  read_list(out, arena, cJSON_GetObjectItemCaseSensitive(report, "notes"), true,
            state);
}

void ws__measured_add_report(ws_measured *out, ws_device *device,
                             ws_arena *arena, const ws_shape *shape) {
  char *report = ws_device_take_report(device, arena);
  report_state state = {
      .shape = shape,
      .findings = ws_arena_alloc(arena, sizeof *state.findings * MAX_FINDINGS)};
  out->report = ws_arena_strdup(arena, report);
  out->findings = state.findings;
  out->finding_count = 0;
  for (char *rest = report, *line; (line = strsep(&rest, "\n"));) {
    cJSON *json = *line ? cJSON_Parse(line) : NULL;
    read_line(out, arena, json, &state);
    cJSON_Delete(json);
  }
  if (out->verdict != WS_VERDICT_OK && !state.failed)
    out->finding_count = 0; /* notes explain no failure */
}
