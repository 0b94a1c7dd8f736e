/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside the archive: the handle, statements and transactions. A public
 * function that changes state is begin, work, end; the ws__archive_add_*
 * functions are that work without the transaction, so that an import can do
 * many of them in one.
 */
#ifndef WAVESMITH_ARCHIVE_STORE_H
#define WAVESMITH_ARCHIVE_STORE_H

#include "wavesmith/archive.h"

#include <sqlite3.h>

enum { WS__APPLICATION_ID = 0x57534152 }; /* "WSAR" */

struct ws_archive {
  sqlite3 *database;
  char *path;
  int depth; /* of transactions */
};

/* Turns a result code of SQLite into a status and the sentence for the user;
 * the tables of store.c say which code means what. */
ws_status ws__archive_error(ws_archive *archive, int code, ws_diag *diag);

/* WS_INPUT: what was read does not match the hash that names it. */
ws_status ws__archive_damaged(ws_archive *archive, const char *what,
                              const char *name, ws_diag *diag);

/* Prepares sql and binds one argument per letter of types: t text (NULL binds
 * ""), i int64_t, d double, b bytes (pointer, size_t; NULL pointer binds
 * NULL). The caller ends it with sqlite3_finalize. */
ws_status ws__archive_query(ws_archive *archive, sqlite3_stmt **out_statement,
                            ws_diag *diag, const char *sql, const char *types,
                            ...) WS_MUST_CHECK;
ws_status ws__archive_step(ws_archive *archive, sqlite3_stmt *statement,
                           bool *out_row, ws_diag *diag) WS_MUST_CHECK;
/* The same for a statement without rows, from start to end. */
ws_status ws__archive_execute(ws_archive *archive, ws_diag *diag,
                              const char *sql, const char *types,
                              ...) WS_MUST_CHECK;
/* The first column of the first row; 0 when there is none. */
ws_status ws__archive_number(ws_archive *archive, const char *sql,
                             int64_t *out_number, ws_diag *diag) WS_MUST_CHECK;
/* Column as text in the arena; "" for NULL. */
const char *ws__archive_text(ws_arena *arena, sqlite3_stmt *statement,
                             int column);

/* Column as a shape, the named form; none for anything else. */
ws_shape ws__archive_shape(sqlite3_stmt *statement, int column);

/* Columns of a candidate (c) with its template (t), in the order that
 * ws__archive_read_candidate reads them. */
#define WS__CANDIDATE_COLUMNS                                                  \
  "c.id,c.template_hash,t.name,c.layout,c.assignments,c.variants,c.proposer,"  \
  "c.parent_id,c.second_parent_id,c.kind,c.label,c.cell,c.island,c.move,"      \
  "c.run_id,c.sequence,c.verdict,c.stage,c.reason,c.ir_hash,c.code_hash"
enum { WS__CANDIDATE_COLUMN_COUNT = 21 };
void ws__archive_read_candidate(ws_arena *arena, sqlite3_stmt *statement,
                                ws_candidate_row *out_row);

/* Brings the tables to this program's version and looks at them: an empty file
 * gets all of them, an older archive what it lacks. */
ws_status ws__archive_prepare_schema(ws_archive *archive, bool empty,
                                     ws_diag *diag) WS_MUST_CHECK;

/* Texts that repeat are kept once, under their hash. NULL is "". */
ws_status ws__archive_add_content(ws_archive *archive, const char *text,
                                  ws_hash *out_hash,
                                  ws_diag *diag) WS_MUST_CHECK;
ws_status ws__archive_get_content(ws_archive *archive, ws_arena *arena,
                                  const char *hash, const char **out_text,
                                  ws_diag *diag) WS_MUST_CHECK;

/* One within another is part of it. */
ws_status ws__archive_begin(ws_archive *archive, ws_diag *diag) WS_MUST_CHECK;
/* Commits when status is WS_OK, else rolls back. Returns what became of it;
 * a failed status keeps its own diag. */
ws_status ws__archive_end(ws_archive *archive, ws_status status,
                          ws_diag *diag) WS_MUST_CHECK;

/* ---- work without a transaction ---- */
ws_status ws__archive_add_template(ws_archive *archive, const ws_template *tmpl,
                                   const char *text, const char *records_json,
                                   ws_diag *diag) WS_MUST_CHECK;
ws_status ws__archive_add_run(ws_archive *archive, const ws_run_row *run,
                              int64_t *out_id, ws_diag *diag) WS_MUST_CHECK;
/* *out_added: false when the id was there. */
ws_status ws__archive_add_candidate(ws_archive *archive,
                                    const ws_candidate_row *row,
                                    const ws_candidate *candidate,
                                    bool *out_added,
                                    ws_diag *diag) WS_MUST_CHECK;
/* A (run, sequence) that is there stays. */
ws_status ws__archive_add_draw(ws_archive *archive, int64_t run_id,
                               int64_t sequence, const char *candidate_id,
                               ws_diag *diag) WS_MUST_CHECK;
/* data NULL: no code object. *out_added: false when there was one. */
ws_status ws__archive_add_build(ws_archive *archive, const char *candidate_id,
                                const char *result_json, const void *data,
                                size_t size, bool *out_added,
                                ws_diag *diag) WS_MUST_CHECK;
ws_status ws__archive_add_measurements(ws_archive *archive,
                                       const char *candidate_id,
                                       const ws_measurement *items, int count,
                                       ws_diag *diag) WS_MUST_CHECK;

/* An array in an arena that grows: gives room for one more of size bytes. */
typedef struct ws__rows {
  ws_arena *arena;
  size_t size;
  void *items;
  int count, capacity;
} ws__rows;
void *ws__rows_add(ws__rows *rows);

/* Steps the statement to its end, reading each row into a new item. */
ws_status ws__archive_read_rows(
    ws_archive *archive, sqlite3_stmt *owned_statement, ws__rows *rows,
    void (*read)(ws_arena *arena, sqlite3_stmt *statement, void *out_item),
    ws_diag *diag) WS_MUST_CHECK;

#endif
