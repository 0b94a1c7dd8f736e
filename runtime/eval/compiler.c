/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The client's side of the compile server: starts it, sends one job at a time,
 * turns its death or silence into a verdict of the job it had in hand, and
 * starts it again for the next. Protocol: pass/server.h.
 */
#include "wavesmith/build.h"

#include <cjson/cJSON.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  START_MS = 60000, /* first start after a boot reads 100 MB of libraries */
  MARGIN_MS = 5000, /* beyond a job's own limit, which the server keeps */
  FAREWELL_MS = 300 /* for the server to remove its temp folder */
};

struct ws_compiler {
  char *path;
  ws_process process; /* pid 0: not running */
  int wall_ms;        /* of the job in hand */
  double farewell_ms; /* when it is killed, having been dismissed; 0: not yet */
};

static const char what[] = "compile server";

/* ---- the process ------------------------------------------------------------
 */

static ws_status find_server(ws_arena *arena, const char **out_path,
                             ws_diag *diag) {
  char *folder;
  const char *named = getenv("WAVESMITH_COMPILER");
  if (named && named[0]) {
    *out_path = named;
    return WS_OK;
  }
  WS_TRY(ws_program_directory(arena, &folder, diag));
  *out_path = ws_arena_printf(
      arena, "%s/../libexec/wavesmith/wavesmith-compiler", folder);
  return WS_OK;
}

/* Waits until the server has ended, without reaping it; false: it has not. */
static bool wait_for_end(const ws_compiler *compiler, int patience_ms,
                         int *out_code) {
  double end = ws_clock_ms() + patience_ms;
  do {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)compiler->process.pid, &info,
               WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid) {
      *out_code = info.si_code == CLD_EXITED ? info.si_status : -1;
      return true;
    }
    usleep(1000);
  } while (ws_clock_ms() < end);
  return false;
}

/* The end of its stream tells it to clean up and end. */
void ws_compiler_dismiss(ws_compiler *compiler) {
  if (compiler->process.pid <= 0 || compiler->farewell_ms > 0)
    return;
  shutdown(compiler->process.socket, SHUT_RDWR);
  compiler->farewell_ms = ws_clock_ms() + FAREWELL_MS;
}

/* A server that hangs is killed and leaves its temp folder behind. */
static void stop_server(ws_compiler *compiler) {
  int code;
  if (compiler->process.pid <= 0)
    return;
  ws_compiler_dismiss(compiler);
  wait_for_end(compiler, (int)(compiler->farewell_ms - ws_clock_ms()), &code);
  ws_process_stop(&compiler->process);
  compiler->farewell_ms = 0;
}

static ws_status explain_start(ws_compiler *compiler, const ws_diag *cause,
                               ws_diag *diag) {
  int code;
  bool ended = wait_for_end(compiler, 200, &code);
  ws_process_stop(&compiler->process);
  if (ended && code == 127)
    return ws_fail(diag, WS_ENVIRONMENT, compiler->path, 0,
                   "cannot start: a library of LLVM or comgr is missing; "
                   "`wavesmith doctor` says which and how to get it");
  if (ended && code >= 0)
    return ws_fail(diag, WS_ENVIRONMENT, compiler->path, 0,
                   "the compile server ended at once with exit code %d; run "
                   "`wavesmith doctor`",
                   code);
  return ws_fail(diag, WS_ENVIRONMENT, compiler->path, 0,
                 "the compile server does not start (%s); run `wavesmith "
                 "doctor`",
                 cause->text);
}

/* Starts it and waits until it is warm. A child of the server touches some
 * 3000 fresh pages of heap; with huge pages for malloc a candidate takes 152
 * instead of 159 ms, the demo's run 12.3 instead of 11.5 candidates/s
 * (bench_candidate, 2 cores at 2.5 GHz). glibc reads this at exec only. */
