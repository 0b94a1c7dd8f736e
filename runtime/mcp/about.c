/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The tools that say where the search stands: task, prompt, candidates.
 */
#include "page.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

/* ---- task ---- */
static ws_status get_run(ws__mcp_call *call, ws_run_row *out) {
  return ws_archive_get_run(call->archive, call->arena,
                            ws_session_run(call->session), out, call->diag);
}

static void put_shapes(ws__mcp_call *call, const ws_problem *problem,
                       const char *name) {
  const ws_shape_set *set = ws_problem_shape_set(problem, name);
  ws_strbuf_printf(call->out,
                   "\n## Shapes (%s)\n%s:", ws_dims_text(problem->dims),
                   set ? name : "given");
  if (!set)
    ws_strbuf_printf(call->out, " %s", name);
  for (int i = 0; set && i < set->count; i++)
    ws_strbuf_printf(call->out, " %s",
                     ws_shape_text(call->arena, &set->shapes[i]));
  ws_strbuf_puts(call->out, "\n");
}

static ws_status put_template(ws__mcp_call *call) {
  const ws_template *tmpl;
  WS_TRY(ws_archive_get_template(call->archive, call->arena,
                                 call->template_hash, &tmpl, NULL, call->diag));
  const ws_candidate *candidate = ws_candidate_create(call->arena, tmpl);
  int regions[WS_TEMPLATE_MAX_REGIONS];
  for (int i = 0; i < tmpl->region_count; i++)
    regions[i] = i;
  ws_strbuf_printf(call->out, "\n## Template\n%s",
                   ws_describe_template(call->arena, candidate));
  if (tmpl->region_count)
    ws_strbuf_printf(call->out,
                     "\n## Regions: functions that may be rewritten\n%s",
                     ws_describe_regions(call->arena, candidate, regions,
                                         tmpl->region_count));
  return WS_OK;
}

static void put_judging(ws__mcp_call *call) {
  const char *provenance = ws_session_provenance(call->session);
  const char *word = ws_provenance_word(provenance);
  ws_strbuf_printf(
      call->out,
      "\n## How a reply is judged\n"
      "A candidate is built, checked statically, run by a sanitizer, lowered, "
      "compared with what is known, verified against a reference and timed on "
      "all shapes. The first stage that fails ends it with a verdict, a reason "
      "and findings. Times are %s (%s).\n",
      word, *provenance ? provenance : WS_PROVENANCE_ESTIMATE);
}

static ws_status find_best(ws__mcp_call *call, const ws_run_row *run,
                           ws_candidate_summary **out_items, int *out_count) {
  const char *provenance = ws_session_provenance(call->session);
  const ws_archive_filter filter = {
      .problem = run->problem,
      .layout = run->layout,
      .target = run->target,
      .verdict = ws__mcp_text(call, "verdict", "ok"),
      .provenance = *provenance ? provenance : NULL,
      .run_id = ws__mcp_flag(call, "this_run") ? run->id : 0,
      .limit = ws__mcp_count(call, "limit", 20),
      .order_by_score = true};
  ws_archive_filter chosen = filter;
  if (!strcmp(filter.verdict, "any"))
    chosen.verdict = NULL;
  return ws_archive_list(call->archive, call->arena, &chosen, out_items,
                         out_count, call->diag);
}

static ws_status put_state(ws__mcp_call *call, const ws_run_row *run) {
  const ws_archive_filter filter = {.problem = run->problem,
                                    .layout = run->layout,
                                    .target = run->target,
                                    .run_id = run->id};
  int64_t counts[WS_VERDICT_COUNT];
  const char *separator = ":", *reference;
  WS_TRY(ws_archive_verdict_counts(call->archive, &filter, counts, call->diag));
  WS_TRY(ws__mcp_reference(call, &reference));
  ws_strbuf_printf(call->out, "\n## So far\nCandidates of this run (%lld)",
                   (long long)run->id);
  for (int i = 0; i < WS_VERDICT_COUNT; i++)
    if (counts[i]) {
      ws_strbuf_printf(call->out, "%s %s %lld", separator,
                       ws_verdict_text((ws_verdict)i), (long long)counts[i]);
      separator = ",";
    }
  ws_strbuf_puts(call->out, *separator == ':' ? ": none yet.\n" : ".\n");
  if (*reference)
    ws_strbuf_printf(call->out, "Speed-ups are over %.*s.\n", WS__MCP_ID_DIGITS,
                     reference);
  return WS_OK;
}

