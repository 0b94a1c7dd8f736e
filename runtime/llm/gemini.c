/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Google's generateContent. The base address is used as given, with its
 * version, plus "/models/MODEL:generateContent". The events of a stream have
 * the form of whole replies.
 */
#include "http_provider.h"

#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <string.h>

static char *address(ws_arena *arena, const char *base, const ws__spec *spec) {
  static const char folder[] = "models/";
  const char *model = spec->model;
  if (!strncmp(model, folder, sizeof folder - 1))
    model += sizeof folder - 1;
  char *escaped = curl_easy_escape(NULL, model, 0);
  WS_ASSERT(escaped && "out of memory");
  char *text = ws_arena_printf(arena, "%s/models/%s:%s", base, escaped,
                               spec->stream ? "streamGenerateContent?alt=sse"
                                            : "generateContent");
  curl_free(escaped);
  return text;
}

static void add_text(cJSON *content, const char *text) {
  cJSON *part = cJSON_CreateObject();
  cJSON_AddStringToObject(part, "text", text);
  cJSON_AddItemToArray(cJSON_AddArrayToObject(content, "parts"), part);
}

static cJSON *body(const ws__spec *spec, const char *base,
                   const ws_llm_question *question) {
  (void)base;
  cJSON *json = cJSON_CreateObject();
  if (*question->system)
    add_text(cJSON_AddObjectToObject(json, "systemInstruction"),
             question->system);
  cJSON *content = cJSON_CreateObject();
  cJSON_AddStringToObject(content, "role", "user");
  add_text(content, question->user);
  cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "contents"), content);
  cJSON *settings = cJSON_AddObjectToObject(json, "generationConfig");
  cJSON_AddNumberToObject(settings, "maxOutputTokens",
                          (double)spec->max_reply_tokens);
  if (spec->temperature >= 0)
    cJSON_AddNumberToObject(settings, "temperature", spec->temperature);
  return json;
}

/* Thoughts are billed as output. */
static void read_usage(const cJSON *usage, ws__http_reply *reply) {
  if (!cJSON_IsObject(usage))
    return;
  int64_t thoughts = ws__http_tokens(usage, "thoughtsTokenCount");
  int64_t output = ws__http_tokens(usage, "candidatesTokenCount");
  reply->prompt_tokens = ws__http_tokens(usage, "promptTokenCount");
  if (output >= 0 || thoughts >= 0)
    reply->reply_tokens =
        (output > 0 ? output : 0) + (thoughts > 0 ? thoughts : 0);
}

static void read_candidate(const cJSON *candidate, bool is_event,
                           ws__http_reply *reply) {
  const cJSON *content = cJSON_GetObjectItemCaseSensitive(candidate, "content");
  const cJSON *part;
  cJSON_ArrayForEach(part, cJSON_GetObjectItemCaseSensitive(content, "parts")) {
    const char *text = ws__http_string(part, "text");
    bool is_thought =
        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(part, "thought"));
    if (text && !is_thought)
      ws_strbuf_puts(&reply->text, text);
  }
  const char *finish = ws__http_string(candidate, "finishReason");
  reply->ended |= !is_event || finish;
  reply->cut_off |= finish && !strcmp(finish, "MAX_TOKENS");
  if (finish && strcmp(finish, "MAX_TOKENS") && strcmp(finish, "STOP"))
    ws__http_fault(reply, "the server stopped the reply: %s", finish);
}

static void read_reply(const cJSON *json, bool is_event,
                       ws__http_reply *reply) {
  const char *error = ws__http_server_error(json);
  if (error)
    ws__http_fault(reply, "the server reports: %s", error);
  read_usage(cJSON_GetObjectItemCaseSensitive(json, "usageMetadata"), reply);
  const char *blocked = ws__http_string(
      cJSON_GetObjectItemCaseSensitive(json, "promptFeedback"), "blockReason");
  if (blocked)
    ws__http_fault(reply, "the server refused the prompt: %s", blocked);
  const cJSON *candidate = cJSON_GetArrayItem(
      cJSON_GetObjectItemCaseSensitive(json, "candidates"), 0);
  if (candidate)
    read_candidate(candidate, is_event, reply);
  else if (!is_event)
    ws__http_fault(reply, "the reply holds no candidates");
}

static const ws__dialect dialect = {
    .name = "gemini",
    .default_base = "https://generativelanguage.googleapis.com/v1beta",
    .default_key_variable = "GEMINI_API_KEY",
    .needs_key = true,
    .needs_model = true,
    .key_header = "x-goog-api-key: %s",
    .address = address,
    .body = body,
    .read = read_reply};

static ws_status create(const ws__spec *spec, const ws_llm_options *options,
                        void **out_state, ws_diag *diag) {
  return ws__http_create(&dialect, spec, options, out_state, diag);
}

const ws__provider ws__provider_gemini = {
    "gemini",     "Gemini, through Google's generateContent",
    create,       ws__http_destroy,
    ws__http_ask, ws__http_take};
