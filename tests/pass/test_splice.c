/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A candidate's module: values, sizes, variants, bodies in both languages, and
 * every body that must be refused.
 */
#include "pass_test.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Linker.h>

static fixture spliced(const char *values, const char *variants) {
  fixture f = open_tiny();
  ws_diag diag;
  if (ws_candidate_set(f.candidate, values, &diag) != WS_OK ||
      ws_candidate_set_variants(f.candidate, variants, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  if (!ws_pass_splice(f.module, f.candidate, &f.findings)) {
    show_findings(&f);
    WS_FAIL("does not splice");
  }
  return f;
}

static long long initial_value(const fixture *f, const char *global) {
  return LLVMConstIntGetSExtValue(
      LLVMGetInitializer(LLVMGetNamedGlobal(f->module, global)));
}

static const char *attribute(const fixture *f, const char *function,
                             const char *key) {
  LLVMAttributeRef found = LLVMGetStringAttributeAtIndex(
      LLVMGetNamedFunction(f->module, function), LLVMAttributeFunctionIndex,
      key, (unsigned)strlen(key));
  unsigned size;
  return found ? LLVMGetStringAttributeValue(found, &size) : "";
}

WS_TEST(values_and_sizes) {
  fixture f = spliced("threads=256;repeat=1", "");
  WS_CHECK_INT(initial_value(&f, "ws.threads"), 256);
  WS_CHECK_INT(initial_value(&f, "ws.repeat"), 1);
  LLVMValueRef lds = LLVMGetNamedGlobal(f.module, "ws.lds");
  WS_CHECK_INT(LLVMGetArrayLength2(LLVMGlobalGetValueType(lds)), 1024);
  WS_CHECK_INT(LLVMGetAlignment(lds), 16);
  WS_CHECK(LLVMIsUndef(LLVMGetInitializer(lds)));
  WS_CHECK_TEXT(attribute(&f, "tiny", "amdgpu-flat-work-group-size"),
                "256,256");
  WS_CHECK_TEXT(attribute(&f, "tiny", "uniform-work-group-size"), "true");
  fixture_destroy(&f);
}

/* A kernel may state a wider range of its own, not a wrong one. */
WS_TEST(own_workgroup_size) {
  static const struct {
    const char *own, *want;
  } cases[] = {{"1,512", "1,512"}, {"64,64", "256,256"}, {"x", "256,256"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ws_arena *arena = ws_arena_create();
    char *text =
        replace(arena, read_tiny(arena), "i32 %m) {",
                ws_arena_printf(
                    arena, "i32 %%m) \"amdgpu-flat-work-group-size\"=\"%s\" {",
                    cases[i].own));
    fixture f = open_template(text);
    ws_diag diag;
    WS_CHECK_INT(ws_candidate_set(f.candidate, "threads=256;repeat=1", &diag),
                 WS_OK);
    WS_CHECK(ws_pass_splice(f.module, f.candidate, &f.findings));
    WS_CHECK_TEXT(attribute(&f, "tiny", "amdgpu-flat-work-group-size"),
                  cases[i].want);
    fixture_destroy(&f);
    ws_arena_destroy(arena);
  }
}

static int calls_of(const fixture *f, const char *function) {
  LLVMValueRef value = LLVMGetNamedFunction(f->module, function);
  int count = 0;
  for (LLVMUseRef u = value ? LLVMGetFirstUse(value) : NULL; u;
       u = LLVMGetNextUse(u))
    count++;
  return count;
}

WS_TEST(variant_takes_the_place) {
  fixture f = spliced("", "stage=stage_halves");
  WS_CHECK_INT(calls_of(&f, "stage_halves"), 1);
  WS_CHECK(!LLVMGetNamedFunction(f.module, "stage"));
  LLVMValueRef first = LLVMGetFirstInstruction(
      LLVMGetEntryBasicBlock(LLVMGetNamedFunction(f.module, "stage_halves")));
  WS_CHECK_TEXT(ws_pass_region_of(first), "stage");
  fixture_destroy(&f);
  f = spliced("", "");
  WS_CHECK_INT(calls_of(&f, "stage"), 1);
  WS_CHECK(!LLVMGetNamedFunction(f.module, "stage_halves"));
  fixture_destroy(&f);
}

WS_TEST(broken_constraint) {
  fixture f = open_tiny();
  ws_diag diag;
  WS_CHECK_INT(ws_candidate_set(f.candidate, "threads=256;repeat=4", &diag),
               WS_OK);
  WS_CHECK(!ws_pass_splice(f.module, f.candidate, &f.findings));
  const ws_finding *found =
      expect_finding(&f, "require", "", line_of(f.text, "!3 = "));
  WS_CHECK_CONTAINS(found->text, "too much work per group");
  WS_CHECK_CONTAINS(found->text, "threads * repeat <= 512");
  WS_CHECK(!strstr(found->text, "t.ll")); /* the place is said once */
  fixture_destroy(&f);
}

/* Expressions that give no usable size. */
static const struct {
  const char *from, *to, *at, *words;
} sizes[] = {
    {"!\"threads * 4\"", "!\"threads * 4 - 512\"",
     "!4 = ", "lds bytes is -256"},
    {"!\"threads * 4\"", "!\"threads / (repeat - 2)\"", "!4 = ", "zero"},
    {"!\"threads\", !\"1\"}", "!\"threads / 4\", !\"1\"}",
     "!5 = ", "threads is 16"},
    {"!\"threads\", !\"1\"}", "!\"threads + 3\", !\"1\"}",
     "!5 = ", "multiple of the wave size"},
    {"!\"threads\", !\"1\"}", "!\"threads * 64\", !\"1\"}",
     "!5 = ", "threads is 4096"},
};

WS_TEST(unusable_sizes) {
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    ws_arena *arena = ws_arena_create();
    fixture f = open_template(
        replace(arena, read_tiny(arena), sizes[i].from, sizes[i].to));
    WS_CHECK(!ws_pass_splice(f.module, f.candidate, &f.findings));
    const ws_finding *found = expect_finding(&f, "splice-expression", "",
                                             line_of(f.text, sizes[i].at));
    WS_CHECK_CONTAINS(found->text, sizes[i].words);
    fixture_destroy(&f);
    ws_arena_destroy(arena);
  }
}

/* A launch that this candidate never makes need not have usable sizes. */
WS_TEST(launch_not_made) {
  ws_arena *arena = ws_arena_create();
  fixture f =
      open_template(replace(arena, read_tiny(arena), "!\"threads\", !\"1\"}",
                            "!\"threads * 64\", !\"repeat > 2\"}"));
  WS_CHECK(ws_pass_splice(f.module, f.candidate, &f.findings));
  WS_CHECK_TEXT(attribute(&f, "tiny", "amdgpu-flat-work-group-size"), "");
  fixture_destroy(&f);
  ws_arena_destroy(arena);
}

/* ---- bodies -------------------------------------------------------------- */

#define STAGE                                                                  \
  "define void @stage(ptr addrspace(1) %source, ptr addrspace(3) %target, "    \
  "i32 %lane) {\n"

/* Uses everything a body may: a parameter, LDS by name, a template function,
 * a helper, a table, an intrinsic without declaration. */
static const char rich_body[] =
    "@ws.threads = external addrspace(4) constant i32\n"
    "@ws.lds = external addrspace(3) global [0 x i8]\n"
    "@table = internal addrspace(4) constant [2 x i32] [i32 0, i32 4]\n"
    "declare i32 @combine(ptr addrspace(3), i32)\n"
    "declare void @left_over()\n" STAGE
    "  %threads = load i32, ptr addrspace(4) @ws.threads\n"
    "  %sum = call i32 @combine(ptr addrspace(3) @ws.lds, i32 0)\n"
    "  %most = call i32 @llvm.umin.i32(i32 %sum, i32 %threads)\n"
    "  call void @helper(ptr addrspace(3) %target, i32 %most)\n"
    "  ret void\n"
    "}\n"
    "define void @helper(ptr addrspace(3) %target, i32 %value) noinline {\n"
    "  %scale = load i32, ptr addrspace(4) getelementptr (i8, ptr "
    "addrspace(4) @table, i32 4)\n"
    "  %wide = load i64, ptr addrspace(3) %target\n"
    "  %product = mul i32 %value, %scale\n"
    "  store i32 %product, ptr addrspace(3) %target\n"
    "  ret void\n"
    "}\n";

static bool has_attribute(LLVMValueRef function, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  return LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                     kind) != NULL;
}

static void check_definition(const fixture *f, const char *name, int line) {
  LLVMValueRef function = LLVMGetNamedFunction(f->module, name);
  WS_CHECK(function && !LLVMIsDeclaration(function));
  WS_CHECK_INT(LLVMGetLinkage(function), LLVMInternalLinkage);
  WS_CHECK(has_attribute(function, "alwaysinline"));
  WS_CHECK(!has_attribute(function, "noinline"));
  const char *file;
  LLVMValueRef first =
      LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
  WS_CHECK_INT(ws_pass_line(first, &file), line);
  WS_CHECK_TEXT(file, "stage.ll");
  WS_CHECK_TEXT(ws_pass_region_of(first), "stage");
}

WS_TEST(body_in_ir) {
  fixture f = open_tiny();
  set_body(&f, "stage", "ir", rich_body);
  if (!ws_pass_splice(f.module, f.candidate, &f.findings)) {
    show_findings(&f);
    WS_FAIL("does not splice");
  }
  /* The loads of constants before these are folded. */
  check_definition(&f, "stage", line_of(rich_body, "%sum = call"));
  check_definition(&f, "stage.helper", line_of(rich_body, "%wide = load"));
  WS_CHECK_INT(calls_of(&f, "stage"), 1);
  WS_CHECK_INT(calls_of(&f, "combine"), 2);
  WS_CHECK(!LLVMGetNamedFunction(f.module, "left_over"));
  for (LLVMValueRef g = LLVMGetFirstGlobal(f.module); g;
       g = LLVMGetNextGlobal(g))
    WS_CHECK_INT(LLVMGetLinkage(g), LLVMInternalLinkage);
  /* The body's data layout is the template's: i64 aligns to 8, not to 4. */
  LLVMValueRef at = LLVMGetFirstInstruction(
      LLVMGetEntryBasicBlock(LLVMGetNamedFunction(f.module, "stage.helper")));
  WS_CHECK_INT(LLVMGetAlignment(at), 8);
  WS_CHECK(ws_pass_check(f.module, f.candidate, "gfx942", &f.findings));
  fixture_destroy(&f);
}

/* The same, and what LLVM prints in front of a module, with nothing of the
 * template declared; some of it in odd places. */
static const char short_body[] =
    "source_filename = \"body\"\n"
    "target triple = \"amdgcn-amd-amdhsa\"\n"
    "@ws.threads = external addrspace(4) constant i32\n"
    "; @ws.repeat in a comment\n"
    "@table = internal addrspace(4) constant [10 x i8] c\"@combine()\"\n" STAGE
    "  %threads = load i32, ptr addrspace(4) @ws.threads\n"
    "  %repeat = load i32, ptr addrspace(4) @ws.repeat\n"
    "  %sum = call i32 @combine(ptr addrspace(3) @ws.lds, i32 %repeat)\n"
    "  %most = call i32 @llvm.umin.i32(i32 %sum, i32 %threads)\n"
    "  store i32 %most, ptr addrspace(3) %target\n"
    "  ret void\n"
    "} ; the end";

WS_TEST(template_symbols_need_no_declaration) {
  fixture f = open_tiny();
  set_body(&f, "stage", "ir", short_body);
  if (!ws_pass_splice(f.module, f.candidate, &f.findings)) {
    show_findings(&f);
    WS_FAIL("does not splice");
  }
  check_definition(&f, "stage", line_of(short_body, "%sum = call"));
  WS_CHECK_INT(calls_of(&f, "combine"), 2);
  for (LLVMValueRef g = LLVMGetFirstGlobal(f.module); g;
       g = LLVMGetNextGlobal(g))
    WS_CHECK_INT(LLVMGetLinkage(g), LLVMInternalLinkage);
  WS_CHECK(ws_pass_check(f.module, f.candidate, "gfx942", &f.findings));
  fixture_destroy(&f);
}

/* What is read around a body is not quoted as if it had been written. */
WS_TEST(message_quotes_the_body_only) {
  static const struct {
    const char *text, *words;
    int line, column;
  } cases[] = {
      {"define viod @stage() {\n  ret void\n}\n",
       "correct this line: define viod @stage() {", 1, 8},
      {STAGE "  call void @combine()\n", "this line: (the end of the text)", 3,
       1},
      {STAGE "  ret voi\n}\n", "correct this line: ret voi", 2, 7},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f = open_tiny();
    set_body(&f, "stage", "ir", cases[i].text);
    WS_CHECK(!ws_pass_splice(f.module, f.candidate, &f.findings));
    const ws_finding *found =
        expect_finding(&f, "ir-parse", "stage", cases[i].line);
    WS_CHECK_CONTAINS(found->text, cases[i].words);
    WS_CHECK_INT(found->column, cases[i].column);
    fixture_destroy(&f);
  }
}

/* Two bodies with a helper of the same name. */
WS_TEST(two_bodies) {
  fixture f = open_tiny();
  set_body(&f, "stage", "ir", rich_body);
  set_body(&f, "combine", "ir",
           "define i32 @helper(i32 %lane) {\n  ret i32 %lane\n}\n"
           "define i32 @combine(ptr addrspace(3) %from, i32 %lane) {\n"
           "  %value = call i32 @helper(i32 %lane)\n  ret i32 %value\n}\n");
  WS_CHECK(ws_pass_splice(f.module, f.candidate, &f.findings));
  WS_CHECK(ws_pass_check(f.module, f.candidate, "gfx942", &f.findings));
  fixture_destroy(&f);
}

static const char opencl_body[] =
    "int combine(local const char *from, int lane) {\n"
    "  local const int *words = (local const int *)from;\n"
    "  int sum = 0;\n"
    "  for (int i = 0; i < repeat; i++)\n"
    "    sum += words[lane ^ 1];\n"
    "  return sum;\n"
    "}\n";

WS_TEST(body_in_opencl) {
  fixture f = open_tiny();
  set_body(&f, "combine", "opencl", opencl_body);
  if (!ws_pass_splice(f.module, f.candidate, &f.findings)) {
    if (f.findings.count &&
        strstr(f.findings.items[0].text, "headers are not installed"))
      WS_SKIP("%s", f.findings.items[0].text);
    show_findings(&f);
    WS_FAIL("does not splice");
  }
  LLVMValueRef combine = LLVMGetNamedFunction(f.module, "combine");
  bool xor_found = false;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(combine); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i)) {
      const char *file;
      if (LLVMGetInstructionOpcode(i) != LLVMXor)
        continue;
      xor_found = true;
      WS_CHECK_INT(ws_pass_line(i, &file), line_of(opencl_body, "lane ^ 1"));
      WS_CHECK_TEXT(file, "combine.cl");
      WS_CHECK_TEXT(ws_pass_region_of(i), "combine");
    }
  WS_CHECK(xor_found);
  WS_CHECK(ws_pass_check(f.module, f.candidate, "gfx942", &f.findings));
  fixture_destroy(&f);
}

