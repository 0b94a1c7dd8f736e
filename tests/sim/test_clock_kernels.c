/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The cycle model on small kernels whose time follows from documented figures:
 * a matrix loop at full rate, latency of each memory level by pointer chase,
 * LDS bandwidth with and without conflicts, streaming at the achieved HBM rate,
 * barriers, dispatch. Expected values are those of docs/simulator.md's table
 * and arithmetic in the comments.
 */
#include "clock_kernel.h"

#include <cjson/cJSON.h>

#define MATRIX "v_mfma_f32_16x16x32_fp8_fp8 a[0:3], v[2:3], v[4:5], a[0:3]\n"
#define VECTOR "v_add_u32 v6, v7, v8\n"

/* ---- matrix ---------------------------------------------------------------
 */

/* 304 workgroups of four waves, each 10 x 64 matrix instructions of 16 clocks,
 * 10,240 clocks of the pipe. A chain D -> C runs back to back. One
 * wave alone loses 28 clocks a turn: s_sub, s_cmp and the branch issue in the
 * shadow of the last one, 12 clocks, then 16 + 16 for the branch. Two waves per
 * SIMD fill each other's gaps. */
WS_TEST(matrix_loop_reaches_the_documented_rate) {
  char body[8192];
  loop(body, sizeof body, 10, "v_mov_b32 v0, 0", FOUR(SIXTEEN(MATRIX)));
  const int64_t one = clocks_of(body, 128, 0, 304, 256);
  const int64_t two = clocks_of(body, 128, 0, 304, 512);
  WS_CHECK_NEAR((double)one, 10 * (1024 + 28), 400);
  WS_CHECK_NEAR((double)two, 10 * (2048 + 28), 800);
}

WS_TEST(matrix_32x32_takes_twice_as_long) {
  char body[8192];
  loop(body, sizeof body, 15, "v_mov_b32 v0, 0",
       FOUR(SIXTEEN(
           "v_mfma_f32_32x32x16_fp8_fp8 a[0:15], v[2:3], v[4:5], a[0:15]")));
  const int64_t one = clocks_of(body, 128, 0, 304, 256);
  WS_CHECK_NEAR((double)one, 15 * (2048 + 12), 400);
}

/* Three vector instructions run in the shadow of a 16-clock one; a fourth has
 * no room: 4 + 16 = 20 clocks a turn instead of 16. The loop's end costs 40
 * clocks after them. */
WS_TEST(vector_instructions_run_in_the_matrix_shadow) {
  char body[8192];
  loop(body, sizeof body, 100, "v_mov_b32 v0, 0",
       SIXTEEN(MATRIX VECTOR VECTOR VECTOR));
  WS_CHECK_NEAR((double)clocks_of(body, 128, 0, 304, 256),
                100 * (16 * 16 + 8 + 32), 600);
  loop(body, sizeof body, 100, "v_mov_b32 v0, 0",
       SIXTEEN(MATRIX VECTOR VECTOR VECTOR VECTOR));
  WS_CHECK_NEAR((double)clocks_of(body, 128, 0, 304, 256),
                100 * (16 * 20 + 8 + 32), 600);
}

/* ---- latency --------------------------------------------------------------
 */

/* 512 dependent reads of LDS address 0, less the loop round them. */
WS_TEST(lds_latency) {
  char body[8192];
  const char *const before = "v_mov_b32 v0, 0\nds_write_b32 v0, v0\n"
                             "s_waitcnt lgkmcnt(0)";
  loop(body, sizeof body, 100, before,
       SIXTEEN("ds_read_b32 v0, v0\ns_waitcnt lgkmcnt(0)"));
  const int64_t chase = clocks_of(body, 64, 512, 1, 64);
  loop(body, sizeof body, 100, before, "s_nop 0");
  const int64_t empty = clocks_of(body, 64, 512, 1, 64);
  WS_CHECK_NEAR((double)(chase - empty) / 1600, 52, 1);
}

/* Pointers on `pages` pages of 2 MiB in turn, `stride` bytes apart on each. */
enum { PAGE = 2 << 20 };

static char *chase_place(char *memory, size_t p, size_t stride, size_t pages) {
  return memory + p % pages * PAGE + p / pages * stride;
}

/* Pointer chase through `count` pointers; clocks a load of the second half,
 * found from two lengths. */
