/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Waves, limits and steps, from the workgroups that a compute unit holds.
 */
#include "occupancy.h"

#include <string.h>

int ws__lds_bytes(const ws_kernel_facts *facts) {
  return facts->lds_bytes + facts->dynamic_lds;
}

double ws__waves_per_simd(const ws_target *target, const ws_kernel_facts *facts,
                          int threads) {
  return ws_resident_workgroups(target, facts, threads) * threads /
         (4.0 * target->wave);
}

int ws__threads_of(const ws_candidate *candidate, const char *kernel) {
  ws_arena *arena = ws_arena_create();
  const ws_scope scope = ws_candidate_scope(arena, candidate, NULL, 0);
  int64_t threads = 0;
  for (int i = 0; i < candidate->tmpl->launch_count && !threads; i++)
    if (strcmp(candidate->tmpl->launches[i].kernel, kernel) ||
        ws_expr_eval(candidate->tmpl->launches[i].threads, &scope, &threads,
                     NULL) != WS_OK ||
        threads < 0 || threads > 1024)
      threads = 0;
  ws_arena_destroy(arena);
  return (int)threads;
}

ws__limits ws__limits_of(const ws_target *target, const ws_kernel_facts *facts,
                         int threads) {
  const int workgroups = ws_resident_workgroups(target, facts, threads);
  ws_kernel_facts registers = *facts, lds = *facts;
  registers.lds_bytes = registers.dynamic_lds = 0;
  lds.vgpr = lds.agpr = 8;
  ws_kernel_facts neither = registers;
  neither.vgpr = neither.agpr = 8;
  return (ws__limits){
      .registers =
          ws_resident_workgroups(target, &registers, threads) == workgroups,
      .lds = ws_resident_workgroups(target, &lds, threads) == workgroups,
      .waves = ws_resident_workgroups(target, &neither, threads) == workgroups};
}

/* Along *value, a field of *facts, from what it is to 1 or `most`. */
static ws__occupancy_step next_step(const ws_target *target,
                                    const ws_kernel_facts *facts,
                                    int32_t *value, int most, int threads,
                                    int direction) {
  const int now = ws_resident_workgroups(target, facts, threads);
  for (*value += direction; *value >= 1 && *value <= most;
       *value += direction) {
    const int workgroups = ws_resident_workgroups(target, facts, threads);
    if (workgroups != now)
      return (ws__occupancy_step){workgroups ? *value : 0, workgroups};
  }
  return (ws__occupancy_step){0, now};
}

ws__occupancy_step ws__register_step(const ws_target *target,
                                     const ws_kernel_facts *facts, int threads,
                                     int direction) {
  const int most = target->family == WS_FAMILY_NVPTX ? 255 : 512;
  ws_kernel_facts other = *facts;
  return next_step(target, &other, &other.vgpr, most, threads, direction);
}

ws__occupancy_step ws__lds_step(const ws_target *target,
                                const ws_kernel_facts *facts, int threads,
                                int direction) {
  const int most = (target->family == WS_FAMILY_NVPTX ? 227 : 64) * 1024 -
                   facts->dynamic_lds;
  ws_kernel_facts other = *facts;
  return next_step(target, &other, &other.lds_bytes, most, threads, direction);
}
