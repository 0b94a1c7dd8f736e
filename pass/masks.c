/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A vector of 3, 5, 6 or 7 bits that is taken for a number, or the reverse:
 * LLVM's code generator for AMD takes it through the stack (LLVM 21.1.8), which
 * is scratch memory, for which kernels are refused. Masks of 2, 4 and 8
 * elements stay in registers, and so do wider ones; so these are made eight
 * wide. After optimisation, which makes such casts of its own.
 */
#include "parse.h"
#include "promises.h"

enum { WIDE = 8 };

static bool is_mask(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
         LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMIntegerTypeKind &&
         LLVMGetIntTypeWidth(LLVMGetElementType(type)) == 1;
}

static bool is_awkward(unsigned bits) {
  return bits < WIDE && (bits & (bits - 1));
}

/* The first `known` elements of a, then, up to count, the first of b. */
static LLVMValueRef elements(LLVMBuilderRef builder, LLVMValueRef a,
                             LLVMValueRef b, unsigned count, unsigned known) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(a)));
  LLVMValueRef indices[WIDE];
  for (unsigned i = 0; i < count; i++)
    indices[i] = LLVMConstInt(i32, i < known ? i : known, false);
  return LLVMBuildShuffleVector(builder, a, b, LLVMConstVector(indices, count),
                                "");
}

static LLVMValueRef number_of(LLVMBuilderRef builder, LLVMValueRef mask,
                              LLVMTypeRef number, unsigned bits) {
  LLVMTypeRef i8 = LLVMInt8TypeInContext(LLVMGetTypeContext(number));
  LLVMValueRef wide =
      elements(builder, mask, LLVMConstNull(LLVMTypeOf(mask)), WIDE, bits);
  return LLVMBuildTrunc(builder, LLVMBuildBitCast(builder, wide, i8, ""),
                        number, "");
}

static LLVMValueRef mask_of(LLVMBuilderRef builder, LLVMValueRef number,
                            unsigned bits) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(number));
  LLVMValueRef wide = LLVMBuildBitCast(
      builder,
      LLVMBuildZExt(builder, number, LLVMInt8TypeInContext(context), ""),
      LLVMVectorType(LLVMInt1TypeInContext(context), WIDE), "");
  return elements(builder, wide, LLVMGetUndef(LLVMTypeOf(wide)), bits, bits);
}

static void widen(LLVMBuilderRef builder, LLVMValueRef cast) {
  LLVMValueRef value = LLVMGetOperand(cast, 0);
  LLVMTypeRef from = LLVMTypeOf(value), to = LLVMTypeOf(cast);
  bool to_number = is_mask(from) && LLVMGetTypeKind(to) == LLVMIntegerTypeKind;
  bool to_mask = is_mask(to) && LLVMGetTypeKind(from) == LLVMIntegerTypeKind;
  if (!to_number && !to_mask)
    return;
  unsigned bits = LLVMGetVectorSize(to_number ? from : to);
  if (!is_awkward(bits))
    return;
  LLVMPositionBuilderBefore(builder, cast);
  LLVMReplaceAllUsesWith(cast, to_number ? number_of(builder, value, to, bits)
                                         : mask_of(builder, value, bits));
  LLVMInstructionEraseFromParent(cast);
}

void ws__pass_widen_masks(LLVMModuleRef module) {
  LLVMBuilderRef builder =
      LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  LLVMValueRef next;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
         b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (LLVMGetInstructionOpcode(i) == LLVMBitCast)
          widen(builder, i);
      }
  LLVMDisposeBuilder(builder);
}
