/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What several subcommands of `wavesmith archive` need.
 */
#include "tool_archive.h"

#include <stdio.h>
#include <string.h>

enum { SHORT_ID = 8 };

void archive_print_json(cJSON *owned_json) {
  char *text = cJSON_PrintUnformatted(owned_json);
  cJSON_Delete(owned_json);
  WS_ASSERT(text);
  puts(text);
  cJSON_free(text);
}

static const ws_json_field row_fields[] = {
    {WS_JSON_TEXT(ws_candidate_row, id)},
    {WS_JSON_TEXT_AS("template", ws_candidate_row, template_name)},
    {WS_JSON_TEXT(ws_candidate_row, layout)},
    {WS_JSON_TEXT_AS("parameters", ws_candidate_row, assignments)},
    {WS_JSON_TEXT(ws_candidate_row, variants)},
    {WS_JSON_TEXT(ws_candidate_row, proposer)},
    {WS_JSON_TEXT_AS("parent", ws_candidate_row, parent_id)},
    {WS_JSON_TEXT_AS("second_parent", ws_candidate_row, second_parent_id)},
    {WS_JSON_TEXT(ws_candidate_row, kind)},
    {WS_JSON_TEXT(ws_candidate_row, label)},
    {WS_JSON_TEXT(ws_candidate_row, cell)},
    {WS_JSON_TEXT(ws_candidate_row, move)},
    {WS_JSON_TEXT(ws_candidate_row, verdict)},
    {WS_JSON_TEXT(ws_candidate_row, stage)},
    {WS_JSON_TEXT(ws_candidate_row, reason)},
    {WS_JSON_INT_AS("run", ws_candidate_row, run_id, 0, INT64_MAX)},
    {WS_JSON_INT(ws_candidate_row, sequence, 0, INT64_MAX)},
    {WS_JSON_INT(ws_candidate_row, island, 0, INT64_MAX)}};
static const ws_json_struct row_json =
    WS_JSON_STRUCT(ws_candidate_row, row_fields);

cJSON *archive_row_json(const ws_candidate_row *row) {
  return ws_json_write(&row_json, row);
}

static const ws_json_field speedup_fields[] = {
    {WS_JSON_DOUBLE(ws_speedup, value)},
    {WS_JSON_DOUBLE(ws_speedup, low)},
    {WS_JSON_DOUBLE(ws_speedup, high)},
    {WS_JSON_DOUBLE(ws_speedup, worst)},
    {WS_JSON_INT(ws_speedup, shapes, 0, INT32_MAX)},
    {WS_JSON_TEXT(ws_speedup, provenance)}};
static const ws_json_struct speedup_json =
    WS_JSON_STRUCT(ws_speedup, speedup_fields);

cJSON *archive_speedup_json(const ws_speedup *speedup) {
  return speedup->shapes ? ws_json_write(&speedup_json, speedup)
                         : cJSON_CreateNull();
}

const char *archive_speedup_text(ws_arena *arena, const ws_speedup *speedup) {
  if (!speedup->shapes)
    return "-";
  const char *word = ws_provenance_word(speedup->provenance);
  if (speedup->high > speedup->low)
    return ws_arena_printf(arena, "%.3f [%.3f, %.3f] %s", speedup->value,
                           speedup->low, speedup->high, word);
  return ws_arena_printf(arena, "%.3f %s", speedup->value, word);
}

cJSON *archive_claims_json(const char *text) {
  cJSON *claims =
      *text ? ws_json_parse(text, strlen(text), "claims", NULL) : NULL;
  if (cJSON_IsArray(claims))
    return claims;
  cJSON_Delete(claims);
  return cJSON_CreateArray();
}

ws_status archive_find_candidate(archive_call *call, const char *id,
                                 ws_candidate_row *out_row) {
  bool found;
  WS_TRY(ws_archive_get_candidate(call->archive, call->arena, id, &found,
                                  out_row, call->diag));
  if (found)
    return WS_OK;
  return ws_fail(call->diag, WS_INPUT, NULL, 0,
                 "there is no candidate '%s'; `wavesmith archive ls` lists "
                 "them",
                 id);
}

ws_status archive_check_run(archive_call *call) {
  ws_run_row run;
  int64_t id = call->arguments->filter.run_id;
  return id ? ws_archive_get_run(call->archive, call->arena, id, &run,
                                 call->diag)
            : WS_OK;
}

const char *archive_short_id(ws_arena *arena, const char *id) {
  return *id ? ws_arena_printf(arena, "%.*s", SHORT_ID, id) : "-";
}
