/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A contest's questions, to a device, of a simulator on all cores, or as one
 * job of a batch; and those to the sanitizer, which a compile server answers.
 */
#include "confirm.h"

#include <string.h>

enum {
  WHOLE_WALL_MS = 600000 /* 6144,4608,7168 takes two free cores 10 s */
};

static bool is_over(void *clock) { return ws__clock_is_over(clock); }

/* *out_done: false when time ran out on the way. */
static ws_status ask_device(ws__confirmation *c, ws__contest *who,
                            bool *out_done) {
  ws_device_client *client = c->s->trials.client;
  ws__clock *clock = &c->s->clock;
  ws_measured *answers =
      ws_arena_alloc(c->arena, sizeof *answers * (size_t)(who->count + 1));
  for (int i = 0; i < who->count; i++) {
    ws_measure_request *request = &who->requests[i];
    request->settings.wall_ms =
        who->whole[i] < 0 ? WS__CONFIRM_WALL_MS : WHOLE_WALL_MS;
    request->give_up_ms = ws__clock_give_up_ms(clock->deadline_ms);
  }
  who->answers = answers;
  ws_status status = ws_device_client_measure_all(
      client, c->arena, who->requests, who->count, is_over, clock, answers,
      &who->answered, c->s->diag);
  if (status != WS_OK && status != WS_INTERRUPTED)
    return status;
  bool too_slow = who->answered > 0 &&
                  ws__measuring_is_too_slow(ws_device_client_info(client),
                                            &answers[who->answered - 1]);
  *out_done = status == WS_OK && !too_slow && !ws__clock_is_over(clock);
  return WS_OK;
}

static ws_status ask_batch(ws__confirmation *c, ws__contest *who,
                           bool *out_done) {
  const ws__contest *r = &c->reference;
  ws_batch_answer answer;
  const ws_batch_job job = {
      .id = "",
      .candidate = who->id,
      .code_object = who->build.code_object,
      .code_object_size = who->build.code_object_size,
      .rival_code = c->simulated ? NULL : r->build.code_object,
      .rival_size = c->simulated ? 0 : r->build.code_object_size,
      .steps = who->requests,
      .step_count = who->count};
  WS_TRY(ws__batched_request(c->s->ranking.batched, c->arena, &job, out_done,
                             &answer, c->s->diag));
  if (*out_done) {
    who->answers = answer.steps;
    who->answered = answer.step_count;
  } else {
    c->s->rounds.confirming++;
  }
  return WS_OK;
}

ws_status ws__contest_ask(ws__confirmation *c, ws__contest *who,
                          bool *out_done) {
  *out_done = true;
  if (*who->refused || !who->count)
    return WS_OK;
  return c->s->ranking.batched ? ask_batch(c, who, out_done)
                               : ask_device(c, who, out_done);
}

ws_status ws__contest_sanitize(ws__confirmation *c, const ws__contest *who,
                               ws_build_result *out) {
  enum { SPOTS = 2 };
  ws_session *s = c->s;
  const ws_candidate *candidate = who->candidate;
  ws_archived_template stored;
  *out = (ws_build_result){.verdict = WS_VERDICT_OK};
  if (!s->task.target->has_host_model)
    return WS_OK;
  WS_TRY(ws_archive_get_template(
      s->archive, c->arena, candidate->tmpl->hash.hex, NULL, &stored, s->diag));
  ws_run *runs = ws_arena_alloc(
      c->arena, sizeof *runs * (size_t)(c->search_count + WS_COVERAGE_FAR));
  ws_build_request request = ws_build_request_of(
      c->arena, candidate, stored.text, strlen(stored.text));
  for (int i = 0; i < c->search_count; i++)
    if (ws__confirm_is_asked(&c->s->task, i) &&
        ws_candidate_broken_require(candidate, &c->shapes[i], NULL) < 0)
      runs[request.run_count++] = (ws_run){.shape = c->shapes[i],
                                           .order = WS_WAVES_UP,
                                           .seed = s->options->seed + 1,
                                           .spots = SPOTS};
  request.run_count += ws_coverage_far(
      s->task.problem, ws_problem_layout_index(s->task.problem, s->task.layout),
      candidate, ws__measuring_seed(&s->task, "far"), &runs[request.run_count]);
  request.runs = runs;
  request.stages = WS_STAGE_SANITIZE;
  request.limits = ws_limits_default;
  request.limits.memory_mb = WS_COVERAGE_FAR_MB;
  request.limits.wall_ms = request.limits.cpu_ms = WS__CONFIRM_WALL_MS;
  request.give_up_ms = ws__clock_give_up_ms(s->clock.deadline_ms);
  if (!c->compiler)
    WS_TRY(ws_compiler_start(&c->compiler, s->diag));
  ws_status status =
      ws_compiler_build(c->compiler, c->arena, &request, out, s->diag);
  return status == WS_INTERRUPTED ? WS_OK
                                  : status; /* judge looks at the time */
}
