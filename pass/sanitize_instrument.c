/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From amdgcn IR to host IR that reports what it does. On a copy of the
 * module, in this order: drop what no launch reaches; give LDS globals fixed
 * addresses; put a hook before every memory access and in the place of every
 * llvm.amdgcn call; poison private variables; add one wrapper per launch that
 * unpacks its arguments; drop debug info (the sites have it now) and set the
 * host's triple and data layout.
 *
 * Address spaces stay in the types: x86 takes 1, 3, 4, 5 for flat. Nothing is
 * optimised before or after: undefined behaviour is what is looked for.
 */
#include "parse.h"
#include "sanitize_internal.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FUNCTIONS = 512 };

typedef struct hook {
  LLVMValueRef function;
  LLVMTypeRef type;
} hook;

typedef struct instrumenter {
  LLVMModuleRef module;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  LLVMTargetDataRef target_layout, host_layout;
  LLVMTypeRef i8, i64, pointer, frame_pointer, nothing;
  hook lds_load, lds_store, global_load, global_store, access, range, fence,
      private_access, alloca_, operation;
  ws_program *program;
  const ws_template *tmpl;
  const ws_problem *problem;
  uint32_t launches; /* bit per launch that some run needs */
  bool diagnose, failed;
  int site_count;
  uint64_t private_bytes; /* of all functions: no lane can use more */
  const char *last_region, *last_file; /* interned copies */
  LLVMValueRef frame;                  /* of the function at hand, or NULL */
} instrumenter;

/* ---- sites ----------------------------------------------------------- */

static const char *interned(instrumenter *in, const char **last,
                            const char *text) {
  if (!text)
    text = "";
  if (!*last || strcmp(*last, text))
    *last = ws_arena_strdup(in->program->arena, text);
  return *last;
}

static ws_site *new_site(instrumenter *in, LLVMValueRef instruction) {
  ws_site *site = ws_arena_alloc(in->program->arena, sizeof *site);
  const char *file = NULL;
  site->line = ws_pass_line(instruction, &file);
  site->file = interned(in, &in->last_file, file);
  site->region = interned(in, &in->last_region, ws_pass_region_of(instruction));
  site->number = in->site_count++;
  site->alignment = 1;
  return site;
}

static void refuse(instrumenter *in, LLVMValueRef instruction,
                   const char *what) {
  in->failed = true;
  ws__fault(WS_FAULT_NO_HOST_MODEL, new_site(in, instruction),
            "the sanitizer has no model of %s", what);
}

/* Sites outlive the code, so their addresses are constants in it. */
static LLVMValueRef site_constant(instrumenter *in, const ws_site *site) {
  return LLVMConstInt(in->i64, (uintptr_t)site, false);
}

static void call_hook(instrumenter *in, const hook *to, ws_site *site,
                      LLVMValueRef pointer, LLVMValueRef size) {
  LLVMValueRef arguments[3] = {site_constant(in, site), pointer, size};
  LLVMBuildCall2(in->builder, to->type, to->function, arguments,
                 LLVMCountParamTypes(to->type), "");
}

static LLVMValueRef flat(instrumenter *in, LLVMValueRef pointer) {
  return LLVMBuildPtrToInt(in->builder, pointer, in->i64, "");
}

/* ---- memory accesses ------------------------------------------------- */

static ws_space space_of(unsigned address_space) {
  switch (address_space) {
  case 1:
    return WS_SPACE_GLOBAL;
  case 3:
    return WS_SPACE_LDS;
  case 4:
    return WS_SPACE_CONSTANT;
  case 5:
    return WS_SPACE_PRIVATE;
  }
  return WS_SPACE_ANY;
}

