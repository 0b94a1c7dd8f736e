/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The bound model on made-up GEMMs: figures worked out by hand where one limit
 * decides, directions where several do.
 */
#include "../gemm_shape.h"
#include "synthetic_build.h"

/* A tile of 128 x 128 and a block of 128 in k: 2 * 128^3 FLOP in matrix
 * instructions of 16384 are 256, each 16 clocks, over 4 SIMDs: 1024 clocks. */
static const gemm_work compute_only = {.mfma = 256,
                                       .hidden_clocks = 1024,
                                       .load_bytes = 1024,
                                       .vgpr = 128,
                                       .lds_bytes = 36864};
static const double start_clocks = 400 + 455; /* workgroup start, first load */
static const double launch_us = 2.5;

/* 1230 MHz at 1273 TFLOP/s (0.83 of what that clock allows), 2100 at rest. */
static double loaded_mhz(double share) { return 2100 - 870 * share / 0.83; }

WS_TEST(matrix_bound_is_clocks_over_304_units) {
  ws_arena *arena = ws_arena_create();
  gemm g;
  gemm_build(&g, arena, "", &compute_only);
  /* 16 x 19 = 304 tiles, 128 blocks of k; 75 MB of operands need 18 us of HBM
   * and hide behind it */
  ws_estimate e = gemm_estimate(&g, 2048, 2432, 16384);
  double clocks = start_clocks + 128 * 1024;
  double by_hand = clocks / loaded_mhz(128 * 1024 / clocks) + launch_us;
  WS_CHECK_NEAR(e.us, by_hand, 0.01 * by_hand);
  WS_CHECK_TEXT(ws_bound_text(e.bound), "mfma");
  WS_CHECK_NEAR(e.us_by_bound[WS_BOUND_MFMA], 128 * 1024 / 2100.0, 0.01);
  WS_CHECK_NEAR(e.tail_idle, 0, 1e-12);
  WS_CHECK_NEAR(e.rounds, 1, 1e-12);
  WS_CHECK_NEAR(e.waves_per_simd, 1, 1e-12);
  ws_arena_destroy(arena);
}

/* 128 of 32 clocks are as many as 256 of 16. */
WS_TEST(other_matrix_instructions_count) {
  ws_arena *arena = ws_arena_create();
  gemm g;
  gemm_build(&g, arena, "", &compute_only);
  ws_estimate before = gemm_estimate(&g, 2048, 2432, 16384);
  for (int run = 0; run < 2; run++) {
    ws_observed *o = &g.runs[run].launches[0].observed;
    o->mfma_other = o->mfma_16x16x32 / 2;
    o->mfma_16x16x32 = 0;
  }
  ws_mix *mix = &g.kernels[0].loops[0].mix;
  mix->mfma_other = mix->mfma_16x16x32 / 2;
  mix->mfma_16x16x32 = 0;
  ws_estimate after = gemm_estimate(&g, 2048, 2432, 16384);
  WS_CHECK_TEXT(ws_bound_text(after.bound), "mfma");
  WS_CHECK_NEAR(after.us, before.us, 0.01 * before.us);
  ws_arena_destroy(arena);
}

WS_TEST(one_tile_more_than_units_is_a_second_round) {
  ws_arena *arena = ws_arena_create();
  gemm g;
  gemm_build(&g, arena, "", &compute_only);
  ws_estimate full = gemm_estimate(&g, 2048, 2432, 16384);
  ws_estimate more = gemm_estimate(&g, 2048, 2560, 16384); /* 320 tiles */
  /* 320 tiles in the time of 608: the clock falls less */
  double by_hand =
      2 * (full.us - launch_us) * loaded_mhz(1) / loaded_mhz(320 / 608.0);
  WS_CHECK_NEAR(more.us - launch_us, by_hand, 0.02 * by_hand);
  WS_CHECK_NEAR(more.tail_idle, 1 - 16 / 304.0, 1e-9);
  /* and what is left of the second round costs nothing */
  ws_estimate twice = gemm_estimate(&g, 4096, 2432, 16384); /* 608 tiles */
  WS_CHECK_NEAR(twice.us - launch_us, 2 * (full.us - launch_us),
                0.02 * twice.us);
  ws_arena_destroy(arena);
}

