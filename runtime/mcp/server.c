/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * JSON-RPC 2.0 and the methods of the Model Context Protocol. Every request
 * gets exactly one answer, a notification none, whatever it holds. A fault of
 * the message is an error of the protocol; a tool that cannot do its work
 * answers with a result that says so, since that is what reaches the model.
 */
#include "tools.h"
#include "wavesmith/mcp.h"
#include "wire.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#ifndef WAVESMITH_VERSION
#define WAVESMITH_VERSION "unknown"
#endif

enum {
  PARSE_ERROR = -32700,
  INVALID_REQUEST = -32600,
  UNKNOWN_METHOD = -32601,
  INVALID_PARAMS = -32602,
  INTERNAL_ERROR = -32603,
  NO_RESOURCE = -32002 /* of MCP */
};
enum { DEFAULT_MESSAGE_BYTES = 32 << 20, BATCH_MAX = 1000 };

/* Oldest first; a client that asks for another one is offered the last. */
static const char *const protocols[] = {"2024-11-05", "2025-03-26",
                                        "2025-06-18"};
enum { PROTOCOLS = sizeof protocols / sizeof protocols[0] };

static const char instructions[] =
    "wavesmith searches faster GPU kernels. You are the proposer. Call task to "
    "learn the rules, prompt for a full briefing with the reply's grammar, "
    "then submit replies; every one is built, checked, verified and timed; "
    "check says beforehand what is wrong with one, and keeps nothing. "
    "Change one thing at a time, state the expected effect, read findings and "
    "profile before the next step, and mend failures with kind repair.";

typedef struct server {
  const ws_mcp_options *options;
  ws__mcp_wire wire;
  ws_arena *arena;
  ws_session *session; /* NULL until a tool needs it */
  const char *template_hash;
  bool interrupted;
} server;

/* ---- answers ---- */
static cJSON *reply_to(const cJSON *id) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "jsonrpc", "2.0");
  cJSON_AddItemToObject(json, "id", ws__mcp_echo(id));
  return json;
}

static cJSON *fail(const cJSON *id, int code, const char *message) {
  cJSON *json = reply_to(id);
  cJSON *error = cJSON_AddObjectToObject(json, "error");
  cJSON_AddNumberToObject(error, "code", code);
  cJSON_AddStringToObject(error, "message", message);
  return json;
}

static cJSON *succeed(const cJSON *id, cJSON *owned_result) {
  cJSON *json = reply_to(id);
  cJSON_AddItemToObject(json, "result", owned_result);
  return json;
}

/* ---- initialize, ping, tools/list ---- */
static cJSON *initialize(server *s, const cJSON *id, const cJSON *params) {
  const cJSON *wanted =
      cJSON_GetObjectItemCaseSensitive(params, "protocolVersion");
  (void)s;
  if (!cJSON_IsString(wanted))
    return fail(id, INVALID_PARAMS, "'protocolVersion' must be a string");
  int chosen = PROTOCOLS - 1;
  for (int i = 0; i < PROTOCOLS; i++)
    if (!strcmp(protocols[i], wanted->valuestring))
      chosen = i;
  cJSON *result = cJSON_CreateObject();
  cJSON_AddStringToObject(result, "protocolVersion", protocols[chosen]);
  cJSON *capabilities = cJSON_AddObjectToObject(result, "capabilities");
  cJSON *tools = cJSON_AddObjectToObject(capabilities, "tools");
  cJSON_AddBoolToObject(tools, "listChanged", false);
  cJSON *prompts = cJSON_AddObjectToObject(capabilities, "prompts");
  cJSON_AddBoolToObject(prompts, "listChanged", false);
  cJSON_AddObjectToObject(capabilities, "resources");
  cJSON *info = cJSON_AddObjectToObject(result, "serverInfo");
  cJSON_AddStringToObject(info, "name", "wavesmith");
  cJSON_AddStringToObject(info, "version", WAVESMITH_VERSION);
  cJSON_AddStringToObject(result, "instructions", instructions);
  return succeed(id, result);
}

static cJSON *ping(server *s, const cJSON *id, const cJSON *params) {
  (void)s, (void)params;
  return succeed(id, cJSON_CreateObject());
}

static cJSON *list_tools(server *s, const cJSON *id, const cJSON *params) {
  (void)s;
  if (cJSON_IsString(cJSON_GetObjectItemCaseSensitive(params, "cursor")))
    return fail(id, INVALID_PARAMS, "unknown cursor; there is one page");
  cJSON *result = cJSON_CreateObject();
  cJSON_AddItemToObject(result, "tools", ws__mcp_tools_json());
  return succeed(id, result);
}

