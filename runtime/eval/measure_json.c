/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Workloads and what was measured, as JSON and back. The reader trusts
 * nothing: types, counts and ranges are checked, strings are copied.
 */
#include "wavesmith/measure.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char workload_name[] = "workload";
static const char measured_name[] = "measurement";
enum { MAX_SAMPLES = 1 << 16, MAX_FINDINGS = 256 };

/* ---- numbers and texts ---- */

typedef struct reader {
  ws_arena *arena;
  const char *what;
  ws_diag *diag;
} reader;

static ws_status read_int(const reader *in, const cJSON *json, const char *name,
                          int64_t low, int64_t high, int64_t *out) {
  WS_TRY(ws_json_get_int(json, name, in->what, out, in->diag));
  if (*out >= low && *out <= high)
    return WS_OK;
  return ws_fail(in->diag, WS_INPUT, in->what, 0,
                 "'%s' is %" PRId64 ", outside %" PRId64 " to %" PRId64, name,
                 *out, low, high);
}

static ws_status read_text(const reader *in, const cJSON *json,
                           const char *name, const char **out) {
  WS_TRY(ws_json_get_string(json, name, in->what, out, in->diag));
  *out = ws_arena_strdup(in->arena, *out);
  return WS_OK;
}

static ws_status read_list(const reader *in, const cJSON *json,
                           const char *name, int limit, const cJSON **out,
                           int *out_count) {
  WS_TRY(ws_json_get_array(json, name, in->what, out, in->diag));
  *out_count = cJSON_GetArraySize(*out);
  if (*out_count <= limit)
    return WS_OK;
  return ws_fail(in->diag, WS_INPUT, in->what, 0,
                 "'%s' has %d items; the limit is %d", name, *out_count, limit);
}

/* Seeds use all 64 bits, which a JSON number does not hold. */
static void add_seed(cJSON *json, uint64_t seed) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, seed);
  cJSON_AddStringToObject(json, "seed", text);
}

static ws_status read_seed(const reader *in, const cJSON *json, uint64_t *out) {
  const char *text;
  char *end;
  WS_TRY(ws_json_get_string(json, "seed", in->what, &text, in->diag));
  *out = strtoull(text, &end, 10);
  if (*text >= '0' && *text <= '9' && !*end)
    return WS_OK;
  return ws_fail(in->diag, WS_INPUT, in->what, 0,
                 "'seed' must be a string of decimal digits");
}

static void add_shape(cJSON *json, const ws_shape *shape) {
  cJSON_AddNumberToObject(json, "m", (double)shape->m);
  cJSON_AddNumberToObject(json, "n", (double)shape->n);
  cJSON_AddNumberToObject(json, "k", (double)shape->k);
}

static ws_status read_shape(const reader *in, const cJSON *json,
                            ws_shape *out) {
  WS_TRY(read_int(in, json, "m", 0, INT32_MAX, &out->m));
  WS_TRY(read_int(in, json, "n", 0, INT32_MAX, &out->n));
  return read_int(in, json, "k", 0, INT32_MAX, &out->k);
}

/* ---- workloads ---- */

/* Fields of a tensor map, and what bounds them. */
static const struct map_field {
  const char *name;
  size_t offset;
  bool wide; /* int64_t, else int */
  int64_t low, high;
} map_fields[] = {
    {"element_bytes", offsetof(ws_operand_map, element_bytes), false, 1, 16},
    {"inner", offsetof(ws_operand_map, inner), true, 1, INT64_C(1) << 40},
    {"outer", offsetof(ws_operand_map, outer), true, 1, INT64_C(1) << 40},
    {"box_inner", offsetof(ws_operand_map, box_inner), false, 1, 1 << 16},
    {"box_outer", offsetof(ws_operand_map, box_outer), false, 1, 1 << 16},
    {"swizzle", offsetof(ws_operand_map, swizzle), false, 0, 128}};
enum { MAP_FIELDS = sizeof map_fields / sizeof map_fields[0] };

static cJSON *map_to_json(const ws_operand_map *map) {
  cJSON *json = cJSON_CreateObject();
  for (int i = 0; i < MAP_FIELDS; i++) {
    const struct map_field *field = &map_fields[i];
    const char *place = (const char *)map + field->offset;
    cJSON_AddNumberToObject(json, field->name,
                            field->wide ? (double)*(const int64_t *)place
                                        : *(const int *)place);
  }
  return json;
}

