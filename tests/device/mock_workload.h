/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A workload of one launch whose arguments lie as mock_hip.c reads them.
 */
#ifndef WAVESMITH_TESTS_DEVICE_MOCK_WORKLOAD_H
#define WAVESMITH_TESTS_DEVICE_MOCK_WORKLOAD_H

#include "wavesmith/measure.h"

static inline ws_workload mock_workload(ws_arena *memory, const char *kernel,
                                        int64_t m, int64_t n, int64_t k) {
  static const char *const names[] = {"a", "b", "as", "bs", "c", "m", "n", "k"};
  enum { COUNT = 8, POINTERS = 5 };
  ws_operand *operands = ws_arena_alloc(memory, sizeof *operands * COUNT);
  for (int i = 0; i < COUNT; i++)
    operands[i] = (ws_operand){
        .kind = WS_OPERAND_PROBLEM,
        .name = names[i],
        .offset = i < POINTERS ? 8 * i : 8 * POINTERS + 4 * (i - POINTERS),
        .size = i < POINTERS ? 8 : 4};
  ws_workload_launch *launch = ws_arena_alloc(memory, sizeof *launch);
  *launch = (ws_workload_launch){.kernel = kernel,
                                 .grid = {1, 1, 1},
                                 .block = 64,
                                 .operands = operands,
                                 .operand_count = COUNT};
  return (ws_workload){.problem = "fp8_gemm_blockscale",
                       .shape = {m, n, k},
                       .seed = 7,
                       .launches = launch,
                       .launch_count = 1};
}

#endif
