/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * sm_90a up to the static check: what a template may declare, what PTX it may
 * hold, and the sentence for each thing that it may not.
 */
#include "pass_test.h"

static char *read_tiny_sm90(ws_arena *arena) {
  return read_source(arena, "tests/pass/Inputs/tiny_sm90.ll");
}

static fixture open_changed(const char *from, const char *to) {
  ws_arena *arena = ws_arena_create();
  fixture f = open_template(replace(arena, read_tiny_sm90(arena), from, to));
  ws_arena_destroy(arena);
  return f;
}

/* ---- records ------------------------------------------------------------- */

WS_TEST(tensor_maps_and_occupancy) {
  fixture f = open_changed("!\"tiny\", !\"1\", !\"1\"}\n!7",
                           "!\"tiny\", !\"sets\", !\"3\"}\n!7");
  const ws_template *tmpl = f.candidate->tmpl;
  WS_CHECK_TEXT(tmpl->target, "sm_90a");
  WS_CHECK_INT(tmpl->launches[0].argument_count, 6);
  WS_CHECK_TEXT(tmpl->launches[0].arguments[1], "b_map");
  WS_CHECK_INT(tmpl->occupancy_count, 1);
  WS_CHECK_TEXT(ws_expr_text(tmpl->occupancies[0].cluster), "sets");
  WS_CHECK_TEXT(ws_expr_text(tmpl->occupancies[0].workgroups), "3");
  WS_CHECK_INT(tmpl->tensor_map_count, 2);
  const ws_tensor_map *map = &tmpl->tensor_maps[1];
  WS_CHECK_TEXT(map->name, "b_map");
  WS_CHECK_TEXT(map->argument, "b");
  WS_CHECK_INT(map->element, WS_ELEMENT_U8);
  WS_CHECK_TEXT(ws_expr_text(map->inner), "k");
  WS_CHECK_TEXT(ws_expr_text(map->outer), "n");
  WS_CHECK_TEXT(ws_expr_text(map->box_inner), "128");
  WS_CHECK_TEXT(ws_expr_text(map->box_outer), "columns");
  WS_CHECK_TEXT(ws_expr_text(map->swizzle), "128");
  WS_CHECK_INT(map->line, line_of(f.text, "!8 = "));
  fixture_destroy(&f);
}

static const struct malformed {
  const char *from, *to, *at, *words;
} malformed[] = {
    {"target triple = \"nvptx64-nvidia-cuda\"",
     "target triple = \"x86_64-linux-gnu\"", NULL,
     "write target triple = \"amdgcn-amd-amdhsa\" or \"nvptx64-nvidia-cuda\""},
    {"!\"sm_90a\"", "!\"gfx942\"",
     "!0 = ", "the target is gfx942 and the target triple \"nvptx64"},
    {"!\"sm_90a\"", "!\"sm_80\"", "!0 = ",
     "target 'sm_80' is not known; there is gfx942, gfx950 and sm_90a"},
    {"define ptx_kernel void @tiny", "define void @tiny",
     "!5 = ", "write define ptx_kernel void @tiny(...)"},
    {"external addrspace(3) global [0 x i8]",
     "internal addrspace(3) global [0 x i8] zeroinitializer",
     "!4 = ", "external addrspace(3) global [0 x i8], align 1024"},
    {"ptr byval([128 x i8]) align 64 %a_map",
     "ptr byval([64 x i8]) align 64 %a_map",
     "!5 = ", "tensor map 'a_map' must be ptr byval([128 x i8]) align 64"},
    {"ptr byval([128 x i8]) align 64 %a_map",
     "ptr byval([128 x i8]) align 32 %a_map",
     "!5 = ", "tensor map 'a_map' must be ptr byval([128 x i8]) align 64"},
    {"ptr byval([128 x i8]) align 64 %a_map", "ptr align 64 %a_map",
     "!5 = ", "tensor map 'a_map' must be"},
    {"!7 = !{!\"a_map\"", "!7 = !{!\"b_map\"",
     "!5 = ", "'a_map' is no argument of fp8_gemm_blockscale"},
    {"!\"a_map\", !\"a\"", "!\"a_map\", !\"m\"",
     "!7 = ", "'m' is no buffer of fp8_gemm_blockscale"},
    {"!\"a_map\", !\"a\", !\"u8\", !\"k\", !\"m\", !\"128\", !\"64\", "
     "!\"128\"}",
     "!\"a_map\", !\"a\", !\"u8\"}", "!7 = ", "3 operands, want 8"},
};

