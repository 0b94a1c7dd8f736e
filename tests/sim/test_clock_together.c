/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The clock on kernels whose workgroups wait for one another. Expected values:
 * what a workgroup does is a loop of known length, and a value takes some
 * hundred clocks from one to another; so many of either are in the time.
 */
#include "clock_kernel.h"
#include "ws_test_directory.h"

/* 16 dependent additions of 4 clk, and the loop round them: sub and compare a
 * visit each, the branch branch_taken + fetch. */
enum { TURN = 16 * 4 + 2 * 4 + 32 };

/* From the store of a flag to the wave that finds it: the load that does, which
 * the Infinity Cache answers (210 clk of L2 and 117 ns), and up to one more
 * turn of the loop before it was issued: as long, and 64 of sleep, and some
 * twenty instructions. */
enum { POLL = 210 + 245, HOP_LEAST = POLL + 20, HOP_MOST = 2 * POLL + 64 + 120 };

/* s[8:9]: memory, zero. v1: 0. One lane, so that an atomic counts once. */
#define BEGIN                                                                  \
  "s_load_dwordx2 s[8:9], s[0:1], 0\ns_mov_b64 exec, 1\nv_mov_b32 v1, 0\n"     \
  "v_mov_b32 v9, 1\ns_waitcnt lgkmcnt(0)\n"
/* Uses s20. */
#define WORK(turns)                                                            \
  "s_mov_b32 s20, " #turns "\n1:\n" SIXTEEN("v_add_u32 v5, v9, v5")            \
      "s_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 1b\n"
/* Until the word at s[8:9] + v2 is at least s21. */
#define WAIT                                                                   \
  "2:\ns_sleep 1\nglobal_load_dword v3, v2, s[8:9] sc1\ns_waitcnt vmcnt(0)\n"  \
  "v_readfirstlane_b32 s22, v3\ns_cmp_lt_u32 s22, s21\ns_cbranch_scc1 2b\n"
#define SIGNAL(offset)                                                         \
  "global_store_dword " offset ", v9, s[8:9] sc1\ns_waitcnt vmcnt(0)\n"
/* What was at s[8:9] before 1 was added, in s23. */
#define TAKE                                                                   \
  "global_atomic_add v4, v1, v9, s[8:9] sc0\ns_waitcnt vmcnt(0)\n"             \
  "v_readfirstlane_b32 s23, v4\n"

static timed run_in(ws_sim_residency residency, int vgprs, const char *body,
                    uint32_t groups, uint64_t seed) {
  timed t = {.seed = seed};
  open_kernel(&t, body, vgprs, 0, 64);
  void *memory = ws_sim_allocate(t.sim, 65536);
  memset(memory, 0, 65536);
  time_kernel(&t, memory, NULL, groups, 64, residency);
  return t;
}

static timed run_with(int vgprs, const char *body, uint32_t groups,
                      uint64_t seed) {
  return run_in(WS_SIM_WARM, vgprs, body, groups, seed);
}

static timed run(const char *body, uint32_t groups, uint64_t seed) {
  return run_with(32, body, groups, seed);
}

static int64_t clocks_together(const char *body, uint32_t groups) {
  timed t = run(body, groups, 0);
  must_be_timed(&t);
  WS_CHECK(t.profile.together);
  WS_CHECK_INT(t.profile.workgroups_simulated, groups);
  const int64_t clocks = t.profile.clocks;
  close_kernel(&t);
  return clocks;
}

/* Workgroup 0 waits for the last one, which works: the time is the work's. */
#define ONE_WAITS(turns)                                                       \
  BEGIN "v_mov_b32 v2, 0\ns_mov_b32 s21, 1\ns_cmp_eq_u32 s2, 0\n"              \
        "s_cbranch_scc1 2f\n" WORK(turns) SIGNAL("v2") "s_endpgm\n" WAIT

WS_TEST(a_flag_comes_when_its_workgroup_is_done) {
  const int64_t few = clocks_together(ONE_WAITS(200), 2);
  const int64_t many = clocks_together(ONE_WAITS(2200), 2);
  WS_CHECK_NEAR((double)(many - few), 2000.0 * TURN, 500);
  const int64_t alone = clocks_of(BEGIN WORK(200), 32, 0, 2, 64);
  WS_CHECK(few > alone + HOP_LEAST && few < alone + HOP_MOST);
}

