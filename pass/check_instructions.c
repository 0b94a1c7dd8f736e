/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The static check of one instruction at a time: types, intrinsics, calls,
 * atomics, casts, and what kernels have no use for. One table says which
 * opcodes are looked at.
 */
#include "check.h"
#include "lane_patterns.h"
#include "nvptx_expand.h"
#include "template_ir.h"

#include <llvm-c/Target.h>
#include <string.h>

#define REPORT ws__check_report

static const char *name_of(LLVMValueRef value) {
  size_t size;
  return LLVMGetValueName2(value, &size);
}

LLVMValueRef ws__called_function(LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  return LLVMIsAFunction(callee) ? callee : NULL;
}

unsigned ws__call_traits(const ws_checker *checker, LLVMValueRef instruction) {
  LLVMValueRef callee =
      LLVMIsACallInst(instruction) ? ws__called_function(instruction) : NULL;
  if (!callee || !LLVMIsDeclaration(callee))
    return 0;
  return ws__intrinsic_traits(name_of(callee), checker->target);
}

/* ---- types --------------------------------------------------------------- */

/* Odd widths come from vectors of i1 that are taken for a number, and LLVM's
 * code generators know all of them. */
enum { MAX_INTEGER_BITS = 64 };

static bool scalar_allowed(const ws_checker *checker, LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
  case LLVMHalfTypeKind:
  case LLVMBFloatTypeKind:
  case LLVMFloatTypeKind:
  case LLVMDoubleTypeKind:
    return true;
  case LLVMIntegerTypeKind:
    return LLVMGetIntTypeWidth(type) <= MAX_INTEGER_BITS;
  case LLVMPointerTypeKind: {
    unsigned space = LLVMGetPointerAddressSpace(type);
    return space == WS_SPACE_FLAT || space == WS_SPACE_GLOBAL ||
           space == WS_SPACE_LDS || space == WS_SPACE_CONSTANT ||
           (checker->family->family == WS_FAMILY_NVPTX
                ? space == WS_SPACE_CLUSTER
                : space == WS_SPACE_PRIVATE);
  }
  default:
    return false;
  }
}

static bool type_allowed(const ws_checker *checker, LLVMTypeRef type) {
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(checker->module);
  enum { MAX_VECTOR_BITS = 1024, MAX_DEPTH = 8 };
  for (int depth = 0; depth < MAX_DEPTH; depth++) {
    switch (LLVMGetTypeKind(type)) {
    case LLVMVoidTypeKind:
    case LLVMLabelTypeKind:
    case LLVMMetadataTypeKind:
      return true;
    case LLVMArrayTypeKind:
      type = LLVMGetElementType(type);
      break;
    case LLVMVectorTypeKind:
      return scalar_allowed(checker, LLVMGetElementType(type)) &&
             LLVMSizeOfTypeInBits(layout, type) <= MAX_VECTOR_BITS;
    case LLVMStructTypeKind:
      for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
        if (!type_allowed(checker, LLVMStructGetTypeAtIndex(type, i)))
          return false;
      return true;
    default:
      return scalar_allowed(checker, type);
    }
  }
  return false;
}

void ws__check_type(const ws_checker *checker, LLVMValueRef place,
                    LLVMTypeRef type) {
  if (type_allowed(checker, type))
    return;
  char *text = LLVMPrintTypeToString(type);
  REPORT(checker, WS_CHECK_TYPE, place, "type %s is not supported", text);
  LLVMDisposeMessage(text);
}

/* LLVM aborts on intrinsics of a target whose type is an odd integer: they are
 * instructions, and nothing knows how to widen those. */
static void check_plain_type(const ws_checker *checker, LLVMValueRef call,
                             LLVMTypeRef type) {
  LLVMTypeRef scalar = LLVMGetTypeKind(type) == LLVMVectorTypeKind
                           ? LLVMGetElementType(type)
                           : type;
  if (LLVMGetTypeKind(scalar) != LLVMIntegerTypeKind)
    return;
  unsigned width = LLVMGetIntTypeWidth(scalar);
  if (width == 1 || width == 8 || width == 16 || width == 32 || width == 64)
    return;
  char *text = LLVMPrintTypeToString(type);
  REPORT(checker, WS_CHECK_INTRINSIC, call,
         "@%s has no form for type %s; extend it to i32 first",
         name_of(ws__called_function(call)), text);
  LLVMDisposeMessage(text);
}

