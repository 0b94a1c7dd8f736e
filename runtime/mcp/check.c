/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The tool that judges a reply and keeps nothing of it.
 */
#include "page.h"

#include <cjson/cJSON.h>
#include <math.h>

static double geomean_us(const ws_session_check *check) {
  double sum = 0;
  for (int i = 0; i < check->estimate_count; i++)
    sum += log(check->estimates[i].us);
  return exp(sum / check->estimate_count);
}

/* ---- for readers ---- */
static void put_stages(ws__mcp_call *call, const ws_session_check *check) {
  ws_strbuf_puts(call->out, "Stages that were run:");
  for (int i = 0; i < check->stage_count; i++)
    ws_strbuf_printf(call->out, "%s %s", i ? "," : "", check->stages[i]);
  ws_strbuf_puts(call->out, "\n");
}

static void put_estimates(ws__mcp_call *call, const ws_session_check *check) {
  if (!check->estimate_count)
    return;
  ws_strbuf_printf(call->out,
                   "\n## Estimates of the bound model\nNo time was taken. "
                   "Geometric mean: %.2f us.\n\n",
                   geomean_us(check));
  ws__mcp_put_time_table(call, check->estimates, check->estimate_count);
}

static void put_advice(ws__mcp_call *call, const ws_session_check *check) {
  const char *text =
      check->verdict == WS_VERDICT_OK ? "submit the same reply to have it timed"
      : check->verdict == WS_VERDICT_DUPLICATE
          ? "it is the same code as an earlier candidate; try something else"
          : "mend the reply and check it again, with the same kind and parents";
  ws_strbuf_printf(call->out, "\nNext: %s. Nothing of this was recorded.\n",
                   text);
}

/* ---- for programs ---- */
static void structure_findings(ws__mcp_call *call,
                               const ws__mcp_subject *subject) {
  cJSON *list = cJSON_AddArrayToObject(call->structured, "findings");
  for (int i = 0; i < subject->build.finding_count; i++) {
    const ws_finding *finding = &subject->build.findings[i];
    cJSON *json = ws_json_write(&ws_finding_json, finding);
    cJSON_AddStringToObject(
        json, "code",
        ws__mcp_quote(call->arena, subject, finding->file, finding->line));
    cJSON_AddItemToArray(list, json);
  }
}

static void structure(ws__mcp_call *call, const ws_session_check *check) {
  cJSON *json = call->structured;
  ws__mcp_structure_verdict(call, check->verdict, check->stage, check->reason,
                            check->candidate_id);
  cJSON *stages = cJSON_AddArrayToObject(json, "stages");
  for (int i = 0; i < check->stage_count; i++)
    cJSON_AddItemToArray(stages, cJSON_CreateString(check->stages[i]));
  cJSON *estimates = cJSON_AddArrayToObject(json, "estimates");
  ws__mcp_structure_times(estimates, check->estimates, check->estimate_count);
  if (check->estimate_count)
    cJSON_AddNumberToObject(json, "estimate_geomean_us", geomean_us(check));
}

/* A candidate that is in no archive, as one that is. */
static ws__mcp_subject subject_of(const ws_session_check *check) {
  const ws_template *tmpl = check->candidate ? check->candidate->tmpl : NULL;
  return (ws__mcp_subject){
      .source = {.text = check->template_text, .file = tmpl ? tmpl->file : ""},
      .candidate = check->candidate,
      .has_build = true,
      .build = {.findings = check->findings,
                .finding_count = check->finding_count}};
}

ws_status ws__mcp_check(ws__mcp_call *call) {
  const char *const *parents;
  int count = ws__mcp_texts(call, "parents", &parents);
  ws_session_check check;
  WS_TRY(ws_session_check_reply(call->session, call->arena, ws__mcp_kind(call),
                                parents, count, ws__mcp_text(call, "reply", ""),
                                &check, call->diag));
  const ws__mcp_subject subject = subject_of(&check);
  ws__mcp_put_verdict(call, check.verdict, check.stage, check.reason);
  put_stages(call, &check);
  if (check.finding_count) {
    ws_strbuf_puts(call->out, "\n## Findings\n");
    ws__mcp_put_findings(call, &subject);
  }
  put_estimates(call, &check);
  put_advice(call, &check);
  structure(call, &check);
  structure_findings(call, &subject);
  return WS_OK;
}
