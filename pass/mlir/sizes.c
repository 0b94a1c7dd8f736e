/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a schedule has left: a module that is sound, of not too many operations
 * and of vectors that registers could hold. What is larger would be found out
 * by the limits of a compile job, late and without a line.
 */
#include "schedule.h"

#include <mlir-c/BuiltinTypes.h>

enum { MOST_OPERATIONS = 20000, MOST_ELEMENTS = 4096 };

static int64_t elements(MlirType type) {
  if (!mlirTypeIsAVector(type))
    return 0;
  int64_t count = 1;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); i++)
    if (__builtin_mul_overflow(count, mlirShapedTypeGetDimSize(type, i),
                               &count))
      return INT64_MAX;
  return count;
}

typedef struct sizes {
  int operations;
  MlirOperation wide; /* the first with such a vector */
} sizes;

static MlirWalkResult visit(MlirOperation op, void *data) {
  sizes *s = data;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (elements(mlirValueGetType(mlirOperationGetResult(op, i))) >
            MOST_ELEMENTS &&
        mlirOperationIsNull(s->wide))
      s->wide = op;
  return ++s->operations > MOST_OPERATIONS ? MlirWalkResultInterrupt
                                           : MlirWalkResultAdvance;
}

bool ws__mlir_check_sizes(ws_mlir *m, MlirOperation schedule) {
  sizes s = {.operations = 0};
  mlirOperationWalk(m->module, visit, &s, MlirWalkPreOrder);
  if (s.operations > MOST_OPERATIONS)
    ws__mlir_refuse(m, schedule, "mlir-schedule",
                    "more than %d operations are left: unroll or tile less",
                    MOST_OPERATIONS);
  else if (!mlirOperationIsNull(s.wide))
    ws__mlir_refuse(m, s.wide, "mlir-schedule",
                    "%.*s has become a vector of more than %d elements: tile "
                    "before it is vectorized",
                    (int)ws__mlir_name(s.wide).length,
                    ws__mlir_name(s.wide).data, MOST_ELEMENTS);
  else if (mlirOperationVerify(m->module) || m->findings->count)
    return m->findings->count == 0;
  else
    ws__mlir_refuse(m, schedule, "mlir-schedule",
                    "the schedule leaves a module that is not valid");
  return false;
}
