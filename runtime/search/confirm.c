/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Confirming winners: whoever is fastest on some shape, or overall, is verified
 * once more, in a fresh process of the device, on inputs from seeds that nobody
 * has seen; some workgroups of every shape are sanitized; and it is timed on
 * the search's shapes and on held-out ones, beside what the run began with.
 * That is timed twice on every shape: the A/A ratio is the noise (none on a
 * simulator, whose times are a function of the launch), and a gain within it is
 * none. A winner that fails here is refuted; one that gains on the search's
 * shapes only does not stand.
 */
#include "best.h"
#include "build_request.h"
#include "measuring.h"
#include "session.h"

#include <math.h>
#include <string.h>

enum { MOST_WINNERS = 4, HELD_OUT_SIMULATED = 8, WALL_MS = 60000 };

typedef struct confirmation {
  ws_session *s;
  ws_arena *arena;
  ws_device_client *client; /* a fresh one */
  ws_compiler *compiler;    /* NULL: not started yet */
  const ws_shape *shapes;   /* the search's, then held-out ones */
  int shape_count, search_count;
  const char *against_id;
  double *against_us, *again_us; /* INFINITY: not taken */
  double noise;
} confirmation;

/* ---- who ---- */
static void add_winner(const char *ids[MOST_WINNERS], int counts[MOST_WINNERS],
                       int *count, const char *id) {
  int i = 0;
  while (i < *count && strcmp(ids[i], id))
    i++;
  if (i == MOST_WINNERS)
    return;
  if (i == *count) {
    ids[(*count)++] = id;
    counts[i] = 0;
  }
  counts[i]++;
  for (; i > 1 && counts[i] > counts[i - 1]; i--) { /* the leader stays first */
    const char *id_before = ids[i - 1];
    int count_before = counts[i - 1];
    ids[i - 1] = ids[i];
    counts[i - 1] = counts[i];
    ids[i] = id_before;
    counts[i] = count_before;
  }
}

/* The run's leader, then the archive's best by shape, those of most first. */
static ws_status pick_winners(confirmation *c, const char *ids[MOST_WINNERS],
                              int *out_count) {
  ws_session *s = c->s;
  const ws__knowledge *k = &s->knowledge;
  int counts[MOST_WINNERS] = {0};
  int64_t known;
  size_t size = sizeof(ws_tune_row) * (size_t)s->task.shape_count;
  ws_tune_row *rows = ws_arena_alloc(c->arena, size);
  for (int i = 0; i < s->task.shape_count; i++)
    rows[i] = (ws_tune_row){
        .shape = s->task.shapes[i], .best_id = "", .provenance = ""};
  *out_count = 0;
  WS_TRY(ws__best_fill(s->archive, c->arena, &s->task, s->trials.provenance,
                       rows, &known, s->diag));
  if (s->rank_by_device && k->leader >= 0)
    add_winner(ids, counts, out_count, k->results[k->leader].id);
  for (int i = 0; i < s->task.shape_count; i++)
    if (*rows[i].best_id && !strcmp(rows[i].provenance, s->trials.provenance))
      add_winner(ids, counts, out_count, rows[i].best_id);
  return WS_OK;
}

/* ---- where ---- */
static void pick_shapes(confirmation *c) {
  const ws__task *task = &c->s->task;
  const char *name = c->s->options->held_out;
  const ws_shape_set *set =
      ws_problem_shape_set(task->problem, name ? name : "held-out");
  int held_out = set ? set->count : 0, step = 1;
  bool simulated = ws_device_client_info(c->client)->simulated;
  if (simulated && held_out > HELD_OUT_SIMULATED)
    step = (held_out + HELD_OUT_SIMULATED - 1) / HELD_OUT_SIMULATED;
  ws_shape *shapes = ws_arena_alloc(
      c->arena, sizeof *shapes * (size_t)(task->shape_count + held_out));
  memcpy(shapes, task->shapes, sizeof *shapes * (size_t)task->shape_count);
  c->search_count = c->shape_count = task->shape_count;
  for (int i = step / 2; i < held_out; i += step)
    shapes[c->shape_count++] = set->shapes[i];
  c->shapes = shapes;
}

