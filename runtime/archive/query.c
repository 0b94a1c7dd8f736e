/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reading the archive: single things by id or prefix, twins, lists. Whatever
 * has a hash of its content (template text, bodies, code objects) is compared
 * with it on the way out, so that damage is found where it is read.
 */
#include "store.h"

#include <cjson/cJSON.h>
#include <string.h>

void ws__archive_read_candidate(ws_arena *arena, sqlite3_stmt *statement,
                                ws_candidate_row *out_row) {
  *out_row = (ws_candidate_row){
      .id = ws__archive_text(arena, statement, 0),
      .template_hash = ws__archive_text(arena, statement, 1),
      .template_name = ws__archive_text(arena, statement, 2),
      .layout = ws__archive_text(arena, statement, 3),
      .assignments = ws__archive_text(arena, statement, 4),
      .variants = ws__archive_text(arena, statement, 5),
      .proposer = ws__archive_text(arena, statement, 6),
      .parent_id = ws__archive_text(arena, statement, 7),
      .second_parent_id = ws__archive_text(arena, statement, 8),
      .kind = ws__archive_text(arena, statement, 9),
      .label = ws__archive_text(arena, statement, 10),
      .cell = ws__archive_text(arena, statement, 11),
      .island = sqlite3_column_int64(statement, 12),
      .move = ws__archive_text(arena, statement, 13),
      .run_id = sqlite3_column_int64(statement, 14),
      .sequence = sqlite3_column_int64(statement, 15),
      .verdict = ws__archive_text(arena, statement, 16),
      .stage = ws__archive_text(arena, statement, 17),
      .reason = ws__archive_text(arena, statement, 18),
      .ir_hash = ws__archive_text(arena, statement, 19),
      .code_hash = ws__archive_text(arena, statement, 20),
  };
}

ws_status ws__archive_damaged(ws_archive *archive, const char *what,
                              const char *name, ws_diag *diag) {
  return ws_fail(diag, WS_INPUT, archive->path, 0,
                 "the archive is corrupt: %s %s does not match its hash; "
                 "restore it from a copy",
                 what, name);
}

/* The end (exclusive) of the ids that begin with prefix: 'g' is above every
 * hexadecimal digit. */
static char *prefix_end(ws_arena *arena, const char *prefix) {
  return ws_arena_printf(arena, "%sg", prefix);
}

/* ---- templates ---- */
static ws_status parse_template(ws_archive *archive, ws_arena *arena,
                                const ws_archived_template *row,
                                const ws_template **out, ws_diag *diag) {
  ws_hash hash = ws_hash_bytes(row->text, strlen(row->text));
  if (strcmp(hash.hex, row->hash))
    return ws__archive_damaged(archive, "template", row->hash, diag);
  cJSON *json = ws_json_parse(row->records_json, strlen(row->records_json),
                              archive->path, diag);
  if (!json)
    return WS_INPUT;
  ws_records records;
  ws_status status = ws_records_from_json(arena, json, &records, diag);
  cJSON_Delete(json);
  if (status != WS_OK)
    return status;
  return ws_template_from_records(arena, &records, row->file, hash, out, diag);
}

static void read_template(ws_arena *arena, sqlite3_stmt *statement,
                          ws_archived_template *out_row) {
  *out_row = (ws_archived_template){
      .hash = ws__archive_text(arena, statement, 0),
      .name = ws__archive_text(arena, statement, 1),
      .version = ws__archive_text(arena, statement, 2),
      .problem = ws__archive_text(arena, statement, 3),
      .target = ws__archive_text(arena, statement, 4),
      .file = ws__archive_text(arena, statement, 5),
      .text = ws__archive_text(arena, statement, 6),
      .records_json = ws__archive_text(arena, statement, 7),
  };
}

ws_status ws_archive_get_template(ws_archive *archive, ws_arena *arena,
                                  const char *hash, const ws_template **out,
                                  ws_archived_template *out_row,
                                  ws_diag *diag) {
  if (out)
    *out = NULL;
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(
      archive, &statement, diag,
      "SELECT hash,name,version,problem,target,file,text,records FROM template"
      " WHERE hash>=? AND hash<? LIMIT 2",
      "tt", hash, prefix_end(arena, hash)));
  bool row = false, another = false;
  ws_archived_template found;
  ws_status status = ws__archive_step(archive, statement, &row, diag);
  if (status == WS_OK && row) {
    read_template(arena, statement, &found);
    status = ws__archive_step(archive, statement, &another, diag);
  }
  sqlite3_finalize(statement);
  if (status != WS_OK)
    return status;
  if (!row || another)
    return ws_fail(diag, WS_INPUT, archive->path, 0,
                   another ? "'%s' begins the hash of several templates; give "
                             "more digits"
                           : "there is no template '%s'",
                   hash);
  if (out_row)
    *out_row = found;
  return out ? parse_template(archive, arena, &found, out, diag) : WS_OK;
}

