/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a launch to workgroups that can be stepped.
 *
 *   plan   what all workgroups of a launch share: the checked sizes, the
 *          kernarg segment (hidden arguments filled in) and the dispatch packet
 *          in device memory, the user SGPRs. Made once, then read only: any
 *          number of threads may use it.
 *   group  the storage of one workgroup: waves, registers, LDS, scratch. Made
 *          once per place where a workgroup runs (a thread's slot, a CU's slot)
 *          and reset for each workgroup that runs there.
 *
 *   ws_plan plan;
 *   ws__plan_create(memory, launch, &plan, diag)
 *   ws_group *group = ws__group_create(&plan, checked, timing);
 *   for each i below plan.group_count:
 *     ws__group_reset(group, &plan, i);
 *     while a wave is READY: ws__step(&group->waves[w], group->checked);
 *     ws__release_barrier(group)       when none is READY, see below
 *   ws__group_destroy(group);
 *   ws__plan_release(&plan);
 *
 * Initial state: LLVM, AMDGPUUsage, "Initial Kernel Execution State" and
 * "Kernel Descriptor", for gfx942. Registers, LDS and scratch start as garbage,
 * other in every register and lane, and count as never written.
 */
#ifndef WAVESMITH_SIM_LAUNCH_H
#define WAVESMITH_SIM_LAUNCH_H

#include "code_object.h"

typedef struct ws_plan {
  const ws_sim_kernel *kernel;
  ws_memory *memory;
  uint32_t grid[3], block[3];
  uint64_t group_count;
  uint32_t threads; /* of a workgroup */
  int wave_count;   /* of a workgroup */
  uint32_t lds_bytes, scratch_bytes;
  uint8_t *kernarg; /* device memory: kernarg segment, dispatch packet, queue */
  uint32_t kernarg_bytes;
  uint32_t entry; /* instruction index */
  uint32_t mode;
  uint32_t sgpr[16];                           /* user SGPRs */
  int user_sgprs;                              /* system SGPRs follow */
  int64_t budget;                              /* instructions of a wave */
  const struct ws__clock_constants *constants; /* of the card; MI300X's until
                                                * somebody says otherwise */
} ws_plan;

/* WS_INPUT and one sentence: grid or block of 0 or too large, a block over the
 * kernel's limit, LDS over 64 KiB, kernargs too short. budget 0: 2^31. */
ws_status ws__plan_create(ws_memory *memory, const ws_sim_launch *launch,
                          int64_t budget, ws_plan *out_plan,
                          ws_diag *diag) WS_MUST_CHECK;
void ws__plan_release(ws_plan *plan);

ws_group *ws__group_create(const ws_plan *plan, bool checked, bool timing);
void ws__group_destroy(ws_group *group); /* NULL is allowed */
/* The state in which hardware starts workgroup `index` (x fastest). */
void ws__group_reset(ws_group *group, const ws_plan *plan, uint64_t index);

/* Call when no wave of the group is READY. Lets the waves at the barrier go on
 * and returns true; false: none waits (all have ended). A wave that ended
 * counts as arrived, as on hardware. In checked groups it may fault instead
 * ("divergent-barrier"), which is in group->fault. */
bool ws__release_barrier(ws_group *group);

#endif
