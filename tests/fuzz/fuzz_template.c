/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Any JSON as template records. Where they are a template: its default
 * candidate can be written and read back, and its constraints, sizes and grids
 * can be evaluated.
 */
#include "../gemm_shape.h"
#include "fuzz.h"
#include "wavesmith/problem.h"
#include "wavesmith/template.h"

#include <cjson/cJSON.h>

static void try_expr(const ws_expr *expr, const ws_scope *scope) {
  int64_t value;
  ws_diag diag = {""};
  ws_status status = ws_expr_eval(expr, scope, &value, &diag);
  FUZZ_CHECK_REFUSAL(status, diag);
}

static void use_template(ws_arena *arena, const ws_template *tmpl) {
  const ws_shape shape = gemm_shape(128, 576, 7168);
  ws_diag diag = {""};
  ws_candidate *candidate = ws_candidate_create(arena, tmpl);
  ws_hash id = candidate->id;
  const char *values = ws_candidate_values_text(arena, candidate);
  FUZZ_CHECK(ws_candidate_set(candidate, values, &diag) == WS_OK);
  FUZZ_CHECK(!strcmp(id.hex, candidate->id.hex));
  int broken = ws_candidate_broken_require(candidate, &shape, &diag);
  FUZZ_CHECK(broken >= -1 && broken < tmpl->require_count);
  ws_scope params = ws_candidate_scope(arena, candidate, NULL, 0);
  ws_scope all = ws_candidate_scope(arena, candidate, &shape, 304);
  for (int i = 0; i < tmpl->lds_count; i++)
    try_expr(tmpl->lds[i].bytes, &params);
  for (int i = 0; i < tmpl->launch_count; i++) {
    try_expr(tmpl->launches[i].threads, &params);
    try_expr(tmpl->launches[i].condition, &all);
    for (int axis = 0; axis < 3; axis++)
      try_expr(tmpl->launches[i].grid[axis], &all);
  }
  for (int r = 0; r < tmpl->region_count; r++)
    for (int v = 0; v < tmpl->regions[r].variant_count; v++) {
      const char *text =
          ws_arena_printf(arena, "%s=%s", tmpl->regions[r].function,
                          tmpl->regions[r].variants[v].function);
      FUZZ_CHECK(ws_candidate_set_variants(candidate, text, &diag) == WS_OK);
      FUZZ_CHECK(candidate->bodies[r].variant == v);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ws_diag diag = {""};
  struct cJSON *json = ws_json_parse((const char *)data, size, "fuzz", &diag);
  if (!json)
    return 0;
  ws_arena *arena = ws_arena_create();
  ws_records records;
  ws_status status = ws_records_from_json(arena, json, &records, &diag);
  FUZZ_CHECK_REFUSAL(status, diag);
  if (status == WS_OK) {
    struct cJSON *again = ws_records_to_json(&records);
    ws_records back;
    FUZZ_CHECK(ws_records_from_json(arena, again, &back, &diag) == WS_OK);
    FUZZ_CHECK(back.count == records.count);
    cJSON_Delete(again);
    const ws_template *tmpl;
    status = ws_template_from_records(arena, &records, "fuzz.ll",
                                      ws_hash_bytes(data, size), &tmpl, &diag);
    FUZZ_CHECK_REFUSAL(status, diag);
    if (status == WS_OK)
      use_template(arena, tmpl);
  }
  ws_arena_destroy(arena);
  cJSON_Delete(json);
  return 0;
}
