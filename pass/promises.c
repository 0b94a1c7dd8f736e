/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Takes promises off the IR. A broken one is undefined behaviour, which the
 * optimiser may turn into anything, while the sanitizer runs what is written:
 * a candidate could do its work wherever it is looked at and promise it away
 * elsewhere. Without them, what was sanitized is what is lowered. What the
 * optimiser can prove it finds again.
 *
 * The tables below say what stays, and nothing else does: so a promise that
 * LLVM learns later is not believed until somebody has looked at it.
 * docs/templates.md says of each why. Three kinds stay: choices of code
 * (unrolling, inlining, registers, rounding that the bound of the problem
 * judges), how arguments are passed, and what a check sees to (docs/
 * templates.md names it).
 *
 * Operations that are undefined for some operands: defined.c.
 */
#include "promises.h"
#include "family.h"
#include "parse.h"
#include "template_ir.h"

#include <stdlib.h>
#include <string.h>

/* ---- what stays ---------------------------------------------------------- */

/* Largest alignment that an access of either family makes use of, and what the
 * problems promise of every buffer (kernels/). The sanitizer compares it with
 * the addresses; beyond it there is nothing honest to gain. */
enum { MOST_ALIGNED = 16 };

static const char *const kept_flags_of_loops[] = {
    "llvm.licm.disable",
    "llvm.loop.disable_nonforced",
    "llvm.loop.distribute.enable",
    "llvm.loop.interleave.count",
    "llvm.loop.licm_versioning.disable",
    "llvm.loop.pipeline.disable",
    "llvm.loop.pipeline.initiationinterval",
    "llvm.loop.unroll.count",
    "llvm.loop.unroll.disable",
    "llvm.loop.unroll.enable",
    "llvm.loop.unroll.full",
    "llvm.loop.unroll.runtime.disable",
    "llvm.loop.unroll_and_jam.count",
    "llvm.loop.unroll_and_jam.disable",
    "llvm.loop.unroll_and_jam.enable",
    "llvm.loop.vectorize.enable",
    "llvm.loop.vectorize.predicate.enable",
    "llvm.loop.vectorize.width",
    NULL};

static const char *const kept_metadata[] = {"amdgpu.ignore.denormal.mode",
                                            "amdgpu.no.fine.grained.memory",
                                            "amdgpu.no.remote.memory",
                                            "fpmath",
                                            "invariant.load",
                                            "llvm.loop",
                                            "nontemporal",
                                            "prof",
                                            "srcloc",
                                            "unpredictable",
                                            NULL};

/* Attributes, by where they stand. */
static const char *const on_functions[] = {"alwaysinline",
                                           "cold",
                                           "convergent",
                                           "hot",
                                           "inlinehint",
                                           "minsize",
                                           "noduplicate",
                                           "noinline",
                                           "nomerge",
                                           "nounwind",
                                           "null_pointer_is_valid",
                                           "optnone",
                                           "optsize",
                                           "uwtable",
                                           NULL};
/* The modes of denormals are for the check to judge. */
static const char *const texts_on_functions[] = {
    "amdgpu-agpr-alloc",       "amdgpu-flat-work-group-size",
    "amdgpu-memory-bound",     "amdgpu-num-sgpr",
    "amdgpu-num-vgpr",         "amdgpu-sched-strategy",
    "amdgpu-unroll-threshold", "amdgpu-wave-limiter",
    "amdgpu-waves-per-eu",     "denormal-fp-math",
    "denormal-fp-math-f32",    "nvvm.maxnreg",
    "nvvm.minctasm",           "target-cpu",
    "uniform-work-group-size", NULL};
static const char *const on_calls[] = {
    "alwaysinline", "convergent", "noduplicate", "nomerge", "nounwind", NULL};
static const char *const on_results[] = {"inreg", "signext", "zeroext", NULL};
static const char *const on_parameters[] = {"byref",  "byval",   "elementtype",
                                            "immarg", "inreg",   "signext",
                                            "sret",   "zeroext", NULL};
/* Each argument of a problem is a buffer of its own, and check-readonly-store
 * holds an argument to its "readonly". */
static const char *const on_kernel_parameters[] = {
    "byref",    "byval",   "elementtype", "inreg",   "noalias",
    "readonly", "signext", "sret",        "zeroext", NULL};
static const char *const no_texts[] = {NULL};

static bool is_listed(const char *const *list, const char *name, size_t size) {
  for (; *list; list++)
    if (strlen(*list) == size && !strncmp(*list, name, size))
      return true;
  return false;
}