static double chase(size_t count, size_t stride, size_t pages, int loads,
                    ws_sim_residency residency) {
  char body[8192];
  const char *const before = "s_load_dwordx2 s[8:9], s[0:1], 0\n"
                             "s_waitcnt lgkmcnt(0)\n"
                             "v_mov_b32 v0, s8\nv_mov_b32 v1, s9\n"
                             "s_mov_b64 exec, 1";
  int64_t clocks[2];
  for (int i = 0; i < 2; i++) {
    timed t = {0};
    loop(body, sizeof body, loads * (i + 1), before,
         SIXTEEN("global_load_dwordx2 v[0:1], v[0:1], off\n"
                 "s_waitcnt vmcnt(0)"));
    open_kernel(&t, body, 64, 0, 64);
    char *memory =
        ws_sim_allocate(t.sim, pages * PAGE + count / pages * stride);
    WS_CHECK(memory != NULL);
    for (size_t p = 0; p < count; p++) {
      const uint64_t next = (uint64_t)(uintptr_t)chase_place(
          memory, (p + 1) % count, stride, pages);
      memcpy(chase_place(memory, p, stride, pages), &next, sizeof next);
    }
    time_kernel(&t, memory, NULL, 1, 64, residency);
    must_be_timed(&t);
    clocks[i] = t.profile.clocks;
    close_kernel(&t);
  }
  return (double)(clocks[1] - clocks[0]) / (16.0 * loads);
}

/* All in L1 (16 KiB), L2 (1 MiB, the same lines again), Infinity Cache and HBM
 * (lines never seen before). Documented: 116, 210, 442-458, and of HBM some 795
 * in a stream's order. The loop adds 40 clocks to 16 loads. */
WS_TEST(latency_of_l1) {
  WS_CHECK_NEAR(chase(128, 128, 1, 125, WS_SIM_WARM), 116 + 2.5, 4);
}
WS_TEST(latency_of_l2) {
  WS_CHECK_NEAR(chase(8192, 128, 1, 1000, WS_SIM_WARM), 210 + 2.5, 6);
}
WS_TEST(latency_of_the_infinity_cache) {
  WS_CHECK_NEAR(chase(65536, 128, 1, 500, WS_SIM_WARM), 455 + 2.5, 8);
}
WS_TEST(latency_of_hbm) {
  WS_CHECK_NEAR(chase(65536, 128, 1, 500, WS_SIM_COLD), 795 + 2.5, 16);
}

/* HBM in random order: 868-890 documented. Here 33 pages in turn, none of which
 * is among the last 32 when its turn comes; with 32 all are. */
WS_TEST(latency_of_hbm_where_pages_are_many) {
  WS_CHECK_NEAR(chase(32 * 1024, 128, 32, 500, WS_SIM_COLD), 795 + 2.5, 16);
  WS_CHECK_NEAR(chase(33 * 1024, 128, 33, 500, WS_SIM_COLD), 879 + 2.5, 11);
}

/* ---- LDS bandwidth --------------------------------------------------------
 */

/* Clocks per ds_read_b128 of a CU with 16 waves; lanes `shift` apart. */
static double read_b128(int shift) {
  char body[8192], before[256];
  snprintf(before, sizeof before,
           "v_and_b32 v0, 63, v0\nv_lshlrev_b32 v0, %d, v0", shift);
  loop(body, sizeof body, 100, before,
       FOUR("ds_read_b128 v[4:7], v0\nds_read_b128 v[8:11], v0") "s_waitcnt "
                                                                 "lgkmcnt(0)");
  return (double)clocks_of(body, 64, 16384, 1, 1024) / (100 * 8 * 16);
}

/* Two ports of 64 B/clk: 1024 bytes take 16 clocks on one of two ports, 8 on
 * the array; 32 bytes apart the array needs 16, as the ports do; 128 bytes
 * apart all lanes of a phase meet in four banks, 64 clocks. */
WS_TEST(lds_bandwidth) {
  WS_CHECK_NEAR(read_b128(4), 8, 0.8);
  WS_CHECK_NEAR(read_b128(5), 16, 1.6);
  WS_CHECK_NEAR(read_b128(7), 64, 3.2);
}

/* ---- streams --------------------------------------------------------------
 */

