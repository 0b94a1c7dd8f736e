/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * HIP to a template, in this order:
 *   compile   comgr's clang, or what another clang has made
 *   notes     what the author says, out of the annotations
 *   functions kernels and regions get their names, the rest is inlined
 *   globals   LDS becomes arrays of bytes, parameters @ws.NAME
 *   clean     variables become values, flat pointers typed ones
 *   refuse    what a template may not have and inlining has not removed
 *   records   !wavesmith.* metadata, with the HIP for who shows a line of it
 * The optimiser runs as little as it can: the template is to look like the
 * source, and parameters must not be folded, so they stay "externally
 * initialised" until the end.
 */
#include "check.h"
#include "family.h"
#include "hip.h"
#include "parse.h"
#include "promises.h"
#include "template_ir.h"
#include "wavesmith/text.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Comdat.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>
#include <string.h>

enum { MOST_ARGUMENTS = 64 };

static const char *name_of(LLVMValueRef value) {
  size_t size;
  return LLVMGetValueName2(value, &size);
}

static void rename_value(LLVMValueRef value, const char *name) {
  LLVMSetValueName2(value, name, strlen(name));
}

static const char *base_of(ws_hip *h, LLVMValueRef value) {
  return ws__hip_base_name(h->findings->arena, name_of(value));
}

static bool is_kind(const ws_hip_note *note, const char *kind) {
  return !strcmp(note->kind, kind);
}

/* ---- compile ------------------------------------------------------------- */

static LLVMModuleRef read_ir(ws_hip *h, const char *ir) {
  return ws_pass_parse(LLVMContextCreate(), ir, strlen(ir), h->file,
                       h->findings);
}

/* OpenCL C has its words put in front of it here: HIP says what it includes. */
static const char *compiled_text(ws_hip *h, const ws_hip_request *request) {
  return strcmp(h->language, "opencl")
             ? request->text
             : ws_arena_printf(h->findings->arena,
                               "#include <wavesmith/hip.h>\n# 1 \"%s\"\n%s",
                               h->file, request->text);
}

static bool may_compile(ws_hip *h, const char *text) {
  const ws_target *target = ws_target_find(h->target);
  if (target && target->family == WS_FAMILY_AMDGPU)
    return ws__check_opencl(text, h->file, h->findings);
  WS_HIP_REFUSE(h, 0,
                "OpenCL C is compiled for AMD only; for %s write the template "
                "as LLVM IR",
                h->target);
  return false;
}

static LLVMModuleRef compile(ws_hip *h, const ws_hip_request *request) {
  LLVMContextRef context = LLVMContextCreate();
  if (!strcmp(h->language, "opencl") && !may_compile(h, request->text))
    return NULL;
  ws__pass_collect_diagnostics(context, h->findings);
  return ws__hip_compile(h, context, compiled_text(h, request),
                         request->options, request->option_count);
}

/* ---- functions ----------------------------------------------------------- */

/* A function's name in C++, for what the records name. */
static void restore_name(ws_hip *h, LLVMValueRef function) {
  const char *name = base_of(h, function);
  LLVMValueRef other = LLVMGetNamedFunction(h->module, name);
  if (other && other != function)
    WS_HIP_REFUSE(h, ws_pass_line(function, NULL),
                  "there are two functions %s; a kernel, region or variant "
                  "must have its name for itself",
                  name);
  else
    rename_value(function, name);
}

static const ws_hip_note *role_of(const ws_hip *h, LLVMValueRef function) {
  for (int i = 0; i < h->note_count; i++)
    if (h->notes[i].subject == function)
      return &h->notes[i];
  return NULL;
}

