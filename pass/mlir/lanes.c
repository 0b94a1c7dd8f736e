/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a schedule leaves as scf.forall with mapping = [#gpu.thread<x>] is the
 * work of a workgroup's lanes: lane l takes iterations l, l + threads, ... (so
 * neighbours take neighbouring ones). With wavesmith.steps = N the loop has N
 * rounds, each under a condition, and memory of the private address space that
 * is indexed by the iteration is a lane's own: there the round's number stands
 * for the iteration. gpu.block_dim becomes a number.
 */
#include "declare.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

enum { MOST_FORALLS = 256, MOST_ROUNDS = 1024 };
typedef struct found {
  ws_mlir *m;
  MlirOperation foralls[MOST_FORALLS], dims[MOST_FORALLS],
      allocas[MOST_FORALLS];
  int forall_count, dim_count, alloca_count;
} found;

static MlirWalkResult add(found *f, MlirOperation *list, int *count,
                          MlirOperation op) {
  if (*count == MOST_FORALLS) {
    ws__mlir_refuse(f->m, op, "mlir-lanes", "there may be %d of this",
                    MOST_FORALLS);
    return MlirWalkResultInterrupt;
  }
  list[(*count)++] = op;
  return MlirWalkResultAdvance;
}

static MlirWalkResult collect(MlirOperation op, void *data) {
  found *f = data;
  if (ws__mlir_is(op, "scf.forall"))
    return add(f, f->foralls, &f->forall_count, op);
  if (ws__mlir_is(op, "gpu.block_dim"))
    return add(f, f->dims, &f->dim_count, op);
  if (ws__mlir_is(op, "memref.alloca") &&
      !mlirAttributeIsNull(ws__mlir_word(op, "slots")))
    return add(f, f->allocas, &f->alloca_count, op);
  return MlirWalkResultAdvance;
}

/* What an annotation says, a number of 1 to MOST_ROUNDS; 0 and a finding. */
static int64_t rounds_of(ws_mlir *m, MlirOperation op, const char *word) {
  MlirAttribute said = ws__mlir_word(op, word);
  const int64_t count =
      mlirAttributeIsAInteger(said) ? mlirIntegerAttrGetValueInt(said) : 0;
  if (count >= 1 && count <= MOST_ROUNDS)
    return count;
  ws__mlir_refuse(m, op, "mlir-lanes", "wavesmith.%s is a number from 1 to %d",
                  word, MOST_ROUNDS);
  return 0;
}

/* ---- building -------------------------------------------------------------
 */

typedef struct maker {
  ws_mlir *m;
  MlirBlock block;
  MlirOperation before; /* null: at the end */
  MlirLocation location;
} maker;

static MlirOperation put(const maker *k, MlirOperation made) {
  if (mlirOperationIsNull(k->before))
    mlirBlockAppendOwnedOperation(k->block, made);
  else
    mlirBlockInsertOwnedOperationBefore(k->block, k->before, made);
  return made;
}

static MlirOperation make(const maker *k, const char *name, int operand_count,
                          const MlirValue *operands, MlirType type,
                          const char *attribute, MlirAttribute value) {
  return put(k, ws__mlir_new(k->m, name, k->location, operand_count, operands,
                             type, attribute, value));
}

static MlirValue number(const maker *k, int64_t value) {
  MlirType index = mlirIndexTypeGet(k->m->context);
  return mlirOperationGetResult(make(k, "arith.constant", 0, NULL, index,
                                     "value", mlirIntegerAttrGet(index, value)),
                                0);
}

static MlirValue both(const maker *k, const char *name, MlirValue a,
                      MlirValue b) {
  return mlirOperationGetResult(make(k, name, 2, (MlirValue[]){a, b},
                                     mlirIndexTypeGet(k->m->context), NULL,
                                     (MlirAttribute){NULL}),
                                0);
}

static MlirValue parsed(const maker *k, const char *text) {
  return mlirOperationGetResult(
      put(k, mlirOperationCreateParse(k->m->context, ws__mlir_ref(text),
                                      ws__mlir_ref("lanes"))),
      0);
}

static MlirBlock with_block(const maker *k, const char *name, int operand_count,
                            const MlirValue *operands, bool has_index,
                            bool has_else, MlirOperation *out) {
  MlirOperationState state =
      mlirOperationStateGet(ws__mlir_ref(name), k->location);
  mlirOperationStateAddOperands(&state, operand_count, operands);
  MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
  MlirType index = mlirIndexTypeGet(k->m->context);
  MlirBlock block = mlirBlockCreate(has_index, &index, &k->location);
  mlirRegionAppendOwnedBlock(regions[0], block);
  mlirOperationStateAddOwnedRegions(&state, has_else ? 2 : 1, regions);
  if (!has_else)
    mlirRegionDestroy(regions[1]);
  *out = put(k, mlirOperationCreate(&state));
  return block;
}