/* Behind `first`, each thread reads 16 x 16 bytes, all different: bytes a ns. */
static double stream_behind(const char *first, const char *card,
                            uint32_t groups, ws_sim_residency residency,
                            double *out_hbm) {
  timed t = {.card = card};
  char before[4096], text[8192];
  snprintf(before, sizeof before,
           "s_load_dwordx2 s[8:9], s[0:1], 0\ns_lshl_b32 s10, s2, 16\n"
           "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 4, v0\n"
           "v_mov_b32 v3, 0\nv_add_u32 v2, s10, v1\n"
           "s_waitcnt lgkmcnt(0)\n%s"
           "v_lshl_add_u64 v[2:3], s[8:9], 0, v[2:3]",
           first);
  loop(text, sizeof text, 16, before,
       "global_load_dwordx4 v[4:7], v[2:3], off\n"
       "v_add_co_u32 v2, vcc, 0x1000, v2\n"
       "v_addc_co_u32 v3, vcc, 0, v3, vcc");
  strcat(text, "s_waitcnt vmcnt(0)");
  open_kernel(&t, text, 32, 0, 256);
  const size_t bytes = (size_t)groups * 65536;
  void *memory = ws_sim_allocate(t.sim, bytes);
  WS_CHECK(memory != NULL);
  time_kernel(&t, memory, NULL, groups, 256, residency);
  must_be_timed(&t);
  const double ns = (double)t.profile.clocks / t.profile.clock_mhz * 1e3;
  *out_hbm = t.profile.hbm_bytes / (double)bytes;
  close_kernel(&t);
  return (double)bytes / ns;
}

static double stream(uint32_t groups, ws_sim_residency residency,
                     double *out_hbm) {
  return stream_behind("", NULL, groups, residency, out_hbm);
}

/* Another card's bandwidth, from its profile, is what a stream reaches. */
WS_TEST(stream_from_hbm_of_other_cards) {
  static const struct {
    const char *card;
    double rate;
  } cases[] = {{"mi300x", 4100}, {"mi300a", 2900}, {"mi325x", 4640}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double hbm;
    const double rate = stream_behind("", cases[i].card, 8192, WS_SIM_COLD, &hbm);
    WS_CHECK_NEAR(rate, cases[i].rate, 0.05 * cases[i].rate);
    WS_CHECK_NEAR(hbm, 1, 0.02);
  }
}

/* 4.0-4.2 TB/s read from HBM at full occupancy. */
WS_TEST(stream_from_hbm) {
  double hbm;
  const double rate = stream(16384, WS_SIM_COLD, &hbm);
  WS_CHECK_NEAR(rate, 4100, 205);
  WS_CHECK_NEAR(hbm, 1, 0.02);
}

/* The prefix's budget is 82 instructions for each of 9728 waves. The loop is
 * looked at all the same: nobody shares its lines as all do the first. */
WS_TEST(stream_from_hbm_behind_much_else) {
  double hbm;
  const double rate = stream_behind(
      "global_load_dwordx4 v[4:7], v1, s[8:9]\n" SIXTEEN(SIXTEEN("v_nop")), NULL,
      16384, WS_SIM_COLD, &hbm);
  WS_CHECK_NEAR(rate, 4100, 205);
  WS_CHECK_NEAR(hbm, 1, 0.02);
}

/* Four workgroups on each of 304 CUs, and on eight of these a fifth: who has more
 * to fetch gets more of what all fetch from. By equal shares they would take 5 / 4
 * of the time. */
WS_TEST(stream_of_a_few_workgroups_more) {
  double hbm;
  const double even = stream(4 * 304, WS_SIM_COLD, &hbm);
  WS_CHECK(even > 3000);
  WS_CHECK_NEAR(stream(4 * 304 + 8, WS_SIM_COLD, &hbm), even, 0.06 * even);
}

/* 5.0 to 5.9 TB/s at any size between L2 and 256 MB where no XCD meets its own
 * lines again. A short run does not quite get there. */
WS_TEST(stream_from_the_infinity_cache) {
  double hbm;
  const double small = stream(960, WS_SIM_WARM, &hbm);
  WS_CHECK(small > 4000 && small < 5900);
  WS_CHECK_NEAR(hbm, 0, 1e-9);
  const double large = stream(3648, WS_SIM_WARM, &hbm);
  WS_CHECK(large > 5000 && large < 5900);
}

/* ---- stores ----------------------------------------------------------------
 */

/* A workgroup of 1024 threads in step stores `bytes`, from end to end, twice,
 * into an allocation of `allocated`: how often they leave L2. */