static unsigned attribute_kind(const char *name) {
  return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

static bool kind_is_listed(const char *const *list, unsigned kind) {
  for (; *list; list++)
    if (attribute_kind(*list) == kind)
      return true;
  return false;
}

/* ---- attributes ---------------------------------------------------------- */

/* The same for functions and for calls. */
typedef struct attribute_holder {
  unsigned (*count)(LLVMValueRef, LLVMAttributeIndex);
  void (*get)(LLVMValueRef, LLVMAttributeIndex, LLVMAttributeRef *);
  LLVMAttributeRef (*find)(LLVMValueRef, LLVMAttributeIndex, unsigned);
  void (*add)(LLVMValueRef, LLVMAttributeIndex, LLVMAttributeRef);
  void (*remove)(LLVMValueRef, LLVMAttributeIndex, unsigned);
  void (*remove_text)(LLVMValueRef, LLVMAttributeIndex, const char *, unsigned);
} attribute_holder;

static const attribute_holder of_function = {
    LLVMGetAttributeCountAtIndex,   LLVMGetAttributesAtIndex,
    LLVMGetEnumAttributeAtIndex,    LLVMAddAttributeAtIndex,
    LLVMRemoveEnumAttributeAtIndex, LLVMRemoveStringAttributeAtIndex};
static const attribute_holder of_call = {
    LLVMGetCallSiteAttributeCount,   LLVMGetCallSiteAttributes,
    LLVMGetCallSiteEnumAttribute,    LLVMAddCallSiteAttribute,
    LLVMRemoveCallSiteEnumAttribute, LLVMRemoveCallSiteStringAttribute};

static void keep_attributes(const attribute_holder *holder, LLVMValueRef of,
                            LLVMAttributeIndex at, const char *const *kinds,
                            const char *const *texts) {
  unsigned count = holder->count(of, at), size;
  if (!count)
    return;
  LLVMAttributeRef *list = calloc(count, sizeof *list);
  WS_ASSERT(list);
  holder->get(of, at, list);
  for (unsigned i = 0; i < count; i++) {
    if (LLVMIsStringAttribute(list[i])) {
      const char *text = LLVMGetStringAttributeKind(list[i], &size);
      if (!is_listed(texts, text, size))
        holder->remove_text(of, at, text, size);
    } else if (!kind_is_listed(kinds, LLVMGetEnumAttributeKind(list[i]))) {
      holder->remove(of, at, LLVMGetEnumAttributeKind(list[i]));
    }
  }
  free(list);
}

/* Of a parameter. An alignment is how a copy is passed (byval), or what a
 * copying intrinsic does, which the sanitizer looks at (checked). */
static void keep_of_parameter(const attribute_holder *holder, LLVMValueRef of,
                              LLVMAttributeIndex at, const char *const *kinds,
                              bool checked) {
  unsigned kind = attribute_kind("align");
  LLVMAttributeRef align = holder->find(of, at, kind);
  bool passed = holder->find(of, at, attribute_kind("byval")) != NULL;
  uint64_t bytes = align ? LLVMGetEnumAttributeValue(align) : 0;
  keep_attributes(holder, of, at, kinds, no_texts);
  if (!bytes || (!passed && !checked))
    return;
  if (!passed && bytes > MOST_ALIGNED)
    bytes = MOST_ALIGNED;
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(of));
  holder->add(of, at, LLVMCreateEnumAttribute(context, kind, bytes));
}

static void drop_of_function(LLVMValueRef function) {
  bool kernel = ws__is_kernel(function);
  keep_attributes(&of_function, function, LLVMAttributeFunctionIndex,
                  on_functions, texts_on_functions);
  keep_attributes(&of_function, function, LLVMAttributeReturnIndex, on_results,
                  no_texts);
  for (unsigned i = 1; i <= LLVMCountParams(function); i++)
    keep_of_parameter(&of_function, function, i,
                      kernel ? on_kernel_parameters : on_parameters, false);
}

static bool is_copy(LLVMValueRef callee) {
  size_t size;
  return LLVMIsAFunction(callee) &&
         !strncmp(LLVMGetValueName2(callee, &size), "llvm.mem", 8);
}

