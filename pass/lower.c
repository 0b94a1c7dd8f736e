/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lowering, as far as it is the same for all targets: what is not launched
 * goes, O3, canonical hash, code generation through LLVM's C API. What a family
 * does its own way is in lower_amdgpu.c and lower_nvptx.c, behind the table of
 * lower.h.
 *
 * Debug info is dropped first unless a line table is asked for: it changes no
 * instruction and costs 12 ms of code generation on a 128x128x128 MFMA kernel.
 * Sanitizer and check have used it by now.
 *
 * A candidate's fault here is a finding: "codegen" (LLVM or the tool behind it
 * report an error, in their words), "no-kernel", "scratch". Some inputs abort
 * the process instead; the compile server turns that into a verdict.
 */
#include "lower.h"
#include "promises.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

/* Errors that LLVM reports while it works, as findings. */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *context) {
  static const char nowhere[] = "<unknown>:0:";
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
    return;
  char *text = LLVMGetDiagInfoDescription(info);
  const char *message = text;
  if (!strncmp(message, nowhere, sizeof nowhere - 1))
    message += strspn(message + sizeof nowhere - 1, "0: ") + sizeof nowhere - 1;
  ws_findings_add(context, "codegen", "", NULL, 0, "%.800s", message);
  LLVMDisposeMessage(text);
}

static const ws_lowering_family *find_family(const char *target) {
  const ws_target *known = ws_target_find(target);
  bool nvptx = known ? known->family == WS_FAMILY_NVPTX
                     : !strncmp(target, "sm_", 3); /* a raw module's */
  return nvptx ? &ws__lower_nvptx : &ws__lower_amdgpu;
}

static LLVMTargetMachineRef create_machine(const ws_lowering_family *family,
                                           const char *target,
                                           ws_findings *findings) {
  LLVMTargetRef backend;
  char *message = NULL;
  family->initialize();
  if (LLVMGetTargetFromTriple(family->ir->triple, &backend, &message)) {
    ws_findings_add(findings, "codegen", "", NULL, 0,
                    "this LLVM has no %s target: %s", family->name, message);
    LLVMDisposeMessage(message);
    return NULL;
  }
  return LLVMCreateTargetMachine(backend, family->ir->triple, target,
                                 family->features, family->level,
                                 family->relocation, LLVMCodeModelDefault);
}

/* Triple, data layout and processor, where the module does not bring them.
 * Returns the number of kernels. */
static int prepare_module(const ws_lowering *l,
                          const ws_lowering_family *family) {
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(l->machine);
  int kernels = 0;
  LLVMSetTarget(l->module, family->ir->triple);
  LLVMSetModuleDataLayout(l->module, layout);
  LLVMDisposeTargetData(layout);
  for (LLVMValueRef function = LLVMGetFirstFunction(l->module); function;
       function = LLVMGetNextFunction(function)) {
    if (!LLVMIsDeclaration(function))
      LLVMAddTargetDependentFunctionAttr(function, "target-cpu", l->target);
    kernels += ws__is_kernel(function);
  }
  return kernels;
}

/* Kernels whose launch condition is 0 at this point of the space, whatever
 * the shape, need no code (the split-K reduction when there is no split). */
static void drop_unlaunched(LLVMModuleRef module,
                            const ws_candidate *candidate) {
  const ws_template *tmpl = candidate->tmpl;
  for (int i = 0; i < tmpl->launch_count; i++) {
    const char *name = tmpl->launches[i].kernel;
    LLVMValueRef kernel = ws_candidate_may_launch(candidate, name)
                              ? NULL
                              : LLVMGetNamedFunction(module, name);
    if (kernel && !LLVMGetFirstUse(kernel))
      LLVMDeleteFunction(kernel);
  }
}

bool ws__lower_passes(const ws_lowering *l, const char *passes) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(l->module, passes, l->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (error) {
    char *message = LLVMGetErrorMessage(error);
    ws_findings_add(l->findings, "codegen", "", NULL, 0, "%s failed: %s",
                    passes, message);
    LLVMDisposeErrorMessage(message);
  }
  return !error;
}