static void settle_function(ws_hip *h, LLVMValueRef function) {
  static const char *const dropped[] = {"noinline", "optnone", "alwaysinline"};
  LLVMSetVisibility(function, LLVMDefaultVisibility);
  LLVMSetComdat(function, NULL);
  LLVMSetSection(function, "");
  for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
    ws__hip_remove_attribute(function, dropped[i]);
  LLVMRemoveStringAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                   "amdgpu-flat-work-group-size", 27);
  if (ws__hip_is_kernel(function)) {
    restore_name(h, function);
    return;
  }
  LLVMSetLinkage(function, LLVMInternalLinkage);
  ws__hip_add_attribute(function,
                        role_of(h, function) ? "noinline" : "alwaysinline");
  if (role_of(h, function)) /* nobody calls a variant, yet it stays */
    LLVMSetLinkage(function, LLVMExternalLinkage);
  if (role_of(h, function))
    restore_name(h, function);
  else if (!LLVMGetNamedFunction(h->module, base_of(h, function)))
    rename_value(function, base_of(h, function));
}

static int count_kernels(ws_hip *h, LLVMValueRef *out_first) {
  int count = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(h->module); f;
       f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && ws__hip_is_kernel(f) && !count++)
      *out_first = f;
  return count;
}

/* Other kernels of the file are not part of the template. */
static void drop_kernels(ws_hip *h) {
  for (LLVMValueRef next, f = LLVMGetFirstFunction(h->module); f; f = next) {
    next = LLVMGetNextFunction(f);
    if (!LLVMIsDeclaration(f) && ws__hip_is_kernel(f) &&
        !ws__hip_find_note(h, "launch", base_of(h, f)) && !LLVMGetFirstUse(f))
      LLVMDeleteFunction(f);
  }
}

static bool settle_functions(ws_hip *h) {
  LLVMValueRef kernel = NULL;
  int kernels = count_kernels(h, &kernel);
  if (!kernels) {
    WS_HIP_REFUSE(h, 0,
                  "there is no __global__ kernel in this file (a template "
                  "kernel must be instantiated)");
    return false;
  }
  if (!ws__hip_find_note(h, "launch", NULL)) {
    WS_HIP_REFUSE(h, ws_pass_line(kernel, NULL),
                  "nothing says how %s launched: write WS_LAUNCH(%s, grid x, "
                  "grid y, grid z, threads, 1), or give --launch",
                  kernels > 1 ? "which of these kernels is" : "the kernel is",
                  base_of(h, kernel));
    return false;
  }
  drop_kernels(h);
  for (LLVMValueRef f = LLVMGetFirstFunction(h->module); f;
       f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      settle_function(h, f);
  return !h->findings->count;
}

/* ---- globals ------------------------------------------------------------- */

static ws_scope default_scope(ws_hip *h) {
  ws_binding *bindings = ws_arena_alloc(
      h->findings->arena, (size_t)(h->note_count + 1) * sizeof *bindings);
  ws_scope scope = {bindings, 0};
  for (int i = 0; i < h->note_count; i++) {
    const ws_hip_note *note = &h->notes[i];
    LLVMValueRef value =
        is_kind(note, "param") ? LLVMGetInitializer(note->subject) : NULL;
    if (value && LLVMIsAConstantInt(value))
      bindings[scope.count++] =
          (ws_binding){note->fields[0], LLVMConstIntGetSExtValue(value)};
  }
  return scope;
}

/* The bytes at the parameters' defaults; 0 and a finding. */
static uint64_t default_bytes(ws_hip *h, const char *text, int line) {
  ws_expr *expr;
  ws_diag diag;
  int64_t value = 0;
  ws_scope scope = default_scope(h);
  if (ws_expr_parse(h->findings->arena, text, h->file, line, &expr, &diag) !=
          WS_OK ||
      ws_expr_eval(expr, &scope, &value, &diag) != WS_OK) {
    ws_findings_add(h->findings, "hip", "", "", 0, "%s", diag.text);
    return 0;
  }
  if (value > 0 && value <= (1 << 20))
    return (uint64_t)value;
  WS_HIP_REFUSE(h, line, "'%s' gives %lld bytes of LDS", text,
                (long long)value);
  return 0;
}

/* An array of LDS whose size is an expression. */
static void replace_lds(ws_hip *h, ws_hip_note *note, LLVMValueRef global,
                        const char *bytes) {
  uint64_t size = default_bytes(h, bytes, note->line);
  if (!size)
    return;
  LLVMContextRef context = LLVMGetModuleContext(h->module);
  LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(context), size);
  LLVMValueRef array =
      LLVMAddGlobalInAddressSpace(h->module, type, "", WS_SPACE_LDS);
  LLVMSetLinkage(array, LLVMInternalLinkage);
  LLVMSetInitializer(array, LLVMGetPoison(type));
  LLVMSetAlignment(array, 16);
  LLVMReplaceAllUsesWith(global, array);
  rename_value(
      array, ws_arena_printf(h->findings->arena, "lds.%s", base_of(h, global)));
  LLVMDeleteGlobal(global);
  note->subject = array;
  note->fields[1] = bytes;
}