/* ---- tools/call ---- */
static cJSON *tool_result(const char *text, bool is_error) {
  cJSON *result = cJSON_CreateObject();
  cJSON *content = cJSON_AddArrayToObject(result, "content");
  cJSON *item = cJSON_CreateObject();
  cJSON_AddStringToObject(item, "type", "text");
  cJSON_AddStringToObject(item, "text", text);
  cJSON_AddItemToArray(content, item);
  cJSON_AddBoolToObject(result, "isError", is_error);
  return result;
}

/* Opens the session where there is none yet. */
static ws_status begin_call(server *s, ws_arena *arena, ws_diag *diag,
                            ws__mcp_call *out) {
  if (!s->session)
    WS_TRY(ws_session_open(s->options->tune, &s->session, diag));
  *out = (ws__mcp_call){.session = s->session,
                        .archive = ws_session_archive(s->session),
                        .options = s->options->tune,
                        .template_hash = s->template_hash,
                        .arena = arena,
                        .diag = diag};
  return WS_OK;
}

static ws_status run_tool(server *s, const ws__mcp_tool *tool,
                          const cJSON *arguments, ws_arena *arena,
                          ws_strbuf *out, cJSON *structured, ws_diag *diag) {
  ws__mcp_call call;
  WS_TRY(begin_call(s, arena, diag, &call));
  call.arguments = arguments;
  call.out = out;
  call.structured = structured;
  return tool->run(&call);
}

static cJSON *answer_call(server *s, const cJSON *id, const ws__mcp_tool *tool,
                          const cJSON *arguments, const cJSON *token) {
  ws_diag diag = {""};
  ws_strbuf out;
  ws_strbuf_init(&out);
  ws_arena *arena = ws_arena_create();
  double seconds = s->options->beat_seconds;
  ws__mcp_beat *beat =
      token ? ws__mcp_beat_start(&s->wire, token, seconds > 0 ? seconds : 5)
            : NULL;
  cJSON *structured = tool->output ? cJSON_CreateObject() : NULL;
  ws_status status =
      run_tool(s, tool, arguments, arena, &out, structured, &diag);
  ws__mcp_beat_stop(beat);
  s->interrupted |= status == WS_INTERRUPTED;
  cJSON *result = status == WS_OK ? tool_result(out.data, false)
                                  : tool_result(diag.text, true);
  if (status == WS_OK && structured)
    cJSON_AddItemToObject(result, "structuredContent", structured);
  else
    cJSON_Delete(structured);
  ws_arena_destroy(arena);
  ws_strbuf_deinit(&out);
  return succeed(id, result);
}

static cJSON *call_tool(server *s, const cJSON *id, const cJSON *params) {
  const cJSON *name = cJSON_GetObjectItemCaseSensitive(params, "name");
  const cJSON *arguments =
      cJSON_GetObjectItemCaseSensitive(params, "arguments");
  const cJSON *meta = cJSON_GetObjectItemCaseSensitive(params, "_meta");
  const cJSON *token = cJSON_GetObjectItemCaseSensitive(meta, "progressToken");
  ws_diag diag = {""};
  if (!cJSON_IsString(name))
    return fail(id, INVALID_PARAMS, "'name' must be a string, that of a tool");
  const ws__mcp_tool *tool = ws__mcp_tool_find(name->valuestring);
  if (!tool) {
    (void)!ws_fail(&diag, WS_USAGE, NULL, 0,
                   "unknown tool '%.60s'; tools/list names them",
                   name->valuestring);
    return fail(id, INVALID_PARAMS, diag.text);
  }
  if (cJSON_IsNull(arguments))
    arguments = NULL;
  if (ws__mcp_tool_check(tool, arguments, &diag) != WS_OK)
    return fail(id, INVALID_PARAMS, diag.text);
  return answer_call(s, id, tool, arguments,
                     ws__mcp_is_token(token) ? token : NULL);
}

/* ---- prompts and resources ---- */
static cJSON *list_prompts(server *s, const cJSON *id, const cJSON *params) {
  (void)s, (void)params;
  cJSON *result = cJSON_CreateObject();
  cJSON_AddItemToObject(result, "prompts", ws__mcp_prompts_json());
  return succeed(id, result);
}

/* The answer to a request for which `run` has made a result, or has not. */
static cJSON *answer_with(server *s, const cJSON *id, ws_status status,
                          const ws_diag *diag, cJSON *result) {
  s->interrupted |= status == WS_INTERRUPTED;
  if (status == WS_OK)
    return succeed(id, result);
  return fail(id, status == WS_USAGE ? INVALID_PARAMS : INTERNAL_ERROR,
              diag->text);
}

