/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A template may carry a schedule: a transform.named_sequence
 * @__transform_main, in which parameters stand like everywhere else. It is
 * applied to the module and taken out.
 */
#include "mlir.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/Transform/Interpreter.h>

enum { MOST_SEQUENCES = 64 };
typedef struct sequences {
  ws_mlir *m;
  MlirOperation items[MOST_SEQUENCES], main;
  int count;
} sequences;

/* Patterns that undo each other would go on for ever: rounds of so many
 * rewrites. */
enum { MOST_ROUNDS = 10, MOST_REWRITES = 4000, MOST_UNROLLED = 1024 };

/* Steps that write files, print, or run what is not known here. */
static const char *const denied[] = {"transform.print",
                                     "transform.apply_conversion_patterns",
                                     "transform.debug.emit_remark_at"};
static const char *const passes[] = {"canonicalize",
                                     "cse",
                                     "loop-invariant-code-motion",
                                     "loop-invariant-subset-hoisting",
                                     "convert-linalg-to-loops",
                                     "fold-memref-alias-ops",
                                     "mem2reg",
                                     "sroa"};

static bool is_one_of(MlirStringRef name, const char *const *list,
                      size_t count) {
  for (size_t i = 0; i < count; i++)
    if (mlirStringRefEqual(name, ws__mlir_ref(list[i])))
      return true;
  return false;
}

static void bound(const ws_mlir *m, MlirOperation op, const char *name,
                  int64_t most) {
  MlirAttribute old =
      mlirOperationGetInherentAttributeByName(op, ws__mlir_ref(name));
  const int64_t value =
      mlirAttributeIsNull(old) ? -1 : mlirIntegerAttrGetValueInt(old);
  if (value < 0 || value > most)
    mlirOperationSetInherentAttributeByName(
        op, ws__mlir_ref(name),
        mlirIntegerAttrGet(mlirIntegerTypeGet(m->context, 64), most));
}

static bool admit(ws_mlir *m, MlirOperation op) {
  MlirStringRef name = ws__mlir_name(op);
  if (is_one_of(name, denied, sizeof denied / sizeof *denied)) {
    ws__mlir_refuse(m, op, "mlir-schedule", "a schedule may not have %.*s",
                    (int)name.length, name.data);
    return false;
  }
  if (ws__mlir_is(op, "transform.apply_registered_pass")) {
    MlirStringRef pass = mlirStringAttrGetValue(
        mlirOperationGetInherentAttributeByName(op, ws__mlir_ref("pass_name")));
    if (!is_one_of(pass, passes, sizeof passes / sizeof *passes)) {
      ws__mlir_refuse(m, op, "mlir-schedule",
                      "a schedule may not run the pass %.*s; the pipeline's "
                      "own are run after it",
                      (int)pass.length, pass.data);
      return false;
    }
  }
  if (ws__mlir_is(op, "transform.apply_patterns")) {
    bound(m, op, "max_iterations", MOST_ROUNDS);
    bound(m, op, "max_num_rewrites", MOST_REWRITES);
  }
  MlirAttribute factor =
      mlirOperationGetAttributeByName(op, ws__mlir_ref("factor"));
  if (!mlirAttributeIsNull(factor) && mlirAttributeIsAInteger(factor) &&
      mlirIntegerAttrGetValueInt(factor) > MOST_UNROLLED) {
    ws__mlir_refuse(m, op, "mlir-schedule", "factors go up to %d",
                    MOST_UNROLLED);
    return false;
  }
  return true;
}

static MlirWalkResult collect(MlirOperation op, void *data) {
  sequences *s = data;
  if (!ws__mlir_is(op, "transform.named_sequence"))
    return MlirWalkResultAdvance;
  if (s->count < MOST_SEQUENCES)
    s->items[s->count++] = op;
  if (mlirStringRefEqual(
          mlirStringAttrGetValue(mlirOperationGetInherentAttributeByName(
              op, ws__mlir_ref("sym_name"))),
          ws__mlir_ref("__transform_main")))
    s->main = op;
  return MlirWalkResultSkip;
}

bool ws__mlir_schedule(ws_mlir *m) {
  sequences s = {.m = m};
  mlirOperationWalk(m->module, collect, &s, MlirWalkPreOrder);
  if (s.count && mlirOperationIsNull(s.main)) {
    ws__mlir_refuse(m, s.items[0], "mlir-schedule",
                    "no sequence is named @__transform_main: nothing would be "
                    "applied");
    return false;
  }
  for (int i = 0; i < s.count; i++)
    if (!ws__mlir_walk(m, s.items[i], admit))
      return false;
  if (!mlirOperationIsNull(s.main)) {
    const int before = m->findings->count;
    MlirTransformOptions options = mlirTransformOptionsCreate();
    bool ok = mlirLogicalResultIsSuccess(
        mlirTransformApplyNamedSequence(m->module, s.main, m->module, options));
    mlirTransformOptionsDestroy(options);
    if (!ok && m->findings->count == before)
      ws__mlir_refuse(m, s.main, "mlir-schedule", "the schedule failed");
    if (!ok)
      return false;
  }
  for (int i = 0; i < s.count; i++)
    mlirOperationDestroy(s.items[i]);
  return true;
}