static void check_plain_types(const ws_checker *checker, LLVMValueRef call) {
  const char *name = name_of(ws__called_function(call));
  if (strncmp(name, "llvm.amdgcn.", 12) && strncmp(name, "llvm.nvvm.", 10))
    return;
  check_plain_type(checker, call, LLVMTypeOf(call));
  for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
    check_plain_type(checker, call, LLVMTypeOf(LLVMGetOperand(call, i)));
}

/* ---- instructions -------------------------------------------------------- */

/* Traits that are refused, each by its check. */
static const struct refusal {
  unsigned trait;
  ws_check_id check;
  const char *text;
} refusals[] = {
    {WS_INTRINSIC_CLOCK, WS_CHECK_CLOCK, "reads a clock or hardware register"},
    {WS_INTRINSIC_TRAP, WS_CHECK_TRAP, "ends or stops a wave"},
    {WS_INTRINSIC_HOST, WS_CHECK_HOST_CALL, "reaches outside the kernel"},
    {WS_INTRINSIC_FPENV, WS_CHECK_FLOAT_ENVIRONMENT, "changes hardware modes"},
    {WS_INTRINSIC_UNLISTED, WS_CHECK_INTRINSIC, "is not on the allow list"},
};

static bool is_double(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
    type = LLVMGetElementType(type);
  return LLVMGetTypeKind(type) == LLVMDoubleTypeKind;
}

static void check_load_to_lds(const ws_checker *checker, LLVMValueRef call) {
  LLVMValueRef size = LLVMGetOperand(call, 2);
  unsigned long long bytes =
      LLVMIsAConstantInt(size) ? LLVMConstIntGetZExtValue(size) : 0;
  bool wide = !strcmp(checker->target->name, "gfx950");
  if (bytes == 1 || bytes == 2 || bytes == 4 ||
      (wide && (bytes == 12 || bytes == 16)))
    return;
  REPORT(checker, WS_CHECK_INTRINSIC, call,
         "a load to LDS of %llu bytes does not exist on %s (1, 2 or 4%s)",
         bytes, checker->target->name,
         wide ? ", 12, 16" : "; gfx950 has 12, 16");
}

static unsigned long long constant_or(LLVMValueRef value,
                                      unsigned long long otherwise) {
  return LLVMIsAConstantInt(value) ? LLVMConstIntGetZExtValue(value)
                                   : otherwise;
}

/* Operands: base, stride, num_records, the descriptor's last word. That has
 * selectors and formats in its low bits; without a data format (bits 18:15) the
 * descriptor counts as none, and above are modes. */
static void check_descriptor(const ws_checker *checker, LLVMValueRef call) {
  enum { STRIDE_UNKNOWN = 1 << 16, WORD_UNKNOWN = 0 };
  unsigned space =
      LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(call, 0)));
  unsigned long long word = constant_or(LLVMGetOperand(call, 3), WORD_UNKNOWN);
  if (space == WS_SPACE_LDS || space == WS_SPACE_PRIVATE)
    REPORT(checker, WS_CHECK_INTRINSIC, call,
           "a buffer resource of addrspace(%u), not of global memory", space);
  else if (constant_or(LLVMGetOperand(call, 1), STRIDE_UNKNOWN))
    REPORT(checker, WS_CHECK_INTRINSIC, call,
           "a buffer resource whose stride is not the constant 0");
  else if (word >> 19 || !(word >> 15))
    REPORT(checker, WS_CHECK_INTRINSIC, call,
           "a buffer resource whose flags are not the constant 159744 "
           "(0x27000) or another plain format of %s",
           checker->target->name);
}

static void report_other_target(const ws_checker *checker, LLVMValueRef call,
                                const char *name) {
  REPORT(checker, WS_CHECK_INTRINSIC, call,
         "@%s is not available on this target (%s), but on %s", name,
         checker->target->name, ws__intrinsic_owner(name));
}

/* The control is the operand before both masks and the bound's flag. */
static void check_dpp(const ws_checker *checker, LLVMValueRef call) {
  unsigned at = LLVMGetNumArgOperands(call) - 4;
  LLVMValueRef control = LLVMGetOperand(call, at);
  unsigned long long word =
      LLVMIsAConstantInt(control) ? LLVMConstIntGetZExtValue(control) : 0x1000;
  if (word > 0xfff || ws_dpp_source((uint32_t)word, 0) == WS_DPP_UNKNOWN)
    REPORT(checker, WS_CHECK_INTRINSIC, call,
           "DPP control 0x%llx does not exist on %s", word,
           checker->target->name);
}

