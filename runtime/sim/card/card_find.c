/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A profile by what a user calls it: the name of a card, or a file.
 */
#include "card.h"
#include "wavesmith/options.h"

#include <string.h>
#include <strings.h>

void ws__card_set(ws_sim_card *card, const ws__card_value *value) {
  card->rows[value->row] = *value;
#define TAKE(name, ...)                                                        \
  case WS_CARD_##name:                                                         \
    card->constants.name = value->value;                                       \
    break;
  switch (value->row) { WS_CLOCK_CONSTANTS(TAKE) }
#undef TAKE
}

static const ws_sim_card *build(const ws__card *from, ws_arena *arena) {
  ws_sim_card *card = ws_arena_alloc(arena, sizeof *card);
  *card = (ws_sim_card){.correction = {.count = 0}};
  card->name = from->name;
  card->title = from->title;
  card->device = ws_arena_printf(arena, "AMD Instinct %s", from->title);
  for (int row = 0; row < WS_CARD_ROWS; row++) {
    const ws__clock_constant *of = &ws__card_rows[row];
    ws__card_set(card,
                 &(ws__card_value){row, of->value, of->source, of->confidence});
  }
  for (int i = 0; i < from->count; i++)
    ws__card_set(card, &from->differs[i]);
  return card;
}

static ws_status unknown(const char *name, ws_diag *diag) {
  const char *names[16], *nearest;
  ws_strbuf list;
  ws_strbuf_init(&list);
  WS_ASSERT(ws__card_count <= (int)(sizeof names / sizeof names[0]));
  for (int i = 0; i < ws__card_count; i++) {
    names[i] = ws__cards[i].name;
    ws_strbuf_printf(&list, "%s%s", i ? ", " : "", names[i]);
  }
  nearest = ws_nearest_name(name, names, ws__card_count);
  ws_status status =
      ws_fail(diag, WS_USAGE, NULL, 0,
              "the simulator knows no card '%s'%s%s%s; there are %s, and "
              "profiles of your own as FILE.json",
              name, nearest ? " (did you mean " : "", nearest ? nearest : "",
              nearest ? "?)" : "", list.data);
  ws_strbuf_deinit(&list);
  return status;
}

static bool is_file(const char *name) {
  static const char ending[] = ".json";
  const size_t size = strlen(name), end = sizeof ending - 1;
  return strchr(name, '/') ||
         (size > end && !strcmp(name + size - end, ending));
}

ws_status ws__card_find(const char *name, int depth, ws_arena *arena,
                        const ws_sim_card **out_card, ws_diag *diag) {
  *out_card = NULL;
  if (is_file(name))
    return ws__card_read(name, depth, arena, out_card, diag);
  for (int i = 0; i < ws__card_count; i++)
    if (!strcasecmp(ws__cards[i].name, name)) {
      *out_card = build(&ws__cards[i], arena);
      return WS_OK;
    }
  return unknown(name, diag);
}

ws_status ws_sim_card_find(const char *name, ws_arena *arena,
                           const ws_sim_card **out_card, ws_diag *diag) {
  return ws__card_find(name && name[0] ? name : ws__cards[0].name, 0, arena,
                       out_card, diag);
}
