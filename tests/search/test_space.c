/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The space by itself: drawing, moving, the proof of emptiness. Counts are
 * worked out by hand.
 */
#include "../gemm_shape.h"
#include "landscape.h"
#include "space.h"
#include "ws_test.h"

#include <cjson/cJSON.h>

static ws__space make_space(ws_arena *arena, const char *text) {
  ws_diag diag = {""};
  ws_records records;
  const ws_template *tmpl;
  ws__space space;
  static ws_shape shape; /* as long as the space */
  shape = gemm_shape(1024, 1024, 1024);
  cJSON *json = cJSON_Parse(text);
  WS_CHECK(json);
  WS_CHECK(ws_records_from_json(arena, json, &records, &diag) == WS_OK);
  cJSON_Delete(json);
  if (ws_template_from_records(arena, &records, "t.ll", ws_hash_bytes("", 0),
                               &tmpl, &diag) != WS_OK ||
      ws__space_init(&space, arena, tmpl, 0, "kmajor", &shape, 1, &diag) !=
          WS_OK)
    WS_FAIL("%s", diag.text);
  return space;
}

/* Draws until none is left; counts. */
static int draw_all(ws__space *space, ws__draw *out_end) {
  ws_rng rng;
  ws__seen seen = {0};
  int point[16], count = 0;
  ws_rng_init(&rng, 3);
  while ((*out_end = ws__space_draw(space, &rng, &seen, point)) ==
         WS__DRAW_FOUND) {
    ws_arena *arena = ws_arena_create();
    const ws_candidate *candidate = ws__space_candidate(space, arena, point);
    WS_CHECK(ws__space_is_legal(space, point));
    WS_CHECK(!ws__seen_contains(&seen, &candidate->id));
    ws__seen_add(&seen, &candidate->id);
    ws_arena_destroy(arena);
    count++;
  }
  ws__seen_deinit(&seen);
  return count;
}

WS_TEST(every_legal_point_is_drawn_once) {
  /* a < b of 1..4: 6 pairs; a region with two variants: 3 bodies. */
  ws_arena *arena = ws_arena_create();
  ws__space space = make_space(
      arena,
      "[" HEAD("s") "," PARAM("a", "1 2 3 4", "1") "," PARAM("b", "1 2 3 4", "1") "," PARAM(
          "one", "7",
          "7") "," LAUNCH("m") "," REQUIRE(9, "a < b",
                                           "order") "," REGION("stage") "]");
  ws__draw end;
  WS_CHECK_INT(space.count, 3); /* `one` has no choice */
  WS_CHECK_INT(draw_all(&space, &end), 18);
  WS_CHECK_INT(end, WS__DRAW_NONE);
  ws_arena_destroy(arena);
}

/* Ten parameters a to j of 16 values, 10^12 points, and these constraints. */
static char *wide(ws_arena *arena, const char *requires) {
  char *text = ws_arena_printf(arena, "[%s,%s,", HEAD("s"), LAUNCH("m"));
  for (char name = 'a'; name <= 'j'; name++)
    text = ws_arena_printf(
        arena,
        "%s{\"kind\":\"param\",\"line\":2,\"operands\":[\"%c\",\"ws.%c\","
        "\"0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\",\"x\",\"0\"]},",
        text, name, name);
  return ws_arena_printf(arena, "%s%s]", text, requires);
}

WS_TEST(a_needle_is_found) {
  /* One point in 10^12, but each constraint cuts the walk off early. */
  ws_arena *arena = ws_arena_create();
  ws__space space = make_space(
      arena, wide(arena, REQUIRE(1, "a + b + c == 45", "x") "," REQUIRE(
                             2, "d * e * f == 3375",
                             "x") "," REQUIRE(3, "g == 7 && h == 8",
                                              "x") "," REQUIRE(4, "i - j == 15",
                                                               "x")));
  ws__draw end;
  WS_CHECK_INT(draw_all(&space, &end), 1);
  WS_CHECK_INT(end, WS__DRAW_NONE);
  ws_arena_destroy(arena);
}

