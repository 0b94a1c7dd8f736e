/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The report's JSON document (docs/report.md): candidates as columns, then one
 * part per section of the page. Candidates are named by their number in the
 * columns.
 */
#include "detail.h"
#include "flow.h"
#include "json.h"
#include "view.h"
#include "wavesmith/sim_error.h"

#include <stddef.h>
#include <string.h>

enum { ID_DIGITS = 12, LINE_BYTES = 200, FINDINGS_BYTES = 256 << 10 };

/* ---- runs ---- */
static cJSON *run_json(const ws__report_source *source,
                       const ws__report_run *run) {
  const ws_run_row *row = &run->row;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "id", (double)row->id);
  ws__report_add_text(json, "strategy", row->strategy, 0);
  ws__report_add_text(json, "shape_set", row->shape_set, LINE_BYTES);
  cJSON_AddStringToObject(
      json, "seed", /* text: a double does not hold all of it */
      ws_arena_printf(source->arena, "%llu", (unsigned long long)row->seed));
  cJSON_AddNumberToObject(json, "started_unix_ms",
                          (double)row->started_unix_ms);
  ws__report_add_text(json, "settings", row->settings_json, 4096);
  ws__report_add_text(json, "compared",
                      ws_run_compared_text(source->arena, row), LINE_BYTES);
  cJSON_AddItemToObject(json, "draws",
                        cJSON_CreateIntArray(run->draws, run->draw_count));
  return json;
}

static cJSON *task_json(const char *problem, const char *layout,
                        const char *target) {
  cJSON *json = cJSON_CreateObject();
  ws__report_add_text(json, "problem", problem, 0);
  ws__report_add_text(json, "layout", layout, 0);
  ws__report_add_text(json, "target", target, 0);
  return json;
}

/* Runs of the archive that are not shown. */
static cJSON *hidden_runs(const ws__report_source *source) {
  cJSON *list = cJSON_CreateArray();
  for (int r = 0; r < source->all_run_count; r++) {
    const ws_run_row *run = &source->all_runs[r];
    if (ws__report_shows_run(source, run->id))
      continue;
    cJSON *json = task_json(run->problem, run->layout, run->target);
    cJSON_AddNumberToObject(json, "id", (double)run->id);
    cJSON_AddItemToArray(list, json);
  }
  return list;
}

/* ---- provenances ---- */
static cJSON *provenance_json(const ws__report_source *source, int provenance) {
  const char *name = source->provenances[provenance];
  int candidates = 0, times = 0;
  for (int c = 0; c < source->candidate_count; c++) {
    int own = 0;
    for (int i = 0; i < source->candidates[c].time_count; i++)
      own += !strcmp(source->candidates[c].times[i].provenance, name);
    candidates += own > 0;
    times += own;
  }
  cJSON *json = cJSON_CreateObject();
  ws__report_add_text(json, "name", name, 0);
  ws__report_add_text(json, "word", ws_provenance_word(name), 0);
  cJSON_AddNumberToObject(json, "candidates", candidates);
  cJSON_AddNumberToObject(json, "times", times);
  if (ws_sim_error_equal(name) > 0) {
    const ws_sim_error_pairs pairs =
        ws_sim_error_pairs_below(ws_sim_error_equal(name));
    ws__report_add_number(json, "equal_below", ws_sim_error_equal(name));
    cJSON_AddNumberToObject(json, "equal_pairs", pairs.pairs);
    cJSON_AddNumberToObject(json, "equal_right", pairs.right);
  }
  return json;
}

/* ---- candidates as columns ---- */
static const struct column {
  const char *key;
  size_t offset; /* of a text in ws_candidate_row */
  size_t limit;
} columns[] = {
    {"template", offsetof(ws_candidate_row, template_name), LINE_BYTES},
    {"kind", offsetof(ws_candidate_row, kind), LINE_BYTES},
    {"label", offsetof(ws_candidate_row, label), LINE_BYTES},
    {"cell", offsetof(ws_candidate_row, cell), LINE_BYTES},
    {"proposer", offsetof(ws_candidate_row, proposer), LINE_BYTES},
    {"verdict", offsetof(ws_candidate_row, verdict), LINE_BYTES},
    {"stage", offsetof(ws_candidate_row, stage), LINE_BYTES},
    {"reason", offsetof(ws_candidate_row, reason), LINE_BYTES},
    {"move", offsetof(ws_candidate_row, move), LINE_BYTES},
};

