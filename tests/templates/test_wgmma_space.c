/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The space of fp8_gemm_wgmma: shared memory is what its layout needs and what
 * a multiprocessor has, boxes are what a TMA takes, every shape has points that
 * take it, and points compile. Where ptxas is, without spills and without wgmma
 * that it serialises; of random points a few may need more registers than there
 * are.
 */
#include "../gemm_shape.h"
#include "template_fixture.h"
#include "wavesmith/coverage.h"

static const char wgmma[] = "fp8_gemm_wgmma.ll";

enum { BUILT = WS_STAGE_CHECK | WS_STAGE_LOWER };

static int64_t *value_at(const ws_candidate *candidate, const char *name) {
  int index = ws_template_param_index(candidate->tmpl, name);
  if (index < 0)
    WS_FAIL("no parameter %s", name);
  return &candidate->values[index];
}

static int64_t value_of(const ws_candidate *candidate, const char *name) {
  return *value_at(candidate, name);
}

static int64_t evaluate(const shipped *s, const ws_candidate *candidate,
                        const ws_expr *expr) {
  const ws_shape shape = gemm_shape(1040, 592, 7168);
  ws_scope scope = ws_candidate_scope(s->arena, candidate, &shape, 132);
  int64_t value;
  ws_diag diag;
  if (ws_expr_eval(expr, &scope, &value, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return value;
}

/* ---- what a point needs ---- */

static int64_t gap(int64_t bytes, int64_t align) {
  return (align - bytes % align) % align;
}

/* Rows of A in a stage. */
static int64_t rows_of(const ws_candidate *c) {
  const int64_t rows = value_of(c, "a_rows");
  return rows ? rows : value_of(c, "tile_m");
}

/* One piece after the other, each where it must be aligned: output, A, B, A's
 * scales, two barriers a stage and three more. */
static int64_t needed_bytes(const ws_candidate *c) {
  const int64_t m = value_of(c, "tile_m"), n = value_of(c, "tile_n");
  const int64_t stages = value_of(c, "stages");
  int64_t bytes = value_of(c, "output") == 0 ? m * n * 2 : 0;
  bytes += gap(bytes, 1024);
  for (int64_t i = 0; i < stages; i++)
    bytes += gap(bytes, 1024) + rows_of(c) * 128;
  for (int64_t i = 0; i < stages; i++)
    bytes += gap(bytes, 1024) + n * 128;
  for (int64_t i = 0; i < stages; i++) {
    const int64_t boxed = rows_of(c) + (value_of(c, "a_scales") == 2 ? 4 : 0);
    bytes += (boxed > m ? boxed : m) * 4;
    bytes += gap(bytes, 128);
  }
  return bytes + gap(bytes, 8) + (2 * stages + 3) * 8;
}

/* A matrix instruction reads 64 rows of A: from the last stage on, too, these
 * must be in memory. */
static void check_overrun(const ws_candidate *c, int64_t bytes) {
  const int64_t m = value_of(c, "tile_m"), n = value_of(c, "tile_n");
  const int64_t stages = value_of(c, "stages"), rows = rows_of(c);
  const int64_t output = value_of(c, "output") == 0 ? m * n * 2 : 0;
  WS_CHECK(rows == m || m == 64);
  WS_CHECK(output + (stages - 1) * rows * 128 + m * 128 <= bytes);
}

/* What others put into the ring's memory must fit there. */
static void check_ring(const ws_candidate *c) {
  const int64_t m = value_of(c, "tile_m"), n = value_of(c, "tile_n");
  const int64_t ring = value_of(c, "stages") * (rows_of(c) + n) * 128;
  const int64_t slices = value_of(c, "split_k");
  const int64_t groups = n / value_of(c, "warpgroups_n") / 16;
  const int64_t most = (groups + slices - 1) / slices;
  if (value_of(c, "output") == 1)
    WS_CHECK(2 * m * n <= ring);
  /* one slice sends at most `most` groups of 16 columns of each warpgroup */
  WS_CHECK((slices - 1) * most * 16 * value_of(c, "warpgroups_n") * m * 4 <=
           ring);
}

static void check_maps(const shipped *s, const ws_candidate *c) {
  for (int i = 0; i < s->tmpl->tensor_map_count; i++) {
    const ws_tensor_map *map = &s->tmpl->tensor_maps[i];
    const int64_t inner = evaluate(s, c, map->box_inner);
    const int64_t outer = evaluate(s, c, map->box_outer);
    const int64_t swizzle = evaluate(s, c, map->swizzle);
    const int64_t row = inner * ws_element_bytes(map->element);
    WS_CHECK(inner >= 1 && inner <= 256 && outer >= 1 && outer <= 256);
    WS_CHECK_INT(row % 16, 0);
    WS_CHECK(swizzle == 0 || row == swizzle);
    WS_CHECK(swizzle == 0 || outer % 8 == 0);
  }
}

static void check_launch(const shipped *s, const ws_candidate *c) {
  const int64_t which = value_of(c, "a_scales") == 1;
  const ws_launch *launch = &s->tmpl->launches[which];
  const int64_t cluster = evaluate(s, c, s->tmpl->occupancies[which].cluster);
  const int64_t grid = evaluate(s, c, launch->grid[0]);
  const int64_t threads = evaluate(s, c, launch->threads);
  for (int i = 0; i < s->tmpl->launch_count; i++)
    WS_CHECK_INT(evaluate(s, c, s->tmpl->launches[i].condition), i == which);
  WS_CHECK(cluster >= 1 && cluster <= 8);
  WS_CHECK(grid >= cluster && grid % cluster == 0);
  WS_CHECK_INT(
      threads,
      128 * (value_of(c, "warpgroups") * value_of(c, "warpgroups_n") + 1));
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
    check_overrun(c, bytes);
    check_ring(c);
    check_maps(&s, c);
    check_launch(&s, c);
  }
  ws_arena_destroy(s.arena);
}

static void set(ws_candidate *c, const char *assignments) {
  ws_diag diag;
  WS_CHECK_INT(ws_candidate_set(c, assignments, &diag), WS_OK);
}

/* TMA's rows are whole 16 bytes: of m floats, unless all scales are one row, of k
 * bytes, of n bf16. */
WS_TEST(only_scales_by_tma_refuse_a_shape) {
  static const int64_t rows[] = {1,  2,   3,   4,   5,   15,  16,
                                 17, 100, 127, 129, 132, 1023};
  shipped s = open_shipped(wgmma);
  ws_candidate *c = ws_candidate_create(s.arena, s.tmpl);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const ws_shape shape = gemm_shape(rows[i], 16, 128);
    set(c, "a_scales=0");
    WS_CHECK_INT(ws_candidate_broken_require(c, &shape, NULL) < 0,
                 rows[i] % 4 == 0);
    set(c, "a_scales=1");
    WS_CHECK_INT(ws_candidate_broken_require(c, &shape, NULL), -1);
    set(c, "a_scales=2");
    WS_CHECK_INT(ws_candidate_broken_require(c, &shape, NULL), -1);
  }
  ws_arena_destroy(s.arena);
}

