/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The shipped templates: size of their spaces, chosen points on edge shapes in
 * all layouts through check and sanitizer, code without scratch, and mutants
 * that show that a wrong template does not pass. Oracle: the problem's fp64
 * reference and the sanitizer.
 */
#include "../gemm_shape.h"
#include "template_fixture.h"

static const char naive[] = "fp8_gemm_naive.ll";
static const char mfma[] = "fp8_gemm_mfma.ll";

enum { CHECKED = WS_STAGE_CHECK | WS_STAGE_SANITIZE };
enum { MAX_SHAPES = 4 };

/* One or two tiles would hide errors of order and of edges: the shapes have
 * several, cut in both directions. Zero m ends the list. */
typedef struct point {
  const char *assignments, *variants;
  ws_shape shapes[MAX_SHAPES];
} point;

static void build_point(const shipped *s, const point *p, int layout) {
  ws_run runs[MAX_SHAPES];
  int count = 0;
  for (; count < MAX_SHAPES && p->shapes[count].size[DIM_M]; count++)
    runs[count] = (ws_run){.shape = gemm_named(p->shapes[count]),
                           .order = count % 2 ? WS_WAVES_DOWN : WS_WAVES_UP,
                           .seed = (uint64_t)count + 11};
  const char *assignments =
      ws_arena_printf(s->arena, "layout=%d%s", layout, p->assignments);
  ws_build_result result =
      build(s, assignments, p->variants, runs, count, CHECKED);
  expect_ok(&result, assignments, p->variants);
  WS_CHECK_INT(result.run_count, count);
}

static void build_points(const char *name, const point *points, size_t count,
                         int layout) {
  shipped s = open_shipped(name);
  ws_sanitize_warm_up();
  for (size_t i = 0; i < count; i++)
    build_point(&s, &points[i], layout);
  ws_arena_destroy(s.arena);
}

/* ---- naive ------------------------------------------------------------------
 */

static const point naive_points[] = {
    {"", "", {GEMM_SIZES(16, 16, 128), GEMM_SIZES(48, 80, 256)}},
    {";tile_m=32;tile_n=32",
     "decode=decode_integer",
     {GEMM_SIZES(16, 144, 256), GEMM_SIZES(48, 16, 128)}},
    {";tile_n=64", "", {GEMM_SIZES(16, 16, 128), GEMM_SIZES(16, 208, 384)}},
};

WS_TEST(naive_is_right_in_kmajor) { build_points(naive, naive_points, 3, 0); }
WS_TEST(naive_is_right_in_mnmajor) { build_points(naive, naive_points, 3, 1); }
WS_TEST(naive_is_right_in_kmajor_bpreshuffle) {
  build_points(naive, naive_points, 3, 3);
}
WS_TEST(naive_is_right_in_kmajor_add) {
  build_points(naive, naive_points, 3, 4);
}

/* ---- mfma -------------------------------------------------------------------
 */

