/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The archive as a folder of text. Everything is first put together in memory,
 * then written under FOLDER/.new, then moved into place with the manifest
 * last: a full disk or a kill leaves the older export readable, or one whose
 * manifest says that it is not whole. Files that no manifest names (a README)
 * stay. Nothing in the text depends on when, where or how fast the export was
 * made: build times are written as 0, the time of the run's start is left out,
 * file names lose their folders.
 */
#include "text.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct exporter {
  ws_archive *archive;
  ws_arena *arena;
  ws__text_files files;
} exporter;

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Takes json. */
static void add_json_file(exporter *e, const char *path, cJSON *owned_json) {
  char *text = ws__text_print_json(e->arena, owned_json);
  cJSON_Delete(owned_json);
  ws__text_add(&e->files, path, text, strlen(text));
}

/* ---- templates and runs ---- */
static ws_status add_template(exporter *e, const char *hash, ws_diag *diag) {
  ws_archived_template row;
  WS_TRY(ws_archive_get_template(e->archive, e->arena, hash, NULL, &row, diag));
  char *stem = ws_arena_printf(e->arena, "templates/%s-%s", row.name, row.hash);
  char *path = ws_arena_printf(e->arena, "%s.json", stem);
  if (ws__text_find(&e->files, path))
    return WS_OK;
  cJSON *records = ws_json_parse(row.records_json, strlen(row.records_json),
                                 e->archive->path, diag);
  if (!records)
    return WS_INPUT;
  row.file = base_name(row.file);
  cJSON *json = ws_json_write(&ws__text_template_json, &row);
  cJSON_AddItemToObject(json, "records", records);
  add_json_file(e, path, json);
  const char *ending = ws_language_ending(ws_template_language(row.text));
  ws__text_add(&e->files, ws_arena_printf(e->arena, "%s.%s", stem, ending),
               ws_arena_strdup(e->arena, row.text), strlen(row.text));
  return WS_OK;
}

/* Gives the hash that names the run's file. */
static ws_status add_run(exporter *e, int64_t id, ws_hash *out_hash,
                         ws_diag *diag) {
  ws_run_row run;
  WS_TRY(ws_archive_get_run(e->archive, e->arena, id, &run, diag));
  cJSON *json = ws_json_write(&ws__text_run_json, &run);
  char *text = ws__text_print_json(e->arena, json);
  cJSON_Delete(json);
  *out_hash = ws_hash_bytes(text, strlen(text));
  ws__text_add(&e->files,
               ws_arena_printf(e->arena, "runs/%s.json", out_hash->hex), text,
               strlen(text));
  return WS_OK;
}

/* ---- candidates ---- */
typedef struct read_body {
  const char *region, *hash, *language;
  char *text;
} read_body;

static void read_one_body(ws_arena *arena, sqlite3_stmt *statement,
                          void *out_item) {
  *(read_body *)out_item = (read_body){
      .region = ws__archive_text(arena, statement, 0),
      .hash = ws__archive_text(arena, statement, 1),
      .language = ws__archive_text(arena, statement, 2),
      .text = ws_arena_strdup(arena, ws__archive_text(arena, statement, 3))};
}

static ws_status add_bodies(exporter *e, ws__text_candidate *out,
                            ws_diag *diag) {
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(e->archive, &statement, diag,
                           "SELECT cb.region,b.hash,b.language,b.text"
                           " FROM candidate_body cb"
                           " JOIN body b ON b.hash=cb.body"
                           " WHERE cb.candidate_id=? ORDER BY cb.region",
                           "t", out->row.id));
  ws__rows rows = {.arena = e->arena, .size = sizeof(read_body)};
  WS_TRY(
      ws__archive_read_rows(e->archive, statement, &rows, read_one_body, diag));
  const read_body *read = rows.items;
  ws__text_body *bodies =
      ws_arena_alloc(e->arena, sizeof *bodies * (size_t)rows.count);
  for (int i = 0; i < rows.count; i++) {
    const char *ending = ws__text_language_ending(read[i].language);
    WS_ASSERT(ending); /* the archive takes known languages only */
    char *path =
        ws_arena_printf(e->arena, "bodies/%s.%s", read[i].hash, ending);
    ws__text_add(&e->files, path, read[i].text, strlen(read[i].text));
    bodies[i] = (ws__text_body){read[i].region, path};
  }
  out->bodies = bodies;
  out->body_count = rows.count;
  return WS_OK;
}