/* The value a pointer is derived from. */
static LLVMValueRef base_of(LLVMValueRef pointer) {
  for (;;) {
    bool constant = LLVMIsAConstantExpr(pointer) != NULL;
    if (!constant && !LLVMIsAInstruction(pointer))
      return pointer;
    LLVMOpcode opcode = constant ? LLVMGetConstOpcode(pointer)
                                 : LLVMGetInstructionOpcode(pointer);
    if (opcode != LLVMGetElementPtr && opcode != LLVMAddrSpaceCast &&
        opcode != LLVMBitCast)
      return pointer;
    pointer = LLVMGetOperand(pointer, 0);
  }
}

static unsigned address_space(LLVMValueRef pointer) {
  return LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));
}

/* No hook for constants of the module, nor for private memory unless the
 * diagnosis asks for it. */
static bool needs_hook(const instrumenter *in, LLVMValueRef pointer) {
  if (LLVMIsAGlobalVariable(base_of(pointer)))
    return false;
  return in->diagnose || space_of(address_space(pointer)) != WS_SPACE_PRIVATE;
}

static const hook *hook_for(const instrumenter *in, const ws_site *site) {
  if (site->atomic || site->space == WS_SPACE_ANY)
    return &in->access;
  switch (site->space) {
  case WS_SPACE_LDS:
    return site->writes ? &in->lds_store : &in->lds_load;
  case WS_SPACE_PRIVATE:
    return &in->private_access;
  default:
    return site->writes ? &in->global_store : &in->global_load;
  }
}

static void instrument_access(instrumenter *in, LLVMValueRef instruction,
                              LLVMValueRef pointer, LLVMTypeRef type,
                              bool reads, bool writes, bool atomic) {
  if (space_of(address_space(pointer)) == WS_SPACE_ANY &&
      address_space(pointer) != 0) {
    refuse(in, instruction, "this address space");
    return;
  }
  if (!needs_hook(in, pointer))
    return;
  ws_site *site = new_site(in, instruction);
  site->space = space_of(address_space(pointer));
  site->reads = reads;
  site->writes = writes;
  site->atomic = atomic;
  site->size = (uint32_t)LLVMStoreSizeOfType(in->host_layout, type);
  site->alignment = LLVMGetAlignment(instruction);
  LLVMPositionBuilderBefore(in->builder, instruction);
  call_hook(in, hook_for(in, site), site, flat(in, pointer), NULL);
}

static void instrument_range(instrumenter *in, LLVMValueRef call,
                             LLVMValueRef pointer, LLVMValueRef size,
                             bool reads, bool writes) {
  if (!needs_hook(in, pointer))
    return;
  ws_site *site = new_site(in, call);
  site->space = space_of(address_space(pointer));
  site->reads = reads;
  site->writes = writes;
  LLVMPositionBuilderBefore(in->builder, call);
  call_hook(in, &in->range, site, flat(in, pointer),
            LLVMBuildZExtOrBitCast(in->builder, size, in->i64, ""));
}

/* ---- private variables ----------------------------------------------- */

/* false, with a finding, when a lane's stack might not hold the variable. */
static bool count_private(instrumenter *in, LLVMValueRef alloca_,
                          uint64_t *out_size) {
  LLVMValueRef count = LLVMGetOperand(alloca_, 0);
  if (!LLVMIsAConstantInt(count)) {
    refuse(in, alloca_, "a variable whose size is not constant");
    return false;
  }
  *out_size = LLVMConstIntGetZExtValue(count) *
              LLVMABISizeOfType(in->host_layout, LLVMGetAllocatedType(alloca_));
  in->private_bytes += *out_size;
  if (in->private_bytes <= WS_PRIVATE_MAX)
    return true;
  in->failed = true;
  ws__fault(WS_FAULT_STACK_OVERFLOW, new_site(in, alloca_),
            "with this variable of %llu bytes, private variables take more "
            "than %d KiB",
            (unsigned long long)*out_size, WS_PRIVATE_MAX >> 10);
  return false;
}

