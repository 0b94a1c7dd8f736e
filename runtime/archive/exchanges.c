/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Questions to models with their answers and outcomes, and the findings that
 * models wrote. Texts (system, prompt, reply, findings) lie in `content` under
 * the hash of their content: the system text of a run is there once, not once
 * per request. Lists read no texts, only their sizes.
 */
#include "store.h"

#include <string.h>

/* ---- texts ---- */
ws_status ws__archive_add_content(ws_archive *archive, const char *text,
                                  ws_hash *out_hash, ws_diag *diag) {
  text = text ? text : "";
  *out_hash = ws_hash_bytes(text, strlen(text));
  return ws__archive_execute(
      archive, diag,
      "INSERT OR IGNORE INTO content(hash,size_bytes,text) VALUES(?,?,?)",
      "tit", out_hash->hex, (int64_t)strlen(text), text);
}

static void read_content(ws_arena *arena, sqlite3_stmt *statement,
                         void *out_item) {
  *(const char **)out_item = ws__archive_text(arena, statement, 0);
}

ws_status ws__archive_get_content(ws_archive *archive, ws_arena *arena,
                                  const char *hash, const char **out_text,
                                  ws_diag *diag) {
  sqlite3_stmt *statement;
  ws__rows rows = {.arena = arena, .size = sizeof *out_text};
  WS_TRY(ws__archive_query(archive, &statement, diag,
                           "SELECT text FROM content WHERE hash=?", "t", hash));
  WS_TRY(ws__archive_read_rows(archive, statement, &rows, read_content, diag));
  const char *text = rows.count ? *(const char **)rows.items : "";
  if (strcmp(ws_hash_bytes(text, strlen(text)).hex, hash))
    return ws__archive_damaged(archive, "text", hash, diag);
  *out_text = text;
  return WS_OK;
}

/* ---- writing ---- */
static ws_status add_exchange(ws_archive *archive, const ws_exchange_row *row,
                              ws_diag *diag) {
  ws_hash system, prompt, reply;
  WS_TRY(ws__archive_add_content(archive, row->system, &system, diag));
  WS_TRY(ws__archive_add_content(archive, row->prompt, &prompt, diag));
  WS_TRY(ws__archive_add_content(archive, row->reply, &reply, diag));
  return ws__archive_execute(
      archive, diag,
      "INSERT INTO exchange(run_id,sequence,kind,member,prompt_version,"
      "prompt_hash,prompt_cut,system,prompt,reply,error,prompt_tokens,"
      "reply_tokens,usd,seconds,unix_ms,candidate_id,verdict,stage,reason,"
      "claims,reward,parent_id,second_parent_id)"
      " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
      " ON CONFLICT DO NOTHING",
      "iitttttttttiidditttttdtt", row->run_id, row->sequence, row->kind,
      row->member, row->prompt_version, row->prompt_hash, row->prompt_cut,
      system.hex, prompt.hex, reply.hex, row->error, row->prompt_tokens,
      row->reply_tokens, row->usd, row->seconds, row->unix_ms,
      row->candidate_id, row->verdict, row->stage, row->reason,
      row->claims_json, row->reward, row->parent_id, row->second_parent_id);
}

ws_status ws_archive_put_exchange(ws_archive *archive,
                                  const ws_exchange_row *row, ws_diag *diag) {
  WS_TRY(ws__archive_begin(archive, diag));
  return ws__archive_end(archive, add_exchange(archive, row, diag), diag);
}

static ws_status set_outcome(ws_archive *archive, const ws_exchange_row *row,
                             ws_diag *diag) {
  WS_TRY(ws__archive_execute(
      archive, diag,
      "UPDATE exchange SET candidate_id=?,verdict=?,stage=?,reason=?,claims=?,"
      "reward=? WHERE run_id=? AND sequence=?",
      "tttttdii", row->candidate_id, row->verdict, row->stage, row->reason,
      row->claims_json, row->reward, row->run_id, row->sequence));
  if (sqlite3_changes(archive->database) > 0)
    return WS_OK;
  return ws_fail(diag, WS_INPUT, archive->path, 0,
                 "run %lld has no exchange %lld", (long long)row->run_id,
                 (long long)row->sequence);
}

ws_status ws_archive_set_outcome(ws_archive *archive,
                                 const ws_exchange_row *row, ws_diag *diag) {
  WS_TRY(ws__archive_begin(archive, diag));
  return ws__archive_end(archive, set_outcome(archive, row, diag), diag);
}

