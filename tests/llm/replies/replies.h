/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the tests of replies share: parsing that must succeed or fail, and a
 * template's metadata without its IR.
 */
#ifndef WAVESMITH_TEST_REPLIES_H
#define WAVESMITH_TEST_REPLIES_H

#include "wavesmith/llm.h"
#include "ws_test.h"

static inline ws_reply parse_as(ws_arena *arena, ws_request_kind kind,
                                const char *text) {
  ws_reply reply;
  ws_diag diag = {""};
  if (ws_reply_parse(arena, text, kind, &reply, &diag) != WS_OK)
    WS_FAIL("refused: %s\n%s", diag.text, text);
  return reply;
}

static inline ws_reply parse(ws_arena *arena, const char *text) {
  return parse_as(arena, WS_REQUEST_EXPLOIT, text);
}

/* Refused with one line that has these words. */
static inline void refuse_as(ws_request_kind kind, const char *text,
                             const char *words) {
  ws_arena *arena = ws_arena_create();
  ws_reply reply;
  ws_diag diag = {""};
  if (ws_reply_parse(arena, text, kind, &reply, &diag) != WS_INPUT)
    WS_FAIL("accepted, want \"%s\": %s", words, text);
  WS_CHECK_CONTAINS(diag.text, words);
  WS_CHECK(!strchr(diag.text, '\n'));
  ws_arena_destroy(arena);
}

static inline void refuse(const char *text, const char *words) {
  refuse_as(WS_REQUEST_EXPLOIT, text, words);
}

static inline void check_claim(const ws_reply *reply, int index,
                               const char *what, double low, double high) {
  WS_CHECK(index < reply->claim_count);
  WS_CHECK_TEXT(reply->claims[index].what, what);
  WS_CHECK_NEAR(reply->claims[index].low, low, 1e-12);
  WS_CHECK_NEAR(reply->claims[index].high, high, 1e-12);
}

/* Not inlined: gcc 12 would warn of a dangling pointer that there is not. */
static __attribute__((noinline, unused)) char *read_source(ws_arena *arena,
                                                           const char *path) {
  char *text;
  size_t size;
  ws_diag diag;
  const char *whole =
      ws_arena_printf(arena, "%s/%s", getenv("WS_SOURCE_DIR"), path);
  if (ws_file_read(arena, whole, &text, &size, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return text;
}

#define OPERANDS(...)                                                          \
  (const char *const[]){__VA_ARGS__},                                          \
      sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)

/* Regions decode (variant decode_integer) and dot; parameters tile_m, tile_n:
 * what ir-templates/fp8_gemm_naive.ll declares, written down here. */
static inline const ws_template *naive_template(ws_arena *arena) {
  const ws_record items[] = {
      {"template", OPERANDS("naive", "1", "p", "gfx942", "x"), 1},
      {"param", OPERANDS("tile_m", "g1", "16 32", "x", "16"), 2},
      {"param", OPERANDS("tile_n", "g2", "16 32 64", "x", "16"), 3},
      {"region", OPERANDS("decode", "x"), 4},
      {"region", OPERANDS("dot", "x"), 5},
      {"variant", OPERANDS("decode", "decode_integer", "x"), 6},
      {"launch", OPERANDS("f", "m", "n", "1", "64", "1", "a b c"), 7}};
  const ws_records records = {items, sizeof items / sizeof items[0]};
  const ws_template *tmpl;
  ws_diag diag;
  if (ws_template_from_records(arena, &records, "naive.ll",
                               ws_hash_bytes("", 0), &tmpl, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return tmpl;
}

#endif
