/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Additions of two bf16 to a dword of global memory, through the sanitizer and,
 * compiled, through the simulator (global_atomic_pk_add_bf16): each element is
 * the exact sum rounded to nearest, ties to even, denormals kept. The sums are
 * worked out by hand.
 */
#include "model_fixture.h"

enum { LANES = 64 };

/* before + term = sum, as codes; the last place of 1 is 2^-7 (0x3c00). */
static const struct addition {
  uint16_t before, term, sum;
} additions[] = {
    {0x3f80, 0x3f80, 0x4000}, /* 1 + 1 = 2 */
    {0x4120, 0xc100, 0x4000}, /* 10 - 8 = 2 */
    {0x3fc0, 0x4040, 0x4090}, /* 1.5 + 3 = 4.5 */
    {0x3f80, 0x3b80, 0x3f80}, /* 1 + 2^-8, a tie: even is 1 */
    {0x3f81, 0x3b80, 0x3f82}, /* 1 + 2^-7 + 2^-8, a tie: even is 1 + 2^-6 */
    {0x3f80, 0x3b81, 0x3f81}, /* just over the tie */
    {0x3f81, 0x3b7f, 0x3f81}, /* just below it */
    {0x3f80, 0x3bc0, 0x3f81}, /* 1 + 1.5 2^-8: up, which cutting would not */
    {0xbf80, 0xbbc0, 0xbf81}, /* the same below zero */
    {0xbf80, 0xbb80, 0xbf80},
    {0xbf81, 0xbb80, 0xbf82},
    {0x3f80, 0xbb80, 0x3f7f}, /* 1 - 2^-8 = 1.9921875 / 2, exact */
    {0x3f80, 0xbb00, 0x3f80}, /* 1 - 2^-9, a tie: even is 1 */
    {0x4380, 0x3f80, 0x4380}, /* 256 + 1, a tie: even is 256 */
    {0x4381, 0x3f80, 0x4382}, /* 258 + 1: 260 */
    {0x3f80, 0x4380, 0x4380}, /* either may be the large one */
    {0x3f80, 0xbf80, 0x0000}, /* 1 - 1 = +0 */
    {0x8000, 0x0000, 0x0000}, /* -0 + 0 = +0 */
    {0x8000, 0x8000, 0x8000}, /* -0 - 0 = -0 */
    {0x0001, 0x0001, 0x0002}, /* 2^-133 twice */
    {0x0080, 0x8001, 0x007f}, /* 2^-126 - 2^-133 */
    {0x0000, 0x8001, 0x8001},
    {0x7f7f, 0x7b00, 0x7f80}, /* largest + half its last place: infinity */
    {0x7f7f, 0x7aff, 0x7f7f}, /* less than that: the largest */
    {0xff7f, 0xff7f, 0xff80},
    {0x7f80, 0x3f80, 0x7f80}, /* infinity stays */
};
enum { COUNT = sizeof additions / sizeof *additions };

static const struct addition *addition_of(int element) {
  return &additions[element % COUNT];
}

/* Lanes put what is there before, and add; by words in a's first and second
 * half. */
static const char body[] =
    "  %place = mul i32 %tid, 4\n"
    "  %to = getelementptr i8, ptr addrspace(1) %c, i32 %place\n"
    "  %from = getelementptr i8, ptr addrspace(1) %a, i32 %place\n"
    "  %before = load i32, ptr addrspace(1) %from\n"
    "  %from.2 = getelementptr i8, ptr addrspace(1) %from, i32 256\n"
    "  %terms = load <2 x bfloat>, ptr addrspace(1) %from.2\n"
    "  store i32 %before, ptr addrspace(1) %to\n"
    "  %old = atomicrmw fadd ptr addrspace(1) %to, <2 x bfloat> %terms "
    "syncscope(\"agent\") monotonic, align 4\n"
    "  ret void";

WS_TEST(sums_are_rounded_to_nearest) {
  static uint16_t input[4 * LANES], sanitized[2 * LANES], simulated[2 * LANES];
  ws_arena *arena = ws_arena_create();
  const small kernel = {.body = body};
  char *text = small_text(arena, &kernel);
  /* 2 does not divide COUNT + 1, so that halves of words differ */
  for (int i = 0; i < 2 * LANES; i++) {
    input[i] = addition_of(i + i / COUNT)->before;
    input[2 * LANES + i] = addition_of(i + i / COUNT)->term;
  }
  model_run.name = "atomicrmw fadd <2 x bfloat>";
  model_run.input = input;
  model_run.input_bytes = sizeof input;
  model_run.output = sanitized;
  model_run.output_bytes = sizeof sanitized;
  model_check_static(arena, text);
  model_sanitize(arena, text);
  model_simulate(arena, text, simulated);
  for (int i = 0; i < 2 * LANES; i++) {
    const struct addition *want = addition_of(i + i / COUNT);
    if (sanitized[i] != want->sum || simulated[i] != want->sum)
      WS_FAIL("%04x + %04x: sanitizer %04x, simulator %04x, want %04x",
              want->before, want->term, sanitized[i], simulated[i], want->sum);
  }
  ws_arena_destroy(arena);
}
