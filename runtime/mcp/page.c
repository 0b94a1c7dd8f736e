/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See the header.
 */
#include "page.h"

#include "wavesmith/sim_error.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- candidates ---- */
ws_status ws__mcp_load(ws__mcp_call *call, const char *id,
                       ws__mcp_subject *out) {
  bool found;
  const ws_template *tmpl;
  *out = (ws__mcp_subject){0};
  if (!*id)
    return ws_fail(call->diag, WS_INPUT, NULL, 0, "the id is empty");
  WS_TRY(ws_archive_get_candidate(call->archive, call->arena, id, &found,
                                  &out->row, call->diag));
  if (!found)
    return ws_fail(call->diag, WS_INPUT, NULL, 0,
                   "there is no candidate '%.40s'; the tool candidates lists "
                   "them",
                   id);
  WS_TRY(ws_archive_get_template(call->archive, call->arena,
                                 out->row.template_hash, &tmpl, &out->source,
                                 call->diag));
  ws_candidate *candidate;
  WS_TRY(ws_archive_load_candidate(call->archive, call->arena, &out->row, tmpl,
                                   &candidate, call->diag));
  out->candidate = candidate;
  return ws_archive_get_build(call->archive, call->arena, out->row.id,
                              &out->has_build, &out->build, call->diag);
}

/* ---- quoted lines ---- */
static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

const char *ws__mcp_quote(ws_arena *arena, const ws__mcp_subject *subject,
                          const char *file, int line) {
  return ws_candidate_source_line(arena, subject->candidate,
                                  subject->source.text, subject->source.file,
                                  file, line);
}

/* ---- verdicts ---- */
void ws__mcp_put_verdict(ws__mcp_call *call, ws_verdict verdict,
                         const char *stage, const char *reason) {
  ws_strbuf_printf(call->out, "Verdict: %s%s%s%s%s\n", ws_verdict_text(verdict),
                   *stage ? ", at stage " : "", stage, *reason ? ": " : "",
                   reason);
}

void ws__mcp_structure_verdict(ws__mcp_call *call, ws_verdict verdict,
                               const char *stage, const char *reason,
                               const char *candidate_id) {
  cJSON *json = call->structured;
  cJSON_AddStringToObject(json, "verdict", ws_verdict_text(verdict));
  cJSON_AddStringToObject(json, "stage", stage);
  cJSON_AddStringToObject(json, "reason", reason);
  cJSON_AddStringToObject(json, "candidate", candidate_id);
}

/* ---- speed-ups ---- */
ws_status ws__mcp_reference(ws__mcp_call *call, const char **out_id) {
  ws_progress progress;
  const char *provenance = ws_session_provenance(call->session);
  *out_id = "";
  WS_TRY(ws_archive_progress(
      call->archive, call->arena, ws_session_run(call->session),
      *provenance ? provenance : NULL, &progress, call->diag));
  *out_id = progress.reference_id;
  return WS_OK;
}

char *ws__mcp_speedup_text(ws_arena *arena, const ws_speedup *s) {
  const char *interval = "";
  if (!(s->value > 0))
    return ws_arena_strdup(arena, "unknown (no shape timed of both)");
  if (s->low < s->value || s->high > s->value)
    interval = ws_arena_printf(arena, "95 %% %.3f to %.3f, ", s->low, s->high);
  return ws_arena_printf(arena, "%.3fx (%sworst shape %.3f, %d shape%s, %s)",
                         s->value, interval, s->worst, s->shapes,
                         s->shapes == 1 ? "" : "s",
                         ws_provenance_word(s->provenance));
}

/* ---- findings ---- */
void ws__mcp_put_findings(ws__mcp_call *call, const ws__mcp_subject *subject) {
  const ws_build_result *build = &subject->build;
  for (int i = 0; subject->has_build && i < build->finding_count; i++) {
    const ws_finding *finding = &build->findings[i];
    const char *quote =
        ws__mcp_quote(call->arena, subject, finding->file, finding->line);
    ws_strbuf_printf(call->out, "- **%s**", finding->id);
    if (*finding->region)
      ws_strbuf_printf(call->out, " in region %s", finding->region);
    if (finding->line > 0)
      ws_strbuf_printf(call->out, ", %s line %d", last_part(finding->file),
                       finding->line);
    ws_strbuf_printf(call->out, ": %s\n", finding->text);
    if (*quote)
      ws_strbuf_printf(call->out, "  `%s`\n", quote);
  }
}

/* ---- times ---- */
static const ws_measurement *find_same(const ws_measurement *items, int count,
                                       const ws_measurement *like) {
  for (int i = 0; i < count; i++)
    if (ws_shape_same(&items[i].shape, &like->shape) &&
        !strcmp(items[i].provenance, like->provenance))
      return &items[i];
  return NULL;
}

static void put_time(ws_strbuf *out, const ws_measurement *item,
                     const ws_measurement *other, bool compared) {
  char interval[64] = "";
  if (item->low_us < item->us || item->high_us > item->us)
    snprintf(interval, sizeof interval, "%.2f to %.2f", item->low_us,
             item->high_us);
  else if (ws_sim_error_of(item->provenance, item->bound) > 0)
    snprintf(interval, sizeof interval, "+-%.0f %% (model)",
             100 * ws_sim_error_of(item->provenance, item->bound));
  char shape[WS_SHAPE_TEXT];
  ws_strbuf_printf(out, "| %s | %.2f | %s | %s | %s |",
                   ws_shape_print(&item->shape, shape), item->us, interval,
                   item->bound, item->provenance);
  if (compared && other && item->us > 0)
    ws_strbuf_printf(out, " %.2f | %.3fx |", other->us, other->us / item->us);
  else if (compared)
    ws_strbuf_puts(out, " | |");
  ws_strbuf_puts(out, "\n");
}

static void put_time_head(ws_strbuf *out, const ws_measurement *first,
                          bool compared) {
  ws_strbuf_printf(out,
                   "| %s | us | 95 %% | bound | times are |%s\n"
                   "|---|---|---|---|---|%s\n",
                   first ? ws_dims_text(first->shape.dims) : "shape",
                   compared ? " other us | speed-up |" : "",
                   compared ? "---|---|" : "");
}

void ws__mcp_put_time_table(ws__mcp_call *call, const ws_measurement *items,
                            int count) {
  put_time_head(call->out, count ? items : NULL, false);
  for (int i = 0; i < count; i++)
    put_time(call->out, &items[i], NULL, false);
}

void ws__mcp_structure_times(cJSON *list, const ws_measurement *items,
                             int count) {
  for (int i = 0; i < count; i++)
    cJSON_AddItemToArray(list, ws_json_write(&ws_measurement_json, &items[i]));
}

ws_status ws__mcp_put_times(ws__mcp_call *call, const char *id,
                            const char *provenance, const char *against) {
  ws_measurement *items, *others = NULL;
  int count, other_count = 0;
  WS_TRY(ws_archive_get_measurements(call->archive, call->arena, id, &items,
                                     &count, call->diag));
  if (*against)
    WS_TRY(ws_archive_get_measurements(call->archive, call->arena, against,
                                       &others, &other_count, call->diag));
  if (count == 0) {
    ws_strbuf_puts(call->out, "No times: it was not timed.\n");
    return WS_OK;
  }
  put_time_head(call->out, items, *against);
  for (int i = 0; i < count; i++)
    if (!provenance || !strcmp(provenance, items[i].provenance))
      put_time(call->out, &items[i], find_same(others, other_count, &items[i]),
               *against);
  return WS_OK;
}