static void check_malformed(const struct malformed *wrong) {
  ws_arena *arena = ws_arena_create();
  char *text = replace(arena, read_tiny_sm90(arena), wrong->from, wrong->to);
  fixture f = fixture_create();
  ws_records records;
  ws_diag diag = {{0}};
  f.module = ws_pass_parse(f.context, text, strlen(text), "t.ll", &f.findings);
  if (!f.module) {
    show_findings(&f);
    WS_FAIL("\"%s\" does not parse", wrong->to);
  }
  WS_CHECK_INT(
      ws_pass_read_records(f.module, text, "t.ll", f.arena, &records, &diag),
      WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, wrong->words);
  if (wrong->at)
    WS_CHECK_CONTAINS(diag.text, ws_arena_printf(arena, "t.ll:%d: ",
                                                 line_of(text, wrong->at)));
  fixture_destroy(&f);
  ws_arena_destroy(arena);
}

WS_TEST(malformed_templates) {
  for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
    check_malformed(&malformed[i]);
}

/* AMD has neither. */
WS_TEST(records_of_nvidia_only) {
  ws_arena *arena = ws_arena_create();
  static const char *const additions[] = {
      "!wavesmith.occupancy = !{!30}\n!30 = !{!\"tiny\", !\"1\", !\"1\"}\n",
      "!wavesmith.tensor_map = !{!30}\n!30 = !{!\"a_map\", !\"a\", !\"u8\", "
      "!\"k\", !\"m\", !\"128\", !\"64\", !\"128\"}\n"};
  for (size_t i = 0; i < 2; i++) {
    char *text = ws_arena_printf(arena, "%s%s", read_tiny(arena), additions[i]);
    fixture f = fixture_create();
    ws_records records;
    ws_diag diag = {{0}};
    f.module =
        ws_pass_parse(f.context, text, strlen(text), "t.ll", &f.findings);
    WS_CHECK(f.module);
    WS_CHECK_INT(
        ws_pass_read_records(f.module, text, "t.ll", f.arena, &records, &diag),
        WS_INPUT);
    WS_CHECK_CONTAINS(diag.text, "\"amdgcn-amd-amdhsa\"");
    fixture_destroy(&f);
  }
  ws_arena_destroy(arena);
}

/* ---- splice -------------------------------------------------------------- */

static const char *function_attribute(LLVMModuleRef module, const char *key) {
  LLVMAttributeRef attribute = LLVMGetStringAttributeAtIndex(
      LLVMGetNamedFunction(module, "tiny"), LLVMAttributeFunctionIndex, key,
      (unsigned)strlen(key));
  unsigned size;
  return attribute ? LLVMGetStringAttributeValue(attribute, &size) : "";
}

WS_TEST(launches_become_attributes) {
  fixture f = open_changed("!\"tiny\", !\"1\", !\"1\"}\n!7",
                           "!\"tiny\", !\"sets\", !\"3\"}\n!7");
  WS_CHECK(ws_pass_splice(f.module, f.candidate, &f.findings));
  WS_CHECK_TEXT(function_attribute(f.module, "nvvm.reqntid"), "128,1,1");
  WS_CHECK_TEXT(function_attribute(f.module, "nvvm.minctasm"), "3");
  WS_CHECK_TEXT(function_attribute(f.module, "nvvm.cluster_dim"), "2,1,1");
  WS_CHECK_TEXT(function_attribute(f.module, "amdgpu-flat-work-group-size"),
                "");
  fixture_destroy(&f);
  f = open_changed("@", "@");
  WS_CHECK(ws_pass_splice(f.module, f.candidate, &f.findings));
  WS_CHECK_TEXT(function_attribute(f.module, "nvvm.cluster_dim"), "");
  fixture_destroy(&f);
}

static const struct unfit {
  const char *from, *to, *id, *words;
} unfit[] = {
    {"!\"1\", !\"1\", !\"128\", !\"1\"}", "!\"1\", !\"1\", !\"48\", !\"1\"}",
     "splice-expression", "a multiple of the wave size 32"},
    {"!6 = !{!\"tiny\", !\"1\"", "!6 = !{!\"tiny\", !\"9\"",
     "splice-expression", "cluster is 9"},
    {"!6 = !{!\"tiny\", !\"1\", !\"1\"", "!6 = !{!\"tiny\", !\"1\", !\"0\"",
     "splice-expression", "workgroups is 0"},
    {"!\"columns\", !\"128\"}", "!\"columns * 8\", !\"128\"}",
     "splice-expression", "box outer is 512"},
    {"!\"128\", !\"64\", !\"128\"}", "!\"128\", !\"64\", !\"96\"}",
     "tensor-map", "the swizzle is 0, 32, 64 or 128 bytes"},
    {"!\"128\", !\"64\", !\"128\"}", "!\"128\", !\"64\", !\"64\"}",
     "tensor-map", "rows fit into the swizzle"},
    {"!\"128\", !\"64\", !\"128\"}", "!\"24\", !\"64\", !\"128\"}",
     "tensor-map", "multiples of 16 bytes"},
};

