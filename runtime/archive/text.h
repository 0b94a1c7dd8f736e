/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The text form of an archive: what export and import share. docs/archive.md
 * describes the folder.
 */
#ifndef WAVESMITH_ARCHIVE_TEXT_H
#define WAVESMITH_ARCHIVE_TEXT_H

#include "store.h"

struct cJSON;

#define WS__TEXT_FORMAT "wavesmith-archive"
enum { WS__TEXT_VERSION = 1 };
#define WS__TEXT_MANIFEST "manifest.json"

/* A file of the folder; path is relative. */
typedef struct ws__text_file {
  const char *path;
  char *data;
  size_t size;
  ws_hash hash;
} ws__text_file;

typedef struct ws__text_files {
  ws_arena *arena;
  ws__text_file *items;
  int count, capacity;
} ws__text_files;

/* "folder/name" of plain names only: what a manifest or an archive says goes
 * nowhere else. */
bool ws__text_is_plain_path(const char *path);
/* Adds a file unless one of that path is there. data must outlive the list. */
void ws__text_add(ws__text_files *files, const char *path, char *data,
                  size_t size);
const ws__text_file *ws__text_find(const ws__text_files *files,
                                   const char *path);
void ws__text_sort(ws__text_files *files); /* by path */

/* ---- what the files hold (text_fields.c) ----
 * A candidate without the result of its build; of a measurement the interval
 * is 0 to 0 where it is the time itself. */
typedef struct ws__text_body {
  const char *region, *file;
} ws__text_body;
typedef struct ws__text_candidate {
  ws_candidate_row row;
  const char *run; /* the hash that names its file */
  const ws__text_body *bodies;
  int body_count;
  const ws_measurement *measurements;
  int measurement_count;
} ws__text_candidate;
extern const ws_json_struct ws__text_template_json, ws__text_run_json,
    ws__text_candidate_json;

/* JSON with sorted keys, two blanks per level, containers on one line where
 * they fit: equal values give equal bytes. In the arena, ends with a newline.
 */
char *ws__text_print_json(ws_arena *arena, const struct cJSON *json);

/* What a manifest lists: paths and hashes, no data. WS_INPUT when it is
 * missing, malformed, of a newer version, or names a path outside the folder.
 */
ws_status ws__text_read_manifest(ws_arena *arena, const char *folder,
                                 ws__text_files *out_files,
                                 ws_diag *diag) WS_MUST_CHECK;

/* File name ending of a body's language ("ir": "ll", "opencl": "cl"). NULL for
 * an unknown language or ending. */
const char *ws__text_language_ending(const char *language);
const char *ws__text_ending_language(const char *ending);

#endif
