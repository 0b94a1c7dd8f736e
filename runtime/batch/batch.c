/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The end of a batch that asks: jobs are found again by their id, the hash of
 * what they say, added when they are new, and joined with the answers.
 */
#include "batch_internal.h"
#include "wavesmith/target.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ws_batch {
  ws__batch_index index;
  int jobs;            /* descriptor; -1: only for reading */
  const char *problem; /* whose text is there; NULL: none was written yet */
};

/* ---- opening ---- */

static ws_status check_manifest(const ws__batch_index *index,
                                const char *target, const char *device,
                                ws_diag *diag) {
  const ws__batch_manifest *manifest = &index->manifest;
  if (strcmp(manifest->target, target) != 0)
    return ws_fail(diag, WS_INPUT, index->folder, 0,
                   "a batch for %s, not for %s; take another folder",
                   manifest->target, target);
  if (strcmp(manifest->device, device) != 0)
    return ws_fail(diag, WS_INPUT, index->folder, 0,
                   "a batch for device %s, not for %s; take another folder",
                   manifest->device, device);
  return WS_OK;
}

static ws_status open_for_writing(ws_batch *batch, const char *target,
                                  const char *device, ws_diag *diag) {
  ws__batch_index *index = &batch->index;
  const ws__batch_manifest wanted = {WS__BATCH_FORMAT, target, device};
  WS_TRY(ws_make_directories(
      ws_arena_printf(index->arena, "%s/code", index->folder), diag));
  WS_TRY(ws__lines_open(index->jobs_path, &batch->jobs, diag));
  if (!ws_file_exists(
          ws_arena_printf(index->arena, "%s/manifest.json", index->folder)))
    WS_TRY(ws__batch_write_manifest(index->folder, &wanted, diag));
  WS_TRY(ws__batch_index_load(index, diag));
  return check_manifest(index, target, device, diag);
}

ws_status ws_batch_open(const char *folder, const char *target,
                        const char *device, ws_batch **out_batch,
                        ws_diag *diag) {
  ws_batch *batch = calloc(1, sizeof *batch);
  WS_ASSERT(batch && "out of memory");
  batch->jobs = -1;
  *out_batch = NULL;
  ws__batch_index_init(&batch->index, folder);
  ws_status status = target ? open_for_writing(batch, target, device, diag)
                            : ws__batch_index_load(&batch->index, diag);
  if (status == WS_OK)
    *out_batch = batch;
  else
    ws_batch_close(batch);
  return status;
}

void ws_batch_close(ws_batch *batch) {
  if (!batch)
    return;
  if (batch->jobs >= 0)
    close(batch->jobs);
  ws__batch_index_deinit(&batch->index);
  free(batch);
}

const char *ws_batch_target(const ws_batch *batch) {
  return batch->index.manifest.target;
}

const char *ws_batch_device(const ws_batch *batch) {
  return batch->index.manifest.device;
}

int ws_batch_jobs(const ws_batch *batch) { return batch->index.count; }

int ws_batch_open_jobs(const ws_batch *batch) {
  return batch->index.count - batch->index.answered;
}

/* ---- reading ---- */

/* The hash of everything but the id. */
static ws_hash hash_of(const cJSON *json) {
  char *text = cJSON_PrintUnformatted(json);
  WS_ASSERT(text && "out of memory");
  ws_hash hash = ws_hash_bytes(text, strlen(text));
  cJSON_free(text);
  return hash;
}

static ws_status check_id(const ws__batch_index *index,
                          const ws__batch_entry *entry, ws_diag *diag) {
  cJSON *json;
  WS_TRY(ws__batch_read_line(index, entry, &json, diag));
  cJSON_DeleteItemFromObjectCaseSensitive(json, "id");
  bool same = !strcmp(hash_of(json).hex, entry->id);
  cJSON_Delete(json);
  return same ? WS_OK
              : ws_fail(diag, WS_INPUT, index->jobs_path, entry->job_line,
                        "job %s was altered: its content has another hash",
                        entry->id);
}

ws_status ws_batch_read_job(ws_batch *batch, ws_arena *arena, int number,
                            ws_batch_job *out_job, ws_diag *diag) {
  const ws__batch_entry *entry = batch->index.entries[number];
  WS_TRY(check_id(&batch->index, entry, diag));
  return ws__batch_read_job(&batch->index, arena, entry, out_job, diag);
}

