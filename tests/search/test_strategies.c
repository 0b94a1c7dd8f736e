/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Knowledge, built-in proposer and strategies by themselves: what they ask for,
 * given results that the tests make up. Expected values are worked out by hand.
 */
#include "../gemm_shape.h"
#include "landscape.h"
#include "strategies.h"
#include "strategy_loop.h"
#include "surrogate.h"
#include "ws_test.h"

#include <cjson/cJSON.h>

enum { SHAPES = 2 };
static ws_shape shapes[SHAPES];

static ws__space *make_space(ws_arena *arena, const char *text) {
  ws_diag diag = {""};
  ws_records records;
  const ws_template *tmpl;
  ws__space *space = ws_arena_alloc(arena, sizeof *space);
  shapes[0] = gemm_shape(16, 7168, 2048),
  shapes[1] = gemm_shape(1024, 4608, 512);
  cJSON *json = cJSON_Parse(text); /* NULL is refused */
  WS_CHECK(ws_records_from_json(arena, json, &records, &diag) == WS_OK);
  cJSON_Delete(json);
  if (ws_template_from_records(arena, &records, "t.ll",
                               ws_hash_bytes(text, strlen(text)), &tmpl,
                               &diag) != WS_OK ||
      ws__space_init(space, arena, tmpl, 0, "kmajor", shapes, SHAPES, &diag) !=
          WS_OK)
    WS_FAIL("%s", diag.text);
  return space;
}

/* Four free values, twice, and two regions, one with variants. */
#define STORE RECORD("region", 5, "\"store\",\"contract\"")
#define PLAIN                                                                  \
  "[" HEAD("plain") "," PARAM("a", "1 2 3 4", "1") "," PARAM(                  \
      "b", "1 2 3 4", "1") "," LAUNCH("m") "," REGION("stage") "," STORE "]"

/* ---- knowledge by hand ---- */
typedef struct world {
  ws_arena *arena;
  ws__seen seen;
  ws__knowledge knowledge;
} world;

/* seen is the world's own: set before each use, as a world may be copied. */
static world make_world(const char *text) {
  world w = {.arena = ws_arena_create()};
  ws__knowledge_init(&w.knowledge, w.arena, make_space(w.arena, text), NULL,
                     SHAPES, 0.01, 0);
  return w;
}

static void free_world(world *w) {
  ws__seen_deinit(&w->seen);
  ws_arena_destroy(w->arena);
}

static ws_candidate *candidate_at(world *w, int a, int b) {
  ws__space *space = w->knowledge.spaces[0];
  ws_candidate *candidate = ws_candidate_create(w->arena, space->tmpl);
  candidate->values[0] = a;
  candidate->values[1] = b;
  ws_candidate_update_id(candidate);
  return candidate;
}

static ws__result result_of(world *w, const ws_candidate *candidate, double us0,
                            double us1) {
  double *us = ws_arena_alloc(w->arena, 2 * sizeof *us);
  us[0] = us0, us[1] = us1;
  ws__result result = {.request = ws__request_of(WS_REQUEST_EXPLORE, "default"),
                       .candidate = candidate,
                       .us = us,
                       .stage = "",
                       .reason = "",
                       .id = candidate ? candidate->id.hex : ""};
  if (candidate)
    ws__seen_add(&w->seen, &candidate->id);
  return result;
}

static int add(world *w, const ws_candidate *candidate, double us0,
               double us1) {
  ws__result result = result_of(w, candidate, us0, us1);
  w->knowledge.seen = &w->seen;
  return ws__knowledge_add(&w->knowledge, &result);
}

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

/* ---- what strategies ask for ---- */
typedef struct talk {
  world w;
  const ws__strategy *strategy;
  void *state;
  ws_rng rng;
  ws__request request; /* the last */
} talk;

static talk begin_talk(const char *name) {
  talk t = {.w = make_world(PLAIN), .strategy = ws__strategy_find(name, NULL)};
  t.state = t.strategy->create(t.w.arena, &t.w.knowledge);
  ws_rng_init(&t.rng, 1);
  return t;
}

static ws__draw ask(talk *t) {
  t->w.knowledge.seen = &t->w.seen;
  return t->strategy->next(t->state, &t->w.knowledge, &t->rng, &t->request);
}

static void must_ask(talk *t, ws_request_kind kind, int first, int second) {
  WS_CHECK_INT(ask(t), WS__DRAW_FOUND);
  WS_CHECK_TEXT(ws_request_text(t->request.kind), ws_request_text(kind));
  WS_CHECK_INT(t->request.parents[0], first);
  WS_CHECK_INT(t->request.parents[1], second);
}

