/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is known of a candidate beyond its times: confirmations, coverage
 * and profiles. Confirmations are kept one after another, and the latest of a
 * candidate and provenance is read; a profile takes the place of the one
 * before.
 */
#include "store.h"

ws_status ws_archive_put_confirmation(ws_archive *archive,
                                      const ws_confirmation_row *row,
                                      ws_diag *diag) {
  WS_TRY(ws__archive_begin(archive, diag));
  ws_status status = ws__archive_execute(
      archive, diag,
      "INSERT INTO confirmation(candidate_id,against_id,provenance,run_id,"
      "verdict,reason,search_speedup,held_out_speedup,worst_speedup,noise,"
      "chosen_speedup,chosen_shapes) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
      "tttittdddddi", row->candidate_id, row->against_id, row->provenance,
      row->run_id, row->verdict, row->reason, row->search_speedup,
      row->held_out_speedup, row->worst_speedup, row->noise,
      row->chosen_speedup, (int64_t)row->chosen_shapes);
  return ws__archive_end(archive, status, diag);
}

static void read_confirmation(ws_arena *arena, sqlite3_stmt *statement,
                              void *out_item) {
  *(ws_confirmation_row *)out_item = (ws_confirmation_row){
      .candidate_id = ws__archive_text(arena, statement, 0),
      .against_id = ws__archive_text(arena, statement, 1),
      .provenance = ws__archive_text(arena, statement, 2),
      .run_id = sqlite3_column_int64(statement, 3),
      .verdict = ws__archive_text(arena, statement, 4),
      .reason = ws__archive_text(arena, statement, 5),
      .search_speedup = sqlite3_column_double(statement, 6),
      .held_out_speedup = sqlite3_column_double(statement, 7),
      .worst_speedup = sqlite3_column_double(statement, 8),
      .noise = sqlite3_column_double(statement, 9),
      .chosen_speedup = sqlite3_column_double(statement, 10),
      .chosen_shapes = sqlite3_column_int(statement, 11),
  };
}

ws_status ws_archive_list_confirmations(ws_archive *archive, ws_arena *arena,
                                        const char *candidate_id,
                                        ws_confirmation_row **out_items,
                                        int *out_count, ws_diag *diag) {
  *out_items = NULL;
  *out_count = 0;
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(
      archive, &statement, diag,
      "SELECT candidate_id,against_id,provenance,run_id,verdict,reason,"
      "search_speedup,held_out_speedup,worst_speedup,noise,chosen_speedup,"
      "chosen_shapes FROM confirmation"
      " WHERE (?1='' OR candidate_id=?1) AND number IN (SELECT max(number)"
      "  FROM confirmation GROUP BY candidate_id,provenance) ORDER BY number",
      "t", candidate_id));
  ws__rows rows = {.arena = arena, .size = sizeof **out_items};
  WS_TRY(ws__archive_read_rows(archive, statement, &rows, read_confirmation,
                               diag));
  *out_items = rows.items;
  *out_count = rows.count;
  return WS_OK;
}

/* A seed's 64 bits are stored as SQLite's signed ones. */
ws_status ws_archive_put_coverage(ws_archive *archive,
                                  const ws_coverage_row *row, ws_diag *diag) {
  WS_TRY(ws__archive_begin(archive, diag));
  ws_status status = ws__archive_execute(
      archive, diag,
      "INSERT OR REPLACE INTO coverage(candidate_id,provenance,run_id,seed,"
      "verified,planned,text) VALUES(?,?,?,?,?,?,?)",
      "ttiiiit", row->candidate_id, row->provenance, row->run_id,
      (int64_t)row->seed, (int64_t)row->verified, (int64_t)row->planned,
      row->text);
  return ws__archive_end(archive, status, diag);
}