static const point mfma_points[] = {
    {"",
     "",
     {GEMM_SIZES(128, 128, 256), GEMM_SIZES(96, 576, 128),
      GEMM_SIZES(16, 16, 128)}},
    /* smallest and largest tiles; m = 16 under 256 rows, two scale columns */
    {";tile_m=16;tile_n=16;tile_k=32;waves_m=1;waves_n=1;prefetch=0",
     "",
     {GEMM_SIZES(48, 80, 256), GEMM_SIZES(16, 16, 128)}},
    {";tile_m=256;tile_n=64;tile_k=64;waves_m=4;waves_n=1;lds_read=16;"
     "lds_pad=0;lds_layout=2",
     "",
     {GEMM_SIZES(16, 16, 128), GEMM_SIZES(272, 80, 128)}},
    {";tile_m=64;tile_n=256;tile_k=64;waves_m=1;waves_n=4;mfma=32;lds_pad=16",
     "store_c=store_c_pairs",
     {GEMM_SIZES(64, 576, 128), GEMM_SIZES(80, 272, 256)}},
    {";tile_m=32;tile_n=256;tile_k=128;waves_m=2;waves_n=8;split_k=2;lds_pad=0;"
     "prefetch=0",
     "reduce=reduce_pairs",
     {GEMM_SIZES(16, 576, 384), GEMM_SIZES(48, 528, 128)}},
    /* more slices than blocks of k */
    {";tile_m=32;tile_n=64;waves_m=1;waves_n=2;split_k=8;prefetch=2;lds_pad=16",
     "scale=scale_elements",
     {GEMM_SIZES(32, 64, 128), GEMM_SIZES(48, 80, 384)}},
    {";tile_m=64;tile_n=32;tile_k=64;split_k=4;mfma=32;waves_n=1;lds_layout=1;"
     "lds_pad=0;lds_read=16;prefetch=2;lds_buffers=2",
     "mma=mma_stationary;reduce=reduce_pairs",
     {GEMM_SIZES(64, 32, 128), GEMM_SIZES(96, 576, 256)}},
    /* threads that do not divide the loads */
    {";tile_m=16;tile_n=128;tile_k=32;waves_m=1;waves_n=8;prefetch=1",
     "mma=mma_priority",
     {GEMM_SIZES(16, 128, 256), GEMM_SIZES(48, 144, 128)}},
    /* two buffers, odd numbers of steps */
    {";tile_m=64;tile_n=64;tile_k=128;lds_buffers=2;prefetch=2",
     "scale=scale_twice;round=round_integer",
     {GEMM_SIZES(64, 64, 640), GEMM_SIZES(80, 48, 128)}},
    {";tile_m=64;tile_n=64;tile_k=32;lds_buffers=2;prefetch=2;mfma=32;"
     "nontemporal=1",
     "store_c=store_c_pairs;round=round_integer",
     {GEMM_SIZES(64, 64, 256), GEMM_SIZES(48, 80, 128)}},
    /* orders; counts of tiles that 8 and group_m do not divide */
    {";tile_m=16;tile_n=16;tile_k=64;waves_m=1;waves_n=1;order=2;group_m=4",
     "",
     {GEMM_SIZES(112, 80, 128), GEMM_SIZES(16, 48, 128),
      GEMM_SIZES(48, 208, 128)}},
    {";tile_m=16;tile_n=16;tile_k=64;waves_m=1;waves_n=1;order=1;group_m=16",
     "tile_order=tile_order_snake",
     {GEMM_SIZES(112, 80, 128), GEMM_SIZES(304, 48, 128)}},
    {";tile_m=16;tile_n=16;tile_k=64;waves_m=1;waves_n=1;order=2;group_m=2",
     "tile_order=tile_order_columns;store_c=store_c_pairs",
     {GEMM_SIZES(112, 80, 128), GEMM_SIZES(16, 176, 128)}},
};
enum { MFMA_POINTS = sizeof mfma_points / sizeof *mfma_points };

WS_TEST(mfma_is_right_in_kmajor) {
  build_points(mfma, mfma_points, MFMA_POINTS, 0);
}
WS_TEST(mfma_is_right_in_mnmajor) {
  build_points(mfma, mfma_points, MFMA_POINTS, 1);
}

static const point mnmajor_points[] = {
    {";load_width=8",
     "",
     {GEMM_SIZES(128, 128, 256), GEMM_SIZES(96, 576, 128),
      GEMM_SIZES(16, 16, 128)}},
    {";load_width=8;tile_m=16;tile_n=128;tile_k=32;waves_m=1;waves_n=4;"
     "lds_pad=16;lds_read=8",
     "",
     {GEMM_SIZES(16, 144, 256), GEMM_SIZES(48, 80, 128)}},
    {";load_width=8;tile_m=64;tile_n=64;prefetch=2;lds_pad=0;lds_layout=2;"
     "lds_read=16;split_k=2",
     "mma=mma_stationary",
     {GEMM_SIZES(80, 48, 384), GEMM_SIZES(64, 64, 128)}},
    {";load_width=8;tile_m=32;tile_n=64;tile_k=64;lds_layout=1;lds_pad=0;"
     "lds_buffers=2",
     "",
     {GEMM_SIZES(48, 80, 256)}},
};
enum { MNMAJOR_POINTS = sizeof mnmajor_points / sizeof *mnmajor_points };

WS_TEST(mfma_is_right_with_wide_loads_in_mnmajor) {
  build_points(mfma, mnmajor_points, MNMAJOR_POINTS, 1);
}

WS_TEST(mfma_is_right_in_kmajor_bpreshuffle) {
  build_points(mfma, mfma_points, MFMA_POINTS, 3);
}

/* B past LDS: both matrix instructions, both distances, waves along m that
 * share B, waves that begin past the last column, slices without work, odd
 * numbers of steps. */