WS_TEST(values_that_do_not_fit) {
  for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++) {
    fixture f = open_changed(unfit[i].from, unfit[i].to);
    WS_CHECK(!ws_pass_splice(f.module, f.candidate, &f.findings));
    const ws_finding *found = find_finding(&f, unfit[i].id);
    if (!found) {
      show_findings(&f);
      WS_FAIL("no finding %s for %s", unfit[i].id, unfit[i].to);
    }
    WS_CHECK_CONTAINS(found->text, unfit[i].words);
    fixture_destroy(&f);
  }
}

static const char body[] =
    "define internal void @accumulate(ptr %sums, ptr %partial, float %scale) "
    "alwaysinline {\n"
    "  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()\n"
    "  call void @barrier_wait(i32 %lane, i32 0)\n"
    "  call void @ws.wgmma.wait(ptr %partial, i32 64, i32 0)\n"
    "  ret void\n}\n";

/* Intrinsics, the template's functions and ours need no declaration. */
WS_TEST(a_body_in_ir) {
  fixture f = open_changed("@", "@");
  set_body(&f, "accumulate", "ir", body);
  bool good = ws_pass_splice(f.module, f.candidate, &f.findings) &&
              ws_pass_check(f.module, f.candidate, "sm_90a", &f.findings);
  show_findings(&f);
  WS_CHECK(good);
  fixture_destroy(&f);
}

WS_TEST(no_opencl) {
  fixture f = open_changed("@", "@");
  set_body(&f, "accumulate", "opencl", "void accumulate(void) {}");
  WS_CHECK(!ws_pass_splice(f.module, f.candidate, &f.findings));
  const ws_finding *found =
      expect_finding(&f, "splice-language", "accumulate", 0);
  WS_CHECK_CONTAINS(found->text, "for sm_90a write the body as LLVM IR");
  WS_CHECK_INT(f.findings.count, 1);
  fixture_destroy(&f);
}

/* ---- check --------------------------------------------------------------- */

static bool judge(fixture *f) {
  return ws_pass_splice(f->module, f->candidate, &f->findings) &&
         ws_pass_check(f->module, f->candidate, "sm_90a", &f->findings);
}

WS_TEST(tiny_is_legal) {
  fixture f = open_changed("@", "@");
  bool good = judge(&f);
  show_findings(&f);
  WS_CHECK(good);
  fixture_destroy(&f);
}

