/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Between what schedules leave and the pipeline to the LLVM dialect. Operations
 * that the pipeline has no lowering for are expanded first, where there are
 * some: a kernel that was written for lowering has none, and pays for one walk.
 * What is an operation of another dialect after the pipeline is refused where
 * it is.
 */
#include "declare.h"

#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/Transform/Interpreter.h>
#include <string.h>

/* ---- before ----------------------------------------------------------------
 */

/* Operations by the start of their names, and what expands them: a pipeline, or
 * patterns. */
enum { ARITH = 1, AFFINE = 2, VECTOR = 4 };
static const struct {
  const char *name;
  int what;
} expanded[] = {{"arith.ceildiv", ARITH},
                {"arith.floordiv", ARITH},
                {"affine.delinearize_index", AFFINE},
                {"affine.linearize_index", AFFINE},
                {"vector.bitcast", VECTOR},
                {"vector.broadcast", VECTOR},
                {"vector.constant_mask", VECTOR},
                {"vector.contract", VECTOR},
                {"vector.create_mask", VECTOR},
                {"vector.deinterleave", VECTOR},
                {"vector.gather", VECTOR},
                {"vector.interleave", VECTOR},
                {"vector.mask", VECTOR},
                {"vector.multi_reduction", VECTOR},
                {"vector.outerproduct", VECTOR},
                {"vector.scan", VECTOR},
                {"vector.shape_cast", VECTOR},
                {"vector.step", VECTOR},
                {"vector.transfer_", VECTOR},
                {"vector.transpose", VECTOR}};

/* The pipeline casts vectors of one dimension itself. */
static bool is_plain_cast(MlirOperation op) {
  return ws__mlir_is(op, "vector.bitcast") &&
         mlirShapedTypeGetRank(
             mlirValueGetType(mlirOperationGetResult(op, 0))) == 1;
}

static MlirWalkResult note_expanded(MlirOperation op, void *data) {
  int *what = data;
  for (size_t i = 0; i < sizeof expanded / sizeof *expanded; i++)
    if (ws__mlir_begins(op, expanded[i].name) && !is_plain_cast(op))
      *what |= expanded[i].what;
  return MlirWalkResultAdvance;
}

/* A schedule of ours, for what convert-vector-to-llvm has no patterns for. */
static const char patterns[] =
    "module attributes {transform.with_named_sequence} {"
    "transform.named_sequence @__transform_main(%m: !transform.any_op) {"
    "  transform.apply_patterns to %m {"
    "    transform.apply_patterns.vector.lower_masked_transfers"
    "    transform.apply_patterns.vector.transfer_permutation_patterns"
    "    transform.apply_patterns.vector.lower_multi_reduction"
    "      lowering_strategy = \"innerreduction\""
    "    transform.apply_patterns.canonicalization"
    "  } : !transform.any_op"
    "  transform.apply_patterns to %m {"
    "    transform.apply_patterns.vector.transfer_to_scf"
    "      max_transfer_rank = 1 full_unroll = true"
    "    transform.apply_patterns.vector.lower_transfer max_transfer_rank = 1"
    "    transform.apply_patterns.vector.lower_contraction"
    "      lowering_strategy = \"outerproduct\""
    "    transform.apply_patterns.vector.lower_outerproduct"
    "    transform.apply_patterns.vector.lower_scan"
    "    transform.apply_patterns.vector.lower_transpose"
    "      lowering_strategy = \"eltwise\""
    "    transform.apply_patterns.canonicalization"
    "  } : !transform.any_op"
    "  transform.yield"
    "}}";

static bool expand_vectors(ws_mlir *m) {
  MlirOperation ours = mlirOperationCreateParse(
      m->context, ws__mlir_ref(patterns), ws__mlir_ref("patterns"));
  MlirTransformOptions options = mlirTransformOptionsCreate();
  const bool ok = mlirLogicalResultIsSuccess(mlirTransformApplyNamedSequence(
      m->module,
      mlirBlockGetFirstOperation(
          mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(ours))),
      ours, options));
  mlirTransformOptionsDestroy(options);
  mlirOperationDestroy(ours);
  return ok;
}

/* The pass says errors of memory spaces that it does not know, and leaves what
 * has them alone. */
