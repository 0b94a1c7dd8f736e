/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lists and counts of candidates under a filter, and the best of them. The
 * score of a candidate is the geometric mean of its times within one
 * provenance; a candidate that takes more shapes ranks first, because a mean
 * over fewer shapes does not compare with one over all.
 */
#include "store.h"

#include <math.h>
#include <string.h>

/* ---- the filter ---- */
#define FILTER_CONDITION                                                       \
  " WHERE (?1='' OR t.problem=?1) AND (?2='' OR c.layout=?2)"                  \
  " AND (?3='' OR t.target=?3) AND (?4='' OR c.verdict=?4)"                    \
  " AND (?5='' OR t.name=?5) AND (?6=0 OR c.run_id=?6)"

static ws_status filter_query(ws_archive *archive, sqlite3_stmt **out_statement,
                              const ws_archive_filter *filter, const char *sql,
                              ws_diag *diag) {
  static const ws_archive_filter any;
  const ws_archive_filter *f = filter ? filter : &any;
  return ws__archive_query(archive, out_statement, diag, sql, "tttttiti",
                           f->problem, f->layout, f->target, f->verdict,
                           f->template_name, f->run_id, f->provenance,
                           f->limit > 0 ? (int64_t)f->limit : (int64_t)-1);
}

/* ---- lists ---- */
#define LIST_QUERY                                                             \
  "SELECT " WS__CANDIDATE_COLUMNS                                              \
  ",coalesce(geomean(x.us),0.0),count(x.us),x.provenance"                      \
  " FROM candidate c JOIN template t ON t.hash=c.template_hash"                \
  " LEFT JOIN measurement x ON x.candidate_id=c.id"                            \
  "  AND (?7='' OR x.provenance=?7)" FILTER_CONDITION                          \
  " GROUP BY c.number,x.provenance"

static void read_summary(ws_arena *arena, sqlite3_stmt *statement,
                         void *out_item) {
  ws_candidate_summary *item = out_item;
  ws__archive_read_candidate(arena, statement, &item->row);
  item->geomean_us =
      sqlite3_column_double(statement, WS__CANDIDATE_COLUMN_COUNT);
  item->measured_shapes =
      sqlite3_column_int(statement, WS__CANDIDATE_COLUMN_COUNT + 1);
  item->provenance =
      ws__archive_text(arena, statement, WS__CANDIDATE_COLUMN_COUNT + 2);
}

ws_status ws_archive_list(ws_archive *archive, ws_arena *arena,
                          const ws_archive_filter *filter,
                          ws_candidate_summary **out_items, int *out_count,
                          ws_diag *diag) {
  *out_items = NULL;
  *out_count = 0;
  bool by_score = filter && filter->order_by_score;
  sqlite3_stmt *statement;
  WS_TRY(filter_query(archive, &statement, filter,
                      by_score ? LIST_QUERY
                          " ORDER BY geomean(x.us) IS NULL,x.provenance,"
                          "count(x.us) DESC,geomean(x.us),c.number LIMIT ?8"
                               : LIST_QUERY " ORDER BY c.number,x.provenance"
                                            " LIMIT ?8",
                      diag));
  ws__rows rows = {.arena = arena, .size = sizeof **out_items};
  WS_TRY(ws__archive_read_rows(archive, statement, &rows, read_summary, diag));
  *out_items = rows.items;
  *out_count = rows.count;
  return WS_OK;
}

static void read_candidate(ws_arena *arena, sqlite3_stmt *statement,
                           void *out_item) {
  ws__archive_read_candidate(arena, statement, out_item);
}

ws_status ws_archive_list_children(ws_archive *archive, ws_arena *arena,
                                   const char *id, ws_candidate_row **out_items,
                                   int *out_count, ws_diag *diag) {
  *out_items = NULL;
  *out_count = 0;
  if (!*id)
    return WS_OK;
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(
      archive, &statement, diag,
      "SELECT " WS__CANDIDATE_COLUMNS " FROM candidate c"
      " JOIN template t ON t.hash=c.template_hash"
      " WHERE c.parent_id=? OR c.second_parent_id=? ORDER BY c.number",
      "tt", id, id));
  ws__rows rows = {.arena = arena, .size = sizeof **out_items};
  WS_TRY(
      ws__archive_read_rows(archive, statement, &rows, read_candidate, diag));
  *out_items = rows.items;
  *out_count = rows.count;
  return WS_OK;
}

