/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Makes a template's module the candidate: replaces region bodies
 * (splice_body.c), chooses shipped variants, sets parameters, resizes LDS,
 * states the workgroup size, drops what nothing uses. Works on names, so it
 * does not care whether the module came from text, from opt, or from clang.
 */
#include "splice.h"
#include "parse.h"
#include "template_ir.h"

#include <llvm-c/Analysis.h>
#include <stdio.h>
#include <string.h>

typedef struct splicer {
  LLVMModuleRef module;
  const ws_candidate *candidate;
  ws_scope scope; /* the candidate's parameters */
  ws_findings *findings;
} splicer;

enum { WAVE_SIZE = 64, MAX_THREADS = 1024 };

static const char *template_file(const splicer *s) {
  return s->candidate->tmpl->file;
}

static bool constraints_hold(const splicer *s) {
  ws_diag diag;
  int broken = ws_candidate_broken_require(s->candidate, NULL, &diag);
  if (broken < 0)
    return true;
  /* The diag already starts with file:line. */
  ws_findings_add(s->findings, "require", "", template_file(s),
                  s->candidate->tmpl->requires[broken].line, "%s", diag.text);
  return false;
}

/* Evaluates an expression over the parameters into [low, high]. */
static bool evaluate(const splicer *s, const ws_expr *expr, const char *what,
                     int line, int64_t low, int64_t high, int64_t *out_value) {
  ws_diag diag;
  if (ws_expr_eval(expr, &s->scope, out_value, &diag) != WS_OK) {
    ws_findings_add(s->findings, "splice-expression", "", template_file(s),
                    line, "%s: %s", what, diag.text);
    return false;
  }
  if (*out_value < low || *out_value > high) {
    ws_findings_add(s->findings, "splice-expression", "", template_file(s),
                    line,
                    "%s is %lld (%s), must be %lld to %lld; add a "
                    "constraint or change the expression",
                    what, (long long)*out_value, ws_expr_text(expr),
                    (long long)low, (long long)high);
    return false;
  }
  return true;
}

static void set_parameters(const splicer *s) {
  const ws_template *tmpl = s->candidate->tmpl;
  for (int i = 0; i < tmpl->param_count; i++) {
    LLVMValueRef global = LLVMGetNamedGlobal(s->module, tmpl->params[i].global);
    if (!global)
      continue; /* optimised away: nothing reads it */
    LLVMTypeRef type = LLVMGlobalGetValueType(global);
    LLVMSetInitializer(
        global,
        LLVMConstInt(type, (unsigned long long)s->candidate->values[i], 1));
  }
}

/* ---- variants ---------------------------------------------------------------
 */

static bool choose_variant(const splicer *s, const ws_region *region,
                           const ws_variant *variant) {
  LLVMValueRef from = LLVMGetNamedFunction(s->module, region->function);
  LLVMValueRef to = LLVMGetNamedFunction(s->module, variant->function);
  if (!from || !to) {
    ws_findings_add(s->findings, "splice-variant", region->function,
                    template_file(s), variant->line,
                    "@%s or @%s is gone from the module: specialise before "
                    "any optimisation",
                    region->function, variant->function);
    return false;
  }
  ws__pass_set_region(to, region->function);
  LLVMReplaceAllUsesWith(from, to);
  return true;
}

static bool choose_bodies(const splicer *s) {
  const ws_template *tmpl = s->candidate->tmpl;
  for (int i = 0; i < tmpl->region_count; i++) {
    const ws_body *body = &s->candidate->bodies[i];
    const ws_region *region = &tmpl->regions[i];
    bool done = true;
    if (body->text)
      done = ws__pass_splice_body(s->module, s->candidate, i, s->findings);
    else if (body->variant >= 0)
      done = choose_variant(s, region, &region->variants[body->variant]);
    if (!done)
      return false;
  }
  return true;
}

/* ---- LDS and launch ---------------------------------------------------------
 */

/* Larger than any LDS; what fits is for the check to say. */
static const int64_t max_lds_bytes = 1 << 20;

static void resize_lds(LLVMModuleRef module, LLVMValueRef old, int64_t bytes) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  /* No byte at all would mean "dynamic LDS" to the backend. */
  LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(context),
                                    bytes > 0 ? (uint64_t)bytes : 1);
  if (type == LLVMGlobalGetValueType(old))
    return;
  LLVMValueRef resized =
      LLVMAddGlobalInAddressSpace(module, type, "", WS_SPACE_LDS);
  LLVMSetInitializer(resized, LLVMGetPoison(type));
  LLVMSetLinkage(resized, LLVMInternalLinkage);
  LLVMSetAlignment(resized, LLVMGetAlignment(old));
  LLVMReplaceAllUsesWith(old, resized);
  size_t size;
  char name[256];
  const char *old_name = LLVMGetValueName2(old, &size);
  size = size < sizeof name ? size : sizeof name - 1;
  memcpy(name, old_name, size);
  LLVMDeleteGlobal(old);
  LLVMSetValueName2(resized, name, size);
}

