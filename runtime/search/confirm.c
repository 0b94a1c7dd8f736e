/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Confirming winners: what a dispatch would ship, and the leader, is verified
 * once more, in a fresh process of the device, on inputs from seeds that nobody
 * has seen: on edges, on as many shapes as cover all pairs of their classes
 * (wavesmith/coverage.h), on a simulator on every shape that it is chosen for;
 * where there is a sanitizer, some workgroups of every shape go through it; and
 * it is timed on the search's shapes and on held-out ones. On a card what the
 * run began with is timed beside it, block by block in one process; timed so
 * beside itself it gives the noise, within which a gain is none. On a simulator
 * times are a function of the launch, so once is enough and there is no noise.
 *
 * All that is asked about one candidate is a contest: one after the other to a
 * device, or one job of a batch, whose last round this is. A winner that fails
 * here is refuted; one that gains on the search's shapes only does not stand.
 */
#include "best.h"
#include "covering.h"
#include "plan.h"
#include "session.h"
#include "shipped.h"

#include <math.h>
#include <string.h>

enum {
  MOST_WINNERS = 17, /* the largest portfolio, and the leader */
  HELD_OUT_SIMULATED = 8,
  HELD_OUT = 16, /* on a card: inputs and pairs of times take seconds a shape */
  WALL_MS = 60000,
  WHOLE_WALL_MS = 600000, /* 6144,4608,7168 takes two free cores 10 s */
  VERIFICATIONS = 3
};
/* Of the ratio with a rival: half of it is told apart. */
static const double target_width = 0.005;

typedef struct contest {
  const char *id;
  ws_candidate *candidate;
  ws_build_result build;
  ws_measure_request *requests;
  int *shapes; /* by request; -1: to verify */
  int *whole;  /* likewise: run whole, for a result; -1: not that */
  int count;
  const ws_measured *answers;
  int answered;
  ws_coverage coverage;
  int covering, covered_end; /* its requests: from, to before */
  const char *refused;       /* why it cannot be asked; "": it can */
  const ws_measurement *recorded;
  int recorded_count;
} contest;

typedef struct confirmation {
  ws_session *s;
  ws_arena *arena;
  ws_compiler *compiler; /* NULL: not started yet */
  bool prepared, simulated;
  const ws_shape *shapes; /* the search's, then held-out ones */
  int shape_count, search_count;
  const char *against_id;
  contest reference;
  bool has_reference; /* its answers are there */
  double noise;
} confirmation;

typedef struct winner {
  const char *id;
  const bool *shapes; /* of the search: which it is chosen for; NULL: all */
  bool somewhere;     /* on any of them */
} winner;

/* ---- who ---- */
static void add_winner(const confirmation *c, winner winners[MOST_WINNERS],
                       int *count, const char *id, const bool *shapes) {
  winner one = {.id = id, .shapes = shapes, .somewhere = !shapes};
  for (int i = 0; i < *count; i++)
    if (!strcmp(winners[i].id, id))
      return;
  for (int i = 0; i < c->s->task.shape_count; i++)
    one.somewhere = one.somewhere || shapes[i];
  if (*count < MOST_WINNERS)
    winners[(*count)++] = one;
}

/* Where nothing takes every shape, and so nothing can be shipped yet: the
 * archive's best by shape. */
static ws_status add_fastest(confirmation *c, winner winners[MOST_WINNERS],
                             int *count) {
  ws_session *s = c->s;
  int64_t known;
  int shapes = s->task.shape_count;
  ws_tune_row *rows = ws_arena_alloc(c->arena, sizeof *rows * (size_t)shapes);
  for (int i = 0; i < shapes; i++)
    rows[i] = (ws_tune_row){
        .shape = s->task.shapes[i], .best_id = "", .provenance = ""};
  WS_TRY(ws__best_fill(s->archive, c->arena, &s->task, s->trials.provenance,
                       rows, &known, s->diag));
  for (int i = 0; i < shapes; i++) {
    bool *fastest = ws_arena_alloc(c->arena, sizeof *fastest * (size_t)shapes);
    for (int j = 0; j < shapes; j++)
      fastest[j] = !strcmp(rows[j].best_id, rows[i].best_id);
    if (*rows[i].best_id && !strcmp(rows[i].provenance, s->trials.provenance))
      add_winner(c, winners, count, rows[i].best_id, fastest);
  }
  return WS_OK;
}

