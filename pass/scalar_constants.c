/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which constants the optimised code measures its scalar arguments by. From
 * each argument the integers that are computed from it are followed, with the
 * factor that they are smaller by; what they are divided by, masked with or
 * compared with, and what a loop towards them steps by, is a constant in units
 * of the argument. Bounds for where a kernel may behave differently, to choose
 * shapes by (runtime/eval/coverage_classes.c): nothing is proven by them.
 */
#include "lower.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 512, LOOK_BACK = 4 };
static const int64_t most_value = INT64_C(1) << 31;
static const int64_t most_mask = 1 << 24; /* of a remainder */

/* value is about argument / divisor. */
typedef struct followed {
  LLVMValueRef value;
  int64_t divisor;
} followed;

typedef struct search {
  ws_kernel_facts *facts;
  const char *scalar;
  followed values[MAX_VALUES];
  int count;
} search;

/* ---- what is found ---- */

typedef enum meaning { COMPARED, MODULUS } meaning;

static int order_of(const struct ws_scalar_constant *a,
                    const struct ws_scalar_constant *b) {
  int order = strcmp(a->scalar, b->scalar);
  if (!order)
    order = (a->value > b->value) - (a->value < b->value);
  return order ? order : a->modulus - b->modulus;
}

static void report(search *s, int64_t value, int64_t divisor, meaning as) {
  struct ws_scalar_constant *items = s->facts->constants;
  int32_t *count = &s->facts->constant_count, at = 0;
  if (value <= 1 || value > most_value / divisor || *count == WS_MAX_CONSTANTS)
    return;
  const struct ws_scalar_constant found = {s->scalar, value * divisor,
                                           as == MODULUS};
  while (at < *count && order_of(&items[at], &found) < 0)
    at++;
  if (at < *count && !order_of(&items[at], &found))
    return;
  memmove(&items[at + 1], &items[at], sizeof *items * (size_t)(*count - at));
  items[at] = found;
  (*count)++;
}

static bool constant_of(LLVMValueRef value, int64_t *out) {
  if (!LLVMIsAConstantInt(value) || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
    return false;
  *out = LLVMConstIntGetSExtValue(value);
  return true;
}

/* ---- loops: what the other side of a comparison steps by ---- */

static bool is_add(LLVMValueRef value) {
  return LLVMIsAInstruction(value) &&
         (LLVMGetInstructionOpcode(value) == LLVMAdd ||
          LLVMGetInstructionOpcode(value) == LLVMOr);
}

/* The value of the turn before, plus this: not an element's distance from a
 * tile's corner. */
static bool is_step(LLVMValueRef add) {
  LLVMValueRef phi = LLVMGetOperand(add, 0);
  for (unsigned i = 0; LLVMIsAPHINode(phi) && i < LLVMCountIncoming(phi); i++)
    if (LLVMGetIncomingValue(phi, i) == add)
      return true;
  return false;
}

static void find_steps(LLVMValueRef value, int depth, int64_t *steps,
                       int *count) {
  int64_t step;
  if (!depth || !LLVMIsAInstruction(value))
    return;
  if (is_add(value) && is_step(value) && *count < WS__MOST_STEPS &&
      constant_of(LLVMGetOperand(value, 1), &step))
    steps[(*count)++] = llabs(step);
  if (!is_add(value) && !LLVMIsAPHINode(value))
    return;
  int operands = LLVMGetNumOperands(value);
  for (int i = 0; i < operands && i < LOOK_BACK; i++)
    find_steps(LLVMGetOperand(value, (unsigned)i), depth - 1, steps, count);
}

int ws__steps_towards(LLVMValueRef value, int64_t out_steps[WS__MOST_STEPS]) {
  int count = 0;
  find_steps(value, LOOK_BACK, out_steps, &count);
  return count;
}

static void report_steps(search *s, LLVMValueRef value, int64_t divisor) {
  int64_t steps[WS__MOST_STEPS];
  int count = ws__steps_towards(value, steps);
  for (int i = 0; i < count; i++)
    report(s, steps[i], divisor, MODULUS);
}

/* ---- following ---- */

static void follow(search *s, LLVMValueRef value, int64_t divisor) {
  for (int i = 0; i < s->count; i++)
    if (s->values[i].value == value)
      return;
  if (s->count < MAX_VALUES)
    s->values[s->count++] = (followed){value, divisor};
}

/* The divisor behind a division by a constant; 0: none that is of use. */
static int64_t divided(int64_t divisor, int64_t by) {
  return by > 0 && by <= most_value / divisor ? divisor * by : 0;
}

static void compare(search *s, LLVMValueRef user, const followed *from) {
  int own = LLVMGetOperand(user, 0) == from->value ? 0 : 1;
  LLVMValueRef other = LLVMGetOperand(user, (unsigned)(1 - own));
  int64_t constant;
  if (constant_of(other, &constant))
    report(s, llabs(constant), from->divisor, COMPARED);
  else
    report_steps(s, other, from->divisor);
}

/* An operation with a constant on its right. What is left of a remainder is
 * not followed: all of it are classes by the modulus. */
static void take_operation(search *s, LLVMValueRef user, const followed *from) {
  int64_t by = 0, divisor = from->divisor;
  bool known = constant_of(LLVMGetOperand(user, 1), &by);
  switch (LLVMGetInstructionOpcode(user)) {
  case LLVMUDiv:
  case LLVMSDiv:
  case LLVMLShr:
  case LLVMAShr: {
    bool shift = LLVMGetInstructionOpcode(user) == LLVMLShr ||
                 LLVMGetInstructionOpcode(user) == LLVMAShr;
    int64_t factor = shift && by >= 0 && by < 32 ? INT64_C(1) << by : by;
    if (!known || LLVMGetOperand(user, 0) != from->value)
      return;
    report(s, factor, divisor, MODULUS);
    divisor = divided(divisor, factor);
    break;
  }
  case LLVMURem:
  case LLVMSRem:
    if (known && LLVMGetOperand(user, 0) == from->value)
      report(s, by, divisor, MODULUS);
    return;
  case LLVMAnd:
    if (!known || !by)
      return;
    /* What is rounded down to; without the high bits it is a remainder. */
    report(s, by & -by, divisor, MODULUS);
    if (by > 0 && by < most_mask) {
      report(s, INT64_C(2) << (63 - __builtin_clzll((uint64_t)by)), divisor,
             MODULUS);
      return;
    }
    break;
  case LLVMAdd:
  case LLVMSub:
  case LLVMOr:
  case LLVMZExt:
  case LLVMSExt:
  case LLVMTrunc:
  case LLVMPHI:
  case LLVMSelect:
    break;
  default:
    return;
  }
  if (divisor)
    follow(s, user, divisor);
}

static bool is_minimum(LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  size_t size;
  const char *name = callee ? LLVMGetValueName2(callee, &size) : "";
  static const char *const kept[] = {"llvm.umin.", "llvm.smin.", "llvm.umax.",
                                     "llvm.smax.", "llvm.amdgcn.readfirstlane"};
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
    if (!strncmp(name, kept[i], strlen(kept[i])))
      return true;
  return false;
}

static void take_call(search *s, LLVMValueRef user, const followed *from) {
  int64_t constant;
  if (!is_minimum(user))
    return;
  for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
    if (constant_of(LLVMGetOperand(user, i), &constant))
      report(s, llabs(constant), from->divisor, COMPARED);
  follow(s, user, from->divisor);
}

static void take_uses(search *s, const followed *from) {
  for (LLVMUseRef use = LLVMGetFirstUse(from->value); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!LLVMIsAInstruction(user))
      continue;
    if (LLVMIsAICmpInst(user))
      compare(s, user, from);
    else if (LLVMIsACallInst(user))
      take_call(s, user, from);
    else if (LLVMGetNumOperands(user) > 1 || LLVMIsACastInst(user))
      LLVMIsACastInst(user) ? follow(s, user, from->divisor)
                            : take_operation(s, user, from);
  }
}

