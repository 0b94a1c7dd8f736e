/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the translation leaves to be said of an LLVM module, so that it is a
 * template like any other.
 */
#include "../parse.h"
#include "declare.h"
#include "family.h"
#include "template_ir.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

/* What the translation states by itself; an author's own
 * (rocdl.flat_work_group_size) stays. */
static void drop_made_width(LLVMValueRef function) {
  static const char width[] = "amdgpu-flat-work-group-size", made[] = "1,256";
  unsigned size = 0;
  LLVMAttributeRef stated = LLVMGetStringAttributeAtIndex(
      function, LLVMAttributeFunctionIndex, width, sizeof width - 1);
  const char *value = stated ? LLVMGetStringAttributeValue(stated, &size) : "";
  if (size == sizeof made - 1 && !memcmp(value, made, size))
    LLVMRemoveStringAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                     width, sizeof width - 1);
}

static void settle_function(const ws_ir_family *family,
                            const ws_mlir_function *f, LLVMValueRef function) {
  for (int i = 0; i < f->argument_count; i++)
    if (f->arguments[i])
      LLVMSetValueName2(LLVMGetParam(function, (unsigned)i), f->arguments[i],
                        strlen(f->arguments[i]));
  drop_made_width(function);
  if (f->is_kernel)
    LLVMSetFunctionCallConv(function, family->kernel_convention);
}

/* Shared memory of NVIDIA's is given at launch: an array without an end. */
static void make_dynamic(ws_arena *arena, LLVMModuleRef module,
                         LLVMValueRef old) {
  enum { ALIGN = 1024 };
  size_t size;
  LLVMTypeRef byte = LLVMInt8TypeInContext(LLVMGetModuleContext(module));
  LLVMValueRef made = LLVMAddGlobalInAddressSpace(
      module, LLVMArrayType2(byte, 0), "", WS_SPACE_LDS);
  LLVMSetAlignment(made, ALIGN);
  LLVMReplaceAllUsesWith(old, made);
  const char *name = LLVMGetValueName2(old, &size);
  name = ws_arena_strndup(arena, name, size);
  LLVMDeleteGlobal(old);
  LLVMSetValueName2(made, name, size);
}

static void settle_globals(const ws_mlir *m, LLVMModuleRef module) {
  LLVMValueRef next;
  for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = next) {
    next = LLVMGetNextGlobal(g);
    if (LLVMGetLinkage(g) == LLVMPrivateLinkage)
      LLVMSetLinkage(g, LLVMInternalLinkage);
    if (m->target->family == WS_FAMILY_NVPTX &&
        LLVMGetPointerAddressSpace(LLVMTypeOf(g)) == WS_SPACE_LDS &&
        !ws__is_dynamic_lds(g)) /* which this loop comes to as well */
      make_dynamic(m->arena, module, g);
  }
}

/* What a vectorised loop's odd end leaves, llvm.masked.load and store, which no
 * target here has, to a branch for each element. */
static void scalarize_masked(LLVMModuleRef module) {
  bool has = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f && !has;
       f = LLVMGetNextFunction(f)) {
    size_t size;
    const char *name = LLVMGetValueName2(f, &size);
    has = !strncmp(name, "llvm.masked.", 12) || !strncmp(name, "llvm.vp.", 8);
  }
  if (!has)
    return;
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(
      module,
      "pre-isel-intrinsic-lowering,function(scalarize-masked-mem-intrin)", NULL,
      options);
  WS_ASSERT(!error && "a pass of LLVM's own");
  LLVMDisposePassBuilderOptions(options);
}

/* memref.alloca stands where it is written, perhaps behind a loop or a branch;
 * LLVM and the check want what has a size at the entry. */
static void hoist_allocas(LLVMValueRef function) {
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
  LLVMValueRef front = LLVMGetFirstInstruction(entry), next;
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(
      LLVMGetModuleContext(LLVMGetGlobalParent(function)));
  for (LLVMBasicBlockRef block = LLVMGetNextBasicBlock(entry); block;
       block = LLVMGetNextBasicBlock(block))
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
      next = LLVMGetNextInstruction(i);
      if (!LLVMIsAAllocaInst(i) || !LLVMIsConstant(LLVMGetOperand(i, 0)))
        continue;
      LLVMMetadataRef place = LLVMInstructionGetDebugLoc(i);
      LLVMInstructionRemoveFromParent(i);
      LLVMPositionBuilderBefore(builder, front);
      LLVMInsertIntoBuilder(builder, i); /* with the place of front */
      LLVMInstructionSetDebugLoc(i, place);
    }
  LLVMDisposeBuilder(builder);
}

void ws__mlir_settle(const ws_mlir *m, LLVMModuleRef module) {
  const ws_ir_family *family = ws__ir_family(m->target->family);
  ws__pass_join_folders(module);
  settle_globals(m, module);
  ws__mlir_use_intrinsics(m, module);
  ws__mlir_settle_atomics(m, module);
  scalarize_masked(module);
  for (int i = 0; i < m->function_count; i++) {
    LLVMValueRef function = LLVMGetNamedFunction(module, m->functions[i].name);
    if (!function || LLVMIsDeclaration(function))
      continue;
    settle_function(family, &m->functions[i], function);
    hoist_allocas(function);
  }
  if (m->target->family != WS_FAMILY_AMDGPU)
    return;
  static const char version[] = "amdhsa_code_object_version";
  LLVMAddModuleFlag(
      module, LLVMModuleFlagBehaviorError, version, sizeof version - 1,
      LLVMValueAsMetadata(LLVMConstInt(
          LLVMInt32TypeInContext(LLVMGetModuleContext(module)), 500, 0)));
}