WS_TEST(padding_of_tiles_is_paid) {
  ws_arena *arena = ws_arena_create();
  gemm large, small;
  gemm_build(&large, arena, "", &compute_only);
  /* a quarter of the work per tile */
  const gemm_work quarter = {.mfma = 64,
                             .hidden_clocks = 1024,
                             .load_bytes = 512,
                             .vgpr = 128,
                             .lds_bytes = 18432};
  gemm_build(&small, arena, "tile_m=64;tile_n=64", &quarter);
  /* m = 64 fills half of a 128-row tile: same time as m = 128 */
  WS_CHECK_NEAR(gemm_estimate(&large, 64, 4096, 4096).us_by_bound[0],
                gemm_estimate(&large, 128, 4096, 4096).us_by_bound[0], 1e-9);
  WS_CHECK(gemm_estimate(&small, 64, 4096, 4096).us <
           0.5 * gemm_estimate(&large, 64, 4096, 4096).us);
  ws_arena_destroy(arena);
}

WS_TEST(split_k_helps_few_long_tiles_only) {
  ws_arena *arena = ws_arena_create();
  gemm whole, split;
  gemm_build(&whole, arena, "", &compute_only);
  gemm_build(&split, arena, "split_k=8", &compute_only);
  /* 32 tiles, 56 blocks: 27.3 us of matrix work on 32 units; 3.4 on 256 */
  ws_estimate long_whole = gemm_estimate(&whole, 1024, 512, 7168);
  ws_estimate long_split = gemm_estimate(&split, 1024, 512, 7168);
  WS_CHECK(long_split.us < 0.6 * long_whole.us);
  WS_CHECK_NEAR(long_split.us_by_bound[WS_BOUND_MFMA], 7 * 1024 / 2100.0, 0.01);
  WS_CHECK_NEAR(long_whole.us_by_bound[WS_BOUND_MFMA], 56 * 1024 / 2100.0,
                0.01);
  /* 2688 tiles of two blocks: only more traffic and a launch more */
  WS_CHECK(gemm_estimate(&split, 6144, 7168, 256).us >
           1.5 * gemm_estimate(&whole, 6144, 7168, 256).us);
  ws_arena_destroy(arena);
}

WS_TEST(lds_conflicts_cost) {
  ws_arena *arena = ws_arena_create();
  gemm clean, conflicts;
  gemm_work work = compute_only;
  work.lds_clocks = 768; /* problem.md 4.3: 128x128, 2x2 waves */
  gemm_build(&clean, arena, "", &work);
  work.lds_clocks = 4 * 768;
  gemm_build(&conflicts, arena, "", &work);
  ws_estimate fast = gemm_estimate(&clean, 2048, 2432, 16384);
  ws_estimate slow = gemm_estimate(&conflicts, 2048, 2432, 16384);
  WS_CHECK_TEXT(ws_bound_text(fast.bound), "mfma");
  WS_CHECK_TEXT(ws_bound_text(slow.bound), "lds");
  /* the LDS alone: 128 blocks of 3072 clocks */
  WS_CHECK_NEAR(slow.us_by_bound[WS_BOUND_LDS], 128 * 3072 / 2100.0, 0.1);
  WS_CHECK(slow.us > 128 * 3072 / 2100.0 && slow.us > 1.5 * fast.us);
  ws_arena_destroy(arena);
}

/* An epilogue through LDS: 9000 clocks however deep k is. */
WS_TEST(work_done_once_is_not_multiplied_by_k) {
  ws_arena *arena = ws_arena_create();
  gemm g;
  gemm_work work = compute_only;
  work.lds_clocks = 700;
  gemm_build(&g, arena, "", &work);
  for (int run = 0; run < 2; run++)
    g.runs[run].launches[0].observed.ds_clocks += 9000;
  ws_estimate shallow = gemm_estimate(&g, 2048, 2432, 128);
  ws_estimate deep = gemm_estimate(&g, 2048, 2432, 16384);
  WS_CHECK_NEAR(shallow.us_by_bound[WS_BOUND_LDS], (9000 + 700) / 2100.0, 0.01);
  WS_CHECK_NEAR(deep.us_by_bound[WS_BOUND_LDS], (9000 + 128 * 700) / 2100.0,
                0.01);
  ws_arena_destroy(arena);
}

