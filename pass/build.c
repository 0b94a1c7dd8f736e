/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One request from text to verdict: the stages in order, each timed. The first
 * that has a finding ends the build; its verdict is the stage's, unless the
 * finding's id says otherwise (a broken constraint is illegal wherever it is
 * noticed).
 */
#include "family.h"
#include "load.h"

#include <string.h>

typedef struct build {
  const ws_build_request *request;
  ws_arena *arena;
  ws_build_result *out;
  ws_findings findings;
  LLVMModuleRef module;
  ws_candidate *candidate; /* NULL for a raw module */
} build;

static bool is_raw(const build *b) { return b->request->stages & WS_STAGE_RAW; }

static bool fail(build *b, const char *id, const ws_diag *diag) {
  ws_findings_add(&b->findings, id, "", b->request->template_file, 0, "%s",
                  diag->text);
  return false;
}

static ws_status set_bodies(build *b, ws_diag *diag) {
  for (int i = 0; i < b->request->body_count; i++) {
    const struct ws_request_body *body = &b->request->bodies[i];
    int region = ws_template_region_index(b->candidate->tmpl, body->region);
    if (region < 0)
      return ws_fail(diag, WS_INPUT, b->request->template_file, 0,
                     "there is no region '%s'", body->region);
    b->candidate->bodies[region] = (ws_body){
        .variant = -1, .language = body->language, .text = body->text};
  }
  ws_candidate_update_id(b->candidate);
  return WS_OK;
}

static ws_status set_candidate(build *b, const ws_template *tmpl,
                               ws_diag *diag) {
  b->candidate = ws_candidate_create(b->arena, tmpl);
  WS_TRY(ws_candidate_set(b->candidate, b->request->assignments, diag));
  WS_TRY(ws_candidate_set_variants(b->candidate, b->request->variants, diag));
  return set_bodies(b, diag);
}

/* ---- stages
 * ------------------------------------------------------------------ */

static bool parse(build *b) {
  const ws_build_request *request = b->request;
  const ws_template *tmpl;
  ws_diag diag;
  if (is_raw(b)) {
    b->module = ws_pass_parse(LLVMContextCreate(), request->template_text,
                              request->template_size, request->template_file,
                              &b->findings);
    return b->module != NULL;
  }
  if (!ws__load_template(request->template_text, request->template_size,
                         request->template_file, b->arena, &b->module, &tmpl,
                         &b->findings))
    return false;
  if (set_candidate(b, tmpl, &diag) != WS_OK)
    return fail(b, "candidate", &diag);
  if (ws__is_mlir(request->template_text, request->template_file))
    b->module =
        ws__load_candidate(request->template_text, request->template_size,
                           b->candidate, &b->findings);
  return b->module != NULL;
}

static bool splice(build *b) {
  return is_raw(b) || ws_pass_splice(b->module, b->candidate, &b->findings);
}

static bool check(build *b) {
  return is_raw(b) || ws_pass_check(b->module, b->candidate, b->request->target,
                                    &b->findings);
}

static const char *text_of(build *b, const ws_finding *finding) {
  return finding->line > 0
             ? ws_arena_printf(b->arena, "%s: %s",
                               ws_finding_place(b->arena, finding),
                               finding->text)
             : finding->text;
}

/* Takes out the findings that only say what has no model; true when there were
 * no others. */
static bool only_not_modelled(build *b) {
  int kept = 0;
  for (int i = 0; i < b->findings.count; i++) {
    ws_finding *finding = &b->findings.items[i];
    if (strcmp(finding->id, WS_FINDING_NOT_MODELLED))
      b->findings.items[kept++] = *finding;
    else if (!b->out->not_modelled)
      b->out->not_modelled = text_of(b, finding);
  }
  b->findings.count = kept;
  return !kept && b->out->not_modelled;
}

/* Without a host model there is nothing to run on: no runs, no word of having
 * passed. */
static bool sanitize(build *b) {
  const ws_build_request *request = b->request;
  const ws_target *target = ws_target_find(request->target);
  if (target && !target->has_host_model)
    return true;
  ws_run_result *results =
      ws_arena_alloc(b->arena, (size_t)request->run_count * sizeof *results);
  if (is_raw(b) ||
      !ws_pass_sanitize(b->module, b->candidate, request->runs,
                        request->run_count, b->arena, results, &b->findings))
    return is_raw(b) || only_not_modelled(b);
  b->out->runs = results;
  b->out->run_count = request->run_count;
  return true;
}

static bool lower(build *b) {
  return ws_pass_lower(b->module, b->candidate, b->request->target,
                       b->request->stages, b->arena, b->out, &b->findings);
}

/* A stage without a bit always runs. */
static const struct stage {
  const char *name;
  int bit;
  bool (*run)(build *b);
  ws_verdict verdict;
  size_t time; /* where its milliseconds are added */
} stages[] = {
    {"parse", 0, parse, WS_VERDICT_NO_COMPILE,
     offsetof(ws_build_result, parse_ms)},
    {"splice", 0, splice, WS_VERDICT_NO_COMPILE,
     offsetof(ws_build_result, parse_ms)},
    {"check", WS_STAGE_CHECK, check, WS_VERDICT_ILLEGAL,
     offsetof(ws_build_result, check_ms)},
    {"sanitize", WS_STAGE_SANITIZE, sanitize, WS_VERDICT_WRONG,
     offsetof(ws_build_result, sanitize_ms)},
    {"lower", WS_STAGE_LOWER | WS_STAGE_RAW, lower, WS_VERDICT_NO_COMPILE,
     offsetof(ws_build_result, lower_ms)},
};

/* Findings that mean "illegal" in whichever stage they turn up. Two of them say
 * that the sanitizer cannot judge, not that the result is wrong. */
static const char *const illegal_ids[] = {
    "require",    "candidate",        "scratch",     "no-host-model",
    "tensor-map", "ptxas-serialized", "wgmma-shape", "sanitizer-limit"};

static void conclude(build *b, const struct stage *stage) {
  b->out->stage = stage->name;
  b->out->verdict = stage->verdict;
  if (!b->findings.count) /* a fault of ours, but nobody is left without */
    ws_findings_add(&b->findings, "unexplained", "",
                    b->candidate ? b->candidate->tmpl->file : NULL, 0,
                    "%s refuses this and does not say why; report it with the "
                    "text, and reduce it to find out what of it is meant",
                    stage->name);
  const ws_finding *first = b->findings.items;
  for (size_t i = 0; i < sizeof illegal_ids / sizeof illegal_ids[0]; i++)
    if (!strcmp(first->id, illegal_ids[i]))
      b->out->verdict = WS_VERDICT_ILLEGAL;
  b->out->reason = text_of(b, first);
}

void ws_pass_build(const ws_build_request *request, ws_arena *arena,
                   ws_build_result *out_result) {
  build b = {.request = request, .arena = arena, .out = out_result};
  *out_result = (ws_build_result){.verdict = WS_VERDICT_OK,
                                  .stage = "",
                                  .reason = "",
                                  .ir_hash = "",
                                  .code_hash = "",
                                  .compiler = ""};
  ws_findings_init(&b.findings, arena);
  for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
    const struct stage *stage = &stages[i];
    if (stage->bit && !(request->stages & stage->bit))
      continue;
    double start = ws_clock_ms();
    bool passed = stage->run(&b);
    *(double *)((char *)out_result + stage->time) += ws_clock_ms() - start;
    if (!passed || b.findings.count) {
      conclude(&b, stage);
      break;
    }
  }
  out_result->findings = b.findings.items;
  out_result->finding_count = b.findings.count;
}
