/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is read from tables of the model's error, on tables made up here, of
 * which every answer is seen by eye.
 */
#include "ws_test.h"

/* In place of the shipped rows; a "model 7". */
#define WS_MODEL_ERROR_ROWS_H
#define WS_MODEL_ERROR_VERSION 7
#define WS_MODEL_ERROR_NOISE 0.01
#define WS_MODEL_ERROR_BOUNDS(X)                                               \
  X(lds, 19, 1.5, 0.5) X(hbm, 20, 1.0, 0.1) X(all, 39, 1.2, 0.3)
/* 3 of 4 are right from 10 % on; the second row is right by luck. */
#define WS_MODEL_ERROR_PAIRS(X)                                                \
  X(0, 0.02, 10, 5, 9)                                                         \
  X(0.02, 0.05, 10, 8, 3)                                                      \
  X(0.05, 0.1, 100, 74, 2) X(0.1, 0.5, 40, 30, 1) X(0.5, INFINITY, 4, 4, 0)
#include "../../runtime/sim/error/model_error.c"

static const char mine[] = "sim:gfx942-model-7:MI300X";

WS_TEST(a_class_of_few_rows_has_the_figure_of_all) {
  WS_CHECK_NEAR(ws_sim_error_of_bound("lds"), 0.3, 0);
  WS_CHECK_NEAR(ws_sim_error_of_bound("hbm"), 0.1, 0);
  WS_CHECK_NEAR(ws_sim_error_of_bound("something else"), 0.3, 0);
}

WS_TEST(only_times_of_this_model_have_it) {
  WS_CHECK_NEAR(ws_sim_error_of(mine, "hbm"), 0.1, 0);
  WS_CHECK_NEAR(ws_sim_error_equal("sim:gfx942-model-7:MI300A"), 0.1, 0);
  static const char *const others[] = {"sim:gfx942-model-6:MI300X",
                                       "sim:gfx942-model-70:MI300X",
                                       "hip:AMD Instinct MI300X",
                                       "cuda:NVIDIA H200",
                                       "estimate:bound-model-1:MI300X",
                                       "table:sim:gfx942-model-7:MI300X",
                                       "simulator sim:gfx942-model-7:x",
                                       "",
                                       NULL};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    WS_CHECK_NEAR(ws_sim_error_of(others[i], "hbm"), 0, 0);
    WS_CHECK_NEAR(ws_sim_error_equal(others[i]), 0, 0);
    WS_CHECK(!ws_sim_error_are_equal(others[i], 10, 10));
  }
}

WS_TEST(equal_is_below_the_edge_from_which_three_of_four_are_right) {
  WS_CHECK(ws_sim_error_are_equal(mine, 10, 10));
  WS_CHECK(ws_sim_error_are_equal(mine, 10, 10.9));
  WS_CHECK(ws_sim_error_are_equal(mine, 10.9, 10));
  WS_CHECK(!ws_sim_error_are_equal(mine, 10, 11.1));
  WS_CHECK(!ws_sim_error_are_equal(mine, 11.1, 10));
}

/* 5 of 10 are right below 2 %, 8 of 10 beyond. */
WS_TEST(a_coin_is_below_the_edge_from_which_three_of_five_are_right) {
  WS_CHECK_NEAR(ws_sim_error_coin(mine), 0.02, 0);
  WS_CHECK_NEAR(ws_sim_error_coin("cuda:NVIDIA H200"), 0, 0);
  WS_CHECK_NEAR(ws_sim_error_coin(NULL), 0, 0);
}

WS_TEST(pairs_are_found_by_their_distance) {
  WS_CHECK_INT(ws_sim_error_pairs_of(10, 10).left_out, 9);
  WS_CHECK_INT(ws_sim_error_pairs_of(10, 10.3).right, 8);
  WS_CHECK_INT(ws_sim_error_pairs_of(10.8, 10).right, 74);
  WS_CHECK_INT(ws_sim_error_pairs_of(10, 12).right, 30);
  WS_CHECK_INT(ws_sim_error_pairs_of(10, 1e9).right, 4);
  const ws_sim_error_pairs equal = ws_sim_error_pairs_below(0.1);
  WS_CHECK_INT(equal.pairs, 120);
  WS_CHECK_INT(equal.right, 87);
  WS_CHECK_INT(equal.left_out, 14);
}

WS_TEST(in_words) {
  ws_arena *arena = ws_arena_create();
  WS_CHECK_TEXT(ws_sim_error_text(arena, 0.123), "+-12 %");
  WS_CHECK_TEXT(ws_sim_error_text(arena, 0), "");
  WS_CHECK_TEXT(
      ws_sim_error_pairs_text(arena, ws_sim_error_pairs_of(10, 10.8)),
      "pairs 5 to 10 % apart were measured in this order in 74 % of 100");
  WS_CHECK_TEXT(
      ws_sim_error_pairs_text(arena, ws_sim_error_pairs_of(10, 99)),
      "pairs more than 50 % apart were measured in this order in 100 % of 4");
  WS_CHECK_TEXT(
      ws_sim_error_pairs_text(arena, ws_sim_error_pairs_below(0.1)),
      "pairs less than 10 % apart were measured in this order in 72 % of 120");
  ws_arena_destroy(arena);
}