void ws__lower_log(ws_findings *findings, const char *step, const char *log) {
  const char *error = strstr(log, "error: ");
  const char *text = error ? error + strlen("error: ") : log;
  size_t size = error ? strcspn(text, "\n") : strlen(text);
  ws_findings_add(findings, "codegen", "", NULL, 0, "%s: %.*s", step,
                  (int)(size < 800 ? size : 800), text);
}

/* Errors come through on_diagnostic, and then there may be output all the
 * same. */
static bool generate(const ws_lowering *l, const ws_lowering_family *family) {
  LLVMMemoryBufferRef buffer;
  char *message = NULL;
  int before = l->findings->count;
  if (LLVMTargetMachineEmitToMemoryBuffer(l->machine, l->module, family->file,
                                          &message, &buffer)) {
    ws__lower_log(l->findings, "code generation", message);
    LLVMDisposeMessage(message);
    return false;
  }
  ws_blob emitted = {LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer)};
  bool done = l->findings->count == before && family->finish(l, emitted);
  LLVMDisposeMemoryBuffer(buffer);
  return done;
}

/* Registers that do not fit go to memory: such code is slow by a factor, so it
 * is refused unless the template says otherwise. */
static bool check_scratch(const ws_lowering *l,
                          const ws_lowering_family *family) {
  if (l->candidate && l->candidate->tmpl->allow_scratch)
    return true;
  int before = l->findings->count;
  for (int i = 0; i < l->out->kernel_count; i++) {
    const ws_kernel_facts *kernel = &l->out->kernels[i];
    if (kernel->scratch_bytes > 0 || kernel->dynamic_stack)
      family->report_scratch(l, kernel);
  }
  return l->findings->count == before;
}

static const char *compiler_name(ws_arena *arena,
                                 const ws_lowering_family *family) {
  unsigned major, minor, patch;
  LLVMGetVersion(&major, &minor, &patch);
  return ws_arena_printf(arena,
                         "wavesmith " WAVESMITH_VERSION ", LLVM %u.%u.%u, %s",
                         major, minor, patch, family->tool(arena));
}

static bool lower(ws_lowering *l, const ws_lowering_family *family) {
  if (l->candidate)
    drop_unlaunched(l->module, l->candidate);
  if (prepare_module(l, family) == 0) {
    ws_findings_add(l->findings, "no-kernel", "", NULL, 0,
                    "the module defines no %s function",
                    family->ir->kernel_word);
    return false;
  }
  if (!family->prepare(l))
    return false;
  if (!(l->stages & (WS_STAGE_LINES | WS_STAGE_BRANCHES)))
    LLVMStripModuleDebugInfo(l->module);
  if (!ws__lower_passes(l, "default<O3>"))
    return false;
  ws__scalar_constants_find(l);
  if (l->stages & WS_STAGE_BRANCHES)
    ws__branches_find(l);
  if (!(l->stages & WS_STAGE_LINES))
    LLVMStripModuleDebugInfo(l->module);
  ws__pass_widen_masks(l->module);
  ws_hash hash = ws_ir_hash(l->module);
  l->out->ir_hash = ws_arena_strdup(l->arena, hash.hex);
  l->out->compiler = compiler_name(l->arena, family);
  return generate(l, family) && check_scratch(l, family);
}

bool ws_pass_lower(LLVMModuleRef module, const ws_candidate *candidate,
                   const char *target, int stages, ws_arena *arena,
                   ws_build_result *out_result, ws_findings *findings) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMDiagnosticHandler handler = LLVMContextGetDiagnosticHandler(context);
  void *handler_context = LLVMContextGetDiagnosticContext(context);
  const ws_lowering_family *family = find_family(target);
  int before = findings->count;
  ws_lowering lowering = {.module = module,
                          .candidate = candidate,
                          .target = target,
                          .stages = stages,
                          .machine = create_machine(family, target, findings),
                          .arena = arena,
                          .out = out_result,
                          .findings = findings};
  if (!lowering.machine)
    return false;
  LLVMContextSetDiagnosticHandler(context, on_diagnostic, findings);
  bool done = lower(&lowering, family);
  LLVMContextSetDiagnosticHandler(context, handler, handler_context);
  LLVMDisposeTargetMachine(lowering.machine);
  return done && findings->count == before;
}
