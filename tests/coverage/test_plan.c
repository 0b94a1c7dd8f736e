/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Plans of shapes: that each pair of classes occurs is counted here by brute
 * force from the shapes themselves; legality is asked of the problem and of the
 * candidate.
 */
#include "../gemm_shape.h"
#include "wavesmith/coverage.h"
#include "ws_test_template.h"

#define HEAD                                                                   \
  "template|t|1|fp8_gemm_blockscale|gfx942|for tests\n"                        \
  "param|tile_m|ws.tile_m|48 64 128 256|rows|128\n"                            \
  "param|tile_n|ws.tile_n|16 64 128|columns|128\n"                             \
  "launch|gemm|ceildiv(m, tile_m) * ceildiv(n, tile_n)|1|1|256|1|a c m n k\n"

static ws_arena *arena;
static const ws_problem *problem;

static const ws_candidate *candidate_of(const char *records,
                                        const char *values) {
  ws_diag diag = {""};
  if (!arena) /* one for all of the process */
    arena = ws_arena_create();
  problem = ws_problem_find("fp8_gemm_blockscale");
  ws_candidate *candidate =
      ws_candidate_create(arena, ws_test_template(arena, records));
  if (ws_candidate_set(candidate, values, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return candidate;
}

static ws_coverage plan_of(const ws_candidate *candidate,
                           const ws_build_result *build, uint64_t seed) {
  ws_coverage out;
  ws_coverage_plan(arena, problem, 0, candidate, build, seed, &out);
  return out;
}

/* Whether the case is what a class says, by its shape alone. */
static bool has(const ws_covered *one, const ws_factor *factor, int number) {
  const ws_class *class = &factor->classes[number];
  const int64_t value = factor->kind == WS_FACTOR_STRIDES
                            ? one->striding
                            : one->shape.size[factor->dim];
  return value >= class->low && value <= class->high &&
         value % class->modulus == class->residue;
}

static bool occurs(const ws_coverage *c, int f, int a, int g, int b) {
  for (int i = 0; i < c->count; i++)
    if (has(&c->cases[i], &c->factors[f], a) &&
        has(&c->cases[i], &c->factors[g], b))
      return true;
  return false;
}

static int count_missing(const ws_coverage *c) {
  int missing = 0;
  for (int f = 0; f < c->factor_count; f++)
    for (int g = f + 1; g < c->factor_count; g++)
      for (int a = 0; a < c->factors[f].count; a++)
        for (int b = 0; b < c->factors[g].count; b++)
          missing += !occurs(c, f, a, g, b);
  return missing;
}

static void check_legal(const ws_coverage *c, const ws_candidate *candidate) {
  for (int i = 0; i < c->count; i++) {
    ws_diag diag = {""};
    WS_CHECK(ws_problem_check_shape(problem, &c->cases[i].shape, &diag) ==
             WS_OK);
    WS_CHECK(ws_candidate_broken_require(candidate, &c->cases[i].shape, NULL) <
             0);
    WS_CHECK(c->cases[i].striding < problem->striding_count);
  }
}

WS_TEST(every_pair_occurs) {
  static const char *const points[] = {
      "tile_m=128;tile_n=128", "tile_m=256;tile_n=64", "tile_m=48;tile_n=16"};
  for (int i = 0; i < 3; i++) {
    const ws_candidate *candidate = candidate_of(HEAD, points[i]);
    ws_coverage c = plan_of(candidate, NULL, 77);
    check_legal(&c, candidate);
    double flops = 0;
    for (int j = 0; j < c.count; j++)
      flops += ws_problem_flops(problem, &c.cases[j].shape);
    printf("# %g flops\n", flops);
    printf("# %s: %s\n", points[i], ws_coverage_text(arena, &c, c.count));
    WS_CHECK(c.count > 0);
    WS_CHECK(count_missing(&c) <= c.out_of_reach);
    /* What lies out of reach is far from small: an extent beyond all that is
     * named with another, or with a long k. */
    WS_CHECK(c.out_of_reach * 10 < c.pairs);
  }
}

WS_TEST(residues_and_depths_are_all_there) {
  ws_coverage c = plan_of(candidate_of(HEAD, "tile_m=128;tile_n=128"), NULL, 5);
  bool m[8] = {false}, n[8] = {false}, depth[200] = {false};
  bool turned = false, odd_deep = false, many = false, beside[16] = {false};
  for (int i = 0; i < c.count; i++) {
    const ws_shape *s = &c.cases[i].shape;
    m[s->size[DIM_M] % 128 / 16] = n[s->size[DIM_N] % 128 / 16] = true;
    beside[s->size[DIM_M] % 16] = true;
    depth[s->size[DIM_K] / 128 < 200 ? s->size[DIM_K] / 128 : 0] = true;
    odd_deep |= s->size[DIM_K] > 128 * 128 && s->size[DIM_K] % 256;
    turned |= c.cases[i].striding != 0;
    many |=
        (s->size[DIM_M] + 127) / 128 * ((s->size[DIM_N] + 127) / 128) > 4096;
  }
  for (int i = 0; i < 8; i++)
    WS_CHECK(m[i] && n[i]);
  WS_CHECK(beside[0] && beside[1] && beside[2] && beside[4] && beside[15]);
  for (int i = 1; i <= 11; i++)
    WS_CHECK(depth[i]);
  WS_CHECK(turned && odd_deep && many);
}

WS_TEST(constants_of_the_code_make_classes) {
  const ws_kernel_facts facts = {
      .name = "gemm",
      .constants = {{"k", 6 * 128, 1}, {"k", 40 * 128, 0}, {"m", 2048, 0}},
      .constant_count = 3};
  const ws_build_result build = {.kernels = &facts, .kernel_count = 1};
  ws_coverage c =
      plan_of(candidate_of(HEAD, "tile_m=128;tile_n=128"), &build, 5);
  bool depth[64] = {false}, below = false, above = false;
  for (int i = 0; i < c.count; i++) {
    const ws_shape *s = &c.cases[i].shape;
    depth[s->size[DIM_K] / 128 < 64 ? s->size[DIM_K] / 128 : 0] = true;
    below |= s->size[DIM_M] > 2048 - 128 && s->size[DIM_M] <= 2048;
    above |= s->size[DIM_M] > 2048 && s->size[DIM_M] <= 2048 + 128;
  }
  for (int i = 1; i <= 15; i++) /* 2 * 6 + 3 */
    WS_CHECK(depth[i]);
  WS_CHECK(depth[40] && depth[41] && below && above);
}

/* Long rows, each size up to four times the one before, and some on extreme
 * contents. */
WS_TEST(what_a_workgroup_walks_along_has_all_sizes) {
  const ws_candidate *candidate =
      candidate_of("template|t|1|rmsnorm|gfx942|for tests\n"
                   "param|threads|ws.threads|256|lanes|256\n"
                   "launch|rmsnorm|rows|1|1|threads|1|x y rows cols\n",
                   "threads=256");
  problem = ws_problem_find("rmsnorm");
  ws_coverage c = plan_of(candidate, NULL, 5);
  check_legal(&c, candidate);
  WS_CHECK(count_missing(&c) <= c.out_of_reach);
  int hard = 0;
  for (int64_t low = 24; low < 16384; low *= 4) {
    bool seen = false;
    for (int i = 0; i < c.count; i++)
      seen |=
          c.cases[i].shape.size[1] > low && c.cases[i].shape.size[1] <= 4 * low;
    WS_CHECK(seen);
  }
  for (int i = 0; i < c.count; i++)
    hard += c.cases[i].shape.size[1] > 4096 && c.cases[i].seed & WS_HARD_INPUTS;
  WS_CHECK(hard > 1);
}

/* A persistent kernel's grid says nothing of how far it goes. */
WS_TEST(each_extent_goes_far) {
  static const char *const heads[] = {
      HEAD, "template|t|1|fp8_gemm_blockscale|gfx942|for tests\n"
            "launch|gemm|cu_count|1|1|256|1|a b c m n k\n"};
  for (int i = 0; i < 2; i++) {
    ws_coverage c = plan_of(candidate_of(heads[i], ""), NULL, 5);
    bool far[3] = {false};
    for (int j = 0; j < c.count; j++) {
      const ws_shape *s = &c.cases[j].shape;
      far[0] |= s->size[DIM_M] > 1 << 16;
      far[1] |= s->size[DIM_N] > 1 << 16;
      far[2] |= s->size[DIM_K] > 1 << 16;
    }
    WS_CHECK(far[0] && far[1] && far[2]);
  }
}

/* 48 blocks have too many residues for classes: each is there once. */
WS_TEST(moduli_without_classes_have_all_residues) {
  const ws_kernel_facts facts = {
      .name = "gemm", .constants = {{"k", 48 * 128, 1}}, .constant_count = 1};
  const ws_build_result build = {.kernels = &facts, .kernel_count = 1};
  ws_coverage c =
      plan_of(candidate_of(HEAD, "tile_m=128;tile_n=128"), &build, 5);
  bool seen[48] = {false};
  for (int i = 0; i < c.count; i++)
    if (c.cases[i].shape.size[DIM_K] > 48 * 128)
      seen[c.cases[i].shape.size[DIM_K] / 128 % 48] = true;
  for (int i = 1; i < 48; i++)
    WS_CHECK(seen[i]);
}

WS_TEST(constraints_hold) {
  const ws_candidate *candidate = candidate_of(
      HEAD "require|m % 64 == 0 && k % 512 == 0 && n >= 256|picky\n", "");
  ws_coverage c = plan_of(candidate, NULL, 9);
  WS_CHECK(c.count > 0);
  check_legal(&c, candidate);
  WS_CHECK_INT(c.factors[0].count, 2);
  WS_CHECK(count_missing(&c) <= c.out_of_reach);
}

WS_TEST(who_takes_nothing_has_no_plan) {
  ws_coverage c =
      plan_of(candidate_of(HEAD "require|n == 24|never\n", ""), NULL, 9);
  WS_CHECK_INT(c.count, 0);
}

WS_TEST(mapped_operands_keep_their_strides) {
  const ws_candidate *candidate = candidate_of(
      "template|t|1|fp8_gemm_blockscale|sm_90a|for tests\n"
      "launch|gemm|ceildiv(m, 64) * ceildiv(n, 64)|1|1|256|1|as_map c m n k\n"
      "tensor_map|as_map|as|f32|m|k / 128|64|1|0\n",
      "");
  ws_coverage c = plan_of(candidate, NULL, 3);
  const ws_factor *strides = &c.factors[c.factor_count - 1];
  WS_CHECK_INT(strides->kind, WS_FACTOR_STRIDES);
  bool others = false;
  WS_CHECK(strides->count > 1);
  for (int i = 0; i < c.count; i++) {
    const ws_shape *s = &c.cases[i].shape;
    int form = ws_problem_form(problem, 0, c.cases[i].striding);
    int stride_m = ws_problem_arg_index(problem, "as_stride_m");
    int stride_n = ws_problem_arg_index(problem, "bs_stride_n");
    WS_CHECK_INT(ws_problem_arg_scalar(problem, stride_m, s, form), 1);
    others |= ws_problem_arg_scalar(problem, stride_n, s, form) !=
              s->size[DIM_K] / 128;
  }
  WS_CHECK(others);
}

WS_TEST(the_seed_alone_decides) {
  const ws_candidate *candidate = candidate_of(HEAD, "");
  ws_coverage a = plan_of(candidate, NULL, 1), b = plan_of(candidate, NULL, 1);
  ws_coverage other = plan_of(candidate, NULL, 2);
  int same = 0;
  WS_CHECK_INT(a.count, b.count);
  for (int i = 0; i < a.count; i++) {
    WS_CHECK(ws_shape_same(&a.cases[i].shape, &b.cases[i].shape));
    WS_CHECK(a.cases[i].seed == b.cases[i].seed);
    same += i < other.count &&
            ws_shape_same(&a.cases[i].shape, &other.cases[i].shape);
  }
  WS_CHECK(same * 10 < a.count);
}

WS_TEST(few_shapes_differ_by_seed_and_candidate) {
  const ws_candidate *one = candidate_of(HEAD, "tile_m=128");
  ws_covered a[WS_VERIFY_SHAPES], b[WS_VERIFY_SHAPES];
  int differ = 0;
  for (uint64_t seed = 0; seed < 50; seed++) {
    WS_CHECK_INT(ws_verify_shapes(problem, 0, one, seed, a), WS_VERIFY_SHAPES);
    WS_CHECK_INT(ws_verify_shapes(problem, 0, one, seed, b), WS_VERIFY_SHAPES);
    WS_CHECK(!memcmp(a, b, sizeof a));
    ws_verify_shapes(problem, 0, one, seed + 1, b);
    differ += !ws_shape_same(&a[1].shape, &b[1].shape);
    WS_CHECK_INT(a[0].shape.size[DIM_K], 128);
    WS_CHECK(a[1].shape.size[DIM_M] > 256 && a[3].shape.size[DIM_K] >= 1024);
    WS_CHECK_INT(a[2].shape.size[DIM_K] % 256, 128);
  }
  WS_CHECK(differ > 40);
}

WS_TEST(few_shapes_of_who_takes_nothing_small) {
  ws_covered cases[WS_VERIFY_SHAPES];
  const ws_candidate *large =
      candidate_of(HEAD "require|m >= 1024|large only\n", "");
  WS_CHECK(ws_verify_shapes(problem, 0, large, 1, cases) > 0);
  WS_CHECK(cases[0].shape.size[DIM_M] >= 1024);
  const ws_candidate *none =
      candidate_of(HEAD "require|m == 1040|one only\n", "");
  WS_CHECK_INT(ws_verify_shapes(problem, 0, none, 1, cases), 0);
}

WS_TEST(few_shapes_of_who_takes_little) {
  ws_covered cases[WS_VERIFY_SHAPES];
  const ws_candidate *few = candidate_of(
      HEAD "require|m <= 16 && m % 4 == 0|few rows, whole quads\n", "");
  for (uint64_t seed = 0; seed < 50; seed++) {
    const int count = ws_verify_shapes(problem, 0, few, seed, cases);
    WS_CHECK_INT(count, WS_VERIFY_SHAPES - 1); /* none is beyond a tile */
    for (int i = 0; i < count; i++)
      WS_CHECK(cases[i].shape.size[DIM_M] <= 16 &&
               cases[i].shape.size[DIM_M] % 4 == 0);
  }
}
