/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A functional run: all workgroups of a plan, on all cores.
 *
 * Threads take workgroups in order from one counter. Within a workgroup the
 * waves run one after the other, each to its next barrier or its end. A
 * workgroup that has run a slice of instructions without ending is parked and
 * others go on, so that workgroups that wait for each other (stream-K, spin
 * locks) end; parked ones are taken up in turn.
 *
 * Deterministic: a fault stops its own workgroup only, and faults are reported
 * in the order of workgroups, whatever thread found them.
 */
#include "run.h"
#include "lds_shadow.h"
#include "step.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
  SLICE = 1 << 17, /* wave instructions of a workgroup before it is parked */
  PARKED_MAX = 64  /* workgroups that a thread has in progress */
};

/* ---- barriers -------------------------------------------------------------
 */

/* A wave that left without a trace before its first barrier is an early exit
 * of surplus waves, which hardware allows; else the barrier was divergent. */
static bool missed_barrier(const ws_wave *ended) {
  return ended->state == WS_WAVE_ENDED && (ended->acted || ended->barriers);
}

static void check_arrivals(ws_group *group) {
  ws_wave *waiting = NULL;
  const ws_wave *missed = NULL;
  for (int w = 0; w < group->wave_count; w++) {
    ws_wave *wave = &group->waves[w];
    if (wave->state == WS_WAVE_AT_BARRIER && !waiting)
      waiting = wave;
    if (missed_barrier(wave) && !missed)
      missed = wave;
  }
  if (waiting && missed)
    ws__fault(waiting, &group->text->items[waiting->pc - 1], -1,
              "divergent-barrier",
              "wave %d waits here, but wave %d has ended after %u barriers; "
              "all waves must reach the barrier",
              waiting->index, missed->index, missed->barriers);
}

bool ws__release_barrier(ws_group *group) {
  bool released = false;
  if (group->checked)
    check_arrivals(group);
  for (int w = 0; w < group->wave_count; w++) {
    ws_wave *wave = &group->waves[w];
    if (wave->state != WS_WAVE_AT_BARRIER)
      continue;
    wave->state = WS_WAVE_READY;
    wave->barriers++;
    released = true;
  }
  if (released && group->shadow)
    ws__lds_shadow_barrier(group->shadow);
  return released;
}

/* ---- one workgroup --------------------------------------------------------
 */

/* Steps of a wave until it ends, waits, faults or the slice is used up. */
static int64_t run_wave(ws_wave *wave, int64_t slice, bool checked) {
  const uint64_t before = wave->executed;
  const uint64_t end = before + (uint64_t)slice;
  if (checked)
    while (wave->executed < end && ws__step(wave, true))
      ;
  else
    while (wave->executed < end && ws__step(wave, false))
      ;
  return (int64_t)(wave->executed - before);
}

/* Each wave to its next barrier. The slice is shared out anew to every wave, so
 * that waves that wait for each other through memory all get on. */
static int64_t run_waves(ws_group *group, int64_t slice) {
  int64_t executed = 0;
  for (int w = 0; w < group->wave_count && !group->fault.id; w++)
    if (group->waves[w].state == WS_WAVE_READY)
      executed += run_wave(&group->waves[w], slice, group->checked);
  return executed;
}

static bool any_ready(const ws_group *group) {
  for (int w = 0; w < group->wave_count; w++)
    if (group->waves[w].state == WS_WAVE_READY)
      return true;
  return false;
}

/* A value read from LDS that no wave has written yet may be one that another
 * wave is about to write: then the missing barrier is what to report. The other
 * waves go on to their barriers; a race that shows replaces the fault. */
static void look_for_race(ws_group *group, int64_t slice) {
  const struct ws_fault_record first = group->fault;
  if (!group->shadow || !first.id || strcmp(first.id, "uninitialised"))
    return;
  group->fault.id = NULL;
  group->waves[first.wave].state = WS_WAVE_ENDED;
  run_waves(group, slice);
  if (!group->fault.id || strcmp(group->fault.id, "lds-race"))
    group->fault = first;
}

