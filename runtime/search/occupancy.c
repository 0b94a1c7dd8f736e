/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * AMD's rules are the bound model's. NVIDIA's: CUDA C++ Programming Guide,
 * technical specifications of compute capability 9.0 (64 K registers, 228 KB of
 * shared memory of which each block costs one more, 2048 threads, 32 blocks);
 * registers go to a warp in units of 256.
 */
#include "occupancy.h"

enum {
  REGISTERS = 65536,
  REGISTER_UNIT = 256, /* of a warp */
  SHARED_BYTES = 228 * 1024,
  SHARED_OF_SYSTEM = 1024, /* of each block */
  THREADS = 2048,
  BLOCKS = 32,
  WARP = 32
};

int ws__lds_bytes(const ws_kernel_facts *facts) {
  return facts->lds_bytes + facts->dynamic_lds;
}

static int least(int a, int b) { return a < b ? a : b; }

static int blocks_per_multiprocessor(const ws_kernel_facts *facts,
                                     int threads) {
  int warps = (threads + WARP - 1) / WARP;
  int blocks = least(BLOCKS, THREADS / (warps * WARP));
  if (facts->vgpr > 0) {
    int units = (facts->vgpr * WARP + REGISTER_UNIT - 1) / REGISTER_UNIT;
    blocks = least(blocks, REGISTERS / (units * REGISTER_UNIT * warps));
  }
  return least(blocks,
               SHARED_BYTES / (ws__lds_bytes(facts) + SHARED_OF_SYSTEM));
}

int ws__workgroups_per_cu(const ws_target *target, const ws_kernel_facts *facts,
                          int threads) {
  return target->family == WS_FAMILY_NVPTX
             ? blocks_per_multiprocessor(facts, threads)
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
