/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Makes a template's module the candidate. Each replacement body is read (IR
 * text, or OpenCL C through comgr), seen to be what a region may be, linked,
 * and takes the place of the shipped function; then specialize.c chooses the
 * rest, and what the parameters rule out and nothing uses is dropped.
 *
 * What it may bring: the region's function with exactly the template's type,
 * helper functions, constant tables. What it may name: the template's symbols,
 * with their types, and known intrinsics. The linker would take anything
 * else without a word (opaque pointers), so all of that is compared here.
 */
#include "check.h"
#include "comgr.h"
#include "hip.h"
#include "job_place.h"
#include "load.h"
#include "mlir/front.h"
#include "nvptx_expand.h"
#include "opencl_names.h"
#include "parse.h"
#include "promises.h"
#include "specialize.h"
#include "template_ir.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Error.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

typedef struct body {
  LLVMModuleRef target; /* the template's module */
  LLVMModuleRef module; /* the body's */
  const char *region, *file;
  bool is_compiled; /* what the module has beside functions is a compiler's */
  ws_findings *findings;
} body;

#define REFUSE(b, id, line, ...)                                               \
  ws_findings_add((b)->findings, id, (b)->region, (b)->file, line, __VA_ARGS__)

static const char *name_of(LLVMValueRef value) {
  size_t size;
  return LLVMGetValueName2(value, &size);
}

/* ---- reading ------------------------------------------------------------- */

static LLVMModuleRef read_opencl(const body *b, const char *text,
                                 const ws_candidate *candidate) {
  const void *bitcode;
  size_t size;
  if (!ws__check_opencl(text, b->file, b->findings))
    return NULL;
  if (!ws_comgr_compile_opencl(text, b->file, candidate, b->findings->arena,
                               &bitcode, &size, b->findings))
    return NULL;
  LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRange(bitcode, size, b->file, 0);
  LLVMModuleRef module = NULL;
  if (LLVMParseBitcodeInContext2(LLVMGetModuleContext(b->target), buffer,
                                 &module)) {
    REFUSE(b, "ir-parse", 0,
           "the bitcode of the OpenCL compiler is not of "
           "this LLVM's version; install comgr and LLVM of the same release");
    module = NULL;
  }
  LLVMDisposeMemoryBuffer(buffer);
  if (module)
    ws__pass_set_file(module, b->file);
  return module;
}

/* For a template in LLVM IR: one in MLIR has its bodies in it (load.c). */
static LLVMModuleRef read_mlir(const body *b, const char *text,
                               const ws_candidate *candidate) {
  const ws_scope values =
      ws_candidate_scope(b->findings->arena, candidate, NULL, 0);
  const ws_mlir_request request = {.text = text,
                                   .size = strlen(text),
                                   .file = b->file,
                                   .values = &values,
                                   .target = candidate->tmpl->target,
                                   .place = ws__job_place()};
  ws__job_place_enter(b->file);
  LLVMModuleRef module =
      ws__mlir_front(LLVMGetModuleContext(b->target), &request, b->findings);
  ws__job_place_leave();
  return module;
}

/* The linker leaves it out. */
static bool is_unused(LLVMValueRef symbol) {
  return LLVMIsDeclaration(symbol) && !LLVMGetFirstUse(symbol);
}

/* ---- what a body may be -------------------------------------------------- */

static bool same_type(const body *b, LLVMValueRef ours, LLVMValueRef theirs) {
  LLVMTypeRef want = LLVMGlobalGetValueType(ours);
  LLVMTypeRef got = LLVMGlobalGetValueType(theirs);
  if (want == got &&
      LLVMGetFunctionCallConv(ours) == LLVMGetFunctionCallConv(theirs))
    return true;
  char *want_text = LLVMPrintTypeToString(want);
  char *got_text = LLVMPrintTypeToString(got);
  REFUSE(b, "splice-signature", ws_pass_line(theirs, NULL),
         "@%s is %s (calling convention %u), the template has %s (%u); keep "
         "the template's signature",
         name_of(theirs), got_text, LLVMGetFunctionCallConv(theirs), want_text,
         LLVMGetFunctionCallConv(ours));
  LLVMDisposeMessage(want_text);
  LLVMDisposeMessage(got_text);
  return false;
}

static bool defines_region(const body *b) {
  LLVMValueRef theirs = LLVMGetNamedFunction(b->module, b->region);
  if (!theirs || LLVMIsDeclaration(theirs)) {
    REFUSE(b, "splice-undefined", 0,
           "the body does not define @%s; write the whole function with the "
           "template's signature",
           b->region);
    return false;
  }
  return same_type(b, LLVMGetNamedFunction(b->target, b->region), theirs);
}

