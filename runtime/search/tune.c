/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A tuning run: the loop, the finals on the device, the confirmation of
 * winners, the result. Time and Ctrl-C are looked at between the steps, none of
 * which takes long.
 */
#include "agreement.h"
#include "bands.h"
#include "best.h"
#include "profiles.h"
#include "session.h"
#include "shipped.h"

#include <math.h>
#include <poll.h>
#include <string.h>

enum { WAIT_MS = 100 };

/* ---- progress ---- */
static void show_progress(ws_session *s, ws__progress *progress, bool last) {
  const ws_llm_spent spent = ws__models_spent(&s->models);
  const ws__progress_state state = {
      .counts = &s->counts,
      .evaluation_limit = s->options->evaluations,
      .deadline_ms = s->clock.deadline_ms,
      .best_geomean_us = ws__knowledge_geomean(&s->knowledge),
      .best_provenance = s->judge.provenance,
      .provenance = s->trials.provenance,
      .timed = s->trials.timed,
      .refuted = s->trials.refuted,
      .questions = spent.questions,
      .tokens = spent.prompt_tokens + spent.reply_tokens,
      .usd = spent.usd};
  if (last)
    ws__progress_end(progress, &state);
  else
    ws__progress_show(progress, &state);
}

/* ---- the loop ---- */
static int wait_ms(double deadline_ms) {
  double left = deadline_ms - ws_clock_ms();
  return left < 0 ? 0 : left < WAIT_MS ? (int)left + 1 : WAIT_MS;
}

/* What the first job lacks decides whether there is anything to wait for. */
static ws_status wait_if_idle(ws_session *s) {
  bool ready = ws__ring_first(&s->ring)->state == WS__JOB_DONE;
  if (s->ring.applied == s->ring.proposed || (ready && !ws__round_is_open(s)))
    return WS_OK;
  return ws__produce_wait(s, wait_ms(s->clock.search_end_ms));
}

static ws_status apply_done(ws_session *s, ws__progress *progress) {
  bool applied = !ws__round_is_open(s);
  while (applied && !ws__clock_must_end(&s->clock)) {
    WS_TRY(ws__apply_next(s, &applied));
    if (!applied)
      return WS_OK;
    if (!s->rounds.size || s->ring.applied == s->ring.proposed)
      WS_TRY(ws__fill_window(s)); /* right after it: see session.h */
    applied = !ws__round_is_open(s);
    show_progress(s, progress, false);
  }
  return WS_OK;
}

static ws_status step(ws_session *s, ws__progress *progress) {
  WS_TRY(ws__take_answers(s));
  if (ws__round_is_open(s))
    WS_TRY(ws__fill_window(s)); /* a model has room for a further question */
  WS_TRY(ws__produce(s));
  s->rounds.awaits_answers = ws__awaits_batch(s);
  if (s->rounds.awaits_answers)
    return WS_OK;
  WS_TRY(wait_if_idle(s));
  WS_TRY(ws__produce(s)); /* first, so that no server waits for us */
  WS_TRY(apply_done(s, progress));
  return s->ranking.by_device ? WS_OK : ws__trials_step(&s->trials, s->diag);
}

static ws_status loop(ws_session *s, ws__progress *progress) {
  WS_TRY(ws__fill_window(s));
  while (!ws__clock_must_end(&s->clock) && !s->rounds.awaits_answers &&
         s->ring.applied < s->ring.proposed)
    WS_TRY(step(s, progress));
  return WS_OK;
}

/* ---- finals ---- */
/* The cores are the device's now, which may be simulated on them. A search that
 * sampled a large set by a device has asked there for what it needs. */
static ws_status finals(ws_session *s, ws__progress *progress) {
  ws__pool_stop(&s->pool);
  if (s->knowledge.large)
    return WS_OK;
  WS_TRY(ws__trials_begin_finals(&s->trials, s->diag));
  while (!ws__signals_interrupted() && ws_clock_ms() < s->clock.finals_end_ms &&
         ws__trials_pending(&s->trials)) {
    struct pollfd items[WS_DEVICE_CLIENTS];
    int descriptors[WS_DEVICE_CLIENTS];
    ws__trials_descriptors(&s->trials, descriptors);
    for (int i = 0; i < WS_DEVICE_CLIENTS; i++)
      items[i] = (struct pollfd){.fd = descriptors[i], .events = POLLIN};
    if (ws__trials_is_busy(&s->trials))
      poll(items, WS_DEVICE_CLIENTS, wait_ms(s->clock.finals_end_ms));
    WS_TRY(ws__trials_step(&s->trials, s->diag));
    show_progress(s, progress, false);
  }
  return WS_OK;
}

/* ---- the result ---- */
/* Over the shapes whose best has this provenance; if the baseline has times,
 * over those that it has. */
static void fill_geomeans(const ws_session *s, ws_tune_result *out,
                          const ws_tune_row *rows, const char *provenance) {
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
  out->geomean_shapes = count;
  out->geomean_provenance = provenance;
  out->best_geomean_us = exp(log_best / count);
  out->baseline_geomean_us = baseline ? exp(log_baseline / count) : 0;
}

