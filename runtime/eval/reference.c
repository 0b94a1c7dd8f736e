/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernels that are references, as files: JSON with what is said of the kernel,
 * the template's declarations, and for each layout the build's facts and the
 * code object in hexadecimal digits. Servers find them in
 * WAVESMITH_REFERENCES.
 */
#include "reference.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

static const char variable[] = "WAVESMITH_REFERENCES";

const ws__reference *ws__reference_of(const ws_problem *problem) {
  return (const ws__reference *)(const void *)problem->kernel;
}

const ws__reference_build *ws__reference_find(const ws_problem *problem,
                                              int form) {
  const ws__reference *reference = ws__reference_of(problem);
  for (int i = 0; reference && i < reference->build_count; i++)
    if (reference->builds[i].layout == form % problem->layout_count)
      return &reference->builds[i];
  return NULL;
}

/* ---- reading ---- */

static int digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                : -1;
}

/* NULL: these are no bytes. */
static const void *read_bytes(ws_arena *arena, const char *text,
                              size_t *out_size) {
  size_t size = strlen(text) / 2;
  uint8_t *bytes = ws_arena_alloc(arena, size + 1);
  for (size_t i = 0; i < size; i++) {
    int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0)
      return NULL;
    bytes[i] = (uint8_t)(high * 16 + low);
  }
  *out_size = size;
  return size ? bytes : NULL;
}

static const char *text_of(const cJSON *json, const char *name) {
  const char *text =
      cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
  return text ? text : "";
}

static double number_of(const cJSON *json, const char *name) {
  return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(json, name));
}

static bool read_build(ws_arena *arena, const cJSON *json,
                       ws__reference_build *out) {
  double layout = number_of(json, "layout");
  *out = (ws__reference_build){.json = json};
  out->code_object = read_bytes(arena, text_of(json, "code"), &out->size);
  if (!(layout >= 0 && layout < WS_PROBLEM_MAX_LAYOUTS))
    return false;
  out->layout = (int)layout;
  return out->code_object != NULL;
}

static bool read_all(ws_arena *arena, const cJSON *json, ws__reference *out) {
  const cJSON *builds = cJSON_GetObjectItemCaseSensitive(json, "builds"), *item;
  const char *hash = text_of(json, "hash");
  *out = (ws__reference){.json = json,
                         .problem = ws_problem_find(text_of(json, "problem")),
                         .kernel = {.file = text_of(json, "file"),
                                    .relative = number_of(json, "relative"),
                                    .absolute = number_of(json, "absolute")}};
  snprintf(out->kernel.hash.hex, sizeof out->kernel.hash.hex, "%s", hash);
  cJSON_ArrayForEach(item, builds) {
    if (out->build_count == WS_PROBLEM_MAX_LAYOUTS ||
        !read_build(arena, item, &out->builds[out->build_count++]))
      return false;
  }
  return out->build_count && out->problem;
}

ws_status ws_reference_add_file(const char *path, ws_diag *diag) {
  char *text;
  size_t size;
  ws_arena *arena = ws_arena_create(); /* as long as the process, like it all */
  ws__reference *reference = ws_arena_alloc(arena, sizeof *reference);
  WS_TRY(ws_file_read(arena, path, &text, &size, diag));
  const cJSON *json = ws_json_parse(text, size, "reference", diag);
  if (!json)
    return WS_INPUT;
  if (!read_all(arena, json, reference))
    return ws_fail(diag, WS_INPUT, path, 0,
                   "is no reference kernel of a problem that is known");
  reference->path = ws_arena_strdup(arena, path);
  if (!reference->problem->kernel)
    ws_problem_compare_with(reference->problem, &reference->kernel);
  ws_environment_add_path(variable, path);
  return WS_OK;
}

ws_status ws_references_inherit(ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  ws_status status = WS_OK;
  int count;
  const char *const *paths = ws_environment_paths(arena, variable, &count);
  for (int i = 0; i < count && status == WS_OK; i++)
    status = ws_reference_add_file(paths[i], diag);
  ws_arena_destroy(arena);
  return status;
}

static bool is_same(const ws_problem *problem, const ws_build_result *result) {
  const ws__reference *reference = ws__reference_of(problem);
  for (int i = 0; reference && i < reference->build_count; i++) {
    const cJSON *own =
        cJSON_GetObjectItemCaseSensitive(reference->builds[i].json, "result");
    if (*result->ir_hash && !strcmp(text_of(own, "ir_hash"), result->ir_hash))
      return true;
  }
  return false;
}

void ws_reference_warn_of_same(const ws_problem *problem,
                               const ws_build_result *result) {
  static bool said; /* once a process: a search meets its start many times */
  if (said || !is_same(problem, result))
    return;
  said = true;
  ws_log(WS_LOG_WARN,
         "the kernel is the reference itself, %s at its default point: "
         "compared with itself it proves nothing",
         problem->kernel->file);
}

const char *ws_reference_file(const ws_problem *problem) {
  const ws__reference *reference = ws__reference_of(problem);
  return reference ? reference->path : NULL;
}
