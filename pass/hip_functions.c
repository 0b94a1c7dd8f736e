/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Functions of a HIP module: their names in C++, the address spaces of their
 * pointers (C++ has flat ones only, wavesmith and the hardware do better
 * knowing), and the lines of what was inlined into them.
 */
#include "family.h"
#include "hip.h"
#include "parse.h"

#include <ctype.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 64, MOST_STEPS = 64 };

bool ws__hip_is_kernel(LLVMValueRef function) {
  return LLVMGetFunctionCallConv(function) == ws__ir_amdgpu.kernel_convention;
}

static unsigned attribute_kind(const char *name) {
  return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

void ws__hip_remove_attribute(LLVMValueRef function, const char *name) {
  LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                 attribute_kind(name));
}

void ws__hip_add_attribute(LLVMValueRef function, const char *name) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMAddAttributeAtIndex(
      function, LLVMAttributeFunctionIndex,
      LLVMCreateEnumAttribute(context, attribute_kind(name), 0));
}

/* ---- names --------------------------------------------------------------- */

/* "E4tile" at the end of a local variable's name, "_0" behind it or not. */
static const char *last_identifier(ws_arena *arena, const char *name) {
  for (const char *at = name + 2; *at; at++) {
    char *rest;
    if (!isdigit((unsigned char)*at) || at[-1] != 'E')
      continue;
    size_t size = strtoul(at, &rest, 10), left = strlen(rest);
    if (size && size <= left && (size == left || rest[size] == '_') &&
        strspn(rest + size, "_0123456789") == left - size)
      return ws_arena_strndup(arena, rest, size);
  }
  return name;
}

const char *ws__hip_base_name(ws_arena *arena, const char *name) {
  if (strncmp(name, "_Z", 2))
    return name;
  if (name[2] == 'Z')
    return last_identifier(arena, name);
  const char *at = name + 2, *found = NULL;
  size_t found_size = 0;
  at += *at == 'N';
  at += strspn(at, "KV");
  for (; *at == 'L' || isdigit((unsigned char)*at); at += found_size) {
    char *rest;
    at += *at == 'L';
    found_size = strtoul(at, &rest, 10);
    if (!found_size || found_size > strlen(rest))
      return name;
    at = found = rest;
  }
  return found ? ws_arena_strndup(arena, found, found_size) : name;
}

/* ---- types --------------------------------------------------------------- */

static void copy_attributes(LLVMValueRef from, unsigned from_index,
                            LLVMValueRef to, unsigned to_index) {
  LLVMAttributeRef list[64];
  unsigned count = LLVMGetAttributeCountAtIndex(from, from_index);
  if (count > 64)
    return;
  LLVMGetAttributesAtIndex(from, from_index, list);
  for (unsigned i = 0; i < count; i++)
    LLVMAddAttributeAtIndex(to, to_index, list[i]);
}

static LLVMTypeRef new_type(LLVMValueRef function, const int *spaces) {
  LLVMTypeRef types[MOST_ARGUMENTS], old = LLVMGlobalGetValueType(function);
  unsigned count = 0;
  for (unsigned i = 0; i < LLVMCountParams(function); i++)
    if (spaces[i] >= 0)
      types[count++] = spaces[i]
                           ? LLVMPointerTypeInContext(LLVMGetTypeContext(old),
                                                      (unsigned)spaces[i])
                           : LLVMTypeOf(LLVMGetParam(function, i));
  return LLVMFunctionType(LLVMGetReturnType(old), types, count, false);
}

static void move_blocks(LLVMValueRef from, LLVMValueRef to) {
  for (LLVMBasicBlockRef block; (block = LLVMGetFirstBasicBlock(from));) {
    LLVMRemoveBasicBlockFromParent(block);
    LLVMAppendExistingBasicBlock(to, block);
  }
}

static void move_argument(LLVMValueRef from, LLVMValueRef to) {
  size_t size;
  const char *name = LLVMGetValueName2(from, &size);
  LLVMValueRef value = to;
  if (LLVMTypeOf(from) != LLVMTypeOf(to) && LLVMGetFirstUse(from)) {
    LLVMValueRef function = LLVMGetParamParent(to);
    LLVMBuilderRef builder =
        LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(to)));
    LLVMPositionBuilderBefore(
        builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    value = LLVMBuildAddrSpaceCast(builder, to, LLVMTypeOf(from), "");
    LLVMDisposeBuilder(builder);
  }
  LLVMReplaceAllUsesWith(from, value);
  LLVMSetValueName2(to, name, size);
}

