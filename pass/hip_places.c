/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * blockDim and gridDim. HIP reads them from what the launch leaves in memory
 * (implicit arguments of code object version 5, or the dispatch packet); a
 * template's launch is a rule, so the rule's expression is computed instead.
 */
#include "hip.h"
#include "parse.h"

#include <llvm-c/DebugInfo.h>

#include <string.h>

/* What lies at an offset, from AMDGPUUsage ("Code Object V5 Kernel Argument
 * Metadata", "AQL kernel dispatch packet"). */
typedef enum place_kind {
  PLACE_BLOCKS,
  PLACE_THREADS,
  PLACE_REMAINDER,
  PLACE_ALL_THREADS
} place_kind;
static const struct place {
  const char *intrinsic;
  int offset, axis;
  place_kind kind;
} places[] = {
    {"llvm.amdgcn.implicitarg.ptr", 0, 0, PLACE_BLOCKS},
    {"llvm.amdgcn.implicitarg.ptr", 4, 1, PLACE_BLOCKS},
    {"llvm.amdgcn.implicitarg.ptr", 8, 2, PLACE_BLOCKS},
    {"llvm.amdgcn.implicitarg.ptr", 12, 0, PLACE_THREADS},
    {"llvm.amdgcn.implicitarg.ptr", 14, 1, PLACE_THREADS},
    {"llvm.amdgcn.implicitarg.ptr", 16, 2, PLACE_THREADS},
    {"llvm.amdgcn.implicitarg.ptr", 18, 0, PLACE_REMAINDER},
    {"llvm.amdgcn.implicitarg.ptr", 20, 1, PLACE_REMAINDER},
    {"llvm.amdgcn.implicitarg.ptr", 22, 2, PLACE_REMAINDER},
    {"llvm.amdgcn.dispatch.ptr", 4, 0, PLACE_THREADS},
    {"llvm.amdgcn.dispatch.ptr", 6, 1, PLACE_THREADS},
    {"llvm.amdgcn.dispatch.ptr", 8, 2, PLACE_THREADS},
    {"llvm.amdgcn.dispatch.ptr", 12, 0, PLACE_ALL_THREADS},
    {"llvm.amdgcn.dispatch.ptr", 16, 1, PLACE_ALL_THREADS},
    {"llvm.amdgcn.dispatch.ptr", 20, 2, PLACE_ALL_THREADS},
};
enum { PLACES = sizeof places / sizeof places[0] };
enum { LAUNCH_GRID = 1, LAUNCH_THREADS = 4 }; /* fields of a launch note */

typedef struct writer {
  ws_hip *h;
  LLVMBuilderRef builder;
  LLVMValueRef function;
  LLVMTypeRef type; /* i32 */
  int line;
} writer;

/* ---- expressions as instructions ----------------------------------------- */

static void *write_integer(void *context, int64_t value) {
  writer *w = context;
  return LLVMConstInt(w->type, (unsigned long long)value, true);
}

static void *write_name(void *context, const char *name) {
  writer *w = context;
  const ws_candidate *candidate = w->h->candidate;
  int index = candidate ? ws_template_param_index(candidate->tmpl, name) : -1;
  if (index >= 0)
    return write_integer(w, candidate->values[index]);
  const ws_hip_note *param = ws__hip_find_note(w->h, "param", name);
  if (param)
    return LLVMBuildLoad2(w->builder, w->type, param->subject, name);
  for (unsigned i = 0; i < LLVMCountParams(w->function); i++) {
    size_t size;
    LLVMValueRef argument = LLVMGetParam(w->function, i);
    if (ws__hip_is_kernel(w->function) && LLVMTypeOf(argument) == w->type &&
        !strcmp(LLVMGetValueName2(argument, &size), name))
      return argument;
  }
  WS_HIP_REFUSE(w->h, w->line,
                "the size used here depends on '%s' by the launch's rule, "
                "which is no parameter and no argument of this function; pass "
                "it, or count without gridDim",
                name);
  return LLVMConstInt(w->type, 1, false);
}

