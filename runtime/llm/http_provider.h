/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the providers over HTTP share. Each is a dialect: where requests go,
 * how they are worded, how replies are read.
 */
#ifndef WAVESMITH_LLM_HTTP_PROVIDER_H
#define WAVESMITH_LLM_HTTP_PROVIDER_H

#include "provider.h"

struct cJSON;

typedef struct ws__http_reply { /* gathered from one body or many events */
  ws_arena *arena;
  ws_strbuf text;
  int64_t prompt_tokens, reply_tokens; /* < 0: the server did not say */
  bool ended;                          /* the server said that this is all */
  bool cut_off;
  const char *fault; /* NULL or what is wrong; may hold the server's words */
} ws__http_reply;

typedef struct ws__dialect {
  const char *name;
  const char *default_base; /* NULL: must be given */
  const char *default_key_variable;
  bool needs_key, needs_model;
  const char *key_header; /* with one %s */
  const char *header;     /* one more; NULL: none */
  char *(*address)(ws_arena *arena, const char *base, const ws__spec *spec);
  struct cJSON *(*body)(const ws__spec *spec, const char *base,
                        const ws_llm_question *question);
  /* One JSON value: the reply, or an event of it. */
  void (*read)(const struct cJSON *json, bool is_event, ws__http_reply *reply);
} ws__dialect;

ws_status ws__http_create(const ws__dialect *dialect, const ws__spec *spec,
                          const ws_llm_options *options, void **out_state,
                          ws_diag *diag) WS_MUST_CHECK;
void ws__http_destroy(void *state);
ws_status ws__http_ask(void *state, const ws_llm_question *question,
                       ws_diag *diag) WS_MUST_CHECK;
ws_status ws__http_take(void *state, ws_arena *arena, bool *out_found,
                        ws_llm_answer *out_answer, ws_diag *diag) WS_MUST_CHECK;

/* ---- for dialects ---------------------------------------------------------
 */
/* The first fault stays. */
void ws__http_fault(ws__http_reply *reply, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A member that counts tokens; -1: missing or no count. */
int64_t ws__http_tokens(const struct cJSON *object, const char *name);
/* A member that is a string; NULL: missing or of another type. */
const char *ws__http_string(const struct cJSON *object, const char *name);
/* What a server says is wrong, from any of the usual forms; NULL: none. */
const char *ws__http_server_error(const struct cJSON *json);

#endif
