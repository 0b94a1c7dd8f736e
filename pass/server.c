/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The compile server's loop. LLVM and comgr end the process on some inputs, so
 * everything that touches a request's text runs in a forked child (job.c); a
 * child that dies is a verdict in the answer. Only a template that a child has
 * read is read here as well, when it comes again (load.h). Single-threaded
 * throughout: only then is a fork of a warm process sound.
 */
#include "server.h"
#include "comgr.h"
#include "hip.h"
#include "job.h"
#include "job_place.h"
#include "load.h"
#include "lower.h"
#include "mlir/front.h"
#include "sanitize.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct asked_for {
  const cJSON *json;
  const char *text; /* the blob, NUL-terminated */
  size_t size;
} asked_for;

typedef struct server {
  int socket;
  const char *temp_folder;
  unsigned long jobs;
  char *answered; /* the latest text that a job has read and answered */
  size_t answered_size;
} server;

/* ---- crashes in what users wrote ---- */

static struct {
  int socket;
  const char *folder; /* NULL: not ours to remove */
  pid_t owner;        /* of the folder; jobs inherit the rest */
} at_crash;

void ws_server_remove_folder(void) {
  if (at_crash.folder && at_crash.owner == getpid())
    ws_remove_tree(at_crash.folder);
}

/* Who is told may end us at once. */
static void tell_crash(const ws_problem *problem, const char *text) {
  ws_server_remove_folder();
  ws_problem_send_crash(at_crash.socket, problem, text);
}

void ws_server_tell_crashes(int socket, const char *temp_folder) {
  at_crash.socket = socket;
  at_crash.folder = temp_folder;
  at_crash.owner = getpid();
  ws_problem_on_crash(tell_crash);
}

/* ---- in the child
 * ------------------------------------------------------------- */

static void send_json(int socket, cJSON *owned_json, const void *blob,
                      size_t size) {
  ws_diag diag;
  char *text = cJSON_PrintUnformatted(owned_json);
  cJSON_Delete(owned_json);
  WS_ASSERT(text && "out of memory");
  if (ws_message_send(socket, text, blob, size, &diag) != WS_OK)
    ws_log(WS_LOG_DEBUG, "%s", diag.text);
  cJSON_free(text);
}

static cJSON *error_json(ws_status status, const char *text) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "error", text);
  cJSON_AddStringToObject(json, "status",
                          status == WS_INPUT ? "input" : "environment");
  return json;
}

static ws_status describe(const asked_for *asked, const char *file,
                          ws_arena *arena, ws_records *out, ws_diag *diag) {
  ws_findings findings;
  LLVMModuleRef module;
  ws_findings_init(&findings, arena);
  if (ws__load_records(LLVMContextCreate(), asked->text, asked->size, file,
                       arena, &module, out, &findings))
    return WS_OK;
  const ws_finding *first = findings.items;
  if (!findings.count)
    return ws_fail(diag, WS_INPUT, file, 0, "neither LLVM IR nor MLIR");
  const char *place = ws_finding_place(arena, first);
  return strcmp(first->id, "template") || first->line /* else in the text */
             ? ws_fail(diag, WS_INPUT, NULL, 0, "%s: %s", place, first->text)
             : ws_fail(diag, WS_INPUT, NULL, 0, "%s", first->text);
}

static void run_describe(void *context, int socket) {
  const asked_for *asked = context;
  ws_arena *arena = ws_arena_create();
  ws_records records;
  ws_diag diag;
  const char *file;
  ws_status status =
      ws_json_get_string(asked->json, "file", "describe request", &file, &diag);
  if (status == WS_OK)
    status = describe(asked, file, arena, &records, &diag);
  if (status != WS_OK) {
    send_json(socket, error_json(status, diag.text), NULL, 0);
    return;
  }
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToObject(json, "records", ws_records_to_json(&records));
  send_json(socket, json, NULL, 0);
}

/* The request's "options", or none. */
static const char *const *read_options(const cJSON *json, ws_arena *arena,
                                       int *out_count) {
  const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "options"), *item;
  const char **options = ws_arena_alloc(
      arena, (size_t)(cJSON_GetArraySize(list) + 1) * sizeof *options);
  *out_count = 0;
  cJSON_ArrayForEach(item, list) if (cJSON_IsString(item))
      options[(*out_count)++] = item->valuestring;
  return options;
}

