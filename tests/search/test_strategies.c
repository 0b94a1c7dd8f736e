/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Knowledge, built-in proposer and strategies by themselves: what they ask for,
 * given results that the tests make up. Expected values are worked out by hand.
 */
#include "strategy_loop.h"
#include "strategy_talk.h"
#include "surrogate.h"

WS_TEST(scores_are_against_the_first_with_a_time) {
  world w = make_world(PLAIN);
  ws__knowledge *k = &w.knowledge;
  ws__space *other = make_space(w.arena, "[" HEAD("other") "," LAUNCH("m") "]");
  add(&w, candidate_at(&w, 1, 1), INFINITY, INFINITY);      /* failed */
  add(&w, ws_candidate_create(w.arena, other->tmpl), 8, 8); /* a baseline */
  add(&w, candidate_at(&w, 1, 2), 4, 4);
  add(&w, candidate_at(&w, 1, 3), 2, 16);
  add(&w, candidate_at(&w, 1, 4), 1, INFINITY);
  WS_CHECK(k->results[0].score == -INFINITY);
  WS_CHECK_NEAR(k->results[1].score, 0, 1e-12);
  WS_CHECK_NEAR(k->results[2].score, log(2), 1e-12);
  WS_CHECK_NEAR(k->results[3].score, log(2) / 2, 1e-12); /* 4 and 1/2 */
  WS_CHECK(k->results[4].score == -INFINITY);
  WS_CHECK_INT(k->leader, 2);
  WS_CHECK_INT(k->reference, 1);
  WS_CHECK(!ws__knowledge_is_parent(k, 1)); /* its template has no space */
  /* by shape: 1 (4), 2 (3), 4 (2); 4 (2), 16 (3) */
  WS_CHECK_INT(k->best[0][0], 4);
  WS_CHECK_INT(k->best[0][1], 3);
  WS_CHECK_INT(k->best[0][2], 2);
  WS_CHECK_INT(k->best[0][3], -1);
  WS_CHECK_INT(k->best[1][0], 2);
  WS_CHECK_INT(k->best[1][1], 3);
  WS_CHECK_NEAR(ws__knowledge_geomean(k), 2, 1e-12); /* 1 and 4 */
  WS_CHECK_NEAR(ws__knowledge_speedup(k, 3, 2), 1 / sqrt(2), 1e-12);
  WS_CHECK_NEAR(ws__knowledge_speedup(k, 4, 2), 4, 1e-12); /* shape 0 alone */
  WS_CHECK_NEAR(ws__knowledge_speedup(k, 0, 2), 0, 0);
  ws__knowledge_add_space(k, other);
  WS_CHECK(ws__knowledge_is_parent(k, 1));
  free_world(&w);
}

WS_TEST(the_baseline_may_be_the_fastest) {
  world w = make_world(PLAIN);
  ws__space *other = make_space(w.arena, "[" HEAD("other") "," LAUNCH("m") "]");
  add(&w, ws_candidate_create(w.arena, other->tmpl), 1, 9);
  add(&w, candidate_at(&w, 1, 2), 4, 4);
  WS_CHECK_INT(ws__knowledge_best(&w.knowledge, 0), 0);
  WS_CHECK_INT(ws__knowledge_best(&w.knowledge, 1), 1);
  WS_CHECK_INT(w.knowledge.leader, 1); /* the only parent */
  free_world(&w);
}

WS_TEST(a_twin_takes_no_place) {
  world w = make_world(PLAIN);
  add(&w, candidate_at(&w, 1, 1), 5, 5);
  ws__result twin = result_of(&w, candidate_at(&w, 1, 2), 5, 5);
  twin.verdict = WS_VERDICT_DUPLICATE;
  ws__knowledge_add(&w.knowledge, &twin);
  WS_CHECK_INT(w.knowledge.best[0][0], 0);
  WS_CHECK_INT(w.knowledge.best[0][1], -1);
  WS_CHECK_INT(w.knowledge.leader, 0);
  free_world(&w);
}

WS_TEST(stale_counts_requests_in_vain) {
  world w = make_world(PLAIN);
  add(&w, candidate_at(&w, 1, 1), 5, 5);
  for (int i = 2; i <= 4; i++) {
    ws__result result = result_of(&w, candidate_at(&w, 1, i), 6, 6);
    result.request.target = 0;
    ws__knowledge_add(&w.knowledge, &result);
  }
  WS_CHECK_INT(w.knowledge.stale[0], 3);
  WS_CHECK_INT(w.knowledge.stale[1], 0);
  /* 1 / 4 against 1: one in five */
  ws_rng rng;
  int drawn[2] = {0};
  ws_rng_init(&rng, 1);
  for (int i = 0; i < 10000; i++)
    drawn[ws__draw_target(&w.knowledge, &rng)]++;
  WS_CHECK(drawn[0] > 1800 && drawn[0] < 2200);
  add(&w, candidate_at(&w, 2, 2), 4, 9); /* though not aimed at it */
  WS_CHECK_INT(w.knowledge.stale[0], 0);
  free_world(&w);
}

