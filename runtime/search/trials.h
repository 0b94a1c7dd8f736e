/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Trials: what of a tuning run's candidates goes to the device, when, and what
 * becomes of it. Which does: trials.c.
 */
#ifndef WAVESMITH_SEARCH_TRIALS_H
#define WAVESMITH_SEARCH_TRIALS_H

#include "judge.h"
#include "wavesmith/measure.h"

typedef enum ws__trial_state {
  WS__TRIAL_NEW,
  WS__TRIAL_VERIFIED,
  WS__TRIAL_REFUTED, /* wrong on the device, or the device cannot run it */
} ws__trial_state;

typedef struct ws__trial_candidate {
  const char *id;
  ws__trial_state state;
  bool large_checked;  /* in this run */
  double *estimate_us; /* by shape of the trials; INFINITY: none */
  double *device_us;   /* by shape; INFINITY: none yet */
} ws__trial_candidate;

/* One request in hand. A simulator has several in the finals, a server each. */
typedef struct ws__trial_slot {
  ws_device_client *client; /* NULL: not there */
  int candidate, shape;     /* candidate -1: none; shape < 0: verify */
  ws_arena *arena;          /* of what is in hand */
  double sent_ms;
} ws__trial_slot;

typedef struct ws__trials {
  ws_device_client *client;                /* NULL: there is no device */
  ws__trial_slot slots[WS_DEVICE_CLIENTS]; /* the first is the client's */
  ws_archive *archive;
  ws_arena *arena;
  const ws__task *task;
  const char *provenance; /* of the device; "" for none */
  const ws_shape *shapes; /* the task's, then those beside them */
  int shape_count;
  ws__trial_candidate *items;
  int count, capacity;
  double *best_estimate_us; /* by shape */
  const int *finalists;     /* NULL: the search goes on */
  double *finals_best_us;   /* by shape: their best estimate */
  int finalist_count;
  int baseline;  /* an item; -1: none, or the search goes on */
  int large;     /* shape that finalists are verified on, too */
  bool explains; /* a time came with a profile */
  double start_ms, finals_ms, busy_ms;
  double baseline_ms; /* of busy_ms */
  int64_t timed, verified, refuted;
  int64_t uncompared;     /* pairs of candidate and shape, by a kernel */
  int64_t refuted_before; /* the finalists were picked */
  int failures;           /* of the device, in a row */
} ws__trials;

/* client: borrowed; NULL: no device. */
void ws__trials_init(ws__trials *trials, ws_arena *arena, ws_archive *archive,
                     const ws__task *task, ws_device_client *client);
void ws__trials_stop(ws__trials *trials);

/* A candidate of which estimates are known. */
ws_status ws__trials_note(ws__trials *trials, const char *id,
                          const double *estimate_us,
                          ws_diag *diag) WS_MUST_CHECK;
/* Takes an answer that has come, sends the next trial when there is one and
 * the device may be busy. Never waits. */
ws_status ws__trials_step(ws__trials *trials, ws_diag *diag) WS_MUST_CHECK;
bool ws__trials_is_busy(const ws__trials *trials); /* something is in hand */
/* To be polled for reading; -1: nothing is in hand there. */
void ws__trials_descriptors(const ws__trials *trials,
                            int out_descriptors[WS_DEVICE_CLIENTS]);

/* From now on the finalists are timed on all shapes, one after the other. */
ws_status ws__trials_begin_finals(ws__trials *trials,
                                  ws_diag *diag) WS_MUST_CHECK;
/* False: all that was to be tried is done. */
bool ws__trials_pending(const ws__trials *trials);

#endif
