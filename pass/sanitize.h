/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the compile server does before it forks, so that ws_pass_sanitize
 * (pass.h) is cheap in the child: everything that does not depend on the
 * candidate. Calling neither is correct, only slower.
 */
#ifndef WAVESMITH_SANITIZE_H
#define WAVESMITH_SANITIZE_H

#include "pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Target machine, JIT, lane stacks. requires: ws_pass_initialize. */
void ws_sanitize_warm_up(void);

/* Makes and keeps the inputs and the fp64 reference of one run. The most
 * recent WS_SANITIZE_PREPARED_MAX are kept. */
enum { WS_SANITIZE_PREPARED_MAX = 64 };
void ws_sanitize_prepare(const ws_problem *problem, int layout,
                         const ws_shape *shape, uint64_t seed);

/* Where the time of the latest ws_pass_sanitize went, in ms; for the bench. */
typedef struct ws_sanitize_times {
  double instrument, code, run, compare;
} ws_sanitize_times;
ws_sanitize_times ws_sanitize_latest_times(void);

#ifdef __cplusplus
}
#endif
#endif
