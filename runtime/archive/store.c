/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The file itself: opening, the schema, statements, transactions, and what
 * each error of SQLite means to the user.
 *
 * Write-ahead log with synchronous NORMAL: a commit is in the log file before
 * the call returns, so killing the process loses nothing that was recorded; a
 * power cut may lose the last commits but never damages the file. Writers take
 * the lock at BEGIN (IMMEDIATE), so that two processes wait for each other
 * instead of failing half way. Tables are STRICT; bodies and code objects are
 * stored once under the hash of their content.
 */
#include "store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  APPLICATION_ID = 0x57534152, /* "WSAR" */
  BUSY_TIMEOUT_MS = 10000,
  LOCK_RETRY_MS = 20
};

static const char schema[] =
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

/* Reading nothing from every table finds a missing one or another layout. */
static const char *const schema_probes[] = {
    "SELECT hash,name,version,problem,target,file,text,records FROM template"
    " LIMIT 0",
    "SELECT id,problem,layout,target,strategy,shape_set,settings,seed,"
    "started_unix_ms FROM run LIMIT 0",
    "SELECT hash,language,text FROM body LIMIT 0",
    "SELECT hash,data FROM code_object LIMIT 0",
    "SELECT number,id,template_hash,layout,assignments,variants,proposer,"
    "parent_id,move,run_id,sequence,verdict,stage,reason,ir_hash,code_hash"
    " FROM candidate LIMIT 0",
    "SELECT candidate_id,result,code_object FROM build LIMIT 0",
    "SELECT candidate_id,region,body FROM candidate_body LIMIT 0",
    "SELECT candidate_id,provenance,m,n,k,us,bound FROM measurement LIMIT 0",
};

/* ---- errors ---- */
static const struct error_meaning {
  int code;
  ws_status status;
  const char *sentence;
} error_meanings[] = {
    {SQLITE_FULL, WS_ENVIRONMENT,
     "no space left on the device; what was recorded is kept: free some space "
     "and run the same command again"},
    {SQLITE_BUSY, WS_ENVIRONMENT,
     "another process has held its lock for 10 s; end that process or wait "
     "for it"},
    {SQLITE_LOCKED, WS_ENVIRONMENT,
     "another process holds its lock; end that process or wait for it"},
    {SQLITE_CORRUPT, WS_INPUT,
     "the archive is corrupt; restore it from a copy, or import its text "
     "export into a new file"},
    {SQLITE_NOTADB, WS_INPUT,
     "this file is not a wavesmith archive; name another file"},
    {SQLITE_READONLY, WS_ENVIRONMENT,
     "the file or its folder cannot be written; make both writable or copy "
     "the archive elsewhere"},
    {SQLITE_CANTOPEN, WS_ENVIRONMENT,
     "cannot open or create the file or the log beside it; the folder must "
     "exist and be writable"},
    {SQLITE_PERM, WS_ENVIRONMENT,
     "no permission to open the file; make it readable and writable"},
};

ws_status ws__archive_error(ws_archive *archive, int code, ws_diag *diag) {
  int primary = code & 0xff;
  if (primary == SQLITE_IOERR &&
      sqlite3_system_errno(archive->database) == ENOSPC)
    primary = SQLITE_FULL;
  for (size_t i = 0; i < sizeof error_meanings / sizeof error_meanings[0]; i++)
    if (error_meanings[i].code == primary)
      return ws_fail(diag, error_meanings[i].status, archive->path, 0, "%s",
                     error_meanings[i].sentence);
  return ws_fail(diag, WS_ENVIRONMENT, archive->path, 0,
                 "the database failed: %s (%s)",
                 sqlite3_errmsg(archive->database), sqlite3_errstr(code));
}

/* ---- statements ---- */
static int bind_argument(sqlite3_stmt *statement, int index, char type,
                         va_list *arguments) {
  switch (type) {
  case 't': {
    const char *text = va_arg(*arguments, const char *);
    return sqlite3_bind_text(statement, index, text ? text : "", -1,
                             SQLITE_TRANSIENT);
  }
  case 'i':
    return sqlite3_bind_int64(statement, index, va_arg(*arguments, int64_t));
  case 'd':
    return sqlite3_bind_double(statement, index, va_arg(*arguments, double));
  case 'b': {
    const void *data = va_arg(*arguments, const void *);
    size_t size = va_arg(*arguments, size_t);
    return data ? sqlite3_bind_blob64(statement, index, data, size,
                                      SQLITE_TRANSIENT)
                : sqlite3_bind_null(statement, index);
  }
  default:
    ws_assert_failed("known bind type", __FILE__, __LINE__);
  }
}

