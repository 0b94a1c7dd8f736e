/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Checking replies in a session: each of a list is checked, then submitted. The
 * check must have foreseen what the submit says, and must leave the archive's
 * files as they were, byte for byte. Submits do not know of checks, so each is
 * the other's oracle; which verdicts have to occur follows from the fakes.
 */
#include "search_bench.h"

#include <signal.h>

enum { REPLIES = 40 };

static bench session_bench(const char *device) {
  bench b = make_bench(LANDSCAPE);
  b.options.strategy = "local"; /* not used */
  b.options.device = device;
  setenv("WAVESMITH_DEVICE_SERVER", getenv("WS_FAKE_DEVICE"), 1);
  unsetenv("FAKE_DEVICE_LOG");
  return b;
}

#define LAYOUT PARAM("layout", "0 1", "0")
#define TILES PARAM("tile_m", "16 32", "32") "," PARAM("tile_n", "16 32", "32")
#define GRID LAUNCH("ceildiv(m, tile_m) * ceildiv(n, tile_n)")
#define GROWN "[" HEAD("grown") "," LAYOUT "," TILES "," GRID "]"

/* Points that are the same again and again, some of them illegal; what is no
 * reply; whole templates, one of them of another target. */
static const char *make_reply(ws_arena *arena, int i) {
  static const int sizes[] = {16, 32, 64, 128, 256};
  static const char *const others[] = {
      "I have no idea.", "## parameters\ntile_m=17\n",
      "## parameters\nnothing=1\n", "## template\n```llvm\nno template\n```\n",
      "## parameters\ntile_m=256;tile_n=256\n"};
  if (i % 5 == 4)
    return others[i / 5 % 5];
  if (i > REPLIES / 2 && i % 8 == 6) /* of fewer parameters than the task's */
    return "## template\n```llvm\n" GROWN "\n```\n";
  return ws_arena_printf(arena, "## parameters\ntile_m=%d;tile_n=%d;pad=%d\n",
                         sizes[i % 3], sizes[i / 3 % 3], i % 2 ? 4 : 0);
}

static void bytes_of(bench *b, const char *suffix, char **out, size_t *size) {
  ws_diag diag;
  const char *path = ws_arena_printf(b->arena, "%s%s", b->archive, suffix);
  *size = 0;
  if (access(path, F_OK) == 0)
    WS_CHECK_INT(ws_file_read(b->arena, path, out, size, &diag), WS_OK);
}

typedef struct files {
  char *bytes[2];
  size_t sizes[2];
} files;

static files read_files(bench *b) {
  files f = {0};
  bytes_of(b, "", &f.bytes[0], &f.sizes[0]);
  bytes_of(b, "-wal", &f.bytes[1], &f.sizes[1]);
  WS_CHECK(f.sizes[0] + f.sizes[1] > 0);
  return f;
}

static bool same(const files *a, const files *b) {
  for (int i = 0; i < 2; i++)
    if (a->sizes[i] != b->sizes[i] ||
        (a->sizes[i] && memcmp(a->bytes[i], b->bytes[i], a->sizes[i])))
      return false;
  return true;
}

