/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Observations on access patterns whose counts follow by hand from the rules
 * in research/mi300_timing.md section 6 (LDS phases and banks) and 7 (128-byte
 * lines). LDS is filled by byte stores, one per lane and 64 bytes, so that its
 * contribution is known too.
 */
#include "../gemm_shape.h"
#include "sanitizer_fixture.h"

static ws_observed observe(small s) {
  if (!s.shape.size[DIM_M])
    s.shape = gemm_shape(64, 16, 128); /* a has 8192 bytes */
  fixture f = run_small(s);
  for (int i = 0; i < f.findings.count; i++)
    if (strcmp(f.findings.items[i].id, "wrong-result") &&
        strcmp(f.findings.items[i].id, "unwritten-output") &&
        strcmp(f.findings.items[i].id, "uninit-lds")) {
      print_findings(&f);
      WS_FAIL("unexpected finding");
    }
  WS_CHECK_INT(f.results[0].launch_count, 1);
  WS_CHECK_TEXT(f.results[0].launches[0].kernel, "kernel");
  return f.results[0].launches[0].observed;
}

/* One LDS load or store of `type` at tid * stride (in bytes). */
static ws_observed lds(const char *what, const char *type, int stride,
                       int align) {
  char body[600];
  snprintf(body, sizeof body,
           "  %%off = mul i32 %%tid, %d\n"
           "  %%at = getelementptr i8, ptr addrspace(3) @lds, i32 %%off\n"
           "  %s%s%s, align %d\n"
           "  ret void",
           stride, strcmp(what, "load") ? "store " : "%v = load ", type,
           strcmp(what, "load") ? " zeroinitializer, ptr addrspace(3) %at"
                                : ", ptr addrspace(3) %at",
           align);
  return observe((small){.body = body});
}

static void expect_load(const char *type, int stride, int align, int clocks,
                        int ideal, int bytes) {
  ws_observed o = lds("load", type, stride, align);
  WS_CHECK_INT(o.ds_read_ops, 1);
  WS_CHECK_INT(o.ds_read_bytes, bytes);
  WS_CHECK_INT(o.ds_clocks, clocks);
  WS_CHECK_INT(o.ds_clocks_ideal, ideal);
  WS_CHECK_INT(o.ds_write_ops, 0);
}

static void expect_store(const char *type, int stride, int align, int clocks,
                         int ideal, int bytes) {
  ws_observed o = lds("store", type, stride, align);
  WS_CHECK_INT(o.ds_write_ops, 1);
  WS_CHECK_INT(o.ds_write_bytes, bytes);
  WS_CHECK_INT(o.ds_clocks, clocks);
  WS_CHECK_INT(o.ds_clocks_ideal, ideal);
}

WS_TEST(b32) { /* phases: lanes 0-31 and 32-63 */
  expect_load("i32", 4, 4, 2, 2, 256);
  expect_load("i32", 0, 4, 2, 2, 256);    /* all the same dword: shared */
  expect_load("i32", 8, 4, 4, 2, 256);    /* even banks, two dwords each */
  expect_load("i32", 128, 4, 64, 2, 256); /* one bank, 32 dwords a phase */
  expect_load("i32", 132, 4, 2, 2, 256);  /* padded rows: bank = lane */
  expect_load("i32", 64, 4, 32, 2, 256);  /* two banks of 16 */
  expect_load("i8", 1, 1, 2, 2, 64);      /* four lanes share a dword */
  expect_load("i16", 128, 2, 64, 2, 128);
  expect_store("i32", 4, 4, 2, 2, 256);
  expect_store("i32", 8, 4, 4, 2, 256);
}

WS_TEST(b64) { /* phases: 16 lanes */
  expect_load("i64", 8, 8, 4, 4, 512);
  /* stride 128: the 16 lanes of a phase all touch banks 0 and 1, 16 distinct
   * dwords in each: 16 clocks, four phases. */
  expect_load("i64", 128, 8, 64, 4, 512);
  /* rows of 136 bytes: lane l starts at bank 2 l: no conflict */
  expect_load("i64", 136, 8, 4, 4, 512);
  /* stride 16: banks 4 l mod 32, so lane l meets lane l + 8: 2 clocks */
  expect_load("i64", 16, 8, 8, 4, 512);
  expect_store("i64", 128, 8, 64, 4, 512);
  expect_store("<2 x i32>", 8, 8, 4, 4, 512);
}

