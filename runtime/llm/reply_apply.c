/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A parent and a reply make a candidate: parameters and shipped bodies first,
 * then whole bodies, then edits on the text that the parent has. Of a reply
 * that brings a template the parent is a candidate of that.
 */
#include "reply.h"

#include <string.h>

/* ---- parameters ---------------------------------------------------------- */

/* "region=variant" goes apart from "parameter=value". */
static ws_status set_parameters(ws_arena *arena, const char *text,
                                ws_candidate *candidate, ws_diag *diag) {
  const ws_template *tmpl = candidate->tmpl;
  ws_strbuf values, variants;
  ws_strbuf_init(&values);
  ws_strbuf_init(&variants);
  while (*text) {
    size_t size = strcspn(text, ";"), name = strcspn(text, "=;");
    const char *word = ws_arena_strndup(arena, text, name);
    bool region = ws_template_param_index(tmpl, word) < 0 &&
                  ws_template_region_index(tmpl, word) >= 0;
    ws_strbuf_printf(region ? &variants : &values, "%.*s;", (int)size, text);
    text += size + (text[size] == ';');
  }
  ws_status status = ws_candidate_set(candidate, values.data, diag);
  if (status == WS_OK)
    status = ws_candidate_set_variants(candidate, variants.data, diag);
  ws_strbuf_deinit(&values);
  ws_strbuf_deinit(&variants);
  return status;
}

/* ---- regions ------------------------------------------------------------- */

static ws_status fail_region(const ws_template *tmpl,
                             const ws_reply_region *region, ws_diag *diag) {
  ws_strbuf names;
  ws_strbuf_init(&names);
  for (int i = 0; i < tmpl->region_count; i++)
    ws_strbuf_printf(&names, " %s", tmpl->regions[i].function);
  ws_status status = WS__REPLY_FAIL(diag, region->line - 1,
                                    "the template has no region '%.80s'; there "
                                    "are:%s",
                                    region->region, names.data);
  ws_strbuf_deinit(&names);
  return status;
}

static ws_status edit_region(ws_arena *arena, const ws_reply_region *region,
                             const ws_candidate *parent,
                             const char *template_text, int index,
                             ws_body *out_body, ws_diag *diag) {
  const char *language, *text;
  const char *before =
      ws_region_text(arena, parent, template_text, index, &language);
  if (!before)
    return WS__REPLY_FAIL(diag, region->line - 1,
                          "region %s has no text in %s; give a whole body",
                          region->region, parent->tmpl->file);
  if (*region->language && strcmp(region->language, language))
    return WS__REPLY_FAIL(diag, region->line - 1,
                          "region %s is written in %s, the edits are said to "
                          "be %s; give a whole body to change the language",
                          region->region, language, region->language);
  WS_TRY(ws__apply_edits(arena, region, before, &text, diag));
  *out_body = (ws_body){-1, language, text};
  return WS_OK;
}

static ws_status set_region(ws_arena *arena, const ws_reply_region *region,
                            const ws_candidate *parent,
                            const char *template_text, ws_candidate *candidate,
                            ws_diag *diag) {
  int index = ws_template_region_index(parent->tmpl, region->region);
  if (index < 0)
    return fail_region(parent->tmpl, region, diag);
  ws_body *body = &candidate->bodies[index];
  const ws_body *had = &parent->bodies[index];
  if (body->variant != had->variant || !body->text != !had->text)
    return WS__REPLY_FAIL(diag, region->line - 1,
                          "region %s is given here and chosen under "
                          "'## parameters'; give one of them",
                          region->region);
  if (!region->body)
    return edit_region(arena, region, parent, template_text, index, body, diag);
  const char *language;
  const char *before =
      ws_region_text(arena, parent, template_text, index, &language);
  if (!before || strcmp(before, region->body) ||
      strcmp(language, region->language))
    *body = (ws_body){-1, region->language, region->body};
  return WS_OK;
}

