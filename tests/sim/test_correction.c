/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * wavesmith/correction.h against numbers worked out by hand.
 */
#include "../unit/ws_test.h"

#include "wavesmith/correction.h"

#include <math.h>

/* e = ln measured, as predicted is 1. */
static ws_compared_row row(const char *group, double e,
                           const double *features) {
  return (ws_compared_row){group, "", exp(e), 1, features};
}

/* One feature counts here. */
static const double at[3][WS_SIM_FEATURES] = {{0}, {100}, {200}};

/* .1 .2 .6 have the mean .3; two rows are no group. Of three rows of a part
 * each weighs 1/3. */
WS_TEST(ratios_are_among_rows_that_compete) {
  static const char *const parts[] = {"p", "q", "p", "q", "p"};
  static const double want[] = {-.2, -.1, .3};
  const ws_compared_row rows[] = {row("g", .1, at[0]), row("h", .9, at[0]),
                                  row("g", .2, at[1]), row("h", .7, at[1]),
                                  row("g", .6, at[2])};
  ws_sim_correction got;
  ws_arena *arena = ws_arena_create();
  ws_correction_take(arena, rows, parts, 5, &got);
  WS_CHECK(got.count == 3);
  for (int i = 0; i < 3; i++) {
    WS_CHECK_NEAR(got.rows[i].ln_ratio, want[i], 1e-12);
    WS_CHECK_NEAR(got.rows[i].weight, 1. / 3, 1e-12);
    WS_CHECK_NEAR(got.rows[i].features[0], at[i][0], 0);
  }
  ws_arena_destroy(arena);
}

/* Six rows that weigh 1/3 each, two of 0 and four of 300: the mean is 200, the
 * variance (2 200^2 + 4 100^2) / 6 = 20000. Another feature is always 7. */
WS_TEST(scale_is_the_weighted_deviation) {
  static const double low[WS_SIM_FEATURES] = {0, 7};
  static const double high[WS_SIM_FEATURES] = {300, 7};
  static const char *const parts[] = {"p", "p", "p", "q", "q", "q"};
  const ws_compared_row rows[] = {row("g", 0, low),  row("g", 0, low),
                                  row("g", 0, high), row("h", 0, high),
                                  row("h", 0, high), row("h", 0, high)};
  ws_sim_correction got;
  ws_arena *arena = ws_arena_create();
  ws_correction_take(arena, rows, parts, 6, &got);
  WS_CHECK_NEAR(got.scale[0], sqrt(20000), 1e-9);
  WS_CHECK_NEAR(got.scale[1], .05, 1e-12);
  ws_arena_destroy(arena);
}

/* A part that has twice the rows counts as much: p has 0 six times, q 300
 * thrice, so the mean is 150 and so is the deviation. */
WS_TEST(a_part_counts_as_one) {
  static const double low[WS_SIM_FEATURES] = {0}, high[WS_SIM_FEATURES] = {300};
  ws_compared_row rows[9];
  const char *parts[9];
  for (int i = 0; i < 9; i++) {
    rows[i] = row(i < 6 ? "g" : "h", 0, i < 6 ? low : high);
    parts[i] = i < 6 ? "p" : "q";
  }
  ws_sim_correction got;
  ws_arena *arena = ws_arena_create();
  ws_correction_take(arena, rows, parts, 9, &got);
  WS_CHECK_NEAR(got.scale[0], 150, 1e-9);
  ws_arena_destroy(arena);
}

/* Four labels of one law and any scale: -.2 at 0, 0 at 100, .2 at 200. These
 * are 1.2 deviations apart, d^2 = 1.5 / 14, which is far at the shortest reach:
 * exp(-1.5 / 14 / .005) = 5e-10. So a row hears the like of three others, each
 * 1/3, together 1, and the least doubt, .01. */
enum { LABELS = 4, ROWS = 3 * LABELS };
static const char *const names[] = {"a", "b", "c", "d"};