static ws_status add_measurements(exporter *e, ws__text_candidate *out,
                                  ws_diag *diag) {
  ws_measurement *items;
  WS_TRY(ws_archive_get_measurements(e->archive, e->arena, out->row.id, &items,
                                     &out->measurement_count, diag));
  for (int i = 0; i < out->measurement_count; i++)
    if (items[i].low_us == items[i].us && items[i].high_us == items[i].us)
      items[i].low_us = items[i].high_us = 0;
  out->measurements = items;
  return WS_OK;
}

/* Removes from a build's result what depends on the machine that built it. */
static void make_repeatable(cJSON *result) {
  static const char *const times[] = {"parse_ms", "check_ms", "sanitize_ms",
                                      "lower_ms"};
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    cJSON *time = cJSON_GetObjectItemCaseSensitive(result, times[i]);
    if (cJSON_IsNumber(time))
      cJSON_SetNumberValue(time, 0);
  }
  cJSON *findings = cJSON_GetObjectItemCaseSensitive(result, "findings");
  for (cJSON *item = findings ? findings->child : NULL; item;
       item = item->next) {
    cJSON *file = cJSON_GetObjectItemCaseSensitive(item, "file");
    if (cJSON_IsString(file))
      cJSON_ReplaceItemInObjectCaseSensitive(
          item, "file", cJSON_CreateString(base_name(file->valuestring)));
  }
}

static ws_status add_result(exporter *e, const char *result_json, cJSON *json,
                            ws_diag *diag) {
  if (!*result_json)
    return WS_OK;
  cJSON *result =
      ws_json_parse(result_json, strlen(result_json), e->archive->path, diag);
  if (!result)
    return WS_INPUT;
  make_repeatable(result);
  cJSON_AddItemToObject(json, "result", result);
  return WS_OK;
}

static ws_status add_candidate(exporter *e, const char *id, ws_diag *diag) {
  bool found;
  ws__text_candidate candidate = {.run = ""};
  const ws_candidate_row *row = &candidate.row;
  WS_TRY(ws_archive_get_candidate(e->archive, e->arena, id, &found,
                                  &candidate.row, diag));
  if (!found)
    return ws_fail(diag, WS_INPUT, e->archive->path, 0,
                   "there is no candidate '%s'", id);
  ws_hash run;
  WS_TRY(add_run(e, row->run_id, &run, diag));
  candidate.run = run.hex;
  WS_TRY(add_template(e, row->template_hash, diag));
  WS_TRY(add_bodies(e, &candidate, diag));
  WS_TRY(add_measurements(e, &candidate, diag));
  cJSON *json = ws_json_write(&ws__text_candidate_json, &candidate);
  ws_status status = add_result(e, row->result_json, json, diag);
  if (status != WS_OK) {
    cJSON_Delete(json);
    return status;
  }
  add_json_file(e, ws_arena_printf(e->arena, "candidates/%s.json", row->id),
                json);
  return WS_OK;
}

static char *manifest_text(exporter *e) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "format", WS__TEXT_FORMAT);
  cJSON_AddNumberToObject(json, "version", WS__TEXT_VERSION);
  cJSON *list = cJSON_AddObjectToObject(json, "files");
  for (int i = 0; i < e->files.count; i++)
    WS_ASSERT(cJSON_AddStringToObject(list, e->files.items[i].path,
                                      e->files.items[i].hash.hex));
  char *text = ws__text_print_json(e->arena, json);
  cJSON_Delete(json);
  return text;
}

/* ---- the folder ---- */
static const char *const subfolders[] = {"templates", "runs", "bodies",
                                         "candidates"};
enum { SUBFOLDER_COUNT = sizeof subfolders / sizeof subfolders[0] };

/* A folder without a manifest must be empty. The files of an older export are
 * listed, so that those no longer named can go. */
static ws_status look_at_folder(ws_arena *arena, const char *folder,
                                ws__text_files *out_old, ws_diag *diag) {
  *out_old = (ws__text_files){.arena = arena};
  DIR *directory = opendir(folder);
  if (!directory)
    return errno == ENOENT
               ? WS_OK
               : ws_fail(diag, WS_ENVIRONMENT, folder, 0,
                         "cannot open the folder: %s", strerror(errno));
  bool manifest = false, anything = false;
  for (struct dirent *entry; (entry = readdir(directory));) {
    manifest |= !strcmp(entry->d_name, WS__TEXT_MANIFEST);
    anything |= strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
                strcmp(entry->d_name, ".new");
  }
  closedir(directory);
  if (manifest)
    return ws__text_read_manifest(arena, folder, out_old, diag);
  if (anything)
    return ws_fail(diag, WS_INPUT, folder, 0,
                   "the folder holds something else than an export; name an "
                   "empty or a new one");
  return WS_OK;
}