/* Not "tail" either: it says that no variable of the caller is touched. */
static void drop_of_call(LLVMValueRef call) {
  bool copies = is_copy(LLVMGetCalledValue(call));
  keep_attributes(&of_call, call, LLVMAttributeFunctionIndex, on_calls,
                  no_texts);
  keep_attributes(&of_call, call, LLVMAttributeReturnIndex, on_results,
                  no_texts);
  for (unsigned i = 1; i <= LLVMGetNumArgOperands(call); i++)
    keep_of_parameter(&of_call, call, i, on_parameters, copies);
  LLVMSetTailCallKind(call, LLVMTailCallKindNone);
}

/* ---- metadata ------------------------------------------------------------ */

/* A property of a loop, !{!"llvm.loop. ...", ...}; the other operands are the
 * loop itself and places in the source. */
static bool is_promise_of_loop(LLVMValueRef operand) {
  if (!operand || !LLVMIsAMDNode(operand) ||
      LLVMGetMDNodeNumOperands(operand) == 0)
    return false;
  unsigned count = LLVMGetMDNodeNumOperands(operand), size;
  LLVMValueRef *fields = calloc(count, sizeof *fields);
  WS_ASSERT(fields);
  LLVMGetMDNodeOperands(operand, fields);
  const char *name = fields[0] && LLVMIsAMDString(fields[0])
                         ? LLVMGetMDString(fields[0], &size)
                         : NULL;
  free(fields);
  return name && !is_listed(kept_flags_of_loops, name, size);
}

/* What stands in a promise's place: a name that LLVM gives no meaning. An empty
 * node ends the process there (GetUnrollMetadata reads operand 0 of each). */
static LLVMMetadataRef no_promise(LLVMContextRef context) {
  static const char name[] = "llvm.loop.none";
  LLVMMetadataRef text = LLVMMDStringInContext2(context, name, sizeof name - 1);
  return LLVMMDNodeInContext2(context, &text, 1);
}

static void drop_of_loop(LLVMContextRef context, LLVMValueRef loop) {
  unsigned count = LLVMGetMDNodeNumOperands(loop);
  LLVMValueRef *operands = calloc(count, sizeof *operands);
  WS_ASSERT(operands);
  LLVMGetMDNodeOperands(loop, operands);
  for (unsigned i = 1; i < count; i++)
    if (is_promise_of_loop(operands[i]))
      LLVMReplaceMDNodeOperandWith(loop, i, no_promise(context));
  free(operands);
}

/* Where it stands in the text (llvm/IR/FixedMetadataKinds.def: dbg). C's list
 * of an instruction's metadata holds it in spite of its name. */
enum { DEBUG_KIND = 0 };

typedef struct kept_kinds {
  LLVMContextRef context;
  unsigned kinds[sizeof kept_metadata / sizeof kept_metadata[0]];
  unsigned loop;
} kept_kinds;

static kept_kinds find_kinds(LLVMContextRef context) {
  kept_kinds out = {.context = context};
  for (int i = 0; kept_metadata[i]; i++)
    out.kinds[i] = LLVMGetMDKindIDInContext(context, kept_metadata[i],
                                            (unsigned)strlen(kept_metadata[i]));
  out.loop = LLVMGetMDKindIDInContext(context, "llvm.loop", 9);
  return out;
}

static bool stays(const kept_kinds *kept, unsigned kind) {
  for (int i = 0; kept_metadata[i]; i++)
    if (kept->kinds[i] == kind)
      return true;
  return kind == DEBUG_KIND;
}

static void drop_metadata(const kept_kinds *kept, LLVMValueRef instruction) {
  size_t count;
  if (!LLVMHasMetadata(instruction))
    return;
  LLVMValueMetadataEntry *list =
      LLVMInstructionGetAllMetadataOtherThanDebugLoc(instruction, &count);
  for (unsigned i = 0; i < count; i++) {
    unsigned kind = LLVMValueMetadataEntriesGetKind(list, i);
    if (!stays(kept, kind))
      LLVMSetMetadata(instruction, kind, NULL);
    else if (kind == kept->loop)
      drop_of_loop(kept->context, LLVMGetMetadata(instruction, kind));
  }
  LLVMDisposeValueMetadataEntries(list);
}

/* Of a function or variable: workgroup sizes, addresses, uses. */
static void drop_global_metadata(LLVMValueRef global) {
  size_t count;
  LLVMValueMetadataEntry *list = LLVMGlobalCopyAllMetadata(global, &count);
  for (unsigned i = 0; i < count; i++)
    if (LLVMValueMetadataEntriesGetKind(list, i) != DEBUG_KIND)
      LLVMGlobalEraseMetadata(global, LLVMValueMetadataEntriesGetKind(list, i));
  LLVMDisposeValueMetadataEntries(list);
}

