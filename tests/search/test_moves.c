/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Small moves: what the tool tries by itself around what a model brought. The
 * archive is read with SQL of the test's own; what gains is known from the
 * landscape.
 */
#include "model_bench.h"

/* Nothing of the landscape follows from a body's text, so each answer sets a
 * parameter, too. */
#define BODY(region, parameters)                                               \
  "## name\na body\n\n## parameters\n" parameters "\n\n## region " region      \
  " (ir)\n```llvm\ndefine void @" region "() {\n  ret void\n}\n```\n"

/* A run of these replies, one after the other. */
static bench moves_bench(const char *const *replies, int count, int moves) {
  bench b = replay_bench(replies, count);
  b.options.strategy = "refine";
  b.options.in_flight = 1;
  b.options.small_moves = moves;
  return b;
}
#define MOVES(moves, ...)                                                      \
  moves_bench(REPLIES(__VA_ARGS__),                                            \
              sizeof REPLIES(__VA_ARGS__) / sizeof(const char *), moves)

static int count_moves(bench *b) {
  return number(b, "SELECT count(*) FROM candidate WHERE proposer = 'moves'");
}

WS_TEST(parameters_are_moved_around_a_body) {
  bench b = MOVES(4, BODY("stage", "tile_m=32"));
  ws_tune_result result = tune(&b);
  /* At the landscape's corner a step gains easily: all waves are had. */
  WS_CHECK_INT(result.moves, 12);
  WS_CHECK_INT(count_moves(&b), 12);
  WS_CHECK_INT(result.evaluated, 2 + 12);
  WS_CHECK_INT(result.questions, 1);
  /* All keep the body, differ from their parent and say how. */
  WS_CHECK_INT(number(&b, "SELECT count(DISTINCT id) FROM candidate c JOIN "
                          "candidate_body r ON r.candidate_id = c.id WHERE "
                          "proposer = 'moves' AND r.region = 'stage' AND "
                          "move != ''"),
               12);
  /* The first wave is around the answer; a later one around a gain. */
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM candidate WHERE proposer = "
                          "'moves' AND parent_id = (SELECT id FROM candidate "
                          "WHERE sequence = 1)"),
               4);
  WS_CHECK_INT(number(&b, "SELECT count(DISTINCT parent_id) FROM candidate "
                          "WHERE proposer = 'moves'"),
               3);
  free_bench(&b);
}

WS_TEST(none_without_the_option_a_body_or_a_model) {
  bench b = MOVES(0, BODY("stage", "tile_m=32"));
  WS_CHECK_INT(tune(&b).moves, 0);
  free_bench(&b);
  b = MOVES(4, SET("tile_m=32"), "garbage");
  WS_CHECK_INT(tune(&b).moves, 0);
  WS_CHECK_INT(count_moves(&b), 0);
  free_bench(&b);
  b = make_bench(LANDSCAPE);
  b.options.small_moves = 4;
  b.options.evaluations = 20;
  WS_CHECK_INT(tune(&b).moves, 0);
  free_bench(&b);
}

/* A body far behind the best: parameters do not make up for it. (Of the four
 * shapes each is over 1.5 times slower with all parameters at their ends.) */
WS_TEST(none_around_what_is_hopeless) {
  bench b =
      MOVES(4, SET("tile_m=128\ntile_n=128\nwaves=8\nunroll=4\ndepth=2"),
            BODY("stage", "tile_m=32\ntile_n=16\nwaves=1\nunroll=1\ndepth=0"));
  tune(&b);
  WS_CHECK_TEXT(query(&b, "SELECT verdict FROM candidate WHERE sequence = 2"),
                "ok\n");
  WS_CHECK_INT(count_moves(&b), 0);
  free_bench(&b);
}

/* A wave without gain is the last. A wave of 64 around the answer meets the
 * best of its neighbours; what follows is counted from parents and times. */
WS_TEST(a_wave_without_gain_ends_the_climb) {
  bench b = MOVES(2, BODY("stage", "tile_m=32"), BODY("store", "tile_n=32"),
                  BODY("order_of_tiles", "split=2"));
  tune(&b);
  /* Every parent of a later wave beat its own parent. */
  WS_CHECK_INT(
      number(&b, "WITH mean AS (SELECT candidate_id AS id, sum(ln(us)) AS us "
                 "FROM measurement GROUP BY 1) SELECT count(*) FROM candidate "
                 "c JOIN candidate p ON p.id = c.parent_id AND p.proposer = "
                 "'moves' JOIN mean a ON a.id = p.id JOIN mean b ON b.id = "
                 "p.parent_id WHERE c.proposer = 'moves' AND a.us >= b.us"),
      0);
  /* Waves are whole, and at most three an answer. */
  WS_CHECK_INT(count_moves(&b) % 2, 0);
  WS_CHECK(count_moves(&b) >= 6 && count_moves(&b) <= 18);
  free_bench(&b);
}

