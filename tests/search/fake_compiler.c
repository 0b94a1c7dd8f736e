/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A compile server for tests: speaks the protocol of pass/server.h over
 * descriptor 3 without compiling anything. A "template" is the JSON of its
 * records; anything else is malformed. A build's verdict and hashes follow
 * from the hash of its assignments alone, so that they do not depend on who
 * asks when. The environment says how it misbehaves:
 *   FAKE_DELAY_US  each build takes a random time up to this
 *   FAKE_HANG      builds whose assignments contain this never end
 *   FAKE_DEAF      and do not notice that the client has gone
 *   FAKE_DEATHS    N: one build in N kills the server
 *   FAKE_SIGNAL    builds raise this signal, as long as the file FAKE_TRIES,
 *                  which gets a byte each time, is shorter than FAKE_TIMES;
 *                  those whose assignments are "good" do not
 *   FAKE_WRONG     builds whose assignments contain this are wrong, too
 *   FAKE_LOG       a line per build is appended to this file
 */
#include "wavesmith/build.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SOCKET = 3 };

static void send_json(cJSON *owned_json, const void *blob, size_t size) {
  ws_diag diag;
  char *text = cJSON_PrintUnformatted(owned_json);
  if (ws_message_send(SOCKET, text, blob, size, &diag) != WS_OK)
    _exit(1);
  cJSON_free(text);
  cJSON_Delete(owned_json);
}

static void send_error(const char *text) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "error", text);
  cJSON_AddStringToObject(json, "status", "input");
  send_json(json, NULL, 0);
}

static void describe(const char *file, const char *text) {
  cJSON *records = cJSON_Parse(text);
  char message[300];
  if (!records) {
    snprintf(message, sizeof message, "%s:1: not a template", file);
    send_error(message);
    return;
  }
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToObject(json, "records", records);
  send_json(json, NULL, 0);
}

/* Sleeps, or ends with the client. */
static void pause_us(long us) {
  struct pollfd item = {.fd = SOCKET, .events = POLLRDHUP};
  struct timespec time = {us / 1000000, us % 1000000 * 1000};
  if (ppoll(&item, 1, &time, NULL) > 0)
    _exit(0);
}

static void raise_signal(const ws_build_request *request) {
  const char *number = getenv("FAKE_SIGNAL");
  if (!number || !strcmp(request->assignments, "good"))
    return;
  int file = open(getenv("FAKE_TRIES"), O_WRONLY | O_APPEND | O_CREAT, 0644);
  off_t tries = lseek(file, 0, SEEK_END);
  if (tries < atol(getenv("FAKE_TIMES")) && write(file, ".", 1) == 1)
    raise(atoi(number));
  close(file);
}

static void misbehave(const ws_build_request *request, unsigned long hash) {
  const char *delay = getenv("FAKE_DELAY_US"), *hang = getenv("FAKE_HANG"),
             *deaths = getenv("FAKE_DEATHS"), *log = getenv("FAKE_LOG");
  if (log) {
    int file = open(log, O_WRONLY | O_APPEND | O_CREAT, 0644);
    dprintf(file, "%s|%s\n", request->assignments, request->variants);
    close(file);
  }
  raise_signal(request);
  if (delay)
    pause_us(random() % atol(delay));
  while (hang && strstr(request->assignments, hang))
    if (getenv("FAKE_DEAF"))
      sleep(100);
    else
      pause_us(100000000);
  if (deaths && hash % strtoul(deaths, NULL, 10) == 0)
    _exit(9);
}

/* The code ignores `order` where split is 1, and `ghost` always. */
static void mask(char *text, const char *name) {
  char *at = strstr(text, name);
  for (at = at ? at + strlen(name) : NULL; at && *at && *at != ';'; at++)
    *at = 'x';
}

static ws_hash hash_of_code(const ws_build_request *request) {
  char *text = strdup(request->assignments);
  mask(text, "ghost=");
  mask(text, "grid=");
  if (strstr(text, "split=1"))
    mask(text, "order=");
  ws_hasher *hasher = ws_hasher_create();
  ws_hasher_update_text(hasher, text);
  ws_hasher_update_text(hasher, request->variants);
  free(text);
  return ws_hasher_finish(hasher);
}

static void build(const ws_build_request *request) {
  ws_hash own =
      ws_hash_bytes(request->assignments, strlen(request->assignments));
  ws_hash code = hash_of_code(request);
  char digits[9] = {0};
  memcpy(digits, own.hex, 8);
  unsigned long hash = strtoul(digits, NULL, 16);
  misbehave(request, hash);
  const char *more = getenv("FAKE_WRONG");
  bool wrong = hash % 17 == 3 || (more && strstr(request->assignments, more));
  const ws_kernel_facts kernel = {.name = "kernel"};
  ws_build_result result = {.verdict = wrong ? WS_VERDICT_WRONG : WS_VERDICT_OK,
                            .stage = wrong ? "sanitize" : "",
                            .reason = wrong ? "made up" : "",
                            .ir_hash = wrong ? "" : code.hex,
                            .code_hash = wrong ? "" : code.hex,
                            .kernels = &kernel,
                            .kernel_count = wrong ? 0 : 1,
                            .compiler = "fake"};
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToObject(json, "result", ws_build_result_to_json(&result));
  send_json(json, code.hex, wrong ? 0 : 32);
}

static void serve(const char *text, const char *blob) {
  ws_arena *arena = ws_arena_create();
  ws_diag diag = {""};
  cJSON *json = cJSON_Parse(text);
  const cJSON *op = cJSON_GetObjectItem(json, "op");
  ws_build_request request;
  if (!strcmp(op->valuestring, "describe"))
    describe(cJSON_GetObjectItem(json, "file")->valuestring, blob);
  else if (ws_build_request_from_json(arena,
                                      cJSON_GetObjectItem(json, "request"),
                                      &request, &diag) == WS_OK)
    build(&request);
  else
    send_error(diag.text);
  cJSON_Delete(json);
  ws_arena_destroy(arena);
}

int main(void) {
  srandom((unsigned)getpid() ^ (unsigned)time(NULL));
  cJSON *ready = cJSON_CreateObject();
  cJSON_AddBoolToObject(ready, "ready", true);
  send_json(ready, NULL, 0);
  for (;;) {
    ws_arena *arena = ws_arena_create();
    char *json;
    void *blob;
    size_t size;
    ws_diag diag;
    if (ws_message_receive(SOCKET, -1, arena, &json, &blob, &size, NULL,
                           &diag) != WS_OK)
      _exit(0);
    serve(json, ws_arena_strndup(arena, blob, size));
    ws_arena_destroy(arena);
  }
}