/* Rows of C that A would not be loaded for. */
WS_TEST(few_rows_of_a_are_for_few_rows_of_c) {
  static const int64_t rows[] = {1, 15, 16, 17, 32, 33, 64, 128};
  static const char *const points[] = {"a_rows=0", "a_rows=16", "a_rows=32"};
  static const int64_t most[] = {INT64_MAX, 16, 32};
  shipped s = open_shipped(wgmma);
  for (size_t p = 0; p < sizeof points / sizeof *points; p++) {
    ws_candidate *c = ws_candidate_create(s.arena, s.tmpl);
    set(c, "tile_m=64;warpgroups=1;a_scales=1");
    set(c, points[p]);
    WS_CHECK_INT(ws_candidate_broken_require(c, NULL, NULL), -1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      const ws_shape shape = gemm_shape(rows[i], 16, 128);
      WS_CHECK_INT(ws_candidate_takes(c, &shape), rows[i] <= most[p]);
    }
  }
  ws_arena_destroy(s.arena);
}

/* What is verified: scales of A that a TMA reads lie without gaps (a spread of
 * the first four stridings is theirs), others anyhow. */
WS_TEST(loaded_scales_are_verified_with_all_strides) {
  enum { SEEDS = 40, OF_A = 4 };
  const ws_problem *problem = ws_problem_find("fp8_gemm_blockscale");
  const int layout = ws_problem_layout_index(problem, "kmajor-ocp");
  shipped s = open_shipped(wgmma);
  static const char *const points[] = {"a_scales=0", "a_scales=1",
                                       "a_scales=2"};
  for (size_t p = 0; p < sizeof points / sizeof *points; p++) {
    ws_candidate *c = ws_candidate_create(s.arena, s.tmpl);
    int strided = 0;
    set(c, points[p]);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
      ws_covered cases[WS_VERIFY_SHAPES];
      const int count = ws_verify_shapes(problem, layout, c, seed, cases);
      for (int i = 0; i < count; i++)
        strided += cases[i].striding > 0 && cases[i].striding < OF_A;
    }
    WS_CHECK_INT(strided > 0, p == 1);
  }
  ws_arena_destroy(s.arena);
}

