/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Medians and intervals against values worked out by hand.
 */
#include "statistics.h"
#include "wavesmith/measure.h"
#include "wavesmith/sim_error.h"
#include "ws_test.h"

static ws_arena *arena;

static ws__interval interval_of(const double *values, int count) {
  arena = ws_arena_create();
  ws__interval out = ws__median_interval(arena, values, count);
  ws_arena_destroy(arena);
  return out;
}

WS_TEST(medians_of_odd_and_even_counts) {
  const double values[] = {5, 1, 4, 2, 3, 9};
  arena = ws_arena_create();
  WS_CHECK_NEAR(ws__median(arena, values, 1), 5, 0);
  WS_CHECK_NEAR(ws__median(arena, values, 2), 3, 0);
  WS_CHECK_NEAR(ws__median(arena, values, 5), 3, 0);
  WS_CHECK_NEAR(ws__median(arena, values, 6), 3.5, 0);
  WS_CHECK_NEAR(values[0], 5, 0); /* left as they were */
  ws_arena_destroy(arena);
}

WS_TEST(one_sample_or_equal_ones_have_no_width) {
  const double same[] = {7, 7, 7, 7};
  ws__interval one = interval_of(same, 1), four = interval_of(same, 4);
  WS_CHECK_NEAR(one.low, 7, 0);
  WS_CHECK_NEAR(one.high, 7, 0);
  WS_CHECK_NEAR(four.median, 7, 0);
  WS_CHECK_NEAR(four.high - four.low, 0, 0);
}

/* Resamples of {1, 2} have the medians 1, 1.5 and 2 with probabilities 1/4,
 * 1/2, 1/4: both ends lie far inside the outer 2.5 %. */
WS_TEST(two_samples_give_their_whole_range) {
  const double two[] = {2, 1};
  ws__interval got = interval_of(two, 2);
  WS_CHECK_NEAR(got.median, 1.5, 0);
  WS_CHECK_NEAR(got.low, 1, 0);
  WS_CHECK_NEAR(got.high, 2, 0);
}

/* Of {1, 2, 3}: 1 is the median of a resample when at least two draws are 1:
 * 3/27 * 2 + 1/27 = 7/27, and so is 3. */
WS_TEST(three_samples_give_their_whole_range) {
  const double three[] = {3, 1, 2};
  ws__interval got = interval_of(three, 3);
  WS_CHECK_NEAR(got.low, 1, 0);
  WS_CHECK_NEAR(got.high, 3, 0);
}

/* Of five zeros and a one: a resample of six has three ones with probability
 * 20 * 5^3 / 6^6 = 5.4 %, then its median is 0.5; and more than three with
 * 406 / 6^6 = 0.9 %, then it is 1. So the upper 2.5 % point is 0.5. */
WS_TEST(even_counts_take_the_mean_of_the_middle_two) {
  const double six[] = {0, 0, 1, 0, 0, 0};
  ws__interval got = interval_of(six, 6);
  WS_CHECK_NEAR(got.median, 0, 0);
  WS_CHECK_NEAR(got.low, 0, 0);
  WS_CHECK_NEAR(got.high, 0.5, 0);
}

/* The median of a resample of 1 to 101 is at most r when at least 51 of its
 * draws are: binomial with p = r/101, 1.7 % at r = 40 and 2.8 % at 41 (summed
 * exactly). So the 2.5 % point is 41, by symmetry the other 61; a thousand
 * resamples may shift either by one. */
WS_TEST(an_interval_agrees_with_the_binomial) {
  double values[101];
  for (int i = 0; i < 101; i++)
    values[i] = (i * 37) % 101 + 1; /* a permutation: 37 and 101 are coprime */
  ws__interval got = interval_of(values, 101);
  WS_CHECK_NEAR(got.median, 51, 0);
  WS_CHECK_NEAR(got.low, 41, 1);
  WS_CHECK_NEAR(got.high, 61, 1);
}

/* Sample times 100 + 3 t at t = 0 1 2 3, in the order X Y Y X: both sums are
 * 209, and a candidate that takes 2 % longer has that ratio. */
WS_TEST(a_drift_within_a_block_cancels) {
  const double candidate[] = {100, 109}, rival[] = {103, 106};
  WS_CHECK_NEAR(ws__block_ratio(candidate, rival), 1, 0);
  const double slower[] = {102, 111.18};
  WS_CHECK_NEAR(ws__block_ratio(slower, rival), 1.02, 1e-12);
}

/* ---- faster, slower, neither ---- */
static int compare(const char *provenance, double ratio, double half,
                   double floor) {
  const ws_measured measured = {.provenance = provenance,
                                .ratio = ratio,
                                .low_ratio = ratio - half,
                                .high_ratio = ratio + half};
  return ws_measured_compare(&measured, floor);
}

WS_TEST(a_card_goes_by_interval_and_noise) {
  static const char card[] = "hip:AMD Instinct MI300X";
  WS_CHECK_INT(compare(card, 0.98, 0.01, 0.005), -1);
  WS_CHECK_INT(compare(card, 1.02, 0.01, 0.005), 1);
  WS_CHECK_INT(compare(card, 0.98, 0.03, 0.005), 0); /* the interval has 1 */
  WS_CHECK_INT(compare(card, 0.98, 0.01, 0.03), 0);  /* within the noise */
}

WS_TEST(a_simulator_goes_by_what_its_model_can_tell) {
  char name[64];
  snprintf(name, sizeof name, "sim:gfx942-model-%d:MI300X", ws_sim_error_model);
  const double equal = ws_sim_error_equal(name);
  WS_CHECK(equal > 0);
  WS_CHECK_INT(compare(name, 1 + equal / 2, 0, 0), 0);
  WS_CHECK_INT(compare(name, 1 / (1 + equal / 2), 0, 0), 0);
  WS_CHECK_INT(compare(name, 1 + 2 * equal, 0, 0), 1);
  WS_CHECK_INT(compare(name, 1 / (1 + 2 * equal), 0, 0), -1);
  /* an older one, whose error is not known, as before */
  WS_CHECK_INT(compare("sim:gfx942-model-0:MI300X", 1 + equal / 2, 0, 0), 1);
}
