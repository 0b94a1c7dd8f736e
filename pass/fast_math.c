/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Takes nnan and ninf off floating-point instructions. C's setter of fast-math
 * flags only adds to them (llvm/IR/Operator.h: setFastMathFlags), so that an
 * instruction which carries one of these is made anew without.
 */
#include "promises.h"

#include <stdlib.h>

enum { PROMISES = LLVMFastMathNoNaNs | LLVMFastMathNoInfs };

static LLVMValueRef again_phi(LLVMBuilderRef builder, LLVMValueRef phi) {
  LLVMValueRef made = LLVMBuildPhi(builder, LLVMTypeOf(phi), "");
  for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
    LLVMValueRef value = LLVMGetIncomingValue(phi, i);
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
    LLVMAddIncoming(made, &value, &from, 1);
  }
  return made;
}

static void copy_attributes(LLVMValueRef from, LLVMValueRef to,
                            LLVMAttributeIndex at) {
  unsigned count = LLVMGetCallSiteAttributeCount(from, at);
  LLVMAttributeRef *list = calloc(count + 1, sizeof *list);
  WS_ASSERT(list);
  LLVMGetCallSiteAttributes(from, at, list);
  for (unsigned i = 0; i < count; i++)
    LLVMAddCallSiteAttribute(to, at, list[i]);
  free(list);
}

static LLVMValueRef again_call(LLVMBuilderRef builder, LLVMValueRef call) {
  unsigned count = LLVMGetNumArgOperands(call);
  LLVMValueRef *arguments = calloc(count + 1, sizeof *arguments);
  WS_ASSERT(arguments);
  for (unsigned i = 0; i < count; i++)
    arguments[i] = LLVMGetOperand(call, i);
  LLVMValueRef made =
      LLVMBuildCall2(builder, LLVMGetCalledFunctionType(call),
                     LLVMGetCalledValue(call), arguments, count, "");
  free(arguments);
  LLVMSetInstructionCallConv(made, LLVMGetInstructionCallConv(call));
  copy_attributes(call, made, LLVMAttributeFunctionIndex);
  for (unsigned i = 0; i <= count; i++)
    copy_attributes(call, made, i);
  return made;
}

/* NULL: an opcode that has no such flags. */
static LLVMValueRef again(LLVMBuilderRef builder, LLVMValueRef instruction) {
  LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  LLVMTypeRef type = LLVMTypeOf(instruction);
  LLVMValueRef operands[3] = {NULL};
  for (int i = 0; i < 3 && i < LLVMGetNumOperands(instruction); i++)
    operands[i] = LLVMGetOperand(instruction, (unsigned)i);
  switch (opcode) {
  case LLVMFAdd:
  case LLVMFSub:
  case LLVMFMul:
  case LLVMFDiv:
  case LLVMFRem:
    return LLVMBuildBinOp(builder, opcode, operands[0], operands[1], "");
  case LLVMFNeg:
    return LLVMBuildFNeg(builder, operands[0], "");
  case LLVMFCmp:
    return LLVMBuildFCmp(builder, LLVMGetFCmpPredicate(instruction),
                         operands[0], operands[1], "");
  case LLVMSelect:
    return LLVMBuildSelect(builder, operands[0], operands[1], operands[2], "");
  case LLVMFPTrunc:
  case LLVMFPExt:
    return LLVMBuildCast(builder, opcode, operands[0], type, "");
  case LLVMPHI:
    return again_phi(builder, instruction);
  case LLVMCall:
    return again_call(builder, instruction);
  default:
    return NULL;
  }
}

static void copy_metadata(LLVMContextRef context, LLVMValueRef from,
                          LLVMValueRef to) {
  size_t count;
  LLVMValueMetadataEntry *list =
      LLVMInstructionGetAllMetadataOtherThanDebugLoc(from, &count);
  for (unsigned i = 0; i < count; i++)
    LLVMSetMetadata(to, LLVMValueMetadataEntriesGetKind(list, i),
                    LLVMMetadataAsValue(
                        context, LLVMValueMetadataEntriesGetMetadata(list, i)));
  LLVMDisposeValueMetadataEntries(list);
}

static void limit(LLVMContextRef context, LLVMBuilderRef builder,
                  LLVMValueRef instruction) {
  if (!LLVMCanValueUseFastMathFlags(instruction))
    return;
  unsigned flags = LLVMGetFastMathFlags(instruction);
  if (!(flags & PROMISES))
    return;
  LLVMPositionBuilderBefore(builder, instruction);
  LLVMValueRef made = again(builder, instruction);
  if (!made)
    return;
  if (LLVMIsAInstruction(made)) { /* and no constant */
    if (LLVMCanValueUseFastMathFlags(made))
      LLVMSetFastMathFlags(made, flags & ~(unsigned)PROMISES);
    copy_metadata(context, instruction, made);
  }
  LLVMReplaceAllUsesWith(instruction, made);
  LLVMInstructionEraseFromParent(instruction);
}

void ws__pass_limit_fast_math(LLVMModuleRef module) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
         b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef next, i = LLVMGetFirstInstruction(b); i; i = next) {
        next = LLVMGetNextInstruction(i);
        limit(context, builder, i);
      }
  LLVMDisposeBuilder(builder);
}
