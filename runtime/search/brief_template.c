/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The parent's parameters, rules and contracts. Where its whole text is shown
 * they stand in its metadata, and only what differs is told; work on one region
 * is told what the code beside it names.
 */
#include "brief_page.h"

#include <string.h>

/* Its metadata is in the text that is shown. */
static bool speaks_for_itself(const ws__page *page) {
  return page->whole &&
         (!page->parent.candidate->tmpl->source_file ||
          page->parent.written_text != page->parent.template_text);
}

/* ---- parameters ------------------------------------------------------------
 */

static const char *changed_parameters(ws__page *page) {
  const ws_candidate *parent = page->parent.candidate;
  const ws_candidate *defaults = ws_candidate_create(page->arena, parent->tmpl);
  const char *text = "", *between = "";
  for (int i = 0; i < parent->tmpl->param_count; i++)
    if (parent->values[i] != defaults->values[i]) {
      text = ws_arena_printf(page->arena, "%s%s%s = %lld", text, between,
                             parent->tmpl->params[i].name,
                             (long long)parent->values[i]);
      between = ", ";
    }
  return ws_arena_printf(page->arena, "Parameters of the parent: %s%s.\n",
                         *text ? text : "the defaults",
                         *text ? "; the others are the defaults" : "");
}

static void put_values(const ws_param *param, ws_strbuf *out) {
  for (int v = 0; v < param->value_count; v++)
    ws_strbuf_printf(out, "%s%lld", v ? " " : "", (long long)param->values[v]);
}

/* With a meaning only where the shown code depends on it. */
static const char *parameters_of_region(ws__page *page) {
  const ws_candidate *parent = page->parent.candidate;
  const ws_template *tmpl = parent->tmpl;
  const char *code = ws__page_code(page);
  ws_strbuf out;
  ws_strbuf_init(&out);
  ws_strbuf_puts(&out, "Parameters: value here (allowed values)\n");
  for (int i = 0; i < tmpl->param_count; i++) {
    const ws_param *param = &tmpl->params[i];
    if (!strcmp(param->name, "layout"))
      continue; /* fixed by the task */
    ws_strbuf_printf(&out, "- %s = %lld (", param->name,
                     (long long)parent->values[i]);
    put_values(param, &out);
    ws_strbuf_puts(&out, ")");
    if (ws__page_names(code, param->global) ||
        ws__page_names(code, param->name))
      ws_strbuf_printf(&out, ": %s", param->meaning);
    ws_strbuf_puts(&out, "\n");
  }
  for (int i = 0; i < tmpl->launch_count; i++)
    ws_strbuf_printf(&out, "Kernel %s: %s threads\n", tmpl->launches[i].kernel,
                     ws_expr_text(tmpl->launches[i].threads));
  return ws__page_take(page, &out);
}

const char *ws__page_template(ws__page *page) {
  if (ws__page_is_aimed(page))
    return parameters_of_region(page);
  return speaks_for_itself(page)
             ? changed_parameters(page)
             : ws_describe_template(page->arena, page->parent.candidate);
}

/* ---- contracts -------------------------------------------------------------
 */

/* Of what is not shown the name, and its share of the clocks. */
static void put_others(const ws__page *page, ws_strbuf *out) {
  const ws_template *tmpl = page->parent.candidate->tmpl;
  const char *between =
      "Not shown here, and to be replaced by whole bodies only:";
  for (int i = page->shown; i < tmpl->region_count; i++) {
    const int region = page->regions[i];
    ws_strbuf_printf(out, "%s %s", between, tmpl->regions[region].function);
    if (page->heat.shares[region] >= 0.005)
      ws_strbuf_printf(out, " (%.0f %%)", 100 * page->heat.shares[region]);
    else if (page->heat.dead[region])
      ws_strbuf_puts(out, " (no clocks)");
    between = ",";
  }
  if (*between == ',')
    ws_strbuf_puts(out, ".\n");
}

const char *ws__page_contracts(ws__page *page) {
  ws_strbuf out;
  if (speaks_for_itself(page))
    return "";
  ws_strbuf_init(&out);
  ws_strbuf_puts(&out, ws_describe_regions(page->arena, page->parent.candidate,
                                           page->regions, page->shown));
  put_others(page, &out);
  return ws__page_take(page, &out);
}
