/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Messages as lines: bounded, valid UTF-8 in both directions.
 */
#ifndef WAVESMITH_MCP_WIRE_H
#define WAVESMITH_MCP_WIRE_H

#include "wavesmith/base.h"

#include <pthread.h>

struct cJSON;

typedef struct ws__mcp_wire {
  int in, out;
  size_t line_max;
  ws_strbuf buffer;     /* read and not yet handed out */
  size_t handed;        /* bytes at its start that are done with */
  bool skipping;        /* the rest of a line that is too long */
  bool broken;          /* out cannot be written, for `failure` */
  int failure;          /* errno */
  pthread_mutex_t lock; /* of out */
} ws__mcp_wire;

typedef enum ws__mcp_line {
  WS__MCP_LINE,
  WS__MCP_LINE_TOO_LONG, /* it has been skipped */
  WS__MCP_END,           /* of the stream, or a signal */
  WS__MCP_READ_FAILED    /* errno says why */
} ws__mcp_line;

void ws__mcp_wire_init(ws__mcp_wire *wire, int in, int out, size_t line_max);
void ws__mcp_wire_deinit(ws__mcp_wire *wire);
/* The text lives until the next call. */
ws__mcp_line ws__mcp_wire_read(ws__mcp_wire *wire, const char **out_text,
                               size_t *out_size);
/* Any thread. Bytes that are not UTF-8 go out as U+FFFD. */
void ws__mcp_wire_send(ws__mcp_wire *wire, struct cJSON *owned_message);

/* Whether text is UTF-8 without a NUL, also as an escape of JSON, which would
 * end a string early. */
bool ws__mcp_is_clean(const char *text, size_t size);

/* ---- numbers as they were sent (exact.c) ---- */
/* Has each number of a message keep its text. text: what message was parsed
 * of. */
void ws__mcp_keep_numbers(struct cJSON *message, const char *text, size_t size);
/* Whether item, of a message with its numbers kept, may be an id or a progress
 * token: a string or a number of JSON's own grammar. */
bool ws__mcp_is_token(const struct cJSON *item);
/* A token to be sent back, as it came; null for NULL. */
struct cJSON *ws__mcp_echo(const struct cJSON *item);

/* ---- signs of life (beat.c) ---- */
typedef struct ws__mcp_beat ws__mcp_beat;
/* Sends notifications/progress with the token until stopped. */
ws__mcp_beat *ws__mcp_beat_start(ws__mcp_wire *wire, const struct cJSON *token,
                                 double seconds);
void ws__mcp_beat_stop(ws__mcp_beat *beat); /* NULL is allowed */

#endif