static ws_session_check check(bench *b, ws_session *session,
                              const char *reply) {
  ws_session_check result;
  ws_diag diag = {""};
  const files before = read_files(b);
  if (ws_session_check_reply(session, b->arena, WS_REQUEST_EXPLOIT, NULL, 0,
                             reply, &result, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  const files after = read_files(b);
  WS_CHECK(same(&before, &after));
  return result;
}

static ws_session_result submit(bench *b, ws_session *session,
                                const char *reply) {
  ws_session_result result;
  ws_diag diag = {""};
  if (ws_session_submit(session, b->arena, WS_REQUEST_EXPLOIT, NULL, 0, reply,
                        &result, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return result;
}

static bool ran(const ws_session_check *check, const char *stage) {
  for (int i = 0; i < check->stage_count; i++)
    if (!strcmp(check->stages[i], stage))
      return true;
  return false;
}

/* A time is needed to be slow, which a check does not take. */
static void foresees(const ws_session_check *check,
                     const ws_session_result *result) {
  WS_CHECK_TEXT(check->candidate_id, result->candidate_id);
  if (result->verdict == WS_VERDICT_SLOW) {
    WS_CHECK_INT(check->verdict, WS_VERDICT_OK);
    return;
  }
  WS_CHECK_INT(check->verdict, result->verdict);
  WS_CHECK_TEXT(check->stage, result->stage);
  WS_CHECK_TEXT(check->reason, result->reason);
}

/* Seen: verdicts; verdicts of the device. */
static void check_and_submit(bench *b, ws_session *session, int *seen,
                             int *by_device) {
  for (int i = 0; i < REPLIES; i++) {
    const char *reply = make_reply(b->arena, i);
    const ws_session_check foreseen = check(b, session, reply);
    const ws_session_check again = check(b, session, reply);
    const ws_session_result result = submit(b, session, reply);
    foresees(&foreseen, &result);
    foresees(&again, &result);
    WS_CHECK(ran(&foreseen, "reply"));
    seen[result.verdict]++;
    *by_device += !strcmp(result.stage, "device") && ran(&foreseen, "device");
  }
}

/* The archive knows them all by now, but not from this run, and has no times of
 * its shapes. */
static void check_known(bench *b) {
  int seen[WS_VERDICT_COUNT] = {0}, by_device = 0;
  b->options.seed = 2;
  b->options.shape_set = "512,1536,7168";
  ws_session *session = open_session(b);
  check_and_submit(b, session, seen, &by_device);
  WS_CHECK(seen[WS_VERDICT_OK] > 0);
  ws_session_close(session);
}

WS_TEST(a_check_foresees_a_submit) {
  bench b = session_bench(NULL);
  int seen[WS_VERDICT_COUNT] = {0}, by_device = 0;
  ws_session *session = open_session(&b);
  check_and_submit(&b, session, seen, &by_device);
  WS_CHECK(seen[WS_VERDICT_OK] > 2 && seen[WS_VERDICT_ILLEGAL] > 4 &&
           seen[WS_VERDICT_DUPLICATE] > 4);
  WS_CHECK_INT(by_device, 0);
  ws_session_close(session);
  check_known(&b);
  free_bench(&b);
}

WS_TEST(a_reply_keeps_the_layout_of_the_run) {
  static const char *const replies[] = {
      "## template\n```llvm\n" GROWN "\n```\n## parameters\nlayout=1\n",
      "## template\n```llvm\n" GROWN "\n```\n## parameters\nlayout=0\n"};
  bench b = session_bench(NULL);
  ws_session *session = open_session(&b);
  for (int i = 0; i < 2; i++) {
    ws_session_check result = check(&b, session, replies[i]);
    WS_CHECK_INT(result.verdict, i ? WS_VERDICT_OK : WS_VERDICT_ILLEGAL);
    WS_CHECK(i || strstr(result.reason, "layout=1 is not this run's"));
  }
  ws_session_close(session);
  free_bench(&b);
}

/* Ends the servers that this process has, and no new one lives. */
static void lose_device(void) {
  char path[64], text[400] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  FILE *file = fopen(path, "r");
  WS_CHECK(file && fgets(text, sizeof text, file));
  fclose(file);
  setenv("FAKE_DEVICE_DIES", "1", 1);
  setenv("WAVESMITH_LOG", "error", 1);
  for (char *at = text; *at && *at != '\n'; at++)
    kill((pid_t)strtol(at, &at, 10), SIGKILL);
}

WS_TEST(a_session_that_lost_its_device_says_so) {
  bench b = session_bench("sim");
  ws_session *session = open_session(&b);
  ws_session_result result;
  ws_diag diag;
  lose_device();
  for (int i = 0; i < 3; i++) { /* an error each time, and never a wait */
    WS_CHECK_INT(ws_session_submit(session, b.arena, WS_REQUEST_EXPLOIT, NULL,
                                   0, make_reply(b.arena, i + 1), &result,
                                   &diag),
                 WS_ENVIRONMENT);
    WS_CHECK(i == 0 || strstr(diag.text, "begin it again"));
  }
  ws_session_close(session);
  unsetenv("FAKE_DEVICE_DIES");
  session = open_session(&b);
  submit(&b, session, make_reply(b.arena, 1));
  ws_session_close(session);
  free_bench(&b);
}

/* Of the fake's code objects every second is wrong on the device. */
WS_TEST(a_check_verifies_on_the_device) {
  bench b = session_bench("sim");
  int seen[WS_VERDICT_COUNT] = {0}, by_device = 0;
  ws_session *session = open_session(&b);
  check_and_submit(&b, session, seen, &by_device);
  WS_CHECK(seen[WS_VERDICT_OK] + seen[WS_VERDICT_SLOW] > 1 &&
           seen[WS_VERDICT_WRONG] > 2);
  WS_CHECK(by_device > 2);
  ws_session_close(session);
  check_known(&b);
  free_bench(&b);
}

/* Recorded by estimates, and now met by a device that refutes some. */
WS_TEST(a_check_verifies_what_is_known_by_estimates) {
  bench b = session_bench(NULL);
  int seen[WS_VERDICT_COUNT] = {0}, by_device = 0;
  ws_session *session = open_session(&b);
  for (int i = 0; i < REPLIES; i++)
    submit(&b, session, make_reply(b.arena, i));
  ws_session_close(session);
  b.options.device = "sim";
  b.options.seed = 2;
  session = open_session(&b);
  check_and_submit(&b, session, seen, &by_device);
  WS_CHECK(seen[WS_VERDICT_WRONG] > 2 && by_device > 2);
  ws_session_close(session);
  free_bench(&b);
}

/* The device is asked to verify, and never for a time. */
WS_TEST(a_check_takes_no_time) {
  bench b = session_bench("sim");
  ws_session *session = open_session(&b);
  char *log = ws_arena_printf(b.arena, "%s/log", b.folder);
  ws_session_close(session);
  setenv("FAKE_DEVICE_LOG", log, 1);
  session = open_session(&b); /* nothing is asked anew */
  for (int i = 0; i < REPLIES; i++)
    check(&b, session, make_reply(b.arena, i));
  ws_session_close(session);
  char *text;
  size_t size;
  ws_diag diag;
  WS_CHECK_INT(ws_file_read(b.arena, log, &text, &size, &diag), WS_OK);
  WS_CHECK_CONTAINS(text, "verify ");
  WS_CHECK(!strstr(text, "time "));
  unsetenv("FAKE_DEVICE_LOG");
  free_bench(&b);
}

/* A run with checks in between draws what one without them draws. */
WS_TEST(a_check_leaves_the_run_as_it_was) {
  char *draws[2];
  for (int with = 0; with < 2; with++) {
    bench b = session_bench(NULL);
    ws_session *session = open_session(&b);
    for (int i = 0; i < REPLIES; i++) {
      if (with)
        check(&b, session, make_reply(b.arena, REPLIES - i));
      submit(&b, session, make_reply(b.arena, i));
    }
    draws[with] = strdup(
        query(&b, "SELECT sequence,verdict,stage,candidate_id,prompt_hash "
                  "FROM exchange ORDER BY sequence"));
    ws_session_close(session);
    free_bench(&b);
  }
  WS_CHECK_TEXT(draws[0], draws[1]);
  for (int i = 0; i < 2; i++)
    free(draws[i]);
}

WS_TEST(a_check_says_what_is_wrong_with_the_request) {
  bench b = session_bench(NULL);
  ws_session *session = open_session(&b);
  ws_session_check result;
  ws_diag diag = {""};
  const char *unknown = "feedface";
  WS_CHECK_INT(ws_session_check_reply(session, b.arena, WS_REQUEST_EXPLOIT,
                                      &unknown, 1, "## parameters\npad=4\n",
                                      &result, &diag),
               WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "feedface");
  result = check(&b, session, "## parameters\ntile_n=32\n");
  WS_CHECK_INT(result.verdict, WS_VERDICT_OK);
  WS_CHECK(ran(&result, "check") && ran(&result, "sanitize") &&
           ran(&result, "lower") && !ran(&result, "device"));
  WS_CHECK_INT(result.estimate_count, 4); /* the bench's shapes */
  for (int i = 0; i < 4; i++)
    WS_CHECK(result.estimates[i].us > 0);
  result = check(&b, session, "no reply");
  WS_CHECK_TEXT(result.stage, "reply");
  WS_CHECK_INT(result.stage_count, 1);
  WS_CHECK_INT(result.estimate_count, 0);
  ws_session_close(session);
  free_bench(&b);
}
