/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The tables. Each version is a step from the one before; a new file takes all
 * steps, an older archive those it lacks, in one transaction under the lock,
 * so that the tables are the same whichever way a file came to them and two
 * processes may open it at once. Tables are STRICT. What may be large and
 * repeats (bodies, code objects, prompts, replies) is stored once under the
 * hash of its content. Columns that a step adds have defaults: a program of the
 * version before that still has the file open can go on writing to it; not so
 * after versions 8 and 9, which make tables anew.
 */
#include "store.h"

#include <stdio.h>

static const char version_2[] =
    "CREATE TABLE template("
    " hash TEXT PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL,"
    " problem TEXT NOT NULL, target TEXT NOT NULL, file TEXT NOT NULL,"
    " text TEXT NOT NULL, records TEXT NOT NULL) STRICT;"
    "CREATE TABLE run("
    " id INTEGER PRIMARY KEY, problem TEXT NOT NULL, layout TEXT NOT NULL,"
    " target TEXT NOT NULL, strategy TEXT NOT NULL, shape_set TEXT NOT NULL,"
    " settings TEXT NOT NULL, seed INTEGER NOT NULL,"
    " started_unix_ms INTEGER NOT NULL) STRICT;"
    "CREATE TABLE body("
    " hash TEXT PRIMARY KEY, language TEXT NOT NULL, text TEXT NOT NULL)"
    " STRICT;"
    "CREATE TABLE code_object("
    " hash TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT;"
    /* No reference to candidate, which comes after its build. */
    "CREATE TABLE build("
    " candidate_id TEXT PRIMARY KEY, result TEXT NOT NULL,"
    " code_object TEXT REFERENCES code_object(hash)) STRICT;"
    "CREATE TABLE candidate("
    " number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
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
    " PRIMARY KEY(candidate_id, provenance, m, n, k)) STRICT, WITHOUT ROWID;";

/* Models: where candidates come from, what was asked and answered. */
static const char version_3[] =
    "ALTER TABLE candidate ADD COLUMN second_parent_id TEXT NOT NULL"
    " DEFAULT '';"
    "ALTER TABLE candidate ADD COLUMN kind TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE candidate ADD COLUMN label TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE candidate ADD COLUMN cell TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE candidate ADD COLUMN island INTEGER NOT NULL DEFAULT 0;"
    "CREATE INDEX candidate_parent ON candidate(parent_id);"
    "CREATE INDEX candidate_second_parent ON candidate(second_parent_id);"
    /* NULL: us itself. */
    "ALTER TABLE measurement ADD COLUMN low_us REAL;"
    "ALTER TABLE measurement ADD COLUMN high_us REAL;"
    /* What a run drew, be it new or known from another run. */
    "CREATE TABLE draw("
    " run_id INTEGER NOT NULL REFERENCES run(id), sequence INTEGER NOT NULL,"
    " candidate_id TEXT NOT NULL REFERENCES candidate(id),"
    " PRIMARY KEY(run_id, sequence)) STRICT, WITHOUT ROWID;"
    "INSERT OR IGNORE INTO draw SELECT run_id,sequence,id FROM candidate"
    " ORDER BY number;"
    /* The size stands before the text, so that lists need not read it. */
    "CREATE TABLE content(hash TEXT PRIMARY KEY, size_bytes INTEGER NOT NULL,"
    " text TEXT NOT NULL) STRICT;"
    /* No reference to candidate, which comes after its exchange. */
    "CREATE TABLE exchange("
    " run_id INTEGER NOT NULL REFERENCES run(id), sequence INTEGER NOT NULL,"
    " kind TEXT NOT NULL, member TEXT NOT NULL, prompt_version TEXT NOT NULL,"
    " prompt_hash TEXT NOT NULL, prompt_cut TEXT NOT NULL,"
    " system TEXT NOT NULL REFERENCES content(hash),"
    " prompt TEXT NOT NULL REFERENCES content(hash),"
    " reply TEXT NOT NULL REFERENCES content(hash),"
    " error TEXT NOT NULL, prompt_tokens INTEGER NOT NULL,"
    " reply_tokens INTEGER NOT NULL, usd REAL NOT NULL, seconds REAL NOT NULL,"
    " unix_ms INTEGER NOT NULL, candidate_id TEXT NOT NULL,"
    " verdict TEXT NOT NULL, stage TEXT NOT NULL, reason TEXT NOT NULL,"
    " claims TEXT NOT NULL, reward REAL NOT NULL,"
    " PRIMARY KEY(run_id, sequence)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX exchange_candidate ON exchange(candidate_id);"
    "CREATE TABLE findings("
    " run_id INTEGER NOT NULL REFERENCES run(id), sequence INTEGER NOT NULL,"
    " text TEXT NOT NULL REFERENCES content(hash),"
    " PRIMARY KEY(run_id, sequence)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE confirmation("
    " number INTEGER PRIMARY KEY,"
    " candidate_id TEXT NOT NULL REFERENCES candidate(id),"
    " against_id TEXT NOT NULL, provenance TEXT NOT NULL,"
    " run_id INTEGER NOT NULL REFERENCES run(id), verdict TEXT NOT NULL,"
    " reason TEXT NOT NULL, search_speedup REAL NOT NULL,"
    " held_out_speedup REAL NOT NULL, worst_speedup REAL NOT NULL,"
    " noise REAL NOT NULL) STRICT;"
    "CREATE INDEX confirmation_candidate"
    " ON confirmation(candidate_id, provenance);"
    "CREATE TABLE profile("
    " candidate_id TEXT NOT NULL REFERENCES candidate(id),"
    " provenance TEXT NOT NULL, m INTEGER NOT NULL, n INTEGER NOT NULL,"
    " k INTEGER NOT NULL, report TEXT NOT NULL,"
    " PRIMARY KEY(candidate_id, provenance)) STRICT, WITHOUT ROWID;";

