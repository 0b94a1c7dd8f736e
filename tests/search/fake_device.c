/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A device server for tests: speaks the protocol of wavesmith/measure.h over
 * descriptor 3 and runs nothing. A code object is the fake compiler's: 32
 * digits. One that begins with 0 to 7 is wrong; the time on m,n,k is
 *   m * n * k / 1e8 * (1 + first digit / 16)
 * The environment says how it misbehaves:
 *   FAKE_DEVICE_DELAY_US  each request takes this long
 *   FAKE_DEVICE_WRONG_AT  m,n,k: all that is run whole there is wrong
 *   FAKE_DEVICE_TIMES_OUT code that begins with this digit: its times do not
 * end FAKE_DEVICE_WHOLE_US  each whole run takes this long FAKE_DEVICE_DIES
 * set: every request kills it FAKE_DEVICE_ARCH      of the card, in place of
 * gfx942 FAKE_DEVICE_PROVENANCE  likewise FAKE_DEVICE_STEEP     set: that
 * factor to the power of four FAKE_DEVICE_COUNT     so many cards: hip:0 and up
 *   FAKE_DEVICE_CARD      set: it is a card; a folder: where the server locks
 *                         it, as the real one does
 *   FAKE_DEVICE_NOISE     code beside itself takes that many times its time
 *   FAKE_DEVICE_LOG       a line per request is appended to this file
 */
#include "../gemm_shape.h"
#include "wavesmith/measure.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { SOCKET = 3 };
static const char *own_kind;

static void send_json(cJSON *owned_json) {
  ws_diag diag;
  char *text = cJSON_PrintUnformatted(owned_json);
  if (ws_message_send(SOCKET, text, NULL, 0, &diag) != WS_OK)
    _exit(1);
  cJSON_free(text);
  cJSON_Delete(owned_json);
}

static void send_ready(const char *kind) {
  cJSON *json = cJSON_CreateObject();
  const char *arch = getenv("FAKE_DEVICE_ARCH");
  const char *provenance = getenv("FAKE_DEVICE_PROVENANCE");
  const ws_device_info info = {.kind = kind,
                               .name = "fake",
                               .arch = arch ? arch : "gfx942",
                               .library = "none",
                               .provenance =
                                   provenance ? provenance : "sim:fake:MI300X",
                               .driver = "",
                               .lock = "",
                               .cu_count = 304,
                               .memory_bytes = 1,
                               .cache_bytes = 1,
                               .simulated = !getenv("FAKE_DEVICE_CARD")};
  cJSON_AddItemToObject(json, "info", ws_device_info_to_json(&info));
  send_json(json);
}

static void note(const char *op, const char *code,
                 const ws_workload *workload) {
  const ws_shape *shape = &workload->shape;
  const char *log = getenv("FAKE_DEVICE_LOG");
  if (!log)
    return;
  int file = open(log, O_WRONLY | O_APPEND | O_CREAT, 0644);
  dprintf(file, "%s %s %lld,%lld,%lld seed %llu %s \n", op, code,
          (long long)shape->size[DIM_M], (long long)shape->size[DIM_N],
          (long long)shape->size[DIM_K], (unsigned long long)workload->seed,
          own_kind);
  close(file);
}

static double time_of(const ws_shape *shape, const char *code) {
  char digit[2] = {code[0], 0};
  double factor = 1 + (double)strtol(digit, NULL, 16) / 16;
  if (getenv("FAKE_DEVICE_STEEP"))
    factor *= factor * factor * factor;
  return (double)shape->size[DIM_M] * (double)shape->size[DIM_N] *
         (double)shape->size[DIM_K] / 1e8 * factor;
}

/* The rival's code stands behind the candidate's. */
static void time_rival(const cJSON *json, const char *code,
                       const ws_shape *shape, ws_measured *measured) {
  const cJSON *rival = cJSON_GetObjectItem(json, "rival");
  const char *noise = getenv("FAKE_DEVICE_NOISE");
  if (!rival)
    return;
  const char *other =
      code + strlen(code) - cJSON_GetObjectItem(rival, "size")->valueint;
  measured->rival_us = time_of(shape, other);
  measured->ratio = measured->us / measured->rival_us;
  if (noise && !strncmp(code, other, strlen(other)))
    measured->ratio = strtod(noise, NULL);
  measured->low_ratio = measured->high_ratio = measured->ratio;
  measured->rival_low_us = measured->rival_high_us = measured->rival_us;
}