WS_TEST(findings_are_the_latest_document) {
  world w = make_world(PLAIN);
  const ws_reply replies[] = {{.findings = "wide tiles pay"}, {.findings = ""}};
  for (int i = 0; i < 2; i++) {
    ws__result result = {.request = ws__request_of(WS_REQUEST_DISTIL, "x"),
                         .reply = &replies[i],
                         .id = ""};
    ws__knowledge_add(&w.knowledge, &result);
  }
  WS_CHECK_TEXT(w.knowledge.findings, "wide tiles pay");
  free_world(&w);
}

/* ---- the built-in proposer ---- */
static ws_candidate *with_body(world *w, int a, int b, int region,
                               const char *text) {
  ws_candidate *candidate = candidate_at(w, a, b);
  candidate->bodies[region] =
      (ws_body){.variant = -1, .language = "ir", .text = text};
  ws_candidate_update_id(candidate);
  return candidate;
}

static ws_candidate *propose(world *w, ws_rng *rng, ws_request_kind kind,
                             int first, int second, bool guided) {
  ws__request request = ws__request_of(kind, "test");
  request.parents[0] = first;
  request.parents[1] = second;
  request.guided = guided;
  ws_candidate *candidate;
  const char *move;
  w->knowledge.seen = &w->seen;
  WS_CHECK_INT(ws__builtin_propose(&w->knowledge, rng, w->arena, &request,
                                   &candidate, &move),
               WS__DRAW_FOUND);
  WS_CHECK(!ws__seen_contains(&w->seen, &candidate->id));
  return candidate;
}

WS_TEST(rewritten_regions_stay) {
  static const ws_request_kind kinds[] = {
      WS_REQUEST_EXPLORE, WS_REQUEST_EXPLOIT, WS_REQUEST_REPAIR,
      WS_REQUEST_CROSSOVER}; /* without a second parent */
  world w = make_world(PLAIN);
  ws_rng rng;
  ws_rng_init(&rng, 1);
  add(&w, with_body(&w, 2, 2, 0, "own stage"), 5, 5);
  for (int guided = 0; guided < 2; guided++)
    for (size_t i = 0; i < 4 * 50; i++) {
      ws_candidate *c = propose(&w, &rng, kinds[i % 4], 0, -1, guided);
      WS_CHECK_TEXT(c->bodies[0].text, "own stage");
      WS_CHECK(!c->bodies[1].text);
      WS_CHECK(c->values[0] != 2 || c->values[1] != 2);
    }
  free_world(&w);
}

WS_TEST(a_child_has_every_choice_of_a_parent) {
  world w = make_world(PLAIN);
  ws_rng rng;
  int from_second[4] = {0};
  enum { CHILDREN = 400 };
  ws_rng_init(&rng, 1);
  ws_candidate *first = with_body(&w, 1, 1, 0, "stage of the first");
  ws_candidate *second = with_body(&w, 3, 4, 1, "store of the second");
  second->bodies[0].variant = 1;
  ws_candidate_update_id(second);
  add(&w, first, 5, 5);
  add(&w, second, 6, 6);
  for (int i = 0; i < CHILDREN; i++) {
    ws_candidate *c = propose(&w, &rng, WS_REQUEST_CROSSOVER, 0, 1, i % 2);
    WS_CHECK(c->values[0] == 1 || c->values[0] == 3);
    WS_CHECK(c->values[1] == 1 || c->values[1] == 4);
    WS_CHECK(c->bodies[0].text
                 ? !strcmp(c->bodies[0].text, "stage of the first")
                 : c->bodies[0].variant == 1);
    WS_CHECK(!c->bodies[1].text ||
             !strcmp(c->bodies[1].text, "store of the second"));
    from_second[0] += c->values[0] == 3;
    from_second[1] += c->values[1] == 4;
    from_second[2] += !c->bodies[0].text;
    from_second[3] += c->bodies[1].text != NULL;
  }
  for (int i = 0; i < 4; i++)
    WS_CHECK(from_second[i] > CHILDREN / 4 &&
             from_second[i] < CHILDREN * 3 / 4);
  free_world(&w);
}

