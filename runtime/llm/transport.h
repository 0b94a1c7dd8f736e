/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * POST requests over libcurl, several in flight, moved on only when asked, with
 * retries, time-outs and a cap on what comes back. Knows HTTP, nothing of
 * models.
 */
#ifndef WAVESMITH_LLM_TRANSPORT_H
#define WAVESMITH_LLM_TRANSPORT_H

#include "wavesmith/base.h"

typedef struct ws__transport ws__transport;

typedef struct ws__http_limits {
  double attempt_seconds, total_seconds; /* total: from post to result */
  int retries;
  size_t body_bytes; /* of a reply; one byte more ends the attempt */
} ws__http_limits;

typedef struct ws__http_tag { /* the caller's, given back with the result */
  int64_t sequence;
  int64_t prompt_bytes;
} ws__http_tag;

typedef struct ws__http_request {
  ws__http_tag tag;
  const char *url, *body;
  const char *const *headers; /* "Name: value" */
  int header_count;
  bool direct; /* never through a proxy */
} ws__http_request;

typedef struct ws__http_result { /* of the last attempt; texts in the arena */
  ws__http_tag tag;
  long code;                /* 0: there was no HTTP answer */
  const char *error;        /* "" or why there is no complete answer */
  const char *content_type; /* "" */
  const char *body;
  size_t size;
  const char *gave_up; /* "" or why it was not tried once more */
  int attempts;
  double seconds; /* since the post, waits included */
} ws__http_result;

ws_status ws__transport_create(const ws__http_limits *limits,
                               ws__transport **out_transport,
                               ws_diag *diag) WS_MUST_CHECK;
/* Drops what is in flight and wipes the headers; NULL is allowed. */
void ws__transport_destroy(ws__transport *transport);
/* Copies the request; nothing is sent before the next take. */
void ws__transport_post(ws__transport *transport,
                        const ws__http_request *request);
/* Moves everything on without waiting; false: nothing has ended. */
bool ws__transport_take(ws__transport *transport, ws_arena *arena,
                        ws__http_result *out_result);

#endif
