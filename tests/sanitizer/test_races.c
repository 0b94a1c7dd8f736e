/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Two lanes on one byte of LDS: when is a barrier missing, and when are the
 * offsets not one-to-one? Small kernels whose cause is known, because it was
 * put there, then the shipped template with another lds_offset, and with a
 * barrier less.
 */
#include "../gemm_shape.h"
#include "sanitizer_fixture.h"

#define BARRIER "  call void @llvm.amdgcn.s.barrier()\n"

/* %off: of this lane. */
#define STORE(at)                                                              \
  "  %" at " = getelementptr i8, ptr addrspace(3) @lds, i32 %off." at "\n"     \
  "  store i32 %tid, ptr addrspace(3) %" at "\n"

/* place(lane) and put(lane) are regions; place is one-to-one as shipped. */
static const char regions[] =
    "define internal i32 @place(i32 %lane) alwaysinline {\n"
    "  %r = mul i32 %lane, 4\n"
    "  ret i32 %r\n"
    "}\n"
    "define internal void @put(i32 %lane) alwaysinline {\n"
    "  %off = call i32 @place(i32 %lane)\n"
    "  %at = getelementptr i8, ptr addrspace(3) @lds, i32 %off\n"
    "  store i32 %lane, ptr addrspace(3) %at ; the store\n"
    "  ret void\n"
    "}\n"
    "!wavesmith.region = !{!10, !11}\n"
    "!10 = !{!\"place\", !\"one-to-one\"}\n"
    "!11 = !{!\"put\", !\"stores\"}\n";

static const small one_put = {.declares = regions,
                              .body = "  call void @put(i32 %tid)\n  ret void",
                              .threads = 128};

static fixture run_replaced(small s, replaced with) {
  ws_arena *arena = test_arena();
  ws_run run = {.shape = gemm_shape(16, 16, 128), .order = s.order, .seed = 1};
  return sanitize_replaced(arena, small_text(arena, &s), "", &run, 1, with);
}

/* line 0: any. */
static const char *text_at(const fixture *f, const char *id, int line) {
  for (int i = 0; i < f->findings.count; i++)
    if (!strcmp(f->findings.items[i].id, id) &&
        (!line || f->findings.items[i].line == line))
      return f->findings.items[i].text;
  print_findings(f);
  WS_FAIL("no finding %s at line %d", id, line);
}

static const char *text_of(const fixture *f, const char *id) {
  return text_at(f, id, 0);
}

/* Lanes 2 i and 2 i + 1 get one place. */
static const char pairs_ir[] = "define i32 @place(i32 %lane) {\n"
                               "  %h = lshr i32 %lane, 1\n"
                               "  %r = mul i32 %h, 4\n"
                               "  ret i32 %r\n"
                               "}\n";
static const char pairs_opencl[] =
    "int place(int lane) { return lane / 2 * 4; }\n";

WS_TEST(a_replaced_offset_is_named) {
  const replaced bodies[] = {{"place", "ir", pairs_ir},
                             {"place", "opencl", pairs_opencl}};
  const int line = line_of(small_text(test_arena(), &one_put), "; the store");
  for (int i = 0; i < 2; i++) {
    fixture f = run_replaced(one_put, bodies[i]);
    expect_none(&f, "lds-race");
    expect_finding(&f, "lds-overlap", "put", line);
    const char *text = text_of(&f, "lds-overlap");
    WS_CHECK_CONTAINS(text, "lane 0 (wave 0) and lane 1 (wave 0)");
    WS_CHECK_CONTAINS(text, "the same byte 0 of the LDS");
    WS_CHECK_CONTAINS(text, "region place returns the offset, and this "
                            "candidate replaces it;");
    WS_CHECK(!strstr(text, "with no barrier"));
  }
}

WS_TEST(the_shipped_offset_is_named_too) {
  small s = one_put;
  s.declares =
      exchanged(test_arena(), regions, "mul i32 %lane, 4", "and i32 %lane, 4");
  fixture f = run_replaced(s, (replaced){NULL, NULL, NULL});
  const char *text = text_of(&f, "lds-overlap");
  WS_CHECK_CONTAINS(text, "region place returns the offset;");
  WS_CHECK(!strstr(text, "this candidate replaces"));
}

