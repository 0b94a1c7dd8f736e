/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Build requests and results as JSON and back. Structs whose members are all
 * of one sort are described by tables of fields (name, type, offset), and one
 * writer and one reader serve them all. A zero integer is left out and an
 * absent one reads as zero: most counts of an instruction mix are zero.
 * The reader trusts nothing: types, counts and ranges are checked, strings are
 * copied into the arena.
 */
#include "wavesmith/build.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char request_name[] = "build request";
static const char result_name[] = "build result";

/* ---- tables of fields
 * -------------------------------------------------------- */

enum field_type { FIELD_INT32, FIELD_INT64, FIELD_DOUBLE, FIELD_TEXT };
struct field {
  const char *name;
  enum field_type type;
  size_t offset;
};
struct fields {
  const struct field *items;
  int count;
};
#define FIELDS(table) ((struct fields){table, sizeof table / sizeof table[0]})
#define INT32(type, name)                                                      \
  { #name, FIELD_INT32, offsetof(type, name) }
#define INT64(type, name)                                                      \
  { #name, FIELD_INT64, offsetof(type, name) }
#define DOUBLE(type, name)                                                     \
  { #name, FIELD_DOUBLE, offsetof(type, name) }
#define TEXT(type, name)                                                       \
  { #name, FIELD_TEXT, offsetof(type, name) }
_Static_assert(sizeof(int) == sizeof(int32_t), "int members use FIELD_INT32");

static const struct field shape_fields[] = {
    INT64(ws_shape, m), INT64(ws_shape, n), INT64(ws_shape, k)};

static const struct field limits_fields[] = {INT32(ws_limits, wall_ms),
                                             INT32(ws_limits, cpu_ms),
                                             INT32(ws_limits, memory_mb)};

static const struct field request_fields[] = {
    TEXT(ws_build_request, template_file), TEXT(ws_build_request, target),
    TEXT(ws_build_request, assignments), TEXT(ws_build_request, variants),
    INT32(ws_build_request, stages)};

static const struct field body_fields[] = {
    TEXT(struct ws_request_body, region),
    TEXT(struct ws_request_body, language), TEXT(struct ws_request_body, text),
    TEXT(struct ws_request_body, file)};

static const struct field finding_fields[] = {
    TEXT(ws_finding, id), TEXT(ws_finding, region), TEXT(ws_finding, file),
    TEXT(ws_finding, text), INT32(ws_finding, line)};

static const struct field mix_fields[] = {
#define MIX_FIELD(name) INT32(ws_mix, name),
    WS_MIX_MAP(MIX_FIELD)
#undef MIX_FIELD
};

static const struct field loop_fields[] = {
    INT32(ws_loop, mfma_clocks_over_load), INT32(ws_loop, load_bytes)};

static const struct field kernel_fields[] = {
    TEXT(ws_kernel_facts, name),
    INT32(ws_kernel_facts, vgpr),
    INT32(ws_kernel_facts, agpr),
    INT32(ws_kernel_facts, sgpr),
    INT32(ws_kernel_facts, lds_bytes),
    INT32(ws_kernel_facts, dynamic_lds),
    INT32(ws_kernel_facts, scratch_bytes),
    INT32(ws_kernel_facts, vgpr_spills),
    INT32(ws_kernel_facts, sgpr_spills),
    INT32(ws_kernel_facts, kernarg_bytes),
    INT32(ws_kernel_facts, max_workgroup),
    INT32(ws_kernel_facts, code_bytes)};

static const struct field kernarg_fields[] = {TEXT(struct ws_kernarg, name),
                                              INT32(struct ws_kernarg, offset),
                                              INT32(struct ws_kernarg, size)};

static const struct field constant_fields[] = {
    TEXT(struct ws_scalar_constant, scalar),
    INT64(struct ws_scalar_constant, value),
    INT32(struct ws_scalar_constant, modulus)};

static const struct field observed_fields[] = {
#define OBSERVED_FIELD(name) INT64(ws_observed, name),
    WS_OBSERVED_MAP(OBSERVED_FIELD)
#undef OBSERVED_FIELD
};

static const struct field launch_fields[] = {
    TEXT(struct ws_launch_observed, kernel)};

static const struct field result_fields[] = {
    TEXT(ws_build_result, stage),         TEXT(ws_build_result, reason),
    TEXT(ws_build_result, ir_hash),       TEXT(ws_build_result, code_hash),
    DOUBLE(ws_build_result, parse_ms),    DOUBLE(ws_build_result, check_ms),
    DOUBLE(ws_build_result, sanitize_ms), DOUBLE(ws_build_result, lower_ms)};
/* Absent in results of before it was recorded. */
static const struct field compiler_field = TEXT(ws_build_result, compiler);
static const struct field object_field = TEXT(ws_build_result, object_hash);

/* ---- writing
 * ------------------------------------------------------------------ */

static void write_field(cJSON *object, const struct field *field,
                        const char *base) {
  const void *member = base + field->offset;
  int64_t integer = 0;
  switch (field->type) {
  case FIELD_TEXT: {
    const char *text = *(const char *const *)member;
    cJSON_AddStringToObject(object, field->name, text ? text : "");
    return;
  }
  case FIELD_DOUBLE:
    cJSON_AddNumberToObject(object, field->name, *(const double *)member);
    return;
  case FIELD_INT32:
    integer = *(const int32_t *)member;
    break;
  case FIELD_INT64:
    integer = *(const int64_t *)member;
    break;
  }
  if (integer)
    cJSON_AddNumberToObject(object, field->name, (double)integer);
}

static void write_fields(cJSON *object, struct fields fields,
                         const void *base) {
  for (int i = 0; i < fields.count; i++)
    write_field(object, &fields.items[i], base);
}

/* A member object of the fields of *base. */
static void add_object(cJSON *object, const char *name, struct fields fields,
                       const void *base) {
  write_fields(cJSON_AddObjectToObject(object, name), fields, base);
}

static cJSON *append_object(cJSON *array, struct fields fields,
                            const void *base) {
  cJSON *object = cJSON_CreateObject();
  write_fields(object, fields, base);
  cJSON_AddItemToArray(array, object);
  return object;
}

/* Seeds use all 64 bits, which a JSON number does not hold. */
static void add_seed(cJSON *object, uint64_t seed) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, seed);
  cJSON_AddStringToObject(object, "seed", text);
}

struct cJSON *ws_build_request_to_json(const ws_build_request *request) {
  cJSON *json = cJSON_CreateObject();
  write_fields(json, FIELDS(request_fields), request);
  add_object(json, "limits", FIELDS(limits_fields), &request->limits);
  cJSON *bodies = cJSON_AddArrayToObject(json, "bodies");
  for (int i = 0; i < request->body_count; i++)
    append_object(bodies, FIELDS(body_fields), &request->bodies[i]);
  cJSON *runs = cJSON_AddArrayToObject(json, "runs");
  for (int i = 0; i < request->run_count; i++) {
    const ws_run *run = &request->runs[i];
    cJSON *object = append_object(runs, FIELDS(shape_fields), &run->shape);
    cJSON_AddNumberToObject(object, "order", run->order);
    cJSON_AddNumberToObject(object, "spots", run->spots);
    add_seed(object, run->seed);
  }
  return json;
}

static void append_kernel(cJSON *array, const ws_kernel_facts *kernel) {
  cJSON *object = append_object(array, FIELDS(kernel_fields), kernel);
  cJSON_AddBoolToObject(object, "dynamic_stack", kernel->dynamic_stack);
  add_object(object, "mix", FIELDS(mix_fields), &kernel->mix);
  cJSON *loops = cJSON_AddArrayToObject(object, "loops");
  for (int i = 0; i < kernel->loop_count; i++) {
    cJSON *loop = append_object(loops, FIELDS(loop_fields), &kernel->loops[i]);
    add_object(loop, "mix", FIELDS(mix_fields), &kernel->loops[i].mix);
  }
  cJSON *args = cJSON_AddArrayToObject(object, "args");
  for (int i = 0; i < kernel->arg_count; i++)
    append_object(args, FIELDS(kernarg_fields), &kernel->args[i]);
  cJSON *constants = cJSON_AddArrayToObject(object, "constants");
  for (int i = 0; i < kernel->constant_count; i++)
    append_object(constants, FIELDS(constant_fields), &kernel->constants[i]);
}

static void append_run(cJSON *array, const ws_run_result *run) {
  cJSON *object = append_object(array, FIELDS(shape_fields), &run->shape);
  cJSON *launches = cJSON_AddArrayToObject(object, "launches");
  for (int i = 0; i < run->launch_count; i++) {
    const struct ws_launch_observed *launch = &run->launches[i];
    cJSON *item = append_object(launches, FIELDS(launch_fields), launch);
    add_object(item, "observed", FIELDS(observed_fields), &launch->observed);
  }
}

static void write_object_hash(cJSON *json, const ws_build_result *result) {
  ws_hash hash;
  const char *text = result->object_hash;
  if (result->code_object_size) {
    hash = ws_hash_bytes(result->code_object, result->code_object_size);
    text = hash.hex;
  }
  if (text && *text)
    cJSON_AddStringToObject(json, object_field.name, text);
}

struct cJSON *ws_build_result_to_json(const ws_build_result *result) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "verdict", ws_verdict_text(result->verdict));
  if (result->blame != WS_BLAME_CANDIDATE)
    cJSON_AddStringToObject(json, "blame", ws_blame_text(result->blame));
  write_fields(json, FIELDS(result_fields), result);
  write_field(json, &compiler_field, (const char *)result);
  write_object_hash(json, result);
  cJSON *findings = cJSON_AddArrayToObject(json, "findings");
  for (int i = 0; i < result->finding_count; i++)
    append_object(findings, FIELDS(finding_fields), &result->findings[i]);
  cJSON *runs = cJSON_AddArrayToObject(json, "runs");
  for (int i = 0; i < result->run_count; i++)
    append_run(runs, &result->runs[i]);
  cJSON *kernels = cJSON_AddArrayToObject(json, "kernels");
  for (int i = 0; i < result->kernel_count; i++)
    append_kernel(kernels, &result->kernels[i]);
  return json;
}

