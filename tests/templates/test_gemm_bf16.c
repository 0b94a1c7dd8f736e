/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The templates of gemm_bf16. gfx942: chosen and random points on shapes with
 * cut tiles and cut steps through check, sanitizer and code generation. sm_90a:
 * shared memory is what the layout needs, boxes are what a TMA takes, points
 * compile, without spills and without wgmma that ptxas serialises.
 */
#include "../gemm_shape.h"
#include "template_fixture.h"

static const char naive[] = "../kernels/gemm_bf16/gemm_bf16_naive.ll";
static const char mfma[] = "../kernels/gemm_bf16/gemm_bf16_mfma.ll";
static const char wgmma[] = "../kernels/gemm_bf16/gemm_bf16_wgmma.ll";
static const char naive_sm90a[] =
    "../kernels/gemm_bf16/gemm_bf16_naive_sm90a.ll";

enum { CHECKED = WS_STAGE_CHECK | WS_STAGE_SANITIZE };
enum { BUILT = WS_STAGE_CHECK | WS_STAGE_LOWER };
enum { MAX_SHAPES = 4 };

/* ---- gfx942 --------------------------------------------------------------
 */

/* Zero m ends the list of shapes. */
typedef struct point {
  const char *assignments, *variants;
  ws_shape shapes[MAX_SHAPES];
} point;

static void build_point(const shipped *s, const point *p, int stages) {
  ws_run runs[MAX_SHAPES];
  int count = 0;
  for (; count < MAX_SHAPES && p->shapes[count].size[DIM_M]; count++)
    runs[count] = (ws_run){.shape = gemm_named(p->shapes[count]),
                           .order = count % 2 ? WS_WAVES_DOWN : WS_WAVES_UP,
                           .seed = (uint64_t)count + 11 +
                                   (count % 2 ? WS_HARD_INPUTS : 0)};
  ws_build_result result =
      build(s, p->assignments, p->variants, runs, count, stages);
  expect_ok(&result, p->assignments, p->variants);
  WS_CHECK_INT(result.run_count, count);
  WS_CHECK_INT(scratch_bytes(&result), 0);
}

static void build_points(const char *name, const point *points, size_t count) {
  shipped s = open_shipped(name);
  ws_sanitize_warm_up();
  for (size_t i = 0; i < count; i++)
    build_point(&s, &points[i], CHECKED | WS_STAGE_LOWER);
  ws_arena_destroy(s.arena);
}

static const point naive_points[] = {
    {"", "", {GEMM_SIZES(8, 8, 8), GEMM_SIZES(56, 72, 136)}},
    {"threads=512",
     "dot=dot_wide",
     {GEMM_SIZES(8, 136, 72), GEMM_SIZES(56, 72, 136)}},
};
WS_TEST(naive_is_right) { build_points(naive, naive_points, 2); }

static const point mfma_points[] = {
    {"",
     "",
     {GEMM_SIZES(128, 128, 256), GEMM_SIZES(136, 200, 72),
      GEMM_SIZES(8, 8, 8)}},
    {"cut_k=0",
     "store_c=store_c_pairs",
     {GEMM_SIZES(136, 72, 128), GEMM_SIZES(8, 136, 64)}},
    {"tile_m=16;tile_n=16;tile_k=16;waves_m=1;waves_n=1;prefetch=0",
     "",
     {GEMM_SIZES(40, 72, 56), GEMM_SIZES(8, 8, 16)}},
    {"tile_m=256;tile_n=64;tile_k=32;waves_m=4;waves_n=1;lds_read=16;"
     "lds_pad=0;lds_layout=2",
     "",
     {GEMM_SIZES(8, 8, 8), GEMM_SIZES(264, 72, 136)}},
    {"tile_m=64;tile_n=256;tile_k=32;waves_m=1;waves_n=4;mfma=32;lds_pad=16",
     "store_c=store_c_pairs",
     {GEMM_SIZES(72, 264, 152), GEMM_SIZES(8, 24, 40)}},
    /* more slices than steps, cut ones too */
    {"tile_m=32;tile_n=64;waves_m=1;waves_n=2;split_k=8;prefetch=2;lds_pad=16",
     "",
     {GEMM_SIZES(32, 64, 136), GEMM_SIZES(40, 72, 640)}},
    {"tile_m=64;tile_n=32;tile_k=32;split_k=4;mfma=32;waves_n=1;lds_layout=1;"
     "lds_pad=0;lds_read=16;prefetch=2;lds_buffers=2",
     "mma=mma_stationary;reduce=reduce_pairs",
     {GEMM_SIZES(64, 32, 128), GEMM_SIZES(88, 104, 264)}},
    /* threads that do not divide the loads */
    {"tile_m=16;tile_n=128;tile_k=16;waves_m=1;waves_n=8;prefetch=1",
     "mma=mma_priority;round=round_integer",
     {GEMM_SIZES(16, 128, 256), GEMM_SIZES(40, 136, 120)}},
    {"tile_m=64;tile_n=64;tile_k=16;lds_buffers=2;prefetch=2;mfma=32;"
     "nontemporal=1;lds_pad=0",
     "store_c=store_c_pairs",
     {GEMM_SIZES(64, 64, 80), GEMM_SIZES(40, 72, 24)}},
    {"tile_m=16;tile_n=16;tile_k=32;waves_m=1;waves_n=1;order=2;group_m=4",
     "tile_order=tile_order_snake",
     {GEMM_SIZES(112, 80, 64), GEMM_SIZES(16, 48, 64),
      GEMM_SIZES(48, 208, 40)}},
};
WS_TEST(mfma_is_right) {
  build_points(mfma, mfma_points, sizeof mfma_points / sizeof *mfma_points);
}

