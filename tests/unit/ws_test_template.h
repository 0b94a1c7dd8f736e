/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Templates for tests, written as text: one record a line, operands between
 * bars, the line number counted from 1.
 *   "template|name|1|problem|gfx942|purpose\n"
 *   "param|tile_m|ws.tile_m|16 32|rows of a tile|16\n"
 */
#ifndef WAVESMITH_WS_TEST_TEMPLATE_H
#define WAVESMITH_WS_TEST_TEMPLATE_H

#include "wavesmith/template.h"
#include "ws_test.h"

enum { WS_TEST_RECORDS_MAX = 512, WS_TEST_OPERANDS_MAX = 16 };

static ws_records ws_test_records(ws_arena *arena, const char *text) {
  ws_record *items = ws_arena_alloc(arena, WS_TEST_RECORDS_MAX * sizeof *items);
  int count = 0;
  for (int line = 1; *text; line++) {
    size_t size = strcspn(text, "\n");
    char *copy = ws_arena_strndup(arena, text, size);
    text += size + (text[size] == '\n');
    if (!*copy)
      continue;
    const char **operands =
        ws_arena_alloc(arena, WS_TEST_OPERANDS_MAX * sizeof *operands);
    ws_record *record = &items[count++];
    *record = (ws_record){.kind = strsep(&copy, "|"), .line = line};
    while (copy)
      operands[record->operand_count++] = strsep(&copy, "|");
    record->operands = operands;
  }
  return (ws_records){items, count};
}

static ws_status ws_test_read(ws_arena *arena, const char *text,
                              const ws_template **out, ws_diag *diag) {
  ws_records records = ws_test_records(arena, text);
  return ws_template_from_records(arena, &records, "gemm.ll",
                                  ws_hash_bytes("template text", 13), out,
                                  diag);
}

__attribute__((unused)) static const ws_template *
ws_test_template(ws_arena *arena, const char *text) {
  const ws_template *tmpl;
  ws_diag diag = {""};
  if (ws_test_read(arena, text, &tmpl, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return tmpl;
}

#endif
