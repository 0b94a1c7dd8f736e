/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The requests of coverages to device servers of their own, until one fails,
 * and what they have shown by then.
 */
#include "coverage_internal.h"
#include "wavesmith/target.h"

#include <inttypes.h>
#include <string.h>

enum {
  WALL_MS = 120000,
  NEAR_BATCH = 4, /* cases at a time, so that a limit cuts off little */
  NEAR_MS = 4000
};

typedef struct cover_job {
  ws_arena *arena;
  const ws_coverage_run_request *request;
  ws_coverage_subject subject;
  ws_build_result *result;
  const ws_decisions *decisions;
  ws_device_client *client; /* NULL: none runs it */
  ws_tried *tried;          /* the sanitizer's first */
  int tried_count;
  int uncompared; /* as of a ws_coverage_ran */
} cover_job;

static int layout_of(const ws_candidate *candidate) {
  int index = ws_template_param_index(candidate->tmpl, "layout");
  return index < 0 ? 0 : (int)candidate->values[index];
}

/* NULL: only a card could, which was not asked for. */
static const char *device_of(const ws_coverage_run_request *request) {
  const ws_target *target = ws_target_find(request->candidate->tmpl->target);
  if (request->device || !target)
    return request->device ? request->device : "sim";
  if (target->has_host_model)
    return "sim";
  return request->thorough ? target->device : NULL;
}

/* What the device says of a candidate counts as the build's verdict. */
static void take_failure(const ws_measured *measured, ws_build_result *result) {
  result->verdict = measured->verdict;
  result->stage = "device";
  result->reason = measured->reason;
  result->findings = measured->findings;
  result->finding_count = measured->finding_count;
}

/* ---- what was tried ---- */

static void add_tried(cover_job *job, const ws_tried *more, int count) {
  size_t before = (size_t)job->tried_count, all = before + (size_t)count;
  ws_tried *items = ws_arena_alloc(job->arena, all * sizeof *items);
  if (before)
    memcpy(items, job->tried, before * sizeof *items);
  if (count)
    memcpy(items + before, more, (size_t)count * sizeof *items);
  job->tried = items;
  job->tried_count = (int)all;
}

/* What the sanitizer ran: all that it was asked for, or nothing. */
static void add_runs(cover_job *job) {
  for (int i = 0; i < job->result->run_count; i++) {
    const ws_run *run = &job->request->runs[i];
    const ws_tried one = {.shape = run->shape, .spots = run->spots > 0};
    add_tried(job, &one, 1);
  }
}

static void add_cases(cover_job *job, const ws_covered *cases, int count) {
  for (int i = 0; i < count; i++) {
    const ws_tried one = {.shape = cases[i].shape,
                          .striding = cases[i].striding};
    add_tried(job, &one, 1);
  }
}

/* ---- runs ---- */

typedef struct batches {
  ws_measure_request *requests;
  int count;
} batches;

static bool is_late(void *end_ms) { return ws_clock_ms() > *(double *)end_ms; }

/* Cases are answered in order: the first *out_verified of them are right.
 * end_ms by ws_clock_ms, when what is under way is dropped; 0: never. */
static ws_status cover(cover_job *job, const batches *of,
                       const ws_covered *cases, double end_ms,
                       int *out_verified, ws_diag *diag) {
  ws_measured *answers =
      ws_arena_alloc(job->arena, sizeof *answers * (size_t)(of->count + 1));
  int answered;
  *out_verified = 0;
  for (int i = 0; i < of->count; i++)
    of->requests[i].settings.wall_ms = WALL_MS;
  WS_TRY(ws_device_client_measure_all(job->client, job->arena, of->requests,
                                      of->count, end_ms > 0 ? is_late : NULL,
                                      &end_ms, answers, &answered, diag));
  for (int i = 0; i < answered; i++) {
    if (answers[i].verdict != WS_VERDICT_OK) {
      take_failure(&answers[i], job->result);
      break;
    }
    *out_verified += of->requests[i].workload_count;
    job->uncompared += answers[i].uncompared_shapes;
  }
  add_cases(job, cases, *out_verified);
  return WS_OK;
}

static ws_status cover_near(cover_job *job, ws_diag *diag) {
  ws_coverage coverage;
  batches of = {.count = 0};
  int verified;
  ws_coverage_near(job->arena, &job->subject, job->decisions, job->tried,
                   job->tried_count, job->request->seed, &coverage);
  of.requests =
      ws_arena_alloc(job->arena, sizeof *of.requests *
                                     (size_t)(coverage.count / NEAR_BATCH + 1));
  for (int i = 0; i < coverage.count; i += NEAR_BATCH) {
    int left = coverage.count - i;
    WS_TRY(ws_coverage_request(job->arena, &job->subject, &coverage.cases[i],
                               left < NEAR_BATCH ? left : NEAR_BATCH,
                               &of.requests[of.count++], diag));
  }
  return cover(job, &of, coverage.cases, ws_clock_ms() + NEAR_MS, &verified,
               diag);
}

