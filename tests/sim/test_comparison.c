/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * wavesmith/comparison.h against numbers worked out by hand.
 */
#include "../unit/ws_test.h"

#include "wavesmith/comparison.h"

#include <math.h>
#include <string.h>

/* Two shapes. a: ranks 1 2 3 4 beside 1 2 4 3, Spearman 1 - 6 * 2 / 60 = 0.8;
 * the least predicted is the best. b: predicted 1.5 1.5 3 beside 3 1 2: less
 * their mean -.5 -.5 1 and 1 -1 0, which sums to 0; the first of the two least
 * predicted is taken, three times the best. The feature is e itself, and 7. */
static double features[7][2];
static ws_compared_row rows[] = {
    {"a", "x", 2, 1, features[0]}, {"b", "y", 3, 1, features[1]},
    {"a", "x", 4, 2, features[2]}, {"a", "x", 8, 3, features[3]},
    {"b", "y", 1, 1, features[4]}, {"a", "x", 6, 4, features[5]},
    {"b", "y", 2, 2, features[6]}};
enum { COUNT = sizeof rows / sizeof rows[0] };

static void compare(ws_arena *arena, ws_compared *out) {
  static const char *const names[] = {"same", "error"};
  for (int i = 0; i < COUNT; i++) {
    features[i][0] = 7;
    features[i][1] = log(rows[i].measured_us / rows[i].predicted_us);
  }
  ws_compare_times(arena, rows, COUNT, names, 2, out);
}

WS_TEST(ranks_and_regret_are_of_a_group) {
  ws_arena *arena = ws_arena_create();
  ws_compared c;
  compare(arena, &c);
  WS_CHECK_INT(c.group_count, 2);
  WS_CHECK(!strcmp(c.groups[1].name, "b"));
  WS_CHECK_NEAR(c.groups[0].spearman, 0.8, 1e-12);
  WS_CHECK_NEAR(c.groups[0].regret, 1, 1e-12);
  WS_CHECK_NEAR(c.groups[0].ratio, pow(2 * 2 * 8.0 / 3 * 1.5, 0.25), 1e-12);
  WS_CHECK_NEAR(c.groups[1].spearman, 0, 1e-12);
  WS_CHECK_NEAR(c.groups[1].regret, 3, 1e-12);
  WS_CHECK_NEAR(c.median_spearman, 0.4, 1e-12);
  WS_CHECK_NEAR(c.worst_spearman, 0, 1e-12);
  WS_CHECK_NEAR(c.geomean_regret, sqrt(3), 1e-12);
  WS_CHECK_NEAR(c.worst_regret, 3, 1e-12);
  ws_arena_destroy(arena);
}

/* a: 33 % apart, wrong; 50 %, right; twice (100 %), right twice; more, right
 * twice. b: 1 and 1, no opinion; 1 and 2, once wrong and once right. */
WS_TEST(pairs_are_counted_by_distance) {
  static const struct {
    int count;
    double right;
  } wanted[WS_COMPARED_DISTANCES] = {{0, 0}, {0, 0}, {0, 0}, {0, 0},
                                     {2, 1}, {4, 3}, {2, 2}};
  ws_arena *arena = ws_arena_create();
  ws_compared c;
  compare(arena, &c);
  for (int i = 0; i < WS_COMPARED_DISTANCES; i++) {
    WS_CHECK_INT(c.pairs[i].count, wanted[i].count);
    WS_CHECK_NEAR(c.pairs[i].right, wanted[i].right, 1e-12);
  }
  ws_arena_destroy(arena);
}

/* y: ln 3, 0, 0. */
WS_TEST(errors_are_of_a_class) {
  ws_arena *arena = ws_arena_create();
  ws_compared c;
  compare(arena, &c);
  WS_CHECK_INT(c.class_count, 2);
  WS_CHECK(!strcmp(c.classes[0].name, "x"));
  WS_CHECK_INT(c.classes[1].count, 3);
  WS_CHECK_NEAR(c.classes[1].ratio, pow(3, 1.0 / 3), 1e-12);
  WS_CHECK_NEAR(c.classes[1].sigma, log(3) / sqrt(3), 1e-12);
  WS_CHECK_NEAR(c.ratio, pow(2 * 2 * 8.0 / 3 * 1.5 * 3, 1.0 / 7), 1e-12);
  WS_CHECK_NEAR(c.error, (1 + 1 + 5.0 / 3 + 0.5 + 2 + 0 + 0) / 7, 1e-12);
  WS_CHECK(c.error_beside_scale < c.error);
  ws_arena_destroy(arena);
}

WS_TEST(residual_follows_its_feature) {
  ws_arena *arena = ws_arena_create();
  ws_compared c;
  compare(arena, &c);
  WS_CHECK_INT(c.feature_count, 2);
  WS_CHECK(!strcmp(c.features[0].name, "error"));
  WS_CHECK_NEAR(c.features[0].within, 1, 1e-12);
  WS_CHECK_NEAR(c.features[0].across, 1, 1e-12);
  WS_CHECK_NEAR(c.features[1].within, 0, 1e-12);
  ws_arena_destroy(arena);
}

WS_TEST(two_rows_have_no_rank) {
  static const double none[1];
  const ws_compared_row two[] = {{"a", "", 1, 2, none}, {"a", "", 2, 1, none}};
  ws_arena *arena = ws_arena_create();
  ws_compared c;
  ws_compare_times(arena, two, 2, NULL, 0, &c);
  WS_CHECK(isnan(c.groups[0].spearman) && isnan(c.median_spearman));
  WS_CHECK_INT(c.ranked, 0);
  WS_CHECK_NEAR(c.ratio, 1, 1e-12);
  WS_CHECK_NEAR(c.error_beside_scale, 1, 1e-12);
  ws_arena_destroy(arena);
}
