/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Large shape sets: what is known there, where requests aim, which shapes they
 * are timed on, and that it pays. Expected values are worked out by hand.
 */
#include "large.h"
#include "sets_world.h"
#include "ws_test.h"

/* ---- a ground of three shapes ---- */
static const ws__ground *three(ws_arena *arena) {
  ws_shape *shapes = ws_arena_alloc(arena, 3 * sizeof *shapes);
  shapes[0] = gemm_shape(16, 1024, 1024);
  shapes[1] = gemm_shape(64, 1024, 1024); /* 2 doublings from the first */
  shapes[2] = gemm_shape(128, 1024, 512); /* 4 from the first, 2 on */
  const double limit_us[] = {1, 2, 4};
  return ws__ground_create(arena, shapes, 3, limit_us);
}

WS_TEST(shapes_are_near_by_doublings) {
  ws_arena *arena = ws_arena_create();
  const ws__ground *g = three(arena);
  int order[3];
  WS_CHECK_NEAR(ws__ground_nearness(g, 0, 0), 1, 0);
  WS_CHECK_NEAR(ws__ground_nearness(g, 0, 1), exp(-1), 1e-12);
  WS_CHECK_NEAR(ws__ground_nearness(g, 2, 0), exp(-2), 1e-12);
  WS_CHECK_INT(ws__ground_nearest(g, 2, 9, order), 3);
  WS_CHECK(order[0] == 2 && order[1] == 1 && order[2] == 0);
  WS_CHECK_INT(ws__ground_nearest(g, 2, 1, order), 1);
  ws_arena_destroy(arena);
}

WS_TEST(bands_end_at_powers_of_four) {
  static const int64_t sizes[] = {1, 16, 17, 64, 65, 16384, INT64_C(1) << 53};
  /* 16 * 4^19 is 2^42, 16 * 4^25 = 2^54 */
  static const int bands[] = {0, 0, 1, 1, 2, 5, 25};
  for (int i = 0; i < 7; i++) {
    const ws_shape shape = gemm_shape(sizes[i], 1, 1);
    WS_CHECK_INT(ws__ground_band(&shape), bands[i]);
  }
}

WS_TEST(scattered_orders_have_each_once) {
  static const int counts[] = {33, 48, 600, 601};
  for (int c = 0; c < 4; c++) {
    bool seen[601] = {0};
    for (int i = 0; i < counts[c]; i++) {
      const int s = ws__scattered(i, counts[c]);
      WS_CHECK(s >= 0 && s < counts[c] && !seen[s]);
      seen[s] = true;
    }
  }
}

WS_TEST(near_shapes_suggest_what_is_possible) {
  ws_arena *arena = ws_arena_create();
  ws__standing *st = ws__standing_create(arena, three(arena));
  WS_CHECK(isnan(ws__standing_us(st, 1)));
  WS_CHECK_NEAR(ws__standing_loss(st, 1), 0, 0);
  ws__standing_learn(st, 0, exp(1));     /* e times its roofline */
  ws__standing_learn(st, 0, exp(1) * 2); /* no better */
  WS_CHECK(ws__standing_is_timed(st, 0) && !ws__standing_is_timed(st, 1));
  WS_CHECK_NEAR(ws__standing_us(st, 0), exp(1), 1e-12);
  WS_CHECK_NEAR(ws__standing_us(st, 1), 2 * exp(1), 1e-12); /* so it is there */
  ws__standing_learn(st, 2, 4 * exp(0.25));
  /* weights are nearness squared: both are two doublings away */
  WS_CHECK_NEAR(ws__standing_us(st, 1), 2 * exp((1 + 0.25) / 2), 1e-12);
  /* not timed: 0.15, and a tenth of the way to the roofline */
  WS_CHECK_NEAR(ws__standing_loss(st, 1), 0.15 + 0.1 * 0.625, 1e-12);
  /* 0.75 worse than what is near, and a tenth of 1 */
  WS_CHECK_NEAR(ws__standing_loss(st, 0), 0.75 + 0.1, 1e-12);
  WS_CHECK_NEAR(ws__standing_loss(st, 2), 0.1 * 0.25, 1e-12);
  ws__standing_learn(st, 0, exp(0.5)); /* what it suggests is mended too */
  WS_CHECK_NEAR(ws__standing_us(st, 1), 2 * exp((0.5 + 0.25) / 2), 1e-12);
  ws__standing_learn(st, 1, 2 * exp(0.1));
  const double near = (exp(-2) * 0.1 + exp(-4) * 0.25) / (exp(-2) + exp(-4));
  WS_CHECK_NEAR(ws__standing_loss(st, 0), 0.5 - near + 0.1 * 0.5, 1e-12);
  ws_arena_destroy(arena);
}

