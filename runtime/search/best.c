/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the table at the end of a run shows: not the run's own best but the
 * archive's, so that a later run never seems to lose what an earlier one
 * found, and the table agrees with what `wavesmith dispatch` picks from.
 * Times of another provenance do not count.
 */
#include "best.h"

#include <stdio.h>
#include <string.h>

static void take_if_faster(ws_tune_row *row, const char *id,
                           const ws_measurement *item) {
  if (memcmp(&row->shape, &item->shape, sizeof row->shape) ||
      strcmp(item->provenance, WS_PROVENANCE_ESTIMATE) ||
      (row->best_us > 0 && row->best_us <= item->us))
    return;
  row->best_us = item->us;
  row->best_id = id;
  row->bound = item->bound;
  row->provenance = item->provenance;
}

static ws_status compare_with(ws_archive *archive, ws_arena *arena,
                              const ws__task *task, const char *id,
                              ws_tune_row *rows, ws_diag *diag) {
  ws_measurement *items;
  int count;
  WS_TRY(ws_archive_get_measurements(archive, arena, id, &items, &count, diag));
  for (int i = 0; i < count; i++)
    for (int s = 0; s < task->shape_count; s++)
      take_if_faster(&rows[s], id, &items[i]);
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
                        const ws__task *task, ws_tune_row *rows,
                        int64_t *out_candidates, ws_diag *diag) {
  const ws_archive_filter filter = {.problem = task->problem->name,
                                    .layout = task->layout,
                                    .target = task->source.tmpl->target,
                                    .provenance = WS_PROVENANCE_ESTIMATE};
  const char *const *ids;
  int count;
  int64_t counts[WS_VERDICT_COUNT];
  WS_TRY(ws_archive_best(archive, arena, &filter, 1, &ids, &count, diag));
  for (int i = 0; i < count; i++)
    WS_TRY(compare_with(archive, arena, task, ids[i], rows, diag));
  for (int s = 0; s < task->shape_count; s++)
    if (*rows[s].best_id)
      WS_TRY(describe(archive, arena, task, &rows[s], diag));
  WS_TRY(ws_archive_verdict_counts(archive, &filter, counts, diag));
  *out_candidates = 0;
  for (int i = 0; i < WS_VERDICT_COUNT; i++)
    *out_candidates += counts[i];
  return WS_OK;
}