/* Those that gain most first, for the time may end before all are done. */
static ws_status pick_winners(confirmation *c, winner winners[MOST_WINNERS],
                              int *out_count) {
  ws_session *s = c->s;
  const ws__knowledge *k = &s->knowledge;
  ws__shipped shipped;
  *out_count = 0;
  WS_TRY(ws__shipped_find(s->archive, c->arena, &s->task, c->against_id,
                          &shipped, s->diag));
  for (int i = 0; i < shipped.count; i++)
    add_winner(c, winners, out_count, shipped.kernels[i].id,
               shipped.kernels[i].chosen);
  if (!shipped.count)
    WS_TRY(add_fastest(c, winners, out_count));
  if (s->ranking.by_device && k->leader >= 0)
    add_winner(c, winners, out_count, k->results[k->leader].id, NULL);
  return WS_OK;
}

/* ---- where ---- */
static void pick_shapes(confirmation *c) {
  const ws__task *task = &c->s->task;
  const char *name = c->s->options->held_out;
  const ws_shape_set *set =
      ws_problem_shape_set(task->problem, name ? name : "held-out");
  int most = c->simulated ? HELD_OUT_SIMULATED : HELD_OUT;
  int held_out = set ? set->count : 0;
  int step = held_out > most ? (held_out + most - 1) / most : 1;
  ws_shape *shapes = ws_arena_alloc(
      c->arena, sizeof *shapes * (size_t)(task->shape_count + held_out));
  memcpy(shapes, task->shapes, sizeof *shapes * (size_t)task->shape_count);
  c->search_count = c->shape_count = task->shape_count;
  for (int i = step / 2; i < held_out; i += step)
    shapes[c->shape_count++] = set->shapes[i];
  c->shapes = shapes;
}

/* ---- what is asked ---- */
static int cu_count(const confirmation *c) {
  const ws_device_client *client = c->s->trials.client; /* NULL: a batch */
  return client ? ws_device_client_info(client)->cu_count
                : c->s->task.target->cu_count;
}

static ws_status request_of(const confirmation *c, const contest *who,
                            ws__question question, const ws_shape *shape,
                            ws_measure_request *out, ws_diag *why) {
  return ws__measuring_request(c->arena, &c->s->task, cu_count(c),
                               who->candidate, &who->build, question, shape,
                               "confirmation", out, why);
}

/* What the run began with, on the same shape; NULL where it cannot run. */
static const ws_contestant *rival_on(const confirmation *c,
                                     const ws_shape *shape) {
  ws_diag why;
  ws_measure_request request;
  const contest *r = &c->reference;
  if (c->simulated ||
      request_of(c, r, WS__TIME, shape, &request, &why) != WS_OK)
    return NULL;
  ws_contestant *rival = ws_arena_alloc(c->arena, sizeof *rival);
  *rival = (ws_contestant){.code_object = r->build.code_object,
                           .size = r->build.code_object_size,
                           .workload = request.workloads};
  return rival;
}

static void add(const confirmation *c, contest *who, ws__question question,
                int shape) {
  ws_diag why = {""};
  const ws_shape *at = shape < 0 ? NULL : &c->shapes[shape];
  ws_measure_request *request = &who->requests[who->count];
  if (*who->refused)
    return;
  if (request_of(c, who, question, at, request, &why) != WS_OK) {
    who->refused = ws_arena_strdup(c->arena, why.text);
    return;
  }
  request->settings.wall_ms = WALL_MS;
  if (question == WS__TIME) {
    request->rival = rival_on(c, at);
    request->settings.target_width = target_width;
  }
  who->whole[who->count] = question == WS__VERIFY_LARGE ? shape : -1;
  who->shapes[who->count++] = question == WS__TIME ? shape : -1;
}

/* One of these shapes, by samples. */
static void add_large(const confirmation *c, contest *who, int begin, int end) {
  int large = ws__measuring_large(c->s->task.problem, who->candidate,
                                  c->shapes + begin, end - begin);
  if (large >= 0)
    add(c, who, WS__VERIFY_LARGE, begin + large);
}

