/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Accesses outside of a private variable, found in the first run: by an index,
 * a constant, through structs, variables and arguments, and by a range.
 */
#include "sanitizer_fixture.h"

/* An index that is not constant, of a variable beside another. What is stored
 * there is not used, so the result alone would show nothing. */
#define INDEXED(first)                                                         \
  "  %before = alloca [64 x i32], addrspace(5)\n"                              \
  "  %x = alloca [4 x i32], addrspace(5)\n"                                    \
  "  %behind = alloca [64 x i32], addrspace(5)\n"                              \
  "  %low = and i32 %tid, 3\n"                                                 \
  "  %i = add i32 %low, " first "\n"                                           \
  "  %p = getelementptr [4 x i32], ptr addrspace(5) %x, i32 0, i32 %i\n"       \
  "  store i32 0, ptr addrspace(5) %p ; here\n"                                \
  "  ret void"

WS_TEST(oob_private_by_an_index) {
  expect_here((small){.body = INDEXED("1")}, "oob-private");
  expect_here((small){.body = INDEXED("100")}, "oob-private");
  expect_here((small){.body = INDEXED("-1")}, "oob-private");
  expect_here((small){.body = INDEXED("-200")}, "oob-private");
  expect_silence((small){.body = INDEXED("0")}, "oob-private");
}

WS_TEST(oob_private_by_a_constant) {
  static const char body[] =
      "  %%before = alloca [64 x i32], addrspace(5)\n"
      "  %%x = alloca { i32, [4 x i32] }, addrspace(5)\n"
      "  %%behind = alloca [64 x i32], addrspace(5)\n"
      "  %%p = getelementptr { i32, [4 x i32] }, ptr addrspace(5) %%x, i32 0, "
      "i32 1, i64 %d\n"
      "  store i32 0, ptr addrspace(5) %%p ; here\n"
      "  ret void";
  static const int outside[] = {4, 40, -2, -40};
  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
    expect_here(
        (small){.body = ws_arena_printf(test_arena(), body, outside[i])},
        "oob-private");
  for (int i = -1; i < 4; i++) /* -1 is the member before */
    expect_silence((small){.body = ws_arena_printf(test_arena(), body, i)},
                   "oob-private");
}

/* How a memref's pointer goes, and how C compilers keep one. */
WS_TEST(oob_private_through_structs_and_variables) {
  static const char body[] =
      "  %%x = alloca [4 x i32], addrspace(5)\n"
      "  %%behind = alloca [64 x i32], addrspace(5)\n"
      "  %%kept = alloca ptr addrspace(5), addrspace(5)\n"
      "  %%s0 = insertvalue { ptr addrspace(5), ptr addrspace(5), i64 } "
      "poison, "
      "ptr addrspace(5) %%x, 0\n"
      "  %%s1 = insertvalue { ptr addrspace(5), ptr addrspace(5), i64 } %%s0, "
      "ptr addrspace(5) %%x, 1\n"
      "  %%s2 = insertvalue { ptr addrspace(5), ptr addrspace(5), i64 } %%s1, "
      "i64 0, 2\n"
      "  %%from = extractvalue { ptr addrspace(5), ptr addrspace(5), i64 } "
      "%%s2, 1\n"
      "  store ptr addrspace(5) %%from, ptr addrspace(5) %%kept\n"
      "  %%again = load ptr addrspace(5), ptr addrspace(5) %%kept\n"
      "  %%i = add i32 %%tid, %d\n"
      "  %%p = getelementptr i32, ptr addrspace(5) %%again, i32 %%i\n"
      "  %%low = and i32 %%tid, 3\n"
      "  %%q = getelementptr i32, ptr addrspace(5) %%again, i32 %%low\n"
      "  store i32 0, ptr addrspace(5) %%q\n"
      "  store i32 0, ptr addrspace(5) %%p ; here\n"
      "  ret void";
  expect_here((small){.body = ws_arena_printf(test_arena(), body, 4)},
              "oob-private");
}

/* The function's variable is that of its callers, from its pointer on. */
static small through_argument(int index) {
  static const char function[] =
      "define internal void @put(ptr addrspace(5) %%to, i32 %%zero) {\n"
      "  %%i = add i32 %%zero, %d\n"
      "  %%p = getelementptr i32, ptr addrspace(5) %%to, i32 %%i\n"
      "  store i32 0, ptr addrspace(5) %%p ; here\n"
      "  ret void\n"
      "}\n";
  return (small){
      .declares = ws_arena_printf(test_arena(), function, index),
      .body = "  %x = alloca [4 x i32], addrspace(5)\n"
              "  %wide = alloca [8 x i32], addrspace(5)\n"
              "  %second = getelementptr i32, ptr addrspace(5) %x, i32 1\n"
              "  %none = and i32 %tid, 0\n"
              "  call void @put(ptr addrspace(5) %wide, i32 %none)\n"
              "  call void @put(ptr addrspace(5) %second, i32 %none)\n"
              "  ret void"};
}

WS_TEST(oob_private_through_an_argument) {
  static const int outside[] = {8, 9, 100, -2, -100};
  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
    small s = through_argument(outside[i]);
    fixture f = run_small(s);
    expect_finding(&f, "oob-private", "put", here(&s));
  }
  expect_silence(through_argument(0), "oob-private");
  expect_silence(through_argument(2), "oob-private");
}

WS_TEST(oob_private_by_a_range) {
  static const char body[] =
      "  %%x = alloca [4 x i32], addrspace(5)\n"
      "  %%behind = alloca [64 x i32], addrspace(5)\n"
      "  %%none = and i32 %%tid, 0\n"
      "  %%size = add i32 %%none, %d\n"
      "  call void @llvm.memset.p5.i32(ptr addrspace(5) %%x, i8 0, i32 %%size, "
      "i1 false) ; here\n"
      "  ret void";
  static const char declare[] = "declare void @llvm.memset.p5.i32(ptr "
                                "addrspace(5), i8, i32, i1 immarg)\n";
  expect_here((small){.declares = declare,
                      .body = ws_arena_printf(test_arena(), body, 17)},
              "oob-private");
  for (int size = 0; size <= 16; size += 16)
    expect_silence((small){.declares = declare,
                           .body = ws_arena_printf(test_arena(), body, size)},
                   "oob-private");
}
