/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Sizes that parameters decide are written as dynamic ones, of operands that
 * are constants: canonicalisation makes them static where they are made, and
 * leaves a memref.cast to the type that was written. Through calls it does not
 * look: here a function's argument takes the static type that all of its
 * callers cast from. Callers come first: each function is folded once.
 */
#include "declare.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

enum { MOST_CALLS = 1024 };

typedef struct routine {
  MlirOperation op;
  MlirStringRef name;
  bool calls[WS_MLIR_MOST_FUNCTIONS]; /* before anything was folded */
  bool is_done, is_live;              /* live: a kernel comes to it */
} routine;

typedef struct call_site {
  MlirOperation op;
  bool is_live;
} call_site;

typedef struct calls {
  ws_mlir *m;
  routine functions[WS_MLIR_MOST_FUNCTIONS];
  call_site calls[MOST_CALLS]; /* of the functions that are done */
  int function_count, call_count;
} calls;

static MlirStringRef callee_of(MlirOperation call) {
  return mlirFlatSymbolRefAttrGetValue(
      mlirOperationGetInherentAttributeByName(call, ws__mlir_ref("callee")));
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
        mlirAttributeIsAString(mlirArrayAttrGetElement(f->variant, 0)) &&
        mlirStringRefEqual(ws__mlir_ref(f->name), name))
      return mlirStringAttrGetValue(mlirArrayAttrGetElement(f->variant, 0));
  }
  return name;
}

/* The type that calls have for an argument; null: they differ, or there are
 * none. */
static MlirType type_of_calls(const calls *c, MlirStringRef name,
                              intptr_t index, bool is_live) {
  MlirType type = {NULL};
  for (int i = 0; i < c->call_count; i++) {
    MlirOperation op = c->calls[i].op;
    if (c->calls[i].is_live != is_live ||
        !mlirStringRefEqual(callee_of(op), name))
      continue;
    MlirType own =
        mlirValueGetType(before_cast(mlirOperationGetOperand(op, index)));
    if (!mlirTypeIsNull(type) && !mlirTypeEqual(type, own))
      return (MlirType){NULL};
    type = own;
  }
  return type;
}

static MlirType agreed(const calls *c, const routine *f, intptr_t index,
                       MlirType written) {
  MlirStringRef name = called_as(c, f->name);
  if (f->is_live)
    return type_of_calls(c, name, index, true);
  MlirType type = type_of_calls(c, name, index, false);
  return mlirTypeIsNull(type) ? smallest(written) : type;
}

/* In no block yet. */
static MlirOperation new_cast(const ws_mlir *m, MlirValue value, MlirType to,
                              MlirLocation location) {
  return ws__mlir_new(m, "memref.cast", location, 1, &value, to, NULL,
                      (MlirAttribute){NULL});
}

static MlirValue cast_before(const ws_mlir *m, MlirOperation op,
                             MlirValue value, MlirType to) {
  MlirOperation cast = new_cast(m, value, to, mlirOperationGetLocation(op));
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, cast);
  return mlirOperationGetResult(cast, 0);
}

