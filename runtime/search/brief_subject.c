/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Candidates with their texts, from the run's memory where it has them, else
 * from the archive; lines of them; a second parent told by how it differs.
 */
#include "brief_page.h"

#include <string.h>

/* ---- loading ---------------------------------------------------------------
 */

/* The template's text: of the task, or recorded. */
static ws_status load_text(ws__page *page, const ws_template *tmpl,
                           const char **out) {
  const ws__task *task = page->brief->task;
  const ws__source *known[] = {&task->source, &task->baseline};
  for (int i = 0; i < 2; i++)
    if (known[i]->tmpl && !strcmp(known[i]->tmpl->hash.hex, tmpl->hash.hex)) {
      *out = known[i]->text;
      return WS_OK;
    }
  ws_archived_template row;
  const ws_template *same;
  WS_TRY(ws_archive_get_template(page->brief->archive, page->arena,
                                 tmpl->hash.hex, &same, &row, page->diag));
  *out = row.text;
  return WS_OK;
}

static ws_status load_archived(ws__page *page, ws__subject *subject) {
  const ws_template *tmpl;
  ws_candidate *candidate;
  WS_TRY(ws_archive_get_template(page->brief->archive, page->arena,
                                 subject->row.template_hash, &tmpl, NULL,
                                 page->diag));
  WS_TRY(ws_archive_load_candidate(page->brief->archive, page->arena,
                                   &subject->row, tmpl, &candidate,
                                   page->diag));
  subject->candidate = candidate;
  return WS_OK;
}

/* What the run starts from; before that is known, the template as it is. */
static const ws_candidate *beginning(const ws__page *page) {
  const ws__knowledge *knowledge = page->brief->knowledge;
  for (int i = 0; i < knowledge->count; i++)
    if (!strcmp(knowledge->results[i].request.origin, "start") &&
        knowledge->results[i].candidate)
      return knowledge->results[i].candidate;
  const ws__space *space = &page->brief->task->space;
  int *point =
      ws_arena_alloc(page->arena, sizeof(int) * (size_t)(space->count + 1));
  ws__space_default(space, point);
  return ws__space_candidate(space, page->arena, point);
}

ws_status ws__page_load(ws__page *page, int result, ws__subject *out) {
  ws_archive *archive = page->brief->archive;
  const ws__result *known =
      result < 0 ? NULL : &page->brief->knowledge->results[result];
  *out = (ws__subject){.result = result};
  const char *id = known ? known->id : "";
  if (*id) {
    WS_TRY(ws_archive_get_candidate(archive, page->arena, id, &out->has_row,
                                    &out->row, page->diag));
    WS_TRY(ws_archive_get_build(archive, page->arena, id, &out->has_build,
                                &out->build, page->diag));
  }
  out->candidate = known ? known->candidate : NULL;
  if (!out->candidate && out->has_row)
    WS_TRY(load_archived(page, out));
  if (!out->candidate)
    out->candidate = beginning(page);
  WS_TRY(load_text(page, out->candidate->tmpl, &out->template_text));
  out->written_text =
      ws_template_written_text(out->candidate->tmpl, out->template_text);
  return WS_OK;
}

/* ---- lines -----------------------------------------------------------------
 */

static const char *without_folder(ws_arena *arena, const char *text,
                                  const char *file) {
  const char *slash = strrchr(file, '/');
  const size_t folder = slash ? (size_t)(slash + 1 - file) : 0;
  for (const char *at; folder && (at = strstr(text, file));)
    text =
        ws_arena_printf(arena, "%.*s%s", (int)(at - text), text, at + folder);
  return text;
}

const char *ws__page_without_folders(ws__page *page, const char *text) {
  const ws__task *task = page->brief->task;
  text = without_folder(page->arena, text, task->source.tmpl->file);
  return task->baseline.tmpl
             ? without_folder(page->arena, text, task->baseline.tmpl->file)
             : text;
}

const char *ws__page_quote(ws__page *page, const ws__subject *subject,
                           const char *file, int line) {
  return ws_candidate_source_line(page->arena, subject->candidate,
                                  subject->template_text, NULL, file, line);
}

/* ---- the second ------------------------------------------------------------
 */

static void put_differences(ws__page *page, ws_strbuf *out) {
  const ws_candidate *a = page->second.candidate, *b = page->parent.candidate;
  const char *separator = "Other parameters than the first's: ";
  for (int i = 0; i < a->tmpl->param_count; i++)
    if (a->values[i] != b->values[i]) {
      ws_strbuf_printf(out, "%s%s = %lld (first: %lld)", separator,
                       a->tmpl->params[i].name, (long long)a->values[i],
                       (long long)b->values[i]);
      separator = ", ";
    }
  ws_strbuf_puts(out, *separator == 'O' ? "The parameters are the first's.\n"
                                        : ".\n");
}

/* Regions that one of the two has changed, with the second's text. */
static void put_bodies(ws__page *page, ws_strbuf *out) {
  const ws_candidate *a = page->second.candidate, *b = page->parent.candidate;
  int differing[WS_TEMPLATE_MAX_REGIONS], count = 0;
  for (int i = 0; i < a->tmpl->region_count; i++) {
    const ws_body *x = &a->bodies[i], *y = &b->bodies[i];
    const bool same = x->text && y->text
                          ? !strcmp(x->text, y->text)
                          : !x->text && !y->text && x->variant == y->variant;
    if (!same)
      differing[count++] = i;
  }
  if (count)
    ws_strbuf_printf(out, "Regions that differ, as it has them:\n%s",
                     ws_describe_code(page->arena, a,
                                      page->second.template_text, differing,
                                      count));
  else
    ws_strbuf_puts(out, "The regions are the first's.\n");
}

void ws__page_put_written(const ws__subject *subject, ws_strbuf *out) {
  ws_describe_fenced(out, ws_template_fence(subject->written_text),
                     subject->written_text);
}

/* Another template: all of it, or what it says of itself and its rewritten
 * regions. */
static void put_template(ws__page *page, ws_strbuf *out) {
  int changed[WS_TEMPLATE_MAX_REGIONS];
  const ws__subject *second = &page->second;
  const int count = ws__changed_regions(second->candidate, changed);
  ws_strbuf_puts(out, ws_describe_template(page->arena, second->candidate));
  if (strlen(second->written_text) <= page->brief->budget_bytes / 3)
    ws__page_put_written(second, out);
  ws_strbuf_puts(out, ws_describe_code(page->arena, second->candidate,
                                       second->template_text, changed, count));
}

ws_status ws__page_second(ws__page *page, const char **out) {
  const ws__subject *second = &page->second;
  const char *ratio;
  *out = "";
  if (!second->candidate ||
      !strcmp(second->candidate->id.hex, page->parent.candidate->id.hex))
    return WS_OK;
  WS_TRY(ws__page_ratio(page, second->result, page->parent.result, &ratio));
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_strbuf_printf(&text, "%s, template %s",
                   ws__page_name(page, second->result),
                   second->candidate->tmpl->name);
  if (*ratio)
    ws_strbuf_printf(&text, "; speed-up over the first: %s", ratio);
  ws_strbuf_printf(&text, ".\n%s", ws__page_facts(page, second));
  if (strcmp(second->candidate->tmpl->hash.hex,
             page->parent.candidate->tmpl->hash.hex)) {
    put_template(page, &text);
  } else {
    put_differences(page, &text);
    put_bodies(page, &text);
  }
  *out = ws__page_take(page, &text);
  return WS_OK;
}