/* A card looks at the result of what it times, a simulator's times leave none:
 * there each shape that the winner is chosen for is run whole, cheapest first.
 */
static void add_chosen(const confirmation *c, const winner *w, contest *who) {
  ws__schedule schedule;
  ws__schedule_init(&schedule, c->arena, &c->s->task);
  for (int i = 0; i < c->search_count; i++) {
    int shape = schedule.order[i];
    if (w->shapes && w->shapes[shape] &&
        ws_candidate_broken_require(who->candidate, &c->shapes[shape], NULL) <
            0)
      add(c, who, WS__VERIFY_LARGE, shape);
  }
}

/* As many shapes as cover all pairs of their classes. */
static void add_coverage(const confirmation *c, contest *who) {
  int count = 0;
  ws_diag why = {""};
  who->covering = who->covered_end = who->count;
  if (*who->refused)
    return;
  if (ws__covering_requests(
          c->arena, &c->s->task, cu_count(c), who->candidate, &who->build,
          &who->coverage, &who->requests[who->count], &count, &why) != WS_OK) {
    who->refused = ws_arena_strdup(c->arena, why.text);
    return;
  }
  for (int i = 0; i < count; i++) {
    who->requests[who->count].settings.wall_ms = WALL_MS;
    who->whole[who->count] = -1;
    who->shapes[who->count++] = -1;
  }
  who->covered_end = who->count;
}

/* Edges, a coverage, a held-out shape by samples, and of the search's those it
 * is chosen for, or one. */
static void add_verifications(const confirmation *c, const winner *w,
                              contest *who) {
  add(c, who, WS__VERIFY_EDGES, -1);
  add_coverage(c, who);
  add_large(c, who, c->search_count, c->shape_count);
  int before = who->count;
  if (c->simulated)
    add_chosen(c, w, who);
  if (who->count == before)
    add_large(c, who, 0, c->search_count);
}

static ws_status load(const confirmation *c, const char *id, contest *out) {
  ws_measurement *recorded;
  *out = (contest){.id = id, .refused = ""};
  WS_TRY(ws__measuring_load(c->s->archive, c->arena, id, &out->candidate,
                            &out->build, c->s->diag));
  ws__covering_plan(c->arena, &c->s->task, id, out->candidate, &out->build,
                    &out->coverage);
  size_t room = (size_t)(c->shape_count + c->search_count + VERIFICATIONS +
                         out->coverage.count / WS_COVERAGE_BATCH + 1);
  WS_TRY(ws_archive_get_measurements(c->s->archive, c->arena, id, &recorded,
                                     &out->recorded_count, c->s->diag));
  out->recorded = recorded;
  out->requests = ws_arena_alloc(c->arena, sizeof *out->requests * room);
  out->shapes = ws_arena_alloc(c->arena, sizeof *out->shapes * room);
  out->whole = ws_arena_alloc(c->arena, sizeof *out->whole * room);
  return WS_OK;
}

/* In the search, and so verified before. */
static bool was_timed(const confirmation *c, const contest *who) {
  for (int i = 0; i < who->recorded_count; i++)
    if (!strcmp(who->recorded[i].provenance, c->s->trials.provenance))
      return true;
  return false;
}

/* What a simulator said of a launch it would say again: its clock is a function
 * of that. NAN: nothing, or a card's, which is taken anew. */
static double recorded_us(const confirmation *c, const contest *who,
                          int shape) {
  for (int i = 0; i < who->recorded_count && c->simulated; i++)
    if (!memcmp(&who->recorded[i].shape, &c->shapes[shape], sizeof(ws_shape)) &&
        !strcmp(who->recorded[i].provenance, c->s->trials.provenance))
      return who->recorded[i].us;
  return NAN;
}

/* again: of the search's shapes those that are timed also where a time is
 * recorded; NULL: all of them. Held-out ones are, for a winner. */
static void add_times(const confirmation *c, contest *who, const bool *again) {
  for (int i = 0; i < c->shape_count; i++) {
    bool anew =
        i >= c->search_count ? who != &c->reference : !again || again[i];
    if ((anew || isnan(recorded_us(c, who, i))) &&
        ws_candidate_broken_require(who->candidate, &c->shapes[i], NULL) < 0)
      add(c, who, WS__TIME, i);
  }
}

