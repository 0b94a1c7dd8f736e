/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * fp8_gemm_blockscale as it was when the runs were recorded, for
 * `wavesmith tune --problem`.
 */
#define LEGAL_M "m >= 16 && m % 16 == 0"
#include "../../kernels/fp8_gemm_blockscale/problem.c"
#include "../../runtime/base/rng.c"

void ws_assert_failed(const char *condition, const char *file, int line) {
  (void)condition, (void)file, (void)line;
  abort();
}
