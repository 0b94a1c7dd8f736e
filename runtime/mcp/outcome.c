/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The tools that say what became of a candidate: submit, findings, profile,
 * times.
 */
#include "page.h"

#include <cjson/cJSON.h>
#include <string.h>

/* ---- submit ---- */
static void put_verdict(ws__mcp_call *call, const ws_session_result *result) {
  ws__mcp_put_verdict(call, result->verdict, result->stage, result->reason);
  ws_strbuf_printf(call->out, "Candidate: %s\n",
                   *result->candidate_id ? result->candidate_id
                                         : "none; the reply held none");
  if (result->speedup_over_parent > 0)
    ws_strbuf_printf(call->out, "Speed-up over the parent: %.3fx\n",
                     result->speedup_over_parent);
  if (result->speedup_over_reference > 0)
    ws_strbuf_printf(call->out, "Speed-up over the reference: %.3fx\n",
                     result->speedup_over_reference);
}

static void structure_verdict(ws__mcp_call *call,
                              const ws_session_result *result) {
  cJSON *json = call->structured;
  ws__mcp_structure_verdict(call, result->verdict, result->stage,
                            result->reason, result->candidate_id);
  cJSON_AddStringToObject(json, "provenance",
                          ws_session_provenance(call->session));
  if (result->speedup_over_parent > 0)
    cJSON_AddNumberToObject(json, "speedup_over_parent",
                            result->speedup_over_parent);
  if (result->speedup_over_reference > 0)
    cJSON_AddNumberToObject(json, "speedup_over_reference",
                            result->speedup_over_reference);
}

static void put_advice(ws__mcp_call *call, const ws_session_result *result) {
  if (result->verdict == WS_VERDICT_OK)
    return;
  if (result->verdict == WS_VERDICT_DUPLICATE)
    ws_strbuf_puts(call->out, "\nNext: it is the same code as an earlier "
                              "candidate; try something else.\n");
  else if (*result->candidate_id)
    ws_strbuf_printf(call->out,
                     "\nNext: submit with kind repair and parents "
                     "[\"%.*s\"], or leave this idea.\n",
                     WS__MCP_ID_DIGITS, result->candidate_id);
  else
    ws_strbuf_puts(call->out, "\nNext: submit a mended reply with the same "
                              "kind and parents.\n");
}

/* What the times are compared with: the parent, or the reference where the
 * parent failed and has none. */
static ws_status choose_other(ws__mcp_call *call, const char *parent,
                              const char **out_id) {
  ws_measurement *items;
  int count = 0;
  *out_id = parent;
  if (*parent)
    WS_TRY(ws_archive_get_measurements(call->archive, call->arena, parent,
                                       &items, &count, call->diag));
  return count ? WS_OK : ws__mcp_reference(call, out_id);
}

static ws_status put_submitted_times(ws__mcp_call *call,
                                     const ws_candidate_row *row) {
  const char *other, *provenance = ws_session_provenance(call->session);
  WS_TRY(choose_other(call, row->parent_id, &other));
  ws_strbuf_printf(call->out, "\n## Times\nThe other is %.*s.\n\n",
                   *other ? WS__MCP_ID_DIGITS : 6, *other ? other : "nobody");
  return ws__mcp_put_times(call, row->id, *provenance ? provenance : NULL,
                           other);
}

static ws_status put_details(ws__mcp_call *call, const char *id) {
  ws__mcp_subject subject;
  WS_TRY(ws__mcp_load(call, id, &subject));
  if (subject.has_build && subject.build.finding_count > 0) {
    ws_strbuf_puts(call->out, "\n## Findings\n");
    ws__mcp_put_findings(call, &subject);
  }
  return strcmp(subject.row.verdict, "ok")
             ? WS_OK
             : put_submitted_times(call, &subject.row);
}

ws_status ws__mcp_submit(ws__mcp_call *call) {
  const char *const *parents;
  int count = ws__mcp_texts(call, "parents", &parents);
  ws_session_result result;
  WS_TRY(ws_session_submit(call->session, call->arena, ws__mcp_kind(call),
                           parents, count, ws__mcp_text(call, "reply", ""),
                           &result, call->diag));
  put_verdict(call, &result);
  structure_verdict(call, &result);
  if (*result.candidate_id)
    WS_TRY(put_details(call, result.candidate_id));
  put_advice(call, &result);
  return WS_OK;
}

/* ---- findings ---- */
ws_status ws__mcp_findings(ws__mcp_call *call) {
  ws__mcp_subject subject;
  WS_TRY(ws__mcp_load(call, ws__mcp_text(call, "id", ""), &subject));
  ws_strbuf_printf(call->out, "%.*s: %s%s%s%s%s\n", WS__MCP_ID_DIGITS,
                   subject.row.id, subject.row.verdict,
                   *subject.row.stage ? ", at stage " : "", subject.row.stage,
                   *subject.row.reason ? ": " : "", subject.row.reason);
  if (subject.has_build && subject.build.finding_count > 0)
    ws__mcp_put_findings(call, &subject);
  else
    ws_strbuf_puts(call->out, "There are no findings.\n");
  return WS_OK;
}

