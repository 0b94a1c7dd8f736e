/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The folder of a batch: its manifest and its code objects.
 */
#include "batch_internal.h"

#include <cjson/cJSON.h>
#include <string.h>

bool ws__batch_is_arch(const char *arch, const char *target) {
  size_t size = strlen(target);
  return !strncmp(arch, target, size) && (!arch[size] || arch[size] == ':');
}

static ws_status check_format(const void *value, const char *what,
                              ws_diag *diag) {
  const ws__batch_manifest *manifest = value;
  return manifest->format == WS__BATCH_FORMAT
             ? WS_OK
             : ws_fail(diag, WS_INPUT, what, 0,
                       "a batch of format %d; this program knows %d",
                       manifest->format, WS__BATCH_FORMAT);
}

/* Checked before the rest: another format has other members. */
static const ws_json_field format_fields[] = {
    {WS_JSON_INT(ws__batch_manifest, format, INT32_MIN, INT32_MAX)}};
static const ws_json_struct format_json = {
    WS_JSON_FIELDS(ws__batch_manifest, format_fields), .check = check_format};

static const ws_json_field manifest_fields[] = {
    {.type = WS_JSON_IS_OBJECT, .of = &format_json},
    {WS_JSON_TEXT(ws__batch_manifest, target)},
    {WS_JSON_TEXT(ws__batch_manifest, device)}};
static const ws_json_struct manifest_json =
    WS_JSON_STRUCT(ws__batch_manifest, manifest_fields);

ws_status ws__batch_read_manifest(ws_arena *arena, const char *folder,
                                  ws__batch_manifest *out, ws_diag *diag) {
  char *text;
  size_t size;
  const char *path = ws_arena_printf(arena, "%s/manifest.json", folder);
  *out = (ws__batch_manifest){0};
  if (!ws_file_exists(path))
    return ws_fail(diag, WS_INPUT, folder, 0,
                   "no batch: there is no manifest.json");
  WS_TRY(ws_file_read(arena, path, &text, &size, diag));
  cJSON *json = ws_json_parse(text, size, path, diag);
  if (!json)
    return WS_INPUT;
  ws_status status = ws_json_read(&manifest_json, arena, json, path, out, diag);
  cJSON_Delete(json);
  return status;
}

ws_status ws__batch_write_manifest(const char *folder,
                                   const ws__batch_manifest *manifest,
                                   ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  cJSON *json = ws_json_write(&manifest_json, manifest);
  char *text = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  WS_ASSERT(text && "out of memory");
  const char *line = ws_arena_printf(arena, "%s\n", text);
  cJSON_free(text);
  ws_status status =
      ws_file_write_atomic(ws_arena_printf(arena, "%s/manifest.json", folder),
                           line, strlen(line), diag);
  ws_arena_destroy(arena);
  return status;
}

static ws_status read_code_file(ws_arena *arena, const char *folder,
                                const ws_batch_job *job, const char *name,
                                size_t wanted_size, const char *check,
                                const void **out_data, ws_diag *diag) {
  char *data;
  size_t size;
  const char *path = ws_arena_printf(arena, "%s/code/%s", folder, name);
  WS_TRY(ws_file_read(arena, path, &data, &size, diag));
  *out_data = data;
  if (size == wanted_size && !strcmp(ws__check_of(data, size).hex, check))
    return WS_OK;
  return ws_fail(diag, WS_INPUT, path, 0,
                 "not the file that job %s names (%zu of %zu bytes); copy "
                 "the folder again",
                 job->id, size, wanted_size);
}

ws_status ws__batch_read_code(ws_arena *arena, const char *folder,
                              ws_batch_job *job, ws_diag *diag) {
  WS_TRY(read_code_file(arena, folder, job, job->code_file,
                        job->code_object_size, job->code_check,
                        &job->code_object, diag));
  if (job->rival_size)
    WS_TRY(read_code_file(arena, folder, job, job->rival_file, job->rival_size,
                          job->rival_check, &job->rival_code, diag));
  for (int i = 0; i < job->step_count; i++) {
    ws_measure_request *step = (ws_measure_request *)&job->steps[i];
    step->code_object = job->code_object;
    step->code_object_size = job->code_object_size;
    if (step->rival)
      ((ws_contestant *)step->rival)->code_object = job->rival_code;
  }
  return WS_OK;
}
