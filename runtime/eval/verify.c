/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Does a code object compute the problem? Each workload gets fresh buffers and
 * contents, a poisoned output and workspace, and a comparison of every element
 * with the fp64 reference under the problem's own bound, or of a sample and a
 * projection where the workload says so; inputs and guards must be as they
 * were. What is compared in full is also run on extreme inputs: a kernel that
 * takes values for small, scales for positive or blocks for not zero is wrong.
 * On a simulator each workload runs once, because it is deterministic and
 * checks every access; a card runs each twice, and results of which only one is
 * right are `unstable`.
 */
#include "bench.h"

#include <string.h>

enum { CARD_RUNS = 2 };

/* ---- after the run ---- */

static ws_status check_inputs(ws__bench *bench, ws_measured *out,
                              ws_diag *diag) {
  const ws_problem *problem = bench->problem;
  for (int i = 0; i < problem->arg_count; i++) {
    if (problem->args[i].role != WS_ARG_INPUT)
      continue;
    void *now = ws_arena_alloc(bench->arena, bench->bytes[i]);
    WS_TRY(ws_device_download(bench->device, now, bench->memory[i],
                              bench->bytes[i], diag));
    if (memcmp(now, bench->host[i], bench->bytes[i])) {
      ws__measured_fail(
          out, bench->arena, WS_VERDICT_WRONG, &bench->workload->shape,
          "the kernel wrote to its input '%s'", problem->args[i].name);
      return WS_OK;
    }
  }
  return WS_OK;
}

static ws_status check_guards(ws__bench *bench, ws_measured *out,
                              ws_diag *diag) {
  const ws_problem *problem = bench->problem;
  unsigned char *now = ws_arena_alloc(bench->arena, bench->guard);
  for (int i = 0; bench->guard && i < problem->arg_count; i++) {
    ws_arg_role role = problem->args[i].role;
    if (role != WS_ARG_OUTPUT && role != WS_ARG_WORKSPACE)
      continue;
    const char *guard = (const char *)bench->memory[i] + bench->bytes[i];
    WS_TRY(ws_device_download(bench->device, now, guard, bench->guard, diag));
    for (size_t b = 0; b < bench->guard; b++)
      if (now[b] != 0xff) {
        ws__measured_fail(out, bench->arena, WS_VERDICT_WRONG,
                          &bench->workload->shape,
                          "the kernel wrote %zu bytes behind the end of '%s'",
                          b, problem->args[i].name);
        return WS_OK;
      }
  }
  return WS_OK;
}

static ws_status check_results(ws__bench *bench, ws_measured *out,
                               ws_diag *diag) {
  WS_TRY(check_inputs(bench, out, diag));
  if (out->verdict == WS_VERDICT_OK)
    WS_TRY(check_guards(bench, out, diag));
  if (out->verdict != WS_VERDICT_OK)
    return WS_OK;
  WS_TRY(ws__bench_fetch(bench, diag));
  if (bench->workload->sampled)
    ws__bench_sample(bench, out);
  else
    ws__bench_compare(bench, 0, bench->workload->shape.m, out);
  return WS_OK;
}

/* ---- one run ---- */

/* WS_INPUT is the kernel's doing, the report may know better what. */
static ws_status run(ws__bench *bench, ws_measured *out, ws_diag *diag) {
  WS_TRY(ws__bench_poison(bench, diag));
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
  return bench->problem ? check_results(bench, out, diag) : WS_OK;
}

static ws_status run_again(ws__bench *bench, ws_measured *out, ws_diag *diag) {
  ws_measured first = *out, again = ws__measured_ok(bench->device);
  WS_TRY(run(bench, &again, diag));
  if (first.verdict == again.verdict)
    return WS_OK;
  ws__measured_fail(out, bench->arena, WS_VERDICT_UNSTABLE,
                    &bench->workload->shape,
                    "one of two runs on the same input is right; %s",
                    *first.reason ? first.reason : again.reason);
  return WS_OK;
}

static ws_status verify_on(ws__bench *bench, ws_measured *out, ws_diag *diag) {
  WS_TRY(run(bench, out, diag));
  bool simulated = ws_device_info_of(bench->device)->simulated;
  for (int i = 1;
       i < CARD_RUNS && !simulated &&
       (out->verdict == WS_VERDICT_OK || out->verdict == WS_VERDICT_WRONG);
       i++)
    WS_TRY(run_again(bench, out, diag));
  return WS_OK;
}

/* ---- all workloads, to the first that goes wrong ---- */

static ws_status verify_workload(ws_device *device, ws_arena *arena,
                                 ws_device_module *module,
                                 const ws_workload *workload, ws_measured *out,
                                 ws_diag *diag) {
  ws__bench bench;
  ws_status status =
      ws__bench_open(&bench, device, arena, module, workload, NULL, diag);
  if (status == WS_OK)
    status = verify_on(&bench, out, diag);
  ws__bench_close(&bench);
  return status;
}

/* Once more, where that costs little, on contents that a candidate may have
 * been written to rely on the absence of. */
static ws_status verify_hard(ws_device *device, ws_arena *arena,
                             ws_device_module *module,
                             const ws_workload *workload, ws_measured *out,
                             ws_diag *diag) {
  ws_workload hard = *workload;
  hard.seed |= WS_HARD_INPUTS;
  if (workload->sampled || !*workload->problem)
    return WS_OK;
  WS_TRY(verify_workload(device, arena, module, &hard, out, diag));
  if (out->verdict != WS_VERDICT_OK)
    out->reason =
        ws_arena_printf(arena, "%s, with extreme inputs", out->reason);
  return WS_OK;
}

static ws_status verify_all(ws_device *device, ws_arena *arena,
                            ws_device_module *module,
                            const ws_workload *workloads, int count,
                            ws_measured *out, ws_diag *diag) {
  ws_status status = WS_OK;
  for (int i = 0; i < count && status == WS_OK; i++) {
    status = verify_workload(device, arena, module, &workloads[i], out, diag);
    if (status == WS_OK && out->verdict == WS_VERDICT_OK)
      status = verify_hard(device, arena, module, &workloads[i], out, diag);
    if (out->verdict != WS_VERDICT_OK)
      break;
  }
  return status;
}

ws_status ws_verify(ws_device *device, ws_arena *arena, const void *code_object,
                    size_t size, const ws_workload *workloads, int count,
                    ws_inputs *inputs, ws_measured *out_measured,
                    ws_diag *diag) {
  (void)inputs;
  static const ws_shape none;
  double begin_ms = ws_clock_ms();
  ws_device_module *module;
  *out_measured = ws__measured_ok(device);
  ws_status status = ws_device_load(device, code_object, size, &module, diag);
  if (status == WS_OK)
    status =
        verify_all(device, arena, module, workloads, count, out_measured, diag);
  else if (status == WS_INPUT) {
    ws__measured_fail(out_measured, arena, WS_VERDICT_CRASH,
                      count ? &workloads[0].shape : &none, "%s", diag->text);
    status = WS_OK;
  }
  ws_device_unload(device, module);
  out_measured->host_ms = ws_clock_ms() - begin_ms;
  return status;
}