/* All ones: NaN as float, half and bfloat, far out of range as an index. */
static void poison_alloca(instrumenter *in, LLVMValueRef alloca_) {
  uint64_t size;
  if (!count_private(in, alloca_, &size))
    return;
  LLVMValueRef bytes = LLVMConstInt(in->i64, size, false);
  LLVMPositionBuilderBefore(in->builder, LLVMGetNextInstruction(alloca_));
  if (in->diagnose)
    call_hook(in, &in->alloca_, new_site(in, alloca_), flat(in, alloca_),
              bytes);
  if (size == 4 || size == 8) {
    LLVMTypeRef integer = LLVMIntTypeInContext(in->context, (unsigned)size * 8);
    LLVMSetAlignment(
        LLVMBuildStore(in->builder, LLVMConstAllOnes(integer), alloca_), 1);
    return;
  }
  LLVMBuildMemSet(in->builder, alloca_, LLVMConstInt(in->i8, 0xff, false),
                  bytes, 1);
}

/* ---- intrinsics ------------------------------------------------------ */

/* One block of stack per function for operands and results: only one
 * operation of a lane is under way at a time. */
static LLVMValueRef frame_of(instrumenter *in, LLVMValueRef instruction) {
  if (in->frame)
    return in->frame;
  LLVMValueRef function =
      LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
  LLVMPositionBuilderBefore(in->builder, LLVMGetFirstInstruction(entry));
  in->frame = LLVMBuildAlloca(
      in->builder, LLVMArrayType2(in->i8, WS_FRAME_BYTES), "ws.frame");
  LLVMSetAlignment(in->frame, 16);
  return in->frame;
}

static LLVMValueRef at_offset(instrumenter *in, LLVMValueRef frame,
                              unsigned offset) {
  LLVMValueRef index = LLVMConstInt(in->i64, offset, false);
  return offset ? LLVMBuildGEP2(in->builder, in->i8, frame, &index, 1, "")
                : frame;
}

static unsigned slot_size(const instrumenter *in, LLVMTypeRef type) {
  uint64_t size = LLVMStoreSizeOfType(in->host_layout, type);
  return size > WS_FRAME_BYTES ? WS_FRAME_BYTES + 16
                               : ((unsigned)size + 15) / 16 * 16;
}

/* Result first, operands after it; constants stay in the site. false: they do
 * not fit. */
static bool lay_out_frame(instrumenter *in, LLVMValueRef call, ws_site *site) {
  LLVMTypeRef result = LLVMTypeOf(call);
  unsigned offset = 0;
  if (LLVMGetTypeKind(result) != LLVMVoidTypeKind) {
    site->result_size = (uint16_t)LLVMStoreSizeOfType(in->host_layout, result);
    offset = slot_size(in, result);
  }
  site->operand_count = (int)LLVMGetNumArgOperands(call);
  if (site->operand_count > WS_MAX_OPERANDS)
    return false;
  for (int i = 0; i < site->operand_count && offset <= WS_FRAME_BYTES; i++) {
    LLVMValueRef operand = LLVMGetOperand(call, (unsigned)i);
    if (LLVMIsAConstantInt(operand))
      site->immediate[i] = LLVMConstIntGetSExtValue(operand);
    site->offset[i] = (uint16_t)offset;
    offset += slot_size(in, LLVMTypeOf(operand));
  }
  return offset <= WS_FRAME_BYTES;
}

static void replace_operation(instrumenter *in, LLVMValueRef call,
                              const ws_operation *operation) {
  if (operation->kind == WS_OPERATION_NONE) {
    LLVMInstructionEraseFromParent(call);
    return;
  }
  ws_site *site = new_site(in, call);
  site->operation = operation;
  if (!lay_out_frame(in, call, site)) {
    refuse(in, call, "so large operands of an intrinsic");
    return;
  }
  LLVMValueRef frame = frame_of(in, call);
  LLVMPositionBuilderBefore(in->builder, call);
  for (int i = 0; i < site->operand_count; i++)
    LLVMSetAlignment(LLVMBuildStore(in->builder,
                                    LLVMGetOperand(call, (unsigned)i),
                                    at_offset(in, frame, site->offset[i])),
                     16);
  call_hook(in, &in->operation, site, frame, NULL);
  if (site->result_size) {
    LLVMValueRef result =
        LLVMBuildLoad2(in->builder, LLVMTypeOf(call), frame, "");
    LLVMSetAlignment(result, 16);
    LLVMReplaceAllUsesWith(call, result);
  }
  LLVMInstructionEraseFromParent(call);
}