static cJSON *findings_json(const ws_findings *findings) {
  cJSON *json = cJSON_CreateObject();
  cJSON *list = cJSON_AddArrayToObject(json, "findings");
  for (int i = 0; i < findings->count; i++) {
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "file", findings->items[i].file);
    cJSON_AddNumberToObject(item, "line", findings->items[i].line);
    cJSON_AddStringToObject(item, "text", findings->items[i].text);
    cJSON_AddItemToArray(list, item);
  }
  return json;
}

static void run_import(void *context, int socket) {
  const asked_for *asked = context;
  ws_arena *arena = ws_arena_create();
  ws_hip_request request = {.text = asked->text};
  const struct {
    const char *key, **out;
  } texts[] = {{"file", &request.file},
               {"target", &request.target},
               {"own", &request.own},
               {"name", &request.name},
               {"language", &request.language},
               {"problem", &request.problem}};
  ws_status status = WS_OK;
  ws_diag diag;
  for (size_t i = 0; i < sizeof texts / sizeof *texts && status == WS_OK; i++)
    status = ws_json_get_string(asked->json, texts[i].key, "import request",
                                texts[i].out, &diag);
  if (status != WS_OK) {
    send_json(socket, error_json(status, diag.text), NULL, 0);
    return;
  }
  request.options = read_options(asked->json, arena, &request.option_count);
  ws_findings findings;
  ws_findings_init(&findings, arena);
  const char *text = ws_hip_import(&request, &findings);
  cJSON *json = findings_json(&findings);
  cJSON_AddStringToObject(json, "text", text ? text : "");
  send_json(socket, json, NULL, 0);
}

static void send_result(int socket, const ws_build_result *result) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToObject(json, "result", ws_build_result_to_json(result));
  send_json(socket, json, result->code_object, result->code_object_size);
}

static bool speaks_of_shortage(const ws_build_result *result) {
  bool found = ws_sandbox_speaks_of_shortage(result->reason);
  for (int i = 0; i < result->finding_count; i++)
    found = found || ws_sandbox_speaks_of_shortage(result->findings[i].text);
  return found;
}

/* A full disk makes linkers and assemblers refuse good code. */
static ws_blame blame_of(const ws_build_result *result) {
  bool lowering =
      !strcmp(result->stage, "lower") || !strcmp(result->stage, "facts");
  if (result->verdict == WS_VERDICT_OK)
    return WS_BLAME_CANDIDATE;
  return ws_sandbox_blame_of_shortage(lowering ? getenv("TMPDIR") : NULL,
                                      speaks_of_shortage(result));
}

static void run_build(void *context, int socket) {
  ws_build_result result;
  ws_server_tell_crashes(socket, NULL);
  ws__ptxas_enter_job();
  ws_pass_build(context, ws_arena_create(), &result);
  result.blame = blame_of(&result);
  send_result(socket, &result);
}

/* ---- in the parent
 * -------------------------------------------------------------- */

static void run_job(server *s, ws_job_function function, void *context,
                    const ws_limits *limits, ws_arena *arena,
                    ws_job_outcome *out) {
  const char *folder =
      ws_arena_printf(arena, "%s/job-%lu", s->temp_folder, s->jobs++);
  ws_job_place *place = ws__job_place();
  if (place)
    place->line = 0;
  ws_job_run(function, context, limits, folder, s->socket, arena, out);
}

/* Where a job was that has died; false: nowhere that has a line. */
static bool find_place(const ws_job_outcome *outcome, ws_arena *arena,
                       ws_finding *out) {
  const ws_job_place *place = ws__job_place();
  if (!place || place->line <= 0)
    return false;
  const char *why =
      outcome->end == WS_JOB_TIMEOUT
          ? ws_arena_printf(arena, "it takes more than %d s of CPU time",
                            WS_JOB_PLACE_SECONDS)
          : outcome->reason;
  const bool is_step = !strncmp(place->what, "transform.", 10);
  *out = (ws_finding){
      .id = is_step ? "mlir-schedule" : "mlir",
      .region = "",
      .file = ws_arena_printf(arena, "%.*s", (int)sizeof place->file - 1,
                              place->file),
      .line = place->line,
      .column = place->column,
      .text = ws_arena_printf(arena, "the compiler did not get past %.*s: %s",
                              (int)sizeof place->what - 1, place->what, why)};
  return true;
}

