/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Judging: a build that went well is either the twin of a recorded candidate,
 * whose times it takes over (verdict duplicate), or gets an estimate for each
 * shape that its constraints allow and, when the run ranks by a device, what
 * that said. Everything else is recorded as it came. Times of two provenances
 * never meet: a judge ranks by one.
 */
#include "judge.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

static double *no_us(ws_arena *arena, const ws__task *task) {
  size_t count = (size_t)task->shape_count;
  double *us = ws_arena_alloc(arena, sizeof *us * count);
  for (size_t s = 0; s < count; s++)
    us[s] = INFINITY;
  return us;
}

static ws__judgement no_times(ws_arena *arena, const ws__task *task,
                              ws_verdict verdict) {
  size_t count = (size_t)task->shape_count;
  ws__judgement judgement = {
      .verdict = verdict,
      .stage = "",
      .reason = "",
      .us = no_us(arena, task),
      .bounds = ws_arena_alloc(arena, sizeof *judgement.bounds * count)};
  for (size_t s = 0; s < count; s++)
    judgement.bounds[s] = "";
  memset(judgement.cell.bins, -1, sizeof judgement.cell.bins);
  return judgement;
}

/* One that lost its race has times of it, which were learned from. */
static bool is_ranked(ws_verdict verdict) {
  return verdict == WS_VERDICT_OK || verdict == WS_VERDICT_DUPLICATE ||
         verdict == WS_VERDICT_SLOW;
}

static bool by_estimate(const ws__judge *judge) {
  return !strcmp(judge->provenance, WS_PROVENANCE_ESTIMATE);
}

/* ---- estimates ---- */
void ws__judge_estimate(const ws__task *task, const ws_candidate *candidate,
                        const ws_build_result *result, double *us,
                        const char **bounds) {
  bool observed = task->target->has_host_model && ws_build_is_modelled(result);
  for (int s = 0; observed && s < task->shape_count; s++) {
    ws_estimate estimate;
    ws_diag diag;
    if (isfinite(us[s]) ||
        ws_candidate_broken_require(candidate, &task->shapes[s], NULL) >= 0)
      continue;
    if (ws_model_estimate(&ws_mi300x, task->problem, candidate, result,
                          &task->shapes[s], &estimate, &diag) == WS_OK) {
      us[s] = estimate.us;
      bounds[s] = ws_bound_text(estimate.bound);
    } else {
      ws_log(WS_LOG_INFO, "no estimate for %s: %s", candidate->id.hex,
             diag.text);
    }
  }
}

/* The times as measurements for the archive. */
static int add_measurements(const ws__task *task, const char *provenance,
                            const double *us, const double *low_us,
                            const double *high_us, const char *const *bounds,
                            ws_measurement *items, int count) {
  for (int s = 0; s < task->shape_count; s++)
    if (isfinite(us[s]))
      items[count++] = (ws_measurement){.shape = task->shapes[s],
                                        .us = us[s],
                                        .low_us = low_us[s],
                                        .high_us = high_us[s],
                                        .bound = bounds[s],
                                        .provenance = provenance};
  return count;
}

static int add_estimates(const ws__task *task, const double *us,
                         const char *const *bounds, ws_measurement *items,
                         int count) {
  return add_measurements(task, WS_PROVENANCE_ESTIMATE, us, us, us, bounds,
                          items, count);
}

static int add_ranked(const ws__judge *judge, const ws__ranked *ranked,
                      ws_measurement *items, int count) {
  return add_measurements(judge->task, judge->provenance, ranked->us,
                          ranked->low_us, ranked->high_us, ranked->bounds,
                          items, count);
}

static ws_measurement *new_measurements(ws_arena *arena, const ws__task *task) {
  return ws_arena_alloc(arena,
                        sizeof(ws_measurement) * 2 * (size_t)task->shape_count);
}

/* What stands behind the times of a card. */
static ws_status put_timings(ws__judge *judge, const char *id,
                             const ws__ranked *ranked, ws_diag *diag) {
  if (!ranked || !ranked->device || ranked->device->simulated)
    return WS_OK;
  cJSON *json = ws_device_info_to_json(ranked->device);
  char *device = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  WS_ASSERT(device && "out of memory");
  ws_status status = WS_OK;
  for (int s = 0; s < judge->task->shape_count && status == WS_OK; s++) {
    const ws_measured *m = ranked->measured[s];
    if (!m)
      continue;
    const ws_timing_row row = {.candidate_id = id,
                               .provenance = judge->provenance,
                               .shape = judge->task->shapes[s],
                               .samples_us = m->samples,
                               .sample_count = m->sample_count,
                               .low_mhz = m->low_mhz,
                               .high_mhz = m->high_mhz,
                               .memory_mhz = m->memory_mhz,
                               .dropped = m->dropped,
                               .throttle = m->throttle ? m->throttle : "",
                               .device_json = device};
    status = ws_archive_put_timing(judge->archive, &row, diag);
  }
  cJSON_free(device);
  return status;
}

