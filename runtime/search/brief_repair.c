/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The code that a repair is shown: what the failed candidate changed, whole
 * where it is short, else around the lines that its findings mean. What no
 * finding points into is shown whole: somebody must read it to mend it.
 */
#include "brief_page.h"

#include <stdlib.h>
#include <string.h>

enum {
  WHOLE_BYTES = 2500,   /* a text up to this is shown whole */
  EXCERPT_BYTES = 3000, /* of all excerpts of one text */
  UNTOLD_BYTES = 24576, /* of a text that no finding points into */
  AROUND_LINES = 8,
  MOST_MARKS = 8,
  MOST_LINE_BYTES = 200
};

/* ---- excerpts --------------------------------------------------------------
 */

typedef struct marks { /* lines of one text that findings mean, ascending */
  int lines[MOST_MARKS];
  int count;
} marks;

static void add_mark(marks *m, int line) {
  int place = m->count;
  for (int i = 0; i < m->count; i++)
    if (m->lines[i] == line)
      return;
  if (m->count == MOST_MARKS || line < 1)
    return;
  for (; place && m->lines[place - 1] > line; place--)
    m->lines[place] = m->lines[place - 1];
  m->lines[place] = line;
  m->count++;
}

/* Whether a text that ends here names a template's file. */
static bool is_template_name(const char *text, const char *end) {
  static const char *const endings[] = {".ll", ".cl", ".mlir"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    const size_t size = strlen(endings[i]);
    if ((size_t)(end - text) > size && !memcmp(end - size, endings[i], size))
      return true;
  }
  return false;
}

/* The lines of a template's text that a reason names, "reply-3.ll:17: ..." or
 * "template.cl:17: ...; line 20: ..."; none of other reasons. */
static marks marks_of_reason(const char *reason) {
  static const char next[] = "; line ";
  const char *colon = strchr(reason, ':');
  marks m = {.count = 0};
  if (!colon || !is_template_name(reason, colon))
    return m;
  add_mark(&m, (int)strtol(colon + 1, NULL, 10));
  for (const char *at = colon; (at = strstr(at, next)); at += sizeof next - 1)
    add_mark(&m, (int)strtol(at + sizeof next - 1, NULL, 10));
  return m;
}

static marks marks_of(const ws__page *page, const char *text) {
  const ws__subject *failed = &page->parent;
  marks m = {.count = 0};
  for (int i = 0; failed->has_build && i < failed->build.finding_count; i++) {
    const ws_finding *finding = &failed->build.findings[i];
    if (ws_candidate_source_text(failed->candidate, failed->template_text, NULL,
                                 finding->file) == text)
      add_mark(&m, finding->line);
  }
  return m;
}

static bool is_near(const marks *m, int line) {
  for (int i = 0; i < m->count; i++)
    if (abs(m->lines[i] - line) <= AROUND_LINES)
      return true;
  return false;
}

/* As it stands, so that edits can quote it; what is left out is said. */
static const char *excerpt(ws__page *page, const char *text, const marks *m) {
  ws_strbuf out;
  int number = 1, left_out = 0;
  ws_strbuf_init(&out);
  for (const char *at = text; *at; number++) {
    const size_t size = strcspn(at, "\n");
    if (!is_near(m, number) || out.size > EXCERPT_BYTES) {
      left_out++;
    } else {
      if (left_out)
        ws_strbuf_printf(&out, "; [%d lines left out; line %d:]\n", left_out,
                         number);
      left_out = 0;
      ws_strbuf_printf(&out, "%.*s\n",
                       (int)(size < MOST_LINE_BYTES ? size : MOST_LINE_BYTES),
                       at);
    }
    at += size + (at[size] == '\n');
  }
  if (left_out)
    ws_strbuf_printf(&out, "; [%d lines left out]\n", left_out);
  return ws__page_take(page, &out);
}