static double written(size_t bytes, size_t allocated) {
  timed t = {0};
  const char *const before =
      "s_load_dwordx2 s[8:9], s[0:1], 0\nv_and_b32 v0, 0x3ff, v0\n"
      "v_lshlrev_b32 v0, 4, v0\ns_waitcnt lgkmcnt(0)\n"
      "v_mov_b32 v4, 0\nv_mov_b32 v5, 0\nv_mov_b32 v6, 0\nv_mov_b32 v7, 0";
  char turn[256], text[1024];
  snprintf(turn, sizeof turn,
           "global_store_dwordx4 v0, v[4:7], s[8:9]\ns_barrier\n"
           "v_add_u32 v0, 0x4000, v0\nv_and_b32 v0, 0x%zx, v0",
           bytes - 1);
  loop(text, sizeof text, (int)(2 * bytes / 16384), before, turn);
  open_kernel(&t, text, 32, 0, 1024);
  void *memory = ws_sim_allocate(t.sim, allocated);
  WS_CHECK(memory != NULL);
  time_kernel(&t, memory, NULL, 1, 1024, WS_SIM_WARM);
  must_be_timed(&t);
  const double times = t.profile.mall_bytes / (double)bytes;
  close_kernel(&t);
  return times;
}

/* L2 holds 4 MiB: what is stored again before so much else was is still there,
 * whatever else there is; 8 MiB from end to end are not. */
WS_TEST(stores_leave_l2_once_or_again) {
  const size_t mib = 1 << 20;
  WS_CHECK_NEAR(written(2 * mib, 2 * mib), 1, 0.01);
  WS_CHECK_NEAR(written(2 * mib, 64 * mib), 1, 0.01);
  WS_CHECK_NEAR(written(8 * mib, 8 * mib), 2, 0.01);
}

/* ---- barriers, dispatch, ends ---------------------------------------------
 */

/* 100 barriers of four waves without work between: the release 12 clocks after
 * the last arrival, found at the SIMD's next visit, and a loop of four
 * instructions with a taken branch (16 + 16). */
WS_TEST(barriers_release_after_the_last_arrival) {
  char body[1024];
  loop(body, sizeof body, 200, "", FOUR("s_barrier"));
  const int64_t with = clocks_of(body, 64, 0, 1, 256);
  loop(body, sizeof body, 200, "", "s_nop 0");
  const int64_t without = clocks_of(body, 64, 0, 1, 256);
  WS_CHECK_NEAR((double)(with - without) / 800, 14, 3);
}

/* Empty workgroups of one wave: 8 clocks each and XCD. */
WS_TEST(dispatch_rate) {
  const double clocks = (double)clocks_of("s_nop 0", 32, 0, 200000, 64);
  WS_CHECK_NEAR(clocks, 200000 / 8 * 8, 200000 * 0.03);
}

WS_TEST(tail_takes_a_round) {
  char body[1024];
  loop(body, sizeof body, 1000, "", SIXTEEN("v_add_u32 v1, v2, v3"));
  const double one = (double)clocks_of(body, 512, 0, 304, 256);
  const double more = (double)clocks_of(body, 512, 0, 305, 256);
  WS_CHECK_NEAR(more / one, 2, 0.02);
}

/* Occupancy and its limiter as they come out of a launch. */
WS_TEST(profile_says_what_limits_occupancy) {
  timed t = {0};
  open_kernel(&t, "s_nop 0", 128, 20000, 256);
  time_kernel(&t, NULL, NULL, 10000, 256, WS_SIM_WARM);
  must_be_timed(&t);
  WS_CHECK_TEXT(t.profile.limiter, "lds"); /* 20480 of 65536: three */
  WS_CHECK_INT(t.profile.waves_per_simd, 3);
  time_kernel(&t, NULL, NULL, 10, 256, WS_SIM_WARM);
  must_be_timed(&t);
  WS_CHECK_TEXT(t.profile.limiter, "grid");
  WS_CHECK_INT(t.profile.waves_per_simd, 1);
  close_kernel(&t);
}

/* 16 x 26 idle visits of four clocks a turn, 166,400 in all. */
static const int long_turns = 100, long_clocks = 100 * 16 * 26 * 4 * 9 / 10;
#define LONG_BODY SIXTEEN("s_nop 15\ns_nop 9\n")

/* Leaves out the loop where a matrix instruction does not give
 * 0 * 0 + 1: what is timed is what would have run. */
WS_TEST(matrix_results_are_computed) {
  static const char probe[] =
      "v_mov_b32 v2, 0\nv_mov_b32 v3, 0\nv_mov_b32 v4, 0\nv_mov_b32 v5, 0\n"
      "v_mov_b32 v8, 0\ns_nop 4\n"
      "v_mfma_f32_16x16x32_fp8_fp8 v[8:11], v[2:3], v[4:5], 1.0\n"
      "s_nop 15\ns_nop 15\nv_readfirstlane_b32 s21, v8\n"
      "s_cmp_lg_u32 s21, 0x3f800000\ns_cbranch_scc1 .Lskip\n";
  char body[4096];
  loop(body, sizeof body, long_turns, probe, LONG_BODY);
  strcat(body, ".Lskip:\n");
  WS_CHECK(clocks_of(body, 128, 0, 1, 64) > long_clocks);
}

