/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lowering: O3, canonical hash, code generation, link, facts.
 *
 * O3 and code generation run through LLVM's C API, link and facts through
 * comgr. comgr's own code generation (optimised bitcode in, middle end off)
 * gives the same code and registers, costs more and says less about errors.
 * Measured on a 128x128x128 MFMA kernel in a child of the compile server
 * (median of 15, three rounds, 2.5 GHz Xeon): 141 ms against 145 to 149; an
 * empty kernel 19 against 23 ms; with O3 run again by comgr 19 ms more.
 *
 * The code generator's default level, not its highest: that one only adds GVN
 * twice (AMDGPUPassConfig::addEarlyCSEOrGVNPass, LLVM 21), 10 % of the time.
 * Over 160 random points of fp8_gemm_mfma the code is 1 % smaller without, and
 * estimated times differ by -0.8 to +0.06 %.
 *
 * Debug info is dropped first unless a line table is asked for: it changes no
 * instruction and costs 12 ms of code generation on that kernel. Sanitizer and
 * check have used it by now.
 *
 * A candidate's fault here is a finding: "codegen" (LLVM or comgr report an
 * error, in their words), "no-kernel", "scratch". Some inputs abort the
 * process instead; the compile server turns that into a verdict.
 */
#include "lower.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

static const char triple[] = "amdgcn-amd-amdhsa";

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

static LLVMTargetMachineRef create_machine(const char *target,
                                           ws_findings *findings) {
  LLVMTargetRef backend;
  char *message = NULL;
  if (LLVMGetTargetFromTriple(triple, &backend, &message)) {
    ws_findings_add(findings, "codegen", "", NULL, 0,
                    "this LLVM has no AMDGPU target: %s", message);
    LLVMDisposeMessage(message);
    return NULL;
  }
  return LLVMCreateTargetMachine(backend, triple, target, "",
                                 LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                 LLVMCodeModelDefault);
}

static bool is_kernel(LLVMValueRef function) {
  return LLVMGetFunctionCallConv(function) == LLVMAMDGPUKERNELCallConv &&
         !LLVMIsDeclaration(function);
}

/* Triple, data layout, processor and code object version, where the module
 * does not bring them. Returns the number of kernels. */
static int prepare_module(LLVMModuleRef module, const char *target,
                          LLVMTargetMachineRef machine) {
  static const char version[] = "amdhsa_code_object_version";
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  int kernels = 0;
  LLVMSetTarget(module, triple);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);
  if (!LLVMGetModuleFlag(module, version, sizeof version - 1))
    LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorError, version,
                      sizeof version - 1,
                      LLVMValueAsMetadata(LLVMConstInt(
                          LLVMInt32TypeInContext(context), 500, false)));
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    if (!LLVMIsDeclaration(function))
      LLVMAddTargetDependentFunctionAttr(function, "target-cpu", target);
    kernels += is_kernel(function);
  }
  return kernels;
}

/* Kernels whose launch condition is 0 at this point of the space, whatever
 * the shape, need no code (the split-K reduction when there is no split). */
static void drop_unlaunched(LLVMModuleRef module, const ws_candidate *candidate,
                            ws_arena *arena) {
  const ws_template *tmpl = candidate->tmpl;
  ws_scope scope = ws_candidate_scope(arena, candidate, NULL, 0);
  for (int i = 0; i < tmpl->launch_count; i++) {
    int64_t value;
    bool wanted = false;
    for (int k = 0; k < tmpl->launch_count; k++)
      if (!strcmp(tmpl->launches[k].kernel, tmpl->launches[i].kernel))
        wanted |= !ws_expr_is_constant(
                      ws_expr_bind(arena, tmpl->launches[k].condition, &scope),
                      &value) ||
                  value != 0;
    LLVMValueRef kernel =
        wanted ? NULL : LLVMGetNamedFunction(module, tmpl->launches[i].kernel);
    if (kernel && !LLVMGetFirstUse(kernel))
      LLVMDeleteFunction(kernel);
  }
}

static bool optimise(LLVMModuleRef module, LLVMTargetMachineRef machine,
                     ws_findings *findings) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(module, "default<O3>", machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (error) {
    char *message = LLVMGetErrorMessage(error);
    ws_findings_add(findings, "codegen", "", NULL, 0, "O3 failed: %s", message);
    LLVMDisposeErrorMessage(message);
  }
  return !error;
}

/* A log as one finding: its first error line, or all of it. */
static void add_log(ws_findings *findings, const char *step, const char *log) {
  const char *error = strstr(log, "error: ");
  const char *text = error ? error + strlen("error: ") : log;
  size_t size = error ? strcspn(text, "\n") : strlen(text);
  ws_findings_add(findings, "codegen", "", NULL, 0, "%s: %.*s", step,
                  (int)(size < 800 ? size : 800), text);
}

