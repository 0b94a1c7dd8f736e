/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lowering: canonical hashes over pairs of modules that must or must not be
 * told apart, and facts of kernels whose machine code is written out in inline
 * assembly, so that every expected number can be counted by hand.
 */
#include "lower.h"
#include "ws_test.h"

#include <stddef.h>

#define HEAD "target triple = \"amdgcn-amd-amdhsa\"\n"

typedef struct lowered {
  ws_arena *arena;
  ws_findings findings;
  ws_build_result result;
  bool done;
} lowered;

static LLVMModuleRef parse(const char *text, ws_findings *findings) {
  static bool ready;
  if (!ready) {
    ws_comgr_prepare();
    ws_pass_initialize();
    ready = true;
  }
  LLVMModuleRef module = ws_pass_parse(LLVMContextCreate(), text, strlen(text),
                                       "test.ll", findings);
  if (!module)
    WS_FAIL("does not parse: %s", findings->items[0].text);
  return module;
}

static lowered lower_with(const char *text, int stages) {
  lowered l = {.arena = ws_arena_create()};
  ws_findings_init(&l.findings, l.arena);
  LLVMModuleRef module = parse(text, &l.findings);
  l.done = ws_pass_lower(module, NULL, "gfx942", stages, l.arena, &l.result,
                         &l.findings);
  return l;
}

static lowered lower(const char *text) { return lower_with(text, 0); }

static lowered lower_ok(const char *text) {
  lowered l = lower(text);
  if (!l.done)
    WS_FAIL("does not lower: %s", l.findings.items[0].text);
  return l;
}

static const char *first_id(const lowered *l) {
  return l->findings.count ? l->findings.items[0].id : "";
}

/* ---- canonical hash
 * ----------------------------------------------------------- */

static ws_hash hash_of(const char *text) {
  ws_findings findings;
  ws_findings_init(&findings, ws_arena_create());
  return ws_ir_hash(parse(text, &findings));
}

static void check_hashes(const char *what, const char *left, const char *right,
                         bool want_same) {
  ws_hash a = hash_of(left), b = hash_of(right);
  if (!strcmp(a.hex, b.hex) != want_same)
    WS_FAIL("%s: hashes are %s", what, want_same ? "different" : "the same");
}

static const char plain[] =
    HEAD "define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %n) {\n"
         "  %x = add i32 %n, 7\n"
         "  store i32 %x, ptr addrspace(1) %p, align 4\n"
         "  ret void\n"
         "}\n";

