/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The templates of the problems over rows, rmsnorm and softmax. gfx942: chosen
 * and random points on shapes with cut vectors, lanes without a column and
 * columns beyond what is kept, through check, sanitizer and code generation.
 * sm_90a: points compile, without scratch. tests/mutants has what must be
 * found.
 */
#include "template_fixture.h"

#include "wavesmith/problem.h"

enum { CHECKED = WS_STAGE_CHECK | WS_STAGE_SANITIZE };
enum { BUILT = WS_STAGE_CHECK | WS_STAGE_LOWER };
enum { MAX_SHAPES = 4 };

/* Zero rows end the list of shapes. */
typedef struct point {
  const char *name, *assignments, *variants;
  int64_t shapes[MAX_SHAPES][2];
} point;

static const char rmsnorm[] = "../kernels/rmsnorm/gfx942.ll";
static const char softmax[] = "../kernels/softmax/gfx942.ll";
static const char rmsnorm_sm90a[] = "../kernels/rmsnorm/sm90a.ll";

static void build_point(const shipped *s, const point *p, int stages) {
  const ws_problem *problem = ws_problem_find(s->tmpl->problem);
  ws_run runs[2 * MAX_SHAPES];
  int count = 0;
  for (int i = 0; i < MAX_SHAPES && p->shapes[i][0]; i++)
    for (int hard = 0; hard < 2; hard++)
      runs[count++] =
          (ws_run){.shape = ws_shape_of(problem->dims, p->shapes[i]),
                   .order = hard ? WS_WAVES_DOWN : WS_WAVES_UP,
                   .seed = (uint64_t)i + 11 + (hard ? WS_HARD_INPUTS : 0)};
  ws_build_result result =
      build(s, p->assignments, p->variants, runs, count, stages);
  expect_ok(&result, p->assignments, p->variants);
  WS_CHECK_INT(result.run_count, count);
  WS_CHECK_INT(scratch_bytes(&result), 0);
}

static void build_points(const point *points, size_t count, int stages) {
  for (size_t i = 0; i < count; i++) {
    shipped s = open_shipped(points[i].name);
    if (stages & WS_STAGE_SANITIZE)
      ws_sanitize_warm_up();
    build_point(&s, &points[i], stages);
    ws_arena_destroy(s.arena);
  }
}

static const point gfx942_points[] = {
    {"../kernels/rmsnorm/naive.ll", "", "", {{1, 8}, {65, 24}}},
    {rmsnorm, "", "", {{1, 8}, {3, 4096}, {2, 4104}, {1, 12296}}},
    {rmsnorm, "threads=64;keep=1", "store8=store8_nontemporal", {{5, 520}}},
    {rmsnorm, "threads=1024;keep=3", "", {{1, 8}, {1, 24584}}},
    {"../kernels/softmax/naive.ll", "", "", {{1, 8}, {65, 24}}},
    {softmax, "", "", {{1, 8}, {3, 4096}, {2, 4104}, {1, 12296}}},
    {softmax,
     "threads=64;keep=1;online=1",
     "power8=power8_flushing;store8=store8_nontemporal",
     {{1, 8}, {5, 520}, {2, 2056}}},
    {softmax, "online=1;keep=4", "load8=load8_nontemporal", {{3, 8200}}},
    {softmax, "threads=1024;keep=2;online=1", "", {{1, 8}, {1, 32776}}},
    {softmax, "threads=512;keep=3", "power8=power8_flushing", {{2, 12312}}},
};
WS_TEST(chosen_points_are_right) {
  build_points(gfx942_points, sizeof gfx942_points / sizeof *gfx942_points,
               CHECKED | WS_STAGE_LOWER);
}

WS_TEST(random_points_are_right) {
  enum { POINTS = 6 };
  static const char *const names[] = {rmsnorm, softmax};
  ws_rng rng;
  ws_rng_init(&rng, 23);
  for (int t = 0; t < 2; t++) {
    shipped s = open_shipped(names[t]);
    ws_sanitize_warm_up();
    for (int i = 0; i < POINTS; i++) {
      ws_candidate *candidate = random_point(&s, &rng);
      random_bodies(candidate, &rng);
      const point p = {names[t],
                       ws_candidate_values_text(s.arena, candidate),
                       ws_candidate_variants_text(s.arena, candidate),
                       {{1 + (int64_t)ws_rng_below(&rng, 3),
                         8 + 8 * (int64_t)ws_rng_below(&rng, 2000)}}};
      build_point(&s, &p, CHECKED);
    }
    ws_arena_destroy(s.arena);
  }
}

/* All of these rows are kept: 2048 to 16384 columns. */
static const point sm90a_points[] = {
    {"../kernels/rmsnorm/naive_sm90a.ll", "", "", {{0}}},
    {rmsnorm_sm90a, "", "", {{0}}},
    {rmsnorm_sm90a, "threads=32;keep=8;group_rows=8", "", {{0}}},
    {rmsnorm_sm90a,
     "threads=128;keep=4;early=0",
     "load16=load16_once;store16=store16_streaming",
     {{0}}},
    {rmsnorm_sm90a,
     "threads=512;keep=4",
     "inverse_root=inverse_root_approximate",
     {{0}}},
    {rmsnorm_sm90a, "threads=1024;keep=2", "", {{0}}},
};
WS_TEST(points_of_sm90a_compile) {
  build_points(sm90a_points, sizeof sm90a_points / sizeof *sm90a_points, BUILT);
}
