/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * rmsnorm against values worked out by hand and against the formula written
 * another way (the root of cols / (sum of squares + cols eps), in long double);
 * its tolerance and shapes.
 */
#include "rows.h"

enum { X, RESIDUAL, WEIGHT, SUM, Y, ROWS_ARG, COLS_ARG, EPS };

static rows_case make(int64_t rows, int64_t cols) {
  return rows_make("rmsnorm", rows, cols);
}

/* Results: all of sum, then all of y. */
static int64_t elements(const rows_case *c) {
  return c->shape.size[0] * c->shape.size[1];
}

WS_TEST(arguments_are_named_and_sized) {
  static const char *const names[] = {"x", "residual", "weight", "sum",
                                      "y", "rows",     "cols",   "eps"};
  static const int64_t bytes[] = {1920, 1920, 80, 1920, 1920};
  rows_case c = make(24, 40);
  WS_CHECK_INT(c.problem->arg_count, 8);
  for (int i = 0; i < 8; i++)
    WS_CHECK_TEXT(c.problem->args[i].name, names[i]);
  for (int i = 0; i < 5; i++)
    WS_CHECK_INT(ws_problem_arg_bytes(c.problem, i, &c.shape, 0), bytes[i]);
  WS_CHECK_INT(ws_problem_arg_scalar(c.problem, ROWS_ARG, &c.shape, 0), 24);
  WS_CHECK_INT(ws_problem_arg_scalar(c.problem, COLS_ARG, &c.shape, 0), 40);
  WS_CHECK_NEAR((double)c.scalar[EPS], 1e-5, 1e-12);
  WS_CHECK_NEAR(ws_problem_least_bytes(c.problem, &c.shape), 4.0 * 1920 + 80,
                0);
  rows_drop(&c);
}

WS_TEST(legal_shapes_and_sets) { rows_check_shapes("rmsnorm", 8, 6); }

/* Row 0: 3 - 1 everywhere, so the root is that of 4 + eps; row 1: zeros; row 2:
 * 2^-10 once, where eps is a thousand times the mean of squares. */
WS_TEST(rows_worked_out_by_hand) {
  enum { COLS = 8 };
  rows_case c = make(3, COLS);
  const double eps = c.scalar[EPS];
  for (int i = 0; i < COLS; i++) {
    c.args[X][i] = 0x4040;                     /* 3 */
    c.args[RESIDUAL][i] = 0xbf80;              /* -1 */
    c.args[WEIGHT][i] = bf16_of(0.25 * i - 1); /* exact */
  }
  c.args[RESIDUAL][2 * COLS + 6] = 0x3a80; /* 2^-10 */
  rows_refer(&c);
  const double *y = c.value + elements(&c);
  for (int i = 0; i < COLS; i++) {
    WS_CHECK_NEAR(c.value[i], 2, 0);
    WS_CHECK_NEAR(y[i], 2 / sqrt(4 + eps) * (0.25 * i - 1), 1e-15);
    WS_CHECK_NEAR(c.value[COLS + i], 0, 0);
    WS_CHECK_NEAR(y[COLS + i], 0, 0);
    WS_CHECK_NEAR(c.value[2 * COLS + i], i == 6 ? 0x1p-10 : 0, 0);
    WS_CHECK_NEAR(y[2 * COLS + i],
                  i == 6 ? 0x1p-10 / sqrt(0x1p-23 + eps) * 0.5 : 0, 1e-15);
  }
  rows_drop(&c);
}

static void check_all(const rows_case *c) {
  const int64_t cols = c->shape.size[1], count = elements(c);
  const long double eps = c->scalar[EPS];
  for (int64_t i = 0; i < count; i++) {
    const int64_t first = i / cols * cols;
    long double squares = 0;
    for (int64_t j = first + cols - 1; j >= first; j--) {
      const long double x = bf16_value(c->args[X][j]);
      const long double r = bf16_value(c->args[RESIDUAL][j]);
      squares += x * x + 2 * x * r + r * r;
    }
    const double sum =
        bf16_value(c->args[X][i]) + bf16_value(c->args[RESIDUAL][i]);
    const double want =
        (double)(sum * (long double)bf16_value(c->args[WEIGHT][i % cols]) *
                 sqrtl((long double)cols /
                       (squares + (long double)cols * eps)));
    WS_CHECK_NEAR(c->value[i], sum, 0);
    WS_CHECK_NEAR(c->value[count + i], want, 1e-12 * fabs(want));
  }
}

WS_TEST(generated_rows_agree_with_the_other_formula) {
  for (uint64_t seed = 1; seed < 4; seed++)
    for (int hard = 0; hard < 2; hard++) {
      rows_case c = make(7, 520);
      rows_generate(&c, seed | (hard ? WS_HARD_INPUTS : 0));
      rows_refer(&c);
      check_all(&c);
      rows_drop(&c);
    }
}

/* (cols / 8 + 32) 2^-24 of |x| + |residual|, for y times |factor|: what is lost
 * where the two cancel. */
WS_TEST(the_error_has_the_documented_terms) {
  enum { COLS = 80 };
  rows_case c = make(1, COLS);
  for (int i = 0; i < COLS; i++) {
    c.args[X][i] = i % 2 ? 0x3f80 : 0x4040;        /* 1, 3 */
    c.args[RESIDUAL][i] = i % 2 ? 0xbf80 : 0x3f80; /* -1, 1 */
    c.args[WEIGHT][i] = 0xc000;                    /* -2 */
  }
  rows_refer(&c);
  const double factor = 2 / sqrt(8 + (double)c.scalar[EPS]);
  WS_CHECK_NEAR(c.error[0], 42 * 0x1p-24 * 4, 1e-20);
  WS_CHECK_NEAR(c.error[1], 42 * 0x1p-24 * 2, 1e-20);
  WS_CHECK_NEAR(c.error[COLS], 42 * 0x1p-24 * 4 * factor, 1e-19);
  WS_CHECK_NEAR(c.error[COLS + 1], 42 * 0x1p-24 * 2 * factor, 1e-19);
  rows_drop(&c);
}

/* Both outputs are compared, each in its own place. */
WS_TEST(nearest_passes_truncated_does_not) {
  enum { ROWS = 4, COLS = 512 };
  rows_case c = make(ROWS, COLS);
  rows_generate(&c, 7);
  rows_refer(&c);
  for (int out = 0; out < 2; out++)
    for (int i = 0; i < ROWS * COLS; i++)
      c.args[SUM + out][i] = bf16_of(c.value[out * ROWS * COLS + i]);
  ws_comparison found = rows_compare(&c);
  WS_CHECK_INT(found.checked, 2 * ROWS * COLS);
  WS_CHECK_INT(found.wrong, 0);
  for (int out = 0; out < 2; out++) {
    uint16_t *got = c.args[SUM + out];
    const double *want = c.value + out * ROWS * COLS;
    for (int i = 0; i < ROWS * COLS; i++)
      got[i] -= fabs(bf16_value(got[i])) > fabs(want[i]);
    found = rows_compare(&c);
    WS_CHECK(found.wrong > ROWS * COLS / (out ? 4 : 16)); /* sums: ties */
    WS_CHECK_INT(found.first.arg, SUM + out);
    for (int i = 0; i < ROWS * COLS; i++)
      got[i] = bf16_of(want[i]);
  }
  rows_drop(&c);
}
