/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A region's body in HIP C++. comgr compiles it, then it is given what C++
 * cannot say: the region's name, and the address spaces of the template's
 * signature. From there on it is a body like any other (splice.c).
 */
#include "check.h"
#include "hip.h"
#include "parse.h"
#include "promises.h"

#include <llvm-c/Comdat.h>
#include <string.h>

enum { MOST_ARGUMENTS = 64 };

static LLVMModuleRef compile(ws_hip *h, LLVMContextRef context) {
  ws_arena *arena = h->findings->arena;
  const ws_template *tmpl = h->candidate->tmpl;
  const char **options =
      ws_arena_alloc(arena, (size_t)(tmpl->param_count + 1) * sizeof *options);
  for (int i = 0; i < tmpl->param_count; i++)
    options[i] = ws_arena_printf(arena, "-D%s=%lld", tmpl->params[i].name,
                                 (long long)h->candidate->values[i]);
  const char *text = ws_arena_printf(
      arena,
      "#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n"
      "#include <hip/hip_bf16.h>\n#include <hip/hip_fp8.h>\n# 1 \"%s\"\n%s",
      h->file, h->text);
  return ws__hip_compile(h, context, text, options, tmpl->param_count);
}

/* Names are C's for the region and for what the body declares: the template's
 * functions. Helpers are inlined. */
static void settle_function(ws_hip *h, LLVMValueRef function,
                            const char *region) {
  size_t size;
  const char *name =
      ws__hip_base_name(h->findings->arena, LLVMGetValueName2(function, &size));
  bool is_region = !strcmp(name, region);
  LLVMSetVisibility(function, LLVMDefaultVisibility);
  if (is_region ||
      (LLVMIsDeclaration(function) && !LLVMGetNamedFunction(h->module, name)))
    LLVMSetValueName2(function, name, strlen(name));
  if (LLVMIsDeclaration(function))
    return;
  LLVMSetComdat(function, NULL);
  ws__hip_remove_attribute(function, "noinline");
  ws__hip_remove_attribute(function, "optnone");
  LLVMSetLinkage(function,
                 is_region ? LLVMExternalLinkage : LLVMInternalLinkage);
  if (!is_region)
    ws__hip_add_attribute(function, "alwaysinline");
}

/* Flat pointers where the template has typed ones. Other differences are left
 * for the splice to name. */
static void give_spaces(ws_hip *h, LLVMValueRef ours, const char *region) {
  LLVMValueRef theirs = LLVMGetNamedFunction(h->module, region);
  int spaces[MOST_ARGUMENTS] = {0};
  if (!theirs || LLVMIsDeclaration(theirs) ||
      LLVMCountParams(theirs) != LLVMCountParams(ours) ||
      LLVMCountParams(ours) > MOST_ARGUMENTS)
    return;
  for (unsigned i = 0; i < LLVMCountParams(ours); i++) {
    LLVMTypeRef want = LLVMTypeOf(LLVMGetParam(ours, i));
    LLVMTypeRef got = LLVMTypeOf(LLVMGetParam(theirs, i));
    if (LLVMGetTypeKind(want) == LLVMPointerTypeKind &&
        LLVMGetTypeKind(got) == LLVMPointerTypeKind)
      spaces[i] = (int)LLVMGetPointerAddressSpace(want);
  }
  ws__hip_retype(theirs, spaces);
}

/* The template's launches as notes, by which blockDim is read. */
static void take_launches(ws_hip *h) {
  const ws_template *tmpl = h->candidate->tmpl;
  for (int i = 0; i < tmpl->launch_count; i++) {
    const ws_launch *launch = &tmpl->launches[i];
    h->notes[h->note_count++] = (ws_hip_note){
        .kind = "launch",
        .fields = {launch->kernel, ws_expr_text(launch->grid[0]),
                   ws_expr_text(launch->grid[1]), ws_expr_text(launch->grid[2]),
                   ws_expr_text(launch->threads)},
        .count = 5};
  }
}

LLVMModuleRef ws__hip_read_body(LLVMModuleRef target, const char *region,
                                const char *file, const char *text,
                                const ws_candidate *candidate,
                                ws_findings *findings) {
  ws_hip h = {.file = file,
              .text = text,
              .language = "hip",
              .target = candidate->tmpl->target,
              .candidate = candidate,
              .findings = findings};
  if (!ws__check_opencl(text, file, findings))
    return NULL;
  h.module = compile(&h, LLVMGetModuleContext(target));
  if (!h.module)
    return NULL;
  ws__pass_mark_written(h.module);
  h.machine = ws__hip_make_machine(h.target);
  ws__hip_read_notes(&h);
  h.note_count = 0;
  take_launches(&h);
  for (LLVMValueRef f = LLVMGetFirstFunction(h.module); f;
       f = LLVMGetNextFunction(f))
    settle_function(&h, f, region);
  give_spaces(&h, LLVMGetNamedFunction(target, region), region);
  ws__hip_run_passes(&h, "always-inline,globaldce,function(infer-address-"
                         "spaces,sroa,infer-address-spaces)");
  ws__hip_flatten_lines(h.module);
  ws__hip_replace_assembly(h.module);
  ws__hip_fold_places(&h);
  ws__hip_run_passes(&h, "function(adce),globaldce");
  ws__pass_settle_made(h.module);
  LLVMDisposeTargetMachine(h.machine);
  ws__pass_set_file(h.module, file);
  if (!findings->count)
    return h.module;
  LLVMDisposeModule(h.module);
  return NULL;
}
