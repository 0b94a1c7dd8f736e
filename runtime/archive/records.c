/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Putting things into the archive: templates, runs, candidates with their
 * bodies and measurements (builds: builds.c). Everything is insert-if-absent:
 * what is recorded never changes, so recording twice (two processes, a resumed
 * run, an import) does no harm.
 */
#include "store.h"

#include <string.h>

/* ---- templates ---- */
ws_status ws__archive_add_template(ws_archive *archive, const ws_template *tmpl,
                                   const char *text, const char *records_json,
                                   ws_diag *diag) {
  return ws__archive_execute(
      archive, diag,
      "INSERT OR IGNORE INTO template"
      "(hash,name,version,problem,target,file,text,records)"
      " VALUES(?,?,?,?,?,?,?,?)",
      "tttttttt", tmpl->hash.hex, tmpl->name, tmpl->version, tmpl->problem,
      tmpl->target, tmpl->file, text, records_json);
}

ws_status ws_archive_put_template(ws_archive *archive, const ws_template *tmpl,
                                  const char *text, const char *records_json,
                                  ws_diag *diag) {
  WS_TRY(ws__archive_begin(archive, diag));
  ws_arena *arena = ws_arena_create();
  if (!records_json)
    records_json = ws_template_records_json(arena, tmpl);
  ws_status status =
      ws__archive_add_template(archive, tmpl, text, records_json, diag);
  ws_arena_destroy(arena);
  return ws__archive_end(archive, status, diag);
}

/* ---- runs ---- */
ws_status ws_archive_find_run(ws_archive *archive, const ws_run_row *run,
                              int64_t *out_id, ws_diag *diag) {
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(
      archive, &statement, diag,
      "SELECT id FROM run WHERE problem=? AND layout=? AND target=?"
      " AND strategy=? AND shape_set=? AND settings=? AND seed=?"
      " ORDER BY id LIMIT 1",
      "tttttti", run->problem, run->layout, run->target, run->strategy,
      run->shape_set, run->settings_json, (int64_t)run->seed));
  bool row;
  ws_status status = ws__archive_step(archive, statement, &row, diag);
  *out_id = status == WS_OK && row ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  return status;
}

ws_status ws__archive_add_run(ws_archive *archive, const ws_run_row *run,
                              int64_t *out_id, ws_diag *diag) {
  WS_TRY(ws_archive_find_run(archive, run, out_id, diag));
  if (*out_id)
    return WS_OK;
  WS_TRY(ws_archive_check_compared(archive, run, diag));
  WS_TRY(ws__archive_execute(
      archive, diag,
      "INSERT INTO run(problem,layout,target,strategy,shape_set,settings,seed,"
      "started_unix_ms) VALUES(?,?,?,?,?,?,?,?)",
      "ttttttii", run->problem, run->layout, run->target, run->strategy,
      run->shape_set, run->settings_json, (int64_t)run->seed,
      run->started_unix_ms));
  *out_id = sqlite3_last_insert_rowid(archive->database);
  return WS_OK;
}

ws_status ws_archive_begin_run(ws_archive *archive, const ws_run_row *run,
                               int64_t *out_id, ws_diag *diag) {
  *out_id = 0;
  WS_TRY(ws__archive_begin(archive, diag));
  return ws__archive_end(archive,
                         ws__archive_add_run(archive, run, out_id, diag), diag);
}

/* ---- candidates ---- */
static ws_status add_body(ws_archive *archive, const char *candidate_id,
                          const char *region, const ws_body *body,
                          ws_diag *diag) {
  ws_hasher *hasher = ws_hasher_create();
  ws_hasher_update_text(hasher, body->language);
  ws_hasher_update_text(hasher, body->text);
  ws_hash hash = ws_hasher_finish(hasher);
  WS_TRY(ws__archive_execute(
      archive, diag,
      "INSERT OR IGNORE INTO body(hash,language,text) VALUES(?,?,?)", "ttt",
      hash.hex, body->language, body->text));
  return ws__archive_execute(
      archive, diag,
      "INSERT INTO candidate_body(candidate_id,region,body) VALUES(?,?,?)",
      "ttt", candidate_id, region, hash.hex);
}

static ws_status add_bodies(ws_archive *archive, const ws_candidate *candidate,
                            ws_diag *diag) {
  const ws_template *tmpl = candidate->tmpl;
  for (int i = 0; i < tmpl->region_count; i++)
    if (candidate->bodies[i].text)
      WS_TRY(add_body(archive, candidate->id.hex, tmpl->regions[i].function,
                      &candidate->bodies[i], diag));
  return WS_OK;
}

