/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * softmax against values worked out by hand and against the quotient written
 * another way, 1 / sum over j of exp(x_j - x_i) in long double; its tolerance,
 * inputs and shapes.
 */
#include "rows.h"

enum { X, Y };
#define E 2.71828182845904523536L

static rows_case make(int64_t rows, int64_t cols) {
  return rows_make("softmax", rows, cols);
}

WS_TEST(arguments_are_named_and_sized) {
  static const char *const names[] = {"x", "y", "rows", "cols"};
  const ws_problem *problem = ws_problem_find("softmax");
  WS_CHECK(problem);
  const ws_shape shape = rows_shape(problem, 24, 40);
  WS_CHECK_INT(problem->arg_count, 4);
  for (int i = 0; i < 4; i++)
    WS_CHECK_TEXT(problem->args[i].name, names[i]);
  WS_CHECK_INT(ws_problem_arg_bytes(problem, X, &shape, 0), 2 * 24 * 40);
  WS_CHECK_INT(ws_problem_arg_bytes(problem, Y, &shape, 0), 2 * 24 * 40);
  WS_CHECK_INT(ws_problem_arg_scalar(problem, 2, &shape, 0), 24);
  WS_CHECK_INT(ws_problem_arg_scalar(problem, 3, &shape, 0), 40);
  WS_CHECK_NEAR(ws_problem_least_bytes(problem, &shape), 4.0 * 24 * 40, 0);
}

WS_TEST(legal_shapes_and_sets) { rows_check_shapes("softmax", 8, 6); }

/* Row 0: equal; 1: one larger by 1; 2: the same at -300; 3: all but one
 * masked by the lowest bf16; 4: all masked; 5: 3e38 once. */
WS_TEST(rows_worked_out_by_hand) {
  enum { COLS = 16 };
  rows_case c = make(6, COLS);
  for (int i = 0; i < COLS; i++) {
    c.args[X][0 * COLS + i] = 0x4120;              /* 10 */
    c.args[X][1 * COLS + i] = i == 5 ? 0x3f80 : 0; /* 1, 0 */
    c.args[X][2 * COLS + i] = bf16_of(i == 9 ? -300 : -302);
    c.args[X][3 * COLS + i] = i == 15 ? 0x3f80 : 0xff7f;
    c.args[X][4 * COLS + i] = 0xff7f;
    c.args[X][5 * COLS + i] = i == 0 ? 0x7f62 : 0xc2c8; /* 3e38, -100 */
  }
  rows_refer(&c);
  for (int i = 0; i < COLS; i++) {
    const long double rest = i == 5 ? E : 1, two = i == 9 ? E * E : 1;
    WS_CHECK_NEAR(c.value[i], 1.0 / COLS, 1e-17);
    WS_CHECK_NEAR(c.value[COLS + i], (double)(rest / (E + 15)), 1e-16);
    WS_CHECK_NEAR(c.value[2 * COLS + i], (double)(two / (E * E + 15)), 1e-16);
    WS_CHECK_NEAR(c.value[3 * COLS + i], i == 15, 0);
    WS_CHECK_NEAR(c.value[4 * COLS + i], 1.0 / COLS, 1e-17);
    WS_CHECK_NEAR(c.value[5 * COLS + i], i == 0, 0);
  }
  rows_drop(&c);
}

static void check_all(const rows_case *c) {
  const int64_t rows = c->shape.size[0], cols = c->shape.size[1];
  for (int64_t i = 0; i < rows * cols; i++) {
    const uint16_t *row = c->args[X] + i / cols * cols;
    const long double x = bf16_value(row[i % cols]);
    long double sum = 0;
    for (int64_t j = 0; j < cols; j++)
      sum += expl(bf16_value(row[j]) - x);
    const double want = (double)(1 / sum);
    WS_CHECK_NEAR(c->value[i], want, 1e-13 * want);
  }
}

WS_TEST(generated_rows_agree_with_the_other_formula) {
  for (uint64_t seed = 1; seed < 4; seed++)
    for (int hard = 0; hard < 2; hard++) {
      rows_case c = make(21, 200);
      rows_generate(&c, seed | (hard ? WS_HARD_INPUTS : 0));
      rows_refer(&c);
      check_all(&c);
      rows_drop(&c);
    }
}

WS_TEST(rows_are_a_window) {
  rows_case c = make(24, 8);
  double value[8], error[8];
  c.args[X][17 * 8 + 4] = 0x3f80;
  ws_problem_reference(c.problem, &c.shape, 0, c.buffers, 17, 18, value, error);
  for (int i = 0; i < 8; i++)
    WS_CHECK_NEAR(value[i], (double)((i == 4 ? E : 1) / (E + 7)), 1e-16);
  rows_drop(&c);
}

