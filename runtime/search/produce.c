/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From candidate to result: what waits is given to compile servers, what is
 * built to the device, in the order of requests. Of two candidates that are the
 * same only the first is timed: a job waits for earlier ones that are not built
 * yet, or are its twin.
 */
#include "session.h"

#include <math.h>
#include <poll.h>
#include <string.h>

/* A job that hangs runs into its limit of CPU time: ten times what large
 * candidates take, and above the sanitizer's own limits, which say where it
 * hangs. Results are applied in order, so it holds up all others. The limit of
 * time is for machines that have too much to do. Neither knows the run's
 * deadline: what that cuts short is left, not judged. */
enum { CPU_MS = 6000, WALL_MS = 60000 };

/* ---- building ---- */
ws_status ws__find_build(ws_session *s, ws__job *job, bool *out_found) {
  bool timed = ws__ranking_times(&s->ranking);
  ws_build_result build;
  WS_TRY(ws_archive_get_build(s->archive, job->arena, job->candidate->id.hex,
                              out_found, &build, s->diag));
  *out_found = *out_found && (!timed || build.verdict != WS_VERDICT_OK ||
                              build.code_object_size);
  if (*out_found)
    job->result = build;
  return WS_OK;
}

/* What the archive holds is not built again. */
static ws_status look_up(ws_session *s, ws__job *job) {
  bool found = false;
  ws_candidate_row row;
  if (!ws__ranking_times(&s->ranking))
    WS_TRY(ws_archive_get_candidate(
        s->archive, job->arena, job->candidate->id.hex, &found, &row, s->diag));
  if (!found)
    WS_TRY(ws__find_build(s, job, &found));
  if (found) {
    job->replayed = true;
    job->state = WS__JOB_BUILT;
  }
  return WS_OK;
}

ws_build_request ws__build_request(const ws_session *s, const ws__job *job,
                                   ws_run runs[WS_STANDARD_RUNS]) {
  bool model = s->task.target->has_host_model;
  /* Profiles, of a simulator, quote lines. */
  int lines = ws__ranking_times(&s->ranking) && model ? WS_STAGE_LINES : 0;
  ws_build_request request = ws_build_request_of(
      job->arena, job->candidate, job->source->text, job->source->size);
  request.stages = WS_STAGE_CHECK | WS_STAGE_LOWER | lines;
  if (model) {
    request.runs = runs;
    request.run_count = ws_standard_runs(job->candidate, runs);
    request.stages |= WS_STAGE_SANITIZE;
  }
  request.limits = ws_limits_default;
  request.limits.cpu_ms = CPU_MS;
  request.limits.wall_ms = WALL_MS;
  request.give_up_ms = ws__clock_give_up_ms(s->clock.search_end_ms);
  return request;
}

static ws_status send(ws_session *s, ws__worker *worker, int index) {
  ws__job *job = &s->ring.jobs[index];
  ws_run runs[WS_STANDARD_RUNS];
  const ws_build_request request = ws__build_request(s, job, runs);
  job->state = WS__JOB_BUILDING;
  return ws__pool_send(worker, index, &request, s->diag);
}

/* A table needs no code. */
static void skip_build(ws__job *job) {
  job->state = WS__JOB_BUILT;
  job->result = (ws_build_result){.verdict = WS_VERDICT_OK,
                                  .stage = "",
                                  .reason = "",
                                  .ir_hash = "",
                                  .code_hash = "",
                                  .compiler = ""};
}

static ws_status build_waiting(ws_session *s) {
  for (int64_t i = s->ring.applied;
       i < s->ring.proposed && !ws__clock_must_end(&s->clock); i++) {
    ws__job *job = ws__job_at(&s->ring, i);
    if (job->state != WS__JOB_WAITING)
      continue;
    if (s->ranking.table) {
      skip_build(job);
      continue;
    }
    WS_TRY(look_up(s, job)); /* another process may have built it */
    if (job->state != WS__JOB_WAITING)
      continue;
    ws__worker *worker = ws__pool_idle(&s->pool);
    if (!worker)
      return WS_OK;
    WS_TRY(send(s, worker, (int)(i % s->ring.size)));
  }
  return WS_OK;
}

