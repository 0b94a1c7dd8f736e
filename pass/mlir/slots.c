/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Whether a lane's own memory is as large as the rounds of a loop index it
 * (lanes.c). What is indexed is worked out where it is made of the iteration
 * and of constants; other indices are not looked at here. No sanitizer would
 * see it: the compiler makes registers of the memory first.
 */
#include "declare.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

enum { MOST_DEEP = 12 };
static const int64_t unknown = INT64_MIN;

typedef struct access {
  ws_mlir *m;
  MlirValue iteration;
  int64_t rounds, round;
  bool ok;
} access;

/* ---- indices ---------------------------------------------------------------
 */

static int64_t add(int64_t a, int64_t b) {
  int64_t sum;
  return a == unknown || b == unknown || __builtin_add_overflow(a, b, &sum)
             ? unknown
             : sum;
}

static int64_t multiply(int64_t a, int64_t b) {
  int64_t product;
  return a == unknown || b == unknown || __builtin_mul_overflow(a, b, &product)
             ? unknown
             : product;
}

static int64_t index_of(const access *a, MlirValue value, int depth);

static int64_t apply(const access *a, MlirOperation op, MlirAffineExpr expr,
                     int64_t dims, int depth) {
  if (mlirAffineExprIsAConstant(expr))
    return mlirAffineConstantExprGetValue(expr);
  if (mlirAffineExprIsADim(expr) || mlirAffineExprIsASymbol(expr)) {
    const bool dim = mlirAffineExprIsADim(expr);
    const intptr_t operand = dim ? mlirAffineDimExprGetPosition(expr)
                                 : dims + mlirAffineSymbolExprGetPosition(expr);
    return index_of(a, mlirOperationGetOperand(op, operand), depth);
  }
  const bool sum = mlirAffineExprIsAAdd(expr);
  if (depth >= MOST_DEEP || (!sum && !mlirAffineExprIsAMul(expr)))
    return unknown;
  const int64_t left = apply(a, op, mlirAffineBinaryOpExprGetLHS(expr), dims,
                             depth + 1),
                right = apply(a, op, mlirAffineBinaryOpExprGetRHS(expr), dims,
                              depth + 1);
  return sum ? add(left, right) : multiply(left, right);
}

static MlirAttribute own(MlirOperation op, const char *name) {
  return mlirOperationGetInherentAttributeByName(op, ws__mlir_ref(name));
}

/* Of an operation in the a->round-th round; unknown: it is not known here. */
static int64_t result_of(const access *a, MlirOperation op, int depth) {
  if (ws__mlir_is(op, "arith.constant")) {
    MlirAttribute value = own(op, "value");
    return mlirAttributeIsAInteger(value) ? mlirIntegerAttrGetValueInt(value)
                                          : unknown;
  }
  if (ws__mlir_is(op, "affine.apply")) {
    MlirAffineMap map = mlirAffineMapAttrGetValue(own(op, "map"));
    return apply(a, op, mlirAffineMapGetResult(map, 0),
                 mlirAffineMapGetNumDims(map), depth);
  }
  const bool sum = ws__mlir_is(op, "arith.addi");
  if (!sum && !ws__mlir_is(op, "arith.muli"))
    return ws__mlir_begins(op, "arith.index_cast")
               ? index_of(a, mlirOperationGetOperand(op, 0), depth)
               : unknown;
  const int64_t left = index_of(a, mlirOperationGetOperand(op, 0), depth),
                right = index_of(a, mlirOperationGetOperand(op, 1), depth);
  return sum ? add(left, right) : multiply(left, right);
}

/* The last number of a loop of constant bounds. */
static int64_t last_of(const access *a, MlirOperation loop, int depth) {
  int64_t bounds[3]; /* lower, upper, step */
  for (int i = 0; i < 3; i++) {
    bounds[i] = index_of(a, mlirOperationGetOperand(loop, i), depth);
    if (bounds[i] == unknown)
      return unknown;
  }
  return bounds[1] > bounds[0] && bounds[2] > 0
             ? bounds[1] - 1 - (bounds[1] - 1 - bounds[0]) % bounds[2]
             : unknown;
}

static int64_t index_of(const access *a, MlirValue value, int depth) {
  if (mlirValueEqual(value, a->iteration))
    return a->round;
  if (depth++ >= MOST_DEEP)
    return unknown;
  if (mlirValueIsAOpResult(value))
    return result_of(a, mlirOpResultGetOwner(value), depth);
  MlirOperation owner =
      mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
  return ws__mlir_is(owner, "scf.for") &&
                 mlirBlockArgumentGetArgNumber(value) == 0
             ? last_of(a, owner, depth)
             : unknown;
}