static int answer_to(talk *t, const ws__request *request,
                     const ws_candidate *candidate, double us0, double us1,
                     int8_t tile) {
  ws__result result = result_of(&t->w, candidate, us0, us1);
  result.request = *request;
  result.cell.bins[WS__AXIS_TILE] = tile;
  t->w.knowledge.seen = &t->w.seen;
  int index = ws__knowledge_add(&t->w.knowledge, &result);
  t->strategy->learn(t->state, &t->w.knowledge, index);
  return index;
}

static int start(talk *t, double us0, double us1) {
  ws__request request = ws__request_of(WS_REQUEST_EXPLORE, "default");
  return answer_to(t, &request, candidate_at(&t->w, 1, 1), us0, us1, 0);
}

static int document(talk *t, const ws_reply *reply) {
  ws__result result = {.request = t->request,
                       .verdict = reply ? WS_VERDICT_OK : WS_VERDICT_ILLEGAL,
                       .reply = reply,
                       .stage = "",
                       .reason = "",
                       .id = ""};
  int index = ws__knowledge_add(&t->w.knowledge, &result);
  t->strategy->learn(t->state, &t->w.knowledge, index);
  return index;
}

WS_TEST(nothing_is_asked_before_the_start_is_judged) {
  static const char *const names[] = {"best-of-n", "refine", "scientist"};
  for (int i = 0; i < 3; i++) {
    talk t = begin_talk(names[i]);
    ws_candidate *first = candidate_at(&t.w, 1, 1);
    ws__seen_add(&t.w.seen, &first->id); /* on its way */
    WS_CHECK_INT(ask(&t), WS__DRAW_WAIT);
    start(&t, 8, 8);
    WS_CHECK_INT(ask(&t), WS__DRAW_FOUND);
    WS_CHECK_INT(t.request.parents[0], 0);
    free_world(&t.w);
  }
}

WS_TEST(best_of_n_learns_nothing) {
  talk t = begin_talk("best-of-n");
  start(&t, 8, 8);
  for (int i = 0; i < 5; i++) {
    must_ask(&t, WS_REQUEST_EXPLORE, 0, -1);
    WS_CHECK_INT(t.request.target, -1);
    WS_CHECK(!t.request.guided);
    answer_to(&t, &t.request, candidate_at(&t.w, 2, 1 + i % 4), 1, 1, 0);
  }
  free_world(&t.w);
}

WS_TEST(refine_follows_one_line) {
  talk t = begin_talk("refine");
  start(&t, 8, 8);
  must_ask(&t, WS_REQUEST_EXPLOIT, 0, -1);
  WS_CHECK_INT(ask(&t), WS__DRAW_WAIT); /* turn by turn */
  ws__request turn = t.request;
  int slower = answer_to(&t, &turn, candidate_at(&t.w, 1, 2), 9, 9, 0);
  must_ask(&t, WS_REQUEST_EXPLOIT, 0, -1);
  int faster = answer_to(&t, &t.request, candidate_at(&t.w, 1, 3), 4, 4, 0);
  must_ask(&t, WS_REQUEST_EXPLOIT, faster, -1);
  t.w.knowledge.repairs_open = 1;
  answer_to(&t, &t.request, candidate_at(&t.w, 1, 4), INFINITY, INFINITY, 0);
  WS_CHECK_INT(ask(&t), WS__DRAW_WAIT); /* its repair is on the way */
  t.w.knowledge.repairs_open = 0;
  ws__request repair = turn;
  repair.kind = WS_REQUEST_REPAIR;
  int mended = answer_to(&t, &repair, candidate_at(&t.w, 2, 1), 3, 3, 0);
  must_ask(&t, WS_REQUEST_EXPLOIT, mended, -1);
  (void)slower;
  free_world(&t.w);
}

WS_TEST(refine_waits_for_small_moves_and_goes_on_from_them) {
  talk t = begin_talk("refine");
  start(&t, 8, 8);
  must_ask(&t, WS_REQUEST_EXPLOIT, 0, -1);
  int answer = answer_to(&t, &t.request, candidate_at(&t.w, 1, 2), 4, 4, 0);
  ws__request move = ws__exploit_request(answer, -1, "moves");
  move.climb = 1;
  t.w.knowledge.moves_open = 1;
  WS_CHECK_INT(ask(&t), WS__DRAW_WAIT);
  t.w.knowledge.moves_open = 0;
  int moved = answer_to(&t, &move, candidate_at(&t.w, 1, 3), 3, 3, 0);
  must_ask(&t, WS_REQUEST_EXPLOIT, moved, -1);
  free_world(&t.w);
}

