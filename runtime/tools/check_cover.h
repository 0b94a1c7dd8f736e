/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith check --thorough`: the whole coverage of one candidate
 * (wavesmith/coverage.h) on a device.
 */
#ifndef WAVESMITH_CHECK_COVER_H
#define WAVESMITH_CHECK_COVER_H

#include "wavesmith/coverage.h"

/* Index of the layout that a candidate is for. */
int check_layout(const ws_candidate *candidate);
/* device NULL: the simulator where the target has one, else the target's card.
 * A candidate that fails gets the device's verdict and findings in *result,
 * stage "device". *out_text: what was covered. */
ws_status check_cover(ws_arena *arena, const char *device,
                      const ws_candidate *candidate, uint64_t seed,
                      ws_build_result *result, const char **out_text,
                      ws_diag *diag) WS_MUST_CHECK;

#endif
