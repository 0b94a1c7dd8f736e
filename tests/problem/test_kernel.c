/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Results beside those of a kernel that is the reference: the bound that
 * problem.h states, by hand.
 */
#include "definition.h"

enum { ROWS = 2, COLUMNS = 4, COUNT = ROWS * COLUMNS };

/* made() without a reference, of that output, beside such a kernel. */
static const ws_problem *beside(const ws_reference_kernel *kernel, ws_type type,
                                const char *terms) {
  ws_problem_definition d = made();
  d.reference = NULL;
  d.terms = terms;
  d.args[MADE_Y].type = type;
  const ws_problem *problem = opened(&d);
  WS_CHECK(!ws_problem_is_comparable(problem));
  ws_problem_compare_with(problem, kernel);
  WS_CHECK(ws_problem_is_comparable(problem));
  return problem;
}

static ws_comparison compare(const ws_problem *problem, const void *want,
                             const void *got) {
  const ws_shape shape = sized(problem, ROWS, COLUMNS);
  const void *reference[WS_PROBLEM_MAX_ARGS] = {[MADE_Y] = want};
  const void *results[WS_PROBLEM_MAX_ARGS] = {[MADE_Y] = got};
  double value[COUNT], error[COUNT];
  ws_comparison found, other;
  ws_place places[COUNT];
  ws_problem_reference(problem, &shape, 0, reference, 0, ROWS, value, error);
  ws_problem_compare(problem, &shape, 0, results, 0, ROWS, value, error,
                     &found);
  WS_CHECK_INT(found.checked, COUNT);
  for (int i = 0; i < COUNT; i++)
    places[i] = (ws_place){MADE_Y, i};
  ws_problem_compare_at(problem, &shape, 0, reference, results, places, COUNT,
                        &other);
  WS_CHECK_INT(other.wrong, found.wrong);
  return found;
}

static const ws_reference_kernel unstated = {
    .file = "naive.ll", .relative = -1, .absolute = -1};

static bool passes_f32(const ws_reference_kernel *kernel, const char *terms,
                       float want, float got) {
  float wanted[COUNT] = {0}, had[COUNT] = {0};
  const ws_problem *problem = beside(kernel, WS_F32, terms);
  wanted[5] = want;
  had[5] = got;
  const ws_comparison found = compare(problem, wanted, had);
  opened_count--; /* its arena stays */
  if (found.wrong)
    WS_CHECK_INT(found.first.element, 5);
  return !found.wrong;
}

/* terms 8: 2 (8 / 8 + 32) 2^-24 and a rounding, 2^-24, for each: 68 2^-24. */
WS_TEST(by_default_both_round_and_both_lose) {
  WS_CHECK(passes_f32(&unstated, "8", 1, 1));
  WS_CHECK(passes_f32(&unstated, "8", 1, 1 + 0x1p-18F)); /* 64 2^-24 */
  WS_CHECK(!passes_f32(&unstated, "8", 1, 1 + 0x1p-18F + 0x1p-21F)); /* 72 */
  WS_CHECK(!passes_f32(&unstated, "8", 1, 1 - 0x1p-18F - 0x1p-21F));
  /* terms 40: 2 (5 + 32) + 2 = 76 */
  WS_CHECK(passes_f32(&unstated, "40", 1, 1 + 0x1p-18F + 0x1p-21F));
}

WS_TEST(what_is_stated_takes_its_place) {
  const ws_reference_kernel hundredth = {.relative = 0.01, .absolute = 0};
  const ws_reference_kernel tenth = {.relative = 0, .absolute = 0.125};
  WS_CHECK(passes_f32(&hundredth, "1", -200, -198.1F));
  WS_CHECK(!passes_f32(&hundredth, "1", -200, -197.9F));
  WS_CHECK(!passes_f32(&hundredth, "1", 0, 1e-6F));
  WS_CHECK(passes_f32(&tenth, "1", 0, 0.124F));
  WS_CHECK(!passes_f32(&tenth, "1", 0, 0.126F));
  WS_CHECK(!passes_f32(&tenth, "1", 100, 100.2F));
}

/* Half a unit of bf16 at 1 is 2^-8, of each of the two. */
WS_TEST(roundings_of_a_narrow_type_are_two) {
  const ws_problem *problem = beside(&unstated, WS_BF16, "1");
  uint16_t want[COUNT] = {0x3f80}, got[COUNT] = {0x3f81};
  WS_CHECK_INT(compare(problem, want, got).wrong, 0); /* 1 + 2^-7 */
  got[0] = 0x3f82;
  WS_CHECK_INT(compare(problem, want, got).wrong, 1); /* 1 + 2^-6 */
}

WS_TEST(integers_are_exact_unless_it_is_stated) {
  const ws_reference_kernel one = {.relative = 0, .absolute = 1};
  int32_t want[COUNT] = {1000000}, got[COUNT] = {1000001};
  WS_CHECK_INT(compare(beside(&unstated, WS_I32, "1"), want, got).wrong, 1);
  WS_CHECK_INT(compare(beside(&unstated, WS_I32, "1"), want, want).wrong, 0);
  WS_CHECK_INT(compare(beside(&one, WS_I32, "1"), want, got).wrong, 0);
}

WS_TEST(what_is_not_finite_is_the_same) {
  const float largest = 0x1.fffffep127F;
  WS_CHECK(passes_f32(&unstated, "1", INFINITY, INFINITY));
  WS_CHECK(passes_f32(&unstated, "1", INFINITY, largest));
  WS_CHECK(!passes_f32(&unstated, "1", INFINITY, -INFINITY));
  WS_CHECK(!passes_f32(&unstated, "1", INFINITY, 1));
  WS_CHECK(!passes_f32(&unstated, "1", INFINITY, NAN));
  WS_CHECK(passes_f32(&unstated, "1", NAN, NAN));
  WS_CHECK(!passes_f32(&unstated, "1", NAN, 1));
  WS_CHECK(!passes_f32(&unstated, "1", NAN, INFINITY));
  WS_CHECK(!passes_f32(&unstated, "1", 1, NAN));
  WS_CHECK(!passes_f32(&unstated, "1", 1, INFINITY));
}

WS_TEST(the_tolerance_is_said) {
  ws_arena *arena = ws_arena_create();
  const ws_reference_kernel stated = {.relative = 0.01, .absolute = 1e-5};
  WS_CHECK_TEXT(ws_problem_tolerance_text(arena, beside(&stated, WS_F32, "1")),
                "0.01 |want| + 1e-05");
  WS_CHECK_TEXT(
      ws_problem_tolerance_text(arena, beside(&unstated, WS_F32, "m * n")),
      "2 (m * n / 8 + 32) 2^-24 |want|");
  ws_arena_destroy(arena);
}