/* ---- reading
 * ------------------------------------------------------------------ */

struct reader {
  ws_arena *arena;
  const char *what;
  ws_diag *diag;
};

static ws_status read_integer(struct reader *reader, const cJSON *object,
                              const char *name, int64_t low, int64_t high,
                              int64_t *out) {
  *out = 0;
  if (!cJSON_GetObjectItemCaseSensitive(object, name))
    return WS_OK;
  WS_TRY(ws_json_get_int(object, name, reader->what, out, reader->diag));
  if (*out < low || *out > high)
    return ws_fail(reader->diag, WS_INPUT, reader->what, 0,
                   "'%s' is %" PRId64 ", outside %" PRId64 " to %" PRId64, name,
                   *out, low, high);
  return WS_OK;
}

static ws_status read_field(struct reader *reader, const cJSON *object,
                            const struct field *field, char *base) {
  void *member = base + field->offset;
  int64_t integer = 0;
  switch (field->type) {
  case FIELD_TEXT: {
    const char *text;
    WS_TRY(ws_json_get_string(object, field->name, reader->what, &text,
                              reader->diag));
    *(const char **)member = ws_arena_strdup(reader->arena, text);
    break;
  }
  case FIELD_DOUBLE:
    WS_TRY(ws_json_get_double(object, field->name, reader->what, member,
                              reader->diag));
    break;
  case FIELD_INT32:
    WS_TRY(read_integer(reader, object, field->name, INT32_MIN, INT32_MAX,
                        &integer));
    *(int32_t *)member = (int32_t)integer;
    break;
  case FIELD_INT64:
    WS_TRY(read_integer(reader, object, field->name, INT64_MIN, INT64_MAX,
                        member));
    break;
  }
  return WS_OK;
}

