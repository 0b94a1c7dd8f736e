/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What micro-benchmarks of an MI300X told that no document does: how long a
 * store holds its workgroup, what issues together, what channels and wide loads
 * cost, what data does to the clock. Expected values are the measured ones.
 */
#include "clock_kernel.h"
#include "sim_internal.h"

/* One workgroup of a wave at a time on each CU (by its LDS). Measured lives:
 * one that stores 607 clk, one that loads from L2 585: a store holds its place
 * as long as a load. Without that it would be what dispatch allows, 38 CUs x 8.
 */
static double life_at(const char *number, const char *access) {
  char body[1024];
  snprintf(body, sizeof body,
           "s_load_dwordx2 s[8:9], s[0:1], 0\ns_waitcnt lgkmcnt(0)\n"
           "%s\ns_and_b32 s10, s10, 127\n"
           "s_lshl_b32 s10, s10, 9\nv_lshl_add_u32 v0, v0, 3, s10\n"
           "v_mov_b32 v2, 0\nv_mov_b32 v3, 0\n%s",
           number, access);
  enum { ROUNDS = 40 };
  return (double)clocks_of(body, 64, 40000, 304 * ROUNDS, 64) / ROUNDS;
}
static double life_of(const char *access) {
  return life_at("s_lshr_b32 s10, s2, 3", access);
}
WS_TEST(a_store_holds_its_workgroup) {
  const double store = life_of("global_store_dwordx2 v0, v[2:3], s[8:9]");
  const double load = life_of(
      "global_load_dwordx2 v[2:3], v0, s[8:9] sc1\ns_waitcnt vmcnt(0)"); // past
                                                                         // L1
  WS_CHECK_NEAR(store - load, 607 - 585, 30);
  WS_CHECK(store > 38 * 8 + 60);
}

/* 512 bytes a workgroup, numbered over all XCDs: those of one XCD are 4 KiB
 * apart, in two channels of 16, of which 38 loads in 585 clk want a sixth. So
 * no one waits; measured 600 clk (micro [l2_stream]). In pieces side by side
 * they are in all channels. */
WS_TEST(few_loads_of_one_channel_do_not_wait) {
  const char *const load =
      "global_load_dwordx2 v[2:3], v0, s[8:9] sc1\ns_waitcnt vmcnt(0)";
  WS_CHECK_NEAR(life_at("s_mov_b32 s10, s2", load) - life_of(load), 0, 20);
}

/* Two waves of a SIMD, 16 instructions in a loop of 100: they share the slots
 * when neither reads a register twice (4 clk for both), else each has its own
 * (8 clk). Measured. */
static double clocks_of_pair(const char *instruction) {
  char body[8192], sixteen[1024] = "";
  for (int i = 0; i < 16; i++)
    strcat(strcat(sixteen, instruction), "\n");
  int64_t clocks[2];
  for (int i = 0; i < 2; i++) {
    loop(body, sizeof body, 100 * (i + 1), "s_nop 0", sixteen);
    clocks[i] = clocks_of(body, 64, 0, 1, 512);
  }
  const double loop_each = 40.0 / 16;
  return (double)(clocks[1] - clocks[0]) / 1600 - loop_each;
}
WS_TEST(vector_instructions_of_two_waves_pair) {
  WS_CHECK_NEAR(clocks_of_pair("v_add_f32 v1, v1, v2"), 4, 1);
  WS_CHECK_NEAR(clocks_of_pair("v_fma_f32 v1, v2, v3, v1"), 4, 1);
  WS_CHECK_NEAR(clocks_of_pair("v_add_f64 v[2:3], v[2:3], v[4:5]"), 5, 1);
  WS_CHECK_NEAR(clocks_of_pair("v_add_f32 v1, v1, v1"), 8, 1);
  WS_CHECK_NEAR(clocks_of_pair("v_fma_f32 v1, v1, v2, v1"), 8, 1);
}

/* 16 channels of 256 bytes each in turn: lines 4 KiB apart are all of one, so
 * that L2 gives a sixteenth of its rate; but where the next turn's are of the
 * next one, the 38 workgroups of an XCD go round the 16 channels one after the
 * other and leave (38 + 16 - 1) / 38 of it. sc1: past L1. */