static ws_status read_map(const reader *in, const cJSON *json,
                          ws_operand_map *out) {
  const cJSON *map = cJSON_GetObjectItemCaseSensitive(json, "map");
  for (int i = 0; i < MAP_FIELDS; i++) {
    const struct map_field *field = &map_fields[i];
    int64_t value;
    char *place = (char *)out + field->offset;
    WS_TRY(read_int(in, map, field->name, field->low, field->high, &value));
    if (field->wide)
      *(int64_t *)place = value;
    else
      *(int *)place = (int)value;
  }
  return WS_OK;
}

static void append_operand(cJSON *array, const ws_operand *operand) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToArray(array, json);
  cJSON_AddNumberToObject(json, "kind", operand->kind);
  cJSON_AddStringToObject(json, "name", operand->name ? operand->name : "");
  cJSON_AddNumberToObject(json, "value", (double)operand->value);
  add_seed(json, operand->seed);
  cJSON_AddNumberToObject(json, "offset", operand->offset);
  cJSON_AddNumberToObject(json, "size", operand->size);
  if (operand->kind == WS_OPERAND_TENSOR_MAP)
    cJSON_AddItemToObject(json, "map", map_to_json(&operand->map));
}

static void append_launch(cJSON *array, const ws_workload_launch *launch) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToArray(array, json);
  cJSON_AddStringToObject(json, "kernel", launch->kernel);
  static const char *const axes[] = {"grid_x", "grid_y", "grid_z"};
  for (int i = 0; i < 3; i++)
    cJSON_AddNumberToObject(json, axes[i], launch->grid[i]);
  cJSON_AddNumberToObject(json, "block", launch->block);
  cJSON_AddNumberToObject(json, "dynamic_lds", launch->dynamic_lds);
  cJSON *operands = cJSON_AddArrayToObject(json, "operands");
  for (int i = 0; i < launch->operand_count; i++)
    append_operand(operands, &launch->operands[i]);
}

struct cJSON *ws_workload_to_json(const ws_workload *workload) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "problem", workload->problem);
  cJSON_AddNumberToObject(json, "layout", workload->layout);
  add_shape(json, &workload->shape);
  add_seed(json, workload->seed);
  cJSON_AddBoolToObject(json, "sampled", workload->sampled);
  cJSON_AddBoolToObject(json, "once", workload->once);
  cJSON_AddNumberToObject(json, "workspace_bytes",
                          (double)workload->workspace_bytes);
  cJSON *launches = cJSON_AddArrayToObject(json, "launches");
  for (int i = 0; i < workload->launch_count; i++)
    append_launch(launches, &workload->launches[i]);
  return json;
}

static ws_status read_operand(const reader *in, const cJSON *json,
                              ws_operand *out) {
  int64_t kind, offset, size;
  WS_TRY(read_int(in, json, "kind", 0, WS_OPERAND_TENSOR_MAP, &kind));
  bool is_map = kind == WS_OPERAND_TENSOR_MAP;
  WS_TRY(read_int(in, json, "size", is_map ? WS_TENSOR_MAP_BYTES : 4,
                  is_map ? WS_TENSOR_MAP_BYTES : 8, &size));
  WS_TRY(read_int(in, json, "offset", 0, WS_MAX_KERNARG - size, &offset));
  WS_TRY(read_int(in, json, "value", INT64_MIN, INT64_MAX, &out->value));
  WS_TRY(read_seed(in, json, &out->seed));
  out->kind = (ws_operand_kind)kind;
  out->offset = (int32_t)offset;
  out->size = (int32_t)size;
  if (is_map)
    WS_TRY(read_map(in, json, &out->map));
  return read_text(in, json, "name", &out->name);
}