WS_TEST(some_parameters_need_clusters_that_walk) {
  static const struct {
    const char *assignments, *reason; /* NULL: legal */
  } points[] = {
      {"split_k=1;persistent=0", NULL},
      {"split_k=2;persistent=0", NULL},
      {"split_k=2;split_last=1", NULL},
      {"split_k=1;split_last=1", "whole tiles"},
      {"split_k=2;persistent=0;split_last=1", "whole tiles"},
      {"split_k=2;idle_clusters=2", NULL},
      {"cluster_n=2;idle_clusters=1", NULL},
      {"idle_clusters=1", "every multiprocessor"},
      {"split_k=2;exchange_rows=1", "all of its rows"},
      {"split_k=2;exchange_rows=1;tile_m=64;warpgroups=1", NULL},
      {"split_k=1;exchange_rows=1;tile_m=64;warpgroups=1", "all of its rows"},
      /* more slices than groups of 16 columns */
      {"split_k=8;tile_m=64;tile_n=64;warpgroups=1", NULL},
      {"split_k=2;persistent=0;idle_clusters=1", "workgroups that do not walk"},
      {"a_rows=16", "64 rows from its start"},
      {"a_rows=16;tile_m=64;warpgroups=1", NULL},
      {"a_rows=32;tile_m=64;warpgroups=1;cluster_n=2",
       "64 rows from its start"},
      {"a_rows=32;tile_m=64;warpgroups=1;cluster_m=2", NULL},
      {"a_rows=16;tile_m=64;warpgroups=1;tile_n=16;stages=3",
       "64 rows from its start"},
  };
  shipped s = open_shipped(wgmma);
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    ws_candidate *c = ws_candidate_create(s.arena, s.tmpl);
    set(c, points[i].assignments);
    const int broken = ws_candidate_broken_require(c, NULL, NULL);
    WS_CHECK_INT(broken < 0, !points[i].reason);
    WS_CHECK(broken < 0 ||
             strstr(s.tmpl->requires[broken].reason, points[i].reason));
  }
  ws_arena_destroy(s.arena);
}

/* Of 132 multiprocessors: 33 clusters of four, 44 of three, for the shape of
 * evaluate, which has more tiles. */
WS_TEST(idle_clusters_are_not_started) {
  static const struct {
    const char *assignments;
    int64_t groups;
  } points[] = {
      {"split_k=4", 132},
      {"split_k=4;idle_clusters=1", 128},
      {"split_k=3;idle_clusters=2", 126},
      {"split_k=8;idle_clusters=4;occupancy=2;tile_n=64;warpgroups=1", 232},
  };
  shipped s = open_shipped(wgmma);
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    ws_candidate *c = ws_candidate_create(s.arena, s.tmpl);
    set(c, points[i].assignments);
    WS_CHECK_INT(evaluate(&s, c, s.tmpl->launches[0].grid[0]),
                 points[i].groups);
  }
  ws_arena_destroy(s.arena);
}

/* ---- compiling ---- */