static ws_status read_fields(struct reader *reader, const cJSON *object,
                             struct fields fields, void *base) {
  for (int i = 0; i < fields.count; i++)
    WS_TRY(read_field(reader, object, &fields.items[i], base));
  return WS_OK;
}

static ws_status read_object(struct reader *reader, const cJSON *object,
                             const char *name, struct fields fields,
                             void *base) {
  const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
  if (!cJSON_IsObject(member))
    return ws_fail(reader->diag, WS_INPUT, reader->what, 0,
                   "'%s' must be an object", name);
  return read_fields(reader, member, fields, base);
}

/* The array and its length, at most limit. */
static ws_status read_array(struct reader *reader, const cJSON *object,
                            const char *name, int limit, const cJSON **out,
                            int *out_count) {
  *out_count = 0;
  WS_TRY(ws_json_get_array(object, name, reader->what, out, reader->diag));
  int count = cJSON_GetArraySize(*out);
  if (count > limit)
    return ws_fail(reader->diag, WS_INPUT, reader->what, 0,
                   "'%s' has %d items; the limit is %d", name, count, limit);
  *out_count = count;
  return WS_OK;
}

/* Far above what the two sides send each other. */
enum { RUNS_MAX = 4096, FINDINGS_MAX = 4096, SPOTS_MAX = 4096 };