/* ---- transfer ---- */
static ws_candidate *point_of(sets_world *w, int64_t tile_m, int64_t tile_n) {
  ws_candidate *c = ws_candidate_create(w->arena, w->tmpl);
  c->values[ws_template_param_index(w->tmpl, "tile_m")] = tile_m;
  c->values[ws_template_param_index(w->tmpl, "tile_n")] = tile_n;
  ws_candidate_update_id(c);
  return c;
}

WS_TEST(what_is_believed_follows_distances) {
  sets_world w;
  sets_init(&w);
  const ws__ground *g = three(w.arena);
  ws__transfer *t = ws__transfer_create(w.arena, g);
  const ws_candidate *a = point_of(&w, 64, 64), *b = point_of(&w, 256, 64);
  const double us[] = {2, INFINITY, INFINITY};
  ws__transfer_fit(t, &w.space, 0);
  WS_CHECK(ws__transfer_believe(t, &w.space, a, 0).deviation < 0);
  ws__transfer_learn(t, &w.space, a, a->id.hex, NULL, us);
  WS_CHECK(ws__transfer_knows(t, a->id.hex, 0));
  WS_CHECK(!ws__transfer_knows(t, a->id.hex, 1));
  ws__transfer_fit(t, &w.space, 0);
  /* One time: its excess ln 2 is the mean, the deviation at least 0.01. */
  ws__belief here = ws__transfer_believe(t, &w.space, a, 0),
             there = ws__transfer_believe(t, &w.space, a, 1),
             other = ws__transfer_believe(t, &w.space, b, 0);
  WS_CHECK_NEAR(here.log_us, log(2), 1e-9);
  WS_CHECK_NEAR(there.log_us, log(2 * 2), 1e-9);
  WS_CHECK_NEAR(here.deviation, 0.01 * sqrt(1 - 1 / 1.01), 1e-9);
  /* Two doublings of half a unit each, reach 0.5: exp(-0.5). */
  WS_CHECK_NEAR(there.deviation, 0.01 * sqrt(1 - exp(-1) / 1.01), 1e-9);
  /* 256 is two of four steps from 64, reach 0.5; half is common. */
  const double like = 0.5 + 0.5 * exp(-0.25);
  WS_CHECK_NEAR(other.deviation, 0.01 * sqrt(1 - like * like / 1.01), 1e-9);
  sets_deinit(&w);
}

WS_TEST(times_on_a_near_shape_order_points) {
  sets_world w;
  sets_init(&w);
  ws__transfer *t = ws__transfer_create(w.arena, three(w.arena));
  /* on the first shape alone, larger tiles are slower */
  static const int64_t tiles[] = {16, 32, 64, 128, 256};
  for (int i = 0; i < 5; i++) {
    const ws_candidate *c = point_of(&w, tiles[i], 64);
    const double us[] = {1 + i, INFINITY, INFINITY};
    if (tiles[i] != 32)
      ws__transfer_learn(t, &w.space, c, c->id.hex, NULL, us);
  }
  ws__transfer_fit(t, &w.space, 1);
  double before = -INFINITY;
  for (int i = 0; i < 5; i++) {
    const double now =
        ws__transfer_believe(t, &w.space, point_of(&w, tiles[i], 64), 1).log_us;
    WS_CHECK(now > before);
    before = now;
  }
  sets_deinit(&w);
}

