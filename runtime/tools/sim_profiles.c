/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The cards that the simulator knows: the list, and one of them in full. They
 * are data; no simulator is started.
 */
#include "sim_options.h"
#include "wavesmith/sim_card.h"

#include <cjson/cJSON.h>
#include <stdio.h>

void sim_list_profiles(void) {
  ws_arena *arena = ws_arena_create();
  const char *name;
  for (int i = 0; (name = ws_sim_card_name_at(i)); i++) {
    const ws_sim_card *card;
    ws_diag diag;
    ws_strbuf text;
    ws_status status = ws_sim_card_find(name, arena, &card, &diag);
    WS_ASSERT(status == WS_OK);
    ws_strbuf_init(&text);
    ws_sim_card_describe(card, &text);
    printf("sim:%-8s %s\n", name, text.data);
    ws_strbuf_deinit(&text);
  }
  ws_arena_destroy(arena);
}

ws_status sim_print_profile(const char *name, ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  const ws_sim_card *card;
  ws_status status = ws_sim_card_find(name, arena, &card, diag);
  if (status == WS_OK) {
    cJSON *json = ws_sim_card_to_json(card);
    char *text = cJSON_Print(json);
    WS_ASSERT(text && "out of memory");
    puts(text);
    cJSON_free(text);
    cJSON_Delete(json);
  }
  ws_arena_destroy(arena);
  return status;
}