ws_status ws__mcp_task(ws__mcp_call *call) {
  ws_run_row run;
  WS_TRY(get_run(call, &run));
  const ws_problem *problem = ws_problem_find(run.problem);
  if (!problem)
    return ws_fail(call->diag, WS_INPUT, NULL, 0, "unknown problem '%.60s'",
                   run.problem);
  int layout = ws_problem_layout_index(problem, run.layout);
  ws_strbuf_printf(
      call->out,
      "# Task\nMake %s faster on %s, layout %s, over all shapes together "
      "(geometric mean), without breaking any.\n\n## Problem\n%s%s",
      run.problem, run.target, run.layout,
      ws_describe_problem(call->arena, problem, layout < 0 ? 0 : layout),
      ws_describe_advice(call->arena, problem, run.target));
  put_shapes(call, problem, run.shape_set);
  WS_TRY(put_template(call));
  put_judging(call);
  WS_TRY(put_state(call, &run));
  ws_strbuf_puts(call->out,
                 "\n## Next\n`prompt` with kind exploit or explore gives the "
                 "full briefing and the reply's grammar; `check` says what "
                 "is wrong with a reply, `submit` judges and keeps it; "
                 "`candidates`, `show`, `times`, `profile` and "
                 "`findings` look closer.\n");
  return WS_OK;
}

/* ---- prompt ---- */
ws_status ws__mcp_prompt(ws__mcp_call *call) {
  const char *const *parents;
  int count = ws__mcp_texts(call, "parents", &parents);
  ws_prompt prompt;
  WS_TRY(ws_session_prompt(call->session, call->arena, ws__mcp_kind(call),
                           parents, count, &prompt, call->diag));
  ws_strbuf_printf(call->out, "%s\n\n%s\n", prompt.system, prompt.user);
  if (*prompt.cut)
    ws_strbuf_printf(call->out, "\n(Cut for length: %s.)\n", prompt.cut);
  return WS_OK;
}

/* ---- candidates ---- */
static const char *what_changed(const ws_candidate_row *row) {
  return *row->label ? row->label : *row->move ? row->move : row->assignments;
}

static void structure_candidate(const ws_candidate_summary *item,
                                const ws_speedup *speedup, cJSON *list) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "id", item->row.id);
  cJSON_AddStringToObject(json, "verdict", item->row.verdict);
  cJSON_AddStringToObject(json, "parent", item->row.parent_id);
  cJSON_AddNumberToObject(json, "run", (double)item->row.run_id);
  cJSON_AddNumberToObject(json, "shapes", item->measured_shapes);
  if (item->measured_shapes)
    cJSON_AddNumberToObject(json, "geomean_us", item->geomean_us);
  if (speedup->value > 0)
    cJSON_AddNumberToObject(json, "speedup", speedup->value);
  cJSON_AddItemToArray(list, json);
}

static ws_status put_candidate(ws__mcp_call *call, const char *reference,
                               const ws_candidate_summary *item) {
  const ws_candidate_row *row = &item->row;
  ws_speedup speedup = {0};
  if (*reference && item->measured_shapes)
    WS_TRY(ws_archive_speedup(call->archive, call->arena, row->id, reference,
                              item->provenance, &speedup, call->diag));
  ws_strbuf_printf(call->out, "| %.*s |", WS__MCP_ID_DIGITS, row->id);
  if (speedup.value > 0)
    ws_strbuf_printf(call->out, " %.3fx |", speedup.value);
  else
    ws_strbuf_puts(call->out, " |");
  if (item->measured_shapes)
    ws_strbuf_printf(call->out, " %.2f | %d |", item->geomean_us,
                     item->measured_shapes);
  else
    ws_strbuf_puts(call->out, " | |");
  ws_strbuf_printf(call->out, " %s | %lld | %.*s | %s | %.120s%s%.120s |\n",
                   row->verdict, (long long)row->run_id, WS__MCP_ID_DIGITS,
                   row->parent_id, row->template_name, what_changed(row),
                   *row->reason ? "; " : "", row->reason);
  structure_candidate(
      item, &speedup,
      cJSON_GetObjectItemCaseSensitive(call->structured, "candidates"));
  return WS_OK;
}

ws_status ws__mcp_candidates(ws__mcp_call *call) {
  ws_run_row run;
  ws_candidate_summary *items;
  int count;
  const char *reference;
  WS_TRY(get_run(call, &run));
  WS_TRY(find_best(call, &run, &items, &count));
  WS_TRY(ws__mcp_reference(call, &reference));
  cJSON_AddStringToObject(call->structured, "reference", reference);
  cJSON_AddStringToObject(call->structured, "provenance",
                          ws_session_provenance(call->session));
  cJSON_AddArrayToObject(call->structured, "candidates");
  if (count == 0) {
    ws_strbuf_puts(call->out, "There is no such candidate yet.\n");
    return WS_OK;
  }
  ws_strbuf_printf(call->out,
                   "Best first. Speed-up is over %.*s; times are %s. This run "
                   "is %lld.\n\n| id | speed-up | geomean us | shapes | "
                   "verdict | run | parent | template | what |\n"
                   "|---|---|---|---|---|---|---|---|---|\n",
                   *reference ? WS__MCP_ID_DIGITS : 7,
                   *reference ? reference : "nothing",
                   ws_provenance_word(ws_session_provenance(call->session)),
                   (long long)run.id);
  for (int i = 0; i < count; i++)
    WS_TRY(put_candidate(call, reference, &items[i]));
  return WS_OK;
}