/* In the kernel's first line, or where else `from` stands. */
#define KERNEL "  %item = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
static const struct refused {
  const char *from, *to, *id, *words;
} refused[] = {
    {KERNEL, KERNEL "  %t = call i32 @llvm.nvvm.read.ptx.sreg.clock()\n",
     "check-clock", "llvm.nvvm.read.ptx.sreg.clock"},
    {KERNEL, KERNEL "  %t = call i32 @llvm.nvvm.read.ptx.sreg.smid()\n",
     "check-clock", "smid"},
    {KERNEL,
     KERNEL "  %f = uitofp i32 %m to float\n"
            "  %l = call float @llvm.log2.f32(float %f)\n",
     "check-intrinsic", "not available on this target (sm_90a)"},
    {KERNEL, KERNEL "  call void @llvm.nvvm.exit()\n", "check-trap",
     "ends or stops"},
    {KERNEL, KERNEL "  call void @llvm.amdgcn.s.barrier()\n", "check-intrinsic",
     "not available on this target (sm_90a)"},
    {KERNEL,
     KERNEL "  %p = inttoptr i64 64 to ptr addrspace(1)\n"
            "  store i32 0, ptr addrspace(1) %p\n",
     "check-inttoptr", "only shared memory"},
    {KERNEL, KERNEL "  store float 0.0, ptr addrspace(1) %as\n",
     "check-readonly-store", "read-only argument"},
    {KERNEL, KERNEL "  store float 0.0, ptr %a_map\n", "check-readonly-store",
     "a tensor map itself"},
    {KERNEL, KERNEL "  %d = load i64, ptr %a_map\n", "check-address-value",
     "a tensor map read as data"},
    {KERNEL,
     KERNEL "  call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d(ptr "
            "addrspace(3) @ws.lds, ptr %a_map, i32 0, i32 0, i64 0, i1 "
            "false)\n",
     "check-readonly-store", "read-only argument"},
    {KERNEL,
     KERNEL "  call void asm sideeffect "
            "\"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$0, {$1, "
            "$1}], [$1];\", \"l,r\"(ptr %a_map, i32 %m)\n",
     "check-readonly-store", "read-only argument"},
    {KERNEL,
     KERNEL "  call void asm sideeffect \"st.global.b32 [$0], $1;\", "
            "\"l,r\"(ptr %a_map, i32 %m)\n",
     "check-readonly-store", "a tensor map itself"},
    {"!\"49152 + 64\"", "!\"227 * 1024 + 1\"", "check-lds",
     "uses 232449 bytes of shared memory, sm_90a has 232448"},
    {KERNEL,
     KERNEL "  %q = atomicrmw add ptr addrspace(1) %c, i32 1 monotonic\n",
     "check-atomic", "syncscope(\"device\")"},
    {KERNEL, KERNEL "  %v = alloca i32, addrspace(5)\n", "check-dynamic-alloca",
     "addrspace(0)"},
    {"  call void @ws.wgmma.wait(ptr %even, i32 %columns, i32 0)\n  call void "
     "@accumulate(ptr %sums, ptr %even, float %scale)\n",
     "  call void @ws.wgmma.other(ptr %even)\n", "check-unknown-call",
     "@ws.wgmma.other is not defined"},
};

static void check_refused(const struct refused *wrong) {
  ws_arena *arena = ws_arena_create();
  static const char marker[] = "define internal void @barrier_init";
  char *text = replace(arena, read_tiny_sm90(arena), wrong->from, wrong->to);
  if (strstr(wrong->to, "@ws.wgmma.other"))
    text = replace(arena, text, marker,
                   "declare void @ws.wgmma.other(ptr)\n"
                   "define internal void @barrier_init");
  fixture f = open_template(text);
  const ws_finding *found = judge(&f) ? NULL : find_finding(&f, wrong->id);
  if (!found) {
    show_findings(&f);
    WS_FAIL("%s: want %s", wrong->to, wrong->id);
  }
  WS_CHECK_CONTAINS(found->text, wrong->words);
  fixture_destroy(&f);
  ws_arena_destroy(arena);
}

WS_TEST(what_is_refused) {
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    check_refused(&refused[i]);
}

/* A barrier under a branch on the thread's number is how warps share work. */
WS_TEST(warps_may_part) {
  fixture f = open_changed("load:\n",
                           "load:\n  call void "
                           "@llvm.nvvm.barrier.cta.sync.aligned.all(i32 1)\n");
  bool good = judge(&f);
  show_findings(&f);
  WS_CHECK(good);
  fixture_destroy(&f);
}

WS_TEST(a_module_of_another_family) {
  fixture f = open_tiny();
  WS_CHECK(ws_pass_splice(f.module, f.candidate, &f.findings));
  WS_CHECK(!ws_pass_check(f.module, f.candidate, "sm_90a", &f.findings));
  WS_CHECK_CONTAINS(find_finding(&f, "check-target")->text,
                    "sm_90a needs target triple = \"nvptx64-nvidia-cuda\"");
  fixture_destroy(&f);
}

/* ---- assembly ------------------------------------------------------------ */

/* $0: an input, $1: the output, $2: an i32, $3: an i64, $4: a shared address.
 * words: NULL when it is allowed. */