static void retype_call(LLVMValueRef call, LLVMValueRef old,
                        LLVMValueRef function, const int *spaces) {
  LLVMValueRef arguments[MOST_ARGUMENTS];
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(function));
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  unsigned count = 0;
  LLVMPositionBuilderBefore(builder, call);
  LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(call));
  for (unsigned i = 0; i < LLVMCountParams(old); i++) {
    LLVMValueRef given = LLVMGetOperand(call, i);
    if (spaces[i] > 0)
      given = LLVMBuildAddrSpaceCast(
          builder, given,
          LLVMPointerTypeInContext(context, (unsigned)spaces[i]), "");
    if (spaces[i] >= 0)
      arguments[count++] = given;
  }
  LLVMValueRef new = LLVMBuildCall2(builder, LLVMGlobalGetValueType(function),
                                    function, arguments, count, "");
  LLVMSetInstructionCallConv(new, LLVMGetInstructionCallConv(call));
  LLVMReplaceAllUsesWith(call, new);
  LLVMInstructionEraseFromParent(call);
  LLVMDisposeBuilder(builder);
}

LLVMValueRef ws__hip_retype(LLVMValueRef old, const int *spaces) {
  LLVMModuleRef module = LLVMGetGlobalParent(old);
  LLVMValueRef new = LLVMAddFunction(module, "", new_type(old, spaces));
  size_t size;
  const char *name = LLVMGetValueName2(old, &size);
  LLVMSetLinkage(new, LLVMGetLinkage(old));
  LLVMSetVisibility(new, LLVMGetVisibility(old));
  LLVMSetFunctionCallConv(new, LLVMGetFunctionCallConv(old));
  copy_attributes(old, LLVMAttributeFunctionIndex, new,
                  LLVMAttributeFunctionIndex);
  LLVMMetadataRef scope = LLVMGetSubprogram(old);
  move_blocks(old, new);
  unsigned position = 0;
  for (unsigned i = 0; i < LLVMCountParams(old); i++) {
    if (spaces[i] < 0)
      continue;
    if (!spaces[i])
      copy_attributes(old, i + 1, new, position + 1);
    move_argument(LLVMGetParam(old, i), LLVMGetParam(new, position++));
  }
  for (LLVMUseRef use; (use = LLVMGetFirstUse(old));)
    retype_call(LLVMGetUser(use), old, new, spaces);
  char *kept = strndup(name, size);
  WS_ASSERT(kept && "out of memory");
  LLVMDeleteFunction(old);
  LLVMSetValueName2(new, kept, size);
  if (scope)
    LLVMSetSubprogram(new, scope);
  free(kept);
  return new;
}

/* ---- address spaces ------------------------------------------------------ */

enum { UNKNOWN = 0, CONFLICT = -1 };

static int merge(int a, int b) {
  return a == UNKNOWN ? b : b == UNKNOWN || a == b ? a : CONFLICT;
}

/* The address space that a flat pointer is known to point into. */
static int space_behind(LLVMValueRef value, int steps) {
  int space = (int)LLVMGetPointerAddressSpace(LLVMTypeOf(value));
  if (space || steps == 0)
    return space ? space : CONFLICT;
  if (LLVMIsUndef(value) || LLVMIsNull(value))
    return UNKNOWN;
  if (LLVMIsAPHINode(value)) {
    for (unsigned i = 0; i < LLVMCountIncoming(value); i++)
      if (LLVMGetIncomingValue(value, i) != value)
        space = merge(space,
                      space_behind(LLVMGetIncomingValue(value, i), steps / 2));
    return space;
  }
  if (LLVMIsASelectInst(value))
    return merge(space_behind(LLVMGetOperand(value, 1), steps / 2),
                 space_behind(LLVMGetOperand(value, 2), steps / 2));
  bool is_step = LLVMIsAConstantExpr(value) ||
                 LLVMIsAGetElementPtrInst(value) ||
                 LLVMIsAAddrSpaceCastInst(value);
  LLVMValueRef base = is_step ? LLVMGetOperand(value, 0) : NULL;
  return base && LLVMGetTypeKind(LLVMTypeOf(base)) == LLVMPointerTypeKind
             ? space_behind(base, steps - 1)
             : CONFLICT;
}

static bool is_flat_pointer(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
         !LLVMGetPointerAddressSpace(type);
}