/* Bodies of region stage that must not pass. line 0: none is known. */
static const struct refused {
  const char *id, *text, *words;
  int line;
} refused[] = {
    {"splice-undefined", "define void @other() {\n  ret void\n}\n",
     "does not define @stage", 0},
    {"splice-undefined",
     "declare void @stage(ptr addrspace(1), ptr addrspace(3), i32)\n",
     "does not define @stage", 0},
    {"splice-signature",
     "\ndefine void @stage(ptr addrspace(1) %a, ptr addrspace(3) %b, i64 %c) "
     "{\n  ret void\n}\n",
     "void (ptr addrspace(1), ptr addrspace(3), i32)", 2},
    {"splice-signature",
     "define void @stage(ptr addrspace(1) %a, ptr %b, i32 %c) {\n"
     "  ret void\n}\n",
     "keep the template's signature", 1},
    {"splice-signature",
     "define amdgpu_kernel void @stage(ptr addrspace(1) %a, ptr addrspace(3) "
     "%b, i32 %c) {\n  ret void\n}\n",
     "calling convention 91", 1},
    {"splice-signature",
     "declare i64 @combine(ptr addrspace(3), i32)\n" STAGE
     "  %x = call i64 @combine(ptr addrspace(3) %target, i32 1)\n"
     "  ret void\n}\n",
     "@combine is i64", 0},
    {"splice-signature",
     "@ws.threads = external addrspace(4) constant i64\n" STAGE
     "  %x = load i64, ptr addrspace(4) @ws.threads\n  ret void\n}\n",
     "@ws.threads", 3},
    {"splice-signature",
     "@ws.threads = external addrspace(1) global i32\n" STAGE
     "  %x = load i32, ptr addrspace(1) @ws.threads\n  ret void\n}\n",
     "address space", 3},
    {"splice-unknown-symbol",
     "declare i32 @printf(ptr)\n" STAGE "  %x = call i32 @printf(ptr null)\n"
     "  ret void\n}\n",
     "@printf", 3},
    {"splice-unknown-symbol", /* the first of several lines */
     "declare i32 @printf(ptr)\n" STAGE "  %x = call i32 @printf(ptr null)\n"
     "  %y = call i32 @printf(ptr null)\n  %z = call i32 @printf(ptr null)\n"
     "  ret void\n}\n",
     "@printf", 3},
    {"splice-unknown-symbol", /* inside a constant */
     "@other = external addrspace(3) global [4 x i8]\n" STAGE
     "  store i8 1, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) "
     "@other, i32 2)\n"
     "  store i8 1, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) "
     "@other, i32 2)\n  ret void\n}\n",
     "@other", 3},
    {"splice-unknown-symbol",
     "declare i32 @llvm.amdgcn.nope(i32)\n" STAGE
     "  %x = call i32 @llvm.amdgcn.nope(i32 1)\n  ret void\n}\n",
     "no intrinsic @llvm.amdgcn.nope", 3},
    {"splice-unknown-symbol",
     "@other = external addrspace(3) global [4 x i8]\n" STAGE
     "  store i8 1, ptr addrspace(3) @other\n  ret void\n}\n",
     "@other", 3},
    {"splice-redefined",
     STAGE "  ret void\n}\ndefine void @tiny() {\n  ret void\n}\n", "@tiny", 4},
    {"splice-redefined",
     STAGE "  ret void\n}\n"
           "define i32 @combine(ptr addrspace(3) %a, i32 %b) {\n"
           "  ret i32 0\n}\n",
     "@combine", 4},
    {"check-global-state",
     "@count = internal addrspace(1) global i32 0\n" STAGE "  ret void\n}\n",
     "@count", 0},
    {"check-global-state",
     "@ws.lds = internal addrspace(3) global [9 x i8] poison\n" STAGE
     "  store i8 1, ptr addrspace(3) @ws.lds\n  ret void\n}\n",
     "@ws.lds", 0},
    {"check-global-state",
     "@more = internal addrspace(3) global [9 x i8] poison\n" STAGE
     "  ret void\n}\n",
     "@more", 0},
    {"check-asm", "module asm \"s_endpgm\"\n" STAGE "  ret void\n}\n",
     "module-level assembly", 0},
    {"splice-alias",
     "@second = alias void (ptr addrspace(1), ptr addrspace(3), "
     "i32), ptr @stage\n" STAGE "  ret void\n}\n",
     "aliases", 0},
    {"splice-metadata",
     STAGE "  ret void\n}\n!wavesmith.allow = !{!0}\n!0 = !{!\"scratch\"}\n",
     "wavesmith.allow", 0},
    {"ir-parse", STAGE "  ret i32 0\n}\n", "ret i32 0", 2},
    {"ir-verify",
     STAGE "  br i1 true, label %a, label %b\na:\n  %x = add i32 1, 2\n"
           "  br label %b\nb:\n  %y = add i32 %x, 1\n  ret void\n}\n",
     "dominate", 4},
};

