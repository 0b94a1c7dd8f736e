/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The bandit against made-up models whose gains and prices are known.
 */
#include "bandit.h"
#include "ws_test.h"

enum { ROUNDS = 400 };
static const bool all[3] = {true, true, true};
static const double even[3] = {1, 1, 1};

typedef struct model {
  double gain;   /* ln of the speed-up that an answer brings */
  double chance; /* of a gain */
  double usd;
} model;

/* Picks and answers; counts picks by member. */
static void play(const double *weights, const model *models, int count,
                 uint64_t seed, int picked[3]) {
  ws_arena *arena = ws_arena_create();
  ws__bandit *bandit = ws__bandit_create(arena, weights, count);
  ws_rng rng, luck;
  ws_rng_init(&rng, seed);
  ws_rng_init(&luck, seed + 1000);
  memset(picked, 0, 3 * sizeof *picked);
  for (int i = 0; i < ROUNDS; i++) {
    int m = ws__bandit_pick(bandit, &rng, all, WS_REQUEST_EXPLOIT, "");
    double reward =
        ws_rng_double(&luck) < models[m].chance ? models[m].gain : -0.3;
    picked[m]++;
    ws__bandit_learn(bandit, &(ws__arm){m, WS_REQUEST_EXPLOIT, ""}, reward,
                     models[m].usd);
  }
  ws_arena_destroy(arena);
}

WS_TEST(the_better_model_is_asked_more) {
  static const model models[] = {{0.05, 0.2, 0.01}, {0.05, 0.6, 0.01}};
  int picked[3], sum = 0;
  for (uint64_t seed = 1; seed <= 5; seed++) {
    play((double[]){1, 1}, models, 2, seed, picked);
    sum += picked[1];
    WS_CHECK(picked[0] > ROUNDS / 20); /* never given up */
  }
  WS_CHECK(sum > 5 * ROUNDS * 6 / 10);
}

WS_TEST(of_equal_models_the_cheaper_is_asked_more) {
  static const model models[] = {{0.05, 1, 0.10}, {0.05, 1, 0.001}};
  int picked[3];
  play((double[]){1, 1}, models, 2, 1, picked);
  WS_CHECK(picked[1] > ROUNDS * 55 / 100);
}

WS_TEST(cheapness_does_not_outweigh_gain) {
  static const model models[] = {{0.3, 0.8, 0.05}, {0.3, 0.02, 0.0005}};
  int picked[3];
  play((double[]){1, 1}, models, 2, 1, picked);
  WS_CHECK(picked[0] > ROUNDS * 6 / 10);
}

WS_TEST(weights_decide_while_nothing_is_known) {
  static const model models[] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  int picked[3];
  play((double[]){1, 1, 6}, models, 3, 1, picked);
  WS_CHECK(picked[2] > ROUNDS * 6 / 10);
  WS_CHECK(picked[0] > ROUNDS / 20 && picked[1] > ROUNDS / 20);
}

/* The same mean of ln, but (e^1.5 - 1) / 10 = 0.35 against e^0.15 - 1 = 0.16.
 */
WS_TEST(rare_large_gains_count) {
  int picked = 0;
  for (uint64_t seed = 1; seed <= 50; seed++) {
    ws_arena *arena = ws_arena_create();
    ws__bandit *bandit = ws__bandit_create(arena, (double[]){1, 1}, 2);
    ws_rng rng;
    ws_rng_init(&rng, seed);
    for (int i = 0; i < 10; i++)
      for (int m = 0; m < 2; m++)
        ws__bandit_learn(bandit, &(ws__arm){m, WS_REQUEST_EXPLOIT, ""},
                         m ? (i == 5) * 1.5 : 0.15, 0);
    picked += ws__bandit_pick(bandit, &rng, all, WS_REQUEST_EXPLOIT, "") == 1;
    ws_arena_destroy(arena);
  }
  WS_CHECK(picked > 40); /* a few go by the prior alone */
}

WS_TEST(what_is_in_flight_counts) {
  ws_arena *arena = ws_arena_create();
  ws__bandit *bandit = ws__bandit_create(arena, (double[]){1, 1, 1}, 3);
  ws_rng rng;
  int picked[3] = {0};
  ws_rng_init(&rng, 1);
  for (int i = 0; i < 30; i++)
    picked[ws__bandit_pick(bandit, &rng, all, WS_REQUEST_WRITE, "")]++;
  for (int m = 0; m < 3; m++)
    WS_CHECK(picked[m] >= 7 && picked[m] <= 13);
  ws_arena_destroy(arena);
}

WS_TEST(only_the_allowed_are_picked) {
  ws_arena *arena = ws_arena_create();
  ws__bandit *bandit = ws__bandit_create(arena, (double[]){1, 9, 1}, 3);
  ws_rng rng;
  ws_rng_init(&rng, 1);
  for (int i = 0; i < 100; i++) {
    int m = ws__bandit_pick(bandit, &rng, (bool[]){true, false, true},
                            WS_REQUEST_EXPLORE, "");
    WS_CHECK(m == 0 || m == 2);
  }
  WS_CHECK_INT(ws__bandit_pick(bandit, &rng, (bool[]){false, false, false},
                               WS_REQUEST_EXPLORE, ""),
               -1);
  ws_arena_destroy(arena);
}

