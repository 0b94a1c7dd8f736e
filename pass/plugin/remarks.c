/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What LLVM's remarks say of a template: the verdict of the check, the choices
 * that were made, what the code needs. Keys are stable; the words between them
 * make a sentence of it for -pass-remarks and -Rpass.
 */
#include "../family.h"
#include "../parse.h"
#include "../template_ir.h"
#include "job.h"
#include "passes.h"
#include "wavesmith/bound_model.h"

#include <stdio.h>
#include <string.h>

/* Parameters, regions and LDS arrays, and the words between. */
enum {
  MOST_PARTS = 2 * (WS_TEMPLATE_MAX_PARAMS + WS_TEMPLATE_MAX_REGIONS +
                    WS_TEMPLATE_MAX_LDS) +
               32
};

typedef struct remark {
  const ws_plugin_job *j;
  ws_remark_part parts[MOST_PARTS];
  int count;
} remark;

/* key NULL: words between. */
static void add(remark *r, const char *key, const char *text) {
  if (r->count < MOST_PARTS)
    r->parts[r->count++] = (ws_remark_part){key, text};
}

static void add_number(remark *r, const char *key, int64_t value) {
  add(r, key, ws_arena_printf(r->j->arena, "%lld", (long long)value));
}

static void emit(const remark *r, LLVMValueRef place, ws_remark_kind kind,
                 const char *name) {
  if (place)
    ws_plugin_remark(place, kind, r->j->pass, name, r->parts, r->count);
}

/* ---- where ----------------------------------------------------------------
 */

/* NULL: it could not be read what the template is. */
static LLVMValueRef first_kernel(const ws_plugin_job *j) {
  return j->candidate ? LLVMGetNamedFunction(
                            j->placed, j->candidate->tmpl->launches[0].kernel)
                      : NULL;
}

static bool is_at(LLVMValueRef value, const ws_finding *f) {
  return ws_pass_line(value, NULL) == f->line &&
         (!f->column || ws_pass_column(value) == f->column);
}

/* The instruction or function of a finding; of one that has no place in code
 * the first kernel. */
static LLVMValueRef place_of(const ws_plugin_job *j, const ws_finding *f) {
  for (LLVMValueRef fn = LLVMGetFirstFunction(j->placed); fn && f->line;
       fn = LLVMGetNextFunction(fn)) {
    if (LLVMIsDeclaration(fn))
      continue;
    if (is_at(fn, f))
      return fn;
    WS_FOR_EACH_INSTRUCTION(fn, block, instruction)
    if (is_at(instruction, f))
      return instruction;
  }
  return first_kernel(j);
}

/* ---- check ----------------------------------------------------------------
 */

void ws__plugin_remark_finding(const ws_plugin_job *j, const ws_finding *f) {
  remark r = {.j = j};
  if (*f->region) {
    add(&r, NULL, "region ");
    add(&r, "Region", f->region);
    add(&r, NULL, ": ");
  }
  add(&r, "Text", f->text);
  add(&r, NULL, " [");
  add(&r, "Finding", f->id);
  add(&r, NULL, "]");
  emit(&r, place_of(j, f), WS_REMARK_MISSED, "Refused");
}

void ws__plugin_remark_accepted(const ws_plugin_job *j) {
  const ws_template *tmpl = j->candidate->tmpl;
  remark r = {.j = j};
  add(&r, NULL, "template ");
  add(&r, "Template", tmpl->name);
  add(&r, NULL, " passes the check for ");
  add(&r, "Target", tmpl->target);
  emit(&r, first_kernel(j), WS_REMARK_PASSED, "Accepted");
}

/* ---- specialize ------------------------------------------------------------
 */

static void add_sizes(remark *r, const ws_scope *scope) {
  const ws_template *tmpl = r->j->candidate->tmpl;
  int64_t bytes;
  for (int i = 0; i < tmpl->lds_count; i++) {
    if (ws_expr_eval(tmpl->lds[i].bytes, scope, &bytes, NULL) != WS_OK)
      continue;
    add(r, NULL, ws_arena_printf(r->j->arena, ", @%s ", tmpl->lds[i].global));
    add_number(r, tmpl->lds[i].global, bytes);
    add(r, NULL, " bytes");
  }
}

