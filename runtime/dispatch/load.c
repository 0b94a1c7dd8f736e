/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Candidates from an archive, ready to emit, and the matrix of their estimated
 * times.
 */
#include "dispatch_internal.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Templates by hash: an archive has few of them and many candidates. */
typedef struct known_template {
  const char *hash;
  const ws_template *tmpl;
} known_template;

typedef struct loader {
  ws_archive *archive;
  ws_arena *arena;
  bool with_code;
  known_template *templates;
  int template_count;
} loader;

static ws_status get_template(loader *load, const char *hash,
                              const ws_template **out, ws_diag *diag) {
  for (int i = 0; i < load->template_count; i++)
    if (!strcmp(load->templates[i].hash, hash)) {
      *out = load->templates[i].tmpl;
      return WS_OK;
    }
  ws_archived_template row;
  WS_TRY(ws_archive_get_template(load->archive, load->arena, hash, out, &row,
                                 diag));
  load->templates[load->template_count++] = (known_template){row.hash, *out};
  return WS_OK;
}

static ws_status parse_result(ws_arena *arena, const ws_candidate_row *row,
                              ws_build_result *out, ws_diag *diag) {
  cJSON *json = ws_json_parse(row->result_json, strlen(row->result_json),
                              "build result of a candidate", diag);
  if (!json)
    return WS_INPUT;
  ws_status status = ws_build_result_from_json(arena, json, out, diag);
  cJSON_Delete(json);
  return status;
}

static ws_status load_entry(loader *load, const char *id,
                            ws_dispatch_entry *out, ws_diag *diag) {
  bool found;
  ws_candidate_row row;
  WS_TRY(ws_archive_get_candidate(load->archive, load->arena, id, &found, &row,
                                  diag));
  if (!found)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "candidate %s has gone from the archive", id);
  const ws_template *tmpl;
  WS_TRY(get_template(load, row.template_hash, &tmpl, diag));
  ws_candidate *candidate;
  WS_TRY(ws_archive_load_candidate(load->archive, load->arena, &row, tmpl,
                                   &candidate, diag));
  ws_build_result *result = ws_arena_alloc(load->arena, sizeof *result);
  WS_TRY(parse_result(load->arena, &row, result, diag));
  out->candidate = candidate;
  out->result = result;
  if (!load->with_code)
    return WS_OK;
  return ws_archive_get_code_object(load->archive, load->arena, id,
                                    &out->code_object, &out->code_object_size,
                                    diag);
}

static int compare_ids(const void *a, const void *b) {
  const ws_candidate_summary *x = a, *y = b;
  return strcmp(x->row.id, y->row.id);
}

/* A candidate is listed once for each provenance of its times. */
static int drop_repeated(ws_candidate_summary *items, int count) {
  int kept = 0;
  for (int i = 0; i < count; i++)
    if (kept == 0 || strcmp(items[kept - 1].row.id, items[i].row.id))
      items[kept++] = items[i];
  return kept;
}

static ws_status load_all(ws_archive *archive, ws_arena *arena,
                          const ws_problem *problem, const char *layout,
                          const char *target, bool with_code,
                          ws_dispatch_entry **out_entries, int *out_count,
                          ws_diag *diag) {
  const ws_archive_filter filter = {.problem = problem->name,
                                    .layout = layout,
                                    .target = target,
                                    .verdict = ws_verdict_text(WS_VERDICT_OK)};
  ws_candidate_summary *items;
  int count;
  *out_count = 0;
  WS_TRY(ws_archive_list(archive, arena, &filter, &items, &count, diag));
  if (count == 0)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "the archive holds no ok candidate of %s, layout %s, target "
                   "%s; run `wavesmith tune` first",
                   problem->name, layout, target);
  qsort(items, (size_t)count, sizeof *items, compare_ids);
  count = drop_repeated(items, count);
  loader load = {archive, arena, with_code, NULL, 0};
  load.templates =
      ws_arena_alloc(arena, (size_t)count * sizeof *load.templates);
  *out_entries = ws_arena_alloc(arena, (size_t)count * sizeof **out_entries);
  for (int i = 0; i < count; i++)
    WS_TRY(load_entry(&load, items[i].row.id, &(*out_entries)[i], diag));
  *out_count = count;
  return WS_OK;
}

ws_status ws_dispatch_load(ws_archive *archive, ws_arena *arena,
                           const ws_problem *problem, const char *layout,
                           const char *target, ws_dispatch_entry **out_entries,
                           int *out_count, ws_diag *diag) {
  return load_all(archive, arena, problem, layout, target, true, out_entries,
                  out_count, diag);
}

ws_status ws_dispatch_load_recorded(ws_archive *archive, ws_arena *arena,
                                    const ws_problem *problem,
                                    const char *layout, const char *target,
                                    ws_dispatch_entry **out_entries,
                                    int *out_count, ws_diag *diag) {
  return load_all(archive, arena, problem, layout, target, false, out_entries,
                  out_count, diag);
}

static ws_status estimate_one(const ws_problem *problem,
                              const ws_dispatch_entry *entry,
                              const ws_shape *shape, double *out_us,
                              ws_diag *diag) {
  ws_estimate estimate;
  *out_us = INFINITY;
  if (!ws_candidate_takes(entry->candidate, shape))
    return WS_OK;
  WS_TRY(ws_model_estimate(&ws_mi300x, problem, entry->candidate, entry->result,
                           shape, &estimate, diag));
  *out_us = estimate.us;
  return WS_OK;
}

ws_status ws_dispatch_estimate(ws_arena *arena, const ws_problem *problem,
                               const ws_dispatch_entry *entries,
                               int entry_count, const ws_shape *shapes,
                               int shape_count, ws_matrix *out_matrix,
                               ws_diag *diag) {
  *out_matrix = (ws_matrix){.shapes = shapes,
                            .shape_count = shape_count,
                            .candidate_count = entry_count,
                            .provenance = WS_PROVENANCE_ESTIMATE};
  out_matrix->us =
      ws_arena_alloc(arena, (size_t)shape_count * (size_t)entry_count *
                                sizeof *out_matrix->us);
  for (int s = 0; s < shape_count; s++)
    for (int e = 0; e < entry_count; e++)
      WS_TRY(estimate_one(
          problem, &entries[e], &shapes[s],
          &out_matrix->us[(size_t)s * (size_t)entry_count + (size_t)e], diag));
  return WS_OK;
}
