/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Replays through the facade: the recorded answer for the recorded prompt,
 * and one clear line when a run has left its recording.
 */
#include "fake_provider.h"
#include "ws_test_directory.h"

/* 0 and 2 are of member 1, 2 without the text of its prompt; 41 is the last. */
static char *write_recording(ws_arena *arena) {
  static const ws_llm_member members[] = {{"builtin", 1, -1, -1},
                                          {"openai:q", 2, 3, 15}};
  ws_hash hash = ws_llm_prompt_hash("be good", "do it\nnow");
  ws_recorded items[3];
  for (int i = 0; i < 3; i++)
    items[i] = (ws_recorded){.sequence = i == 2 ? 41 : 2 * i,
                             .kind = "exploit",
                             .member = i == 2 ? 0 : 1,
                             .prompt_hash = hash.hex,
                             .reply = ws_arena_printf(arena, "reply %d", i),
                             .error = "",
                             .system = i == 1 ? NULL : "be good",
                             .user = i == 1 ? NULL : "do it\nnow",
                             .prompt_tokens = 10,
                             .reply_tokens = 20,
                             .usd = 0.25,
                             .seconds = 2};
  const ws_recording recording = {members, 2, items, 3};
  char *path = ws_arena_printf(arena, "%s/r.jsonl", ws_test_directory());
  WS_CHECK_INT(ws_recording_write(path, &recording, NULL), WS_OK);
  return path;
}

static ws_llm *open_replay(ws_arena *arena, const char *provider) {
  const char *spec =
      ws_arena_printf(arena, "%s:%s", provider, write_recording(arena));
  return fake_open(&spec, 1);
}

