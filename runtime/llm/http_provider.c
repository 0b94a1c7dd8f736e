/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The part of a provider that does not depend on the vendor: the key and
 * where it may go, posting, and turning what came back into a reply or one
 * line that says why there is none. A server's words are shown cut, on one
 * line, and without the key.
 */
#include "http_provider.h"

#include "endpoint.h"
#include "http_text.h"
#include "keys.h"
#include "sse.h"
#include "transport.h"
#include "wavesmith/text.h"

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
  DEFAULT_RETRIES = 4,
  DEFAULT_BODY_BYTES = 4 << 20,
  DEFAULT_REPLY_TOKENS = 16384,
  STREAM_FACTOR = 8, /* each token of a stream comes in an envelope */
  SHOWN_BYTES = 300, /* of a server's words */
  ERROR_BYTES = 700
};

typedef struct http_state {
  const ws__dialect *dialect;
  ws_arena *arena;
  ws__spec spec;
  ws__endpoint endpoint;
  const char *url;
  ws__key key;
  ws__transport *transport;
} http_state;

/* ---- setting up -----------------------------------------------------------
 */

static void copy_spec(http_state *state, const ws__spec *spec) {
  state->spec = *spec;
  state->spec.model = ws_arena_strdup(state->arena, spec->model);
  state->spec.url = ws_arena_strdup(state->arena, spec->url);
  state->spec.key_variable = ws_arena_strdup(state->arena, spec->key_variable);
  state->spec.key_file = ws_arena_strdup(state->arena, spec->key_file);
  if (spec->max_reply_tokens <= 0)
    state->spec.max_reply_tokens = DEFAULT_REPLY_TOKENS;
}

static ws_status read_endpoint(http_state *state, ws_diag *diag) {
  const ws__dialect *dialect = state->dialect;
  const char *base = *state->spec.url ? state->spec.url : dialect->default_base;
  if (!base)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "%s needs the server's address, as in "
                   "%s:http://127.0.0.1:8080/v1#MODEL",
                   dialect->name, dialect->name);
  if (dialect->needs_model && !*state->spec.model)
    return ws_fail(diag, WS_USAGE, NULL, 0, "%s needs a model, as in %s:#MODEL",
                   dialect->name, dialect->name);
  WS_TRY(ws__endpoint_parse(state->arena, base, &state->endpoint, diag));
  state->url =
      dialect->address(state->arena, state->endpoint.base, &state->spec);
  return WS_OK;
}

/* A key that nobody named goes unused where it would be readable on the way;
 * one that was named there is a mistake to be told. */
static ws_status read_key(http_state *state, ws_diag *diag) {
  const ws__dialect *dialect = state->dialect;
  const ws__endpoint *endpoint = &state->endpoint;
  const char *variable = state->spec.key_variable, *file = state->spec.key_file;
  bool named = variable || file;
  bool readable = !endpoint->encrypted && !endpoint->loopback;
  if (readable && (named || dialect->needs_key))
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "%s: a key is not sent to %.200s without encryption; give "
                   "an https:// address, or a tunnel to 127.0.0.1",
                   dialect->name, endpoint->host);
  if (readable)
    return WS_OK;
  WS_TRY(ws__key_read(variable, file, dialect->default_key_variable,
                      &state->key, diag));
  if (!state->key.secret &&
      (dialect->needs_key || (endpoint->encrypted && !endpoint->loopback)))
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "%s: no key: set %s, or add ;key=VARIABLE or "
                   ";key-file=PATH to the model",
                   dialect->name, dialect->default_key_variable);
  return WS_OK;
}

static ws_status start_transport(http_state *state,
                                 const ws_llm_options *options, ws_diag *diag) {
  int64_t bytes =
      options->reply_bytes > 0 ? options->reply_bytes : DEFAULT_BODY_BYTES;
  ws__http_limits limits = {
      .attempt_seconds =
          options->request_seconds > 0 ? options->request_seconds : 300,
      .total_seconds =
          options->total_seconds > 0 ? options->total_seconds : 900,
      .retries = options->retries >= 0 ? options->retries : DEFAULT_RETRIES,
      .body_bytes = (size_t)bytes * (state->spec.stream ? STREAM_FACTOR : 1)};
  return ws__transport_create(&limits, &state->transport, diag);
}

ws_status ws__http_create(const ws__dialect *dialect, const ws__spec *spec,
                          const ws_llm_options *options, void **out_state,
                          ws_diag *diag) {
  *out_state = NULL;
  http_state *state = calloc(1, sizeof *state);
  WS_ASSERT(state && "out of memory");
  state->dialect = dialect;
  state->arena = ws_arena_create();
  copy_spec(state, spec);
  ws_status status = read_endpoint(state, diag);
  if (status == WS_OK)
    status = read_key(state, diag);
  if (status == WS_OK)
    status = start_transport(state, options, diag);
  if (status == WS_OK)
    *out_state = state;
  else
    ws__http_destroy(state);
  return status;
}