/* ---- times ---- */
static ws_status structure_times(ws__mcp_call *call, const char *id) {
  ws_measurement *items;
  int count;
  cJSON_AddStringToObject(call->structured, "candidate", id);
  cJSON *list = cJSON_AddArrayToObject(call->structured, "times");
  WS_TRY(ws_archive_get_measurements(call->archive, call->arena, id, &items,
                                     &count, call->diag));
  ws__mcp_structure_times(list, items, count);
  return WS_OK;
}

ws_status ws__mcp_times(ws__mcp_call *call) {
  ws__mcp_subject subject, other = {.row = {.id = ""}};
  ws_speedup speedup;
  const char *against = ws__mcp_text(call, "against", "");
  WS_TRY(ws__mcp_load(call, ws__mcp_text(call, "id", ""), &subject));
  WS_TRY(structure_times(call, subject.row.id));
  if (!*against)
    return ws__mcp_put_times(call, subject.row.id, NULL, "");
  WS_TRY(ws__mcp_load(call, against, &other));
  WS_TRY(ws_archive_speedup(call->archive, call->arena, subject.row.id,
                            other.row.id, NULL, &speedup, call->diag));
  ws_strbuf_printf(call->out, "%.*s over %.*s: %s\n\n", WS__MCP_ID_DIGITS,
                   subject.row.id, WS__MCP_ID_DIGITS, other.row.id,
                   ws__mcp_speedup_text(call->arena, &speedup));
  return ws__mcp_put_times(call, subject.row.id, NULL, other.row.id);
}

/* ---- profile ---- */
static const char *text_at(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  return cJSON_IsString(item) ? item->valuestring : "";
}

static double number_at(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* The name of the greatest share. */
static const char *greatest(const cJSON *shares) {
  const cJSON *share, *best = NULL;
  cJSON_ArrayForEach(share, shares) {
    if (cJSON_IsNumber(share) &&
        (!best || share->valuedouble > best->valuedouble))
      best = share;
  }
  return best ? best->string : "nothing";
}

static void put_hot_line(ws__mcp_call *call, const ws__mcp_subject *subject,
                         const cJSON *line) {
  const cJSON *stalls = cJSON_GetObjectItemCaseSensitive(line, "stalls");
  const char *file = text_at(line, "file"), *region = text_at(line, "region");
  double number = number_at(line, "line");
  int at = number > 0 && number < 1e8 ? (int)number : 0;
  const char *quote = ws__mcp_quote(call->arena, subject, file, at);
  ws_strbuf_printf(call->out, "- %.1f %% waiting for %s: %s%s",
                   100 * number_at(line, "share"), greatest(stalls), region,
                   *region ? ", " : "");
  if (at)
    ws_strbuf_printf(call->out, "line %d `%s`\n", at, quote);
  else
    ws_strbuf_printf(call->out, "`%s`\n", file);
}

/* The simulator's own explanation up to its list of lines, which are quoted
 * here with their text. */
static void put_launch(ws__mcp_call *call, const ws__mcp_subject *subject,
                       const cJSON *launch) {
  const cJSON *profile = cJSON_GetObjectItemCaseSensitive(launch, "profile");
  const cJSON *lines = cJSON_GetObjectItemCaseSensitive(profile, "lines");
  const cJSON *line;
  const char *text = text_at(launch, "text");
  const char *end = strstr(text, "\nhottest lines");
  ws_strbuf_printf(call->out, "\n## Kernel %s: bound by %s\n%.*s\n",
                   text_at(profile, "kernel"), text_at(profile, "bound"),
                   end ? (int)(end - text) : (int)strlen(text), text);
  if (cJSON_GetArraySize(lines) > 0)
    ws_strbuf_puts(call->out,
                   "Hottest lines, by their share of all wave clocks:\n");
  cJSON_ArrayForEach(line, lines) put_hot_line(call, subject, line);
}

/* JSON objects, one a line; what is none is passed over. */
static void put_report(ws__mcp_call *call, const ws__mcp_subject *subject,
                       const char *report) {
  while (*report) {
    size_t size = strcspn(report, "\n");
    cJSON *launch = ws_json_parse(report, size, "profile", NULL);
    if (cJSON_GetObjectItemCaseSensitive(launch, "profile"))
      put_launch(call, subject, launch);
    cJSON_Delete(launch);
    report += size + (report[size] == '\n');
  }
}

ws_status ws__mcp_profile(ws__mcp_call *call) {
  ws__mcp_subject subject;
  ws_shape shape;
  bool found;
  const char *report;
  WS_TRY(ws__mcp_load(call, ws__mcp_text(call, "id", ""), &subject));
  WS_TRY(ws_archive_get_profile(call->archive, call->arena, subject.row.id,
                                NULL, &found, &shape, &report, call->diag));
  if (found) {
    ws_strbuf_printf(call->out, "# Profile of %.*s on %s (simulated)\n",
                     WS__MCP_ID_DIGITS, subject.row.id,
                     ws_shape_text(call->arena, &shape));
    put_report(call, &subject, report);
    return WS_OK;
  }
  ws_strbuf_puts(call->out, "No simulator ran it, so there is no profile. Its "
                            "times and what bounds them:\n\n");
  return ws__mcp_put_times(call, subject.row.id, NULL, "");
}
