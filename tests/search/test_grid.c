/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The grid's cells. Bins are worked out by hand from the table in
 * docs/search.md.
 */
#include "grid.h"
#include "occupancy.h"
#include "ws_test_template.h"

#define TILES                                                                  \
  "template|gemm|1|fp8_gemm_blockscale|gfx942|x\n"                             \
  "param|tile_m|ws.m|16 64 128 256|x|128\n"                                    \
  "param|tile_n|ws.n|16 64 128 256|x|64\n"                                     \
  "launch|first|1|1|1|64|1|c\n"                                                \
  "launch|second|ceildiv(m, tile_m)|ceildiv(n, tile_n)|1|256|1|c\n"
#define GROUPS                                                                 \
  "template|gemm|1|fp8_gemm_blockscale|gfx942|x\n"                             \
  "param|bm|ws.m|32 64|x|32\n"                                                 \
  "launch|only|ceildiv(m, bm)|ceildiv(n, 32)|1|256|1|c\n"

static ws_run_result two_launches(int64_t first_clocks, int64_t second_mfma) {
  ws_run_result run = {.launch_count = 2};
  run.launches[0].kernel = "first";
  run.launches[0].observed.vmem_clocks = first_clocks;
  run.launches[1].kernel = "second";
  run.launches[1].observed.mfma_16x16x32 = second_mfma;
  return run;
}

static void check_cell(const ws__cell *cell, const int8_t want[]) {
  for (int i = 0; i < WS__AXIS_COUNT; i++)
    if (cell->bins[i] != want[i])
      WS_FAIL("axis %d is in bin %d, want %d", i, cell->bins[i], want[i]);
}

WS_TEST(the_launch_with_most_work_counts) {
  ws_arena *arena = ws_arena_create();
  const ws_template *tmpl = ws_test_template(arena, TILES);
  const ws_candidate *candidate = ws_candidate_create(arena, tmpl);
  const ws_kernel_facts kernels[] = {
      {.name = "first", .vgpr = 20, .sgpr = 16},
      {.name = "second", .vgpr = 130, .sgpr = 16, .lds_bytes = 20000}};
  ws_run_result run = two_launches(1599, 100); /* 100 MFMA are 1600 clocks */
  ws_build_result result = {
      .kernels = kernels, .kernel_count = 2, .runs = &run, .run_count = 1};
  ws__cell cell = ws__cell_of(candidate, &result, "hbm");
  /* 20000 bytes: 16-32K; 130: 129-168; 130 VGPR are 3 waves of a SIMD and LDS
   * lets 3 groups of four waves run: 3-4; tile 8192: 4-8K */
  check_cell(&cell, (int8_t[]){3, 3, 2, WS_BOUND_HBM, 2});
  WS_CHECK_TEXT(ws__cell_text(arena, &cell),
                "lds=16-32K registers=129-168 occupancy=3-4 bottleneck=hbm "
                "tile=4-8K");
  run = two_launches(1601, 100);
  cell = ws__cell_of(candidate, &result, "hbm");
  check_cell(&cell, (int8_t[]){0, 0, 3, WS_BOUND_HBM, 2});
  run.launches[1].observed.mfma_other = 1; /* 32 more */
  cell = ws__cell_of(candidate, &result, "hbm");
  check_cell(&cell, (int8_t[]){3, 3, 2, WS_BOUND_HBM, 2});
  ws_arena_destroy(arena);
}

WS_TEST(edges_belong_to_the_lower_bin) {
  static const struct {
    int32_t lds, vgpr;
    int8_t lds_bin, vgpr_bin;
  } cases[] = {{0, 1, 0, 0},       {1, 64, 1, 0},      {8192, 65, 1, 1},
               {8193, 96, 2, 1},   {16384, 97, 2, 2},  {16385, 128, 3, 2},
               {32768, 129, 3, 3}, {32769, 168, 4, 3}, {65536, 169, 4, 4},
               {65536, 256, 4, 4}, {65536, 257, 4, 5}, {65536, 512, 4, 5}};
  ws_arena *arena = ws_arena_create();
  const ws_candidate *candidate =
      ws_candidate_create(arena, ws_test_template(arena, GROUPS));
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ws_kernel_facts facts = {
        .name = "only", .vgpr = cases[i].vgpr, .lds_bytes = cases[i].lds};
    ws_build_result result = {.kernels = &facts, .kernel_count = 1};
    ws__cell cell = ws__cell_of(candidate, &result, "");
    WS_CHECK_INT(cell.bins[WS__AXIS_LDS], cases[i].lds_bin);
    WS_CHECK_INT(cell.bins[WS__AXIS_REGISTERS], cases[i].vgpr_bin);
    WS_CHECK_INT(cell.bins[WS__AXIS_BOTTLENECK], -1);
  }
  ws_arena_destroy(arena);
}

WS_TEST(without_a_build_the_tile_is_known) {
  ws_arena *arena = ws_arena_create();
  ws_candidate *candidate =
      ws_candidate_create(arena, ws_test_template(arena, GROUPS));
  ws__cell small = ws__cell_of(candidate, NULL, "");
  candidate->values[0] = 64;
  ws__cell large = ws__cell_of(candidate, NULL, "no such bound");
  /* 4096 / 32 * 4096 / 32 groups of 1024 outputs; of 2048 */
  check_cell(&small, (int8_t[]){-1, -1, -1, -1, 0});
  check_cell(&large, (int8_t[]){-1, -1, -1, -1, 1});
  WS_CHECK_TEXT(ws__cell_text(arena, &small),
                "lds=? registers=? occupancy=? bottleneck=? tile=1-1K");
  ws_arena_destroy(arena);
}

