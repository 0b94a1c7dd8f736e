/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The device of a run that works in rounds: a batch (wavesmith/batch.h), which
 * is asked here and answered where the card is.
 */
#ifndef WAVESMITH_SEARCH_ROUNDS_H
#define WAVESMITH_SEARCH_ROUNDS_H

#include "plan.h"
#include "wavesmith/batch.h"

typedef struct ws__batched {
  ws_batch *batch;
  ws_arena *arena;
  const char *folder;
  const ws_target *target;
  const char *provenance; /* of its answers; "": there is none yet */
  bool simulated;         /* likewise */
  const char *differs;    /* likewise; ws_device_info's */
} ws__batched;

/* The rounds of a run. Written by propose.c and produce.c; confirming by
 * confirm.c. */
typedef struct ws__rounds {
  int size;            /* requests of one; 0: no rounds */
  int64_t end;         /* requests before it are of the round in hand */
  bool closed;         /* before that: nothing more can be asked now */
  bool asked;          /* something of this one was there to be timed */
  int count;           /* of rounds of which something was */
  int64_t confirming;  /* winners that wait for a batch, what they are
                        * compared with included */
  bool awaits_answers; /* the run ends because a batch has to be run */
} ws__rounds;

/* "batch:FOLDER"? */
bool ws__is_batch(const char *device);
ws_status ws__batched_open(ws_arena *arena, const char *device,
                           const ws_target *target, ws__batched **out,
                           ws_diag *diag) WS_MUST_CHECK;
void ws__batched_close(ws__batched *batched); /* NULL is allowed */

/* Asks for a job; *out_answered: the answer is of this run's card. */
ws_status ws__batched_request(ws__batched *batched, ws_arena *arena,
                              const ws_batch_job *job, bool *out_answered,
                              ws_batch_answer *out_answer,
                              ws_diag *diag) WS_MUST_CHECK;
/* Takes the answer to the whole plan, or asks for it: *out_answered false. */
ws_status ws__batched_ask(ws__batched *batched, ws__plan *plan,
                          bool *out_answered, ws_diag *diag) WS_MUST_CHECK;

#endif