static bool set_lds(const splicer *s) {
  const ws_template *tmpl = s->candidate->tmpl;
  for (int i = 0; i < tmpl->lds_count; i++) {
    const ws_lds *lds = &tmpl->lds[i];
    int64_t bytes;
    if (!evaluate(s, lds->bytes, "lds bytes", lds->line, 0, max_lds_bytes,
                  &bytes))
      return false;
    LLVMValueRef global = LLVMGetNamedGlobal(s->module, lds->global);
    if (global)
      resize_lds(s->module, global, bytes);
  }
  return true;
}

static void set_text_attribute(LLVMValueRef function, const char *key,
                               const char *value) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMAddAttributeAtIndex(
      function, LLVMAttributeFunctionIndex,
      LLVMCreateStringAttribute(context, key, (unsigned)strlen(key), value,
                                (unsigned)strlen(value)));
}

/* Whether the kernel states a range of workgroup sizes that holds low..high. */
static bool states_threads(LLVMValueRef kernel, const char *key, int64_t low,
                           int64_t high) {
  LLVMAttributeRef attribute = LLVMGetStringAttributeAtIndex(
      kernel, LLVMAttributeFunctionIndex, key, (unsigned)strlen(key));
  unsigned size;
  long long own_low, own_high;
  if (!attribute || sscanf(LLVMGetStringAttributeValue(attribute, &size),
                           "%lld,%lld", &own_low, &own_high) != 2)
    return false;
  return own_low <= low && high <= own_high;
}

/* The threads of all launches of one kernel; launches that this candidate
 * never makes (condition 0 from the parameters alone) do not count. */
static bool thread_range(const splicer *s, const char *kernel, int64_t *out_low,
                         int64_t *out_high) {
  const ws_template *tmpl = s->candidate->tmpl;
  *out_low = MAX_THREADS + 1;
  *out_high = 0;
  for (int i = 0; i < tmpl->launch_count; i++) {
    const ws_launch *launch = &tmpl->launches[i];
    int64_t threads, condition;
    ws_expr *bound =
        ws_expr_bind(s->findings->arena, launch->condition, &s->scope);
    if (strcmp(launch->kernel, kernel) ||
        (ws_expr_is_constant(bound, &condition) && !condition))
      continue;
    if (!evaluate(s, launch->threads, "threads", launch->line, WAVE_SIZE,
                  MAX_THREADS, &threads))
      return false;
    if (threads % WAVE_SIZE) {
      ws_findings_add(s->findings, "splice-expression", "", template_file(s),
                      launch->line,
                      "threads is %lld, must be a multiple of "
                      "the wave size %d",
                      (long long)threads, WAVE_SIZE);
      return false;
    }
    *out_low = threads < *out_low ? threads : *out_low;
    *out_high = threads > *out_high ? threads : *out_high;
  }
  return true;
}

static bool set_threads(const splicer *s) {
  static const char key[] = "amdgpu-flat-work-group-size";
  const ws_template *tmpl = s->candidate->tmpl;
  for (int i = 0; i < tmpl->launch_count; i++) {
    const char *name = tmpl->launches[i].kernel;
    LLVMValueRef kernel = LLVMGetNamedFunction(s->module, name);
    int64_t low, high;
    if (!kernel) {
      ws_findings_add(s->findings, "splice-kernel", "", template_file(s),
                      tmpl->launches[i].line,
                      "kernel @%s is gone from the module", name);
      return false;
    }
    if (!thread_range(s, name, &low, &high))
      return false;
    set_text_attribute(kernel, "uniform-work-group-size", "true");
    if (!high || states_threads(kernel, key, low, high))
      continue;
    char text[64];
    snprintf(text, sizeof text, "%lld,%lld", (long long)low, (long long)high);
    set_text_attribute(kernel, key, text);
  }
  return true;
}

/* ---- end --------------------------------------------------------------------
 */

/* Replaced defaults and variants not chosen are not part of the candidate. */
static void drop_unused_functions(LLVMModuleRef module) {
  for (bool changed = true; changed;) {
    changed = false;
    for (LLVMValueRef next, f = LLVMGetFirstFunction(module); f; f = next) {
      next = LLVMGetNextFunction(f);
      bool droppable =
          LLVMIsDeclaration(f) || LLVMGetLinkage(f) == LLVMInternalLinkage;
      if (droppable && !LLVMGetFirstUse(f)) {
        LLVMDeleteFunction(f);
        changed = true;
      }
    }
  }
}

static bool verifies(const splicer *s) {
  char *message = NULL;
  bool valid = !LLVMVerifyModule(s->module, LLVMReturnStatusAction, &message);
  if (!valid)
    ws_findings_add(s->findings, "ir-verify", "", template_file(s), 0,
                    "the candidate does not verify: %s", message);
  LLVMDisposeMessage(message);
  return valid;
}

bool ws__pass_splice_keep(LLVMModuleRef module, const ws_candidate *candidate,
                          ws_findings *findings) {
  splicer s = {module, candidate,
               ws_candidate_scope(findings->arena, candidate, NULL, 0),
               findings};
  if (!constraints_hold(&s) || !choose_bodies(&s))
    return false;
  set_parameters(&s);
  return set_lds(&s) && set_threads(&s) && verifies(&s);
}

bool ws_pass_splice(LLVMModuleRef module, const ws_candidate *candidate,
                    ws_findings *findings) {
  if (!ws__pass_splice_keep(module, candidate, findings))
    return false;
  drop_unused_functions(module);
  return true;
}