/* LLVM aborts on others; one that is not constant is the verifier's. */
static void check_byte(const ws_checker *checker, LLVMValueRef call) {
  LLVMValueRef byte = LLVMGetOperand(call, LLVMGetNumArgOperands(call) - 1);
  long long index =
      LLVMIsAConstantInt(byte) ? LLVMConstIntGetSExtValue(byte) : -1;
  if (index < 0 || index > 3)
    REPORT(checker, WS_CHECK_INTRINSIC, call,
           "byte %lld of @%s does not exist (0 to 3)", index,
           name_of(ws__called_function(call)));
}

static void check_intrinsic(const ws_checker *checker, LLVMValueRef call,
                            LLVMValueRef callee) {
  const char *name = name_of(callee);
  unsigned traits = ws__intrinsic_traits(name, checker->target);
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    if (traits & refusals[i].trait) {
      REPORT(checker, refusals[i].check, call, "@%s %s (%s)", name,
             refusals[i].text, checker->target->name);
      return;
    }
  if (traits & WS_INTRINSIC_OTHER_TARGET) {
    report_other_target(checker, call, name);
    return;
  }
  if (!LLVMGetIntrinsicID(callee))
    REPORT(checker, WS_CHECK_INTRINSIC, call, "this LLVM has no @%s", name);
  else if (traits & WS_INTRINSIC_NARROW && is_double(LLVMTypeOf(call)))
    REPORT(checker, WS_CHECK_INTRINSIC, call,
           "@%s has no double form on GPUs; compute it in float", name);
  else if (traits & WS_INTRINSIC_COPIES)
    check_load_to_lds(checker, call);
  else if (traits & WS_INTRINSIC_POINTS)
    check_descriptor(checker, call);
  else if (traits & WS_INTRINSIC_DPP)
    check_dpp(checker, call);
  else if (traits & WS_INTRINSIC_BYTE)
    check_byte(checker, call);
  check_plain_types(checker, call);
}

/* A function that nvptx_expand.c makes assembly of. */
static void check_own_function(const ws_checker *checker, LLVMValueRef call,
                               LLVMValueRef callee) {
  if (ws__intrinsic_traits(name_of(callee), checker->target) &
      (WS_INTRINSIC_OTHER_TARGET | WS_INTRINSIC_UNLISTED))
    REPORT(checker, WS_CHECK_INTRINSIC, call,
           "@%s is not available on this target (%s)", name_of(callee),
           checker->target->name);
}

static void check_call(const ws_checker *checker, LLVMValueRef call) {
  LLVMValueRef target = LLVMGetCalledValue(call);
  LLVMValueRef callee = ws__called_function(call);
  if (LLVMIsAInlineAsm(target)) {
    ws__check_asm(checker, call);
  } else if (!callee) {
    REPORT(checker, WS_CHECK_INDIRECT_CALL, call, "call through a pointer");
  } else if (!strncmp(name_of(callee), "llvm.", 5)) {
    check_intrinsic(checker, call, callee);
  } else if (LLVMIsDeclaration(callee) && ws__nvptx_is_own(callee)) {
    check_own_function(checker, call, callee);
  } else if (LLVMIsDeclaration(callee)) {
    REPORT(checker, WS_CHECK_UNKNOWN_CALL, call, "@%s is not defined",
           name_of(callee));
  } else if (ws__is_kernel(callee)) {
    REPORT(checker, WS_CHECK_KERNEL_CALL, call, "@%s is a kernel",
           name_of(callee));
  }
}

static void check_alloca(const ws_checker *checker, LLVMValueRef alloca) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(alloca);
  LLVMValueRef function = LLVMGetBasicBlockParent(block);
  ws__check_type(checker, alloca, LLVMGetAllocatedType(alloca));
  if (!LLVMIsAConstantInt(LLVMGetOperand(alloca, 0)) ||
      block != LLVMGetEntryBasicBlock(function) ||
      LLVMGetPointerAddressSpace(LLVMTypeOf(alloca)) !=
          checker->family->private_space)
    REPORT(checker, WS_CHECK_DYNAMIC_ALLOCA, alloca,
           "an alloca outside the entry block, of variable size, or in "
           "another address space");
}

