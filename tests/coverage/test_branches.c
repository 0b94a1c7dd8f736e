/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Shapes by a kernel's branches, and what they leave out. The branches are
 * given by hand; what a shape makes of them is written out again here in C.
 */
#include "../gemm_shape.h"
#include "wavesmith/coverage.h"
#include "ws_test_template.h"

static const char records[] =
    "template|t|1|fp8_gemm_blockscale|gfx942|for tests\n"
    "launch|gemm|ceildiv(m, 64)|ceildiv(n, 64)|1|256|1|a c m n k\n";

static const ws_branch branches[] = {
    {"gemm", "m", "2000", 0, "gemm", "t.ll", 7},
    {"gemm", "n + 127", "", 128, "rows", "t.ll", 9},
    {"gemm", "m * n", "500000", 0, "gemm", "t.ll", 11},
    {"gemm", "workgroup_x", "20", 0, "gemm", "t.ll", 13},
    {"gemm", "m", "7", 0, "gemm", "t.ll", 15}, /* never less nor equal */
    {"gemm", "", "", 0, "gemm", "t.ll", 17},
    {"gemm", "unheard_of", "1", 0, "gemm", "t.ll", 19}};
enum { BRANCHES = sizeof branches / sizeof branches[0] };

typedef struct fixture {
  ws_arena *arena;
  ws_build_result build;
  ws_coverage_subject subject;
  const ws_decisions *decisions;
} fixture;

static fixture *start(void) {
  static fixture f;
  f.arena = ws_arena_create();
  f.build = (ws_build_result){.branches = branches, .branch_count = BRANCHES};
  f.subject =
      (ws_coverage_subject){.problem = ws_problem_find("fp8_gemm_blockscale"),
                            .candidate = ws_candidate_create(
                                f.arena, ws_test_template(f.arena, records)),
                            .build = &f.build};
  f.decisions = ws_coverage_decisions(f.arena, &f.subject);
  return &f;
}

static bool has_gap(const ws_gap *gaps, int count, const char *text) {
  for (int i = 0; i < count; i++)
    if (!strcmp(gaps[i].text, text))
      return true;
  return false;
}

WS_TEST(both_sides_and_each_remainder_occur) {
  fixture *f = start();
  ws_coverage near;
  bool below = false, beyond = false, product = false, group = false;
  bool edge[2] = {false, false};
  unsigned remainders = 0;
  ws_coverage_near(f->arena, &f->subject, f->decisions, NULL, 0, 5, &near);
  for (int i = 0; i < near.count; i++) {
    const int64_t *size = near.cases[i].shape.size;
    ws_diag diag;
    WS_CHECK_INT(
        ws_problem_check_shape(f->subject.problem, &near.cases[i].shape, &diag),
        WS_OK);
    WS_CHECK(!(near.cases[i].seed & WS_HARD_INPUTS));
    below |= size[DIM_M] < 2000;
    beyond |= size[DIM_M] > 2000;
    edge[0] |= size[DIM_M] == 1999;
    edge[1] |= size[DIM_M] == 2001;
    product |= size[DIM_M] * size[DIM_N] > 500000;
    group |= (size[DIM_M] + 63) / 64 > 21;
    remainders |= 1u << (size[DIM_N] + 127) % 128 / 16;
  }
  WS_CHECK(below && beyond && edge[0] && edge[1] && product && group);
  WS_CHECK_INT(remainders, 0xff);
  WS_CHECK(near.count < 80);
}

WS_TEST(what_is_left_out_is_named_by_line) {
  fixture *f = start();
  const ws_tried tried[] = {{gemm_shape(16, 16, 128), 0, false}};
  const ws_gap *gaps;
  int count =
      ws_coverage_gaps(f->arena, &f->subject, f->decisions, tried, 1, &gaps);
  static const char *const expected[] = {
      "m == 2000",        "m > 2000",
      "m * n > 500000",   "workgroup_x == 20",
      "workgroup_x > 20", "7 of 8 remainders of n + 127 by 128"};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
    if (!has_gap(gaps, count, expected[i]))
      WS_FAIL("%s is not named", expected[i]);
  WS_CHECK(!has_gap(gaps, count, "m < 2000"));
  WS_CHECK(has_gap(gaps, count, "m * n == 500000")); /* 31250 * 16 */
  WS_CHECK(has_gap(gaps, count, "m < 7") && has_gap(gaps, count, "m == 7"));
  int involved = 0, offsets = 0, sizes = 0;
  for (int i = 0; i < count; i++) {
    involved += gaps[i].line == 17;
    offsets += !strncmp(gaps[i].text, "offsets of 2^31", 15);
    sizes += !strncmp(gaps[i].text, "k > 128 (legal to", 17);
    if (!strcmp(gaps[i].text, "m > 2000"))
      WS_CHECK(gaps[i].line == 7 && !strcmp(gaps[i].region, "gemm"));
  }
  WS_CHECK_INT(involved, 1);
  WS_CHECK_INT(offsets, 1);
  WS_CHECK_INT(sizes, 1);
}

/* Workgroups that were not run show nothing of themselves. */
WS_TEST(spots_say_nothing_of_workgroups) {
  fixture *f = start();
  const ws_tried tried[] = {{gemm_shape(4096, 256, 128), 0, true}};
  const ws_gap *gaps;
  int count =
      ws_coverage_gaps(f->arena, &f->subject, f->decisions, tried, 1, &gaps);
  WS_CHECK(!has_gap(gaps, count, "m > 2000"));
  WS_CHECK(has_gap(gaps, count, "m < 2000"));
  WS_CHECK(has_gap(gaps, count, "workgroup_x > 20"));
}

WS_TEST(all_that_was_tried_leaves_no_branch) {
  fixture *f = start();
  ws_coverage near;
  const ws_gap *gaps;
  ws_coverage_near(f->arena, &f->subject, f->decisions, NULL, 0, 6, &near);
  ws_tried *tried =
      ws_arena_alloc(f->arena, (size_t)near.count * sizeof *tried);
  for (int i = 0; i < near.count; i++)
    tried[i] = (ws_tried){near.cases[i].shape, near.cases[i].striding, false};
  int count = ws_coverage_gaps(f->arena, &f->subject, f->decisions, tried,
                               near.count, &gaps);
  for (int i = 0; i < count; i++)
    if (gaps[i].line && gaps[i].line != 17)
      printf("# %s\n", gaps[i].text);
  for (int i = 0; i < count; i++)
    WS_CHECK(!strstr(gaps[i].text, "2000") && !strstr(gaps[i].text, "127"));
}
