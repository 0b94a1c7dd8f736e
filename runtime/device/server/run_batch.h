/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith-device run FOLDER`: does a batch's jobs (wavesmith/batch.h).
 * run_batch.c has the options and what is said, run_workers.c the work.
 */
#ifndef WAVESMITH_DEVICE_RUN_BATCH_H
#define WAVESMITH_DEVICE_RUN_BATCH_H

#include "batch_internal.h"

/* argv[0] is "run". Returns the program's exit code. */
int ws__device_run_batch(int argc, char **argv);

/* ---- inside ---- */
typedef struct ws__run_options {
  const char *folder, *device, *gpus; /* device NULL: the batch's own */
  double minutes;                     /* 0: without a limit */
  bool help;
} ws__run_options;

/* One device server and the job that it has in hand. */
typedef struct ws__run_worker {
  const char *kind; /* "cuda:1" */
  ws_device_client *client;
  ws__batch_entry *entry; /* NULL: none in hand */
  ws_arena *arena;        /* of the job */
  ws_batch_job job;
  ws_measured *measured;
  int done;        /* steps */
  int attempts;    /* of the step in hand, in which the device failed */
  bool sent, gone; /* gone: its device does not come back */
  double not_before_ms;
} ws__run_worker;

enum { WS__RUN_MOST_WORKERS = 64 };
typedef struct ws__run {
  const ws__run_options *options;
  ws__batch_index index;
  int results; /* descriptor */
  ws_arena *arena;
  ws__run_worker workers[WS__RUN_MOST_WORKERS];
  int worker_count, next; /* next: entry to be looked at */
  ws__batch_entry *returned[WS__RUN_MOST_WORKERS]; /* by those that are gone */
  int returned_count;
  double begin_ms, synced_ms, said_ms;
  /* Of this run. */
  int64_t answered, outrun, verdicts[WS_VERDICT_COUNT];
  int set_aside, set_aside_in_a_row; /* jobs that could not be measured */
  ws_status status; /* of what ends the run, or of what was set aside */
  ws_diag diag;
  bool at_end;
} ws__run;

/* Starts the device servers and looks whether they are what the batch is for.
 */
ws_status ws__run_start_workers(ws__run *run, ws_diag *diag) WS_MUST_CHECK;
/* Until all jobs are answered, time is up or a signal came; calls say now and
 * then. */
void ws__run_work(ws__run *run, void (*say)(ws__run *run, bool last));
void ws__run_stop_workers(ws__run *run);
/* A signal asked to end. */
bool ws__run_interrupted(void);

#endif
