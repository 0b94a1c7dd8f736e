/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What ws_time asks of the inputs that are kept (wavesmith/measure.h).
 */
#ifndef WAVESMITH_EVAL_INPUTS_H
#define WAVESMITH_EVAL_INPUTS_H

#include "wavesmith/measure.h"

/* The workload's inputs on the device, by the problem's argument; valid until
 * the next call. */
ws_status ws__inputs_get(ws_inputs *inputs, const ws_problem *problem,
                         const ws_workload *workload, void *const **out_memory,
                         ws_diag *diag) WS_MUST_CHECK;

#endif
