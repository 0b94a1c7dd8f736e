/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * AMD's rules are the bound model's, NVIDIA's the target table's.
 */
#include "occupancy.h"

int ws__lds_bytes(const ws_kernel_facts *facts) {
  return facts->lds_bytes + facts->dynamic_lds;
}

int ws__workgroups_per_cu(const ws_target *target, const ws_kernel_facts *facts,
                          int threads) {
  int registers = facts->vgpr > 0 ? facts->vgpr : 1;
  return target->family == WS_FAMILY_NVPTX
             ? ws_target_workgroups(target, registers, threads,
                                    ws__lds_bytes(facts))
             : ws_occupancy_workgroups(facts, threads, facts->lds_bytes);
}

ws__limiter ws__limiter_of(const ws_target *target,
                           const ws_kernel_facts *facts, int threads) {
  int workgroups = ws__workgroups_per_cu(target, facts, threads);
  ws_kernel_facts fewer = *facts;
  fewer.vgpr = fewer.agpr = 8;
  if (ws__workgroups_per_cu(target, &fewer, threads) > workgroups)
    return WS__LIMITED_BY_REGISTERS;
  fewer = *facts;
  fewer.lds_bytes = fewer.dynamic_lds = 0;
  return ws__workgroups_per_cu(target, &fewer, threads) > workgroups
             ? WS__LIMITED_BY_LDS
             : WS__LIMITED_BY_WAVES;
}
