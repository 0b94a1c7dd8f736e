/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The end of a batch that asks: jobs are found again by their id, added when
 * they are new, and joined with the answers. Of each line only the id and the
 * place are kept; what it says is read when somebody wants it.
 */
#include "batch_internal.h"
#include "wavesmith/target.h"

#include <cjson/cJSON.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct asked_job {
  const char *id;
  int64_t job_offset, answer_offset;
  size_t job_size, answer_size; /* answer 0: none yet */
  int job_line, answer_line;
} asked_job;

struct ws_batch {
  ws_arena *arena;
  const char *folder, *jobs_path, *results_path;
  ws__batch_manifest manifest;
  int jobs; /* descriptor; -1: only for reading */
  asked_job **entries;
  int count, capacity, answered;
  void *by_id; /* tree of entries (tsearch) */
};

/* ---- entries ---- */

static int compare_ids(const void *a, const void *b) {
  return strcmp(((const asked_job *)a)->id, ((const asked_job *)b)->id);
}

static asked_job *find_entry(const ws_batch *batch, const char *id) {
  const asked_job key = {.id = id};
  asked_job **found = tfind(&key, &batch->by_id, compare_ids);
  return found ? *found : NULL;
}

static asked_job *add_entry(ws_batch *batch, const char *id) {
  if (batch->count == batch->capacity) {
    batch->capacity = batch->capacity ? 2 * batch->capacity : 256;
    batch->entries = realloc(batch->entries,
                             sizeof *batch->entries * (size_t)batch->capacity);
    WS_ASSERT(batch->entries && "out of memory");
  }
  asked_job *added = ws_arena_alloc(batch->arena, sizeof *added);
  added->id = ws_arena_strdup(batch->arena, id);
  WS_ASSERT(tsearch(added, &batch->by_id, compare_ids) && "out of memory");
  batch->entries[batch->count++] = added;
  return added;
}

/* ---- opening ---- */

static ws_status read_id(const ws__line *line, cJSON **out_json,
                         const char **out_id, ws_diag *diag) {
  ws_diag cause;
  *out_json = ws_json_parse(line->text, line->size, NULL, &cause);
  if (*out_json &&
      ws_json_get_string(*out_json, "id", "line", out_id, &cause) == WS_OK)
    return WS_OK;
  cJSON_Delete(*out_json);
  return ws_fail(diag, WS_INPUT, line->path, line->number,
                 "a broken line (%s); copy the folder again", cause.text);
}

static ws_status note_job(void *context, const ws__line *line, ws_diag *diag) {
  ws_batch *batch = context;
  const char *id;
  cJSON *json;
  WS_TRY(read_id(line, &json, &id, diag));
  ws_status status = WS_OK;
  if (find_entry(batch, id)) {
    status = ws_fail(diag, WS_INPUT, line->path, line->number,
                     "job %s is there twice", id);
  } else {
    asked_job *added = add_entry(batch, id);
    added->job_offset = line->offset;
    added->job_size = line->size;
    added->job_line = line->number;
  }
  cJSON_Delete(json);
  return status;
}

/* The first answer counts. */
static ws_status note_answer(void *context, const ws__line *line,
                             ws_diag *diag) {
  ws_batch *batch = context;
  const char *id;
  cJSON *json;
  WS_TRY(read_id(line, &json, &id, diag));
  ws_status status = WS_OK;
  asked_job *asked = find_entry(batch, id);
  if (!asked) {
    status = ws_fail(diag, WS_INPUT, line->path, line->number,
                     "answers job %s, which jobs.jsonl does not have: the "
                     "results of another batch",
                     id);
  } else if (!asked->answer_size) {
    asked->answer_offset = line->offset;
    asked->answer_size = line->size;
    asked->answer_line = line->number;
    batch->answered++;
  }
  cJSON_Delete(json);
  return status;
}

static ws_status check_manifest(ws_batch *batch, const char *target,
                                const char *device, ws_diag *diag) {
  const ws__batch_manifest *manifest = &batch->manifest;
  if (strcmp(manifest->target, target) != 0)
    return ws_fail(diag, WS_INPUT, batch->folder, 0,
                   "a batch for %s, not for %s; take another folder",
                   manifest->target, target);
  if (strcmp(manifest->device, device) != 0)
    return ws_fail(diag, WS_INPUT, batch->folder, 0,
                   "a batch for device %s, not for %s; take another folder",
                   manifest->device, device);
  return WS_OK;
}