static ws_status read_seed(struct reader *reader, const cJSON *object,
                           uint64_t *out) {
  const char *text;
  char *end;
  WS_TRY(ws_json_get_string(object, "seed", reader->what, &text, reader->diag));
  errno = 0;
  *out = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || errno)
    return ws_fail(reader->diag, WS_INPUT, reader->what, 0,
                   "'seed' must be a string of decimal digits below 2^64");
  return WS_OK;
}

static ws_status read_runs(struct reader *reader, const cJSON *json,
                           ws_build_request *out) {
  const cJSON *array, *item;
  int count, index = 0;
  WS_TRY(read_array(reader, json, "runs", RUNS_MAX, &array, &count));
  ws_run *runs = ws_arena_alloc(reader->arena, (size_t)count * sizeof *runs);
  cJSON_ArrayForEach(item, array) {
    ws_run *run = &runs[index++];
    int64_t order, spots;
    WS_TRY(read_fields(reader, item, FIELDS(shape_fields), &run->shape));
    WS_TRY(read_integer(reader, item, "spots", 0, SPOTS_MAX, &spots));
    run->spots = (int32_t)spots;
    WS_TRY(read_integer(reader, item, "order", WS_WAVES_UP, WS_WAVES_DOWN,
                        &order));
    run->order = (ws_wave_order)order;
    WS_TRY(read_seed(reader, item, &run->seed));
  }
  out->runs = runs;
  out->run_count = count;
  return WS_OK;
}

static ws_status read_bodies(struct reader *reader, const cJSON *json,
                             ws_build_request *out) {
  const cJSON *array, *item;
  int count, index = 0;
  WS_TRY(read_array(reader, json, "bodies", WS_TEMPLATE_MAX_REGIONS, &array,
                    &count));
  struct ws_request_body *bodies =
      ws_arena_alloc(reader->arena, (size_t)count * sizeof *bodies);
  cJSON_ArrayForEach(item, array)
      WS_TRY(read_fields(reader, item, FIELDS(body_fields), &bodies[index++]));
  out->bodies = bodies;
  out->body_count = count;
  return WS_OK;
}

static ws_status check_limits(struct reader *reader, const ws_limits *limits) {
  if (limits->wall_ms > 0 && limits->cpu_ms > 0 && limits->memory_mb > 0)
    return WS_OK;
  return ws_fail(reader->diag, WS_INPUT, reader->what, 0,
                 "limits must be above 0");
}

ws_status ws_build_request_from_json(ws_arena *arena, const struct cJSON *json,
                                     ws_build_request *out_request,
                                     ws_diag *diag) {
  struct reader reader = {arena, request_name, diag};
  ws_build_request request = {0};
  *out_request = request;
  WS_TRY(read_fields(&reader, json, FIELDS(request_fields), &request));
  if (request.stages & ~(WS_STAGE_CHECK | WS_STAGE_SANITIZE | WS_STAGE_LOWER |
                         WS_STAGE_RAW | WS_STAGE_LINES))
    return ws_fail(diag, WS_INPUT, request_name, 0, "unknown stages %d",
                   request.stages);
  WS_TRY(read_object(&reader, json, "limits", FIELDS(limits_fields),
                     &request.limits));
  WS_TRY(check_limits(&reader, &request.limits));
  WS_TRY(read_bodies(&reader, json, &request));
  WS_TRY(read_runs(&reader, json, &request));
  *out_request = request;
  return WS_OK;
}

static ws_status read_findings(struct reader *reader, const cJSON *json,
                               ws_build_result *out) {
  const cJSON *array, *item;
  int count, index = 0;
  WS_TRY(read_array(reader, json, "findings", FINDINGS_MAX, &array, &count));
  ws_finding *findings =
      ws_arena_alloc(reader->arena, (size_t)count * sizeof *findings);
  cJSON_ArrayForEach(item, array) WS_TRY(
      read_fields(reader, item, FIELDS(finding_fields), &findings[index++]));
  out->findings = findings;
  out->finding_count = count;
  return WS_OK;
}

static ws_status read_launches(struct reader *reader, const cJSON *json,
                               ws_run_result *out) {
  const cJSON *array, *item;
  int count;
  WS_TRY(read_array(reader, json, "launches", WS_TEMPLATE_MAX_LAUNCHES, &array,
                    &count));
  cJSON_ArrayForEach(item, array) {
    struct ws_launch_observed *launch = &out->launches[out->launch_count++];
    WS_TRY(read_fields(reader, item, FIELDS(launch_fields), launch));
    WS_TRY(read_object(reader, item, "observed", FIELDS(observed_fields),
                       &launch->observed));
  }
  return WS_OK;
}