static void *write_call(writer *w, const char *operator_, LLVMValueRef a,
                        LLVMValueRef b) {
  if (!strcmp(operator_, "ceildiv")) {
    LLVMValueRef one = LLVMConstInt(w->type, 1, false);
    LLVMValueRef up =
        LLVMBuildAdd(w->builder, a, LLVMBuildSub(w->builder, b, one, ""), "");
    return LLVMBuildSDiv(w->builder, up, b, "");
  }
  LLVMIntPredicate order = !strcmp(operator_, "min") ? LLVMIntSLT : LLVMIntSGT;
  LLVMValueRef first = LLVMBuildICmp(w->builder, order, a, b, "");
  return LLVMBuildSelect(w->builder, first, a, b, "");
}

static void *write_operation(void *context, const char *operator_,
                             void **operands) {
  static const struct {
    const char *text;
    LLVMOpcode opcode;
  } plain[] = {{"+", LLVMAdd},
               {"-", LLVMSub},
               {"*", LLVMMul},
               {"/", LLVMSDiv},
               {"%", LLVMSRem}};
  static const struct {
    const char *text;
    LLVMIntPredicate predicate;
  } compare[] = {{"==", LLVMIntEQ},  {"!=", LLVMIntNE}, {"<", LLVMIntSLT},
                 {"<=", LLVMIntSLE}, {">", LLVMIntSGT}, {">=", LLVMIntSGE}};
  writer *w = context;
  LLVMValueRef a = operands[0], b = operands[1];
  LLVMValueRef zero = LLVMConstInt(w->type, 0, false), bit = NULL;
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    if (!strcmp(plain[i].text, operator_))
      return LLVMBuildBinOp(w->builder, plain[i].opcode, a, b, "");
  for (size_t i = 0; i < sizeof compare / sizeof *compare; i++)
    if (!strcmp(compare[i].text, operator_))
      bit = LLVMBuildICmp(w->builder, compare[i].predicate, a, b, "");
  if (!strcmp(operator_, "neg"))
    return LLVMBuildSub(w->builder, zero, a, "");
  if (strchr("mc", *operator_))
    return write_call(w, operator_, a, b);
  if (bit)
    return LLVMBuildZExt(w->builder, bit, w->type, "");
  LLVMValueRef is_a = LLVMBuildICmp(w->builder, LLVMIntNE, a, zero, "");
  if (!strcmp(operator_, "?:"))
    return LLVMBuildSelect(w->builder, is_a, b, operands[2], "");
  if (!strcmp(operator_, "!"))
    return LLVMBuildZExt(w->builder, LLVMBuildNot(w->builder, is_a, ""),
                         w->type, "");
  LLVMValueRef is_b = LLVMBuildICmp(w->builder, LLVMIntNE, b, zero, "");
  bit = LLVMBuildBinOp(w->builder, *operator_ == '&' ? LLVMAnd : LLVMOr, is_a,
                       is_b, "");
  return LLVMBuildZExt(w->builder, bit, w->type, "");
}

static LLVMValueRef write_expression(writer *w, const char *text) {
  static const ws_expr_visitor visitor = {write_integer, write_name,
                                          write_operation};
  ws_expr *expr;
  ws_diag diag;
  if (ws_expr_parse(w->h->findings->arena, text, w->h->file, w->line, &expr,
                    &diag) == WS_OK)
    return ws_expr_visit(expr, &visitor, w);
  ws_findings_add(w->h->findings, "hip", "", w->h->file, 0, "%s", diag.text);
  return LLVMConstInt(w->type, 1, false);
}

/* ---- the launch that a function is part of ------------------------------- */

/* Of the launches of the kernel, or of all for a function that kernels call:
 * the one expression they have; NULL and a finding. */
static const char *launch_field(writer *w, int field) {
  const char *found = NULL;
  size_t size;
  const char *name = LLVMGetValueName2(w->function, &size);
  bool kernel = ws__hip_is_kernel(w->function);
  for (int i = 0; i < w->h->note_count; i++) {
    const ws_hip_note *note = &w->h->notes[i];
    if (strcmp(note->kind, "launch") || note->count <= field ||
        (kernel && strcmp(note->fields[0], name)))
      continue;
    if (found && strcmp(found, note->fields[field])) {
      WS_HIP_REFUSE(w->h, w->line,
                    "blockDim or gridDim is '%s' in one launch and '%s' in "
                    "another; pass it as an argument, or use parameters",
                    found, note->fields[field]);
      return NULL;
    }
    found = note->fields[field];
  }
  return found;
}