static ws_status open_for_writing(ws_batch *batch, const char *target,
                                  const char *device, ws_diag *diag) {
  const ws__batch_manifest wanted = {target, device};
  WS_TRY(ws_make_directories(
      ws_arena_printf(batch->arena, "%s/code", batch->folder), diag));
  WS_TRY(ws__lines_open(batch->jobs_path, &batch->jobs, diag));
  if (!ws_file_exists(
          ws_arena_printf(batch->arena, "%s/manifest.json", batch->folder)))
    WS_TRY(ws__batch_write_manifest(batch->folder, &wanted, diag));
  WS_TRY(ws__batch_read_manifest(batch->arena, batch->folder, &batch->manifest,
                                 diag));
  return check_manifest(batch, target, device, diag);
}

static ws_status open_batch(ws_batch *batch, const char *target,
                            const char *device, ws_diag *diag) {
  if (target)
    WS_TRY(open_for_writing(batch, target, device, diag));
  else
    WS_TRY(ws__batch_read_manifest(batch->arena, batch->folder,
                                   &batch->manifest, diag));
  WS_TRY(ws__lines_visit(batch->jobs_path, note_job, batch, diag));
  return ws__lines_visit(batch->results_path, note_answer, batch, diag);
}

ws_status ws_batch_open(const char *folder, const char *target,
                        const char *device, ws_batch **out_batch,
                        ws_diag *diag) {
  ws_batch *batch = calloc(1, sizeof *batch);
  WS_ASSERT(batch && "out of memory");
  ws_arena *arena = batch->arena = ws_arena_create();
  batch->jobs = -1;
  batch->folder = ws_arena_strdup(arena, folder);
  batch->jobs_path = ws_arena_printf(arena, "%s/jobs.jsonl", folder);
  batch->results_path = ws_arena_printf(arena, "%s/results.jsonl", folder);
  *out_batch = NULL;
  ws_status status = open_batch(batch, target, device, diag);
  if (status == WS_OK)
    *out_batch = batch;
  else
    ws_batch_close(batch);
  return status;
}

static void keep_entry(void *item) { (void)item; }

void ws_batch_close(ws_batch *batch) {
  if (!batch)
    return;
  if (batch->jobs >= 0)
    close(batch->jobs);
  tdestroy(batch->by_id, keep_entry);
  free(batch->entries);
  ws_arena_destroy(batch->arena);
  free(batch);
}

const char *ws_batch_target(const ws_batch *batch) {
  return batch->manifest.target;
}

const char *ws_batch_device(const ws_batch *batch) {
  return batch->manifest.device;
}

int ws_batch_jobs(const ws_batch *batch) { return batch->count; }

int ws_batch_open_jobs(const ws_batch *batch) {
  return batch->count - batch->answered;
}

/* ---- reading ---- */

static ws_status misread(const char *path, int line, ws_diag *diag,
                         const ws_diag *cause) {
  return ws_fail(diag, WS_INPUT, path, line, "%s", cause->text);
}

/* The hash of everything but the id. */
static ws_hash hash_of(cJSON *json) {
  char *text = cJSON_PrintUnformatted(json);
  WS_ASSERT(text && "out of memory");
  ws_hash hash = ws_hash_bytes(text, strlen(text));
  cJSON_free(text);
  return hash;
}

static ws_status read_checked_job(ws_arena *arena, const asked_job *asked,
                                  cJSON *json, ws_batch_job *out,
                                  ws_diag *diag) {
  WS_TRY(ws__batch_job_from_json(arena, json, out, diag));
  cJSON_DeleteItemFromObjectCaseSensitive(json, "id");
  if (!strcmp(hash_of(json).hex, asked->id))
    return WS_OK;
  return ws_fail(diag, WS_INPUT, NULL, 0,
                 "job %s was altered: its content has another hash", asked->id);
}

ws_status ws_batch_read_job(ws_batch *batch, ws_arena *arena, int index,
                            ws_batch_job *out_job, ws_diag *diag) {
  const asked_job *asked = batch->entries[index];
  ws_diag cause;
  char *text;
  WS_TRY(ws__lines_read(arena, batch->jobs_path, asked->job_offset,
                        asked->job_size, &text, diag));
  cJSON *json = ws_json_parse(text, asked->job_size, NULL, &cause);
  ws_status status =
      json ? read_checked_job(arena, asked, json, out_job, &cause) : WS_INPUT;
  cJSON_Delete(json);
  return status == WS_OK
             ? WS_OK
             : misread(batch->jobs_path, asked->job_line, diag, &cause);
}

