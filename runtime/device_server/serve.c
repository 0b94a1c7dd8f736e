/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Requests in, answers out, one at a time. It has no time limit of its own: a
 * kernel that hangs hangs the process, and the client ends it.
 */
#include "serve.h"
#include "wavesmith/measure.h"

#include <cjson/cJSON.h>
#include <string.h>

typedef struct server {
  int socket;
  ws_device *device;
  ws_inputs *inputs;
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

static void send_error(int socket, ws_status status, bool last,
                       const char *text) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "error", text);
  cJSON_AddStringToObject(json, "status",
                          status == WS_INPUT ? "input" : "environment");
  cJSON_AddBoolToObject(json, "last", last);
  send_json(socket, json);
}

void ws__device_refuse(int socket, const char *text) {
  send_error(socket, WS_ENVIRONMENT, true, text);
}

static void send_ready(const server *s) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddBoolToObject(json, "ready", true);
  cJSON_AddItemToObject(json, "info",
                        ws_device_info_to_json(ws_device_info_of(s->device)));
  send_json(s->socket, json);
}

/* ---- requests ---- */

/* The blob is the candidate's code object and then its rival's, which must be
 * as well aligned as that. */
static ws_status split_blob(const request *asked, ws_measure_request *measure,
                            ws_contestant *out_rival, ws_diag *diag) {
  measure->code_object = asked->code_object;
  measure->code_object_size = asked->size;
  if (!measure->rival)
    return WS_OK;
  *out_rival = *measure->rival;
  if (out_rival->size >= asked->size)
    return ws_fail(diag, WS_INPUT, "rival", 0,
                   "%zu of %zu bytes leave none for the candidate",
                   out_rival->size, asked->size);
  measure->code_object_size -= out_rival->size;
  void *copy = ws_arena_alloc(asked->arena, out_rival->size);
  memcpy(copy, (const char *)asked->code_object + measure->code_object_size,
         out_rival->size);
  out_rival->code_object = copy;
  measure->rival = out_rival;
  return WS_OK;
}

static ws_status measure(const server *s, const request *asked,
                         ws_measured *out, ws_diag *diag) {
  ws_measure_request wanted;
  ws_contestant rival;
  WS_TRY(
      ws_measure_request_from_json(asked->arena, asked->json, &wanted, diag));
  WS_TRY(split_blob(asked, &wanted, &rival, diag));
  if (wanted.op == WS_MEASURE_VERIFY)
    return ws_verify(s->device, asked->arena, wanted.code_object,
                     wanted.code_object_size, wanted.workloads,
                     wanted.workload_count, s->inputs, out, diag);
  const ws_contestant candidate = {wanted.code_object, wanted.code_object_size,
                                   &wanted.workloads[0]};
  return ws_time(s->device, asked->arena, &candidate, wanted.rival,
                 &wanted.settings, s->inputs, out, diag);
}

/* Whether the device is as good as new. A simulator is asked for nothing more
 * after a finding; a card has its inputs renewed after a wrong result, but
 * after a fault it answers no call. */
static bool is_usable(const server *s, const ws_measured *measured) {
  ws_diag ignored;
  if (measured->verdict == WS_VERDICT_OK)
    return true;
  return !ws_device_info_of(s->device)->simulated &&
         ws_device_synchronise(s->device, &ignored) == WS_OK;
}

static void serve(server *s, const request *asked) {
  ws_diag diag, ignored;
  ws_measured measured;
  ws_status status = measure(s, asked, &measured, &diag);
  if (status != WS_OK) {
    s->at_end = status == WS_ENVIRONMENT ||
                ws_device_synchronise(s->device, &ignored) != WS_OK;
    send_error(s->socket, status, s->at_end, diag.text);
    return;
  }
  s->at_end = !is_usable(s, &measured);
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToObject(json, "measured", ws_measured_to_json(&measured));
  cJSON_AddBoolToObject(json, "last", s->at_end);
  send_json(s->socket, json);
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
    send_error(s->socket, WS_INPUT, false, diag.text);
  cJSON_Delete(asked.json);
}

/* Inputs go with the process: after a fault the device frees nothing. */
void ws__device_serve(int socket, ws_device *device) {
  server s = {.socket = socket, .device = device};
  s.inputs = ws_inputs_create(device, 0);
  send_ready(&s);
  while (!s.at_end) {
    ws_arena *arena = ws_arena_create();
    serve_next(&s, arena);
    ws_arena_destroy(arena);
  }
}
