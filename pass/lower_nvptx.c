/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lowering for NVIDIA: LLVM emits PTX, ptxas makes a cubin of it where there is
 * one (ptxas.c); without, the PTX is the code object and the driver assembles
 * it when it is loaded.
 *
 * Sums lie in an alloca until SROA, after unrolling, makes registers of them:
 * the default O3 does that and no harm. Over eight points of fp8_gemm_wgmma,
 * with one and two sets of partial sums, O1, O2 and O3 all give no spill and no
 * wgmma that ptxas serialises; SROA without unrolling gives C7518. Code
 * generation runs at its highest level: at level 0 LLVM copies the sums around
 * (C7514, C7517).
 */
#include "lower.h"
#include "nvptx_expand.h"
#include "parse.h"
#include "template_ir.h"

#include <ctype.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void initialize(void) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

/* ---- before O3 ----------------------------------------------------------- */

/* PTX has no dots in names; LLVM mends those of internal symbols only. */
static char *ptx_name(ws_arena *arena, const char *name) {
  char *copy = ws_arena_strdup(arena, name);
  for (char *c = copy; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_' && *c != '$')
      *c = '_';
  return copy;
}

static void rename_dynamic_lds(const ws_lowering *l) {
  for (LLVMValueRef global = LLVMGetFirstGlobal(l->module); global;
       global = LLVMGetNextGlobal(global)) {
    size_t size;
    if (!ws__is_dynamic_lds(global))
      continue;
    const char *name = ptx_name(l->arena, LLVMGetValueName2(global, &size));
    LLVMSetValueName2(global, name, strlen(name));
  }
}

static LLVMTypeRef byval_type(LLVMValueRef kernel, unsigned parameter) {
  unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
  LLVMAttributeRef attribute =
      LLVMGetEnumAttributeAtIndex(kernel, parameter + 1, kind);
  return attribute ? LLVMGetTypeAttributeValue(attribute) : NULL;
}

/* A tensor map is used where it lies among the kernel's parameters. Without
 * this LLVM 21 copies it to the stack and gives TMA that address; it knows this
 * form only, not the parameter attribute of the same name. */
static void add_grid_constants(LLVMModuleRef module, LLVMValueRef kernel) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
  LLVMMetadataRef numbers[WS_TEMPLATE_MAX_ARGUMENTS];
  size_t count = 0;
  for (unsigned i = 0; i < LLVMCountParams(kernel); i++)
    if (byval_type(kernel, i) && count < WS_TEMPLATE_MAX_ARGUMENTS)
      numbers[count++] = LLVMValueAsMetadata(LLVMConstInt(i32, i + 1, false));
  if (!count)
    return;
  LLVMMetadataRef node[] = {
      LLVMValueAsMetadata(kernel),
      LLVMMDStringInContext2(context, "grid_constant", 13),
      LLVMMDNodeInContext2(context, numbers, count)};
  LLVMAddNamedMetadataOperand(
      module, "nvvm.annotations",
      LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, node, 3)));
}

static bool prepare(const ws_lowering *l) {
  rename_dynamic_lds(l);
  for (LLVMValueRef function = LLVMGetFirstFunction(l->module); function;
       function = LLVMGetNextFunction(function))
    if (ws__is_kernel(function))
      add_grid_constants(l->module, function);
  return ws__lower_passes(l, "function(sccp),always-inline,globaldce,"
                             "function(sccp,instsimplify,simplifycfg)") &&
         ws__nvptx_expand(l->module, l->findings);
}

/* ---- facts --------------------------------------------------------------- */

static int32_t read_threads(LLVMValueRef kernel) {
  static const char *const keys[] = {"nvvm.reqntid", "nvvm.maxntid"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    LLVMAttributeRef attribute = LLVMGetStringAttributeAtIndex(
        kernel, LLVMAttributeFunctionIndex, keys[i], (unsigned)strlen(keys[i]));
    unsigned size;
    if (attribute)
      return (int32_t)strtol(LLVMGetStringAttributeValue(attribute, &size),
                             NULL, 10);
  }
  return 1024; /* the hardware's own limit */
}

