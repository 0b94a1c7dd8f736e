/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Archives of before become archives of today when they are opened:
 * nothing is lost, two processes may do it at once, and a file that cannot be
 * written says so in a line. The old tables are spelled out here as the
 * programs of version 2 and 7 made them.
 */
#include "../gemm_shape.h"
#include "fixture.h"

static const char old_tables[] =
    "PRAGMA journal_mode=WAL;"
    "CREATE TABLE template(hash TEXT PRIMARY KEY, name TEXT NOT NULL,"
    " version TEXT NOT NULL, problem TEXT NOT NULL, target TEXT NOT NULL,"
    " file TEXT NOT NULL, text TEXT NOT NULL, records TEXT NOT NULL) STRICT;"
    "CREATE TABLE run(id INTEGER PRIMARY KEY, problem TEXT NOT NULL,"
    " layout TEXT NOT NULL, target TEXT NOT NULL, strategy TEXT NOT NULL,"
    " shape_set TEXT NOT NULL, settings TEXT NOT NULL, seed INTEGER NOT NULL,"
    " started_unix_ms INTEGER NOT NULL) STRICT;"
    "CREATE TABLE body(hash TEXT PRIMARY KEY, language TEXT NOT NULL,"
    " text TEXT NOT NULL) STRICT;"
    "CREATE TABLE code_object(hash TEXT PRIMARY KEY, data BLOB NOT NULL)"
    " STRICT;"
    "CREATE TABLE build(candidate_id TEXT PRIMARY KEY, result TEXT NOT NULL,"
    " code_object TEXT REFERENCES code_object(hash)) STRICT;"
    "CREATE TABLE candidate(number INTEGER PRIMARY KEY,"
    " id TEXT NOT NULL UNIQUE,"
    " template_hash TEXT NOT NULL REFERENCES template(hash),"
    " layout TEXT NOT NULL, assignments TEXT NOT NULL, variants TEXT NOT NULL,"
    " proposer TEXT NOT NULL, parent_id TEXT NOT NULL, move TEXT NOT NULL,"
    " run_id INTEGER NOT NULL REFERENCES run(id), sequence INTEGER NOT NULL,"
    " verdict TEXT NOT NULL, stage TEXT NOT NULL, reason TEXT NOT NULL,"
    " ir_hash TEXT NOT NULL, code_hash TEXT NOT NULL) STRICT;"
    "CREATE INDEX candidate_ir ON candidate(ir_hash);"
    "CREATE INDEX candidate_code ON candidate(code_hash);"
    "CREATE INDEX candidate_run ON candidate(run_id, sequence);"
    "CREATE TABLE candidate_body("
    " candidate_id TEXT NOT NULL REFERENCES candidate(id),"
    " region TEXT NOT NULL, body TEXT NOT NULL REFERENCES body(hash),"
    " PRIMARY KEY(candidate_id, region)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE measurement("
    " candidate_id TEXT NOT NULL REFERENCES candidate(id),"
    " provenance TEXT NOT NULL, m INTEGER NOT NULL, n INTEGER NOT NULL,"
    " k INTEGER NOT NULL, us REAL NOT NULL, bound TEXT NOT NULL,"
    " PRIMARY KEY(candidate_id, provenance, m, n, k)) STRICT, WITHOUT ROWID;"
    "PRAGMA application_id=1465074002; PRAGMA user_version=2;";

static void execute(sqlite3 *database, const char *sql) {
  char *message = NULL;
  if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
    WS_FAIL("%s", message);
}

/* Moves what a new archive holds into a file of the old version: the columns
 * that both have. */
static void copy_rows(sqlite3 *old, const char *from) {
  static const char *const tables[][2] = {
      {"template", "*"},
      {"run", "*"},
      {"body", "*"},
      {"code_object", "*"},
      {"build", "*"},
      {"candidate",
       "number,id,template_hash,layout,assignments,variants,proposer,parent_id,"
       "move,run_id,sequence,verdict,stage,reason,ir_hash,code_hash"},
      {"candidate_body", "*"},
      {"measurement", "candidate_id,provenance,16,16,128,us,bound"}};
  char sql[512];
  snprintf(sql, sizeof sql, "ATTACH '%s' AS new", from);
  execute(old, sql);
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
    snprintf(sql, sizeof sql, "INSERT INTO main.%s SELECT %s FROM new.%s",
             tables[i][0], tables[i][1], tables[i][0]);
    execute(old, sql);
  }
}

