/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the IR promises, one row each: written into the small template, it is
 * there when the text has been read, and behind the splice it is gone, has
 * become something that is defined, or stays because something sees to it.
 * docs/templates.md has the same rows with their reasons.
 */
#include "pass_test.h"

/* Where a row's text goes into tiny.ll, in place of what stands there. */
#define HERE "  %base = mul i32 %group, %threads\n"
#define AND(text) HERE text "\n"
#define FLOAT "%f = uitofp i32 %m to float\n"
#define LOAD "%value = load i32, ptr addrspace(1) %from, align 4"
#define BARRIER "call void @llvm.amdgcn.s.barrier()"
#define KERNEL "i32 %m) {"
#define STAGE "i32 %lane) alwaysinline {"
#define LOOP "!21 = !{!\"llvm.loop.unroll.full\"}"
#define LDS "poison, align 16"
#define A "ptr addrspace(1) noalias readonly %a,"
#define C "ptr addrspace(1) noalias %c,"

/* Intrinsics have attributes of LLVM's own, which would be printed, too. */
static void undress(LLVMValueRef intrinsic, LLVMAttributeIndex at) {
  enum { MOST = 64 };
  LLVMAttributeRef list[MOST];
  unsigned count = LLVMGetAttributeCountAtIndex(intrinsic, at);
  WS_CHECK(count <= MOST);
  LLVMGetAttributesAtIndex(intrinsic, at, list);
  for (unsigned i = 0; i < count; i++)
    LLVMRemoveEnumAttributeAtIndex(intrinsic, at,
                                   LLVMGetEnumAttributeKind(list[i]));
}

static bool says(const fixture *f, const char *words) {
  LLVMModuleRef copy = LLVMCloneModule(f->module);
  for (LLVMValueRef v = LLVMGetFirstFunction(copy); v;
       v = LLVMGetNextFunction(v))
    for (unsigned i = 0; LLVMGetIntrinsicID(v) && i < LLVMCountParams(v) + 2;
         i++)
      undress(v, i - 1); /* the function itself, result, parameters */
  char *text = LLVMPrintModuleToString(copy);
  bool found = strstr(text, words) != NULL;
  LLVMDisposeMessage(text);
  LLVMDisposeModule(copy);
  return found;
}

/* from becomes to, and behind stands at the end: declarations, metadata. */
static fixture edited(const char *from, const char *to, const char *behind) {
  ws_arena *arena = ws_arena_create();
  const char *text = replace(arena, read_tiny(arena), from, to);
  fixture f = open_template(
      ws_arena_printf(arena, "%s%s\n", text, behind ? behind : ""));
  ws_arena_destroy(arena);
  return f;
}

static void splice(fixture *f) {
  if (ws_pass_splice(f->module, f->candidate, &f->findings))
    return;
  show_findings(f);
  WS_FAIL("does not splice");
}

/* ---- gone ---------------------------------------------------------------- */

