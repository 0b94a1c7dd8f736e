/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The tuning loop. Proposals stand in a window of fixed length; proposal i is
 * drawn right after the result of i - WS__WINDOW is applied, and results are
 * applied, and candidates recorded, in the order of proposal. So the sequence
 * depends on the seed and the results alone, not on how many servers work on
 * it, how fast, or whether the run was cut: the candidates of a killed run are
 * a prefix of the sequence, and resuming is drawing the same proposals and
 * finding them in the archive. Builds are recorded as they arrive, whatever
 * their place: a kill loses what the servers have in hand and nothing else.
 * What the window costs: the strategy sees results up to 16 candidates late.
 *
 * One thread: propose, send, wait, apply. Time and Ctrl-C are looked at
 * between the steps, none of which takes long.
 */
#include "agreement.h"
#include "best.h"
#include "judge.h"
#include "pool.h"
#include "progress.h"
#include "trials.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

enum { WAIT_MS = 100, DEADLINE_MARGIN_MS = 500 };
/* Of a limited time: 8 kernels on 18 shapes at half a second fit into 40 % of
 * three minutes. */
static const double finals_share = 0.4;

typedef enum job_state { JOB_WAITING, JOB_BUILDING, JOB_DONE } job_state;

/* A proposal on its way to a result. */
typedef struct job {
  job_state state;
  ws_arena *arena; /* of all that dies with the job */
  ws__proposal proposal;
  const ws_candidate *candidate;
  bool replayed;          /* known from the archive */
  ws_build_result result; /* of a build that is done */
} job;

typedef struct session {
  const ws_tune_options *options;
  ws_arena *arena;
  ws_tune_result *out;
  ws_diag *diag;
  ws_archive *archive;
  ws__pool pool;
  ws__task task;
  ws__judge judge;
  ws__trials trials;
  ws__seen seen;
  ws__knowledge knowledge;
  const ws__strategy *strategy;
  ws_rng rng;
  ws__progress progress;
  job jobs[WS__WINDOW]; /* proposal i is at i % WS__WINDOW */
  int64_t proposed, applied;
  double start_ms, deadline_ms;
  double search_end_ms; /* the rest is for the finals on the device */
  bool no_more;         /* the space is exhausted */
} session;