/* ---- reading ---- */
#define EXCHANGE_QUERY                                                         \
  "SELECT e.run_id,e.sequence,e.kind,e.member,e.prompt_version,e.prompt_hash," \
  "e.prompt_cut,e.error,e.prompt_tokens,e.reply_tokens,e.usd,e.seconds,"       \
  "e.unix_ms,e.candidate_id,e.verdict,e.stage,e.reason,e.claims,e.reward,"     \
  "s.size_bytes+p.size_bytes,r.size_bytes,"                                    \
  "e.parent_id,e.second_parent_id,"                                            \
  "e.system,e.prompt,e.reply FROM exchange e"                                  \
  " LEFT JOIN content s ON s.hash=e.system LEFT JOIN content p ON "            \
  "p.hash=e.prompt"                                                            \
  " LEFT JOIN content r ON r.hash=e.reply"

typedef struct read_exchange {
  ws_exchange_row row;
  const char *system, *prompt, *reply; /* hashes */
} read_exchange;

static const char *text_or_null(ws_arena *arena, sqlite3_stmt *statement,
                                int column) {
  return sqlite3_column_type(statement, column) == SQLITE_NULL
             ? NULL
             : ws__archive_text(arena, statement, column);
}

static void read_row(ws_arena *arena, sqlite3_stmt *statement,
                     ws_exchange_row *out_row) {
  *out_row = (ws_exchange_row){
      .run_id = sqlite3_column_int64(statement, 0),
      .sequence = sqlite3_column_int64(statement, 1),
      .kind = ws__archive_text(arena, statement, 2),
      .member = ws__archive_text(arena, statement, 3),
      .prompt_version = ws__archive_text(arena, statement, 4),
      .prompt_hash = ws__archive_text(arena, statement, 5),
      .prompt_cut = ws__archive_text(arena, statement, 6),
      .error = ws__archive_text(arena, statement, 7),
      .prompt_tokens = sqlite3_column_int64(statement, 8),
      .reply_tokens = sqlite3_column_int64(statement, 9),
      .usd = sqlite3_column_double(statement, 10),
      .seconds = sqlite3_column_double(statement, 11),
      .unix_ms = sqlite3_column_int64(statement, 12),
      .candidate_id = ws__archive_text(arena, statement, 13),
      .verdict = ws__archive_text(arena, statement, 14),
      .stage = ws__archive_text(arena, statement, 15),
      .reason = ws__archive_text(arena, statement, 16),
      .claims_json = ws__archive_text(arena, statement, 17),
      .reward = sqlite3_column_double(statement, 18),
      .prompt_bytes = sqlite3_column_int64(statement, 19),
      .reply_bytes = sqlite3_column_int64(statement, 20),
      .parent_id = text_or_null(arena, statement, 21),
      .second_parent_id = text_or_null(arena, statement, 22),
      .system = "",
      .prompt = "",
      .reply = "",
  };
}

static void read_listed(ws_arena *arena, sqlite3_stmt *statement,
                        void *out_item) {
  read_row(arena, statement, out_item);
}

static void read_with_hashes(ws_arena *arena, sqlite3_stmt *statement,
                             void *out_item) {
  read_exchange *exchange = out_item;
  read_row(arena, statement, &exchange->row);
  exchange->system = ws__archive_text(arena, statement, 23);
  exchange->prompt = ws__archive_text(arena, statement, 24);
  exchange->reply = ws__archive_text(arena, statement, 25);
}

ws_status ws_archive_list_exchanges(ws_archive *archive, ws_arena *arena,
                                    int64_t run_id, ws_exchange_row **out_items,
                                    int *out_count, ws_diag *diag) {
  *out_items = NULL;
  *out_count = 0;
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(archive, &statement, diag,
                           EXCHANGE_QUERY " WHERE ?1=0 OR e.run_id=?1"
                                          " ORDER BY e.run_id,e.sequence",
                           "i", run_id));
  ws__rows rows = {.arena = arena, .size = sizeof **out_items};
  WS_TRY(ws__archive_read_rows(archive, statement, &rows, read_listed, diag));
  *out_items = rows.items;
  *out_count = rows.count;
  return WS_OK;
}

/* The first row of the statement, with its texts. */
static ws_status read_one(ws_archive *archive, ws_arena *arena,
                          sqlite3_stmt *owned_statement, bool *out_found,
                          ws_exchange_row *out_row, ws_diag *diag) {
  ws__rows rows = {.arena = arena, .size = sizeof(read_exchange)};
  WS_TRY(ws__archive_read_rows(archive, owned_statement, &rows,
                               read_with_hashes, diag));
  if (!rows.count)
    return WS_OK;
  const read_exchange *exchange = rows.items;
  *out_row = exchange->row;
  WS_TRY(ws__archive_get_content(archive, arena, exchange->system,
                                 &out_row->system, diag));
  WS_TRY(ws__archive_get_content(archive, arena, exchange->prompt,
                                 &out_row->prompt, diag));
  WS_TRY(ws__archive_get_content(archive, arena, exchange->reply,
                                 &out_row->reply, diag));
  *out_found = true;
  return WS_OK;
}

