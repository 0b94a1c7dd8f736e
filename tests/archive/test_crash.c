/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Nothing recorded is lost: two writers at once, kill -9 at any moment, a full
 * disk. The file is judged by SQLite's own integrity check.
 */
#include "fixture.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>

static int64_t prepare(ws_archive *archive, const ws_template *tmpl) {
  MUST(ws_archive_put_template(archive, tmpl, template_text, NULL, diag));
  return fixture_run(archive, tmpl, 1);
}

/* Opens the archive and puts candidates first, first + 1, ... Each number goes
 * into the pipe once it is recorded. */
static void write_candidates(const char *path, int first, int count,
                             int report) {
  ws_arena *arena = ws_arena_create();
  const ws_template *tmpl = fixture_template(arena);
  ws_archive *archive;
  MUST(ws_archive_open(path, true, &archive, diag));
  int64_t run = prepare(archive, tmpl);
  for (int i = first; i < first + count; i++) {
    ws_arena *scratch = ws_arena_create();
    fixture_put(archive, scratch, tmpl, run, i);
    ws_arena_destroy(scratch);
    if (report >= 0 && write(report, &i, sizeof i) != sizeof i)
      _exit(1);
  }
  ws_archive_close(archive);
  ws_arena_destroy(arena);
}

static bool is_recorded(ws_archive *archive, ws_arena *arena,
                        const ws_template *tmpl, int number) {
  bool found;
  ws_candidate_row row;
  ws_candidate *candidate = fixture_candidate(arena, tmpl, number), *loaded;
  const void *code;
  size_t size;
  MUST(ws_archive_get_candidate(archive, arena, candidate->id.hex, &found, &row,
                                diag));
  if (!found)
    return false;
  /* Whole, not only its row. */
  MUST(ws_archive_load_candidate(archive, arena, &row, tmpl, &loaded, diag));
  MUST(ws_archive_get_code_object(archive, arena, row.id, &code, &size, diag));
  return true;
}