/* ---- memory ----------------------------------------------------------------
 */

/* The alloca that a memref is, of one dimension and known size; null: it is
 * none. */
static MlirOperation memory_of(const access *a, MlirValue value) {
  MlirOperation none = {NULL};
  if (!mlirTypeIsAMemRef(mlirValueGetType(value)) ||
      !ws__mlir_is_in(a->m, mlirValueGetType(value),
                      "#gpu.address_space<private>"))
    return none;
  MlirOperation op =
      mlirValueIsAOpResult(value) ? mlirOpResultGetOwner(value) : none;
  if (!mlirOperationIsNull(op) && ws__mlir_is(op, "memref.cast"))
    return memory_of(a, mlirOperationGetOperand(op, 0));
  if (mlirOperationIsNull(op) || !ws__mlir_is(op, "memref.alloca"))
    return none;
  MlirType type = mlirValueGetType(value);
  return mlirShapedTypeGetRank(type) == 1 && mlirShapedTypeHasStaticShape(type)
             ? op
             : none;
}

/* How many elements an access takes for sure, from its index on. */
static int64_t extent_of(MlirOperation op) {
  if (!ws__mlir_is(op, "vector.load") && !ws__mlir_is(op, "vector.store"))
    return 1;
  const bool store = ws__mlir_is(op, "vector.store");
  MlirType vector = mlirValueGetType(store ? mlirOperationGetOperand(op, 0)
                                           : mlirOperationGetResult(op, 0)),
           memref = mlirValueGetType(mlirOperationGetOperand(op, store));
  return mlirTypeIsAVector(mlirShapedTypeGetElementType(memref)) ||
                 mlirShapedTypeGetRank(vector) != 1
             ? 1
             : mlirShapedTypeGetDimSize(vector, 0);
}

/* Elements that the rounds of an access need; 0: not known. */
static int64_t needed_by(access *a, MlirOperation op, MlirValue index) {
  int64_t most = 0;
  for (a->round = 0; a->round < a->rounds; a->round++) {
    const int64_t end = add(index_of(a, index, 0), extent_of(op));
    if (end == unknown)
      return 0;
    most = end > most ? end : most;
  }
  return most;
}

static bool check(access *a, MlirOperation op, MlirOperation memory,
                  MlirValue index) {
  const int64_t there = mlirShapedTypeGetDimSize(
                    mlirValueGetType(mlirOperationGetResult(memory, 0)), 0),
                needed = needed_by(a, op, index);
  if (needed <= there)
    return true;
  MlirLocation at = ws__mlir_place(mlirOperationGetLocation(op));
  ws__mlir_refuse(
      a->m, memory, "mlir-lanes",
      "%lld elements (wavesmith.slots), where %lld rounds (wavesmith.steps) "
      "index %lld at line %d",
      (long long)there, (long long)a->rounds, (long long)needed,
      mlirLocationIsNull(at) ? 0
                             : mlirLocationFileLineColRangeGetStartLine(at));
  return false;
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  access *a = data;
  static const char *const accesses[] = {
      "memref.load",    "memref.store",         "vector.load",
      "vector.store",   "vector.transfer_read", "vector.transfer_write",
      "memref.subview", "vector.maskedload",    "vector.maskedstore"};
  bool is_access = false;
  for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
    is_access |= ws__mlir_is(op, accesses[i]);
  const intptr_t count = is_access ? mlirOperationGetNumOperands(op) : 0;
  for (intptr_t i = 0; i + 1 < count && a->ok; i++) {
    MlirOperation memory = memory_of(a, mlirOperationGetOperand(op, i));
    MlirValue index = mlirOperationGetOperand(op, i + 1);
    if (!mlirOperationIsNull(memory) &&
        mlirTypeIsAIndex(mlirValueGetType(index)))
      a->ok = check(a, op, memory, index);
  }
  return a->ok ? MlirWalkResultAdvance : MlirWalkResultInterrupt;
}

bool ws__mlir_check_slots(ws_mlir *m, MlirOperation loop, int64_t rounds) {
  access a = {.m = m,
              .iteration = mlirBlockGetArgument(ws__mlir_body(loop), 0),
              .rounds = rounds,
              .ok = true};
  mlirOperationWalk(loop, visit, &a, MlirWalkPreOrder);
  return a.ok;
}
