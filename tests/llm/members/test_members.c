/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The facade: members, the way of questions and answers, budgets.
 */
#include "fake_provider.h"
#include "ws_test.h"

static const char *const two[] = {"openai:http://a/v1#x;price=10/20",
                                  "gemini:#y;weight=3"};

static void ask(ws_llm *llm, int member, int64_t sequence) {
  ws_llm_question question = fake_question(sequence);
  ws_diag diag = {""};
  if (ws_llm_ask(llm, member, &question, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
}

static bool take(ws_llm *llm, ws_arena *arena, ws_llm_answer *out) {
  bool found;
  ws_diag diag = {""};
  if (ws_llm_take(llm, arena, &found, out, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return found;
}

static void open_fails(const ws_llm_options *options, ws_status want,
                       const char *part) {
  ws_llm *llm;
  ws_diag diag = {""};
  WS_CHECK_INT(ws_llm_open(options, &llm, &diag), want);
  WS_CHECK(!llm);
  WS_CHECK_CONTAINS(diag.text, part);
}

WS_TEST(members_are_as_specified) {
  const char *const specs[] = {two[0], two[1], "builtin", two[0]};
  ws_llm *llm = fake_open(specs, 4);
  WS_CHECK_INT(ws_llm_member_count(llm), 4);
  WS_CHECK_TEXT(ws_llm_member_at(llm, 0)->name, "openai:x");
  WS_CHECK_NEAR(ws_llm_member_at(llm, 0)->usd_out, 20, 0);
  WS_CHECK_NEAR(ws_llm_member_at(llm, 1)->weight, 3, 0);
  WS_CHECK(ws_llm_member_at(llm, 1)->usd_in < 0);
  WS_CHECK(ws_llm_is_builtin(llm, 2) && !ws_llm_is_builtin(llm, 1));
  WS_CHECK_TEXT(ws_llm_member_at(llm, 3)->name, "openai:x (2)");
  WS_CHECK_NEAR(fakes[0].options.request_seconds, 300, 0);
  WS_CHECK_NEAR(fakes[0].options.total_seconds, 900, 0);
  WS_CHECK_INT(fakes[0].options.retries, 4);
  WS_CHECK_INT(fakes[0].options.reply_bytes, 4 << 20);
  ws_llm_close(llm);
  WS_CHECK(fakes[0].destroyed && fakes[1].destroyed && fakes[2].destroyed);
}

WS_TEST(what_cannot_be_opened) {
  const char *const unknown[] = {two[0], "nobody:x"};
  const char *const mixed[] = {two[0], "replay:/nowhere"};
  const char *const mixed_first[] = {"replay:/nowhere", two[0]};
  const char *const no_key[] = {two[0], "anthropic:#m"};
  const char *const no_file[] = {"replay:/nowhere/at/all"};
  const char *const no_folder[] = {"exchange:/proc/no/such"};
  ws_llm_options options = fake_options(unknown, 2);
  open_fails(&options, WS_USAGE, "unknown provider");
  WS_CHECK(fakes[0].destroyed);
  options = fake_options(mixed, 2);
  open_fails(&options, WS_USAGE, "must be the only model");
  options = fake_options(mixed_first, 2);
  open_fails(&options, WS_USAGE, "must be the only model");
  options = fake_options(no_key, 2);
  open_fails(&options, WS_ENVIRONMENT, "no key");
  options = fake_options(no_file, 1);
  open_fails(&options, WS_INPUT, "/nowhere/at/all");
  options = fake_options(no_folder, 1);
  open_fails(&options, WS_ENVIRONMENT, "/proc/no");
  options = fake_options(NULL, 0);
  open_fails(&options, WS_USAGE, "0 models");
}

WS_TEST(answers_come_with_their_member_and_cost) {
  ws_arena *arena = ws_arena_create();
  ws_llm *llm = fake_open(two, 2);
  ws_llm_answer answer;
  WS_CHECK(!take(llm, arena, &answer));
  ask(llm, 0, 7);
  ask(llm, 1, 8);
  WS_CHECK(!take(llm, arena, &answer));
  WS_CHECK_INT(fakes[0].last.sequence, 7);
  WS_CHECK_TEXT(fakes[1].user, "do it\nnow");
  fake_answer(1, 8, 100, 50);
  WS_CHECK(take(llm, arena, &answer));
  WS_CHECK_INT(answer.sequence, 8);
  WS_CHECK_INT(answer.member, 1);
  WS_CHECK_NEAR(answer.usd, 0, 0); /* price unknown */
  fake_answer(0, 7, 1000, 500);
  WS_CHECK(take(llm, arena, &answer));
  WS_CHECK_INT(answer.member, 0);
  WS_CHECK_NEAR(answer.usd, 0.01 + 0.01, 1e-15); /* 1000 x 10, 500 x 20 */
  ws_llm_spent spent = ws_llm_spent_so_far(llm);
  WS_CHECK_INT(spent.questions, 2);
  WS_CHECK_INT(spent.prompt_tokens, 1100);
  WS_CHECK_INT(spent.reply_tokens, 550);
  WS_CHECK_NEAR(spent.usd, 0.02, 1e-15);
  WS_CHECK_TEXT(spent.exhausted, "");
  ws_llm_close(llm);
  ws_arena_destroy(arena);
}

/* A member that always has an answer does not keep the others waiting. */
WS_TEST(every_member_has_its_turn) {
  ws_arena *arena = ws_arena_create();
  ws_llm *llm = fake_open(two, 2);
  ws_llm_answer answer;
  for (int i = 0; i < 10; i++) {
    ask(llm, 0, i);
    fake_answer(0, i, 0, 0);
    WS_CHECK(take(llm, arena, &answer));
  }
  WS_CHECK(fakes[1].polled >= 9);
  ws_llm_close(llm);
  ws_arena_destroy(arena);
}

WS_TEST(one_sequence_is_open_once) {
  ws_arena *arena = ws_arena_create();
  ws_llm *llm = fake_open(two, 2);
  ws_llm_question question = fake_question(5);
  ws_llm_answer answer;
  ws_diag diag = {""};
  ask(llm, 0, 5);
  WS_CHECK_INT(ws_llm_ask(llm, 1, &question, &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "question 5");
  fake_answer(0, 5, 1, 1);
  WS_CHECK(take(llm, arena, &answer));
  ask(llm, 1, 5);
  ws_llm_close(llm); /* with one in flight */
  ws_arena_destroy(arena);
}

WS_TEST(token_budget_ends_the_questions) {
  ws_arena *arena = ws_arena_create();
  ws_llm_options options = fake_options(two, 2);
  options.token_budget = 1000;
  ws_llm *llm;
  ws_llm_answer answer;
  WS_CHECK_INT(ws_llm_open(&options, &llm, NULL), WS_OK);
  ask(llm, 0, 1);
  ask(llm, 1, 2);
  fake_answer(0, 1, 600, 399);
  WS_CHECK(take(llm, arena, &answer));
  WS_CHECK_TEXT(ws_llm_spent_so_far(llm).exhausted, "");
  ask(llm, 0, 3);
  fake_answer(0, 3, 1, 0);
  WS_CHECK(take(llm, arena, &answer));
  WS_CHECK_CONTAINS(ws_llm_spent_so_far(llm).exhausted,
                    "token budget of 1000 is spent");
  ask(llm, 0, 4); /* not sent */
  WS_CHECK_INT(fakes[0].asked, 2);
  WS_CHECK(take(llm, arena, &answer));
  WS_CHECK_INT(answer.sequence, 4);
  WS_CHECK_INT(answer.member, 0);
  WS_CHECK_TEXT(answer.text, "");
  WS_CHECK_CONTAINS(answer.error, "token budget of 1000");
  fake_answer(1, 2, 50, 50); /* was in flight, may finish */
  WS_CHECK(take(llm, arena, &answer));
  WS_CHECK_TEXT(answer.text, "reply");
  WS_CHECK_INT(ws_llm_spent_so_far(llm).questions, 3);
  WS_CHECK_INT(ws_llm_spent_so_far(llm).prompt_tokens, 651);
  ws_llm_close(llm);
  ws_arena_destroy(arena);
}

WS_TEST(money_budget_ends_the_questions) {
  ws_arena *arena = ws_arena_create();
  ws_llm_options options = fake_options(two, 2);
  options.usd_budget = 0.02;
  ws_llm *llm;
  ws_llm_answer answer;
  WS_CHECK_INT(ws_llm_open(&options, &llm, NULL), WS_OK);
  ask(llm, 1, 1);
  fake_answer(1, 1, 1000000, 1000000); /* no price */
  WS_CHECK(take(llm, arena, &answer));
  WS_CHECK_TEXT(ws_llm_spent_so_far(llm).exhausted, "");
  ask(llm, 0, 2);
  fake_answer(0, 2, 1000, 501);
  WS_CHECK(take(llm, arena, &answer));
  WS_CHECK_CONTAINS(ws_llm_spent_so_far(llm).exhausted, "0.02 USD");
  ws_llm_close(llm);
  ws_arena_destroy(arena);
}

WS_TEST(budget_0_asks_nothing) {
  ws_arena *arena = ws_arena_create();
  for (int money = 0; money < 2; money++) {
    ws_llm_options options = fake_options(two, 1);
    *(money ? &options.usd_budget : &(double){0}) = 0;
    options.token_budget = money ? -1 : 0;
    ws_llm *llm;
    ws_llm_answer answer;
    WS_CHECK_INT(ws_llm_open(&options, &llm, NULL), WS_OK);
    WS_CHECK(*ws_llm_spent_so_far(llm).exhausted);
    ask(llm, 0, 1);
    WS_CHECK(take(llm, arena, &answer));
    WS_CHECK_CONTAINS(answer.error, "budget");
    WS_CHECK_INT(fakes[money].asked, 0);
    WS_CHECK_INT(ws_llm_spent_so_far(llm).questions, 0);
    ws_llm_close(llm);
  }
  ws_arena_destroy(arena);
}

WS_TEST(builtin_answers_no_questions) {
  ws_arena *arena = ws_arena_create();
  const char *const specs[] = {"builtin"};
  ws_llm *llm = fake_open(specs, 1);
  ws_llm_answer answer;
  ask(llm, 0, 1);
  WS_CHECK(take(llm, arena, &answer));
  WS_CHECK_CONTAINS(answer.error, "built-in");
  ws_llm_close(llm);
  ws_arena_destroy(arena);
}

/* Halves are told apart, and the hash is SHA-256 of both with their ends:
 * printf 'a\0b\0' | sha256sum. */
WS_TEST(prompt_hash) {
  ws_hash hash = ws_llm_prompt_hash("a", "b");
  WS_CHECK_TEXT(hash.hex, "8fb20ef63ced4145fc2e983ffe597d1d");
  WS_CHECK(strcmp(ws_llm_prompt_hash("ab", "").hex, hash.hex));
  WS_CHECK(strcmp(ws_llm_prompt_hash("", "ab").hex, hash.hex));
}
