/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What was tried from a parent, how the parent came to be, and what became of
 * each attempt: verdict and reason, ratio against what it was made from, claims
 * against outcomes, and the lines that were changed. For a document of
 * findings: all attempts since the last one.
 */
#include "brief_page.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_CHILDREN = 12,
  MOST_COUSINS = 3,
  MOST_ANCESTORS = 6,
  MOST_RECENT = 48,
  MOST_TIMES = 12, /* shapes of a search whose times are told by attempt */
  WITH_DIFF = 4,
  DIFF_LINES = 10,
  REASON_BYTES = 200,
  REPLY_BYTES = 100 /* why a reply held no candidate */
};

static const ws__result *result_at(const ws__page *page, int index) {
  return &page->brief->knowledge->results[index];
}

static bool is_move(const ws__page *page, int index) {
  return result_at(page, index)->request.climb > 0;
}

/* ---- one attempt -----------------------------------------------------------
 */

static void put_claim(const cJSON *claim, ws_strbuf *out) {
  const cJSON *what = cJSON_GetObjectItemCaseSensitive(claim, "what");
  const cJSON *low = cJSON_GetObjectItemCaseSensitive(claim, "low");
  const cJSON *high = cJSON_GetObjectItemCaseSensitive(claim, "high");
  const cJSON *got = cJSON_GetObjectItemCaseSensitive(claim, "measured");
  if (!cJSON_IsString(what) || !cJSON_IsNumber(low) || !cJSON_IsNumber(high))
    return;
  ws_strbuf_printf(out, "; claimed %s %.5g to %.5g", what->valuestring,
                   low->valuedouble, high->valuedouble);
  if (cJSON_IsNumber(got))
    ws_strbuf_printf(out, ", is %.5g (%s)", got->valuedouble,
                     got->valuedouble < low->valuedouble    ? "below"
                     : got->valuedouble > high->valuedouble ? "above"
                                                            : "holds");
}

static ws_status put_claims(ws__page *page, int index, ws_strbuf *out) {
  bool found;
  ws_exchange_row row;
  WS_TRY(ws_archive_get_outcome(page->brief->archive, page->arena,
                                page->brief->run_id, index, &found, &row,
                                page->diag));
  if (!found || !*row.claims_json)
    return WS_OK;
  cJSON *claims = cJSON_Parse(row.claims_json);
  const cJSON *claim;
  cJSON_ArrayForEach(claim, claims) put_claim(claim, out);
  cJSON_Delete(claims);
  return WS_OK;
}

/* In the order of the list of shapes. */
static void put_times(const ws__page *page, const ws__result *result,
                      ws_strbuf *out) {
  const int count = page->brief->knowledge->shape_count;
  bool any = false;
  for (int s = 0; s < count; s++)
    any |= isfinite(result->us[s]);
  if (!any || count > MOST_TIMES)
    return;
  ws_strbuf_puts(out, "; us:");
  for (int s = 0; s < count; s++)
    ws_strbuf_printf(out, isfinite(result->us[s]) ? " %.4g" : " -",
                     result->us[s]);
}

/* "ok, 1.0412 (95 % ...) over 77c01b9e", "wrong (sanitize): lds-race ..." */
static ws_status put_outcome(ws__page *page, int index, int against,
                             ws_strbuf *out) {
  const ws__result *result = result_at(page, index);
  const char *ratio;
  WS_TRY(ws__page_ratio(page, index, against, &ratio));
  ws_strbuf_puts(out, ws_verdict_text(result->verdict));
  if (*ratio && against >= 0)
    ws_strbuf_printf(out, ", speed-up over %s %s", ws__page_name(page, against),
                     ratio);
  put_times(page, result, out);
  if (result->verdict == WS_VERDICT_OK)
    return WS_OK;
  if (*result->stage)
    ws_strbuf_printf(out, " (%s)", result->stage);
  const char *reason = ws__page_without_folders(page, result->reason);
  const int most = *result->id ? REASON_BYTES : REPLY_BYTES;
  if (*reason)
    ws_strbuf_printf(out, ": %.*s%s", most, reason,
                     strlen(reason) > (size_t)most ? "..." : "");
  return WS_OK;
}

static void put_parameters(const ws_candidate *before,
                           const ws_candidate *after, ws_strbuf *out) {
  for (int i = 0; i < after->tmpl->param_count; i++)
    if (before->values[i] != after->values[i])
      ws_strbuf_printf(
          out, "    %s %lld -> %lld\n", after->tmpl->params[i].name,
          (long long)before->values[i], (long long)after->values[i]);
}

static void put_bodies(ws__page *page, const ws__subject *before,
                       const ws__subject *after, ws_strbuf *out) {
  for (int i = 0; i < after->candidate->tmpl->region_count; i++) {
    const ws_body *a = &before->candidate->bodies[i],
                  *b = &after->candidate->bodies[i];
    if (ws_body_same(a, b))
      continue;
    const char *language;
    const char *old = ws_region_text(page->arena, before->candidate,
                                     before->template_text, i, &language);
    const char *new = ws_region_text(page->arena, after->candidate,
                                     after->template_text, i, &language);
    ws_strbuf_printf(out, "    region %s:\n",
                     after->candidate->tmpl->regions[i].function);
    ws__page_diff(old ? old : "", new ? new : "", DIFF_LINES, out);
  }
}

