/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith tune` and `wavesmith archive` as a user meets them: exit codes by
 * DESIGN section 13, one line on stderr for an error, JSON that parses. The
 * compile server is the fake one, so nothing here has times.
 */
#include "landscape.h"
#include "ws_test.h"

#include <cjson/cJSON.h>
#include <ftw.h>
#include <signal.h>

typedef struct desk {
  ws_arena *arena;
  char *folder;
} desk;

static desk make_desk(void) {
  desk d = {.arena = ws_arena_create()};
  char folder[] = "/tmp/ws-tools-XXXXXX";
  WS_CHECK(mkdtemp(folder) && chdir(folder) == 0);
  d.folder = ws_arena_strdup(d.arena, folder);
  FILE *file = fopen("t.ll", "wb");
  WS_CHECK(file && fputs(LANDSCAPE, file) >= 0);
  fclose(file);
  WS_CHECK(getenv("WS_FAKE_COMPILER") && getenv("WS_PROGRAM"));
  setenv("WAVESMITH_COMPILER", getenv("WS_FAKE_COMPILER"), 1);
  return d;
}

static int remove_one(const char *path, const struct stat *info, int flag,
                      struct FTW *walk) {
  (void)info, (void)flag, (void)walk;
  return remove(path);
}

static void free_desk(desk *d) {
  WS_CHECK(chdir("/") == 0 && !strncmp(d->folder, "/tmp/ws-tools-", 14));
  nftw(d->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  ws_arena_destroy(d->arena);
}

static char *read_file(desk *d, const char *name) {
  char *data;
  size_t size;
  ws_diag diag;
  if (ws_file_read(d->arena, name, &data, &size, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return data;
}

/* Exit code of a shell command. */
static int shell(const char *command) {
  FILE *pipe = popen(command, "r");
  WS_CHECK(pipe);
  int status = pclose(pipe);
  WS_CHECK(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/* Runs `wavesmith ARGUMENTS`; its output lies in the files out and err. */
static int run(desk *d, const char *arguments) {
  return shell(ws_arena_printf(d->arena, "'%s' %s >out 2>err",
                               getenv("WS_PROGRAM"), arguments));
}

static void run_ok(desk *d, const char *arguments) {
  int code = run(d, arguments);
  if (code != 0)
    WS_FAIL("`%s` gives %d: %s", arguments, code, read_file(d, "err"));
}

static void run_fails(desk *d, const char *arguments, int want,
                      const char *part) {
  int code = run(d, arguments);
  char *text = read_file(d, "err");
  if (code != want)
    WS_FAIL("`%s` gives %d, want %d: %s", arguments, code, want, text);
  WS_CHECK_CONTAINS(text, part);
  char *newline = strchr(text, '\n');
  if (!newline || newline[1])
    WS_FAIL("`%s` says more than a line: %s", arguments, text);
}

WS_TEST(errors) {
  static const struct {
    const char *arguments;
    int code;
    const char *part;
  } cases[] = {
      {"tune", 2, "one template file"},
      {"tune a b", 2, "one template file"},
      {"tune t.ll --bogus", 2, "'--bogus' is unknown"},
      {"tune t.ll --seed", 2, "'--seed' lacks its value"},
      {"tune t.ll --evaluation 3", 2, "is --evaluations meant?"},
      {"tune t.ll --json=1", 2, "'--json' takes no value"},
      {"tun", 2, "is 'tune' meant?"},
      {"tune t.ll --seed -1", 2, "--seed '-1'"},
      {"tune t.ll --minutes 0", 2, "--minutes '0'"},
      {"tune t.ll --minutes nan", 2, "--minutes 'nan'"},
      {"tune t.ll --evaluations 0", 2, "--evaluations '0'"},
      {"tune t.ll --workers many", 2, "--workers 'many'"},
      {"tune t.ll --strategy luck", 2, "unknown strategy 'luck'"},
      {"tune t.ll --layout x", 2, "no layout 'x'"},
      {"tune t.ll --shapes x", 2, "no shape set 'x'"},
      {"tune t.ll --shapes 0,16,128", 2, "is no shape m,n,k"},
      {"tune t.ll --shapes 16,16,100", 1, "k"},
      {"tune t.ll --shapes k=100,m=16,n=16", 1, "k"},
      {"tune t.ll --shapes m=16,n=16,l=128", 2, "is no shape m,n,k"},
      {"tune none.ll", 1, "none.ll"},
      {"tune t.ll --archive t.ll", 1, "not a wavesmith archive"},
      {"tune t.ll --archive no/such/a.db", 3, "no/such/a.db"},
      {"archive", 2, "wanted is ls DB"},
      {"archive ls", 2, "wanted is ls DB"},
      {"archive eat a.db", 2, "wanted is ls DB"},
      {"archive show a.db", 2, "wanted is ls DB"},
      {"archive ls a.db --limit x", 2, "--limit 'x'"},
      {"archive ls a.db --verdict nice", 2, "'nice' is not a verdict"},
      {"archive ls none.db", 1, "no such archive"},
      {"archive ls t.ll", 1, "not a wavesmith archive"},
      {"archive import a.db nowhere", 1, "nowhere/manifest.json"},
  };
  desk d = make_desk();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    run_fails(&d, cases[i].arguments, cases[i].code, cases[i].part);
  setenv("WAVESMITH_COMPILER", "/nowhere/server", 1);
  run_fails(&d, "tune t.ll", 3, "/nowhere/server");
  free_desk(&d);
}

static cJSON *last_json(desk *d) {
  char *text = read_file(d, "out"), *line = text;
  cJSON *json = NULL;
  while (*line) { /* every line is JSON */
    char *end = strchr(line, '\n');
    WS_CHECK(end);
    *end = '\0';
    cJSON_Delete(json);
    json = cJSON_Parse(line);
    if (!json)
      WS_FAIL("not JSON: %s", line);
    line = end + 1;
  }
  return json;
}

static int number(const cJSON *json, const char *key) {
  const cJSON *item = cJSON_GetObjectItem(json, key);
  WS_CHECK(cJSON_IsNumber(item));
  return item->valueint;
}

WS_TEST(tune_then_look) {
  desk d = make_desk();
  run_ok(&d, "tune t.ll --evaluations 40 --archive a.db --json");
  cJSON *json = last_json(&d);
  WS_CHECK_TEXT(cJSON_GetObjectItem(json, "event")->valuestring, "result");
  WS_CHECK_INT(number(json, "evaluated"), 40);
  WS_CHECK_INT(cJSON_GetArraySize(cJSON_GetObjectItem(json, "shapes")), 18);
  cJSON_Delete(json);
  run_ok(&d, "tune t.ll --evaluations 40 --archive a.db");
  WS_CHECK_CONTAINS(read_file(&d, "out"), "40 known from the archive");
  WS_CHECK_CONTAINS(read_file(&d, "out"), "a larger --evaluations");
  WS_CHECK_CONTAINS(read_file(&d, "out"), "(40 candidates for kmajor)");
  WS_CHECK_CONTAINS(read_file(&d, "err"), "40 known");
  run_ok(&d, "archive ls a.db --limit 3 --json");
  json = last_json(&d);
  const cJSON *list = cJSON_GetObjectItem(json, "candidates");
  WS_CHECK_INT(cJSON_GetArraySize(list), 3);
  const char *id =
      cJSON_GetObjectItem(cJSON_GetArrayItem(list, 0), "id")->valuestring;
  run_ok(&d, ws_arena_printf(d.arena, "archive show a.db %.12s", id));
  WS_CHECK_CONTAINS(read_file(&d, "out"), id);
  run_ok(&d, ws_arena_printf(d.arena, "archive export a.db text %s", id));
  run_ok(&d, "archive import b.db text");
  WS_CHECK_CONTAINS(read_file(&d, "out"), "imported 1");
  run_ok(&d, ws_arena_printf(d.arena, "archive show b.db %s --json", id));
  cJSON *shown = last_json(&d);
  WS_CHECK_TEXT(cJSON_GetObjectItem(shown, "id")->valuestring, id);
  cJSON_Delete(shown);
  cJSON_Delete(json);
  run_fails(&d, "archive show a.db ffffffffffff", 1, "no candidate");
  /* The fake server reports no facts, so nothing has times. */
  run_fails(&d, "archive export a.db other", 1, "no candidate of that kind");
  free_desk(&d);
}

WS_TEST(interrupted) {
  desk d = make_desk();
  setenv("FAKE_DELAY_US", "10000", 1);
  int code = shell(ws_arena_printf(
      d.arena,
      "'%s' tune t.ll --minutes 1 --archive a.db >out 2>err & p=$!; sleep 0.7; "
      "kill -TERM $p; wait $p",
      getenv("WS_PROGRAM")));
  WS_CHECK_INT(code, 128 + SIGTERM); /* not 0: a script must see it */
  WS_CHECK_CONTAINS(read_file(&d, "err"),
                    "interrupted, resume with the same command");
  WS_CHECK_CONTAINS(read_file(&d, "out"), "the same command again");
  run_ok(&d, "archive ls a.db");
  free_desk(&d);
}

WS_TEST(help) {
  desk d = make_desk();
  run_ok(&d, "tune --help");
  WS_CHECK_CONTAINS(read_file(&d, "out"), "usage: wavesmith tune TEMPLATE");
  run_ok(&d, "archive --help");
  WS_CHECK_CONTAINS(read_file(&d, "out"), "usage: wavesmith archive ls");
  free_desk(&d);
}