static void put_text(ws__page *page, const char *language, const char *text,
                     const marks *m, ws_strbuf *out) {
  const size_t size = strlen(text);
  const bool whole = size <= WHOLE_BYTES || (!m->count && size <= UNTOLD_BYTES);
  ws_describe_fenced(out, ws_language_fence(language),
                     whole ? text : excerpt(page, text, m));
}

/* ---- what is shown ---------------------------------------------------------
 */

static void put_region(ws__page *page, int region, ws_strbuf *out) {
  const ws__subject *parent = &page->parent;
  const ws_body *body = &parent->candidate->bodies[region];
  const char *language = "ir";
  const char *text =
      body->text ? body->text
                 : ws_region_text(page->arena, parent->candidate,
                                  parent->template_text, region, &language);
  if (!text)
    return;
  ws_strbuf_printf(out, "Region %s (%s):\n",
                   parent->candidate->tmpl->regions[region].function,
                   body->text ? body->language : language);
  const marks m = marks_of(page, text);
  put_text(page, body->text ? body->language : language, text, &m, out);
}

/* The regions that it changed; of another template, the template. */
static void put_candidate(ws__page *page, ws_strbuf *out) {
  const ws_candidate *failed = page->parent.candidate;
  const ws_candidate *before = page->second.candidate;
  const bool is_same =
      before && !strcmp(before->tmpl->hash.hex, failed->tmpl->hash.hex);
  if (before && !is_same) {
    const char *text = page->parent.written_text;
    const marks m = marks_of(page, text);
    ws_strbuf_printf(out, "Template %s:\n", failed->tmpl->name);
    put_text(page, ws_template_language(text), text, &m, out);
  }
  for (int i = 0; i < failed->tmpl->region_count; i++)
    if (is_same ? !ws_body_same(&failed->bodies[i], &before->bodies[i])
                : failed->bodies[i].text != NULL)
      put_region(page, i, out);
}

/* A template that could not be read, as its author wrote it: what a reply's
 * edits are of. */
static void put_unread(ws__page *page, const ws__result *failed,
                       ws_strbuf *out) {
  const char *text = failed->template_text;
  const marks m = marks_of_reason(failed->reason);
  ws_strbuf_puts(out, "The template as it was written:\n");
  put_text(page, ws_template_language(text), text, &m, out);
}

/* Those that a reply has a heading of. */
static bool put_named(ws__page *page, const char *reply, ws_strbuf *out) {
  const ws_template *tmpl = page->parent.candidate->tmpl;
  bool found = strstr(reply, "\n## template") != NULL;
  for (int i = 0; i < tmpl->region_count; i++) {
    const char *heading =
        ws_arena_printf(page->arena, "## region %s", tmpl->regions[i].function);
    const char *at = strstr(reply, heading);
    if (!at || !strchr(" \n\r(", at[strlen(heading)]))
      continue;
    put_region(page, i, out);
    found = true;
  }
  return found;
}

ws_status ws__page_failed_code(ws__page *page, const char **out) {
  const int index = page->request->parents[0];
  ws_strbuf text;
  bool found = false;
  ws_exchange_row row;
  ws_strbuf_init(&text);
  ws_strbuf_printf(
      &text, "Parameters: %s\n",
      ws_candidate_values_text(page->arena, page->parent.candidate));
  if (index == page->parent.result) {
    put_candidate(page, &text);
    *out = ws__page_take(page, &text);
    return WS_OK;
  }
  const ws__result *failed = &page->brief->knowledge->results[index];
  if (failed->template_text) {
    put_unread(page, failed, &text);
    *out = ws__page_take(page, &text);
    return WS_OK;
  }
  WS_TRY(ws_archive_get_exchange(page->brief->archive, page->arena,
                                 page->brief->run_id, index, &found, &row,
                                 page->diag));
  if (!put_named(page, found ? row.reply : "", &text))
    ws_strbuf_puts(&text, ws__page_code(page));
  *out = ws__page_take(page, &text);
  return WS_OK;
}