static void settle_shared(ws_hip *h, ws_hip_note *note) {
  LLVMTypeRef type = LLVMGetElementType(LLVMGlobalGetValueType(note->subject));
  unsigned long long size =
      LLVMABISizeOfType(LLVMGetModuleDataLayout(h->module), type);
  replace_lds(h, note, note->subject,
              ws_arena_printf(h->findings->arena, "%llu * (%s)", size,
                              note->fields[0]));
}

/* An `extern __shared__` array by its name, in whatever namespace. */
static LLVMValueRef find_dynamic(ws_hip *h, const char *name) {
  for (LLVMValueRef g = LLVMGetFirstGlobal(h->module); g;
       g = LLVMGetNextGlobal(g))
    if (LLVMIsDeclaration(g) &&
        LLVMGetPointerAddressSpace(LLVMTypeOf(g)) == WS_SPACE_LDS &&
        !strcmp(base_of(h, g), name))
      return g;
  return NULL;
}

static void settle_dynamic(ws_hip *h, ws_hip_note *note) {
  LLVMValueRef global = find_dynamic(h, note->fields[0]);
  note->subject = NULL;
  if (!global)
    WS_HIP_REFUSE(h, note->line,
                  "WS_LDS names '%s', which is no `extern __shared__` array "
                  "that a kernel uses",
                  note->fields[0]);
  else
    replace_lds(h, note, global, note->fields[1]);
}

/* In OpenCL C the code names a declaration, and the value is beside it. */
static void join_declaration(ws_hip *h, const ws_hip_note *note) {
  LLVMValueRef declared = LLVMGetNamedGlobal(h->module, note->fields[0]);
  if (!declared || declared == note->subject || !LLVMIsDeclaration(declared))
    return;
  LLVMSetExternallyInitialized(note->subject, true);
  LLVMReplaceAllUsesWith(declared, note->subject);
  LLVMDeleteGlobal(declared);
}

static void settle_param(ws_hip *h, ws_hip_note *note) {
  LLVMTypeRef type = LLVMGlobalGetValueType(note->subject);
  LLVMValueRef value = LLVMGetInitializer(note->subject);
  if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind ||
      LLVMGetIntTypeWidth(type) != 32 || !value || !LLVMIsAConstantInt(value))
    WS_HIP_REFUSE(h, note->line, "parameter '%s' must be an int with a number",
                  note->fields[0]);
  else
    join_declaration(h, note);
}

/* Notes of a kind in the order of the file: LDS needs parameters. */
static bool settle_globals(ws_hip *h) {
  static const struct {
    const char *kind;
    void (*settle)(ws_hip *h, ws_hip_note *note);
  } steps[] = {{"param", settle_param},
               {"shared", settle_shared},
               {"lds", settle_dynamic}};
  for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
    for (int i = 0; i < h->note_count; i++)
      if (is_kind(&h->notes[i], steps[s].kind))
        steps[s].settle(h, &h->notes[i]);
    if (h->findings->count)
      return false;
  }
  return true;
}