void ws__http_destroy(void *opaque) {
  http_state *state = opaque;
  if (!state)
    return;
  ws__transport_destroy(state->transport);
  ws__key_wipe(&state->key);
  ws_arena_destroy(state->arena);
  free(state);
}

/* ---- asking ---------------------------------------------------------------
 */

/* "x-api-key: SECRET" on the heap, to be wiped; NULL without a key. */
static char *key_header(const http_state *state) {
  if (!state->key.secret)
    return NULL;
  const char *format = state->dialect->key_header;
  const char *hole = strstr(format, "%s");
  size_t before = (size_t)(hole - format), length = strlen(state->key.secret);
  char *header = calloc(1, before + length + 1);
  WS_ASSERT(header && "out of memory");
  memcpy(header, format, before);
  memcpy(header + before, state->key.secret, length);
  return header;
}

ws_status ws__http_ask(void *opaque, const ws_llm_question *question,
                       ws_diag *diag) {
  http_state *state = opaque;
  const ws__dialect *dialect = state->dialect;
  cJSON *json = dialect->body(&state->spec, state->endpoint.base, question);
  char *body = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  if (!body)
    return ws_fail(diag, WS_INPUT, NULL, 0, "the prompt cannot be sent");
  const char *headers[4] = {"Content-Type: application/json",
                            state->spec.stream ? "Accept: text/event-stream"
                                               : "Accept: application/json"};
  int count = 2;
  char *secret_header = key_header(state);
  if (dialect->header)
    headers[count++] = dialect->header;
  if (secret_header)
    headers[count++] = secret_header;
  ws__transport_post(
      state->transport,
      &(ws__http_request){
          .tag = {question->sequence,
                  (int64_t)(strlen(question->system) + strlen(question->user))},
          .url = state->url,
          .body = body,
          .headers = headers,
          .header_count = count,
          .direct = state->endpoint.loopback});
  if (secret_header)
    explicit_bzero(secret_header, strlen(secret_header));
  free(secret_header);
  cJSON_free(body);
  return WS_OK;
}

/* ---- for dialects ---------------------------------------------------------
 */

void ws__http_fault(ws__http_reply *reply, const char *format, ...) {
  if (reply->fault)
    return;
  /* Whole: a cut before the key is looked for could leave half of it. */
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  WS_ASSERT(length >= 0);
  char *text = ws_arena_alloc(reply->arena, (size_t)length + 1);
  va_start(arguments, format);
  vsnprintf(text, (size_t)length + 1, format, arguments);
  va_end(arguments);
  reply->fault = text;
}

int64_t ws__http_tokens(const cJSON *object, const char *name) {
  const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
  if (!cJSON_IsNumber(member) || !(member->valuedouble >= 0) ||
      !(member->valuedouble <= 1e12))
    return -1;
  return (int64_t)member->valuedouble;
}