ws_status ws__archive_add_candidate(ws_archive *archive,
                                    const ws_candidate_row *row,
                                    const ws_candidate *candidate,
                                    bool *out_added, ws_diag *diag) {
  WS_ASSERT(!strcmp(row->id, candidate->id.hex));
  WS_TRY(ws__archive_execute(
      archive, diag,
      "INSERT INTO candidate(id,template_hash,layout,assignments,variants,"
      "proposer,parent_id,second_parent_id,kind,label,cell,island,move,run_id,"
      "sequence,verdict,stage,reason,ir_hash,code_hash)"
      " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
      " ON CONFLICT(id) DO NOTHING",
      "tttttttttttitiittttt", row->id, row->template_hash, row->layout,
      row->assignments, row->variants, row->proposer, row->parent_id,
      row->second_parent_id, row->kind, row->label, row->cell, row->island,
      row->move, row->run_id, row->sequence, row->verdict, row->stage,
      row->reason, row->ir_hash, row->code_hash));
  *out_added = sqlite3_changes(archive->database) > 0;
  return *out_added ? add_bodies(archive, candidate, diag) : WS_OK;
}

ws_status ws__archive_add_measurements(ws_archive *archive,
                                       const char *candidate_id,
                                       const ws_measurement *items, int count,
                                       ws_diag *diag) {
  char shape[WS_SHAPE_TEXT];
  for (int i = 0; i < count; i++)
    WS_TRY(ws__archive_execute(
        archive, diag,
        "INSERT INTO measurement(candidate_id,provenance,shape,us,bound,"
        "low_us,high_us) VALUES(?,?,?,?,?,nullif(?,0.0),nullif(?,0.0))"
        " ON CONFLICT DO NOTHING",
        "tttdtdd", candidate_id, items[i].provenance,
        ws_shape_print_named(&items[i].shape, shape), items[i].us,
        items[i].bound, items[i].low_us, items[i].high_us));
  return WS_OK;
}

ws_status ws_archive_refute(ws_archive *archive, const char *candidate_id,
                            const char *verdict, const char *reason,
                            ws_diag *diag) {
  WS_TRY(ws__archive_begin(archive, diag));
  ws_status status = ws__archive_execute(
      archive, diag,
      "UPDATE candidate SET verdict=?,stage='" WS_STAGE_OF_DEVICE
      "',reason=? WHERE id=? AND verdict='ok'",
      "ttt", verdict, reason, candidate_id);
  return ws__archive_end(archive, status, diag);
}

ws_status ws_archive_put_measurements(ws_archive *archive,
                                      const char *candidate_id,
                                      const ws_measurement *items, int count,
                                      ws_diag *diag) {
  WS_TRY(ws__archive_begin(archive, diag));
  return ws__archive_end(
      archive,
      ws__archive_add_measurements(archive, candidate_id, items, count, diag),
      diag);
}

ws_status ws__archive_add_draw(ws_archive *archive, int64_t run_id,
                               int64_t sequence, const char *candidate_id,
                               ws_diag *diag) {
  return ws__archive_execute(
      archive, diag,
      "INSERT OR IGNORE INTO draw(run_id,sequence,candidate_id) VALUES(?,?,?)",
      "iit", run_id, sequence, candidate_id);
}

ws_status ws_archive_put_draw(ws_archive *archive, int64_t run_id,
                              int64_t sequence, const char *candidate_id,
                              ws_diag *diag) {
  WS_TRY(ws__archive_begin(archive, diag));
  return ws__archive_end(
      archive,
      ws__archive_add_draw(archive, run_id, sequence, candidate_id, diag),
      diag);
}

static ws_status add_all(ws_archive *archive, const ws_candidate_row *row,
                         const ws_candidate *candidate, const void *code_object,
                         size_t code_size, const ws_measurement *measurements,
                         int measurement_count, ws_diag *diag) {
  bool added = false, built;
  WS_TRY(ws__archive_add_candidate(archive, row, candidate, &added, diag));
  WS_TRY(
      ws__archive_add_draw(archive, row->run_id, row->sequence, row->id, diag));
  if (!added)
    return WS_OK;
  if (row->result_json && *row->result_json)
    WS_TRY(ws__archive_add_build(archive, row->id, row->result_json,
                                 code_object, code_size, &built, diag));
  return ws__archive_add_measurements(archive, row->id, measurements,
                                      measurement_count, diag);
}

ws_status ws_archive_put_candidate(ws_archive *archive,
                                   const ws_candidate_row *row,
                                   const ws_candidate *candidate,
                                   const void *code_object, size_t code_size,
                                   const ws_measurement *measurements,
                                   int measurement_count, ws_diag *diag) {
  WS_TRY(ws__archive_begin(archive, diag));
  ws_status status = add_all(archive, row, candidate, code_object, code_size,
                             measurements, measurement_count, diag);
  return ws__archive_end(archive, status, diag);
}
