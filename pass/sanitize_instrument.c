/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Puts hooks into one function: before every memory access, in the place of
 * every llvm.amdgcn call; and poisons private variables. The order matters
 * only in so far as what is inserted here is not instrumented again, so the
 * instructions are listed first.
 */
#include "sanitize_instrument.h"
#include "check.h"
#include "parse.h"
#include "wavesmith/target.h"

#include <stdio.h>
#include <string.h>

/* ---- sites ----------------------------------------------------------- */

static const char *interned(ws_instrumenter *in, const char **last,
                            const char *text) {
  if (!text)
    text = "";
  if (!*last || strcmp(*last, text))
    *last = ws_arena_strdup(in->program->arena, text);
  return *last;
}

static ws_site *new_site(ws_instrumenter *in, LLVMValueRef instruction) {
  ws_site *site = ws_arena_alloc(in->program->arena, sizeof *site);
  const char *file = NULL;
  site->line = ws_pass_line(instruction, &file);
  site->column = ws_pass_column(instruction);
  site->file = interned(in, &in->last_file, file);
  site->region = interned(in, &in->last_region, ws_pass_region_of(instruction));
  site->number = in->site_count++;
  site->next = in->program->sites;
  in->program->sites = site;
  site->alignment = 1;
  return site;
}

static void refuse_as(ws_instrumenter *in, ws_fault fault,
                      LLVMValueRef instruction, const char *what) {
  in->failed = true;
  ws__fault(fault, new_site(in, instruction),
            "the sanitizer has no model of %s", what);
}

static void refuse(ws_instrumenter *in, LLVMValueRef instruction,
                   const char *what) {
  refuse_as(in, WS_FAULT_NO_HOST_MODEL, instruction, what);
}

/* An intrinsic that candidates may use is for others to judge. */
static void refuse_intrinsic(ws_instrumenter *in, LLVMValueRef call,
                             const char *name) {
  const ws_target *target = ws_target_find(in->tmpl->target);
  bool allowed =
      target && !ws__intrinsic_refusal(ws__intrinsic_traits(name, target));
  refuse_as(in, allowed ? WS_FAULT_NOT_MODELLED : WS_FAULT_NO_HOST_MODEL, call,
            name);
}

/* Sites outlive the code, so their addresses are constants in it. */
static LLVMValueRef site_constant(ws_instrumenter *in, const ws_site *site) {
  return LLVMConstInt(in->i64, (uintptr_t)site, false);
}

static void call_hook(ws_instrumenter *in, const ws_hook *to, ws_site *site,
                      LLVMValueRef pointer, LLVMValueRef size) {
  LLVMValueRef arguments[3] = {site_constant(in, site), pointer, size};
  LLVMBuildCall2(in->builder, to->type, to->function, arguments,
                 LLVMCountParamTypes(to->type), "");
}

static LLVMValueRef flat(ws_instrumenter *in, LLVMValueRef pointer) {
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

unsigned ws__address_space(LLVMValueRef pointer) {
  return LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));
}

/* No hook for constants of the module, nor for private memory unless the
 * diagnosis asks for it. */
static bool needs_hook(const ws_instrumenter *in, LLVMValueRef pointer) {
  if (LLVMIsAGlobalVariable(base_of(pointer)))
    return false;
  return in->diagnose ||
         space_of(ws__address_space(pointer)) != WS_SPACE_PRIVATE;
}