/* A pointer's cast or a float's leads nowhere: its users are none of the above.
 */
static void search_argument(ws_kernel_facts *facts, ws_arena *arena,
                            LLVMValueRef argument) {
  size_t size;
  const char *name = LLVMGetValueName2(argument, &size);
  search *s = calloc(1, sizeof *s);
  WS_ASSERT(s && "out of memory");
  s->facts = facts;
  s->scalar = ws_arena_strndup(arena, name, size);
  follow(s, argument, 1);
  for (int i = 0; i < s->count; i++) {
    const followed from = s->values[i];
    take_uses(s, &from);
  }
  free(s);
}

void ws__scalar_constants_find(ws_lowering *l) {
  ws_kernel_facts *kernels =
      ws_arena_alloc(l->arena, WS_MAX_KERNELS * sizeof *kernels);
  l->constants = kernels;
  for (LLVMValueRef function = LLVMGetFirstFunction(l->module);
       function && l->constant_count < WS_MAX_KERNELS;
       function = LLVMGetNextFunction(function)) {
    size_t size;
    const char *name = LLVMGetValueName2(function, &size);
    if (!ws__is_kernel(function))
      continue;
    ws_kernel_facts *facts = &kernels[l->constant_count++];
    *facts = (ws_kernel_facts){.name = ws_arena_strndup(l->arena, name, size)};
    for (unsigned i = 0; i < LLVMCountParams(function); i++) {
      LLVMValueRef argument = LLVMGetParam(function, i);
      if (LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMIntegerTypeKind)
        search_argument(facts, l->arena, argument);
    }
  }
}

void ws__scalar_constants_take(const ws_lowering *l, ws_kernel_facts *kernels,
                               int count) {
  for (int k = 0; k < count; k++)
    for (int i = 0; i < l->constant_count; i++) {
      const ws_kernel_facts *from = &l->constants[i];
      if (strcmp(kernels[k].name, from->name))
        continue;
      memcpy(kernels[k].constants, from->constants, sizeof from->constants);
      kernels[k].constant_count = from->constant_count;
    }
}
