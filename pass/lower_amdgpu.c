/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lowering for AMD: LLVM emits an object, comgr links it and reads it back.
 *
 * comgr's own code generation (optimised bitcode in, middle end off) gives the
 * same code and registers, costs more and says less about errors. Measured on a
 * 128x128x128 MFMA kernel in a child of the compile server (median of 15, three
 * rounds, 2.5 GHz Xeon): 141 ms against 145 to 149; an empty kernel 19 against
 * 23 ms; with O3 run again by comgr 19 ms more.
 *
 * The code generator's default level, not its highest: that one only adds GVN
 * twice (AMDGPUPassConfig::addEarlyCSEOrGVNPass, LLVM 21), 10 % of the time.
 * Over 160 random points of fp8_gemm_mfma the code is 1 % smaller without, and
 * estimated times differ by -0.8 to +0.06 %.
 */
#include "lower.h"

static void initialize(void) {} /* ws_pass_initialize has done it */

static bool prepare(const ws_lowering *l) {
  static const char version[] = "amdhsa_code_object_version";
  LLVMTypeRef type = LLVMInt32TypeInContext(LLVMGetModuleContext(l->module));
  if (!LLVMGetModuleFlag(l->module, version, sizeof version - 1))
    LLVMAddModuleFlag(l->module, LLVMModuleFlagBehaviorError, version,
                      sizeof version - 1,
                      LLVMValueAsMetadata(LLVMConstInt(type, 500, false)));
  return true;
}

static bool finish(const ws_lowering *l, ws_blob object) {
  ws_kernel_facts *kernels;
  ws_blob code_object;
  char *log;
  if (!ws_comgr_link(l->arena, l->target, object, &code_object, &log)) {
    ws__lower_log(l->findings, "link", log);
    return false;
  }
  if (!ws_facts_read(l->arena, l->target, code_object, &kernels,
                     &l->out->kernel_count, &log)) {
    ws__lower_log(l->findings, "facts", log);
    return false;
  }
  ws_hash hash = ws_code_hash(code_object, kernels, l->out->kernel_count);
  ws__scalar_constants_take(l, kernels, l->out->kernel_count);
  l->out->kernels = kernels;
  l->out->code_hash = ws_arena_strdup(l->arena, hash.hex);
  l->out->code_object = code_object.data;
  l->out->code_object_size = code_object.size;
  return true;
}

static void report_scratch(const ws_lowering *l,
                           const ws_kernel_facts *kernel) {
  ws_findings_add(
      l->findings, "scratch", kernel->name,
      l->candidate ? l->candidate->tmpl->file : NULL, 0,
      "kernel %s needs %s%d bytes of scratch per lane (%d registers "
      "spilled): make the tile smaller, index accumulators by constants "
      "only, or unroll the loops fully",
      kernel->name, kernel->dynamic_stack ? "a dynamic stack and " : "",
      (int)kernel->scratch_bytes, (int)kernel->vgpr_spills);
}

static const char *tool(ws_arena *arena) {
  size_t major, minor;
  ws_comgr_version(&major, &minor);
  return ws_arena_printf(arena, "comgr %zu.%zu", major, minor);
}

const ws_lowering_family ws__lower_amdgpu = {
    .ir = &ws__ir_amdgpu,
    .name = "AMDGPU",
    .features = "",
    .level = LLVMCodeGenLevelDefault,
    .relocation = LLVMRelocPIC,
    .file = LLVMObjectFile,
    .initialize = initialize,
    .prepare = prepare,
    .finish = finish,
    .report_scratch = report_scratch,
    .tool = tool,
};
