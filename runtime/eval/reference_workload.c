/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The launches of a kernel that is a reference, on a shape: evaluated by the
 * side that knows expressions, so that a device server needs nothing of the
 * template.
 */
#include "reference.h"

#include <cjson/cJSON.h>

static ws_status read_template(ws_arena *arena, const ws__reference *reference,
                               const ws_template **out, ws_diag *diag) {
  ws_records records;
  WS_TRY(ws_records_from_json(
      arena, cJSON_GetObjectItemCaseSensitive(reference->json, "records"),
      &records, diag));
  return ws_template_from_records(arena, &records, reference->kernel.file,
                                  reference->kernel.hash, out, diag);
}

static ws_status evaluate(ws_arena *arena, const ws_problem *problem, int form,
                          const ws_shape *shape, int cu_count,
                          const ws__reference_build *build, ws_workload *out,
                          ws_diag *diag) {
  const ws_template *tmpl;
  ws_build_result result;
  WS_TRY(read_template(arena, ws__reference_of(problem), &tmpl, diag));
  ws_candidate *candidate = ws_candidate_create(arena, tmpl);
  WS_TRY(ws_candidate_set(candidate,
                          cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(
                              build->json, "assignments")),
                          diag));
  WS_TRY(ws_build_result_from_json(
      arena, cJSON_GetObjectItemCaseSensitive(build->json, "result"), &result,
      diag));
  return ws__workload_alone(arena, problem, form, candidate, &result, shape,
                            cu_count, out, diag);
}

const struct ws_workload_reference *
ws__reference_workload(ws_arena *arena, const ws_problem *problem, int form,
                       const ws_shape *shape, int cu_count) {
  const ws__reference_build *build = ws__reference_find(problem, form);
  ws_workload workload;
  ws_diag ignored;
  if (!build || evaluate(arena, problem, form, shape, cu_count, build,
                         &workload, &ignored) != WS_OK)
    return NULL;
  struct ws_workload_reference *out = ws_arena_alloc(arena, sizeof *out);
  *out = (struct ws_workload_reference){.workspace_bytes =
                                            workload.workspace_bytes,
                                        .launches = workload.launches,
                                        .launch_count = workload.launch_count};
  return out;
}