/* Passes the child's answer on as it is. */
static void forward(const server *s, const ws_job_outcome *outcome) {
  ws_diag diag;
  if (ws_message_send(s->socket, outcome->json, outcome->blob,
                      outcome->blob_size, &diag) != WS_OK)
    ws_log(WS_LOG_DEBUG, "%s", diag.text);
}

static void serve_versions(const server *s) {
  unsigned major, minor, patch;
  size_t comgr_major, comgr_minor;
  char text[64];
  cJSON *json = cJSON_CreateObject();
  cJSON *versions = cJSON_AddObjectToObject(json, "versions");
  LLVMGetVersion(&major, &minor, &patch);
  ws_comgr_version(&comgr_major, &comgr_minor);
  snprintf(text, sizeof text, "%u.%u.%u", major, minor, patch);
  cJSON_AddStringToObject(versions, "llvm", text);
  if (ws__mlir_is_there()) /* of the same release */
    cJSON_AddStringToObject(versions, "mlir", text);
  snprintf(text, sizeof text, "%zu.%zu", comgr_major, comgr_minor);
  cJSON_AddStringToObject(versions, "comgr", text);
  if (*ws__ptxas_path())
    cJSON_AddStringToObject(versions, "ptxas", ws__ptxas_version());
  send_json(s->socket, json, NULL, 0);
}

/* A question whose answer is the child's own. */
static void serve_question(server *s, asked_for *asked,
                           ws_job_function function, ws_arena *arena) {
  ws_job_outcome outcome;
  run_job(s, function, asked, &ws_limits_default, arena, &outcome);
  if (outcome.end == WS_JOB_ANSWERED)
    forward(s, &outcome);
  else if (outcome.end != WS_JOB_ABANDONED) {
    ws_finding at;
    cJSON *json = error_json(
        WS_INPUT, find_place(&outcome, arena, &at)
                      ? ws_arena_printf(arena, "%s: %s",
                                        ws_finding_place(arena, &at), at.text)
                      : ws_arena_printf(arena, "the file cannot be read: %s",
                                        outcome.reason));
    cJSON_AddStringToObject(json, "blame", ws_blame_text(outcome.blame));
    send_json(s->socket, json, NULL, 0);
  }
}

static void send_death(const server *s, const ws_job_outcome *outcome,
                       ws_arena *arena) {
  ws_finding at;
  ws_build_result result = {.verdict = outcome->end == WS_JOB_TIMEOUT
                                           ? WS_VERDICT_TIMEOUT
                                           : WS_VERDICT_CRASH,
                            .blame = outcome->blame,
                            .stage = "",
                            .reason = outcome->reason,
                            .ir_hash = "",
                            .code_hash = "",
                            .compiler = ""};
  if (find_place(outcome, arena, &at)) {
    result.stage = "parse";
    result.findings = &at;
    result.finding_count = 1;
    result.reason =
        ws_arena_printf(arena, "%s: %s", ws_finding_place(arena, &at), at.text);
  }
  send_result(s->socket, &result);
}

/* Makes inputs and reference of the sanitizer's runs here, so that children
 * share them. The layout comes from the
 * assignments, the problem is one that the text names. Large shapes are
 * left to the child, which has limits. */
static void prepare_runs(const ws_build_request *build) {
  static const double most_flops = 1 << 26; /* about 10 ms of reference */
  const char *layout = strstr(build->assignments, "layout=");
  int index = layout ? layout[strlen("layout=")] - '0' : 0;
  int problem_count;
  const ws_problem *const *problems = ws_problems(&problem_count);
  for (int p = 0; p < problem_count; p++)
    for (int r = 0; r < build->run_count; r++) {
      const ws_shape *shape = &build->runs[r].shape;
      if (index >= 0 && index < problems[p]->layout_count &&
          strstr(build->template_text, problems[p]->name) &&
          ws_problem_is_legal(problems[p], shape) &&
          ws_problem_flops(problems[p], shape) <= most_flops &&
          !build->runs[r].spots)
        ws_sanitize_prepare(problems[p], index, shape, build->runs[r].seed);
    }
}

