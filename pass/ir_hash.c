/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Canonical hash of optimised IR, for deduplication before code generation.
 *
 * A walk from the kernels (by name): every value gets the number of its first
 * use, every instruction is written with opcode, type, operands by number and
 * all it carries that is not an operand (flags, alignment, ordering, masks,
 * attributes, ...). Functions and globals are written when first referred to,
 * so names, order and unused ones do not count. Kernels keep their names and
 * their arguments' names: launch rules and kernarg tables go by them.
 *
 * Of metadata only the kinds that code generation goes by are hashed. The rest
 * (debug info, aliasing hints) and attributes that hold a constant range inform
 * optimisations that have been done by now; the machine code hash
 * (ws_code_hash) catches what they might still change.
 */
#include "family.h"
#include "lower.h"

#include <stdlib.h>
#include <string.h>

/* Pointer -> number of first use: open addressing, grows at half full. */
typedef struct table {
  const void **keys;
  uint32_t *numbers;
  size_t capacity, count;
} table;

typedef struct walk {
  ws_hasher *hasher;
  table seen;
  LLVMValueRef *pending; /* functions that were referred to */
  size_t pending_count, pending_capacity;
} walk;

static size_t slot_of(const table *seen, const void *key) {
  size_t slot = ((uintptr_t)key >> 4) * 0x9E3779B97F4A7C15u;
  slot ^= slot >> 29;
  for (slot &= seen->capacity - 1; seen->keys[slot] && seen->keys[slot] != key;)
    slot = (slot + 1) & (seen->capacity - 1);
  return slot;
}

static void grow(table *seen) {
  table bigger = {.capacity = seen->capacity ? seen->capacity * 2 : 4096,
                  .count = seen->count};
  bigger.keys = calloc(bigger.capacity, sizeof *bigger.keys);
  bigger.numbers = calloc(bigger.capacity, sizeof *bigger.numbers);
  WS_ASSERT(bigger.keys && bigger.numbers);
  for (size_t i = 0; i < seen->capacity; i++) {
    if (!seen->keys[i])
      continue;
    size_t slot = slot_of(&bigger, seen->keys[i]);
    bigger.keys[slot] = seen->keys[i];
    bigger.numbers[slot] = seen->numbers[i];
  }
  free(seen->keys);
  free(seen->numbers);
  *seen = bigger;
}

/* The number of key; *out_new tells whether it was met for the first time. */
static uint32_t number_of(table *seen, const void *key, bool *out_new) {
  if (seen->count * 2 >= seen->capacity)
    grow(seen);
  size_t slot = slot_of(seen, key);
  *out_new = !seen->keys[slot];
  if (*out_new) {
    seen->keys[slot] = key;
    seen->numbers[slot] = (uint32_t)seen->count++;
  }
  return seen->numbers[slot];
}

static void put_number(walk *w, uint64_t number) {
  ws_hasher_update(w->hasher, &number, sizeof number);
}

static void put_owned_text(walk *w, char *owned_text) {
  ws_hasher_update_text(w->hasher, owned_text);
  LLVMDisposeMessage(owned_text);
}

static void put_type(walk *w, LLVMTypeRef type) {
  bool is_new;
  put_number(w, number_of(&w->seen, type, &is_new));
  if (is_new)
    put_owned_text(w, LLVMPrintTypeToString(type));
}

static void put_value(walk *w, LLVMValueRef value);

static void put_operands(walk *w, LLVMValueRef user) {
  int count = LLVMGetNumOperands(user);
  put_number(w, (uint64_t)count);
  for (int i = 0; i < count; i++)
    put_value(w, LLVMGetOperand(user, (unsigned)i));
}

static void put_global(walk *w, LLVMValueRef global) {
  LLVMValueRef initializer = LLVMGetInitializer(global);
  put_type(w, LLVMGlobalGetValueType(global));
  put_number(w, LLVMGetPointerAddressSpace(LLVMTypeOf(global)));
  put_number(w, LLVMGetAlignment(global));
  put_number(w, (uint64_t)LLVMIsGlobalConstant(global));
  put_number(w, (uint64_t)LLVMGetLinkage(global));
  put_number(w, initializer != NULL);
  if (initializer)
    put_value(w, initializer);
}

