/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * LLVM's passes end with `unreachable` what C leaves undefined, and so the
 * default of a switch over all values that there are, which is no fault of
 * anybody's. Both get a meaning here: a switch takes its first case, a way that
 * ends returns zeros, and llvm.assume, which simplifycfg makes of such ways,
 * goes. Nothing is promised then, and a kernel that does come there is found by
 * what it did not write. What an author has written is marked before the
 * passes, stays, and is refused (check.c).
 */
#include "promises.h"

#include <string.h>

/* Of what the author has written. */
static unsigned written(LLVMModuleRef module) {
  static const char name[] = "ws.written";
  return LLVMGetMDKindIDInContext(LLVMGetModuleContext(module), name,
                                  sizeof name - 1);
}

static bool is_end(LLVMValueRef instruction) {
  return instruction &&
         LLVMGetInstructionOpcode(instruction) == LLVMUnreachable;
}

static LLVMModuleRef module_of(LLVMValueRef instruction) {
  return LLVMGetGlobalParent(
      LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction)));
}

/* By LLVM itself. */
static bool is_made(LLVMValueRef instruction) {
  return !LLVMGetMetadata(instruction, written(module_of(instruction)));
}

static bool only_ends(LLVMBasicBlockRef block) {
  LLVMValueRef first = LLVMGetFirstInstruction(block);
  return is_end(first) && is_made(first);
}

/* As the first case does, also for the phis there. */
static void default_to_first_case(LLVMValueRef branch) {
  LLVMBasicBlockRef from = LLVMGetInstructionParent(branch);
  LLVMBasicBlockRef to = LLVMGetSuccessor(branch, 1);
  for (LLVMValueRef phi = LLVMGetFirstInstruction(to);
       phi && LLVMGetInstructionOpcode(phi) == LLVMPHI;
       phi = LLVMGetNextInstruction(phi)) {
    unsigned i = 0;
    while (LLVMGetIncomingBlock(phi, i) != from)
      i++;
    LLVMValueRef value = LLVMGetIncomingValue(phi, i);
    LLVMAddIncoming(phi, &value, &from, 1);
  }
  LLVMSetSuccessor(branch, 0, to);
}

static void settle_switch(LLVMValueRef branch) {
  if (LLVMGetInstructionOpcode(branch) == LLVMSwitch &&
      LLVMGetNumSuccessors(branch) > 1 &&
      only_ends(LLVMGetSwitchDefaultDest(branch)) &&
      !only_ends(LLVMGetSuccessor(branch, 1)))
    default_to_first_case(branch);
}

static void settle_end(LLVMValueRef function, LLVMValueRef end) {
  if (!is_end(end) || !is_made(end))
    return;
  LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(function));
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(type));
  LLVMPositionBuilderBefore(builder, end);
  if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
    LLVMBuildRetVoid(builder);
  else
    LLVMBuildRet(builder, LLVMConstNull(type));
  LLVMDisposeBuilder(builder);
  LLVMInstructionEraseFromParent(end);
}

/* What says of itself that it cannot be: an end, or an assumption. */
static bool is_promise(LLVMValueRef instruction) {
  return is_end(instruction) ||
         (LLVMIsACallInst(instruction) &&
          LLVMGetCalledValue(instruction) ==
              LLVMGetNamedFunction(module_of(instruction), "llvm.assume"));
}

static void drop_assumptions(LLVMModuleRef module) {
  LLVMValueRef assume = LLVMGetNamedFunction(module, "llvm.assume");
  LLVMUseRef next;
  for (LLVMUseRef use = assume ? LLVMGetFirstUse(assume) : NULL; use;
       use = next) {
    LLVMValueRef call = LLVMGetUser(use);
    next = LLVMGetNextUse(use);
    if (is_made(call))
      LLVMInstructionEraseFromParent(call);
  }
  if (assume && !LLVMGetFirstUse(assume))
    LLVMDeleteFunction(assume);
}

static void mark(LLVMBasicBlockRef block, unsigned kind, LLVMValueRef node) {
  for (LLVMValueRef at = LLVMGetFirstInstruction(block); at;
       at = LLVMGetNextInstruction(at))
    if (is_promise(at))
      LLVMSetMetadata(at, kind, node);
}

void ws__pass_mark_written(LLVMModuleRef module) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMValueRef node =
      LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, NULL, 0));
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block))
      mark(block, written(module), node);
}

static void settle_ends(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f)) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block))
      settle_switch(LLVMGetBasicBlockTerminator(block));
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block))
      settle_end(f, LLVMGetBasicBlockTerminator(block));
  }
}

void ws__pass_settle_made(LLVMModuleRef module) {
  settle_ends(module);
  drop_assumptions(module);
}
