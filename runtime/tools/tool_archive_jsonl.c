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

static void add_texts(cJSON *json, const ws_exchange_row *row) {
  const struct {
    const char *key, *value;
  } texts[] = {{"kind", row->kind},
               {"model", row->member},
               {"prompt_version", row->prompt_version},
               {"prompt_hash", row->prompt_hash},
               {"prompt_cut", row->prompt_cut},
               {"reply", row->reply},
               {"error", row->error},
               {"verdict", row->verdict},
               {"stage", row->stage},
               {"reason", row->reason},
               {"candidate", row->candidate_id}};
  cJSON *prompt = cJSON_AddObjectToObject(json, "prompt");
  cJSON_AddStringToObject(prompt, "system", row->system);
  cJSON_AddStringToObject(prompt, "user", row->prompt);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    cJSON_AddStringToObject(json, texts[i].key, texts[i].value);
}

static void add_numbers(cJSON *json, const ws_exchange_row *row) {
  const struct {
    const char *key;
    double value;
  } numbers[] = {{"run", (double)row->run_id},
                 {"sequence", (double)row->sequence},
                 {"prompt_tokens", (double)row->prompt_tokens},
                 {"reply_tokens", (double)row->reply_tokens},
                 {"usd", row->usd},
                 {"seconds", row->seconds},
                 {"reward", row->reward}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    cJSON_AddNumberToObject(json, numbers[i].key, numbers[i].value);
}

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

static ws_status write_exchange(writer *w, ws_arena *arena,
                                const ws_exchange_row *listed, cJSON *json) {
  ws_exchange_row row;
  bool found;
  WS_TRY(ws_archive_get_exchange(w->call->archive, arena, listed->run_id,
                                 listed->sequence, &found, &row,
                                 w->call->diag));
  if (!found)
    return WS_OK;
  add_texts(json, &row);
  add_numbers(json, &row);
  cJSON_AddItemToObject(json, "claims", archive_claims_json(row.claims_json));
  WS_TRY(add_candidate(w, arena, json, &row));
  WS_TRY(add_run(w, json, row.run_id));
  cJSON_AddStringToObject(json, "license", w->license);
  w->count++;
  return write_line(w, json);
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
    cJSON *json = cJSON_CreateObject();
    status = write_exchange(w, arena, &items[i], json);
    cJSON_Delete(json);
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
