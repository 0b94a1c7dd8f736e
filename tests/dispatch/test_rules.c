/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Portfolio and rules on matrices whose best answer is known by hand.
 */
#include "../gemm_shape.h"
#include "synthetic.h"
#include "wavesmith/sim_error.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const ws_problem *problem(void) {
  return ws_problem_find("fp8_gemm_blockscale");
}

static const char *simulated(void) {
  static char name[64];
  snprintf(name, sizeof name, "sim:gfx942-model-%d:MI300X", ws_sim_error_model);
  return name;
}

/* ---- portfolio
 * ----------------------------------------------------------------
 */

/* Column 0 runs everything at 12; 1 is three times faster where it runs at
 * all; 2 is the fastest on shape 1 only; 3 is never of use. */
static double cover_us[] = {
    12, 4,        100, 30, /**/
    12, INFINITY, 6,   30, /**/
    12, 4,        100, 30, /**/
    12, 4,        100, 11, /**/
};
static ws_shape four_shapes[] = {
    GEMM_SIZES(16, 16, 128), GEMM_SIZES(32, 16, 128), GEMM_SIZES(48, 16, 128),
    GEMM_SIZES(64, 16, 128)};
static const ws_matrix cover = {four_shapes, 4, 4, cover_us, "test"};

WS_TEST(portfolio_covers_greedily) {
  int columns[8], count;
  WS_CHECK_INT(ws_portfolio_pick(&cover, 8, columns, &count, NULL), WS_OK);
  WS_CHECK_INT(count, 3);
  WS_CHECK_INT(columns[0], 0); /* the only feasible one that is not slow */
  WS_CHECK_INT(columns[1], 1);
  WS_CHECK_INT(columns[2], 2);
}

WS_TEST(portfolio_stops_at_its_size) {
  int columns[8], count;
  WS_CHECK_INT(ws_portfolio_pick(&cover, 2, columns, &count, NULL), WS_OK);
  WS_CHECK_INT(count, 2);
  WS_CHECK_INT(columns[1], 1);
}

WS_TEST(portfolio_needs_a_column_for_every_shape) {
  double us[] = {1, INFINITY, INFINITY, 1};
  const ws_matrix holes = {four_shapes, 2, 2, us, "test"};
  int columns[8], count;
  ws_diag diag = {""};
  WS_CHECK_INT(ws_portfolio_pick(&holes, 8, columns, &count, &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "fallback");
}

/* Against a search over all columns for each step. */
WS_TEST(portfolio_steps_are_the_best_steps) {
  enum { SHAPES = 40, COLUMNS = 12 };
  ws_rng rng;
  ws_rng_init(&rng, 7);
  ws_shape shapes[SHAPES] = {{.dims = NULL}};
  double us[SHAPES * COLUMNS];
  for (int i = 0; i < SHAPES * COLUMNS; i++)
    us[i] = exp(2 * ws_rng_double(&rng));
  const ws_matrix matrix = {shapes, SHAPES, COLUMNS, us, "test"};
  int columns[COLUMNS], count;
  WS_CHECK_INT(ws_portfolio_pick(&matrix, COLUMNS, columns, &count, NULL),
               WS_OK);
  double product_before = INFINITY;
  for (int step = 0; step < count; step++) {
    double chosen = 0, best = INFINITY;
    for (int c = 0; c < COLUMNS; c++) {
      double sum = 0;
      for (int s = 0; s < SHAPES; s++) {
        double least = us[s * COLUMNS + c];
        for (int i = 0; i < step; i++)
          least = fmin(least, us[s * COLUMNS + columns[i]]);
        sum += log(least);
      }
      best = fmin(best, sum);
      if (c == columns[step])
        chosen = sum;
    }
    WS_CHECK_NEAR(chosen, best, 1e-9);
    WS_CHECK(chosen < product_before);
    product_before = chosen;
  }
}

/* ---- times that the simulator cannot tell apart ---- */
/* The first column is the best on three shapes and beyond the error on one, the
 * second is equal to the best everywhere, the third is of no use. */
static void fill_robust(double us[4 * 3]) {
  const double equal = ws_sim_error_coin(simulated());
  const double rows[4][3] = {{10, 10 * (1 + 0.9 * equal), 100},
                             {10, 10 * (1 + 0.9 * equal), 100},
                             {10, 10 * (1 + 0.9 * equal), 100},
                             {10 * (1 + 2 * equal), 10, 100}};
  memcpy(us, rows, sizeof rows);
}

static int pick_of(const char *provenance, double *us, int columns[8]) {
  const ws_matrix matrix = {four_shapes, 4, 3, us, provenance};
  int count;
  WS_CHECK_INT(ws_portfolio_pick(&matrix, 8, columns, &count, NULL), WS_OK);
  return count;
}

WS_TEST(of_equal_kernels_the_robust_one_is_shipped_alone) {
  double us[4 * 3];
  int columns[8];
  fill_robust(us);
  WS_CHECK(ws_sim_error_coin(simulated()) > 0);
  WS_CHECK_INT(pick_of(simulated(), us, columns), 1);
  WS_CHECK_INT(columns[0], 1);
}

WS_TEST(a_cards_times_are_taken_as_they_are) {
  static const char *const exact[] = {"hip:AMD Instinct MI300X",
                                      "cuda:NVIDIA H200",
                                      "sim:gfx942-model-0:MI300X"};
  double us[4 * 3];
  int columns[8];
  fill_robust(us);
  for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
    WS_CHECK_INT(pick_of(exact[i], us, columns), 2);
    WS_CHECK_INT(columns[0], 0);
    WS_CHECK_INT(columns[1], 1);
  }
}

