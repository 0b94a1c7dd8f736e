/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * quant_fp8_group against groups worked out by hand, and against the nearest of
 * a format's values, found by looking at all of them: these are counted up here
 * from the definition of e4m3, not decoded by wavesmith. Its tolerance, inputs
 * and shapes.
 */
#include "rows.h"

enum { X, Y, SCALE, GROUP = 128 };
enum { FNUZ, OCP, FORMATS };
static const double limits[FORMATS] = {240, 448};

/* The magnitude of each code below 0x7f (OCP) or of 0x7f too (FNUZ): steps of
 * 2^-10 (2^-9) that double every 8 codes, from the second 8 on. */
static double magnitude(int format, int code) {
  const double step = (format == OCP ? 0x1p-9 : 0x1p-10) *
                      (double)(1 << (code < 8 ? 0 : code / 8 - 1));
  return step * (code < 8 ? code : 8 + code % 8);
}

/* The code of the nearest number, the even code of two alike. */
static uint8_t nearest(int format, double value) {
  const int last = format == OCP ? 0x7e : 0x7f;
  int best = 0;
  for (int code = 1; code <= last; code++) {
    const double here = fabs(magnitude(format, code) - fabs(value));
    const double before = fabs(magnitude(format, best) - fabs(value));
    if (here < before || (here == before && code % 2 == 0))
      best = code;
  }
  return (uint8_t)(best | (value < 0 && (best || format == OCP) ? 0x80 : 0));
}

static rows_case make(int64_t rows, int64_t cols) {
  return rows_make("quant_fp8_group", rows, cols);
}

static int64_t elements(const rows_case *c) {
  return c->shape.size[0] * c->shape.size[1];
}

static uint8_t *codes_of(const rows_case *c) { return (uint8_t *)c->args[Y]; }
static float *scales_of(const rows_case *c) { return (float *)c->args[SCALE]; }

static void refer(rows_case *c, int format) {
  ws_problem_reference(c->problem, &c->shape, format, c->buffers, 0,
                       c->shape.size[0], c->value, c->error);
}

static ws_comparison compare(const rows_case *c, int format) {
  ws_comparison found;
  ws_problem_compare(c->problem, &c->shape, format, c->buffers, 0,
                     c->shape.size[0], c->value, c->error, &found);
  return found;
}

/* As a kernel does it: all in f32, the quotient by a product. */
static void quantise(rows_case *c, int format) {
  for (int64_t g = 0; g < elements(c) / GROUP; g++) {
    const uint16_t *x = c->args[X] + g * GROUP;
    float most = 1e-10F;
    for (int i = 0; i < GROUP; i++)
      most = fmaxf(most, (float)fabs(bf16_value(x[i])));
    const float factor = (float)limits[format] / most;
    scales_of(c)[g] = most / (float)limits[format];
    for (int i = 0; i < GROUP; i++)
      codes_of(c)[g * GROUP + i] =
          nearest(format, (double)((float)bf16_value(x[i]) * factor));
  }
}

WS_TEST(arguments_are_named_and_sized) {
  static const char *const names[] = {"x", "y", "scale", "rows", "cols"};
  rows_case c = make(24, 384);
  WS_CHECK_INT(c.problem->arg_count, 5);
  for (int i = 0; i < 5; i++)
    WS_CHECK_TEXT(c.problem->args[i].name, names[i]);
  WS_CHECK_INT(ws_problem_arg_bytes(c.problem, X, &c.shape, 0), 2 * 24 * 384);
  WS_CHECK_INT(ws_problem_arg_bytes(c.problem, Y, &c.shape, 0), 24 * 384);
  WS_CHECK_INT(ws_problem_arg_bytes(c.problem, SCALE, &c.shape, 0), 4 * 24 * 3);
  WS_CHECK_INT(ws_problem_arg_scalar(c.problem, 4, &c.shape, 0), 384);
  WS_CHECK_INT(c.problem->output_count, 2);
  WS_CHECK_INT(ws_problem_slices(c.problem, &c.shape), 24);
  rows_drop(&c);
}

WS_TEST(formats_are_layouts) {
  const ws_problem *problem = ws_problem_find("quant_fp8_group");
  WS_CHECK(problem);
  WS_CHECK_INT(problem->layout_count, FORMATS);
  WS_CHECK_INT(ws_problem_arg_type(problem, Y, FNUZ), WS_E4M3_FNUZ);
  WS_CHECK_INT(ws_problem_arg_type(problem, Y, OCP), WS_E4M3);
  WS_CHECK_TEXT(ws_problem_default_layout(problem, "gfx942"), "fnuz");
  WS_CHECK_TEXT(ws_problem_default_layout(problem, "sm_90a"), "ocp");
}

