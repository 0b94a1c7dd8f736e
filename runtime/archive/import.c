/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A folder of text back into an archive: all or nothing. The manifest's hash
 * of every file is checked before anything is believed; then one transaction
 * puts templates, runs and candidates. Beyond the hashes: a template's text
 * must have the hash that names it and its records must declare the name,
 * version, problem and target that the folder states; a candidate's id must be
 * the hash of its template, parameters and bodies; problem and layout must be
 * known to this program.
 */
#include "text.h"

#include <cjson/cJSON.h>
#include <string.h>

typedef struct importer {
  ws_archive *archive;
  ws_arena *arena;
  const char *folder;
  ws__text_files files;
  int added;
} importer;

static const char *full_path(importer *in, const char *path) {
  return ws_arena_printf(in->arena, "%s/%s", in->folder, path);
}

static ws_status read_files(importer *in, ws_diag *diag) {
  for (int i = 0; i < in->files.count; i++) {
    ws__text_file *file = &in->files.items[i];
    const char *path = full_path(in, file->path);
    WS_TRY(ws_file_read(in->arena, path, &file->data, &file->size, diag));
    ws_hash hash = ws_hash_bytes(file->data, file->size);
    if (strcmp(hash.hex, file->hash.hex))
      return ws_fail(diag, WS_INPUT, path, 0,
                     "the file was changed after the export (hash %.8s, "
                     "manifest %.8s); restore it or export again",
                     hash.hex, file->hash.hex);
  }
  return WS_OK;
}

static ws_status named_file(importer *in, const char *path, const char *by,
                            const ws__text_file **out_file, ws_diag *diag) {
  *out_file = ws__text_find(&in->files, path);
  if (*out_file)
    return WS_OK;
  return ws_fail(diag, WS_INPUT, full_path(in, by), 0,
                 "it needs '%s', which the manifest does not list", path);
}

/* ---- templates ---- */
/* The folder's words must be those of the template itself. */
static ws_status check_words(const ws_archived_template *row,
                             const ws_template *tmpl, const char *path,
                             ws_diag *diag) {
  const struct {
    const char *key, *got, *want;
  } words[] = {{"hash", row->hash, tmpl->hash.hex},
               {"name", row->name, tmpl->name},
               {"version", row->version, tmpl->version},
               {"problem", row->problem, tmpl->problem},
               {"target", row->target, tmpl->target}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcmp(words[i].got, words[i].want))
      return ws_fail(diag, WS_INPUT, path, 0,
                     "the %s is '%s', the template itself says '%s'",
                     words[i].key, words[i].got, words[i].want);
  if (!ws_problem_find(tmpl->problem))
    return ws_fail(diag, WS_INPUT, path, 0,
                   "there is no problem '%s'; name its file with --problem",
                   tmpl->problem);
  return WS_OK;
}

static ws_status put_template(importer *in, const cJSON *json,
                              const ws__text_file *text, const char *path,
                              ws_diag *diag) {
  ws_archived_template row;
  const cJSON *list;
  WS_TRY(
      ws_json_read(&ws__text_template_json, in->arena, json, path, &row, diag));
  WS_TRY(ws_json_get_array(json, "records", path, &list, diag));
  ws_records records;
  WS_TRY(ws_records_from_json(in->arena, list, &records, diag));
  const ws_template *tmpl;
  WS_TRY(ws_template_from_records(in->arena, &records, row.file,
                                  ws_hash_bytes(text->data, text->size), &tmpl,
                                  diag));
  WS_TRY(check_words(&row, tmpl, path, diag));
  char *records_text = cJSON_PrintUnformatted(list);
  WS_ASSERT(records_text);
  ws_status status = ws__archive_add_template(in->archive, tmpl, text->data,
                                              records_text, diag);
  cJSON_free(records_text);
  return status;
}

static ws_status import_template(importer *in, const ws__text_file *file,
                                 const cJSON *json, ws_diag *diag) {
  size_t stem = strlen(file->path) - strlen("json");
  const ws__text_file *text =
      ws__text_find(&in->files, ws_arena_printf(in->arena, "%.*smlir",
                                                (int)stem, file->path));
  if (!text)
    WS_TRY(named_file(
        in, ws_arena_printf(in->arena, "%.*sll", (int)stem, file->path),
        file->path, &text, diag));
  return put_template(in, json, text, full_path(in, file->path), diag);
}

/* ---- runs ---- */
static ws_status read_run(importer *in, const char *hash, const char *by,
                          int64_t *out_id, ws_diag *diag) {
  const ws__text_file *file;
  WS_TRY(named_file(in, ws_arena_printf(in->arena, "runs/%s.json", hash), by,
                    &file, diag));
  const char *path = full_path(in, file->path);
  cJSON *json = ws_json_parse(file->data, file->size, path, diag);
  if (!json)
    return WS_INPUT;
  ws_run_row run;
  ws_status status =
      ws_json_read(&ws__text_run_json, in->arena, json, path, &run, diag);
  if (status == WS_OK)
    status = ws__archive_add_run(in->archive, &run, out_id, diag);
  cJSON_Delete(json);
  return status;
}

/* ---- candidates ---- */
static ws_status read_candidate(importer *in, const cJSON *json,
                                const char *path, ws__text_candidate *out,
                                ws_diag *diag) {
  WS_TRY(
      ws_json_read(&ws__text_candidate_json, in->arena, json, path, out, diag));
  out->row.result_json = "";
  const cJSON *result = cJSON_GetObjectItemCaseSensitive(json, "result");
  if (result) {
    char *text = cJSON_PrintUnformatted(result);
    WS_ASSERT(text);
    out->row.result_json = ws_arena_strdup(in->arena, text);
    cJSON_free(text);
  }
  return WS_OK;
}