/* Where the launch finds each parameter: PTX aligns a parameter to its type,
 * a descriptor to what its attribute says (PTX interoperability, 3). */
static void read_arguments(const ws_lowering *l, LLVMValueRef kernel,
                           ws_kernel_facts *facts) {
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(l->module);
  unsigned count = LLVMCountParams(kernel);
  unsigned long long offset = 0;
  for (unsigned i = 0; i < count && i < WS_PROBLEM_MAX_ARGS; i++) {
    LLVMValueRef parameter = LLVMGetParam(kernel, i);
    LLVMTypeRef inner = byval_type(kernel, i);
    LLVMTypeRef type = inner ? inner : LLVMTypeOf(parameter);
    unsigned stated = inner ? ws__parameter_align(kernel, i) : 0;
    unsigned align = stated ? stated : LLVMABIAlignmentOfType(layout, type);
    unsigned long long bytes = LLVMABISizeOfType(layout, type);
    size_t size;
    offset = (offset + align - 1) / align * align;
    facts->args[facts->arg_count++] = (struct ws_kernarg){
        ws_arena_strdup(l->arena, LLVMGetValueName2(parameter, &size)),
        (int32_t)offset, (int32_t)bytes};
    offset += bytes;
  }
  facts->kernarg_bytes = (int32_t)offset;
}

static bool is_used_in(LLVMValueRef value, LLVMValueRef kernel, int depth) {
  enum { MAX_DEPTH = 16 };
  for (LLVMUseRef use = LLVMGetFirstUse(value); use && depth < MAX_DEPTH;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsAInstruction(user)
            ? LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)) == kernel
            : is_used_in(user, kernel, depth + 1))
      return true;
  }
  return false;
}

/* The template's bytes for an external array that the kernel uses. */
static int32_t read_dynamic_lds(const ws_lowering *l, LLVMValueRef kernel) {
  const ws_template *tmpl = l->candidate ? l->candidate->tmpl : NULL;
  int64_t total = 0, bytes;
  if (!tmpl)
    return 0;
  ws_scope scope = ws_candidate_scope(l->arena, l->candidate, NULL, 0);
  for (int i = 0; i < tmpl->lds_count; i++) {
    LLVMValueRef global =
        LLVMGetNamedGlobal(l->module, ptx_name(l->arena, tmpl->lds[i].global));
    if (global && ws__is_dynamic_lds(global) && is_used_in(global, kernel, 0) &&
        ws_expr_eval(tmpl->lds[i].bytes, &scope, &bytes, NULL) == WS_OK)
      total += bytes;
  }
  return (int32_t)total;
}

static ws_kernel_facts *read_facts(const ws_lowering *l, int *out_count) {
  ws_kernel_facts *kernels =
      ws_arena_alloc(l->arena, WS_MAX_KERNELS * sizeof *kernels);
  *out_count = 0;
  for (LLVMValueRef function = LLVMGetFirstFunction(l->module); function;
       function = LLVMGetNextFunction(function)) {
    size_t size;
    if (!ws__is_kernel(function) || *out_count == WS_MAX_KERNELS)
      continue;
    ws_kernel_facts *facts = &kernels[(*out_count)++];
    facts->name = ws_arena_strdup(l->arena, LLVMGetValueName2(function, &size));
    facts->max_workgroup = read_threads(function);
    facts->dynamic_lds = read_dynamic_lds(l, function);
    read_arguments(l, function, facts);
  }
  return kernels;
}

/* ---- hash ---------------------------------------------------------------- */

/* Whether a line of PTX is code: no place in a source, no label that marks
 * one. */