/* ---- signals ---- */
/* A signal handler can reach nothing else. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number) {
  (void)signal_number;
  interrupted = 1;
}

static const int interrupt_signals[] = {SIGINT, SIGTERM};
enum { SIGNAL_COUNT = sizeof interrupt_signals / sizeof interrupt_signals[0] };

/* A second signal ends the process as ever. */
static void catch_signals(struct sigaction old[SIGNAL_COUNT]) {
  struct sigaction action = {.sa_handler = on_interrupt,
                             .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  interrupted = 0;
  for (int i = 0; i < SIGNAL_COUNT; i++)
    sigaction(interrupt_signals[i], &action, &old[i]);
}

static void restore_signals(const struct sigaction old[SIGNAL_COUNT]) {
  for (int i = 0; i < SIGNAL_COUNT; i++)
    sigaction(interrupt_signals[i], &old[i], NULL);
}

static bool must_end(const session *s) {
  return interrupted || ws_clock_ms() >= s->search_end_ms;
}

/* ---- proposing ---- */
static bool may_propose(const session *s) {
  return !s->no_more && s->proposed - s->applied < WS__WINDOW &&
         (s->options->evaluations <= 0 ||
          s->proposed < s->options->evaluations);
}

/* The first proposals: the baseline, then the template as it stands. False
 * when that is done, or the template's defaults break its constraints. */
static bool propose_given(session *s, ws__proposal *out) {
  bool baseline = s->task.baseline_candidate != NULL;
  *out = (ws__proposal){.parent = -1, .target = -1, .move = ""};
  if (baseline && s->proposed == 0) {
    out->origin = "baseline";
    return true;
  }
  if (s->proposed != (baseline ? 1 : 0))
    return false;
  out->origin = "default";
  out->point =
      ws_arena_alloc(s->arena, sizeof(int) * (size_t)s->task.space.count);
  ws__space_default(&s->task.space, out->point);
  return ws__space_is_legal(&s->task.space, out->point);
}

static const ws_candidate *candidate_of(session *s, ws_arena *arena,
                                        const ws__proposal *proposal) {
  return proposal->point
             ? ws__space_candidate(&s->task.space, arena, proposal->point)
             : s->task.baseline_candidate;
}

/* A candidate or build that the archive holds is done at once. */
static ws_status look_up(session *s, job *j) {
  const char *id = j->candidate->id.hex;
  ws_candidate_row row;
  WS_TRY(ws_archive_get_candidate(s->archive, j->arena, id, &j->replayed, &row,
                                  s->diag));
  if (!j->replayed)
    WS_TRY(ws_archive_get_build(s->archive, j->arena, id, &j->replayed,
                                &j->result, s->diag));
  j->state = j->replayed ? JOB_DONE : JOB_WAITING;
  return WS_OK;
}

static ws_status propose(session *s) {
  ws__proposal proposal;
  if (!propose_given(s, &proposal) &&
      s->strategy->propose(&s->knowledge, &s->rng, s->arena, &proposal) !=
          WS__DRAW_FOUND) {
    s->no_more = true;
    return WS_OK;
  }
  job *next = &s->jobs[s->proposed % WS__WINDOW];
  *next = (job){.arena = ws_arena_create(), .proposal = proposal};
  s->proposed++;
  next->candidate = candidate_of(s, next->arena, &proposal);
  ws__seen_add(&s->seen, &next->candidate->id);
  return look_up(s, next);
}

/* ---- building ---- */
/* Limits reach to just beyond the deadline, so that no job is cut short by it
 * and still counted. */
static ws_limits limits_now(const session *s) {
  ws_limits limits = ws_limits_default;
  double left = s->search_end_ms - ws_clock_ms() + DEADLINE_MARGIN_MS;
  if (left < limits.wall_ms)
    limits.wall_ms = left < 1 ? 1 : (int)left;
  return limits;
}

static ws_status send(session *s, ws__worker *worker, int index) {
  job *j = &s->jobs[index];
  const ws__source *source =
      j->proposal.point ? &s->task.source : &s->task.baseline;
  ws_run runs[WS_STANDARD_RUNS];
  ws_build_request request = {
      .template_file = source->tmpl->file,
      .template_text = source->text,
      .template_size = source->size,
      .target = source->tmpl->target,
      .assignments = ws_candidate_values_text(j->arena, j->candidate),
      .variants = ws_candidate_variants_text(j->arena, j->candidate),
      .runs = runs,
      .run_count = ws_standard_runs(j->candidate, runs),
      .stages = WS_STAGE_CHECK | WS_STAGE_SANITIZE | WS_STAGE_LOWER,
      .limits = limits_now(s)};
  j->state = JOB_BUILDING;
  return ws__pool_send(worker, index, &request, s->diag);
}

static ws_status send_waiting(session *s) {
  for (int64_t i = s->applied; i < s->proposed && !must_end(s); i++) {
    int index = (int)(i % WS__WINDOW);
    if (s->jobs[index].state != JOB_WAITING)
      continue;
    ws__worker *worker = ws__pool_idle(&s->pool);
    if (!worker)
      return WS_OK;
    WS_TRY(look_up(s, &s->jobs[index])); /* another process may have built it */
    if (s->jobs[index].state == JOB_WAITING)
      WS_TRY(send(s, worker, index));
  }
  return WS_OK;
}

/* Records a build; if another process was faster, its build counts. */
static ws_status keep_build(session *s, job *j) {
  const char *id = j->candidate->id.hex;
  bool added, found;
  WS_TRY(ws_archive_put_build(s->archive, id, &j->result, &added, s->diag));
  if (added)
    return WS_OK;
  return ws_archive_get_build(s->archive, j->arena, id, &found, &j->result,
                              s->diag);
}

static ws_status receive(session *s, int timeout_ms) {
  ws__worker *worker =
      ws__pool_wait(&s->pool, ws__trials_descriptor(&s->trials), timeout_ms);
  if (!worker)
    return WS_OK;
  job *j = &s->jobs[worker->job];
  WS_TRY(ws__pool_receive(worker, j->arena, &j->result, s->diag));
  /* A server that the signal's sender ended too must not become a verdict. */
  if (must_end(s))
    return WS_OK;
  j->state = JOB_DONE;
  return keep_build(s, j);
}

/* ---- applying ---- */
/* The archive is asked again: another process may have been faster. */
static ws_status judge(session *s, job *j, ws__judgement *out) {
  bool judged;
  WS_TRY(ws__judge_replay(&s->judge, j->arena, j->candidate, &judged, out,
                          s->diag));
  j->replayed = j->replayed || judged;
  if (judged)
    return WS_OK;
  int parent = j->proposal.parent;
  ws_candidate_row origin = {
      .proposer = j->proposal.origin,
      .parent_id = parent >= 0 ? s->knowledge.results[parent].id : "",
      .move = j->proposal.move,
      .sequence = s->applied};
  return ws__judge_record(&s->judge, j->arena, j->candidate, &j->result,
                          &origin, out, s->diag);
}

static void learn(session *s, const job *j, const ws__judgement *judgement) {
  size_t size = sizeof *judgement->us * (size_t)s->task.shape_count;
  double *us = ws_arena_alloc(s->arena, size);
  memcpy(us, judgement->us, size);
  ws__result result = {.point = j->proposal.point,
                       .target = j->proposal.target,
                       .verdict = judgement->verdict,
                       .us = us,
                       .id = ws_arena_strdup(s->arena, j->candidate->id.hex)};
  ws__knowledge_add(&s->knowledge, &result);
  s->out->verdicts[judgement->verdict]++;
  if (j->replayed)
    s->out->replayed++;
  else
    s->out->evaluated++;
}

static ws__progress_state progress_state(const session *s) {
  return (ws__progress_state){.evaluated = s->out->evaluated,
                              .replayed = s->out->replayed,
                              .evaluation_limit = s->options->evaluations,
                              .deadline_ms = s->deadline_ms,
                              .best_geomean_us =
                                  ws__knowledge_geomean(&s->knowledge),
                              .verdicts = s->out->verdicts,
                              .provenance = s->trials.provenance,
                              .timed = s->trials.timed,
                              .refuted = s->trials.refuted};
}

static ws_status apply(session *s, job *j) {
  ws__judgement judgement;
  WS_TRY(judge(s, j, &judgement));
  learn(s, j, &judgement);
  if (judgement.verdict == WS_VERDICT_OK)
    WS_TRY(ws__trials_note(&s->trials, j->candidate->id.hex, judgement.us,
                           s->diag));
  ws_arena_destroy(j->arena);
  j->arena = NULL;
  s->applied++;
  return may_propose(s) ? propose(s) : WS_OK; /* see the file's head */
}

static ws_status apply_done(session *s) {
  while (s->applied < s->proposed && !must_end(s)) {
    job *j = &s->jobs[s->applied % WS__WINDOW];
    if (j->state != JOB_DONE)
      return WS_OK;
    WS_TRY(apply(s, j));
    ws__progress_state state = progress_state(s);
    ws__progress_show(&s->progress, &state);
  }
  return WS_OK;
}

/* ---- the loop ---- */
static int wait_ms(double deadline_ms) {
  double left = deadline_ms - ws_clock_ms();
  return left < 0 ? 0 : left < WAIT_MS ? (int)left + 1 : WAIT_MS;
}

static ws_status loop(session *s) {
  while (may_propose(s) && !must_end(s)) /* fills the window */
    WS_TRY(propose(s));
  while (!must_end(s) && s->applied < s->proposed) {
    WS_TRY(send_waiting(s));
    if (s->jobs[s->applied % WS__WINDOW].state != JOB_DONE)
      WS_TRY(receive(s, wait_ms(s->search_end_ms)));
    WS_TRY(send_waiting(s)); /* first, so that no server waits for us */
    WS_TRY(apply_done(s));
    WS_TRY(ws__trials_step(&s->trials, s->diag));
  }
  return WS_OK;
}

/* The cores are the device's now, which may be simulated on them. */
static ws_status finals(session *s) {
  ws__pool_stop(&s->pool);
  WS_TRY(ws__trials_begin_finals(&s->trials, s->diag));
  while (!interrupted && ws_clock_ms() < s->deadline_ms &&
         ws__trials_pending(&s->trials)) {
    struct pollfd item = {.fd = ws__trials_descriptor(&s->trials),
                          .events = POLLIN};
    if (item.fd >= 0)
      poll(&item, 1, wait_ms(s->deadline_ms));
    WS_TRY(ws__trials_step(&s->trials, s->diag));
    ws__progress_state state = progress_state(s);
    ws__progress_show(&s->progress, &state);
  }
  return WS_OK;
}

/* ---- the result ---- */
/* Over the shapes whose best has this provenance; if the baseline has times,
 * over those that it has. */
static void fill_geomeans(const session *s, const ws_tune_row *rows,
                          const char *provenance) {
  bool baseline = false; /* has any time */
  for (int i = 0; i < s->task.shape_count; i++)
    baseline = baseline || (rows[i].baseline_us > 0 &&
                            !strcmp(rows[i].provenance, provenance));
  double log_baseline = 0, log_best = 0;
  int count = 0;
  for (int i = 0; i < s->task.shape_count; i++) {
    if (!(rows[i].best_us > 0) || (baseline && !(rows[i].baseline_us > 0)) ||
        strcmp(rows[i].provenance, provenance))
      continue;
    log_baseline += baseline ? log(rows[i].baseline_us) : 0;
    log_best += log(rows[i].best_us);
    count++;
  }
  if (!count)
    return;
  s->out->geomean_shapes = count;
  s->out->geomean_provenance = provenance;
  s->out->best_geomean_us = exp(log_best / count);
  s->out->baseline_geomean_us = baseline ? exp(log_baseline / count) : 0;
}

static ws_status fill_result(session *s) {
  int count = s->task.shape_count;
  const char *device = s->trials.provenance;
  ws_tune_row *rows = ws_arena_alloc(s->arena, sizeof *rows * (size_t)count);
  for (int i = 0; i < count; i++)
    rows[i] = (ws_tune_row){.shape = s->task.shapes[i],
                            .best_id = "",
                            .parameters = "",
                            .variants = "",
                            .changes = "",
                            .bound = "",
                            .provenance = ""};
  WS_TRY(ws__best_fill(s->archive, s->arena, &s->task, device, rows,
                       &s->out->archive_candidates, s->diag));
  if (*device)
    fill_geomeans(s, rows, device);
  if (!s->out->geomean_shapes)
    fill_geomeans(s, rows, WS_PROVENANCE_ESTIMATE);
  s->out->rows = rows;
  s->out->row_count = count;
  s->out->provenance = device;
  s->out->timed = s->trials.timed;
  s->out->verified = s->trials.verified;
  s->out->refuted = s->trials.refuted;
  return *device ? ws__agreement(s->archive, s->arena, &s->task, device,
                                 &s->out->agreement, s->diag)
                 : WS_OK;
}

/* ---- the session ---- */
/* Whatever the sequence depends on, beyond the columns of a run. */
static char *settings_text(session *s) {
  const ws_template *baseline = s->task.baseline.tmpl;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "template", s->task.source.tmpl->hash.hex);
  cJSON_AddStringToObject(json, "baseline", baseline ? baseline->hash.hex : "");
  cJSON_AddStringToObject(json, "provenance", WS_PROVENANCE_ESTIMATE);
  cJSON_AddNumberToObject(json, "window", WS__WINDOW);
  char *text = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  WS_ASSERT(text);
  char *copy = ws_arena_strdup(s->arena, text);
  cJSON_free(text);
  return copy;
}

