/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A compile server that answers from the environment instead of compiling:
 *   FAKE_LLVM   its version ("21.1.8"); comgr is always 3.0
 *   FAKE_P1     for candidates with p=1: VERDICT or VERDICT:CODE_HASH
 *   FAKE_P2     the same for p=2
 *   FAKE_STAGE  where builds fail ("lower")
 *   FAKE_COMPILER  what a build says lowered it ("a fake")
 * A build's code object is the template's text, its kernel's register count
 * the number of bodies with text, and it has one run result for each run that
 * was asked for.
 */
#include "wavesmith/build.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

enum { SOCKET = 3 };

static const char *setting(const char *name, const char *otherwise) {
  const char *text = getenv(name);
  return text ? text : otherwise;
}

static void send(cJSON *owned_json, const void *blob, size_t size) {
  char *text = cJSON_PrintUnformatted(owned_json);
  if (ws_message_send(SOCKET, text, blob, size, NULL) != WS_OK)
    exit(1);
  cJSON_free(text);
  cJSON_Delete(owned_json);
}

static void send_versions(void) {
  cJSON *json = cJSON_CreateObject();
  cJSON *versions = cJSON_AddObjectToObject(json, "versions");
  cJSON_AddStringToObject(versions, "llvm", setting("FAKE_LLVM", "21.1.8"));
  cJSON_AddStringToObject(versions, "comgr", "3.0");
  send(json, NULL, 0);
}

static void build(ws_arena *arena, const cJSON *json, const void *text,
                  size_t size) {
  ws_build_request request;
  if (ws_build_request_from_json(
          arena, cJSON_GetObjectItemCaseSensitive(json, "request"), &request,
          NULL) != WS_OK)
    exit(1);
  const char *plan = strstr(request.assignments, "p=2")
                         ? setting("FAKE_P2", "ok:cc22")
                         : setting("FAKE_P1", "ok:cc11");
  size_t verdict_size = strcspn(plan, ":");
  ws_verdict verdict;
  if (!ws_verdict_parse(ws_arena_strndup(arena, plan, verdict_size), &verdict))
    exit(1);
  bool ok = verdict == WS_VERDICT_OK;
  ws_run_result *runs =
      ws_arena_alloc(arena, (size_t)request.run_count * sizeof *runs);
  for (int i = 0; i < request.run_count; i++)
    runs[i].shape = request.runs[i].shape;
  ws_kernel_facts kernel = {.name = "k", .vgpr = request.body_count};
  ws_build_result result = {
      .verdict = verdict,
      .stage = ok ? "" : setting("FAKE_STAGE", "lower"),
      .reason = ok ? "" : "the fake says so",
      .runs = runs,
      .run_count = request.run_count,
      .kernels = &kernel,
      .kernel_count = ok ? 1 : 0,
      .ir_hash = ok ? "1111" : "",
      .code_hash = ok && plan[verdict_size] ? plan + verdict_size + 1 : "",
      .compiler = ok ? setting("FAKE_COMPILER", "a fake") : "",
      .code_object = text,
      .code_object_size = ok ? size : 0};
  cJSON *answer = cJSON_CreateObject();
  cJSON_AddItemToObject(answer, "result", ws_build_result_to_json(&result));
  send(answer, text, ok ? size : 0);
}

int main(void) {
  cJSON *ready = cJSON_CreateObject();
  cJSON_AddBoolToObject(ready, "ready", true);
  send(ready, NULL, 0);
  for (;;) {
    ws_arena *arena = ws_arena_create();
    char *text;
    void *blob;
    size_t size;
    bool eof = false;
    if (ws_message_receive(SOCKET, -1, arena, &text, &blob, &size, &eof,
                           NULL) != WS_OK)
      return eof ? 0 : 1;
    cJSON *json = cJSON_Parse(text);
    const char *op = cJSON_GetObjectItemCaseSensitive(json, "op")->valuestring;
    if (!strcmp(op, "versions"))
      send_versions();
    else
      build(arena, json, blob, size);
    cJSON_Delete(json);
    ws_arena_destroy(arena);
  }
}
