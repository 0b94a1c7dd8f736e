/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Sizes that parameters decide are written as dynamic ones, of operands that
 * are constants: canonicalisation makes them static where they are made, and
 * leaves a memref.cast to the type that was written. Through calls it does not
 * look: here a function's argument takes the static type that all of its
 * callers cast from.
 */
#include "declare.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

enum { MOST_CALLS = 512, MOST_FUNCTIONS = 256, MOST_ROUNDS = 8 };

typedef struct calls {
  ws_mlir *m;
  MlirOperation calls[MOST_CALLS], functions[MOST_FUNCTIONS];
  int call_count, function_count;
  bool uncalled; /* those too that nothing calls */
} calls;

static MlirWalkResult collect(MlirOperation op, void *data) {
  calls *c = data;
  if (ws__mlir_is(op, "func.call") && c->call_count < MOST_CALLS)
    c->calls[c->call_count++] = op;
  if (ws__mlir_is(op, "func.func") && c->function_count < MOST_FUNCTIONS)
    c->functions[c->function_count++] = op;
  return MlirWalkResultAdvance;
}

static bool is_call_of(MlirOperation call, MlirStringRef name) {
  MlirAttribute callee =
      mlirOperationGetInherentAttributeByName(call, ws__mlir_ref("callee"));
  return mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(callee), name);
}

/* What a value was before it was cast to a less exact type. */
static MlirValue before_cast(MlirValue value) {
  while (mlirValueIsAOpResult(value) &&
         ws__mlir_is(mlirOpResultGetOwner(value), "memref.cast"))
    value = mlirOperationGetOperand(mlirOpResultGetOwner(value), 0);
  return value;
}

/* Of a function that nothing calls (another layout's) any size will do. */
static MlirType smallest(MlirType written) {
  enum { MOST_DIMENSIONS = 8 };
  int64_t sizes[MOST_DIMENSIONS];
  if (!mlirTypeIsAMemRef(written) ||
      mlirShapedTypeGetRank(written) > MOST_DIMENSIONS)
    return (MlirType){NULL};
  const intptr_t rank = mlirShapedTypeGetRank(written);
  for (intptr_t i = 0; i < rank; i++)
    sizes[i] = mlirShapedTypeIsDynamicDim(written, i)
                   ? 64
                   : mlirShapedTypeGetDimSize(written, i);
  return mlirMemRefTypeGet(mlirShapedTypeGetElementType(written), rank, sizes,
                           mlirMemRefTypeGetLayout(written),
                           mlirMemRefTypeGetMemorySpace(written));
}

/* Whose calls a function's are: nothing calls a variant, which stands in for
 * its region. */
static MlirStringRef called_as(const calls *c, MlirStringRef name) {
  for (int i = 0; i < c->m->function_count; i++) {
    const ws_mlir_function *f = &c->m->functions[i];
    if (!mlirAttributeIsNull(f->variant) && mlirAttributeIsAArray(f->variant) &&
        mlirArrayAttrGetNumElements(f->variant) > 0 &&
        mlirStringRefEqual(ws__mlir_ref(f->name), name))
      return mlirStringAttrGetValue(mlirArrayAttrGetElement(f->variant, 0));
  }
  return name;
}

/* The type that all callers have for an argument; null: they differ, or there
 * are none. */
static MlirType agreed(const calls *c, MlirStringRef name, intptr_t index,
                       MlirType written) {
  MlirType type = {NULL};
  for (int i = 0; i < c->call_count; i++) {
    if (!is_call_of(c->calls[i], name))
      continue;
    MlirType own = mlirValueGetType(
        before_cast(mlirOperationGetOperand(c->calls[i], index)));
    if (!mlirTypeIsNull(type) && !mlirTypeEqual(type, own))
      return (MlirType){NULL};
    type = own;
  }
  return mlirTypeIsNull(type) && c->uncalled ? smallest(written) : type;
}