WS_TEST(legal_shapes_and_sets) {
  static const struct {
    int64_t rows, cols;
    const char *says;
  } bad[] = {{0, 128, "rows = 0"},
             {1, 64, "needs cols % 128 == 0"},
             {1, 192, "needs cols % 128 == 0"},
             {1, 65664, "needs cols <= 65536"},
             {1048577, 128, "needs rows <= 1048576"},
             {65537, 65536, "needs rows * cols <= 4294967296"}};
  static const struct {
    const char *name;
    int count;
  } sets[] = {{"model", 9}, {"held-out", 6}};
  const ws_problem *problem = ws_problem_find("quant_fp8_group");
  WS_CHECK(problem);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const ws_shape shape = rows_shape(problem, bad[i].rows, bad[i].cols);
    ws_diag diag = {""};
    WS_CHECK_INT(ws_problem_check_shape(problem, &shape, &diag), WS_INPUT);
    WS_CHECK_CONTAINS(diag.text, bad[i].says);
  }
  WS_CHECK_INT(problem->shape_set_count, 2);
  for (int i = 0; i < 2; i++) {
    const ws_shape_set *set = ws_problem_shape_set(problem, sets[i].name);
    WS_CHECK(set);
    WS_CHECK_INT(set->count, sets[i].count);
  }
  const ws_shape least = rows_shape(problem, 1, 128);
  WS_CHECK(ws_problem_is_legal(problem, &least));
}

/* Group 0: -3 is its largest, so -3 becomes the limit and 1 a third of it;
 * group 1: zeros; group 2: 2^-40, below the floor; group 3: 240 and 17, which
 * is between the FNUZ codes of 16 and 18. */
WS_TEST(groups_worked_out_by_hand) {
  for (int format = 0; format < FORMATS; format++) {
    const double limit = limits[format];
    rows_case c = make(1, 4 * GROUP);
    c.args[X][127] = bf16_of(-3);
    c.args[X][5] = bf16_of(1);
    c.args[X][2 * GROUP + 1] = bf16_of(0x1p-40);
    c.args[X][3 * GROUP] = bf16_of(240);
    c.args[X][3 * GROUP + 64] = bf16_of(17);
    refer(&c, format);
    const double *y = c.value, *scale = c.value + 4 * GROUP;
    WS_CHECK_NEAR(scale[0], 3 / limit, 1e-17);
    WS_CHECK_NEAR(y[127], -limit, 1e-12);
    WS_CHECK_NEAR(y[5], limit / 3, 1e-12);
    WS_CHECK_NEAR(y[6], 0, 0);
    WS_CHECK_NEAR(scale[1], 1e-10 / limit, 1e-25);
    WS_CHECK_NEAR(y[GROUP + 3], 0, 0);
    WS_CHECK_NEAR(scale[2], 1e-10 / limit, 1e-25);
    WS_CHECK_NEAR(y[2 * GROUP + 1], 0x1p-40 * limit * 1e10, 1e-12);
    WS_CHECK_NEAR(scale[3], 240 / limit, 1e-15);
    WS_CHECK_NEAR(y[3 * GROUP + 64], 17 * limit / 240, 1e-12);
    rows_drop(&c);
  }
}

WS_TEST(rows_are_a_window) {
  rows_case c = make(6, 2 * GROUP);
  double value[2 * GROUP + 2], error[2 * GROUP + 2];
  c.args[X][4 * 2 * GROUP + 200] = bf16_of(-2);
  ws_problem_reference(c.problem, &c.shape, FNUZ, c.buffers, 4, 5, value,
                       error);
  WS_CHECK_NEAR(value[200], -240, 1e-12);
  WS_CHECK_NEAR(value[2 * GROUP], 1e-10 / 240, 1e-25);
  WS_CHECK_NEAR(value[2 * GROUP + 1], 2.0 / 240, 1e-17);
  rows_drop(&c);
}

WS_TEST(nearest_codes_pass) {
  for (int format = 0; format < FORMATS; format++)
    for (int hard = 0; hard < 2; hard++) {
      rows_case c = make(12, 2048);
      rows_generate(&c, 3 | (hard ? WS_HARD_INPUTS : 0));
      refer(&c, format);
      quantise(&c, format);
      const ws_comparison found = compare(&c, format);
      WS_CHECK_INT(found.checked, elements(&c) * (GROUP + 1) / GROUP);
      WS_CHECK_INT(found.wrong, 0);
      WS_CHECK(found.worst_ratio > 0.99); /* somewhere it is near a middle */
      rows_drop(&c);
    }
}

