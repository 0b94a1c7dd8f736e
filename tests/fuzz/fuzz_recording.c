/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Any text as a recording, and as the spec of a member. A
 * recording that is accepted is in order, finds each of its items, and is
 * written and read again as the same text.
 */
#include "fuzz.h"
#include "recording.h"
#include "spec.h"

static void print(const ws_recording *recording, ws_strbuf *out) {
  ws_strbuf_init(out);
  FUZZ_CHECK(ws__recording_print(out, recording, NULL) == WS_OK);
}

static void check_accepted(ws_arena *arena, const ws_recording *recording) {
  ws_recording again;
  ws_strbuf first, second;
  for (int i = 0; i < recording->count; i++) {
    const ws_recorded *item = &recording->items[i];
    FUZZ_CHECK(item->member < recording->member_count);
    FUZZ_CHECK(ws__recording_find(recording, item->sequence) == item);
  }
  print(recording, &first);
  FUZZ_CHECK(ws__recording_parse(arena, first.data, first.size, "again",
                                 &again, NULL) == WS_OK);
  print(&again, &second);
  FUZZ_CHECK(!strcmp(first.data, second.data));
  ws_strbuf_deinit(&first);
  ws_strbuf_deinit(&second);
}

static void check_spec(ws_arena *arena, const char *text) {
  ws_diag diag = {""};
  ws__spec spec;
  ws_status status = ws__spec_read(arena, text, &spec, &diag);
  FUZZ_CHECK_REFUSAL(status, diag);
  FUZZ_CHECK(status != WS_OK || *ws__spec_name(arena, &spec));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ws_arena *arena = ws_arena_create();
  ws_diag diag = {""};
  ws_recording recording;
  ws_status status = ws__recording_parse(arena, (const char *)data, size,
                                         "fuzz", &recording, &diag);
  FUZZ_CHECK_REFUSAL(status, diag);
  if (status == WS_OK)
    check_accepted(arena, &recording);
  check_spec(arena, ws_arena_strndup(arena, (const char *)data, size));
  ws_arena_destroy(arena);
  return 0;
}