static cJSON *text_column(const ws__report_source *source,
                          const struct column *column) {
  cJSON *list = cJSON_CreateArray();
  for (int c = 0; c < source->candidate_count; c++) {
    const char *const *text =
        (const void *)((const char *)&source->candidates[c].row +
                       column->offset);
    cJSON_AddItemToArray(list, ws__report_text(*text, column->limit));
  }
  return list;
}

static cJSON *candidates_json(const ws__report_source *source) {
  size_t count = (size_t)source->candidate_count;
  ws_arena *arena = source->arena;
  int *parents = ws_arena_alloc(arena, sizeof *parents * count);
  int *seconds = ws_arena_alloc(arena, sizeof *seconds * count);
  int *islands = ws_arena_alloc(arena, sizeof *islands * count);
  cJSON *ids = cJSON_CreateArray();
  for (size_t c = 0; c < count; c++) {
    const ws_candidate_row *row = &source->candidates[c].row;
    parents[c] = ws__report_find(source, row->parent_id);
    seconds[c] = ws__report_find(source, row->second_parent_id);
    islands[c] = (int)row->island;
    cJSON_AddItemToArray(
        ids, cJSON_CreateString(ws_arena_strndup(arena, row->id, ID_DIGITS)));
  }
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "count", source->candidate_count);
  cJSON_AddItemToObject(json, "id", ids);
  cJSON_AddItemToObject(json, "parent",
                        cJSON_CreateIntArray(parents, (int)count));
  cJSON_AddItemToObject(json, "second",
                        cJSON_CreateIntArray(seconds, (int)count));
  cJSON_AddItemToObject(json, "island",
                        cJSON_CreateIntArray(islands, (int)count));
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
    cJSON_AddItemToObject(json, columns[i].key,
                          text_column(source, &columns[i]));
  return json;
}

/* ---- confirmations and findings ---- */
static cJSON *confirmation_json(const ws__report_source *source,
                                const ws_confirmation_row *row) {
  const struct {
    const char *key;
    double value;
  } numbers[] = {
      {"chosen", row->chosen_speedup}, {"chosen_shapes", row->chosen_shapes},
      {"search", row->search_speedup}, {"held_out", row->held_out_speedup},
      {"worst", row->worst_speedup},   {"noise", row->noise}};
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "candidate",
                          ws__report_find(source, row->candidate_id));
  ws__report_add_text(json, "id", row->candidate_id, ID_DIGITS);
  ws__report_add_text(json, "against", row->against_id, ID_DIGITS);
  ws__report_add_text(json, "provenance", row->provenance, 0);
  ws__report_add_text(json, "verdict", row->verdict, 0);
  ws__report_add_text(json, "reason", row->reason, LINE_BYTES);
  cJSON_AddNumberToObject(json, "run", (double)row->run_id);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    ws__report_add_number(json, numbers[i].key, numbers[i].value);
  return json;
}

static bool shows_provenance(const ws__report_source *source,
                             const char *name) {
  for (int p = 0; p < source->provenance_count; p++)
    if (!strcmp(source->provenances[p], name))
      return true;
  return false;
}

static ws_status add_confirmations(const ws__report_source *source, cJSON *data,
                                   ws_diag *diag) {
  ws_confirmation_row *rows;
  int count;
  cJSON *list = cJSON_AddArrayToObject(data, "confirmations");
  WS_TRY(ws_archive_list_confirmations(source->archive, source->arena, NULL,
                                       &rows, &count, diag));
  for (int i = 0; i < count; i++)
    if (ws__report_shows_run(source, rows[i].run_id) &&
        shows_provenance(source, rows[i].provenance))
      cJSON_AddItemToArray(list, confirmation_json(source, &rows[i]));
  return WS_OK;
}

