/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Does a code object compute the problem? For each workload output and
 * workspace are poisoned, and every element is compared with the fp64 reference
 * under the problem's own bound, or a sample and a projection where the
 * workload says so; every byte of the output must have been stored, inputs and
 * guards must be as they were. Buffers are aligned no better than the problem
 * promises. What is compared in
 * full is also run on extreme inputs: a kernel that takes values for small,
 * scales for positive or blocks for not zero is wrong. On a simulator each
 * workload runs once on fresh buffers, because it is deterministic and checks
 * every access; a card runs each twice on inputs that are kept (inputs.c), and
 * results of which only one is right are `unstable`.
 */
#include "reference_run.h"
#include "result.h"

#include <string.h>

/* Elements of a large output that are compared: docs/verification.md. */
enum { SAMPLED_ELEMENTS = 512 };

/* ---- one run ---- */

static ws_status check_results(ws__bench *bench, bool watched, ws_measured *out,
                               ws_diag *diag) {
  const ws__sample sample = {.seed = ~bench->workload->seed,
                             .elements = SAMPLED_ELEMENTS,
                             .rows = INT64_MAX};
  if (watched)
    ws__bench_check_stored(bench, out);
  if (out->verdict == WS_VERDICT_OK)
    WS_TRY(ws__bench_check_inputs(bench, false, out, diag));
  if (out->verdict == WS_VERDICT_OK)
    WS_TRY(ws__bench_check_guards(bench, out, diag));
  if (out->verdict != WS_VERDICT_OK)
    return WS_OK;
  if (bench->workload->sampled)
    return ws__bench_sample(bench, &sample, out, diag);
  return ws__bench_compare(
      bench, 0, ws_problem_slices(bench->problem, &bench->workload->shape), out,
      diag);
}

/* WS_INPUT is the kernel's doing, the report may know better what. */
static ws_status run(ws__bench *bench, int poison, ws_measured *out,
                     ws_diag *diag) {
  WS_TRY(ws__bench_poison(bench, poison, diag));
  bool watched = ws__bench_watch(bench);
  ws_status status = ws__bench_start(bench, diag);
  if (status == WS_OK)
    status = ws_device_synchronise(bench->device, diag);
  ws__measured_add_report(out, bench->device, bench->arena,
                          &bench->workload->shape);
  if (status == WS_INPUT && out->verdict == WS_VERDICT_OK)
    ws__measured_fail(out, bench->arena, WS_VERDICT_CRASH,
                      &bench->workload->shape, "%s", diag->text);
  if (out->verdict != WS_VERDICT_OK)
    return WS_OK;
  WS_TRY(status);
  return bench->problem ? check_results(bench, watched, out, diag) : WS_OK;
}

/* A second run of what was right or wrong in the first, over other poison. */
static ws_status run_again(ws__bench *bench, const ws__left *left,
                           ws_measured *out, ws_diag *diag) {
  ws_measured first = *out, again = ws__measured_ok(bench->device);
  int poison = ws__bench_other_poison(bench->inputs, left->poison);
  WS_TRY(run(bench, poison, &again, diag));
  if (first.verdict != again.verdict) {
    ws__measured_fail(out, bench->arena, WS_VERDICT_UNSTABLE,
                      &bench->workload->shape,
                      "one of two runs on the same input is right; %s",
                      *first.reason ? first.reason : again.reason);
    return WS_OK;
  }
  if (first.verdict != WS_VERDICT_OK)
    return WS_OK;
  return ws__bench_check_written(bench, left, out, diag);
}

static ws_status run_twice(ws__bench *bench, ws_measured *out, ws_diag *diag) {
  ws__left left = {.poison = 0};
  WS_TRY(run(bench, WS__POISON_NAN, out, diag));
  if (out->verdict != WS_VERDICT_OK && out->verdict != WS_VERDICT_WRONG)
    return WS_OK;
  ws_status status = WS_OK;
  if (bench->problem)
    status = ws__left_fetch(bench, &left, diag);
  if (status == WS_OK)
    status = run_again(bench, &left, out, diag);
  ws__left_drop(&left);
  return status;
}

/* What notes every store runs once; extreme inputs meet other poison than
 * normal ones there. */
static ws_status verify_on(ws__bench *bench, ws_measured *out, ws_diag *diag) {
  uint64_t seed = bench->workload->seed;
  int poison =
      seed & WS_HARD_INPUTS ? (int)(seed % WS__POISON_NAN) : WS__POISON_NAN;
  bool once = ws_device_info_of(bench->device)->simulated &&
              (!bench->problem || ws__bench_watch(bench));
  return once ? run(bench, poison, out, diag) : run_twice(bench, out, diag);
}

/* ---- all workloads, to the first that goes wrong ---- */