static ws_status read_answer(const ws_batch *batch, ws_arena *arena,
                             const asked_job *asked, ws_batch_answer *out,
                             ws_diag *diag) {
  ws_diag cause;
  char *text;
  WS_TRY(ws__lines_read(arena, batch->results_path, asked->answer_offset,
                        asked->answer_size, &text, diag));
  cJSON *json = ws_json_parse(text, asked->answer_size, NULL, &cause);
  ws_status status =
      json ? ws__batch_answer_from_json(arena, json, out, &cause) : WS_INPUT;
  cJSON_Delete(json);
  return status == WS_OK
             ? WS_OK
             : misread(batch->results_path, asked->answer_line, diag, &cause);
}

ws_status ws_batch_read_answer(ws_batch *batch, ws_arena *arena, int index,
                               bool *out_found, ws_batch_answer *out_answer,
                               ws_diag *diag) {
  const asked_job *asked = batch->entries[index];
  *out_found = asked->answer_size > 0;
  *out_answer = (ws_batch_answer){0};
  return *out_found ? read_answer(batch, arena, asked, out_answer, diag)
                    : WS_OK;
}

/* The name of a code object's file is its hash. */
ws_status ws_batch_read_code(ws_batch *batch, ws_arena *arena,
                             ws_batch_job *job, ws_diag *diag) {
  WS_TRY(ws__batch_read_code(arena, batch->folder, job, diag));
  ws_hash hash = ws_hash_bytes(job->code_object, job->code_object_size);
  size_t size = strlen(hash.hex);
  if (!strncmp(job->code_file, hash.hex, size) && job->code_file[size] == '.')
    return WS_OK;
  return ws_fail(diag, WS_INPUT, batch->folder, 0,
                 "code/%s was altered: its content has another hash",
                 job->code_file);
}

/* ---- asking ---- */

static const char *ending_of(const ws_batch *batch, const void *code,
                             size_t size) {
  const ws_target *target = ws_target_find(batch->manifest.target);
  if (!target || target->family == WS_FAMILY_AMDGPU)
    return "co";
  return size > 4 && !memcmp(code,
                             "\x7f"
                             "ELF",
                             4)
             ? "cubin"
             : "ptx";
}

static ws_status write_code(const ws_batch *batch, ws_arena *arena,
                            const ws_batch_job *job, const char *name,
                            ws_diag *diag) {
  const char *path = ws_arena_printf(arena, "%s/code/%s", batch->folder, name);
  if (ws_file_exists(path))
    return WS_OK;
  return ws_file_write_atomic(path, job->code_object, job->code_object_size,
                              diag);
}

/* owned_json: the job without its id. */
static ws_status add_job(ws_batch *batch, const ws_hash *id, cJSON *owned_json,
                         ws_diag *diag) {
  int64_t offset;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "id", id->hex);
  while (owned_json->child) {
    cJSON *item = cJSON_DetachItemViaPointer(owned_json, owned_json->child);
    cJSON_AddItemToObject(json, item->string, item);
  }
  cJSON_Delete(owned_json);
  char *text = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  WS_ASSERT(text && "out of memory");
  ws_status status =
      ws__lines_append(batch->jobs, batch->jobs_path, text, &offset, diag);
  if (status == WS_OK) {
    asked_job *added = add_entry(batch, id->hex);
    added->job_offset = offset;
    added->job_size = strlen(text);
    added->job_line = batch->count;
  }
  cJSON_free(text);
  return status;
}

ws_status ws_batch_ask(ws_batch *batch, ws_arena *arena,
                       const ws_batch_job *job, bool *out_found,
                       ws_batch_answer *out_answer, ws_diag *diag) {
  *out_found = false;
  *out_answer = (ws_batch_answer){0};
  const char *code = ws_arena_printf(
      arena, "%s.%s",
      ws_hash_bytes(job->code_object, job->code_object_size).hex,
      ending_of(batch, job->code_object, job->code_object_size));
  cJSON *json = ws__batch_job_to_json(job, code);
  ws_hash id = hash_of(json);
  const asked_job *asked = find_entry(batch, id.hex);
  if (asked) {
    cJSON_Delete(json);
    *out_found = asked->answer_size > 0;
    return *out_found ? read_answer(batch, arena, asked, out_answer, diag)
                      : WS_OK;
  }
  ws_status status = write_code(batch, arena, job, code, diag);
  if (status == WS_OK)
    return add_job(batch, &id, json, diag);
  cJSON_Delete(json);
  return status;
}