static const struct assembly {
  const char *text, *words;
} assemblies[] = {
    {"", NULL},
    {"fence.proxy.async.shared::cta;", NULL},
    {"{ .reg .pred p; .reg .b32 x; setp.eq.u32 p, $2, 0; "
     "@p mbarrier.arrive.shared::cta.b64 _, [$4]; }",
     NULL},
    {"{\\0A.reg .pred p;\\0AWL:\\0Ambarrier.try_wait.parity.shared::cta.b64 p, "
     "[$4], $2;\\0A@p bra DN;\\0Abra WL;\\0ADN:\\0A}",
     NULL},
    {"{ .reg .b32 r; mapa.shared::cluster.u32 r, $4, $2; "
     "mbarrier.arrive.shared::cluster.b64 _, [r]; }",
     NULL},
    {"stmatrix.sync.aligned.m8n8.x2.shared.b16 [$4], {$2, $2};", NULL},
    {"setmaxnreg.dec.sync.aligned.u32 24;", NULL},
    {"{ .reg .b32 t; mov.u32 t, %tid.x; }", NULL},
    {"{ .reg .b32 t; ld.global.nc.b32 t, [$0+16]; }", NULL},
    {"st.global.b32 [$1], $2;", NULL},
    {"red.relaxed.gpu.global.add.u32 [$1], $2;", NULL},
    {"cp.async.cg.shared.global [$4], [$0], 16;", NULL},
    {"ld.shared.b32 $2, [$4];", NULL},
    {"{ .reg .u64 t; mov.u64 t, %clock64; }", "names a register"},
    {"{ .reg .u64 t; mov.u64 t, %globaltimer; }", "names a register"},
    {"{ .reg .b32 t; mov.u32 t, %smid; }", "names a register"},
    {"trap;", "is not on the list"},
    {"brkpt;", "is not on the list"},
    {"exit;", "is not on the list"},
    {"ret;", "is not on the list"},
    {"nanosleep.u32 100;", "is not on the list"},
    {"vprintf;", "is not on the list"},
    {"@$2 exit;", "is not on the list"},
    {"membar.gl; exit;", "is not on the list"},
    {"fence.acq_rel.gpu; { exit; }", "is not on the list"},
    {"{ .reg .b32 t; ld.param.b32 t, [tiny_param_4]; }", "must name .global"},
    {"{ .reg .b32 t; ld.const.b32 t, [0]; }", "must name .global"},
    {"{ .reg .b32 t; ld.b32 t, [$0]; }", "must name .global"},
    {"st.volatile.global.b32 [$1], $2;", "must name .global"},
    {"red.sys.global.add.u32 [$1], $2;", "must name .global"},
    {"st.global.b32 [$3], $2;", "with a pointer as operand N"},
    {"{ .reg .b64 t; add.s64 t, $3, 8; st.global.b32 [t], $2; }",
     "with a pointer as operand N"},
    {"st.global.b32 [64], $2;", "with a pointer as operand N"},
    {"st.global.b32 [$9], $2;", "with a pointer as operand N"},
    {"{ .reg .b64 t; mov.b64 t, $1; }", "uses a pointer as a number"},
    {"st.global.b64 [$1], $1;", "uses a pointer as a number"},
    {"st.global.b64 [$1], $0;", "uses a pointer as a number"},
    {"{ .reg .b64 t; mov.b64 t, ${1}; }", "in another form than $N"},
    {"{ .reg .b64 t; mov.b64 t, ${1:x}; }", "in another form than $N"},
    {"{ .reg .b64 t; mov.b64 t, $(0$|$1$); }", "in another form than $N"},
    {"st.global.b32 [$0], $2;", "read-only argument"},
    {"atom.global.add.u32 $2, [$0], 1;", "read-only argument"},
    {"bra OUT;", "branches out of the text"},
    {"bra $$L__BB0_2;", "branches out of the text"},
    {".global .b32 g;", "is a directive other than .reg"},
    {".pragma \\22nounroll\\22;", "is a directive other than .reg"},
    {"fence.acq_rel.gpu; // quiet", "a comment"},
    {"fence.acq_rel.gpu; /* quiet */", "a comment"},
};

static const char asm_kernel[] =
    "target triple = \"nvptx64-nvidia-cuda\"\n"
    "define ptx_kernel void @k(ptr addrspace(1) readonly %%a, ptr addrspace(1) "
    "%%c, i32 %%m) {\n"
    "  %%wide = zext i32 %%m to i64\n"
    "  call void asm sideeffect \"%s\", \"l,l,r,l,r,~{memory}\"(ptr "
    "addrspace(1) %%a, ptr addrspace(1) %%c, i32 %%m, i64 %%wide, i32 %%m)\n"
    "  ret void\n"
    "}\n";

WS_TEST(assembly) {
  for (size_t i = 0; i < sizeof assemblies / sizeof *assemblies; i++) {
    const struct assembly *item = &assemblies[i];
    fixture f = fixture_create();
    char *text = ws_arena_printf(f.arena, asm_kernel, item->text);
    f.module =
        ws_pass_parse(f.context, text, strlen(text), "t.ll", &f.findings);
    if (!f.module) {
      show_findings(&f);
      WS_FAIL("\"%s\" does not parse", item->text);
    }
    bool good = ws_pass_check(f.module, NULL, "sm_90a", &f.findings);
    if (good != !item->words) {
      show_findings(&f);
      WS_FAIL("\"%s\" is %s", item->text, good ? "allowed" : "refused");
    }
    if (item->words)
      WS_CHECK_CONTAINS(f.findings.items[0].text, item->words);
    fixture_destroy(&f);
  }
}

