/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith-device run FOLDER`: does a batch's jobs (wavesmith/batch.h).
 * run_batch.c has the options and what is said, run_workers.c the work.
 */
#ifndef WAVESMITH_DEVICE_RUN_BATCH_H
#define WAVESMITH_DEVICE_RUN_BATCH_H

#include "batch_internal.h"

#include <pthread.h>

/* argv[0] is "run". Returns the program's exit code. */
int ws__device_run_batch(int argc, char **argv);

/* ---- inside ---- */
typedef struct ws__run_options {
  const char *folder, *device, *gpus; /* device NULL: the batch's own */
  double minutes;                     /* 0: without a limit */
  bool help;
} ws__run_options;

struct ws__run;
/* A device server, the thread that asks it, and the job in hand. */
typedef struct ws__run_worker {
  struct ws__run *run;
  const char *kind; /* "cuda:1" */
  ws_device_client *client;
  pthread_t thread;
  ws__batch_entry *entry;
  ws_arena *arena; /* of the job */
  ws_batch_job job;
  ws_measured *measured;
  int done; /* steps */
} ws__run_worker;

enum { WS__RUN_MOST_WORKERS = 64 };
typedef struct ws__run {
  const ws__run_options *options;
  ws__batch_index index;
  int results; /* descriptor */
  ws_arena *arena;
  ws__run_worker workers[WS__RUN_MOST_WORKERS];
  int worker_count;
  pthread_mutex_t lock; /* run_workers.c says of what */
  int busy;             /* threads that have not ended */
  int next;             /* entry to be looked at */
  ws__batch_entry *returned[WS__RUN_MOST_WORKERS]; /* by those that are gone */
  int returned_count;
  double begin_ms, synced_ms, said_ms;
  /* Of this run. */
  int64_t answered, outrun, verdicts[WS_VERDICT_COUNT];
  int set_aside, set_aside_in_a_row; /* jobs that could not be measured */
  ws_status status; /* of what ended the run, or of what was set aside */
  ws_diag diag;
  bool at_end;
} ws__run;

/* Starts the device servers and looks whether they are what the batch is for.
 */
ws_status ws__run_start_workers(ws__run *run, ws_diag *diag) WS_MUST_CHECK;
/* Until all jobs are answered, time is up or a signal came; calls say now and
 * then, with the lock held. False: threads are in the middle of a step; nothing
 * that is theirs may go before the process does. */
bool ws__run_work(ws__run *run, void (*say)(ws__run *run, bool last));
void ws__run_stop_workers(ws__run *run);
/* A signal asked to end. */
bool ws__run_interrupted(void);

#endif
