/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A model's answer as a ws_reply: every section read by its reader, then what
 * the kind of request needs is seen to be there.
 */
#include "reply.h"

#include <ctype.h>
#include <string.h>

enum { NAME_BYTES = 80 };

typedef ws_status (*section_reader)(const ws__reply_text *reply,
                                    const ws__section *section,
                                    ws_reply *out_reply, ws_diag *diag);

/* ---- sections of one word or one text ------------------------------------ */

/* The first line with something on it. */
static const char *first_line(const ws__reply_text *reply,
                              const ws__section *section) {
  for (int i = section->begin; i < section->end; i++)
    if (reply->lines[i].kind != WS__LINE_FENCE &&
        !ws__is_blank(reply->lines[i].text))
      return reply->lines[i].text;
  return "";
}

static ws_status read_name(const ws__reply_text *reply,
                           const ws__section *section, ws_reply *out_reply,
                           ws_diag *diag) {
  (void)diag;
  const char *line = first_line(reply, section);
  out_reply->name = ws__quotable(reply->arena, line, strlen(line), NAME_BYTES);
  return WS_OK;
}

static ws_status read_findings(const ws__reply_text *reply,
                               const ws__section *section, ws_reply *out_reply,
                               ws_diag *diag) {
  (void)diag;
  out_reply->findings = ws__join_trimmed(reply, section->begin, section->end);
  return WS_OK;
}

static size_t word_size(const char *text) {
  size_t size = 0;
  while (isalnum((unsigned char)text[size]) || text[size] == '_')
    size++;
  return size;
}

static bool is_id(const char *word, size_t size) {
  return size >= 4 && strspn(word, "0123456789abcdefABCDEF") >= size;
}

/* "3fa9", "`3fa9`", "candidate 3fa9 (the fastest)": the first word that can be
 * an id, else the first word. */
static char *read_id(const ws__reply_text *reply, const ws__section *section) {
  const char *line = first_line(reply, section), *chosen = NULL;
  for (const char *at = line; *at && !chosen;) {
    size_t size = word_size(at);
    if (is_id(at, size))
      chosen = at;
    at += size ? size : 1;
  }
  if (!chosen)
    for (chosen = line; *chosen && !word_size(chosen);)
      chosen++;
  return ws_arena_strndup(reply->arena, chosen, word_size(chosen));
}

static ws_status read_base(const ws__reply_text *reply,
                           const ws__section *section, ws_reply *out_reply,
                           ws_diag *diag) {
  (void)diag;
  out_reply->base = read_id(reply, section);
  return WS_OK;
}

static ws_status read_reference(const ws__reply_text *reply,
                                const ws__section *section, ws_reply *out_reply,
                                ws_diag *diag) {
  (void)diag;
  out_reply->reference = read_id(reply, section);
  return WS_OK;
}

/* ---- all sections -------------------------------------------------------- */

static ws_status read_nothing(const ws__reply_text *reply,
                              const ws__section *section, ws_reply *out_reply,
                              ws_diag *diag) {
  (void)reply, (void)section, (void)out_reply, (void)diag;
  return WS_OK;
}

static const section_reader readers[WS__SECTION_COUNT] = {
    [WS__SECTION_NAME] = read_name,
    [WS__SECTION_REASONING] = read_nothing,
    [WS__SECTION_EXPECTED] = ws__read_claims,
    [WS__SECTION_PARAMETERS] = ws__read_parameters,
    [WS__SECTION_REGION] = ws__read_region,
    [WS__SECTION_TEMPLATE] = ws__read_template,
    [WS__SECTION_BASE] = read_base,
    [WS__SECTION_REFERENCE] = read_reference,
    [WS__SECTION_AVENUES] = ws__read_avenues,
    [WS__SECTION_EXPERIMENT] = ws__read_experiment,
    [WS__SECTION_FINDINGS] = read_findings,
    [WS__SECTION_CANDIDATE] = read_nothing,
};

static ws_status read_sections(const ws__reply_text *reply, ws_reply *out_reply,
                               ws_diag *diag) {
  int seen[WS__SECTION_COUNT] = {0}; /* heading's line */
  for (int i = 0; i < reply->section_count; i++) {
    const ws__section *section = &reply->sections[i];
    int *first = &seen[section->kind];
    if (*first && ws__section_is_single(section->kind))
      return WS__REPLY_FAIL(diag, section->heading,
                            "a second '%s' (the first is on line %d): two "
                            "candidates in one reply; give one",
                            ws__section_text(section->kind), *first);
    *first = section->heading + 1;
    WS_TRY(readers[section->kind](reply, section, out_reply, diag));
  }
  return WS_OK;
}

/* All of it; without any, what stands before the first section. */
static const char *gather_reasoning(const ws__reply_text *reply) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  for (int i = 0; i < reply->section_count; i++) {
    const ws__section *section = &reply->sections[i];
    if (section->kind == WS__SECTION_REASONING)
      ws_strbuf_printf(&text, "%s%s", text.size ? "\n\n" : "",
                       ws__join_trimmed(reply, section->begin, section->end));
  }
  int first =
      reply->section_count ? reply->sections[0].heading : reply->line_count;
  char *reasoning = text.size ? ws_arena_strdup(reply->arena, text.data)
                              : ws__join_trimmed(reply, 0, first);
  ws_strbuf_deinit(&text);
  return reasoning;
}

/* ---- what a kind of request needs ---------------------------------------- */

static ws_status missing(const char *what, ws_diag *diag) {
  return ws_fail(diag, WS_INPUT, "reply", 0, "it has no %s", what);
}

static ws_status check_candidate(const ws_reply *reply, ws_diag *diag) {
  if (!*reply->parameters && !reply->region_count && !reply->template_code)
    return missing("parameters, region or template, so it changes nothing; "
                   "write '## parameters', '## region NAME' or '## template'",
                   diag);
  return WS_OK;
}

static ws_status check_content(const ws_reply *reply, ws_request_kind kind,
                               ws_diag *diag) {
  switch (kind) {
  case WS_REQUEST_SELECT:
    if (!*reply->base || !*reply->reference)
      return missing("base and reference; write '## base' and '## reference', "
                     "each with a candidate's id",
                     diag);
    return WS_OK;
  case WS_REQUEST_DESIGN:
    if (!reply->experiment_count)
      return missing("experiment; write '## experiment 1' with title, "
                     "description, rubric, gain and innovation",
                     diag);
    return WS_OK;
  case WS_REQUEST_DISTIL:
    if (!*reply->findings)
      return missing("findings; write them under '## findings'", diag);
    return WS_OK;
  default:
    return check_candidate(reply, diag);
  }
}

ws_status ws_reply_parse(ws_arena *arena, const char *text,
                         ws_request_kind kind, ws_reply *out_reply,
                         ws_diag *diag) {
  ws__reply_text reply;
  *out_reply = (ws_reply){.name = "",
                          .reasoning = "",
                          .parameters = "",
                          .base = "",
                          .reference = "",
                          .findings = ""};
  WS_TRY(ws__reply_scan(arena, text, kind, &reply, diag));
  WS_TRY(read_sections(&reply, out_reply, diag));
  out_reply->reasoning = gather_reasoning(&reply);
  return check_content(out_reply, kind, diag);
}
