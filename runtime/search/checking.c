/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Checking a reply: what a submit of the same would find, up to and without its
 * timing, on the same ways from reply to candidate, build and verdict. Nothing
 * of it is recorded, drawn or remembered, so the run goes on as if it had not
 * been asked.
 */
#include "session.h"

#include <math.h>
#include <string.h>

/* As a build runs them (pass/build.c), with the bits that ask for them. */
static const struct stage {
  const char *name;
  int bit; /* 0: always */
} build_stages[] = {{"parse", 0},
                    {"splice", 0},
                    {"check", WS_STAGE_CHECK},
                    {"sanitize", WS_STAGE_SANITIZE},
                    {"lower", WS_STAGE_LOWER}};
enum {
  BUILD_STAGES = sizeof build_stages / sizeof build_stages[0],
  MOST_STAGES = BUILD_STAGES + 2 /* the reply, the device */
};

typedef struct checking {
  ws_session *s;
  ws_arena *arena;
  ws__job job;
  const char **stages;
  int stage_count;
  bool verified; /* on the device, now */
  ws__ranked ranked;
} checking;

static void note_stage(checking *c, const char *name) {
  c->stages[c->stage_count++] = name;
}

/* Of a crash nobody knows in which. */
static void note_build(checking *c, int asked) {
  const ws_build_result *result = &c->job.result;
  bool ended = result->verdict != WS_VERDICT_OK && !*result->stage;
  for (int i = 0; i < BUILD_STAGES && !ended; i++) {
    const struct stage *stage = &build_stages[i];
    if (!stage->bit || (asked & stage->bit))
      note_stage(c, stage->name);
    ended = !strcmp(result->stage, stage->name);
  }
}

/* ---- the stages ---- */
/* After each: whose sender may have ended the servers, too. */
static ws_status look_for_signals(const checking *c) {
  return ws__signals_interrupted()
             ? ws_fail(c->s->diag, WS_INTERRUPTED, NULL, 0, "interrupted")
             : WS_OK;
}

static ws_status read_reply(checking *c) {
  note_stage(c, "reply");
  WS_TRY(ws__read_answer(c->s, &c->job));
  WS_TRY(look_for_signals(c));
  WS_ASSERT(c->job.state != WS__JOB_ANSWERED && "a server had time to read");
  return WS_OK;
}

static ws_status build(checking *c) {
  ws_session *s = c->s;
  ws__job *job = &c->job;
  ws_run runs[WS_STANDARD_RUNS];
  const ws_build_request request = ws__build_request(s, job, runs);
  ws_compiler *compiler;
  bool found;
  WS_TRY(ws__find_build(s, job, &found));
  if (!found) {
    WS_TRY(ws__pool_idle_compiler(&s->pool, &compiler, s->diag));
    WS_ASSERT(compiler && "no job of the session is open");
    WS_TRY(ws_compiler_build(compiler, job->arena, &request, &job->result,
                             s->diag));
  }
  note_build(c, request.stages);
  return look_for_signals(c);
}

/* The first of the plan's requests verify; the others time. */
static ws_status ask_device(checking *c, ws_device_client *client,
                            ws__plan *plan) {
  const ws_device_info *info = ws_device_client_info(client);
  bool more = true;
  for (int i = 0; i < plan->count && plan->shapes[i] < 0 && more; i++) {
    ws_measured measured;
    WS_TRY(ws_device_client_measure(client, c->arena, &plan->requests[i],
                                    &measured, c->s->diag));
    more = ws__plan_take(plan, i, info, &measured);
    c->verified = !ws__measuring_is_too_slow(info, &measured);
    WS_TRY(look_for_signals(c));
  }
  c->verified = c->verified || plan->out.verdict != WS_VERDICT_OK;
  c->ranked = plan->out;
  return WS_OK;
}