static bool starts_with(const char *text, const char *prefix) {
  return !strncmp(text, prefix, strlen(prefix));
}

static bool is_narrow(const instrumenter *in, LLVMValueRef fence) {
  static const char *const narrow[] = {"workgroup", "wavefront",
                                       "singlethread"};
  unsigned id = LLVMGetAtomicSyncScopeID(fence);
  for (int i = 0; i < 3; i++)
    if (id == LLVMGetSyncScopeID(in->context, narrow[i], strlen(narrow[i])))
      return true;
  return false;
}

/* An acquire fence for more than the workgroup orders this workgroup after
 * those that released before it. The lanes share one host thread, so that the
 * fence itself has nothing to do. */
static void instrument_fence(instrumenter *in, LLVMValueRef fence) {
  if (LLVMGetOrdering(fence) != LLVMAtomicOrderingRelease &&
      !is_narrow(in, fence)) {
    LLVMPositionBuilderBefore(in->builder, fence);
    call_hook(in, &in->fence, new_site(in, fence), NULL, NULL);
  }
  LLVMInstructionEraseFromParent(fence);
}

/* Scalar integer min and max as a comparison and a select: fast instruction
 * selection knows these, and not the intrinsics. */
static bool expand_min_max(instrumenter *in, LLVMValueRef call,
                           const char *name) {
  static const struct {
    const char *name;
    LLVMIntPredicate first_wins;
  } known[] = {{"llvm.umin.i", LLVMIntULT},
               {"llvm.umax.i", LLVMIntUGT},
               {"llvm.smin.i", LLVMIntSLT},
               {"llvm.smax.i", LLVMIntSGT}};
  for (int i = 0; i < 4; i++) {
    if (!starts_with(name, known[i].name))
      continue;
    LLVMValueRef a = LLVMGetOperand(call, 0), b = LLVMGetOperand(call, 1);
    LLVMPositionBuilderBefore(in->builder, call);
    LLVMValueRef first =
        LLVMBuildICmp(in->builder, known[i].first_wins, a, b, "");
    LLVMReplaceAllUsesWith(call, LLVMBuildSelect(in->builder, first, a, b, ""));
    LLVMInstructionEraseFromParent(call);
    return true;
  }
  return false;
}

/* Intrinsics with a pointer operand that access no memory. */
static bool only_mentions_pointer(const char *name) {
  static const char *const prefixes[] = {"llvm.lifetime.",
                                         "llvm.invariant.",
                                         "llvm.launder.",
                                         "llvm.strip.",
                                         "llvm.prefetch",
                                         "llvm.assume",
                                         "llvm.dbg.",
                                         "llvm.ptrmask",
                                         "llvm.objectsize",
                                         "llvm.is.constant",
                                         "llvm.experimental.noalias"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (starts_with(name, prefixes[i]))
      return true;
  return false;
}

static bool has_pointer_operand(LLVMValueRef call) {
  for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
    if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, i))) ==
        LLVMPointerTypeKind)
      return true;
  return false;
}

