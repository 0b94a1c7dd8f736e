/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith archive export --jsonl`: one JSON object per exchange, to train
 * models on. Each says under which licence it may be used. Written line by line
 * into a file beside the one named, which takes its place when it is whole.
 */
#include "tool_archive.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char unspecified[] = "unspecified";

typedef struct writer {
  archive_call *call;
  FILE *file;
  const char *path;
  char *temporary;
  const char *license;
  ws_run_row run; /* of the line before; id 0: none */
  int count;
} writer;

static const ws_json_field prompt_fields[] = {
    {WS_JSON_TEXT(ws_exchange_row, system)},
    {WS_JSON_TEXT_AS("user", ws_exchange_row, prompt)}};
static const ws_json_struct prompt_json =
    WS_JSON_STRUCT(ws_exchange_row, prompt_fields);

static const ws_json_field exchange_fields[] = {
    {.name = "prompt", .type = WS_JSON_IS_OBJECT, .of = &prompt_json},
    {WS_JSON_TEXT(ws_exchange_row, kind)},
    {WS_JSON_TEXT_AS("model", ws_exchange_row, member)},
    {WS_JSON_TEXT(ws_exchange_row, prompt_version)},
    {WS_JSON_TEXT(ws_exchange_row, prompt_hash)},
    {WS_JSON_TEXT(ws_exchange_row, prompt_cut)},
    {WS_JSON_TEXT(ws_exchange_row, reply)},
    {WS_JSON_TEXT(ws_exchange_row, error)},
    {WS_JSON_TEXT(ws_exchange_row, verdict)},
    {WS_JSON_TEXT(ws_exchange_row, stage)},
    {WS_JSON_TEXT(ws_exchange_row, reason)},
    {WS_JSON_TEXT_AS("candidate", ws_exchange_row, candidate_id)},
    {WS_JSON_INT_AS("run", ws_exchange_row, run_id, 0, INT64_MAX)},
    {WS_JSON_INT(ws_exchange_row, sequence, 0, INT64_MAX)},
    {WS_JSON_INT(ws_exchange_row, prompt_tokens, 0, INT64_MAX)},
    {WS_JSON_INT(ws_exchange_row, reply_tokens, 0, INT64_MAX)},
    {WS_JSON_DOUBLE(ws_exchange_row, usd)},
    {WS_JSON_DOUBLE(ws_exchange_row, seconds)},
    {WS_JSON_DOUBLE(ws_exchange_row, reward)}};
static const ws_json_struct exchange_json =
    WS_JSON_STRUCT(ws_exchange_row, exchange_fields);

/* What is known of the candidate: parameters, parent, how much faster it is and
 * by what kind of times. */
static ws_status add_candidate(const writer *w, ws_arena *arena, cJSON *json,
                               const ws_exchange_row *row) {
  ws_candidate_row candidate = {.id = ""};
  ws_speedup speedup = {.provenance = ""};
  bool found = false;
  archive_call *call = w->call;
  if (*row->candidate_id)
    WS_TRY(ws_archive_get_candidate(call->archive, arena, row->candidate_id,
                                    &found, &candidate, call->diag));
  if (found && *candidate.parent_id)
    WS_TRY(ws_archive_speedup(
        call->archive, arena, candidate.id, candidate.parent_id,
        call->arguments->filter.provenance, &speedup, call->diag));
  cJSON_AddStringToObject(json, "template",
                          found ? candidate.template_name : "");
  cJSON_AddStringToObject(json, "parameters",
                          found ? candidate.assignments : "");
  cJSON_AddStringToObject(json, "variants", found ? candidate.variants : "");
  cJSON_AddStringToObject(json, "parent", found ? candidate.parent_id : "");
  cJSON_AddItemToObject(json, "speedup_over_parent",
                        archive_speedup_json(&speedup));
  cJSON_AddStringToObject(json, "provenance", speedup.provenance);
  return WS_OK;
}

static ws_status add_run(writer *w, cJSON *json, int64_t id) {
  if (w->run.id != id)
    WS_TRY(ws_archive_get_run(w->call->archive, w->call->arena, id, &w->run,
                              w->call->diag));
  cJSON_AddStringToObject(json, "problem", w->run.problem);
  cJSON_AddStringToObject(json, "layout", w->run.layout);
  cJSON_AddStringToObject(json, "target", w->run.target);
  cJSON_AddStringToObject(json, "strategy", w->run.strategy);
  return WS_OK;
}

static ws_status write_failed(const writer *w) {
  return ws_fail(w->call->diag, WS_ENVIRONMENT, w->path, 0,
                 "cannot be written: %s", strerror(errno));
}

static ws_status write_line(const writer *w, const cJSON *json) {
  char *text = cJSON_PrintUnformatted(json);
  WS_ASSERT(text);
  bool written = fputs(text, w->file) >= 0 && putc('\n', w->file) >= 0;
  cJSON_free(text);
  return written ? WS_OK : write_failed(w);
}

static ws_status write_row(writer *w, ws_arena *arena,
                           const ws_exchange_row *row, cJSON *json) {
  cJSON_AddItemToObject(json, "claims", archive_claims_json(row->claims_json));
  WS_TRY(add_candidate(w, arena, json, row));
  WS_TRY(add_run(w, json, row->run_id));
  cJSON_AddStringToObject(json, "license", w->license);
  w->count++;
  return write_line(w, json);
}

static ws_status write_exchange(writer *w, ws_arena *arena,
                                const ws_exchange_row *listed) {
  ws_exchange_row row;
  bool found;
  WS_TRY(ws_archive_get_exchange(w->call->archive, arena, listed->run_id,
                                 listed->sequence, &found, &row,
                                 w->call->diag));
  if (!found)
    return WS_OK;
  cJSON *json = ws_json_write(&exchange_json, &row);
  ws_status status = write_row(w, arena, &row, json);
  cJSON_Delete(json);
  return status;
}

static ws_status write_all(writer *w) {
  archive_call *call = w->call;
  ws_exchange_row *items;
  int count;
  ws_status status = ws_archive_list_exchanges(call->archive, call->arena,
                                               call->arguments->filter.run_id,
                                               &items, &count, call->diag);
  for (int i = 0; status == WS_OK && i < count; i++) {
    ws_arena *arena = ws_arena_create(); /* the texts of one exchange */
    status = write_exchange(w, arena, &items[i]);
    ws_arena_destroy(arena);
  }
  return status;
}

static ws_status write_file(writer *w) {
  int descriptor =
      ws_file_create_beside(w->call->arena, w->path, &w->temporary);
  w->file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
  if (!w->file)
    return write_failed(w);
  ws_status status = write_all(w);
  if (status == WS_OK && (fflush(w->file) != 0 || fsync(fileno(w->file)) != 0))
    status = write_failed(w);
  if (fclose(w->file) != 0 && status == WS_OK)
    status = write_failed(w);
  if (status == WS_OK && rename(w->temporary, w->path) != 0)
    status = write_failed(w);
  if (status != WS_OK)
    unlink(w->temporary);
  return status;
}

ws_status archive_export_jsonl(archive_call *call) {
  const archive_arguments *arguments = call->arguments;
  if (arguments->word_count)
    return ws_fail(call->diag, WS_USAGE, NULL, 0,
                   "with --jsonl FILE there is neither a folder nor an id");
  WS_TRY(archive_check_run(call));
  writer w = {.call = call,
              .path = arguments->jsonl,
              .license = arguments->license ? arguments->license : unspecified};
  WS_TRY(write_file(&w));
  if (!arguments->license)
    fprintf(stderr,
            "wavesmith archive: the lines say \"license\": \"%s\"; give "
            "--license TEXT to say under which they may be used\n",
            unspecified);
  if (arguments->json) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "exported", w.count);
    cJSON_AddStringToObject(json, "file", w.path);
    archive_print_json(json);
  } else {
    printf("exported %d exchanges: %s\n", w.count, w.path);
  }
  return WS_OK;
}