static void put_function_reference(walk *w, LLVMValueRef function) {
  put_number(w, LLVMGetIntrinsicID(function));
  put_type(w, LLVMGlobalGetValueType(function));
  if (LLVMIsDeclaration(function)) {
    ws_hasher_update_text(w->hasher, LLVMGetValueName(function));
    return;
  }
  if (w->pending_count == w->pending_capacity) {
    w->pending_capacity = w->pending_capacity ? w->pending_capacity * 2 : 16;
    w->pending =
        realloc(w->pending, w->pending_capacity * sizeof w->pending[0]);
    WS_ASSERT(w->pending);
  }
  w->pending[w->pending_count++] = function;
}

/* What a constant is, once; scalars by their text, which holds no names. */
static void put_constant(walk *w, LLVMValueRef constant) {
  put_type(w, LLVMTypeOf(constant));
  if (LLVMIsAConstantExpr(constant)) {
    LLVMOpcode opcode = LLVMGetConstOpcode(constant);
    put_number(w, opcode);
    if (opcode == LLVMGetElementPtr) {
      put_type(w, LLVMGetGEPSourceElementType(constant));
      put_number(w, LLVMGEPGetNoWrapFlags(constant));
    }
    put_operands(w, constant);
  } else if (LLVMGetNumOperands(constant) > 0) {
    put_operands(w, constant);
  } else {
    put_owned_text(w, LLVMPrintValueToString(constant));
  }
}

static void put_value(walk *w, LLVMValueRef value) {
  bool is_new;
  if (LLVMGetValueKind(value) == LLVMMetadataAsValueValueKind) {
    put_number(w, UINT64_MAX);
    return;
  }
  put_number(w, number_of(&w->seen, value, &is_new));
  if (!is_new)
    return;
  if (LLVMIsAFunction(value))
    put_function_reference(w, value);
  else if (LLVMIsAGlobalVariable(value))
    put_global(w, value);
  else if (LLVMIsAInlineAsm(value))
    put_owned_text(w, LLVMPrintValueToString(value));
  else if (LLVMIsAConstant(value))
    put_constant(w, value);
}

/* ---- attributes ------------------------------------------------------------
 */

static void put_attribute(walk *w, LLVMAttributeRef attribute) {
  unsigned size;
  if (LLVMIsEnumAttribute(attribute)) {
    put_number(w, LLVMGetEnumAttributeKind(attribute));
    put_number(w, LLVMGetEnumAttributeValue(attribute));
  } else if (LLVMIsStringAttribute(attribute)) {
    const char *kind = LLVMGetStringAttributeKind(attribute, &size);
    ws_hasher_update(w->hasher, kind, size);
    const char *value = LLVMGetStringAttributeValue(attribute, &size);
    put_number(w, size);
    ws_hasher_update(w->hasher, value, size);
  } else if (LLVMIsTypeAttribute(attribute)) {
    put_type(w, LLVMGetTypeAttributeValue(attribute));
  }
}

typedef unsigned (*count_attributes)(LLVMValueRef, LLVMAttributeIndex);
typedef void (*get_attributes)(LLVMValueRef, LLVMAttributeIndex,
                               LLVMAttributeRef *);

/* Of the function or call itself, its result and its parameters. */
static void put_attributes(walk *w, LLVMValueRef value, unsigned parameters,
                           count_attributes count, get_attributes get) {
  for (unsigned i = 0; i < parameters + 2; i++) {
    LLVMAttributeIndex index =
        i == 0 ? (unsigned)LLVMAttributeFunctionIndex : i - 1;
    unsigned size = count(value, index);
    put_number(w, size);
    if (!size)
      continue;
    LLVMAttributeRef *attributes = calloc(size, sizeof *attributes);
    WS_ASSERT(attributes);
    get(value, index, attributes);
    for (unsigned k = 0; k < size; k++)
      put_attribute(w, attributes[k]);
    free(attributes);
  }
}

