/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is measured and how, requests to a device server, what was measured and
 * the facts of a device, as JSON and back: the tables of their members. It
 * travels over a socket or waits in a batch; code objects go beside it. A job's
 * id in a batch is a hash of these bytes.
 */
#include "wavesmith/measure.h"

enum {
  MAX_SAMPLES = 1 << 16,
  MAX_FINDINGS = 256,
  MAX_WORKLOADS = 64,
  MAX_WALL_MS = 3600 * 1000
};

/* ---- workloads ---- */
static const ws_json_field map_fields[] = {
    {WS_JSON_INT(ws_operand_map, element_bytes, 1, 16)},
    {WS_JSON_INT(ws_operand_map, inner, 1, INT64_C(1) << 40)},
    {WS_JSON_INT(ws_operand_map, outer, 1, INT64_C(1) << 40)},
    {WS_JSON_INT(ws_operand_map, box_inner, 1, 1 << 16)},
    {WS_JSON_INT(ws_operand_map, box_outer, 1, 1 << 16)},
    {WS_JSON_INT(ws_operand_map, swizzle, 0, 128)}};
static const ws_json_struct map_json =
    WS_JSON_STRUCT(ws_operand_map, map_fields);

static const ws_json_field operand_fields[] = {
    {WS_JSON_INT(ws_operand, kind, 0, WS_OPERAND_TENSOR_MAP)},
    {WS_JSON_TEXT(ws_operand, name)},
    {WS_JSON_INT(ws_operand, value, INT64_MIN, INT64_MAX)},
    {WS_JSON_SEED(ws_operand, seed)},
    {WS_JSON_INT(ws_operand, offset, 0, WS_MAX_KERNARG)},
    {WS_JSON_INT(ws_operand, size, 4, WS_TENSOR_MAP_BYTES)},
    {WS_JSON_OBJECT(ws_operand, map, map_json), .presence = WS_JSON_LEFT_OUT}};

/* A map's bytes are 128 and come with the map, others are 4 to 8. */
static ws_status check_operand(const void *value, const char *what,
                               ws_diag *diag) {
  const ws_operand *operand = value;
  bool is_map = operand->kind == WS_OPERAND_TENSOR_MAP;
  if (is_map != (operand->map.element_bytes > 0))
    return ws_fail(diag, WS_INPUT, what, 0, "'map' is that of a tensor map: %s",
                   is_map ? "it is missing" : "the operand is none");
  if (is_map ? operand->size != WS_TENSOR_MAP_BYTES : operand->size > 8)
    return ws_fail(diag, WS_INPUT, what, 0, "'size' is %d", operand->size);
  if (operand->offset > WS_MAX_KERNARG - operand->size)
    return ws_fail(diag, WS_INPUT, what, 0, "'offset' is %d, outside 0 to %d",
                   operand->offset, WS_MAX_KERNARG - operand->size);
  return WS_OK;
}

static const ws_json_struct operand_json = {
    WS_JSON_FIELDS(ws_operand, operand_fields), .check = check_operand};

static const ws_json_field launch_fields[] = {
    {WS_JSON_TEXT(ws_workload_launch, kernel)},
    {WS_JSON_INT_AS("grid_x", ws_workload_launch, grid[0], 0, UINT32_MAX)},
    {WS_JSON_INT_AS("grid_y", ws_workload_launch, grid[1], 0, UINT32_MAX)},
    {WS_JSON_INT_AS("grid_z", ws_workload_launch, grid[2], 0, UINT32_MAX)},
    {WS_JSON_INT(ws_workload_launch, block, 0, UINT32_MAX)},
    {WS_JSON_INT(ws_workload_launch, dynamic_lds, 0, UINT32_MAX)},
    {WS_JSON_ITEMS(ws_workload_launch, operands, operand_count, 0,
                   WS_MAX_OPERANDS, operand_json)}};
static const ws_json_struct launch_json =
    WS_JSON_STRUCT(ws_workload_launch, launch_fields);

typedef struct ws_workload_reference ws_workload_reference;
static const ws_json_field reference_fields[] = {
    {WS_JSON_INT(ws_workload_reference, workspace_bytes, 0, INT64_C(1) << 40)},
    {WS_JSON_ITEMS(ws_workload_reference, launches, launch_count, 0,
                   WS_TEMPLATE_MAX_LAUNCHES, launch_json)}};
static const ws_json_struct reference_json =
    WS_JSON_STRUCT(ws_workload_reference, reference_fields);