/* By its name in the source, where a compiler has decorated that. */
static void refuse_unknown(const body *b, LLVMValueRef theirs,
                           const char *name) {
  char plain[64];
  if (!ws__opencl_name(name, plain, sizeof plain)) {
    REFUSE(b, "splice-unknown-symbol", ws_pass_line_of_use(theirs),
           "the body calls @%s, which the template does not have; define it in "
           "the body or use an intrinsic",
           name);
    return;
  }
  const char *instead = ws__opencl_instead(plain);
  REFUSE(b, "splice-unknown-symbol", ws_pass_line_of_use(theirs),
         "the body calls %s (@%s), and there is no library; %s%s", plain, name,
         instead ? "write " : "define it in the body or use a __builtin_",
         instead ? instead : "");
}

static bool function_allowed(const body *b, LLVMValueRef theirs) {
  const char *name = name_of(theirs);
  LLVMValueRef ours = LLVMGetNamedFunction(b->target, name);
  if (!strcmp(name, b->region) || is_unused(theirs))
    return true;
  if (!LLVMIsDeclaration(theirs)) {
    if (!ours)
      return true;
    REFUSE(b, "splice-redefined", ws_pass_line(theirs, NULL),
           "@%s is a function of the template; a body defines its own region "
           "and helpers under other names",
           name);
    return false;
  }
  if (!strncmp(name, "llvm.", 5)) {
    if (LLVMGetIntrinsicID(theirs))
      return true;
    REFUSE(b, "splice-unknown-symbol", ws_pass_line_of_use(theirs),
           "there is no intrinsic @%s in this LLVM; check its spelling", name);
    return false;
  }
  if (ours)
    return same_type(b, ours, theirs);
  if (ws__nvptx_is_own(theirs))
    return true; /* for the check to say whether the target has it */
  refuse_unknown(b, theirs, name);
  return false;
}

static bool global_allowed(const body *b, LLVMValueRef theirs) {
  const char *name = name_of(theirs);
  LLVMValueRef ours = LLVMGetNamedGlobal(b->target, name);
  unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(theirs));
  if (!LLVMIsDeclaration(theirs)) {
    bool constant =
        LLVMIsGlobalConstant(theirs) && space == WS_SPACE_CONSTANT && !ours;
    if (!constant)
      REFUSE(b, "check-global-state", 0,
             "the body defines global @%s; only internal addrspace(4) "
             "constant tables with names of their own are allowed, LDS and "
             "parameters are declared external",
             name);
    return constant;
  }
  if (is_unused(theirs))
    return true;
  if (!ours)
    REFUSE(b, "splice-unknown-symbol", ws_pass_line_of_use(theirs),
           "the body declares global @%s, which the template does not have",
           name);
  /* The size of LDS is the template's affair; a parameter's type is fixed. */
  bool same = ours && LLVMTypeOf(ours) == LLVMTypeOf(theirs) &&
              (space == WS_SPACE_LDS ||
               LLVMGlobalGetValueType(ours) == LLVMGlobalGetValueType(theirs));
  if (ours && !same)
    REFUSE(b, "splice-signature", ws_pass_line_of_use(theirs),
           "the body declares @%s with another type or address space than "
           "the template",
           name);
  return same;
}

/* Metadata that parsing and clang add by themselves. */
static bool metadata_allowed(const char *name) {
  static const char *const known[] = {"llvm.module.flags", "llvm.dbg.cu",
                                      "llvm.ident", "llvm.errno.tbaa"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(name, known[i]))
      return true;
  return !strncmp(name, "opencl.", 7);
}

/* Linked in, a flag would be the template's: the code object's version, say. */
static bool flags_allowed(const body *b) {
  static const char debug[] = "Debug Info Version";
  size_t count, size;
  LLVMModuleFlagEntry *flags = LLVMCopyModuleFlagsMetadata(b->module, &count);
  bool allowed = true;
  for (size_t i = 0; i < count && allowed && !b->is_compiled; i++) {
    const char *key = LLVMModuleFlagEntriesGetKey(flags, (unsigned)i, &size);
    allowed = size == sizeof debug - 1 && !memcmp(key, debug, size);
    if (!allowed)
      REFUSE(b, "splice-metadata", 0,
             "a body may not have module flags (%.*s); the template's hold",
             (int)size, key);
  }
  LLVMDisposeModuleFlagsMetadata(flags);
  return allowed;
}

