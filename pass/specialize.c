/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Chooses a point of a template's space in its IR: shipped variants, parameter
 * values, LDS sizes, workgroup sizes. Works on names, so it does not care
 * whether the module came from text, from opt, or from clang, and leaves every
 * function in place, so that the module's metadata stays true.
 */
#include "specialize.h"
#include "family.h"
#include "parse.h"
#include "template_ir.h"

#include <llvm-c/Analysis.h>
#include <stdio.h>
#include <string.h>

typedef struct specializer {
  LLVMModuleRef module;
  const ws_candidate *candidate;
  ws_scope scope; /* the candidate's parameters */
  const ws_target *target;
  ws_findings *findings;
} specializer;

enum { MAX_THREADS = 1024 };

static const char *template_file(const specializer *s) {
  return s->candidate->tmpl->file;
}

/* A diag's sentence without its leading "file:line: ", which a finding has of
 * its own. */
static const char *sentence(const specializer *s, const ws_diag *diag) {
  size_t size = strlen(template_file(s));
  if (strncmp(diag->text, template_file(s), size) || diag->text[size] != ':')
    return diag->text;
  const char *end = strstr(diag->text + size, ": ");
  return end ? end + 2 : diag->text;
}

static bool constraints_hold(const specializer *s) {
  ws_diag diag;
  int broken = ws_candidate_broken_require(s->candidate, NULL, &diag);
  if (broken < 0)
    return true;
  ws_findings_add(s->findings, "require", "", template_file(s),
                  s->candidate->tmpl->requires[broken].line, "%s",
                  sentence(s, &diag));
  return false;
}

