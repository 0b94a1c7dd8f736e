/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which of the parent's code a prompt shows. A template may be twice as long as
 * the whole budget, so regions are ordered by what they matter to the request,
 * and as many are shown as fit a share of it: the one that is asked for, those
 * that it calls, the rewritten, the hottest. Functions of the template that
 * these call and that are no regions come with them.
 */
#include "brief_page.h"

#include <ctype.h>
#include <string.h>

enum {
  MOST_FUNCTIONS = 256, /* that are looked at for helpers */
  BESIDE_BYTES = 1024,  /* of regions beside the one that is asked for */
  HELPER_BYTES = 1024,  /* likewise */
  REGIONS_PERCENT = 16, /* of the budget: regions, where no one is asked for */
  WHOLE_PERCENT = 24    /* of the budget: a template that is shown whole; one
                         * without regions is, whatever its length */
};

bool ws__page_names(const char *text, const char *function) {
  const size_t size = strlen(function);
  for (const char *at = text; (at = strstr(at, function)); at++) {
    const char before = at == text ? ' ' : at[-1], after = at[size];
    if (!isalnum((unsigned char)before) && before != '_' && before != '%' &&
        !isalnum((unsigned char)after) && after != '_' && after != '.')
      return true;
  }
  return false;
}

/* ---- texts -----------------------------------------------------------------
 */

static void read_regions(ws__page *page) {
  const ws__subject *parent = &page->parent;
  const char *language;
  for (int i = 0; i < parent->candidate->tmpl->region_count; i++) {
    const char *text = ws_region_text(page->arena, parent->candidate,
                                      parent->template_text, i, &language);
    page->region_texts[i] = text ? text : "";
  }
}

/* Functions that are neither kernels nor regions. */
static void read_helpers(ws__page *page) {
  const char *text = page->parent.template_text;
  const char *heading = strcmp(ws_template_language(text), "mlir")
                            ? "\ndefine internal "
                            : "func.func private ";
  int left = MOST_FUNCTIONS;
  for (const char *at = text; page->helper_count < WS__MOST_HELPERS && left-- &&
                              (at = strstr(at, heading));
       at++) {
    const char *name = strchr(at, '@');
    const char *end = name ? strchr(name, '(') : NULL;
    if (!end)
      return;
    ws__helper *helper = &page->helpers[page->helper_count];
    int line;
    helper->name =
        ws_arena_strndup(page->arena, name + 1, (size_t)(end - name - 1));
    helper->text = ws_function_text(page->arena, text, helper->name, &line);
    if (helper->text && ws_template_region_index(page->parent.candidate->tmpl,
                                                 helper->name) < 0)
      page->helper_count++;
  }
}

/* The helpers that a text names and those that they call. */
static uint64_t helpers_of(const ws__page *page, const char *text) {
  uint64_t calls = 0;
  for (int i = 0; i < page->helper_count; i++)
    if (ws__page_names(text, page->helpers[i].name))
      calls |= UINT64_C(1) << i | page->helpers[i].calls;
  return calls;
}

/* After step k all ways through the first k + 1 helpers are known. */
static void close_calls(ws__page *page) {
  for (int i = 0; i < page->helper_count; i++)
    page->helpers[i].calls = helpers_of(page, page->helpers[i].text);
  for (int k = 0; k < page->helper_count; k++)
    for (int i = 0; i < page->helper_count; i++)
      if (page->helpers[i].calls >> k & 1)
        page->helpers[i].calls |= page->helpers[k].calls;
}

bool ws__page_region_names(const ws__page *page, int region,
                           const char *function) {
  const char *text = page->region_texts[region];
  const uint64_t calls = helpers_of(page, text);
  bool names = ws__page_names(text, function);
  for (int i = 0; i < page->helper_count && !names; i++)
    names =
        (calls >> i & 1) && (!strcmp(page->helpers[i].name, function) ||
                             ws__page_names(page->helpers[i].text, function));
  return names;
}

/* ---- which regions ---------------------------------------------------------
 */

bool ws__page_is_aimed(const ws__page *page) {
  return page->request->region >= 0 &&
         page->request->region < page->parent.candidate->tmpl->region_count;
}

