/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * exchange:DIR as whoever answers meets it: files, in every state that they
 * can be in.
 */
#include "fake_provider.h"
#include "ws_test_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

typedef struct desk {
  ws_arena *arena;
  char *folder;
  ws_llm *llm;
} desk;

static desk make_desk(void) {
  desk d = {.arena = ws_arena_create()};
  d.folder = ws_arena_printf(d.arena, "%s/a/b", ws_test_directory());
  const char *spec = ws_arena_printf(d.arena, "exchange:%s", d.folder);
  d.llm = fake_open(&spec, 1);
  return d;
}

static void free_desk(desk *d) {
  ws_llm_close(d->llm);
  ws_arena_destroy(d->arena);
}

static char *path_of(desk *d, const char *name) {
  return ws_arena_printf(d->arena, "%s/%s", d->folder, name);
}

/* Makes a file seem seconds old. */
static void age(desk *d, const char *name, int seconds) {
  struct timespec times[2];
  clock_gettime(CLOCK_REALTIME, &times[0]);
  times[0].tv_sec -= seconds;
  times[1] = times[0];
  WS_CHECK(utimensat(AT_FDCWD, path_of(d, name), times, 0) == 0);
}

static void write_aged(desk *d, const char *name, const char *text,
                       int seconds) {
  FILE *file = fopen(path_of(d, name), "wb");
  WS_CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
  age(d, name, seconds);
}