WS_TEST(a_grid_that_cannot_be_worked_out_has_no_tile) {
  ws_arena *arena = ws_arena_create();
  const ws_candidate *candidate = ws_candidate_create(
      arena,
      ws_test_template(arena, "template|t|1|fp8_gemm_blockscale|gfx942|x\n"
                              "launch|only|m / (n - n)|1|1|64|1|c\n"));
  ws__cell cell = ws__cell_of(candidate, NULL, "");
  WS_CHECK_INT(cell.bins[WS__AXIS_TILE], -1);
  ws_arena_destroy(arena);
}

WS_TEST(distances_add_up) {
  ws__cell a = {.bins = {0, 0, 0, WS_BOUND_MFMA, 0}};
  ws__cell b = {.bins = {4, 1, 0, WS_BOUND_LAUNCH, 2}};
  WS_CHECK(ws__cell_equal(&a, &a) && !ws__cell_equal(&a, &b));
  WS_CHECK_INT(ws__cell_distance(&a, &a), 0);
  WS_CHECK_INT(ws__cell_distance(&a, &b), 4 + 1 + 1 + 2);
  WS_CHECK_INT(ws__cell_distance(&b, &a), 8);
}

WS_TEST(every_bin_has_a_text_and_no_other) {
  static const int counts[WS__AXIS_COUNT] = {5, 6, 4, WS_BOUND_COUNT, 6};
  ws_arena *arena = ws_arena_create();
  for (int family = 0; family < 2; family++)
    for (int axis = 0; axis < WS__AXIS_COUNT; axis++)
      for (int bin = -1; bin <= counts[axis]; bin++) {
        ws__cell cell = {.family = (ws_target_family)family};
        cell.bins[axis] = (int8_t)bin;
        bool unknown = strchr(ws__cell_text(arena, &cell), '?') != NULL;
        WS_CHECK(unknown == (bin < 0 || bin == counts[axis]));
      }
  ws_arena_destroy(arena);
}

/* ---- sm_90a ---- */
#define CUDA                                                                   \
  "template|gemm|1|fp8_gemm_blockscale|sm_90a|x\n"                             \
  "param|threads|ws.t|128 256 384 1024|x|384\n"                                \
  "launch|only|ceildiv(m, 128)|ceildiv(n, 128)|1|threads|1|c\n"

/* From the limits of a multiprocessor: 65536 registers, 228 KB of shared memory
 * and 1 KB of it for each block, 2048 threads. */
WS_TEST(blocks_of_a_multiprocessor) {
  static const struct {
    int32_t threads, registers, dynamic_lds;
    int workgroups;
    bool limit_registers, limit_lds, limit_waves;
  } cases[] = {
      /* 12 warps of 168 * 32 registers: 64512 of 65536 */
      {384, 168, 100000, 1, true, false, false},
      {384, 168, 232448, 1, true, true, false}, /* both */
      /* 2 * (115712 + 1024) = 233472, just what there is */
      {128, 64, 115712, 2, false, true, false},
      {128, 64, 115713, 1, false, true, false},
      /* 2048 / 256 = 8; 8 warps of 32 * 32 registers: 8 blocks too */
      {256, 32, 0, 8, true, true, true},
      /* 33 registers are 1280 in units of 256: 65536 / 10240 = 6.4 */
      {256, 33, 0, 6, true, false, false},
      {1024, 0, 0, 2, true, true, true}, /* nothing has assembled it */
  };
  const ws_target *target = ws_target_find("sm_90a");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const ws_kernel_facts facts = {.name = "only",
                                   .vgpr = cases[i].registers,
                                   .dynamic_lds = cases[i].dynamic_lds};
    WS_CHECK_INT(ws_resident_workgroups(target, &facts, cases[i].threads),
                 cases[i].workgroups);
    const ws__limits limits = ws__limits_of(target, &facts, cases[i].threads);
    WS_CHECK(limits.registers == cases[i].limit_registers);
    WS_CHECK(limits.lds == cases[i].limit_lds);
    WS_CHECK(limits.waves == cases[i].limit_waves);
  }
}

WS_TEST(cells_of_a_cuda_kernel) {
  ws_arena *arena = ws_arena_create();
  const ws_candidate *candidate =
      ws_candidate_create(arena, ws_test_template(arena, CUDA));
  const ws_kernel_facts facts = {
      .name = "only", .vgpr = 168, .dynamic_lds = 199000};
  const ws_build_result result = {.kernels = &facts, .kernel_count = 1};
  ws__cell cell = ws__cell_of(candidate, &result, "");
  /* One block of 12 warps: 3 for each scheduler. 16384 outputs. */
  WS_CHECK_TEXT(ws__cell_text(arena, &cell),
                "lds=113-227K registers=129-168 occupancy=3-4 bottleneck=? "
                "tile=8-16K");
  ws_arena_destroy(arena);
}
