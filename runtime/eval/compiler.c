/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The client's side of the compile server: what it is asked and how its answers
 * are read. Processes, limits and failures: server_client.h. Protocol:
 * pass/server.h.
 */
#include "server_client.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

enum {
  MARGIN_MS = 5000, /* beyond a job's own limit, which the server keeps */
  FAREWELL_MS = 300 /* for the server to remove its temp folder */
};

struct ws_compiler {
  ws_arena *arena;
  ws__server server;
};

static const char what[] = "compile server";
static const ws__server_kind kind = {.name = what,
                                     .program = "wavesmith-compiler",
                                     .variable = "WAVESMITH_COMPILER",
                                     .library = "a library of LLVM or comgr",
                                     .farewell_ms = FAREWELL_MS};

/* A child of the server touches some 3000 fresh pages of heap; with huge pages
 * for malloc a candidate takes 152 instead of 159 ms, the demo's run 12.3
 * instead of 11.5 candidates/s (bench_candidate, 2 cores at 2.5 GHz). glibc
 * reads this at exec only. */
ws_status ws_compiler_start(ws_compiler **out_compiler, ws_diag *diag) {
  ws_compiler *compiler = calloc(1, sizeof *compiler);
  WS_ASSERT(compiler && "out of memory");
  compiler->arena = ws_arena_create();
  compiler->server.kind = &kind;
  *out_compiler = NULL;
  setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", false);
  ws_status status = ws__server_find(compiler->arena, &kind,
                                     &compiler->server.arguments[0], diag);
  if (status == WS_OK)
    status = ws__server_start(&compiler->server, NULL, diag);
  if (status == WS_OK)
    *out_compiler = compiler;
  else
    ws_compiler_stop(compiler);
  return status;
}

void ws_compiler_dismiss(ws_compiler *compiler) {
  ws__server_dismiss(&compiler->server);
}

void ws_compiler_stop(ws_compiler *compiler) {
  if (!compiler)
    return;
  ws__server_deinit(&compiler->server);
  ws_arena_destroy(compiler->arena);
  free(compiler);
}

/* ---- short questions ---- */

ws_status ws_compiler_describe(ws_compiler *compiler, ws_arena *arena,
                               const char *file, const char *text, size_t size,
                               const ws_template **out_template,
                               ws_diag *diag) {
  cJSON *reply;
  ws_records records;
  const cJSON *list;
  *out_template = NULL;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "op", "describe");
  cJSON_AddStringToObject(json, "file", file);
  WS_TRY(ws__server_ask(&compiler->server, arena, json, text, size,
                        ws_limits_default.wall_ms + MARGIN_MS, &reply, diag));
  ws_status status = ws_json_get_array(reply, "records", what, &list, diag);
  if (status == WS_OK)
    status = ws_records_from_json(arena, list, &records, diag);
  cJSON_Delete(reply);
  if (status != WS_OK)
    return status;
  return ws_template_from_records(
      arena, &records, file, ws_hash_bytes(text, size), out_template, diag);
}

ws_status ws_compiler_versions(ws_compiler *compiler, ws_arena *arena,
                               char **out_json, ws_diag *diag) {
  cJSON *reply;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "op", "versions");
  *out_json = NULL;
  WS_TRY(ws__server_ask(&compiler->server, arena, json, NULL, 0,
                        ws_limits_default.wall_ms + MARGIN_MS, &reply, diag));
  char *text = cJSON_PrintUnformatted(
      cJSON_GetObjectItemCaseSensitive(reply, "versions"));
  *out_json = ws_arena_strdup(arena, text ? text : "{}");
  cJSON_free(text);
  cJSON_Delete(reply);
  return WS_OK;
}

static cJSON *import_json(const ws_import *import) {
  cJSON *json = cJSON_CreateObject();
  cJSON *options = cJSON_AddArrayToObject(json, "options");
  cJSON_AddStringToObject(json, "op", "import");
  cJSON_AddStringToObject(json, "file", import->file);
  cJSON_AddStringToObject(json, "target", import->target);
  cJSON_AddStringToObject(json, "own", import->own);
  cJSON_AddStringToObject(json, "name", import->name);
  cJSON_AddStringToObject(json, "problem", import->problem);
  cJSON_AddStringToObject(json, "language", import->language);
  for (int i = 0; i < import->option_count; i++)
    cJSON_AddItemToArray(options, cJSON_CreateString(import->options[i]));
  return json;
}