static void asking_fails(ws_llm *llm, int member,
                         const ws_llm_question *question, const char *part) {
  ws_diag diag = {""};
  WS_CHECK_INT(ws_llm_ask(llm, member, question, &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "r.jsonl: ");
  WS_CHECK_CONTAINS(diag.text, part);
}

static ws_llm_answer answer_of(ws_llm *llm, ws_arena *arena, int member,
                               const ws_llm_question *question) {
  ws_llm_answer answer;
  ws_diag diag = {""};
  bool found;
  if (ws_llm_ask(llm, member, question, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK_INT(ws_llm_take(llm, arena, &found, &answer, &diag), WS_OK);
  WS_CHECK(found);
  WS_CHECK_INT(answer.sequence, question->sequence);
  WS_CHECK_INT(answer.member, member);
  return answer;
}

WS_TEST(stands_for_the_recorded_members) {
  ws_arena *arena = ws_arena_create();
  ws_llm *llm = open_replay(arena, "replay");
  WS_CHECK_INT(ws_llm_member_count(llm), 2);
  WS_CHECK(ws_llm_is_builtin(llm, 0) && !ws_llm_is_builtin(llm, 1));
  WS_CHECK_TEXT(ws_llm_member_at(llm, 1)->name, "openai:q");
  WS_CHECK_NEAR(ws_llm_member_at(llm, 1)->weight, 2, 0);
  WS_CHECK_NEAR(ws_llm_member_at(llm, 1)->usd_out, 15, 0);
  ws_llm_close(llm);
  ws_arena_destroy(arena);
}

WS_TEST(the_recorded_prompt_has_the_recorded_answer) {
  ws_arena *arena = ws_arena_create();
  ws_llm *llm = open_replay(arena, "replay");
  ws_llm_question question = fake_question(2);
  ws_llm_answer answer = answer_of(llm, arena, 1, &question);
  WS_CHECK_TEXT(answer.text, "reply 1");
  WS_CHECK_TEXT(answer.error, "");
  WS_CHECK_INT(answer.prompt_tokens, 10);
  WS_CHECK_NEAR(answer.usd, 0.25, 0); /* as recorded, not from the price */
  WS_CHECK_NEAR(answer.seconds, 2, 0);
  question = fake_question(0);
  WS_CHECK_TEXT(answer_of(llm, arena, 1, &question).text, "reply 0");
  WS_CHECK_NEAR(ws_llm_spent_so_far(llm).usd, 0.5, 0);
  ws_llm_close(llm);
  ws_arena_destroy(arena);
}

WS_TEST(another_prompt_is_refused) {
  ws_arena *arena = ws_arena_create();
  ws_llm *llm = open_replay(arena, "replay");
  ws_llm_question question = fake_question(0);
  question.user = "do it\nlater";
  asking_fails(llm, 1, &question,
               "sequence 0 (exploit): the user part of the prompt differs from "
               "the recorded one, first in line 2: recorded \"now\", now "
               "\"later\"");
  question.user = "do it";
  asking_fails(llm, 1, &question, "in line 1: recorded \"do it\"");
  question.user = "do it\nnow\n";
  asking_fails(llm, 1, &question, "in line 2");
  question = fake_question(0);
  question.system = "";
  asking_fails(llm, 1, &question,
               "the system part of the prompt differs from the recorded one, "
               "first in line 1: recorded \"be good\", now \"\"");
  question.sequence = 2; /* the prompt was not recorded */
  asking_fails(llm, 1, &question,
               "sequence 2 (exploit): the prompt is not the "
               "recorded one");
  question = fake_question(0);
  question.kind = WS_REQUEST_EXPLORE;
  asking_fails(llm, 1, &question, "of kind exploit, asked is explore");
  question = fake_question(0);
  asking_fails(llm, 0, &question, "an answer of openai:q, asked is builtin");
  ws_llm_close(llm);
  ws_arena_destroy(arena);
}

WS_TEST(long_lines_are_shown_where_they_differ) {
  ws_arena *arena = ws_arena_create();
  char lines[2][2001] = {{0}};
  memset(lines[0], 'a', 2000);
  memcpy(lines[1], lines[0], 2001);
  lines[1][1500] = 'X';
  const ws_llm_member member = {"a", 1, -1, -1};
  ws_hash hash = ws_llm_prompt_hash("", lines[0]);
  const ws_recorded item = {.sequence = 1,
                            .kind = "exploit",
                            .prompt_hash = hash.hex,
                            .reply = "",
                            .error = "",
                            .system = "",
                            .user = lines[0]};
  const ws_recording recording = {&member, 1, &item, 1};
  char *path = ws_arena_printf(arena, "%s/r.jsonl", ws_test_directory());
  WS_CHECK_INT(ws_recording_write(path, &recording, NULL), WS_OK);
  const char *spec = ws_arena_printf(arena, "replay:%s", path);
  ws_llm *llm = fake_open(&spec, 1);
  ws_llm_question question = {WS_REQUEST_EXPLOIT, 1, "", lines[1], 0};
  asking_fails(llm, 0, &question, "now \"...aaaaaaaaaaaaaaaaaaaaXaaa");
  ws_llm_close(llm);
  ws_arena_destroy(arena);
}

WS_TEST(a_missing_sequence) {
  ws_arena *arena = ws_arena_create();
  ws_llm *llm = open_replay(arena, "replay");
  ws_llm_question question = fake_question(42);
  asking_fails(llm, 1, &question,
               "the recording ends at 41; sequence 42 (exploit) was asked");
  question = fake_question(1);
  asking_fails(llm, 1, &question, "sequence 1 (exploit) is not in the");
  ws_llm_close(llm);
  llm = open_replay(arena, "replay-any");
  question.ordinal = 1000;
  ws_llm_answer answer = answer_of(llm, arena, 1, &question);
  WS_CHECK_TEXT(answer.text, "");
  WS_CHECK_CONTAINS(answer.error, "ends after answer 3; sequence 1 (exploit) was");
  ws_llm_close(llm);
  ws_arena_destroy(arena);
}

WS_TEST(replay_any_takes_any_prompt) {
  ws_arena *arena = ws_arena_create();
  ws_llm *llm = open_replay(arena, "replay-any");
  ws_llm_question question = fake_question(0);
  question.user = "something else";
  question.kind = WS_REQUEST_WRITE;
  WS_CHECK_TEXT(answer_of(llm, arena, 0, &question).text, "reply 0");
  /* Sequences may differ, as small moves stand between questions. */
  question = fake_question(17);
  question.ordinal = 2;
  WS_CHECK_TEXT(answer_of(llm, arena, 0, &question).text, "reply 2");
  ws_llm_close(llm);
  ws_arena_destroy(arena);
}

/* 10,000 questions open at once, then answered: no wait, no quadratic cost. */
WS_TEST(ten_thousand_answers) {
  enum { COUNT = 10000 };
  ws_arena *arena = ws_arena_create();
  const ws_llm_member member = {"a", 1, -1, -1};
  ws_hash hash = ws_llm_prompt_hash("be good", "do it\nnow");
  ws_recorded *items = ws_arena_alloc(arena, sizeof *items * COUNT);
  for (int i = 0; i < COUNT; i++)
    items[i] = (ws_recorded){.sequence = 3 * i,
                             .kind = "exploit",
                             .prompt_hash = hash.hex,
                             .reply = ws_arena_printf(arena, "%d", i),
                             .error = ""};
  const ws_recording recording = {&member, 1, items, COUNT};
  char *path = ws_arena_printf(arena, "%s/r.jsonl", ws_test_directory());
  WS_CHECK_INT(ws_recording_write(path, &recording, NULL), WS_OK);
  const char *spec = ws_arena_printf(arena, "replay:%s", path);
  ws_llm *llm = fake_open(&spec, 1);
  double begin = ws_clock_ms();
  for (int i = 0; i < COUNT; i++) {
    ws_llm_question question = fake_question(3 * (COUNT - 1 - i));
    WS_CHECK_INT(ws_llm_ask(llm, 0, &question, NULL), WS_OK);
  }
  for (int i = 0; i < COUNT; i++) {
    ws_llm_answer answer;
    bool found;
    WS_CHECK_INT(ws_llm_take(llm, arena, &found, &answer, NULL), WS_OK);
    WS_CHECK(found);
    WS_CHECK_INT(answer.sequence, 3 * (COUNT - 1 - i));
    WS_CHECK_INT(strtol(answer.text, NULL, 10), COUNT - 1 - i);
  }
  printf("# %d answers in %.0f ms\n", COUNT, ws_clock_ms() - begin);
  WS_CHECK(ws_clock_ms() - begin < 60000);
  ws_llm_close(llm);
  ws_arena_destroy(arena);
}
