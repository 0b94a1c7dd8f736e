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
#include <stdlib.h>
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
static ws_status check_words(const cJSON *json, const ws_template *tmpl,
                             const char *path, ws_diag *diag) {
  const struct {
    const char *key, *want;
  } words[] = {{"hash", tmpl->hash.hex},
               {"name", tmpl->name},
               {"version", tmpl->version},
               {"problem", tmpl->problem},
               {"target", tmpl->target}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    const char *got;
    WS_TRY(ws_json_get_string(json, words[i].key, path, &got, diag));
    if (strcmp(got, words[i].want))
      return ws_fail(diag, WS_INPUT, path, 0,
                     "the %s is '%s', the template itself says '%s'",
                     words[i].key, got, words[i].want);
  }
  if (!ws_problem_find(tmpl->problem))
    return ws_fail(diag, WS_INPUT, path, 0,
                   "this program does not know the problem '%s'",
                   tmpl->problem);
  return WS_OK;
}

static ws_status put_template(importer *in, const cJSON *json,
                              const ws__text_file *text, const char *path,
                              ws_diag *diag) {
  const char *name;
  const cJSON *list;
  WS_TRY(ws_json_get_string(json, "file", path, &name, diag));
  WS_TRY(ws_json_get_array(json, "records", path, &list, diag));
  ws_records records;
  WS_TRY(ws_records_from_json(in->arena, list, &records, diag));
  const ws_template *tmpl;
  WS_TRY(ws_template_from_records(in->arena, &records, name,
                                  ws_hash_bytes(text->data, text->size), &tmpl,
                                  diag));
  WS_TRY(check_words(json, tmpl, path, diag));
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
  const ws__text_file *text;
  WS_TRY(named_file(in,
                    ws_arena_printf(in->arena, "%.*sll", (int)stem, file->path),
                    file->path, &text, diag));
  return put_template(in, json, text, full_path(in, file->path), diag);
}

/* ---- runs ---- */
static ws_status read_run(importer *in, const char *hash, const char *by,
                          int64_t *out_id, ws_diag *diag) {
  const ws__text_file *file;
  WS_TRY(named_file(in, ws_arena_printf(in->arena, "runs/%s.json", hash), by,
                    &file, diag));
  const char *path = full_path(in, file->path), *seed = "";
  cJSON *json = ws_json_parse(file->data, file->size, path, diag);
  if (!json)
    return WS_INPUT;
  ws_run_row run = {0};
  const struct {
    const char *key, **out;
  } texts[] = {{"problem", &run.problem},
               {"layout", &run.layout},
               {"target", &run.target},
               {"strategy", &run.strategy},
               {"shape_set", &run.shape_set},
               {"settings", &run.settings_json},
               {"seed", &seed}};
  ws_status status = WS_OK;
  for (size_t i = 0; status == WS_OK && i < sizeof texts / sizeof texts[0]; i++)
    status = ws_json_get_string(json, texts[i].key, path, texts[i].out, diag);
  if (status == WS_OK) {
    run.seed = strtoull(seed, NULL, 10);
    status = ws__archive_add_run(in->archive, &run, out_id, diag);
  }
  cJSON_Delete(json);
  return status;
}

/* ---- candidates ---- */
static bool has(const cJSON *json, const char *key) {
  return cJSON_GetObjectItemCaseSensitive(json, key) != NULL;
}