static const point direct_points[] = {
    {";tile_m=64;tile_n=128;waves_m=1;waves_n=4;lds_pad=16",
     "",
     {GEMM_SIZES(128, 128, 256), GEMM_SIZES(95, 576, 128),
      GEMM_SIZES(1, 16, 128)}},
    {";tile_m=16;tile_n=64;waves_m=1;waves_n=4;lds_pad=0;lds_layout=2;"
     "prefetch=2;lds_buffers=2",
     "",
     {GEMM_SIZES(16, 16, 128), GEMM_SIZES(17, 144, 640)}},
    {";tile_m=64;tile_n=64;tile_k=64;lds_pad=16",
     "round=round_integer",
     {GEMM_SIZES(80, 48, 384), GEMM_SIZES(64, 64, 128)}},
    {";tile_m=32;tile_n=128;tile_k=64;waves_m=1;waves_n=2;prefetch=2;"
     "split_k=8;lds_pad=16",
     "reduce=reduce_pairs",
     {GEMM_SIZES(32, 128, 128), GEMM_SIZES(48, 272, 1152)}},
    {";tile_m=64;tile_n=64;tile_k=128;mfma=32;lds_pad=16;prefetch=2",
     "store_c=store_c_pairs",
     {GEMM_SIZES(80, 48, 384), GEMM_SIZES(1, 16, 128)}},
    {";tile_m=128;tile_n=64;tile_k=32;mfma=32;lds_pad=0;lds_layout=1;"
     "order=2;group_m=2",
     "scale=scale_twice",
     {GEMM_SIZES(130, 80, 256)}},
};
enum { DIRECT_POINTS = sizeof direct_points / sizeof *direct_points };

WS_TEST(mfma_is_right_with_b_past_lds) {
  point points[DIRECT_POINTS];
  char texts[DIRECT_POINTS][160];
  for (int i = 0; i < DIRECT_POINTS; i++) {
    points[i] = direct_points[i];
    snprintf(texts[i], sizeof texts[i], ";b_direct=1;lds_read=16%s",
             direct_points[i].assignments);
    points[i].assignments = texts[i];
  }
  build_points(mfma, points, DIRECT_POINTS, 3);
}

/* Slices that add into C: each number of them, more than blocks of k, both
 * matrix instructions, rows that cut a block, waves past the last column. */
static const point add_points[] = {
    {"",
     "",
     {GEMM_SIZES(128, 128, 256), GEMM_SIZES(95, 576, 128),
      GEMM_SIZES(1, 16, 128)}},
    {";tile_m=16;tile_n=64;waves_m=1;waves_n=4;split_k=8",
     "round=round_integer",
     {GEMM_SIZES(16, 16, 128), GEMM_SIZES(17, 144, 1152),
      GEMM_SIZES(3, 80, 384)}},
    {";tile_m=64;tile_n=64;tile_k=64;split_k=2;lds_buffers=2;prefetch=2",
     "",
     {GEMM_SIZES(80, 48, 384), GEMM_SIZES(64, 64, 128)}},
    {";tile_m=64;tile_n=128;tile_k=64;waves_m=2;waves_n=2;mfma=32;lds_pad=16;"
     "split_k=4",
     "scale=scale_twice",
     {GEMM_SIZES(77, 272, 640), GEMM_SIZES(1, 32, 256)}},
    {";tile_m=16;tile_n=16;tile_k=64;waves_m=1;waves_n=1;order=2;group_m=2;"
     "split_k=4",
     "tile_order=tile_order_columns",
     {GEMM_SIZES(112, 80, 128), GEMM_SIZES(31, 176, 512)}},
    {";tile_m=32;tile_n=256;waves_m=2;waves_n=8;lds_pad=0;prefetch=0;split_k=2",
     "mma=mma_stationary",
     {GEMM_SIZES(16, 576, 384), GEMM_SIZES(48, 528, 128)}},
};
enum { ADD_POINTS = sizeof add_points / sizeof *add_points };

WS_TEST(mfma_is_right_in_kmajor_add) {
  build_points(mfma, add_points, ADD_POINTS, 4);
}

/* What the machine code must have: no scratch; two waves per SIMD;
 * accumulators where vector instructions reach them; global loads that stay in
 * flight over all matrix instructions (16 or 32 clocks each) of a step, or with
 * prefetch 2 of more than one. */
