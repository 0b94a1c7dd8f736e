/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From text to the LLVM module, step by step.
 */
#include "declare.h"
#include "family.h"
#include "front.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Target/LLVMIR.h>
#include <stdio.h>
#include <string.h>

/* ---- what is declared of functions
 * ---------------------------------------------- */

typedef struct functions {
  ws_mlir *m;
  ws_mlir_function items[WS_MLIR_MOST_FUNCTIONS];
  int count;
  bool ok;
} functions;

static bool check_kernel(const ws_mlir *m, MlirOperation op) {
  if (!mlirAttributeIsNull(
          mlirOperationGetAttributeByName(op, ws__mlir_ref("gpu.kernel"))))
    return true;
  ws__mlir_refuse(m, op, "template",
                  "a gpu.func is a kernel: write gpu.func @NAME(...) kernel "
                  "attributes {...}; other functions are func.func private");
  return false;
}

static MlirWalkResult collect_function(MlirOperation op, void *data) {
  functions *list = data;
  const bool is_kernel = ws__mlir_is(op, "gpu.func");
  if (!is_kernel && !ws__mlir_is(op, "func.func"))
    return MlirWalkResultAdvance;
  if (list->count == WS_MLIR_MOST_FUNCTIONS)
    return MlirWalkResultInterrupt;
  ws_mlir_function *f = &list->items[list->count++];
  f->name = ws__mlir_text(list->m->arena, ws__mlir_symbol(op));
  f->is_kernel = is_kernel;
  f->launch = ws__mlir_word(op, "launch");
  f->region = ws__mlir_word(op, "region");
  f->variant = ws__mlir_word(op, "variant");
  list->ok = ws__mlir_name_arguments(list->m, op, f) &&
             ws__mlir_check_declared(list->m, op, f) &&
             (!is_kernel || check_kernel(list->m, op));
  return list->ok ? MlirWalkResultSkip : MlirWalkResultInterrupt;
}

static bool collect_functions(ws_mlir *m) {
  functions *list = ws_arena_alloc(m->arena, sizeof *list);
  *list = (functions){.m = m, .ok = true};
  mlirOperationWalk(m->module, collect_function, list, MlirWalkPreOrder);
  m->functions = list->items;
  m->function_count = list->count;
  return list->ok;
}

/* Once they are noted: LLVM IR has them as metadata. */
static bool drop_declared(ws_mlir *m, MlirOperation op) {
  static const char *const dropped[] = {"wavesmith.launch", "wavesmith.region",
                                        "wavesmith.variant"};
  (void)m;
  for (int i = 0; i < 3; i++)
    mlirOperationRemoveDiscardableAttributeByName(op, ws__mlir_ref(dropped[i]));
  return true;
}

/* ---- to the LLVM dialect
 * --------------------------------------------------------- */

enum {
  AMDGPU = 1 << WS_FAMILY_AMDGPU,
  NVPTX = 1 << WS_FAMILY_NVPTX,
  BOTH = AMDGPU | NVPTX,
  WHOLE = 1 << 8 /* a pass of the builtin.module */
};

static MlirType element_of(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type;
}

static bool is_fp8(MlirValue value) {
  MlirType type = element_of(value);
  return mlirTypeIsAFloat(type) && mlirFloatTypeGetWidth(type) == 8;
}

static bool casts_fp8(MlirOperation op) {
  return (ws__mlir_is(op, "arith.extf") || ws__mlir_is(op, "arith.truncf")) &&
         (is_fp8(mlirOperationGetOperand(op, 0)) ||
          is_fp8(mlirOperationGetResult(op, 0)));
}

static bool is_of_bf16(MlirOperation op) {
  return mlirOperationGetNumResults(op) == 1 &&
         mlirTypeIsABF16(element_of(mlirOperationGetResult(op, 0)));
}

/* Once a schedule has been read, MLIR has other lowerings of these at hand,
 * which are not exact (expm1) or not on the list (llvm.tanh). */
