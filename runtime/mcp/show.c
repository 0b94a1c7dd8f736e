/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The tool show: one candidate with its code, facts and history.
 */
#include "page.h"
#include "wavesmith/bound_model.h"

#include <cjson/cJSON.h>
#include <string.h>

enum { ANCESTORS_MAX = 20 };

/* ---- code ---- */
/* Every region, or those that are named. */
static ws_status choose_regions(ws__mcp_call *call, const ws_template *tmpl,
                                int *out_regions, int *out_count) {
  const char *const *names;
  int count = ws__mcp_texts(call, "regions", &names);
  *out_count = 0;
  for (int i = 0; count == 0 && i < tmpl->region_count; i++)
    out_regions[(*out_count)++] = i;
  for (int i = 0; i < count; i++) {
    int region = ws_template_region_index(tmpl, names[i]);
    if (region < 0)
      return ws_fail(call->diag, WS_INPUT, NULL, 0,
                     "template %s has no region '%.60s'; task lists them",
                     tmpl->name, names[i]);
    out_regions[(*out_count)++] = region;
  }
  return WS_OK;
}

static ws_status put_code(ws__mcp_call *call, const ws__mcp_subject *subject) {
  int regions[WS_TEMPLATE_MAX_REGIONS], count;
  const ws_candidate *candidate = subject->candidate;
  WS_TRY(choose_regions(call, candidate->tmpl, regions, &count));
  ws_strbuf_puts(call->out, "\n## Code\n");
  if (count)
    ws_strbuf_puts(call->out,
                   ws_describe_code(call->arena, candidate,
                                    subject->source.text, regions, count));
  else
    ws_strbuf_puts(call->out, "The template has no regions.\n");
  if (ws__mcp_flag(call, "template")) {
    ws_strbuf_puts(call->out, "\nThe template:\n");
    ws_describe_fenced(call->out, ws_template_fence(subject->source.text),
                       subject->source.text);
  }
  return WS_OK;
}