static ws_status start_server(ws_compiler *compiler, ws_diag *diag) {
  const char *argv[] = {compiler->path, NULL};
  ws_diag cause;
  setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", false);
  if (ws_process_start(argv, &compiler->process, &cause) != WS_OK)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "%s; run `wavesmith doctor`, or name the compile server in "
                   "WAVESMITH_COMPILER",
                   cause.text);
  ws_arena *arena = ws_arena_create();
  char *json;
  void *blob;
  size_t size;
  ws_status status =
      ws_message_receive(compiler->process.socket, START_MS, arena, &json,
                         &blob, &size, NULL, &cause);
  ws_arena_destroy(arena);
  return status == WS_OK ? WS_OK : explain_start(compiler, &cause, diag);
}

/* Whether the process is there and its stream open, with nothing unread. */
static bool is_alive(const ws_compiler *compiler) {
  struct pollfd item = {.fd = compiler->process.socket,
                        .events = POLLIN | POLLRDHUP};
  return compiler->process.pid > 0 && poll(&item, 1, 0) == 0;
}

static ws_status revive(ws_compiler *compiler, ws_diag *diag) {
  if (is_alive(compiler))
    return WS_OK;
  stop_server(compiler);
  return start_server(compiler, diag);
}

ws_status ws_compiler_start(ws_compiler **out_compiler, ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  ws_compiler *compiler = calloc(1, sizeof *compiler);
  WS_ASSERT(compiler && "out of memory");
  const char *path;
  *out_compiler = NULL;
  ws_status status = find_server(arena, &path, diag);
  if (status == WS_OK) {
    compiler->path = strdup(path);
    WS_ASSERT(compiler->path && "out of memory");
    status = start_server(compiler, diag);
  }
  ws_arena_destroy(arena);
  if (status == WS_OK)
    *out_compiler = compiler;
  else
    ws_compiler_stop(compiler);
  return status;
}

void ws_compiler_stop(ws_compiler *compiler) {
  if (!compiler)
    return;
  stop_server(compiler);
  free(compiler->path);
  free(compiler);
}

/* ---- questions and answers
 * ---------------------------------------------------- */

static ws_status send_json(ws_compiler *compiler, cJSON *owned_json,
                           const void *blob, size_t size, ws_diag *diag) {
  char *text = cJSON_PrintUnformatted(owned_json);
  cJSON_Delete(owned_json);
  WS_ASSERT(text && "out of memory");
  ws_status status =
      ws_message_send(compiler->process.socket, text, blob, size, diag);
  cJSON_free(text);
  return status;
}

typedef struct answer {
  cJSON *json;
  void *blob;
  size_t blob_size;
} answer;

static ws_status receive_json(ws_compiler *compiler, int wait_ms,
                              ws_arena *arena, answer *out, ws_diag *diag) {
  char *text;
  *out = (answer){0};
  WS_TRY(ws_message_receive(compiler->process.socket, wait_ms, arena, &text,
                            &out->blob, &out->blob_size, NULL, diag));
  out->json = ws_json_parse(text, strlen(text), what, diag);
  return out->json ? WS_OK : WS_ENVIRONMENT;
}

/* An answer {"error":..., "status":...} as a status; WS_OK when it is none. */
static ws_status read_error(const cJSON *json, ws_diag *diag) {
  const cJSON *error = cJSON_GetObjectItemCaseSensitive(json, "error");
  const cJSON *status = cJSON_GetObjectItemCaseSensitive(json, "status");
  if (!cJSON_IsString(error))
    return WS_OK;
  bool input = cJSON_IsString(status) && !strcmp(status->valuestring, "input");
  return ws_fail(diag, input ? WS_INPUT : WS_ENVIRONMENT, NULL, 0, "%s",
                 error->valuestring);
}

/* Sends a short question and waits for the answer. The caller deletes
 * out->json. */
static ws_status ask(ws_compiler *compiler, ws_arena *arena, cJSON *owned_json,
                     const void *blob, size_t size, answer *out,
                     ws_diag *diag) {
  ws_status status = revive(compiler, diag);
  if (status != WS_OK) {
    cJSON_Delete(owned_json);
    return status;
  }
  status = send_json(compiler, owned_json, blob, size, diag);
  if (status == WS_OK)
    status = receive_json(compiler, ws_limits_default.wall_ms + MARGIN_MS,
                          arena, out, diag);
  if (status != WS_OK)
    stop_server(compiler);
  else
    status = read_error(out->json, diag);
  if (status != WS_OK) {
    cJSON_Delete(out->json);
    out->json = NULL;
  }
  return status;
}