/* Workgroups 0, 151 and 303 of 304 have nothing to do: once those were the ones
 * that were looked at. Each draw meets one of them with a chance below 1/100,
 * and the slowest unit counts. */
WS_TEST(units_are_drawn) {
  char body[4096];
  loop(body, sizeof body, long_turns,
       "s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 .Lskip\n"
       "s_cmp_eq_u32 s2, 151\ns_cbranch_scc1 .Lskip\n"
       "s_cmp_eq_u32 s2, 303\ns_cbranch_scc1 .Lskip",
       LONG_BODY);
  strcat(body, ".Lskip:\n");
  timed t = {0};
  open_kernel(&t, body, 64, 0, 64);
  for (t.seed = 0; t.seed < 20; t.seed++) {
    time_kernel(&t, NULL, NULL, 304, 64, WS_SIM_WARM);
    must_be_timed(&t);
    WS_CHECK(t.profile.clocks > long_clocks);
  }
  close_kernel(&t);
}

/* A quarter of the units is slow: three draws miss it in 27/64 of the seeds.
 * Warm, the prefix is that of the first XCD, which has none of them. */
WS_TEST(seeds_draw_different_units) {
  char body[4096];
  loop(body, sizeof body, long_turns,
       "s_and_b32 s21, s2, 3\ns_cmp_lg_u32 s21, 1\ns_cbranch_scc1 .Lskip",
       LONG_BODY);
  strcat(body, ".Lskip:\n");
  timed t = {0};
  int slow = 0;
  const int seeds = 64;
  open_kernel(&t, body, 64, 0, 64);
  for (t.seed = 0; t.seed < (uint64_t)seeds; t.seed++) {
    time_kernel(&t, NULL, NULL, 304, 64, WS_SIM_WARM);
    must_be_timed(&t);
    slow += t.profile.clocks > long_clocks;
  }
  close_kernel(&t);
  WS_CHECK_NEAR(slow, seeds * 37 / 64, 16); /* four standard deviations */
}

/* Cold, the prefix of all units is looked at: where one XCD alone has work, or
 * one unit of them all, every seed meets it. */
WS_TEST(the_unit_with_most_to_do_is_met) {
  static const char *const lonely[] = {
      "s_and_b32 s21, s2, 7\ns_cmp_lg_u32 s21, 5\ns_cbranch_scc1 .Lskip",
      "s_cmp_lg_u32 s2, 173\ns_cbranch_scc1 .Lskip"};
  for (int i = 0; i < 2; i++) {
    char body[4096];
    loop(body, sizeof body, long_turns, lonely[i], LONG_BODY);
    strcat(body, ".Lskip:\n");
    timed t = {0};
    open_kernel(&t, body, 64, 0, 64);
    for (t.seed = 0; t.seed < 20; t.seed++) {
      time_kernel(&t, NULL, NULL, 304, 64, WS_SIM_COLD);
      must_be_timed(&t);
      WS_CHECK(t.profile.clocks > long_clocks);
      /* idle units are no doubt of the time */
      WS_CHECK(t.profile.us_error < t.profile.us / 20);
      WS_CHECK(t.profile.model_error > 0);
    }
    close_kernel(&t);
  }
}

/* A kernel that leaves out its loop unless the first dword of `in` is 0, as an
 * earlier kernel would have set it; or that adds it to what it stores. */
static ws_status time_with_unknown(const char *use, bool unknown, timed *t) {
  char body[4096];
  char before[512];
  snprintf(before, sizeof before,
           "s_load_dwordx4 s[8:11], s[0:1], 0\nv_mov_b32 v1, 0\n"
           "s_waitcnt lgkmcnt(0)\nglobal_load_dword v3, v1, s[8:9]\n"
           "s_waitcnt vmcnt(0)\n%s",
           use);
  loop(body, sizeof body, long_turns, before, LONG_BODY);
  strcat(body, ".Lskip:\n");
  *t = (timed){0};
  open_kernel(t, body, 64, 0, 64);
  uint32_t *in = ws_sim_allocate(t->sim, 4096);
  void *out = ws_sim_allocate(t->sim, 4096);
  in[0] = 0xffffffff;
  WS_CHECK(ws_sim_set_unknown(t->sim, in, unknown));
  time_kernel(t, in, out, 1, 64, WS_SIM_WARM);
  return t->status;
}

