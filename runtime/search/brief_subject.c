/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Candidates with their texts: from the run's memory where it has them, else
 * from the archive; which of a parent's regions a prompt shows, and how.
 */
#include "brief_page.h"

#include <ctype.h>
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
  return load_text(page, out->candidate->tmpl, &out->template_text);
}

/* ---- lines -----------------------------------------------------------------
 */

static const char *text_line(ws_arena *arena, const char *text, int number) {
  for (; number > 1 && *text; number--) {
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  size_t size = strcspn(text, "\n");
  while (size && isspace((unsigned char)*text))
    text++, size--;
  while (size && isspace((unsigned char)text[size - 1]))
    size--;
  return ws_arena_strndup(arena, text, size < 120 ? size : 120);
}

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

/* The body that a file's name stands for, "mma.ll" or "mma.cl"; NULL. */
static const char *body_of_file(const ws_candidate *candidate,
                                const char *file) {
  const char *dot = strrchr(file, '.');
  const size_t size = dot ? (size_t)(dot - file) : strlen(file);
  for (int i = 0; i < candidate->tmpl->region_count; i++) {
    const char *name = candidate->tmpl->regions[i].function;
    if (strlen(name) == size && !memcmp(name, file, size))
      return candidate->bodies[i].text;
  }
  return NULL;
}

const char *ws__page_quote(ws__page *page, const ws__subject *subject,
                           const char *file, int line) {
  const char *slash = strrchr(file, '/');
  const char *body = body_of_file(subject->candidate, slash ? slash + 1 : file);
  return line < 1 ? ""
                  : text_line(page->arena, body ? body : subject->template_text,
                              line);
}

/* ---- which regions ---------------------------------------------------------
 */

static const char *region_text(const ws__page *page, int region) {
  const char *language;
  const char *text =
      ws_region_text(page->arena, page->parent.candidate,
                     page->parent.template_text, region, &language);
  return text ? text : "";
}

/* Does text call or name the function? */
static bool names_function(const char *text, const char *function) {
  const size_t size = strlen(function);
  for (const char *at = text; (at = strstr(at, function)); at++) {
    const char before = at == text ? ' ' : at[-1], after = at[size];
    if (!isalnum((unsigned char)before) && before != '_' && before != '%' &&
        !isalnum((unsigned char)after) && after != '_' && after != '.')
      return true;
  }
  return false;
}

bool ws__page_region_names(const ws__page *page, int region,
                           const char *function) {
  return names_function(region_text(page, region), function);
}

/* What a region needs to be understood comes right behind it, then what is
 * rewritten already, then the hottest. */
static void weigh(const ws__page *page, const double *heat, double *weights) {
  const ws_candidate *candidate = page->parent.candidate;
  const int region = page->request->region;
  const bool aimed = region >= 0 && region < candidate->tmpl->region_count;
  for (int i = 0; i < candidate->tmpl->region_count; i++) {
    weights[i] = heat[i] + (candidate->bodies[i].text ? 1 : 0);
    if (aimed && i == region)
      weights[i] += 100;
    else if (aimed && ws__page_region_names(
                          page, region, candidate->tmpl->regions[i].function))
      weights[i] += 10;
  }
}

static void order(ws__page *page, const double *weights) {
  const int count = page->parent.candidate->tmpl->region_count;
  for (int i = 0; i < count; i++) {
    int place = i;
    while (place && weights[page->regions[place - 1]] < weights[i]) {
      page->regions[place] = page->regions[place - 1];
      place--;
    }
    page->regions[place] = i;
  }
}

/* The whole text where a template may be the answer and it is not too long;
 * else whole regions, at least one, up to a good third of the budget. */
ws_status ws__page_choose_code(ws__page *page) {
  double heat[WS_TEMPLATE_MAX_REGIONS] = {0}, weights[WS_TEMPLATE_MAX_REGIONS];
  const size_t budget = page->brief->budget_bytes;
  const int count = page->parent.candidate->tmpl->region_count;
  WS_TRY(ws__page_heat(page, heat));
  weigh(page, heat, weights);
  order(page, weights);
  page->whole = (page->request->region < 0 || page->grammar_needed) &&
                strlen(page->parent.template_text) <= budget * 2 / 5;
  size_t size = 0;
  while (page->shown < count) {
    size += strlen(region_text(page, page->regions[page->shown]));
    if (page->shown && size > budget * 7 / 20)
      break;
    page->shown++;
  }
  return WS_OK;
}

/* ---- code ------------------------------------------------------------------
 */

/* The regions for which a candidate has another body than the template. */
static int changed_regions(const ws_candidate *candidate, int *out_regions) {
  int count = 0;
  for (int i = 0; i < candidate->tmpl->region_count; i++)
    if (candidate->bodies[i].text || candidate->bodies[i].variant >= 0)
      out_regions[count++] = i;
  return count;
}

static const char *whole_code(ws__page *page) {
  int changed[WS_TEMPLATE_MAX_REGIONS];
  const ws__subject *parent = &page->parent;
  const int count = changed_regions(parent->candidate, changed);
  ws_strbuf out;
  ws_strbuf_init(&out);
  ws_strbuf_puts(&out, "The whole template, with its default parameters:\n");
  ws_describe_fenced(&out, "llvm", parent->template_text);
  if (count)
    ws_strbuf_printf(
        &out,
        "In place of the template's own bodies the candidate has these, which "
        "edits apply to:\n%s",
        ws_describe_code(page->arena, parent->candidate, parent->template_text,
                         changed, count));
  return ws__page_take(page, &out);
}

/* The functions of the template that the shown regions call and that are no
 * regions, each once. */
static void put_helpers(ws__page *page, const char *code, ws_strbuf *out) {
  const char *text = page->parent.template_text;
  const size_t most = page->brief->budget_bytes / 10;
  size_t size = 0;
  for (const char *at = text; (at = strstr(at, "\ndefine internal ")); at++) {
    const char *name = strchr(at, '@');
    const char *end = name ? strchr(name, '(') : NULL;
    if (!end)
      return;
    const char *function =
        ws_arena_strndup(page->arena, name + 1, (size_t)(end - name - 1));
    int line;
    if (ws_template_region_index(page->parent.candidate->tmpl, function) >= 0 ||
        !names_function(code, function))
      continue;
    const char *helper =
        ws_ir_function_text(page->arena, text, function, &line);
    if (!helper || (size += strlen(helper)) > most)
      continue;
    ws_strbuf_printf(out, "Function %s, which is no region:\n", function);
    ws_describe_fenced(out, "llvm", helper);
  }
}

static void put_hidden(const ws__page *page, ws_strbuf *out) {
  const ws_template *tmpl = page->parent.candidate->tmpl;
  if (page->shown == tmpl->region_count)
    return;
  ws_strbuf_puts(out,
                 "Not shown here, and to be replaced by whole bodies only:");
  for (int i = page->shown; i < tmpl->region_count; i++)
    ws_strbuf_printf(out, "%s %s", i > page->shown ? "," : "",
                     tmpl->regions[page->regions[i]].function);
  ws_strbuf_puts(out, ".\n");
}

static const char *region_code(ws__page *page) {
  const ws__subject *parent = &page->parent;
  const char *code =
      ws_describe_code(page->arena, parent->candidate, parent->template_text,
                       page->regions, page->shown);
  ws_strbuf out;
  ws_strbuf_init(&out);
  ws_strbuf_puts(&out, code);
  put_helpers(page, code, &out);
  put_hidden(page, &out);
  return ws__page_take(page, &out);
}

const char *ws__page_code(ws__page *page) {
  return page->whole ? whole_code(page) : region_code(page);
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

/* Another template: all of it, or what it says of itself and its rewritten
 * regions. */
static void put_template(ws__page *page, ws_strbuf *out) {
  int changed[WS_TEMPLATE_MAX_REGIONS];
  const ws__subject *second = &page->second;
  const int count = changed_regions(second->candidate, changed);
  ws_strbuf_puts(out, ws_describe_template(page->arena, second->candidate));
  if (strlen(second->template_text) <= page->brief->budget_bytes / 3)
    ws_describe_fenced(out, "llvm", second->template_text);
  ws_strbuf_puts(out, ws_describe_code(page->arena, second->candidate,
                                       second->template_text, changed, count));
}

ws_status ws__page_second(ws__page *page, const char **out) {
  const ws__subject *second = &page->second;
  const char *ratio;
  *out = "";
  if (!second->candidate)
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
