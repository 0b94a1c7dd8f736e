/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The static check: globals, functions with their instructions
 * (check_instructions.c), the call graph, then what needs data flow
 * (check_flow.c). It refuses what a kernel has no honest use for, and what LLVM
 * is known to abort on, while the line is still known and the sentence can say
 * how to mend it. The checks and their cures are listed in checks.def,
 * intrinsics in check_intrinsics.def.
 *
 * It cannot catch everything LLVM aborts on; the rest ends as a verdict
 * `crash` of the compile server's child.
 */
#include "check.h"
#include "parse.h"
#include "template_ir.h"

#include <llvm-c/Target.h>
#include <stdio.h>
#include <string.h>

static const struct check {
  const char *id, *cure, *nvptx_cure;
} checks[WS_CHECK_COUNT] = {
#define X(name, id, cure, nvptx_cure) {id, cure, nvptx_cure},
#include "checks.def"
#undef X
};

static const char *name_of(LLVMValueRef value) {
  size_t size;
  return LLVMGetValueName2(value, &size);
}

/* The region that a place belongs to; "" outside regions. */
static const char *region_at(const ws_checker *checker, LLVMValueRef place) {
  if (!place || !checker->candidate)
    return "";
  const char *name =
      LLVMIsAInstruction(place) ? ws_pass_region_of(place) : name_of(place);
  return ws_template_region_index(checker->candidate->tmpl, name) < 0 ? ""
                                                                      : name;
}

void ws__check_report(const ws_checker *checker, ws_check_id check,
                      LLVMValueRef place, const char *format, ...) {
  char seen[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(seen, sizeof seen, format, arguments);
  va_end(arguments);
  const char *file = NULL;
  int line = 0;
  if (place)
    line = LLVMIsAInstruction(place) ? ws_pass_line_before(place, &file)
                                     : ws_pass_line(place, &file);
  if (!file && checker->candidate)
    file = checker->candidate->tmpl->file;
  const struct check *known = &checks[check];
  bool nvptx = checker->family->family == WS_FAMILY_NVPTX;
  ws_finding *added = ws_findings_add(
      checker->findings, known->id, region_at(checker, place), file, line,
      "%s; %s", seen,
      nvptx && known->nvptx_cure ? known->nvptx_cure : known->cure);
  if (added && place && ws_pass_line(place, NULL) == line)
    added->column = ws_pass_column(place);
}

#define REPORT ws__check_report

/* ---- globals ------------------------------------------------------------- */

static bool is_parameter(const ws_checker *checker, const char *name) {
  const ws_template *tmpl =
      checker->candidate ? checker->candidate->tmpl : NULL;
  for (int i = 0; tmpl && i < tmpl->param_count; i++)
    if (!strcmp(tmpl->params[i].global, name))
      return true;
  return false;
}

/* The address of anything, in a table, is a number that can be read. */
static bool holds_address(LLVMValueRef constant) {
  if (LLVMIsAGlobalValue(constant) || LLVMIsABlockAddress(constant))
    return true;
  for (int i = 0; i < LLVMGetNumOperands(constant); i++)
    if (holds_address(LLVMGetOperand(constant, (unsigned)i)))
      return true;
  return false;
}

/* Loaders and linkers take some sections for lists of what to run. */
static void check_section(const ws_checker *checker, LLVMValueRef global) {
  const char *section = LLVMGetSection(global);
  if (section && *section)
    REPORT(checker, WS_CHECK_GLOBAL_STATE, NULL, "@%s has section \"%s\"",
           name_of(global), section);
}

static void check_global(const ws_checker *checker, LLVMValueRef global) {
  check_section(checker, global);
  unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(global));
  LLVMValueRef value = LLVMGetInitializer(global);
  const char *name = name_of(global);
  if (space == WS_SPACE_LDS) {
    bool dynamic = checker->family->family == WS_FAMILY_NVPTX &&
                   ws__is_dynamic_lds(global);
    if (!dynamic && (!value || !LLVMIsUndef(value)))
      REPORT(checker, WS_CHECK_LDS_INITIALISER, NULL,
             "%s @%s has an initialiser", checker->family->lds_word, name);
    return;
  }
  bool constant = space == WS_SPACE_CONSTANT && value &&
                  LLVMIsGlobalConstant(global) &&
                  (LLVMGetLinkage(global) == LLVMInternalLinkage ||
                   LLVMGetLinkage(global) == LLVMPrivateLinkage);
  if (!constant && !is_parameter(checker, name))
    REPORT(checker, WS_CHECK_GLOBAL_STATE, NULL, "global @%s keeps state",
           name);
  if (value && holds_address(value))
    REPORT(checker, WS_CHECK_ADDRESS_VALUE, NULL, "table @%s holds an address",
           name);
}