static void say_choices(const ws_plugin_job *j, const ws_scope *scope) {
  const ws_candidate *c = j->candidate;
  remark r = {.j = j};
  add(&r, NULL, "template ");
  add(&r, "Template", c->tmpl->name);
  add(&r, NULL, ":");
  for (int i = 0; i < c->tmpl->param_count; i++) {
    add(&r, NULL, ws_arena_printf(j->arena, " %s=", c->tmpl->params[i].name));
    add_number(&r, c->tmpl->params[i].name, c->values[i]);
  }
  for (int i = 0; i < c->tmpl->region_count; i++) {
    const ws_region *region = &c->tmpl->regions[i];
    if (c->bodies[i].variant < 0)
      continue;
    add(&r, NULL, ws_arena_printf(j->arena, " %s=", region->function));
    add(&r, region->function, region->variants[c->bodies[i].variant].function);
  }
  add_sizes(&r, scope);
  emit(&r, first_kernel(j), WS_REMARK_PASSED, "Specialized");
}

void ws__plugin_remark_specialized(const ws_plugin_job *j) {
  const ws_template *tmpl = j->candidate->tmpl;
  const ws_scope scope = ws_candidate_scope(j->arena, j->candidate, NULL, 0);
  say_choices(j, &scope);
  for (int i = 0; i < tmpl->launch_count; i++) {
    const ws_launch *launch = &tmpl->launches[i];
    int64_t threads;
    remark r = {.j = j};
    if (ws_expr_eval(launch->threads, &scope, &threads, NULL) != WS_OK)
      continue;
    add(&r, NULL, "a workgroup has ");
    add_number(&r, "Threads", threads);
    add(&r, NULL, " lanes");
    emit(&r, LLVMGetNamedFunction(j->placed, launch->kernel),
         WS_REMARK_ANALYSIS, "Launch");
  }
}

/* ---- lower ----------------------------------------------------------------
 */

/* Threads of the kernel's first launch; 0: it has none. */
static int64_t threads_of(const ws_plugin_job *j, const char *kernel) {
  const ws_template *tmpl = j->candidate->tmpl;
  const ws_scope scope = ws_candidate_scope(j->arena, j->candidate, NULL, 0);
  int64_t threads = 0;
  for (int i = 0; i < tmpl->launch_count; i++)
    if (!strcmp(tmpl->launches[i].kernel, kernel) &&
        ws_expr_eval(tmpl->launches[i].threads, &scope, &threads, NULL) ==
            WS_OK)
      return threads;
  return 0;
}

/* Nothing of a kernel that nothing has assembled (PTX without ptxas). */
static void say_resources(const ws_plugin_job *j, const ws_target *target,
                          const ws_kernel_facts *k) {
  if (!k->vgpr)
    return;
  const struct {
    const char *key, *words;
    int64_t value;
  } numbers[] = {
      {"VGPRs", " VGPRs, of these ", k->vgpr},
      {"AGPRs", " AGPRs; ", k->agpr},
      {"SGPRs", " SGPRs; ", k->sgpr},
      {"LDS", " bytes of LDS, ", k->lds_bytes + k->dynamic_lds},
      {"Scratch", " of scratch; ", k->scratch_bytes},
      {"VGPRSpills", " VGPRs and ", k->vgpr_spills},
      {"SGPRSpills", " SGPRs spilled; ", k->sgpr_spills},
      {"CodeBytes", " bytes of code", k->code_bytes},
  };
  const int64_t threads = threads_of(j, k->name);
  remark r = {.j = j};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    add_number(&r, numbers[i].key, numbers[i].value);
    add(&r, NULL, numbers[i].words);
  }
  if (threads > 0 && target) {
    add(&r, NULL, "; workgroups at once on a CU: ");
    add_number(&r, "WorkgroupsPerCU",
               ws_resident_workgroups(target, k, (int)threads));
  }
  emit(&r, LLVMGetNamedFunction(j->placed, k->name), WS_REMARK_ANALYSIS,
       "Resources");
}

void ws__plugin_remark_code(const ws_plugin_job *j, const char *cpu,
                            const char *out, const ws_build_result *result) {
  for (int i = 0; i < result->kernel_count; i++)
    say_resources(j, ws_target_find(cpu), &result->kernels[i]);
  remark r = {.j = j};
  add(&r, NULL, "code object for ");
  add(&r, "Target", cpu);
  add(&r, NULL, ", ");
  add_number(&r, "Bytes", (int64_t)result->code_object_size);
  add(&r, NULL, " bytes: ");
  add(&r, "File", out);
  emit(&r, first_kernel(j), WS_REMARK_PASSED, "CodeObject");
}