static const struct stripped {
  const char *said; /* in LLVM's words */
  const char *from, *to, *behind;
} stripped[] = {
    /* flags of instructions */
    {"add nsw", HERE, AND("%x = add nsw i32 %base, %m"), NULL},
    {"sub nuw", HERE, AND("%x = sub nuw i32 %base, %m"), NULL},
    {"trunc nuw", HERE, AND("%x = trunc nuw i32 %base to i8"), NULL},
    {"udiv exact", HERE, AND("%x = udiv exact i32 %base, %m"), NULL},
    {"lshr exact", HERE, AND("%x = lshr exact i32 %base, 3"), NULL},
    {"zext nneg", HERE, AND("%x = zext nneg i32 %base to i64"), NULL},
    {"or disjoint", HERE, AND("%x = or disjoint i32 %base, %m"), NULL},
    {"icmp samesign", HERE, AND("%x = icmp samesign ult i32 %base, %m"), NULL},
    {"getelementptr inbounds", HERE,
     AND("%x = getelementptr inbounds i8, ptr addrspace(1) %a, i32 %m"), NULL},
    {"getelementptr nuw", HERE,
     AND("%x = getelementptr nuw i8, ptr addrspace(1) %a, i32 %m"), NULL},
    {"fadd nnan", HERE, AND(FLOAT "%x = fadd nnan float %f, %f"), NULL},
    {"fneg nnan", HERE, AND(FLOAT "%x = fneg nnan float %f"), NULL},
    {"fdiv ninf", HERE, AND(FLOAT "%x = fdiv ninf float 1.0, %f"), NULL},
    {"fptrunc nnan", HERE, AND(FLOAT "%x = fptrunc nnan float %f to half"),
     NULL},
    {"select nnan", HERE,
     AND(FLOAT "%t = icmp eq i32 %m, 1\n"
               "%x = select nnan i1 %t, float %f, float 1.0"),
     NULL},
    {"call nnan", HERE,
     AND(FLOAT "%x = call nnan float @llvm.sqrt.f32(float %f)"),
     "declare float @llvm.sqrt.f32(float)"},
    {"phi nnan", "end:\n",
     "end:\n  %x = phi nnan float [ 1.0, %entry ], [ 2.0, "
     "%write ]\n",
     NULL},
    {"fcmp ninf", HERE, AND(FLOAT "%x = fcmp ninf olt float %f, 1.0"), NULL},
    {"tail call void @stage", "call void @stage", "tail call void @stage",
     NULL},
    /* metadata of instructions */
    {"!range", LOAD, LOAD ", !range !90", "!90 = !{i32 0, i32 1}"},
    {"!noundef", LOAD, LOAD ", !noundef !90", "!90 = !{}"},
    {"!invariant.group", LOAD, LOAD ", !invariant.group !90", "!90 = !{}"},
    {"!tbaa", LOAD, LOAD ", !tbaa !90",
     "!90 = !{!91, !91, i64 0}\n!91 = !{!\"int\", !92}\n!92 = !{!\"root\"}"},
    {"!alias.scope", LOAD, LOAD ", !alias.scope !90",
     "!90 = !{!91}\n!91 = distinct !{!91, !92}\n!92 = distinct !{!92}"},
    {"!noalias", LOAD, LOAD ", !noalias !90",
     "!90 = !{!91}\n!91 = distinct !{!91, !92}\n!92 = distinct !{!92}"},
    {"!llvm.access.group", LOAD, LOAD ", !llvm.access.group !90",
     "!90 = distinct !{}"},
    {"!nonnull", HERE,
     AND("%x = load ptr addrspace(1), ptr addrspace(4) null, !nonnull !90"),
     "!90 = !{}"},
    {"!dereferenceable", HERE,
     AND("%x = load ptr addrspace(1), ptr addrspace(4) null, "
         "!dereferenceable !90"),
     "!90 = !{i64 4096}"},
    {"!align", HERE,
     AND("%x = load ptr addrspace(1), ptr addrspace(4) null, !align !90"),
     "!90 = !{i64 4096}"},
    {"!noalias.addrspace", HERE,
     AND("%flat = addrspacecast ptr addrspace(1) %a to ptr\n"
         "%x = load i32, ptr %flat, !noalias.addrspace !90"),
     "!90 = !{i32 5, i32 6}"},
    {"!amdgpu.uniform", LOAD, LOAD ", !amdgpu.uniform !90", "!90 = !{}"},
    {"!amdgpu.noclobber", LOAD, LOAD ", !amdgpu.noclobber !90", "!90 = !{}"},
    {"!structurizecfg.uniform", "label %write, label %end",
     "label %write, label %end, !structurizecfg.uniform !90", "!90 = !{}"},
    {"!callees", BARRIER, BARRIER ", !callees !90", "!90 = !{ptr @tiny}"},
    {"!not.yet.invented", LOAD, LOAD ", !not.yet.invented !90", "!90 = !{}"},
    /* of loops */
    {"llvm.loop.mustprogress", LOOP, "!21 = !{!\"llvm.loop.mustprogress\"}",
     NULL},
    {"llvm.loop.parallel_accesses", LOOP,
     "!21 = !{!\"llvm.loop.parallel_accesses\", !90}", "!90 = distinct !{}"},
    {"llvm.loop.unroll.followup_all", LOOP,
     "!21 = !{!\"llvm.loop.unroll.followup_all\", !90}",
     "!90 = !{!\"llvm.loop.mustprogress\"}"},
    /* of functions and variables */
    {"!reqd_work_group_size", KERNEL, "i32 %m) !reqd_work_group_size !90 {",
     "!90 = !{i32 1, i32 1, i32 1}"},
    {"!absolute_symbol", LDS, LDS ", !absolute_symbol !90",
     "!90 = !{i32 64, i32 65}"},
    /* attributes of functions */
    {"memory(none)", KERNEL, "i32 %m) memory(none) {", NULL},
    {"memory(none)", STAGE, "i32 %lane) alwaysinline memory(none) {", NULL},
    {"willreturn", STAGE, "i32 %lane) alwaysinline willreturn {", NULL},
    {"mustprogress", STAGE, "i32 %lane) alwaysinline mustprogress {", NULL},
    {"nosync", KERNEL, "i32 %m) nosync {", NULL},
    {"nofree", KERNEL, "i32 %m) nofree {", NULL},
    {"norecurse", KERNEL, "i32 %m) norecurse {", NULL},
    {"noreturn", STAGE, "i32 %lane) alwaysinline noreturn {", NULL},
    {"speculatable", STAGE, "i32 %lane) alwaysinline speculatable {", NULL},
    {"nodivergencesource", STAGE,
     "i32 %lane) alwaysinline nodivergencesource {", NULL},
    {"\"no-nans-fp-math\"", KERNEL, "i32 %m) \"no-nans-fp-math\"=\"true\" {",
     NULL},
    {"\"unsafe-fp-math\"", KERNEL, "i32 %m) \"unsafe-fp-math\"=\"true\" {",
     NULL},
    {"\"amdgpu-ieee\"", KERNEL, "i32 %m) \"amdgpu-ieee\"=\"false\" {", NULL},
    {"\"amdgpu-no-workgroup-id-x\"", KERNEL,
     "i32 %m) \"amdgpu-no-workgroup-id-x\" {", NULL},
    {"\"amdgpu-max-num-workgroups\"", KERNEL,
     "i32 %m) \"amdgpu-max-num-workgroups\"=\"1,1,1\" {", NULL},
    {"\"amdgpu-lds-size\"", KERNEL, "i32 %m) \"amdgpu-lds-size\"=\"4\" {",
     NULL},
    {"\"target-features\"", KERNEL,
     "i32 %m) \"target-features\"=\"+gfx950-insts\" {", NULL},
    {"\"uniform-work-group-size\"=\"false\"", KERNEL,
     "i32 %m) \"uniform-work-group-size\"=\"false\" {", NULL},
    {"\"amdgpu-flat-work-group-size\"=\"1,1\"", KERNEL,
     "i32 %m) \"amdgpu-flat-work-group-size\"=\"1,1\" {", NULL},
    /* of parameters and results */
    {"writeonly", C, "ptr addrspace(1) noalias writeonly %c,", NULL},
    {"readnone", A, "ptr addrspace(1) noalias readnone %a,", NULL},
    {"captures(none)", C, "ptr addrspace(1) captures(none) %c,", NULL},
    {"dereferenceable(64)", C, "ptr addrspace(1) dereferenceable(64) %c,",
     NULL},
    {"nonnull", C, "ptr addrspace(1) nonnull %c,", NULL},
    {"align 65536", C, "ptr addrspace(1) align 65536 %c,", NULL},
    {"initializes((0, 4))", C, "ptr addrspace(1) initializes((0, 4)) %c,",
     NULL},
    {"noundef", KERNEL, "i32 noundef %m) {", NULL},
    {"range(i32 0, 1)", KERNEL, "i32 range(i32 0, 1) %m) {", NULL},
    {"range(i32 0, 2)", "call i32 @llvm.amdgcn.workitem.id.x()",
     "call range(i32 0, 2) i32 @llvm.amdgcn.workitem.id.x()", NULL},
    {"noalias %source", "@stage(ptr addrspace(1) %source",
     "@stage(ptr addrspace(1) noalias %source", NULL},
    {"readonly %source", "@stage(ptr addrspace(1) %source",
     "@stage(ptr addrspace(1) readonly %source", NULL},
    {"returned", "i32 @combine(ptr addrspace(3) %from, i32 %lane)",
     "i32 @combine(ptr addrspace(3) %from, i32 returned %lane)", NULL},
    {"nofpclass(nan)", HERE,
     AND(FLOAT "%x = call nofpclass(nan) float @llvm.sqrt.f32(float %f)"),
     "declare float @llvm.sqrt.f32(float)"},
    /* of calls */
    {"memory(none)", BARRIER, BARRIER " memory(none)", NULL},
    {"willreturn",
     "call void @stage(ptr addrspace(1) %source, ptr "
     "addrspace(3) @ws.lds, i32 %item)",
     "call void @stage(ptr addrspace(1) %source, ptr addrspace(3) @ws.lds, "
     "i32 %item) willreturn",
     NULL},
    /* alignment that no problem promises */
    {"align 65536", LOAD,
     "%value = load i32, ptr addrspace(1) %from, align "
     "65536",
     NULL},
    {"align 4096", "store i32 %value, ptr addrspace(3) %to, align 4",
     "store i32 %value, ptr addrspace(3) %to, align 4096", NULL},
    {"align 256", HERE,
     AND("call void @llvm.memcpy.p3.p1.i32(ptr addrspace(3) @ws.lds, ptr "
         "addrspace(1) align 256 %a, i32 8, i1 false)"),
     "declare void @llvm.memcpy.p3.p1.i32(ptr addrspace(3), ptr addrspace(1), "
     "i32, i1)"},
    /* intrinsics that do nothing else */
    {"call void @llvm.lifetime.start", "store i32 0, ptr addrspace(5) %sum",
     "call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %sum)\n"
     "  store i32 0, ptr addrspace(5) %sum",
     "declare void @llvm.lifetime.start.p5(i64, ptr addrspace(5))"},
    {"call void @llvm.experimental.noalias.scope.decl", HERE,
     AND("call void @llvm.experimental.noalias.scope.decl(metadata !90)"),
     "declare void @llvm.experimental.noalias.scope.decl(metadata)\n"
     "!90 = !{!91}\n!91 = distinct !{!91, !92}\n!92 = distinct !{!92}"},
};

