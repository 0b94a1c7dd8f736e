/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Puts a prompt together: which candidates it is about, which sections there
 * are, and what may be cut first when it gets too long. The sections are made
 * by brief_*.c. Nothing but the results that the strategy has seen is told, so
 * the same request in a resumed run gives the same prompt.
 */
#include "brief_page.h"

#include <string.h>

const char *ws__page_take(ws__page *page, ws_strbuf *text) {
  const char *result = ws_arena_strndup(page->arena, text->data, text->size);
  ws_strbuf_deinit(text);
  return result;
}

/* ---- what it is about -------------------------------------------------------
 */

static const ws__result *result_at(const ws__page *page, int index) {
  return index < 0 ? NULL : &page->brief->knowledge->results[index];
}

/* A repair is based on what failed; where the reply held no candidate, on what
 * that request was based on. */
static int base_of(const ws__page *page) {
  const ws__request *request = page->request;
  if (request->kind == WS_REQUEST_DISTIL)
    return page->brief->knowledge->leader;
  if (request->kind != WS_REQUEST_REPAIR)
    return request->parents[0];
  const ws__result *failed = result_at(page, request->parents[0]);
  return failed && !*failed->id ? ws__page_origin(page, request->parents[0])
                                : request->parents[0];
}

static int second_of(const ws__page *page, int base) {
  const ws__request *request = page->request;
  if (request->kind != WS_REQUEST_REPAIR)
    return request->parents[1];
  return base == request->parents[0] ? ws__page_origin(page, base) : -1;
}

/* Is another template than the leader's the parent's, or is a new one asked
 * for? */
static bool wants_template(const ws__page *page) {
  const ws__knowledge *knowledge = page->brief->knowledge;
  const ws__result *leader = result_at(page, knowledge->leader);
  const ws_request_kind kind = page->request->kind;
  return kind == WS_REQUEST_EXPLORE || kind == WS_REQUEST_WRITE ||
         kind == WS_REQUEST_DESIGN ||
         (leader && leader->candidate &&
          leader->candidate->tmpl != page->parent.candidate->tmpl);
}

static ws_status load(ws__page *page) {
  const int base = base_of(page);
  const int second = second_of(page, base);
  WS_TRY(ws__page_load(page, base, &page->parent));
  if (second >= 0)
    WS_TRY(ws__page_load(page, second, &page->second));
  page->grammar_needed = wants_template(page);
  return ws__page_choose_code(page);
}

/* ---- sections --------------------------------------------------------------
 */

/* A repair follows from its findings: the rules are told where one was broken,
 * the problem where a result is wrong, the machine not at all. */
static bool is_repair(const ws__page *page) {
  return page->request->kind == WS_REQUEST_REPAIR;
}

static bool broke_a_rule(const ws__page *page) {
  return !strcmp(page->parent.build.stage ? page->parent.build.stage : "",
                 "check");
}

static bool has_wrong_result(const ws__page *page) {
  const ws_build_result *build = &page->parent.build;
  const ws__result *failed = result_at(page, page->request->parents[0]);
  for (int i = 0; i < build->finding_count; i++)
    if (!strcmp(build->findings[i].id, "wrong-result"))
      return true;
  return failed && failed->verdict == WS_VERDICT_WRONG && !build->finding_count;
}

static const char *rules_section(const ws__page *page) {
  return is_repair(page) && !broke_a_rule(page) ? "" : NULL;
}

static const char *problem_section(ws__page *page) {
  const ws__task *task = page->brief->task;
  if (is_repair(page) && !has_wrong_result(page))
    return "";
  return ws_describe_problem(
      page->arena, task->problem,
      ws_problem_layout_index(task->problem, task->layout));
}

/* It is about designs, not about one region. */
static const char *advice_section(const ws__page *page) {
  const ws__task *task = page->brief->task;
  return ws__page_is_aimed(page)
             ? ""
             : ws_describe_advice(page->arena, task->problem,
                                  task->target->name);
}

/* A target that no text describes has its name alone. */
static const char *target_section(const ws__page *page) {
  static const char *const described[] = {"gfx942", "sm_90a"};
  const char *target = page->parent.candidate->tmpl->target;
  if (is_repair(page))
    return "";
  for (size_t i = 0; i < sizeof described / sizeof *described; i++)
    if (!strcmp(target, described[i]))
      return NULL;
  return target;
}

/* The text of the target describes the MI300X. */
static const char *card_section(const ws__page *page) {
  const ws__brief *brief = page->brief;
  if (is_repair(page) || !brief->differs[0])
    return "";
  return ws_arena_printf(
      page->arena,
      "\n**Another card than described above** (%s), of the same dies. All "
      "that differs: %s. XCDs and CUs per XCD as given here hold wherever the text "
      "above counts them.\n",
      brief->provenance, brief->differs);
}