WS_TEST(what_is_not_known_decides_nothing) {
  static const struct {
    const char *use, *text; /* NULL: it may */
  } uses[] = {
      {"v_add_f32 v3, v3, v3\nglobal_store_dword v1, v3, s[10:11]", NULL},
      {"v_readfirstlane_b32 s21, v3\ns_cmp_lg_u32 s21, 0\n"
       "s_cbranch_scc1 .Lskip",
       "control flow"},
      {"v_and_b32 v3, 0xfc, v3\nglobal_load_dword v4, v3, s[10:11]\n"
       "s_waitcnt vmcnt(0)",
       "the address in v3"},
      {"v_cmp_eq_u32 vcc, 0, v3\ns_and_b64 exec, exec, vcc", "lanes go on"},
      {"s_load_dword s21, s[8:9], 0\ns_waitcnt lgkmcnt(0)", "scalar load"},
      {"v_mov_b32 v2, 1\nglobal_atomic_add v3, v1, v2, s[8:9] sc0\n"
       "s_waitcnt vmcnt(0)\nv_readfirstlane_b32 s21, v3\n"
       "s_cmp_lg_u32 s21, 0\ns_cbranch_scc1 .Lskip",
       "control flow"},
  };
  for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
    for (int unknown = 0; unknown < 2; unknown++) {
      timed t;
      const bool refused = unknown && uses[i].text;
      WS_CHECK_INT(time_with_unknown(uses[i].use, unknown, &t),
                   refused ? WS_INPUT : WS_OK);
      if (refused)
        WS_CHECK_CONTAINS(t.diag.text, uses[i].text);
      close_kernel(&t);
    }
}

/* A workgroup that has been here before leaves at once: nothing that the clock
 * tried out earlier may be left in memory. */
WS_TEST(workgroups_run_once) {
  char body[4096];
  loop(body, sizeof body, long_turns,
       "s_load_dwordx2 s[8:9], s[0:1], 0\ns_lshl_b32 s10, s2, 2\n"
       "v_mov_b32 v1, s10\nv_mov_b32 v2, 1\ns_mov_b64 exec, 1\n"
       "s_waitcnt lgkmcnt(0)\n"
       "global_atomic_add v3, v1, v2, s[8:9] sc0\ns_waitcnt vmcnt(0)\n"
       "v_readfirstlane_b32 s21, v3\n"
       "s_cmp_lg_u32 s21, 0\ns_cbranch_scc1 .Lskip",
       LONG_BODY);
  strcat(body, ".Lskip:\n");
  timed t = {0};
  open_kernel(&t, body, 64, 0, 64);
  const size_t bytes = 304 * sizeof(uint32_t);
  void *counters = ws_sim_allocate(t.sim, bytes);
  memset(counters, 0, bytes);
  time_kernel(&t, counters, NULL, 304, 64, WS_SIM_COLD);
  must_be_timed(&t);
  WS_CHECK(t.profile.clocks > long_clocks);
  close_kernel(&t);
}

WS_TEST(same_launch_same_clocks) {
  char body[8192];
  loop(body, sizeof body, 50,
       "v_lshlrev_b32 v0, 4, v0\ns_load_dwordx2 s[8:9], s[0:1], 0\n"
       "s_waitcnt lgkmcnt(0)",
       "global_load_dwordx4 v[4:7], v0, s[8:9]\nds_read_b128 v[8:11], v0\n"
       "s_barrier\ns_waitcnt vmcnt(0) lgkmcnt(0)");
  int64_t clocks[2];
  for (int i = 0; i < 2; i++) {
    timed t = {0};
    open_kernel(&t, body, 64, 16384, 256);
    void *memory = ws_sim_allocate(t.sim, 65536);
    time_kernel(&t, memory, NULL, 1000, 256, WS_SIM_COLD);
    must_be_timed(&t);
    clocks[i] = t.profile.clocks;
    time_kernel(&t, memory, NULL, 1000, 256, WS_SIM_COLD);
    WS_CHECK_INT(t.profile.clocks, clocks[i]);
    close_kernel(&t);
  }
  WS_CHECK_INT(clocks[0], clocks[1]);
}

/* ---- what cannot be timed -------------------------------------------------
 */

