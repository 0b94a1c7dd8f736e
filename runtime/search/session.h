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
 * One thread. Parts: propose.c makes jobs and their candidates, produce.c has
 * them built and timed, apply.c learns from them; tune.c and outside.c drive.
 */
#ifndef WAVESMITH_SEARCH_SESSION_H
#define WAVESMITH_SEARCH_SESSION_H

#include "bandit.h"
#include "brief.h"
#include "devices.h"
#include "judge.h"
#include "pool.h"
#include "progress.h"
#include "ranker.h"
#include "rounds.h"
#include "table.h"
#include "trials.h"

typedef enum ws__job_state {
  WS__JOB_ASKED,    /* a model has the question */
  WS__JOB_ANSWERED, /* its reply has to become a candidate */
  WS__JOB_WAITING,  /* for a compile server */
  WS__JOB_BUILDING,
  WS__JOB_BUILT,  /* to be timed, if it must be */
  WS__JOB_TIMING, /* a device has it, or a batch */
  WS__JOB_DONE
} ws__job_state;

typedef struct ws__job {
  ws__job_state state;
  int64_t sequence;
  ws_arena *arena; /* of what dies with the job */
  ws_arena *keep;  /* of the reply and its candidate; NULL: the session's */
  ws__request request;
  const ws_candidate *candidate; /* NULL: none (yet) */
  const ws__source *source;      /* the candidate's */
  const char *move;              /* in words */
  bool by_model;
  ws_prompt prompt;     /* by_model */
  ws_llm_answer answer; /* likewise, from WS__JOB_ANSWERED on */
  ws_reply *reply;      /* NULL: could not be read */
  /* Where the reply held no candidate: why. "": it does. */
  const char *refused;
  bool replayed;          /* known from the archive */
  ws_build_result result; /* from WS__JOB_BUILT on */
  const char *twin_key;   /* likewise; NULL: not made yet */
  const double *bar_us;   /* leader's times when it was asked; NULL: none */
  ws__ranked ranked; /* from the device; verdict ok and no times: not run */
  bool was_ranked;
} ws__job;

typedef struct ws__start {
  const ws_candidate *candidate;
  const char *origin; /* "default", "start", "point" */
} ws__start;

struct ws_session {
  const ws_tune_options *options;
  ws_arena *arena;
  ws_diag *diag; /* of the call in progress */
  ws_archive *archive;
  int64_t run_id;
  int lock; /* descriptor; -1: none */
  ws__pool pool;
  ws__task task;
  bool rank_by_device;
  ws__judge judge;
  ws__devices devices;
  ws__trials trials;
  ws__schedule schedule;
  ws__ranker *rankers; /* of each device; none: not ranking by its kernels */
  int ranker_count;
  ws__batched *batched; /* NULL: no batch; else in place of rankers */
  ws__table *table;     /* NULL: no table */
  ws_llm *llm;          /* NULL: the built-in proposer alone */
  const ws_prompts *prompts;
  ws__bandit *bandit;
  ws__seen seen, applied_ids;
  ws__knowledge knowledge;
  const ws__strategy *strategy; /* NULL: requests come from outside */
  void *strategy_state;
  ws_rng rng;
  ws__request *queue; /* repairs, first in first out */
  int queue_begin, queue_end, queue_capacity;
  ws__start *start; /* to begin with, after the baseline */
  int start_count;
  ws__job *jobs; /* request i is at i % ring */
  int ring;
  int window;    /* of jobs open at once, at most ring */
  int in_flight; /* of questions open at once */
  int round;     /* requests of one round; 0: no rounds */
  /* In rounds: requests before round_end are of the one in hand. */
  int64_t round_end;
  bool round_closed;   /* before that: nothing more can be asked now */
  int rounds;          /* in which something was there to be timed */
  bool round_asked;    /* this one is such a round */
  int64_t confirming;  /* winners that wait for a batch, what they are
                        * compared with included */
  bool awaits_answers; /* it ends because a batch has to be run */
  int64_t proposed, applied;
  int64_t candidates; /* requests so far that want one */
  double start_ms, deadline_ms;
  double search_end_ms; /* the rest is for the finals on the device */
  double finals_end_ms; /* the rest is for confirming winners */
  bool no_more;         /* nothing is left to ask */
  const char *stop;     /* why it ends early, in words; "" */
  bool model_reached;   /* by a question of this process */
  int model_failures;   /* in a row */
  ws_arena **kept;      /* arenas of candidates that are remembered */
  int kept_count, kept_capacity;
  const ws__source **sources; /* of the run's templates */
  int source_count, source_capacity;
  int64_t evaluated, replayed, documents, refused;
  int64_t verdicts[WS_VERDICT_COUNT];
};

static inline ws__job *ws__job_at(const ws_session *s, int64_t sequence) {
  return &s->jobs[sequence % s->ring];
}

/* Is what is built also timed before it counts? */
static inline bool ws__times_builds(const ws_session *s) {
  return s->ranker_count > 0 || s->batched;
}

/* session.c */
ws_status ws__session_begin(ws_session *s) WS_MUST_CHECK;
void ws__session_end(ws_session *s);
void ws__session_add_source(ws_session *s, const ws__source *source);
const ws__source *ws__session_source(const ws_session *s,
                                     const ws_template *tmpl);
/* Its device, which there is, simulates. */
bool ws__session_simulates(const ws_session *s);
/* A batch has said whose its times are. */
void ws__session_meet_device(ws_session *s);
/* Interrupted, out of time, or stopped. */
bool ws__session_must_end(const ws_session *s);

/* signals.c: Ctrl-C ends a session cleanly. */
void ws__signals_catch(void);
void ws__signals_restore(void);
int ws__signals_interrupted(void); /* by which signal; 0: not */

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
ws_status ws__render_prompt(ws_session *s, ws_arena *arena,
                            const ws__request *request,
                            ws_prompt *out_prompt) WS_MUST_CHECK;
/* The function of the region that a request aims at; "": any. */
const char *ws__request_region(const ws_session *s, const ws__request *request);
/* Takes answers that have come; turns answers into candidates. */
ws_status ws__take_answers(ws_session *s) WS_MUST_CHECK;

/* produce.c */
/* All that is open waits for the answers of a batch. */
bool ws__awaits_batch(const ws_session *s);
/* Gives servers and device what waits for them. */
ws_status ws__produce(ws_session *s) WS_MUST_CHECK;
/* Waits at most timeout_ms for one of them. */
ws_status ws__produce_wait(ws_session *s, int timeout_ms) WS_MUST_CHECK;

/* apply.c */
/* Applies the first job if it is done. */
ws_status ws__apply_next(ws_session *s, bool *out_applied) WS_MUST_CHECK;

/* confirm.c: winners again, in a fresh process and on held-out shapes. */
void ws__confirm(ws_session *s, ws_tune_result *out);
/* What the run began with, which winners are compared with; NULL: nothing that
 * has times. */
const char *ws__confirm_start(const ws_session *s);

/* claims.c: what a reply claimed, with what was measured; "" for nothing. */
ws_status ws__claims_json(ws_session *s, ws_arena *arena, const ws__job *job,
                          const ws__result *result, const ws__result *parent,
                          const char **out_json) WS_MUST_CHECK;

#endif
