/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A few workgroups of many: what must be written follows from the problem's
 * output, byte by byte. Kernels that launch or store too little are found, with
 * every seed; the shipped ones are clean where their tiles are cut off on both
 * sides, and most workgroups write less than the average that is needed.
 */
#include "../gemm_shape.h"
#include "sanitizer_fixture.h"

enum { SEEDS = 4 };

static const char grid[] =
    "!\"ceildiv(m, tile_m) * ceildiv(n, tile_n)\", !\"1\", !\"1\", "
    "!\"tile_m * tile_n\"";
static const char store[] =
    "  store bfloat %rounded, ptr addrspace(1) %c.at, align 2\n";

/* Not inlined: gcc 12 takes the text for dangling where it is exchanged. */
static __attribute__((noinline)) char *naive(void) {
  return read_template(test_arena(), "fp8_gemm_naive.ll");
}

static ws_run run_on(int64_t m, int64_t n, int64_t k, uint64_t seed) {
  return (ws_run){.shape = gemm_shape(m, n, k), .seed = seed, .spots = 2};
}

static void expect_clean(const char *file, const char *values, int64_t m,
                         int64_t n) {
  ws_arena *arena = test_arena();
  char *text = read_template(arena, file);
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    ws_run run = run_on(m, n, 256, seed);
    fixture f = sanitize_runs(arena, text, values, &run, 1);
    print_findings(&f);
    WS_CHECK(f.ok);
  }
}

static void expect_found(const char *from, const char *to, const char *part) {
  ws_arena *arena = test_arena();
  char *text = exchanged(arena, naive(), from, to);
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    ws_run run = run_on(272, 576, 128, seed);
    fixture f = sanitize_runs(arena, text, "", &run, 1);
    WS_CHECK(find(&f, "unwritten-output"));
    WS_CHECK_CONTAINS(find(&f, "unwritten-output")->text, part);
  }
}

WS_TEST(shipped_kernels_are_clean_where_tiles_are_cut) {
  expect_clean("fp8_gemm_naive.ll", "", 272, 592);
  expect_clean("fp8_gemm_mfma.ll", "tile_m=256;tile_n=128;waves_m=4", 272, 144);
  expect_clean("fp8_gemm_mfma.ll", "tile_m=256;waves_m=4", 272, 1040);
  expect_clean("fp8_gemm_mfma.ll", "tile_m=64;tile_n=64", 80, 80);
}

/* Of 17 x 36 tiles. */
WS_TEST(nine_tenths_of_the_workgroups_are_too_few) {
  expect_found(grid,
               "!\"ceildiv(m, tile_m) * ceildiv(n, tile_n) * 9 / 10\", "
               "!\"1\", !\"1\", !\"tile_m * tile_n\"",
               "cannot write its 313344");
}

WS_TEST(one_byte_of_two_is_no_element) {
  expect_found(store,
               "  %bits = bitcast bfloat %rounded to i16\n"
               "  %high.16 = lshr i16 %bits, 8\n"
               "  %high = trunc i16 %high.16 to i8\n"
               "  %high.at = getelementptr i8, ptr addrspace(1) %c.at, i64 1\n"
               "  store i8 %high, ptr addrspace(1) %high.at, align 1\n",
               "bytes");
  expect_found(store,
               "  %bits = bitcast bfloat %rounded to i16\n"
               "  %low = trunc i16 %bits to i8\n"
               "  store i8 %low, ptr addrspace(1) %c.at, align 1\n",
               "bytes");
}

WS_TEST(one_element_in_a_row_of_tiles_without_its_low_byte) {
  expect_found(store,
               "  %bits = bitcast bfloat %rounded to i16\n"
               "  %high.16 = lshr i16 %bits, 8\n"
               "  %high = trunc i16 %high.16 to i8\n"
               "  %high.at = getelementptr i8, ptr addrspace(1) %c.at, i64 1\n"
               "  store i8 %high, ptr addrspace(1) %high.at, align 1\n"
               "  %first = icmp eq i32 %thread, 0\n"
               "  br i1 %first, label %exit, label %both\n"
               "both:\n"
               "  store bfloat %rounded, ptr addrspace(1) %c.at, align 2\n",
               "");
}

/* Buffers begin at multiples of 16 and of no more: a kernel that reads
 * far off where the address of one is a multiple of 32 does not. */
WS_TEST(what_is_not_promised_does_not_hold) {
  ws_arena *arena = test_arena();
  char *text = exchanged(arena, naive(), "  %n64 = zext i32 %n to i64\n",
                         "  %n64 = zext i32 %n to i64\n"
                         "  %address = ptrtoint ptr addrspace(1) %as to i64\n"
                         "  %rest = and i64 %address, 31\n"
                         "  %none = icmp eq i64 %rest, 0\n"
                         "  %far = select i1 %none, i64 -4096, i64 0\n"
                         "  %far.at = getelementptr i8, ptr addrspace(1) %as, "
                         "i64 %far\n"
                         "  %probe = load i8, ptr addrspace(1) %far.at, "
                         "align 1 ; address\n");
  fixture f = sanitize_runs(arena, text, "", NULL, 0);
  WS_CHECK(f.ok);
  char *promised = exchanged(arena, text, "%address, 31", "%address, 15");
  f = sanitize_runs(arena, promised, "", NULL, 0);
  expect_finding(&f, "oob-global-load", NULL, line_of(promised, "; address"));
}
