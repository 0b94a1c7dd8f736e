/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A winner's coverage, from the run's seed to the archive.
 */
#include "covering.h"

void ws__covering_plan(ws_arena *arena, const ws__task *task, const char *id,
                       const ws_candidate *candidate,
                       const ws_build_result *build, ws_coverage *out) {
  const char *purpose = ws_arena_printf(arena, "coverage of %s", id);
  ws_coverage_plan(arena, task->problem,
                   ws_problem_layout_index(task->problem, task->layout),
                   candidate, build, ws__measuring_seed(task, purpose), out);
}

ws_status ws__covering_requests(ws_arena *arena, const ws__task *task,
                                int cu_count, const ws_candidate *candidate,
                                const ws_build_result *build,
                                const ws_coverage *coverage,
                                ws_measure_request *out_requests,
                                int *out_count, ws_diag *diag) {
  const ws_coverage_subject subject = {
      .problem = task->problem,
      .layout = ws_problem_layout_index(task->problem, task->layout),
      .candidate = candidate,
      .build = build,
      .cu_count = cu_count};
  return ws_coverage_requests(arena, &subject, coverage, out_requests,
                              out_count, diag);
}

ws_status ws__covering_keep(ws_archive *archive, ws_arena *arena,
                            const char *id, const char *provenance,
                            int64_t run_id, const ws_coverage *coverage,
                            int verified, const char *failure, ws_diag *diag) {
  const char *text = ws_coverage_text(arena, coverage, verified);
  const ws_coverage_row row = {
      .candidate_id = id,
      .provenance = provenance,
      .run_id = run_id,
      .seed = coverage->seed,
      .verified = verified,
      .planned = coverage->count,
      .text = failure ? ws_arena_printf(arena, "%s; %s", text, failure) : text};
  return coverage->count ? ws_archive_put_coverage(archive, &row, diag) : WS_OK;
}