ws_status ws_compiler_describe(ws_compiler *compiler, ws_arena *arena,
                               const char *file, const char *text, size_t size,
                               const ws_template **out_template,
                               ws_diag *diag) {
  answer reply = {0};
  ws_records records;
  const cJSON *list;
  *out_template = NULL;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "op", "describe");
  cJSON_AddStringToObject(json, "file", file);
  WS_TRY(ask(compiler, arena, json, text, size, &reply, diag));
  ws_status status =
      ws_json_get_array(reply.json, "records", what, &list, diag);
  if (status == WS_OK)
    status = ws_records_from_json(arena, list, &records, diag);
  cJSON_Delete(reply.json);
  if (status != WS_OK)
    return status;
  return ws_template_from_records(
      arena, &records, file, ws_hash_bytes(text, size), out_template, diag);
}

ws_status ws_compiler_versions(ws_compiler *compiler, ws_arena *arena,
                               char **out_json, ws_diag *diag) {
  answer reply = {0};
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "op", "versions");
  *out_json = NULL;
  WS_TRY(ask(compiler, arena, json, NULL, 0, &reply, diag));
  char *text = cJSON_PrintUnformatted(
      cJSON_GetObjectItemCaseSensitive(reply.json, "versions"));
  *out_json = ws_arena_strdup(arena, text ? text : "{}");
  cJSON_free(text);
  cJSON_Delete(reply.json);
  return WS_OK;
}

/* ---- builds
 * --------------------------------------------------------------------- */

ws_status ws_compiler_send(ws_compiler *compiler,
                           const ws_build_request *request, ws_diag *diag) {
  WS_TRY(revive(compiler, diag));
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "op", "build");
  cJSON_AddItemToObject(json, "request", ws_build_request_to_json(request));
  compiler->wall_ms = request->limits.wall_ms;
  return send_json(compiler, json, request->template_text,
                   request->template_size, diag);
}

int ws_compiler_descriptor(const ws_compiler *compiler) {
  return compiler->process.socket;
}

/* The server died or fell silent with the job in hand: that is the job's
 * verdict, and the next job gets a new server. */
static void set_lost(ws_compiler *compiler, ws_arena *arena, const char *cause,
                     ws_build_result *out) {
  int code;
  bool died = wait_for_end(compiler, 200, &code);
  ws_process_stop(&compiler->process);
  *out = (ws_build_result){
      .verdict = died ? WS_VERDICT_CRASH : WS_VERDICT_TIMEOUT,
      .stage = "",
      .reason = ws_arena_printf(arena, "the compile server %s: %s",
                                died ? "died" : "does not answer", cause),
      .ir_hash = "",
      .code_hash = "",
      .compiler = ""};
}

ws_status ws_compiler_receive(ws_compiler *compiler, ws_arena *arena,
                              ws_build_result *out_result, ws_diag *diag) {
  answer reply;
  ws_diag cause;
  *out_result = (ws_build_result){0};
  if (receive_json(compiler, compiler->wall_ms + MARGIN_MS, arena, &reply,
                   &cause) != WS_OK) {
    set_lost(compiler, arena, cause.text, out_result);
    return WS_OK;
  }
  ws_status status = read_error(reply.json, diag);
  if (status == WS_OK)
    status = ws_build_result_from_json(
        arena, cJSON_GetObjectItemCaseSensitive(reply.json, "result"),
        out_result, diag);
  cJSON_Delete(reply.json);
  if (status != WS_OK)
    return status;
  if (reply.blob_size > 0) {
    out_result->code_object = reply.blob;
    out_result->code_object_size = reply.blob_size;
  }
  return WS_OK;
}

ws_status ws_compiler_build(ws_compiler *compiler, ws_arena *arena,
                            const ws_build_request *request,
                            ws_build_result *out_result, ws_diag *diag) {
  WS_TRY(ws_compiler_send(compiler, request, diag));
  return ws_compiler_receive(compiler, arena, out_result, diag);
}
