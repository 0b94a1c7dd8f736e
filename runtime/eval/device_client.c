/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The client's side of the device server: starts it, sends one request at a
 * time, ends a server that hangs, turns its death or silence into a verdict of
 * what it had in hand, and starts it again for the next.
 *
 * A simulator runs for results and for times in two processes, because each
 * has its own settings; a card has one process for both.
 */
#include "wavesmith/measure.h"

#include <cjson/cJSON.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_MS = 60000 };

const ws_measure_settings ws_measure_settings_default = {.wall_ms = 20000,
                                                         .warm_up_ms = 50,
                                                         .target_width = 0.01,
                                                         .min_samples = 20,
                                                         .max_samples = 400};

struct ws_device_client {
  ws_arena *arena;
  const char *path, *kind;
  ws_device_info info;
  ws_process servers[2]; /* by purpose; a card's first serves both */
  ws_device_purpose in_hand;
  double deadline_ms;
};

static const char what[] = "device server";
static const char *const purpose_names[] = {
    [WS_DEVICE_RUN] = "run", [WS_DEVICE_TIME] = "time"};

/* ---- the process ---- */

static ws_status find_server(ws_arena *arena, const char **out_path,
                             ws_diag *diag) {
  char *folder;
  const char *named = getenv("WAVESMITH_DEVICE_SERVER");
  if (named && named[0]) {
    *out_path = ws_arena_strdup(arena, named);
    return WS_OK;
  }
  WS_TRY(ws_program_directory(arena, &folder, diag));
  *out_path = ws_arena_printf(arena, "%s/../libexec/wavesmith/wavesmith-device",
                              folder);
  return WS_OK;
}

/* An answer {"error":..., "status":...} as a status. */
static ws_status read_error(const cJSON *json, ws_diag *diag) {
  const cJSON *error = cJSON_GetObjectItemCaseSensitive(json, "error");
  const cJSON *status = cJSON_GetObjectItemCaseSensitive(json, "status");
  if (!cJSON_IsString(error))
    return WS_OK;
  bool input = cJSON_IsString(status) && !strcmp(status->valuestring, "input");
  return ws_fail(diag, input ? WS_INPUT : WS_ENVIRONMENT, NULL, 0, "%s",
                 error->valuestring);
}

static ws_status receive_json(const ws_process *process, int wait_ms,
                              ws_arena *arena, cJSON **out_json,
                              ws_diag *diag) {
  char *text;
  void *blob;
  size_t size;
  *out_json = NULL;
  WS_TRY(ws_message_receive(process->socket, wait_ms, arena, &text, &blob,
                            &size, NULL, diag));
  *out_json = ws_json_parse(text, strlen(text), what, diag);
  return *out_json ? WS_OK : WS_ENVIRONMENT;
}

static ws_status greet(ws_device_client *client, const ws_process *process,
                       ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  cJSON *json;
  ws_status status = receive_json(process, START_MS, arena, &json, diag);
  if (status == WS_OK)
    status = read_error(json, diag);
  if (status == WS_OK && !client->info.name)
    status = ws_device_info_from_json(
        client->arena, cJSON_GetObjectItemCaseSensitive(json, "info"),
        &client->info, diag);
  cJSON_Delete(json);
  ws_arena_destroy(arena);
  return status;
}

static int slot_of(const ws_device_client *client, ws_device_purpose purpose) {
  return client->info.simulated ? (int)purpose : (int)WS_DEVICE_RUN;
}

static ws_process *process_of(ws_device_client *client,
                              ws_device_purpose purpose) {
  return &client->servers[slot_of(client, purpose)];
}

static ws_status start_server(ws_device_client *client,
                              ws_device_purpose purpose, ws_diag *diag) {
  const char *argv[] = {client->path, client->kind, purpose_names[purpose],
                        NULL};
  ws_process *process = process_of(client, purpose);
  WS_TRY(ws_process_start(argv, process, diag));
  ws_status status = greet(client, process, diag);
  if (status != WS_OK)
    ws_process_stop(process);
  return status;
}

/* Whether the process is there and its stream open, with nothing unread. */
static bool is_alive(const ws_process *process) {
  struct pollfd item = {.fd = process->socket, .events = POLLIN | POLLRDHUP};
  return process->pid > 0 && poll(&item, 1, 0) == 0;
}