static ws_status open_archive(session *s) {
  const ws__source *sources[] = {&s->task.source, &s->task.baseline};
  WS_TRY(ws_archive_open(s->options->archive_path, true, &s->archive, s->diag));
  for (int i = 0; i < 2; i++)
    if (sources[i]->tmpl)
      WS_TRY(ws_archive_put_template(s->archive, sources[i]->tmpl,
                                     sources[i]->text, NULL, s->diag));
  ws_run_row run = {.problem = s->task.problem->name,
                    .layout = s->task.layout,
                    .target = s->task.source.tmpl->target,
                    .strategy = s->strategy->name,
                    .shape_set = s->task.shape_set,
                    .settings_json = settings_text(s),
                    .seed = s->options->seed,
                    .started_unix_ms = ws_clock_unix_ms()};
  WS_TRY(ws_archive_begin_run(s->archive, &run, &s->out->run_id, s->diag));
  s->judge = (ws__judge){
      .archive = s->archive, .task = &s->task, .run_id = s->out->run_id};
  return WS_OK;
}

static ws_status begin(session *s) {
  s->strategy = ws__strategy_find(s->options->strategy, s->diag);
  if (!s->strategy)
    return WS_USAGE;
  ws_compiler *compiler;
  WS_TRY(ws_compiler_start(&compiler, s->diag));
  ws__pool_init(&s->pool, s->arena, s->options->workers, WS__WINDOW, compiler);
  WS_TRY(ws__task_init(&s->task, s->arena, s->options, compiler, s->diag));
  WS_TRY(open_archive(s));
  WS_TRY(ws__trials_init(&s->trials, s->arena, s->archive, &s->task,
                         s->options->device, s->diag));
  if (s->trials.client && isfinite(s->deadline_ms))
    s->search_end_ms -= finals_share * (s->deadline_ms - s->start_ms);
  ws__knowledge_init(&s->knowledge, s->arena, &s->task.space, &s->seen,
                     s->task.shape_count);
  ws_rng_init(&s->rng, s->options->seed);
  ws__progress_init(&s->progress, s->options->json);
  return WS_OK;
}

