/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Running a kernel that is a reference, on the inputs that a candidate gets. It
 * is trusted for its arithmetic alone: every byte of the outputs must have been
 * stored, inputs and guards must be as they were, and on a card two runs over
 * different poison must leave the same bytes, which shows both that all were
 * stored and that it does the same each time.
 */
#include "reference_run.h"

#include <stdlib.h>
#include <string.h>

/* On a simulator: wave instructions of a launch, about 10 s of one core. */
static const int64_t MOST_INSTRUCTIONS = INT64_C(100000000);

typedef struct running {
  ws__bench bench;
  ws_workload workload;
  ws_measured found;
  bool cut; /* it takes too long */
} running;

static ws_status look(running *r, bool watched, ws_diag *diag) {
  if (watched)
    ws__bench_check_stored(&r->bench, &r->found);
  if (r->found.verdict == WS_VERDICT_OK)
    WS_TRY(ws__bench_check_inputs(&r->bench, false, &r->found, diag));
  return r->found.verdict == WS_VERDICT_OK
             ? ws__bench_check_guards(&r->bench, &r->found, diag)
             : WS_OK;
}

static ws_status run_over(running *r, int poison, ws__left *out_left,
                          ws_diag *diag) {
  ws__bench *bench = &r->bench;
  WS_TRY(ws__bench_poison(bench, poison, diag));
  bool watched = ws__bench_watch(bench);
  ws_device_limit(bench->device, MOST_INSTRUCTIONS);
  ws_status status = ws__bench_start(bench, diag);
  if (status == WS_OK)
    status = ws_device_synchronise(bench->device, diag);
  r->cut |= ws_device_limit(bench->device, 0) > 0;
  ws__measured_add_report(&r->found, bench->device, bench->arena,
                          &r->workload.shape);
  if (r->cut || r->found.verdict != WS_VERDICT_OK)
    return WS_OK;
  WS_TRY(status);
  WS_TRY(look(r, watched, diag));
  return r->found.verdict == WS_VERDICT_OK
             ? ws__left_fetch(bench, out_left, diag)
             : WS_OK;
}

static void compare(running *r, const ws__left *a, const ws__left *b) {
  for (int i = 0; i < r->bench.problem->arg_count; i++)
    if (a->outputs[i] && b->outputs[i] &&
        memcmp(a->outputs[i], b->outputs[i], r->bench.bytes[i]))
      ws__measured_fail(&r->found, r->bench.arena, WS_VERDICT_UNSTABLE,
                        &r->workload.shape,
                        "two runs leave different bytes in '%s': not all are "
                        "written, or it does not do the same each time",
                        r->bench.problem->args[i].name);
}

static ws_status run(running *r, ws__left *out_left, ws_diag *diag) {
  ws__left again = {.poison = 0};
  WS_TRY(run_over(r, WS__POISON_NAN, out_left, diag));
  if (r->cut || r->found.verdict != WS_VERDICT_OK ||
      ws_device_info_of(r->bench.device)->simulated)
    return WS_OK;
  ws_status status = run_over(
      r, ws__bench_other_poison(r->bench.inputs, WS__POISON_NAN), &again, diag);
  if (status == WS_OK && r->found.verdict == WS_VERDICT_OK)
    compare(r, out_left, &again);
  ws__left_drop(&again);
  return status;
}

ws_status ws__reference_run_on(ws_device *device, ws_inputs *inputs,
                               ws__input_set *set, ws_arena *arena,
                               const ws_workload *of, ws__left *out_left,
                               bool *out_done, ws_diag *diag) {
  const ws__reference_build *build =
      ws__reference_find(set->problem, of->layout);
  running r = {.found = ws__measured_ok(device), .workload = *of};
  ws_device_module *module;
  *out_done = false;
  if (!build || !of->reference)
    return WS_OK;
  r.workload.workspace_bytes = of->reference->workspace_bytes;
  r.workload.launches = of->reference->launches;
  r.workload.launch_count = of->reference->launch_count;
  ws_diag cause;
  if (ws__inputs_module(inputs, build->code_object, build->size, &module,
                        &cause) != WS_OK)
    return ws_fail(diag, WS_ENVIRONMENT, set->problem->kernel->file, 0,
                   "the reference cannot be loaded on %s: %s",
                   ws_device_info_of(device)->name, cause.text);
  ws_status status = ws__bench_open(&r.bench, device, arena, module,
                                    &r.workload, inputs, set, 0, diag);
  if (status == WS_OK)
    status = run(&r, out_left, diag);
  ws__bench_close(&r.bench);
  if (status == WS_OK && r.found.verdict != WS_VERDICT_OK)
    status = ws_fail(diag, WS_ENVIRONMENT, set->problem->kernel->file, 0,
                     "the reference is at fault %s", r.found.reason);
  *out_done = status == WS_OK && !r.cut;
  return status;
}

ws_status ws__inputs_take_reference(ws_device *device, ws_inputs *inputs,
                                    ws__input_set *set,
                                    const ws_workload *workload,
                                    ws_diag *diag) {
  ws__left left = {.poison = 0};
  bool done;
  if (!set || !set->problem->kernel || set->reference_asked)
    return WS_OK;
  ws_arena *arena = ws_arena_create();
  ws_status status = ws__reference_run_on(device, inputs, set, arena, workload,
                                          &left, &done, diag);
  ws_arena_destroy(arena);
  if (status != WS_OK || !done)
    ws__left_drop(&left);
  for (int i = 0; i < WS_PROBLEM_MAX_ARGS; i++) {
    set->results[i] = left.outputs[i];
    set->held += left.outputs[i] ? set->bytes[i] : 0;
  }
  set->reference_asked = status == WS_OK;
  set->uncompared = !done;
  return status;
}
