/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From an amdgcn module to a host module that reports what it does. On a copy,
 * in this order: drop what no launch reaches; give LDS globals fixed
 * addresses; instrument each function (sanitize_instrument.c); add one wrapper
 * per launch that unpacks its arguments; drop debug info (the sites have it
 * now); set the host's triple and data layout.
 *
 * Address spaces stay in the types: x86 takes 1, 3, 4, 5 for flat. Nothing is
 * optimised: undefined behaviour is what is looked for.
 */
#include "parse.h"
#include "sanitize_instrument.h"
#include "scalar_type.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

enum { MAX_FUNCTIONS = 512 };

/* ---- what the launches reach ----------------------------------------- */

typedef struct reach {
  LLVMValueRef functions[MAX_FUNCTIONS];
  uint32_t kernels[MAX_FUNCTIONS]; /* bit per launch */
  int count;
} reach;

static int reach_index(reach *reached, LLVMValueRef function) {
  for (int i = 0; i < reached->count; i++)
    if (reached->functions[i] == function)
      return i;
  if (reached->count == MAX_FUNCTIONS)
    return -1;
  reached->functions[reached->count] = function;
  return reached->count++;
}

static void mark_reached(reach *reached, LLVMValueRef function,
                         uint32_t kernels) {
  int index = reach_index(reached, function);
  if (index < 0 || (reached->kernels[index] & kernels) == kernels)
    return;
  reached->kernels[index] |= kernels;
  WS_FOR_EACH_INSTRUCTION(function, block, instruction) {
    if (!LLVMIsACallInst(instruction))
      continue;
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    if (LLVMIsAFunction(callee) && !LLVMIsDeclaration(callee))
      mark_reached(reached, callee, kernels);
  }
}

static void drop_unreached(ws_instrumenter *in, reach *reached) {
  for (LLVMValueRef f = LLVMGetFirstFunction(in->module), next; f; f = next) {
    next = LLVMGetNextFunction(f);
    if (LLVMIsDeclaration(f))
      continue;
    bool wanted = false;
    for (int i = 0; i < reached->count; i++)
      wanted |= reached->functions[i] == f;
    if (wanted)
      continue;
    LLVMReplaceAllUsesWith(f, LLVMGetUndef(LLVMTypeOf(f)));
    LLVMDeleteFunction(f);
  }
}

/* ---- LDS ------------------------------------------------------------- */

typedef struct lds_global {
  LLVMValueRef global;
  uint64_t size;
  unsigned alignment;
  uint32_t kernels;
} lds_global;

/* Launches whose code mentions value, also inside constant expressions. */
static uint32_t kernels_that_use(reach *reached, LLVMValueRef value) {
  uint32_t kernels = 0;
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsAInstruction(user)) {
      int index = reach_index(
          reached, LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)));
      kernels |= index < 0 ? 0 : reached->kernels[index];
    } else {
      kernels |= kernels_that_use(reached, user);
    }
  }
  return kernels;
}

static bool goes_first(const lds_global *a, const lds_global *b) {
  if (a->kernels != b->kernels)
    return a->kernels < b->kernels;
  if (a->alignment != b->alignment)
    return a->alignment > b->alignment;
  return a->size > b->size;
}

static int collect_lds(ws_instrumenter *in, reach *reached,
                       lds_global globals[WS_MAX_LDS_GLOBALS]) {
  int count = 0;
  for (LLVMValueRef g = LLVMGetFirstGlobal(in->module); g;
       g = LLVMGetNextGlobal(g)) {
    if (ws__address_space(g) != 3 || count == WS_MAX_LDS_GLOBALS)
      continue;
    unsigned alignment = LLVMGetAlignment(g);
    lds_global item = {
        .global = g,
        .size = LLVMABISizeOfType(in->target_layout, LLVMGlobalGetValueType(g)),
        .alignment = alignment
                         ? alignment
                         : LLVMABIAlignmentOfType(in->target_layout,
                                                  LLVMGlobalGetValueType(g)),
        .kernels = kernels_that_use(reached, g)};
    int at = count++;
    for (; at > 0 && goes_first(&item, &globals[at - 1]); at--)
      globals[at] = globals[at - 1];
    globals[at] = item;
  }
  return count;
}

