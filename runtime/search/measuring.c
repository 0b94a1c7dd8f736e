/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How a candidate becomes a request to the device.
 */
#include "measuring.h"

#include <stdlib.h>

ws_status ws__measuring_load(ws_archive *archive, ws_arena *arena,
                             const char *id, ws_candidate **out_candidate,
                             ws_build_result *out_build, ws_diag *diag) {
  bool found;
  ws_candidate_row row;
  const ws_template *tmpl;
  WS_TRY(ws_archive_get_candidate(archive, arena, id, &found, &row, diag));
  if (!found)
    return ws_fail(diag, WS_INPUT, NULL, 0, "candidate %s has gone", id);
  WS_TRY(ws_archive_get_template(archive, arena, row.template_hash, &tmpl, NULL,
                                 diag));
  WS_TRY(ws_archive_load_candidate(archive, arena, &row, tmpl, out_candidate,
                                   diag));
  WS_TRY(ws_archive_get_build(archive, arena, id, &found, out_build, diag));
  if (!found || !out_build->code_object_size)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "candidate %s has no code object in the archive", id);
  return WS_OK;
}

uint64_t ws__measuring_seed(const ws__task *task, const char *purpose) {
  ws_hasher *hasher = ws_hasher_create();
  ws_hasher_update(hasher, &task->seed, sizeof task->seed);
  ws_hasher_update_text(hasher, purpose);
  ws_hash hash = ws_hasher_finish(hasher);
  hash.hex[15] = 0; /* 60 bits: WS_HARD_INPUTS is the verifier's */
  return strtoull(hash.hex, NULL, 16);
}

static ws_status workload_of(ws_arena *arena, const ws__task *task, int layout,
                             const ws_candidate *candidate,
                             const ws_build_result *build,
                             const ws_covered *one, int cu_count,
                             ws_workload *out, ws_diag *diag) {
  WS_TRY(ws_workload_of(arena, task->problem,
                        ws_problem_form(task->problem, layout, one->striding),
                        candidate, build, &one->shape, cu_count, out, diag));
  out->sampled = one->sampled;
  return WS_OK;
}

ws_status ws__measuring_request(ws_arena *arena, const ws__task *task,
                                int cu_count, const ws_candidate *candidate,
                                const ws_build_result *build,
                                ws__question question, const ws_shape *shape,
                                const char *purpose, ws_measure_request *out,
                                ws_diag *diag) {
  int layout = ws_problem_layout_index(task->problem, task->layout);
  ws_covered cases[WS_VERIFY_SHAPES];
  int count = 1;
  if (question == WS__VERIFY_EDGES)
    count = ws_verify_shapes(task->problem, layout, candidate,
                             ws__measuring_seed(task, "edges"), cases);
  else
    cases[0] =
        (ws_covered){.shape = *shape, .sampled = question == WS__VERIFY_LARGE};
  if (count == 0)
    return ws_fail(
        diag, WS_INPUT, NULL, 0,
        "its constraints refuse every shape that candidates are verified on");
  ws_workload *workloads =
      ws_arena_alloc(arena, sizeof *workloads * WS_VERIFY_SHAPES);
  for (int i = 0; i < count; i++) {
    WS_TRY(workload_of(arena, task, layout, candidate, build, &cases[i],
                       cu_count, &workloads[i], diag));
    workloads[i].seed = ws__measuring_seed(task, purpose);
  }
  *out = (ws_measure_request){.op = question == WS__TIME ? WS_MEASURE_TIME
                                                         : WS_MEASURE_VERIFY,
                              .code_object = build->code_object,
                              .code_object_size = build->code_object_size,
                              .workloads = workloads,
                              .workload_count = count,
                              .settings = ws_measure_settings_default};
  if (question == WS__TIME)
    out->settings.roofline_us =
        ws_target_roofline_us(task->target, task->problem, &cases[0].shape);
  return WS_OK;
}

int ws__measuring_large(const ws_problem *problem,
                        const ws_candidate *candidate, const ws_shape *shapes,
                        int count) {
  const double most_flops = 2.4e10; /* 1024,1536,7168 takes 2 s */
  int found = -1;
  for (int i = 0; i < count; i++) {
    double flops = ws_problem_flops(problem, &shapes[i]);
    if (flops <= most_flops &&
        ws_candidate_broken_require(candidate, &shapes[i], NULL) < 0 &&
        (found < 0 || flops > ws_problem_flops(problem, &shapes[found])))
      found = i;
  }
  return found;
}

bool ws__measuring_is_too_slow(const ws_device_info *device,
                               const ws_measured *measured) {
  return device->simulated && !measured->finding_count &&
         measured->verdict == WS_VERDICT_TIMEOUT;
}
