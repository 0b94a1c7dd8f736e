/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Functions are inlined by LLVM, from pointers that stand for memrefs. A memref
 * whose size or strides are known at run time only has no such form: a function
 * that takes or returns one becomes part of its callers here, once shapes are
 * as static as they get.
 */
#include "declare.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

enum { MOST_RANK = 16, MOST_CALLS = 1024 };

static bool is_of_run_time(MlirType type) {
  int64_t strides[MOST_RANK], offset;
  if (mlirTypeIsAUnrankedMemRef(type))
    return true;
  if (!mlirTypeIsAMemRef(type))
    return false;
  const intptr_t rank = mlirShapedTypeGetRank(type);
  if (!mlirShapedTypeHasStaticShape(type) || rank > MOST_RANK ||
      mlirLogicalResultIsFailure(
          mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)))
    return true;
  bool is = mlirShapedTypeIsDynamicStrideOrOffset(offset);
  for (intptr_t i = 0; i < rank; i++)
    is |= mlirShapedTypeIsDynamicStrideOrOffset(strides[i]);
  return is;
}

/* The first such type of a function; null: it has none. */
static MlirType of_run_time(MlirOperation function) {
  MlirType type = mlirTypeAttrGetValue(mlirOperationGetInherentAttributeByName(
      function, ws__mlir_ref("function_type")));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); i++)
    if (is_of_run_time(mlirFunctionTypeGetInput(type, i)))
      return mlirFunctionTypeGetInput(type, i);
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); i++)
    if (is_of_run_time(mlirFunctionTypeGetResult(type, i)))
      return mlirFunctionTypeGetResult(type, i);
  return (MlirType){NULL};
}

static bool is_declared(const ws_mlir *m, MlirOperation function) {
  for (int i = 0; i < m->function_count; i++)
    if (mlirStringRefEqual(ws__mlir_ref(m->functions[i].name),
                           ws__mlir_symbol(function)))
      return !mlirAttributeIsNull(m->functions[i].region) ||
             !mlirAttributeIsNull(m->functions[i].variant);
  return false;
}

/* Why a function with such a type cannot be put into its callers; NULL: it
 * can. */
static const char *obstacle(const ws_mlir *m, MlirOperation function) {
  MlirRegion region = mlirOperationGetFirstRegion(function);
  MlirBlock first = mlirRegionGetFirstBlock(region);
  if (m->function_count && is_declared(m, function))
    return "of a region or variant; what those take and return is static once "
           "parameters are set";
  if (mlirBlockIsNull(first))
    return "of a function without a body";
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(first)))
    return "of a function of more than one block; write scf in place of cf";
  return NULL;
}

typedef struct functions {
  ws_mlir *m;
  MlirOperation items[WS_MLIR_MOST_FUNCTIONS], call, callee;
  int count;
} functions;

static void refuse_kernel(const ws_mlir *m, MlirOperation kernel) {
  MlirBlock entry = ws__mlir_body(kernel);
  intptr_t i = 0;
  while (!is_of_run_time(mlirValueGetType(mlirBlockGetArgument(entry, i))))
    i++;
  ws__mlir_find(
      m, mlirValueGetLocation(mlirBlockGetArgument(entry, i)), "mlir-dynamic",
      "",
      "a kernel's pointer is a memref of static type; memref.reinterpret_cast "
      "makes of memref<1xf32, #gpu.address_space<global>> what the launch's "
      "sizes say");
}

static bool collect(functions *list) {
  ws_mlir *m = list->m;
  MlirOperation op = ws__mlir_first(ws__mlir_gpu_module(m));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!ws__mlir_is(op, "func.func") && !ws__mlir_is(op, "gpu.func"))
      continue;
    MlirType type = of_run_time(op);
    if (mlirTypeIsNull(type) || list->count == WS_MLIR_MOST_FUNCTIONS)
      continue;
    if (ws__mlir_is(op, "gpu.func")) {
      refuse_kernel(m, op);
      return false;
    }
    const char *why = obstacle(m, op);
    if (why) {
      ws__mlir_refuse(m, op, "mlir-dynamic",
                      "%s has a size or stride that is known at run time only, "
                      "and is %s",
                      ws__mlir_type_text(m, type), why);
      return false;
    }
    list->items[list->count++] = op;
  }
  return true;
}

static MlirWalkResult find_call(MlirOperation op, void *data) {
  functions *list = data;
  for (int i = 0; ws__mlir_is(op, "func.call") && i < list->count; i++)
    if (mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(
                               mlirOperationGetInherentAttributeByName(
                                   op, ws__mlir_ref("callee"))),
                           ws__mlir_symbol(list->items[i]))) {
      list->call = op;
      list->callee = list->items[i];
      return MlirWalkResultInterrupt;
    }
  return MlirWalkResultAdvance;
}

bool ws__mlir_inline(ws_mlir *m) {
  functions list = {.m = m};
  MlirOperation gpu = ws__mlir_gpu_module(m);
  if (!collect(&list))
    return false;
  if (!list.count)
    return true;
  for (int done = 0;; done++) {
    list.call.ptr = NULL;
    mlirOperationWalk(gpu, find_call, &list, MlirWalkPreOrder);
    if (mlirOperationIsNull(list.call))
      break;
    if (done == MOST_CALLS) {
      ws__mlir_refuse(m, list.callee, "mlir-dynamic",
                      "functions of memrefs with sizes of run time are called "
                      "more than %d times",
                      MOST_CALLS);
      return false;
    }
    ws__mlir_paste(mlirOperationClone(list.callee), list.call);
  }
  for (int i = 0; i < list.count; i++)
    mlirOperationDestroy(list.items[i]);
  return ws__mlir_run(m, gpu, "gpu.module(canonicalize,cse)");
}
