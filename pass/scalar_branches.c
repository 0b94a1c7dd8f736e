/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the optimised kernels decide by the shape alone: comparisons and
 * remainders of what is computed from scalar arguments and numbers of
 * workgroups, as expressions that anyone can evaluate for a shape
 * (runtime/eval/coverage_branches.c). With lines, so a branch that no test has
 * taken can be named. Integers are taken for what they mean: wraps around 2^32
 * are followed only where a difference is compared without a sign.
 */
#include "lower.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NESTING = 8, MOST_TEXT = 200 };

/* An integer of the code; text NULL: not computed from such alone. */
typedef struct term {
  const char *text;
  int bits;
  bool varies;   /* it is no constant */
  bool negative; /* it may be: a difference, a constant below 0 */
} term;

typedef struct search {
  ws_arena *arena;
  ws_branch *items;
  int count;
  const char *kernel;
  LLVMValueRef at; /* the instruction in hand */
} search;

static const term unknown;

static term make(const char *text, term like) {
  like.text = text && strlen(text) <= MOST_TEXT ? text : NULL;
  return like;
}

static term either(term a, term b) {
  return (term){.bits = a.bits > b.bits ? a.bits : b.bits,
                .varies = a.varies || b.varies,
                .negative = a.negative || b.negative};
}

static int bits_of(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return LLVMGetTypeKind(type) == LLVMIntegerTypeKind
             ? (int)LLVMGetIntTypeWidth(type)
             : 0;
}

static bool constant_of(LLVMValueRef value, int64_t *out) {
  if (!LLVMIsAConstantInt(value) || bits_of(value) > 64)
    return false;
  *out = LLVMConstIntGetSExtValue(value);
  return true;
}

/* As an operand: in brackets where it is more than a word. */
static const char *word(const search *s, term of) {
  bool plain = !strpbrk(of.text, " -?");
  return plain ? of.text : ws_arena_printf(s->arena, "(%s)", of.text);
}

static term binary(const search *s, term a, const char *operation, term b) {
  return a.text && b.text
             ? make(ws_arena_printf(s->arena, "%s %s %s", word(s, a), operation,
                                    word(s, b)),
                    either(a, b))
             : unknown;
}

static term number(const search *s, int64_t value) {
  return (term){ws_arena_printf(s->arena, "%lld", (long long)value), 0, false,
                value < 0};
}

static term call(const search *s, const char *function, term a, term b) {
  return a.text && b.text ? make(ws_arena_printf(s->arena, "%s(%s, %s)",
                                                 function, a.text, b.text),
                                 either(a, b))
                          : unknown;
}

/* As an operation without signs takes it. */
static term without_sign(const search *s, term of) {
  if (!of.text || !of.negative)
    return of;
  if (of.bits != 32)
    return unknown;
  static const char whole[] = "4294967296";
  const char *text = ws_arena_printf(s->arena, "((%s) %% %s + %s) %% %s",
                                     of.text, whole, whole, whole);
  of.negative = false;
  return make(text, of);
}

/* ---- instructions ---- */

static term term_of(const search *s, LLVMValueRef value, int nesting);

static const struct {
  const char *name, *text;
} numbers[] = {{"llvm.amdgcn.workgroup.id.x", "workgroup_x"},
               {"llvm.amdgcn.workgroup.id.y", "workgroup_y"},
               {"llvm.amdgcn.workgroup.id.z", "workgroup_z"},
               {"llvm.nvvm.read.ptx.sreg.ctaid.x", "workgroup_x"},
               {"llvm.nvvm.read.ptx.sreg.ctaid.y", "workgroup_y"},
               {"llvm.nvvm.read.ptx.sreg.ctaid.z", "workgroup_z"}};

static const char *callee_of(LLVMValueRef value) {
  LLVMValueRef callee = LLVMGetCalledValue(value);
  size_t size;
  return callee ? LLVMGetValueName2(callee, &size) : "";
}

static bool begins(const char *text, const char *with) {
  return !strncmp(text, with, strlen(with));
}

static bool is_minimum(const char *name) {
  return begins(name, "llvm.umin.") || begins(name, "llvm.smin.");
}

static bool is_maximum(const char *name) {
  return begins(name, "llvm.umax.") || begins(name, "llvm.smax.");
}