/* ---- instructions ----------------------------------------------------------
 */

static void put_flags(walk *w, LLVMValueRef instruction, LLVMOpcode opcode) {
  switch (opcode) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMShl:
  case LLVMTrunc:
    put_number(
        w, (uint64_t)(LLVMGetNUW(instruction) * 2 + LLVMGetNSW(instruction)));
    break;
  case LLVMUDiv:
  case LLVMSDiv:
  case LLVMLShr:
  case LLVMAShr:
    put_number(w, (uint64_t)LLVMGetExact(instruction));
    break;
  case LLVMOr:
    put_number(w, (uint64_t)LLVMGetIsDisjoint(instruction));
    break;
  case LLVMZExt:
  case LLVMUIToFP:
    put_number(w, (uint64_t)LLVMGetNNeg(instruction));
    break;
  case LLVMICmp:
    put_number(w, LLVMGetICmpPredicate(instruction));
    put_number(w, (uint64_t)LLVMGetICmpSameSign(instruction));
    break;
  case LLVMFCmp:
    put_number(w, LLVMGetFCmpPredicate(instruction));
    break;
  default:
    break;
  }
  if (LLVMCanValueUseFastMathFlags(instruction))
    put_number(w, LLVMGetFastMathFlags(instruction));
}

/* By name: the number of a scope depends on what its context has met before. */
static void put_scope(walk *w, LLVMValueRef instruction) {
  char *text = LLVMPrintValueToString(instruction);
  const char *scope = strstr(text, "syncscope(\"");
  if (scope)
    ws_hasher_update(w->hasher, scope, strcspn(scope, ")"));
  LLVMDisposeMessage(text);
}

static void put_memory(walk *w, LLVMValueRef instruction, LLVMOpcode opcode) {
  switch (opcode) {
  case LLVMAtomicRMW:
    put_number(w, LLVMGetAtomicRMWBinOp(instruction));
    /* fall through */
  case LLVMLoad:
  case LLVMStore:
    put_number(w, LLVMGetOrdering(instruction));
    break;
  case LLVMAtomicCmpXchg:
    put_number(w, LLVMGetCmpXchgSuccessOrdering(instruction));
    put_number(w, LLVMGetCmpXchgFailureOrdering(instruction));
    break;
  case LLVMFence:
    put_number(w, LLVMGetOrdering(instruction));
    put_scope(w, instruction);
    return;
  case LLVMAlloca:
    put_type(w, LLVMGetAllocatedType(instruction));
    put_number(w, LLVMGetAlignment(instruction));
    return;
  default:
    return;
  }
  put_number(w, (uint64_t)LLVMGetVolatile(instruction));
  put_number(w, LLVMGetAlignment(instruction));
  if (LLVMIsAtomic(instruction))
    put_scope(w, instruction);
}

static void put_call(walk *w, LLVMValueRef call) {
  unsigned arguments = LLVMGetNumArgOperands(call);
  put_number(w, LLVMGetInstructionCallConv(call));
  put_number(w, LLVMGetNumOperandBundles(call));
  put_type(w, LLVMGetCalledFunctionType(call));
  put_attributes(w, call, arguments, LLVMGetCallSiteAttributeCount,
                 LLVMGetCallSiteAttributes);
}

static void put_other(walk *w, LLVMValueRef instruction, LLVMOpcode opcode) {
  switch (opcode) {
  case LLVMGetElementPtr:
    put_type(w, LLVMGetGEPSourceElementType(instruction));
    put_number(w, LLVMGEPGetNoWrapFlags(instruction));
    break;
  case LLVMShuffleVector:
    for (unsigned i = 0; i < LLVMGetNumMaskElements(instruction); i++)
      put_number(w, (uint64_t)(int64_t)LLVMGetMaskValue(instruction, i));
    break;
  case LLVMExtractValue:
  case LLVMInsertValue:
    for (unsigned i = 0; i < LLVMGetNumIndices(instruction); i++)
      put_number(w, LLVMGetIndices(instruction)[i]);
    break;
  case LLVMPHI: /* the incoming blocks are not operands */
    for (unsigned i = 0; i < LLVMCountIncoming(instruction); i++)
      put_value(w, LLVMBasicBlockAsValue(LLVMGetIncomingBlock(instruction, i)));
    break;
  case LLVMCall:
  case LLVMInvoke:
  case LLVMCallBr:
    put_call(w, instruction);
    break;
  default:
    break;
  }
}