WS_TEST(what_is_not_believed_is_gone) {
  for (size_t i = 0; i < sizeof stripped / sizeof *stripped; i++) {
    const struct stripped *row = &stripped[i];
    fixture f = edited(row->from, row->to, row->behind);
    if (!says(&f, row->said))
      WS_FAIL("row %zu: the text does not say \"%s\"", i, row->said);
    splice(&f);
    if (says(&f, row->said))
      WS_FAIL("row %zu: \"%s\" is still there", i, row->said);
    fixture_destroy(&f);
  }
}

/* ---- defined ------------------------------------------------------------- */

static const struct defined {
  const char *from, *to, *behind, *becomes;
} defined[] = {
    {HERE, AND("%x = shl i32 1, %m"), NULL, "and i32 %m, 31"},
    {HERE, AND("%x = lshr i32 %m, 32"), NULL, "lshr i32 %m, 0"},
    {HERE,
     AND("%v = insertelement <2 x i32> poison, i32 %m, i32 0\n"
         "%w = shufflevector <2 x i32> %v, <2 x i32> %v, <2 x i32> "
         "zeroinitializer\n"
         "%x = ashr <2 x i32> %w, %w"),
     NULL, "and <2 x i32> %w, splat (i32 31)"},
    {HERE, AND("%v = insertelement <4 x i32> zeroinitializer, i32 7, i32 %m"),
     NULL, "and i32 %m, 3"},
    {HERE,
     AND("%v = insertelement <3 x i32> zeroinitializer, i32 %m, i32 0\n"
         "%x = extractelement <3 x i32> %v, i32 %m"),
     NULL, "urem i32 %m, 3"},
    {HERE, AND(FLOAT "%x = fptoui float %f to i8"), NULL,
     "call i8 @llvm.fptoui.sat.i8.f32(float %f)"},
    {HERE, AND(FLOAT "%x = fptosi float %f to i32"), NULL,
     "call i32 @llvm.fptosi.sat.i32.f32(float %f)"},
    {HERE, AND("%x = call i32 @llvm.ctlz.i32(i32 %m, i1 true)"),
     "declare i32 @llvm.ctlz.i32(i32, i1)", "@llvm.ctlz.i32(i32 %m, i1 false)"},
    {HERE, AND("%x = call i32 @llvm.abs.i32(i32 %m, i1 true)"),
     "declare i32 @llvm.abs.i32(i32, i1)", "@llvm.abs.i32(i32 %m, i1 false)"},
    {"alwaysinline {\nentry:\n  %from",
     "alwaysinline {\nentry:\n  call void @llvm.amdgcn.s.barrier()\n  %from",
     NULL, "alwaysinline convergent"},
};