WS_TEST(waves_hide_latency) {
  ws_arena *arena = ws_arena_create();
  gemm alone, prefetched, crowded;
  gemm_work work = compute_only;
  work.hidden_clocks = 0; /* loads are waited for at once */
  gemm_build(&alone, arena, "", &work);
  work.lds_bytes = 16384; /* room for four workgroups */
  gemm_build(&crowded, arena, "", &work);
  gemm_build(&prefetched, arena, "", &compute_only);
  /* 1216 tiles: four to a unit, after each other or at once */
  double after = gemm_estimate(&alone, 4096, 4864, 4096).us;
  double at_once = gemm_estimate(&crowded, 4096, 4864, 4096).us;
  double hidden = gemm_estimate(&prefetched, 4096, 4864, 4096).us;
  WS_CHECK(at_once < after);
  WS_CHECK(hidden < after);
  /* exposed by hand: 455 of every 1024 + 455 + rounding of waits */
  double share = 1024 / (1024 + 455.0); /* of the matrix rate, when exposed */
  WS_CHECK_NEAR(after / hidden, 1 / share * loaded_mhz(1) / loaded_mhz(share),
                0.03);
  ws_arena_destroy(arena);
}

WS_TEST(an_order_that_shares_l2_asks_less_of_memory) {
  ws_arena *arena = ws_arena_create();
  gemm rows, bands;
  gemm_work work = compute_only;
  work.mfma = 4; /* memory alone */
  work.load_bytes = 32768;
  gemm_build(&rows, arena, "", &work);
  gemm_build(&bands, arena, "order=2;group_m=8", &work);
  WS_CHECK(gemm_estimate(&bands, 8192, 8192, 8192).us <=
           gemm_estimate(&rows, 8192, 8192, 8192).us);
  ws_arena_destroy(arena);
}

/* One byte per lane and load, no matrix instructions. Per block of k and wave
 * 256 loads; a loop of 8 loads and 30 vector instructions goes round 32
 * times. */
WS_TEST(a_naive_kernel_is_far_slower) {
  ws_arena *arena = ws_arena_create();
  gemm fast, naive;
  gemm_build(&fast, arena, "", &compute_only);
  gemm_build(&naive, arena, "tile_m=16;tile_n=16", &compute_only);
  naive.kernels[0].loops[0] = (ws_loop){.mix = {.valu = 30, .vmem_load = 8}};
  naive.kernels[0].mix = naive.kernels[0].loops[0].mix;
  naive.kernels[0].lds_bytes = 0;
  for (int run = 0; run < 2; run++) {
    const int64_t blocks = run == 0 ? 2 : 1;
    naive.runs[run].launches[0].observed =
        (ws_observed){.workgroups = 1,
                      .waves = 4,
                      .vmem_load_ops = 4 * 256 * blocks,
                      .vmem_load_bytes = 4 * 256 * 64 * blocks,
                      .vmem_lines = 4 * 256 * 10 * blocks,
                      .vmem_clocks = 4 * 256 * 10 * blocks + 16,
                      .vmem_store_ops = 4,
                      .vmem_store_bytes = 512};
  }
  ws_estimate slow = gemm_estimate(&naive, 2048, 2432, 4096);
  WS_CHECK(slow.us > 20 * gemm_estimate(&fast, 2048, 2432, 4096).us);
  /* by hand: 19456 workgroups, 64 to a unit, 32 blocks, 10240 L1 clocks */
  WS_CHECK_NEAR(slow.us_by_bound[WS_BOUND_VMEM], 64 * 32 * 10240 / 2100.0,
                0.02 * 64 * 32 * 10240 / 2100.0);
  ws_arena_destroy(arena);
}

/* ---- occupancy: the tables of mi300_timing.md section 1
 * ------------------------
 */