/* Each waits for the one before it, then works: one after the other. */
#define CHAIN(turns)                                                           \
  BEGIN "v_mov_b32 v2, s2\nv_lshlrev_b32 v2, 2, v2\n"                          \
        "v_add_u32 v6, 4, v2\ns_mov_b32 s21, 1\ns_cmp_eq_u32 s2, 0\n"          \
        "s_cbranch_scc1 3f\n" WAIT "3:\n" WORK(turns) SIGNAL("v6")

WS_TEST(a_chain_of_workgroups_adds_up) {
  const int64_t few = clocks_together(CHAIN(100), 304);
  const int64_t many = clocks_together(CHAIN(300), 304);
  WS_CHECK_NEAR((double)(many - few), 304 * 200.0 * TURN, 304 * 200.0);
  const double hop = ((double)few - 304 * 100.0 * TURN) / 304;
  WS_CHECK(hop > HOP_LEAST && hop < HOP_MOST);
}

/* All add 1 and wait until all have: a barrier of the grid. */
#define BARRIER(all)                                                           \
  BEGIN TAKE "v_mov_b32 v2, 0\ns_mov_b32 s21, " #all "\n" WAIT

WS_TEST(a_barrier_of_the_grid_lets_all_pass) {
  const int64_t clocks = clocks_together(BARRIER(304), 304);
  WS_CHECK(clocks > 2 * HOP_LEAST && clocks < 10000);
}

/* With 512 registers four waves have a place in a CU: one more would come when
 * one of them ends, and none does. */
WS_TEST(a_barrier_of_more_than_have_a_place_is_a_deadlock) {
  timed t = run_with(512, BARRIER(1216), 1216, 0);
  must_be_timed(&t);
  close_kernel(&t);
  t = run_with(512, BARRIER(1217), 1217, 0);
  WS_CHECK(t.status == WS_INPUT);
  WS_CHECK(strstr(t.diag.text, "a deadlock (1217 workgroups, 1216 have"));
  close_kernel(&t);
}

/* Workgroup 1 stores a line, then a flag; workgroup 0 waits and loads a line. */
#define HAND_OVER(line)                                                        \
  BEGIN "v_mov_b32 v2, 0\nv_mov_b32 v6, 0x1000\nv_mov_b32 v7, " #line "\n"     \
        "s_mov_b32 s21, 1\ns_cmp_eq_u32 s2, 0\ns_cbranch_scc1 2f\n"            \
        WORK(20) SIGNAL("v6") SIGNAL("v2") "s_endpgm\n" WAIT                   \
        "global_load_dword v8, v7, s[8:9]\ns_waitcnt vmcnt(0)\n"

/* From the Infinity Cache what was just stored, from HBM what was not: 272 ns
 * beyond L2 in place of 117. */
WS_TEST(what_another_has_stored_is_near) {
  timed near = run_in(WS_SIM_COLD, 32, HAND_OVER(0x1000), 2, 0);
  timed far = run_in(WS_SIM_COLD, 32, HAND_OVER(0x2000), 2, 0);
  must_be_timed(&near);
  must_be_timed(&far);
  const double more = (double)(far.profile.clocks - near.profile.clocks);
  WS_CHECK_NEAR(more, (272 - 117) * 2.1, 8);
  close_kernel(&near);
  close_kernel(&far);
}

/* The last that comes does the work of all: it is in the time once. */
#define LAST(turns)                                                            \
  BEGIN TAKE "s_cmp_lg_u32 s23, 303\ns_cbranch_scc1 4f\n" WORK(turns) "4:\n"

WS_TEST(who_comes_last_does_the_rest) {
  const int64_t few = clocks_together(LAST(100), 304);
  const int64_t many = clocks_together(LAST(1100), 304);
  WS_CHECK_NEAR((double)(many - few), 1000.0 * TURN, 200);
}

/* 40 workgroups on a card of one CU that holds one of them at a time. Alone it
 * would be sampled, as each runs some 30,000 instructions; who takes the last
 * number must be there. */
