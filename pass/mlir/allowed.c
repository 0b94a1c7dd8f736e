/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a schedule may be made of. Of the transform dialect: what moves the
 * loops, tiles and vectors of a kernel. Not: what writes, prints, runs any
 * pass, matches and tries by itself, or has ways to go on for ever. The numbers
 * that its operations take have limits, since tiling by 0 ends the process and
 * unrolling by 2^30 its memory.
 */
#include "schedule.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

/* STEP: changes what it is given. SIZES: its numbers are sizes. */
enum { PLAIN = 0, STEP = 1, SIZES = 2 };
static const struct {
  const char *name;
  int kind;
} allowed[] = {
#define WS_ALLOWED(name, kind) {"transform." name, kind},
#include "allowed.def"
#undef WS_ALLOWED
};

static const char *const passes[] = {"canonicalize",
                                     "cse",
                                     "loop-invariant-code-motion",
                                     "loop-invariant-subset-hoisting",
                                     "convert-linalg-to-loops",
                                     "fold-memref-alias-ops",
                                     "mem2reg",
                                     "sroa"};

/* Patterns that undo each other would go on for ever: rounds of so many
 * rewrites. */
enum { MOST_ROUNDS = 10, MOST_REWRITES = 4000 };
enum { MOST_SIZE = 65536, MOST_CALLS_DEEP = 16 };
static const struct {
  const char *attribute;
  int64_t least, most;
} limits[] = {{"factor", 1, 1024}, {"iteration_interval", 1, 1024}};

static int kind_of(MlirOperation op) {
  MlirStringRef name = ws__mlir_name(op);
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
    if (mlirStringRefEqual(name, ws__mlir_ref(allowed[i].name)))
      return allowed[i].kind;
  return -1;
}

bool ws__mlir_is_step(MlirOperation op) { return kind_of(op) > PLAIN; }

bool ws__mlir_is_transform(MlirOperation op) {
  return ws__mlir_begins(op, "transform.");
}

/* ---- passes and patterns ---------------------------------------------------
 */

static MlirAttribute own(MlirOperation op, const char *name) {
  return mlirOperationGetInherentAttributeByName(op, ws__mlir_ref(name));
}

static bool admit_pass(ws_mlir *m, MlirOperation op) {
  if (!ws__mlir_is(op, "transform.apply_registered_pass"))
    return true;
  MlirStringRef pass = mlirStringAttrGetValue(own(op, "pass_name"));
  ws_strbuf known;
  ws_strbuf_init(&known);
  bool ok = false;
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
    ok |= mlirStringRefEqual(pass, ws__mlir_ref(passes[i]));
    ws_strbuf_printf(&known, " %s", passes[i]);
  }
  if (!ok)
    ws__mlir_refuse(m, op, "mlir-schedule",
                    "a schedule may not run the pass %.*s; there is%s",
                    (int)pass.length, pass.data, known.data);
  ws_strbuf_deinit(&known);
  return ok;
}

static void bound(const ws_mlir *m, MlirOperation op, const char *name,
                  int64_t most) {
  MlirAttribute old = own(op, name);
  const int64_t value =
      mlirAttributeIsNull(old) ? -1 : mlirIntegerAttrGetValueInt(old);
  if (value < 0 || value > most)
    mlirOperationSetInherentAttributeByName(
        op, ws__mlir_ref(name),
        mlirIntegerAttrGet(mlirIntegerTypeGet(m->context, 64), most));
}

/* Attributes with a dot in their names are marks; others may be what an
 * operation is made of, and MLIR would not look at their types. */
static bool admit_mark(ws_mlir *m, MlirOperation op) {
  static const char *const own_names[] = {"nontemporal", "alignment"};
  if (!ws__mlir_is(op, "transform.annotate"))
    return true;
  MlirStringRef name = mlirStringAttrGetValue(own(op, "name"));
  bool ok = memchr(name.data, '.', name.length) != NULL;
  for (size_t i = 0; i < sizeof own_names / sizeof *own_names; i++)
    ok |= mlirStringRefEqual(name, ws__mlir_ref(own_names[i]));
  if (!ok)
    ws__mlir_refuse(m, op, "mlir-schedule",
                    "%.*s: an annotation's name has a dot in it (step.%.*s), "
                    "or is nontemporal or alignment",
                    (int)name.length, name.data, (int)name.length, name.data);
  return ok;
}

/* ---- numbers ---------------------------------------------------------------
 */

static bool refuse_size(ws_mlir *m, MlirOperation op, int64_t least,
                        int64_t most, int64_t size) {
  if (size >= least && size <= most)
    return true;
  ws__mlir_refuse(m, op, "mlir-schedule", "%lld: sizes here are %lld to %lld",
                  (long long)size, (long long)least, (long long)most);
  return false;
}

static bool is_number(MlirAttribute attribute) {
  if (!mlirAttributeIsAInteger(attribute))
    return false;
  MlirType type = mlirAttributeGetType(attribute);
  return mlirTypeIsAIndex(type) || mlirTypeIsAInteger(type);
}

/* The numbers in an attribute. INT64_MIN stands for one that is a parameter's.
 */