/* What stands behind a time that was measured: samples, clocks, the card. */
static const char version_4[] =
    "CREATE TABLE timing("
    " candidate_id TEXT NOT NULL REFERENCES candidate(id),"
    " provenance TEXT NOT NULL, m INTEGER NOT NULL, n INTEGER NOT NULL,"
    " k INTEGER NOT NULL, samples_us TEXT NOT NULL, low_mhz INTEGER NOT NULL,"
    " high_mhz INTEGER NOT NULL, memory_mhz INTEGER NOT NULL,"
    " dropped INTEGER NOT NULL, throttle TEXT NOT NULL,"
    " device TEXT NOT NULL REFERENCES content(hash),"
    " PRIMARY KEY(candidate_id, provenance, m, n, k)) STRICT, WITHOUT ROWID;";

/* What a request started from; and the invariants of archive.h. A constraint on
 * a table that is there would need the table anew, and a program of the version
 * before may be writing to it: triggers hold for both. */
#define REFUSE(name, event, table, broken, sentence)                           \
  "CREATE TRIGGER " name " BEFORE " event " ON " table " WHEN " broken         \
  " BEGIN SELECT RAISE(ABORT,'" sentence "'); END;"
#define VERDICTS                                                               \
  "('ok','illegal','no_compile','crash','timeout','wrong','unstable','slow',"  \
  "'duplicate')"
