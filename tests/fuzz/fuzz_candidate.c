/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Any text as parameter values and as region variants of one template: the
 * first line is tried as values, the second as variants. What is refused
 * changes nothing; what is accepted can be written and read back.
 */
#include "fuzz.h"
#include "wavesmith/template.h"

#define OPERANDS(...)                                                          \
  (const char *const[]){__VA_ARGS__},                                          \
      sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)

static const ws_template *make_template(ws_arena *arena) {
  const ws_record items[] = {
      {"template", OPERANDS("t", "1", "p", "gfx942", "x"), 1},
      {"param", OPERANDS("tile_m", "g1", "16 32 128", "x", "32"), 2},
      {"param", OPERANDS("shift", "g2", "-8 0 8", "x", "0"), 3},
      {"region", OPERANDS("load", "x"), 4},
      {"variant", OPERANDS("load", "load_wide", "x"), 5},
      {"region", OPERANDS("store", "x"), 6},
      {"launch", OPERANDS("f", "m", "n", "1", "64", "1", "a b c"), 7}};
  const ws_records records = {items, sizeof items / sizeof items[0]};
  const ws_template *tmpl;
  FUZZ_CHECK(ws_template_from_records(arena, &records, "fuzz.ll",
                                      ws_hash_bytes("", 0), &tmpl,
                                      NULL) == WS_OK);
  return tmpl;
}

static void check(ws_arena *arena, ws_candidate *candidate, const char *text,
                  ws_status (*set)(ws_candidate *, const char *, ws_diag *),
                  char *(*write)(ws_arena *, const ws_candidate *)) {
  ws_hash before = candidate->id;
  ws_diag diag = {""};
  ws_status status = set(candidate, text, &diag);
  FUZZ_CHECK_REFUSAL(status, diag);
  ws_hash after = candidate->id;
  ws_candidate_update_id(candidate);
  FUZZ_CHECK(!strcmp(after.hex, candidate->id.hex));
  if (status != WS_OK)
    FUZZ_CHECK(!strcmp(before.hex, after.hex));
  FUZZ_CHECK(set(candidate, write(arena, candidate), &diag) == WS_OK);
  FUZZ_CHECK(!strcmp(after.hex, candidate->id.hex));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ws_arena *arena = ws_arena_create();
  char *values = ws_arena_alloc(arena, size + 1);
  if (size)
    memcpy(values, data, size);
  char *variants = strchr(values, '\n');
  if (variants)
    *variants++ = '\0';
  ws_candidate *candidate = ws_candidate_create(arena, make_template(arena));
  check(arena, candidate, values, ws_candidate_set, ws_candidate_values_text);
  if (variants)
    check(arena, candidate, variants, ws_candidate_set_variants,
          ws_candidate_variants_text);
  ws_arena_destroy(arena);
  return 0;
}
