/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The engine's state. Requests are jobs in a ring; a job goes from question to
 * candidate to build to device to result, many at a time, and results are
 * applied, and candidates recorded, in the order of requests. So what is asked
 * next depends on the seed, the answers and the results alone, not on how many
 * servers work on it, how fast, or whether the run was cut: resuming is asking
 * the same and finding the answers in the archive. What is expensive (answers,
 * builds, times) is recorded as it arrives, whatever its place: a kill loses
 * what the servers and models have in hand and nothing else.
 *
 * In rounds (--round) requests are made N at a time, all from the same results,
 * and applied when the round is full. So a batch, which is answered elsewhere
 * and later, and a device that answers at once give the same run.
 *
 * One thread. Parts: propose.c makes jobs, answers.c and reading.c give them
 * their candidates, produce.c has them built and timed, apply.c learns from
 * them, moves.c follows up what models brought; tune.c and outside.c drive.
 * Each field's type stands, with who writes it, in the header of its part.
 */
#ifndef WAVESMITH_SEARCH_SESSION_H
#define WAVESMITH_SEARCH_SESSION_H

#include "brief.h"
#include "clock.h"
#include "job.h"
#include "judge.h"
#include "models.h"
#include "pool.h"
#include "progress.h"
#include "proposing.h"
#include "ranking.h"
#include "sources.h"
#include "trials.h"

/* Which run of the archive it is. Set when the session begins. */
typedef struct ws__run {
  int64_t id;
  int lock; /* descriptor; -1: none */
} ws__run;

typedef struct ws__start {
  const ws_candidate *candidate;
  const char *origin; /* "default", "start", "point" */
  const char *given;  /* the option's text; "" for none */
} ws__start;

/* What it begins with, after the baseline. Set when the session begins. */
typedef struct ws__starts {
  ws__start *items;
  int count;
  bool told; /* the knowledge has those that may be built upon */
} ws__starts;

struct ws_session {
  const ws_tune_options *options;
  ws_arena *arena;
  ws_diag *diag; /* of the call in progress */
  ws_archive *archive;
  /* what it is */
  ws__run run;
  ws__task task;
  ws__starts starts;
  ws__clock clock;
  /* who works for it */
  ws__pool pool;
  ws__models models;
  ws__ranking ranking;
  ws__judge judge;
  ws__trials trials; /* the device beside a search by estimates */
  /* what is under way */
  ws__ring ring;
  ws__rounds rounds;
  ws__proposing proposing;
  ws__due repairs;
  ws__moves moves;
  /* what is known */
  ws__knowledge knowledge;
  ws__sources sources;
  ws__kept kept;
  ws__counts counts;
};

/* session.c */
ws_status ws__session_begin(ws_session *s) WS_MUST_CHECK;
void ws__session_end(ws_session *s);

/* run.c: whether the archive takes its results, before any work; finds or
 * begins it there. */
ws_status ws__run_check(ws_session *s) WS_MUST_CHECK;
ws_status ws__run_begin(ws_session *s) WS_MUST_CHECK;
/* ws_run_compared_text of it. */
const char *ws__run_compared(const ws_session *s);
void ws__run_end(ws__run *run);

/* starts.c */
ws_status ws__starts_read(ws_session *s) WS_MUST_CHECK;
/* Some are not judged yet that have to be before anything else is asked. */
bool ws__starts_are_open(const ws_session *s);
/* The knowledge, of those that are right; the first call counts. */
void ws__starts_tell(ws_session *s);
/* Says so if the request was a start of the user's and is not right. */
void ws__starts_report(const ws_session *s, int64_t sequence,
                       const ws__judgement *judgement);

/* propose.c */
bool ws__may_propose(const ws_session *s);
/* In rounds: requests of the round in hand are still to be made, so nothing is
 * applied. */