static ws_status query_list(ws_archive *archive, sqlite3_stmt **out_statement,
                            ws_diag *diag, const char *sql, const char *types,
                            va_list *arguments) {
  *out_statement = NULL;
  int code =
      sqlite3_prepare_v2(archive->database, sql, -1, out_statement, NULL);
  for (int i = 0; code == SQLITE_OK && types[i]; i++)
    code = bind_argument(*out_statement, i + 1, types[i], arguments);
  if (code == SQLITE_OK)
    return WS_OK;
  ws_status status = ws__archive_error(archive, code, diag);
  sqlite3_finalize(*out_statement);
  *out_statement = NULL;
  return status;
}

ws_status ws__archive_query(ws_archive *archive, sqlite3_stmt **out_statement,
                            ws_diag *diag, const char *sql, const char *types,
                            ...) {
  va_list arguments;
  va_start(arguments, types);
  ws_status status =
      query_list(archive, out_statement, diag, sql, types, &arguments);
  va_end(arguments);
  return status;
}

ws_status ws__archive_step(ws_archive *archive, sqlite3_stmt *statement,
                           bool *out_row, ws_diag *diag) {
  int code = sqlite3_step(statement);
  *out_row = code == SQLITE_ROW;
  if (code == SQLITE_ROW || code == SQLITE_DONE)
    return WS_OK;
  return ws__archive_error(archive, code, diag);
}

ws_status ws__archive_execute(ws_archive *archive, ws_diag *diag,
                              const char *sql, const char *types, ...) {
  va_list arguments;
  va_start(arguments, types);
  sqlite3_stmt *statement;
  ws_status status =
      query_list(archive, &statement, diag, sql, types, &arguments);
  va_end(arguments);
  bool row = true;
  while (status == WS_OK && row)
    status = ws__archive_step(archive, statement, &row, diag);
  sqlite3_finalize(statement);
  return status;
}

const char *ws__archive_text(ws_arena *arena, sqlite3_stmt *statement,
                             int column) {
  const char *text = (const char *)sqlite3_column_text(statement, column);
  return ws_arena_strdup(arena, text ? text : "");
}

ws_status ws__archive_begin(ws_archive *archive, ws_diag *diag) {
  return ws__archive_execute(archive, diag, "BEGIN IMMEDIATE", "");
}

ws_status ws__archive_end(ws_archive *archive, ws_status status,
                          ws_diag *diag) {
  if (status == WS_OK)
    status = ws__archive_execute(archive, diag, "COMMIT", "");
  /* After some errors SQLite has rolled back by itself. */
  if (status != WS_OK && !sqlite3_get_autocommit(archive->database))
    sqlite3_exec(archive->database, "ROLLBACK", NULL, NULL, NULL);
  return status;
}

/* ---- opening ---- */
static ws_status read_number(ws_archive *archive, const char *sql,
                             int64_t *out_number, ws_diag *diag) {
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(archive, &statement, diag, sql, ""));
  bool row;
  ws_status status = ws__archive_step(archive, statement, &row, diag);
  *out_number = status == WS_OK && row ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  return status;
}

/* Changing to the write-ahead log needs the file alone and does not wait for
 * it (SQLite's busy handler is not asked), hence the loop. A file system
 * without shared memory keeps the rollback journal, which is as safe. */
static ws_status use_write_ahead_log(ws_archive *archive, ws_diag *diag) {
  double end_ms = ws_clock_ms() + BUSY_TIMEOUT_MS;
  int code;
  while ((code = sqlite3_exec(archive->database, "PRAGMA journal_mode=WAL",
                              NULL, NULL, NULL)) == SQLITE_BUSY &&
         ws_clock_ms() < end_ms) {
    struct timespec pause = {0, LOCK_RETRY_MS * 1000000L};
    nanosleep(&pause, NULL);
  }
  return code == SQLITE_OK ? WS_OK : ws__archive_error(archive, code, diag);
}

/* A new or empty file becomes an archive. Under the lock, because another
 * process may be doing the same. */