WS_TEST(what_is_undefined_becomes_defined) {
  for (size_t i = 0; i < sizeof defined / sizeof *defined; i++) {
    const struct defined *row = &defined[i];
    fixture f = edited(row->from, row->to, row->behind);
    if (says(&f, row->becomes))
      WS_FAIL("row %zu: the text says \"%s\" itself", i, row->becomes);
    splice(&f);
    if (!says(&f, row->becomes)) {
      LLVMDumpModule(f.module);
      WS_FAIL("row %zu: no \"%s\"", i, row->becomes);
    }
    fixture_destroy(&f);
  }
}

/* In range by construction: nothing is added. */
WS_TEST(what_is_defined_stays_as_it_is) {
  fixture f = edited(HERE, AND("%x = shl i32 %m, 31"), NULL);
  splice(&f);
  WS_CHECK(says(&f, "shl i32 %m, 31"));
  WS_CHECK(!says(&f, "and i32"));
  fixture_destroy(&f);
}

/* ---- stays --------------------------------------------------------------- */

static const struct kept {
  const char *said, *from, *to, *behind;
} kept[] = {
    {"noalias readonly %a", A, A, NULL},
    {"align 16", LOAD, "%value = load i32, ptr addrspace(1) %from, align 16",
     NULL},
    {"!nontemporal", LOAD, LOAD ", !nontemporal !90", "!90 = !{i32 1}"},
    {"!invariant.load", LOAD, LOAD ", !invariant.load !90", "!90 = !{}"},
    {"!fpmath", HERE, AND(FLOAT "%x = fdiv float 1.0, %f, !fpmath !90"),
     "!90 = !{float 2.5}"},
    {"!prof", "label %write, label %end", "label %write, label %end, !prof !90",
     "!90 = !{!\"branch_weights\", i32 9, i32 1}"},
    {"!amdgpu.no.fine.grained.memory", HERE,
     AND(FLOAT "%x = atomicrmw fadd ptr addrspace(1) %c, float %f "
               "syncscope(\"agent\") monotonic, align 4, "
               "!amdgpu.no.fine.grained.memory !90"),
     "!90 = !{}"},
    {"llvm.loop.unroll.full", LOOP, LOOP, NULL},
    {"fadd reassoc nsz arcp contract afn", HERE,
     AND(FLOAT "%x = fadd fast float %f, %f"), NULL},
    {"\"amdgpu-waves-per-eu\"=\"2\"", KERNEL,
     "i32 %m) \"amdgpu-waves-per-eu\"=\"2\" {", NULL},
    {"\"amdgpu-flat-work-group-size\"=\"64,512\"", KERNEL,
     "i32 %m) \"amdgpu-flat-work-group-size\"=\"64,512\" {", NULL},
    {"null_pointer_is_valid", KERNEL, "i32 %m) null_pointer_is_valid {", NULL},
    {"cold", STAGE, "i32 %lane) alwaysinline cold {", NULL},
};

