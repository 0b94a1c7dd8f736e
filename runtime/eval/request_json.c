/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Requests to a device server and facts of a device, as JSON and back: what
 * travels over a socket or waits in a batch. Code objects go beside it.
 */
#include "wavesmith/measure.h"

#include <cjson/cJSON.h>
#include <string.h>

enum { MAX_WORKLOADS = 64, MAX_SAMPLES = 1 << 16, MAX_WALL_MS = 3600 * 1000 };
static const char request_name[] = "request";
static const char device_name[] = "device";

static const char *const op_names[] = {
    [WS_MEASURE_VERIFY] = "verify", [WS_MEASURE_TIME] = "time"};

/* ---- requests ---- */

static void add_settings(cJSON *json, const ws_measure_settings *settings) {
  cJSON *item = cJSON_AddObjectToObject(json, "settings");
  cJSON_AddNumberToObject(item, "wall_ms", settings->wall_ms);
  cJSON_AddNumberToObject(item, "warm_up_ms", settings->warm_up_ms);
  cJSON_AddNumberToObject(item, "target_width", settings->target_width);
  cJSON_AddNumberToObject(item, "roofline_us", settings->roofline_us);
  cJSON_AddNumberToObject(item, "min_samples", settings->min_samples);
  cJSON_AddNumberToObject(item, "max_samples", settings->max_samples);
}

struct cJSON *ws_measure_request_to_json(const ws_measure_request *request) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "op", op_names[request->op]);
  add_settings(json, &request->settings);
  cJSON *workloads = cJSON_AddArrayToObject(json, "workloads");
  for (int i = 0; i < request->workload_count; i++)
    cJSON_AddItemToArray(workloads,
                         ws_workload_to_json(&request->workloads[i]));
  if (request->rival) {
    cJSON *rival = cJSON_AddObjectToObject(json, "rival");
    cJSON_AddNumberToObject(rival, "size", (double)request->rival->size);
    cJSON_AddItemToObject(rival, "workload",
                          ws_workload_to_json(request->rival->workload));
  }
  return json;
}

static ws_status read_op(const cJSON *json, ws_measure_op *out, ws_diag *diag) {
  const char *name;
  WS_TRY(ws_json_get_string(json, "op", request_name, &name, diag));
  for (size_t i = 0; i < sizeof op_names / sizeof op_names[0]; i++)
    if (!strcmp(name, op_names[i])) {
      *out = (ws_measure_op)i;
      return WS_OK;
    }
  return ws_fail(diag, WS_INPUT, request_name, 0, "unknown op '%s'", name);
}

static ws_status read_settings(const cJSON *json, ws_measure_settings *out,
                               ws_diag *diag) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, "settings");
  const char *what = "settings";
  const struct {
    const char *name;
    double *place;
  } numbers[] = {{"warm_up_ms", &out->warm_up_ms},
                 {"target_width", &out->target_width},
                 {"roofline_us", &out->roofline_us}};
  const struct {
    const char *name;
    int *place;
    int64_t high;
  } counts[] = {{"wall_ms", &out->wall_ms, MAX_WALL_MS},
                {"min_samples", &out->min_samples, MAX_SAMPLES},
                {"max_samples", &out->max_samples, MAX_SAMPLES}};
  int64_t value;
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    WS_TRY(ws_json_get_double(item, numbers[i].name, what, numbers[i].place,
                              diag));
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    WS_TRY(ws_json_get_int(item, counts[i].name, what, &value, diag));
    if (value < 1 || value > counts[i].high)
      return ws_fail(diag, WS_INPUT, what, 0, "'%s' is %lld, outside 1 to %lld",
                     counts[i].name, (long long)value,
                     (long long)counts[i].high);
    *counts[i].place = (int)value;
  }
  if (out->max_samples < out->min_samples)
    return ws_fail(diag, WS_INPUT, what, 0, "%d to %d samples",
                   out->min_samples, out->max_samples);
  return WS_OK;
}

static ws_status read_workloads(ws_arena *arena, const cJSON *json,
                                ws_measure_request *out, ws_diag *diag) {
  const cJSON *array, *item;
  WS_TRY(ws_json_get_array(json, "workloads", request_name, &array, diag));
  int count = cJSON_GetArraySize(array), index = 0;
  if (count < 1 || count > MAX_WORKLOADS)
    return ws_fail(diag, WS_INPUT, request_name, 0,
                   "%d workloads; wanted are 1 to %d", count, MAX_WORKLOADS);
  if (out->op == WS_MEASURE_TIME && count != 1)
    return ws_fail(diag, WS_INPUT, request_name, 0,
                   "%d workloads; one is timed at a time", count);
  ws_workload *workloads =
      ws_arena_alloc(arena, sizeof *workloads * (size_t)count);
  cJSON_ArrayForEach(item, array)
      WS_TRY(ws_workload_from_json(arena, item, &workloads[index++], diag));
  out->workloads = workloads;
  out->workload_count = count;
  return WS_OK;
}