WS_TEST(crossover_mends_constraints) {
  /* a + b is 5: of parents 1,4 and 4,1 no other child is legal as it is. */
  world w = make_world("[" HEAD("sum") "," PARAM("a", "1 2 3 4", "1") "," PARAM(
      "b", "1 2 3 4", "4") "," LAUNCH("m") "," REQUIRE(9, "a + b == 5",
                                                       "sum") "]");
  ws_rng rng;
  ws_rng_init(&rng, 1);
  add(&w, candidate_at(&w, 1, 4), 5, 5);
  add(&w, candidate_at(&w, 4, 1), 5, 5);
  for (int i = 0; i < 50; i++) {
    ws_candidate *c = propose(&w, &rng, WS_REQUEST_CROSSOVER, 0, 1, false);
    WS_CHECK_INT(c->values[0] + c->values[1], 5);
    WS_CHECK(c->values[0] == 2 || c->values[0] == 3);
  }
  free_world(&w);
}

WS_TEST(a_parent_of_another_template_is_explored_in_its_own) {
  world w = make_world(PLAIN);
  ws_rng rng;
  ws__space *other =
      make_space(w.arena, "[" HEAD("other") "," PARAM("wide", "1 2 3",
                                                      "1") "," LAUNCH("m") "]");
  ws_rng_init(&rng, 1);
  add(&w, ws_candidate_create(w.arena, other->tmpl), 5, 5);
  ws_candidate *c = propose(&w, &rng, WS_REQUEST_EXPLOIT, 0, -1, true);
  WS_CHECK_TEXT(c->tmpl->name, "plain"); /* not known yet: the task's */
  ws__knowledge_add_space(&w.knowledge, other);
  add(&w, candidate_at(&w, 1, 1), 5, 5);
  c = propose(&w, &rng, WS_REQUEST_EXPLOIT, 0, -1, true);
  WS_CHECK_TEXT(c->tmpl->name, "other");
  c = propose(&w, &rng, WS_REQUEST_CROSSOVER, 0, 1, true); /* no such child */
  WS_CHECK_TEXT(c->tmpl->name, "other");
  free_world(&w);
}

/* Which has more choices than the task's. */
WS_TEST(a_start_of_another_template_is_moved_in_its_own) {
  world w = make_world(PLAIN);
  ws_rng rng;
  ws__space *other = make_space(w.arena, LANDSCAPE);
  const ws_candidate *start = ws_candidate_create(w.arena, other->tmpl);
  int moves = 0;
  ws_rng_init(&rng, 1);
  ws__knowledge_add_space(&w.knowledge, other);
  w.knowledge.round = w.knowledge.start_count = 1;
  w.knowledge.starts = &start;
  for (int i = 0; i < 20; i++)
    moves += propose(&w, &rng, WS_REQUEST_EXPLORE, -1, -1, true)->tmpl ==
             other->tmpl;
  WS_CHECK(moves > 4 && moves < 16);
  free_world(&w);
}

/* ---- the surrogate ---- */
WS_TEST(doubt_grows_with_distance) {
  world w = make_world(PLAIN);
  ws__space *space = w.knowledge.spaces[0];
  ws__surrogate *s = ws__surrogate_create(w.arena, SHAPES, 0);
  ws__surrogate_fit(s, space);
  WS_CHECK_NEAR(ws__surrogate_doubt(s, space, candidate_at(&w, 1, 1)), 1,
                1e-12);
  ws__surrogate_expect(s, space, candidate_at(&w, 1, 1));
  ws__surrogate_fit(s, space);
  /* reach 0.5, noise 0.01: 1 - exp(-0.5 * distance)^2 / 1.01; of values 1 to 4
   * two neighbours are a third apart */
  const double want[] = {1 - 1 / 1.01, 1 - exp(-1 / 3.0) / 1.01,
                         1 - exp(-1) / 1.01, 1 - exp(-2) / 1.01};
  static const int at[][2] = {{1, 1}, {1, 2}, {4, 1}, {4, 4}};
  for (int i = 0; i < 4; i++)
    WS_CHECK_NEAR(
        ws__surrogate_doubt(s, space, candidate_at(&w, at[i][0], at[i][1])),
        want[i], 1e-12);
  ws_candidate *own = with_body(&w, 1, 1, 0, "own"); /* another body: 1 apart */
  WS_CHECK_NEAR(ws__surrogate_doubt(s, space, own), want[2], 1e-12);
  free_world(&w);
}

/* Slower by a and faster by b on shape 0; on shape 1 the other way round. */
static void add_slope(world *w, int a, int b) {
  add(w, candidate_at(w, a, b), exp(a - 0.5 * b), exp(0.5 * b - a));
}

