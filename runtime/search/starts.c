/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a run begins with, beside its baseline: the template as it stands,
 * candidates of the archive, points that the options name. Points are judged
 * before anything is asked for that could build on them; in rounds, whose first
 * is made before there are times, every start is, by the compile server.
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
                      const char *origin, const char *given) {
  s->starts.items[s->starts.count++] =
      (ws__start){.candidate = candidate, .origin = origin, .given = given};
}

/* Candidates of the archive, whose template may be the task's, or the template
 * as it stands, unless its defaults break its constraints; then points. */
ws_status ws__starts_read(ws_session *s) {
  const ws_tune_options *o = s->options;
  ws_candidate *candidate = ws__task_default(&s->task, s->arena);
  size_t count = (size_t)(o->start_count + o->point_count + 1);
  s->starts.items = ws_arena_alloc(s->arena, sizeof *s->starts.items * count);
  if (!o->start_count && ws_candidate_broken_require(candidate, NULL, NULL) < 0)
    add_start(s, candidate, "default", "");
  for (int i = 0; i < o->start_count; i++) {
    WS_TRY(read_start(s, o->start[i], &candidate));
    add_start(s, candidate, "start", o->start[i]);
  }
  for (int i = 0; i < o->point_count; i++) {
    WS_TRY(read_point(s, o->points[i], &candidate));
    add_start(s, candidate, "point", o->points[i]);
  }
  return WS_OK;
}

/* ---- judging ---- */

/* Of the request that it is. */
static int64_t sequence_of(const ws_session *s, int start) {
  return start + (s->task.baseline_candidate != NULL);
}

static bool is_right(ws_verdict verdict) {
  return verdict == WS_VERDICT_OK || verdict == WS_VERDICT_DUPLICATE ||
         verdict == WS_VERDICT_SLOW;
}

/* *out_right: it may be built upon. */
static bool is_judged(const ws_session *s, int start, bool *out_right) {
  const int64_t sequence = sequence_of(s, start);
  *out_right = false;
  if (sequence < s->ring.applied) {
    *out_right = is_right(s->knowledge.results[sequence].verdict);
    return true;
  }
  if (!s->rounds.size || sequence >= s->ring.proposed)
    return false;
  const ws__job *job = ws__job_at(&s->ring, sequence);
  if (job->state < WS__JOB_BUILT)
    return false;
  *out_right = is_right(job->result.verdict);
  return true;
}

bool ws__starts_are_open(const ws_session *s) {
  for (int i = 0; i < s->starts.count; i++) {
    bool right;
    bool waited_for =
        s->rounds.size || !strcmp(s->starts.items[i].origin, "point");
    if (waited_for && !is_judged(s, i, &right))
      return true;
  }
  return false;
}

void ws__starts_tell(ws_session *s) {
  ws__knowledge *k = &s->knowledge;
  if (s->starts.told)
    return;
  s->starts.told = true;
  size_t count = (size_t)s->starts.count;
  k->starts = ws_arena_alloc(s->arena, sizeof *k->starts * (count + 1));
  for (int i = 0; i < s->starts.count; i++) {
    bool right;
    if (is_judged(s, i, &right) && right)
      k->starts[k->start_count++] = s->starts.items[i].candidate;
  }
}

void ws__starts_report(const ws_session *s, int64_t sequence,
                       const ws__judgement *judgement) {
  for (int i = 0; i < s->starts.count; i++) {
    const ws__start *start = &s->starts.items[i];
    if (sequence_of(s, i) == sequence && *start->given &&
        !is_right(judgement->verdict))
      ws_log(WS_LOG_WARN, "--%s '%s' is %s%s%s%s: %s; nothing is built upon it",
             start->origin, start->given, ws_verdict_text(judgement->verdict),
             *judgement->stage ? " (" : "", judgement->stage,
             *judgement->stage ? ")" : "", judgement->reason);
  }
}