/* ---- asking ---- */
/* *out_done: false when time ran out on the way. */
static ws_status ask_device(confirmation *c, contest *who, bool *out_done) {
  ws_measured *answers =
      ws_arena_alloc(c->arena, sizeof *answers * (size_t)(who->count + 1));
  bool more = true, failed = false;
  who->answers = answers;
  while (who->answered < who->count && more &&
         !ws__clock_is_over(&c->s->clock)) {
    ws_measured *answer = &answers[who->answered];
    int most = who->whole[who->answered] < 0 ? WALL_MS : WHOLE_WALL_MS;
    ws_measure_request request = who->requests[who->answered++];
    request.settings.wall_ms = most;
    request.give_up_ms = ws__clock_give_up_ms(c->s->clock.deadline_ms);
    ws_status status = ws_device_client_measure(c->s->trials.client, c->arena,
                                                &request, answer, c->s->diag);
    if (status == WS_INTERRUPTED)
      break;
    WS_TRY(status);
    more = answer->verdict == WS_VERDICT_OK;
    failed = ws__measuring_is_too_slow(
        ws_device_client_info(c->s->trials.client), answer);
  }
  *out_done = !failed && !ws__clock_is_over(&c->s->clock);
  return WS_OK;
}

static ws_status ask_batch(confirmation *c, contest *who, bool *out_done) {
  const contest *r = &c->reference;
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

static ws_status ask(confirmation *c, contest *who, bool *out_done) {
  *out_done = true;
  if (*who->refused || !who->count)
    return WS_OK;
  return c->s->ranking.batched ? ask_batch(c, who, out_done)
                               : ask_device(c, who, out_done);
}

/* ---- what the answers say ---- */
static const ws_measured *failure_of(const contest *who) {
  for (int i = 0; i < who->answered; i++)
    if (who->answers[i].verdict != WS_VERDICT_OK)
      return &who->answers[i];
  return NULL;
}

static const ws_measured *time_on(const contest *who, int shape) {
  for (int i = 0; i < who->answered; i++)
    if (who->shapes[i] == shape && who->answers[i].verdict == WS_VERDICT_OK &&
        who->answers[i].us > 0)
      return &who->answers[i];
  return NULL;
}

static double us_on(const confirmation *c, const contest *who, int shape) {
  const ws_measured *answer = time_on(who, shape);
  return answer ? answer->us : recorded_us(c, who, shape);
}

/* ln of the speed-up over what the run began with; NAN: not known. */
static double gain_on(const confirmation *c, const contest *who, int shape) {
  const ws_measured *own = time_on(who, shape);
  if (own && own->ratio > 0)
    return -log(own->ratio);
  return c->simulated
             ? log(us_on(c, &c->reference, shape) / us_on(c, who, shape))
             : NAN;
}

/* Over [begin, end), or those of it in `among`; 0: none. */
static double speedup(const confirmation *c, const contest *who, int begin,
                      int end, const bool *among) {
  double sum = 0;
  int count = 0;
  for (int i = begin; i < end; i++) {
    double gain = gain_on(c, who, i);
    if (isfinite(gain) && (!among || among[i])) {
      sum += gain;
      count++;
    }
  }
  return count ? exp(sum / count) : 0;
}

static void find_noise(confirmation *c) {
  for (int i = 0; i < c->shape_count; i++) {
    double gain = gain_on(c, &c->reference, i);
    if (isfinite(gain))
      c->noise = fmax(c->noise, fabs(gain));
  }
}

static void find_worst(const confirmation *c, const contest *who,
                       ws_confirmation_row *row) {
  const ws_shape *shape = NULL;
  row->worst_speedup = 0;
  for (int i = 0; i < c->shape_count; i++) {
    double one = exp(gain_on(c, who, i));
    if (isfinite(one) && (!shape || one < row->worst_speedup)) {
      row->worst_speedup = one;
      shape = &c->shapes[i];
    }
  }
  if (shape && row->worst_speedup < 1 && !*row->reason)
    row->reason = ws_arena_printf(
        c->s->arena,
        "slower than what the run began with on %lld,%lld,%lld: %.3f x",
        (long long)shape->m, (long long)shape->n, (long long)shape->k,
        row->worst_speedup);
}

/* A specialist has to gain where it is chosen; who gains overall, or is chosen
 * on none of the search's shapes, has to do so on held-out shapes. */
static void decide(const confirmation *c, const winner *w, const contest *who,
                   ws_confirmation_row *row) {
  double floor = c->simulated ? c->s->knowledge.noise : 0;
  double least = exp(fmax(c->noise, floor));
  bool overall = row->search_speedup > least;
  bool own =
      w->somewhere && speedup(c, who, 0, c->search_count, w->shapes) > least;
  bool held_out = row->held_out_speedup == 0 || row->held_out_speedup > least;
  const char *where = w->somewhere && !overall && !own          ? "the search's"
                      : (overall || !w->somewhere) && !held_out ? "held-out"
                                                                : NULL;
  row->verdict = ws_verdict_text(where ? WS_VERDICT_SLOW : WS_VERDICT_OK);
  if (where)
    row->reason = ws_arena_printf(
        c->s->arena, "no gain beyond the noise on %s shapes", where);
}

/* Times on held-out shapes are of use to a dispatch's rules; a simulator's on
 * the search's, where there were none, are not to be asked for again. */
static ws_status keep_times(const confirmation *c, const contest *who) {
  ws_measurement *items =
      ws_arena_alloc(c->arena, sizeof *items * (size_t)(c->shape_count + 1));
  int count = 0;
  for (int i = 0; i < c->shape_count; i++) {
    const ws_measured *one = time_on(who, i);
    bool wanted =
        i >= c->search_count || (c->simulated && isnan(recorded_us(c, who, i)));
    if (one && wanted)
      items[count++] =
          (ws_measurement){.shape = c->shapes[i],
                           .us = one->us,
                           .low_us = one->low_us > 0 ? one->low_us : one->us,
                           .high_us = one->high_us > 0 ? one->high_us : one->us,
                           .bound = one->bound,
                           .provenance = c->s->trials.provenance};
  }
  return ws_archive_put_measurements(c->s->archive, who->id, items, count,
                                     c->s->diag);
}

static ws_status refute(confirmation *c, ws_confirmation_row *row,
                        ws_verdict verdict, const char *reason) {
  row->verdict = ws_verdict_text(verdict);
  row->reason = ws_arena_strdup(c->s->arena, reason);
  c->s->trials.refuted++;
  return ws_archive_refute(c->s->archive, row->candidate_id, row->verdict,
                           row->reason, c->s->diag);
}

/* A few workgroups of every shape of the search, at random places, lane by lane
 * on the CPU: what was checked so far were small shapes. And of shapes whose
 * offsets need more than 32 bits. */
static ws_status sanitize(confirmation *c, const ws_candidate *candidate,
                          ws_build_result *out) {
  enum { SPOTS = 2 };
  ws_session *s = c->s;
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
    if (ws_candidate_broken_require(candidate, &c->shapes[i], NULL) < 0)
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
  request.limits.wall_ms = request.limits.cpu_ms = WALL_MS;
  request.give_up_ms = ws__clock_give_up_ms(s->clock.deadline_ms);
  if (!c->compiler)
    WS_TRY(ws_compiler_start(&c->compiler, s->diag));
  ws_status status =
      ws_compiler_build(c->compiler, c->arena, &request, out, s->diag);
  return status == WS_INTERRUPTED ? WS_OK
                                  : status; /* judge looks at the time */
}

/* *out_done: false when time ran out on the way. */
static ws_status judge(confirmation *c, const winner *w, const contest *who,
                       ws_confirmation_row *row, bool *out_done) {
  ws_session *s = c->s;
  ws_build_result sanitized;
  const ws_measured *failure = failure_of(who);
  *out_done = true;
  *row =
      (ws_confirmation_row){.candidate_id = ws_arena_strdup(s->arena, who->id),
                            .against_id = c->against_id,
                            .provenance = s->trials.provenance,
                            .run_id = s->run.id,
                            .reason = "",
                            .noise = c->noise};
  if (*who->refused)
    return refute(c, row, WS_VERDICT_ILLEGAL, who->refused);
  if (failure)
    return refute(c, row, failure->verdict, failure->reason);
  WS_TRY(sanitize(c, who->candidate, &sanitized));
  *out_done = !ws__clock_is_over(&s->clock);
  if (!*out_done)
    return WS_OK;
  if (sanitized.verdict != WS_VERDICT_OK)
    return refute(c, row, sanitized.verdict, sanitized.reason);
  row->search_speedup = speedup(c, who, 0, c->search_count, NULL);
  row->held_out_speedup =
      speedup(c, who, c->search_count, c->shape_count, NULL);
  decide(c, w, who, row);
  find_worst(c, who, row);
  return keep_times(c, who);
}

/* ---- all of them ---- */
/* Against the same incumbent on the same device it is not done twice. */
static ws_status find_earlier(confirmation *c, const char *id,
                              ws_confirmation_row *row, bool *out_found) {
  ws_confirmation_row *rows;
  int count;
  WS_TRY(ws_archive_list_confirmations(c->s->archive, c->s->arena, id, &rows,
                                       &count, c->s->diag));
  *out_found = false;
  for (int i = 0; i < count; i++)
    if (!strcmp(rows[i].against_id, c->against_id) &&
        !strcmp(rows[i].provenance, c->s->trials.provenance)) {
      *row = rows[i];
      *out_found = true;
    }
  return WS_OK;
}

/* On a fresh server: whatever the search did to the device is not seen. */
static ws_status prepare(confirmation *c) {
  if (c->prepared)
    return WS_OK;
  const bool *nowhere =
      ws_arena_alloc(c->arena, (size_t)c->s->task.shape_count);
  c->prepared = true;
  if (!c->s->ranking.batched)
    ws_device_client_renew(c->s->trials.client);
  pick_shapes(c);
  WS_TRY(load(c, c->against_id, &c->reference));
  if (!was_timed(c, &c->reference)) /* times of unverified code are not kept */
    add(c, &c->reference, WS__VERIFY_EDGES, -1);
  add_times(c, &c->reference, c->simulated ? nowhere : NULL);
  WS_TRY(ask(c, &c->reference, &c->has_reference));
  if (c->has_reference && !c->simulated)
    find_noise(c);
  return c->has_reference && !failure_of(&c->reference)
             ? keep_times(c, &c->reference)
             : WS_OK;
}

static int count_covered(const contest *who) {
  int verified = 0;
  for (int i = who->covering; i < who->answered && i < who->covered_end; i++)
    if (who->answers[i].verdict == WS_VERDICT_OK)
      verified += who->requests[i].workload_count;
  return verified;
}

/* What of the coverage was asked and right is kept, also of one that failed. */
static ws_status keep_coverage(const confirmation *c, const contest *who) {
  const ws_measured *failure = failure_of(who);
  if (who->answered <= who->covering)
    return WS_OK;
  return ws__covering_keep(c->s->archive, c->arena, who->id,
                           c->s->trials.provenance, c->s->run.id,
                           &who->coverage, count_covered(who),
                           failure ? failure->reason : NULL, c->s->diag);
}

/* How far the whole runs came, in words. */
static const char *describe_open(const confirmation *c, const contest *who) {
  int wanted = 0, done = 0;
  const ws_shape *next = NULL;
  for (int i = 0; i < who->count; i++) {
    bool passed = i < who->answered && who->answers[i].verdict == WS_VERDICT_OK;
    if (who->whole[i] < 0)
      continue;
    wanted++;
    done += passed;
    if (!passed && !next)
      next = &c->shapes[who->whole[i]];
  }
  int covered = count_covered(who);
  if (covered < who->coverage.count)
    return ws_arena_printf(c->s->arena,
                           "not confirmed: time ended after %d of %d shapes",
                           covered, who->coverage.count);
  if (!next)
    return "not confirmed: time ended before it was timed";
  return ws_arena_printf(c->s->arena,
                         "not confirmed: time ended after %d of %d whole runs; "
                         "next is %lld,%lld,%lld",
                         done, wanted, (long long)next->m, (long long)next->n,
                         (long long)next->k);
}

/* Time has ended: it is not confirmed, and not refuted either. */
static void leave_open(const confirmation *c, const char *id,
                       const char *reason, ws_confirmation_row *row) {
  *row = (ws_confirmation_row){.candidate_id = ws_arena_strdup(c->s->arena, id),
                               .against_id = c->against_id,
                               .provenance = c->s->trials.provenance,
                               .run_id = c->s->run.id,
                               .verdict = WS_CONFIRMATION_OPEN,
                               .reason = reason,
                               .noise = c->noise};
}

static ws_status confirm_one(confirmation *c, const winner *w,
                             ws_confirmation_row *row, bool *out_done) {
  contest who;
  WS_TRY(find_earlier(c, w->id, row, out_done));
  if (*out_done)
    return WS_OK;
  leave_open(c, w->id, "not confirmed: time ended before it was looked at",
             row);
  if (!ws__clock_is_over(&c->s->clock))
    WS_TRY(prepare(c));
  if (ws__clock_is_over(&c->s->clock))
    return WS_OK;
  WS_TRY(load(c, w->id, &who));
  add_verifications(c, w, &who);
  add_times(c, &who, w->shapes);
  WS_TRY(ask(c, &who, out_done));
  WS_TRY(keep_coverage(c, &who));
  *out_done = *out_done && c->has_reference;
  if (*out_done)
    WS_TRY(judge(c, w, &who, row, out_done));
  if (!*out_done)
    leave_open(c, w->id, describe_open(c, &who), row);
  return *out_done ? ws_archive_put_confirmation(c->s->archive, row, c->s->diag)
                   : WS_OK;
}

static bool is_among(const ws_confirmation_row *rows, int count,
                     const char *id) {
  for (int i = 0; i < count; i++)
    if (!strcmp(rows[i].candidate_id, id))
      return true;
  return false;
}

/* *out_refuted: one of them is not shipped any more. */
static ws_status confirm_these(confirmation *c, const winner *winners,
                               int winner_count, ws_confirmation_row *rows,
                               int *count, bool *out_refuted) {
  ws_verdict verdict;
  *out_refuted = false;
  for (int i = 0; i < winner_count; i++) {
    ws_confirmation_row *row = &rows[*count];
    bool done;
    if (!strcmp(winners[i].id, c->against_id) ||
        is_among(rows, *count, winners[i].id))
      continue;
    WS_TRY(confirm_one(c, &winners[i], row, &done));
    if (!done && c->s->ranking.batched) /* its answers are still to come */
      continue;
    ++*count;
    *out_refuted = *out_refuted ||
                   (ws_verdict_parse(row->verdict, &verdict) &&
                    verdict != WS_VERDICT_OK && verdict != WS_VERDICT_SLOW);
  }
  return WS_OK;
}

/* In place of one that was refuted another is shipped: picked anew. */
static ws_status confirm_all(confirmation *c, ws_tune_result *out) {
  enum { PICKS = 8 };
  winner winners[MOST_WINNERS];
  int count;
  bool again = true;
  ws_confirmation_row *rows =
      ws_arena_alloc(c->s->arena, sizeof *rows * MOST_WINNERS * PICKS);
  out->confirmations = rows;
  for (int i = 0; i < PICKS && again; i++) {
    WS_TRY(pick_winners(c, winners, &count));
    WS_TRY(confirm_these(c, winners, count, rows, &out->confirmation_count,
                         &again));
  }
  return WS_OK;
}

/* Rather than a baseline that is there to be beaten. */
const char *ws__confirm_start(const ws_session *s) {
  const ws__knowledge *k = &s->knowledge;
  for (int i = 0; i < k->count; i++)
    if (ws__knowledge_is_parent(k, i) &&
        strcmp(k->results[i].request.origin, "baseline"))
      return k->results[i].id;
  return k->reference >= 0 ? k->results[k->reference].id : NULL;
}

/* What the run found is kept, also where this cannot be done. */
void ws__confirm(ws_session *s, ws_tune_result *out) {
  confirmation c = {.s = s, .against_id = ws__confirm_start(s)};
  bool has_device = s->trials.client ||
                    (s->ranking.batched && *s->ranking.batched->provenance);
  if (!has_device || !c.against_id)
    return;
  c.arena = ws_arena_create();
  c.simulated = ws__ranking_simulates(&s->ranking);
  if (confirm_all(&c, out) != WS_OK)
    ws_log(WS_LOG_WARN, "winners are not confirmed: %s", s->diag->text);
  if (c.compiler)
    ws_compiler_stop(c.compiler);
  ws_arena_destroy(c.arena);
}