/* ---- arguments ----------------------------------------------------------- */

/* A name for an argument, which nothing in the function has then. */
static void name_argument(LLVMValueRef argument, const char *name) {
  LLVMValueRef function = LLVMGetParamParent(argument);
  WS_FOR_EACH_INSTRUCTION(function, block, instruction)
  if (*name && !strcmp(name_of(instruction), name))
    rename_value(instruction, "");
  for (unsigned i = 0; *name && i < LLVMCountParams(function); i++)
    if (!strcmp(name_of(LLVMGetParam(function, i)), name))
      rename_value(LLVMGetParam(function, i), "");
  rename_value(argument, name);
}

/* "a" of "a.coerce": what a pointer of the host's is called on entry. */
static void restore_argument(ws_hip *h, LLVMValueRef argument) {
  const char *name = name_of(argument);
  size_t size = strcspn(name, ".");
  if (size)
    name_argument(argument, ws_arena_strndup(h->findings->arena, name, size));
}

static void name_arguments(ws_hip *h, LLVMValueRef kernel) {
  const ws_hip_note *note = ws__hip_find_note(h, "arguments", name_of(kernel));
  char *names =
      note ? ws_arena_strdup(h->findings->arena, note->fields[1]) : NULL;
  unsigned count = LLVMCountParams(kernel), named = 0;
  for (unsigned i = 0; i < count; i++)
    restore_argument(h, LLVMGetParam(kernel, i));
  for (char *name; (name = strsep(&names, " "));)
    if (*name && named < count)
      name_argument(LLVMGetParam(kernel, named++),
                    strcmp(name, "-") ? name : "");
    else if (*name)
      named = count + 1;
  if (note && named != count)
    WS_HIP_REFUSE(h, note->line,
                  "kernel %s has %u arguments; name as many as it has, '-' is "
                  "one that is not used",
                  name_of(kernel), count);
}

static bool is_struct(LLVMValueRef kernel, unsigned index) {
  unsigned byref = LLVMGetEnumAttributeKindForName("byref", 5);
  return LLVMGetEnumAttributeAtIndex(kernel, index + 1, byref) != NULL;
}

static void refuse_argument(ws_hip *h, LLVMValueRef kernel, unsigned index) {
  if (is_struct(kernel, index))
    WS_HIP_REFUSE(h, ws_pass_line(kernel, NULL),
                  "argument %u of kernel %s is a struct; pass its members",
                  index + 1, name_of(kernel));
  else
    WS_HIP_REFUSE(h, ws_pass_line(kernel, NULL),
                  "argument %u of kernel %s has no name; name them all by "
                  "WS_ARGUMENTS or --arguments",
                  index + 1, name_of(kernel));
}

/* An argument that has no name is not used, and need not be passed. */
static LLVMValueRef drop_arguments(ws_hip *h, LLVMValueRef kernel) {
  int spaces[MOST_ARGUMENTS] = {0};
  bool any = false;
  unsigned count = LLVMCountParams(kernel);
  if (count > MOST_ARGUMENTS)
    return kernel;
  for (unsigned i = 0; i < count; i++)
    if (!*name_of(LLVMGetParam(kernel, i))) {
      if (LLVMGetFirstUse(LLVMGetParam(kernel, i)))
        refuse_argument(h, kernel, i);
      spaces[i] = -1;
      any = true;
    }
  return any && !h->findings->count ? ws__hip_retype(kernel, spaces) : kernel;
}

static void settle_arguments(ws_hip *h) {
  LLVMValueRef last = LLVMGetLastFunction(h->module);
  for (LLVMValueRef f = LLVMGetFirstFunction(h->module), next; f; f = next) {
    next = f == last ? NULL : LLVMGetNextFunction(f); /* new ones are behind */
    if (LLVMIsDeclaration(f) || !ws__hip_is_kernel(f))
      continue;
    name_arguments(h, f);
    drop_arguments(h, f);
  }
}