static double clocks_of_lines(int shift, const char *move) {
  char body[8192], before[256], sixteen[1024] = "";
  int64_t clocks[2];
  snprintf(before, sizeof before,
           "s_load_dwordx2 s[8:9], s[0:1], 0\ns_waitcnt lgkmcnt(0)\n"
           "v_and_b32 v0, 15, v0\nv_lshlrev_b32 v0, %d, v0",
           shift);
  for (int i = 0; i < 16; i++)
    strcat(sixteen, "global_load_dword v1, v0, s[8:9] sc1\n");
  strcat(sixteen, move);
  for (int i = 0; i < 2; i++) {
    loop(body, sizeof body, 16 * (i + 1), before, sixteen);
    clocks[i] = clocks_in(131072, body, 64, 0, 304, 1024);
  }
  return (double)(clocks[1] - clocks[0]);
}
WS_TEST(lines_of_one_channel_wait_for_each_other) {
  const double spread = clocks_of_lines(8, ""),
               crowded = clocks_of_lines(12, "");
  const double moving =
      clocks_of_lines(12, "s_add_u32 s8, s8, 256\ns_addc_u32 s9, s9, 0\n");
  const double clamped =
      clocks_of_lines(12, "s_cmp_gt_u32 s20, 2\ns_cselect_b32 s21, 256, 0\n"
                          "s_add_u32 s8, s8, s21\ns_addc_u32 s9, s9, 0\n");
  WS_CHECK_NEAR(crowded / spread, 16, 2);
  WS_CHECK_NEAR(moving / spread, 53.0 / 38, 0.1);
  WS_CHECK_NEAR(clamped / spread, 53.0 / 38, 0.2); /* the last turn again */
}

/* 8 bytes a lane take the address unit 16 clk, as 16 bytes do: 30.6 B/clk of a
 * CU were measured from L2 where 16 bytes a lane have 43. */
WS_TEST(wide_loads_go_four_lanes_a_clock) {
  static const struct {
    const char *load;
    int shift; /* lanes side by side */
    double clocks;
  } cases[] = {{"global_load_dword v1, v0, s[8:9]", 2, 4},
               {"global_load_dwordx2 v[2:3], v0, s[8:9]", 3, 16},
               {"global_load_dwordx4 v[2:5], v0, s[8:9]", 4, 16}};
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    char body[8192], before[256], sixteen[1024] = "";
    int64_t clocks[2];
    snprintf(before, sizeof before,
             "s_load_dwordx2 s[8:9], s[0:1], 0\ns_waitcnt lgkmcnt(0)\n"
             "v_and_b32 v0, 63, v0\nv_lshlrev_b32 v0, %d, v0",
             cases[c].shift);
    for (int i = 0; i < 16; i++)
      strcat(strcat(sixteen, cases[c].load), "\n");
    for (int i = 0; i < 2; i++) {
      loop(body, sizeof body, 50 * (i + 1), before, sixteen);
      clocks[i] = clocks_of(body, 64, 0, 1, 1024);
    }
    WS_CHECK_NEAR((double)(clocks[1] - clocks[0]) / (50 * 16 * 16),
                  cases[c].clocks, 1.5);
  }
}

/* The engine's clock in a launch that lasts, with two operands A in turn. */
static double clock_under_load(const char *second) {
  char body[8192], before[256], pairs[2048] = "";
  timed t = {0};
  snprintf(before, sizeof before, "v_mov_b32 v2, 0\nv_mov_b32 v6, %s", second);
  for (int i = 0; i < 8; i++)
    strcat(pairs,
           "v_mfma_f32_16x16x32_fp8_fp8 a[0:3], v[2:3], v[4:5], a[0:3]\n"
           "v_mfma_f32_16x16x32_fp8_fp8 a[0:3], v[6:7], v[4:5], a[0:3]\n");
  open_kernel(&t, loop(body, sizeof body, 100, before, pairs), 32, 0, 256);
  ws__clock_constants lasting = ws__clock_mi300x;
  lasting.power_us = 1;
  const ws_sim_launch launch = {.kernel = ws_sim_kernel_find(t.module, "probe"),
                                .grid = {304, 1, 1},
                                .block = {256, 1, 1},
                                .kernarg = (const void *[2]){NULL, NULL},
                                .kernarg_size = 2 * sizeof(void *)};
  t.status = ws__clock_time(t.sim->memory, &launch, WS_SIM_WARM, &lasting,
                            t.arena, &t.profile, &t.diag);
  must_be_timed(&t);
  const double mhz = t.profile.clock_mhz;
  close_kernel(&t);
  return mhz;
}

/* Measured with 304 workgroups whose operands never change: 1952 to 2064 MHz;
 * of GEMMs with real data: 1230. */
WS_TEST(clock_under_load_depends_on_data) {
  WS_CHECK_NEAR(clock_under_load("0"), 2014, 20);
  WS_CHECK_NEAR(clock_under_load("v0"), 1230, 20);
}
