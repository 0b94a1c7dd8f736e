/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which jobs a batch has and which of them are answered: one pass over the two
 * files, a tree by id, and lines read again on demand.
 */
#include "batch_internal.h"

#include <cjson/cJSON.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* ---- entries ---- */

static int compare_ids(const void *a, const void *b) {
  return strcmp(((const ws__batch_entry *)a)->id,
                ((const ws__batch_entry *)b)->id);
}

ws__batch_entry *ws__batch_find(const ws__batch_index *index, const char *id) {
  const ws__batch_entry key = {.id = id};
  ws__batch_entry **found = tfind(&key, &index->by_id, compare_ids);
  return found ? *found : NULL;
}

ws__batch_entry *ws__batch_add(ws__batch_index *index, const char *id) {
  if (index->count == index->capacity) {
    index->capacity = index->capacity ? 2 * index->capacity : 256;
    index->entries = realloc(index->entries,
                             sizeof *index->entries * (size_t)index->capacity);
    WS_ASSERT(index->entries && "out of memory");
  }
  ws__batch_entry *added = ws_arena_alloc(index->arena, sizeof *added);
  added->id = ws_arena_strdup(index->arena, id);
  const void *place = tsearch(added, &index->by_id, compare_ids);
  WS_ASSERT(place && "out of memory");
  index->entries[index->count++] = added;
  return added;
}

/* ---- loading ---- */

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
  ws__batch_index *index = context;
  const char *id;
  cJSON *json;
  WS_TRY(read_id(line, &json, &id, diag));
  ws_status status = WS_OK;
  if (ws__batch_find(index, id)) {
    status = ws_fail(diag, WS_INPUT, line->path, line->number,
                     "job %s is there twice", id);
  } else {
    ws__batch_entry *added = ws__batch_add(index, id);
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
  ws__batch_index *index = context;
  const char *id;
  cJSON *json;
  WS_TRY(read_id(line, &json, &id, diag));
  ws_status status = WS_OK;
  ws__batch_entry *asked = ws__batch_find(index, id);
  if (!asked) {
    status = ws_fail(diag, WS_INPUT, line->path, line->number,
                     "answers job %s, which jobs.jsonl does not have: the "
                     "results of another batch",
                     id);
  } else if (!asked->answer_size) {
    asked->answer_offset = line->offset;
    asked->answer_size = line->size;
    asked->answer_line = line->number;
    index->answered++;
  }
  cJSON_Delete(json);
  return status;
}

void ws__batch_index_init(ws__batch_index *index, const char *folder) {
  *index = (ws__batch_index){.arena = ws_arena_create()};
  index->folder = ws_arena_strdup(index->arena, folder);
  index->jobs_path = ws_arena_printf(index->arena, "%s/jobs.jsonl", folder);
  index->results_path =
      ws_arena_printf(index->arena, "%s/results.jsonl", folder);
}

static void keep_entry(void *item) { (void)item; }

void ws__batch_index_deinit(ws__batch_index *index) {
  tdestroy(index->by_id, keep_entry);
  free(index->entries);
  ws_arena_destroy(index->arena);
}

ws_status ws__batch_index_load(ws__batch_index *index, ws_diag *diag) {
  WS_TRY(ws__batch_read_manifest(index->arena, index->folder, &index->manifest,
                                 diag));
  WS_TRY(ws__lines_visit(index->jobs_path, note_job, index, diag));
  return ws__lines_visit(index->results_path, note_answer, index, diag);
}

/* ---- reading ---- */

static ws_status read_json(const char *path, int line, int64_t offset,
                           size_t size, cJSON **out_json, ws_diag *diag) {
  char *text;
  ws_diag cause;
  ws_arena *arena = ws_arena_create();
  *out_json = NULL;
  ws_status status = ws__lines_read(arena, path, offset, size, &text, diag);
  if (status == WS_OK) {
    *out_json = ws_json_parse(text, size, NULL, &cause);
    if (!*out_json)
      status = ws_fail(diag, WS_INPUT, path, line, "%s", cause.text);
  }
  ws_arena_destroy(arena);
  return status;
}

ws_status ws__batch_read_line(const ws__batch_index *index,
                              const ws__batch_entry *entry, cJSON **out_json,
                              ws_diag *diag) {
  return read_json(index->jobs_path, entry->job_line, entry->job_offset,
                   entry->job_size, out_json, diag);
}

ws_status ws__batch_read_job(const ws__batch_index *index, ws_arena *arena,
                             const ws__batch_entry *entry,
                             ws_batch_job *out_job, ws_diag *diag) {
  cJSON *json;
  ws_diag cause;
  WS_TRY(ws__batch_read_line(index, entry, &json, diag));
  ws_status status = ws__batch_job_from_json(arena, json, out_job, &cause);
  cJSON_Delete(json);
  return status == WS_OK ? WS_OK
                         : ws_fail(diag, status, index->jobs_path,
                                   entry->job_line, "%s", cause.text);
}

ws_status ws__batch_read_answer(const ws__batch_index *index, ws_arena *arena,
                                const ws__batch_entry *entry,
                                ws_batch_answer *out_answer, ws_diag *diag) {
  cJSON *json;
  ws_diag cause;
  WS_TRY(read_json(index->results_path, entry->answer_line,
                   entry->answer_offset, entry->answer_size, &json, diag));
  ws_status status =
      ws__batch_answer_from_json(arena, json, out_answer, &cause);
  cJSON_Delete(json);
  return status == WS_OK ? WS_OK
                         : ws_fail(diag, status, index->results_path,
                                   entry->answer_line, "%s", cause.text);
}
