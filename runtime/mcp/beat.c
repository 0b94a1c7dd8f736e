/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Signs of life while a tool works: clients give up on a call after a minute or
 * so, unless it reports progress. A thread that does nothing but this, and
 * gets no signals.
 */
#include "wire.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct ws__mcp_beat {
  ws__mcp_wire *wire;
  cJSON *token;
  double seconds;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t change;
  bool stopping;
};

static void send_beat(const ws__mcp_beat *beat, double elapsed) {
  char text[64];
  snprintf(text, sizeof text, "working for %.0f s", elapsed);
  cJSON *message = cJSON_CreateObject();
  cJSON_AddStringToObject(message, "jsonrpc", "2.0");
  cJSON_AddStringToObject(message, "method", "notifications/progress");
  cJSON *params = cJSON_AddObjectToObject(message, "params");
  cJSON_AddItemToObject(params, "progressToken", ws__mcp_echo(beat->token));
  cJSON_AddNumberToObject(params, "progress", elapsed);
  cJSON_AddStringToObject(params, "message", text);
  ws__mcp_wire_send(beat->wire, message);
}

static struct timespec after(double seconds) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  double nanoseconds = (double)at.tv_nsec + 1e9 * (seconds - floor(seconds));
  at.tv_sec += (time_t)floor(seconds) + (nanoseconds >= 1e9);
  at.tv_nsec = (long)(nanoseconds >= 1e9 ? nanoseconds - 1e9 : nanoseconds);
  return at;
}

static void *run(void *opaque) {
  ws__mcp_beat *beat = opaque;
  pthread_mutex_lock(&beat->lock);
  for (int count = 1; !beat->stopping; count++) {
    struct timespec next = after(beat->seconds);
    int waited = 0;
    while (!beat->stopping && waited != ETIMEDOUT)
      waited = pthread_cond_timedwait(&beat->change, &beat->lock, &next);
    if (!beat->stopping)
      send_beat(beat, count * beat->seconds);
  }
  pthread_mutex_unlock(&beat->lock);
  return NULL;
}

static void init_change(pthread_cond_t *change) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(change, &attributes);
  pthread_condattr_destroy(&attributes);
}

ws__mcp_beat *ws__mcp_beat_start(ws__mcp_wire *wire, const cJSON *token,
                                 double seconds) {
  ws__mcp_beat *beat = calloc(1, sizeof *beat);
  WS_ASSERT(beat && "out of memory");
  beat->wire = wire;
  beat->token = cJSON_Duplicate(token, true);
  beat->seconds = seconds;
  pthread_mutex_init(&beat->lock, NULL);
  init_change(&beat->change);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(&beat->thread, NULL, run, beat);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  WS_ASSERT(!failed && "no thread");
  return beat;
}

void ws__mcp_beat_stop(ws__mcp_beat *beat) {
  if (!beat)
    return;
  pthread_mutex_lock(&beat->lock);
  beat->stopping = true;
  pthread_cond_signal(&beat->change);
  pthread_mutex_unlock(&beat->lock);
  pthread_join(beat->thread, NULL);
  pthread_cond_destroy(&beat->change);
  pthread_mutex_destroy(&beat->lock);
  cJSON_Delete(beat->token);
  free(beat);
}