static bool is_code(const char *line, size_t size) {
  static const char *const others[] = {".loc", ".file", "$L__tmp", "$L__func_"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (size >= strlen(others[i]) &&
        !memcmp(line, others[i], strlen(others[i])))
      return false;
  return size > 0;
}

/* [*begin, *end) without its comment and the blanks around. */
static void trim_line(const char **begin, const char **end) {
  const char *comment = memmem(*begin, (size_t)(*end - *begin), "//", 2);
  *end = comment ? comment : *end;
  while (*begin < *end && isspace((unsigned char)**begin))
    ++*begin;
  while (*end > *begin && isspace((unsigned char)(*end)[-1]))
    --*end;
}

ws_hash ws__nvptx_hash(ws_blob ptx, const ws_kernel_facts *kernels, int count) {
  static const char section[] = ".section"; /* debug info, to its brace */
  ws_hasher *hasher = ws_hasher_create();
  const char *next = ptx.data, *last = next + ptx.size;
  bool in_section = false;
  while (next < last) {
    const char *begin = next, *end = memchr(next, '\n', (size_t)(last - next));
    end = end ? end : last;
    next = end + 1;
    trim_line(&begin, &end);
    size_t size = (size_t)(end - begin);
    in_section |= size >= sizeof section - 1 &&
                  !memcmp(begin, section, sizeof section - 1);
    if (!in_section && is_code(begin, size)) {
      ws_hasher_update(hasher, begin, size);
      ws_hasher_update(hasher, "\n", 1);
    }
    if (memchr(begin, '}', size))
      in_section = false;
  }
  for (int i = 0; i < count; i++)
    ws_hasher_update(hasher, &kernels[i].dynamic_lds,
                     sizeof kernels[i].dynamic_lds);
  return ws_hasher_finish(hasher);
}

/* ---- after code generation ----------------------------------------------- */

static bool finish(const ws_lowering *l, ws_blob emitted) {
  ws_blob code = {ws_arena_strndup(l->arena, emitted.data, emitted.size),
                  emitted.size + 1};
  int count;
  ws_kernel_facts *kernels = read_facts(l, &count);
  ws_hash hash = ws__nvptx_hash(emitted, kernels, count);
  if (*ws__ptxas_path() && !ws__ptxas_run(l, code, kernels, count, &code))
    return false;
  for (int i = 0; i < count; i++)
    kernels[i].code_bytes =
        (int32_t)ws_elf_section_bytes(code, ".text.", kernels[i].name);
  ws__scalar_constants_take(l, kernels, count);
  l->out->kernels = kernels;
  l->out->kernel_count = count;
  l->out->code_hash = ws_arena_strdup(l->arena, hash.hex);
  l->out->code_object = code.data;
  l->out->code_object_size = code.size;
  return true;
}

static void report_scratch(const ws_lowering *l,
                           const ws_kernel_facts *kernel) {
  ws_findings_add(
      l->findings, "scratch", kernel->name,
      l->candidate ? l->candidate->tmpl->file : NULL, 0,
      "kernel %s needs %d bytes of stack per thread (%d registers spilled): "
      "make the tile smaller, give more registers (fewer threads or workgroups "
      "per SM, setmaxnreg), or index arrays by constants only",
      kernel->name, (int)kernel->scratch_bytes, (int)kernel->vgpr_spills);
}

static const char *tool(ws_arena *arena) {
  return *ws__ptxas_path()
             ? ws_arena_printf(arena, "ptxas %s", ws__ptxas_version())
             : "no ptxas";
}

const ws_lowering_family ws__lower_nvptx = {
    .ir = &ws__ir_nvptx,
    .name = "NVPTX",
    .features = "+ptx84", /* the oldest with fp8 mma.sync: CUDA 12.4 */
    .level = LLVMCodeGenLevelAggressive,
    .relocation = LLVMRelocDefault,
    .file = LLVMAssemblyFile,
    .initialize = initialize,
    .prepare = prepare,
    .finish = finish,
    .report_scratch = report_scratch,
    .tool = tool,
};