/* An archive of version 2 with candidates that have bodies, builds and times.
 */
static char *make_old(ws_arena *arena, int candidates) {
  char *path = fixture_path(arena, "old.db");
  char *new = fixture_path(arena, "new.db");
  const ws_template *tmpl = fixture_template(arena);
  ws_archive *archive;
  MUST(ws_archive_open(new, true, &archive, diag));
  MUST(ws_archive_put_template(archive, tmpl, template_text, NULL, diag));
  int64_t run = fixture_run(archive, tmpl, 1);
  for (int i = 0; i < candidates; i++) {
    ws_candidate *candidate = fixture_candidate(arena, tmpl, i);
    ws_candidate_row row = fixture_row(arena, candidate, run, i);
    const ws_measurement time = {.shape = gemm_shape(16, 16, 128),
                                 .us = 5 + i,
                                 .bound = "lds",
                                 .provenance = "x"};
    MUST(ws_archive_put_candidate(archive, &row, candidate, "code", 4, &time, 1,
                                  diag));
  }
  ws_archive_close(archive);
  sqlite3 *old;
  WS_CHECK_INT(sqlite3_open(path, &old), SQLITE_OK);
  execute(old, old_tables);
  copy_rows(old, new);
  WS_CHECK_INT(sqlite3_close(old), SQLITE_OK);
  fixture_remove(arena, new);
  return path;
}

static void check_contents(const char *path, ws_arena *arena, int candidates) {
  ws_archive *archive;
  ws_candidate_summary *items;
  int count;
  MUST(ws_archive_open(path, false, &archive, diag));
  MUST(ws_archive_list(archive, arena, NULL, &items, &count, diag));
  WS_CHECK_INT(count, candidates);
  for (int i = 0; i < count; i++) {
    bool found;
    ws_candidate_row row;
    const ws_template *tmpl;
    ws_candidate *candidate;
    ws_measurement *times;
    int time_count;
    MUST(ws_archive_get_candidate(archive, arena, items[i].row.id, &found, &row,
                                  diag));
    WS_CHECK(found);
    WS_CHECK_TEXT(row.second_parent_id, "");
    WS_CHECK_TEXT(row.label, "");
    WS_CHECK_INT(row.island, 0);
    MUST(ws_archive_get_template(archive, arena, row.template_hash, &tmpl, NULL,
                                 diag));
    MUST(ws_archive_load_candidate(archive, arena, &row, tmpl, &candidate,
                                   diag));
    MUST(ws_archive_get_measurements(archive, arena, row.id, &times,
                                     &time_count, diag));
    WS_CHECK_INT(time_count, 1);
    const ws_shape shape = gemm_shape(16, 16, 128);
    WS_CHECK(ws_shape_same(&times[0].shape, &shape));
    WS_CHECK_NEAR(times[0].us, 5 + i, 0);
    WS_CHECK_NEAR(times[0].low_us, 5 + i, 0);
    WS_CHECK_NEAR(times[0].high_us, 5 + i, 0);
  }
  ws_progress progress;
  MUST(ws_archive_progress(archive, arena, 1, NULL, &progress, diag));
  WS_CHECK_INT(progress.count, candidates);
  ws_archive_close(archive);
}

/* Every table and index, in a form that does not depend on how it came. */
static char *columns_of(ws_arena *arena, const char *path) {
  return fixture_sql(
      arena, path,
      "SELECT group_concat(t,char(10)) FROM (SELECT s.type||' '||s.name||' '||"
      " coalesce(group_concat(c.name||' '||c.type||' '||c.\"notnull\"||' '||"
      "  c.pk||' '||coalesce(c.dflt_value,'-')),'') AS t FROM sqlite_schema s"
      " LEFT JOIN pragma_table_info(s.name) c GROUP BY s.name ORDER BY "
      "s.name)");
}

