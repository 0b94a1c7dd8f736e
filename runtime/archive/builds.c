/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Builds: what the compile server answered, under the candidate's id, before
 * anyone has judged it. The tuner records them as they arrive and candidates
 * in the order of proposal, so a build may be there whose candidate is not
 * yet. A candidate's result and code object are those of its build.
 */
#include "store.h"

#include <cjson/cJSON.h>
#include <string.h>

static ws_status add_code_object(ws_archive *archive, const void *data,
                                 size_t size, ws_hash *out_hash,
                                 ws_diag *diag) {
  *out_hash = ws_hash_bytes(data, size);
  return ws__archive_execute(
      archive, diag, "INSERT OR IGNORE INTO code_object(hash,data) VALUES(?,?)",
      "tb", out_hash->hex, data, size);
}

ws_status ws__archive_add_build(ws_archive *archive, const char *candidate_id,
                                const char *result_json, const void *data,
                                size_t size, bool *out_added, ws_diag *diag) {
  ws_hash hash = {""};
  if (data)
    WS_TRY(add_code_object(archive, data, size, &hash, diag));
  WS_TRY(ws__archive_execute(
      archive, diag,
      "INSERT INTO build(candidate_id,result,code_object)"
      " VALUES(?,?,nullif(?,'')) ON CONFLICT(candidate_id) DO NOTHING",
      "ttt", candidate_id, result_json, hash.hex));
  *out_added = sqlite3_changes(archive->database) > 0;
  return WS_OK;
}

ws_status ws_archive_put_build(ws_archive *archive, const char *candidate_id,
                               const ws_build_result *result, bool *out_added,
                               ws_diag *diag) {
  *out_added = false;
  WS_ASSERT(result->blame == WS_BLAME_CANDIDATE);
  WS_TRY(ws__archive_begin(archive, diag));
  cJSON *json = ws_build_result_to_json(result);
  char *text = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  WS_ASSERT(text);
  ws_status status =
      ws__archive_add_build(archive, candidate_id, text, result->code_object,
                            result->code_object_size, out_added, diag);
  cJSON_free(text);
  return ws__archive_end(archive, status, diag);
}

ws_status ws_archive_put_code_object(ws_archive *archive,
                                     const char *candidate_id, const void *data,
                                     size_t size, ws_diag *diag) {
  ws_hash hash;
  WS_TRY(ws__archive_begin(archive, diag));
  ws_status status = add_code_object(archive, data, size, &hash, diag);
  if (status == WS_OK)
    status = ws__archive_execute(
        archive, diag, "UPDATE build SET code_object=? WHERE candidate_id=?",
        "tt", hash.hex, candidate_id);
  if (status == WS_OK && sqlite3_changes(archive->database) == 0)
    status = ws_fail(diag, WS_INPUT, archive->path, 0,
                     "there is no build of candidate '%s'", candidate_id);
  return ws__archive_end(archive, status, diag);
}

/* ---- reading ---- */
static ws_status read_code_object(ws_archive *archive, ws_arena *arena,
                                  const char *candidate_id, bool *out_found,
                                  const void **out_data, size_t *out_size,
                                  ws_diag *diag) {
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(archive, &statement, diag,
                           "SELECT o.hash,o.data FROM build b"
                           " JOIN code_object o ON o.hash=b.code_object"
                           " WHERE b.candidate_id=?",
                           "t", candidate_id));
  ws_status status = ws__archive_step(archive, statement, out_found, diag);
  if (status == WS_OK && *out_found) {
    const char *hash = ws__archive_text(arena, statement, 0);
    size_t size = (size_t)sqlite3_column_bytes(statement, 1);
    void *data = ws_arena_alloc(arena, size);
    if (size)
      memcpy(data, sqlite3_column_blob(statement, 1), size);
    ws_hash actual = ws_hash_bytes(data, size);
    if (strcmp(actual.hex, hash))
      status = ws__archive_damaged(archive, "code object", hash, diag);
    *out_data = data;
    *out_size = size;
  }
  sqlite3_finalize(statement);
  return status;
}

ws_status ws_archive_get_code_object(ws_archive *archive, ws_arena *arena,
                                     const char *candidate_id,
                                     const void **out_data, size_t *out_size,
                                     ws_diag *diag) {
  bool found = false;
  *out_data = NULL;
  *out_size = 0;
  WS_TRY(read_code_object(archive, arena, candidate_id, &found, out_data,
                          out_size, diag));
  if (!found)
    return ws_fail(diag, WS_INPUT, archive->path, 0,
                   "there is no code object of candidate '%s'; what was "
                   "imported as text has none, and `wavesmith build FOLDER` "
                   "compiles it",
                   candidate_id);
  return WS_OK;
}

static ws_status read_result(ws_archive *archive, ws_arena *arena,
                             const char *candidate_id, bool *out_found,
                             const char **out_json, ws_diag *diag) {
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(archive, &statement, diag,
                           "SELECT result FROM build WHERE candidate_id=?", "t",
                           candidate_id));
  ws_status status = ws__archive_step(archive, statement, out_found, diag);
  if (status == WS_OK && *out_found)
    *out_json = ws__archive_text(arena, statement, 0);
  sqlite3_finalize(statement);
  return status;
}

ws_status ws_archive_get_build(ws_archive *archive, ws_arena *arena,
                               const char *candidate_id, bool *out_found,
                               ws_build_result *out_result, ws_diag *diag) {
  const char *text = "";
  *out_found = false;
  WS_TRY(read_result(archive, arena, candidate_id, out_found, &text, diag));
  if (!*out_found)
    return WS_OK;
  cJSON *json = ws_json_parse(text, strlen(text), archive->path, diag);
  if (!json)
    return WS_INPUT;
  ws_status status = ws_build_result_from_json(arena, json, out_result, diag);
  cJSON_Delete(json);
  bool has_code;
  if (status == WS_OK)
    status = read_code_object(archive, arena, candidate_id, &has_code,
                              &out_result->code_object,
                              &out_result->code_object_size, diag);
  return status;
}
