/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is known about every byte of a workgroup's LDS: whether it was written,
 * and which waves touched it since the last barrier. Two waves that touch one
 * byte in the same interval between barriers, one of them writing, race,
 * whatever the order in which we ran them; atomics do not race with atomics.
 * Two writes of one value are noted and no race.
 *
 * A barrier orders an access only if its wave has waited for it. Accesses that
 * are still under way at a barrier count as made in the next interval too, so
 * that a forgotten s_waitcnt before s_barrier is found ("missing-wait"). What a
 * load to LDS (vmcnt) writes is not even its own wave's before the wait.
 */
#ifndef WAVESMITH_SIM_LDS_SHADOW_H
#define WAVESMITH_SIM_LDS_SHADOW_H

#include "memory_lanes.h"

struct ws_lds_shadow;

/* For one thread that runs one workgroup after another. */
struct ws_lds_shadow *ws__lds_shadow_create(void);
void ws__lds_shadow_destroy(struct ws_lds_shadow *shadow); /* NULL allowed */
/* A new workgroup: lds_bytes of poison, nothing touched. */
void ws__lds_shadow_begin_group(struct ws_lds_shadow *shadow,
                                uint32_t lds_bytes);
/* All waves of the group have met. */
void ws__lds_shadow_barrier(struct ws_lds_shadow *shadow);
/* s_waitcnt of a wave: at most so many of its VMEM and of its LDS operations
 * are still under way (63 and 15: no wait). */
void ws__lds_shadow_wait(struct ws_lds_shadow *shadow, int wave, int vmcnt,
                         int lgkmcnt);

/* ---- for the handlers -------------------------------------------------------
 * The caller has checked that the access is inside the group's LDS. */
typedef enum ws_lds_use {
  WS_LDS_READ,
  WS_LDS_WRITE,
  WS_LDS_ATOMIC,
  WS_LDS_DMA_WRITE
} ws_lds_use;

/* Lanes of mask access bytes at address[lane]. Faults on a race. */
void ws__lds_shadow_touch(ws_wave *wave, const ws_instruction *in,
                          ws_lds_use use, uint64_t mask,
                          const uint64_t address[WS_LANES], uint32_t bytes);
/* The same for stores of rows; see ws__lanes_store. Where the byte holds that
 * value already, two writers are no race but a note ("lds-same-value"): in
 * whatever order they come, LDS is the same. */
void ws__lds_shadow_write(ws_wave *wave, const ws_instruction *in,
                          uint64_t mask, const uint64_t address[WS_LANES],
                          const ws_vector *rows, ws_width width);
/* Counts the instruction for ws__lds_shadow_wait; once per DS (vmem false) or
 * VMEM instruction, before its touches. */
void ws__lds_shadow_issue(ws_wave *wave, bool vmem);
/* Poison of LDS bytes, 0: written. */
uint8_t *ws__lds_shadow_poison(struct ws_lds_shadow *shadow);

#endif