static void cast_inside(MlirOperation function, MlirValue argument,
                        MlirType written) {
  MlirLocation location = mlirOperationGetLocation(function);
  MlirOperationState state =
      mlirOperationStateGet(ws__mlir_ref("memref.cast"), location);
  mlirOperationStateAddOperands(&state, 1, &argument);
  mlirOperationStateAddResults(&state, 1, &written);
  MlirOperation cast = mlirOperationCreate(&state);
  MlirBlock entry =
      mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(function));
  mlirBlockInsertOwnedOperation(entry, 0, cast);
  mlirValueReplaceAllUsesOfWith(argument, mlirOperationGetResult(cast, 0));
  mlirOperationSetOperand(cast, 0, argument);
}

static void set_function_type(MlirContext context, MlirOperation function,
                              intptr_t index, MlirType type) {
  MlirStringRef word = ws__mlir_ref("function_type");
  MlirType old = mlirTypeAttrGetValue(
      mlirOperationGetInherentAttributeByName(function, word));
  MlirType inputs[64], results[64];
  const intptr_t input_count = mlirFunctionTypeGetNumInputs(old),
                 result_count = mlirFunctionTypeGetNumResults(old);
  for (intptr_t i = 0; i < input_count; i++)
    inputs[i] = i == index ? type : mlirFunctionTypeGetInput(old, i);
  for (intptr_t i = 0; i < result_count; i++)
    results[i] = mlirFunctionTypeGetResult(old, i);
  mlirOperationSetInherentAttributeByName(
      function, word,
      mlirTypeAttrGet(mlirFunctionTypeGet(context, input_count, inputs,
                                          result_count, results)));
}

/* Whether the argument's type has become more exact. */
static bool spread_argument(const calls *c, MlirOperation function,
                            intptr_t index) {
  MlirBlock entry =
      mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(function));
  MlirValue argument = mlirBlockGetArgument(entry, index);
  MlirType written = mlirValueGetType(argument);
  MlirStringRef name = ws__mlir_symbol(function);
  MlirType type = agreed(c, called_as(c, name), index, written);
  if (!mlirTypeIsAMemRef(written) || mlirTypeIsNull(type) ||
      mlirTypeEqual(type, written))
    return false;
  mlirValueSetType(argument, type);
  set_function_type(c->m->context, function, index, type);
  cast_inside(function, argument, written);
  for (int i = 0; i < c->call_count; i++)
    if (is_call_of(c->calls[i], name))
      mlirOperationSetOperand(
          c->calls[i], index,
          before_cast(mlirOperationGetOperand(c->calls[i], index)));
  return true;
}

static bool spread(calls *c) {
  bool changed = false;
  c->call_count = c->function_count = 0;
  mlirOperationWalk(c->m->module, collect, c, MlirWalkPreOrder);
  for (int i = 0; i < c->function_count; i++) {
    MlirBlock entry =
        mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(c->functions[i]));
    const intptr_t count =
        mlirBlockIsNull(entry) ? 0 : mlirBlockGetNumArguments(entry);
    for (intptr_t a = 0; a < count && count <= 64; a++)
      changed |= spread_argument(c, c->functions[i], a);
  }
  return changed;
}

bool ws__mlir_spread_shapes(ws_mlir *m) {
  static const char fold[] = "builtin.module(gpu.module(canonicalize,cse))";
  calls *c = ws_arena_alloc(m->arena, sizeof *c);
  *c = (calls){.m = m};
  for (int round = 0; round < MOST_ROUNDS; round++) {
    if (!ws__mlir_run(m, m->module, fold))
      return false;
    if (spread(c))
      continue;
    if (c->uncalled)
      return true;
    c->uncalled = true;
  }
  ws__mlir_refuse(m, m->module, "mlir-dynamic",
                  "shapes go through more than %d calls in each other",
                  MOST_ROUNDS);
  return false;
}
