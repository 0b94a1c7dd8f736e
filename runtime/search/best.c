/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the table at the end of a run shows: not the run's own best but the
 * archive's, so that a later run never seems to lose what an earlier one
 * found, and the table agrees with what `wavesmith dispatch` picks from.
 * Times of two provenances are never compared: a shape that has times of the
 * run's device shows the best of these, any other the best estimate.
 */
#include "best.h"

#include "wavesmith/sim_error.h"

#include <stdio.h>
#include <string.h>

static bool is_of(const ws_measurement *item, const ws_shape *shape,
                  const char *provenance) {
  return !memcmp(&item->shape, shape, sizeof *shape) &&
         !strcmp(item->provenance, provenance);
}

static void take_if_faster(ws_tune_row *row, const char *id,
                           const ws_measurement *item) {
  if (row->best_us > 0 && row->best_us <= item->us)
    return;
  row->best_us = item->us;
  row->best_id = id;
  row->bound = item->bound;
  row->provenance = item->provenance;
}

/* open: by shape, whether it is still without a best. */
static ws_status compare_with(ws_archive *archive, ws_arena *arena,
                              const ws__task *task, const char *id,
                              const char *provenance, const bool *open,
                              ws_tune_row *rows, ws_diag *diag) {
  ws_measurement *items;
  int count;
  WS_TRY(ws_archive_get_measurements(archive, arena, id, &items, &count, diag));
  for (int i = 0; i < count; i++)
    for (int s = 0; s < task->shape_count; s++)
      if (open[s] && is_of(&items[i], &rows[s].shape, provenance))
        take_if_faster(&rows[s], id, &items[i]);
  return WS_OK;
}

static ws_archive_filter filter_of(const ws__task *task,
                                   const char *provenance) {
  return (ws_archive_filter){.problem = task->problem->name,
                             .layout = task->layout,
                             .target = task->source.tmpl->target,
                             .provenance = provenance};
}

/* The best of one provenance, for the shapes that have none yet. */
static ws_status fill_from(ws_archive *archive, ws_arena *arena,
                           const ws__task *task, const char *provenance,
                           ws_tune_row *rows, ws_diag *diag) {
  const ws_archive_filter filter = filter_of(task, provenance);
  const char *const *ids;
  int count;
  bool *open = ws_arena_alloc(arena, sizeof *open * (size_t)task->shape_count);
  for (int s = 0; s < task->shape_count; s++)
    open[s] = !*rows[s].best_id;
  WS_TRY(ws_archive_best(archive, arena, &filter, 1, &ids, &count, diag));
  for (int i = 0; i < count; i++)
    WS_TRY(compare_with(archive, arena, task, ids[i], provenance, open, rows,
                        diag));
  return WS_OK;
}

static ws_status fill_baseline(ws_archive *archive, ws_arena *arena,
                               const ws__task *task, ws_tune_row *rows,
                               ws_diag *diag) {
  ws_measurement *items;
  int count;
  if (!task->baseline_candidate)
    return WS_OK;
  WS_TRY(ws_archive_get_measurements(
      archive, arena, task->baseline_candidate->id.hex, &items, &count, diag));
  for (int i = 0; i < count; i++)
    for (int s = 0; s < task->shape_count; s++)
      if (is_of(&items[i], &rows[s].shape,
                *rows[s].provenance ? rows[s].provenance
                                    : WS_PROVENANCE_ESTIMATE))
        rows[s].baseline_us = items[i].us;
  return WS_OK;
}

/* ---- what the model cannot tell ---- */
static ws_status find_equal(ws_archive *archive, ws_arena *arena,
                            const ws__task *task, ws_tune_row *row,
                            ws_diag *diag) {
  const ws_archive_filter filter = filter_of(task, row->provenance);
  const double equal = ws_sim_error_equal(row->provenance);
  row->model_error = ws_sim_error_of(row->provenance, row->bound);
  if (!(equal > 0))
    return WS_OK;
  WS_TRY(ws_archive_count_below(archive, arena, &filter, &row->shape,
                                row->best_us * (1 + equal), &row->equal, diag));
  row->equal--; /* the best itself */
  return WS_OK;
}

