/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Fifty questions to a real llama-server whose model is noise, through the
 * facade: whole and streamed, short and as long as prompts get, four in
 * flight. Run by with_server.sh, which sets LLAMA_URL.
 */
#include "ws_test.h"

#include "wavesmith/llm.h"

enum { QUESTIONS = 50, IN_FLIGHT = 4, LONG_PROMPT = 40000 };

static const char *server_url(void) {
  const char *url = getenv("LLAMA_URL");
  if (!url)
    WS_SKIP("LLAMA_URL is not set; run by with_server.sh");
  return url;
}

static ws_llm *open_llm(const char *const *specs, int count) {
  ws_llm_options options = {.specs = specs,
                            .spec_count = count,
                            .request_seconds = 100,
                            .total_seconds = 110,
                            .retries = 1,
                            .token_budget = -1,
                            .usd_budget = -1};
  ws_llm *llm;
  ws_diag diag;
  if (ws_llm_open(&options, &llm, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return llm;
}

/* Code-like text of about `size` bytes that differs by its number. */
static const char *prompt(ws_arena *arena, int number, size_t size) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_strbuf_printf(&text, "Candidate %d. Improve this kernel.\n", number);
  while (text.size < size)
    ws_strbuf_printf(&text, "  %%x%zu = fadd float %%a, %%b\n", text.size);
  const char *copy = ws_arena_strdup(arena, text.data);
  ws_strbuf_deinit(&text);
  return copy;
}

static ws_llm_answer take(ws_llm *llm, ws_arena *arena) {
  ws_llm_answer answer;
  ws_diag diag;
  for (bool found = false; !found; usleep(1000))
    WS_CHECK(ws_llm_take(llm, arena, &found, &answer, &diag) == WS_OK);
  return answer;
}

static void ask(ws_llm *llm, ws_arena *arena, int number, size_t size) {
  ws_llm_question question = {.kind = WS_REQUEST_EXPLOIT,
                              .sequence = number,
                              .system = "You write LLVM IR for a GPU.",
                              .user = prompt(arena, number, size)};
  ws_diag diag;
  WS_CHECK(ws_llm_ask(llm, number % ws_llm_member_count(llm), &question,
                      &diag) == WS_OK);
}

/* One token of the noise model can be its end: an empty reply is possible. */
static void check_answer(const ws_llm_answer *answer, int *texts,
                         int *cut_off) {
  WS_CHECK((*answer->text == 0) != (*answer->error == 0));
  WS_CHECK(!strchr(answer->error, '\n'));
  WS_CHECK_INT(answer->attempts, 1);
  WS_CHECK(answer->prompt_tokens > 0 && answer->reply_tokens > 0);
  WS_CHECK(answer->reply_tokens <= 32);
  WS_CHECK(!answer->cut_off || answer->reply_tokens == 32);
  if (*answer->error)
    WS_CHECK_CONTAINS(answer->error, "the reply is empty");
  *texts += *answer->text != 0;
  *cut_off += answer->cut_off;
}

WS_TEST(fifty_questions) {
  ws_arena *arena = ws_arena_create();
  const char *url = server_url();
  const char *const specs[] = {
      ws_arena_printf(arena, "openai:%s#noise;max-reply-tokens=32", url),
      ws_arena_printf(arena, "openai:%s#noise;stream;max-reply-tokens=32", url),
      ws_arena_printf(
          arena, "openai:%s#noise;temperature=1.5;max-reply-tokens=32", url)};
  ws_llm *llm = open_llm(specs, 3);
  int asked = 0, taken = 0, texts = 0, cut_off = 0;
  int64_t tokens = 0;
  double start = ws_clock_ms();
  bool seen[QUESTIONS] = {false};
  while (taken < QUESTIONS) {
    for (; asked < QUESTIONS && asked - taken < IN_FLIGHT; asked++)
      ask(llm, arena, asked, asked % 25 == 24 ? LONG_PROMPT : 200);
    ws_llm_answer answer = take(llm, arena);
    WS_CHECK(answer.sequence >= 0 && answer.sequence < QUESTIONS &&
             !seen[answer.sequence]);
    seen[answer.sequence] = true;
    check_answer(&answer, &texts, &cut_off);
    tokens += answer.prompt_tokens + answer.reply_tokens;
    taken++;
  }
  ws_llm_spent spent = ws_llm_spent_so_far(llm);
  WS_CHECK_INT(spent.questions, QUESTIONS);
  WS_CHECK_INT(spent.prompt_tokens + spent.reply_tokens, tokens);
  WS_CHECK(texts >= QUESTIONS / 2 && cut_off >= QUESTIONS / 2);
  printf("# %d questions, %d texts, %lld tokens, %.1f s\n", taken, texts,
         (long long)tokens, (ws_clock_ms() - start) / 1000);
  ws_llm_close(llm);
  ws_arena_destroy(arena);
}

/* The context has 65536 tokens; this prompt is more than it holds. */
WS_TEST(a_prompt_beyond_the_context_is_one_line) {
  ws_arena *arena = ws_arena_create();
  const char *const specs[] = {
      ws_arena_printf(arena, "openai:%s#noise", server_url())};
  ws_llm *llm = open_llm(specs, 1);
  ask(llm, arena, 0, 400000);
  ws_llm_answer answer = take(llm, arena);
  WS_CHECK_TEXT(answer.text, "");
  WS_CHECK_CONTAINS(answer.error, "HTTP 400");
  WS_CHECK_CONTAINS(answer.error, "context");
  WS_CHECK(!strchr(answer.error, '\n'));
  ws_llm_close(llm);
  ws_arena_destroy(arena);
}

WS_TEST(a_path_that_is_not_there) {
  ws_arena *arena = ws_arena_create();
  const char *const specs[] = {
      ws_arena_printf(arena, "openai:%s/v2#noise", server_url())};
  ws_llm *llm = open_llm(specs, 1);
  ask(llm, arena, 0, 100);
  ws_llm_answer answer = take(llm, arena);
  WS_CHECK_CONTAINS(answer.error,
                    "HTTP 404; no model 'noise', or no such path");
  ws_llm_close(llm);
  ws_arena_destroy(arena);
}