static ws_status read_findings(ws_arena *arena, const cJSON *reply,
                               const ws_finding **out_findings, int *out_count,
                               ws_diag *diag) {
  const cJSON *list, *item;
  WS_TRY(ws_json_get_array(reply, "findings", what, &list, diag));
  ws_finding *findings = ws_arena_alloc(
      arena, (size_t)(cJSON_GetArraySize(list) + 1) * sizeof *findings);
  *out_findings = findings;
  *out_count = 0;
  cJSON_ArrayForEach(item, list) {
    ws_finding *finding = &findings[(*out_count)++];
    const cJSON *line = cJSON_GetObjectItemCaseSensitive(item, "line");
    *finding = (ws_finding){.id = "hip", .region = ""};
    finding->line = cJSON_IsNumber(line) ? line->valueint : 0;
    WS_TRY(ws_json_get_string(item, "file", what, &finding->file, diag));
    WS_TRY(ws_json_get_string(item, "text", what, &finding->text, diag));
    finding->file = ws_arena_strdup(arena, finding->file);
    finding->text = ws_arena_strdup(arena, finding->text);
  }
  return WS_OK;
}

ws_status ws_compiler_import(ws_compiler *compiler, ws_arena *arena,
                             const ws_import *import, const char **out_text,
                             const ws_finding **out_findings, int *out_count,
                             ws_diag *diag) {
  cJSON *reply;
  const char *text = "";
  *out_text = "";
  *out_count = 0;
  WS_TRY(ws__server_ask(&compiler->server, arena, import_json(import),
                        import->text, strlen(import->text),
                        ws_limits_default.wall_ms + MARGIN_MS, &reply, diag));
  ws_status status = read_findings(arena, reply, out_findings, out_count, diag);
  if (status == WS_OK)
    status = ws_json_get_string(reply, "text", what, &text, diag);
  *out_text = ws_arena_strdup(arena, text);
  cJSON_Delete(reply);
  return status;
}

/* ---- builds ---- */

ws_status ws_compiler_send(ws_compiler *compiler,
                           const ws_build_request *request, ws_diag *diag) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "op", "build");
  cJSON_AddItemToObject(json, "request", ws_build_request_to_json(request));
  return ws__server_send(
      &compiler->server, json, request->template_text, request->template_size,
      request->limits.wall_ms + MARGIN_MS, request->give_up_ms, diag);
}

int ws_compiler_descriptor(const ws_compiler *compiler) {
  return compiler->server.process.socket;
}

bool ws_compiler_has_answer(ws_compiler *compiler) {
  return ws__server_has_answer(&compiler->server);
}

static ws_build_result no_result(const ws__answer *answer) {
  return (ws_build_result){.verdict = answer->verdict,
                           .blame = answer->blame,
                           .stage = "",
                           .reason = answer->reason,
                           .ir_hash = "",
                           .code_hash = "",
                           .compiler = ""};
}

static ws_status read_answer(ws_arena *arena, const ws__answer *answer,
                             ws_build_result *out, ws_diag *diag) {
  *out = no_result(answer);
  if (answer->status == WS_REFERENCE ||
      (answer->status == WS_INPUT && answer->blame == WS_BLAME_CANDIDATE))
    return ws_fail(diag, answer->status, NULL, 0, "%s", answer->reason);
  if (!answer->json)
    return WS_OK;
  WS_TRY(ws_build_result_from_json(
      arena, cJSON_GetObjectItemCaseSensitive(answer->json, "result"), out,
      diag));
  if (answer->blob_size > 0) {
    out->code_object = answer->blob;
    out->code_object_size = answer->blob_size;
  }
  return WS_OK;
}

ws_status ws_compiler_receive(ws_compiler *compiler, ws_arena *arena,
                              ws_build_result *out_result, bool *out_done,
                              ws_diag *diag) {
  ws__answer answer;
  *out_done = true;
  ws__server_receive(&compiler->server, arena, &answer);
  ws_status status = read_answer(arena, &answer, out_result, diag);
  cJSON_Delete(answer.json);
  if (status == WS_OK)
    status = ws__server_settle(&compiler->server, out_result->verdict,
                               out_result->blame, out_result->reason, out_done,
                               diag);
  out_result->blame = WS_BLAME_CANDIDATE;
  return status;
}

ws_status ws_compiler_build(ws_compiler *compiler, ws_arena *arena,
                            const ws_build_request *request,
                            ws_build_result *out_result, ws_diag *diag) {
  bool done = false;
  WS_TRY(ws_compiler_send(compiler, request, diag));
  while (!done)
    WS_TRY(ws_compiler_receive(compiler, arena, out_result, &done, diag));
  return WS_OK;
}