static void yield(const maker *k) {
  make(k, "scf.yield", 0, NULL, (MlirType){NULL}, NULL, (MlirAttribute){NULL});
}

/* ---- what a forall says
 * ------------------------------------------------------ */

static int64_t static_of(MlirOperation op, const char *name) {
  return mlirDenseI64ArrayGetElement(
      mlirOperationGetInherentAttributeByName(op, ws__mlir_ref(name)), 0);
}

static bool is_of_lanes(const ws_mlir *m, MlirOperation op) {
  MlirAttribute mapping =
      mlirOperationGetInherentAttributeByName(op, ws__mlir_ref("mapping"));
  return !mlirAttributeIsNull(mapping) && mlirAttributeIsAArray(mapping) &&
         mlirArrayAttrGetNumElements(mapping) == 1 &&
         mlirAttributeEqual(
             mlirArrayAttrGetElement(mapping, 0),
             mlirAttributeParseGet(m->context, ws__mlir_ref("#gpu.thread<x>")));
}

/* From zero in steps of one, without results; dynamic end as its operand. */
static bool is_plain(MlirOperation op) {
  return mlirOperationGetNumResults(op) == 0 &&
         mlirDenseArrayGetNumElements(mlirOperationGetInherentAttributeByName(
             op, ws__mlir_ref("staticUpperBound"))) == 1 &&
         static_of(op, "staticLowerBound") == 0 &&
         static_of(op, "staticStep") == 1 &&
         mlirOperationGetNumOperands(op) <= 1;
}

static bool is_private(const ws_mlir *m, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsAMemRef(type) &&
         ws__mlir_is_in(m, type, "#gpu.address_space<private>");
}

/* ---- private memory
 * ------------------------------------------------------------ */

static bool is_within(MlirBlock body, MlirOperation op) {
  MlirOperation loop = mlirBlockGetParentOperation(body);
  for (op = mlirOperationGetParentOperation(op); !mlirOperationIsNull(op);
       op = mlirOperationGetParentOperation(op))
    if (mlirOperationEqual(op, loop))
      return true;
  return false;
}

/* The value with `slot` in the place of `iteration`. */
static MlirValue in_slots(MlirBlock body, MlirValue value, MlirValue iteration,
                          MlirValue slot) {
  if (mlirValueEqual(value, iteration))
    return slot;
  if (!mlirValueIsAOpResult(value))
    return value;
  MlirOperation op = mlirOpResultGetOwner(value);
  if (!is_within(body, op) || mlirOperationGetNumResults(op) != 1 ||
      mlirOperationGetNumRegions(op))
    return value;
  const intptr_t count = mlirOperationGetNumOperands(op);
  MlirOperation clone = {NULL};
  for (intptr_t i = 0; i < count; i++) {
    MlirValue old = mlirOperationGetOperand(op, i),
              own = in_slots(body, old, iteration, slot);
    if (mlirValueEqual(old, own))
      continue;
    if (mlirOperationIsNull(clone)) {
      clone = mlirOperationClone(op);
      mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(op), op, clone);
    }
    mlirOperationSetOperand(clone, i, own);
  }
  return mlirOperationIsNull(clone) ? value : mlirOperationGetResult(clone, 0);
}

typedef struct slots {
  const ws_mlir *m;
  MlirBlock body;
  MlirValue iteration, slot;
} slots;

static MlirWalkResult use_slots(MlirOperation op, void *data) {
  const slots *s = data;
  const intptr_t count = mlirOperationGetNumOperands(op);
  bool own = false;
  for (intptr_t i = 0; i < count; i++)
    own |= is_private(s->m, mlirOperationGetOperand(op, i));
  MlirType index = mlirIndexTypeGet(s->m->context);
  for (intptr_t i = 0; own && i < count; i++) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    if (mlirTypeEqual(mlirValueGetType(operand), index))
      mlirOperationSetOperand(
          op, i, in_slots(s->body, operand, s->iteration, s->slot));
  }
  return MlirWalkResultAdvance;
}