/* As the target does: the globals of a kernel side by side, largest alignment
 * first, then largest size. Globals of different kernels are pages apart. */
static void lay_out_lds(ws_instrumenter *in, reach *reached) {
  lds_global globals[WS_MAX_LDS_GLOBALS];
  int count = collect_lds(in, reached, globals);
  ws_program *program = in->program;
  uint64_t offset = 0;
  for (int i = 0; i < count; i++) {
    const lds_global *at = &globals[i];
    if (i && at->kernels != at[-1].kernels)
      offset = (offset + 4096 + 4095) / 4096 * 4096;
    offset = (offset + at->alignment - 1) / at->alignment * at->alignment;
    if (offset + at->size > WS_LDS_MAX) {
      in->failed = true;
      ws__fault(WS_FAULT_SANITIZER_LIMIT, NULL,
                "the LDS globals of the module take more than %d bytes",
                WS_LDS_MAX);
      return;
    }
    LLVMValueRef address =
        LLVMConstInt(in->i64, ws__sanitizer.memory.lds_base + offset, false);
    LLVMReplaceAllUsesWith(at->global,
                           LLVMConstIntToPtr(address, LLVMTypeOf(at->global)));
    LLVMDeleteGlobal(at->global);
    for (int k = 0; k < program->entry_count; k++) {
      ws_entry_point *entry = &program->entries[k];
      if (!(at->kernels >> k & 1))
        continue;
      if (entry->lds_begin == entry->lds_end)
        entry->lds_begin = (uint32_t)offset;
      entry->lds_end = (uint32_t)(offset + at->size);
    }
    offset += at->size;
  }
}

/* ---- launch wrappers ------------------------------------------------- */

static bool argument_fits(const ws_problem *problem, const char *name,
                          LLVMTypeRef type) {
  int index = ws_problem_arg_index(problem, name);
  if (index < 0)
    return false;
  bool pointer = LLVMGetTypeKind(type) == LLVMPointerTypeKind;
  if (problem->args[index].role == WS_ARG_SCALAR)
    return ws__is_scalar_type(problem->args[index].type, type);
  return pointer;
}

static bool launch_is_sound(ws_instrumenter *in, const ws_launch *launch,
                            LLVMValueRef kernel) {
  ws__sanitizer.launch = launch;
  if (!kernel || LLVMIsDeclaration(kernel)) {
    ws__fault(WS_FAULT_BAD_LAUNCH, NULL, "the module has no kernel %s",
              launch->kernel);
    return false;
  }
  if ((int)LLVMCountParams(kernel) != launch->argument_count) {
    ws__fault(WS_FAULT_BAD_LAUNCH, NULL,
              "kernel %s takes %u arguments, the launch names %d",
              launch->kernel, LLVMCountParams(kernel), launch->argument_count);
    return false;
  }
  for (int i = 0; i < launch->argument_count; i++)
    if (!argument_fits(in->problem, launch->arguments[i],
                       LLVMTypeOf(LLVMGetParam(kernel, (unsigned)i)))) {
      ws__fault(WS_FAULT_BAD_LAUNCH, NULL,
                "argument %s of kernel %s is not one of the problem's, or of "
                "another type",
                launch->arguments[i], launch->kernel);
      return false;
    }
  return true;
}