/* Records a build; if another process was faster, its build counts. */
static ws_status keep_build(ws_session *s, ws__job *job) {
  const char *id = job->candidate->id.hex;
  bool added, found;
  WS_TRY(ws_archive_put_build(s->archive, id, &job->result, &added, s->diag));
  if (added)
    return WS_OK;
  const void *code = job->result.code_object;
  size_t size = job->result.code_object_size;
  WS_TRY(ws_archive_get_build(s->archive, job->arena, id, &found, &job->result,
                              s->diag));
  if (!size || job->result.code_object_size)
    return WS_OK;
  job->result.code_object = code; /* an import has none */
  job->result.code_object_size = size;
  return ws_archive_put_code_object(s->archive, id, code, size, s->diag);
}

ws_status ws__produce_wait(ws_session *s, int timeout_ms) {
  int others[WS__MOST_DEVICES + WS_DEVICE_CLIENTS], count = 0;
  for (int i = 0; i < s->ranking.count; i++)
    others[count++] = ws__ranker_descriptor(&s->ranking.rankers[i]);
  ws__trials_descriptors(&s->trials, others + count);
  count += WS_DEVICE_CLIENTS;
  ws__worker *worker = ws__pool_wait(&s->pool, others, count, timeout_ms);
  if (!worker)
    return WS_OK;
  ws__job *job = &s->ring.jobs[worker->job];
  bool done;
  ws_status status =
      ws__pool_receive(worker, job->arena, &job->result, &done, s->diag);
  /* The signal's sender may have ended the server, too; or time is up. */
  if (ws__clock_must_end(&s->clock))
    return WS_OK;
  WS_TRY(status);
  if (!done)
    return WS_OK;
  job->state = WS__JOB_BUILT;
  return keep_build(s, job);
}

/* ---- timing ---- */
static void look_up_times(ws_session *s, ws__job *job) {
  int count = s->task.shape_count, known = 0;
  double *us = ws_arena_alloc(job->arena, sizeof *us * (size_t)count);
  const char **bounds =
      ws_arena_alloc(job->arena, sizeof *bounds * (size_t)count);
  for (int i = 0; i < count; i++) {
    us[i] =
        ws__sample_has(job->request.sample, i)
            ? ws__table_us(s->ranking.table, job->candidate, &s->task.shapes[i])
            : INFINITY;
    bounds[i] = "";
    known += isfinite(us[i]) != 0;
  }
  job->ranked =
      (ws__ranked){.verdict = known ? WS_VERDICT_OK : WS_VERDICT_ILLEGAL,
                   .reason = known ? "" : "the table has no such row",
                   .us = us,
                   .low_us = us,
                   .high_us = us,
                   .bounds = bounds};
  job->was_ranked = true;
}

static const char *twin_key(ws__job *job) {
  if (!job->twin_key)
    job->twin_key =
        ws_candidate_twin_key(job->arena, job->candidate, job->result.ir_hash);
  return job->twin_key;
}

/* Whether an earlier job that is not applied yet is not built, or is the same
 * as this one. */
static bool must_wait(const ws__ring *ring, ws__job *job) {
  const char *key = twin_key(job);
  for (int64_t i = ring->applied; i < job->sequence; i++) {
    ws__job *other = ws__job_at(ring, i);
    if (other->state < WS__JOB_BUILT)
      return true;
    if (other->candidate && *key && *other->result.ir_hash &&
        !strcmp(key, twin_key(other)))
      return true;
  }
  return false;
}

