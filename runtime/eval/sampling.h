/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Samples of one or two contestants on a device: what time.c builds on.
 */
#ifndef WAVESMITH_EVAL_SAMPLING_H
#define WAVESMITH_EVAL_SAMPLING_H

#include "bench.h"
#include "statistics.h"

enum { WS__SIDES = 2, WS__BATCH = 20 /* samples of each side in a batch */ };

/* A contestant, set up on every copy of the inputs. */
typedef struct ws__side {
  const ws_workload *workload;
  ws_device_module *module;
  ws__bench benches[WS__MAX_COPIES];
  ws_device_graph *graphs[WS__MAX_COPIES]; /* NULL: plain launches */
  int bench_count;
  double *samples;
} ws__side;

typedef struct ws__timer {
  ws_device *device;
  const ws_device_info *info;
  ws_arena *arena;
  const ws_measure_settings *settings;
  ws_inputs *inputs;
  ws__input_set *set; /* NULL: no problem */
  int copies;
  ws__side sides[WS__SIDES];
  int side_count;
  void *flush; /* NULL: a simulator's caches are cold whenever it is asked */
  size_t flush_bytes;
  ws_device_event *events[2][WS__SIDES * WS__BATCH]; /* begin, end */
  ws_device_graph *empty;
  int next_copy;
  int poison; /* of the latest sample; on a card it differs from the one before
               */
  int latest[WS__MAX_COPIES]; /* side whose output is there; -1: nobody's */
  int count;                  /* samples of each side so far */
  double *ratios;             /* of blocks; two samples of each side */
  double sample_ms;           /* wall time of a sample, about */
  double end_ms;              /* no batch begins after it; 0: no limit */
  ws_measured *out;           /* clock readings */
  bool rival_failed;          /* what WS_INPUT is about */
} ws__timer;

/* Poison, flush, events and launches of one side on one copy. */
ws_status ws__timer_enqueue(ws__timer *t, int side, int copy, int slot,
                            ws_diag *diag) WS_MUST_CHECK;
/* The launches once more, on what they left themselves but for what they read
 * and write, which is as it was at first; waits for them. */
ws_status ws__timer_repeat(ws__timer *t, int side, int copy,
                           ws_diag *diag) WS_MUST_CHECK;
ws_status ws__timer_read(ws__timer *t, int slot, double *out_us,
                         ws_diag *diag) WS_MUST_CHECK;
/* Time of an empty launch sequence, into out->empty_us. */
ws_status ws__timer_measure_empty(ws__timer *t, ws_diag *diag) WS_MUST_CHECK;
/* Repeats the sequence until times and clock have settled. */
ws_status ws__timer_warm_up(ws__timer *t, ws_diag *diag) WS_MUST_CHECK;
/* One batch; appended unless the card was throttled for heat. */
ws_status ws__timer_batch(ws__timer *t, ws_diag *diag) WS_MUST_CHECK;
/* Enough samples, or no more to be had? With medians and intervals in *out. */
bool ws__timer_is_done(ws__timer *t);

#endif
