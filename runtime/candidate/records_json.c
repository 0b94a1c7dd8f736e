/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Template records as JSON, the way they travel from the compile server:
 * [{"kind":"param","line":12,"operands":["tile_m","ws.tile_m",...]}, ...]
 */
#include "wavesmith/json_fields.h"
#include "wavesmith/template.h"

/* Far above what a template holds; keeps a mad sender from filling memory. */
enum { RECORDS_MAX = 10000, OPERANDS_MAX = 64 };

static const ws_json_field record_fields[] = {
    {WS_JSON_TEXT(ws_record, kind)},
    {WS_JSON_INT(ws_record, line, 0, INT32_MAX)},
    {WS_JSON_ITEMS(ws_record, operands, operand_count, 0, OPERANDS_MAX,
                   ws_json_of_text)}};
static const ws_json_struct record_json =
    WS_JSON_STRUCT(ws_record, record_fields);

static const ws_json_field records_fields[] = {{WS_JSON_ITEMS_AS(
    NULL, ws_records, items, count, 0, RECORDS_MAX, record_json)}};
static const ws_json_struct records_json =
    WS_JSON_STRUCT(ws_records, records_fields);

struct cJSON *ws_records_to_json(const ws_records *records) {
  return ws_json_write(&records_json, records);
}

ws_status ws_records_from_json(ws_arena *arena, const struct cJSON *json,
                               ws_records *out_records, ws_diag *diag) {
  return ws_json_read(&records_json, arena, json, "records", out_records, diag);
}
