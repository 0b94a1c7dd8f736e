/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith archive recording`: a run's exchanges as a recording, which
 * `--model replay:FILE` answers from. The members with their weights are those
 * of the run's settings, so that choices among them fall as they fell; a member
 * that is not among them (an exchange from outside) gets weight 1.
 */
#include "tool_archive.h"
#include "wavesmith/llm.h"

#include <stdio.h>
#include <string.h>

enum { MOST_MEMBERS = 256 };

typedef struct recorder {
  archive_call *call;
  ws_llm_member members[MOST_MEMBERS];
  int member_count;
  ws_recorded *items;
  int count;
} recorder;

/* -1: there are too many. */
static int add_member(recorder *r, const char *name, double weight) {
  if (r->member_count == MOST_MEMBERS)
    return -1;
  r->members[r->member_count] =
      (ws_llm_member){.name = ws_arena_strdup(r->call->arena, name),
                      .weight = weight > 0 ? weight : 1,
                      .usd_in = -1,
                      .usd_out = -1};
  return r->member_count++;
}

static int find_member(recorder *r, const char *name) {
  for (int i = 0; i < r->member_count; i++)
    if (!strcmp(r->members[i].name, name))
      return i;
  return add_member(r, name, 1);
}

static ws_status read_members(recorder *r) {
  ws_run_row run;
  archive_call *call = r->call;
  WS_TRY(ws_archive_get_run(call->archive, call->arena,
                            call->arguments->filter.run_id, &run, call->diag));
  cJSON *settings = ws_json_parse(run.settings_json, strlen(run.settings_json),
                                  "the run's settings", call->diag);
  if (!settings)
    return WS_INPUT;
  const cJSON *member;
  cJSON_ArrayForEach(member,
                     cJSON_GetObjectItemCaseSensitive(settings, "members")) {
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(member, "name");
    const cJSON *weight = cJSON_GetObjectItemCaseSensitive(member, "weight");
    if (cJSON_IsString(name))
      add_member(r, name->valuestring,
                 cJSON_IsNumber(weight) ? weight->valuedouble : 1);
  }
  cJSON_Delete(settings);
  return WS_OK;
}

static ws_status read_item(recorder *r, const ws_exchange_row *listed) {
  archive_call *call = r->call;
  ws_exchange_row row;
  bool found;
  WS_TRY(ws_archive_get_exchange(call->archive, call->arena, listed->run_id,
                                 listed->sequence, &found, &row, call->diag));
  bool prompts = call->arguments->with_prompts;
  int member = find_member(r, listed->member);
  if (!found || member < 0)
    return ws_fail(call->diag, WS_INPUT, NULL, 0,
                   "exchange %lld cannot be recorded: %s",
                   (long long)listed->sequence,
                   found ? "the run has too many members" : "it is gone");
  r->items[r->count++] = (ws_recorded){.sequence = row.sequence,
                                       .kind = row.kind,
                                       .prompt_hash = row.prompt_hash,
                                       .reply = row.reply,
                                       .error = row.error,
                                       .system = prompts ? row.system : NULL,
                                       .user = prompts ? row.prompt : NULL,
                                       .member = member,
                                       .prompt_tokens = row.prompt_tokens,
                                       .reply_tokens = row.reply_tokens,
                                       .usd = row.usd,
                                       .seconds = row.seconds};
  return WS_OK;
}

static ws_status read_items(recorder *r) {
  archive_call *call = r->call;
  ws_exchange_row *rows;
  int count;
  int64_t run = call->arguments->filter.run_id;
  WS_TRY(ws_archive_list_exchanges(call->archive, call->arena, run, &rows,
                                   &count, call->diag));
  if (!count)
    return ws_fail(call->diag, WS_INPUT, NULL, 0,
                   "run %lld asked no model, so there is nothing to record",
                   (long long)run);
  r->items = ws_arena_alloc(call->arena, sizeof *r->items * (size_t)count);
  for (int i = 0; i < count; i++)
    WS_TRY(read_item(r, &rows[i]));
  return WS_OK;
}

ws_status archive_run_recording(archive_call *call) {
  const archive_arguments *arguments = call->arguments;
  if (!arguments->filter.run_id || !arguments->out)
    return ws_fail(call->diag, WS_USAGE, NULL, 0,
                   "wanted is recording DB --run N --out FILE");
  recorder *r = ws_arena_alloc(call->arena, sizeof *r);
  r->call = call;
  WS_TRY(read_members(r));
  WS_TRY(read_items(r));
  const ws_recording recording = {.members = r->members,
                                  .member_count = r->member_count,
                                  .items = r->items,
                                  .count = r->count};
  WS_TRY(ws_recording_write(arguments->out, &recording, call->diag));
  if (arguments->json) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "recorded", r->count);
    cJSON_AddStringToObject(json, "file", arguments->out);
    archive_print_json(json);
  } else {
    printf("recorded %d exchanges of run %lld: %s\n", r->count,
           (long long)arguments->filter.run_id, arguments->out);
  }
  return WS_OK;
}