static const ws_hook *hook_for(const ws_instrumenter *in, const ws_site *site) {
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

static void name_offset(const ws_instrumenter *in, ws_site *site,
                        LLVMValueRef pointer) {
  const ws_region *region = ws__offset_region(in->tmpl, pointer);
  site->offset_region = region ? region->function : NULL;
}

static bool may_be_private(LLVMValueRef pointer) {
  ws_space space = space_of(ws__address_space(pointer));
  return space == WS_SPACE_PRIVATE || space == WS_SPACE_ANY;
}

/* An access of a private variable that may lie outside of it. size: in bytes,
 * constant or not. */
static void watch_variable(ws_instrumenter *in, LLVMValueRef instruction,
                           LLVMValueRef pointer, LLVMValueRef size) {
  ws_private_window window;
  int64_t bytes =
      LLVMIsAConstantInt(size) ? LLVMConstIntGetSExtValue(size) : -1;
  if (!may_be_private(pointer) ||
      !ws__private_window(in, pointer, bytes, &window))
    return;
  ws_site *site = new_site(in, instruction);
  site->space = WS_SPACE_PRIVATE;
  site->begin = window.begin;
  site->end = window.end;
  LLVMPositionBuilderBefore(in->builder, instruction);
  LLVMValueRef arguments[4] = {
      site_constant(in, site), flat(in, pointer),
      LLVMBuildZExtOrBitCast(in->builder, size, in->i64, ""),
      flat(in, window.base)};
  LLVMBuildCall2(in->builder, in->variable.type, in->variable.function,
                 arguments, 4, "");
}

static void instrument_access(ws_instrumenter *in, LLVMValueRef instruction,
                              LLVMValueRef pointer, LLVMTypeRef type,
                              bool reads, bool writes, bool atomic) {
  if (space_of(ws__address_space(pointer)) == WS_SPACE_ANY &&
      ws__address_space(pointer) != 0) {
    refuse(in, instruction, "this address space");
    return;
  }
  uint64_t size = LLVMStoreSizeOfType(in->host_layout, type);
  watch_variable(in, instruction, pointer, LLVMConstInt(in->i64, size, false));
  if (!needs_hook(in, pointer))
    return;
  ws_site *site = new_site(in, instruction);
  site->space = space_of(ws__address_space(pointer));
  site->reads = reads;
  site->writes = writes;
  site->atomic = atomic;
  site->size = (uint32_t)size;
  site->alignment = LLVMGetAlignment(instruction);
  if (site->space == WS_SPACE_LDS || site->space == WS_SPACE_ANY)
    site->pattern = ws_arena_alloc(in->program->arena, sizeof *site->pattern);
  if (site->space == WS_SPACE_LDS)
    name_offset(in, site, pointer);
  LLVMPositionBuilderBefore(in->builder, instruction);
  call_hook(in, hook_for(in, site), site, flat(in, pointer), NULL);
}

/* Of a copy's pointer: what the call says of it. */
static uint32_t stated_alignment(LLVMValueRef call, unsigned operand) {
  LLVMAttributeRef align = LLVMGetCallSiteEnumAttribute(
      call, operand + 1, LLVMGetEnumAttributeKindForName("align", 5));
  return align ? (uint32_t)LLVMGetEnumAttributeValue(align) : 1;
}

static void instrument_range(ws_instrumenter *in, LLVMValueRef call,
                             unsigned operand, LLVMValueRef size, bool reads,
                             bool writes) {
  LLVMValueRef pointer = LLVMGetOperand(call, operand);
  watch_variable(in, call, pointer, size);
  if (!needs_hook(in, pointer))
    return;
  ws_site *site = new_site(in, call);
  site->alignment = stated_alignment(call, operand);
  site->space = space_of(ws__address_space(pointer));
  site->reads = reads;
  site->writes = writes;
  LLVMPositionBuilderBefore(in->builder, call);
  call_hook(in, &in->range, site, flat(in, pointer),
            LLVMBuildZExtOrBitCast(in->builder, size, in->i64, ""));
}

/* ---- private variables ----------------------------------------------- */

/* false, with a finding, when a lane's stack might not hold the variable. */
static bool count_private(ws_instrumenter *in, LLVMValueRef alloca_,
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
static void poison_alloca(ws_instrumenter *in, LLVMValueRef alloca_) {
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
static LLVMValueRef frame_of(ws_instrumenter *in, LLVMValueRef instruction) {
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

LLVMValueRef ws__at_offset(ws_instrumenter *in, LLVMValueRef frame,
                           unsigned offset) {
  LLVMValueRef index = LLVMConstInt(in->i64, offset, false);
  return offset ? LLVMBuildGEP2(in->builder, in->i8, frame, &index, 1, "")
                : frame;
}

static unsigned slot_size(const ws_instrumenter *in, LLVMTypeRef type) {
  uint64_t size = LLVMStoreSizeOfType(in->host_layout, type);
  return size > WS_FRAME_BYTES ? WS_FRAME_BYTES + 16
                               : ((unsigned)size + 15) / 16 * 16;
}

/* Is this operand a constant by the intrinsic's definition? */
static bool is_immediate(LLVMValueRef callee, unsigned operand) {
  static const char name[] = "immarg";
  unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
  return LLVMGetEnumAttributeAtIndex(callee, operand + 1, kind) != NULL;
}

/* Result first, operands after it. Immediate operands stay in the site, offset
 * 0. false: they do not fit. */
static bool lay_out_frame(ws_instrumenter *in, LLVMValueRef call,
                          ws_site *site) {
  LLVMTypeRef result = LLVMTypeOf(call);
  LLVMValueRef callee = LLVMGetCalledValue(call);
  unsigned offset = 16;
  if (LLVMGetTypeKind(result) != LLVMVoidTypeKind) {
    site->result_size = (uint16_t)LLVMStoreSizeOfType(in->host_layout, result);
    offset = slot_size(in, result);
  }
  site->operand_count = (int)LLVMGetNumArgOperands(call);
  if (site->operand_count > WS_MAX_OPERANDS)
    return false;
  for (int i = 0; i < site->operand_count && offset <= WS_FRAME_BYTES; i++) {
    LLVMValueRef operand = LLVMGetOperand(call, (unsigned)i);
    if (is_immediate(callee, (unsigned)i) && LLVMIsAConstantInt(operand)) {
      site->immediate[i] = LLVMConstIntGetSExtValue(operand);
      continue;
    }
    site->offset[i] = (uint16_t)offset;
    offset += slot_size(in, LLVMTypeOf(operand));
  }
  return offset <= WS_FRAME_BYTES;
}

/* What the memory hooks want to know of an operation that accesses it. */
static void describe_access(ws_instrumenter *in, LLVMValueRef call,
                            ws_site *site) {
  ws_operation_kind kind = site->operation->kind;
  site->space = WS_SPACE_GLOBAL;
  site->writes = kind == WS_OPERATION_ACCESS && !site->result_size;
  site->reads = !site->writes;
  if (kind == WS_OPERATION_ACCESS)
    site->size = (uint32_t)LLVMStoreSizeOfType(
        in->host_layout,
        LLVMTypeOf(site->reads ? call : LLVMGetOperand(call, 0)));
  if (kind != WS_OPERATION_TO_LDS)
    return;
  site->size = (uint32_t)site->immediate[2];
  site->lds = new_site(in, call);
  site->lds->space = WS_SPACE_LDS;
  site->lds->writes = true;
  site->lds->size = site->lds->alignment = 4;
  site->lds->pattern = ws_arena_alloc(in->program->arena, sizeof(ws_pattern));
}

static void replace_operation(ws_instrumenter *in, LLVMValueRef call,
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
  describe_access(in, call, site);
  if (site->lds && site->size > 4) {
    refuse_as(in, WS_FAULT_NOT_MODELLED, call, "so wide a load to LDS");
    return;
  }
  LLVMValueRef frame = frame_of(in, call);
  LLVMPositionBuilderBefore(in->builder, call);
  for (int i = 0; i < site->operand_count; i++) {
    if (!site->offset[i])
      continue;
    LLVMValueRef slot = ws__at_offset(in, frame, site->offset[i]);
    LLVMSetAlignment(
        LLVMBuildStore(in->builder, LLVMGetOperand(call, (unsigned)i), slot),
        16);
  }
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

static bool is_narrow(const ws_instrumenter *in, LLVMValueRef fence) {
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
static void instrument_fence(ws_instrumenter *in, LLVMValueRef fence) {
  if (LLVMGetOrdering(fence) != LLVMAtomicOrderingRelease &&
      !is_narrow(in, fence)) {
    LLVMPositionBuilderBefore(in->builder, fence);
    call_hook(in, &in->fence, new_site(in, fence), NULL, NULL);
  }
  LLVMInstructionEraseFromParent(fence);
}

/* Scalar integer min and max as a comparison and a select: fast instruction
 * selection knows these, and not the intrinsics. */
static bool expand_min_max(ws_instrumenter *in, LLVMValueRef call,
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

/* It computes nothing; check_asm.c lets it pass. */
static bool is_empty_assembly(LLVMValueRef call, LLVMValueRef callee) {
  size_t size = 1;
  if (LLVMIsAInlineAsm(callee) &&
      LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind)
    LLVMGetInlineAsmAsmString(callee, &size);
  return size == 0;
}

static void instrument_call(ws_instrumenter *in, LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  if (is_empty_assembly(call, callee)) {
    LLVMInstructionEraseFromParent(call);
    return;
  }
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
    instrument_range(in, call, 1, size, true, false);
    instrument_range(in, call, 0, size, false, true);
  } else if (starts_with(name, "llvm.memset.")) {
    instrument_range(in, call, 0, LLVMGetOperand(call, 2), false, true);
  } else if (!starts_with(name, "llvm.") || starts_with(name, "llvm.amdgcn.") ||
             (has_pointer_operand(call) && !only_mentions_pointer(name))) {
    refuse_intrinsic(in, call, name);
  }
}

/* ---- functions ------------------------------------------------------- */

static void instrument_instruction(ws_instrumenter *in, LLVMValueRef i) {
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

/* Addresses of LDS variables are constant expressions, which fast instruction
 * selection does not take as operands: make them instructions. (A builder
 * would fold the cast of a constant; it does not fold a freeze.) */
static void materialise_addresses(ws_instrumenter *in,
                                  LLVMValueRef instruction) {
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

/* Nothing unwinds through a lane, so it needs no tables for that. */
void ws__make_host_function(ws_instrumenter *in, LLVMValueRef function) {
  static const char *const of_target[] = {"target-cpu", "target-features"};
  for (int i = 0; i < 2; i++)
    LLVMRemoveStringAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                     of_target[i],
                                     (unsigned)strlen(of_target[i]));
  LLVMSetFunctionCallConv(function, LLVMCCallConv);
  unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
  unsigned uwtable = LLVMGetEnumAttributeKindForName("uwtable", 7);
  LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, uwtable);
  LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(in->context, nounwind, 0));
}

void ws__instrument_function(ws_instrumenter *in, LLVMValueRef function) {
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
  ws__make_host_function(in, function);
}

/* ---- hooks ------------------------------------------------------------ */

static ws_hook declare_hook(ws_instrumenter *in, const char *name,
                            int arguments, LLVMTypeRef second) {
  LLVMTypeRef types[4] = {in->i64, second, in->i64, in->i64};
  LLVMTypeRef type =
      LLVMFunctionType(in->nothing, types, (unsigned)arguments, false);
  return (ws_hook){LLVMAddFunction(in->module, name, type), type};
}

void ws__instrument_declare_hooks(ws_instrumenter *in) {
  in->lds_load = declare_hook(in, "ws__hook_lds_load", 2, in->i64);
  in->lds_store = declare_hook(in, "ws__hook_lds_store", 2, in->i64);
  in->global_load = declare_hook(in, "ws__hook_global_load", 2, in->i64);
  in->global_store = declare_hook(in, "ws__hook_global_store", 2, in->i64);
  in->access = declare_hook(in, "ws__hook_access", 2, in->i64);
  in->range = declare_hook(in, "ws__hook_range", 3, in->i64);
  in->fence = declare_hook(in, "ws__hook_fence", 1, in->i64);
  in->private_access = declare_hook(in, "ws__hook_private", 2, in->i64);
  in->variable = declare_hook(in, "ws__hook_variable", 4, in->i64);
  in->alloca_ = declare_hook(in, "ws__hook_alloca", 3, in->i64);
  in->operation = declare_hook(in, "ws__hook_operation", 2, in->frame_pointer);
}