/* ---- in words ---- */
static void append_word(ws_strbuf *text, const char *name, const char *value) {
  ws_strbuf_printf(text, "%s%s=%s", text->size ? " " : "", name, value);
}

static void append_parameters(ws_strbuf *text, const ws_candidate *candidate) {
  const ws_template *tmpl = candidate->tmpl;
  for (int i = 0; i < tmpl->param_count; i++) {
    char value[24];
    snprintf(value, sizeof value, "%lld", (long long)candidate->values[i]);
    if (candidate->values[i] != tmpl->params[i].default_value &&
        strcmp(tmpl->params[i].name, "layout")) /* the task fixes it */
      append_word(text, tmpl->params[i].name, value);
  }
}

static void append_bodies(ws_strbuf *text, const ws_candidate *candidate) {
  const ws_template *tmpl = candidate->tmpl;
  for (int i = 0; i < tmpl->region_count; i++) {
    const ws_region *region = &tmpl->regions[i];
    const ws_body *body = &candidate->bodies[i];
    if (body->text)
      append_word(text, region->function, "(own body)");
    else if (body->variant >= 0)
      append_word(text, region->function,
                  region->variants[body->variant].function);
  }
}

/* "split_k=4 stage=stage_wide", "defaults", "fp8_gemm_naive: defaults". */
static const char *describe_changes(ws_arena *arena, const ws__task *task,
                                    const ws_candidate *candidate) {
  const ws_template *own = task->source.tmpl, *tmpl = candidate->tmpl;
  ws_strbuf text;
  ws_strbuf_init(&text);
  append_parameters(&text, candidate);
  append_bodies(&text, candidate);
  const char *changes = text.size ? text.data : "defaults";
  char *words;
  if (strcmp(tmpl->name, own->name))
    words = ws_arena_printf(arena, "%s: %s", tmpl->name, changes);
  else if (strcmp(tmpl->hash.hex, own->hash.hex))
    words =
        ws_arena_printf(arena, "(template %.8s) %s", tmpl->hash.hex, changes);
  else
    words = ws_arena_strdup(arena, changes);
  ws_strbuf_deinit(&text);
  return words;
}

static ws_status describe(ws_archive *archive, ws_arena *arena,
                          const ws__task *task, ws_tune_row *row,
                          ws_diag *diag) {
  bool found;
  ws_candidate_row stored;
  const ws_template *tmpl;
  ws_candidate *candidate;
  WS_TRY(ws_archive_get_candidate(archive, arena, row->best_id, &found, &stored,
                                  diag));
  WS_TRY(ws_archive_get_template(archive, arena, stored.template_hash, &tmpl,
                                 NULL, diag));
  WS_TRY(ws_archive_load_candidate(archive, arena, &stored, tmpl, &candidate,
                                   diag));
  row->parameters = stored.assignments;
  row->variants = stored.variants;
  row->changes = describe_changes(arena, task, candidate);
  return WS_OK;
}

ws_status ws__best_fill(ws_archive *archive, ws_arena *arena,
                        const ws__task *task, const char *device,
                        ws_tune_row *rows, int64_t *out_candidates,
                        ws_diag *diag) {
  const ws_archive_filter all = filter_of(task, NULL);
  int64_t counts[WS_VERDICT_COUNT];
  if (*device)
    WS_TRY(fill_from(archive, arena, task, device, rows, diag));
  WS_TRY(fill_from(archive, arena, task, WS_PROVENANCE_ESTIMATE, rows, diag));
  WS_TRY(fill_baseline(archive, arena, task, rows, diag));
  for (int s = 0; s < task->shape_count; s++)
    if (*rows[s].best_id) {
      WS_TRY(find_equal(archive, arena, task, &rows[s], diag));
      WS_TRY(describe(archive, arena, task, &rows[s], diag));
    }
  WS_TRY(ws_archive_verdict_counts(archive, &all, counts, diag));
  *out_candidates = 0;
  for (int i = 0; i < WS_VERDICT_COUNT; i++)
    *out_candidates += counts[i];
  return WS_OK;
}