static bool has_host_model(const char *name) {
  const ws_target *target = ws_target_find(name);
  return target && target->has_host_model;
}

static bool is_answered(const server *s, const asked_for *asked) {
  return s->answered && s->answered_size == asked->size &&
         !memcmp(s->answered, asked->text, asked->size);
}

static void note_answered(server *s, const asked_for *asked) {
  if (is_answered(s, asked))
    return;
  free(s->answered);
  s->answered = malloc(asked->size + 1);
  s->answered_size = asked->size;
  if (s->answered)
    memcpy(s->answered, asked->text, asked->size);
}

static void serve_build(server *s, const asked_for *asked, ws_arena *arena) {
  ws_build_request build;
  ws_job_outcome outcome;
  ws_diag diag;
  const cJSON *json = cJSON_GetObjectItemCaseSensitive(asked->json, "request");
  if (ws_build_request_from_json(arena, json, &build, &diag) != WS_OK) {
    send_json(s->socket, error_json(WS_INPUT, diag.text), NULL, 0);
    return;
  }
  build.template_text = asked->text;
  build.template_size = asked->size;
  ws_server_warm_up_target(build.target);
  if (build.stages & WS_STAGE_SANITIZE && has_host_model(build.target))
    prepare_runs(&build);
  /* Who asks once does not wait for us to read it for the next. */
  const bool is_template = !(build.stages & WS_STAGE_RAW);
  if (is_template && is_answered(s, asked))
    ws__load_keep(asked->text, asked->size, build.template_file);
  run_job(s, run_build, &build, &build.limits, arena, &outcome);
  if (outcome.end == WS_JOB_ANSWERED) {
    forward(s, &outcome);
    if (is_template)
      note_answered(s, asked);
  } else if (outcome.end != WS_JOB_ABANDONED) {
    send_death(s, &outcome, arena);
  }
}

static void serve(server *s, asked_for *asked, ws_arena *arena) {
  ws_diag diag;
  const char *op;
  if (ws_json_get_string(asked->json, "op", "request", &op, &diag) != WS_OK)
    send_json(s->socket, error_json(WS_INPUT, diag.text), NULL, 0);
  else if (!strcmp(op, "versions"))
    serve_versions(s);
  else if (!strcmp(op, "describe"))
    serve_question(s, asked, run_describe, arena);
  else if (!strcmp(op, "import"))
    serve_question(s, asked, run_import, arena);
  else if (!strcmp(op, "build"))
    serve_build(s, asked, arena);
  else
    send_json(s->socket, error_json(WS_INPUT, "request: unknown op"), NULL, 0);
}

/* One request; false when the stream has ended or is no stream of frames. */
static bool serve_next(server *s, ws_arena *arena) {
  char *json;
  void *blob;
  size_t size;
  bool at_end;
  ws_diag diag;
  if (ws_message_receive(s->socket, -1, arena, &json, &blob, &size, &at_end,
                         &diag) != WS_OK) {
    if (!at_end)
      ws_log(WS_LOG_ERROR, "compile server: %s", diag.text);
    return false;
  }
  cJSON *parsed = ws_json_parse(json, strlen(json), "request", &diag);
  if (!parsed) {
    send_json(s->socket, error_json(WS_INPUT, diag.text), NULL, 0);
    return true;
  }
  asked_for asked = {parsed, ws_arena_strndup(arena, blob, size), size};
  serve(s, &asked, arena);
  cJSON_Delete(parsed);
  return true;
}

void ws_server_run(int socket, const char *temp_folder) {
  server s = {.socket = socket, .temp_folder = temp_folder};
  cJSON *ready = cJSON_CreateObject();
  cJSON_AddBoolToObject(ready, "ready", true);
  send_json(socket, ready, NULL, 0);
  for (bool open = true; open;) {
    ws_arena *arena = ws_arena_create();
    open = serve_next(&s, arena);
    ws_arena_destroy(arena);
  }
}
