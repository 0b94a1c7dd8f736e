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
#include "confirm.h"

#include <string.h>

/* Against the same incumbent on the same device it is not done twice. */
static ws_status find_earlier(ws__confirmation *c, const char *id,
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

static ws_status ask_reference(ws__confirmation *c) {
  const bool *nowhere =
      ws_arena_alloc(c->arena, (size_t)c->s->task.shape_count);
  WS_TRY(ws__contest_load(c, c->against_id, &c->reference));
  /* Times of unverified code are not kept. */
  if (!ws__contest_was_timed(c, &c->reference))
    ws__contest_add_edges(c, &c->reference);
  ws__contest_add_times(c, &c->reference, c->simulated ? nowhere : NULL);
  return ws__contest_ask(c, &c->reference, &c->has_reference);
}

/* Nothing is compared with what is wrong, as long as there is something else.
 */
static ws_status find_reference(ws__confirmation *c) {
  const char *asked = "";
  while (strcmp(asked, c->against_id)) {
    asked = c->against_id;
    WS_TRY(ask_reference(c));
    const ws_measured *failure = ws__contest_failure(&c->reference);
    if (!c->has_reference || !failure)
      return WS_OK;
    ws_log(WS_LOG_WARN, "what the run began with, %s, is %s on the device: %s",
           asked, ws_verdict_text(failure->verdict), failure->reason);
    WS_TRY(ws__contest_refute(c, asked, failure->verdict, failure->reason));
    WS_TRY(ws__confirm_start(c->s, &c->against_id));
  }
  return WS_OK;
}

/* On a fresh server: whatever the search did to the device is not seen. */
static ws_status prepare(ws__confirmation *c) {
  if (c->prepared)
    return WS_OK;
  c->prepared = true;
  if (!c->s->ranking.batched)
    ws_device_client_renew(c->s->trials.client);
  ws__confirm_pick_shapes(c);
  WS_TRY(find_reference(c));
  if (c->has_reference && !c->simulated)
    ws__confirm_find_noise(c);
  return c->has_reference && !ws__contest_failure(&c->reference)
             ? ws__contest_keep_times(c, &c->reference)
             : WS_OK;
}

static ws_status confirm_one(ws__confirmation *c, const ws__winner *w,
                             ws_confirmation_row *row, bool *out_done) {
  ws__contest who;
  WS_TRY(find_earlier(c, w->id, row, out_done));
  if (*out_done)
    return WS_OK;
  ws__confirm_leave_open(
      c, w->id, "not confirmed: time ended before it was looked at", row);
  if (!ws__clock_is_over(&c->s->clock))
    WS_TRY(prepare(c));
  if (ws__clock_is_over(&c->s->clock))
    return WS_OK;
  WS_TRY(ws__contest_load(c, w->id, &who));
  ws__contest_add_verifications(c, w, &who);
  ws__contest_add_times(c, &who, w->shapes);
  WS_TRY(ws__contest_ask(c, &who, out_done));
  WS_TRY(ws__contest_keep_coverage(c, &who));
  *out_done = *out_done && c->has_reference;
  if (*out_done)
    WS_TRY(ws__contest_judge(c, w, &who, row, out_done));
  if (!*out_done)
    ws__confirm_leave_open(c, w->id, ws__contest_describe_open(c, &who), row);
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

static ws_status confirm_these(ws__confirmation *c, const ws__winner *winners,
                               int winner_count, ws_confirmation_row *rows,
                               int *count) {
  for (int i = 0; i < winner_count; i++) {
    bool done;
    if (!strcmp(winners[i].id, c->against_id) ||
        is_among(rows, *count, winners[i].id) ||
        is_among(c->awaited, c->awaited_count, winners[i].id))
      continue;
    WS_TRY(confirm_one(c, &winners[i], &rows[*count], &done));
    if (done || !c->s->ranking.batched)
      ++*count;
    else
      c->awaited[c->awaited_count++] = rows[*count];
  }
  return WS_OK;
}

/* The start's times are kept, and may change what is chosen. */
static ws_status prepare_if_needed(ws__confirmation *c,
                                   const ws__winner *winners, int count) {
  bool found = true;
  for (int i = 0; i < count && found; i++) {
    ws_confirmation_row row;
    if (strcmp(winners[i].id, c->against_id))
      WS_TRY(find_earlier(c, winners[i].id, &row, &found));
  }
  return found || ws__clock_is_over(&c->s->clock) ? WS_OK : prepare(c);
}

/* In place of one that was refuted another is shipped, and times that are kept
 * on the way may change the choice: picked anew until nobody is new. */
static ws_status confirm_all(ws__confirmation *c, ws_tune_result *out) {
  enum { PICKS = 8 };
  ws__winner winners[WS__MOST_WINNERS];
  int count, before = -1;
  const size_t room = sizeof(ws_confirmation_row) * WS__MOST_WINNERS * PICKS;
  ws_confirmation_row *rows = ws_arena_alloc(c->s->arena, room);
  out->confirmations = rows;
  c->awaited = ws_arena_alloc(c->arena, room);
  WS_TRY(ws__winners_pick(c, winners, &count));
  WS_TRY(prepare_if_needed(c, winners, count));
  for (int i = 0; i < PICKS && before < out->confirmation_count; i++) {
    before = out->confirmation_count;
    WS_TRY(ws__winners_pick(c, winners, &count));
    WS_TRY(confirm_these(c, winners, count, rows, &out->confirmation_count));
  }
  return WS_OK;
}

static ws_status is_refuted(const ws_session *s, const char *id, bool *out) {
  bool found;
  ws_candidate_row row;
  WS_TRY(ws_archive_get_candidate(s->archive, s->arena, id, &found, &row,
                                  s->diag));
  *out = found && strcmp(row.verdict, ws_verdict_text(WS_VERDICT_OK));
  return WS_OK;
}

/* Rather than a baseline that is there to be beaten. What the search has learned
 * of a candidate stays as it was when a device refutes it beside the search. */
ws_status ws__confirm_start(const ws_session *s, const char **out_id) {
  const ws__knowledge *k = &s->knowledge;
  *out_id = k->reference >= 0 ? k->results[k->reference].id : NULL;
  for (int i = 0; i < k->count; i++) {
    bool refuted = true;
    if (ws__knowledge_is_parent(k, i) &&
        strcmp(k->results[i].request.origin, "baseline"))
      WS_TRY(is_refuted(s, k->results[i].id, &refuted));
    if (!refuted) {
      *out_id = k->results[i].id;
      return WS_OK;
    }
  }
  return WS_OK;
}

/* What the run found is kept, also where this cannot be done. */
ws_status ws__confirm(ws_session *s, ws_tune_result *out) {
  ws__confirmation c = {.s = s};
  bool has_device = s->trials.client ||
                    (s->ranking.batched && *s->ranking.batched->provenance);
  WS_TRY(ws__confirm_start(s, &c.against_id));
  if (!has_device || !c.against_id)
    return WS_OK;
  c.arena = ws_arena_create();
  c.simulated = ws__ranking_simulates(&s->ranking);
  ws_status status = confirm_all(&c, out);
  if (status != WS_OK && status != WS_REFERENCE)
    ws_log(WS_LOG_WARN, "winners are not confirmed: %s", s->diag->text);
  if (c.compiler)
    ws_compiler_stop(c.compiler);
  ws_arena_destroy(c.arena);
  return status == WS_REFERENCE ? status : WS_OK;
}