static const char *plan_section(const ws__page *page) {
  const ws__request *request = page->request;
  return request->plan ? request->plan : "";
}

/* By kind: a document of the whole search needs no code. */
static bool shows_code(ws_request_kind kind) {
  return kind != WS_REQUEST_SELECT && kind != WS_REQUEST_DISTIL;
}

typedef struct sections {
  ws_prompt_section items[24];
  int count;
} sections;

static void add(sections *s, const char *name, const char *text,
                int expendable) {
  WS_ASSERT(s->count < (int)(sizeof s->items / sizeof *s->items));
  s->items[s->count++] = (ws_prompt_section){name, text, expendable};
}

/* Is the parent's template a model's? It shows itself how one is written. */
static bool is_of_a_model(const ws__page *page) {
  int root = page->parent.result;
  for (int origin; (origin = ws__page_origin(page, root)) >= 0; root = origin)
    if (origin >= root)
      break;
  const ws__result *first = result_at(page, root);
  return first && first->candidate &&
         strcmp(first->candidate->tmpl->hash.hex,
                page->parent.candidate->tmpl->hash.hex);
}

/* Region work by request needs no grammar of templates. */
static void add_grammar(ws__page *page, sections *s) {
  const bool needed = page->request->region < 0;
  const bool again = needed && is_of_a_model(page);
  add(s, "template_grammar", needed && !again ? NULL : "",
      page->grammar_needed ? 0 : 11);
  add(s, "template_again", again ? NULL : "", 0);
}

static ws_status add_candidate(ws__page *page, sections *s) {
  const char *second, *code;
  WS_TRY(ws__page_second(page, &second));
  if (is_repair(page))
    WS_TRY(ws__page_failed_code(page, &code));
  else
    code = ws__page_code(page);
  add(s, "template", ws__page_template(page), 2);
  add(s, "regions", ws__page_contracts(page), 7);
  add(s, "code", code, 1);
  add(s, "facts", ws__page_facts(page, &page->parent), 5);
  add(s, "estimate", page->heat.known ? "" : ws__page_estimate(page), 4);
  add(s, "second", second, 10);
  return WS_OK;
}

static ws_status add_all(ws__page *page, sections *s) {
  const char *lineage, *population, *profile, *diagnostics;
  if (shows_code(page->request->kind))
    WS_TRY(add_candidate(page, s));
  WS_TRY(ws__page_lineage(page, &lineage));
  WS_TRY(ws__page_population(page, &population));
  WS_TRY(ws__page_profile(page, &profile));
  WS_TRY(ws__page_diagnostics(page, &diagnostics));
  add(s, "target", target_section(page), 0);
  add(s, "card", card_section(page), 0);
  add(s, "rules", rules_section(page), 0);
  add(s, "problem", problem_section(page), 0);
  add(s, "advice", advice_section(page), 0);
  add(s, "shapes", ws__page_shapes(page), 0);
  add(s, "aim", ws__page_aim(page), 0);
  add(s, "plan", plan_section(page), 0);
  add(s, "diagnostics", diagnostics, 1);
  add(s, "profile", profile, 6);
  add(s, "findings", page->brief->knowledge->findings, 3);
  add(s, "lineage", lineage, page->request->kind == WS_REQUEST_DISTIL ? 1 : 9);
  add(s, "population", population,
      page->request->kind == WS_REQUEST_SELECT ? 1 : 8);
  add_grammar(page, s);
  return WS_OK;
}

static ws__page *new_page(const ws__brief *brief, ws_arena *arena,
                          const ws__request *request, ws_diag *diag) {
  ws__page *page = ws_arena_alloc(arena, sizeof *page);
  *page = (ws__page){
      .brief = brief, .arena = arena, .request = request, .diag = diag};
  return page;
}

ws_status ws__brief_heat(const ws__brief *brief, ws_arena *arena,
                         const ws__request *request, ws__heat *out,
                         ws_diag *diag) {
  ws__page *page = new_page(brief, arena, request, diag);
  WS_TRY(load(page));
  *out = page->heat;
  return WS_OK;
}

ws_status ws__brief_prompt(const ws__brief *brief, ws_arena *arena,
                           const ws__request *request, ws_prompt *out_prompt,
                           ws_diag *diag) {
  ws__page *page = new_page(brief, arena, request, diag);
  sections s = {.count = 0};
  *out_prompt = (ws_prompt){"", "", "", ""};
  WS_TRY(load(page));
  WS_TRY(add_all(page, &s));
  return ws_prompt_render(arena, brief->prompts, request->kind, s.items,
                          s.count, brief->budget_bytes, out_prompt, diag);
}