static ws_status create_schema(ws_archive *archive, ws_diag *diag) {
  WS_TRY(ws__archive_begin(archive, diag));
  int64_t version = 0;
  ws_status status =
      read_number(archive, "PRAGMA user_version", &version, diag);
  if (status == WS_OK && version == 0) {
    char sql[sizeof schema + 128];
    snprintf(sql, sizeof sql,
             "%s PRAGMA application_id=%d; PRAGMA user_version=%d;", schema,
             APPLICATION_ID, WS_ARCHIVE_VERSION);
    int code = sqlite3_exec(archive->database, sql, NULL, NULL, NULL);
    if (code != SQLITE_OK)
      status = ws__archive_error(archive, code, diag);
  }
  return ws__archive_end(archive, status, diag);
}

static ws_status check_schema(ws_archive *archive, ws_diag *diag) {
  int64_t version = 0;
  WS_TRY(read_number(archive, "PRAGMA user_version", &version, diag));
  if (version > WS_ARCHIVE_VERSION)
    return ws_fail(diag, WS_INPUT, archive->path, 0,
                   "the archive has version %lld, this program reads up to "
                   "%d; use the newer wavesmith that wrote it",
                   (long long)version, WS_ARCHIVE_VERSION);
  if (version < 1)
    return ws__archive_error(archive, SQLITE_CORRUPT, diag);
  if (version < WS_ARCHIVE_VERSION)
    return ws_fail(diag, WS_INPUT, archive->path, 0,
                   "the archive has version %lld, this program reads %d; name "
                   "another file, or move what is in it by a text export of "
                   "the wavesmith that wrote it",
                   (long long)version, WS_ARCHIVE_VERSION);
  for (size_t i = 0; i < sizeof schema_probes / sizeof schema_probes[0]; i++) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(archive->database, schema_probes[i], -1,
                                  &statement, NULL);
    sqlite3_finalize(statement);
    if (code != SQLITE_OK) /* SQLITE_ERROR: no such table or column */
      return ws__archive_error(
          archive, code == SQLITE_ERROR ? SQLITE_CORRUPT : code, diag);
  }
  return WS_OK;
}

/* What the file is, before anything is written to it. */
static ws_status identify(ws_archive *archive, bool create, bool *out_empty,
                          ws_diag *diag) {
  int64_t application = 0, objects = 0;
  WS_TRY(read_number(archive, "SELECT count(*) FROM sqlite_schema", &objects,
                     diag));
  WS_TRY(read_number(archive, "PRAGMA application_id", &application, diag));
  *out_empty = objects == 0 && application == 0;
  if (*out_empty && !create)
    return ws_fail(diag, WS_INPUT, archive->path, 0,
                   "the file is empty, not a wavesmith archive; `wavesmith "
                   "tune` makes one");
  if (!*out_empty && application != APPLICATION_ID)
    return ws__archive_error(archive, SQLITE_NOTADB, diag);
  return WS_OK;
}

static ws_status prepare_file(ws_archive *archive, bool create, ws_diag *diag) {
  bool empty = false;
  WS_TRY(identify(archive, create, &empty, diag));
  WS_TRY(use_write_ahead_log(archive, diag));
  WS_TRY(ws__archive_execute(archive, diag, "PRAGMA synchronous=NORMAL", ""));
  WS_TRY(ws__archive_execute(archive, diag, "PRAGMA foreign_keys=ON", ""));
  WS_TRY(ws__archive_add_functions(archive, diag));
  if (empty)
    WS_TRY(create_schema(archive, diag));
  return check_schema(archive, diag);
}

ws_status ws_archive_open(const char *path, bool create,
                          ws_archive **out_archive, ws_diag *diag) {
  *out_archive = NULL;
  bool in_memory = !strcmp(path, ":memory:");
  if (!create && !in_memory && !ws_file_exists(path))
    return ws_fail(diag, WS_INPUT, path, 0,
                   "there is no such archive; `wavesmith tune` makes one");
  ws_archive *archive = calloc(1, sizeof *archive);
  WS_ASSERT(archive);
  archive->path = strdup(path);
  WS_ASSERT(archive->path);
  int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
  int code = sqlite3_open_v2(path, &archive->database, flags, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_busy_timeout(archive->database, BUSY_TIMEOUT_MS);
  ws_status status = code == SQLITE_OK
                         ? prepare_file(archive, create || in_memory, diag)
                         : ws__archive_error(archive, code, diag);
  if (status != WS_OK) {
    ws_archive_close(archive);
    return status;
  }
  *out_archive = archive;
  return WS_OK;
}

void ws_archive_close(ws_archive *archive) {
  if (!archive)
    return;
  sqlite3_close(archive->database);
  free(archive->path);
  free(archive);
}