/* ---- globals that stay ----------------------------------------------------
 */

static bool has_contents(LLVMValueRef global) {
  LLVMValueRef value = LLVMGetInitializer(global);
  return value && !LLVMIsNull(value) && !LLVMIsUndef(value);
}

static void settle_table(ws_hip *h, LLVMValueRef global) {
  if (!has_contents(global)) {
    WS_HIP_REFUSE(h, ws__hip_line_of(h, base_of(h, global)),
                  "__constant__ %s would be set by the host; a template has "
                  "tables with their values, parameters (WS_PARAM) and "
                  "arguments",
                  base_of(h, global));
    return;
  }
  LLVMSetLinkage(global, LLVMInternalLinkage);
  LLVMSetVisibility(global, LLVMDefaultVisibility);
  LLVMSetExternallyInitialized(global, false);
  LLVMSetGlobalConstant(global, true);
  rename_value(global, ws_arena_printf(h->findings->arena, "table.%s",
                                       base_of(h, global)));
}

/* What is constant anyway lies where constants are. */
static LLVMValueRef move_table(ws_hip *h, LLVMValueRef global) {
  LLVMTypeRef type = LLVMGlobalGetValueType(global);
  LLVMValueRef table =
      LLVMAddGlobalInAddressSpace(h->module, type, "", WS_SPACE_CONSTANT);
  LLVMSetInitializer(table, LLVMGetInitializer(global));
  LLVMSetAlignment(table, LLVMGetAlignment(global));
  LLVMReplaceAllUsesWith(global,
                         LLVMConstAddrSpaceCast(table, LLVMTypeOf(global)));
  rename_value(table, base_of(h, global));
  LLVMDeleteGlobal(global);
  return table;
}

static void settle_global(ws_hip *h, LLVMValueRef global) {
  unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(global));
  const char *name = base_of(h, global);
  int line = ws__hip_line_of(h, name);
  LLVMSetComdat(global, NULL);
  LLVMSetVisibility(global, LLVMDefaultVisibility);
  if (space == WS_SPACE_LDS && LLVMIsDeclaration(global)) {
    WS_HIP_REFUSE(h, line,
                  "dynamic LDS '%s' has no size: write WS_LDS(%s, bytes), or "
                  "give --lds",
                  name, name);
  } else if (space == WS_SPACE_LDS) {
    LLVMSetInitializer(global, LLVMGetPoison(LLVMGlobalGetValueType(global)));
    LLVMSetLinkage(global, LLVMInternalLinkage);
    if (strncmp(name, "lds.", 4))
      rename_value(global, ws_arena_printf(h->findings->arena, "lds.%s", name));
  } else if (!strncmp(name, "_ZT", 3)) {
    WS_HIP_REFUSE(h, ws_pass_line_of_use(global),
                  "a virtual function is called through a pointer; call "
                  "functions by name");
  } else if (space == WS_SPACE_CONSTANT) {
    settle_table(h, global);
  } else if (LLVMIsGlobalConstant(global) && LLVMGetInitializer(global)) {
    settle_table(h, move_table(h, global));
  } else {
    WS_HIP_REFUSE(h, line ? line : ws_pass_line_of_use(global),
                  "%svariable '%s' keeps its value between launches; "
                  "use an argument or the workspace",
                  strcmp(h->language, "opencl") ? "__device__ " : "", name);
  }
}

static void settle_other_globals(ws_hip *h) {
  for (LLVMValueRef next, g = LLVMGetFirstGlobal(h->module); g; g = next) {
    next = LLVMGetNextGlobal(g);
    const ws_hip_note *note = role_of(h, g);
    if (!note && !LLVMGetFirstUse(g))
      LLVMDeleteGlobal(g);
    else if (!note)
      settle_global(h, g);
  }
}

/* ---- clean --------------------------------------------------------------- */