/* ---- facts ---- */
static void put_mix(ws_strbuf *out, const ws_mix *mix) {
  const char *separator = "";
#define PUT(name)                                                              \
  if (mix->name) {                                                             \
    ws_strbuf_printf(out, "%s%s %d", separator, #name, mix->name);             \
    separator = ", ";                                                          \
  }
  WS_MIX_MAP(PUT)
#undef PUT
}

static void put_loop(ws_strbuf *out, const ws_loop *loop) {
  ws_strbuf_puts(out, "  - innermost loop: ");
  put_mix(out, &loop->mix);
  ws_strbuf_printf(
      out, "; loads %d bytes per lane, with %d clocks of MFMA to hide them\n",
      loop->load_bytes, loop->mfma_clocks_over_load);
}

static void put_kernel(ws_strbuf *out, const ws_kernel_facts *facts) {
  ws_strbuf_printf(
      out,
      "- %s: %d VGPR (%d of them accumulation), %d SGPR, %d bytes of LDS, %d "
      "bytes of scratch, spills %d VGPR and %d SGPR, %d bytes of code",
      facts->name, facts->vgpr, facts->agpr, facts->sgpr, facts->lds_bytes,
      facts->scratch_bytes, facts->vgpr_spills, facts->sgpr_spills,
      facts->code_bytes);
  if (facts->max_workgroup > 0)
    ws_strbuf_printf(
        out, "; of %d threads %d workgroups fit a CU", facts->max_workgroup,
        ws_occupancy_workgroups(facts, facts->max_workgroup, facts->lds_bytes));
  ws_strbuf_puts(out, "\n  - all of it: ");
  put_mix(out, &facts->mix);
  ws_strbuf_puts(out, "\n");
  for (int i = 0; i < facts->loop_count; i++)
    put_loop(out, &facts->loops[i]);
}

static void put_facts(ws__mcp_call *call, const ws__mcp_subject *subject) {
  if (!subject->has_build || subject->build.kernel_count == 0)
    return;
  ws_strbuf_puts(call->out, "\n## Compile facts\n");
  for (int i = 0; i < subject->build.kernel_count; i++)
    put_kernel(call->out, &subject->build.kernels[i]);
}

/* ---- history ---- */
static ws_status put_step(ws__mcp_call *call, const ws_candidate_row *row) {
  ws_speedup speedup = {0};
  if (*row->parent_id)
    WS_TRY(ws_archive_speedup(call->archive, call->arena, row->id,
                              row->parent_id, NULL, &speedup, call->diag));
  ws_strbuf_printf(call->out, "- %.*s %s%s%s", WS__MCP_ID_DIGITS, row->id,
                   row->verdict, *row->kind ? ", " : "", row->kind);
  if (*row->label || *row->move)
    ws_strbuf_printf(call->out, ": %s%s%s", row->label,
                     *row->label && *row->move ? "; " : "", row->move);
  if (speedup.value > 0)
    ws_strbuf_printf(call->out, "; over its parent %s",
                     ws__mcp_speedup_text(call->arena, &speedup));
  if (*row->reason)
    ws_strbuf_printf(call->out, "; %s", row->reason);
  ws_strbuf_puts(call->out, "\n");
  return WS_OK;
}

/* From the candidate back to where it came from. A chain that does not end (of
 * a damaged archive) is cut. */
static ws_status put_lineage(ws__mcp_call *call,
                             const ws_candidate_row *first) {
  ws_candidate_row row = *first;
  bool found = true;
  ws_strbuf_puts(call->out, "\n## Lineage, newest first\n");
  for (int i = 0; found && i < ANCESTORS_MAX; i++) {
    WS_TRY(put_step(call, &row));
    found = false;
    if (*row.parent_id)
      WS_TRY(ws_archive_get_candidate(call->archive, call->arena, row.parent_id,
                                      &found, &row, call->diag));
  }
  if (*first->second_parent_id)
    ws_strbuf_printf(call->out, "Second parent: %.*s\n", WS__MCP_ID_DIGITS,
                     first->second_parent_id);
  return WS_OK;
}

static ws_status put_children(ws__mcp_call *call, const char *id) {
  ws_candidate_row *rows;
  int count;
  WS_TRY(ws_archive_list_children(call->archive, call->arena, id, &rows, &count,
                                  call->diag));
  if (count)
    ws_strbuf_printf(call->out, "\n## Tried from it (%d)\n", count);
  for (int i = count > ANCESTORS_MAX ? count - ANCESTORS_MAX : 0; i < count;
       i++)
    WS_TRY(put_step(call, &rows[i]));
  return WS_OK;
}

static void put_claim(ws_strbuf *out, const cJSON *claim) {
  const cJSON *what = cJSON_GetObjectItemCaseSensitive(claim, "what");
  const cJSON *low = cJSON_GetObjectItemCaseSensitive(claim, "low");
  const cJSON *high = cJSON_GetObjectItemCaseSensitive(claim, "high");
  const cJSON *measured = cJSON_GetObjectItemCaseSensitive(claim, "measured");
  if (!cJSON_IsString(what) || !cJSON_IsNumber(low) || !cJSON_IsNumber(high))
    return;
  ws_strbuf_printf(out, "- %s: claimed %g to %g", what->valuestring,
                   low->valuedouble, high->valuedouble);
  if (cJSON_IsNumber(measured))
    ws_strbuf_printf(out, ", came out as %g", measured->valuedouble);
  ws_strbuf_puts(out, "\n");
}

static ws_status put_claims(ws__mcp_call *call, const char *id) {
  bool found;
  ws_exchange_row origin;
  WS_TRY(ws_archive_get_origin(call->archive, call->arena, id, &found, &origin,
                               call->diag));
  if (!found || !*origin.claims_json)
    return WS_OK;
  cJSON *claims = ws_json_parse(origin.claims_json, strlen(origin.claims_json),
                                "claims", NULL);
  const cJSON *claim;
  if (cJSON_GetArraySize(claims) > 0)
    ws_strbuf_puts(call->out, "\n## Claims\n");
  cJSON_ArrayForEach(claim, claims) put_claim(call->out, claim);
  cJSON_Delete(claims);
  return WS_OK;
}

/* ---- the whole ---- */
static void put_head(ws__mcp_call *call, const ws_candidate_row *row) {
  ws_strbuf_printf(call->out, "# Candidate %s\nVerdict: %s", row->id,
                   row->verdict);
  if (*row->stage)
    ws_strbuf_printf(call->out, ", at stage %s", row->stage);
  if (*row->reason)
    ws_strbuf_printf(call->out, ": %s", row->reason);
  ws_strbuf_printf(
      call->out, "\nTemplate: %s\nParameters: %s\n%s%s%sProposed by: %s\n",
      row->template_name, row->assignments, *row->variants ? "Variants: " : "",
      row->variants, *row->variants ? "\n" : "", row->proposer);
}

ws_status ws__mcp_show(ws__mcp_call *call) {
  ws__mcp_subject subject;
  WS_TRY(ws__mcp_load(call, ws__mcp_text(call, "id", ""), &subject));
  put_head(call, &subject.row);
  WS_TRY(put_code(call, &subject));
  put_facts(call, &subject);
  WS_TRY(put_lineage(call, &subject.row));
  WS_TRY(put_children(call, subject.row.id));
  return put_claims(call, subject.row.id);
}
