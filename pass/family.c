/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table of families, and questions to a module that it answers.
 */
#include "family.h"
#include "template_ir.h"

#include <string.h>

/* Calling conventions and address spaces: LLVM's AMDGPU and NVPTX guides.
 * NVPTX in LLVM 21 makes allocas in the flat space. */
static const char *const amdgpu_scopes[] = {"agent",
                                            "workgroup",
                                            "wavefront",
                                            "singlethread",
                                            "agent-one-as",
                                            "workgroup-one-as",
                                            "wavefront-one-as",
                                            "singlethread-one-as",
                                            NULL};
static const char *const nvptx_scopes[] = {"device", "cluster", "block",
                                           "singlethread", NULL};

const ws_ir_family ws__ir_amdgpu = {
    .family = WS_FAMILY_AMDGPU,
    .triple = "amdgcn-amd-amdhsa",
    .kernel_word = "amdgpu_kernel",
    .kernel_convention = 91,
    .private_space = WS_SPACE_PRIVATE,
    .lds_form = "internal addrspace(3) global [BYTES x i8] poison, align 16",
    .lds_word = "LDS",
    .scopes = amdgpu_scopes};
const ws_ir_family ws__ir_nvptx = {
    .family = WS_FAMILY_NVPTX,
    .triple = "nvptx64-nvidia-cuda",
    .kernel_word = "ptx_kernel",
    .kernel_convention = 71,
    .private_space = WS_SPACE_FLAT,
    .lds_form = "external addrspace(3) global [0 x i8], align 1024",
    .lds_word = "shared memory",
    .scopes = nvptx_scopes};

static const ws_ir_family *const families[] = {&ws__ir_amdgpu, &ws__ir_nvptx};
enum { FAMILIES = sizeof families / sizeof families[0] };

const ws_ir_family *ws__ir_family(ws_target_family family) {
  return family == WS_FAMILY_NVPTX ? &ws__ir_nvptx : &ws__ir_amdgpu;
}

/* By the processor alone: whoever writes a triple may leave out the rest. */
const ws_ir_family *ws__ir_family_of(LLVMModuleRef module) {
  const char *triple = LLVMGetTarget(module);
  for (int i = 0; i < FAMILIES; i++)
    if (!strncmp(triple, families[i]->triple,
                 strcspn(families[i]->triple, "-")))
      return families[i];
  return NULL;
}

const char *ws__ir_triples(ws_arena *arena) {
  const char *list = "";
  for (int i = 0; i < FAMILIES; i++)
    list = ws_arena_printf(arena, "%s%s\"%s\"", list, i ? " or " : "",
                           families[i]->triple);
  return list;
}

bool ws__is_kernel(LLVMValueRef function) {
  unsigned convention = LLVMGetFunctionCallConv(function);
  for (int i = 0; i < FAMILIES; i++)
    if (convention == families[i]->kernel_convention)
      return !LLVMIsDeclaration(function);
  return false;
}

bool ws__is_dynamic_lds(LLVMValueRef global) {
  return LLVMGetPointerAddressSpace(LLVMTypeOf(global)) == WS_SPACE_LDS &&
         LLVMGetLinkage(global) == LLVMExternalLinkage &&
         !LLVMGetInitializer(global);
}

unsigned ws__parameter_align(LLVMValueRef function, unsigned index) {
  unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
  LLVMAttributeRef attribute =
      LLVMGetEnumAttributeAtIndex(function, index + 1, kind);
  return attribute ? (unsigned)LLVMGetEnumAttributeValue(attribute) : 0;
}

bool ws__points_outside(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
    type = LLVMGetElementType(type);
  if (LLVMGetTypeKind(type) != LLVMPointerTypeKind)
    return false;
  unsigned space = LLVMGetPointerAddressSpace(type);
  return space != WS_SPACE_LDS && space != WS_SPACE_PRIVATE &&
         space != WS_SPACE_CLUSTER;
}