/* Evaluates an expression over the parameters into [low, high]. */
static bool evaluate(const specializer *s, const ws_expr *expr,
                     const char *what, int line, int64_t low, int64_t high,
                     int64_t *out_value) {
  ws_diag diag;
  if (ws_expr_eval(expr, &s->scope, out_value, &diag) != WS_OK) {
    ws_findings_add(s->findings, "splice-expression", "", template_file(s),
                    line, "%s: %s", what, sentence(s, &diag));
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

static void set_parameters(const specializer *s) {
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

/* ---- variants ------------------------------------------------------------ */

static bool choose_variant(const specializer *s, const ws_region *region,
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

static bool choose_variants(const specializer *s) {
  const ws_template *tmpl = s->candidate->tmpl;
  for (int i = 0; i < tmpl->region_count; i++) {
    const ws_body *body = &s->candidate->bodies[i];
    const ws_region *region = &tmpl->regions[i];
    if (!body->text && body->variant >= 0 &&
        !choose_variant(s, region, &region->variants[body->variant]))
      return false;
  }
  return true;
}

/* ---- LDS and launch ------------------------------------------------------ */

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

static bool set_lds(const specializer *s) {
  const ws_template *tmpl = s->candidate->tmpl;
  for (int i = 0; i < tmpl->lds_count; i++) {
    const ws_lds *lds = &tmpl->lds[i];
    int64_t bytes;
    if (!evaluate(s, lds->bytes, "lds bytes", lds->line, 0, max_lds_bytes,
                  &bytes))
      return false;
    LLVMValueRef global = LLVMGetNamedGlobal(s->module, lds->global);
    if (global && !ws__is_dynamic_lds(global))
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
static bool thread_range(const specializer *s, const char *kernel,
                         int64_t *out_low, int64_t *out_high) {
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
    if (!evaluate(s, launch->threads, "threads", launch->line, s->target->wave,
                  MAX_THREADS, &threads))
      return false;
    if (threads % s->target->wave) {
      ws_findings_add(s->findings, "splice-expression", "", template_file(s),
                      launch->line,
                      "threads is %lld, must be a multiple of "
                      "the wave size %d",
                      (long long)threads, s->target->wave);
      return false;
    }
    *out_low = threads < *out_low ? threads : *out_low;
    *out_high = threads > *out_high ? threads : *out_high;
  }
  return true;
}

static void state_amdgpu_threads(LLVMValueRef kernel, int64_t low,
                                 int64_t high) {
  static const char key[] = "amdgpu-flat-work-group-size";
  char text[64];
  set_text_attribute(kernel, "uniform-work-group-size", "true");
  if (!high || states_threads(kernel, key, low, high))
    return;
  snprintf(text, sizeof text, "%lld,%lld", (long long)low, (long long)high);
  set_text_attribute(kernel, key, text);
}

/* The exact number when there is one: setmaxnreg needs it. */
static void state_nvptx_threads(LLVMValueRef kernel, int64_t low,
                                int64_t high) {
  char text[64];
  if (!high)
    return;
  snprintf(text, sizeof text, "%lld,1,1", (long long)high);
  set_text_attribute(kernel, low == high ? "nvvm.reqntid" : "nvvm.maxntid",
                     text);
}

static bool set_threads(const specializer *s) {
  const ws_template *tmpl = s->candidate->tmpl;
  bool nvptx = s->target->family == WS_FAMILY_NVPTX;
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
    (nvptx ? state_nvptx_threads : state_amdgpu_threads)(kernel, low, high);
  }
  return true;
}

/* What every CU must hold at once bounds the registers; a cluster is part of
 * the kernel, so that a plain launch starts it. Limits: CUDA C++ Programming
 * Guide, compute capability 9.0 (portable cluster size 8, 32 blocks a CU). */
static bool set_occupancy(const specializer *s) {
  enum { MAX_CLUSTER = 8, MAX_WORKGROUPS = 32 };
  const ws_template *tmpl = s->candidate->tmpl;
  for (int i = 0; i < tmpl->occupancy_count; i++) {
    const ws_occupancy *item = &tmpl->occupancies[i];
    LLVMValueRef kernel = LLVMGetNamedFunction(s->module, item->kernel);
    int64_t cluster, workgroups;
    char text[64];
    if (!evaluate(s, item->cluster, "cluster", item->line, 1, MAX_CLUSTER,
                  &cluster) ||
        !evaluate(s, item->workgroups, "workgroups", item->line, 1,
                  MAX_WORKGROUPS, &workgroups))
      return false;
    snprintf(text, sizeof text, "%lld", (long long)workgroups);
    set_text_attribute(kernel, "nvvm.minctasm", text);
    snprintf(text, sizeof text, "%lld,1,1", (long long)cluster);
    if (cluster > 1)
      set_text_attribute(kernel, "nvvm.cluster_dim", text);
  }
  return true;
}

/* The box of a tensor map, as cuTensorMapEncodeTiled takes it: 1 to 256
 * elements a side, inner bytes a multiple of 16 and within the swizzle. */
static bool check_tensor_map(const specializer *s, const ws_tensor_map *map) {
  enum { MAX_BOX = 256, MAX_SWIZZLE = 128, BOX_STEP = 16 };
  int64_t inner, outer, swizzle;
  if (!evaluate(s, map->box_inner, "box inner", map->line, 1, MAX_BOX,
                &inner) ||
      !evaluate(s, map->box_outer, "box outer", map->line, 1, MAX_BOX,
                &outer) ||
      !evaluate(s, map->swizzle, "swizzle", map->line, 0, MAX_SWIZZLE,
                &swizzle))
    return false;
  int64_t bytes = inner * ws_element_bytes(map->element);
  const char *fault =
      swizzle && swizzle != 32 && swizzle != 64 && swizzle != MAX_SWIZZLE
          ? "the swizzle is 0, 32, 64 or 128 bytes"
      : bytes % BOX_STEP           ? "the box's rows are multiples of 16 bytes"
      : swizzle && bytes > swizzle ? "the box's rows fit into the swizzle"
                                   : NULL;
  if (fault)
    ws_findings_add(s->findings, "tensor-map", "", template_file(s), map->line,
                    "tensor map %s has a box of %lld bytes and a swizzle of "
                    "%lld; choose values so that %s",
                    map->name, (long long)bytes, (long long)swizzle, fault);
  return !fault;
}

static bool check_tensor_maps(const specializer *s) {
  const ws_template *tmpl = s->candidate->tmpl;
  for (int i = 0; i < tmpl->tensor_map_count; i++)
    if (!check_tensor_map(s, &tmpl->tensor_maps[i]))
      return false;
  return true;
}

/* ---- end ----------------------------------------------------------------- */

static bool verifies(const specializer *s) {
  char *message = NULL;
  bool valid = !LLVMVerifyModule(s->module, LLVMReturnStatusAction, &message);
  if (!valid)
    ws_findings_add(s->findings, "ir-verify", "", template_file(s), 0,
                    "the candidate does not verify: %s", message);
  LLVMDisposeMessage(message);
  return valid;
}

bool ws__pass_specialize(LLVMModuleRef module, const ws_candidate *candidate,
                         ws_findings *findings) {
  specializer s = {module, candidate,
                   ws_candidate_scope(findings->arena, candidate, NULL, 0),
                   ws_target_find(candidate->tmpl->target), findings};
  WS_ASSERT(s.target && "ws_pass_read_records has seen to that");
  if (!constraints_hold(&s) || !choose_variants(&s))
    return false;
  set_parameters(&s);
  return set_lds(&s) && set_threads(&s) && set_occupancy(&s) &&
         check_tensor_maps(&s) && verifies(&s);
}