/* The bound of the largest shape that has one. */
static const char *main_bound(const ws__task *task, const char *const *bounds) {
  const char *bound = "";
  double most = 0;
  for (int s = 0; s < task->shape_count; s++) {
    double flops = ws_problem_flops(task->problem, &task->shapes[s]);
    if (*bounds[s] && flops > most) {
      most = flops;
      bound = bounds[s];
    }
  }
  return bound;
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
      if (!strcmp(items[i].provenance, judge->provenance) &&
          !memcmp(&items[i].shape, &judge->task->shapes[s], sizeof(ws_shape))) {
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
  ws__judge_estimate(judge->task, candidate, &result, out->us, out->bounds);
  return WS_OK;
}

static int count_times(const ws__task *task, const double *us) {
  int count = 0;
  for (int s = 0; s < task->shape_count; s++)
    count += isfinite(us[s]) != 0;
  return count;
}

static bool is_complete(const ws__judge *judge, const ws__judgement *out) {
  return count_times(judge->task, out->us) == judge->task->shape_count;
}

static ws_status put_estimates(ws__judge *judge, ws_arena *arena,
                               const char *id, const ws__judgement *judgement,
                               ws_diag *diag) {
  if (judge->dry)
    return WS_OK;
  ws_measurement *items = new_measurements(arena, judge->task);
  int count =
      add_estimates(judge->task, judgement->us, judgement->bounds, items, 0);
  return ws_archive_put_measurements(judge->archive, id, items, count, diag);
}

/* Times of a recorded candidate that is no duplicate. */
static ws_status original_times(ws__judge *judge, ws_arena *arena,
                                const ws_candidate_row *row, ws__judgement *out,
                                ws_diag *diag) {
  WS_TRY(read_times(judge, arena, row->id, out, diag));
  if (!by_estimate(judge) || is_complete(judge, out))
    return WS_OK;
  int before = count_times(judge->task, out->us);
  WS_TRY(complete_times(judge, arena, row, out, diag));
  return count_times(judge->task, out->us) == before
             ? WS_OK
             : put_estimates(judge, arena, row->id, out, diag);
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
  if (is_complete(judge, out))
    return WS_OK;
  WS_TRY(find_twin(judge, arena, row->ir_hash, row->code_hash, &found, &twin,
                   diag));
  if (!found) /* an import without its twin */
    return WS_OK;
  WS_TRY(original_times(judge, arena, &twin, out, diag));
  return by_estimate(judge) ? put_estimates(judge, arena, row->id, out, diag)
                            : WS_OK;
}

static bool refutes(const ws__ranked *ranked) {
  return ranked->verdict != WS_VERDICT_OK && ranked->verdict != WS_VERDICT_SLOW;
}

/* What the device said of a candidate that the archive has already. */
static ws_status keep_ranked(ws__judge *judge, ws_arena *arena, const char *id,
                             const ws__ranked *ranked, ws_diag *diag) {
  ws_measurement *items = new_measurements(arena, judge->task);
  int count = add_ranked(judge, ranked, items, 0);
  WS_TRY(ws_archive_put_measurements(judge->archive, id, items, count, diag));
  WS_TRY(put_timings(judge, id, ranked, diag));
  return refutes(ranked) ? ws_archive_refute(judge->archive, id,
                                             ws_verdict_text(ranked->verdict),
                                             ranked->reason, diag)
                         : WS_OK;
}

static ws_status replay_cell(ws__judge *judge, ws_arena *arena,
                             const ws_candidate *candidate,
                             const ws_candidate_row *row, ws__judgement *out,
                             ws_diag *diag) {
  ws_build_result result;
  if (!judge->wants_cells || !row->result_json || !*row->result_json)
    return WS_OK;
  WS_TRY(read_result(arena, row, &result, diag));
  out->cell =
      ws__cell_of(candidate, &result, main_bound(judge->task, out->bounds));
  return WS_OK;
}

ws_status ws__judge_replay(ws__judge *judge, ws_arena *arena,
                           const ws_candidate *candidate,
                           const ws__ranked *ranked, bool *out_found,
                           ws__judgement *out, ws_diag *diag) {
  ws_candidate_row row;
  ws_verdict verdict;
  WS_TRY(ws_archive_get_candidate(judge->archive, arena, candidate->id.hex,
                                  out_found, &row, diag));
  if (!*out_found)
    return WS_OK;
  if (!ws_verdict_parse(row.verdict, &verdict))
    return ws_fail(diag, WS_INPUT, row.id, 0,
                   "the archive has an unknown verdict '%s'", row.verdict);
  /* What a device found beside a search by estimates came after the candidate
   * had been learned from: the sequence must not depend on when that was. */
  if (by_estimate(judge) && !strcmp(row.stage, WS_STAGE_OF_DEVICE))
    verdict = WS_VERDICT_OK;
  *out = no_times(arena, judge->task, verdict);
  out->stage = row.stage;
  out->reason = row.reason;
  if (ranked && refutes(ranked)) {
    out->verdict = ranked->verdict;
    out->stage = WS_STAGE_OF_DEVICE;
    out->reason = ranked->reason;
  }
  if (ranked && !judge->dry)
    WS_TRY(keep_ranked(judge, arena, row.id, ranked, diag));
  if (!is_ranked(out->verdict))
    return WS_OK;
  WS_TRY(out->verdict == WS_VERDICT_DUPLICATE
             ? duplicate_times(judge, arena, &row, out, diag)
             : original_times(judge, arena, &row, out, diag));
  return replay_cell(judge, arena, candidate, &row, out, diag);
}

/* The recorded candidate whose times are this one's: itself, or its twin. */
static ws_status find_recorded(ws__judge *judge, ws_arena *arena,
                               const ws_candidate *candidate,
                               const ws_build_result *result, bool *out_found,
                               ws_candidate_row *out_row, ws_diag *diag) {
  WS_TRY(ws_archive_get_candidate(judge->archive, arena, candidate->id.hex,
                                  out_found, out_row, diag));
  if (*out_found &&
      strcmp(out_row->verdict, ws_verdict_text(WS_VERDICT_DUPLICATE)))
    return WS_OK;
  if (result->verdict != WS_VERDICT_OK)
    return WS_OK;
  return find_twin(judge, arena,
                   ws_candidate_twin_key(arena, candidate, result->ir_hash),
                   ws_candidate_twin_key(arena, candidate, result->code_hash),
                   out_found, out_row, diag);
}

ws_status ws__judge_wants_times(ws__judge *judge, ws_arena *arena,
                                const ws_candidate *candidate,
                                const ws_build_result *result,
                                const ws__sample *sample, bool *out_wants,
                                double **out_known_us, ws_diag *diag) {
  bool found;
  ws_candidate_row row;
  ws__judgement known = no_times(arena, judge->task, WS_VERDICT_OK);
  *out_wants = result->verdict == WS_VERDICT_OK;
  *out_known_us = known.us;
  WS_TRY(find_recorded(judge, arena, candidate, result, &found, &row, diag));
  if (!found)
    return WS_OK;
  WS_TRY(read_times(judge, arena, row.id, &known, diag));
  *out_wants = !strcmp(row.verdict, ws_verdict_text(WS_VERDICT_OK));
  bool open = false;
  for (int s = 0; s < judge->task->shape_count; s++)
    open = open || (isinf(known.us[s]) && ws__sample_has(sample, s) &&
                    ws_candidate_broken_require(
                        candidate, &judge->task->shapes[s], NULL) < 0);
  *out_wants = *out_wants && open;
  return WS_OK;
}

/* ---- into the archive ---- */
typedef struct record {
  double *estimate_us;
  const char **estimate_bounds;
  ws_candidate_row *row;
} record;

static void take_ranked(const ws__task *task, const ws__ranked *ranked,
                        ws__judgement *out) {
  memcpy(out->us, ranked->us, sizeof *out->us * (size_t)task->shape_count);
  memcpy(out->bounds, ranked->bounds,
         sizeof *out->bounds * (size_t)task->shape_count);
  out->verdict = ranked->verdict;
  if (ranked->verdict != WS_VERDICT_OK) {
    out->stage = WS_STAGE_OF_DEVICE;
    out->reason = ranked->reason;
  }
}

/* A twin's times; its own, when the twin had none of this provenance. */
static ws_status judge_twin(ws__judge *judge, ws_arena *arena,
                            const ws_candidate *candidate,
                            const ws_candidate_row *twin,
                            const ws__ranked *ranked, ws__judgement *out,
                            ws_diag *diag) {
  if (ranked)
    take_ranked(judge->task, ranked, out);
  else
    WS_TRY(original_times(judge, arena, twin, out, diag));
  /* Another process may have recorded this very candidate meanwhile. */
  if (!strcmp(twin->id, candidate->id.hex) || out->verdict != WS_VERDICT_OK)
    return WS_OK;
  out->verdict = WS_VERDICT_DUPLICATE;
  out->reason = ws_arena_printf(arena, "the same as %s", twin->id);
  return WS_OK;
}

static ws_status judge_ok(ws__judge *judge, ws_arena *arena,
                          const ws_candidate *candidate,
                          const ws_build_result *result,
                          const ws__ranked *ranked, record *r,
                          ws__judgement *out, ws_diag *diag) {
  bool found;
  ws_candidate_row twin;
  r->row->ir_hash = ws_candidate_twin_key(arena, candidate, result->ir_hash);
  r->row->code_hash =
      ws_candidate_twin_key(arena, candidate, result->code_hash);
  WS_TRY(find_twin(judge, arena, r->row->ir_hash, r->row->code_hash, &found,
                   &twin, diag));
  if (found) {
    WS_TRY(judge_twin(judge, arena, candidate, &twin, ranked, out, diag));
  } else if (ranked) {
    take_ranked(judge->task, ranked, out);
    if (result->kernel_count > 0)
      ws__judge_estimate(judge->task, candidate, result, r->estimate_us,
                         r->estimate_bounds);
  } else if (!ws_build_is_modelled(result)) {
    out->reason =
        ws_arena_printf(arena, "%s; no device verified it: it does not count",
                        result->not_modelled);
  } else {
    ws__judge_estimate(judge->task, candidate, result, out->us, out->bounds);
  }
  return WS_OK;
}

static int measurements_of(const ws__judge *judge, const record *r,
                           const ws__ranked *ranked,
                           const ws__judgement *judgement,
                           ws_measurement *items) {
  if (ranked)
    return add_estimates(judge->task, r->estimate_us, r->estimate_bounds, items,
                         add_ranked(judge, ranked, items, 0));
  return by_estimate(judge) ? add_estimates(judge->task, judgement->us,
                                            judgement->bounds, items, 0)
                            : 0;
}

ws_status ws__judge_record(ws__judge *judge, ws_arena *arena,
                           const ws_candidate *candidate,
                           const ws_build_result *result,
                           const ws__ranked *ranked,
                           const ws_candidate_row *origin, ws__judgement *out,
                           ws_diag *diag) {
  ws_candidate_row row = *origin;
  ws__judgement estimates = no_times(arena, judge->task, WS_VERDICT_OK);
  record r = {.estimate_us = estimates.us,
              .estimate_bounds = estimates.bounds,
              .row = &row};
  row.id = candidate->id.hex;
  row.template_hash = candidate->tmpl->hash.hex;
  row.layout = judge->task->layout;
  row.assignments = ws_candidate_values_text(arena, candidate);
  row.variants = ws_candidate_variants_text(arena, candidate);
  row.run_id = judge->run_id;
  row.result_json = ""; /* the build is recorded */
  *out = no_times(arena, judge->task, result->verdict);
  out->stage = result->stage;
  out->reason = result->reason;
  if (result->verdict == WS_VERDICT_OK)
    WS_TRY(judge_ok(judge, arena, candidate, result, ranked, &r, out, diag));
  if (result->kernel_count > 0 || ranked)
    out->cell = ws__cell_of(candidate, result->kernel_count ? result : NULL,
                            main_bound(judge->task, out->bounds));
  row.cell = ws__cell_text(arena, &out->cell);
  row.verdict = ws_verdict_text(out->verdict);
  row.stage = out->stage;
  row.reason = out->reason;
  if (judge->dry)
    return WS_OK;
  ws_measurement *items = new_measurements(arena, judge->task);
  int count = measurements_of(judge, &r, ranked, out, items);
  WS_TRY(ws_archive_put_candidate(judge->archive, &row, candidate, NULL, 0,
                                  items, count, diag));
  return put_timings(judge, row.id, ranked, diag);
}

ws_status ws__judge_foresee(const ws__judge *judge, ws_arena *arena,
                            const ws_candidate *candidate,
                            const ws_build_result *result,
                            const ws__ranked *ranked, ws__judgement *out,
                            ws_diag *diag) {
  ws__judge dry = *judge;
  const ws_candidate_row origin = {0};
  bool found;
  dry.dry = true;
  WS_TRY(ws__judge_replay(&dry, arena, candidate, ranked, &found, out, diag));
  return found ? WS_OK
               : ws__judge_record(&dry, arena, candidate, result, ranked,
                                  &origin, out, diag);
}
