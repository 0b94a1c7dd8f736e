/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A profile for people: a line in a list, JSON to start one's own from, and how
 * it differs from the MI300X in words.
 */
#include "card.h"

#include <cjson/cJSON.h>

const char *ws_sim_card_title(const ws_sim_card *card) { return card->title; }

const char *ws_sim_card_name_at(int index) {
  return index >= 0 && index < ws__card_count ? ws__cards[index].name : NULL;
}

void ws_sim_card_describe(const ws_sim_card *card, ws_strbuf *out) {
  const ws__clock_constants *c = &card->constants;
  ws_strbuf_printf(
      out, "%s: %lld CUs on %lld XCDs, %lld MHz, %lld GiB, HBM %.1f TB/s",
      card->title, (long long)(c->xcds * c->cus_per_xcd), (long long)c->xcds,
      (long long)c->clock_mhz,
      (long long)(card->rows[WS_CARD_memory_bytes].value >> 30),
      (double)c->hbm_rate / 1e3);
}

const char *ws_sim_card_differs(const ws_sim_card *card, ws_arena *arena) {
  const char *text = "";
  for (int row = 0; row < ws__clock_table_count; row++) {
    const ws__clock_constant *of = &ws__card_rows[row];
    const int64_t value = card->rows[row].value;
    if (value != of->value)
      text = ws_arena_printf(arena, "%s%s%s: %lld instead of %lld%s%s", text,
                             text[0] ? "; " : "", of->what, (long long)value,
                             (long long)of->value, of->unit[0] ? " " : "",
                             of->unit);
  }
  if (card->correction.count)
    text = ws_arena_printf(arena, "%s%stimes with a learned correction", text,
                           text[0] ? "; " : "");
  return text;
}

cJSON *ws_sim_card_to_json(const ws_sim_card *card) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", card->name);
  cJSON_AddStringToObject(json, "base", ws__cards[0].name);
  cJSON *constants = cJSON_AddObjectToObject(json, "constants");
  for (int row = 0; row < WS_CARD_ROWS; row++) {
    const ws__clock_constant *of = &ws__card_rows[row];
    const ws__card_value *value = &card->rows[row];
    cJSON *item = cJSON_AddObjectToObject(constants, of->name);
    cJSON_AddNumberToObject(item, "value", (double)value->value);
    cJSON_AddStringToObject(item, "unit", of->unit);
    cJSON_AddStringToObject(item, "what", of->what);
    cJSON_AddStringToObject(item, "source", value->source);
    cJSON_AddStringToObject(item, "confidence", value->confidence);
  }
  if (card->correction.count)
    cJSON_AddItemToObject(json, "correction",
                          ws_sim_correction_to_json(&card->correction));
  return json;
}
