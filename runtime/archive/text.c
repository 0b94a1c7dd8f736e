/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The text form of an archive: file lists, the JSON printer whose output is
 * the same for the same values, and the manifest that binds the folder
 * together by hashes.
 */
#include "text.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_WIDTH = 120, INDENT = 2 };

/* ---- file lists ---- */
const ws__text_file *ws__text_find(const ws__text_files *files,
                                   const char *path) {
  for (int i = 0; i < files->count; i++)
    if (!strcmp(files->items[i].path, path))
      return &files->items[i];
  return NULL;
}

static ws__text_file *append(ws__text_files *files) {
  if (files->count == files->capacity) {
    int capacity = files->capacity ? 2 * files->capacity : 32;
    ws__text_file *items =
        ws_arena_alloc(files->arena, sizeof *items * (size_t)capacity);
    if (files->count)
      memcpy(items, files->items, sizeof *items * (size_t)files->count);
    files->items = items;
    files->capacity = capacity;
  }
  return &files->items[files->count++];
}

void ws__text_add(ws__text_files *files, const char *path, char *data,
                  size_t size) {
  if (ws__text_find(files, path))
    return;
  *append(files) = (ws__text_file){.path = ws_arena_strdup(files->arena, path),
                                   .data = data,
                                   .size = size,
                                   .hash = ws_hash_bytes(data, size)};
}

static int by_path(const void *a, const void *b) {
  return strcmp(((const ws__text_file *)a)->path,
                ((const ws__text_file *)b)->path);
}

void ws__text_sort(ws__text_files *files) {
  if (files->count)
    qsort(files->items, (size_t)files->count, sizeof *files->items, by_path);
}

/* ---- JSON ---- */
static int by_key(const void *a, const void *b) {
  return strcmp((*(const cJSON *const *)a)->string,
                (*(const cJSON *const *)b)->string);
}

/* The order of a shape's dimensions is what they are known by. */
static bool is_sorted(const cJSON *json) {
  return cJSON_IsObject(json) &&
         !(json->string && !strcmp(json->string, "shape"));
}

/* The children of an object by key, of an array or a shape as they stand. Freed
 * by the caller. */
static const cJSON **children_in_order(const cJSON *json, int *out_count) {
  int count = cJSON_GetArraySize(json);
  const cJSON **children = malloc(sizeof *children * (size_t)(count + 1));
  WS_ASSERT(children);
  int i = 0;
  for (const cJSON *child = json->child; child; child = child->next)
    children[i++] = child;
  if (is_sorted(json))
    qsort(children, (size_t)count, sizeof *children, by_key);
  *out_count = count;
  return children;
}

static void print_scalar(ws_strbuf *out, const cJSON *json) {
  char *text = cJSON_PrintUnformatted(json);
  WS_ASSERT(text);
  ws_strbuf_puts(out, text);
  cJSON_free(text);
}

static void print_key(ws_strbuf *out, const cJSON *child) {
  cJSON *key = cJSON_CreateString(child->string);
  WS_ASSERT(key);
  print_scalar(out, key);
  cJSON_Delete(key);
  ws_strbuf_puts(out, ": ");
}

static void print_value(ws_strbuf *out, const cJSON *json, int indent,
                        bool one_line);

static void print_container(ws_strbuf *out, const cJSON *json, int indent,
                            bool one_line) {
  bool object = cJSON_IsObject(json);
  int count;
  const cJSON **children = children_in_order(json, &count);
  ws_strbuf_puts(out, object ? "{" : "[");
  for (int i = 0; i < count; i++) {
    if (i)
      ws_strbuf_puts(out, one_line ? ", " : ",");
    if (!one_line)
      ws_strbuf_printf(out, "\n%*s", indent + INDENT, "");
    if (object)
      print_key(out, children[i]);
    print_value(out, children[i], indent + INDENT, one_line);
  }
  if (!one_line && count)
    ws_strbuf_printf(out, "\n%*s", indent, "");
  ws_strbuf_puts(out, object ? "}" : "]");
  free(children);
}