WS_TEST(occupancy_follows_the_published_steps) {
  static const struct {
    int vgpr, waves;
  } steps[] = {{64, 8},  {65, 7},  {72, 7},  {73, 6},  {80, 6},
               {96, 5},  {128, 4}, {129, 3}, {168, 3}, {169, 2},
               {256, 2}, {257, 1}, {512, 1}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    const ws_kernel_facts facts = {.vgpr = steps[i].vgpr, .sgpr = 32};
    WS_CHECK_INT(ws_occupancy_workgroups(&facts, 256, 0), steps[i].waves);
    WS_CHECK_INT(ws_occupancy_workgroups(&facts, 64, 0), 4 * steps[i].waves);
    WS_CHECK_INT(ws_occupancy_workgroups(&facts, 512, 0), steps[i].waves / 2);
  }
  const ws_kernel_facts light = {.vgpr = 32, .sgpr = 32};
  WS_CHECK_INT(ws_occupancy_workgroups(&light, 256, 8704), 7);
  WS_CHECK_INT(ws_occupancy_workgroups(&light, 256, 16896), 3);
  WS_CHECK_INT(ws_occupancy_workgroups(&light, 256, 33280), 1);
  WS_CHECK_INT(ws_occupancy_workgroups(&light, 256, 65537), 0);
  WS_CHECK_INT(ws_occupancy_workgroups(&light, 1088, 0), 0);
  const ws_kernel_facts scalars = {.vgpr = 32, .sgpr = 102};
  WS_CHECK_INT(ws_occupancy_workgroups(&scalars, 256, 0), 7);
}

/* ---- contract
 * -------------------------------------------------------------------
 */

WS_TEST(standard_runs_are_as_documented) {
  ws_arena *arena = ws_arena_create();
  ws_candidate *candidate = ws_candidate_create(arena, gemm_template(arena));
  ws_run runs[WS_STANDARD_RUNS];
  WS_CHECK_INT(ws_candidate_set(candidate, "tile_m=64;tile_n=16", NULL), WS_OK);
  WS_CHECK_INT(ws_standard_runs(candidate, runs), 3);
  const ws_shape want[] = {gemm_shape(64, 16, 256), gemm_shape(63, 16, 128),
                           gemm_shape(65, 32, 128)};
  for (int i = 0; i < 3; i++) {
    WS_CHECK_INT(runs[i].shape.size[DIM_M], want[i].size[DIM_M]);
    WS_CHECK_INT(runs[i].shape.size[DIM_N], want[i].size[DIM_N]);
    WS_CHECK_INT(runs[i].shape.size[DIM_K], want[i].size[DIM_K]);
    WS_CHECK_INT(runs[i].order, i == 1 ? WS_WAVES_DOWN : WS_WAVES_UP);
  }
  ws_arena_destroy(arena);
}

WS_TEST(what_cannot_be_estimated_is_said) {
  ws_arena *arena = ws_arena_create();
  gemm g;
  ws_estimate estimate;
  ws_diag diag = {""};
  const ws_shape shape = gemm_shape(128, 128, 128);
  const ws_shape illegal = gemm_shape(128, 8, 128);
  gemm_build(&g, arena, "", &compute_only);
  WS_CHECK_INT(ws_model_estimate(&ws_mi300x, g.problem, g.candidate, &g.result,
                                 &illegal, &estimate, &diag),
               WS_INPUT);
  g.result.run_count = 1;
  WS_CHECK_INT(ws_model_estimate(&ws_mi300x, g.problem, g.candidate, &g.result,
                                 &shape, &estimate, &diag),
               WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "standard runs");
  g.result.run_count = 2;
  g.kernels[0].lds_bytes = 70000;
  WS_CHECK_INT(ws_model_estimate(&ws_mi300x, g.problem, g.candidate, &g.result,
                                 &shape, &estimate, &diag),
               WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "70000 bytes of LDS");
  ws_arena_destroy(arena);
}

WS_TEST(more_of_anything_never_takes_less) {
  ws_arena *arena = ws_arena_create();
  gemm g;
  gemm_work work = compute_only;
  work.lds_clocks = 700;
  work.valu = 300;
  work.barriers = 2;
  work.load_bytes = 32768;
  gemm_build(&g, arena, "", &work);
  double before = 0;
  for (int64_t k = 128; k <= 16384; k += 128) {
    double us = gemm_estimate(&g, 1024, 4608, k).us;
    WS_CHECK(us >= before);
    before = us;
  }
  double least = gemm_estimate(&g, 1024, 4608, 7168).us;
  for (int what = 0; what < 3; what++) {
    gemm more;
    gemm_work heavier = work;
    heavier.lds_clocks += what == 0 ? 400 : 0;
    heavier.valu += what == 1 ? 400 : 0;
    heavier.hidden_clocks -= what == 2 ? 900 : 0;
    gemm_build(&more, arena, "", &heavier);
    WS_CHECK(gemm_estimate(&more, 1024, 4608, 7168).us > least);
  }
  ws_arena_destroy(arena);
}