typedef struct verification {
  ws_device *device;
  ws_arena *arena;
  ws_device_module *module;
  ws_inputs *inputs;
} verification;

static ws_status verify_once(const verification *v, const ws_workload *workload,
                             ws_measured *out, bool *out_fresh, ws_diag *diag) {
  ws__bench bench;
  ws__input_set *set = NULL;
  if (*workload->problem)
    WS_TRY(ws__inputs_get(v->inputs, workload, WS__AS_PROMISED, 1, &set, diag));
  WS_TRY(ws__inputs_take_reference(v->device, v->inputs, set, workload, diag));
  *out_fresh = !set || set->fresh;
  ws_status status = ws__bench_open(&bench, v->device, v->arena, v->module,
                                    workload, v->inputs, set, 0, diag);
  if (status == WS_OK)
    status = verify_on(&bench, out, diag);
  ws__bench_close(&bench);
  if (status != WS_INPUT)
    return status;
  /* no room for its workspace, a tensor map that the hardware refuses */
  ws__measured_fail(out, v->arena, WS_VERDICT_CRASH, &workload->shape, "%s",
                    diag->text);
  return WS_OK;
}

/* Inputs that were there before may have been damaged by another kernel: then
 * only a second try on new ones counts. */
static ws_status verify_workload(const verification *v,
                                 const ws_workload *workload, ws_measured *out,
                                 ws_diag *diag) {
  bool fresh;
  ws_measured before = *out;
  WS_TRY(verify_once(v, workload, out, &fresh, diag));
  if (out->verdict != WS_VERDICT_WRONG && out->verdict != WS_VERDICT_UNSTABLE)
    return WS_OK;
  ws__inputs_renew(v->inputs);
  if (fresh)
    return WS_OK;
  *out = before;
  WS_TRY(verify_once(v, workload, out, &fresh, diag));
  if (out->verdict != WS_VERDICT_OK)
    ws__inputs_renew(v->inputs);
  return WS_OK;
}

/* Once more, where that costs little, on contents that a candidate may have
 * been written to rely on the absence of. */
static ws_status verify_hard(const verification *v, const ws_workload *workload,
                             ws_measured *out, ws_diag *diag) {
  ws_workload hard = *workload;
  hard.seed |= WS_HARD_INPUTS;
  if (workload->sampled || workload->once || !*workload->problem)
    return WS_OK;
  WS_TRY(verify_workload(v, &hard, out, diag));
  if (out->verdict != WS_VERDICT_OK)
    out->reason =
        ws_arena_printf(v->arena, "%s, with extreme inputs", out->reason);
  return WS_OK;
}

static ws_status verify_all(const verification *v, const ws_workload *workloads,
                            int count, ws_measured *out, ws_diag *diag) {
  ws_status status = WS_OK;
  int uncompared = 0;
  for (int i = 0; i < count && status == WS_OK; i++) {
    out->uncompared_shapes = 0;
    status = verify_workload(v, &workloads[i], out, diag);
    if (status == WS_OK && out->verdict == WS_VERDICT_OK)
      status = verify_hard(v, &workloads[i], out, diag);
    uncompared += out->uncompared_shapes;
    out->uncompared_shapes = uncompared;
    if (out->verdict != WS_VERDICT_OK)
      break;
  }
  return status;
}

static ws_status load_and_verify(verification *v, const void *code_object,
                                 size_t size, const ws_workload *workloads,
                                 int count, ws_measured *out, ws_diag *diag) {
  static const ws_shape none;
  ws__inputs_begin(v->inputs);
  ws_status status =
      ws__inputs_module(v->inputs, code_object, size, &v->module, diag);
  if (status == WS_OK)
    return verify_all(v, workloads, count, out, diag);
  if (status != WS_INPUT)
    return status;
  ws__measured_fail(out, v->arena, WS_VERDICT_CRASH,
                    count ? &workloads[0].shape : &none, "%s", diag->text);
  return WS_OK;
}

ws_status ws_verify(ws_device *device, ws_arena *arena, const void *code_object,
                    size_t size, const ws_workload *workloads, int count,
                    ws_inputs *inputs, ws_measured *out_measured,
                    ws_diag *diag) {
  double begin_ms = ws_clock_ms();
  ws_inputs *temporary = inputs ? NULL : ws_inputs_create(device, 0);
  verification v = {
      .device = device, .arena = arena, .inputs = inputs ? inputs : temporary};
  *out_measured = ws__measured_ok(device);
  ws_status status = load_and_verify(&v, code_object, size, workloads, count,
                                     out_measured, diag);
  ws_inputs_destroy(temporary);
  out_measured->host_ms = ws_clock_ms() - begin_ms;
  return status;
}