/* ---- the best ---- */
/* Rank 1 is the fastest on a shape, and the first by score (shape NULL). */
#define BEST_QUERY                                                             \
  "WITH timed AS (SELECT c.id,c.number,x.provenance,x.shape,x.us"              \
  "  FROM candidate c JOIN template t ON t.hash=c.template_hash"               \
  "  JOIN measurement x ON x.candidate_id=c.id" FILTER_CONDITION               \
  "  AND c.verdict='ok' AND (?7='' OR x.provenance=?7)),"                      \
  " ranked AS (SELECT id,number,row_number() OVER"                             \
  "   (PARTITION BY provenance,shape ORDER BY us,number) AS place FROM timed"  \
  "  UNION ALL SELECT id,number,row_number() OVER (PARTITION BY provenance"    \
  "   ORDER BY count(*) DESC,geomean(us),number) AS place FROM timed"          \
  "   GROUP BY id,number,provenance)"                                          \
  " SELECT id FROM ranked WHERE place<=?8 GROUP BY id ORDER BY id"

static void read_id(ws_arena *arena, sqlite3_stmt *statement, void *out_item) {
  *(const char **)out_item = ws__archive_text(arena, statement, 0);
}

ws_status ws_archive_best(ws_archive *archive, ws_arena *arena,
                          const ws_archive_filter *filter, int per_shape,
                          const char *const **out_ids, int *out_count,
                          ws_diag *diag) {
  *out_ids = NULL;
  *out_count = 0;
  ws_archive_filter limited = filter ? *filter : (ws_archive_filter){0};
  limited.limit = per_shape;
  sqlite3_stmt *statement;
  WS_TRY(filter_query(archive, &statement, &limited, BEST_QUERY, diag));
  ws__rows rows = {.arena = arena, .size = sizeof **out_ids};
  WS_TRY(ws__archive_read_rows(archive, statement, &rows, read_id, diag));
  *out_ids = rows.items;
  *out_count = rows.count;
  return WS_OK;
}

/* ---- counts ---- */
ws_status ws_archive_count_below(ws_archive *archive, ws_arena *arena,
                                 const ws_archive_filter *filter,
                                 const ws_shape *shape, double us,
                                 int64_t *out_count, ws_diag *diag) {
  sqlite3_stmt *statement;
  *out_count = 0;
  WS_TRY(ws__archive_query(
      archive, &statement, diag,
      "SELECT count(*) FROM candidate c"
      " JOIN template t ON t.hash=c.template_hash"
      " JOIN measurement x ON x.candidate_id=c.id" FILTER_CONDITION
      " AND c.verdict='ok' AND x.provenance=?7 AND x.shape=?8 AND x.us<?9",
      "tttttittd", filter->problem, filter->layout, filter->target,
      filter->verdict, filter->template_name, filter->run_id,
      filter->provenance, ws_shape_named(arena, shape), us));
  bool row;
  ws_status status = ws__archive_step(archive, statement, &row, diag);
  if (status == WS_OK && row)
    *out_count = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return status;
}

ws_status ws_archive_verdict_counts(ws_archive *archive,
                                    const ws_archive_filter *filter,
                                    int64_t out_counts[WS_VERDICT_COUNT],
                                    ws_diag *diag) {
  memset(out_counts, 0, sizeof *out_counts * WS_VERDICT_COUNT);
  sqlite3_stmt *statement;
  WS_TRY(
      filter_query(archive, &statement, filter,
                   "SELECT c.verdict,count(*),?7,?8 FROM candidate c"
                   " JOIN template t ON t.hash=c.template_hash" FILTER_CONDITION
                   " GROUP BY c.verdict",
                   diag));
  bool row;
  ws_status status;
  while ((status = ws__archive_step(archive, statement, &row, diag)) == WS_OK &&
         row) {
    ws_verdict verdict;
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    if (text && ws_verdict_parse(text, &verdict))
      out_counts[verdict] = sqlite3_column_int64(statement, 1);
  }
  sqlite3_finalize(statement);
  return status;
}