WS_TEST(a_kernel_beyond_the_error_is_shipped_too) {
  double us[4 * 3];
  int columns[8];
  fill_robust(us);
  us[3 * 3 + 2] = 10 / (1 + 2 * ws_sim_error_coin(simulated()));
  WS_CHECK_INT(pick_of(simulated(), us, columns), 2);
  WS_CHECK_INT(columns[0], 1);
  WS_CHECK_INT(columns[1], 2);
}

/* Both are equal to the best on every shape; the first is faster in the mean
 * and nearer to the edge on one. */
WS_TEST(of_those_that_serve_as_many_the_less_bad_worst_shape_counts) {
  const double equal = ws_sim_error_coin(simulated());
  double us[4 * 3];
  int columns[8];
  for (int s = 0; s < 4; s++) {
    us[s * 3] = s == 1 ? 10 * (1 + 0.9 * equal) : 10;
    us[s * 3 + 1] = s == 1 ? 10 : 10 * (1 + 0.5 * equal);
    us[s * 3 + 2] = 100;
  }
  WS_CHECK_INT(pick_of(simulated(), us, columns), 1);
  WS_CHECK_INT(columns[0], 1);
}

/* ---- rules
 * --------------------------------------------------------------------
 */

enum { MS = 8, KS = 4, GRID = MS * KS };
static const int64_t grid_m[MS] = {16, 32, 64, 96, 112, 256, 1024, 4096};
static const int64_t grid_k[KS] = {128, 512, 2048, 8192};

static void fill_grid(ws_shape *shapes) {
  for (int i = 0; i < MS; i++)
    for (int j = 0; j < KS; j++)
      shapes[i * KS + j] = gemm_shape(grid_m[i], 512, grid_k[j]);
}

