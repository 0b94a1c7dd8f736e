/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Functions of the vendors' libraries, which convert-gpu-to-rocdl and
 * convert-gpu-to-nvvm make of the math dialect, to intrinsics:
 * __ocml_exp2_f32 and __nv_exp2f to llvm.exp2.f32. The libraries themselves are
 * not linked. What gfx942 has no intrinsic for and is much used, library.def
 * has in LLVM IR: of f32; of f16 it is computed in f32.
 */
#include "check.h"
#include "declare.h"

#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

/* What has another name than the function's. fast_: of fastmath<afn>. */
static const struct known {
  const char *function, *intrinsic;
  double before, after; /* factors of the operand and the result */
} others[] = {
    {"rsqrt", "llvm.nvvm.rsqrt.approx.f", 1, 1},
    {"fast_exp", "llvm.nvvm.ex2.approx.f", 1.4426950408889634, 1},
    {"fast_log", "llvm.nvvm.lg2.approx.f", 1, 0.6931471805599453},
    {"fast_log2", "llvm.nvvm.lg2.approx.f", 1, 1},
};

/* Functions of ours, for AMD's: of f32, under the library's name. */
static const struct written {
  const char *name;
  int operands;
  const char *text;
} written[] = {
#include "library.def"
};
enum { WRITTEN = sizeof written / sizeof *written };

enum { NAME_BYTES = 64 };

/* "exp2" of "__ocml_exp2_f32" or, of float, of "__nv_exp2f"; false: it is of no
 * library. */
static bool read_name(MlirStringRef symbol, bool is_float,
                      char out[NAME_BYTES]) {
  char name[NAME_BYTES];
  static const char amd[] = "__ocml_", nvidia[] = "__nv_";
  snprintf(name, sizeof name, "%.*s", (int)symbol.length, symbol.data);
  const bool is_amd = !strncmp(name, amd, sizeof amd - 1);
  if (!is_amd && strncmp(name, nvidia, sizeof nvidia - 1))
    return false;
  const char *begin = name + (is_amd ? sizeof amd : sizeof nvidia) - 1;
  size_t size = strlen(begin);
  const char *type = strrchr(begin, '_');
  if (is_amd)
    size = type ? (size_t)(type - begin) : size;
  else if (is_float && size && begin[size - 1] == 'f')
    size--;
  snprintf(out, NAME_BYTES, "%.*s", (int)size, begin);
  return true;
}

static bool find_intrinsic(const ws_mlir *m, const char *name,
                           struct known *out) {
  *out = (struct known){name, ws_arena_printf(m->arena, "llvm.%s", name), 1, 1};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (!strcmp(others[i].function, name))
      *out = others[i];
  const unsigned traits = ws__intrinsic_traits(out->intrinsic, m->target);
  return LLVMLookupIntrinsicID(out->intrinsic, strlen(out->intrinsic)) &&
         !(traits & (WS_INTRINSIC_UNLISTED | WS_INTRINSIC_OTHER_TARGET));
}

static const struct written *find_written(MlirStringRef symbol,
                                          const char *type) {
  for (int i = 0; i < WRITTEN; i++) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "__ocml_%s_%s", written[i].name, type);
    if (mlirStringRefEqual(symbol, ws__mlir_ref(name)))
      return &written[i];
  }
  return NULL;
}

static bool is_written(const ws_mlir *m, MlirStringRef symbol) {
  return m->target->family == WS_FAMILY_AMDGPU &&
         (find_written(symbol, "f32") || find_written(symbol, "f16"));
}

/* Whether saying so helps. */
static bool has_approximation(const ws_mlir *m, const char *name) {
  struct known known;
  const char *fast = ws_arena_printf(m->arena, "fast_%s", name);
  return find_intrinsic(m, fast, &known);
}

/* ---- in the LLVM dialect ----------------------------------------------------
 */

