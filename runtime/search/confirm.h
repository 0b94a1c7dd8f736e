/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Confirming winners, in parts: who (confirm_who.c), what is asked
 * (confirm_plan.c), asking (confirm_ask.c), deciding (confirm_decide.c),
 * leaving open (confirm_open.c); confirm.c takes one winner after the other
 * through these. Internal to them. One thread.
 */
#ifndef WAVESMITH_SEARCH_CONFIRM_H
#define WAVESMITH_SEARCH_CONFIRM_H

#include "covering.h"
#include "session.h"

enum {
  WS__MOST_WINNERS = 17, /* the largest portfolio, and the leader */
  WS__CONFIRM_WALL_MS = 60000
};

/* All that is asked about one candidate, with the answers. Its requests are
 * written by confirm_plan.c, its answers by confirm_ask.c. */
typedef struct ws__contest {
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
} ws__contest;

/* What all winners of a run have in common. Prepared by confirm.c. */
typedef struct ws__confirmation {
  ws_session *s;
  ws_arena *arena;
  ws_compiler *compiler; /* NULL: not started yet */
  bool prepared, simulated;
  const ws_shape *shapes; /* the search's, then held-out ones */
  int shape_count, search_count;
  const char *against_id;
  ws__contest reference;
  bool has_reference; /* its answers are there */
  double noise;
  ws_confirmation_row *awaited; /* winners whose answers a batch is to bring */
  int awaited_count;
} ws__confirmation;

typedef struct ws__winner {
  const char *id;
  const bool *shapes; /* of the search: which it is chosen for; NULL: all */
  bool somewhere;     /* on any of them that is asked about */
} ws__winner;

/* ---- confirm_who.c ---- */
/* The time may end before all are done. On a card those that gain most come
 * first; on a simulator, where a large shape takes as long as several winners,
 * those that take least, so that most are done. */
ws_status ws__winners_pick(ws__confirmation *c,
                           ws__winner winners[WS__MOST_WINNERS],
                           int *out_count) WS_MUST_CHECK;

/* ---- confirm_plan.c ---- */
/* Whether winners are looked at on this shape of the search: of a large set on
 * a few, scattered over it. */
bool ws__confirm_is_asked(const ws__task *task, int shape);
void ws__confirm_pick_shapes(ws__confirmation *c);
/* A candidate of the archive, with room for what is to be asked. */
ws_status ws__contest_load(const ws__confirmation *c, const char *id,
                           ws__contest *out) WS_MUST_CHECK;
void ws__contest_add_edges(const ws__confirmation *c, ws__contest *who);
/* Edges, a coverage, a held-out shape by samples, and of the search's those it
 * is chosen for, or one. */
void ws__contest_add_verifications(const ws__confirmation *c,
                                   const ws__winner *w, ws__contest *who);
/* again: of the search's shapes those that are timed also where a time is
 * recorded; NULL: all of them. Held-out ones are, for a winner. */
void ws__contest_add_times(const ws__confirmation *c, ws__contest *who,
                           const bool *again);
/* In the search, and so verified before. */
bool ws__contest_was_timed(const ws__confirmation *c, const ws__contest *who);
/* What a simulator said of a launch it would say again: its clock is a function
 * of that. NAN: nothing, or a card's, which is taken anew. */
double ws__contest_recorded_us(const ws__confirmation *c,
                               const ws__contest *who, int shape);

/* ---- confirm_ask.c ---- */
/* *out_done: false when time ran out on the way, or a batch has no answer yet.
 */
ws_status ws__contest_ask(ws__confirmation *c, ws__contest *who,
                          bool *out_done) WS_MUST_CHECK;
/* A few workgroups of every shape of the search, at random places, lane by lane
 * on the CPU: what was checked so far were small shapes. And of shapes whose
 * offsets need more than 32 bits. OK where there is no sanitizer, or time ran
 * out. */
ws_status ws__contest_sanitize(ws__confirmation *c, const ws__contest *who,
                               ws_build_result *out) WS_MUST_CHECK;

/* ---- confirm_decide.c ---- */
/* The first answer that is not ok; NULL: there is none. */
const ws_measured *ws__contest_failure(const ws__contest *who);
/* What the reference gains beside itself is the noise. */
void ws__confirm_find_noise(ws__confirmation *c);
/* Times on held-out shapes are of use to a dispatch's rules; a simulator's on
 * the search's, where there were none, are not to be asked for again. */
ws_status ws__contest_keep_times(const ws__confirmation *c,
                                 const ws__contest *who) WS_MUST_CHECK;
/* Of the winner or of what the run began with. */
ws_status ws__contest_refute(ws__confirmation *c, const char *id,
                             ws_verdict verdict,
                             const char *reason) WS_MUST_CHECK;
/* *out_done: false when time ran out on the way. */
ws_status ws__contest_judge(ws__confirmation *c, const ws__winner *w,
                            const ws__contest *who, ws_confirmation_row *row,
                            bool *out_done) WS_MUST_CHECK;

/* ---- confirm_open.c ---- */
/* What of the coverage was asked and right is kept, also of one that failed. */
ws_status ws__contest_keep_coverage(const ws__confirmation *c,
                                    const ws__contest *who) WS_MUST_CHECK;
/* How far the whole runs came, in words. */
const char *ws__contest_describe_open(const ws__confirmation *c,
                                      const ws__contest *who);
/* Time has ended: it is not confirmed, and not refuted either. */
void ws__confirm_leave_open(const ws__confirmation *c, const char *id,
                            const char *reason, ws_confirmation_row *row);

#endif