WS_TEST(random_points_are_right) {
  enum { POINTS = 12 };
  shipped s = open_shipped(mfma);
  ws_rng rng;
  ws_rng_init(&rng, 17);
  ws_sanitize_warm_up();
  for (int i = 0; i < POINTS; i++) {
    ws_candidate *candidate = random_point(&s, &rng);
    random_bodies(candidate, &rng);
    const int64_t k =
        candidate->values[ws_template_param_index(s.tmpl, "cut_k")] ? 168 : 192;
    const int64_t m = 8 + 8 * (int64_t)ws_rng_below(&rng, 20);
    const int64_t n = 8 + 8 * (int64_t)ws_rng_below(&rng, 20);
    point p = {ws_candidate_values_text(s.arena, candidate),
                     ws_candidate_variants_text(s.arena, candidate),
                     {{.dims = NULL}}};
    p.shapes[0] = gemm_shape(m, n, k);
    build_point(&s, &p, CHECKED);
  }
  ws_arena_destroy(s.arena);
}

/* Each is found by the sanitizer on these shapes. */
WS_TEST(mutants_of_mfma_are_found) {
  static const struct {
    const char *from, *to;
  } mutants[] = {
      {"%value = select i1 %inside, <4 x i32> %loaded, <4 x i32> "
       "zeroinitializer",
       "%value = select i1 %inside, <4 x i32> %loaded, <4 x i32> %loaded"},
      {"%along = select i1 %cut, i32 %along.kept, i32 %along.0",
       "%along = select i1 %cut, i32 %along.0, i32 %along.0"},
      {"%along.last = sub i32 %length, 16", "%along.last = sub i32 %length, 0"},
      {"%steps.0 = add i32 %length, %row_bytes",
       "%steps.0 = add i32 %length, 1"},
      {"%block.row = add i32 %block.row.3, %lane.row",
       "%block.row = add i32 %block.row.3, 0"},
      {"%block.column = add i32 %block.column.1, %lane.column",
       "%block.column = add i32 %block.column.1, 0"},
      {"%row.kept.0 = sub i32 %extent, 1", "%row.kept.0 = sub i32 %extent, 0"},
      {"%limit.0 = add i32 %slice, 1", "%limit.0 = add i32 %slice, 0"},
  };
  for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
    shipped s = open_mutant(mfma, mutants[i].from, mutants[i].to);
    const ws_run run = {
        .shape = gemm_shape(136, 200, 72), .order = WS_WAVES_UP, .seed = 11};
    ws_build_result result = build(&s, "", "", &run, 1, CHECKED);
    if (result.verdict == WS_VERDICT_OK)
      WS_FAIL("not found: %s", mutants[i].to);
    ws_arena_destroy(s.arena);
  }
}

/* ---- sm_90a --------------------------------------------------------------
 */

static int64_t value_of(const ws_candidate *candidate, const char *name) {
  const int index = ws_template_param_index(candidate->tmpl, name);
  if (index < 0)
    WS_FAIL("no parameter %s", name);
  return candidate->values[index];
}