static bool check(ws_mlir *m, MlirOperation op) {
  char name[NAME_BYTES];
  struct known known;
  if (!ws__mlir_is(op, "llvm.call"))
    return true;
  MlirAttribute callee =
      mlirOperationGetInherentAttributeByName(op, ws__mlir_ref("callee"));
  if (mlirAttributeIsNull(callee) || mlirOperationGetNumResults(op) != 1)
    return true;
  MlirStringRef symbol = mlirFlatSymbolRefAttrGetValue(callee);
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!read_name(symbol, mlirTypeIsAF32(type), name) ||
      find_intrinsic(m, name, &known) || is_written(m, symbol))
    return true;
  ws__mlir_refuse(m, op, "mlir-lower",
                  "%s has no intrinsic for %.*s: write it out%s",
                  m->target->name, (int)symbol.length, symbol.data,
                  has_approximation(m, name)
                      ? ", or say fastmath<afn> where an approximation will do"
                      : "");
  return false;
}

bool ws__mlir_check_library(ws_mlir *m) {
  return ws__mlir_walk(m, m->module, check);
}

/* ---- in the LLVM module -----------------------------------------------------
 */

static LLVMValueRef times(LLVMBuilderRef at, LLVMValueRef value,
                          double factor) {
  return factor == 1
             ? value
             : LLVMBuildFMul(at, value,
                             LLVMConstReal(LLVMTypeOf(value), factor), "");
}

/* Calls of f; all of its uses are. */
static void replace_calls(LLVMValueRef f, LLVMValueRef intrinsic,
                          const struct known *known) {
  LLVMBuilderRef at =
      LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(f)));
  LLVMTypeRef type = LLVMGlobalGetValueType(intrinsic);
  while (LLVMGetFirstUse(f)) {
    LLVMValueRef call = LLVMGetUser(LLVMGetFirstUse(f)), operands[4];
    const unsigned count = LLVMGetNumArgOperands(call);
    LLVMPositionBuilderBefore(at, call);
    for (unsigned i = 0; i < count && i < 4; i++)
      operands[i] = times(at, LLVMGetOperand(call, i), known->before);
    LLVMValueRef result =
        LLVMBuildCall2(at, type, intrinsic, operands, count, "");
    LLVMReplaceAllUsesWith(call, times(at, result, known->after));
    LLVMInstructionEraseFromParent(call);
  }
  LLVMDisposeBuilder(at);
}

static void add_narrow(const struct written *w, ws_strbuf *out) {
  const char *more = !strcmp(w->name, "pown") ? ", i32 %b" : ", half %b";
  ws_strbuf_printf(out,
                   "define half @__ocml_%s_f16(half %%a%s) alwaysinline {\n"
                   " %%wide = fpext half %%a to float\n",
                   w->name, w->operands == 2 ? more : "");
  if (w->operands == 2 && strcmp(w->name, "pown"))
    ws_strbuf_printf(out, " %%second = fpext half %%b to float\n");
  ws_strbuf_printf(out, " %%y = call float @__ocml_%s_f32(float %%wide%s)\n",
                   w->name,
                   w->operands == 1          ? ""
                   : strcmp(w->name, "pown") ? ", float %second"
                                             : ", i32 %b");
  ws_strbuf_printf(out, " %%n = fptrunc float %%y to half\n ret half %%n\n}\n");
}

/* The texts of what a module declares. */
static void add_texts(LLVMModuleRef module, ws_strbuf *out) {
  bool wanted[WRITTEN] = {false};
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f)) {
    size_t size;
    const char *name = LLVMGetValueName2(f, &size);
    const MlirStringRef symbol = mlirStringRefCreate(name, size);
    const struct written *wide = find_written(symbol, "f32"),
                         *narrow = find_written(symbol, "f16");
    if (narrow)
      add_narrow(narrow, out);
    if (wide || narrow)
      wanted[(wide ? wide : narrow) - written] = true;
  }
  for (int i = 0; i < WRITTEN; i++)
    if (wanted[i])
      ws_strbuf_printf(out, "%s", written[i].text);
}

static void link_texts(LLVMModuleRef module, const ws_strbuf *text) {
  LLVMModuleRef ours = NULL;
  char *message = NULL;
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
      text->data, text->size, "library");
  LLVMBool failed = LLVMParseIRInContext(LLVMGetModuleContext(module), buffer,
                                         &ours, &message);
  WS_ASSERT(!failed && "a text of ours");
  LLVMSetTarget(ours, LLVMGetTarget(module));
  LLVMSetDataLayout(ours, LLVMGetDataLayoutStr(module));
  failed = LLVMLinkModules2(module, ours);
  WS_ASSERT(!failed && "a text of ours");
}