/* ---- functions ----------------------------------------------------------- */

static bool has_attribute(LLVMValueRef function, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  return LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                     kind) != NULL;
}

static void check_float_modes(const ws_checker *checker,
                              LLVMValueRef function) {
  static const char *const keys[] = {"denormal-fp-math",
                                     "denormal-fp-math-f32"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    LLVMAttributeRef mode =
        LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                      keys[i], (unsigned)strlen(keys[i]));
    unsigned size;
    const char *value =
        mode ? LLVMGetStringAttributeValue(mode, &size) : "ieee";
    if (strcmp(value, "ieee") && strcmp(value, "ieee,ieee"))
      REPORT(checker, WS_CHECK_FLOAT_ENVIRONMENT, function,
             "@%s has attribute %s", name_of(function), keys[i]);
  }
}

static void check_function(const ws_checker *checker, LLVMValueRef function) {
  bool kernel = ws__is_kernel(function);
  LLVMTypeRef type = LLVMGlobalGetValueType(function);
  if (LLVMIsFunctionVarArg(type))
    REPORT(checker, WS_CHECK_VARIADIC, function, "@%s is variadic",
           name_of(function));
  if (!kernel && (!has_attribute(function, "alwaysinline") ||
                  LLVMGetLinkage(function) != LLVMInternalLinkage))
    REPORT(checker, WS_CHECK_NOT_INLINED, function,
           "@%s would stay a function of its own", name_of(function));
  check_section(checker, function);
  if (LLVMHasPrologueData(function) || LLVMHasPrefixData(function))
    REPORT(checker, WS_CHECK_ASM, function,
           "@%s has bytes of its own in front of its code", name_of(function));
  for (unsigned i = 0; i < LLVMCountParams(function); i++)
    ws__check_type(checker, function, LLVMTypeOf(LLVMGetParam(function, i)));
  check_float_modes(checker, function);
  WS_FOR_EACH_INSTRUCTION(function, block, instruction)
  ws__check_instruction(checker, instruction);
}

/* ---- call graph ---------------------------------------------------------- */

enum { MAX_LDS_GLOBALS = 64 };

/* A walk over what one kernel reaches. */
typedef struct walk {
  LLVMValueRef *seen; /* functions met */
  bool *active;       /* those that have not returned yet */
  int seen_count;
  LLVMValueRef lds[MAX_LDS_GLOBALS];
  int lds_count;
} walk;

static int index_of(LLVMValueRef *items, int count, LLVMValueRef item) {
  for (int i = 0; i < count; i++)
    if (items[i] == item)
      return i;
  return -1;
}

static void collect_lds(walk *w, LLVMValueRef value, int depth) {
  if (LLVMIsAGlobalVariable(value)) {
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(value)) == WS_SPACE_LDS &&
        index_of(w->lds, w->lds_count, value) < 0 &&
        w->lds_count < MAX_LDS_GLOBALS)
      w->lds[w->lds_count++] = value;
  } else if (LLVMIsAConstantExpr(value) && depth < 16) {
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
      collect_lds(w, LLVMGetOperand(value, (unsigned)i), depth + 1);
  }
}

static void visit(const ws_checker *checker, walk *w, LLVMValueRef function) {
  int self = w->seen_count++;
  w->seen[self] = function;
  w->active[self] = true;
  WS_FOR_EACH_INSTRUCTION(function, block, instruction) {
    for (int i = 0; i < LLVMGetNumOperands(instruction); i++)
      collect_lds(w, LLVMGetOperand(instruction, (unsigned)i), 0);
    LLVMValueRef callee =
        LLVMIsACallInst(instruction) ? ws__called_function(instruction) : NULL;
    if (!callee || LLVMIsDeclaration(callee))
      continue;
    int met = index_of(w->seen, w->seen_count, callee);
    if (met < 0)
      visit(checker, w, callee);
    else if (w->active[met])
      REPORT(checker, WS_CHECK_RECURSION, instruction,
             "@%s is called again before it returns", name_of(callee));
  }
  w->active[self] = false;
}