/* What the attempt changed; of a new template its name. */
static ws_status put_change(ws__page *page, int index, int against,
                            ws_strbuf *out) {
  ws__subject before, after;
  if (against < 0 || !*result_at(page, index)->id)
    return WS_OK;
  WS_TRY(ws__page_load(page, against, &before));
  WS_TRY(ws__page_load(page, index, &after));
  if (strcmp(before.candidate->tmpl->hash.hex,
             after.candidate->tmpl->hash.hex)) {
    ws_strbuf_printf(out, "    a template of its own, %s: %s\n",
                     after.candidate->tmpl->name,
                     after.candidate->tmpl->purpose);
    return WS_OK;
  }
  put_parameters(before.candidate, after.candidate, out);
  put_bodies(page, &before, &after, out);
  return WS_OK;
}

static ws_status put_attempt(ws__page *page, int index, int against,
                             bool with_change, ws_strbuf *out) {
  const ws__result *result = result_at(page, index);
  bool found = false;
  ws_candidate_row row;
  if (*result->id)
    WS_TRY(ws_archive_get_candidate(page->brief->archive, page->arena,
                                    result->id, &found, &row, page->diag));
  const bool move = is_move(page, index);
  ws_strbuf_printf(out, "- %s %s", ws__page_name(page, index),
                   move ? "small move" : ws_request_text(result->request.kind));
  if (found && move)
    ws_strbuf_printf(out, ", %s", row.move);
  else if (found && *row.label)
    ws_strbuf_printf(out, " \"%s\"", row.label);
  ws_strbuf_puts(out, ": ");
  WS_TRY(put_outcome(page, index, against, out));
  if (result->verdict == WS_VERDICT_OK)
    WS_TRY(put_claims(page, index, out));
  ws_strbuf_puts(out, "\n");
  if (move)
    return WS_OK;
  WS_TRY(ws__page_why(page, index, against, out));
  return with_change ? put_change(page, index, against, out) : WS_OK;
}

/* ---- which -----------------------------------------------------------------
 */

static bool is_attempt(const ws__page *page, int index) {
  return !ws_request_is_document(result_at(page, index)->request.kind);
}

static bool is_child(const ws__page *page, int index, int parent) {
  return is_attempt(page, index) && index != parent &&
         ws__page_origin(page, index) == parent;
}

/* Small moves aside; the latest first. */
static ws_status put_children(ws__page *page, int parent, int most,
                              const char *title, ws_strbuf *out) {
  int count = 0;
  for (int i = page->brief->knowledge->count; i-- && count < most;)
    if (i != page->parent.result && is_child(page, i, parent) &&
        !is_move(page, i)) {
      ws_strbuf_puts(out, count ? "" : title);
      WS_TRY(put_attempt(page, i, parent, count++ < WITH_DIFF, out));
    }
  return WS_OK;
}

/* Those around the parent, and those of the climb that it came from. */
static ws_status put_moves(ws__page *page, int parent, ws_strbuf *out) {
  const int climb = result_at(page, parent)->request.climb;
  int count = 0;
  for (int i = page->brief->knowledge->count; i-- && count < MOST_CHILDREN;) {
    const int origin = ws__page_origin(page, i);
    if (i == parent || !is_move(page, i) ||
        (origin != parent && result_at(page, i)->request.climb != climb))
      continue;
    if (!count++)
      ws_strbuf_puts(out, "Parameters that the tool has moved by itself, and "
                          "gains that it has merged (it does so after each new "
                          "body or template: bring what it cannot):\n");
    WS_TRY(put_attempt(page, i, origin, false, out));
  }
  return WS_OK;
}

static ws_status put_ancestors(ws__page *page, int from, ws_strbuf *out) {
  int index = from;
  for (int n = 0; n < MOST_ANCESTORS && index >= 0; n++) {
    const int origin = ws__page_origin(page, index);
    if (origin >= 0 && origin < index)
      WS_TRY(put_attempt(page, index, origin, n == 0, out));
    index = origin < index ? origin : -1;
  }
  return WS_OK;
}

static ws_status put_family(ws__page *page, ws_strbuf *out) {
  const int parent = page->parent.result;
  if (parent < 0)
    return WS_OK;
  int root = parent;
  while (is_move(page, root))
    root = ws__page_origin(page, root);
  const int before = ws__page_origin(page, root);
  WS_TRY(put_children(page, parent, MOST_CHILDREN,
                      "Tried from the parent already, the latest first:\n",
                      out));
  WS_TRY(put_moves(page, parent, out));
  if (before < 0)
    return WS_OK;
  ws_strbuf_puts(out, "How the parent came to be, step by step back:\n");
  WS_TRY(put_ancestors(page, parent, out));
  return put_children(page, before, MOST_COUSINS,
                      ws_arena_printf(page->arena, "Else tried from %s:\n",
                                      ws__page_name(page, before)),
                      out);
}

/* All attempts since the last document of findings, the latest first. */
static ws_status put_recent(ws__page *page, ws_strbuf *out) {
  int count = 0;
  for (int i = page->brief->knowledge->count; i-- && count < MOST_RECENT;) {
    if (result_at(page, i)->request.kind == WS_REQUEST_DISTIL)
      break;
    if (is_attempt(page, i))
      WS_TRY(put_attempt(page, i, ws__page_origin(page, i),
                         count++ < 2 * WITH_DIFF, out));
  }
  return WS_OK;
}

ws_status ws__page_lineage(ws__page *page, const char **out) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_status status = page->request->kind == WS_REQUEST_DISTIL
                         ? put_recent(page, &text)
                         : put_family(page, &text);
  *out = ws__page_take(page, &text);
  return status;
}