static ws_status cover_all(cover_job *job, const char **out_text,
                           ws_diag *diag) {
  ws_coverage coverage;
  int verified;
  ws_coverage_plan(job->arena, job->subject.problem, job->subject.layout,
                   job->subject.candidate, job->result, job->request->seed,
                   &coverage);
  batches of;
  of.requests = ws_arena_alloc(
      job->arena,
      sizeof *of.requests * (size_t)(coverage.count / WS_COVERAGE_BATCH + 1));
  WS_TRY(ws_coverage_requests(job->arena, &job->subject, &coverage, of.requests,
                              &of.count, diag));
  WS_TRY(cover(job, &of, coverage.cases, 0, &verified, diag));
  *out_text = ws_coverage_text(job->arena, &coverage, verified);
  return WS_OK;
}

/* The sanitizer's runs, on ordinary contents. */
static ws_status cover_instead(cover_job *job, const char *device,
                               ws_coverage_ran *out, ws_diag *diag) {
  const ws_coverage_run_request *request = job->request;
  ws_measure_request measure;
  const batches one = {&measure, 1};
  int count = 0, verified;
  ws_covered *cases = ws_arena_alloc(
      job->arena, sizeof *cases * (size_t)(request->run_count + 1));
  for (int i = 0; i < request->run_count; i++)
    if (!request->runs[i].spots)
      cases[count++] =
          (ws_covered){.shape = request->runs[i].shape,
                       .seed = (request->seed + (uint64_t)i) & ~WS_HARD_INPUTS};
  WS_TRY(ws_coverage_request(job->arena, &job->subject, cases, count, &measure,
                             diag));
  WS_TRY(cover(job, &one, cases, 0, &verified, diag));
  out->proven = verified == count && count > 0 && !job->uncompared;
  out->instead =
      ws_arena_printf(job->arena, "%d of %d standard runs are right on %s",
                      verified, count, device);
  return WS_OK;
}

static ws_status run_all(cover_job *job, const char *device,
                         ws_coverage_ran *out, ws_diag *diag) {
  job->subject.cu_count = ws_device_client_info(job->client)->cu_count;
  if (!ws_build_is_modelled(job->result))
    WS_TRY(cover_instead(job, device, out, diag));
  if (job->result->verdict == WS_VERDICT_OK)
    WS_TRY(cover_near(job, diag));
  if (job->request->thorough && job->result->verdict == WS_VERDICT_OK)
    WS_TRY(cover_all(job, &out->thorough, diag));
  return WS_OK;
}

/* ---- what it comes to ---- */

static const char *tried_text(const cover_job *job, const char *nobody) {
  const ws_dims *dims = job->subject.problem->dims;
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_strbuf_printf(&text, "%d shapes", job->tried_count);
  for (int d = 0; d < dims->count && job->tried_count; d++) {
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < job->tried_count; i++) {
      int64_t size = job->tried[i].shape.size[d];
      least = size < least ? size : least;
      most = size > most ? size : most;
    }
    ws_strbuf_printf(&text, "%s %s %" PRId64 " to %" PRId64, d ? "," : ":",
                     dims->names[d], least, most);
  }
  if (*nobody)
    ws_strbuf_printf(&text, "; %s", nobody);
  const char *out = ws_arena_strdup(job->arena, text.data);
  ws_strbuf_deinit(&text);
  return out;
}

static void find_gaps(cover_job *job, const char *nobody,
                      ws_coverage_ran *out) {
  out->near = tried_text(job, nobody);
  out->gap_count = ws_coverage_gaps(job->arena, &job->subject, job->decisions,
                                    job->tried, job->tried_count, &out->gaps);
}

ws_status ws_coverage_run(ws_arena *arena,
                          const ws_coverage_run_request *request,
                          ws_build_result *result, ws_coverage_ran *out,
                          ws_diag *diag) {
  const ws_candidate *candidate = request->candidate;
  const char *device = device_of(request), *nobody = "";
  cover_job job = {.arena = arena, .request = request, .result = result};
  ws_status status = WS_OK;
  *out = (ws_coverage_ran){.near = NULL};
  job.subject = (ws_coverage_subject){
      .problem = ws_problem_find(candidate->tmpl->problem),
      .layout = layout_of(candidate),
      .candidate = candidate,
      .build = result};
  if (!job.subject.problem)
    return ws_fail(diag, WS_INPUT, NULL, 0, "unknown problem '%s'",
                   candidate->tmpl->problem);
  job.subject.problem =
      ws__coverage_problem(arena, job.subject.problem, candidate);
  add_runs(&job);
  job.decisions = ws_coverage_decisions(arena, &job.subject);
  if (!device)
    nobody =
        ws_arena_printf(arena, "%s has no simulator", candidate->tmpl->target);
  else if (ws_device_client_start(device, &job.client, diag) != WS_OK) {
    if (request->thorough)
      return WS_ENVIRONMENT;
    nobody = ws_arena_printf(arena, "no device %s: %s", device, diag->text);
  } else {
    status = run_all(&job, device, out, diag);
  }
  out->uncompared = job.uncompared;
  ws_device_client_stop(job.client);
  if (*nobody && !ws_build_is_modelled(result))
    out->instead = nobody;
  if (status == WS_OK && result->verdict == WS_VERDICT_OK)
    find_gaps(&job, nobody, out);
  return status;
}