static void cast_inside(const ws_mlir *m, MlirOperation function,
                        MlirValue argument, MlirType written) {
  MlirOperation cast =
      new_cast(m, argument, written, mlirOperationGetLocation(function));
  mlirBlockInsertOwnedOperation(ws__mlir_body(function), 0, cast);
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

/* A call that is never made may have another size. */
static void give(const ws_mlir *m, MlirOperation call, intptr_t index,
                 MlirType written, MlirType type) {
  MlirValue own = before_cast(mlirOperationGetOperand(call, index));
  if (!mlirTypeEqual(mlirValueGetType(own), type))
    own = cast_before(m, call, cast_before(m, call, own, written), type);
  mlirOperationSetOperand(call, index, own);
}

static void spread_argument(const calls *c, const routine *f, intptr_t index) {
  MlirValue argument = mlirBlockGetArgument(ws__mlir_body(f->op), index);
  MlirType written = mlirValueGetType(argument);
  if (!mlirTypeIsAMemRef(written))
    return;
  MlirType type = agreed(c, f, index, written);
  if (mlirTypeIsNull(type) || mlirTypeEqual(type, written))
    return;
  mlirValueSetType(argument, type);
  set_function_type(c->m->context, f->op, index, type);
  cast_inside(c->m, f->op, argument, written);
  for (int i = 0; i < c->call_count; i++)
    if (mlirStringRefEqual(callee_of(c->calls[i].op), f->name))
      give(c->m, c->calls[i].op, index, written, type);
}

static void spread(const calls *c, const routine *f) {
  MlirBlock entry = ws__mlir_body(f->op);
  const intptr_t count =
      ws__mlir_is(f->op, "gpu.func") || mlirBlockIsNull(entry)
          ? 0
          : mlirBlockGetNumArguments(entry);
  for (intptr_t i = 0; i < count && count <= 64; i++)
    spread_argument(c, f, i);
}

/* ---- the order
 * ------------------------------------------------------------------ */

static MlirWalkResult collect_functions(MlirOperation op, void *data) {
  calls *c = data;
  const bool is_kernel = ws__mlir_is(op, "gpu.func");
  if (!is_kernel && !ws__mlir_is(op, "func.func"))
    return MlirWalkResultAdvance;
  if (c->function_count < WS_MLIR_MOST_FUNCTIONS)
    c->functions[c->function_count++] =
        (routine){.op = op, .name = ws__mlir_symbol(op), .is_live = is_kernel};
  return MlirWalkResultSkip;
}

typedef struct caller {
  calls *c;
  routine *f;
} caller;

/* Which functions a function may call: a variant like its region. */
static MlirWalkResult collect_edges(MlirOperation op, void *data) {
  caller *from = data;
  for (int i = 0; ws__mlir_is(op, "func.call") && i < from->c->function_count;
       i++)
    from->f->calls[i] |=
        mlirStringRefEqual(called_as(from->c, from->c->functions[i].name),
                           callee_of(op)) ||
        mlirStringRefEqual(from->c->functions[i].name, callee_of(op));
  return MlirWalkResultAdvance;
}

/* Folding may have taken some away. */
static MlirWalkResult collect_calls(MlirOperation op, void *data) {
  caller *from = data;
  if (ws__mlir_is(op, "func.call") && from->c->call_count < MOST_CALLS)
    from->c->calls[from->c->call_count++] = (call_site){op, from->f->is_live};
  return MlirWalkResultAdvance;
}

/* Those that wait for no other; false: there are none. */
static bool next_level(calls *c, routine **out, int *out_count) {
  *out_count = 0;
  for (int i = 0; i < c->function_count; i++) {
    bool is_ready = !c->functions[i].is_done;
    for (int k = 0; is_ready && k < c->function_count; k++)
      is_ready = c->functions[k].is_done || !c->functions[k].calls[i];
    if (is_ready)
      out[(*out_count)++] = &c->functions[i];
  }
  return *out_count > 0;
}

static bool is_reached(const calls *c, MlirStringRef name) {
  for (int i = 0; i < c->call_count; i++)
    if (c->calls[i].is_live &&
        mlirStringRefEqual(callee_of(c->calls[i].op), name))
      return true;
  return false;
}

static void move(MlirOperation op, MlirOperation to_module) {
  mlirOperationRemoveFromParent(op);
  mlirBlockAppendOwnedOperation(ws__mlir_body(to_module), op);
}

/* In a module of their own, and at once: to begin folding costs as much as to
 * fold a small function. */
static bool fold(const ws_mlir *m, routine **level, int count) {
  MlirOperation alone = mlirOperationCreateParse(
      m->context, ws__mlir_ref("gpu.module @level {}"), ws__mlir_ref("level"));
  for (int i = 0; i < count; i++)
    move(level[i]->op, alone);
  bool ok = ws__mlir_run(m, alone, "gpu.module(canonicalize,cse)");
  for (int i = 0; i < count; i++)
    move(level[i]->op, ws__mlir_gpu_module(m));
  mlirOperationDestroy(alone);
  return ok;
}

static bool settle(calls *c, routine **level, int count) {
  for (int i = 0; i < count; i++) {
    routine *f = level[i];
    f->is_live |= is_reached(c, called_as(c, f->name));
    spread(c, f);
  }
  if (!fold(c->m, level, count))
    return false;
  for (int i = 0; i < count; i++) {
    level[i]->is_done = true;
    mlirOperationWalk(level[i]->op, collect_calls, &(caller){c, level[i]},
                      MlirWalkPreOrder);
  }
  return true;
}

static void refuse_circle(const calls *c) {
  int i = 0;
  while (c->functions[i].is_done)
    i++;
  ws__mlir_refuse(c->m, c->functions[i].op, "mlir-recursion",
                  "this function is one of some that call each other in a "
                  "circle; functions are inlined");
}

bool ws__mlir_spread_shapes(ws_mlir *m) {
  calls *c = ws_arena_alloc(m->arena, sizeof *c);
  *c = (calls){.m = m};
  mlirOperationWalk(m->module, collect_functions, c, MlirWalkPreOrder);
  for (int i = 0; i < c->function_count; i++)
    mlirOperationWalk(c->functions[i].op, collect_edges,
                      &(caller){c, &c->functions[i]}, MlirWalkPreOrder);
  routine *level[WS_MLIR_MOST_FUNCTIONS];
  int count = 0;
  for (int done = 0; done < c->function_count; done += count) {
    if (!next_level(c, level, &count)) {
      refuse_circle(c);
      return false;
    }
    if (!settle(c, level, count))
      return false;
  }
  return true;
}