static ws_status query_exchange(ws_archive *archive, int64_t run_id,
                                int64_t sequence, sqlite3_stmt **out_statement,
                                ws_diag *diag) {
  return ws__archive_query(archive, out_statement, diag,
                           EXCHANGE_QUERY " WHERE e.run_id=? AND e.sequence=?",
                           "ii", run_id, sequence);
}

ws_status ws_archive_get_exchange(ws_archive *archive, ws_arena *arena,
                                  int64_t run_id, int64_t sequence,
                                  bool *out_found, ws_exchange_row *out_row,
                                  ws_diag *diag) {
  *out_found = false;
  sqlite3_stmt *statement;
  WS_TRY(query_exchange(archive, run_id, sequence, &statement, diag));
  return read_one(archive, arena, statement, out_found, out_row, diag);
}

ws_status ws_archive_get_outcome(ws_archive *archive, ws_arena *arena,
                                 int64_t run_id, int64_t sequence,
                                 bool *out_found, ws_exchange_row *out_row,
                                 ws_diag *diag) {
  sqlite3_stmt *statement;
  WS_TRY(query_exchange(archive, run_id, sequence, &statement, diag));
  ws__rows rows = {.arena = arena, .size = sizeof *out_row};
  WS_TRY(ws__archive_read_rows(archive, statement, &rows, read_listed, diag));
  *out_found = rows.count > 0;
  if (*out_found)
    *out_row = *(const ws_exchange_row *)rows.items;
  return WS_OK;
}

ws_status ws_archive_get_origin(ws_archive *archive, ws_arena *arena,
                                const char *candidate_id, bool *out_found,
                                ws_exchange_row *out_row, ws_diag *diag) {
  *out_found = false;
  if (!*candidate_id)
    return WS_OK;
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(archive, &statement, diag,
                           EXCHANGE_QUERY
                           " WHERE e.candidate_id=?"
                           " ORDER BY e.run_id,e.sequence LIMIT 1",
                           "t", candidate_id));
  return read_one(archive, arena, statement, out_found, out_row, diag);
}

/* ---- findings ---- */
static ws_status add_findings(ws_archive *archive, const ws_findings_row *row,
                              ws_diag *diag) {
  ws_hash text;
  WS_TRY(ws__archive_add_content(archive, row->text, &text, diag));
  return ws__archive_execute(
      archive, diag,
      "INSERT INTO findings(run_id,sequence,text) VALUES(?,?,?)"
      " ON CONFLICT DO NOTHING",
      "iit", row->run_id, row->sequence, text.hex);
}

ws_status ws_archive_put_findings(ws_archive *archive,
                                  const ws_findings_row *row, ws_diag *diag) {
  WS_TRY(ws__archive_begin(archive, diag));
  return ws__archive_end(archive, add_findings(archive, row, diag), diag);
}

/* text is the hash at first. */
static void read_findings(ws_arena *arena, sqlite3_stmt *statement,
                          void *out_item) {
  *(ws_findings_row *)out_item =
      (ws_findings_row){.run_id = sqlite3_column_int64(statement, 0),
                        .sequence = sqlite3_column_int64(statement, 1),
                        .text = ws__archive_text(arena, statement, 2)};
}

ws_status ws_archive_list_findings(ws_archive *archive, ws_arena *arena,
                                   int64_t run_id, ws_findings_row **out_items,
                                   int *out_count, ws_diag *diag) {
  *out_items = NULL;
  *out_count = 0;
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(archive, &statement, diag,
                           "SELECT run_id,sequence,text FROM findings"
                           " WHERE ?1=0 OR run_id=?1 ORDER BY run_id,sequence",
                           "i", run_id));
  ws__rows rows = {.arena = arena, .size = sizeof **out_items};
  WS_TRY(ws__archive_read_rows(archive, statement, &rows, read_findings, diag));
  ws_findings_row *items = rows.items;
  for (int i = 0; i < rows.count; i++)
    WS_TRY(ws__archive_get_content(archive, arena, items[i].text,
                                   &items[i].text, diag));
  *out_items = items;
  *out_count = rows.count;
  return WS_OK;
}