static ws_status ask_batch(ws_session *s, ws__job *job) {
  bool answered;
  ws__plan plan;
  /* Without known times: what is asked must not depend on what came before. */
  WS_TRY(ws__plan_make(&plan, &s->ranking.schedule, job->arena,
                       s->task.target->cu_count, job->candidate, &job->result,
                       NULL, job->bar_us, job->request.sample, s->diag));
  WS_TRY(ws__batched_ask(s->ranking.batched, &plan, &answered, s->diag));
  if (!answered)
    return WS_OK;
  job->ranked = plan.out;
  job->was_ranked = true;
  job->state = WS__JOB_DONE;
  return WS_OK;
}

static ws__ranker *idle_ranker(ws__ranking *ranking) {
  for (int i = 0; i < ranking->count; i++)
    if (!ranking->rankers[i].busy)
      return &ranking->rankers[i];
  return NULL;
}

/* ranker NULL: the batch. */
static ws_status begin_timing(ws_session *s, ws__job *job, ws__ranker *ranker) {
  bool wants;
  double *known;
  s->rounds.count += !s->rounds.asked;
  s->rounds.asked = true;
  WS_TRY(ws__judge_wants_times(&s->judge, job->arena, job->candidate,
                               &job->result, job->request.sample, &wants,
                               &known, s->diag));
  job->state = wants ? WS__JOB_TIMING : WS__JOB_DONE;
  if (!wants)
    return WS_OK;
  if (!ranker)
    return ask_batch(s, job);
  ranker->job = job->sequence;
  return ws__ranker_begin(ranker, job->arena, job->candidate, &job->result,
                          known, job->bar_us, job->request.sample, s->diag);
}

/* Without a device to rank by, a build is the whole result. */
static ws_status finish_built(ws_session *s, ws__job *job) {
  ws__ranker *ranker = idle_ranker(&s->ranking);
  if (s->ranking.table)
    look_up_times(s, job);
  if (s->ranking.table || !ws__ranking_times(&s->ranking) ||
      job->result.verdict != WS_VERDICT_OK)
    job->state = WS__JOB_DONE;
  else if ((ranker || s->ranking.batched) && !must_wait(&s->ring, job))
    return begin_timing(s, job, ranker);
  return WS_OK;
}

static ws_status step_ranker(ws_session *s, ws__ranker *ranker) {
  bool done;
  ws__ranked ranked;
  WS_TRY(ws__ranker_step(ranker, &done, &ranked, s->diag));
  if (!done)
    return WS_OK;
  ws__job *job = ws__job_at(&s->ring, ranker->job);
  job->ranked = ranked;
  job->was_ranked = true;
  job->state = WS__JOB_DONE;
  return WS_OK;
}

static ws_status step_rankers(ws_session *s) {
  for (int i = 0; i < s->ranking.count; i++)
    if (s->ranking.rankers[i].busy)
      WS_TRY(step_ranker(s, &s->ranking.rankers[i]));
  return WS_OK;
}

static ws_status time_built(ws_session *s) {
  WS_TRY(step_rankers(s));
  for (int64_t i = s->ring.applied;
       i < s->ring.proposed && !ws__clock_must_end(&s->clock); i++) {
    ws__job *job = ws__job_at(&s->ring, i);
    if (job->state == WS__JOB_BUILT)
      WS_TRY(finish_built(s, job));
  }
  return step_rankers(s); /* sends the first requests */
}

bool ws__awaits_batch(const ws_session *s) {
  int asked = 0;
  if (!s->ranking.batched || ws__round_is_open(s))
    return false;
  for (int64_t i = s->ring.applied; i < s->ring.proposed; i++) {
    const ws__job *job = ws__job_at(&s->ring, i);
    if (job->state < WS__JOB_BUILT)
      return false;
    asked += job->state == WS__JOB_TIMING;
  }
  return asked > 0 && ws__ring_first(&s->ring)->state != WS__JOB_DONE;
}

ws_status ws__produce(ws_session *s) {
  WS_TRY(build_waiting(s));
  return time_built(s);
}