bool ws__round_is_open(const ws_session *s);
/* Makes requests as long as the window and the strategy let it. */
ws_status ws__fill_window(ws_session *s) WS_MUST_CHECK;
/* Makes the next job, if the strategy has one now; *out_made tells. */
ws_status ws__propose(ws_session *s, bool *out_made) WS_MUST_CHECK;
/* A job for a request and a reply that are there already. */
ws_status ws__propose_given(ws_session *s, const ws__request *request,
                            const char *reply) WS_MUST_CHECK;
/* Of what the run knows now. */
ws__brief ws__session_brief(const ws_session *s);
ws_status ws__render_prompt(ws_session *s, ws_arena *arena,
                            const ws__request *request,
                            ws_prompt *out_prompt) WS_MUST_CHECK;
/* The function of the region that a request aims at; "": any. */
const char *ws__request_region(const ws_session *s, const ws__request *request);
/* What a reply's edits apply to: the parent; of a repair of a reply that held
 * no candidate, what that was meant to change. NULL: nothing was there. */
const ws_candidate *ws__request_base(const ws__knowledge *knowledge,
                                     const ws__request *request);

/* moves.c */
/* Looks at a result that was added: begins a climb, or goes on with one. */
void ws__moves_learn(ws_session *s, const ws__job *job, int result);
bool ws__moves_are_due(const ws_session *s);
/* The next one that has a candidate; false: none of those due has. */
bool ws__moves_next(ws_session *s, ws__request *out_request,
                    ws_candidate **out_candidate, const char **out_move);

/* answers.c: takes answers that have come; turns answers into candidates. */
ws_status ws__take_answers(ws_session *s) WS_MUST_CHECK;

/* reading.c: one job's way from answer to candidate (WS__JOB_WAITING), or to
 * none (WS__JOB_DONE: a document, or refused). A template has to wait for a
 * server that has time to read it: the job's state is as it was. */
ws_status ws__read_answer(ws_session *s, ws__job *job) WS_MUST_CHECK;

/* produce.c */
/* What a compile server is asked about a job's candidate. runs: room. */
ws_build_request ws__build_request(const ws_session *s, const ws__job *job,
                                   ws_run runs[WS_STANDARD_RUNS]);
/* The archive's build of a job's candidate becomes its result, unless it has to
 * be timed and its code object is not there (an import). */
ws_status ws__find_build(ws_session *s, ws__job *job,
                         bool *out_found) WS_MUST_CHECK;
/* All that is open waits for the answers of a batch. */
bool ws__awaits_batch(const ws_session *s);
/* Gives servers and device what waits for them. */
ws_status ws__produce(ws_session *s) WS_MUST_CHECK;
/* Waits at most timeout_ms for one of them. */
ws_status ws__produce_wait(ws_session *s, int timeout_ms) WS_MUST_CHECK;

/* apply.c */
/* Whether there is nothing to build and judge: it brought no candidate, or one
 * that the run had. What becomes of it then. */
bool ws__job_is_settled(const ws_session *s, const ws__job *job,
                        ws_verdict *out_verdict, const char **out_reason);
/* Applies the first job if it is done. */
ws_status ws__apply_next(ws_session *s, bool *out_applied) WS_MUST_CHECK;

/* confirm.c: winners again, in a fresh process and on held-out shapes.
 * WS_REFERENCE; what fails otherwise is only said. */
ws_status ws__confirm(ws_session *s, ws_tune_result *out) WS_MUST_CHECK;
/* What the run began with, which winners are compared with: the first with times
 * that no device has refuted, else its baseline. NULL: nothing that has times.
 */
ws_status ws__confirm_start(const ws_session *s,
                            const char **out_id) WS_MUST_CHECK;

/* outside.c: a request of who proposes from outside. parents: ids, or their
 * first digits; none: the leader. WS_INPUT: the session does not know them. */
ws_status ws__request_outside(const ws_session *s, ws_request_kind kind,
                              const char *const *parents, int count,
                              ws__request *out) WS_MUST_CHECK;

/* claims.c: what a reply claimed, with what was measured; "" for nothing. */
ws_status ws__claims_json(ws_session *s, ws_arena *arena, const ws__job *job,
                          const ws__result *result, const ws__result *parent,
                          const char **out_json) WS_MUST_CHECK;

#endif