WS_TEST(what_failed_counts_as_slow) {
  sets_world w;
  sets_init(&w);
  ws__transfer *t = ws__transfer_create(w.arena, three(w.arena));
  const ws_candidate *good = point_of(&w, 16, 64), *bad = point_of(&w, 256, 64),
                     *slow = point_of(&w, 64, 256);
  const double fast_us[] = {1, INFINITY, INFINITY},
               slow_us[] = {3, INFINITY, INFINITY};
  const int shape = 0;
  const ws__sample sample = {&shape, 1, 1};
  ws__transfer_learn(t, &w.space, good, good->id.hex, NULL, fast_us);
  ws__transfer_learn(t, &w.space, slow, slow->id.hex, NULL, slow_us);
  ws__transfer_expect(t, &w.space, bad, &sample);
  ws__transfer_learn(t, NULL, NULL, bad->id.hex, &sample, NULL);
  ws__transfer_fit(t, &w.space, 0);
  WS_CHECK(ws__transfer_believe(t, &w.space, bad, 0).log_us > log(2));
  WS_CHECK(!ws__transfer_knows(t, bad->id.hex, 1));
  sets_deinit(&w);
}

/* ---- samples ---- */
static ws__large *large_of(sets_world *w) {
  double limit_us[SETS_HALF];
  for (int s = 0; s < SETS_HALF; s++)
    limit_us[s] = oracle_limit_us(&w->searched[s]);
  return ws__large_create(w->arena, w->searched, SETS_HALF, limit_us);
}

static void check_sample(const sets_world *w, const ws_candidate *candidate,
                         const ws__sample *sample) {
  for (int i = 0; i < sample->count; i++) {
    const int s = sample->shapes[i];
    WS_CHECK(s >= 0 && s < SETS_HALF);
    WS_CHECK(ws_candidate_broken_require(candidate, &w->searched[s], NULL) < 0);
    for (int j = 0; j < i; j++)
      WS_CHECK(sample->shapes[j] != s);
  }
}

WS_TEST(a_sample_is_near_its_target_and_spread) {
  static const int64_t pads[] = {0, 4, 8, 16};
  sets_world w;
  ws_rng rng;
  sets_init(&w);
  ws_rng_init(&rng, 1);
  ws__large *large = large_of(&w);
  ws_candidate *c = point_of(&w, 64, 64);
  c->values[ws_template_param_index(w.tmpl, "split")] = 8; /* needs k >= 1024 */
  ws_candidate_update_id(c);
  for (int target = 0; target < SETS_HALF; target++) {
    if (ws_candidate_broken_require(c, &w.searched[target], NULL) >= 0)
      continue;
    ws__request request = {.target = target};
    ws_candidate *fresh = ws_candidate_copy(w.arena, c);
    fresh->values[ws_template_param_index(w.tmpl, "order")] = target % 6;
    fresh->values[ws_template_param_index(w.tmpl, "pad")] =
        pads[target / 6 % 4];
    fresh->values[ws_template_param_index(w.tmpl, "depth")] = target / 24;
    ws_candidate_update_id(fresh);
    ws__large_give_sample(large, &w.space, &rng, w.arena, fresh, &request);
    const ws__sample *sample = request.sample;
    check_sample(&w, fresh, sample);
    WS_CHECK_INT(sample->shapes[0], target);
    WS_CHECK_INT(sample->racers, 3);
    WS_CHECK_INT(sample->count, 12);
    bool bands[8] = {0};
    for (int i = 0; i < sample->count; i++)
      bands[ws__ground_band(&w.searched[sample->shapes[i]])] = true;
    int spread = 0;
    for (int b = 0; b < 8; b++)
      spread += bands[b];
    WS_CHECK(spread >= 5); /* of six sizes */
    for (int i = 0; i < sample->count; i++)
      WS_CHECK(ws__transfer_knows(large->transfer, fresh->id.hex,
                                  sample->shapes[i]));
  }
  sets_deinit(&w);
}

