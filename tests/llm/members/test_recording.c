/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Recordings: what is written is read back, what is not one is refused with
 * file and line.
 */
#include "recording.h"
#include "ws_test_directory.h"

#define HASH "00112233445566778899aabbccddeeff"
#define HEADER                                                                 \
  "{\"wavesmith_recording\":1,\"members\":[{\"name\":\"a\",\"weight\":1}]}\n"
/* An item with these values for sequence and member, and room for more. */
#define ITEM(sequence, member, more)                                           \
  "{\"sequence\":" sequence ",\"kind\":\"exploit\",\"member\":" member         \
  ",\"prompt_hash\":\"" HASH "\",\"reply\":\"r\",\"error\":\"\","              \
  "\"prompt_tokens\":1,\"reply_tokens\":2,\"usd\":0.5,\"seconds\":1.25" more   \
  "}\n"

static ws_status parse(ws_arena *arena, const char *text, ws_recording *out,
                       ws_diag *diag) {
  return ws__recording_parse(arena, text, strlen(text), "r.jsonl", out, diag);
}

WS_TEST(hand_written_lines_are_read) {
  ws_arena *arena = ws_arena_create();
  ws_recording recording;
  ws_diag diag = {""};
  const char *text =
      "{\"members\":[{\"name\":\"openai:q\",\"weight\":2.5,\"usd_in\":3,"
      "\"usd_out\":15},{\"name\":\"builtin\",\"weight\":1}],"
      "\"wavesmith_recording\":1}\r\n" ITEM(
          "3", "1", ",\"system\":\"s\",\"user\":\"line\\nline\"")
          ITEM("41", "0", "");
  if (parse(arena, text, &recording, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK_INT(recording.member_count, 2);
  WS_CHECK_TEXT(recording.members[0].name, "openai:q");
  WS_CHECK_NEAR(recording.members[0].weight, 2.5, 0);
  WS_CHECK_NEAR(recording.members[0].usd_in, 3, 0);
  WS_CHECK_NEAR(recording.members[0].usd_out, 15, 0);
  WS_CHECK(recording.members[1].usd_in < 0);
  WS_CHECK_INT(recording.count, 2);
  const ws_recorded *item = &recording.items[0];
  WS_CHECK_INT(item->sequence, 3);
  WS_CHECK_TEXT(item->kind, "exploit");
  WS_CHECK_INT(item->member, 1);
  WS_CHECK_TEXT(item->prompt_hash, HASH);
  WS_CHECK_TEXT(item->reply, "r");
  WS_CHECK_TEXT(item->error, "");
  WS_CHECK_TEXT(item->system, "s");
  WS_CHECK_TEXT(item->user, "line\nline");
  WS_CHECK_INT(item->prompt_tokens, 1);
  WS_CHECK_INT(item->reply_tokens, 2);
  WS_CHECK_NEAR(item->usd, 0.5, 0);
  WS_CHECK_NEAR(item->seconds, 1.25, 0);
  WS_CHECK(!recording.items[1].system && !recording.items[1].user);
  ws_arena_destroy(arena);
}

static const struct refusal {
  const char *text, *part;
} refusals[] = {
    {"", "r.jsonl:1: an empty file"},
    {"\n", "r.jsonl:1: not one JSON object"},
    {"[1]\n", "r.jsonl:1: not a JSON object"},
    {"{}\n", "r.jsonl:1: not a recording"},
    {ITEM("1", "0", ""), "r.jsonl:1: not a recording"},
    {"{\"wavesmith_recording\":2,\"members\":[]}\n", "r.jsonl:1: a recording "
                                                     "of version 2"},
    {"{\"wavesmith_recording\":1}\n", "r.jsonl:1: 'members' is missing"},
    {"{\"wavesmith_recording\":1,\"members\":[]}\n", "r.jsonl:1: 0 members"},
    {"{\"wavesmith_recording\":1,\"members\":[3]}\n", "must be an object"},
    {"{\"wavesmith_recording\":1,\"members\":[{\"name\":\"\",\"weight\":1}]}",
     "name is empty"},
    {"{\"wavesmith_recording\":1,\"members\":[{\"name\":\"a\",\"weight\":0}]}",
     "must be above 0"},
    {"{\"wavesmith_recording\":1,\"x\":1,\"members\":[]}", "unknown key 'x'"},
    {HEADER "\n" ITEM("1", "0", ""), "r.jsonl:2: not one JSON object"},
    {HEADER ITEM("1", "0", "") "{\"sequence\":2", "r.jsonl:3: not one JSON"},
    {HEADER ITEM("1", "0", ",\"extra\":1"), "r.jsonl:2: unknown key 'extra'"},
    {HEADER ITEM("1", "0", ",\"usd\":1"), "r.jsonl:2: 'usd' is there twice"},
    {HEADER ITEM("1", "0", ",\"system\":3"), "r.jsonl:2: 'system' must be a "
                                             "string"},
    {HEADER ITEM("1", "1", ""), "r.jsonl:2: member 1, but the first line "
                                "names 1"},
    {HEADER ITEM("1", "-1", ""), "r.jsonl:2: 'member' must not be negative"},
    {HEADER ITEM("1.5", "0", ""), "r.jsonl:2: 'sequence' must be an integer"},
    {HEADER ITEM("2", "0", "") ITEM("2", "0", ""), "r.jsonl:3: sequence 2 "
                                                   "after 2"},
    {HEADER ITEM("2", "0", "") ITEM("1", "0", ""), "r.jsonl:3: sequence 1 "
                                                   "after 2"},
    {HEADER HEADER, "r.jsonl:2: unknown key 'wavesmith_recording'"},
    {HEADER "{\"sequence\":1,\"kind\":\"guess\"}", "r.jsonl:2: unknown kind"},
    {HEADER "{\"sequence\":1,\"kind\":\"exploit\",\"member\":0,"
            "\"prompt_hash\":\"0011\"}",
     "32 lower-case hexadecimal digits"},
};

WS_TEST(refusals_name_file_and_line) {
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    ws_arena *arena = ws_arena_create();
    ws_recording recording;
    ws_diag diag = {""};
    if (parse(arena, refusals[i].text, &recording, &diag) != WS_INPUT)
      WS_FAIL("accepted: %s", refusals[i].text);
    WS_CHECK_CONTAINS(diag.text, refusals[i].part);
    ws_arena_destroy(arena);
  }
}

static bool same_text(const char *a, const char *b) {
  return a && b ? !strcmp(a, b) : a == b;
}

WS_TEST(what_is_written_is_read) {
  ws_arena *arena = ws_arena_create();
  const ws_llm_member members[] = {{"exchange", 1, -1, -1},
                                   {"openai:q", 0.1, 0.1, 1e-7}};
  const ws_recorded items[] = {
      {.sequence = 0,
       .kind = "design",
       .prompt_hash = HASH,
       .reply = "tabs\t, \"quotes\", \xc3\xa9, \xff, \x01 and\r\nlines\n",
       .error = "",
       .system = "",
       .member = 1,
       .prompt_tokens = 9007199254740992,
       .usd = 1.0 / 3,
       .seconds = 1e-9},
      {.sequence = 7,
       .kind = "exploit",
       .prompt_hash = HASH,
       .reply = "",
       .error = "time-out",
       .user = "u"}};
  const ws_recording recording = {members, 2, items, 2};
  ws_recording got;
  ws_diag diag = {""};
  char *path = ws_arena_printf(arena, "%s/r", ws_test_directory());
  WS_CHECK_INT(ws_recording_write(path, &recording, &diag), WS_OK);
  if (ws_recording_read(arena, path, &got, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK_INT(got.member_count, 2);
  WS_CHECK_INT(got.count, 2);
  for (int i = 0; i < 2; i++) {
    const ws_recorded *a = &items[i], *b = &got.items[i];
    WS_CHECK_TEXT(got.members[i].name, members[i].name);
    WS_CHECK(got.members[i].weight == members[i].weight);
    WS_CHECK(got.members[i].usd_in == members[i].usd_in);
    WS_CHECK(got.members[i].usd_out == members[i].usd_out);
    WS_CHECK(a->sequence == b->sequence && a->member == b->member);
    WS_CHECK(same_text(a->kind, b->kind) && same_text(a->reply, b->reply));
    WS_CHECK(same_text(a->prompt_hash, b->prompt_hash));
    WS_CHECK(same_text(a->error, b->error));
    WS_CHECK(same_text(a->system, b->system) && same_text(a->user, b->user));
    WS_CHECK(a->prompt_tokens == b->prompt_tokens && a->usd == b->usd);
    WS_CHECK(a->reply_tokens == b->reply_tokens && a->seconds == b->seconds);
  }
  ws_arena_destroy(arena);
}

WS_TEST(items_out_of_order_are_not_written) {
  ws_arena *arena = ws_arena_create();
  const ws_llm_member member = {"a", 1, -1, -1};
  const ws_recorded item = {.sequence = 2,
                            .kind = "exploit",
                            .prompt_hash = HASH,
                            .reply = "",
                            .error = ""};
  const ws_recorded items[] = {item, item};
  const ws_recording recording = {&member, 1, items, 2};
  ws_diag diag = {""};
  char *path = ws_arena_printf(arena, "%s/r", ws_test_directory());
  WS_CHECK_INT(ws_recording_write(path, &recording, &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "2 comes after 2");
  WS_CHECK(!ws_file_exists(path));
  ws_arena_destroy(arena);
}