static void one_law(ws_compared_row rows[ROWS], const char *labels[ROWS]) {
  for (int i = 0; i < ROWS; i++) {
    labels[i] = names[i / 3];
    rows[i] = row(names[i / 3], .2 * (i % 3 - 1) + i / 3, at[i % 3]);
  }
}

/* From row `first` on, with its label left out. */
static void expect_the_law(const ws_compared_row *rows,
                           const char *const *labels, int first) {
  ws_compared_row out[ROWS];
  ws_arena *arena = ws_arena_create();
  WS_CHECK(ws_correction_left_out(arena, WS_CORRECTION_LEARNED, rows, labels,
                                  labels, ROWS, out));
  for (int i = first; i < ROWS; i++)
    WS_CHECK_NEAR(log(out[i].predicted_us), .2 * (i % 3 - 1) / 1.01, 1e-8);
  ws_arena_destroy(arena);
}

WS_TEST(a_law_that_holds_is_learned) {
  ws_compared_row rows[ROWS];
  const char *labels[ROWS];
  one_law(rows, labels);
  expect_the_law(rows, labels, 0);
}

/* Rows whose figures are alike are one: twelve become three, each of four of
 * weight 1/3. */
WS_TEST(rows_that_are_alike_are_one) {
  ws_compared_row rows[ROWS];
  const char *labels[ROWS];
  ws_sim_correction got;
  ws_arena *arena = ws_arena_create();
  one_law(rows, labels);
  ws_correction_learn(arena, rows, labels, ROWS, &got);
  WS_CHECK(got.count == 3);
  for (int i = 0; i < 3; i++) {
    WS_CHECK_NEAR(got.rows[i].ln_ratio, .2 * (i - 1), 1e-12);
    WS_CHECK_NEAR(got.rows[i].weight, 4. / 3, 1e-12);
    WS_CHECK_NEAR(got.rows[i].features[0], at[i][0], 1e-9);
  }
  ws_arena_destroy(arena);
}

/* At 0 -.2 and -.1, at 100 .2 and .1. */
WS_TEST(what_is_one_says_the_mean) {
  static const double e[] = {-.2, .2, 0, -.1, .1, 0};
  static const char *const labels[] = {"a", "a", "a", "b", "b", "b"};
  static const double want[] = {-.15, .15, 0};
  ws_compared_row rows[6];
  ws_sim_correction got;
  ws_arena *arena = ws_arena_create();
  for (int i = 0; i < 6; i++)
    rows[i] = row(labels[i], e[i], at[i % 3]);
  ws_correction_learn(arena, rows, labels, 6, &got);
  WS_CHECK(got.count == 3);
  for (int i = 0; i < 3; i++)
    WS_CHECK_NEAR(got.rows[i].ln_ratio, want[i], 1e-12);
  ws_arena_destroy(arena);
}

/* The last label's measured times have no say in its own correction. */
WS_TEST(a_label_is_corrected_by_the_others) {
  ws_compared_row rows[ROWS];
  const char *labels[ROWS];
  one_law(rows, labels);
  for (int i = ROWS - 3; i < ROWS; i++)
    rows[i].measured_us = 1 / rows[i].measured_us;
  expect_the_law(rows, labels, ROWS - 3);
}

/* Where parts contradict each other nothing is believed: the shortest reach
 * and the most doubt. */
WS_TEST(a_law_that_does_not_hold_is_doubted) {
  ws_compared_row rows[ROWS];
  const char *labels[ROWS];
  ws_sim_correction got;
  ws_arena *arena = ws_arena_create();
  one_law(rows, labels);
  for (int i = ROWS / 2; i < ROWS; i++)
    rows[i].measured_us = 1 / rows[i].measured_us;
  ws_correction_learn(arena, rows, labels, ROWS, &got);
  WS_CHECK_NEAR(got.doubt, 1, 0);
  ws_arena_destroy(arena);
}