/* What is written only where there is something. */
static ws_status read_optional(const cJSON *json, const char *path,
                               ws_candidate_row *row, ws_diag *diag) {
  const struct {
    const char *key, **out;
  } texts[] = {{"second_parent", &row->second_parent_id},
               {"kind", &row->kind},
               {"label", &row->label},
               {"cell", &row->cell}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    if (has(json, texts[i].key))
      WS_TRY(ws_json_get_string(json, texts[i].key, path, texts[i].out, diag));
  if (has(json, "island"))
    WS_TRY(ws_json_get_int(json, "island", path, &row->island, diag));
  return WS_OK;
}

static ws_status read_row(importer *in, const cJSON *json, const char *path,
                          ws_candidate_row *row, const char **out_run,
                          ws_diag *diag) {
  *row = (ws_candidate_row){.result_json = ""};
  const struct {
    const char *key, **out;
  } texts[] = {{"id", &row->id},
               {"template", &row->template_hash},
               {"template_name", &row->template_name},
               {"layout", &row->layout},
               {"assignments", &row->assignments},
               {"variants", &row->variants},
               {"proposer", &row->proposer},
               {"parent", &row->parent_id},
               {"move", &row->move},
               {"run", out_run},
               {"verdict", &row->verdict},
               {"stage", &row->stage},
               {"reason", &row->reason},
               {"ir_hash", &row->ir_hash},
               {"code_hash", &row->code_hash}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    WS_TRY(ws_json_get_string(json, texts[i].key, path, texts[i].out, diag));
  WS_TRY(ws_json_get_int(json, "sequence", path, &row->sequence, diag));
  WS_TRY(read_optional(json, path, row, diag));
  ws_verdict verdict;
  if (!ws_verdict_parse(row->verdict, &verdict))
    return ws_fail(diag, WS_INPUT, path, 0, "'%s' is not a verdict",
                   row->verdict);
  const cJSON *result = cJSON_GetObjectItemCaseSensitive(json, "result");
  if (result) {
    char *text = cJSON_PrintUnformatted(result);
    WS_ASSERT(text);
    row->result_json = ws_arena_strdup(in->arena, text);
    cJSON_free(text);
  }
  return WS_OK;
}

static ws_status read_body(importer *in, const cJSON *json, const char *path,
                           ws_candidate *candidate, ws_diag *diag) {
  const char *region, *body_path;
  WS_TRY(ws_json_get_string(json, "region", path, &region, diag));
  WS_TRY(ws_json_get_string(json, "file", path, &body_path, diag));
  int index = ws_template_region_index(candidate->tmpl, region);
  if (index < 0)
    return ws_fail(diag, WS_INPUT, path, 0, "template %s has no region '%s'",
                   candidate->tmpl->name, region);
  const ws__text_file *file;
  WS_TRY(named_file(in, body_path, path + strlen(in->folder) + 1, &file, diag));
  const char *dot = strrchr(body_path, '.');
  const char *language = dot ? ws__text_ending_language(dot + 1) : NULL;
  if (!language)
    return ws_fail(diag, WS_INPUT, path, 0,
                   "the body '%s' ends in neither .ll nor .cl", body_path);
  candidate->bodies[index] =
      (ws_body){.variant = -1, .language = language, .text = file->data};
  return WS_OK;
}

/* The candidate as its parameters, variants and bodies make it; its id must
 * come out the same. */
static ws_status rebuild(importer *in, const cJSON *json, const char *path,
                         const ws_candidate_row *row, ws_candidate **out,
                         ws_diag *diag) {
  const ws_template *tmpl;
  const cJSON *bodies;
  WS_TRY(ws_archive_get_template(in->archive, in->arena, row->template_hash,
                                 &tmpl, NULL, diag));
  WS_TRY(ws_json_get_array(json, "bodies", path, &bodies, diag));
  if (strcmp(tmpl->hash.hex, row->template_hash))
    return ws_fail(diag, WS_INPUT, path, 0, "'%s' is no template hash",
                   row->template_hash);
  ws_candidate *candidate = ws_candidate_create(in->arena, tmpl);
  WS_TRY(ws_candidate_set(candidate, row->assignments, diag));
  WS_TRY(ws_candidate_set_variants(candidate, row->variants, diag));
  for (const cJSON *item = bodies->child; item; item = item->next)
    WS_TRY(read_body(in, item, path, candidate, diag));
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

static ws_status read_measurement(const cJSON *json, const char *path,
                                  ws_measurement *out, ws_diag *diag) {
  *out = (ws_measurement){.low_us = 0};
  WS_TRY(ws_json_get_int(json, "m", path, &out->shape.m, diag));
  WS_TRY(ws_json_get_int(json, "n", path, &out->shape.n, diag));
  WS_TRY(ws_json_get_int(json, "k", path, &out->shape.k, diag));
  WS_TRY(ws_json_get_double(json, "us", path, &out->us, diag));
  WS_TRY(ws_json_get_string(json, "bound", path, &out->bound, diag));
  WS_TRY(ws_json_get_string(json, "provenance", path, &out->provenance, diag));
  if (!(out->us > 0) || !*out->provenance)
    return ws_fail(diag, WS_INPUT, path, 0,
                   "a measurement needs a time above 0 and a provenance");
  if (!has(json, "low_us") && !has(json, "high_us"))
    return WS_OK;
  WS_TRY(ws_json_get_double(json, "low_us", path, &out->low_us, diag));
  WS_TRY(ws_json_get_double(json, "high_us", path, &out->high_us, diag));
  if (!(out->low_us > 0 && out->low_us <= out->us && out->us <= out->high_us))
    return ws_fail(diag, WS_INPUT, path, 0,
                   "the interval %g to %g us does not hold the time %g us",
                   out->low_us, out->high_us, out->us);
  return WS_OK;
}

static ws_status put_measurements(importer *in, const cJSON *json,
                                  const char *path, const char *id,
                                  ws_diag *diag) {
  const cJSON *list;
  WS_TRY(ws_json_get_array(json, "measurements", path, &list, diag));
  for (const cJSON *item = list->child; item; item = item->next) {
    ws_measurement measurement;
    WS_TRY(read_measurement(item, path, &measurement, diag));
    WS_TRY(
        ws__archive_add_measurements(in->archive, id, &measurement, 1, diag));
  }
  return WS_OK;
}

static ws_status import_candidate(importer *in, const ws__text_file *file,
                                  const cJSON *json, ws_diag *diag) {
  const char *path = full_path(in, file->path), *run;
  ws_candidate_row row;
  ws_candidate *candidate = NULL;
  bool added = false, built;
  WS_TRY(read_row(in, json, path, &row, &run, diag));
  WS_TRY(rebuild(in, json, path, &row, &candidate, diag));
  WS_TRY(read_run(in, run, file->path, &row.run_id, diag));
  WS_TRY(ws__archive_add_candidate(in->archive, &row, candidate, &added, diag));
  in->added += added;
  WS_TRY(ws__archive_add_draw(in->archive, row.run_id, row.sequence, row.id,
                              diag));
  if (*row.result_json)
    WS_TRY(ws__archive_add_build(in->archive, row.id, row.result_json, NULL, 0,
                                 &built, diag));
  return put_measurements(in, json, path, row.id, diag);
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