static ws_status read_body(importer *in, const ws__text_body *body,
                           const char *path, ws_candidate *candidate,
                           ws_diag *diag) {
  int index = ws_template_region_index(candidate->tmpl, body->region);
  if (index < 0)
    return ws_fail(diag, WS_INPUT, path, 0, "template %s has no region '%s'",
                   candidate->tmpl->name, body->region);
  const ws__text_file *file;
  WS_TRY(
      named_file(in, body->file, path + strlen(in->folder) + 1, &file, diag));
  const char *dot = strrchr(body->file, '.');
  const char *language = dot ? ws__text_ending_language(dot + 1) : NULL;
  if (!language)
    return ws_fail(diag, WS_INPUT, path, 0,
                   "the body '%s' ends in none of .ll, .cl, .hip, .mlir",
                   body->file);
  candidate->bodies[index] =
      (ws_body){.variant = -1, .language = language, .text = file->data};
  return WS_OK;
}

/* The candidate as its parameters, variants and bodies make it; its id must
 * come out the same. */
static ws_status rebuild(importer *in, const ws__text_candidate *read,
                         const char *path, ws_candidate **out, ws_diag *diag) {
  const ws_candidate_row *row = &read->row;
  const ws_template *tmpl;
  WS_TRY(ws_archive_get_template(in->archive, in->arena, row->template_hash,
                                 &tmpl, NULL, diag));
  if (strcmp(tmpl->hash.hex, row->template_hash))
    return ws_fail(diag, WS_INPUT, path, 0, "'%s' is no template hash",
                   row->template_hash);
  ws_candidate *candidate = ws_candidate_create(in->arena, tmpl);
  WS_TRY(ws_candidate_set(candidate, row->assignments, diag));
  WS_TRY(ws_candidate_set_variants(candidate, row->variants, diag));
  for (int i = 0; i < read->body_count; i++)
    WS_TRY(read_body(in, &read->bodies[i], path, candidate, diag));
  ws_candidate_update_id(candidate);
  if (strcmp(candidate->id.hex, row->id))
    return ws_fail(diag, WS_INPUT, path, 0,
                   "the candidate's id is %s, but its template, parameters "
                   "and bodies give %s",
                   row->id, candidate->id.hex);
  const ws_problem *problem = ws_problem_find(tmpl->problem);
  if (!problem || ws_problem_layout_index(problem, row->layout) < 0)
    return ws_fail(diag, WS_INPUT, path, 0, "problem %s has no layout '%s'",
                   tmpl->problem, row->layout);
  *out = candidate;
  return WS_OK;
}

static ws_status import_candidate(importer *in, const ws__text_file *file,
                                  const cJSON *json, ws_diag *diag) {
  const char *path = full_path(in, file->path);
  ws__text_candidate read;
  ws_candidate *candidate = NULL;
  bool added = false, built;
  WS_TRY(read_candidate(in, json, path, &read, diag));
  ws_candidate_row *row = &read.row;
  WS_TRY(rebuild(in, &read, path, &candidate, diag));
  WS_TRY(read_run(in, read.run, file->path, &row->run_id, diag));
  WS_TRY(ws__archive_add_candidate(in->archive, row, candidate, &added, diag));
  in->added += added;
  WS_TRY(ws__archive_add_draw(in->archive, row->run_id, row->sequence, row->id,
                              diag));
  if (*row->result_json)
    WS_TRY(ws__archive_add_build(in->archive, row->id, row->result_json, NULL,
                                 0, &built, diag));
  return ws__archive_add_measurements(in->archive, row->id, read.measurements,
                                      read.measurement_count, diag);
}

/* ---- all of it ---- */
/* In this order, because a candidate needs its template. Runs, texts and
 * bodies are read by those that name them. */
static const struct kind {
  const char *folder;
  ws_status (*import)(importer *in, const ws__text_file *file,
                      const cJSON *json, ws_diag *diag);
} kinds[] = {{"templates/", import_template},
             {"candidates/", import_candidate}};

static bool is_of_kind(const struct kind *kind, const char *path) {
  const char *dot = strrchr(path, '.');
  return !strncmp(path, kind->folder, strlen(kind->folder)) && dot &&
         !strcmp(dot, ".json");
}

static ws_status import_kind(importer *in, const struct kind *kind,
                             ws_diag *diag) {
  for (int i = 0; i < in->files.count; i++) {
    const ws__text_file *file = &in->files.items[i];
    if (!is_of_kind(kind, file->path))
      continue;
    cJSON *json =
        ws_json_parse(file->data, file->size, full_path(in, file->path), diag);
    if (!json)
      return WS_INPUT;
    ws_status status = kind->import(in, file, json, diag);
    cJSON_Delete(json);
    if (status != WS_OK)
      return status;
  }
  return WS_OK;
}

static ws_status import_all(importer *in, ws_diag *diag) {
  WS_TRY(ws__text_read_manifest(in->arena, in->folder, &in->files, diag));
  WS_TRY(read_files(in, diag));
  WS_TRY(ws__archive_begin(in->archive, diag));
  ws_status status = WS_OK;
  for (size_t i = 0; status == WS_OK && i < sizeof kinds / sizeof kinds[0]; i++)
    status = import_kind(in, &kinds[i], diag);
  return ws__archive_end(in->archive, status, diag);
}

ws_status ws_archive_import(ws_archive *archive, const char *folder,
                            int *out_candidates, ws_diag *diag) {
  importer in = {
      .archive = archive, .arena = ws_arena_create(), .folder = folder};
  ws_status status = import_all(&in, diag);
  *out_candidates = status == WS_OK ? in.added : 0;
  ws_arena_destroy(in.arena);
  return status;
}