static ws_status read_run_results(struct reader *reader, const cJSON *json,
                                  ws_build_result *out) {
  const cJSON *array, *item;
  int count, index = 0;
  WS_TRY(read_array(reader, json, "runs", RUNS_MAX, &array, &count));
  ws_run_result *runs =
      ws_arena_alloc(reader->arena, (size_t)count * sizeof *runs);
  cJSON_ArrayForEach(item, array) {
    ws_run_result *run = &runs[index++];
    WS_TRY(read_fields(reader, item, FIELDS(shape_fields), &run->shape));
    WS_TRY(read_launches(reader, item, run));
  }
  out->runs = runs;
  out->run_count = count;
  return WS_OK;
}

static ws_status read_loops(struct reader *reader, const cJSON *json,
                            ws_kernel_facts *out) {
  const cJSON *array, *item;
  int count;
  WS_TRY(read_array(reader, json, "loops", WS_MAX_LOOPS, &array, &count));
  cJSON_ArrayForEach(item, array) {
    ws_loop *loop = &out->loops[out->loop_count++];
    WS_TRY(read_fields(reader, item, FIELDS(loop_fields), loop));
    WS_TRY(read_object(reader, item, "mix", FIELDS(mix_fields), &loop->mix));
  }
  return WS_OK;
}

static ws_status read_kernel(struct reader *reader, const cJSON *json,
                             ws_kernel_facts *out) {
  const cJSON *array, *item;
  int count;
  WS_TRY(read_fields(reader, json, FIELDS(kernel_fields), out));
  out->dynamic_stack =
      cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "dynamic_stack"));
  WS_TRY(read_object(reader, json, "mix", FIELDS(mix_fields), &out->mix));
  WS_TRY(read_loops(reader, json, out));
  WS_TRY(read_array(reader, json, "args", WS_PROBLEM_MAX_ARGS, &array, &count));
  cJSON_ArrayForEach(item, array) WS_TRY(read_fields(
      reader, item, FIELDS(kernarg_fields), &out->args[out->arg_count++]));
  if (!cJSON_HasObjectItem(json, "constants"))
    return WS_OK; /* a result of before they were recorded */
  WS_TRY(
      read_array(reader, json, "constants", WS_MAX_CONSTANTS, &array, &count));
  cJSON_ArrayForEach(item, array)
      WS_TRY(read_fields(reader, item, FIELDS(constant_fields),
                         &out->constants[out->constant_count++]));
  return WS_OK;
}

static ws_status read_kernels(struct reader *reader, const cJSON *json,
                              ws_build_result *out) {
  const cJSON *array, *item;
  int count, index = 0;
  WS_TRY(read_array(reader, json, "kernels", WS_MAX_KERNELS, &array, &count));
  ws_kernel_facts *kernels =
      ws_arena_alloc(reader->arena, (size_t)count * sizeof *kernels);
  cJSON_ArrayForEach(item, array)
      WS_TRY(read_kernel(reader, item, &kernels[index++]));
  out->kernels = kernels;
  out->kernel_count = count;
  return WS_OK;
}

ws_status ws_build_result_from_json(ws_arena *arena, const struct cJSON *json,
                                    ws_build_result *out_result,
                                    ws_diag *diag) {
  struct reader reader = {arena, result_name, diag};
  ws_build_result result = {0};
  const char *verdict;
  *out_result = result;
  WS_TRY(ws_json_get_string(json, "verdict", result_name, &verdict, diag));
  if (!ws_verdict_parse(verdict, &result.verdict))
    return ws_fail(diag, WS_INPUT, result_name, 0, "unknown verdict '%.40s'",
                   verdict);
  const cJSON *blame = cJSON_GetObjectItemCaseSensitive(json, "blame");
  if (blame && (!cJSON_IsString(blame) ||
                !ws_blame_parse(blame->valuestring, &result.blame)))
    return ws_fail(diag, WS_INPUT, result_name, 0, "unknown blame");
  WS_TRY(read_fields(&reader, json, FIELDS(result_fields), &result));
  result.compiler = "";
  if (cJSON_HasObjectItem(json, compiler_field.name))
    WS_TRY(read_field(&reader, json, &compiler_field, (char *)&result));
  result.object_hash = "";
  if (cJSON_HasObjectItem(json, object_field.name))
    WS_TRY(read_field(&reader, json, &object_field, (char *)&result));
  WS_TRY(read_findings(&reader, json, &result));
  WS_TRY(read_run_results(&reader, json, &result));
  WS_TRY(read_kernels(&reader, json, &result));
  *out_result = result;
  return WS_OK;
}
