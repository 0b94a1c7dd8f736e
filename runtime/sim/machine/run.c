/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A functional run: all workgroups of a plan, on all cores.
 *
 * Threads take workgroups in order from one counter. Within a workgroup the
 * waves run one after the other, each to its next barrier or its end. A
 * workgroup that has run a slice of instructions without ending is parked and
 * others go on, so that workgroups that wait for each other (stream-K, spin
 * locks, barriers of the grid) end; parked ones are taken up in turn. When none
 * of them ends in a whole turn they may all be waiting: slices become short and
 * more are begun, as many as the card has places for.
 *
 * Deterministic: a fault stops its own workgroup only, and faults are reported
 * in the order of workgroups, whatever thread found them.
 */
#include "run.h"
#include "clock_constants.h"
#include "lds_shadow.h"
#include "step.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
  SLICE = 1 << 17, /* wave instructions of a workgroup before it is parked */
  SHORT_SLICE = 1 << 13,
  PARKED_STEP = 64 /* workgroups that a thread has in progress at first */
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
static bool run_slice(ws_group *group, int64_t slice, int64_t *executed) {
  const int64_t wave_slice = slice / group->wave_count;
  int64_t used = 0;
  bool ended = false;
  while (!ended && used < slice) {
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
  int places; /* of workgroups, for each thread */
  atomic_uint_fast64_t next; /* workgroup */
} run;

typedef struct worker {
  run *run;
  pthread_t thread;
  struct parked {
    ws_group *group;
    uint64_t index;
  } * parked;
  int parked_count, most_parked;
  ws_group *spare; /* storage for the next workgroup */
  int64_t slice, executed;
  ws_fault_list faults, notes;
} worker;

static void keep_findings(worker *self, const ws_group *group, uint64_t index) {
  ws__fault_list_add(&self->faults, index, group, &group->fault);
  ws__fault_list_add(&self->notes, index, group, &group->note);
}

/* Workgroups that the card has in progress at once, if registers allow. */
static int places_of_card(const ws_plan *plan) {
  const ws__clock_constants *c = plan->constants;
  const int64_t waves = c->simds * c->waves_per_simd / plan->wave_count;
  const int64_t by_lds =
      plan->lds_bytes ? c->lds_bytes / plan->lds_bytes : waves;
  const int64_t of_cu = by_lds < waves ? by_lds : waves;
  return (int)(c->xcds * c->cus_per_xcd * (of_cu > 1 ? of_cu : 1));
}

static void allow_more(worker *self, int more) {
  self->most_parked += more;
  self->parked = realloc(self->parked,
                         (size_t)self->most_parked * sizeof *self->parked);
  WS_ASSERT(self->parked);
}

/* Takes the next workgroup; false: there is none, or no place. */
static bool start_group(worker *self) {
  if (self->parked_count == self->most_parked)
    return false;
  const uint64_t index = atomic_fetch_add(&self->run->next, 1);
  if (index >= self->run->plan->group_count)
    return false;
  ws_group *group = self->spare;
  self->spare = NULL;
  if (!group)
    group = ws__group_create(self->run->plan, self->run->checked, false);
  ws__group_reset(group, self->run->plan, index);
  self->parked[self->parked_count++] = (struct parked){group, index};
  return true;
}

static void retire_group(worker *self, int slot) {
  ws_group *group = self->parked[slot].group;
  keep_findings(self, group, self->parked[slot].index);
  if (self->spare)
    ws__group_destroy(group);
  else
    self->spare = group;
  self->parked_count--;
  memmove(&self->parked[slot], &self->parked[slot + 1],
          (size_t)(self->parked_count - slot) * sizeof *self->parked);
}

static bool run_parked(worker *self, int slot) {
  const bool ended =
      run_slice(self->parked[slot].group, self->slice, &self->executed);
  if (ended)
    retire_group(self, slot);
  return ended;
}

/* A slice of each that is parked. */
static void take_up_all(worker *self) {
  const int before = self->parked_count;
  for (int i = 0; i < self->parked_count;)
    i += !run_parked(self, i);
  const bool stuck = self->parked_count == before;
  self->slice = stuck ? SHORT_SLICE : SLICE;
  if (stuck && before < self->run->places)
    allow_more(self, PARKED_STEP);
}

/* New workgroups first: what a parked one waits for may be among them. */
static void *work(void *argument) {
  worker *self = argument;
  self->slice = SLICE;
  allow_more(self, PARKED_STEP);
  for (;;) {
    const bool started = start_group(self);
    if (!self->parked_count)
      break;
    if (started)
      run_parked(self, self->parked_count - 1);
    else
      take_up_all(self);
  }
  ws__group_destroy(self->spare);
  free(self->parked);
  self->spare = NULL;
  self->parked = NULL;
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
  if ((uint64_t)threads > plan->group_count)
    threads = (int)plan->group_count;
  run state = {.plan = plan,
               .checked = checked,
               .places = places_of_card(plan) / threads + 1};
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
