/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Workgroups that a compute unit holds: AMD's rules are the bound model's,
 * NVIDIA's the target table's.
 */
#include "wavesmith/bound_model.h"

int ws_resident_workgroups(const ws_target *target,
                           const ws_kernel_facts *facts, int threads) {
  const int registers = facts->vgpr > 0 ? facts->vgpr : 1;
  return target->family == WS_FAMILY_NVPTX
             ? ws_target_workgroups(target, registers, threads,
                                    facts->lds_bytes + facts->dynamic_lds)
             : ws_occupancy_workgroups(facts, threads, facts->lds_bytes);
}
