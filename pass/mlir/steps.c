/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Where a schedule is. MLIR's interpreter has no hook that C could take, but an
 * operation that emits a remark: one in front of each step of the main sequence
 * says the step's number, and the handler of diagnostics writes its place where
 * the compile server looks when the process has died of it (job_place.h).
 * Errors that MLIR gives at the payload get the step's line by this, too.
 *
 * Remarks are given at the module's handle, which must be valid: where a step
 * may use it up they end.
 */
#include "../job_place.h"
#include "schedule.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char word[] = "wavesmith step";

typedef struct announcer {
  ws_mlir *m;
  MlirValue number; /* what is said with each remark, of no meaning */
  MlirValue at;     /* null: used up */
} announcer;

static MlirOperation make(const ws_mlir *m, MlirOperation before,
                          const char *name, const char *attribute,
                          MlirAttribute value, int operand_count,
                          const MlirValue *operands, MlirType type) {
  MlirOperation made =
      ws__mlir_new(m, name, mlirOperationGetLocation(before), operand_count,
                   operands, type, attribute, value);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before,
                                      made);
  return made;
}

static void announce(announcer *a, MlirOperation op) {
  ws_mlir_steps *steps = a->m->steps;
  WS_ASSERT(steps->count < steps->most);
  char text[64];
  snprintf(text, sizeof text, "%s %d", word, steps->count);
  make(a->m, op, "transform.debug.emit_param_as_remark", "message",
       mlirStringAttrGet(a->m->context, ws__mlir_ref(text)), 2,
       (MlirValue[]){a->number, a->at}, (MlirType){NULL});
  steps->items[steps->count++] = op;
}

/* Whether an operation may use up the module's handle. */
static bool may_consume(const announcer *a, MlirOperation op) {
  static const char *const readers[] = {
      "transform.apply_patterns", "transform.apply_cse", "transform.apply_dce",
      "transform.apply_licm", "transform.foreach"};
  for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
    if (ws__mlir_is(op, readers[i]))
      return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (mlirValueEqual(mlirOperationGetOperand(op, i), a->at))
      return ws__mlir_is_step(op);
  return false;
}

/* From an operation on, to the end of its block. */
static void announce_all(announcer *a, MlirOperation op) {
  for (; !mlirOperationIsNull(op) && !mlirValueIsNull(a->at);
       op = mlirOperationGetNextInBlock(op)) {
    if (!ws__mlir_is(op, "transform.yield"))
      announce(a, op);
    if (ws__mlir_is(op, "transform.foreach"))
      announce_all(a, ws__mlir_first(op));
    if (may_consume(a, op))
      a->at = (MlirValue){NULL};
  }
}

void ws__mlir_announce(ws_mlir *m, MlirOperation sequence, int most) {
  MlirBlock body = ws__mlir_body(sequence);
  if (!m->place || mlirBlockGetNumArguments(body) < 1)
    return;
  MlirOperation first = mlirBlockGetFirstOperation(body);
  MlirType i64 = mlirIntegerTypeGet(m->context, 64);
  m->steps->items =
      ws_arena_alloc(m->arena, (size_t)most * sizeof *m->steps->items);
  m->steps->most = most;
  announcer a = {m, {NULL}, mlirBlockGetArgument(body, 0)};
  a.number = mlirOperationGetResult(
      make(m, first, "transform.param.constant", "value",
           mlirIntegerAttrGet(i64, 0), 0, NULL,
           mlirTypeParseGet(m->context, ws__mlir_ref("!transform.param<i64>"))),
      0);
  announce_all(&a, first);
}

MlirOperation ws__mlir_step(const ws_mlir *m) {
  return m->steps && m->steps->now >= 0 ? m->steps->items[m->steps->now]
                                        : (MlirOperation){NULL};
}

void ws__mlir_step_begins(ws_mlir *m, const char *text) {
  if (!m->steps || strncmp(text, word, sizeof word - 1))
    return;
  const long index = strtol(text + sizeof word - 1, NULL, 10);
  if (index < 0 || index >= m->steps->count)
    return;
  m->steps->now = (int)index;
  ws__mlir_mark(m, m->steps->items[index]);
}