static const ws_json_field workload_fields[] = {
    {WS_JSON_TEXT(ws_workload, problem)},
    {WS_JSON_INT(ws_workload, layout, 0, 64)},
    {WS_JSON_SHAPE(ws_workload, shape)},
    {WS_JSON_SEED(ws_workload, seed)},
    {WS_JSON_BOOL(ws_workload, sampled), .presence = WS_JSON_ADDED},
    {WS_JSON_BOOL(ws_workload, once), .presence = WS_JSON_ADDED},
    {WS_JSON_INT(ws_workload, workspace_bytes, 0, INT64_C(1) << 40)},
    {WS_JSON_ITEMS(ws_workload, launches, launch_count, 0,
                   WS_TEMPLATE_MAX_LAUNCHES, launch_json)},
    {WS_JSON_POINTER(ws_workload, reference, reference_json),
     .presence = WS_JSON_LEFT_OUT}};
static const ws_json_struct workload_json = {
    WS_JSON_FIELDS(ws_workload, workload_fields), .what = "workload"};

struct cJSON *ws_workload_to_json(const ws_workload *workload) {
  return ws_json_write(&workload_json, workload);
}

ws_status ws_workload_from_json(ws_arena *arena, const struct cJSON *json,
                                ws_workload *out, ws_diag *diag) {
  return ws_json_read(&workload_json, arena, json, "workload", out, diag);
}

/* ---- requests ---- */
static const ws_json_field settings_fields[] = {
    {WS_JSON_INT(ws_measure_settings, wall_ms, 1, MAX_WALL_MS)},
    {WS_JSON_DOUBLE(ws_measure_settings, warm_up_ms)},
    {WS_JSON_DOUBLE(ws_measure_settings, target_width)},
    {WS_JSON_DOUBLE(ws_measure_settings, roofline_us)},
    {WS_JSON_INT(ws_measure_settings, min_samples, 1, MAX_SAMPLES)},
    {WS_JSON_INT(ws_measure_settings, max_samples, 1, MAX_SAMPLES)}};

static ws_status check_settings(const void *value, const char *what,
                                ws_diag *diag) {
  const ws_measure_settings *settings = value;
  return settings->min_samples <= settings->max_samples
             ? WS_OK
             : ws_fail(diag, WS_INPUT, what, 0, "%d to %d samples",
                       settings->min_samples, settings->max_samples);
}

static const ws_json_struct settings_json = {
    WS_JSON_FIELDS(ws_measure_settings, settings_fields), .what = "settings",
    .check = check_settings};

/* Its code object is the last `size` bytes of the blob. */
static const ws_json_field rival_fields[] = {
    {WS_JSON_INT(ws_contestant, size, 1, WS_MESSAGE_MAX)},
    {WS_JSON_POINTER(ws_contestant, workload, workload_json)}};
static const ws_json_struct rival_json = {
    WS_JSON_FIELDS(ws_contestant, rival_fields), .what = "rival"};

static const char *const op_names[] = {
    [WS_MEASURE_VERIFY] = "verify", [WS_MEASURE_TIME] = "time"};
static const ws_json_field request_fields[] = {
    {WS_JSON_CHOICE(ws_measure_request, op, op_names)},
    {WS_JSON_OBJECT(ws_measure_request, settings, settings_json)},
    {WS_JSON_ITEMS(ws_measure_request, workloads, workload_count, 1,
                   MAX_WORKLOADS, workload_json)},
    {WS_JSON_POINTER(ws_measure_request, rival, rival_json),
     .presence = WS_JSON_LEFT_OUT}};

static ws_status check_request(const void *value, const char *what,
                               ws_diag *diag) {
  const ws_measure_request *request = value;
  if (request->op == WS_MEASURE_TIME && request->workload_count != 1)
    return ws_fail(diag, WS_INPUT, what, 0,
                   "%d workloads; one is timed at a time",
                   request->workload_count);
  if (request->op != WS_MEASURE_TIME && request->rival)
    return ws_fail(diag, WS_INPUT, what, 0, "a rival, but no timing");
  return WS_OK;
}

const ws_json_struct ws_measure_request_json = {
    WS_JSON_FIELDS(ws_measure_request, request_fields), .what = "request",
    .check = check_request};

struct cJSON *ws_measure_request_to_json(const ws_measure_request *request) {
  return ws_json_write(&ws_measure_request_json, request);
}

ws_status ws_measure_request_from_json(ws_arena *arena,
                                       const struct cJSON *json,
                                       ws_measure_request *out_request,
                                       ws_diag *diag) {
  return ws_json_read(&ws_measure_request_json, arena, json, "request",
                      out_request, diag);
}