/* ---- runs ---- */
#define RUN_QUERY                                                              \
  "SELECT id,problem,layout,target,strategy,shape_set,settings,seed,"          \
  "started_unix_ms FROM run"

static void read_run(ws_arena *arena, sqlite3_stmt *statement, void *out_item) {
  *(ws_run_row *)out_item = (ws_run_row){
      .id = sqlite3_column_int64(statement, 0),
      .problem = ws__archive_text(arena, statement, 1),
      .layout = ws__archive_text(arena, statement, 2),
      .target = ws__archive_text(arena, statement, 3),
      .strategy = ws__archive_text(arena, statement, 4),
      .shape_set = ws__archive_text(arena, statement, 5),
      .settings_json = ws__archive_text(arena, statement, 6),
      .seed = (uint64_t)sqlite3_column_int64(statement, 7),
      .started_unix_ms = sqlite3_column_int64(statement, 8),
  };
}

ws_status ws_archive_list_runs(ws_archive *archive, ws_arena *arena,
                               ws_run_row **out_items, int *out_count,
                               ws_diag *diag) {
  ws__rows rows = {.arena = arena, .size = sizeof **out_items};
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(archive, &statement, diag, RUN_QUERY " ORDER BY id",
                           ""));
  ws_status status =
      ws__archive_read_rows(archive, statement, &rows, read_run, diag);
  *out_items = rows.items;
  *out_count = rows.count;
  return status;
}

ws_status ws_archive_get_run(ws_archive *archive, ws_arena *arena, int64_t id,
                             ws_run_row *out_run, ws_diag *diag) {
  ws__rows rows = {.arena = arena, .size = sizeof *out_run};
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(archive, &statement, diag, RUN_QUERY " WHERE id=?",
                           "i", id));
  WS_TRY(ws__archive_read_rows(archive, statement, &rows, read_run, diag));
  if (!rows.count)
    return ws_fail(diag, WS_INPUT, archive->path, 0, "there is no run %lld",
                   (long long)id);
  *out_run = *(ws_run_row *)rows.items;
  return WS_OK;
}

/* ---- candidates ---- */
ws_status ws_archive_get_candidate(ws_archive *archive, ws_arena *arena,
                                   const char *id, bool *out_found,
                                   ws_candidate_row *out_row, ws_diag *diag) {
  *out_found = false;
  if (!*id)
    return ws_fail(diag, WS_INPUT, archive->path, 0,
                   "an empty candidate id; `wavesmith archive ls` lists them");
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(archive, &statement, diag,
                           "SELECT " WS__CANDIDATE_COLUMNS ",b.result"
                           " FROM candidate c JOIN template t"
                           " ON t.hash=c.template_hash"
                           " LEFT JOIN build b ON b.candidate_id=c.id"
                           " WHERE c.id>=? AND c.id<? LIMIT 2",
                           "tt", id, prefix_end(arena, id)));
  bool row = false, another = false;
  ws_status status = ws__archive_step(archive, statement, &row, diag);
  if (status == WS_OK && row) {
    ws__archive_read_candidate(arena, statement, out_row);
    out_row->result_json =
        ws__archive_text(arena, statement, WS__CANDIDATE_COLUMN_COUNT);
    status = ws__archive_step(archive, statement, &another, diag);
  }
  sqlite3_finalize(statement);
  if (status == WS_OK && another)
    return ws_fail(diag, WS_INPUT, archive->path, 0,
                   "'%s' begins several candidate ids; give more digits", id);
  *out_found = status == WS_OK && row;
  return status;
}

ws_status ws_archive_find_twin(ws_archive *archive, ws_arena *arena,
                               const char *hash, bool by_code, bool *out_found,
                               ws_candidate_row *out_row, ws_diag *diag) {
  *out_found = false;
  if (!*hash)
    return WS_OK;
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(
      archive, &statement, diag,
      by_code ? "SELECT id FROM candidate WHERE code_hash=?"
                " AND verdict!='duplicate' ORDER BY number LIMIT 1"
              : "SELECT id FROM candidate WHERE ir_hash=?"
                " AND verdict!='duplicate' ORDER BY number LIMIT 1",
      "t", hash));
  bool row = false;
  const char *id = NULL;
  ws_status status = ws__archive_step(archive, statement, &row, diag);
  if (status == WS_OK && row)
    id = ws__archive_text(arena, statement, 0);
  sqlite3_finalize(statement);
  if (status != WS_OK || !row)
    return status;
  return ws_archive_get_candidate(archive, arena, id, out_found, out_row, diag);
}