/* What all calls say; false: nothing is better than flat. */
static bool agreed_spaces(LLVMValueRef function, int *spaces) {
  bool any = false;
  unsigned count = LLVMCountParams(function);
  memset(spaces, 0, MOST_ARGUMENTS * sizeof *spaces);
  if (count > MOST_ARGUMENTS || ws__hip_is_kernel(function))
    return false;
  for (LLVMUseRef use = LLVMGetFirstUse(function); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef call = LLVMGetUser(use);
    if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != function)
      return false;
    for (unsigned i = 0; i < count; i++)
      if (is_flat_pointer(LLVMTypeOf(LLVMGetParam(function, i))))
        spaces[i] =
            merge(spaces[i], space_behind(LLVMGetOperand(call, i), MOST_STEPS));
  }
  for (unsigned i = 0; i < count; i++) {
    spaces[i] = spaces[i] == CONFLICT ? 0 : spaces[i];
    any |= spaces[i] > 0;
  }
  return any;
}

/* Shipped bodies are called by nobody yet: they follow their region. */
static void retype_with_variants(ws_hip *h, LLVMValueRef function,
                                 const int *spaces) {
  size_t size;
  const char *name =
      ws_arena_strdup(h->findings->arena, LLVMGetValueName2(function, &size));
  LLVMTypeRef type = LLVMGlobalGetValueType(function);
  for (int i = 0; i < h->note_count; i++) {
    ws_hip_note *note = &h->notes[i];
    bool follows = note->subject == function ||
                   (!strcmp(note->kind, "variant") && note->count &&
                    !strcmp(note->fields[0], name));
    if (follows && note->subject != function &&
        LLVMGlobalGetValueType(note->subject) == type)
      note->subject = ws__hip_retype(note->subject, spaces);
  }
  LLVMValueRef new = ws__hip_retype(function, spaces);
  for (int i = 0; i < h->note_count; i++)
    if (h->notes[i].subject == function)
      h->notes[i].subject = new;
}

void ws__hip_infer_spaces(ws_hip *h) {
  int spaces[MOST_ARGUMENTS];
  for (int round = 0; round < MOST_ARGUMENTS; round++) {
    bool changed = false;
    for (LLVMValueRef next, f = LLVMGetFirstFunction(h->module); f; f = next) {
      next = LLVMGetNextFunction(f);
      if (LLVMIsDeclaration(f) || !agreed_spaces(f, spaces))
        continue;
      retype_with_variants(h, f, spaces);
      changed = true;
      break; /* the list has changed */
    }
    if (!changed || !ws__hip_run_passes(h, "function(infer-address-spaces)"))
      return;
  }
}

LLVMTargetMachineRef ws__hip_make_machine(const char *cpu) {
  LLVMTargetRef target;
  char *message;
  if (LLVMGetTargetFromTriple(ws__ir_amdgpu.triple, &target, &message))
    return NULL;
  return LLVMCreateTargetMachine(target, ws__ir_amdgpu.triple, cpu, "",
                                 LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                 LLVMCodeModelDefault);
}

bool ws__hip_run_passes(ws_hip *h, const char *passes) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(h->module, passes, h->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (error) {
    char *message = LLVMGetErrorMessage(error);
    WS_HIP_REFUSE(h, 0, "%s", message);
    LLVMDisposeErrorMessage(message);
  }
  return !error;
}

/* ---- lines --------------------------------------------------------------- */

static LLVMMetadataRef file_of(LLVMMetadataRef scope) {
  return scope ? LLVMDIScopeGetFile(scope) : NULL;
}

/* Of a location in a header: the call that is written in the file itself. */
static LLVMMetadataRef own_location(LLVMMetadataRef location,
                                    LLVMMetadataRef file) {
  while (file_of(LLVMDILocationGetScope(location)) != file) {
    LLVMMetadataRef outer = LLVMDILocationGetInlinedAt(location);
    if (!outer)
      break;
    location = outer;
  }
  return location;
}

static void flatten_function(LLVMValueRef function) {
  LLVMMetadataRef scope = LLVMGetSubprogram(function);
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  if (!scope)
    return;
  WS_FOR_EACH_INSTRUCTION(function, block, instruction) {
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
    unsigned line = LLVMDISubprogramGetLine(scope), column = 0;
    if (location) {
      location = own_location(location, file_of(scope));
      line = LLVMDILocationGetLine(location);
      column = LLVMDILocationGetColumn(location);
    }
    LLVMInstructionSetDebugLoc(
        instruction,
        LLVMDIBuilderCreateDebugLocation(context, line, column, scope, NULL));
  }
}

void ws__hip_flatten_lines(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      flatten_function(f);
}
