/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Any text as a model's reply of each kind. What is refused says why; what is
 * accepted keeps the promises of llm.h and can be applied to a candidate,
 * whose regions' texts are cut out of the same bytes.
 */
#include "fuzz.h"
#include "wavesmith/llm.h"

#define OPERANDS(...)                                                          \
  (const char *const[]){__VA_ARGS__},                                          \
      sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)

static const ws_template *make_template(ws_arena *arena) {
  const ws_record items[] = {
      {"template", OPERANDS("t", "1", "p", "gfx942", "x"), 1},
      {"param", OPERANDS("tile_m", "g1", "16 32", "x", "16"), 2},
      {"region", OPERANDS("decode", "x"), 3},
      {"region", OPERANDS("dot", "x"), 4},
      {"variant", OPERANDS("decode", "decode_integer", "x"), 5},
      {"launch", OPERANDS("f", "m", "n", "1", "64", "1", "a b c"), 6}};
  const ws_records records = {items, sizeof items / sizeof items[0]};
  const ws_template *tmpl;
  FUZZ_CHECK(ws_template_from_records(arena, &records, "fuzz.ll",
                                      ws_hash_bytes("", 0), &tmpl,
                                      NULL) == WS_OK);
  return tmpl;
}

static void check_code(const ws_reply_region *code) {
  FUZZ_CHECK(code->line > 0);
  FUZZ_CHECK(!code->body == (code->edit_count > 0));
  FUZZ_CHECK(!code->body || !strcmp(code->language, "ir") ||
             !strcmp(code->language, "opencl") ||
             !strcmp(code->language, "hip"));
  for (int i = 0; i < code->edit_count; i++) {
    const ws_reply_edit *edit = &code->edits[i];
    FUZZ_CHECK(*edit->search);
    FUZZ_CHECK(edit->first_line || strcmp(edit->search, edit->replace));
    FUZZ_CHECK(edit->first_line <= edit->last_line);
  }
}

static void check_regions(const ws_reply *reply) {
  for (int i = 0; i < reply->region_count; i++) {
    const ws_reply_region *region = &reply->regions[i];
    FUZZ_CHECK(*region->region);
    check_code(region);
    for (int k = 0; k < i; k++)
      FUZZ_CHECK(strcmp(reply->regions[k].region, region->region));
  }
}

static void check_promises(const ws_reply *reply, ws_request_kind kind) {
  check_regions(reply);
  if (reply->template_code)
    check_code(reply->template_code);
  for (int i = 0; i < reply->claim_count; i++)
    FUZZ_CHECK(reply->claims[i].low <= reply->claims[i].high);
  for (int i = 0; i < reply->experiment_count; i++)
    FUZZ_CHECK(*reply->experiments[i].title &&
               *reply->experiments[i].description &&
               reply->experiments[i].gain_low > 0);
  if (!ws_request_is_document(kind))
    FUZZ_CHECK(*reply->parameters || reply->region_count ||
               reply->template_code);
  FUZZ_CHECK(kind != WS_REQUEST_SELECT || (*reply->base && *reply->reference));
  FUZZ_CHECK(kind != WS_REQUEST_DESIGN || reply->experiment_count);
  FUZZ_CHECK(kind != WS_REQUEST_DISTIL || *reply->findings);
  FUZZ_CHECK(!strchr(reply->name, '\n'));
}

/* The same bytes are the template, too. */
static const char *make_text(ws_arena *arena, const ws_reply *reply,
                             const char *text) {
  ws_diag diag = {""};
  const char *made = text, *language;
  if (!reply->template_code)
    return text;
  ws_status status =
      ws_reply_template_text(arena, reply, text, &made, &language, &diag);
  FUZZ_CHECK_REFUSAL(status, diag);
  FUZZ_CHECK(status != WS_OK || reply->template_code->body ||
             strcmp(made, text));
  return status == WS_OK ? made : NULL;
}

static void apply(ws_arena *arena, const ws_reply *reply, const char *before) {
  ws_candidate *parent = ws_candidate_create(arena, make_template(arena));
  ws_candidate *child;
  ws_diag diag = {""};
  const char *text = make_text(arena, reply, before);
  if (!text)
    return;
  if (reply->template_code)
    parent = ws_reply_template_parent(arena, reply, parent, before,
                                      parent->tmpl, text);
  ws_status status = ws_reply_apply(arena, reply, parent, text, &child, &diag);
  FUZZ_CHECK_REFUSAL(status, diag);
  if (status != WS_OK)
    return;
  ws_hash id = child->id;
  ws_candidate_update_id(child);
  FUZZ_CHECK(!strcmp(id.hex, child->id.hex));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (int kind = 0; kind < WS_REQUEST_COUNT; kind++) {
    ws_arena *arena = ws_arena_create();
    char *text = ws_arena_alloc(arena, size + 1);
    if (size)
      memcpy(text, data, size);
    ws_reply reply;
    ws_diag diag = {""};
    ws_status status =
        ws_reply_parse(arena, text, (ws_request_kind)kind, &reply, &diag);
    FUZZ_CHECK_REFUSAL(status, diag);
    if (status == WS_OK) {
      check_promises(&reply, (ws_request_kind)kind);
      apply(arena, &reply, text);
    }
    ws_arena_destroy(arena);
  }
  return 0;
}
