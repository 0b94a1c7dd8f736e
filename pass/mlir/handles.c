/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How often one handle of a schedule may name one operation. Forty times
 * merge_handles of a handle with itself would be a list of 2^40, and the end of
 * the job's memory long before. Nothing is run for this: an operation
 * multiplies what its operands have by a factor, merging adds, an include has
 * its sequence's factor. Each operation's number is kept at it as an attribute;
 * a schedule is taken out in the end.
 */
#include "schedule.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

enum { MOST_TIMES = 4096 };
static const char word[] = "wavesmith.times";

/* What gives a handle more than it has been given. A match is within what it
 * finds, too; of replicate and foreach the factor is a guess at how many
 * operations they go over. Others: 1. */
static const struct {
  const char *operation;
  int64_t factor;
} factors[] = {{"transform.structured.match", 2},
               {"transform.get_consumers_of_result", 2},
               {"transform.get_operand", 2},
               {"transform.replicate", 16},
               {"transform.foreach", 16}};

static int64_t kept_at(MlirOperation op) {
  MlirAttribute kept =
      mlirOperationGetDiscardableAttributeByName(op, ws__mlir_ref(word));
  return mlirAttributeIsNull(kept) || !mlirAttributeIsAInteger(kept)
             ? 0
             : mlirIntegerAttrGetValueInt(kept);
}

static void keep_at(const ws_mlir *m, MlirOperation op, int64_t times) {
  mlirOperationSetDiscardableAttributeByName(
      op, ws__mlir_ref(word),
      mlirIntegerAttrGet(mlirIntegerTypeGet(m->context, 64), times));
}

static int64_t times_of(MlirValue value) {
  const int64_t kept =
      mlirValueIsAOpResult(value) ? kept_at(mlirOpResultGetOwner(value)) : 0;
  return kept ? kept : 1;
}

static int64_t most_or_sum(MlirOperation op, bool sum) {
  int64_t times = sum ? 0 : 1;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    const int64_t own = times_of(mlirOperationGetOperand(op, i));
    times = sum ? times + own : own > times ? own : times;
  }
  return times;
}

static int64_t check_block(ws_mlir *m, MlirBlock block);
static int64_t check_sequence(ws_mlir *m, MlirOperation sequence);

static MlirOperation callee_of(const ws_mlir *m, MlirOperation include) {
  MlirAttribute target =
      mlirOperationGetInherentAttributeByName(include, ws__mlir_ref("target"));
  return ws__mlir_function(
      m->module, "transform.named_sequence",
      ws__mlir_text(m->arena, mlirFlatSymbolRefAttrGetValue(target)));
}

/* 0 and a finding: too much within. */
static int64_t factor_of(ws_mlir *m, MlirOperation op) {
  if (ws__mlir_is(op, "transform.include"))
    return check_sequence(m, callee_of(m, op));
  const int64_t within = ws__mlir_is(op, "transform.foreach")
                             ? check_block(m, ws__mlir_body(op))
                             : 1;
  for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
    if (ws__mlir_is(op, factors[i].operation) && mlirOperationGetNumResults(op))
      return factors[i].factor * within;
  return within != 0;
}

/* The number of what the block yields; 0 and a finding: too many. */
static int64_t check_block(ws_mlir *m, MlirBlock block) {
  MlirOperation op = mlirBlockGetFirstOperation(block);
  int64_t times = 1;
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    const int64_t factor = factor_of(m, op);
    times =
        factor * most_or_sum(op, ws__mlir_is(op, "transform.merge_handles"));
    if (times > MOST_TIMES)
      ws__mlir_refuse(
          m, op, "mlir-schedule",
          "a handle may name one operation up to %d times here, and "
          "no more than %d are taken: merge and replicate less",
          (int)(times < INT32_MAX ? times : INT32_MAX), MOST_TIMES);
    if (times > MOST_TIMES || !factor)
      return 0;
    keep_at(m, op, times);
  }
  return times;
}

static int64_t check_sequence(ws_mlir *m, MlirOperation sequence) {
  const int64_t kept = kept_at(sequence);
  const int64_t times = kept ? kept : check_block(m, ws__mlir_body(sequence));
  if (times)
    keep_at(m, sequence, times);
  return times;
}

static MlirWalkResult forget(MlirOperation op, void *data) {
  (void)data;
  mlirOperationRemoveDiscardableAttributeByName(op, ws__mlir_ref(word));
  return MlirWalkResultAdvance;
}

bool ws__mlir_check_handles(ws_mlir *m, const MlirOperation *sequences,
                            int count) {
  bool ok = true;
  for (int i = 0; i < count && ok; i++)
    ok = check_sequence(m, sequences[i]) != 0;
  for (int i = 0; i < count; i++)
    mlirOperationWalk(sequences[i], forget, NULL, MlirWalkPreOrder);
  return ok;
}