ws_status ws_batch_read_answer(ws_batch *batch, ws_arena *arena, int number,
                               bool *out_found, ws_batch_answer *out_answer,
                               ws_diag *diag) {
  const ws__batch_entry *entry = batch->index.entries[number];
  *out_found = entry->answer_size > 0;
  *out_answer = (ws_batch_answer){0};
  return *out_found ? ws__batch_read_answer(&batch->index, arena, entry,
                                            out_answer, diag)
                    : WS_OK;
}

/* The name of a code object's file is its hash. */
static ws_status check_name(const char *folder, const char *name,
                            const void *code, size_t code_size, ws_diag *diag) {
  ws_hash hash = ws_hash_bytes(code, code_size);
  size_t size = strlen(hash.hex);
  if (!strncmp(name, hash.hex, size) && name[size] == '.')
    return WS_OK;
  return ws_fail(diag, WS_INPUT, folder, 0,
                 "code/%s was altered: its content has another hash", name);
}

ws_status ws_batch_read_code(ws_batch *batch, ws_arena *arena,
                             ws_batch_job *job, ws_diag *diag) {
  const char *folder = batch->index.folder;
  WS_TRY(ws__batch_read_code(arena, folder, job, diag));
  WS_TRY(check_name(folder, job->code_file, job->code_object,
                    job->code_object_size, diag));
  return job->rival_size ? check_name(folder, job->rival_file, job->rival_code,
                                      job->rival_size, diag)
                         : WS_OK;
}

/* ---- asking ---- */

static const char *ending_of(const ws_batch *batch, const void *code,
                             size_t size) {
  const ws_target *target = ws_target_find(batch->index.manifest.target);
  if (!target || target->family == WS_FAMILY_AMDGPU)
    return "co";
  return size > 4 && !memcmp(code,
                             "\x7f"
                             "ELF",
                             4)
             ? "cubin"
             : "ptx";
}

/* "" for no code. */
static const char *name_of(const ws_batch *batch, ws_arena *arena,
                           const void *code, size_t size) {
  return size ? ws_arena_printf(arena, "%s.%s", ws_hash_bytes(code, size).hex,
                                ending_of(batch, code, size))
              : "";
}

static ws_status write_code(const ws_batch *batch, ws_arena *arena,
                            const void *code, size_t size, const char *name,
                            ws_diag *diag) {
  const char *path =
      ws_arena_printf(arena, "%s/code/%s", batch->index.folder, name);
  if (!*name || ws_file_exists(path))
    return WS_OK;
  return ws_file_write_atomic(path, code, size, diag);
}

/* All of a job's workloads are of one problem. */
static ws_status write_problem(ws_batch *batch, const ws_batch_job *job,
                               ws_diag *diag) {
  const char *name = job->steps[0].workloads[0].problem;
  if (batch->problem && !strcmp(batch->problem, name))
    return WS_OK;
  WS_TRY(ws__batch_write_problem(batch->index.folder, name, diag));
  batch->problem = ws_arena_strdup(batch->index.arena, name);
  return WS_OK;
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
  ws_status status = ws__lines_append(batch->jobs, batch->index.jobs_path, text,
                                      &offset, diag);
  if (status == WS_OK) {
    ws__batch_entry *added = ws__batch_add(&batch->index, id->hex);
    added->job_offset = offset;
    added->job_size = strlen(text);
    added->job_line = batch->index.count;
  }
  cJSON_free(text);
  return status;
}

ws_status ws_batch_ask(ws_batch *batch, ws_arena *arena,
                       const ws_batch_job *job, bool *out_found,
                       ws_batch_answer *out_answer, ws_diag *diag) {
  *out_found = false;
  *out_answer = (ws_batch_answer){0};
  WS_TRY(write_problem(batch, job, diag)); /* answers are of that very one */
  const char *code =
      name_of(batch, arena, job->code_object, job->code_object_size);
  const char *rival = name_of(batch, arena, job->rival_code, job->rival_size);
  cJSON *json = ws__batch_job_to_json(job, code, rival);
  ws_hash id = hash_of(json);
  const ws__batch_entry *asked = ws__batch_find(&batch->index, id.hex);
  if (asked) {
    cJSON_Delete(json);
    *out_found = asked->answer_size > 0;
    return *out_found ? ws__batch_read_answer(&batch->index, arena, asked,
                                              out_answer, diag)
                      : WS_OK;
  }
  ws_status status = write_code(batch, arena, job->code_object,
                                job->code_object_size, code, diag);
  if (status == WS_OK)
    status =
        write_code(batch, arena, job->rival_code, job->rival_size, rival, diag);
  if (status == WS_OK)
    return add_job(batch, &id, json, diag);
  cJSON_Delete(json);
  return status;
}