/* ---- instructions -------------------------------------------------------- */

static void limit_alignment(LLVMValueRef access) {
  if (LLVMGetAlignment(access) > MOST_ALIGNED)
    LLVMSetAlignment(access, MOST_ALIGNED);
}

static void drop_flags(LLVMValueRef instruction) {
  switch (LLVMGetInstructionOpcode(instruction)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMShl:
  case LLVMTrunc:
    LLVMSetNSW(instruction, false);
    LLVMSetNUW(instruction, false);
    break;
  case LLVMUDiv:
  case LLVMSDiv:
  case LLVMLShr:
  case LLVMAShr:
    LLVMSetExact(instruction, false);
    break;
  case LLVMZExt:
  case LLVMUIToFP:
    LLVMSetNNeg(instruction, false);
    break;
  case LLVMOr:
    LLVMSetIsDisjoint(instruction, false);
    break;
  case LLVMICmp:
    LLVMSetICmpSameSign(instruction, false);
    break;
  case LLVMGetElementPtr:
    LLVMGEPSetNoWrapFlags(instruction, 0);
    break;
  case LLVMLoad:
  case LLVMStore:
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg:
    limit_alignment(instruction);
    break;
  case LLVMCall:
    drop_of_call(instruction);
    break;
  default:
    break;
  }
}

/* Intrinsics that do nothing but promise: that a variable holds nothing before
 * and behind, that pointers do not alias. */
static bool is_only_a_promise(LLVMValueRef instruction) {
  static const char *const prefixes[] = {"llvm.lifetime.",
                                         "llvm.experimental.noalias.scope."};
  size_t size;
  LLVMValueRef callee =
      LLVMIsACallInst(instruction) ? LLVMGetCalledValue(instruction) : NULL;
  if (!callee || !LLVMIsAFunction(callee))
    return false;
  const char *name = LLVMGetValueName2(callee, &size);
  return !strncmp(name, prefixes[0], strlen(prefixes[0])) ||
         !strncmp(name, prefixes[1], strlen(prefixes[1]));
}

static void drop_in_block(const kept_kinds *kept, LLVMBasicBlockRef block) {
  LLVMValueRef next, instruction = LLVMGetFirstInstruction(block);
  for (; instruction; instruction = next) {
    next = LLVMGetNextInstruction(instruction);
    if (is_only_a_promise(instruction)) {
      LLVMInstructionEraseFromParent(instruction);
      continue;
    }
    drop_flags(instruction);
    drop_metadata(kept, instruction);
  }
}

/* ---- what is promised by leaving a word out ------------------------------ */

static bool is_convergent(LLVMValueRef function) {
  return LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                     attribute_kind("convergent")) != NULL;
}

static bool is_matrix_instruction(LLVMValueRef callee) {
  static const char prefix[] = "llvm.amdgcn.mfma.";
  size_t size;
  return !strncmp(LLVMGetValueName2(callee, &size), prefix, sizeof prefix - 1);
}

/* Matrix instructions do not count: they have no effect but their result, and
 * the check lets none stand where lanes part. */
static bool calls_convergent(LLVMValueRef function) {
  WS_FOR_EACH_INSTRUCTION(function, block, instruction) {
    LLVMValueRef callee =
        LLVMIsACallInst(instruction) ? LLVMGetCalledValue(instruction) : NULL;
    if (callee && LLVMIsAFunction(callee) && is_convergent(callee) &&
        !is_matrix_instruction(callee))
      return true;
  }
  return false;
}

/* A function that a barrier stands in may not be called under other conditions
 * than those written, whether it says so or not. */
static void state_convergence(LLVMModuleRef module) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMAttributeRef convergent =
      LLVMCreateEnumAttribute(context, attribute_kind("convergent"), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
         f = LLVMGetNextFunction(f)) {
      if (ws__is_kernel(f) || is_convergent(f) || !calls_convergent(f))
        continue;
      LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, convergent);
      changed = true;
    }
  }
}

void ws__pass_drop_promises(LLVMModuleRef module) {
  kept_kinds kept = find_kinds(LLVMGetModuleContext(module));
  for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
    drop_global_metadata(g);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f)) {
    if (LLVMGetIntrinsicID(f))
      continue; /* those are LLVM's own, whatever was written */
    drop_of_function(f);
    drop_global_metadata(f);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
         b = LLVMGetNextBasicBlock(b))
      drop_in_block(&kept, b);
  }
  ws__pass_limit_fast_math(module);
  state_convergence(module);
}
