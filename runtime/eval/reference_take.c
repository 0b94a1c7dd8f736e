/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a template to a reference: its default point is checked and built in
 * each layout that it takes, and all that servers need of it is written to one
 * file (reference.c).
 */
#include "reference.h"
#include "wavesmith/bound_model.h"
#include "wavesmith/target.h"

#include <cjson/cJSON.h>
#include <string.h>

typedef struct taking {
  ws_compiler *compiler;
  const ws_reference_request *request;
  ws_arena *arena;
  const ws_template *tmpl;
  const ws_problem *problem;
  cJSON *builds; /* what becomes of it */
  ws_diag *diag;
} taking;

#define REFUSE(t, ...)                                                         \
  ws_fail((t)->diag, WS_INPUT, (t)->request->file, 0, __VA_ARGS__)

/* ---- whose reference it is ---- */

static ws_status find_problem(taking *t) {
  t->problem = ws_problem_find(t->tmpl->problem);
  if (!t->problem)
    return REFUSE(t,
                  "the reference is a kernel of problem '%s', which is not "
                  "known; name its file with --problem",
                  t->tmpl->problem);
  if (t->problem->given->reference || t->problem->given->slices)
    return REFUSE(t,
                  "problem %s has a reference of its own, which results are "
                  "compared with; leave --reference out, or take .reference "
                  "out of the problem",
                  t->problem->name);
  return WS_OK;
}

/* ---- shapes ---- */

/* What it must take: what shapes are drawn from, and all that are named. */
static ws_status check_shape(const taking *t, const ws_candidate *candidate,
                             const ws_shape *shape) {
  ws_diag cause;
  char text[WS_SHAPE_TEXT];
  if (ws_candidate_broken_require(candidate, shape, &cause) < 0)
    return WS_OK;
  return REFUSE(t,
                "the reference does not take %s, which is legal in %s: %s; "
                "take the constraint out, or say it in .legal",
                ws_shape_print_named(shape, text), t->problem->name,
                cause.text);
}

static ws_status check_shapes(const taking *t, const ws_candidate *candidate) {
  WS_TRY(check_shape(t, candidate, &t->problem->least));
  for (int set = 0; set < t->problem->shape_set_count; set++)
    for (int i = 0; i < t->problem->shape_sets[set].count; i++)
      WS_TRY(check_shape(t, candidate, &t->problem->shape_sets[set].shapes[i]));
  return WS_OK;
}

/* ---- builds ---- */

/* NULL: it does not take the layout. */
static ws_candidate *candidate_in(const taking *t, int layout) {
  ws_candidate *candidate = ws_candidate_create(t->arena, t->tmpl);
  ws_diag ignored;
  if (!ws_problem_layout_suits(t->problem, layout, t->tmpl->target))
    return NULL;
  if (ws_template_param_index(t->tmpl, "layout") < 0)
    return layout ? NULL : candidate;
  return ws_candidate_set(candidate,
                          ws_arena_printf(t->arena, "layout=%d", layout),
                          &ignored) == WS_OK &&
                 ws_candidate_broken_require(candidate, NULL, &ignored) < 0
             ? candidate
             : NULL;
}

static char *bytes_text(const taking *t, const void *bytes, size_t size) {
  static const char digits[] = "0123456789abcdef";
  char *text = ws_arena_alloc(t->arena, 2 * size + 1);
  for (size_t i = 0; i < size; i++) {
    text[2 * i] = digits[((const uint8_t *)bytes)[i] >> 4];
    text[2 * i + 1] = digits[((const uint8_t *)bytes)[i] & 15];
  }
  text[2 * size] = '\0';
  return text;
}