WS_TEST(a_fault_is_an_error) {
  timed t = {0};
  open_kernel(&t,
              "v_mov_b32 v0, 64\nv_mov_b32 v1, 0\n"
              "global_load_dword v2, v[0:1], off\ns_waitcnt vmcnt(0)",
              64, 0, 64);
  time_kernel(&t, NULL, NULL, 1, 64, WS_SIM_COLD);
  WS_CHECK_INT(t.status, WS_INPUT);
  WS_CHECK_CONTAINS(t.diag.text, "oob-global");
  close_kernel(&t);
}

WS_TEST(no_room_is_an_error) {
  timed t = {0};
  open_kernel(&t, "s_nop 0", 512, 0, 1024);
  time_kernel(&t, NULL, NULL, 1, 1024, WS_SIM_COLD);
  WS_CHECK_INT(t.status, WS_INPUT);
  WS_CHECK_CONTAINS(t.diag.text, "no compute unit holds");
  close_kernel(&t);
}

/* ---- explanation ----------------------------------------------------------
 */

WS_TEST(explanation_names_bound_and_hot_instruction) {
  char body[8192];
  timed t = {0};
  ws_strbuf words;
  loop(body, sizeof body, 400, "v_mov_b32 v0, 0",
       SIXTEEN("v_mfma_f32_16x16x32_fp8_fp8 a[0:3], v[2:3], v[4:5], a[0:3]"));
  open_kernel(&t, body, 128, 0, 256);
  time_kernel(&t, NULL, NULL, 304, 256, WS_SIM_WARM);
  must_be_timed(&t);
  ws_strbuf_init(&words);
  ws_sim_explain(&t.profile, &words);
  WS_CHECK_TEXT(t.profile.bound, "mfma");
  WS_CHECK_CONTAINS(words.data, "bound by the matrix pipes");
  WS_CHECK_CONTAINS(words.data, "v_mfma_f32_16x16x32_fp8_fp8");
  double sum = 0;
  for (int s = 0; s < WS_SIM_STALL_COUNT; s++)
    sum += t.profile.stalls[s];
  WS_CHECK_NEAR(sum, 1, 1e-9);
  ws_strbuf_deinit(&words);
  cJSON *json = ws_sim_profile_to_json(&t.profile);
  WS_CHECK_TEXT(cJSON_GetObjectItem(json, "bound")->valuestring, "mfma");
  WS_CHECK_NEAR(cJSON_GetObjectItem(json, "us")->valuedouble, t.profile.us, 0);
  WS_CHECK_INT(cJSON_GetArraySize(cJSON_GetObjectItem(json, "lines")),
               t.profile.line_count);
  const cJSON *functions = cJSON_GetObjectItem(json, "functions");
  WS_CHECK_INT(cJSON_GetArraySize(functions), 1); /* without a line table */
  WS_CHECK_NEAR(cJSON_GetObjectItem(functions, "probe")->valuedouble, 1, 1e-9);
  cJSON_Delete(json);
  close_kernel(&t);
}

/* ---- the hottest loop -----------------------------------------------------
 */

static const ws_sim_loop_row *row_with(const ws_sim_loop *loop,
                                       const char *text) {
  for (int i = 0; i < loop->row_count; i++)
    if (strstr(loop->rows[i].text, text))
      return &loop->rows[i];
  WS_FAIL("no row has '%s'", text);
  return NULL;
}

/* 100 turns of 16 dependent reads, 52 clocks each by the table, a visit of
 * them issue and the rest the wait's; then s_sub, s_cmp and the branch, 4 each,
 * and 28 more until its target runs (16 + 16 from its issue), which the last
 * one does not pay. */
WS_TEST(loop_has_its_turns_and_clocks) {
  char body[8192];
  timed t = {0};
  loop(body, sizeof body, 100,
       "v_mov_b32 v0, 0\nds_write_b32 v0, v0\n"
       "s_waitcnt lgkmcnt(0)",
       SIXTEEN("ds_read_b32 v0, v0\ns_waitcnt lgkmcnt(0)"));
  open_kernel(&t, body, 64, 512, 64);
  time_kernel(&t, NULL, NULL, 1, 64, WS_SIM_WARM);
  must_be_timed(&t);
  const ws_sim_loop *found = &t.profile.loop;
  WS_CHECK_NEAR(found->iterations, 100, 1e-9);
  WS_CHECK_NEAR(found->clocks, 16 * 52 + 3 * 4 + 28 * 0.99, 1e-6);
  WS_CHECK_INT(found->instructions, 16 * 2 + 3);
  WS_CHECK(found->share > 0.98);
  WS_CHECK_NEAR(t.profile.lds_latency, 52, 1e-9);
  WS_CHECK_NEAR(t.profile.lds_latency_most, 52, 1e-9);
  WS_CHECK_NEAR(t.profile.load_latency, 0, 0);
  double sum = 0;
  int count = 0;
  for (int i = 0; i < found->row_count; i++) {
    sum += found->rows[i].clocks;
    count += found->rows[i].count;
  }
  WS_CHECK_NEAR(sum, found->clocks, 1e-6);
  WS_CHECK_INT(count, found->instructions);
  /* what is hidden last may join two rows that stand for others */
  WS_CHECK(found->row_count == WS_SIM_LOOP_ROWS ||
           found->row_count == WS_SIM_LOOP_ROWS - 1);
  const ws_sim_loop_row *wait = row_with(found, "s_waitcnt lgkmcnt(0)");
  WS_CHECK_NEAR(wait->clocks, 52 - 4, 1e-6);
  WS_CHECK_NEAR(wait->stalls[WS_SIM_STALL_lds], 44.0 / 48, 1e-6);
  WS_CHECK_NEAR(row_with(found, "ds_read_b32")->latency, 52, 1e-9);
  close_kernel(&t);
}

