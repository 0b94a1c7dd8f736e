/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * wavesmith/correction.h against numbers worked out by hand.
 */
#include "../unit/ws_test.h"

#include "wavesmith/correction.h"

#include <math.h>

/* e = ln measured, as predicted is 1. */
static ws_compared_row row(double e, const double *features) {
  return (ws_compared_row){"g", "", exp(e), 1, features};
}

/* Features (-1,-1) (1,1) (-1,1) (1,-1): mean 0, deviation 1, uncorrelated. e =
 * .1 + .2 x + .05 y, so with penalty 1 weights are halved: .1 and .025. */
static const double square[4][2] = {{-1, -1}, {1, 1}, {-1, 1}, {1, -1}};

WS_TEST(ridge_shrinks_by_one_plus_penalty) {
  ws_compared_row rows[4];
  ws_correction fit;
  for (int i = 0; i < 4; i++)
    rows[i] = row(.1 + .2 * square[i][0] + .05 * square[i][1], square[i]);
  ws_correction_fit(rows, 4, 2, 1, &fit);
  WS_CHECK_NEAR(fit.offset, .1, 1e-12);
  WS_CHECK_NEAR(fit.weight[0], .1, 1e-12);
  WS_CHECK_NEAR(fit.weight[1], .025, 1e-12);
  WS_CHECK_NEAR(ws_correction_factor(&fit, square[0]), exp(-.025), 1e-12);
}

/* x -1 -1 1 1 twice over, correlated wholly: (1 1; 1 1) + I has the inverse
 * (2 -1; -1 2) / 3, with b = (.3, .3) the weights are .1 each. A third feature
 * is constant. */
static const double twins[4][3] = {
    {-1, -2, 5}, {-1, -2, 5}, {1, 2, 5}, {1, 2, 5}};

WS_TEST(features_that_say_the_same_share_it) {
  ws_compared_row rows[4];
  ws_correction fit;
  for (int i = 0; i < 4; i++)
    rows[i] = row(.3 * twins[i][0], twins[i]);
  ws_correction_fit(rows, 4, 3, 1, &fit);
  WS_CHECK_NEAR(fit.weight[0], .1, 1e-12);
  WS_CHECK_NEAR(fit.weight[1], .1, 1e-12);
  WS_CHECK_NEAR(fit.weight[2], 0, 0);
}

WS_TEST(a_factor_is_at_most_two) {
  const ws_correction up = {.offset = 3}, down = {.offset = -3};
  WS_CHECK_NEAR(ws_correction_factor(&up, NULL), 2, 1e-12);
  WS_CHECK_NEAR(ws_correction_factor(&down, NULL), .5, 1e-12);
}

/* One factor for all, e = .1 .1 of a, .4 of b, .2 of c: a gets (.4 + .2) / 2,
 * b (.1 + .1 + .2) / 3, c (.1 + .1 + .4) / 3. No row has a say in its own. */
WS_TEST(a_label_is_corrected_by_the_others) {
  static const double none[1];
  static const char *const labels[] = {"a", "b", "a", "c"};
  const ws_compared_row rows[] = {row(.1, none), row(.4, none), row(.1, none),
                                  row(.2, none)};
  static const double want[] = {.3, .4 / 3, .3, .2};
  ws_compared_row out[4];
  ws_arena *arena = ws_arena_create();
  WS_CHECK(ws_correction_left_out(arena, rows, labels, 4, 0, out));
  for (int i = 0; i < 4; i++)
    WS_CHECK_NEAR(log(out[i].predicted_us), want[i], 1e-12);
  ws_arena_destroy(arena);
}

/* A law that holds for all labels is learned, and the least penalty taken: with
 * four labels of the same square weights are .2 / 1.01 and .05 / 1.01. */
WS_TEST(a_law_that_holds_is_kept) {
  static const char *const names[] = {"a", "b", "c", "d"};
  ws_compared_row rows[16], out[16];
  const char *labels[16];
  for (int i = 0; i < 16; i++) {
    labels[i] = names[i / 4];
    rows[i] =
        row(.2 * square[i % 4][0] + .05 * square[i % 4][1], square[i % 4]);
  }
  ws_arena *arena = ws_arena_create();
  WS_CHECK(ws_correction_left_out(arena, rows, labels, 16, 2, out));
  WS_CHECK_NEAR(log(out[1].predicted_us), .25 / 1.01, 1e-12);
  ws_arena_destroy(arena);
}

WS_TEST(one_label_cannot_be_left_out) {
  static const char *const labels[] = {"a", "a"};
  static const double none[1];
  const ws_compared_row rows[] = {row(.1, none), row(.2, none)};
  ws_compared_row out[2];
  ws_arena *arena = ws_arena_create();
  WS_CHECK(!ws_correction_left_out(arena, rows, labels, 2, 0, out));
  ws_arena_destroy(arena);
}
