/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Runs a workgroup: each lane is a coroutine, 64 of them are a wave. A lane
 * runs until it needs others. The wave is run greedily, wave operation after
 * wave operation, until all its lanes stand at a barrier or have ended; then
 * comes the next wave. Running waves in lockstep instead would hide a missing
 * barrier after the last read (research/toolchain.md section 5).
 *
 * When lanes of a wave wait at different operations, the one that comes first
 * in the IR goes first: lanes inside a loop or branch are let through before
 * those that wait behind it, as reconverging hardware does.
 */
#include "sanitize_internal.h"

#include <sys/mman.h>

static ws_lanes *const lanes = &ws__sanitizer.lanes;

/* ---- one wave -------------------------------------------------------- */

/* The waiting lanes that stand at the operation which is first in the IR. */
static uint64_t first_group(const ws_wave *wave, const ws_lane *lane,
                            ws_site **out_site) {
  uint64_t group = 0;
  ws_site *first = NULL;
  for (uint64_t rest = wave->at_operation; rest; rest &= rest - 1) {
    int i = __builtin_ctzll(rest);
    ws_site *site = lane[i].site;
    if (!first || site->number < first->number) {
      first = site;
      group = 0;
    }
    if (site == first)
      group |= 1ull << i;
  }
  *out_site = first;
  return group;
}

/* Lanes at a barrier and lanes at a wave operation: either the former skipped
 * the operation or the latter the barrier, so both places are reported. */
static void report_missing_lanes(const ws_wave *wave, uint64_t group,
                                 int wave_index, ws_site *site) {
  int here = __builtin_popcountll(group);
  if (wave->at_barrier) {
    int lane = wave_index * WS_WAVE_LANES + __builtin_ctzll(wave->at_barrier);
    ws__fault(WS_FAULT_DIVERGENT_BARRIER, lanes->lane[lane].site,
              "%d lanes of wave %d wait at this barrier while %d wait at the "
              "wave operation in line %d",
              __builtin_popcountll(wave->at_barrier), wave_index, here,
              site->line);
  }
  ws__fault(WS_FAULT_DIVERGENT_WAVE_OP, site,
            "llvm.amdgcn.%s is executed by %d of 64 lanes of wave %d (lane "
            "mask 0x%llx; %d lanes have ended, %d are at a barrier, %d at "
            "another wave operation)",
            site->operation->name, here, wave_index, (unsigned long long)group,
            __builtin_popcountll(wave->done),
            __builtin_popcountll(wave->at_barrier),
            __builtin_popcountll(wave->at_operation & ~group));
}

static void run_operation(ws_wave *wave, int wave_index) {
  ws_site *site;
  uint64_t group =
      first_group(wave, &lanes->lane[wave_index * WS_WAVE_LANES], &site);
  if (site->operation->kind == WS_OPERATION_WAVE_ALL && ~group) {
    report_missing_lanes(wave, group, wave_index, site);
    return;
  }
  ws__record_flush();
  site->operation->handler(site, group);
  ws__memory_rendezvous(wave);
  wave->at_operation &= ~group;
  wave->runnable |= group;
}

/* Until every lane of the wave is at a barrier or has ended. */
static void run_wave(int wave_index) {
  ws_wave *wave = &lanes->wave[wave_index];
  lanes->current_wave = wave_index;
  while (!lanes->stopped) {
    if (wave->runnable) {
      lanes->current =
          wave_index * WS_WAVE_LANES + __builtin_ctzll(wave->runnable);
      lanes->in_lane = true;
      ws__coroutine_switch(&lanes->scheduler,
                           &lanes->lane[lanes->current].coroutine);
    } else if (wave->at_full_record) {
      ws__record_flush();
      wave->runnable = wave->at_full_record;
      wave->at_full_record = 0;
    } else if (wave->at_operation) {
      run_operation(wave, wave_index);
    } else {
      break;
    }
  }
  ws__record_flush();
}

/* ---- the workgroup --------------------------------------------------- */

/* Stacks are opened when a lane first needs one: each is a mapping of its own
 * for its guard, and a fork copies every mapping there is. */
static void open_stacks(int count) {
  for (; lanes->stack_count < count; lanes->stack_count++)
    WS_ASSERT(!mprotect(ws__lanes_stack(lanes->stack_count), WS_STACK_BYTES,
                        PROT_READ | PROT_WRITE));
}

static void prepare_lanes(void) {
  lanes->wave_count = (lanes->count + WS_WAVE_LANES - 1) / WS_WAVE_LANES;
  open_stacks(lanes->count);
  for (int i = 0; i < lanes->count; i++) {
    /* Stacks start at different lines of a page: otherwise the same variable
     * of all lanes would compete for one set of the L1 cache. Only the first
     * lines, so that what a lane usually needs stays in one page. */
    size_t colour = (size_t)(i % 12) * 64;
    ws__coroutine_prepare(&lanes->lane[i].coroutine, ws__lanes_stack(i),
                          WS_STACK_BYTES - colour, ws__lane_main);
    lanes->lane[i].site = NULL;
  }
  for (int i = 0; i < lanes->wave_count; i++) {
    int present = lanes->count - i * WS_WAVE_LANES;
    lanes->wave[i] = (ws_wave){
        .runnable = present >= WS_WAVE_LANES ? ~0ull : (1ull << present) - 1};
  }
}

static int lanes_at_barrier(ws_site **out_first, ws_site **out_other) {
  int count = 0;
  *out_first = *out_other = NULL;
  for (int i = 0; i < lanes->count; i++) {
    if (!(lanes->wave[i / WS_WAVE_LANES].at_barrier >> i % WS_WAVE_LANES & 1))
      continue;
    ws_site *site = lanes->lane[i].site;
    if (!*out_first)
      *out_first = site;
    else if (site != *out_first)
      *out_other = site;
    count++;
  }
  return count;
}

/* All waves have stopped. true: the barrier is released, or all have ended
 * (*out_done). */
static bool release_barrier(bool *out_done) {
  ws_site *site, *other;
  int waiting = lanes_at_barrier(&site, &other);
  *out_done = waiting == 0;
  if (waiting == 0)
    return true;
  if (other) {
    ws__fault(WS_FAULT_DIVERGENT_BARRIER, site,
              "some lanes of the workgroup wait at this barrier while others "
              "wait at the one in line %d",
              other->line);
    return false;
  }
  if (waiting < lanes->count) {
    ws__fault(WS_FAULT_DIVERGENT_BARRIER, site,
              "%d lanes of the workgroup wait at this barrier, %d have ended",
              waiting, lanes->count - waiting);
    return false;
  }
  for (int i = 0; i < lanes->wave_count; i++) {
    lanes->wave[i].runnable = lanes->wave[i].at_barrier;
    lanes->wave[i].at_barrier = 0;
  }
  ws__sanitizer.recorder.observed->barriers += lanes->wave_count;
  ws__memory_barrier();
  return true;
}

bool ws__lanes_run_workgroup(ws_wave_order order) {
  sigjmp_buf escape;
  if (sigsetjmp(escape, 1)) {
    ws__fault_from_signal();
    return false;
  }
  ws__fault_arm(&escape);
  prepare_lanes();
  ws__memory_begin_workgroup();
  for (bool done = false; !done && !lanes->stopped;) {
    for (int i = 0; i < lanes->wave_count && !lanes->stopped; i++)
      run_wave(order == WS_WAVES_UP ? i : lanes->wave_count - 1 - i);
    if (lanes->stopped || !release_barrier(&done))
      break;
  }
  return !lanes->stopped;
}