/* Flat on one side, or global and constant, which are the same memory. */
static void check_space_cast(const ws_checker *checker, LLVMValueRef cast) {
  LLVMTypeRef from_type = LLVMTypeOf(LLVMGetOperand(cast, 0));
  LLVMTypeRef to_type = LLVMTypeOf(cast);
  if (LLVMGetTypeKind(to_type) != LLVMPointerTypeKind)
    return;
  unsigned from = LLVMGetPointerAddressSpace(from_type);
  unsigned to = LLVMGetPointerAddressSpace(to_type);
  bool one_memory = (from == WS_SPACE_GLOBAL && to == WS_SPACE_CONSTANT) ||
                    (from == WS_SPACE_CONSTANT && to == WS_SPACE_GLOBAL);
  if (from != WS_SPACE_FLAT && to != WS_SPACE_FLAT && !one_memory)
    REPORT(checker, WS_CHECK_ADDRESS_SPACE, cast,
           "cast from addrspace(%u) to addrspace(%u)", from, to);
}

static void check_volatile(const ws_checker *checker, LLVMValueRef access) {
  if (LLVMGetVolatile(access))
    REPORT(checker, WS_CHECK_VOLATILE, access, "volatile access");
}

/* The narrower scopes by name; the default, "", is the whole system. */
static bool scope_allowed(const ws_checker *checker, LLVMValueRef access) {
  LLVMContextRef context = LLVMGetModuleContext(checker->module);
  unsigned scope = LLVMGetAtomicSyncScopeID(access);
  for (const char *const *name = checker->family->scopes; *name; name++)
    if (scope == LLVMGetSyncScopeID(context, *name, strlen(*name)))
      return true;
  return false;
}

/* A load, store, atomicrmw or cmpxchg with an ordering. */
static void check_atomic(const ws_checker *checker, LLVMValueRef access,
                         LLVMTypeRef type, LLVMValueRef pointer) {
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(checker->module);
  unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));
  unsigned long long bits = LLVMSizeOfTypeInBits(layout, type);
  if (bits != 32 && bits != 64)
    REPORT(checker, WS_CHECK_ATOMIC, access, "atomic of %llu bits", bits);
  else if (space != WS_SPACE_GLOBAL && space != WS_SPACE_LDS)
    REPORT(checker, WS_CHECK_ATOMIC, access, "atomic in addrspace(%u)", space);
  else if (!scope_allowed(checker, access))
    REPORT(checker, WS_CHECK_ATOMIC, access, "atomic of system scope");
}

static void check_load(const ws_checker *checker, LLVMValueRef load) {
  check_volatile(checker, load);
  if (LLVMGetOrdering(load) != LLVMAtomicOrderingNotAtomic)
    check_atomic(checker, load, LLVMTypeOf(load), LLVMGetOperand(load, 0));
}

static void check_store(const ws_checker *checker, LLVMValueRef store) {
  check_volatile(checker, store);
  if (LLVMGetOrdering(store) != LLVMAtomicOrderingNotAtomic)
    check_atomic(checker, store, LLVMTypeOf(LLVMGetOperand(store, 0)),
                 LLVMGetOperand(store, 1));
}

static void check_update(const ws_checker *checker, LLVMValueRef update) {
  check_volatile(checker, update);
  check_atomic(checker, update, LLVMTypeOf(LLVMGetOperand(update, 1)),
               LLVMGetOperand(update, 0));
}

static void check_fence(const ws_checker *checker, LLVMValueRef fence) {
  if (!scope_allowed(checker, fence))
    REPORT(checker, WS_CHECK_ATOMIC, fence, "fence of system scope");
}

/* LDS may be addressed by number where descriptors and assembly do so: it holds
 * nothing that is not the kernel's own. */
static void check_inttoptr(const ws_checker *checker, LLVMValueRef at,
                           LLVMTypeRef type) {
  bool own =
      checker->family->family == WS_FAMILY_NVPTX && !ws__points_outside(type);
  if (!own)
    REPORT(checker, WS_CHECK_INTTOPTR, at, "a pointer made from an integer");
}
static void check_cast_from_number(const ws_checker *checker, LLVMValueRef at) {
  check_inttoptr(checker, at, LLVMTypeOf(at));
}
static void refuse_branch(const ws_checker *checker, LLVMValueRef at) {
  REPORT(checker, WS_CHECK_INDIRECT_BRANCH, at, "a computed branch");
}
static void refuse_exception(const ws_checker *checker, LLVMValueRef at) {
  REPORT(checker, WS_CHECK_EXCEPTION, at, "exception handling");
}
static void refuse_variadic(const ws_checker *checker, LLVMValueRef at) {
  REPORT(checker, WS_CHECK_VARIADIC, at, "va_arg");
}
static void refuse_unreachable(const ws_checker *checker, LLVMValueRef at) {
  REPORT(checker, WS_CHECK_TRAP, at, "unreachable");
}

