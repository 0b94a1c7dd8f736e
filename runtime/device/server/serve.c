/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Requests in, answers out, one at a time. It has no time limit of its own: a
 * kernel that hangs hangs the process, and the client ends it.
 */
#include "serve.h"
#include "wavesmith/measure.h"

#include <cjson/cJSON.h>
#include <string.h>

/* Bytes: the contest's 18 shapes take 590 MB. */
static const size_t KEPT_INPUTS = (size_t)1 << 30;

typedef struct server {
  int socket;
  ws_device *device;
  ws_inputs *inputs; /* NULL: none are kept */
  bool at_end;
} server;

typedef struct request {
  cJSON *json;
  const void *code_object;
  size_t size;
  ws_arena *arena;
} request;

static void send_json(int socket, cJSON *owned_json) {
  ws_diag diag;
  char *text = cJSON_PrintUnformatted(owned_json);
  cJSON_Delete(owned_json);
  WS_ASSERT(text && "out of memory");
  if (ws_message_send(socket, text, NULL, 0, &diag) != WS_OK)
    ws_log(WS_LOG_DEBUG, "%s", diag.text);
  cJSON_free(text);
}

static void send_error(int socket, ws_status status, const char *text) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "error", text);
  cJSON_AddStringToObject(json, "status",
                          status == WS_INPUT ? "input" : "environment");
  send_json(socket, json);
}

void ws__device_refuse(int socket, const char *text) {
  send_error(socket, WS_ENVIRONMENT, text);
}

static void send_ready(const server *s) {
  const ws_device_info *info = ws_device_info_of(s->device);
  cJSON *json = cJSON_CreateObject();
  cJSON_AddBoolToObject(json, "ready", true);
  cJSON *item = cJSON_AddObjectToObject(json, "info");
  cJSON_AddStringToObject(item, "kind", info->kind);
  cJSON_AddStringToObject(item, "name", info->name);
  cJSON_AddStringToObject(item, "arch", info->arch);
  cJSON_AddStringToObject(item, "library", info->library);
  cJSON_AddStringToObject(item, "provenance", info->provenance);
  cJSON_AddNumberToObject(item, "cu_count", info->cu_count);
  cJSON_AddNumberToObject(item, "memory_bytes", (double)info->memory_bytes);
  cJSON_AddNumberToObject(item, "cache_bytes", (double)info->cache_bytes);
  cJSON_AddBoolToObject(item, "simulated", info->simulated);
  send_json(s->socket, json);
}

/* ---- requests ---- */

enum { MAX_WORKLOADS = 64 };

static ws_status read_workloads(const request *asked, ws_workload **out,
                                int *out_count, ws_diag *diag) {
  const cJSON *array, *item;
  WS_TRY(ws_json_get_array(asked->json, "workloads", "request", &array, diag));
  int count = cJSON_GetArraySize(array), index = 0;
  if (count < 1 || count > MAX_WORKLOADS)
    return ws_fail(diag, WS_INPUT, "request", 0,
                   "%d workloads; wanted are 1 to %d", count, MAX_WORKLOADS);
  *out = ws_arena_alloc(asked->arena, sizeof **out * (size_t)count);
  cJSON_ArrayForEach(item, array)
      WS_TRY(ws_workload_from_json(asked->arena, item, &(*out)[index++], diag));
  *out_count = count;
  return WS_OK;
}

static ws_status read_settings(const request *asked, ws_measure_settings *out,
                               ws_diag *diag) {
  const cJSON *json = cJSON_GetObjectItemCaseSensitive(asked->json, "settings");
  int64_t least, most;
  const char *what = "settings";
  WS_TRY(ws_json_get_double(json, "warm_up_ms", what, &out->warm_up_ms, diag));
  WS_TRY(
      ws_json_get_double(json, "target_width", what, &out->target_width, diag));
  WS_TRY(
      ws_json_get_double(json, "roofline_us", what, &out->roofline_us, diag));
  WS_TRY(ws_json_get_int(json, "min_samples", what, &least, diag));
  WS_TRY(ws_json_get_int(json, "max_samples", what, &most, diag));
  if (least < 1 || most < least || most > 65536)
    return ws_fail(diag, WS_INPUT, what, 0, "%lld to %lld samples",
                   (long long)least, (long long)most);
  out->min_samples = (int)least;
  out->max_samples = (int)most;
  return WS_OK;
}

static ws_status measure(const server *s, const request *asked, bool verify,
                         ws_measured *out, ws_diag *diag) {
  ws_workload *workloads = NULL;
  ws_measure_settings settings = {0};
  int count = 0;
  WS_TRY(read_workloads(asked, &workloads, &count, diag));
  WS_TRY(read_settings(asked, &settings, diag));
  if (verify)
    return ws_verify(s->device, asked->arena, asked->code_object, asked->size,
                     workloads, count, NULL, out, diag);
  ws_contestant candidate = {asked->code_object, asked->size, &workloads[0]};
  return ws_time(s->device, asked->arena, &candidate, NULL, &settings,
                 s->inputs, out, diag);
}

static void serve(server *s, const request *asked) {
  ws_diag diag;
  const char *op;
  ws_measured measured;
  ws_status status =
      ws_json_get_string(asked->json, "op", "request", &op, &diag);
  bool verify = status == WS_OK && !strcmp(op, "verify");
  if (status == WS_OK && !verify && strcmp(op, "time"))
    status = ws_fail(&diag, WS_INPUT, "request", 0, "unknown op '%s'", op);
  if (status == WS_OK)
    status = measure(s, asked, verify, &measured, &diag);
  if (status != WS_OK) {
    send_error(s->socket, status, diag.text);
    s->at_end = status == WS_ENVIRONMENT;
    return;
  }
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToObject(json, "measured", ws_measured_to_json(&measured));
  send_json(s->socket, json);
  s->at_end = measured.verdict != WS_VERDICT_OK;
}

static void serve_next(server *s, ws_arena *arena) {
  char *text;
  void *blob;
  request asked = {.arena = arena};
  ws_diag diag;
  if (ws_message_receive(s->socket, -1, arena, &text, &blob, &asked.size, NULL,
                         &diag) != WS_OK) {
    s->at_end = true;
    return;
  }
  asked.code_object = blob;
  asked.json = ws_json_parse(text, strlen(text), "request", &diag);
  if (asked.json)
    serve(s, &asked);
  else
    send_error(s->socket, WS_INPUT, diag.text);
  cJSON_Delete(asked.json);
}

void ws__device_serve(int socket, ws_device *device) {
  server s = {.socket = socket, .device = device};
  if (ws_device_info_of(device)->dry_timing)
    s.inputs = ws_inputs_create(device, KEPT_INPUTS);
  send_ready(&s);
  while (!s.at_end) {
    ws_arena *arena = ws_arena_create();
    serve_next(&s, arena);
    ws_arena_destroy(arena);
  }
  ws_inputs_destroy(s.inputs);
}