WS_TEST(two_writers_at_once) {
  enum { EACH = 300 };
  ws_arena *arena = ws_arena_create();
  char *path = fixture_path(arena, "a.db");
  pid_t children[2];
  for (int c = 0; c < 2; c++) {
    children[c] = fork();
    WS_CHECK(children[c] >= 0);
    if (children[c] == 0) {
      /* Half of the candidates are those of the other one too. */
      write_candidates(path, c * EACH / 2, EACH, -1);
      _exit(0);
    }
  }
  for (int c = 0; c < 2; c++) {
    int status;
    WS_CHECK(waitpid(children[c], &status, 0) == children[c]);
    WS_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  WS_CHECK_TEXT(fixture_sql(arena, path, "PRAGMA integrity_check"), "ok");
  WS_CHECK_TEXT(fixture_sql(arena, path, "SELECT count(*) FROM candidate"),
                "450");
  WS_CHECK_TEXT(fixture_sql(arena, path, "SELECT count(*) FROM candidate_body"),
                "450");
  WS_CHECK_TEXT(fixture_sql(arena, path, "SELECT count(*) FROM run"), "1");
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

/* Kills a writer at a random moment after a random number of its reports, so
 * that a slow disk does not decide how far it came; the last number reported
 * is in *out_last (-1: none). */
static void write_and_kill(const char *path, int first, ws_rng *rng,
                           int *out_last) {
  int pipe_ends[2];
  WS_CHECK(pipe(pipe_ends) == 0);
  pid_t child = fork();
  WS_CHECK(child >= 0);
  if (child == 0) {
    close(pipe_ends[0]);
    write_candidates(path, first, 1 << 20, pipe_ends[1]);
    _exit(0);
  }
  close(pipe_ends[1]);
  int number, status;
  *out_last = -1;
  for (uint64_t reports = ws_rng_below(rng, 5);
       reports > 0 &&
       read(pipe_ends[0], &number, sizeof number) == sizeof number;
       reports--)
    *out_last = number;
  usleep((useconds_t)ws_rng_below(rng, 20000));
  kill(child, SIGKILL);
  while (read(pipe_ends[0], &number, sizeof number) == sizeof number)
    *out_last = number;
  close(pipe_ends[0]);
  WS_CHECK(waitpid(child, &status, 0) == child);
  WS_CHECK(WIFSIGNALED(status));
}

WS_TEST(killed_at_any_moment) {
  enum { ROUNDS = 60 };
  ws_arena *arena = ws_arena_create();
  const ws_template *tmpl = fixture_template(arena);
  char *path = fixture_path(arena, "a.db");
  ws_rng rng;
  ws_rng_init(&rng, 42);
  int next = 0, survived = 0;
  for (int round = 0; round < ROUNDS; round++) {
    int last;
    write_and_kill(path, next, &rng, &last);
    if (last < 0)
      continue;
    ws_archive *archive;
    MUST(ws_archive_open(path, false, &archive, diag));
    for (; next <= last; next++, survived++)
      if (!is_recorded(archive, arena, tmpl, next))
        WS_FAIL("candidate %d was recorded and is gone", next);
    ws_archive_close(archive);
    next = last + 2; /* the one in hand may have been recorded, or not */
  }
  WS_CHECK(survived > ROUNDS); /* else the test killed too early */
  WS_CHECK_TEXT(fixture_sql(arena, path, "PRAGMA integrity_check"), "ok");
  WS_CHECK_TEXT(
      fixture_sql(arena, path,
                  "SELECT count(*) FROM candidate c WHERE NOT EXISTS (SELECT 1 "
                  "FROM candidate_body b WHERE b.candidate_id=c.id)"),
      "0");
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

/* A disk of `kilobytes` of its own, only for this process. */
static void mount_small_disk(const char *folder, int kilobytes) {
  char options[64];
  snprintf(options, sizeof options, "size=%dk", kilobytes);
  if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("tmpfs", folder, "tmpfs", 0, options) != 0)
    WS_SKIP("cannot mount a small disk here");
}

static void fill_disk(const char *path) {
  FILE *file = fopen(path, "wb");
  char block[4096] = {1};
  WS_CHECK(file);
  setbuf(file, NULL);
  while (fwrite(block, 1, sizeof block, file) == sizeof block)
    ;
  fclose(file);
}

WS_TEST(full_disk_loses_nothing) {
  ws_arena *arena = ws_arena_create();
  const ws_template *tmpl = fixture_template(arena);
  char *path = fixture_path(arena, "a.db");
  char *folder = ws_arena_strdup(arena, path);
  *strrchr(folder, '/') = '\0';
  mount_small_disk(folder, 1024);
  ws_archive *archive;
  MUST(ws_archive_open(path, true, &archive, diag));
  int64_t run = prepare(archive, tmpl);
  int recorded = 0;
  ws_status status = WS_OK;
  ws_diag diag = {""};
  static char code[8192];
  while (status == WS_OK && recorded < 10000) {
    ws_candidate *candidate = fixture_candidate(arena, tmpl, recorded);
    ws_candidate_row row = fixture_row(arena, candidate, run, recorded);
    snprintf(code, sizeof code, "code of %d", recorded);
    status = ws_archive_put_candidate(archive, &row, candidate, code,
                                      sizeof code, NULL, 0, &diag);
    recorded += status == WS_OK;
  }
  WS_CHECK_INT(status, WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "no space left");
  WS_CHECK(recorded > 10 && recorded < 10000);
  for (int i = 0; i < recorded; i++)
    WS_CHECK(is_recorded(archive, arena, tmpl, i));
  WS_CHECK(!is_recorded(archive, arena, tmpl, recorded));
  ws_archive_close(archive);
  /* And again after the process has gone. */
  WS_CHECK_TEXT(fixture_sql(arena, path, "PRAGMA integrity_check"), "ok");
  WS_CHECK_INT(
      strtol(fixture_sql(arena, path, "SELECT count(*) FROM candidate"), NULL,
             10),
      recorded);
  umount(folder);
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

WS_TEST(opening_on_a_full_disk) {
  ws_arena *arena = ws_arena_create();
  char *path = fixture_path(arena, "a.db");
  char *folder = ws_arena_strdup(arena, path);
  *strrchr(folder, '/') = '\0';
  mount_small_disk(folder, 512);
  char *filler = ws_arena_printf(arena, "%s/filler", folder);
  fill_disk(filler);
  ws_archive *archive;
  MUST_FAIL(ws_archive_open(path, true, &archive, diag), WS_ENVIRONMENT,
            "no space left");
  unlink(filler); /* what is left of the attempt does no harm */
  write_candidates(path, 0, 3, -1);
  WS_CHECK_TEXT(fixture_sql(arena, path, "SELECT count(*) FROM candidate"),
                "3");
  umount(folder);
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

WS_TEST(exporting_to_a_full_disk) {
  ws_arena *arena = ws_arena_create();
  const ws_template *tmpl = fixture_template(arena);
  char *text = fixture_path(arena, "text");
  char *folder = ws_arena_strdup(arena, text);
  *strrchr(folder, '/') = '\0';
  mount_small_disk(folder, 256);
  ws_archive *archive, *back;
  MUST(ws_archive_open(":memory:", true, &archive, diag));
  int64_t run = prepare(archive, tmpl);
  const char *ids[200];
  for (int i = 0; i < 200; i++) {
    fixture_put(archive, arena, tmpl, run, i);
    ids[i] = fixture_candidate(arena, tmpl, i)->id.hex;
  }
  MUST(ws_archive_export(archive, text, ids, 2, diag));
  MUST_FAIL(ws_archive_export(archive, text, ids, 200, diag), WS_ENVIRONMENT,
            "No space left");
  int imported; /* the older export is whole */
  MUST(ws_archive_open(":memory:", true, &back, diag));
  MUST(ws_archive_import(back, text, &imported, diag));
  WS_CHECK_INT(imported, 2);
  ws_archive_close(back);
  ws_archive_close(archive);
  umount(folder);
  fixture_remove(arena, text);
  ws_arena_destroy(arena);
}