WS_TEST(gain_is_where_results_point) {
  world w = make_world(PLAIN);
  ws__space *space = w.knowledge.spaces[0];
  static const int seen[][2] = {{1, 1}, {2, 3}, {3, 2}, {4, 3}, {2, 2}, {3, 1}};
  for (int i = 0; i < 6; i++)
    add_slope(&w, seen[i][0], seen[i][1]);
  ws__surrogate_fit(w.knowledge.surrogate, space);
  double toward0 =
      ws__surrogate_gain(w.knowledge.surrogate, space, candidate_at(&w, 1, 4));
  double toward1 =
      ws__surrogate_gain(w.knowledge.surrogate, space, candidate_at(&w, 4, 1));
  double between =
      ws__surrogate_gain(w.knowledge.surrogate, space, candidate_at(&w, 3, 3));
  WS_CHECK(toward0 > 2 * between && toward1 > 2 * between && between >= 0);
  /* what is on its way has taken its gain */
  ws__surrogate_expect(w.knowledge.surrogate, space, candidate_at(&w, 1, 4));
  ws__surrogate_fit(w.knowledge.surrogate, space);
  WS_CHECK(ws__surrogate_gain(w.knowledge.surrogate, space,
                              candidate_at(&w, 1, 4)) < 0.5 * toward0);
  free_world(&w);
}

/* ---- strategies against the landscape ---- */
static void landscape_us(const void *context, const ws_candidate *candidate,
                         double *out_us) {
  (void)context;
  for (int s = 0; s < SHAPES; s++) {
    ws_estimate estimate;
    WS_CHECK(ws_model_estimate(NULL, NULL, candidate, NULL, &shapes[s],
                               &estimate, NULL) == WS_OK);
    out_us[s] = estimate.us;
  }
}

static const char *const plain_names[] = {"random", "best-of-n", "local",
                                          "refine", "evolve"};
enum { PLAIN_NAMES = 5, LENGTH = 60, LONG = 120 };

static char *sequence(ws_arena *arena, const char *name, uint64_t seed) {
  strategy_loop loop;
  char *text = ws_arena_strdup(arena, "");
  loop_init(&loop, make_space(arena, LANDSCAPE), SHAPES, name, seed, WS__WINDOW,
            landscape_us, NULL);
  for (int i = 0; i < LENGTH; i++) {
    const ws__result *result = loop_step(&loop);
    WS_CHECK(result);
    text = ws_arena_printf(arena, "%s%.8s", text, result->id);
  }
  loop_deinit(&loop);
  return text;
}

WS_TEST(the_seed_decides) {
  ws_arena *arena = ws_arena_create();
  for (int i = 0; i < PLAIN_NAMES; i++) {
    char *first = sequence(arena, plain_names[i], 1);
    WS_CHECK_TEXT(sequence(arena, plain_names[i], 1), first);
    WS_CHECK(strcmp(sequence(arena, plain_names[i], 2), first));
  }
  ws_arena_destroy(arena);
}

static double geomean_after(ws_arena *arena, const char *name, uint64_t seed) {
  strategy_loop loop;
  loop_init(&loop, make_space(arena, LANDSCAPE), SHAPES, name, seed, WS__WINDOW,
            landscape_us, NULL);
  for (int i = 0; i < LONG; i++)
    WS_CHECK(loop_step(&loop));
  double us = ws__knowledge_geomean(&loop.knowledge);
  loop_deinit(&loop);
  return us;
}

WS_TEST(learning_beats_chance) {
  ws_arena *arena = ws_arena_create();
  for (uint64_t seed = 1; seed <= 3; seed++) {
    double chance = geomean_after(arena, "random", seed);
    WS_CHECK(geomean_after(arena, "local", seed) < 0.6 * chance);
    WS_CHECK(geomean_after(arena, "evolve", seed) < 0.6 * chance);
  }
  ws_arena_destroy(arena);
}

/* A small space is walked to its end by each of them. */
WS_TEST(every_strategy_ends_with_the_space) {
  ws_arena *arena = ws_arena_create();
  for (int i = 0; i < PLAIN_NAMES; i++) {
    strategy_loop loop;
    int count = 0;
    loop_init(
        &loop,
        make_space(arena,
                   "[" HEAD("few") "," PARAM("a", "1 2 3 4", "1") "," PARAM(
                       "b", "1 2 3 4 5", "1") "," LAUNCH("m") "]"),
        SHAPES, plain_names[i], 1, WS__WINDOW, landscape_us, NULL);
    while (loop_step(&loop))
      count++;
    WS_CHECK_INT(count, 20);
    loop_deinit(&loop);
  }
  ws_arena_destroy(arena);
}

WS_TEST(unknown_names_are_refused_with_a_list) {
  ws_diag diag = {""};
  WS_CHECK(!ws__strategy_find("genetic", &diag));
  for (int i = 0; i < PLAIN_NAMES; i++) {
    WS_CHECK_CONTAINS(diag.text, plain_names[i]);
    WS_CHECK(ws__strategy_find(plain_names[i], NULL));
  }
  WS_CHECK(ws__strategy_find("scientist", NULL)->needs_model);
}