/* The inner of two loops, four times 25 turns; 8 matrix instructions of one
 * opcode are one row and take 16 clocks each, the last of which the loop's end
 * runs in the shadow of. */
WS_TEST(inner_loop_is_told_with_its_runs) {
  char inner[2048], body[4096];
  timed t = {0};
  ws_strbuf words;
  loop(inner, sizeof inner, 25, "s_nop 0", FOUR(MATRIX MATRIX));
  snprintf(body, sizeof body,
           "s_movk_i32 s21, 4\n.Louter:\n%s\ns_sub_u32 s21, s21, 1\n"
           "s_cmp_lg_u32 s21, 0\ns_cbranch_scc1 .Louter\n",
           inner);
  open_kernel(&t, body, 64, 0, 64);
  time_kernel(&t, NULL, NULL, 1, 64, WS_SIM_WARM);
  must_be_timed(&t);
  WS_CHECK_NEAR(t.profile.loop.iterations, 100, 1e-9);
  WS_CHECK_INT(t.profile.loop.instructions, 8 + 3);
  WS_CHECK_INT(t.profile.loop.row_count, 4);
  const ws_sim_loop_row *run = &t.profile.loop.rows[0];
  WS_CHECK_TEXT(run->text, "v_mfma_f32_16x16x32_fp8_fp8");
  WS_CHECK_INT(run->count, 8);
  WS_CHECK_NEAR(run->clocks, 7 * 16 + 4, 1e-6);
  ws_strbuf_init(&words);
  ws_sim_explain(&t.profile, &words);
  WS_CHECK_CONTAINS(words.data, "a wave goes round 100.0 times");
  WS_CHECK_CONTAINS(words.data, "v_mfma_f32_16x16x32_fp8_fp8 x8\n");
  ws_strbuf_deinit(&words);
  cJSON *json = ws_sim_profile_to_json(&t.profile);
  const cJSON *rows =
      cJSON_GetObjectItem(cJSON_GetObjectItem(json, "loop"), "rows");
  WS_CHECK_INT(cJSON_GetArraySize(rows), 4);
  WS_CHECK_TEXT(cJSON_GetObjectItem(rows->child, "waits")->valuestring, "mfma");
  cJSON_Delete(json);
  close_kernel(&t);
}

/* Every lane loads the same dword of HBM's, once: 781 clocks by the table (210
 * and 272 ns at 2100 MHz, 571), and what the line takes on its way. */
WS_TEST(latency_of_loads_is_observed) {
  timed t = {0};
  open_kernel(&t,
              "s_load_dwordx2 s[8:9], s[0:1], 0\nv_mov_b32 v0, 0\n"
              "s_waitcnt lgkmcnt(0)\n"
              "global_load_dword v1, v0, s[8:9]\ns_waitcnt vmcnt(0)\n"
              "global_load_dword v1, v0, s[8:9]\ns_waitcnt vmcnt(0)",
              64, 0, 64);
  char *memory = ws_sim_allocate(t.sim, 4096);
  time_kernel(&t, memory, NULL, 1, 64, WS_SIM_COLD);
  must_be_timed(&t);
  WS_CHECK_NEAR(t.profile.load_latency_most, 210 + 571, 12);
  WS_CHECK_NEAR(2 * t.profile.load_latency - t.profile.load_latency_most, 116,
                4); /* the second: L1 */
  WS_CHECK_INT(t.profile.loop.row_count, 0);
  close_kernel(&t);
}