static bool module_allowed(const body *b) {
  size_t size;
  LLVMGetModuleInlineAsm(b->module, &size);
  if (size) {
    REFUSE(b, "check-asm", 0, "module-level assembly is not allowed");
    return false;
  }
  if (LLVMGetFirstGlobalAlias(b->module) ||
      LLVMGetFirstGlobalIFunc(b->module)) {
    REFUSE(b, "splice-alias", 0, "aliases are not allowed; call by name");
    return false;
  }
  for (LLVMNamedMDNodeRef n = LLVMGetFirstNamedMetadata(b->module); n;
       n = LLVMGetNextNamedMetadata(n)) {
    const char *name = LLVMGetNamedMetadataName(n, &size);
    if (!metadata_allowed(name)) {
      REFUSE(b, "splice-metadata", 0,
             "a body may not have named metadata (!%s); the template's holds",
             name);
      return false;
    }
  }
  return flags_allowed(b);
}

static bool body_allowed(const body *b) {
  bool allowed = module_allowed(b) && defines_region(b);
  if (!allowed)
    return false;
  for (LLVMValueRef f = LLVMGetFirstFunction(b->module); f;
       f = LLVMGetNextFunction(f))
    allowed &= function_allowed(b, f);
  for (LLVMValueRef g = LLVMGetFirstGlobal(b->module); g;
       g = LLVMGetNextGlobal(g))
    allowed &= global_allowed(b, g);
  return allowed;
}

/* ---- linking ------------------------------------------------------------- */

static unsigned attribute_kind(const char *name) {
  return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

/* So that two bodies may use the same name. */
static void qualify_name(const body *b, LLVMValueRef value) {
  const char *name =
      ws_arena_printf(b->findings->arena, "%s.%s", b->region, name_of(value));
  LLVMSetValueName2(value, name, strlen(name));
}

/* Everything a body defines is inlined away, in the name of its region. */
static void prepare_definition(const body *b, LLVMValueRef function) {
  static const char *const dropped[] = {"noinline", "optnone"};
  for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
    LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                   attribute_kind(dropped[i]));
  LLVMAddAttributeAtIndex(
      function, LLVMAttributeFunctionIndex,
      LLVMCreateEnumAttribute(LLVMGetModuleContext(b->module),
                              attribute_kind("alwaysinline"), 0));
  if (!strcmp(name_of(function), b->region)) {
    LLVMSetLinkage(function, LLVMExternalLinkage);
  } else {
    LLVMSetLinkage(function, LLVMInternalLinkage);
    qualify_name(b, function);
  }
  LLVMSetVisibility(function, LLVMDefaultVisibility);
  ws__pass_set_region(function, b->region);
}

static void prepare(const body *b) {
  for (LLVMValueRef f = LLVMGetFirstFunction(b->module); f;
       f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      prepare_definition(b, f);
  for (LLVMValueRef g = LLVMGetFirstGlobal(b->module); g;
       g = LLVMGetNextGlobal(g))
    if (!LLVMIsDeclaration(g)) {
      LLVMSetLinkage(g, LLVMInternalLinkage);
      qualify_name(b, g);
    }
}

/* The template's symbols that the body declares. They are external only while
 * the body is linked: the linker does not resolve to internal ones. */
typedef struct exports {
  LLVMValueRef *items;
  int count;
} exports;

static void export_symbol(exports *list, LLVMValueRef theirs,
                          LLVMValueRef ours) {
  if (!ours || !LLVMIsDeclaration(theirs) ||
      LLVMGetLinkage(ours) != LLVMInternalLinkage)
    return;
  LLVMSetLinkage(ours, LLVMExternalLinkage);
  list->items[list->count++] = ours;
}

static exports export_symbols(const body *b) {
  int count = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(b->module); f;
       f = LLVMGetNextFunction(f))
    count++;
  for (LLVMValueRef g = LLVMGetFirstGlobal(b->module); g;
       g = LLVMGetNextGlobal(g))
    count++;
  exports list = {
      ws_arena_alloc(b->findings->arena, (size_t)count * sizeof(LLVMValueRef)),
      0};
  for (LLVMValueRef f = LLVMGetFirstFunction(b->module); f;
       f = LLVMGetNextFunction(f))
    export_symbol(&list, f, LLVMGetNamedFunction(b->target, name_of(f)));
  for (LLVMValueRef g = LLVMGetFirstGlobal(b->module); g;
       g = LLVMGetNextGlobal(g))
    export_symbol(&list, g, LLVMGetNamedGlobal(b->target, name_of(g)));
  return list;
}

