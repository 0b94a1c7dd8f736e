/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Anthropic's Messages. The base address is used as given, plus "/v1/messages",
 * or "/messages" when it ends in /v1 already.
 */
#include "http_provider.h"

#include <cjson/cJSON.h>
#include <string.h>

static char *address(ws_arena *arena, const char *base, const ws__spec *spec) {
  (void)spec;
  size_t length = strlen(base);
  bool has_version = length >= 3 && !strcmp(base + length - 3, "/v1");
  return ws_arena_printf(arena, "%s%s/messages", base,
                         has_version ? "" : "/v1");
}

static cJSON *body(const ws__spec *spec, const char *base,
                   const ws_llm_question *question) {
  (void)base;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "model", spec->model);
  cJSON_AddNumberToObject(json, "max_tokens", (double)spec->max_reply_tokens);
  if (*question->system)
    cJSON_AddStringToObject(json, "system", question->system);
  cJSON *message = cJSON_CreateObject();
  cJSON_AddStringToObject(message, "role", "user");
  cJSON_AddStringToObject(message, "content", question->user);
  cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "messages"), message);
  if (spec->temperature >= 0)
    cJSON_AddNumberToObject(json, "temperature", spec->temperature);
  if (spec->stream)
    cJSON_AddTrueToObject(json, "stream");
  return json;
}

/* What was read from or put into a cache is counted apart, and was sent. */
static void read_usage(const cJSON *usage, ws__http_reply *reply) {
  static const char *const inputs[] = {
      "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"};
  int64_t sum = 0, output = ws__http_tokens(usage, "output_tokens");
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
    int64_t tokens = ws__http_tokens(usage, inputs[i]);
    sum += tokens > 0 ? tokens : 0;
  }
  if (ws__http_tokens(usage, "input_tokens") >= 0)
    reply->prompt_tokens = sum;
  if (output >= 0)
    reply->reply_tokens = output; /* of the whole reply so far */
}

static void read_stop(const char *reason, ws__http_reply *reply) {
  if (!reason)
    return;
  reply->ended = true;
  reply->cut_off |= !strcmp(reason, "max_tokens");
  if (!strcmp(reason, "refusal"))
    ws__http_fault(reply, "the model refused");
}

static void read_whole(const cJSON *json, ws__http_reply *reply) {
  const cJSON *content = cJSON_GetObjectItemCaseSensitive(json, "content");
  const cJSON *block;
  if (!cJSON_IsArray(content))
    ws__http_fault(reply, "the reply holds no content");
  cJSON_ArrayForEach(block, content) {
    const char *type = ws__http_string(block, "type");
    const char *text = ws__http_string(block, "text");
    if (type && !strcmp(type, "text") && text)
      ws_strbuf_puts(&reply->text, text);
  }
  read_stop(ws__http_string(json, "stop_reason"), reply);
  read_usage(cJSON_GetObjectItemCaseSensitive(json, "usage"), reply);
  reply->ended = true;
}

static void read_event(const cJSON *json, ws__http_reply *reply) {
  const cJSON *message = cJSON_GetObjectItemCaseSensitive(json, "message");
  const cJSON *delta = cJSON_GetObjectItemCaseSensitive(json, "delta");
  const char *kind = ws__http_string(delta, "type");
  const char *text = ws__http_string(delta, "text");
  read_usage(cJSON_GetObjectItemCaseSensitive(message, "usage"), reply);
  read_usage(cJSON_GetObjectItemCaseSensitive(json, "usage"), reply);
  if (kind && !strcmp(kind, "text_delta") && text)
    ws_strbuf_puts(&reply->text, text);
  read_stop(ws__http_string(delta, "stop_reason"), reply);
}

static void read_reply(const cJSON *json, bool is_event,
                       ws__http_reply *reply) {
  const char *error = ws__http_server_error(json);
  if (error)
    ws__http_fault(reply, "the server reports: %s", error);
  if (is_event)
    read_event(json, reply);
  else
    read_whole(json, reply);
}

static const ws__dialect dialect = {.name = "anthropic",
                                    .default_base = "https://api.anthropic.com",
                                    .default_key_variable = "ANTHROPIC_API_KEY",
                                    .needs_key = true,
                                    .needs_model = true,
                                    .key_header = "x-api-key: %s",
                                    .header = "anthropic-version: 2023-06-01",
                                    .address = address,
                                    .body = body,
                                    .read = read_reply};

static ws_status create(const ws__spec *spec, const ws_llm_options *options,
                        void **out_state, ws_diag *diag) {
  return ws__http_create(&dialect, spec, options, out_state, diag);
}

const ws__provider ws__provider_anthropic = {
    "anthropic",  "Claude, through Anthropic's Messages",
    create,       ws__http_destroy,
    ws__http_ask, ws__http_take};