static const struct opcode_check {
  LLVMOpcode opcode;
  void (*run)(const ws_checker *checker, LLVMValueRef instruction);
} opcode_checks[] = {
    {LLVMCall, check_call},
    {LLVMLoad, check_load},
    {LLVMStore, check_store},
    {LLVMAlloca, check_alloca},
    {LLVMAtomicRMW, check_update},
    {LLVMAtomicCmpXchg, check_update},
    {LLVMFence, check_fence},
    {LLVMAddrSpaceCast, check_space_cast},
    {LLVMIntToPtr, check_cast_from_number},
    {LLVMIndirectBr, refuse_branch},
    {LLVMCallBr, refuse_branch},
    {LLVMInvoke, refuse_exception},
    {LLVMLandingPad, refuse_exception},
    {LLVMResume, refuse_exception},
    {LLVMCleanupRet, refuse_exception},
    {LLVMCatchRet, refuse_exception},
    {LLVMCatchPad, refuse_exception},
    {LLVMCleanupPad, refuse_exception},
    {LLVMCatchSwitch, refuse_exception},
    {LLVMVAArg, refuse_variadic},
    {LLVMUnreachable, refuse_unreachable},
};

/* Constant expressions are instructions in disguise. */
static void check_constant(const ws_checker *checker, LLVMValueRef user,
                           LLVMValueRef constant, int depth) {
  enum { MAX_DEPTH = 16 };
  if (LLVMIsABlockAddress(constant)) {
    refuse_branch(checker, user);
  } else if (LLVMIsAFunction(constant)) {
    REPORT(checker, WS_CHECK_INDIRECT_CALL, user, "the address of @%s",
           name_of(constant));
  } else if (LLVMIsAConstantExpr(constant) && depth < MAX_DEPTH) {
    LLVMOpcode opcode = LLVMGetConstOpcode(constant);
    if (opcode == LLVMIntToPtr)
      check_inttoptr(checker, user, LLVMTypeOf(constant));
    else if (opcode == LLVMPtrToInt &&
             ws__points_outside(LLVMTypeOf(LLVMGetOperand(constant, 0))))
      REPORT(checker, WS_CHECK_ADDRESS_VALUE, user,
             "the address of a constant as a number");
    for (int i = 0; i < LLVMGetNumOperands(constant); i++)
      check_constant(checker, user, LLVMGetOperand(constant, (unsigned)i),
                     depth + 1);
  }
}

static bool is_buffer(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
         LLVMGetPointerAddressSpace(type) == WS_SPACE_BUFFER;
}

/* Descriptors come from an intrinsic and go to intrinsics; LLVM aborts on most
 * else. */
static void check_result(const ws_checker *checker, LLVMValueRef instruction) {
  bool may = LLVMIsACallInst(instruction) || LLVMIsAPHINode(instruction) ||
             LLVMIsASelectInst(instruction);
  if (!may || !is_buffer(instruction))
    ws__check_type(checker, instruction, LLVMTypeOf(instruction));
  for (int i = 0; !may && i < LLVMGetNumOperands(instruction); i++)
    if (is_buffer(LLVMGetOperand(instruction, (unsigned)i)))
      REPORT(checker, WS_CHECK_ADDRESS_SPACE, instruction,
             "a buffer descriptor that is not just handed to an intrinsic");
}

static void check_operands(const ws_checker *checker,
                           LLVMValueRef instruction) {
  int count = LLVMGetNumOperands(instruction);
  if (LLVMIsACallInst(instruction))
    count--; /* the last is the callee */
  for (int i = 0; i < count; i++) {
    LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);
    if (!LLVMIsAConstant(operand))
      continue;
    ws__check_type(checker, instruction, LLVMTypeOf(operand));
    check_constant(checker, instruction, operand, 0);
  }
}

void ws__check_instruction(const ws_checker *checker,
                           LLVMValueRef instruction) {
  LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  for (size_t i = 0; i < sizeof opcode_checks / sizeof *opcode_checks; i++)
    if (opcode_checks[i].opcode == opcode)
      opcode_checks[i].run(checker, instruction);
  check_result(checker, instruction);
  check_operands(checker, instruction);
}
