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

cJSON *archive_row_json(const ws_candidate_row *row) {
  const struct {
    const char *key, *value;
  } texts[] = {
      {"id", row->id},
      {"template", row->template_name},
      {"layout", row->layout},
      {"parameters", row->assignments},
      {"variants", row->variants},
      {"proposer", row->proposer},
      {"parent", row->parent_id},
      {"second_parent", row->second_parent_id},
      {"kind", row->kind},
      {"label", row->label},
      {"cell", row->cell},
      {"move", row->move},
      {"verdict", row->verdict},
      {"stage", row->stage},
      {"reason", row->reason},
  };
  cJSON *json = cJSON_CreateObject();
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    cJSON_AddStringToObject(json, texts[i].key, texts[i].value);
  cJSON_AddNumberToObject(json, "run", (double)row->run_id);
  cJSON_AddNumberToObject(json, "sequence", (double)row->sequence);
  cJSON_AddNumberToObject(json, "island", (double)row->island);
  return json;
}

cJSON *archive_speedup_json(const ws_speedup *speedup) {
  if (!speedup->shapes)
    return cJSON_CreateNull();
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "value", speedup->value);
  cJSON_AddNumberToObject(json, "low", speedup->low);
  cJSON_AddNumberToObject(json, "high", speedup->high);
  cJSON_AddNumberToObject(json, "worst", speedup->worst);
  cJSON_AddNumberToObject(json, "shapes", speedup->shapes);
  cJSON_AddStringToObject(json, "provenance", speedup->provenance);
  return json;
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