static ws_status set_body(ws_archive *archive, ws_arena *arena,
                          sqlite3_stmt *statement, ws_candidate *candidate,
                          ws_diag *diag) {
  const char *region = ws__archive_text(arena, statement, 0);
  const char *hash = ws__archive_text(arena, statement, 1);
  ws_body body = {.variant = -1,
                  .language = ws__archive_text(arena, statement, 2),
                  .text = ws__archive_text(arena, statement, 3)};
  ws_hasher *hasher = ws_hasher_create();
  ws_hasher_update_text(hasher, body.language);
  ws_hasher_update_text(hasher, body.text);
  ws_hash actual = ws_hasher_finish(hasher);
  if (strcmp(actual.hex, hash))
    return ws__archive_damaged(archive, "body", hash, diag);
  int index = ws_template_region_index(candidate->tmpl, region);
  if (index < 0)
    return ws_fail(diag, WS_INPUT, archive->path, 0,
                   "template %s has no region '%s'", candidate->tmpl->name,
                   region);
  candidate->bodies[index] = body;
  return WS_OK;
}

static ws_status set_bodies(ws_archive *archive, ws_arena *arena,
                            ws_candidate *candidate, const char *id,
                            ws_diag *diag) {
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(archive, &statement, diag,
                           "SELECT cb.region,b.hash,b.language,b.text"
                           " FROM candidate_body cb"
                           " JOIN body b ON b.hash=cb.body"
                           " WHERE cb.candidate_id=? ORDER BY cb.region",
                           "t", id));
  bool row;
  ws_status status;
  while ((status = ws__archive_step(archive, statement, &row, diag)) == WS_OK &&
         row) {
    status = set_body(archive, arena, statement, candidate, diag);
    if (status != WS_OK)
      break;
  }
  sqlite3_finalize(statement);
  return status;
}

ws_status ws_archive_load_candidate(ws_archive *archive, ws_arena *arena,
                                    const ws_candidate_row *row,
                                    const ws_template *tmpl,
                                    ws_candidate **out_candidate,
                                    ws_diag *diag) {
  *out_candidate = NULL;
  ws_candidate *candidate = ws_candidate_create(arena, tmpl);
  WS_TRY(ws_candidate_set(candidate, row->assignments, diag));
  WS_TRY(ws_candidate_set_variants(candidate, row->variants, diag));
  WS_TRY(set_bodies(archive, arena, candidate, row->id, diag));
  ws_candidate_update_id(candidate);
  if (strcmp(candidate->id.hex, row->id))
    return ws_fail(diag, WS_INPUT, archive->path, 0,
                   "candidate %s does not fit template %s %s (%.8s): it would "
                   "be %s",
                   row->id, tmpl->name, tmpl->version, tmpl->hash.hex,
                   candidate->id.hex);
  *out_candidate = candidate;
  return WS_OK;
}

/* ---- measurements ---- */
static void read_measurement(ws_arena *arena, sqlite3_stmt *statement,
                             void *out_item) {
  *(ws_measurement *)out_item = (ws_measurement){
      .shape = ws__archive_shape(statement, 0),
      .us = sqlite3_column_double(statement, 1),
      .bound = ws__archive_text(arena, statement, 2),
      .provenance = ws__archive_text(arena, statement, 3),
      .low_us = sqlite3_column_double(statement, 4),
      .high_us = sqlite3_column_double(statement, 5),
  };
}

ws_status ws_archive_get_measurements(ws_archive *archive, ws_arena *arena,
                                      const char *candidate_id,
                                      ws_measurement **out_items,
                                      int *out_count, ws_diag *diag) {
  *out_items = NULL;
  *out_count = 0;
  ws__rows rows = {.arena = arena, .size = sizeof **out_items};
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(archive, &statement, diag,
                           "SELECT shape,us,bound,provenance,"
                           "coalesce(low_us,us),coalesce(high_us,us)"
                           " FROM measurement"
                           " WHERE candidate_id=? ORDER BY provenance,"
                           "shape COLLATE wavesmith_shape",
                           "t", candidate_id));
  WS_TRY(
      ws__archive_read_rows(archive, statement, &rows, read_measurement, diag));
  *out_items = rows.items;
  *out_count = rows.count;
  return WS_OK;
}