/* A shape of the task, run for its result. */
static bool fails_whole(const ws_workload *workload) {
  const char *at = getenv("FAKE_DEVICE_WRONG_AT");
  const char *wait = getenv("FAKE_DEVICE_WHOLE_US");
  char shape[100];
  if (!workload->sampled)
    return false;
  if (wait)
    usleep((unsigned)strtoul(wait, NULL, 10));
  snprintf(shape, sizeof shape, "%lld,%lld,%lld",
           (long long)workload->shape.size[DIM_M],
           (long long)workload->shape.size[DIM_N],
           (long long)workload->shape.size[DIM_K]);
  return at && !strcmp(at, shape);
}

static void measure(ws_arena *arena, const cJSON *json, const char *code) {
  ws_diag diag;
  ws_workload workload;
  ws_measured measured = {.reason = "",
                          .provenance = "sim:fake:MI300X",
                          .bound = "mfma",
                          .report = ""};
  const char *op = cJSON_GetObjectItem(json, "op")->valuestring;
  const char *out = getenv("FAKE_DEVICE_TIMES_OUT");
  const cJSON *first = cJSON_GetObjectItem(json, "workloads")->child;
  if (ws_workload_from_json(arena, first, &workload, &diag) != WS_OK)
    _exit(1);
  const ws_shape *shape = &workload.shape;
  note(op, code, &workload);
  if (!strcmp(op, "verify") && (code[0] < '8' || fails_whole(&workload))) {
    measured.verdict = WS_VERDICT_WRONG;
    measured.reason = "made up";
  } else if (!strcmp(op, "time") && out && code[0] == *out) {
    measured.verdict = WS_VERDICT_TIMEOUT;
    measured.reason = "did not end in time";
  } else if (!strcmp(op, "time")) {
    measured.us = time_of(shape, code);
    time_rival(json, code, shape, &measured);
  }
  cJSON *answer = cJSON_CreateObject();
  cJSON_AddItemToObject(answer, "measured", ws_measured_to_json(&measured));
  cJSON_AddFalseToObject(answer, "last"); /* the server goes on */
  send_json(answer);
}

_Noreturn static void refuse(const char *why) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "error", why);
  cJSON_AddStringToObject(json, "status", "environment");
  send_json(json);
  _exit(1);
}

/* "hip:2" of two cards. */
static void check_number(const char *kind) {
  const char *count = getenv("FAKE_DEVICE_COUNT"), *colon = strchr(kind, ':');
  if (count && colon && strtol(colon + 1, NULL, 10) >= strtol(count, NULL, 10))
    refuse("no such card");
}

/* The file stays open: with it the lock. */
static void lock_card(const char *kind) {
  const char *folder = getenv("FAKE_DEVICE_CARD"), *colon = strchr(kind, ':');
  char path[4096];
  if (!folder || folder[0] != '/')
    return;
  snprintf(path, sizeof path, "%s/card-%s", folder, colon ? colon + 1 : "0");
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0 || flock(file, LOCK_EX | LOCK_NB) != 0)
    refuse("another server has the card");
}

int main(int argc, char **argv) {
  const char *delay = getenv("FAKE_DEVICE_DELAY_US");
  if (argc < 3 || argc > 4)
    return 2;
  own_kind = argv[1];
  check_number(own_kind);
  lock_card(own_kind);
  send_ready(argv[1]);
  for (;;) {
    ws_arena *arena = ws_arena_create();
    char *text;
    void *blob;
    size_t size;
    ws_diag diag;
    if (ws_message_receive(SOCKET, -1, arena, &text, &blob, &size, NULL,
                           &diag) != WS_OK ||
        getenv("FAKE_DEVICE_DIES"))
      _exit(0);
    if (delay)
      usleep((unsigned)strtoul(delay, NULL, 10));
    cJSON *json = cJSON_Parse(text);
    measure(arena, json, ws_arena_strndup(arena, blob, size));
    cJSON_Delete(json);
    ws_arena_destroy(arena);
  }
}