/* What is declared of library.def is defined. */
static void add_written(LLVMModuleRef module) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  add_texts(module, &text);
  if (text.size)
    link_texts(module, &text);
  ws_strbuf_deinit(&text);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f)) {
    size_t size;
    const char *name = LLVMGetValueName2(f, &size);
    if (!LLVMIsDeclaration(f) && !strncmp(name, "__ocml_", 7))
      LLVMSetLinkage(f, LLVMInternalLinkage);
  }
}

static LLVMValueRef find_function(LLVMModuleRef module, const char *start) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f)) {
    size_t size;
    if (!strncmp(LLVMGetValueName2(f, &size), start, strlen(start)))
      return f;
  }
  return NULL;
}

/* amdgpu.gather_to_lds, from global memory: its instruction has an intrinsic of
 * its own, which the sanitizer knows. */
static void use_global_load(LLVMModuleRef module) {
  static const char name[] = "llvm.amdgcn.global.load.lds";
  LLVMValueRef old = find_function(module, "llvm.amdgcn.load.to.lds.p1");
  if (!old)
    return;
  LLVMReplaceAllUsesWith(
      old, LLVMGetIntrinsicDeclaration(
               module, LLVMLookupIntrinsicID(name, sizeof name - 1), NULL, 0));
  LLVMDeleteFunction(old);
}

/* Element by element. */
static void expand_reduction(LLVMModuleRef module, LLVMValueRef call,
                             const char *step) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMValueRef vector = LLVMGetOperand(call, 0);
  LLVMTypeRef type = LLVMTypeOf(call), index = LLVMInt32TypeInContext(context);
  LLVMValueRef f = LLVMGetIntrinsicDeclaration(
      module, LLVMLookupIntrinsicID(step, strlen(step)), &type, 1);
  LLVMBuilderRef at = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderBefore(at, call);
  LLVMValueRef result = NULL;
  for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(vector)); i++) {
    LLVMValueRef element =
        LLVMBuildExtractElement(at, vector, LLVMConstInt(index, i, 0), "");
    result = result ? LLVMBuildCall2(at, LLVMGlobalGetValueType(f), f,
                                     (LLVMValueRef[]){result, element}, 2, "")
                    : element;
  }
  LLVMReplaceAllUsesWith(call, result);
  LLVMInstructionEraseFromParent(call);
  LLVMDisposeBuilder(at);
}

/* vector.reduction <maximumf> and <minimumf>: no target has their intrinsics.
 */
static void expand_reductions(LLVMModuleRef module) {
  static const char *const steps[][2] = {
      {"llvm.vector.reduce.fmaximum", "llvm.maximum"},
      {"llvm.vector.reduce.fminimum", "llvm.minimum"}};
  for (int i = 0; i < 2; i++)
    for (LLVMValueRef f; (f = find_function(module, steps[i][0]));) {
      while (LLVMGetFirstUse(f))
        expand_reduction(module, LLVMGetUser(LLVMGetFirstUse(f)), steps[i][1]);
      LLVMDeleteFunction(f);
    }
}

void ws__mlir_use_intrinsics(const ws_mlir *m, LLVMModuleRef module) {
  use_global_load(module);
  expand_reductions(module);
  if (m->target->family == WS_FAMILY_AMDGPU)
    add_written(module);
  LLVMValueRef next;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = next) {
    char name[NAME_BYTES];
    struct known known;
    size_t size;
    next = LLVMGetNextFunction(f);
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(f));
    const char *symbol = LLVMGetValueName2(f, &size);
    if (!LLVMIsDeclaration(f) ||
        !read_name(mlirStringRefCreate(symbol, size),
                   LLVMGetTypeKind(type) == LLVMFloatTypeKind, name) ||
        !find_intrinsic(m, name, &known))
      continue;
    const unsigned id =
        LLVMLookupIntrinsicID(known.intrinsic, strlen(known.intrinsic));
    replace_calls(f,
                  LLVMGetIntrinsicDeclaration(module, id, &type,
                                              LLVMIntrinsicIsOverloaded(id)),
                  &known);
    LLVMDeleteFunction(f);
  }
}