static const char version_5[] =
    "ALTER TABLE exchange ADD COLUMN parent_id TEXT;"
    "ALTER TABLE exchange ADD COLUMN second_parent_id TEXT;"
    /* A verdict is one of those there are, and is about the candidate. */
    REFUSE("candidate_verdict", "INSERT", "candidate",
           "NEW.verdict NOT IN " VERDICTS, "a candidate without a verdict")
        REFUSE("build_verdict", "INSERT", "build",
               "NOT json_valid(NEW.result)"
               " OR json_extract(NEW.result,'$.verdict') NOT IN " VERDICTS,
               "a build without a verdict")
            REFUSE("build_blame", "INSERT", "build",
                   "json_valid(NEW.result)"
                   " AND json_extract(NEW.result,'$.blame') IS NOT NULL",
                   "a failure of the machinery is no build")
                REFUSE("build_is_for_ever", "UPDATE OF candidate_id,result",
                       "build",
                       "NEW.candidate_id<>OLD.candidate_id OR "
                       "NEW.result<>OLD.result",
                       "a build does not change")
    /* What a candidate is does not change; its verdict does once, from ok. */
    REFUSE("candidate_is_for_ever",
           "UPDATE OF id,template_hash,layout,assignments,variants,run_id,"
           "sequence,ir_hash,code_hash",
           "candidate",
           "NEW.id<>OLD.id OR NEW.template_hash<>OLD.template_hash"
           " OR NEW.layout<>OLD.layout OR NEW.assignments<>OLD.assignments"
           " OR NEW.variants<>OLD.variants OR NEW.run_id<>OLD.run_id"
           " OR NEW.sequence<>OLD.sequence OR NEW.ir_hash<>OLD.ir_hash"
           " OR NEW.code_hash<>OLD.code_hash",
           "a candidate does not change")
        REFUSE("candidate_refuted", "UPDATE OF verdict,stage", "candidate",
               "OLD.verdict<>'ok' OR NEW.stage<>'" WS_STAGE_OF_DEVICE "'"
               " OR NEW.verdict IN ('ok','duplicate')"
               " OR NEW.verdict NOT IN " VERDICTS,
               "only a device refutes, and only what was ok")
            REFUSE("candidate_stays", "DELETE", "candidate", "1",
                   "a candidate does not go")
    /* Times are positive and finite, and somebody's. */
    REFUSE("measurement_is_a_time", "INSERT", "measurement",
           "NOT (NEW.us>0 AND NEW.us<1e300) OR NEW.provenance=''"
           " OR NEW.m<1 OR NEW.n<1 OR NEW.k<1",
           "a time is positive, of a shape and of a provenance")
        REFUSE("measurement_is_for_ever", "UPDATE", "measurement", "1",
               "a time does not change")
    /* A run's facts. */
    REFUSE("run_is_for_ever", "UPDATE", "run", "1", "a run does not change")
        REFUSE("draw_is_for_ever", "UPDATE", "draw", "1",
               "a draw does not change")
            REFUSE("exchange_is_for_ever",
                   "UPDATE OF "
                   "run_id,sequence,kind,member,system,prompt,reply,parent_id,"
                   "second_parent_id",
                   "exchange", "1", "a question and its answer do not change")
                REFUSE("confirmation_verdict", "INSERT", "confirmation",
                       "NEW.verdict NOT IN " VERDICTS " OR NEW.provenance=''"
                       " OR NEW.against_id=''",
                       "a confirmation without a verdict, a device or a rival");

/* The shapes that a candidate was verified on before it could win. */
static const char version_6[] =
    "CREATE TABLE coverage("
    " candidate_id TEXT NOT NULL REFERENCES candidate(id),"
    " provenance TEXT NOT NULL, run_id INTEGER NOT NULL REFERENCES run(id),"
    " seed INTEGER NOT NULL, verified INTEGER NOT NULL,"
    " planned INTEGER NOT NULL, text TEXT NOT NULL,"
    " PRIMARY KEY(candidate_id, provenance)) STRICT, WITHOUT ROWID;";

/* What a specialist gains where it is chosen. */
static const char version_7[] =
    "ALTER TABLE confirmation ADD COLUMN chosen_speedup REAL NOT NULL"
    " DEFAULT 0;"
    "ALTER TABLE confirmation ADD COLUMN chosen_shapes INTEGER NOT NULL"
    " DEFAULT 0;";

/* Shapes by the names of their dimensions: 'rows=16,cols=4096'. A primary key
 * cannot be changed, so the tables are made anew; a program of the version
 * before that still has the file open fails to write to them. */
