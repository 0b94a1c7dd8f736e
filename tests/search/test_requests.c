/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What strategies ask for, given what they are answered.
 */
#include "strategy_talk.h"

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

/* What a move gained is its island's; a start is for all of them. */
WS_TEST(a_small_move_stays_on_its_island) {
  talk t = begin_talk("evolve");
  start(&t, 8, 8);
  ws__request home = of_island(2);
  int answer = answer_to(&t, &home, candidate_at(&t.w, 2, 1), 4, 4, 3);
  ws__request move = ws__exploit_request(answer, -1, "moves");
  move.climb = 1;
  move.island = 2;
  int moved = answer_to(&t, &move, candidate_at(&t.w, 2, 2), 1, 1, 4);
  WS_CHECK_INT(count_drawn(&t, 0, moved, 10), 0);
  WS_CHECK(count_drawn(&t, 2, moved, 10) > 2);
  free_world(&t.w);
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