ws_status ws_device_client_start(const char *kind,
                                 ws_device_client **out_client, ws_diag *diag) {
  ws_device_client *client = calloc(1, sizeof *client);
  WS_ASSERT(client && "out of memory");
  client->arena = ws_arena_create();
  client->kind = ws_arena_strdup(client->arena, kind);
  *out_client = NULL;
  ws_status status = find_server(client->arena, &client->path, diag);
  if (status == WS_OK)
    status = start_server(client, WS_DEVICE_RUN, diag);
  if (status == WS_OK)
    *out_client = client;
  else
    ws_device_client_stop(client);
  return status;
}

void ws_device_client_renew(ws_device_client *client) {
  for (int i = 0; i < 2; i++)
    ws_process_stop(&client->servers[i]);
}

void ws_device_client_stop(ws_device_client *client) {
  if (!client)
    return;
  ws_device_client_renew(client);
  ws_arena_destroy(client->arena);
  free(client);
}

const ws_device_info *ws_device_client_info(const ws_device_client *client) {
  return &client->info;
}

/* ---- requests ---- */

/* The candidate's code object and then its rival's. */
static void join_blobs(const ws_measure_request *request, ws_strbuf *out) {
  ws_strbuf_init(out);
  ws_strbuf_append(out, request->code_object, request->code_object_size);
  if (request->rival)
    ws_strbuf_append(out, request->rival->code_object, request->rival->size);
}

static ws_status send_request(const ws_process *process,
                              const ws_measure_request *request,
                              ws_diag *diag) {
  ws_strbuf blob;
  cJSON *json = ws_measure_request_to_json(request);
  char *text = cJSON_PrintUnformatted(json);
  WS_ASSERT(text && "out of memory");
  join_blobs(request, &blob);
  ws_status status =
      ws_message_send(process->socket, text, blob.data, blob.size, diag);
  ws_strbuf_deinit(&blob);
  cJSON_free(text);
  cJSON_Delete(json);
  return status;
}

ws_status ws_device_client_send(ws_device_client *client,
                                const ws_measure_request *request,
                                ws_diag *diag) {
  client->in_hand =
      request->op == WS_MEASURE_TIME ? WS_DEVICE_TIME : WS_DEVICE_RUN;
  ws_process *process = process_of(client, client->in_hand);
  if (!is_alive(process)) {
    ws_process_stop(process);
    WS_TRY(start_server(client, client->in_hand, diag));
  }
  ws_status status = send_request(process, request, diag);
  client->deadline_ms = ws_clock_ms() + request->settings.wall_ms;
  return status;
}

int ws_device_client_descriptor(const ws_device_client *client) {
  return client->servers[slot_of(client, client->in_hand)].socket;
}

double ws_device_client_deadline(const ws_device_client *client) {
  return client->deadline_ms;
}

/* The server died or hangs with the request in hand. */
static void set_lost(ws_device_client *client, ws_arena *arena,
                     ws_measured *out) {
  bool hung = ws_clock_ms() >= client->deadline_ms;
  ws_process_stop(process_of(client, client->in_hand));
  *out = (ws_measured){
      .verdict = hung ? WS_VERDICT_TIMEOUT : WS_VERDICT_CRASH,
      .reason = hung ? "the kernel did not end in time; the device server was "
                       "killed"
                     : "the device server died while it ran the kernel",
      .provenance = ws_arena_strdup(arena, client->info.provenance),
      .bound = "",
      .throttle = "",
      .report = ""};
}

ws_status ws_device_client_receive(ws_device_client *client, ws_arena *arena,
                                   ws_measured *out_measured, ws_diag *diag) {
  cJSON *json;
  ws_diag cause;
  ws_process *process = process_of(client, client->in_hand);
  double left = client->deadline_ms - ws_clock_ms();
  *out_measured = (ws_measured){0};
  if (receive_json(process, left > 0 ? (int)left + 1 : 0, arena, &json,
                   &cause) != WS_OK) {
    set_lost(client, arena, out_measured);
    return WS_OK;
  }
  ws_status status = read_error(json, diag);
  if (status == WS_OK)
    status = ws_measured_from_json(
        arena, cJSON_GetObjectItemCaseSensitive(json, "measured"), out_measured,
        diag);
  /* What a fault leaves of a device is not to be trusted. */
  if (!cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(json, "last")))
    ws_process_stop(process);
  cJSON_Delete(json);
  return status;
}

ws_status ws_device_client_measure(ws_device_client *client, ws_arena *arena,
                                   const ws_measure_request *request,
                                   ws_measured *out_measured, ws_diag *diag) {
  WS_TRY(ws_device_client_send(client, request, diag));
  return ws_device_client_receive(client, arena, out_measured, diag);
}