/* best-of-n: both answers are children of the start, and both gain. */
WS_TEST(gains_of_siblings_are_merged) {
  bench b = MOVES(1, BODY("stage", "tile_m=64"), BODY("store", "tile_n=64"));
  b.options.strategy = "best-of-n";
  tune(&b);
  WS_CHECK_TEXT(
      query(&b,
            "SELECT c.kind, c.proposer, instr(c.assignments, 'tile_m=64') > 0, "
            "instr(c.assignments, 'tile_n=64') > 0, group_concat(r.region) "
            "FROM candidate c JOIN candidate_body r ON r.candidate_id = c.id "
            "WHERE c.second_parent_id = (SELECT id FROM candidate WHERE "
            "proposer LIKE 'openai%' ORDER BY sequence LIMIT 1) GROUP BY c.id"),
      "crossover|moves|1|1|stage,store\n");
  WS_CHECK_CONTAINS(
      query(&b, "SELECT move FROM candidate WHERE kind = 'crossover'"),
      "with what ");
  free_bench(&b);
}

WS_TEST(the_next_question_tells_what_was_found) {
  bench b = MOVES(2, BODY("stage", "tile_m=32"), BODY("store", "tile_n=32"));
  tune(&b);
  char *prompt = query(&b, "SELECT m.text FROM exchange e JOIN content m ON "
                           "m.hash = e.prompt ORDER BY e.sequence DESC LIMIT "
                           "1");
  WS_CHECK_CONTAINS(prompt, " small move, ");
  WS_CHECK_CONTAINS(prompt, "bring what it cannot");
  free_bench(&b);
}

/* Cut and resumed, it is the run that it would have been. */
WS_TEST(a_resumed_run_is_the_same) {
  bench b = MOVES(3, BODY("stage", "tile_m=32"), BODY("store", "tile_n=32"),
                  SET("split=2"));
  tune(&b);
  char *whole = dump(&b);
  remove_archive(&b);
  for (b.options.evaluations = 2; b.options.evaluations <= 4;
       b.options.evaluations++)
    tune(&b);
  check_same(dump(&b), whole);
  free_bench(&b);
}

/* The bodies stay in place: refine asks no further before its moves are in. */
WS_TEST(refine_waits_for_its_moves) {
  bench b = MOVES(4, BODY("stage", "tile_m=32"), BODY("store", "tile_n=32"));
  b.options.in_flight = 4;
  tune(&b);
  int last = number(&b, "SELECT max(sequence) FROM exchange");
  WS_CHECK_INT(
      number(&b, ws_arena_printf(b.arena,
                                 "SELECT count(*) FROM candidate WHERE "
                                 "proposer = 'moves' AND sequence < %d",
                                 last)),
      12);
  free_bench(&b);
}

/* The landscape ties hardly anything: none need change more than two. */
WS_TEST(moves_are_small) {
  bench b = MOVES(16, BODY("stage", "tile_m=32"));
  tune(&b);
  WS_CHECK(count_moves(&b) > 30);
  WS_CHECK_INT(number(&b, "SELECT max(length(move) - length(replace(move, '->',"
                          " ''))) / 2 FROM candidate WHERE proposer = 'moves' "
                          "AND kind = 'exploit'"),
               2);
  free_bench(&b);
}

/* Another number of moves asks other things: it is another run. */
WS_TEST(another_number_of_moves_is_another_run) {
  bench b = MOVES(1, BODY("stage", "tile_m=32"));
  tune(&b);
  b.options.small_moves = 2;
  tune(&b);
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM run"), 2);
  tune(&b);
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM run"), 2);
  free_bench(&b);
}

/* evolve: moves are their answer's island's. */
WS_TEST(moves_are_of_their_answers_island) {
  bench b = MOVES(1, BODY("stage", "tile_m=32"), BODY("stage", "tile_m=64"),
                  BODY("stage", "tile_n=32"), BODY("stage", "tile_n=64"));
  b.options.strategy = "evolve";
  tune(&b);
  WS_CHECK(count_moves(&b) >= 4);
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM candidate c JOIN candidate p "
                          "ON p.id = c.parent_id WHERE c.proposer = 'moves' "
                          "AND c.island != p.island"),
               0);
  WS_CHECK(number(&b, "SELECT count(DISTINCT island) FROM candidate WHERE "
                      "proposer = 'moves'") > 1);
  free_bench(&b);
}