static void print_value(ws_strbuf *out, const cJSON *json, int indent,
                        bool one_line) {
  if (!cJSON_IsObject(json) && !cJSON_IsArray(json)) {
    print_scalar(out, json);
    return;
  }
  if (one_line) {
    print_container(out, json, indent, true);
    return;
  }
  ws_strbuf line;
  ws_strbuf_init(&line);
  print_container(&line, json, indent, true);
  if ((int)line.size + indent <= LINE_WIDTH)
    ws_strbuf_append(out, line.data, line.size);
  else
    print_container(out, json, indent, false);
  ws_strbuf_deinit(&line);
}

char *ws__text_print_json(ws_arena *arena, const cJSON *json) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  print_value(&out, json, 0, false);
  ws_strbuf_puts(&out, "\n");
  char *text = ws_arena_strndup(arena, out.data, out.size);
  ws_strbuf_deinit(&out);
  return text;
}

/* ---- manifest ---- */
bool ws__text_is_plain_path(const char *path) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.$/";
  return *path && *path != '.' && *path != '/' &&
         path[strspn(path, allowed)] == '\0' && !strstr(path, "..") &&
         strchr(path, '/') && strchr(path, '/') == strrchr(path, '/') &&
         strlen(path) <= NAME_MAX;
}

static ws_status read_file_list(const cJSON *json, const char *path,
                                ws__text_files *files, ws_diag *diag) {
  const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "files");
  if (!cJSON_IsObject(list))
    return ws_fail(diag, WS_INPUT, path, 0, "\"files\" is not an object");
  for (const cJSON *item = list->child; item; item = item->next) {
    if (!ws__text_is_plain_path(item->string) || !cJSON_IsString(item) ||
        strlen(item->valuestring) != sizeof(ws_hash) - 1)
      return ws_fail(diag, WS_INPUT, path, 0,
                     "'%s' is not a path and hash of an export", item->string);
    ws__text_file *file = append(files);
    *file =
        (ws__text_file){.path = ws_arena_strdup(files->arena, item->string)};
    memcpy(file->hash.hex, item->valuestring, sizeof file->hash.hex);
  }
  ws__text_sort(files);
  return WS_OK;
}

static ws_status check_version(const cJSON *json, const char *path,
                               ws_diag *diag) {
  const char *format = NULL;
  int64_t version = 0;
  WS_TRY(ws_json_get_string(json, "format", path, &format, diag));
  WS_TRY(ws_json_get_int(json, "version", path, &version, diag));
  if (strcmp(format, WS__TEXT_FORMAT))
    return ws_fail(diag, WS_INPUT, path, 0, "the format is '%s', not '%s'",
                   format, WS__TEXT_FORMAT);
  if (version != WS__TEXT_VERSION)
    return ws_fail(diag, WS_INPUT, path, 0,
                   "the export has version %lld, this program reads %d; use "
                   "the wavesmith that wrote it",
                   (long long)version, WS__TEXT_VERSION);
  return WS_OK;
}

ws_status ws__text_read_manifest(ws_arena *arena, const char *folder,
                                 ws__text_files *out_files, ws_diag *diag) {
  *out_files = (ws__text_files){.arena = arena};
  char *path = ws_arena_printf(arena, "%s/%s", folder, WS__TEXT_MANIFEST);
  char *data;
  size_t size;
  WS_TRY(ws_file_read(arena, path, &data, &size, diag));
  cJSON *json = ws_json_parse(data, size, path, diag);
  if (!json)
    return WS_INPUT;
  ws_status status = check_version(json, path, diag);
  if (status == WS_OK)
    status = read_file_list(json, path, out_files, diag);
  cJSON_Delete(json);
  return status;
}

/* ---- languages ---- */
const char *ws__text_language_ending(const char *language) {
  return ws_language_ending(language);
}

const char *ws__text_ending_language(const char *ending) {
  return ws_language_of_ending(ending);
}