/* The code that stores is the candidate's, what gives the place is not. */
WS_TEST(a_replaced_store_is_named) {
  static const char twice[] =
      "@lds = external addrspace(3) global [16384 x i8]\n"
      "declare i32 @place(i32)\n"
      "define void @put(i32 %lane) {\n"
      "  %h = lshr i32 %lane, 1\n"
      "  %off = call i32 @place(i32 %h)\n"
      "  %at = getelementptr i8, ptr addrspace(3) @lds, i32 %off\n"
      "  store i32 %lane, ptr addrspace(3) %at\n"
      "  ret void\n"
      "}\n";
  fixture f = run_replaced(one_put, (replaced){"put", "ir", twice});
  expect_finding(&f, "lds-overlap", "put", 7);
  WS_CHECK_TEXT(find(&f, "lds-overlap")->file, "put.ll");
  WS_CHECK_CONTAINS(text_of(&f, "lds-overlap"),
                    "region place returns the offset; this candidate replaces "
                    "region put;");
}

/* Through a variable, as compilers without optimisation write it. */
WS_TEST(an_offset_is_followed_through_a_variable) {
  static const char by_variable[] =
      "@lds = external addrspace(3) global [16384 x i8]\n"
      "declare i32 @place(i32)\n"
      "define void @put(i32 %lane) {\n"
      "  %v = alloca i32, addrspace(5)\n"
      "  %h = lshr i32 %lane, 1\n"
      "  %off.0 = call i32 @place(i32 %h)\n"
      "  store i32 %off.0, ptr addrspace(5) %v\n"
      "  %off = load i32, ptr addrspace(5) %v\n"
      "  %at = getelementptr i8, ptr addrspace(3) @lds, i32 %off\n"
      "  store i32 %lane, ptr addrspace(3) %at\n"
      "  ret void\n"
      "}\n";
  fixture f = run_replaced(one_put, (replaced){"put", "ir", by_variable});
  WS_CHECK_CONTAINS(text_of(&f, "lds-overlap"), "region place returns");
}

/* Lanes of two waves; whichever runs first. */
WS_TEST(waves_overlap_too) {
  small s = {.threads = 128,
             .body = "  %low = and i32 %tid, 63\n"
                     "  %off.at = mul i32 %low, 4\n" STORE("at") "  ret void"};
  for (int order = WS_WAVES_UP; order <= WS_WAVES_DOWN; order++) {
    s.order = (ws_wave_order)order;
    fixture f = run_small(s);
    expect_none(&f, "lds-race");
    WS_CHECK_CONTAINS(text_of(&f, "lds-overlap"),
                      order == WS_WAVES_UP
                          ? "lane 0 (wave 0) and lane 64 (wave 1)"
                          : "lane 64 (wave 1) and lane 0 (wave 0)");
  }
}

/* A store by two lanes whose value was read before it was overwritten: here a
 * barrier is what is missing. The loop's second turn stores where another lane
 * stored in the first. */
static const char rotating[] =
    "  br label %%loop\n"
    "loop:\n"
    "  %%i = phi i32 [0, %%entry], [%%i.next, %%loop]\n"
    "  %%turned = mul i32 %%i, 64\n"
    "  %%slot = xor i32 %%tid, %%turned\n"
    "  %%off.at = mul i32 %%slot, 4\n"
    "  %%at = getelementptr i8, ptr addrspace(3) @lds, i32 %%off.at\n"
    "  store i32 %%tid, ptr addrspace(3) %%at ; the store\n"
    "%s"
    "  %%v = load i32, ptr addrspace(3) %%at\n"
    "%s"
    "  %%i.next = add i32 %%i, 1\n"
    "  %%more = icmp ult i32 %%i.next, 2\n"
    "  br i1 %%more, label %%loop, label %%out\n"
    "out:\n"
    "  ret void";

WS_TEST(a_value_that_was_read_wants_a_barrier) {
  char body[1000];
  for (int order = WS_WAVES_UP; order <= WS_WAVES_DOWN; order++) {
    small s = {.threads = 128, .order = (ws_wave_order)order, .body = body};
    snprintf(body, sizeof body, rotating, BARRIER, "");
    fixture f = run_small(s);
    expect_none(&f, "lds-overlap");
    expect_finding(&f, "lds-race", "kernel",
                   line_of(small_text(test_arena(), &s), "; the store"));
    WS_CHECK_CONTAINS(text_of(&f, "lds-race"), "put a barrier between");
    snprintf(body, sizeof body, rotating, "", "");
    f = run_small(s);
    expect_none(&f, "lds-overlap");
    expect_finding(&f, "lds-race", "kernel", 0);
    snprintf(body, sizeof body, rotating, "", BARRIER);
    f = run_small(s);
    expect_none(&f, "lds-overlap");
    expect_none(&f, "lds-race");
  }
}