/* Errors come through on_diagnostic, and then there may be an object all the
 * same. */
static bool generate(LLVMModuleRef module, const char *target,
                     LLVMTargetMachineRef machine, ws_arena *arena,
                     ws_blob *out_code_object, ws_findings *findings) {
  LLVMMemoryBufferRef buffer;
  char *message = NULL, *log;
  int before = findings->count;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile,
                                          &message, &buffer)) {
    add_log(findings, "code generation", message);
    LLVMDisposeMessage(message);
    return false;
  }
  ws_blob object = {LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer)};
  bool done = findings->count == before;
  if (done && !ws_comgr_link(arena, target, object, out_code_object, &log)) {
    add_log(findings, "link", log);
    done = false;
  }
  LLVMDisposeMemoryBuffer(buffer);
  return done;
}

/* Registers that do not fit go to scratch, which is global memory: such code
 * is slow by a factor, so it is refused unless the template says otherwise. */
static bool check_scratch(const ws_kernel_facts *kernels, int count,
                          const ws_candidate *candidate,
                          ws_findings *findings) {
  if (candidate && candidate->tmpl->allow_scratch)
    return true;
  int before = findings->count;
  for (int i = 0; i < count; i++)
    if (kernels[i].scratch_bytes > 0 || kernels[i].dynamic_stack)
      ws_findings_add(
          findings, "scratch", kernels[i].name,
          candidate ? candidate->tmpl->file : NULL, 0,
          "kernel %s needs %s%d bytes of scratch per lane (%d registers "
          "spilled): make the tile smaller, index accumulators by constants "
          "only, or unroll the loops fully",
          kernels[i].name,
          kernels[i].dynamic_stack ? "a dynamic stack and " : "",
          (int)kernels[i].scratch_bytes, (int)kernels[i].vgpr_spills);
  return findings->count == before;
}

static const char *compiler_name(ws_arena *arena) {
  unsigned llvm_major, llvm_minor, llvm_patch;
  size_t comgr_major, comgr_minor;
  LLVMGetVersion(&llvm_major, &llvm_minor, &llvm_patch);
  ws_comgr_version(&comgr_major, &comgr_minor);
  return ws_arena_printf(
      arena, "wavesmith " WAVESMITH_VERSION ", LLVM %u.%u.%u, comgr %zu.%zu",
      llvm_major, llvm_minor, llvm_patch, comgr_major, comgr_minor);
}

static bool read_facts(const char *target, ws_blob code_object, ws_arena *arena,
                       ws_build_result *out, ws_findings *findings) {
  ws_kernel_facts *kernels;
  char *log;
  if (!ws_facts_read(arena, target, code_object, &kernels, &out->kernel_count,
                     &log)) {
    add_log(findings, "facts", log);
    return false;
  }
  ws_hash hash = ws_code_hash(code_object, kernels, out->kernel_count);
  out->kernels = kernels;
  out->code_hash = ws_arena_strdup(arena, hash.hex);
  out->code_object = code_object.data;
  out->code_object_size = code_object.size;
  return true;
}

static bool lower(LLVMModuleRef module, const ws_candidate *candidate,
                  const char *target, bool lines, LLVMTargetMachineRef machine,
                  ws_arena *arena, ws_build_result *out,
                  ws_findings *findings) {
  ws_blob code_object;
  if (candidate)
    drop_unlaunched(module, candidate, arena);
  if (prepare_module(module, target, machine) == 0) {
    ws_findings_add(findings, "no-kernel", "", NULL, 0,
                    "the module defines no amdgpu_kernel function");
    return false;
  }
  if (!lines)
    LLVMStripModuleDebugInfo(module);
  if (!optimise(module, machine, findings))
    return false;
  ws_hash hash = ws_ir_hash(module);
  out->ir_hash = ws_arena_strdup(arena, hash.hex);
  out->compiler = compiler_name(arena);
  return generate(module, target, machine, arena, &code_object, findings) &&
         read_facts(target, code_object, arena, out, findings) &&
         check_scratch(out->kernels, out->kernel_count, candidate, findings);
}

bool ws_pass_lower(LLVMModuleRef module, const ws_candidate *candidate,
                   const char *target, bool lines, ws_arena *arena,
                   ws_build_result *out_result, ws_findings *findings) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMDiagnosticHandler handler = LLVMContextGetDiagnosticHandler(context);
  void *handler_context = LLVMContextGetDiagnosticContext(context);
  int before = findings->count;
  LLVMTargetMachineRef machine = create_machine(target, findings);
  if (!machine)
    return false;
  LLVMContextSetDiagnosticHandler(context, on_diagnostic, findings);
  bool done = lower(module, candidate, target, lines, machine, arena,
                    out_result, findings);
  LLVMContextSetDiagnosticHandler(context, handler, handler_context);
  LLVMDisposeTargetMachine(machine);
  return done && findings->count == before;
}