/* What has times of the device was verified before. */
static ws_status verify(checking *c) {
  ws_session *s = c->s;
  ws__job *job = &c->job;
  bool wants;
  double *known;
  ws__plan plan;
  WS_TRY(ws__judge_wants_times(&s->judge, c->arena, job->candidate,
                               &job->result, job->request.sample, &wants,
                               &known, s->diag));
  if (!wants || s->ranking.count == 0)
    return WS_OK;
  ws_device_client *client = s->ranking.devices.clients[0];
  WS_TRY(ws__plan_make(&plan, &s->ranking.schedule, c->arena,
                       ws_device_client_info(client)->cu_count, job->candidate,
                       &job->result, known, NULL, job->request.sample,
                       s->diag));
  WS_TRY(ask_device(c, client, &plan));
  if (c->verified)
    note_stage(c, WS_STAGE_OF_DEVICE);
  return WS_OK;
}

/* ---- the result ---- */
static void fill_candidate(const checking *c, ws_session_check *out) {
  const ws__job *job = &c->job;
  if (!job->candidate)
    return;
  out->candidate = job->candidate;
  out->candidate_id = job->candidate->id.hex;
  out->template_text = job->source->text;
}

static void fill_findings(const checking *c, ws_session_check *out) {
  const ws__job *job = &c->job;
  out->findings = job->result.findings;
  out->finding_count = job->result.finding_count;
  if (c->verified && c->ranked.finding_count) {
    out->findings = c->ranked.findings;
    out->finding_count = c->ranked.finding_count;
  }
}

static void fill_estimates(const checking *c, ws_session_check *out) {
  const ws__task *task = &c->s->task;
  size_t count = (size_t)task->shape_count;
  double *us = ws_arena_alloc(c->arena, sizeof *us * count);
  const char **bounds = ws_arena_alloc(c->arena, sizeof *bounds * count);
  ws_measurement *items = ws_arena_alloc(c->arena, sizeof *items * count);
  for (int i = 0; i < task->shape_count; i++)
    us[i] = INFINITY;
  out->estimates = items;
  if (c->job.result.verdict != WS_VERDICT_OK || !c->job.result.kernel_count)
    return;
  ws__judge_estimate(task, c->job.candidate, &c->job.result, us, bounds);
  for (int i = 0; i < task->shape_count; i++)
    if (isfinite(us[i]))
      items[out->estimate_count++] =
          (ws_measurement){.shape = task->shapes[i],
                           .us = us[i],
                           .low_us = us[i],
                           .high_us = us[i],
                           .bound = bounds[i],
                           .provenance = WS_PROVENANCE_ESTIMATE};
}

static ws_status judge(checking *c, ws_session_check *out) {
  ws_session *s = c->s;
  ws__job *job = &c->job;
  ws__judgement judgement;
  WS_TRY(build(c));
  if (job->result.verdict == WS_VERDICT_OK)
    WS_TRY(verify(c));
  WS_TRY(ws__judge_foresee(&s->judge, c->arena, job->candidate, &job->result,
                           c->verified ? &c->ranked : NULL, &judgement,
                           s->diag));
  out->verdict = judgement.verdict;
  out->stage = judgement.stage;
  out->reason = judgement.reason;
  fill_findings(c, out);
  fill_estimates(c, out);
  return WS_OK;
}

static ws_status check(checking *c, ws_session_check *out) {
  WS_TRY(read_reply(c));
  fill_candidate(c, out);
  if (!ws__job_is_settled(c->s, &c->job, &out->verdict, &out->reason))
    return judge(c, out);
  out->stage = *out->reason ? "reply" : "";
  return WS_OK;
}

ws_status ws_session_check_reply(ws_session *session, ws_arena *arena,
                                 ws_request_kind kind,
                                 const char *const *parents, int parent_count,
                                 const char *reply, ws_session_check *out_check,
                                 ws_diag *diag) {
  checking c = {.s = session, .arena = arena};
  ws__request request;
  session->diag = diag;
  *out_check = (ws_session_check){.candidate_id = ""};
  if (session->ranking.table)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "a session over a table builds nothing that could be "
                   "checked; submit the reply");
  WS_TRY(ws__request_outside(session, kind, parents, parent_count, &request));
  c.stages = ws_arena_alloc(arena, sizeof *c.stages * MOST_STAGES);
  /* With the sequence that a submit would have: its messages name it. */
  c.job = ws__job_given(session->ring.proposed, arena, arena, &request, reply);
  WS_TRY(check(&c, out_check));
  out_check->stages = c.stages;
  out_check->stage_count = c.stage_count;
  return WS_OK;
}