/* Two parts, each of two groups that agree, which say the opposite: what a part
 * says of itself is no proof. */
WS_TEST(a_part_does_not_prove_itself) {
  static const double other[3][WS_SIM_FEATURES] = {
      {0, 100}, {100, 100}, {200, 100}};
  static const char *const groups[] = {"a", "b", "c", "d"};
  ws_compared_row rows[ROWS];
  const char *parts[ROWS];
  ws_sim_correction got;
  ws_arena *arena = ws_arena_create();
  for (int i = 0; i < ROWS; i++) {
    const bool first = i < ROWS / 2;
    parts[i] = first ? "p" : "q";
    rows[i] = row(groups[i / 3], (first ? .2 : -.2) * (i % 3 - 1),
                  first ? at[i % 3] : other[i % 3]);
  }
  ws_correction_learn(arena, rows, parts, ROWS, &got);
  WS_CHECK_NEAR(got.doubt, 1, 0);
  WS_CHECK_NEAR(got.reach, .05, 0);
  ws_arena_destroy(arena);
}

/* A label far from all others is left alone, whatever they say. */
WS_TEST(what_is_unlike_all_is_left_alone) {
  static const double far[WS_SIM_FEATURES] = {9000};
  ws_compared_row rows[ROWS], out[ROWS];
  const char *labels[ROWS];
  ws_arena *arena = ws_arena_create();
  one_law(rows, labels);
  for (int i = ROWS - 3; i < ROWS; i++)
    rows[i].features = far;
  WS_CHECK(ws_correction_left_out(arena, WS_CORRECTION_LEARNED, rows, labels,
                                  labels, ROWS, out));
  for (int i = ROWS - 3; i < ROWS; i++)
    WS_CHECK_NEAR(out[i].predicted_us, 1, 1e-12);
  ws_arena_destroy(arena);
}

/* One factor for all, e = .1 .1 of a, .4 of b, .2 of c: a gets (.4 + .2) / 2,
 * b (.1 + .1 + .2) / 3, c (.1 + .1 + .4) / 3. */
WS_TEST(one_factor_is_the_others_mean) {
  static const char *const labels[] = {"a", "b", "a", "c"};
  const ws_compared_row rows[] = {row("g", .1, at[0]), row("g", .4, at[0]),
                                  row("g", .1, at[0]), row("g", .2, at[0])};
  static const double want[] = {.3, .4 / 3, .3, .2};
  ws_compared_row out[4];
  ws_arena *arena = ws_arena_create();
  WS_CHECK(ws_correction_left_out(arena, WS_CORRECTION_FACTOR, rows, labels,
                                  labels, 4, out));
  for (int i = 0; i < 4; i++)
    WS_CHECK_NEAR(log(out[i].predicted_us), want[i], 1e-12);
  ws_arena_destroy(arena);
}

WS_TEST(one_label_cannot_be_left_out) {
  static const char *const labels[] = {"a", "a"};
  const ws_compared_row rows[] = {row("g", .1, at[0]), row("g", .2, at[0])};
  ws_compared_row out[2];
  ws_arena *arena = ws_arena_create();
  WS_CHECK(!ws_correction_left_out(arena, WS_CORRECTION_FACTOR, rows, labels,
                                   labels, 2, out));
  ws_arena_destroy(arena);
}

WS_TEST(nothing_that_competes_corrects_nothing) {
  static const char *const labels[] = {"a", "b"};
  const ws_compared_row rows[] = {row("g", .1, at[0]), row("h", .2, at[0])};
  ws_compared_row out[2];
  ws_arena *arena = ws_arena_create();
  WS_CHECK(ws_correction_left_out(arena, WS_CORRECTION_LEARNED, rows, labels,
                                  labels, 2, out));
  WS_CHECK_NEAR(out[0].predicted_us, 1, 0);
  WS_CHECK_NEAR(out[1].predicted_us, 1, 0);
  ws_arena_destroy(arena);
}