/* The latest of every run: each holds what the earlier ones held. */
static ws_status add_findings(const ws__report_source *source, cJSON *data,
                              ws_diag *diag) {
  cJSON *list = cJSON_AddArrayToObject(data, "findings");
  for (int r = 0; r < source->run_count; r++) {
    ws_findings_row *rows;
    int count;
    WS_TRY(ws_archive_list_findings(source->archive, source->arena,
                                    source->runs[r].row.id, &rows, &count,
                                    diag));
    if (!count)
      continue;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "run", (double)source->runs[r].row.id);
    cJSON_AddNumberToObject(json, "version", count);
    cJSON_AddNumberToObject(json, "sequence", (double)rows[count - 1].sequence);
    ws__report_add_text(json, "text", rows[count - 1].text, FINDINGS_BYTES);
    cJSON_AddItemToArray(list, json);
  }
  return WS_OK;
}

/* ---- views and the best ---- */
static ws_status add_details(const ws__report_source *source,
                             const ws__report_view *views, int view_count,
                             cJSON *data, ws_diag *diag) {
  bool *shown = ws_arena_alloc(source->arena,
                               sizeof *shown * (size_t)source->candidate_count);
  cJSON *list = cJSON_AddArrayToObject(data, "details");
  for (int v = 0; v < view_count; v++)
    for (int t = 0; t < views[v].top_count; t++) {
      int candidate = views[v].top[t];
      cJSON *detail;
      if (shown[candidate])
        continue;
      shown[candidate] = true;
      WS_TRY(ws__report_detail(source, candidate, &detail, diag));
      cJSON_AddItemToArray(list, detail);
    }
  return WS_OK;
}

static ws_status add_views(const ws__report_source *source, cJSON *data,
                           ws_diag *diag) {
  ws__report_view *views;
  int count;
  ws__report_views(source, &views, &count);
  cJSON *list = cJSON_AddArrayToObject(data, "views");
  for (int v = 0; v < count; v++)
    cJSON_AddItemToArray(list, ws__report_view_json(source, &views[v]));
  return add_details(source, views, count, data, diag);
}

/* ---- all of it ---- */
static ws_status fill(const ws__report_source *source, cJSON *data,
                      ws_diag *diag) {
  cJSON_AddNumberToObject(data, "wavesmith_report", 1);
  ws__report_add_text(data, "archive", source->archive_name, 0);
  cJSON_AddItemToObject(
      data, "task", task_json(source->problem, source->layout, source->target));
  cJSON *runs = cJSON_AddArrayToObject(data, "runs");
  for (int r = 0; r < source->run_count; r++)
    cJSON_AddItemToArray(runs, run_json(source, &source->runs[r]));
  cJSON_AddItemToObject(data, "hidden_runs", hidden_runs(source));
  cJSON *provenances = cJSON_AddArrayToObject(data, "provenances");
  for (int p = 0; p < source->provenance_count; p++)
    cJSON_AddItemToArray(provenances, provenance_json(source, p));
  cJSON_AddItemToObject(data, "candidates", candidates_json(source));
  cJSON_AddItemToObject(data, "flow", ws__report_flow(source));
  cJSON_AddItemToObject(data, "cost", ws__report_cost(source));
  cJSON_AddItemToObject(data, "claims", ws__report_claims(source));
  WS_TRY(add_confirmations(source, data, diag));
  WS_TRY(add_findings(source, data, diag));
  return add_views(source, data, diag);
}

ws_status ws_report_data(ws_archive *archive, const ws_report_options *options,
                         cJSON **out_data, ws_diag *diag) {
  ws__report_source source;
  ws_arena *arena = ws_arena_create();
  cJSON *data = cJSON_CreateObject();
  ws_status status = ws__report_read(archive, arena, options, &source, diag);
  if (status == WS_OK)
    status = fill(&source, data, diag);
  ws_arena_destroy(arena);
  if (status != WS_OK) {
    cJSON_Delete(data);
    data = NULL;
  }
  *out_data = data;
  return status;
}
