/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Integers of any width, as LLVM makes them of vectors of i1 that are taken for
 * a number: the static check, the sanitizer and, compiled, the simulator; all
 * as the host computes them in 64 bits.
 */
#include "model_fixture.h"

/* A lane's input: a byte for each bit of the mask, a number in the last eight.
 * Its output: eight words. */
enum { LANES = 64, INPUT_BYTES = 64, OUTPUT_WORDS = 8, NUMBER_AT = 56 };

static const char body[] =
    "  %%place = mul i32 %%tid, 64\n"
    "  %%from = getelementptr i8, ptr addrspace(1) %%a, i32 %%place\n"
    "  %%bytes = load <%1$d x i8>, ptr addrspace(1) %%from, align 16\n"
    "  %%mask = icmp slt <%1$d x i8> %%bytes, zeroinitializer\n"
    "  %%b = bitcast <%1$d x i1> %%mask to i%1$d\n"
    "  %%number = getelementptr i8, ptr addrspace(1) %%from, i32 56\n"
    "  %%wide = load i64, ptr addrspace(1) %%number, align 8\n"
    "  %%x = trunc i64 %%wide to i%1$d\n"
    "  %%ones = call i%1$d @llvm.ctpop.i%1$d(i%1$d %%b)\n"
    "  %%both = and i%1$d %%b, %%x\n"
    "  %%any = or i%1$d %%b, %%x\n"
    "  %%sum = add i%1$d %%b, %%x\n"
    "  %%half = lshr i%1$d %%x, 1\n"
    "  %%less = icmp ult i%1$d %%b, %%x\n"
    "  %%w0 = zext i%1$d %%b to i64\n"
    "  %%w1 = zext i%1$d %%ones to i64\n"
    "  %%w2 = zext i%1$d %%both to i64\n"
    "  %%w3 = sext i%1$d %%any to i64\n"
    "  %%w4 = zext i%1$d %%sum to i64\n"
    "  %%w5 = zext i%1$d %%half to i64\n"
    "  %%w6 = zext i1 %%less to i64\n"
    "  %%kept = alloca i%1$d, addrspace(5)\n"
    "  store i%1$d %%x, ptr addrspace(5) %%kept\n"
    "  %%w7 = load i%1$d, ptr addrspace(5) %%kept\n"
    "  %%to = getelementptr i8, ptr addrspace(1) %%c, i32 %%place\n"
    "  store i64 %%w0, ptr addrspace(1) %%to\n"
    "  %%to1 = getelementptr i64, ptr addrspace(1) %%to, i32 1\n"
    "  store i64 %%w1, ptr addrspace(1) %%to1\n"
    "  %%to2 = getelementptr i64, ptr addrspace(1) %%to, i32 2\n"
    "  store i64 %%w2, ptr addrspace(1) %%to2\n"
    "  %%to3 = getelementptr i64, ptr addrspace(1) %%to, i32 3\n"
    "  store i64 %%w3, ptr addrspace(1) %%to3\n"
    "  %%to4 = getelementptr i64, ptr addrspace(1) %%to, i32 4\n"
    "  store i64 %%w4, ptr addrspace(1) %%to4\n"
    "  %%to5 = getelementptr i64, ptr addrspace(1) %%to, i32 5\n"
    "  store i64 %%w5, ptr addrspace(1) %%to5\n"
    "  %%to6 = getelementptr i64, ptr addrspace(1) %%to, i32 6\n"
    "  store i64 %%w6, ptr addrspace(1) %%to6\n"
    "  %%to7 = getelementptr i64, ptr addrspace(1) %%to, i32 7\n"
    "  store i64 0, ptr addrspace(1) %%to7\n"
    "  store i%1$d %%w7, ptr addrspace(1) %%to7\n"
    "  ret void";

static unsigned char input[LANES * INPUT_BYTES];
static uint64_t sanitized[LANES][OUTPUT_WORDS], simulated[LANES][OUTPUT_WORDS];

static void fill_input(void) {
  ws_rng rng;
  ws_rng_init(&rng, 11);
  for (size_t i = 0; i < sizeof input; i++)
    input[i] = (unsigned char)ws_rng_below(&rng, 256);
}

static void expect(int lane, int width, uint64_t out[OUTPUT_WORDS]) {
  const unsigned char *at = input + lane * INPUT_BYTES;
  const uint64_t all = (UINT64_C(1) << width) - 1;
  uint64_t b = 0, x;
  memcpy(&x, at + NUMBER_AT, sizeof x);
  x &= all;
  for (int i = 0; i < width; i++)
    b |= (uint64_t)(at[i] >> 7) << i;
  const uint64_t any = b | x, top = any >> (width - 1);
  const uint64_t words[] = {b,
                            (uint64_t)__builtin_popcountll(b) & all,
                            b & x,
                            top ? any | ~all : any,
                            (b + x) & all,
                            x >> 1,
                            b < x,
                            x};
  memcpy(out, words, sizeof words);
}

static void check_width(int width) {
  ws_arena *arena = ws_arena_create();
  const small kernel = {
      .body = ws_arena_printf(arena, body, width),
      .declares = ws_arena_printf(
          arena, "declare i%1$d @llvm.ctpop.i%1$d(i%1$d)\n", width)};
  char *text = small_text(arena, &kernel);
  model_run.name = ws_arena_printf(arena, "i%d", width);
  model_run.input = input;
  model_run.input_bytes = sizeof input;
  model_run.output = sanitized;
  model_run.output_bytes = sizeof sanitized;
  model_check_static(arena, text);
  model_sanitize(arena, text);
  model_simulate(arena, text, simulated);
  for (int lane = 0; lane < LANES; lane++) {
    uint64_t wanted[OUTPUT_WORDS];
    expect(lane, width, wanted);
    for (int i = 0; i < OUTPUT_WORDS; i++)
      if (sanitized[lane][i] != wanted[i] || simulated[lane][i] != wanted[i])
        WS_FAIL("i%d, lane %d, word %d: sanitizer %llx, simulator %llx, want "
                "%llx",
                width, lane, i, (unsigned long long)sanitized[lane][i],
                (unsigned long long)simulated[lane][i],
                (unsigned long long)wanted[i]);
  }
  ws_arena_destroy(arena);
}

WS_TEST(masks_of_a_few_elements) {
  fill_input();
  for (int width = 2; width < 8; width++)
    check_width(width);
}

WS_TEST(masks_of_odd_vectors) {
  static const int widths[] = {9, 12, 17, 24, 31, 33, 48};
  fill_input();
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
    check_width(widths[i]);
}
