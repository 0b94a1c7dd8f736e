/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a kernel that is a reference leaves, without a candidate: a simulator is
 * opened for it, on inputs that are made for it. For the compile server's
 * sanitizer.
 */
#include "reference_run.h"

#include <string.h>

static ws_status run_on(ws_device *device, ws_arena *arena,
                        const ws_workload *workload, void *const *results,
                        bool *out_done, ws_diag *diag) {
  ws_inputs *inputs = ws_inputs_create(device, 0);
  ws__input_set *set;
  ws__left left = {.poison = 0};
  ws_status status =
      ws__inputs_get(inputs, workload, WS__AS_PROMISED, 1, &set, diag);
  if (status == WS_OK)
    status = ws__reference_run_on(device, inputs, set, arena, workload, &left,
                                  out_done, diag);
  for (int i = 0; status == WS_OK && *out_done && i < WS_PROBLEM_MAX_ARGS; i++)
    if (left.outputs[i])
      memcpy(results[i], left.outputs[i], set->bytes[i]);
  ws__left_drop(&left);
  ws_inputs_destroy(inputs);
  return status;
}

ws_status ws_reference_run(const ws_problem *problem, const ws_shape *shape,
                           int form, uint64_t seed, void *const *results,
                           bool *out_done, ws_diag *diag) {
  ws_device *device;
  ws_arena *arena = ws_arena_create();
  ws_status status = WS_OK;
  ws_workload workload = {
      .problem = problem->name, .layout = form, .shape = *shape, .seed = seed};
  *out_done = false;
  status = ws_device_open("sim", WS_DEVICE_RUN, &device, diag);
  if (status == WS_OK) {
    workload.reference = ws__reference_workload(
        arena, problem, form, shape, ws_device_info_of(device)->cu_count);
    status = run_on(device, arena, &workload, results, out_done, diag);
    ws_device_close(device);
  }
  ws_arena_destroy(arena);
  return status;
}
