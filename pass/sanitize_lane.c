/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One lane of the sanitizer: its stack, and the ways in which it leaves off
 * running: at an operation, at a full record, at a fault, at its end. Who runs
 * next is sanitize_lanes.c's.
 */
#include "sanitize_internal.h"

#include <sys/mman.h>

static ws_lanes *const lanes = &ws__sanitizer.lanes;

/* ---- stacks ---------------------------------------------------------- */

/* Low, so that 32-bit private pointers survive as LDS pointers do. */
static const uintptr_t stack_bases[] = {0x30000000, 0x50000000, 0x60000000};

void ws__lanes_reserve(void) {
  if (lanes->stacks)
    return;
  size_t stride = WS_STACK_BYTES + WS_STACK_GUARD;
  size_t bytes = stride * WS_MAX_LANES + WS_STACK_GUARD;
  for (size_t i = 0; i < sizeof stack_bases / sizeof *stack_bases; i++) {
    void *at =
        mmap((void *)stack_bases[i], bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
             -1, 0);
    if (at == MAP_FAILED)
      continue;
    lanes->stacks = (char *)at + WS_STACK_GUARD;
    break;
  }
  WS_ASSERT(lanes->stacks);
}

char *ws__lanes_stack(int lane) {
  return lanes->stacks + (size_t)lane * (WS_STACK_BYTES + WS_STACK_GUARD);
}

/* ---- switching ------------------------------------------------------- */

/* From a lane that cannot go on to the next of its wave that can, or to the
 * scheduler. */
static void leave_lane(void) {
  ws_lane *from = &lanes->lane[lanes->current];
  uint64_t runnable = lanes->wave[lanes->current_wave].runnable;
  if (!runnable) {
    lanes->in_lane = false;
    ws__coroutine_switch(&from->coroutine, &lanes->scheduler);
    return;
  }
  lanes->current =
      lanes->current_wave * WS_WAVE_LANES + __builtin_ctzll(runnable);
  ws__coroutine_switch(&from->coroutine,
                       &lanes->lane[lanes->current].coroutine);
}

static uint64_t current_bit(void) {
  return 1ull << (lanes->current % WS_WAVE_LANES);
}

void ws__lane_main(void) {
  lanes->entry(lanes->arguments);
  ws_wave *wave = &lanes->wave[lanes->current_wave];
  wave->runnable &= ~current_bit();
  wave->done |= current_bit();
  for (;;)
    leave_lane();
}

void ws__lanes_stop(void) {
  lanes->stopped = true;
  if (!lanes->in_lane)
    return;
  lanes->in_lane = false;
  ws__coroutine_switch(&lanes->lane[lanes->current].coroutine,
                       &lanes->scheduler);
}

void ws__lanes_wait_for_record(void) {
  ws_wave *wave = &lanes->wave[lanes->current_wave];
  wave->runnable &= ~current_bit();
  wave->at_full_record |= current_bit();
  leave_lane();
}

void ws__hook_operation(ws_site *site, char *frame) {
  ws_lane *lane = &lanes->lane[lanes->current];
  lane->site = site;
  lane->frame = frame;
  if (site->operation->kind == WS_OPERATION_LANE ||
      site->operation->kind == WS_OPERATION_ACCESS) {
    site->operation->handler(site, current_bit());
    return;
  }
  ws_wave *wave = &lanes->wave[lanes->current_wave];
  wave->runnable &= ~current_bit();
  if (site->operation->kind == WS_OPERATION_WORKGROUP)
    wave->at_barrier |= current_bit();
  else
    wave->at_operation |= current_bit();
  leave_lane();
}
