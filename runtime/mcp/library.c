/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a client shows to a person: prompts to choose from, one for each kind of
 * request, and documents to read along: the template, what is known of the
 * task, and what models wrote of what they learned.
 */
#include "page.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* ---- prompts ---- */
static const struct {
  ws_request_kind kind;
  const char *purpose;
} asked[] = {
    {WS_REQUEST_EXPLORE, "Something new, unlike what was tried."},
    {WS_REQUEST_EXPLOIT, "One improvement of a parent."},
    {WS_REQUEST_CROSSOVER, "The best of two parents."},
    {WS_REQUEST_REPAIR, "Mend a candidate that failed."},
};
enum { ASKED = sizeof asked / sizeof asked[0] };

static void add_argument(cJSON *list, const char *name, const char *meaning) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", name);
  cJSON_AddStringToObject(json, "description", meaning);
  cJSON_AddBoolToObject(json, "required", false);
  cJSON_AddItemToArray(list, json);
}

cJSON *ws__mcp_prompts_json(void) {
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < ASKED; i++) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", ws_request_text(asked[i].kind));
    cJSON_AddStringToObject(json, "description", asked[i].purpose);
    cJSON *arguments = cJSON_AddArrayToObject(json, "arguments");
    add_argument(arguments, "parent",
                 "A candidate's id, or its first digits; without, the leader.");
    add_argument(arguments, "other_parent", "A second one, for a crossover.");
    cJSON_AddItemToArray(list, json);
  }
  return list;
}

static const char *purpose_of(const char *name, ws_request_kind *out_kind) {
  for (int i = 0; i < ASKED; i++)
    if (!strcmp(name, ws_request_text(asked[i].kind))) {
      *out_kind = asked[i].kind;
      return asked[i].purpose;
    }
  return NULL;
}

ws_status ws__mcp_prompt_get(ws__mcp_call *call, const char *name,
                             const char *const *parents, int parent_count,
                             cJSON **out_result) {
  ws_request_kind kind;
  ws_prompt prompt;
  const char *purpose = purpose_of(name, &kind);
  if (!purpose)
    return ws_fail(call->diag, WS_USAGE, NULL, 0,
                   "there is no prompt '%.60s'; prompts/list names them", name);
  WS_TRY(ws_session_prompt(call->session, call->arena, kind, parents,
                           parent_count, &prompt, call->diag));
  cJSON *result = *out_result = cJSON_CreateObject();
  cJSON_AddStringToObject(result, "description", purpose);
  cJSON *message = cJSON_CreateObject();
  cJSON_AddStringToObject(message, "role", "user");
  cJSON *content = cJSON_AddObjectToObject(message, "content");
  cJSON_AddStringToObject(content, "type", "text");
  cJSON_AddStringToObject(
      content, "text",
      ws_arena_printf(call->arena,
                      "%s\n\n%s\n\nSubmit the reply with the tool submit, "
                      "kind %s.\n",
                      prompt.system, prompt.user, name));
  cJSON_AddItemToArray(cJSON_AddArrayToObject(result, "messages"), message);
  return WS_OK;
}

/* ---- resources ---- */
static void add_resource(cJSON *list, const char *uri, const char *name,
                         const char *meaning, const char *type) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "uri", uri);
  cJSON_AddStringToObject(json, "name", name);
  cJSON_AddStringToObject(json, "description", meaning);
  cJSON_AddStringToObject(json, "mimeType", type);
  cJSON_AddItemToArray(list, json);
}

static const char task_uri[] = "wavesmith://task",
                  template_uri[] = "wavesmith://template",
                  findings_uri[] = "wavesmith://findings/";

ws_status ws__mcp_resources_list(ws__mcp_call *call, cJSON **out_result) {
  ws_findings_row *rows;
  int count;
  WS_TRY(ws_archive_list_findings(call->archive, call->arena, 0, &rows, &count,
                                  call->diag));
  cJSON *result = *out_result = cJSON_CreateObject();
  cJSON *list = cJSON_AddArrayToObject(result, "resources");
  add_resource(list, task_uri, "task",
               "The problem, the shapes, the template, and how far the search "
               "has come.",
               "text/markdown");
  add_resource(list, template_uri, "template", "The template's text.",
               "text/plain");
  for (int i = 0; i < count; i++)
    add_resource(
        list,
        ws_arena_printf(call->arena, "%s%lld/%lld", findings_uri,
                        (long long)rows[i].run_id, (long long)rows[i].sequence),
        ws_arena_printf(call->arena, "findings of run %lld, %lld",
                        (long long)rows[i].run_id, (long long)rows[i].sequence),
        "What a model wrote of what it learned.", "text/markdown");
  return WS_OK;
}

static ws_status task_text(ws__mcp_call *call, const char **out_text) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  call->out = &text;
  ws_status status = ws__mcp_task(call);
  *out_text = ws_arena_strdup(call->arena, text.data);
  ws_strbuf_deinit(&text);
  return status;
}

static ws_status findings_text(ws__mcp_call *call, const char *uri,
                               const char **out_text) {
  ws_findings_row *rows;
  int count;
  WS_TRY(ws_archive_list_findings(call->archive, call->arena, 0, &rows, &count,
                                  call->diag));
  for (int i = 0; i < count; i++)
    if (!strcmp(uri, ws_arena_printf(call->arena, "%s%lld/%lld", findings_uri,
                                     (long long)rows[i].run_id,
                                     (long long)rows[i].sequence)))
      *out_text = rows[i].text;
  return WS_OK;
}

static ws_status text_of(ws__mcp_call *call, const char *uri,
                         const char **out_text) {
  const ws_template *tmpl;
  ws_archived_template stored;
  *out_text = NULL;
  if (!strcmp(uri, task_uri))
    return task_text(call, out_text);
  if (strcmp(uri, template_uri))
    return findings_text(call, uri, out_text);
  WS_TRY(ws_archive_get_template(call->archive, call->arena,
                                 call->template_hash, &tmpl, &stored,
                                 call->diag));
  *out_text = stored.text;
  return WS_OK;
}

ws_status ws__mcp_resource_read(ws__mcp_call *call, const char *uri,
                                cJSON **out_result) {
  const char *text;
  WS_TRY(text_of(call, uri, &text));
  if (!text)
    return ws_fail(call->diag, WS_USAGE, NULL, 0,
                   "there is no resource '%.100s'; resources/list names them",
                   uri);
  cJSON *result = *out_result = cJSON_CreateObject();
  cJSON *content = cJSON_CreateObject();
  cJSON_AddStringToObject(content, "uri", uri);
  cJSON_AddStringToObject(content, "mimeType",
                          strcmp(uri, template_uri) ? "text/markdown"
                                                    : "text/plain");
  cJSON_AddStringToObject(content, "text", text);
  cJSON_AddItemToArray(cJSON_AddArrayToObject(result, "contents"), content);
  return WS_OK;
}