WS_TEST(all_workgroups_are_simulated_where_numbers_are_taken) {
  enum { GROUPS = 40, TURNS = 1500 };
  char path[512];
  snprintf(path, sizeof path, "%s/one.json", ws_test_directory());
  FILE *file = fopen(path, "w");
  WS_CHECK(file != NULL);
  fputs("{\"name\": \"one\", \"constants\": {\"xcds\": 1, "
        "\"cus_per_xcd\": 1}}",
        file);
  fclose(file);
  timed t = {.card = path};
  open_kernel(&t, BEGIN TAKE WORK(1500), 32, 65536, 64);
  void *memory = ws_sim_allocate(t.sim, 65536);
  memset(memory, 0, 65536);
  time_kernel(&t, memory, NULL, GROUPS, 64, WS_SIM_WARM);
  must_be_timed(&t);
  WS_CHECK(t.profile.together);
  WS_CHECK_INT(t.profile.workgroups_simulated, GROUPS);
  const double work = (double)GROUPS * TURNS * TURN;
  WS_CHECK((double)t.profile.clocks > work &&
           (double)t.profile.clocks < work + GROUPS * HOP_MOST);
  close_kernel(&t);
}

/* Tiles from a counter: 3040 of them over 304 workgroups are ten each, give or
 * take one, and not all of them for who is simulated first. */
#define PERSISTENT(turns)                                                      \
  BEGIN "5:\n" TAKE "s_cmp_ge_u32 s23, 3040\ns_cbranch_scc1 4f\n" WORK(turns)  \
        "s_branch 5b\n4:\n"

WS_TEST(tiles_from_a_counter_are_shared_out) {
  const int64_t clocks = clocks_together(PERSISTENT(400), 304);
  const double tile = 400.0 * TURN;
  WS_CHECK(clocks > 10 * tile && clocks < 11.5 * tile);
}

/* Asks for the same 20,000 times and waits for nobody: 116 clk each from L1,
 * and the loop. All together it looks like a standstill; alone it ends. */
#define ASKS                                                                   \
  BEGIN "v_mov_b32 v2, 0\ns_movk_i32 s21, 20000\n6:\n"                         \
        "global_load_dword v3, v2, s[8:9]\ns_waitcnt vmcnt(0)\n"               \
        "s_sub_u32 s21, s21, 1\ns_cmp_lg_u32 s21, 0\ns_cbranch_scc1 6b\n"

WS_TEST(who_only_asks_is_timed_too) {
  timed t = run(ASKS, 304, 0);
  must_be_timed(&t);
  WS_CHECK(!t.profile.together);
  WS_CHECK((double)t.profile.clocks > 20000.0 * 116 &&
           (double)t.profile.clocks < 20000.0 * (116 + 60));
  close_kernel(&t);
}

/* A wave that nobody answers. */
WS_TEST(a_flag_that_nobody_sets_is_a_deadlock) {
  timed t = run(BEGIN "v_mov_b32 v2, 0\ns_mov_b32 s21, 1\n" WAIT, 8, 0);
  WS_CHECK(t.status == WS_INPUT);
  WS_CHECK(strstr(t.diag.text, "a deadlock"));
  close_kernel(&t);
}

/* 1000 loads of one line: from L1 in 116 clk, or from L2 in 210. */
#define LOADS(between)                                                         \
  BEGIN "v_mov_b32 v2, 0\ns_movk_i32 s21, 1000\n6:\n"                          \
        "global_load_dword v3, v2, s[8:9]\ns_waitcnt vmcnt(0)\n" between       \
        "s_sub_u32 s21, s21, 1\ns_cmp_lg_u32 s21, 0\ns_cbranch_scc1 6b\n"

WS_TEST(an_acquire_empties_l1) {
  const int64_t kept = clocks_of(LOADS("buffer_inv sc0\n"), 32, 0, 1, 64);
  const int64_t emptied = clocks_of(LOADS("buffer_inv sc1\n"), 32, 0, 1, 64);
  WS_CHECK_NEAR((double)(emptied - kept), 1000.0 * (210 - 116), 4000);
}

/* No seed draws anything where all is simulated, and runs repeat. */
WS_TEST(the_time_does_not_depend_on_the_seed) {
  timed first = run(CHAIN(100), 64, 1), second = run(CHAIN(100), 64, 2);
  must_be_timed(&first);
  must_be_timed(&second);
  WS_CHECK_INT(first.profile.clocks, second.profile.clocks);
  WS_CHECK_NEAR(first.profile.us_error, 0, 0);
  close_kernel(&first);
  close_kernel(&second);
}

/* Workgroups that wait for nobody are sampled as ever. */
WS_TEST(who_waits_for_nobody_is_sampled) {
  timed t = run(BEGIN WORK(100), 304, 0);
  must_be_timed(&t);
  WS_CHECK(!t.profile.together);
  WS_CHECK(t.profile.workgroups_simulated < 304);
  close_kernel(&t);
}