static bool admit_numbers(ws_mlir *m, MlirOperation op, MlirAttribute attribute,
                          int64_t least, int64_t most) {
  if (is_number(attribute))
    return refuse_size(m, op, least, most,
                       mlirIntegerAttrGetValueInt(attribute));
  if (mlirAttributeIsADenseI64Array(attribute))
    for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(attribute); i++) {
      const int64_t size = mlirDenseI64ArrayGetElement(attribute, i);
      if (size != mlirShapedTypeGetDynamicSize() &&
          !refuse_size(m, op, least, most, size))
        return false;
    }
  if (mlirAttributeIsAArray(attribute))
    for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attribute); i++)
      if (!admit_numbers(m, op, mlirArrayAttrGetElement(attribute, i), least,
                         most))
        return false;
  return true;
}

static bool admit_attribute(ws_mlir *m, MlirOperation op,
                            MlirNamedAttribute named) {
  int64_t least = 0, most = MOST_SIZE;
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (mlirStringRefEqual(mlirIdentifierStr(named.name),
                           ws__mlir_ref(limits[i].attribute))) {
      least = limits[i].least;
      most = limits[i].most;
    }
  return admit_numbers(m, op, named.attribute, least, most);
}

static bool is_parameter(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  static const char *const words[] = {"!transform.param",
                                      "!transform.any_param"};
  ws_strbuf text;
  ws_strbuf_init(&text);
  mlirTypePrint(type, ws__mlir_append, &text);
  const bool is = !strncmp(text.data, words[0], strlen(words[0])) ||
                  !strncmp(text.data, words[1], strlen(words[1]));
  ws_strbuf_deinit(&text);
  return is;
}

typedef struct source {
  ws_mlir *m;
  MlirOperation user;
  MlirStringRef callee;
  intptr_t index;
  int depth;
} source;

static bool admit_parameter(source *s, MlirValue value);

static bool admit_argument(ws_mlir *m, MlirOperation op, source *s) {
  if (!ws__mlir_is(op, "transform.include") ||
      !mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(own(op, "target")),
                          s->callee) ||
      s->index >= mlirOperationGetNumOperands(op))
    return true;
  source of_call = *s;
  of_call.m = m;
  return admit_parameter(&of_call, mlirOperationGetOperand(op, s->index));
}

static MlirWalkResult visit_call(MlirOperation op, void *data) {
  source *s = data;
  if (admit_argument(s->m, op, s))
    return MlirWalkResultAdvance;
  s->depth = -1;
  return MlirWalkResultInterrupt;
}

/* Of a sequence's argument all callers say what it is. */
static bool admit_block_argument(source *s, MlirValue value) {
  MlirOperation owner =
      mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
  const intptr_t index = mlirBlockArgumentGetArgNumber(value);
  if (ws__mlir_is(owner, "transform.foreach"))
    return admit_parameter(s, mlirOperationGetOperand(owner, index));
  if (++s->depth > MOST_CALLS_DEEP ||
      !ws__mlir_is(owner, "transform.named_sequence"))
    return false;
  source inner = *s;
  inner.callee = ws__mlir_symbol(owner);
  inner.index = index;
  mlirOperationWalk(s->m->module, visit_call, &inner, MlirWalkPreOrder);
  return inner.depth >= 0;
}

static bool admit_parameter(source *s, MlirValue value) {
  const int before = s->m->findings->count;
  bool ok = false;
  if (mlirValueIsABlockArgument(value)) {
    ok = admit_block_argument(s, value);
  } else {
    MlirOperation op = mlirOpResultGetOwner(value);
    MlirAttribute number = own(op, "value");
    if (ws__mlir_is(op, "transform.param.constant") &&
        !mlirAttributeIsNull(number) && is_number(number))
      return refuse_size(s->m, s->user, 1, MOST_SIZE,
                         mlirIntegerAttrGetValueInt(number));
  }
  if (!ok && s->m->findings->count == before)
    ws__mlir_refuse(s->m, s->user, "mlir-schedule",
                    "sizes are numbers, or transform.param.constant");
  return ok;
}

static bool admit_sizes(ws_mlir *m, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); i++)
    if (!admit_attribute(m, op, mlirOperationGetAttribute(op, i)))
      return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    source s = {.m = m, .user = op};
    MlirValue operand = mlirOperationGetOperand(op, i);
    if (is_parameter(operand) && !admit_parameter(&s, operand))
      return false;
  }
  return true;
}

/* ---- all of it -------------------------------------------------------------
 */

bool ws__mlir_admit(ws_mlir *m, MlirOperation op) {
  if (!ws__mlir_is_transform(op))
    return true;
  MlirStringRef name = ws__mlir_name(op);
  const int kind = kind_of(op);
  const bool is_outermost =
      !ws__mlir_is_transform(mlirOperationGetParentOperation(op));
  if (kind < 0 || is_outermost != ws__mlir_is(op, "transform.named_sequence")) {
    ws__mlir_refuse(m, op, "mlir-schedule",
                    kind < 0 ? "a schedule may not have %.*s; docs/mlir.md has "
                               "the list of what it may"
                             : "%.*s: a schedule is transform.named_sequence "
                               "@__transform_main and others beside it",
                    (int)name.length, name.data);
    return false;
  }
  if (ws__mlir_is(op, "transform.apply_patterns")) {
    bound(m, op, "max_iterations", MOST_ROUNDS);
    bound(m, op, "max_num_rewrites", MOST_REWRITES);
  }
  return admit_pass(m, op) && admit_mark(m, op) &&
         (!(kind & SIZES) || admit_sizes(m, op));
}
