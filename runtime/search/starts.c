/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a run begins with, beside its baseline: the template as it stands,
 * candidates of the archive, points that the options name.
 */
#include "session.h"

#include <string.h>

static ws_status read_start(ws_session *s, const char *id,
                            ws_candidate **out_candidate) {
  bool found;
  ws_candidate_row row;
  ws_archived_template stored;
  const ws_template *tmpl;
  WS_TRY(ws_archive_get_candidate(s->archive, s->arena, id, &found, &row,
                                  s->diag));
  if (!found)
    return ws_fail(s->diag, WS_INPUT, s->options->archive_path, 0,
                   "there is no candidate '%s' to start from; `wavesmith "
                   "archive ls` lists them",
                   id);
  WS_TRY(ws_archive_get_template(s->archive, s->arena, row.template_hash, &tmpl,
                                 &stored, s->diag));
  if (strcmp(tmpl->problem, s->task.problem->name) ||
      strcmp(tmpl->target, s->task.source.tmpl->target) ||
      strcmp(row.layout, s->task.layout))
    return ws_fail(s->diag, WS_INPUT, s->options->archive_path, 0,
                   "candidate %s is for %s on %s, layout %s; the run is not",
                   row.id, tmpl->problem, tmpl->target, row.layout);
  const ws__source *known = ws__sources_find(&s->sources, tmpl);
  if (known)
    tmpl = known->tmpl; /* one object per template */
  WS_TRY(ws_archive_load_candidate(s->archive, s->arena, &row, tmpl,
                                   out_candidate, s->diag));
  if (known)
    return WS_OK;
  ws__source *source = ws_arena_alloc(s->arena, sizeof *source);
  *source = (ws__source){
      .tmpl = tmpl, .text = stored.text, .size = strlen(stored.text)};
  ws__sources_add(&s->sources, s->arena, source);
  return WS_OK;
}

static ws_status read_point(ws_session *s, const char *text,
                            ws_candidate **out_candidate) {
  *out_candidate = ws__task_default(&s->task, s->arena);
  if (ws_candidate_set(*out_candidate, text, s->diag) == WS_OK &&
      ws_candidate_broken_require(*out_candidate, NULL, s->diag) < 0)
    return WS_OK;
  const ws_diag why = *s->diag;
  return ws_fail(s->diag, WS_INPUT, NULL, 0, "--point '%s': %s", text,
                 why.text);
}

static void add_start(ws_session *s, const ws_candidate *candidate,
                      const char *origin) {
  s->starts.items[s->starts.count++] =
      (ws__start){.candidate = candidate, .origin = origin};
}

/* Candidates of the archive, whose template may be the task's, or the template
 * as it stands, unless its defaults break its constraints; then points. */
ws_status ws__starts_read(ws_session *s) {
  const ws_tune_options *o = s->options;
  ws_candidate *candidate = ws__task_default(&s->task, s->arena);
  size_t count = (size_t)(o->start_count + o->point_count + 1);
  s->starts.items = ws_arena_alloc(s->arena, sizeof *s->starts.items * count);
  if (!o->start_count && ws_candidate_broken_require(candidate, NULL, NULL) < 0)
    add_start(s, candidate, "default");
  for (int i = 0; i < o->start_count; i++) {
    WS_TRY(read_start(s, o->start[i], &candidate));
    add_start(s, candidate, "start");
  }
  for (int i = 0; i < o->point_count; i++) {
    WS_TRY(read_point(s, o->points[i], &candidate));
    add_start(s, candidate, "point");
  }
  return WS_OK;
}

void ws__starts_tell(ws_session *s) {
  ws__knowledge *k = &s->knowledge;
  size_t count = (size_t)s->starts.count;
  k->starts = ws_arena_alloc(s->arena, sizeof *k->starts * (count + 1));
  for (int i = 0; i < s->starts.count; i++)
    k->starts[k->start_count++] = s->starts.items[i].candidate;
}
