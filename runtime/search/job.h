/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A job: a request on its way from question to candidate to build to device to
 * result; and the ring of jobs that are open, in the order of requests.
 */
#ifndef WAVESMITH_SEARCH_JOB_H
#define WAVESMITH_SEARCH_JOB_H

#include "plan.h"
#include "strategy.h"

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
  ws_prompt prompt;          /* by_model */
  ws_llm_answer answer;      /* likewise, from WS__JOB_ANSWERED on */
  ws_reply *reply;           /* NULL: could not be read */
  const char *template_text; /* that the reply makes; NULL: none */
  /* Where the reply held no candidate: why. "": it does. */
  const char *refused;
  bool replayed;          /* known from the archive */
  ws_build_result result; /* from WS__JOB_BUILT on */
  const char *twin_key;   /* likewise; NULL: not made yet */
  const double *bar_us;   /* leader's times when it was asked; NULL: none */
  ws__ranked ranked; /* from the device; verdict ok and no times: not run */
  bool was_ranked;
} ws__job;

/* Open jobs: those of the requests from `applied` to before `proposed`.
 * propose.c adds to them, apply.c takes the first. */
typedef struct ws__ring {
  ws__job *jobs; /* request i is at i % size */
  int size;
  int window; /* of jobs open at once, at most size */
  int64_t proposed, applied;
} ws__ring;

void ws__ring_init(ws__ring *ring, ws_arena *arena, int window);
void ws__ring_deinit(ws__ring *ring); /* with what its jobs hold */

static inline ws__job *ws__job_at(const ws__ring *ring, int64_t sequence) {
  return &ring->jobs[sequence % ring->size];
}

/* The first job that is not applied. */
static inline ws__job *ws__ring_first(const ws__ring *ring) {
  return ws__job_at(ring, ring->applied);
}

/* Open jobs in this state. */
int ws__ring_count(const ws__ring *ring, ws__job_state state);

/* A request that nobody has answered yet. */
ws__job ws__job_of(int64_t sequence, ws_arena *arena,
                   const ws__request *request);
/* One whose reply was given with it; its prompt is empty. */
ws__job ws__job_given(int64_t sequence, ws_arena *arena, ws_arena *keep,
                      const ws__request *request, const char *reply);
/* It has to be built now. source: the candidate's. */
void ws__job_set_candidate(ws__job *job, const ws_candidate *candidate,
                           const ws__source *source);

/* Frees what dies with a job. */
void ws__job_deinit(ws__job *job);

/* Arenas that outlive their jobs: of templates that replies brought, and of
 * documents. apply.c adds to them. */
typedef struct ws__kept {
  ws_arena **items;
  int count, capacity;
} ws__kept;

/* Takes a job's arena `keep` over; arena is for the list. */
void ws__kept_add(ws__kept *kept, ws_arena *arena, ws__job *job);
void ws__kept_deinit(ws__kept *kept);

#endif