static void read_coverage(ws_arena *arena, sqlite3_stmt *statement,
                          void *out_item) {
  *(ws_coverage_row *)out_item =
      (ws_coverage_row){.candidate_id = ws__archive_text(arena, statement, 0),
                        .provenance = ws__archive_text(arena, statement, 1),
                        .run_id = sqlite3_column_int64(statement, 2),
                        .seed = (uint64_t)sqlite3_column_int64(statement, 3),
                        .verified = sqlite3_column_int(statement, 4),
                        .planned = sqlite3_column_int(statement, 5),
                        .text = ws__archive_text(arena, statement, 6)};
}

ws_status ws_archive_list_coverage(ws_archive *archive, ws_arena *arena,
                                   const char *candidate_id,
                                   ws_coverage_row **out_items, int *out_count,
                                   ws_diag *diag) {
  *out_items = NULL;
  *out_count = 0;
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(
      archive, &statement, diag,
      "SELECT candidate_id,provenance,run_id,seed,verified,planned,text"
      " FROM coverage WHERE candidate_id=? ORDER BY provenance",
      "t", candidate_id));
  ws__rows rows = {.arena = arena, .size = sizeof **out_items};
  WS_TRY(ws__archive_read_rows(archive, statement, &rows, read_coverage, diag));
  *out_items = rows.items;
  *out_count = rows.count;
  return WS_OK;
}

ws_status ws_archive_put_profile(ws_archive *archive, const char *candidate_id,
                                 const char *provenance, const ws_shape *shape,
                                 const char *report, ws_diag *diag) {
  char text[WS_SHAPE_TEXT];
  WS_TRY(ws__archive_begin(archive, diag));
  ws_status status = ws__archive_execute(
      archive, diag,
      "INSERT OR REPLACE INTO profile(candidate_id,provenance,shape,report)"
      " VALUES(?,?,?,?)",
      "tttt", candidate_id, provenance, ws_shape_print_named(shape, text),
      report);
  return ws__archive_end(archive, status, diag);
}

static void read_profile(ws_arena *arena, sqlite3_stmt *statement, void *out) {
  *(ws_profile_row *)out =
      (ws_profile_row){.provenance = ws__archive_text(arena, statement, 0),
                       .shape = ws__archive_shape(statement, 1),
                       .us = sqlite3_column_double(statement, 2),
                       .report = ws__archive_text(arena, statement, 3)};
}

ws_status ws_archive_list_profiles(ws_archive *archive, ws_arena *arena,
                                   const char *candidate_id,
                                   const char *provenance,
                                   ws_profile_row **out_items, int *out_count,
                                   ws_diag *diag) {
  *out_items = NULL;
  *out_count = 0;
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(
      archive, &statement, diag,
      "SELECT p.provenance,p.shape,m.us,p.report FROM profile p"
      " LEFT JOIN measurement m ON m.candidate_id=p.candidate_id"
      " AND m.provenance=p.provenance AND m.shape=p.shape"
      " WHERE p.candidate_id=?1 AND (?2='' OR p.provenance=?2)"
      " ORDER BY p.provenance,m.us IS NULL,m.us DESC,p.shape",
      "tt", candidate_id, provenance));
  ws__rows rows = {.arena = arena, .size = sizeof **out_items};
  WS_TRY(ws__archive_read_rows(archive, statement, &rows, read_profile, diag));
  *out_items = rows.items;
  *out_count = rows.count;
  return WS_OK;
}

ws_status ws_archive_get_profile(ws_archive *archive, ws_arena *arena,
                                 const char *candidate_id,
                                 const char *provenance, bool *out_found,
                                 ws_shape *out_shape, const char **out_report,
                                 ws_diag *diag) {
  ws_profile_row *rows;
  int count;
  *out_found = false;
  WS_TRY(ws_archive_list_profiles(archive, arena, candidate_id, provenance,
                                  &rows, &count, diag));
  if (!count)
    return WS_OK;
  *out_found = true;
  *out_shape = rows[0].shape;
  *out_report = rows[0].report;
  return WS_OK;
}