static ws_status run(session *s) {
  WS_TRY(begin(s));
  ws_status status = loop(s);
  if (status == WS_OK && !interrupted)
    status = finals(s);
  ws__progress_state state = progress_state(s);
  ws__progress_end(&s->progress, &state);
  s->out->interrupted = interrupted != 0;
  s->out->exhausted = s->no_more;
  s->out->seconds = (ws_clock_ms() - s->start_ms) / 1000;
  return status == WS_OK ? fill_result(s) : status;
}

ws_status ws_tune(const ws_tune_options *options, ws_arena *arena,
                  ws_tune_result *out_result, ws_diag *diag) {
  *out_result = (ws_tune_result){0};
  double start_ms = ws_clock_ms();
  session s = {.options = options,
               .arena = arena,
               .out = out_result,
               .diag = diag,
               .start_ms = start_ms,
               .deadline_ms = options->minutes > 0
                                  ? start_ms + options->minutes * 60000
                                  : INFINITY};
  s.search_end_ms = s.deadline_ms;
  struct sigaction old[SIGNAL_COUNT];
  catch_signals(old);
  ws_status status = run(&s);
  ws__pool_stop(&s.pool);
  ws__trials_stop(&s.trials);
  for (int i = 0; i < WS__WINDOW; i++)
    ws_arena_destroy(s.jobs[i].arena);
  ws__seen_deinit(&s.seen);
  ws_archive_close(s.archive);
  restore_signals(old);
  return status;
}