WS_TEST(a_space_too_large_to_prove_empty) {
  ws_arena *arena = ws_arena_create();
  ws__space space = make_space(
      arena, wide(arena, REQUIRE(7, "a+b+c+d+e+f+g+h+i+j == 151", "heavy")));
  ws__draw end;
  double start = ws_clock_ms();
  WS_CHECK_INT(draw_all(&space, &end), 0);
  WS_CHECK_INT(end, WS__DRAW_GAVE_UP);
  WS_CHECK(ws_clock_ms() - start < 10000);
  ws_diag diag;
  WS_CHECK_INT(ws__space_unsatisfiable(&space, end, &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "t.ll:7: found no setting");
  ws_arena_destroy(arena);
}

WS_TEST(a_constraint_that_cannot_be_evaluated_does_not_hold) {
  /* 8 / a: a = 0 is an error, 1, 2, 4 and 8 hold, others do not. */
  ws_arena *arena = ws_arena_create();
  ws__space space = make_space(
      arena, "[" HEAD("s") "," PARAM("a", "0 1 2 3 4 8 16", "1") "," LAUNCH(
                 "m") "," REQUIRE(9, "8 % a == 0", "divides") "]");
  ws__draw end;
  WS_CHECK_INT(draw_all(&space, &end), 4);
  ws_arena_destroy(arena);
}

static int distance(const ws__space *space, const int *a, const int *b) {
  int count = 0;
  for (int d = 0; d < space->count; d++)
    count += a[d] != b[d];
  return count;
}

WS_TEST(moves_are_small_and_legal) {
  ws_arena *arena = ws_arena_create();
  ws__space space = make_space(arena, LANDSCAPE);
  ws_rng rng;
  ws__seen seen = {0};
  int from[16], to[16], by_distance[5] = {0}, steps = 0;
  ws_rng_init(&rng, 9);
  for (int i = 0; i < 2000; i++) {
    WS_CHECK_INT(ws__space_draw(&space, &rng, &seen, from), WS__DRAW_FOUND);
    WS_CHECK(ws__space_move(&space, &rng, &seen, NULL, from, to));
    WS_CHECK(ws__space_is_legal(&space, to));
    int moved = distance(&space, from, to);
    WS_CHECK(moved >= 1);
    by_distance[moved < 4 ? moved : 4]++;
    for (int d = 0; d < space.count; d++)
      steps += space.dimensions[d].param >= 0 && abs(from[d] - to[d]) == 1;
  }
  WS_CHECK(by_distance[1] > by_distance[2] && by_distance[2] > by_distance[3] &&
           by_distance[3] > 0);
  WS_CHECK(by_distance[4] < 200); /* constraints made more change */
  WS_CHECK(steps > 1000);         /* most moves are to a neighbouring value */
  ws__seen_deinit(&seen);
  ws_arena_destroy(arena);
}

WS_TEST(a_move_in_words) {
  ws_arena *arena = ws_arena_create();
  ws__space space = make_space(
      arena, "[" HEAD("s") "," PARAM("tile", "16 64", "16") "," LAUNCH(
                 "m") "," REGION("stage") "]");
  WS_CHECK_TEXT(
      ws__space_describe_move(&space, arena, (int[]){0, 0}, (int[]){1, 2}),
      "tile 16 -> 64; stage default -> stage_c");
  ws_arena_destroy(arena);
}

/* a, b and c are tied together: changing one means changing all. */
WS_TEST(constraints_change_with_a_move) {
  ws_arena *arena = ws_arena_create();
  ws__space space = make_space(
      arena,
      "[" HEAD("tied") "," PARAM("a", "1 2 4", "1") "," PARAM("b", "1 2 4", "1") "," PARAM(
          "c", "4 8 16",
          "16") "," PARAM("d", "0 1",
                          "0") "," LAUNCH("m") "," REQUIRE(1, "a == b",
                                                           "square") "," REQUIRE(2,
                                                                                 "a * c == 16",
                                                                                 "one size") "]");
  ws_rng rng;
  ws__seen seen = {0};
  int from[4], to[4], tied = 0;
  ws_rng_init(&rng, 1);
  ws__space_default(&space, from);
  for (int i = 0; i < 200; i++) {
    WS_CHECK(ws__space_move(&space, &rng, &seen, NULL, from, to));
    WS_CHECK(ws__space_is_legal(&space, to));
    tied += to[0] != from[0] && to[1] != from[1] && to[2] != from[2];
  }
  WS_CHECK(tied > 60); /* moves of d alone are the others */
  ws__seen_deinit(&seen);
  ws_arena_destroy(arena);
}

WS_TEST(bodies_of_ones_own_are_a_choice_that_stays) {
  ws_arena *arena = ws_arena_create();
  ws__space space =
      make_space(arena, "[" HEAD("s") "," PARAM("a", "1 2 3", "1") "," LAUNCH(
                            "m") "," REGION("stage") "," REGION("store") "]");
  ws_candidate *base = ws_candidate_create(arena, space.tmpl);
  base->values[0] = 3;
  base->bodies[0].variant = 1;
  base->bodies[1] = (ws_body){.variant = -1, .language = "ir", .text = "mine"};
  ws_candidate_update_id(base);
  int point[3];
  ws__space_point_of(&space, base, point);
  WS_CHECK_INT(point[0], 2);
  WS_CHECK_INT(point[1], 2);
  WS_CHECK_INT(point[2], WS__OWN_BODY);
  const ws_candidate *same = ws__space_candidate_on(&space, arena, point, base);
  WS_CHECK_TEXT(same->id.hex, base->id.hex);
  ws_rng rng;
  ws__seen seen = {0};
  ws_rng_init(&rng, 1);
  ws__seen_add(&seen, &base->id);
  int count = 0;
  while (ws__space_draw_on(&space, &rng, &seen, base, point) ==
         WS__DRAW_FOUND) {
    const ws_candidate *c = ws__space_candidate_on(&space, arena, point, base);
    WS_CHECK_TEXT(c->bodies[1].text, "mine");
    ws__seen_add(&seen, &c->id);
    count++;
  }
  WS_CHECK_INT(count, 3 * 3 - 1); /* values times bodies of stage, less base */
  ws__space_point_of(&space, base, point);
  WS_CHECK_TEXT(
      ws__space_describe_move(&space, arena, (int[]){0, 0, 0}, point),
      "a 1 -> 3; stage default -> stage_c; store default -> own body");
  WS_CHECK(!ws__space_move(&space, &rng, &seen, base, point, (int[3]){0}));
  ws__seen_deinit(&seen);
  ws_arena_destroy(arena);
}