WS_TEST(choices_of_code_stay) {
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    fixture f = edited(kept[i].from, kept[i].to, kept[i].behind);
    splice(&f);
    if (!says(&f, kept[i].said)) {
      LLVMDumpModule(f.module);
      WS_FAIL("row %zu: \"%s\" is gone", i, kept[i].said);
    }
    fixture_destroy(&f);
  }
}

/* ---- checked ------------------------------------------------------------- */

static const struct checked {
  const char *from, *to, *behind, *id; /* id "": nothing to report */
} checked[] = {
    {LOAD, LOAD ", !invariant.load !90", "!90 = !{}", ""},
    {HERE,
     AND("store i32 1, ptr addrspace(1) %c\n"
         "%x = load i32, ptr addrspace(1) %c, !invariant.load !90"),
     "!90 = !{}", "check-constant-memory"},
    {HERE,
     AND("%k = addrspacecast ptr addrspace(1) %c to ptr addrspace(4)\n"
         "%x = load i32, ptr addrspace(4) %k"),
     NULL, "check-constant-memory"},
    {HERE,
     AND("%k = addrspacecast ptr addrspace(1) %a to ptr addrspace(4)\n"
         "%x = load i32, ptr addrspace(4) %k"),
     NULL, ""},
    {HERE, /* through flat, and one of two */
     AND("%small = icmp ult i32 %m, 6144\n"
         "%p = select i1 %small, ptr addrspace(1) %a, ptr addrspace(1) %c\n"
         "%f = addrspacecast ptr addrspace(1) %p to ptr\n"
         "%k = addrspacecast ptr %f to ptr addrspace(4)\n"
         "%x = load i32, ptr addrspace(4) %k"),
     NULL, "check-constant-memory"},
    {HERE, /* out of private memory, where two addresses went */
     AND("%s = alloca [2 x ptr addrspace(1)], addrspace(5)\n"
         "%one = getelementptr ptr, ptr addrspace(5) %s, i32 1\n"
         "store ptr addrspace(1) %a, ptr addrspace(5) %s\n"
         "store ptr addrspace(1) %c, ptr addrspace(5) %one\n"
         "%i = lshr i32 %m, 13\n"
         "%at = getelementptr ptr, ptr addrspace(5) %s, i32 %i\n"
         "%p = load ptr addrspace(1), ptr addrspace(5) %at\n"
         "%x = load i32, ptr addrspace(1) %p, !invariant.load !90"),
     "!90 = !{}", "check-constant-memory"},
    {HERE, AND("call void @llvm.assume(i1 true)"),
     "declare void @llvm.assume(i1)", "check-intrinsic"},
    {KERNEL, "i32 %m) prologue i32 1234 {", NULL, "check-asm"},
    {KERNEL, "i32 %m) prefix i32 1234 {", NULL, "check-asm"},
    {KERNEL, "i32 %m) \"denormal-fp-math-f32\"=\"preserve-sign\" {", NULL,
     "check-float-env"},
    {"noalias %c,", "noalias readonly %c,", NULL, "check-readonly-store"},
};

WS_TEST(what_can_be_seen_is_checked) {
  for (size_t i = 0; i < sizeof checked / sizeof *checked; i++) {
    const struct checked *row = &checked[i];
    fixture f = edited(row->from, row->to, row->behind);
    splice(&f);
    bool good = ws_pass_check(f.module, f.candidate, "gfx942", &f.findings);
    if (good != !*row->id || (!good && !find_finding(&f, row->id))) {
      show_findings(&f);
      WS_FAIL("row %zu: %s, not \"%s\"", i, good ? "passes" : "refused",
              row->id);
    }
    fixture_destroy(&f);
  }
}
