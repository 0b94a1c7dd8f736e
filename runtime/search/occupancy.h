/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How many workgroups of a kernel a compute unit holds at once, for every
 * target.
 */
#ifndef WAVESMITH_SEARCH_OCCUPANCY_H
#define WAVESMITH_SEARCH_OCCUPANCY_H

#include "wavesmith/bound_model.h"
#include "wavesmith/target.h"

/* With which of them, the others at their least, no more workgroups fit than
 * now. Wave slots are never at their least. */
typedef struct ws__limits {
  bool registers, lds, waves;
} ws__limits;
/* Warps per scheduler on NVIDIA. */
double ws__waves_per_simd(const ws_target *target, const ws_kernel_facts *facts,
                          int threads);
/* Of a kernel's first launch; 0: not known. */
int ws__threads_of(const ws_candidate *candidate, const char *kernel);
ws__limits ws__limits_of(const ws_target *target, const ws_kernel_facts *facts,
                         int threads);
/* The next count of registers, or bytes of LDS, from the kernel's on in a
 * direction (1, -1) with which a compute unit holds another number of
 * workgroups. */
typedef struct ws__occupancy_step {
  int at, workgroups; /* at 0: there is none, or one that none fits with */
} ws__occupancy_step;
ws__occupancy_step ws__register_step(const ws_target *target,
                                     const ws_kernel_facts *facts, int threads,
                                     int direction);
ws__occupancy_step ws__lds_step(const ws_target *target,
                                const ws_kernel_facts *facts, int threads,
                                int direction);
/* Of one workgroup, static and given at launch. */
int ws__lds_bytes(const ws_kernel_facts *facts);

#endif
