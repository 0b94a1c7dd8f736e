/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Atomics of memref. memref.atomic_rmw says nothing of a scope, and what MLIR
 * makes of it has that of the whole system, which the check refuses and a
 * kernel has no use for: here it gets the scope of those that share the memory,
 * the workgroup for LDS and the card for the rest. memref.generic_atomic_rmw of
 * one operation is that atomic; others are a loop of compare and exchange,
 * whose first load is an atomic one too.
 */
#include "declare.h"
#include "family.h"
#include "template_ir.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

/* ---- generic ones
 * ------------------------------------------------------------ */

/* MLIR's numbers of its kinds (ArithBase.td). */
static const struct {
  const char *operation;
  int kind;
} kinds[] = {
    {"arith.addf", 0},  {"arith.addi", 1},     {"arith.maximumf", 3},
    {"arith.maxsi", 4}, {"arith.maxui", 5},    {"arith.minimumf", 6},
    {"arith.minsi", 7}, {"arith.minui", 8},    {"arith.ori", 11},
    {"arith.andi", 12}, {"arith.maxnumf", 13}, {"arith.minnumf", 14},
};

static int kind_of(MlirOperation op) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (ws__mlir_is(op, kinds[i].operation))
      return kinds[i].kind;
  return -1;
}

static bool is_made_in(MlirBlock block, MlirValue value) {
  return mlirValueIsAOpResult(value) &&
         mlirBlockEqual(mlirOperationGetBlock(mlirOpResultGetOwner(value)),
                        block);
}

/* The other operand of the one operation of a body; null: it has more, or
 * another form. */
static MlirValue other_operand(MlirBlock body, MlirOperation op) {
  MlirValue old = mlirBlockGetArgument(body, 0), none = {NULL};
  MlirOperation yield = mlirOperationGetNextInBlock(op);
  if (kind_of(op) < 0 || mlirOperationIsNull(yield) ||
      !mlirOperationEqual(yield, mlirBlockGetTerminator(body)) ||
      !mlirValueEqual(mlirOperationGetOperand(yield, 0),
                      mlirOperationGetResult(op, 0)))
    return none;
  const int at = mlirValueEqual(mlirOperationGetOperand(op, 0), old);
  MlirValue other = mlirOperationGetOperand(op, at);
  return mlirValueEqual(mlirOperationGetOperand(op, !at), old) &&
                 !mlirValueEqual(other, old) && !is_made_in(body, other)
             ? other
             : none;
}

static void make_plain(const ws_mlir *m, MlirOperation op, MlirValue value,
                       int kind) {
  enum { MOST_OPERANDS = 16 };
  MlirValue operands[MOST_OPERANDS + 1] = {value};
  const intptr_t count = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < count && i < MOST_OPERANDS; i++)
    operands[i + 1] = mlirOperationGetOperand(op, i);
  MlirOperation made = ws__mlir_new(
      m, "memref.atomic_rmw", mlirOperationGetLocation(op), (int)count + 1,
      operands, mlirValueGetType(mlirOperationGetResult(op, 0)), "kind",
      mlirIntegerAttrGet(mlirIntegerTypeGet(m->context, 64), kind));
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, made);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0),
                                mlirOperationGetResult(made, 0));
  mlirOperationDestroy(op);
}

bool ws__mlir_plain_atomic(const ws_mlir *m, MlirOperation op) {
  MlirBlock body = ws__mlir_body(op);
  MlirOperation first = mlirBlockGetFirstOperation(body);
  MlirValue other = other_operand(body, first);
  if (!mlirValueIsNull(other)) {
    make_plain(m, op, other, kind_of(first));
    return true;
  }
  if (!mlirTypeIsAFloat(mlirValueGetType(mlirOperationGetResult(op, 0))))
    return true;
  ws__mlir_refuse(
      m, op, "mlir-lower",
      "memref.generic_atomic_rmw of floats is of one addf, "
      "maximumf, minimumf, maxnumf or minnumf, of the old value and "
      "one from outside; others want integers");
  return false;
}

/* ---- scopes
 * ------------------------------------------------------------------ */

static unsigned scope_of(const ws_mlir *m, LLVMContextRef context,
                         LLVMValueRef pointer) {
  static const char *const names[][2] = {
      [WS_FAMILY_AMDGPU] = {"agent", "workgroup"},
      [WS_FAMILY_NVPTX] = {"device", "block"}};
  const char *name =
      names[m->target->family]
           [LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) == WS_SPACE_LDS];
  return LLVMGetSyncScopeID(context, name, strlen(name));
}

/* What a compare-and-exchange expects at first is loaded before its loop. */
static void make_atomic(LLVMValueRef expected, LLVMValueRef pointer,
                        unsigned scope) {
  const unsigned count =
      LLVMIsAPHINode(expected) ? LLVMCountIncoming(expected) : 0;
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef load = LLVMGetIncomingValue(expected, i);
    if (!LLVMIsALoadInst(load) ||
        LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(load, 0))) !=
            LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)))
      continue;
    LLVMSetOrdering(load, LLVMAtomicOrderingMonotonic);
    LLVMSetAtomicSyncScopeID(load, scope);
  }
}

static void settle(const ws_mlir *m, LLVMContextRef context, LLVMValueRef i) {
  const bool is_exchange = LLVMIsAAtomicCmpXchgInst(i) != NULL;
  if ((!is_exchange && !LLVMIsAAtomicRMWInst(i)) ||
      LLVMGetAtomicSyncScopeID(i) != LLVMGetSyncScopeID(context, "", 0))
    return;
  LLVMValueRef pointer = LLVMGetOperand(i, 0);
  const unsigned scope = scope_of(m, context, pointer);
  LLVMSetAtomicSyncScopeID(i, scope);
  if (is_exchange)
    make_atomic(LLVMGetOperand(i, 1), pointer, scope);
}

void ws__mlir_settle_atomics(const ws_mlir *m, LLVMModuleRef module) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
         b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
           i = LLVMGetNextInstruction(i))
        settle(m, context, i);
}