/* Its runs are compared with each other alone. */
static ws_status build(const taking *t, const ws_candidate *candidate,
                       ws_build_result *out) {
  ws_run runs[WS_STANDARD_RUNS];
  ws_build_request request = ws_build_request_of(
      t->arena, candidate, t->request->text, t->request->size);
  request.runs = runs;
  request.run_count = ws_standard_runs(candidate, runs);
  for (int i = 0; i < request.run_count; i++)
    runs[i].alone = true;
  request.stages = WS_STAGE_CHECK | WS_STAGE_SANITIZE | WS_STAGE_LOWER;
  WS_TRY(ws_compiler_build(t->compiler, t->arena, &request, out, t->diag));
  if (out->verdict == WS_VERDICT_OK)
    return WS_OK;
  return REFUSE(t, "it cannot be a reference: %s%s%s",
                out->finding_count ? out->findings[0].id : "",
                out->finding_count ? ": " : "", out->reason);
}

static ws_status add_layout(taking *t, int layout) {
  ws_candidate *candidate = candidate_in(t, layout);
  ws_build_result result;
  if (!candidate)
    return WS_OK;
  WS_TRY(check_shapes(t, candidate));
  WS_TRY(build(t, candidate, &result));
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToArray(t->builds, json);
  cJSON_AddNumberToObject(json, "layout", layout);
  cJSON_AddStringToObject(json, "assignments",
                          ws_candidate_values_text(t->arena, candidate));
  cJSON_AddItemToObject(json, "result", ws_build_result_to_json(&result));
  cJSON_AddStringToObject(
      json, "code", bytes_text(t, result.code_object, result.code_object_size));
  return WS_OK;
}

/* ---- the file ---- */

static ws_status write_file(const taking *t, const cJSON *json,
                            const char **out_path) {
  char *text = cJSON_PrintUnformatted(json);
  WS_ASSERT(text && "out of memory");
  size_t size = strlen(text);
  *out_path = ws_arena_printf(t->arena, "%s/%s.json",
                              ws_problem_cache_folder(t->arena, "references"),
                              ws_hash_bytes(text, size).hex);
  ws_status status = ws_file_write_atomic(*out_path, text, size, t->diag);
  cJSON_free(text);
  return status;
}

static ws_status keep(const taking *t, cJSON *json) {
  const char *path;
  ws_diag ignored;
  const char *records = ws_template_records_json(t->arena, t->tmpl);
  cJSON_AddStringToObject(json, "problem", t->problem->name);
  cJSON_AddStringToObject(json, "file", t->request->file);
  cJSON_AddStringToObject(json, "hash", t->tmpl->hash.hex);
  cJSON_AddNumberToObject(json, "relative", t->request->relative);
  cJSON_AddNumberToObject(json, "absolute", t->request->absolute);
  cJSON_AddItemToObject(
      json, "records",
      ws_json_parse(records, strlen(records), "records", &ignored));
  WS_TRY(write_file(t, json, &path));
  return ws_reference_add_file(path, t->diag);
}

static ws_status take(taking *t, cJSON *json) {
  WS_TRY(ws_compiler_describe(t->compiler, t->arena, t->request->file,
                              t->request->text, t->request->size, &t->tmpl,
                              t->diag));
  WS_TRY(find_problem(t));
  t->builds = cJSON_AddArrayToObject(json, "builds");
  for (int i = 0; i < t->problem->layout_count; i++)
    WS_TRY(add_layout(t, i));
  if (!cJSON_GetArraySize(t->builds))
    return REFUSE(t, "it takes none of the layouts of %s for %s",
                  t->problem->name, t->tmpl->target);
  if (!t->problem->kernel)
    return keep(t, json);
  if (!strcmp(t->problem->kernel->hash.hex, t->tmpl->hash.hex) &&
      t->problem->kernel->relative == t->request->relative &&
      t->problem->kernel->absolute == t->request->absolute)
    return WS_OK; /* it was inherited */
  return REFUSE(t, "problem %s is compared with kernel %s already",
                t->problem->name, t->problem->kernel->file);
}

ws_status ws_reference_take(ws_compiler *compiler,
                            const ws_reference_request *request,
                            ws_diag *diag) {
  taking t = {.compiler = compiler,
              .request = request,
              .arena = ws_arena_create(),
              .diag = diag};
  cJSON *json = cJSON_CreateObject();
  ws_status status = take(&t, json);
  cJSON_Delete(json);
  ws_arena_destroy(t.arena);
  return status;
}
