/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Archives that somebody else wrote, or that a program without today's rule of
 * names did: what they name is refused as data, and no export leaves its
 * folder.
 */
#include "../gemm_shape.h"
#include "../unit/hostile_names.h"
#include "fixture.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <sqlite3.h>

typedef struct forged {
  ws_arena *arena;
  char *path, *folder; /* of the archive; of an export, not made yet */
  const char *id;
  const ws_template *tmpl;
} forged;

static forged make(void) {
  forged f = {.arena = ws_arena_create()};
  ws_archive *archive;
  f.path = fixture_path(f.arena, "a.db");
  f.folder = ws_arena_printf(f.arena, "%.*s/deep/text",
                             (int)(strrchr(f.path, '/') - f.path), f.path);
  f.tmpl = fixture_template(f.arena);
  MUST(ws_archive_open(f.path, true, &archive, diag));
  MUST(ws_archive_put_template(archive, f.tmpl, template_text, NULL, diag));
  ws_candidate *candidate = fixture_candidate(f.arena, f.tmpl, 0);
  ws_candidate_row row =
      fixture_row(f.arena, candidate, fixture_run(archive, f.tmpl, 1), 0);
  ws_measurement time = {
      gemm_shape(1024, 1536, 7168), 2, "mfma", "estimate:a", 0, 0};
  MUST(ws_archive_put_candidate(archive, &row, candidate, "code", 4, &time, 1,
                                diag));
  f.id = candidate->id.hex;
  ws_archive_close(archive);
  return f;
}

static void unmake(forged *f) {
  fixture_remove(f->arena, f->path);
  ws_arena_destroy(f->arena);
}

/* Runs one statement with a text in it, without the archive's own checks. */
static void change(const forged *f, const char *sql, const char *text) {
  sqlite3 *database;
  sqlite3_stmt *statement;
  WS_CHECK_INT(sqlite3_open(f->path, &database), SQLITE_OK);
  sqlite3_exec(database,
               "PRAGMA foreign_keys=OFF; PRAGMA synchronous=OFF;"
               "DROP TRIGGER IF EXISTS candidate_is_for_ever",
               NULL, NULL, NULL);
  WS_CHECK_INT(sqlite3_prepare_v2(database, sql, -1, &statement, NULL),
               SQLITE_OK);
  sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
  WS_CHECK_INT(sqlite3_step(statement), SQLITE_DONE);
  WS_CHECK_INT(sqlite3_changes(database), 1);
  sqlite3_finalize(statement);
  sqlite3_close(database);
}

static const char *records_of(const forged *f) {
  ws_archive *archive;
  ws_archived_template row;
  MUST(ws_archive_open(f->path, false, &archive, diag));
  MUST(ws_archive_get_template(archive, f->arena, f->tmpl->hash.hex, NULL, &row,
                               diag));
  ws_archive_close(archive);
  return row.records_json;
}

/* The records with another name in place of one. */
static const char *renamed(ws_arena *arena, const char *records,
                           const char *old, const char *name) {
  cJSON *quoted = cJSON_CreateString(name);
  char *text = cJSON_PrintUnformatted(quoted);
  const char *key = ws_arena_printf(arena, "\"%s\"", old);
  const char *at = strstr(records, key);
  WS_CHECK(at != NULL);
  const char *changed = ws_arena_printf(arena, "%.*s%s%s", (int)(at - records),
                                        records, text, at + strlen(key));
  cJSON_free(text);
  cJSON_Delete(quoted);
  return changed;
}

static void refuse(const forged *f, const char *records) {
  ws_archive *archive;
  const ws_template *tmpl;
  ws_candidate_summary *items;
  int count;
  change(f, "UPDATE template SET records=?1", records);
  MUST(ws_archive_open(f->path, false, &archive, diag));
  MUST_FAIL(ws_archive_get_template(archive, f->arena, f->tmpl->hash.hex, &tmpl,
                                    NULL, diag),
            WS_INPUT, "");
  MUST(ws_archive_list(archive, f->arena, NULL, &items, &count, diag));
  WS_CHECK_INT(count, 1);
  ws_archive_close(archive);
}

WS_TEST(an_archive_with_a_hostile_name_is_refused_as_data) {
  static const char *const names[] = {"small",      "ws.tile_m", "tile_m",
                                      "stage_wide", "kernel",    "a b c",
                                      "ws.lds"};
  forged f = make();
  const char *records = records_of(&f);
  for (size_t n = 0; n < sizeof names / sizeof *names; n++)
    for (size_t i = 1; i < HOSTILE_NAMES; i++)
      if (strcmp(names[n], "a b c") || strcmp(hostile_name(i), "a b"))
        refuse(&f, renamed(f.arena, records, names[n], hostile_name(i)));
  unmake(&f);
}

/* Files and folders of a folder. */
static int entries(const char *path) {
  DIR *folder = opendir(path);
  int count = 0;
  WS_CHECK(folder != NULL);
  for (struct dirent *entry; (entry = readdir(folder));)
    count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
  closedir(folder);
  return count;
}

static void export_stays_inside(const char *sql, const char *text,
                                const char *id) {
  forged f = make();
  ws_archive *archive;
  const char *ids[] = {id ? id : f.id};
  ws_diag why = {""};
  change(&f, sql, text);
  MUST(ws_archive_open(f.path, false, &archive, diag));
  ws_status status = ws_archive_export(archive, f.folder, ids, 1, &why);
  if (status != WS_OK && status != WS_INPUT)
    WS_FAIL("%s with %.60s: %s", sql, text, why.text);
  ws_archive_close(archive);
  char *above = ws_arena_printf(f.arena, "%.*s",
                                (int)(strrchr(f.path, '/') - f.path), f.path);
  WS_CHECK_INT(
      entries(above),
      1 + (access(ws_arena_printf(f.arena, "%s/deep", above), F_OK) == 0));
  if (access(ws_arena_printf(f.arena, "%s/deep", above), F_OK) == 0)
    WS_CHECK_INT(entries(ws_arena_printf(f.arena, "%s/deep", above)), 1);
  unmake(&f);
}

WS_TEST(no_export_leaves_its_folder) {
  for (size_t i = 0; i < HOSTILE_NAMES; i++)
    if (strpbrk(hostile_name(i), "./") || strlen(hostile_name(i)) > 1000)
      export_stays_inside("UPDATE template SET name=?1", hostile_name(i), NULL);
  static const char *const paths[] = {"../../x", "../../../x", "a/../../../x"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    export_stays_inside("UPDATE template SET name=?1", paths[i], NULL);
    export_stays_inside("UPDATE body SET hash=?1", paths[i], NULL);
    export_stays_inside("UPDATE candidate SET id=?1", paths[i], paths[i]);
  }
}