WS_TEST(refine_begins_anew_in_another_cell) {
  talk t = begin_talk("refine");
  start(&t, 8, 8);
  must_ask(&t, WS_REQUEST_EXPLOIT, 0, -1);
  int here = answer_to(&t, &t.request, candidate_at(&t.w, 1, 2), 4, 4, 0);
  must_ask(&t, WS_REQUEST_EXPLOIT, here, -1);
  answer_to(&t, &t.request, candidate_at(&t.w, 1, 3), 4.5, 4.5, 0);
  must_ask(&t, WS_REQUEST_EXPLOIT, here, -1);
  int there = answer_to(&t, &t.request, candidate_at(&t.w, 1, 4), 5, 5, 3);
  for (int i = 2; i < 8; i++) { /* the eighth turn without a gain */
    must_ask(&t, WS_REQUEST_EXPLOIT, here, -1);
    answer_to(&t, &t.request, NULL, INFINITY, INFINITY, 0);
  }
  must_ask(&t, WS_REQUEST_EXPLOIT, there, -1);
  free_world(&t.w);
}

/* Asks, and answers with nothing as from island `aside`, so that the next may
 * be asked and no other island changes. */
static void ask_aside(talk *t, int aside) {
  WS_CHECK_INT(ask(t), WS__DRAW_FOUND);
  ws__request answered = t->request;
  answered.island = aside;
  answer_to(t, &answered, NULL, INFINITY, INFINITY, 0);
}

/* Of evolve: asks until an exploit request of the island without target. */
static void ask_by_weight(talk *t, int island, int aside) {
  for (int i = 0; i < 2000; i++) {
    ask_aside(t, aside);
    if (t->request.kind == WS_REQUEST_EXPLOIT && t->request.target < 0 &&
        t->request.island == island)
      return;
  }
  WS_FAIL("island %d asks for nothing by weight", island);
}

static ws__request of_island(int island) {
  ws__request request = ws__request_of(WS_REQUEST_EXPLOIT, "evolve");
  request.island = island;
  return request;
}

WS_TEST(losers_leave_an_island_and_specialists_stay) {
  talk t = begin_talk("evolve");
  ws__request home = of_island(1);
  int old = start(&t, 8, 8);
  int better = answer_to(&t, &home, candidate_at(&t.w, 1, 2), 4, 4, 0);
  int loser = answer_to(&t, &home, candidate_at(&t.w, 1, 3), 5, 5, 0);
  int special = answer_to(&t, &home, candidate_at(&t.w, 1, 4), 20, 1, 0);
  int elsewhere = answer_to(&t, &home, candidate_at(&t.w, 2, 1), 4.5, 4.5, 2);
  bool seen[8] = {0};
  for (int i = 0; i < 400; i++) {
    ask_aside(&t, 3);
    if (t.request.island == 1 && t.request.kind == WS_REQUEST_EXPLOIT) {
      seen[t.request.parents[0]] = true;
      WS_CHECK(t.request.target != 0 || t.request.parents[0] == better);
      WS_CHECK(t.request.target != 1 || t.request.parents[0] == special);
    }
    WS_CHECK(t.request.island != 2 || t.request.parents[0] == old);
  }
  WS_CHECK(!seen[old] && !seen[loser]);
  WS_CHECK(seen[better] && seen[special] && seen[elsewhere]);
  free_world(&t.w);
}

/* Draws of the island until `draws` by weight fell; how many on `wanted`. */
static int count_drawn(talk *t, int island, int wanted, int draws) {
  int count = 0;
  for (int i = 0; i < draws; i++) {
    ask_by_weight(t, island, 1);
    count += t->request.parents[0] == wanted;
  }
  return count;
}

WS_TEST(children_spread_the_effort) {
  for (uint64_t seed = 1; seed <= 3; seed++) {
    talk t = begin_talk("evolve");
    ws_rng_init(&t.rng, seed);
    start(&t, 8, 8);
    ws__request home = of_island(0);
    int old = answer_to(&t, &home, candidate_at(&t.w, 2, 1), 4, 4, 3);
    WS_CHECK(count_drawn(&t, 0, old, 25) > 12); /* a family of a dozen */
    int young = answer_to(&t, &home, candidate_at(&t.w, 2, 2), 4, 4, 4);
    WS_CHECK(count_drawn(&t, 0, young, 10) >= 6); /* of the same score */
    free_world(&t.w);
  }
}