static MlirLogicalResult drop_spaces(MlirDiagnostic diagnostic, void *data) {
  static const char start[] = "conversion of memref memory space";
  (void)data;
  ws_strbuf text;
  ws_strbuf_init(&text);
  mlirDiagnosticPrint(diagnostic, ws__mlir_append, &text);
  const bool is = !strncmp(text.data, start, sizeof start - 1);
  ws_strbuf_deinit(&text);
  return is ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}

static bool lower_vectors(ws_mlir *m, MlirOperation gpu) {
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(m->context, drop_spaces, NULL, NULL);
  const bool ok = ws__mlir_run(m, gpu, "gpu.module(convert-vector-to-llvm)");
  mlirContextDetachDiagnosticHandler(m->context, handler);
  return ok;
}

bool ws__mlir_expand(ws_mlir *m) {
  MlirOperation gpu = ws__mlir_gpu_module(m);
  int what = 0;
  mlirOperationWalk(m->module, note_expanded, &what, MlirWalkPreOrder);
  if (what & AFFINE &&
      !ws__mlir_run(m, gpu, "gpu.module(affine-expand-index-ops)"))
    return false;
  if (what & VECTOR && !(expand_vectors(m) && lower_vectors(m, gpu)))
    return false;
  return !(what & (ARITH | AFFINE)) ||
         ws__mlir_run(m, gpu, "gpu.module(lower-affine,arith-expand)");
}

/* ---- after -----------------------------------------------------------------
 */

static bool is_lowered(MlirOperation op) {
  static const char *const known[] = {"llvm.", "rocdl.", "nvvm.", "gpu.module",
                                      "builtin.module"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (ws__mlir_begins(op, known[i]))
      return true;
  return false;
}

/* Where each family has a function's own memory. */
static const char *const of_alloca[] = {
    [WS_FAMILY_AMDGPU] = "!llvm.ptr<5>", [WS_FAMILY_NVPTX] = "!llvm.ptr"};

/* Casts are what is left around others. */
typedef struct left {
  MlirType own; /* of an alloca */
  MlirOperation op, cast, alloca;
} left;

static MlirWalkResult find_left(MlirOperation op, void *data) {
  left *l = data;
  if (ws__mlir_is(op, "llvm.alloca") &&
      !mlirTypeEqual(mlirValueGetType(mlirOperationGetResult(op, 0)), l->own))
    l->alloca = op;
  if (is_lowered(op))
    return MlirWalkResultAdvance;
  if (!ws__mlir_is(op, "builtin.unrealized_conversion_cast")) {
    l->op = op;
    return MlirWalkResultInterrupt;
  }
  if (mlirOperationIsNull(l->cast))
    l->cast = op;
  return MlirWalkResultAdvance;
}

static void print_types(MlirOperation op, ws_strbuf *out) {
  if (mlirOperationGetNumOperands(op))
    mlirTypePrint(mlirValueGetType(mlirOperationGetOperand(op, 0)),
                  ws__mlir_append, out);
  else
    ws_strbuf_puts(out, "no value");
  ws_strbuf_printf(out, " as ");
  mlirTypePrint(mlirValueGetType(mlirOperationGetResult(op, 0)),
                ws__mlir_append, out);
}

bool ws__mlir_is_lowered(ws_mlir *m) {
  left l = {.own = mlirTypeParseGet(
                m->context, ws__mlir_ref(of_alloca[m->target->family]))};
  mlirOperationWalk(ws__mlir_gpu_module(m), find_left, &l, MlirWalkPreOrder);
  if (!mlirOperationIsNull(l.op)) {
    MlirStringRef name = ws__mlir_name(l.op);
    ws__mlir_refuse(m, l.op, "mlir-lower",
                    "nothing lowers %.*s here; write it in other operations",
                    (int)name.length, name.data);
    return false;
  }
  if (!mlirOperationIsNull(l.alloca)) {
    ws__mlir_refuse(m, l.alloca, "mlir-lower",
                    "a function's own memory is "
                    "#gpu.address_space<private>, and no other");
    return false;
  }
  if (mlirOperationIsNull(l.cast))
    return true;
  ws_strbuf types;
  ws_strbuf_init(&types);
  print_types(l.cast, &types);
  ws__mlir_refuse(m, l.cast, "mlir-lower",
                  "a value could not be lowered: it is wanted of %s",
                  types.data);
  ws_strbuf_deinit(&types);
  return false;
}