WS_TEST(each_pick_draws_twice) {
  ws_arena *arena = ws_arena_create();
  ws__bandit *bandit = ws__bandit_create(arena, (double[]){1, 1, 1}, 3);
  ws_rng rng, other;
  static const char *const regions[] = {"stage", "store"};
  ws_rng_init(&rng, 1);
  ws_rng_init(&other, 1);
  for (int i = 0; i < 50; i++) {
    bool one[3] = {i % 2, true, i % 3 == 0};
    ws__bandit_pick(bandit, &rng, one, WS_REQUEST_WRITE, regions[i % 2]);
    ws__bandit_pick_region(bandit, &rng, WS_REQUEST_WRITE, regions, even,
                           1 + i % 2);
    for (int d = 0; d < 4; d++)
      ws_rng_double(&other);
    WS_CHECK(!memcmp(&rng, &other, sizeof rng));
  }
  ws_arena_destroy(arena);
}

WS_TEST(regions_that_gain_are_asked_for) {
  ws_arena *arena = ws_arena_create();
  ws__bandit *bandit = ws__bandit_create(arena, (double[]){1}, 1);
  static const char *const regions[] = {"load", "swizzle", "store"};
  ws_rng rng;
  int picked[3] = {0};
  ws_rng_init(&rng, 1);
  WS_CHECK_INT(
      ws__bandit_pick_region(bandit, &rng, WS_REQUEST_WRITE, regions, even, 0),
      -1);
  for (int i = 0; i < ROUNDS; i++) {
    int r = ws__bandit_pick_region(bandit, &rng, WS_REQUEST_WRITE, regions,
                                   even, 3);
    WS_CHECK_INT(
        ws__bandit_pick(bandit, &rng, all, WS_REQUEST_WRITE, regions[r]), 0);
    picked[r]++;
    ws__bandit_learn(bandit, &(ws__arm){0, WS_REQUEST_WRITE, regions[r]},
                     r == 1 ? 0.1 : 0, 0.01);
  }
  WS_CHECK(picked[1] > ROUNDS / 2);
  WS_CHECK(picked[0] > 10 && picked[2] > 10);
  ws_arena_destroy(arena);
}

/* Without gains by weight, never where it is 0; a gain outweighs it. */
static void pick_weighed(double gain_of_the_last, int picked[4]) {
  static const char *const regions[] = {"mma", "load", "dead", "order"};
  static const double weights[] = {60, 30, 0, 15};
  ws_arena *arena = ws_arena_create();
  ws__bandit *bandit = ws__bandit_create(arena, (double[]){1}, 1);
  ws_rng rng;
  ws_rng_init(&rng, 7);
  for (int i = 0; i < ROUNDS; i++) {
    int r = ws__bandit_pick_region(bandit, &rng, WS_REQUEST_EXPLOIT, regions,
                                   weights, 4);
    WS_CHECK_INT(
        ws__bandit_pick(bandit, &rng, all, WS_REQUEST_EXPLOIT, regions[r]), 0);
    picked[r]++;
    ws__bandit_learn(bandit, &(ws__arm){0, WS_REQUEST_EXPLOIT, regions[r]},
                     r == 3 ? gain_of_the_last : 0, 0.01);
  }
  ws_arena_destroy(arena);
}

WS_TEST(regions_are_asked_for_by_weight) {
  int evenly[4] = {0}, gained[4] = {0};
  pick_weighed(0, evenly);
  pick_weighed(0.5, gained);
  fprintf(stderr, "# %d %d %d %d; with gains in the last %d %d %d %d\n",
          evenly[0], evenly[1], evenly[2], evenly[3], gained[0], gained[1],
          gained[2], gained[3]);
  WS_CHECK(evenly[0] > evenly[1] && evenly[1] > evenly[3]);
  WS_CHECK(gained[3] > 2 * evenly[3]);
  WS_CHECK(evenly[2] == 0 && gained[2] == 0);
}

/* A model that was good and is not any more is left within some answers. */
WS_TEST(old_answers_fade) {
  ws_arena *arena = ws_arena_create();
  ws__bandit *bandit = ws__bandit_create(arena, (double[]){1, 1}, 2);
  ws_rng rng;
  int late = 0;
  ws_rng_init(&rng, 1);
  for (int i = 0; i < ROUNDS; i++) {
    int m = ws__bandit_pick(bandit, &rng, all, WS_REQUEST_EXPLOIT, "");
    bool gains = (m == 0) == (i < ROUNDS / 2);
    ws__bandit_learn(bandit, &(ws__arm){m, WS_REQUEST_EXPLOIT, ""},
                     gains ? 0.2 : 0, 0);
    late += i >= ROUNDS * 3 / 4 && m == 1;
  }
  WS_CHECK(late > ROUNDS / 4 * 6 / 10);
  ws_arena_destroy(arena);
}

WS_TEST(odd_rewards_do_no_harm) {
  ws_arena *arena = ws_arena_create();
  ws__bandit *bandit = ws__bandit_create(arena, (double[]){1, 1}, 2);
  ws_rng rng;
  ws_rng_init(&rng, 1);
  const double odd[] = {NAN, INFINITY, -INFINITY, 1e300, -1};
  for (int i = 0; i < 100; i++) {
    int m = ws__bandit_pick(bandit, &rng, all, WS_REQUEST_EXPLOIT, "");
    WS_CHECK(m == 0 || m == 1);
    ws__bandit_learn(bandit, &(ws__arm){m, WS_REQUEST_EXPLOIT, ""}, odd[i % 5],
                     odd[(i + 1) % 5]);
  }
  ws_arena_destroy(arena);
}