#define SHAPES_OF_BEFORE "'m='||m||',n='||n||',k='||k"
static const char version_8[] =
    "CREATE TABLE new_measurement("
    " candidate_id TEXT NOT NULL REFERENCES candidate(id),"
    " provenance TEXT NOT NULL, shape TEXT NOT NULL, us REAL NOT NULL,"
    " bound TEXT NOT NULL, low_us REAL, high_us REAL,"
    " PRIMARY KEY(candidate_id, provenance, shape)) STRICT, WITHOUT ROWID;"
    "INSERT INTO new_measurement SELECT "
    "candidate_id,provenance," SHAPES_OF_BEFORE
    ",us,bound,low_us,high_us FROM measurement;"
    "DROP TABLE measurement;"
    "ALTER TABLE new_measurement RENAME TO measurement;"
    "CREATE TABLE new_timing("
    " candidate_id TEXT NOT NULL REFERENCES candidate(id),"
    " provenance TEXT NOT NULL, shape TEXT NOT NULL, samples_us TEXT NOT NULL,"
    " low_mhz INTEGER NOT NULL, high_mhz INTEGER NOT NULL,"
    " memory_mhz INTEGER NOT NULL, dropped INTEGER NOT NULL,"
    " throttle TEXT NOT NULL, device TEXT NOT NULL REFERENCES content(hash),"
    " PRIMARY KEY(candidate_id, provenance, shape)) STRICT, WITHOUT ROWID;"
    "INSERT INTO new_timing SELECT candidate_id,provenance," SHAPES_OF_BEFORE
    ",samples_us,low_mhz,high_mhz,memory_mhz,dropped,throttle,device"
    " FROM timing;"
    "DROP TABLE timing;"
    "ALTER TABLE new_timing RENAME TO timing;"
    "CREATE TABLE new_profile("
    " candidate_id TEXT NOT NULL REFERENCES candidate(id),"
    " provenance TEXT NOT NULL, shape TEXT NOT NULL, report TEXT NOT NULL,"
    " PRIMARY KEY(candidate_id, provenance)) STRICT, WITHOUT ROWID;"
    "INSERT INTO new_profile SELECT candidate_id,provenance," SHAPES_OF_BEFORE
    ",report FROM profile;"
    "DROP TABLE profile;"
    "ALTER TABLE new_profile RENAME TO profile;" REFUSE(
        "measurement_is_a_time", "INSERT", "measurement",
        "NOT (NEW.us>0 AND NEW.us<1e300) OR NEW.provenance=''"
        " OR NEW.shape NOT GLOB '?*=[1-9]*' OR NEW.shape GLOB '*=[^1-9]*'"
        " OR NEW.shape GLOB '*='",
        "a time is positive, of a shape and of a provenance")
        REFUSE("measurement_is_for_ever", "UPDATE", "measurement", "1",
               "a time does not change");

/* A profile for each of a few shapes. */
static const char version_9[] =
    "CREATE TABLE new_profile("
    " candidate_id TEXT NOT NULL REFERENCES candidate(id),"
    " provenance TEXT NOT NULL, shape TEXT NOT NULL, report TEXT NOT NULL,"
    " PRIMARY KEY(candidate_id, provenance, shape)) STRICT, WITHOUT ROWID;"
    "INSERT INTO new_profile SELECT candidate_id,provenance,shape,report"
    " FROM profile;"
    "DROP TABLE profile;"
    "ALTER TABLE new_profile RENAME TO profile;";

enum { OLDEST = 2 }; /* version that can be brought up to this program's */
static const struct step {
  int version;
  const char *sql;
} steps[] = {{2, version_2}, {3, version_3}, {4, version_4}, {5, version_5},
             {6, version_6}, {7, version_7}, {8, version_8}, {9, version_9}};

/* Reading nothing from every table finds a missing one or another layout. */
static const char *const probes[] = {
    "SELECT hash,name,version,problem,target,file,text,records FROM template"
    " LIMIT 0",
    "SELECT id,problem,layout,target,strategy,shape_set,settings,seed,"
    "started_unix_ms FROM run LIMIT 0",
    "SELECT hash,language,text FROM body LIMIT 0",
    "SELECT hash,data FROM code_object LIMIT 0",
    "SELECT number,id,template_hash,layout,assignments,variants,proposer,"
    "parent_id,second_parent_id,kind,label,cell,island,move,run_id,sequence,"
    "verdict,stage,reason,ir_hash,code_hash FROM candidate LIMIT 0",
    "SELECT candidate_id,result,code_object FROM build LIMIT 0",
    "SELECT candidate_id,region,body FROM candidate_body LIMIT 0",
    "SELECT candidate_id,provenance,shape,us,bound,low_us,high_us"
    " FROM measurement LIMIT 0",
    "SELECT run_id,sequence,candidate_id FROM draw LIMIT 0",
    "SELECT hash,size_bytes,text FROM content LIMIT 0",
    "SELECT run_id,sequence,kind,member,prompt_version,prompt_hash,prompt_cut,"
    "system,prompt,reply,error,prompt_tokens,reply_tokens,usd,seconds,unix_ms,"
    "candidate_id,verdict,stage,reason,claims,reward,parent_id,"
    "second_parent_id FROM exchange LIMIT 0",
    "SELECT run_id,sequence,text FROM findings LIMIT 0",
    "SELECT number,candidate_id,against_id,provenance,run_id,verdict,reason,"
    "search_speedup,held_out_speedup,worst_speedup,noise,chosen_speedup,"
    "chosen_shapes FROM confirmation LIMIT 0",
    "SELECT candidate_id,provenance,shape,report FROM profile LIMIT 0",
    "SELECT candidate_id,provenance,run_id,seed,verified,planned,text"
    " FROM coverage LIMIT 0",
    "SELECT candidate_id,provenance,shape,samples_us,low_mhz,high_mhz,"
    "memory_mhz,dropped,throttle,device FROM timing LIMIT 0",
};

