/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A folder with a template of the landscape and an archive, and a tuning run
 * on them against the fake compile server.
 */
#ifndef WAVESMITH_TESTS_SEARCH_BENCH_H
#define WAVESMITH_TESTS_SEARCH_BENCH_H

#include "landscape.h"
#include "wavesmith/search.h"
#include "ws_test.h"

#include <ftw.h>
#include <sqlite3.h>

#define SHAPES "16,7168,2048;128,2048,7168;1024,4608,512;6144,576,7168"

typedef struct bench {
  ws_arena *arena;
  char *folder, *template_file, *archive;
  ws_tune_options options;
} bench;

static char *write_in(bench *b, const char *name, const char *text) {
  char *path = ws_arena_printf(b->arena, "%s/%s", b->folder, name);
  FILE *file = fopen(path, "wb");
  WS_CHECK(file && fputs(text, file) >= 0);
  fclose(file);
  return path;
}

static bench make_bench(const char *template_text) {
  bench b = {.arena = ws_arena_create()};
  char folder[] = "/tmp/ws-search-XXXXXX";
  WS_CHECK(mkdtemp(folder));
  b.folder = ws_arena_strdup(b.arena, folder);
  b.template_file = write_in(&b, "t.ll", template_text);
  b.archive = ws_arena_printf(b.arena, "%s/a.db", folder);
  const char *fake = getenv("WS_FAKE_COMPILER");
  WS_CHECK(fake);
  setenv("WAVESMITH_COMPILER", fake, 1);
  b.options = (ws_tune_options){.template_file = b.template_file,
                                .archive_path = b.archive,
                                .layout = "kmajor",
                                .shape_set = SHAPES,
                                .strategy = "local",
                                .seed = 1,
                                .evaluations = 150,
                                .workers = 2};
  return b;
}

static int remove_one(const char *path, const struct stat *info, int flag,
                      struct FTW *walk) {
  (void)info, (void)flag, (void)walk;
  return remove(path);
}

static void free_bench(bench *b) {
  WS_CHECK(!strncmp(b->folder, "/tmp/ws-search-", 15));
  nftw(b->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  ws_arena_destroy(b->arena);
}

__attribute__((unused)) static void remove_archive(bench *b) {
  unlink(b->archive);
  unlink(ws_arena_printf(b->arena, "%s-wal", b->archive));
  unlink(ws_arena_printf(b->arena, "%s-shm", b->archive));
}

__attribute__((unused)) static ws_tune_result tune(bench *b) {
  ws_tune_result result;
  ws_diag diag = {""};
  if (ws_tune(&b->options, b->arena, &result, &diag) != WS_OK)
    WS_FAIL("tune: %s", diag.text);
  return result;
}

__attribute__((unused)) static void tune_fails(bench *b, ws_status want,
                                               const char *part) {
  ws_tune_result result;
  ws_diag diag = {""};
  ws_status status = ws_tune(&b->options, b->arena, &result, &diag);
  if (status != want)
    WS_FAIL("tune gives %s: %s", ws_status_text(status), diag.text);
  WS_CHECK_CONTAINS(diag.text, part);
  WS_CHECK(!strchr(diag.text, '\n'));
}

__attribute__((unused)) static ws_session *open_session(bench *b) {
  ws_session *session;
  ws_diag diag = {""};
  if (ws_session_open(&b->options, &session, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return session;
}

/* ---- the archive as text ---- */
__attribute__((unused)) static char *query(bench *b, const char *sql) {
  sqlite3 *database;
  sqlite3_stmt *statement;
  WS_CHECK_INT(sqlite3_open(b->archive, &database), SQLITE_OK);
  if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
    WS_FAIL("%s: %s", sql, sqlite3_errmsg(database));
  ws_strbuf text;
  ws_strbuf_init(&text);
  while (sqlite3_step(statement) == SQLITE_ROW) {
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
      const char *value = (const char *)sqlite3_column_text(statement, i);
      ws_strbuf_printf(&text, "%s%s", i ? "|" : "", value ? value : "NULL");
    }
    ws_strbuf_puts(&text, "\n");
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
  char *copy = ws_arena_strndup(b->arena, text.data, text.size);
  ws_strbuf_deinit(&text);
  return copy;
}

/* All that does not depend on the time of day. */
__attribute__((unused)) static char *dump(bench *b) {
  return ws_arena_printf(
      b->arena, "%s%s%s%s%s",
      query(b, "SELECT * FROM candidate ORDER BY number"),
      query(b, "SELECT * FROM build ORDER BY candidate_id"),
      query(b, "SELECT * FROM measurement ORDER BY 1,2,3,4,5"),
      query(b, "SELECT hash,data FROM code_object ORDER BY 1"),
      query(b, "SELECT id,problem,layout,target,strategy,shape_set,settings,"
               "seed FROM run ORDER BY 1"));
}

/* Says only where they part: dumps are long. */
__attribute__((unused)) static void check_same(const char *got,
                                               const char *want) {
  size_t at = 0, line = 0;
  while (got[at] && got[at] == want[at])
    at++;
  if (got[at] == want[at])
    return;
  for (size_t i = 0; i < at; i++)
    if (got[i] == '\n')
      line = i + 1;
  WS_FAIL("the archives differ at byte %zu: %.160s, want %.160s", at,
          got + line, want + line);
}

__attribute__((unused)) static int number(bench *b, const char *sql) {
  return (int)strtol(query(b, sql), NULL, 10);
}

#endif