/* ---- one question ---- */
static bool out_of_time(const ws_session *s) {
  return ws__signals_interrupted() || ws_clock_ms() >= s->deadline_ms;
}

/* Reaches to just beyond the deadline: what it cuts short does not count. */
static int wall_ms(const ws_session *s) {
  double left = s->deadline_ms - ws_clock_ms();
  return left < 0 ? 1 : left < WALL_MS ? (int)left + 1 : WALL_MS;
}

static ws_status measure(confirmation *c, const ws_candidate *candidate,
                         const ws_build_result *build, ws__question question,
                         const ws_shape *shape, ws_measured *out) {
  ws_measure_request request;
  *out = (ws_measured){.verdict = WS_VERDICT_OK, .reason = ""};
  ws_diag why = {""};
  int cu_count = ws_device_client_info(c->client)->cu_count;
  if (ws__measuring_request(c->arena, &c->s->task, cu_count, candidate, build,
                            question, shape, "confirmation", &request,
                            &why) != WS_OK) {
    out->verdict = WS_VERDICT_ILLEGAL;
    out->reason = ws_arena_strdup(c->arena, why.text);
    return WS_OK;
  }
  request.settings.wall_ms = wall_ms(c->s);
  return ws_device_client_measure(c->client, c->arena, &request, out,
                                  c->s->diag);
}

/* *out_us INFINITY: it does not take the shape, or fails there. */
static ws_status time_on(confirmation *c, const ws_candidate *candidate,
                         const ws_build_result *build, const ws_shape *shape,
                         double *out_us) {
  ws_measured measured;
  *out_us = INFINITY;
  if (out_of_time(c->s) ||
      ws_candidate_broken_require(candidate, shape, NULL) >= 0)
    return WS_OK;
  WS_TRY(measure(c, candidate, build, WS__TIME, shape, &measured));
  if (measured.verdict == WS_VERDICT_OK && measured.us > 0)
    *out_us = measured.us;
  return WS_OK;
}

/* ---- the reference ---- */
static ws_status time_reference(confirmation *c) {
  ws_candidate *candidate;
  ws_build_result build;
  size_t size = sizeof(double) * (size_t)c->shape_count;
  c->against_us = ws_arena_alloc(c->arena, size);
  c->again_us = ws_arena_alloc(c->arena, size);
  WS_TRY(ws__measuring_load(c->s->archive, c->arena, c->against_id, &candidate,
                            &build, c->s->diag));
  for (int i = 0; i < c->shape_count; i++) {
    WS_TRY(time_on(c, candidate, &build, &c->shapes[i], &c->against_us[i]));
    c->again_us[i] = c->against_us[i];
    if (!ws_device_client_info(c->client)->simulated)
      WS_TRY(time_on(c, candidate, &build, &c->shapes[i], &c->again_us[i]));
    if (isfinite(c->against_us[i]) && isfinite(c->again_us[i]))
      c->noise = fmax(c->noise, fabs(log(c->against_us[i] / c->again_us[i])));
  }
  return WS_OK;
}

/* ---- one winner ---- */
/* Edges, then one shape of the search and one held-out, by samples. */
static ws_status verify(confirmation *c, const ws_candidate *candidate,
                        const ws_build_result *build, ws_measured *out) {
  const struct {
    const ws_shape *shapes;
    int count;
  } sets[] = {{c->shapes, c->search_count},
              {c->shapes + c->search_count, c->shape_count - c->search_count}};
  WS_TRY(measure(c, candidate, build, WS__VERIFY_EDGES, NULL, out));
  for (int i = 0; i < 2 && out->verdict == WS_VERDICT_OK; i++) {
    int large = ws__measuring_large(c->s->task.problem, candidate,
                                    sets[i].shapes, sets[i].count);
    if (large >= 0)
      WS_TRY(measure(c, candidate, build, WS__VERIFY_LARGE,
                     &sets[i].shapes[large], out));
  }
  return WS_OK;
}

