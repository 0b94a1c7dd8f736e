/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the archive's tests share: a small template made from records, rows of
 * candidates, a scratch folder, and a look at the file with SQLite itself.
 */
#ifndef WAVESMITH_TESTS_ARCHIVE_FIXTURE_H
#define WAVESMITH_TESTS_ARCHIVE_FIXTURE_H

#include "wavesmith/archive.h"
#include "ws_test.h"

#include <ftw.h>
#include <sqlite3.h>
#include <sys/stat.h>

#define MUST(expr)                                                             \
  do {                                                                         \
    ws_diag must_diag_ = {""};                                                 \
    ws_diag *diag = &must_diag_;                                               \
    ws_status must_status_ = (expr);                                           \
    (void)diag;                                                                \
    if (must_status_ != WS_OK)                                                 \
      WS_FAIL("%s: %s", #expr, must_diag_.text);                               \
  } while (0)

/* The call must fail with this status and a sentence that has this part. */
#define MUST_FAIL(expr, want_status, part)                                     \
  do {                                                                         \
    ws_diag fail_diag_ = {""};                                                 \
    ws_diag *diag = &fail_diag_;                                               \
    ws_status fail_status_ = (expr);                                           \
    if (fail_status_ != (want_status))                                         \
      WS_FAIL("%s gives %s (%s), want %s", #expr,                              \
              ws_status_text(fail_status_), fail_diag_.text,                   \
              ws_status_text(want_status));                                    \
    WS_CHECK_CONTAINS(fail_diag_.text, part);                                  \
    WS_CHECK(!strchr(fail_diag_.text, '\n'));                                  \
  } while (0)

__attribute__((unused)) static const char template_text[] =
    "; a template's text, which the archive keeps as it is\n"
    "define void @kernel() { ret void }\n";

/* Two parameters, a region with two variants, one of everything else. */
__attribute__((unused)) static const ws_template *
fixture_template(ws_arena *arena) {
  static const char *const head[] = {"small", "3", "fp8_gemm_blockscale",
                                     "gfx942", "for the tests"};
  static const char *const layout[] = {"layout", "ws.layout", "0 1", "layout",
                                       "0"};
  static const char *const tile[] = {"tile_m", "ws.tile_m",
                                     "16 32 64 128 256 512", "rows", "64"};
  static const char *const region[] = {"stage", "copies a tile"};
  static const char *const wide[] = {"stage", "stage_wide", "16 bytes"};
  static const char *const slow[] = {"stage", "stage_slow", "1 byte"};
  static const char *const require[] = {"tile_m <= m", "a tile fits"};
  static const char *const lds[] = {"ws.lds", "tile_m * 128"};
  static const char *const launch[] = {
      "kernel", "ceildiv(m, tile_m)", "n / 16", "1", "256", "k > 0", "a b c"};
  static const char *const workspace[] = {"m * n * 4"};
  static const char *const allow[] = {"scratch"};
  static const ws_record items[] = {
      {"template", head, 5, 0},
      {"param", layout, 5, 2},
      {"param", tile, 5, 3},
      {"require", require, 2, 4},
      {"lds", lds, 2, 5},
      {"launch", launch, 7, 6},
      {"workspace", workspace, 1, 7},
      {"region", region, 2, 8},
      {"variant", wide, 3, 9},
      {"variant", slow, 3, 10},
      {"allow", allow, 1, 0},
  };
  static const ws_records records = {items, sizeof items / sizeof items[0]};
  const ws_template *tmpl;
  MUST(ws_template_from_records(
      arena, &records, "some/where/small.ll",
      ws_hash_bytes(template_text, sizeof template_text - 1), &tmpl, diag));
  return tmpl;
}

/* A path in a new scratch folder, which leaves with the machine's /tmp. */
__attribute__((unused)) static char *fixture_path(ws_arena *arena,
                                                  const char *name) {
  char folder[] = "/tmp/ws-archive-XXXXXX";
  WS_CHECK(mkdtemp(folder));
  return ws_arena_printf(arena, "%s/%s", folder, name);
}

static int fixture_remove_one(const char *path, const struct stat *info,
                              int flag, struct FTW *walk) {
  (void)info, (void)flag, (void)walk;
  return remove(path);
}
/* Removes the folder that fixture_path made. */
__attribute__((unused)) static void fixture_remove(ws_arena *arena,
                                                   const char *path) {
  char *folder = ws_arena_strdup(arena, path);
  *strrchr(folder, '/') = '\0';
  WS_CHECK(!strncmp(folder, "/tmp/ws-archive-", 16));
  nftw(folder, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

__attribute__((unused)) static int64_t
fixture_run(ws_archive *archive, const ws_template *tmpl, uint64_t seed) {
  const ws_run_row run = {.problem = tmpl->problem,
                          .layout = "kmajor",
                          .target = tmpl->target,
                          .strategy = "local",
                          .shape_set = "contest",
                          .settings_json = "{\"a\":1}",
                          .seed = seed,
                          .started_unix_ms = 1234};
  int64_t id;
  MUST(ws_archive_begin_run(archive, &run, &id, diag));
  return id;
}

/* The number-th candidate: a body of its own makes as many as are wanted. */
__attribute__((unused)) static ws_candidate *
fixture_candidate(ws_arena *arena, const ws_template *tmpl, int number) {
  ws_candidate *candidate = ws_candidate_create(arena, tmpl);
  candidate->bodies[0] =
      (ws_body){.variant = -1,
                .language = "ir",
                .text = ws_arena_printf(arena, "; body %d\n", number)};
  ws_candidate_update_id(candidate);
  return candidate;
}

__attribute__((unused)) static ws_candidate_row
fixture_row(ws_arena *arena, const ws_candidate *candidate, int64_t run,
            int64_t sequence) {
  return (ws_candidate_row){
      .id = candidate->id.hex,
      .template_hash = candidate->tmpl->hash.hex,
      .template_name = candidate->tmpl->name,
      .layout = "kmajor",
      .assignments = ws_candidate_values_text(arena, candidate),
      .variants = ws_candidate_variants_text(arena, candidate),
      .proposer = "random",
      .parent_id = "",
      .move = "",
      .run_id = run,
      .sequence = sequence,
      .verdict = "ok",
      .stage = "",
      .reason = "",
      .result_json = "{\"check_ms\":3.5,\"verdict\":\"ok\",\"findings\":[]}",
      .ir_hash = "",
      .code_hash = ""};
}

__attribute__((unused)) static void fixture_put(ws_archive *archive,
                                                ws_arena *arena,
                                                const ws_template *tmpl,
                                                int64_t run, int number) {
  ws_candidate *candidate = fixture_candidate(arena, tmpl, number);
  ws_candidate_row row = fixture_row(arena, candidate, run, number);
  MUST(ws_archive_put_candidate(archive, &row, candidate, "code", 4, NULL, 0,
                                diag));
}

/* Runs SQL on the file behind the archive's back; the first value of the first
 * row as text, "" for none. */
__attribute__((unused)) static char *
fixture_sql(ws_arena *arena, const char *path, const char *sql) {
  sqlite3 *database;
  sqlite3_stmt *statement;
  WS_CHECK_INT(sqlite3_open(path, &database), SQLITE_OK);
  WS_CHECK_INT(sqlite3_prepare_v2(database, sql, -1, &statement, NULL),
               SQLITE_OK);
  char *text = ws_arena_strdup(arena, "");
  if (sqlite3_step(statement) == SQLITE_ROW)
    text =
        ws_arena_strdup(arena, (const char *)sqlite3_column_text(statement, 0));
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return text;
}

#endif
