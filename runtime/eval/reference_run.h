/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a kernel that is the reference leaves on a set of inputs.
 */
#ifndef WAVESMITH_EVAL_REFERENCE_RUN_H
#define WAVESMITH_EVAL_REFERENCE_RUN_H

#include "reference.h"
#include "result.h"

/* Runs it on the workload's set. *out_done false, and no outputs in *out_left:
 * it does not take the shape, or takes too long. Drop *out_left in any case. */
ws_status ws__reference_run_on(ws_device *device, ws_inputs *inputs,
                               ws__input_set *set, ws_arena *arena,
                               const ws_workload *of, ws__left *out_left,
                               bool *out_done, ws_diag *diag) WS_MUST_CHECK;
/* Runs it unless that was done, or the problem has none: what it left is the
 * set's `results`. To be called before a candidate's launches, whose outputs
 * lie at the same place on a card. WS_ENVIRONMENT: it is at fault, which is no
 * candidate's doing. */
ws_status ws__inputs_take_reference(ws_device *device, ws_inputs *inputs,
                                    ws__input_set *set,
                                    const ws_workload *workload,
                                    ws_diag *diag) WS_MUST_CHECK;

#endif