static LLVMValueRef write_place(writer *w, const struct place *place) {
  LLVMValueRef one = LLVMConstInt(w->type, 1, false), blocks, threads = one;
  if (place->kind == PLACE_REMAINDER)
    return LLVMConstInt(w->type, 0, false);
  if (place->kind != PLACE_BLOCKS && place->axis == 0) {
    const char *text = launch_field(w, LAUNCH_THREADS);
    threads = text ? write_expression(w, text) : one;
  }
  if (place->kind == PLACE_THREADS)
    return threads;
  const char *text = launch_field(w, LAUNCH_GRID + place->axis);
  blocks = text ? write_expression(w, text) : one;
  return place->kind == PLACE_BLOCKS
             ? blocks
             : LLVMBuildMul(w->builder, blocks, threads, "");
}

/* ---- finding the loads --------------------------------------------------- */

/* The intrinsic's name, and the offset from it; NULL: anything else. */
static const char *source_of(LLVMValueRef pointer, long long *out_offset) {
  *out_offset = 0;
  for (; LLVMIsAGetElementPtrInst(pointer);
       pointer = LLVMGetOperand(pointer, 0)) {
    LLVMValueRef index = LLVMGetOperand(pointer, 1);
    LLVMTypeRef element = LLVMGetGEPSourceElementType(pointer);
    if (LLVMGetNumOperands(pointer) != 2 || !LLVMIsAConstantInt(index) ||
        LLVMGetTypeKind(element) != LLVMIntegerTypeKind)
      return NULL;
    *out_offset += LLVMConstIntGetSExtValue(index) *
                   (long long)(LLVMGetIntTypeWidth(element) / 8);
  }
  size_t size;
  return LLVMIsACallInst(pointer)
             ? LLVMGetValueName2(LLVMGetCalledValue(pointer), &size)
             : NULL;
}

static const struct place *place_of(LLVMValueRef load) {
  long long offset;
  const char *name = source_of(LLVMGetOperand(load, 0), &offset);
  for (int i = 0; name && i < PLACES; i++)
    if (!strcmp(places[i].intrinsic, name) && places[i].offset == offset)
      return &places[i];
  return NULL;
}

/* Sizes are read as 16 bits and made 32: both at once. */
static void replace_widened(LLVMValueRef load, LLVMValueRef value) {
  for (LLVMUseRef use = LLVMGetFirstUse(load); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsAZExtInst(user) && LLVMTypeOf(user) == LLVMTypeOf(value))
      LLVMReplaceAllUsesWith(user, value);
  }
}

static void fold_load(ws_hip *h, LLVMValueRef function, LLVMValueRef load,
                      const struct place *place) {
  LLVMContextRef context = LLVMGetModuleContext(h->module);
  writer w = {h, LLVMCreateBuilderInContext(context), function,
              LLVMInt32TypeInContext(context), ws_pass_line(load, NULL)};
  LLVMPositionBuilderBefore(w.builder, load);
  LLVMSetCurrentDebugLocation2(w.builder, LLVMInstructionGetDebugLoc(load));
  LLVMValueRef value = write_place(&w, place);
  replace_widened(load, value);
  value = LLVMBuildIntCast2(w.builder, value, LLVMTypeOf(load), false, "");
  LLVMReplaceAllUsesWith(load, value);
  LLVMDisposeBuilder(w.builder);
}

void ws__hip_fold_places(ws_hip *h) {
  for (LLVMValueRef f = LLVMGetFirstFunction(h->module); f;
       f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f))
      continue;
    WS_FOR_EACH_INSTRUCTION(f, block, instruction) {
      const struct place *place =
          LLVMIsALoadInst(instruction) ? place_of(instruction) : NULL;
      if (place)
        fold_load(h, f, instruction, place);
    }
  }
}