WS_TEST(chosen_points_compile_as_intended) {
  static const struct {
    const char *assignments;
    int clocks_over_load;
  } points[] = {
      {"", 64 * 16},
      {"layout=1;lds_pad=0;lds_layout=2;lds_read=16;load_width=8", 64 * 16},
      {"tile_k=64;prefetch=2;lds_buffers=2", 32 * 16 + 1},
      {"mfma=32;tile_k=64;split_k=4", 16 * 32},
      {"tile_m=64;tile_n=64;prefetch=2", 16 * 16 + 1},
      {"layout=3;b_direct=1;tile_m=64;lds_read=16;lds_pad=16", 32 * 16},
      {"layout=3;b_direct=1;tile_m=64;tile_n=64;lds_read=16;lds_pad=16;"
       "prefetch=2",
       16 * 16},
      {"layout=4;split_k=4", 64 * 16}};
  shipped s = open_shipped(mfma);
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    ws_build_result result = build(&s, points[i].assignments, "", NULL, 0,
                                   WS_STAGE_CHECK | WS_STAGE_LOWER);
    expect_ok(&result, points[i].assignments, "");
    const ws_kernel_facts *gemm = &result.kernels[0];
    WS_CHECK_INT(scratch_bytes(&result), 0);
    WS_CHECK(gemm->vgpr <= 256);
    WS_CHECK_INT(gemm->agpr, 0);
    WS_CHECK_INT(gemm->loop_count, 1);
    if (gemm->loops[0].mfma_clocks_over_load < points[i].clocks_over_load)
      WS_FAIL("%s: loads are waited for after %d MFMA clocks",
              points[i].assignments, gemm->loops[0].mfma_clocks_over_load);
  }
  ws_arena_destroy(s.arena);
}

/* Two columns of a row an instruction: a wave's 64 x 64 elements, once for
 * blocks that m cuts and once for those that it does not. */
WS_TEST(additions_are_one_instruction_each) {
  shipped s = open_shipped(mfma);
  ws_build_result result = build(&s, "layout=4;split_k=4", "", NULL, 0,
                                 WS_STAGE_CHECK | WS_STAGE_LOWER);
  expect_ok(&result, "layout=4;split_k=4", "");
  WS_CHECK_INT(result.kernels[0].mix.vmem_atomic, 2 * 64 * 64 / (64 * 2));
  WS_CHECK_INT(result.kernels[0].mix.vmem_store, 0);
  ws_arena_destroy(s.arena);
}

/* ---- the space --------------------------------------------------------------
 */

enum { WANTED_POINTS = 5000, MAX_DRAWS = 80000 };

/* Distinct legal points of one layout among random ones, by their ids. */
static int distinct_legal_points(const shipped *s, int layout) {
  ws_rng rng;
  ws_hash *seen = ws_arena_alloc(s->arena, WANTED_POINTS * sizeof *seen);
  int index = ws_template_param_index(s->tmpl, "layout"), count = 0;
  ws_rng_init(&rng, (uint64_t)layout);
  for (int i = 0; i < MAX_DRAWS && count < WANTED_POINTS; i++) {
    ws_candidate *candidate = random_point(s, &rng);
    if (candidate->values[index] != layout)
      continue;
    int at = 0;
    while (at < count && memcmp(&seen[at], &candidate->id, sizeof *seen))
      at++;
    if (at == count)
      seen[count++] = candidate->id;
  }
  return count;
}

WS_TEST(mfma_has_at_least_5000_legal_points_in_each_layout) {
  shipped s = open_shipped(mfma);
  static const int layouts[] = {0, 1, 3, 4};
  for (int i = 0; i < 4; i++)
    WS_CHECK_INT(distinct_legal_points(&s, layouts[i]), WANTED_POINTS);
  ws_arena_destroy(s.arena);
}

WS_TEST(mfma_offers_regions_and_variants) {
  shipped s = open_shipped(mfma);
  int with_two = 0;
  WS_CHECK(s.tmpl->region_count >= 6);
  for (int i = 0; i < s.tmpl->region_count; i++) {
    WS_CHECK(strlen(s.tmpl->regions[i].contract) > 100);
    with_two += s.tmpl->regions[i].variant_count >= 2;
  }
  WS_CHECK(with_two >= 3);
  ws_arena_destroy(s.arena);
}