ws_status ws_reply_apply(ws_arena *arena, const ws_reply *reply,
                         const ws_candidate *parent, const char *template_text,
                         ws_candidate **out_candidate, ws_diag *diag) {
  ws_candidate *candidate = ws_candidate_copy(arena, parent);
  WS_TRY(set_parameters(arena, reply->parameters, candidate, diag));
  for (int i = 0; i < reply->region_count; i++)
    WS_TRY(set_region(arena, &reply->regions[i], parent, template_text,
                      candidate, diag));
  ws_candidate_update_id(candidate);
  if (!reply->template_code && !strcmp(candidate->id.hex, parent->id.hex))
    return ws_fail(diag, WS_INPUT, "reply", 0,
                   "it changes nothing: the candidate is its parent");
  *out_candidate = candidate;
  return WS_OK;
}

/* ---- templates ----------------------------------------------------------- */

ws_status ws_reply_template_text(ws_arena *arena, const ws_reply *reply,
                                 const char *base_text, const char **out_text,
                                 const char **out_language, ws_diag *diag) {
  const ws_reply_region *code = reply->template_code;
  *out_language = code->body ? code->language : ws_template_language(base_text);
  if (*code->language && strcmp(code->language, *out_language))
    return WS__REPLY_FAIL(diag, code->line - 1,
                          "the template is written in %s, the edits are said "
                          "to be %s; give the whole template to change the "
                          "language",
                          *out_language, code->language);
  if (!code->body)
    return ws__apply_edits(arena, code, base_text, out_text, diag);
  *out_text = ws_arena_strdup(arena, code->body);
  return WS_OK;
}

/* Is the function the same in both, which are in one language? */
static bool is_untouched(ws_arena *arena, const char *before, const char *after,
                         const char *function) {
  const char *language = ws_template_language(before);
  const char *a = ws__function_text(arena, language, before, function, NULL);
  const char *b = ws__function_text(arena, language, after, function, NULL);
  return a && b && !strcmp(a, b);
}

static void keep_values(const ws_candidate *parent, ws_candidate *candidate) {
  const ws_template *tmpl = candidate->tmpl;
  for (int i = 0; i < tmpl->param_count; i++) {
    const ws_param *param = &tmpl->params[i];
    int had = ws_template_param_index(parent->tmpl, param->name);
    for (int k = 0; had >= 0 && k < param->value_count; k++)
      if (param->values[k] == parent->values[had])
        candidate->values[i] = parent->values[had];
  }
}

static int variant_named(const ws_region *region, const char *function) {
  for (int i = 0; i < region->variant_count; i++)
    if (!strcmp(region->variants[i].function, function))
      return i;
  return -1;
}

static void keep_bodies(ws_arena *arena, const ws_candidate *parent,
                        const char *before, const char *after,
                        ws_candidate *candidate) {
  const ws_template *tmpl = candidate->tmpl;
  for (int i = 0; i < tmpl->region_count; i++) {
    const ws_region *region = &tmpl->regions[i];
    int had = ws_template_region_index(parent->tmpl, region->function);
    if (had < 0 || !is_untouched(arena, before, after, region->function))
      continue;
    const ws_body *body = &parent->bodies[had];
    candidate->bodies[i] = *body;
    if (body->variant >= 0)
      candidate->bodies[i].variant = variant_named(
          region, parent->tmpl->regions[had].variants[body->variant].function);
  }
}

ws_candidate *ws_reply_template_parent(ws_arena *arena, const ws_reply *reply,
                                       const ws_candidate *parent,
                                       const char *parent_text,
                                       const ws_template *tmpl,
                                       const char *text) {
  ws_candidate *candidate = ws_candidate_create(arena, tmpl);
  if (reply->template_code->body)
    return candidate;
  keep_values(parent, candidate);
  keep_bodies(arena, parent, parent_text, text, candidate);
  ws_candidate_update_id(candidate);
  return candidate;
}