static cJSON *get_prompt(server *s, const cJSON *id, const cJSON *params) {
  const cJSON *name = cJSON_GetObjectItemCaseSensitive(params, "name");
  const cJSON *arguments =
      cJSON_GetObjectItemCaseSensitive(params, "arguments");
  const char *parents[2];
  int count = 0;
  const cJSON *value;
  if (!cJSON_IsString(name))
    return fail(id, INVALID_PARAMS, "'name' must be a string, of a prompt");
  cJSON_ArrayForEach(value, arguments) {
    bool known = !strcmp(value->string, "parent") ||
                 !strcmp(value->string, "other_parent");
    if (!known || !cJSON_IsString(value) || count == 2)
      return fail(id, INVALID_PARAMS,
                  "arguments are parent and other_parent, both strings");
    parents[count++] = value->valuestring;
  }
  ws_diag diag = {""};
  cJSON *result = NULL;
  ws__mcp_call call;
  ws_arena *arena = ws_arena_create();
  ws_status status = begin_call(s, arena, &diag, &call);
  if (status == WS_OK)
    status =
        ws__mcp_prompt_get(&call, name->valuestring, parents, count, &result);
  ws_arena_destroy(arena);
  return answer_with(s, id, status, &diag, result);
}

static cJSON *list_resources(server *s, const cJSON *id, const cJSON *params) {
  ws_diag diag = {""};
  cJSON *result = NULL;
  ws__mcp_call call;
  ws_arena *arena = ws_arena_create();
  (void)params;
  ws_status status = begin_call(s, arena, &diag, &call);
  if (status == WS_OK)
    status = ws__mcp_resources_list(&call, &result);
  ws_arena_destroy(arena);
  return answer_with(s, id, status, &diag, result);
}

static cJSON *list_templates(server *s, const cJSON *id, const cJSON *params) {
  (void)s, (void)params;
  cJSON *result = cJSON_CreateObject();
  cJSON_AddArrayToObject(result, "resourceTemplates");
  return succeed(id, result);
}

static cJSON *read_resource(server *s, const cJSON *id, const cJSON *params) {
  const cJSON *uri = cJSON_GetObjectItemCaseSensitive(params, "uri");
  ws_diag diag = {""};
  cJSON *result = NULL;
  ws__mcp_call call;
  if (!cJSON_IsString(uri))
    return fail(id, INVALID_PARAMS, "'uri' must be a string, of a resource");
  ws_arena *arena = ws_arena_create();
  ws_status status = begin_call(s, arena, &diag, &call);
  if (status == WS_OK)
    status = ws__mcp_resource_read(&call, uri->valuestring, &result);
  ws_arena_destroy(arena);
  if (status == WS_USAGE)
    return fail(id, NO_RESOURCE, diag.text);
  return answer_with(s, id, status, &diag, result);
}

/* ---- messages ---- */
static const struct method {
  const char *name;
  cJSON *(*run)(server *s, const cJSON *id, const cJSON *params);
} methods[] = {{"initialize", initialize},
               {"ping", ping},
               {"tools/list", list_tools},
               {"tools/call", call_tool},
               {"prompts/list", list_prompts},
               {"prompts/get", get_prompt},
               {"resources/list", list_resources},
               {"resources/templates/list", list_templates},
               {"resources/read", read_resource}};
enum { METHODS = sizeof methods / sizeof methods[0] };

static cJSON *answer_request(server *s, const cJSON *id, const char *name,
                             const cJSON *params) {
  ws_diag diag = {""};
  if (params && !cJSON_IsObject(params))
    return fail(id, INVALID_PARAMS, "'params' must be an object");
  for (int i = 0; i < METHODS; i++)
    if (!strcmp(methods[i].name, name))
      return methods[i].run(s, id, params);
  (void)!ws_fail(&diag, WS_USAGE, NULL, 0, "unknown method '%.60s'", name);
  return fail(id, UNKNOWN_METHOD, diag.text);
}

/* The answer, or NULL where there must be none: to a notification, and to the
 * answer of a question that was never asked. */