/* Its code object is the last `size` bytes of the blob. */
static ws_status read_rival(ws_arena *arena, const cJSON *json,
                            ws_measure_request *out, ws_diag *diag) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, "rival");
  if (!item)
    return WS_OK;
  int64_t size;
  ws_contestant *rival = ws_arena_alloc(arena, sizeof *rival);
  ws_workload *workload = ws_arena_alloc(arena, sizeof *workload);
  WS_TRY(ws_json_get_int(item, "size", "rival", &size, diag));
  if (out->op != WS_MEASURE_TIME || size < 1 || size > WS_MESSAGE_MAX)
    return ws_fail(diag, WS_INPUT, "rival", 0,
                   "a code object of %lld bytes, or of no timing",
                   (long long)size);
  WS_TRY(ws_workload_from_json(
      arena, cJSON_GetObjectItemCaseSensitive(item, "workload"), workload,
      diag));
  *rival = (ws_contestant){.size = (size_t)size, .workload = workload};
  out->rival = rival;
  return WS_OK;
}

ws_status ws_measure_request_from_json(ws_arena *arena,
                                       const struct cJSON *json,
                                       ws_measure_request *out_request,
                                       ws_diag *diag) {
  *out_request = (ws_measure_request){.op = WS_MEASURE_VERIFY};
  WS_TRY(read_op(json, &out_request->op, diag));
  WS_TRY(read_settings(json, &out_request->settings, diag));
  WS_TRY(read_workloads(arena, json, out_request, diag));
  return read_rival(arena, json, out_request, diag);
}

/* ---- devices ---- */

/* The fields of ws_device_info by name. */
typedef struct info_fields {
  struct {
    const char *name, **place;
  } texts[7];
  struct {
    const char *name;
    int *place;
  } counts[3];
  struct {
    const char *name;
    int64_t *place;
  } sizes[2];
  struct {
    const char *name;
    bool *place;
  } flags[3];
} info_fields;

static info_fields fields_of(ws_device_info *info) {
  return (info_fields){
      .texts = {{"kind", &info->kind},
                {"name", &info->name},
                {"arch", &info->arch},
                {"library", &info->library},
                {"provenance", &info->provenance},
                {"driver", &info->driver},
                {"lock", &info->lock}},
      .counts = {{"cu_count", &info->cu_count},
                 {"clock_mhz", &info->clock_mhz},
                 {"memory_clock_mhz", &info->memory_clock_mhz}},
      .sizes = {{"memory_bytes", &info->memory_bytes},
                {"cache_bytes", &info->cache_bytes}},
      .flags = {{"simulated", &info->simulated},
                {"dry_timing", &info->dry_timing},
                {"graphs", &info->graphs}}};
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct cJSON *ws_device_info_to_json(const ws_device_info *info) {
  ws_device_info copy = *info;
  info_fields fields = fields_of(&copy);
  cJSON *json = cJSON_CreateObject();
  for (size_t i = 0; i < COUNT(fields.texts); i++)
    cJSON_AddStringToObject(json, fields.texts[i].name,
                            *fields.texts[i].place ? *fields.texts[i].place
                                                   : "");
  for (size_t i = 0; i < COUNT(fields.counts); i++)
    cJSON_AddNumberToObject(json, fields.counts[i].name,
                            *fields.counts[i].place);
  for (size_t i = 0; i < COUNT(fields.sizes); i++)
    cJSON_AddNumberToObject(json, fields.sizes[i].name,
                            (double)*fields.sizes[i].place);
  for (size_t i = 0; i < COUNT(fields.flags); i++)
    cJSON_AddBoolToObject(json, fields.flags[i].name, *fields.flags[i].place);
  return json;
}

static ws_status read_count(const cJSON *json, const char *name, int *out,
                            ws_diag *diag) {
  int64_t value;
  WS_TRY(ws_json_get_int(json, name, device_name, &value, diag));
  if (value < 0 || value > INT32_MAX)
    return ws_fail(diag, WS_INPUT, device_name, 0, "'%s' is %lld", name,
                   (long long)value);
  *out = (int)value;
  return WS_OK;
}

ws_status ws_device_info_from_json(ws_arena *arena, const struct cJSON *json,
                                   ws_device_info *out_info, ws_diag *diag) {
  *out_info = (ws_device_info){0};
  info_fields fields = fields_of(out_info);
  for (size_t i = 0; i < COUNT(fields.texts); i++) {
    WS_TRY(ws_json_get_string(json, fields.texts[i].name, device_name,
                              fields.texts[i].place, diag));
    *fields.texts[i].place = ws_arena_strdup(arena, *fields.texts[i].place);
  }
  for (size_t i = 0; i < COUNT(fields.counts); i++)
    WS_TRY(
        read_count(json, fields.counts[i].name, fields.counts[i].place, diag));
  for (size_t i = 0; i < COUNT(fields.sizes); i++)
    WS_TRY(ws_json_get_int(json, fields.sizes[i].name, device_name,
                           fields.sizes[i].place, diag));
  for (size_t i = 0; i < COUNT(fields.flags); i++)
    *fields.flags[i].place = cJSON_IsTrue(
        cJSON_GetObjectItemCaseSensitive(json, fields.flags[i].name));
  return WS_OK;
}