static int64_t evaluate(const shipped *s, const ws_candidate *candidate,
                        const ws_expr *expr) {
  const ws_shape shape = gemm_shape(1032, 584, 7176);
  ws_scope scope = ws_candidate_scope(s->arena, candidate, &shape, 132);
  int64_t value;
  ws_diag diag;
  if (ws_expr_eval(expr, &scope, &value, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return value;
}

/* Columns of a box: of 64, 32 and 16 the most that divide what each workgroup
 * of the cluster stores of a warpgroup's columns. */
static int64_t box_columns(const ws_candidate *c) {
  const int64_t own = value_of(c, "tile_n") / value_of(c, "warpgroups_n");
  for (int64_t columns = 64; columns > 16; columns /= 2)
    if (own % (columns * value_of(c, "split_k")) == 0)
      return columns;
  return 16;
}

/* One piece after the other: output, A, B, two barriers a stage and three
 * more. All but the barriers are whole atoms of 1024 bytes. */
static int64_t needed_bytes(const ws_candidate *c) {
  const int64_t m = value_of(c, "tile_m"), n = value_of(c, "tile_n");
  const int64_t groups =
      value_of(c, "warpgroups") * value_of(c, "warpgroups_n");
  const int64_t output = value_of(c, "output");
  const int64_t out = output == 0   ? m * n * 2
                      : output == 3 ? groups * 2 * 64 * box_columns(c) * 2
                                    : 0;
  const int64_t a = m * value_of(c, "tile_k") * 2;
  const int64_t b = n * value_of(c, "tile_k") * 2;
  WS_CHECK(out % 1024 == 0 && a % 1024 == 0 && b % 1024 == 0);
  return out + value_of(c, "stages") * (a + b + 16) + 24;
}

WS_TEST(points_need_what_there_is) {
  enum { POINTS = 300, MULTIPROCESSOR = 228 * 1024, RESERVED = 1024 };
  shipped s = open_shipped(wgmma);
  ws_rng rng;
  ws_rng_init(&rng, 5);
  for (int i = 0; i < POINTS; i++) {
    ws_candidate *c = random_point(&s, &rng);
    const int64_t bytes = evaluate(&s, c, s.tmpl->lds[0].bytes);
    WS_CHECK_INT(bytes, needed_bytes(c));
    WS_CHECK((bytes + RESERVED) * value_of(c, "occupancy") <= MULTIPROCESSOR);
    for (int m = 0; m < s.tmpl->tensor_map_count; m++) {
      const ws_tensor_map *map = &s.tmpl->tensor_maps[m];
      const int64_t inner = evaluate(&s, c, map->box_inner);
      const int64_t outer = evaluate(&s, c, map->box_outer);
      WS_CHECK(outer % 8 == 0 && outer <= 256);
      WS_CHECK_INT(evaluate(&s, c, map->swizzle), 2 * inner);
    }
    WS_CHECK_INT(evaluate(&s, c, s.tmpl->tensor_maps[2].box_inner),
                 box_columns(c));
  }
  ws_arena_destroy(s.arena);
}

WS_TEST(no_constraint_is_about_the_shape) {
  shipped s = open_shipped(wgmma);
  for (int i = 0; i < s.tmpl->require_count; i++)
    WS_CHECK(!s.tmpl->requires[i].uses_shape);
  ws_arena_destroy(s.arena);
}

WS_TEST(chosen_points_compile) {
  static const struct {
    const char *assignments, *variants;
  } points[] = {
      {"", ""},
      {"pipeline=0;cluster_m=2", "tile_order=tile_order_snake"},
      {"tile_m=256;tile_n=208;stages=3;cluster_n=2", ""},
      {"tile_m=192;tile_n=192;warpgroups=3;stages=3", ""},
      {"tile_m=128;tile_n=128;warpgroups=1;stages=6", ""},
      {"tile_n=128;tile_k=128;output=0;warpgroups=1;warpgroups_n=2;"
       "stages=2",
       ""},
      {"tile_m=64;tile_n=128;warpgroups=1;stages=8;split_k=2", ""},
      {"split_k=4;split_last=1", "tile_order=tile_order_columns"},
      {"tile_m=64;tile_n=64;warpgroups=1;stages=8;output=2;persistent=0", ""},
      {"cluster_n=2;output=1;stages=4", ""},
  };
  shipped s = open_shipped(wgmma);
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    ws_build_result result =
        build(&s, points[i].assignments, points[i].variants, NULL, 0, BUILT);
    expect_ok(&result, points[i].assignments, points[i].variants);
    WS_CHECK_INT(result.kernels[0].scratch_bytes, 0);
  }
  ws_arena_destroy(s.arena);
  s = open_shipped(naive_sm90a);
  ws_build_result result = build(&s, "", "dot=dot_wide", NULL, 0, BUILT);
  expect_ok(&result, "", "dot=dot_wide");
  ws_arena_destroy(s.arena);
}
