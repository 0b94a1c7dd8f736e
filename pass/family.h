/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside pass/: how the families of targets differ in IR. What a target is
 * otherwise: wavesmith/target.h; how each family is lowered: lower.h.
 */
#ifndef WAVESMITH_PASS_FAMILY_H
#define WAVESMITH_PASS_FAMILY_H

#include "pass.h"
#include "wavesmith/target.h"

typedef struct ws_ir_family {
  ws_target_family family;
  const char *triple;      /* as a template writes it */
  const char *kernel_word; /* a kernel's calling convention, as IR text ... */
  unsigned kernel_convention; /* ... and as LLVM counts it */
  unsigned private_space;     /* address space of allocas */
  const char *lds_form;       /* how an LDS global is written */
  const char *lds_word;       /* what its people call it */
  const char *const *scopes;  /* of atomics, within one GPU; ends with NULL */
} ws_ir_family;

extern const ws_ir_family ws__ir_amdgpu, ws__ir_nvptx;
const ws_ir_family *ws__ir_family(ws_target_family family);
/* By the module's triple; NULL: of no family. */
const ws_ir_family *ws__ir_family_of(LLVMModuleRef module);
/* "amdgcn-amd-amdhsa" or "nvptx64-nvidia-cuda", for messages. */
const char *ws__ir_triples(ws_arena *arena);

/* A definition with the calling convention of a family's kernels. */
bool ws__is_kernel(LLVMValueRef function);

/* Shared memory whose size the launch gives: external, no bytes of its own. */
bool ws__is_dynamic_lds(LLVMValueRef global);

/* The "align" of a parameter; 0: none. */
unsigned ws__parameter_align(LLVMValueRef function, unsigned index);

/* Whether pointers of this type point at memory outside the workgroup: where
 * that lies is the driver's choice. */
bool ws__points_outside(LLVMTypeRef type);

#endif