static ws_status read_launch(const reader *in, const cJSON *json,
                             ws_workload_launch *out) {
  static const char *const axes[] = {"grid_x", "grid_y", "grid_z"};
  int64_t value;
  const cJSON *array, *item;
  WS_TRY(read_text(in, json, "kernel", &out->kernel));
  for (int i = 0; i < 3; i++) {
    WS_TRY(read_int(in, json, axes[i], 0, UINT32_MAX, &value));
    out->grid[i] = (uint32_t)value;
  }
  WS_TRY(read_int(in, json, "block", 0, UINT32_MAX, &value));
  out->block = (uint32_t)value;
  WS_TRY(read_int(in, json, "dynamic_lds", 0, UINT32_MAX, &value));
  out->dynamic_lds = (uint32_t)value;
  WS_TRY(read_list(in, json, "operands", WS_MAX_OPERANDS, &array,
                   &out->operand_count));
  ws_operand *operands =
      ws_arena_alloc(in->arena, sizeof *operands * (size_t)out->operand_count);
  int index = 0;
  cJSON_ArrayForEach(item, array)
      WS_TRY(read_operand(in, item, &operands[index++]));
  out->operands = operands;
  return WS_OK;
}

ws_status ws_workload_from_json(ws_arena *arena, const struct cJSON *json,
                                ws_workload *out, ws_diag *diag) {
  const reader in = {arena, workload_name, diag};
  int64_t layout;
  const cJSON *array, *item;
  *out = (ws_workload){0};
  WS_TRY(read_text(&in, json, "problem", &out->problem));
  WS_TRY(read_int(&in, json, "layout", 0, 64, &layout));
  out->layout = (int)layout;
  WS_TRY(read_shape(&in, json, &out->shape));
  WS_TRY(read_seed(&in, json, &out->seed));
  out->sampled =
      cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "sampled"));
  out->once = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "once"));
  WS_TRY(read_int(&in, json, "workspace_bytes", 0, INT64_C(1) << 40,
                  &out->workspace_bytes));
  WS_TRY(read_list(&in, json, "launches", WS_TEMPLATE_MAX_LAUNCHES, &array,
                   &out->launch_count));
  ws_workload_launch *launches =
      ws_arena_alloc(arena, sizeof *launches * (size_t)out->launch_count);
  int index = 0;
  cJSON_ArrayForEach(item, array)
      WS_TRY(read_launch(&in, item, &launches[index++]));
  out->launches = launches;
  return WS_OK;
}

/* ---- what was measured ---- */

static void append_finding(cJSON *array, const ws_finding *finding) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToArray(array, json);
  cJSON_AddStringToObject(json, "id", finding->id);
  cJSON_AddStringToObject(json, "region", finding->region);
  cJSON_AddStringToObject(json, "file", finding->file);
  cJSON_AddNumberToObject(json, "line", finding->line);
  cJSON_AddStringToObject(json, "text", finding->text);
}

/* JSON has no infinity, which is what a NaN in the output comes to. */
static double capped(double value) { return value < 1e300 ? value : 1e300; }

