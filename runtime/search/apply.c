/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Learning from a job that is done: judged, recorded, its outcome written to
 * the exchange, its repair asked for, the strategy and the bandit told.
 */
#include "session.h"

#include <math.h>
#include <string.h>

/* ---- judging ---- */
static const char *id_of(const ws_session *s, int result) {
  return result >= 0 ? s->knowledge.results[result].id : "";
}

static const char *proposer_of(const ws_session *s, const ws__job *job) {
  if (!job->by_model)
    return job->request.origin;
  return s->models.llm
             ? ws_llm_member_at(s->models.llm, job->request.member)->name
             : "outside";
}

static ws_candidate_row origin_of(const ws_session *s, const ws__job *job) {
  return (ws_candidate_row){.proposer = proposer_of(s, job),
                            .parent_id = id_of(s, job->request.parents[0]),
                            .second_parent_id =
                                id_of(s, job->request.parents[1]),
                            .kind = ws_request_text(job->request.kind),
                            .label = job->reply ? job->reply->name : "",
                            .island = job->request.island,
                            .move = job->move,
                            .sequence = job->sequence};
}

/* The slowest shape's and that of the one furthest from its limit; and those
 * that the parent has, to be held against it. */
static ws_status record_profiles(ws_session *s, const ws__job *job,
                                 const ws__ranked *ranked) {
  ws_profile_row *parents;
  int slowest, furthest, count;
  ws__ranked_profiled(ranked, &s->task, &slowest, &furthest);
  if (slowest < 0)
    return WS_OK;
  WS_TRY(ws_archive_list_profiles(
      s->archive, job->arena, id_of(s, job->request.parents[0]),
      s->judge.provenance, &parents, &count, s->diag));
  for (int i = 0; i < s->task.shape_count; i++) {
    const ws_shape *shape = &s->task.shapes[i];
    const ws_measured *measured = ranked->measured[i];
    bool wanted = i == slowest || i == furthest;
    for (int p = 0; p < count; p++)
      wanted |= ws_shape_same(&parents[p].shape, shape);
    if (wanted && measured && measured->report && *measured->report)
      WS_TRY(ws_archive_put_profile(s->archive, job->candidate->id.hex,
                                    s->judge.provenance, shape,
                                    measured->report, s->diag));
  }
  return WS_OK;
}

static ws_status record_new(ws_session *s, ws__job *job,
                            const ws__ranked *ranked, ws__judgement *out) {
  const ws_candidate_row origin = origin_of(s, job);
  if (job->source != &s->task.source)
    WS_TRY(ws_archive_put_template(s->archive, job->source->tmpl,
                                   job->source->text, NULL, s->diag));
  WS_TRY(ws__judge_record(&s->judge, job->arena, job->candidate, &job->result,
                          ranked, &origin, out, s->diag));
  return ranked ? record_profiles(s, job, ranked) : WS_OK;
}

/* The archive is asked again: another process may have been faster. */
static ws_status judge(ws_session *s, ws__job *job, ws__judgement *out) {
  bool judged;
  const ws__ranked *ranked = job->was_ranked ? &job->ranked : NULL;
  WS_TRY(ws__judge_replay(&s->judge, job->arena, job->candidate, ranked,
                          &judged, out, s->diag));
  job->replayed = job->replayed || judged;
  return judged ? ws_archive_put_draw(s->archive, s->run.id, job->sequence,
                                      job->candidate->id.hex, s->diag)
                : record_new(s, job, ranked, out);
}

/* ---- the result ---- */
static bool is_timed(const ws_session *s, const ws__judgement *judgement) {
  for (int i = 0; i < s->task.shape_count; i++)
    if (isfinite(judgement->us[i]))
      return true;
  return false;
}

/* A failed reply or candidate of a model, as long as repairs are left. */
static bool wants_repair(const ws_session *s, const ws__job *job,
                         const ws__judgement *judgement, int repairs) {
  int most = s->options->repairs < 0 ? 1 : s->options->repairs;
  ws_verdict verdict = judgement->verdict;
  return s->models.llm && job->by_model && !*job->answer.error &&
         repairs < most && !ws_request_is_document(job->request.kind) &&
         verdict != WS_VERDICT_OK && verdict != WS_VERDICT_DUPLICATE &&
         verdict != WS_VERDICT_SLOW;
}

static int repairs_before(const ws_session *s, const ws__job *job) {
  return job->request.kind == WS_REQUEST_REPAIR && job->request.parents[0] >= 0
             ? s->knowledge.results[job->request.parents[0]].repairs + 1
             : 0;
}

static void queue_repair(ws_session *s, const ws__job *job, int result) {
  ws__request request = job->request;
  request.kind = WS_REQUEST_REPAIR;
  request.parents[0] = result;
  request.origin = "repair";
  ws__due_push(&s->repairs, s->arena, &request);
  s->knowledge.repairs_open++;
}

/* A template that a reply brought joins the run when its candidate is
 * remembered, and its points may be drawn when that has times. Of two that were
 * open at once and are the same, the first one's object stands for both. */