WS_TEST(b128) {
  expect_load("<4 x i32>", 16, 16, 8, 8, 1024);
  expect_store("<4 x i32>", 16, 16, 8, 8, 1024);
  /* stride 64: even lanes start at bank 0, odd lanes at bank 16. A phase of a
   * read has 8 lanes, {0-3, 20-23} for one: 4 even, 4 odd, hence 4 clocks. So
   * has a write's, of 8 consecutive lanes. */
  expect_load("<4 x i32>", 64, 16, 32, 8, 1024);
  expect_store("<4 x i32>", 64, 16, 32, 8, 1024);
  /* stride 128: all 8 lanes of a phase at bank 0 */
  expect_load("<4 x i32>", 128, 16, 64, 8, 1024);
  /* stride 144: lane l starts at bank 4 l mod 32. 8 consecutive lanes cover
   * all banks once: a write has no conflict. Lanes 0-3 cover banks 0-15 and
   * lanes 20-23 (4 * 20 = 80 = 16 mod 32) banks 16-31: nor has a read. */
  expect_load("<4 x i32>", 144, 16, 8, 8, 1024);
  expect_store("<4 x i32>", 144, 16, 8, 8, 1024);
  /* stride 48: bank 12 l mod 32 = 0 12 24 4 16 28 8 20: 8 consecutive lanes
   * cover all banks. A read's lanes 0-3 start at 0 12 24 4, lanes 20-23 at
   * 240 252 264 276 mod 32 = 16 28 8 20: all banks as well. */
  expect_load("<4 x i32>", 48, 16, 8, 8, 1024);
  /* stride 32: bank 8 l mod 32 = 0 8 16 24 0 8 16 24: a write has 2. A read:
   * lanes 0-3 at 0 8 16 24, lanes 20-23 the same: 2. */
  expect_load("<4 x i32>", 32, 16, 16, 8, 1024);
  expect_store("<4 x i32>", 32, 16, 16, 8, 1024);
}

WS_TEST(wider_accesses_are_split) {
  ws_observed o = lds("load", "<8 x i32>", 32, 16);
  WS_CHECK_INT(o.ds_read_ops, 2);
  WS_CHECK_INT(o.ds_read_bytes, 2048);
  WS_CHECK_INT(o.ds_clocks_ideal, 16);
}

#define LOAD_A(type, stride, align)                                            \
  "  %off = mul i32 %tid, " stride "\n"                                        \
  "  %p = getelementptr i8, ptr addrspace(1) %a, i32 %off\n"                   \
  "  %v = load " type ", ptr addrspace(1) %p, align " align "\n"

static void expect_vmem(const char *body, int ops, int bytes, int lines,
                        int clocks) {
  ws_observed o = observe((small){.body = body});
  WS_CHECK_INT(o.vmem_load_ops, ops);
  WS_CHECK_INT(o.vmem_load_bytes, bytes);
  WS_CHECK_INT(o.vmem_lines, lines);
  WS_CHECK_INT(o.vmem_clocks, clocks);
  WS_CHECK_INT(o.vmem_store_ops, 0);
}

WS_TEST(vector_memory) { /* clocks: max(4, bytes / 64, lines) */
  expect_vmem(LOAD_A("i32", "4", "4") "  ret void", 1, 256, 2, 4);
  expect_vmem(LOAD_A("<4 x i32>", "16", "16") "  ret void", 1, 1024, 8, 16);
  expect_vmem(LOAD_A("i8", "128", "1") "  ret void", 1, 64, 64, 64);
  expect_vmem(LOAD_A("i32", "0", "4") "  ret void", 1, 256, 1, 4);
  expect_vmem(LOAD_A("<8 x i32>", "32", "16") "  ret void", 2, 2048, 32, 32);
}

WS_TEST(stores_and_atomics) {
  ws_observed o = observe(
      (small){.body = "  %off = mul i32 %tid, 4\n"
                      "  %p = getelementptr i8, ptr addrspace(1) %c, i32 "
                      "%off\n"
                      "  store i32 0, ptr addrspace(1) %p\n"
                      "  %w = getelementptr i8, ptr addrspace(1) "
                      "%workspace, i32 %off\n"
                      "  store i32 0, ptr addrspace(1) %w\n"
                      "  %x = atomicrmw add ptr addrspace(1) %w, i32 1 "
                      "syncscope(\"agent\") monotonic\n"
                      "  ret void"});
  WS_CHECK_INT(o.vmem_store_ops, 2);
  WS_CHECK_INT(o.vmem_store_bytes, 3 * 256); /* what an atomic writes, too */
  WS_CHECK_INT(o.atomic_ops, 1);
  WS_CHECK_INT(o.vmem_lines, 6);
}