/* void wrapper(arguments): one 8-byte slot per argument. */
static void add_wrapper(ws_instrumenter *in, LLVMValueRef kernel, int index) {
  LLVMTypeRef type = LLVMFunctionType(in->nothing, &in->pointer, 1, false);
  LLVMValueRef wrapper =
      LLVMAddFunction(in->module, in->program->entries[index].symbol, type);
  LLVMPositionBuilderAtEnd(
      in->builder, LLVMAppendBasicBlockInContext(in->context, wrapper, ""));
  LLVMValueRef arguments[WS_PROBLEM_MAX_ARGS];
  unsigned count = LLVMCountParams(kernel);
  for (unsigned i = 0; i < count; i++)
    arguments[i] =
        LLVMBuildLoad2(in->builder, LLVMTypeOf(LLVMGetParam(kernel, i)),
                       ws__at_offset(in, LLVMGetParam(wrapper, 0), i * 8), "");
  LLVMBuildCall2(in->builder, LLVMGlobalGetValueType(kernel), kernel, arguments,
                 count, "");
  LLVMBuildRetVoid(in->builder);
  ws__make_host_function(in, wrapper);
}

/* ---- all of it ------------------------------------------------------- */

static void find_kernels(ws_instrumenter *in, LLVMValueRef *kernels,
                         reach *reached) {
  ws_program *program = in->program;
  program->entry_count = in->tmpl->launch_count;
  for (int i = 0; i < program->entry_count; i++) {
    const ws_launch *launch = &in->tmpl->launches[i];
    if (!(in->launches >> i & 1))
      continue;
    kernels[i] = LLVMGetNamedFunction(in->module, launch->kernel);
    if (!launch_is_sound(in, launch, kernels[i])) {
      in->failed = true;
      return;
    }
    program->entries[i].symbol =
        ws_arena_printf(program->arena, "ws.launch.%d", i);
    mark_reached(reached, kernels[i], 1u << i);
  }
}

static void rewrite_module(ws_instrumenter *in) {
  LLVMValueRef kernels[WS_TEMPLATE_MAX_LAUNCHES] = {NULL};
  reach *reached = ws_arena_alloc(in->program->arena, sizeof *reached);
  find_kernels(in, kernels, reached);
  if (in->failed)
    return;
  drop_unreached(in, reached);
  lay_out_lds(in, reached);
  if (in->failed)
    return;
  ws__instrument_declare_hooks(in);
  for (LLVMValueRef f = LLVMGetFirstFunction(in->module); f;
       f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      ws__instrument_function(in, f);
  for (int i = 0; i < in->program->entry_count; i++)
    if (kernels[i])
      add_wrapper(in, kernels[i], i);
}

LLVMModuleRef ws__instrument(LLVMModuleRef module, const ws_template *tmpl,
                             const ws_problem *problem, uint32_t launches,
                             bool diagnose, LLVMTargetMachineRef machine,
                             const char *layout, ws_program *out_program) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  ws_instrumenter in = {.module = LLVMCloneModule(module),
                        .context = context,
                        .builder = LLVMCreateBuilderInContext(context),
                        .i8 = LLVMInt8TypeInContext(context),
                        .i64 = LLVMInt64TypeInContext(context),
                        .pointer = LLVMPointerTypeInContext(context, 0),
                        /* allocas of the module are in address space 5 */
                        .frame_pointer = LLVMPointerTypeInContext(context, 5),
                        .nothing = LLVMVoidTypeInContext(context),
                        .program = out_program,
                        .tmpl = tmpl,
                        .problem = problem,
                        .launches = launches,
                        .diagnose = diagnose};
  in.target_layout = LLVMCreateTargetData(LLVMGetDataLayoutStr(module));
  in.host_layout = LLVMCreateTargetData(layout);
  rewrite_module(&in);
  LLVMStripModuleDebugInfo(in.module);
  char *triple = LLVMGetTargetMachineTriple(machine);
  LLVMSetTarget(in.module, triple);
  LLVMDisposeMessage(triple);
  LLVMSetDataLayout(in.module, layout);
  LLVMDisposeTargetData(in.host_layout);
  LLVMDisposeTargetData(in.target_layout);
  LLVMDisposeBuilder(in.builder);
  if (!in.failed)
    return in.module;
  LLVMDisposeModule(in.module);
  return NULL;
}