static ws_status adopt_template(ws_session *s, ws__job *job, bool timed) {
  const ws_template *tmpl = job->candidate->tmpl;
  const ws__source *known = ws__sources_find(&s->sources, tmpl);
  if (!known)
    ws__sources_add(&s->sources, s->arena, job->source);
  if (known && known->tmpl != tmpl) {
    ws_candidate *copy = ws_candidate_copy(job->arena, job->candidate);
    copy->tmpl = tmpl = known->tmpl;
    job->candidate = copy;
  }
  if (!timed || ws__knowledge_space(&s->knowledge, tmpl))
    return WS_OK;
  ws__space *space = ws_arena_alloc(s->arena, sizeof *space);
  int layout = ws_problem_layout_index(s->task.problem, s->task.layout);
  WS_TRY(ws__space_init(space, s->arena, tmpl, layout, s->task.layout,
                        s->task.shapes, s->task.shape_count, s->diag));
  ws__knowledge_add_space(&s->knowledge, space);
  return WS_OK;
}

/* Of a sample only what was asked: other runs may have timed more, and so may
 * later requests of this one. */
static const double *copy_times(ws_session *s, const ws__job *job,
                                const ws__judgement *judgement) {
  int count = s->task.shape_count;
  double *us = ws_arena_alloc(s->arena, sizeof *us * (size_t)count);
  for (int i = 0; i < count; i++)
    us[i] =
        ws__sample_has(job->request.sample, i) ? judgement->us[i] : INFINITY;
  return us;
}

/* A candidate that is remembered, out of the job's memory; its template, if the
 * reply brought one, and a document stay where they are, and their arena. */
static const ws_candidate *keep_what_lives_on(ws_session *s, ws__job *job,
                                              bool remembered) {
  if (!job->keep)
    return job->candidate; /* the session's */
  bool document = ws_request_is_document(job->request.kind) && job->reply;
  if (document || (remembered && job->reply->template_code))
    ws__kept_add(&s->kept, s->arena, job);
  return remembered ? ws_candidate_copy(s->arena, job->candidate) : NULL;
}

/* Adds the result. *out_repair: one is wanted. */
static ws_status learn(ws_session *s, ws__job *job,
                       const ws__judgement *judgement, int *out_index,
                       bool *out_repair) {
  bool timed = job->candidate && is_timed(s, judgement);
  bool document = ws_request_is_document(job->request.kind);
  int repairs = repairs_before(s, job);
  *out_repair = wants_repair(s, job, judgement, repairs);
  bool remembered = job->candidate && (timed || *out_repair);
  if (remembered)
    WS_TRY(adopt_template(s, job, timed));
  ws__result result = {
      .request = job->request,
      .candidate = keep_what_lives_on(s, job, remembered),
      .reply = document ? job->reply : NULL,
      .template_text = *out_repair && !job->candidate
                           ? ws_arena_strdup(s->arena, job->template_text)
                           : NULL,
      .verdict = judgement->verdict,
      .stage = ws_arena_strdup(s->arena, judgement->stage),
      .reason = ws_arena_strdup(s->arena, judgement->reason),
      .us = copy_times(s, job, judgement),
      .cell = judgement->cell,
      .repairs = repairs,
      .id = job->candidate ? ws_arena_strdup(s->arena, job->candidate->id.hex)
                           : ""};
  if (document && job->reply && job->request.kind == WS_REQUEST_DISTIL)
    s->knowledge.findings = job->reply->findings;
  *out_index = ws__knowledge_add(&s->knowledge, &result);
  return WS_OK;
}

/* ---- what a model is told of it, and what is kept ---- */
static double reward_of(const ws_session *s, int index) {
  const ws__result *result = &s->knowledge.results[index];
  int parent = ws__knowledge_compared(&s->knowledge, index);
  return parent < 0 || isinf(result->score)
             ? 0
             : result->score - s->knowledge.results[parent].score;
}

static ws_status close_exchange(ws_session *s, const ws__job *job, int index) {
  const ws__result *result = &s->knowledge.results[index];
  int parent = ws__knowledge_compared(&s->knowledge, index);
  bool document = ws_request_is_document(job->request.kind);
  ws_exchange_row row = {
      .run_id = s->run.id,
      .sequence = job->sequence,
      .candidate_id = result->id,
      .verdict = document && job->reply ? "" : ws_verdict_text(result->verdict),
      .stage = result->stage,
      .reason = result->reason,
      .claims_json = "",
      .reward = reward_of(s, index)};
  if (job->reply)
    WS_TRY(ws__claims_json(s, job->arena, job, result,
                           parent >= 0 ? &s->knowledge.results[parent] : NULL,
                           &row.claims_json));
  WS_TRY(ws_archive_set_outcome(s->archive, &row, s->diag));
  if (job->request.kind != WS_REQUEST_DISTIL || !job->reply)
    return WS_OK;
  const ws_findings_row findings = {.run_id = s->run.id,
                                    .sequence = job->sequence,
                                    .text = job->reply->findings};
  return ws_archive_put_findings(s->archive, &findings, s->diag);
}