/* Removes FOLDER/.new with all that this program may have left in it. */
static void remove_new_folder(ws_arena *arena, const char *folder,
                              const ws__text_files *files) {
  for (int i = 0; i < files->count; i++)
    unlink(ws_arena_printf(arena, "%s/.new/%s", folder, files->items[i].path));
  unlink(ws_arena_printf(arena, "%s/.new/%s", folder, WS__TEXT_MANIFEST));
  for (int i = 0; i < SUBFOLDER_COUNT; i++)
    rmdir(ws_arena_printf(arena, "%s/.new/%s", folder, subfolders[i]));
  rmdir(ws_arena_printf(arena, "%s/.new", folder));
}

static ws_status write_new_folder(exporter *e, const char *folder,
                                  const char *manifest, ws_diag *diag) {
  for (int i = 0; i < SUBFOLDER_COUNT; i++)
    WS_TRY(ws_make_directories(
        ws_arena_printf(e->arena, "%s/.new/%s", folder, subfolders[i]), diag));
  for (int i = 0; i < e->files.count; i++) {
    const ws__text_file *file = &e->files.items[i];
    WS_TRY(ws_file_write_atomic(
        ws_arena_printf(e->arena, "%s/.new/%s", folder, file->path), file->data,
        file->size, diag));
  }
  return ws_file_write_atomic(
      ws_arena_printf(e->arena, "%s/.new/%s", folder, WS__TEXT_MANIFEST),
      manifest, strlen(manifest), diag);
}

static ws_status move_into_place(ws_arena *arena, const char *folder,
                                 const char *path, ws_diag *diag) {
  char *from = ws_arena_printf(arena, "%s/.new/%s", folder, path);
  char *to = ws_arena_printf(arena, "%s/%s", folder, path);
  if (rename(from, to) == 0)
    return WS_OK;
  return ws_fail(diag, WS_ENVIRONMENT, to, 0,
                 "cannot be replaced: %s; run the export again",
                 strerror(errno));
}

static ws_status replace_folder(exporter *e, const char *folder,
                                const ws__text_files *old, ws_diag *diag) {
  for (int i = 0; i < SUBFOLDER_COUNT; i++)
    WS_TRY(ws_make_directories(
        ws_arena_printf(e->arena, "%s/%s", folder, subfolders[i]), diag));
  for (int i = 0; i < e->files.count; i++)
    WS_TRY(move_into_place(e->arena, folder, e->files.items[i].path, diag));
  WS_TRY(move_into_place(e->arena, folder, WS__TEXT_MANIFEST, diag));
  for (int i = 0; i < old->count; i++)
    if (!ws__text_find(&e->files, old->items[i].path))
      unlink(ws_arena_printf(e->arena, "%s/%s", folder, old->items[i].path));
  for (int i = 0; i < SUBFOLDER_COUNT; i++) /* those left empty */
    rmdir(ws_arena_printf(e->arena, "%s/%s", folder, subfolders[i]));
  return WS_OK;
}

static ws_status export_all(exporter *e, const char *folder,
                            const char *const *ids, int id_count,
                            ws_diag *diag) {
  ws__text_files old;
  WS_TRY(look_at_folder(e->arena, folder, &old, diag));
  for (int i = 0; i < id_count; i++)
    WS_TRY(add_candidate(e, ids[i], diag));
  ws__text_sort(&e->files);
  for (int i = 0; i < e->files.count; i++)
    if (!ws__text_is_plain_path(e->files.items[i].path))
      return ws_fail(diag, WS_INPUT, e->archive->path, 0,
                     "what the archive holds would be written to '%.200s'; it "
                     "is damaged or forged",
                     e->files.items[i].path);
  ws_status status = write_new_folder(e, folder, manifest_text(e), diag);
  if (status == WS_OK)
    status = replace_folder(e, folder, &old, diag);
  remove_new_folder(e->arena, folder, &e->files);
  return status;
}

ws_status ws_archive_export(ws_archive *archive, const char *folder,
                            const char *const *ids, int id_count,
                            ws_diag *diag) {
  exporter e = {.archive = archive, .arena = ws_arena_create()};
  e.files.arena = e.arena;
  ws_status status = export_all(&e, folder, ids, id_count, diag);
  ws_arena_destroy(e.arena);
  return status;
}