static const ws_rules *fit(ws_arena *arena, const ws_matrix *matrix,
                           int max_leaves) {
  static const int columns[] = {0, 1, 2, 3, 4, 5, 6, 7};
  const ws_rules *rules;
  ws_diag diag = {""};
  if (ws_rules_fit(arena, problem(), NULL, matrix, columns,
                   matrix->candidate_count, max_leaves, &rules, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return rules;
}

WS_TEST(one_threshold_is_found) {
  ws_arena *arena = ws_arena_create();
  ws_shape shapes[GRID];
  double us[GRID * 2];
  fill_grid(shapes);
  for (int s = 0; s < GRID; s++) { /* 0 is twice as fast up to m = 96 */
    us[2 * s] = shapes[s].size[DIM_M] <= 96 ? 10 : 20;
    us[2 * s + 1] = shapes[s].size[DIM_M] <= 96 ? 20 : 10;
  }
  const ws_matrix matrix = {shapes, GRID, 2, us, "test"};
  const ws_rules *rules = fit(arena, &matrix, 24);
  WS_CHECK_INT(ws_rules_leaf_count(rules), 2);
  WS_CHECK_INT(ws_rules_pick(rules, (ws_shape[]){gemm_shape(96, 4096, 128)}),
               0);
  WS_CHECK_INT(ws_rules_pick(rules, (ws_shape[]){gemm_shape(112, 16, 8192)}),
               1);
  WS_CHECK_INT(ws_rules_pick(rules, (ws_shape[]){gemm_shape(112, 16, 100)}),
               -1);
  ws_regret regret = ws_rules_regret(rules, &matrix);
  WS_CHECK_NEAR(regret.geomean, 1, 1e-12);
  WS_CHECK_NEAR(regret.max, 1, 1e-12);
  ws_arena_destroy(arena);
}

WS_TEST(quadrants_need_four_leaves) {
  ws_arena *arena = ws_arena_create();
  ws_shape shapes[GRID];
  double us[GRID * 4];
  fill_grid(shapes);
  for (int s = 0; s < GRID; s++) {
    int best = (shapes[s].size[DIM_M] > 96) * 2 + (shapes[s].size[DIM_K] > 512);
    for (int c = 0; c < 4; c++) /* unequal losses, so that one split helps */
      us[4 * s + c] = c == best ? 10 : 15 + 5 * ((c >> 1) != (best >> 1));
  }
  const ws_matrix matrix = {shapes, GRID, 4, us, "test"};
  const ws_rules *rules = fit(arena, &matrix, 24);
  WS_CHECK_INT(ws_rules_leaf_count(rules), 4);
  for (int s = 0; s < GRID; s++)
    WS_CHECK_INT(ws_rules_pick(rules, &shapes[s]),
                 (shapes[s].size[DIM_M] > 96) * 2 +
                     (shapes[s].size[DIM_K] > 512));
  ws_arena_destroy(arena);
}

/* By counting wins, column 0 is right 31 times of 32; by what it costs, column
 * 1 is: 31 shapes lose 1 %, one gains a hundredfold. */
WS_TEST(a_leaf_minds_the_loss_not_the_count) {
  ws_arena *arena = ws_arena_create();
  ws_shape shapes[GRID];
  double us[GRID * 2];
  fill_grid(shapes);
  for (int s = 0; s < GRID; s++) {
    us[2 * s] = s == 5 ? 1000 : 10;
    us[2 * s + 1] = s == 5 ? 10 : 10.1;
  }
  const ws_matrix matrix = {shapes, GRID, 2, us, "test"};
  const ws_rules *rules = fit(arena, &matrix, 1);
  WS_CHECK_INT(ws_rules_leaf_count(rules), 1);
  WS_CHECK_INT(ws_rules_pick(rules, &shapes[0]), 1);
  ws_regret regret = ws_rules_regret(rules, &matrix);
  WS_CHECK_NEAR(regret.max, 1.01, 1e-9);
  WS_CHECK_NEAR(regret.geomean, exp(31 * log(1.01) / 32), 1e-9);
  ws_arena_destroy(arena);
}

WS_TEST(more_leaves_never_lose_more) {
  ws_arena *arena = ws_arena_create();
  ws_shape shapes[GRID];
  double us[GRID * 8];
  ws_rng rng;
  ws_rng_init(&rng, 11);
  fill_grid(shapes);
  for (int i = 0; i < GRID * 8; i++)
    us[i] = exp(ws_rng_double(&rng));
  const ws_matrix matrix = {shapes, GRID, 8, us, "test"};
  double before = INFINITY;
  for (int leaves = 1; leaves <= GRID; leaves++) {
    const ws_rules *rules = fit(arena, &matrix, leaves);
    WS_CHECK(ws_rules_leaf_count(rules) <= leaves);
    double now = ws_rules_regret(rules, &matrix).geomean;
    WS_CHECK(now <= before + 1e-12);
    before = now;
  }
  ws_arena_destroy(arena);
}

/* ---- times of a card ---- */

/* Three kernels and the 18 shapes of the contest, each shape with another best
 * kernel than its neighbours; all others lose 30 %. */
static ws_regret fit_card(ws_arena *arena, const char *provenance,
                          int *out_leaves) {
  const ws_shape_set *set = ws_problem_shape_set(problem(), "contest");
  double us[18 * 3];
  WS_CHECK_INT(set->count, 18);
  for (int s = 0; s < 18; s++)
    for (int c = 0; c < 3; c++)
      us[3 * s + c] = (s * 7) % 3 == c ? 10 : 13;
  const ws_matrix matrix = {set->shapes, 18, 3, us, provenance};
  const ws_rules *rules = fit(arena, &matrix, 24);
  *out_leaves = ws_rules_leaf_count(rules);
  return ws_rules_regret(rules, &matrix);
}

WS_TEST(every_shape_that_a_card_timed_gets_its_best) {
  ws_arena *arena = ws_arena_create();
  int leaves;
  WS_CHECK_NEAR(fit_card(arena, "cuda:NVIDIA H200", &leaves).max, 1, 1e-12);
  WS_CHECK(leaves <= 18);
  WS_CHECK_NEAR(fit_card(arena, "hip:AMD Instinct MI300X", &leaves).max, 1,
                1e-12);
  /* A model is not worth that: its rules stand on four shapes or more. */
  WS_CHECK_NEAR(fit_card(arena, "estimate:test", &leaves).max, 1.3, 1e-12);
  WS_CHECK(leaves <= 4);
  ws_arena_destroy(arena);
}

/* Kernel 1 is best for the middle one of three m alone: no threshold on its own
 * gains, as each side still holds a shape that kernel 0 must have as often. */
WS_TEST(a_shape_between_others_is_found) {
  ws_arena *arena = ws_arena_create();
  const ws_shape shapes[] = {
      gemm_shape(512, 512, 512), gemm_shape(1024, 1024, 1024),
      gemm_shape(1536, 1536, 1536), gemm_shape(2048, 2048, 2048),
      gemm_shape(2560, 2560, 2560)};
  double us[] = {10, 40, 10, 40, 20, 10, 10, 40, 10, 40};
  const ws_matrix matrix = {shapes, 5, 2, us, "cuda:test"};
  const ws_rules *rules = fit(arena, &matrix, 8);
  WS_CHECK_INT(ws_rules_leaf_count(rules), 3);
  for (int s = 0; s < 5; s++)
    WS_CHECK_INT(ws_rules_pick(rules, &shapes[s]), s == 2);
  /* Between two timed shapes the nearer one by ratio counts. */
  WS_CHECK_INT(ws_rules_pick(rules, (ws_shape[]){gemm_shape(1536, 1536, 1408)}),
               1);
  ws_arena_destroy(arena);
}

/* ---- constraints
 * ----------------------------------------------------------------
 */

WS_TEST(a_refused_shape_goes_to_the_fallback) {
  ws_arena *arena = ws_arena_create();
  const ws_template *tmpl = synthetic_template(arena);
  const ws_dispatch_entry entries[] = {synthetic_entry(arena, tmpl, "tile=128"),
                                       synthetic_entry(arena, tmpl, "tile=16")};
  ws_shape shapes[GRID];
  double us[GRID * 2];
  fill_grid(shapes);
  for (int s = 0; s < GRID; s++) {
    us[2 * s] = shapes[s].size[DIM_M] % 128 ? INFINITY : 1;
    us[2 * s + 1] = 3;
  }
  const ws_matrix matrix = {shapes, GRID, 2, us, "test"};
  const int columns[] = {0, 1};
  const ws_rules *rules;
  WS_CHECK_INT(ws_rules_fit(arena, problem(), entries, &matrix, columns, 2, 1,
                            &rules, NULL),
               WS_OK);
  WS_CHECK_INT(ws_rules_pick(rules, (ws_shape[]){gemm_shape(1024, 64, 128)}),
               0);
  WS_CHECK_INT(ws_rules_pick(rules, (ws_shape[]){gemm_shape(1040, 64, 128)}),
               1);
  WS_CHECK_NEAR(ws_rules_regret(rules, &matrix).max, 1, 1e-12);
  ws_arena_destroy(arena);
}

WS_TEST(without_a_fallback_there_are_no_rules) {
  ws_arena *arena = ws_arena_create();
  const ws_template *tmpl = synthetic_template(arena);
  /* 48 refuses most multiples of 16; the only shape of the matrix is not one */
  const ws_dispatch_entry entries[] = {synthetic_entry(arena, tmpl, "tile=48")};
  const ws_shape shape = gemm_shape(96, 64, 128);
  double us[] = {1};
  const ws_matrix matrix = {&shape, 1, 1, us, "test"};
  const int columns[] = {0};
  const ws_rules *rules;
  ws_diag diag = {""};
  WS_CHECK_INT(ws_rules_fit(arena, problem(), entries, &matrix, columns, 1, 4,
                            &rules, &diag),
               WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "fallback");
  ws_arena_destroy(arena);
}

/* ---- training shapes
 * --------------------------------------------------------------
 */

WS_TEST(training_shapes_are_legal_distinct_and_hold_the_set) {
  ws_arena *arena = ws_arena_create();
  const ws_shape_set *set = ws_problem_shape_set(problem(), "contest");
  int count;
  ws_shape *shapes = ws_dispatch_training_shapes(arena, problem(), set, &count);
  WS_CHECK(count > 300 && count < 3000);
  for (int i = 0; i < set->count; i++)
    WS_CHECK(ws_shape_same(&shapes[i], &set->shapes[i]));
  int decode = 0, odd_n = 0;
  for (int i = 0; i < count; i++) {
    WS_CHECK_INT(ws_problem_check_shape(problem(), &shapes[i], NULL), WS_OK);
    decode += shapes[i].size[DIM_M] <= 64;
    odd_n += shapes[i].size[DIM_N] % 128 != 0;
    for (int j = 0; j < i; j++)
      WS_CHECK(memcmp(&shapes[i], &shapes[j], sizeof *shapes));
  }
  WS_CHECK(decode > 30 && odd_n > 30);
  ws_arena_destroy(arena);
}