static bool clean(ws_hip *h) {
  if (!ws__hip_run_passes(h, "always-inline,globaldce,function(infer-address-"
                             "spaces,sroa,infer-address-spaces,early-cse)"))
    return false;
  ws__hip_flatten_lines(h->module);
  ws__hip_replace_assembly(h->module);
  settle_arguments(h);
  if (h->findings->count)
    return false;
  ws__hip_infer_spaces(h);
  ws__hip_fold_places(h);
  return !h->findings->count &&
         ws__hip_run_passes(
             h, "function(infer-address-spaces,sroa,early-cse,instsimplify,"
                "simplifycfg,adce),globaldce");
}

static void finish_functions(ws_hip *h) {
  for (LLVMValueRef f = LLVMGetFirstFunction(h->module); f;
       f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f) || ws__hip_is_kernel(f))
      continue;
    ws__hip_remove_attribute(f, "noinline");
    ws__hip_add_attribute(f, "alwaysinline");
    LLVMSetLinkage(f, LLVMInternalLinkage);
  }
  ws__pass_settle_made(h->module);
  ws__pass_drop_promises(h->module);
}

static void finish_params(ws_hip *h) {
  for (int i = 0; i < h->note_count; i++) {
    ws_hip_note *note = &h->notes[i];
    if (!is_kind(note, "param"))
      continue;
    LLVMSetLinkage(note->subject, LLVMInternalLinkage);
    LLVMSetVisibility(note->subject, LLVMDefaultVisibility);
    LLVMSetExternallyInitialized(note->subject, false);
    rename_value(note->subject,
                 ws_arena_printf(h->findings->arena, "ws.%s", note->fields[0]));
  }
}

/* ---- records ------------------------------------------------------------- */

static int line_of_kernel(ws_hip *h, const char *name) {
  LLVMValueRef kernel = LLVMGetNamedFunction(h->module, name);
  return kernel ? ws_pass_line(kernel, NULL) : 0;
}

static void add_record(ws_hip *h, const char *kind, const char *const *fields,
                       int count, int line) {
  int of_kernel = !strcmp(kind, "launch") ? line_of_kernel(h, fields[0]) : 0;
  h->lines[h->line_count++] =
      (struct ws_hip_line){kind, line, of_kernel ? of_kernel : line};
  LLVMContextRef context = LLVMGetModuleContext(h->module);
  LLVMMetadataRef strings[WS_HIP_FIELDS + 2];
  for (int i = 0; i < count; i++)
    strings[i] = LLVMMDStringInContext2(context, fields[i], strlen(fields[i]));
  LLVMMetadataRef node = LLVMMDNodeInContext2(context, strings, (size_t)count);
  LLVMAddNamedMetadataOperand(
      h->module, ws_arena_printf(h->findings->arena, "wavesmith.%s", kind),
      LLVMMetadataAsValue(context, node));
}

static void record_template(ws_hip *h, const ws_hip_note *note) {
  const char *fields[] = {note->fields[0], note->fields[1], note->fields[2],
                          h->target, note->fields[3]};
  add_record(h, "template", fields, 5, note->line);
}

static void record_param(ws_hip *h, const ws_hip_note *note) {
  const char *fields[] = {note->fields[0], name_of(note->subject),
                          note->fields[1], note->fields[2]};
  add_record(h, "param", fields, 4, note->line);
}

static void record_lds(ws_hip *h, const ws_hip_note *note) {
  const char *fields[] = {name_of(note->subject), note->fields[1]};
  add_record(h, "lds", fields, 2, note->line);
}

static void record_region(ws_hip *h, const ws_hip_note *note) {
  const char *fields[] = {name_of(note->subject), note->fields[0]};
  add_record(h, "region", fields, 2, note->line);
}

static void record_variant(ws_hip *h, const ws_hip_note *note) {
  const char *fields[] = {note->fields[0], name_of(note->subject),
                          note->fields[1]};
  add_record(h, "variant", fields, 3, note->line);
}