/* What a kernel may do wrong with each quotient. */
typedef double mistake(double quotient);
static double towards_zero(double q) { return q * (1 - 0x1p-4); }
static double in_bf16(double q) { return bf16_value(bf16_of(q)); }
static double in_tf32(double q) { return q * (1 + 0x1p-11); }
static double flushed(double q) { return fabs(q) < 0x1p-7 ? 0 : q; }

WS_TEST(other_codes_do_not_pass) {
  static const struct {
    mistake *make;
    int least; /* of 24576 elements */
  } mistakes[] = {
      {towards_zero, 10000}, {in_bf16, 200}, {in_tf32, 20}, {flushed, 400}};
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    rows_case c = make(12, 2048);
    rows_generate(&c, 3 | WS_HARD_INPUTS);
    refer(&c, FNUZ);
    quantise(&c, FNUZ);
    for (int64_t j = 0; j < elements(&c); j++)
      codes_of(&c)[j] = nearest(FNUZ, mistakes[i].make(c.value[j]));
    if (compare(&c, FNUZ).wrong < mistakes[i].least)
      WS_FAIL("mistake %zu: only %lld", i, (long long)compare(&c, FNUZ).wrong);
    rows_drop(&c);
  }
}

WS_TEST(minus_zero_of_fnuz_is_nan_and_scales_are_f32) {
  rows_case c = make(2, 1024);
  rows_generate(&c, 9);
  refer(&c, FNUZ);
  quantise(&c, FNUZ);
  scales_of(&c)[3] *= 1 + 0x1p-20F; /* (1/8 + 32) 2^-24 are about 2^-19 */
  WS_CHECK_INT(compare(&c, FNUZ).wrong, 0);
  scales_of(&c)[3] *= 1 + 0x1p-17F;
  const ws_comparison found = compare(&c, FNUZ);
  WS_CHECK_INT(found.wrong, 1);
  WS_CHECK_INT(found.first.arg, SCALE);
  WS_CHECK_INT(found.first.element, 3);
  c.args[X][0] = 0;
  refer(&c, FNUZ);
  quantise(&c, FNUZ);
  codes_of(&c)[0] = 0x80;
  WS_CHECK_INT(compare(&c, FNUZ).wrong, 1);
  rows_drop(&c);
}

/* ---- inputs ---------------------------------------------------------------
 */

WS_TEST(ordinary_inputs_are_about_normal) {
  rows_case c = make(64, 4096);
  double mean = 0, square = 0;
  const double count = (double)elements(&c);
  rows_generate(&c, 5);
  for (int64_t i = 0; i < elements(&c); i++) {
    const double x = bf16_value(c.args[X][i]);
    mean += x / count;
    square += x * x / count;
  }
  WS_CHECK_NEAR(mean, 0, 0.01);
  WS_CHECK_NEAR(square, 1, 0.02); /* cut to bf16 */
  rows_drop(&c);
}

/* Groups of zeros, below the floor and far above it; within the others results
 * that are subnormal and that vanish. */
WS_TEST(hard_inputs_reach_all_of_a_format) {
  rows_case c = make(64, 4096);
  int zeros = 0, below = 0, large = 0, subnormal = 0, vanished = 0;
  rows_generate(&c, 5 | WS_HARD_INPUTS);
  refer(&c, FNUZ);
  const int64_t groups = elements(&c) / GROUP;
  for (int64_t i = 0; i < elements(&c); i++) {
    WS_CHECK(isfinite(bf16_value(c.args[X][i])));
    const double size = fabs(c.value[i]);
    subnormal += size >= 0x1p-11 && size < 0x1p-7;
    vanished += size > 0 && size < 0x1p-11;
  }
  for (int64_t g = 0; g < groups; g++) {
    double most = 0;
    for (int i = 0; i < GROUP; i++)
      most = fmax(most, fabs(bf16_value(c.args[X][g * GROUP + i])));
    zeros += most == 0;
    below += most > 0 && most < 1e-10;
    large += most > 1e20;
  }
  WS_CHECK(zeros > groups / 32 && zeros < groups / 8);
  WS_CHECK(below > groups / 64);
  WS_CHECK(large > groups / 8);
  WS_CHECK(subnormal > elements(&c) / 16);
  WS_CHECK(vanished > elements(&c) / 64);
  rows_drop(&c);
}
