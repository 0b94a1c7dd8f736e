/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A template may carry a schedule: a transform.named_sequence
 * @__transform_main, in which parameters stand like everywhere else. It is
 * admitted (allowed.c), applied to the module (steps.c), and taken out; what it
 * leaves is looked at (sizes.c).
 */
#include "schedule.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Dialect/Transform/Interpreter.h>
#include <string.h>

enum { MOST_SEQUENCES = 64, MOST_INCLUDED = 10000 };
typedef struct sequences {
  ws_mlir *m;
  MlirOperation items[MOST_SEQUENCES], main;
  int count, main_index;
  int64_t steps[MOST_SEQUENCES]; /* with those of what they include; 0: not
                                  * counted yet */
} sequences;

/* Right in the template's module, so that a name is one sequence's. */
static bool may_be(const sequences *s, MlirOperation op) {
  if (!mlirOperationEqual(mlirOperationGetParentOperation(op), s->m->module))
    ws__mlir_refuse(s->m, op, "mlir-schedule",
                    "sequences stand in the template's own module, beside "
                    "@__transform_main");
  else if (mlirBlockIsNull(ws__mlir_body(op)))
    ws__mlir_refuse(s->m, op, "mlir-schedule",
                    "this sequence has no body: write its steps and "
                    "transform.yield");
  else if (s->count == MOST_SEQUENCES)
    ws__mlir_refuse(s->m, op, "mlir-schedule", "there may be %d sequences",
                    MOST_SEQUENCES);
  else
    return true;
  return false;
}

static MlirWalkResult collect(MlirOperation op, void *data) {
  sequences *s = data;
  if (!ws__mlir_is(op, "transform.named_sequence"))
    return MlirWalkResultAdvance;
  if (!may_be(s, op))
    return MlirWalkResultInterrupt;
  if (mlirStringRefEqual(ws__mlir_symbol(op),
                         ws__mlir_ref("__transform_main"))) {
    s->main = op;
    s->main_index = s->count;
  }
  s->items[s->count++] = op;
  return MlirWalkResultSkip;
}

/* ---- how much it is --------------------------------------------------------
 */

typedef struct steps_of {
  sequences *s;
  int64_t count;
} steps_of;

static int64_t count_steps(sequences *s, int index);

/* Of an include those of the sequence. */
static MlirWalkResult count_one(MlirOperation op, void *data) {
  steps_of *of = data;
  of->count++;
  if (ws__mlir_is(op, "transform.include")) {
    MlirStringRef name = mlirFlatSymbolRefAttrGetValue(
        mlirOperationGetInherentAttributeByName(op, ws__mlir_ref("target")));
    for (int i = 0; i < of->s->count; i++)
      if (mlirStringRefEqual(ws__mlir_symbol(of->s->items[i]), name))
        of->count += count_steps(of->s, i);
  }
  return of->count > MOST_INCLUDED ? MlirWalkResultInterrupt
                                   : MlirWalkResultAdvance;
}

static int64_t count_steps(sequences *s, int index) {
  if (s->steps[index])
    return s->steps[index];
  steps_of of = {s, 0};
  s->steps[index] = MOST_INCLUDED + 1; /* of one that includes itself */
  mlirOperationWalk(s->items[index], count_one, &of, MlirWalkPreOrder);
  return s->steps[index] = of.count;
}

/* ---- applying it -----------------------------------------------------------
 */

static MlirWalkResult find_lines(MlirOperation op, void *data) {
  ws_mlir_steps *steps = data;
  MlirLocation place = ws__mlir_place(mlirOperationGetLocation(op));
  if (mlirLocationIsNull(place))
    return MlirWalkResultAdvance;
  const int line = mlirLocationFileLineColRangeGetStartLine(place);
  if (!steps->first_line || line < steps->first_line)
    steps->first_line = line;
  if (line > steps->last_line)
    steps->last_line = line;
  return MlirWalkResultAdvance;
}

/* The interpreter's own checks tell of handles that are no more; without them
 * it would use what they pointed to. */
static bool interpret(ws_mlir *m, MlirOperation main) {
  MlirTransformOptions options = mlirTransformOptionsCreate();
  mlirTransformOptionsEnableExpensiveChecks(options, true);
  const bool ok = mlirLogicalResultIsSuccess(
      mlirTransformApplyNamedSequence(m->module, main, m->module, options));
  mlirTransformOptionsDestroy(options);
  return ok;
}

static bool apply(ws_mlir *m, sequences *s) {
  const int before = m->findings->count;
  m->steps = ws_arena_alloc(m->arena, sizeof *m->steps);
  *m->steps = (ws_mlir_steps){.now = -1};
  for (int i = 0; i < s->count; i++)
    mlirOperationWalk(s->items[i], find_lines, m->steps, MlirWalkPreOrder);
  ws__mlir_announce(m, s->main, (int)count_steps(s, s->main_index));
  const bool ok = interpret(m, s->main);
  ws__mlir_mark(m, s->main);
  m->steps = NULL;
  if (!ok && m->findings->count == before)
    ws__mlir_refuse(m, s->main, "mlir-schedule", "the schedule failed");
  return ok && ws__mlir_check_sizes(m, s->main);
}

static bool admit(ws_mlir *m, sequences *s) {
  mlirOperationWalk(m->module, collect, s, MlirWalkPreOrder);
  if (s->count && mlirOperationIsNull(s->main))
    ws__mlir_refuse(m, s->items[0], "mlir-schedule",
                    "no sequence is named @__transform_main: nothing would be "
                    "applied");
  if (m->findings->count || !ws__mlir_walk(m, m->module, ws__mlir_admit))
    return false;
  for (int i = 0; i < s->count; i++)
    if (count_steps(s, i) > MOST_INCLUDED) {
      ws__mlir_refuse(m, s->items[i], "mlir-schedule",
                      "with what it includes this has more than %d steps",
                      MOST_INCLUDED);
      return false;
    }
  return ws__mlir_check_handles(m, s->items, s->count);
}

bool ws__mlir_schedule(ws_mlir *m) {
  sequences s = {.m = m};
  if (!admit(m, &s) || (!mlirOperationIsNull(s.main) && !apply(m, &s)))
    return false;
  for (int i = 0; i < s.count; i++)
    mlirOperationDestroy(s.items[i]);
  return true;
}