static void tell_bandit(ws_session *s, const ws__job *job, int index) {
  if (!s->models.bandit || job->request.member < 0)
    return;
  const ws__arm arm = {.member = job->request.member,
                       .kind = job->request.kind,
                       .region = ws__request_region(s, &job->request)};
  double reward = reward_of(s, index);
  ws__bandit_learn(s->models.bandit, &arm, reward > 0 ? reward : 0,
                   job->answer.usd);
}

/* What the device did for the run's ranking. */
static void count_ranked(ws_session *s, const ws__ranked *ranked) {
  bool right =
      ranked->verdict == WS_VERDICT_OK || ranked->verdict == WS_VERDICT_SLOW;
  s->trials.verified += right;
  s->trials.refuted += !right;
  s->trials.uncompared += ranked->uncompared_shapes;
  for (int i = 0; i < s->task.shape_count; i++)
    s->trials.timed += ranked->measured[i] != NULL;
}

static void count(ws_session *s, const ws__job *job,
                  const ws__judgement *judgement) {
  if (ws_request_is_document(job->request.kind)) {
    s->counts.documents++;
    return;
  }
  s->counts.verdicts[judgement->verdict]++;
  s->counts.moves += job->request.climb > 0;
  if (job->was_ranked && job->ranked.device)
    count_ranked(s, &job->ranked);
  if (!job->candidate)
    s->counts.refused++;
  else if (job->request.further)
    s->counts.further++;
  else if (job->replayed)
    s->counts.replayed++;
  else
    s->counts.evaluated++;
}

/* ---- one job ---- */
static bool is_repeat(const ws_session *s, const ws__job *job) {
  return job->by_model && job->candidate &&
         ws__seen_contains(&s->proposing.applied_ids, &job->candidate->id);
}

static ws_status no_candidate(ws_session *s, ws__job *job, ws_verdict verdict,
                              const char *reason, ws__judgement *out) {
  int shapes = s->task.shape_count;
  *out = (ws__judgement){
      .verdict = verdict,
      .stage = *reason ? "reply" : "",
      .reason = reason,
      .us = ws_arena_alloc(job->arena, sizeof(double) * (size_t)shapes)};
  for (int i = 0; i < shapes; i++)
    out->us[i] = INFINITY;
  memset(out->cell.bins, -1, sizeof out->cell.bins);
  return WS_OK;
}

bool ws__job_is_settled(const ws_session *s, const ws__job *job,
                        ws_verdict *out_verdict, const char **out_reason) {
  bool repeat = is_repeat(s, job);
  *out_verdict = repeat          ? WS_VERDICT_DUPLICATE
                 : *job->refused ? WS_VERDICT_ILLEGAL
                                 : WS_VERDICT_OK;
  *out_reason =
      repeat ? "this candidate was proposed before in this run" : job->refused;
  return repeat || !job->candidate;
}

static ws_status judge_any(ws_session *s, ws__job *job, ws__judgement *out) {
  ws_verdict verdict;
  const char *reason;
  if (ws__job_is_settled(s, job, &verdict, &reason))
    return no_candidate(s, job, verdict, reason, out);
  ws__seen_add(&s->proposing.applied_ids, &job->candidate->id);
  if (job->by_model &&
      !ws__seen_contains(&s->proposing.seen, &job->candidate->id))
    ws__seen_add(&s->proposing.seen, &job->candidate->id);
  return judge(s, job, out);
}

static ws_status apply(ws_session *s, ws__job *job) {
  ws__judgement judgement;
  bool repair;
  int index;
  WS_TRY(judge_any(s, job, &judgement));
  ws__starts_report(s, job->sequence, &judgement);
  WS_TRY(learn(s, job, &judgement, &index, &repair));
  WS_ASSERT(index == job->sequence);
  if (job->by_model)
    WS_TRY(close_exchange(s, job, index));
  tell_bandit(s, job, index);
  if (job->request.kind == WS_REQUEST_REPAIR)
    s->knowledge.repairs_open--;
  if (repair)
    queue_repair(s, job, index);
  if (s->proposing.strategy)
    s->proposing.strategy->learn(s->proposing.state, &s->knowledge, index);
  ws__moves_learn(s, job, index);
  count(s, job, &judgement);
  if (judgement.verdict == WS_VERDICT_OK && job->candidate &&
      !s->ranking.by_device)
    WS_TRY(ws__trials_note(&s->trials, job->candidate->id.hex, judgement.us,
                           s->diag));
  return WS_OK;
}

ws_status ws__apply_next(ws_session *s, bool *out_applied) {
  *out_applied = false;
  if (s->ring.applied == s->ring.proposed)
    return WS_OK;
  ws__job *job = ws__ring_first(&s->ring);
  if (job->state != WS__JOB_DONE)
    return WS_OK;
  /* With a batch's first answer its card is known. */
  if (s->ranking.batched && job->was_ranked && !*s->judge.provenance)
    ws__ranking_meet_device(s);
  WS_TRY(apply(s, job));
  ws__job_deinit(job);
  s->ring.applied++;
  *out_applied = true;
  return WS_OK;
}