/* ---- what was measured ---- */
static const ws_json_field measured_fields[] = {
    {WS_JSON_CHOICE(ws_measured, verdict, ws_verdict_names)},
    {WS_JSON_TEXT(ws_measured, reason)},
    {WS_JSON_TEXT(ws_measured, provenance)},
    {WS_JSON_TEXT(ws_measured, bound)},
    {WS_JSON_TEXT(ws_measured, report)},
    {WS_JSON_TEXT(ws_measured, throttle)},
    {WS_JSON_DOUBLE(ws_measured, us)},
    {WS_JSON_DOUBLE(ws_measured, low_us)},
    {WS_JSON_DOUBLE(ws_measured, high_us)},
    {WS_JSON_DOUBLE(ws_measured, rival_us)},
    {WS_JSON_DOUBLE(ws_measured, rival_low_us)},
    {WS_JSON_DOUBLE(ws_measured, rival_high_us)},
    {WS_JSON_DOUBLE(ws_measured, ratio)},
    {WS_JSON_DOUBLE(ws_measured, low_ratio)},
    {WS_JSON_DOUBLE(ws_measured, high_ratio)},
    {WS_JSON_DOUBLE(ws_measured, empty_us)},
    {WS_JSON_DOUBLE(ws_measured, host_ms)},
    {WS_JSON_DOUBLE(ws_measured, worst_ratio)},
    {WS_JSON_INT(ws_measured, low_mhz, 0, INT32_MAX)},
    {WS_JSON_INT(ws_measured, high_mhz, 0, INT32_MAX)},
    {WS_JSON_INT(ws_measured, memory_mhz, 0, INT32_MAX)},
    {WS_JSON_INT(ws_measured, dropped, 0, INT32_MAX)},
    {WS_JSON_SHAPE(ws_measured, shape)},
    {WS_JSON_INT(ws_measured, compared, 0, INT64_MAX)},
    {WS_JSON_INT(ws_measured, uncompared_shapes, 0, INT32_MAX),
     .presence = WS_JSON_LEFT_OUT},
    {WS_JSON_ITEMS(ws_measured, samples, sample_count, 0, MAX_SAMPLES,
                   ws_json_of_double)},
    {WS_JSON_ITEMS(ws_measured, findings, finding_count, 0, MAX_FINDINGS,
                   ws_finding_json)}};
const ws_json_struct ws_measured_json = {
    WS_JSON_FIELDS(ws_measured, measured_fields), .what = "measurement"};

struct cJSON *ws_measured_to_json(const ws_measured *measured) {
  return ws_json_write(&ws_measured_json, measured);
}

ws_status ws_measured_from_json(ws_arena *arena, const struct cJSON *json,
                                ws_measured *out, ws_diag *diag) {
  return ws_json_read(&ws_measured_json, arena, json, "measurement", out, diag);
}

/* ---- devices ---- */
static const ws_json_field device_fields[] = {
    {WS_JSON_TEXT(ws_device_info, kind)},
    {WS_JSON_TEXT(ws_device_info, name)},
    {WS_JSON_TEXT(ws_device_info, arch)},
    {WS_JSON_TEXT(ws_device_info, library)},
    {WS_JSON_TEXT(ws_device_info, provenance)},
    {WS_JSON_TEXT(ws_device_info, driver)},
    {WS_JSON_TEXT(ws_device_info, lock)},
    {WS_JSON_INT(ws_device_info, cu_count, 0, INT32_MAX)},
    {WS_JSON_INT(ws_device_info, clock_mhz, 0, INT32_MAX)},
    {WS_JSON_INT(ws_device_info, memory_clock_mhz, 0, INT32_MAX)},
    {WS_JSON_INT(ws_device_info, memory_bytes, 0, INT64_MAX)},
    {WS_JSON_INT(ws_device_info, cache_bytes, 0, INT64_MAX)},
    {WS_JSON_BOOL(ws_device_info, simulated), .presence = WS_JSON_ADDED},
    {WS_JSON_BOOL(ws_device_info, dry_timing), .presence = WS_JSON_ADDED},
    {WS_JSON_BOOL(ws_device_info, graphs), .presence = WS_JSON_ADDED},
    {WS_JSON_TEXT(ws_device_info, differs), .presence = WS_JSON_LEFT_OUT}};
const ws_json_struct ws_device_info_json = {
    WS_JSON_FIELDS(ws_device_info, device_fields), .what = "device"};

struct cJSON *ws_device_info_to_json(const ws_device_info *info) {
  return ws_json_write(&ws_device_info_json, info);
}

ws_status ws_device_info_from_json(ws_arena *arena, const struct cJSON *json,
                                   ws_device_info *out_info, ws_diag *diag) {
  return ws_json_read(&ws_device_info_json, arena, json, "device", out_info,
                      diag);
}
