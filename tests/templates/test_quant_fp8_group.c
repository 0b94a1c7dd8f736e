/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The templates of quant_fp8_group for gfx942: both formats, every variant and
 * random points through check, sanitizer and code generation, on shapes whose
 * last wave and workgroup have less to do.
 */
#include "template_fixture.h"
#include "wavesmith/problem.h"

static const char naive[] = "../kernels/quant_fp8_group/naive.ll";
static const char gfx942[] = "../kernels/quant_fp8_group/gfx942.ll";

static const int64_t shapes[][2] = {{1, 128}, {7, 128}, {3, 640}, {5, 1664}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void build_point(const shipped *s, const char *assignments,
                        const char *variants) {
  const ws_problem *problem = ws_problem_find("quant_fp8_group");
  ws_run runs[SHAPES];
  WS_CHECK(problem);
  for (int i = 0; i < SHAPES; i++)
    runs[i] = (ws_run){.shape = ws_shape_of(problem->dims, shapes[i]),
                       .order = i % 2 ? WS_WAVES_DOWN : WS_WAVES_UP,
                       .seed = (uint64_t)i + 5 + (i > 1 ? WS_HARD_INPUTS : 0)};
  ws_build_result result =
      build(s, assignments, variants, runs, SHAPES,
            WS_STAGE_CHECK | WS_STAGE_SANITIZE | WS_STAGE_LOWER);
  expect_ok(&result, assignments, variants);
  WS_CHECK_INT(result.run_count, SHAPES);
  WS_CHECK_INT(scratch_bytes(&result), 0);
}

WS_TEST(naive_is_right_in_both_formats) {
  shipped s = open_shipped(naive);
  ws_sanitize_warm_up();
  build_point(&s, "", "");
  build_point(&s, "layout=1;threads=256", "");
  ws_arena_destroy(s.arena);
}

WS_TEST(chosen_points_are_right) {
  static const struct {
    const char *assignments, *variants;
  } points[] = {
      {"", ""},
      {"layout=1;vector=16", ""},
      {"vector=32;groups=64;threads=1024",
       "load8=load8_nontemporal;group_largest=group_largest_dpp;"
       "store8=store8_nontemporal"},
      {"vector=16;groups=8;threads=64",
       "largest8=largest8_packed;group_largest=group_largest_dpp;"
       "scale_of=scale_of_approximate"},
      {"groups=4;threads=512",
       "group_largest=group_largest_dpp;encode8=encode8_software"},
      {"layout=1;vector=32;groups=16",
       "largest8=largest8_packed;scale_of=scale_of_approximate;"
       "encode8=encode8_software"},
  };
  shipped s = open_shipped(gfx942);
  ws_sanitize_warm_up();
  for (size_t i = 0; i < sizeof points / sizeof *points; i++)
    build_point(&s, points[i].assignments, points[i].variants);
  ws_arena_destroy(s.arena);
}

WS_TEST(random_points_are_right) {
  enum { POINTS = 12 };
  shipped s = open_shipped(gfx942);
  ws_rng rng;
  ws_rng_init(&rng, 23);
  ws_sanitize_warm_up();
  for (int i = 0; i < POINTS; i++) {
    ws_candidate *candidate = random_point(&s, &rng);
    random_bodies(candidate, &rng);
    build_point(&s, ws_candidate_values_text(s.arena, candidate),
                ws_candidate_variants_text(s.arena, candidate));
  }
  ws_arena_destroy(s.arena);
}