/* A few workgroups of every shape of the search, at random places, lane by lane
 * on the CPU: what was checked so far were small shapes. */
static ws_status sanitize(confirmation *c, const ws_candidate *candidate,
                          ws_build_result *out) {
  enum { SPOTS = 2 };
  ws_session *s = c->s;
  ws_archived_template stored;
  const ws_template *tmpl;
  *out = (ws_build_result){.verdict = WS_VERDICT_OK};
  if (!s->task.target->has_host_model)
    return WS_OK;
  WS_TRY(ws_archive_get_template(s->archive, c->arena,
                                 candidate->tmpl->hash.hex, &tmpl, &stored,
                                 s->diag));
  const ws__source source = {
      .tmpl = tmpl, .text = stored.text, .size = strlen(stored.text)};
  ws_run *runs =
      ws_arena_alloc(c->arena, sizeof *runs * (size_t)c->search_count);
  ws_build_request request = ws__build_request(c->arena, &source, candidate);
  for (int i = 0; i < c->search_count; i++)
    if (ws_candidate_broken_require(candidate, &c->shapes[i], NULL) < 0)
      runs[request.run_count++] = (ws_run){.shape = c->shapes[i],
                                           .order = WS_WAVES_UP,
                                           .seed = s->options->seed + 1,
                                           .spots = SPOTS};
  request.runs = runs;
  request.stages = WS_STAGE_SANITIZE;
  request.limits = ws_limits_default;
  request.limits.wall_ms = request.limits.cpu_ms = wall_ms(s);
  if (!c->compiler)
    WS_TRY(ws_compiler_start(&c->compiler, s->diag));
  return ws_compiler_build(c->compiler, c->arena, &request, out, s->diag);
}

static double speedup(const confirmation *c, const double *us, int begin,
                      int end) {
  double sum = 0;
  int count = 0;
  for (int i = begin; i < end; i++)
    if (isfinite(us[i]) && isfinite(c->against_us[i])) {
      sum += log(c->against_us[i] / us[i]);
      count++;
    }
  return count ? exp(sum / count) : 0;
}