/* Two stores: either may be meant. Both are named. */
WS_TEST(two_stores_are_both_named) {
  static const char *const between[] = {"", BARRIER};
  for (int i = 0; i < 2; i++) {
    small s = {.threads = 128,
               .body = ws_arena_printf(
                   test_arena(),
                   "  %%off.one = mul i32 %%tid, 4\n"
                   "  %%off.two = xor i32 %%off.one, 256\n"
                   "  %%one = getelementptr i8, ptr addrspace(3) @lds, i32 "
                   "%%off.one\n"
                   "  %%two = getelementptr i8, ptr addrspace(3) @lds, i32 "
                   "%%off.two\n"
                   "  store i32 0, ptr addrspace(3) %%one ; first\n%s"
                   "  store i32 1, ptr addrspace(3) %%two ; second\n"
                   "  ret void",
                   between[i])};
    fixture f = run_small(s);
    expect_none(&f, "lds-overlap");
    if (i) {
      expect_none(&f, "lds-race");
      continue;
    }
    const char *text = small_text(test_arena(), &s);
    const int first = line_of(text, "; first");
    const int second = line_of(text, "; second");
    WS_CHECK_CONTAINS(text_at(&f, "lds-race", second),
                      ws_arena_printf(test_arena(),
                                      "wrote in kernel at test.ll:%d, with",
                                      first));
    WS_CHECK_CONTAINS(text_at(&f, "lds-race", first),
                      ws_arena_printf(test_arena(),
                                      "wrote in kernel at test.ll:%d, with",
                                      second));
  }
}

/* A write after a read names the read. */
WS_TEST(the_reader_is_named) {
  small s = {.threads = 128,
             .body = "  %off.at = mul i32 %tid, 4\n" STORE("at") BARRIER
             "  %off.two = xor i32 %off.at, 256\n"
             "  %two = getelementptr i8, ptr addrspace(3) @lds, i32 "
             "%off.two\n"
             "  %v = load i32, ptr addrspace(3) %two ; the read\n"
             "  store i32 1, ptr addrspace(3) %at ; here\n"
             "  ret void"};
  fixture f = run_small(s);
  WS_CHECK_CONTAINS(
      text_at(&f, "lds-race", here(&s)),
      ws_arena_printf(test_arena(), "read in kernel at test.ll:%d",
                      line_of(small_text(test_arena(), &s), "; the read")));
}

/* ---- the shipped template --------------------------------------------- */

/* Rows of 128 bytes as declared, but the chunks of a row in 64 bytes of it. */
static const char folded[] =
    "int lds_offset(int row, int k) { return row * 128 + (k & 63); }\n";
static const char plain[] =
    "int lds_offset(int row, int k) { return row * 128 + k; }\n";

WS_TEST(the_template_with_another_offset) {
  ws_arena *arena = test_arena();
  const char *text = read_template(arena, "fp8_gemm_mfma.ll");
  const ws_run run = {.shape = gemm_shape(128, 128, 256), .seed = 1};
  fixture f = sanitize_replaced(arena, text, "tile_k=128;lds_pad=0", &run, 1,
                                (replaced){"lds_offset", "opencl", plain});
  print_findings(&f);
  WS_CHECK(f.ok);
  f = sanitize_replaced(arena, text, "tile_k=128;lds_pad=0", &run, 1,
                        (replaced){"lds_offset", "opencl", folded});
  expect_none(&f, "lds-race");
  expect_finding(&f, "lds-overlap", "store_rows", 0);
  WS_CHECK_CONTAINS(text_of(&f, "lds-overlap"),
                    "region lds_offset returns the offset, and this candidate "
                    "replaces it");
}

/* Not the offset's fault, whoever wrote it. */
WS_TEST(the_template_with_a_barrier_less) {
  ws_arena *arena = test_arena();
  char *text = read_template(arena, "fp8_gemm_mfma.ll");
  text = exchanged(
      arena, text,
      "call void @llvm.amdgcn.s.barrier() ; barrier: previous tile is read",
      "");
  const ws_run run = {.shape = gemm_shape(128, 128, 256), .seed = 1};
  fixture f = sanitize_replaced(arena, text, "tile_k=128;lds_pad=0", &run, 1,
                                (replaced){"lds_offset", "opencl", plain});
  expect_none(&f, "lds-overlap");
  expect_finding(&f, "lds-race", "store_rows", 0);
  WS_CHECK_CONTAINS(text_of(&f, "lds-race"), "put a barrier between");
}
