/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What went wrong with what a repair is to mend: verdict, stage and reason,
 * each finding with the line that it points at, what the author meant, and,
 * where the reply itself was at fault, the reply (a template that could not be
 * read stands in brief_repair.c, by its lines).
 */
#include "brief_page.h"

#include <stdlib.h>
#include <string.h>

enum {
  REPLY_BYTES = 3072,
  INTENT_BYTES = 600,
  PLAN_BYTES = 1500,
  AROUND_LINES = 6,
  MOST_FINDINGS = 8
};

static void put_finding(ws__page *page, const ws_finding *finding,
                        ws_strbuf *out) {
  const char *slash = strrchr(finding->file, '/');
  ws_strbuf_printf(out, "- [%s] ", finding->id);
  if (*finding->region)
    ws_strbuf_printf(out, "region %s, ", finding->region);
  if (*finding->file)
    ws_strbuf_puts(out, slash ? slash + 1 : finding->file);
  if (finding->line > 0)
    ws_strbuf_printf(out, ":%d", finding->line);
  ws_strbuf_printf(out, ": %s\n",
                   ws__page_without_folders(page, finding->text));
  const char *code =
      ws__page_quote(page, &page->parent, finding->file, finding->line);
  if (*code)
    ws_strbuf_printf(out, "    the line is: `%s`\n", code);
}

static void put_findings(ws__page *page, ws_strbuf *out) {
  const ws_build_result *build = &page->parent.build;
  if (!page->parent.has_build || !build->finding_count)
    return;
  ws_strbuf_puts(out, "Findings:\n");
  for (int i = 0; i < build->finding_count && i < MOST_FINDINGS; i++)
    put_finding(page, &build->findings[i], out);
  if (build->finding_count > MOST_FINDINGS)
    ws_strbuf_printf(out, "and %d more.\n",
                     build->finding_count - MOST_FINDINGS);
}

/* ---- the reply -------------------------------------------------------------
 */

/* The line that a reason begins with, "reply:17: ..."; 0: none. */
static int line_of_reason(const char *reason) {
  static const char heading[] = "reply:";
  const char *at = strstr(reason, heading);
  const long line = at ? strtol(at + sizeof heading - 1, NULL, 10) : 0;
  return line > 0 && line < 1000000 ? (int)line : 0;
}

static void put_around(const char *reply, int line, ws_strbuf *out) {
  int number = 1;
  ws_strbuf_printf(out, "The reply around its line %d:\n", line);
  for (const char *at = reply; *at; number++) {
    const size_t size = strcspn(at, "\n");
    if (number >= line - AROUND_LINES && number <= line + AROUND_LINES)
      ws_strbuf_printf(out, "%5d%c %.*s\n", number, number == line ? '>' : '|',
                       (int)(size < 200 ? size : 200), at);
    at += size + (at[size] == '\n');
  }
}

static void put_reply(ws__page *page, const char *reply, int line,
                      ws_strbuf *out) {
  const size_t size = strlen(reply);
  if (line)
    put_around(reply, line, out);
  if (!size)
    return;
  ws_strbuf_puts(out, size > REPLY_BYTES ? "The beginning of the reply:\n"
                                         : "The reply:\n");
  ws_describe_fenced(out, "",
                     ws_arena_strndup(page->arena, reply,
                                      size > REPLY_BYTES ? REPLY_BYTES : size));
}

/* What the failed reply set out to do. */
static void put_intent(ws__page *page, const ws_exchange_row *row,
                       ws_request_kind kind, ws_strbuf *out) {
  ws_reply reply;
  if (ws_reply_parse(page->arena, row->reply, kind, &reply, NULL) != WS_OK)
    return;
  if (*reply.name)
    ws_strbuf_printf(out, "Its name: %s\n", reply.name);
  if (*reply.reasoning)
    ws_strbuf_printf(out, "What it was meant to do:\n%.*s\n", INTENT_BYTES,
                     reply.reasoning);
}

/* ---- all of it -------------------------------------------------------------
 */

/* The request that is to be answered in the end. */
static void put_request(ws__page *page, const ws__result *failed,
                        ws_strbuf *out) {
  const ws__request *request = &failed->request;
  while (request->kind == WS_REQUEST_REPAIR && request->parents[0] >= 0)
    request = &page->brief->knowledge->results[request->parents[0]].request;
  ws_strbuf_printf(out, "Asked for was: %s.\n", ws_request_text(request->kind));
  if (request->plan && *request->plan)
    ws_strbuf_printf(out, "The experiment:\n%.*s\n", PLAN_BYTES, request->plan);
}

ws_status ws__page_diagnostics(ws__page *page, const char **out) {
  const int index = page->request->parents[0];
  *out = "";
  if (page->request->kind != WS_REQUEST_REPAIR || index < 0)
    return WS_OK;
  const ws__result *failed = &page->brief->knowledge->results[index];
  const bool by_reply = !*failed->id;
  bool found;
  ws_exchange_row row;
  WS_TRY(ws_archive_get_exchange(page->brief->archive, page->arena,
                                 page->brief->run_id, index, &found, &row,
                                 page->diag));
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_strbuf_printf(&text, "Verdict: %s", ws_verdict_text(failed->verdict));
  if (*failed->stage)
    ws_strbuf_printf(&text, ", at stage %s", failed->stage);
  ws_strbuf_printf(&text, ". %s\n",
                   ws__page_without_folders(page, failed->reason));
  put_request(page, failed, &text);
  if (!by_reply)
    put_findings(page, &text);
  if (found && (!by_reply || failed->template_text))
    put_intent(page, &row, failed->request.kind, &text);
  else if (found)
    put_reply(page, row.reply, line_of_reason(failed->reason), &text);
  *out = ws__page_take(page, &text);
  return WS_OK;
}