static cJSON *answer_message(server *s, const cJSON *message) {
  if (!cJSON_IsObject(message))
    return fail(NULL, INVALID_REQUEST, "a message must be a JSON object");
  const cJSON *id = cJSON_GetObjectItemCaseSensitive(message, "id");
  const cJSON *method = cJSON_GetObjectItemCaseSensitive(message, "method");
  const cJSON *version = cJSON_GetObjectItemCaseSensitive(message, "jsonrpc");
  if (!method && (cJSON_GetObjectItemCaseSensitive(message, "result") ||
                  cJSON_GetObjectItemCaseSensitive(message, "error")))
    return NULL;
  if (id && !ws__mcp_is_token(id))
    return fail(NULL, INVALID_REQUEST, "'id' must be a string or a number");
  if (!cJSON_IsString(version) || strcmp(version->valuestring, "2.0"))
    return fail(id, INVALID_REQUEST, "'jsonrpc' must be \"2.0\"");
  if (!cJSON_IsString(method))
    return fail(id, INVALID_REQUEST, "'method' must be a string");
  if (!id)
    return NULL;
  return answer_request(s, id, method->valuestring,
                        cJSON_GetObjectItemCaseSensitive(message, "params"));
}

static cJSON *answer_batch(server *s, const cJSON *batch) {
  const cJSON *message;
  int count = cJSON_GetArraySize(batch);
  if (count < 1 || count > BATCH_MAX)
    return fail(NULL, INVALID_REQUEST, "a batch has 1 to 1000 messages");
  cJSON *answers = cJSON_CreateArray();
  cJSON_ArrayForEach(message, batch) {
    cJSON *answer = answer_message(s, message);
    if (answer)
      cJSON_AddItemToArray(answers, answer);
  }
  if (cJSON_GetArraySize(answers) > 0)
    return answers;
  cJSON_Delete(answers);
  return NULL;
}

static cJSON *answer_line(server *s, const char *text, size_t size) {
  ws_diag diag = {""};
  if (!ws__mcp_is_clean(text, size))
    return fail(NULL, PARSE_ERROR, "the message is not UTF-8, or has a NUL");
  cJSON *message = ws_json_parse(text, size, "message", &diag);
  if (!message)
    return fail(NULL, PARSE_ERROR, diag.text);
  ws__mcp_keep_numbers(message, text, size);
  cJSON *answer = cJSON_IsArray(message) ? answer_batch(s, message)
                                         : answer_message(s, message);
  cJSON_Delete(message);
  return answer;
}

static bool is_blank(const char *text, size_t size) {
  while (size > 0 && strchr(" \t\r", text[size - 1]))
    size--;
  return size == 0;
}

/* ---- serving ---- */
static ws_status serve(server *s, ws_diag *diag) {
  for (;;) {
    const char *text = "";
    size_t size = 0;
    cJSON *answer = NULL;
    switch (ws__mcp_wire_read(&s->wire, &text, &size)) {
    case WS__MCP_LINE:
      answer = is_blank(text, size) ? NULL : answer_line(s, text, size);
      break;
    case WS__MCP_LINE_TOO_LONG:
      answer = fail(NULL, INVALID_REQUEST, "the message is too long");
      break;
    case WS__MCP_END:
      return WS_OK;
    case WS__MCP_READ_FAILED:
      return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "cannot read messages: %s",
                     strerror(errno));
    }
    if (answer)
      ws__mcp_wire_send(&s->wire, answer);
    /* A client that has gone is an end like that of its messages. */
    if (s->wire.broken && s->wire.failure != EPIPE)
      return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "cannot write messages: %s",
                     strerror(s->wire.failure));
    if (s->wire.broken || s->interrupted)
      return WS_OK;
  }
}

static ws_status read_template(server *s, ws_diag *diag) {
  char *text;
  size_t size;
  ws_arena *scratch = ws_arena_create();
  ws_status status = ws_file_read(scratch, s->options->tune->template_file,
                                  &text, &size, diag);
  if (status == WS_OK)
    s->template_hash = ws_arena_strdup(s->arena, ws_hash_bytes(text, size).hex);
  ws_arena_destroy(scratch);
  return status;
}

static ws_status run(server *s, ws_diag *diag) {
  const struct sigaction ignore = {.sa_handler = SIG_IGN};
  struct sigaction before;
  WS_TRY(read_template(s, diag));
  sigaction(SIGPIPE, &ignore, &before);
  ws_status status = serve(s, diag);
  ws_session_close(s->session);
  sigaction(SIGPIPE, &before, NULL);
  return status;
}

ws_status ws_mcp_serve(const ws_mcp_options *options, ws_diag *diag) {
  server s = {.options = options, .arena = ws_arena_create()};
  int64_t most = options->message_bytes;
  ws__mcp_wire_init(&s.wire, options->in, options->out,
                    most > 0 ? (size_t)most : DEFAULT_MESSAGE_BYTES);
  ws_status status = run(&s, diag);
  ws__mcp_wire_deinit(&s.wire);
  ws_arena_destroy(s.arena);
  return status;
}