/* Bytes of an LDS array: its own, or what the template has a launch give. */
static unsigned long long lds_bytes(const ws_checker *checker,
                                    LLVMValueRef global) {
  const ws_template *tmpl =
      checker->candidate ? checker->candidate->tmpl : NULL;
  ws_arena *arena = checker->findings->arena;
  int64_t bytes;
  if (!ws__is_dynamic_lds(global) || !tmpl)
    return LLVMABISizeOfType(LLVMGetModuleDataLayout(checker->module),
                             LLVMGlobalGetValueType(global));
  ws_scope scope = ws_candidate_scope(arena, checker->candidate, NULL, 0);
  for (int i = 0; i < tmpl->lds_count; i++)
    if (!strcmp(tmpl->lds[i].global, name_of(global)) &&
        ws_expr_eval(tmpl->lds[i].bytes, &scope, &bytes, NULL) == WS_OK)
      return (unsigned long long)bytes;
  return 0;
}

/* Recursion, and the LDS of one workgroup. */
static void check_kernel(const ws_checker *checker, LLVMValueRef kernel,
                         int function_count) {
  ws_arena *arena = checker->findings->arena;
  walk w = {.seen = ws_arena_alloc(arena, (size_t)function_count *
                                              sizeof(LLVMValueRef)),
            .active = ws_arena_alloc(arena, (size_t)function_count)};
  visit(checker, &w, kernel);
  unsigned long long bytes = 0;
  for (int i = 0; i < w.lds_count; i++)
    bytes += lds_bytes(checker, w.lds[i]);
  int limit = checker->target->lds_bytes;
  if (bytes > (unsigned long long)limit)
    REPORT(checker, WS_CHECK_LDS, kernel,
           "kernel @%s uses %llu bytes of %s, %s has %d per workgroup",
           name_of(kernel), bytes, checker->family->lds_word,
           checker->target->name, limit);
}

/* ---- all of it ----------------------------------------------------------- */

/* Others are orders to the linker (llvm.dependent-libraries, which opens files
 * of the host, llvm.linker.options) or to code generation. */
static void check_metadata(const ws_checker *checker) {
  static const char *const known[] = {
      "llvm.module.flags", "llvm.dbg.cu",    "llvm.ident",   "llvm.errno.tbaa",
      "nvvm.annotations",  "nvvmir.version", "llvm.debugify"};
  static const char *const prefixes[] = {"wavesmith.", "opencl."};
  size_t size;
  for (LLVMNamedMDNodeRef n = LLVMGetFirstNamedMetadata(checker->module); n;
       n = LLVMGetNextNamedMetadata(n)) {
    const char *name = LLVMGetNamedMetadataName(n, &size);
    bool allowed = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
      allowed |= !strcmp(name, known[i]);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
      allowed |= !strncmp(name, prefixes[i], strlen(prefixes[i]));
    if (!allowed)
      REPORT(checker, WS_CHECK_METADATA, NULL, "named metadata !%s", name);
  }
}

static void check_shape(const ws_checker *checker) {
  LLVMModuleRef module = checker->module;
  size_t size;
  check_metadata(checker);
  LLVMGetModuleInlineAsm(module, &size);
  if (size)
    REPORT(checker, WS_CHECK_ASM, NULL, "module-level assembly");
  for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
    check_global(checker, g);
  int count = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f), count++)
    if (!LLVMIsDeclaration(f))
      check_function(checker, f);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    if (ws__is_kernel(f))
      check_kernel(checker, f, count);
}

bool ws_pass_check(LLVMModuleRef module, const ws_candidate *candidate,
                   const char *target, ws_findings *findings) {
  ws_checker checker = {.module = module,
                        .candidate = candidate,
                        .target = ws_target_find(target),
                        .family = ws__ir_family_of(module),
                        .findings = findings};
  int before = findings->count;
  if (!checker.target) {
    ws_findings_add(findings, "check-target", "", NULL, 0,
                    "target %s is not known; use %s", target, ws_target_list());
    return false;
  }
  if (!checker.family || checker.family->family != checker.target->family) {
    ws_findings_add(findings, "check-target", "", NULL, 0,
                    "the module is for \"%s\", target %s needs target triple "
                    "= \"%s\"",
                    LLVMGetTarget(module), target,
                    ws__ir_family(checker.target->family)->triple);
    return false;
  }
  check_shape(&checker);
  if (findings->count == before)
    ws__check_flow(&checker);
  return findings->count == before;
}