static bool size_slots(ws_mlir *m, MlirOperation op) {
  MlirType written = mlirValueGetType(mlirOperationGetResult(op, 0));
  const int64_t count = rounds_of(m, op, "slots");
  if (!count)
    return false;
  if (mlirShapedTypeGetRank(written) != 1) {
    ws__mlir_refuse(m, op, "mlir-lanes",
                    "wavesmith.slots is for one dimension");
    return false;
  }
  MlirOperation kernel = op; /* its entry block has all allocas */
  while (!mlirOperationIsNull(kernel) && !ws__mlir_is(kernel, "gpu.func") &&
         !ws__mlir_is(kernel, "func.func"))
    kernel = mlirOperationGetParentOperation(kernel);
  if (mlirOperationIsNull(kernel)) {
    ws__mlir_refuse(m, op, "mlir-lanes",
                    "wavesmith.slots outside of a gpu.func or func.func");
    return false;
  }
  MlirBlock entry = ws__mlir_body(kernel);
  maker k = {m, entry, mlirBlockGetFirstOperation(entry),
             mlirOperationGetLocation(op)};
  MlirType type = mlirMemRefTypeGet(mlirShapedTypeGetElementType(written), 1,
                                    &count, mlirMemRefTypeGetLayout(written),
                                    mlirMemRefTypeGetMemorySpace(written));
  MlirValue made = mlirOperationGetResult(
      make(&k, "memref.alloca", 0, NULL, type, "operandSegmentSizes",
           mlirDenseI32ArrayGet(m->context, 2, (int32_t[]){0, 0})),
      0);
  made = mlirOperationGetResult(
      make(&k, "memref.cast", 1, &made, written, NULL, (MlirAttribute){NULL}),
      0);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), made);
  mlirOperationDestroy(op);
  return true;
}

/* ---- the loops
 * -------------------------------------------------------------------- */

static void move_body(MlirBlock body, MlirBlock to) {
  MlirOperation op = mlirBlockGetFirstOperation(body);
  while (!mlirOperationIsNull(op)) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    if (!mlirOperationIsNull(next)) { /* the last is scf.forall.in_parallel */
      mlirOperationRemoveFromParent(op);
      mlirBlockAppendOwnedOperation(to, op);
    }
    op = next;
  }
}

static bool is_in_lanes(const ws_mlir *m, MlirOperation op) {
  for (op = mlirOperationGetParentOperation(op); !mlirOperationIsNull(op);
       op = mlirOperationGetParentOperation(op))
    if (ws__mlir_is(op, "scf.forall") && is_of_lanes(m, op))
      return true;
  return false;
}

/* Before any is distributed, which takes its forall away. */
static bool none_in_another(ws_mlir *m, const found *f) {
  for (int i = 0; i < f->forall_count; i++)
    if (is_in_lanes(m, f->foralls[i])) {
      ws__mlir_refuse(m, f->foralls[i], "mlir-lanes",
                      "lanes are given out within what lanes do: make this an "
                      "scf.for (tile_using_for)");
      return false;
    }
  return true;
}

/* Of the rounds those that have iterations, where their number is known. */
static int64_t rounds_within(MlirOperation op, int64_t rounds,
                             int64_t threads) {
  if (mlirOperationGetNumOperands(op))
    return rounds;
  const int64_t end = static_of(op, "staticUpperBound"),
                used = end / threads + (end % threads != 0);
  return used < rounds ? used : rounds;
}