WS_TEST(old_archive_is_brought_up) {
  ws_arena *arena = ws_arena_create();
  char *path = make_old(arena, 3);
  WS_CHECK_TEXT(fixture_sql(arena, path, "PRAGMA user_version"), "2");
  check_contents(path, arena, 3);
  WS_CHECK_TEXT(fixture_sql(arena, path, "PRAGMA user_version"), "9");
  check_contents(path, arena, 3);
  char *fresh = fixture_path(arena, "fresh.db");
  ws_archive *archive;
  MUST(ws_archive_open(fresh, true, &archive, diag));
  ws_archive_close(archive);
  WS_CHECK_TEXT(columns_of(arena, path), columns_of(arena, fresh));
  WS_CHECK_CONTAINS(columns_of(arena, path), "table exchange run_id INTEGER");
  fixture_remove(arena, fresh);
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

WS_TEST(many_processes_at_once) {
  enum { PROCESSES = 8 };
  for (int round = 0; round < 5; round++) {
    ws_arena *arena = ws_arena_create();
    char *path = make_old(arena, 20);
    int gate[2];
    WS_CHECK(pipe(gate) == 0);
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
      children[i] = fork();
      WS_CHECK(children[i] >= 0);
      if (children[i] == 0) {
        char byte;
        close(gate[1]);
        WS_CHECK(read(gate[0], &byte, 1) == 0); /* all begin together */
        check_contents(path, arena, 20);
        _exit(0);
      }
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < PROCESSES; i++) {
      int status;
      WS_CHECK(waitpid(children[i], &status, 0) == children[i]);
      WS_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    fixture_remove(arena, path);
    ws_arena_destroy(arena);
  }
}

/* A program that still has the old archive open can go on writing, but no
 * times: these have another key since version 8. */
WS_TEST(old_program_goes_on) {
  ws_arena *arena = ws_arena_create();
  char *path = make_old(arena, 2);
  sqlite3 *old;
  WS_CHECK_INT(sqlite3_open(path, &old), SQLITE_OK);
  execute(old, "SELECT count(*) FROM candidate");
  check_contents(path, arena, 2);
  execute(old, "INSERT INTO candidate(id,template_hash,layout,assignments,"
               "variants,proposer,parent_id,move,run_id,sequence,verdict,stage,"
               "reason,ir_hash,code_hash) SELECT 'ab',template_hash,layout,"
               "assignments,variants,proposer,parent_id,move,run_id,9,verdict,"
               "stage,reason,'','' FROM candidate LIMIT 1");
  char *message = NULL;
  WS_CHECK_INT(sqlite3_exec(old,
                            "INSERT INTO measurement(candidate_id,provenance,m,"
                            "n,k,us,bound) VALUES('ab','x',16,16,128,7.5,'')",
                            NULL, NULL, &message),
               SQLITE_ERROR);
  WS_CHECK_CONTAINS(message, "has no column named m");
  sqlite3_free(message);
  sqlite3_close(old);
  ws_archive *archive;
  ws_candidate_row row;
  bool found;
  ws_measurement *times;
  int count;
  MUST(ws_archive_open(path, false, &archive, diag));
  MUST(ws_archive_get_measurements(archive, arena, "ab", &times, &count, diag));
  WS_CHECK_INT(count, 0);
  MUST(ws_archive_get_candidate(archive, arena, "ab", &found, &row, diag));
  WS_CHECK(found);
  ws_archive_close(archive);
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

/* ---- version 7: the last with shapes in three columns ---- */
static const char tables_of_7[] =
    "DROP TABLE measurement; DROP TABLE timing; DROP TABLE profile;"
    "CREATE TABLE measurement("
    " candidate_id TEXT NOT NULL REFERENCES candidate(id),"
    " provenance TEXT NOT NULL, m INTEGER NOT NULL, n INTEGER NOT NULL,"
    " k INTEGER NOT NULL, us REAL NOT NULL, bound TEXT NOT NULL,"
    " low_us REAL, high_us REAL,"
    " PRIMARY KEY(candidate_id, provenance, m, n, k)) STRICT, WITHOUT ROWID;"
    "CREATE TRIGGER measurement_is_a_time BEFORE INSERT ON measurement WHEN"
    " NOT (NEW.us>0 AND NEW.us<1e300) OR NEW.provenance=''"
    " OR NEW.m<1 OR NEW.n<1 OR NEW.k<1 BEGIN SELECT"
    " RAISE(ABORT,'a time is positive, of a shape and of a provenance'); END;"
    "CREATE TRIGGER measurement_is_for_ever BEFORE UPDATE ON measurement WHEN 1"
    " BEGIN SELECT RAISE(ABORT,'a time does not change'); END;"
    "CREATE TABLE timing("
    " candidate_id TEXT NOT NULL REFERENCES candidate(id),"
    " provenance TEXT NOT NULL, m INTEGER NOT NULL, n INTEGER NOT NULL,"
    " k INTEGER NOT NULL, samples_us TEXT NOT NULL, low_mhz INTEGER NOT NULL,"
    " high_mhz INTEGER NOT NULL, memory_mhz INTEGER NOT NULL,"
    " dropped INTEGER NOT NULL, throttle TEXT NOT NULL,"
    " device TEXT NOT NULL REFERENCES content(hash),"
    " PRIMARY KEY(candidate_id, provenance, m, n, k)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE profile("
    " candidate_id TEXT NOT NULL REFERENCES candidate(id),"
    " provenance TEXT NOT NULL, m INTEGER NOT NULL, n INTEGER NOT NULL,"
    " k INTEGER NOT NULL, report TEXT NOT NULL,"
    " PRIMARY KEY(candidate_id, provenance)) STRICT, WITHOUT ROWID;"
    "INSERT INTO measurement SELECT id,'x',1024,576,7168,7.25,'hbm',7,7.5"
    " FROM candidate;"
    "INSERT INTO measurement SELECT id,'x',64,576,7168,2.5,'lds',NULL,NULL"
    " FROM candidate;"
    "INSERT INTO content VALUES('c0',6,'a card');"
    "INSERT INTO timing SELECT id,'x',1024,576,7168,'7 7.25 "
    "7.5',1900,2100,1300,"
    "3,'hot','c0' FROM candidate;"
    "INSERT INTO profile SELECT id,'x',64,576,7168,'{}' FROM candidate;"
    "PRAGMA user_version=7;";

/* A candidate with two times, the samples of one and a profile. */
static char *make_version_7(ws_arena *arena, const char **out_id) {
  char *path = fixture_path(arena, "seven.db");
  const ws_template *tmpl = fixture_template(arena);
  ws_candidate *candidate = fixture_candidate(arena, tmpl, 0);
  ws_archive *archive;
  sqlite3 *old;
  MUST(ws_archive_open(path, true, &archive, diag));
  MUST(ws_archive_put_template(archive, tmpl, template_text, NULL, diag));
  ws_candidate_row row =
      fixture_row(arena, candidate, fixture_run(archive, tmpl, 1), 0);
  MUST(ws_archive_put_candidate(archive, &row, candidate, NULL, 0, NULL, 0,
                                diag));
  ws_archive_close(archive);
  WS_CHECK_INT(sqlite3_open(path, &old), SQLITE_OK);
  execute(old, tables_of_7);
  WS_CHECK_INT(sqlite3_close(old), SQLITE_OK);
  *out_id = candidate->id.hex;
  return path;
}

WS_TEST(shapes_of_version_7_have_names) {
  ws_arena *arena = ws_arena_create();
  const char *id, *report;
  char *path = make_version_7(arena, &id);
  const ws_shape large = gemm_shape(1024, 576, 7168),
                 small = gemm_shape(64, 576, 7168);
  ws_archive *archive;
  ws_measurement *times;
  ws_timing_row *timings;
  ws_shape shape;
  bool found;
  int count;
  MUST(ws_archive_open(path, false, &archive, diag));
  MUST(ws_archive_get_measurements(archive, arena, id, &times, &count, diag));
  WS_CHECK_INT(count, 2); /* 64 is less than 1024, though not as text */
  WS_CHECK(ws_shape_same(&times[0].shape, &small));
  WS_CHECK(times[0].us == 2.5 && times[0].low_us == 2.5);
  WS_CHECK_TEXT(times[0].bound, "lds");
  WS_CHECK(ws_shape_same(&times[1].shape, &large));
  WS_CHECK(times[1].us == 7.25 && times[1].low_us == 7 &&
           times[1].high_us == 7.5);
  MUST(ws_archive_list_timings(archive, arena, id, &timings, &count, diag));
  WS_CHECK_INT(count, 1);
  WS_CHECK(ws_shape_same(&timings[0].shape, &large));
  WS_CHECK(timings[0].sample_count == 3 && timings[0].samples_us[1] == 7.25);
  WS_CHECK_INT(timings[0].dropped, 3);
  MUST(ws_archive_get_profile(archive, arena, id, "x", &found, &shape, &report,
                              diag));
  WS_CHECK(found && ws_shape_same(&shape, &small));
  /* since version 9 a second one, of another shape, takes no place */
  ws_profile_row *profiles;
  MUST(ws_archive_put_profile(archive, id, "x", &large, "{}", diag));
  MUST(ws_archive_list_profiles(archive, arena, id, "x", &profiles, &count,
                                diag));
  WS_CHECK_INT(count, 2);
  ws_archive_close(archive);
  WS_CHECK_TEXT(fixture_sql(arena, path, "PRAGMA user_version"), "9");
  WS_CHECK_TEXT(fixture_sql(arena, path,
                            "SELECT group_concat(shape,' ') FROM measurement"),
                "m=1024,n=576,k=7168 m=64,n=576,k=7168");
  char *fresh = fixture_path(arena, "fresh.db");
  MUST(ws_archive_open(fresh, true, &archive, diag));
  ws_archive_close(archive);
  WS_CHECK_TEXT(columns_of(arena, path), columns_of(arena, fresh));
  fixture_remove(arena, fresh);
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

/* A step that fails leaves the file as it was. */
WS_TEST(a_failed_step_changes_nothing) {
  ws_arena *arena = ws_arena_create();
  char *path = make_old(arena, 2);
  ws_archive *archive;
  fixture_sql(arena, path, "CREATE TABLE profile(x)"); /* in the step's way */
  MUST_FAIL(ws_archive_open(path, false, &archive, diag), WS_INPUT, "corrupt");
  WS_CHECK_TEXT(fixture_sql(arena, path, "PRAGMA user_version"), "2");
  fixture_sql(arena, path, "DROP TABLE profile");
  check_contents(path, arena, 2);
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}

/* Root may write anywhere: the test goes on as another user. */
static void become_nobody(void) {
  if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
    WS_SKIP("cannot become another user");
}

static void open_as_nobody(ws_arena *arena, const char *path,
                           const char *part) {
  pid_t child = fork(); /* so that root can remove the folder afterwards */
  WS_CHECK(child >= 0);
  if (child == 0) {
    become_nobody();
    ws_archive *archive;
    MUST_FAIL(ws_archive_open(path, true, &archive, diag), WS_ENVIRONMENT,
              part);
    ws_arena_destroy(arena);
    _exit(0);
  }
  int status;
  WS_CHECK(waitpid(child, &status, 0) == child);
  WS_CHECK(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77)
    WS_SKIP("cannot become another user");
  WS_CHECK_INT(WEXITSTATUS(status), 0);
}

WS_TEST(cannot_be_written) {
  ws_arena *arena = ws_arena_create();
  char *path = make_old(arena, 1);
  char *folder = ws_arena_strdup(arena, path);
  *strrchr(folder, '/') = '\0';
  /* The file alone: SQLite can put its log beside it and read. */
  WS_CHECK(chmod(folder, 0777) == 0 && chmod(path, 0444) == 0);
  open_as_nobody(arena, path, "has version 2 and is brought to version 9");
  WS_CHECK(chmod(folder, 0555) == 0);
  open_as_nobody(arena, path, "writable");
  chmod(folder, 0755);
  WS_CHECK_TEXT(fixture_sql(arena, path, "PRAGMA user_version"), "2");
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}