WS_TEST(hash_ignores_names_debug_info_and_order) {
  static const struct {
    const char *what, *left, *right;
  } pairs[] = {
      {"value names", plain,
       HEAD "define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %n) {\n"
            "start:\n"
            "  %other = add i32 %n, 7\n"
            "  store i32 %other, ptr addrspace(1) %p, align 4\n"
            "  ret void\n"
            "}\n"},
      {"unused functions and globals, metadata", plain,
       HEAD "@unused = internal addrspace(3) global [8 x i8] poison\n"
            "declare void @llvm.amdgcn.s.barrier()\n"
            "define internal void @dead() {\n  ret void\n}\n"
            "define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %n) {\n"
            "  %x = add i32 %n, 7, !note !0\n"
            "  store i32 %x, ptr addrspace(1) %p, align 4, !note !0\n"
            "  ret void\n"
            "}\n"
            "!note = !{!0}\n"
            "!0 = !{i32 1}\n"},
      {"names of globals and callees, their order",
       HEAD "@one = internal addrspace(3) global [8 x i8] poison\n"
            "@two = internal addrspace(3) global [4 x i8] poison\n"
            "define internal void @f() noinline {\n  ret void\n}\n"
            "define amdgpu_kernel void @k() {\n"
            "  call void @f()\n"
            "  store i32 1, ptr addrspace(3) @one\n"
            "  store i32 2, ptr addrspace(3) @two\n"
            "  ret void\n"
            "}\n",
       HEAD "@b = internal addrspace(3) global [4 x i8] poison\n"
            "@a = internal addrspace(3) global [8 x i8] poison\n"
            "define amdgpu_kernel void @k() {\n"
            "  call void @g()\n"
            "  store i32 1, ptr addrspace(3) @a\n"
            "  store i32 2, ptr addrspace(3) @b\n"
            "  ret void\n"
            "}\n"
            "define internal void @g() noinline {\n  ret void\n}\n"},
      {"order of kernels",
       HEAD "define amdgpu_kernel void @a() {\n  ret void\n}\n"
            "define amdgpu_kernel void @b() #0 {\n  ret void\n}\n"
            "attributes #0 = { \"x\"=\"1\" }\n",
       HEAD "define amdgpu_kernel void @b() #0 {\n  ret void\n}\n"
            "define amdgpu_kernel void @a() {\n  ret void\n}\n"
            "attributes #0 = { \"x\"=\"1\" }\n"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    check_hashes(pairs[i].what, pairs[i].left, pairs[i].right, true);
}

/* One kernel with a body of one's own, so that a pair differs in one thing. */
#define BODY(text)                                                             \
  HEAD "@lds = internal addrspace(3) global [64 x i8] poison, align 16\n"      \
       "@big = internal addrspace(3) global [96 x i8] poison, align 16\n"      \
       "declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x "   \
       "float>)\n"                                                             \
       "define internal i32 @f(i32 %x) noinline {\n  %y = add i32 %x, 1\n"     \
       "  ret i32 %y\n}\n"                                                     \
       "define internal i32 @g(i32 %x) noinline {\n  %y = add i32 %x, 2\n"     \
       "  ret i32 %y\n}\n"                                                     \
       "define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %a, i32 %b, "    \
       "float %u, float %v) {\n" text "  ret void\n}\n"
#define STORE "  store i32 %r, ptr addrspace(1) %p\n"
#define STORE_FLOAT "  store float %r, ptr addrspace(1) %p\n"

WS_TEST(hash_sees_every_difference) {
  static const struct {
    const char *what, *left, *right;
  } pairs[] = {
      {"opcode", BODY("  %r = add i32 %a, %b\n" STORE),
       BODY("  %r = sub i32 %a, %b\n" STORE)},
      {"operand order", BODY("  %r = sub i32 %a, %b\n" STORE),
       BODY("  %r = sub i32 %b, %a\n" STORE)},
      {"constant", BODY("  %r = add i32 %a, 1\n" STORE),
       BODY("  %r = add i32 %a, 2\n" STORE)},
      {"wrap flag", BODY("  %r = add nsw i32 %a, %b\n" STORE),
       BODY("  %r = add i32 %a, %b\n" STORE)},
      {"exact", BODY("  %r = lshr exact i32 %a, %b\n" STORE),
       BODY("  %r = lshr i32 %a, %b\n" STORE)},
      {"disjoint", BODY("  %r = or disjoint i32 %a, %b\n" STORE),
       BODY("  %r = or i32 %a, %b\n" STORE)},
      {"predicate",
       BODY("  %c = icmp ult i32 %a, %b\n  %r = zext i1 %c to i32\n" STORE),
       BODY("  %c = icmp ule i32 %a, %b\n  %r = zext i1 %c to i32\n" STORE)},
      {"fast math", BODY("  %r = fadd contract float %u, %v\n" STORE_FLOAT),
       BODY("  %r = fadd float %u, %v\n" STORE_FLOAT)},
      {"alignment", BODY("  store i32 %a, ptr addrspace(1) %p, align 4\n"),
       BODY("  store i32 %a, ptr addrspace(1) %p, align 2\n")},
      {"volatile", BODY("  store i32 %a, ptr addrspace(1) %p\n"),
       BODY("  store volatile i32 %a, ptr addrspace(1) %p\n")},
      {"past the caches", BODY("  store i32 %a, ptr addrspace(1) %p\n"),
       BODY("  store i32 %a, ptr addrspace(1) %p, !nontemporal !{i32 1}\n")},
      {"accuracy of a division",
       BODY("  %r = fdiv float %u, %v, !fpmath !{float 2.5}\n" STORE_FLOAT),
       BODY("  %r = fdiv float %u, %v, !fpmath !{float 1.0}\n" STORE_FLOAT)},
      {"ordering",
       BODY("  store atomic i32 %a, ptr addrspace(1) %p monotonic, align 4\n"),
       BODY("  store atomic i32 %a, ptr addrspace(1) %p release, align 4\n")},
      {"fence scope", BODY("  fence syncscope(\"workgroup\") release\n"),
       BODY("  fence syncscope(\"agent\") release\n")},
      {"scope of an atomic operation",
       BODY("  %o = atomicrmw add ptr addrspace(1) %p, i32 %a "
            "syncscope(\"agent\") monotonic\n"),
       BODY("  %o = atomicrmw add ptr addrspace(1) %p, i32 %a "
            "syncscope(\"workgroup\") monotonic\n")},
      {"atomic operation",
       BODY("  %o = atomicrmw add ptr addrspace(1) %p, i32 %a monotonic\n"),
       BODY("  %o = atomicrmw umax ptr addrspace(1) %p, i32 %a monotonic\n")},
      {"element type of an address",
       BODY("  %q = getelementptr i32, ptr addrspace(1) %p, i32 %a\n"
            "  store i32 %b, ptr addrspace(1) %q, align 2\n"),
       BODY("  %q = getelementptr i16, ptr addrspace(1) %p, i32 %a\n"
            "  store i32 %b, ptr addrspace(1) %q, align 2\n")},
      {"shuffle mask",
       BODY("  %l = load <2 x i16>, ptr addrspace(1) %p\n"
            "  %s = shufflevector <2 x i16> %l, <2 x i16> poison, <2 x i32> "
            "<i32 0, i32 1>\n  store <2 x i16> %s, ptr addrspace(1) %p\n"),
       BODY("  %l = load <2 x i16>, ptr addrspace(1) %p\n"
            "  %s = shufflevector <2 x i16> %l, <2 x i16> poison, <2 x i32> "
            "<i32 1, i32 0>\n  store <2 x i16> %s, ptr addrspace(1) %p\n")},
      {"extracted index",
       BODY("  %l = load {i32, i32}, ptr addrspace(1) %p\n"
            "  %r = extractvalue {i32, i32} %l, 0\n" STORE),
       BODY("  %l = load {i32, i32}, ptr addrspace(1) %p\n"
            "  %r = extractvalue {i32, i32} %l, 1\n" STORE)},
      {"size of a global", BODY("  store i32 1, ptr addrspace(3) @lds\n"),
       BODY("  store i32 1, ptr addrspace(3) @big\n")},
      {"offset in a constant expression",
       BODY("  store i32 1, ptr addrspace(3) getelementptr (i8, ptr "
            "addrspace(3) @lds, i32 4)\n"),
       BODY("  store i32 1, ptr addrspace(3) getelementptr (i8, ptr "
            "addrspace(3) @lds, i32 8)\n")},
      {"body of a callee", BODY("  %r = call i32 @f(i32 %a)\n" STORE),
       BODY("  %r = call i32 @g(i32 %a)\n" STORE)},
      {"attribute of a call", BODY("  %r = call i32 @f(i32 %a)\n" STORE),
       BODY("  %r = call i32 @f(i32 %a) nounwind\n" STORE)},
      {"incoming blocks of a phi",
       BODY("  %c = icmp eq i32 %a, 0\n  br i1 %c, label %x, label %y\n"
            "x:\n  br label %z\ny:\n  br label %z\nz:\n"
            "  %r = phi i32 [ %a, %x ], [ %b, %y ]\n" STORE),
       BODY("  %c = icmp eq i32 %a, 0\n  br i1 %c, label %x, label %y\n"
            "x:\n  br label %z\ny:\n  br label %z\nz:\n"
            "  %r = phi i32 [ %a, %y ], [ %b, %x ]\n" STORE)},
      {"name of a kernel",
       HEAD "define amdgpu_kernel void @k() {\n  ret void\n}\n",
       HEAD "define amdgpu_kernel void @j() {\n  ret void\n}\n"},
      {"name of a kernel's argument",
       HEAD "define amdgpu_kernel void @k(i32 %m) {\n  ret void\n}\n",
       HEAD "define amdgpu_kernel void @k(i32 %n) {\n  ret void\n}\n"},
      {"attribute of a kernel",
       HEAD "define amdgpu_kernel void @k() \"amdgpu-flat-work-group-size\"="
            "\"64,64\" {\n  ret void\n}\n",
       HEAD "define amdgpu_kernel void @k() \"amdgpu-flat-work-group-size\"="
            "\"64,128\" {\n  ret void\n}\n"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    check_hashes(pairs[i].what, pairs[i].left, pairs[i].right, false);
}

#define LDS_KERNEL(size, name)                                                 \
  HEAD "@l = internal addrspace(3) global [" size " x i8] poison, align 16\n"  \
       "define amdgpu_kernel void @k(ptr addrspace(1) %p) {\n"                 \
       "  %" name " = load i32, ptr addrspace(1) %p\n"                         \
       "  store volatile i32 %" name ", ptr addrspace(3) @l\n"                 \
       "  ret void\n}\n"

WS_TEST(code_hash_sees_code_and_resources) {
  lowered a = lower_ok(LDS_KERNEL("64", "x")),
          b = lower_ok(LDS_KERNEL("64", "y")),
          c = lower_ok(LDS_KERNEL("4096", "x"));
  WS_CHECK_TEXT(a.result.code_hash, b.result.code_hash);
  WS_CHECK_TEXT(a.result.ir_hash, b.result.ir_hash);
  WS_CHECK(strcmp(a.result.code_hash, c.result.code_hash) != 0);
  WS_CHECK_INT(a.result.kernels[0].lds_bytes, 64);
  WS_CHECK_INT(c.result.kernels[0].lds_bytes, 4096);
}

/* ---- facts
 * ---------------------------------------------------------------------- */

static bool has_line_table(const lowered *l) {
  return memmem(l->result.code_object, l->result.code_object_size,
                ".debug_line", sizeof ".debug_line") != NULL;
}

WS_TEST(a_line_table_changes_no_code) {
  lowered with = lower_with(plain, WS_STAGE_LINES), without = lower_ok(plain);
  WS_CHECK(with.done);
  WS_CHECK(has_line_table(&with));
  WS_CHECK(!has_line_table(&without));
  WS_CHECK_TEXT(with.result.code_hash, without.result.code_hash);
}

static const ws_branch *branch_on(const lowered *l, const char *left,
                                  const char *right, int64_t modulus) {
  for (int i = 0; i < l->result.branch_count; i++) {
    const ws_branch *item = &l->result.branches[i];
    if (!strcmp(item->left, left) && !strcmp(item->right, right) &&
        item->modulus == modulus)
      return item;
  }
  WS_FAIL("no branch on '%s', '%s', %lld", left, right, (long long)modulus);
}

WS_TEST(branches_are_expressions_with_lines) {
  /* each stores, so that none is idle */
  static const char text[] = HEAD
      "define amdgpu_kernel void @k(ptr addrspace(1) %o, i32 %n, i32 %m) {\n"
      "  %g = call i32 @llvm.amdgcn.workgroup.id.x()\n"
      "  %c0 = icmp ugt i32 %n, 2048\n"
      "  %v0 = select i1 %c0, i32 3, i32 %n\n"
      "  store volatile i32 %v0, ptr addrspace(1) %o\n"
      "  %r1 = urem i32 %n, 3\n"
      "  %c1 = icmp eq i32 %r1, 2\n"
      "  %v1 = select i1 %c1, i32 3, i32 %n\n"
      "  store volatile i32 %v1, ptr addrspace(1) %o\n"
      "  %p2 = mul i32 %n, %m\n"
      "  %c2 = icmp ugt i32 %p2, 70000\n"
      "  %v2 = select i1 %c2, i32 3, i32 %n\n"
      "  store volatile i32 %v2, ptr addrspace(1) %o\n"
      "  %c3 = icmp ult i32 %g, %m\n"
      "  %v3 = select i1 %c3, i32 3, i32 %n\n"
      "  store volatile i32 %v3, ptr addrspace(1) %o\n"
      "  %x4 = xor i32 %n, %m\n"
      "  %c4 = icmp eq i32 %x4, 77\n"
      "  %v4 = select i1 %c4, i32 3, i32 %n\n"
      "  store volatile i32 %v4, ptr addrspace(1) %o\n"
      "  %o5 = getelementptr i32, ptr addrspace(1) %o, i32 9\n"
      "  %l5 = load i32, ptr addrspace(1) %o5\n"
      "  %c5 = icmp eq i32 %l5, 78\n"
      "  %v5 = select i1 %c5, i32 3, i32 %n\n"
      "  store volatile i32 %v5, ptr addrspace(1) %o\n"
      "  ret void\n}\n"
      "declare i32 @llvm.amdgcn.workgroup.id.x()\n";
  lowered with = lower_with(text, WS_STAGE_BRANCHES), without = lower_ok(text);
  WS_CHECK(with.done);
  WS_CHECK(!has_line_table(&with));
  WS_CHECK_TEXT(with.result.code_hash, without.result.code_hash);
  WS_CHECK_INT(without.result.branch_count, 0);
  int line = branch_on(&with, "n", "2048", 0)->line;
  WS_CHECK(line > 0);
  WS_CHECK_INT(branch_on(&with, "n", "", 3)->line, line + 3);
  WS_CHECK_INT(branch_on(&with, "n % 3", "2", 0)->line, line + 4);
  WS_CHECK(branch_on(&with, "workgroup_x", "m", 0)->line > line);
  WS_CHECK(branch_on(&with, "", "", 0)->line > line); /* the exclusive or */
  int products = 0;
  for (int i = 0; i < with.result.branch_count; i++)
    products += !strcmp(with.result.branches[i].right, "70000");
  WS_CHECK_INT(products, 1);
  WS_CHECK_INT(with.result.branch_count, 6); /* and not the loaded one */
}

WS_TEST(metadata_is_read) {
  lowered l = lower_ok(
      HEAD "@l = internal addrspace(3) global [4096 x i8] poison, align 16\n"
           "define amdgpu_kernel void @k(ptr addrspace(1) %in, i32 %count, "
           "ptr addrspace(1) %out) \"amdgpu-flat-work-group-size\"=\"128,128\" "
           "{\n"
           "  %x = load i32, ptr addrspace(1) %in\n"
           "  %q = getelementptr i8, ptr addrspace(3) @l, i32 %count\n"
           "  store volatile i32 %x, ptr addrspace(3) %q\n"
           "  store i32 %x, ptr addrspace(1) %out\n"
           "  ret void\n}\n");
  const ws_kernel_facts *facts = l.result.kernels;
  WS_CHECK_INT(l.result.kernel_count, 1);
  WS_CHECK_TEXT(facts->name, "k");
  WS_CHECK_INT(facts->lds_bytes, 4096);
  WS_CHECK_INT(facts->scratch_bytes, 0);
  WS_CHECK_INT(facts->max_workgroup, 128);
  WS_CHECK_INT(facts->arg_count, 3);
  WS_CHECK_TEXT(facts->args[0].name, "in");
  WS_CHECK_INT(facts->args[0].offset, 0);
  WS_CHECK_INT(facts->args[0].size, 8);
  WS_CHECK_TEXT(facts->args[1].name, "count");
  WS_CHECK_INT(facts->args[1].offset, 8);
  WS_CHECK_INT(facts->args[1].size, 4);
  WS_CHECK_TEXT(facts->args[2].name, "out");
  WS_CHECK_INT(facts->args[2].offset, 16); /* aligned to 8 */
  WS_CHECK_INT(facts->kernarg_bytes, 24);
  WS_CHECK(l.result.code_object_size > 0);
}

static bool measures(const ws_kernel_facts *facts, const char *scalar,
                     int64_t value, int modulus) {
  for (int i = 0; i < facts->constant_count; i++)
    if (!strcmp(facts->constants[i].scalar, scalar) &&
        facts->constants[i].value == value &&
        facts->constants[i].modulus == modulus)
      return true;
  return false;
}

/* Blocks of 128 of k, in threes, with a loop of five blocks a turn; m against
 * 2880. n bounds what lies 48 beside: an element's place, no step. */
WS_TEST(constants_of_scalars_are_found) {
  lowered l = lower_ok(
      HEAD "define amdgpu_kernel void @k(ptr addrspace(1) %out, i32 %m, "
           "i32 %n, i32 %k) {\n"
           "entry:\n"
           "  %blocks = udiv i32 %k, 128\n"
           "  %rest = urem i32 %blocks, 3\n"
           "  %many = icmp ugt i32 %m, 2880\n"
           "  %add = zext i1 %many to i32\n"
           "  br label %loop\n"
           "loop:\n"
           "  %i = phi i32 [ 0, %entry ], [ %next, %loop ]\n"
           "  %at = getelementptr i32, ptr addrspace(1) %out, i32 %i\n"
           "  %beside = add i32 %i, 48\n"
           "  %inside = icmp ult i32 %beside, %n\n"
           "  %with = zext i1 %inside to i32\n"
           "  store volatile i32 %with, ptr addrspace(1) %at\n"
           "  %next = add i32 %i, 5\n"
           "  %more = icmp ult i32 %next, %blocks\n"
           "  br i1 %more, label %loop, label %done\n"
           "done:\n"
           "  %sum = add i32 %rest, %add\n"
           "  store i32 %sum, ptr addrspace(1) %out\n"
           "  ret void\n}\n");
  const ws_kernel_facts *facts = l.result.kernels;
  WS_CHECK(measures(facts, "k", 128, 1));
  WS_CHECK(measures(facts, "k", 3 * 128, 1));
  WS_CHECK(measures(facts, "k", 5 * 128, 1));
  WS_CHECK(measures(facts, "m", 2880, 0));
  WS_CHECK(!measures(facts, "n", 48, 1));
}

static const ws_kernel_facts *facts_of_assembly(const char *assembly) {
  ws_arena *arena = ws_arena_create();
  lowered l = lower_ok(ws_arena_printf(
      arena,
      HEAD "define amdgpu_kernel void @k() \"amdgpu-flat-work-group-size\"="
           "\"64,64\" {\n"
           "  call void asm sideeffect \"%s\", \"~{v0},~{v1},~{v2},~{v3},~{v4},"
           "~{v5},~{v6},~{v7},~{a0},~{a1},~{a2},~{a3},~{s0},~{s1},~{s2},~{s3}\""
           "()\n"
           "  ret void\n}\n",
      assembly));
  WS_CHECK_INT(l.result.kernel_count, 1);
  return l.result.kernels;
}

WS_TEST(each_instruction_counts_in_its_class) {
  static const struct {
    const char *text;
    size_t field;
  } cases[] = {
      {"v_add_u32_e32 v0, v1, v2", offsetof(ws_mix, valu)},
      {"v_accvgpr_read_b32 v0, a0", offsetof(ws_mix, valu)},
      {"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", offsetof(ws_mix, valu)},
      {"v_readfirstlane_b32 s0, v0", offsetof(ws_mix, valu)},
      {"v_rcp_f32_e32 v0, v1", offsetof(ws_mix, valu_trans)},
      {"v_exp_f32_e32 v0, v1", offsetof(ws_mix, valu_trans)},
      {"v_mfma_f32_16x16x32_fp8_fp8 a[0:3], v[0:1], v[2:3], a[0:3]",
       offsetof(ws_mix, mfma_16x16x32)},
      {"v_mfma_f32_32x32x16_fp8_fp8 a[0:15], v[0:1], v[2:3], a[0:15]",
       offsetof(ws_mix, mfma_32x32x16)},
      {"v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]",
       offsetof(ws_mix, mfma_other)},
      {"s_add_i32 s0, s1, s2", offsetof(ws_mix, salu)},
      {"s_load_dwordx2 s[0:1], s[2:3], 0x0", offsetof(ws_mix, smem)},
      {"s_cbranch_scc1 0", offsetof(ws_mix, branch)},
      {"s_barrier", offsetof(ws_mix, barrier)},
      {"s_waitcnt vmcnt(0)", offsetof(ws_mix, wait)},
      {"s_nop 0", offsetof(ws_mix, nop)},
      {"ds_read_b64 v[0:1], v2", offsetof(ws_mix, ds_read)},
      {"ds_write_b128 v0, v[0:3]", offsetof(ws_mix, ds_write)},
      {"global_load_dwordx4 v[0:3], v[4:5], off", offsetof(ws_mix, vmem_load)},
      {"buffer_load_dword v0, v1, s[0:3], 0 offen",
       offsetof(ws_mix, vmem_load)},
      {"global_store_short_d16_hi v[0:1], v2, off",
       offsetof(ws_mix, vmem_store)},
      {"global_atomic_add_f32 v[0:1], v2, off", offsetof(ws_mix, vmem_atomic)},
      {"scratch_load_dword v0, off, s0", offsetof(ws_mix, scratch)},
      {"s_setprio 1", offsetof(ws_mix, other)},
  };
  enum { COUNT = sizeof(ws_mix) / sizeof(int32_t), COPIES = 5 };
  ws_arena *arena = ws_arena_create();
  int32_t base[COUNT], got[COUNT];
  memcpy(base, &facts_of_assembly("")->mix, sizeof base);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *t = cases[i].text;
    memcpy(
        got,
        &facts_of_assembly(ws_arena_printf(arena, "%s\\0A%s\\0A%s\\0A%s\\0A%s",
                                           t, t, t, t, t))
             ->mix,
        sizeof got);
    for (size_t f = 0; f < COUNT; f++) {
      int want = base[f] + (f * sizeof(int32_t) == cases[i].field ? COPIES : 0);
      if (got[f] != want)
        WS_FAIL("%s: field %zu is %d, want %d", t, f, got[f], want);
    }
  }
}

#define LOAD "global_load_dwordx4 v[0:3], v[4:5], off\\0A"
#define STORE_GLOBAL "global_store_dword v[0:1], v2, off\\0A"
#define MFMA16 "v_mfma_f32_16x16x32_fp8_fp8 a[0:3], v[0:1], v[2:3], a[0:3]\\0A"
#define MFMA32                                                                 \
  "v_mfma_f32_32x32x16_fp8_fp8 a[0:15], v[0:1], v[2:3], a[0:15]\\0A"
#define WAIT(n) "s_waitcnt vmcnt(" #n ")\\0A"
#define HEAD_LABEL ".Lhead${:uid}:\\0A"
#define BACK "s_cbranch_scc1 .Lhead${:uid}\\0A"

WS_TEST(work_that_hides_a_load_is_counted_round_the_loop) {
  static const struct {
    const char *what, *body;
    int clocks;
  } cases[] = {
      {"waited for at once", LOAD WAIT(0) MFMA16 MFMA16, 0},
      {"one of each before the wait", LOAD MFMA16 MFMA32 WAIT(0) MFMA16, 48},
      {"round the loop", MFMA16 WAIT(0) MFMA32 LOAD MFMA16, 32},
      {"the wait allows one and one was issued after",
       LOAD MFMA16 STORE_GLOBAL WAIT(1) MFMA16 WAIT(0), 16},
      {"the wait allows one more than was issued after",
       LOAD MFMA16 WAIT(1) MFMA16 WAIT(0), 32},
      {"the last load counts, not the first", LOAD MFMA16 LOAD MFMA32 WAIT(0),
       32},
      {"lgkmcnt alone waits for no load",
       LOAD MFMA16 "s_waitcnt lgkmcnt(0)\\0A" MFMA16 WAIT(0), 32},
      {"prefetched by two: met in the next round", LOAD MFMA16 WAIT(1) MFMA16,
       48},
      {"no load", MFMA16 WAIT(0), 0},
  };
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const ws_kernel_facts *facts = facts_of_assembly(
        ws_arena_printf(arena, HEAD_LABEL "%s" BACK, cases[i].body));
    if (facts->loop_count != 1 ||
        facts->loops[0].mfma_clocks_over_load != cases[i].clocks)
      WS_FAIL("%s: %d loops, %d clocks, want %d", cases[i].what,
              facts->loop_count, facts->loops[0].mfma_clocks_over_load,
              cases[i].clocks);
  }
}

WS_TEST(only_innermost_loops_are_listed) {
  const ws_kernel_facts *facts = facts_of_assembly(
      ".Louter${:uid}:\\0A" MFMA32 ".La${:uid}:\\0A" MFMA16 MFMA16
      "s_cbranch_scc0 .La${:uid}\\0A"
      ".Lb${:uid}:\\0A" MFMA16 "s_cbranch_vccz .Lb${:uid}\\0A" /* a continue: */
      MFMA16 "s_cbranch_scc1 .Lb${:uid}\\0A"
      "s_branch .Louter${:uid}\\0A");
  WS_CHECK_INT(facts->loop_count, 2);
  WS_CHECK_INT(facts->loops[0].mix.mfma_16x16x32, 2);
  WS_CHECK_INT(facts->loops[0].mix.branch, 1);
  WS_CHECK_INT(facts->loops[1].mix.mfma_16x16x32, 2); /* one loop, one head */
  WS_CHECK_INT(facts->loops[1].mix.branch, 2);
  WS_CHECK_INT(facts->mix.mfma_32x32x16, 1);
}

/* The code generator lays rare blocks behind the kernel: they belong to the
 * loop, and what lies between does not. */
WS_TEST(a_block_out_of_line_belongs_to_its_loop) {
  const ws_kernel_facts *facts = facts_of_assembly(
      ".La${:uid}:\\0A" MFMA16 "s_cbranch_scc0 .Lrare${:uid}\\0A"
      ".Lback${:uid}:\\0A" MFMA16 WAIT(0) "s_cbranch_scc1 .La${:uid}\\0A" MFMA32
                                          "s_branch .Lend${:uid}\\0A"
                                          ".Lrare${:uid}:\\0A" LOAD MFMA32
                                          "s_branch .Lback${:uid}\\0A"
                                          ".Lend${:uid}:\\0A");
  WS_CHECK_INT(facts->loop_count, 1);
  WS_CHECK_INT(facts->loops[0].mix.mfma_16x16x32, 2);
  WS_CHECK_INT(facts->loops[0].mix.mfma_32x32x16, 1);
  WS_CHECK_INT(facts->loops[0].mix.vmem_load, 1);
  WS_CHECK_INT(facts->loops[0].mix.branch, 3);
  WS_CHECK_INT(facts->loops[0].load_bytes, 16);
  /* the rare block's own and the one after it */
  WS_CHECK_INT(facts->loops[0].mfma_clocks_over_load, 32 + 16);
}

/* ---- what is refused
 * --------------------------------------------------------- */

WS_TEST(faults_are_findings) {
  static const struct {
    const char *id, *part, *text;
  } cases[] = {
      {"no-kernel", "no amdgpu_kernel",
       HEAD "define void @f() {\n  ret void\n}\n"},
      {"codegen", "exceeds limit",
       HEAD "@l = internal addrspace(3) global [70000 x i8] poison\n"
            "define amdgpu_kernel void @k(i32 %i) {\n"
            "  %p = getelementptr i8, ptr addrspace(3) @l, i32 %i\n"
            "  store volatile i8 1, ptr addrspace(3) %p\n"
            "  ret void\n}\n"},
      {"codegen", "undefined symbol: nowhere",
       HEAD "declare void @nowhere()\n"
            "define amdgpu_kernel void @k() {\n  call void @nowhere()\n"
            "  ret void\n}\n"},
      {"codegen", "frobnicate",
       HEAD "define amdgpu_kernel void @k() {\n"
            "  call void asm sideeffect \"v_frobnicate v0\", \"\"()\n"
            "  ret void\n}\n"},
      {"scratch", "bytes of scratch",
       HEAD "define amdgpu_kernel void @k(ptr addrspace(1) %o, i32 %i) {\n"
            "  %a = alloca [64 x i32], addrspace(5)\n"
            "  store volatile i32 7, ptr addrspace(5) %a\n"
            "  %p = getelementptr i32, ptr addrspace(5) %a, i32 %i\n"
            "  %v = load volatile i32, ptr addrspace(5) %p\n"
            "  store i32 %v, ptr addrspace(1) %o\n"
            "  ret void\n}\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    lowered l = lower(cases[i].text);
    WS_CHECK(!l.done);
    WS_CHECK_TEXT(first_id(&l), cases[i].id);
    WS_CHECK_CONTAINS(l.findings.items[0].text, cases[i].part);
  }
}

WS_TEST(a_damaged_code_object_is_only_not_found) {
  lowered l = lower_ok(plain);
  char *copy = malloc(l.result.code_object_size);
  ws_blob code;
  uint64_t address;
  ws_rng rng;
  WS_CHECK(copy);
  ws_rng_init(&rng, 1);
  ws_blob whole = {l.result.code_object, l.result.code_object_size};
  WS_CHECK(ws_elf_function(whole, "k", &code, &address));
  WS_CHECK(!ws_elf_function(whole, "j", &code, &address));
  for (int i = 0; i < 2000; i++) {
    ws_blob part = {copy, ws_rng_below(&rng, whole.size + 1)};
    memcpy(copy, whole.data, whole.size);
    for (int k = 0; k < 8; k++)
      copy[ws_rng_below(&rng, k < 4 ? 64 : whole.size)] =
          (char)ws_rng_next(&rng);
    if (ws_elf_function(part, "k", &code, &address))
      WS_CHECK((const char *)code.data >= copy &&
               (const char *)code.data + code.size <= copy + part.size);
  }
  free(copy);
}

/* ---- OpenCL C
 * --------------------------------------------------------------------- */

static bool compile_opencl(const char *text, const ws_candidate *candidate,
                           ws_findings *findings, ws_blob *out) {
  ws_arena *arena = ws_arena_create();
  ws_findings_init(findings, arena);
  ws_comgr_prepare();
  bool done = ws_comgr_compile_opencl(text, "body.cl", candidate, arena,
                                      &out->data, &out->size, findings);
  if (!done && strstr(findings->items[0].text, "not installed"))
    WS_SKIP("%s", findings->items[0].text);
  return done;
}

WS_TEST(opencl_sees_parameters) {
  const ws_param param = {.name = "tile_m"};
  const ws_template tmpl = {
      .target = "gfx942", .params = &param, .param_count = 1};
  int64_t value = 96;
  const ws_candidate candidate = {.tmpl = &tmpl, .values = &value};
  ws_findings findings;
  ws_blob bitcode;
  WS_CHECK(compile_opencl(
      "void f(local const char *a, private float4 *acc, uint lane) {\n"
      "  _Static_assert(tile_m == 96, \"the parameter\");\n"
      "  acc[0] = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(\n"
      "      *(local const long *)a, 0, acc[0], 0, 0, 0);\n"
      "}\n",
      &candidate, &findings, &bitcode));
  WS_CHECK(bitcode.size > 4 && !memcmp(bitcode.data, "BC\xC0\xDE", 4));
}

WS_TEST(opencl_errors_carry_their_lines) {
  ws_findings findings;
  ws_blob bitcode;
  WS_CHECK(!compile_opencl("#define TWO 2\nvoid f(global int *p) {\n"
                           "  *p = missing;\n}\nint g() { return other; }\n",
                           NULL, &findings, &bitcode));
  WS_CHECK_INT(findings.count, 2);
  WS_CHECK_TEXT(findings.items[0].id, "opencl-compile");
  WS_CHECK_TEXT(findings.items[0].file, "body.cl");
  WS_CHECK_INT(findings.items[0].line, 3);
  WS_CHECK_CONTAINS(findings.items[0].text, "missing");
  WS_CHECK_INT(findings.items[1].line, 5);
}