static void find_worst(const confirmation *c, const double *us,
                       ws_confirmation_row *row) {
  const ws_shape *shape = NULL;
  row->worst_speedup = 0;
  for (int i = 0; i < c->shape_count; i++) {
    double one = c->against_us[i] / us[i];
    if (isfinite(us[i]) && isfinite(c->against_us[i]) &&
        (!shape || one < row->worst_speedup)) {
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

static void decide(const confirmation *c, ws_confirmation_row *row) {
  double least = exp(fmax(c->noise, c->s->knowledge.noise));
  const char *where =
      row->search_speedup <= least ? "the search's"
      : row->held_out_speedup > 0 && row->held_out_speedup <= least ? "held-out"
                                                                    : NULL;
  row->verdict = ws_verdict_text(where ? WS_VERDICT_SLOW : WS_VERDICT_OK);
  if (where)
    row->reason = ws_arena_printf(
        c->s->arena, "no gain beyond the noise on %s shapes", where);
}

static ws_status refute(confirmation *c, ws_confirmation_row *row,
                        ws_verdict verdict, const char *reason) {
  row->verdict = ws_verdict_text(verdict);
  row->reason = ws_arena_strdup(c->s->arena, reason);
  return ws_archive_refute(c->s->archive, row->candidate_id, row->verdict,
                           row->reason, c->s->diag);
}

/* *out_done: false when time ran out on the way. */
static ws_status confirm(confirmation *c, const char *id,
                         ws_confirmation_row *row, bool *out_done) {
  ws_session *s = c->s;
  ws_candidate *candidate;
  ws_build_result build;
  ws_measured measured;
  ws_build_result sanitized;
  *row = (ws_confirmation_row){.candidate_id = ws_arena_strdup(s->arena, id),
                               .against_id = c->against_id,
                               .provenance = s->trials.provenance,
                               .run_id = s->run_id,
                               .reason = "",
                               .noise = c->noise};
  WS_TRY(ws__measuring_load(s->archive, c->arena, id, &candidate, &build,
                            s->diag));
  WS_TRY(verify(c, candidate, &build, &measured));
  *out_done = !out_of_time(s);
  if (!*out_done)
    return WS_OK;
  if (measured.verdict != WS_VERDICT_OK)
    return refute(c, row, measured.verdict, measured.reason);
  WS_TRY(sanitize(c, candidate, &sanitized));
  *out_done = !out_of_time(s);
  if (!*out_done)
    return WS_OK;
  if (sanitized.verdict != WS_VERDICT_OK)
    return refute(c, row, sanitized.verdict, sanitized.reason);
  double *us = ws_arena_alloc(c->arena, sizeof *us * (size_t)c->shape_count);
  for (int i = 0; i < c->shape_count; i++)
    WS_TRY(time_on(c, candidate, &build, &c->shapes[i], &us[i]));
  *out_done = !out_of_time(s);
  row->search_speedup = speedup(c, us, 0, c->search_count);
  row->held_out_speedup = speedup(c, us, c->search_count, c->shape_count);
  decide(c, row);
  find_worst(c, us, row);
  return WS_OK;
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

/* A device of its own: whatever the search did to the other is not seen. */
static ws_status prepare(confirmation *c) {
  if (c->client)
    return WS_OK;
  const char *kind = ws_device_client_info(c->s->trials.client)->kind;
  WS_TRY(ws_device_client_start(kind, &c->client, c->s->diag));
  pick_shapes(c);
  return time_reference(c);
}

static ws_status confirm_one(confirmation *c, const char *id,
                             ws_confirmation_row *row, bool *out_done) {
  WS_TRY(find_earlier(c, id, row, out_done));
  if (*out_done)
    return WS_OK;
  WS_TRY(prepare(c));
  if (out_of_time(c->s))
    return WS_OK;
  WS_TRY(confirm(c, id, row, out_done));
  return *out_done ? ws_archive_put_confirmation(c->s->archive, row, c->s->diag)
                   : WS_OK;
}

static ws_status confirm_all(confirmation *c, ws_tune_result *out) {
  const char *ids[MOST_WINNERS];
  int count;
  bool done = true;
  WS_TRY(pick_winners(c, ids, &count));
  ws_confirmation_row *rows =
      ws_arena_alloc(c->s->arena, sizeof *rows * MOST_WINNERS);
  out->confirmations = rows;
  for (int i = 0; i < count && done; i++) {
    if (!strcmp(ids[i], c->against_id))
      continue;
    WS_TRY(confirm_one(c, ids[i], &rows[out->confirmation_count], &done));
    if (done)
      out->confirmation_count++;
  }
  return WS_OK;
}

/* What the run began with, rather than a baseline that is there to be beaten;
 * NULL: nothing that has times. */
static const char *find_incumbent(const ws__knowledge *k) {
  for (int i = 0; i < k->count; i++)
    if (ws__knowledge_is_parent(k, i) &&
        strcmp(k->results[i].request.origin, "baseline"))
      return k->results[i].id;
  return k->reference >= 0 ? k->results[k->reference].id : NULL;
}

/* What the run found is kept, also where this cannot be done. */
void ws__confirm(ws_session *s, ws_tune_result *out) {
  confirmation c = {.s = s, .against_id = find_incumbent(&s->knowledge)};
  if (!s->trials.client || !c.against_id || out_of_time(s))
    return;
  c.arena = ws_arena_create();
  if (confirm_all(&c, out) != WS_OK)
    ws_log(WS_LOG_WARN, "winners are not confirmed: %s", s->diag->text);
  ws_device_client_stop(c.client);
  if (c.compiler)
    ws_compiler_stop(c.compiler);
  ws_arena_destroy(c.arena);
}