const char *ws__http_string(const cJSON *object, const char *name) {
  return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

/* {"error":{"message":..}}, {"error":".."}, {"message":..}, {"detail":..}, or
 * the first of these in an array. */
const char *ws__http_server_error(const cJSON *json) {
  if (cJSON_IsArray(json))
    json = cJSON_GetArrayItem(json, 0);
  const cJSON *error = cJSON_GetObjectItemCaseSensitive(json, "error");
  const char *message = ws__http_string(error, "message");
  if (cJSON_IsString(error))
    return error->valuestring;
  if (cJSON_IsObject(error))
    return message ? message : "an error without a message";
  return NULL;
}

/* ---- what came back -------------------------------------------------------
 */

typedef struct outcome { /* of one question */
  const http_state *state;
  const ws__http_result *result;
  ws_arena *arena;
  ws__http_reply reply;
} outcome;

static bool has_type(const ws__http_result *result, const char *type) {
  return !strncasecmp(result->content_type, type, strlen(type));
}

static void read_json(outcome *self, const char *text, size_t size,
                      bool is_event) {
  cJSON *json = ws_json_parse(text, size, "reply", NULL);
  if (cJSON_IsObject(json))
    self->state->dialect->read(json, is_event, &self->reply);
  else if (cJSON_IsArray(json) && ws__http_server_error(json))
    ws__http_fault(&self->reply, "the server reports: %s",
                   ws__http_server_error(json));
  else
    ws__http_fault(&self->reply,
                   "%s is not a JSON object, or is cut off (%zu bytes)",
                   is_event ? "an event of the reply" : "the reply", size);
  cJSON_Delete(json);
}

static bool read_event(const char *data, size_t size, void *context) {
  outcome *self = context;
  if (!strcmp(data, "[DONE]"))
    return false;
  read_json(self, data, size, true);
  return !self->reply.fault;
}

/* A body with status 200. */
static void read_body(outcome *self) {
  const ws__http_result *result = self->result;
  bool is_stream = has_type(result, "text/event-stream");
  if (!is_stream && !has_type(result, "application/json"))
    ws__http_fault(&self->reply,
                   "the server sent '%s', not JSON; is the address right?",
                   *result->content_type ? result->content_type : "no type");
  else if (strlen(result->body) != result->size ||
           !ws_text_is_utf8(result->body, result->size))
    ws__http_fault(&self->reply, "the reply is not valid UTF-8 text");
  else if (is_stream)
    ws__sse_each(result->body, result->size, read_event, self);
  else
    read_json(self, result->body, result->size, false);
  if (is_stream && !self->reply.ended)
    ws__http_fault(&self->reply, "the stream broke off before its end");
  if (!self->reply.text.size)
    ws__http_fault(&self->reply, "%s",
                   self->reply.cut_off
                       ? "the token limit was reached before any text; raise "
                         "it by ;max-reply-tokens=N"
                       : "the reply is empty");
}

/* What a status means to the user; "" when the server's words must do. */
static const char *advice(const outcome *self) {
  const http_state *state = self->state;
  long code = self->result->code;
  if (code >= 300 && code < 400)
    return "; redirects are not followed: give the address that it leads to";
  if ((code == 401 || code == 403) && state->key.secret)
    return ws_arena_printf(self->arena, "; the key from %.200s is refused",
                           state->key.source);
  if (code == 401 || code == 403)
    return ws_arena_printf(self->arena,
                           "; a key is wanted: set %s, or add ;key=VARIABLE or "
                           ";key-file=PATH",
                           state->dialect->default_key_variable);
  if (code == 404)
    return ws_arena_printf(self->arena, "; no model '%.100s', or no such path",
                           state->spec.model);
  return "";
}

/* The server's words on an error; "" when there are none worth showing. */
static const char *server_words(const outcome *self) {
  const ws__http_result *result = self->result;
  cJSON *json = ws_json_parse(result->body, result->size, "reply", NULL);
  const char *words = ws__http_server_error(json);
  if (!words)
    words = ws__http_string(json, "message");
  if (!words)
    words = ws__http_string(json, "detail");
  if (!words)
    words = has_type(result, "text/plain") ? result->body : "";
  words = ws__key_scrub(&self->state->key, self->arena, words);
  words = ws__text_one_line(self->arena, words, SHOWN_BYTES);
  cJSON_Delete(json);
  return words;
}

static void describe_status(outcome *self) {
  const char *words = server_words(self);
  ws__http_fault(&self->reply, "HTTP %ld%s%s%s", self->result->code,
                 advice(self), *words ? ": " : "", words);
}

static const char *error_line(const outcome *self) {
  const ws__http_result *result = self->result;
  if (!self->reply.fault)
    return "";
  const char *line = ws_arena_printf(
      self->arena, "%s:%.100s: %s%s%s%s", self->state->dialect->name,
      self->state->spec.model, self->reply.fault, *result->gave_up ? " (" : "",
      result->gave_up, *result->gave_up ? ")" : "");
  line = ws__key_scrub(&self->state->key, self->arena, line);
  return ws__text_one_line(self->arena, line, ERROR_BYTES);
}

/* Money is owed for a reply with a fault too. */
static void count(const outcome *self, ws_llm_answer *answer) {
  const ws__spec *spec = &self->state->spec;
  const ws__http_reply *reply = &self->reply;
  if (self->result->code != 200 || *self->result->error)
    return;
  answer->prompt_tokens = reply->prompt_tokens >= 0
                              ? reply->prompt_tokens
                              : self->result->tag.prompt_bytes / 4;
  answer->reply_tokens = reply->reply_tokens >= 0
                             ? reply->reply_tokens
                             : (int64_t)(reply->text.size / 4);
  answer->usd =
      ((spec->usd_in > 0 ? spec->usd_in : 0) * (double)answer->prompt_tokens +
       (spec->usd_out > 0 ? spec->usd_out : 0) * (double)answer->reply_tokens) /
      1e6;
}

static void answer_from(outcome *self, ws_llm_answer *out) {
  const ws__http_result *result = self->result;
  if (*result->error)
    ws__http_fault(&self->reply, "%s", result->error);
  else if (result->code != 200)
    describe_status(self);
  else
    read_body(self);
  const char *error = error_line(self);
  const char *text = *error ? "" : self->reply.text.data;
  *out = (ws_llm_answer){
      .sequence = result->tag.sequence,
      .text = ws_arena_strdup(
          self->arena, ws__key_scrub(&self->state->key, self->arena, text)),
      .error = error,
      .seconds = result->seconds,
      .attempts = result->attempts,
      .cut_off = self->reply.cut_off};
  count(self, out);
}

ws_status ws__http_take(void *opaque, ws_arena *arena, bool *out_found,
                        ws_llm_answer *out_answer, ws_diag *diag) {
  (void)diag;
  http_state *state = opaque;
  ws__http_result result;
  *out_found = ws__transport_take(state->transport, arena, &result);
  if (!*out_found)
    return WS_OK;
  outcome self = {state,
                  &result,
                  arena,
                  {.arena = arena, .prompt_tokens = -1, .reply_tokens = -1}};
  ws_strbuf_init(&self.reply.text);
  answer_from(&self, out_answer);
  ws_strbuf_deinit(&self.reply.text);
  return WS_OK;
}
