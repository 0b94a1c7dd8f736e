/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A GEMM of one launch whose arguments lie as mock_hip.c, fake_device.c and
 * the kernels of tests/bench/harness.ptx read them.
 */
#ifndef WAVESMITH_TESTS_DEVICE_MOCK_WORKLOAD_H
#define WAVESMITH_TESTS_DEVICE_MOCK_WORKLOAD_H

#include "../gemm_shape.h"
#include "wavesmith/measure.h"

enum { MOCK_POINTERS = 5, MOCK_OPERANDS = 8 };

/* Addresses of a b as bs c, then m n k in 32 bits each. */
static inline ws_operand *mock_operands(ws_arena *memory) {
  static const char *const names[MOCK_OPERANDS] = {"a", "b", "as", "bs",
                                                   "c", "m", "n",  "k"};
  ws_operand *operands =
      ws_arena_alloc(memory, sizeof *operands * MOCK_OPERANDS);
  for (int i = 0; i < MOCK_OPERANDS; i++) {
    bool pointer = i < MOCK_POINTERS;
    operands[i] = (ws_operand){
        .kind = WS_OPERAND_PROBLEM,
        .name = names[i],
        .offset = pointer ? 8 * i : 8 * MOCK_POINTERS + 4 * (i - MOCK_POINTERS),
        .size = pointer ? 8 : 4};
  }
  return operands;
}

static inline ws_workload mock_workload_of(ws_arena *memory, const char *kernel,
                                           const ws_operand *operands,
                                           int64_t m, int64_t n, int64_t k) {
  ws_workload_launch *launch = ws_arena_alloc(memory, sizeof *launch);
  *launch = (ws_workload_launch){.kernel = kernel,
                                 .grid = {1, 1, 1},
                                 .block = 64,
                                 .operands = operands,
                                 .operand_count = MOCK_OPERANDS};
  return (ws_workload){.problem = "fp8_gemm_blockscale",
                       .shape = gemm_shape(m, n, k),
                       .seed = 7,
                       .launches = launch,
                       .launch_count = 1};
}

static inline ws_workload mock_workload(ws_arena *memory, const char *kernel,
                                        int64_t m, int64_t n, int64_t k) {
  return mock_workload_of(memory, kernel, mock_operands(memory), m, n, k);
}

#endif
