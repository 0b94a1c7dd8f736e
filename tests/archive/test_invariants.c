/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The archive's invariants, as its header states them, against a program that
 * does not know them: plain SQL, which must be refused, and what must not.
 */
#include "fixture.h"

static char *error_of(ws_arena *arena, sqlite3 *database, const char *sql) {
  char *message = NULL;
  sqlite3_exec(database, sql, NULL, NULL, &message);
  char *copy = ws_arena_strdup(arena, message ? message : "");
  sqlite3_free(message);
  return copy;
}

#define CANDIDATE                                                              \
  "INSERT INTO candidate(id,template_hash,layout,assignments,variants,"        \
  "proposer,parent_id,move,run_id,sequence,verdict,stage,reason,ir_hash,"      \
  "code_hash) SELECT 'ab',template_hash,layout,assignments,variants,proposer," \
  "'','',run_id,9,"
#define FROM ",stage,reason,'','' FROM candidate LIMIT 1"
#define TIME                                                                   \
  "INSERT INTO measurement(candidate_id,provenance,shape,us,bound)"            \
  " SELECT id,"

WS_TEST(the_schema_holds_the_invariants) {
  static const struct {
    const char *sql, *part; /* part "": it is allowed */
  } cases[] = {
      /* facts about a candidate */
      {CANDIDATE "'fine'" FROM, "a candidate without a verdict"},
      {CANDIDATE "''" FROM, "a candidate without a verdict"},
      {CANDIDATE "'wrong'" FROM, ""},
      {"UPDATE candidate SET assignments='x'", "a candidate does not change"},
      {"UPDATE candidate SET ir_hash='x'", "a candidate does not change"},
      {"UPDATE candidate SET run_id=run_id", ""},
      {"UPDATE candidate SET verdict='ok' WHERE id='ab'", "only a device"},
      {"UPDATE candidate SET verdict='crash'", "only a device"},
      {"UPDATE candidate SET verdict='duplicate',stage='device'",
       "only a device"},
      {"UPDATE candidate SET verdict='timeout',stage='device' WHERE id<>'ab'",
       ""},
      {"UPDATE candidate SET verdict='crash',stage='device' WHERE id<>'ab'",
       "only a device"}, /* once */
      {"DELETE FROM candidate WHERE id='ab'", "a candidate does not go"},
      {"INSERT INTO build VALUES('cd','{\"verdict\":\"ok\"}',NULL)", ""},
      {"INSERT INTO build VALUES('ce','no json',NULL)",
       "a build without a verdict"},
      {"INSERT INTO build VALUES('ce','{\"verdict\":\"lost\"}',NULL)",
       "a build without a verdict"},
      {"INSERT INTO build VALUES('ce','{\"verdict\":\"crash\","
       "\"blame\":\"unknown\"}',NULL)",
       "a failure of the machinery is no build"},
      {"INSERT INTO build VALUES('ce','{\"verdict\":\"ok\"}','feed')",
       "FOREIGN KEY"},
      {"UPDATE build SET result='{\"verdict\":\"crash\"}'",
       "a build does not change"},
      {TIME "'sim:x','m=16,n=16,k=128',0.0,'' FROM candidate LIMIT 1",
       "a time is"},
      {TIME "'sim:x','m=16,n=16,k=128',-1.0,'' FROM candidate LIMIT 1",
       "a time is"},
      {TIME "'sim:x','m=16,n=16,k=128',9e999,'' FROM candidate LIMIT 1",
       "a time is"},
      {TIME "'','m=16,n=16,k=128',1.0,'' FROM candidate LIMIT 1", "a time is"},
      {TIME "'sim:x','m=0,n=16,k=128',1.0,'' FROM candidate LIMIT 1",
       "a time is"},
      {TIME "'sim:x','m=16,n=16,k=128',1.0,'' FROM candidate LIMIT 1", ""},
      {"UPDATE measurement SET us=2", "a time does not change"},
      {"INSERT INTO measurement "
       "VALUES('none','x','m=1,n=1,k=1',1.0,'',NULL,NULL)",
       "FOREIGN KEY"},
      /* facts about a run */
      {"UPDATE run SET seed=2", "a run does not change"},
      {"INSERT INTO draw VALUES(1,77,'none')", "FOREIGN KEY"},
      {"INSERT INTO draw VALUES(99,1,'ab')", "FOREIGN KEY"},
      {"INSERT INTO draw VALUES(1,77,'ab')", ""},
      {"UPDATE draw SET candidate_id='ab'", "a draw does not change"},
      {"UPDATE exchange SET parent_id='ab'", "a question and its answer"},
      {"UPDATE exchange SET verdict='ok'", ""}, /* the outcome comes later */
      {"INSERT INTO confirmation(candidate_id,against_id,provenance,run_id,"
       "verdict,reason,search_speedup,held_out_speedup,worst_speedup,noise)"
       " VALUES('ab','','x',1,'ok','',1,1,1,0)",
       "a confirmation without"},
  };
  ws_arena *arena = ws_arena_create();
  char *path = fixture_path(arena, "a.db");
  const ws_template *tmpl = fixture_template(arena);
  ws_archive *archive;
  MUST(ws_archive_open(path, true, &archive, diag));
  MUST(ws_archive_put_template(archive, tmpl, template_text, NULL, diag));
  int64_t run = fixture_run(archive, tmpl, 1);
  fixture_put(archive, arena, tmpl, run, 0);
  const ws_exchange_row exchange = {.run_id = run,
                                    .sequence = 0,
                                    .kind = "exploit",
                                    .member = "m",
                                    .parent_id = "",
                                    .second_parent_id = ""};
  MUST(ws_archive_put_exchange(archive, &exchange, diag));
  ws_archive_close(archive);
  sqlite3 *database;
  WS_CHECK_INT(sqlite3_open(path, &database), SQLITE_OK);
  WS_CHECK_TEXT(error_of(arena, database, "PRAGMA foreign_keys=ON"), "");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *error = error_of(arena, database, cases[i].sql);
    if (*cases[i].part ? !strstr(error, cases[i].part) : *error)
      WS_FAIL("%s: '%s', want '%s'", cases[i].sql, error, cases[i].part);
  }
  sqlite3_close(database);
  fixture_remove(arena, path);
  ws_arena_destroy(arena);
}