static term term_of_call(const search *s, LLVMValueRef value, int nesting) {
  const char *name = callee_of(value);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    if (!strcmp(name, numbers[i].name))
      return (term){numbers[i].text, 32, true, false};
  if (begins(name, "llvm.amdgcn.readfirstlane"))
    return term_of(s, LLVMGetOperand(value, 0), nesting);
  if (!is_minimum(name) && !is_maximum(name) && !begins(name, "llvm.usub.sat."))
    return unknown;
  term a = term_of(s, LLVMGetOperand(value, 0), nesting);
  term b = term_of(s, LLVMGetOperand(value, 1), nesting);
  if (begins(name, "llvm.usub.sat."))
    return call(s, "max", binary(s, a, "-", b), number(s, 0));
  return call(s, is_minimum(name) ? "min" : "max", a, b);
}

/* The bits of x in a mask that has no gaps, or all from one on. */
static term masked(const search *s, term x, int64_t mask) {
  int64_t low = mask & -mask, width = mask / low;
  x = without_sign(s, x);
  if (mask < 0 && width != -1)
    return unknown;
  if (mask > 0 && width & (width + 1))
    return unknown;
  if (low > 1)
    x = binary(s, x, "/", number(s, low));
  if (mask > 0)
    x = binary(s, x, "%", number(s, width + 1));
  return low > 1 ? binary(s, x, "*", number(s, low)) : x;
}

static term shifted(const search *s, term x, const char *operation,
                    LLVMValueRef by) {
  int64_t count;
  if (!constant_of(by, &count) || count < 0 || count > 31)
    return unknown;
  return binary(s, x, operation, number(s, INT64_C(1) << count));
}

static term difference(const search *s, term a, term b) {
  term result = binary(s, a, "-", b);
  result.negative = true;
  return result;
}

static term selected(const search *s, LLVMValueRef value, int nesting) {
  term condition = term_of(s, LLVMGetOperand(value, 0), nesting);
  term a = term_of(s, LLVMGetOperand(value, 1), nesting);
  term b = term_of(s, LLVMGetOperand(value, 2), nesting);
  if (!condition.text || !a.text || !b.text)
    return unknown;
  return make(ws_arena_printf(s->arena, "%s ? %s : %s", word(s, condition),
                              word(s, a), word(s, b)),
              either(either(a, b), (term){.varies = condition.varies}));
}

typedef struct sides {
  term left, right;
} sides;

/* Operands as the predicate takes them. */
static sides sides_of(const search *s, LLVMValueRef compare, int nesting) {
  LLVMIntPredicate predicate = LLVMGetICmpPredicate(compare);
  sides out = {term_of(s, LLVMGetOperand(compare, 0), nesting),
               term_of(s, LLVMGetOperand(compare, 1), nesting)};
  if (predicate >= LLVMIntUGT && predicate <= LLVMIntULE) {
    out.left = without_sign(s, out.left);
    out.right = without_sign(s, out.right);
  }
  return out;
}

static term truth(const search *s, LLVMValueRef compare, int nesting) {
  static const char *const operators[] = {
      [LLVMIntEQ] = "==",  [LLVMIntNE] = "!=",  [LLVMIntUGT] = ">",
      [LLVMIntUGE] = ">=", [LLVMIntULT] = "<",  [LLVMIntULE] = "<=",
      [LLVMIntSGT] = ">",  [LLVMIntSGE] = ">=", [LLVMIntSLT] = "<",
      [LLVMIntSLE] = "<="};
  sides of = sides_of(s, compare, nesting);
  term result =
      binary(s, of.left, operators[LLVMGetICmpPredicate(compare)], of.right);
  result.bits = 1;
  result.negative = false;
  return result;
}

static term term_of_operation(const search *s, LLVMValueRef value,
                              int nesting) {
  term a = term_of(s, LLVMGetOperand(value, 0), nesting);
  LLVMValueRef right = LLVMGetOperand(value, 1);
  term b = term_of(s, right, nesting);
  int64_t constant;
  bool known = constant_of(right, &constant);
  switch (LLVMGetInstructionOpcode(value)) {
  case LLVMAdd:
    return known && constant < 0 ? difference(s, a, number(s, -constant))
                                 : binary(s, a, "+", b);
  case LLVMOr:
    return LLVMGetIsDisjoint(value) ? binary(s, a, "+", b) : unknown;
  case LLVMSub:
    return difference(s, a, b);
  case LLVMMul:
    return binary(s, a, "*", b);
  case LLVMShl:
    return shifted(s, a, "*", right);
  case LLVMUDiv:
    return binary(s, without_sign(s, a), "/", without_sign(s, b));
  case LLVMSDiv:
    return binary(s, a, "/", b);
  case LLVMURem:
    return binary(s, without_sign(s, a), "%", without_sign(s, b));
  case LLVMSRem:
    return binary(s, a, "%", b);
  case LLVMLShr:
    return shifted(s, without_sign(s, a), "/", right);
  case LLVMAShr: /* of what may be negative it rounds otherwise */
    return a.negative ? unknown : shifted(s, a, "/", right);
  case LLVMAnd:
    return known && constant && constant > INT32_MIN ? masked(s, a, constant)
                                                     : unknown;
  default:
    return unknown;
  }
}