/* Consumes the body's module. */
static bool link_body(const body *b) {
  prepare(b);
  exports list = export_symbols(b);
  LLVMValueRef old = LLVMGetNamedFunction(b->target, b->region);
  LLVMSetValueName2(old, "", 0);
  bool linked = !LLVMLinkModules2(b->target, b->module);
  for (int i = 0; i < list.count; i++)
    LLVMSetLinkage(list.items[i], LLVMInternalLinkage);
  if (!linked) {
    REFUSE(b, "splice-link", 0, "the body cannot be linked into the template");
    return false;
  }
  LLVMValueRef new = LLVMGetNamedFunction(b->target, b->region);
  LLVMSetLinkage(new, LLVMInternalLinkage);
  LLVMReplaceAllUsesWith(old, new);
  LLVMDeleteFunction(old);
  return true;
}

static bool splice_body(LLVMModuleRef module, const ws_candidate *candidate,
                        int region, ws_findings *findings) {
  const ws_body *given = &candidate->bodies[region];
  const char *name = candidate->tmpl->regions[region].function;
  bool opencl = given->language && !strcmp(given->language, "opencl");
  bool hip = given->language && !strcmp(given->language, "hip");
  bool mlir = given->language && !strcmp(given->language, "mlir");
  const ws_ir_family *family = ws__ir_family_of(module);
  body b = {.target = module,
            .region = name,
            .file = ws_arena_printf(findings->arena, "%s.%s", name,
                                    opencl ? "cl"
                                    : hip  ? "hip"
                                    : mlir ? "mlir"
                                           : "ll"),
            .is_compiled = opencl || hip || mlir,
            .findings = findings};
  if (!LLVMGetNamedFunction(module, name)) {
    REFUSE(&b, "splice-undefined", 0,
           "region @%s is gone from the module: specialise before any "
           "optimisation",
           name);
    return false;
  }
  if ((opencl || hip) && family != &ws__ir_amdgpu) {
    REFUSE(&b, "splice-language", 0,
           "%s is compiled for AMD only; for %s write the body as LLVM IR",
           opencl ? "OpenCL C" : "HIP", candidate->tmpl->target);
    return false;
  }
  if (opencl)
    b.module = read_opencl(&b, given->text, candidate);
  else if (hip)
    b.module = ws__hip_read_body(module, name, b.file, given->text, candidate,
                                 findings);
  else if (mlir)
    b.module = read_mlir(&b, given->text, candidate);
  else
    b.module = ws__pass_parse_body(module, given->text, b.file, findings);
  if (!b.module)
    return false;
  if (!body_allowed(&b)) {
    LLVMDisposeModule(b.module);
    return false;
  }
  return link_body(&b);
}

/* Replaced defaults and variants not chosen are not part of the candidate. */
static void drop_unused_functions(LLVMModuleRef module) {
  for (bool changed = true; changed;) {
    changed = false;
    for (LLVMValueRef next, f = LLVMGetFirstFunction(module); f; f = next) {
      next = LLVMGetNextFunction(f);
      bool droppable =
          LLVMIsDeclaration(f) || LLVMGetLinkage(f) == LLVMInternalLinkage;
      if (droppable && !LLVMGetFirstUse(f)) {
        LLVMDeleteFunction(f);
        changed = true;
      }
    }
  }
}

/* Parameters are constants now: what branches on them rule out is not part of
 * the candidate either (most of a template, and every later step's work). One
 * function at a time, so that nothing is learnt about the contents of LDS:
 * what is loaded there before a store must stay visible to the sanitizer. */
static bool fold_parameters(LLVMModuleRef module, ws_findings *findings) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  ws__pass_mark_written(module);
  LLVMErrorRef error = LLVMRunPasses(module, "function(sccp)", NULL, options);
  LLVMDisposePassBuilderOptions(options);
  ws__pass_settle_made(module);
  if (error) {
    char *message = LLVMGetErrorMessage(error);
    ws_findings_add(findings, "splice-fold", "", NULL, 0, "%s", message);
    LLVMDisposeErrorMessage(message);
  }
  return !error;
}

bool ws_pass_splice(LLVMModuleRef module, const ws_candidate *candidate,
                    ws_findings *findings) {
  for (int i = 0; i < candidate->tmpl->region_count; i++) {
    int before = findings->count;
    if (!candidate->bodies[i].text ||
        splice_body(module, candidate, i, findings))
      continue;
    /* Parsers do not know which region they read. */
    for (int k = before; k < findings->count; k++)
      findings->items[k].region = candidate->tmpl->regions[i].function;
    return false;
  }
  ws__pass_drop_promises(module);
  if (ws__ir_family_of(module) == &ws__ir_amdgpu)
    ws__pass_define_operations(module);
  if (!ws__pass_specialize(module, candidate, findings) ||
      !fold_parameters(module, findings))
    return false;
  drop_unused_functions(module);
  return true;
}
