/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the answers about a winner say: how much it gains where, whether that is
 * more than noise, whether it stands. One that fails is refuted.
 */
#include "confirm.h"

#include <math.h>
#include <string.h>

const ws_measured *ws__contest_failure(const ws__contest *who) {
  for (int i = 0; i < who->answered; i++)
    if (who->answers[i].verdict != WS_VERDICT_OK)
      return &who->answers[i];
  return NULL;
}

static const ws_measured *time_on(const ws__contest *who, int shape) {
  for (int i = 0; i < who->answered; i++)
    if (who->shapes[i] == shape && who->answers[i].verdict == WS_VERDICT_OK &&
        who->answers[i].us > 0)
      return &who->answers[i];
  return NULL;
}

static double us_on(const ws__confirmation *c, const ws__contest *who,
                    int shape) {
  const ws_measured *answer = time_on(who, shape);
  return answer ? answer->us : ws__contest_recorded_us(c, who, shape);
}

/* ln of the speed-up over what the run began with; NAN: not known. */
static double gain_on(const ws__confirmation *c, const ws__contest *who,
                      int shape) {
  const ws_measured *own = time_on(who, shape);
  if (own && own->ratio > 0)
    return -log(own->ratio);
  return c->simulated
             ? log(us_on(c, &c->reference, shape) / us_on(c, who, shape))
             : NAN;
}

/* Over [begin, end), or those of it in `among`; 0: none. */
static double speedup(const ws__confirmation *c, const ws__contest *who,
                      int begin, int end, const bool *among) {
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

void ws__confirm_find_noise(ws__confirmation *c) {
  for (int i = 0; i < c->shape_count; i++) {
    double gain = gain_on(c, &c->reference, i);
    if (isfinite(gain))
      c->noise = fmax(c->noise, fabs(gain));
  }
}

/* Of a specialist where it is chosen: elsewhere nobody meets it. */
static void find_worst(const ws__confirmation *c, const ws__winner *w,
                       const ws__contest *who, ws_confirmation_row *row) {
  const ws_shape *shape = NULL;
  row->worst_speedup = 0;
  for (int i = 0; i < c->shape_count; i++) {
    double one = exp(gain_on(c, who, i));
    if (w->shapes && w->somewhere && (i >= c->search_count || !w->shapes[i]))
      continue;
    if (isfinite(one) && (!shape || one < row->worst_speedup)) {
      row->worst_speedup = one;
      shape = &c->shapes[i];
    }
  }
  if (shape && row->worst_speedup < 1 && !*row->reason)
    row->reason = ws_arena_printf(
        c->s->arena, "slower than what the run began with on %s: %.3f x",
        ws_shape_text(c->s->arena, shape), row->worst_speedup);
}

/* A specialist has to gain where it is chosen; who gains overall, or is chosen
 * on none of the search's shapes, has to do so on held-out shapes. */
static void decide(const ws__confirmation *c, const ws__winner *w,
                   const ws__contest *who, ws_confirmation_row *row) {
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

ws_status ws__contest_keep_times(const ws__confirmation *c,
                                 const ws__contest *who) {
  ws_measurement *items =
      ws_arena_alloc(c->arena, sizeof *items * (size_t)(c->shape_count + 1));
  int count = 0;
  for (int i = 0; i < c->shape_count; i++) {
    const ws_measured *one = time_on(who, i);
    bool wanted = i >= c->search_count ||
                  (c->simulated && isnan(ws__contest_recorded_us(c, who, i)));
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

ws_status ws__contest_refute(ws__confirmation *c, const char *id,
                             ws_verdict verdict, const char *reason) {
  c->s->trials.refuted++;
  return ws_archive_refute(c->s->archive, id, ws_verdict_text(verdict), reason,
                           c->s->diag);
}

static ws_status refute(ws__confirmation *c, ws_confirmation_row *row,
                        ws_verdict verdict, const char *reason) {
  row->verdict = ws_verdict_text(verdict);
  row->reason = ws_arena_strdup(c->s->arena, reason);
  return ws__contest_refute(c, row->candidate_id, verdict, reason);
}

/* A kernel is the reference, and says nothing of some shapes. */
static void note_uncompared(const ws__confirmation *c, const ws__contest *who,
                            ws_confirmation_row *row) {
  int count = 0;
  for (int i = 0; i < who->answered; i++)
    count += who->answers[i].uncompared_shapes;
  c->s->trials.uncompared += count;
  if (count)
    row->reason = ws_arena_printf(
        c->s->arena,
        "%s%son %d shapes nothing was compared: kernel %s does not take them, "
        "or takes too long",
        row->reason, *row->reason ? "; " : "", count,
        c->s->task.problem->kernel->file);
}

ws_status ws__contest_judge(ws__confirmation *c, const ws__winner *w,
                            const ws__contest *who, ws_confirmation_row *row,
                            bool *out_done) {
  ws_session *s = c->s;
  ws_build_result sanitized;
  const ws_measured *failure = ws__contest_failure(who);
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
  WS_TRY(ws__contest_sanitize(c, who, &sanitized));
  *out_done = !ws__clock_is_over(&s->clock);
  if (!*out_done)
    return WS_OK;
  if (sanitized.verdict != WS_VERDICT_OK)
    return refute(c, row, sanitized.verdict, sanitized.reason);
  row->search_speedup = speedup(c, who, 0, c->search_count, NULL);
  row->held_out_speedup =
      speedup(c, who, c->search_count, c->shape_count, NULL);
  for (int i = 0; i < c->search_count; i++)
    row->chosen_shapes += w->shapes && w->shapes[i];
  if (row->chosen_shapes)
    row->chosen_speedup = speedup(c, who, 0, c->search_count, w->shapes);
  decide(c, w, who, row);
  find_worst(c, w, who, row);
  note_uncompared(c, who, row);
  return ws__contest_keep_times(c, who);
}