/* The lower bits of what may have more of them. */
static term cut(const search *s, term of, int bits) {
  return bits < 32 ? binary(s, without_sign(s, of), "%",
                            number(s, INT64_C(1) << bits))
                   : of;
}

static term with_bits(term of, LLVMValueRef value) {
  of.bits = bits_of(value);
  return of;
}

static term term_of(const search *s, LLVMValueRef value, int nesting) {
  int64_t constant;
  size_t size;
  if (!bits_of(value) || nesting == MOST_NESTING)
    return unknown;
  if (constant_of(value, &constant))
    return with_bits(number(s, constant), value);
  if (LLVMIsAArgument(value)) {
    const char *name = LLVMGetValueName2(value, &size);
    return (term){ws_arena_strndup(s->arena, name, size), bits_of(value), true,
                  false};
  }
  if (!LLVMIsAInstruction(value))
    return unknown;
  nesting++;
  if (LLVMIsACallInst(value))
    return with_bits(term_of_call(s, value, nesting), value);
  if (LLVMIsASelectInst(value))
    return with_bits(selected(s, value, nesting), value);
  if (LLVMIsAICmpInst(value))
    return truth(s, value, nesting);
  switch (LLVMGetInstructionOpcode(value)) {
  case LLVMZExt:
    return with_bits(
        without_sign(s, term_of(s, LLVMGetOperand(value, 0), nesting)), value);
  case LLVMTrunc:
    return with_bits(
        cut(s, term_of(s, LLVMGetOperand(value, 0), nesting), bits_of(value)),
        value);
  case LLVMSExt: /* of a truth: 0 or -1 */
    if (bits_of(LLVMGetOperand(value, 0)) < 8)
      return unknown;
    return with_bits(term_of(s, LLVMGetOperand(value, 0), nesting), value);
  case LLVMFreeze:
    return with_bits(term_of(s, LLVMGetOperand(value, 0), nesting), value);
  default:
    return LLVMIsABinaryOperator(value)
               ? with_bits(term_of_operation(s, value, nesting), value)
               : unknown;
  }
}

/* ---- what has no such form ---- */

/* Whether scalars decide a value, and nothing else does. */
static bool is_decided(LLVMValueRef value, int nesting, bool *out_varies) {
  enum { MOST = 12 };
  if (LLVMIsAConstant(value))
    return true;
  if (LLVMIsAArgument(value)) {
    *out_varies = true;
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind;
  }
  bool followed = LLVMIsABinaryOperator(value) || LLVMIsACastInst(value) ||
                  LLVMIsASelectInst(value) || LLVMIsACmpInst(value) ||
                  LLVMIsAIntrinsicInst(value);
  if (!followed || nesting == MOST || LLVMIsALoadInst(value))
    return false;
  const char *name = LLVMIsACallInst(value) ? callee_of(value) : "";
  if (begins(name, "llvm.amdgcn.") || begins(name, "llvm.nvvm."))
    return false;
  int operands = LLVMGetNumOperands(value) - (*name != 0);
  for (int i = 0; i < operands; i++)
    if (!is_decided(LLVMGetOperand(value, (unsigned)i), nesting + 1,
                    out_varies))
      return false;
  return operands > 0;
}

/* ---- what is found ---- */

static bool is_there(const search *s, const char *left, const char *right,
                     int64_t modulus, int line) {
  for (int i = 0; i < s->count; i++) {
    const ws_branch *item = &s->items[i];
    if (!strcmp(item->kernel, s->kernel) && !strcmp(item->left, left) &&
        !strcmp(item->right, right) && item->modulus == modulus &&
        (*left || item->line == line))
      return true;
  }
  return false;
}