/* Numbers of a measurement, and texts. */
static const struct measured_field {
  const char *name;
  size_t offset;
} measured_numbers[] =
    {
#define FIELD(name)                                                            \
  { #name, offsetof(ws_measured, name) }
        FIELD(us),       FIELD(low_us),       FIELD(high_us),
        FIELD(rival_us), FIELD(rival_low_us), FIELD(rival_high_us),
        FIELD(ratio),    FIELD(low_ratio),    FIELD(high_ratio),
        FIELD(empty_us), FIELD(host_ms),      FIELD(worst_ratio)},
  measured_counts[] = {FIELD(low_mhz), FIELD(high_mhz), FIELD(memory_mhz),
                       FIELD(dropped)},
  measured_texts[] = {FIELD(reason), FIELD(provenance), FIELD(bound),
                      FIELD(report), FIELD(throttle)};
#undef FIELD
#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))
#define MEASURED_AT(type, measured, field)                                     \
  ((type *)((char *)(uintptr_t)(measured) + (field)->offset))

static void add_fields(cJSON *json, const ws_measured *measured) {
  for (size_t i = 0; i < COUNT_OF(measured_texts); i++) {
    const struct measured_field *field = &measured_texts[i];
    const char *text = *MEASURED_AT(const char *, measured, field);
    cJSON_AddStringToObject(json, field->name, text ? text : "");
  }
  for (size_t i = 0; i < COUNT_OF(measured_numbers); i++) {
    const struct measured_field *field = &measured_numbers[i];
    cJSON_AddNumberToObject(json, field->name,
                            capped(*MEASURED_AT(double, measured, field)));
  }
  for (size_t i = 0; i < COUNT_OF(measured_counts); i++) {
    const struct measured_field *field = &measured_counts[i];
    cJSON_AddNumberToObject(json, field->name,
                            *MEASURED_AT(int, measured, field));
  }
}

static ws_status read_fields(const reader *in, const cJSON *json,
                             ws_measured *out) {
  for (size_t i = 0; i < COUNT_OF(measured_texts); i++)
    WS_TRY(read_text(in, json, measured_texts[i].name,
                     MEASURED_AT(const char *, out, &measured_texts[i])));
  for (size_t i = 0; i < COUNT_OF(measured_numbers); i++)
    WS_TRY(ws_json_get_double(json, measured_numbers[i].name, in->what,
                              MEASURED_AT(double, out, &measured_numbers[i]),
                              in->diag));
  for (size_t i = 0; i < COUNT_OF(measured_counts); i++) {
    int64_t value;
    WS_TRY(read_int(in, json, measured_counts[i].name, 0, INT32_MAX, &value));
    *MEASURED_AT(int, out, &measured_counts[i]) = (int)value;
  }
  return WS_OK;
}

struct cJSON *ws_measured_to_json(const ws_measured *measured) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "verdict", ws_verdict_text(measured->verdict));
  add_fields(json, measured);
  add_shape(json, &measured->shape);
  cJSON_AddNumberToObject(json, "compared", (double)measured->compared);
  cJSON *samples = cJSON_AddArrayToObject(json, "samples");
  for (int i = 0; i < measured->sample_count; i++)
    cJSON_AddItemToArray(samples, cJSON_CreateNumber(measured->samples[i]));
  cJSON *findings = cJSON_AddArrayToObject(json, "findings");
  for (int i = 0; i < measured->finding_count; i++)
    append_finding(findings, &measured->findings[i]);
  return json;
}

static ws_status read_findings(const reader *in, const cJSON *json,
                               ws_measured *out) {
  const cJSON *array, *item;
  WS_TRY(read_list(in, json, "findings", MAX_FINDINGS, &array,
                   &out->finding_count));
  ws_finding *findings =
      ws_arena_alloc(in->arena, sizeof *findings * (size_t)out->finding_count);
  int index = 0;
  cJSON_ArrayForEach(item, array) {
    ws_finding *finding = &findings[index++];
    int64_t line;
    WS_TRY(read_text(in, item, "id", &finding->id));
    WS_TRY(read_text(in, item, "region", &finding->region));
    WS_TRY(read_text(in, item, "file", &finding->file));
    WS_TRY(read_text(in, item, "text", &finding->text));
    WS_TRY(read_int(in, item, "line", 0, INT32_MAX, &line));
    finding->line = (int)line;
  }
  out->findings = findings;
  return WS_OK;
}

static ws_status read_samples(const reader *in, const cJSON *json,
                              ws_measured *out) {
  const cJSON *array, *item;
  WS_TRY(
      read_list(in, json, "samples", MAX_SAMPLES, &array, &out->sample_count));
  double *samples =
      ws_arena_alloc(in->arena, sizeof *samples * (size_t)out->sample_count);
  int index = 0;
  cJSON_ArrayForEach(item, array) samples[index++] = item->valuedouble;
  out->samples = samples;
  return WS_OK;
}

ws_status ws_measured_from_json(ws_arena *arena, const struct cJSON *json,
                                ws_measured *out, ws_diag *diag) {
  const reader in = {arena, measured_name, diag};
  const char *verdict;
  *out = (ws_measured){0};
  WS_TRY(ws_json_get_string(json, "verdict", measured_name, &verdict, diag));
  if (!ws_verdict_parse(verdict, &out->verdict))
    return ws_fail(diag, WS_INPUT, measured_name, 0, "unknown verdict '%s'",
                   verdict);
  WS_TRY(read_fields(&in, json, out));
  WS_TRY(read_int(&in, json, "compared", 0, INT64_MAX, &out->compared));
  WS_TRY(read_shape(&in, json, &out->shape));
  WS_TRY(read_samples(&in, json, out));
  return read_findings(&in, json, out);
}
