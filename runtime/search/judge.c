/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Judging: a build that went well is either the twin of a recorded candidate,
 * whose times it takes over (verdict duplicate), or gets an estimate for each
 * shape that its constraints allow. Everything else is recorded as it came.
 * What the search ranks by is the bound model alone; devices: trials.c.
 */
#include "judge.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

static ws__judgement no_times(ws_arena *arena, const ws__task *task,
                              ws_verdict verdict) {
  size_t count = (size_t)task->shape_count;
  ws__judgement judgement = {
      .verdict = verdict,
      .us = ws_arena_alloc(arena, sizeof *judgement.us * count),
      .bounds = ws_arena_alloc(arena, sizeof *judgement.bounds * count)};
  for (int s = 0; s < task->shape_count; s++) {
    judgement.us[s] = INFINITY;
    judgement.bounds[s] = "";
  }
  return judgement;
}

static bool is_ranked(ws_verdict verdict) {
  return verdict == WS_VERDICT_OK || verdict == WS_VERDICT_DUPLICATE;
}

/* ---- estimates ---- */
/* Fills the shapes that have no time yet. */
static void estimate_missing(const ws__task *task,
                             const ws_candidate *candidate,
                             const ws_build_result *result,
                             ws__judgement *out) {
  for (int s = 0; s < task->shape_count; s++) {
    ws_estimate estimate;
    ws_diag diag;
    if (isfinite(out->us[s]) ||
        ws_candidate_broken_require(candidate, &task->shapes[s], NULL) >= 0)
      continue;
    if (ws_model_estimate(&ws_mi300x, task->problem, candidate, result,
                          &task->shapes[s], &estimate, &diag) == WS_OK) {
      out->us[s] = estimate.us;
      out->bounds[s] = ws_bound_text(estimate.bound);
    } else {
      ws_log(WS_LOG_INFO, "no estimate for %s: %s", candidate->id.hex,
             diag.text);
    }
  }
}

/* The times as measurements for the archive. */
static int measurements_of(const ws__task *task, const ws__judgement *judgement,
                           ws_measurement *out) {
  int count = 0;
  for (int s = 0; s < task->shape_count; s++)
    if (isfinite(judgement->us[s]))
      out[count++] = (ws_measurement){.shape = task->shapes[s],
                                      .us = judgement->us[s],
                                      .bound = judgement->bounds[s],
                                      .provenance = WS_PROVENANCE_ESTIMATE};
  return count;
}

static ws_measurement *new_measurements(ws_arena *arena, const ws__task *task) {
  return ws_arena_alloc(arena,
                        sizeof(ws_measurement) * (size_t)task->shape_count);
}

/* ---- from the archive ---- */
static ws_status read_times(ws__judge *judge, ws_arena *arena, const char *id,
                            ws__judgement *out, ws_diag *diag) {
  ws_measurement *items;
  int count;
  WS_TRY(ws_archive_get_measurements(judge->archive, arena, id, &items, &count,
                                     diag));
  for (int i = 0; i < count; i++)
    for (int s = 0; s < judge->task->shape_count; s++)
      if (!strcmp(items[i].provenance, WS_PROVENANCE_ESTIMATE) &&
          items[i].shape.m == judge->task->shapes[s].m &&
          items[i].shape.n == judge->task->shapes[s].n &&
          items[i].shape.k == judge->task->shapes[s].k) {
        out->us[s] = items[i].us;
        out->bounds[s] = items[i].bound;
      }
  return WS_OK;
}

static ws_status read_result(ws_arena *arena, const ws_candidate_row *row,
                             ws_build_result *out, ws_diag *diag) {
  cJSON *json =
      ws_json_parse(row->result_json, strlen(row->result_json), row->id, diag);
  if (!json)
    return WS_INPUT;
  ws_status status = ws_build_result_from_json(arena, json, out, diag);
  cJSON_Delete(json);
  return status;
}

/* Estimates, from the facts in the archive, the shapes that row has no times
 * on: it may stem from a run over other shapes. */
static ws_status complete_times(ws__judge *judge, ws_arena *arena,
                                const ws_candidate_row *row, ws__judgement *out,
                                ws_diag *diag) {
  const ws_template *tmpl;
  ws_candidate *candidate;
  ws_build_result result;
  WS_TRY(ws_archive_get_template(judge->archive, arena, row->template_hash,
                                 &tmpl, NULL, diag));
  WS_TRY(ws_archive_load_candidate(judge->archive, arena, row, tmpl, &candidate,
                                   diag));
  WS_TRY(read_result(arena, row, &result, diag));
  estimate_missing(judge->task, candidate, &result, out);
  return WS_OK;
}

static int count_times(const ws__task *task, const ws__judgement *judgement) {
  int count = 0;
  for (int s = 0; s < task->shape_count; s++)
    count += isfinite(judgement->us[s]) != 0;
  return count;
}