static void ask(desk *d, const ws_llm_question *question) {
  ws_diag diag = {""};
  if (ws_llm_ask(d->llm, 0, question, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
}

static bool take(desk *d, ws_llm_answer *out) {
  bool found;
  WS_CHECK_INT(ws_llm_take(d->llm, d->arena, &found, out, NULL), WS_OK);
  return found;
}

static char *read_file(desk *d, const char *name) {
  char *data;
  size_t size;
  ws_diag diag = {""};
  if (ws_file_read(d->arena, path_of(d, name), &data, &size, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return data;
}

#define PROMPT "000012-exploit.prompt.md"
#define REPLY "000012-exploit.reply.md"

WS_TEST(a_question_is_a_file) {
  desk d = make_desk();
  ws_llm_question question = fake_question(12);
  ask(&d, &question);
  char *prompt = read_file(&d, PROMPT);
  WS_CHECK_CONTAINS(prompt, REPLY);
  WS_CHECK_CONTAINS(prompt, "# System\n\nbe good\n");
  WS_CHECK_CONTAINS(prompt, "# Question\n\ndo it\nnow\n");
  WS_CHECK_CONTAINS(read_file(&d, "README.md"), "NNNNNN-KIND.reply.md");
  ws_llm_answer answer;
  WS_CHECK(!take(&d, &answer));
  write_aged(&d, REPLY, "the answer\n", 5);
  WS_CHECK(take(&d, &answer));
  WS_CHECK_TEXT(answer.text, "the answer\n");
  WS_CHECK_TEXT(answer.error, "");
  WS_CHECK_INT(answer.sequence, 12);
  WS_CHECK_INT(answer.prompt_tokens, (7 + 9) / 4);
  WS_CHECK_INT(answer.reply_tokens, 11 / 4);
  WS_CHECK(!take(&d, &answer));
  WS_CHECK(ws_file_exists(path_of(&d, REPLY)));
  free_desk(&d);
}

WS_TEST(a_readme_that_is_there_stays) {
  desk d = make_desk();
  write_aged(&d, "README.md", "mine", 0);
  ws_llm_close(d.llm);
  const char *spec = ws_arena_printf(d.arena, "exchange:%s", d.folder);
  d.llm = fake_open(&spec, 1);
  WS_CHECK_TEXT(read_file(&d, "README.md"), "mine");
  free_desk(&d);
}

WS_TEST(several_are_answered_in_any_order) {
  desk d = make_desk();
  ws_llm_answer answer;
  for (int i = 0; i < 4; i++) {
    ws_llm_question question = fake_question(i);
    ask(&d, &question);
  }
  const int order[] = {3, 0, 2, 1}; /* the last, the first, in between */
  for (int i = 0; i < 4; i++) {
    write_aged(&d, ws_arena_printf(d.arena, "%06d-exploit.reply.md", order[i]),
               "x", 5);
    WS_CHECK(take(&d, &answer));
    WS_CHECK_INT(answer.sequence, order[i]);
  }
  ws_llm_question question = fake_question(9);
  ask(&d, &question); /* and one is left open */
  WS_CHECK(!take(&d, &answer));
  free_desk(&d);
}

/* A reply of before counts, if it answers the same prompt. */
WS_TEST(a_run_is_resumed) {
  desk d = make_desk();
  ws_llm_answer answer;
  ws_llm_question question = fake_question(12);
  ask(&d, &question);
  ws_llm_close(d.llm);
  write_aged(&d, REPLY, "from before", 100);
  const char *spec = ws_arena_printf(d.arena, "exchange:%s", d.folder);
  d.llm = fake_open(&spec, 1);
  ask(&d, &question);
  WS_CHECK(take(&d, &answer));
  WS_CHECK_TEXT(answer.text, "from before");
  question.user = "another one";
  setenv("WAVESMITH_LOG", "error", 1);
  ask(&d, &question);
  WS_CHECK(!take(&d, &answer));
  WS_CHECK(!ws_file_exists(path_of(&d, REPLY)));
  WS_CHECK_TEXT(read_file(&d, REPLY ".old-1"), "from before");
  WS_CHECK_CONTAINS(read_file(&d, PROMPT), "another one");
  free_desk(&d);
}

/* One that lies there before anything was asked counts too. */
WS_TEST(a_reply_may_wait_for_its_prompt) {
  desk d = make_desk();
  ws_llm_answer answer;
  ws_llm_question question = fake_question(12);
  write_aged(&d, REPLY, "early", 5);
  ask(&d, &question);
  WS_CHECK(take(&d, &answer));
  WS_CHECK_TEXT(answer.text, "early");
  free_desk(&d);
}

WS_TEST(a_file_counts_when_it_has_settled) {
  desk d = make_desk();
  ws_llm_answer answer;
  ws_llm_question question = fake_question(12);
  ask(&d, &question);
  write_aged(&d, REPLY, "half", 0);
  double begin = ws_clock_ms();
  WS_CHECK(!take(&d, &answer));
  usleep(600000);
  WS_CHECK(!take(&d, &answer));
  write_aged(&d, REPLY, "half and half", 0);
  while (!take(&d, &answer))
    usleep(20000);
  WS_CHECK_TEXT(answer.text, "half and half");
  double waited = ws_clock_ms() - begin;
  WS_CHECK(waited > 1550 && waited < 4000);
  free_desk(&d);
}

/* A clock that is ahead (of a network's file system) does not block it. */
WS_TEST(a_file_of_the_future_settles_too) {
  desk d = make_desk();
  ws_llm_answer answer;
  ws_llm_question question = fake_question(12);
  ask(&d, &question);
  write_aged(&d, REPLY, "later", -1000);
  double begin = ws_clock_ms();
  while (!take(&d, &answer))
    usleep(20000);
  WS_CHECK(ws_clock_ms() - begin > 950);
  free_desk(&d);
}

/* `program <prompt >reply` makes the file at once and fills it much later. */
WS_TEST(an_open_file_is_waited_for) {
  desk d = make_desk();
  ws_llm_answer answer;
  ws_llm_question question = fake_question(12);
  ask(&d, &question);
  write_aged(&d, REPLY, "", 5);
  int writer = open(path_of(&d, REPLY), O_WRONLY | O_APPEND);
  WS_CHECK(writer >= 0);
  int reader = open(path_of(&d, REPLY), O_RDONLY);
  bool has_leases = fcntl(reader, F_SETLEASE, F_RDLCK) != 0 && errno == EAGAIN;
  close(reader);
  if (!has_leases)
    WS_SKIP("no leases on this file system");
  WS_CHECK(!take(&d, &answer));
  WS_CHECK(write(writer, "done", 4) == 4);
  close(writer);
  while (!take(&d, &answer))
    usleep(20000);
  WS_CHECK_TEXT(answer.text, "done");
  free_desk(&d);
}

static void answered_with_error(desk *d, const char *part) {
  ws_llm_answer answer;
  WS_CHECK(take(d, &answer));
  WS_CHECK_TEXT(answer.text, "");
  WS_CHECK_CONTAINS(answer.error, part);
}

WS_TEST(replies_that_are_none) {
  desk d = make_desk();
  ws_llm_question question = fake_question(12);
  ask(&d, &question);
  write_aged(&d, REPLY, "", 5);
  answered_with_error(&d, "empty reply");
  ask(&d, &question);
  write_aged(&d, REPLY, " \n\t\n", 5);
  answered_with_error(&d, "empty reply");
  WS_CHECK(unlink(path_of(&d, REPLY)) == 0 &&
           mkdir(path_of(&d, REPLY), 0777) == 0);
  ask(&d, &question);
  answered_with_error(&d, "not a regular file");
  WS_CHECK(rmdir(path_of(&d, REPLY)) == 0 &&
           mkfifo(path_of(&d, REPLY), 0666) == 0);
  ask(&d, &question);
  answered_with_error(&d, "not a regular file");
  WS_CHECK(unlink(path_of(&d, REPLY)) == 0 &&
           symlink(REPLY, path_of(&d, REPLY)) == 0);
  ask(&d, &question);
  answered_with_error(&d, "cannot open the reply file");
  free_desk(&d);
}

WS_TEST(a_reply_is_bounded_text) {
  desk d = make_desk();
  ws_llm_close(d.llm);
  const char *spec = ws_arena_printf(d.arena, "exchange:%s", d.folder);
  ws_llm_options options = fake_options(&spec, 1);
  options.reply_bytes = 8;
  WS_CHECK_INT(ws_llm_open(&options, &d.llm, NULL), WS_OK);
  ws_llm_question question = fake_question(12);
  ask(&d, &question);
  write_aged(&d, REPLY, "12345678", 5);
  ws_llm_answer answer;
  WS_CHECK(take(&d, &answer));
  WS_CHECK_TEXT(answer.text, "12345678");
  ask(&d, &question);
  write_aged(&d, REPLY, "123456789", 5);
  answered_with_error(&d, "has 9 bytes; the limit is 8");
  ask(&d, &question);
  FILE *file = fopen(path_of(&d, REPLY), "wb");
  WS_CHECK(file && fwrite("a\0b", 1, 3, file) == 3 && fclose(file) == 0);
  age(&d, REPLY, 5);
  answered_with_error(&d, "NUL byte");
  free_desk(&d);
}

WS_TEST(a_folder_that_cannot_be_written) {
  desk d = make_desk();
  ws_llm_question question = fake_question(12);
  ws_diag diag = {""};
  WS_CHECK(mkdir(path_of(&d, PROMPT), 0777) == 0);
  WS_CHECK_INT(ws_llm_ask(d.llm, 0, &question, &diag), WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, PROMPT);
  free_desk(&d);
}
