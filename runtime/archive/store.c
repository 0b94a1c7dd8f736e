/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Statements, transactions, and what each error of SQLite means to the user
 * (tables: schema.c, the file: open.c). Writers take the lock at BEGIN
 * (IMMEDIATE), so that two processes wait for each other instead of failing
 * half way.
 */
#include "store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* ---- errors ---- */
static const struct error_meaning {
  int code;
  ws_status status;
  const char *sentence;
} error_meanings[] = {
    {SQLITE_FULL, WS_ENVIRONMENT,
     "no space left on the device; what was recorded is kept: free some space "
     "and run the same command again"},
    {SQLITE_TOOBIG, WS_ENVIRONMENT,
     "the file may not grow, by a limit on the size of files; what was "
     "recorded "
     "is kept: raise it (ulimit -f) and run the same command again"},
    {SQLITE_BUSY, WS_ENVIRONMENT,
     "another process has held its lock for 10 s; end that process or wait "
     "for it"},
    {SQLITE_LOCKED, WS_ENVIRONMENT,
     "another process holds its lock; end that process or wait for it"},
    {SQLITE_CORRUPT, WS_INPUT,
     "the archive is corrupt; restore it from a copy, or import its text "
     "export into a new file"},
    /* Statements are fixed: one that fails says that the file's format or
     * tables are not what its header says. */
    {SQLITE_ERROR, WS_INPUT,
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

/* What SQLite does after a failed write overwrites its errno. */
static bool may_not_grow(ws_archive *archive) {
  struct rlimit limit;
  int code = sqlite3_extended_errcode(archive->database);
  return (code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE) &&
         getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         limit.rlim_cur != RLIM_INFINITY;
}

ws_status ws__archive_error(ws_archive *archive, int code, ws_diag *diag) {
  int primary = code & 0xff, cause = sqlite3_system_errno(archive->database);
  if (primary == SQLITE_IOERR && (cause == ENOSPC || cause == EDQUOT))
    primary = SQLITE_FULL;
  if (primary == SQLITE_IOERR && may_not_grow(archive))
    primary = SQLITE_TOOBIG;
  /* SQLite has no code of its own for a header that says so. */
  if (primary == SQLITE_ERROR &&
      strstr(sqlite3_errmsg(archive->database), "unsupported file format"))
    primary = SQLITE_CORRUPT;
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

ws_status ws__archive_number(ws_archive *archive, const char *sql,
                             int64_t *out_number, ws_diag *diag) {
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(archive, &statement, diag, sql, ""));
  bool row;
  ws_status status = ws__archive_step(archive, statement, &row, diag);
  *out_number = status == WS_OK && row ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  return status;
}

const char *ws__archive_text(ws_arena *arena, sqlite3_stmt *statement,
                             int column) {
  const char *text = (const char *)sqlite3_column_text(statement, column);
  return ws_arena_strdup(arena, text ? text : "");
}

ws_shape ws__archive_shape(sqlite3_stmt *statement, int column) {
  const char *text = (const char *)sqlite3_column_text(statement, column);
  ws_shape shape;
  return text && ws_shape_read(text, &shape) ? shape : (ws_shape){.dims = NULL};
}

void *ws__rows_add(ws__rows *rows) {
  if (rows->count == rows->capacity) {
    int capacity = rows->capacity ? 2 * rows->capacity : 16;
    void *items = ws_arena_alloc(rows->arena, rows->size * (size_t)capacity);
    if (rows->count)
      memcpy(items, rows->items, rows->size * (size_t)rows->count);
    rows->items = items;
    rows->capacity = capacity;
  }
  return (char *)rows->items + rows->size * (size_t)rows->count++;
}

ws_status ws__archive_read_rows(
    ws_archive *archive, sqlite3_stmt *owned_statement, ws__rows *rows,
    void (*read)(ws_arena *arena, sqlite3_stmt *statement, void *out_item),
    ws_diag *diag) {
  bool row;
  ws_status status;
  while ((status = ws__archive_step(archive, owned_statement, &row, diag)) ==
             WS_OK &&
         row)
    read(rows->arena, owned_statement, ws__rows_add(rows));
  sqlite3_finalize(owned_statement);
  return status;
}

ws_status ws__archive_begin(ws_archive *archive, ws_diag *diag) {
  if (archive->depth == 0)
    WS_TRY(ws__archive_execute(archive, diag, "BEGIN IMMEDIATE", ""));
  archive->depth++;
  return WS_OK;
}

ws_status ws__archive_end(ws_archive *archive, ws_status status,
                          ws_diag *diag) {
  if (--archive->depth > 0)
    return status; /* whoever began it all gets to know */
  if (status == WS_OK)
    status = ws__archive_execute(archive, diag, "COMMIT", "");
  /* After some errors SQLite has rolled back by itself. */
  if (status != WS_OK && !sqlite3_get_autocommit(archive->database))
    sqlite3_exec(archive->database, "ROLLBACK", NULL, NULL, NULL);
  return status;
}

ws_status ws_archive_begin(ws_archive *archive, ws_diag *diag) {
  return ws__archive_begin(archive, diag);
}

ws_status ws_archive_end(ws_archive *archive, ws_status status, ws_diag *diag) {
  return ws__archive_end(archive, status, diag);
}
