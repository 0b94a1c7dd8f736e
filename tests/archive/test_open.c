/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Files that are no archives, newer, damaged, or in places that cannot be
 * written: one line and the right status, never a crash.
 */
#include "fixture.h"

#include <fcntl.h>

static void write_file(const char *path, const void *data, size_t size) {
  FILE *file = fopen(path, "wb");
  WS_CHECK(file && fwrite(data, 1, size, file) == size);
  fclose(file);
}

/* An archive on disk with some candidates, closed. */
static char *make_archive(ws_arena *arena, int candidates) {
  char *path = fixture_path(arena, "a.db");
  const ws_template *tmpl = fixture_template(arena);
  ws_archive *archive;
  MUST(ws_archive_open(path, true, &archive, diag));
  MUST(ws_archive_put_template(archive, tmpl, template_text, NULL, diag));
  int64_t run = fixture_run(archive, tmpl, 1);
  for (int i = 0; i < candidates; i++)
    fixture_put(archive, arena, tmpl, run, i);
  ws_archive_close(archive);
  return path;
}

WS_TEST(missing) {
  ws_arena *arena = ws_arena_create();
  char *path = fixture_path(arena, "none.db");
  ws_archive *archive;
  MUST_FAIL(ws_archive_open(path, false, &archive, diag), WS_INPUT,
            "no such archive");
  WS_CHECK(!archive);
  WS_CHECK(access(path, F_OK) != 0); /* nor was one made */
  char *nowhere = ws_arena_printf(arena, "%s/x/y.db", path);
  MUST_FAIL(ws_archive_open(nowhere, true, &archive, diag), WS_ENVIRONMENT,
            nowhere);
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

WS_TEST(survives_closing_and_opening) {
  ws_arena *arena = ws_arena_create();
  char *path = make_archive(arena, 3);
  ws_archive *archive;
  ws_candidate_summary *items;
  int count;
  MUST(ws_archive_open(path, false, &archive, diag));
  MUST(ws_archive_list(archive, arena, NULL, &items, &count, diag));
  WS_CHECK_INT(count, 3);
  ws_archive_close(archive);
  WS_CHECK_TEXT(fixture_sql(arena, path, "PRAGMA journal_mode"), "wal");
  WS_CHECK_TEXT(fixture_sql(arena, path, "PRAGMA user_version"), "9");
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

WS_TEST(empty_file) {
  ws_arena *arena = ws_arena_create();
  char *path = fixture_path(arena, "a.db");
  ws_archive *archive;
  write_file(path, "", 0);
  MUST_FAIL(ws_archive_open(path, false, &archive, diag), WS_INPUT, "empty");
  MUST(ws_archive_open(path, true, &archive, diag));
  ws_archive_close(archive);
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

WS_TEST(not_an_archive) {
  ws_arena *arena = ws_arena_create();
  char *path = fixture_path(arena, "notes.txt");
  char text[5000];
  memset(text, 'x', sizeof text);
  write_file(path, text, sizeof text);
  ws_archive *archive;
  MUST_FAIL(ws_archive_open(path, true, &archive, diag), WS_INPUT,
            "not a wavesmith archive");
  char *other = fixture_path(arena, "other.db");
  fixture_sql(arena, other, "CREATE TABLE mine(x)");
  MUST_FAIL(ws_archive_open(other, true, &archive, diag), WS_INPUT,
            "not a wavesmith archive");
  WS_CHECK_TEXT(fixture_sql(arena, other, "SELECT count(*) FROM sqlite_schema"),
                "1"); /* left as it was */
  fixture_remove(arena, path);
  fixture_remove(arena, other);
  ws_arena_destroy(arena);
}

WS_TEST(newer_version) {
  ws_arena *arena = ws_arena_create();
  char *path = make_archive(arena, 1);
  fixture_sql(arena, path, "PRAGMA user_version=10");
  ws_archive *archive;
  MUST_FAIL(ws_archive_open(path, true, &archive, diag), WS_INPUT,
            "version 10, this program reads up to 9");
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

WS_TEST(older_version) {
  ws_arena *arena = ws_arena_create();
  char *path = make_archive(arena, 1);
  fixture_sql(arena, path, "PRAGMA user_version=1");
  ws_archive *archive;
  MUST_FAIL(ws_archive_open(path, true, &archive, diag), WS_INPUT,
            "version 1, this program reads 2 to 9");
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

WS_TEST(another_schema) {
  ws_arena *arena = ws_arena_create();
  char *path = make_archive(arena, 1);
  fixture_sql(arena, path, "ALTER TABLE candidate RENAME COLUMN stage TO x");
  ws_archive *archive;
  MUST_FAIL(ws_archive_open(path, false, &archive, diag), WS_INPUT, "corrupt");
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

/* Reads everything there is. */
static ws_status read_all(const char *path, ws_arena *arena, ws_diag *diag) {
  ws_archive *archive;
  ws_candidate_summary *items;
  int count;
  WS_TRY(ws_archive_open(path, false, &archive, diag));
  ws_status status =
      ws_archive_list(archive, arena, NULL, &items, &count, diag);
  for (int i = 0; status == WS_OK && i < count; i++) {
    bool found;
    ws_candidate_row row;
    const ws_template *tmpl;
    ws_candidate *candidate;
    const void *data;
    size_t size;
    status = ws_archive_get_candidate(archive, arena, items[i].row.id, &found,
                                      &row, diag);
    if (status == WS_OK && found)
      status = ws_archive_get_template(archive, arena, row.template_hash, &tmpl,
                                       NULL, diag);
    if (status == WS_OK && found)
      status = ws_archive_load_candidate(archive, arena, &row, tmpl, &candidate,
                                         diag);
    if (status == WS_OK && found)
      status = ws_archive_get_code_object(archive, arena, row.id, &data, &size,
                                          diag);
  }
  ws_archive_close(archive);
  return status;
}

WS_TEST(damage_anywhere_is_said) {
  ws_arena *arena = ws_arena_create();
  char *path = make_archive(arena, 40);
  char *data;
  size_t size;
  MUST(ws_file_read(arena, path, &data, &size, diag));
  WS_CHECK(size > 20000);
  int said = 0;
  ws_rng rng;
  ws_rng_init(&rng, 1);
  for (int round = 0; round < 300; round++) {
    ws_arena *scratch = ws_arena_create();
    char *copy = ws_arena_alloc(scratch, size);
    memcpy(copy, data, size);
    size_t at = (size_t)ws_rng_below(&rng, size - 64);
    for (int i = 0; i < 64; i++)
      copy[at + (size_t)i] = (char)ws_rng_next(&rng);
    write_file(path, copy, size);
    ws_diag diag = {""};
    ws_status status = read_all(path, scratch, &diag);
    if (status != WS_OK) {
      said++;
      WS_CHECK(diag.text[0] && !strchr(diag.text, '\n'));
      if (status != WS_INPUT)
        WS_FAIL("byte %zu: %s", at, diag.text);
    }
    ws_arena_destroy(scratch);
  }
  WS_CHECK(said > 40); /* the rest hit free space or unread columns */
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

WS_TEST(truncated) {
  ws_arena *arena = ws_arena_create();
  char *path = make_archive(arena, 40);
  char *data;
  size_t size;
  MUST(ws_file_read(arena, path, &data, &size, diag));
  for (size_t part = 1; part < 8; part++) {
    write_file(path, data, size * part / 8);
    MUST_FAIL(read_all(path, arena, diag), WS_INPUT, path);
  }
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

WS_TEST(changed_contents_are_found) {
  static const struct {
    const char *sql, *part;
  } cases[] = {
      {"UPDATE code_object SET data=x'00'", "code object"},
      {"UPDATE body SET text='; other'", "body"},
      {"UPDATE template SET text='; other'", "template"},
      {"UPDATE template SET records='{'", "a.db"},
      {"UPDATE candidate SET assignments='tile_m=16'", "does not fit"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ws_arena *arena = ws_arena_create();
    char *path = make_archive(arena, 1);
    /* which refuses such a change to SQLite; damage does not ask it */
    fixture_sql(arena, path, "DROP TRIGGER candidate_is_for_ever");
    fixture_sql(arena, path, cases[i].sql);
    MUST_FAIL(read_all(path, arena, diag), WS_INPUT, cases[i].part);
    fixture_remove(arena, path);
    ws_arena_destroy(arena);
  }
}

/* Root may write anywhere: the test goes on as another user. */
static void become_nobody(void) {
  if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
    WS_SKIP("cannot become another user");
}

WS_TEST(folder_that_cannot_be_written) {
  ws_arena *arena = ws_arena_create();
  char *path = make_archive(arena, 1);
  char *folder = ws_arena_strdup(arena, path);
  *strrchr(folder, '/') = '\0';
  WS_CHECK(chmod(folder, 0555) == 0 && chmod(path, 0444) == 0);
  pid_t child = fork(); /* so that root can remove the folder afterwards */
  WS_CHECK(child >= 0);
  if (child == 0) {
    become_nobody();
    ws_archive *archive;
    char *fresh = ws_arena_printf(arena, "%s/new.db", folder);
    MUST_FAIL(ws_archive_open(fresh, true, &archive, diag), WS_ENVIRONMENT,
              "writable");
    MUST_FAIL(ws_archive_open(path, true, &archive, diag), WS_ENVIRONMENT,
              "writable");
    ws_arena_destroy(arena);
    _exit(0);
  }
  int status;
  WS_CHECK(waitpid(child, &status, 0) == child);
  chmod(folder, 0755);
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
  WS_CHECK(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77)
    WS_SKIP("cannot become another user");
  WS_CHECK_INT(WEXITSTATUS(status), 0);
}
