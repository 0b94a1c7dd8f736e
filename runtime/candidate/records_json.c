/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Template records as JSON, the way they travel from the compile server:
 * [{"kind":"param","line":12,"operands":["tile_m","ws.tile_m",...]}, ...]
 */
#include "wavesmith/template.h"

#include <cjson/cJSON.h>

/* Far above what a template holds; keeps a mad sender from filling memory. */
enum { RECORDS_MAX = 10000, OPERANDS_MAX = 64 };

struct cJSON *ws_records_to_json(const ws_records *records) {
  cJSON *json = cJSON_CreateArray();
  for (int i = 0; i < records->count; i++) {
    const ws_record *record = &records->items[i];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "kind", record->kind);
    cJSON_AddNumberToObject(object, "line", record->line);
    cJSON *operands = cJSON_AddArrayToObject(object, "operands");
    for (int o = 0; o < record->operand_count; o++)
      cJSON_AddItemToArray(operands, cJSON_CreateString(record->operands[o]));
    cJSON_AddItemToArray(json, object);
  }
  return json;
}

static ws_status read_operands(ws_arena *arena, const cJSON *array,
                               ws_record *out, ws_diag *diag) {
  int count = cJSON_GetArraySize(array);
  if (count > OPERANDS_MAX)
    return ws_fail(diag, WS_INPUT, "records", 0,
                   "a record has %d operands; the limit is %d", count,
                   OPERANDS_MAX);
  const char **operands =
      ws_arena_alloc(arena, (size_t)count * sizeof *operands);
  const cJSON *item;
  cJSON_ArrayForEach(item, array) {
    if (!cJSON_IsString(item))
      return ws_fail(diag, WS_INPUT, "records", 0,
                     "operands of a record must be strings");
    operands[out->operand_count++] = ws_arena_strdup(arena, item->valuestring);
  }
  out->operands = operands;
  return WS_OK;
}

ws_status ws_records_from_json(ws_arena *arena, const struct cJSON *json,
                               ws_records *out_records, ws_diag *diag) {
  *out_records = (ws_records){0};
  if (!cJSON_IsArray(json))
    return ws_fail(diag, WS_INPUT, "records", 0, "must be an array");
  int count = cJSON_GetArraySize(json);
  if (count > RECORDS_MAX)
    return ws_fail(diag, WS_INPUT, "records", 0, "%d records; the limit is %d",
                   count, RECORDS_MAX);
  ws_record *items = ws_arena_alloc(arena, (size_t)count * sizeof *items);
  int index = 0;
  const cJSON *item;
  cJSON_ArrayForEach(item, json) {
    const char *kind;
    int64_t line;
    const cJSON *operands;
    WS_TRY(ws_json_get_string(item, "kind", "records", &kind, diag));
    WS_TRY(ws_json_get_int(item, "line", "records", &line, diag));
    WS_TRY(ws_json_get_array(item, "operands", "records", &operands, diag));
    if (line < 0 || line > INT32_MAX)
      return ws_fail(diag, WS_INPUT, "records", 0, "'line' is out of range");
    ws_record *record = &items[index++];
    record->kind = ws_arena_strdup(arena, kind);
    record->line = (int)line;
    WS_TRY(read_operands(arena, operands, record, diag));
  }
  *out_records = (ws_records){items, count};
  return WS_OK;
}