static ws_status read_version(ws_archive *archive, int64_t *out_version,
                              ws_diag *diag) {
  return ws__archive_number(archive, "PRAGMA user_version", out_version, diag);
}

static ws_status execute_script(ws_archive *archive, const char *sql,
                                ws_diag *diag) {
  int code = sqlite3_exec(archive->database, sql, NULL, NULL, NULL);
  if (code == SQLITE_ERROR || code == SQLITE_CONSTRAINT)
    code = SQLITE_CORRUPT; /* the tables are not those of the version */
  return code == SQLITE_OK ? WS_OK : ws__archive_error(archive, code, diag);
}

/* The steps that the file lacks, another process's taken into account. */
static ws_status take_steps(ws_archive *archive, ws_diag *diag) {
  int64_t version = 0;
  WS_TRY(read_version(archive, &version, diag));
  if (version >= WS_ARCHIVE_VERSION)
    return WS_OK;
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
    if (steps[i].version > version)
      WS_TRY(execute_script(archive, steps[i].sql, diag));
  char header[96];
  snprintf(header, sizeof header,
           "PRAGMA application_id=%d; PRAGMA user_version=%d;",
           WS__APPLICATION_ID, WS_ARCHIVE_VERSION);
  return execute_script(archive, header, diag);
}

static ws_status bring_up(ws_archive *archive, int64_t version, ws_diag *diag) {
  if (sqlite3_db_readonly(archive->database, "main") == 1)
    return ws_fail(diag, WS_ENVIRONMENT, archive->path, 0,
                   "the archive has version %lld and is brought to version %d "
                   "when it is opened, but cannot be written; make the file "
                   "and its folder writable, or copy it elsewhere",
                   (long long)version, WS_ARCHIVE_VERSION);
  WS_TRY(ws__archive_begin(archive, diag));
  return ws__archive_end(archive, take_steps(archive, diag), diag);
}

static ws_status check_version(ws_archive *archive, int64_t version,
                               ws_diag *diag) {
  if (version > WS_ARCHIVE_VERSION)
    return ws_fail(diag, WS_INPUT, archive->path, 0,
                   "the archive has version %lld, this program reads up to "
                   "%d; use the newer wavesmith that wrote it",
                   (long long)version, WS_ARCHIVE_VERSION);
  if (version < 1)
    return ws__archive_error(archive, SQLITE_CORRUPT, diag);
  if (version < OLDEST)
    return ws_fail(diag, WS_INPUT, archive->path, 0,
                   "the archive has version %lld, this program reads %d to "
                   "%d; name another file, or move what is in it by a text "
                   "export of the wavesmith that wrote it",
                   (long long)version, OLDEST, WS_ARCHIVE_VERSION);
  return WS_OK;
}

static ws_status check_tables(ws_archive *archive, ws_diag *diag) {
  for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
    sqlite3_stmt *statement = NULL;
    int code =
        sqlite3_prepare_v2(archive->database, probes[i], -1, &statement, NULL);
    sqlite3_finalize(statement);
    if (code != SQLITE_OK) /* SQLITE_ERROR: no such table or column */
      return ws__archive_error(
          archive, code == SQLITE_ERROR ? SQLITE_CORRUPT : code, diag);
  }
  return WS_OK;
}

ws_status ws__archive_prepare_schema(ws_archive *archive, bool empty,
                                     ws_diag *diag) {
  int64_t version = 0;
  WS_TRY(read_version(archive, &version, diag));
  if (!empty)
    WS_TRY(check_version(archive, version, diag));
  if (empty || version < WS_ARCHIVE_VERSION) {
    WS_TRY(bring_up(archive, version, diag));
    WS_TRY(read_version(archive, &version, diag));
    WS_TRY(check_version(archive, version, diag));
  }
  return check_tables(archive, diag);
}