WS_TEST(refused_bodies) {
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    fixture f = open_tiny();
    set_body(&f, "stage", "ir", refused[i].text);
    WS_CHECK(!ws_pass_splice(f.module, f.candidate, &f.findings));
    const ws_finding *found =
        expect_finding(&f, refused[i].id, "stage", refused[i].line);
    WS_CHECK_TEXT(found->file, "stage.ll");
    WS_CHECK_CONTAINS(found->text, refused[i].words);
    fixture_destroy(&f);
  }
}

WS_TEST(refused_opencl) {
  fixture f = open_tiny();
  set_body(&f, "combine", "opencl",
           "int combine(local const char *from, int lane) {\n"
           "  return lame;\n}\n");
  WS_CHECK(!ws_pass_splice(f.module, f.candidate, &f.findings));
  if (f.findings.count &&
      strstr(f.findings.items[0].text, "headers are not installed"))
    WS_SKIP("%s", f.findings.items[0].text);
  expect_finding(&f, "opencl-compile", "combine", 2);
  fixture_destroy(&f);
}

/* What a call of OpenCL's library is answered with; without words the body is
 * one with the answer, which must pass. */
static const struct opencl_call {
  const char *call, *words;
} opencl_calls[] = {
    {"fma(1.f, 2.f, 3.f)", "calls fma (@_Z3fmafff), and there is no library; "
                           "write __builtin_fmaf (vectors: "},
    {"min(lane, 3)", "write __builtin_elementwise_min"},
    {"native_exp2(1.f * lane)", "write __builtin_amdgcn_exp2f"},
    {"convert_float(lane)", "write a cast"},
    {"vload4(0, (local const int *)from).x", "*(global const float4 *)p"},
    {"get_local_id(0)", "__builtin_amdgcn_workitem_id_x()"},
    {"hypot(1.f, 2.f)", "calls hypot (@_Z5hypotff), and there is no library; "
                        "define it in the body or use a __builtin_"},
    {"__builtin_fmaf(1.f, 2.f, 3.f)", NULL},
    {"__builtin_elementwise_fma((float2)(lane), (float2)(1), (float2)(2)).x",
     NULL},
    {"__builtin_elementwise_min(lane, 3)", NULL},
    {"__builtin_elementwise_max(lane, 3)", NULL},
    {"__builtin_elementwise_abs(lane)", NULL},
    {"__builtin_fabsf(1.f * lane)", NULL},
    {"__builtin_amdgcn_exp2f(1.44269504f * lane)", NULL},
    {"__builtin_amdgcn_logf(1.f * lane)", NULL},
    {"__builtin_amdgcn_sqrtf(1.f * lane)", NULL},
    {"__builtin_amdgcn_rsqf(1.f * lane)", NULL},
    {"__builtin_amdgcn_rcpf(1.f * lane)", NULL},
    {"__builtin_rintf(1.f * lane) + __builtin_floorf(1.f * lane)", NULL},
    {"__builtin_ceilf(1.f * lane) + __builtin_truncf(1.f * lane)", NULL},
    {"__builtin_popcount(lane) + __builtin_clz(lane)", NULL},
    {"__builtin_convertvector((int4)(lane), float4).x", NULL},
    {"(*(local const float4 *)from).x", NULL},
    {"__builtin_amdgcn_workitem_id_x()", NULL},
    {"__builtin_amdgcn_workgroup_id_x()", NULL},
    {"(__builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"), "
     "__builtin_amdgcn_s_barrier(), "
     "__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\"), 1)",
     NULL},
    {"__builtin_amdgcn_ds_bpermute(4 * lane, lane)", NULL},
};