static void record_as_is(ws_hip *h, const ws_hip_note *note) {
  add_record(h, note->kind, note->fields, note->count, note->line);
}

static const struct note_kind {
  const char *name;
  int fields;
  void (*record)(ws_hip *h, const ws_hip_note *note);
  ws_hip_subject of;
} note_kinds[] = {
    {"template", 4, record_template, WS_HIP_RECORD},
    {"param", 3, record_param, WS_HIP_VARIABLE},
    {"require", 2, record_as_is, WS_HIP_RECORD},
    {"shared", 2, record_lds, WS_HIP_VARIABLE},
    {"lds", 2, record_lds, WS_HIP_RECORD},
    {"launch", 6, record_as_is, WS_HIP_RECORD},
    {"workspace", 1, record_as_is, WS_HIP_RECORD},
    {"region", 1, record_region, WS_HIP_FUNCTION},
    {"variant", 2, record_variant, WS_HIP_FUNCTION},
    {"allow", 1, record_as_is, WS_HIP_RECORD},
    {"arguments", 2, NULL, WS_HIP_RECORD},
};

static const struct note_kind *find_kind(const char *name) {
  for (size_t i = 0; i < sizeof note_kinds / sizeof *note_kinds; i++)
    if (!strcmp(note_kinds[i].name, name))
      return &note_kinds[i];
  return NULL;
}

static bool check_notes(ws_hip *h) {
  for (int i = 0; i < h->note_count; i++) {
    const ws_hip_note *note = &h->notes[i];
    const struct note_kind *kind = find_kind(note->kind);
    if (!kind || kind->fields != note->count || kind->of != note->of)
      WS_HIP_REFUSE(h, note->line,
                    "annotation wavesmith.%s is none that wavesmith/hip.h "
                    "makes (text over several lines is not taken)",
                    note->kind);
  }
  return !h->findings->count;
}

static void add_records(ws_hip *h, const ws_hip_request *request) {
  h->lines = ws_arena_alloc(h->findings->arena,
                            (size_t)(h->note_count + 2) * sizeof *h->lines);
  if (!ws__hip_find_note(h, "template", NULL)) {
    const char *fields[] = {
        request->name, "1", request->problem, h->target,
        ws_arena_printf(h->findings->arena, "imported from %s", h->file)};
    add_record(h, "template", fields, 5, 0);
  }
  for (int i = 0; i < h->note_count; i++)
    if (find_kind(h->notes[i].kind)->record)
      find_kind(h->notes[i].kind)->record(h, &h->notes[i]);
  const char *lines = "";
  for (int i = 0; i < h->line_count; i++)
    if (!strcmp(h->lines[i].kind, "launch"))
      lines = ws_arena_printf(h->findings->arena, "%s%s%d", lines,
                              *lines ? " " : "", h->lines[i].kernel_line);
  const char *source[] = {h->file, h->text, lines};
  add_record(h, "source", source, 3, 0);
}

/* ---- what the records say ------------------------------------------------ */

/* The index-th record of a kind. */
static const struct ws_hip_line *find_line(const ws_hip *h, const char *kind,
                                           int index) {
  for (int i = 0; i < h->line_count; i++)
    if (!strcmp(h->lines[i].kind, kind) && index-- == 0)
      return &h->lines[i];
  return NULL;
}

/* While the module is read, what is wrong with a launch is the kernel. */
static int line_for_reader(void *context, const char *kind, int index) {
  const struct ws_hip_line *line = find_line(context, kind, index);
  return line ? line->kernel_line : 0;
}

static void set_lines(const ws_hip *h, ws_record *items, int count) {
  for (int i = 0; i < count; i++) {
    int index = 0;
    for (int k = 0; k < i; k++)
      index += !strcmp(items[k].kind, items[i].kind);
    items[i].line = find_line(h, items[i].kind, index)->line;
  }
}

