/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Accesses of private variables: which variable a pointer points into, as far
 * as the IR shows it, and a hook where the offset may lie outside. A pointer is
 * followed through address computations, through the structs that a lowered
 * memref is, through a variable that is stored to once, and through arguments
 * to all calls of the function. What is in bounds for certain costs nothing,
 * and what cannot be followed is left to the repeat of a run that came out
 * wrong (sanitize.c).
 */
#include "sanitize_instrument.h"

#include <string.h>

/* Where a pointer points, in bytes from a value that is known at its use. */
typedef struct place {
  LLVMValueRef base; /* a variable or an argument; NULL: not known */
  int64_t offset;    /* of the pointer from base, where it is constant */
  bool constant;
  int64_t begin, end; /* of the variable, from base */
} place;

/* Of one access: chains are short, and calls are few. */
enum { MOST_STEPS = 256 };

typedef struct tracer {
  const ws_instrumenter *in;
  int steps;
} tracer;

static place trace(tracer *t, LLVMValueRef pointer);

static const place unknown = {.base = NULL};

/* ---- address computations --------------------------------------------- */

static int64_t index_step(const tracer *t, LLVMTypeRef *type, uint64_t index) {
  LLVMTargetDataRef layout = t->in->host_layout;
  if (LLVMGetTypeKind(*type) == LLVMStructTypeKind) {
    int64_t at = (int64_t)LLVMOffsetOfElement(layout, *type, (unsigned)index);
    *type = LLVMStructGetTypeAtIndex(*type, (unsigned)index);
    return at;
  }
  *type = LLVMGetElementType(*type);
  return (int64_t)index * (int64_t)LLVMABISizeOfType(layout, *type);
}

/* false: some index is not constant. */
static bool constant_offset(const tracer *t, LLVMValueRef gep, int64_t *out) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
  int count = LLVMGetNumOperands(gep);
  for (int i = 1; i < count; i++)
    if (!LLVMIsAConstantInt(LLVMGetOperand(gep, (unsigned)i)))
      return false;
  *out = count < 2 ? 0
                   : LLVMConstIntGetSExtValue(LLVMGetOperand(gep, 1)) *
                         (int64_t)LLVMABISizeOfType(t->in->host_layout, type);
  for (int i = 2; i < count; i++)
    *out += index_step(
        t, &type,
        (uint64_t)LLVMConstIntGetSExtValue(LLVMGetOperand(gep, (unsigned)i)));
  return true;
}

static place trace_gep(tracer *t, LLVMValueRef gep) {
  place at = trace(t, LLVMGetOperand(gep, 0));
  int64_t offset;
  at.constant = at.constant && constant_offset(t, gep, &offset);
  if (at.constant)
    at.offset += offset;
  return at;
}

/* ---- structs ---------------------------------------------------------- */

/* The value at one index in a struct that insertvalue put together. */
static place trace_member(tracer *t, LLVMValueRef extract) {
  LLVMValueRef whole = LLVMGetOperand(extract, 0);
  if (LLVMGetNumIndices(extract) != 1)
    return unknown;
  const unsigned index = *LLVMGetIndices(extract);
  while (LLVMIsAInsertValueInst(whole) && t->steps++ < MOST_STEPS) {
    if (*LLVMGetIndices(whole) == index)
      return LLVMGetNumIndices(whole) == 1 ? trace(t, LLVMGetOperand(whole, 1))
                                           : unknown;
    whole = LLVMGetOperand(whole, 0);
  }
  return unknown;
}

/* ---- variables -------------------------------------------------------- */

static place variable(const tracer *t, LLVMValueRef alloca_) {
  LLVMValueRef count = LLVMGetOperand(alloca_, 0);
  if (!LLVMIsAConstantInt(count))
    return unknown;
  uint64_t size =
      LLVMConstIntGetZExtValue(count) *
      LLVMABISizeOfType(t->in->host_layout, LLVMGetAllocatedType(alloca_));
  return (place){.base = alloca_, .constant = true, .end = (int64_t)size};
}

/* What a load reads from a variable that one store fills, as C compilers keep
 * arguments. */
static place trace_load(tracer *t, LLVMValueRef load) {
  LLVMValueRef from = LLVMGetOperand(load, 0), stored = NULL;
  if (!LLVMIsAAllocaInst(from))
    return unknown;
  for (LLVMUseRef use = LLVMGetFirstUse(from); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    bool store = LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == from;
    if (!store && !LLVMIsALoadInst(user))
      return unknown;
    if (store && stored)
      return unknown;
    if (store)
      stored = LLVMGetOperand(user, 0);
  }
  return stored ? trace(t, stored) : unknown;
}

/* ---- arguments -------------------------------------------------------- */

/* Any of the variables that calls name: an access that is outside of all of
 * them is wrong in every call. */
static void join(place *all, const place *one, bool first) {
  int64_t begin = one->begin - one->offset, end = one->end - one->offset;
  all->begin = first || begin < all->begin ? begin : all->begin;
  all->end = first || end > all->end ? end : all->end;
}

static place trace_argument(tracer *t, LLVMValueRef argument) {
  LLVMValueRef function = LLVMGetParamParent(argument);
  place all = {.base = argument, .constant = true};
  unsigned index = 0;
  bool first = true;
  while (LLVMGetParam(function, index) != argument)
    index++;
  for (LLVMUseRef use = LLVMGetFirstUse(function); use;
       use = LLVMGetNextUse(use), first = false) {
    LLVMValueRef call = LLVMGetUser(use);
    if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != function)
      return unknown;
    place one = trace(t, LLVMGetOperand(call, index));
    if (!one.base || !one.constant)
      return unknown;
    join(&all, &one, first);
  }
  return first ? unknown : all;
}

static place trace(tracer *t, LLVMValueRef pointer) {
  if (t->steps++ > MOST_STEPS)
    return unknown;
  if (LLVMIsAArgument(pointer))
    return trace_argument(t, pointer);
  if (!LLVMIsAInstruction(pointer))
    return unknown;
  switch (LLVMGetInstructionOpcode(pointer)) {
  case LLVMAlloca:
    return variable(t, pointer);
  case LLVMGetElementPtr:
    return trace_gep(t, pointer);
  case LLVMAddrSpaceCast:
  case LLVMBitCast:
    return trace(t, LLVMGetOperand(pointer, 0));
  case LLVMExtractValue:
    return trace_member(t, pointer);
  case LLVMLoad:
    return trace_load(t, pointer);
  default:
    return unknown;
  }
}

/* ---- what is asked ---------------------------------------------------- */

bool ws__private_window(const ws_instrumenter *in, LLVMValueRef pointer,
                        int64_t size, ws_private_window *out) {
  tracer t = {in, 0};
  place at = trace(&t, pointer);
  *out = (ws_private_window){at.base, at.begin, at.end};
  return at.base && !(at.constant && size >= 0 && at.offset >= at.begin &&
                      at.offset <= at.end && size <= at.end - at.offset);
}
