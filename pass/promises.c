/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Takes promises off instructions: nsw, nuw, exact, nneg, disjoint, samesign,
 * inbounds, nnan, ninf, range, nonnull, noundef. A broken one is undefined
 * behaviour, which the optimiser may turn into anything, while the sanitizer
 * runs what is written. A candidate could do its work wherever it is looked at
 * and promise it away elsewhere; without them, what was sanitized is what is
 * lowered. What the optimiser can prove it finds again.
 */
#include "promises.h"
#include "parse.h"

#include <string.h>

static void drop_instruction(LLVMValueRef instruction) {
  switch (LLVMGetInstructionOpcode(instruction)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMShl:
  case LLVMTrunc:
    LLVMSetNSW(instruction, false);
    LLVMSetNUW(instruction, false);
    break;
  case LLVMUDiv:
  case LLVMSDiv:
  case LLVMLShr:
  case LLVMAShr:
    LLVMSetExact(instruction, false);
    break;
  case LLVMZExt:
  case LLVMUIToFP:
    LLVMSetNNeg(instruction, false);
    break;
  case LLVMOr:
    LLVMSetIsDisjoint(instruction, false);
    break;
  case LLVMICmp:
    LLVMSetICmpSameSign(instruction, false);
    break;
  case LLVMGetElementPtr:
    LLVMGEPSetNoWrapFlags(instruction, 0);
    break;
  default:
    break;
  }
  if (LLVMCanValueUseFastMathFlags(instruction))
    LLVMSetFastMathFlags(
        instruction, LLVMGetFastMathFlags(instruction) &
                         ~(unsigned)(LLVMFastMathNoNaNs | LLVMFastMathNoInfs));
}

static const char *const metadata[] = {"range", "nonnull", "noundef"};
static const char *const attributes[] = {"range", "nonnull", "noundef",
                                         "nofpclass"};
enum {
  METADATA = sizeof metadata / sizeof metadata[0],
  ATTRIBUTES = sizeof attributes / sizeof attributes[0]
};

static void drop_metadata(LLVMContextRef context, LLVMValueRef instruction) {
  for (int i = 0; i < METADATA; i++) {
    unsigned kind = LLVMGetMDKindIDInContext(context, metadata[i],
                                             (unsigned)strlen(metadata[i]));
    if (LLVMGetMetadata(instruction, kind))
      LLVMSetMetadata(instruction, kind, NULL);
  }
}

typedef void (*remove_attribute)(LLVMValueRef of, LLVMAttributeIndex index,
                                 unsigned kind);

/* Of the result and of each parameter. */
static void drop_attributes(LLVMValueRef of, unsigned parameters,
                            remove_attribute remove) {
  for (unsigned i = 0; i <= parameters; i++)
    for (int a = 0; a < ATTRIBUTES; a++)
      remove(of, i,
             LLVMGetEnumAttributeKindForName(attributes[a],
                                             strlen(attributes[a])));
}

void ws__pass_drop_promises(LLVMModuleRef module) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f)) {
    if (!LLVMGetIntrinsicID(f)) /* those are LLVM's own, whatever was written */
      drop_attributes(f, LLVMCountParams(f), LLVMRemoveEnumAttributeAtIndex);
    WS_FOR_EACH_INSTRUCTION(f, block, instruction) {
      drop_instruction(instruction);
      drop_metadata(context, instruction);
      if (LLVMIsACallInst(instruction))
        drop_attributes(instruction, LLVMGetNumArgOperands(instruction),
                        LLVMRemoveCallSiteEnumAttribute);
    }
  }
}
