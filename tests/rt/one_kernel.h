/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A dispatch of two candidates with one kernel that takes nothing, on the HIP
 * library that records, for tests of what happens before a launch. A shape is
 * legal where no size is 13; even m go to candidate 0, odd m to 1.
 */
#ifndef WAVESMITH_TEST_ONE_KERNEL_H
#define WAVESMITH_TEST_ONE_KERNEL_H

#include "rt_test.h"

#include <stdatomic.h>

static atomic_int select_calls;

static inline int candidate_of(const long long *shape) {
  for (int i = 0; i < 3; i++)
    if (shape[i] == 13)
      return -1;
  return (int)(shape[0] % 2);
}
static inline int select_by_m(const long long *shape) {
  atomic_fetch_add(&select_calls, 1);
  return candidate_of(shape);
}

static const ws_rt_launch one_launch[] = {
    {"kernel", 64, 0, 8, NULL, 0, always, grid_of_cus}};
static const ws_rt_candidate two_candidates[] = {
    {"even", "", (const unsigned char *)"one", 4, NULL, 0, one_launch, 1,
     no_workspace, any_shape},
    {"odd", "", (const unsigned char *)"two", 4, NULL, 0, one_launch, 1,
     no_workspace, any_shape}};

/* tuned: [count][3] */
static inline ws_rt_dispatch one_kernel(const long long *tuned,
                                        uint32_t count) {
  setenv("WAVESMITH_HIP_LIBRARY", WS_FAKE_HIP, 1);
  return (ws_rt_dispatch){.abi_version = WS_RT_ABI_VERSION,
                          .driver = WS_RT_HIP,
                          .name = "hand",
                          .problem = "hand_gemm",
                          .layout = "kmajor",
                          .target = "gfx942",
                          .provenance = "none",
                          .candidates = two_candidates,
                          .candidate_count = 2,
                          .select = select_by_m,
                          .dimension_count = 3,
                          .dimensions = dimensions,
                          .tuned = tuned,
                          .tuned_count = count};
}

static inline int launch(const ws_rt_context *context, long long m, long long n,
                         long long k) {
  return ws_rt_run(context, (const long long[]){m, n, k}, NULL, 0, NULL, NULL,
                   0);
}

#endif