static void instrument_call(instrumenter *in, LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  if (!LLVMIsAFunction(callee)) {
    refuse(in, call, "inline assembly or calls through pointers");
    return;
  }
  LLVMSetInstructionCallConv(call, LLVMCCallConv);
  if (!LLVMIsDeclaration(callee))
    return;
  size_t length;
  const char *name = LLVMGetValueName2(callee, &length);
  const ws_operation *operation = ws__operation_find(name);
  if (operation) {
    replace_operation(in, call, operation);
  } else if (expand_min_max(in, call, name)) {
    return;
  } else if (starts_with(name, "llvm.memcpy.") ||
             starts_with(name, "llvm.memmove.")) {
    LLVMValueRef size = LLVMGetOperand(call, 2);
    instrument_range(in, call, LLVMGetOperand(call, 1), size, true, false);
    instrument_range(in, call, LLVMGetOperand(call, 0), size, false, true);
  } else if (starts_with(name, "llvm.memset.")) {
    instrument_range(in, call, LLVMGetOperand(call, 0), LLVMGetOperand(call, 2),
                     false, true);
  } else if (!starts_with(name, "llvm.") || starts_with(name, "llvm.amdgcn.") ||
             (has_pointer_operand(call) && !only_mentions_pointer(name))) {
    refuse(in, call, name);
  }
}

/* ---- functions ------------------------------------------------------- */

static void instrument_instruction(instrumenter *in, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMLoad:
    instrument_access(in, i, LLVMGetOperand(i, 0), LLVMTypeOf(i), true, false,
                      LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic);
    break;
  case LLVMStore:
    instrument_access(in, i, LLVMGetOperand(i, 1),
                      LLVMTypeOf(LLVMGetOperand(i, 0)), false, true,
                      LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic);
    break;
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg:
    instrument_access(in, i, LLVMGetOperand(i, 0),
                      LLVMTypeOf(LLVMGetOperand(i, 1)), true, true, true);
    break;
  case LLVMFence:
    instrument_fence(in, i);
    break;
  case LLVMAlloca:
    poison_alloca(in, i);
    break;
  case LLVMCall:
    instrument_call(in, i);
    break;
  case LLVMInvoke:
  case LLVMCallBr:
  case LLVMVAArg:
    refuse(in, i, "this instruction");
    break;
  default:
    break;
  }
}

/* Parameters are constants, so most branches on them are decided: what they
 * rule out need not be compiled. The pass removes nothing else; it is run
 * after LDS has become addresses, so it cannot track LDS variables. */
static bool fold_parameters(LLVMModuleRef module) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(module, "ipsccp,globaldce", NULL, options);
  LLVMDisposePassBuilderOptions(options);
  if (error)
    ws__fault(WS_FAULT_NO_HOST_MODEL, NULL, "%s", LLVMGetErrorMessage(error));
  return !error;
}

/* Addresses of LDS variables are constant expressions, which fast instruction
 * selection does not take as operands: make them instructions. (A builder
 * would fold the cast of a constant; it does not fold a freeze.) */
static void materialise_addresses(instrumenter *in, LLVMValueRef instruction) {
  if (LLVMIsAPHINode(instruction))
    return;
  for (int i = 0; i < LLVMGetNumOperands(instruction); i++) {
    LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);
    if (!LLVMIsAConstantExpr(operand) ||
        LLVMGetConstOpcode(operand) != LLVMIntToPtr)
      continue;
    LLVMPositionBuilderBefore(in->builder, instruction);
    LLVMValueRef address =
        LLVMBuildFreeze(in->builder, LLVMGetOperand(operand, 0), "");
    LLVMSetOperand(
        instruction, (unsigned)i,
        LLVMBuildIntToPtr(in->builder, address, LLVMTypeOf(operand), ""));
  }
}

static void instrument_function(instrumenter *in, LLVMValueRef function) {
  int count = 0, capacity = 0;
  WS_FOR_EACH_INSTRUCTION(function, counted_block, counted)
  capacity += counted != NULL;
  LLVMValueRef *list =
      ws_arena_alloc(in->program->arena, (size_t)capacity * sizeof *list);
  WS_FOR_EACH_INSTRUCTION(function, block, instruction)
  list[count++] = instruction;
  in->frame = NULL;
  for (int i = 0; i < count; i++) {
    materialise_addresses(in, list[i]);
    instrument_instruction(in, list[i]);
  }
  LLVMSetFunctionCallConv(function, LLVMCCallConv);
  static const char *const target_attributes[] = {"target-cpu",
                                                  "target-features"};
  for (int i = 0; i < 2; i++)
    LLVMRemoveStringAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                     target_attributes[i],
                                     (unsigned)strlen(target_attributes[i]));
}

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

