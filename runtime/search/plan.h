/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is to be found out about a candidate by a device, step by step, and what
 * the answers come to. A plan does not say who measures: a server at once
 * (ranker.h), or a batch somewhere else (rounds.h).
 */
#ifndef WAVESMITH_SEARCH_PLAN_H
#define WAVESMITH_SEARCH_PLAN_H

#include "measuring.h"
#include "transfer.h"

typedef struct ws__ranked {
  ws_verdict verdict;
  const char *reason;
  const ws_finding *findings;
  int finding_count;
  double *us, *low_us, *high_us; /* by shape; INFINITY: not timed */
  const char **bounds;
  const ws_measured **measured; /* by shape; NULL: not timed now */
  const ws_device_info *device; /* that took the times; NULL: none did */
  int uncompared_shapes;        /* as of a ws_measured */
} ws__ranked;
/* Of those that came with a simulator's report, the slowest shape and the one
 * furthest from its limit; -1: none did. */
void ws__ranked_profiled(const ws__ranked *ranked, const ws__task *task,
                         int *out_slowest, int *out_furthest);

/* The same for all candidates of a task. */
typedef struct ws__schedule {
  const ws__task *task;
  int *order; /* shapes, cheapest first */
  int racers; /* so many of these are the race */
} ws__schedule;
void ws__schedule_init(ws__schedule *schedule, ws_arena *arena,
                       const ws__task *task);

typedef struct ws__plan {
  const ws__schedule *schedule;
  ws_arena *arena;
  const ws_candidate *candidate;
  const ws_build_result *build;
  const double *bar_us;
  const ws__sample *sample; /* NULL: all shapes */
  const int *racers; /* shapes that the race is over, if they have a bar */
  int racer_count;
  double race_ratio; /* of the geometric means that loses it */
  ws_measure_request *requests;
  int *shapes;    /* by request; -1: to verify */
  int count;      /* of requests */
  int race_last;  /* the race is decided by this step's answer; -1: no race */
  int race_steps; /* times that it is decided by */
  const double *race_us;
  ws__ranked out;
} ws__plan;

/* known_us: times that there are already, by shape, NULL for none: they are
 * not taken again, and who has one was verified; bar_us: the times to race
 * against, NULL: no race; sample: where it is timed, NULL: on all shapes. All
 * three, candidate and build must live as long as the arena. A candidate that
 * cannot be launched has a plan without requests, which says so in `out`.
 * WS_INPUT: there is no code object. */
ws_status ws__plan_make(ws__plan *plan, const ws__schedule *schedule,
                        ws_arena *arena, int cu_count,
                        const ws_candidate *candidate,
                        const ws_build_result *build, const double *known_us,
                        const double *bar_us, const ws__sample *sample,
                        ws_diag *diag) WS_MUST_CHECK;
/* Takes a device's answer to a request; what it points at lives in the arena.
 * Where a simulator is too slow the plan ends with what it has (measuring.h).
 * False: the plan is at its end, `out` says how. */
bool ws__plan_take(ws__plan *plan, int step, const ws_device_info *device,
                   const ws_measured *measured);

#endif
