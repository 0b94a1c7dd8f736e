/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The client's side of the device server: what it is asked and how its answers
 * are read. Processes, limits and failures: server_client.h.
 *
 * A simulator runs for results and for times in two processes, because each
 * has its own settings; a card has one process for both.
 */
#include "server_client.h"
#include "wavesmith/measure.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const ws_measure_settings ws_measure_settings_default = {.wall_ms = 20000,
                                                         .warm_up_ms = 50,
                                                         .target_width = 0.01,
                                                         .min_samples = 20,
                                                         .max_samples = 400};

struct ws_device_client {
  ws_arena *arena;
  ws_device_info info;
  ws__server servers[2]; /* by purpose; a card's first serves both */
  ws_device_purpose in_hand;
  ws_device_client *others[WS_DEVICE_CLIENTS - 1]; /* NULL: not needed yet */
};

static const char *const purpose_names[] = {
    [WS_DEVICE_RUN] = "run", [WS_DEVICE_TIME] = "time"};
static const ws__server_kind server_kind = {.name = "device server",
                                            .program = "wavesmith-device",
                                            .variable =
                                                "WAVESMITH_DEVICE_SERVER",
                                            .library = "a library"};

/* ---- the processes ---- */

static ws__server *server_of(ws_device_client *client,
                             ws_device_purpose purpose) {
  return &client->servers[client->info.simulated ? purpose : WS_DEVICE_RUN];
}

/* provenance: of the run's first process; NULL: this is it. */
static ws_status start(const char *kind, const char *provenance,
                       ws_device_client **out_client, ws_diag *diag) {
  ws_device_client *client = calloc(1, sizeof *client);
  WS_ASSERT(client && "out of memory");
  client->arena = ws_arena_create();
  const char *path = NULL;
  cJSON *greeting = NULL;
  *out_client = NULL;
  ws_status status = ws__server_find(client->arena, &server_kind, &path, diag);
  kind = ws_arena_strdup(client->arena, kind);
  for (int i = 0; i < 2; i++)
    client->servers[i] =
        (ws__server){.kind = &server_kind,
                     .arguments = {path, kind, purpose_names[i], provenance}};
  if (status == WS_OK)
    status = ws__server_start(&client->servers[WS_DEVICE_RUN], &greeting, diag);
  if (status == WS_OK)
    status = ws_device_info_from_json(
        client->arena, cJSON_GetObjectItemCaseSensitive(greeting, "info"),
        &client->info, diag);
  cJSON_Delete(greeting);
  if (status == WS_OK && client->info.simulated && strchr(kind, ':'))
    for (int i = 0; i < 2; i++) /* what starts from now on has to be the same */
      client->servers[i].arguments[3] = client->info.provenance;
  if (status == WS_OK)
    *out_client = client;
  else
    ws_device_client_stop(client);
  return status;
}

ws_status ws_device_client_start(const char *kind,
                                 ws_device_client **out_client, ws_diag *diag) {
  return start(kind, NULL, out_client, diag);
}

void ws_device_client_renew(ws_device_client *client) {
  for (int i = 0; i < 2; i++)
    ws__server_stop(&client->servers[i]);
  for (int i = 0; i < WS_DEVICE_CLIENTS - 1; i++)
    if (client->others[i])
      ws_device_client_renew(client->others[i]);
}

ws_status ws_device_client_reach(ws_device_client *client, ws_diag *diag) {
  return ws__server_start(server_of(client, client->in_hand), NULL, diag);
}

void ws_device_client_stop(ws_device_client *client) {
  if (!client)
    return;
  for (int i = 0; i < WS_DEVICE_CLIENTS - 1; i++)
    ws_device_client_stop(client->others[i]);
  for (int i = 0; i < 2; i++)
    ws__server_deinit(&client->servers[i]);
  ws_arena_destroy(client->arena);
  free(client);
}

const ws_device_info *ws_device_client_info(const ws_device_client *client) {
  return &client->info;
}

ws_status ws_device_client_another(ws_device_client *client, int index,
                                   ws_device_client **out_other,
                                   ws_diag *diag) {
  const char *const *arguments = client->servers[WS_DEVICE_RUN].arguments;
  ws_device_client **other = &client->others[index];
  ws_status status = WS_OK;
  if (!*other)
    status = start(arguments[1], arguments[3], other, diag);
  *out_other = *other;
  return status;
}