static void add(search *s, const char *left, const char *right,
                int64_t modulus) {
  const char *file;
  int line = ws_pass_line(s->at, &file);
  if (s->count == WS_MAX_BRANCHES || is_there(s, left, right, modulus, line))
    return;
  s->items[s->count++] = (ws_branch){
      .kernel = s->kernel,
      .left = left,
      .right = right,
      .modulus = modulus,
      .region = ws_arena_strdup(s->arena, ws_pass_region_of(s->at)),
      .file = ws_arena_strdup(s->arena, line > 0 && file ? file : ""),
      .line = line};
}

static void add_modulus(search *s, term of, int64_t modulus) {
  of = without_sign(s, of);
  if (of.text && of.varies && modulus > 1)
    add(s, of.text, "", modulus);
}

static void add_comparison(search *s, term left, term right) {
  if (left.text && right.text && (left.varies || right.varies))
    add(s, left.text, right.text, 0);
}

/* A loop that steps towards a term: its trips and what is left of the last. */
static void add_steps(search *s, term of, LLVMValueRef other) {
  int64_t steps[WS__MOST_STEPS];
  int count = ws__steps_towards(other, steps);
  for (int i = 0; i < count; i++)
    add_modulus(s, of, steps[i]);
}

static void take_involved(search *s) {
  bool varies = false;
  if (is_decided(s->at, 0, &varies) && varies)
    add(s, "", "", 0);
}

static void take_comparison(search *s) {
  sides of = sides_of(s, s->at, 0);
  if (of.left.text && of.right.text)
    add_comparison(s, of.left, of.right);
  else if (of.left.text)
    add_steps(s, of.left, LLVMGetOperand(s->at, 1));
  else if (of.right.text)
    add_steps(s, of.right, LLVMGetOperand(s->at, 0));
  if (!of.left.text || !of.right.text)
    take_involved(s);
}

static void take_operation(search *s) {
  int64_t by;
  LLVMOpcode opcode = LLVMGetInstructionOpcode(s->at);
  if (!LLVMIsABinaryOperator(s->at) ||
      !constant_of(LLVMGetOperand(s->at, 1), &by))
    return;
  term of = term_of(s, LLVMGetOperand(s->at, 0), 0);
  if (opcode == LLVMUDiv || opcode == LLVMSDiv || opcode == LLVMURem ||
      opcode == LLVMSRem)
    add_modulus(s, of, by);
  else if ((opcode == LLVMLShr || opcode == LLVMAShr) && by > 0 && by < 32)
    add_modulus(s, of, INT64_C(1) << by);
  else if (opcode == LLVMAnd && by > 0 && by < INT32_MAX)
    add_modulus(s, of, INT64_C(2) << (63 - __builtin_clzll((uint64_t)by)));
  else if (opcode == LLVMAnd && by < 0 && by > INT32_MIN)
    add_modulus(s, of, by & -by);
}

static void take_instruction(search *s) {
  if (LLVMIsAICmpInst(s->at)) {
    take_comparison(s);
    return;
  }
  if (LLVMIsAFCmpInst(s->at))
    take_involved(s);
  if (LLVMIsATruncInst(s->at) && bits_of(s->at) && bits_of(s->at) < 32)
    add_modulus(s, term_of(s, LLVMGetOperand(s->at, 0), 0),
                INT64_C(1) << bits_of(s->at));
  if (!LLVMIsACallInst(s->at)) {
    take_operation(s);
    return;
  }
  const char *name = callee_of(s->at);
  if (is_minimum(name) || is_maximum(name))
    add_comparison(s, term_of(s, LLVMGetOperand(s->at, 0), 0),
                   term_of(s, LLVMGetOperand(s->at, 1), 0));
}

static void take_kernel(search *s, LLVMValueRef function) {
  size_t size;
  const char *name = LLVMGetValueName2(function, &size);
  s->kernel = ws_arena_strndup(s->arena, name, size);
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block))
    for (s->at = LLVMGetFirstInstruction(block); s->at;
         s->at = LLVMGetNextInstruction(s->at))
      take_instruction(s);
}

void ws__branches_find(const ws_lowering *l) {
  search s = {.arena = l->arena};
  s.items = ws_arena_alloc(l->arena, WS_MAX_BRANCHES * sizeof *s.items);
  for (LLVMValueRef function = LLVMGetFirstFunction(l->module); function;
       function = LLVMGetNextFunction(function))
    if (ws__is_kernel(function))
      take_kernel(&s, function);
  l->out->branches = s.items;
  l->out->branch_count = s.count;
}