#define LOOP(count, body)                                                      \
  "  %i.slot = alloca i32, addrspace(5)\n"                                     \
  "  store i32 0, ptr addrspace(5) %i.slot\n"                                  \
  "  br label %head\n"                                                         \
  "head:\n"                                                                    \
  "  %i = load i32, ptr addrspace(5) %i.slot\n"                                \
  "  %more = icmp ult i32 %i, " count "\n"                                     \
  "  br i1 %more, label %body, label %out\n"                                   \
  "body:\n" body "  %i.next = add i32 %i, 1\n"                                 \
  "  store i32 %i.next, ptr addrspace(5) %i.slot\n"                            \
  "  br label %head\n"                                                         \
  "out:\n"                                                                     \
  "  ret void"

WS_TEST(executions_of_one_site) {
  ws_observed o = observe(
      (small){.threads = 128, .body = LOOP("3", LOAD_A("i32", "4", "4"))});
  WS_CHECK_INT(o.vmem_load_ops, 6); /* two waves, three times */
  WS_CHECK_INT(o.waves, 2);
  WS_CHECK_INT(o.threads, 128);
  WS_CHECK_INT(o.workgroups, 1);
  /* more than the record holds */
  o = observe((small){.body = LOOP("5000", LOAD_A("i32", "4", "4"))});
  WS_CHECK_INT(o.vmem_load_ops, 5000);
  WS_CHECK_INT(o.vmem_lines, 10000);
}

WS_TEST(lanes_that_take_other_paths) {
  /* Even lanes load twice, odd lanes once: two instructions, of 64 and 32
   * lanes. */
  ws_observed o =
      observe((small){.body = "  %odd = and i32 %tid, 1\n"
                              "  %times = sub i32 2, %odd\n" LOOP(
                                  "%times", LOAD_A("i32", "4", "4"))});
  WS_CHECK_INT(o.vmem_load_ops, 2);
  WS_CHECK_INT(o.vmem_load_bytes, 256 + 128);
  /* Only lanes 8..15 load: one instruction of 32 bytes. */
  o = observe((small){
      .body = "  %q = lshr i32 %tid, 3\n"
              "  %some = icmp eq i32 %q, 1\n"
              "  br i1 %some, label %yes, label %no\n"
              "yes:\n" LOAD_A("i32", "4",
                              "4") "  br label %no\n"
                                   "no:\n"
                                   "  %w = load i32, ptr addrspace(1) %a\n"
                                   "  ret void"});
  WS_CHECK_INT(o.vmem_load_ops, 2);
  WS_CHECK_INT(o.vmem_load_bytes, 32 + 256);
}

WS_TEST(matrix_instructions_and_barriers) {
  ws_observed o = observe((small){
      .threads = 128,
      .declares = "declare <16 x float> "
                  "@llvm.amdgcn.mfma.f32.32x32x16.fp8.fp8(i64, i64, <16 x "
                  "float>, i32, i32, i32)\n"
                  "declare double @llvm.amdgcn.mfma.f64.4x4x4f64(double, "
                  "double, double, i32, i32, i32)",
      .body =
          "  %d = call <4 x float> "
          "@llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8(i64 0, i64 0, <4 x float> "
          "zeroinitializer, i32 0, i32 0, i32 0)\n"
          "  call void @llvm.amdgcn.s.barrier()\n"
          "  %e = call <16 x float> "
          "@llvm.amdgcn.mfma.f32.32x32x16.fp8.fp8(i64 0, i64 0, <16 x float> "
          "zeroinitializer, i32 0, i32 0, i32 0)\n"
          "  %f = call double @llvm.amdgcn.mfma.f64.4x4x4f64(double 0.0, "
          "double 0.0, double 0.0, i32 0, i32 0, i32 0)\n"
          "  ret void"});
  WS_CHECK_INT(o.mfma_16x16x32, 2);
  WS_CHECK_INT(o.mfma_32x32x16, 2);
  WS_CHECK_INT(o.mfma_other, 2);
  WS_CHECK_INT(o.barriers, 2);
}