WS_TEST(the_best_migrate_round_the_ring) {
  talk t = begin_talk("evolve");
  start(&t, 8, 8);
  ws__request home = of_island(3);
  int best = answer_to(&t, &home, candidate_at(&t.w, 1, 2), 2, 2, 0);
  ask_by_weight(&t, 0, 1);
  WS_CHECK_INT(t.request.parents[0], 0);
  for (int i = 0; i < 23; i++) /* the 24th result of the island */
    answer_to(&t, &home, NULL, INFINITY, INFINITY, 0);
  ask_by_weight(&t, 0, 1); /* 0 comes after 3 */
  WS_CHECK_INT(t.request.parents[0], best);
  ask_by_weight(&t, 2, 1);
  WS_CHECK_INT(t.request.parents[0], 0);
  free_world(&t.w);
}

WS_TEST(an_island_that_stands_still_is_given_up) {
  talk t = begin_talk("evolve");
  start(&t, 8, 8);
  ws__request home = of_island(0), other = of_island(1);
  int near = answer_to(&t, &other, candidate_at(&t.w, 1, 2), 3, 3, 1);
  answer_to(&t, &home, candidate_at(&t.w, 1, 3), 2, 2, 1);
  int far = answer_to(&t, &other, candidate_at(&t.w, 1, 4), 4, 4, 5);
  for (int i = 1; i <= 2; i++) /* else `far` were not of the better half */
    answer_to(&t, &other, candidate_at(&t.w, 2, i), 20, 20, 5);
  for (int i = 0; i < 48; i++)
    answer_to(&t, &home, NULL, INFINITY, INFINITY, 0);
  ask_by_weight(&t, 0, 2);
  WS_CHECK_INT(t.request.parents[0], far);
  (void)near;
  free_world(&t.w);
}

WS_TEST(a_start_is_slow) {
  static const char *const names[] = {"local", "evolve"};
  for (int n = 0; n < 2; n++) {
    talk t = begin_talk(names[n]);
    start(&t, 8, 8);
    int open = 0, answered = 0;
    for (; answered < 64; answered++, open--) {
      while (ask(&t) == WS__DRAW_FOUND)
        open++;
      WS_CHECK_INT(open, 4 + answered / 4);
      answer_to(&t, &t.request, NULL, INFINITY, INFINITY, 0);
    }
    free_world(&t.w);
  }
}

/* ---- scientist ---- */
static const ws_reply_experiment experiments[] = {
    {"wide loads", "use dwordx4", "line 3", 1.1, 1.3, 20},
    {"split k", "two slices", "grid", 0.8, 2.0, 60},
    {"new swizzle", "xor banks", "lds", 0.7, 1.8, 90},
    {"sure thing", "drop a barrier", "loop", 1.2, 1.25, 10},
    {"nothing", "rename", "names", 1.0, 1.0, 0}};

static ws_reply design(void) {
  return (ws_reply){.experiments = experiments, .experiment_count = 5};
}

/* The documents up to the first write request. */
static void science_until_write(talk *t, const ws_reply *select,
                                const ws_reply *experiments_of, int base,
                                int reference) {
  WS_CHECK_INT(ask(t), WS__DRAW_FOUND);
  WS_CHECK_INT(t->request.kind, WS_REQUEST_SELECT);
  WS_CHECK_INT(ask(t), WS__DRAW_WAIT);
  document(t, select);
  must_ask(t, WS_REQUEST_DESIGN, base, reference);
  WS_CHECK_INT(ask(t), WS__DRAW_WAIT);
  document(t, experiments_of);
}

