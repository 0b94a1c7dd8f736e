/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is known of a winner that time did not suffice for: it is not confirmed,
 * and not refuted either. And how far its coverage came, of any.
 */
#include "confirm.h"

static int count_covered(const ws__contest *who) {
  int verified = 0;
  for (int i = who->covering; i < who->answered && i < who->covered_end; i++)
    if (who->answers[i].verdict == WS_VERDICT_OK)
      verified += who->requests[i].workload_count;
  return verified;
}

ws_status ws__contest_keep_coverage(const ws__confirmation *c,
                                    const ws__contest *who) {
  const ws_measured *failure = ws__contest_failure(who);
  if (who->answered <= who->covering)
    return WS_OK;
  return ws__covering_keep(c->s->archive, c->arena, who->id,
                           c->s->trials.provenance, c->s->run.id,
                           &who->coverage, count_covered(who),
                           failure ? failure->reason : NULL, c->s->diag);
}

const char *ws__contest_describe_open(const ws__confirmation *c,
                                      const ws__contest *who) {
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
                         "next is %s",
                         done, wanted, ws_shape_text(c->s->arena, next));
}

void ws__confirm_leave_open(const ws__confirmation *c, const char *id,
                            const char *reason, ws_confirmation_row *row) {
  *row = (ws_confirmation_row){.candidate_id = ws_arena_strdup(c->s->arena, id),
                               .against_id = c->against_id,
                               .provenance = c->s->trials.provenance,
                               .run_id = c->s->run.id,
                               .verdict = WS_CONFIRMATION_OPEN,
                               .reason = reason,
                               .noise = c->noise};
}
