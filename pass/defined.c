/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Operations whose result is poison for some operands are promises, too: that
 * these operands do not occur. The hardware of either side does something (x86
 * and the GPU take a shift amount modulo the width), so that a sanitizer's run
 * sees nothing, while the optimiser goes by what it was promised. Here they
 * become operations that are defined for all operands; where the operand is a
 * constant within its range nothing changes, and code generation knows the
 * masks as the instruction's own.
 *
 * Division is not here: the sanitizer sees what divides by zero.
 */
#include "parse.h"
#include "promises.h"

#include <string.h>

typedef struct definer {
  LLVMModuleRef module;
  LLVMBuilderRef builder;
} definer;

static LLVMValueRef element_of(LLVMValueRef constant, unsigned i) {
  return LLVMGetTypeKind(LLVMTypeOf(constant)) == LLVMVectorTypeKind
             ? LLVMGetAggregateElement(constant, i)
             : constant;
}

/* Are all its elements constants below the limit? */
static bool is_below(LLVMValueRef value, uint64_t limit) {
  LLVMTypeRef type = LLVMTypeOf(value);
  unsigned count =
      LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
  if (!LLVMIsAConstant(value))
    return false;
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef element = element_of(value, i);
    if (!element || !LLVMIsAConstantInt(element) ||
        LLVMGetIntTypeWidth(LLVMTypeOf(element)) > 64 ||
        LLVMConstIntGetZExtValue(element) >= limit)
      return false;
  }
  return true;
}

static LLVMValueRef splat(LLVMTypeRef type, uint64_t value) {
  enum { MOST = 1024 };
  LLVMValueRef elements[MOST];
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
    return LLVMConstInt(type, value, false);
  unsigned count = LLVMGetVectorSize(type);
  for (unsigned i = 0; i < count && i < MOST; i++)
    elements[i] = LLVMConstInt(LLVMGetElementType(type), value, false);
  return LLVMConstVector(elements, count < MOST ? count : MOST);
}

/* Makes operand number `index` wrap around at limit. */
static void wrap(const definer *d, LLVMValueRef instruction, unsigned index,
                 uint64_t limit) {
  LLVMValueRef operand = LLVMGetOperand(instruction, index);
  if (is_below(operand, limit))
    return;
  LLVMTypeRef type = LLVMTypeOf(operand);
  bool power = (limit & (limit - 1)) == 0;
  LLVMPositionBuilderBefore(d->builder, instruction);
  LLVMValueRef wrapped =
      power ? LLVMBuildAnd(d->builder, operand, splat(type, limit - 1), "")
            : LLVMBuildURem(d->builder, operand, splat(type, limit), "");
  LLVMSetOperand(instruction, index, wrapped);
}

static LLVMTypeRef scalar_of(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type)
                                                     : type;
}

static void define_shift(const definer *d, LLVMValueRef shift) {
  wrap(d, shift, 1, LLVMGetIntTypeWidth(scalar_of(LLVMTypeOf(shift))));
}

/* The vector's type is that of operand 0; the index is operand `index`. */
static void define_index(const definer *d, LLVMValueRef access,
                         unsigned index) {
  LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(access, 0));
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
    wrap(d, access, index, LLVMGetVectorSize(type));
}

/* Returns what has taken the conversion's place. */
static void saturate(const definer *d, LLVMValueRef conversion,
                     const char *name) {
  LLVMValueRef operand = LLVMGetOperand(conversion, 0);
  LLVMTypeRef types[2] = {LLVMTypeOf(conversion), LLVMTypeOf(operand)};
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef callee = LLVMGetIntrinsicDeclaration(d->module, id, types, 2);
  LLVMPositionBuilderBefore(d->builder, conversion);
  LLVMValueRef call = LLVMBuildCall2(d->builder, LLVMGlobalGetValueType(callee),
                                     callee, &operand, 1, "");
  LLVMReplaceAllUsesWith(conversion, call);
  LLVMInstructionEraseFromParent(conversion);
}

/* Their last operand says that one argument does not occur. */
static void define_call(LLVMValueRef call) {
  static const char *const names[] = {"llvm.abs.", "llvm.ctlz.", "llvm.cttz."};
  LLVMValueRef callee = LLVMGetCalledValue(call);
  size_t size;
  if (!LLVMIsAFunction(callee) || !LLVMGetIntrinsicID(callee))
    return;
  const char *name = LLVMGetValueName2(callee, &size);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strncmp(name, names[i], strlen(names[i])))
      LLVMSetOperand(call, 1,
                     LLVMConstNull(LLVMTypeOf(LLVMGetOperand(call, 1))));
}

static void define(const definer *d, LLVMValueRef instruction) {
  switch (LLVMGetInstructionOpcode(instruction)) {
  case LLVMShl:
  case LLVMLShr:
  case LLVMAShr:
    define_shift(d, instruction);
    break;
  case LLVMExtractElement:
    define_index(d, instruction, 1);
    break;
  case LLVMInsertElement:
    define_index(d, instruction, 2);
    break;
  case LLVMFPToSI:
    saturate(d, instruction, "llvm.fptosi.sat");
    break;
  case LLVMFPToUI:
    saturate(d, instruction, "llvm.fptoui.sat");
    break;
  case LLVMCall:
    define_call(instruction);
    break;
  default:
    break;
  }
}

static void define_in_block(const definer *d, LLVMBasicBlockRef block) {
  LLVMValueRef next, instruction = LLVMGetFirstInstruction(block);
  for (; instruction; instruction = next) {
    next = LLVMGetNextInstruction(instruction);
    define(d, instruction);
  }
}

void ws__pass_define_operations(LLVMModuleRef module) {
  definer d = {module,
               LLVMCreateBuilderInContext(LLVMGetModuleContext(module))};
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
         b = LLVMGetNextBasicBlock(b))
      define_in_block(&d, b);
  LLVMDisposeBuilder(d.builder);
}