static void weigh(const ws__page *page, double *weights) {
  const ws_candidate *candidate = page->parent.candidate;
  const int region = page->request->region;
  for (int i = 0; i < candidate->tmpl->region_count; i++) {
    weights[i] = page->heat.shares[i] + (candidate->bodies[i].text ? 1 : 0);
    if (ws__page_is_aimed(page) && i == region)
      weights[i] += 100;
    else if (ws__page_is_aimed(page) &&
             ws__page_region_names(page, region,
                                   candidate->tmpl->regions[i].function))
      weights[i] += 10;
    if (ws__page_names(page->request->plan,
                       candidate->tmpl->regions[i].function))
      weights[i] += 20;
    else if (page->heat.dead[i] && i != region)
      weights[i] = -1;
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

/* Whole regions, at least one: beside a region that is asked for a little, else
 * up to a share of the budget; none of which nothing ran. */
static int count_shown(const ws__page *page) {
  const size_t share = page->brief->budget_bytes * REGIONS_PERCENT / 100;
  const size_t most =
      ws__page_is_aimed(page)
          ? strlen(page->region_texts[page->regions[0]]) + BESIDE_BYTES
          : share;
  const int count = page->parent.candidate->tmpl->region_count;
  size_t size = 0;
  for (int i = 0; i < count; i++) {
    size += strlen(page->region_texts[page->regions[i]]);
    if (i && (size > most || page->heat.dead[page->regions[i]]))
      return i;
  }
  return count;
}

ws_status ws__page_choose_code(ws__page *page) {
  double weights[WS_TEMPLATE_MAX_REGIONS];
  read_regions(page);
  read_helpers(page);
  close_calls(page);
  WS_TRY(ws__page_heat(page, &page->heat));
  weigh(page, weights);
  order(page, weights);
  page->shown = count_shown(page);
  page->whole = page->request->region < 0 &&
                (!page->parent.candidate->tmpl->region_count ||
                 strlen(page->parent.written_text) <=
                     page->brief->budget_bytes * WHOLE_PERCENT / 100);
  return WS_OK;
}

/* ---- code ------------------------------------------------------------------
 */

int ws__changed_regions(const ws_candidate *candidate, int *out_regions) {
  int count = 0;
  for (int i = 0; i < candidate->tmpl->region_count; i++)
    if (candidate->bodies[i].text || candidate->bodies[i].variant >= 0)
      out_regions[count++] = i;
  return count;
}

/* Leaves out a function's text, and says so in its place. */
static const char *without(ws__page *page, const char *text,
                           const char *function, const char *why) {
  int line;
  const char *comment = strcmp(ws_template_language(text), "mlir") ? ";" : "//";
  const char *own = ws_function_text(page->arena, text, function, &line);
  const char *at = own ? strstr(text, own) : NULL;
  return at ? ws_arena_printf(page->arena, "%.*s%s @%s: %s%s", (int)(at - text),
                              text, comment, function, why, at + strlen(own))
            : text;
}

/* Bodies that the candidate has replaced, and variants that it has not
 * chosen. */
static const char *without_unused(ws__page *page) {
  const ws_candidate *candidate = page->parent.candidate;
  const char *text = page->parent.template_text;
  for (int i = 0; i < candidate->tmpl->region_count; i++) {
    const ws_region *region = &candidate->tmpl->regions[i];
    const ws_body *body = &candidate->bodies[i];
    if (body->text || body->variant >= 0)
      text = without(page, text, region->function, "replaced, see below");
    for (int v = 0; v < region->variant_count; v++)
      text = without(page, text, region->variants[v].function,
                     "a variant, not shown");
  }
  return text;
}

static const char *whole_code(ws__page *page) {
  int changed[WS_TEMPLATE_MAX_REGIONS];
  const ws__subject *parent = &page->parent;
  const int count = ws__changed_regions(parent->candidate, changed);
  ws_strbuf out;
  ws_strbuf_init(&out);
  if (parent->written_text == parent->template_text) {
    ws_strbuf_puts(&out, "The whole template, with its default parameters:\n");
    ws_describe_fenced(&out, ws_template_fence(parent->template_text),
                       without_unused(page));
  } else {
    ws_strbuf_puts(&out, "The whole template, in OpenCL C: edits are those of "
                         "`## template`, a region has a whole body:\n");
    ws__page_put_written(parent, &out);
  }
  if (count)
    ws_strbuf_printf(
        &out,
        "In place of the template's own bodies the candidate has these, which "
        "edits apply to:\n%s",
        ws_describe_code(page->arena, parent->candidate, parent->template_text,
                         changed, count));
  return ws__page_take(page, &out);
}

/* Each once, in the template's order. */
static void put_helpers(ws__page *page, const char *code, ws_strbuf *out) {
  const size_t most =
      ws__page_is_aimed(page) ? HELPER_BYTES : page->brief->budget_bytes / 10;
  const uint64_t calls = helpers_of(page, code);
  size_t size = 0;
  for (int i = 0; i < page->helper_count; i++) {
    const ws__helper *helper = &page->helpers[i];
    if (!(calls >> i & 1) || size + strlen(helper->text) > most)
      continue;
    size += strlen(helper->text);
    ws_strbuf_printf(out, "Function %s, which is no region:\n", helper->name);
    ws_describe_fenced(out, ws_template_fence(page->parent.template_text),
                       helper->text);
  }
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
  return ws__page_take(page, &out);
}

const char *ws__page_code(ws__page *page) {
  return page->whole ? whole_code(page) : region_code(page);
}