int ws_device_clients_useful(const ws_device_client *client) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (!client->info.simulated || cores < 1)
    return 1;
  return cores < WS_DEVICE_CLIENTS ? (int)cores : WS_DEVICE_CLIENTS;
}

/* ---- requests ---- */

/* The candidate's code object and then its rival's. */
static void join_blobs(const ws_measure_request *request, ws_strbuf *out) {
  ws_strbuf_init(out);
  ws_strbuf_append(out, request->code_object, request->code_object_size);
  if (request->rival)
    ws_strbuf_append(out, request->rival->code_object, request->rival->size);
}

ws_status ws_device_client_send(ws_device_client *client,
                                const ws_measure_request *request,
                                ws_diag *diag) {
  ws_strbuf blob;
  client->in_hand =
      request->op == WS_MEASURE_TIME ? WS_DEVICE_TIME : WS_DEVICE_RUN;
  join_blobs(request, &blob);
  ws_status status =
      ws__server_send(server_of(client, client->in_hand),
                      ws_measure_request_to_json(request), blob.data, blob.size,
                      request->settings.wall_ms, request->give_up_ms, diag);
  ws_strbuf_deinit(&blob);
  return status;
}

int ws_device_client_descriptor(const ws_device_client *client) {
  const ws__server *run = &client->servers[WS_DEVICE_RUN];
  return client->info.simulated
             ? client->servers[client->in_hand].process.socket
             : run->process.socket;
}

bool ws_device_client_has_answer(ws_device_client *client) {
  return ws__server_has_answer(server_of(client, client->in_hand));
}

/* A simulator that has a finding has seen why; anybody else's word for a crash
 * or a hang may be about the device. */
static ws_blame blame_of(const ws_measured *measured) {
  bool lost = measured->verdict == WS_VERDICT_CRASH ||
              measured->verdict == WS_VERDICT_TIMEOUT;
  return lost && !measured->finding_count ? WS_BLAME_SUSPECTED
                                          : WS_BLAME_CANDIDATE;
}

static ws_status read_answer(const ws_device_client *client, ws_arena *arena,
                             const ws__answer *answer, ws_measured *out,
                             ws_diag *diag) {
  *out = (ws_measured){.verdict = answer->verdict,
                       .blame = answer->blame,
                       .reason = answer->reason,
                       .provenance =
                           ws_arena_strdup(arena, client->info.provenance),
                       .bound = "",
                       .throttle = "",
                       .report = ""};
  if (answer->status == WS_INPUT || answer->status == WS_REFERENCE)
    return ws_fail(diag, answer->status, NULL, 0, "%s", answer->reason);
  if (!answer->json)
    return WS_OK;
  WS_TRY(ws_measured_from_json(
      arena, cJSON_GetObjectItemCaseSensitive(answer->json, "measured"), out,
      diag));
  out->blame = blame_of(out);
  return WS_OK;
}

ws_status ws_device_client_receive(ws_device_client *client, ws_arena *arena,
                                   ws_measured *out_measured, bool *out_done,
                                   ws_diag *diag) {
  ws__answer answer;
  ws__server *server = server_of(client, client->in_hand);
  *out_done = true;
  ws__server_receive(server, arena, &answer);
  ws_status status = read_answer(client, arena, &answer, out_measured, diag);
  /* What a fault leaves of a device is not to be trusted. */
  if (answer.json &&
      !cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(answer.json, "last")))
    ws__server_stop(server);
  cJSON_Delete(answer.json);
  if (status == WS_OK)
    status =
        ws__server_settle(server, out_measured->verdict, out_measured->blame,
                          out_measured->reason, out_done, diag);
  out_measured->blame = WS_BLAME_CANDIDATE;
  return status;
}

ws_status ws_device_client_measure(ws_device_client *client, ws_arena *arena,
                                   const ws_measure_request *request,
                                   ws_measured *out_measured, ws_diag *diag) {
  bool done = false;
  WS_TRY(ws_device_client_send(client, request, diag));
  while (!done)
    WS_TRY(ws_device_client_receive(client, arena, out_measured, &done, diag));
  return WS_OK;
}
