/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The inline assembly that HIP kernels are fond of, as intrinsics: a template
 * for AMD may have none, for the sanitizer cannot run it. What is not in the
 * table stays and is refused by the check, with its line.
 */
#include "hip.h"
#include "parse.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

typedef enum form {
  FORM_NOTHING, /* the compiler puts waits and no-operations where they belong
                 */
  FORM_PLAIN,   /* no operand */
  FORM_NUMBER,  /* "s_setprio 1" */
  FORM_FLOAT    /* "v_exp_f32 $0, $1" */
} form;

static const struct known {
  const char *text; /* of the instruction; the number is behind it */
  form form;
  const char *intrinsic;
} table[] = {
    {"s_waitcnt", FORM_NOTHING, NULL},
    {"s_nop", FORM_NOTHING, NULL},
    {"s_barrier", FORM_PLAIN, "llvm.amdgcn.s.barrier"},
    {"s_setprio", FORM_NUMBER, "llvm.amdgcn.s.setprio"},
    {"v_exp_f32 $0, $1", FORM_FLOAT, "llvm.amdgcn.exp2"},
    {"v_log_f32 $0, $1", FORM_FLOAT, "llvm.amdgcn.log"},
    {"v_rcp_f32 $0, $1", FORM_FLOAT, "llvm.amdgcn.rcp"},
    {"v_rsq_f32 $0, $1", FORM_FLOAT, "llvm.amdgcn.rsq"},
};
enum { KNOWN = sizeof table / sizeof table[0] };

static bool has_floats(LLVMValueRef call) {
  LLVMTypeRef type = LLVMFloatTypeInContext(
      LLVMGetTypeContext(LLVMTypeOf(LLVMGetCalledValue(call))));
  return LLVMGetNumArgOperands(call) == 1 && LLVMTypeOf(call) == type &&
         LLVMTypeOf(LLVMGetOperand(call, 0)) == type;
}

/* One instruction, on one line, of the table. */
static const struct known *find(LLVMValueRef call, const char *text,
                                const char **out_rest) {
  text += strspn(text, " \t\n");
  for (int i = 0; i < KNOWN; i++) {
    size_t size = strlen(table[i].text);
    *out_rest = text + size;
    if (strncmp(text, table[i].text, size) || strpbrk(*out_rest, ";/"))
      continue;
    const char *end = strchr(*out_rest, '\n');
    bool one = !end || !end[strspn(end, " \t\n")];
    bool bare = !(*out_rest)[strspn(*out_rest, " \t\n")];
    bool is_float = table[i].form == FORM_FLOAT;
    bool operands = LLVMGetNumArgOperands(call) > 0;
    if (one && (is_float ? bare && has_floats(call) : !operands) &&
        (table[i].form != FORM_PLAIN || bare))
      return &table[i];
  }
  return NULL;
}

static LLVMValueRef build(LLVMBuilderRef builder, LLVMModuleRef module,
                          const struct known *known, LLVMValueRef call,
                          const char *rest) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef overload = LLVMFloatTypeInContext(context);
  unsigned id =
      LLVMLookupIntrinsicID(known->intrinsic, strlen(known->intrinsic));
  size_t overloads = known->form == FORM_FLOAT;
  LLVMValueRef function =
      LLVMGetIntrinsicDeclaration(module, id, &overload, overloads);
  LLVMValueRef argument = known->form == FORM_FLOAT
                              ? LLVMGetOperand(call, 0)
                              : LLVMConstInt(LLVMInt16TypeInContext(context),
                                             strtoul(rest, NULL, 0), false);
  return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function,
                        &argument, known->form == FORM_PLAIN ? 0 : 1, "");
}

static void replace(LLVMModuleRef module, LLVMValueRef call) {
  size_t size;
  const char *rest,
      *text = LLVMGetInlineAsmAsmString(LLVMGetCalledValue(call), &size);
  const struct known *known = find(call, text, &rest);
  if (!known)
    return;
  if (known->form != FORM_NOTHING) {
    LLVMBuilderRef builder =
        LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    LLVMPositionBuilderBefore(builder, call);
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(call));
    LLVMValueRef value = build(builder, module, known, call, rest);
    if (known->form == FORM_FLOAT)
      LLVMReplaceAllUsesWith(call, value);
    LLVMDisposeBuilder(builder);
  }
  LLVMInstructionEraseFromParent(call);
}

void ws__hip_replace_assembly(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block))
      for (LLVMValueRef next, i = LLVMGetFirstInstruction(block); i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (LLVMIsACallInst(i) && LLVMIsAInlineAsm(LLVMGetCalledValue(i)))
          replace(module, i);
      }
}
