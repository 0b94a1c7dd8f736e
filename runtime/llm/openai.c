/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Chat completions, as OpenAI defined them and llama.cpp, vLLM, SGLang and
 * Ollama serve them. The base address is used as given, plus
 * "/chat/completions": it ends in /v1 where the server wants that.
 */
#include "http_provider.h"

#include <cjson/cJSON.h>
#include <string.h>

static char *address(ws_arena *arena, const char *base, const ws__spec *spec) {
  (void)spec;
  return ws_arena_printf(arena, "%s/chat/completions", base);
}

static void add_message(cJSON *messages, const char *role, const char *text) {
  if (!*text)
    return;
  cJSON *message = cJSON_CreateObject();
  cJSON_AddStringToObject(message, "role", role);
  cJSON_AddStringToObject(message, "content", text);
  cJSON_AddItemToArray(messages, message);
}

/* The vendor's newer models refuse max_tokens; other servers know only it. */
static const char *limit_name(const char *base) {
  static const char vendor[] = "https://api.openai.com/";
  return strncmp(base, vendor, sizeof vendor - 1) ? "max_tokens"
                                                  : "max_completion_tokens";
}

static cJSON *body(const ws__spec *spec, const char *base,
                   const ws_llm_question *question) {
  cJSON *json = cJSON_CreateObject();
  if (*spec->model)
    cJSON_AddStringToObject(json, "model", spec->model);
  cJSON *messages = cJSON_AddArrayToObject(json, "messages");
  add_message(messages, "system", question->system);
  add_message(messages, "user", question->user);
  cJSON_AddNumberToObject(json, limit_name(base),
                          (double)spec->max_reply_tokens);
  if (spec->temperature >= 0)
    cJSON_AddNumberToObject(json, "temperature", spec->temperature);
  if (spec->stream) {
    cJSON_AddTrueToObject(json, "stream");
    cJSON *options = cJSON_AddObjectToObject(json, "stream_options");
    cJSON_AddTrueToObject(options, "include_usage");
  }
  return json;
}

/* Content is a string, or parts of which some hold text. */
static void read_content(const cJSON *content, ws__http_reply *reply) {
  const cJSON *part;
  if (cJSON_IsString(content))
    ws_strbuf_puts(&reply->text, content->valuestring);
  else if (cJSON_IsArray(content))
    cJSON_ArrayForEach(part, content) {
      const char *text = ws__http_string(part, "text");
      if (text)
        ws_strbuf_puts(&reply->text, text);
    }
}

static void read_choice(const cJSON *choice, bool is_event,
                        ws__http_reply *reply) {
  const cJSON *message =
      cJSON_GetObjectItemCaseSensitive(choice, is_event ? "delta" : "message");
  read_content(cJSON_GetObjectItemCaseSensitive(message, "content"), reply);
  const char *refusal = ws__http_string(message, "refusal");
  if (refusal && *refusal)
    ws__http_fault(reply, "the model refused: %s", refusal);
  const char *finish = ws__http_string(choice, "finish_reason");
  reply->ended |= !is_event || finish;
  reply->cut_off |= finish && !strcmp(finish, "length");
  if (finish && !strcmp(finish, "content_filter"))
    ws__http_fault(reply, "the server's content filter stopped the reply");
}

static void read_reply(const cJSON *json, bool is_event,
                       ws__http_reply *reply) {
  const char *error = ws__http_server_error(json);
  if (error)
    ws__http_fault(reply, "the server reports: %s", error);
  const cJSON *usage = cJSON_GetObjectItemCaseSensitive(json, "usage");
  if (cJSON_IsObject(usage)) {
    reply->prompt_tokens = ws__http_tokens(usage, "prompt_tokens");
    reply->reply_tokens = ws__http_tokens(usage, "completion_tokens");
  }
  const cJSON *choices = cJSON_GetObjectItemCaseSensitive(json, "choices");
  const cJSON *choice = cJSON_GetArrayItem(choices, 0);
  if (choice)
    read_choice(choice, is_event, reply);
  else if (!is_event)
    ws__http_fault(reply, "the reply holds no choices");
}

static const ws__dialect dialect = {.name = "openai",
                                    .default_key_variable = "OPENAI_API_KEY",
                                    .key_header = "Authorization: Bearer %s",
                                    .address = address,
                                    .body = body,
                                    .read = read_reply};

static ws_status create(const ws__spec *spec, const ws_llm_options *options,
                        void **out_state, ws_diag *diag) {
  return ws__http_create(&dialect, spec, options, out_state, diag);
}

const ws__provider ws__provider_openai = {
    "openai",     "chat completions: llama.cpp, vLLM, SGLang, Ollama, OpenAI",
    create,       ws__http_destroy,
    ws__http_ask, ws__http_take};