WS_TEST(a_sample_has_its_target_whatever_it_promises) {
  sets_world w;
  ws_rng rng;
  double us[SETS_HALF];
  sets_init(&w);
  ws_rng_init(&rng, 1);
  ws__large *large = large_of(&w);
  const ws_candidate *known = point_of(&w, 16, 64);
  for (int s = 0; s < SETS_HALF; s++)
    us[s] = (s == 7 ? 1 : 5) * oracle_limit_us(&w.searched[s]);
  const ws__result result = {.candidate = known, .us = us, .id = known->id.hex};
  ws__large_learn(large, &w.space, known, &result);
  ws__request request = {.target = 7}; /* there is nothing to be gained */
  ws__large_give_sample(large, &w.space, &rng, w.arena, point_of(&w, 64, 64),
                        &request);
  WS_CHECK_INT(request.sample->shapes[0], 7);
  sets_deinit(&w);
}

WS_TEST(further_shapes_are_new_ones) {
  sets_world w;
  ws_rng rng;
  bool seen[SETS_HALF] = {0};
  sets_init(&w);
  ws_rng_init(&rng, 1);
  ws__large *large = large_of(&w);
  const ws_candidate *c = point_of(&w, 64, 64);
  ws__request first = {.target = -1};
  ws__large_give_sample(large, &w.space, &rng, w.arena, c, &first);
  WS_CHECK_INT(first.sample->count, 12); /* without a target: spread */
  for (int i = 0; i < first.sample->count; i++)
    seen[first.sample->shapes[i]] = true;
  for (int s = 0; s < SETS_HALF; s++) {
    ws__request further = {.target = s, .further = 1};
    if (seen[s])
      continue;
    ws__large_give_sample(large, &w.space, &rng, w.arena, c, &further);
    check_sample(&w, c, further.sample);
    WS_CHECK_INT(further.sample->racers, 0);
    WS_CHECK(further.sample->count >= 1 && further.sample->shapes[0] == s);
    for (int i = 0; i < further.sample->count; i++) {
      WS_CHECK(!seen[further.sample->shapes[i]]);
      seen[further.sample->shapes[i]] = true;
    }
  }
  sets_deinit(&w);
}

/* ---- searches ---- */
WS_TEST(a_search_follows_from_its_seed) {
  sets_world w;
  strategy_loop *a = malloc(sizeof *a), *b = malloc(sizeof *b);
  sets_init(&w);
  sets_search(&w, a, 5, true, 400);
  sets_search(&w, b, 5, true, 400);
  WS_CHECK_INT(a->knowledge.count, b->knowledge.count);
  int further = 0;
  for (int i = 0; i < a->knowledge.count; i++) {
    const ws__result *x = &a->knowledge.results[i],
                     *y = &b->knowledge.results[i];
    WS_CHECK(!strcmp(x->id, y->id));
    WS_CHECK_INT(x->request.sample->count, y->request.sample->count);
    WS_CHECK(!memcmp(x->request.sample->shapes, y->request.sample->shapes,
                     sizeof(int) * (size_t)x->request.sample->count));
    further += x->request.further > 0;
  }
  WS_CHECK(further > 0 && further < a->knowledge.count);
  loop_deinit(a);
  loop_deinit(b);
  free(a);
  free(b);
  sets_deinit(&w);
}

/* Candidates few, shapes many, half of the (n,k) left out: at the same number
 * of times a dispatch made from samples is faster there than one made from
 * candidates that were timed on everything (bench_sets has figures: 1.4 x). */
WS_TEST(samples_gain_more_where_nothing_was_timed) {
  sets_world w;
  double gain = 0;
  enum { SEEDS = 3, TIMES = 800 };
  sets_init(&w);
  for (uint64_t seed = 101; seed < 101 + SEEDS; seed++)
    for (int sampled = 0; sampled < 2; sampled++) {
      strategy_loop *loop = malloc(sizeof *loop);
      sets_search(&w, loop, seed, sampled, TIMES);
      const double ln_us =
          sets_dispatch_ln_us(&w, &loop->knowledge, w.left_out, SETS_HALF);
      gain += sampled ? -ln_us : ln_us;
      loop_deinit(loop);
      free(loop);
    }
  WS_CHECK(exp(gain / SEEDS) > 1.15);
  sets_deinit(&w);
}