static void drop_unreached(instrumenter *in, reach *reached) {
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

static int collect_lds(instrumenter *in, reach *reached,
                       lds_global globals[WS_MAX_LDS_GLOBALS]) {
  int count = 0;
  for (LLVMValueRef g = LLVMGetFirstGlobal(in->module); g;
       g = LLVMGetNextGlobal(g)) {
    if (address_space(g) != 3 || count == WS_MAX_LDS_GLOBALS)
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
static void lay_out_lds(instrumenter *in, reach *reached) {
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
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(type) == 32;
  return pointer;
}

static bool launch_is_sound(instrumenter *in, const ws_launch *launch,
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
static void add_wrapper(instrumenter *in, LLVMValueRef kernel, int index) {
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
                       at_offset(in, LLVMGetParam(wrapper, 0), i * 8), "");
  LLVMBuildCall2(in->builder, LLVMGlobalGetValueType(kernel), kernel, arguments,
                 count, "");
  LLVMBuildRetVoid(in->builder);
}

/* ---- all of it ------------------------------------------------------- */

static hook declare_hook(instrumenter *in, const char *name, int arguments,
                         LLVMTypeRef second) {
  LLVMTypeRef types[3] = {in->i64, second, in->i64};
  LLVMTypeRef type =
      LLVMFunctionType(in->nothing, types, (unsigned)arguments, false);
  return (hook){LLVMAddFunction(in->module, name, type), type};
}

static void declare_hooks(instrumenter *in) {
  in->lds_load = declare_hook(in, "ws__hook_lds_load", 2, in->i64);
  in->lds_store = declare_hook(in, "ws__hook_lds_store", 2, in->i64);
  in->global_load = declare_hook(in, "ws__hook_global_load", 2, in->i64);
  in->global_store = declare_hook(in, "ws__hook_global_store", 2, in->i64);
  in->access = declare_hook(in, "ws__hook_access", 2, in->i64);
  in->range = declare_hook(in, "ws__hook_range", 3, in->i64);
  in->fence = declare_hook(in, "ws__hook_fence", 1, in->i64);
  in->private_access = declare_hook(in, "ws__hook_private", 2, in->i64);
  in->alloca_ = declare_hook(in, "ws__hook_alloca", 3, in->i64);
  in->operation = declare_hook(in, "ws__hook_operation", 2, in->frame_pointer);
}

static void find_kernels(instrumenter *in, LLVMValueRef *kernels,
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

static void rewrite_module(instrumenter *in) {
  LLVMValueRef kernels[WS_TEMPLATE_MAX_LAUNCHES] = {NULL};
  reach *reached = ws_arena_alloc(in->program->arena, sizeof *reached);
  find_kernels(in, kernels, reached);
  if (in->failed)
    return;
  drop_unreached(in, reached);
  lay_out_lds(in, reached);
  if (in->failed || !fold_parameters(in->module))
    return;
  declare_hooks(in);
  for (LLVMValueRef f = LLVMGetFirstFunction(in->module); f;
       f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      instrument_function(in, f);
  for (int i = 0; i < in->program->entry_count; i++)
    if (kernels[i])
      add_wrapper(in, kernels[i], i);
}

LLVMModuleRef ws__instrument(LLVMModuleRef module, const ws_template *tmpl,
                             const ws_problem *problem, uint32_t launches,
                             bool diagnose, LLVMTargetMachineRef machine,
                             const char *layout, ws_program *out_program) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  instrumenter in = {.module = LLVMCloneModule(module),
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