WS_TEST(no_pointer_out_of_assembly) {
  static const char *const bodies[] = {
      "  %p = call ptr addrspace(1) asm \"mov.b64 $0, $1;\", \"=l,l\"(i64 "
      "%m)\n",
      "  %s = call {i64, ptr addrspace(1)} asm \"mov.b64 $0, $2; mov.b64 $1, "
      "$2;\", \"=l,=l,l\"(i64 %m)\n"
      "  %p = extractvalue {i64, ptr addrspace(1)} %s, 1\n"};
  for (size_t i = 0; i < 2; i++) {
    fixture f = fixture_create();
    char *text =
        ws_arena_printf(f.arena,
                        "target triple = \"nvptx64-nvidia-cuda\"\n"
                        "define ptx_kernel void @k(i64 %%m) {\n%s"
                        "  store i32 0, ptr addrspace(1) %%p\n  ret void\n}\n",
                        bodies[i]);
    f.module =
        ws_pass_parse(f.context, text, strlen(text), "t.ll", &f.findings);
    WS_CHECK(f.module);
    WS_CHECK(!ws_pass_check(f.module, NULL, "sm_90a", &f.findings));
    WS_CHECK_CONTAINS(find_finding(&f, "check-inttoptr")->text,
                      "made by inline assembly");
    fixture_destroy(&f);
  }
}

WS_TEST(amd_has_none_of_our_functions) {
  static const char *const calls[] = {
      "ws.wgmma.e4m3.k128(ptr null, i64 0, i64 0, i32 64)",
      "ws.wgmma.e4m3.k128.onto(ptr null, i64 0, i64 0, i32 64, i32 0)",
      "ws.wgmma.bf16.k64(ptr null, i64 0, i64 0, i32 64)",
      "ws.wgmma.bf16.k64.onto(ptr null, i64 0, i64 0, i32 64, i32 0)",
      "ws.wgmma.wait(ptr null, i32 64, i32 0)"};
  static const char declarations[] =
      "declare void @ws.wgmma.e4m3.k128(ptr, i64, i64, i32)\n"
      "declare void @ws.wgmma.e4m3.k128.onto(ptr, i64, i64, i32, i32)\n"
      "declare void @ws.wgmma.bf16.k64(ptr, i64, i64, i32)\n"
      "declare void @ws.wgmma.bf16.k64.onto(ptr, i64, i64, i32, i32)\n"
      "declare void @ws.wgmma.wait(ptr, i32, i32)\n"
      "declare void @llvm.amdgcn.s.barrier()\n";
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    ws_arena *arena = ws_arena_create();
    char *text =
        replace(arena, read_tiny(arena),
                "declare void @llvm.amdgcn.s.barrier()\n", declarations);
    text = replace(arena, text, "  %base = mul i32 %group, %threads\n",
                   ws_arena_printf(arena,
                                   "  %%base = mul i32 %%group, %%threads\n"
                                   "  call void @%s\n",
                                   calls[i]));
    fixture f = open_template(text);
    WS_CHECK(ws_pass_splice(f.module, f.candidate, &f.findings));
    WS_CHECK(!ws_pass_check(f.module, f.candidate, "gfx942", &f.findings));
    WS_CHECK_CONTAINS(find_finding(&f, "check-intrinsic")->text,
                      "not available on this target (gfx942)");
    fixture_destroy(&f);
    ws_arena_destroy(arena);
  }
}

WS_TEST(amd_has_no_assembly) {
  ws_arena *arena = ws_arena_create();
  char *text =
      replace(arena, read_tiny(arena), "  %base = mul i32 %group, %threads\n",
              "  %base = mul i32 %group, %threads\n"
              "  call void asm sideeffect \"add.s32 1, 1, 1;\", \"\"()\n");
  fixture f = open_template(text);
  WS_CHECK(ws_pass_splice(f.module, f.candidate, &f.findings));
  WS_CHECK(!ws_pass_check(f.module, f.candidate, "gfx942", &f.findings));
  WS_CHECK_CONTAINS(find_finding(&f, "check-asm")->text, "not allowed");
  fixture_destroy(&f);
  ws_arena_destroy(arena);
}
