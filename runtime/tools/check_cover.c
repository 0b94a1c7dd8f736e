/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The requests of a coverage to device servers of their own, until one fails.
 */
#include "check_cover.h"
#include "wavesmith/target.h"

enum { WALL_MS = 120000 };

int check_layout(const ws_candidate *candidate) {
  int index = ws_template_param_index(candidate->tmpl, "layout");
  return index < 0 ? 0 : (int)candidate->values[index];
}

static const char *device_of(const ws_candidate *candidate,
                             const char *device) {
  const ws_target *target = ws_target_find(candidate->tmpl->target);
  if (device || !target)
    return device ? device : "sim";
  return target->has_host_model ? "sim" : target->device;
}

/* What the device says of a candidate counts as the build's verdict. */
static void take_failure(const ws_measured *measured, ws_build_result *result) {
  result->verdict = measured->verdict;
  result->stage = "device";
  result->reason = measured->reason;
  result->findings = measured->findings;
  result->finding_count = measured->finding_count;
}

/* *out: the answer that ends it, ok when all are right. */
static ws_status cover(ws_device_client *client, ws_arena *arena,
                       ws_coverage_subject *subject,
                       const ws_coverage *coverage, int *out_verified,
                       ws_measured *out, ws_diag *diag) {
  size_t most = (size_t)(coverage->count / WS_COVERAGE_BATCH + 1);
  ws_measure_request *requests = ws_arena_alloc(arena, sizeof *requests * most);
  ws_measured *answers = ws_arena_alloc(arena, sizeof *answers * most);
  int count, answered;
  subject->cu_count = ws_device_client_info(client)->cu_count;
  *out = (ws_measured){.verdict = WS_VERDICT_OK};
  *out_verified = 0;
  WS_TRY(
      ws_coverage_requests(arena, subject, coverage, requests, &count, diag));
  for (int i = 0; i < count; i++)
    requests[i].settings.wall_ms = WALL_MS;
  WS_TRY(ws_device_client_measure_all(client, arena, requests, count, NULL,
                                      NULL, answers, &answered, diag));
  for (int i = 0; i < answered; i++) {
    *out = answers[i];
    if (out->verdict == WS_VERDICT_OK)
      *out_verified += requests[i].workload_count;
  }
  return WS_OK;
}

ws_status check_cover(ws_arena *arena, const char *device,
                      const ws_candidate *candidate, uint64_t seed,
                      ws_build_result *result, const char **out_text,
                      ws_diag *diag) {
  int verified;
  ws_coverage_subject subject = {.problem =
                                     ws_problem_find(candidate->tmpl->problem),
                                 .layout = check_layout(candidate),
                                 .candidate = candidate,
                                 .build = result};
  ws_coverage coverage;
  ws_device_client *client;
  ws_measured measured;
  if (!subject.problem)
    return ws_fail(diag, WS_INPUT, NULL, 0, "unknown problem '%s'",
                   candidate->tmpl->problem);
  ws_coverage_plan(arena, subject.problem, subject.layout, candidate, result,
                   seed, &coverage);
  WS_TRY(ws_device_client_start(device_of(candidate, device), &client, diag));
  ws_status status =
      cover(client, arena, &subject, &coverage, &verified, &measured, diag);
  *out_text = ws_coverage_text(arena, &coverage, verified);
  if (status == WS_OK && measured.verdict != WS_VERDICT_OK)
    take_failure(&measured, result);
  ws_device_client_stop(client);
  return status;
}