/* Times of a recorded candidate that is no duplicate. */
static ws_status original_times(ws__judge *judge, ws_arena *arena,
                                const ws_candidate_row *row, ws__judgement *out,
                                ws_diag *diag) {
  WS_TRY(read_times(judge, arena, row->id, out, diag));
  int before = count_times(judge->task, out);
  if (before == judge->task->shape_count)
    return WS_OK;
  WS_TRY(complete_times(judge, arena, row, out, diag));
  if (count_times(judge->task, out) == before)
    return WS_OK;
  ws_measurement *items = new_measurements(arena, judge->task);
  int count = measurements_of(judge->task, out, items);
  return ws_archive_put_measurements(judge->archive, row->id, items, count,
                                     diag);
}

/* The recorded candidate that is the same as one with these keys. */
static ws_status find_twin(ws__judge *judge, ws_arena *arena,
                           const char *ir_key, const char *code_key,
                           bool *out_found, ws_candidate_row *out_row,
                           ws_diag *diag) {
  WS_TRY(ws_archive_find_twin(judge->archive, arena, ir_key, false, out_found,
                              out_row, diag));
  if (*out_found)
    return WS_OK;
  return ws_archive_find_twin(judge->archive, arena, code_key, true, out_found,
                              out_row, diag);
}

/* A duplicate's times are its twin's, also those that came later. */
static ws_status duplicate_times(ws__judge *judge, ws_arena *arena,
                                 const ws_candidate_row *row,
                                 ws__judgement *out, ws_diag *diag) {
  bool found;
  ws_candidate_row twin;
  WS_TRY(read_times(judge, arena, row->id, out, diag));
  if (count_times(judge->task, out) == judge->task->shape_count)
    return WS_OK;
  WS_TRY(find_twin(judge, arena, row->ir_hash, row->code_hash, &found, &twin,
                   diag));
  if (!found) /* an import without its twin */
    return WS_OK;
  WS_TRY(original_times(judge, arena, &twin, out, diag));
  ws_measurement *items = new_measurements(arena, judge->task);
  int count = measurements_of(judge->task, out, items);
  return ws_archive_put_measurements(judge->archive, row->id, items, count,
                                     diag);
}

ws_status ws__judge_replay(ws__judge *judge, ws_arena *arena,
                           const ws_candidate *candidate, bool *out_found,
                           ws__judgement *out, ws_diag *diag) {
  ws_candidate_row row;
  WS_TRY(ws_archive_get_candidate(judge->archive, arena, candidate->id.hex,
                                  out_found, &row, diag));
  if (!*out_found)
    return WS_OK;
  ws_verdict verdict;
  if (!ws_verdict_parse(row.verdict, &verdict))
    return ws_fail(diag, WS_INPUT, row.id, 0,
                   "the archive has an unknown verdict '%s'", row.verdict);
  /* What a device found came after the candidate had been learned from: the
   * sequence of proposals must not depend on when that was. */
  if (!strcmp(row.stage, WS_STAGE_OF_DEVICE))
    verdict = WS_VERDICT_OK;
  *out = no_times(arena, judge->task, verdict);
  if (!is_ranked(verdict))
    return WS_OK;
  return verdict == WS_VERDICT_DUPLICATE
             ? duplicate_times(judge, arena, &row, out, diag)
             : original_times(judge, arena, &row, out, diag);
}

/* ---- into the archive ---- */
static ws_status judge_ok(ws__judge *judge, ws_arena *arena,
                          const ws_candidate *candidate,
                          const ws_build_result *result, ws_candidate_row *row,
                          ws__judgement *out, ws_diag *diag) {
  bool found;
  ws_candidate_row twin;
  row->ir_hash = ws__twin_key(arena, candidate, result->ir_hash);
  row->code_hash = ws__twin_key(arena, candidate, result->code_hash);
  WS_TRY(find_twin(judge, arena, row->ir_hash, row->code_hash, &found, &twin,
                   diag));
  if (!found) {
    estimate_missing(judge->task, candidate, result, out);
    return WS_OK;
  }
  /* Another process may have recorded this very candidate meanwhile. */
  if (!strcmp(twin.id, candidate->id.hex))
    return original_times(judge, arena, &twin, out, diag);
  out->verdict = WS_VERDICT_DUPLICATE;
  row->reason = ws_arena_printf(arena, "the same as %s", twin.id);
  return original_times(judge, arena, &twin, out, diag);
}

ws_status ws__judge_record(ws__judge *judge, ws_arena *arena,
                           const ws_candidate *candidate,
                           const ws_build_result *result,
                           const ws_candidate_row *origin, ws__judgement *out,
                           ws_diag *diag) {
  ws_candidate_row row = *origin;
  row.id = candidate->id.hex;
  row.template_hash = candidate->tmpl->hash.hex;
  row.layout = judge->task->layout;
  row.assignments = ws_candidate_values_text(arena, candidate);
  row.variants = ws_candidate_variants_text(arena, candidate);
  row.run_id = judge->run_id;
  row.stage = result->stage;
  row.reason = result->reason;
  row.result_json = ""; /* the build is recorded */
  *out = no_times(arena, judge->task, result->verdict);
  if (result->verdict == WS_VERDICT_OK)
    WS_TRY(judge_ok(judge, arena, candidate, result, &row, out, diag));
  row.verdict = ws_verdict_text(out->verdict);
  ws_measurement *items = new_measurements(arena, judge->task);
  int count = measurements_of(judge->task, out, items);
  return ws_archive_put_candidate(judge->archive, &row, candidate, NULL, 0,
                                  items, count, diag);
}