/* True: the workgroup has ended or faulted. */
static bool run_slice(ws_group *group, int64_t *executed) {
  const int64_t wave_slice = SLICE / group->wave_count;
  int64_t used = 0;
  bool ended = false;
  while (!ended && used < SLICE) {
    used += run_waves(group, wave_slice);
    look_for_race(group, wave_slice);
    ended = group->fault.id ||
            (!any_ready(group) && !ws__release_barrier(group)) ||
            group->fault.id;
  }
  *executed += used;
  return ended;
}

/* ---- threads --------------------------------------------------------------
 */

typedef struct run {
  const ws_plan *plan;
  bool checked;
  atomic_uint_fast64_t next; /* workgroup */
} run;

typedef struct worker {
  run *run;
  pthread_t thread;
  ws_group *parked[PARKED_MAX];
  uint64_t index[PARKED_MAX]; /* workgroup of parked[i] */
  int parked_count;
  ws_group *spare; /* storage for the next workgroup */
  int64_t executed;
  ws_fault_list faults, notes;
} worker;

static void keep_findings(worker *self, const ws_group *group, uint64_t index) {
  ws__fault_list_add(&self->faults, index, group, &group->fault);
  ws__fault_list_add(&self->notes, index, group, &group->note);
}

/* Takes the next workgroup; false: there is none. */
static bool start_group(worker *self) {
  if (self->parked_count == PARKED_MAX)
    return false;
  const uint64_t index = atomic_fetch_add(&self->run->next, 1);
  if (index >= self->run->plan->group_count)
    return false;
  ws_group *group = self->spare;
  self->spare = NULL;
  if (!group)
    group = ws__group_create(self->run->plan, self->run->checked, false);
  ws__group_reset(group, self->run->plan, index);
  self->parked[self->parked_count] = group;
  self->index[self->parked_count++] = index;
  return true;
}

static void retire_group(worker *self, int slot) {
  ws_group *group = self->parked[slot];
  keep_findings(self, group, self->index[slot]);
  if (self->spare)
    ws__group_destroy(group);
  else
    self->spare = group;
  self->parked_count--;
  for (int i = slot; i < self->parked_count; i++) {
    self->parked[i] = self->parked[i + 1];
    self->index[i] = self->index[i + 1];
  }
}

/* New workgroups first: what a parked one waits for may be among them. */
static void *work(void *argument) {
  worker *self = argument;
  for (;;) {
    const bool started = start_group(self);
    if (!self->parked_count)
      break;
    if (started) {
      if (run_slice(self->parked[self->parked_count - 1], &self->executed))
        retire_group(self, self->parked_count - 1);
      continue;
    }
    for (int i = 0; i < self->parked_count;)
      if (run_slice(self->parked[i], &self->executed))
        retire_group(self, i);
      else
        i++;
  }
  ws__group_destroy(self->spare);
  self->spare = NULL;
  return NULL;
}

static int start_threads(worker *workers, int count) {
  int started = 1;
  while (started < count && !pthread_create(&workers[started].thread, NULL,
                                            work, &workers[started]))
    started++;
  return started;
}

int64_t ws__run(const ws_plan *plan, bool checked, int threads,
                ws_fault_list *out_faults, ws_fault_list *out_notes) {
  run state = {.plan = plan, .checked = checked};
  if ((uint64_t)threads > plan->group_count)
    threads = (int)plan->group_count;
  worker *workers = calloc((size_t)threads, sizeof *workers);
  WS_ASSERT(workers != NULL);
  for (int i = 0; i < threads; i++)
    workers[i].run = &state;
  const int started = start_threads(workers, threads);
  work(&workers[0]);
  int64_t executed = 0;
  *out_faults = *out_notes = (ws_fault_list){.count = 0};
  for (int i = 0; i < started; i++) {
    if (i > 0)
      pthread_join(workers[i].thread, NULL);
    executed += workers[i].executed;
    ws__fault_list_merge(out_faults, &workers[i].faults);
    ws__fault_list_merge(out_notes, &workers[i].notes);
  }
  free(workers);
  return executed;
}