/* (cols / 8 + 32) 2^-24 of y (1 + (max - x) / 8) */
WS_TEST(the_error_has_the_documented_terms) {
  rows_case c = make(1, 80);
  c.args[X][3] = 0x4180; /* 16 */
  rows_refer(&c);
  WS_CHECK_NEAR(c.error[3], 42 * 0x1p-24 * c.value[3], 1e-22);
  WS_CHECK_NEAR(c.error[4], 42 * 0x1p-24 * 3 * c.value[4], 1e-25);
  rows_drop(&c);
}

WS_TEST(nearest_passes_truncated_and_sums_in_bf16_do_not) {
  enum { ROWS = 4, COLS = 512 };
  rows_case c = make(ROWS, COLS);
  rows_generate(&c, 7);
  rows_refer(&c);
  for (int i = 0; i < ROWS * COLS; i++)
    c.args[Y][i] = bf16_of(c.value[i]);
  ws_comparison found = rows_compare(&c);
  WS_CHECK_INT(found.checked, ROWS * COLS);
  WS_CHECK_INT(found.wrong, 0);
  WS_CHECK(found.worst_ratio > 0.9);
  for (int i = 0; i < ROWS * COLS; i++) /* the sum off by half an ulp of bf16 */
    c.args[Y][i] = bf16_of(c.value[i] * (1 + 0x1p-9));
  WS_CHECK(rows_compare(&c).wrong > ROWS * COLS / 8);
  for (int i = 0; i < ROWS * COLS; i++) {
    c.args[Y][i] = bf16_of(c.value[i]);
    c.args[Y][i] -= bf16_value(c.args[Y][i]) > c.value[i];
  }
  WS_CHECK(rows_compare(&c).wrong > ROWS * COLS / 4);
  rows_drop(&c);
}

/* ---- inputs ---------------------------------------------------------------
 */

WS_TEST(ordinary_inputs_are_about_normal) {
  enum { COUNT = 256 * 1024 };
  rows_case c = make(256, 1024);
  double mean = 0, square = 0, next = 0;
  rows_generate(&c, 5);
  for (int i = 0; i < COUNT; i++) {
    const double x = bf16_value(c.args[X][i]);
    mean += x / COUNT;
    square += x * x / COUNT;
    next += i ? x * bf16_value(c.args[X][i - 1]) / COUNT : 0;
  }
  WS_CHECK_NEAR(mean, 0, 0.01);
  WS_CHECK_NEAR(square, 1, 0.02); /* cut to bf16 */
  WS_CHECK_NEAR(next, 0, 0.01); /* neighbours have nothing to do with another */
  rows_drop(&c);
}

WS_TEST(inputs_follow_from_the_seed) {
  rows_case a = make(16, 64), b = make(16, 64);
  rows_generate(&a, 5);
  rows_generate(&b, 5);
  WS_CHECK(!memcmp(a.args[X], b.args[X], 2 * 16 * 64));
  rows_generate(&b, 6);
  WS_CHECK(memcmp(a.args[X], b.args[X], 2 * 16 * 64));
  rows_drop(&a);
  rows_drop(&b);
}

/* exp of f32 is infinite from 88.73 and 0 below -104 or so. */
WS_TEST(hard_inputs_need_the_maximum) {
  enum { ROWS = 600, COLS = 256 };
  rows_case c = make(ROWS, COLS);
  int too_large = 0, too_low = 0, masked = 0, in_between = 0;
  rows_generate(&c, 5 | WS_HARD_INPUTS);
  rows_refer(&c);
  for (int r = 0; r < ROWS; r++) {
    double most = -INFINITY;
    for (int i = 0; i < COLS; i++) {
      const double x = bf16_value(c.args[X][r * COLS + i]);
      WS_CHECK(isfinite(x));
      most = fmax(most, x);
      masked += c.args[X][r * COLS + i] == 0xff7f;
      in_between +=
          c.value[r * COLS + i] < 1e-6 && c.value[r * COLS + i] > 0x1p-120;
    }
    too_large += most > 89;
    too_low += most < -104;
  }
  WS_CHECK(too_large > ROWS / 8);
  WS_CHECK(too_low > ROWS / 8 && too_low < ROWS / 2);
  WS_CHECK(masked > ROWS * COLS / 24 && masked < ROWS * COLS / 10);
  WS_CHECK(in_between > ROWS * COLS / 50);
  rows_drop(&c);
}