/* Each is refused by the constraint that it breaks. */
WS_TEST(illegal_points_are_refused) {
  static const struct {
    const char *assignments, *reason;
  } points[] = {
      {"waves_m=8;waves_n=8", "at most 1024 threads"},
      {"tile_m=16", "a wave's rows are whole"},
      {"tile_n=16", "a wave's columns are whole"},
      {"tile_k=32;lds_read=16;lds_pad=0", "lanes of one LDS read"},
      {"load_width=8", "belongs to layout mnmajor"},
      {"b_direct=1;tile_m=64;lds_read=16;lds_pad=16",
       "belongs to layout kmajor-bpre"},
      {"layout=3;b_direct=1;tile_m=64", "A's reads must be as wide"},
      {"layout=3;b_direct=1;tile_m=64;lds_read=16;lds_pad=16;prefetch=0",
       "at least a step ahead"},
      {"layout=4;nontemporal=1", "nontemporal is for stores"},
      {"lds_read=16", "rows aligned to 16"},
      {"lds_layout=2", "take the place of padding"},
      {"group_m=4", "bands belong"},
      {"lds_buffers=2", "64 KiB"},
      {"waves_m=1;waves_n=1;tile_k=32", "at most 64 floats"},
      {"waves_m=1;waves_n=1;tile_m=256;tile_n=16", "16 registers of 16 bytes"},
      {"prefetch=2", "too few of the 256 registers"},
  };
  shipped s = open_shipped(mfma);
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    ws_diag diag = {""};
    ws_candidate *candidate = ws_candidate_create(s.arena, s.tmpl);
    if (ws_candidate_set(candidate, points[i].assignments, &diag) != WS_OK)
      WS_FAIL("%s", diag.text);
    WS_CHECK(ws_candidate_broken_require(candidate, NULL, &diag) >= 0);
    WS_CHECK_CONTAINS(diag.text, points[i].reason);
  }
  ws_arena_destroy(s.arena);
}

/* ---- mutants ----------------------------------------------------------------
 */

/* Wrong in one line; must not pass. (The sanitizer's own tests say which
 * finding each kind of error gives.) */
static void expect_caught(const char *name, const char *from, const char *to,
                          const char *assignments, ws_shape shape) {
  shipped s = open_mutant(name, from, to);
  ws_run run = {.shape = shape, .order = WS_WAVES_UP, .seed = 5};
  ws_build_result result = build(&s, assignments, "", &run, 1, CHECKED);
  if (result.verdict == WS_VERDICT_OK)
    WS_FAIL("\"%s\" instead of \"%s\" passes", to, from);
  WS_CHECK(result.finding_count > 0);
  ws_arena_destroy(s.arena);
}

WS_TEST(wrong_templates_are_caught) {
  ws_shape cut = gemm_shape(48, 80, 256);
  const char *small = "tile_m=32;tile_n=32;tile_k=64";
  expect_caught(naive, "icmp ult i32 %k, 128", "icmp ult i32 %k, 127", "", cut);
  expect_caught(naive, "icmp ult i32 %column, %n", "icmp ule i32 %column, %n",
                "tile_n=32", cut);
  expect_caught(mfma, "call i32 @llvm.umin.i32(i32 %row, i32 %row.kept.0)",
                "add i32 %row, 0", small, cut);
  expect_caught(mfma, "%line.3, ptr addrspace(5) %to.3",
                "%line.2, ptr addrspace(5) %to.3",
                "layout=1;tile_m=32;tile_n=32;tile_k=64", cut);
  const char *direct = "layout=3;b_direct=1;tile_m=32;tile_n=32;tile_k=64;"
                       "lds_read=16;lds_pad=16";
  expect_caught(mfma, "mul i32 %lane.k, 256", "mul i32 %lane.k, 512", direct,
                cut);
  expect_caught(mfma, "call i32 @llvm.umin.i32(i32 %row, i32 %last)",
                "add i32 %row, 0", direct, cut);
  expect_caught(mfma, "%other = sub i32 16, %turn", "%other = add i32 0, %turn",
                direct, cut);
  expect_caught(mfma, "%offset.3 = mul i32 %offset.2, 256",
                "%offset.3 = mul i32 %offset.2, 16",
                "layout=3;tile_m=32;tile_n=32;tile_k=64", cut);
  const char *adds =
      "layout=4;tile_m=32;tile_n=32;tile_k=64;waves_m=1;split_k=2";
  expect_caught(naive, "fadd float %product, %before.wide",
                "fsub float %product, %before.wide", "layout=4", cut);
  expect_caught(mfma, "= atomicrmw fadd ptr addrspace(1) %at",
                "= atomicrmw fsub ptr addrspace(1) %at", adds, cut);
  expect_caught(mfma, "%down64 = zext i32 %down to i64",
                "%down64 = zext i32 %down.2 to i64", adds, cut);
  expect_caught(mfma, "%left = select i1 %is.odd, i32 %taken, i32 %kept",
                "%left = select i1 %is.odd, i32 %kept, i32 %taken", adds, cut);
  expect_caught(mfma, "fmul <4 x float> %as, %bs.all",
                "fadd <4 x float> %as, %bs.all", small, cut);
  expect_caught(mfma, "fadd <4 x float> %total, %part",
                "fsub <4 x float> %total, %part",
                "tile_m=32;tile_n=32;tile_k=64;split_k=2", cut);
}