static void check_records(ws_hip *h) {
  ws_arena *arena = h->findings->arena;
  const ws_template *tmpl;
  ws_records records;
  ws_diag diag;
  ws_status status = ws__pass_read_records(h->module, h->file, line_for_reader,
                                           h, arena, &records, &diag);
  ws_record *items =
      ws_arena_alloc(arena, (size_t)(records.count + 1) * sizeof *items);
  if (records.count)
    memcpy(items, records.items, (size_t)records.count * sizeof *items);
  set_lines(h, items, records.count);
  records.items = items;
  if (status == WS_OK)
    status = ws_template_from_records(arena, &records, h->file,
                                      ws_hash_bytes(h->text, strlen(h->text)),
                                      &tmpl, &diag);
  if (status != WS_OK) /* it has file and line */
    ws_findings_add(h->findings, "hip", "", "", 0, "%s", diag.text);
}

/* The compilation unit's file is a temporary one, whose name would make the
 * text of the same HIP another each time. */
static void settle_files(ws_hip *h) {
  static const char units[] = "llvm.dbg.cu";
  unsigned count = LLVMGetNamedMetadataNumOperands(h->module, units);
  LLVMValueRef *nodes =
      ws_arena_alloc(h->findings->arena, (count + 1) * sizeof *nodes);
  LLVMMetadataRef file = NULL;
  for (LLVMValueRef f = LLVMGetFirstFunction(h->module); f;
       f = LLVMGetNextFunction(f))
    if (LLVMGetSubprogram(f))
      file = LLVMDIScopeGetFile(LLVMGetSubprogram(f));
  LLVMGetNamedMetadataOperands(h->module, units, nodes);
  for (unsigned i = 0; i < count && file; i++)
    LLVMReplaceMDNodeOperandWith(nodes[i], 0, file);
  LLVMSetSourceFileName(h->module, h->file, strlen(h->file));
  ws__pass_set_file(h->module, h->file);
}

/* ---- all of it ----------------------------------------------------------- */

static const char *print(ws_hip *h) {
  char *message = NULL;
  if (LLVMVerifyModule(h->module, LLVMReturnStatusAction, &message)) {
    WS_HIP_REFUSE(h, 0, "import made IR that is not valid, a fault of ours: %s",
                  message);
    return NULL;
  }
  LLVMDisposeMessage(message);
  char *text = LLVMPrintModuleToString(h->module);
  const char *result = ws_arena_printf(
      h->findings->arena,
      "; Made by `wavesmith import` of %s: mend it and import it again.\n"
      "%s",
      h->file, text);
  LLVMDisposeMessage(text);
  return result;
}

static bool prepare(ws_hip *h, const ws_hip_request *request) {
  h->module = strcmp(request->language, "ir") ? compile(h, request)
                                              : read_ir(h, request->text);
  if (!h->module)
    return false;
  if (!ws__ir_family_of(h->module) ||
      ws__ir_family_of(h->module) != &ws__ir_amdgpu) {
    WS_HIP_REFUSE(h, 0, "this is not HIP device code for AMD");
    return false;
  }
  h->machine = ws__hip_make_machine(h->target);
  ws__hip_read_notes(h);
  return check_notes(h) && settle_functions(h) && settle_globals(h);
}

const char *ws_hip_import(const ws_hip_request *request,
                          ws_findings *findings) {
  ws_hip h = {.file = request->file,
              .text = request->own,
              .language = request->language,
              .target = request->target,
              .findings = findings};
  if (!prepare(&h, request))
    return NULL;
  ws__pass_mark_written(h.module);
  if (!clean(&h))
    return NULL;
  ws__hip_refuse_calls(&h);
  if (findings->count)
    return NULL;
  settle_other_globals(&h);
  ws__hip_run_passes(&h, "function(infer-address-spaces)");
  finish_functions(&h);
  finish_params(&h);
  if (findings->count)
    return NULL;
  settle_files(&h);
  add_records(&h, request);
  check_records(&h);
  return findings->count ? NULL : print(&h);
}