WS_TEST(calls_of_a_library_are_told_what_to_write) {
  for (size_t i = 0; i < sizeof opencl_calls / sizeof *opencl_calls; i++) {
    const struct opencl_call *c = &opencl_calls[i];
    fixture f = open_tiny();
    set_body(&f, "combine", "opencl",
             ws_arena_printf(f.arena,
                             "int combine(local const char *from, int lane) {\n"
                             "  int two = lane;\n"
                             "  return two + (int)(%s);\n}\n",
                             c->call));
    const bool passed = ws_pass_splice(f.module, f.candidate, &f.findings);
    if (f.findings.count &&
        strstr(f.findings.items[0].text, "headers are not installed"))
      WS_SKIP("%s", f.findings.items[0].text);
    if (!c->words && !passed)
      show_findings(&f);
    WS_CHECK_INT(passed, !c->words);
    if (c->words) {
      expect_finding(&f, "splice-unknown-symbol", "combine", 3);
      WS_CHECK_CONTAINS(f.findings.items[0].text, c->words);
    }
    fixture_destroy(&f);
  }
}

/* Calls at several lines: the first is named. */
WS_TEST(a_library_is_called_at_the_first_line) {
  fixture f = open_tiny();
  set_body(&f, "combine", "opencl",
           "int combine(local const char *from, int lane) {\n"
           "  int a = max(lane, 1);\n"
           "  int b = max(a, 2);\n"
           "  return max(a, b);\n}\n");
  WS_CHECK(!ws_pass_splice(f.module, f.candidate, &f.findings));
  if (strstr(f.findings.items[0].text, "headers are not installed"))
    WS_SKIP("%s", f.findings.items[0].text);
  expect_finding(&f, "splice-unknown-symbol", "combine", 2);
  WS_CHECK_CONTAINS(f.findings.items[0].text, "the body calls max (");
  fixture_destroy(&f);
}

/* Without a handler LLVM would end the process here. */
WS_TEST(link_error_is_caught) {
  fixture f = open_tiny();
  static const char text[] = "define void @tiny() {\n  ret void\n}\n";
  LLVMModuleRef other =
      ws_pass_parse(f.context, text, strlen(text), "o.ll", &f.findings);
  WS_CHECK(LLVMLinkModules2(f.module, other));
  WS_CHECK_CONTAINS(expect_finding(&f, "ir-diagnostic", "", 0)->text, "tiny");
  fixture_destroy(&f);
}