/* Kind and operands of what changes the machine code: cache bits, the form of
 * atomics, the accuracy of a division, the layout of blocks. */
static void put_metadata(walk *w, LLVMValueRef instruction) {
  static const char *const kinds[] = {"amdgpu.ignore.denormal.mode",
                                      "amdgpu.no.fine.grained.memory",
                                      "amdgpu.no.remote.memory",
                                      "fpmath",
                                      "invariant.load",
                                      "nontemporal",
                                      "prof",
                                      "unpredictable"};
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
  if (!LLVMHasMetadata(instruction))
    return;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    LLVMValueRef node = LLVMGetMetadata(
        instruction, LLVMGetMDKindIDInContext(context, kinds[k],
                                              (unsigned)strlen(kinds[k])));
    LLVMValueRef operands[8] = {NULL};
    const unsigned count = node ? LLVMGetMDNodeNumOperands(node) : 0;
    if (!node)
      continue;
    ws_hasher_update_text(w->hasher, kinds[k]);
    put_number(w, count);
    if (count > sizeof operands / sizeof *operands)
      continue; /* weights of a large switch */
    LLVMGetMDNodeOperands(node, operands);
    for (unsigned i = 0; i < count; i++)
      if (operands[i] && LLVMIsAConstant(operands[i]))
        put_value(w, operands[i]);
  }
}

static void put_instruction(walk *w, LLVMValueRef instruction) {
  bool is_new;
  LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  put_number(w, opcode);
  put_number(w, number_of(&w->seen, instruction, &is_new));
  put_type(w, LLVMTypeOf(instruction));
  put_flags(w, instruction, opcode);
  put_memory(w, instruction, opcode);
  put_other(w, instruction, opcode);
  put_metadata(w, instruction);
  put_operands(w, instruction);
}

static void put_function(walk *w, LLVMValueRef function, bool is_kernel) {
  unsigned parameters = LLVMCountParams(function);
  put_number(w, LLVMGetFunctionCallConv(function));
  put_type(w, LLVMGlobalGetValueType(function));
  put_attributes(w, function, parameters, LLVMGetAttributeCountAtIndex,
                 LLVMGetAttributesAtIndex);
  if (is_kernel)
    ws_hasher_update_text(w->hasher, LLVMGetValueName(function));
  for (unsigned i = 0; i < parameters; i++) {
    LLVMValueRef parameter = LLVMGetParam(function, i);
    put_value(w, parameter);
    if (is_kernel)
      ws_hasher_update_text(w->hasher, LLVMGetValueName(parameter));
  }
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    put_value(w, LLVMBasicBlockAsValue(block));
    for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction;
         instruction = LLVMGetNextInstruction(instruction))
      put_instruction(w, instruction);
  }
}

static int compare_names(const void *left, const void *right) {
  return strcmp(LLVMGetValueName(*(const LLVMValueRef *)left),
                LLVMGetValueName(*(const LLVMValueRef *)right));
}

ws_hash ws_ir_hash(LLVMModuleRef module) {
  walk w = {.hasher = ws_hasher_create()};
  LLVMValueRef kernels[WS_MAX_KERNELS];
  size_t count = 0;
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function))
    if (ws__is_kernel(function) && count < WS_MAX_KERNELS)
      kernels[count++] = function;
  qsort(kernels, count, sizeof kernels[0], compare_names);
  for (size_t i = 0; i < count; i++)
    put_function(&w, kernels[i], true);
  for (size_t i = 0; i < w.pending_count; i++)
    if (!ws__is_kernel(w.pending[i]))
      put_function(&w, w.pending[i], false);
  free(w.pending);
  free(w.seen.keys);
  free(w.seen.numbers);
  return ws_hasher_finish(w.hasher);
}
