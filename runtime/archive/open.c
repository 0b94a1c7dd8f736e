/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Opening and closing an archive: which files are one, what SQLite is told of
 * them, and the function and the order that its queries have beside SQLite's
 * own.
 *
 * Write-ahead log with synchronous NORMAL: a commit is in the log file before
 * the call returns, so killing the process loses nothing that was recorded; a
 * power cut may lose the last commits but never damages the file.
 */
#include "store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUSY_TIMEOUT_MS = 10000, LOCK_RETRY_MS = 20 };

/* ---- geomean(x): SQLite has none ---- */
typedef struct geomean_state {
  double log_sum;
  int64_t count;
} geomean_state;

static void geomean_step(sqlite3_context *context, int count,
                         sqlite3_value **values) {
  (void)count;
  if (sqlite3_value_type(values[0]) == SQLITE_NULL)
    return; /* as SQLite's own aggregates do */
  geomean_state *state = sqlite3_aggregate_context(context, sizeof *state);
  if (!state) {
    sqlite3_result_error_nomem(context);
    return;
  }
  state->log_sum += log(sqlite3_value_double(values[0]));
  state->count++;
}

static void geomean_finish(sqlite3_context *context) {
  const geomean_state *state = sqlite3_aggregate_context(context, 0);
  if (state && state->count)
    sqlite3_result_double(context, exp(state->log_sum / (double)state->count));
}

/* Shapes by their sizes, and not by the digits of these. */
static int compare_shapes(void *unused, int left_size, const void *left,
                          int right_size, const void *right) {
  char a[WS_SHAPE_TEXT], b[WS_SHAPE_TEXT];
  ws_shape x = {.dims = NULL}, y = {.dims = NULL};
  (void)unused;
  snprintf(a, sizeof a, "%.*s", left_size, (const char *)left);
  snprintf(b, sizeof b, "%.*s", right_size, (const char *)right);
  return ws_shape_read(a, &x) && ws_shape_read(b, &y) && x.dims == y.dims
             ? ws_shape_compare(&x, &y)
             : strcmp(a, b);
}

static ws_status add_functions(ws_archive *archive, ws_diag *diag) {
  int code = sqlite3_create_function_v2(
      archive->database, "geomean", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
      NULL, geomean_step, geomean_finish, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_create_collation(archive->database, "wavesmith_shape",
                                    SQLITE_UTF8, NULL, compare_shapes);
  return code == SQLITE_OK ? WS_OK : ws__archive_error(archive, code, diag);
}

/* ---- opening ---- */
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

/* What the file is, before anything is written to it. */
static ws_status identify(ws_archive *archive, bool create, bool *out_empty,
                          ws_diag *diag) {
  int64_t application = 0, objects = 0;
  WS_TRY(ws__archive_number(archive, "SELECT count(*) FROM sqlite_schema",
                            &objects, diag));
  WS_TRY(
      ws__archive_number(archive, "PRAGMA application_id", &application, diag));
  *out_empty = objects == 0 && application == 0;
  if (*out_empty && !create)
    return ws_fail(diag, WS_INPUT, archive->path, 0,
                   "the file is empty, not a wavesmith archive; `wavesmith "
                   "tune` makes one");
  if (!*out_empty && application != WS__APPLICATION_ID)
    return ws__archive_error(archive, SQLITE_NOTADB, diag);
  return WS_OK;
}

static ws_status prepare_file(ws_archive *archive, bool create, ws_diag *diag) {
  bool empty = false;
  WS_TRY(identify(archive, create, &empty, diag));
  WS_TRY(use_write_ahead_log(archive, diag));
  WS_TRY(ws__archive_execute(archive, diag, "PRAGMA synchronous=NORMAL", ""));
  WS_TRY(ws__archive_execute(archive, diag, "PRAGMA foreign_keys=ON", ""));
  WS_TRY(add_functions(archive, diag));
  return ws__archive_prepare_schema(archive, empty, diag);
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