WS_TEST(chosen_points_compile) {
  static const struct {
    const char *assignments, *variants;
  } points[] = {
      {"", ""},
      {"tile_m=192;warpgroups=3;stages=4;pipeline=0;fixed_sums=0", ""},
      {"tile_m=192;tile_n=144;warpgroups=3;stages=4;pipeline=0;column_steps=2",
       "tile_order=tile_order_snake"},
      {"tile_m=64;tile_n=96;warpgroups=1;stages=8",
       "tile_order=tile_order_columns"},
      {"tile_m=256;tile_n=128;stages=3;column_steps=2", ""},
      {"tile_n=192;stages=4;column_steps=3;split_k=4;output=2", ""},
      {"cluster_n=2;output=1", ""},
      {"stages=5;split_k=2;split_last=1", ""},
      /* hardly more registers than the sums need */
      {"tile_m=192;tile_n=144;warpgroups=3;stages=4;pipeline=0;fixed_sums=0",
       ""},
      {"tile_n=144;stages=5;split_k=2;split_last=1", ""},
      {"tile_m=64;tile_n=144;warpgroups=1;stages=6;split_k=2;fixed_sums=0", ""},
      {"tile_n=192;stages=4;pipeline=0;split_k=2;split_last=1;output=1", ""},
      {"tile_n=192;stages=4;pipeline=0;split_k=4;split_last=1;output=2", ""},
      {"a_scales=1", ""},
      {"a_scales=1;tile_m=64;tile_n=64;warpgroups=1;stages=12;split_k=4", ""},
      {"a_scales=1;tile_m=192;tile_n=144;warpgroups=3;stages=4;pipeline=0;"
       "column_steps=2",
       "tile_order=tile_order_columns"},
      {"a_scales=1;cluster_n=2;output=1", ""},
      {"a_scales=1;tile_m=64;tile_n=64;warpgroups=1;stages=12;split_k=8;"
       "exchange_rows=1;output=2",
       ""},
      {"a_scales=1;tile_m=64;tile_n=96;warpgroups=1;stages=5;occupancy=2;"
       "output=2",
       "tile_order=tile_order_snake"},
      {"a_rows=16;a_scales=1;tile_m=64;tile_n=64;warpgroups=1;stages=7;"
       "occupancy=3;output=2;split_k=5;exchange_rows=1;persistent=0;"
       "fixed_sums=0",
       ""},
      {"a_rows=32;tile_m=64;tile_n=96;warpgroups=1;stages=6;occupancy=2;"
       "output=2;split_k=2;exchange_rows=1;persistent=0;fixed_sums=0",
       ""},
      {"a_scales=2;tile_n=96;pipeline=0;look_ahead=2;scales_first=1", ""},
      {"a_scales=2;tile_m=64;tile_n=64;warpgroups=1;stages=8;split_k=4;"
       "output=1",
       ""},
  };
  shipped s = open_shipped(wgmma);
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    ws_build_result result =
        build(&s, points[i].assignments, points[i].variants, NULL, 0, BUILT);
    expect_ok(&result, points[i].assignments, points[i].variants);
    WS_CHECK_INT(result.kernels[0].scratch_bytes, 0);
  }
  ws_arena_destroy(s.arena);
}

WS_TEST(nearly_all_random_points_compile) {
  enum { POINTS = 14, WITHOUT = 4 };
  shipped s = open_shipped(wgmma);
  ws_rng rng;
  int refused = 0;
  ws_rng_init(&rng, 6);
  for (int i = 0; i < POINTS; i++) {
    ws_candidate *candidate = random_point(&s, &rng);
    const char *text = ws_candidate_values_text(s.arena, candidate);
    ws_build_result result = build(&s, text, "", NULL, 0, BUILT);
    const bool spilled =
        result.finding_count == 1 && !strcmp(result.findings[0].id, "scratch");
    if (spilled)
      fprintf(stderr, "# %s: %s\n", result.findings[0].text, text);
    else
      expect_ok(&result, text, "");
    refused += spilled;
  }
  WS_CHECK(refused <= WITHOUT);
  ws_arena_destroy(s.arena);
}