static bool distribute(ws_mlir *m, MlirOperation op, int64_t threads) {
  MlirAttribute steps = ws__mlir_word(op, "steps");
  const int64_t rounds =
      mlirAttributeIsNull(steps) ? 1 : rounds_of(m, op, "steps");
  if (!rounds)
    return false;
  if (!is_plain(op)) {
    ws__mlir_refuse(m, op, "mlir-lanes",
                    "lanes take an scf.forall of one dimension, from 0 in "
                    "steps of 1, without results");
    return false;
  }
  if (!mlirAttributeIsNull(steps) &&
      !ws__mlir_check_slots(m, op, rounds_within(op, rounds, threads)))
    return false;
  maker k = {m, mlirOperationGetBlock(op), op, mlirOperationGetLocation(op)};
  MlirBlock body = ws__mlir_body(op);
  MlirValue iteration = mlirBlockGetArgument(body, 0);
  MlirValue end = mlirOperationGetNumOperands(op)
                      ? mlirOperationGetOperand(op, 0)
                      : number(&k, static_of(op, "staticUpperBound"));
  MlirValue lane = parsed(&k, "gpu.thread_id x"), stride = number(&k, threads),
            loop_operands[3] = {number(&k, 0), number(&k, 0), number(&k, 1)};
  MlirOperation loop, branch;
  if (mlirAttributeIsNull(steps)) {
    loop_operands[0] = lane;
    loop_operands[1] = end;
    loop_operands[2] = stride;
    MlirBlock inside =
        with_block(&k, "scf.for", 3, loop_operands, true, false, &loop);
    mlirValueReplaceAllUsesOfWith(iteration, mlirBlockGetArgument(inside, 0));
    move_body(body, inside);
    yield(&(maker){m, inside, {NULL}, k.location});
  } else {
    loop_operands[1] = number(&k, rounds);
    MlirBlock inside =
        with_block(&k, "scf.for", 3, loop_operands, true, false, &loop);
    mlirOperationSetDiscardableAttributeByName(
        loop, ws__mlir_ref("loop_annotation"),
        mlirAttributeParseGet(
            m->context,
            ws__mlir_ref("#llvm.loop_annotation<unroll = <full = true>>")));
    maker in = {m, inside, {NULL}, k.location};
    MlirValue slot = mlirBlockGetArgument(inside, 0),
              own = both(&in, "arith.addi",
                         both(&in, "arith.muli", slot, stride), lane);
    MlirOperation less =
        make(&in, "arith.cmpi", 2, (MlirValue[]){own, end},
             mlirIntegerTypeGet(m->context, 1), "predicate",
             mlirIntegerAttrGet(mlirIntegerTypeGet(m->context, 64), 6));
    MlirValue condition = mlirOperationGetResult(less, 0);
    MlirBlock then =
        with_block(&in, "scf.if", 1, &condition, false, true, &branch);
    mlirOperationWalk(op, use_slots, &(slots){m, body, iteration, slot},
                      MlirWalkPreOrder);
    mlirValueReplaceAllUsesOfWith(iteration, own);
    move_body(body, then);
    yield(&(maker){m, then, {NULL}, k.location});
    yield(&in);
  }
  mlirOperationDestroy(op);
  return true;
}

/* ---- all of it
 * ---------------------------------------------------------------------- */

/* Of a kernel; null: it has none. */
static MlirAttribute launch_of(const ws_mlir *m, MlirOperation kernel) {
  MlirStringRef name = ws__mlir_symbol(kernel);
  for (int i = 0; i < m->function_count; i++)
    if (mlirStringRefEqual(name, ws__mlir_ref(m->functions[i].name)) &&
        !mlirAttributeIsNull(m->functions[i].launch))
      return m->functions[i].launch;
  return ws__mlir_word(kernel, "launch"); /* where it stays a template */
}

static int64_t threads_of(ws_mlir *m, MlirOperation op) {
  while (!mlirOperationIsNull(op) && !ws__mlir_is(op, "gpu.func"))
    op = mlirOperationGetParentOperation(op);
  MlirAttribute launch = {NULL};
  if (!mlirOperationIsNull(op))
    launch = launch_of(m, op);
  ws_expr *expr;
  ws_diag diag;
  int64_t value;
  return !mlirAttributeIsNull(launch) &&
                 ws_expr_parse(
                     m->arena,
                     ws__mlir_joined(m, mlirArrayAttrGetElement(launch, 3)),
                     m->file, 0, &expr, &diag) == WS_OK &&
                 ws_expr_eval(expr, &m->values, &value, &diag) == WS_OK
             ? value
             : 0;
}

bool ws__mlir_lanes(ws_mlir *m) {
  found f = {.m = m};
  mlirOperationWalk(m->module, collect, &f, MlirWalkPreOrder);
  if (m->findings->count || !none_in_another(m, &f))
    return false;
  for (int i = 0; i < f.dim_count; i++) {
    MlirOperation op = f.dims[i];
    int64_t threads = threads_of(m, op);
    maker k = {m, mlirOperationGetBlock(op), op, mlirOperationGetLocation(op)};
    const bool is_x = mlirAttributeEqual(
        mlirOperationGetInherentAttributeByName(op, ws__mlir_ref("dimension")),
        mlirAttributeParseGet(m->context, ws__mlir_ref("#gpu<dim x>")));
    if (!threads)
      continue;
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0),
                                  number(&k, is_x ? threads : 1));
    mlirOperationDestroy(op);
  }
  for (int i = 0; i < f.alloca_count; i++)
    if (!size_slots(m, f.allocas[i]))
      return false;
  for (int i = 0; i < f.forall_count; i++) {
    MlirOperation op = f.foralls[i];
    if (!is_of_lanes(m, op)) {
      ws__mlir_refuse(m, op, "mlir-lanes",
                      "an scf.forall is left that has no mapping = "
                      "[#gpu.thread<x>]: say in the schedule who does what");
      return false;
    }
    int64_t threads = threads_of(m, op);
    if (!threads) {
      ws__mlir_refuse(m, op, "mlir-lanes",
                      "lanes outside of a launched kernel");
      return false;
    }
    if (!distribute(m, op, threads))
      return false;
  }
  return true;
}