static void fill_counts(const ws_session *s, ws_tune_result *out) {
  out->run_id = s->run.id;
  out->problem = s->task.problem->name;
  out->compared = ws__run_compared(s);
  out->layout = s->task.layout;
  out->target = s->task.target->name;
  out->evaluated = s->counts.evaluated;
  out->replayed = s->counts.replayed;
  out->further = s->counts.further;
  out->documents = s->counts.documents;
  out->moves = s->counts.moves;
  out->refused = s->counts.refused;
  memcpy(out->verdicts, s->counts.verdicts, sizeof out->verdicts);
  out->timed = s->trials.timed;
  out->verified = s->trials.verified;
  out->refuted = s->trials.refuted;
  out->uncompared = s->trials.uncompared;
  out->interrupted = ws__signals_interrupted();
  out->exhausted = s->proposing.no_more;
  out->stop = s->clock.stop;
  out->seconds = (ws_clock_ms() - s->clock.start_ms) / 1000;
  const ws_llm_spent spent = ws__models_spent(&s->models);
  out->questions = spent.questions;
  out->prompt_tokens = spent.prompt_tokens;
  out->reply_tokens = spent.reply_tokens;
  out->usd = spent.usd;
}

static ws_status fill_result(ws_session *s, ws_tune_result *out) {
  int count = s->task.shape_count;
  const char *device = s->ranking.table ? ws__table_provenance(s->ranking.table)
                                        : s->trials.provenance;
  ws_tune_row *rows = ws_arena_alloc(s->arena, sizeof *rows * (size_t)count);
  for (int i = 0; i < count; i++)
    rows[i] = (ws_tune_row){.shape = s->task.shapes[i],
                            .best_id = "",
                            .parameters = "",
                            .variants = "",
                            .changes = "",
                            .bound = "",
                            .provenance = ""};
  fill_counts(s, out);
  out->provenance = device;
  out->ranking = s->ranking.why ? s->ranking.why : "";
  out->rows = rows;
  out->row_count = count;
  WS_TRY(ws__best_fill(s->archive, s->arena, &s->task, device, rows,
                       &out->archive_candidates, s->diag));
  if (*device)
    fill_geomeans(s, out, rows, device);
  if (!out->geomean_shapes)
    fill_geomeans(s, out, rows, WS_PROVENANCE_ESTIMATE);
  ws__bands_fill(s->archive, s->arena, &s->task, out);
  const char *start;
  WS_TRY(ws__confirm_start(s, &start));
  WS_TRY(ws__shipped_fill(s->archive, s->arena, &s->task, start,
                          s->options->held_out, out, s->diag));
  return *device ? ws__agreement(s->archive, s->arena, &s->task, device,
                                 &out->agreement, s->diag)
                 : WS_OK;
}

/* ---- the run ---- */
/* What has to be done elsewhere before the run can go on. */
static void say_what_is_awaited(ws_session *s, ws_tune_result *out) {
  if (s->ranking.batched)
    out->awaited = ws__ring_count(&s->ring, WS__JOB_TIMING);
  int rounds = s->rounds.count + (s->rounds.confirming > 0);
  out->awaited += s->rounds.confirming;
  if (!out->awaited)
    return;
  const char *folder = s->ranking.batched->folder;
  s->clock.stop = ws_arena_printf(
      s->arena,
      "round %d: %lld jobs in %s; run `wavesmith-device run %s` where the card "
      "is, bring %s/results.jsonl back, then repeat this command",
      rounds, (long long)out->awaited, folder, folder, folder);
}

static ws_status run(ws_session *s, ws_tune_result *out) {
  ws__progress progress;
  WS_TRY(ws__session_begin(s));
  ws__progress_init(&progress, s->options->json);
  ws_status status = loop(s, &progress);
  bool ended = s->rounds.awaits_answers || ws__signals_interrupted();
  if (status == WS_OK && !ended)
    status = finals(s, &progress);
  if (status == WS_OK && !ended && !ws__signals_interrupted()) {
    ws__profiles_take(s);
    status = ws__confirm(s, out);
  }
  say_what_is_awaited(s, out);
  show_progress(s, &progress, true);
  return status == WS_OK ? fill_result(s, out) : status;
}

ws_status ws_tune(const ws_tune_options *options, ws_arena *arena,
                  ws_tune_result *out_result, ws_diag *diag) {
  ws_session s = {.options = options, .arena = arena, .diag = diag};
  ws__clock_start(&s.clock, options->minutes);
  *out_result = (ws_tune_result){.stop = ""};
  s.proposing.strategy = ws__strategy_find(options->strategy, diag);
  if (!s.proposing.strategy)
    return WS_USAGE; /* before there is a session to end */
  ws__signals_catch();
  ws_status status = run(&s, out_result);
  ws__session_end(&s);
  ws__signals_restore();
  return status;
}
