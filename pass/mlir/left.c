/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Between what schedules leave and the pipeline to the LLVM dialect. Operations
 * that the pipeline has no lowering for are expanded first, where there are
 * some: a kernel that was written for lowering has none, and pays for one walk.
 * What is an operation of another dialect after the pipeline is refused where
 * it is.
 */
#include "declare.h"

#include <mlir-c/AffineMap.h>
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

enum { MOST_COPIES = 256, MOST_RANK = 8 };

/* One block of memory: the pipeline copies it itself. For others it calls a
 * function of a library. */
static bool is_one_block(MlirType type) {
  int64_t strides[MOST_RANK], offset, size = 1;
  if (!mlirTypeIsAMemRef(type))
    return false;
  if (mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type)))
    return true;
  const intptr_t rank = mlirShapedTypeGetRank(type);
  if (rank > MOST_RANK || !mlirShapedTypeHasStaticShape(type) ||
      mlirLogicalResultIsFailure(
          mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)))
    return false;
  for (intptr_t i = rank - 1; i >= 0; i--) {
    if (strides[i] != size)
      return false;
    size *= mlirShapedTypeGetDimSize(type, i);
  }
  return true;
}

static bool is_plain_copy(MlirOperation op) {
  return is_one_block(mlirValueGetType(mlirOperationGetOperand(op, 0))) &&
         is_one_block(mlirValueGetType(mlirOperationGetOperand(op, 1)));
}

/* The pipeline casts vectors of one dimension itself. */
static bool is_plain_cast(MlirOperation op) {
  return ws__mlir_is(op, "vector.bitcast") &&
         mlirShapedTypeGetRank(
             mlirValueGetType(mlirOperationGetResult(op, 0))) == 1;
}

typedef struct note {
  int what;
  MlirOperation tensor, copies[MOST_COPIES], deallocs[MOST_COPIES],
      atomics[MOST_COPIES];
  int copy_count, dealloc_count, atomic_count;
} note;

static bool has_tensor(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (mlirTypeIsATensor(mlirValueGetType(mlirOperationGetResult(op, i))))
      return true;
  return false;
}

static void note_one(MlirOperation op, MlirOperation *list, int *count) {
  if (*count < MOST_COPIES)
    list[(*count)++] = op;
}

static MlirWalkResult note_expanded(MlirOperation op, void *data) {
  note *n = data;
  for (size_t i = 0; i < sizeof expanded / sizeof *expanded; i++)
    if (ws__mlir_begins(op, expanded[i].name) && !is_plain_cast(op))
      n->what |= expanded[i].what;
  if (has_tensor(op)) {
    n->tensor = op;
    return MlirWalkResultInterrupt;
  }
  if (ws__mlir_is(op, "memref.copy") && !is_plain_copy(op))
    note_one(op, n->copies, &n->copy_count);
  if (ws__mlir_is(op, "memref.generic_atomic_rmw"))
    note_one(op, n->atomics, &n->atomic_count);
  if (ws__mlir_is(op, "memref.dealloc"))
    note_one(op, n->deallocs, &n->dealloc_count);
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
      m->module, ws__mlir_first(ours), ours, options));
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

/* What a kernel has is there while it runs. */
static void drop_deallocs(const note *n) {
  for (int i = 0; i < n->dealloc_count; i++)
    mlirOperationDestroy(n->deallocs[i]);
}

static const char *type_of_operand(const ws_mlir *m, MlirOperation op, int i) {
  return ws__mlir_type_text(m,
                            mlirValueGetType(mlirOperationGetOperand(op, i)));
}

static bool write_copies(const ws_mlir *m, const note *n) {
  for (int i = 0; i < n->copy_count; i++) {
    MlirOperation op = n->copies[i];
    if (!ws__mlir_write(
            m, op,
            ws_arena_printf(m->arena,
                            "linalg.copy ins(%%arg0 : %s) outs(%%arg1 : %s)\n"
                            "return\n",
                            type_of_operand(m, op, 0),
                            type_of_operand(m, op, 1))))
      return false;
  }
  return true;
}

static bool refuse_tensor(const ws_mlir *m, MlirOperation op) {
  ws__mlir_refuse(
      m, op, "mlir-lower",
      "nothing lowers %.*s here: a tensor is left, which nothing has "
      "made memory of; write it on memrefs or vectors",
      (int)ws__mlir_name(op).length, ws__mlir_name(op).data);
  return false;
}

bool ws__mlir_expand(ws_mlir *m) {
  MlirOperation gpu = ws__mlir_gpu_module(m);
  note n = {.what = 0};
  mlirOperationWalk(m->module, note_expanded, &n, MlirWalkPreOrder);
  if (!mlirOperationIsNull(n.tensor))
    return refuse_tensor(m, n.tensor);
  drop_deallocs(&n);
  if (!write_copies(m, &n))
    return false;
  for (int i = 0; i < n.atomic_count; i++)
    if (!ws__mlir_plain_atomic(m, n.atomics[i]))
      return false;
  const int what = n.what;
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