static bool is_of_library(MlirOperation op) {
  static const char *const names[] = {"math.cosh",  "math.erf",   "math.expm1",
                                      "math.fpowi", "math.log1p", "math.powf",
                                      "math.sinh",  "math.tanh"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (ws__mlir_is(op, names[i]))
      return true;
  return false;
}

/* In this order; each for its families, where the gpu.module has operations
 * whose names begin so ("": always) and that are such. %s: the target. */
static const struct lowering {
  const char *passes, *operations;
  int families;
  bool (*is_such)(MlirOperation op); /* NULL: all are */
} to_llvm[] = {
    {"convert-linalg-to-loops", "linalg.", BOTH, NULL},
    {"convert-arith-to-amdgpu{chipset=%s}", "arith.", AMDGPU, casts_fp8},
    {"math-extend-to-supported-types{extra-types=f16}", "math.", BOTH,
     is_of_bf16},
    {"convert-math-to-rocdl", "math.", AMDGPU | WHOLE, is_of_library},
    {"convert-nvgpu-to-nvvm", "nvgpu.", NVPTX, NULL},
    {"convert-vector-to-scf{full-unroll=true}", "vector.transfer", BOTH, NULL},
    {"lower-affine", "affine.", BOTH, NULL},
    {"convert-scf-to-cf", "scf.", BOTH, NULL},
    {"expand-strided-metadata", "memref.", BOTH, NULL},
    {"lower-affine", "affine.", BOTH, NULL},
    {"convert-gpu-to-rocdl{chipset=%s runtime=HIP "
     "use-bare-ptr-memref-call-conv=true}",
     "", AMDGPU, NULL},
    {"convert-gpu-to-nvvm{has-redux=true use-bare-ptr-memref-call-conv=true}",
     "", NVPTX, NULL},
    /* what nvgpu makes is of rank 2 */
    {"convert-vector-to-llvm,convert-ub-to-llvm", "vector.", NVPTX, NULL},
    {"canonicalize,cse,reconcile-unrealized-casts", "", BOTH, NULL},
    {"convert-nvvm-to-llvm", "nvvm.", NVPTX, NULL},
};

typedef struct search {
  const struct lowering *l;
  bool found;
} search;

static MlirWalkResult is_wanted(MlirOperation op, void *data) {
  search *s = data;
  s->found = ws__mlir_begins(op, s->l->operations) &&
             (!s->l->is_such || s->l->is_such(op));
  return s->found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

static bool has_operations(MlirOperation in, const struct lowering *l) {
  search s = {l, !*l->operations};
  if (!s.found)
    mlirOperationWalk(in, is_wanted, &s, MlirWalkPreOrder);
  return s.found;
}

/* What is no kernel becomes part of those that call it. */
static MlirWalkResult settle_in_dialect(MlirOperation op, void *data) {
  const ws_mlir *m = data;
  if (!ws__mlir_is(op, "llvm.func") ||
      !mlirAttributeIsNull(
          mlirOperationGetAttributeByName(op, ws__mlir_ref("gpu.kernel"))) ||
      mlirBlockIsNull(ws__mlir_body(op)))
    return MlirWalkResultAdvance;
  mlirOperationSetInherentAttributeByName(op, ws__mlir_ref("always_inline"),
                                          mlirUnitAttrGet(m->context));
  mlirOperationSetInherentAttributeByName(
      op, ws__mlir_ref("linkage"),
      mlirAttributeParseGet(m->context,
                            ws__mlir_ref("#llvm.linkage<internal>")));
  return MlirWalkResultSkip;
}

/* What translates to LLVM IR is a builtin.module: what is in the gpu.module
 * moves there, with what it says of the target. */
static void dissolve_gpu_module(ws_mlir *m) {
  MlirOperation gpu = ws__mlir_gpu_module(m);
  MlirStringRef layout = ws__mlir_ref("llvm.data_layout");
  MlirAttribute value = mlirOperationGetDiscardableAttributeByName(gpu, layout);
  if (!mlirAttributeIsNull(value))
    mlirOperationSetDiscardableAttributeByName(m->module, layout, value);
  mlirOperationSetDiscardableAttributeByName(
      m->module, ws__mlir_ref("llvm.target_triple"),
      mlirStringAttrGet(
          m->context, ws__mlir_ref(ws__ir_family(m->target->family)->triple)));
  MlirBlock to = mlirOperationGetBlock(gpu), from = ws__mlir_body(gpu);
  MlirOperation item = mlirBlockGetFirstOperation(from);
  while (!mlirOperationIsNull(item)) {
    MlirOperation next = mlirOperationGetNextInBlock(item);
    mlirOperationRemoveFromParent(item);
    mlirBlockAppendOwnedOperation(to, item);
    item = next;
  }
  mlirOperationDestroy(gpu);
}

/* Debug info of LLVM's in a place, as fused<#llvm.di_...>[...] has it. */
static bool has_debug_info(MlirLocation at) {
  if (!mlirLocationIsAFused(at))
    return false;
  MlirAttribute what = mlirLocationFusedGetMetadata(at);
  return !mlirAttributeIsNull(what) &&
         mlirStringRefEqual(
             mlirDialectGetNamespace(mlirAttributeGetDialect(what)),
             ws__mlir_ref("llvm"));
}

static MlirWalkResult find_debug_info(MlirOperation op, void *data) {
  MlirOperation *found = data;
  if (ws__mlir_is(op, "llvm.func") || ws__mlir_is(op, "builtin.module") ||
      !has_debug_info(mlirOperationGetLocation(op)))
    return MlirWalkResultAdvance;
  *found = op;
  return MlirWalkResultInterrupt;
}

/* The translation has LLVM verify what it made, and what LLVM says then goes
 * to stderr. On IR that MLIR has verified, that is debug info. */
static void explain_translation(ws_mlir *m) {
  MlirOperation at = {NULL};
  if (m->findings->count)
    return;
  mlirOperationWalk(m->module, find_debug_info, &at, MlirWalkPreOrder);
  const bool known = !mlirOperationIsNull(at);
  ws__mlir_refuse(m, known ? at : m->module, "mlir",
                  known ? "LLVM refuses the debug info in this place; write "
                          "loc(\"FILE\":LINE:COLUMN), or no loc at all"
                        : "LLVM refuses the IR that this becomes; reduce it to "
                          "find out what of it");
}

static LLVMModuleRef translate(ws_mlir *m, LLVMContextRef context) {
  if (!ws__mlir_run(m, m->module,
                    "builtin.module(ensure-debug-info-scope-on-llvm-func{"
                    "emission-kind=LineTablesOnly})"))
    return NULL;
  LLVMModuleRef module = mlirTranslateModuleToLLVMIR(m->module, context);
  if (module)
    ws__mlir_settle(m, module);
  else
    explain_translation(m);
  return module;
}

/* ---- all of it
 * ------------------------------------------------------------------------ */

static const char form[] =
    "write module attributes {wavesmith.template = [name, version, problem, "
    "target, purpose]}, with a target of %s";

static bool find_target(ws_mlir *m) {
  MlirAttribute word = ws__mlir_word(m->module, "template");
  const bool named = !mlirAttributeIsNull(word) &&
                     mlirAttributeIsAArray(word) &&
                     mlirArrayAttrGetNumElements(word) == 5 &&
                     mlirAttributeIsAString(mlirArrayAttrGetElement(word, 3));
  if (named)
    m->target = ws_target_find(ws__mlir_text(
        m->arena, mlirStringAttrGetValue(mlirArrayAttrGetElement(word, 3))));
  if (!ws__mlir_is(m->module, "builtin.module"))
    m->target = NULL;
  if (!m->target || mlirOperationIsNull(ws__mlir_gpu_module(m)))
    ws__mlir_refuse(m, m->module, "template",
                    !m->target ? form : "write the kernels in a gpu.module%.0s",
                    ws_target_list());
  return m->findings->count == 0;
}

/* Of a template some kernel is launched; a body says nothing of that. */
static bool has_launch(ws_mlir *m) {
  if (mlirAttributeIsNull(ws__mlir_word(m->module, "template")))
    return true;
  for (int i = 0; i < m->function_count; i++)
    if (!mlirAttributeIsNull(m->functions[i].launch))
      return true;
  MlirOperation kernel = ws__mlir_first(ws__mlir_gpu_module(m));
  while (!mlirOperationIsNull(kernel) && !ws__mlir_is(kernel, "gpu.func"))
    kernel = mlirOperationGetNextInBlock(kernel);
  ws__mlir_refuse(m,
                  mlirOperationIsNull(kernel) ? ws__mlir_gpu_module(m) : kernel,
                  "template",
                  "nothing is launched: write gpu.func @NAME(...) kernel "
                  "attributes {wavesmith.launch = [grid x, grid y, grid z, "
                  "threads, condition]}, texts");
  return false;
}

bool ws__mlir_specialize(ws_mlir *m) {
  return collect_functions(m) && has_launch(m) && ws__mlir_set_values(m) &&
         ws__mlir_ids(m) && ws__mlir_size_lds(m) && ws__mlir_schedule(m) &&
         ws__mlir_lanes(m) && ws__mlir_place_lds(m) &&
         ws__mlir_spread_shapes(m) && ws__mlir_inline(m) &&
         mlirOperationVerify(m->module);
}

bool ws__mlir_to_llvm_dialect(ws_mlir *m) {
  MlirOperation gpu = ws__mlir_gpu_module(m);
  ws_mlir_maps maps;
  if (!ws__mlir_find_maps(m, &maps) || !ws__mlir_expand(m))
    return false;
  for (size_t i = 0; i < sizeof to_llvm / sizeof *to_llvm; i++) {
    const struct lowering *l = &to_llvm[i];
    char passes[160], nested[192];
    snprintf(passes, sizeof passes, l->passes, m->target->name);
    const bool is_whole = l->families & WHOLE;
    snprintf(nested, sizeof nested, "%s.module(%s)",
             is_whole ? "builtin" : "gpu", passes);
    if (l->families & 1 << m->target->family && has_operations(gpu, l) &&
        !ws__mlir_run(m, is_whole ? m->module : gpu, nested))
      return false;
  }
  if (!mlirOperationVerify(gpu) || !ws__mlir_check_library(m) ||
      !ws__mlir_is_lowered(m))
    return false;
  ws__mlir_describe_maps(m, &maps);
  mlirOperationWalk(gpu, settle_in_dialect, m, MlirWalkPreOrder);
  dissolve_gpu_module(m);
  return true;
}

/* Down to the LLVM dialect, and translated. */
static LLVMModuleRef lower(ws_mlir *m, LLVMContextRef context) {
  return ws__mlir_specialize(m) && ws__mlir_walk(m, m->module, drop_declared) &&
                 ws__mlir_to_llvm_dialect(m)
             ? translate(m, context)
             : NULL;
}

LLVMModuleRef ws__mlir_lower_template(ws_mlir *m, LLVMContextRef context) {
  LLVMModuleRef module = lower(m, context);
  return module && ws__mlir_write_records(m, m->functions, m->function_count,
                                          module)
             ? module
             : NULL;
}

bool ws__mlir_open(ws_mlir *m, const ws_scope *values) {
  if (!ws__mlir_check_dialects(m, m->module) || !find_target(m) ||
      !ws__mlir_check_words(m))
    return false;
  if (!values)
    return ws__mlir_defaults(m, &m->values);
  m->values = *values;
  return true;
}

static LLVMModuleRef lower_body(ws_mlir *m, const ws_mlir_request *request,
                                LLVMContextRef context) {
  if (request->values)
    m->values = *request->values;
  return lower(m, context);
}

/* Everything here but MLIR's parser takes a text to end there. */
static bool has_nul(ws_mlir *m, const ws_mlir_request *request) {
  const char *nul = memchr(request->text, 0, request->size);
  if (nul)
    ws__mlir_find_at(m, request->text, nul, "mlir",
                     "a NUL byte: this is no text");
  return nul;
}

/* MLIR says of no operation and of several that there is not one, nowhere. */
static MlirOperation parse_template(ws_mlir *m, const char *text, size_t size) {
  const int before = m->findings->count;
  MlirOperation module = mlirOperationCreateParse(
      m->context, mlirStringRefCreate(text, size), ws__mlir_ref(m->file));
  if (mlirOperationIsNull(module) && m->findings->count == before + 1 &&
      !m->findings->items[before].line) {
    m->findings->count = before;
    ws_findings_add(m->findings, "template", "", m->file, 1, form,
                    ws_target_list());
  }
  return module;
}

static MlirOperation parse(ws_mlir *m, const ws_mlir_request *request) {
  if (!ws__mlir_is_text(m, request->text) || has_nul(m, request))
    return (MlirOperation){NULL};
  const size_t mark = ws__mlir_mark_size(request->text);
  if (!request->target)
    return parse_template(m, request->text + mark, request->size - mark);
  m->target = ws_target_find(request->target);
  return ws__mlir_read_body(m, request->text);
}

__attribute__((visibility("default"))) LLVMModuleRef
ws_mlir_lower(LLVMContextRef context, const ws_mlir_request *request,
              ws_findings *findings) {
  ws_mlir m = {.arena = findings->arena,
               .findings = findings,
               .file = request->file,
               .text = request->text,
               .place = request->place,
               .find_problem = request->find_problem,
               .context = ws__mlir_context()};
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(
      m.context, ws__mlir_take_diagnostic, &m, NULL);
  m.module = parse(&m, request);
  LLVMModuleRef module = NULL;
  if (!mlirOperationIsNull(m.module)) {
    if (request->target)
      module = lower_body(&m, request, context);
    else if (ws__mlir_open(&m, request->values) && ws__mlir_splice(&m, request))
      module = ws__mlir_lower_template(&m, context);
    mlirOperationDestroy(m.module);
  }
  mlirContextDetachDiagnosticHandler(m.context, handler);
  return module;
}
