/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which region's function returns the offset that an access uses: the first
 * call that its pointer is computed from, backwards through arithmetic and
 * through variables. For findings, which otherwise point at the access alone.
 */
#include "parse.h"
#include "sanitize_instrument.h"

#include <string.h>

/* Address computations are short; what is longer gets no answer. */
enum { MOST_VALUES = 96 };

typedef struct chain {
  LLVMValueRef values[MOST_VALUES]; /* seen, in the order of their distance */
  int count;
} chain;

static void follow(chain *c, LLVMValueRef value) {
  for (int i = 0; i < c->count; i++)
    if (c->values[i] == value)
      return;
  if (c->count < MOST_VALUES && LLVMIsAInstruction(value))
    c->values[c->count++] = value;
}

static void follow_stores(chain *c, LLVMValueRef variable) {
  for (LLVMUseRef use = LLVMGetFirstUse(variable); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == variable)
      follow(c, LLVMGetOperand(user, 0));
  }
}

static void follow_operands(chain *c, LLVMValueRef value) {
  if (LLVMIsALoadInst(value)) {
    LLVMValueRef from = LLVMGetOperand(value, 0);
    if (LLVMIsAAllocaInst(from))
      follow_stores(c, from);
    return; /* what memory holds is data */
  }
  for (int i = 0; i < LLVMGetNumOperands(value); i++)
    follow(c, LLVMGetOperand(value, (unsigned)i));
}

/* NULL: the call is not of a region's function. */
static const ws_region *region_called(const ws_template *tmpl,
                                      LLVMValueRef value) {
  LLVMValueRef callee =
      LLVMIsACallInst(value) ? LLVMGetCalledValue(value) : NULL;
  if (!callee || !LLVMIsAFunction(callee) || LLVMIsDeclaration(callee))
    return NULL;
  const char *name = ws_pass_region_of(
      LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(callee)));
  for (int i = 0; i < tmpl->region_count; i++)
    if (!strcmp(tmpl->regions[i].function, name))
      return &tmpl->regions[i];
  return NULL;
}

const ws_region *ws__offset_region(const ws_template *tmpl,
                                   LLVMValueRef pointer) {
  chain c = {.count = 0};
  follow(&c, pointer);
  for (int i = 0; i < c.count; i++) {
    const ws_region *region = region_called(tmpl, c.values[i]);
    if (region)
      return region;
    follow_operands(&c, c.values[i]);
  }
  return NULL;
}