WS_TEST(a_generation_of_the_scientist) {
  talk t = begin_talk("scientist");
  t.w.knowledge.blind = true;
  int base = start(&t, 8, 8);
  ws__request other = ws__request_of(WS_REQUEST_EXPLORE, "start");
  int reference = answer_to(&t, &other, candidate_at(&t.w, 2, 2), 9, 9, 0);
  char *id = ws_arena_strndup(t.w.arena, t.w.knowledge.results[base].id, 10);
  ws_reply choice = {.base = id,
                     .reference = t.w.knowledge.results[reference].id};
  ws_reply plan = design();
  science_until_write(&t, &choice, &plan, base, reference);
  /* most innovative: 2; highest possible of the rest: 1; most certain: 3 */
  static const char *const titles[] = {"new swizzle", "split k", "sure thing"};
  ws__request writes[3];
  for (int i = 0; i < 3; i++) {
    must_ask(&t, WS_REQUEST_WRITE, base, reference);
    WS_CHECK_CONTAINS(t.request.plan, titles[i]);
    writes[i] = t.request;
  }
  WS_CHECK_CONTAINS(writes[0].plan, "xor banks\nlds\n");
  WS_CHECK_CONTAINS(writes[0].plan, "0.7 to 1.8");
  for (int i = 0; i < 3; i++) {
    WS_CHECK_INT(ask(&t), WS__DRAW_WAIT);
    if (i == 2)
      t.w.knowledge.repairs_open = 1; /* the last failed and will be mended */
    answer_to(&t, &writes[i], candidate_at(&t.w, 3, 1 + i),
              i == 2 ? INFINITY : 7, i == 2 ? INFINITY : 7, 0);
  }
  WS_CHECK_INT(ask(&t), WS__DRAW_WAIT);
  t.w.knowledge.repairs_open = 0;
  ws__request repair = writes[2];
  repair.kind = WS_REQUEST_REPAIR;
  answer_to(&t, &repair, candidate_at(&t.w, 4, 4), 6, 6, 0);
  must_ask(&t, WS_REQUEST_DISTIL, base, reference);
  WS_CHECK_INT(ask(&t), WS__DRAW_WAIT);
  document(&t, &(ws_reply){.findings = "xor pays"});
  WS_CHECK_TEXT(t.w.knowledge.findings, "xor pays");
  WS_CHECK_INT(ask(&t), WS__DRAW_FOUND);
  WS_CHECK_INT(t.request.kind, WS_REQUEST_SELECT);
  free_world(&t.w);
}

WS_TEST(the_scientist_does_without_useful_documents) {
  talk t = begin_talk("scientist");
  start(&t, 8, 8);
  ws__request other = ws__request_of(WS_REQUEST_EXPLORE, "start");
  int leader = answer_to(&t, &other, candidate_at(&t.w, 2, 2), 2, 6, 0);
  int unlike = answer_to(&t, &other, candidate_at(&t.w, 2, 3), 9, 3, 0);
  ws_reply nonsense = {.base = "feedfacefeedface", .reference = ""};
  science_until_write(&t, &nonsense, NULL, leader, unlike);
  must_ask(&t, WS_REQUEST_EXPLOIT, leader, unlike);
  WS_CHECK_TEXT(t.request.plan, "");
  WS_CHECK_INT(ask(&t), WS__DRAW_WAIT);
  answer_to(&t, &t.request, NULL, INFINITY, INFINITY, 0);
  must_ask(&t, WS_REQUEST_DISTIL, leader, unlike);
  document(&t, NULL);
  WS_CHECK_TEXT(t.w.knowledge.findings, "");
  science_until_write(&t, NULL, &(ws_reply){.experiment_count = 0}, leader,
                      unlike);
  must_ask(&t, WS_REQUEST_EXPLOIT, leader, unlike);
  free_world(&t.w);
}

WS_TEST(two_experiments_are_two_requests) {
  talk t = begin_talk("scientist");
  t.w.knowledge.blind = true;
  int base = start(&t, 8, 8);
  ws_reply plan = {.experiments = experiments, .experiment_count = 2};
  must_ask(&t, WS_REQUEST_DESIGN, base, -1); /* there is one to choose from */
  document(&t, &plan);
  must_ask(&t, WS_REQUEST_WRITE, base, -1);
  WS_CHECK_CONTAINS(t.request.plan, "split k");
  must_ask(&t, WS_REQUEST_WRITE, base, -1);
  WS_CHECK_CONTAINS(t.request.plan, "wide loads");
  WS_CHECK_INT(ask(&t), WS__DRAW_WAIT);
  free_world(&t.w);
}

WS_TEST(experiments_that_are_not_blind_wait_for_each_other) {
  talk t = begin_talk("scientist");
  int base = start(&t, 8, 8);
  ws_reply plan = {.experiments = experiments, .experiment_count = 2};
  must_ask(&t, WS_REQUEST_DESIGN, base, -1);
  document(&t, &plan);
  must_ask(&t, WS_REQUEST_WRITE, base, -1);
  WS_CHECK_INT(ask(&t), WS__DRAW_WAIT);
  t.w.knowledge.moves_open = 1; /* what it brought is followed up first */
  answer_to(&t, &t.request, candidate_at(&t.w, 3, 1), 7, 7, 0);
  WS_CHECK_INT(ask(&t), WS__DRAW_WAIT);
  t.w.knowledge.moves_open = 0;
  must_ask(&t, WS_REQUEST_WRITE, base, -1);
  WS_CHECK_CONTAINS(t.request.plan, "wide loads");
  free_world(&t.w);
}
